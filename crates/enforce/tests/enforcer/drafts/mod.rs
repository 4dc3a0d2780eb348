//! Inputs of A5, put together from a piece of code.
//! Owns: the input. Must not: judge.

use countersign_enforce::rule::Rule;
use countersign_enforce::{CodeSpec, Input, Language, Repair, Report, check};
use countersign_record::json::{Json, Object};
use std::collections::BTreeSet;

/// An input with a draft and a CodeSpec.
pub(crate) fn input(language: Language, draft: &str, spec: &str, task: &[(&str, &[&str])]) -> Input {
    let mut about = Object::from([("language", Json::from(language.as_str()))]);
    for (name, libs) in task {
        about.insert(*name, Json::Array(libs.iter().map(|lib| Json::from(*lib)).collect()));
    }
    let filename = format!("main{}", language.ending());
    let input = Object::from([
        ("draft", Json::from(draft)),
        ("codespec", Json::from(spec)),
        ("task", Json::Object(about)),
        ("stop", Json::Object(Object::from([("filename", Json::from(filename.as_str()))]))),
        ("prompt", Json::from("Add two numbers.")),
    ]);
    Input::read(Json::Object(input)).unwrap()
}

/// A CodeSpec of these rules.
pub(crate) fn spec(language: Language, rules: &str) -> String {
    format!("# Rules\n\n```codespec-{}\nversion = '1'\n{rules}\n```\n", language.as_str())
}

/// Judges a draft without a repair.
pub(crate) fn report(language: Language, draft: &str, spec: &str, task: &[(&str, &[&str])]) -> Report {
    let input = input(language, draft, spec, task);
    let spec = CodeSpec::read(spec, language).unwrap();
    check(&input, &spec).judge(Repair::Unavailable)
}

/// The rules that a piece of code breaks.
pub(crate) fn broken(
    language: Language,
    code: &str,
    spec: &str,
    task: &[(&str, &[&str])],
) -> BTreeSet<&'static str> {
    let draft = format!("````{}\n{code}\n````\n", language.as_str());
    report(language, &draft, spec, task).violations.iter().map(|violation| violation.rule.as_str()).collect()
}

/// The names of rules.
pub(crate) fn names(rules: &[Rule]) -> BTreeSet<&'static str> {
    rules.iter().map(|rule| rule.as_str()).collect()
}
