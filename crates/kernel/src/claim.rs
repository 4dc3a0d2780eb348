//! What a text claims, section by section, and what it cites for it.
//! Owns: cutting a text into sections and claims, reading citations. Must not: judge a claim; `bearing` says what sources say of it.

pub mod bearing;
pub mod better;
mod context;
mod said;
mod taken_back;
mod unheld;

pub use unheld::{unheld, whole};

use crate::sentences::{is_struck_out, unbroken};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use context::Contexts;
use core::ops::Range;

/// What a text says where no source says anything. It is held against none: nobody looks whether they do.
pub const SILENT: &str = "The sources do not say.";
/// Claims of a text that are looked at; what is behind them is a part that nobody looks at.
pub const CLAIMS_MAX: usize = 2_000;

/// A text by its headings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline<'t> {
    text: &'t str,
    /// In order. What stands before the first heading belongs to none.
    pub sections: Vec<Section<'t>>,
}

/// A section of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section<'t> {
    /// Its heading, without marks.
    pub heading: &'t str,
    /// How many `#` it has.
    pub level: usize,
    /// Where the whole of it stands, its heading too, up to the next heading of any level.
    pub span: Range<usize>,
    /// Where its body stands.
    pub body: Range<usize>,
}

/// A sentence that claims something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim<'t> {
    /// The heading that it stands under.
    pub section: Option<&'t str>,
    /// What it says, without citations and marks of lists.
    pub text: String,
    /// What leads in to it: it is held against sources with that, for "the following is false:" makes something else of it.
    pub lead: Option<String>,
    /// Where it stands, with its citations.
    pub span: Range<usize>,
    /// What it cites, in order.
    pub cites: Vec<Cite<'t>>,
    /// Whether it is a sentence, which sources are held against; else it is a part that nobody looks at.
    pub is_held: bool,
}

/// A place that is cited: `[path:line]` or `[path:first-last]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cite<'t> {
    /// The file.
    pub path: &'t str,
    /// The first line, from 1.
    pub first: u64,
    /// The last line.
    pub last: u64,
}

/// The sections of a text in Markdown. Fenced code has none.
#[must_use]
pub fn outline(text: &str) -> Outline<'_> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    let (mut at, mut fence) = (0, Fence::default());
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        let bare = line.trim_end();
        let is_code = fence.holds(line);
        let level = bare.len() - bare.trim_start_matches('#').len();
        let heading = bare.get(level..).unwrap_or_default();
        if !is_code && (1..=6).contains(&level) && heading.starts_with([' ', '\t']) {
            if let Some(last) = sections.last_mut() {
                (last.span.end, last.body.end) = (start, start);
            }
            let heading = heading.trim().trim_end_matches('#').trim_end();
            sections.push(Section { heading, level, span: start..text.len(), body: end..text.len() });
        }
    }
    Outline { text, sections }
}

/// A block of code that was opened: it ends with the mark that it began with.
#[derive(Default)]
struct Fence(Option<Mark>);

/// The mark of a block: a letter, and how often it stands there.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Mark {
    letter: char,
    many: usize,
}

impl Mark {
    const MANY_MIN: usize = 3;

    /// The mark that a line begins with, and what stands behind it.
    fn of(line: &str) -> Option<(Self, &str)> {
        let line = line.trim();
        let letter = line.chars().next().filter(|letter| ['`', '~'].contains(letter))?;
        let behind = line.trim_start_matches(letter);
        let many = line.len() - behind.len();
        (many >= Mark::MANY_MIN).then_some((Mark { letter, many }, behind))
    }
}

impl Fence {
    /// Whether a line is a part of a block, its marks too.
    fn holds(&mut self, line: &str) -> bool {
        match (self.0, Mark::of(line)) {
            // What has the mark once more is a word in code, and the line a sentence.
            (None, Some((mark, behind))) if mark.letter == '~' || !behind.contains('`') => {
                self.0 = Some(mark);
            }
            (None, _) => return false,
            (Some(open), Some((mark, behind)))
                if mark.letter == open.letter && mark.many >= open.many && behind.is_empty() =>
            {
                self.0 = None;
            }
            (Some(_), _) => {}
        }
        true
    }
}

impl<'t> Outline<'t> {
    /// The body of the first section of a heading.
    #[must_use]
    pub fn body(&self, heading: &str) -> Option<&'t str> {
        let section = self.sections.iter().find(|one| one.heading == heading)?;
        self.text.get(section.body.clone())
    }

    /// The heading that a place stands under.
    fn heading_at(&self, at: usize) -> Option<&'t str> {
        let behind = self.sections.partition_point(|one| one.span.start <= at);
        self.sections.get(behind.checked_sub(1)?).map(|before| before.heading)
    }
}

