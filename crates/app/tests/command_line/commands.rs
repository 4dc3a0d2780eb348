//! Commands to the run of a task: what each does, that it is done once, and to whom it is refused.

use crate::binary::DATA;
use crate::examples::{Example, folder};
use crate::talks::verified;
use countersign_govern::types::command::TaskCommandRegistryEntry;
use countersign_govern::types::find;
use countersign_record::json::{Object, parse};
use serde_json::{Value, json};

#[test]
fn every_command_is_listed_with_all_that_is_registered() {
    let example = crate::binary::Work::new();
    let list = example.run(&["command", "list", "--json"]).good().json();
    let all = list.as_array().unwrap();
    assert_eq!(all.len(), 38);
    for one in all {
        for member in ["does", "needs", "telemetry_event_kind", "owning_doc", "durable_write"] {
            assert!(one[member].as_str().is_some_and(|text| !text.is_empty()), "{member} of {one}");
        }
        assert_eq!(one["request_schema"]["title"], one["request_schema_ref"]["schema_id"], "{one}");
        for word in ["empty", "blocked", "degraded", "error"] {
            assert!(one[format!("{word}_state_behavior")].is_string(), "{word} of {one}");
        }
        assert!(!one["required_policy_checks"].as_array().unwrap().is_empty(), "{one}");
    }
    // What the contract has of a command stands there by the contract's names and is of its type.
    let entry = find("TaskCommandRegistryEntry").unwrap();
    for one in all {
        let own = |name: &'static str| {
            Some((name, parse(serde_json::to_vec(one.get(name)?).ok()?.as_slice()).ok()?))
        };
        let own: Object = TaskCommandRegistryEntry::MEMBERS.iter().filter_map(|name| own(name)).collect();
        assert_eq!(entry.troubles(&own.into()), [], "{one}");
    }
    let text = example.run(&["command", "list"]).good();
    for one in all {
        let id = one["command_id"].as_str().unwrap();
        assert!(text.text().lines().any(|line| line.starts_with(&format!("{id}  "))), "{id}");
    }
    assert!(!example.path(DATA).exists(), "looking leaves nothing");
}

#[test]
fn a_packet_is_read_issued_and_falls_with_its_source() {
    let example = Example::run("lease-memo", 0);
    let refused = example.command(10, "ben", "reliance.issue_work_product_certification", "{}");
    let refusal = refused.refused_silently(1, "command.state");
    assert!(refusal.message.contains("ready_for_review"), "{}", refusal.message);
    assert!(
        refusal.details["receipt"].is_string() && refusal.details["shown"].is_string(),
        "{:?}",
        refusal.details
    );
    example.work.run(&["principal", "add", "ben"]).good();
    let reviewed = example.command(11, "ben", "reliance.review_packet", "{}").good().json();
    assert_eq!(reviewed["receipt"]["status"], "accepted");
    let made_old = reviewed["made_old"].as_array().unwrap();
    assert!(made_old.contains(&json!("WorkProductCertification")), "{reviewed}");
    let issued = example.command(12, "ben", "reliance.issue_work_product_certification", "{}").good().json();
    let wrote = issued["records"].as_array().unwrap();
    assert!(
        wrote.iter().any(|one| one.as_str().unwrap().starts_with("work_product_certification:")),
        "{issued}"
    );
    // The files are as they were, and then they are not.
    let recheck = |hour: u8, dir: &str| {
        let args = ["command", "run", "source.recheck", "--run", &example.run, "--folder", dir, "--json"];
        example.at(hour, "ben", &args).good().json()
    };
    let here = folder("lease-memo");
    assert_eq!(recheck(13, here.to_str().unwrap())["records"].as_array().unwrap().len(), 2);
    assert_eq!(example.records("reliance_invalidation_event"), Vec::<Value>::new());
    let copied =
        std::process::Command::new("cp").arg("-r").arg(&here).arg(example.work.path("copy")).status();
    assert!(copied.unwrap().success());
    std::fs::write(example.work.path("copy/sources/lease.md"), "# Another lease\n").unwrap();
    assert_eq!(
        recheck(14, "copy")["files"],
        json!({"sources/lease.md": "changed", "sources/amendment.md": "unchanged"})
    );
    says_that_it_has_fallen(&example);
    let fallen = example.records("reliance_invalidation_event");
    assert_eq!(
        fallen.iter().map(|one| &one["invalidation_kind"]).collect::<Vec<_>>(),
        ["source_workspace_changed"]
    );
    let renewed = example.command(15, "ben", "reliance.renew_packet", "{}").good().json();
    assert_eq!(renewed["receipt"]["status"], "accepted");
    let audit = example.at(16, "ben", &["audit", &example.run]).good();
    assert!(audit.text().contains("not safe to rely: "), "{}", audit.text());
    // Who has a key signs; who has none only says so.
    let given = example.work.run(&["ledger", "rows", "--kind", "govern.command_invocation", "--json"]).good();
    let proofs: Vec<Value> = given.lines().iter().map(|row| row["proof"]["kind"].clone()).collect();
    assert_eq!(proofs.len(), 8);
    assert_ne!(proofs[0], proofs[1], "{proofs:?}");
    assert!(given.lines().iter().all(|row| row["data_class"] != "public"), "as secret as the run");
    verified(&example.work);
    example.at(17, "ben", &["replay", &example.run]).good();
}

