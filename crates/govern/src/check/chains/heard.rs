//! Who was heard in a chain, and what they said, from receipt to receipt.
//! Owns: the parts in a chain, what changes with a result. Must not: resolve; `derive::chain` does.

use super::super::course::{Thing, at_places};
use super::findings::Findings;
use crate::derive::chain::{FindingState, Missing, Role};
use crate::member::Member;
use crate::reference::Reference;
use crate::table::outcome::{Cause, Verdict};
use crate::world::Record;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use countersign_record::json::Json;

/// Who has a part in a chain.
pub(super) struct Parts<'w> {
    snapshot: Option<&'w str>,
    /// What each kind of producer does, and each module of it where the chain says so.
    roles: BTreeMap<(&'w str, Option<&'w str>), Role>,
    /// Of whom an answer is needed, by kind.
    needs: BTreeMap<&'w str, Need<'w>>,
}

/// How many answers of a kind of producer are needed.
#[derive(Default)]
struct Need<'w> {
    /// From these modules one each.
    modules: BTreeSet<&'w str>,
    /// And so many from whatever modules.
    unnamed: usize,
}

/// What a kind of producer does where nobody says it.
fn usual(producer: &str) -> Role {
    match producer {
        "judge" | "deterministic_scorer" | "experiment_scorer" => Role::DownstreamJudge,
        _qualitative => Role::UpstreamEvaluator,
    }
}

impl<'w> Parts<'w> {
    pub(super) fn of(chain: &'w Json) -> Self {
        let snapshot = chain.text("evaluation_snapshot_ref");
        let mut parts = Parts { snapshot, roles: BTreeMap::new(), needs: BTreeMap::new() };
        let listed = |wanted: bool| {
            let all = chain.list("participant_roles").iter();
            all.filter(move |one| (one.flag("required") == Some(true)) == wanted)
        };
        // Who must answer says what his kind does.
        for one in listed(true).chain(listed(false)) {
            let Some(producer) = one.text("producer_kind") else { continue };
            let role = one.text("role").and_then(Role::find).unwrap_or_else(|| usual(producer));
            let module = one.text("producer_module_id");
            parts.roles.entry((producer, None)).or_insert(role);
            parts.roles.entry((producer, module)).or_insert(role);
            if one.flag("required") == Some(true) {
                let need = parts.needs.entry(producer).or_default();
                match module {
                    Some(module) => drop(need.modules.insert(module)),
                    None => need.unnamed += 1,
                }
            }
        }
        let named: BTreeSet<&str> = parts.roles.keys().map(|(producer, _)| *producer).collect();
        let expected = chain.texts("expected_producers").into_iter();
        for producer in expected.filter(|producer| !named.contains(producer)) {
            parts.roles.insert((producer, None), usual(producer));
            parts.needs.entry(producer).or_default().unnamed += 1;
        }
        parts
    }

    /// What the producer of a result does in the chain.
    fn role(&self, envelope: &Json) -> Role {
        let Some(producer) = envelope.text("producer_kind") else { return Role::UpstreamEvaluator };
        let own = envelope.text("producer_module_id").and_then(|one| self.roles.get(&(producer, Some(one))));
        own.or_else(|| self.roles.get(&(producer, None))).copied().unwrap_or(Role::Observer)
    }

    /// Whether a result counts and looked at something else than its chain.
    pub(super) fn is_elsewhere(&self, envelope: &Json) -> bool {
        let refs = self.snapshot.zip(envelope.text("evaluation_snapshot_ref"));
        self.role(envelope) != Role::Observer && refs.is_some_and(|(one, other)| !is_same_ref(one, other))
    }
}

/// Whether two refs name the same record: also the same version and hash, where both say which.
fn is_same_ref(one: &str, other: &str) -> bool {
    let differ = |(one, other): (Reference<'_>, Reference<'_>)| {
        let versions = one.version.zip(other.version).is_some_and(|(one, other)| one != other);
        let hashes = one.hash.zip(other.hash).is_some_and(|(one, other)| !one.eq_ignore_ascii_case(other));
        versions || hashes
    };
    let refs = Reference::read(one).zip(Reference::read(other));
    one == other || refs.is_some_and(|(one, other)| one.is_same(&other) && !differ((one, other)))
}

/// Who of a kind has answered.
#[derive(Default)]
struct Answers<'w> {
    modules: BTreeMap<&'w str, usize>,
    /// How many of these modules must answer themselves.
    named: usize,
    /// Results that do not say of which module they are: each may be of another.
    anonymous: usize,
}

impl Answers<'_> {
    fn is_enough(&self, need: &Need<'_>) -> bool {
        let waiting = need.modules.len().saturating_sub(self.named);
        let others = self.modules.len().saturating_sub(self.named);
        waiting + need.unnamed.saturating_sub(others) <= self.anonymous
    }
}

