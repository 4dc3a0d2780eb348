//! Tasks, run as a user runs them: the examples to their ends, the same bytes twice, what is shown of them, what stops them.

use crate::binary::{Done, Work};
use crate::examples::{Example, began, folder};
use crate::talks::verified;
use serde_json::{Value, json};

/// What a person answers, and the exit code of what follows.
type Answers = &'static [(&'static str, i32)];

/// The examples: the exit code of the first part, and what is answered.
const EXAMPLES: [(&str, i32, Answers); 6] = [
    ("lease-memo", 0, &[]),
    ("vendor-claims", 1, &[]),
    ("notice-conflict", 3, &[("prefer-nebenabrede", 3), ("accept", 0)]),
    ("incident-report", 0, &[]),
    ("parser-code", 0, &[]),
    ("audit-sample", 3, &[("enough", 1)]),
];

/// Runs an example to its end, as ana.
fn ended(name: &str, exit: i32, answers: &[(&str, i32)]) -> Example {
    let mut example = Example::run(name, exit);
    for (hour, (option, exit)) in (10..).zip(answers) {
        let id = example.told["question"]["id"].as_str().unwrap().to_owned();
        let done =
            example.at(hour, "ana", &["answer", &example.run, "--id", &id, "--choose", option, "--json"]);
        example.told = done.exits(*exit).json();
    }
    example
}

/// Every row of the ledger: its place, what it is, and its hash, which covers everything in it and all rows before.
fn rows(example: &Example) -> String {
    let rows = example.work.run(&["ledger", "rows", "--json"]).good();
    let line = |row: &Value| {
        let word = |name: &str| row[name].as_str().unwrap().to_owned();
        format!("{} {} {} {}\n", row["seq"], word("stream"), word("kind"), &word("hash")[..16])
    };
    rows.lines().iter().map(line).collect()
}

fn the_same_twice(at: usize) {
    let (name, exit, answers) = EXAMPLES[at];
    let (one, other) = (ended(name, exit, answers), ended(name, exit, answers));
    let told = rows(&one);
    assert_eq!(told, rows(&other), "{name}");
    insta::assert_snapshot!(format!("example_{name}"), told);
    let text = |example: &Example| {
        example.work.run(&["ledger", "export", "archive"]).good();
        read(&example.work, "archive/rows.jsonl")
    };
    assert_eq!(text(&one), text(&other), "{name}");
    verified(&one.work);
    let lint = one.work.run(&["lint", "--ledger", "--json"]).good().json();
    assert_eq!(lint["codes"], json!([]), "{name}");
}

#[test]
fn a_memo_that_is_safe_comes_out_the_same_twice() {
    the_same_twice(0);
}

#[test]
fn a_review_that_is_limited_comes_out_the_same_twice() {
    the_same_twice(1);
}

#[test]
fn a_run_that_asks_comes_out_the_same_twice() {
    the_same_twice(2);
}

#[test]
fn a_report_that_is_mended_comes_out_the_same_twice() {
    the_same_twice(3);
}

#[test]
fn code_that_is_repaired_comes_out_the_same_twice() {
    the_same_twice(4);
}

#[test]
fn a_run_that_needs_a_label_comes_out_the_same_twice() {
    the_same_twice(5);
}

#[test]
fn the_end_fits_a_screen() {
    let example = Example::run("lease-memo", 0);
    let folder = folder("lease-memo");
    let done =
        example.work.run(&["run", folder.to_str().unwrap(), "--matter", "again", "--seed", "2"]).good();
    let text = done.text();
    assert!(text.lines().count() <= 24 && text.starts_with("Safe to rely on within its scope.\n"), "{text}");
    assert!(text.contains("next    countersign packet show run_"), "{text}");
    assert!(!text.contains('\u{1b}'), "no colour where nobody looks: {text}");
    let work = example.told["products"][0]["path"].as_str().unwrap();
    assert!(read(&example.work, work).contains("## "));
}

#[test]
fn a_revision_leaves_both_versions_and_a_diff() {
    let example = ended("incident-report", 0, &[]);
    let path = example.told["products"][0]["path"].as_str().unwrap().to_owned();
    let (dir, name) = path.rsplit_once('/').unwrap();
    let (first, second) = (format!("{dir}/versions/v1-{name}"), format!("{dir}/versions/v2-{name}"));
    assert_ne!(read(&example.work, &first), read(&example.work, &second));
    assert_eq!(read(&example.work, &path), read(&example.work, &second));
    let packets = example.records("revision_review_packet");
    assert!(
        !packets.is_empty() && packets.iter().all(|one| one["semantic_diff_ref"].is_string()),
        "{packets:?}"
    );
}

