//! Bundles that are written to take long: many versions of one name, hashes that no version has, types that nobody knows, policies
//! that change with every row.
//! Owns: the rows. Must not: know why they would take long.

use countersign_govern::world::Draft;
use countersign_record::json;

/// A hash that nothing has.
const NOTHING: &str = "0000000000000000000000000000000000000000000000000000000000000000";

fn draft(kind: &str, id: Option<String>, record: &str) -> Draft {
    let record = json::parse(record.as_bytes()).unwrap_or_else(|error| panic!("{error}: {record}"));
    Draft { kind: kind.to_owned(), id, at: None, record }
}

/// A record of another type in turn, or all of the first and then all of the second.
fn halves(rows: usize, first: impl Fn(usize) -> Draft, second: impl Fn(usize) -> Draft) -> Vec<Draft> {
    (0..rows / 2).map(first).chain((0..rows / 2).map(second)).collect()
}

fn in_turn(rows: usize, first: impl Fn(usize) -> Draft, second: impl Fn(usize) -> Draft) -> Vec<Draft> {
    (0..rows / 2).flat_map(|at| [first(at), second(at)]).collect()
}

fn event(id: &str, at: usize) -> Draft {
    let text =
        format!(r#"{{"event_id":"{id}","run_id":"r","event_class":"gate_decision","event_seq":{at}}}"#);
    draft("RunBoardAuditEvent", None, &text)
}

fn post(at: usize, event: &str) -> Draft {
    let text = format!(
        r#"{{"post_id":"p{at}","source_event_id":"{event}","lifecycle_state":"active","redacted":false}}"#
    );
    draft("RunBoardVisiblePost", None, &text)
}

fn snapshot(at: usize) -> Draft {
    draft("PolicySnapshot", None, &format!(r#"{{"snapshot_id":"s","policy_refs":[],"at":{at}}}"#))
}

fn checkpoint(at: usize, to: &str) -> Draft {
    let text = format!(
        r#"{{"checkpoint_id":"k{at}","policy_snapshot_ref":"{to}","capability_snapshot_ref":"{to}"}}"#
    );
    draft("KnownGoodCheckpoint", None, &text)
}

fn verifier(at: usize) -> Draft {
    let text = format!(
        r#"{{"policy_id":"v{}","required_when_plan_risk_score_gte":0.{},"on_unavailable":"word{at}"}}"#,
        at % 100,
        at % 9 + 1
    );
    draft("PlanVerifierRequirementPolicy", None, &text)
}

fn rings(at: usize) -> Draft {
    let text = format!(
        r#"{{"outcome_id":"o{at}","run_id":"r","depends_on_outcome_ids":["o{}","o0"]}}"#,
        (at + 1) % 50_000
    );
    draft("OutcomeRecord", None, &text)
}

/// What each is called, and its rows.
pub(crate) fn cases(rows: usize) -> Vec<(&'static str, Vec<Draft>)> {
    let graph = |at: usize| {
        let text = format!(r#"{{"policy_id":"g","reject_declared_cycles":{}}}"#, at.is_multiple_of(2));
        draft("OutcomeDependencyGraphPolicy", None, &text)
    };
    let dispatch = |at: usize| {
        let text = format!(r#"{{"receipt_id":"d{at}","plan_id":"p","operation_kind":"dispatched"}}"#);
        draft("RevisionOperationReceipt", None, &text)
    };
    let gate = |at: usize| {
        draft("LibraryPromotionGate", None, &format!(r#"{{"gate_id":"g","min_tier":{}}}"#, at % 4))
    };
    let promoted = |at: usize| {
        let text = format!(
            r#"{{"receipt_id":"l{at}","candidate_id":"c","gate_ref":"library_promotion_gate:g","status":"promoted"}}"#
        );
        draft("LibraryPromotionReceipt", None, &text)
    };
    let strange = |at: usize| draft("Foo", Some(format!("x{at}")), "{}");
    vec![
        ("hostile: versions of one name", (0..rows).map(|at| event("e", at)).collect()),
        (
            "hostile: versions of one name in turn with what names it",
            in_turn(rows, |at| event("e", at), |at| post(at, "e")),
        ),
        ("hostile: names of many versions", halves(rows, snapshot, |at| checkpoint(at, "policy_snapshot:s"))),
        (
            "hostile: numbers of versions",
            halves(rows, snapshot, |at| checkpoint(at, &format!("policy_snapshot:s@{}", at + 1))),
        ),
        (
            "hostile: hashes that no version has",
            halves(rows, snapshot, |at| checkpoint(at, &format!("policy_snapshot:s#{NOTHING}"))),
        ),
        (
            "hostile: a type that nobody knows",
            halves(rows, strange, |at| checkpoint(at, &format!("foo:x{at}"))),
        ),
        (
            "hostile: versions of a type that nobody knows",
            halves(
                rows,
                |at| draft("Foo", Some("x".to_owned()), &format!(r#"{{"at":{at}}}"#)),
                |at| checkpoint(at, &format!("foo:x#{NOTHING}")),
            ),
        ),
        ("hostile: a ring under a policy that changes with every row", in_turn(rows, graph, rings)),
        ("hostile: plans under a policy that changes with every row", in_turn(rows, verifier, dispatch)),
        ("hostile: gates that change with every promotion", in_turn(rows, gate, promoted)),
    ]
}
