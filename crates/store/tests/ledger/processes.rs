//! Two processes on one data directory: one writes, the other reads, follows and takes over; or they race.
//! Owns: what each of them is told. Must not: depend on who is faster.

use crate::support::{self, admin, block_on, files, impatient, open, scanned};
use countersign_record::code::Code;
use countersign_runtime::ports::ledger::{Error, Journal, Ledger};
use countersign_testkit::another::{Another, asked, say};
use countersign_testkit::drafts::{batch, matter, row, stream};
use countersign_testkit::random::{Random, Seed};
use countersign_testkit::scratch::Scratch;
use std::collections::BTreeSet;
use std::io::{BufRead, Write};
use std::path::Path;

/// What makes the other process hold the lock from then on, as if it wrote without a pause.
const HOLD: &str = "hold";

/// What makes it write without a pause.
const BUSY: &str = "busy";

/// The other process: appends one row for each line it is told.
#[test]
fn child() {
    let Some(arguments) = asked() else { return };
    block_on(async {
        let root = Path::new(&arguments[0]);
        let ledger = open(root);
        let mut held = None;
        for line in std::io::stdin().lock().lines() {
            let line = line.unwrap();
            if line == BUSY {
                let access = admin();
                for number in 0_u64.. {
                    if number == 1 {
                        say("busy");
                    }
                    ledger.append(&access, batch(vec![row("run:1", "theirs")])).await.unwrap();
                }
            }
            if line == HOLD {
                held = Some(support::held(root));
                say("held");
                continue;
            }
            let appended = ledger.append(&admin(), batch(vec![row("run:1", &line)])).await;
            say(&appended.map_or_else(|error| error.to_string(), |appended| appended.rows[0].seq.to_string()));
        }
        drop(held);
    });
}

fn writer(scratch: &Scratch) -> Another {
    Another::start("processes::child", &[scratch.path().to_str().unwrap()])
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
        assert_eq!(tell(&mut child, HOLD), "held");
        let ledger = impatient(scratch.path());
        let locked = ledger.append(&admin(), batch(vec![row("run:1", "mine")])).await;
        assert_eq!(locked, Err(Error::Locked { matter: matter("m"), pid: Some(child.child.id()) }));
        assert_eq!(scanned(&ledger, &admin()).await.len(), 1, "reading goes on");
        assert!(ledger.verify(&admin(), Vec::new()).await.unwrap().is_sound());
        child.finish();
        let appended = ledger.append(&admin(), batch(vec![row("run:1", "mine")])).await.unwrap();
        assert_eq!(appended.rows[0].seq, 2, "the lock is free when its holder has ended");
        assert!(ledger.verify(&admin(), Vec::new()).await.unwrap().is_sound());
    });
}

/// Nobody keeps a matter that they do not write to: two processes that both have it open append in turn.
#[test]
fn two_processes_write_in_turn() {
    let scratch = Scratch::new();
    let mut child = writer(&scratch);
    block_on(async {
        let ledger = open(scratch.path());
        for turn in 0..5_u64 {
            assert_eq!(tell(&mut child, "theirs"), (2 * turn + 1).to_string());
            let appended = ledger.append(&admin(), batch(vec![row("run:1", "mine")])).await.unwrap();
            assert_eq!(appended.rows[0].seq, 2 * turn + 2);
        }
        assert!(ledger.verify(&admin(), Vec::new()).await.unwrap().is_sound());
    });
}

/// Whoever writes without a pause lets others write who wait.
#[test]
fn a_busy_process_gives_way() {
    let scratch = Scratch::new();
    let mut child = writer(&scratch);
    assert_eq!(tell(&mut child, BUSY), "busy");
    block_on(async {
        // The other one never has nothing to write; without giving way this would wait for as long as that goes on.
        let ledger = open(scratch.path());
        for _ in 0..3 {
            ledger.append(&admin(), batch(vec![row("run:2", "mine")])).await.unwrap();
        }
        // It goes on as well.
        let mut watcher = ledger.watch(&admin()).await.unwrap();
        watcher.wait_for(|last| *last >= 10).await.unwrap();
        child.child.kill().unwrap();
        child.child.wait().unwrap();
        assert!(ledger.verify(&admin(), Vec::new()).await.unwrap().is_sound());
        let theirs =
            scanned(&ledger, &admin()).await.iter().filter(|row| row.stream.as_str() == "run:1").count();
        assert!(theirs > 3, "it was busy: {theirs}");
    });
}

