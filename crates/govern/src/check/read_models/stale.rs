//! Read models that stay valid though something happened that they depend on.
//! Owns: matching events with headers by scope. Must not: know which event invalidates what; that is a table.

use super::super::Found;
use super::super::across::{Across, Event, Open, Reach, Topic, Wide};
use super::super::course::firsts_behind;
use super::place::{Place, Places};
use super::{manifest, payload};
use crate::fold::place::RUNS;
use crate::kind;
use crate::member::{Member, every_text};
use crate::reference::Reference;
use crate::table::invalidation::{self, ReadModel, Scope};
use crate::world::{Mark, Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Where an event and a read model meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key<'w> {
    Run(&'w str),
    Task(&'w str, Within),
    Matter(&'w str),
    /// A run outside of all matters.
    Unbound(&'w str),
    Ref(&'w str, &'w str),
}

/// Where in a task. A run with its own settings is not moved by other runs of its task, such as one that was forked from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Within {
    /// Anywhere.
    All,
    /// Outside of all streams that count for themselves.
    NoStream,
    /// In one of them.
    Stream(usize),
}

/// Something that happened, in order of when it did.
type Happened<'w> = Vec<(u64, Record<'w>)>;

/// What happened that read models may depend on.
struct Events<'w> {
    /// By read model and meeting place.
    met: BTreeMap<(ReadModel, Key<'w>), Happened<'w>>,
    /// By type, for specs that name what they reach.
    of_kind: BTreeMap<&'w str, Happened<'w>>,
}

/// Where each thing was shown, by what shows it.
type Targets<'w> = BTreeMap<(ReadModel, (&'w str, &'w str)), BTreeMap<&'w str, u64>>;

/// What the rows of a bundle say, in place of the built-in specs: of which types they speak, and what of those.
#[derive(Default)]
struct Own<'w> {
    /// For each type what events of it reach and how far, and from where on. The first row for a type holds from the beginning.
    reaches: BTreeMap<&'w str, BTreeMap<(ReadModel, Scope), u64>>,
    /// The types of events that reach a record by its name, and from where on.
    targets: Targets<'w>,
}

/// A header, as long as it is valid.
struct Valid<'w> {
    header: Record<'w>,
    model: ReadModel,
    /// It is valid behind this place.
    from: u64,
    /// Until here by its own word.
    until: u64,
    /// Where it meets events, but for what its manifest cites.
    keys: Vec<Key<'w>>,
    manifest: Option<Record<'w>>,
}

pub(super) fn lifecycle_event_without_read_model_invalidation(world: &World, found: &mut Found<'_>) {
    let own = Own::of(world);
    unspecified(world, &own, found);
    if world.of(HEADER).next().is_some() {
        tell(&met(world, &own, &Places::new(world)), found);
    }
}

