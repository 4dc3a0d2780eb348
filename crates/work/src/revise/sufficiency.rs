//! Whether another attempt makes sense, and what becomes of an outcome for which none does.
//! Owns: what triggers that, the detection with its receipts, the records that its route asks for. Must not: choose the route; the
//! formula does.

use super::attempt::{self, attempts, since};
use super::way::{Candidate, Left, Way, candidates, outcome_ref, procedure};
use super::{Budget, Means};
use crate::call;
use crate::desk::{Desk, Error, From, reference};
use crate::evaluate::Head;
use crate::finding::{self, Known};
use crate::names::{Policy, ROUTER};
use crate::outcome;
use crate::research;
use crate::task::Outcome;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::derive::sufficiency::{
    Ending, Improvement, Known as Besides, OnCycle, Scored, improvement, route,
};
use countersign_govern::types::added::policy::{CapabilitySnapshot, CapabilityState};
use countersign_govern::types::added::repair::{TaskProcessGapSignal, VerificationRequestStep};
use countersign_govern::types::anchor::StructuredAnchor;
use countersign_govern::types::basic::{
    ArtifactScopeRef, CalibratedScore, CapabilityRef, RepairTarget, RepairTargetKind, ScopeAnchor,
    StorageRef, V10,
};
use countersign_govern::types::chain::EvaluationResultEnvelope;
use countersign_govern::types::finding::{
    FindingLifecycleTransitionReceiptTransitionReason as FindingReason, FindingState,
};
use countersign_govern::types::outcome::OutcomeEvaluationState as State;
use countersign_govern::types::sufficiency::{
    CandidateRepairProcedure, CandidateRepairProcedureInapplicableReason as Reason,
    CapabilityCoverageAssessment, CapabilityCoverageAssessmentCoverageState as Coverage,
    CapabilityCoverageAssessmentGap as Gap, CapabilityCoverageAssessmentGapGapKind as GapKind,
    ProcedureAttemptRecord, SufficiencyDetectionResult, SufficiencyTerminalRoute as Route,
    SufficiencyTrigger as Trigger,
};
use countersign_govern::types::wire::Wire;
use countersign_record::json::{Json, Object};

/// What a look at what is left came to.
pub(crate) enum Found {
    /// These ways can be taken.
    Open(Vec<Way>),
    /// Nothing that may be tried will do.
    Ended,
}

/// Looks whether something is left that may mend an outcome. Where nothing is, that is written down with all that follows, and the
/// outcome is to be looked at again.
pub(crate) fn detect(
    desk: &mut Desk,
    outcome: &Outcome,
    head: &Head<'_>,
    means: &Means<'_>,
) -> Result<Found, Error> {
    let coverage = assess(desk, outcome)?;
    let mut universe = candidates(desk, outcome, head, since(desk, &outcome.id))?;
    let (triggers, known) = triggered(desk, outcome, &mut universe, coverage.state, means);
    let Some(ending) = route(&triggers, &known) else {
        let open = universe.into_iter().filter(|one| one.left == Left::Open).map(|one| one.way);
        return Ok(Found::Open(open.collect()));
    };
    let mut need = None;
    if ending.route == Route::NeedsInformation {
        let question = question(desk, outcome, head);
        need = Some(research::for_outcome(desk, head.artifact, &question)?);
    }
    let sources = doubtful(&universe);
    let detected = Detected { triggers, known, ending, universe, need };
    let detection = record(desk, outcome, head, detected, &coverage.reference)?;
    follow(desk, outcome, head, ending, &detection, (&sources, &coverage.gaps))?;
    outcome::go(desk, &outcome.id, State::Dirty, "nothing that may be tried will do", None)?;
    Ok(Found::Ended)
}

/// What asks the sources for what an outcome lacks.
fn question(desk: &Desk, outcome: &Outcome, head: &Head<'_>) -> String {
    let section = outcome.section.as_deref().unwrap_or_default();
    let drafted = desk.task().artifact(head.artifact).and_then(|one| one.section(section));
    drafted.map_or(&outcome.statement, |one| &one.ask).clone()
}

