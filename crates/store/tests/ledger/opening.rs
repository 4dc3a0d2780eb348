//! Opening a matter: one writer, no traces of a refusal, nothing that belongs to somebody else.

use crate::support::{self, admin, block_on, files, impatient, open};
use countersign_record::access::{MatterAccess, Role};
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::hold;
use countersign_runtime::ports::ledger::{Batch, Journal, Ledger, Query, Select};
use countersign_testkit::drafts::{self, batch, row};
use countersign_testkit::scratch::Scratch;
use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Barrier;

/// Writers that find nothing and make the directory at the same time: one makes the ledger, the others wait for it.
#[test]
fn writers_that_come_at_once_make_one_ledger() {
    for _ in 0..20 {
        let scratch = Scratch::new();
        let root = scratch.path().join("data");
        let ledgers = [open(&root), open(&root), open(&root), open(&root)];
        let start = Barrier::new(ledgers.len());
        let answers = std::thread::scope(|scope| {
            let append = |ledger| {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    block_on(Journal::append(ledger, &admin(), batch(vec![row("run:1", "a")])))
                })
            };
            let threads: Vec<_> = ledgers.iter().map(append).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        let places: BTreeSet<_> = answers.into_iter().map(|answer| answer.unwrap().rows[0].seq).collect();
        assert_eq!(places, BTreeSet::from([1, 2, 3, 4]));
        // Whoever is refused leaves the lock of the writer alone.
        let held = support::held(&root);
        let late = block_on(impatient(&root).append(&admin(), batch(vec![row("run:1", "a")])));
        assert_eq!(late.map_err(|error| error.code()), Err(Code::LedgerLocked));
        assert!(held.is_ours(&root.join("matters/m/ledger.lock")));
    }
}

#[test]
fn a_ledger_that_can_not_be_made_leaves_no_lock() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.path().join("matters/m/ledger.sqlite-new")).unwrap();
    fs::write(scratch.path().join("matters/m/ledger.sqlite-new/in the way"), "").unwrap();
    let before = files(scratch.path());
    let refused = block_on(open(scratch.path()).append(&admin(), batch(vec![row("run:1", "a")])));
    assert!(refused.is_err());
    assert_eq!(files(scratch.path()), before);
}

/// Every way to the matter is refused as corrupt.
fn refused(what: &str, root: &Path, access: &MatterAccess) {
    block_on(async {
        let ledger = open(root);
        let query = Query { select: Select::All, after: 0, up_to: u64::MAX, limit: 10 };
        let answers = [
            ledger.head(access).await.map(drop),
            ledger.read(access, query).await.map(drop),
            ledger.scan(access, 0, Box::new(|_, _| ControlFlow::Continue(()))).await,
            ledger.verify(access, Vec::new()).await.map(drop),
            ledger.watch(access).await.map(drop),
            ledger.append(access, batch(vec![row("run:1", "b")])).await.map(drop),
        ];
        for answer in answers {
            assert_eq!(answer.map_err(|error| error.code()), Err(Code::LedgerCorrupt), "{what}");
        }
    });
}

#[test]
fn a_ledger_under_another_matters_name_is_refused() {
    let scratch = Scratch::new();
    let (of_a, of_b) = (drafts::access("a", Role::Admin), drafts::access("b", Role::Admin));
    let (a, b) = (scratch.path().join("matters/a"), scratch.path().join("matters/b"));
    block_on(async { open(scratch.path()).append(&of_a, batch(vec![row("run:1", "a"); 30])).await }).unwrap();
    let before = files(&a);
    fs::create_dir(&b).unwrap();
    fs::copy(a.join("ledger.sqlite"), b.join("ledger.sqlite")).unwrap();
    refused("a copy", scratch.path(), &of_b);
    fs::remove_dir_all(&b).unwrap();
    symlink(&a, &b).unwrap();
    refused("a link to the directory", scratch.path(), &of_b);
    fs::remove_file(&b).unwrap();
    fs::create_dir(&b).unwrap();
    for target in [a.join("ledger.sqlite"), a.join("nothing")] {
        symlink(target, b.join("ledger.sqlite")).unwrap();
        refused("a link to the database", scratch.path(), &of_b);
        fs::remove_file(b.join("ledger.sqlite")).unwrap();
    }
    let after = files(&a);
    assert_eq!(after.get(Path::new("ledger.sqlite")), before.get(Path::new("ledger.sqlite")));
    block_on(async {
        let ledger = open(scratch.path());
        assert!(ledger.verify(&of_a, Vec::new()).await.unwrap().is_sound());
        ledger.append(&of_a, batch(vec![row("run:1", "a")])).await.unwrap();
    });
}

/// Links above the data directory are the owner's own.
#[test]
fn a_linked_data_directory_is_used() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path().join("real")).unwrap();
    let linked = scratch.path().join("linked");
    symlink("real", &linked).unwrap();
    block_on(async {
        let ledger = open(&linked);
        ledger.append(&admin(), batch(vec![row("run:1", "a")])).await.unwrap();
        assert!(ledger.verify(&admin(), Vec::new()).await.unwrap().is_sound());
    });
}

