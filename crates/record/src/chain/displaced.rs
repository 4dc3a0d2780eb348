//! Rows that stand elsewhere than they were appended.
//! Owns: telling an inserted row, a closed gap and rows that changed places apart. Must not: see a row's content.
//!
//! A row's hash covers its place, so a displaced row can be asked where it belongs. One inserted row displaces
//! every row after it by one, up to the end of the ledger; a swap displaces two and leaves the rest alone.

use super::{Damage, Finding};
use alloc::vec::Vec;

/// Runs beyond this are not told apart any more; each of their rows is a moved one.
const RUNS_MAX: usize = 1_000;

/// Neighbours that are displaced alike: they stand at `first..=last` and belong at `first - shift..=last - shift`.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: u64,
    last: u64,
    shift: i64,
}

/// The displaced rows of a ledger, in order.
#[derive(Debug, Default)]
pub(super) struct Displaced {
    runs: Vec<Run>,
}

impl Displaced {
    /// The shifts worth trying for the next row.
    pub(super) fn candidates(&self) -> [i64; 5] {
        let last = self.runs.last().map_or(0, |run| run.shift);
        [last, last + 1, last - 1, 1, -1]
    }

    /// Notes that the row at `seq` belongs at `seq - shift`; whether it continues the run before.
    pub(super) fn note(&mut self, seq: u64, shift: i64) -> bool {
        if let Some(run) = self.runs.last_mut()
            && run.shift == shift
            && run.last + 1 == seq
        {
            run.last = seq;
            return true;
        }
        if self.runs.len() < RUNS_MAX {
            self.runs.push(Run { first: seq, last: seq, shift });
        }
        false
    }

    /// What happened. `findings` holds the rows that fit nowhere; those that were inserted are renamed.
    pub(super) fn explain(&self, head: u64, findings: &mut Vec<Finding>, findings_max: usize) {
        let tail = self.tail(head);
        for (at, run) in self.runs.iter().enumerate() {
            let known = if at > 0 { self.runs.get(at - 1).map_or(0, |before| before.shift) } else { 0 };
            let strangers = run.first.saturating_sub((run.shift - known).unsigned_abs())..run.first;
            let inserted = at >= tail
                && run.shift > known
                && strangers.clone().all(|seq| findings.iter().any(|finding| finding.seq == seq));
            if inserted {
                let renamed = findings.iter_mut().filter(|finding| strangers.contains(&finding.seq));
                renamed.for_each(|finding| finding.damage = Damage::Inserted);
            } else if at >= tail && run.shift < known {
                findings.push(Finding { seq: run.first, damage: Damage::ClosedGap });
            } else {
                let room = findings_max.saturating_sub(findings.len());
                let moved = (run.first..=run.last).take(room).filter_map(|seq| {
                    let from = seq.checked_add_signed(-run.shift)?;
                    Some(Finding { seq, damage: Damage::Moved { from } })
                });
                findings.extend(moved);
            }
        }
    }

    /// The first of the runs that reach to the end of the ledger, each farther off than the one before it.
    fn tail(&self, head: u64) -> usize {
        let mut tail = self.runs.len();
        let mut next = Run { first: head + 1, last: head + 1, shift: i64::MAX };
        for (at, run) in self.runs.iter().enumerate().rev() {
            let adjoins =
                run.last < next.first && next.first - run.last <= next.shift.unsigned_abs().min(head) + 1;
            let grows = next.shift == i64::MAX
                || (run.shift.signum() == next.shift.signum() && run.shift.abs() < next.shift.abs());
            if !(adjoins && grows) || (next.shift == i64::MAX && run.last != head) {
                break;
            }
            tail = at;
            next = *run;
        }
        tail
    }
}
