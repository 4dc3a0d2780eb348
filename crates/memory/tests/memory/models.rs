//! Model directories: a small one that is good, and many that are not.

use countersign_memory::embed::{self, Embedder, Static};
use countersign_record::digest::Digest;
use countersign_testkit::scratch::Scratch;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const FILES: [&str; 3] = ["model.safetensors", "tokenizer.json", "config.json"];

fn tiny() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/tiny")
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(tiny().join(name)).unwrap()
}

fn tokenizer() -> Value {
    serde_json::from_slice(&bytes("tokenizer.json")).unwrap()
}

/// A safetensors file by hand.
fn tensors(header: &Value, data: &[u8]) -> Vec<u8> {
    let header = header.to_string();
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

/// Python computed these vectors from the same files, with code of its own (`tests/models/tiny/make.py`).
#[test]
fn vectors_are_those_that_python_computes() {
    let model = embed::load(&tiny()).unwrap();
    assert_eq!(model.dimension(), 16);
    let expected: Vec<Value> = serde_json::from_slice(&bytes("expected.json")).unwrap();
    assert!(expected.len() > 10);
    for one in expected {
        let times = usize::try_from(one["times"].as_u64().unwrap()).unwrap();
        let text = &one["text"].as_str().unwrap().repeat(times);
        let vector = model.embed(text);
        assert_eq!(vector.len(), 16);
        for (number, expected) in vector.iter().zip(one["vector"].as_array().unwrap()) {
            let expected = expected.as_f64().unwrap();
            assert!((f64::from(*number) - expected).abs() < 1e-6, "{text:?}: {number}, not {expected}");
        }
        assert_eq!(model.embed(text), vector, "the same text has the same vector");
    }
}

/// A golden digest: the vectors have the same bits on every machine.
#[test]
fn vectors_have_the_same_bits_everywhere() {
    let model = embed::load(&tiny()).unwrap();
    let numbers =
        ["The tenant repaired the roof.", "中国", "x"].into_iter().flat_map(|text| model.embed(text));
    let digest = Digest::of(&numbers.flat_map(f32::to_le_bytes).collect::<Vec<_>>()).to_string();
    assert_eq!(digest, "5e622780fa8807fca60508ac5221f03e854147d0511e0dbdae36a02cdc091b48");
}

/// Every byte of every file counts, and so does whether there is a configuration.
#[test]
fn another_file_is_another_model() {
    let [tensors, tokenizer, config] = FILES.map(bytes);
    let name = |config| Static::from_bytes(&tensors, &tokenizer, config).unwrap().name().to_owned();
    let names = [name(Some(config.as_slice())), name(None), name(Some(b"{}"))];
    assert_eq!(names[0], embed::load(&tiny()).unwrap().name());
    assert!(names.iter().all(|name| name.len() == "static:".len() + 64 && name.starts_with("static:")));
    assert!(names[0] != names[1] && names[1] != names[2] && names[0] != names[2]);
}

/// The same table in other kinds of numbers, by another name, and through a list of rows.
#[test]
fn tables_of_every_kind() {
    let tokenizer = json!({"version": "1.0", "added_tokens": [], "model":
        {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "north": 1, "east": 2}}, "pre_tokenizer": {"type": "Whitespace"}});
    let check = |tensors: &[u8]| {
        let model = Static::from_bytes(tensors, tokenizer.to_string().as_bytes(), None).unwrap();
        assert_eq!(model.embed("north"), [0.0, 1.0]);
        assert_eq!(model.embed("east east what"), [1.0, 0.0]);
        assert_eq!(model.embed("what"), [0.0, 0.0]);
        let both = model.embed("north east");
        assert!(both.iter().all(|number| (number - 0.5_f32.sqrt()).abs() < 1e-6), "{both:?}");
    };
    let rows = [7.0_f32, 7.0, 0.0, 2.0, 2.0, 0.0];
    let floats: Vec<u8> = rows.iter().flat_map(|number| number.to_le_bytes()).collect();
    let brains: Vec<u8> = rows.iter().flat_map(|number| number.to_le_bytes()[2..].to_vec()).collect();
    let halves: Vec<u8> =
        [0x4700_u16, 0x4700, 0, 0x4000, 0x4000, 0].iter().flat_map(|bits| bits.to_le_bytes()).collect();
    for (dtype, data) in [("F32", &floats), ("BF16", &brains), ("F16", &halves)] {
        for name in ["embeddings", "embedding.weight", "whatever"] {
            check(&tensors(
                &json!({name: {"dtype": dtype, "shape": [3, 2], "data_offsets": [0, data.len()]}}),
                data,
            ));
        }
    }
    let mapped = json!({"embeddings": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
        "mapping": {"dtype": "I64", "shape": [3], "data_offsets": [16, 40]}});
    let data = [&floats[8..], &[0_i64, 0, 1].map(i64::to_le_bytes).concat()].concat();
    check(&tensors(&mapped, &data));
}

