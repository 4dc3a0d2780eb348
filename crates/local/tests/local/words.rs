//! Texts as tokens, and conversations.
//! Owns: that a text stays a text. Must not: need a model.

use crate::synthetic::{self, Entry, Gguf};
use countersign_local::chat::{self, CONVERSATION_BYTES_MAX};
use countersign_local::{Header, Words};
use countersign_record::session::{ChatMessage, Role};
use proptest::prelude::*;
use std::sync::OnceLock;

const START: u32 = 1;
const END: u32 = 2;

fn of(gguf: &Gguf) -> Words {
    let bytes = gguf.bytes();
    Words::of(&Header::read(&mut &*bytes, bytes.len() as u64).unwrap()).unwrap()
}

fn words() -> &'static Words {
    static WORDS: OnceLock<Words> = OnceLock::new();
    WORDS.get_or_init(|| of(&Gguf::tiny(1)))
}

/// The text of each token.
fn pieces(words: &Words, text: &str) -> Vec<String> {
    let tokens = words.encode(text).unwrap();
    tokens.iter().map(|token| String::from_utf8_lossy(words.bytes(*token).unwrap()).into_owned()).collect()
}

fn message(role: Role, content: &str) -> ChatMessage {
    ChatMessage { role, content: content.to_owned() }
}

#[test]
fn letters_are_merged_in_their_order() {
    assert_eq!(pieces(words(), "hello world"), ["hello", " w", "o", "r", "l", "d"]);
    assert_eq!(pieces(words(), "hell he"), ["hell", " ", "he"]);
    assert_eq!(pieces(words(), ""), Vec::<String>::new());
}

#[test]
fn digits_stand_alone_where_the_model_has_learned_it_so() {
    let merged = |pre: &str| {
        let mut gguf = Gguf::tiny(1).with("tokenizer.ggml.pre", Entry::Text(pre.to_owned()));
        for (key, entry) in &mut gguf.keys {
            match (key.as_str(), entry) {
                // In the place of "hello", which nothing else is made of.
                ("tokenizer.ggml.tokens", Entry::Texts(tokens)) => tokens[260] = "12".to_owned(),
                ("tokenizer.ggml.merges", Entry::Texts(merges)) => merges[3] = "1 2".to_owned(),
                _ => {}
            }
        }
        pieces(&of(&gguf), "a12")
    };
    assert_eq!(merged("gpt-2"), ["a", "12"]);
    assert_eq!(merged("smollm"), ["a", "1", "2"]);
}

#[test]
fn a_character_without_bytes_of_its_own_is_told_as_unknown() {
    let tokens = words().encode("a\u{4}b\u{40000}c").unwrap();
    let bytes: Vec<u8> = tokens.iter().flat_map(|token| words().bytes(*token).unwrap()).copied().collect();
    assert_eq!(String::from_utf8(bytes).unwrap(), "a\u{FFFD}b\u{FFFD}c");
}

#[test]
fn tokens_of_control_have_no_bytes_and_what_is_not_there_neither() {
    for token in [0, START, END, 262, u32::MAX] {
        assert_eq!(words().bytes(token), None);
    }
    assert_eq!((words().start(), words().end(), words().count()), (START, END, 262));
}

#[test]
fn a_conversation_has_its_form() {
    let messages = [message(Role::System, "he"), message(Role::User, "hell"), message(Role::Tool, "")];
    let tokens = chat::prompt(words(), &messages, 100).unwrap();
    let told: Vec<String> = tokens
        .iter()
        .map(|token| match *token {
            START => "<".to_owned(),
            END => ">".to_owned(),
            token => String::from_utf8(words().bytes(token).unwrap().to_vec()).unwrap(),
        })
        .collect();
    assert_eq!(told.concat(), "<system\nhe>\n<user\nhell>\n<tool\n>\n<assistant\n");
    assert_eq!(chat::prompt(words(), &messages, tokens.len() + 1).unwrap(), tokens);
    let context = tokens.len();
    assert_eq!(
        chat::prompt(words(), &messages, context),
        Err(chat::Error::TooManyTokens { tokens: context, context })
    );
}

#[test]
fn a_conversation_that_no_window_holds_is_not_even_looked_at() {
    let half = " ".repeat(CONVERSATION_BYTES_MAX / 2 + 1);
    let messages = [message(Role::User, &half), message(Role::Assistant, &half)];
    let error = chat::prompt(words(), &messages, usize::MAX).unwrap_err();
    assert_eq!(error, chat::Error::TooManyBytes { bytes: CONVERSATION_BYTES_MAX + 2 });
    // The longest run that is taken comes through whole.
    assert_eq!(words().encode(&half).unwrap().len(), half.len());
    let mixed = format!("{}x", " \n".repeat(CONVERSATION_BYTES_MAX / 4));
    assert_eq!(pieces(words(), &mixed).concat(), mixed);
}

proptest! {
    #[test]
    fn a_text_comes_back_and_forges_nothing(
        parts in prop::collection::vec(
            prop_oneof![
                Just("<|im_start|>".to_owned()),
                Just("<|im_end|>\n".to_owned()),
                Just("<|endoftext|>".to_owned()),
                Just("hello".to_owned()),
                "[ -~\\n\\t]{0,8}",
                any::<String>(),
            ],
            0..6,
        ),
    ) {
        let text = parts.concat();
        let tokens = words().encode(&text).unwrap();
        let bytes: Option<Vec<&[u8]>> = tokens.iter().map(|token| words().bytes(*token)).collect();
        let bytes = bytes.expect("no token is of control").concat();
        let is_unknown = |c: char| c.to_string().bytes().any(|byte| synthetic::UNKNOWN.contains(&byte));
        prop_assert_eq!(String::from_utf8(bytes).unwrap(), text.replace(is_unknown, "\u{FFFD}"));
        let messages = [message(Role::User, &text)];
        let prompt = chat::prompt(words(), &messages, usize::MAX).unwrap();
        let control: Vec<u32> = prompt.into_iter().filter(|token| words().bytes(*token).is_none()).collect();
        prop_assert_eq!(control, [START, END, START]);
    }
}
