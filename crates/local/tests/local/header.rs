//! Headers of GGUF files, right, wrong and random.
//! Owns: what is taken and what is refused. Must not: need a model.

use crate::synthetic::{self, CONTEXT, Entry, Gguf};
use countersign_local::header::{Error, Kind};
use countersign_local::{Header, Shape, Words};
use countersign_record::code::Code;
use proptest::prelude::*;

fn read(bytes: &[u8]) -> Result<Header, Error> {
    Header::read(&mut &*bytes, bytes.len() as u64)
}

/// All that looks at a header, until the first refusal.
fn look(bytes: &[u8]) -> Result<(Shape, Words), Error> {
    let header = read(bytes)?;
    Ok((Shape::of(&header)?, Words::of(&header)?))
}

fn check(gguf: &Gguf, expected: &str) {
    let error = look(&gguf.bytes()).unwrap_err();
    assert_eq!(error.code(), Code::ModelConfig);
    let told = error.to_string();
    assert!(told.contains(expected), "{told:?} does not say {expected:?}");
}

fn text(text: &str) -> Entry {
    Entry::Text(text.to_owned())
}

#[test]
fn a_model_is_what_it_says() {
    for version in [2, 3] {
        let gguf = Gguf { version, ..Gguf::tiny(1) };
        let header = read(&gguf.bytes()).unwrap();
        assert_eq!(header.architecture(), Some("llama"));
        assert_eq!(header.name(), Some("Tiny"));
        assert_eq!(header.chat_template(), Some("{{ messages }}"));
        assert_eq!(header.bytes(), gguf.header().len() as u64);
        assert_eq!(header.tensors().len(), 20);
        // A list that nobody asks for is not kept.
        assert!(header.has("general.languages") && header.texts("general.languages").is_none());
        let shape = Shape::of(&header).unwrap();
        assert_eq!((shape.layers, shape.context, shape.words), (2, CONTEXT as usize, 262));
        assert_eq!((shape.head, shape.kv_width(), shape.turned), (8, 16, 8));
    }
}

#[test]
fn what_breaks_the_format_is_refused_with_its_place() {
    let tiny = || Gguf::tiny(1);
    assert_eq!(read(b"").unwrap_err(), Error::NotGguf);
    assert_eq!(read(b"GGU").unwrap_err(), Error::NotGguf);
    assert_eq!(read(b"PK\x03\x04").unwrap_err(), Error::NotGguf);
    check(&Gguf { version: 1, ..tiny() }, "version 1");
    // The same number from the other end: a file for another kind of machine.
    check(&Gguf { version: 0x0300_0000, ..tiny() }, "version 50331648");
    check(&tiny().with("x", Entry::Raw(13, vec![0; 8])), "no type that is known");
    check(&tiny().with("x", Entry::Raw(7, vec![2])), "neither 0 nor 1");
    check(&tiny().with("x", Entry::Raw(8, [&2u64.to_le_bytes()[..], b"\xFF\xFE"].concat())), "not UTF-8");
    let list =
        |kind: u32, count: u64| Entry::Raw(9, [&kind.to_le_bytes()[..], &count.to_le_bytes()].concat());
    check(&tiny().with("x", list(9, 1)), "a list is in a list");
    check(&tiny().with("x", list(9, 0)), "a list is in a list");
    check(&tiny().with("x", list(0, 1 << 40)), "a list is too long");
    check(&tiny().with("x", list(12, u64::MAX)), "a list is too long");
    check(&tiny().with("x", Entry::Raw(8, u64::MAX.to_le_bytes().to_vec())), "a text is too long");
    check(&tiny().with(&"k".repeat(257), Entry::U32(0)), "a text is too long");
    let mut twice = tiny();
    twice.keys.push(("general.name".to_owned(), text("Tiny")));
    check(&twice, "a key is there twice");
    let mut twice = tiny();
    twice.tensors.push(twice.tensors[0].clone());
    check(&twice, "a tensor is there twice");
}

#[test]
fn counts_that_no_file_has_are_refused_before_anything_is_made_of_them() {
    for (tensors, keys) in [(u64::MAX, 0), (0, u64::MAX), (1 << 15, 0), (0, 5000)] {
        let start = [&b"GGUF\x03\0\0\0"[..], &u64::to_le_bytes(tensors), &u64::to_le_bytes(keys)].concat();
        assert!(matches!(read(&start).unwrap_err(), Error::Odd { at: 24, .. }));
    }
    // A list that is as long as may be, in a file that is not.
    let list = [&8u32.to_le_bytes()[..], &(1u64 << 20).to_le_bytes()].concat();
    let mut bytes = Gguf::tiny(1).with("tokenizer.ggml.tokens", Entry::Raw(9, list)).header();
    bytes.truncate(bytes.len() - 100);
    assert!(read(&bytes).is_err());
    // A header without an end: reading stops at the bound, not at the end of the file.
    let mut endless = b"GGUF\x03\0\0\0".to_vec();
    endless.extend([0u64.to_le_bytes(), 4000u64.to_le_bytes()].concat());
    for number in 0..70u64 {
        endless.extend([8u64.to_le_bytes(), number.to_be_bytes()].concat());
        endless.extend([&8u32.to_le_bytes()[..], &(1u64 << 20).to_le_bytes(), &vec![b' '; 1 << 20]].concat());
    }
    assert!(matches!(read(&endless).unwrap_err(), Error::TooLarge { what: "header", .. }));
}

