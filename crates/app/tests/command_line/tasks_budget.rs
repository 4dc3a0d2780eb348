//! What a task may spend while a judge is asked, and a judge that may not be, as a user meets it.
//! Owns: runs whose model takes more than was held for it, whose questions nobody saw the end of or stay here. Must not: repeat what one question costs.

use crate::binary::{Running, Work};
use crate::examples::Example;
use crate::talks::{Answer, PATIENCE, Server};
use serde_json::{Value, json};

const TASK: &str = r#"schema_version = "1.0"
id = "judged"
title = "Judged"
goal = "Say what the rent is."

[work]
$WORK
judge = "model"

[[artifacts]]
id = "memo"
path = "memo.md"
kind = "markdown"
title = "Memo"
from = "draft.md"

[[sources]]
id = "lease"
path = "lease.md"
kind = "document"
trust_basis = "user_supplied"
verified_by = "ana"

[[outcomes]]
id = "clear"
statement = "It is clear."
$CRITERIA

$REST
"#;

/// A task with four criteria that a judge scores; the parts of it in their order.
fn judged([work, rest]: [&str; 2], replies: &str) -> Work {
    let place = Work::new();
    std::fs::create_dir(place.path("task")).unwrap();
    let criterion = |name: &&str| {
        let required = if *name == "c1" { "required = true\n" } else { "" };
        format!(
            "[[outcomes.criteria]]\nid = \"{name}\"\ntext = \"It is {name}.\"\nbasis = \"anchored_rubric\"\n{required}\
             rubric = [{{ level = 0, text = \"no\" }}, {{ level = 1, text = \"yes\" }}]\n"
        )
    };
    let grounded = "[[outcomes.criteria]]\nid = \"g\"\ntext = \"It stands.\"\nbasis = \"source_grounded\"\nrequired = true\n";
    let criteria: String = ["c1", "c2", "c3", "c4"].iter().map(criterion).collect();
    let task = TASK.replace("$WORK", work).replace("$REST", rest);
    place.write("task/task.toml", task.replace("$CRITERIA", &format!("{criteria}\n{grounded}")));
    place.write("task/lease.md", "The rent of the warehouse is 900 euros a month.\n");
    place.write("task/draft.md", "# Memo\n\nThe rent of the warehouse is 900 euros a month. [lease.md:1]\n");
    place.write("task/replies.jsonl", replies);
    place
}

/// A run of the task, as ana.
const RUN: [&str; 9] =
    ["run", "task", "--now", "2026-02-01T09:00:00Z", "--seed", "1", "--as", "ana", "--json"];

fn begun(work: Work, exit: i32) -> Example {
    let told = work.run(&RUN).exits(exit).json();
    let run = told["run"].as_str().unwrap().to_owned();
    Example { work, run, told }
}

fn answered(example: &mut Example, hour: u8, choice: &str, exit: i32) {
    let id = example.told["question"]["id"].as_str().unwrap().to_owned();
    let args = ["answer", &example.run, "--id", &id, "--choose", choice, "--json"];
    example.told = example.at(hour, "ana", &args).exits(exit).json();
}

fn asked(example: &Example) -> &str {
    example.told["question"]["text"].as_str().unwrap()
}

/// A ledger that lints clean, a packet that verifies elsewhere, and replays that come to the same.
fn is_sound(example: &Example) {
    let lint = example.work.run(&["lint", "--ledger", "--json"]).good().json();
    assert_eq!(lint["codes"], json!([]));
    let out = ["packet", "export", &example.run, "--yes", "--out", "packet.json"];
    example.at(20, "ana", &out).good();
    let report = example.work.run(&["verify", "packet.json", "--data", "nowhere", "--json"]).good().json();
    assert_eq!(report["result"], "verified", "{report}");
    for mode in ["audit_reconstruction", "simulation_from_recorded_outputs"] {
        let told = example.at(21, "ana", &["replay", &example.run, "--mode", mode, "--json"]).good().json();
        assert_eq!(told["same"], json!(true), "{mode}: {told}");
    }
}

/// A run that a command line brings to a question that is no question of the task.
fn stopped(work: Work, args: &[&str]) -> Example {
    let done = work.run(args);
    assert_eq!(done.exit, Some(3), "{}", done.err);
    let told = done.json();
    let run = told["run"].as_str().unwrap().to_owned();
    Example { work, run, told }
}

/// How many questions were paid for.
fn paid(example: &Example) -> usize {
    let all = example.records("task_cost_record");
    all.iter().filter(|one| one["cost_class"] == "logical_llm_work").count()
}

/// Replies of a judge that takes more than it was let.
fn greedy(count: usize) -> String {
    let reply = json!({ "text": "{\"level\": 1}", "input_tokens": 50, "output_tokens": 900 });
    (0..count).map(|_| format!("{reply}\n")).collect()
}

const REPLIES: &str = "replies = \"replies.jsonl\"";

#[test]
fn a_judge_that_takes_more_than_was_held_is_stopped_between_two_questions() {
    // All four may say 1024 tokens; after two that took 900 each there is no room for a third. As all are asked again and may take as
    // much, that is what is asked for.
    let cap = "[budget]\noutput_tokens = 2000\n";
    for (choice, exit, count) in [("grant", 0, 6), ("accept", 3, 2)] {
        let mut example = begun(judged([REPLIES, cap], &greedy(8)), 3);
        assert!(asked(&example).contains("beyond the budget by 3400 output tokens"), "{}", example.told);
        assert_eq!(paid(&example), 2);
        let short = example.at(10, "ana", &["budget", "show", &example.run]).good();
        assert!(short.text().contains("1800 output tokens"), "{}", short.text());
        answered(&mut example, 11, choice, exit);
        if exit == 3 {
            // Nobody is left to judge, so a person is asked about what must be met.
            answered(&mut example, 12, "yes", 1);
        }
        assert_eq!(paid(&example), count, "{choice}");
        is_sound(&example);
    }
}

