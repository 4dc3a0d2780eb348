//! The one repair, in two steps: what a model is asked, and what its answer is worth.
//! Owns: that there is at most one, and what it may know. Must not: ask the model.
//!
//! [`check`] gives a [`Checked`]; [`Checked::repair_request`] is what a model may be asked, and [`Checked::judge`] takes the checked draft
//! away, so that nothing is repaired twice.

use crate::check::{Judged, excerpts, judge};
use crate::codespec::{CodeSpec, Excerpt};
use crate::input::Input;
use crate::report::{Hashes, Outcome, Repaired, Report, Status, Violation};
use countersign_record::digest::Digest;
use serde::Serialize;

/// How much chance is in a repair, in thousandths.
pub const TEMPERATURE_MILLI: u32 = 0;

/// A draft that was checked.
#[derive(Debug)]
pub struct Checked<'i> {
    input: &'i Input,
    spec: &'i CodeSpec,
    draft: Judged,
}

/// What a model is asked: these three, and nothing else. The draft itself is none of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RepairRequest {
    /// What does not fit.
    pub violations: Vec<Violation>,
    /// What the CodeSpec says of it.
    pub excerpts: Vec<Excerpt>,
    /// What was asked in the first place.
    pub prompt: String,
}

/// What came of asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repair {
    /// There is nobody to ask.
    Unavailable,
    /// There was no answer.
    Failed,
    /// The answer did not come in time.
    Late,
    /// The answer.
    Answer(String),
}

/// Checks a draft against its contract.
#[must_use]
pub fn check<'i>(input: &'i Input, spec: &'i CodeSpec) -> Checked<'i> {
    Checked { input, spec, draft: judge(&input.draft, input, spec) }
}

impl Checked<'_> {
    /// Whether the draft fits.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.draft.artifact.is_some()
    }

    /// What a model is asked; nothing, where the draft fits.
    #[must_use]
    pub fn repair_request(&self) -> Option<RepairRequest> {
        (!self.passes()).then(|| RepairRequest {
            violations: self.draft.listed(),
            excerpts: excerpts(&self.draft.violations, self.spec),
            prompt: self.input.prompt.clone(),
        })
    }

    /// The verdict. A draft that fits needs no repair, and none is looked at.
    #[must_use]
    pub fn judge(self, repair: Repair) -> Report {
        if self.passes() {
            return self.report(&self.draft, None);
        }
        let thrown_away = |outcome, reply_sha256, violations| Repaired { outcome, reply_sha256, violations };
        let text = match repair {
            Repair::Unavailable => {
                return self.report(&self.draft, Some(thrown_away(Outcome::Unavailable, None, Vec::new())));
            }
            Repair::Failed => {
                return self.report(&self.draft, Some(thrown_away(Outcome::Failed, None, Vec::new())));
            }
            Repair::Late => {
                return self.report(&self.draft, Some(thrown_away(Outcome::Late, None, Vec::new())));
            }
            Repair::Answer(text) => text,
        };
        let sha256 = Some(Digest::of(text.as_bytes()));
        if text.trim().is_empty() {
            return self.report(&self.draft, Some(thrown_away(Outcome::Empty, sha256, Vec::new())));
        }
        let reply = judge(&text, self.input, self.spec);
        let outcome = if reply.artifact.is_some() {
            Outcome::Applied
        } else if !reply.is_parsed() {
            Outcome::Unparsable
        } else if reply.violations.len() > self.draft.violations.len() && self.draft.is_parsed() {
            Outcome::Worse
        } else {
            Outcome::Insufficient
        };
        match outcome {
            Outcome::Unparsable | Outcome::Worse => {
                self.report(&self.draft, Some(thrown_away(outcome, sha256, reply.listed())))
            }
            Outcome::Applied
            | Outcome::Insufficient
            | Outcome::Unavailable
            | Outcome::Failed
            | Outcome::Late
            | Outcome::Empty => self.report(&reply, Some(thrown_away(outcome, sha256, Vec::new()))),
        }
    }

    fn report(&self, last: &Judged, repair: Option<Repaired>) -> Report {
        let status = if last.artifact.is_some() { Status::Pass } else { Status::Fail };
        let fenced = last.artifact.as_ref().map(|artifact| Digest::of(artifact.code_fenced.as_bytes()));
        Report {
            status,
            violations: last.listed(),
            excerpts: excerpts(&last.violations, self.spec),
            style_fixes: last.fixes.clone(),
            repair,
            artifact: last.artifact.clone(),
            hashes: Hashes {
                spec_sha256: self.spec.sha256,
                draft_sha256: self.draft.sha256,
                final_sha256: fenced.unwrap_or(last.sha256),
            },
        }
    }
}

impl Report {
    /// Why a person is needed; nothing, where the draft or its repair fits.
    #[must_use]
    pub fn reason(&self) -> Option<&'static str> {
        match self.status {
            Status::Pass => None,
            Status::Fail => {
                self.repair.as_ref().and_then(|repair| repair.outcome.reason()).or(Some("schema_violation"))
            }
        }
    }
}

impl RepairRequest {
    /// The words that a model is given: the three, each below its name.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::from("# Violations\n\n");
        for Violation { rule, line, evidence, suggestion } in &self.violations {
            let place = line.map(|line| format!(" (line {line})")).unwrap_or_default();
            text += &format!("- {rule}{place}: {evidence}. To mend it: {suggestion}.\n");
        }
        text.push_str("\n# CodeSpec\n");
        for excerpt in &self.excerpts {
            text += &format!("\n{}", excerpt.text);
        }
        text.push_str("\n# Prompt\n\n");
        text.push_str(&self.prompt);
        text
    }
}
