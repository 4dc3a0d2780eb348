//! What a user sees of a task's run: on one screen, in colours at a terminal only, with what comes next.

use crate::binary::{BINARY, Done, Work};
use crate::examples::{Example, began, folder};
use crate::terminal::Terminal;
use std::path::Path;

/// The escape codes of colours, of bold and of faint.
const COLOURS: [&[u8]; 5] = [b"\x1b[1m", b"\x1b[2m", b"\x1b[31m", b"\x1b[32m", b"\x1b[33m"];

fn has(bytes: &[u8], code: &[u8]) -> bool {
    bytes.windows(code.len()).any(|window| window == code)
}

fn has_colour(bytes: &[u8]) -> bool {
    COLOURS.iter().any(|code| has(bytes, code))
}

/// A copy of an example in the directory of a test.
fn copied(work: &Work, name: &str) {
    let copied = std::process::Command::new("cp").arg("-r").arg(folder(name)).arg(work.path("task")).status();
    assert!(copied.unwrap().success());
}

#[test]
fn colours_are_for_terminals() {
    let work = Work::new();
    copied(&work, "lease-memo");
    let run = |environment: &[(&str, &str)], args: &[&str]| {
        let mut terminal = Terminal::with(&work, 90, args, environment);
        assert_eq!(terminal.ends(), Some(0), "{}", terminal.text());
        (terminal.raw.clone(), terminal.text())
    };
    let (raw, seen) = run(&[], &["run", "task"]);
    assert!(has(&raw, b"\x1b[1m\x1b[32mSafe to rely on within its scope.\x1b[0m"), "{seen}");
    // Where it is, and how much of it stands.
    assert!(has(&raw, b": looking at every outcome (0 of 4 met)"), "{raw:?}");
    assert!(has(&raw, b": putting the packet together (4 of 4 met; 10 of 10 claims)"), "{raw:?}");
    assert!(!seen.contains("step"), "nothing of that stays: {seen}");
    let id = seen.lines().find_map(|line| line.trim_end().strip_prefix("run     ")).unwrap().to_owned();
    work.run(&["packet", "export", &id, "--yes", "--out", "p.json"]).good();
    let pages: [&[&str]; 9] = [
        &["packet", "show", &id],
        &["verify", "p.json"],
        &["health", &id],
        &["findings", &id],
        &["review", &id],
        &["evidence", &id],
        &["chain", &id],
        &["board", &id],
        &["budget", "show", &id],
    ];
    for args in pages {
        assert!(has_colour(&run(&[], args).0), "{args:?}");
        assert!(!has_colour(&run(&[("NO_COLOR", "1")], args).0), "{args:?}");
        assert!(!has_colour(&run(&[("TERM", "dumb")], args).0), "{args:?}");
        assert!(!has_colour(&run(&[], &[args, &["--json"]].concat()).0), "{args:?}");
        assert!(!has_colour(&work.run(args).good().bytes), "{args:?}");
    }
    assert!(!has_colour(&run(&[("NO_COLOR", "1")], &["run", "task"]).0));
    assert!(!has_colour(&work.run(&["run", "task"]).good().bytes));
}

/// A line that is to be copied is never broken.
fn is_copied(line: &str) -> bool {
    ["work ", "run ", "next ", "open ", "answer ", "… ", "  … "].iter().any(|name| line.starts_with(name))
}

fn fits(done: &Done) {
    let text = done.text();
    assert!(text.lines().count() <= 24, "{}\n{text}", text.lines().count());
    let is_long = |line: &&str| !is_copied(line) && line.chars().count() > 80;
    assert_eq!(text.lines().find(is_long), None, "{text}");
}

