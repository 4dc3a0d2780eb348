//! Checking a log of any length part by part, in bounded memory.
//! Owns: which rows are looked at together, what is said where that would be too many. Must not: read a log, or judge; the rules do.
//!
//! A part is what belongs together: the rows of one stream, which is a run. It is looked at when its stream is quiet, with what all runs
//! go by ([`of_all`], known before) and the settings and rows outside of runs that it names (`Shared`). Each row is read once.
//!
//! Parts that name each other are looked at together. Those that end near each other are so at once; the others are found by eight bytes
//! for each name when all rows are in, and looked at once more; what they had alone does not count. Where that would be more than fits, rules are looked at area by area and then one by one, each with rows of
//! the types only that it asks for: what a rule did not ask for, it does not rest on. What a single rule would have to look at together
//! and can't is told ([`Apart`]); for it the rule has no answer there.

mod links;
mod names;
mod pass;
mod scope;
mod shape;
mod shared;
mod wide;

use crate::check::{self, Diagnostic};
use crate::kind::{Class, Number};
use crate::member::Member;
use crate::reach::{Contradiction, What};
use crate::world::Held;
use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use countersign_record::time::Instant;
use names::By;
use scope::{Learned, Scope, Within};
use wide::Wide;

pub use pass::{Group, Pass};
pub use scope::{Apart, WHOLE};
pub use shape::{Misshapen, Raw, is_governed, kind_of, read};

/// The log that is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Log {
    /// The time up to which is looked.
    pub now: Option<Instant>,
    /// The place of its last row.
    pub end: u64,
}

/// How much is held, in bytes of the rows as the log has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Parts that are looked at together, at least, if there are so many: fewer cost more for each, more do not fit near the processor.
    pub batch: usize,
    /// Rows that wait for more of their stream.
    pub waiting: usize,
    /// Rows of parts that wait for those that they belong together with, so that they need not be read again.
    pub near: usize,
    /// Rows that must be looked at together.
    pub together: usize,
    /// Settings and rows outside of runs that are held for the parts that name them; more of them are parts themselves.
    pub shared: usize,
    /// A stream is a part when so many rows of others came after its last one.
    pub quiet_rows: u64,
}

impl Limits {
    /// Those for a ledger.
    pub const LEDGER: Limits = Limits {
        batch: 512 << 10,
        waiting: 24 << 20,
        near: 16 << 20,
        together: 24 << 20,
        shared: 32 << 20,
        quiet_rows: 16_384,
    };
}

/// What is wrong that is told at most; more is only counted.
pub const CODES_MAX: usize = 100_000;

/// What an audit found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// What is wrong, sorted; each thing once.
    pub codes: Vec<Diagnostic>,
    /// Whether more is wrong than is told.
    pub is_cut: bool,
    /// What the log says twice and not alike, where it was asked for.
    pub contradictions: Vec<Contradiction>,
    /// What no rule could look at together.
    pub apart: Vec<Apart>,
    /// Rows that are not as a governed record has to be; members that no type has, where they are asked for.
    pub shapes: Vec<Misshapen>,
    /// How many of those there are.
    pub shape_count: u64,
}

/// An audit: passes over the rows of a log, nearly always one.
pub struct Audit {
    log: Log,
    limits: Limits,
    of_all: Vec<Held>,
    is_strict: bool,
    tasks: Vec<Scope>,
    learned: Learned,
    wide: Wide,
    /// Rules on what all go by that are looked at with everything.
    unsettled: BTreeSet<&'static str>,
    found: Found,
}

impl Audit {
    /// An audit of a log; `of_all` are the rows of types that all runs may go by ([`of_all`]), in order, but for those of runs with
    /// their own settings.
    #[must_use]
    pub fn new(log: Log, limits: Limits, of_all: Vec<Held>) -> Self {
        let of_all: Vec<Held> = of_all.into_iter().filter(|row| whose("", row) == Whose::All).collect();
        let mut learned = Learned::default();
        of_all.iter().for_each(|row| learned.row(row));
        let tasks = vec![Scope::everything(By::Rules)];
        let (wide, unsettled, found) = (Wide::default(), BTreeSet::new(), Found::default());
        Audit { log, limits, of_all, is_strict: false, tasks, learned, wide, unsettled, found }
    }

    /// Also looks for members that no type has, or that are not of theirs.
    #[must_use]
    pub fn strict(self) -> Self {
        Audit { is_strict: true, ..self }
    }

    /// Also holds the log to what a whole one must agree on with itself.
    #[must_use]
    pub fn whole(self) -> Self {
        Audit { tasks: vec![Scope::everything(By::Whole)], ..self }
    }

    /// What is to be done in the next pass over the rows; nothing if the audit is at its end.
    pub fn passes(&mut self) -> Vec<Pass> {
        let at_once = self.tasks.len().min(PASSES_MAX);
        let tasks = self.tasks.split_off(self.tasks.len() - at_once);
        let share = |bytes: usize| bytes / at_once.max(1);
        let (waiting, near) = (share(self.limits.waiting), share(self.limits.near));
        let limits = Limits { waiting, near, ..self.limits };
        let start = |scope: Scope| {
            let scope = scope.ready(&self.learned);
            let of_all = self.of_all.iter().filter(|row| scope.has_kind(row.number()));
            let of_all = of_all.cloned().collect();
            Pass::new(self.log, limits, of_all, scope, self.learned.clone())
        };
        let mut passes: Vec<Pass> = tasks.into_iter().map(start).collect();
        if let (true, Some(first)) = (self.is_strict, passes.first_mut().filter(|pass| pass.is_first())) {
            first.looks_for_shapes();
        }
        passes
    }

