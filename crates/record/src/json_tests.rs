//! What is JSON, what is refused and where, and that nothing is lost.

use super::*;
use proptest::prelude::*;
use std::format;
use std::string::ToString;

fn check(text: &[u8], expected: &Problem, offset: usize) {
    let error = parse(text).expect_err("this text should be refused");
    assert_eq!((&error.problem, error.offset), (expected, offset), "{}", String::from_utf8_lossy(text));
}

#[test]
fn refusals() {
    let syntax = |expected| Problem::Syntax { expected };
    check(b"", &Problem::Empty, 0);
    check(b" \n\t", &Problem::Empty, 3);
    check(b"\xEF\xBB\xBF{}", &Problem::ByteOrderMark, 0);
    check(b"\"a\xFF\"", &Problem::Utf8, 2);
    check(b"{} {}", &Problem::Trailing, 3);
    check(b"1 2", &Problem::Trailing, 2);
    check(b"01", &Problem::Trailing, 1);
    check(b"[1,", &Problem::Truncated, 3);
    check(b"\"ab", &Problem::Truncated, 3);
    check(b"{\"a\"", &Problem::Truncated, 4);
    check(b"\"\\u12", &Problem::Truncated, 3);
    check(b"\"\\ud800\"", &Problem::LoneSurrogate, 1);
    check(b"\"\\udc00\\ud800\"", &Problem::LoneSurrogate, 1);
    check(b"\"\\ud800\\u0041\"", &Problem::LoneSurrogate, 1);
    check(b"[1,]", &syntax("a value should stand here"), 3);
    check(b"{\"a\":1,}", &syntax("a member's name in double quotes should stand here"), 7);
    check(b"{a:1}", &syntax("a member's name in double quotes should stand here"), 1);
    check(b"\"a\nb\"", &syntax("a control character in a string must be escaped"), 2);
    check(b"\"\\x\"", &syntax("this escape is not one of JSON's"), 1);
    check(b"1.", &Problem::Truncated, 2);
    check(b"[+1]", &syntax("a value should stand here"), 1);
    check(b"[.5]", &syntax("a value should stand here"), 1);
    check(b"tru", &syntax("a value should stand here"), 0);
    check("\"\\é\"".as_bytes(), &syntax("this escape is not one of JSON's"), 1);
}

#[test]
fn every_spelling_of_what_is_not_finite() {
    let words = ["NaN", "nan", "NAN", "Nan", "Infinity", "infinity", "INFINITY", "inf", "Inf", "INF"];
    for word in words {
        for sign in ["", "-", "+"] {
            check(format!("{sign}{word}").as_bytes(), &Problem::NotFinite, 0);
            check(format!("[1,{sign}{word}]").as_bytes(), &Problem::NotFinite, 3);
            check(format!("{{\"a\": {sign}{word} }}").as_bytes(), &Problem::NotFinite, 6);
        }
    }
    let others = "nul nil none None NULL nano NaN1 nan_ in info Infinit infinitys N +1 + nän";
    for word in others.split(' ') {
        let expected = Problem::Syntax { expected: "a value should stand here" };
        check(format!("[{word}]").as_bytes(), &expected, 1);
    }
    // A name that reads like one of them is a name like any other.
    assert!(parse(b"{\"NaN\":null,\"inf\":\"Infinity\"}").is_ok());
}

#[test]
fn a_second_name_is_told_where_it_stands() {
    let check = |text: &str, name: &str, offset| {
        super::tests::check(text.as_bytes(), &Problem::DuplicateName { name: name.into() }, offset);
    };
    check("{\"a\":1,\"b\":2,\"a\":1}", "a", 13);
    check("[{\"\\u0061\":1,\"a\":1}]", "a", 13);
    check("{\"a\":1,\"\\u0061\":1}", "a", 7);
    // The first that repeats, whatever its name, and none that stands inside another value.
    check("{\"b\":{\"a\":1},\"a\":[2,{\"b\":3}],\"b\":1,\"a\":1}", "b", 29);
    check("{\"a\":1,\"a\":2,\"a\":3}", "a", 7);
    check("{\"\":1, \n \"\" :2}", "", 9);
    let error = parse(b"{\n  \"agent\": 1,\n  \"agent\": 2\n}").unwrap_err();
    assert_eq!((error.line, error.column, error.offset), (3, 3, 18));
    // What was counted already is not counted twice.
    let full = Limits { values_max: 4, ..Limits::GOVERNED };
    let error = parse_with(b"{\"a\":1,\"b\":2,\"a\":3}", full).unwrap_err();
    assert_eq!(error.problem, Problem::DuplicateName { name: "a".into() });
}