#[test]
fn tensors_lie_in_the_file_and_apart() {
    fn changed(change: impl FnOnce(&mut synthetic::Tensor)) -> Gguf {
        let mut gguf = Gguf::tiny(1);
        change(gguf.tensor("blk.0.attn_q.weight"));
        gguf
    }
    check(&changed(|tensor| tensor.kind = 4), "not known");
    check(&changed(|tensor| tensor.dimensions.push(1)), "neither a row nor a table");
    check(&changed(|tensor| tensor.dimensions.clear()), "neither a row nor a table");
    check(&changed(|tensor| tensor.dimensions[1] = 0), "no size that can be");
    check(&changed(|tensor| tensor.dimensions = vec![1 << 40, 1 << 40]), "no size that can be");
    // Blocks of 256 numbers do not fit rows of 32.
    check(&changed(|tensor| tensor.kind = 14), "no size that can be");
    check(&changed(|tensor| tensor.dimensions[1] = 1 << 20), "cut off");
    check(&changed(|tensor| tensor.offset = Some(u64::MAX - 31)), "do not lie");
    check(&changed(|tensor| tensor.offset = Some(1 << 40)), "cut off");
    check(&changed(|tensor| tensor.offset = Some(0)), "do not lie");
    check(&changed(|tensor| tensor.offset = Some(33)), "do not lie");
    check(&changed(|tensor| tensor.dimensions = vec![16, 64]), "blk.0.attn_q.weight is missing or wrong");
    for alignment in [0, 1 << 20] {
        check(&Gguf::tiny(1).with("general.alignment", Entry::U32(alignment)), "do not lie");
    }
}

#[test]
fn models_that_are_not_run_here_are_refused() {
    let check_key =
        |key: &str, entry: Entry, expected: &str| check(&Gguf::tiny(1).with(key, entry), expected);
    check_key("general.architecture", text("mamba"), "its architecture is not llama");
    check_key("llama.rope.scaling.type", text("yarn"), "its positions are scaled");
    check_key("llama.expert_count", Entry::U32(8), "mixture of experts");
    check_key("llama.attention.key_length", Entry::U32(16), "not as wide");
    check_key("tokenizer.ggml.model", text("llama"), "not byte-level BPE");
    check_key("tokenizer.ggml.pre", text("qwen2"), "splits texts in another way");
    for key in [
        "llama.block_count",
        "llama.context_length",
        "llama.embedding_length",
        "llama.attention.head_count",
        "llama.attention.layer_norm_rms_epsilon",
        "tokenizer.ggml.tokens",
        "tokenizer.ggml.token_type",
        "tokenizer.ggml.merges",
    ] {
        check(&Gguf::tiny(1).without(key), key);
        check_key(key, text("two"), key);
    }
    for (key, number) in [
        ("llama.block_count", 0),
        ("llama.block_count", u32::MAX),
        ("llama.context_length", 0),
        ("llama.attention.head_count", 3),
        ("llama.attention.head_count_kv", 0),
        ("llama.rope.dimension_count", 9),
    ] {
        check_key(key, Entry::U32(number), "is missing or wrong");
    }
    check_key("llama.rope.freq_base", Entry::F32(f32::NAN), "llama.rope.freq_base is missing or wrong");
    check_key("tokenizer.ggml.token_type", Entry::I32s(vec![1; 262]), "<|im_start|>");
}

#[test]
fn a_long_window_is_as_long_as_memory_allows() {
    let long = Gguf::tiny(1).with("llama.context_length", Entry::U32(u32::MAX));
    let (shape, _) = look(&long.bytes()).unwrap();
    // Two layers keep 2 × 16 floats of each token.
    assert_eq!(shape.context, 1 << 17);
}

#[test]
fn merges_that_make_no_token_are_refused() {
    for merge in ["h", "", "h ", " h", "h z", "zz h", "hell hellohello", "<|im_ start|>", "\u{FFFF} h"] {
        let merges = vec!["h e".to_owned(), merge.to_owned()];
        check(
            &Gguf::tiny(1).with("tokenizer.ggml.merges", Entry::Texts(merges)),
            "merges is missing or wrong",
        );
    }
}

#[test]
fn the_kinds_take_what_the_format_says() {
    let sizes: Vec<(u32, u64, u64)> = Kind::ALL.into_iter().map(Kind::layout).collect();
    let mut numbers: Vec<u32> = sizes.iter().map(|(number, _, _)| *number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), Kind::ALL.len());
    // Bits to a weight: between 2.625 (Q2_K) and 32.
    assert!(sizes.iter().all(|(_, block, bytes)| (21 * block..=256 * block).contains(&(bytes * 64))));
}

#[test]
fn wherever_it_is_cut_off_it_is_refused() {
    let gguf = Gguf::tiny(1);
    let (whole, header) = (gguf.bytes(), gguf.header().len());
    for length in (0..header).chain([header, header + 1, whole.len() - 1]) {
        assert!(read(&whole[..length]).is_err(), "{length}");
    }
    assert!(read(&whole).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn random_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..400), keys in 0u64..5) {
        prop_assert!(look(&bytes).is_err());
        let start = [&b"GGUF\x03\0\0\0"[..], &0u64.to_le_bytes(), &keys.to_le_bytes(), &bytes].concat();
        drop(look(&start));
    }

    #[test]
    fn changed_headers_are_answered(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let gguf = Gguf::tiny(1);
        let (mut bytes, header) = (gguf.bytes(), gguf.header().len());
        for (place, byte) in changes {
            bytes[place.index(header)] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        drop(look(&bytes));
    }
}
