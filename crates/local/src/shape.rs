//! The measures of a model that is run here: a llama with plain rotary positions.
//! Owns: which models are taken, and that the tensors fit the measures. Must not: read a weight.

use crate::header::{Error, Header, Tensor, missing};

/// The largest such model published has 126 layers.
const LAYERS_MAX: u64 = 256;
/// The widest has 16384 numbers to a token, and layers between of 53248.
const WIDTH_MAX: u64 = 1 << 16;
/// Beyond this many tokens an answer would take hours.
const CONTEXT_TOKENS_MAX: u64 = 1 << 17;
/// What a conversation may take in memory while it is answered; the window is made shorter for it.
pub const MEMORY_BYTES_MAX: u64 = 1 << 29;
/// Vocabularies of a quarter of a million words exist.
const WORDS_MAX: u64 = 1 << 19;

/// The measures of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// How many layers.
    pub layers: usize,
    /// How many tokens it can look at, as it is run here.
    pub context: usize,
    /// How many numbers stand for a token.
    pub width: usize,
    /// How many numbers are between the two halves of a layer's second step.
    pub inner: usize,
    /// How many heads ask.
    pub heads: usize,
    /// How many heads are asked; each one by as many.
    pub kv_heads: usize,
    /// How many numbers a head has.
    pub head: usize,
    /// How many of them turn with the position.
    pub turned: usize,
    /// How many words there are.
    pub words: usize,
    /// What keeps a norm from being divided by nothing.
    pub epsilon: f32,
    /// What the slowest turn is computed from.
    pub base: f64,
}

impl Shape {
    /// The measures of this model.
    ///
    /// # Errors
    /// It is no model that is run here, or its tensors do not fit.
    pub fn of(header: &Header) -> Result<Self, Error> {
        if header.architecture() != Some("llama") {
            return Err(Error::Unfit { why: "its architecture is not llama" });
        }
        let is_scaled = header.text("llama.rope.scaling.type").is_some_and(|kind| kind != "none");
        if is_scaled
            || header.has("llama.rope.scale_linear")
            || header.tensors().contains_key("rope_freqs.weight")
        {
            return Err(Error::Unfit { why: "its positions are scaled" });
        }
        if header.integer("llama.expert_count").unwrap_or(0) > 0 {
            return Err(Error::Unfit { why: "it is a mixture of experts" });
        }
        let shape = measures(header)?;
        shape.check_tensors(header)?;
        Ok(shape)
    }

    /// How many numbers all the heads that are asked have.
    #[must_use]
    pub fn kv_width(&self) -> usize {
        self.kv_heads * self.head
    }

    fn check_tensors(&self, header: &Header) -> Result<(), Error> {
        let check = |name: String, columns: usize, rows: usize| match header.tensors().get(&name) {
            Some(Tensor { columns: c, rows: r, .. }) if *c == columns as u64 && *r == rows as u64 => Ok(()),
            Some(_) | None => Err(Error::Missing { name }),
        };
        let kv = self.kv_width();
        check("token_embd.weight".to_owned(), self.width, self.words)?;
        check("output_norm.weight".to_owned(), self.width, 1)?;
        if header.tensors().contains_key("output.weight") {
            check("output.weight".to_owned(), self.width, self.words)?;
        }
        for layer in 0..self.layers {
            let of = |part: &str| format!("blk.{layer}.{part}.weight");
            check(of("attn_norm"), self.width, 1)?;
            check(of("attn_q"), self.width, self.heads * self.head)?;
            check(of("attn_k"), self.width, kv)?;
            check(of("attn_v"), self.width, kv)?;
            check(of("attn_output"), self.heads * self.head, self.width)?;
            check(of("ffn_norm"), self.width, 1)?;
            check(of("ffn_gate"), self.width, self.inner)?;
            check(of("ffn_up"), self.width, self.inner)?;
            check(of("ffn_down"), self.inner, self.width)?;
        }
        Ok(())
    }
}

fn measures(header: &Header) -> Result<Shape, Error> {
    let within = |key: &str, most: u64| match header.integer(key) {
        Some(number @ 1..) if number <= most => usize::try_from(number).map_err(|_| missing(key)),
        Some(_) | None => Err(missing(key)),
    };
    let layers = within("llama.block_count", LAYERS_MAX)?;
    let width = within("llama.embedding_length", WIDTH_MAX)?;
    let inner = within("llama.feed_forward_length", WIDTH_MAX)?;
    let heads = within("llama.attention.head_count", WIDTH_MAX)?;
    let or = |key: &str, default: usize| if header.has(key) { within(key, WIDTH_MAX) } else { Ok(default) };
    let kv_heads = or("llama.attention.head_count_kv", heads)?;
    if !heads.is_multiple_of(kv_heads) || !width.is_multiple_of(heads) {
        return Err(missing("llama.attention.head_count"));
    }
    let head = width / heads;
    for key in ["llama.attention.key_length", "llama.attention.value_length"] {
        if or(key, head)? != head {
            return Err(Error::Unfit { why: "its heads are not as wide as the others" });
        }
    }
    let turned = or("llama.rope.dimension_count", head)?;
    if turned > head || !turned.is_multiple_of(2) {
        return Err(missing("llama.rope.dimension_count"));
    }
    let words = header.texts("tokenizer.ggml.tokens").map_or(0, <[String]>::len);
    if words == 0 || words as u64 > WORDS_MAX {
        return Err(missing("tokenizer.ggml.tokens"));
    }
    let context = header.integer("llama.context_length").filter(|tokens| *tokens > 0);
    let context = context.ok_or_else(|| missing("llama.context_length"))?.min(CONTEXT_TOKENS_MAX);
    // Of each token every layer keeps two rows of floats.
    let token_bytes = (layers * 2 * kv_heads * head * size_of::<f32>()) as u64;
    let context = context.min(MEMORY_BYTES_MAX / token_bytes);
    let context = usize::try_from(context).map_err(|_| missing("llama.context_length"))?;
    let epsilon = header.float("llama.attention.layer_norm_rms_epsilon");
    let epsilon = epsilon.filter(|epsilon| *epsilon > 0.0 && *epsilon < 1.0);
    let epsilon = epsilon.ok_or_else(|| missing("llama.attention.layer_norm_rms_epsilon"))?;
    let base = header.float("llama.rope.freq_base").unwrap_or(10_000.0);
    if !(1.0..1e12).contains(&base) {
        return Err(missing("llama.rope.freq_base"));
    }
    #[expect(clippy::cast_possible_truncation, reason = "it was a float of 32 bits in the file")]
    let epsilon = epsilon as f32;
    Ok(Shape { layers, context, width, inner, heads, kv_heads, head, turned, words, epsilon, base })
}
