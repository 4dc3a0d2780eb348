//! An export while the ledger changes under it, and one that is cut off.
//! Owns: what is in the archive then, and what is left beside it. Must not: wait for anything but what it is told.

use crate::support::meanwhile::{Before, Meanwhile};
use crate::support::{admin, block_on, database, files, open};
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::hold;
use countersign_record::json::Json;
use countersign_record::row::Sealed;
use countersign_runtime::ports::ledger::{Blob, Journal, Ledger};
use countersign_store::archive;
use countersign_testkit::another::{Another, asked, say};
use countersign_testkit::drafts::{batch, blob, draft, row};
use countersign_testkit::scratch::Scratch;
use rustix::fs::FlockOperation;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

fn naming(bytes: &[u8]) -> Sealed {
    let mut draft = draft("run:1", "source.read", Json::Null);
    draft.blobs = vec![blob(bytes)];
    draft.seal().unwrap()
}

async fn append(ledger: &dyn Ledger, row: Sealed) {
    ledger.append(&admin(), batch(vec![row])).await.unwrap();
}

async fn erase(ledger: &dyn Ledger, bytes: &[u8]) {
    let digest = Digest::of(bytes);
    let receipt = draft(hold::STREAM, hold::ERASED, hold::erased(&digest, "")).seal().unwrap();
    ledger.erase(&admin(), digest, receipt).await.unwrap();
}

/// A ledger with a blob that stays and one that was erased.
async fn write(root: &Path) {
    let ledger = open(root);
    for bytes in [b"kept".as_slice(), b"erased"] {
        append(&ledger, naming(bytes)).await;
    }
    erase(&ledger, b"erased").await;
}

/// Where an archive of `root` keeps a blob.
fn place(archive: &Path, bytes: &[u8]) -> PathBuf {
    let name = Digest::of(bytes).to_string();
    archive.join("blobs").join(&name[..2]).join(name)
}

