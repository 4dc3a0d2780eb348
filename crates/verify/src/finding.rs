//! Findings: what is wrong with the work, found again; how bad, on what it rests, whether it may block.
//! Owns: which findings there must be, and every member of them. Must not: score.

use crate::case::Case;
use crate::claims::{Claimed, Reach};
use crate::dispute;
use crate::formula::{Gathered, Ungathered, missing};
use crate::found::{Found, texts};
use crate::look::Round;
use crate::report::Check;
use crate::revise;
use crate::task::{Criterion, Outcome};
use crate::walk::Walk;
use crate::workspace;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::derive::chain::FindingState;
use countersign_govern::derive::text;
use countersign_govern::member::Member;
use countersign_govern::types::wire::Wire;
use countersign_govern::world::Record;
use countersign_record::canonical;
use countersign_record::code::Code;
use countersign_record::json::{Json, Number, Object};

const CHECK: Check = Check::Findings;

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// The finding that it is another event of, because it is worse or less bad now.
    again: Option<String>,
    kind: &'static str,
    failure: &'static str,
    pub(crate) severity: &'static str,
    /// The basis of the criterion.
    pub(crate) basis: String,
    pub(crate) criterion: String,
    text: String,
    explanation: String,
    claims: Vec<String>,
    /// What shows it, besides what was frozen.
    evidence: Vec<String>,
}

/// What a criterion's basis gives assurance by.
pub(crate) fn basis(scoring: &str) -> &'static str {
    match scoring {
        "deterministic_check" => "deterministic_check",
        "source_grounded" => "source_reference",
        "anchored_rubric" => "rubric_anchored_judgment",
        "human_label" => "human_review",
        _unanchored => "model_judgment",
    }
}

/// By what a finding may block, if it may.
fn authority(assurance: &str) -> Option<&'static str> {
    match assurance {
        "deterministic_check" => Some("deterministic_check"),
        "source_reference" => Some("source_reference"),
        "rubric_anchored_judgment" => Some("rubric_criterion"),
        "human_review" => Some("human_label"),
        _model_judgment => None,
    }
}

/// What is wrong: one thing for each claim that is not supported, whether or not the criterion is met as a whole; else one thing
/// where it is not.
pub(crate) fn wrong(
    outcome: Outcome<'_>,
    criterion: Criterion<'_>,
    is_met: bool,
    missing: &[String],
    claims: &[Claimed],
) -> Vec<Wrong> {
    let severity = match (is_met, criterion.is_required(), criterion.priority()) {
        (true, ..) => "medium",
        (false, true, _) if !outcome.is_required() => "high",
        (false, true, _) => "blocking",
        (false, false, "must_have") => "high",
        (false, false, "nice_to_have") => "low",
        (false, false, _should_have) => "medium",
    };
    let basis = criterion.basis().to_string();
    let id = criterion.id().to_string();
    if claims.is_empty() {
        if is_met || basis == "source_grounded" {
            return Vec::new();
        }
        let kind = if basis == "deterministic_check" { "missing_content" } else { "defect" };
        return Vec::from([Wrong {
            again: None,
            kind,
            failure: "criterion_unmet",
            severity,
            text: format!("The criterion “{id}” is not met."),
            explanation: format!("Missing: {}.", missing.join("; ")),
            claims: Vec::new(),
            evidence: Vec::new(),
            basis,
            criterion: id,
        }]);
    }
    let one = |claim: &Claimed| {
        let (kind, failure, words) = short_of(claim);
        let place = claim.section.as_deref().map(|heading| format!(" under “{heading}”")).unwrap_or_default();
        Wrong {
            again: None,
            kind,
            failure,
            severity,
            basis: basis.clone(),
            criterion: id.clone(),
            text: format!("A sentence{place} can't stay as it is: {words}."),
            explanation: format!("{} is {}.", claim.claim_ref, claim.status),
            claims: Vec::from([claim.claim_ref.clone()]),
            evidence: [Vec::from([claim.receipt.clone()]), claim.contradicting.clone()].concat(),
        }
    };
    claims.iter().map(one).collect()
}

