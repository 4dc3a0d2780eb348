//! Embedding: the two files of a model, and any text.
//! Owns: what loading and embedding must hold to. Must not: open a file.

use countersign_memory::embed::{Embedder, Refusal, Static, hashed};

const TOKENIZER: &[u8] = include_bytes!("../../corpus/embed_tokenizer/wordlevel.json");
const TENSORS: &[u8] = include_bytes!("../../corpus/embed_tensors/floats");
/// Enough vectors for any token of a small vocabulary.
const ROWS: usize = 64;

/// A vector is of unit length or zero; refusing is told in a few words, the same each time.
fn check(load: impl Fn() -> Result<Static, Refusal>) {
    match load() {
        Ok(model) => {
            for text in ["roof a", "a\u{301} 中 \u{0}", ""] {
                check_vector(&model, text);
            }
        }
        Err(refusal) => {
            assert_eq!(refusal.code().entry().name, "embed.model");
            assert!(refusal.to_string().len() < 600);
            assert_eq!(load().expect_err("it was refused before"), refusal);
        }
    }
}

fn check_vector(embedder: &dyn Embedder, text: &str) {
    let vector = embedder.embed(text);
    assert_eq!(vector.len(), embedder.dimension());
    let length: f64 = vector.iter().map(|number| f64::from(*number) * f64::from(*number)).sum();
    assert!(vector.iter().all(|number| *number == 0.0) || (length - 1.0).abs() < 1e-5, "of length {length}");
    assert_eq!(embedder.embed(text), vector);
}

/// Any bytes as the table.
pub(crate) fn tensors(input: &[u8]) {
    check(|| Static::from_bytes(input, TOKENIZER, None));
}

/// Any bytes as the tokenizer.
pub(crate) fn tokenizer(input: &[u8]) {
    check(|| Static::from_bytes(TENSORS, input, None));
    let header =
        format!(r#"{{"embeddings":{{"dtype":"F32","shape":[{ROWS},1],"data_offsets":[0,{}]}}}}"#, ROWS * 4);
    let numbers = 1.0_f32.to_le_bytes().repeat(ROWS);
    let table = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &numbers].concat();
    check(|| Static::from_bytes(&table, input, None));
}

/// Any text, without a model.
pub(crate) fn text(input: &[u8]) {
    check_vector(&hashed(), &String::from_utf8_lossy(input));
}
