//! Read models that stay valid though something happened that they depend on.
//! Owns: matching events with headers by scope. Must not: know which event invalidates what; that is a table.

use super::super::Found;
use super::super::across::{Across, Event, Open, Reach, Topic, Wide};
use super::place::{Place, Places};
use super::{manifest, payload};
use crate::fold::place::RUNS;
use crate::kind;
use crate::member::{Member, every_text};
use crate::reference::{Reference, snake};
use crate::table::invalidation::{self, ReadModel, Scope};
use crate::world::{Mark, Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Where an event and a read model meet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key<'w> {
    Run(&'w str),
    Task(&'w str),
    Matter(&'w str),
    /// A run outside of all matters.
    Unbound(&'w str),
    Ref(String, &'w str),
}

/// For each read model and meeting place the events, in order.
type Events<'w> = BTreeMap<(ReadModel, Key<'w>), Vec<(u64, Record<'w>)>>;

/// What the rows of a bundle say of one event kind, in place of the built-in specs.
type Own<'w> = BTreeMap<&'w str, Vec<Spec<'w>>>;

/// What one of them says, and from where on. The first one for a type of row holds from the beginning.
struct Spec<'w> {
    from: u64,
    reaches: Reaches<'w>,
}

/// A read model that something reaches, how far, and through which references.
type Reaches<'w> = (ReadModel, Scope, Vec<Reference<'w>>);

/// A header that is still valid.
struct Valid<'w> {
    header: Record<'w>,
    model: ReadModel,
    /// It is valid behind this place.
    from: u64,
    /// Where it meets events.
    keys: Vec<Key<'w>>,
}

pub(super) fn lifecycle_event_without_read_model_invalidation(world: &World, found: &mut Found<'_>) {
    let own = own_specs(world);
    unspecified(world, &own, found);
    let headers = headers(world);
    if !headers.is_empty() {
        tell(&met(world, &own, &Places::new(world), headers), found);
    }
}

/// A header that is still valid, with the first event that it depends on and that came later.
type Met<'w> = (Valid<'w>, Option<(u64, Record<'w>)>);

fn tell(met: &[Met<'_>], found: &mut Found<'_>) {
    for (valid, first) in met {
        if let Some((seq, event)) = first {
            found.add(valid.header, PATH, out_of_date(*seq, event.kind()));
        }
    }
}

/// Where a header says what made it out of date.
const PATH: &str = "invalidated_by_event_ref";

/// What is told of a header that an event made out of date.
fn out_of_date(seq: u64, kind: &str) -> String {
    format!("is still valid after row {seq}, a {kind} that it depends on")
}

/// The headers that are still valid, each with what it meets first.
fn met<'w>(world: &'w World, own: &Own<'w>, places: &Places<'w>, headers: Vec<Record<'w>>) -> Vec<Met<'w>> {
    let valid = valid(world, places, headers);
    let open = StillValid::of(&valid);
    let events = events(world, own, places, &open);
    let first_after = |valid: &Valid<'w>| {
        let after = |key: &Key<'w>| {
            let all = events.get(&(valid.model, key.clone()))?;
            let later = all.get(all.partition_point(|(seq, _)| *seq <= valid.from)..)?;
            // A run with its own settings is not moved by other runs of its task, such as one that was forked from it.
            let is_moved = |event: Record<'w>| match key {
                Key::Task(_) => !world.streams().are_apart(valid.header.seq(), event.seq()),
                Key::Matter(_) | Key::Run(_) | Key::Unbound(_) | Key::Ref(..) => true,
            };
            later.iter().find(|(_, event)| is_moved(*event)).copied()
        };
        valid.keys.iter().filter_map(after).min_by_key(|(seq, _)| *seq)
    };
    let firsts: Vec<_> = valid.iter().map(first_after).collect();
    valid.into_iter().zip(firsts).collect()
}

/// The headers that nothing closed, each as it was written last.
fn headers(world: &World) -> Vec<Record<'_>> {
    let mut headers: BTreeMap<&str, Record<'_>> = BTreeMap::new();
    headers.extend(world.of("DerivedReadModelRecord").map(|header| (header.id(), header)));
    headers.retain(|_, header| header.is_blank("valid_until_event_seq") && header.is_blank(PATH));
    headers.into_values().collect()
}

fn valid<'w>(world: &'w World, places: &Places<'w>, headers: Vec<Record<'w>>) -> Vec<Valid<'w>> {
    let payloads = payload::by_header(world);
    let read = |header: Record<'w>| {
        let model = header.text("read_model_kind").and_then(ReadModel::find)?;
        let from = header.place("valid_from_event_seq")?;
        let keys = header_keys(places, header, payloads.get(header.id()).copied());
        Some(Valid { header, model, from, keys })
    };
    headers.into_iter().filter_map(read).collect()
}

