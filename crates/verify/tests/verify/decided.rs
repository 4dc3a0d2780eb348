//! What people decided is told, all of it, with who and why; and a task that was changed is told as it was worked on.

use crate::pages::{HOSTILE, page, tags};
use crate::scenes;
use crate::sound::told;
use crate::stage::Stage;
use countersign_govern::table::commands::{self, DurableWrite};
use countersign_govern::types::added::policy::UserConfirmation;
use countersign_govern::types::basic::V10;
use countersign_record::json::Json;
use countersign_testkit::forge::{file, key};
use countersign_verify::packet::{Content, Entry};
use countersign_verify::report::Outcome;
use countersign_verify::summary::{Decision, Summary};
use countersign_verify::verify;
use countersign_work::score::Seen;
use countersign_work::{contract, finding};
use std::collections::BTreeMap;

const TASK: &str = r#"{
  "schema_version": "1.0", "work": {"pipeline": "own.toml"}, "id": "lease-memo", "title": "Memo", "goal": "Say how long the lease runs.",
  "scope": "The lease.",
  "artifacts": [{"id": "memo", "path": "memo.md", "kind": "markdown",
    "sections": [{"id": "term", "heading": "Term", "ask": "How long does the lease run?"}]}],
  "sources": [{"id": "lease", "path": "sources/lease.md", "title": "The lease", "kind": "document",
    "trust_basis": "user_supplied", "verified_by": "ana", "tier": 2}],
  "outcomes": [{"id": "term-stated", "statement": "The memo says how long the lease runs.", "threshold": 0.90,
    "criteria": [
      {"id": "long", "text": "It has 400 words or more.", "basis": "deterministic_check", "required": true,
        "check": {"kind": "length", "words_min": 400}, "threshold": 1},
      {"id": "grounded", "text": "Every sentence stands in a source.", "basis": "source_grounded", "threshold": 0.5}]}],
  "policies": {"approval": {"contract": "required"}}
}"#;
const LEASE: &str = "# Lease\n\nThe lease of the warehouse ends on 31 May 2027.\n";
const MEMO: &str = "# Memo\n\n## Term\n\nThe lease of the warehouse ends on 31 May 2027. [sources/lease.md:3]\nThe landlord owns a boat.\n";

