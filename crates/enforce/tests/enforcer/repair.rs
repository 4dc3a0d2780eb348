//! The one repair: what a model is asked, and what its answer is worth.

use crate::drafts::input;
use countersign_enforce::report::Outcome;
use countersign_enforce::{CodeSpec, Input, Language, Repair, Report, Status, check};
use countersign_record::digest::Digest;
use countersign_record::json;
use proptest::prelude::*;

const GOOD: &str = "```python\n\"\"\"Adds.\"\"\"\n\nimport logging\n\nlogger = logging.getLogger(__name__)\n\n\ndef add(first, second):\n    \
                    \"\"\"Add.\"\"\"\n    return first + second\n```\n";

/// A draft with one violation, whose words nobody else says.
fn bad() -> String {
    GOOD.replace("return first + second", "secret_of_the_draft = first\n    return eval(\"second\")")
}

fn checked(draft: &str, repair: Repair) -> Report {
    let spec = CodeSpec::built_in(Language::Python);
    let input = input(Language::Python, draft, spec, &[]);
    let spec = CodeSpec::read(spec, Language::Python).unwrap();
    check(&input, &spec).judge(repair)
}

fn answer(text: &str) -> Report {
    checked(&bad(), Repair::Answer(text.to_owned()))
}

fn outcome(report: &Report) -> Outcome {
    report.repair.as_ref().unwrap().outcome
}

#[test]
fn a_draft_that_fits_is_not_repaired() {
    let report = checked(GOOD, Repair::Answer("anything".to_owned()));
    assert_eq!((report.status, report.repair.is_none(), report.reason()), (Status::Pass, true, None));
    let artifact = report.artifact.unwrap();
    assert_eq!((artifact.filename.as_str(), artifact.code_fenced.as_str()), ("main.py", GOOD.trim_end()));
    assert_eq!(report.hashes.draft_sha256, Digest::of(GOOD.as_bytes()));
    assert_eq!(report.hashes.final_sha256, Digest::of(artifact.code_fenced.as_bytes()));
    assert_eq!(report.hashes.spec_sha256, Digest::of(CodeSpec::built_in(Language::Python).as_bytes()));
}

#[test]
fn the_model_is_told_three_things_and_never_the_draft() {
    let spec_text = CodeSpec::built_in(Language::Python);
    let draft = bad();
    let input: Input = input(Language::Python, &draft, spec_text, &[]);
    let spec = CodeSpec::read(spec_text, Language::Python).unwrap();
    let request = check(&input, &spec).repair_request().unwrap();
    let form = json::parse(json::to_text(&request).unwrap().as_bytes()).unwrap();
    let names: Vec<&str> = form.as_object().unwrap().iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["excerpts", "prompt", "violations"]);
    let text = request.text();
    assert!(!text.contains("secret_of_the_draft") && !text.contains("def add"), "{text}");
    assert!(text.contains("forbidden_code (line 12): uses `eval`"), "{text}");
    assert!(text.contains("It runs") || text.contains("runs no text as code"), "{text}");
    assert!(text.ends_with("# Prompt\n\nAdd two numbers."), "{text}");
    for excerpt in &request.excerpts {
        assert!(excerpt.text.lines().all(|line| spec_text.contains(line)));
    }
    assert_eq!(countersign_enforce::repair::TEMPERATURE_MILLI, 0);
}

#[test]
fn a_good_repair_passes() {
    let report = answer(GOOD);
    assert_eq!((report.status, outcome(&report), report.reason()), (Status::Pass, Outcome::Applied, None));
    assert!(report.violations.is_empty() && report.artifact.is_some());
    assert_eq!(report.hashes.draft_sha256, Digest::of(bad().as_bytes()));
}

