//! What a run begins with: policies, criteria, outcomes, as the task asks for them.
//! Owns: what these records must be. Must not: judge the task.

use crate::case::Case;
use crate::cost;
use crate::found::{Found, texts};
use crate::question;
use crate::report::{Check, Place};
use crate::task::{Criterion, Outcome, decimal};
use crate::walk::Walk;
use crate::workspace;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::decide::replay::is_query;
use countersign_govern::derive::text;
use countersign_govern::formula::registry;
use countersign_govern::member::Member;
use countersign_govern::table::emission;
use countersign_govern::types::basic::TaintClass;
use countersign_govern::types::externalization::WorkspaceExternalizationKind as Kind;
use countersign_govern::types::wire::Wire;
use countersign_govern::world::Record;
use countersign_record::code::Code;
use countersign_record::json::{Json, Number, Object};

const CHECK: Check = Check::Task;

/// A record of a run's beginning is what the task makes it.
pub(crate) fn check<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let case = walk.case;
    let expected = match record.kind() {
        "Criterion" => criterion(case, record),
        "CriterionIdentityFields" => words(case, record),
        "OutcomeComplianceScoringConfig" => config(case, record),
        "OutcomeRecord" => outcome(case, record),
        "EvaluationChainResolutionPolicy" => Some(chain(case)),
        "ClaimSupportDerivationPolicy" => Some(claims(case, record)),
        "TaintAggregationPolicy" => Some(taint(case)),
        "SufficiencyDetectionPolicy" => Some(sufficiency(case)),
        "OutcomeDependencyGraphPolicy" => Some(graph(case)),
        "FeedbackRoutingResolutionPolicy" => Some(routing(case)),
        "FeedbackEmissionMatrixEntry" => emits(case, record),
        "PolicySnapshot" => Some(snapshot(case)),
        "PlanVerifierRequirementPolicy" => Some(plan_verifier(case)),
        "SubAgentCoordinationProfile" => Some(sub_agents(case)),
        "RunBoardPublicationPolicy" => Some(board(case)),
        "ForumDeliberationPolicy" => forum(case),
        "WorkspaceExternalizationPolicy" => leaving(case, record),
        "FormulaSpec" => formula(record),
        "PolicyEvaluation" => leave(case, record),
        _payload => Some(workspace::registered()),
    };
    if record.kind() == "OutcomeRecord" {
        // Whether the task insists on it is written where it does not.
        let outcome = case.task.outcome(case.local(record.id()));
        let is_optional = outcome.is_some_and(|one| !one.is_required());
        found.must(CHECK, record, "required", is_optional.then_some(Json::Bool(false)));
    }
    match expected {
        Some(expected) => found.must_have(CHECK, record, &expected),
        None => found.about(Code::VerifyDerivation, CHECK, record, "", "the task asks for no such thing"),
    }
}

fn criterion(case: &Case<'_>, record: Record<'_>) -> Option<Object> {
    let criterion = case.task.criterion(case.local(record.id()))?;
    let outcome = case.task.outcomes().find(|one| one.criteria().any(|own| own.id() == criterion.id()))?;
    Some(Object::from([
        ("scoring_basis", Json::from(criterion.basis())),
        ("weight", criterion.weight()),
        ("priority", criterion.priority().into()),
        ("required", criterion.is_required().into()),
        ("threshold", criterion.threshold()),
        ("config_id", case.own(&format!("{}.scoring", outcome.id())).into()),
    ]))
}

fn words(case: &Case<'_>, record: Record<'_>) -> Option<Object> {
    let id = record.json().text("criterion_id")?;
    let criterion: Criterion<'_> = case.task.criterion(case.local(id))?;
    let before = case.until("CriterionIdentityFields", record.seq());
    let before = before.filter(|one| one.json().is("criterion_id", id)).count();
    let reviews = case.until("CriterionSemanticReviewReceipt", record.seq());
    let review = reviews.filter(|one| one.json().is("criterion_id", id)).last();
    let review = review.map(|one| format!("criterion_semantic_review_receipt:{}", one.id()));
    Some(Object::from([
        ("criterion_text_hash", String::from(text::hash(criterion.text())).into()),
        ("criterion_semantics_version", (before + 1).to_string().into()),
        ("semantic_review_receipt_ref", review.map_or(Json::Null, Json::from)),
    ]))
}

fn number(value: u32) -> Json {
    Json::Number(Number::from(value))
}