/// What a claim is short of: the kinds of that, and the words.
fn short_of(claim: &Claimed) -> (&'static str, &'static str, String) {
    match claim.status.as_str() {
        "contradicted" => ("contradicted_claim", "claim_contradicted", "a source says otherwise".to_string()),
        "indeterminate_stale_or_unverified" => {
            let words = "its source is out of date or nobody verified it";
            ("stale_source", "source_stale", words.to_string())
        }
        "partially_supported" => ("unsupported_claim", "claim_unsupported", in_part(claim.reach)),
        _unsupported => {
            let is_elsewhere = claim.reach.better > 0;
            let words =
                if is_elsewhere { "the place that it cites does not say it" } else { "no source says it" };
            ("unsupported_claim", "claim_unsupported", words.to_string())
        }
    }
}

/// Why a claim is supported in part only.
fn in_part(reach: Reach) -> String {
    let Reach { direct, needed, better } = reach;
    match direct {
        0 if better == 0 => "what it cites says only a part of it".to_string(),
        0 => "not all that it cites says it".to_string(),
        1 if needed > 1 => format!("1 place says it, {needed} are needed"),
        some if some < needed => format!("{some} places say it, {needed} are needed"),
        _enough => "not enough of what says it is verified and up to date".to_string(),
    }
}

impl Wrong {
    /// By what it is known again.
    fn key(&self, walk: &Walk<'_, '_>, round: &Round<'_>) -> Object {
        let about = texts(&self.claims);
        Object::from([
            ("failure_kind", Json::from(self.failure)),
            ("artifact_stable_id", walk.case.own(round.artifact.id()).into()),
            ("target_scope_ref", Json::Null),
            ("criterion_id", walk.case.own(&self.criterion).into()),
            ("finding_summary_hash", String::from(text::hash(&self.explanation)).into()),
            ("normalized_finding_text_hash", String::from(text::hash(&self.text)).into()),
            ("evidence_signature_hash", String::from(canonical::hash_as_written(&about)).into()),
            ("source_workspace_snapshot_hash", walk.workspace.head().into()),
            ("schema_version", "1.0".into()),
        ])
    }

    /// The claims that nothing supports, if it is about that.
    pub(crate) fn unsupported(&self) -> impl Iterator<Item = &str> {
        self.claims.iter().filter(|_| self.failure == "claim_unsupported").map(String::as_str)
    }

    /// Whether a finding is the same.
    fn is(&self, walk: &Walk<'_, '_>, round: &Round<'_>, event: &Json) -> bool {
        let key = self.key(walk, round);
        let same = [
            "failure_kind",
            "artifact_stable_id",
            "criterion_id",
            "normalized_finding_text_hash",
            "evidence_signature_hash",
        ];
        same.into_iter().all(|name| event.at("match_key").and_then(|one| one.at(name)) == key.get(name))
    }
}

/// How a finding stands.
fn state(walk: &Walk<'_, '_>, finding: &str) -> Option<FindingState> {
    walk.says("evaluation_finding_record", finding, "current_state").and_then(FindingState::find)
}

/// Whether the finding of an event stands where the walk is.
pub(crate) fn is_live(walk: &Walk<'_, '_>, event: &Json) -> bool {
    event.text("finding_id").and_then(|id| state(walk, id)).is_some_and(FindingState::is_live)
}

