//! Small GGUF files, made by hand.
//! Owns: writing them, right or wrong. Must not: use the code that is tested.

/// A value with its type.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    U32(u32),
    F32(f32),
    Text(String),
    Texts(Vec<String>),
    I32s(Vec<i32>),
    /// A type and what stands after it.
    Raw(u32, Vec<u8>),
}

#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) name: String,
    pub(crate) dimensions: Vec<u64>,
    pub(crate) kind: u32,
    /// Where it says it is, if not where it is.
    pub(crate) offset: Option<u64>,
    pub(crate) data: Vec<u8>,
}

#[derive(Clone, Debug)]
pub(crate) struct Gguf {
    pub(crate) version: u32,
    pub(crate) keys: Vec<(String, Entry)>,
    pub(crate) tensors: Vec<Tensor>,
}

pub(crate) const WIDTH: u32 = 32;
pub(crate) const INNER: u32 = 48;
pub(crate) const CONTEXT: u32 = 96;

/// The letters that stand for bytes, as GPT-2 made them up.
pub(crate) fn letters() -> Vec<char> {
    let printable: Vec<u32> = (0x21..=0x7E).chain(0xA1..=0xAC).chain(0xAE..=0xFF).collect();
    let mut next = 0x100..;
    (0..256)
        .map(|byte| if printable.contains(&byte) { byte } else { next.next().unwrap() })
        .map(|letter| char::from_u32(letter).unwrap())
        .collect()
}

/// Bytes that the small model has no token for.
pub(crate) const UNKNOWN: [u8; 2] = [0x04, 0xF1];

impl Gguf {
    /// A llama of two layers with weights that mean nothing, from a seed.
    pub(crate) fn tiny(seed: u64) -> Gguf {
        let letters = letters();
        let mut tokens: Vec<String> =
            ["<|endoftext|>", "<|im_start|>", "<|im_end|>"].map(str::to_owned).into();
        tokens.extend(
            (0u8..=255)
                .filter(|byte| !UNKNOWN.contains(byte))
                .map(|byte| letters[usize::from(byte)].to_string()),
        );
        let merges = ["h e", "l l", "he ll", "hell o", "Ġ w"].map(str::to_owned);
        tokens.extend(merges.iter().map(|merge| merge.replace(' ', "")));
        let kinds: Vec<i32> = (0..tokens.len()).map(|token| if token < 3 { 3 } else { 1 }).collect();
        let words = u32::try_from(tokens.len()).unwrap();
        let text = |text: &str| Entry::Text(text.to_owned());
        let keys = [
            ("general.architecture", text("llama")),
            ("general.name", text("Tiny")),
            ("general.languages", Entry::Texts(vec!["en".to_owned()])),
            ("llama.block_count", Entry::U32(2)),
            ("llama.context_length", Entry::U32(CONTEXT)),
            ("llama.embedding_length", Entry::U32(WIDTH)),
            ("llama.feed_forward_length", Entry::U32(INNER)),
            ("llama.attention.head_count", Entry::U32(4)),
            ("llama.attention.head_count_kv", Entry::U32(2)),
            ("llama.attention.layer_norm_rms_epsilon", Entry::F32(1e-5)),
            ("llama.rope.freq_base", Entry::F32(10_000.0)),
            ("llama.rope.dimension_count", Entry::U32(8)),
            ("tokenizer.ggml.model", text("gpt2")),
            ("tokenizer.ggml.pre", text("smollm")),
            ("tokenizer.ggml.tokens", Entry::Texts(tokens)),
            ("tokenizer.ggml.token_type", Entry::I32s(kinds)),
            ("tokenizer.ggml.merges", Entry::Texts(merges.into())),
            ("tokenizer.chat_template", text("{{ messages }}")),
        ];
        let mut random = Random(seed);
        let mut tensors =
            vec![random.table("token_embd.weight", WIDTH, words), random.row("output_norm.weight")];
        for layer in 0..2 {
            let of = |part: &str| format!("blk.{layer}.{part}.weight");
            tensors.push(random.row(&of("attn_norm")));
            for (part, rows) in [("attn_q", WIDTH), ("attn_k", 16), ("attn_v", 16), ("attn_output", WIDTH)] {
                tensors.push(random.table(&of(part), WIDTH, rows));
            }
            tensors.push(random.row(&of("ffn_norm")));
            tensors.push(random.table(&of("ffn_gate"), WIDTH, INNER));
            tensors.push(random.table(&of("ffn_up"), WIDTH, INNER));
            tensors.push(random.table(&of("ffn_down"), INNER, WIDTH));
        }
        Gguf { version: 3, keys: keys.map(|(key, entry)| (key.to_owned(), entry)).into(), tensors }
    }

