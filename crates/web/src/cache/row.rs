//! A page as a row, and back.
//! Owns: the columns, the sum over all of them. Must not: give out a row whose sum is another.

use crate::page::{Address, Page};
use countersign_record::canonical::{Hasher, Sink};
use countersign_record::digest::Digest;
use countersign_record::time::Instant;
use rusqlite::{Connection, Row, params};

/// The tables of a cache, as SQLite keeps their words.
pub(super) const TABLES: [&str; 2] = [
    "CREATE TABLE pages (url TEXT PRIMARY KEY, at_seconds INTEGER NOT NULL, at_nanos INTEGER NOT NULL, \
     size INTEGER NOT NULL, final_url TEXT NOT NULL, status INTEGER NOT NULL, flags INTEGER NOT NULL, \
     bytes INTEGER NOT NULL, sha256 BLOB NOT NULL, sum BLOB NOT NULL, \
     content_type TEXT, text TEXT) STRICT",
    "CREATE INDEX pages_by_age ON pages (at_seconds, at_nanos, size)",
];

pub(super) const SELECT: &str = "SELECT at_seconds, at_nanos, final_url, status, flags, bytes, sha256, \
     sum, content_type, text FROM pages WHERE url = ?1";

const INSERT: &str = "INSERT OR REPLACE INTO pages (at_seconds, at_nanos, final_url, status, flags, bytes, \
     sha256, sum, content_type, text, url, size) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/// What a row takes beside its texts.
const ROW_BYTES: usize = 256;
const LOSSY: u32 = 1;
const TRUNCATED: u32 = 2;
const NOT_PUBLIC: u32 = 4;

/// The columns that the sum covers, as they stand in the row.
struct Columns<'a> {
    url: &'a str,
    at: Instant,
    final_url: &'a str,
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
        for text in [Some(self.url), Some(self.final_url), self.content_type, self.text] {
            hasher.put(&text.map_or(u64::MAX, |text| text.len() as u64).to_be_bytes());
            hasher.put(text.unwrap_or_default().as_bytes());
        }
        hasher.finish()
    }
}

/// What a page takes in the table.
pub(super) fn size_of(page: &Page) -> usize {
    let texts = [Some(&page.url), Some(&page.final_url), page.content_type.as_ref(), page.text.as_ref()];
    texts.iter().flatten().map(|text| text.len()).sum::<usize>() + ROW_BYTES
}

/// Puts a page into the table.
pub(super) fn insert(connection: &Connection, page: &Page) -> Result<(), rusqlite::Error> {
    let columns = Columns {
        url: &page.url,
        at: page.at,
        final_url: &page.final_url,
        status: page.status,
        flags: flags_of(page),
        bytes: page.bytes,
        sha256: *page.sha256.as_bytes(),
        content_type: page.content_type.as_deref(),
        text: page.text.as_deref(),
    };
    connection.prepare_cached(INSERT)?.execute(params![
        columns.at.seconds,
        columns.at.nanos,
        columns.final_url,
        columns.status,
        columns.flags,
        columns.bytes,
        columns.sha256,
        columns.sum().as_bytes(),
        columns.content_type,
        columns.text,
        columns.url,
        i64::try_from(size_of(page)).unwrap_or(i64::MAX),
    ])?;
    Ok(())
}

fn flags_of(page: &Page) -> u32 {
    let is_not_public = match page.address {
        Address::Public => false,
        Address::NotPublic => true,
    };
    [(page.is_lossy, LOSSY), (page.is_truncated, TRUNCATED), (is_not_public, NOT_PUBLIC)]
        .iter()
        .map(|(is_set, flag)| u32::from(*is_set) * flag)
        .sum()
}

/// The page of a row; `None` if it is not as it was kept.
pub(super) fn read(row: &Row<'_>, url: &str) -> Option<Page> {
    let text_at = |at: usize| row.get_ref(at).ok()?.as_str().ok();
    let text_or_null_at = |at: usize| row.get_ref(at).ok()?.as_str_or_null().ok();
    let columns = Columns {
        url,
        at: Instant { seconds: row.get(0).ok()?, nanos: row.get(1).ok()? },
        final_url: text_at(2)?,
        status: row.get(3).ok()?,
        flags: row.get(4).ok()?,
        bytes: row.get(5).ok()?,
        sha256: row.get(6).ok()?,
        content_type: text_or_null_at(8)?,
        text: text_or_null_at(9)?,
    };
    let sum: [u8; 32] = row.get(7).ok()?;
    if columns.sum().as_bytes() != &sum || columns.flags > LOSSY + TRUNCATED + NOT_PUBLIC {
        return None;
    }
    Some(Page {
        url: url.to_owned(),
        final_url: columns.final_url.to_owned(),
        address: if columns.flags & NOT_PUBLIC == 0 { Address::Public } else { Address::NotPublic },
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
