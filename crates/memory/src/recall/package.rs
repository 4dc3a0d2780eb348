//! A package that was made: its lists, its hash, its receipt.
//! Owns: going through the lists without copying them. Must not: change what was selected.

use super::lines::Store;
use super::part::{self, Candidate, Part};
use countersign_kernel::recall::Excerpt;
use countersign_kernel::recall::input::Budget;
use countersign_kernel::recall::package::{self, Dropped, Head, Reason, Selected};
use countersign_record::canonical::Sink;
use countersign_record::digest::Digest;
use countersign_record::memory_read::Receipt;
use countersign_runtime::ports::memory;
use std::io::{self, Write};
use std::sync::OnceLock;

/// What a read gives.
#[derive(Debug)]
pub struct Package {
    pub(super) query: String,
    pub(super) query_hash: Digest,
    pub(super) budget: Budget,
    pub(super) used: u64,
    pub(super) stores: Vec<Store>,
    pub(super) parts: Vec<Part>,
    /// The parts that the candidates are taken from, in the contract's order; the first ones are those selected.
    pub(super) order: Vec<u32>,
    pub(super) excerpts: Vec<Excerpt>,
    /// Why the others are not: the reason is the same for all of them.
    pub(super) rest: Option<Reason>,
    /// Computed once: the lists may be long.
    pub(super) hash: OnceLock<Digest>,
}

impl Package {
    fn head(&self) -> Head<'_> {
        Head { raw: &self.query, query_hash: self.query_hash, budget: self.budget, used: self.used }
    }

    /// Those selected, the best first.
    pub fn selected(&self) -> impl Iterator<Item = Selected<'_>> {
        let ordered = part::ordered(&self.parts, &self.order);
        ordered.zip(&self.excerpts).filter_map(|(one, excerpt)| {
            let Candidate { score, tokens, .. } = *one.candidate()?;
            Some(Selected {
                memory_id: one.part.id(one.name),
                record_hash: one.name.record_hash,
                store_path: self.store_path(one.part.store),
                score,
                excerpt,
                tokens,
            })
        })
    }

    /// Those that were not: what is no candidate in reading order, then the rest in the contract's order.
    pub fn dropped(&self) -> impl Iterator<Item = Dropped<'_>> {
        let refused = self.parts.iter().flat_map(|part| {
            part.refused.iter().map(|one| Dropped {
                memory_id: part.id(one.name),
                record_hash: one.name.record_hash,
                store_path: self.store_path(part.store),
                reason: one.reason,
            })
        });
        let rest = self.rest.into_iter().flat_map(move |reason| {
            let ordered = part::ordered(&self.parts, &self.order);
            ordered.skip(self.excerpts.len()).map(move |one| Dropped {
                memory_id: one.part.id(one.name),
                record_hash: one.name.record_hash,
                store_path: self.store_path(one.part.store),
                reason,
            })
        });
        refused.chain(rest)
    }

    fn store_path(&self, store: u32) -> &str {
        self.stores.get(store as usize).map_or("", |store| &store.path)
    }

    /// The package with its hash known, so that asking for it takes no time.
    pub(super) fn hashed(self) -> Self {
        let hash = OnceLock::from(self.hash());
        Package { hash, ..self }
    }

    /// The package's hash.
    #[must_use]
    pub fn hash(&self) -> Digest {
        *self.hash.get_or_init(|| package::hash(&self.head(), self.selected(), self.dropped()))
    }

    /// Writes the package as JSON and a newline. The hash stands at the end of the text, so it is computed while the
    /// rest is written.
    ///
    /// # Errors
    /// The text can't be written.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        std::thread::scope(|scope| {
            let hashing = std::thread::Builder::new().spawn_scoped(scope, || self.hash());
            let mut sink = Out { out, written: Ok(()), stage: Vec::with_capacity(STAGE_BYTES) };
            let hash = || match hashing {
                Ok(hashing) => hashing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                // No thread is to be had.
                Err(_) => self.hash(),
            };
            package::write(&self.head(), self.selected(), self.dropped(), hash, &mut sink);
            sink.put(b"\n");
            sink.flush();
            sink.written
        })
    }

    /// What may be recorded of the read.
    #[must_use]
    pub fn receipt(&self) -> Receipt {
        Receipt {
            query_hash: self.query_hash,
            store_paths: self.stores.iter().map(|store| store.path.clone()).collect(),
            selected_count: self.excerpts.len() as u64,
            package_hash: self.hash(),
        }
    }
}

impl memory::Package for Package {
    fn receipt(&self) -> Receipt {
        self.receipt()
    }

    fn selected(&self) -> Box<dyn Iterator<Item = Selected<'_>> + '_> {
        Box::new(self.selected())
    }

    fn write(&self, mut out: &mut dyn Write) -> io::Result<()> {
        self.write(&mut out)
    }
}

/// Bytes that are written at once.
const STAGE_BYTES: usize = 64 * 1024;

/// A sink that remembers the first failure: canonical writing itself can't fail.
struct Out<'a, W> {
    out: &'a mut W,
    written: io::Result<()>,
    stage: Vec<u8>,
}

impl<W: Write> Out<'_, W> {
    fn flush(&mut self) {
        if self.written.is_ok() {
            self.written = self.out.write_all(&self.stage);
        }
        self.stage.clear();
    }
}

impl<W: Write> Sink for Out<'_, W> {
    fn put(&mut self, bytes: &[u8]) {
        if self.stage.len() + bytes.len() > STAGE_BYTES {
            self.flush();
        }
        self.stage.extend_from_slice(bytes);
    }
}
