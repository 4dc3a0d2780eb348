//! What of an outcome nobody could score: what is asked of it, and what is left without anybody having looked at it.
//! Owns: which is which, who is asked next, and the names of what is left. Must not: score; nothing that nobody scored is passed over
//! in silence.

use super::voice::Voice;
use super::{Evaluated, Round};
use crate::call::{self, About};
use crate::desk::{Desk, Error};
use crate::outcome;
use crate::research;
use crate::score::{Found, Lacks, Scored};
use crate::task::{Criterion, Outcome};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::reference::Reference;
use countersign_govern::types::basic::{ScoringBasis, StorageRef, UnanchoredPolicy};
use countersign_govern::types::chain::EvaluationChainRegistryRecord;
use countersign_govern::types::claim::{ClaimSupportStatus, SourceEvidenceAnchor};
use countersign_govern::types::formula::MetricObservation;
use countersign_govern::types::outcome::EvaluationLimitationKind as Limitation;
use countersign_govern::types::quality::QualityIndexMissingDimensionPolicy as Missing;

/// What a look at an outcome could not score.
pub(super) struct Lacking<'a> {
    /// Whether everything is asked that lacks something, because the task has it so or nothing of the outcome would count.
    is_all_asked: bool,
    open: Vec<(&'a Criterion, Lacks)>,
    left: Vec<Limitation>,
}

impl<'a> Lacking<'a> {
    /// Of these scores.
    pub(super) fn of(outcome: &Outcome, scores: &[Scored]) -> Self {
        let counts = |(criterion, scored): (&Criterion, &Scored)| {
            matches!(scored.found, Found::Value { .. }) && outcome.counts(criterion)
        };
        let is_counted = outcome.criteria.iter().zip(scores).any(counts);
        let is_all_asked = outcome.missing() == Missing::Indeterminate || !is_counted;
        Lacking { is_all_asked, open: Vec::new(), left: Vec::new() }
    }

    /// Something is open until somebody says it.
    pub(super) fn open(&mut self, criterion: &'a Criterion, lacks: Lacks) {
        self.open.push((criterion, lacks));
    }

    /// Nobody could score a criterion. A label that the task asks for is asked for, whether or not it is required.
    pub(super) fn nobody(&mut self, criterion: &'a Criterion, lacks: Lacks) {
        match lacks {
            Lacks::Label => self.open(criterion, lacks),
            _other if criterion.is_required() || self.is_all_asked => self.open(criterion, lacks),
            Lacks::Information => self.left.push(Limitation::InsufficientEvidence),
            Lacks::Judge | Lacks::Tool | Lacks::Anchor | Lacks::Choice => {
                self.left.push(Limitation::MissingCapability);
            }
        }
    }

    /// A criterion is left out by its task, so nobody looks at it.
    pub(super) fn excluded(&mut self) {
        self.left.push(Limitation::MissingCapability);
    }

    /// What is lacking first.
    pub(super) fn first(&self) -> Option<(&'a Criterion, Lacks)> {
        self.open.first().copied()
    }

    /// How the result is limited by what is lacking.
    pub(super) fn limitations(&self) -> impl Iterator<Item = Limitation> {
        self.open.iter().map(|(_, lacks)| limitation(*lacks)).chain(self.left.iter().copied())
    }
}

fn limitation(lacks: Lacks) -> Limitation {
    match lacks {
        Lacks::Label | Lacks::Anchor | Lacks::Choice => Limitation::HumanJudgmentNeeded,
        Lacks::Judge | Lacks::Tool => Limitation::MissingCapability,
        Lacks::Information => Limitation::InsufficientEvidence,
    }
}

/// A criterion that the last look at its outcome gave no score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unscored {
    /// Its outcome, as the task calls it.
    pub outcome: String,
    /// What the task calls it.
    pub criterion: String,
    /// What it asks for.
    pub text: String,
    /// Why, as far as the task tells it.
    pub why: &'static str,
}

