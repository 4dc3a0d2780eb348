//! The conversation's log and index, on a real disk.
//! Owns: what is kept, recalled, escalated and forgotten. Must not: repeat the guardrails' own tests.

use crate::talk::{CAPS, Counted, Said, append, append_all, ask, index, kept, reasons, recall, said, told};
use countersign_kernel::history::{Caps, Lexicon};
use countersign_memory::conversation::{Ask, Conversation, Error, Indexer, Log, Torn, clear, status, update};
use countersign_memory::embed;
use countersign_memory::snapshot::Snapshot;
use countersign_record::code::Code;
use countersign_testkit::scratch::Scratch;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;

fn conversation(scratch: &Scratch) -> Conversation {
    Conversation::at(&scratch.path().join("deep/logs"))
}

/// Writes to the log behind its back.
fn scribble(conversation: &Conversation, bytes: &[u8]) {
    fs::OpenOptions::new().append(true).open(conversation.log()).unwrap().write_all(bytes).unwrap();
}

fn flip(conversation: &Conversation, name: &str, at: usize) {
    let path = conversation.dir().join(name);
    let mut bytes = fs::read(&path).unwrap();
    bytes[at] ^= 0x40;
    // As a disk would: the file stays, one bit does not.
    fs::write(path, bytes).unwrap();
}

const TALK: [&str; 6] = [
    "The lease of the warehouse ends in March and the landlord wants a higher rent.",
    "Please check the insurance of the delivery trucks before the winter.",
    "The vehicle acoustics report names three resonances in the rear axle.",
    "Lunch on Thursday moved to the small meeting room.",
    "The budget for the roof repair was approved by the board.",
    "Who has the key of the archive?",
];

#[test]
fn the_last_turns_come_back_word_for_word() {
    let scratch = Scratch::new();
    let conversation = conversation(&scratch);
    assert!(recall(&conversation, &ask("anything")).turns.is_empty());
    append_all(&conversation, &TALK);
    let external =
        Said { role: "external", ..said("A reply from elsewhere.\nWith a second line and a \u{0} in it.") };
    append(&conversation, &external);
    let recalled = recall(&conversation, &ask("anything"));
    let texts: Vec<&str> = recalled.turns.iter().map(|located| located.turn.text.as_str()).collect();
    assert_eq!(texts, [TALK[5], external.text]);
    assert_eq!((recalled.lines, recalled.generation, reasons(&recalled)), (7, None, Vec::new()));
    let many = recall(&conversation, &Ask { turns: 50, ..ask("anything") });
    assert_eq!(many.turns.len(), 7);
}

#[test]
fn an_external_reply_is_found_again_as_external() {
    let scratch = Scratch::new();
    let conversation = conversation(&scratch);
    append(&conversation, &Said { role: "external", ..said(TALK[0]) });
    append_all(&conversation, &TALK[3..]);
    index(&conversation);
    let recalled = recall(&conversation, &ask("warehouse lease and rent"));
    assert_eq!(kept(&recalled)[0], 1);
    assert_eq!(recalled.pieces[0].item.source.word(), "external");
}

#[test]
fn only_what_is_new_is_embedded_and_published_once() {
    let scratch = Scratch::new();
    let conversation = conversation(&scratch);
    append_all(&conversation, &TALK[..4]);
    let counted = Counted::new();
    let first = update(&conversation, &counted, CAPS).unwrap();
    assert_eq!((counted.taken(), first.embedded, first.count, first.generation), (4, 4, 4, 1));
    let again = update(&conversation, &counted, CAPS).unwrap();
    assert_eq!((counted.taken(), again.embedded, again.generation), (0, 0, 1));
    append_all(&conversation, &TALK[4..]);
    let second = update(&conversation, &counted, CAPS).unwrap();
    assert_eq!((counted.taken(), second.embedded, second.count, second.generation), (2, 2, 6, 2));
    // However the work was cut, the vectors are the same.
    let other = Conversation::at(&scratch.path().join("other"));
    append_all(&other, &TALK);
    index(&other);
    let (one, two) = (recall(&conversation, &ask("roof")), recall(&other, &ask("roof")));
    assert_eq!(one.pieces, two.pieces);
}