fn config(case: &Case<'_>, record: Record<'_>) -> Option<Object> {
    let outcome = case.task.outcome(case.local(record.json().text("outcome_id")?))?;
    let criteria: Vec<String> =
        outcome.criteria().map(|one| format!("criterion:{}", case.own(one.id()))).collect();
    let weights =
        Object::from([("must_have", number(3)), ("should_have", number(2)), ("nice_to_have", number(1))]);
    Some(Object::from([
        ("config_id", case.own(&format!("{}.scoring", outcome.id())).into()),
        ("unanchored_llm_judgment_policy", counted(case, outcome, record).into()),
        ("default_weight_policy", outcome.weights().into()),
        ("priority_weight_map", weights.into()),
        ("positive_observation_required", true.into()),
        ("criterion_refs", texts(&criteria)),
    ]))
}

/// What counts of judgments that rest on nothing: where a person is to answer for them they are left out until then, unless nothing
/// else that counts would be left.
fn counted<'p>(case: &Case<'p>, outcome: Outcome<'p>, record: Record<'_>) -> &'p str {
    let said = outcome.unanchored();
    let is_first = case.before("OutcomeComplianceScoringConfig", record.id(), record.seq()).is_none();
    let counts = |one: Criterion<'_>| one.basis() != "unanchored_llm_judgment" && outcome.counts(one);
    let has_others = outcome.criteria().any(counts);
    match said {
        "indeterminate" if is_first && has_others => "exclude",
        "indeterminate" => "include_with_audit_flag",
        _said => said,
    }
}

fn outcome(case: &Case<'_>, record: Record<'_>) -> Option<Object> {
    let outcome = case.task.outcome(case.local(record.id()))?;
    let upstream: Vec<String> = outcome.depends_on().iter().map(|other| case.own(other)).collect();
    Some(Object::from([("depends_on_outcome_ids", texts(&upstream)), ("state", "pending".into())]))
}

fn chain(case: &Case<'_>) -> Object {
    let none: [&str; 0] = [];
    Object::from([
        ("policy_id", case.own("policy.chain").into()),
        ("chain_kind", "pattern_c_evaluator_then_judge".into()),
        ("qualitative_blockers_survive_numeric_pass", true.into()),
        ("judge_can_override_evaluator", false.into()),
        ("override_allowed_only_for_finding_states", texts(&none)),
        ("route_precedence", "blocking_qualitative_first".into()),
        ("disagreement_route", case.task.policy_word("chain.disagreement", "human_review").into()),
    ])
}

/// What counts as support, as the task says; once a person said which source counts, that one is weighed more.
fn claims(case: &Case<'_>, record: Record<'_>) -> Object {
    let task = case.task;
    let is_first = case.before("ClaimSupportDerivationPolicy", record.id(), record.seq()).is_none();
    let is_weighed = !is_first && question::preferred(case, record.seq()).is_some();
    let contradiction = match is_weighed {
        true => "weighted_by_authority",
        false => task.policy_word("claim_support.contradiction", "any_direct_contradiction_controls"),
    };
    let allows = contradiction == "weighted_by_authority"
        || task.policy_flag("claim_support.allow_contradicting", false);
    let required = Object::from([
        ("min_direct_supporting_anchors", task.policy_number("claim_support.direct_min", "1")),
        ("require_verified_source", task.policy_flag("claim_support.require_verified", true).into()),
        ("allow_stale_source", task.policy_flag("claim_support.allow_stale", false).into()),
        ("allow_contradicting_anchor", allows.into()),
    ]);
    let partial = task.policy_word("claim_support.partial", "any_indirect_or_contextual_anchor");
    Object::from([
        ("policy_id", case.own("policy.claim-support").into()),
        ("required_for_supported", required.into()),
        ("partial_support_rule", partial.into()),
        ("contradiction_rule", contradiction.into()),
        ("formula_ref", "formula_spec:claim_support_v1".into()),
    ])
}

fn taint(case: &Case<'_>) -> Object {
    Object::from([
        ("policy_id", case.own("policy.taint").into()),
        ("workspace_taint_rule", "max_taint".into()),
        ("any_privileged_record_marks_workspace_privileged", true.into()),
        ("matter_scope_rule", "max_scope_within_matter_only".into()),
    ])
}

