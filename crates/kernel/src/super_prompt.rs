//! The Super-Prompt: what a model is told, in a fixed order, under a budget.
//! Owns: the order, the arithmetic, the receipt. Must not: cut a part: each is in or out.
//!
//! Hard Rules and the Task are never left out: where they do not fit, there is no prompt. The rest is taken in the order
//! in which it stands, which is the order of its authority; a part that does not fit is left out, and the next is tried.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::digest::Digest;
use serde::Serialize;

/// Bytes that one estimated token stands for.
const TOKEN_BYTES: u64 = 4;

/// The sections, in the order in which they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    /// What always holds.
    HardRules,
    /// What the project has settled.
    ProjectMemory,
    /// ❖FILES: files, whole or packed.
    Files,
    /// `S_ctx`: facts, constraints, open issues.
    Context,
    /// What is to be done.
    Task,
}

impl Section {
    /// All of them, in order.
    pub const ALL: [Section; 5] =
        [Section::HardRules, Section::ProjectMemory, Section::Files, Section::Context, Section::Task];

    /// The line above its parts.
    #[must_use]
    pub fn header(self) -> &'static str {
        match self {
            Section::HardRules => "# HARD RULES\n",
            Section::ProjectMemory => "# PROJECT MEMORY\n",
            Section::Files => "# ❖ FILES\n",
            Section::Context => "# S_CTX\n",
            Section::Task => "# TASK\n",
        }
    }

    fn is_needed(self) -> bool {
        match self {
            Section::HardRules | Section::Task => true,
            Section::ProjectMemory | Section::Files | Section::Context => false,
        }
    }
}

/// Something to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where it belongs.
    pub section: Section,
    /// What it is called in the receipt.
    pub name: String,
    /// The words.
    pub text: String,
}

/// A prompt, and what became of every part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembled {
    /// What the model is told.
    pub text: String,
    /// How it came about.
    pub receipt: Receipt,
}

/// How a prompt came about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Receipt {
    /// What it may take.
    pub budget_tokens: u64,
    /// What it takes: the sum of what is in, headers included.
    pub used_tokens: u64,
    /// What is left of the budget.
    pub left_tokens: u64,
    /// What the headers of the sections take.
    pub header_tokens: u64,
    /// What is in, in order.
    pub included: Vec<Line>,
    /// What is out, in order, and why.
    pub excluded: Vec<Excluded>,
    /// SHA-256 of the text.
    pub sha256: Digest,
}

/// A part that is in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// Where.
    pub section: Section,
    /// Its name.
    pub name: String,
    /// What it takes.
    pub tokens: u64,
    /// SHA-256 of its words.
    pub sha256: Digest,
}

impl Line {
    fn left_out(self, reason: Vec<String>) -> Excluded {
        let Line { section, name, tokens, sha256 } = self;
        Excluded { section, name, tokens, sha256, reason }
    }
}

/// A part that is out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Excluded {
    /// Where it would be.
    pub section: Section,
    /// Its name.
    pub name: String,
    /// What it would take.
    pub tokens: u64,
    /// SHA-256 of its words.
    pub sha256: Digest,
    /// Why: a word, and what was found.
    pub reason: Vec<String>,
}

/// Why there is no prompt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// What must be told does not fit.
    #[error("the hard rules and the task take {needed} tokens, and there are {budget}")]
    TooLarge {
        /// What they take.
        needed: u64,
        /// What there is.
        budget: u64,
    },
    /// Nothing is to be done.
    #[error("there is no task")]
    NoTask,
}

/// What a text takes, estimated: a quarter of its bytes, rounded up.
#[must_use]
pub fn tokens(text: &str) -> u64 {
    (text.len() as u64).div_ceil(TOKEN_BYTES)
}

/// A part as it stands in the prompt: it ends its last line.
fn shown(text: &str) -> String {
    if text.ends_with('\n') { text.to_string() } else { format!("{text}\n") }
}