#[test]
fn recall_embeds_nothing_but_the_query() {
    let scratch = Scratch::new();
    let conversation = conversation(&scratch);
    append_all(&conversation, &TALK);
    index(&conversation);
    append_all(&conversation, &TALK);
    let counted = Counted::new();
    let mut history = countersign_memory::conversation::History::open(conversation).unwrap();
    let recalled = history.recall(&ask("the roof"), &counted).unwrap();
    assert_eq!(counted.taken(), 1);
    assert!(recalled.pending_bytes > 0);
    assert_eq!(recalled.lines, 12);
}

#[test]
fn an_alias_finds_what_was_said_in_other_words() {
    let scratch = Scratch::new();
    let conversation = conversation(&scratch);
    append_all(&conversation, &TALK);
    index(&conversation);
    let lexicon = Lexicon::new([vec!["NVH".into(), "vehicle acoustics".into()]]).unwrap();
    let with = recall(&conversation, &Ask { turns: 0, items_max: 1, lexicon, ..ask("NVH report") });
    assert_eq!((kept(&with), told(&with)[0].as_str()), (vec![3], "3:KEPT:alias"));
}

#[test]
fn files_that_are_off_are_left_out_until_they_are_injected() {
    let scratch = Scratch::new();
    let conversation = conversation(&scratch);
    append(&conversation, &Said { file: Some("lease.md"), ..said(TALK[0]) });
    append_all(&conversation, &TALK[1..]);
    index(&conversation);
    let off = Ask { off: BTreeSet::from(["lease.md".into()]), ..ask("warehouse lease rent") };
    assert!(told(&recall(&conversation, &off)).contains(&"1:DROPPED:OFF".to_owned()));
    let injected = Ask { injected: off.off.clone(), ..off };
    assert_eq!(kept(&recall(&conversation, &injected))[0], 1);
}

#[test]
fn a_full_index_lets_the_least_important_go_for_good() {
    let scratch = Scratch::new();
    let conversation = conversation(&scratch);
    for (text, importance) in TALK.iter().zip(["0.9", "0.1", "0.5", "0.2", "0.5", "0.8"]) {
        append(&conversation, &Said { importance, ..said(text) });
    }
    let caps = Caps { vectors_max: 4 };
    let updated = update(&conversation, &embed::hashed(), caps).unwrap();
    assert_eq!((updated.count, updated.evicted.len()), (4, 2));
    let lines = |ask: &Ask| {
        let mut lines: Vec<u64> =
            recall(&conversation, ask).pieces.iter().map(|piece| piece.item.line).collect();
        lines.sort_unstable();
        lines
    };
    assert_eq!(lines(&ask("trucks")), [1, 3, 5, 6]);
    append(&conversation, &Said { importance: "1", ..said("The archive has two keys.") });
    update(&conversation, &embed::hashed(), caps).unwrap();
    // Of two that are equally important, the older goes.
    assert_eq!(lines(&ask("trucks")), [1, 5, 6, 7]);
    assert_eq!(status(&conversation).unwrap().index.unwrap().evicted, 3);
}

