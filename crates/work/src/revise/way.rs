//! In which ways a finding may be mended, and which of them are left.
//! Owns: the ways for each kind of finding, and when one is used up. Must not: take one.

mod left;

pub(crate) use left::{Candidate, Left, candidates, varied};

use super::plans::Step;
use crate::claims::Claimed;
use crate::desk::{Desk, Error, reference};
use crate::evaluate::Head;
use crate::finding::Known;
use crate::score;
use crate::task::{Artifact, ArtifactKind, Criterion, Outcome, TestKind};
use crate::workspace;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::reference::Reference;
use countersign_govern::types::basic::{
    ClaimRef, FailureKind, RepairStrategyKind as Strategy, RevisionPlanStepKind as StepKind, StorageRef,
};
use countersign_govern::types::claim::{ClaimSupportStatus, SourceEvidenceAnchor};
use countersign_govern::types::sufficiency::CandidateRepairProcedureSafetyClass as Safety;
use countersign_kernel::claim::outline;
use countersign_kernel::measure::{Check, measure};

/// A way to mend something.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    /// Sources are searched once more for what a claim says.
    Search(ClaimRef),
    /// A section is drafted anew, with so many quotes.
    Section {
        /// Which, as the task calls it.
        section: String,
        /// How many quotes it takes at most.
        quotes: u64,
    },
    /// The sentence of a claim gets the citations of places that say it; its words stay.
    Cite(ClaimRef),
    /// The sentence of a claim is taken out.
    Without(ClaimRef),
    /// A document in JSON, or code, is put right as a whole.
    Repair,
    /// A text that nobody drafted here is rewritten.
    Rewrite,
    /// A person verifies a source.
    Verify(String),
}

impl Way {
    /// The kind of step that it takes.
    pub(crate) fn kind(&self) -> StepKind {
        match self {
            Way::Search(_) => StepKind::SourceResearch,
            Way::Section { .. } => StepKind::RegenerateSection,
            Way::Without(_) | Way::Rewrite => StepKind::EditArtifact,
            Way::Cite(_) | Way::Repair => StepKind::FormatRepair,
            Way::Verify(_) => StepKind::VerificationRequest,
        }
    }

    /// The strategy that it is.
    pub(crate) fn strategy(&self) -> Strategy {
        match self {
            Way::Search(_) => Strategy::AddEvidence,
            Way::Section { .. } => Strategy::Regenerate,
            Way::Without(_) => Strategy::RemoveClaim,
            Way::Cite(_) | Way::Repair => Strategy::MechanicalFormatFix,
            Way::Rewrite => Strategy::TargetedEdit,
            Way::Verify(_) => Strategy::RequestVerification,
        }
    }

    /// What must be there for it, by its id in the snapshot of capabilities.
    pub(crate) fn capability(&self) -> Option<&'static str> {
        match self {
            Way::Search(_) | Way::Cite(_) => Some("quote_sources"),
            Way::Section { .. } => Some("revise_by_quotes"),
            Way::Repair => Some("write_code"),
            Way::Rewrite => Some("rewrite_text"),
            Way::Without(_) | Way::Verify(_) => None,
        }
    }

    /// Whether what it gives says something else: all that changes a text may, and more is at stake where sources are privileged.
    pub(crate) fn safety(&self, desk: &Desk) -> Safety {
        match self {
            Way::Search(_) | Way::Verify(_) => Safety::Mechanical,
            Way::Section { .. } | Way::Cite(_) | Way::Without(_) | Way::Repair | Way::Rewrite => {
                let (_, _, is_privileged) = workspace::whole(desk);
                if is_privileged { Safety::Privileged } else { Safety::MeaningBearing }
            }
        }
    }

    /// What it is about, in an artifact of the task. The version of a section is how many quotes it takes.
    pub(crate) fn target(&self, desk: &Desk, artifact: &str) -> Result<StorageRef, Error> {
        let text = match self {
            Way::Search(claim) | Way::Cite(claim) | Way::Without(claim) => claim.as_str().to_string(),
            Way::Section { section, quotes } => format!("section:{}/{section}@{quotes}", desk.own(artifact)),
            Way::Repair | Way::Rewrite => return desk.artifact_ref(artifact),
            Way::Verify(source) => desk.source_ref(source)?.as_str().to_string(),
        };
        StorageRef::try_from(text.as_str()).map_err(|_| Error::Unnameable(text))
    }

    /// The way that a step of a plan takes; `None` for one that only has something looked at.
    pub(crate) fn of(step: &Step) -> Option<Way> {
        let claim = || ClaimRef::try_from(step.target.as_str()).ok();
        match step.kind {
            StepKind::SourceResearch => claim().map(Way::Search),
            StepKind::RegenerateSection => {
                let target = Reference::read(step.target.as_str())?;
                let (_, section) = target.id.rsplit_once('/')?;
                Some(Way::Section { section: section.to_string(), quotes: target.version?.into() })
            }
            StepKind::EditArtifact => Some(claim().map_or(Way::Rewrite, Way::Without)),
            StepKind::FormatRepair => Some(claim().map_or(Way::Repair, Way::Cite)),
            StepKind::Restructure
            | StepKind::VerificationRequest
            | StepKind::HardCall
            | StepKind::ExternalSideEffect
            | StepKind::Revalidate => None,
        }
    }
}