#[test]
fn every_end_fits_a_screen_and_says_what_comes_next() {
    let work = Work::new();
    std::os::unix::fs::symlink(folder("."), work.path("examples")).unwrap();
    for (name, exit, first, next) in [
        ("lease-memo", 0, "Safe to rely on", "next    countersign packet show run_"),
        ("vendor-claims", 1, "Can be relied on with", "next    countersign findings run_"),
        ("notice-conflict", 3, "The run waits for you.", "answer  countersign answer run_"),
        ("incident-report", 0, "Safe to rely on", "next    countersign packet show run_"),
        ("parser-code", 0, "Safe to rely on", "next    countersign packet show run_"),
        ("audit-sample", 3, "The run waits for you.", "answer  countersign answer run_"),
    ] {
        let done = work.run(&["run", &format!("examples/{name}"), "--matter", name]).exits(exit);
        fits(&done);
        let text = done.text();
        assert!(text.starts_with(first) && text.contains(next), "{name}: {text}");
        // The next step can be typed as it is.
        assert!(text.trim_end().ends_with(&format!("--matter {name}")), "{name}: {text}");
    }
}

#[test]
fn many_findings_are_cut() {
    let work = Work::new();
    copied(&work, "vendor-claims");
    let mut draft = std::fs::read_to_string(work.path("task/draft.md")).unwrap();
    draft.push_str("\n## More\n\n");
    for name in
        ["Anders", "Bolt", "Cobb", "Dray", "Elm", "Fenn", "Gale", "Hobb", "Ives", "Judd", "Kemp", "Lund"]
    {
        draft.push_str(&format!("The office in {name}ville employs forty gardeners and owns a boat. "));
    }
    draft.push('\n');
    work.write("task/draft.md", draft);
    let done = work.run(&["run", "task"]);
    fits(&done);
    let text = done.text();
    assert!(text.contains(": countersign findings run_"), "{text}");
    let run = text.lines().find_map(|line| line.strip_prefix("run     ")).unwrap();
    let all = work.run(&["findings", run]).good();
    assert!(all.text().contains("“The office in Lundville employs forty gardeners"), "{}", all.text());
}

#[test]
fn a_reviewer_sees_the_change() {
    let example = Example::run("notice-conflict", 3);
    let id = example.told["question"]["id"].as_str().unwrap();
    let nothing = example.work.run(&["diff", &example.run]).good();
    assert!(nothing.text().starts_with("No change waits"), "{}", nothing.text());
    let args = ["answer", &example.run, "--id", id, "--choose", "prefer-nebenabrede"];
    let done = example.at(10, "ana", &args).exits(3);
    let text = done.text();
    let gone = |text: &str| text.lines().any(|line| line.starts_with('-') && !line.starts_with("---"));
    let came = |text: &str| text.lines().any(|line| line.starts_with('+') && !line.starts_with("+++"));
    assert!(text.contains("+++ b/vermerk.md") && gone(text), "{text}");
    let all = example.work.run(&["diff", &example.run]).good();
    assert!(gone(all.text()) && came(all.text()), "{}", all.text());
    let waits = example.work.run(&["attention", &example.run]).good();
    assert!(waits.text().contains("+++ b/vermerk.md"), "{}", waits.text());
    assert!(waits.text().contains(&format!("countersign answer {} --id ", example.run)), "{}", waits.text());
    let told = example.work.run(&["runs", "resume", &example.run, "--json"]).exits(3).json();
    let unified = told["question"]["diff"].as_str().unwrap();
    assert!(all.text().contains(unified.trim_end()), "{unified}");
    // Both sides of what sources disagree on are shown before.
    let (_, told) = began(&Work::new(), "notice-conflict", 1, 3);
    let claim = &told["findings"][0]["claims"][0];
    assert!(claim["text"].is_string() && claim["contradicting"][0]["text"].is_string(), "{told}");
}

#[test]
fn what_a_revision_changed_can_be_seen() {
    let example = Example::run("incident-report", 0);
    let text = example.work.run(&["diff", &example.run]).good();
    assert!(text.text().starts_with("report: version 2 after version 1"), "{}", text.text());
    let told = example.work.run(&["diff", &example.run, "--json"]).good().json();
    let (one, waiting) = (&told["revised"][0], told["waiting"].as_array().unwrap());
    assert_eq!((one["versions"][0].as_u64(), one["versions"][1].as_u64()), (Some(1), Some(2)));
    assert!(one["lines_new"].as_u64() > Some(0) && waiting.is_empty(), "{told}");
    let first = Example::run("lease-memo", 0);
    assert!(first.work.run(&["diff", &first.run]).good().text().contains("the work has one version"));
}