#[test]
fn runs_of_one_matter_that_find_something_leave_a_clean_ledger() {
    let example = ended("vendor-claims", 1, &[]);
    began(&example.work, "vendor-claims", 2, 1);
    began(&example.work, "notice-conflict", 3, 3);
    let lint = example.work.run(&["lint", "--ledger", "--strict", "--json"]).good().json();
    assert_eq!(lint["codes"], json!([]));
    let findings = example.work.run(&["findings", &example.run, "--json"]).good().json();
    assert!(!findings["made_of"]["inputs"].as_array().unwrap().is_empty(), "{findings}");
}

#[test]
fn every_page_says_what_it_rests_on() {
    let example = ended("vendor-claims", 1, &[]);
    let page = |name: &str| {
        let done = example.work.run(&[name, &example.run, "--json"]).good();
        done.json()
    };
    for (name, rests_on) in [
        ("health", Some("put_down")),
        ("findings", Some("made_of")),
        ("review", Some("made_of")),
        ("attention", Some("put_down")),
        ("evidence", Some("put_down")),
        ("chain", Some("put_down")),
        ("board", Some("made_of")),
    ] {
        let told = page(name);
        assert_eq!((&told["run"], &told["page"]), (&json!(example.run), &json!(name)));
        assert!(told["as_of"].as_u64().unwrap() > 100, "{told}");
        for member in ["put_down", "made_of"] {
            assert_eq!(told[member].is_object(), rests_on == Some(member), "{name}: {told}");
        }
        if let Some(member) = rests_on {
            assert_eq!(told[member]["input_manifest_hash"].as_str().unwrap().len(), 64, "{name}");
        }
        assert!(rests_on != Some("put_down") || told["put_down"]["counts"] == json!(true), "{name}");
        let done = example.work.run(&[name, &example.run]).good();
        let text = done.text();
        assert!(text.contains("From the run's records up to place"), "{name}: {text}");
    }
    assert_eq!(page("health")["body"]["reliance_status"], "rely_with_limitations");
    let findings = page("findings");
    assert!(findings["body"][0]["text"].as_str().unwrap().contains("no source says it"), "{findings}");
    // One place for all that can be looked over: what it lists is what it is made of, and each can be opened.
    let review = page("review");
    let listed = ["finding_refs", "revision_review_packet_refs", "decision_audit_view_refs"];
    let listed: Vec<&Value> =
        listed.iter().flat_map(|list| review["body"]["view"][list].as_array().unwrap()).collect();
    assert_eq!(listed, review["made_of"]["inputs"].as_array().unwrap().iter().collect::<Vec<_>>());
    assert_eq!(review["body"]["findings"], findings["body"]);
    let decision = review["body"]["decisions"][0]["decision"].as_str().unwrap();
    example.work.run(&["audit", &example.run, "--decision", decision]).good();
    let evidence = page("evidence");
    let unsupported = evidence["body"]["claims"].as_array().unwrap();
    assert_eq!(unsupported.iter().filter(|one| one["support"] == "unsupported").count(), 1);
    // What the sources do not say is asked, in words, and with how it is answered.
    assert!(
        evidence["body"]["needs"][0]["question"].as_str().unwrap().starts_with("Which source"),
        "{evidence}"
    );
    let said = example.work.run(&["evidence", &example.run]).good();
    let answer = "| countersign command run research.answer_need --request - --run run_";
    assert!(said.text().contains("? Which source") && said.text().contains(answer), "{}", said.text());
    let all = example.work.run(&["attention"]).good();
    assert!(all.text().contains("a packet to read"), "{}", all.text());
    // A finding that is disputed waits for somebody who stands by it or rejects it.
    let finding = findings["body"][0]["finding"].as_str().unwrap();
    let dispute = json!({"finding_id": finding, "grounds": "It is in the annex."}).to_string();
    example.command(10, "ana", "finding.contest", &dispute).good();
    let waits = example.work.run(&["attention", &example.run]).good();
    for command in ["finding.confirm", "finding.reject"] {
        let typed = format!("| countersign command run {command} --request - --run {}", example.run);
        assert!(waits.text().contains(finding) && waits.text().contains(&typed), "{}", waits.text());
    }
    let done = example.work.run(&["budget", "show", &example.run]).good();
    let budget = done.text();
    assert!(budget.starts_with("spent") && budget.contains("foreseen"), "{budget}");
    example.work.run(&["health", "run_0000000000000000"]).refused_silently(1, "run.missing");
}