    /// Sets a key, or another value for it.
    pub(crate) fn with(mut self, key: &str, entry: Entry) -> Gguf {
        self.keys.retain(|(there, _)| there != key);
        self.keys.push((key.to_owned(), entry));
        self
    }

    pub(crate) fn without(mut self, key: &str) -> Gguf {
        self.keys.retain(|(there, _)| there != key);
        self
    }

    pub(crate) fn tensor(&mut self, name: &str) -> &mut Tensor {
        self.tensors.iter_mut().find(|tensor| tensor.name == name).unwrap()
    }

    /// The header alone, up to where the tensors begin.
    pub(crate) fn header(&self) -> Vec<u8> {
        let mut out = b"GGUF".to_vec();
        out.extend(self.version.to_le_bytes());
        out.extend((self.tensors.len() as u64).to_le_bytes());
        out.extend((self.keys.len() as u64).to_le_bytes());
        for (key, entry) in &self.keys {
            put_text(&mut out, key);
            put(&mut out, entry);
        }
        let mut offset = 0;
        for tensor in &self.tensors {
            put_text(&mut out, &tensor.name);
            out.extend(u32::try_from(tensor.dimensions.len()).unwrap().to_le_bytes());
            tensor.dimensions.iter().for_each(|size| out.extend(size.to_le_bytes()));
            out.extend(tensor.kind.to_le_bytes());
            out.extend(tensor.offset.unwrap_or(offset).to_le_bytes());
            offset += (tensor.data.len() as u64).next_multiple_of(32);
        }
        out
    }

    /// The whole file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = self.header();
        for tensor in &self.tensors {
            out.resize(out.len().next_multiple_of(32), 0);
            out.extend(&tensor.data);
        }
        out
    }
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u64).to_le_bytes());
    out.extend(text.as_bytes());
}

fn put(out: &mut Vec<u8>, entry: &Entry) {
    let mut put_list = |kind: u32, count: usize| {
        out.extend(9u32.to_le_bytes());
        out.extend(kind.to_le_bytes());
        out.extend((count as u64).to_le_bytes());
    };
    match entry {
        Entry::U32(number) => out.extend([4u32.to_le_bytes(), number.to_le_bytes()].concat()),
        Entry::F32(number) => out.extend([6u32.to_le_bytes(), number.to_le_bytes()].concat()),
        Entry::Text(text) => {
            out.extend(8u32.to_le_bytes());
            put_text(out, text);
        }
        Entry::Texts(texts) => {
            put_list(8, texts.len());
            texts.iter().for_each(|text| put_text(out, text));
        }
        Entry::I32s(numbers) => {
            put_list(5, numbers.len());
            numbers.iter().for_each(|number| out.extend(number.to_le_bytes()));
        }
        Entry::Raw(kind, bytes) => {
            out.extend(kind.to_le_bytes());
            out.extend(bytes);
        }
    }
}

struct Random(u64);

impl Random {
    fn table(&mut self, name: &str, columns: u32, rows: u32) -> Tensor {
        let data = (0..columns * rows).flat_map(|_| self.next().to_le_bytes()).collect();
        Tensor {
            name: name.to_owned(),
            dimensions: vec![columns.into(), rows.into()],
            kind: 0,
            offset: None,
            data,
        }
    }

    fn row(&mut self, name: &str) -> Tensor {
        let data = (0..WIDTH).flat_map(|_| (1.0 + self.next() / 8.0).to_le_bytes()).collect();
        Tensor { name: name.to_owned(), dimensions: vec![WIDTH.into()], kind: 0, offset: None, data }
    }

    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }
}
