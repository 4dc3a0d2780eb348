//! A llama: from tokens to how likely each token is as the next one.
//! Owns: the forward pass. Must not: choose a token, or keep anything of a conversation but in the memory it is given.
//!
//! Tables of weights are multiplied by candle, which knows how they are packed. All else (norms, positions, attention) is
//! plain arithmetic in one fixed order, so that the same tokens give the same bits.

use crate::Shape;
use candle_core::quantized::{QMatMul, QTensor};
use candle_core::{Device, Module, Tensor};
use std::sync::Arc;

/// The arithmetic could not be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trouble;

impl From<candle_core::Error> for Trouble {
    fn from(_: candle_core::Error) -> Self {
        Trouble
    }
}

/// A table of weights.
#[derive(Clone)]
pub(super) struct Table(QMatMul);

impl Table {
    pub(super) fn new(tensor: Arc<QTensor>) -> Result<Self, Trouble> {
        Ok(Table(QMatMul::from_arc(tensor)?))
    }

    /// Rows of `width` numbers, each multiplied with the table.
    fn times(&self, rows: &[f32], width: usize) -> Result<Vec<f32>, Trouble> {
        let rows = Tensor::from_slice(rows, (rows.len() / width, width), &Device::Cpu)?;
        Ok(self.0.forward(&rows)?.flatten_all()?.to_vec1()?)
    }

    /// The rows of these tokens.
    fn rows(&self, tokens: &[u32]) -> Result<Vec<f32>, Trouble> {
        let tokens = Tensor::from_slice(tokens, tokens.len(), &Device::Cpu)?;
        Ok(self.0.embedding(&tokens)?.flatten_all()?.to_vec1()?)
    }
}

/// One layer.
pub(super) struct Layer {
    pub(super) first_norm: Vec<f32>,
    pub(super) query: Table,
    pub(super) key: Table,
    pub(super) value: Table,
    pub(super) joined: Table,
    pub(super) second_norm: Vec<f32>,
    pub(super) gate: Table,
    pub(super) up: Table,
    pub(super) down: Table,
}

/// What a layer keeps of the tokens so far: a row of keys and a row of values for each.
#[derive(Default)]
struct Kept {
    keys: Vec<f32>,
    values: Vec<f32>,
}

/// What is kept of a conversation while it is answered.
pub(super) struct Memory {
    tokens: usize,
    layers: Vec<Kept>,
}

/// A model.
pub(super) struct Llama {
    shape: Shape,
    embedding: Table,
    layers: Vec<Layer>,
    norm: Vec<f32>,
    output: Table,
    /// How far each pair of numbers turns from one token to the next.
    turns: Vec<f64>,
}

impl Llama {
    pub(super) fn new(
        shape: Shape,
        embedding: Table,
        layers: Vec<Layer>,
        norm: Vec<f32>,
        output: Table,
    ) -> Self {
        let turned = shape.turned as f64;
        let turn = |pair: usize| libm::pow(shape.base, -2.0 * pair as f64 / turned);
        let turns = (0..shape.turned / 2).map(turn).collect();
        Llama { shape, embedding, layers, norm, output, turns }
    }

    pub(super) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// A memory with nothing in it.
    pub(super) fn memory(&self) -> Memory {
        Memory { tokens: 0, layers: self.layers.iter().map(|_| Kept::default()).collect() }
    }

    /// Reads more tokens, and says how likely each token is after the last of them.
    pub(super) fn read(&self, tokens: &[u32], memory: &mut Memory) -> Result<Vec<f32>, Trouble> {
        if tokens.is_empty() || memory.tokens + tokens.len() > self.shape.context {
            return Err(Trouble);
        }
        let Shape { width, epsilon, .. } = self.shape;
        let mut rows = self.embedding.rows(tokens)?;
        for (layer, kept) in self.layers.iter().zip(&mut memory.layers) {
            let attended =
                self.attend(layer, &normed(&rows, &layer.first_norm, epsilon), memory.tokens, kept)?;
            add(&mut rows, &attended);
            let inner = normed(&rows, &layer.second_norm, epsilon);
            let mut gate = layer.gate.times(&inner, width)?;
            let up = layer.up.times(&inner, width)?;
            for (gate, up) in gate.iter_mut().zip(up) {
                *gate = *gate / (1.0 + libm::expf(-*gate)) * up;
            }
            add(&mut rows, &layer.down.times(&gate, self.shape.inner)?);
        }
        memory.tokens += tokens.len();
        let last = rows.chunks_exact(width).next_back().ok_or(Trouble)?;
        self.output.times(&normed(last, &self.norm, epsilon), width)
    }