fn refused(tensors: &[u8], tokenizer: &[u8], config: Option<&[u8]>) -> String {
    let refusal = Static::from_bytes(tensors, tokenizer, config).expect_err("it is not good");
    assert_eq!(refusal.code().entry().name, "embed.model");
    assert_eq!(Static::from_bytes(tensors, tokenizer, config).expect_err("nor is it again"), refusal);
    format!("{}: {}", refusal.file, refusal.why)
}

#[test]
fn tables_that_are_not_taken() {
    let tokenizer = bytes("tokenizer.json");
    let check = |tensors: &[u8], expected: &str| {
        assert_eq!(refused(tensors, &tokenizer, None), format!("model.safetensors: {expected}"));
    };
    let table = |dtype: &str, shape: &[usize], bytes: usize| json!({"dtype": dtype, "shape": shape, "data_offsets": [0, bytes]});
    let one =
        |dtype, shape, bytes| tensors(&json!({"embeddings": table(dtype, shape, bytes)}), &vec![0; bytes]);
    check(b"", "it is no safetensors file");
    check(&u64::MAX.to_le_bytes(), "it is no safetensors file");
    check(
        &tensors(&json!({"embeddings": table("F32", &[usize::MAX, 8], 0)}), b""),
        "it is no safetensors file",
    );
    check(&bytes("model.safetensors")[..5_000], "it is no safetensors file");
    check(&tensors(&json!({}), b""), "it holds no table of vectors");
    check(&one("F32", &[4], 16), "the table has no two dimensions");
    check(&one("F32", &[0, 4], 0), "the table has 0 rows of 4: at least one of 1 to 4096 numbers is needed");
    check(
        &one("F32", &[1, 5_000], 20_000),
        "the table has 1 rows of 5000: at least one of 1 to 4096 numbers is needed",
    );
    check(&one("I8", &[2, 2], 4), "its numbers are I8; known are F32, F16 and BF16");
    let nan = f32::NAN.to_le_bytes();
    check(&tensors(&json!({"embeddings": table("F32", &[1, 1], 4)}), &nan), "a number is infinite or none");
    let two = json!({"a": table("F32", &[1, 1], 4), "b": {"dtype": "F32", "shape": [1, 1], "data_offsets": [4, 8]}});
    check(&tensors(&two, &[0; 8]), "it holds more than one table, and none is called `embeddings`");
    let weights = json!({"embeddings": table("F32", &[2, 1], 8), "weights": {"dtype": "F32", "shape": [1], "data_offsets": [8, 12]}});
    check(&tensors(&weights, &[0; 12]), "`weights` does not have 2 numbers, one for each token");
    let mapping = json!({"embeddings": table("F32", &[2, 1], 8), "mapping": {"dtype": "I32", "shape": [1], "data_offsets": [8, 12]}});
    for wrong in [2_i32, -1, i32::MAX] {
        let data = [&[0; 8], wrong.to_le_bytes().as_slice()].concat();
        check(&tensors(&mapping, &data), "`mapping` names a row that is not among 2");
    }
}

