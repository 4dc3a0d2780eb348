//! Time travel: checkpoints, forks, replays in every mode, runs side by side, decisions explained.

use crate::binary::{DATA, Work};
use crate::examples::{Example, began, folder};
use crate::talks::{playing, rows, verified};
use countersign_record::access::{Access, Role};
use countersign_record::id::{MatterId, PrincipalId};
use countersign_record::json;
use countersign_record::row::{BlobBytes, Draft, Row};
use countersign_record::upcast;
use countersign_runtime::ports::ledger::{Batch, Blob, Journal, PAGE_ROWS_MAX, Query, Select};
use countersign_store::Sqlite;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const MODES: [&str; 4] = [
    "audit_reconstruction",
    "simulation_from_recorded_outputs",
    "deterministic_reexecution",
    "best_effort_rerun",
];

/// Every example comes to the same in every mode, and that is on record beside the run.
#[test]
fn every_example_comes_to_the_same_again() {
    let work = Work::new();
    let examples = [
        ("lease-memo", 0),
        ("vendor-claims", 1),
        ("notice-conflict", 3),
        ("incident-report", 0),
        ("parser-code", 0),
        ("audit-sample", 3),
    ];
    for (seed, (name, exit)) in (1..).zip(examples) {
        let (run, _) = began(&work, name, seed, exit);
        let records = |work: &Work| {
            let rows = work.run(&["ledger", "rows", "--stream", &format!("work/{run}"), "--json"]).good();
            rows.lines().len()
        };
        let before = records(&work);
        for mode in MODES {
            let told = work.run(&["replay", &run, "--mode", mode, "--json"]).good().json();
            assert_eq!((&told["same"], &told["mode"]), (&json!(true), &json!(mode)), "{name}");
            assert_eq!(told["divergences"], json!([]), "{name} {mode}");
            let steps = told["steps"].as_array().unwrap();
            assert!(steps.len() >= 7 && steps.iter().all(|one| one["same"] == true), "{name} {mode}: {told}");
            if mode == MODES[0] || mode == MODES[1] {
                assert_eq!(told["decided"]["records"], before, "{name} {mode}: every record is compared");
            }
            let id = told["replay"].as_str().unwrap();
            let rows = work.run(&["ledger", "rows", "--stream", &format!("replay/{id}"), "--json"]).good();
            let kinds: Vec<Value> = rows.lines().iter().map(|row| row["kind"].clone()).collect();
            assert_eq!(kinds[0], "govern.task_replay_request", "{name} {mode}");
            assert_eq!(kinds.len(), 1 + steps.len(), "{name} {mode}: {kinds:?}");
        }
        assert_eq!(records(&work), before, "{name}: nothing of the run changes");
    }
    verified(&work);
}

/// The ledger as somebody leaves it who can write it anew, every hash included: the last record of a kind says something else.
async fn forged(example: &Example, kind: &str, (from, to): (&str, &str)) -> (Work, u64) {
    let work = Work::new();
    let matter = MatterId::try_from("default").unwrap();
    let principal = PrincipalId::try_from("ana").unwrap();
    let roles = BTreeMap::from([(matter.clone(), Role::Admin)]);
    let access = Access::new(principal, roles).to(&matter).unwrap();
    let before = Sqlite::open(&example.work.path(DATA), upcast::LEDGER);
    let after = Sqlite::open(&work.path(DATA), upcast::LEDGER);
    let query = Query { select: Select::All, after: 0, up_to: u64::MAX, limit: PAGE_ROWS_MAX };
    let page = before.read(&access, query).await.unwrap();
    assert_eq!(page.next, None, "one page holds the run");
    let last = page.rows.iter().rfind(|row| row.kind.as_str() == kind).unwrap().seq;
    for row in page.rows {
        let mut blobs = Vec::new();
        for named in &row.blobs {
            let Blob::Present(bytes) = before.blob(&access, named.digest).await.unwrap() else {
                panic!("erased")
            };
            blobs.push(BlobBytes::new(bytes).unwrap());
        }
        let text = json::to_text(&row.payload).unwrap();
        let text = if row.seq == last { text.replace(from, to) } else { text.clone() };
        let payload = json::parse(text.as_bytes()).unwrap();
        assert_eq!(payload == row.payload, row.seq != last, "{text}");
        let Row { stream, kind, version, at, actor, proof, data_class, taint, .. } = row;
        let draft =
            Draft { stream, kind, version, at, actor, proof, cause: None, data_class, taint, payload, blobs };
        let rows = vec![draft.seal().unwrap()];
        let batch = Batch { rows, expected: BTreeMap::new(), idem_key: None };
        after.append(&access, batch).await.unwrap();
    }
    (work, last)
}

