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

fn end(at: usize) -> Draft {
    let text = format!(
        r#"{{"detection_id":"d{at}","outcome_id":"o{at}","run_id":"r","no_sufficient_procedure":true}}"#
    );
    draft("SufficiencyDetectionResult", None, &text)
}

/// Attempts that name only their run, behind as many ends in that.
fn tried(rows: usize) -> Vec<Draft> {
    let attempt = |at: usize| {
        draft("ProcedureAttemptRecord", None, &format!(r#"{{"attempt_id":"a{at}","run_id":"r"}}"#))
    };
    halves(rows, end, attempt)
}

/// One plan with as many outcomes as it is sent out.
fn sent(rows: usize) -> Vec<Draft> {
    let outcomes: Vec<String> = (0..rows / 2).map(|at| format!(r#""o{at}""#)).collect();
    let plan = format!(r#"{{"plan_id":"p","run_id":"r","outcome_ids":[{}]}}"#, outcomes.join(","));
    let plan = draft("RevisionPlan", None, &plan);
    let sent = |at: usize| {
        let text = format!(r#"{{"receipt_id":"s{at}","plan_id":"p","operation_kind":"dispatched"}}"#);
        draft("RevisionOperationReceipt", None, &text)
    };
    [plan].into_iter().chain(in_turn(rows, end, sent)).collect()
}

/// Edges into one record, and as many nodes that it came out of.
fn cleaned(rows: usize) -> Vec<Draft> {
    let source = draft("SourceRecord", None, r#"{"source_id":"s","taint_class":"external_untrusted"}"#);
    let node = |at: usize| {
        let text = format!(
            r#"{{"node_id":"n{at}","input_taint":"external_untrusted","output_taint":"user_trusted_bounded","evidence_ref":"note:t","input_ref":"src:x{at}","output_ref":"src:s"}}"#
        );
        draft("SanitizationNode", None, &text)
    };
    let edge = |_| draft("DerivationEdge", None, r#"{"output_ref":"src:s","input_refs":["src:s"]}"#);
    [source].into_iter().chain(halves(rows, node, edge)).collect()
}

/// Calls that nobody answered and that let a plan on, and as many steps of that plan.
fn let_on(rows: usize, allowed: &'static str) -> Vec<Draft> {
    let call = |at: usize| {
        let text = format!(
            r#"{{"hard_call_id":"h{at}","run_id":"r","pending_policy":{{"blocking_scope":"entire_run","blocked_refs":[],"allowed_to_continue_refs":["{allowed}"]}}}}"#
        );
        draft("HardRevisionCall", None, &text)
    };
    let step = |at: usize| {
        let text = format!(
            r#"{{"receipt_id":"s{at}","plan_id":"p","step_id":"s{at}","run_id":"r","operation_kind":"dispatched"}}"#
        );
        draft("RevisionOperationReceipt", None, &text)
    };
    in_turn(rows, call, step)
}

/// One claim with as many receipts as places that bear on it.
fn claimed(rows: usize) -> Vec<Draft> {
    let policy = draft(
        "ClaimSupportDerivationPolicy",
        None,
        r#"{"policy_id":"p","required_for_supported":{"min_direct_supporting_anchors":1,"require_verified_source":true,"allow_stale_source":false,"allow_contradicting_anchor":false},"partial_support_rule":"any_indirect_or_contextual_anchor","contradiction_rule":"any_direct_contradiction_controls"}"#,
    );
    let anchor = |at: usize| {
        let text = format!(
            r#"{{"anchor_id":"a{at}","source_record_ref":"src:s{at}","supports_claim_refs":["claim:a/c"],"support_strength":"direct"}}"#
        );
        draft("SourceEvidenceAnchor", None, &text)
    };
    let receipt = |at: usize| {
        let text = format!(
            r#"{{"receipt_id":"r{at}","claim_ref":"claim:a/c","policy_ref":"p","derived_support_status":"indeterminate_stale_or_unverified"}}"#
        );
        draft("ClaimSupportDerivationReceipt", None, &text)
    };
    [policy].into_iter().chain(in_turn(rows, anchor, receipt)).collect()
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
        ("hostile: attempts at anything of a run", tried(rows)),
        ("hostile: a plan for many outcomes, sent out again and again", sent(rows)),
        ("hostile: edges and nodes of one record", cleaned(rows)),
        ("hostile: hard calls that let their run on", let_on(rows, "r")),
        ("hostile: hard calls that let a plan on", let_on(rows, "revision_plan:p")),
        ("hostile: receipts and places of one claim", claimed(rows)),
    ]
}
