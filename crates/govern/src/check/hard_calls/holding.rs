//! What open hard calls hold.
//! Owns: which calls hold what a row goes on with, as calls begin and end. Must not: say when a call ends.
//!
//! A call holds a row that goes on with something it blocks and with nothing that it lets on. That is counted for what rows go on with
//! together, so that many calls that let something on are not gone through again for every row. Of what a row goes on with only that
//! counts which some call names, and rows that go on with the same are looked at once while no call begins or ends.

use crate::member::Member;
use crate::reference::Reference;
use crate::world::Record;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

/// What a call holds, or what a row goes on with: the kind and the id.
pub(super) type Scope<'w> = (&'w str, &'w str, Of<'w>);

/// The run that a scope is of. Only outcomes have one: an outcome of the same name in another run is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Of<'w> {
    /// Whatever run.
    Any,
    Run(&'w str),
    /// That of a row that does not say its run: it may be anybody's.
    Unsaid,
}

/// An outcome that a row goes on with.
pub(super) fn outcome<'w>(id: &'w str, run: Option<&'w str>) -> [Scope<'w>; 2] {
    [Of::Any, run.map_or(Of::Unsaid, Of::Run)].map(|of| (OUTCOME, id, of))
}

const OUTCOME: &str = "outcome_record";
/// What a plan is about, by the id of a plan.
const ABOUT: &str = "about";
/// What a plan may be about and have each of it looked at for itself.
const FEW: usize = 16;

/// The scopes that a call means by one: an outcome of its own run, if it has one.
fn meant<'w>(scope: (&'w str, &'w str), run: Option<&'w str>) -> impl Iterator<Item = Scope<'w>> {
    let all = match run.filter(|_| scope.0 == OUTCOME) {
        Some(run) => [Some(Of::Run(run)), Some(Of::Unsaid)],
        None => [Some(Of::Any), None],
    };
    all.into_iter().flatten().map(move |of| (scope.0, scope.1, of))
}

/// Whether a row is held.
#[derive(Clone, Copy)]
pub(super) enum Held {
    /// By the call of a row.
    By(u64),
    /// By one of many.
    BySome,
    No,
}

/// A call: what it blocks, and what may go on meanwhile, by the whole reference or by the id alone.
struct Call<'w> {
    /// Whether it blocks anything, also what no row goes on with.
    is_holding: bool,
    blocked: BTreeSet<Scope<'w>>,
    allowed: BTreeSet<(&'w str, &'w str)>,
    allowed_ids: BTreeSet<&'w str>,
}

impl<'w> Call<'w> {
    fn of(call: Record<'w>) -> Self {
        let json = call.json();
        let refs = json.references("pending_policy.blocked_refs").into_iter();
        let run = json.text("run_id");
        let mut blocked: BTreeSet<Scope<'_>> = refs.flat_map(|one| meant(scope(&one), run)).collect();
        match json.text("pending_policy.blocking_scope") {
            Some("entire_run") => blocked.extend(run.map(|run| ("run", run, Of::Any))),
            Some("side_effect_only") => blocked.extend(run.map(|run| ("side_effects_of_run", run, Of::Any))),
            Some(_) | None => {}
        }
        let texts = json.texts("pending_policy.allowed_to_continue_refs");
        let allowed = texts.iter().filter_map(|text| Reference::read(text)).map(|one| scope(&one)).collect();
        let is_holding = !blocked.is_empty();
        let mut call = Call { is_holding, blocked, allowed, allowed_ids: texts.into_iter().collect() };
        let (allowed, ids) = (&call.allowed, &call.allowed_ids);
        // What it names as going on it does not hold, whatever else.
        call.blocked.retain(|scope| !allowed.contains(&(scope.0, scope.1)) && !ids.contains(scope.1));
        call
    }

    fn lets_on(&self, scope: Scope<'_>) -> bool {
        self.allowed.contains(&(scope.0, scope.1)) || self.allowed_ids.contains(scope.1)
    }
}

fn scope<'w>(reference: &Reference<'w>) -> (&'w str, &'w str) {
    let kind = match reference.kind {
        "outcome" => OUTCOME,
        "step" | "revision_plan_step" => "revision_plan_step_base",
        kind => kind,
    };
    (kind, reference.id)
}

