//! One piece of a turn, as the index knows it.
//! Owns: what is kept of it, and its form beside the vectors. Must not: keep its text.

use super::chunk;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::canonical::Score;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::fields::{Fields, Trouble};
use countersign_record::json::{Json, Number, Object};
use countersign_record::turn::{MemoryTurn, Speaker};

/// Bytes that one estimated token stands for.
const TOKEN_BYTES: u64 = 4;

/// What a turn without an importance is worth.
const IMPORTANCE_DEFAULT: f64 = 0.5;

/// One piece of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Where the turn's line begins in the log.
    pub offset: u64,
    /// The number of that line, from 1.
    pub line: u64,
    /// Which piece of the turn, from 0.
    pub chunk: u64,
    /// Who spoke.
    pub source: Speaker,
    /// When, as the turn says.
    pub timestamp: String,
    /// From 0 to 1.
    pub importance: Score,
    /// Words the turn can be found by.
    pub tags: Vec<String>,
    /// The files it speaks of.
    pub file_refs: Vec<String>,
    /// What the piece would take in a prompt.
    pub tokens: u64,
    /// SHA-256 of the turn's text.
    pub hash: Digest,
    /// SHA-256 of the piece.
    pub chunk_hash: Digest,
}

/// What a turn may carry beside its text: it stands with every piece of it.
const WORDS_MAX: usize = 64;
const WORDS_BYTES_MAX: usize = 8 * 1024;

/// Whether a turn carries no more tags and files than a piece can.
///
/// # Errors
/// It does.
pub fn check(turn: &MemoryTurn) -> Result<(), &'static str> {
    let words = || turn.tags.iter().chain(&turn.provenance.file_refs);
    match words().count() > WORDS_MAX || words().map(String::len).sum::<usize>() > WORDS_BYTES_MAX {
        true => Err("a turn has at most 64 tags and files, of 8 KiB together"),
        false => Ok(()),
    }
}

/// A turn's line in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// Where it begins, in bytes.
    pub offset: u64,
    /// Its number, from 1.
    pub line: u64,
}

impl Item {
    /// The pieces of a turn, each with its text.
    pub fn of(turn: &MemoryTurn, at: At) -> impl Iterator<Item = (Item, &str)> {
        let importance = match &turn.importance {
            Some(Json::Number(number)) => number.as_f64(),
            Some(_) | None => IMPORTANCE_DEFAULT,
        };
        let importance = Score::try_from(importance).unwrap_or(Score::of_halves(1));
        (0..).zip(chunk::chunks(&turn.text)).map(move |(number, text)| {
            let item = Item {
                offset: at.offset,
                line: at.line,
                chunk: number,
                source: turn.role,
                timestamp: turn.timestamp.to_string(),
                importance,
                tags: turn.tags.clone(),
                file_refs: turn.provenance.file_refs.clone(),
                tokens: (text.len() as u64).div_ceil(TOKEN_BYTES),
                hash: turn.provenance.hash,
                chunk_hash: Digest::of(text.as_bytes()),
            };
            (item, text)
        })
    }

