//! Where canonical bytes go.
//! Owns: the sinks. Must not: fail or reorder.

use crate::digest::Digest;
use alloc::vec::Vec;
use sha2::Digest as _;

/// Takes bytes in order.
pub trait Sink {
    /// Takes the next bytes.
    fn put(&mut self, bytes: &[u8]);
}

impl Sink for Vec<u8> {
    /// Most pieces are a quote or a comma.
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        match bytes {
            [byte] => self.push(*byte),
            bytes => self.extend_from_slice(bytes),
        }
    }
}

/// Small pieces are gathered here: SHA-256 works on blocks, and most pieces are a comma or a name.
const STAGE: usize = 512;

/// SHA-256 of what it is given.
pub struct Hasher {
    state: sha2::Sha256,
    stage: [u8; STAGE],
    staged: usize,
    flushed: u64,
}

impl Hasher {
    /// A hasher that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Hasher { state: sha2::Sha256::new(), stage: [0; STAGE], staged: 0, flushed: 0 }
    }

    /// The digest of bytes that are there as a whole, without gathering them.
    pub(crate) fn of(bytes: &[u8]) -> Digest {
        Digest::from_bytes(sha2::Sha256::digest(bytes).into())
    }

    /// How many bytes were put.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.flushed + self.staged as u64
    }

    /// The digest of everything put.
    #[must_use]
    #[inline]
    pub fn finish(mut self) -> Digest {
        self.flush();
        Digest::from_bytes(self.state.finalize().into())
    }

    fn flush(&mut self) {
        self.state.update(self.stage.get(..self.staged).unwrap_or_default());
        self.flushed += self.staged as u64;
        self.staged = 0;
    }
}

impl Default for Hasher {
    fn default() -> Self {
        Hasher::new()
    }
}

impl Sink for Hasher {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        let end = self.staged + bytes.len();
        if let Some(room) = self.stage.get_mut(self.staged..end) {
            room.copy_from_slice(bytes);
            self.staged = end;
            return;
        }
        self.flush();
        match self.stage.get_mut(..bytes.len()) {
            Some(room) => {
                room.copy_from_slice(bytes);
                self.staged = bytes.len();
            }
            None => {
                self.state.update(bytes);
                self.flushed += bytes.len() as u64;
            }
        }
    }
}
