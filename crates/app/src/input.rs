//! What a user gives: a file or standard input.
//! Owns: reading it in bounded memory. Must not: trust any of it.

use crate::failure::Failure;
use countersign_record::code::Code;
use countersign_record::json::{self, Json, Limits, ParseError};
use std::io::{BufRead, BufReader, Read};

/// Opens a file, or standard input for `-`.
pub(crate) fn open(path: &str) -> Result<Box<dyn Read + Send>, Failure> {
    if path == "-" {
        return Ok(Box::new(std::io::stdin()));
    }
    match std::fs::File::open(path) {
        Ok(file) => Ok(Box::new(file)),
        Err(error) => Err(Failure::file(path, &error)),
    }
}

/// Reads one JSON document. No more than the limit is ever held.
pub(crate) fn document(path: &str) -> Result<Json, Failure> {
    Ok(json::parse(&document_bytes(path)?)?)
}

/// Reads one JSON document that may be larger than those that are handed about.
pub(crate) fn large_document(path: &str, bytes_max: usize) -> Result<Json, Failure> {
    let mut bytes = Vec::new();
    let limit = bytes_max as u64 + 1;
    open(path)?.take(limit).read_to_end(&mut bytes).map_err(|error| Failure::file(path, &error))?;
    Ok(json::parse_with(&bytes, Limits { bytes_max, values_max: bytes_max / 4, ..Limits::GOVERNED })?)
}

/// As [`document`], but what is wrong with it is told without a word of it: a path given in the wrong place must not
/// print what a memory store says.
pub(crate) fn discreet_document(path: &str) -> Result<Json, Failure> {
    json::parse(&document_bytes(path)?).map_err(|error| {
        let message = error.without_text();
        Failure { message, ..Failure::from(error) }
    })
}

fn document_bytes(path: &str) -> Result<Vec<u8>, Failure> {
    let limit = Limits::GOVERNED.bytes_max as u64 + 1;
    let mut bytes = Vec::new();
    open(path)?.take(limit).read_to_end(&mut bytes).map_err(|error| Failure::file(path, &error))?;
    Ok(bytes)
}

/// Reads a text, as long as a document may be.
pub(crate) fn text(path: &str) -> Result<String, Failure> {
    let limit = Limits::GOVERNED.bytes_max as u64 + 1;
    let mut bytes = Vec::new();
    open(path)?.take(limit).read_to_end(&mut bytes).map_err(|error| Failure::file(path, &error))?;
    if bytes.len() as u64 == limit {
        return Err(Failure::new(Code::JsonTooLong, format!("{path}: a text may have {} bytes", limit - 1)));
    }
    String::from_utf8(bytes)
        .map_err(|_| Failure::new(Code::JsonNotUtf8, format!("{path}: the text is not UTF-8")))
}

/// The lines of a JSON lines input.
pub(crate) struct Lines {
    reader: BufReader<Box<dyn Read + Send>>,
    path: String,
    /// The line that was read last, from 1.
    number: usize,
    /// Where it begins.
    start: usize,
    /// Where it ends.
    end: usize,
}

impl Lines {
    pub(crate) fn open(path: &str) -> Result<Self, Failure> {
        Ok(Lines {
            reader: BufReader::with_capacity(1 << 16, open(path)?),
            path: path.to_owned(),
            number: 0,
            start: 0,
            end: 0,
        })
    }

    /// The next line that is not blank, with its number from 1. A line beyond the limit is an error before it
    /// is read to its end.
    pub(crate) fn next_document(&mut self) -> Result<Option<(u64, Json)>, Failure> {
        loop {
            let limit = Limits::GOVERNED.bytes_max as u64 + 2;
            let mut line = Vec::new();
            let read = self.reader.by_ref().take(limit).read_until(b'\n', &mut line);
            if read.map_err(|error| Failure::file(&self.path, &error))? == 0 {
                return Ok(None);
            }
            self.number += 1;
            (self.start, self.end) = (self.end, self.end + line.len());
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            // A blank line beyond the limit is no blank line: what follows it would be taken for the next one.
            let blank = |byte: &u8| b" \t\r".contains(byte);
            if text.len() <= Limits::GOVERNED.bytes_max && text.iter().all(blank) {
                continue;
            }
            let value = json::parse(text).map_err(|error| self.located(error))?;
            return Ok(Some((self.number as u64, value)));
        }
    }

    /// The place of an error in the input instead of in the line.
    fn located(&self, error: ParseError) -> Failure {
        Failure::from(ParseError { line: self.number, offset: self.start + error.offset, ..error })
    }
}

/// Reads a blob's bytes from a file.
pub(crate) fn blob(path: &str) -> Result<Vec<u8>, Failure> {
    let limit = countersign_record::row::BLOB_BYTES_MAX as u64 + 1;
    let mut bytes = Vec::new();
    open(path)?.take(limit).read_to_end(&mut bytes).map_err(|error| Failure::file(path, &error))?;
    if bytes.len() as u64 == limit {
        return Err(Failure::new(Code::RowTooLarge, format!("{path}: a blob may have {} bytes", limit - 1)));
    }
    Ok(bytes)
}
