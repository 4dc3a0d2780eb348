//! What says nothing is nothing: docs that are blank, a block that is marked as nothing.

use crate::drafts::{broken, names, report, spec};
use countersign_enforce::Language;
use countersign_enforce::rule::Rule;

#[test]
fn docs_that_say_nothing_are_none() {
    let rules = "[structure]\nrequired = ['docstring']\n[docstrings]\ntypes = 'public'\nfunctions = 'public'";
    let check = |language: Language, code: &str, rules_broken: &[Rule]| {
        let found = broken(language, code, &spec(language, rules), &[]);
        assert_eq!(found, names(rules_broken), "{code}");
    };
    check(Language::Python, "\"\"\"  \"\"\"\nx = 1", &[Rule::Docstring]);
    check(Language::Python, "\"\"\" A. \"\"\"\nx = 1", &[]);
    check(Language::Rust, "//!\n//!  \nconst X: u8 = 1;", &[Rule::Docstring]);
    check(Language::Rust, "//!\n//! A.\nconst X: u8 = 1;", &[]);
    check(Language::Rust, "//! A.\n///\npub fn f() {}", &[Rule::Docstring]);
    check(Language::Rust, "//! A.\n#[doc(hidden)]\npub fn f() {}", &[Rule::Docstring]);
    check(Language::Rust, "//! A.\n/// B.\npub fn f() {}", &[]);
}

#[test]
fn a_block_is_marked_where_the_rules_say_so() {
    let required = spec(Language::Python, "[shape]\nlanguage = 'required'");
    let optional = spec(Language::Python, "");
    for (fence, spec, count) in [
        ("```", &required, 1),
        ("``` main.py", &required, 1),
        ("```python", &required, 0),
        ("```", &optional, 0),
    ] {
        let found = report(Language::Python, &format!("{fence}\nx = 1\n```\n"), spec, &[]);
        let marked = found.violations.iter().filter(|one| one.rule == Rule::FenceLanguage);
        assert_eq!(marked.count(), count, "{fence}");
    }
}

#[test]
fn what_a_known_class_calls_so_is_called_so() {
    let rules = spec(Language::Python, "[naming]\nfunctions = ['snake_case']");
    for (code, rules_broken) in [
        ("class A(ast.NodeVisitor):\n    def visit_Name(self): ...", &[][..]),
        ("class A(TestCase):\n    def setUp(self): ...", &[]),
        ("class A(logging.Formatter):\n    def formatTime(self): ...", &[]),
        ("class A:\n    def setUp(self): ...", &[Rule::Naming]),
        ("class A(TestCase):\n    def setUP(self): ...", &[Rule::Naming]),
        ("class A(TestCase):\n    def f(self):\n        def setUp(): ...", &[Rule::Naming]),
    ] {
        assert_eq!(broken(Language::Python, code, &rules, &[]), names(rules_broken), "{code}");
    }
}