/// What is open though nothing blocks is named wherever the status is told, and the verifier derives the same words.
#[test]
fn a_finding_that_an_answer_settles_is_not_open_any_more() {
    let example = Example::run("notice-conflict", 3);
    let (work, run) = (&example.work, example.run.as_str());
    let id = example.told["question"]["id"].as_str().unwrap();
    let done =
        example.at(10, "ana", &["answer", run, "--id", id, "--choose", "prefer-rahmenvertrag"]).exits(0);
    assert!(done.text().contains("Safe to rely on within its scope."), "{}", done.text());
    assert!(!done.text().contains("open finding"), "{}", done.text());
    let shown = work.run(&["packet", "show", run]).good();
    assert!(!shown.text().contains("open finding"), "{}", shown.text());
}

#[test]
fn files_are_found_again_from_elsewhere_after_the_end() {
    let work = Work::new();
    copied(&work, "lease-memo");
    let told = work.run(&["run", "task", "--json"]).good().json();
    let run = told["run"].as_str().unwrap();
    std::fs::create_dir(work.path("elsewhere")).unwrap();
    let recheck = |dir: &Path| {
        let args = ["command", "run", "source.recheck", "--run", run, "--json"];
        let mut command = work.command(BINARY, &args);
        command.current_dir(dir).env("COUNTERSIGN_DATA", work.path("data"));
        Done::new(&args, command.output().unwrap())
    };
    assert_eq!(recheck(&work.path("elsewhere")).good().json()["records"].as_array().unwrap().len(), 2);
    std::fs::rename(work.path("task"), work.path("moved")).unwrap();
    let refusal = recheck(&work.path("elsewhere")).refused_silently(2, "file.unreadable");
    assert!(refusal.message.contains("--folder"), "{}", refusal.message);
    work.run(&["command", "run", "source.recheck", "--run", run, "--folder", "moved"]).good();
}

/// A list says of each run what it was asked: on one line, however long that is, and whole for a program.
#[test]
fn runs_are_listed_with_what_they_were_asked() {
    let example = Example::run("lease-memo", 0);
    let work = &example.work;
    std::fs::create_dir(work.path("docs")).unwrap();
    work.write("docs/lease.md", "# Lease\n\nThe lease ends on 31 May 2027.\n");
    let prompt =
        format!("When does the lease end, {}please?\nTell me.", "and where is it written, ".repeat(9));
    work.run(&["ask", &prompt, "--sources", "docs", "--now", "2026-02-01T10:00:00Z"]);
    let listed = work.run(&["runs", "list", "--json"]).good().json()["runs"].clone();
    let task = std::fs::read_to_string(folder("lease-memo").join("task.toml")).unwrap();
    assert_eq!(listed[0]["title"], prompt.as_str());
    let goal = listed[1]["title"].as_str().unwrap();
    assert!(task.contains(goal.lines().next().unwrap()), "{goal}");
    let done = work.run(&["runs", "list"]).good();
    let lines: Vec<&str> = done.text().lines().collect();
    assert_eq!(lines.len(), 4, "{}", done.text());
    assert!(lines[1].starts_with("  When does the lease end, and where") && lines[1].ends_with('…'));
    assert!(lines[3].starts_with("  ") && goal.starts_with(&lines[3][2..20]), "{}", done.text());
    assert!([lines[1], lines[3]].iter().all(|line| line.chars().count() <= 80), "{}", done.text());
}