fn sufficiency(case: &Case<'_>) -> Object {
    let task = case.task;
    Object::from([
        ("policy_id", case.own("policy.sufficiency").into()),
        ("min_attempts_before_no_improvement", task.policy_number("sufficiency.attempts_min", "2")),
        ("no_improvement_window", task.policy_number("sufficiency.window", "2")),
        ("improvement_metric_ref", "formula_spec:quality_index_v1".into()),
        ("epsilon", task.policy_number("sufficiency.epsilon", "0.01")),
        ("max_total_attempts", task.policy_number("sufficiency.attempts_max", "4")),
        ("procedure_universe_scope", "declared_applicable".into()),
        ("require_capability_snapshot", true.into()),
        ("require_policy_snapshot", true.into()),
        ("require_attempt_signature_hash", true.into()),
    ])
}

fn graph(case: &Case<'_>) -> Object {
    Object::from([
        ("policy_id", case.own("policy.graph").into()),
        ("reject_declared_cycles", true.into()),
        ("on_cycle_detected", "hard_call".into()),
        ("terminal_upstream_failure_cascades_immediately", true.into()),
        ("pending_dependency_state_entry_rechecks_upstream_failure", true.into()),
    ])
}

/// Where feedback goes, the gravest first.
const BRANCHES: [&str; 9] = [
    "on_blocked_by_policy",
    "on_unrecoverable",
    "on_repeated_failure",
    "on_upstream_failure",
    "on_needs_human_judgment",
    "on_needs_more_sources",
    "on_needs_source_verification",
    "on_needs_revision",
    "on_satisfied",
];

fn routing(case: &Case<'_>) -> Object {
    let handlers: Object = BRANCHES.iter().map(|branch| (*branch, texts(&["module:revisor"]))).collect();
    Object::from([
        ("policy_id", case.own("policy.routing").into()),
        ("branch_order", texts(&BRANCHES)),
        ("branch_handlers", handlers.into()),
        ("fire_policy", "all_matching_with_idempotency".into()),
        ("duplicate_suppression_window_ms", number(60_000)),
    ])
}

/// The matrix of what is sent out is the built in one.
fn emits(case: &Case<'_>, record: Record<'_>) -> Option<Object> {
    let row = emission::matrix().find(|row| {
        record.id() == case.own(&format!("emits.{}.{}", row.producer.as_str(), row.verdict.as_str()))
    })?;
    Some(Object::from([
        ("producer_kind", Json::from(row.producer.as_str())),
        ("verdict", row.verdict.as_str().into()),
        ("emits_envelope", row.emits_envelope.into()),
        ("emits_feedback_bundle", row.bundle.as_str().into()),
    ]))
}

fn snapshot(case: &Case<'_>) -> Object {
    let named = [
        ("evaluation_chain_resolution_policy", "chain"),
        ("claim_support_derivation_policy", "claim-support"),
        ("taint_aggregation_policy", "taint"),
        ("sufficiency_detection_policy", "sufficiency"),
        ("plan_verifier_requirement_policy", "plan-verifier"),
        ("outcome_dependency_graph_policy", "graph"),
        ("feedback_routing_resolution_policy", "routing"),
        ("run_board_publication_policy", "board"),
    ];
    Object::from([("policy_refs", workspace::policies(case, &named))])
}

/// What evaluator and judge talk over a decision by; a task that says nothing of it gives them no room.
fn forum(case: &Case<'_>) -> Option<Object> {
    let task = case.task;
    task.has_policy("forum").then(|| {
        Object::from([
            ("max_deliberation_ticks", task.policy_number("forum.ticks_max", "3")),
            ("consensus_threshold_pct", task.policy_number("forum.consensus_pct", "67")),
            ("on_no_consensus", task.policy_word("forum.no_consensus", "forum_deadlock_hard_call").into()),
        ])
    })
}

/// When a plan must be looked at before it is carried out.
fn plan_verifier(case: &Case<'_>) -> Object {
    Object::from([
        ("policy_id", case.own("policy.plan-verifier").into()),
        ("required_when_plan_risk_score_gte", decimal("0.7")),
        ("required_for_external_side_effects", true.into()),
        ("required_for_privileged_meaning_bearing_revisions", true.into()),
        ("on_unavailable", "hard_call".into()),
    ])
}

/// What others do for a run: they verify plans, else its own module does.
fn sub_agents(case: &Case<'_>) -> Object {
    let none: [&str; 0] = [];
    let fallback = Object::from([
        ("coordination_point", Json::from("plan_verifier")),
        ("on_no_sub_agent", "use_primary_module".into()),
        ("schema_version", "1.0".into()),
    ]);
    Object::from([
        ("profile_id", case.own("sub-agents").into()),
        ("allowed_coordination_points", texts(&["plan_verifier"])),
        ("output_contract_refs", texts(&none)),
        ("fallback_policies", Json::Array(Vec::from([fallback.into()]))),
    ])
}