/// The last event of each finding before a place, in the order in which they were raised first.
pub(crate) fn last_events<'c>(case: &'c Case<'_>, place: u64) -> Vec<Record<'c>> {
    let (mut first, mut last): (Vec<Option<&str>>, BTreeMap<Option<&str>, Record<'c>>) =
        (Vec::new(), BTreeMap::new());
    for event in case.until("EvaluationFindingEvent", place) {
        let finding = event.json().text("finding_id");
        if last.insert(finding, event).is_none() {
            first.push(finding);
        }
    }
    first.into_iter().filter_map(|finding| last.get(&finding).copied()).collect()
}

/// Before findings are raised: what is wrong and was found before is the same finding again.
pub(crate) fn begin(walk: &Walk<'_, '_>, round: &mut Round<'_>) {
    let mut known = last_events(walk.case, round.chain.seq());
    known.retain(|one| is_live(walk, one.json()));
    for mut wrong in round.wrongs.clone() {
        let same = known.iter().find(|one| wrong.is(walk, round, one.json()));
        let finding = same.and_then(|one| one.json().text("finding_id")).map(ToString::to_string);
        round.still.extend(finding.clone());
        wrong.again = finding;
        round.pending.push(wrong);
    }
}

/// What the right to block is derived from.
pub(crate) fn authority_inputs(walk: &Walk<'_, '_>) -> Result<Gathered, Ungathered> {
    let Some(round) = &walk.round else { return missing("it belongs to no look at an outcome") };
    if round.scores.is_none() {
        return Err(Ungathered::Withheld);
    }
    let (Some(wrong), Some(evaluator)) = (round.pending.first(), round.evaluator) else {
        return missing("nothing is wrong that was not told");
    };
    let count = u32::from(authority(basis(&wrong.basis)).is_some());
    let inputs = Object::from([
        ("checkable_basis_count", Json::Number(Number::from(count))),
        ("is_permitted", false.into()),
    ]);
    let input_refs = Vec::from([format!("evaluation_result_envelope:{}", evaluator.id())]);
    Ok(Gathered { inputs, input_refs })
}

/// A finding is one of those that follow, in their order.
pub(crate) fn event<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let id = record.json().text("finding_id").unwrap_or_default().to_string();
    let authority_of = authority_inputs(walk);
    let Some(round) = walk.round.take() else {
        return walk.underivable(CHECK, record, "it belongs to no look at an outcome", found);
    };
    let mut round = round;
    if round.scores.is_none() {
        found.withheld(CHECK);
    } else if round.pending.is_empty() {
        found.about(Code::VerifyDerivation, CHECK, record, "", "nothing is wrong that was not told");
    } else {
        let wrong = round.pending.remove(0);
        let satisfied = authority_of
            .ok()
            .and_then(|gathered| walk.formulas.value("blocking_authority_v1", &gathered.inputs))
            .unwrap_or(Json::Null);
        found.must_be(CHECK, record, &expected(walk, &round, record, &wrong, satisfied), &NAMES);
        if let Some(finding) = &wrong.again {
            found.must_say(CHECK, record, "finding_id", finding);
        }
        let key = wrong.key(walk, &round);
        for (name, value) in key.iter() {
            let value = (*value != Json::Null).then(|| value.clone());
            found.must(CHECK, record, &format!("match_key.{name}"), value);
        }
    }
    round.still.insert(id);
    walk.round = Some(round);
}

/// Members of a finding that are names, times, or looked at one by one.
const NAMES: [&str; 4] = ["finding_event_id", "finding_id", "created_at", "match_key"];