#[test]
fn tokenizers_that_are_not_taken() {
    let table = bytes("model.safetensors");
    let check = |change: &dyn Fn(&mut Value), expected: &str| {
        let mut tokenizer = tokenizer();
        change(&mut tokenizer);
        assert_eq!(
            refused(&table, tokenizer.to_string().as_bytes(), None),
            format!("tokenizer.json: {expected}")
        );
    };
    check(&|file| *file = json!([]), "it is no JSON object");
    check(&|file| file["model"] = Value::Null, "it has no model");
    check(&|file| file["model"]["type"] = json!("Neural"), "a model of type Neural is not taken");
    check(
        &|file| file["model"]["type"] = json!("\u{1b}[31m"),
        "a model of type that is not known is not taken",
    );
    let empty = json!({"type": "WordLevel", "unk_token": "?", "vocab": {}});
    check(&|file| *file = json!({"version": "1.0", "model": empty.clone()}), "it has no tokens");
    check(&|file| file["model"]["vocab"] = json!(7), "it is no tokenizer");
    check(&|file| file["model"]["vocab"]["far"] = json!(100_000), "token 100000 has no vector among 255");
    check(
        &|file| {
            file["model"]["vocab"].as_object_mut().unwrap().remove("[UNK]");
            file["added_tokens"] = json!([]);
        },
        "it can't take every text: a token for what is unknown is needed",
    );
    check(
        &|file| file["model"]["max_input_chars_per_word"] = json!(1_000_000_000),
        "`max_input_chars_per_word` is not 0 to 1000",
    );
    check(
        &|file| file["model"]["continuing_subword_prefix"] = json!("#".repeat(65)),
        "`continuing_subword_prefix` is longer than 64 bytes",
    );
    let merges = json!({"type": "BPE", "unk_token": "?", "continuing_subword_prefix": "##",
        "vocab": {"?": 0, "a": 1, "b": 2}, "merges": ["a b"]});
    check(&|file| file["model"] = merges.clone(), "merges with a `continuing_subword_prefix` are not taken");
    for pair in [json!("a b"), json!(["a", "b"]), json!(7)] {
        let merges =
            json!({"type": "BPE", "unk_token": "?", "vocab": {"?": 0, "a": 1, "b": 2}, "merges": [pair]});
        check(&|file| file["model"] = merges.clone(), "a merge makes no token of the vocabulary");
    }
    let chance = "is not taken: a text would have another vector each time";
    check(&|file| file["model"]["dropout"] = json!(0.1), &format!("`dropout` {chance}"));
    check(&|file| file["model"]["alpha"] = json!(0.1), &format!("`alpha` {chance}"));
    let precompiled = json!({"type": "Precompiled", "precompiled_charsmap": "AAAA"});
    check(&|file| file["normalizer"] = precompiled.clone(), "a part of type Precompiled is not taken");
    let sequence =
        |part: &Value, count| json!({"type": "Sequence", "normalizers": vec![part.clone(); count]});
    check(&|file| file["normalizer"] = sequence(&precompiled, 1), "a part of type Precompiled is not taken");
    check(
        &|file| file["normalizer"] = sequence(&sequence(&json!({}), 1), 1),
        "a part of type Sequence is not taken",
    );
    check(
        &|file| file["normalizer"] = sequence(&json!({"type": "NFC"}), 17),
        "a sequence has more than 16 parts",
    );
    let pattern =
        json!({"type": "Split", "pattern": {"Regex": "(a*)*b"}, "behavior": "Isolated", "invert": false});
    check(&|file| file["pre_tokenizer"] = pattern.clone(), "a part of type Split is not taken");
    let replacement = "a replacement is not taken: at most 3, of plain texts, by up to 4 bytes";
    let replace = |pattern: Value, by: &str| json!({"type": "Replace", "pattern": pattern, "content": by});
    let doubled = replace(json!({"String": "a"}), "aaaa");
    check(&|file| file["normalizer"] = sequence(&doubled, 4), replacement);
    check(&|file| file["normalizer"] = replace(json!({"String": "a"}), "aaaaa"), replacement);
    check(&|file| file["normalizer"] = replace(json!({"String": ""}), "a"), replacement);
    check(&|file| file["normalizer"] = replace(json!({"Regex": "(a*)*b"}), "a"), replacement);
    assert_eq!(refused(&table, b"", None), "tokenizer.json: EOF while parsing a value at line 1 column 0");
    assert_eq!(refused(&table, &bytes("tokenizer.json"), Some(b"[]")), "config.json: it is no JSON object");
}

#[test]
fn directories_that_are_none() {
    let scratch = Scratch::new();
    let check = |expected: &str| {
        let refusal = embed::load(scratch.path()).err().expect("it is not good");
        let directory = scratch.path().display();
        assert_eq!(refusal.to_string(), format!("the model in {directory} can't be used: {expected}"));
    };
    check("model.safetensors: there is no such file");
    std::fs::create_dir(scratch.path().join("model.safetensors")).unwrap();
    check("model.safetensors: it is no regular file");
    std::fs::remove_dir(scratch.path().join("model.safetensors")).unwrap();
    std::fs::write(scratch.path().join("model.safetensors"), bytes("model.safetensors")).unwrap();
    check("tokenizer.json: there is no such file");
    let long = std::fs::File::create(scratch.path().join("tokenizer.json")).unwrap();
    long.set_len(17 << 20).unwrap();
    check("tokenizer.json: it is larger than 16777216 bytes");
    std::fs::write(scratch.path().join("tokenizer.json"), bytes("tokenizer.json")).unwrap();
    assert!(embed::load(scratch.path()).is_ok(), "a configuration is not needed");
    std::os::unix::fs::symlink("config.json", scratch.path().join("config.json")).unwrap();
    check("config.json: filesystem loop or indirection limit (e.g. symlink loop)");
}
