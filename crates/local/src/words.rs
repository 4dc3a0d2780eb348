//! The words of a model: texts as tokens, and tokens as bytes.
//! Owns: the tokenizer that a header describes. Must not: ever make a token of control out of a text.

use crate::header::{Error, Header, missing};
use std::borrow::Cow;
use std::collections::BTreeMap;
use tokenizers::Tokenizer;
use tokenizers::models::bpe::BPE;
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;

const TOKENS: &str = "tokenizer.ggml.tokens";
const KINDS: &str = "tokenizer.ggml.token_type";
const MERGES: &str = "tokenizer.ggml.merges";
/// The kind of an ordinary token.
const NORMAL: i32 = 1;
/// What stands for a character that the model has no bytes for.
const SUBSTITUTE: &str = "\u{FFFD}";

/// A text that has no tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text can't be put into the model's words")]
pub struct NoTokens;

/// The words of a model.
pub struct Words {
    tokenizer: Tokenizer,
    /// The bytes of each ordinary token; `None` for one of control.
    bytes: Vec<Option<Vec<u8>>>,
    /// The bytes that no token stands for.
    unknown: Vec<u8>,
    start: u32,
    end: u32,
}

impl std::fmt::Debug for Words {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Words").field("tokens", &self.bytes.len()).finish_non_exhaustive()
    }
}

impl Words {
    /// The words that the header lists.
    ///
    /// # Errors
    /// They are of a kind that is not known, or do not fit each other.
    pub fn of(header: &Header) -> Result<Self, Error> {
        if header.text("tokenizer.ggml.model") != Some("gpt2") {
            return Err(Error::Unfit { why: "its tokenizer is not byte-level BPE" });
        }
        let before = match header.text("tokenizer.ggml.pre") {
            Some("smollm") => pieces_with_digits_apart(),
            Some("gpt-2") => pieces(),
            Some(_) | None => return Err(Error::Unfit { why: "its tokenizer splits texts in another way" }),
        };
        let tokens = header.texts(TOKENS).ok_or_else(|| missing(TOKENS))?;
        let kinds = header.integers(KINDS).filter(|kinds| kinds.len() == tokens.len());
        let kinds = kinds.ok_or_else(|| missing(KINDS))?;
        let mut ordinary = BTreeMap::new();
        let mut bytes = Vec::with_capacity(tokens.len());
        for (token, (text, kind)) in tokens.iter().zip(kinds).enumerate() {
            let token = u32::try_from(token).map_err(|_| missing(TOKENS))?;
            let is_normal = *kind == NORMAL;
            bytes.push(if is_normal { Some(bytes_of(text).ok_or_else(|| missing(TOKENS))?) } else { None });
            if is_normal && ordinary.insert(text.as_str(), token).is_some() {
                return Err(missing(TOKENS));
            }
        }
        let is_known = |byte: &u8| ordinary.contains_key(letter(*byte).to_string().as_str());
        if !SUBSTITUTE.bytes().chain(b' '..=b'~').chain([b'\n']).all(|byte| is_known(&byte)) {
            return Err(Error::Unfit { why: "it has no token for a usual byte" });
        }
        let unknown: Vec<u8> = (0..=u8::MAX).filter(|byte| !is_known(byte)).collect();
        let merges = header.texts(MERGES).ok_or_else(|| missing(MERGES))?;
        let merges = checked_merges(merges, &ordinary)?;
        let control = |name: &str| {
            let places = tokens.iter().zip(kinds).position(|(text, kind)| text == name && *kind != NORMAL);
            places.and_then(|token| u32::try_from(token).ok())
        };
        let unfit = Error::Unfit { why: "its conversations are not in the form <|im_start|> … <|im_end|>" };
        let (Some(start), Some(end)) = (control("<|im_start|>"), control("<|im_end|>")) else {
            return Err(unfit);
        };
        let vocabulary = ordinary.into_iter().map(|(text, token)| (text.to_owned(), token));
        let bpe =
            BPE::builder().vocab_and_merges(vocabulary.collect::<tokenizers::models::bpe::Vocab>(), merges);
        let mut tokenizer = Tokenizer::new(bpe.build().map_err(|_| missing(MERGES))?);
        tokenizer.with_pre_tokenizer(Some(before));
        Ok(Words { tokenizer, bytes, unknown, start, end })
    }

