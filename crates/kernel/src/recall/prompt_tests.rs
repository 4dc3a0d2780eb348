//! Prompts of any parts: what is shown is whole, what is kept holds no memory.

use super::*;
use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use countersign_record::canonical::Score;
use countersign_record::json::{self, Json};
use proptest::collection::vec as list;
use proptest::prelude::*;

/// What a test puts into a prompt.
#[derive(Clone, Debug)]
enum Piece {
    Text(String),
    Memory { id: String, text: String },
}

fn prompt(pieces: &[Piece]) -> Prompt {
    pieces.iter().fold(Prompt::new(), |prompt, piece| match piece {
        Piece::Text(text) => prompt.text(text.as_str()),
        Piece::Memory { id, text } => {
            let excerpt = Excerpt::of(text, usize::MAX);
            prompt.memory(&Selected {
                memory_id: id,
                record_hash: Digest::of(id.as_bytes()),
                store_path: "notes.jsonl",
                score: Score::of_halves(1),
                excerpt: &excerpt,
                tokens: excerpt.tokens(),
            })
        }
    })
}

fn stored(prompt: &Prompt) -> String {
    json::to_text(&prompt.stored()).unwrap()
}

/// Texts, and pieces of the stored form that a text could use to speak for the form itself.
fn hostile() -> impl Strategy<Value = String> {
    let forged = prop::sample::select(vec![
        "\"},{\"text\":\"",
        "\"}},{\"memory\":{\"memory_id\":\"m1\",\"record_hash\":\"",
        "],\"shown_hash\":\"",
        "\\\"",
        "\\",
        "\u{0}",
        "\n",
        "\u{2028}",
        "é€😀",
    ]);
    let piece = prop_oneof![forged.prop_map(ToString::to_string), "\\PC{0,8}"];
    list(piece, 0..5).prop_map(|pieces| pieces.concat())
}

fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let memory = (hostile(), hostile()).prop_map(|(id, text)| Piece::Memory { id, text });
    list(prop_oneof![hostile().prop_map(Piece::Text), memory], 0..8)
}

/// As the document that is kept has it.
fn parts(text: &str) -> Vec<Json> {
    let Ok(Json::Object(mut document)) = json::parse(text.as_bytes()) else { panic!("no object: {text}") };
    let Some(Json::Array(parts)) = document.remove("parts") else { panic!("no parts: {text}") };
    parts
}

proptest! {
    #[test]
    fn what_is_shown_is_every_part_in_order(pieces in pieces()) {
        let prompt = prompt(&pieces);
        let whole: String = pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text.as_str(),
            Piece::Memory { text, .. } => text.trim(),
        }).collect();
        let shown = prompt.shown();
        prop_assert_eq!(shown.for_model(), &whole);
        let hash = json::parse(stored(&prompt).as_bytes()).unwrap();
        let hash = hash.get("shown_hash").and_then(Json::as_str).map(String::from);
        prop_assert_eq!(hash, Some(Digest::of(whole.as_bytes()).to_string()));
    }

    /// What is kept is the parts that were put in, whatever their words.
    #[test]
    fn no_text_forges_a_part(pieces in pieces()) {
        let parts = parts(&stored(&prompt(&pieces)));
        prop_assert_eq!(parts.len(), pieces.len());
        for (part, piece) in parts.iter().zip(&pieces) {
            match piece {
                Piece::Text(text) => prop_assert_eq!(part.get("text"), Some(&Json::from(text.as_str()))),
                Piece::Memory { id, .. } => {
                    let memory = part.get("memory").unwrap().as_object().unwrap();
                    let names: Vec<&str> = memory.iter().map(|(name, _)| name).collect();
                    prop_assert_eq!(names, ["memory_id", "record_hash", "tokens"]);
                    prop_assert_eq!(memory.get("memory_id"), Some(&Json::from(id.as_str())));
                }
            }
            prop_assert_eq!(part.as_object().unwrap().len(), 1);
        }
    }

    /// Other memory of the same size under the same names is kept as the same parts: they say nothing of its words.
    #[test]
    fn what_is_kept_does_not_depend_on_what_was_recalled(pieces in pieces()) {
        let changed: Vec<Piece> = pieces.iter().map(|piece| match piece {
            Piece::Text(text) => Piece::Text(text.clone()),
            Piece::Memory { id, text } => Piece::Memory { id: id.clone(), text: "x".repeat(text.trim().len()) },
        }).collect();
        prop_assert_eq!(parts(&stored(&prompt(&pieces))), parts(&stored(&prompt(&changed))));
    }

    /// Memory in letters that nothing else uses: no eight bytes of it are kept, printed or traced.
    #[test]
    fn no_piece_of_an_excerpt_is_kept(texts in list("[G-ZÀ-Ž\"\\\\😀-😏]{3,40}", 1..5), around in "[a-z ]{0,20}") {
        let pieces: Vec<Piece> = texts.iter().enumerate().flat_map(|(at, text)| {
            [Piece::Text(around.clone()), Piece::Memory { id: format!("m{at}"), text: text.clone() }]
        }).collect();
        let prompt = prompt(&pieces);
        for kept in [stored(&prompt), format!("{prompt:?}"), format!("{:?}", prompt.shown())] {
            for text in &texts {
                let escaped = json::to_text(&Json::from(text.as_str())).unwrap();
                for whole in [text, &escaped] {
                    let found = whole.as_bytes().windows(8).any(|piece| {
                        kept.as_bytes().windows(8).any(|window| window == piece)
                    });
                    prop_assert!(!found, "{} holds a piece of {}", kept, whole);
                }
            }
        }
    }
}