#[test]
fn limits_hold_in_bounded_time() {
    let deep = "[".repeat(100_000);
    check(deep.as_bytes(), &Problem::TooDeep { depth_max: 128 }, 128);
    let digits = format!("[{}]", "9".repeat(5_000));
    check(digits.as_bytes(), &Problem::NumberTooLong { number_max: 1_000 }, 1);
    let small = Limits { bytes_max: 4, ..Limits::GOVERNED };
    let error = parse_with(b"[1,2]", small).unwrap_err();
    assert_eq!(error.problem, Problem::TooLong { bytes_max: 4 });
    let many = Limits { values_max: 3, ..Limits::GOVERNED };
    assert!(parse_with(b"[1,2]", many).is_ok());
    let error = parse_with(b"[1,2,3]", many).unwrap_err();
    assert_eq!((error.problem, error.offset), (Problem::TooManyValues { values_max: 3 }, 5));
    let nested = format!("{}{}", "[".repeat(128), "]".repeat(128));
    assert!(parse(nested.as_bytes()).is_ok());
}

#[test]
fn a_place_is_a_line_and_a_column() {
    let error = parse(b"{\n  \"a\": 1,\n  \"b\": x\n}").unwrap_err();
    assert_eq!((error.line, error.column, error.offset), (3, 8, 19));
}

#[test]
fn numbers_keep_their_digits() {
    let text = r#"[1,1.0,-0,1e2,0.1000000000000000055,9007199254740993,1E400,-12,0.5e-3]"#;
    let value = parse(text.as_bytes()).unwrap();
    assert_eq!(to_text(&value).unwrap(), text);
    let exact = |text: &str| Number::from_literal(text).is_exact();
    for good in ["1", "1.0", "-0", "1e2", "0.1", "9007199254740992", "333333333.3333333", "1e21", "5e-324"] {
        assert!(exact(good), "{good}");
    }
    // The first of RFC 8785's own examples: its canonical print is another decimal number.
    assert!(!exact("333333333.33333329"));
    for bad in ["9007199254740993", "0.1000000000000000055", "1e400", "1e-400", "1e99999999999999999999"] {
        assert!(!exact(bad), "{bad}");
    }
}

#[test]
fn integers_are_what_json_schema_calls_integers() {
    let check = |text: &str, expected| assert_eq!(Number::from_literal(text).as_i64(), expected, "{text}");
    check("1.0", Some(1));
    check("-1.50e1", Some(-15));
    check("1e2", Some(100));
    check("0e999999999999999999999", Some(0));
    check("1.5", None);
    check("9223372036854775807", Some(i64::MAX));
    check("9223372036854775808", None);
    check("1e-1", None);
}

#[test]
fn names_sort_as_utf16() {
    let names = [
        "",
        "a",
        "aa",
        "b",
        "é",
        "€",
        "\u{D7FF}",
        "\u{1F600}",
        "\u{10FFFF}",
        "\u{E000}",
        "\u{FB33}",
        "\u{FFFF}",
    ];
    for (at, left) in names.iter().enumerate() {
        for (other, right) in names.iter().enumerate() {
            assert_eq!(canonical_order(left, right), at.cmp(&other), "{left:?} {right:?}");
        }
    }
}