/// Every page of a run whose packet fell says so before anything else, and how a new one is made.
fn says_that_it_has_fallen(example: &Example) {
    let run = example.run.as_str();
    let why = "no longer holds: a source has changed since (sources/lease.md).";
    let renew = format!("countersign command run reliance.renew_packet --run {run}");
    let page = |args: &[&str], exit: i32| {
        let said = example.at(14, "ben", args).exits(exit);
        said.text().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let health = page(&["health", run], 0);
    assert!(health.starts_with(&format!("The packet {why}")) && health.contains(&renew), "{health}");
    assert!(!health.contains("Safe to rely") && !health.contains("doing well"), "{health}");
    let shown = page(&["packet", "show", run], 1);
    assert!(shown.contains(&format!("This packet {why}")) && shown.contains(&renew), "{shown}");
    assert!(shown.contains("limits it must not be relied on any more"), "{shown}");
    let evidence = page(&["evidence", run], 0);
    assert!(evidence.contains("○ ") && evidence.contains("its source has changed since"), "{evidence}");
    for args in [&["attention", run][..], &["attention"]] {
        let waits = page(args, 0);
        assert!(waits.contains(why) && waits.contains(&renew), "{waits}");
    }
    let waits = example.work.run(&["attention", "--json"]).good().json();
    assert_eq!(waits[0]["body"][0]["command"], "reliance.renew_packet", "{waits}");
    let left = page(&["packet", "export", run, "--yes", "--out", "p.json", "--html", "p.html"], 0);
    assert!(left.contains("(it no longer holds: a source has changed since"), "{left}");
    let html = std::fs::read_to_string(example.work.path("p.html")).unwrap();
    let (head, limits) = html.split_once("<main>").unwrap();
    assert!(head.contains(&format!("This packet {why}")), "{head}");
    assert!(!limits.contains("<p>None: nothing in the records"), "{limits}");
    let verified = page(&["verify", "p.json"], 1);
    assert!(verified.contains(&format!("The packet {why}")), "{verified}");
}

#[test]
fn a_wrong_folder_says_nothing_of_the_sources() {
    let example = Example::run("lease-memo", 0);
    let before = example.rows();
    let args = ["command", "run", "source.recheck", "--run", &example.run, "--folder", "."];
    let refusal = example.at(10, "ana", &args).refused_silently(2, "file.unreadable");
    assert!(refusal.message.contains("--folder"), "{}", refusal.message);
    assert_eq!(example.rows(), before);
}

#[test]
fn a_key_counts_once() {
    let example = Example::run("lease-memo", 0);
    let key = ["--key", "k1"];
    let first = example.keyed(10, "ana", ("checkpoint.create", r#"{"label": "mine"}"#), &key).good().json();
    let rows = example.rows();
    let again = example.keyed(11, "ana", ("checkpoint.create", r#"{"label": "mine"}"#), &key).good().json();
    assert_eq!((&again["receipt"], &again["records"]), (&first["receipt"], &first["records"]));
    assert_eq!((&first["repeated"], &again["repeated"]), (&json!(false), &json!(true)));
    example.keyed(12, "ana", ("checkpoint.create", "{}"), &key).refused_silently(1, "command.key");
    example
        .keyed(13, "ben", ("checkpoint.create", r#"{"label": "mine"}"#), &key)
        .refused_silently(1, "command.key");
    assert_eq!(example.rows(), rows, "nothing was appended");
}

#[test]
fn what_is_no_command_or_no_request_is_bad_input() {
    let example = Example::run("lease-memo", 0);
    let rows = example.rows();
    example.command(10, "ana", "memo.burn", "{}").refused_silently(2, "command.unknown");
    let refusal = example.command(10, "ana", "finding.contest", r#"{"finding": 3}"#);
    let refusal = refusal.refused_silently(2, "command.request");
    assert!(refusal.message.contains("finding"), "{}", refusal.message);
    example.command(10, "ana", "finding.contest", "[").refused_silently(2, "json.truncated");
    let refusal = example.command(10, "ana", "finding.contest", "[]").refused_silently(2, "command.request");
    assert!(
        refusal.message.ends_with("does not fit the command: it must be an object"),
        "{}",
        refusal.message
    );
    for key in ["", " ", "two\nlines", &"k".repeat(201)] {
        let args = ["command", "run", "reliance.review_packet", "--run", &example.run, "--key", key];
        example.at(10, "ana", &args).refused_silently(2, "field.invalid");
    }
    let other = ["command", "run", "checkpoint.create", "--run", "run_0000000000000000"];
    example.at(10, "ana", &other).refused_silently(1, "run.missing");
    let asked = example.work.feed(&["process", "-"], r#"{"raw_input": "Where is the lease?"}"#);
    let run = asked.json()["metadata"]["run_id"].as_str().unwrap().to_owned();
    let other = ["command", "run", "checkpoint.create", "--run", &run];
    example.at(10, "ana", &other).refused_silently(1, "command.task");
    assert_ne!(example.rows(), rows, "the other run has rows");
    assert_eq!(example.records("command_invocation"), Vec::<Value>::new());
}

#[test]
fn whoever_began_a_run_does_not_decide_where_the_policy_says_so() {
    let example = Example::run("lease-memo", 0);
    crate::talks::policy(&example.work, "approver = \"somebody_else\"\n");
    let refusal =
        example.command(10, "ana", "reliance.review_packet", "{}").refused_silently(1, "command.denied");
    assert!(
        refusal.details["reasons"].as_array().is_some_and(|all| !all.is_empty()),
        "{:?}",
        refusal.details
    );
    example.command(11, "ben", "reliance.review_packet", "{}").good();
    example.at(12, "ana", &["replay", &example.run]).good();
}

#[test]
fn evidence_leaves_once_and_stays_left() {
    let example = Example::run("lease-memo", 0);
    let export = "evidence.export_package";
    example
        .command(10, "ana", export, r#"{"destination": "out.json"}"#)
        .refused_silently(1, "command.denied");
    assert!(!example.work.path("out.json").exists());
    let confirmed = (export, r#"{"destination": "out.json", "confirmed": true}"#);
    let left = example.keyed(11, "ana", confirmed, &["--key", "e1"]).good().json();
    assert_eq!(left["left"], "out.json");
    let bytes = std::fs::read(example.work.path("out.json")).unwrap();
    let document: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(document["claims"].as_array().unwrap().len(), 10);
    assert_eq!(document["claims"][0]["support"], "supported");
    let again = example.keyed(12, "ana", confirmed, &["--key", "e1"]).good().json();
    assert_eq!((&again["repeated"], &again["records"]), (&json!(true), &left["records"]));
    // There is something else of that name: it is not written over, and that is on record.
    example.keyed(13, "ana", confirmed, &["--key", "e2"]).good();
    std::fs::write(example.work.path("out.json"), "mine").unwrap();
    example.keyed(14, "ana", confirmed, &["--key", "e3"]).refused_silently(2, "file.unreadable");
    assert_eq!(std::fs::read(example.work.path("out.json")).unwrap(), b"mine");
    let receipts = example.records("workspace_externalization_receipt");
    let statuses: Vec<&str> = receipts.iter().map(|one| one["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["completed", "completed", "failed"]);
    example.at(15, "ana", &["checkpoint", &example.run]).good();
    let fork = example.at(16, "ana", &["fork", &example.run, "--json"]).good().json();
    let stays = fork["fork"]["irrevocable_side_effects_at_fork"].as_array().unwrap();
    assert_eq!(stays.len(), 2, "what left can't be taken back: {fork}");
    example.at(17, "ana", &["replay", &example.run]).good();
}

#[test]
fn a_run_that_waits_is_answered_by_a_command_and_goes_on() {
    let example = Example::run("notice-conflict", 3);
    let question = example.told["question"]["id"].as_str().unwrap().to_owned();
    let option = example.told["question"]["options"][0]["id"].as_str().unwrap().to_owned();
    let defer = json!({"hard_call_id": question}).to_string();
    example.command(10, "ben", "hard_call.defer", &defer).good();
    let answer = json!({"hard_call_id": question, "option_id": option}).to_string();
    let answered = example.command(11, "ben", "hard_call.resolve", &answer).good().json();
    assert_eq!(answered["answered"], json!({"question": question, "option": option}));
    assert_eq!(answered["next"], format!("countersign runs resume {}", example.run));
    example.command(12, "ben", "hard_call.resolve", &answer).refused_silently(1, "command.state");
    // The change that follows waits for a reviewer in turn.
    let resumed = example.at(13, "ben", &["runs", "resume", &example.run, "--json"]).exits(3).json();
    assert_ne!(resumed["question"]["id"], json!(question));
    let accepted = example.command(14, "ben", "revision_review.accept_candidate", "{}").good().json();
    assert_eq!(accepted["answered"]["option"], "accept");
    example.at(15, "ben", &["replay", &example.run]).good();
    let over = example.command(16, "ana", "task.cancel", "{}").good();
    assert_eq!(over.json()["receipt"]["status"], "accepted");
    let shown = example.at(17, "ana", &["runs", "show", &example.run, "--json"]).good().json();
    assert_eq!(shown["standing"], "over");
    example.command(18, "ana", "task.cancel", "{}").refused_silently(1, "command.state");
    example.at(19, "ana", &["replay", &example.run]).good();
    verified(&example.work);
}