/// The sources that only a person can verify.
fn doubtful(universe: &[Candidate]) -> Vec<String> {
    let source = |one: &Candidate| match &one.way {
        Way::Verify(source) => Some(source.clone()),
        Way::Search(_)
        | Way::Section { .. }
        | Way::Cite(_)
        | Way::Without(_)
        | Way::Repair
        | Way::Rewrite => None,
    };
    universe.iter().filter_map(source).collect()
}

/// What speaks for giving up, and what is known besides.
fn triggered(
    desk: &Desk,
    outcome: &Outcome,
    universe: &mut [Candidate],
    coverage: Coverage,
    means: &Means<'_>,
) -> (Vec<Trigger>, Besides) {
    let policy = desk.task().policies().sufficiency();
    let from = since(desk, &outcome.id);
    let tried: Vec<ProcedureAttemptRecord> =
        attempts(desk, &outcome.id).into_iter().filter(|(seq, _)| *seq > from).map(|(_, one)| one).collect();
    let is_at_cap = tried.len() as u64 >= policy.attempts_max();
    let has = |universe: &[Candidate], left: Left| universe.iter().any(|one| one.left == left);
    let mut triggers = Vec::new();
    match coverage {
        Coverage::Covered => {}
        Coverage::PartiallyCovered | Coverage::NotCovered => {
            triggers.push(Trigger::NoCapabilityCoversOutcome)
        }
        Coverage::CoveredButUnhealthy => triggers.push(Trigger::CapabilityUnavailableOrUnhealthy),
    }
    match means.budget {
        Budget::Left => {}
        Budget::Spent => triggers.push(Trigger::BudgetCapPreventsMinimalSufficientAttempt),
    }
    let is_unhelpful = is_at_cap || is_in_vain(&tried, &policy);
    if is_unhelpful && is_scored(&tried, policy.window()) {
        triggers.push(Trigger::MaxAttemptsWithoutMaterialScoreImprovement);
    } else if is_at_cap {
        // Without scores nobody can say that nothing improved; but what may be tried has been.
        universe.iter_mut().filter(|one| one.left == Left::Open).for_each(|one| one.left = Left::Used);
    }
    if !has(universe, Left::Open) {
        triggers.push(Trigger::AllPolicyAllowedProceduresExhausted);
        if has(universe, Left::Not(Reason::RequiresMissingEvidence)) {
            triggers.push(Trigger::EvidenceInsufficientToProceed);
        }
        if has(universe, Left::Not(Reason::UnsafeWithoutHuman)) {
            triggers.push(Trigger::VerificationUnresolvable);
        }
        if has(universe, Left::Identical) {
            triggers.push(Trigger::IdenticalOutputLoopDetected);
        }
    }
    let known = Besides {
        policy_is_alterable: false,
        has_information_route: true,
        has_other_verifier: false,
        precondition_is_information: false,
        on_cycle: OnCycle::HardCall,
        has_variation_left: false,
        has_unlockable_candidate: has(universe, Left::Not(Reason::UnsafeWithoutHuman)),
        attempts: tried.len() as u64,
        attempts_max: policy.attempts_max(),
    };
    triggers.sort_unstable();
    (triggers, known)
}

fn scored(attempt: &ProcedureAttemptRecord) -> Scored {
    let value = |score: &Option<CalibratedScore>| score.as_ref().map(|score| score.value.as_f64());
    Scored { before: value(&attempt.score_before), after: value(&attempt.score_after) }
}

/// Whether the last attempts have scores before and after.
fn is_scored(tried: &[ProcedureAttemptRecord], window: u64) -> bool {
    let window = usize::try_from(window).unwrap_or(usize::MAX);
    !tried.is_empty()
        && tried.iter().rev().take(window).all(|one| one.score_before.is_some() && one.score_after.is_some())
}

/// Whether the last attempts did not make it better.
fn is_in_vain(tried: &[ProcedureAttemptRecord], policy: &crate::task::SufficiencyPolicy) -> bool {
    let count = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let all: Vec<Scored> = tried.iter().map(scored).collect();
    let found =
        improvement(&all, count(policy.attempts_min()), count(policy.window()), policy.epsilon().as_f64());
    found == Improvement::NoneMaterial
}

/// Whether those who are needed for an outcome are there.
struct Assessed {
    state: Coverage,
    reference: StorageRef,
    gaps: Vec<CapabilityRef>,
}

