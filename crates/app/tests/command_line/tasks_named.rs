//! What a task's file names and says: everything that is wrong with it is told with its line, its place and what to do.

use crate::binary::{Refusal, Work};
use crate::examples::{Example, folder};
use serde_json::{Value, json};

/// A copy of an example with changes to its file.
fn changed(name: &str, changes: &[(&str, &str)]) -> Work {
    let work = Work::new();
    let copied = std::process::Command::new("cp").arg("-r").arg(folder(name)).arg(work.path("task")).status();
    assert!(copied.unwrap().success());
    let mut text = std::fs::read_to_string(work.path("task/task.toml")).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    work.write("task/task.toml", text);
    work
}

/// Code, place and whether each has its line, of all that is wrong.
fn told(refusal: &Refusal) -> Vec<(String, String)> {
    let one = |error: &Value| {
        let text = |name: &str| error[name].as_str().unwrap().to_owned();
        assert!(
            text("message").starts_with(&format!("line {}: {}: ", error["line"], text("path"))),
            "{error}"
        );
        (text("code"), text("path"))
    };
    refusal.details["errors"].as_array().unwrap().iter().map(one).collect()
}

fn check(name: &str, changes: &[(&str, &str)], code: &str, expected: &[(&str, &str)]) -> Refusal {
    let work = changed(name, changes);
    let mut last = None;
    for command in [["task", "check", "task"], ["run", "task", "--json"]] {
        let refusal = work.run(&command).refused_silently(2, code);
        let expected: Vec<(String, String)> =
            expected.iter().map(|(code, path)| ((*code).to_owned(), (*path).to_owned())).collect();
        assert_eq!(told(&refusal), expected, "{changes:?}: {refusal:?}");
        last = Some(refusal);
    }
    last.unwrap()
}

#[test]
fn a_file_that_is_not_there_is_told_with_the_place_that_names_it() {
    const GONE: &str = "file.unreadable";
    let refusal = check(
        "lease-memo",
        &[("sources/amendment.md", "sources/other.md")],
        GONE,
        &[(GONE, "/sources/1/path")],
    );
    assert_eq!(refusal.details["errors"][0]["line"], 78, "{refusal:?}");
    assert!(refusal.message.contains("name one that is in the task's folder"), "{refusal:?}");
    let replies = ("model = \"extractive\"", "replies = \"nowhere.jsonl\"");
    check("lease-memo", &[replies], GONE, &[(GONE, concat!("/work", "/replies"))]);
    let schema = "check = { kind = \"json_schema\", schema = \"none.json\" }";
    let section = "check = { kind = \"section\", heading = \"Term\" }";
    let place = "/outcomes/0/criteria/0/check/schema";
    check("lease-memo", &[(section, schema)], GONE, &[(GONE, place)]);
    check(
        "lease-memo",
        &[("pipeline = \"task\"", "pipeline = \"x.toml\"")],
        GONE,
        &[(GONE, concat!("/work", "/pipeline"))],
    );
    check(
        "lease-memo",
        &[("path = \"memo.md\"", "path = \"memo.md\"\nfrom = \"draft.md\"")],
        GONE,
        &[(GONE, "/artifacts/0/from")],
    );
}

#[test]
fn all_that_is_wrong_with_what_a_task_names_is_told_at_once() {
    let changes = [
        ("sources/lease.md", "sources/a.md"),
        ("sources/amendment.md", "sources/b.md"),
        ("pipeline = \"task\"", "pipeline = \"default\""),
        ("model = \"extractive\"", "model = \"nobody\""),
    ];
    let expected = [
        ("file.unreadable", "/sources/0/path"),
        ("file.unreadable", "/sources/1/path"),
        ("model.unknown", concat!("/work", "/model")),
        ("task.invalid", concat!("/work", "/pipeline")),
    ];
    check("lease-memo", &changes, "task.invalid", &expected);
    let refusal = check("lease-memo", &changes[3..], "model.unknown", &expected[2..3]);
    assert!(refusal.message.contains("countersign models list"), "{refusal:?}");
    // Whoever names another model has no use for the task's.
    changed("lease-memo", &changes[3..]).run(&["run", "task", "--model", "extractive", "--json"]).good();
}

