//! An audit of rows that are all held.
//! Owns: going over them as an audit asks for it. Must not: judge.

use countersign_govern::audit::{self, Audit, Found, Limits, Log, Raw, has_own_settings, of_all};
use countersign_govern::reference::snake;
use countersign_govern::world::Draft;
use countersign_record::json::{self, Json, Names, Object};
use countersign_record::time::Instant;
use std::collections::BTreeMap;

/// A row as a ledger has it.
pub struct Stored {
    /// Its place.
    pub seq: u64,
    /// Its stream.
    pub stream: String,
    /// Its place there.
    pub place: u64,
    /// What the ledger says that it is.
    pub kind: String,
    /// When it was written.
    pub at: Option<Instant>,
    /// Its payload.
    pub payload: String,
}

impl Stored {
    /// As an audit takes it.
    #[must_use]
    pub fn raw(&self) -> Raw<'_> {
        let Stored { seq, stream, place, kind, at, payload } = self;
        Raw { seq: *seq, stream, place: *place, kind, at: *at, payload: payload.as_bytes() }
    }
}

/// The rows of a ledger from its first one on; each says when it was written, as those of a bundle need not.
pub fn stored(streams: impl Iterator<Item = String>, drafts: &[Draft]) -> Vec<Stored> {
    let (mut before, mut places) = (None, BTreeMap::new());
    let rows = (1..).zip(streams).zip(drafts);
    rows.map(|((seq, stream), draft)| {
        before = draft.written_at(before);
        let mut payload = Object::from([("record", draft.record.clone())]);
        draft.id.iter().for_each(|id| drop(payload.insert("id", id.as_str())));
        let kind = format!("govern.{}", snake(&draft.kind));
        let place = *places.entry(stream.clone()).and_modify(|place| *place += 1).or_insert(1);
        let payload = json::to_text(&Json::Object(payload)).expect("a payload");
        Stored { seq, stream, place, kind, at: before, payload }
    })
    .collect()
}

/// What an audit that may be asked for more finds in a ledger, and in how many passes.
pub fn found(
    rows: &[Stored],
    now: Option<Instant>,
    limits: Limits,
    more: fn(Audit) -> Audit,
) -> (Found, usize) {
    let mut names = Names::default();
    let snakes: Vec<String> = of_all().map(|known| format!("govern.{}", known.snake)).collect();
    let of_all = rows.iter().filter(|row| snakes.contains(&row.kind) && !has_own_settings(&row.stream));
    let of_all = of_all.filter_map(|row| audit::read(row.raw(), &mut names).ok()).collect();
    let log = Log { now, end: rows.last().map_or(0, |row| row.seq) };
    let (mut audit, mut count) = (more(Audit::new(log, limits, of_all)), 0);
    loop {
        let passes = audit.passes();
        if passes.is_empty() {
            return (audit.finish(), count);
        }
        for mut pass in passes {
            count += 1;
            rows.iter().for_each(|row| pass.row(row.raw()));
            for group in pass.groups() {
                let own = rows.iter().filter(|row| group.streams.contains(&row.stream));
                own.for_each(|row| pass.group_row(row.raw()));
                pass.group_end(&group);
            }
            audit.done(pass);
        }
    }
}