/// A target without what varies of it, so that attempts on one thing are known as such.
pub(crate) fn fixed(target: &StorageRef) -> String {
    match Reference::read(target.as_str()) {
        Some(read) => Reference { version: None, hash: None, ..read }.to_string(),
        None => target.as_str().to_string(),
    }
}

/// The reference to a section, whatever it takes.
pub(crate) fn section_ref(desk: &Desk, artifact: &str, section: &str) -> Result<StorageRef, Error> {
    let text = format!("section:{}/{section}", desk.own(artifact));
    StorageRef::try_from(text.as_str()).map_err(|_| Error::Unnameable(text))
}

/// What is wanted of a section: more of the sources, less, or other words of theirs than those that were found wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wants {
    More,
    Fewer,
    Others,
}

/// What may mend a finding, what is best first.
pub(crate) enum Idea {
    /// A section is drafted anew.
    Section(String, Wants),
    /// Something else.
    Other(Way),
}

/// The ideas for one finding of an outcome.
pub(crate) fn ideas(desk: &Desk, outcome: &Outcome, head: &Head<'_>, known: &Known) -> Vec<Idea> {
    let event = &known.event;
    let claims = || event.affected_claim_refs.iter().filter(|one| claimed(head, one).is_some()).cloned();
    match event.match_key.failure_kind {
        FailureKind::ClaimUnsupported => {
            // What stands in a source stays: it only cites the wrong place.
            let then = |claim: ClaimRef| match claimed(head, &claim).map_or(0, |one| one.places.better) {
                0 => Way::Without(claim),
                _some => Way::Cite(claim),
            };
            claims().flat_map(|one| [Way::Search(one.clone()), then(one)]).map(Idea::Other).collect()
        }
        FailureKind::ClaimContradicted => {
            let mut ideas: Vec<Idea> = Vec::new();
            for claim in claims() {
                ideas.extend(
                    drafted_with(desk, head, &claim).map(|section| Idea::Section(section, Wants::Others)),
                );
                ideas.push(Idea::Other(Way::Without(claim)));
            }
            ideas
        }
        FailureKind::SourceStale => {
            let sources = claims().flat_map(|one| doubtful(desk, head, &one));
            let mut sources: Vec<String> = sources.collect();
            sources.sort();
            sources.dedup();
            sources.into_iter().map(|one| Idea::Other(Way::Verify(one))).collect()
        }
        FailureKind::CriterionUnmet
        | FailureKind::SourceMissing
        | FailureKind::VerificationFailed
        | FailureKind::FormatInvalid
        | FailureKind::PolicyBlocked
        | FailureKind::CapabilityMissing
        | FailureKind::ToolFailed
        | FailureKind::Timeout
        | FailureKind::IdenticalOutput
        | FailureKind::Regression => {
            let id = event.target_criterion_id.as_deref().map(|id| desk.local(id));
            let criterion = outcome.criteria.iter().find(|one| Some(one.id.as_str()) == id);
            unmet(desk, outcome, criterion, head)
        }
    }
}

/// The ideas for an outcome that has no finding.
pub(crate) fn plain(desk: &Desk, outcome: &Outcome, head: &Head<'_>) -> Vec<Idea> {
    unmet(desk, outcome, None, head)
}

fn claimed<'h>(head: &'h Head<'_>, claim: &ClaimRef) -> Option<&'h Claimed> {
    head.claims.iter().find(|one| one.claim_ref == *claim)
}

/// The section that is drafted here and has a claim: other words of the sources may be better than none.
fn drafted_with(desk: &Desk, head: &Head<'_>, claim: &ClaimRef) -> Option<String> {
    let artifact = desk.task().artifact(head.artifact).filter(|one| one.from.is_none())?;
    let heading = claimed(head, claim)?.section.as_deref()?;
    artifact.sections().iter().find(|one| one.heading == heading).map(|one| one.id.clone())
}

/// The sources of a claim that nobody verified, or that are out of date.
fn doubtful(desk: &Desk, head: &Head<'_>, claim: &ClaimRef) -> Vec<String> {
    let Some(claimed) = claimed(head, claim) else { return Vec::new() };
    let anchors: Vec<&str> = claimed
        .supporting
        .iter()
        .filter_map(|one| Reference::read(one.as_str()))
        .map(|read| read.id)
        .collect();
    let sources = desk.all::<SourceEvidenceAnchor>().filter(|one| anchors.contains(&one.anchor_id.as_str()));
    sources
        .map(|one| one.source_record_ref)
        .filter(|one| crate::rely::is_doubtful(desk, one))
        .filter_map(|one| Reference::read(one.as_str()).map(|read| desk.local(read.id).to_string()))
        .collect()
}