fn expected(
    walk: &Walk<'_, '_>,
    round: &Round<'_>,
    record: Record<'_>,
    wrong: &Wrong,
    satisfied: Json,
) -> Object {
    let case = walk.case;
    let (taint, class, privileged) = workspace::label(case, record.seq());
    let leave = format!("policy_evaluation:{}", case.own("leave"));
    let assurance = basis(&wrong.basis);
    let bases: Vec<&str> = authority(assurance).into_iter().collect();
    let blocking = Object::from([
        ("satisfied", satisfied),
        ("basis", texts(&bases)),
        ("subjective_blocking_permission", "not_allowed".into()),
        ("evaluated_policy_ref", leave.as_str().into()),
        ("explanation", "what it rests on can be checked".into()),
        ("schema_version", "1.0".into()),
    ]);
    let before = case.until("EvaluationFindingEvent", record.seq());
    let before: BTreeSet<&str> = before.filter_map(|one| one.json().text("finding_id")).collect();
    let activation = before.len() as u64 + 1;
    let evidence = if wrong.claims.is_empty() {
        Vec::from([round.snapshot_ref().to_string()])
    } else {
        wrong.evidence.clone()
    };
    let none: [&str; 0] = [];
    let read = workspace::last_read(case, round.chain.seq());
    let result = round.evaluator.map(|one| Json::from(one.id())).unwrap_or(Json::Null);
    Object::from([
        ("result_id", result),
        ("producer_kind", "outcome_evaluator".into()),
        ("producer_module_id", "evaluator".into()),
        ("producer_activation_seq", activation.write().unwrap_or(Json::Null)),
        ("finding_kind", wrong.kind.into()),
        ("finding_text", wrong.text.as_str().into()),
        ("explanation", wrong.explanation.as_str().into()),
        ("severity", wrong.severity.into()),
        ("emitted_state", "active".into()),
        ("assurance_basis", texts(&[assurance])),
        ("blocking_authority", blocking.into()),
        ("confidence_score", Json::Number(Number::from(1_u32))),
        ("confidence_basis", texts(&["tool_result"])),
        ("confidence_explanation", "counted, not estimated".into()),
        ("target_artifact_ref", format!("artifact:{}", case.own(round.artifact.id())).into()),
        ("target_artifact_version_ref", round.version_ref().into()),
        ("target_criterion_id", case.own(&wrong.criterion).into()),
        ("affected_claim_refs", texts(&wrong.claims)),
        ("evidence_refs", texts(&evidence)),
        ("verification_record_refs", texts(&none)),
        ("supporting_material_snapshot_refs", texts(&none)),
        ("based_on_artifact_version_ref", round.version_ref().into()),
        ("based_on_source_workspace_snapshot_ref", read.map_or(Json::Null, Json::from)),
        ("evaluation_snapshot_ref", round.snapshot_ref().into()),
        ("taint_class", taint.into()),
        ("data_class", class.into()),
        ("matter_id", case.matter.as_str().into()),
        ("privileged", privileged.into()),
        ("policy_decision_refs", texts(&[leave])),
        ("schema_version", "2.0".into()),
    ])
}

/// Before the judge speaks everything that is wrong was told, and what is mended is told as mended.
pub(crate) fn all_raised(walk: &Walk<'_, '_>, round: &Round<'_>, judge: Record<'_>, found: &mut Found) {
    for event in last_events(walk.case, judge.seq()) {
        let is_left = is_mended(walk, round, event)
            && is_live(walk, event.json())
            && event
                .json()
                .text("finding_id")
                .and_then(|id| state(walk, id))
                .is_some_and(|one| one.as_str() != "unrecoverable");
        match is_left && round.scores.is_some() {
            true => {
                let message = "the look does not find it any more, and it still stands";
                found.about(Code::VerifyIncomplete, Check::Completeness, event, "", message);
            }
            false => found.right(Check::Completeness),
        }
    }
}

/// Whether a finding is about the version that a look is on.
fn is_of_version(round: &Round<'_>, event: Record<'_>) -> bool {
    event.json().text("target_artifact_version_ref") == Some(round.version_ref().as_str())
}

/// Whether a look does not find any more what was found on an older version, or about claims, which the sources may decide.
fn is_mended(walk: &Walk<'_, '_>, round: &Round<'_>, event: Record<'_>) -> bool {
    let json = event.json();
    let is_own = round.criteria.iter().any(|one| json.is("target_criterion_id", &walk.case.own(one.id())));
    let may_change = !is_of_version(round, event) || !json.texts("affected_claim_refs").is_empty();
    let is_still = json.text("finding_id").is_some_and(|id| round.still.contains(id));
    is_own && may_change && !is_still
}

/// Why findings move that nobody but the engine moves.
const OWN: [&str; 3] = ["revision_resolved", "target_version_changed", "marked_unrecoverable"];

