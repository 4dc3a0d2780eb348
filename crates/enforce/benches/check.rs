//! Checking a file of a thousand lines, beside what its parser alone takes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench fails by panicking")]

use countersign_enforce::{CodeSpec, Input, Language, Repair, Status, check};
use countersign_record::json::{Json, Object};
use countersign_testkit::bench::{Bar, Bench, Side};
use std::fmt::Write;
use std::hint::black_box;

const FUNCTIONS: usize = 111;

fn python() -> String {
    let mut code = String::from(
        "\"\"\"Many functions.\"\"\"\n\nimport json\nimport logging\nimport os.path as paths\n\nlogger = logging.getLogger(__name__)\n",
    );
    for at in 0..FUNCTIONS {
        write!(
            code,
            "\n\ndef step_{at}(first: int, second: str, *rest: int) -> dict[str, int]:\n    \"\"\"Take step {at}.\"\"\"\n    \
             logger.debug(\"step %s\", {at})\n    found = {{name: len(name) + first for name in json.loads(second)}}\n    \
             if first > {at} and not rest:\n        found[paths.join(\"a\", second)] = sum(rest, start=first * {at})\n    return found\n"
        )
        .unwrap();
    }
    code
}

fn main() {
    let code = python();
    assert!((950..1_100).contains(&code.lines().count()), "{} lines", code.lines().count());
    let text = CodeSpec::built_in(Language::Python);
    let draft = format!("```python\n{code}```\n");
    let input = Object::from([
        ("draft", Json::from(draft.as_str())),
        ("codespec_path", Json::from("builtin:python")),
        ("task", Json::Object(Object::from([("language", Json::from("python"))]))),
        ("stop", Json::Object(Object::from([("filename", Json::from("main.py"))]))),
        ("prompt", Json::from("p")),
    ]);
    let input = Input::read(Json::Object(input)).unwrap();
    let spec = CodeSpec::read(text, Language::Python).unwrap();
    let report = check(&input, &spec).judge(Repair::Unavailable);
    assert_eq!(report.status, Status::Pass, "{:#?}", report.violations);
    let mut bench = Bench::default();
    bench.compare(
        "a Python file of 1,000 lines: every rule, laid out and hashed; peer: ruff's parser alone",
        Side::new("check", || {
            black_box(check(&input, &spec).judge(Repair::Unavailable));
        }),
        Side::new("parse", || {
            black_box(ruff_python_parser::parse_module(&code).unwrap());
        }),
        Bar::None,
    );
    bench.finish();
}
