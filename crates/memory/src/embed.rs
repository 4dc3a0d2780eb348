//! Texts as vectors, so that what is alike lies close together.
//! Owns: the offline default, model directories, why one is refused. Must not: use a network, or let a text's vector
//! depend on the machine or on the texts before it.

mod frequent;
mod hashed;
mod model;
mod words;

pub use hashed::Hashed;
pub use model::Static;

use countersign_record::code::Code;
use std::path::Path;

/// Makes vectors of texts. The same text always gives the same vector.
pub trait Embedder: Send + Sync {
    /// Names the space that the vectors lie in. Vectors of different names can't be compared, so texts are embedded
    /// anew when it changes.
    fn name(&self) -> &str;
    /// How many numbers a vector has.
    fn dimension(&self) -> usize;
    /// The vector of a text: of unit length, or all zero for a text that has nothing to go by.
    fn embed(&self, text: &str) -> Vec<f32>;
}

/// The embedder that is always there.
#[must_use]
pub fn hashed() -> Hashed {
    Hashed::default()
}

/// Loads a model from a directory: `model.safetensors` with one table of vectors, `tokenizer.json`, and `config.json`
/// if there is one. Nothing in the directory is executed.
///
/// # Errors
/// A file is missing, too large or damaged, or the files do not fit each other.
pub fn load(directory: &Path) -> Result<Box<dyn Embedder>, Refusal> {
    Ok(Box::new(Static::load(directory)?))
}

/// Why a model is not loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the model in {directory} can't be used: {file}: {why}")]
pub struct Refusal {
    /// The model's directory.
    pub directory: String,
    /// Which of its files.
    pub file: &'static str,
    /// Why.
    pub why: String,
}

impl Refusal {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        Code::EmbedModel
    }
}

/// The vector with unit length, or all zero if it has none.
fn unit(numbers: &[f64]) -> Vec<f32> {
    let length = numbers.iter().map(|number| number * number).sum::<f64>().sqrt();
    let divisor = if length > 0.0 { length } else { 1.0 };
    #[expect(clippy::cast_possible_truncation, reason = "the nearest float is what is wanted")]
    numbers.iter().map(|number| (number / divisor) as f32).collect()
}
