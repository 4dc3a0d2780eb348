//! Canonical bytes: RFC 8785's own examples, an oracle, and our types.

use super::*;
use crate::json::{self, Json, Number, Object};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use proptest::prelude::*;
use serde::Serialize;
use std::{format, vec};

/// Any value, with numbers as hostile texts write them.
pub(crate) fn any_json() -> impl Strategy<Value = Json> {
    let number = prop_oneof![
        any::<i64>().prop_map(|value| format!("{value}")),
        any::<f64>().prop_filter("finite", |value| value.is_finite()).prop_map(|value| format!("{value:e}")),
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
    ];
    let text = prop_oneof!["[a-c]{0,3}", "\\PC{0,12}", "[\u{0}-\u{1f}\"\\\\\u{7f}\u{E000}\u{1F600}]{0,12}"];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        number.prop_map(|literal| Json::Number(Number::from_literal(&literal))),
        text.clone().prop_map(Json::String),
    ];
    leaf.prop_recursive(4, 48, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
            proptest::collection::vec((text.clone(), inner), 0..6).prop_map(|members| {
                let mut object = Object::new();
                for (name, value) in members {
                    object.insert(name, value);
                }
                Json::Object(object)
            }),
        ]
    })
}

fn canonical(text: &str) -> String {
    String::from_utf8(to_bytes(&json::parse(text.as_bytes()).unwrap()).unwrap()).unwrap()
}

#[test]
fn the_examples_of_rfc_8785() {
    let text = r#"{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],
        "string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}"#;
    let expected = "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}";
    // The RFC's first number is not the double's exact decimal: 333333333.33333329 prints as another number.
    let inexact = json::parse(text.as_bytes()).unwrap();
    assert!(to_bytes(&inexact).is_err());
    assert_eq!(canonical(&text.replace("333333333.33333329", "333333333.3333333")), expected);

    let names = r#"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}"#;
    let sorted = canonical(names);
    let at = |name: &str| sorted.find(name).unwrap();
    let order = ["Carriage", "One", "Control", "Latin", "Euro", "Emoji", "Hebrew"].map(at);
    assert!(order.is_sorted(), "{sorted}");
}

#[test]
fn number_prints() {
    let check = |text: &str, expected: &str| assert_eq!(canonical(text), expected);
    check("0", "0");
    check("-0", "0");
    check("-0.0", "0");
    check("1.0", "1");
    check("100e-2", "1");
    check("1e21", "1e+21");
    check("123456789012345680000", "123456789012345680000");
    check("1e-7", "1e-7");
    check("0.000001", "0.000001");
    check("5e-324", "5e-324");
    check("1.7976931348623157e308", "1.7976931348623157e+308");
}

#[test]
fn an_inexact_number_has_no_canonical_form_but_its_own_hash() {
    let hash_of_text = |text: &str| hash_as_written(&json::parse(text.as_bytes()).unwrap());
    let value = json::parse(b"{\"a\":[9007199254740993]}").unwrap();
    assert_eq!(to_bytes(&value), Err(Inexact { literal: "9007199254740993".into() }));
    let texts =
        ["[9007199254740993]", "[9007199254740992]", "[\"9007199254740993\"]", "[9007199254740993.0]"];
    let hashes: Vec<_> = texts.iter().map(|text| hash_of_text(text)).collect();
    for (at, left) in hashes.iter().enumerate() {
        assert!(hashes.iter().skip(at + 1).all(|right| left != right), "{}", texts[at]);
    }
    assert_eq!(hash_of_text("[1.0]"), hash(&json::parse(b"[1]").unwrap()).unwrap());
}

#[test]
fn scores_have_six_decimals_half_to_even_of_the_exact_value() {
    let check = |value: f64, expected: f64| {
        assert_eq!(Score::try_from(value).unwrap().value().to_bits(), expected.to_bits(), "{value}")
    };
    check(0.0000025, 0.000003);
    check(0.0000005, 0.0);
    check(0.5, 0.5);
    check(-0.0000001, 0.0);
    check(1.0 / 3.0, 0.333333);
    check(2.0 / 3.0, 0.666667);
    check(0.0000152587890625, 0.000015);
    check(1e300, 1e300);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(Score::try_from(bad).is_err());
    }
}

