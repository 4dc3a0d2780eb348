//! What a packet holds, so that everything in it is found: governed records by place, bytes by digest, what was asked.
//! Owns: the indexes, reading governed rows. Must not: judge.

use crate::packet::{Blob, Content, Entry, run_stream, work_stream};
use crate::task::Task;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::kind::Number;
use countersign_govern::reference::Reference;
use countersign_govern::world::{Draft, Record, World};
use countersign_record::digest::Digest;
use countersign_record::id::{MatterId, RunId};
use countersign_record::json::Json;
use countersign_record::row::Row;

/// What a packet holds.
pub(crate) struct Case<'p> {
    pub(crate) run: &'p RunId,
    pub(crate) matter: &'p MatterId,
    pub(crate) task: Task<'p>,
    pub(crate) files: &'p BTreeMap<String, Digest>,
    /// The governed records; the place of each is that in the run's stream of them.
    pub(crate) world: World,
    /// The rows of the run's own stream.
    pub(crate) events: Vec<&'p Row>,
    /// The row of each governed record, by the record's place.
    governed: BTreeMap<u64, &'p Row>,
    /// Rows of the stream of governed records that hold none.
    pub(crate) strange: Vec<&'p Row>,
    blobs: BTreeMap<Digest, &'p Blob>,
}

/// What is known of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bytes<'p> {
    /// They are here.
    Here(&'p [u8]),
    /// They stay where they are.
    Withheld,
    /// Nothing names them, or they are not in the packet.
    Missing,
}

impl<'p> Bytes<'p> {
    /// They as a text; what is none counts as missing.
    pub(crate) fn text(self) -> Text<'p> {
        match self {
            Bytes::Here(bytes) => core::str::from_utf8(bytes).map_or(Text::Missing, Text::Here),
            Bytes::Withheld => Text::Withheld,
            Bytes::Missing => Text::Missing,
        }
    }
}

/// What is known of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Text<'p> {
    /// It is here.
    Here(&'p str),
    /// It stays where it is.
    Withheld,
    /// It is not in the packet.
    Missing,
}

impl<'p> Case<'p> {
    pub(crate) fn new(
        run: &'p RunId,
        matter: &'p MatterId,
        task: &'p Json,
        files: &'p BTreeMap<String, Digest>,
        rows: &'p [Entry],
        blobs: &'p [Blob],
    ) -> Self {
        let (own, work) = (run_stream(run), work_stream(run));
        let whole = rows.iter().filter_map(|entry| match entry {
            Entry::Whole(row) => Some(&**row),
            Entry::Withheld(_) => None,
        });
        let (mut events, mut governed, mut strange) = (Vec::new(), BTreeMap::new(), Vec::new());
        let mut drafts = Vec::new();
        for row in whole {
            if row.stream.as_str() == own {
                events.push(row);
            } else if row.stream.as_str() == work {
                match draft(row) {
                    Some(draft) if !governed.contains_key(&row.stream_seq) => {
                        governed.insert(row.stream_seq, row);
                        drafts.push((row.stream_seq, draft));
                    }
                    Some(_) | None => strange.push(row),
                }
            }
        }
        drafts.sort_by_key(|(seq, _)| *seq);
        Case {
            run,
            matter,
            task: Task(task),
            files,
            world: World::placed(drafts.into_iter(), None),
            events,
            governed,
            strange,
            blobs: blobs.iter().map(|blob| (blob.digest, blob)).collect(),
        }
    }

    /// What something of the task is called in the run.
    pub(crate) fn own(&self, id: &str) -> String {
        format!("{}.{id}", self.run)
    }

    /// What something of the run is called in the task.
    pub(crate) fn local<'a>(&self, id: &'a str) -> &'a str {
        id.strip_prefix(self.run.as_str()).and_then(|rest| rest.strip_prefix('.')).unwrap_or(id)
    }

    /// Whether a person must agree to what is going to be done.
    pub(crate) fn needs_agreement(&self) -> bool {
        self.task.policy_word("approval.contract", "waived") == "required"
    }

    /// Some bytes by their digest.
    pub(crate) fn bytes(&self, digest: &Digest) -> Bytes<'p> {
        match self.blobs.get(digest).map(|blob| &blob.content) {
            Some(Content::Present(bytes)) => Bytes::Here(bytes),
            Some(Content::Withheld(_)) => Bytes::Withheld,
            None => Bytes::Missing,
        }
    }

    /// The row of a governed record.
    pub(crate) fn row(&self, record: Record<'_>) -> Option<&'p Row> {
        self.governed.get(&record.seq()).copied()
    }

    /// The rows of all governed records, by the records' places.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &'p Row> {
        self.governed.values().copied()
    }

    /// The rows of the ledger by the places of their records.
    pub(crate) fn places(&self) -> BTreeMap<u64, u64> {
        self.governed.iter().map(|(place, row)| (*place, row.seq)).collect()
    }

    /// The digest of what a record is about.
    pub(crate) fn digest(&self, record: Record<'_>) -> Option<Digest> {
        self.row(record)?.blobs.first().map(|blob| blob.digest)
    }

    /// What a record is about.
    pub(crate) fn content(&self, record: Record<'_>) -> Bytes<'p> {
        self.digest(record).map_or(Bytes::Missing, |digest| self.bytes(&digest))
    }

    /// What an event of the run says.
    pub(crate) fn said(&self, row: &Row, at: usize) -> Bytes<'p> {
        row.blobs.get(at).map_or(Bytes::Missing, |blob| self.bytes(&blob.digest))
    }

    /// The last version of a record that was there at a place.
    pub(crate) fn before(&self, kind: &str, id: &str, place: u64) -> Option<Record<'_>> {
        self.world.versions(kind, id).take_while(|one| one.seq() < place).last()
    }

    /// The last record of a type that was there at a place.
    pub(crate) fn last(&self, kind: &str, place: u64) -> Option<Record<'_>> {
        self.world.of(kind).take_while(|one| one.seq() < place).last()
    }

    /// The records of a type that were there at a place, in order.
    pub(crate) fn until<'c>(
        &'c self,
        kind: &str,
        place: u64,
    ) -> impl Iterator<Item = Record<'c>> + use<'c, 'p> {
        self.world.of(kind).take_while(move |one| one.seq() < place)
    }
}

/// What a row of the stream of governed records holds: `{"record": {…}, "id"?: "…"}`.
fn draft(row: &Row) -> Option<Draft> {
    let kind = Number::of_snake(row.kind.as_str().strip_prefix("govern.")?)?.kind;
    let record = row.payload.get("record").filter(|record| record.as_object().is_some())?;
    let id = row.payload.get("id").and_then(Json::as_str).map(ToString::to_string);
    Some(Draft { kind: kind.name.to_string(), id, at: Some(row.at.instant()), record: record.clone() })
}

/// The id in a reference, or the text itself.
pub(crate) fn bare(text: &str) -> &str {
    Reference::read(text).map_or(text, |one| one.id)
}