#[test]
fn a_torn_line_is_mended_and_nothing_is_lost() {
    let scratch = Scratch::new();
    let conversation = conversation(&scratch);
    append_all(&conversation, &TALK[..2]);
    let length = fs::metadata(conversation.log()).unwrap().len();
    scribble(&conversation, b"{\"role\":\"user\",\"te");
    let recalled = recall(&conversation, &ask("x"));
    assert_eq!((recalled.turns.len(), reasons(&recalled)), (2, Vec::new()), "it may still be written");
    assert_eq!(status(&conversation).unwrap().torn_bytes, 18);
    let (mut log, torn) = Log::open(&conversation).unwrap();
    let Some(Torn::PutAside { offset, bytes: 18, path }) = torn else { panic!("{torn:?}") };
    assert_eq!((offset, fs::read(path).unwrap()), (length, b"{\"role\":\"user\",\"te".to_vec()));
    assert_eq!(log.append(&said(TALK[2]).turn()).unwrap().offset, length);
    drop(log);
    // Only the end of the line was missing.
    let bytes = fs::read(conversation.log()).unwrap();
    fs::write(conversation.log(), &bytes[..bytes.len() - 1]).unwrap();
    assert_eq!(Log::open(&conversation).unwrap().1, Some(Torn::Completed { offset: length }));
    assert_eq!(fs::read(conversation.log()).unwrap(), bytes);
}

#[test]
fn a_bad_line_is_escalated_with_its_place_and_the_rest_goes_on() {
    let scratch = Scratch::new();
    let conversation = conversation(&scratch);
    append_all(&conversation, &TALK[..2]);
    let offset = fs::metadata(conversation.log()).unwrap().len();
    scribble(&conversation, b"{\"role\":\"canary-7f3a\"}\n\xff\xfe\n\n");
    append_all(&conversation, &TALK[2..]);
    let expected = [
        format!("validation_fail_line_3_byte_{offset}"),
        format!("validation_fail_line_4_byte_{}", offset + 23),
    ];
    let before = recall(&conversation, &Ask { turns: 50, ..ask("roof repair budget") });
    assert_eq!(reasons(&before), expected);
    assert_eq!(before.turns.len(), 6);
    assert!(before.escalations.iter().all(|one| !one.message.contains("canary")));
    let updated = index(&conversation);
    assert_eq!(updated.bad.first.iter().map(|bad| bad.line).collect::<Vec<_>>(), [3, 4]);
    let after = recall(&conversation, &Ask { turns: 1, ..ask("roof repair budget") });
    assert_eq!(reasons(&after), expected, "the index remembers it");
    assert_eq!(kept(&after)[0], 8);
    // Another update adds nothing to it.
    index(&conversation);
    assert_eq!(status(&conversation).unwrap().index.unwrap().bad_lines.count, 2);
}

#[test]
fn one_writes_at_a_time() {
    let scratch = Scratch::new();
    let conversation = conversation(&scratch);
    let (log, _) = Log::open(&conversation).unwrap();
    let refused = Log::open(&conversation).unwrap_err();
    assert!(matches!(refused, Error::Locked { pid: Some(pid), .. } if pid == std::process::id()));
    assert_eq!(refused.code(), Code::HistoryLocked);
    drop(log);
    Log::open(&conversation).unwrap();
}

/// Two generations, of which the newer is damaged by `damage`.
fn damaged(damage: impl Fn(&Conversation)) -> (Scratch, Conversation) {
    let scratch = Scratch::new();
    let conversation = conversation(&scratch);
    append_all(&conversation, &TALK[..5]);
    index(&conversation);
    append_all(&conversation, &TALK[5..]);
    index(&conversation);
    damage(&conversation);
    (scratch, conversation)
}

#[test]
fn a_damaged_generation_falls_back_to_the_one_before_and_escalates() {
    let damages: [&dyn Fn(&Conversation); 6] = [
        // A float: only the whole hash shows it.
        &|conversation| flip(conversation, "history_store.pkl", 200),
        &|conversation| flip(conversation, "history_store.pkl", 3),
        &|conversation| fs::write(conversation.dir().join("history_store.pkl"), b"").unwrap(),
        &|conversation| fs::remove_file(conversation.dir().join("history_store.pkl")).unwrap(),
        &|conversation| flip(conversation, "history_index_meta.json", 0),
        &|conversation| fs::remove_file(conversation.dir().join("history_index_meta.json")).unwrap(),
    ];
    for (number, damage) in damages.iter().enumerate() {
        let (_scratch, conversation) = damaged(damage);
        let recalled = recall(&conversation, &ask("warehouse lease rent"));
        assert_eq!((recalled.generation, kept(&recalled).first()), (Some(1), Some(&1)), "{number}");
        assert_eq!(reasons(&recalled), ["snapshot_fallback"], "{number}");
        // The next update makes it whole again, and keeps the sound one meanwhile.
        let updated = index(&conversation);
        assert_eq!((updated.count, updated.generation > 1), (6, true), "{number}");
        let recalled = recall(&conversation, &ask("warehouse lease rent"));
        assert_eq!((reasons(&recalled), recalled.pieces.len()), (Vec::new(), 6), "{number}");
    }
}

