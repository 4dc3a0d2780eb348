//! Tests of events, with another reader as the judge.

use super::*;
use eventsource_stream::Eventsource;
use futures_util::{FutureExt, StreamExt, stream};
use proptest::prelude::*;

const MAX: usize = 1_000;

fn ours(chunks: &[&[u8]]) -> Result<Vec<(String, String)>, Broken> {
    let mut events = Events::new(MAX);
    let mut found = Vec::new();
    for chunk in chunks {
        let pushed = events.push(chunk);
        found.extend(std::iter::from_fn(|| events.take()).map(|event| (event.kind, event.data)));
        pushed?;
    }
    Ok(found)
}

fn check(text: &str, expected: &[(&str, &str)]) {
    let found = ours(&[text.as_bytes()]).unwrap();
    let found: Vec<(&str, &str)> = found.iter().map(|(kind, data)| (kind.as_str(), data.as_str())).collect();
    assert_eq!(found, expected, "{text:?}");
}

#[test]
fn events_as_the_standard_has_them() {
    check("data: a\n\n", &[("", "a")]);
    check("data:a\r\rdata: b\r\n\r\n", &[("", "a"), ("", "b")]);
    check("\u{feff}event: x\ndata:  two\ndata\ndata:spaces\n\n", &[("x", " two\n\nspaces")]);
    check(": comment\nid: 7\nretry: 5\nunknown: x\n\n\n", &[]);
    check("event: x\n\ndata: y\n\n", &[("", "y")]);
    check("data: not ended\n", &[]);
    check("data\n\n", &[("", "")]);
}

#[test]
fn bounds_hold() {
    assert_eq!(ours(&[&[b'x'; MAX + 1]]), Err(Broken::TooLong { bytes_max: MAX }));
    let line = format!("data: {}\n", "x".repeat(100));
    assert_eq!(ours(&[line.repeat(20).as_bytes()]), Err(Broken::TooLong { bytes_max: MAX }));
    assert_eq!(ours(&[": x\n".repeat(1_000).as_bytes()]), Err(Broken::TooLong { bytes_max: MAX }));
    assert_eq!(ours(&[format!("{line}\n").repeat(20).as_bytes()]).unwrap().len(), 20);
    assert_eq!(ours(&[b"data: \xff\n"]), Err(Broken::Utf8));
    assert_eq!(ours(&[b"data: \xc3", b"\n"]), Err(Broken::Utf8));
}

fn stream_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("data: "),
        Just("data:"),
        Just("data"),
        Just("event: x"),
        Just(":"),
        Just("id: 1"),
        Just("\n"),
        Just("\n\n"),
        Just("\r\n"),
        Just("\r"),
        Just("é"),
        Just("🦀"),
        Just(" "),
        Just("{\"a\":1}"),
        Just("retry: 1"),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    /// However the bytes are cut, the same events come out, and they are those that another reader finds.
    #[test]
    fn cuts_change_nothing(text in stream_text(), cuts in prop::collection::vec(0_usize..200, 0..8)) {
        let bytes = text.as_bytes();
        let whole = ours(&[bytes]).unwrap();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.push(bytes.len());
        cuts.sort_unstable();
        let mut start = 0;
        let chunks: Vec<&[u8]> = cuts.into_iter().map(|cut| &bytes[std::mem::replace(&mut start, cut)..cut]).collect();
        prop_assert_eq!(ours(&chunks).unwrap(), whole.clone());
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(ours(&single).unwrap(), whole.clone());

        // The other reader panics at a byte order mark, so there is none here. It gives an event without a kind the kind
        // `message`, and waits for another byte after a line that ends with a return.
        let theirs = stream::iter([Ok::<_, std::convert::Infallible>(format!("{text}:").into_bytes())]).eventsource();
        let theirs: Vec<(String, String)> = theirs
            .map(|event| event.unwrap())
            .map(|event| (event.event, event.data))
            .collect::<Vec<_>>()
            .now_or_never()
            .unwrap();
        let named = |(kind, data): (String, String)| (if kind.is_empty() { "message".into() } else { kind }, data);
        prop_assert_eq!(whole.into_iter().map(named).collect::<Vec<_>>(), theirs);
    }

    #[test]
    fn any_bytes_are_taken_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(ours(&single), ours(&[&bytes]));
    }
}
