//! A page as a row, and back.
//! Owns: the columns, the sum over all of them. Must not: give out a row whose sum is another.

use crate::page::{Address, Hop, Page};
use countersign_kernel::gate::Place;
use countersign_record::canonical::{Hasher, Sink};
use countersign_record::digest::Digest;
use countersign_record::time::Instant;
use rusqlite::{Connection, Row, params};

/// The tables of a cache, as SQLite keeps their words.
pub(super) const TABLES: [&str; 2] = [
    "CREATE TABLE pages (url TEXT PRIMARY KEY, at_seconds INTEGER NOT NULL, at_nanos INTEGER NOT NULL, \
     size INTEGER NOT NULL, final_url TEXT NOT NULL, hops TEXT NOT NULL, status INTEGER NOT NULL, \
     flags INTEGER NOT NULL, bytes INTEGER NOT NULL, sha256 BLOB NOT NULL, sum BLOB NOT NULL, \
     content_type TEXT, text TEXT) STRICT",
    "CREATE INDEX pages_by_age ON pages (at_seconds, at_nanos, size)",
];

pub(super) const SELECT: &str = "SELECT at_seconds, at_nanos, final_url, hops, status, flags, bytes, sha256, \
     sum, content_type, text FROM pages WHERE url = ?1";

const INSERT: &str = "INSERT OR REPLACE INTO pages (at_seconds, at_nanos, final_url, hops, status, flags, bytes, \
     sha256, sum, content_type, text, url, size) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/// What a row takes beside its texts.
const ROW_BYTES: usize = 256;
const LOSSY: u32 = 1;
const TRUNCATED: u32 = 2;

/// The columns that the sum covers, as they stand in the row.
struct Columns<'a> {
    url: &'a str,
    at: Instant,
    final_url: &'a str,
    hops: &'a str,
    status: u16,
    flags: u32,
    bytes: u32,
    sha256: [u8; 32],
    content_type: Option<&'a str>,
    text: Option<&'a str>,
}

impl Columns<'_> {
    /// Every column with its length before it, so that no two rows are the same bytes.
    fn sum(&self) -> Digest {
        let mut hasher = Hasher::new();
        hasher.put(b"countersign http cache 1");
        hasher.put(&self.at.seconds.to_be_bytes());
        for number in [self.at.nanos, u32::from(self.status), self.flags, self.bytes] {
            hasher.put(&number.to_be_bytes());
        }
        hasher.put(&self.sha256);
        for text in [Some(self.url), Some(self.final_url), Some(self.hops), self.content_type, self.text] {
            hasher.put(&text.map_or(u64::MAX, |text| text.len() as u64).to_be_bytes());
            hasher.put(text.unwrap_or_default().as_bytes());
        }
        hasher.finish()
    }
}

/// Puts a page into the table.
pub(super) fn insert(connection: &Connection, page: &Page) -> Result<(), rusqlite::Error> {
    let hops = said(&page.hops);
    let flags = u32::from(page.is_lossy) * LOSSY + u32::from(page.is_truncated) * TRUNCATED;
    let columns = Columns {
        url: &page.url,
        at: page.at,
        final_url: &page.final_url,
        hops: &hops,
        status: page.status,
        flags,
        bytes: page.bytes,
        sha256: *page.sha256.as_bytes(),
        content_type: page.content_type.as_deref(),
        text: page.text.as_deref(),
    };
    let texts = [Some(columns.url), Some(columns.final_url), Some(&hops), columns.content_type, columns.text];
    let size = texts.iter().flatten().map(|text| text.len()).sum::<usize>() + ROW_BYTES;
    connection.prepare_cached(INSERT)?.execute(params![
        columns.at.seconds,
        columns.at.nanos,
        columns.final_url,
        columns.hops,
        columns.status,
        columns.flags,
        columns.bytes,
        columns.sha256,
        columns.sum().as_bytes(),
        columns.content_type,
        columns.text,
        columns.url,
        i64::try_from(size).unwrap_or(i64::MAX),
    ])?;
    Ok(())
}

/// The page of a row; `None` if it is not as it was kept.
pub(super) fn read(row: &Row<'_>, url: &str) -> Option<Page> {
    let text_at = |at: usize| row.get_ref(at).ok()?.as_str().ok();
    let text_or_null_at = |at: usize| row.get_ref(at).ok()?.as_str_or_null().ok();
    let columns = Columns {
        url,
        at: Instant { seconds: row.get(0).ok()?, nanos: row.get(1).ok()? },
        final_url: text_at(2)?,
        hops: text_at(3)?,
        status: row.get(4).ok()?,
        flags: row.get(5).ok()?,
        bytes: row.get(6).ok()?,
        sha256: row.get(7).ok()?,
        content_type: text_or_null_at(9)?,
        text: text_or_null_at(10)?,
    };
    let sum: [u8; 32] = row.get(8).ok()?;
    if columns.sum().as_bytes() != &sum || columns.flags > LOSSY + TRUNCATED {
        return None;
    }
    Some(Page {
        url: url.to_owned(),
        final_url: columns.final_url.to_owned(),
        hops: heard(columns.hops)?,
        status: columns.status,
        content_type: columns.content_type.map(str::to_owned),
        text: columns.text.map(str::to_owned),
        is_lossy: columns.flags & LOSSY != 0,
        is_truncated: columns.flags & TRUNCATED != 0,
        bytes: columns.bytes,
        sha256: Digest::from_bytes(columns.sha256),
        at: columns.at,
    })
}

const PUBLIC: &str = "public";
const NOT_PUBLIC: &str = "not_public";

/// The hops, one on a line.
fn said(hops: &[Hop]) -> String {
    let line = |hop: &Hop| match hop.address {
        Address::Public => format!("{PUBLIC} {}", hop.place),
        Address::NotPublic => format!("{NOT_PUBLIC} {}", hop.place),
    };
    hops.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn heard(lines: &str) -> Option<Vec<Hop>> {
    let hop = |line: &str| {
        let (address, place) = line.split_once(' ')?;
        let address = match address {
            PUBLIC => Address::Public,
            NOT_PUBLIC => Address::NotPublic,
            _ => return None,
        };
        Some(Hop { place: Place::try_from(place).ok()?, address })
    };
    lines.lines().map(hop).collect()
}