    /// A pass is done.
    pub fn done(&mut self, pass: Pass) {
        let mut ended = pass.end();
        self.learned.add(&ended.learned);
        if !ended.scope.is_together() {
            ended.unsettled.into_iter().for_each(|code| self.unsettle(code));
        }
        self.found.shapes.append(&mut ended.shapes);
        self.found.shape_count += ended.shape_count;
        match ended.left {
            // It was shown too little: what it found does not count.
            Some(Within::Again) => self.tasks.push(ended.scope),
            Some(Within::Parts(within)) => {
                self.wide.join(ended.wide);
                self.take(ended.codes, ended.is_cut);
                let smaller = ended.scope.split(Arc::new(within));
                self.tasks.extend(smaller.scopes);
                self.found.apart.extend(smaller.apart);
            }
            None => {
                self.wide.join(ended.wide);
                self.take(ended.codes, ended.is_cut);
            }
        }
    }

    /// Parts do not agree on what a rule says of what all go by.
    fn unsettle(&mut self, code: &'static str) {
        if self.unsettled.insert(code) {
            self.tasks.push(Scope::together(code));
        }
    }

    fn take(&mut self, codes: Vec<Diagnostic>, is_cut: bool) {
        let room = CODES_MAX.saturating_sub(self.found.codes.len());
        self.found.is_cut |= is_cut || codes.len() > room;
        self.found.codes.extend(codes.into_iter().take(room));
    }

    /// Everything that was found.
    #[must_use]
    pub fn finish(mut self) -> Found {
        let whole = self.found.codes.extract_if(.., |one| What::find(one.code).is_some());
        self.found.contradictions = whole.filter_map(contradiction).collect();
        self.found.contradictions.sort();
        self.found.contradictions.dedup();
        self.wide.settle(&mut self.found.codes);
        check::settle(&mut self.found.codes);
        self.found.apart.sort();
        self.found
    }
}

fn contradiction(one: Diagnostic) -> Option<Contradiction> {
    let Diagnostic { row, code, path, message, .. } = one;
    Some(Contradiction { row, path, what: What::find(code)?, message })
}

/// Passes that go over the rows at once.
const PASSES_MAX: usize = 8;

/// Whom a row is looked at with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    /// All: what it says holds for everybody, whether or not they name it.
    All,
    /// Whoever names it or is named by it, wherever it stands: it is a setting.
    Some,
    /// Its stream.
    Part,
}

/// Whether a stream is of a run.
fn is_of_run(stream: &str) -> bool {
    RUNS.iter().any(|begin| stream.starts_with(begin))
}

/// Whether a stream is of a run that goes by its own settings, and no other does by them.
#[must_use]
pub fn has_own_settings(stream: &str) -> bool {
    stream.starts_with(WORK)
}

/// The stream of a run, by any of its streams.
fn run_of(stream: &str) -> Cow<'_, str> {
    let own = stream.strip_prefix(WORK).map(|run| Cow::Owned(format!("{RUN}{run}")));
    own.unwrap_or(Cow::Borrowed(stream))
}

/// How the names of streams begin that are of runs: what is recorded of one, and what a task run writes.
const RUNS: [&str; 2] = [RUN, WORK];
const RUN: &str = "run/";
const WORK: &str = "work/";

fn is_setting(known: Number) -> bool {
    known.kind.class == Class::Policy || OF_ALL.contains(&known.kind.name)
}

fn whose(stream: &str, row: &Held) -> Whose {
    let Some(known) = row.number().filter(|_| !has_own_settings(stream)) else { return Whose::Part };
    let for_whom = FOR_WHOM.iter().find(|(kind, _)| *kind == known.kind.name);
    let is_policy = known.kind.class == Class::Policy;
    match for_whom {
        Some((_, member)) if row.json().text(member).is_some() => Whose::Some,
        Some(_) => Whose::All,
        None if is_policy && OF_SOME.contains(&known.kind.name) => Whose::Some,
        None if is_policy || OF_ALL.contains(&known.kind.name) => Whose::All,
        None => Whose::Part,
    }
}

/// The types with rows that all runs go by: those are known before the first run is looked at.
pub fn of_all() -> impl Iterator<Item = Number> {
    let may = |known: &Number| is_setting(*known) && !OF_SOME.contains(&known.kind.name);
    (0..Number::count()).filter_map(Number::at).filter(may)
}

/// Records that speak of everything there is, though they are no policies.
const OF_ALL: [&str; 6] = [
    "BuildReadyClaim",
    "ConformanceFixtureRun",
    "CrossDocInsertObligation",
    "DomainPayloadRegistryRef",
    "PatchDecision",
    "ValidationSuiteRun",
];

/// Policies that say for whom they are; one that does not is for all.
const FOR_WHOM: [(&str, &str); 3] = [
    ("Criterion", "config_id"),
    ("OutcomeComplianceScoringConfig", "outcome_id"),
    ("RunBoardPublicationPolicy", "run_id"),
];

/// Policies that rules find by what names them, or that they look at alone.
const OF_SOME: [&str; 16] = [
    "AssistanceEndpoint",
    "FeedbackPortBinding",
    "FormulaInputSpec",
    "FormulaOutputSpec",
    "FormulaTestVector",
    "ForumDeliberationPolicy",
    "HardCallPendingPolicy",
    "JudgeBudget",
    "LibraryPromotionGate",
    "ModuleProgressBehavior",
    "RetentionPolicy",
    "RevisionExecutionLifecycleTransition",
    "RevisionStepRevalidationPolicy",
    "RunExecutionRequirements",
    "SubAgentFallbackPolicy",
    "WorkspaceExternalizationPolicy",
];