/// Who watches a ledger that this process writes too is woken by another process all the same.
#[test]
fn a_watcher_beside_a_writer_is_woken_by_another_process() {
    let scratch = Scratch::new();
    let mut child = writer(&scratch);
    block_on(async {
        let ledger = open(scratch.path());
        ledger.append(&admin(), batch(vec![row("run:1", "mine")])).await.unwrap();
        let mut watcher = ledger.watch(&admin()).await.unwrap();
        assert_eq!(tell(&mut child, "theirs"), "2");
        watcher.wait_for(|last| *last == 2).await.unwrap();
        ledger.append(&admin(), batch(vec![row("run:1", "mine")])).await.unwrap();
        watcher.wait_for(|last| *last == 3).await.unwrap();
    });
}

#[test]
fn a_killed_process_leaves_no_lock() {
    let scratch = Scratch::new();
    let mut child = writer(&scratch);
    assert_eq!(tell(&mut child, "first"), "1");
    assert_eq!(tell(&mut child, HOLD), "held");
    child.child.kill().unwrap();
    child.child.wait().unwrap();
    block_on(async {
        let appended =
            impatient(scratch.path()).append(&admin(), batch(vec![row("run:1", "mine")])).await.unwrap();
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
        let (first, second) = (open(scratch.path()), impatient(scratch.path()));
        first.append(&admin(), batch(vec![row("run:1", "a")])).await.unwrap();
        drop(first);
        let held = support::held(scratch.path());
        let locked = second.append(&admin(), batch(vec![row("run:1", "b")])).await.unwrap_err();
        assert_eq!(locked.code(), Code::LedgerLocked);
        drop(held);
        second.append(&admin(), batch(vec![row("run:1", "b")])).await.unwrap();
    });
}

/// How often each of two racers opens the ledger in a round.
const TRIES: usize = 40;

/// The other process: told a data directory, it opens the ledger again and again, each time for one request, which is
/// good or is refused. Then it says what came of each.
#[test]
fn racer() {
    let Some(arguments) = asked() else { return };
    let mut random = Random::new(arguments[0].parse().unwrap());
    block_on(async {
        for root in std::io::stdin().lock().lines() {
            let root = root.unwrap();
            let mut told = Vec::new();
            // The first good request makes the ledger for good, so most are refused.
            let good_from = random.index(0..TRIES);
            for number in 0..TRIES {
                let mut request = batch(vec![row("run:1", "a")]);
                if number < good_from || random.once_in(2) {
                    request.expected = [(stream("run:1"), 1_000)].into();
                }
                let answer = impatient(Path::new(&root)).append(&admin(), request).await;
                told.push(match answer {
                    Ok(appended) => appended.rows[0].seq.to_string(),
                    Err(error) => error.code().to_string(),
                });
            }
            say(&told.join(" "));
        }
    });
}

/// Two processes make the same matter at the same time, and take it back when the request that made it was refused:
/// what was acknowledged is there once, nothing else is, and the file is whole.
#[test]
fn two_processes_race_to_make_a_matter() {
    let seed = Seed::of("making a matter", 91);
    let mut random = seed.random();
    let mut racers = [0, 1].map(|_| Another::start("processes::racer", &[&random.bits().to_string()]));
    let mut seen = BTreeSet::new();
    for round in 0..15 {
        let scratch = Scratch::new();
        for racer in &mut racers {
            writeln!(racer.stdin.as_mut().unwrap(), "{}", scratch.path().display()).unwrap();
        }
        let mut places = Vec::new();
        for racer in &mut racers {
            for word in racer.line().unwrap().split(' ') {
                match word.parse::<u64>() {
                    Ok(place) => places.push(place),
                    Err(_) => drop(seen.insert(word.to_owned())),
                }
            }
        }
        places.sort_unstable();
        assert_eq!(places, (1..=places.len() as u64).collect::<Vec<_>>(), "round {round}");
        block_on(async {
            let ledger = open(scratch.path());
            if places.is_empty() {
                assert_eq!(ledger.head(&admin()).await.unwrap_err().code(), Code::LedgerMissing);
                assert!(files(scratch.path()).is_empty(), "round {round}");
                return;
            }
            assert_eq!(scanned(&ledger, &admin()).await.len(), places.len(), "round {round}");
            assert!(ledger.verify(&admin(), Vec::new()).await.unwrap().is_sound(), "round {round}");
            let appended = ledger.append(&admin(), batch(vec![row("run:1", "after")])).await.unwrap();
            assert_eq!(appended.rows[0].seq, places.len() as u64 + 1, "round {round}: it goes on");
        });
    }
    assert_eq!(
        seen,
        ["ledger.conflict", "ledger.locked"].map(str::to_owned).into(),
        "they met, and nothing else"
    );
}