#[tokio::test]
async fn a_record_that_does_not_follow_is_named() {
    let example = Example::run("incident-report", 0);
    for (kind, change, path) in [
        (
            "govern.evaluation_chain_resolution_receipt",
            ("\"resolved_verdict\":\"passed\"", "\"resolved_verdict\":\"failed\""),
            "/record/resolved_verdict",
        ),
        (
            "govern.task_reliance_packet",
            ("\"status\":\"safe_to_rely_within_scope\"", "\"status\":\"rely_with_limitations\""),
            "/record/reliance_derivation/status",
        ),
    ] {
        let (work, row) = forged(&example, kind, change).await;
        verified(&work);
        for mode in [MODES[0], MODES[1]] {
            let done = work.run(&["replay", &example.run, "--mode", mode, "--json"]);
            let refusal = done.refused(1, "replay.diverged");
            assert_eq!(refusal.details["row"], row, "{}", refusal.message);
            assert_eq!(refusal.details["path"], path);
            let told = done.json();
            assert_eq!((&told["same"], &told["difference"]["row"]), (&json!(false), &json!(row)));
        }
        let kept = rows(&work, "govern.replay_divergence_record");
        assert_eq!(kept.len(), 2);
        let explanation = kept[0]["payload"]["record"]["explanation"].as_str().unwrap();
        assert!(explanation.contains(&format!("row {row} ")), "{explanation}");
    }
}

#[test]
fn a_replay_is_refused_that_promises_too_much() {
    let work = playing(&["# Memo\n\n## Term\n\nThe lease ends. [sources/lease.md:49]\n"; 6]);
    let folder = folder("lease-memo");
    let run = work.run(&["run", folder.to_str().unwrap(), "--model", "script", "--json"]).exits(3).json();
    let run = run["run"].as_str().unwrap();
    let refusal = work.run(&["replay", run, "--mode", MODES[2]]).refused_silently(1, "replay.refused");
    assert!(refusal.message.contains("draft does not give the same"), "{}", refusal.message);
    assert_eq!(rows(&work, "govern.task_replay_request"), Vec::<Value>::new(), "nothing was begun");
    for mode in [MODES[0], MODES[1], MODES[3]] {
        work.run(&["replay", run, "--mode", mode]).good();
    }
    // Another model says something else, and that is on record.
    let other = work.run(&["replay", run, "--mode", MODES[3], "--model", "extractive", "--json"]);
    other.refused(1, "replay.diverged");
    let kinds: Vec<Value> =
        other.json()["divergences"].as_array().unwrap().iter().map(|one| one["kind"].clone()).collect();
    assert!(kinds.contains(&json!("model_output_drift")), "{kinds:?}");
    assert_eq!(rows(&work, "govern.replay_divergence_record").len(), kinds.len());
    work.run(&["replay", run, "--mode", MODES[3], "--model", "none"]).refused_silently(2, "model.unknown");
    work.run(&["replay", "run_0000000000000000"]).refused_silently(1, "run.missing");
    work.run(&["replay", run, "--mode", "guess"]).refused_silently(2, "usage.invalid");
}

