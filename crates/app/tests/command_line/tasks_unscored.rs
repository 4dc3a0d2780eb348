//! Tasks of which a part is scored by nobody, as a user meets them: a person is asked, or it is named.
//! Owns: the words, exit codes, packets and replays of that. Must not: repeat what the rules of `countersign-work` are tried on.

use crate::binary::{Done, Work};
use serde_json::{Value, json};

const HEAD: &str = r#"schema_version = "1.0"
id = "small"
title = "Small"
goal = "Say what the rent is."

[[artifacts]]
id = "work"
path = "memo.md"
kind = "markdown"
sections = [{ id = "rent", heading = "Rent", ask = "What is the rent of the warehouse?", quotes = 1 }]

[[sources]]
id = "lease"
path = "lease.md"
kind = "document"
trust_basis = "user_supplied"
verified_by = "ana"
tier = 2
"#;
const OUTCOME: &str = "\n[[outcomes]]\nid = \"told\"\nstatement = \"The rent is told.\"\n";
const CHECK: &str = "\n[[outcomes.criteria]]\nid = \"there\"\ntext = \"It is there.\"\nbasis = \"deterministic_check\"\n\
    check = { kind = \"section\", heading = \"Rent\" }\nrequired = true\n";
const LABEL: &str = "\n[[outcomes.criteria]]\nid = \"read\"\ntext = \"A partner agrees.\"\nbasis = \"human_label\"\n\
    question = \"Is the memo right?\"\nlabels = [\"right\", \"wrong\"]\npass = [\"right\"]\n";
const RUBRIC: &str = "\n[[outcomes.criteria]]\nid = \"clear\"\ntext = \"A reader can follow it.\"\nbasis = \"anchored_rubric\"\n\
    rubric = [{ level = 0, text = \"no\" }, { level = 1, text = \"yes\" }]\n";
const OPINION: &str = "\n[[outcomes.criteria]]\nid = \"tone\"\ntext = \"It reads well.\"\nbasis = \"unanchored_llm_judgment\"\n";

/// A directory with a task.
fn task(text: &str) -> Work {
    let work = Work::new();
    std::fs::create_dir(work.path("task")).unwrap();
    work.write("task/task.toml", text);
    work.write("task/lease.md", "The rent of the warehouse is 900 euros a month.\n");
    work
}

fn at(work: &Work, hour: u8, args: &[&str]) -> Done {
    let now = format!("2026-02-01T{hour:02}:00:00Z");
    work.run(&[args, &["--now", &now, "--seed", "7", "--as", "ana"]].concat())
}

fn told(done: &Done) -> (String, Value) {
    let told = done.json();
    (told["run"].as_str().unwrap().to_owned(), told)
}

/// A ledger that lints clean, a packet that verifies elsewhere, and a replay that comes to the same.
fn is_sound(work: &Work, run: &str) {
    at(work, 20, &["packet", "export", run, "--yes", "--out", "p.json"]).good();
    let report = work.run(&["verify", "p.json", "--data", "nowhere", "--json"]).good().json();
    assert_eq!(report["result"], "verified", "{report}");
    assert_eq!(work.run(&["lint", "--ledger", "--json"]).good().json()["codes"], json!([]));
    at(work, 21, &["replay", run]).good();
}

#[test]
fn a_person_is_asked_for_what_nobody_else_can_score() {
    let open = "missing = \"indeterminate\"\n";
    let optional = LABEL.to_owned() + "required = false\n";
    for (members, criteria, words, option) in [
        ("", LABEL.to_owned(), "Is the memo right?", "right"),
        ("", CHECK.to_owned() + LABEL, "Is the memo right?", "right"),
        ("", RUBRIC.to_owned(), "there is no judge. Is it met?", "yes"),
        ("", OPINION.to_owned(), "rests on nothing that can be checked. Is it met?", "yes"),
        (open, CHECK.to_owned() + &optional, "Is the memo right?", "right"),
        (open, CHECK.to_owned() + RUBRIC, "there is no judge. Is it met?", "yes"),
    ] {
        let work = task(&format!("{HEAD}{OUTCOME}{members}{criteria}"));
        at(&work, 8, &["task", "check", "task"]).good();
        let (run, asked) = told(&at(&work, 9, &["run", "task", "--json"]).exits(3));
        let question = &asked["question"];
        assert!(question["text"].as_str().unwrap().contains(words), "{asked}");
        let id = question["id"].as_str().unwrap();
        let done = at(&work, 10, &["answer", &run, "--id", id, "--choose", option]).good();
        assert!(done.text().starts_with("Safe to rely on within its scope.\n"), "{}", done.text());
        is_sound(&work, &run);
    }
}