/// Whatever else is on the page, what became of the run comes first; nothing that waits is missing where all runs are asked about.
#[test]
fn a_run_that_was_stopped_or_waits_is_told_as_that() {
    let example = Example::run("notice-conflict", 3);
    let (work, run) = (&example.work, example.run.as_str());
    let first = |args: &[&str]| work.run(args).good().text().lines().next().unwrap_or_default().to_owned();
    assert!(first(&["health", run]).starts_with("The run waits for a person: Sources say"));
    example.command(10, "ana", "task.cancel", "{}").good();
    assert_eq!(first(&["health", run]), "The run ended before its time: ana cancelled the run");
    let list = first(&["runs", "list"]);
    assert!(list.ends_with("over: ana cancelled the run") && !list.contains('.'), "{list}");
    assert_eq!(first(&["attention"]), "Nothing waits for a person.");
    assert_eq!(work.run(&["attention", "--json"]).good().json(), serde_json::json!([]));
    // A contract that is to be agreed to is answered where the run stopped for it.
    let work = Work::new();
    copied(&work, "lease-memo");
    changed(&work, "contract = \"waived\"", "contract = \"required\"");
    let told = work.run(&["run", "task"]).exits(3);
    let run = told.text().lines().find_map(|line| line.strip_prefix("run     ")).unwrap().to_owned();
    for args in [&["attention"][..], &["attention", &run]] {
        let said = work.run(args).good();
        for answer in ["--approve", "--deny"] {
            let is_typed =
                |line: &str| line.contains(&format!("answer {run} --id stop_")) && line.ends_with(answer);
            assert!(said.text().lines().any(is_typed), "{answer}: {}", said.text());
        }
    }
    let all = work.run(&["attention", "--json"]).good().json();
    let question = all[0]["body"][0]["question"].as_str().unwrap();
    assert_eq!(all[0]["body"].as_array().unwrap().len(), 1, "{all}");
    work.run(&["answer", &run, "--id", question, "--deny"]).refused(1, "run.denied");
    let health = work.run(&["health", &run]).good();
    assert!(
        health.text().starts_with("The run ended before its time: local said no to"),
        "{}",
        health.text()
    );
    assert!(!health.text().contains("doing well"), "{}", health.text());
}

/// Changes the task of a copied example.
fn changed(work: &Work, from: &str, to: &str) {
    let task = std::fs::read_to_string(work.path("task/task.toml")).unwrap();
    assert!(task.contains(from), "{from}");
    work.write("task/task.toml", task.replace(from, to));
}

#[test]
fn what_was_given_up_is_not_met() {
    let example = Example::run("notice-conflict", 3);
    let id = example.told["question"]["id"].as_str().unwrap();
    let done = example.at(10, "ana", &["answer", &example.run, "--id", id, "--choose", "stop"]).exits(1);
    let health = example.work.run(&["health", &example.run]).good();
    for text in [done.text(), health.text()] {
        assert!(text.contains("  ✗ frist-geklaert (Given up): "), "{text}");
        assert!(text.contains("(Met, though frist-geklaert was given up): "), "{text}");
    }
    let chain = example.work.run(&["chain", &example.run]).good();
    assert!(chain.text().contains("✗ frist-geklaert (Given up)"), "{}", chain.text());
    let shown = example.work.run(&["packet", "show", &example.run, "--json"]).exits(1).json();
    assert_eq!(shown["outcomes"][0]["words"], "Given up", "{shown}");
}

#[test]
fn a_task_that_leads_nowhere_is_refused() {
    let work = Work::new();
    copied(&work, "lease-memo");
    changed(&work, "pipeline = \"task\"", "pipeline = \"default\"");
    for command in [&["task", "check", "task"][..], &["run", "task"]] {
        let refusal = work.run(command).refused_silently(2, "task.invalid");
        assert!(
            refusal
                .message
                .contains(concat!("line 10: /work", "/pipeline: default has no stage of task_critic")),
            "{refusal:?}"
        );
    }
    changed(&work, "pipeline = \"default\"", "pipeline = \"nowhere.toml\"");
    work.run(&["task", "check", "task"]).refused_silently(2, "file.unreadable");
    changed(&work, "pipeline = \"nowhere.toml\"", "pipeline = \"task\"");
    changed(&work, "model = \"extractive\"", "model = \"nobody\"");
    let refusal = work.run(&["task", "check", "task"]).refused_silently(2, "model.unknown");
    assert!(refusal.message.contains("nobody"), "{refusal:?}");
}
