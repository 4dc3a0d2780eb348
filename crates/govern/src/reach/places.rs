//! Places in the log that records state.
//! Owns: what stands at them. Must not: know what a row means beyond what it is about.

use super::{Found, What};
use crate::kind;
use crate::member::Member;
use crate::reference::Reference;
use crate::world::{Record, World};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;

/// Places up to which something looked when it was written: they lie before it, and behind all that it names.
const UP_TO: [(&str, &str); 4] = [
    ("ReadModelInputManifest", "created_from_event_seq"),
    ("TaskReliancePacket", "input_manifest.created_from_event_seq"),
    ("DerivedReadModelRecord", "valid_from_event_seq"),
    ("DerivedReadModelRecord", "valid_until_event_seq"),
];

pub(super) fn find(world: &World, found: &mut Found) {
    for (kind, member) in UP_TO {
        for record in world.of(kind) {
            let place = record.place(member);
            if place.is_some_and(|place| place >= record.seq()) {
                let message = "is not before the row itself";
                found.add(record, member, What::Place, message);
            }
        }
    }
    manifests(world, found);
    links(world, found);
}

/// What a manifest lists was there when it was made.
fn manifests(world: &World, found: &mut Found) {
    for manifest in world.of("ReadModelInputManifest") {
        let Some(made) = manifest.place("created_from_event_seq") else { continue };
        for input in manifest.json().references("input_refs") {
            let first = world.resolve(super::names::plain(input)).and_then(|last| {
                let first = world.versions(last.kind(), last.id()).next();
                first.map(|first| first.seq())
            });
            if first.is_some_and(|first| first > made) {
                let message = format!("{input} comes after that");
                found.add(manifest, "created_from_event_seq", What::Place, message);
            }
        }
    }
}

/// The place that a link is folded up to is that of an event about what it links.
fn links(world: &World, found: &mut Found) {
    let rows: BTreeMap<u64, Record<'_>> = match world.of("EventProjectionLink").next() {
        Some(_) => world.all().map(|row| (row.seq(), row)).collect(),
        None => return,
    };
    for link in world.of("EventProjectionLink") {
        let Some(to) = link.json().reference("current_projection_ref") else { continue };
        let event = link.place("projection_event_seq").and_then(|seq| rows.get(&seq));
        if !event.is_some_and(|event| event.seq() < link.seq() && is_about(*event, to)) {
            let message = format!("no event about {to} stands there");
            found.add(link, "projection_event_seq", What::Place, message);
        }
    }
}

/// Whether a row tells of something, by a reference or by its id. How it stands tells nothing new.
fn is_about(event: Record<'_>, to: Reference<'_>) -> bool {
    if kind::find(event.kind()).is_none_or(|kind| !kind.class.is_immutable()) {
        return false;
    }
    let members: Vec<_> = event.json().as_object().into_iter().flat_map(|members| members.iter()).collect();
    members.into_iter().filter_map(|(_, value)| value.as_str()).any(|text| {
        text == to.id || Reference::read(text).is_some_and(|one| super::names::plain(one).is_same(&to))
    })
}
