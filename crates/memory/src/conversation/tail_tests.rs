//! Tests of reading backward.
//! Owns: that it shows what reading forward shows. Must not: need a large file.

use super::*;
use countersign_testkit::scratch::Scratch;
use proptest::prelude::*;
use std::io::Write;

fn turn(text: &str) -> Vec<u8> {
    let hash = countersign_record::digest::Digest::of(text.as_bytes());
    format!(
        "{{\"role\":\"user\",\"text\":\"{text}\",\"timestamp\":\"2025-09-07T12:00:01Z\",\"goal\":\"g\",\
         \"provenance\":{{\"source\":\"user\",\"hash\":\"{hash}\",\"file_refs\":[]}}}}"
    )
    .into_bytes()
}

fn file(scratch: &Scratch, bytes: &[u8]) -> File {
    let path = scratch.path().join("log");
    File::create(&path).unwrap().write_all(bytes).unwrap();
    File::open(path).unwrap()
}

fn texts(tail: &Tail) -> Vec<String> {
    tail.turns.iter().map(|located| located.turn.text.clone()).collect()
}

#[test]
fn the_last_turns_in_their_order() {
    let scratch = Scratch::new();
    let log = [turn("one"), turn("two"), turn("three")].join(&b'\n');
    let whole = [log.clone(), b"\n".to_vec()].concat();
    let read = |bytes: &[u8], count| read(&file(&scratch, bytes), bytes.len() as u64, count, 0).unwrap();
    assert_eq!(texts(&read(&whole, 2)), ["two", "three"]);
    assert_eq!(texts(&read(&whole, 9)), ["one", "two", "three"]);
    assert_eq!(texts(&read(&whole, 0)), [""; 0]);
    // The last line has no end: it is still being written.
    assert_eq!(texts(&read(&log, 2)), ["one", "two"]);
    assert_eq!(read(b"", 3), Tail::default());
}

#[test]
fn a_line_that_is_too_long_is_passed_over() {
    let scratch = Scratch::new();
    let long = vec![b'x'; LINE_BYTES_MAX + 5_000_000];
    let log = [turn("one"), long, turn("two"), Vec::new()].join(&b'\n');
    let tail = read(&file(&scratch, &log), log.len() as u64, 5, 0).unwrap();
    assert_eq!(texts(&tail), ["one", "two"]);
    let offset = turn("one").len() as u64 + 1;
    assert_eq!(tail.bad, [(offset, "json.too_long at byte 16777216 of the line".to_owned())]);
}

proptest! {
    #[test]
    fn backward_shows_what_forward_shows(
        parts in prop::collection::vec((0_usize..4, 0_usize..40_000), 0..12),
        count in 0_usize..14,
        is_torn: bool,
        floor in 0_usize..14,
    ) {
        let scratch = Scratch::new();
        let mut log = Vec::new();
        let mut starts = vec![0_u64];
        for (number, (kind, length)) in parts.iter().enumerate() {
            match kind {
                0 | 1 => log.extend(turn(&format!("{number}{}", "x".repeat(*length)))),
                2 => log.extend(vec![b'{'; *length + 1]),
                _ => log.extend(b" \r"),
            }
            log.push(b'\n');
            starts.push(log.len() as u64);
        }
        if is_torn {
            log.extend(b"{\"role\":");
        }
        let floor = starts[floor.min(starts.len() - 1)];
        let opened = file(&scratch, &log);
        let (mut turns, mut bad) = (Vec::new(), Vec::new());
        let from = countersign_kernel::history::At { offset: floor, line: 1 };
        lines::each(&opened, from, log.len() as u64, |placed| {
            match placed.line {
                Line::Turn(turn) => turns.push(Located { offset: placed.at.offset, turn: *turn }),
                Line::Bad(why) => bad.push((placed.at.offset, why)),
                Line::Blank => {}
            }
            Ok(())
        }).unwrap();
        let tail = read(&opened, log.len() as u64, count, floor).unwrap();
        let kept = turns.len().saturating_sub(count);
        prop_assert_eq!(&tail.turns, &turns[kept..]);
        // Those before the first turn that was asked for were not looked at.
        let is_enough = turns.len() >= count;
        let first = tail.turns.first().map_or(u64::MAX, |located| located.offset);
        bad.retain(|(offset, _)| !is_enough || *offset > first && count > 0);
        prop_assert_eq!(tail.bad, bad);
    }
}
