//! The work of a run, as files.
//! Owns: writing every version where a user finds it, whole or not at all. Must not: hold the only copy; the ledger does.

use crate::cli::Global;
use crate::failure::Failure;
use crate::office::Rooms;
use countersign_durable::{make_dirs, remove, replace, write_new};
use countersign_record::id::RunId;
use countersign_runtime::work::Work;
use countersign_work::artifact;
use std::path::{Path, PathBuf};

/// The folder of a run's work.
pub(crate) fn folder(global: &Global, run: &RunId) -> Result<PathBuf, Failure> {
    Ok(Rooms::of(global)?.work().join(run.as_str()))
}

/// Writes the heads of all artifacts, and beside them every version.
pub(crate) fn put(global: &Global, run: &RunId, work: &Work) -> Result<(), Failure> {
    let folder = folder(global, run)?;
    for one in &work.task().artifacts {
        let versions =
            work.look(|desk| artifact::versions(desk, &one.id).collect::<Vec<_>>()).unwrap_or_default();
        let head = work.look(|desk| artifact::head(desk, &one.id)).flatten();
        for version in versions {
            let Some(bytes) = work.content(&version.content) else { continue };
            let path = Path::new(&one.path);
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            write(&folder.join("versions").join(format!("v{}-{name}", version.number)), &bytes)?;
            if head.as_ref().is_some_and(|head| head.id == version.id) {
                write(&folder.join(path), &bytes)?;
            }
        }
    }
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::file(&path.to_string_lossy(), &error);
    if let Some(parent) = path.parent() {
        make_dirs(parent, 0o700).map_err(failed)?;
    }
    // Beside it first, so that nobody ever finds a half.
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    let beside = PathBuf::from(beside);
    match remove(&beside) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    write_new(&beside, 0o600, bytes).and_then(|()| replace(&beside, path)).map_err(failed)
}
