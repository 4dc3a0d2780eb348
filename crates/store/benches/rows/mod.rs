//! What the store's benches share: rows to append and a place to append them.
#![allow(dead_code, reason = "each bench uses a part of it")]

use countersign_record::access::{Access, MatterAccess, Role};
use countersign_record::id::MatterId;
use countersign_record::json::{Json, Object};
use countersign_record::row::{DataClass, Draft, Proof, Sealed, Taint};
use countersign_record::time::Timestamp;
use countersign_record::upcast;
use countersign_runtime::ports::ledger::{Batch, Journal};
use countersign_store::Sqlite;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A directory on the disk that holds the target directory, gone at the end. Not in `/tmp`, which may be memory.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the target directory can be written");
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

pub(crate) fn access() -> MatterAccess {
    let matter = MatterId::try_from("bench").expect("a matter");
    let principal = "bench".try_into().expect("a principal");
    Access::new(principal, BTreeMap::from([(matter.clone(), Role::Admin)])).to(&matter).expect("access")
}

pub(crate) fn open(root: &Path) -> Sqlite {
    Sqlite::open(root, upcast::LEDGER)
}

/// A row whose payload has about `bytes` bytes.
pub(crate) fn draft(stream: usize, number: usize, bytes: usize) -> Draft {
    let filler = "The tenant may recover the reasonable cost of the repair. ";
    let text: String = filler.chars().cycle().take(bytes.saturating_sub(60)).collect();
    let payload = Object::from([
        ("agent", "A3_NliGate".into()),
        ("number", Json::String(number.to_string())),
        ("text", Json::String(text)),
    ]);
    Draft {
        stream: format!("runs/{stream}").as_str().try_into().expect("a stream"),
        kind: "external.handoff".try_into().expect("a kind"),
        version: 1,
        at: Timestamp::try_from("2025-12-10T10:00:00.123456Z").expect("a time"),
        actor: "bench".try_into().expect("a principal"),
        proof: Proof::None,
        cause: None,
        data_class: DataClass::Internal,
        taint: Taint::Unclassified,
        payload: payload.into(),
        blobs: Vec::new(),
    }
}

pub(crate) fn row(stream: usize, number: usize, bytes: usize) -> Sealed {
    draft(stream, number, bytes).seal().expect("a row")
}

pub(crate) fn batch(rows: Vec<Sealed>) -> Batch {
    Batch { rows, expected: BTreeMap::new(), idem_key: None }
}

/// Appends `rows` rows in large batches.
pub(crate) async fn fill(ledger: &Sqlite, access: &MatterAccess, rows: usize, bytes: usize) {
    append(ledger, access, (0..rows).map(|number| draft(number % 64, number, bytes))).await;
}

/// Appends drafts in large batches.
pub(crate) async fn append(ledger: &Sqlite, access: &MatterAccess, drafts: impl Iterator<Item = Draft>) {
    const PIECE: usize = 5_000;
    let mut rows = drafts.map(|draft| draft.seal().expect("a row")).peekable();
    while rows.peek().is_some() {
        let piece = rows.by_ref().take(PIECE).collect();
        ledger.append(access, batch(piece)).await.expect("the append");
    }
}