/// What is told on the board of a run.
const PUBLISHED: [&str; 7] = [
    "artifact_event",
    "side_effect_event",
    "error_retry",
    "gate_decision",
    "evaluation_finding",
    "source_update",
    "run_lifecycle",
];
/// Posts of a run, and of a minute of it.
const POSTS_MAX: u32 = 500;

fn board(case: &Case<'_>) -> Object {
    Object::from([
        ("policy_id", case.own("policy.board").into()),
        ("auto_publish_event_classes", texts(&PUBLISHED)),
        ("max_visible_posts_per_run", number(POSTS_MAX)),
        ("suppress_data_classes", texts(&["privileged", "local_only"])),
        ("publish_redacted_stub_when_suppressed", true.into()),
        ("rate_limit_per_minute", number(POSTS_MAX)),
    ])
}

/// What may leave by one way out, as the task says; where it says nothing, if a person confirms it.
fn leaving(case: &Case<'_>, record: Record<'_>) -> Option<Object> {
    let local = case.local(record.id()).strip_prefix("leave.")?;
    let kind = Kind::find(local)?;
    let leave = case.task.policy_word(&format!("externalization.{local}"), "confirm");
    let classes: &[&str] = match leave {
        "never" => &[],
        "free" => &["public", "internal"],
        _confirm => &["public", "internal", "privileged"],
    };
    let taints: Vec<&str> = TaintClass::ALL.iter().map(|one| one.as_str()).collect();
    let is_query = is_query(kind);
    let cap = format!("cost_vector:{}", case.own("leave.cap"));
    Some(Object::from([
        ("externalization_kind", Json::from(local)),
        ("requires_user_confirmation", (leave != "free").into()),
        ("requires_redaction_preview", (leave == "confirm" && !is_query).into()),
        ("allowed_data_classes", texts(classes)),
        ("allowed_taint_classes", texts(&taints)),
        ("max_cost_vector_ref", if is_query { cap.into() } else { Json::Null }),
        ("provider_logging_warning_required", is_query.into()),
        ("receipt_required", true.into()),
        ("replay_policy", if is_query { "reuse_recorded_only" } else { "never" }.into()),
        ("warning_text", "What leaves can't be taken back.".into()),
    ]))
}

/// A formula is as it is registered.
fn formula(record: Record<'_>) -> Option<Object> {
    let spec = registry::find(record.id())?.record()?.write()?;
    spec.as_object().cloned()
}

/// The leave that a run goes by; what else a policy decides is its own word.
fn leave(case: &Case<'_>, record: Record<'_>) -> Option<Object> {
    let (policy, decision) = match (record.id() == case.own("leave"), cost::is_warning(case, record)) {
        (true, _) => (case.task.id(), "allow"),
        (false, true) => ("task.budget", "warn"),
        (false, false) => return Some(Object::new()),
    };
    Some(Object::from([
        ("policy_id", Json::from(policy)),
        ("policy_version", "1.0".into()),
        ("decision", decision.into()),
        ("user_alterable", false.into()),
        ("superseded_by", Json::Null),
    ]))
}

/// Everything that the task asks for has its record.
pub(crate) fn complete(case: &Case<'_>, found: &mut Found) {
    let mut all: Vec<(&str, String)> = Vec::new();
    for outcome in case.task.outcomes() {
        all.push(("OutcomeRecord", case.own(outcome.id())));
        all.push(("OutcomeComplianceScoringConfig", case.own(&format!("{}.scoring", outcome.id()))));
        for criterion in outcome.criteria() {
            all.push(("Criterion", case.own(criterion.id())));
            all.push(("CriterionIdentityFields", case.own(criterion.id())));
        }
    }
    for source in case.task.sources().filter(|one| one.tier() > 0) {
        all.push(("SourceRecord", case.own(source.id())));
    }
    for (kind, id) in all {
        match case.world.find(kind, &id) {
            Some(_) => found.right(Check::Completeness),
            None => {
                let place = Place { record: Some(format!("{kind} {id}")), ..Place::default() };
                let message = "the task asks for it, and there is no record of it".to_string();
                found.wrong(Code::VerifyIncomplete, Check::Completeness, place, message);
            }
        }
    }
}
