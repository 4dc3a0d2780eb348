//! The header of a GGUF file: what the model is, its words, and where its weights are.
//! Owns: reading it within bounds. Must not: allocate what a length asks for, recurse, or read a weight.

mod bytes;
mod tensor;
mod value;

use bytes::Bytes;
use countersign_record::code::Code;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};
pub use tensor::{Kind, Tensor};
use value::Lists;
pub(crate) use value::Value;

/// The first bytes of a file.
pub const MAGIC: [u8; 4] = *b"GGUF";

/// Vocabularies of a quarter of a million words, with their merges, take 15 MB.
pub const HEADER_BYTES_MAX: u64 = 64 << 20;
/// The longest texts are chat templates, of some 20 kB.
pub const TEXT_BYTES_MAX: u64 = 1 << 20;
/// The largest vocabularies have a quarter of a million words and twice as many merges.
pub const ELEMENTS_MAX: u64 = 1 << 20;
/// Headers have some dozens of keys.
pub const KEYS_MAX: u64 = 4096;
/// A model of a hundred layers has a thousand tensors.
pub const TENSORS_MAX: u64 = 1 << 14;
/// The names of keys and tensors.
pub const NAME_BYTES_MAX: u64 = 256;
/// What tensors may be aligned to.
const ALIGNMENT_MAX: i128 = 1 << 16;
const ALIGNMENT_DEFAULT: u64 = 32;

/// The lists that are kept.
const LISTS: [&str; 3] = ["tokenizer.ggml.tokens", "tokenizer.ggml.token_type", "tokenizer.ggml.merges"];

/// Why a file is no model that can be used. Repeats nothing of the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It can't be read.
    #[error("the model can't be read: {0}")]
    Unreadable(ErrorKind),
    /// It does not begin as one.
    #[error("it is no GGUF file")]
    NotGguf,
    /// It is in another version of the format.
    #[error("it is GGUF of version {version}; 2 and 3 are read")]
    Version {
        /// Which.
        version: u32,
    },
    /// Something in it is too large.
    #[error("its {what} is larger than {bytes_max} bytes")]
    TooLarge {
        /// What.
        what: &'static str,
        /// The bound.
        bytes_max: u64,
    },
    /// It ends before what it says is there.
    #[error("the file is cut off")]
    Cut,
    /// It breaks the format.
    #[error("byte {at}: {why}")]
    Odd {
        /// Where.
        at: u64,
        /// Why.
        why: &'static str,
    },
    /// The tensors do not lie in the file as they must.
    #[error("the tensors do not lie in the file as it says")]
    Tensors,
    /// A key or tensor that is needed is not there, or is of another kind.
    #[error("{name} is missing or wrong")]
    Missing {
        /// Its name.
        name: String,
    },
    /// It is a model, but none that is run here.
    #[error("such a model is not run here: {why}")]
    Unfit {
        /// Why.
        why: &'static str,
    },
}

impl Error {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        Code::ModelConfig
    }
}

/// What a file says of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    values: BTreeMap<String, Value>,
    tensors: BTreeMap<String, Tensor>,
    bytes: u64,
}

impl Header {
    /// Reads the header from the start of a file that is `length` bytes long.
    ///
    /// # Errors
    /// It is no GGUF file, goes beyond a bound, or says what can't be.
    pub fn read(from: &mut impl Read, length: u64) -> Result<Self, Error> {
        let mut bytes = Bytes::new(from);
        match bytes.array() {
            Ok(MAGIC) => {}
            Ok(_) | Err(Error::Cut) => return Err(Error::NotGguf),
            Err(error) => return Err(error),
        }
        let version = bytes.u32()?;
        if !(2..=3).contains(&version) {
            return Err(Error::Version { version });
        }
        let (tensor_count, key_count) = (bytes.u64()?, bytes.u64()?);
        if tensor_count > TENSORS_MAX || key_count > KEYS_MAX {
            return Err(bytes.odd("there are too many tensors or keys"));
        }
        let mut values = BTreeMap::new();
        for _ in 0..key_count {
            let key = bytes.text(NAME_BYTES_MAX)?;
            let lists = if LISTS.contains(&key.as_str()) { Lists::Kept } else { Lists::Passed };
            let value = value::read(&mut bytes, lists)?;
            if values.insert(key, value).is_some() {
                return Err(bytes.odd("a key is there twice"));
            }
        }
        let mut tensors = BTreeMap::new();
        for _ in 0..tensor_count {
            let (name, tensor) = tensor::read(&mut bytes)?;
            if tensors.insert(name, tensor).is_some() {
                return Err(bytes.odd("a tensor is there twice"));
            }
        }
        let mut header = Header { values, tensors, bytes: bytes.at() };
        header.place(length)?;
        Ok(header)
    }