/// A header with the first event that it depends on, that came later and that it does not say ended it.
type Met<'w> = (Valid<'w>, Option<(u64, Record<'w>)>);

fn tell(met: &[Met<'_>], found: &mut Found<'_>) {
    for (valid, first) in met {
        if let Some((seq, event)) = first {
            found.add(valid.header, PATH, out_of_date(*seq, event.kind()));
        }
    }
}

const HEADER: &str = "DerivedReadModelRecord";
/// Where a header says what made it out of date.
const PATH: &str = "invalidated_by_event_ref";
const UNTIL: &str = "valid_until_event_seq";

/// What is told of a header that an event made out of date.
fn out_of_date(seq: u64, kind: &str) -> String {
    format!("is still valid after row {seq}, a {kind} that it depends on")
}

/// What manifests cite, by their places.
type Cited<'w> = BTreeMap<u64, BTreeSet<(&'w str, &'w str)>>;

/// What a record cites; that something ended it is not what it was made of.
fn cited<'w>(record: Record<'w>) -> impl Iterator<Item = (&'w str, &'w str)> {
    let members = record.json().as_object().into_iter().flat_map(|members| members.iter());
    let mut texts = Vec::new();
    members.filter(|(name, _)| *name != PATH).for_each(|(_, value)| every_text(value, &mut texts));
    texts.into_iter().filter_map(Reference::read).map(|to| (to.kind, to.id))
}

/// The headers, each as it was written last and with what it meets first.
fn met<'w>(world: &'w World, own: &Own<'w>, places: &Places<'w>) -> Vec<Met<'w>> {
    let (valid, cited) = valid(world, own, places);
    let open = StillValid::of(&valid);
    let events = events(world, own, places, &open);
    let mut firsts: Vec<Option<(u64, Record<'w>)>> = Vec::with_capacity(valid.len());
    // Headers of one manifest and model ask for the same references.
    let mut shared: BTreeMap<(u64, ReadModel), Vec<usize>> = BTreeMap::new();
    for (at, one) in valid.iter().enumerate() {
        let lists: Vec<&[(u64, Record<'w>)]> =
            one.keys.iter().flat_map(|key| events.lists(own, one.model, *key)).collect();
        firsts.extend(firsts_behind(&lists, &[one.from]));
        if let Some(manifest) = one.manifest {
            shared.entry((manifest.seq(), one.model)).or_default().push(at);
        }
    }
    for ((manifest, model), headers) in shared {
        let refs = cited.get(&manifest).into_iter().flatten();
        let lists: Vec<&[(u64, Record<'w>)]> =
            refs.flat_map(|(kind, id)| events.lists(own, model, Key::Ref(kind, id))).collect();
        let places: Vec<u64> = headers.iter().filter_map(|at| valid.get(*at)).map(|one| one.from).collect();
        for (at, first) in headers.into_iter().zip(firsts_behind(&lists, &places)) {
            if let Some(known) = firsts.get_mut(at) {
                *known = known.take().into_iter().chain(first).min_by_key(|(seq, _)| *seq);
            }
        }
    }
    let in_time = |(one, first): (Valid<'w>, Option<(u64, Record<'w>)>)| {
        let first = first.filter(|(seq, _)| *seq < one.until);
        (one, first)
    };
    valid.into_iter().zip(firsts).map(in_time).collect()
}

impl<'w> Events<'w> {
    /// What happened at a meeting place.
    fn lists<'e>(
        &'e self,
        own: &'e Own<'w>,
        model: ReadModel,
        key: Key<'w>,
    ) -> impl Iterator<Item = &'e [(u64, Record<'w>)]> {
        let plain = self.met.get(&(model, key)).map(Vec::as_slice);
        let targets = match key {
            Key::Ref(kind, id) => own.targets.get(&(model, (kind, id))),
            Key::Run(_) | Key::Task(..) | Key::Matter(_) | Key::Unbound(_) => None,
        };
        let named = targets.into_iter().flatten().filter_map(|(kind, from)| {
            let all = self.of_kind.get(kind)?;
            all.get(all.partition_point(|(seq, _)| seq <= from)..)
        });
        plain.into_iter().chain(named)
    }
}

/// The headers, each as it was written last, and what their manifests cite.
fn valid<'w>(world: &'w World, own: &Own<'w>, places: &Places<'w>) -> (Vec<Valid<'w>>, Cited<'w>) {
    let (payloads, mut refs) = (payload::by_header(world), Cited::new());
    let mut headers: BTreeMap<&str, Record<'_>> = BTreeMap::new();
    headers.extend(world.of(HEADER).map(|header| (header.id(), header)));
    let mut all = Vec::new();
    for header in headers.into_values() {
        let model = header.text("read_model_kind").and_then(ReadModel::find);
        let Some((model, from)) = model.zip(header.place("valid_from_event_seq")) else { continue };
        let manifest = manifest(header);
        if let Some(manifest) = manifest {
            refs.entry(manifest.seq()).or_insert_with(|| cited(manifest).collect());
        }
        let keys = header_keys(places, header, payloads.get(header.id()).copied(), manifest);
        let mut one = Valid { header, model, from, until: u64::MAX, keys, manifest };
        // What would end before it begins has no end.
        one.until = match header.place(UNTIL) {
            Some(until) => Some(until).filter(|until| *until >= from),
            None => ended_by(&one, own, places, &refs).filter(|until| *until > from),
        }
        .unwrap_or(u64::MAX);
        all.push(one);
    }
    (all, refs)
}

