//! The lines of a store, read in bounded memory.
//! Owns: where a line begins and ends, who reads a line that two pieces share, lines that are too long. Must not: know
//! what a line says.

use countersign_durable::{self as durable, Links};
use countersign_kernel::recall::Refusal;
use countersign_record::canonical::{Hasher, Sink};
use countersign_record::digest::Digest;
use memchr::memchr;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

/// A line beyond this is not looked at; it is hashed on the way past.
pub(super) const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes that are asked for at once.
const CHUNK_BYTES: usize = 128 * 1024;

/// A store that was there. It is opened again for each piece: a read of a thousand stores would need as many open
/// files otherwise, and a package would hold them.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) path: String,
    length: u64,
    identity: (u64, u64),
}

/// A piece of a store: the lines that begin in it, wherever they end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// The store, by its place in the list.
    pub(super) store: usize,
    start: u64,
    end: u64,
}

/// One line, without its ending.
pub(super) enum Line<'a> {
    /// Its bytes.
    Whole(&'a [u8]),
    /// Too long to be held.
    TooLong(Digest),
}

impl Store {
    /// Looks at the file, which must be a regular one. What is appended to it later is not part of the read.
    pub(super) fn new(path: String) -> Result<Self, Refusal> {
        let opened = durable::open_regular(Path::new(&path), Links::Followed);
        let known = opened.and_then(|(file, length)| Ok((length, identity(&file)?)));
        match known {
            Ok((length, identity)) => Ok(Store { path, length, identity }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Refusal::StoreMissing { path }),
            Err(error) => Err(Refusal::StoreUnreadable { path, why: why(&error) }),
        }
    }

