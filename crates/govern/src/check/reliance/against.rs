//! What findings and outcomes have against relying on work, from place to place of a log.
//! Owns: live blockers, limits that results tell, outcomes that were given up. Must not: gather what a packet names, or say what it comes to.
//!
//! What is asked is answered once for all places: many packets may ask about one run, one snapshot or one list of results.

use super::rows::{By, Open, text};
use super::span::{Span, joined, minus, spans, within};
use crate::check::stood::{Name, Stood};
use crate::derive::chain::FindingState;
use crate::derive::reliance::{Fact, Limitation, Status};
use crate::fold::family::{FINDING, OUTCOME};
use crate::member::Member;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

/// What somebody asks about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum About<'w> {
    /// A whole run.
    Run(&'w str),
    /// The results of a run on a snapshot.
    Snapshot(&'w str, &'w str),
    /// The results that a row lists.
    Listed(u64),
}

/// What stands against whom.
pub(super) struct Against<'w> {
    world: &'w World,
    findings: Stood<'w>,
    outcomes: Stood<'w>,
    /// The first row of each outcome: that is what counts of it.
    declared: BTreeMap<Name<'w>, Record<'w>>,
    outcomes_by_run: BTreeMap<&'w str, BTreeSet<Name<'w>>>,
    raised_by_result: By<'w, &'w str>,
    raised_in_run: By<'w, &'w str>,
    envelopes_by_snapshot: By<'w, (&'w str, &'w str)>,
    known: BTreeMap<About<'w>, Open<Fact>>,
}

impl<'w> Against<'w> {
    pub(super) fn of(world: &'w World) -> Self {
        let (mut declared, mut outcomes_by_run) = (BTreeMap::new(), BTreeMap::new());
        for outcome in world.of(OUTCOME.kind) {
            let run = outcome.json().text("run_id");
            let name = (run, outcome.id());
            declared.entry(name).or_insert(outcome);
            if let Some(run) = run {
                outcomes_by_run.entry(run).or_insert_with(BTreeSet::new).insert(name);
            }
        }
        Against {
            world,
            findings: Stood::of(world, &FINDING),
            outcomes: Stood::of(world, &OUTCOME),
            declared,
            outcomes_by_run,
            raised_by_result: By::member(world, "EvaluationFindingEvent", "result_id"),
            raised_in_run: By::new(world, "EvaluationFindingEvent", |one| {
                let result = text(one, "result_id")?;
                world.find("EvaluationResultEnvelope", result).and_then(|result| text(result, "run_id"))
            }),
            envelopes_by_snapshot: By::new(world, "EvaluationResultEnvelope", |one| {
                let snapshot = one.json().reference("evaluation_snapshot_ref").map(|one| one.id);
                text(one, "run_id").zip(snapshot)
            }),
            known: BTreeMap::new(),
        }
    }

    /// What stands at a place against a run: its blockers, and the outcomes that it gave up.
    pub(super) fn run(&mut self, run: &'w str, at: u64) -> impl Iterator<Item = Fact> {
        self.ask(About::Run(run), at, |own| own.of_run(run))
    }

    /// What stands at a place against the results of a run on a snapshot.
    pub(super) fn snapshot(
        &mut self,
        run: &'w str,
        snapshot: &'w str,
        at: u64,
    ) -> impl Iterator<Item = Fact> {
        self.ask(About::Snapshot(run, snapshot), at, move |own| {
            let envelopes = own.envelopes_by_snapshot.all(&(run, snapshot)).iter();
            own.of_results(envelopes.map(|one| (one.id(), one.seq())))
        })
    }

    /// What stands at a place against the results that a row lists.
    pub(super) fn listed(&mut self, row: Record<'w>, member: &str, at: u64) -> impl Iterator<Item = Fact> {
        self.ask(About::Listed(row.seq()), at, move |own| {
            let json = row.json();
            own.of_results(json.ids_at(member).into_iter().map(|result| (result, 0)))
        })
    }

    fn ask(
        &mut self,
        about: About<'w>,
        at: u64,
        gather: impl FnOnce(&Self) -> Open<Fact>,
    ) -> impl Iterator<Item = Fact> {
        if !self.known.contains_key(&about) {
            let open = gather(self);
            self.known.insert(about, open);
        }
        self.known.get(&about).into_iter().flat_map(move |open| open.at(at)).copied()
    }

    /// What was found of the outcome of a result, as far as it counts at a place: where the task does not insist on it, or it was
    /// given up, what would keep somebody from relying on all of the work comes to one fact about that outcome.
    pub(super) fn weighed(&self, own: BTreeSet<Fact>, result: Option<&'w str>, at: u64) -> BTreeSet<Fact> {
        let Some(outcome) = result.and_then(|result| self.outcome(result)) else { return own };
        let is_given_up = self.outcomes.at(&outcome, at).is_some_and(is_given_up);
        if self.is_required(&outcome) && !is_given_up {
            return own;
        }
        let is_worse = own.iter().any(|fact| !is_light(*fact));
        let unmet = (is_worse && !self.is_required(&outcome)).then_some(Fact::OptionUnmet);
        own.into_iter().filter(|fact| is_light(*fact)).chain(unmet).collect()
    }

