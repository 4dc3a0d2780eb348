//! Runs with different ends, each with its packet.

use crate::decided;
use crate::handoffs;
use crate::histories;
use crate::requests;
use crate::revising::Answer;
use crate::stage::Stage;
use countersign_govern::types::formula::MetricObservation;
use countersign_kernel::measure::Measured;
use countersign_work::asking::{Call, Ended};
use countersign_work::finding;
use countersign_work::score::Seen;
use std::collections::BTreeMap;

const TASK: &str = r#"{
  "schema_version": "1.0", "id": "lease-memo", "title": "Memo", "goal": "Say how long the lease runs.",
  "scope": "The documents that are named here.",
  "artifacts": [{"id": "memo", "path": "memo.md", "kind": "markdown",
    "sections": [{"id": "term", "heading": "Term", "ask": "How long does the lease run?"}]}],
  "sources": [{"id": "lease", "path": "sources/lease.md", "kind": "document", "trust_basis": "user_supplied",
    "verified_by": "ana", "tier": 2, "at": "2026-01-01T08:00:00Z", "fresh_until": "2027-01-01T00:00:00Z"},
    {"id": "letter", "path": "sources/letter.md", "kind": "email", "trust_basis": "user_supplied", "data_class": "privileged",
      "privileged": true, "verified_by": "ana"}],
  "outcomes": [{"id": "term-stated", "statement": "The memo says how long the lease runs.", "section": "term",
    "criteria": [
      {"id": "has-term", "text": "There is a section on the term.", "basis": "deterministic_check", "required": true,
        "check": {"kind": "section", "heading": "Term"}, "threshold": 1},
      {"id": "grounded", "text": "Every sentence stands in a source.", "basis": "source_grounded", "required": true,
        "threshold": 1, "weight": 3}]},
   {"id": "memo-whole", "statement": "The memo is short.", "depends_on": ["term-stated"],
    "criteria": [
      {"id": "short", "text": "It is short.", "basis": "deterministic_check", "check": {"kind": "length", "words_max": 60}},
      {"id": "cites", "text": "It cites.", "basis": "deterministic_check", "check": {"kind": "citations", "min": 1}}]}]
}"#;

const LEASE: &str = "# Lease\n\nThe lease of the warehouse ends on 31 May 2027.\n\nThe rent is 900 euros a month.\n\nThe tenant may give notice of six months to the landlord.\n";
const LETTER: &str = "The landlord will repair the roof in spring.\n";

/// A memo whose every sentence stands in a source.
pub(crate) fn safe() -> Stage {
    let text = "# Memo\n\n## Term\n\nThe lease of the warehouse ends on 31 May 2027. [sources/lease.md:3]\n\n## Notes\n\nThe landlord will repair the roof in spring. [sources/letter.md:1]\n";
    let stage = memo(TASK, &[("lease", LEASE), ("letter", LETTER)], text);
    assert_eq!(stage.1, "safe_to_rely_within_scope");
    stage.0
}

