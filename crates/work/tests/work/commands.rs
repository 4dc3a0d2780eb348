//! Commands: what each does, to whom it is refused, and that it is done once.

use crate::stage::{GOOD, LEASE, Stage, TASK, task_with};
use countersign_govern::decide::command::{Outcome, Refusal as Unheard};
use countersign_govern::types::added::outcome::Consumption;
use countersign_govern::types::added::showing::ActorKind;
use countersign_govern::types::checkpoint::TaskRunFork;
use countersign_govern::types::reliance::RelianceArtifactLifecycleState as Life;
use countersign_record::digest::Digest;
use countersign_record::json;
use countersign_work::command::{By, Effect, Refusal};
use countersign_work::{artifact, attention, contract, feedback, finding, outcome, rely};

/// A memo with a sentence that no source says.
const BOAT: &str = "# Memo\n\n## Term\n\nThe landlord owns a boat.\n";

/// A run with a text that was looked at and handed over.
pub(crate) fn handed_over(text: &str) -> Stage {
    hand_over(Stage::small(), text)
}

/// A text is looked at and handed over.
pub(crate) fn hand_over(mut stage: Stage, text: &str) -> Stage {
    let version = stage.version("memo", text);
    let (claims, _) = stage.look("memo", &version, text);
    for delivery in feedback::owed(&stage.desk) {
        feedback::consume(&mut stage.desk, &delivery, Consumption::NotUsed, Some("nobody mends it")).unwrap();
    }
    stage.hand_over(&claims);
    stage.is_clean();
    stage
}

fn life(stage: &Stage) -> Life {
    rely::last(&stage.desk).unwrap().lifecycle_state
}

/// Gives a command, and what became of it is as expected.
fn give(stage: &mut Stage, id: &str, request: &str, expected: Outcome) -> Effect {
    let key = format!("{id} {}", stage.desk.end());
    let ruling = stage.command(id, request, &key, "ana").unwrap();
    assert_eq!(ruling.outcome, expected, "{id} {request}: {:?}", ruling.reasons);
    stage.is_clean();
    ruling.effect
}