/// What calls hold at a place of the log.
#[derive(Default)]
pub(super) struct Holding<'w> {
    calls: BTreeMap<u64, Call<'w>>,
    /// Those that hold something.
    open: BTreeSet<u64>,
    blocked: BTreeSet<Scope<'w>>,
    allowed: BTreeSet<(&'w str, &'w str)>,
    allowed_ids: BTreeSet<&'w str>,
    /// What rows go on with, each list once, and where it stands.
    lists: Vec<Vec<Scope<'w>>>,
    known: BTreeMap<Vec<Scope<'w>>, usize>,
    /// What rows go on with together with something that may be held.
    beside: BTreeMap<Scope<'w>, BTreeSet<Scope<'w>>>,
    /// The plans that are about something, one of those that are about the same, where that is much.
    about: BTreeMap<Scope<'w>, BTreeSet<&'w str>>,
    wholes: BTreeMap<Vec<Scope<'w>>, Scope<'w>>,
    held: BTreeMap<Scope<'w>, BTreeSet<u64>>,
    /// Of the calls that hold the first, how many let on the second.
    let_on: BTreeMap<(Scope<'w>, Scope<'w>), usize>,
    /// The calls that were gone through one by one for some list, and which of them hold it.
    gone_through: BTreeMap<usize, BTreeMap<Scope<'w>, Through>>,
    /// How often a call began or ended, and what was found of each list since.
    turns: u64,
    found: BTreeMap<usize, (u64, Held)>,
}

#[derive(Default)]
struct Through {
    last: u64,
    holding: BTreeSet<u64>,
}

/// Calls that are looked through for the one to tell.
const TOLD_MAX: usize = 16;

impl<'w> Holding<'w> {
    /// Of all calls there are.
    pub(super) fn of(calls: impl Iterator<Item = Record<'w>>) -> Self {
        let mut holding = Holding::default();
        for record in calls {
            let call = Call::of(record);
            holding.blocked.extend(&call.blocked);
            holding.allowed.extend(&call.allowed);
            holding.allowed_ids.extend(&call.allowed_ids);
            holding.calls.insert(record.seq(), call);
        }
        holding
    }

    /// Whether any call names this.
    pub(super) fn names(&self, scope: Scope<'_>) -> bool {
        self.blocked.contains(&scope) || self.may_let_on(scope)
    }

    fn may_let_on(&self, scope: Scope<'_>) -> bool {
        self.allowed.contains(&(scope.0, scope.1)) || self.allowed_ids.contains(scope.1)
    }

    /// Rows go on with these. Gives where the list stands.
    pub(super) fn expect(&mut self, scopes: impl Iterator<Item = Scope<'w>>) -> usize {
        let list: Vec<Scope<'w>> = scopes.filter(|scope| self.names(*scope)).collect();
        if let Some(at) = self.known.get(&list) {
            return *at;
        }
        for one in list.iter().filter(|scope| self.blocked.contains(scope)) {
            self.beside.entry(*one).or_default().extend(list.iter().filter(|other| *other != one));
        }
        let at = self.lists.len();
        self.known.insert(list.clone(), at);
        self.lists.push(list);
        at
    }