/// What was heard in a chain so far.
pub(super) struct Heard<'p, 'w> {
    pub(super) parts: &'p Parts<'w>,
    answers: BTreeMap<&'w str, Answers<'w>>,
    missing_evaluators: usize,
    missing_judges: usize,
    /// What was said by each role that counts, and how often; `None` where somebody does not say it.
    pub(super) said: BTreeMap<(Role, Option<Verdict>), usize>,
    pub(super) causes: BTreeMap<Cause, usize>,
    pub(super) elsewhere: usize,
}

/// A result comes, or is taken back.
#[derive(Clone, Copy)]
enum Turn {
    Comes,
    Goes,
}

impl Turn {
    fn count<K: Ord>(self, counts: &mut BTreeMap<K, usize>, what: K) {
        match self {
            Turn::Comes => *counts.entry(what).or_default() += 1,
            Turn::Goes => {
                let left = counts.get_mut(&what).map_or(0, |count| {
                    *count = count.saturating_sub(1);
                    *count
                });
                if left == 0 {
                    counts.remove(&what);
                }
            }
        }
    }

    fn number(self, number: usize) -> usize {
        match self {
            Turn::Comes => number.saturating_add(1),
            Turn::Goes => number.saturating_sub(1),
        }
    }
}

impl<'p, 'w> Heard<'p, 'w> {
    pub(super) fn nobody(parts: &'p Parts<'w>) -> Self {
        let mut heard = Heard {
            parts,
            answers: BTreeMap::new(),
            missing_evaluators: 0,
            missing_judges: 0,
            said: BTreeMap::new(),
            causes: BTreeMap::new(),
            elsewhere: 0,
        };
        for producer in parts.needs.keys() {
            heard.waits(producer, Turn::Comes);
        }
        heard
    }

    /// Everybody of some results.
    pub(super) fn all(parts: &'p Parts<'w>, results: &[Record<'w>]) -> Self {
        let mut heard = Heard::nobody(parts);
        results.iter().for_each(|one| heard.turn(one.json(), Turn::Comes));
        heard
    }

    fn waits(&mut self, producer: &str, turn: Turn) {
        let role = self.parts.roles.get(&(producer, None)).copied().unwrap_or_else(|| usual(producer));
        let count = match role {
            Role::UpstreamEvaluator => &mut self.missing_evaluators,
            Role::DownstreamJudge | Role::ParallelScorer | Role::Observer => &mut self.missing_judges,
        };
        *count = turn.number(*count);
    }

    /// Who has not answered of those who must.
    pub(super) fn missing(&self) -> Missing {
        match (self.missing_evaluators, self.missing_judges) {
            (0, 0) => Missing::Nobody,
            (0, _judges) => Missing::Judge,
            (_evaluators, _) => Missing::Evaluator,
        }
    }

    fn turn(&mut self, envelope: &'w Json, turn: Turn) {
        if let Some(producer) = envelope.text("producer_kind") {
            self.answer(producer, envelope.text("producer_module_id"), turn);
        }
        let role = self.parts.role(envelope);
        if role == Role::Observer {
            return;
        }
        let verdict = envelope.text("decision.verdict").and_then(Verdict::find);
        turn.count(&mut self.said, (role, verdict));
        if verdict.is_some() {
            let causes = envelope.texts("decision.indeterminate_causes").into_iter().filter_map(Cause::find);
            causes.for_each(|cause| turn.count(&mut self.causes, cause));
        }
        if self.parts.is_elsewhere(envelope) {
            self.elsewhere = turn.number(self.elsewhere);
        }
    }

    fn answer(&mut self, producer: &'w str, module: Option<&'w str>, turn: Turn) {
        let Some(need) = self.parts.needs.get(producer) else { return };
        let answers = self.answers.entry(producer).or_default();
        let was_enough = answers.is_enough(need);
        match module {
            None => answers.anonymous = turn.number(answers.anonymous),
            Some(module) => {
                let was_there = answers.modules.contains_key(module);
                turn.count(&mut answers.modules, module);
                if was_there != answers.modules.contains_key(module) && need.modules.contains(module) {
                    answers.named = turn.number(answers.named);
                }
            }
        }
        match (was_enough, answers.is_enough(need)) {
            (false, true) => self.waits(producer, Turn::Goes),
            (true, false) => self.waits(producer, Turn::Comes),
            (true, true) | (false, false) => {}
        }
    }
}

/// The receipts of a chain with what was known to each: the results that it considered, and those that the chain had received by then.
pub(super) struct Course<'a, 'w> {
    pub(super) parts: &'a Parts<'w>,
    /// The results that the chain has.
    pub(super) received: BTreeSet<&'w str>,
    /// In order.
    pub(super) receipts: &'a [Record<'w>],
    pub(super) envelopes: &'a BTreeMap<&'w str, Record<'w>>,
}

