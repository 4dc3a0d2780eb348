//! Which ways are left for an outcome.
//! Owns: when a way is used up, and why one does not apply. Must not: know what a finding is.

use super::{Idea, Wants, Way, fixed, ideas, plain, section_ref};
use crate::desk::{Desk, Error};
use crate::evaluate::Head;
use crate::finding;
use crate::revise::{anew, plans};
use crate::task::{Outcome, QUOTES_MAX};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use countersign_govern::types::added::policy::CapabilitySnapshot;
use countersign_govern::types::basic::RevisionPlanStepKind as StepKind;
use countersign_govern::types::regeneration::{
    RegenerateAttemptReceipt, RegenerateAttemptReceiptActionTaken as Action,
};
use countersign_govern::types::revision::RevisionOperationKind as Operation;
use countersign_govern::types::sufficiency::CandidateRepairProcedureInapplicableReason as Reason;

/// More quotes that each attempt on a section takes.
pub(crate) const QUOTES_STEP: u64 = 2;
/// Attempts at putting a whole artifact right.
const REPAIRS_MAX: u64 = 2;

/// A way to mend an outcome, and whether it is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) way: Way,
    pub(crate) left: Left,
    /// Whether it was taken before.
    pub(crate) is_tried: bool,
}

/// Whether a way is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// It can be taken.
    Open,
    /// It was taken as often as it may be.
    Used,
    /// It gives nothing new any more.
    Identical,
    /// It can't be taken here.
    Not(Reason),
}

/// The ways for the live findings of an outcome, each once.
pub(crate) fn candidates(
    desk: &Desk,
    outcome: &Outcome,
    head: &Head<'_>,
    since: u64,
) -> Result<Vec<Candidate>, Error> {
    let own: Vec<String> = outcome.criteria.iter().map(|one| desk.own(&one.id)).collect();
    let is_own = |one: &finding::Known| {
        finding::is_live(one.state)
            && one.event.target_criterion_id.as_ref().is_some_and(|id| own.contains(id))
    };
    let mut all: Vec<Idea> = finding::all(desk)
        .iter()
        .filter(|one| is_own(one))
        .flat_map(|one| ideas(desk, outcome, head, one))
        .collect();
    if all.is_empty() {
        all = plain(desk, outcome, head);
    }
    let history = History::of(desk, head.artifact);
    let (mut candidates, mut ways): (Vec<Candidate>, BTreeSet<Way>) = (Vec::new(), BTreeSet::new());
    for idea in all {
        let candidate = match idea {
            Idea::Section(section, wants) => history.section(desk, head.artifact, &section, wants, since)?,
            Idea::Other(way) => history.other(desk, head.artifact, way, since)?,
        };
        if ways.insert(candidate.way.clone()) {
            candidates.push(candidate);
        }
    }
    Ok(candidates)
}

/// Where steps were begun, by their kind and what they are about.
struct History {
    begun: BTreeMap<(StepKind, String), Vec<u64>>,
}

impl History {
    fn of(desk: &Desk, artifact: &str) -> Self {
        let mut begun: BTreeMap<(StepKind, String), Vec<u64>> = BTreeMap::new();
        for plan in plans::all(desk).into_iter().filter(|plan| plan.artifact == artifact) {
            for step in plan.steps() {
                let starts = plans::receipts(desk, &step.id).into_iter();
                let starts = starts
                    .filter(|(_, one)| one.operation_kind == Some(Operation::StepStarted))
                    .map(|(seq, _)| seq);
                begun.entry((step.kind, fixed(&step.target))).or_default().extend(starts);
            }
        }
        History { begun }
    }

    /// How often something was begun, and how often since a place.
    fn count(&self, kind: StepKind, target: &str, since: u64) -> (u64, u64) {
        let all = self.begun.get(&(kind, String::from(target))).map(Vec::as_slice).unwrap_or_default();
        (all.len() as u64, all.iter().filter(|seq| **seq > since).count() as u64)
    }

