//! Tasks whose criteria are checked by commands, and tasks with a judge that fails, run as a user runs them.
//! Owns: one small task with many checks. Must not: need a machine that can hold programs, where it only tries what is refused.

use crate::binary::{Done, Work};
use crate::talks::verified;
use serde_json::{Value, json};

const LEASE: &str = "# Lease\n\nThe lease of the warehouse ends on 31 May 2027.\n\n\
    The lease of the warehouse ends early if the rent stays unpaid for 60 days.\n\nThe rent is 900 euros a month.\n";

/// A task whose memo has one quote at first; `$CHECK` is what its second criterion is checked by.
const TASK: &str = r#"schema_version = "1.0"
id = "lease-memo"
title = "Memo"
goal = "Say when the lease ends."
capabilities = ["shell"]

[[artifacts]]
id = "memo"
path = "out/memo.md"
kind = "markdown"
title = "Memo"
sections = [{ id = "term", heading = "Term", ask = "When does the lease of the warehouse end?", quotes = 1 }]

[[sources]]
id = "lease"
path = "lease.md"
kind = "document"
trust_basis = "user_supplied"
verified_by = "ana"
tier = 2

[[outcomes]]
id = "term-stated"
statement = "The memo says when the lease ends."
section = "term"

[[outcomes.criteria]]
id = "grounded"
text = "Every sentence stands in a source."
basis = "source_grounded"
required = true
threshold = 1

[[outcomes.criteria]]
id = "checked"
text = "A command says so."
basis = "deterministic_check"
required = true
threshold = 1
check = { kind = "command", $CHECK }
"#;

const RUN: &str = "run_6c4952ec8b203d9f";

fn task(check: &str) -> String {
    TASK.replace("$CHECK", check)
}

/// A folder with a task in it.
fn folder(task: &str) -> Work {
    let work = Work::new();
    std::fs::create_dir(work.path("task")).unwrap();
    work.write("task/task.toml", task);
    work.write("task/lease.md", LEASE);
    work
}

fn at(work: &Work, hour: u8, args: &[&str]) -> Done {
    let now = format!("2026-02-01T{hour:02}:00:00Z");
    work.run(&[args, &["--now", &now, "--seed", "1", "--as", "ana"]].concat())
}

/// Runs a task; gives what it came to.
fn ran(task: &str, exit: i32) -> (Work, Value) {
    let work = folder(task);
    let told = at(&work, 9, &["run", "task", "--json"]).exits(exit).json();
    // What commands looked at is gone.
    let looks = work.path("data").join("matters/default/looks");
    let left = std::fs::read_dir(looks).map_or(0, Iterator::count);
    assert_eq!(left, 0);
    (work, told)
}

/// Everything that can be checked of a run is right.
fn is_whole(work: &Work) {
    verified(work);
    let lint = work.run(&["lint", "--ledger", "--json"]).good().json();
    assert_eq!(lint["codes"], json!([]));
    let packet = ["packet", "export", RUN, "--yes", "--now", "2026-02-01T18:00:00Z", "--out", "packet.json"];
    work.run(&packet).good();
    work.run(&["verify", "packet.json"]).good();
    for mode in ["audit_reconstruction", "simulation_from_recorded_outputs"] {
        let told = at(work, 19, &["replay", RUN, "--mode", mode, "--json"]).good().json();
        assert_eq!(told["same"], json!(true), "{mode}: {told}");
    }
}

/// What the last look handed over.
fn critic(work: &Work) -> Value {
    let rows = work.run(&["runs", "show", RUN, "--json"]).good();
    rows.json()["envelope"]["outputs"]["critic"].clone()
}

