//! Folds over a real ledger: kept states save reading, and never change what is seen.

use countersign_record::access::{MatterAccess, Role};
use countersign_record::chain::Head;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::id::FoldId;
use countersign_record::upcast;
use countersign_runtime::fold::{self, Folded};
use countersign_runtime::ports::ledger::{Journal, Ledger, Snapshot};
use countersign_store::Sqlite;
use countersign_testkit::drafts;
use countersign_testkit::random::Seed;
use countersign_testkit::scratch::Scratch;
use countersign_views::Fold;
use countersign_views::summary::Summary;

async fn summary(ledger: &Sqlite, access: &MatterAccess) -> Folded<Summary> {
    fold::current(ledger, access).await.unwrap()
}

async fn grow(ledger: &Sqlite, access: &MatterAccess, rows: usize) {
    let batch = drafts::batch((0..rows).map(|at| drafts::row(&format!("runs/{}", at % 7), "text")).collect());
    ledger.append(access, batch).await.unwrap();
}

#[tokio::test]
async fn a_kept_state_saves_reading_and_changes_nothing() {
    let (scratch, access) = (Scratch::new(), drafts::access("acme", Role::Admin));
    let ledger = Sqlite::open(scratch.path(), upcast::LEDGER);
    grow(&ledger, &access, 1_500).await;
    assert_eq!(summary(&ledger, &access).await.read, 1_500);
    grow(&ledger, &access, 40).await;
    let kept = summary(&ledger, &access).await;
    assert_eq!((kept.read, kept.view.rows, kept.head.unwrap().seq), (40, 1_540, 1_540));

    // The same rows, folded in one go in another ledger.
    let other = Sqlite::open(&scratch.path().join("other"), upcast::LEDGER);
    grow(&other, &access, 1_500).await;
    grow(&other, &access, 40).await;
    assert_eq!(summary(&other, &access).await.view.save(), kept.view.save());
}

#[tokio::test]
async fn a_forged_state_is_found() {
    let (scratch, access) = (Scratch::new(), drafts::access("acme", Role::Admin));
    let ledger = Sqlite::open(scratch.path(), upcast::LEDGER);
    grow(&ledger, &access, 1_500).await;
    let honest = summary(&ledger, &access).await;
    grow(&ledger, &access, 10).await;
    assert_eq!(fold::check::<Summary>(&ledger, &access).await.unwrap(), None);
    let fold = FoldId::try_from(Summary::NAME).unwrap();
    let head = honest.head.unwrap();
    let lie = Summary { rows: honest.view.rows - 1, ..honest.view }.save();
    ledger.keep(&access, &fold, Summary::VERSION, Snapshot { head, bytes: lie }).await.unwrap();
    let found = fold::check::<Summary>(&ledger, &access).await.unwrap().unwrap();
    assert_eq!((found.seq, found.damage.code()), (1_500, Code::LedgerState));
}

#[tokio::test]
async fn an_older_state_does_not_replace_a_newer_one() {
    let (scratch, access) = (Scratch::new(), drafts::access("acme", Role::Admin));
    let ledger = Sqlite::open(scratch.path(), upcast::LEDGER);
    let fold = FoldId::try_from("a_view").unwrap();
    let mut heads = Vec::new();
    for _ in 0..2 {
        grow(&ledger, &access, 3).await;
        heads.push(ledger.head(&access).await.unwrap());
    }
    let state = |at: usize| Snapshot { head: heads[at], bytes: vec![u8::try_from(at).unwrap()] };
    ledger.keep(&access, &fold, 1, state(1)).await.unwrap();
    ledger.keep(&access, &fold, 1, state(0)).await.unwrap();
    assert_eq!(ledger.kept(&access, &fold, 1).await.unwrap(), Some(state(1)));
    ledger.keep(&access, &fold, 2, state(0)).await.unwrap();
    assert_eq!(ledger.kept(&access, &fold, 2).await.unwrap(), Some(state(0)));
}

#[tokio::test]
async fn a_state_of_another_version_or_history_is_not_used() {
    let (scratch, access) = (Scratch::new(), drafts::access("acme", Role::Admin));
    let ledger = Sqlite::open(scratch.path(), upcast::LEDGER);
    grow(&ledger, &access, 5).await;
    let honest = summary(&ledger, &access).await;
    let head = honest.head.unwrap();
    let fold = FoldId::try_from(Summary::NAME).unwrap();
    let lie = Summary { rows: 999, ..Summary::default() }.save();
    let other_history = Head { seq: head.seq, hash: Digest::of(b"another row") };
    for (version, head, bytes) in [
        (Summary::VERSION + 1, head, lie.clone()),
        (Summary::VERSION, other_history, lie),
        (Summary::VERSION, head, b"no state".to_vec()),
    ] {
        ledger.keep(&access, &fold, version, Snapshot { head, bytes }).await.unwrap();
        assert_eq!(summary(&ledger, &access).await.view, honest.view);
    }
}

#[tokio::test]
async fn stopping_anywhere_gives_the_bytes_of_one_go() {
    let seed = Seed::of("fold", 11);
    let mut random = seed.random();
    let (scratch, access) = (Scratch::new(), drafts::access("acme", Role::Admin));
    let ledger = Sqlite::open(scratch.path(), upcast::LEDGER);
    let fold = FoldId::try_from(Summary::NAME).unwrap();
    let mut rows = 0;
    for _ in 0..20 {
        let batch = drafts::random_batch(&mut random, rows, 30);
        rows += batch.rows.len() as u64;
        if ledger.append(&access, batch).await.is_err() {
            rows = ledger.head(&access).await.unwrap().seq;
        }
        let now = summary(&ledger, &access).await;
        // Kept at every step, however few rows have come.
        let snapshot = Snapshot { head: now.head.unwrap(), bytes: now.view.save() };
        ledger.keep(&access, &fold, Summary::VERSION, snapshot).await.unwrap();
    }
    let kept = summary(&ledger, &access).await;
    ledger
        .keep(&access, &fold, Summary::VERSION + 1, Snapshot { head: kept.head.unwrap(), bytes: Vec::new() })
        .await
        .unwrap();
    let anew = summary(&ledger, &access).await;
    assert_eq!((kept.read, anew.read), (0, rows));
    assert_eq!(anew.view.save(), kept.view.save());
}
