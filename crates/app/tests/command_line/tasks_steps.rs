//! What pages and screens offer and say: only what works, with what it rests on, in plain words.

use crate::binary::{Done, Work};
use crate::examples::{Example, began, folder};
use crate::terminal::Terminal;
use serde_json::{Value, json};

/// A copy of an example with a change to its file.
fn copied(name: &str, from: &str, to: &str) -> Work {
    let work = Work::new();
    let copied = std::process::Command::new("cp").arg("-r").arg(folder(name)).arg(work.path("task")).status();
    assert!(copied.unwrap().success());
    let text = std::fs::read_to_string(work.path("task/task.toml")).unwrap();
    assert!(text.contains(from), "{from}");
    if !from.is_empty() {
        work.write("task/task.toml", text.replace(from, to));
    }
    work
}

fn at(work: &Work, hour: &str, args: &[&str]) -> Done {
    let now = format!("2026-02-{hour}:00:00Z");
    work.run(&[args, &["--now", &now, "--seed", "7", "--as", "ana"]].concat())
}

/// The words of a text, however its lines are broken.
fn flat(done: &Done) -> String {
    done.text().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn run_of(told: &Value) -> String {
    told["run"].as_str().unwrap().to_owned()
}

#[test]
fn every_page_says_what_it_is_made_of() {
    let example = Example::run("lease-memo", 0);
    let (work, run) = (&example.work, example.run.as_str());
    for page in ["board", "audit", "findings", "review"] {
        let told = work.run(&[page, run, "--json"]).good().json();
        let made_of = &told["made_of"];
        assert!(told["as_of"].as_u64().unwrap() > 0, "{page}: {told}");
        assert_eq!(made_of["validity"], "current", "{page}: {told}");
        assert_eq!(made_of["input_manifest_hash"].as_str().unwrap().len(), 64, "{page}: {told}");
    }
    let board = work.run(&["board", run, "--json"]).good().json();
    let events = board["body"].as_array().unwrap().iter();
    let events: Vec<String> = events
        .map(|one| format!("run_board_audit_event:{}", one["event"]["event_id"].as_str().unwrap()))
        .collect();
    assert_eq!(board["made_of"]["inputs"], json!(events));
    let audit = work.run(&["audit", run, "--json"]).good().json();
    let decisions: Vec<&Value> =
        audit["decisions"].as_array().unwrap().iter().map(|one| &one["decision"]).collect();
    assert_eq!(audit["made_of"]["inputs"], json!(decisions));
    // The list of runs is one of the matter's whole ledger, and another row is another list.
    let list = || work.run(&["runs", "list", "--json"]).good().json();
    let before = list();
    assert_eq!(before["runs"][0]["run"], run);
    assert_eq!(
        (&before["as_of"], &before["made_of"]["validity"]),
        (&json!(example.rows()), &json!("current"))
    );
    example.at(11, "ana", &["checkpoint", run, "--name", "x"]).good();
    assert_ne!(list()["made_of"], before["made_of"]);
}

#[test]
fn a_packet_that_stays_here_says_why_and_is_not_to_be_exported() {
    let work = copied("lease-memo", "data_class = \"internal\"", "data_class = \"local_only\"");
    let run = run_of(&at(&work, "01T09", &["run", "task", "--json"]).good().json());
    let never = copied("lease-memo", "export_bundle = \"confirm\"", "export_bundle = \"never\"");
    let other = run_of(&at(&never, "01T09", &["run", "task", "--json"]).good().json());
    for (work, run, why) in [(&work, &run, "local_only"), (&never, &other, "never exported")] {
        let shown = work.run(&["packet", "show", run]).good();
        assert!(flat(&shown).contains("stays here: ") && flat(&shown).contains(why), "{}", shown.text());
        assert!(!shown.text().contains("packet export"), "{}", shown.text());
        let told = work.run(&["packet", "show", run, "--json"]).good().json();
        assert!(told["cannot_leave"].as_str().unwrap().contains(why), "{told}");
        work.run(&["packet", "export", run, "--yes", "--out", "p.json"]).refused(1, "run.denied");
    }
    // What is offered works.
    let (work, mut sent) = (Work::new(), None);
    let run = began(&work, "lease-memo", 1, 0).0;
    for line in work.run(&["packet", "show", &run]).good().text().lines() {
        sent = line.strip_prefix("next      countersign ").map(str::to_owned).or(sent);
    }
    let sent = sent.unwrap().replace("--out FILE --html FILE", "--out p.json --html p.html");
    work.run(&sent.split(' ').collect::<Vec<_>>()).good();
}

/// A run that asks which of two sources counts, and how long it waits.
fn asking(on_timeout: &str) -> (Work, String, String) {
    let said = format!("[policies]\nquestions = {{ timeout_hours = 24, on_timeout = \"{on_timeout}\" }}\n");
    let work = copied("notice-conflict", "[policies]\n", &said);
    let told = at(&work, "01T09", &["run", "task", "--json"]).exits(3).json();
    let question = &told["question"];
    assert!(question["answer_by"].as_str().unwrap().starts_with("2026-02-02T09:00:"), "{question}");
    assert_eq!(question["on_timeout"], on_timeout);
    assert_eq!((&question["blocks"], &question["blocked"]), (&json!("outcome"), &json!(["frist-geklaert"])));
    (work, run_of(&told), question["id"].as_str().unwrap().to_owned())
}

#[test]
fn how_long_a_question_stands_and_what_it_holds_up_is_told() {
    for (on_timeout, then) in [
        ("abort", "the run ends."),
        ("escalate", "on it is marked as one for somebody else, and can still be answered."),
    ] {
        let (work, run, question) = asking(on_timeout);
        let shown = [
            at(&work, "01T10", &["runs", "resume", &run]).exits(3),
            at(&work, "01T10", &["attention", &run]).good(),
            at(&work, "01T10", &["attention"]).good(),
        ];
        for done in shown {
            let text = flat(&done);
            assert!(text.contains("2026-02-02T09:00:") && text.contains(then), "{}", done.text());
            assert!(text.contains("It holds up the outcome frist-geklaert."), "{}", done.text());
        }
        let told = at(&work, "01T10", &["attention", &run, "--json"]).good().json();
        let item = &told["body"][0];
        assert_eq!((&item["on_timeout"], &item["blocks"]), (&json!(on_timeout), &json!("outcome")), "{item}");
        assert!(item["answer_by"].as_str().unwrap().starts_with("2026-02-02T09:00:"), "{item}");
        assert_eq!((&item["expired"], &item["options"][0]), (&json!(false), &json!("prefer-nebenabrede")));
        // When its time is over it is offered only where it can still be answered.
        let is_over = on_timeout == "abort";
        let late = at(&work, "02T10", &["attention", &run]).good();
        assert_eq!(late.text().contains("--choose OPTION"), !is_over, "{}", late.text());
        assert_eq!(late.text().contains(&format!("runs resume {run}")), is_over, "{}", late.text());
        let late = at(&work, "02T10", &["attention", &run, "--json"]).good().json();
        assert_eq!(late["body"][0]["expired"], is_over, "{late}");
        assert_eq!(late["body"][0]["options"].is_null(), is_over, "{late}");
        let args = ["answer", &run, "--id", &question, "--choose", "prefer-rahmenvertrag"];
        assert_eq!(at(&work, "02T10", &args).exit, Some(i32::from(is_over)));
    }
}

#[test]
fn what_is_offered_at_the_cap_of_a_matter_fits_it() {
    let work = copied("parser-code", "", "");
    work.run(&["budget", "cap", "--input-tokens", "5"]).good();
    let done = at(&work, "01T09", &["run", "task", "--json"]);
    let (run, told) = (run_of(&done.json()), done.json());
    assert_eq!(told["next"][0], "countersign budget cap --input-tokens COUNT", "{told}");
    assert!(told["next"][1].as_str().unwrap().contains("--choose retry"), "{told}");
    let item = &at(&work, "01T10", &["attention", &run, "--json"]).good().json()["body"][0];
    assert_eq!(item["first"], told["next"][0]);
    assert_eq!(item["answers"], json!(["--choose retry", "--choose give-up"]));
    let shown = at(&work, "01T10", &["attention", &run]).good();
    assert!(!shown.text().contains("eligibility") && !shown.text().contains("inject"), "{}", shown.text());
    // The page of the run has the matter's cap, by either name.
    for args in [&["budget", "show", &run][..], &["budget", &run]] {
        let page = work.run(args).good();
        assert!(flat(&page).contains("together may 5 input tokens"), "{}", page.text());
        assert!(!page.text().contains("there is no cap"), "{}", page.text());
    }
    let page = work.run(&["budget", &run, "--json"]).good().json();
    assert_eq!(page["body"]["matter"]["caps"], json!({"input_tokens": 5}), "{page}");
    // What is offered leads on.
    work.run(&["budget", "cap", "--input-tokens", "500000"]).good();
    let id = told["question"]["id"].as_str().unwrap();
    let done = at(&work, "01T11", &["answer", &run, "--id", id, "--choose", "retry", "--json"]);
    assert_ne!(done.json()["status"], Value::Null, "{}", done.text());
}

#[test]
fn what_was_left_out_is_named() {
    let work = copied("notice-conflict", "contract = \"waived\"", "contract = \"required\"");
    let told = at(&work, "01T09", &["run", "task", "--json"]).json();
    let (run, stop) = (run_of(&told), &told["next"][0]);
    work.write("skip.json", r#"{"target_ref": "laufzeit-genannt", "reason": "user_directed"}"#);
    let skip = ["command", "run", "task.skip", "--run", &run, "--request", "skip.json"];
    at(&work, "01T10", &skip).good();
    let approve = stop.as_str().unwrap().strip_prefix("countersign ").unwrap().split(' ').collect::<Vec<_>>();
    let shown = at(&work, "01T11", &approve);
    assert!(flat(&shown).contains("laufzeit-genannt (Left out)"), "{}", shown.text());
    let page = at(&work, "01T12", &["budget", &run]).good();
    assert!(
        flat(&page).contains("left out the outcome laufzeit-genannt: Der Vermerk nennt"),
        "{}",
        page.text()
    );
}

#[test]
fn a_refusal_shows_why_and_nothing_else() {
    let example = Example::run("vendor-claims", 1);
    for (command, request, shown) in [
        ("finding.contest", json!({"finding_id": "x", "grounds": "y"}), "There is no finding x."),
        ("attention.dismiss_item", json!({"item_id": "x"}), "There is no such item."),
        (
            "task.skip",
            json!({"target_ref": "outcome_record:x", "reason": "user_directed"}),
            "The run has ended.",
        ),
    ] {
        let done = example.command(11, "ana", command, &request.to_string());
        let told: Value = serde_json::from_str(&done.err).unwrap();
        assert_eq!(told["error"]["details"]["shown"], shown, "{told}");
    }
    let (work, run, question) = asking("abort");
    work.write("r.json", json!({"hard_call_id": question, "option_id": "x"}).to_string());
    let done =
        at(&work, "01T10", &["command", "run", "hard_call.resolve", "--run", &run, "--request", "r.json"]);
    let told = done.refused(1, "command.state");
    assert!(
        told.details["shown"].as_str().unwrap().starts_with("X is no option; there are prefer-"),
        "{told:?}"
    );
}

#[test]
fn a_run_that_came_to_a_limit_says_how_to_raise_it() {
    let work = copied("parser-code", "max_llm_calls = 20", "max_llm_calls = 1");
    let done = at(&work, "01T09", &["run", "task"]);
    assert_eq!(done.exit, Some(1), "{}", done.text());
    assert!(
        flat(&done).contains("raise max_llm_calls under [limits] of the task by at least one"),
        "{}",
        done.text()
    );
}

#[test]
fn pages_speak_plainly_and_fit_a_screen() {
    let example = Example::run("lease-memo", 0);
    let (work, run) = (&example.work, example.run.as_str());
    example.at(11, "ana", &["packet", "export", run, "--yes", "--out", "p.json"]).good();
    for (page, words) in [
        ("board", &["counts as the work now", "was exported"][..]),
        ("chain", &["the evaluator says passed", "together: passed; it goes on"]),
        ("audit", &[]),
    ] {
        let done = work.run(&[page, run]).good();
        let text = flat(&done);
        words.iter().for_each(|words| assert!(text.contains(words), "{words}: {}", done.text()));
        for jargon in ["accepted head", "pass path", "export_bundle: completed"] {
            assert!(page == "audit" || !text.contains(jargon), "{jargon}: {}", done.text());
        }
        assert!(done.text().lines().all(|line| line.chars().count() <= 80), "{page}: {}", done.text());
    }
}

#[test]
fn nothing_but_json_is_seen_where_it_is_asked_for() {
    let work = Work::new();
    began(&work, "lease-memo", 1, 0);
    let mut terminal = Terminal::with(&work, 90, &["run", "examples/lease-memo", "--json"], &[]);
    assert_eq!(terminal.ends(), Some(0), "{}", terminal.text());
    let raw = String::from_utf8(terminal.raw.clone()).unwrap();
    assert!(raw.starts_with("{\"run\":") && !raw.contains("looking at every outcome"), "{raw}");
}
