//! How something stands now, and the events that it is folded from.
//! Owns: which projection belongs to which event and stream. Must not: know what may follow on what.

use super::super::Found;
use super::drift;
use crate::fold::family::{GENERAL, STREAMS, stream_of};
use crate::kind;
use crate::member::Member;
use crate::reference::snake;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use countersign_record::json::Json;

/// A projection and the event that it begins with.
struct Pair {
    projection: &'static str,
    event: &'static str,
    /// What both are about, by a member of the same name.
    subject: Option<&'static str>,
}

const fn pair(projection: &'static str, event: &'static str, subject: Option<&'static str>) -> Pair {
    Pair { projection, event, subject }
}

const PAIRS: [Pair; 4] = [
    pair("EvaluationFindingRecord", "EvaluationFindingEvent", Some("finding_id")),
    pair("RunGuidanceItemCurrent", "RunGuidanceCreationEvent", Some("guidance_id")),
    pair("RunBoardVisiblePost", "RunBoardAuditEvent", None),
    pair("SourceWorkspaceCurrentState", "SourceWorkspaceOperation", Some("workspace_id")),
];

pub(super) fn current_projection_without_source_event(world: &World, found: &mut Found<'_>) {
    for pair in &PAIRS {
        // A finding without its event, a withheld post without one, have codes of their own.
        let own_code = |record: &Record<'_>| {
            pair.projection == "EvaluationFindingRecord" || !record.is_blank("withheld_reason")
        };
        for record in world.of(pair.projection).filter(|record| !own_code(record)) {
            let is_post = pair.projection == "RunBoardVisiblePost";
            let member = if is_post { "source_event_id" } else { "canonical_event_ref" };
            let event = if is_post {
                record.text(member).and_then(|id| world.find(pair.event, id))
            } else {
                record.follow(member)
            };
            let is_source = |event: &Record<'_>| {
                event.seq() <= record.seq() && is_about(pair, record.kind(), record.json(), *event)
            };
            if event.filter(is_source).is_none() {
                found.add(
                    record,
                    member,
                    format!("names no {} before it that it could come from", pair.event),
                );
            }
        }
    }
    for link in world.of("EventProjectionLink") {
        if link.follow("canonical_event_ref").filter(|event| is_linked(link, *event)).is_none() {
            let message = "names no event that the projection could come from at its place in the log";
            found.add(link, "canonical_event_ref", message);
        }
    }
    drift::links(world, found);
}

/// Whether an event is of the right type and about the same thing as what it is projected to.
fn is_about(pair: &Pair, kind: &str, projection: &Json, event: Record<'_>) -> bool {
    let subject = pair.subject.is_none_or(|member| match (projection.id_at(member), event.id_at(member)) {
        (Some(one), Some(other)) => one == other,
        (None, _) | (_, None) => true,
    });
    kind == pair.projection && event.kind() == pair.event && subject
}

fn is_linked(link: Record<'_>, event: Record<'_>) -> bool {
    let in_time = link.place("projection_event_seq").is_none_or(|seq| event.seq() <= seq);
    let projection = link.reference("current_projection_ref");
    let pair = PAIRS.iter().find(|pair| projection.is_some_and(|to| to.kind == snake(pair.projection)));
    let fits = match (pair, projection) {
        (Some(pair), Some(to)) => {
            let same = pair.subject.and_then(|member| event.id_at(member)).is_none_or(|id| id == to.id);
            event.kind() == pair.event && same
        }
        (_, None) | (None, _) => kind::find(event.kind()).is_none_or(|kind| kind.class.is_immutable()),
    };
    in_time && fits
}

pub(super) fn projection_event_seq_out_of_date(world: &World, found: &mut Found<'_>) {
    // Of several links of one projection the last one is what is read.
    let mut links: BTreeMap<Key<'_>, Record<'_>> = BTreeMap::new();
    for link in world.of("EventProjectionLink") {
        if let Some(to) = link.json().reference("current_projection_ref") {
            links.insert((to.kind, to.id), link);
        }
    }
    if links.is_empty() {
        return;
    }
    let last = last_events(world);
    for (key, link) in links {
        let (Some(folded), Some(event)) = (link.place("projection_event_seq"), last.get(&key)) else {
            continue;
        };
        if folded < event.seq() {
            let message = format!("is folded up to {folded}, and row {} belongs to it too", event.seq());
            found.add(link, "projection_event_seq", message);
        }
    }
}

/// A projection by its kind in snake case and its id.
type Key<'w> = (&'w str, &'w str);

/// The last event of each projection. What was asked for and not done does not change it.
fn last_events(world: &World) -> BTreeMap<Key<'_>, Record<'_>> {
    let mut last: BTreeMap<Key<'_>, Record<'_>> = BTreeMap::new();
    let kinds: BTreeSet<&str> = STREAMS.iter().map(|(kind, _, _)| *kind).chain([GENERAL]).collect();
    for event in kinds.into_iter().flat_map(|kind| world.of(kind)) {
        if let Some(key) = stream_of(event.kind(), event.json()) {
            keep_later(&mut last, key, event);
        }
    }
    last
}

fn keep_later<'w>(last: &mut BTreeMap<Key<'w>, Record<'w>>, key: Key<'w>, event: Record<'w>) {
    let kept = last.entry(key).or_insert(event);
    if kept.seq() < event.seq() {
        *kept = event;
    }
}