#[derive(Serialize)]
struct Zebra {
    zulu: u64,
    alpha: Vec<Inner>,
    nothing: Option<u8>,
    map: BTreeMap<String, Json>,
    #[serde(flatten)]
    extra: BTreeMap<String, Json>,
}

#[derive(Serialize)]
struct Inner {
    y: Score,
    x: Tagged,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Tagged {
    Plain,
    Filled { value: i32, a: char },
}

fn zebra() -> Zebra {
    let one = |text: &str| json::parse(text.as_bytes()).unwrap();
    Zebra {
        zulu: 1 << 53,
        alpha: vec![
            Inner { y: Score::try_from(0.1).unwrap(), x: Tagged::Plain },
            Inner { y: Score::try_from(1.0).unwrap(), x: Tagged::Filled { value: -3, a: '"' } },
        ],
        nothing: None,
        map: BTreeMap::from([
            ("\u{FB33}".into(), one("1.0")),
            ("\u{1F600}".into(), one("{\"b\":[],\"a\":{}}")),
        ]),
        extra: BTreeMap::from([("beta".into(), Json::Null)]),
    }
}

#[test]
fn our_types_have_the_bytes_of_their_tree() {
    let bytes = to_bytes_of(&zebra()).unwrap();
    assert_eq!(
        String::from_utf8(bytes.clone()).unwrap(),
        "{\"alpha\":[{\"x\":{\"kind\":\"plain\"},\"y\":0.1},{\"x\":{\"a\":\"\\\"\",\"kind\":\"filled\",\"value\":-3},\"y\":1}],\
         \"beta\":null,\"map\":{\"😀\":{\"a\":{},\"b\":[]},\"\u{FB33}\":1},\"nothing\":null,\"zulu\":9007199254740992}"
    );
    assert_eq!(to_bytes(&json::parse(&bytes).unwrap()).unwrap(), bytes);
    assert_eq!(hash_of(&zebra()).unwrap(), crate::digest::Digest::of(&bytes));
    let written = json::to_text(&zebra()).unwrap();
    assert!(written.starts_with("{\"zulu\":9007199254740992,\"alpha\":"), "{written}");
    assert!(written.contains("1.0"), "digits are kept: {written}");
}

/// A map whose entries come as they stand.
struct Entries(Vec<(String, Vec<u32>)>);

impl Serialize for Entries {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// The longest piece it was given: a member that is buffered arrives in one.
#[derive(Default)]
struct Longest {
    bytes: Vec<u8>,
    piece: usize,
}

impl Sink for Longest {
    fn put(&mut self, bytes: &[u8]) {
        self.piece = self.piece.max(bytes.len());
        self.bytes.put(bytes);
    }
}

fn emitted<T: Serialize>(value: &T) -> Longest {
    let mut sink = Longest::default();
    emit(value, &mut Pen { sink: &mut sink, form: Form::Canonical }).unwrap();
    sink
}

#[test]
fn members_stream_whatever_their_order() {
    let entries = |count: usize, step: usize| {
        let name = |at: usize| format!("{:03}", at * step % count);
        Entries((0..count).map(|at| (name(at), vec![7; 100])).collect())
    };
    let sorted = |count| to_bytes_of(&entries(count, 1)).unwrap();
    // As many turns as there are passes, and one more.
    for (count, streams) in [(2, true), (65, true), (66, false), (500, false)] {
        let Longest { bytes, piece } = emitted(&entries(count, count - 1));
        assert_eq!(bytes, sorted(count), "{count} names, each before the one before it");
        assert_eq!(piece < 100, streams, "{count} names, each before the one before it");
    }
    let shuffled = emitted(&entries(101, 34));
    assert_eq!((shuffled.bytes, shuffled.piece < 100), (sorted(101), true));
    #[derive(Serialize)]
    struct Flat {
        z: Vec<u32>,
        a: Vec<u32>,
        #[serde(flatten)]
        extra: Object,
    }
    let members = (0..2_000).map(|at| (format!("m{at:04}"), Json::from("x")));
    let mut extra = Object::new();
    members.for_each(|(name, value)| drop(extra.insert(name, value)));
    let flat = Flat { z: vec![7; 100], a: vec![7; 100], extra };
    let Longest { bytes, piece } = emitted(&flat);
    assert_eq!(bytes, to_bytes(&json::parse(json::to_text(&flat).unwrap().as_bytes()).unwrap()).unwrap());
    assert!(piece < 100, "{piece}");
}

#[test]
fn our_types_refuse_what_would_lie() {
    let inexact = |literal: &str| Unwritable::Inexact { literal: literal.into() };
    assert_eq!(to_bytes_of(&((1_u64 << 53) + 1)), Err(inexact("9007199254740993")));
    assert_eq!(to_bytes_of(&f64::NAN), Err(inexact("NaN")));
    assert_eq!(to_bytes_of(&BTreeMap::from([(1, 2)])), Err(Unwritable::NameNotString));
    #[derive(Serialize)]
    struct Doubled {
        a: u8,
        #[serde(flatten)]
        rest: BTreeMap<String, u8>,
    }
    let doubled = Doubled { a: 1, rest: BTreeMap::from([("a".into(), 2)]) };
    assert_eq!(to_bytes_of(&doubled), Err(Unwritable::DuplicateName { name: "a".into() }));
}

#[test]
fn a_hasher_sees_the_same_bytes_however_they_come() {
    let bytes: Vec<u8> = (0..5_000_u32).map(|at| at.to_le_bytes()[0]).collect();
    for size in [1, 7, 63, 64, 511, 512, 513, 4_999] {
        let mut hasher = Hasher::new();
        for chunk in bytes.chunks(size) {
            hasher.put(chunk);
        }
        assert_eq!(hasher.finish(), crate::digest::Digest::of(&bytes), "in pieces of {size}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    /// The oracle: the same bytes on everything that it and we accept.
    #[test]
    fn the_bytes_are_those_of_the_oracle(value in any_json()) {
        let text = json::to_text(&value).unwrap();
        let (Ok(ours), Ok(parsed)) = (to_bytes(&value), serde_json::from_str::<serde_json::Value>(&text)) else {
            return Ok(());
        };
        prop_assert_eq!(ours, serde_json_canonicalizer::to_vec(&parsed).unwrap());
    }

    /// A value written through serde has the bytes of the value written directly.
    #[test]
    fn both_writers_agree(value in any_json()) {
        prop_assert_eq!(to_bytes_of(&value).ok(), to_bytes(&value).ok());
    }

    #[test]
    fn canonical_is_a_fixed_point(value in any_json()) {
        if let Ok(bytes) = to_bytes(&value) {
            let again = json::parse(&bytes).unwrap();
            prop_assert_eq!(to_bytes(&again).unwrap(), bytes);
            prop_assert_eq!(hash(&again).unwrap(), hash_as_written(&value));
        }
    }

    #[test]
    fn plain_runs_end_at_the_first_special(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        let slow = bytes.iter().position(|b| *b < 0x20 || *b == b'"' || *b == b'\\').unwrap_or(bytes.len());
        prop_assert_eq!(plain_length(&bytes), slow);
    }
}

proptest! {
    #[test]
    fn a_score_is_rounded_as_its_print_is(value in prop_oneof![0.0_f64..100.0, 0.0_f64..2.0, -5.0_f64..5.0, (0_u32..4_000_000).prop_map(|n| f64::from(n) / 2e6)]) {
        let rounded_by_printing: f64 = alloc::format!("{value:.6}").parse().unwrap();
        let score = crate::canonical::Score::try_from(value).unwrap();
        prop_assert_eq!(score.value().to_bits(), (rounded_by_printing + 0.0).to_bits());
    }
}

/// What is written member by member has the hash of the object that it is.
#[test]
fn texts_are_hashed_as_the_object_they_are() {
    let object = crate::json::parse(br#"{"a":"\"x\"","b":["1","","\u00e9"],"c":[]}"#).unwrap();
    let texts = crate::canonical::hash_texts(|texts| {
        texts.text("a", "\"x\"");
        texts.list("b", ["1", "", "é"].into_iter());
        texts.list("c", core::iter::empty());
    });
    assert_eq!(Ok(texts), crate::canonical::hash(&object));
    assert_eq!(crate::canonical::hash_object(object.as_object().unwrap()), Ok(texts));
}

#[test]
#[should_panic = "a does not come next"]
fn texts_come_in_canonical_order() {
    let _hash = crate::canonical::hash_texts(|texts| {
        texts.text("b", "");
        texts.text("a", "");
    });
}