#[test]
fn a_packet_is_read_issued_and_falls_with_its_source() {
    let mut stage = handed_over(GOOD);
    give(&mut stage, "reliance.issue_work_product_certification", "{}", Outcome::WrongState);
    give(&mut stage, "reliance.review_packet", "{}", Outcome::Accepted);
    assert_eq!(life(&stage), Life::UserReviewed);
    give(&mut stage, "reliance.review_packet", "{}", Outcome::WrongState);
    give(&mut stage, "reliance.issue_work_product_certification", "{}", Outcome::Accepted);
    let packet = rely::last(&stage.desk).unwrap();
    assert_eq!(packet.lifecycle_state, Life::Issued);
    assert_eq!(packet.reviewed_by_user_ref.as_deref(), Some("user:ana"));
    let certified = || rely::certifications(&stage.desk, &packet.packet_id);
    assert_eq!(certified().iter().map(|one| one.lifecycle_state).collect::<Vec<_>>(), [Life::Issued]);
    give(&mut stage, "reliance.renew_packet", "{}", Outcome::WrongState);
    let same = format!(r#"{{"found": {{"lease": "{}"}}}}"#, Digest::of(LEASE.as_bytes()));
    give(&mut stage, "source.recheck", &same, Outcome::Accepted);
    assert_eq!(life(&stage), Life::Issued, "the file is the same");
    let other = format!(r#"{{"found": {{"lease": "{}"}}}}"#, Digest::of(b"# Another lease"));
    give(&mut stage, "source.recheck", &other, Outcome::Accepted);
    assert_eq!(life(&stage), Life::Invalidated);
    let certified = rely::certifications(&stage.desk, &packet.packet_id);
    assert_eq!(certified.iter().map(|one| one.lifecycle_state).collect::<Vec<_>>(), [Life::Invalidated]);
    assert_eq!(outcome::state(&stage.desk, "term-stated").as_str(), "dirty");
    give(&mut stage, "reliance.renew_packet", "{}", Outcome::Accepted);
    let renewed = rely::last(&stage.desk).unwrap();
    assert_ne!(renewed.packet_id, packet.packet_id);
    assert_eq!(renewed.reliance_derivation.status.as_str(), "not_safe_to_rely");
    let before = rely::find(&stage.desk, Some(&packet.packet_id)).unwrap();
    assert_eq!(before.lifecycle_state, Life::Superseded);
    let archive = format!(r#"{{"packet_id": "{}"}}"#, packet.packet_id);
    give(&mut stage, "reliance.archive_packet", &archive, Outcome::Accepted);
    give(&mut stage, "reliance.archive_packet", &archive, Outcome::WrongState);
}

#[test]
fn what_is_not_safe_is_not_issued() {
    let mut stage = handed_over(BOAT);
    give(&mut stage, "reliance.review_packet", "{}", Outcome::Accepted);
    give(&mut stage, "reliance.issue_work_product_certification", "{}", Outcome::WrongState);
    assert_eq!(life(&stage), Life::UserReviewed);
}

#[test]
fn a_key_counts_once() {
    let mut stage = handed_over(GOOD);
    let first = stage.command("reliance.review_packet", "{}", "k1", "ana").unwrap();
    let end = stage.desk.end();
    let again = stage.command("reliance.review_packet", "{}", "k1", "ana").unwrap();
    assert!(again.is_repeated);
    assert_eq!((&again.receipt, &again.records), (&first.receipt, &first.records));
    assert_eq!(stage.desk.end(), end, "nothing was appended");
    let refused = |refusal: Refusal| matches!(refusal, Refusal::Unheard(Unheard::KeyReused));
    let other = stage.command("reliance.review_packet", r#"{"note": "twice"}"#, "k1", "ana");
    assert!(refused(other.unwrap_err()));
    assert!(refused(stage.command("reliance.review_packet", "{}", "k1", "ben").unwrap_err()));
    assert!(refused(stage.command("checkpoint.create", "{}", "k1", "ana").unwrap_err()));
    let keyless = stage.command("checkpoint.create", "{}", " ", "ana").unwrap_err();
    assert_eq!(keyless, Refusal::Unheard(Unheard::NoKey));
    assert_eq!(stage.desk.end(), end);
    stage.is_clean();
}

#[test]
fn only_who_may_decides() {
    let agent = By {
        name: "task",
        kind: ActorKind::TaskAgent,
        matter: "default",
        is_proposer: false,
        needs_another: false,
    };
    let proposer =
        By { name: "ana", kind: ActorKind::User, matter: "default", is_proposer: true, needs_another: true };
    let stranger =
        By { name: "eve", kind: ActorKind::User, matter: "other", is_proposer: false, needs_another: false };
    let other = By { name: "ben", is_proposer: false, ..proposer };
    for (by, expected) in [
        (agent, Outcome::PolicyDenied),
        (proposer, Outcome::PolicyDenied),
        (stranger, Outcome::PolicyDenied),
        (other, Outcome::Accepted),
    ] {
        let mut stage = handed_over(GOOD);
        let ruling = stage.command_by("reliance.review_packet", "{}", "k", by).unwrap();
        assert_eq!(ruling.outcome, expected, "{by:?}");
        assert_eq!(ruling.reasons.is_empty(), expected == Outcome::Accepted, "{by:?}");
        stage.is_clean();
    }
}

#[test]
fn a_finding_is_disputed_stood_by_or_given_up() {
    let mut stage = handed_over(BOAT);
    let id = finding::all(&stage.desk)[0].event.finding_id.clone();
    let event = finding::all(&stage.desk)[0].event.finding_event_id.clone();
    let state = |stage: &Stage| finding::find(&stage.desk, &id).unwrap().state.as_str();
    let contest = format!(r#"{{"finding_id": "{id}", "grounds": "It is in the annex."}}"#);
    let plain = format!(r#"{{"finding_id": "{id}"}}"#);
    let shown = format!(r#"{{"finding_id": "{id}", "evidence_refs": ["evaluation_finding_event:{event}"]}}"#);
    give(&mut stage, "finding.contest", r#"{"finding_id": "none", "grounds": "x"}"#, Outcome::NotFound);
    give(&mut stage, "finding.contest", &contest, Outcome::Accepted);
    assert_eq!(state(&stage), "contested");
    assert_eq!(life(&stage), Life::Invalidated, "what the packet rests on has changed");
    let by_ben = stage.command("finding.withdraw_contest", &plain, "w1", "ben").unwrap();
    assert_eq!(by_ben.outcome, Outcome::WrongState, "ben did not contest it");
    give(&mut stage, "finding.withdraw_contest", &plain, Outcome::Accepted);
    assert_eq!(state(&stage), "active");
    give(&mut stage, "finding.contest", &contest, Outcome::Accepted);
    // Who contested it stands by it as a user, whatever evidence they show.
    give(&mut stage, "finding.confirm", &shown, Outcome::Accepted);
    assert_eq!(state(&stage), "user_approved");
    give(&mut stage, "finding.contest", &contest, Outcome::Accepted);
    let verified = stage.command("finding.confirm", &shown, "c1", "ben").unwrap();
    assert_eq!(verified.outcome, Outcome::Accepted);
    assert_eq!(state(&stage), "human_verified");
    let lost = format!(
        r#"{{"finding_id": "{id}", "grounds": "x", "evidence_refs": ["evaluation_finding_event:no"]}}"#
    );
    give(&mut stage, "finding.contest", &lost, Outcome::WrongState);
    let reject = format!(r#"{{"finding_id": "{id}", "grounds": "The annex says it."}}"#);
    give(&mut stage, "finding.reject", &reject, Outcome::WrongState);
    give(&mut stage, "finding.contest", &contest, Outcome::Accepted);
    give(&mut stage, "finding.reject", &reject, Outcome::Accepted);
    assert_eq!(state(&stage), "rejected_by_user");
    give(&mut stage, "reliance.renew_packet", "{}", Outcome::Accepted);
    let packet = rely::last(&stage.desk).unwrap();
    assert_eq!(
        packet.reliance_derivation.status.as_str(),
        "not_safe_to_rely",
        "the evaluation failed all the same"
    );
}

#[test]
fn a_packet_is_taken_back_by_a_person() {
    let mut stage = handed_over(GOOD);
    let trigger = format!("artifact_version:{}", artifact::head(&stage.desk, "memo").unwrap().id);
    let request = |trigger: &str| {
        format!(r#"{{"invalidation_kind": "artifact_version_changed", "triggering_ref": "{trigger}"}}"#)
    };
    give(&mut stage, "reliance.invalidate_packet", &request("artifact_version:none"), Outcome::WrongState);
    give(&mut stage, "reliance.invalidate_packet", &request(&trigger), Outcome::Accepted);
    assert_eq!(life(&stage), Life::Invalidated);
    give(&mut stage, "reliance.invalidate_packet", &request(&trigger), Outcome::WrongState);
}

#[test]
fn a_new_version_makes_a_packet_fall() {
    let mut stage = handed_over(GOOD);
    stage.version("memo", "# Memo\n\n## Term\n\nThe rent is 900 euros a month. [sources/lease.md:5]\n");
    stage.later();
    assert_eq!(life(&stage), Life::Invalidated);
    stage.is_clean();
}

#[test]
fn what_is_kept_can_be_begun_from() {
    let mut stage = handed_over(GOOD);
    give(&mut stage, "task_replay.create_fork", r#"{"reason": "try"}"#, Outcome::NotFound);
    give(&mut stage, "checkpoint.create", r#"{"label": "first"}"#, Outcome::Accepted);
    assert_eq!(life(&stage), Life::ReadyForReview, "keeping something changes nothing");
    let effect = give(
        &mut stage,
        "task_replay.create_fork",
        r#"{"checkpoint_id": "first", "reason": "try"}"#,
        Outcome::Accepted,
    );
    let forks: Vec<TaskRunFork> = stage.desk.all().collect();
    let Effect::Forked { fork, heads, answered: None } = effect else { panic!("{effect:?}") };
    assert_eq!(fork, forks[0]);
    assert_eq!(heads, [("memo".to_owned(), Digest::of(GOOD.as_bytes()))].into());
    assert_eq!(forks[0].new_run_id, "run_fedcba9876543210");
    assert_eq!(forks[0].irrevocable_side_effects_at_fork, []);
}

/// A run that waits for a person to say which of two sources counts.
pub(crate) fn asked() -> (Stage, String) {
    let task = task_with(r#""policies": {"claim_support": {"contradiction": "human_review_required"}}"#).replace(
        r#""tier": 2}]"#,
        r#""tier": 2}, {"id": "letter", "path": "sources/letter.md", "kind": "email", "trust_basis": "user_supplied", "verified_by": "ana"}]"#,
    );
    let lease = "# Lease\n\nThe tenant may give notice of six months to the landlord.\n";
    let letter = "The tenant may give notice of three months to the landlord.\n";
    let mut stage = Stage::new(&task, &[("lease", lease), ("letter", letter)]);
    let version = stage.version("memo", NOTICE);
    let (_, looked) = stage.look("memo", &version, NOTICE);
    let question = looked[0].question.clone().unwrap();
    (stage, question)
}

const NOTICE: &str =
    "# Memo\n\n## Term\n\nThe tenant may give notice of six months to the landlord. [sources/lease.md:3]\n";

#[test]
fn a_question_is_put_off_and_answered() {
    let (mut stage, id) = asked();
    let defer = format!(r#"{{"hard_call_id": "{id}"}}"#);
    let answer = |option: &str| format!(r#"{{"hard_call_id": "{id}", "option_id": "{option}"}}"#);
    give(&mut stage, "hard_call.defer", &defer, Outcome::Accepted);
    give(&mut stage, "hard_call.defer", &defer, Outcome::WrongState);
    give(&mut stage, "hard_call.resolve", &answer("prefer-nobody"), Outcome::WrongState);
    let effect = give(&mut stage, "hard_call.resolve", &answer("prefer-lease"), Outcome::Accepted);
    assert_eq!(effect, Effect::Answered { question: id.clone(), option: "prefer-lease".to_owned() });
    give(&mut stage, "hard_call.resolve", &answer("prefer-lease"), Outcome::WrongState);
    let version = artifact::head(&stage.desk, "memo").unwrap();
    let (_, looked) = stage.look("memo", &version, NOTICE);
    assert_eq!(looked[0].state.as_str(), "satisfied");
    stage.is_clean();
}

#[test]
fn what_waits_for_a_person_is_closed_by_one() {
    let mut stage = handed_over(BOAT);
    let id = finding::all(&stage.desk)[0].event.finding_id.clone();
    let contest = format!(r#"{{"finding_id": "{id}", "grounds": "It is in the annex."}}"#);
    give(&mut stage, "finding.contest", &contest, Outcome::Accepted);
    let item = |stage: &Stage| attention::open(&stage.desk).into_iter().map(|one| one.item_id).next();
    let first = item(&stage).expect("a contested finding waits for somebody");
    let request = |item: &str| format!(r#"{{"item_id": "{item}"}}"#);
    give(&mut stage, "attention.resolve_item", &request("none"), Outcome::NotFound);
    give(&mut stage, "attention.dismiss_item", &request(&first), Outcome::Accepted);
    assert_eq!(item(&stage), None, "what was put aside is not raised again");
    give(&mut stage, "attention.resolve_item", &request(&first), Outcome::WrongState);
    let plain = format!(r#"{{"finding_id": "{id}"}}"#);
    give(&mut stage, "finding.withdraw_contest", &plain, Outcome::Accepted);
    give(&mut stage, "finding.contest", &contest, Outcome::Accepted);
    let second = item(&stage).expect("it is contested anew");
    assert_ne!(first, second);
    give(&mut stage, "attention.resolve_item", &request(&second), Outcome::Accepted);
}

#[test]
fn a_question_can_not_be_ticked_off() {
    let (mut stage, question) = asked();
    give(&mut stage, "checkpoint.create", "{}", Outcome::Accepted);
    let item = attention::open(&stage.desk).remove(0).item_id;
    let request = format!(r#"{{"item_id": "{item}"}}"#);
    give(&mut stage, "attention.resolve_item", &request, Outcome::PolicyDenied);
    let answer = format!(r#"{{"hard_call_id": "{question}", "option_id": "prefer-lease"}}"#);
    give(&mut stage, "hard_call.resolve", &answer, Outcome::Accepted);
    assert_eq!(attention::open(&stage.desk), []);
    give(&mut stage, "attention.resolve_item", &request, Outcome::WrongState);
}

#[test]
fn a_contract_is_agreed_to_refused_or_changed() {
    let asked = task_with(r#""policies": {"approval": {"contract": "required"}}"#);
    let begun = || {
        let mut stage = Stage::new(&asked, &[("lease", LEASE)]);
        contract::open(&mut stage.desk).unwrap();
        stage
    };
    let status = |stage: &Stage| contract::last(&stage.desk).unwrap().approval_status.as_str();
    let mut stage = begun();
    give(&mut stage, "contract_review.approve", "{}", Outcome::Accepted);
    assert_eq!(status(&stage), "approved");
    give(&mut stage, "contract_review.reject", r#"{"reason": "no"}"#, Outcome::WrongState);
    let mut stage = begun();
    give(&mut stage, "contract_review.reject", r#"{"reason": "no"}"#, Outcome::Accepted);
    assert_eq!(status(&stage), "rejected");
    let mut stage = begun();
    let words =
        asked.replace("There is a section on the term.", "There is a section on the term of the lease.");
    give(&mut stage, "contract_review.edit", &format!(r#"{{"task": {words}}}"#), Outcome::Accepted);
    assert_eq!(status(&stage), "pending", "the changed contract waits in turn");
    give(&mut stage, "contract_review.edit", r#"{"task": {}}"#, Outcome::WrongState);
    let other = words.replace("sources/lease.md", "sources/other.md");
    give(&mut stage, "contract_review.edit", &format!(r#"{{"task": {other}}}"#), Outcome::WrongState);
    give(&mut stage, "contract_review.approve", "{}", Outcome::Accepted);
    let mut stage = Stage::small();
    give(&mut stage, "contract_review.approve", "{}", Outcome::NotFound);
}

#[test]
fn a_source_enters_the_library_by_its_gate() {
    let mut stage = Stage::small();
    give(&mut stage, "library.promote_source", r#"{"source": "none"}"#, Outcome::NotFound);
    give(&mut stage, "library.promote_source", r#"{"source": "lease"}"#, Outcome::Accepted);
    give(&mut stage, "library.promote_source", r#"{"source": "lease"}"#, Outcome::WrongState);
    let unverified = TASK.replace(r#""verified_by": "ana", "#, "");
    let mut stage = Stage::new(&unverified, &[("lease", LEASE)]);
    give(&mut stage, "library.promote_source", r#"{"source": "lease"}"#, Outcome::PolicyDenied);
}

#[test]
fn evidence_leaves_under_policy_once() {
    let mut stage = handed_over(GOOD);
    let unconfirmed = r#"{"destination": "out.json"}"#;
    give(&mut stage, "evidence.export_package", unconfirmed, Outcome::PolicyDenied);
    let confirmed = r#"{"destination": "out.json", "confirmed": true}"#;
    let ruling = stage.command("evidence.export_package", confirmed, "e1", "ana").unwrap();
    let Effect::Export { destination, document } = &ruling.effect else { panic!("{ruling:?}") };
    assert_eq!(destination, "out.json");
    let text = json::to_text(document).unwrap();
    assert!(text.contains("The lease of the warehouse ends on 31 May 2027."), "{text}");
    assert!(text.contains("sources/lease.md:3-3"), "{text}");
    // Nobody saw the end of it: the same is done again, and nothing else takes the key.
    stage.restart();
    let again = stage.command("evidence.export_package", confirmed, "e1", "ana").unwrap();
    assert_eq!(again.effect, ruling.effect);
    assert!(stage.command("checkpoint.create", "{}", "e1", "ana").is_err());
    stage.finished("evidence.export_package", confirmed, "e1", "ana", true).unwrap();
    stage.is_clean();
    let done = stage.command("evidence.export_package", confirmed, "e1", "ana").unwrap();
    assert!(done.is_repeated);
    give(&mut stage, "checkpoint.create", "{}", Outcome::Accepted);
    let effect = give(&mut stage, "task_replay.create_fork", r#"{"reason": "try"}"#, Outcome::Accepted);
    let Effect::Forked { fork, .. } = effect else { panic!("{effect:?}") };
    let kinds: Vec<&str> =
        fork.irrevocable_side_effects_at_fork.iter().map(|one| one.kind.as_str()).collect();
    assert_eq!(kinds, ["export_bundle"], "what left can't be taken back by a fork");
    let never = task_with(r#""policies": {"externalization": {"export_bundle": "never"}}"#);
    let mut stage = Stage::new(&never, &[("lease", LEASE)]);
    let claims = stage.passing();
    stage.hand_over(&claims);
    give(&mut stage, "evidence.export_package", confirmed, Outcome::PolicyDenied);
}

#[test]
fn what_no_command_knows_is_refused() {
    let mut stage = handed_over(GOOD);
    let end = stage.desk.end();
    assert_eq!(stage.command("memo.burn", "{}", "k", "ana"), Err(Refusal::Unknown("memo.burn".to_owned())));
    let wrong = stage.command("finding.contest", r#"{"finding_id": 3}"#, "k", "ana").unwrap_err();
    assert!(matches!(&wrong, Refusal::Request(troubles) if troubles.len() == 2), "{wrong:?}");
    assert_eq!(stage.desk.end(), end);
}