/// Where the event stands that a header names as what ended it. One that nobody wrote ends nothing, nor does one that has nothing to
/// do with what is shown.
fn ended_by<'w>(one: &Valid<'w>, own: &Own<'w>, places: &Places<'w>, refs: &Cited<'w>) -> Option<u64> {
    let (header, event) = (one.header, one.header.follow(PATH)?);
    let seq = happened_at(header.world, event);
    let cites = one.manifest.and_then(|manifest| refs.get(&manifest.seq()));
    let is_cited = |to: &(&'w str, &'w str)| cites.is_some_and(|cites| cites.contains(to));
    let meets = |key: &Key<'w>| match key {
        Key::Ref(kind, id) => one.keys.contains(key) || is_cited(&(*kind, *id)),
        Key::Run(_) | Key::Task(..) | Key::Matter(_) | Key::Unbound(_) => one.keys.contains(key),
    };
    let reached = reached(event, own).into_iter().filter(|(model, _)| *model == one.model);
    let (place, mut scopes) = (places.of(event), reached.map(|(_, scope)| scope));
    let is_met = scopes.any(|scope| event_keys(scope, &place, event).iter().any(meets));
    let is_named = || {
        let is_target = |to: (&'w str, &'w str)| {
            let from = own.targets.get(&(one.model, to)).and_then(|kinds| kinds.get(event.kind()));
            from.is_some_and(|from| *from < seq)
        };
        let own_refs = one.keys.iter().filter_map(|key| match key {
            Key::Ref(kind, id) => Some((*kind, *id)),
            Key::Run(_) | Key::Task(..) | Key::Matter(_) | Key::Unbound(_) => None,
        });
        own_refs.chain(cites.into_iter().flatten().copied()).any(is_target)
    };
    (is_met || (!own.targets.is_empty() && is_named())).then_some(seq)
}

/// What the rule finds in some rows, and what of them reaches further than a run.
pub(in crate::check) const WIDE: Wide = Wide {
    code: "lifecycle_event_without_read_model_invalidation",
    check: across,
    path: PATH,
    message: out_of_date,
};

fn across<'w>(world: &'w World, found: &mut Found<'_>) -> Across<'w> {
    let own = Own::of(world);
    unspecified(world, &own, found);
    let wide = invalidation::SPECS.iter().filter(|spec| is_wide(spec)).map(|spec| spec.event);
    let mut kinds: Vec<&str> = wide.chain(own.reaches.keys().copied()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let (places, mut events) = (Places::new(world), Vec::new());
    for event in kinds.iter().flat_map(|kind| world.of(kind)) {
        let mut reached = reached(event, &own);
        reached.retain(|(_, scope)| matches!(scope, Scope::SameTask | Scope::SameMatter));
        if reached.is_empty() {
            continue;
        }
        let (place, seq, kind) = (places.of(event), happened_at(world, event), event.kind());
        for (model, scope) in reached {
            // That of its stream is told with that of all.
            let keys = event_keys(scope, &place, event).into_iter();
            let keys = keys.filter(|key| !matches!(key, Key::Task(_, Within::Stream(_))));
            events.extend(keys.filter_map(|key| key.topic(model)).map(|topic| Event { topic, seq, kind }));
        }
    }
    let met = met(world, &own, &places);
    tell(&met, found);
    let open = met.iter().map(|(valid, first)| Open {
        row: valid.header.seq(),
        topics: valid.keys.iter().filter_map(|key| key.topic(valid.model)).collect(),
        from: valid.from,
        until: valid.until,
        first: first.map(|(seq, _)| seq),
    });
    Across { events, open: open.collect() }
}

fn is_wide(spec: &invalidation::Spec) -> bool {
    spec.invalidates.iter().any(|(_, scope)| matches!(scope, Scope::SameTask | Scope::SameMatter))
}

impl Key<'_> {
    /// Where a read model meets what happens in other runs.
    fn topic(&self, model: ReadModel) -> Option<Topic> {
        match self {
            Key::Task(task, Within::All | Within::Stream(_)) => {
                Some(Topic::of(Reach::Task, model.as_str(), task))
            }
            Key::Matter(matter) => Some(Topic::of(Reach::Matter, model.as_str(), matter)),
            Key::Run(_) | Key::Task(_, Within::NoStream) | Key::Unbound(_) | Key::Ref(_, _) => None,
        }
    }
}

