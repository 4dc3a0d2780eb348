//! What the runs of a matter may spend together.
//! Owns: the caps of the matter, what is held for steps that go on, what was spent; who may hold more. Must not: know what a step
//! does, or append a row.
//!
//! The purse is a fold of the stream `budget`. A decision is made on the rows up to a place and is appended only if the stream
//! still ends there; else the purse is read again and the decision made anew. So two runs can't both take the last of it.

use crate::cost::{Amounts, OverBudget, add, beyond};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use countersign_govern::record;
use countersign_govern::types::wire::{Reading, Wire};
use countersign_record::json::Json;

/// The stream of a matter's purse.
pub const STREAM: &str = "budget";

record! {
    /// The most that all runs may spend from now on.
    Capped: value { caps: Amounts }
}
record! {
    /// A run holds so much for a step.
    Reserved: value { run_id: String, step_id: String, amounts: Amounts }
}
record! {
    /// The step is done and cost so much.
    Settled: value { run_id: String, step_id: String, amounts: Amounts }
}
record! {
    /// The run is over; what it still held is free.
    Ended: value { run_id: String }
}

/// A row of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// New caps.
    Capped(Capped),
    /// Something is held.
    Reserved(Reserved),
    /// Something was spent.
    Settled(Settled),
    /// A run is over.
    Ended(Ended),
}

impl Row {
    /// The kind of the row.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Row::Capped(_) => "budget.capped",
            Row::Reserved(_) => "budget.reserved",
            Row::Settled(_) => "budget.settled",
            Row::Ended(_) => "budget.ended",
        }
    }

    /// What the row says.
    #[must_use]
    pub fn payload(&self) -> Json {
        let written = match self {
            Row::Capped(row) => row.write(),
            Row::Reserved(row) => row.write(),
            Row::Settled(row) => row.write(),
            Row::Ended(row) => row.write(),
        };
        written.unwrap_or(Json::Null)
    }

    /// Reads a row; `None` if it is none of these.
    #[must_use]
    pub fn read(kind: &str, payload: &Json) -> Option<Self> {
        let mut reading = Reading::default();
        match kind {
            "budget.capped" => Capped::read(payload, &mut reading).map(Row::Capped),
            "budget.reserved" => Reserved::read(payload, &mut reading).map(Row::Reserved),
            "budget.settled" => Settled::read(payload, &mut reading).map(Row::Settled),
            "budget.ended" => Ended::read(payload, &mut reading).map(Row::Ended),
            _other => None,
        }
    }
}

/// A row to be appended, if the stream still ends where the decision was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// How many rows the stream has.
    pub place: u64,
    /// The row.
    pub row: Row,
}

/// Why nothing is appended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is not enough left in the matter.
    #[error("the matter's budget does not reach: {0}")]
    Short(#[from] OverBudget),
    /// The step holds something already.
    #[error("step {step} of run {run} holds something already")]
    Twice {
        /// The run.
        run: String,
        /// The step.
        step: String,
    },
    /// The step holds nothing.
    #[error("step {step} of run {run} holds nothing")]
    NotHeld {
        /// The run.
        run: String,
        /// The step.
        step: String,
    },
    /// The run is over.
    #[error("run {run} is over")]
    Over {
        /// The run.
        run: String,
    },
}

/// What one run holds, by its steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Run {
    held: BTreeMap<String, Amounts>,
}

/// The purse of a matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Purse {
    place: u64,
    caps: Amounts,
    spent: Amounts,
    runs: BTreeMap<String, Run>,
    ended: BTreeSet<String>,
}

impl Purse {
    /// How many rows it was folded from.
    #[must_use]
    pub fn place(&self) -> u64 {
        self.place
    }

    /// What was spent.
    #[must_use]
    pub fn spent(&self) -> &Amounts {
        &self.spent
    }

    /// The most that may be.
    #[must_use]
    pub fn caps(&self) -> &Amounts {
        &self.caps
    }

    /// What was spent beyond the caps: a model may take more than was held for it.
    #[must_use]
    pub fn overspent(&self) -> Amounts {
        beyond(&self.spent, &self.caps)
    }