    /// About how many bytes its labels take, rather too many than too few.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let words = self.tags.iter().chain(&self.file_refs);
        self.timestamp.len() + words.map(|word| word.len() + 8).sum::<usize>() + 512
    }

    /// About how many values its labels have, rather too many than too few.
    #[must_use]
    pub fn values(&self) -> usize {
        self.tags.len() + self.file_refs.len() + 28
    }

    /// Its name.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}::chunk_{}", self.offset, self.chunk)
    }

    /// What stands beside its vector.
    #[must_use]
    pub fn meta(&self) -> Json {
        // A line of 2^53 bytes can't be written, so every count is a number.
        let count = |value: u64| Number::try_from(value).map_or(Json::Null, Json::Number);
        let texts = |texts: &[String]| Json::Array(texts.iter().map(|text| text.as_str().into()).collect());
        Json::Object(Object::from([
            ("offset", count(self.offset)),
            ("line", count(self.line)),
            ("chunk", count(self.chunk)),
            ("source", self.source.word().into()),
            ("timestamp", self.timestamp.as_str().into()),
            ("importance", Json::Number(self.importance.into())),
            ("tags", texts(&self.tags)),
            ("file_refs", texts(&self.file_refs)),
            ("tokens", count(self.tokens)),
            ("hash", self.hash.to_string().into()),
            ("chunk_hash", self.chunk_hash.to_string().into()),
        ]))
    }

    /// Reads what stands beside a vector.
    ///
    /// # Errors
    /// It is no item, or not the one of that name.
    pub fn read(id: &str, meta: Json) -> Result<Self, Vec<Trouble>> {
        let mut fields = Fields::taking(meta).map_err(|trouble| Vec::from([trouble]))?;
        let [offset, line, chunk, tokens] =
            ["offset", "line", "chunk", "tokens"].map(|name| fields.integer(name));
        let source = fields.parse("source", |word| Speaker::try_from(word));
        let timestamp = fields.text("timestamp");
        let importance = fields.value("importance").and_then(|value| match value {
            Json::Number(number) => Score::try_from(number.as_f64()).ok(),
            _ => None,
        });
        let (tags, file_refs) = (fields.texts("tags"), fields.texts("file_refs"));
        let [hash, chunk_hash] =
            ["hash", "chunk_hash"].map(|name| fields.parse(name, |text| Digest::try_from(text)));
        if importance.is_none_or(|importance| !(0.0..=1.0).contains(&importance.value())) {
            fields.trouble("importance", Code::FieldInvalid, "a number from 0 to 1 is needed");
        }
        if let (Some(offset), Some(chunk)) = (offset, chunk)
            && format!("{offset}::chunk_{chunk}") != id
        {
            fields.trouble("offset", Code::FieldConflict, "the item has another name");
        }
        fields.deny_unknown();
        fields.finish()?;
        let read = || {
            Some(Item {
                offset: offset?,
                line: line?,
                chunk: chunk?,
                source: source?,
                timestamp: timestamp?,
                importance: importance?,
                tags: tags?,
                file_refs: file_refs?,
                tokens: tokens?,
                hash: hash?,
                chunk_hash: chunk_hash?,
            })
        };
        read().ok_or_else(Vec::new)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use countersign_record::json;

    pub(in crate::history) fn item(line: u64, importance: f64) -> Item {
        Item {
            offset: line * 100,
            line,
            chunk: 0,
            source: Speaker::User,
            timestamp: "2025-09-07T12:00:01Z".into(),
            importance: Score::try_from(importance).unwrap(),
            tags: Vec::new(),
            file_refs: Vec::new(),
            tokens: 10,
            hash: Digest::of(&line.to_be_bytes()),
            chunk_hash: Digest::of(&line.to_be_bytes()),
        }
    }

    fn turn(text: &str) -> MemoryTurn {
        let document = format!(
            "{{\"role\":\"external\",\"text\":\"{text}\",\"timestamp\":\"2025-09-07T12:00:01Z\",\"goal\":\"g\",\
             \"importance\":0.25,\"tags\":[\"t\"],\"provenance\":{{\"source\":\"external\",\"hash\":\"{}\",\
             \"file_refs\":[\"a.md\"]}}}}",
            Digest::of(text.as_bytes())
        );
        MemoryTurn::read(json::parse(document.as_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn an_item_survives_its_form() {
        let turn = turn(&"word ".repeat(600));
        let items: Vec<Item> = Item::of(&turn, At { offset: 7, line: 2 }).map(|(item, _)| item).collect();
        assert_eq!(items.len(), 3);
        for item in items {
            let read = Item::read(&item.id(), item.meta()).unwrap();
            assert_eq!(read, item);
            assert!(Item::read("8::chunk_0", item.meta()).is_err());
        }
    }
}