/// What the rule finds in some rows, and what of them reaches further than a run.
pub(in crate::check) const WIDE: Wide = Wide {
    code: "lifecycle_event_without_read_model_invalidation",
    check: across,
    path: PATH,
    message: out_of_date,
};

fn across<'w>(world: &'w World, found: &mut Found<'_>) -> Across<'w> {
    let own = own_specs(world);
    unspecified(world, &own, found);
    let wide = invalidation::SPECS.iter().filter(|spec| is_wide(spec)).map(|spec| spec.event);
    let mut kinds: Vec<&str> = wide.chain(own.keys().copied()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let (places, mut events) = (Places::new(world), Vec::new());
    for event in kinds.iter().flat_map(|kind| world.of(kind)) {
        let mut reached = reached(event, &own);
        reached.retain(|(_, scope, _)| matches!(scope, Scope::SameTask | Scope::SameMatter));
        if reached.is_empty() {
            continue;
        }
        let (place, seq, kind) = (places.of(event), happened_at(world, event), event.kind());
        for (model, scope, targets) in reached {
            let topics =
                event_keys(scope, &place, event, &targets).into_iter().filter_map(|key| key.topic(model));
            events.extend(topics.map(|topic| Event { topic, seq, kind }));
        }
    }
    let met = met(world, &own, &places, headers(world));
    tell(&met, found);
    let open = met.iter().map(|(valid, first)| Open {
        row: valid.header.seq(),
        topics: valid.keys.iter().filter_map(|key| key.topic(valid.model)).collect(),
        from: valid.from,
        until: u64::MAX,
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
            Key::Task(task) => Some(Topic::of(Reach::Task, model.as_str(), task)),
            Key::Matter(matter) => Some(Topic::of(Reach::Matter, model.as_str(), matter)),
            Key::Run(_) | Key::Unbound(_) | Key::Ref(_, _) => None,
        }
    }
}

fn own_specs(world: &World) -> Own<'_> {
    let mut own: Own<'_> = BTreeMap::new();
    // Many may say the same of one type.
    let mut said = BTreeSet::new();
    for row in world.of("ReadModelInvalidationSpec") {
        let spec = row.json();
        let Some(kind) = spec.text("producer_event_kind") else { continue };
        let from = if own.contains_key(kind) { row.seq() } else { 0 };
        let specs = own.entry(kind).or_default();
        let Some(scope) = spec.text("invalidation_scope").and_then(Scope::find) else { continue };
        for model in spec.texts("invalidates_read_models").into_iter().filter_map(ReadModel::find) {
            let targets = match scope {
                Scope::SpecificRefs => spec.references("target_refs"),
                Scope::SameRun | Scope::SameTask | Scope::SameMatter => Vec::new(),
            };
            let reaches = (model, scope, targets);
            if said.insert((kind, reaches.clone())) {
                specs.push(Spec { from, reaches });
            }
        }
    }
    own
}

/// Transitions of a type that no spec speaks of: nobody can tell what they make out of date.
fn unspecified(world: &World, own: &Own<'_>, found: &mut Found<'_>) {
    let mut known: BTreeMap<&str, bool> = BTreeMap::new();
    for record in world.marked(Mark::Moved) {
        let is_known = *known.entry(record.kind()).or_insert_with_key(|name| {
            let is_other = kind::find(name).is_some_and(|kind| !kind.class.is_immutable());
            is_other || own.contains_key(name) || invalidation::specs(name).next().is_some()
        });
        if !is_known && record.text("from_state").is_some() && record.text("to_state").is_some() {
            found.add(record, "", format!("no spec says which read models a {} invalidates", record.kind()));
        }
    }
}

/// The read models that are still valid: which, and the place behind which something may have happened to the first of them.
struct StillValid<'w> {
    models: BTreeSet<ReadModel>,
    first: u64,
    /// The same for those of each run.
    runs: BTreeMap<&'w str, u64>,
}

