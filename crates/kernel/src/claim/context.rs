//! What stands round a sentence of a source and changes what it says.
//! Owns: which line leads in to it, whether it is only shown or withdrawn. Must not: hold a claim against it.
//!
//! "The following is false:" makes something else of what stands below it, as does a column of a table of what stands in its row, and
//! a heading that says "repealed".

use super::super::Fence;
use crate::sentences::begins_something;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use core::ops::Range;

/// Words of a heading that take back what stands below it, or only show it.
#[rustfmt::skip] // words in rows
const VOID: &[&str] = &[
    "abrogated", "aufgehoben", "aufgehobene", "beispiel", "beispiele", "cancelled", "deleted", "disproved", "disproven", "entwurf", "example", "examples",
    "false", "falsch", "falsche", "fictional", "fiktiv", "gestrichen", "gestrichene", "hypothetical", "incorrect", "invalid", "myths", "not", "nicht",
    "obsolete", "outdated", "refuted", "rejected", "repealed", "revoked", "struck", "superseded", "template", "ungültig", "ungültige", "unproven",
    "untrue", "unwahr", "unwahre", "veraltet", "void", "widerlegt", "widerlegte", "withdrawn", "wrong",
];
/// Characters of lines that lead in to a sentence, at most; behind them it is not read.
const LEAD_CHARS_MAX: usize = 2_000;

/// What stands round a sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Context {
    /// The lines that lead in to it.
    lead: Option<String>,
    /// Whether it says nothing by itself: a part of a row of a table, code, or what a heading takes back.
    is_shown: bool,
}

impl Context {
    /// Whether what it says counts as said.
    pub(super) fn counts(&self) -> bool {
        !self.is_shown && self.lead.as_ref().is_none_or(|lead| lead.len() <= LEAD_CHARS_MAX)
    }

    /// A sentence with what leads in to it.
    pub(super) fn whole<'s>(&self, said: &'s str) -> Cow<'s, str> {
        match &self.lead {
            Some(lead) => Cow::Owned(format!("{lead} {}", without_mark(said))),
            None => Cow::Borrowed(said),
        }
    }
}

/// What stands round the sentences of a text, told one after the other.
pub(super) struct Contexts<'t> {
    text: &'t str,
    /// The line in which the last sentence begins.
    line: Range<usize>,
    fence: Fence,
    is_code: bool,
    /// The end of the sentence before.
    end: usize,
    lead: Option<String>,
    /// Whether something stood below the lead already.
    is_led: bool,
    is_void: bool,
}

impl<'t> Contexts<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let fence = Fence::default();
        Contexts {
            text,
            line: 0..0,
            fence,
            is_code: false,
            end: 0,
            lead: None,
            is_led: false,
            is_void: false,
        }
    }

    /// What stands round a sentence that follows on the last one.
    pub(super) fn of(&mut self, span: &Range<usize>) -> Context {
        self.go_on(span.start);
        let part = |range: Range<usize>| self.text.get(range).unwrap_or_default();
        let (said, gap) = (part(span.clone()), part(self.end..span.start));
        let line = part(self.line.clone()).trim();
        self.end = span.end;
        if line.starts_with('#') && !self.is_code {
            (self.lead, self.is_void) = (None, is_void(line));
            return Context { lead: None, is_shown: false };
        }
        let is_item = begins_something(line);
        if self.is_led && !is_item && gap.matches('\n').count() > 1 {
            self.lead = None;
        }
        let is_row = line.starts_with('|') && line != said;
        let context = Context { lead: self.lead.clone(), is_shown: is_row || self.is_code || self.is_void };
        self.is_led = self.lead.is_some();
        if said.ends_with(':') {
            let whole = context.whole(said);
            // What is too long to be read is kept long enough to be seen as that.
            let kept = whole.char_indices().nth(LEAD_CHARS_MAX + 1).map_or(whole.len(), |(at, _)| at);
            self.lead = Some(whole.get(..kept).unwrap_or_default().to_string());
            self.is_led = false;
        }
        context
    }

    /// Goes on to the line that has a place.
    fn go_on(&mut self, until: usize) {
        while self.line.end <= until
            && let Some(line) =
                self.text.get(self.line.end..).and_then(|rest| rest.split_inclusive('\n').next())
        {
            self.is_code = self.fence.holds(line);
            self.line = self.line.end..self.line.end + line.len();
        }
    }
}

/// Whether a heading takes back what stands below it.
fn is_void(heading: &str) -> bool {
    let mut words = heading.split(|letter: char| !letter.is_alphanumeric());
    words.any(|word| VOID.contains(&word.to_lowercase().as_str()))
}

/// An item without the mark that it begins with.
fn without_mark(item: &str) -> &str {
    let marks = ["- ", "* ", "+ ", "• ", "> "];
    marks.iter().find_map(|mark| item.strip_prefix(mark)).unwrap_or(item)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sentences::visible;
    use alloc::vec::Vec;

    fn check(text: &str, expected: &[(&str, bool)]) {
        let mut contexts = Contexts::new(text);
        let found: Vec<(String, bool)> = visible(text)
            .map(|span| {
                let context = contexts.of(&span);
                (context.whole(&text[span]).into_owned(), context.counts())
            })
            .collect();
        let expected: Vec<(String, bool)> =
            expected.iter().map(|(said, counts)| ((*said).to_string(), *counts)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn what_leads_in_is_a_part_of_what_follows() {
        check(
            "False is this:\n\n- The data is safe.\n- It is kept.\n\nThe rent is due.\n",
            &[
                ("False is this:", true),
                ("False is this: The data is safe.", true),
                ("False is this: It is kept.", true),
                ("The rent is due.", true),
            ],
        );
        check(
            "Wrong:\nThe data is safe. It is kept.\n\nThe rent is due.\n",
            &[
                ("Wrong:", true),
                ("Wrong: The data is safe.", true),
                ("Wrong: It is kept.", true),
                ("The rent is due.", true),
            ],
        );
        check(
            "It may not:\n- keep:\n  - dogs\n\n# Rent\n\nIt is due.\n",
            &[
                ("It may not:", true),
                ("It may not: keep:", true),
                ("It may not: keep: dogs", true),
                ("# Rent", true),
                ("It is due.", true),
            ],
        );
    }

    #[test]
    fn what_is_only_shown_says_nothing() {
        check(
            "```\nThe data is safe.\n```\nIt is kept.\n",
            &[("```", false), ("The data is safe.", false), ("```", false), ("It is kept.", true)],
        );
        check(
            "| The platform is safe. | No |\n| Rent | 5 euros |\n",
            &[("| The platform is safe.", false), ("| No |", false), ("| Rent | 5 euros |", true)],
        );
        check(
            "## Clauses that were struck out\n\nThe rent is due.\n\n## Rent\n\nIt is 5 euros.\n",
            &[
                ("## Clauses that were struck out", true),
                ("The rent is due.", false),
                ("## Rent", true),
                ("It is 5 euros.", true),
            ],
        );
    }
}