/// What nobody has scored of the outcomes that were looked at, in the order of the task.
#[must_use]
pub fn unscored(desk: &Desk) -> Vec<Unscored> {
    let mut all = Vec::new();
    for outcome in &desk.task().outcomes {
        let Some(chain) = super::last_chain(desk, &desk.own(&outcome.id)) else { continue };
        let mut chains = desk.each::<EvaluationChainRegistryRecord>("EvaluationChainRegistryRecord");
        let begun = chains.find(|found| found.id == chain).map_or(0, |found| found.seq);
        let observed = desk.each::<MetricObservation>("MetricObservation");
        let scored: BTreeSet<String> = observed
            .filter(|found| found.seq > begun)
            .map(|found| found.record.subject_ref.as_str().to_string())
            .collect();
        let is_open =
            |one: &&Criterion| !scored.contains(format!("criterion:{}", desk.own(&one.id)).as_str());
        all.extend(outcome.criteria.iter().filter(is_open).map(|one| Unscored {
            outcome: outcome.id.clone(),
            criterion: one.id.clone(),
            text: one.text.clone(),
            why: why(outcome, one),
        }));
    }
    all
}

fn why(outcome: &Outcome, criterion: &Criterion) -> &'static str {
    match criterion.basis {
        ScoringBasis::DeterministicCheck => NO_TOOL,
        ScoringBasis::SourceGrounded => "the work says nothing that a source could support",
        ScoringBasis::AnchoredRubric => NO_JUDGE,
        ScoringBasis::HumanLabel => "nobody was asked",
        ScoringBasis::UnanchoredLlmJudgment => match outcome.unanchored() {
            UnanchoredPolicy::Exclude => "the task leaves it out",
            UnanchoredPolicy::Indeterminate => "it rests on nothing that can be checked",
            UnanchoredPolicy::IncludeWithAuditFlag => NO_JUDGE,
        },
    }
}

/// Why nobody could look at a criterion, where nothing else is known of that.
const NO_JUDGE: &str = "there is no judge";
const NO_TOOL: &str = "what would look at it is not there";

/// Nobody can say yet: why decides who must do something.
pub(super) fn unsure(
    desk: &mut Desk,
    round: &Round<'_>,
    voice: &Voice,
    evaluated: &Evaluated,
    resolution: &StorageRef,
) -> Result<Option<String>, Error> {
    let lacking = evaluated.lacking.as_ref().and_then(|(id, why)| {
        let criterion = round.outcome.criteria.iter().find(|one| one.id == *id)?;
        Some((criterion, *why))
    });
    let about = match lacking {
        Some((criterion, Lacks::Label)) => Some(About::Label(criterion)),
        Some((criterion, Lacks::Anchor)) => Some(About::Unanchored(criterion)),
        Some((_, Lacks::Choice)) => {
            Some(About::Sources { sources: disagreeing(desk, round), resolution: resolution.clone() })
        }
        Some((_, Lacks::Information)) => {
            let question =
                round.subject.artifact.section(round.outcome.section.as_deref().unwrap_or_default());
            let question = question.map_or(round.outcome.statement.as_str(), |section| section.ask.as_str());
            research::for_outcome(desk, &round.subject.artifact.id, question)?;
            None
        }
        Some((criterion, Lacks::Judge)) => {
            Some(About::Unseen { criterion, why: evaluated.why.as_deref().unwrap_or(NO_JUDGE) })
        }
        Some((criterion, Lacks::Tool)) => {
            Some(About::Unseen { criterion, why: evaluated.why.as_deref().unwrap_or(NO_TOOL) })
        }
        None => None,
    };
    let question = about.map(|about| call::judgment(desk, round, &about)).transpose()?;
    outcome::go(desk, &round.outcome.id, voice.state, "envelope emitted", Some(&voice.result_id))?;
    Ok(question)
}

/// The sources that say different things of what the work claims.
fn disagreeing(desk: &Desk, round: &Round<'_>) -> BTreeSet<String> {
    let contradicted =
        round.subject.claims.iter().filter(|one| one.status == ClaimSupportStatus::Contradicted);
    let anchors = contradicted.flat_map(|one| one.supporting.iter().chain(&one.contradicting));
    let ids: BTreeSet<String> =
        anchors.filter_map(|one| Reference::read(one.as_str()).map(|read| read.id.to_string())).collect();
    let own = desk.all::<SourceEvidenceAnchor>().filter(|one| ids.contains(&one.anchor_id));
    own.filter_map(|one| {
        Reference::read(one.source_record_ref.as_str()).map(|read| desk.local(read.id).to_string())
    })
    .collect()
}