    /// What is held by all runs together.
    #[must_use]
    pub fn held(&self) -> Amounts {
        let mut all = Amounts::new();
        self.runs.values().flat_map(|run| run.held.values()).for_each(|held| add(&mut all, held));
        all
    }

    /// What is held by one run.
    #[must_use]
    pub fn held_by(&self, run: &str) -> Amounts {
        let mut all = Amounts::new();
        self.runs.get(run).into_iter().flat_map(|run| run.held.values()).for_each(|held| add(&mut all, held));
        all
    }

    /// Takes the next row of the stream in.
    pub fn apply(&mut self, row: &Row) {
        self.place += 1;
        match row {
            Row::Capped(row) => self.caps = row.caps.clone(),
            Row::Reserved(row) if !self.ended.contains(&row.run_id) => {
                let run = self.runs.entry(row.run_id.clone()).or_default();
                run.held.insert(row.step_id.clone(), row.amounts.clone());
            }
            Row::Reserved(_) => {}
            Row::Settled(row) => {
                // What was spent was spent, whether or not it was held.
                add(&mut self.spent, &row.amounts);
                self.free(&row.run_id, &row.step_id);
            }
            Row::Ended(row) => {
                self.runs.remove(&row.run_id);
                self.ended.insert(row.run_id.clone());
            }
        }
    }

    fn free(&mut self, run: &str, step: &str) {
        if let Some(run) = self.runs.get_mut(run) {
            run.held.remove(step);
        }
    }

    /// Sets the caps of the matter.
    #[must_use]
    pub fn cap(&self, caps: &Amounts) -> Decision {
        self.decide(Row::Capped(Capped { caps: caps.clone() }))
    }

    /// Holds what a step may cost at most. One that told what it cost and is done again, because nobody saw the end of it, costs again.
    ///
    /// # Errors
    /// There is not enough left, the run is over, or the step holds something already.
    pub fn reserve(&self, run: &str, step: &str, amounts: &Amounts) -> Result<Decision, Refusal> {
        if self.ended.contains(run) {
            return Err(Refusal::Over { run: run.to_string() });
        }
        if self.runs.get(run).is_some_and(|run| run.held.contains_key(step)) {
            return Err(Refusal::Twice { run: run.to_string(), step: step.to_string() });
        }
        let mut all = self.held();
        add(&mut all, &self.spent);
        add(&mut all, amounts);
        let over = |(dimension, cap): (&_, &u64)| {
            let asked = amounts.get(dimension).copied().unwrap_or_default();
            let short = all.get(dimension).copied().unwrap_or_default().checked_sub(*cap)?;
            (asked > 0 && short > 0).then_some((*dimension, short))
        };
        let short: Amounts = self.caps.iter().filter_map(over).collect();
        if !short.is_empty() {
            return Err(OverBudget { short }.into());
        }
        let (run_id, step_id, amounts) = (run.to_string(), step.to_string(), amounts.clone());
        Ok(self.decide(Row::Reserved(Reserved { run_id, step_id, amounts })))
    }

    /// Says what a step cost; the rest of what it held is free.
    ///
    /// # Errors
    /// The step holds nothing.
    pub fn settle(&self, run: &str, step: &str, amounts: &Amounts) -> Result<Decision, Refusal> {
        self.holding(run, step)?;
        let (run_id, step_id, amounts) = (run.to_string(), step.to_string(), amounts.clone());
        Ok(self.decide(Row::Settled(Settled { run_id, step_id, amounts })))
    }

    /// Says that a run is over; `None` if that is known.
    #[must_use]
    pub fn end(&self, run: &str) -> Option<Decision> {
        let is_known = self.ended.contains(run);
        (!is_known).then(|| self.decide(Row::Ended(Ended { run_id: run.to_string() })))
    }

    fn holding(&self, run: &str, step: &str) -> Result<(), Refusal> {
        let is_held = self.runs.get(run).is_some_and(|run| run.held.contains_key(step));
        if is_held {
            return Ok(());
        }
        Err(Refusal::NotHeld { run: run.to_string(), step: step.to_string() })
    }

    fn decide(&self, row: Row) -> Decision {
        Decision { place: self.place, row }
    }
}
