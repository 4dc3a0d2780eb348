//! What the scanner gives, and that it gives the same however a stream is cut.
//! Owns: hostile streams. Must not: know how the scanner works.

use super::*;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use proptest::prelude::*;
use std::vec;

/// What a scan gave, its text put together.
#[derive(Debug, Default, PartialEq)]
struct Said {
    text: String,
    rest: Vec<(Kind, Result<Vec<u8>, Fault>)>,
}

fn scanned<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Said {
    let mut said = Said::default();
    let mut see = |piece: Piece<'_>| match piece {
        Piece::Text(text) => said.text.push_str(text),
        Piece::Block(kind, bytes) => said.rest.push((kind, Ok(bytes.to_vec()))),
        Piece::Fault(kind, fault) => said.rest.push((kind, Err(fault))),
    };
    let mut scanner = Scanner::default();
    for chunk in chunks {
        scanner.feed(chunk, &mut see);
    }
    scanner.finish(&mut see);
    said
}

type Rest = Vec<(Kind, Result<String, Fault>)>;

fn said(text: &str) -> (String, Rest) {
    let Said { text, rest } = scanned([text.as_bytes()]);
    let rest =
        rest.into_iter().map(|(kind, found)| (kind, found.map(|bytes| String::from_utf8(bytes).unwrap())));
    (text, rest.collect())
}

#[test]
fn blocks_are_taken_out_of_the_text() {
    let (text, rest) = said(
        "Hello <<<NOTES_JSON>>> {\"a\": [1]}\n<<<END_NOTES_JSON>>>there\
         <<<TOOL_CALLS_JSON>>>[]<<<END_TOOL_CALLS_JSON>>>!",
    );
    assert_eq!(text, "Hello there!");
    assert_eq!(rest, [(Kind::Notes, Ok("{\"a\": [1]}".into())), (Kind::Calls, Ok("[]".into()))]);
}

/// The table of the notes on the origin, row by row.
#[test]
fn what_is_no_block_is_left_out_and_told() {
    use Kind::{Calls, Notes};
    let ok = |text: &str| Ok(String::from(text));
    for (given, text, rest) in [
        // A marker in a string is data.
        (
            "<<<NOTES_JSON>>>{\"a\":\"<<<END_NOTES_JSON>>> \\\" <<<TOOL_CALLS_JSON>>>\"}<<<END_NOTES_JSON>>>.",
            ".",
            vec![(Notes, ok("{\"a\":\"<<<END_NOTES_JSON>>> \\\" <<<TOOL_CALLS_JSON>>>\"}"))],
        ),
        ("a<<<NOTES_JSON>>>no<<<END_NOTES_JSON>>>b", "ab", vec![(Notes, Err(Fault::NotJson))]),
        ("a<<<NOTES_JSON>>><<<END_NOTES_JSON>>>b", "ab", vec![(Notes, Err(Fault::NotJson))]),
        ("a<<<NOTES_JSON>>>{} x<<<END_NOTES_JSON>>>b", "ab", vec![(Notes, Err(Fault::NoEnd))]),
        ("a<<<NOTES_JSON>>>{} <<<<END_NOTES_JSON>>>b", "ab", vec![(Notes, Err(Fault::NoEnd))]),
        ("a<<<NOTES_JSON>>>{\"b\":<<<END_NOTES_JSON>>>b", "ab", vec![(Notes, Err(Fault::NotJson))]),
        // The end of another kind is no end.
        ("a<<<NOTES_JSON>>>{}<<<END_TOOL_CALLS_JSON>>>b", "a", vec![(Notes, Err(Fault::NoEnd))]),
        ("a<<<TOOL_CALLS_JSON>>>[", "a", vec![(Calls, Err(Fault::Unclosed))]),
        ("a<<<TOOL_CALLS_JSON>>>[]<<<END_TOOL", "a", vec![(Calls, Err(Fault::Unclosed))]),
        ("a<<<END_TOOL_CALLS_JSON>>>b", "ab", vec![(Calls, Err(Fault::StrayEnd))]),
        ("a <<<TOOL_CA", "a ", vec![(Calls, Err(Fault::Unclosed))]),
        // What only begins like a marker is text.
        ("1 <<< 2 <<<NOTES_JSON>> <<<<", "1 <<< 2 <<<NOTES_JSON>> <<<<", vec![]),
        ("<<<<<NOTES_JSON>>>{}<<<END_NOTES_JSON>>>", "<<", vec![(Notes, ok("{}"))]),
        ("<<<NOTES_<<<NOTES_JSON>>>{}<<<END_NOTES_JSON>>>", "<<<NOTES_", vec![(Notes, ok("{}"))]),
        ("{\"id\":\"t1\",\"tool\":\"x\"}", "{\"id\":\"t1\",\"tool\":\"x\"}", vec![]),
    ] {
        assert_eq!(said(given), (text.into(), rest), "{given}");
    }
}

