//! Reading what A5 is asked.

use super::*;
use countersign_record::json;

const GOOD: &str = r#"{"draft":"x","codespec_path":"builtin:python","task":{"language":"python"},
    "stop":{"single_file":true,"filename":"main.py","no_prose":true},"prompt":"p"}"#;

fn read(text: &str) -> Result<Input, Vec<Trouble>> {
    Input::read(json::parse(text.as_bytes()).unwrap())
}

/// The codes and places of what is wrong once `from` is `to`.
fn check(from: &str, to: &str, expected: &[(Code, &str)]) {
    let text = GOOD.replacen(from, to, 1);
    assert_ne!(text, GOOD, "{from} is not there");
    let troubles = read(&text).err().unwrap_or_default();
    let found: Vec<(Code, &str)> = troubles.iter().map(|one| (one.code, one.path.as_str())).collect();
    assert_eq!(found, expected, "{text}: {troubles:?}");
}

#[test]
fn what_is_good_is_taken() {
    let input = read(GOOD).unwrap();
    assert_eq!(input.codespec, Contract::BuiltIn(Language::Python));
    assert_eq!(input.stop, Stop { filename: "main.py".into(), no_prose: true });
    assert!(input.task.allowed_libs.is_none() && input.task.denied_libs.is_empty());
    check(r#""builtin:python""#, r#""specs/CodeSpec.md""#, &[]);
    check(r#""codespec_path":"builtin:python""#, r##""codespec":"# Spec""##, &[]);
    check(r#""codespec_path""#, r#""codespec":null,"codespec_path""#, &[]);
    check(r#""prompt":"p""#, r#""prompt":"p","request_id":"r","turn_id":3"#, &[]);
    for runtime in ["3.12", "python3.8", "Python 3.11.4", "cpython 3.13"] {
        let text =
            format!(r#""python","runtime":"{runtime}","allowed_libs":["json","os.path"],"denied_libs":[]"#);
        check(r#""python""#, &text, &[]);
    }
}

#[test]
fn what_is_wrong_is_named() {
    check(r#""draft":"x","#, "", &[(Code::FieldMissing, "/draft")]);
    check(r#""draft":"x""#, r#""draft":7"#, &[(Code::FieldWrongType, "/draft")]);
    check(r#""codespec_path":"builtin:python","#, "", &[(Code::FieldMissing, "/codespec_path")]);
    check(r#""builtin:python""#, "null", &[(Code::FieldMissing, "/codespec_path")]);
    check(
        r#""codespec_path""#,
        r#""codespec":"s","codespec_path""#,
        &[(Code::FieldConflict, "/codespec_path")],
    );
    for path in ["/etc/passwd", "../x", "a/../../x", "", "builtin:go", "a\\u0000"] {
        check("builtin:python", path, &[(Code::FieldInvalid, "/codespec_path")]);
    }
    check(r#""prompt""#, r#""codespec_sha256":"x","prompt""#, &[(Code::FieldInvalid, "/codespec_sha256")]);
    check(r#""python"}"#, r#""go"}"#, &[(Code::FieldInvalid, "/task/language")]);
    check(r#""python"}"#, r#""rust"}"#, &[(Code::FieldConflict, "/stop/filename")]);
    check(r#""python"}"#, r#""python","libs":[]}"#, &[(Code::FieldUnknown, "/task/libs")]);
    check(
        r#""python"}"#,
        r#""python","allowed_libs":["a",".b","c d"]}"#,
        &[(Code::FieldInvalid, "/task/allowed_libs/1"), (Code::FieldInvalid, "/task/allowed_libs/2")],
    );
    check(
        r#""python"}"#,
        r#""python","allowed_libs":["a"],"denied_libs":["a"]}"#,
        &[(Code::FieldConflict, "/task/denied_libs")],
    );
    for runtime in ["2.7", "3", "latest", "3.x", "pypy 3.10", "3.999"] {
        let text = format!(r#""python","runtime":"{runtime}"}}"#);
        check(r#""python"}"#, &text, &[(Code::FieldInvalid, "/task/runtime")]);
    }
    check("true,\"filename\"", "false,\"filename\"", &[(Code::FieldInvalid, "/stop/single_file")]);
    for name in ["", "a b.py", "src/main.py", ".py", "`x`.py"] {
        check("main.py", name, &[(Code::FieldInvalid, "/stop/filename")]);
    }
    check(r#""prompt":"p""#, r#""prompt":"p","mode":1"#, &[(Code::FieldUnknown, "/mode")]);
    let long = format!(r#""draft":"{}""#, "x".repeat(DRAFT_BYTES_MAX + 1));
    check(r#""draft":"x""#, &long, &[(Code::FieldInvalid, "/draft")]);
    assert!(read("[]").is_err());
}
