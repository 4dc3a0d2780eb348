//! Writes a ledger out.
//! Owns: that the archive is there whole or not at all. Must not: write a row that does not verify, or wait for the
//! disk where tasks run.

use super::partial::Partial;
use super::{Error, MANIFEST, ROWS, blocking, unwritable};
use countersign_durable as durable;
use countersign_record::access::MatterAccess;
use countersign_record::chain::{Damage, Finding, Head};
use countersign_record::digest::Digest;
use countersign_record::hold;
use countersign_record::manifest::Manifest;
use countersign_record::row::{self, RowRef};
use countersign_runtime::ports::ledger::{self, Blob, Ledger};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Writes the ledger of a matter to `dir`, which must not be there. Gives back the last row that was written.
///
/// # Errors
/// `dir` is there, a file can't be written, or the ledger can't be read or does not verify.
pub async fn export(ledger: &dyn Ledger, access: &MatterAccess, dir: &Path) -> Result<Head, Error> {
    let target = dir.to_path_buf();
    blocking(move || match fs::symlink_metadata(&target) {
        Ok(_) => Err(Error::Exists { place: target }),
        Err(_) => Ok(()),
    })
    .await?;
    let report = ledger.verify(access, Vec::new()).await?;
    // What is wrong beside the rows is not exported, and an export is how it is mended.
    if let Some(finding) = report.findings.into_iter().find(|finding| !finding.damage.is_beside_the_rows()) {
        return Err(ledger::Error::Damaged { finding }.into());
    }
    let head = report.head;
    let target = dir.to_path_buf();
    // Whoever writes into the directory shares it, so that it is not removed under a write that nobody awaits.
    let partial = blocking(move || Partial::new(&target).map(Arc::new)).await?;
    let written = write(ledger, access, &partial, head).await;
    // The last one to let go removes what got no name, which waits for the disk too.
    blocking(move || {
        drop(partial);
        Ok(())
    })
    .await?;
    written.map(|()| head)
}

async fn write(
    ledger: &dyn Ledger,
    access: &MatterAccess,
    partial: &Arc<Partial>,
    head: Head,
) -> Result<(), Error> {
    let named = write_rows(ledger, access, partial, head).await?;
    let written = write_blobs(ledger, access, partial, named).await?;
    let manifest = Manifest::new(access.matter().clone(), head, written.blobs);
    let bytes =
        manifest.to_bytes().map_err(|_| ledger::Error::Archive { why: "the head is beyond 2^53".into() })?;
    let partial = Arc::clone(partial);
    blocking(move || {
        let place = partial.file(MANIFEST);
        durable::write_new(&place, 0o644, &bytes).map_err(unwritable(&place))?;
        partial.finish(&written.shelves)
    })
    .await
}

/// What the walk over the rows leaves behind.
struct Walk {
    out: BufWriter<File>,
    /// The blobs that are there at this row: named, and not erased since.
    named: BTreeSet<Digest>,
    last: u64,
    failed: Option<Failed>,
}

enum Failed {
    Disk(io::Error),
    Row(ledger::Error),
}

async fn write_rows(
    ledger: &dyn Ledger,
    access: &MatterAccess,
    partial: &Arc<Partial>,
    head: Head,
) -> Result<BTreeSet<Digest>, Error> {
    let place = partial.file(ROWS);
    let create = place.clone();
    let file = blocking(move || File::create_new(&create).map_err(unwritable(&create))).await?;
    let walk = Walk { out: BufWriter::new(file), named: BTreeSet::new(), last: 0, failed: None };
    let walk = Arc::new(Mutex::new(walk));
    let seen = Arc::clone(&walk);
    let visitor = move |seq: u64, stored: Result<RowRef<'_>, String>| {
        let mut walk = seen.lock().unwrap_or_else(PoisonError::into_inner);
        match walk.row(seq, stored, head) {
            Ok(flow) => flow,
            Err(failed) => {
                walk.failed = Some(failed);
                ControlFlow::Break(())
            }
        }
    };
    ledger.scan(access, 0, Box::new(visitor)).await?;
    blocking(move || walk.lock().unwrap_or_else(PoisonError::into_inner).end(&place, head)).await
}

impl Walk {
    fn row(
        &mut self,
        seq: u64,
        stored: Result<RowRef<'_>, String>,
        head: Head,
    ) -> Result<ControlFlow<()>, Failed> {
        if seq > head.seq {
            return Ok(ControlFlow::Break(()));
        }
        let corrupt = |why: String| Failed::Row(ledger::Error::RowCorrupt { seq, why });
        let row = stored.map_err(corrupt)?.to_row().map_err(|why| corrupt(why.to_string()))?;
        self.named.extend(row.blobs.iter().map(|blob| blob.digest));
        if let Some(digest) = hold::erased_digest(row.kind.as_str(), &row.payload) {
            self.named.remove(&digest);
        }
        let mut line = row::line(&row).map_err(|why| corrupt(why.to_string()))?;
        line.push(b'\n');
        self.out.write_all(&line).map_err(Failed::Disk)?;
        self.last = seq;
        Ok(if seq == head.seq { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// Every row up to the head was seen, and is durable.
    fn end(&mut self, place: &Path, head: Head) -> Result<BTreeSet<Digest>, Error> {
        match self.failed.take() {
            Some(Failed::Disk(error)) => return Err(unwritable(place)(error)),
            Some(Failed::Row(error)) => return Err(error.into()),
            None if self.last != head.seq => {
                let finding = Finding { seq: self.last + 1, damage: Damage::Truncated { to: head.seq } };
                return Err(ledger::Error::Damaged { finding }.into());
            }
            None => {}
        }
        self.out.flush().and_then(|()| self.out.get_ref().sync_all()).map_err(unwritable(place))?;
        Ok(std::mem::take(&mut self.named))
    }
}

/// What was written of the blobs.
struct Written {
    blobs: u64,
    shelves: BTreeSet<PathBuf>,
}

/// Writes the blobs. What a receipt speaks of is left out even if somebody has put it back: `verify` names it, and an
/// import would refuse it.
async fn write_blobs(
    ledger: &dyn Ledger,
    access: &MatterAccess,
    partial: &Arc<Partial>,
    named: BTreeSet<Digest>,
) -> Result<Written, Error> {
    let mut written = Written { blobs: 0, shelves: BTreeSet::new() };
    for digest in named {
        let bytes = match ledger.blob(access, digest).await? {
            Blob::Present(bytes) => bytes,
            // Erased after the head was read: the archive would lack both the bytes and the receipt.
            Blob::Erased { receipt } => return Err(ledger::Error::Erased { digest, receipt }.into()),
        };
        let partial = Arc::clone(partial);
        let shelf = blocking(move || {
            let name = digest.to_string();
            let shelf = partial.make_shelf(name.get(..2).unwrap_or_default())?;
            let place = shelf.join(&name);
            durable::write_new(&place, 0o644, &bytes).map_err(unwritable(&place))?;
            Ok(shelf)
        })
        .await?;
        written.shelves.insert(shelf);
        written.blobs += 1;
    }
    Ok(written)
}
