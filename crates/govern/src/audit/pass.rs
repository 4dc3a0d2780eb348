//! One pass over the rows of a log: its parts, one after the other, and those that belong together once more.
//! Owns: when a part is looked at, and with what. Must not: know why some rows are not shown to it.

mod found;
mod near;
mod parts;
mod waiting;

use super::names::{By, Names, Stands};
use super::scope::{ALONE, Learned, Scope, Within};
use super::shape::{self, Kind, Misshapen, Raw};
use super::shared::{At, Shared};
use super::wide::{Header, Wide};
use super::{Limits, Log, Whose, has_own_settings, is_of_run, is_setting, whose};
use crate::check::{self, Diagnostic, Reach, Severity};
use crate::kind::Number;
use crate::reach::{self, Contradiction};
use crate::world::{self, Held, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use countersign_record::json;
use countersign_record::time::Instant;
use found::Found;
use near::{Near, Ready};
use parts::{Parts, Size};
use waiting::{Row, Streams, Waiting};

pub use parts::Group;
pub(super) use parts::Part;

/// Misshapen rows that are told; all are counted.
const SHAPES_MAX: usize = 1_000;

/// A pass that goes on.
pub struct Pass {
    log: Log,
    limits: Limits,
    by: By,
    scope: Scope,
    learned: Learned,
    of_all: Vec<Held>,
    /// The time of the first row.
    begin: Option<Instant>,
    shared: Shared,
    shared_bytes: usize,
    reader: json::Names,
    streams: Streams,
    near: Near,
    batch: Batch,
    parts: Parts,
    round: Round,
    /// The rows of a group that is looked at again.
    group: Rows,
    found: Found,
    is_strict: bool,
    shapes: Vec<Misshapen>,
    shape_count: u64,
}

/// Whether parts are looked at for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    First,
    Again,
}

/// Rows of several streams.
struct Rows {
    rows: Vec<Held>,
    names: Names,
    streams: world::Streams,
    bytes: usize,
}

impl Rows {
    fn new(by: By) -> Self {
        Rows { rows: Vec::new(), names: Names::new(by), streams: world::Streams::default(), bytes: 0 }
    }
}

/// Parts that are looked at together.
#[derive(Default)]
struct Batch {
    rows: Vec<Held>,
    parts: Vec<(u64, Part)>,
    shared: BTreeSet<At>,
    streams: world::Streams,
    bytes: usize,
    /// A run that goes by its own settings is looked at alone.
    is_alone: bool,
}

/// What a pass came to.
pub(super) struct Ended {
    pub(super) scope: Scope,
    pub(super) learned: Learned,
    pub(super) codes: Vec<Diagnostic>,
    pub(super) is_cut: bool,
    pub(super) wide: Wide,
    pub(super) left: Option<Within>,
    pub(super) unsettled: BTreeSet<&'static str>,
    pub(super) shapes: Vec<Misshapen>,
    pub(super) shape_count: u64,
}

impl Pass {
    pub(super) fn new(log: Log, limits: Limits, of_all: Vec<Held>, scope: Scope, learned: Learned) -> Self {
        let by = if scope.whole().is_some() { By::Whole } else { By::Rules };
        Pass {
            log,
            limits,
            by,
            scope,
            learned,
            of_all,
            begin: None,
            shared: Shared::new(by),
            shared_bytes: 0,
            reader: json::Names::default(),
            streams: Streams::new(by),
            near: Near::default(),
            batch: Batch::default(),
            parts: Parts::default(),
            round: Round::First,
            group: Rows::new(by),
            found: Found::default(),
            is_strict: false,
            shapes: Vec::new(),
            shape_count: 0,
        }
    }

    pub(super) fn is_first(&self) -> bool {
        self.scope.is_everything()
    }

    pub(super) fn looks_for_shapes(&mut self) {
        self.is_strict = true;
    }

