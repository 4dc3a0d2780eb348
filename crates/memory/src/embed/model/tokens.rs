//! A text as tokens, by a `tokenizer.json`.
//! Owns: which tokenizers are taken. Must not: hand on to the tokenizer's code anything by which a small file could
//! cost much memory or time: growing replacements, patterns, chance.

use serde_json::{Map, Value};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tokenizers::Tokenizer;

/// Affixes and the like are short.
const WORD_BYTES_MAX: usize = 64;
/// A replacement may lengthen a text: a space becomes three bytes in many models.
const REPLACEMENT_BYTES_MAX: usize = 4;
const REPLACEMENTS_MAX: usize = 3;
/// Parts of one sequence, and how deep sequences nest.
const PARTS_MAX: usize = 16;
/// A word is compared with all of its pieces, so its cost grows with the square of its length.
const WORD_CHARS_MAX: u64 = 1_000;
/// Letters of several writings, signs and controls: what takes this takes any text.
const PROBE: &str = "Aé 中\u{301}ش🚀\u{0}\u{ffff} 123-x\n";

/// Normalizers that don't let a text grow, but for composing and parting letters.
const NORMALIZERS: &[&str] =
    &["BertNormalizer", "Lowercase", "NFC", "NFD", "NFKC", "NFKD", "Nmt", "Strip", "StripAccents"];
/// Pre-tokenizers without patterns.
const PRE_TOKENIZERS: &[&str] = &[
    "BertPreTokenizer",
    "ByteLevel",
    "CharDelimiterSplit",
    "Digits",
    "Metaspace",
    "Punctuation",
    "UnicodeScripts",
    "Whitespace",
    "WhitespaceSplit",
];
const MODELS: &[&str] = &["BPE", "Unigram", "WordLevel", "WordPiece"];

/// A tokenizer that is known to be harmless.
pub(super) struct Tokens {
    tokenizer: Tokenizer,
    unknown: Option<u32>,
    greatest: u32,
}

impl Tokens {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        let mut file: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let Some(members) = file.as_object_mut() else { return Err("it is no JSON object".into()) };
        check_parts(members.get("normalizer"), "normalizers", NORMALIZERS)?;
        check_parts(members.get("pre_tokenizer"), "pretokenizers", PRE_TOKENIZERS)?;
        check_model(members.get("model"))?;
        // What only decodes, pads or frames is not needed: it could do harm, and no good.
        for unused in ["decoder", "padding", "post_processor", "truncation"] {
            members.insert(unused.to_owned(), Value::Null);
        }
        let of_model = |name| members.get("model").and_then(|model| model.get(name)).cloned();
        let (unknown_token, unknown_id) = (of_model("unk_token"), of_model("unk_id"));
        let clean = file.to_string();
        let tokenizer = contained(|| Tokenizer::from_bytes(clean.as_bytes()).ok()).flatten();
        let tokenizer = tokenizer.ok_or("it is no tokenizer")?;
        let unknown = match unknown_token.as_ref().and_then(Value::as_str) {
            Some(token) => tokenizer.token_to_id(token),
            None => unknown_id.and_then(|id| id.as_u64()).and_then(|id| u32::try_from(id).ok()),
        };
        let greatest = tokenizer.get_vocab(true).values().copied().max().ok_or("it has no tokens")?;
        let tokens = Tokens { tokenizer, unknown, greatest };
        tokens.encode(PROBE).ok_or("it can't take every text: a token for what is unknown is needed")?;
        Ok(tokens)
    }

    /// The greatest number of a token.
    pub(super) fn greatest(&self) -> u32 {
        self.greatest
    }

    /// The tokens of a text, without those that stand for something unknown.
    pub(super) fn of(&self, text: &str) -> Vec<u32> {
        let mut tokens = self.encode(text).unwrap_or_default();
        tokens.retain(|token| Some(*token) != self.unknown);
        tokens
    }

    fn encode(&self, text: &str) -> Option<Vec<u32>> {
        contained(|| self.tokenizer.encode_fast(text, false).ok().map(|encoding| encoding.get_ids().to_vec()))
            .flatten()
    }
}

