//! Two processes on one data directory: one writes, the other reads, follows and takes over.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod support;

use countersign_record::code::Code;
use countersign_runtime::ports::ledger::{Error, Ledger};
use countersign_testkit::drafts::{batch, matter, row};
use countersign_testkit::scratch::Scratch;
use std::io::{BufRead, Write};
use std::path::Path;
use support::{Another, admin, asked, block_on, open, say, scanned};

/// The other process: appends one row for each line it is told, and keeps the ledger open until the end of input.
#[test]
fn child() {
    let Some(arguments) = asked() else { return };
    block_on(async {
        let ledger = open(Path::new(&arguments[0]));
        for line in std::io::stdin().lock().lines() {
            let appended = ledger.append(&admin(), batch(vec![row("run:1", &line.unwrap())])).await;
            say(&appended.map_or_else(|error| error.to_string(), |appended| appended.rows[0].seq.to_string()));
        }
    });
}

fn writer(scratch: &Scratch) -> Another {
    Another::start("child", &[scratch.path().to_str().unwrap()])
}

fn tell(child: &mut Another, text: &str) -> String {
    writeln!(child.stdin.as_mut().unwrap(), "{text}").unwrap();
    child.line().unwrap()
}

#[test]
fn one_process_writes_and_the_other_reads() {
    let scratch = Scratch::new();
    let mut child = writer(&scratch);
    assert_eq!(tell(&mut child, "first"), "1");
    block_on(async {
        let ledger = open(scratch.path());
        let locked = ledger.append(&admin(), batch(vec![row("run:1", "mine")])).await;
        assert_eq!(locked, Err(Error::Locked { matter: matter("m"), pid: Some(child.child.id()) }));
        assert_eq!(tell(&mut child, "second"), "2");
        assert_eq!(scanned(&ledger, &admin()).await.len(), 2, "reading goes on");
        assert!(ledger.verify(&admin(), Vec::new()).await.unwrap().is_sound());
        child.finish();
        let appended = ledger.append(&admin(), batch(vec![row("run:1", "mine")])).await.unwrap();
        assert_eq!(appended.rows[0].seq, 3, "the lock is free when its holder has ended");
        assert!(ledger.verify(&admin(), Vec::new()).await.unwrap().is_sound());
    });
}

#[test]
fn a_killed_process_leaves_no_lock() {
    let scratch = Scratch::new();
    let mut child = writer(&scratch);
    assert_eq!(tell(&mut child, "first"), "1");
    child.child.kill().unwrap();
    child.child.wait().unwrap();
    block_on(async {
        let appended =
            open(scratch.path()).append(&admin(), batch(vec![row("run:1", "mine")])).await.unwrap();
        assert_eq!(appended.rows[0].seq, 2);
    });
}

#[test]
fn a_watcher_is_woken_by_another_process() {
    let scratch = Scratch::new();
    let mut child = writer(&scratch);
    assert_eq!(tell(&mut child, "first"), "1");
    block_on(async {
        let ledger = open(scratch.path());
        let mut watcher = ledger.watch(&admin()).await.unwrap();
        assert_eq!(*watcher.borrow_and_update(), 1);
        for seq in 2..30_u64 {
            assert_eq!(tell(&mut child, "next"), seq.to_string());
            watcher.wait_for(|last| *last == seq).await.unwrap();
        }
        // The last watcher's end ends the follower; a later one starts another.
        drop(watcher);
        let mut watcher = ledger.watch(&admin()).await.unwrap();
        assert_eq!(*watcher.borrow_and_update(), 29);
        assert_eq!(tell(&mut child, "next"), "30");
        watcher.wait_for(|last| *last == 30).await.unwrap();
        // This process may take over, and its watchers go on.
        child.finish();
        ledger.append(&admin(), batch(vec![row("run:1", "mine")])).await.unwrap();
        watcher.wait_for(|last| *last == 31).await.unwrap();
    });
}

/// Two stores in one process are two writers as well.
#[test]
fn two_stores_in_one_process_are_told_apart() {
    let scratch = Scratch::new();
    block_on(async {
        let (first, second) = (open(scratch.path()), open(scratch.path()));
        first.append(&admin(), batch(vec![row("run:1", "a")])).await.unwrap();
        let locked = second.append(&admin(), batch(vec![row("run:1", "b")])).await.unwrap_err();
        assert_eq!(locked.code(), Code::LedgerLocked);
        drop(first);
        second.append(&admin(), batch(vec![row("run:1", "b")])).await.unwrap();
    });
}
