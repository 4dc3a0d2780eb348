//! One draft against its contract.
//! Owns: the order of the checks, and what becomes of the code. Must not: ask anybody, or run what it checks.

use crate::codespec::{CodeSpec, Excerpt, Language, Rules};
use crate::fences::fenced;
use crate::input::{Input, Stop, Task};
use crate::report::{Artifact, Findings, StyleFix, VIOLATIONS_MAX, Violation};
use crate::rule::{Rule, Section};
use crate::shape::{self, Code};
use crate::{python, rust};
use countersign_record::digest::Digest;
use std::collections::BTreeSet;

/// Code that may be nested deeper than this is not looked at.
pub const DEPTH_MAX: usize = 1_000;
/// What a level of nesting may take on the stack, in any of the parsers and formatters.
const STACK_OF_LEVEL: usize = 64 << 10;
const STACK_MIN: usize = 512 << 10;

/// What the rules need to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting<'s> {
    pub(crate) rules: &'s Rules,
    pub(crate) task: &'s Task,
    pub(crate) stop: &'s Stop,
}

/// What was found of one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Judged {
    /// What does not fit; none where it does.
    pub(crate) violations: Vec<Violation>,
    pub(crate) fixes: Vec<StyleFix>,
    /// The file, where it fits.
    pub(crate) artifact: Option<Artifact>,
    /// SHA-256 of the text.
    pub(crate) sha256: Digest,
}

impl Judged {
    /// Whether there is code in it that could be parsed.
    pub(crate) fn is_parsed(&self) -> bool {
        let stops = [Rule::SingleBlock, Rule::Empty, Rule::Syntax, Rule::Nesting];
        !self.violations.iter().any(|violation| stops.contains(&violation.rule))
    }

    /// The violations that are listed.
    pub(crate) fn listed(&self) -> Vec<Violation> {
        self.violations.iter().take(VIOLATIONS_MAX).cloned().collect()
    }
}

/// Judges a text: the draft, or its repair.
pub(crate) fn judge(text: &str, input: &Input, spec: &CodeSpec) -> Judged {
    let setting = Setting { rules: &spec.rules, task: &input.task, stop: &input.stop };
    let mut findings = Findings::default();
    let plain = plain(text, &mut findings);
    let code = shape::unwrapped(&plain, &setting, &mut findings);
    let formatted = code.and_then(|Code { text }| match input.task.language {
        Language::Python => python_file(text, &setting, &mut findings),
        Language::Rust => rust_file(&text, &setting, &mut findings),
    });
    let (violations, fixes) = findings.finish();
    let artifact = formatted.filter(|_| violations.is_empty()).map(|code| Artifact {
        filename: input.stop.filename.clone(),
        code_fenced: fenced(&code, input.task.language.as_str()),
    });
    Judged { violations, fixes, artifact, sha256: Digest::of(text.as_bytes()) }
}

/// A text with the line ends that every parser knows.
fn plain(text: &str, findings: &mut Findings) -> String {
    let without_mark = text.strip_prefix('\u{feff}').unwrap_or(text);
    let plain = without_mark.replace("\r\n", "\n").replace('\r', "\n");
    if plain != text {
        findings
            .fixed(Rule::Whitespace, "line ends are one line feed each, and nothing stands before the text");
    }
    plain
}

/// Runs something that calls itself as often as code is nested.
fn with_room<T>(depth: usize, work: impl FnOnce() -> T) -> T {
    let room = STACK_MIN + depth * STACK_OF_LEVEL;
    stacker::maybe_grow(room, room, work)
}

fn is_too_deep(depth: usize, findings: &mut Findings) -> bool {
    let is_too_deep = depth > DEPTH_MAX;
    if is_too_deep {
        let evidence = format!("the code may be nested {depth} levels deep");
        let suggestion = format!("nest it less deep than {DEPTH_MAX} levels");
        findings.in_code(Rule::Nesting, 1, evidence, suggestion);
    }
    is_too_deep
}

fn python_file(code: String, setting: &Setting<'_>, findings: &mut Findings) -> Option<String> {
    let depth = python::depth(&code);
    if is_too_deep(depth, findings) {
        return None;
    }
    with_room(depth, || {
        python::check(&code, setting, findings);
        if findings.has(Rule::Syntax) {
            return None;
        }
        let Some(formatted) = python::formatted(&code, setting) else {
            findings.fixed(Rule::Format, "not laid out: the formatter can't");
            return Some(code);
        };
        tell_layout(&code, &formatted, setting.task.language, findings);
        Some(formatted)
    })
}

fn rust_file(code: &str, setting: &Setting<'_>, findings: &mut Findings) -> Option<String> {
    let source = rust::Source::read(code, findings)?;
    let depth = source.depth();
    if is_too_deep(depth, findings) {
        return None;
    }
    with_room(depth, || {
        let file = source.check(setting, findings)?;
        match source.formatted(&file) {
            Ok(formatted) => {
                tell_layout(code, &formatted, setting.task.language, findings);
                Some(formatted)
            }
            Err(why) => {
                let trimmed = source.trimmed();
                tell_layout(code, &trimmed, setting.task.language, findings);
                findings.fixed(Rule::Format, why);
                Some(trimmed)
            }
        }
    })
}

/// Tells what was changed: blanks at the ends of lines and of the file, or more.
fn tell_layout(before: &str, after: &str, language: Language, findings: &mut Findings) {
    if before == after {
        return;
    }
    let ends = |text: &str| -> Vec<String> {
        text.trim_end().lines().map(|line| line.trim_end().to_owned()).collect()
    };
    if ends(before) == ends(after) {
        findings.fixed(Rule::Whitespace, "blanks at the ends of lines and of the file");
    } else {
        findings.fixed(Rule::Format, format!("laid out by {}", language.formatter()));
    }
}

/// What the CodeSpec says of what does not fit, and of what an answer must look like.
pub(crate) fn excerpts(violations: &[Violation], spec: &CodeSpec) -> Vec<Excerpt> {
    if violations.is_empty() {
        return Vec::new();
    }
    let sections = violations.iter().map(|violation| violation.rule.section());
    let sections: BTreeSet<Section> = sections.chain([Section::Shape]).collect();
    sections.into_iter().flat_map(|section| spec.excerpts(section)).cloned().collect()
}
