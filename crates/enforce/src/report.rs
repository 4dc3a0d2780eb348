//! What A5 says of a draft.
//! Owns: the payload's shape, in the seed's words. Must not: check.

use crate::codespec::Excerpt;
use crate::rule::{Rule, Weight};
use countersign_record::digest::Digest;
use serde::Serialize;
use std::collections::BTreeSet;

/// So many violations are listed; whoever has more has others to mend first.
pub const VIOLATIONS_MAX: usize = 100;
/// So many are counted.
const COLLECTED_MAX: usize = 1_000;
/// So many letters of a draft are shown.
const SHOWN_CHARS_MAX: usize = 160;

/// The payload of A5's envelope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Report {
    /// Whether it fits.
    pub status: Status,
    /// What does not, in the order of its lines. Empty where the status is PASS.
    pub violations: Vec<Violation>,
    /// What the CodeSpec says of it.
    pub excerpts: Vec<Excerpt>,
    /// What was put right without being asked for: layout and blanks.
    pub style_fixes: Vec<StyleFix>,
    /// What became of the one repair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repair: Option<Repaired>,
    /// The file, where it fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact: Option<Artifact>,
    /// What was judged by what.
    pub hashes: Hashes,
}

/// Whether a draft fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Status {
    /// It does.
    Pass,
    /// It does not.
    Fail,
}

/// One thing that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Violation {
    /// Which rule.
    pub rule: Rule,
    /// In which line of the draft, from 1; null where it is no line's fault.
    pub line: Option<usize>,
    /// What was found.
    pub evidence: String,
    /// What to do.
    pub suggestion: String,
}

/// Something that was put right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct StyleFix {
    /// Which rule.
    pub rule: Rule,
    /// What was done, or why it was not.
    pub evidence: String,
}

/// A file that fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Artifact {
    /// Its name.
    pub filename: String,
    /// What is in it, in one fenced block.
    pub code_fenced: String,
}

/// What was judged by what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Hashes {
    /// SHA-256 of the CodeSpec.
    pub spec_sha256: Digest,
    /// SHA-256 of the draft.
    pub draft_sha256: Digest,
    /// SHA-256 of the artifact's block; where there is none, of the text that the violations are in.
    pub final_sha256: Digest,
}

/// What became of the one repair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Repaired {
    /// What.
    pub outcome: Outcome,
    /// SHA-256 of what was answered, if anything was.
    pub reply_sha256: Option<Digest>,
    /// What is wrong with an answer that was thrown away.
    pub violations: Vec<Violation>,
}

/// What became of a repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Outcome {
    /// It fits.
    Applied,
    /// There is no model that could be asked.
    Unavailable,
    /// The model gave no answer.
    Failed,
    /// The answer did not come in time.
    Late,
    /// There is nothing in the answer.
    Empty,
    /// There is no code in the answer that could be parsed.
    Unparsable,
    /// More is wrong with it than with the draft.
    Worse,
    /// It is no worse, and does not fit.
    Insufficient,
}

impl Outcome {
    /// The reason of the escalation; none where the repair fits.
    #[must_use]
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Outcome::Applied => None,
            Outcome::Unavailable => Some("repair_unavailable"),
            Outcome::Failed => Some("repair_failed"),
            Outcome::Late => Some("repair_late"),
            Outcome::Empty => Some("repair_empty"),
            Outcome::Unparsable => Some("repair_unparsable"),
            Outcome::Worse => Some("repair_worse"),
            Outcome::Insufficient => Some("repair_insufficient"),
        }
    }
}

/// What the rules find, while they look.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    violations: Vec<Violation>,
    /// What was told already.
    told: BTreeSet<(Option<usize>, Rule, String)>,
    fixes: Vec<StyleFix>,
    /// The line of the draft before the code's first.
    pub(crate) before: usize,
}

impl Findings {
    /// Notes a violation in a line of the draft.
    pub(crate) fn in_draft(
        &mut self,
        rule: Rule,
        line: Option<usize>,
        evidence: impl Into<String>,
        suggestion: impl Into<String>,
    ) {
        let evidence = evidence.into();
        let has_room = self.violations.len() < COLLECTED_MAX && rule.weight() == Weight::Hard;
        if has_room && self.told.insert((line, rule, evidence.clone())) {
            self.violations.push(Violation { rule, line, evidence, suggestion: suggestion.into() });
        }
    }

    /// Notes a violation in a line of the code, from 1.
    pub(crate) fn in_code(
        &mut self,
        rule: Rule,
        line: usize,
        evidence: impl Into<String>,
        suggestion: impl Into<String>,
    ) {
        self.in_draft(rule, Some(self.before + line), evidence, suggestion);
    }

    /// Notes what was put right.
    pub(crate) fn fixed(&mut self, rule: Rule, evidence: impl Into<String>) {
        self.fixes.push(StyleFix { rule, evidence: evidence.into() });
    }

    /// Whether a rule was broken.
    pub(crate) fn has(&self, rule: Rule) -> bool {
        self.violations.iter().any(|violation| violation.rule == rule)
    }

    pub(crate) fn finish(mut self) -> (Vec<Violation>, Vec<StyleFix>) {
        self.violations.sort_by(|a, b| {
            let key = |one: &Violation| (one.line.unwrap_or(0), one.rule);
            key(a).cmp(&key(b)).then_with(|| a.evidence.cmp(&b.evidence))
        });
        (self.violations, self.fixes)
    }
}

/// A piece of a draft as a part of a sentence: on one line, and not long.
pub(crate) fn shown(text: &str) -> String {
    let mut shown = String::from("`");
    let mut letters = text.trim().chars();
    for letter in letters.by_ref().take(SHOWN_CHARS_MAX) {
        match letter {
            '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => shown.extend(letter.escape_unicode()),
            _ if letter.is_control() => shown.push(' '),
            _ => shown.push(letter),
        }
    }
    if letters.next().is_some() {
        shown.push('…');
    }
    shown.push('`');
    shown
}
