//! Times that can't be.
//! Owns: what must have been first. Must not: look at a clock.

use super::names::Tie;
use super::{Found, What};
use crate::member::Member;
use crate::path::Path;
use crate::world::{Record, World};
use alloc::collections::BTreeMap;
use alloc::format;
use countersign_record::json::Json;
use countersign_record::time::Instant;

/// When a record says that it was made.
const MADE: [&str; 9] = [
    "created_at",
    "computed_at",
    "evaluated_at",
    "observed_at",
    "updated_at",
    "decided_at",
    "executed_at",
    "acquired_at",
    "projection_valid_at",
];
/// When something ends, or is reached: not before it begins.
const LATER: [&str; 8] = [
    "completed_at",
    "deprecated_at",
    "expires_at",
    "fresh_until",
    "issued_at",
    "resolved_at",
    "timeout_at",
    "right_censored_at",
];

/// Whether a member says when something ends. Until when a source holds is said of the source, which may be out of date before anybody
/// takes it in.
fn is_end(kind: &str, member: &str) -> bool {
    LATER.contains(&member) && (kind, member) != ("SourceRecord", "fresh_until")
}

pub(super) fn find(world: &World, ties: &[Tie<'_>], found: &mut Found) {
    order(world, found);
    begins(world, found);
    ends(world, found);
    causes(ties, found);
}

/// The log goes forward, and nothing is made after it was written.
fn order(world: &World, found: &mut Found) {
    let mut last: Option<Instant> = None;
    for record in world.all() {
        let Some(at) = record.written_at() else { continue };
        if last.is_some_and(|last| at < last) {
            found.add(record, "", What::Time, "was written before the row before it");
        }
        last = Some(last.map_or(at, |last| last.max(at)));
        for member in MADE {
            if record.time(member).is_some_and(|made| made > at) {
                let message = "it was written before it was made";
                found.add(record, member, What::Time, message);
            }
        }
    }
}

/// Nothing in a log was made, or ended, before the log began.
fn begins(world: &World, found: &mut Found) {
    // Runs at the same time commit in any order, so the first row need not be the earliest.
    let Some(begin) = world.all().filter_map(Record::written_at).chain(world.begin()).min() else { return };
    for record in world.all() {
        if let Some(path) = early(record.kind(), record.json(), begin, &Path::whole()) {
            found.add(record, path, What::Time, "is before the log began");
        }
    }
}

/// Where a value says that something was made or ended before a time.
fn early(kind: &str, value: &Json, begin: Instant, at: &Path) -> Option<Path> {
    let own = |name: &str, member: &Json| {
        let time = member.as_str().filter(|_| MADE.contains(&name) || is_end(kind, name));
        time.and_then(Instant::read).is_some_and(|time| time < begin)
    };
    first(value, at, &own, &|member, at| early(kind, member, begin, at))
}

/// The first member that is one that is looked for, or the first that is found inside of one.
fn first(
    value: &Json,
    at: &Path,
    is_it: &impl Fn(&str, &Json) -> bool,
    inside: &impl Fn(&Json, &Path) -> Option<Path>,
) -> Option<Path> {
    let enter = |member: &Json, at: Path| {
        let is_more = matches!(member, Json::Object(_) | Json::Array(_));
        is_more.then(|| inside(member, &at)).flatten()
    };
    match value {
        Json::Object(members) => members.iter().find_map(|(name, member)| {
            let at = at.clone().name(name);
            if is_it(name, member) { Some(at) } else { enter(member, at) }
        }),
        Json::Array(items) => {
            items.iter().enumerate().find_map(|(place, item)| enter(item, at.clone().item(place)))
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => None,
    }
}

/// When a record says that it was made.
fn made(record: Record<'_>) -> Option<(&'static str, Instant)> {
    MADE.iter().find_map(|member| record.time(member).map(|time| (*member, time)))
}

/// Nothing ends before it begins: with its first version.
fn ends(world: &World, found: &mut Found) {
    let mut begun: BTreeMap<(&str, &str), Instant> = BTreeMap::new();
    for record in world.all() {
        let own = record.time("created_at").or(record.written_at());
        let Some(own) = own else { continue };
        let begin = *begun.entry((record.kind(), record.id())).or_insert(own);
        if let Some(path) = over(record.kind(), record.json(), begin, &Path::whole()) {
            found.add(record, path, What::Time, "it ends before it begins");
        }
    }
}

/// The first member in a value that is an end before the beginning: of the whole, or of the window that it ends.
fn over(kind: &str, value: &Json, begin: Instant, at: &Path) -> Option<Path> {
    let window = value.time("start").zip(value.time("end"));
    if window.is_some_and(|(start, end)| end < start) {
        return Some(at.clone().then("end"));
    }
    let own = |name: &str, member: &Json| {
        let time = member.as_str().filter(|_| is_end(kind, name)).and_then(Instant::read);
        time.is_some_and(|end| end < begin)
    };
    first(value, at, &own, &|member, at| over(kind, member, begin, at))
}

/// Nothing is made before what it names: what happened, what was decided, what was asked.
fn causes(ties: &[Tie<'_>], found: &mut Found) {
    for tie in ties.iter().filter(|tie| tie.to.seq() < tie.from.seq()) {
        let updated = tie.from.time("updated_at").map(|at| ("updated_at", at));
        let own = updated.or_else(|| made(tie.from));
        let (Some((member, own)), Some(cause)) = (own, tie.to.written_at()) else { continue };
        // A record that is written again and again keeps the time of its first version.
        let is_again = || {
            let first = tie.from.world.versions(tie.from.kind(), tie.from.id()).next();
            updated.is_none() && first.is_some_and(|first| first.seq() < tie.from.seq())
        };
        if own < cause && !is_again() {
            let message = format!("it was made before row {}, which it names", tie.to.seq());
            found.add(tie.from, member, What::Time, message);
        }
    }
}
