//! What stands round a sentence and changes what it says.
//! Owns: which lines lead in to it, whether it is whole, only shown or withdrawn. Must not: hold a claim against it.
//!
//! "The following is false:" makes something else of what stands below it, as does a column of a table of what stands in its row, who
//! is quoted of all that they say, and a heading that says "repealed".

mod line;
mod quoted;

use super::Fence;
use super::taken_back::is_void;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;
use line::{Goes, Mark, Next, goes, is_of_all, leads};
use quoted::Quotes;

/// Characters of lines that lead in to a sentence, at most; behind them it is not read.
const LEAD_CHARS_MAX: usize = 2_000;
/// How deep a line in bold letters stands that serves as a heading: below all headings.
const BOLD_LEVEL: usize = 7;
/// What an item begins with that is not done.
const UNDONE: &str = "[ ]";
/// Spaces before a line of code in Markdown.
const CODE_INDENT: &str = "    ";

/// What stands round a sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Context {
    /// The lines that lead in to it.
    pub(super) lead: Option<String>,
    /// Whether it says nothing by itself: a part of a row of a table, code, what is not done yet, or what a heading takes back.
    is_shown: bool,
    /// Whether it is not over: what follows is a part of it.
    is_open: bool,
}

impl Context {
    /// Whether what it says counts as said where a claim says the same. What announces something counts for what announces it too.
    pub(super) fn counts(&self, said: &str, claim: &str) -> bool {
        let is_whole = !self.is_open || (leads(said) && leads(claim));
        !self.is_shown && is_whole && self.lead.as_ref().is_none_or(|lead| lead.len() <= LEAD_CHARS_MAX)
    }

    /// A sentence with what leads in to it.
    pub(super) fn whole<'s>(&self, said: &'s str) -> Cow<'s, str> {
        with_lead(self.lead.as_deref(), said)
    }
}

/// A sentence behind what leads in to it.
pub(super) fn with_lead<'s>(lead: Option<&str>, said: &'s str) -> Cow<'s, str> {
    match lead {
        Some(lead) => Cow::Owned(format!("{lead} {}", without_mark(said))),
        None => Cow::Borrowed(without_mark(said)),
    }
}

/// What leads in to what follows it.
#[derive(Debug)]
struct Lead {
    text: String,
    /// The mark of the item that it is a part of.
    mark: Option<Mark>,
    /// Whether it does so for one sentence only, which it begins.
    is_for_one: bool,
}

/// What stands round the sentences of a text, told one after the other.
#[derive(Default)]
pub(super) struct Contexts<'t> {
    text: &'t str,
    is_markdown: bool,
    /// The line in which the last sentence begins.
    line: Range<usize>,
    fence: Fence,
    is_code: bool,
    /// Whether that is because it stands far from the margin.
    is_block: bool,
    /// The end of the sentence before.
    end: usize,
    leads: Vec<Lead>,
    /// Whether something stood below the lead already.
    is_led: bool,
    /// The marks of the items that a sentence stands in.
    marks: Vec<Mark>,
    /// How deep the heading stands that takes back what is below it.
    void_level: Option<usize>,
    quotes: Quotes,
    /// The sentence in which the open quotation mark stands.
    opening: String,
}

impl<'t> Contexts<'t> {
    pub(super) fn new(text: &'t str, is_markdown: bool) -> Self {
        Contexts { text, is_markdown, ..Contexts::default() }
    }

    /// What stands round a sentence that follows on the last one.
    pub(super) fn of(&mut self, span: &Range<usize>) -> Context {
        let is_new = span.start >= self.line.end;
        self.go_on(span.start);
        let text = self.text;
        let part = |range: Range<usize>| text.get(range).unwrap_or_default();
        let (said, gap) = (part(span.clone()), part(self.end..span.start));
        let (whole_line, behind) = (part(self.line.clone()), part(span.end..text.len()));
        let line = whole_line.trim();
        let is_first = self.end == 0;
        self.end = span.end;
        if let Some(level) = heading(line, said, behind).filter(|_| !self.is_code) {
            if self.void_level.is_none_or(|void| level <= void) {
                self.void_level = is_void(line).then_some(level);
            }
            self.leads.clear();
            self.marks.clear();
            self.quotes = Quotes::default();
            // A bold line may be a sentence that is not over.
            return Context { is_open: level == BOLD_LEVEL, ..Context::default() };
        }
        let is_apart = gap.matches('\n').count() > 1;
        let mark = Mark::of(whole_line, self.marks.last().copied());
        let is_in_item = !self.marks.is_empty();
        self.close(is_new, mark, is_apart);
        let is_indented = whole_line.starts_with(CODE_INDENT) || whole_line.starts_with('\t');
        self.is_block =
            self.is_markdown && is_indented && !is_in_item && (is_apart || is_first || self.is_block);
        self.is_code |= self.is_block;
        let is_row = line.starts_with('|') && line != said;
        let is_shown = is_row || self.is_code || self.void_level.is_some() || is_undone(line);
        let lead = match self.quotes.is_open() {
            true => Some(self.opening.clone()),
            false => self.leads.last().map(|lead| lead.text.clone()),
        };
        let mut context = Context { lead, is_shown, is_open: false };
        if !self.is_code && !line.starts_with('|') {
            context.is_open = self.lead_on(said, &context, behind);
            self.listen(said, &context);
        }
        context
    }