#[test]
fn a_lock_that_is_no_regular_file_is_refused() {
    let scratch = Scratch::new();
    let target = scratch.path().join("target");
    fs::write(&target, "somebody's own").unwrap();
    for is_new in [true, false] {
        let root = scratch.path().join(format!("data-{is_new}"));
        let lock = root.join("matters/m/ledger.lock");
        if is_new {
            fs::create_dir_all(root.join("matters/m")).unwrap();
        } else {
            block_on(async { open(&root).append(&admin(), batch(vec![row("run:1", "a")])).await }).unwrap();
            fs::remove_file(&lock).unwrap();
        }
        let refused = |what: &str| {
            let refused =
                block_on(async { open(&root).append(&admin(), batch(vec![row("run:1", "b")])).await });
            assert_eq!(refused.map_err(|error| error.code()), Err(Code::LedgerCorrupt), "{what}");
        };
        symlink(&target, &lock).unwrap();
        refused("a link to a file");
        assert_eq!(fs::read(&target).unwrap(), b"somebody's own");
        fs::remove_file(&lock).unwrap();
        symlink(scratch.path().join("nothing"), &lock).unwrap();
        refused("a link to nothing");
        assert!(!scratch.path().join("nothing").exists());
        fs::remove_file(&lock).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &lock, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        refused("a pipe");
        fs::remove_file(&lock).unwrap();
        fs::create_dir(&lock).unwrap();
        refused("a directory");
    }
}

#[test]
fn the_files_are_their_owners_alone() {
    let scratch = Scratch::new();
    let dir = scratch.path().join("matters/m");
    fs::create_dir_all(&dir).unwrap();
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
    block_on(async {
        let ledger = open(scratch.path());
        ledger.append(&admin(), batch(vec![row("run:1", "a")])).await.unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let modes: Vec<_> = files(&dir).keys().map(|name| (name.clone(), mode(&dir.join(name)))).collect();
        let expected = ["ledger.lock", "ledger.sqlite", "ledger.sqlite-shm", "ledger.sqlite-wal"];
        assert_eq!(modes, expected.map(|name| (name.into(), 0o600)));
    });
}

#[test]
fn a_refusal_makes_no_matter() {
    let scratch = Scratch::new();
    let digest = Digest::of(b"never seen");
    let receipt = || drafts::draft(hold::STREAM, hold::ERASED, hold::erased(&digest, "")).seal().unwrap();
    let late = || Batch { expected: [(drafts::stream("run:1"), 3)].into(), ..batch(vec![row("run:1", "a")]) };
    let is_empty = |what: &str| assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0, "{what}");
    block_on(async {
        let ledger = open(scratch.path());
        for _ in 0..2 {
            let erased = ledger.erase(&admin(), digest, receipt()).await;
            assert_eq!(erased.map_err(|error| error.code()), Err(Code::BlobUnknown));
            is_empty("an erasure");
            let appended = ledger.append(&admin(), late()).await;
            assert_eq!(appended.map_err(|error| error.code()), Err(Code::LedgerConflict));
            is_empty("a conflict");
        }
        // In company: whoever is refused takes nothing from whoever is not.
        let access = admin();
        let sound = batch(vec![row("run:1", "a")]);
        let (refused, sound) = tokio::join!(ledger.append(&access, late()), ledger.append(&access, sound));
        assert!(refused.is_err());
        assert_eq!(sound.unwrap().rows[0].seq, 1);
        assert!(ledger.append(&admin(), late()).await.is_err());
        assert!(ledger.erase(&admin(), digest, receipt()).await.is_err());
        assert_eq!(ledger.head(&admin()).await.unwrap().seq, 1);
    });
    assert_eq!(block_on(async { open(scratch.path()).head(&admin()).await }).unwrap().seq, 1);
}

/// Taking back a directory that another matter is about to use does not fail the other.
#[test]
fn a_refusal_in_one_matter_does_not_fail_another() {
    let scratch = Scratch::new();
    let late = || Batch { expected: [(drafts::stream("run:1"), 3)].into(), ..batch(vec![row("run:1", "a")]) };
    block_on(async {
        let ledger = open(scratch.path());
        let (of_a, of_b) = (drafts::access("a", Role::Admin), drafts::access("b", Role::Admin));
        for _ in 0..50 {
            let (a, b) = tokio::join!(ledger.append(&of_a, late()), ledger.append(&of_b, late()));
            for answer in [a, b] {
                assert_eq!(answer.map_err(|error| error.code()), Err(Code::LedgerConflict));
            }
        }
    });
    // Who made `matters` may have gone before the other, which does not know that it could remove it.
    let left = fs::read_dir(scratch.path().join("matters")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "no matter is left");
}
