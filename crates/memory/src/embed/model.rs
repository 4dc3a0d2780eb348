//! Static embeddings from a directory: a table of vectors, one per token, as model2vec writes them.
//! Owns: reading the files in bounded memory, the mean of a text's tokens. Must not: execute anything, trust a size,
//! or take what it does not know.

use super::{Embedder, Refusal, unit};
use countersign_record::canonical::{Hasher, Sink};
use countersign_record::digest::Digest;
use rustix::fs::OFlags;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use table::Table;
use tokens::Tokens;

mod table;
mod tokens;

const TENSORS: &str = "model.safetensors";
const TOKENIZER: &str = "tokenizer.json";
const CONFIG: &str = "config.json";

/// The largest static models published have half a million rows of 256 floats: 512 MB.
const TENSORS_BYTES_MAX: u64 = 1 << 30;
const TOKENIZER_BYTES_MAX: u64 = 16 << 20;
const CONFIG_BYTES_MAX: u64 = 1 << 20;
/// A longer text goes through the tokenizer piece by piece: it needs many times the memory of its input.
const PIECE_BYTES_MAX: usize = 8 << 10;

/// A model of static embeddings.
pub struct Static {
    name: String,
    table: Table,
    tokens: Tokens,
}

impl std::fmt::Debug for Static {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Static").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Why a model is refused: the file and the reason.
type Fault = (&'static str, String);

impl Static {
    /// Loads the model of a directory.
    ///
    /// # Errors
    /// See [`super::load`].
    pub fn load(directory: &Path) -> Result<Self, Refusal> {
        let read = || {
            let tensors = read(directory, TENSORS, TENSORS_BYTES_MAX)?;
            let tensors = tensors.ok_or((TENSORS, "there is no such file".into()))?;
            let tokenizer = read(directory, TOKENIZER, TOKENIZER_BYTES_MAX)?;
            let tokenizer = tokenizer.ok_or((TOKENIZER, "there is no such file".into()))?;
            let config = read(directory, CONFIG, CONFIG_BYTES_MAX)?;
            Static::of(&tensors, &tokenizer, config.as_deref())
        };
        read().map_err(|(file, why)| Refusal { directory: directory.display().to_string(), file, why })
    }

    /// The model of these files.
    ///
    /// # Errors
    /// As for [`super::load`]; the refusal names no directory.
    pub fn from_bytes(tensors: &[u8], tokenizer: &[u8], config: Option<&[u8]>) -> Result<Self, Refusal> {
        let refusal = |(file, why)| Refusal { directory: String::new(), file, why };
        Static::of(tensors, tokenizer, config).map_err(refusal)
    }

    fn of(tensors: &[u8], tokenizer: &[u8], config: Option<&[u8]>) -> Result<Self, Fault> {
        if let Some(config) = config {
            check_config(config).map_err(|why| (CONFIG, why))?;
        }
        let table = Table::read(tensors).map_err(|why| (TENSORS, why))?;
        let tokens = Tokens::read(tokenizer).map_err(|why| (TOKENIZER, why))?;
        if tokens.greatest() as usize >= table.tokens() {
            let why = format!("token {} has no vector among {}", tokens.greatest(), table.tokens());
            return Err((TOKENIZER, why));
        }
        Ok(Static { name: name(tensors, tokenizer, config), table, tokens })
    }
}

impl Embedder for Static {
    fn name(&self) -> &str {
        &self.name
    }

    fn dimension(&self) -> usize {
        self.table.dimension()
    }

    /// The mean of the tokens' vectors, with unit length whether the model asks for it or not: similarities are
    /// cosines. The whole text counts, however long; model2vec itself cuts it after 512 tokens unless told otherwise.
    fn embed(&self, text: &str) -> Vec<f32> {
        let mut sum = vec![0.0; self.table.dimension()];
        for piece in pieces(text) {
            for token in self.tokens.of(piece) {
                self.table.add(token, &mut sum);
            }
        }
        // The sum points where the mean does.
        unit(&sum)
    }
}

/// The text in pieces that end where a word does, if there is such a place.
fn pieces(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        if text.is_empty() {
            return None;
        }
        let most = PIECE_BYTES_MAX.min(text.len());
        let most = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
        let (whole, _) = text.split_at(most);
        let end = match whole.rfind(char::is_whitespace) {
            Some(space) if most < text.len() && space > 0 => space,
            _ => most,
        };
        let (piece, rest) = text.split_at(end);
        text = rest;
        Some(piece)
    })
}

/// A file of the directory, whole; `None` if it is not there.
fn read(directory: &Path, name: &'static str, bytes_max: u64) -> Result<Option<Vec<u8>>, Fault> {
    let fault = |error: io::Error| (name, error.kind().to_string());
    // Without it, a pipe of this name would hold us for ever.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(directory.join(name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(fault)?,
    };
    let about = file.metadata().map_err(fault)?;
    if !about.is_file() {
        return Err((name, "it is no regular file".into()));
    }
    let mut bytes = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(fault)?;
    if bytes.len() as u64 > bytes_max {
        return Err((name, format!("it is larger than {bytes_max} bytes")));
    }
    Ok(Some(bytes))
}

/// The configuration decides nothing here, but one that can't be read is a sign of damage.
fn check_config(config: &[u8]) -> Result<(), String> {
    match serde_json::from_slice(config) {
        Ok(serde_json::Value::Object(_)) => Ok(()),
        Ok(_) => Err("it is no JSON object".into()),
        Err(error) => Err(error.to_string()),
    }
}

/// Another byte in any file is another model.
fn name(tensors: &[u8], tokenizer: &[u8], config: Option<&[u8]>) -> String {
    let mut hasher = Hasher::new();
    for (file, bytes) in [(TENSORS, Some(tensors)), (TOKENIZER, Some(tokenizer)), (CONFIG, config)] {
        let digest = bytes.map_or("none".into(), |bytes| Digest::of(bytes).to_string());
        hasher.put(format!("{file} {digest}\n").as_bytes());
    }
    format!("static:{}", hasher.finish())
}