/// What a model wrote in a revision is on record, so that everything that follows from it is decided again.
#[test]
fn a_revision_by_a_model_is_decided_again() {
    let work = Work::new();
    let copied =
        std::process::Command::new("cp").arg("-r").arg(folder("parser-code")).arg(work.path("task")).status();
    assert!(copied.unwrap().success());
    let replies = std::fs::read_to_string(work.path("task/replies.jsonl")).unwrap();
    let last: Value = serde_json::from_str(replies.lines().last().unwrap()).unwrap();
    let good = last["text"].as_str().unwrap();
    let code = good.trim().split_once('\n').unwrap().1.rsplit_once('\n').unwrap().0;
    let lines = [good.replace("TelegramError", "TelegramFault"), code.to_owned()];
    let lines: String = lines.iter().map(|text| format!("{}\n", json!({ "text": text }))).collect();
    std::fs::write(work.path("task/replies.jsonl"), lines).unwrap();
    let told = work.run(&["run", "task", "--json"]).exits(3).json();
    let (run, question) = (told["run"].as_str().unwrap(), told["question"]["id"].as_str().unwrap());
    let calls: u64 = rows(&work, "run.returned")
        .iter()
        .filter(|row| row["payload"]["agent"] == "task_revision")
        .map(|row| row["payload"]["llm_calls"].as_u64().unwrap())
        .sum();
    assert_eq!(calls, 1, "the model was asked to mend it");
    for mode in MODES {
        work.run(&["replay", run, "--mode", mode]).good();
    }
    work.run(&["answer", run, "--id", question, "--choose", "accept"]).good();
    for mode in MODES {
        work.run(&["replay", run, "--mode", mode]).good();
    }
}

#[test]
fn a_fork_begins_from_what_was_kept_and_goes_on() {
    let example = Example::run("incident-report", 0);
    let kept = example.at(10, "ben", &["checkpoint", &example.run, "--name", "mine"]).good();
    assert!(kept.text().contains("countersign fork"), "{}", kept.text());
    let list = example.at(10, "ben", &["checkpoint", &example.run, "--list", "--json"]).good().json();
    let labels: Vec<&Value> = list.as_array().unwrap().iter().map(|one| &one["label"]).collect();
    assert_eq!(labels.last().unwrap(), &&json!("mine"));
    let before = example.rows();
    let missing = ["fork", &example.run, "--checkpoint", "none"];
    example.at(11, "ben", &missing).refused_silently(1, "command.missing");
    assert!(example.rows() > before, "that it was asked for is on record");
    let text = example.at(12, "ben", &["fork", &example.run, "--checkpoint", "mine"]).good();
    assert!(text.text().contains("Nothing was done outside that can't be undone."), "{}", text.text());
    let new = text.text().lines().next().unwrap().split_whitespace().nth(1).unwrap().to_owned();
    let shown = example.at(13, "ben", &["runs", "show", &new, "--json"]).good().json();
    assert_eq!(shown["standing"], "open");
    // Nobody drafts it anew: it begins with the second version, mended, as its first.
    let resumed = example.at(14, "ben", &["runs", "resume", &new, "--json"]).exits(0).json();
    assert_eq!(resumed["run"], json!(new));
    let work = |run: &str| {
        let path = format!("data/matters/default/work/{run}/report.md");
        std::fs::read_to_string(example.work.path(&path)).unwrap()
    };
    assert_eq!(work(&new), work(&example.run));
    for mode in MODES {
        example.at(15, "ben", &["replay", &new, "--mode", mode]).good();
    }
    let diff = example.at(16, "ben", &["diff", &example.run, &new, "--json"]).good().json();
    assert_eq!(diff["artifacts"][0]["versions"], json!([2, 1]));
    assert_eq!(diff["artifacts"][0]["unified"], "");
    assert_eq!(diff["run_diff"]["left_run_id"], json!(example.run));
    assert!(diff["plans"].as_array().unwrap().iter().any(|one| one["right"].is_null()), "{diff}");
    verified(&example.work);
}