/// What helps where a criterion is not met.
fn unmet(desk: &Desk, outcome: &Outcome, criterion: Option<&Criterion>, head: &Head<'_>) -> Vec<Idea> {
    let Some(artifact) = desk.task().artifact(head.artifact).cloned() else { return Vec::new() };
    match artifact.kind {
        ArtifactKind::Json | ArtifactKind::Code => Vec::from([Idea::Other(Way::Repair)]),
        ArtifactKind::Markdown => {
            let offending = offending(desk, outcome, criterion, head);
            let drafted = drafted(outcome, criterion, &artifact, head);
            let wants = wants(outcome, criterion, &artifact, head);
            if !offending.is_empty() {
                offending.into_iter().map(|claim| Idea::Other(Way::Without(claim))).collect()
            } else if !drafted.is_empty() {
                drafted.into_iter().map(|section| Idea::Section(section, wants)).collect()
            } else {
                Vec::from([Idea::Other(Way::Rewrite)])
            }
        }
    }
}

/// The claims that have what a criterion forbids.
fn offending(
    desk: &Desk,
    outcome: &Outcome,
    criterion: Option<&Criterion>,
    head: &Head<'_>,
) -> Vec<ClaimRef> {
    let test = criterion.and_then(|one| one.check.as_ref());
    let Some(check) = test.and_then(score::check_of) else { return Vec::new() };
    let forbids = match &check {
        Check::Matches { is_forbidden, .. } => *is_forbidden,
        Check::Sections(_) | Check::Length { .. } | Check::Mentions { .. } | Check::Citations { .. } => false,
    };
    let heading = desk.task().artifact(head.artifact).and_then(|one| score::heading(outcome, one));
    let is_in = |one: &&Claimed| heading.is_none() || one.section.as_deref() == heading;
    let offends = |one: &&Claimed| {
        let words = head.text.get(one.span.clone()).unwrap_or_default();
        measure(&check, words, None).met == 0
    };
    // Only a sentence can be taken out.
    let held = head.claims.iter().filter(|one| one.status != ClaimSupportStatus::NotChecked);
    let own = held.filter(|_| forbids).filter(is_in).filter(offends);
    own.map(|one| one.claim_ref.clone()).collect()
}

/// The sections that are drafted here and that a criterion is about.
fn drafted(
    outcome: &Outcome,
    criterion: Option<&Criterion>,
    artifact: &Artifact,
    head: &Head<'_>,
) -> Vec<String> {
    let all = || artifact.sections().iter();
    if let Some(section) = outcome.section.as_deref() {
        return all().filter(|one| one.id == section).map(|one| one.id.clone()).collect();
    }
    let test = criterion.and_then(|one| one.check.as_ref());
    let wanted: Option<Vec<String>> = test.and_then(|test| match test.kind {
        TestKind::Section => Some(test.heading.iter().cloned().collect()),
        TestKind::Sections => Some(test.headings.clone().unwrap_or_default()),
        TestKind::Length
        | TestKind::Matches
        | TestKind::Mentions
        | TestKind::Citations
        | TestKind::JsonSchema
        | TestKind::Command => None,
    });
    let outline = outline(head.text);
    let says = |heading: &str| outline.body(heading).is_some_and(|body| !body.trim().is_empty());
    let is_wanted = |heading: &String| match &wanted {
        Some(wanted) => wanted.contains(heading) && !says(heading),
        None => true,
    };
    all().filter(|one| is_wanted(&one.heading)).map(|one| one.id.clone()).collect()
}

/// Whether there is too little, or too much.
fn wants(outcome: &Outcome, criterion: Option<&Criterion>, artifact: &Artifact, head: &Head<'_>) -> Wants {
    let most = criterion.and_then(|one| one.check.as_ref()).and_then(|test| test.words_max);
    let most = most.map(|max| Check::Length { min: None, max: Some(max) });
    let is_long =
        most.is_some_and(|check| measure(&check, head.text, score::heading(outcome, artifact)).met == 0);
    if is_long { Wants::Fewer } else { Wants::More }
}

/// What a way is called where an outcome is mended by it.
pub(crate) fn procedure(desk: &Desk, outcome: &str, way: &Way, artifact: &str) -> Result<String, Error> {
    let target = reference_hash(&fixed(&way.target(desk, artifact)?));
    Ok(desk.own(&format!("way.{outcome}.{}.{target}", way.strategy().as_str())))
}

/// Characters of a hash that tell targets apart.
const NAME_CHARS: usize = 12;

fn reference_hash(text: &str) -> String {
    let hash = countersign_record::digest::Digest::of(text.as_bytes()).to_string();
    hash.get(..NAME_CHARS).unwrap_or(&hash).to_string()
}

/// The reference to what says that an outcome stands somehow.
pub(crate) fn outcome_ref(desk: &Desk, outcome: &str) -> Result<StorageRef, Error> {
    reference("OutcomeRecord", &desk.own(outcome))
}