#[test]
fn every_other_repair_fails_with_the_report() {
    let draft = checked(&bad(), Repair::Unavailable);
    let check = |report: Report, expected: Outcome, reason: &str| {
        assert_eq!((report.status, outcome(&report)), (Status::Fail, expected));
        assert_eq!(report.reason(), Some(reason));
        assert!(report.artifact.is_none());
        // What was thrown away leaves the draft's own report.
        assert_eq!(report.violations, draft.violations, "{reason}");
        assert_eq!(report.hashes, draft.hashes);
        report
    };
    check(checked(&bad(), Repair::Unavailable), Outcome::Unavailable, "repair_unavailable");
    check(checked(&bad(), Repair::Failed), Outcome::Failed, "repair_failed");
    check(checked(&bad(), Repair::Late), Outcome::Late, "repair_late");
    check(answer(""), Outcome::Empty, "repair_empty");
    check(answer(" \n"), Outcome::Empty, "repair_empty");
    check(answer("I can't."), Outcome::Unparsable, "repair_unparsable");
    check(answer("```python\n```"), Outcome::Unparsable, "repair_unparsable");
    check(answer("```python\ndef f(\n```"), Outcome::Unparsable, "repair_unparsable");
    let worse = bad().replace("import logging", "import logging\nimport socket");
    let report = check(answer(&worse), Outcome::Worse, "repair_worse");
    assert_eq!(report.repair.unwrap().violations.len(), 2);
}

#[test]
fn a_repair_that_is_no_worse_is_reported_itself() {
    let other = GOOD.replace("return first", "return open(second) + first");
    let report = answer(&other);
    assert_eq!((report.status, outcome(&report)), (Status::Fail, Outcome::Insufficient));
    assert_eq!(report.reason(), Some("repair_insufficient"));
    assert_eq!(report.violations.first().unwrap().rule.as_str(), "forbidden_io");
    assert_eq!(report.hashes.final_sha256, Digest::of(other.as_bytes()));
}

#[test]
fn backticks_in_code_get_a_longer_fence() {
    let code = GOOD
        .replace("```python", "````python")
        .replace("return first + second\n```", "return first + second\n````");
    let code = code.replace("\"\"\"Add.\"\"\"", "\"\"\"Add.\n\n    ```\n    add(1, 2)\n    ```\n    \"\"\"");
    let code = code.replace("    ```\n    add(1, 2)\n    ```", "```\n    add(1, 2)\n```");
    let report = checked(&code, Repair::Unavailable);
    assert_eq!(report.status, Status::Pass, "{report:#?}");
    assert!(report.artifact.unwrap().code_fenced.contains("```\n"));
}

#[test]
fn the_report_as_a_whole() {
    let report =
        checked(&format!("Here it is:\n{}", bad().replace("def add", "def addAll")), Repair::Unavailable);
    insta::assert_snapshot!(
        serde_json::to_string_pretty(
            &serde_json::from_str::<serde_json::Value>(&json::to_text(&report).unwrap()).unwrap()
        )
        .unwrap()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever is drafted and answered, the report is whole: it passes exactly where nothing is wrong, and the same again.
    #[test]
    fn reports_are_whole(draft in pieces(), reply in pieces()) {
        let report = checked(&draft, Repair::Answer(reply.clone()));
        prop_assert_eq!(report.status == Status::Pass, report.violations.is_empty());
        prop_assert_eq!(report.status == Status::Pass, report.artifact.is_some());
        prop_assert_eq!(report.reason().is_none(), report.status == Status::Pass);
        prop_assert_eq!(&report, &checked(&draft, Repair::Answer(reply)));
        if let Some(artifact) = &report.artifact {
            // What passed passes again, and nothing is left to lay out.
            let again = checked(&artifact.code_fenced, Repair::Unavailable);
            prop_assert_eq!(again.status, Status::Pass);
            prop_assert!(again.style_fixes.is_empty(), "{:?}", again);
        }
    }
}

/// Drafts from pieces of good ones.
fn pieces() -> impl Strategy<Value = String> {
    let pieces = [
        "```python\n",
        "```\n",
        "\"\"\"Adds.\"\"\"\n",
        "import logging\n",
        "import os as x\n",
        "logger = logging.getLogger(__name__)\n",
        "def add(first):\n    \"\"\"Add.\"\"\"\n    return first\n",
        "x.system('a')\n",
        "prose\n",
        "\n",
        "  ",
        "(",
        "'",
        "print(1)\n",
        "class A:\n    pass\n",
        "\r\n",
        "\u{feff}",
    ];
    let piece = proptest::sample::select(pieces.to_vec());
    prop_oneof![
        proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat()),
        Just(GOOD.to_owned()),
        "[`a-z(){}:=\n ]{0,60}",
    ]
}
