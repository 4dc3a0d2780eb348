//! A byte of a ledger of several thousand rows is changed, anywhere in its file.
//! Owns: what readers and `verify` make of it. Must not: know where in the file anything is.

use crate::support::{admin, block_on, database, open, scanned, selected, selections};
use countersign_record::code::Code;
use countersign_record::row::Row;
use countersign_runtime::ports::ledger::{Journal, Ledger, Select};
use countersign_testkit::drafts::{batch, random_draft};
use countersign_testkit::random::{Random, Seed};
use countersign_testkit::scratch::Scratch;
use std::fs;
use std::path::Path;

/// Two full portions of the lists, and some rows beyond them.
const ROWS: usize = 2_500;
const FLIPS: usize = 120;
const PAGE_BYTES: usize = 4_096;

fn write(root: &Path, random: &mut Random) -> Vec<Row> {
    block_on(async {
        let ledger = open(root);
        let mut written = 0;
        while written < ROWS {
            let count = random.index(1..200);
            let rows = (0..count).map(|_| {
                let mut draft = random_draft(random, written as u64, 0);
                // Large blobs would take all the flips.
                draft.blobs.retain(|blob| blob.bytes().len() <= 100);
                draft.seal().unwrap()
            });
            written += ledger.append(&admin(), batch(rows.collect())).await.unwrap().rows.len();
        }
        scanned(&ledger, &admin()).await
    })
}

/// What was found out about damaged files. A row that a page shows is one that was appended; but the lists stand in no
/// chain, so damage to them can hide a row from a page, and `verify` must not let it pass.
#[derive(Debug, Default)]
struct Count {
    /// `verify` says that all is well.
    sound: usize,
    /// A reader was told that something is wrong.
    refused: usize,
    /// A reader was given other rows than those that were appended.
    wrong: usize,
}

/// The pages of the file that hold something else than rows: names, lists, blobs, keys, their indexes.
fn other_pages(database: &Path) -> Vec<usize> {
    let connection = rusqlite::Connection::open(database).unwrap();
    let sql = "SELECT pageno FROM dbstat WHERE name <> 'rows' ORDER BY pageno";
    let mut statement = connection.prepare(sql).unwrap();
    let pages = statement.query_map([], |row| row.get::<_, u32>(0)).unwrap();
    pages.map(|page| usize::try_from(page.unwrap()).unwrap()).collect()
}

#[test]
fn a_flipped_byte_is_found_or_without_effect() {
    let original = Scratch::new();
    let seed = Seed::of("flips", 73);
    let mut random = seed.random();
    let rows = write(original.path(), &mut random);
    let mut expected = selections(&rows);
    expected.push((Select::All, rows));
    let pages = other_pages(&database(original.path()));
    let bytes = fs::read(database(original.path())).unwrap();
    let mut count = Count::default();
    for number in 0..FLIPS {
        // Rows take most of the file, so every other flip is in what finds them.
        let at = match number % 2 {
            0 => random.index(0..bytes.len()),
            _ => (random.pick(&pages) - 1) * PAGE_BYTES + random.index(0..PAGE_BYTES),
        };
        let bits = u8::try_from(random.within(1..256)).unwrap();
        flip(&bytes, at, bits, &expected, &mut count);
    }
    assert!(count.refused + count.wrong > 0 && count.sound > 0 && count.sound < FLIPS, "{count:?}");
}

fn flip(bytes: &[u8], at: usize, bits: u8, expected: &[(Select, Vec<Row>)], count: &mut Count) {
    let copy = Scratch::new();
    fs::create_dir_all(copy.path().join("matters/m")).unwrap();
    let mut damaged = bytes.to_vec();
    damaged[at] ^= bits;
    fs::write(database(copy.path()), damaged).unwrap();
    block_on(async {
        let ledger = open(copy.path());
        let is_sound = match ledger.verify(&admin(), Vec::new()).await {
            Ok(report) => report.is_sound(),
            Err(error) => {
                let told =
                    matches!(error.code(), Code::LedgerCorrupt | Code::LedgerMissing | Code::LedgerTooNew);
                assert!(told, "byte {at}: {error}");
                false
            }
        };
        let (mut refused, mut wrong) = (0, Vec::new());
        for (select, rows) in expected {
            match selected(&ledger, &admin(), select.clone(), 1_000).await {
                Ok(found) if found == *rows => {}
                Ok(found) => {
                    let strange = found.iter().find(|row| !rows.contains(row));
                    assert_eq!(strange, None, "byte {at} ^ {bits}: {select:?} shows what was never appended");
                    wrong.push(select);
                }
                Err(_) => refused += 1,
            }
        }
        count.sound += usize::from(is_sound);
        count.refused += usize::from(refused > 0);
        count.wrong += usize::from(!wrong.is_empty());
        assert!(
            !is_sound || (refused == 0 && wrong.is_empty()),
            "byte {at} ^ {bits}: {wrong:?} is wrong and verifies"
        );
    });
}
