//! Tasks: what is read, and what does not go together.

use super::*;
use countersign_record::json;
use std::format;
use std::string::{String, ToString};

const TASK: &str = r#"{
  "schema_version": "1.0", "id": "memo", "title": "Memo", "goal": "Say how long it runs.",
  "artifacts": [{"id": "memo", "path": "memo.md", "kind": "markdown",
    "sections": [{"id": "term", "heading": "Term", "ask": "How long?"}]}],
  "sources": [{"id": "lease", "path": "sources/lease.md", "kind": "document", "trust_basis": "user_supplied"}],
  "outcomes": [{"id": "stated", "statement": "It is stated.", "section": "term", "criteria": [
    {"id": "has", "text": "It is there.", "basis": "deterministic_check", "check": {"kind": "section", "heading": "Term"}}]}]
}"#;

fn read(text: &str) -> Result<Task, Vec<Trouble>> {
    read_whole(&json::parse(text.as_bytes()).unwrap())
}

#[test]
fn a_task_is_read_with_its_defaults_and_written_back() {
    let task = read(TASK).unwrap();
    assert_eq!((task.model(), task.pipeline(), task.has_judge()), (EMBEDDED, PIPELINE, false));
    let outcome = &task.outcomes[0];
    assert!(outcome.is_required());
    assert_eq!(outcome.threshold().literal(), "0.7");
    assert_eq!(task.policies().claims().direct_min(), 1);
    assert_eq!(task.policies().sufficiency().epsilon().literal(), "0.01");
    let written = task.write().unwrap();
    assert_eq!(read_whole(&written).unwrap(), task);
    assert_eq!(written, json::parse(TASK.as_bytes()).unwrap());
}