/// What is in a directory.
fn names(dir: &Path) -> BTreeSet<String> {
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Whatever is appended after the head was read, the archive is that of the head.
#[test]
fn an_archive_shows_one_moment() {
    for before in [Before::Scan, Before::Blob] {
        let scratch = Scratch::new();
        let [data, first, second, copy] =
            ["data", "first", "second", "copy"].map(|name| scratch.path().join(name));
        block_on(async {
            write(&data).await;
            let ledger = open(&data);
            let head = archive::export(&ledger, &admin(), &first).await.unwrap();
            let meanwhile = Meanwhile::new(&ledger, before, async {
                append(&ledger, row("run:1", "later")).await;
                // An erased blob comes back: at the head it was erased.
                append(&ledger, naming(b"erased")).await;
                append(&ledger, naming(b"new")).await;
            });
            assert_eq!(archive::export(&meanwhile, &admin(), &second).await.unwrap(), head);
            assert_eq!(ledger.head(&admin()).await.unwrap().seq, 6);
            assert_eq!(files(&second), files(&first), "{before:?}");
            assert_eq!(archive::import(&open(&copy), &admin(), &second).await.unwrap(), head);
        });
    }
}

/// The bytes are gone and the archive would not say why.
#[test]
fn a_blob_that_is_erased_meanwhile_ends_the_export() {
    let scratch = Scratch::new();
    let (data, target) = (scratch.path().join("data"), scratch.path().join("target"));
    block_on(async {
        write(&data).await;
        let ledger = open(&data);
        let meanwhile = Meanwhile::new(&ledger, Before::Blob, erase(&ledger, b"kept"));
        let refused = archive::export(&meanwhile, &admin(), &target).await.unwrap_err();
        assert_eq!(refused.code(), Code::BlobErased, "{refused}");
        assert_eq!(names(scratch.path()), ["data".into()].into());
        archive::export(&ledger, &admin(), &target).await.unwrap();
        assert!(!place(&target, b"kept").exists() && !target.join("blobs").exists());
    });
}

/// What was put back behind its receipt does not leave with an export.
#[test]
fn a_blob_that_is_back_is_not_exported() {
    let scratch = Scratch::new();
    let (data, target) = (scratch.path().join("data"), scratch.path().join("target"));
    block_on(write(&data));
    let connection = rusqlite::Connection::open(database(&data)).unwrap();
    let changed = "UPDATE blobs SET bytes = CAST('erased' AS BLOB), receipt = NULL WHERE receipt IS NOT NULL";
    assert_eq!(connection.execute(changed, []).unwrap(), 1);
    connection.close().unwrap();
    block_on(async {
        let ledger = open(&data);
        let found = ledger.blob(&admin(), Digest::of(b"erased")).await.unwrap();
        assert_eq!(found, Blob::Present(b"erased".to_vec()));
        archive::export(&ledger, &admin(), &target).await.unwrap();
    });
    assert!(place(&target, b"kept").exists() && !place(&target, b"erased").exists());
}

/// The other process: its export stands still in the middle until it is killed.
#[test]
fn child() {
    let Some(arguments) = asked() else { return };
    let [data, target] = arguments.as_slice() else { panic!("data and target") };
    block_on(async {
        let ledger = open(Path::new(data));
        let meanwhile = Meanwhile::new(&ledger, Before::Blob, async {
            say("in the middle");
            std::future::pending().await
        });
        archive::export(&meanwhile, &admin(), Path::new(target)).await.unwrap();
    });
}

#[test]
fn what_a_killed_export_left_is_cleared_away() {
    let scratch = Scratch::new();
    let (data, target) = (scratch.path().join("data"), scratch.path().join("target"));
    block_on(write(&data));
    let export = || block_on(async { archive::export(&open(&data), &admin(), &target).await.unwrap() });
    let mut child = Another::start("exporting::child", &[data.to_str().unwrap(), target.to_str().unwrap()]);
    assert_eq!(child.line().unwrap(), "in the middle");
    let partial = format!(".target.partial-{}-0", child.child.id());
    let working = files(&scratch.path().join(&partial));
    assert!(working.keys().any(|path| path.ends_with("rows.jsonl")));
    // Somebody works on it: another export to the same place leaves it alone.
    export();
    assert_eq!(files(&scratch.path().join(&partial)), working);
    assert_eq!(names(scratch.path()), [&partial, "data", "target"].map(str::to_owned).into());
    child.child.kill().unwrap();
    child.child.wait().unwrap();
    assert!(scratch.path().join(&partial).exists(), "nobody is left to remove it");
    fs::remove_dir_all(&target).unwrap();
    export();
    assert_eq!(names(scratch.path()), ["data", "target"].map(str::to_owned).into());
}

#[test]
fn only_what_an_export_left_is_cleared_away() {
    let scratch = Scratch::new();
    let (data, target) = (scratch.path().join("data"), scratch.path().join("target"));
    block_on(write(&data));
    let at = |name: &str| scratch.path().join(name);
    let full = |name: &str| {
        fs::create_dir_all(at(name).join("blobs/ab")).unwrap();
        fs::write(at(name).join("blobs/ab/file"), "a").unwrap();
    };
    for name in ["elsewhere", ".target.partial-1-0", ".target.partial-1-1", ".target.partial-7-0"] {
        full(name);
    }
    for name in [".target.partial-notes", ".target.partial-1-0-0", ".other.partial-1-0", "target.partial-1-0"]
    {
        full(name);
    }
    let held = File::open(at(".target.partial-7-0")).unwrap();
    rustix::fs::flock(&held, FlockOperation::LockExclusive).unwrap();
    std::os::unix::fs::symlink(at("elsewhere"), at(".target.partial-2-0")).unwrap();
    fs::write(at(".target.partial-3-0"), "a file").unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        at(".target.partial-4-0"),
        rustix::fs::FileType::Fifo,
        0o600.into(),
        0,
    )
    .unwrap();
    let mut expected = names(scratch.path());
    block_on(async { archive::export(&open(&data), &admin(), &target).await.unwrap() });
    for gone in [".target.partial-1-0", ".target.partial-1-1"] {
        assert!(expected.remove(gone));
    }
    expected.insert("target".into());
    assert_eq!(names(scratch.path()), expected);
    for whole in ["elsewhere", ".target.partial-7-0"] {
        assert_eq!(fs::read_to_string(at(whole).join("blobs/ab/file")).unwrap(), "a");
    }
    drop(held);
}

/// Whoever stops waiting for an export leaves nothing behind.
#[test]
fn an_export_that_nobody_awaits_leaves_nothing() {
    let scratch = Scratch::new();
    let (data, target) = (scratch.path().join("data"), scratch.path().join("target"));
    block_on(async {
        write(&data).await;
        for before in [Before::Scan, Before::Blob] {
            let ledger = open(&data);
            let (begun, has_begun) = tokio::sync::oneshot::channel();
            let meanwhile = Meanwhile::new(&ledger, before, async {
                begun.send(()).unwrap();
                std::future::pending().await
            });
            let admin = admin();
            tokio::select! {
                exported = archive::export(&meanwhile, &admin, &target) => panic!("{exported:?}"),
                begun = has_begun => begun.unwrap(),
            }
            assert_eq!(names(scratch.path()), ["data".into()].into());
        }
    });
}
