//! Chains of an evaluator and a judge: what is known of them, and what is wrong with them.
//! Owns: gathering results, roles and blockers of a chain at a point of the log. Must not: resolve; `derive::chain` does.

use super::super::Found;
use super::super::stood::Stood;
use super::considered::{CONSIDERED, Looked};
use super::findings::Findings;
use super::heard::{Course, Heard, Parts};
use super::{TARGET, derived};
use crate::derive::chain::{
    Causes, Chain, Conflict, Disagreement, FindingState, FindingStates, Missing, Outcome, Policy, Precedence,
    Received, Resolution, Role, Snapshot, Term, resolve,
};
use crate::fold::family::CHAIN;
use crate::member::Member;
use crate::reference::Reference;
use crate::table::outcome::{self, Cause, State, Verdict};
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::json::Json;

/// The chains of a world, with what belongs to them.
struct Chains<'w> {
    /// The last version of each pattern C chain, by its id.
    chains: BTreeMap<&'w str, Record<'w>>,
    receipts: BTreeMap<&'w str, Vec<Record<'w>>>,
    envelopes: BTreeMap<&'w str, Record<'w>>,
    /// The results that came in for each chain, as far as it counts them.
    heard: BTreeMap<&'w str, Vec<&'w str>>,
    stood: Stood<'w>,
}

impl<'w> Chains<'w> {
    fn of(world: &'w World) -> Self {
        let mut receipts: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for receipt in world.of("EvaluationChainResolutionReceipt") {
            if let Some(chain) = receipt.json().text("chain_id") {
                receipts.entry(chain).or_default().push(receipt);
            }
        }
        let chains: BTreeMap<_, _> = registered(world)
            .filter(|(_, chain)| chain.is("chain_kind", "pattern_c_evaluator_then_judge"))
            .collect();
        // Without a chain nobody asks for its results.
        let envelopes = world.of("EvaluationResultEnvelope").filter(|_| !chains.is_empty());
        let envelopes: BTreeMap<_, _> =
            envelopes.filter_map(|one| Some((one.json().text("result_id")?, one))).collect();
        let stood = Stood::of(world, &CHAIN);
        let mut heard: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (result, envelope) in envelopes.iter().filter(|(_, envelope)| stood.counts(**envelope)) {
            if let Some(chain) = envelope.json().id_at("target_evaluation_chain_id") {
                heard.entry(chain).or_default().push(*result);
            }
        }
        Chains { chains, receipts, envelopes, heard, stood }
    }