fn assess(desk: &mut Desk, outcome: &Outcome) -> Result<Assessed, Error> {
    let snapshot: Option<CapabilitySnapshot> = desk.find("CapabilitySnapshot", &desk.own("capabilities"));
    let offers: Vec<CapabilityState> = snapshot.map(|one| one.capabilities).unwrap_or_default();
    let plain = |id: &String| CapabilityRef { capability_id: id.clone(), min_version: None };
    let required: Vec<CapabilityRef> = outcome.capabilities.iter().flatten().map(plain).collect();
    let gap = |one: &CapabilityRef| {
        let own = || offers.iter().filter(|offer| offer.capability_id == one.capability_id);
        let gap_kind = match own().map(|offer| offer.healthy).max() {
            None => GapKind::Missing,
            Some(false) => GapKind::Unhealthy,
            Some(true) => return None,
        };
        Some(Gap { required_capability_ref: one.clone(), gap_kind, evidence_ref: None })
    };
    let gaps: Vec<Gap> = required.iter().filter_map(gap).collect();
    let available = offers.iter().map(|one| CapabilityRef {
        capability_id: one.capability_id.clone(),
        min_version: Some(one.version.clone()),
    });
    let assessment_id = desk.id("coverage");
    let coverage = reference("CapabilityCoverageAssessment", &assessment_id)?;
    let snapshot = desk.capability_snapshot()?;
    let from = From {
        formula: "capability_coverage_v1",
        inputs: Object::from([
            ("required_capabilities", required.write().unwrap_or(Json::Null)),
            ("available_capabilities", offers.write().unwrap_or(Json::Null)),
        ]),
        input_refs: Vec::from([snapshot.clone()]),
        output_ref: coverage.clone(),
    };
    let derived = desk.derive_member(from, "coverage_state")?;
    let word = derived.value.get("coverage_state").and_then(Json::as_str).unwrap_or_default();
    let state = Coverage::find(word).ok_or_else(|| Error::Missing("coverage".to_string()))?;
    desk.put(&CapabilityCoverageAssessment {
        assessment_id,
        outcome_id: desk.own(&outcome.id),
        capability_snapshot_ref: snapshot,
        required_capabilities: required,
        available_capabilities: available.collect(),
        coverage_state: state,
        gaps: gaps.clone(),
        schema_version: V10,
    })?;
    let gaps = gaps.into_iter().map(|gap| gap.required_capability_ref).collect();
    Ok(Assessed { state, reference: coverage, gaps })
}

/// What was detected.
struct Detected {
    triggers: Vec<Trigger>,
    known: Besides,
    ending: Ending,
    universe: Vec<Candidate>,
    need: Option<String>,
}

/// Writes the detection, with a receipt for each value of it that a formula gives.
fn record(
    desk: &mut Desk,
    outcome: &Outcome,
    head: &Head<'_>,
    detected: Detected,
    coverage: &StorageRef,
) -> Result<StorageRef, Error> {
    let Detected { triggers, known, ending, universe, need } = detected;
    let detection_id = desk.id("detection");
    let detection = reference("SufficiencyDetectionResult", &detection_id)?;
    let inputs = Object::from([
        ("triggered_by", triggers.write().unwrap_or(Json::Null)),
        ("known", besides(&known).into()),
    ]);
    let input_refs =
        Vec::from([coverage.clone(), outcome_ref(desk, &outcome.id)?, desk.policy_ref(Policy::Sufficiency)?]);
    for member in ["no_sufficient_procedure", "hard_call_required", "terminal_route"] {
        let from = From {
            formula: "sufficiency_route_v1",
            inputs: inputs.clone(),
            input_refs: input_refs.clone(),
            output_ref: detection.clone(),
        };
        desk.derive_member(from, member)?;
    }
    let procedures =
        universe.iter().map(|one| described(desk, outcome, head, one)).collect::<Result<Vec<_>, _>>()?;
    let tried: Vec<ProcedureAttemptRecord> =
        attempts(desk, &outcome.id).into_iter().map(|(_, one)| one).collect();
    let needs = need.map(|id| reference("ResearchNeed", &id)).transpose()?;
    desk.put(&SufficiencyDetectionResult {
        detection_id,
        outcome_id: desk.own(&outcome.id),
        run_id: desk.run().to_string(),
        evaluated_at: desk.now(),
        policy_ref: desk.policy_ref(Policy::Sufficiency)?.as_str().to_string(),
        no_sufficient_procedure: true,
        triggered_by: triggers,
        coverage_assessment_ref: coverage.clone(),
        candidate_procedures: procedures,
        best_score_seen: best(&tried),
        attempts: tried,
        best_artifact_version_ref: None,
        blocking_research_need_refs: needs.iter().map(|one| one.as_str().to_string()).collect(),
        decisive_policy_decision_refs: Vec::new(),
        terminal_route: ending.route,
        hard_call_required: ending.question.is_some(),
        hard_call_kind: ending.question,
        process_gap_signal_ref: None,
        rationale: ending.by.why().to_string(),
        schema_version: V10,
    })
}

