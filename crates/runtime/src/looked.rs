//! What only the outside could tell of the work, as handoffs tell it.
//! Owns: writing it down and reading it again. Must not: look, or score.
//!
//! With this and the texts everything else is decided again, so nobody is asked and nothing is run a second time.

use crate::run::Happened;
use countersign_kernel::measure::Measured;
use countersign_kernel::run::Event;
use countersign_record::json::{Json, Object};
use countersign_work::forum::{Moderator, Proposal};
use countersign_work::score::Seen;
use serde::Serialize;
use std::collections::BTreeMap;

/// The output of whoever looks at the work.
pub(crate) const CRITIC: &str = "critic";
/// Where a handoff says what was found of what was wanted, the levels that a judge gave, and why nothing was seen.
const FOUND: &str = "found";
const LEVELS: &str = "levels";
const UNSEEN: &str = "unseen";
/// Where it says what whoever led a talk brought.
const LED: &str = "led";
/// The words for one who led a talk and proposed nothing.
const UNREADABLE: &str = "unreadable";
const SILENT: &str = "silent";
/// Where it says which commands were run, and on what.
pub(crate) const RAN: &str = "ran";

/// What was seen, and what was not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Looked {
    /// What was seen.
    pub(crate) seen: Seen,
    /// The commands that were run for it.
    pub(crate) ran: Vec<Json>,
}

/// The same, as a handoff tells it.
#[derive(Serialize)]
pub(crate) struct Told {
    found: BTreeMap<String, Counted>,
    levels: BTreeMap<String, [u64; 2]>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    unseen: BTreeMap<String, String>,
    /// What whoever led a talk brought, by outcome.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    led: BTreeMap<String, &'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ran: Vec<Json>,
}

#[derive(Serialize)]
struct Counted {
    met: u64,
    of: u64,
    missing: Vec<String>,
}

impl Looked {
    /// Takes what was seen of a criterion before, where nobody looks at it now.
    pub(crate) fn carry(&mut self, before: &Seen, criterion: &str) {
        let seen = &mut self.seen;
        let id = || criterion.to_owned();
        seen.checks.extend(before.checks.get(criterion).map(|one| (id(), one.clone())));
        seen.levels.extend(before.levels.get(criterion).map(|one| (id(), *one)));
        seen.unseen.extend(before.unseen.get(criterion).map(|why| (id(), why.clone())));
    }

    /// As a handoff tells it.
    pub(crate) fn told(&self) -> Told {
        let counted = |one: &Measured| Counted { met: one.met, of: one.of, missing: one.missing.clone() };
        Told {
            found: self.seen.checks.iter().map(|(id, one)| (id.clone(), counted(one))).collect(),
            levels: self.seen.levels.iter().map(|(id, (level, of))| (id.clone(), [*level, *of])).collect(),
            unseen: self.seen.unseen.clone(),
            led: self.seen.led.iter().map(|(id, one)| (id.clone(), word(*one))).collect(),
            ran: self.ran.clone(),
        }
    }

    /// As a handoff told it.
    pub(crate) fn read(payload: &Object) -> Self {
        let number = |value: Option<&Json>| match value {
            Some(Json::Number(number)) => number.as_u64(),
            Some(Json::Null | Json::Bool(_) | Json::String(_) | Json::Array(_) | Json::Object(_)) | None => {
                None
            }
        };
        let members =
            |name: &str| payload.get(name).and_then(Json::as_object).into_iter().flat_map(Object::iter);
        let checks = members(FOUND).filter_map(|(id, one)| {
            let (met, of) = (number(one.get("met"))?, number(one.get("of"))?);
            let missing = one.get("missing").and_then(Json::as_array).unwrap_or_default();
            let missing = missing.iter().filter_map(Json::as_str).map(str::to_owned).collect();
            Some((id.to_owned(), Measured { met, of, missing }))
        });
        let levels = members(LEVELS).filter_map(|(id, one)| {
            let pair = one.as_array()?;
            Some((id.to_owned(), (number(pair.first())?, number(pair.get(1))?)))
        });
        let unseen = members(UNSEEN).filter_map(|(id, why)| Some((id.to_owned(), why.as_str()?.to_owned())));
        let led = members(LED).filter_map(|(id, one)| Some((id.to_owned(), moderator(one.as_str()?))));
        Looked {
            seen: Seen {
                checks: checks.collect(),
                unseen: unseen.collect(),
                levels: levels.collect(),
                led: led.collect(),
            },
            ran: payload.get(RAN).and_then(Json::as_array).unwrap_or_default().to_vec(),
        }
    }
}

/// What whoever led a talk brought, in a word.
fn word(moderator: Moderator) -> &'static str {
    match moderator {
        Moderator::Proposes(proposal) => proposal.word(),
        Moderator::Unreadable => UNREADABLE,
        Moderator::Silent => SILENT,
    }
}

/// The same, from its word.
fn moderator(word: &str) -> Moderator {
    match (word, Proposal::find(word)) {
        (_, Some(proposal)) => Moderator::Proposes(proposal),
        (SILENT, None) => Moderator::Silent,
        (_, None) => Moderator::Unreadable,
    }
}

/// What was last seen of each criterion before a row: where nothing was seen the last time, nothing was.
pub(crate) fn last(happened: &[Happened], before: u64) -> Seen {
    let mut last = Seen::default();
    for one in happened.iter().filter(|one| one.seq < before) {
        let Event::Returned { output_key, handoff, .. } = &one.event else { continue };
        if output_key != CRITIC || handoff.payload.get(FOUND).is_none() {
            continue;
        }
        let Seen { checks, unseen, levels, .. } = Looked::read(&handoff.payload).seen;
        last.checks.retain(|id, _| !unseen.contains_key(id));
        last.levels.retain(|id, _| !unseen.contains_key(id));
        last.unseen.retain(|id, _| !checks.contains_key(id) && !levels.contains_key(id));
        last.checks.extend(checks);
        last.levels.extend(levels);
        last.unseen.extend(unseen);
    }
    last
}
