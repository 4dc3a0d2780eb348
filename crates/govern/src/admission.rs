//! The door of a log: rows are let in if nothing becomes wrong with the log by them.
//! Owns: what was let in so far, what is wrong with it, asking the rules again that a batch can touch. Must not: judge by itself; write a log.
//!
//! Rows that are appended together are one batch, and are let in together or not at all. A batch is refused exactly if the log has an
//! error with it that it has not without it at the same time: what was wrong before, and what is wrong only because time went on, is no
//! fault of the batch. Warnings refuse nothing; nor does what was caught and is told in the way that the contract prescribes.
//!
//! One thing is refused that is no error of the audit, because the contract has a rule for the door and no code: a signal to learn from is
//! written after the receipts that it names (B-21).

use crate::check::along::{Rows, Walk, walks};
use crate::check::{Diagnostic, Rule, Severity, found_by, rules, settled};
use crate::reach::{self, Contradiction};
use crate::world::{Looked, Placed, World};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::time::Instant;

/// Rows that were let in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Admitted {
    /// What may be left so, and should not be.
    pub warnings: Vec<Diagnostic>,
    /// What is told of in the way that the contract prescribes: it went wrong, and the log says so.
    pub caught: Vec<Diagnostic>,
}

/// Rows that were not let in: what would be wrong with the log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", told(.codes, .contradictions))]
pub struct Refused {
    /// The errors, sorted.
    pub codes: Vec<Diagnostic>,
    /// What rows of the batch name that is not in before them, where the contract has no code for that.
    pub contradictions: Vec<Contradiction>,
}

fn told(codes: &[Diagnostic], contradictions: &[Contradiction]) -> String {
    let codes = codes.iter().map(|one| format!("row {}: validation.{}", one.row, one.code));
    let contradictions =
        contradictions.iter().map(|one| format!("row {}: {} {}", one.row, one.path, one.message));
    codes.chain(contradictions).collect::<Vec<_>>().join(", ")
}

/// What a rule says of a log, and what it looked at for that.
struct Answer {
    rule: &'static Rule,
    found: Vec<Diagnostic>,
    looked: Looked,
}

impl Answer {
    fn of(world: &World, rule: &'static Rule) -> Self {
        world.looked();
        let found = found_by(world, rule);
        Answer { rule, found, looked: world.looked() }
    }
}

/// What goes along the rows, and what it found so far.
struct Going {
    walk: Walk,
    /// How many rows it has seen.
    seen: usize,
    found: Vec<Diagnostic>,
}

/// Lets rows in.
pub struct Desk {
    world: World,
    answers: Vec<Answer>,
    going: Vec<Going>,
}

impl Desk {
    /// A desk for a log with these rows, at the time of the last of them. What is wrong with them already stays so.
    #[must_use]
    pub fn new(rows: Vec<Placed>) -> Self {
        let world = World::placed(rows.into_iter(), None);
        let answers = rules().map(|(_, rule)| Answer::of(&world, rule)).collect();
        let mut desk = Desk { world, answers, going: Vec::new() };
        desk.go();
        desk
    }

    /// Those who go along the rows come to the last one; who saw rows that were taken out begins again.
    fn go(&mut self) {
        let rows = self.world.len();
        if self.going.is_empty() || self.going.iter().any(|going| going.seen > rows) {
            let begin = |walk| Going { walk, seen: 0, found: Vec::new() };
            self.going = walks(Rows::MoreCome).map(begin).collect();
        }
        for going in &mut self.going {
            going.found.extend(going.walk.go(&self.world, going.seen));
            going.seen = rows;
        }
    }

    /// What is wrong with the log as it stands, sorted.
    #[must_use]
    pub fn codes(&self) -> Vec<Diagnostic> {
        let answers = self.answers.iter().flat_map(|answer| &answer.found);
        settled(answers.chain(self.along()).cloned().collect())
    }

    fn along(&self) -> impl Iterator<Item = &Diagnostic> {
        self.going.iter().flat_map(|going| &going.found)
    }