    /// Leaves the leads and quotes that end before a sentence.
    fn close(&mut self, is_new: bool, mark: Option<Mark>, is_apart: bool) {
        if is_apart {
            self.quotes = Quotes::default();
        }
        if self.is_led && self.leads.last().is_some_and(|lead| lead.is_for_one) {
            self.leads.pop();
        }
        match mark {
            Some(mark) if is_new => {
                let depth = self.marks.iter().position(|known| *known == mark).unwrap_or(self.marks.len());
                self.marks.truncate(depth);
                let marks = &self.marks;
                self.leads.retain(|lead| lead.mark.is_none_or(|own| marks.contains(&own)));
                self.marks.push(mark);
            }
            Some(_) => {}
            None if is_apart => {
                self.marks.clear();
                if self.is_led {
                    self.leads.clear();
                }
            }
            None => {}
        }
    }

    /// Keeps a piece that leads in to what follows; whether it is not over.
    fn lead_on(&mut self, said: &str, context: &Context, behind: &str) -> bool {
        self.is_led = !self.leads.is_empty();
        let next =
            Next::of(behind, self.marks.last().copied()).filter(|_| said.contains(char::is_alphanumeric));
        let goes = goes(said, &self.marks, next.as_ref());
        if goes == Goes::On {
            let is_for_one = next.is_some_and(|next| next.is_line()) && !leads(said) && !is_of_all(said);
            let text = kept(&context.whole(said));
            self.leads.push(Lead { text, mark: self.marks.last().copied(), is_for_one });
            self.is_led = false;
        }
        goes != Goes::Nowhere
    }

    /// Follows the quotation marks of a sentence.
    fn listen(&mut self, said: &str, context: &Context) {
        let was_open = self.quotes.is_open();
        self.quotes.read(said);
        if self.quotes.is_open() && !was_open {
            self.opening = kept(&context.whole(said));
        }
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

/// What is too long to be read is kept long enough to be seen as that.
fn kept(whole: &str) -> String {
    let kept = whole.char_indices().nth(LEAD_CHARS_MAX + 1).map_or(whole.len(), |(at, _)| at);
    whole.get(..kept).unwrap_or_default().to_string()
}

/// How deep a heading stands, if a line is one: by its marks, by the rule below it, or because all of it is bold.
fn heading(line: &str, said: &str, behind: &str) -> Option<usize> {
    let level = line.len() - line.trim_start_matches('#').len();
    if (1..BOLD_LEVEL).contains(&level) {
        return Some(level);
    }
    let below =
        behind.strip_prefix('\n').and_then(|behind| behind.split('\n').next()).unwrap_or_default().trim();
    let is_rule = |letter: char| below.len() > 2 && below.chars().all(|one| one == letter);
    match line == said {
        true if is_rule('=') => Some(1),
        true if is_rule('-') => Some(2),
        true if is_bold(line) && !leads(line) => Some(BOLD_LEVEL),
        true | false => None,
    }
}

/// Whether all of a line is bold, and no sentence.
fn is_bold(line: &str) -> bool {
    let inside = ["**", "__"].iter().find_map(|mark| line.strip_prefix(mark)?.strip_suffix(mark));
    inside.is_some_and(|inside| !inside.contains("**") && !inside.ends_with(['.', '!', '?', ',', ';']))
}

/// Whether a line is an item with an empty box.
fn is_undone(line: &str) -> bool {
    without_bullet(line).is_some_and(|item| item.trim_start().starts_with(UNDONE))
}

fn without_bullet(item: &str) -> Option<&str> {
    ["- ", "* ", "+ ", "• ", "> "].iter().find_map(|mark| item.strip_prefix(mark))
}

/// An item without the mark that it begins with, and without the sign that it is done.
fn without_mark(item: &str) -> &str {
    let Some(item) = without_bullet(item) else { return item };
    ["[x] ", "[X] "].iter().find_map(|done| item.trim_start().strip_prefix(done)).unwrap_or(item)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sentences::visible;
    use alloc::vec::Vec;

    fn check(text: &str, expected: &[(&str, bool)]) {
        let mut contexts = Contexts::new(text, true);
        let found: Vec<(String, bool)> = visible(text)
            .map(|span| {
                let context = contexts.of(&span);
                (context.whole(&text[span.clone()]).into_owned(), context.counts(&text[span], ""))
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
                ("False is this:", false),
                ("False is this: The data is safe.", true),
                ("False is this: It is kept.", true),
                ("The rent is due.", true),
            ],
        );
        check(
            "Wrong:\nThe data is safe. It is kept.\n\nThe rent is due.\n",
            &[
                ("Wrong:", false),
                ("Wrong: The data is safe.", true),
                ("Wrong: It is kept.", true),
                ("The rent is due.", true),
            ],
        );
        check(
            "It may not:\n- keep:\n  - dogs\n\n# Rent\n\nIt is due.\n",
            &[
                ("It may not:", false),
                ("It may not: keep:", false),
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