    /// The outcome that a result is about, if it was declared.
    fn outcome(&self, result: &'w str) -> Option<Name<'w>> {
        let envelope = self.world.find("EvaluationResultEnvelope", result)?.json();
        let name = self.outcomes.name(envelope.text("run_id"), envelope.id_at("outcome_id")?);
        self.declared.contains_key(&name).then_some(name)
    }

    /// Whether the task insists on an outcome; it does where it says nothing.
    fn is_required(&self, outcome: &Name<'w>) -> bool {
        self.declared.get(outcome).is_none_or(|one| one.flag("required") != Some(false))
    }

    fn given_up(&self, outcome: &Name<'w>) -> Vec<Span> {
        spans(self.outcomes.course(outcome), is_given_up)
    }

    /// Blockers of the run that still stand, by the last that was said of each: that a later look did not raise one again closes
    /// nothing.
    fn of_run(&self, run: &'w str) -> Open<Fact> {
        let mut found = Facts::default();
        let mut raised: BTreeMap<&str, Vec<Record<'w>>> = BTreeMap::new();
        for event in self.raised_in_run.all(&run) {
            raised.entry(text(*event, "finding_id").unwrap_or_default()).or_default().push(*event);
        }
        for events in raised.values() {
            let ends = events.iter().skip(1).map(|next| next.seq()).chain([u64::MAX]);
            for (event, end) in events.iter().zip(ends) {
                let outcome = text(*event, "result_id").and_then(|result| self.outcome(result));
                found.blocks(outcome, self.blocks(*event, (event.seq(), end)));
            }
        }
        for outcome in self.outcomes_by_run.get(run).into_iter().flatten() {
            let fact = if self.is_required(outcome) { Fact::OutcomeGivenUp } else { Fact::OptionUnmet };
            let since = self.declared.get(outcome).map_or(0, |one| one.seq());
            let given_up =
                self.given_up(outcome).into_iter().filter_map(|one| within(one, (since, u64::MAX)));
            found.light.extend(given_up.map(|span| (fact, span)));
        }
        found.weighed(self)
    }

    /// Live blockers and limits of results, each from a place on.
    fn of_results(&self, results: impl Iterator<Item = (&'w str, u64)>) -> Open<Fact> {
        let mut found = Facts::default();
        for (result, since) in results {
            let outcome = self.outcome(result);
            let envelope = self.world.find("EvaluationResultEnvelope", result);
            let words = envelope.into_iter().flat_map(|one| one.json().texts("decision.limitations"));
            for fact in words.filter_map(Limitation::find).map(Fact::Limited) {
                match is_light(fact) {
                    true => found.light.push((fact, (since, u64::MAX))),
                    false => found.worse.entry((outcome, fact)).or_default().push((since, u64::MAX)),
                }
            }
            for event in self.raised_by_result.all(&result) {
                found.blocks(outcome, self.blocks(*event, (event.seq().max(since), u64::MAX)));
            }
        }
        found.weighed(self)
    }

    /// When a finding blocked, within the time in which it was as an event says.
    fn blocks(&self, event: Record<'w>, time: Span) -> Vec<Span> {
        if !event.is("severity", "blocking") || event.flag("blocking_authority.satisfied") != Some(true) {
            return Vec::new();
        }
        let finding = event.json().id_at("finding_id").unwrap_or_default();
        let live = spans(self.findings.course(&(None, finding)), |state| {
            FindingState::find(state).is_some_and(FindingState::is_live)
        });
        live.into_iter().filter_map(|span| within(span, time)).collect()
    }
}

/// Whether nobody works on an outcome any more: somebody gave it up, or what it depends on has failed.
fn is_given_up(state: &str) -> bool {
    ["superseded", "upstream_failure"].contains(&state)
}

/// Whether somebody may rely on work all the same.
fn is_light(fact: Fact) -> bool {
    fact.status() == Status::RelyWithLimitations
}

/// What was found, and when it was so.
#[derive(Default)]
struct Facts<'w> {
    light: Vec<(Fact, Span)>,
    /// What counts by its outcome.
    worse: BTreeMap<(Option<Name<'w>>, Fact), Vec<Span>>,
}

impl<'w> Facts<'w> {
    fn blocks(&mut self, outcome: Option<Name<'w>>, when: Vec<Span>) {
        if !when.is_empty() {
            self.worse.entry((outcome, Fact::LiveBlocker)).or_default().extend(when);
        }
    }

    /// The same as far as it counts.
    fn weighed(self, against: &Against<'w>) -> Open<Fact> {
        let mut all = self.light;
        for ((outcome, fact), when) in self.worse {
            let when = joined(when);
            match outcome {
                Some(outcome) if !against.is_required(&outcome) => {
                    all.extend(when.into_iter().map(|span| (Fact::OptionUnmet, span)));
                }
                Some(outcome) => {
                    let when = minus(&when, &against.given_up(&outcome));
                    all.extend(when.into_iter().map(|span| (fact, span)));
                }
                None => all.extend(when.into_iter().map(|span| (fact, span))),
            }
        }
        Open::new(all.into_iter().map(|(fact, (from, to))| (fact, from, (to < u64::MAX).then_some(to))))
    }
}