#[test]
fn two_damaged_generations_leave_no_index_and_are_made_again() {
    let (_scratch, conversation) = damaged(|conversation| {
        flip(conversation, "history_store.pkl", 200);
        flip(conversation, "history_store_previous.pkl", 200);
    });
    let recalled = recall(&conversation, &ask("lease"));
    assert_eq!((recalled.generation, recalled.pieces.len(), recalled.turns.len()), (None, 0, 2));
    assert_eq!(reasons(&recalled)[0], "snapshot_lost");
    let updated = index(&conversation);
    assert_eq!((updated.count, updated.embedded, updated.generation), (6, 6, 3));
    assert!(recall(&conversation, &ask("lease")).escalations.is_empty());
}

#[test]
fn what_was_cleared_never_comes_back() {
    let (_scratch, conversation) = damaged(|_| {});
    let end = fs::metadata(conversation.log()).unwrap().len();
    assert_eq!(clear(&conversation), Ok(end));
    let nothing = |when: &str| {
        let recalled = recall(&conversation, &Ask { turns: 50, ..ask("warehouse lease rent") });
        let old = recalled.pieces.iter().filter(|piece| piece.item.offset < end).count();
        assert_eq!((old, recalled.turns.iter().filter(|turn| turn.offset < end).count()), (0, 0), "{when}");
    };
    nothing("at once");
    assert!(!conversation.dir().join("history_store_previous.pkl").exists());
    index(&conversation);
    nothing("after an update");
    append(&conversation, &said("Something new about the lease."));
    index(&conversation);
    nothing("after a new turn");
    assert_eq!(kept(&recall(&conversation, &Ask { turns: 0, ..ask("lease") })), [7]);
    for name in ["history_store.pkl", "history_index_meta.json", "history_store_previous.pkl"] {
        drop(fs::remove_file(conversation.dir().join(name)));
        nothing(name);
        index(&conversation);
        nothing(name);
    }
    // The log itself is whole.
    assert_eq!(status(&conversation).unwrap().log_lines, 7);
    let stored = Snapshot::open(&conversation.dir().join("history_store.pkl")).unwrap();
    assert!(stored.labels().unwrap().ids.iter().all(|id| id.starts_with(&format!("{end}::"))));
    // If it is not known any more what was cleared, nothing is said.
    fs::write(conversation.dir().join("history_cleared.json"), b"{\"cleared_before_offset\":").unwrap();
    let refused = countersign_memory::conversation::History::open(conversation.clone()).unwrap_err();
    assert_eq!(refused.code(), Code::HistoryCleared);
    assert_eq!(update(&conversation, &embed::hashed(), CAPS).unwrap_err().code(), Code::HistoryCleared);
    clear(&conversation).unwrap();
    assert!(recall(&conversation, &ask("lease")).pieces.is_empty());
}

/// The ids that are in the published snapshot.
fn stored(conversation: &Conversation) -> Vec<String> {
    Snapshot::open(&conversation.dir().join("history_store.pkl")).unwrap().labels().unwrap().ids
}