#[test]
fn a_judge_that_takes_more_is_stopped_by_the_purse_of_the_matter() {
    let work = judged([REPLIES, ""], &greedy(8));
    work.run(&["budget", "cap", "--output-tokens", "2000"]).good();
    let example = stopped(work, &RUN);
    let words = "the budget of the matter does not reach: it is short of 56 output tokens";
    assert!(asked(&example).starts_with(words), "{}", example.told);
    assert_eq!(paid(&example), 2);
    let spent = example.work.run(&["budget", "show", "--json"]).good().json();
    assert_eq!(spent["spent"]["output_tokens"], json!(1800), "{spent}");
}

#[test]
fn questions_that_nobody_saw_the_end_of_count_as_they_were_foreseen() {
    let says = || Answer::Says(vec!["{\"level\": 1}"]);
    let rest = "[policies]\nexternalization = { api_call = \"free\" }\n[budget]\nexternal_api_calls = 5\n";
    let work = judged(["model = \"far\"", rest], "");
    let server = Server::start(vec![says(), Answer::Silent, says(), says(), says(), says()]);
    server.added(&work, "far", &[]);
    let running = Running::start(&work, &RUN);
    server.heard.recv_timeout(PATIENCE).unwrap();
    server.heard.recv_timeout(PATIENCE).unwrap();
    running.kill();
    let runs = work.run(&["runs", "list", "--json"]).good().json()["runs"].clone();
    let resume =
        ["runs", "resume", runs[0]["run"].as_str().unwrap(), "--now", "2026-02-01T10:00:00Z", "--json"];
    let mut example = stopped(work, &resume);
    assert!(asked(&example).contains("nobody saw what became of that"), "{}", example.told);
    let shown = example.at(11, "ana", &["budget", "show", &example.run]).good();
    assert!(shown.text().contains("4 external api"), "{}", shown.text());
    assert!(shown.text().contains("external api calls: 4 of 4"), "{}", shown.text());
    answered(&mut example, 12, "retry", 3);
    assert!(asked(&example).contains("beyond the budget by 3 external api calls"), "{}", example.told);
    assert_eq!(server.heard.try_iter().count(), 0);
    answered(&mut example, 13, "grant", 0);
    assert_eq!((server.heard.try_iter().count(), paid(&example)), (4, 4));
    is_sound(&example);
}

#[test]
fn what_is_foreseen_of_a_judge_is_a_question_for_each_criterion() {
    let example = begun(judged([REPLIES, ""], &greedy(4)), 0);
    let planned = example.records("cost_vector");
    let planned = planned
        .iter()
        .find(|one| one["cost_vector_id"].as_str().is_some_and(|id| id.ends_with("planned.judge.clear")));
    let output = &planned.unwrap()["components"]["output_tokens"];
    assert_eq!(*output, json!({"expected": 160, "hard_cap": 1024, "unit": "output_tokens"}));
    is_sound(&example);
}

#[test]
fn a_judge_that_may_not_be_asked_judges_nothing() {
    let far = "model = \"far\"";
    let never = "[policies]\nexternalization = { api_call = \"never\" }\n";
    for rest in ["", never] {
        let work = judged([far, rest], "");
        let server = Server::start(vec![Answer::Silent]);
        server.added(&work, "far", &[]);
        let checked = work.run(&["task", "check", "task", "--json"]).good().json();
        let warnings: &Value = &checked["warnings"];
        assert_eq!(warnings.is_null(), rest.is_empty(), "{checked}");
        let mut example = begun(work, 3);
        if rest.is_empty() {
            let text = asked(&example);
            assert!(text.starts_with("May what is written from 1 source leave in questions"), "{text}");
            answered(&mut example, 10, "keep", 3);
        }
        // The required criterion is a person's now.
        assert!(example.told["question"]["text"].as_str().unwrap().contains("c1"), "{}", example.told);
        answered(&mut example, 11, "yes", 1);
        assert_eq!(server.heard.try_iter().count(), 0);
        is_sound(&example);
    }
}

#[test]
fn a_task_that_can_not_be_meant_is_refused_with_its_place() {
    let check = |change: &dyn Fn(&Work), words: &str| {
        let work = judged([REPLIES, "[budget]\nexternal_api_calls = 5\n"], &greedy(4));
        change(&work);
        for command in [&["task", "check", "task"][..], &["run", "task"]] {
            let refusal = work.run(command).refused_silently(2, "task.invalid");
            assert!(refusal.message.contains(words), "{refusal:?}");
        }
    };
    let text = |work: &Work| std::fs::read_to_string(work.path("task/task.toml")).unwrap();
    check(&|work| work.write("task/task.toml", text(work).replace("= 5\n", "= -5\n")), "whole number");
    let unknown = |work: &Work| {
        work.write("task/task.toml", text(work).replace("[work]", "capabilities = [\"root\"]\n[work]"));
    };
    check(&unknown, "there is shell");
    check(&|work| work.write("task/replies.jsonl", ""), "it has no reply");
    check(&|work| work.write("task/task.toml", b"id = \"a\"\ntitle = \"\xFF\"\n"), "line 2");
}