    fn section(
        &self,
        desk: &Desk,
        artifact: &str,
        section: &str,
        wants: Wants,
        since: u64,
    ) -> Result<Candidate, Error> {
        let drafted = desk.task().artifact(artifact).and_then(|one| one.section(section));
        let first = drafted.map_or(1, |one| one.quotes());
        let target = section_ref(desk, artifact, section)?;
        let (begun, _) = self.count(StepKind::RegenerateSection, &fixed(&target), since);
        let quotes = varied(first, wants, anew::outputs(desk, &target).len() as u64);
        let way = Way::Section { section: String::from(section), quotes: quotes.unwrap_or(first) };
        let left = match (given_up(desk, target.as_str(), since), quotes) {
            (Some(left), _) => left,
            (None, None) => Left::Used,
            (None, Some(_)) => able(desk, &way),
        };
        Ok(Candidate { way, left, is_tried: begun > 0 })
    }

    fn other(&self, desk: &Desk, artifact: &str, way: Way, since: u64) -> Result<Candidate, Error> {
        let target = fixed(&way.target(desk, artifact)?);
        let (begun, recent) = self.count(way.kind(), &target, since);
        let most = match &way {
            Way::Search(_) | Way::Cite(_) | Way::Without(_) | Way::Section { .. } => 1,
            Way::Repair | Way::Rewrite => REPAIRS_MAX,
            Way::Verify(_) => 0,
        };
        let left = match &way {
            Way::Verify(_) => Left::Not(Reason::UnsafeWithoutHuman),
            Way::Search(_)
            | Way::Cite(_)
            | Way::Without(_)
            | Way::Section { .. }
            | Way::Repair
            | Way::Rewrite => {
                if recent >= most {
                    Left::Used
                } else {
                    able(desk, &way)
                }
            }
        };
        Ok(Candidate { way, left, is_tried: begun > 0 })
    }
}

/// How many quotes the next attempt takes after so many texts; `None` if it would take no other number.
pub(crate) fn varied(first: u64, wants: Wants, given: u64) -> Option<u64> {
    match wants {
        Wants::More => {
            let at = |given: u64| first.saturating_add(given.saturating_mul(QUOTES_STEP)).min(QUOTES_MAX);
            Some(at(given.saturating_add(1))).filter(|next| *next > at(given))
        }
        Wants::Others => match given.checked_sub(1) {
            None => Some(first),
            Some(given) => varied(first, Wants::More, given),
        },
        Wants::Fewer => first.checked_sub(given.saturating_add(1)).filter(|next| *next > 0),
    }
}

/// Whether what a way needs is there.
fn able(desk: &Desk, way: &Way) -> Left {
    let snapshot: Option<CapabilitySnapshot> = desk.find("CapabilitySnapshot", &desk.own("capabilities"));
    let offers = snapshot.map(|one| one.capabilities).unwrap_or_default();
    let is_there =
        way.capability().is_none_or(|id| offers.iter().any(|one| one.capability_id == id && one.healthy));
    if is_there { Left::Open } else { Left::Not(Reason::MissingCapability) }
}

/// Why a section is not asked for again: it gave the same text until nothing could be varied, or sources have nothing more.
fn given_up(desk: &Desk, target: &str, since: u64) -> Option<Left> {
    let own = desk.each::<RegenerateAttemptReceipt>("RegenerateAttemptReceipt");
    let own = own.filter(|found| found.seq > since);
    let own: Vec<RegenerateAttemptReceipt> = own
        .map(|found| found.record)
        .filter(|one| one.target_ref.as_ref().is_some_and(|to| to.as_str() == target))
        .collect();
    let last = own.last().filter(|one| one.action_taken == Action::Escalated)?;
    let is_same = |one: &RegenerateAttemptReceipt| {
        one.step_id == last.step_id && one.action_taken == Action::RejectedIdenticalOutput
    };
    let left =
        if own.iter().any(is_same) { Left::Identical } else { Left::Not(Reason::RequiresMissingEvidence) };
    Some(left)
}