#[test]
fn clearing_forgets_what_was_never_indexed_and_what_was_torn() {
    let scratch = Scratch::new();
    let conversation = conversation(&scratch);
    append_all(&conversation, &TALK[..2]);
    index(&conversation);
    append_all(&conversation, &TALK[2..4]);
    // Whole but for its end: mending would make a turn of it.
    let bytes = fs::read(conversation.log()).unwrap();
    fs::write(conversation.log(), &bytes[..bytes.len() - 1]).unwrap();
    assert_eq!(clear(&conversation), Ok(bytes.len() as u64));
    assert_eq!(stored(&conversation), [""; 0]);
    append_all(&conversation, &TALK[4..5]);
    index(&conversation);
    assert_eq!(stored(&conversation), [format!("{}::chunk_0", bytes.len())]);
    assert_eq!(recall(&conversation, &Ask { turns: 50, ..ask("x") }).turns.len(), 1);
}

#[test]
fn clearing_works_without_a_log_and_a_log_that_comes_later_is_another() {
    let (_scratch, conversation) = damaged(|_| {});
    fs::remove_file(conversation.log()).unwrap();
    let gone = recall(&conversation, &ask("warehouse lease"));
    assert_eq!((gone.pieces.len(), reasons(&gone)), (0, vec!["snapshot_unusable"]));
    assert_eq!(clear(&conversation), Ok(0));
    assert_eq!(stored(&conversation), [""; 0]);
    append_all(&conversation, &TALK);
    clear(&conversation).unwrap();
    fs::remove_file(conversation.log()).unwrap();
    append_all(&conversation, &TALK[..1]);
    let refused = countersign_memory::conversation::History::open(conversation.clone()).unwrap_err();
    assert_eq!(refused.code(), Code::HistoryCleared);
}

#[test]
fn damage_that_an_update_finds_is_told_and_mended_under_a_new_number() {
    let (_scratch, conversation) = damaged(|conversation| flip(conversation, "history_store.pkl", 200));
    let updated = index(&conversation);
    assert_eq!((updated.troubles.len(), updated.generation, updated.embedded), (1, 3, 1));
    let again = index(&conversation);
    assert_eq!((again.troubles.len(), again.generation), (0, 3));
}

/// Far enough before its end that the index does not notice by itself.
#[test]
fn a_line_that_was_changed_after_it_was_indexed_is_escalated() {
    let scratch = Scratch::new();
    let conversation = conversation(&scratch);
    let long = "word ".repeat(1_400);
    append_all(&conversation, &[&long, &format!("{long} two"), &format!("{long} three"), &long]);
    index(&conversation);
    let mut log = fs::read(conversation.log()).unwrap();
    let second = log.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let role = log[second..].windows(6).position(|piece| piece == b"\"user\"").unwrap();
    log[second + role + 1] = b'#';
    fs::write(conversation.log(), &log).unwrap();
    let recalled = recall(&conversation, &Ask { turns: 4, ..ask("word") });
    assert_eq!(recalled.turns.len(), 3);
    assert_eq!(reasons(&recalled), [format!("validation_fail_line_2_byte_{second}")]);
}

#[test]
fn what_had_to_go_comes_back_when_there_is_room() {
    let scratch = Scratch::new();
    let conversation = conversation(&scratch);
    append_all(&conversation, &TALK[..4]);
    let narrow = update(&conversation, &embed::hashed(), Caps { vectors_max: 1 }).unwrap();
    assert_eq!((narrow.count, narrow.evicted.len()), (1, 3));
    let wide = index(&conversation);
    assert_eq!((wide.count, wide.embedded, wide.rebuilt.is_some()), (4, 4, true));
    assert_eq!(index(&conversation).embedded, 0);
}

#[test]
fn many_bad_lines_are_counted_and_a_hundred_are_named() {
    let scratch = Scratch::new();
    let conversation = conversation(&scratch);
    append_all(&conversation, &TALK[..2]);
    scribble(&conversation, &b"x\n".repeat(150));
    let before = recall(&conversation, &Ask { turns: 5, ..ask("x") });
    assert_eq!((before.escalations.len(), before.turns.len()), (101, 2));
    index(&conversation);
    scribble(&conversation, b"y\n");
    let after = recall(&conversation, &ask("x"));
    assert_eq!(after.escalations.last().unwrap().reason, "validation_fail_151_lines");
}

