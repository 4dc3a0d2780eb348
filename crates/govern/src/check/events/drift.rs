//! What a projection says and no event accounts for.
//! Owns: comparing what was written with what is folded. Must not: fold; judge states, tiers and taints, which have codes of their own.

use super::super::Found;
use super::super::along::{Along, Rows};
use crate::fold::LIVES;
use crate::fold::family::OUTCOME;
use crate::fold::life::{self, Board, Life, Opens};
use crate::fold::row::Row;
use crate::fold::standing::Standing;
use crate::kind::{self, Class};
use crate::member::Member;
use crate::path::Path;
use crate::reference::Reference;
use crate::world::{Record, World};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::json::{Json, Object};
use countersign_record::time::Instant;

/// Members that other rules look at: where a projection comes from, how far a source is trusted.
const ELSEWHERE: [&str; 5] =
    ["canonical_event_ref", "source_event_id", "tier", "taint_class", "schema_version"];

/// Projections that say what the events before them never came to. One that is late is right: it says what was so once.
pub(in super::super) struct Drift {
    rows: Rows,
    lives: Vec<&'static Life>,
    board: Board,
    /// Outcomes that have the name of one of another run, by their run: they are others.
    others: BTreeMap<String, Board>,
}

impl Drift {
    pub(in super::super) fn begin(rows: Rows) -> Box<dyn Along> {
        let lives = LIVES.iter().filter(|life| is_projection(life)).copied().collect();
        Box::new(Drift { rows, lives, board: Board::default(), others: BTreeMap::new() })
    }
}

impl Along for Drift {
    fn kinds(&self) -> Vec<&'static str> {
        life::taken().collect()
    }

    fn row(&mut self, record: Record<'_>, found: &mut Found<'_>) {
        let life = self.lives.iter().find(|life| life.kind == record.kind());
        let other = self.other_run(record);
        let board = match other {
            Some(run) => self.others.entry(run.into()).or_default(),
            None => &mut self.board,
        };
        let standing = life.and_then(|life| Some((life, board.find(life.snake, record.id())?)));
        if let Some((life, standing)) = standing {
            judge(record, life, standing, found);
        }
        if life.is_none_or(|life| self.rows == Rows::MoreCome || is_looked_at(record, life)) {
            board.apply_to(&Row::from(record), is_projection);
        }
    }
}

impl Drift {
    /// The run of an outcome, if the one of that name that was there first is of another run.
    fn other_run<'r>(&self, record: Record<'r>) -> Option<&'r str> {
        let id = match record.kind() {
            "OutcomeStateTransitionEvent" => record.id_at("outcome_id")?,
            kind if kind == OUTCOME.kind => record.id(),
            _other => return None,
        };
        let own = self.board.find(OUTCOME.snake, id)?.word("run_id")?;
        record.json().text("run_id").filter(|run| *run != own)
    }
}

/// No projection looks at how anything but another one stands.
fn is_projection(life: &Life) -> bool {
    kind::find(life.kind).map(|kind| kind.class) == Some(Class::Projection)
}

/// Whether anybody asks how something stands that a row begins: a later row of it, or what looks at outcomes.
fn is_looked_at(record: Record<'_>, life: &Life) -> bool {
    let is_outcome = life.kind == OUTCOME.kind;
    let is_again = || record.world.versions(record.kind(), record.id()).nth(1).is_some();
    life.opens == Opens::Event || is_outcome || is_again()
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
            found.add(record, Path::whole().name(name), "no event before it came to that");
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

/// Links that are folded up to a place that was not there when they were written, or from before their event.
pub(super) fn links(world: &World, found: &mut Found<'_>) {
    for link in world.of("EventProjectionLink") {
        if link.place("projection_event_seq").is_some_and(|seq| seq > link.seq()) {
            found.add(link, "projection_event_seq", "there is no such row yet");
        }
        let event = link.follow("canonical_event_ref").and_then(Record::written_at);
        if event.zip(link.time("projection_valid_at")).is_some_and(|(event, at)| at < event) {
            found.add(link, "projection_valid_at", "is from before the event that it comes from");
        }
    }
}