    /// Counts where tensors start from the start of the file. They must not lie over each other: weights that are read
    /// many times would take more memory than the file.
    fn place(&mut self, length: u64) -> Result<(), Error> {
        let alignment = match self.values.get("general.alignment") {
            None => ALIGNMENT_DEFAULT,
            Some(Value::Integer(number @ 1..=ALIGNMENT_MAX)) => {
                u64::try_from(*number).map_err(|_| Error::Tensors)?
            }
            Some(_) => return Err(Error::Tensors),
        };
        let data = self.bytes.checked_next_multiple_of(alignment).ok_or(Error::Tensors)?;
        let mut spans = Vec::new();
        for tensor in self.tensors.values_mut() {
            let is_aligned = tensor.start.is_multiple_of(alignment);
            tensor.start = data.checked_add(tensor.start).filter(|_| is_aligned).ok_or(Error::Tensors)?;
            let end = tensor.start.checked_add(tensor.bytes).ok_or(Error::Tensors)?;
            if end > length {
                return Err(Error::Cut);
            }
            spans.push((tensor.start, end));
        }
        spans.sort_unstable();
        let is_apart = spans.iter().zip(spans.iter().skip(1)).all(|((_, end), (start, _))| end <= start);
        if is_apart { Ok(()) } else { Err(Error::Tensors) }
    }

    /// How many bytes it takes itself.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What kind of model it is, in the format's words: `llama`.
    #[must_use]
    pub fn architecture(&self) -> Option<&str> {
        self.text("general.architecture")
    }

    /// What its makers call it.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.text("general.name")
    }

    /// How its makers write a conversation, as a template that is never run.
    #[must_use]
    pub fn chat_template(&self) -> Option<&str> {
        self.text("tokenizer.chat_template")
    }

    /// The text of a key, if it has one.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.values.get(key) {
            Some(Value::Text(text)) => Some(text),
            Some(_) | None => None,
        }
    }

    /// The whole number of a key, if it has one.
    #[must_use]
    pub fn integer(&self, key: &str) -> Option<u64> {
        match self.values.get(key) {
            Some(Value::Integer(number)) => u64::try_from(*number).ok(),
            Some(_) | None => None,
        }
    }

    /// The number of a key, if it has one.
    #[must_use]
    pub fn float(&self, key: &str) -> Option<f64> {
        match self.values.get(key) {
            Some(Value::Float(number)) => Some(*number),
            Some(_) | None => None,
        }
    }

    /// The texts of a key, if it is one of the lists that are kept.
    #[must_use]
    pub fn texts(&self, key: &str) -> Option<&[String]> {
        match self.values.get(key) {
            Some(Value::Texts(texts)) => Some(texts),
            Some(_) | None => None,
        }
    }

    /// The whole numbers of a key, if it is one of the lists that are kept.
    #[must_use]
    pub fn integers(&self, key: &str) -> Option<&[i32]> {
        match self.values.get(key) {
            Some(Value::Integers(integers)) => Some(integers),
            Some(_) | None => None,
        }
    }

    /// Whether there is such a key, of whatever kind.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    /// Its tensors by name.
    #[must_use]
    pub fn tensors(&self) -> &BTreeMap<String, Tensor> {
        &self.tensors
    }
}

pub(crate) fn missing(name: &str) -> Error {
    Error::Missing { name: name.to_owned() }
}