/// The task that is asked for instead: everything is enough.
fn lowered() -> String {
    let task = TASK.replace("0.90", "0").replace(r#""threshold": 1}"#, r#""threshold": 0}"#);
    let task = task.replace(r#""threshold": 0.5"#, r#""threshold": 0"#);
    let task = task.replace("It has 400 words or more.", "It has words.");
    task.replace("Say how long the lease runs.", "Say something.")
}

/// A contract that a person changes and agrees to, a finding that they reject, and a packet that they read and issue.
pub(crate) fn amended() -> Stage {
    let mut stage = Stage::new(TASK, &[("lease", LEASE)], &[]);
    contract::open(&mut stage.desk).unwrap();
    stage.flush();
    stage.command("contract_review.edit", &format!(r#"{{"task": {}}}"#, lowered()));
    stage.command("contract_review.approve", "{}");
    let version = stage.drafted("memo", MEMO);
    let (claims, _) = stage.look(&[("memo", &version, MEMO)], &Seen::default());
    stage.judged("");
    stage.call();
    stage.rely(&claims);
    stage.integrated();
    let found = finding::all(&stage.desk).into_iter().find(|one| one.state.is_live()).unwrap();
    let id = found.event.finding_id;
    let request = format!(r#"{{"finding_id": "{id}", "grounds": "Everybody knows the boat."}}"#);
    stage.command("finding.reject", &request);
    stage.command("reliance.renew_packet", "{}");
    stage.command("reliance.review_packet", r#"{"note": "read from end to end"}"#);
    stage.command("reliance.issue_work_product_certification", "{}");
    stage
}

/// A decision without its row and time, as a line.
fn line(one: &Decision) -> String {
    let answered = one.answered.iter().map(|one| format!("{} {}", one.question, one.answer));
    let parts = [one.what.clone()].into_iter().chain(answered).chain(one.about.clone());
    let why = one.why.iter().map(|why| format!("because: {why}"));
    format!("{} ({}): {}", one.who, one.proof, parts.chain(why).collect::<Vec<_>>().join(" | "))
}

fn lines(summary: &Summary) -> Vec<String> {
    summary.decisions.iter().map(line).collect()
}

#[test]
fn a_changed_contract_a_rejected_finding_and_an_issued_packet_are_told() {
    let statement = amended().statement();
    let report = verify(&file(&statement, &key(1)), &[]);
    assert_eq!(report.result, Outcome::Verified, "{}", told(&report));
    let summary = Summary::of(&statement);
    let expected = [
        "ana (signed with a key): Changes what is asked before anything is done. | \
         goal of the task from “Say how long the lease runs.” to “Say something.” | \
         the words “It has 400 words or more.” became “It has words.” | \
         threshold of “It has 400 words or more.” from 1 to 0 | \
         threshold of “Every sentence stands in a source.” from 0.5 to 0 | \
         threshold of “The memo says how long the lease runs.” from 0.9 to 0",
        "ana (signed with a key): Agrees to what a run has understood.",
        "ana (signed with a key): Says that a finding is none. | \
         the finding “A sentence under “Term” can't stay as it is: no source says it.” (medium), \
         about “The landlord owns a boat.” | because: Everybody knows the boat.",
        "ana (signed with a key): Looks again at what has changed, and makes a new packet. | \
         Can be relied on with the limitations that are listed.",
        "ana (signed with a key): Says that a person has read the packet. | because: read from end to end",
        "ana (signed with a key): Issues a reviewed packet: its certification is rendered and counts from then on.",
    ];
    assert_eq!(lines(&summary), expected);
    assert_eq!(
        summary.changed.as_deref(),
        Some("what was asked was changed by ana: 5 changes, 3 of which ask for less than the task did")
    );
    // What is shown as asked is what the work was held to.
    assert_eq!(summary.goal, "Say something.");
    let outcome = &summary.outcomes[0];
    let criteria: Vec<(&str, &str)> =
        outcome.criteria.iter().map(|one| (one.text.as_str(), one.threshold.as_str())).collect();
    assert_eq!(outcome.threshold, "0");
    assert_eq!(criteria, [("It has words.", "0"), ("Every sentence stands in a source.", "0")]);
    let less: Vec<bool> = summary.changes.iter().map(|one| one.is_less).collect();
    assert_eq!(less, [false, false, true, true, true]);
}

/// The commands that a run's rows say were carried out, and by whom, by their rows.
fn carried_out(entries: &[Entry]) -> BTreeMap<u64, (String, String)> {
    let rows = entries.iter().filter_map(|entry| match entry {
        Entry::Whole(row) => Some(row),
        Entry::Withheld(_) => None,
    });
    let (mut asked, mut done) = (BTreeMap::new(), BTreeMap::new());
    for row in rows {
        let text = |name: &str| {
            let record = row.payload.get("record").and_then(|one| one.get(name));
            record.and_then(Json::as_str).unwrap_or_default().to_owned()
        };
        match row.kind.as_str() {
            "govern.command_invocation" => {
                let told = (row.seq, text("command_id"), text("actor_ref"));
                asked.insert(text("invocation_id"), told);
            }
            "govern.command_receipt" if text("status") == "accepted" => {
                let (seq, command, actor) = asked.remove(&text("invocation_id")).unwrap();
                let entry = commands::find(&command).unwrap();
                if entry.durable_write == DurableWrite::Required {
                    done.insert(seq, (command, actor));
                }
            }
            _other => {}
        }
    }
    done
}

#[test]
fn every_command_and_every_answer_of_every_run_is_told_with_its_person() {
    let mut told = 0;
    let own: [scenes::Scene; 1] = [("amended", amended)];
    for (name, scene) in scenes::ALL.into_iter().flatten().chain(&own) {
        let statement = scene().statement();
        let summary = Summary::of(&statement);
        let rows: Vec<u64> = summary.decisions.iter().map(|one| one.row).collect();
        assert!(rows.is_sorted(), "{name}: {rows:?}");
        let commands: BTreeMap<u64, (String, String)> = summary
            .decisions
            .iter()
            .filter_map(|one| Some((one.row, (one.command.clone()?, format!("user:{}", one.who)))))
            .collect();
        assert_eq!(commands, carried_out(&statement.ledger.rows), "{name}");
        let answers = statement.ledger.rows.iter().filter_map(|entry| match entry {
            Entry::Whole(row) if row.kind.as_str() == "run.answered" => Some(row),
            Entry::Whole(_) | Entry::Withheld(_) => None,
        });
        let answered = summary.decisions.iter().filter(|one| one.answered.is_some()).count();
        assert_eq!(answered, answers.count(), "{name}: {:#?}", lines(&summary));
        assert!(summary.decisions.iter().all(|one| one.proof == "signed with a key"), "{name}");
        told += rows.len();
    }
    assert!(told > 20, "only {told}");
}

/// Where nobody decided, that is said of the records and of nothing else.
#[test]
fn nothing_is_told_where_nothing_was_decided() {
    let summary = Summary::of(&scenes::safe().statement());
    assert_eq!(lines(&summary), Vec::<String>::new());
    assert_eq!((summary.changed, summary.changes), (None, Vec::new()));
}

/// A confirmation that stands in no command, and an answer that stands in the run's rows alone, are decisions too.
#[test]
fn what_stands_in_no_command_is_told() {
    let mut stage = Stage::new(TASK, &[("lease", LEASE)], &[]);
    stage.asks_leave("send the lease to somebody");
    let by = countersign_work::show::person("ben").unwrap();
    let confirmation = UserConfirmation {
        confirmation_id: stage.desk.id("confirmed"),
        subject_ref: by.clone(),
        user_ref: by,
        created_at: stage.desk.now(),
        schema_version: Some(V10),
    };
    stage.desk.put(&confirmation).unwrap();
    let version = stage.drafted("memo", MEMO);
    let (claims, _) = stage.look(&[("memo", &version, MEMO)], &Seen::default());
    stage.rely(&claims);
    stage.flush();
    let summary = Summary::of(&stage.statement());
    let expected = [
        "ana (signed with a key): Answers a question that a run waits for. | \
         Your leave is needed to send the lease to somebody Approved",
        "ben (told by ana, without a proof): Confirms something. | ben",
    ];
    assert_eq!(lines(&summary), expected);
}

/// What was asked instead may be withheld; that it was is told all the same.
#[test]
fn a_change_that_is_withheld_is_told_as_one() {
    let mut statement = amended().statement();
    for blob in &mut statement.blobs {
        let is_it = matches!(&blob.content, Content::Present(bytes) if bytes.starts_with(b"{\"task\""));
        if is_it {
            blob.content = Content::Withheld("the exporter withheld it".to_owned());
        }
    }
    let summary = Summary::of(&statement);
    let changes: Vec<String> = summary.changes.iter().map(|one| one.words(str::to_owned)).collect();
    assert_eq!(changes, ["contract of the task from what stands here to something that is withheld"]);
    assert!(summary.decisions[0].about[0].contains("withheld"), "{:?}", summary.decisions[0]);
}

#[test]
fn a_page_tells_what_was_changed_and_decided() {
    let summary = Summary::of(&amended().statement());
    let page = page(&summary);
    let (before, rest) = page.split_once("<h2 id=\"outcomes\">").unwrap();
    let (outcomes, rest) = rest.split_once("<h2 id=\"claims\">").unwrap();
    let (_, decisions) = rest.split_once("<h2 id=\"decisions\">").unwrap();
    assert!(before.contains("hat was asked was changed by ana"), "{before}");
    let changed =
        "<span class=\"tag bad\">changed by ana</span> threshold of “It has 400 words or more.” from 1 to 0";
    assert!(outcomes.contains(changed), "{outcomes}");
    assert!(decisions.contains("threshold of “It has 400 words or more.” from 1 to 0"), "{decisions}");
    assert!(decisions.contains("Why: Everybody knows the boat."), "{decisions}");
}

/// A long list stays one list: an item for each decision, none of which is left out.
#[test]
fn a_page_with_fifty_decisions_has_them_all() {
    let mut stage = scenes::safe();
    for at in 0..50 {
        stage.command("run_board.comment", &format!(r#"{{"text": "comment {at}"}}"#));
    }
    let summary = Summary::of(&stage.statement());
    let page = page(&summary);
    assert_eq!(summary.decisions.len(), 50);
    assert!(page.contains("<p>50 decisions, by ana, in the order of the log.</p>"), "{page}");
    for at in 0..50 {
        assert!(page.contains(&format!("<li>“comment {at}”</li>")), "comment {at}");
    }
}

#[test]
fn hostile_texts_of_decisions_are_inert() {
    let clean = Summary::of(&amended().statement());
    let expected = tags(&page(&clean)).len();
    for text in HOSTILE {
        let mut summary = clean.clone();
        for one in &mut summary.decisions {
            (one.who, one.at, one.proof) = (text.to_owned(), text.to_owned(), text.to_owned());
            one.what = text.to_owned();
            one.about
                .iter_mut()
                .chain(&mut one.why)
                .chain(&mut one.command)
                .for_each(|one| *one = text.to_owned());
        }
        for one in &mut summary.changes {
            (one.by, one.what, one.of) = (text.to_owned(), text.to_owned(), text.to_owned());
            (one.from, one.to) = (text.to_owned(), text.to_owned());
        }
        for one in summary.outcomes.iter_mut().flat_map(|one| &mut one.criteria) {
            (one.text, one.threshold) = (text.to_owned(), text.to_owned());
        }
        summary.changed = Some(text.to_owned());
        let page = page(&summary);
        let found = tags(&page);
        assert_eq!(found.len(), expected, "{text:?} makes tags");
        assert!(found.iter().all(|tag| !tag.contains("alert") && !tag.contains("onmouseover")), "{text:?}");
    }
}