impl<'w> Own<'w> {
    fn of(world: &'w World) -> Self {
        let mut own = Own::default();
        for row in world.of("ReadModelInvalidationSpec") {
            let spec = row.json();
            let Some(kind) = spec.text("producer_event_kind") else { continue };
            let from = if own.reaches.contains_key(kind) { row.seq() } else { 0 };
            let reaches = own.reaches.entry(kind).or_default();
            let Some(scope) = spec.text("invalidation_scope").and_then(Scope::find) else { continue };
            let targets = match scope {
                Scope::SpecificRefs => spec.references("target_refs"),
                Scope::SameRun | Scope::SameTask | Scope::SameMatter => Vec::new(),
            };
            for model in spec.texts("invalidates_read_models").into_iter().filter_map(ReadModel::find) {
                if targets.is_empty() {
                    reaches.entry((model, scope)).or_insert(from);
                }
                for to in &targets {
                    let kinds = own.targets.entry((model, (to.kind, to.id))).or_default();
                    kinds.entry(kind).or_insert(from);
                }
            }
        }
        own
    }
}

/// Transitions of a type that no spec speaks of: nobody can tell what they make out of date.
fn unspecified(world: &World, own: &Own<'_>, found: &mut Found<'_>) {
    let mut known: BTreeMap<&str, bool> = BTreeMap::new();
    for record in world.marked(Mark::Moved) {
        let is_known = *known.entry(record.kind()).or_insert_with_key(|name| {
            let is_other = kind::find(name).is_some_and(|kind| !kind.class.is_immutable());
            is_other || own.reaches.contains_key(name) || invalidation::specs(name).next().is_some()
        });
        if !is_known && record.text("from_state").is_some() && record.text("to_state").is_some() {
            found.add(record, "", format!("no spec says which read models a {} invalidates", record.kind()));
        }
    }
}

/// The read models that events may make out of date: which, and between which places.
struct StillValid<'w> {
    models: BTreeSet<ReadModel>,
    first: u64,
    /// The places behind the first and before the last that count for those of each run.
    runs: BTreeMap<&'w str, (u64, u64)>,
}

