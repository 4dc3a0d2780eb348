//! Read models that stay valid though something happened that they depend on.
//! Owns: matching events with headers by scope. Must not: know which event invalidates what; that is a table.

use super::super::Found;
use super::place::{Place, Places};
use super::{manifest, payload};
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
type Own<'w> = BTreeMap<&'w str, Vec<Record<'w>>>;

pub(super) fn lifecycle_event_without_read_model_invalidation(world: &World, found: &mut Found<'_>) {
    let own = own_specs(world);
    unspecified(world, &own, found);
    let mut headers: BTreeMap<&str, Record<'_>> = BTreeMap::new();
    headers.extend(world.of("DerivedReadModelRecord").map(|header| (header.id(), header)));
    let is_open = |header: &Record<'_>| {
        header.is_blank("valid_until_event_seq") && header.is_blank("invalidated_by_event_ref")
    };
    headers.retain(|_, header| is_open(header));
    if headers.is_empty() {
        return;
    }
    let places = Places::new(world);
    let kinds = headers.values().filter_map(|header| header.text("read_model_kind"));
    let events = events(world, &own, &places, &kinds.filter_map(ReadModel::find).collect());
    let payloads = payload::by_header(world);
    for header in headers.into_values() {
        let (Some(model), Some(from)) =
            (header.text("read_model_kind").and_then(ReadModel::find), header.count("valid_from_event_seq"))
        else {
            continue;
        };
        let keys = header_keys(&places, header, payloads.get(header.id()).copied());
        let after = |key: &Key<'_>| {
            let all = events.get(&(model, key.clone()))?;
            all.get(all.partition_point(|(seq, _)| *seq <= from)).copied()
        };
        if let Some((seq, event)) = keys.iter().filter_map(after).min_by_key(|(seq, _)| *seq) {
            let message = format!("is still valid after row {seq}, a {} that it depends on", event.kind());
            found.add(header, "invalidated_by_event_ref", message);
        }
    }
}

fn own_specs(world: &World) -> Own<'_> {
    let mut own: Own<'_> = BTreeMap::new();
    for spec in world.of("ReadModelInvalidationSpec") {
        if let Some(kind) = spec.json().text("producer_event_kind") {
            own.entry(kind).or_default().push(spec);
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

/// Everything that happened that one of these read models may depend on.
fn events<'w>(
    world: &'w World,
    own: &Own<'w>,
    places: &Places<'w>,
    models: &BTreeSet<ReadModel>,
) -> Events<'w> {
    let mut events: Events<'w> = BTreeMap::new();
    let mut kinds: Vec<&str> = invalidation::SPECS.iter().map(|spec| spec.event).collect();
    kinds.extend(own.keys());
    kinds.sort_unstable();
    kinds.dedup();
    for event in kinds.iter().flat_map(|kind| world.of(kind)) {
        let mut reached = reached(event, own);
        reached.retain(|(model, _, _)| models.contains(model));
        if reached.is_empty() {
            continue;
        }
        let (place, seq) = (places.of(event), happened_at(world, event));
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
fn reached<'w>(event: Record<'w>, own: &Own<'w>) -> Vec<(ReadModel, Scope, Vec<Reference<'w>>)> {
    let Some(built_in) = invalidation::invalidated_by(event.kind(), event.json()) else { return Vec::new() };
    let Some(specs) = own.get(event.kind()) else {
        return built_in.iter().map(|(model, scope)| (*model, *scope, Vec::new())).collect();
    };
    let mut reached = Vec::new();
    for spec in specs {
        let Some(scope) = spec.text("invalidation_scope").and_then(Scope::find) else { continue };
        for model in spec.texts("invalidates_read_models").into_iter().filter_map(ReadModel::find) {
            reached.push((model, scope, spec.json().references("target_refs")));
        }
    }
    reached
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