    /// What each token takes from those before it and itself. The first row is that of token number `before`.
    fn attend(
        &self,
        layer: &Layer,
        rows: &[f32],
        before: usize,
        kept: &mut Kept,
    ) -> Result<Vec<f32>, Trouble> {
        let Shape { width, heads, kv_heads, head, .. } = self.shape;
        let kv_width = self.shape.kv_width();
        let mut queries = layer.query.times(rows, width)?;
        let mut keys = layer.key.times(rows, width)?;
        self.turn(&mut queries, heads * head, before);
        self.turn(&mut keys, kv_width, before);
        kept.keys.extend(keys);
        kept.values.extend(layer.value.times(rows, width)?);
        let scale = 1.0 / libm::sqrtf(head as f32);
        let mut attended = vec![0.0; queries.len()];
        let mut weights = Vec::new();
        let asking = queries.chunks_exact(heads * head).zip(attended.chunks_exact_mut(heads * head));
        for (token, (queries, attended)) in (before..).zip(asking) {
            let each = queries.chunks_exact(head).zip(attended.chunks_exact_mut(head));
            for (number, (query, attended)) in each.enumerate() {
                // Several heads ask the same one.
                let asked = number / (heads / kv_heads) * head;
                weights.clear();
                let keys = kept.keys.chunks_exact(kv_width).take(token + 1);
                weights.extend(keys.map(|row| dot(query, part(row, asked, head)) * scale));
                soften(&mut weights);
                for (weight, row) in weights.iter().zip(kept.values.chunks_exact(kv_width)) {
                    for (sum, value) in attended.iter_mut().zip(part(row, asked, head)) {
                        *sum += weight * value;
                    }
                }
            }
        }
        layer.joined.times(&attended, heads * head)
    }

    /// Turns the pairs of each head by the token's position.
    fn turn(&self, rows: &mut [f32], row_width: usize, before: usize) {
        for (token, row) in (before..).zip(rows.chunks_exact_mut(row_width)) {
            let angles = self.turns.iter().map(|turn| libm::sincos(token as f64 * turn));
            let angles: Vec<(f32, f32)> = angles.map(|(sin, cos)| (narrow(sin), narrow(cos))).collect();
            for head in row.chunks_exact_mut(self.shape.head) {
                for (pair, (sin, cos)) in head.chunks_exact_mut(2).zip(&angles) {
                    if let [x, y] = pair {
                        (*x, *y) = (*x * cos - *y * sin, *x * sin + *y * cos);
                    }
                }
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the weights are no finer")]
fn narrow(number: f64) -> f32 {
    number as f32
}

fn part(row: &[f32], from: usize, length: usize) -> &[f32] {
    row.get(from..from + length).unwrap_or_default()
}

fn add(rows: &mut [f32], more: &[f32]) {
    for (number, more) in rows.iter_mut().zip(more) {
        *number += more;
    }
}

/// Rows of one mean square, weighted.
fn normed(rows: &[f32], weights: &[f32], epsilon: f32) -> Vec<f32> {
    let mut normed = Vec::with_capacity(rows.len());
    for row in rows.chunks_exact(weights.len()) {
        let mean = dot(row, row) / weights.len() as f32;
        let scale = 1.0 / libm::sqrtf(mean + epsilon);
        normed.extend(row.iter().zip(weights).map(|(number, weight)| number * scale * weight));
    }
    normed
}

/// The sum of the products, in eight sums that a processor can make at once.
fn dot(left: &[f32], right: &[f32]) -> f32 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (lefts, left_rest) = left.as_chunks::<LANES>();
    let (rights, right_rest) = right.as_chunks::<LANES>();
    for (left, right) in lefts.iter().zip(rights) {
        for (sum, (left, right)) in sums.iter_mut().zip(left.iter().zip(right)) {
            *sum += left * right;
        }
    }
    let rest: f32 = left_rest.iter().zip(right_rest).map(|(left, right)| left * right).sum();
    sums.iter().sum::<f32>() + rest
}

/// Makes weights that sum to one.
fn soften(weights: &mut [f32]) {
    let most = weights.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for weight in weights.iter_mut() {
        *weight = libm::expf(*weight - most);
        sum += *weight;
    }
    for weight in weights.iter_mut() {
        *weight /= sum;
    }
}