#[test]
fn runs_are_put_side_by_side() {
    let work = Work::new();
    let (one, _) = began(&work, "lease-memo", 1, 0);
    let (same, _) = began(&work, "lease-memo", 2, 0);
    let (other, _) = began(&work, "incident-report", 3, 0);
    assert_eq!(work.run(&["diff", &one, &same]).good().text(), "Nothing differs.\n");
    let told = work.run(&["diff", &one, &same, "--json"]).good().json();
    assert_eq!((&told["same"], &told["run_diff"]["artifact_diff_refs"]), (&json!(true), &json!([])));
    let text = work.run(&["diff", &one, &other]).good();
    for part in ["--- a/memo.md\n", "+++ b/report.md\n", "outcome ", "finding ", "plan ", " → "] {
        assert!(text.text().contains(part), "{part}: {}", text.text());
    }
    work.run(&["diff", &one, "run_0000000000000000"]).refused_silently(1, "run.missing");
}

#[test]
fn a_decision_is_explained_from_its_receipts() {
    let example = Example::run("incident-report", 0);
    let list = example.at(10, "ben", &["audit", &example.run, "--json"]).good().json();
    let all = list["decisions"].as_array().unwrap();
    let packet =
        all.iter().find(|one| one["decision"].as_str().unwrap().starts_with("task_reliance_packet:"));
    let packet = packet.unwrap()["decision"].as_str().unwrap();
    let told = example.at(11, "ben", &["audit", &example.run, "--decision", packet, "--json"]).good().json();
    assert!(told["formulas"][0]["formula"].as_str().unwrap().starts_with("reliance_status_v1 "), "{told}");
    assert_eq!(told["formulas"][0]["value"], "safe_to_rely_within_scope");
    assert_eq!(told["formulas"][0]["given"]["evidence_packages"], 1);
    assert_eq!(told["view"]["target_decision_ref"], packet);
    assert_eq!(told["trace"]["hidden_reasoning_included"], false);
    let text = example.at(12, "ben", &["audit", &example.run, "--decision", packet]).good();
    let parts = [
        "by       engine:",
        "why      Nothing in the records blocks relying on it",
        "policy   ",
        "formula  reliance_status_v1 ",
        " gives \"safe_to_rely_within_scope\" (formula_evaluation_receipt:",
        "  given  live_blockers 0\n",
        " claims stand in the sources evidence_package:",
    ];
    for part in parts {
        assert!(text.text().contains(part), "{part}: {}", text.text());
    }
    let rows = example.rows();
    for one in all {
        let decision = one["decision"].as_str().unwrap();
        let told =
            example.at(13, "ben", &["audit", &example.run, "--decision", decision, "--json"]).good().json();
        assert_eq!(told["what"], one["what"]);
        assert!(!told["trace"]["causal_steps"].as_array().unwrap().is_empty(), "{told}");
        let formulas = told["formulas"].as_array().unwrap();
        assert!(formulas.iter().all(|one| one["given"].is_object() && !one["value"].is_null()), "{told}");
    }
    assert_eq!(example.rows(), rows, "looking writes nothing");
    example.at(14, "ben", &["audit", &example.run, "--decision", "x:y"]).refused_silently(1, "audit.missing");
    let rows = example.work.run(&["ledger", "rows", "--kind", "govern.artifact_version", "--json"]).good();
    let version = rows.lines().pop().unwrap()["payload"]["record"]["artifact_version_id"].clone();
    let version = format!("artifact_version:{}", version.as_str().unwrap());
    let refusal = example.at(14, "ben", &["audit", &example.run, "--decision", &version]);
    let refusal = refusal.refused_silently(2, "field.invalid");
    assert!(refusal.message.contains("decides nothing"), "{}", refusal.message);
}