/// A packet that is read and issued, and whose evidence leaves; then a source changes, and a new one is issued.
pub(crate) fn issued() -> Stage {
    let mut stage = safe();
    stage.command("reliance.review_packet", r#"{"note": "looks right"}"#);
    stage.command("evidence.export_package", r#"{"destination": "out.json", "confirmed": true}"#);
    stage.command("reliance.issue_work_product_certification", "{}");
    stage.command("source.move_tier", r#"{"source": "lease", "tier": 3}"#);
    stage.command("reliance.renew_packet", "{}");
    stage.command("reliance.review_packet", "{}");
    stage.command("reliance.issue_work_product_certification", "{}");
    stage
}

/// A packet that a source changed behind, and that nobody made anew.
pub(crate) fn fallen() -> Stage {
    let mut stage = safe();
    stage.command("source.move_tier", r#"{"source": "lease", "tier": 3}"#);
    stage
}

/// A packet that a person takes back.
pub(crate) fn taken_back() -> Stage {
    let mut stage = safe();
    let about = format!("src:{}", stage.desk.own("lease"));
    let asked = r#"{"invalidation_kind": "source_workspace_changed", "triggering_ref": "ABOUT"}"#;
    stage.command("reliance.invalidate_packet", &asked.replace("ABOUT", &about));
    stage
}

/// What goes along with a packet: a run begins from it, a source enters the library, a value counts no more, somebody says something; and
/// the run is stopped in the end.
pub(crate) fn besides() -> Stage {
    let mut stage = safe();
    stage.command("checkpoint.create", r#"{"label": "before"}"#);
    stage.command("checkpoint.create", "{}");
    stage.command("evidence.export_package", r#"{"destination": "out.json", "confirmed": true}"#);
    stage.command("task_replay.create_fork", r#"{"checkpoint_id": "before", "reason": "another way"}"#);
    stage.command("library.promote_source", r#"{"source": "lease"}"#);
    let all = stage.desk.all::<MetricObservation>().next().unwrap().observation_id;
    let asked = format!(r#"{{"observation_id": "{all}", "reason": "counted twice"}}"#);
    stage.command("metric.withdraw_observation", &asked);
    stage.command("run_board.comment", r#"{"text": "Mind the side letter."}"#);
    stage.command("task.cancel", "{}");
    stage.command("reliance.renew_packet", "{}");
    stage
}

/// A source that nobody trusted, until a person looked through it.
pub(crate) fn cleared() -> Stage {
    let task = TASK.replace(
        r#""kind": "email", "trust_basis": "user_supplied""#,
        r#""kind": "web_source", "trust_basis": "web_unverified""#,
    );
    let (mut stage, _) = memo(&task, &[("lease", LEASE), ("letter", LETTER)], SAID);
    stage.command("source.clear", r#"{"source": "letter"}"#);
    stage.command("reliance.renew_packet", "{}");
    stage
}

/// A criterion that rests on nothing, and a person who answers for it in the end.
pub(crate) fn acknowledged() -> Stage {
    let plain = r#"{"id": "plain", "text": "It is plain.", "basis": "unanchored_llm_judgment", "required": true},
      {"id": "cites""#;
    let task = TASK.replace(r#"{"id": "cites""#, plain);
    let mut stage = Stage::new(&task, &[("lease", LEASE), ("letter", LETTER)], &[]);
    let version = stage.drafted("memo", SAID);
    let (_, looked) = stage.look(&[("memo", &version, SAID)], &Seen::default());
    let question = looked.iter().find_map(|one| one.question.clone()).unwrap();
    stage.command("hard_call.defer", &format!(r#"{{"hard_call_id": "{question}"}}"#));
    stage.asks(&question, "yes", "");
    let (claims, _) = stage.look(&[("memo", &version, SAID)], &Seen::default());
    stage.judged("");
    stage.call();
    stage.rely(&claims);
    stage.integrated();
    stage
}

/// A criterion that only a person can look at, who answers by a command.
pub(crate) fn asked_of_a_person() -> Stage {
    let label = r#"{"id": "agreed", "text": "It is agreed.", "basis": "human_label", "required": true,
      "question": "Is it agreed?", "labels": ["yes", "no"], "pass": ["yes"]}, {"id": "cites""#;
    let task = TASK.replace(r#"{"id": "cites""#, label);
    let mut stage = Stage::new(&task, &[("lease", LEASE), ("letter", LETTER)], &[]);
    let version = stage.drafted("memo", SAID);
    let (_, looked) = stage.look(&[("memo", &version, SAID)], &Seen::default());
    let question = looked.iter().find_map(|one| one.question.clone()).unwrap();
    stage.asks_by_command(&question, "yes");
    let (claims, _) = stage.look(&[("memo", &version, SAID)], &Seen::default());
    stage.judged("");
    stage.call();
    stage.rely(&claims);
    stage.integrated();
    stage
}

/// One look at a memo, and the packet; gives the status too.
fn memo(task: &str, sources: &[(&str, &str)], text: &str) -> (Stage, String) {
    handed_over(Stage::new(task, sources, &[]), text, text)
}

/// One look at a memo that is kept as one text and looked at as another.
fn handed_over(mut stage: Stage, kept: &str, text: &str) -> (Stage, String) {
    let version = stage.drafted("memo", kept);
    let (claims, _) = stage.look(&[("memo", &version, text)], &Seen::default());
    stage.judged("");
    stage.call();
    let status = stage.rely(&claims);
    stage.integrated();
    (stage, status)
}

/// A memo with a sentence that no source says, under a task that lets one pass.
pub(crate) fn limited() -> Stage {
    let task = TASK.replace(r#""threshold": 1, "weight": 3"#, r#""threshold": 0.5, "weight": 3"#);
    let task = task.replace(r#""section": "term","#, r#""section": "term", "threshold": 0.5,"#);
    let text = "# Memo\n\n## Term\n\nThe lease of the warehouse ends on 31 May 2027. [sources/lease.md:3]\nThe landlord owns a boat.\n";
    let (stage, status) = memo(&task, &[("lease", LEASE), ("letter", LETTER)], text);
    assert_eq!(status, "rely_with_limitations");
    stage
}

/// A memo on law that was overruled later.
pub(crate) fn overruled() -> Stage {
    let law = r#""kind": "case_law", "treatment": "overruled", "trust_basis": "user_supplied""#;
    let task = TASK.replacen(r#""kind": "document", "trust_basis": "user_supplied""#, law, 1);
    let (stage, status) = memo(&task, &[("lease", LEASE), ("letter", LETTER)], SAID);
    assert_eq!(status, "rely_with_limitations");
    stage
}

/// A finding that a person disputes, stands by, and turns down in the end.
pub(crate) fn contested() -> Stage {
    let mut stage = limited();
    let id = finding::all(&stage.desk).pop().unwrap().event.finding_id;
    let about = |rest: &str| format!(r#"{{"finding_id": "{id}"{rest}}}"#);
    stage.command("finding.contest", &about(r#", "grounds": "the boat is in another deed""#));
    stage.command("finding.withdraw_contest", &about(""));
    stage.command("finding.reject", &about(r#", "grounds": "nobody asked for the boat""#));
    stage.command("reliance.renew_packet", "{}");
    stage
}

/// A memo with a table, a heading and code that no source is held against.
pub(crate) fn unheld() -> Stage {
    let text = "# Memo\n\n## Term\n\nThe lease of the warehouse ends on 31 May 2027. [sources/lease.md:3]\n\n| Rent | 5 euros |\n\n## The tenant may leave at once\n\n```\nThe landlord owes much.\n```\n";
    let (stage, status) = memo(TASK, &[("lease", LEASE), ("letter", LETTER)], text);
    assert_eq!(status, "rely_with_limitations");
    stage
}

/// A memo that lacks what it must have, is mended once, and passes.
pub(crate) fn mended() -> Stage {
    let mut stage = Stage::new(TASK, &[("lease", LEASE), ("letter", LETTER)], &[]);
    let first = "# Memo\n\n## Term\n\nThe rent is 800 euros a month. [sources/lease.md:5]\nThe landlord owns a boat.\n";
    let mut others = histories::Set(|_, _| Answer::Text(SAID.to_owned()), vec!["accept"]);
    assert_eq!(stage.whole(first, &mut others), "safe_to_rely_within_scope");
    stage
}

/// Sources that disagree, and a person who says which one counts.
pub(crate) fn answered() -> Stage {
    let task = TASK.replace(
        r#""outcomes""#,
        r#""policies": {"claim_support": {"contradiction": "human_review_required"}}, "outcomes""#,
    );
    let letter = "The tenant may give notice of three months to the landlord.\n";
    let mut stage = Stage::new(&task, &[("lease", LEASE), ("letter", letter)], &[]);
    let text = "# Memo\n\n## Term\n\nThe tenant may give notice of six months to the landlord. [sources/lease.md:7]\n";
    let version = stage.drafted("memo", text);
    let (_, looked) = stage.look(&[("memo", &version, text)], &Seen::default());
    stage.asks(&looked[0].question.clone().unwrap(), "prefer-lease", "");
    let (claims, _) = stage.look(&[("memo", &version, text)], &Seen::default());
    stage.judged("");
    stage.call();
    assert_eq!(stage.rely(&claims), "safe_to_rely_within_scope");
    stage.integrated();
    stage
}

/// A person leaves an outcome out; with what the task says of that outcome.
fn without(wanted: &str, status: &str) -> Stage {
    let task = TASK.replace(r#""memo-whole", "#, &format!(r#""memo-whole", {wanted}"#));
    let mut stage = Stage::new(&task, &[("lease", LEASE), ("letter", LETTER)], &[]);
    let version = stage.drafted("memo", SAID);
    let target = format!("outcome_record:{}", stage.desk.own("memo-whole"));
    stage.command("task.skip", &format!(r#"{{"target_ref": "{target}", "reason": "not_applicable"}}"#));
    let (claims, _) = stage.look(&[("memo", &version, SAID)], &Seen::default());
    stage.judged("");
    stage.call();
    assert_eq!(stage.rely(&claims), status);
    stage.integrated();
    stage
}

pub(crate) fn skipped() -> Stage {
    without("", "not_safe_to_rely")
}

pub(crate) fn optional() -> Stage {
    without(r#""required": false, "#, "rely_with_limitations")
}

/// A model that takes more than the task allows.
pub(crate) fn overspent() -> Stage {
    let task = TASK.replace(r#""outcomes""#, r#""budget": {"output_tokens": 10}, "outcomes""#);
    let mut stage = Stage::new(&task, &[("lease", LEASE), ("letter", LETTER)], &[]);
    stage.calls.push(Call {
        module: "draft".to_owned(),
        planned: None,
        shown: BTreeMap::new(),
        host: None,
        input_tokens: 5,
        output_tokens: 100,
        usd_micros: None,
        ended: Ended::Completed,
    });
    let version = stage.drafted("memo", SAID);
    let (claims, _) = stage.look(&[("memo", &version, SAID)], &Seen::default());
    stage.judged("");
    stage.call();
    assert_eq!(stage.rely(&claims), "rely_with_limitations");
    stage.integrated();
    stage
}

/// A judge who wants more than the evaluator, and a person who takes the work as it is, or has it mended.
fn disputed(word: &'static str, status: &str) -> Stage {
    let wanted = r#""threshold": 0.9, "criteria": [
      {"id": "cited", "text": "It cites a lot.", "basis": "deterministic_check", "weight": 5, "check": {"kind": "citations", "min": 20}},
      {"id": "has-term""#;
    let task = TASK.replace(
        r#""criteria": [
      {"id": "has-term""#,
        wanted,
    );
    let mut stage = Stage::new(&task, &[("lease", LEASE), ("letter", LETTER)], &[]);
    let version = stage.drafted("memo", SAID);
    let (_, looked) = stage.look(&[("memo", &version, SAID)], &Seen::default());
    stage.asks(&looked[0].question.clone().unwrap(), word, "");
    let (claims, _) = stage.look(&[("memo", &version, SAID)], &Seen::default());
    stage.judged("");
    stage.call();
    assert_eq!(stage.rely(&claims), status);
    // What is to be mended is not handed over yet.
    if word == "revise" {
        stage.revised()
    } else {
        stage.integrated()
    }
    stage
}

pub(crate) fn taken() -> Stage {
    disputed("accept", "safe_to_rely_within_scope")
}

pub(crate) fn to_be_mended() -> Stage {
    disputed("revise", "not_safe_to_rely")
}

const SAID: &str =
    "# Memo\n\n## Term\n\nThe lease of the warehouse ends on 31 May 2027. [sources/lease.md:3]\n";

/// An engine that keeps another lease than the one that it holds the memo against.
pub(crate) fn other_source() -> Stage {
    let kept = [("lease", "# Lease\n\nThe lease of the harbour ends on 1 June 2030.\n"), ("letter", LETTER)];
    handed_over(Stage::lying(TASK, &kept, &[("lease", LEASE), ("letter", LETTER)], &[]), SAID, SAID).0
}

/// An engine that keeps another memo than the one that it looks at.
pub(crate) fn other_work() -> Stage {
    let kept = "# Memo\n\n## Term\n\nThe lease of the warehouse ends on 31 May 2030. [sources/lease.md:3]\n";
    handed_over(Stage::new(TASK, &[("lease", LEASE), ("letter", LETTER)], &[]), kept, SAID).0
}

/// An engine that leaves a sentence out where it looks.
pub(crate) fn left_out() -> Stage {
    let kept = SAID.to_owned() + "The landlord owns a boat.\n";
    handed_over(Stage::new(TASK, &[("lease", LEASE), ("letter", LETTER)], &[]), &kept, SAID).0
}

/// An engine that says of a document that it fits its schema, and it does not.
pub(crate) fn other_form() -> Stage {
    paper(r#"{"sum":"twelve"}"#)
}

const PAPER: &str = r#"{
  "schema_version": "1.0", "id": "paper", "title": "Work paper", "goal": "Hold the work paper to its form.",
  "capabilities": ["shell"],
  "artifacts": [{"id": "paper", "path": "paper.json", "kind": "json", "from": "paper.json"}],
  "sources": [{"id": "ledger", "path": "sources/ledger.txt", "kind": "financial_filing", "trust_basis": "user_supplied", "tier": 3},
    {"id": "hint", "path": "sources/hint.txt", "title": "A hint", "kind": "web_source", "trust_basis": "web_unverified", "tier": 0}],
  "outcomes": [{"id": "in-form", "statement": "The work paper has the agreed form.", "weights": "uniform",
    "criteria": [
      {"id": "schema", "text": "It fits the schema.", "basis": "deterministic_check", "required": true,
        "check": {"kind": "json_schema", "schema": "paper.schema.json"}, "threshold": 1},
      {"id": "runs", "text": "The totals add up.", "basis": "deterministic_check", "required": true,
        "check": {"kind": "command", "argv": ["add-up"], "exit": 0}},
      {"id": "clear", "text": "It is clear.", "basis": "anchored_rubric", "priority": "nice_to_have",
        "rubric": [{"level": 0, "text": "no"}, {"level": 1, "text": "so so"}, {"level": 2, "text": "yes"}]}]},
   {"id": "accepted", "statement": "A person has decided.", "depends_on": ["in-form"], "missing": "fail_required",
    "unanchored": "exclude",
    "criteria": [
      {"id": "enough", "text": "The sample is enough.", "basis": "human_label", "required": true, "threshold": 1,
        "question": "Is the sample enough?", "labels": ["enough", "enlarge"], "pass": ["enough"]},
      {"id": "tone", "text": "The tone is even.", "basis": "unanchored_llm_judgment"}]}]
}"#;

const SEEN: &str = r#","found":{"runs":{"met":1,"of":1,"missing":[]}},"levels":{"clear":[1,2]}"#;
const SCHEMA: &str = r#"{"type":"object","required":["total"],"properties":{"total":{"type":"integer"}}}"#;

/// A document under a schema, with a command, a judge and a person's label.
pub(crate) fn labelled() -> Stage {
    paper(r#"{"total":12}"#)
}

fn paper(text: &str) -> Stage {
    let sources = [("ledger", "Twelve entries.\n"), ("hint", "Somebody said so.\n")];
    let mut stage = Stage::new(PAPER, &sources, &[("paper.schema.json", SCHEMA), ("paper.json", text)]);
    let version = stage.drafted("paper", text);
    let mut seen = Seen::default();
    seen.checks.insert("schema".to_owned(), Measured { met: 1, of: 1, missing: Vec::new() });
    seen.checks.insert("runs".to_owned(), Measured { met: 1, of: 1, missing: Vec::new() });
    seen.levels.insert("clear".to_owned(), (1, 2));
    let (_, looked) = stage.look(&[("paper", &version, text)], &seen);
    let question = looked.iter().find_map(|one| one.question.clone()).unwrap();
    stage.asks(&question, "enough", SEEN);
    let (claims, _) = stage.look(&[("paper", &version, text)], &seen);
    stage.judged("");
    stage.call();
    assert_eq!(stage.rely(&claims), "rely_with_limitations");
    stage.integrated();
    stage
}

/// An outcome that nobody can score, until a person says that it is met; and one with a part that nobody looked at.
pub(crate) fn unscored() -> Stage {
    let clear =
        r#""basis": "anchored_rubric", "rubric": [{"level": 0, "text": "no"}, {"level": 1, "text": "yes"}]"#;
    let only = format!(
        r#"{{"id": "clear", "text": "It is clear.", {clear}}}]}}, {{"id": "told", "statement": "It is told.", "criteria": [
      {{"id": "named", "text": "It is named.", "basis": "deterministic_check", "check": {{"kind": "citations", "min": 1}}}},
      {{"id": "plain", "text": "It is plain.", {clear}}}]}}]}}"#
    );
    let (head, _) = TASK.split_once(r#"{"id": "short""#).unwrap();
    let mut stage = Stage::new(&format!("{head}{only}"), &[("lease", LEASE), ("letter", LETTER)], &[]);
    let version = stage.drafted("memo", SAID);
    let (_, looked) = stage.look(&[("memo", &version, SAID)], &Seen::default());
    let question = looked.iter().find_map(|one| one.question.clone()).unwrap();
    stage.asks(&question, "yes", "");
    let (claims, _) = stage.look(&[("memo", &version, SAID)], &Seen::default());
    stage.judged("");
    stage.call();
    assert_eq!(stage.rely(&claims), "rely_with_limitations");
    stage.integrated();
    stage
}

/// A run by its name.
pub(crate) type Scene = (&'static str, fn() -> Stage);

/// All of them, by name.
pub(crate) const ALL: [&[Scene]; 2] = [&SHORT, &LONG];

/// One or two looks and a packet.
pub(crate) const SHORT: [Scene; 13] = [
    ("safe", safe),
    ("limited", limited),
    ("mended", mended),
    ("answered", answered),
    ("labelled", labelled),
    ("taken", taken),
    ("to be mended", to_be_mended),
    ("skipped", skipped),
    ("optional", optional),
    ("overspent", overspent),
    ("unheld", unheld),
    ("unscored", unscored),
    ("overruled", overruled),
];

/// What people do afterwards, and work that is mended or can't be.
const LONG: [Scene; 15] = [
    ("contested", contested),
    ("issued", issued),
    ("given up", histories::given_up),
    ("asked again", histories::asked_again),
    ("verified late", histories::verified_late),
    ("uninformed", histories::uninformed),
    ("need answered", histories::need_answered),
    ("gone back", histories::gone_back),
    ("unable", histories::unable),
    ("amended", decided::amended),
    ("besides", besides),
    ("cleared", cleared),
    ("acknowledged", acknowledged),
    ("commanded", requests::commanded),
    ("coded", handoffs::coded),
];
