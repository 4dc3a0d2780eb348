//! One look at an outcome: an evaluator says what is wrong, a judge how much it is worth, and the chain of both is resolved.
//! Owns: the order of that, and where the outcome goes. Must not: mend anything, or ask a person; `call` raises questions.

mod chain;
mod lacking;
mod person;
mod voice;

use crate::artifact::Version;
use crate::call::{self, Dispute};
use crate::claims::{Claimed, Places};
use crate::desk::{Desk, Error, reference};
use crate::feedback;
use crate::finding::{self, Raised, Wrong};
use crate::forum::{self, Moderator, Vote, Voter};
use crate::outcome::{self, Upstream};
use crate::research;
use crate::revise::{attempt, sufficiency};
use crate::score::{self, Found, Lacks, Scored, Seen, Subject};
use crate::task::{Criterion, Outcome, share};
use crate::workspace;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chain::Resolved;
use countersign_govern::table::outcome::entry;
use countersign_govern::types::basic::V10;
use countersign_govern::types::basic::{
    AssuranceBasis, CriterionPriority, FailureKind, FindingKind, ScoringBasis, Severity, StorageRef, V11,
};
use countersign_govern::types::claim::{
    ClaimSupportDerivationPolicyContradictionRule as ContradictionRule, ClaimSupportStatus,
};
use countersign_govern::types::feedback::{
    FeedbackBranch, FeedbackEmissionMatrixEntryProducerKind as Producer,
};
use countersign_govern::types::outcome::{EvaluationVerdict as Verdict, OutcomeEvaluationState as State};
use countersign_govern::types::progress::{EvaluationSnapshot, SourceWorkspaceSnapshotHashSet};
use countersign_kernel::measure::Measured;
use lacking::Lacking;
pub use lacking::{Unscored, unscored};
use person::Person;
pub(crate) use person::last_chain;
use voice::{Voice, Voices};

/// What one look is on.
pub struct Round<'a> {
    /// The outcome.
    pub outcome: &'a Outcome,
    /// What is looked at.
    pub subject: &'a Subject<'a>,
    /// The work product.
    pub artifact_ref: StorageRef,
    /// Its version.
    pub version_ref: StorageRef,
    /// What is frozen of all inputs.
    pub snapshot_ref: StorageRef,
    /// The receipt of reading the sources.
    pub read_ref: StorageRef,
    /// The chain that it belongs to.
    pub chain_id: String,
    /// Where the outcome goes if it was detected that nothing will mend it.
    pub ended: Option<State>,
    /// What a person said of this version.
    person: Option<Person>,
}

/// What a look came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looked {
    /// The outcome, as the task calls it.
    pub outcome: String,
    /// The verdict of the chain.
    pub verdict: Verdict,
    /// Where the outcome stands now.
    pub state: State,
    /// The question that was raised for a person.
    pub question: Option<String>,
    /// Whether those who looked see it differently.
    pub is_disputed: bool,
}

/// What of a run can be looked at: the heads of all artifacts.
pub struct Head<'a> {
    /// The artifact, as the task calls it.
    pub artifact: &'a str,
    /// Its version.
    pub version: &'a Version,
    /// Its text.
    pub text: &'a str,
    /// What it claims.
    pub claims: &'a [Claimed],
}

