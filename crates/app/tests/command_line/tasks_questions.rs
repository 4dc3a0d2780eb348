//! Questions of a task's run that wait: how long they may, and what becomes of them then.

use crate::binary::{Done, Work};
use crate::examples::folder;

/// A run of an example whose task lets questions wait for a day, with the question that it waits for.
struct Waiting {
    work: Work,
    run: String,
    question: String,
}

impl Waiting {
    fn begun(on_timeout: &str) -> Self {
        let work = Work::new();
        task(&work, &format!("timeout_hours = 24, on_timeout = \"{on_timeout}\""));
        let told = at(&work, "01T09", &["run", "task", "--json"]).exits(3).json();
        assert_eq!(told["claims"], serde_json::json!({ "supported": 4, "all": 5 }), "{told}");
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        Waiting { run: text(&told["run"]), question: text(&told["question"]["id"]), work }
    }

    fn at(&self, hour: &str, args: &[&str]) -> Done {
        at(&self.work, hour, args)
    }

    fn answered(&self, hour: &str) -> Done {
        let args = ["answer", &self.run, "--id", &self.question, "--choose", "prefer-rahmenvertrag"];
        self.at(hour, &args)
    }

    /// What was put down of questions that wait.
    fn waited(&self) -> Vec<[String; 2]> {
        let kind = "govern.hard_call_pending_event";
        let rows = self.work.run(&["ledger", "rows", "--kind", kind, "--json"]).good().lines();
        let word =
            |row: &serde_json::Value, name: &str| row["payload"]["record"][name].as_str().unwrap().to_owned();
        rows.iter().map(|row| [word(row, "cause"), word(row, "action")]).collect()
    }
}

fn at(work: &Work, hour: &str, args: &[&str]) -> Done {
    let now = format!("2026-02-{hour}:00:00Z");
    work.run(&[args, &["--now", &now, "--seed", "7", "--as", "ana"]].concat())
}

/// The example with what its task says of questions.
fn task(work: &Work, questions: &str) {
    let copied = std::process::Command::new("cp")
        .arg("-r")
        .arg(folder("notice-conflict"))
        .arg(work.path("task"))
        .status();
    assert!(copied.unwrap().success());
    let text = std::fs::read_to_string(work.path("task/task.toml")).unwrap();
    let said = format!("[policies]\nquestions = {{ {questions} }}\n");
    work.write("task/task.toml", text.replacen("[policies]\n", &said, 1));
}

#[test]
fn a_run_ends_that_nobody_answers_in_time() {
    let waiting = Waiting::begun("abort");
    let (work, run) = (&waiting.work, waiting.run.as_str());
    let calls = work.run(&["ledger", "rows", "--kind", "govern.hard_revision_call", "--json"]).good().lines();
    let policy = &calls[0]["payload"]["record"]["pending_policy"];
    assert_eq!((&policy["timeout_ms"], &policy["on_timeout"]), (&86_400_000.into(), &"abort".into()));
    let shown = waiting.at("02T08", &["runs", "resume", run]).exits(3);
    assert!(shown.text().contains("Without an answer by 2026-02-02T09:00:"), "{}", shown.text());
    let refusal = waiting.answered("02T10").refused(1, "answer.expired");
    assert!(refusal.message.contains("2026-02-02T09:00:"), "{}", refusal.message);
    assert_eq!(waiting.waited(), [["timed_out", "abort"]]);
    // It is over, for everybody and with everything that it waited for.
    waiting.answered("02T11").refused(1, "run.over");
    let list = work.run(&["runs", "list"]).good();
    assert!(list.text().contains("over: nobody answered in time"), "{}", list.text());
    assert_eq!(work.run(&["attention"]).good().text(), "Nothing waits for a person.\n");
    work.run(&["packet", "export", run, "--yes", "--out", "p.json"]).refused(1, "packet.missing");
    work.run(&["lint", "--ledger"]).good();
    waiting.at("03T09", &["replay", run]).good();
}

#[test]
fn a_run_is_found_to_have_ended_by_whoever_looks_after_it() {
    let waiting = Waiting::begun("abort");
    let resumed = waiting.at("02T10", &["runs", "resume", &waiting.run]);
    resumed.refused(1, "run.denied");
    assert!(
        resumed.text().starts_with("The run ended without a result: nobody answered in time"),
        "{}",
        resumed.text()
    );
    assert!(resumed.text().contains("(Left open when nobody answered in time)"), "{}", resumed.text());
    let waiting = Waiting::begun("abort");
    waiting.work.write("request.json", "{}");
    let args = ["command", "run", "checkpoint.create", "--run", &waiting.run, "--request", "request.json"];
    waiting.at("02T10", &args);
    assert_eq!(waiting.waited(), [["timed_out", "abort"]]);
    waiting.work.run(&["lint", "--ledger"]).good();
    waiting.at("03T09", &["replay", &waiting.run]).good();
}

/// A question that is for somebody else by now can still be answered, and it is on record that it came late.
#[test]
fn a_late_answer_counts_where_a_question_only_went_to_somebody_else() {
    let waiting = Waiting::begun("escalate");
    let shown = waiting.at("02T08", &["runs", "resume", &waiting.run]).exits(3);
    assert!(!shown.text().contains("Without an answer"), "{}", shown.text());
    assert!(shown.text().contains("From 2026-02-02T09:00:"), "{}", shown.text());
    assert_eq!(waiting.waited(), Vec::<[String; 2]>::new());
    // It is seen before anybody answers, and put down once by whoever looks after the run.
    let since = "Since 2026-02-02T09:00:";
    let page = waiting.at("02T10", &["attention", &waiting.run]).good();
    assert!(page.text().contains(since), "{}", page.text());
    let item = waiting.at("02T10", &["attention", &waiting.run, "--json"]).good().json();
    assert_eq!(item["body"][0]["escalated"], true, "{item}");
    for hour in ["02T10", "02T11"] {
        let shown = waiting.at(hour, &["runs", "resume", &waiting.run]).exits(3);
        assert!(shown.text().contains(since), "{}", shown.text());
        assert_eq!(waiting.waited(), [["timed_out", "escalate"]]);
    }
    waiting.answered("02T12").good();
    assert_eq!(waiting.waited(), [["timed_out", "escalate"]]);
    let work = &waiting.work;
    work.run(&["lint", "--ledger"]).good();
    work.run(&["packet", "export", &waiting.run, "--yes", "--out", "p.json"]).good();
    work.run(&["verify", "p.json"]).good();
    waiting.at("03T09", &["replay", &waiting.run]).good();
}

#[test]
fn how_long_a_question_may_wait_is_checked() {
    for (said, words) in [
        ("timeout_hours = 0", "must be 1 to 8760"),
        ("timeout_hours = 9000", "must be 1 to 8760"),
        ("on_timeout = \"continue_with_warning\"", "escalate"),
    ] {
        let work = Work::new();
        task(&work, said);
        let refusal = work.run(&["task", "check", "task"]).refused(2, "task.invalid");
        let told = format!("{refusal:?}");
        assert!(told.contains("159") && told.contains(words), "{told}");
    }
}