fn best(tried: &[ProcedureAttemptRecord]) -> Option<CalibratedScore> {
    let scores = tried.iter().flat_map(|one| [&one.score_before, &one.score_after]).flatten();
    scores.cloned().reduce(|best, one| if one.value.as_f64() > best.value.as_f64() { one } else { best })
}

fn besides(known: &Besides) -> Object {
    let number = |count: u64| count.write().unwrap_or(Json::Null);
    Object::from([
        ("has_information_route", Json::from(known.has_information_route)),
        ("has_other_verifier", known.has_other_verifier.into()),
        ("has_variation_left", known.has_variation_left.into()),
        ("has_unlockable_candidate", known.has_unlockable_candidate.into()),
        ("on_cycle_detected", known.on_cycle.as_str().into()),
        ("attempts", number(known.attempts)),
        ("max_total_attempts", number(known.attempts_max)),
    ])
}

/// A way as the contract has it.
fn described(
    desk: &Desk,
    outcome: &Outcome,
    head: &Head<'_>,
    candidate: &Candidate,
) -> Result<CandidateRepairProcedure, Error> {
    let way = &candidate.way;
    let anchor = StructuredAnchor {
        section_id: None,
        field_path: Some(way.target(desk, head.artifact)?.as_str().to_string()),
        citation_ref: None,
        row_id: None,
        cell_ref: None,
        schema_version: V10,
    };
    let anchor = ScopeAnchor::Structured(anchor);
    let scope = ArtifactScopeRef { artifact_stable_id: desk.own(head.artifact), anchor };
    let needed =
        way.capability().map(|id| CapabilityRef { capability_id: id.to_string(), min_version: None });
    let (exhausted, inapplicable_reason) = match candidate.left {
        Left::Open => (false, None),
        Left::Used => (true, candidate.is_tried.then_some(Reason::AlreadyFailedSameSignature)),
        Left::Identical => (true, Some(Reason::AlreadyFailedSameSignature)),
        Left::Not(reason) => (false, Some(reason)),
    };
    Ok(CandidateRepairProcedure {
        procedure_id: procedure(desk, &outcome.id, way, head.artifact)?,
        strategy_kind: way.strategy(),
        repair_target: RepairTarget {
            target_kind: RepairTargetKind::ArtifactScope,
            target_ref: None,
            artifact_scope_ref: Some(scope),
        },
        required_capabilities: needed.into_iter().collect(),
        policy_allowed: true,
        safety_class: way.safety(desk),
        tried: candidate.is_tried,
        exhausted,
        inapplicable_reason,
        schema_version: V10,
    })
}

/// What goes with a route: a question to a person, a signal, a request, findings that can't be mended.
fn follow(
    desk: &mut Desk,
    outcome: &Outcome,
    head: &Head<'_>,
    ending: Ending,
    detection: &StorageRef,
    (sources, gaps): (&[String], &[CapabilityRef]),
) -> Result<(), Error> {
    if ending.by == Trigger::VerificationUnresolvable {
        request(desk, outcome, head, sources)?;
    }
    if ending.route == Route::ProcessGapOut {
        desk.put(&TaskProcessGapSignal {
            signal_id: desk.id("gap"),
            outcome_id: desk.own(&outcome.id),
            run_id: desk.run().to_string(),
            missing_capability_refs: gaps.to_vec(),
            proposed_graph_patch_ref: None,
            created_at: desk.now(),
            schema_version: Some(V10),
        })?;
    }
    if let Some(kind) = ending.question {
        call::stuck(desk, outcome, kind, &about(ending.by, sources), detection)?;
    }
    if ending.route == Route::Unrecoverable {
        unrecoverable(desk, outcome, detection)?;
    }
    Ok(())
}