#[test]
fn a_block_that_is_too_long_is_left_out() {
    let long = [b"a<<<NOTES_JSON>>>{\"a\":\"", vec![b'x'; BLOCK_BYTES_MAX].as_slice(), b"\"}"].concat();
    let whole = [&long, &b"<<<END_NOTES_JSON>>>b"[..]].concat();
    assert_eq!(scanned([&whole[..]]).rest, [(Kind::Notes, Err(Fault::TooLong))]);
    assert_eq!(scanned([&whole[..]]).text, "ab");
}

/// Words out of which a stream is made that means to confuse.
fn word() -> impl Strategy<Value = Vec<u8>> {
    let markers = prop::sample::select(MARKERS.map(|(_, _, marker)| marker.to_vec()).to_vec());
    let cut = (markers.clone(), 0_usize..26).prop_map(|(marker, at)| marker[..at.min(marker.len())].to_vec());
    let text = prop::sample::select(vec![
        &b"<"[..],
        b"<<",
        b"<<<",
        b">>>",
        b"{",
        b"}",
        b"[",
        b"]",
        b"\"",
        b"\\",
        b":",
        b",",
        b"1",
        b"true",
        b" ",
        b"\n",
        b"\"a\"",
        b"{}",
        b"[]",
        b"{\"a\":[1,\"b\"]}",
        b"\xe2",
        b"\x82",
        b"\xac",
        b"\xe2\x82\xac",
        b"\xff",
        b"\xf0\x9f",
        b"END_",
        b"NOTES_JSON",
        b"word",
    ]);
    prop_oneof![3 => markers, 1 => cut, 8 => text.prop_map(<[u8]>::to_vec)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn any_split_gives_the_same(words in prop::collection::vec(word(), 0..40), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let bytes = words.concat();
        let whole = scanned([&bytes[..]]);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.push(bytes.len());
        cuts.sort_unstable();
        let mut from = 0;
        let chunks: Vec<&[u8]> = cuts.iter().map(|to| &bytes[core::mem::replace(&mut from, *to)..*to]).collect();
        prop_assert_eq!(scanned(chunks), scanned([&bytes[..]]));
        prop_assert_eq!(scanned(bytes.chunks(1)), whole);
    }

    /// Whatever the blocks hold and however the stream is cut, the user sees the text around them and nothing else.
    #[test]
    fn the_text_around_blocks_is_all_that_is_shown(
        parts in prop::collection::vec(("[^<]{0,12}", any::<bool>(), prop::collection::vec(word(), 0..6)), 0..6),
        size in 1_usize..30,
    ) {
        let (mut stream, mut text, mut blocks) = (String::new(), String::new(), Vec::new());
        for (around, is_notes, words) in parts {
            let value = serde_json::json!({"a": String::from_utf8_lossy(&words.concat())}).to_string();
            let (kind, begin, end) = match is_notes {
                true => (Kind::Notes, "<<<NOTES_JSON>>>", "<<<END_NOTES_JSON>>>"),
                false => (Kind::Calls, "<<<TOOL_CALLS_JSON>>>", "<<<END_TOOL_CALLS_JSON>>>"),
            };
            stream.push_str(&std::format!("{around}{begin}\n{value} {end}"));
            text.push_str(&around);
            blocks.push((kind, Ok(value.into_bytes())));
        }
        prop_assert_eq!(scanned(stream.as_bytes().chunks(size)), Said { text, rest: blocks });
    }

    #[test]
    fn text_without_markers_stays_as_it_is(text in "[^<]{0,60}") {
        prop_assert_eq!(said(&text), (text.clone(), vec![]));
    }
}
