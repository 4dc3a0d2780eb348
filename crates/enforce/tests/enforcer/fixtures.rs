//! Each rule has a draft that breaks it, and nothing else, and one that keeps it.
//!
//! `fixtures/<language>/<rule>/` holds `fail.md` and `pass.md`; `codespec.toml` stands in for the built-in rules and `task.json` adds to the
//! task, where a rule needs that.

use countersign_enforce::rule::{Rule, Weight};
use countersign_enforce::{CodeSpec, Input, Language, Repair, Report, Status, check};
use countersign_record::json::{self, Json, Object};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Rules that a language has nothing for.
const ABSENT: [(Language, Rule); 2] =
    [(Language::Rust, Rule::DynamicImport), (Language::Rust, Rule::IndirectAccess)];

fn place(language: Language) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(language.as_str())
}

fn judged(language: Language, rule: Rule, draft: &str) -> Report {
    let dir = place(language).join(rule.as_str());
    let spec = match std::fs::read_to_string(dir.join("codespec.toml")) {
        Ok(rules) => format!("# Rules\n\n```codespec-{}\n{rules}```\n", language.as_str()),
        Err(_) => CodeSpec::built_in(language).to_owned(),
    };
    let mut task = match std::fs::read(dir.join("task.json")) {
        Ok(bytes) => json::parse(&bytes).unwrap().as_object().unwrap().clone(),
        Err(_) => Object::new(),
    };
    task.insert("language", language.as_str());
    let filename = format!("main{}", language.ending());
    let stop = Object::from([("single_file", Json::Bool(true)), ("filename", filename.as_str().into())]);
    let text =
        std::fs::read_to_string(dir.join(draft)).unwrap_or_else(|_| panic!("{rule}: there is no {draft}"));
    let input = Object::from([
        ("draft", Json::from(text.as_str())),
        ("codespec", Json::from(spec.as_str())),
        ("task", Json::Object(task)),
        ("stop", Json::Object(stop)),
        ("prompt", Json::from("Do it.")),
    ]);
    let input = Input::read(Json::Object(input)).unwrap();
    let spec = CodeSpec::read(&spec, language).unwrap();
    check(&input, &spec).judge(Repair::Unavailable)
}

fn every(mut look: impl FnMut(Language, Rule)) {
    for language in Language::ALL {
        for rule in Rule::ALL.iter().copied().filter(|rule| !ABSENT.contains(&(language, *rule))) {
            look(language, rule);
        }
    }
}

#[test]
fn a_draft_that_breaks_a_rule_breaks_only_that() {
    every(|language, rule| {
        let report = judged(language, rule, "fail.md");
        let name = format!("{} {rule}: {report:#?}", language.as_str());
        match rule.weight() {
            Weight::Hard => {
                let found: BTreeSet<Rule> =
                    report.violations.iter().map(|violation| violation.rule).collect();
                assert_eq!(found, BTreeSet::from([rule]), "{name}");
                assert_eq!((report.status, report.artifact), (Status::Fail, None), "{name}");
            }
            Weight::Style => {
                assert_eq!((report.status, report.violations.len()), (Status::Pass, 0), "{name}");
                assert!(report.style_fixes.iter().any(|fix| fix.rule == rule), "{name}");
            }
        }
    });
}

#[test]
fn a_draft_that_keeps_a_rule_passes() {
    every(|language, rule| {
        let report = judged(language, rule, "pass.md");
        let name = format!("{} {rule}: {report:#?}", language.as_str());
        assert_eq!((report.status, report.violations.len()), (Status::Pass, 0), "{name}");
        assert!(report.artifact.is_some() && report.repair.is_none(), "{name}");
        if rule.weight() == Weight::Style {
            assert!(report.style_fixes.is_empty(), "{name}");
        }
    });
}

#[test]
fn there_is_no_fixture_of_a_rule_that_is_none() {
    for language in Language::ALL {
        for entry in std::fs::read_dir(place(language)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let rule = Rule::ALL.iter().find(|rule| rule.as_str() == name);
            assert!(rule.is_some_and(|rule| !ABSENT.contains(&(language, *rule))), "{name} is no rule");
        }
    }
}