    /// Lets a batch in, if nothing becomes wrong by it. Its rows have places behind those that are in.
    ///
    /// # Errors
    /// Something would be wrong; then nothing is let in.
    pub fn admit(&mut self, batch: Vec<Placed>, at: Instant) -> Result<Admitted, Refused> {
        self.ask(batch, at).map(Asked::let_in)
    }

    /// Asks whether a batch may be let in. It is in once `let_in` is called, so that what could not be written is not in.
    ///
    /// # Errors
    /// Something would be wrong.
    pub fn ask(&mut self, batch: Vec<Placed>, at: Instant) -> Result<Asked<'_>, Refused> {
        self.wait(at);
        let (before, rows) = (self.codes(), self.world.len());
        let touched = self.world.append(batch.into_iter());
        let again = self
            .answers
            .iter()
            .map(|answer| answer.looked.meets(&touched).then(|| Answer::of(&self.world, answer.rule)));
        let again = again.collect();
        self.go();
        let mut asked = Asked { desk: self, rows, again, admitted: Admitted::default() };
        let after = asked.codes();
        let caught = asked.caught(&after);
        let (errors, warnings): (Vec<_>, Vec<_>) =
            news(after, &before).into_iter().partition(|one| one.severity == Severity::Error);
        let contradictions: Vec<Contradiction> =
            asked.desk.world.all().skip(rows).flat_map(reach::unwritten).collect();
        if !errors.is_empty() || !contradictions.is_empty() {
            return Err(Refused { codes: errors, contradictions });
        }
        asked.admitted = Admitted { warnings, caught };
        Ok(asked)
    }

    /// Time goes on: what is owed may be overdue now.
    fn wait(&mut self, at: Instant) {
        if self.world.now() == Some(at) {
            return;
        }
        self.world.set_now(Some(at));
        for answer in self.answers.iter_mut().filter(|answer| answer.looked.has_time()) {
            *answer = Answer::of(&self.world, answer.rule);
        }
    }
}

/// A batch that may be let in. Who drops it leaves it out.
pub struct Asked<'d> {
    desk: &'d mut Desk,
    /// The rows that stay if it is dropped.
    rows: usize,
    /// What the rules say that were asked again.
    again: Vec<Option<Answer>>,
    admitted: Admitted,
}

impl Asked<'_> {
    /// Lets it in.
    pub fn let_in(mut self) -> Admitted {
        self.rows = self.desk.world.len();
        for (answer, again) in self.desk.answers.iter_mut().zip(core::mem::take(&mut self.again)) {
            if let Some(again) = again {
                *answer = again;
            }
        }
        core::mem::take(&mut self.admitted)
    }

    /// What is wrong with the log and the batch together.
    fn codes(&self) -> Vec<Diagnostic> {
        let answers = self.desk.answers.iter().zip(&self.again);
        let answers = answers.map(|(before, again)| again.as_ref().unwrap_or(before));
        settled(answers.flat_map(|answer| &answer.found).chain(self.desk.along()).cloned().collect())
    }

    /// What the batch tells of and an engine must refuse: the rules that look for it are asked once more, with the rows of the batch as
    /// such that ask to be let in.
    fn caught(&mut self, after: &[Diagnostic]) -> Vec<Diagnostic> {
        self.desk.world.set_asking(Some(self.rows));
        let asking = self.again.iter().flatten().filter(|answer| answer.looked.has_asking());
        let all = asking.flat_map(|answer| found_by(&self.desk.world, answer.rule)).collect();
        self.desk.world.set_asking(None);
        news(settled(all), after)
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.desk.world.cut(self.rows);
        self.desk.go();
    }
}

/// Those that are not among the others. How something is put for people may change: it is the same by row, code and place.
fn news(all: Vec<Diagnostic>, others: &[Diagnostic]) -> Vec<Diagnostic> {
    let is_new = |one: &Diagnostic| {
        !others.iter().any(|other| (other.row, other.code, &other.path) == (one.row, one.code, &one.path))
    };
    all.into_iter().filter(is_new).collect()
}

#[cfg(test)]
#[path = "admission_tests.rs"]
mod tests;
