//! What a projection says and no event accounts for.
//! Owns: comparing what was written with what is folded. Must not: fold; judge states, tiers and taints, which have codes of their own.

use super::super::Found;
use crate::fold::life::{Board, Life, Opens};
use crate::fold::row::Row;
use crate::fold::standing::Standing;
use crate::fold::{Fold, LIVES};
use crate::kind::{self, Class};
use crate::member::Member;
use crate::reference::Reference;
use crate::world::{Record, World};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::json::{Json, Object};
use countersign_record::time::Instant;

/// Members that other rules look at: where a projection comes from, how far a source is trusted.
const ELSEWHERE: [&str; 5] =
    ["canonical_event_ref", "source_event_id", "tier", "taint_class", "schema_version"];

/// Projections that say what the events before them never came to. One that is late is right: it says what was so once.
pub(super) fn unaccounted(world: &World, found: &mut Found<'_>) {
    links(world, found);
    let is_projection =
        |life: &&&Life| kind::find(life.kind).map(|kind| kind.class) == Some(Class::Projection);
    let lives: Vec<&Life> = LIVES.iter().filter(is_projection).copied().collect();
    if lives.iter().all(|life| world.of(life.kind).next().is_none()) {
        return;
    }
    let mut board = Board::default();
    for record in world.all() {
        let life = lives.iter().find(|life| life.kind == record.kind());
        if let Some((life, standing)) =
            life.and_then(|life| Some((life, board.find(life.snake, record.id())?)))
        {
            judge(record, life, standing, found);
        }
        board.apply(&Row::from(record));
    }
}

fn judge(record: Record<'_>, life: &Life, standing: &Standing, found: &mut Found<'_>) {
    let mut states =
        life.families.iter().filter_map(|family| Some((family.member, record.at(family.member)?)));
    // Where the state itself is not accounted for, nothing that goes with it is; that is told of the state.
    let is_known = states.all(|(member, state)| standing.ever_said(member, state));
    let members = record.json().as_object().into_iter().flat_map(Object::iter);
    for (name, value) in members.filter(|(_, value)| **value != Json::Null) {
        let is_state = life.families.iter().any(|family| family.member == name);
        if is_state || life.free.contains(&name) || ELSEWHERE.contains(&name) {
            continue;
        }
        let is_live = life.live.contains(&name) || life.opens == Opens::Event;
        let is_right = if name == "updated_at" {
            is_between(record, standing)
        } else if life.grows.contains(&name) {
            !is_known || began_with(standing, name, value)
        } else if is_live {
            !is_known || standing.ever_said(name, value) || is_noted(record, standing, name)
        } else {
            standing.says(name).is_none() || standing.ever_said(name, value)
        };
        if !is_right {
            found.add(record, name, "no event before it came to that");
        }
    }
}

/// Whether a time is that at which something was noted: after it happened, and before the projection was written.
fn is_noted(record: Record<'_>, standing: &Standing, name: &str) -> bool {
    let happened = standing.says(name).and_then(Json::as_str).and_then(Instant::read);
    let noted = record.time(name).filter(|at| record.written_at().is_none_or(|written| *at <= written));
    happened.zip(noted).is_some_and(|(happened, noted)| happened <= noted)
}

/// Whether it was folded after what it begins with, and not after it was written.
fn is_between(record: Record<'_>, standing: &Standing) -> bool {
    let Some(at) = record.time("updated_at") else { return true };
    let opened = standing.opened_at.as_deref().and_then(Instant::read);
    opened.is_none_or(|opened| opened <= at) && record.written_at().is_none_or(|written| at <= written)
}

/// Whether a list of references has what another one began with, in any order and whatever versions they name.
fn began_with(standing: &Standing, name: &str, value: &Json) -> bool {
    let (Some(Json::Array(now)), Json::Array(then)) = (standing.says(name), value) else { return false };
    let Some(first) = now.get(..then.len()) else { return false };
    let named = |all: &[Json]| {
        let mut names: Vec<String> = all.iter().map(plain).collect();
        names.sort_unstable();
        names
    };
    named(first) == named(then)
}

/// What a reference names, whatever version.
fn plain(value: &Json) -> String {
    let text = value.as_str().unwrap_or_default();
    let reference = Reference::read(text).map(|found| Reference { version: None, hash: None, ..found });
    reference.map_or_else(|| text.into(), |found| format!("{found}"))
}

/// Links that are folded up to a place that is not there, or from before their event.
fn links(world: &World, found: &mut Found<'_>) {
    for link in world.of("EventProjectionLink") {
        if let Some(seq) = link.count("projection_event_seq").filter(|seq| *seq > world.end()) {
            found.add(link, "projection_event_seq", format!("there is no row {seq}"));
        }
        let event = link.follow("canonical_event_ref").and_then(Record::written_at);
        if event.zip(link.time("projection_valid_at")).is_some_and(|(event, at)| at < event) {
            found.add(link, "projection_valid_at", "is from before the event that it comes from");
        }
    }
}
