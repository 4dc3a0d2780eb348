//! Writes a ledger out.
//! Owns: that the archive is there whole or not at all. Must not: write a row that does not verify.

use super::{BLOBS, Error, MANIFEST, ROWS, unwritable};
use crate::durable;
use countersign_record::access::MatterAccess;
use countersign_record::chain::{Finding, Head};
use countersign_record::digest::Digest;
use countersign_record::hold;
use countersign_record::manifest::Manifest;
use countersign_record::row::{self, RowRef};
use countersign_runtime::ports::ledger::{self, Blob, Ledger};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Names that may be tried for the directory that is written before it is renamed.
const NAMES_MAX: u32 = 1_000;

/// Writes the ledger of a matter to `dir`, which must not be there. Gives back the last row that was written.
///
/// # Errors
/// `dir` is there, a file can't be written, or the ledger can't be read or does not verify.
pub async fn export(ledger: &dyn Ledger, access: &MatterAccess, dir: &Path) -> Result<Head, Error> {
    if fs::symlink_metadata(dir).is_ok() {
        return Err(Error::Exists { place: dir.to_path_buf() });
    }
    let report = ledger.verify(access, Vec::new()).await?;
    if let Some(finding) = report.findings.into_iter().next() {
        return Err(ledger::Error::Damaged { finding }.into());
    }
    let head = report.head;
    let partial = Partial::new(dir)?;
    let named = write_rows(ledger, access, &partial.dir, head).await?;
    let blobs = write_blobs(ledger, access, &partial.dir, named).await?;
    let manifest = Manifest::new(access.matter().clone(), head, blobs);
    let bytes =
        manifest.to_bytes().map_err(|_| ledger::Error::Archive { why: "the head is beyond 2^53".into() })?;
    let place = partial.dir.join(MANIFEST);
    durable::write_new(&place, 0o644, &bytes).map_err(unwritable(&place))?;
    durable::sync_dir(&partial.dir).map_err(unwritable(&partial.dir))?;
    partial.finish(dir)?;
    Ok(head)
}

/// A directory that is removed again unless it gets its name.
struct Partial {
    dir: PathBuf,
}

impl Partial {
    fn new(target: &Path) -> Result<Self, Error> {
        let name = target.file_name().ok_or_else(|| Error::Exists { place: target.to_path_buf() })?;
        let parent = durable::parent_of(target);
        for attempt in 0..NAMES_MAX {
            let mut partial = std::ffi::OsString::from(".");
            partial.push(name);
            partial.push(format!(".partial-{}-{attempt}", std::process::id()));
            let dir = parent.join(partial);
            // What is in a ledger is nobody else's business until its owner says so.
            match fs::DirBuilder::new().mode(0o700).create(&dir) {
                Ok(()) => return Ok(Partial { dir }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(unwritable(&dir)(error)),
            }
        }
        Err(unwritable(parent)(io::ErrorKind::AlreadyExists.into()))
    }

    fn finish(self, target: &Path) -> Result<(), Error> {
        durable::rename_new(&self.dir, target).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Error::Exists { place: target.to_path_buf() },
            _ => unwritable(target)(error),
        })
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // After the rename there is nothing of this name; before it, an incomplete archive is of no use.
        drop(fs::remove_dir_all(&self.dir));
    }
}

/// What the walk over the rows leaves behind.
struct Walk {
    out: BufWriter<File>,
    /// The blobs that are there at this row.
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
    dir: &Path,
    head: Head,
) -> Result<BTreeSet<Digest>, Error> {
    let place = dir.join(ROWS);
    let out = BufWriter::new(File::create_new(&place).map_err(unwritable(&place))?);
    let walk = Arc::new(Mutex::new(Walk { out, named: BTreeSet::new(), last: 0, failed: None }));
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
    let mut walk = walk.lock().unwrap_or_else(PoisonError::into_inner);
    match walk.failed.take() {
        Some(Failed::Disk(error)) => return Err(unwritable(&place)(error)),
        Some(Failed::Row(error)) => return Err(error.into()),
        None if walk.last != head.seq => {
            let finding = Finding {
                seq: walk.last + 1,
                damage: countersign_record::chain::Damage::Truncated { to: head.seq },
            };
            return Err(ledger::Error::Damaged { finding }.into());
        }
        None => {}
    }
    walk.out.flush().and_then(|()| walk.out.get_ref().sync_all()).map_err(unwritable(&place))?;
    Ok(std::mem::take(&mut walk.named))
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
}

async fn write_blobs(
    ledger: &dyn Ledger,
    access: &MatterAccess,
    dir: &Path,
    named: BTreeSet<Digest>,
) -> Result<u64, Error> {
    let mut written = 0;
    let mut shelves = BTreeSet::new();
    for digest in named {
        let bytes = match ledger.blob(access, digest).await? {
            Blob::Present(bytes) => bytes,
            // Erased after the head was read: the archive would lack both the bytes and the receipt.
            Blob::Erased { receipt } => return Err(ledger::Error::Erased { digest, receipt }.into()),
        };
        let name = digest.to_string();
        let shelf = dir.join(BLOBS).join(name.get(..2).unwrap_or_default());
        let is_new = shelves.insert(shelf.clone());
        blocking(move || {
            if is_new {
                durable::make_dirs(&shelf, 0o755).map_err(unwritable(&shelf))?;
            }
            let place = shelf.join(&name);
            durable::write_new(&place, 0o644, &bytes).map_err(unwritable(&place))
        })
        .await?;
        written += 1;
    }
    blocking(move || {
        shelves.iter().try_for_each(|shelf| durable::sync_dir(shelf).map_err(unwritable(shelf)))
    })
    .await?;
    Ok(written)
}

/// Does something that waits for the disk, where it keeps no task from running.
async fn blocking(work: impl FnOnce() -> Result<(), Error> + Send + 'static) -> Result<(), Error> {
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(Error::Ledger(ledger::Error::Closed)))
}
