//! Reading and writing the run's state: the origin's own documents, the cases of its traps, and round trips of
//! generated documents.

use crate::documents::{self, MEMBERS, Rng, generic, minted, mutate, ours};
use countersign_record::canonical;
use countersign_record::code::Code;
use countersign_record::fields::Trouble;
use countersign_record::json::{self, Json};
use countersign_record::state::{
    Dialect, GenericEnvelope, GoalStatus, InterruptKind, Minted, Pending, Reading, Renamed, TerminalReason,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn read(document: &Value) -> Result<Reading, Vec<Trouble>> {
    GenericEnvelope::read(ours(document), minted())
}

fn accepted(document: &Value) -> Reading {
    read(document).unwrap_or_else(|troubles| panic!("{document} was refused: {troubles:?}"))
}

/// Where and why a document is refused.
fn refused(document: &Value) -> Vec<(Code, String)> {
    let troubles = read(document).err().unwrap_or_else(|| panic!("{document} was accepted"));
    troubles.into_iter().map(|trouble| (trouble.code, trouble.path)).collect()
}

fn check_refused(document: &Value, expected: &[(Code, &str)]) {
    let expected: Vec<_> = expected.iter().map(|(code, path)| (*code, (*path).to_owned())).collect();
    assert_eq!(refused(document), expected, "{document}");
}

fn written(reading: &Reading) -> Value {
    serde_json::from_str(&json::to_text(&reading.envelope).unwrap()).unwrap()
}

fn with(base: Value, members: Value) -> Value {
    let (Value::Object(mut base), Value::Object(members)) = (base, members) else { panic!("two objects") };
    base.extend(members);
    Value::Object(base)
}

fn vector(name: &str) -> Value {
    let path = format!("{}/tests/data/jeeves/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

const VECTORS: [(&str, Dialect); 19] = [
    ("01_fresh.go", Dialect::B),
    ("01_fresh.py", Dialect::B),
    ("02_mid_run.go", Dialect::B),
    ("02_mid_run.py", Dialect::B),
    ("02_mid_run.py_through_go", Dialect::B),
    ("03_clarification_pending.go", Dialect::B),
    ("03_clarification_pending.py", Dialect::B),
    ("03_clarification_pending.seed", Dialect::A),
    ("04_clarification_resolved.go", Dialect::B),
    ("05_confirmation_pending.go", Dialect::B),
    ("05_confirmation_pending.seed", Dialect::A),
    ("07_terminated_completed.py", Dialect::B),
    ("07_terminated_completed_successfully.go", Dialect::B),
    ("13_multi_stage.go", Dialect::B),
    ("13_multi_stage.seed", Dialect::A),
    ("15_dag.go", Dialect::B),
    ("17_v1_0_required_only.seed", Dialect::A),
    ("c_01_running", Dialect::C),
    ("c_02_agent_review", Dialect::C),
];

#[test]
fn every_document_of_the_origin_is_read_and_loses_nothing() {
    let directory = format!("{}/tests/data/jeeves", env!("CARGO_MANIFEST_DIR"));
    assert_eq!(std::fs::read_dir(directory).unwrap().count(), VECTORS.len(), "a document is not in the list");
    for (name, dialect) in VECTORS {
        let document = vector(name);
        let reading = accepted(&document);
        assert_eq!(reading.dialect, dialect, "{name}");
        assert_eq!(
            reading.minted,
            if name.starts_with("17") { vec!["received_at"] } else { vec![] },
            "{name}"
        );
        let after = written(&reading);
        let renamed: Vec<&str> =
            reading.renamed.iter().map(|renamed| renamed.path.trim_start_matches('/')).collect();
        for (member, value) in document.as_object().unwrap() {
            if !renamed.contains(&member.as_str()) {
                assert_eq!(after.get(member), Some(value), "{name}: {member}");
            }
        }
    }
}

#[test]
fn an_empty_document_takes_the_seeds_defaults() {
    let reading = accepted(&json!({}));
    assert_eq!(reading.minted, ["envelope_id", "request_id", "session_id", "received_at"]);
    assert_eq!(
        written(&reading),
        json!({
            "envelope_id": "env_00000000000000ff", "request_id": "req_00000000000000ff", "user_id": "anonymous",
            "session_id": "sess_00000000000000ff", "raw_input": "", "received_at": "2030-01-02T03:04:05Z",
            "outputs": {}, "current_stage": "start", "stage_order": [], "iteration": 0, "max_iterations": 3,
            "llm_call_count": 0, "max_llm_calls": 10, "agent_hop_count": 0, "max_agent_hops": 21,
            "terminal_reason": null, "terminated": false, "termination_reason": null,
            "clarification_pending": false, "clarification_question": null, "clarification_response": null,
            "confirmation_pending": false, "confirmation_id": null, "confirmation_message": null,
            "confirmation_response": null, "completed_stages": [], "current_stage_number": 1, "max_stages": 5,
            "all_goals": [], "remaining_goals": [], "goal_completion_status": {}, "prior_plans": [],
            "critic_feedback": [], "errors": [], "completed_at": null, "metadata": {}, "processing_history": []
        })
    );
    let members = written(&reading).as_object().unwrap().len();
    assert_eq!(
        reading.defaulted.len() + reading.minted.len(),
        members,
        "each missing member is reported once"
    );
}

/// The seed's schema lists its members in this order, and so do we; what others added comes after.
#[test]
fn members_are_written_in_the_seeds_order() {
    let text = json::to_text(&accepted(&json!({ "a": 1, "interrupt_pending": false })).envelope).unwrap();
    let at = |name: &str| text.find(&format!("\"{name}\":")).unwrap();
    let added = ["processing_history", "interrupt", "interrupt_pending", "a"];
    let places: Vec<usize> = MEMBERS.iter().chain(&added).map(|name| at(name)).collect();
    assert!(places.is_sorted(), "{text}");
}

#[test]
fn custom_bounds_survive() {
    let bounds = accepted(&json!({ "max_llm_calls": 50, "llm_call_count": 12 })).envelope.bounds;
    assert_eq!((bounds.llm_call_count, bounds.max_llm_calls), (12, 50));
}

#[test]
fn a_terminated_run_keeps_its_reason() {
    let ended = json!({ "terminated": true, "iteration": 9, "terminal_reason": "tool_failed_fatally" });
    let envelope = accepted(&ended).envelope;
    assert!(envelope.ending.terminated);
    assert_eq!(envelope.ending.terminal_reason, Some(TerminalReason::ToolFailedFatally));
}

#[test]
fn a_reason_without_an_end_is_refused_unless_it_waits() {
    for reason in TerminalReason::ALL {
        check_refused(
            &json!({ "terminal_reason": reason.as_str() }),
            &[(Code::FieldConflict, "/terminal_reason")],
        );
        accepted(&json!({ "terminal_reason": reason.as_str(), "terminated": true }));
    }
    accepted(&json!({ "terminal_reason": "clarification_required", "clarification_pending": true }));
    accepted(&json!({ "terminal_reason": "confirmation_required", "confirmation_pending": true }));
    let crossed = json!({ "terminal_reason": "clarification_required", "confirmation_pending": true });
    check_refused(&crossed, &[(Code::FieldConflict, "/terminal_reason")]);
}

#[test]
fn governance_is_refused_and_never_defaulted() {
    let wrong = |member: &str, value: Value, code| {
        check_refused(&json!({ member: value }), &[(code, &format!("/{member}"))]);
    };
    wrong("terminated", json!("true"), Code::FieldWrongType);
    wrong("terminated", json!(null), Code::FieldWrongType);
    wrong("terminated", json!(1), Code::FieldWrongType);
    wrong("iteration", json!(-5), Code::FieldInvalid);
    wrong("iteration", json!(2.9), Code::FieldInvalid);
    wrong("iteration", json!("2"), Code::FieldWrongType);
    wrong("llm_call_count", json!(1e300), Code::FieldInvalid);
    wrong("agent_hop_count", json!(9_007_199_254_740_993u64), Code::FieldInvalid);
    wrong("max_iterations", json!(0), Code::FieldInvalid);
    wrong("terminal_reason", json!("user_cancelled"), Code::FieldInvalid);
    wrong("terminal_reason", json!(3), Code::FieldWrongType);
    wrong("clarification_pending", json!(null), Code::FieldWrongType);
    wrong("interrupt_pending", json!("yes"), Code::FieldWrongType);
    check_refused(
        &json!({ "interrupt_pending": true, "interrupt": "clarification" }),
        &[(Code::FieldWrongType, "/interrupt")],
    );
    wrong("envelope_id", json!("env_123e4567-e89b-12"), Code::FieldInvalid);
    wrong("envelope_id", json!(""), Code::FieldInvalid);
    wrong("received_at", json!("2025-12-10T10:00:00"), Code::FieldInvalid);
    wrong("completed_at", json!("yesterday"), Code::FieldInvalid);
    check_refused(
        &json!({ "goal_completion_status": { "a/b": "done" } }),
        &[(Code::FieldInvalid, "/goal_completion_status/a~1b")],
    );
    check_refused(&json!({ "outputs": { "plan": [] } }), &[(Code::FieldWrongType, "/outputs/plan")]);
    check_refused(&json!([]), &[(Code::FieldWrongType, "")]);
}

#[test]
fn every_trouble_is_named() {
    check_refused(
        &json!({ "envelope_id": 1, "iteration": -1, "errors": [{}, 3], "completed_stages": [{ "summary": null }] }),
        &[
            (Code::FieldWrongType, "/envelope_id"),
            (Code::FieldInvalid, "/iteration"),
            (Code::FieldWrongType, "/completed_stages/0/summary"),
            (Code::FieldWrongType, "/errors/1"),
        ],
    );
}

#[test]
fn a_counter_may_be_written_as_a_fraction_without_one() {
    let bounds =
        accepted(&json!({ "iteration": 1.0, "max_iterations": 1e3, "llm_call_count": -0.0 })).envelope.bounds;
    assert_eq!((bounds.iteration, bounds.max_iterations, bounds.llm_call_count), (1, 1000, 0));
    let limit = 1u64 << 53;
    assert_eq!(accepted(&json!({ "iteration": limit })).envelope.bounds.iteration, limit);
}

#[test]
fn the_seeds_own_question_is_pending() {
    assert_eq!(
        accepted(&vector("03_clarification_pending.seed")).envelope.pending(),
        Some(Pending::Clarification)
    );
    assert_eq!(
        accepted(&vector("05_confirmation_pending.seed")).envelope.pending(),
        Some(Pending::Confirmation)
    );
    assert_eq!(accepted(&json!({})).envelope.pending(), None);
}

#[test]
fn an_interrupt_becomes_the_seeds_question() {
    for name in ["03_clarification_pending.go", "03_clarification_pending.py"] {
        let envelope = accepted(&vector(name)).envelope;
        assert_eq!(envelope.pending(), Some(Pending::Clarification), "{name}");
        assert_eq!(envelope.clarification.question.as_deref(), Some("Which service?"), "{name}");
    }
    let answered = accepted(&vector("04_clarification_resolved.go")).envelope;
    assert_eq!(answered.pending(), None);
    assert_eq!(answered.clarification.response.as_deref(), Some("the auth service"));

    let asked = accepted(&vector("05_confirmation_pending.go")).envelope;
    assert_eq!(asked.pending(), Some(Pending::Confirmation));
    assert_eq!(asked.confirmation.id.as_deref(), Some("conf_1"));
    assert_eq!(asked.confirmation.message.as_deref(), Some("Delete branch x?"));
    let interrupt = asked.interrupt.unwrap();
    assert_eq!(interrupt.expires_at().unwrap().as_str(), "2026-11-15T20:01:16Z");
}

#[test]
fn answering_the_seeds_question_answers_the_interrupt() {
    let mut envelope = accepted(&vector("03_clarification_pending.go")).envelope;
    envelope.clarification.pending = false;
    envelope.clarification.response = Some("auth".into());
    let again = GenericEnvelope::read(envelope.to_json().unwrap(), minted()).unwrap();
    assert_eq!(again.envelope, envelope);
    assert_eq!(again.envelope.to_json().unwrap().get("interrupt_pending"), Some(&Json::Bool(false)));
}

#[test]
fn a_pending_interrupt_without_a_word_is_not_lost() {
    let unnamed = accepted(&json!({ "interrupt_pending": true, "interrupt": null })).envelope;
    assert_eq!(unnamed.pending(), Some(Pending::Other(None)));
    let again = GenericEnvelope::read(unnamed.to_json().unwrap(), minted()).unwrap();
    assert_eq!(again.envelope.pending(), Some(Pending::Other(None)));

    let review = accepted(&vector("c_02_agent_review")).envelope;
    assert_eq!(review.pending(), Some(Pending::Other(Some(InterruptKind::AgentReview))));
    let again = GenericEnvelope::read(review.to_json().unwrap(), minted()).unwrap();
    assert_eq!(again.envelope, review);

    check_refused(
        &json!({ "interrupt": { "kind": "timeout" } }),
        &[(Code::FieldMissing, "/interrupt_pending")],
    );
}

#[test]
fn type_is_read_as_kind() {
    let reading =
        accepted(&json!({ "interrupt_pending": true, "interrupt": { "type": "confirmation", "id": "c1" } }));
    assert_eq!(reading.envelope.pending(), Some(Pending::Confirmation));
    let renamed = |path: &str, from: &str, to| Renamed { path: path.into(), from: from.into(), to };
    let by_name = renamed("/interrupt/type", "type", "kind");
    assert_eq!(reading.renamed, std::slice::from_ref(&by_name));
    let check = |interrupt: Value, kind, expected: &[Renamed]| {
        let reading = accepted(&json!({ "interrupt_pending": true, "interrupt": interrupt.clone() }));
        let interrupted = reading.envelope.interrupt.as_ref().unwrap();
        assert_eq!((interrupted.kind(), &reading.renamed[..]), (kind, expected), "{interrupt}");
    };
    check(
        json!({ "kind": null, "type": "timeout" }),
        Some(InterruptKind::Timeout),
        std::slice::from_ref(&by_name),
    );
    check(json!({ "kind": "timeout", "type": null }), Some(InterruptKind::Timeout), &[]);
    check(json!({ "kind": "timeout", "type": "timeout" }), Some(InterruptKind::Timeout), &[]);
    check(json!({ "kind": null, "type": null }), None, &[]);
    let by_word = renamed("/interrupt/type", "critic_review", "agent_review");
    check(json!({ "type": "critic_review" }), Some(InterruptKind::AgentReview), &[by_word, by_name]);
    let by_word = renamed("/interrupt/kind", "critic_review", "agent_review");
    check(json!({ "kind": "critic_review" }), Some(InterruptKind::AgentReview), &[by_word]);
    check_refused(
        &json!({ "interrupt_pending": true, "interrupt": { "type": "confirmation", "kind": "timeout" } }),
        &[(Code::FieldConflict, "/interrupt/type")],
    );
    check_refused(
        &json!({ "interrupt_pending": true, "interrupt": { "kind": "coffee" } }),
        &[(Code::FieldInvalid, "/interrupt/kind")],
    );
    check_refused(
        &json!({ "interrupt_pending": true, "interrupt": { "kind": "timeout", "expires_at": "soon" } }),
        &[(Code::FieldInvalid, "/interrupt/expires_at")],
    );
}

#[test]
fn contradictions_between_dialects_are_refused() {
    let conflict = |own: Value, interrupt: Value, path: &str| {
        check_refused(&with(own, interrupt), &[(Code::FieldConflict, path)]);
    };
    let clarifies =
        json!({ "interrupt_pending": true, "interrupt": { "kind": "clarification", "question": "q" } });
    let confirms = json!({ "interrupt_pending": true, "interrupt": { "kind": "confirmation", "id": "c" } });
    let nothing = json!({ "interrupt_pending": false, "interrupt": null });
    conflict(json!({ "clarification_pending": false }), clarifies.clone(), "/clarification_pending");
    conflict(json!({ "confirmation_pending": true }), clarifies.clone(), "/confirmation_pending");
    conflict(json!({ "clarification_question": "p" }), clarifies.clone(), "/clarification_question");
    conflict(json!({ "confirmation_id": "d" }), confirms, "/confirmation_id");
    conflict(json!({ "clarification_pending": true }), nothing, "/clarification_pending");
    accepted(&with(json!({ "clarification_pending": true, "clarification_question": "q" }), clarifies));
    // A pending interrupt of no kind may be the question that the seed's flag speaks of.
    let same = accepted(&json!({ "clarification_pending": true, "interrupt_pending": true })).envelope;
    assert_eq!(same.pending(), Some(Pending::Clarification));
    check_refused(
        &json!({ "critic_feedback": ["a"], "loop_feedback": [] }),
        &[(Code::FieldConflict, "/loop_feedback")],
    );
}

#[test]
fn the_history_survives_exactly() {
    let document = vector("02_mid_run.py");
    assert_eq!(written(&accepted(&document))["processing_history"], document["processing_history"]);
    let record =
        json!({ "agent": "a", "stage_order": 1, "status": "running", "started_at": null, "tokens": 1.50 });
    let after = &written(&accepted(&json!({ "processing_history": [record] })))["processing_history"][0];
    assert_eq!((&after["tokens"], &after["llm_calls"]), (&json!(1.5), &json!(0)));
    check_refused(
        &json!({ "processing_history": [{ "agent": "a", "stage_order": 1 }] }),
        &[(Code::FieldMissing, "/processing_history/0/status")],
    );
}

#[test]
fn foreign_values_are_kept_as_written() {
    let text = "{\"metadata\":{\"a\":9007199254740993,\"b\":1.0,\"c\":\"<&>\u{2028}🦀\",\"d\":1e400,\"e\":-0},\
                \"outputs\":{\"to_dict\":{\"x\":0.10}},\"to_dict\":{\"n\":12345678901234567890.5},\"x\":null}";
    let reading = GenericEnvelope::read(json::parse(text.as_bytes()).unwrap(), minted()).unwrap();
    let after = json::to_text(&reading.envelope).unwrap();
    for part in [
        "\"metadata\":{\"a\":9007199254740993,\"b\":1.0,\"c\":\"<&>\u{2028}🦀\",\"d\":1e400,\"e\":-0}",
        "\"outputs\":{\"to_dict\":{\"x\":0.10}}",
        "\"to_dict\":{\"n\":12345678901234567890.5}",
        "\"x\":null",
    ] {
        assert!(after.contains(part), "{part} is not in {after}");
    }
}

#[test]
fn documents_that_differ_in_one_digit_have_different_hashes() {
    let hash = |text: &str| {
        let value = json::parse(text.as_bytes()).unwrap();
        GenericEnvelope::read(value, minted()).unwrap().envelope.hash().unwrap()
    };
    assert_ne!(
        hash("{\"metadata\":{\"a\":9007199254740993}}"),
        hash("{\"metadata\":{\"a\":9007199254740992}}")
    );
    assert_eq!(hash("{\"iteration\":1.0}"), hash("{\"iteration\":1}"));
    let reading = accepted(&json!({}));
    let document = reading.envelope.to_json().unwrap();
    assert_eq!(reading.envelope.hash().unwrap(), canonical::hash_as_written(&document));
}

#[test]
fn times_stay_as_received() {
    for time in ["2025-12-10T10:00:00.123456+05:30", "2025-12-10t10:00:00z", "2025-12-10T10:00:00.000Z"] {
        let after = written(&accepted(&json!({ "received_at": time, "completed_at": time })));
        assert_eq!((&after["received_at"], &after["completed_at"]), (&json!(time), &json!(time)));
    }
}

#[test]
fn other_dialects_words_have_one_form() {
    let document = json!({
        "terminated": true, "terminal_reason": "completed", "loop_feedback": ["more"],
        "goal_completion_status": { "a": "complete", "b": "satisfied" }
    });
    let reading = accepted(&document);
    let envelope = &reading.envelope;
    assert_eq!(envelope.ending.terminal_reason, Some(TerminalReason::CompletedSuccessfully));
    assert_eq!(envelope.goals.critic_feedback, ["more"]);
    assert!(envelope.goals.goal_completion_status.values().all(|status| *status == GoalStatus::Satisfied));
    assert!(written(&reading).get("loop_feedback").is_none());
    let paths: Vec<&str> = reading.renamed.iter().map(|renamed| renamed.path.as_str()).collect();
    assert_eq!(paths, ["/terminal_reason", "/goal_completion_status/a", "/loop_feedback"]);
    let looped = json!({ "terminated": true, "terminal_reason": "max_loop_exceeded" });
    assert_eq!(
        accepted(&looped).envelope.ending.terminal_reason,
        Some(TerminalReason::MaxCriticFiresExceeded)
    );
}

#[test]
fn null_is_empty_only_where_its_writers_say_so() {
    let lists = [
        "outputs",
        "stage_order",
        "completed_stages",
        "all_goals",
        "goal_completion_status",
        "errors",
        "metadata",
    ];
    for name in lists {
        check_refused(&json!({ name: null }), &[(Code::FieldWrongType, &format!("/{name}"))]);
        let after = written(&accepted(&json!({ name: null, "dag_mode": false })));
        assert!(!after[name].is_null(), "{name}");
    }
    let stage = json!([{ "stage_number": 1, "satisfied_goals": null, "summary": null, "plan_id": null }]);
    let after = written(&accepted(&json!({ "completed_stages": stage, "dag_mode": false })));
    assert_eq!(
        after["completed_stages"],
        json!([{ "stage_number": 1, "satisfied_goals": [], "summary": {}, "plan_id": null }])
    );
    check_refused(&json!({ "received_at": null }), &[(Code::FieldWrongType, "/received_at")]);
    assert_eq!(
        accepted(&json!({ "received_at": null, "interrupt_pending": false })).minted.last(),
        Some(&"received_at")
    );
}

#[test]
fn what_was_read_is_written_and_read_again_the_same() {
    let mut accepted = 0;
    for seed in 0..4_000 {
        let mut rng = Rng::new(seed);
        let mut document = generic(&mut rng);
        documents::speak_another_dialect(&mut document, &mut rng);
        for _ in 0..rng.below(3) {
            mutate(&mut document, &mut rng);
        }
        let Ok(reading) = read(&document) else { continue };
        accepted += 1;
        let once = reading.envelope.to_json().unwrap();
        assert_eq!(reading.envelope.hash(), Ok(canonical::hash_as_written(&once)), "seed {seed}");
        let again = GenericEnvelope::read(once.clone(), minted()).unwrap_or_else(|troubles| {
            panic!("seed {seed}: {document} was written as {once:?}: {troubles:?}")
        });
        assert_eq!(again.envelope, reading.envelope, "seed {seed}");
        assert_eq!(again.envelope.pending(), reading.envelope.pending(), "seed {seed}");
        assert!(
            again.minted.is_empty() && again.renamed.iter().all(|word| word.path.starts_with("/interrupt/")),
            "seed {seed}"
        );
        assert_eq!(json::to_text(&again.envelope), json::to_text(&reading.envelope), "seed {seed}");
    }
    assert!(accepted > 1_000, "only {accepted} documents were read");
}

/// A document may be as large as the limit allows; what is kept of it is moved, never copied.
#[test]
fn what_is_kept_is_moved() {
    let document = json!({
        "raw_input": "0", "outputs": { "a": { "x": ["1"] } }, "metadata": { "x": "2" }, "errors": [{ "x": "3" }],
        "prior_plans": [{ "x": "4" }], "completed_stages": [{ "summary": { "x": "5" }, "more": { "x": "6" } }],
        "interrupt_pending": true, "interrupt": { "kind": "timeout", "x": "7" }, "more": [{ "x": "8" }],
        "stage_order": ["9"]
    });
    fn places(value: &Json, found: &mut BTreeMap<String, usize>) {
        match value {
            Json::String(text) if text.len() == 1 => drop(found.insert(text.clone(), text.as_ptr().addr())),
            Json::Array(items) => items.iter().for_each(|item| places(item, found)),
            Json::Object(object) => object.iter().for_each(|(_, member)| places(member, found)),
            Json::String(_) | Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
    let mut before = BTreeMap::new();
    let value = ours(&document);
    places(&value, &mut before);
    let envelope = GenericEnvelope::read(value, minted()).unwrap().envelope;
    let mut after = BTreeMap::new();
    after.extend(
        [&envelope.identity.raw_input, &envelope.progress.stage_order[0]]
            .map(|text| (text.clone(), text.as_ptr().addr())),
    );
    let objects = [
        &envelope.progress.outputs["a"],
        &envelope.metadata,
        &envelope.errors[0],
        &envelope.goals.prior_plans[0],
        &envelope.goals.completed_stages[0].summary,
        envelope.goals.completed_stages[0].extra.as_object(),
        envelope.interrupt.as_ref().unwrap().body().unwrap(),
        envelope.extra.as_object(),
    ];
    for object in objects {
        object.iter().for_each(|(_, member)| places(member, &mut after));
    }
    assert_eq!(after, before);
}

#[test]
fn minted_values_are_used_only_where_they_are_missing() {
    let own = json!({ "request_id": "req_0000000000000001" });
    let Minted { envelope_id, session_id, received_at, .. } = minted();
    let identity = accepted(&own).envelope.identity;
    assert_eq!(identity.request_id.as_str(), "req_0000000000000001");
    assert_eq!(
        (identity.envelope_id, identity.session_id, identity.received_at),
        (envelope_id, session_id, received_at)
    );
}
