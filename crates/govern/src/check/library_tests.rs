//! What enters the library passed its gate, was written, and a person let it in where one must.

use crate::check::trial::has_places as check;
use std::format;
use std::string::String;

const POLICY: (&str, &str) = ("PolicyEvaluation", r#"{"policy_evaluation_id":"p","decision":"allow"}"#);
const GATE: (&str, &str) = (
    "LibraryPromotionGate",
    r#"{"gate_id":"g","min_tier":2,"requires_verification_state":"verified","requires_access_tier":"librarian",
        "ec_policy_decision_ref":"policy_evaluation:p","privileged_sources_auto_promote_allowed":false}"#,
);
const CANDIDATE: (&str, &str) = (
    "LibraryPromotionCandidate",
    r#"{"candidate_id":"c","source_record_ref":"src:s","requested_by_ref":"module:m","status":"approved"}"#,
);
const SOURCE: (&str, &str) =
    ("SourceRecord", r#"{"source_id":"s","tier":2,"verification_state":"verified"}"#);
const PROMOTED: (&str, &str) = (
    "LibraryPromotionReceipt",
    r#"{"cleared_by_access_tier":"librarian","candidate_id":"c","gate_ref":"library_promotion_gate:g","status":"promoted","durable_library_write_ref":"library_entry:e"}"#,
);

#[test]
fn sources_pass_the_gate() {
    let check = |rows: [(&str, &str); 3], receipt: (&str, &str), expected: &[(u64, &str)]| {
        let [policy, gate, source] = rows;
        check("library_promotion_without_gate", &[policy, gate, source, CANDIDATE, receipt], expected);
    };
    let wrong = &[(5, "/gate_ref")];
    check([POLICY, GATE, SOURCE], PROMOTED, &[]);
    check([POLICY, ("Note", "{}"), SOURCE], PROMOTED, wrong);
    let low = ("SourceRecord", r#"{"source_id":"s","tier":1,"verification_state":"verified"}"#);
    check([POLICY, GATE, low], PROMOTED, wrong);
    let unverified = ("SourceRecord", r#"{"source_id":"s","tier":3,"verification_state":"unverified"}"#);
    check([POLICY, GATE, unverified], PROMOTED, wrong);
    check([("Note", "{}"), GATE, SOURCE], PROMOTED, wrong);
    let denied = ("PolicyEvaluation", r#"{"policy_evaluation_id":"p","decision":"deny"}"#);
    check([denied, GATE, SOURCE], PROMOTED, wrong);
    let asks = ("PolicyEvaluation", r#"{"policy_evaluation_id":"p","decision":"require_human"}"#);
    check([asks, GATE, SOURCE], PROMOTED, wrong);
    let open = GATE.1.replace(r#""requires_access_tier":"librarian","#, "");
    check([POLICY, (GATE.0, &open), SOURCE], PROMOTED, wrong);
    let blocked = PROMOTED.1.replace(r#""promoted""#, r#""blocked_by_policy""#);
    check([POLICY, GATE, low], (PROMOTED.0, &blocked), &[]);
    let cleared = PROMOTED.1.replace(r#":"librarian""#, r#":"clerk""#);
    check([POLICY, GATE, SOURCE], (PROMOTED.0, &cleared), wrong);
    let uncleared = PROMOTED.1.replace(r#""cleared_by_access_tier":"librarian","#, "");
    check([POLICY, GATE, SOURCE], (PROMOTED.0, &uncleared), wrong);
}

/// A gate is that of its time, unless the receipt says which.
#[test]
fn a_gate_does_not_judge_what_passed_before_it() {
    let code = "library_promotion_without_gate";
    let higher = GATE.1.replace(r#""min_tier":2"#, r#""min_tier":3"#);
    let higher = (GATE.0, &*higher);
    check(code, &[POLICY, higher, SOURCE, CANDIDATE, PROMOTED, GATE], &[(5, "/gate_ref")]);
    check(code, &[POLICY, GATE, SOURCE, CANDIDATE, PROMOTED, higher], &[]);
    check(code, &[POLICY, GATE, higher, SOURCE, CANDIDATE, PROMOTED], &[(6, "/gate_ref")]);
    let pinned = PROMOTED.1.replace("library_promotion_gate:g", "library_promotion_gate:g@1");
    check(code, &[POLICY, GATE, higher, SOURCE, CANDIDATE, (PROMOTED.0, &pinned)], &[]);
}

#[test]
fn what_is_in_the_library_was_written() {
    let code = "library_promotion_candidate_confused_with_durable_write";
    let promoted = CANDIDATE.1.replace(r#""approved""#, r#""promoted""#);
    let promoted = (CANDIDATE.0, &*promoted);
    check(code, &[promoted], &[(1, "/status")]);
    check(code, &[PROMOTED, promoted], &[]);
    check(code, &[promoted, PROMOTED], &[(1, "/status")]);
    let unwritten = PROMOTED.1.replace("library_entry:e", "");
    check(code, &[promoted, (PROMOTED.0, &unwritten)], &[(1, "/status")]);
    let entry = ("SourceRecord", r#"{"source_id":"e","source_kind":"library_entry"}"#);
    let edge = ("DerivationEdge", r#"{"output_ref":"src:e","input_refs":["library_promotion_candidate:c"]}"#);
    check(code, &[CANDIDATE, entry, edge], &[(2, "/source_kind")]);
    check(code, &[CANDIDATE, PROMOTED, entry, edge], &[]);
}

#[test]
fn a_person_lets_privileged_sources_in() {
    let code = "privileged_source_auto_promoted";
    let secret = ("SourceRecord", r#"{"source_id":"s","tier":2,"data_class":"local_only"}"#);
    let approved = |actor: &str| -> String {
        format!(
            r#"{{"subject_ref":"library_promotion_candidate:c","from_state":"queued","to_state":"approved","actor_ref":"{actor}"}}"#
        )
    };
    let (person, engine) = (approved("user:u"), approved("engine:e"));
    let (person, engine) =
        (("LifecycleTransitionReceipt", &*person), ("LifecycleTransitionReceipt", &*engine));
    check(code, &[GATE, secret, CANDIDATE, PROMOTED], &[(4, "/candidate_id")]);
    check(code, &[GATE, SOURCE, CANDIDATE, PROMOTED], &[]);
    check(code, &[GATE, secret, CANDIDATE, person, PROMOTED], &[]);
    check(code, &[GATE, secret, CANDIDATE, engine, PROMOTED], &[(5, "/candidate_id")]);
    // From where no way leads nobody approved it.
    let illegal = approved("user:u").replace("queued", "rejected");
    check(code, &[GATE, secret, CANDIDATE, (person.0, &illegal), PROMOTED], &[(5, "/candidate_id")]);
    let confirmed =
        ("UserConfirmation", r#"{"user_ref":"user:u","subject_ref":"library_promotion_candidate:c"}"#);
    check(code, &[GATE, secret, CANDIDATE, engine, confirmed, PROMOTED], &[]);
    // Not afterwards, and not by a machine.
    check(code, &[GATE, secret, CANDIDATE, engine, PROMOTED, confirmed], &[(5, "/candidate_id")]);
    check(code, &[GATE, secret, CANDIDATE, engine, PROMOTED, person], &[(5, "/candidate_id")]);
    let machine =
        ("UserConfirmation", r#"{"user_ref":"module:m","subject_ref":"library_promotion_candidate:c"}"#);
    check(code, &[GATE, secret, CANDIDATE, engine, machine, PROMOTED], &[(6, "/candidate_id")]);
    let asked = CANDIDATE.1.replace("module:m", "user:u");
    check(code, &[GATE, secret, (CANDIDATE.0, &asked), PROMOTED], &[]);
    check(code, &[GATE, secret, (CANDIDATE.0, &asked), engine, PROMOTED], &[(5, "/candidate_id")]);
    let loose = GATE.1.replace(r#"allowed":false"#, r#"allowed":"ask""#);
    check(code, &[(GATE.0, &loose)], &[(1, "/privileged_sources_auto_promote_allowed")]);
}