    /// The ids of the results that a chain has, as it says or as they came in.
    fn received(&self, id: &str, chain: Record<'w>) -> BTreeSet<&'w str> {
        let heard = self.heard.get(id).into_iter().flatten().copied();
        heard.chain(chain.json().texts("received_result_ids")).collect()
    }

    /// How a chain stands.
    fn state(&self, chain: Record<'w>) -> Option<&'w str> {
        self.stood.told(chain)
    }

    /// The chains that still hold.
    fn standing(&self) -> impl Iterator<Item = (&'w str, Record<'w>)> {
        let all = self.chains.iter().map(|(id, chain)| (*id, *chain));
        all.filter(|(_, chain)| {
            !self.state(*chain).is_some_and(|state| ["superseded", "invalidated"].contains(&state))
        })
    }

    fn receipts(&self, chain: &str) -> &[Record<'w>] {
        self.receipts.get(chain).map(Vec::as_slice).unwrap_or_default()
    }

    /// The results that a chain has received, and those that its receipts considered.
    fn results(&self, id: &str, chain: Record<'w>) -> Vec<Record<'w>> {
        let considered = self.receipts(id).iter().flat_map(|one| one.json().texts("result_ids_considered"));
        let mut ids = self.received(id, chain);
        ids.extend(considered);
        ids.into_iter().filter_map(|id| self.envelopes.get(id).copied()).collect()
    }

    /// The receipts of a chain with what was known to each.
    fn course<'a>(&'a self, id: &str, chain: Record<'w>, parts: &'a Parts<'w>) -> Course<'a, 'w> {
        let (receipts, envelopes) = (self.receipts(id), &self.envelopes);
        Course { parts, received: self.received(id, chain), receipts, envelopes }
    }
}

/// The last version of each chain.
fn registered(world: &World) -> impl Iterator<Item = (&str, Record<'_>)> {
    let chains = world.of("EvaluationChainRegistryRecord");
    chains.filter_map(|chain| Some((chain.json().text("chain_id")?, chain)))
}

pub(super) fn chain_id_mismatch(world: &World, found: &mut Found<'_>) {
    let known: BTreeSet<&str> = registered(world).map(|(id, _)| id).collect();
    let all = Chains::of(world);
    let field = "target_evaluation_chain_id";
    for envelope in world.of("EvaluationResultEnvelope") {
        if envelope.text(field).is_some_and(|id| !known.contains(id)) {
            found.add(envelope, field, "names a chain that is not registered");
        }
    }
    for (id, chain) in &all.chains {
        let received = chain.json().texts("received_result_ids").into_iter();
        for envelope in received.filter_map(|result| all.envelopes.get(result)) {
            let own = envelope.text(field);
            if own != Some(id) && own.is_none_or(|own| known.contains(own)) {
                found.add(*envelope, field, format!("chain {id} has received it, and it does not name it"));
            }
            if chain.text("run_id").is_some() && envelope.text("run_id") != chain.text("run_id") {
                found.add(*envelope, "run_id", format!("chain {id} is one of another run"));
            }
            let has_target = envelope.text("evaluated_target.target_kind").is_some();
            for (target, source) in TARGET {
                let own =
                    if has_target { derived(envelope.json(), source) } else { envelope.json().at(target) };
                if own != chain.json().at(target) {
                    found.add(*envelope, target, format!("chain {id} is about something else"));
                }
            }
        }
    }
}

pub(super) fn chain_without_resolution_receipt(world: &World, found: &mut Found<'_>) {
    let all = Chains::of(world);
    // Until when the results of a chain may not be used: the place of its first receipt.
    let mut sealed: BTreeMap<&str, u64> = BTreeMap::new();
    let mut open: BTreeMap<&str, u64> = BTreeMap::new();
    for (id, chain) in all.standing() {
        let first = all.receipts(id).first().map(|receipt| receipt.seq());
        let is_over = all.state(chain).is_some_and(|state| ["complete", "timed_out"].contains(&state));
        if first.is_none() && is_over {
            found.add(chain, "status", "the chain is over and nobody said what it came to");
        }
        let until = first.unwrap_or(u64::MAX);
        for result in all.received(id, chain) {
            let sealed = sealed.entry(result).or_default();
            *sealed = until.max(*sealed);
        }
        open.insert(id, until);
    }
    // A result that names its chain is one of it, also where the chain does not list it yet.
    for (result, envelope) in &all.envelopes {
        let chain = envelope.json().text("target_evaluation_chain_id");
        if let Some(until) = chain.and_then(|chain| open.get(chain)) {
            let sealed = sealed.entry(result).or_default();
            *sealed = (*until).max(*sealed);
        }
    }
    let is_early = |record: Record<'_>| {
        let until = record.text("result_id").and_then(|result| sealed.get(result));
        until.is_some_and(|until| record.seq() < *until)
    };
    for delivery in world.of("FeedbackDeliveryRecord").filter(|one| is_early(*one)) {
        found.add(delivery, "result_id", "a result was used before its chain was resolved");
    }
    for event in world.of("OutcomeStateTransitionEvent").filter(|one| is_early(*one)) {
        let state = event.text("to_state").and_then(State::find).map(outcome::entry);
        if state.is_some_and(|state| state.is_terminal) {
            found.add(event, "result_id", "an outcome ended by a result before its chain was resolved");
        }
    }
    early_plans(world, &all, found);
}

/// Plans for an outcome of which nothing was known but results of a chain that nobody had resolved.
fn early_plans(world: &World, all: &Chains<'_>, found: &mut Found<'_>) {
    let place = |one: &Json| Some((one.text("run_id")?.into(), one.text("outcome_id")?.into()));
    let mut open: BTreeMap<(String, String), u64> = BTreeMap::new();
    let mut settled = open.clone();
    for envelope in all.envelopes.values() {
        let Some(place) = place(envelope.json()) else { continue };
        let chain = envelope.json().text("target_evaluation_chain_id");
        let registered = chain.and_then(|id| all.chains.get(id).map(|_| id));
        // A result that stands alone may be used at once.
        let (seqs, at) = match registered {
            Some(id) => {
                let receipt = all.receipts(id).first().map_or(u64::MAX, |receipt| receipt.seq());
                let first = settled.entry(place.clone()).or_insert(receipt);
                *first = receipt.min(*first);
                (&mut open, envelope.seq())
            }
            None => (&mut settled, envelope.seq()),
        };
        let first = seqs.entry(place).or_insert(at);
        *first = at.min(*first);
    }
    for plan in world.of("RevisionPlan") {
        let Some(run) = plan.json().text("run_id") else { continue };
        for outcome in plan.json().texts("outcome_ids") {
            let place = (run.into(), outcome.into());
            let is_after = open.get(&place).is_some_and(|first| *first < plan.seq());
            if is_after && settled.get(&place).is_none_or(|first| *first > plan.seq()) {
                found.add(
                    plan,
                    "outcome_ids",
                    "a plan was made on results of a chain before it was resolved",
                );
            }
        }
    }
}

/// The policies that receipts name, read once each: by the place of the row.
type Policies = BTreeMap<u64, Policy>;

/// The policy that a receipt names, as it stood; where it names none or there is none of that name, the one of the contract.
fn policy(receipt: Record<'_>, known: &mut Policies) -> Policy {
    let named = receipt.json().text("policy_ref").unwrap_or_default();
    let kind = "EvaluationChainResolutionPolicy";
    let id = Reference::read(named)
        .filter(|reference| reference.kind == "evaluation_chain_resolution_policy")
        .map_or(named, |reference| reference.id);
    let Some(row) = receipt.world.policy(kind, id, receipt.seq()) else { return Policy::DEFAULT };
    *known.entry(row.seq()).or_insert_with(|| read_policy(row))
}

/// What a policy leaves open is as in the contract: who leaves something out gets no further than who says it.
fn read_policy(row: Record<'_>) -> Policy {
    let default = Policy::DEFAULT;
    let states: Vec<FindingState> = row
        .texts("override_allowed_only_for_finding_states")
        .into_iter()
        .filter_map(FindingState::find)
        .collect();
    Policy {
        blockers_survive_pass: row
            .flag("qualitative_blockers_survive_numeric_pass")
            .unwrap_or(default.blockers_survive_pass),
        judge_can_override: row.flag("judge_can_override_evaluator").unwrap_or(default.judge_can_override),
        override_states: FindingStates::of(&states),
        precedence: row.text("route_precedence").and_then(Precedence::find).unwrap_or(default.precedence),
        disagreement: row
            .text("disagreement_route")
            .and_then(Disagreement::find)
            .unwrap_or(default.disagreement),
    }
}

pub(super) fn route_conflict_unresolved(world: &World, found: &mut Found<'_>) {
    let all = Chains::of(world);
    if all.receipts.is_empty() || all.chains.is_empty() {
        return;
    }
    let (findings, mut policies) = (Findings::of(world), Policies::new());
    for (id, chain) in &all.chains {
        let parts = Parts::of(chain.json());
        let course = all.course(id, *chain, &parts);
        let blockers = course.blockers(&findings);
        course.walk(|at, receipt, heard, alone| {
            let states: Vec<FindingState> = blockers.get(at).into_iter().flatten().copied().collect();
            let policy = policy(receipt, &mut policies);
            let candidates = resolutions(heard, &states, &policy);
            // Where nobody can tell what somebody said, whatever they may have said is let pass.
            if candidates.iter().any(|expected| differs(receipt, expected).is_empty()) {
                let is_stated = |expected: &Resolution| is_stated(receipt, expected);
                // One that does not fit what was there has a code of its own.
                if candidates.iter().any(is_stated) {
                    let looked = Looked { course: &course, id, findings: &findings, receipt };
                    looked.tell(found);
                    if !resolutions(alone, &looked.blockers(), &policy).iter().any(is_stated) {
                        found.add(receipt, CONSIDERED, "what it considered does not come to what it says");
                    }
                }
                return;
            }
            for (field, message) in candidates.first().map(|one| differs(receipt, one)).unwrap_or_default() {
                found.add(receipt, field, message);
            }
        });
    }
}

/// Whether a receipt says what results come to, whichever code it is if it does not.
fn is_stated(receipt: Record<'_>, expected: &Resolution) -> bool {
    let stated = receipt.text("conflict_type").unwrap_or(Conflict::None.as_str());
    stated == expected.conflict.as_str() && differs(receipt, expected).is_empty()
}

/// What of a receipt is not what its chain comes to.
fn differs(receipt: Record<'_>, expected: &Resolution) -> Vec<(&'static str, String)> {
    let stated = receipt.text("conflict_type").unwrap_or(Conflict::None.as_str());
    let conflict = expected.conflict;
    let is_stated = stated == conflict.as_str();
    let mut all = Vec::new();
    // These two have codes of their own.
    if matches!(conflict, Conflict::MissingExpectedProducer | Conflict::SnapshotMismatch) && !is_stated {
        return all;
    }
    if conflict != Conflict::None && !is_stated {
        all.push(("conflict_type", format!("the results yield {}", conflict.as_str())));
    }
    let fields =
        [("resolved_verdict", expected.verdict.as_str()), ("resolved_route", expected.route.as_str())];
    for (field, word) in fields {
        if receipt.text(field).is_some_and(|stated| stated != word) {
            all.push((field, format!("the policy yields {word}")));
        }
    }
    let flags = [
        ("qualitative_blockers_preserved", expected.blockers_preserved),
        ("quantitative_pass_overridden_by_blocker", expected.pass_overridden),
    ];
    for (field, is_so) in flags {
        if receipt.flag(field).is_some_and(|stated| stated != is_so) {
            all.push((field, format!("the policy yields {is_so}")));
        }
    }
    all
}

/// What somebody may have said who does not say it, and why.
const UNSAID: [(Verdict, Causes); 5] = [
    (Verdict::Indeterminate, Causes::of(&[])),
    (Verdict::Indeterminate, Causes::of(&[Cause::Timeout])),
    (Verdict::Failed, Causes::of(&[])),
    (Verdict::Passed, Causes::of(&[])),
    (Verdict::NotApplicable, Causes::of(&[])),
];

/// What was heard in a chain comes to: one thing, or several where a result does not say its verdict.
fn resolutions(heard: &Heard<'_, '_>, blockers: &[FindingState], policy: &Policy) -> Vec<Resolution> {
    let is_open = |wanted: bool| {
        let mut said = heard.said.keys();
        said.any(|(role, verdict)| (*role == Role::UpstreamEvaluator) == wanted && verdict.is_none())
    };
    let choices = |wanted: bool| if is_open(wanted) { &UNSAID[..] } else { &UNSAID[..1] };
    let causes = Causes::of(&heard.causes.keys().copied().collect::<Vec<Cause>>());
    let snapshot = if heard.elsewhere > 0 { Snapshot::Another } else { Snapshot::OfTheChain };
    let resolved = |evaluator: (Verdict, Causes), judge: (Verdict, Causes)| {
        let received = heard.said.keys().map(|(role, said)| {
            let unsaid = if *role == Role::UpstreamEvaluator { evaluator } else { judge };
            let (verdict, causes) = said.map_or(unsaid, |said| (said, causes));
            Received { role: *role, verdict, causes, snapshot, blockers }
        });
        let received: Vec<Received<'_>> = received.collect();
        // There is a receipt, so the time is taken to be over: whether it came too early is another matter.
        let known = Chain { received: &received, missing: heard.missing(), term: Term::Over };
        match resolve(&known, policy) {
            Outcome::Resolved(resolution) => Some(resolution),
            Outcome::Waiting => None,
        }
    };
    let pairs = choices(true).iter().flat_map(|one| choices(false).iter().map(move |other| (*one, *other)));
    pairs.filter_map(|(one, other)| resolved(one, other)).collect()
}

pub(super) fn snapshot_mismatch(world: &World, found: &mut Found<'_>) {
    let all = Chains::of(world);
    for (id, chain) in all.standing() {
        let is_stated = |one: &Record<'_>| one.is("conflict_type", Conflict::SnapshotMismatch.as_str());
        let is_caught = all.receipts(id).iter().any(is_stated);
        // At admission it is told also where a receipt says so.
        let is_asked = all.receipts(id).iter().any(|one| one.is_asking());
        let parts = Parts::of(chain.json());
        for envelope in all.results(id, chain) {
            let is_told = !is_caught || is_asked || envelope.is_asking();
            if is_told && parts.is_elsewhere(envelope.json()) {
                found.add(envelope, "evaluation_snapshot_ref", format!("chain {id} is on another snapshot"));
            }
        }
    }
}

pub(super) fn missing_expected_producer(world: &World, found: &mut Found<'_>) {
    let all = Chains::of(world);
    let told = [Conflict::MissingExpectedProducer.as_str(), Conflict::SnapshotMismatch.as_str()];
    for (id, chain) in &all.chains {
        let parts = Parts::of(chain.json());
        all.course(id, *chain, &parts).walk(|_, receipt, heard, _| {
            if heard.missing() != Missing::Nobody && !receipt.is_one_of("conflict_type", &told) {
                let message = "somebody who had to answer has not, and the receipt does not say so";
                found.add(receipt, "conflict_type", message);
            }
        });
    }
    for (id, chain) in all.standing() {
        let parts = Parts::of(chain.json());
        if Heard::all(&parts, &all.results(id, chain)).missing() == Missing::Nobody {
            continue;
        }
        if chain.is("status", "complete") {
            let message = "the chain counts as complete and somebody who had to answer has not";
            found.add(chain, "status", message);
        }
        let is_over = chain.time("timeout_at").zip(world.now()).is_some_and(|(end, now)| now >= end);
        let is_open = all.state(chain).is_some_and(|state| ["open", "partial"].contains(&state));
        if is_over && is_open && all.receipts(id).is_empty() {
            found.add(chain, "timeout_at", "the time is over and somebody who had to answer has not");
        }
    }
}