#[test]
fn a_criterion_is_met_by_a_command() {
    let (work, told) = ran(&task(r#"argv = ["grep", "-q", "31 May 2027", "out/memo.md"]"#), 0);
    assert_eq!(told["status"], "safe_to_rely_within_scope", "{told}");
    assert_eq!(told["not_looked_at"], Value::Null);
    is_whole(&work);
    // A replay runs nothing: what a tool came to is taken as it was, or the replay is refused.
    at(&work, 19, &["replay", RUN, "--mode", "deterministic_reexecution"])
        .refused_silently(1, "replay.refused");
    let again = at(&work, 19, &["replay", RUN, "--mode", "best_effort_rerun", "--json"]).good().json();
    let critic = again["steps"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["step"].as_str().unwrap().ends_with(".critic"));
    assert_eq!(critic.unwrap()["treatment"], "its recorded output is taken", "{again}");
    assert_eq!(again["same"], json!(true), "{again}");
}

#[test]
fn an_exit_code_may_be_another() {
    let (work, told) = ran(&task(r#"argv = ["grep", "-q", "nowhere", "out/memo.md"], exit = 1"#), 0);
    assert_eq!(told["status"], "safe_to_rely_within_scope", "{told}");
    is_whole(&work);
}

#[test]
fn what_a_command_misses_is_mended_and_looked_at_again() {
    let policy = "[policies.approval]\nrevision = \"waived\"\n\n[[artifacts]]";
    let text = task(r#"argv = ["grep", "-q", "60 days", "out/memo.md"]"#).replace("[[artifacts]]", policy);
    let (work, told) = ran(&text, 0);
    assert_eq!(told["products"][0]["version"], 2, "{told}");
    assert_eq!(told["status"], "safe_to_rely_within_scope", "{told}");
    let ran = &critic(&work)["ran"][0];
    assert_eq!((&ran["criterion"], &ran["exit_code"]), (&json!("checked"), &json!(0)), "{ran}");
    assert_eq!(ran["argv"], json!(["grep", "-q", "60 days", "out/memo.md"]));
    assert_eq!((&ran["tool"][0], ran["tool"][1].as_str().unwrap().len()), (&json!("shell.exec"), 64));
    // It ran on the text that counts.
    let text = std::fs::read(work.path(told["products"][0]["path"].as_str().unwrap())).unwrap();
    let hash = countersign_record::digest::Digest::of(&text).to_string();
    assert_eq!(ran["files"], json!({ "out/memo.md": hash }));
    is_whole(&work);
}

#[test]
fn what_nothing_mends_is_not_run_again_and_verifies() {
    for last in [&["stop"][..], &["retry"]] {
        let (work, mut told) = ran(&task(r#"argv = ["grep", "-q", "zzz", "out/memo.md"]"#), 3);
        for (hour, option) in (10..).zip([&["accept"][..], last].concat()) {
            let id = told["question"]["id"].as_str().unwrap().to_owned();
            told = at(&work, hour, &["answer", RUN, "--id", &id, "--choose", option, "--json"]).json();
        }
        assert_eq!(told["outcomes"][0]["met"], json!(false), "{told}");
        assert_eq!(told["not_looked_at"], Value::Null, "{told}");
        is_whole(&work);
    }
}

#[test]
fn what_is_not_met_is_told_with_the_exit_code_and_without_the_work() {
    let check = r#"argv = ["grep", "-n", "-e", "zzz", "-e", "out", "missing.md", "out/memo.md"]"#;
    let work = folder(&task(check));
    let done = at(&work, 9, &["run", "task", "--json"]);
    assert!(matches!(done.exit, Some(1 | 3)), "{}", done.text());
    let told = done.json();
    let finding = &told["findings"][0]["explanation"];
    assert_eq!(finding, "Missing: exit code 0 (it is 2: grep: missing.md: No such file or directory).");
    // Where a text is not sorted the program says the line, which no row may hold.
    let work = folder(&task(r#"argv = ["sort", "-c", "-r", "out/memo.md"]"#));
    let told = at(&work, 9, &["run", "task", "--json"]).json();
    assert_eq!(told["findings"][0]["explanation"], "Missing: exit code 0 (it is 1).", "{told}");
}

#[test]
fn a_renewed_packet_goes_by_what_was_seen() {
    let (work, _) = ran(&task(r#"argv = ["grep", "-q", "31 May 2027", "out/memo.md"]"#), 0);
    work.write("task/lease.md", format!("{LEASE}\nIt rains.\n"));
    let recheck = ["command", "run", "source.recheck", "--run", RUN];
    at(&work, 10, &recheck).good();
    at(&work, 11, &["command", "run", "reliance.renew_packet", "--run", RUN]).good();
    is_whole(&work);
}

#[test]
fn what_could_not_be_run_to_its_end_was_not_looked_at() {
    let many = ["\"data.json\""; 60].join(", ");
    let check = format!("argv = [\"cat\", {many}]");
    let text = task(&check)
        .replace(
            "path = \"out/memo.md\"\nkind = \"markdown\"\n",
            "path = \"data.json\"\nkind = \"json\"\nfrom = \"data.json\"\n",
        )
        .replace("section = \"term\"\n", "")
        .replace(
            "basis = \"source_grounded\"",
            "basis = \"deterministic_check\"\ncheck = { kind = \"matches\", pattern = \"x\" }",
        );
    let text: String =
        text.lines().filter(|line| !line.starts_with("sections")).map(|line| format!("{line}\n")).collect();
    let work = folder(&text);
    work.write("task/data.json", format!("[\"{}\"]\n", "x".repeat(30_000)));
    let told = at(&work, 9, &["run", "task", "--json"]).exits(3).json();
    let told = asked(&work, &told, "could not be looked at: its command was not run to its end: tool.", 1);
    // No source is held against a document in JSON.
    assert_eq!(told["limitations"], json!(["unchecked_claims_present"]), "{told}");
    assert_eq!(told["outcomes"][0]["met"], json!(true), "{told}");
    let why = told["not_looked_at"]["checked"].as_str().unwrap();
    assert!(why.contains("not run to its end: tool."), "{why}");
    is_whole(&work);
}

/// A person is asked whether a criterion is met that nobody could look at, and says yes; gives what follows.
fn asked(work: &Work, told: &Value, words: &str, exit: i32) -> Value {
    let question = &told["question"];
    assert!(question["text"].as_str().unwrap().contains(words), "{told}");
    let id = question["id"].as_str().unwrap();
    at(work, 12, &["answer", RUN, "--id", id, "--choose", "yes", "--json"]).exits(exit).json()
}

/// What is wrong with a task, with its line.
fn wrong(text: &str, needle: &str, words: &str) {
    let work = folder(text);
    let line = 1 + text.lines().position(|line| line.contains(needle)).unwrap();
    for command in [&["task", "check", "task"][..], &["run", "task"]] {
        let refusal = work.run(command).refused(2, "task.invalid");
        assert!(refusal.message.contains(&format!("line {line}: ")), "{refusal:?}");
        assert!(refusal.message.contains(words), "{refusal:?}");
    }
}

#[test]
fn what_may_not_be_run_is_told_before_anything_is() {
    let good = r#"argv = ["grep", "-q", "x", "out/memo.md"]"#;
    let ungranted = task(good).replace("capabilities = [\"shell\"]\n", "");
    wrong(&ungranted, "kind = \"command\"", "add capabilities = [\"shell\"]");
    let other = task(good).replace("[\"shell\"]", "[\"net\"]");
    wrong(&other, "kind = \"command\"", "add capabilities = [\"shell\"]");
    let none = task(good).replace("[\"shell\"]", "[\"shell\", \"Shell!\"]");
    wrong(&none, "capabilities =", "a capability is a name");
    let twice = task(good).replace("[\"shell\"]", "[\"shell\", \"shell\"]");
    wrong(&twice, "capabilities =", "another one is the same");
    wrong(&task("argv = []"), "kind = \"command\"", "must name a program");
    wrong(&task(&format!("{good}, exit = 256")), "kind = \"command\"", "must be 0 to 255");
    for (argv, words) in [
        (r#"["python3", "-c", "1"]"#, "this program may not be run"),
        (r#"["sed", "-i", "s/a/b/", "out/memo.md"]"#, "sed may not be given -i"),
        (r#"["cat", "/etc/passwd"]"#, "absolute"),
        (r#"["cat", "../../ledger.sqlite"]"#, ""),
        (r#"["sudo", "ls"]"#, ""),
    ] {
        wrong(&task(&format!("argv = {argv}")), "kind = \"command\"", words);
    }
    let work = folder(&task(good));
    let told = work.run(&["task", "check", "task"]).good();
    assert!(told.text().contains("grants  shell\nruns    grep -q x out/memo.md"), "{}", told.text());
}

/// A task that a model drafts and judges; the replies are lines of its script.
fn judged(replies: &[Value]) -> Work {
    let rubric =
        "basis = \"anchored_rubric\"\nrubric = [{ level = 0, text = \"no\" }, { level = 1, text = \"yes\" }]";
    let text = TASK
        .replace("capabilities = [\"shell\"]\n", "")
        .replace(
            "\n[[artifacts]]",
            "\n[work]\nreplies = \"replies.jsonl\"\njudge = \"model\"\n\n[[artifacts]]",
        )
        .replace("basis = \"deterministic_check\"", rubric)
        .replace("check = { kind = \"command\", $CHECK }\n", "");
    let work = folder(&text);
    work.write("task/replies.jsonl", replies.iter().map(|one| format!("{one}\n")).collect::<String>());
    work
}

fn written() -> Value {
    json!({"text": "# Memo\n\n## Term\n\nThe lease of the warehouse ends on 31 May 2027. [lease.md:3]\n"})
}

/// A run that waits because the judge had no answer: the name of the question.
fn waits(done: &Done) -> String {
    let refusal = done.refused(3, "run.waiting");
    assert!(refusal.message.contains("the judge has no answer: "), "{refusal:?}");
    assert_eq!(refusal.details["reason"], "model_failed");
    assert_eq!(refusal.details["next_steps"], json!(["retry", "go on without the judge", "give up"]));
    refusal.details["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_judge_that_fails_is_asked_again_if_a_person_says_so() {
    let work = judged(&[written(), json!({"error": "model.unreachable"}), json!({"text": "{\"level\": 1}"})]);
    let stop = waits(&at(&work, 9, &["run", "task", "--json"]));
    let told = at(&work, 10, &["answer", RUN, "--id", &stop, "--choose", "retry", "--json"]).good().json();
    assert_eq!(told["status"], "safe_to_rely_within_scope", "{told}");
    assert_eq!(critic(&work)["levels"], json!({"checked": [1, 1]}));
    is_whole(&work);
}

#[test]
fn a_run_goes_on_without_its_judge_if_a_person_says_so() {
    let work = judged(&[written(), json!({"error": "model.unreachable"})]);
    let stop = waits(&at(&work, 9, &["run", "task", "--json"]));
    let answer = ["answer", RUN, "--id", &stop, "--choose", "go on without the judge", "--json"];
    let told = at(&work, 10, &answer).exits(3).json();
    // The judge is not asked again: a person has said it.
    let words = "the judge had no answer, and a person had the run go on without. Is it met?";
    let told = asked(&work, &told, words, 0);
    assert_eq!(told["not_looked_at"]["checked"], "a person has said whether it is met");
    assert_eq!(told["outcomes"][0]["met"], json!(true), "{told}");
    is_whole(&work);
}

#[test]
fn a_judge_that_says_something_else_is_told() {
    for said in ["It is fine.", "{\"level\": 2}", "{\"level\": \"1\"}"] {
        let work = judged(&[written(), json!({ "text": said })]);
        let told = at(&work, 9, &["run", "task", "--json"]).exits(3).json();
        asked(
            &work,
            &told,
            "the judge's answer is no level of the rubric, so it can't be used. Is it met?",
            0,
        );
        is_whole(&work);
    }
}

/// The example whose model writes code, with a budget of its own; the first question is answered.
fn spending(output_tokens: u64, option: &str, exit: i32) -> (Work, Value) {
    let work = Work::new();
    let example = crate::examples::folder("parser-code");
    std::fs::create_dir(work.path("parser-code")).unwrap();
    let mut copy = std::process::Command::new("cp");
    copy.arg("-r").arg(example.join(".")).arg(work.path("parser-code"));
    assert!(copy.status().unwrap().success());
    let path = "parser-code/task.toml";
    let text = std::fs::read_to_string(work.path(path)).unwrap();
    work.write(path, text.replace("output_tokens = 12000", &format!("output_tokens = {output_tokens}")));
    let told = at(&work, 9, &["run", "parser-code", "--json"]).exits(3).json();
    let question = &told["question"];
    assert!(question["text"].as_str().unwrap().contains("beyond the budget"), "{told}");
    let id = question["id"].as_str().unwrap();
    let done = at(&work, 10, &["answer", RUN, "--id", id, "--choose", option, "--json"]);
    assert_eq!(done.exit, Some(exit), "{}", done.err);
    let told = done.json();
    (work, told)
}

/// What was spent, by a dimension.
fn spent(work: &Work, dimension: &str) -> u64 {
    let records = |kind: &str| {
        let rows = work.run(&["ledger", "rows", "--kind", kind, "--json"]).good().lines();
        rows.into_iter().map(|row| row["payload"]["record"].clone()).collect::<Vec<Value>>()
    };
    let vectors = records("govern.cost_vector");
    let of = |record: &Value| {
        let name = record["actual_cost_vector_ref"].as_str().unwrap().strip_prefix("cost_vector:").unwrap();
        let vector = vectors.iter().find(|one| one["cost_vector_id"] == name).unwrap();
        vector["components"][dimension]["expected"].as_u64().unwrap_or_default()
    };
    records("govern.task_cost_record").iter().map(of).sum()
}

#[test]
fn a_repair_is_held_by_the_budget_and_counted() {
    // The draft can be paid for, its repair can't.
    let (work, told) = spending(6000, "grant", 0);
    assert_eq!(told["status"], "safe_to_rely_within_scope", "{told}");
    assert_eq!((spent(&work, "input_tokens"), spent(&work, "output_tokens")), (2814, 1540));
    is_whole(&work);
    let (work, told) = spending(6000, "stop", 3);
    assert_eq!(told["question"]["options"][1]["id"], "give-up", "{told}");
    assert_eq!(spent(&work, "output_tokens"), 792);
}

#[test]
fn a_run_that_may_not_pay_for_a_draft_ends_without_a_packet() {
    for option in ["stop", "accept"] {
        let (work, told) = spending(100, option, 1);
        assert_eq!((&told["packet"], &told["products"]), (&Value::Null, &json!([])), "{told}");
        assert_eq!(spent(&work, "output_tokens"), 0);
        verified(&work);
        let lint = work.run(&["lint", "--ledger", "--json"]).good().json();
        assert_eq!(lint["codes"], json!([]));
        let told = at(&work, 19, &["replay", RUN, "--mode", "audit_reconstruction", "--json"]).good().json();
        assert_eq!(told["same"], json!(true), "{told}");
    }
    let (work, told) = spending(100, "grant-tenfold", 0);
    assert_eq!(told["status"], "safe_to_rely_within_scope", "{told}");
    is_whole(&work);
}
