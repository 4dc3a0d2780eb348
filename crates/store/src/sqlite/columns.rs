//! A row as columns, and back.
//! Owns: the numbers that stand for our enums, and reading columns without trusting them. Must not: allocate
//! while a ledger is walked.

use countersign_record::digest::Digest;
use countersign_record::row::{DataClass, PackedBlobs, Proof, RowRef, Taint};
use countersign_record::sign::{PublicKey, Signature};
use countersign_runtime::ports::ledger::Glance;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension};

/// The columns of a whole row, in the order that [`read`] takes them.
pub(super) const COLUMNS: &str = "seq, stream, stream_seq, kind, version, at, actor, proof, key, signature, cause, \
     idem_key, data_class, taint, payload_hash, prev_hash, hash, blobs, payload";

/// The columns of a row that [`glance`] takes.
pub(super) const AT_A_GLANCE: &str = "seq, stream, stream_seq, kind, at, payload";

/// Puts a whole row in.
pub(super) const INSERT: &str = "INSERT INTO rows(seq, stream, stream_seq, kind, version, at, actor, proof, key, \
     signature, cause, idem_key, data_class, taint, payload_hash, prev_hash, hash, blobs, payload) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)";

/// A place or a count as SQLite holds it. Beyond 2^63 there is none, and no ledger gets there.
pub(super) fn int(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// The number of a data class. A number once given out is never given another meaning.
pub(super) fn of_data_class(class: DataClass) -> i64 {
    match class {
        DataClass::Public => 0,
        DataClass::Internal => 1,
        DataClass::Privileged => 2,
        DataClass::LocalOnly => 3,
    }
}

/// The number of a taint.
pub(super) fn of_taint(taint: Taint) -> i64 {
    match taint {
        Taint::InternalCorpusTrusted => 0,
        Taint::UserTrustedBounded => 1,
        Taint::ExternalAuthorityTrusted => 2,
        Taint::ExternalUntrusted => 3,
        Taint::Unclassified => 4,
    }
}

/// The number, key and signature of a proof.
pub(super) fn of_proof(proof: &Proof) -> (i64, Option<&[u8]>, Option<&[u8]>) {
    match proof {
        Proof::None => (0, None, None),
        Proof::SelfAsserted => (1, None, None),
        Proof::Signed { key, signature } => (2, Some(key.as_bytes()), Some(signature.as_bytes())),
    }
}

/// Names of numbers beyond this are forgotten but for the last one, and looked up again when they are needed.
const NAMES_MAX: usize = 65_536;

/// Names behind numbers, which are given out from 1 on; each is looked up once per walk.
pub(super) struct Names {
    sql: &'static str,
    known: Vec<Option<Box<str>>>,
    beyond: Option<(i64, Box<str>)>,
}

impl Names {
    pub(super) fn of_streams() -> Self {
        Names { sql: "SELECT name FROM streams WHERE id = ?1", known: Vec::new(), beyond: None }
    }

    pub(super) fn of_kinds() -> Self {
        Names { sql: "SELECT name FROM kinds WHERE id = ?1", known: Vec::new(), beyond: None }
    }

    /// Makes sure that the name behind `id` is known, if there is one.
    fn learn(&mut self, connection: &Connection, id: i64) -> Result<(), rusqlite::Error> {
        if self.get(id).is_some() {
            return Ok(());
        }
        let name = connection.prepare_cached(self.sql)?.query_row([id], |row| row.get(0)).optional()?;
        let place = usize::try_from(id).ok().filter(|place| *place < NAMES_MAX);
        match (name, place) {
            (Some(name), Some(place)) => {
                if self.known.len() <= place {
                    self.known.resize(place + 1, None);
                }
                self.known.get_mut(place).into_iter().for_each(|slot| *slot = Some(Box::clone(&name)));
            }
            (Some(name), None) => self.beyond = Some((id, name)),
            (None, _) => {}
        }
        Ok(())
    }

    fn get(&self, id: i64) -> Option<&str> {
        let known = usize::try_from(id).ok().and_then(|place| self.known.get(place)?.as_deref());
        let beyond = || self.beyond.as_ref().filter(|(own, _)| *own == id).map(|(_, name)| &**name);
        known.or_else(beyond)
    }
}

/// The names that a walk meets.
pub(super) struct Interned {
    pub(super) streams: Names,
    pub(super) kinds: Names,
}

impl Interned {
    pub(super) fn new() -> Self {
        Interned { streams: Names::of_streams(), kinds: Names::of_kinds() }
    }
}

/// A row as an index knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) seq: i64,
    pub(super) stream: i64,
    pub(super) stream_seq: i64,
    pub(super) kind: i64,
}

/// The numbers of the row that `row` stands on; 0 where there is none. The columns begin as [`COLUMNS`] does.
pub(super) fn entry(row: &rusqlite::Row<'_>) -> Entry {
    let number = |at: usize| row.get_ref(at).ok().and_then(integer).unwrap_or(0);
    Entry { seq: number(0), stream: number(1), stream_seq: number(2), kind: number(3) }
}

/// Shows the row that `row` stands on, or says which column can't be read. The columns are [`COLUMNS`].
///
/// # Errors
/// SQLite's own.
pub(super) fn read<'a>(
    connection: &Connection,
    interned: &'a mut Interned,
    row: &'a rusqlite::Row<'_>,
) -> Result<(i64, Result<RowRef<'a>, &'static str>), rusqlite::Error> {
    let seq = match row.get_ref(0)? {
        ValueRef::Integer(seq) => seq,
        _ => 0,
    };
    if let (ValueRef::Integer(stream), ValueRef::Integer(kind)) = (row.get_ref(1)?, row.get_ref(3)?) {
        interned.streams.learn(connection, stream)?;
        interned.kinds.learn(connection, kind)?;
    }
    let column = |at| row.get_ref(at).unwrap_or(ValueRef::Null);
    Ok((seq, decode(interned, column)))
}