impl<'w> StillValid<'w> {
    fn of(valid: &[Valid<'w>]) -> Self {
        let mut open = StillValid { models: BTreeSet::new(), first: u64::MAX, runs: BTreeMap::new() };
        for one in valid {
            open.models.insert(one.model);
            open.first = open.first.min(one.from);
            for key in &one.keys {
                if let Key::Run(run) = key {
                    let first = open.runs.entry(run).or_insert(one.from);
                    *first = one.from.min(*first);
                }
            }
        }
        open
    }

    /// Whether an event that reaches no further than the runs that it names can't have made anything out of date.
    fn is_past(&self, event: Record<'_>, seq: u64) -> bool {
        let is_past = |run: &str| self.runs.get(run).is_none_or(|first| seq <= *first);
        let mut runs = RUNS.iter().filter_map(|member| event.text(member)).peekable();
        runs.peek().is_some() && runs.all(is_past)
    }
}

/// Everything that happened that one of these read models may depend on.
fn events<'w>(world: &'w World, own: &Own<'w>, places: &Places<'w>, open: &StillValid<'w>) -> Events<'w> {
    let mut events: Events<'w> = BTreeMap::new();
    let mut kinds: Vec<&str> = invalidation::SPECS.iter().map(|spec| spec.event).collect();
    kinds.extend(own.keys());
    kinds.sort_unstable();
    kinds.dedup();
    for event in kinds.iter().flat_map(|kind| world.of(kind)) {
        let seq = happened_at(world, event);
        if seq <= open.first {
            continue;
        }
        let mut reached = reached(event, own);
        let is_past = open.is_past(event, seq);
        reached.retain(|(model, scope, _)| {
            open.models.contains(model) && !(is_past && *scope == Scope::SameRun)
        });
        if reached.is_empty() {
            continue;
        }
        let place = places.of(event);
        for (model, scope, targets) in reached {
            for key in event_keys(scope, &place, event, &targets) {
                events.entry((model, key)).or_default().push((seq, event));
            }
        }
    }
    events.values_mut().for_each(|all| all.sort_by_key(|(seq, _)| *seq));
    events
}

/// Which read models a row reaches, how far, and through which references: by the bundle's specs, or else by ours.
fn reached<'w>(event: Record<'w>, own: &Own<'w>) -> Vec<Reaches<'w>> {
    let Some(built_in) = invalidation::invalidated_by(event.kind(), event.json()) else { return Vec::new() };
    let Some(specs) = own.get(event.kind()) else {
        return built_in.iter().map(|(model, scope)| (*model, *scope, Vec::new())).collect();
    };
    specs.iter().take_while(|spec| spec.from < event.seq()).map(|spec| spec.reaches.clone()).collect()
}

/// A decision is superseded when the one that supersedes it is there.
fn happened_at(world: &World, event: Record<'_>) -> u64 {
    let later = event.text("superseded_by").and_then(|by| {
        let id = Reference::read(by).map_or(by, |by| by.id);
        world.find(event.kind(), id)
    });
    later.map_or(event.seq(), |later| later.seq().max(event.seq()))
}

fn event_keys<'w>(
    scope: Scope,
    place: &Place<'w>,
    event: Record<'w>,
    targets: &[Reference<'w>],
) -> Vec<Key<'w>> {
    match scope {
        Scope::SameRun => place.runs.iter().copied().map(Key::Run).collect(),
        Scope::SameTask => place.task.map(Key::Task).into_iter().collect(),
        Scope::SameMatter => match place.matter {
            Some(matter) => [Key::Matter(matter)].into(),
            None => place.runs.iter().copied().map(Key::Unbound).collect(),
        },
        Scope::SpecificRefs if targets.is_empty() => {
            let members = event.json().as_object().into_iter().flat_map(|members| members.iter());
            let named = members.filter_map(|(_, value)| value.as_str().and_then(Reference::read));
            let mut keys: Vec<Key<'_>> = named.map(|to| Key::Ref(to.kind.to_string(), to.id)).collect();
            keys.push(Key::Ref(snake(event.kind()), event.id()));
            keys
        }
        Scope::SpecificRefs => targets.iter().map(|to| Key::Ref(to.kind.to_string(), to.id)).collect(),
    }
}

/// Where a header meets events: what it says itself, what is shown under it says, what its manifest says and cites.
fn header_keys<'w>(places: &Places<'w>, header: Record<'w>, shown: Option<Record<'w>>) -> Vec<Key<'w>> {
    let mut place = places.of(header);
    let manifest = manifest(header);
    for other in [shown, manifest].into_iter().flatten() {
        let other = places.of(other);
        if place.runs.is_empty() {
            place.runs = other.runs;
        }
        place.task = place.task.or(other.task);
        place.matter = place.matter.or(other.matter);
    }
    let mut keys: Vec<Key<'w>> = place.runs.iter().copied().map(Key::Run).collect();
    keys.extend(place.task.map(Key::Task));
    match place.matter {
        Some(matter) => keys.push(Key::Matter(matter)),
        None => keys.extend(place.runs.iter().copied().map(Key::Unbound)),
    }
    for own in [Some(header), shown, manifest].into_iter().flatten() {
        keys.push(Key::Ref(snake(own.kind()), own.id()));
    }
    let mut cited = Vec::new();
    for cites in [Some(header), manifest].into_iter().flatten() {
        every_text(cites.json(), &mut cited);
    }
    keys.extend(cited.into_iter().filter_map(Reference::read).map(|to| Key::Ref(to.kind.to_string(), to.id)));
    keys
}
