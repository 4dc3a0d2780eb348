//! Reads a lexicon of words that mean the same.
//! Owns: its three forms. Must not: decide what an alias does; `countersign-kernel` does.
//!
//! | form | a group |
//! |---|---|
//! | `.txt` | a line, words parted by `=`, `⇄` or `<=>`; `#` begins a comment |
//! | `.csv` | a row |
//! | `.json` | a list of lists, or an object whose names stand for the words in their lists |

use countersign_durable::{self as durable, Links};
use countersign_kernel::history::Lexicon;
use countersign_record::code::Code;
use countersign_record::json::{self, Json};
use std::io::{self, Read};
use std::path::Path;

/// A lexicon of twenty thousand terms is far below this.
const BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Why a lexicon is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {why}")]
pub struct Refusal {
    /// The file.
    pub path: String,
    /// Why.
    pub why: String,
}

impl Refusal {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        Code::HistoryLexicon
    }
}

/// Reads a lexicon; its name's ending says in which form it is.
///
/// # Errors
/// The file can't be read, or is no lexicon.
pub fn read(path: &Path) -> Result<Lexicon, Refusal> {
    let refused = |why: String| Refusal { path: path.display().to_string(), why };
    let form = match path.extension().and_then(|form| form.to_str()) {
        Some("txt") => Form::Lines,
        Some("csv") => Form::Rows,
        Some("json") => Form::Json,
        Some(_) | None => return Err(refused("a lexicon ends in .txt, .csv or .json".to_owned())),
    };
    let text = text(path).map_err(|error| refused(error.to_string()))?;
    of_text(form, &text).map_err(refused)
}

fn text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let (file, _) = durable::open_regular(path, Links::Followed)?;
    let read = file.take(BYTES_MAX + 1).read_to_string(&mut text)?;
    match read as u64 > BYTES_MAX {
        true => Err(io::Error::other(format!("it has more than {BYTES_MAX} bytes"))),
        false => Ok(text),
    }
}

/// How a lexicon is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A group a line.
    Lines,
    /// A group a row.
    Rows,
    /// Lists.
    Json,
}

/// Reads a lexicon that is in memory.
///
/// # Errors
/// It is none.
pub fn of_text(form: Form, text: &str) -> Result<Lexicon, String> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let groups = match form {
        Form::Lines => lines(text),
        Form::Rows => rows(text)?,
        Form::Json => lists(text)?,
    };
    Lexicon::new(groups).map_err(|refusal| refusal.to_string())
}

fn lines(text: &str) -> Vec<Vec<String>> {
    let without_comment = |line: &'_ str| line.split('#').next().unwrap_or_default().trim().to_owned();
    let group = |line: String| {
        line.replace("<=>", "=").split(['=', '\u{21C4}', '\t']).map(str::to_owned).collect::<Vec<_>>()
    };
    text.lines().map(without_comment).filter(|line| !line.is_empty()).map(group).collect()
}

fn rows(text: &str) -> Result<Vec<Vec<String>>, String> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    let row = |row: Result<csv::StringRecord, csv::Error>| match row {
        Ok(row) => Ok(row.iter().map(str::to_owned).collect()),
        Err(error) => Err(error.to_string()),
    };
    reader.records().map(row).collect()
}

fn lists(text: &str) -> Result<Vec<Vec<String>>, String> {
    const NEEDED: &str = "a list of lists of texts is needed, or an object of texts and lists of texts";
    let word = |value: &Json| value.as_str().map(str::to_owned).ok_or_else(|| NEEDED.to_owned());
    match json::parse(text.as_bytes()).map_err(|error| error.to_string())? {
        Json::Array(groups) => groups
            .iter()
            .map(|group| match group {
                Json::Array(words) => words.iter().map(word).collect(),
                _ => Err(NEEDED.to_owned()),
            })
            .collect(),
        Json::Object(object) => object
            .iter()
            .map(|(name, others)| {
                let others = match others {
                    Json::Array(words) => words.iter().map(word).collect::<Result<Vec<_>, _>>()?,
                    one => vec![word(one)?],
                };
                Ok(std::iter::once(name.to_owned()).chain(others).collect())
            })
            .collect(),
        _ => Err(NEEDED.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_forms_say_the_same() {
        let expected = Lexicon::new([
            ["NVH", "vehicle acoustics", "car, noise"].map(str::to_owned).to_vec(),
            ["a", "b"].map(str::to_owned).to_vec(),
        ])
        .unwrap();
        let cases = [
            (Form::Lines, "# words\nNVH = vehicle acoustics \u{21C4} car, noise\n\na <=> b # both ways\n"),
            (Form::Rows, "NVH,vehicle acoustics,\"car, noise\"\nb,a\n"),
            (Form::Json, r#"[["NVH", "vehicle acoustics", "car, noise"], ["a", "b"]]"#),
            (Form::Json, r#"{"NVH": ["vehicle acoustics", "car, noise"], "a": "b"}"#),
        ];
        for (form, text) in cases {
            assert_eq!(of_text(form, text).as_ref(), Ok(&expected), "{text}");
        }
    }

    #[test]
    fn what_says_nothing_is_refused() {
        let cases = [
            (Form::Lines, "alone\n", "group 1 has fewer than two different terms"),
            (Form::Rows, "a,b\nc\n", "group 2 has fewer than two different terms"),
            (Form::Json, "[[1,2]]", "a list of lists of texts is needed"),
            (Form::Json, "7", "a list of lists of texts is needed"),
        ];
        for (form, text, expected) in cases {
            assert!(of_text(form, text).unwrap_err().starts_with(expected), "{text}");
        }
    }
}