#[test]
fn a_run_is_granted_what_its_task_names() {
    assert!(granted(&read(TASK).unwrap()).is_empty());
    let text = TASK.replace(r#""outcomes": ["#, r#""capabilities": ["shell"], "outcomes": ["#);
    let text = text.replace(
        r#"{"kind": "section", "heading": "Term"}"#,
        r#"{"kind": "command", "argv": ["grep", "x", "memo.md"]}"#,
    );
    let task = read(&text).unwrap();
    assert_eq!(granted(&task).iter().map(|one| one.as_str()).collect::<Vec<_>>(), [SHELL]);
    let commands: Vec<&[String]> = task.commands().map(|(_, argv)| argv).collect();
    assert_eq!(commands, [["grep", "x", "memo.md"]]);
}

#[test]
fn what_is_privileged_is_secret_whatever_its_class_is_called() {
    let of = |members: &str| {
        let text = TASK.replace(r#""user_supplied"}"#, &format!(r#""user_supplied"{members}}}"#));
        read(&text).unwrap().sources[0].class().as_str()
    };
    for (members, expected) in [
        ("", "internal"),
        (r#", "privileged": true"#, "privileged"),
        (r#", "privileged": true, "data_class": "public""#, "privileged"),
        (r#", "privileged": true, "data_class": "local_only""#, "local_only"),
        (r#", "privileged": false, "data_class": "public""#, "public"),
    ] {
        assert_eq!(of(members), expected, "{members}");
    }
}

/// What a change of the task is told for, by place.
fn check(from: &str, to: &str, expected: &[(&str, &str)]) {
    assert!(TASK.contains(from), "{from}");
    let troubles = read(&TASK.replace(from, to)).unwrap_err();
    let told: Vec<(&str, &str)> =
        troubles.iter().map(|one| (one.path.as_str(), one.message.as_str())).collect();
    assert_eq!(told.len(), expected.len(), "{to}: {told:?}");
    for ((path, message), (wanted, words)) in told.iter().zip(expected) {
        assert_eq!(path, wanted, "{to}: {told:?}");
        assert!(message.contains(words), "{to}: {message}");
    }
}

#[test]
fn what_does_not_fit_is_told_by_place() {
    check(r#""id": "memo", "title""#, r#""id": "Memo!", "title""#, &[("/id", "small letters")]);
    check(r#""title": "Memo""#, r#""title": " ""#, &[("/title", "must say something")]);
    check(r#""goal""#, r#""gaol": 1, "goal""#, &[("/gaol", "is not known here")]);
    check(r#""kind": "markdown""#, r#""kind": "pdf""#, &[("/artifacts/0/kind", "must be one of markdown")]);
    check(
        r#""path": "memo.md""#,
        r#""path": "../memo.md""#,
        &[("/artifacts/0/path", "within the task's folder")],
    );
    check(r#""path": "sources/lease.md""#, r#""path": "/etc/passwd""#, &[("/sources/0/path", "within")]);
    let ask = r#""ask": "How long?""#;
    check(ask, r#""ask": "How long?", "quotes": 0"#, &[("/artifacts/0/sections/0/quotes", "1 to 20")]);
    check(r#""section": "term""#, r#""section": "rent""#, &[("/outcomes/0/section", "no section rent")]);
    check(
        r#""section": "term""#,
        r#""section": "term", "depends_on": ["stated"]"#,
        &[("/outcomes/0/depends_on", "leads back")],
    );
    check(
        r#""section": "term""#,
        r#""depends_on": ["other"]"#,
        &[("/outcomes/0/depends_on/0", "no outcome other")],
    );
    check(r#""section": "term""#, r#""threshold": 1.5"#, &[("/outcomes/0/threshold", "from 0 to 1")]);
    let basis = r#""basis": "deterministic_check""#;
    check(
        basis,
        r#""basis": "source_grounded""#,
        &[("/outcomes/0/criteria/0/check", "a criterion of source_grounded has none")],
    );
    check(
        r#"{"kind": "section", "heading": "Term"}"#,
        r#"{"kind": "length"}"#,
        &[("/outcomes/0/criteria/0/check", "needs one of words_min, words_max")],
    );
    check(
        r#"{"kind": "section", "heading": "Term"}"#,
        r#"{"kind": "matches", "pattern": "("}"#,
        &[("/outcomes/0/criteria/0/check/pattern", "is no pattern")],
    );
    let section = r#"{"kind": "section", "heading": "Term"}"#;
    check(
        section,
        r#"{"kind": "command", "argv": ["grep", "x", "memo.md"]}"#,
        &[("/outcomes/0/criteria/0/check/kind", r#"add capabilities = ["shell"]"#)],
    );
    check(
        section,
        r#"{"kind": "section", "heading": "Term", "exit": 1}"#,
        &[("/outcomes/0/criteria/0/check/exit", "has none")],
    );
    check(
        r#""outcomes": ["#,
        r#""capabilities": ["shell", "Shell", "shell"], "outcomes": ["#,
        &[("/capabilities/1", "a capability is a name"), ("/capabilities/2", "the same")],
    );
    check(
        section,
        r#"{"kind": "length", "words_min": 90, "words_max": 80}"#,
        &[("/outcomes/0/criteria/0/check/words_max", "not be less than words_min, which is 90")],
    );
    check(
        r#""outcomes": ["#,
        r#""limits": {"max_iterations": 0}, "outcomes": ["#,
        &[("/limits/max_iterations", "1 or more")],
    );
    check(
        r#""basis": "deterministic_check""#,
        r#""weight": 0, "basis": "deterministic_check""#,
        &[("/outcomes/0/criteria", "weigh nothing together")],
    );
    check(
        r#""path": "sources/lease.md""#,
        r#""path": "sources/lease[1].md""#,
        &[("/sources/0/path", "no citation of it could be read")],
    );
    check(
        r#""kind": "document""#,
        r#""kind": "case_law""#,
        &[("/sources/0/treatment", "must say how it was treated")],
    );
    check(
        r#""outcomes": ["#,
        r#""budget": {"usd": "-1"}, "outcomes": ["#,
        &[("/budget/usd", "not negative")],
    );
    check(
        r#""outcomes": ["#,
        r#""budget": {"wall_clock_ms": 0, "human_review_minutes": 1, "input_tokens": 9}, "outcomes": ["#,
        &[
            ("/budget/wall_clock_ms", "nothing is held back for it"),
            (
                "/budget/human_review_minutes",
                "there are usd, input_tokens, output_tokens, external_api_calls",
            ),
        ],
    );
    check(
        r#""outcomes": ["#,
        r#""work": {"model": "a", "replies": "b"}, "outcomes": ["#,
        &[(concat!("/work", "/replies"), "not both")],
    );
    check(
        r#""outcomes": ["#,
        r#""work": {"pipeline": "../x.toml"}, "outcomes": ["#,
        &[(concat!("/work", "/pipeline"), "within the task's folder")],
    );
    check(
        r#""outcomes": ["#,
        r#""limits": {"max_llm_calls": 0}, "outcomes": ["#,
        &[("/limits/max_llm_calls", "1 or more")],
    );
}

#[test]
fn what_nobody_could_make_or_type_is_told_by_place() {
    let basis = r#""basis": "deterministic_check""#;
    let section = r#"{"kind": "section", "heading": "Term"}"#;
    for path in ["versions", "versions/memo.md"] {
        let to = format!(r#""path": "{path}""#);
        check(r#""path": "memo.md""#, &to, &[("/artifacts/0/path", "take another name")]);
    }
    check(
        section,
        r#"{"kind": "section", "heading": "Rent"}"#,
        &[("/outcomes/0/criteria/0/check/heading", "no section with the heading Rent")],
    );
    check(
        section,
        r#"{"kind": "sections", "headings": ["Term", "Rent"]}"#,
        &[("/outcomes/0/criteria/0/check/headings/1", "no section with the heading Rent")],
    );
    let label = |label: &str| {
        let (from, to) = (format!("{basis}, "), r#""basis": "human_label", "#);
        let text = TASK.replace(&from, to);
        text.replace(
            &format!(r#""check": {section}"#),
            &format!(r#""question": "Is it?", "labels": ["yes", "{label}"], "pass": ["yes"]"#),
        )
    };
    assert!(read(&label("not yet, (ask Ana)")).is_ok(), "{}", label("not yet, (ask Ana)"));
    for bad in ["not yet; rm -rf x", "$(x)", "-no", "a\\nb", ""] {
        let troubles = read(&label(bad)).unwrap_err();
        assert_eq!(troubles[0].path, "/outcomes/0/criteria/0/labels/1", "{bad}: {troubles:?}");
    }
}

#[test]
fn amounts_are_exact() {
    for (text, expected) in [
        ("1", Some(1_000_000)),
        ("0.000001", Some(1)),
        ("\"0.50\"", Some(500_000)),
        ("0.0000001", None),
        ("-1", None),
        ("\"1e3\"", None),
        ("1e3", None),
        ("\"\"", None),
        ("18446744073710", None),
        ("null", None),
    ] {
        assert_eq!(micros(&json::parse(text.as_bytes()).unwrap()), expected, "{text}");
    }
    assert_eq!(share(&countersign_record::json::Number::from(2_u32)).map(|micros| micros.to_string()), None);
}

#[test]
fn a_person_who_is_asked_is_required_unless_the_task_says_otherwise() {
    let section = r#""basis": "deterministic_check", "check": {"kind": "section", "heading": "Term"}"#;
    let label = r#""basis": "human_label", "question": "Is it?", "labels": ["yes", "no"], "pass": ["yes"]"#;
    let rubric =
        r#""basis": "anchored_rubric", "rubric": [{"level": 0, "text": "no"}, {"level": 1, "text": "yes"}]"#;
    for (criterion, expected) in [
        (section.to_string(), false),
        (rubric.to_string(), false),
        (r#""basis": "source_grounded""#.to_string(), false),
        (r#""basis": "unanchored_llm_judgment""#.to_string(), false),
        (label.to_string(), true),
        (format!(r#"{label}, "required": false"#), false),
        (format!(r#"{section}, "required": true"#), true),
    ] {
        let task = read(&TASK.replace(section, &criterion)).unwrap();
        assert_eq!(task.outcomes[0].criteria[0].is_required(), expected, "{criterion}");
    }
    let text = json::to_text(&Criterion::schema()).unwrap();
    assert!(text.contains("true for a human_label"), "{text}");
}

#[test]
fn an_outcome_of_which_nothing_could_ever_count_is_refused() {
    let basis = r#""basis": "deterministic_check", "check": {"kind": "section", "heading": "Term"}"#;
    let outcome = |policy: &str| {
        let task = TASK.replace(basis, r#""basis": "unanchored_llm_judgment""#);
        read(
            &task.replace(r#""section": "term""#, &format!(r#""section": "term", "unanchored": "{policy}""#)),
        )
    };
    let troubles = outcome("exclude").unwrap_err();
    assert_eq!(troubles.len(), 1, "{troubles:?}");
    assert_eq!(troubles[0].path, "/outcomes/0/unanchored");
    assert!(troubles[0].message.contains("leaves out every criterion"), "{troubles:?}");
    assert!(outcome("indeterminate").is_ok() && outcome("include_with_audit_flag").is_ok());
}

/// What a run that is begun now is refused for; one that was begun with it can be read.
#[test]
fn words_that_ask_for_nothing_are_told_by_place() {
    let section = r#"{"kind": "section", "heading": "Term"}"#;
    let basis = r#""basis": "deterministic_check", "check": {"kind": "section", "heading": "Term"}"#;
    let label = |members: &str| format!(r#""basis": "human_label", "question": "Is it?", {members}"#);
    let check = |from: &str, to: &str, expected: &[(&str, &str)]| {
        let task = read(&TASK.replace(from, to)).unwrap_or_else(|troubles| panic!("{to}: {troubles:?}"));
        let told = empty_words(&task);
        assert_eq!(told.len(), expected.len(), "{to}: {told:?}");
        for (one, (path, words)) in told.iter().zip(expected) {
            assert_eq!(&one.path, path, "{to}");
            assert!(one.message.contains(words), "{to}: {}", one.message);
        }
    };
    check(
        r#""user_supplied"}"#,
        r#""user_supplied", "treatment": "overruled"}"#,
        &[("/sources/0/treatment", "counts only for law")],
    );
    check(
        basis,
        &label(r#""labels": ["yes", "no"], "pass": ["yes", "no"]"#),
        &[("/outcomes/0/criteria/0/pass", "names every label")],
    );
    let at = "/outcomes/0/criteria/0";
    let place = |rest: &str| format!("{at}{rest}");
    let twice = label(r#""labels": ["yes", "no", "yes"], "pass": ["yes"]"#);
    check(basis, &twice, &[(&place("/labels/2"), "stands there already")]);
    check(basis, &label(r#""labels": ["yes", "no"], "pass": ["yes"]"#), &[]);
    for (test, path, words) in [
        (r#"{"kind": "sections", "headings": []}"#, "/check/headings", "names nothing"),
        (r#"{"kind": "mentions", "any": []}"#, "/check/any", "names nothing"),
        (r#"{"kind": "mentions", "all": ["rent", " "]}"#, "/check/all/1", "must say something"),
        (r#"{"kind": "citations", "min": 0}"#, "/check", "asks for no citation at all"),
        (
            r#"{"kind": "citations", "sources_min": 5}"#,
            "/check/sources_min",
            "asks for 5 sources where the task has one that can be cited",
        ),
    ] {
        check(section, test, &[(&place(path), words)]);
    }
    check(section, r#"{"kind": "citations", "min": 2, "sources_min": 1}"#, &[]);
    for (policy, expected) in [
        (r#"{"sufficiency": {"attempts_min": 5, "attempts_max": 1}}"#, Some("attempts_max, which is 1")),
        (r#"{"sufficiency": {"attempts_min": 5}}"#, Some("attempts_max, which is 4")),
        (r#"{"sufficiency": {"attempts_max": 1}}"#, None),
    ] {
        let to = format!(r#""policies": {policy}, "outcomes": ["#);
        let wrong = expected.map(|words| ("/policies/sufficiency/attempts_min", words));
        check(r#""outcomes": ["#, &to, &wrong.into_iter().collect::<Vec<_>>());
    }
    check(
        r#""outcomes": ["#,
        r#""policies": {"claim_support": {"direct_min": 0}}, "outcomes": ["#,
        &[("/policies/claim_support/direct_min", "must be 1 or more")],
    );
}

#[test]
fn a_source_of_another_matter_is_foreign() {
    let of = |matter: &str| {
        let text =
            TASK.replace(r#""user_supplied"}"#, &format!(r#""user_supplied", "matter": "{matter}"}}"#));
        read(&text).map(|task| foreign(&task, "default").into_iter().map(|one| one.path).collect::<Vec<_>>())
    };
    assert_eq!(of("default").unwrap(), Vec::<String>::new());
    assert_eq!(of("acme").unwrap(), ["/sources/0/matter"]);
    assert_eq!(of("Not one!").unwrap_err()[0].path, "/sources/0/matter");
    assert_eq!(foreign(&read(TASK).unwrap(), "acme"), []);
}
