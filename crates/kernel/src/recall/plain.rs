//! A line in plain form, read where it stands.
//! Owns: the form that most lines have: one object, the contract's names each at most once, strings without escapes.
//! Must not: judge a line. What is not in plain form is read the long way, which decides; what is gives the same record.

use super::line::when;
use super::marks::Quotes;
use alloc::vec::Vec;
use countersign_record::digest::Digest;
use countersign_record::time::{Instant, Timestamp};

/// Longer lines take the long way: it counts values and depth, of which a short line can't have too many.
const BYTES_MAX: usize = 64 * 1024;

/// Room that is used again for each line.
#[derive(Clone, Debug, Default)]
pub(super) struct Room {
    /// The tags, as stretches of the line.
    tags: Vec<(usize, usize)>,
    /// The list of refs in canonical form, without its brackets.
    refs: Vec<u8>,
    /// The normal form.
    normal: Vec<u8>,
    quotes: Quotes,
}

/// A record whose parts stand in the line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain<'a> {
    pub(super) memory_id: &'a str,
    pub(super) text: &'a str,
    ts_utc: Option<&'a str>,
    pub(super) at: Option<Instant>,
}

/// Reads a line in plain form; the tags and refs are left in the room.
pub(super) fn read<'a>(line: &'a [u8], room: &mut Room) -> Option<Plain<'a>> {
    let Room { tags, refs, quotes, .. } = room;
    if line.len() > BYTES_MAX || !quotes.find(line) {
        return None;
    }
    let mut reader = Reader { text: core::str::from_utf8(line).ok()?, quotes, at: 0 };
    let (mut memory_id, mut text, mut ts_utc, mut has_tags, mut has_refs) = (None, None, None, false, false);
    tags.clear();
    refs.clear();
    reader.take(b'{')?;
    loop {
        let name = reader.string()?;
        reader.take(b':')?;
        let is_first = match name {
            "memory_id" => memory_id.replace(reader.string()?).is_none(),
            "text" => text.replace(reader.string()?).is_none(),
            "ts_utc" => ts_utc.replace(reader.string()?).is_none(),
            "tags" => {
                reader.tags(tags)?;
                !core::mem::replace(&mut has_tags, true)
            }
            "refs" => {
                reader.refs(refs)?;
                !core::mem::replace(&mut has_refs, true)
            }
            _ => return None,
        };
        if !is_first {
            return None;
        }
        if reader.next(b',', b'}')? == b'}' {
            break;
        }
    }
    if reader.peek().is_some() {
        return None;
    }
    sort(tags, line);
    let memory_id = memory_id.filter(|id| !id.is_empty())?;
    Some(Plain { memory_id, text: text?, ts_utc, at: ts_utc.and_then(when) })
}

/// Sorted, each once.
fn sort(tags: &mut Vec<(usize, usize)>, line: &[u8]) {
    let word = |(start, end): &(usize, usize)| line.get(*start..*end).unwrap_or_default();
    tags.sort_unstable_by(|a, b| word(a).cmp(word(b)));
    tags.dedup_by(|a, b| word(a) == word(b));
}

impl Room {
    /// The tags, lowercased, sorted, each once.
    pub(super) fn tags<'a>(&self, line: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        self.tags.iter().map(|(start, end)| line.get(*start..*end).unwrap_or_default())
    }

    /// SHA-256 of the normal form in canonical JSON. Strings without escapes are their own canonical form.
    pub(super) fn hash(&mut self, line: &[u8], plain: &Plain<'_>) -> Digest {
        let Room { tags, refs, normal, .. } = self;
        normal.clear();
        let mut put = |bytes: &[u8]| normal.extend_from_slice(bytes);
        put(b"{\"memory_id\":\"");
        put(plain.memory_id.as_bytes());
        put(b"\",\"refs\":[");
        put(refs);
        put(b"],\"tags\":[");
        for (at, (start, end)) in tags.iter().enumerate() {
            put(if at > 0 { b",\"" } else { b"\"" });
            put(line.get(*start..*end).unwrap_or_default());
            put(b"\"");
        }
        put(b"],\"text\":\"");
        put(plain.text.as_bytes());
        put(b"\",\"ts_utc\":");
        match (plain.at, plain.ts_utc) {
            // Whole seconds in UTC, as nearly every writer has them, are their own normal form.
            (Some(_), Some(text))
                if text.len() == 20 && text.ends_with('Z') && text.get(10..11) == Some("T") =>
            {
                put(b"\"");
                put(text.as_bytes());
                put(b"\"");
            }
            (Some(at), _) => match Timestamp::try_from(at) {
                Ok(at) => {
                    put(b"\"");
                    put(at.as_str().as_bytes());
                    put(b"\"");
                }
                Err(_) => put(b"null"),
            },
            (None, _) => put(b"null"),
        }
        put(b"}");
        Digest::of(normal)
    }
}

/// Goes through a line without control characters and escapes: of white space there are only spaces.
struct Reader<'a, 'r> {
    text: &'a str,
    quotes: &'r Quotes,
    at: usize,
}

impl<'a> Reader<'a, '_> {
    /// The next byte that is no space.
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// One of two bytes.
    fn next(&mut self, one: u8, other: u8) -> Option<u8> {
        let found = self.peek().filter(|byte| *byte == one || *byte == other)?;
        self.at += 1;
        Some(found)
    }

    fn span(&mut self) -> Option<(usize, usize)> {
        self.take(b'"')?;
        let start = self.at;
        let end = self.quotes.next(start)?;
        self.at = end + 1;
        Some((start, end))
    }

    fn string(&mut self) -> Option<&'a str> {
        let (start, end) = self.span()?;
        self.text.get(start..end)
    }

    /// A list of tags that are in their normal form already; an empty one vanishes.
    fn tags(&mut self, tags: &mut Vec<(usize, usize)>) -> Option<()> {
        self.take(b'[')?;
        if self.peek()? == b']' {
            return self.take(b']');
        }
        loop {
            let (start, end) = self.span()?;
            let tag = self.text.as_bytes().get(start..end)?;
            let is_normal = tag.first() != Some(&b' ') && tag.last() != Some(&b' ');
            if !is_normal || !tag.iter().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
                return None;
            }
            if start < end {
                tags.push((start, end));
            }
            if self.next(b',', b']')? == b']' {
                return Some(());
            }
        }
    }

    /// A list of objects whose values are strings and whose names are in canonical order.
    fn refs(&mut self, refs: &mut Vec<u8>) -> Option<()> {
        self.take(b'[')?;
        if self.peek()? == b']' {
            return self.take(b']');
        }
        loop {
            self.reference(refs)?;
            if self.next(b',', b']')? == b']' {
                return Some(());
            }
            refs.push(b',');
        }
    }

    fn reference(&mut self, refs: &mut Vec<u8>) -> Option<()> {
        self.take(b'{')?;
        refs.push(b'{');
        if self.peek()? == b'}' {
            refs.push(b'}');
            return self.take(b'}');
        }
        let mut before: Option<&str> = None;
        loop {
            let name = self.string()?;
            // Canonical order is that of UTF-16, which is that of bytes for ASCII.
            if !name.is_ascii() || before.is_some_and(|before| before >= name) {
                return None;
            }
            before = Some(name);
            self.take(b':')?;
            let value = self.string()?;
            for part in ["\"", name, "\":\"", value, "\""] {
                refs.extend_from_slice(part.as_bytes());
            }
            if self.next(b',', b'}')? == b'}' {
                refs.push(b'}');
                return Some(());
            }
            refs.push(b',');
        }
    }
}
