//! `memory snapshot`: the vectors of Layer E, here and in NumPy.
//! Owns: which file is read how, by its name. Must not: overwrite anything.

use crate::cli::Global;
use crate::cli::memory::Snapshot;
use crate::failure::{Exit, Failure};
use crate::output;
use countersign_memory::snapshot::{self, Table, npz};
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use serde::Serialize;
use std::path::Path;

/// How many ids are shown.
const IDS_MAX: usize = 5;

#[derive(Serialize)]
struct Shown {
    count: usize,
    dimension: usize,
    sha256: Digest,
    first_ids: Vec<String>,
}

#[derive(Serialize)]
struct Exported<'a> {
    path: &'a str,
    count: usize,
    dimension: usize,
}

pub(super) fn run(global: &Global, command: &Snapshot) -> Result<Exit, Failure> {
    match command {
        Snapshot::Show { file } => show(global, file)?,
        Snapshot::Export { file, to } => export(global, file, to)?,
        Snapshot::Import { file, to } => import(global, file, to)?,
    }
    Ok(Exit::Success)
}

fn show(global: &Global, file: &Path) -> Result<(), Failure> {
    let opened = snapshot::Snapshot::open(file)?;
    print(global, shown(&opened.labels()?.ids, opened.dimension(), opened.digest()))
}

fn shown(ids: &[String], dimension: usize, sha256: Digest) -> Shown {
    let first_ids = ids.iter().take(IDS_MAX).cloned().collect();
    Shown { count: ids.len(), dimension, sha256, first_ids }
}

fn print(global: &Global, shown: Shown) -> Result<(), Failure> {
    if global.json {
        return output::json(&shown);
    }
    let rows = output::count(shown.count as u64, "row");
    output::line(&format!("{rows} of dimension {}", shown.dimension))?;
    output::line(&format!("SHA-256 {}", shown.sha256))?;
    shown.first_ids.iter().try_for_each(|id| output::line(&format!("  {}", output::plain(id))))?;
    match shown.count - shown.first_ids.len() {
        0 => Ok(()),
        more => output::line(&format!("  and {more} more")),
    }
}

/// What kind of file a name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Pickle,
    Npz,
    Npy,
}

fn kind(path: &Path, known: &[Kind], needed: &str) -> Result<Kind, Failure> {
    let kind = match path.extension().and_then(|extension| extension.to_str()) {
        Some("pkl") => Some(Kind::Pickle),
        Some("npz") => Some(Kind::Npz),
        Some("npy") => Some(Kind::Npy),
        Some(_) | None => None,
    };
    kind.filter(|kind| known.contains(kind)).ok_or_else(|| {
        Failure::new(
            Code::UsageInvalid,
            format!("{}: a name that ends in {needed} is needed", path.display()),
        )
    })
}

fn export(global: &Global, file: &Path, to: &Path) -> Result<(), Failure> {
    let kind = kind(to, &[Kind::Npz, Kind::Npy], ".npz or .npy")?;
    let opened = snapshot::Snapshot::open(file)?;
    snapshot::publish_new(to, |out| match kind {
        Kind::Npy => npz::export_matrix(&opened, out),
        Kind::Npz | Kind::Pickle => npz::export(&opened, out),
    })?;
    let (path, count, dimension) = (to.display().to_string(), opened.count(), opened.dimension());
    if global.json {
        return output::json(&Exported { path: &path, count, dimension });
    }
    let rows = output::count(count as u64, "row");
    output::line(&format!("{rows} of dimension {dimension} in {}", output::plain(&path)))
}

fn import(global: &Global, file: &Path, to: &Path) -> Result<(), Failure> {
    kind(to, &[Kind::Pickle], ".pkl")?;
    let write = |table: &Table<'_>| {
        let sha256 = snapshot::publish_new(to, |out| snapshot::write(table, out))?;
        print(global, shown(table.ids, table.dimension, sha256))
    };
    match kind(file, &[Kind::Pickle, Kind::Npz, Kind::Npy], ".pkl, .npz or .npy")? {
        Kind::Pickle => {
            let opened = snapshot::Snapshot::open(file)?;
            let labels = opened.labels()?;
            let (vectors, dimension) = (opened.vectors(), opened.dimension());
            write(&Table { ids: &labels.ids, meta: &labels.meta, vectors, dimension })
        }
        Kind::Npz | Kind::Npy => write(&npz::import(file)?.table()),
    }
}
