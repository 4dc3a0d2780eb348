//! Reading CodeSpecs.

use super::*;
use proptest::prelude::*;

fn troubles(text: &str) -> Vec<String> {
    CodeSpec::read(text, Language::Python).unwrap_err().iter().map(ToString::to_string).collect()
}

fn with(rules: &str) -> String {
    format!("# Spec\n\n```codespec-python\n{rules}\n```\n")
}

#[test]
fn the_built_in_ones_can_be_used() {
    for language in Language::ALL {
        let spec = CodeSpec::read(CodeSpec::built_in(language), language).unwrap();
        assert_eq!(spec.version, "1.0");
        assert_eq!(spec.sha256, Digest::of(CodeSpec::built_in(language).as_bytes()));
        for section in Section::ALL {
            let found: Vec<&Excerpt> = spec.excerpts(section).collect();
            assert_eq!(found.len(), 2, "{section:?} has words and rules");
            assert!(found.iter().all(|excerpt| excerpt.first_line <= excerpt.last_line));
        }
    }
}

#[test]
fn an_excerpt_is_what_stands_in_its_lines() {
    let text = CodeSpec::built_in(Language::Python);
    let spec = CodeSpec::read(text, Language::Python).unwrap();
    for excerpt in Section::ALL.into_iter().flat_map(|section| spec.excerpts(section)) {
        let lines = text.lines().skip(excerpt.first_line - 1);
        let held: Vec<&str> = lines
            .take(excerpt.last_line + 1 - excerpt.first_line)
            .filter(|line| !line.trim().is_empty())
            .collect();
        assert_eq!(excerpt.text.lines().collect::<Vec<_>>(), held);
    }
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let check = |text: &str, expected: &[&str]| assert_eq!(troubles(text), expected, "{text}");
    check("# Nothing", &["line 1: there is no fenced block codespec-python"]);
    check("```codespec-python\n", &["line 1: the block codespec-python is not closed"]);
    check(&(with("version='1'") + &with("")), &["line 8: there is a second block codespec-python"]);
    check(&with(""), &["line 4: version: a text is required"]);
    check(
        &with("version = 1"),
        &["line 4: version: a string is needed, not integer", "line 4: version: a text is required"],
    );
    check(&with("version = ' '"), &["line 4: version: the text is empty"]);
    check(
        &with("version = '1'\n[import]\nallow = []\n[calls]\nio = ['a b', 1]\nunsafe = 'forbidden'"),
        &[
            "line 5: there is no rule import",
            "line 8: calls.io: a name such as os.path, std::fs or .read_text is needed; everything beneath it is meant",
            "line 8: calls.io: a string is needed, not integer",
            "line 9: there is no rule calls.unsafe",
        ],
    );
    check(
        &with(
            "version = '1'\nformatter = 'black 25'\n[format]\nline_width = 10\n[structure]\nrequired=['main']",
        ),
        &[
            "line 5: formatter: this build has ruff_python_formatter 0.0.10",
            "line 7: format.line_width: a number from 40 to 200 is needed",
            "line 9: structure.required: header or docstring is needed",
        ],
    );
    check(&with("version = '1'\nlogging = 3"), &["line 5: logging: a table is needed, not integer"]);
    let syntax = troubles(&with("version = '1'\n[calls\n"));
    assert!(syntax.first().unwrap().starts_with("line 5: "), "{syntax:?}");
    let long = "x".repeat(BYTES_MAX + 1);
    check(&long, &["line 1: a CodeSpec may have 1048576 bytes"]);
}

#[test]
fn what_is_not_said_is_no_rule() {
    let spec = CodeSpec::read(&with("version = '1'"), Language::Python).unwrap();
    assert!(spec.rules.forbidden.is_empty() && spec.rules.order.is_empty());
    assert_eq!(spec.rules.imports.dynamic, Permission::Allowed);
    assert_eq!(spec.excerpts(Section::Calls).count(), 0);
}

proptest! {
    #[test]
    fn no_text_is_too_strange(text in "([`~#\\[\\]a-z='\"0-9. \n]|codespec-python|version|calls|\n){0,80}") {
        if let Err(troubles) = CodeSpec::read(&text, Language::Python) {
            prop_assert!(!troubles.is_empty());
            let lines = text.lines().count().max(1);
            prop_assert!(troubles.iter().all(|trouble| (1..=lines + 1).contains(&trouble.line)));
        }
    }
}
