//! Words that stand nowhere else, and finding them however they are written.
//! Owns: making canaries, their spellings, the search. Must not: know what is searched.

use countersign_record::digest::Digest;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// What is looked for: every piece of this many bytes of every spelling. A piece of a canary is a leak too.
const PIECE_BYTES: usize = 12;

thread_local! {
    static MADE: RefCell<BTreeMap<String, String>> = const { RefCell::new(BTreeMap::new()) };
}

/// The canary of a place: the same each time, and like no other.
pub(crate) fn canary(place: &str) -> String {
    let digest = Digest::of(place.as_bytes());
    // In letters that no hexadecimal digest has.
    let letters = |byte: &u8| [b'G' + (byte >> 4), b'g' + (byte & 0xF)].map(char::from);
    let word: String = digest.as_bytes().iter().take(10).flat_map(letters).collect();
    // Letters of the place itself, so that there are canaries that are not ASCII.
    let strange: String = place.chars().filter(|letter| !letter.is_ascii()).collect();
    let canary = format!("{word}{strange}{word}");
    MADE.with_borrow_mut(|made| made.insert(place.to_owned(), canary.clone()));
    canary
}

/// The pieces of all canaries that this test has made.
pub(crate) struct Canaries(BTreeMap<[u8; PIECE_BYTES], String>);

impl Canaries {
    pub(crate) fn all() -> Self {
        let mut pieces = BTreeMap::new();
        let made = MADE.with_borrow(Clone::clone);
        for (place, canary) in made {
            for spelling in spellings(&canary) {
                for piece in spelling.windows(PIECE_BYTES) {
                    pieces.insert(piece.try_into().unwrap(), place.clone());
                }
            }
        }
        Canaries(pieces)
    }

    /// Where the canary comes from of which a piece is in the bytes.
    pub(crate) fn found_in(&self, bytes: &[u8]) -> Option<&str> {
        let mut pieces = bytes.windows(PIECE_BYTES);
        pieces.find_map(|piece| self.0.get(piece)).map(String::as_str)
    }
}

/// A text in the ways in which programs write one.
fn spellings(text: &str) -> Vec<Vec<u8>> {
    let bytes = text.as_bytes();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let units: Vec<u16> = text.encode_utf16().collect();
    let escaped: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
    let in_json = serde_json::to_string(text).unwrap();
    let percent: String = bytes.iter().map(|byte| format!("%{byte:02X}")).collect();
    let mut spellings = vec![
        bytes.to_vec(),
        text.to_lowercase().into_bytes(),
        text.to_uppercase().into_bytes(),
        in_json.into_bytes(),
        escaped.to_uppercase().replace("\\U", "\\u").into_bytes(),
        escaped.into_bytes(),
        text.escape_unicode().collect::<String>().into_bytes(),
        hex.to_uppercase().into_bytes(),
        hex.into_bytes(),
        percent.into_bytes(),
        units.iter().flat_map(|unit| unit.to_le_bytes()).collect(),
        units.iter().flat_map(|unit| unit.to_be_bytes()).collect(),
        bytes.iter().rev().copied().collect(),
    ];
    for alphabet in [b"+/", b"-_"] {
        for lead in 0..3 {
            spellings.push(base64(&[&b"xxx"[..lead], bytes].concat(), *alphabet)[4..].to_vec());
        }
    }
    // As it is printed in a list of bytes.
    spellings.push(format!("{bytes:?}").into_bytes());
    spellings
}

fn base64(bytes: &[u8], last: [u8; 2]) -> Vec<u8> {
    let letter = |value: u8| match value {
        0..26 => b'A' + value,
        26..52 => b'a' + value - 26,
        52..62 => b'0' + value - 52,
        62 => last[0],
        _ => last[1],
    };
    // The rest that does not fill three bytes says nothing that the pieces before it do not.
    let group = |three: &[u8]| {
        let [a, b, c] = [three[0], three[1], three[2]];
        [a >> 2, (a & 3) << 4 | b >> 4, (b & 15) << 2 | c >> 6, c & 63].map(letter)
    };
    bytes.chunks_exact(3).flat_map(group).collect()
}