#[test]
fn what_nobody_looked_at_is_named_wherever_the_work_is_told_of() {
    let work = task(&format!("{HEAD}{OUTCOME}unanchored = \"exclude\"\n{CHECK}{RUBRIC}{OPINION}"));
    let done = at(&work, 9, &["run", "task"]).exits(1);
    assert!(done.text().starts_with("Can be relied on with the limitations"), "{}", done.text());
    for words in [
        "The criterion “clear” was not looked at: there is no judge.",
        "The criterion “tone” was not looked at: the task leaves it out.",
    ] {
        assert!(done.text().contains(words), "{}", done.text());
    }
    let run = done.text().lines().find_map(|line| line.strip_prefix("run     ")).unwrap().to_owned();
    let page = at(&work, 10, &["health", &run]).good();
    assert!(page.text().contains("Nobody looked at “A reader can follow it.”"), "{}", page.text());
    let packet = at(&work, 11, &["packet", "show", &run, "--json"]).exits(1).json();
    let limits = packet["limitations"].as_array().unwrap();
    for words in
        ["nobody looked at “A reader can follow it.” (clear)", "nobody looked at “It reads well.” (tone)"]
    {
        assert!(limits.contains(&words.into()), "{limits:?}");
    }
    let criteria = packet["outcomes"][0]["criteria"].as_array().unwrap();
    let open: Vec<bool> = criteria.iter().map(|one| one["not_looked_at"] == true).collect();
    assert_eq!(open, [false, true, true]);
    is_sound(&work, &run);
}

#[test]
fn what_could_never_count_is_refused_before_anything_runs() {
    for (text, place) in [
        (format!("{OUTCOME}unanchored = \"exclude\"\n{OPINION}"), "/outcomes/0/unanchored"),
        (
            format!("{OUTCOME}{CHECK}")
                .replace("kind = \"section\", heading = \"Rent\"", "kind = \"sections\", headings = []"),
            "/outcomes/0/criteria/0/check/headings",
        ),
        (format!("{OUTCOME}{LABEL}").replace("\"wrong\"", "\"right\""), "/outcomes/0/criteria/0/labels/1"),
        (
            format!("\n[policies]\nsufficiency = {{ attempts_min = 5, attempts_max = 1 }}\n{OUTCOME}{CHECK}"),
            "/policies/sufficiency/attempts_min",
        ),
        (
            format!("\n[policies]\nclaim_support = {{ direct_min = 0 }}\n{OUTCOME}{CHECK}"),
            "/policies/claim_support/direct_min",
        ),
        (
            format!("{OUTCOME}{CHECK}")
                .replace("kind = \"section\", heading = \"Rent\"", "kind = \"citations\", sources_min = 5"),
            "/outcomes/0/criteria/0/check/sources_min",
        ),
    ] {
        let work = task(&format!("{HEAD}{text}"));
        for args in [["task", "check", "task"], ["run", "task", "--json"]] {
            let refusal = at(&work, 9, &args).refused_silently(2, "task.invalid");
            let error = &refusal.details["errors"][0];
            assert_eq!(error["path"], place, "{refusal:?}");
            assert!(error["line"].as_u64().is_some_and(|line| line > 1), "{refusal:?}");
        }
    }
}

#[test]
fn a_source_says_something_and_is_of_the_runs_matter() {
    let work = task(&format!("{HEAD}{OUTCOME}{CHECK}"));
    work.write("task/lease.md", " \n");
    let refusal = at(&work, 9, &["task", "check", "task"]).refused(2, "task.invalid");
    assert!(refusal.message.contains("/sources/0/path: lease.md: it is empty"), "{refusal:?}");
    let work = task(&format!("{HEAD}matter = \"acme\"\n{OUTCOME}{CHECK}"));
    for args in [["task", "check", "task"], ["run", "task", "--json"]] {
        let refusal = at(&work, 9, &args).refused_silently(2, "task.invalid");
        assert_eq!(refusal.details["errors"][0]["path"], "/sources/0/matter");
        assert!(refusal.message.contains("run it with --matter acme"), "{refusal:?}");
    }
    at(&work, 9, &["task", "check", "task", "--matter", "acme"]).good();
    let (run, _) = told(&at(&work, 9, &["run", "task", "--json", "--matter", "acme"]).good());
    at(&work, 10, &["packet", "export", &run, "--yes", "--out", "p.json", "--matter", "acme"]).good();
    work.run(&["verify", "p.json", "--data", "nowhere"]).good();
}

#[test]
fn an_outcome_that_there_is_not_is_told_with_those_that_there_are() {
    let second = OUTCOME.replace("told", "agreed") + LABEL + "\n";
    let work = task(&format!("{HEAD}{OUTCOME}{CHECK}{second}"));
    let (run, _) = told(&at(&work, 9, &["run", "task", "--json"]).exits(3));
    work.write("request.json", json!({ "target_ref": "nope", "reason": "user_directed" }).to_string());
    let args = ["command", "run", "task.skip", "--run", &run, "--request", "request.json"];
    let refusal = at(&work, 10, &args).refused_silently(2, "command.request");
    assert!(refusal.message.contains("the task has no outcome nope; it has told, agreed"), "{refusal:?}");
    assert_eq!(refusal.details["outcomes"], json!(["told", "agreed"]));
}