    /// The tokens of a text. None is of control, whatever the text says: the tokenizer has never heard of those. A
    /// character that the model does not know (some rare scripts, some controls) is U+FFFD to it: the tokenizer would
    /// leave it out, and join what is beside it.
    ///
    /// # Errors
    /// The tokenizer gives up.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, NoTokens> {
        let is_unknown = |character: char| {
            let mut bytes = [0; 4];
            character.encode_utf8(&mut bytes).bytes().any(|byte| self.unknown.contains(&byte))
        };
        let text: Cow<'_, str> = match text.contains(is_unknown) {
            true => text.replace(is_unknown, SUBSTITUTE).into(),
            false => text.into(),
        };
        let encoding = self.tokenizer.encode_fast(&*text, false).map_err(|_| NoTokens)?;
        Ok(encoding.get_ids().to_vec())
    }

    /// The bytes that a token stands for; none for a token of control, or one that is not there.
    #[must_use]
    pub fn bytes(&self, token: u32) -> Option<&[u8]> {
        self.bytes.get(token as usize)?.as_deref()
    }

    /// The token before a message: `<|im_start|>`.
    #[must_use]
    pub fn start(&self) -> u32 {
        self.start
    }

    /// The token after a message: `<|im_end|>`.
    #[must_use]
    pub fn end(&self) -> u32 {
        self.end
    }

    /// How many tokens there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.bytes.len()
    }
}

/// GPT-2's pieces: words with the space before them, in letters that stand for bytes.
fn pieces() -> PreTokenizerWrapper {
    ByteLevel::default().add_prefix_space(false).into()
}

fn pieces_with_digits_apart() -> PreTokenizerWrapper {
    PreTokenizerWrapper::Sequence(Sequence::new(vec![Digits::new(true).into(), pieces()]))
}

/// The pairs of the merges. Each pair and what it makes must be an ordinary token: the tokenizer takes that for granted.
fn checked_merges(merges: &[String], ordinary: &BTreeMap<&str, u32>) -> Result<Vec<(String, String)>, Error> {
    let pair = |merge: &String| {
        let (left, right) = merge.split_once(' ')?;
        let is_known =
            [left, right, &format!("{left}{right}")].iter().all(|text| ordinary.contains_key(text));
        is_known.then(|| (left.to_owned(), right.to_owned()))
    };
    merges.iter().map(|merge| pair(merge).ok_or_else(|| missing(MERGES))).collect()
}

/// The letter that stands for a byte in a token, as GPT-2 has it: printable bytes for themselves, the others in order
/// from U+0100 on.
fn letter(byte: u8) -> char {
    let is_itself = |byte: u8| matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
    if is_itself(byte) {
        char::from(byte)
    } else {
        let before = (0..byte).filter(|byte| !is_itself(*byte)).count();
        u32::try_from(before).ok().and_then(|before| char::from_u32(0x100 + before)).unwrap_or('\u{FFFD}')
    }
}

/// The bytes of a token's letters.
fn bytes_of(token: &str) -> Option<Vec<u8>> {
    token.chars().map(byte_of).collect()
}

fn byte_of(wanted: char) -> Option<u8> {
    match u32::from(wanted) {
        // The first 68 letters from U+0100 on stand for the bytes that are not printable.
        0x100..=0x143 => (0..=u8::MAX).find(|byte| letter(*byte) == wanted),
        _ => u8::try_from(wanted).ok().filter(|byte| letter(*byte) == wanted),
    }
}
