//! Bundles that are written to take long: many versions of one name, hashes that no version has, types that nobody knows, policies
//! that change with every row.
//! Owns: the rows. Must not: know why they would take long.

#[path = "relied.rs"]
mod relied;

use countersign_govern::world::Draft;
use countersign_record::json;
use std::borrow::ToOwned;
use std::string::String;
use std::vec::Vec;
use std::{format, vec};

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

/// One plan for many outcomes that is sent out again and again, in turn with calls that hold one of these and let the plan on.
fn held(rows: usize) -> Vec<Draft> {
    let outcomes = list(rows / 2, |at| format!("o{at}"));
    let plan =
        draft("RevisionPlan", None, &format!(r#"{{"plan_id":"p","run_id":"r","outcome_ids":{outcomes}}}"#));
    let call = |at: usize| {
        let text = format!(
            r#"{{"hard_call_id":"h{at}","run_id":"r","pending_policy":{{"blocking_scope":"outcome","blocked_refs":["outcome_record:o{at}"],"allowed_to_continue_refs":["revision_plan:p","s{at}"]}}}}"#
        );
        draft("HardRevisionCall", None, &text)
    };
    let step = |at: usize| {
        let text = format!(
            r#"{{"receipt_id":"s{at}","plan_id":"p","step_id":"s{at}","run_id":"r","operation_kind":"dispatched"}}"#
        );
        draft("RevisionOperationReceipt", None, &text)
    };
    [plan].into_iter().chain(in_turn(rows, call, step)).collect()
}

/// Round after round of the same: a call about an outcome, its answer, and a plan for that one and others that is sent out.
fn rounds(rows: usize) -> Vec<Draft> {
    let outcomes = list(20, |at| format!("o{at}"));
    let round = |at: usize| {
        let call = format!(
            r#"{{"hard_call_id":"h{at}","run_id":"r","pending_policy":{{"blocking_scope":"outcome","blocked_refs":["outcome_record:o0"],"allowed_to_continue_refs":[]}}}}"#
        );
        let answer = format!(
            r#"{{"receipt_id":"a{at}","hard_call_id":"h{at}","operation_kind":"hard_call_resolved","dispatcher_actor_ref":"engine:d","resolved_by_user_ref":"user:u","freeform_response_ref":"note:n"}}"#
        );
        let plan = format!(r#"{{"plan_id":"p{at}","run_id":"r","outcome_ids":{outcomes}}}"#);
        let sent = format!(
            r#"{{"receipt_id":"s{at}","plan_id":"p{at}","run_id":"r","operation_kind":"dispatched"}}"#
        );
        [
            draft("HardRevisionCall", None, &call),
            draft("HardCallResolutionReceipt", None, &answer),
            draft("RevisionPlan", None, &plan),
            draft("RevisionOperationReceipt", None, &sent),
        ]
    };
    (0..rows / 4).flat_map(round).collect()
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

/// A list of texts, in JSON.
fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    let items: Vec<String> = (0..count).map(|at| format!("\"{}\"", item(at))).collect();
    format!("[{}]", items.join(","))
}

/// Some rows, then as many as half of all.
fn behind(first: Vec<Draft>, rows: usize, other: impl Fn(usize) -> Draft) -> Vec<Draft> {
    first.into_iter().chain((0..rows / 2).map(other)).collect()
}

/// One packet with many items of guidance that change their states, assembled or used over and over.
fn packets(rows: usize, kind: &str) -> Vec<Draft> {
    let items: Vec<String> =
        (0..rows / 2).map(|at| format!(r#"{{"item_ref":"run_guidance_item_current:g{at}"}}"#)).collect();
    let packet = format!(r#"{{"packet_id":"k","run_id":"r","items":[{}]}}"#, items.join(","));
    let required = list(rows / 2, |at| format!("run_guidance_item_current:g{at}@1"));
    let request = format!(r#"{{"request_id":"q","required_item_refs":{required}}}"#);
    let receipt = r#"{"receipt_id":"a","request_id":"q","packet_ref":"task_run_context_packet:k","packet_status":"complete","invalidated_by_event_kinds":["TaskSkipReceipt"]}"#;
    let first = vec![
        draft("TaskRunContextPacketRequest", None, &request),
        draft("TaskRunContextPacket", None, &packet),
        draft("TaskRunContextPacketAssemblyReceipt", None, receipt),
    ];
    behind(first, rows, |at| match (kind, at % 4) {
        ("ContextPacketConsumption", 0) => {
            let state = if at % 8 == 0 { "contested" } else { "active" };
            let text = format!(r#"{{"receipt_id":"m{at}","guidance_id":"g{at}","to_state":"{state}"}}"#);
            draft("RunGuidanceLifecycleReceipt", None, &text)
        }
        ("ContextPacketConsumption", _) => {
            let text = r#"{"packet_ref":"task_run_context_packet:k","run_id":"r","task_id":"t"}"#;
            draft("ContextPacketConsumption", Some(format!("c{at}")), text)
        }
        _receipt => draft("TaskRunContextPacketAssemblyReceipt", Some(format!("a{at}")), receipt),
    })
}

/// Criteria of one configuration, and as many versions of it.
fn weighed(rows: usize, origin: &'static str) -> Vec<Draft> {
    let criterion = |at: usize| {
        let text =
            format!(r#"{{"criterion_id":"c{at}","config_id":"x","weight":1,"scoring_basis":"human_label"}}"#);
        draft("Criterion", None, &text)
    };
    let config = |at: usize| {
        let text = format!(
            r#"{{"config_id":"x","unanchored_llm_judgment_policy":"exclude","default_weight_policy":"{origin}","priority_weight_map":{{"should_have":{at}}}}}"#
        );
        draft("OutcomeComplianceScoringConfig", None, &text)
    };
    halves(rows, criterion, config)
}

/// One chain with many results that come and are disputed between its receipts.
fn resolved(rows: usize) -> Vec<Draft> {
    let (received, expected) = (list(rows / 4, |at| format!("r{at}")), list(rows / 4, |at| format!("p{at}")));
    let chain = format!(
        r#"{{"chain_id":"c","chain_kind":"pattern_c_evaluator_then_judge","run_id":"r","status":"open","expected_producers":{expected},"received_result_ids":{received}}}"#
    );
    let chain = draft("EvaluationChainRegistryRecord", None, &chain);
    let others = (0..rows / 4).flat_map(|at| {
        let result = format!(
            r#"{{"result_id":"r{at}","run_id":"r","producer_kind":"p{at}","target_evaluation_chain_id":"c","decision":{{"verdict":"passed"}}}}"#
        );
        let finding = format!(
            r#"{{"finding_id":"f{at}","result_id":"r{}","severity":"blocking","emitted_state":"active","blocking_authority":{{"satisfied":true}}}}"#,
            at / 2
        );
        let receipt = r#"{"chain_id":"c","result_ids_considered":["r0"]}"#;
        [
            draft("EvaluationResultEnvelope", None, &result),
            draft("EvaluationFindingEvent", Some(format!("e{at}")), &finding),
            draft("EvaluationChainResolutionReceipt", Some(format!("x{at}")), receipt),
        ]
    });
    [chain].into_iter().chain(others).collect()
}

/// One manifest of many inputs under many headers.
fn shown(rows: usize) -> Vec<Draft> {
    let refs = list(rows / 2, |at| format!("policy_evaluation:p{at}"));
    let manifest = draft(
        "ReadModelInputManifest",
        None,
        &format!(r#"{{"manifest_id":"m","input_refs":{refs},"input_manifest_hash":"{NOTHING}"}}"#),
    );
    let decision = |at: usize| {
        let text = format!(r#"{{"policy_evaluation_id":"p{at}","superseded_by":"p{at}"}}"#);
        draft("PolicyEvaluation", Some(format!("p{at}")), &text)
    };
    let header = |at: usize| {
        let text = format!(
            r#"{{"read_model_id":"h{at}","read_model_kind":"DecisionAuditView","input_manifest_ref":"read_model_input_manifest:m","valid_from_event_seq":{at},"run_id":"r"}}"#
        );
        draft("DerivedReadModelRecord", None, &text)
    };
    [manifest].into_iter().chain(halves(rows, decision, header)).collect()
}

/// A spec that names many records, and as many events and headers that it is about.
fn named(rows: usize) -> Vec<Draft> {
    let targets = list(rows / 2, |at| format!("derived_read_model_record:h{at}"));
    let spec = format!(
        r#"{{"producer_event_kind":"TaskSkipReceipt","invalidates_read_models":["TaskHealthCard"],"invalidation_scope":"specific_refs","target_refs":{targets}}}"#
    );
    let header = |at: usize| {
        let text = format!(
            r#"{{"read_model_id":"h{at}","read_model_kind":"TaskHealthCard","valid_from_event_seq":{},"run_id":"r"}}"#,
            at + 2
        );
        draft("DerivedReadModelRecord", None, &text)
    };
    let event = |at: usize| draft("TaskSkipReceipt", Some(format!("s{at}")), r#"{"run_id":"q"}"#);
    [draft("ReadModelInvalidationSpec", None, &spec)]
        .into_iter()
        .chain(in_turn(rows, header, event))
        .collect()
}

/// Costs that name one receipt, of which they are all parts.
fn summed(rows: usize) -> Vec<Draft> {
    let inputs = list(rows / 2, |at| format!("cost_vector:p{at}"));
    let receipt = draft(
        "FormulaEvaluationReceipt",
        None,
        &format!(r#"{{"receipt_id":"f","input_refs":{inputs},"output_ref":"cost_vector:p0"}}"#),
    );
    behind(vec![receipt], rows, |at| {
        let text = format!(
            r#"{{"cost_vector_id":"p{at}","components":{{"usd":{{"expected":1,"unit":"usd"}}}},"formula_eval_receipt_ref":"formula_evaluation_receipt:f"}}"#
        );
        draft("CostVector", None, &text)
    })
}

/// A gate of many suites, and as many claims between their runs; fixtures that are run as often.
fn gated(rows: usize) -> Vec<Draft> {
    let suites = list(rows / 4, |at| format!("validation_suite:s{at}"));
    let gate = format!(
        r#"{{"gate_id":"g","required_type_owner_registry_clean":true,"required_pending_absorption_rows_closed_or_degraded":true,"required_command_registry_entries_complete":true,"required_cross_doc_insert_obligations_absorbed_or_stubbed":true,"required_validation_suite_refs":{suites}}}"#
    );
    let others = (0..rows / 4).flat_map(|at| {
        let suite =
            format!(r#"{{"suite_run_id":"v{at}","suite_ref":"validation_suite:s{at}","passed":true}}"#);
        let fixture = format!(r#"{{"fixture_id":"x{at}","expected_validation_codes":[]}}"#);
        let run =
            format!(r#"{{"fixture_run_id":"y{at}","fixture_id":"x{at}","passed":true,"observed_codes":[]}}"#);
        let claim = format!(r#"{{"claim_id":"c{at}","gate_ref":"build_ready_gate:g"}}"#);
        [
            draft("ValidationSuiteRun", None, &suite),
            draft("AddendaBConformanceFixture", None, &fixture),
            draft("ConformanceFixtureRun", None, &run),
            draft("BuildReadyClaim", None, &claim),
        ]
    });
    [draft("BuildReadyGate", None, &gate)].into_iter().chain(others).collect()
}

/// One type, imported and declared by many documents, with claims between.
fn declared(rows: usize) -> Vec<Draft> {
    let entry = |at: usize| {
        let (status, owner) = if at == 0 { ("canonical", "DOC12") } else { ("imported", "DOC12") };
        let text = format!(
            r#"{{"type_name":"T","canonical_owner_doc":"{owner}","status":"{status}","imported_by_docs":["d{at}"]}}"#
        );
        draft("TypeOwnerRegistryEntry", None, &text)
    };
    let declaration = |at: usize| {
        let text = format!(r#"{{"type_name":"T","declared_in_doc":"d{at}","declared_as":"copied"}}"#);
        match at % 2 {
            0 => draft("TypeDeclaration", Some(format!("t{at}")), &text),
            _odd => draft("BuildReadyClaim", Some(format!("c{at}")), r#"{"gate_ref":"build_ready_gate:g"}"#),
        }
    };
    in_turn(rows, entry, declaration)
}

/// Rows in which one has many entries and many others name it.
fn fat(rows: usize) -> Vec<(&'static str, Vec<Draft>)> {
    vec![
        ("hostile: a packet of many items, used again and again", packets(rows, "ContextPacketConsumption")),
        ("hostile: a packet of many items, assembled again and again", packets(rows, "")),
        ("hostile: criteria and versions of one configuration", weighed(rows, "uniform")),
        ("hostile: criteria under weights that change with every version", weighed(rows, "from_priority")),
        ("hostile: a chain of many results, resolved again and again", resolved(rows)),
        ("hostile: headers of one manifest", shown(rows)),
        ("hostile: events of a spec that names many records", named(rows)),
        ("hostile: parts of one sum that name its receipt", summed(rows)),
        ("hostile: claims on a gate of many suites", gated(rows)),
        ("hostile: documents that import and declare one type", declared(rows)),
        ("hostile: packets to rely on that cite one snapshot", relied::by_snapshot(rows)),
        ("hostile: packets to rely on of a run with many blockers", relied::by_blockers(rows)),
        ("hostile: packets to rely on of a run that gave up many outcomes", relied::by_outcomes(rows)),
        ("hostile: packets to rely on that cite one chain and one package", relied::by_chain(rows)),
    ]
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
    let mut cases = vec![
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
        ("hostile: hard calls about one outcome each of a plan for many", held(rows)),
        ("hostile: round after round of a hard call, its answer and a plan", rounds(rows)),
        ("hostile: receipts and places of one claim", claimed(rows)),
    ];
    cases.extend(fat(rows));
    cases
}