#[test]
fn a_turn_that_carries_too_much_is_refused_or_escalated() {
    let scratch = Scratch::new();
    let conversation = conversation(&scratch);
    let mut turn = said(TALK[0]).turn();
    turn.tags = vec!["x".repeat(9_000)];
    let refused = Log::open(&conversation).unwrap().0.append(&turn).unwrap_err();
    assert_eq!(refused.code(), Code::HistoryTooLong);
    scribble(&conversation, format!("{}\n", countersign_record::json::to_text(&turn).unwrap()).as_bytes());
    assert_eq!(index(&conversation).bad.count, 1);
}

#[test]
fn a_file_that_is_off_is_off_however_it_is_spelt() {
    let scratch = Scratch::new();
    let conversation = conversation(&scratch);
    append(&conversation, &Said { file: Some("docs/old.md"), ..said(TALK[0]) });
    append_all(&conversation, &TALK[3..]);
    index(&conversation);
    let off = Ask { off: BTreeSet::from(["./docs//old.md".into()]), ..ask("warehouse lease rent") };
    assert!(told(&recall(&conversation, &off)).contains(&"1:DROPPED:OFF".to_owned()));
}

#[test]
fn readers_see_no_trouble_while_generations_are_published() {
    let scratch = Scratch::new();
    let conversation = conversation(&scratch);
    append_all(&conversation, &TALK);
    index(&conversation);
    let writing = conversation.clone();
    let writer = std::thread::spawn(move || {
        for number in 0..60 {
            append(&writing, &said(&format!("turn {number} of many")));
            index(&writing);
        }
    });
    while !writer.is_finished() {
        assert_eq!(reasons(&recall(&conversation, &ask("many"))), [""; 0]);
    }
    writer.join().unwrap();
}

#[test]
fn another_log_is_noticed_and_indexed_anew() {
    let (_scratch, conversation) = damaged(|_| {});
    fs::remove_file(conversation.log()).unwrap();
    append_all(&conversation, &["Quite another conversation, about ships."]);
    let updated = index(&conversation);
    assert_eq!((updated.count, updated.rebuilt.is_some()), (1, true));
}

#[test]
fn the_background_indexes_everything_it_was_nudged_for() {
    let scratch = Scratch::new();
    let conversation = conversation(&scratch);
    let indexer = Indexer::start(conversation.clone(), Box::new(embed::hashed()), CAPS).unwrap();
    for text in TALK {
        append(&conversation, &said(text));
        indexer.nudge();
    }
    let last = indexer.finish().unwrap().unwrap();
    assert_eq!(last.count, 6);
    assert!(recall(&conversation, &ask("x")).pending_bytes == 0);
    let idle = Indexer::start(conversation, Box::new(embed::hashed()), CAPS).unwrap();
    assert_eq!(idle.finish(), None);
}

#[test]
fn links_and_directories_are_not_written_through() {
    let scratch = Scratch::new();
    let conversation = conversation(&scratch);
    append_all(&conversation, &TALK[..2]);
    let outside = scratch.path().join("outside");
    fs::write(&outside, b"mine").unwrap();
    for name in ["history_store_dynamic.pkl", "history_index_meta_dynamic.json"] {
        std::os::unix::fs::symlink(&outside, conversation.dir().join(name)).unwrap();
    }
    assert_eq!(index(&conversation).count, 2);
    fs::remove_file(conversation.log()).unwrap();
    std::os::unix::fs::symlink(&outside, conversation.log()).unwrap();
    assert_eq!(Log::open(&conversation).unwrap_err().code(), Code::HistoryUnwritable);
    assert_eq!(fs::read(outside).unwrap(), b"mine");
}