/// The tokenizer's code is not ours, and its file may be anybody's: where the two don't fit, it may panic.
fn contained<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// A part, or a sequence of parts, each of a known type.
fn check_parts(part: Option<&Value>, members: &str, known: &[&str]) -> Result<(), String> {
    let mut replacements = 0;
    let parts = match part {
        None | Some(Value::Null) => return Ok(()),
        Some(part) if type_of(part) == Some("Sequence") => {
            part.get(members).and_then(Value::as_array).map(Vec::as_slice).ok_or("a sequence has no parts")?
        }
        Some(part) => std::slice::from_ref(part),
    };
    if parts.len() > PARTS_MAX {
        return Err(format!("a sequence has more than {PARTS_MAX} parts"));
    }
    for part in parts {
        match type_of(part) {
            Some(name) if known.contains(&name) => {}
            Some("Prepend" | "Replace") if members == "normalizers" => {
                replacements += 1;
                check_replacement(part, replacements)?;
            }
            Some(name) => return Err(format!("a part of type {} is not taken", shown(name))),
            None => return Err("a part has no type".into()),
        }
    }
    Ok(())
}

/// A short text for a short text.
fn check_replacement(part: &Value, replacements: usize) -> Result<(), String> {
    let new = part.get("content").or(part.get("prepend")).and_then(Value::as_str);
    let short = new.is_some_and(|new| new.len() <= REPLACEMENT_BYTES_MAX);
    let old = part.get("pattern").map(|pattern| pattern.get("String").and_then(Value::as_str));
    let plain = old.is_none_or(|old| old.is_some_and(|old| !old.is_empty()));
    match short && plain && replacements <= REPLACEMENTS_MAX {
        true => Ok(()),
        false => Err(format!(
            "a replacement is not taken: at most {REPLACEMENTS_MAX}, of plain texts, by up to {REPLACEMENT_BYTES_MAX} bytes"
        )),
    }
}

fn check_model(model: Option<&Value>) -> Result<(), String> {
    let model = model.and_then(Value::as_object).ok_or("it has no model")?;
    match model.get("type").and_then(Value::as_str) {
        Some(name) if MODELS.contains(&name) => {}
        Some(name) => return Err(format!("a model of type {} is not taken", shown(name))),
        None => return Err("its model has no type".into()),
    }
    let is_set = |name: &&str| !matches!(model.get(*name), None | Some(Value::Null));
    if let Some(chance) = ["alpha", "dropout", "nbest_size"].into_iter().find(is_set) {
        return Err(format!("`{chance}` is not taken: a text would have another vector each time"));
    }
    let chars = model.get("max_input_chars_per_word").map_or(Some(0), Value::as_u64);
    if chars.is_none_or(|chars| chars > WORD_CHARS_MAX) {
        return Err(format!("`max_input_chars_per_word` is not 0 to {WORD_CHARS_MAX}"));
    }
    let length = |affix: &str| model.get(affix).and_then(Value::as_str).map_or(0, str::len);
    for affix in ["continuing_subword_prefix", "end_of_word_suffix"] {
        if length(affix) > WORD_BYTES_MAX {
            return Err(format!("`{affix}` is longer than {WORD_BYTES_MAX} bytes"));
        }
    }
    // The tokenizer's code cuts the prefix off the bytes of a token without looking for it.
    if model.contains_key("merges") && length("continuing_subword_prefix") > 0 {
        return Err("merges with a `continuing_subword_prefix` are not taken".into());
    }
    check_merges(model)
}

/// The tokenizer's code has room for the longest token of the vocabulary, and takes for granted that no merge is
/// longer.
fn check_merges(model: &Map<String, Value>) -> Result<(), String> {
    let merges = model.get("merges").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let vocabulary = model.get("vocab").and_then(Value::as_object);
    for merge in merges {
        let merged = match merge {
            Value::String(pair) => Some(pair.replacen(' ', "", 1)),
            Value::Array(pair) => pair.iter().map(Value::as_str).collect(),
            _ => None,
        };
        let known = merged.filter(|merged| vocabulary.is_some_and(|words| words.contains_key(merged)));
        known.ok_or("a merge makes no token of the vocabulary")?;
    }
    Ok(())
}

fn type_of(part: &Value) -> Option<&str> {
    part.get("type").and_then(Value::as_str)
}

/// A name from the file, for a message.
fn shown(name: &str) -> String {
    let plain = name.len() <= WORD_BYTES_MAX && name.chars().all(|char| char.is_ascii_alphanumeric());
    if plain { name.to_owned() } else { "that is not known".to_owned() }
}