/// Text that is nearly JSON: real fragments, glued.
fn nearly_json() -> impl Strategy<Value = std::vec::Vec<u8>> {
    let piece = prop_oneof![
        proptest::sample::select(std::vec![
            "{",
            "}",
            "[",
            "]",
            ":",
            ",",
            "\"a\"",
            "\"b\"",
            "\"\\u00e9\"",
            "\"\\ud83d\\ude00\"",
            "\"\\ud800\"",
            "1",
            "-0",
            "1.5e3",
            "01",
            "-",
            "1e",
            "true",
            "false",
            "null",
            "nul",
            " ",
            "\n",
            "\"",
            "\\",
            "\u{7f}",
            "\u{1}",
            "é",
            "NaN",
            "1e400"
        ])
        .prop_map(|piece| piece.as_bytes().to_vec()),
        proptest::collection::vec(any::<u8>(), 0..3),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    /// serde_json is the oracle for the grammar; it knows no doubled names and no `1e400`, so those are apart.
    #[test]
    fn the_grammar_is_the_one_of_serde_json(text in nearly_json()) {
        let ours = parse(&text);
        let theirs = serde_json::from_slice::<serde_json::Value>(&text);
        match (&ours, &theirs) {
            (Err(error), Ok(_)) => prop_assert!(matches!(error.problem, Problem::DuplicateName { .. }), "{error}"),
            (Ok(_), Err(error)) => prop_assert!(error.to_string().contains("number out of range"), "{error}"),
            (Ok(_), Ok(_)) | (Err(_), Err(_)) => {}
        }
    }

    #[test]
    fn a_text_survives(value in crate::canonical::tests::any_json()) {
        let text = to_text(&value).unwrap();
        prop_assert_eq!(parse(text.as_bytes()).unwrap(), value);
    }

    #[test]
    fn utf16_order_is_the_order_of_code_units(left in "\\PC{0,4}|[\u{10000}-\u{10FFFF}\u{E000}-\u{FFFF}a]{0,4}", right in "[\u{10000}-\u{10FFFF}\u{E000}-\u{FFFF}a]{0,4}") {
        prop_assert_eq!(canonical_order(&left, &right), left.encode_utf16().cmp(right.encode_utf16()));
    }
}

/// A text that may not be told is not told by what is wrong with it.
#[test]
fn an_error_can_be_told_without_the_text() {
    let error = parse(b"{\"secret\":1,\n\"secret\":2}").unwrap_err();
    assert_eq!(error.without_text(), "line 2, column 1 (byte 13): a name stands twice in one object");
    assert!(error.to_string().contains("secret"));
    let error = parse(b"{\"secret\":secret}").unwrap_err();
    assert_eq!(error.without_text(), error.to_string());
    assert!(!error.to_string().contains("secret"));
}

/// Documents that are read with the names of others are what they are alone.
#[test]
fn names_that_are_held_change_nothing() {
    let many = |count: usize, first: usize| {
        let members = (first..first + count).map(|at| format!(r#""name-{at:05}":{at}"#));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    };
    let mut texts: Vec<String> = [
        r#"{}"#,
        r#"{"a":1,"b":{"a":[{"a":1},{"b":2,"c":{}}]}}"#,
        r#"{"b":1,"a":2}"#,
        r#"{"a":1,"c":{"z":1,"y":{"b":1,"a":2}},"b":[{"q":1,"p":2}]}"#,
        r#"{"a":1,"\u0062":2,"c":3}"#,
        r#"{"a":1,"a":2}"#,
        r#"{"a":1,"b":{"c":1,"d":2,"c":3}}"#,
        r#"{"b":1,"a":{"x":1},"b":2}"#,
        r#"{"a":{"b":1"#,
        r#"{"":1,"a":2}"#,
    ]
    .into_iter()
    .map(String::from)
    .collect();
    texts.extend([63, 64, 65, 200].map(|count| many(count, 0)));
    texts.push(format!(r#"{{"{}":1,"{}":2}}"#, "x".repeat(64), "x".repeat(65)));
    // More ways to begin than are held.
    texts.extend((0..700).map(|first| many(60, first * 60)));
    let mut names = Names::default();
    for _ in 0..2 {
        for text in &texts {
            let (alone, again) = (parse(text.as_bytes()), parse_again(text.as_bytes(), &mut names));
            assert_eq!(alone, again, "{text}");
            let (Ok(alone), Ok(mut again)) = (alone, again) else { continue };
            assert_eq!(to_text(&alone).unwrap(), to_text(&again).unwrap());
            // What one object becomes, those of the same names do not.
            if let Json::Object(object) = &mut again {
                object.insert("a-new-one", true);
                object.remove("a");
                assert_eq!(parse_again(text.as_bytes(), &mut names).unwrap(), alone, "{text}");
            }
        }
    }
}

#[test]
fn of_two_members_of_one_name_the_last_is_kept() {
    let object: Object = [("b", 1), ("a", 2), ("b", 3), ("c", 4), ("a", 5)]
        .map(|(name, value)| (name, parse(value.to_string().as_bytes()).unwrap()))
        .into_iter()
        .collect();
    assert_eq!(to_text(&object).unwrap(), r#"{"a":5,"b":3,"c":4}"#);
    let mut object = object;
    assert_eq!(object.take("b"), object.remove("c").map(|_| parse(b"3").unwrap()));
    assert_eq!(to_text(&object).unwrap(), r#"{"a":5,"b":null}"#);
    assert!(object.remove("a").is_some() && object.remove("b").is_some());
    assert_eq!(object, Object::new());
}
