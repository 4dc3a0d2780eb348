//! Kills a process that appends and indexes, again and again: what it acknowledged is there, and the index is whole.
//! Owns: the kill, and what must hold afterwards. Must not: choose where in its work the process dies.

use crate::talk::{append, ask, reasons, recall, said};
use countersign_kernel::history::Caps;
use countersign_memory::conversation::{Ask, Conversation, Log, clear, status, update};
use countersign_memory::embed;
use countersign_testkit::another::{Another, asked, say};
use countersign_testkit::random::Seed;
use countersign_testkit::scratch::Scratch;
use std::path::Path;
use std::time::{Duration, Instant};

const ROUNDS: usize = 60;
/// The rounds stop early on a slow machine, but never before a third of them are done.
const TIME_MAX: Duration = Duration::from_secs(20);
/// Small, so that every update also evicts.
const CAPS: Caps = Caps { vectors_max: 12 };

/// The process that is killed: appends a turn, says so, publishes a generation, says so.
#[test]
fn child() {
    let Some(arguments) = asked() else { return };
    let conversation = Conversation::at(Path::new(&arguments[0]));
    for number in 0.. {
        let text = format!("round {} turn {number} says something of its own", arguments[1]);
        let appended = Log::open(&conversation).unwrap().0.append(&said(&text).turn()).unwrap();
        say(&format!("{} {text}", appended.offset));
        let updated = update(&conversation, &embed::hashed(), CAPS).unwrap();
        say(&format!("generation {}", updated.generation));
    }
}

#[test]
fn a_kill_leaves_the_old_generation_or_the_new_one() {
    let mut random = Seed::of("killed", 17).random();
    let scratch = Scratch::new();
    let conversation = Conversation::at(scratch.path());
    let mut acknowledged: Vec<(u64, String)> = Vec::new();
    let mut generation = 0;
    let (start, mut rounds) = (Instant::now(), 0);
    while rounds < ROUNDS && (rounds < ROUNDS / 3 || start.elapsed() < TIME_MAX) {
        let mut child =
            Another::start("killed::child", &[scratch.path().to_str().unwrap(), &rounds.to_string()]);
        let note = |line: String| match line.split_once(' ') {
            Some(("generation", number)) => generation = number.parse().unwrap_or(generation),
            Some((offset, text)) if text.ends_with("own") => {
                acknowledged.push((offset.parse().unwrap(), text.to_owned()));
            }
            // Cut in the middle: never said.
            Some(_) | None => {}
        };
        kill_after(&mut child, random.within(0..8), note);
        check(&conversation, &acknowledged, generation);
        rounds += 1;
    }
    assert!(acknowledged.len() > rounds, "the rounds were too short to show anything");
    // A writer after all that finds nothing to complain about.
    update(&conversation, &embed::hashed(), CAPS).unwrap();
    let status = status(&conversation).unwrap();
    assert_eq!((status.pending_bytes, status.torn_bytes), (0, 0));
}

/// Kills the child when it has said so many lines, and hears everything that it said.
fn kill_after(child: &mut Another, lines: u64, mut note: impl FnMut(String)) {
    for _ in 0..lines {
        note(child.line().expect("the child goes on until it is killed"));
    }
    child.child.kill().unwrap();
    child.child.wait().unwrap();
    while let Some(line) = child.line() {
        note(line);
    }
}

/// The process that is killed while it forgets: appends, publishes, clears, and says up to where.
#[test]
fn forgetful_child() {
    let Some(arguments) = asked() else { return };
    let conversation = Conversation::at(Path::new(&arguments[0]));
    for number in 0.. {
        for part in ["one", "two"] {
            let text = format!("round {} turn {number} {part} says something", arguments[1]);
            append(&conversation, &said(&text));
        }
        update(&conversation, &embed::hashed(), CAPS).unwrap();
        say(&format!("cleared {}", clear(&conversation).unwrap()));
    }
}

/// Whatever was said to be forgotten stays forgotten, and a clearing that was cut short leaves nothing that hinders.
#[test]
fn a_kill_brings_nothing_back_that_was_cleared() {
    let mut random = Seed::of("killed while clearing", 18).random();
    let scratch = Scratch::new();
    let conversation = Conversation::at(scratch.path());
    let mut cleared = 0;
    let (start, mut rounds) = (Instant::now(), 0);
    while rounds < ROUNDS && (rounds < ROUNDS / 3 || start.elapsed() < TIME_MAX) {
        let mut child = Another::start(
            "killed::forgetful_child",
            &[scratch.path().to_str().unwrap(), &rounds.to_string()],
        );
        let note = |line: String| {
            let place = line.strip_prefix("cleared ").and_then(|place| place.parse::<u64>().ok());
            // A number that was cut in the middle is a lesser one.
            cleared = cleared.max(place.unwrap_or(0));
        };
        kill_after(&mut child, random.within(0..5), note);
        let recalled = recall(&conversation, &Ask { turns: 100, ..ask("says something") });
        assert_eq!(reasons(&recalled), [""; 0]);
        let turns = recalled.turns.iter().map(|located| located.offset);
        let pieces = recalled.pieces.iter().map(|piece| piece.item.offset);
        for offset in turns.chain(pieces) {
            assert!(offset >= cleared, "byte {offset} was cleared with everything before {cleared}");
        }
        assert!(status(&conversation).unwrap().cleared_before_offset >= cleared);
        rounds += 1;
    }
    assert!(cleared > 0, "the rounds were too short to show anything");
    assert_eq!(update(&conversation, &embed::hashed(), CAPS).unwrap().troubles, [""; 0]);
}

fn check(conversation: &Conversation, acknowledged: &[(u64, String)], generation: u64) {
    let stands = status(conversation).unwrap();
    let found = stands.index.as_ref().map_or(0, |index| index.generation);
    assert_eq!(stands.troubles, [""; 0]);
    assert!(!stands.is_previous);
    assert!(found >= generation, "generation {generation} was published, and {found} is there");
    let recalled = recall(conversation, &ask("something of its own"));
    assert_eq!(reasons(&recalled), [""; 0]);
    let log = std::fs::read(conversation.log()).unwrap_or_default();
    for (offset, text) in acknowledged {
        let line = &log[usize::try_from(*offset).unwrap()..];
        let line = &line[..line.iter().position(|byte| *byte == b'\n').expect("the line is whole")];
        assert!(line.windows(text.len()).any(|piece| piece == text.as_bytes()), "{text}");
    }
}