/// Looks at every outcome that can be looked at, those first that others depend on.
///
/// # Errors
/// Something can't be written.
pub fn all(desk: &mut Desk, heads: &[Head<'_>], seen: &Seen) -> Result<Vec<Looked>, Error> {
    let task = desk.task().clone();
    for head in heads {
        research::drop_moot(desk, head.artifact, head.claims)?;
    }
    let mut looked = Vec::new();
    // An outcome depends on others of the task only and on no cycle, so each pass settles at least one more.
    for _ in 0..task.outcomes.len() {
        let mut is_settled = true;
        for outcome in &task.outcomes {
            let state = outcome::state(desk, &outcome.id);
            if !outcome::is_to_be_looked_at(state) {
                continue;
            }
            match outcome::upstream(desk, outcome) {
                Upstream::Clear => {
                    let head = task
                        .artifact_of(outcome)
                        .and_then(|own| heads.iter().find(|one| one.artifact == own.id).zip(Some(own)));
                    let Some((head, artifact)) = head else { continue };
                    let subject =
                        Subject { artifact, version: head.version, text: head.text, claims: head.claims };
                    looked.push(look(desk, outcome, &subject, seen)?);
                    is_settled = false;
                }
                Upstream::Waiting => {
                    outcome::go(desk, &outcome.id, State::PendingDependency, "dependency not settled", None)?
                }
                Upstream::Failed => {
                    outcome::go(
                        desk,
                        &outcome.id,
                        State::UpstreamFailure,
                        "upstream terminal failure",
                        None,
                    )?;
                    is_settled = false;
                }
            }
        }
        if is_settled {
            break;
        }
    }
    Ok(looked)
}

/// Looks at one outcome.
///
/// # Errors
/// Something can't be written.
pub fn look(desk: &mut Desk, outcome: &Outcome, subject: &Subject<'_>, seen: &Seen) -> Result<Looked, Error> {
    let read_ref = workspace::read(desk)?;
    let version_ref = subject.version.reference()?;
    let snapshot_ref = snapshot(desk, &version_ref)?;
    outcome::go(desk, &outcome.id, State::Evaluating, "evaluation started", None)?;
    let chain_id = desk.id("chain");
    let artifact_ref = desk.artifact_ref(&subject.artifact.id)?;
    let ended = sufficiency::ended(desk, &outcome.id);
    let person = person::spoken(desk, outcome, &version_ref);
    let round = Round {
        outcome,
        subject,
        artifact_ref,
        version_ref,
        snapshot_ref,
        read_ref,
        chain_id,
        ended,
        person,
    };
    chain::open(desk, &round)?;
    let mut scores = Vec::new();
    for criterion in &outcome.criteria {
        scores.push(score::score(desk, outcome, criterion, subject, seen)?);
    }
    let evaluator = evaluated(desk, &round, &scores, seen)?;
    let judge = voice::judge(desk, &round, &scores)?;
    let person = round.person.as_ref().map(|person| person::speak(desk, &round, person)).transpose()?;
    let voices = Voices { evaluator: &evaluator.voice, judge: &judge, person: person.as_ref() };
    let resolved = chain::resolve(desk, &round, &voices)?;
    // Before a person is asked: nothing is tried while an answer is awaited.
    attempt::looked(desk, &outcome.id, resolved.verdict)?;
    let moderator = seen.led.get(&outcome.id).copied();
    settle(desk, &round, &evaluator, &voices, &resolved, moderator)
}

/// Freezes what is looked at.
fn snapshot(desk: &mut Desk, version: &StorageRef) -> Result<StorageRef, Error> {
    let mut hashes = BTreeMap::new();
    for (source, hash) in workspace::record_hashes(desk) {
        let source = countersign_govern::types::basic::SourceRecordRef::try_from(source.as_str());
        hashes.insert(source.map_err(|_| Error::Unnameable(hash.clone()))?, hash);
    }
    let head = workspace::workspace(desk).head().to_string();
    let state = reference("SourceWorkspaceCurrentState", &desk.workspace_id())?;
    desk.put(&EvaluationSnapshot {
        snapshot_id: desk.id("snapshot"),
        artifact_state_refs: Vec::from([version.clone()]),
        source_workspace_state_ref: Some(state),
        source_workspace_snapshot_hashes: Vec::from([SourceWorkspaceSnapshotHashSet {
            source_workspace_ref: desk.workspace_id(),
            source_workspace_head_hash: head,
            source_record_hashes: hashes,
            source_set_hashes: None,
            research_need_queue_hash: None,
            verification_record_hashes: None,
            freshness_record_hashes: None,
            run_guidance_hashes: None,
            schema_version: V10,
        }]),
        policy_snapshot_ref: desk.policy_snapshot()?,
        capability_snapshot_ref: desk.capability_snapshot()?,
        created_at: desk.now(),
        schema_version: V11,
    })
}

/// What the evaluator says: findings for what is not met, and whether the outcome stands.
fn evaluated(desk: &mut Desk, round: &Round<'_>, scores: &[Scored], seen: &Seen) -> Result<Evaluated, Error> {
    let (mut wrongs, mut passed) = (Vec::new(), Vec::new());
    let mut lacking = Lacking::of(round.outcome, scores);
    let is_asked = asks_for_contradictions(desk);
    for (criterion, scored) in round.outcome.criteria.iter().zip(scores) {
        match &scored.found {
            Found::Value { measured, claims, .. } => {
                let is_met = is_met(measured, criterion);
                let missing = &measured.missing;
                let (open, sure): (Vec<Claimed>, Vec<Claimed>) = claims
                    .iter()
                    .cloned()
                    .partition(|one| is_asked && one.status == ClaimSupportStatus::Contradicted);
                wrongs.extend(wrong(round, criterion, is_met, missing, &sure));
                if !open.is_empty() {
                    wrongs.extend(wrong(round, criterion, true, missing, &open));
                    lacking.open(criterion, Lacks::Choice);
                }
                if is_met {
                    passed.push(criterion.id.clone());
                }
            }
            Found::Nothing(why) => lacking.nobody(criterion, *why),
            Found::Excluded => lacking.excluded(),
        }
    }
    wrongs.iter_mut().for_each(|wrong| ground(desk, round, wrong));
    let is_bad = wrongs.iter().any(|one| one.severity >= Severity::High);
    let verdict = match (round.ended.and_then(|state| entry(state).verdict), is_bad, lacking.first()) {
        (Some(verdict), ..) => verdict,
        (None, true, _) => Verdict::Failed,
        (None, false, Some(_)) => Verdict::Indeterminate,
        (None, false, None) => Verdict::Passed,
    };
    let voice = voice::evaluator(desk, round, verdict, &lacking, &passed)?;
    let (mut found, mut raised) = (Vec::new(), Raised::of(desk));
    for wrong in &wrongs {
        found.push(finding::raise(desk, round, &mut raised, &voice.result_id, wrong)?);
        if wrong.failure == FailureKind::ClaimUnsupported {
            for claim in &wrong.claims {
                research::for_claim(desk, claim)?;
            }
        }
    }
    finding::resolve_mended(desk, round, &voice.result_id, &found)?;
    finding::observe(desk, round, &voice.result_id, &passed)?;
    let lacking = lacking.first().map(|(criterion, why)| (criterion.id.clone(), why));
    let why = lacking.as_ref().and_then(|(criterion, _)| seen.unseen.get(criterion).cloned());
    Ok(Evaluated { voice, lacking, why })
}

/// What a person said of something that rests on nothing rests on the person; what only a model thinks can't block.
fn ground(desk: &Desk, round: &Round<'_>, wrong: &mut Wrong) {
    let criterion = round.outcome.criteria.iter().find(|one| one.id == wrong.criterion);
    let Some(criterion) = criterion.filter(|_| wrong.basis == AssuranceBasis::ModelJudgment) else { return };
    match score::label(desk, criterion, round.subject.version) {
        Some(_) => wrong.basis = AssuranceBasis::HumanReview,
        None => wrong.severity = wrong.severity.min(Severity::High),
    }
}

/// What the evaluator said, and what is lacking first.
struct Evaluated {
    voice: Voice,
    lacking: Option<(String, Lacks)>,
    /// Why nobody could look at it.
    why: Option<String>,
}

/// Whether a person must say which of two sources counts, and has not said it.
fn asks_for_contradictions(desk: &Desk) -> bool {
    let rule = desk.task().policies().claims().contradiction();
    rule == ContradictionRule::HumanReviewRequired && call::preferred(desk).is_none()
}

/// Whether a count is as much as its criterion needs: exactly, without rounding.
fn is_met(measured: &Measured, criterion: &Criterion) -> bool {
    let needed = share(&criterion.threshold()).unwrap_or(WHOLE);
    u128::from(measured.met) * u128::from(WHOLE) >= u128::from(needed) * u128::from(measured.of)
}

/// One, in millionths.
const WHOLE: u64 = 1_000_000;

/// What is wrong: one thing for each claim that is not supported, whether or not the criterion is met as a whole; else one thing
/// where it is not.
fn wrong(
    round: &Round<'_>,
    criterion: &Criterion,
    is_met: bool,
    missing: &[String],
    claims: &[Claimed],
) -> Vec<Wrong> {
    let severity = match (is_met, criterion.is_required(), criterion.priority()) {
        (true, ..) => Severity::Medium,
        // What the task does not insist on blocks nothing.
        (false, true, _) if !round.outcome.is_required() => Severity::High,
        (false, true, _) => Severity::Blocking,
        (false, false, CriterionPriority::MustHave) => Severity::High,
        (false, false, CriterionPriority::ShouldHave) => Severity::Medium,
        (false, false, CriterionPriority::NiceToHave) => Severity::Low,
    };
    let evidence = Vec::from([round.snapshot_ref.clone()]);
    let basis = match criterion.basis {
        ScoringBasis::DeterministicCheck => AssuranceBasis::DeterministicCheck,
        ScoringBasis::SourceGrounded => AssuranceBasis::SourceReference,
        ScoringBasis::AnchoredRubric => AssuranceBasis::RubricAnchoredJudgment,
        ScoringBasis::HumanLabel => AssuranceBasis::HumanReview,
        ScoringBasis::UnanchoredLlmJudgment => AssuranceBasis::ModelJudgment,
    };
    if claims.is_empty() {
        if is_met || criterion.basis == ScoringBasis::SourceGrounded {
            return Vec::new();
        }
        return Vec::from([Wrong {
            kind: match criterion.basis {
                ScoringBasis::DeterministicCheck => FindingKind::MissingContent,
                ScoringBasis::SourceGrounded
                | ScoringBasis::AnchoredRubric
                | ScoringBasis::HumanLabel
                | ScoringBasis::UnanchoredLlmJudgment => FindingKind::Defect,
            },
            failure: FailureKind::CriterionUnmet,
            severity,
            basis,
            criterion: criterion.id.clone(),
            text: format!("The criterion “{}” is not met.", criterion.id),
            explanation: format!("Missing: {}.", missing.join("; ")),
            claims: Vec::new(),
            evidence,
        }]);
    }
    let one = |claim: &Claimed| {
        let (kind, failure, words) = unsupported(claim);
        let place = claim.section.as_deref().map(|heading| format!(" under “{heading}”")).unwrap_or_default();
        Wrong {
            kind,
            failure,
            severity,
            basis,
            criterion: criterion.id.clone(),
            text: format!("A sentence{place} can't stay as it is: {words}."),
            explanation: format!("{} is {}.", claim.claim_ref.as_str(), claim.status.as_str()),
            claims: Vec::from([claim.claim_ref.clone()]),
            evidence: [Vec::from([claim.receipt.clone()]), claim.contradicting.clone()].concat(),
        }
    };
    claims.iter().map(one).collect()
}

/// What is wrong with a claim that does not stand, in words.
fn unsupported(claim: &Claimed) -> (FindingKind, FailureKind, String) {
    let (kind, failure, words) = match claim.status {
        ClaimSupportStatus::Contradicted => {
            (FindingKind::ContradictedClaim, FailureKind::ClaimContradicted, "a source says otherwise")
        }
        ClaimSupportStatus::IndeterminateStaleOrUnverified => (
            FindingKind::StaleSource,
            FailureKind::SourceStale,
            "its source is out of date or nobody verified it",
        ),
        ClaimSupportStatus::PartiallySupported => {
            return (FindingKind::UnsupportedClaim, FailureKind::ClaimUnsupported, in_part(claim.places));
        }
        ClaimSupportStatus::Unsupported | ClaimSupportStatus::NotChecked | ClaimSupportStatus::Supported => {
            let words = match claim.places.better {
                0 => "no source says it",
                _some => "the place that it cites does not say it",
            };
            (FindingKind::UnsupportedClaim, FailureKind::ClaimUnsupported, words)
        }
    };
    (kind, failure, words.to_string())
}

/// Why a claim is supported in part only.
fn in_part(places: Places) -> String {
    let Places { direct, needed, better } = places;
    match (direct, better) {
        (0, 0) => "what it cites says only a part of it".to_string(),
        (0, _) => "not all that it cites says it".to_string(),
        (1, _) if needed > 1 => format!("1 place says it, {needed} are needed"),
        (some, _) if some < needed => format!("{some} places say it, {needed} are needed"),
        (_enough, _) => "not enough of what says it is verified and up to date".to_string(),
    }
}

/// Feedback goes out, a person is asked where one is needed, and the outcome moves to where it was found to stand.
fn settle(
    desk: &mut Desk,
    round: &Round<'_>,
    evaluated: &Evaluated,
    voices: &Voices<'_>,
    resolved: &Resolved,
    moderator: Option<Moderator>,
) -> Result<Looked, Error> {
    let Voices { evaluator, judge, .. } = voices;
    let branch = match (round.ended, resolved.verdict) {
        (Some(state), _) => entry(state).branch,
        (None, Verdict::Failed) => FeedbackBranch::OnNeedsRevision,
        (None, Verdict::Passed | Verdict::Indeterminate | Verdict::NotApplicable) => FeedbackBranch::None,
    };
    for (voice, producer) in [(evaluator, Producer::OutcomeEvaluator), (judge, Producer::Judge)] {
        let bundle = feedback::emit(desk, &voice.result_id, producer, voice.verdict)?;
        if let Some(bundle) = bundle.filter(|_| branch != FeedbackBranch::None) {
            feedback::deliver(desk, &voice.result_id, &bundle, branch)?;
        }
    }
    let decisive = if round.ended.is_some() { Some(*evaluator) } else { voices.decisive(resolved.verdict) };
    let mut question = None;
    let is_disputed = decisive.is_none();
    match (resolved.verdict, decisive) {
        (Verdict::Passed | Verdict::NotApplicable | Verdict::Failed, Some(voice)) => {
            outcome::go(desk, &round.outcome.id, voice.state, "envelope emitted", Some(&voice.result_id))?;
        }
        (Verdict::Indeterminate, Some(voice)) if round.ended.is_some() => {
            outcome::go(desk, &round.outcome.id, voice.state, "envelope emitted", Some(&voice.result_id))?;
        }
        (Verdict::Indeterminate, Some(voice)) => {
            question = lacking::unsure(desk, round, voice, evaluated, &resolved.receipt)?
        }
        (Verdict::Passed | Verdict::NotApplicable | Verdict::Failed | Verdict::Indeterminate, None) => {
            let votes =
                [Vote::of(Voter::Evaluator, evaluator.verdict), Vote::of(Voter::Judge, judge.verdict)];
            let dispute =
                Dispute { receipt: &resolved.receipt, is_wrong: evaluator.verdict == Verdict::Failed };
            question = Some(forum::deliberate(desk, round, dispute, &votes, moderator)?);
            outcome::go(desk, &round.outcome.id, State::NeedsHumanJudgment, "envelope emitted", None)?;
        }
    }
    Ok(Looked {
        outcome: round.outcome.id.to_string(),
        verdict: resolved.verdict,
        state: outcome::state(desk, &round.outcome.id),
        question,
        is_disputed,
    })
}