/// Shows what most readers look at of the row that `row` stands on, or says which column can't be read. The columns are
/// [`AT_A_GLANCE`].
///
/// # Errors
/// SQLite's own.
pub(super) fn glance<'a>(
    connection: &Connection,
    interned: &'a mut Interned,
    row: &'a rusqlite::Row<'_>,
) -> Result<(i64, Result<Glance<'a>, &'static str>), rusqlite::Error> {
    let (place, stream, kind) = (row.get_ref(0)?, integer(row.get_ref(1)?), integer(row.get_ref(3)?));
    if let (Some(stream), Some(kind)) = (stream, kind) {
        interned.streams.learn(connection, stream)?;
        interned.kinds.learn(connection, kind)?;
    }
    let (stream_seq, at, payload) = (row.get_ref(2)?, row.get_ref(4)?, row.get_ref(5)?);
    let decode = || {
        Ok(Glance {
            seq: count(place).ok_or("seq")?,
            stream: stream.and_then(|id| interned.streams.get(id)).ok_or("stream")?,
            stream_seq: count(stream_seq).ok_or("stream_seq")?,
            kind: kind.and_then(|id| interned.kinds.get(id)).ok_or("kind")?,
            at: text(at).ok_or("at")?,
            payload: match payload {
                ValueRef::Blob(payload) => payload,
                ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Text(_) => {
                    return Err("payload");
                }
            },
        })
    };
    Ok((integer(place).unwrap_or(0), decode()))
}

fn decode<'a>(
    interned: &'a Interned,
    column: impl Fn(usize) -> ValueRef<'a>,
) -> Result<RowRef<'a>, &'static str> {
    let proof = match (integer(column(7)), column(8), column(9)) {
        (Some(0), ValueRef::Null, ValueRef::Null) => Proof::None,
        (Some(1), ValueRef::Null, ValueRef::Null) => Proof::SelfAsserted,
        (Some(2), key, signature) => Proof::Signed {
            key: bytes::<32>(key).and_then(|key| PublicKey::try_from(key).ok()).ok_or("key")?,
            signature: bytes::<64>(signature).map(Signature::from_bytes).ok_or("signature")?,
        },
        _ => return Err("proof"),
    };
    let cause = match column(10) {
        ValueRef::Null => None,
        value => Some(count(value).ok_or("cause")?),
    };
    let idem_key = match column(11) {
        ValueRef::Null => None,
        value => Some(text(value).ok_or("idem_key")?),
    };
    let packed = match column(17) {
        ValueRef::Null => &[],
        // None is NULL: were it also an empty value, one row could be stored in two ways.
        ValueRef::Blob(packed) if !packed.is_empty() => packed,
        _ => return Err("blobs"),
    };
    let ValueRef::Blob(payload) = column(18) else { return Err("payload") };
    Ok(RowRef {
        seq: count(column(0)).ok_or("seq")?,
        stream: integer(column(1)).and_then(|id| interned.streams.get(id)).ok_or("stream")?,
        stream_seq: count(column(2)).ok_or("stream_seq")?,
        kind: integer(column(3)).and_then(|id| interned.kinds.get(id)).ok_or("kind")?,
        version: integer(column(4)).and_then(|version| u32::try_from(version).ok()).ok_or("version")?,
        at: text(column(5)).ok_or("at")?,
        actor: text(column(6)).ok_or("actor")?,
        proof,
        cause,
        idem_key,
        data_class: word(DataClass::ALL, of_data_class, column(12)).ok_or("data_class")?,
        taint: word(Taint::ALL, of_taint, column(13)).ok_or("taint")?,
        payload,
        payload_hash: digest(column(14)).ok_or("payload_hash")?,
        blobs: PackedBlobs::try_from(packed).map_err(|_| "blobs")?,
        prev_hash: digest(column(15)).ok_or("prev_hash")?,
        hash: digest(column(16)).ok_or("hash")?,
    })
}

fn word<T: Copy>(all: &[T], number: fn(T) -> i64, value: ValueRef<'_>) -> Option<T> {
    let found = integer(value)?;
    all.iter().copied().find(|word| number(*word) == found)
}

fn integer(value: ValueRef<'_>) -> Option<i64> {
    match value {
        ValueRef::Integer(value) => Some(value),
        ValueRef::Null | ValueRef::Real(_) | ValueRef::Text(_) | ValueRef::Blob(_) => None,
    }
}

/// A place or a count.
pub(super) fn count(value: ValueRef<'_>) -> Option<u64> {
    integer(value).and_then(|value| u64::try_from(value).ok())
}

fn text(value: ValueRef<'_>) -> Option<&str> {
    match value {
        ValueRef::Text(bytes) => std::str::from_utf8(bytes).ok(),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_) => None,
    }
}

fn bytes<const N: usize>(value: ValueRef<'_>) -> Option<[u8; N]> {
    match value {
        ValueRef::Blob(bytes) => bytes.try_into().ok(),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Text(_) => None,
    }
}

/// A digest.
pub(super) fn digest(value: ValueRef<'_>) -> Option<Digest> {
    bytes(value).map(Digest::from_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_a_number_of_its_own() {
        for class in DataClass::ALL {
            let value = ValueRef::Integer(of_data_class(*class));
            assert_eq!(word(DataClass::ALL, of_data_class, value), Some(*class));
        }
        for taint in Taint::ALL {
            let value = ValueRef::Integer(of_taint(*taint));
            assert_eq!(word(Taint::ALL, of_taint, value), Some(*taint));
        }
        assert_eq!(word(Taint::ALL, of_taint, ValueRef::Integer(5)), None);
    }
}
