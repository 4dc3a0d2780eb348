//! Parts that are at their end and wait for those that they belong together with.
//! Owns: which of them do, as far as that is soon known. Must not: be relied on for that; what it does not see is looked at again.
//!
//! Runs that name each other mostly go on beside each other. Who looks at them together the first time need not read them twice.

use super::parts::Part;
use super::waiting::Row;
use crate::audit::links::Links;
use crate::audit::names::{Name, Names};
use crate::audit::run_of;
use crate::audit::shared::Has;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// A part that was not looked at.
pub(super) struct Ready {
    pub(super) stream: String,
    pub(super) rows: Vec<Row>,
    /// Each once, sorted.
    pub(super) names: Names,
    pub(super) bytes: usize,
    /// The place of its last row.
    pub(super) last: u64,
}

/// Who had a name last, and how.
type Slot = Option<(Name, Part, Has)>;

/// Names that are remembered: one more takes the place of the oldest that it may stand in the place of.
const SLOTS: u64 = 1 << 17;
/// Places in which a name may stand. Were it one, many would be forgotten before who shares them comes.
const WAYS: usize = 4;

/// Those that wait.
#[derive(Default)]
pub(super) struct Near {
    waiting: BTreeMap<Part, Ready>,
    links: Links,
    slots: Vec<Slot>,
    count: u32,
    /// Of all that wait.
    pub(super) bytes: usize,
}

impl Near {
    pub(super) fn add(&mut self, ready: Ready) {
        let part = Part(self.count);
        self.count = self.count.saturating_add(1);
        if self.slots.is_empty() {
            self.slots = vec![None; usize::try_from(SLOTS).unwrap_or(0)];
        }
        self.meet(Name::of_stream(&run_of(&ready.stream)), part, Has::Own);
        ready.names.own.iter().for_each(|name| self.meet(*name, part, Has::Own));
        ready.names.wanted.iter().for_each(|name| self.meet(*name, part, Has::Wanted));
        self.bytes += ready.bytes;
        self.waiting.insert(part, ready);
    }

    /// Joins a part with the last one that had a name, unless both only want it. Only what belongs together in the end is joined.
    fn meet(&mut self, name: Name, part: Part, has: Has) {
        let first = usize::try_from(name.0 % (SLOTS / WAYS as u64)).unwrap_or(0) * WAYS;
        let Some(slots) = self.slots.get_mut(first..first + WAYS) else { return };
        match slots.iter_mut().flatten().find(|(same, ..)| *same == name) {
            Some(slot) => {
                let (_, other, had) = *slot;
                if had == Has::Own || has == Has::Own {
                    self.links.join(part, other);
                }
                if had == Has::Wanted || has == Has::Own {
                    *slot = (name, part, has);
                }
            }
            None => {
                let oldest = slots.iter_mut().min_by_key(|slot| slot.map(|(_, part, _)| part));
                oldest.into_iter().for_each(|slot| *slot = Some((name, part, has)));
            }
        }
    }

    /// Those that wait no longer, by what belongs together: none of each has a row behind a place, or more wait than may. Without a
    /// place all.
    pub(super) fn leave(&mut self, until: Option<u64>, bytes_max: usize) -> Vec<Vec<Ready>> {
        let mut groups: BTreeMap<Part, (u64, Vec<Part>)> = BTreeMap::new();
        for (part, ready) in &self.waiting {
            let (last, parts) = groups.entry(self.links.root(*part)).or_default();
            *last = ready.last.max(*last);
            parts.push(*part);
        }
        // Who ended first has waited longest for others; these are then all there, or come much later.
        let mut groups: Vec<(u64, Vec<Part>)> = groups.into_values().collect();
        groups.sort_unstable();
        let mut all = Vec::new();
        for (last, parts) in groups {
            if until.is_some_and(|until| last > until) && self.bytes <= bytes_max {
                break;
            }
            let together: Vec<Ready> = parts.iter().filter_map(|part| self.waiting.remove(part)).collect();
            self.bytes -= together.iter().map(|ready| ready.bytes).sum::<usize>();
            all.push(together);
        }
        all
    }
}