/// A finding moves from where it stands; it is resolved by a look that does not find it any more, and stays for good where nothing that
/// may be tried mends its outcome.
pub(crate) fn moved<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let json = record.json();
    let finding = json.text("finding_id").unwrap_or_default();
    let from = state(walk, finding).map(|state| Json::from(state.as_str()));
    let stood = from.as_ref().and_then(Json::as_str).unwrap_or_default().to_string();
    found.must(CHECK, record, "from_state", from);
    if !json.is("actor_ref", "engine:router") && !json.is_one_of("transition_reason", &OWN) {
        return dispute::moved(walk, record, found);
    }
    found.must_say(CHECK, record, "actor_ref", "engine:router");
    let events = walk.case.until("EvaluationFindingEvent", record.seq());
    let event = events.filter(|one| one.json().is("finding_id", finding)).last();
    // What is mended is told within a look, between its evaluator and its judge.
    let round = walk.round.as_ref().filter(|round| round.evaluator.is_some() && round.judge.is_none());
    let (is_right, why, to, reason, evidence) = match round {
        Some(round) => {
            let is_mended = event.is_some_and(|event| is_mended(walk, round, event));
            let is_same = event.is_some_and(|event| is_of_version(round, event));
            let (to, reason) = match stood.as_str() {
                _any if is_same => ("superseded_by_source_change", "source_changed"),
                "contested" => ("superseded_by_revision", "target_version_changed"),
                _active => ("resolved", "revision_resolved"),
            };
            let result = round.evaluator.map(|one| format!("evaluation_result_envelope:{}", one.id()));
            (is_mended, "no look shows that it is mended", to, reason, result)
        }
        None => {
            let detection = event.and_then(|event| revise::given_up(walk, event, record));
            let is_right = detection.is_some() && stood == "active";
            let why = "nothing shows that it can't be mended";
            (is_right, why, "unrecoverable", "marked_unrecoverable", detection)
        }
    };
    match is_right {
        true => found.right(CHECK),
        false => found.about(Code::VerifyDerivation, CHECK, record, "to_state", why),
    }
    found.must_say(CHECK, record, "to_state", to);
    found.must_say(CHECK, record, "transition_reason", reason);
    found.must_list(CHECK, record, "evidence_refs", &evidence.into_iter().collect::<Vec<_>>());
}

/// What speaks for a result: the criteria that it says are met.
pub(crate) fn observation<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let Some(round) = &walk.round else {
        return walk.underivable(CHECK, record, "it belongs to no look at an outcome", found);
    };
    let Some(result) = round.judge.or(round.evaluator) else {
        return walk.underivable(CHECK, record, "nobody has spoken yet", found);
    };
    let passed = result.json().texts("decision.passed_criterion_ids");
    found.must_say(CHECK, record, "result_id", result.id());
    found.must_say(CHECK, record, "outcome_id", &walk.case.own(round.outcome.id()));
    found.must(CHECK, record, "observed_passed_criterion_ids", Some(texts(&passed)));
    let summary = format!("{} of {} criteria are met", passed.len(), round.criteria.len());
    found.must_say(CHECK, record, "positive_summary", &summary);
    found.must_list(CHECK, record, "evidence_refs", &[round.snapshot_ref().to_string()]);
    found.must(CHECK, record, "formula_eval_receipt_ref", None);
}

/// The states of the findings of a result that block now.
pub(crate) fn blockers(walk: &Walk<'_, '_>, result: &str) -> Vec<&'static str> {
    let own = walk.case.world.of("EvaluationFindingEvent").take_while(|one| one.seq() <= walk.folds.seq());
    let blocks = own.filter(|one| {
        let json = one.json();
        json.is("result_id", result)
            && json.is("severity", "blocking")
            && json.flag("blocking_authority.satisfied") == Some(true)
    });
    let states = blocks.filter_map(|one| one.json().text("finding_id").and_then(|id| state(walk, id)));
    states.filter(|state| state.is_live()).map(FindingState::as_str).collect()
}
