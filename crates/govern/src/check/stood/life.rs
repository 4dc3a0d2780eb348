//! One thing on its way from row to row.
//! Owns: what is kept of the rows before, to decide what may come next. Must not: know what moves what, or which way there is; the
//! tables of the folds do.

use super::{Row, Told, known};
use crate::check::course::Course;
use crate::fold::chain::state_after;
use crate::fold::family::{By, FINDING, Family, GENERAL, Move, NEED};
use crate::fold::guard;
use crate::fold::research::{is_answer, is_free};
use crate::fold::row;
use crate::member::Member;
use crate::types::basic::ProducerKind;
use crate::world::Record;
use alloc::collections::BTreeSet;
use countersign_record::json::Json;

/// The state to which only an operation on the workspace leads a question.
const ANSWERED: &str = "answered";
const LEASE: &str = "ResearchNeedLease";

/// A thing, and how it came to stand.
pub(super) struct Life<'w> {
    family: &'static Family,
    pub(super) course: Course<&'static str>,
    state: Option<&'static str>,
    /// The last row that says what it is.
    thing: Option<Record<'w>>,
    /// Where a life begins that was first written down on its way: what led there may be told behind that.
    start: Option<&'static str>,
    /// The lease that a question is held under.
    lease: Option<&'w Json>,
    /// Whether a receipt told of an answer, which counts once the thing itself says so.
    is_answer_told: bool,
    /// Who has still to answer in a chain, and the results that it has.
    waiting: BTreeSet<&'w str>,
    results: BTreeSet<&'w str>,
}

impl<'w> Life<'w> {
    pub(super) fn of(family: &'static Family) -> Self {
        let (waiting, results) = (BTreeSet::new(), BTreeSet::new());
        let (course, state, thing, start, lease) = (Course::new(), None, None, None, None);
        Life { family, course, state, thing, start, lease, is_answer_told: false, waiting, results }
    }

    /// The next row; whether it moved the thing.
    pub(super) fn take(&mut self, (row, told): Row<'w>) -> bool {
        let moved = match told {
            Told::Begins(stated) => {
                self.begin(row, stated);
                return false;
            }
            Told::Is(word) => {
                self.stand(row, known(self.family.machine, word));
                return false;
            }
            Told::Goes(step) => self.go(row, &step),
            Told::Answers(answer) => self.answer(row, &answer),
            Told::Hears => match self.start {
                // What was written down late has said where it came to.
                Some(_) => return self.is_new(row),
                None => self.hear(row),
            },
        };
        if let Some(to) = moved {
            self.start = None;
            self.stand(row, Some(to));
        }
        moved.is_some()
    }

    fn stand(&mut self, row: Record<'w>, state: Option<&'static str>) {
        if self.state != state {
            self.state = state;
            self.course.push((row.seq(), state));
        }
    }

    fn begin(&mut self, row: Record<'w>, stated: Option<&'w str>) {
        let initial = self.family.machine.initial;
        let stated = stated.and_then(|word| known(self.family.machine, word));
        let is_late = stated.is_some_and(|stated| !initial.contains(&stated));
        if self.state.is_none() && is_late && self.family.kind != FINDING.kind {
            self.start = initial.first().copied();
        }
        if self.thing.is_none() {
            self.waiting = row.json().texts("expected_producers").into_iter().collect();
        }
        self.thing = Some(row);
        // What a receipt told and no operation did is so where the thing says it too.
        let is_told = self.is_answer_told && stated == Some(ANSWERED);
        let state = if is_told { stated } else { self.state.or(stated).or(initial.first().copied()) };
        self.stand(row, state);
    }

    /// Where a move leads, from where the thing is or from where it may have begun.
    fn ahead(&self, reached: impl Fn(Option<&'static str>) -> Option<&'static str>) -> Option<&'static str> {
        reached(self.state).or_else(|| reached(Some(self.start?)))
    }

    fn go(&mut self, row: Record<'w>, step: &Move<'_>) -> Option<&'static str> {
        let is_lease = row.kind() == LEASE;
        let is_taken = |at: Option<&'static str>| at.is_none() || is_free(at, self.lease, row.json());
        let to = self.ahead(|at| match is_lease {
            true => is_taken(at).then(|| known(self.family.machine, step.to)).flatten(),
            false => reached(self.family, at, step, row, self.thing),
        })?;
        if row.kind() == GENERAL && self.family.kind == NEED.kind && to == ANSWERED {
            self.is_answer_told = true;
            return None;
        }
        self.lease = is_lease.then(|| row.json());
        Some(to)
    }

    fn answer(&mut self, row: Record<'w>, answer: &Json) -> Option<&'static str> {
        let step = Move { from: None, to: ANSWERED, by: By::Pair };
        let to = self.ahead(|at| {
            let counts = at.is_none() || is_answer(at, self.lease, answer);
            reached(self.family, at, &step, row, self.thing).filter(|_| counts)
        })?;
        self.lease = None;
        Some(to)
    }

    fn is_new(&mut self, result: Record<'w>) -> bool {
        result.json().id_at("result_id").is_some_and(|result| self.results.insert(result))
    }

    /// A result counts once, for a chain that was there before it and still waits.
    fn hear(&mut self, row: Record<'w>) -> Option<&'static str> {
        let is_open = matches!(self.state, Some("open" | "partial"));
        let chain = self.thing.filter(|_| is_open)?;
        if !self.is_new(row) {
            return None;
        }
        if let Some(producer) = row.json().text("producer_kind").and_then(ProducerKind::find) {
            self.waiting.remove(producer.as_str());
        }
        let to = state_after(self.waiting.is_empty());
        let step = Move { from: None, to, by: By::Pair };
        reached(self.family, self.state, &step, row, Some(chain))
    }
}

/// Where a move leads from a state. What nobody wrote down is where the first row that tells of it says; where that says nothing, it
/// may be anywhere.
fn reached(
    family: &Family,
    state: Option<&'static str>,
    step: &Move<'_>,
    row: Record<'_>,
    thing: Option<Record<'_>>,
) -> Option<&'static str> {
    let to = known(family.machine, step.to)?;
    let Some(at) = state.or(step.from) else { return Some(to) };
    let says =
        |member: &str| thing?.json().at(if member == "current_severity" { "severity" } else { member });
    let may = || guard::holds(family, at, step, &row::Row::from(row), &says);
    (family.has_way(at, step) && may()).then_some(to)
}
