//! Loading a model: one pass over its file.
//! Owns: the order of reading, the file's hash. Must not: read a byte twice, or more than the header allows.

use super::Error;
use super::llama::{Layer, Llama, Table, Trouble};
use crate::header::{self, Header, Kind, Tensor};
use crate::unpack::MODEL_BYTES_MAX;
use crate::{Shape, Words};
use candle_core::Device;
use candle_core::quantized::{GgmlDType, QStorage, QTensor};
use countersign_record::canonical::{Hasher, Sink};
use countersign_record::digest::Digest;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::Arc;

/// Loads the model of a file that is `length` bytes long.
pub(super) fn load(file: File, length: u64) -> Result<(Llama, Words, Digest), Error> {
    if length > MODEL_BYTES_MAX {
        return Err(header::Error::TooLarge { what: "file", bytes_max: MODEL_BYTES_MAX }.into());
    }
    let mut from = Hashed { from: BufReader::new(file), hasher: Hasher::new(), at: 0 };
    let header = Header::read(&mut from, length)?;
    let shape = Shape::of(&header)?;
    let words = Words::of(&header)?;
    let mut tensors = tensors(&header, &mut from)?;
    from.pass_to(length)?;
    let llama = assemble(shape, &mut tensors)?;
    Ok((llama, words, from.hasher.finish()))
}

/// The tensors by name, read in the order in which they lie in the file.
fn tensors<R: Read>(header: &Header, from: &mut Hashed<R>) -> Result<BTreeMap<String, QTensor>, Error> {
    let mut order: Vec<(&String, &Tensor)> = header.tensors().iter().collect();
    order.sort_unstable_by_key(|(_, tensor)| tensor.start);
    let mut tensors = BTreeMap::new();
    for (name, tensor) in order {
        from.pass_to(tensor.start)?;
        let mut bytes = Vec::new();
        from.by_ref().take(tensor.bytes).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 != tensor.bytes {
            return Err(header::Error::Cut.into());
        }
        tensors.insert(name.clone(), quantized(tensor, bytes)?);
    }
    Ok(tensors)
}

fn quantized(tensor: &Tensor, bytes: Vec<u8>) -> Result<QTensor, Error> {
    let kind = kind(tensor.kind);
    let (_, block, block_bytes) = tensor.kind.layout();
    // The library reads the bytes as blocks of its own size.
    if kind.block_size() as u64 != block || kind.type_size() as u64 != block_bytes {
        return Err(Error::Weights);
    }
    let measure = |number: u64| usize::try_from(number).map_err(|_| Error::Weights);
    let shape = (measure(tensor.rows)?, measure(tensor.columns)?);
    let storage = QStorage::from_data(Cow::Owned(bytes), &Device::Cpu, kind).map_err(|_| Error::Weights)?;
    let packed = QTensor::new(storage, shape).map_err(|_| Error::Weights)?;
    match tensor.kind {
        // The library multiplies these a number at a time; packed anew into eight bits, which are finer, it takes many.
        Kind::Q4_1 | Kind::Q5_0 | Kind::Q5_1 => {
            let floats = packed.dequantize(&Device::Cpu);
            let repacked = floats.and_then(|floats| QTensor::quantize(&floats, GgmlDType::Q8_0));
            repacked.map_err(|_| Error::Weights)
        }
        Kind::F32
        | Kind::F16
        | Kind::Bf16
        | Kind::Q4_0
        | Kind::Q8_0
        | Kind::Q2K
        | Kind::Q3K
        | Kind::Q4K
        | Kind::Q5K
        | Kind::Q6K => Ok(packed),
    }
}

fn kind(kind: Kind) -> GgmlDType {
    match kind {
        Kind::F32 => GgmlDType::F32,
        Kind::F16 => GgmlDType::F16,
        Kind::Bf16 => GgmlDType::BF16,
        Kind::Q4_0 => GgmlDType::Q4_0,
        Kind::Q4_1 => GgmlDType::Q4_1,
        Kind::Q5_0 => GgmlDType::Q5_0,
        Kind::Q5_1 => GgmlDType::Q5_1,
        Kind::Q8_0 => GgmlDType::Q8_0,
        Kind::Q2K => GgmlDType::Q2K,
        Kind::Q3K => GgmlDType::Q3K,
        Kind::Q4K => GgmlDType::Q4K,
        Kind::Q5K => GgmlDType::Q5K,
        Kind::Q6K => GgmlDType::Q6K,
    }
}

/// Puts the tensors where the model has them.
fn assemble(shape: Shape, tensors: &mut BTreeMap<String, QTensor>) -> Result<Llama, Error> {
    let mut take = |name: String| tensors.remove(&name).ok_or_else(|| header::missing(&name));
    let table = |tensor: QTensor| Table::new(Arc::new(tensor)).map_err(weights);
    let embedding = Table::new(Arc::new(take("token_embd.weight".to_owned())?)).map_err(weights)?;
    let norm = row(&take("output_norm.weight".to_owned())?)?;
    // Many models use one table for both.
    let output = take("output.weight".to_owned()).map_or_else(|_| Ok(embedding.clone()), table)?;
    let mut layers = Vec::new();
    for layer in 0..shape.layers {
        let mut of = |part: &str| take(format!("blk.{layer}.{part}.weight"));
        layers.push(Layer {
            first_norm: row(&of("attn_norm")?)?,
            query: table(of("attn_q")?)?,
            key: table(of("attn_k")?)?,
            value: table(of("attn_v")?)?,
            joined: table(of("attn_output")?)?,
            second_norm: row(&of("ffn_norm")?)?,
            gate: table(of("ffn_gate")?)?,
            up: table(of("ffn_up")?)?,
            down: table(of("ffn_down")?)?,
        });
    }
    Ok(Llama::new(shape, embedding, layers, norm, output))
}

fn row(tensor: &QTensor) -> Result<Vec<f32>, Error> {
    let row = tensor.dequantize(&Device::Cpu).and_then(|row| row.flatten_all()?.to_vec1());
    row.map_err(|_| Error::Weights)
}

fn weights(trouble: Trouble) -> Error {
    let Trouble = trouble;
    Error::Weights
}

fn unreadable(error: io::Error) -> Error {
    header::Error::Unreadable(error.kind()).into()
}

/// A file whose bytes are hashed as they are read.
struct Hashed<R> {
    from: R,
    hasher: Hasher,
    at: u64,
}

impl<R: Read> Hashed<R> {
    /// Passes over what is before a place.
    fn pass_to(&mut self, place: u64) -> Result<(), Error> {
        let gap = place.checked_sub(self.at).ok_or(header::Error::Tensors)?;
        let passed = io::copy(&mut self.by_ref().take(gap), &mut io::sink()).map_err(unreadable)?;
        if passed == gap { Ok(()) } else { Err(header::Error::Cut.into()) }
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(into)?;
        let bytes = into.get(..count).unwrap_or_default();
        self.hasher.put(bytes);
        self.at += bytes.len() as u64;
        Ok(count)
    }
}