    /// The next row of the log.
    pub fn row(&mut self, row: Raw<'_>) {
        let Some(kind) = Kind::of(row.kind) else { return };
        self.begin = self.begin.or(row.at);
        let is_loose = !is_of_run(row.stream);
        let may_be_shared = (is_loose || kind.is_setting() && !has_own_settings(row.stream))
            && self.shared_bytes < self.limits.shared;
        // What is shared is so wherever it stands.
        let is_of_part = self.scope.has_stream(row.stream);
        if !self.scope.has_kind(kind.known()) || !is_of_part && !may_be_shared {
            return;
        }
        let waits = match kind {
            Kind::Known(known) if !may_be_shared && self.is_named(row, known) => Row::raw(row, known),
            Kind::Known(_) | Kind::Strange(_) => {
                let Some(held) = self.read(row, kind) else { return };
                let whose = whose(row.stream, &held);
                if whose == Whose::All {
                    return;
                }
                if may_be_shared && (is_loose || whose == Whose::Some) {
                    self.shared_bytes += row.payload.len();
                    self.shared.add(held.clone());
                    if is_loose {
                        return;
                    }
                }
                if !is_of_part {
                    return;
                }
                self.streams.names(row.stream).add(&held, stands(row.stream));
                Row::Held(held)
            }
        };
        self.streams.add(row, waits);
        if self.streams.bytes > self.limits.waiting {
            let all = self.streams.take_all();
            self.take_parts(all, None);
        } else if self.streams.is_time(row.seq, self.limits.quiet_rows / 4) {
            let quiet_rows = self.limits.quiet_rows;
            let quiet = self.streams.take_quiet(row.seq, quiet_rows);
            self.take_parts(quiet, row.seq.checked_sub(2 * quiet_rows).or(Some(0)));
        }
    }

    /// Adds the names of a row to those of its stream, if it need not be read for that: it waits as the log has it. What all may go by
    /// does not wait.
    fn is_named(&mut self, row: Raw<'_>, known: Number) -> bool {
        let is_of_part = has_own_settings(row.stream) || !is_setting(known);
        is_of_part && self.streams.names(row.stream).add_written(row, known, stands(row.stream))
    }

    /// These are at their end; those of which the last row stands until a place are looked at, and without one all.
    fn take_parts(&mut self, streams: BTreeMap<String, Waiting>, until: Option<u64>) {
        for (stream, waiting) in streams {
            let Waiting { rows, mut names, bytes, last } = waiting;
            names.sort();
            self.near.add(Ready { stream, rows, names, bytes, last });
        }
        for together in self.near.leave(until, self.limits.near) {
            let bytes: usize = together.iter().map(|one| one.bytes).sum();
            if bytes <= self.limits.near.min(self.limits.together) {
                self.look_at_parts(together);
            } else {
                together.into_iter().for_each(|one| self.look_at_parts(vec![one]));
            }
        }
    }

    /// Reads a row; what is wrong with its shape is told once.
    fn read(&mut self, row: Raw<'_>, kind: Kind<'_>) -> Option<Held> {
        let read = shape::held(row, kind, &mut self.reader);
        let troubles = match &read {
            Ok(held) if self.is_first() && self.round == Round::First => {
                shape::troubles(held, self.is_strict)
            }
            Ok(_) => Vec::new(),
            Err(trouble) => vec![trouble.clone()],
        };
        if !troubles.is_empty() && self.is_first() && self.round == Round::First {
            self.shape_count += troubles.len() as u64;
            let room = SHAPES_MAX.saturating_sub(self.shapes.len());
            self.shapes.extend(troubles.into_iter().take(room));
        }
        let held = read.ok()?;
        self.learned.row(&held);
        Some(held)
    }

    /// Puts parts that belong together to those that are looked at next.
    fn look_at_parts(&mut self, parts: Vec<Ready>) {
        self.begin_batch(parts.iter().any(|one| has_own_settings(&one.stream)));
        for Ready { stream, rows, names, bytes, .. } in parts {
            // Rows are read when they are looked at: what is read long before is no longer near the processor.
            let rows = rows.into_iter().filter_map(|row| match row {
                Row::Held(held) => Some(held),
                Row::Raw { seq, place, known, at, payload } => {
                    let raw = Raw { seq, stream: &stream, place, kind: "", at, payload: &payload };
                    self.read(raw, Kind::Known(known))
                }
            });
            let rows: Vec<Held> = rows.collect();
            for row in &rows {
                self.batch.streams.add(&stream, row.place(), row.seq());
            }
            self.shared.needed(&names, &mut self.batch.shared);
            let ends = rows.first().zip(rows.last()).map(|(first, last)| (first.seq(), last.seq()));
            let (shared, batch) = (self.shared.rows.len(), self.found.batches);
            let size = Size { rows: rows.len(), bytes, ends: ends.unwrap_or_default(), shared, batch };
            let part = self.parts.add(&stream, names, size);
            self.look_at(part, rows, bytes);
        }
        self.end_batch();
    }