impl<'w> Course<'_, 'w> {
    /// The results that the chain received, in order.
    fn received(&self) -> Vec<Record<'w>> {
        let ids = self.received.iter();
        let mut all: Vec<Record<'w>> = ids.filter_map(|id| self.envelopes.get(id)).copied().collect();
        all.sort_by_key(|one| one.seq());
        all
    }

    /// Tells of each receipt what was heard before it, and what the results alone say that it considered. One result after the other
    /// is taken in; those that only one receipt considered are taken back.
    pub(super) fn walk(&self, mut tell: impl FnMut(usize, Record<'w>, &Heard<'_, 'w>, &Heard<'_, 'w>)) {
        if self.receipts.is_empty() {
            return;
        }
        let received = self.received();
        let mut heard = Heard::nobody(self.parts);
        let mut alone = Heard::nobody(self.parts);
        let mut coming = received.iter().peekable();
        let mut here: BTreeSet<u64> = BTreeSet::new();
        for (at, receipt) in self.receipts.iter().enumerate() {
            while let Some(one) = coming.next_if(|one| one.seq() < receipt.seq()) {
                heard.turn(one.json(), Turn::Comes);
                here.insert(one.seq());
            }
            let more = self.considered(*receipt, &here);
            let own = self.considered(*receipt, &BTreeSet::new());
            more.iter().for_each(|one| heard.turn(one.json(), Turn::Comes));
            own.iter().for_each(|one| alone.turn(one.json(), Turn::Comes));
            tell(at, *receipt, &heard, &alone);
            own.iter().for_each(|one| alone.turn(one.json(), Turn::Goes));
            more.iter().for_each(|one| heard.turn(one.json(), Turn::Goes));
        }
    }

    /// The results that a receipt considered, without those that are here.
    pub(super) fn considered(&self, receipt: Record<'w>, here: &BTreeSet<u64>) -> Vec<Record<'w>> {
        let ids: BTreeSet<&str> = receipt.json().texts("result_ids_considered").into_iter().collect();
        let all = ids.iter().filter_map(|id| self.envelopes.get(id)).copied();
        all.filter(|one| !here.contains(&one.seq())).collect()
    }

    /// How the authorised blockers of a result stood before a receipt, if the result counts.
    pub(super) fn blockers_of(
        &self,
        findings: &Findings<'w>,
        result: Record<'w>,
        receipt: Record<'w>,
    ) -> Vec<FindingState> {
        let id = result.json().text("result_id").filter(|_| self.parts.role(result.json()) != Role::Observer);
        id.map(|id| findings.blockers(id, receipt.seq())).unwrap_or_default()
    }

    /// How the authorised blockers stood of those who were heard before each receipt.
    pub(super) fn blockers(&self, findings: &Findings<'w>) -> Vec<BTreeSet<FindingState>> {
        let mut all: Vec<BTreeSet<FindingState>> = self.receipts.iter().map(|_| BTreeSet::new()).collect();
        let counts = |one: &Record<'w>| self.parts.role(one.json()) != Role::Observer;
        let received: Vec<Record<'w>> = self.received().into_iter().filter(counts).collect();
        let mut things: Vec<Thing<'_, FindingState>> = Vec::new();
        for one in &received {
            let result = one.json().text("result_id").unwrap_or_default();
            things.extend(findings.of_result(result).map(|course| (one.seq(), course)));
        }
        let places: Vec<u64> = self.receipts.iter().map(|receipt| receipt.seq().saturating_sub(1)).collect();
        at_places(&things, &places, |at, states| {
            all.get_mut(at).into_iter().for_each(|own| own.extend(states.keys()));
        });
        // Those that receipts considered besides, each with the receipts that did.
        let here: BTreeMap<u64, u64> = received.iter().map(|one| (one.seq(), one.seq())).collect();
        let mut others: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, receipt) in self.receipts.iter().enumerate() {
            for one in self.considered(*receipt, &BTreeSet::new()) {
                let is_here = here.get(&one.seq()).is_some_and(|seq| *seq < receipt.seq());
                if let Some(result) = one.json().text("result_id").filter(|_| !is_here && counts(&one)) {
                    others.entry(result).or_default().push(at);
                }
            }
        }
        for (result, asked) in others {
            let things: Vec<Thing<'_, FindingState>> =
                findings.of_result(result).map(|course| (0, course)).collect();
            let places: Vec<u64> = asked.iter().filter_map(|at| places.get(*at)).copied().collect();
            at_places(&things, &places, |at, states| {
                let own = asked.get(at).and_then(|at| all.get_mut(*at));
                own.into_iter().for_each(|own| own.extend(states.keys()));
            });
        }
        all
    }
}