/// Code that has a CodeSpec comes to whoever looks at it through the enforcer, in whatever pipeline.
#[test]
fn no_pipeline_leads_code_around_its_codespec() {
    let shipped = include_str!("../../pipelines/task.toml");
    let mine = shipped.replacen("name = \"task\"\n", "name = \"mine\"\n", 1);
    let work = changed("parser-code", &[("pipeline = \"task\"", "pipeline = \"mine.toml\"")]);
    for (from, to) in [
        ("default_next = \"enforcement\"", "default_next = \"critic\""),
        ("default_next = \"enforcement\"", "default_next = \"enforcement\"\nerror_next = \"critic\""),
        ("name = \"enforcement\"\nagent", "name = \"enforcement\"\noutput_key = \"other\"\nagent"),
        ("default_next = \"perception\"", "default_next = \"critic\""),
    ] {
        assert!(mine.contains(from), "{from}");
        work.write("task/mine.toml", mine.replacen(from, to, 1));
        for args in [["task", "check", "task"].as_slice(), &["run", "task"]] {
            let refusal = work.run(args).refused_silently(2, "task.invalid");
            assert!(refusal.message.contains("without passing enforcement"), "{to}: {}", refusal.message);
        }
    }
    // One that leaves nothing out goes along with its packet.
    work.write("task/mine.toml", &mine);
    let run = work.run(&["run", "task", "--json"]).good().json();
    let run = run["run"].as_str().unwrap().to_owned();
    work.run(&["packet", "export", &run, "--yes", "--out", "packet.json"]).good();
    work.run(&["verify", "packet.json"]).good();
}

#[test]
fn a_number_is_a_number_and_money_a_text() {
    for (from, to, place) in [
        ("quotes = 1", "quotes = \"1\"", "/artifacts/0/sections/0/quotes"),
        ("usd = \"0.50\"", "usd = 0.50", "/budget/usd"),
        ("external_api_calls = 10", "external_api_calls = \"10\"", "/budget/external_api_calls"),
        ("external_api_calls = 10", "external_api_calls = 1.5", "/budget/external_api_calls"),
    ] {
        check("lease-memo", &[(from, to)], "task.invalid", &[("field.invalid", place)]);
    }
}

#[test]
fn a_recheck_goes_by_the_files() {
    let work = changed("lease-memo", &[]);
    let args = ["run", "task", "--now", "2026-02-01T09:00:00Z", "--seed", "1", "--as", "ana", "--json"];
    let run = work.run(&args).good().json()["run"].as_str().unwrap().to_owned();
    let example = Example { work, run, told: Value::Null };
    let taken = example.command(10, "ana", "source.recheck", r#"{"found": {}}"#).good().json();
    assert_eq!(taken["files"], json!({"sources/amendment.md": "unchanged", "sources/lease.md": "unchanged"}));
    let own = sha256(&example.work, "task/sources/amendment.md");
    example.work.write("task/sources/amendment.md", "Something else.\n");
    let rows = example.rows();
    for request in [
        json!({"found": {"amendment": own}}),
        json!({"found": {}, "gone": ["lease"]}),
        json!({"found": {"nobody": own}}),
    ] {
        let refusal = example.command(11, "ana", "source.recheck", &request.to_string());
        let refusal = refusal.refused_silently(2, "command.request");
        assert!(refusal.message.contains("leave the request out"), "{refusal:?}");
    }
    assert_eq!(example.rows(), rows, "nothing of it is on record");
    let now = json!({"found": {"amendment": sha256(&example.work, "task/sources/amendment.md")}});
    let told = example.command(12, "ana", "source.recheck", &now.to_string()).good().json();
    assert_eq!(told["files"], json!({"sources/amendment.md": "changed", "sources/lease.md": "unchanged"}));
}

fn sha256(work: &Work, path: &str) -> String {
    let done = std::process::Command::new("sha256sum").arg(work.path(path)).output().unwrap();
    String::from_utf8(done.stdout).unwrap().split(' ').next().unwrap().to_owned()
}