    /// What comes next may be looked at with what came before, unless one of them is alone.
    fn begin_batch(&mut self, is_alone: bool) {
        if is_alone || self.batch.is_alone {
            self.flush();
        }
        self.batch.is_alone = is_alone;
    }

    /// Puts the rows of a part to those that are looked at next.
    fn look_at(&mut self, part: Part, rows: Vec<Held>, bytes: usize) {
        self.batch.parts.extend(rows.iter().map(|row| (row.seq(), part)));
        self.batch.rows.extend(rows);
        self.batch.bytes += bytes;
    }

    /// Looks at what came so far, if that is much.
    fn end_batch(&mut self) {
        // What all go by is looked at with each batch: where that is much, so is a batch.
        let is_enough = self.batch.rows.len() > 2 * self.of_all.len();
        if self.batch.bytes >= self.limits.batch && is_enough {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let Batch { mut rows, mut parts, shared, streams, is_alone, .. } = core::mem::take(&mut self.batch);
        if rows.is_empty() {
            return;
        }
        parts.sort_unstable();
        for at in shared {
            let Some(row) = self.shared.rows.get(at.0 as usize) else { continue };
            self.shared.looked_at.get_mut(at.0 as usize).into_iter().for_each(|count| *count += 1);
            // A setting of a run stands in its part as well.
            if parts.binary_search_by_key(&row.seq(), |(seq, _)| *seq).is_err() {
                rows.push(row.clone());
            }
        }
        self.found.batches += 1;
        let (codes, headers) = self.check(rows, streams, is_alone);
        let part_of = |row: u64| {
            let at = parts.binary_search_by_key(&row, |(seq, _)| *seq).ok()?;
            parts.get(at).map(|(_, part)| *part)
        };
        for header in headers {
            match part_of(header.row) {
                Some(part) => self.found.headers.entry(part).or_default().push(header),
                None => self.found.wide.stand([header].into_iter()),
            }
        }
        for one in codes {
            let is_shared = self.shared.at(one.row).is_some();
            match (part_of(one.row).filter(|_| !is_shared), self.round) {
                (Some(part), _) => self.found.add(part, one),
                (None, Round::First) => *self.found.of_shared.entry(one).or_default() += 1,
                (None, Round::Again) if self.found.disputed.contains(&one.row) => {
                    self.found.decided.push(one)
                }
                (None, Round::Again) => {}
            }
        }
    }

    /// What the rules of this pass find in rows, with what all go by.
    fn check(
        &mut self,
        mut rows: Vec<Held>,
        streams: world::Streams,
        is_alone: bool,
    ) -> (Vec<Diagnostic>, Vec<Header>) {
        rows.extend(self.of_all.iter().cloned());
        rows.sort_by_key(Held::seq);
        let world = World::part(rows, self.log.now, self.log.end);
        let world = world.since(self.begin).within(Arc::new(streams));
        // A run with its own settings is not moved by other runs of its task.
        let reaches = |reach: Reach| match reach {
            Reach::Task => !is_alone,
            Reach::Matter => true,
        };
        let (mut codes, mut headers) = (Vec::new(), Vec::new());
        for (at, rule) in self.scope.rules() {
            if let Some(across) = check::by_rule_across(&world, rule, &mut codes) {
                headers.extend(self.found.wide.add(rule.code, &across, reaches));
            }
            let asked = world.looked();
            self.found.is_short |= !self.scope.showed(&asked, &self.learned);
            self.learned.asked(at, &asked);
        }
        if let Some(at) = self.scope.whole() {
            codes.extend(reach::contradictions(&world).into_iter().map(told));
            let asked = world.looked();
            self.found.is_short |= !self.scope.showed(&asked, &self.learned);
            self.learned.asked(at, &asked);
        }
        (codes, headers)
    }

    /// All rows are in: the groups of streams that must be looked at together, because one names what another has.
    pub fn groups(&mut self) -> Vec<Group> {
        let all = self.streams.take_all();
        self.take_parts(all, None);
        self.flush();
        self.look_at_the_rest();
        self.round = Round::Again;
        let (found, shared) = (&mut self.found, &self.shared);
        let is_disputed = |one: &Diagnostic, times: u32| {
            let looked_at = shared.at(one.row).and_then(|at| shared.looked_at.get(at.0 as usize));
            times < *looked_at.unwrap_or(&found.batches)
        };
        let disputed: Vec<&Diagnostic> = found
            .of_shared
            .iter()
            .filter(|(one, times)| is_disputed(one, **times))
            .map(|(one, _)| one)
            .collect();
        let of_all = disputed.iter().filter(|one| shared.at(one.row).is_none());
        found.unsettled = of_all.map(|one| one.code).collect();
        found.disputed = disputed.iter().map(|one| one.row).collect();
        let is_disputed = |at: At| {
            let row = shared.rows.get(at.0 as usize);
            row.is_some_and(|row| found.disputed.contains(&row.seq()))
        };
        let together =
            self.parts.together(shared, is_disputed, self.scope.is_together(), self.limits.together);
        for group in &together.groups {
            group.parts.iter().for_each(|part| self.found.forget(*part, |_| false));
        }
        for part in &together.too_large {
            self.found.forget(*part, |one| ALONE.contains(&one.code));
        }
        if !together.large.groups.is_empty() {
            self.found.left = Some(Within::Parts(together.large));
        }
        together.groups
    }

    /// Shared rows that no part goes by are looked at among themselves.
    fn look_at_the_rest(&mut self) {
        let is_left: Vec<bool> = self.shared.looked_at.iter().map(|times| *times == 0).collect();
        let of_all = self.found.batches == 0;
        if !of_all && !is_left.contains(&true) {
            return;
        }
        let (codes, headers) = self.check(self.shared.rows.clone(), world::Streams::default(), false);
        let is_left = |row: u64| {
            self.shared.at(row).and_then(|at| is_left.get(at.0 as usize)).is_some_and(|left| *left)
        };
        let rest: Vec<Diagnostic> = codes
            .into_iter()
            .filter(|one| is_left(one.row) || of_all && self.shared.at(one.row).is_none())
            .collect();
        self.found.wide.stand(headers.into_iter().filter(|header| is_left(header.row)));
        self.found.decided.extend(rest);
    }

    /// A row of a stream of the group that is looked at next.
    pub fn group_row(&mut self, row: Raw<'_>) {
        let Some(kind) = Kind::of(row.kind).filter(|kind| self.scope.has_kind(kind.known())) else { return };
        if let Some(held) = self.read(row, kind).filter(|held| whose(row.stream, held) != Whose::All) {
            self.group.names.add(&held, stands(row.stream));
            self.group.streams.add(row.stream, row.place, row.seq);
            self.group.rows.push(held);
            self.group.bytes += row.payload.len();
        }
    }

    /// All rows of the streams of a group were given, in any order.
    pub fn group_end(&mut self, group: &Group) {
        let Some(first) = group.parts.first().copied() else { return };
        let Rows { rows, mut names, streams, bytes } =
            core::mem::replace(&mut self.group, Rows::new(self.by));
        self.begin_batch(group.streams.iter().any(|stream| has_own_settings(stream)));
        names.sort();
        self.shared.needed(&names, &mut self.batch.shared);
        self.batch.streams = streams;
        self.look_at(first, rows, bytes);
        self.end_batch();
    }

    pub(super) fn end(mut self) -> Ended {
        self.flush();
        let Found {
            codes,
            headers,
            is_cut,
            of_shared,
            decided,
            disputed,
            unsettled,
            mut wide,
            is_short,
            left,
            ..
        } = self.found;
        wide.stand(headers.into_values().flatten());
        let shared = of_shared.into_keys().filter(|one| !disputed.contains(&one.row));
        let codes = codes.into_values().flatten().chain(shared).chain(decided);
        // Of all rows together only those count that parts do not agree on.
        let is_of_all = |one: &Diagnostic| self.of_all.binary_search_by_key(&one.row, Held::seq).is_ok();
        let codes = codes.filter(|one| !self.scope.is_together() || is_of_all(one)).collect();
        let left = if is_short { Some(Within::Again) } else { left };
        let (scope, learned, shapes, shape_count) = (self.scope, self.learned, self.shapes, self.shape_count);
        Ended { scope, learned, codes, is_cut, wide, left, unsettled, shapes, shape_count }
    }
}

fn stands(stream: &str) -> Stands {
    if has_own_settings(stream) { Stands::InItsRun } else { Stands::Anywhere }
}

/// A contradiction in the form of what rules find.
fn told(one: Contradiction) -> Diagnostic {
    let Contradiction { row, path, what, message } = one;
    Diagnostic { row, code: what.as_str(), path, severity: Severity::Error, message }
}
