//! `countersign ledger tail`: the last rows of a stream are found from the end, wherever they stand.

use crate::binary::Work;
use rusqlite::Connection;
use serde_json::json;

/// How many rows the ledger has.
const ROWS: u64 = 5_000;

/// The streams of a row: one that ends before the others, one that begins there, a rare one, one of a single row.
fn stream(seq: u64) -> &'static str {
    match seq {
        1 => "first",
        _ if seq.is_multiple_of(97) => "rare",
        ..=4_000 => "early",
        _ => "late",
    }
}

fn kind(seq: u64) -> &'static str {
    if seq.is_multiple_of(1_001) { "external.mark" } else { "external.note" }
}

fn ledger() -> Work {
    let work = Work::new();
    let row = |seq| format!("{}\n", json!({"stream": stream(seq), "kind": kind(seq), "payload": seq}));
    let rows: String = (1..=ROWS).map(row).collect();
    work.feed(&["ledger", "append", "-", "--atomic"], rows).good();
    work
}

/// The places of the rows that a tail shows.
fn tail(work: &Work, lines: u64, filter: &[&str]) -> Vec<u64> {
    let lines = lines.to_string();
    let args = [&["ledger", "tail", "--no-follow", "-n", &lines], filter].concat();
    work.run(&args).good().lines().iter().map(|row| row["seq"].as_u64().unwrap()).collect()
}

#[test]
fn the_last_rows_are_those_of_the_whole() {
    let work = ledger();
    let check = |filter: &[&str], keeps: &dyn Fn(u64) -> bool| {
        let all: Vec<u64> = (1..=ROWS).filter(|seq| keeps(*seq)).collect();
        for lines in [0, 1, 2, 10, 999, 1_000, 1_001, 2_600, 1_000_000, u64::MAX] {
            let from = all.len().saturating_sub(usize::try_from(lines).unwrap());
            assert_eq!(tail(&work, lines, filter), all[from..], "{filter:?} -n {lines}");
        }
    };
    for name in ["first", "early", "late", "rare", "none"] {
        check(&["--stream", name], &|seq| stream(seq) == name);
    }
    check(&["--kind", "external.mark"], &|seq| kind(seq) == "external.mark");
    check(&["--stream", "early", "--kind", "external.mark"], &|seq| [1_001, 2_002, 3_003].contains(&seq));
    check(&["--stream", "rare", "--kind", "external.mark"], &|_| false);
}

/// Rows that a reader is refused show which rows were read at all.
#[test]
fn what_stands_far_before_the_end_is_not_read() {
    let work = ledger();
    let connection = Connection::open(work.database("default")).unwrap();
    connection.execute_batch("UPDATE rows SET actor = 'ben' WHERE seq <= 2000").unwrap();
    connection.close().unwrap();
    work.run(&["ledger", "rows", "--stream", "early"]).refused(1, "ledger.corrupt");
    assert_eq!(tail(&work, 2, &["--stream", "early"]), [3_999, 4_000]);
    assert_eq!(tail(&work, 10, &["--stream", "early"]), (3_991..=4_000).collect::<Vec<_>>());
    assert_eq!(tail(&work, 3, &["--stream", "late"]), [4_998, 4_999, 5_000]);
    assert_eq!(tail(&work, 2, &["--stream", "rare"]), [4_850, 4_947]);
    assert_eq!(tail(&work, 2, &["--kind", "external.note"]), [4_999, 5_000]);
    assert_eq!(tail(&work, 1, &["--stream", "early", "--kind", "external.mark"]), [3_003]);
}