impl<'w> StillValid<'w> {
    fn of(valid: &[Valid<'w>]) -> Self {
        let mut open = StillValid { models: BTreeSet::new(), first: u64::MAX, runs: BTreeMap::new() };
        for one in valid {
            open.models.insert(one.model);
            open.first = open.first.min(one.from);
            for key in &one.keys {
                if let Key::Run(run) = key {
                    let (first, last) = open.runs.entry(run).or_insert((one.from, one.until));
                    (*first, *last) = (one.from.min(*first), one.until.max(*last));
                }
            }
        }
        open
    }

    /// Whether an event that reaches no further than the runs that it names can't have made anything out of date.
    fn is_past(&self, event: Record<'_>, seq: u64) -> bool {
        let is_past =
            |run: &str| self.runs.get(run).is_none_or(|(first, last)| seq <= *first || seq >= *last);
        let mut runs = RUNS.iter().filter_map(|member| event.text(member)).peekable();
        runs.peek().is_some() && runs.all(is_past)
    }
}

/// Everything that happened that one of these read models may depend on.
fn events<'w>(world: &'w World, own: &Own<'w>, places: &Places<'w>, open: &StillValid<'w>) -> Events<'w> {
    let mut events = Events { met: BTreeMap::new(), of_kind: BTreeMap::new() };
    let targeting: BTreeSet<&str> = own.targets.values().flat_map(|kinds| kinds.keys().copied()).collect();
    let mut kinds: Vec<&'w str> = invalidation::SPECS.iter().map(|spec| spec.event).collect();
    kinds.extend(own.reaches.keys());
    kinds.sort_unstable();
    kinds.dedup();
    for (kind, event) in kinds.iter().flat_map(|kind| world.of(kind).map(move |event| (*kind, event))) {
        let seq = happened_at(world, event);
        if seq <= open.first {
            continue;
        }
        if targeting.contains(kind) && invalidation::invalidated_by(kind, event.json()).is_some() {
            events.of_kind.entry(kind).or_default().push((seq, event));
        }
        let mut reached = reached(event, own);
        let is_past = open.is_past(event, seq);
        reached
            .retain(|(model, scope)| open.models.contains(model) && !(is_past && *scope == Scope::SameRun));
        if reached.is_empty() {
            continue;
        }
        let place = places.of(event);
        for (model, scope) in reached {
            for key in event_keys(scope, &place, event) {
                events.met.entry((model, key)).or_default().push((seq, event));
            }
        }
    }
    let lists = events.met.values_mut().chain(events.of_kind.values_mut());
    lists.for_each(|all| all.sort_by_key(|(seq, _)| *seq));
    events
}

/// Which read models a row reaches and how far: by the bundle's specs, or else by ours.
fn reached(event: Record<'_>, own: &Own<'_>) -> Vec<(ReadModel, Scope)> {
    let Some(built_in) = invalidation::invalidated_by(event.kind(), event.json()) else { return Vec::new() };
    match own.reaches.get(event.kind()) {
        Some(specs) => {
            let held = specs.iter().filter(|(_, from)| **from < event.seq());
            held.map(|(reaches, _)| *reaches).collect()
        }
        None => built_in.to_vec(),
    }
}

/// A decision is superseded when the one that supersedes it is there.
fn happened_at(world: &World, event: Record<'_>) -> u64 {
    let later = event.text("superseded_by").and_then(|by| {
        let id = Reference::read(by).map_or(by, |by| by.id);
        world.find(event.kind(), id)
    });
    later.map_or(event.seq(), |later| later.seq().max(event.seq()))
}

fn event_keys<'w>(scope: Scope, place: &Place<'w>, event: Record<'w>) -> Vec<Key<'w>> {
    match scope {
        Scope::SameRun => place.runs.iter().copied().map(Key::Run).collect(),
        Scope::SameTask => {
            let stream = event.world.streams().of(event.seq());
            let own = stream.map_or(Within::NoStream, Within::Stream);
            place
                .task
                .into_iter()
                .flat_map(|task| [Key::Task(task, Within::All), Key::Task(task, own)])
                .collect()
        }
        Scope::SameMatter => match place.matter {
            Some(matter) => [Key::Matter(matter)].into(),
            None => place.runs.iter().copied().map(Key::Unbound).collect(),
        },
        Scope::SpecificRefs => {
            let members = event.json().as_object().into_iter().flat_map(|members| members.iter());
            let named = members.filter_map(|(_, value)| value.as_str().and_then(Reference::read));
            let mut keys: Vec<Key<'_>> = named.map(|to| Key::Ref(to.kind, to.id)).collect();
            keys.push(Key::Ref(event.snake(), event.id()));
            keys
        }
    }
}

/// Where a header meets events: what it says itself and cites, what is shown under it says, what its manifest says.
fn header_keys<'w>(
    places: &Places<'w>,
    header: Record<'w>,
    shown: Option<Record<'w>>,
    manifest: Option<Record<'w>>,
) -> Vec<Key<'w>> {
    let mut place = places.of(header);
    for other in [shown, manifest].into_iter().flatten() {
        let other = places.of(other);
        if place.runs.is_empty() {
            place.runs = other.runs;
        }
        place.task = place.task.or(other.task);
        place.matter = place.matter.or(other.matter);
    }
    let mut keys: Vec<Key<'w>> = place.runs.iter().copied().map(Key::Run).collect();
    if let Some(task) = place.task {
        match header.world.streams().of(header.seq()) {
            Some(own) => {
                keys.extend([Within::Stream(own), Within::NoStream].map(|within| Key::Task(task, within)));
            }
            None => keys.push(Key::Task(task, Within::All)),
        }
    }
    match place.matter {
        Some(matter) => keys.push(Key::Matter(matter)),
        None => keys.extend(place.runs.iter().copied().map(Key::Unbound)),
    }
    for own in [Some(header), shown, manifest].into_iter().flatten() {
        keys.push(Key::Ref(own.snake(), own.id()));
    }
    keys.extend(cited(header).map(|(kind, id)| Key::Ref(kind, id)));
    keys
}