/// A run that waits: its name, and that of the question.
fn waits(done: &Done, words: &str) -> (String, String) {
    let refusal = done.refused(3, "run.waiting");
    assert!(refusal.message.contains(words), "{refusal:?}");
    let word =
        |name: &str| refusal.details[name].as_str().unwrap_or_else(|| panic!("{refusal:?}")).to_owned();
    (word("run"), word("id"))
}

fn read(work: &Work, path: &str) -> String {
    std::fs::read_to_string(work.path(path)).unwrap()
}

/// The task of lease-memo with more in it.
fn changed(work: &Work, from: &str, to: &str) -> String {
    let source = folder("lease-memo");
    let copy = work.path("memo-task");
    let copied = std::process::Command::new("cp").arg("-r").args([&source, &copy]).status().unwrap();
    assert!(copied.success());
    let task = copy.join("task.toml");
    let text = std::fs::read_to_string(&task).unwrap();
    assert!(text.contains(from), "{text}");
    std::fs::write(&task, text.replacen(from, to, 1)).unwrap();
    copy.to_str().unwrap().to_owned()
}

#[test]
fn a_contract_is_agreed_on_before_anything_is_done() {
    let work = Work::new();
    let task = changed(&work, "contract = \"waived\"", "contract = \"required\"");
    let args = ["run", &task, "--now", "2026-02-01T09:00:00Z", "--seed", "1", "--as", "ana", "--json"];
    let (run, stop) = waits(&work.run(&args), "begin the work as its contract");
    let kinds = work.run(&["ledger", "rows", "--json"]).good();
    let drafted = kinds.lines().iter().any(|row| row["kind"] == "govern.artifact_version");
    assert!(!drafted, "nothing is drafted before");
    let answer = ["answer", &run, "--id", &stop, "--approve", "--as", "ben", "--now", "2026-02-01T10:00:00Z"];
    let done = work.run(&[&answer[..], &["--json"]].concat()).good().json();
    assert_eq!(done["status"], "safe_to_rely_within_scope");
    let rows = work.run(&["ledger", "rows", "--kind", "govern.user_confirmation", "--json"]).good();
    assert_eq!(rows.lines()[0]["payload"]["record"]["user_ref"], "user:ben");
}

#[test]
fn all_runs_of_a_matter_share_a_budget() {
    let work = Work::new();
    work.run(&["budget", "cap", "--output-tokens", "10"]).good();
    let folder = folder("parser-code");
    let args = ["run", folder.to_str().unwrap(), "--now", "2026-02-01T09:00:00Z", "--seed", "1", "--json"];
    let (run, stop) = waits(&work.run(&args), "the budget of the matter");
    let spent = work.run(&["budget", "show", "--json"]).good().json();
    assert_eq!((&spent["spent"], &spent["held"]), (&json!({}), &json!({})));
    work.run(&["budget", "cap", "--output-tokens", "100000"]).good();
    work.run(&["answer", &run, "--id", &stop, "--choose", "retry", "--json"]).good();
    let spent = work.run(&["budget", "show", "--json"]).good().json();
    assert!(spent["spent"]["output_tokens"].as_u64().is_some(), "{spent}");
    assert_eq!(spent["held"], json!({}));
    work.run(&["budget", "cap", "--usd", "a lot"]).refused_silently(2, "usage.invalid");
}

#[test]
fn a_task_is_made_and_mistakes_are_told_with_their_line() {
    let work = Work::new();
    work.run(&["task", "new", "mine"]).good();
    work.run(&["task", "check", "mine"]).good();
    work.run(&["run", "mine"]).good();
    assert_eq!(work.run(&["task", "new", "mine"]).exit, Some(2));
    let text = read(&work, "mine/task.toml");
    work.write("mine/task.toml", text.replacen("kind = \"markdown\"", "kind = \"opera\"", 1));
    let wrong = work.run(&["task", "check", "mine"]).refused(2, "task.invalid");
    let line = 1 + text.lines().position(|line| line.contains("kind = \"markdown\"")).unwrap();
    let told = format!("{wrong:?}");
    assert!(told.contains("kind") && told.contains(&line.to_string()), "{told}");
    began(&work, "lease-memo", 1, 0);
}