/// What a text claims, sentence by sentence. Headings, code, rows of tables, rules and questions are none, nor is saying that
/// sources say nothing: [`unheld`] has these.
#[must_use]
pub fn claims<'t>(outline: &Outline<'t>) -> Vec<Claim<'t>> {
    let mut all: Vec<Claim<'t>> = Vec::new();
    let leads = leads(outline.text);
    for body in prose(outline) {
        let part = outline.text.get(body.clone()).unwrap_or_default();
        for span in unbroken(part) {
            let span = body.start + span.start..body.start + span.end;
            let lead = leads.get(&span.start).cloned();
            let heading = outline.heading_at(span.start);
            let Some(words) = outline.text.get(span.clone()) else { continue };
            // A citation behind a full stop belongs to the sentence before it.
            let (before, rest) = leading(words);
            let mut start = span.start;
            let is_behind = |last: &&mut Claim<'_>| {
                let between = outline.text.get(last.span.end..span.start).unwrap_or_default();
                last.section == heading && (rest.is_empty() || !between.contains("\n\n"))
            };
            if let Some(last) = all.last_mut().filter(|_| !before.is_empty()).filter(is_behind) {
                let cited = words.strip_suffix(rest).unwrap_or_default().trim_end();
                last.cites.extend(before);
                last.span.end = span.start + cited.len();
                start = span.end - rest.len();
            }
            let Some(words) = outline.text.get(start..span.end) else { continue };
            let (text, cites) = bare(words);
            if !says_nothing(&text) && text != SILENT && !text.ends_with('?') && !is_disguised(&text) {
                all.push(Claim { section: heading, text, lead, span: start..span.end, cites, is_held: true });
            }
            if all.len() >= CLAIMS_MAX {
                return same_leads(all);
            }
        }
    }
    same_leads(all)
}

/// What leads in to the sentences of a text, by where they begin.
fn leads(text: &str) -> BTreeMap<usize, String> {
    let mut contexts = Contexts::new(text, true);
    unbroken(text).filter_map(|span| Some((span.start, contexts.of(&span).lead?))).collect()
}

/// What a section says several times is one claim to whoever reads it: where one of them has a lead, each is held with it.
fn same_leads(mut all: Vec<Claim<'_>>) -> Vec<Claim<'_>> {
    let key = |claim: &Claim<'_>| (claim.section.map(String::from), claim.text.clone());
    let led: BTreeMap<_, _> =
        all.iter().filter_map(|claim| Some((key(claim), claim.lead.clone()?))).collect();
    for claim in &mut all {
        claim.lead = led.get(&key(claim)).cloned();
    }
    all
}

/// The citations that a piece begins with, and what is behind them.
fn leading(words: &str) -> (Vec<Cite<'_>>, &str) {
    let (mut cites, mut rest) = (Vec::new(), words);
    while let Some((found, behind)) = rest
        .strip_prefix('[')
        .and_then(|inside| inside.split_once(']'))
        .and_then(|(inside, behind)| Some((cite(inside)?, behind)))
    {
        cites.push(found);
        rest = behind.trim_start();
    }
    (cites, rest)
}

fn says_nothing(text: &str) -> bool {
    !text.contains(char::is_alphanumeric)
}

/// Whether a reader sees something else than what is written: struck out, or with letters that turn others round.
fn is_disguised(text: &str) -> bool {
    let turns = |letter: char| matches!(letter, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200E}' | '\u{200F}');
    is_struck_out(text) || text.contains(turns)
}

/// The pieces of a text that are sentences: no headings, no code, no tables, no rules.
fn prose(outline: &Outline<'_>) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    let (mut at, mut fence) = (0, Fence::default());
    for line in outline.text.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        let bare = line.trim();
        let is_code = fence.holds(line);
        let is_heading = outline.sections.binary_search_by_key(&start, |one| one.span.start).is_ok();
        let is_other = is_heading
            || bare.starts_with('|')
            || (!bare.is_empty() && bare.chars().all(|one| "-=*_".contains(one)));
        if !is_code && !is_other {
            match all.last_mut() {
                Some(last) if last.end == start => last.end = end,
                Some(_) | None => all.push(start..end),
            }
        }
    }
    all
}

/// A sentence without its citations and the mark of its item, and what it cites.
fn bare(sentence: &str) -> (String, Vec<Cite<'_>>) {
    let (mut text, mut cites, mut rest) = (String::new(), Vec::new(), sentence);
    while let Some((before, after)) = rest.split_once('[') {
        match after.split_once(']').and_then(|(inside, behind)| Some((cite(inside)?, behind))) {
            Some((cite, behind)) => {
                text.push_str(before.trim_end());
                cites.push(cite);
                rest = behind;
            }
            None => {
                text.push_str(before);
                text.push('[');
                rest = after;
            }
        }
    }
    text.push_str(rest);
    let unmarked = text.trim();
    let unmarked =
        ["- ", "* ", "+ ", "> "].iter().find_map(|mark| unmarked.strip_prefix(mark)).unwrap_or(unmarked);
    let words: Vec<&str> = unmarked.split_whitespace().collect();
    (words.join(" "), cites)
}

/// A citation, without its brackets.
#[must_use]
pub fn cite(text: &str) -> Option<Cite<'_>> {
    let (path, lines) = text.rsplit_once(':')?;
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    let number = |digits: &str| digits.parse::<u64>().ok().filter(|line| *line > 0);
    let (first, last) = (number(first)?, number(last)?);
    let is_path = !path.is_empty() && !path.contains(['[', ']', '\n']);
    (is_path && first <= last).then_some(Cite { path, first, last })
}

#[cfg(test)]
#[path = "claim/claim_tests.rs"]
mod tests;