/// Puts the parts together.
///
/// # Errors
/// There is no task, or what must be told does not fit.
pub fn assemble(parts: &[Part], budget_tokens: u64) -> Result<Assembled, Error> {
    let in_order = || {
        Section::ALL.into_iter().flat_map(|section| parts.iter().filter(move |part| part.section == section))
    };
    if !parts.iter().any(|part| part.section == Section::Task && !part.text.trim().is_empty()) {
        return Err(Error::NoTask);
    }
    // The rules and the task are in before anything else is looked at.
    let mut opened: Vec<Section> = Vec::new();
    let mut used = 0;
    for part in in_order().filter(|part| part.section.is_needed() && !part.text.is_empty()) {
        used += cost(part, &mut opened);
    }
    if used > budget_tokens {
        return Err(Error::TooLarge { needed: used, budget: budget_tokens });
    }
    let (mut included, mut excluded, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    for part in in_order() {
        let line = line(part);
        if part.text.is_empty() {
            excluded.push(line.left_out(reason("empty", "it says nothing")));
        } else if part.section.is_needed() {
            kept.push(part);
            included.push(line);
        } else {
            let mut then = opened.clone();
            let more = cost(part, &mut then);
            if used + more > budget_tokens {
                let detail = format!("it takes {more} tokens, and {} are left", budget_tokens - used);
                excluded.push(line.left_out(reason("budget", &detail)));
            } else {
                (used, opened) = (used + more, then);
                kept.push(part);
                included.push(line);
            }
        }
    }
    let mut text = String::new();
    for section in Section::ALL.into_iter().filter(|section| opened.contains(section)) {
        text.push_str(section.header());
        kept.iter().filter(|part| part.section == section).for_each(|part| text.push_str(&shown(&part.text)));
    }
    let receipt = Receipt {
        budget_tokens,
        used_tokens: used,
        left_tokens: budget_tokens - used,
        header_tokens: opened.iter().map(|section| tokens(section.header())).sum(),
        included,
        excluded,
        sha256: Digest::of(text.as_bytes()),
    };
    Ok(Assembled { text, receipt })
}

/// What a part takes, with the header of its section if it is the first one there.
fn cost(part: &Part, opened: &mut Vec<Section>) -> u64 {
    let header = match opened.contains(&part.section) {
        true => 0,
        false => {
            opened.push(part.section);
            tokens(part.section.header())
        }
    };
    header + tokens(&shown(&part.text))
}

fn line(part: &Part) -> Line {
    let shown = shown(&part.text);
    Line {
        section: part.section,
        name: part.name.clone(),
        tokens: tokens(&shown),
        sha256: Digest::of(part.text.as_bytes()),
    }
}

fn reason(word: &str, detail: &str) -> Vec<String> {
    Vec::from([word.to_string(), detail.to_string()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn part(section: Section, name: &str, text: &str) -> Part {
        Part { section, name: name.into(), text: text.into() }
    }

    #[test]
    fn the_order_is_fixed_whatever_comes_first() {
        let parts = [
            part(Section::Task, "task", "Answer."),
            part(Section::Context, "facts", "It ends in May.\n"),
            part(Section::HardRules, "rules", "Quote only."),
            part(Section::Files, "a.rs", "fn a() {}"),
            part(Section::ProjectMemory, "memory", "We say lessee."),
        ];
        let assembled = assemble(&parts, 1_000).unwrap();
        assert_eq!(
            assembled.text,
            "# HARD RULES\nQuote only.\n# PROJECT MEMORY\nWe say lessee.\n# ❖ FILES\nfn a() {}\n# S_CTX\nIt ends in May.\n# TASK\nAnswer.\n"
        );
        let small = assemble(&parts, 28).unwrap();
        assert_eq!(
            small.text,
            "# HARD RULES\nQuote only.\n# PROJECT MEMORY\nWe say lessee.\n# ❖ FILES\nfn a() {}\n# TASK\nAnswer.\n"
        );
        assert_eq!(small.receipt.excluded[0].reason[0], "budget");
        assert_eq!(assemble(&parts, 5), Err(Error::TooLarge { needed: 11, budget: 5 }));
        assert_eq!(assemble(&parts[1..], 1_000), Err(Error::NoTask));
    }

    proptest! {
        #[test]
        fn the_arithmetic_adds_up(
            texts in proptest::collection::vec((0_usize..5, "[a-zé\n]{0,60}"), 0..12),
            task in "[a-z]{1,20}",
            budget in 0_u64..200,
        ) {
            let mut parts: Vec<Part> = texts
                .iter()
                .enumerate()
                .map(|(at, (section, text))| part(Section::ALL[*section], &format!("{at}"), text))
                .collect();
            parts.push(part(Section::Task, "task", &task));
            let Ok(Assembled { text, receipt }) = assemble(&parts, budget) else { return Ok(()) };
            let lines: u64 = receipt.included.iter().map(|line| line.tokens).sum();
            prop_assert_eq!(receipt.used_tokens, lines + receipt.header_tokens);
            prop_assert_eq!(receipt.used_tokens + receipt.left_tokens, budget);
            prop_assert!(tokens(&text) <= receipt.used_tokens);
            prop_assert_eq!(receipt.sha256, Digest::of(text.as_bytes()));
            prop_assert_eq!(receipt.included.len() + receipt.excluded.len(), parts.len());
            prop_assert!(receipt.included.is_sorted_by_key(|line| line.section));
            for one in &receipt.excluded {
                prop_assert!(!one.section.is_needed() || one.reason[0] == "empty");
                // What was left out for the budget really does not fit.
                prop_assert!(one.reason[0] == "empty" || one.tokens + tokens(one.section.header()) > receipt.left_tokens);
            }
        }
    }
}
