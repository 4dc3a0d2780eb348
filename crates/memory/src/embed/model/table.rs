//! The table of vectors in a safetensors file.
//! Owns: which tensor it is, its numbers as `f32`. Must not: take a number that is none.

use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};

const DIMENSION_MAX: usize = 4_096;
/// What the table is called, by those who write such files.
const NAMES: [&str; 3] = ["embeddings", "embedding.weight", "embeddings.weight"];

/// One vector per token.
pub(super) struct Table {
    dimension: usize,
    vectors: Vec<f32>,
    /// What each token counts, if not all count the same.
    weights: Option<Vec<f32>>,
    /// The row of each token, if several share one.
    rows: Option<Vec<usize>>,
}

impl Table {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        let tensors = SafeTensors::deserialize(bytes).map_err(|_| "it is no safetensors file".to_owned())?;
        let table = find(&tensors)?;
        let [rows, dimension] = *table.shape() else { return Err("the table has no two dimensions".into()) };
        if dimension == 0 || dimension > DIMENSION_MAX || rows == 0 {
            let allowed = format!("at least one of 1 to {DIMENSION_MAX} numbers is needed");
            return Err(format!("the table has {rows} rows of {dimension}: {allowed}"));
        }
        let vectors = floats(&table)?;
        let mapping = tensors.tensor("mapping").ok();
        let of_rows = mapping.map(|mapping| indices(&mapping, rows)).transpose()?;
        let tokens = of_rows.as_ref().map_or(rows, Vec::len);
        let weights = tensors.tensor("weights").ok().map(|weights| floats(&weights)).transpose()?;
        if weights.as_ref().is_some_and(|weights| weights.len() != tokens) {
            return Err(format!("`weights` does not have {tokens} numbers, one for each token"));
        }
        Ok(Table { dimension, vectors, weights, rows: of_rows })
    }

    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    /// How many tokens have a vector.
    pub(super) fn tokens(&self) -> usize {
        self.rows.as_ref().map_or(self.vectors.len() / self.dimension, Vec::len)
    }

    /// Adds the vector of a token.
    pub(super) fn add(&self, token: u32, sum: &mut [f64]) {
        let token = token as usize;
        let row = self.rows.as_ref().map_or(Some(token), |rows| rows.get(token).copied());
        let vector = row.and_then(|row| self.vectors.get(row * self.dimension..(row + 1) * self.dimension));
        let weight = self.weights.as_ref().map_or(Some(1.0), |weights| weights.get(token).copied());
        if let (Some(vector), Some(weight)) = (vector, weight) {
            for (sum, number) in sum.iter_mut().zip(vector) {
                *sum += f64::from(weight) * f64::from(*number);
            }
        }
    }
}

/// The tensor of a known name, or the only one with two dimensions.
fn find<'a>(tensors: &SafeTensors<'a>) -> Result<TensorView<'a>, String> {
    if let Some(known) = NAMES.iter().find_map(|name| tensors.tensor(name).ok()) {
        return Ok(known);
    }
    let mut tables = tensors.iter().map(|(_, view)| view).filter(|view| view.shape().len() == 2);
    match (tables.next(), tables.next()) {
        (Some(table), None) => Ok(table),
        (None, _) => Err("it holds no table of vectors".into()),
        (Some(_), Some(_)) => Err("it holds more than one table, and none is called `embeddings`".into()),
    }
}

fn floats(view: &TensorView<'_>) -> Result<Vec<f32>, String> {
    let bytes = view.data();
    let numbers: Vec<f32> = match view.dtype() {
        Dtype::F32 => bytes.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect(),
        Dtype::F16 => bytes.as_chunks().0.iter().map(|two| half(u16::from_le_bytes(*two))).collect(),
        Dtype::BF16 => {
            let whole = |two: &[u8; 2]| f32::from_bits(u32::from(u16::from_le_bytes(*two)) << 16);
            bytes.as_chunks().0.iter().map(whole).collect()
        }
        other => return Err(format!("its numbers are {other:?}; known are F32, F16 and BF16")),
    };
    match numbers.iter().all(|number| number.is_finite()) {
        true => Ok(numbers),
        false => Err("a number is infinite or none".into()),
    }
}

/// An IEEE half as a float; exact.
fn half(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let (exponent, fraction) = (u32::from(bits >> 10 & 0x1f), u32::from(bits & 0x3ff));
    let magnitude = match exponent {
        // Below the normal numbers: the fraction counts in 2^-24.
        0 => f32::from(bits & 0x3ff) * f32::from_bits((127 - 24) << 23),
        0x1f => f32::from_bits(0xff << 23 | fraction << 13),
        _ => f32::from_bits((exponent + 127 - 15) << 23 | fraction << 13),
    };
    f32::from_bits(sign | magnitude.to_bits())
}

/// Rows of the table, each of them there.
fn indices(view: &TensorView<'_>, rows: usize) -> Result<Vec<usize>, String> {
    let bytes = view.data();
    let indices: Vec<Option<usize>> = match view.dtype() {
        Dtype::I64 => {
            bytes.as_chunks().0.iter().map(|eight| i64::from_le_bytes(*eight).try_into().ok()).collect()
        }
        Dtype::I32 => {
            bytes.as_chunks().0.iter().map(|four| i32::from_le_bytes(*four).try_into().ok()).collect()
        }
        other => return Err(format!("`mapping` is {other:?}; known are I64 and I32")),
    };
    let there = |index: Option<usize>| index.filter(|index| *index < rows);
    let all: Option<Vec<usize>> = indices.into_iter().map(there).collect();
    all.ok_or_else(|| format!("`mapping` names a row that is not among {rows}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_exact() {
        for (bits, expected) in [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65_504.0),
            (0x0001, 5.960_464_5e-8),
            (0x03ff, 6.097_555e-5),
            (0x0400, 6.103_515_6e-5),
            (0x3555, 0.333_251_95),
            (0x7c00, f32::INFINITY),
        ] {
            assert_eq!(half(bits).to_bits(), f32::to_bits(expected), "{bits:04x}");
        }
        assert!(half(0x8000).is_sign_negative() && half(0x7e00).is_nan());
    }
}
