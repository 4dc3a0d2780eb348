//! Reading the start of a file that nobody vouches for.
//! Owns: the place in the file and its bounds. Must not: allocate what a length asks for.

use super::{Error, HEADER_BYTES_MAX, TEXT_BYTES_MAX};
use std::io::{ErrorKind, Read};

/// The bytes from the start of a file.
pub(super) struct Bytes<'r, R> {
    from: &'r mut R,
    at: u64,
}

impl<'r, R: Read> Bytes<'r, R> {
    pub(super) fn new(from: &'r mut R) -> Self {
        Bytes { from, at: 0 }
    }

    /// How many were read.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Something is wrong here.
    pub(super) fn odd(&self, why: &'static str) -> Error {
        Error::Odd { at: self.at, why }
    }

    pub(super) fn byte(&mut self) -> Result<u8, Error> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Error> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Error> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let mut bytes = [0; N];
        self.advance(N as u64)?;
        self.from.read_exact(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    /// A text with its length before it, of at most `most` bytes.
    pub(super) fn text(&mut self, most: u64) -> Result<String, Error> {
        let length = self.u64()?;
        if length > most.min(TEXT_BYTES_MAX) {
            return Err(self.odd("a text is too long"));
        }
        self.advance(length)?;
        let mut bytes = Vec::new();
        self.from.by_ref().take(length).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 != length {
            return Err(Error::Cut);
        }
        String::from_utf8(bytes).map_err(|_| self.odd("a text is not UTF-8"))
    }

    /// Passes over `count` things of `size` bytes each.
    pub(super) fn skip(&mut self, count: u64, size: u64) -> Result<(), Error> {
        let length = count.checked_mul(size).ok_or_else(|| self.odd("a list is too long"))?;
        self.advance(length)?;
        let passed = std::io::copy(&mut self.from.by_ref().take(length), &mut std::io::sink());
        if passed.map_err(failed)? == length { Ok(()) } else { Err(Error::Cut) }
    }

    fn advance(&mut self, bytes: u64) -> Result<(), Error> {
        match self.at.checked_add(bytes) {
            Some(at) if at <= HEADER_BYTES_MAX => {
                self.at = at;
                Ok(())
            }
            Some(_) | None => Err(Error::TooLarge { what: "header", bytes_max: HEADER_BYTES_MAX }),
        }
    }
}

fn failed(error: std::io::Error) -> Error {
    match error.kind() {
        ErrorKind::UnexpectedEof => Error::Cut,
        kind => Error::Unreadable(kind),
    }
}