    /// What a plan is about, as far as a call names it. Where that is much it is one thing to whoever goes on with the plan: a call holds it
    /// that holds something of it, and lets it on that lets something of it on. Plans that are about the same are about one thing.
    pub(super) fn gather(&mut self, plan: &'w str, mut scopes: Vec<Scope<'w>>) -> Vec<Scope<'w>> {
        scopes.retain(|scope| self.names(*scope));
        if scopes.len() <= FEW {
            return scopes;
        }
        if let Some(whole) = self.wholes.get(&scopes) {
            return Vec::from([*whole]);
        }
        let whole = (ABOUT, plan, Of::Any);
        for scope in &scopes {
            if self.blocked.contains(scope) {
                self.blocked.insert(whole);
            }
            if self.may_let_on(*scope) {
                self.allowed.insert((ABOUT, plan));
            }
            self.about.entry(*scope).or_default().insert(plan);
        }
        self.wholes.insert(scopes, whole);
        Vec::from([whole])
    }

    /// All that rows go on with is known: what each call means of that.
    pub(super) fn complete(&mut self) {
        for call in self.calls.values_mut() {
            let plans = |scope: &Scope<'w>| self.about.get(scope).into_iter().flatten().copied();
            let held: Vec<&str> = call.blocked.iter().flat_map(plans).collect();
            let by_id = call.allowed_ids.iter().flat_map(|id| KINDS.map(|kind| (kind, *id)));
            let named = call.allowed.iter().copied().chain(by_id);
            let of_all = named.flat_map(|(kind, id)| {
                self.about.range((kind, id, Of::Any)..=(kind, id, Of::Unsaid)).flat_map(|(_, plans)| plans)
            });
            let let_on: Vec<&str> = of_all.copied().collect();
            call.blocked.extend(held.into_iter().map(|plan| (ABOUT, plan, Of::Any)));
            call.allowed.extend(let_on.into_iter().map(|plan| (ABOUT, plan)));
            let (allowed, beside) = (&call.allowed, &self.beside);
            // What no row goes on with is nothing to hold.
            call.blocked.retain(|scope| beside.contains_key(scope) && !allowed.contains(&(scope.0, scope.1)));
        }
    }

    /// A call begins to hold, or ends.
    pub(super) fn turn(&mut self, seq: u64, is_begun: bool) {
        let Some(call) = self.calls.get(&seq) else { return };
        self.turns += 1;
        if is_begun && call.is_holding {
            self.open.insert(seq);
        } else {
            self.open.remove(&seq);
        }
        for scope in &call.blocked {
            let holders = self.held.entry(*scope).or_default();
            let is_new = if is_begun { holders.insert(seq) } else { holders.remove(&seq) };
            if !is_new {
                continue;
            }
            let beside = self.beside.get(scope);
            for other in beside.into_iter().flat_map(|beside| let_on(call, beside)) {
                let count = self.let_on.entry((*scope, other)).or_default();
                *count = if is_begun { *count + 1 } else { count.saturating_sub(1) };
            }
        }
    }

    /// Whether a row is held that does not say what it goes on with: it may be anything that is held, so that who leaves it out is not
    /// better off.
    pub(super) fn held_at_all(&self) -> Held {
        self.open.first().map_or(Held::No, |call| Held::By(*call))
    }

    /// Whether a row that goes on with what stands in a list is held.
    pub(super) fn held(&mut self, list: usize) -> Held {
        match self.found.get(&list) {
            Some((turns, held)) if *turns == self.turns => *held,
            Some(_) | None => {
                let held = self.held_now(list);
                self.found.insert(list, (self.turns, held));
                held
            }
        }
    }

    fn held_now(&mut self, list: usize) -> Held {
        let scopes = self.lists.get(list).map(Vec::as_slice).unwrap_or_default();
        for scope in scopes {
            let Some(holders) = self.held.get(scope).filter(|holders| !holders.is_empty()) else { continue };
            let others = || scopes.iter().filter(|other| *other != scope);
            let counts = || others().filter_map(|other| self.let_on.get(&(*scope, *other)).copied());
            if counts().any(|count| count == holders.len()) {
                continue;
            }
            let holds = |call: &u64| {
                self.calls.get(call).is_some_and(|call| !others().any(|other| call.lets_on(*other)))
            };
            if let Some(call) = holders.iter().take(TOLD_MAX).find(|call| holds(call)) {
                return Held::By(*call);
            }
            if counts().sum::<usize>() < holders.len() {
                return Held::BySome;
            }
            let through = self.gone_through.entry(list).or_default().entry(*scope).or_default();
            through.holding.retain(|call| holders.contains(call));
            if through.holding.is_empty() {
                let next = holders.range(through.last + 1..).find(|call| holds(call)).copied();
                through.last = next.or(holders.last().copied()).unwrap_or(through.last);
                through.holding.extend(next);
            }
            if let Some(call) = through.holding.first() {
                return Held::By(*call);
            }
        }
        Held::No
    }
}

/// What a call lets on among some scopes: looked up from the side that has fewer. An id alone may be that of anything.
fn let_on<'w>(call: &Call<'w>, beside: &BTreeSet<Scope<'w>>) -> BTreeSet<Scope<'w>> {
    if call.allowed_ids.len() > beside.len() {
        return beside.iter().filter(|other| call.lets_on(**other)).copied().collect();
    }
    let by_id = call.allowed_ids.iter().flat_map(|id| KINDS.map(|kind| (kind, *id)));
    let named = call.allowed.iter().copied().chain(by_id);
    named.flat_map(|(kind, id)| beside.range((kind, id, Of::Any)..=(kind, id, Of::Unsaid))).copied().collect()
}

/// The kinds of what rows go on with.
const KINDS: [&str; 8] = [
    OUTCOME,
    "artifact",
    "module",
    "revision_plan",
    "revision_plan_step_base",
    "run",
    "side_effect_ledger_entry",
    "side_effects_of_run",
];
