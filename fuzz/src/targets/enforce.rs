//! Drafts of code and their contracts.
//! Owns: what checking them must hold to. Must not: know a rule.

use countersign_enforce::input::{Stop, Task};
use countersign_enforce::{CodeSpec, Contract, Input, Language, Repair, Report, Status, check};
use std::sync::LazyLock;

/// Everything that the built-in CodeSpecs ask for.
static PYTHON: LazyLock<CodeSpec> = LazyLock::new(|| built_in(Language::Python));
static RUST: LazyLock<CodeSpec> = LazyLock::new(|| built_in(Language::Rust));

fn built_in(language: Language) -> CodeSpec {
    CodeSpec::read(CodeSpec::built_in(language), language).expect("a built-in CodeSpec can be used")
}

/// A Python draft.
pub(crate) fn python(input: &[u8]) {
    draft(input, &PYTHON);
}

/// A Rust draft.
pub(crate) fn rust(input: &[u8]) {
    draft(input, &RUST);
}

/// A report is whole, and what passed passes again as it is.
fn draft(input: &[u8], spec: &CodeSpec) {
    let text = String::from_utf8_lossy(input);
    let fenced = format!("````{}\n{text}\n````\n", spec.language.as_str());
    for draft in [text.as_ref(), &fenced] {
        let report = judged(draft, spec);
        assert_eq!(report.status == Status::Pass, report.violations.is_empty());
        assert_eq!(report.status == Status::Pass, report.artifact.is_some());
        if let Some(artifact) = &report.artifact {
            let again = judged(&artifact.code_fenced, spec);
            assert_eq!(again.status, Status::Pass, "{:?}", again.violations);
        }
    }
}

fn judged(draft: &str, spec: &CodeSpec) -> Report {
    let input = Input {
        draft: draft.to_owned(),
        codespec: Contract::BuiltIn(spec.language),
        codespec_sha256: None,
        task: Task { language: spec.language, runtime: None, allowed_libs: None, denied_libs: Vec::new() },
        stop: Stop { filename: format!("main{}", spec.language.ending()), no_prose: true },
        prompt: String::new(),
        request_id: None,
        turn_id: None,
    };
    check(&input, spec).judge(Repair::Unavailable)
}

/// A CodeSpec is read, or what is wrong has a line that is there.
pub(crate) fn codespec(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    for language in Language::ALL {
        if let Err(troubles) = CodeSpec::read(&text, language) {
            let lines = text.lines().count() + 1;
            assert!(!troubles.is_empty(), "a refusal says nothing");
            assert!(troubles.iter().all(|trouble| (1..=lines).contains(&trouble.line)), "{troubles:?}");
        }
    }
}
