//! Runs whose model is elsewhere: what leaves, what does not, what is kept of it, and what the critic makes of answers.
//! Owns: a server that answers as a model does. Must not: believe what the run says of what was sent.

use crate::binary::{Done, Running, Work};
use crate::examples::folder;
use crate::runs_crash::{Stop, completed, ended, waits};
use crate::served::{QUESTION, library};
use crate::talks::{Answer, PATIENCE, Server, policy, rows, verified};
use serde_json::{Value, json};

/// Stands in the source.
const SECRET: &str = "31 May 2027";
const GOOD: &str = "The lease of the harbour ends on 31 May 2027 [lease.md:3].";
const ASK: [&str; 6] = ["process", "envelope.json", "--model", "far", "--sources", "docs"];

/// A folder, and a model elsewhere that gives these answers.
fn far(answers: Vec<Answer>) -> (Work, Server) {
    let work = library();
    let server = Server::start(answers);
    server.added(&work, "far", &[]);
    (work, server)
}

fn says(answers: &[&'static str]) -> Vec<Answer> {
    answers.iter().map(|answer| Answer::Says(vec![answer])).collect()
}

fn process(work: &Work, envelope: &Value, more: &[&str]) -> Done {
    work.write("envelope.json", envelope.to_string());
    work.run(&[&ASK[..], more].concat())
}

fn ask(work: &Work) -> Done {
    process(work, &json!({"raw_input": QUESTION}), &[])
}

fn answer(work: &Work, stop: &Stop, more: &[&str]) -> Done {
    work.run(&[&["answer", &stop.run, "--id", &stop.id, "--json"], more].concat())
}

/// The receipts: what each says became of it.
fn receipts(work: &Work) -> Vec<String> {
    let rows = rows(work, "workspace.externalized");
    rows.iter().map(|row| row["payload"]["status"].as_str().unwrap().to_owned()).collect()
}

/// How many requests the server has had.
fn heard(server: &Server) -> usize {
    server.heard.try_iter().count()
}

#[test]
fn what_is_sent_has_a_receipt_and_what_comes_back_is_checked() {
    let (work, server) = far(says(&[GOOD]));
    let envelope = completed(&ask(&work));
    let request = server.heard.try_recv().unwrap();
    assert!(request.contains(SECRET) && request.contains("[lease.md:3]"), "{request}");
    assert_eq!((heard(&server), envelope["llm_call_count"].as_u64()), (0, Some(1)));
    assert_eq!(envelope["outputs"]["integration"]["final_response"], GOOD);
    assert_eq!(envelope["outputs"]["integration"]["citations"][0]["location"], "lease.md:3");
    let rows = rows(&work, "workspace.externalized");
    let (row, receipt) = (&rows[0], &rows[0]["payload"]);
    assert_eq!((rows.len(), &receipt["status"]), (1, &json!("completed")));
    assert_eq!(receipt["destination_ref"], format!("host:127.0.0.1:{}", server.port));
    assert_eq!(
        receipt["source_record_refs"],
        json!([format!("run:{}", envelope["metadata"]["run_id"].as_str().unwrap())])
    );
    assert_eq!(
        (&receipt["irreversible_disclosure_possible"], &receipt["user_confirmation_ref"]),
        (&json!(true), &Value::Null)
    );
    assert_eq!((&row["data_class"], &row["taint"]), (&json!("internal"), &json!("external_untrusted")));
    verified(&work);
}

/// A stage that may not ask because of the task's policy leaves the receipt of that, and is decided again from it.
#[test]
fn a_task_whose_policy_keeps_its_questions_here_is_replayed() {
    for (from, to) in [
        ("export_bundle = \"confirm\"", "api_call = \"never\""),
        ("data_class = \"internal\"", "data_class = \"local_only\""),
    ] {
        let work = Work::new();
        let server = Server::start(says(&[GOOD]));
        server.added(&work, "far", &[]);
        let mut copy = std::process::Command::new("cp");
        copy.arg("-r").arg(folder("lease-memo")).arg(work.path("task"));
        assert!(copy.status().unwrap().success());
        let task = std::fs::read_to_string(work.path("task/task.toml")).unwrap();
        let task = task.replacen("model = \"extractive\"", "model = \"far\"", 1);
        assert!(task.contains(from) && task.contains("far"), "{from}");
        work.write("task/task.toml", task.replacen(from, to, 1));
        let begun = ["run", "task", "--json", "--now", "2026-02-01T09:00:00Z", "--seed", "1"];
        work.run(&begun).refused(1, "run.denied");
        assert_eq!(heard(&server), 0, "{to}");
        let left = rows(&work, "govern.workspace_externalization_receipt");
        assert_eq!(left[0]["payload"]["record"]["status"], "blocked_by_policy", "{to}");
        let list = work.run(&["runs", "list", "--json"]).good().json()["runs"].clone();
        let run = list[0]["run"].as_str().unwrap();
        for mode in ["audit_reconstruction", "simulation_from_recorded_outputs"] {
            let told = work.run(&["replay", run, "--mode", mode, "--json"]).good().json();
            assert_eq!(told["same"], json!(true), "{mode}: {told}");
        }
        work.run(&["lint", "--ledger"]).good();
        verified(&work);
    }
}

#[test]
fn what_is_local_never_leaves() {
    for rule in [
        "files = { \"lease.md\" = \"local_only\" }",
        "files = { \".\" = \"local_only\" }",
        "files_class = \"local_only\"",
        "user_class = \"local_only\"",
    ] {
        let (work, server) = far(says(&[GOOD]));
        policy(&work, rule);
        let envelope = ended(&ask(&work), "run.denied", "denied_by_policy");
        assert_eq!((heard(&server), receipts(&work)), (0, vec!["blocked_by_policy".to_owned()]), "{rule}");
        let receipt = &rows(&work, "workspace.externalized")[0]["payload"];
        assert_eq!(receipt["irreversible_disclosure_possible"], json!(false));
        assert_eq!(envelope["outputs"].get("draft"), None);
        assert_eq!(envelope["llm_call_count"], 0);
        assert!(!envelope["termination_reason"].as_str().unwrap().contains(SECRET));
        // A model here may see it.
        let here = work.run(&["process", "envelope.json", "--sources", "docs"]);
        assert!(completed(&here)["outputs"]["draft"]["text"].as_str().unwrap().contains(SECRET));
        verified(&work);
    }
}

#[test]
fn what_is_local_does_not_leave_in_an_envelope_that_was_changed() {
    let (work, server) = far(says(&[GOOD, GOOD, GOOD, GOOD]));
    policy(&work, "files = { \"lease.md\" = \"local_only\" }");
    let mut envelope = json!({"raw_input": QUESTION});
    for _ in 0..4 {
        envelope = process(&work, &envelope, &["--step"]).good().json();
    }
    assert!(envelope["outputs"]["execution"].to_string().contains(SECRET));
    assert_eq!(envelope["current_stage"], "draft");
    let blocked = |envelope: &Value, more: &[&str]| {
        let ended = ended(&process(&work, envelope, more), "run.denied", "denied_by_policy");
        assert_ne!(ended["metadata"]["run_id"], envelope["metadata"]["run_id"], "it is another run");
        assert_eq!(heard(&server), 0);
    };
    let mut noted = envelope.clone();
    noted["metadata"]["note"] = json!("mine");
    blocked(&noted, &[]);
    // Without its file's name it is still of a run that was local.
    let mut bare = envelope.clone();
    bare["outputs"] =
        json!({"intent": envelope["outputs"]["intent"], "execution": {"status": "success", "evidence": []}});
    bare["raw_input"] = json!(format!("Is it {SECRET}?"));
    blocked(&bare, &[]);
    // Without its run it is still of a file that is local.
    let mut anonymous = envelope.clone();
    anonymous["metadata"] = json!({});
    blocked(&anonymous, &[]);
    blocked(&anonymous, &["--step"]);
    // In the contract's own words, which name no path, it is of whatever there is.
    let mut plain = anonymous.clone();
    plain["outputs"] = json!({"execution": {"status": "success", "evidence": [
        {"location": "lease.md:3", "content": format!("It ends on {SECRET}."), "relevance": "all"}]}});
    blocked(&plain, &[]);
    work.write("pipeline.toml", MODEL.replace("shape", "draft"));
    blocked(&plain, &["--pipeline", "pipeline.toml"]);
    // And the run itself goes on to the same end.
    let run = envelope["metadata"]["run_id"].as_str().unwrap();
    let done = ended(&process(&work, &envelope, &[]), "run.denied", "denied_by_policy");
    assert_eq!((done["metadata"]["run_id"].as_str(), heard(&server)), (Some(run), 0));
    assert!(receipts(&work).iter().all(|status| status == "blocked_by_policy"));
}

#[test]
fn what_is_privileged_leaves_with_a_persons_leave_and_once() {
    let (work, server) = far(says(&["The lease ends in June [lease.md:3].", GOOD]));
    policy(&work, "files = { \"lease.md\" = \"privileged\" }");
    let (envelope, stop) = waits(&ask(&work));
    assert_eq!((stop.kind.as_str(), heard(&server)), ("confirmation", 0));
    let message = envelope["confirmation_message"].as_str().unwrap().to_owned();
    assert!(
        message.contains(&format!("127.0.0.1:{}", server.port)) && !message.contains(SECRET),
        "{message}"
    );
    assert_eq!(receipts(&work), ["blocked_by_policy"]);
    // The answer is refused by the critic, so there would be a second request: leave was given for one.
    let (_, second) = waits(&answer(&work, &stop, &["--approve", "--as", "ana"]));
    assert_eq!((heard(&server), second.kind.as_str()), (1, "confirmation"));
    assert_ne!(second.id, stop.id);
    assert_eq!(receipts(&work), ["blocked_by_policy", "completed", "blocked_by_policy"]);
    let sent = &rows(&work, "workspace.externalized")[1];
    assert_eq!(sent["payload"]["user_confirmation_ref"], format!("stop:{}", stop.id));
    assert_eq!(sent["data_class"], "privileged");
    answer(&work, &stop, &["--approve"]).refused_silently(1, "answer.unasked");
    completed(&answer(&work, &second, &["--approve"]));
    assert_eq!((heard(&server), receipts(&work).last().unwrap().as_str()), (1, "completed"));
    verified(&work);
}

#[test]
fn leave_is_used_up_by_a_request_that_nobody_saw_the_end_of() {
    // Also where nobody looks before the leave has expired: it was sent under it all the same.
    for later in [&[][..], &["--now", "2099-01-01T00:00:00Z"]] {
        leave_is_used_up(later);
    }
}

fn leave_is_used_up(later: &[&str]) {
    let (work, server) = far(vec![Answer::Silent, Answer::Says(vec![GOOD])]);
    policy(&work, "files = { \"lease.md\" = \"privileged\" }");
    let (envelope, stop) = waits(&ask(&work));
    let message = envelope["confirmation_message"].as_str().unwrap();
    assert!(message.contains("(sha256:"), "leave is for one request: {message}");
    let running = Running::start(&work, &["answer", &stop.run, "--id", &stop.id, "--approve", "--json"]);
    server.heard.recv_timeout(PATIENCE).unwrap();
    running.kill();
    let (_, unknown) = waits(&work.run(&[&["runs", "resume", &stop.run, "--json"], later].concat()));
    assert_eq!(unknown.reason, "unknown_effect");
    assert_eq!(receipts(&work), ["blocked_by_policy", "failed"]);
    // Words do not have it sent again; the word does, once there is leave for that.
    answer(&work, &unknown, &["--value", "do not do that again"]).refused_silently(1, "answer.kind");
    let (_, again) = waits(&answer(&work, &unknown, &["--choose", "retry"]));
    assert_eq!((again.kind.as_str(), heard(&server)), ("confirmation", 0));
    completed(&answer(&work, &again, &["--approve"]));
    assert_eq!(receipts(&work), ["blocked_by_policy", "failed", "blocked_by_policy", "completed"]);
    verified(&work);
}

#[test]
fn what_is_privileged_does_not_leave_without_leave() {
    let (work, server) = far(says(&[GOOD]));
    policy(&work, "files = { \"lease.md\" = \"privileged\" }");
    let (waiting, stop) = waits(&ask(&work));
    ended(&answer(&work, &stop, &["--deny"]), "run.denied", "denied_by_policy");
    // Leave that an envelope claims was given by nobody.
    let claims = json!({
        "raw_input": QUESTION, "confirmation_pending": false, "confirmation_response": true,
        "confirmation_id": stop.id, "confirmation_message": waiting["confirmation_message"],
    });
    let (_, asked) = waits(&process(&work, &claims, &[]));
    assert_eq!(asked.kind, "confirmation");
    // Nor is it given by changing the envelope of a run that waits.
    let mut changed = waiting.clone();
    changed["confirmation_pending"] = json!(false);
    changed["confirmation_response"] = json!(true);
    changed["terminal_reason"] = Value::Null;
    let (_, asked) = waits(&process(&work, &changed, &[]));
    assert_eq!((asked.kind.as_str(), heard(&server)), ("confirmation", 0));
    assert_ne!(asked.run, stop.run);
    assert!(receipts(&work).iter().all(|status| status == "blocked_by_policy"));
}

#[test]
fn a_sentence_that_does_not_stand_on_its_source_is_refused_and_counted() {
    for (bad, why) in [
        ("The lease of the harbour ends on 31 May 2027.", "it cites no evidence"),
        ("The lease of the harbour ends on 31 May 2027 [lease.md:99].", "it cites no evidence"),
        ("The lease of the harbour ends on 31 May 2027 [other.md:3].", "it cites no evidence"),
        ("Nobody pays anything for berths [lease.md:3].", "what it cites says something else"),
        ("The lease of the harbour ends on 31 May 2027 [lease.md:3]. All is well.", "it cites no evidence"),
    ] {
        let (work, server) = far(says(&[bad, bad, bad, GOOD]));
        let envelope = ended(&ask(&work), "run.bound", "max_critic_fires_exceeded");
        let requests: Vec<String> = server.heard.try_iter().collect();
        assert_eq!((requests.len(), receipts(&work)), (3, vec!["completed".to_owned(); 3]), "{bad}");
        assert!(
            !requests[0].contains("was refused") && requests[1].contains("was refused"),
            "{}",
            requests[1]
        );
        assert_eq!(envelope["critic_feedback"].as_array().unwrap().len(), 3);
        assert_eq!(envelope["llm_call_count"], 3);
        assert_eq!(envelope["outputs"]["critic"]["findings"][0]["why"], why, "{bad}");
        assert_eq!(envelope["outputs"].get("integration"), None, "it is not handed on");
    }
    // A second try may be good.
    let (work, server) = far(says(&["It ends soon.", GOOD]));
    let envelope = completed(&ask(&work));
    assert_eq!((heard(&server), envelope["iteration"].as_u64()), (2, Some(1)));
    assert_eq!(envelope["outputs"]["integration"]["final_response"], GOOD);
    assert_eq!(envelope["prior_plans"].as_array().unwrap().len(), 1);
}

#[test]
fn calls_of_a_model_are_bounded() {
    for (most, asked) in [(1, 1), (2, 2)] {
        let (work, server) = far(says(&["It ends soon.", "It ends soon.", GOOD]));
        let envelope = json!({"raw_input": QUESTION, "max_llm_calls": most});
        let envelope = ended(&process(&work, &envelope, &[]), "run.bound", "max_llm_calls_exceeded");
        assert_eq!((heard(&server), receipts(&work).len()), (asked, asked));
        assert_eq!(envelope["llm_call_count"], most);
    }
}

#[test]
fn a_model_that_is_down_fails_the_run_so_that_it_may_be_tried_again() {
    let work = library();
    // Nobody listens there any more.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}/v1");
    work.run(&["models", "add", "far", "--provider", "openai", "--model", "x", "--base-url", &url]).good();
    let envelope = ended(&ask(&work), "run.failed", "tool_failed_recoverably");
    let error = &envelope["errors"][0];
    assert_eq!((&error["agent"], &error["recoverable"]), (&json!("draft"), &json!(true)));
    assert_eq!(
        (&error["error_type"], &error["details"]["code"]),
        (&json!("ModelError"), &json!("model.unreachable"))
    );
    assert_eq!(receipts(&work), ["failed"]);
}

#[test]
fn a_model_that_says_no_fails_the_run_for_good() {
    let refusal = "HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
    let (work, server) = far(vec![Answer::Raw(refusal.to_owned())]);
    let envelope = ended(&ask(&work), "run.failed", "tool_failed_fatally");
    assert_eq!((&envelope["errors"][0]["recoverable"], heard(&server)), (&json!(false), 1));
    assert_eq!(receipts(&work), ["failed"]);
}

/// A pipeline of one stage that is a model, with a schema for what it says.
const MODEL: &str = r#"
name = "model"
[[stages]]
name = "shape"
agent = { kind = "model", prompt = "Say how long.", schema = { type = "object", required = ["days"], properties = { days = { type = "integer" } } } }
"#;

#[test]
fn a_model_that_is_an_agent_keeps_to_its_schema() {
    let (work, server) =
        far(says(&["{\"days\": 3}", "three", "{\"days\": \"3\"}", "```json\n{\"days\": 4}\n```"]));
    work.write("pipeline.toml", MODEL);
    let ask = || process(&work, &json!({"raw_input": "How long?"}), &["--pipeline", "pipeline.toml"]);
    assert_eq!(completed(&ask())["outputs"]["shape"], json!({"days": 3}));
    for _ in 0..2 {
        assert_eq!(waits(&ask()).1.reason, "schema_violation");
    }
    assert_eq!(completed(&ask())["outputs"]["shape"], json!({"days": 4}));
    assert_eq!((heard(&server), receipts(&work)), (4, vec!["completed".to_owned(); 4]));
}

#[test]
fn a_request_that_nobody_saw_the_end_of_is_asked_about_and_has_a_receipt() {
    let (work, server) = far(vec![Answer::Silent, Answer::Says(vec!["{\"days\": 3}"])]);
    work.write("pipeline.toml", MODEL);
    work.write("envelope.json", json!({"raw_input": "How long?"}).to_string());
    let running = Running::start(&work, &[&ASK[..], &["--pipeline", "pipeline.toml"]].concat());
    server.heard.recv_timeout(PATIENCE).unwrap();
    running.kill();
    assert_eq!(receipts(&work), [""; 0]);
    let runs = work.run(&["runs", "list", "--json"]).good().json()["runs"].clone();
    let resume = || work.run(&["runs", "resume", runs[0]["run"].as_str().unwrap(), "--json"]);
    let (_, stop) = waits(&resume());
    assert_eq!((stop.reason.as_str(), heard(&server)), ("unknown_effect", 0), "it is not sent again");
    assert_eq!(waits(&resume()).1, stop);
    assert_eq!(receipts(&work), ["failed"]);
    let receipt = &rows(&work, "workspace.externalized")[0]["payload"];
    assert_eq!(receipt["irreversible_disclosure_possible"], json!(true));
    assert_eq!(
        completed(&answer(&work, &stop, &["--choose", "retry"]))["outputs"]["shape"],
        json!({"days": 3})
    );
    assert_eq!((heard(&server), receipts(&work)), (1, vec!["failed".to_owned(), "completed".to_owned()]));
    verified(&work);
}