    /// The file that was looked at, and no other that took its place.
    pub(super) fn open(&self) -> io::Result<File> {
        let (file, _) = durable::open_regular(Path::new(&self.path), Links::Followed)?;
        match identity(&file)? == self.identity {
            true => Ok(file),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// What it means that a piece can't be read.
    pub(super) fn refusal(&self, error: &io::Error) -> Refusal {
        let path = self.path.clone();
        match error.kind() {
            // It was there a moment ago, and longer.
            io::ErrorKind::UnexpectedEof | io::ErrorKind::NotFound => Refusal::StoreChanged { path },
            _ => Refusal::StoreUnreadable { path, why: why(error) },
        }
    }

    /// The pieces of the store, in order.
    pub(super) fn ranges(&self, store: usize, bytes: u64) -> impl Iterator<Item = Piece> {
        let length = self.length;
        let starts = (0..length.div_ceil(bytes)).map(move |at| at * bytes);
        starts.map(move |start| Piece { store, start, end: (start + bytes).min(length) })
    }

    /// Shows every line that begins in the piece, with its place.
    pub(super) fn lines(&self, range: &Piece, mut see: impl FnMut(u64, Line<'_>)) -> io::Result<()> {
        let file = self.open()?;
        let mut window = Window { file, length: self.length, start: range.start, bytes: Vec::new(), at: 0 };
        if range.start > 0 {
            // The line that begins before belongs to the piece before, and so does its rest.
            window.start = range.start - 1;
            window.skip_line(range.end)?;
        }
        while window.place() < range.end {
            let place = window.place();
            match window.line_length()? {
                Some(length) => {
                    let ending = usize::from(window.rest().get(length) == Some(&b'\n'));
                    let line = window.rest().get(..length).unwrap_or_default();
                    see(place, Line::Whole(if ending == 1 { without_return(line) } else { line }));
                    window.at += length + ending;
                }
                None => see(place, Line::TooLong(window.hash_line()?)),
            }
        }
        Ok(())
    }
}

fn identity(file: &File) -> io::Result<(u64, u64)> {
    let about = file.metadata()?;
    Ok((about.dev(), about.ino()))
}

/// Our own words as they are; those of the system without numbers, which differ between machines.
pub(super) fn why(error: &io::Error) -> String {
    let words = error.to_string();
    words.split_once(" (os error").map_or(words.clone(), |(words, _)| words.to_lowercase())
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// A part of the store in memory.
struct Window {
    file: File,
    /// Where the store ends.
    length: u64,
    /// The place of its first byte.
    start: u64,
    bytes: Vec<u8>,
    /// How many of the bytes are done with.
    at: usize,
}

impl Window {
    fn place(&self) -> u64 {
        self.start + self.at as u64
    }

    fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Reads on; `false` at the end of the store. What is done with makes room.
    fn grow(&mut self) -> io::Result<bool> {
        self.bytes.drain(..self.at);
        self.start += self.at as u64;
        self.at = 0;
        let held = self.bytes.len();
        let left = self.length.saturating_sub(self.start + held as u64);
        let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(CHUNK_BYTES);
        self.bytes.resize(held + wanted, 0);
        let mut filled = held;
        while let Some(room) = self.bytes.get_mut(filled..).filter(|room| !room.is_empty()) {
            match self.file.read_at(room, self.start + filled as u64) {
                // Cut by somebody while we read, or never as long as it said.
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.bytes.truncate(filled);
        Ok(filled > held)
    }

    /// How long the line is that begins here, with a carriage return but without the newline; `None` if it is too
    /// long.
    fn line_length(&mut self) -> io::Result<Option<usize>> {
        let mut searched = 0;
        loop {
            if let Some(at) = memchr(b'\n', self.rest().get(searched..).unwrap_or_default()) {
                let length = searched + at;
                return Ok(Some(length).filter(|_| self.fits(length)));
            }
            searched = self.rest().len();
            if searched > LINE_BYTES_MAX + 1 {
                return Ok(None);
            }
            if !self.grow()? {
                return Ok(Some(searched).filter(|_| searched <= LINE_BYTES_MAX));
            }
        }
    }

    /// Whether a line of this length, its return left out, can be looked at.
    fn fits(&self, length: usize) -> bool {
        without_return(self.rest().get(..length).unwrap_or_default()).len() <= LINE_BYTES_MAX
    }

    /// Goes to where the next line begins, or to `end` if none does before: a line may be as long as many pieces.
    fn skip_line(&mut self, end: u64) -> io::Result<()> {
        while self.place() < end {
            if let Some(at) = memchr(b'\n', self.rest()) {
                self.at += at + 1;
                return Ok(());
            }
            self.at = self.bytes.len();
            if !self.grow()? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Hashes the line that begins here without its ending, and goes to the next.
    fn hash_line(&mut self) -> io::Result<Digest> {
        let mut hasher = Hasher::new();
        // A carriage return is part of the ending only if a newline follows.
        let mut held_return = false;
        loop {
            let newline = memchr(b'\n', self.rest());
            let piece = self.rest().get(..newline.unwrap_or(self.rest().len())).unwrap_or_default();
            if !piece.is_empty() && held_return {
                hasher.put(b"\r");
            }
            let kept = without_return(piece);
            held_return = if piece.is_empty() { held_return } else { kept.len() < piece.len() };
            hasher.put(kept);
            self.at += piece.len();
            if newline.is_some() {
                self.at += 1;
                return Ok(hasher.finish());
            }
            if !self.grow()? {
                if held_return {
                    hasher.put(b"\r");
                }
                return Ok(hasher.finish());
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;
    use countersign_testkit::random::Seed;
    use countersign_testkit::scratch::Scratch;

    fn store(scratch: &Scratch, bytes: &[u8]) -> Store {
        let place = scratch.path().join("store");
        std::fs::write(&place, bytes).unwrap();
        Store::new(place.to_str().unwrap().into()).unwrap()
    }

    fn lines(store: &Store, range_bytes: u64) -> Vec<(u64, Result<Vec<u8>, Digest>)> {
        let mut lines = Vec::new();
        for range in store.ranges(0, range_bytes) {
            let see = |place, line: Line<'_>| {
                lines.push((
                    place,
                    match line {
                        Line::Whole(bytes) => Ok(bytes.to_vec()),
                        Line::TooLong(digest) => Err(digest),
                    },
                ));
            };
            store.lines(&range, see).unwrap();
        }
        lines
    }

    /// However a store is cut into pieces, every line is seen once, whole and in order.
    #[test]
    fn pieces_share_no_line_and_lose_none() {
        let seed = Seed::of("pieces of a store", 12);
        let mut random = seed.random();
        for _ in 0..60 {
            let mut bytes = Vec::new();
            for _ in 0..random.index(0..12) {
                let length = random.index(0..9);
                bytes.extend(random.bytes(length).into_iter().filter(|byte| *byte != b'\n'));
                bytes.extend_from_slice(random.pick::<&str>(&["\n", "\r\n", "\n\n", ""]).as_bytes());
            }
            let scratch = Scratch::new();
            let store = store(&scratch, &bytes);
            let mut expected = Vec::new();
            let mut place = 0;
            for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                let text = line.strip_suffix(b"\n").map_or(line, without_return);
                expected.push((place, Ok(text.to_vec())));
                place += line.len() as u64;
            }
            for range_bytes in 1..12 {
                assert_eq!(lines(&store, range_bytes), expected, "{range_bytes}: {bytes:?}");
            }
        }
    }

    /// A line may be as long as a thousand pieces; each of them looks no further than it must.
    #[test]
    fn a_piece_inside_a_line_is_not_read_beyond_its_end() {
        let scratch = Scratch::new();
        let store = store(&scratch, &vec![b'x'; 20 * CHUNK_BYTES]);
        let mut window = Window {
            file: store.open().unwrap(),
            length: store.length,
            start: 100,
            bytes: Vec::new(),
            at: 0,
        };
        window.skip_line(200).unwrap();
        assert!(window.place() >= 200 && window.bytes.len() <= CHUNK_BYTES);
    }

    /// Cut while it is read, or of a kind whose length is a guess: it ends, and not as if it were whole.
    #[test]
    fn a_store_that_is_shorter_than_it_said_is_an_error() {
        for (bytes, beyond) in [(&b"one\ntwo\n"[..], 1), (b"one\ntwo", 5_000), (b"", 4_096)] {
            let scratch = Scratch::new();
            let store = Store { length: bytes.len() as u64 + beyond, ..store(&scratch, bytes) };
            for range_bytes in [3, 100_000] {
                let read = |range: Piece| store.lines(&range, |_, _| {});
                let failed = store.ranges(0, range_bytes).find_map(|range| read(range).err()).unwrap();
                assert_eq!(failed.kind(), io::ErrorKind::UnexpectedEof);
            }
        }
    }

    /// A line at the limit is read; one byte more, and it is hashed on the way past, without its ending.
    #[test]
    fn a_line_beyond_the_limit_is_hashed_and_the_next_is_read() {
        for (over, ending) in
            [(0, "\n"), (1, "\n"), (0, "\r\n"), (1, "\r\n"), (0, ""), (1, ""), (600_000, "\r\n")]
        {
            let mut bytes = vec![b'x'; LINE_BYTES_MAX + over];
            let digest = Digest::of(&bytes);
            bytes.extend_from_slice(ending.as_bytes());
            if !ending.is_empty() {
                bytes.extend_from_slice(b"next\n");
            }
            let scratch = Scratch::new();
            let found = lines(&store(&scratch, &bytes), 4 * 1024 * 1024);
            let first = match &found[0].1 {
                Ok(line) => Digest::of(line),
                Err(digest) => *digest,
            };
            assert_eq!((first, found[0].1.is_err()), (digest, over > 0), "{over} {ending:?}");
            let rest: Vec<_> = found[1..].iter().map(|(_, line)| line.clone().unwrap()).collect();
            let expected: &[&[u8]] = if ending.is_empty() { &[] } else { &[b"next"] };
            assert_eq!(rest, expected, "{over} {ending:?}");
        }
    }
}