/// What a person is asked about.
fn about(by: Trigger, sources: &[String]) -> call::Stuck<'_> {
    match by {
        Trigger::VerificationUnresolvable => call::Stuck::Sources(sources),
        Trigger::BudgetCapPreventsMinimalSufficientAttempt => call::Stuck::Budget,
        Trigger::NoCapabilityCoversOutcome
        | Trigger::CapabilityUnavailableOrUnhealthy
        | Trigger::PolicyProhibitsRequiredStep
        | Trigger::AllPolicyAllowedProceduresExhausted
        | Trigger::MaxAttemptsWithoutMaterialScoreImprovement
        | Trigger::IdenticalOutputLoopDetected
        | Trigger::EvidenceInsufficientToProceed
        | Trigger::ContradictoryRequirements
        | Trigger::PreconditionUnresolvable
        | Trigger::ExternalSideEffectRequiresUngrantedApproval
        | Trigger::CascadeCycleDetected => call::Stuck::Attempts(by.why()),
    }
}

/// Asks for somebody who verifies the sources of what an outcome rests on.
fn request(desk: &mut Desk, outcome: &Outcome, head: &Head<'_>, sources: &[String]) -> Result<(), Error> {
    let claims = attempt::findings(desk, outcome).into_iter().flat_map(|one| one.event.affected_claim_refs);
    let claims = claims.filter(|claim| head.claims.iter().any(|one| one.claim_ref == *claim));
    let (step_id, claim_refs) = (desk.id("verify"), claims.collect());
    let source_record_refs = sources.iter().map(|one| desk.source_ref(one)).collect::<Result<Vec<_>, _>>()?;
    desk.put(&VerificationRequestStep {
        step_id,
        run_id: desk.run().to_string(),
        outcome_id: desk.own(&outcome.id),
        claim_refs,
        source_record_refs,
        verifier_capability_ref: CapabilityRef {
            capability_id: "verify_source".to_string(),
            min_version: None,
        },
        schema_version: Some(V10),
    })?;
    Ok(())
}

/// The findings of an outcome stay as they are for good.
fn unrecoverable(desk: &mut Desk, outcome: &Outcome, detection: &StorageRef) -> Result<(), Error> {
    let is_open = |one: &Known| one.state == FindingState::Active;
    for known in attempt::findings(desk, outcome).into_iter().filter(is_open) {
        let evidence = Vec::from([detection.clone()]);
        finding::go(
            desk,
            &known,
            FindingState::Unrecoverable,
            FindingReason::MarkedUnrecoverable,
            ROUTER,
            evidence,
        )?;
    }
    Ok(())
}

/// Where an outcome goes for which a detection found that nothing will do, and that nobody has looked at since.
#[must_use]
pub(crate) fn ended(desk: &Desk, outcome: &str) -> Option<State> {
    let own = desk.own(outcome);
    let mut looked = desk.each::<EvaluationResultEnvelope>("EvaluationResultEnvelope");
    let looked = looked.rfind(|found| found.record.outcome_id == own).map_or(0, |found| found.seq);
    let mut detected = desk.each::<SufficiencyDetectionResult>("SufficiencyDetectionResult");
    let last = detected.rfind(|found| found.record.outcome_id == own)?;
    let result = (last.seq > looked && last.record.no_sufficient_procedure).then_some(last.record)?;
    let from = since(desk, outcome);
    let known = Besides {
        policy_is_alterable: false,
        has_information_route: true,
        has_other_verifier: false,
        precondition_is_information: false,
        on_cycle: OnCycle::HardCall,
        has_variation_left: false,
        has_unlockable_candidate: result.terminal_route == Route::NeedsHumanJudgment,
        attempts: attempts(desk, outcome).iter().filter(|(seq, _)| *seq > from).count() as u64,
        attempts_max: desk.task().policies().sufficiency().attempts_max(),
    };
    let ending = route(&result.triggered_by, &known)?;
    State::find(ending.disposition.as_str())
}
