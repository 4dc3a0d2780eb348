//! Which sentences answer a question.
//! Owns: their scores, in whole numbers. Must not: change a sentence.

use super::Limits;
use crate::chunk::{Chunk, Form};
use crate::relevance::{Part, Stems, WHOLE, is_bare, stems};
use crate::sentences::spans;
use crate::sift::{CONTEXT_WORTH, OPENING_WORTH, Said};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// What a term is worth that stands in the sentence before or behind.
const NEIGHBOUR_WORTH: u64 = 500;
/// What a term is worth that stands elsewhere in the piece.
const PIECE_WORTH: u64 = 300;
/// Quotes that are given with the sentence behind them.
const WIDE_MAX: usize = 3;
/// Bytes of such a quote.
const QUOTE_BYTES_MAX: usize = 600;
/// What the sentence itself must cover, in thousandths.
const OWN_MIN: u64 = 100;
/// By how much more must speak for a sentence than against it.
const LEAD_MIN: u64 = 500;
/// What a term is worth that a sentence points back to ("It …").
const REFERRED_WORTH: u64 = 800;
/// Words by which a sentence points back to the one before.
const POINTERS: [&str; 13] =
    ["it", "its", "they", "their", "this", "these", "that", "those", "he", "she", "his", "her", "there"];
/// What a sentence gains that has the kind of answer which is asked for, in thousandths.
const KIND_GAIN: u64 = 300;
/// What one loses that has no date, number or name where one is asked for, in thousandths.
const KIND_LOSS: u64 = 200;
/// A sentence that may be quoted.
pub(super) struct Candidate<'a> {
    /// Which piece.
    pub(super) at: usize,
    /// Where in it.
    pub(super) span: Range<usize>,
    /// The same with what it points back to, and with the sentence behind it in the paragraph.
    wide: Range<usize>,
    wide_text: &'a str,
    text: &'a str,
    own: Stems,
    /// Headings, the file's name, the line that leads a list in.
    above: Stems,
    beside: Stems,
    /// What it points back to.
    referred: Stems,
    /// All of the piece, and how its file begins.
    piece: Rc<Stems>,
    opening: Rc<Stems>,
    path: &'a str,
    words: usize,
}

impl Candidate<'_> {
    /// What it says, and what it stands under.
    pub(super) fn stems(&self) -> impl Iterator<Item = &String> {
        self.own.iter().chain(&self.above)
    }
}

/// A sentence that is quoted.
pub(super) struct Chosen<'c, 'a> {
    pub(super) candidate: &'c Candidate<'a>,
    /// What is quoted.
    pub(super) span: Range<usize>,
    pub(super) coverage: u64,
}

/// The sentences of the pieces; there are only so many, because pieces are small and few.
pub(super) fn candidates<'a>(chunks: &[&'a Chunk]) -> Vec<Candidate<'a>> {
    let mut all = Vec::new();
    for (at, chunk) in chunks.iter().enumerate() {
        of_chunk(at, chunk, &mut all);
    }
    all
}

/// A sentence, where it stands, and its words.
type Found<'a> = (Range<usize>, &'a str, Vec<String>);

/// The sentences of a piece. A date that stands alone belongs to what follows it in its paragraph.
fn found<'a>(chunk: &'a Chunk) -> Vec<Found<'a>> {
    let text = |span: &Range<usize>| chunk.text.get(span.clone()).unwrap_or_default();
    let mut found: Vec<Found<'a>> = Vec::new();
    let mut date: Option<Range<usize>> = None;
    for span in spans(&chunk.text).map(|span| bare(&chunk.text, span)) {
        let dated = date.take().filter(|date| !is_parted(&chunk.text, date, &span));
        let span = dated.map_or(span.start, |date| date.start)..span.end;
        if is_bare(text(&span)) {
            date = Some(span);
        } else if !is_heading(chunk, text(&span)) {
            found.push((span.clone(), text(&span), stems(text(&span))));
        }
    }
    found
}

/// Whether a paragraph ends between two sentences.
fn is_parted(text: &str, one: &Range<usize>, other: &Range<usize>) -> bool {
    text.get(one.end..other.start).unwrap_or_default().matches('\n').count() >= 2
}

fn of_chunk<'a>(at: usize, chunk: &'a Chunk, all: &mut Vec<Candidate<'a>>) {
    let Said { above, opening, .. } = Said::of(chunk);
    let opening = Rc::new(opening);
    let found = found(chunk);
    let piece: Rc<Stems> = Rc::new(found.iter().flat_map(|(_, _, own)| own.iter().cloned()).collect());
    let mut lead: Option<&Vec<String>> = None;
    for (number, (span, text, own)) in found.iter().enumerate() {
        let mut above = above.clone();
        if let Some(lead) = lead {
            above.extend(lead.iter().cloned());
        }
        let before = number.checked_sub(1).and_then(|number| found.get(number));
        let beside =
            before.into_iter().chain(found.get(number + 1)).flat_map(|(_, _, stems)| stems.iter().cloned());
        let points_back = own.first().is_some_and(|word| POINTERS.contains(&word.as_str()));
        let referred = before.filter(|_| points_back).map(|(_, _, stems)| stems.iter().cloned().collect());
        let joins = |one: &Range<usize>, other: &Range<usize>| is_joined(&chunk.text, one, other);
        let from = before
            .filter(|(before, ..)| points_back && joins(before, span))
            .map_or(span, |(before, ..)| before);
        let to = found.get(number + 1).filter(|(next, ..)| joins(span, next)).map_or(span, |(next, ..)| next);
        // What leads a list in is above its items, until the next paragraph.
        if text.ends_with(':') || is_table_head(&chunk.text, span) {
            lead = Some(own);
        } else if !is_item(&chunk.text, span.start) {
            lead = None;
        }
        if own.len() >= 2 && !is_table_head(&chunk.text, span) {
            all.push(Candidate {
                at,
                span: span.clone(),
                wide: from.start..to.end,
                wide_text: chunk.text.get(from.start..to.end).unwrap_or_default(),
                text,
                words: own.len(),
                own: own.iter().cloned().collect(),
                above,
                beside: beside.collect(),
                referred: referred.unwrap_or_default(),
                piece: Rc::clone(&piece),
                opening: Rc::clone(&opening),
                path: &chunk.path,
            });
        }
    }
}

/// Whether two sentences stand behind each other in a paragraph, and are short enough to be quoted as one.
fn is_joined(text: &str, one: &Range<usize>, other: &Range<usize>) -> bool {
    let is_item = |span: &Range<usize>| is_item(text, span.start);
    !is_parted(text, one, other)
        && !is_item(one)
        && !is_item(other)
        && other.end - one.start <= QUOTE_BYTES_MAX
}

/// The sentence without the mark of an item before it.
fn bare(text: &str, span: Range<usize>) -> Range<usize> {
    let sentence = text.get(span.clone()).unwrap_or_default();
    let rest = sentence.strip_prefix(['-', '*', '+', '•']).filter(|rest| rest.starts_with([' ', '\t']));
    match rest {
        Some(rest) => span.end - rest.trim_start().len()..span.end,
        None => span,
    }
}

/// Whether the line that a sentence begins in is an item.
fn is_item(text: &str, start: usize) -> bool {
    let before = text.get(..start).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default().trim_start();
    let first = text.get(start..).unwrap_or_default();
    let number = first.split([' ', '\t']).next().unwrap_or_default();
    let is_number = number.starts_with(|letter: char| letter.is_ascii_digit())
        && number.contains(['.', ')'])
        && number.chars().all(|letter| letter.is_ascii_digit() || letter == '.' || letter == ')');
    line.starts_with(['-', '*', '+', '•', '|']) || is_number || first.starts_with(['(', '|'])
}

/// Whether a row of a table names its columns: a line is drawn below it.
fn is_table_head(text: &str, span: &Range<usize>) -> bool {
    let behind = text.get(span.end..).unwrap_or_default().trim_start();
    let drawn = behind.split('\n').next().unwrap_or_default();
    text.get(span.clone()).is_some_and(|row| row.starts_with('|'))
        && drawn.starts_with('|')
        && drawn.contains("--")
        && !drawn.chars().any(char::is_alphanumeric)
}

/// A heading is no sentence, and neither is what draws a line.
fn is_heading(chunk: &Chunk, text: &str) -> bool {
    let is_marked = Form::of(&chunk.path) == Form::Markdown && text.starts_with('#');
    let title = text.split('\n').next().unwrap_or_default().trim();
    is_marked
        || !text.chars().any(char::is_alphanumeric)
        || (text.len() <= title.len() && chunk.headings.iter().any(|heading| heading == title))
}

/// What a sentence must cover that is only close, itself and with what it stands under, in thousandths.
const NEAR_OWN_MIN: u64 = 80;
const NEAR_MIN: u64 = 200;
/// So many of those are given, and how much of what the best of them scores another must score, in thousandths.
const NEAR_MAX: usize = 3;
const NEAR_OF_BEST_MIN: u64 = 550;

/// The sentences that come closest to a question that none answers.
pub(super) fn nearest<'c, 'a>(part: &Part, candidates: &'c [Candidate<'a>]) -> Vec<Chosen<'c, 'a>> {
    let mut ranked = Vec::new();
    for (number, one) in candidates.iter().enumerate() {
        let (own, coverage) = (own(part, one), coverage(part, one));
        if own >= NEAR_OWN_MIN && coverage >= NEAR_MIN {
            ranked.push((score(part, one, own, coverage), number, coverage));
        }
    }
    picked(candidates, ranked, NEAR_OF_BEST_MIN, NEAR_MAX)
}

/// How much of a question a sentence covers itself.
fn own(part: &Part, one: &Candidate<'_>) -> u64 {
    part.coverage(&[(&one.own, WHOLE), (&one.referred, REFERRED_WORTH)])
}

/// How much of it a sentence covers with everything that it stands under and beside.
fn coverage(part: &Part, one: &Candidate<'_>) -> u64 {
    part.coverage(&[
        (&one.own, WHOLE),
        (&one.above, CONTEXT_WORTH),
        (&one.referred, REFERRED_WORTH),
        (&one.beside, NEIGHBOUR_WORTH),
        (&*one.opening, OPENING_WORTH),
        (&*one.piece, PIECE_WORTH),
    ])
}

/// The sentences that answer a question, the best first.
pub(super) fn best<'c, 'a>(
    part: &Part,
    candidates: &'c [Candidate<'a>],
    limits: &Limits,
) -> Vec<Chosen<'c, 'a>> {
    let mut ranked = Vec::new();
    for (number, one) in candidates.iter().enumerate() {
        let (own, coverage) = (own(part, one), coverage(part, one));
        if own >= OWN_MIN && coverage >= limits.coverage_min {
            ranked.push((score(part, one, own, coverage), number, coverage));
        }
    }
    // Whether there is an answer at all is decided by the best one: what stands beside it may well say the rest.
    let best = ranked.iter().max_by_key(|(score, number, _)| (*score, core::cmp::Reverse(*number)));
    let is_answered = best.is_some_and(|(_, number, coverage)| {
        candidates.get(*number).is_some_and(|one| speaks_for(part, one, own(part, one), *coverage))
    });
    match is_answered {
        true => picked(candidates, ranked, limits.of_best_min, limits.quotes_max),
        false => Vec::new(),
    }
}

/// The best of sentences with their scores, numbers and what they cover, the best first; the same words once. Of each file that
/// speaks of it the best one comes before a second one of another: who asks about two of them wants both.
fn picked<'c, 'a>(
    candidates: &'c [Candidate<'a>],
    mut ranked: Vec<(u64, usize, u64)>,
    of_best_min: u64,
    most: usize,
) -> Vec<Chosen<'c, 'a>> {
    ranked.sort_by(|(one, here, _), (other, there, _)| other.cmp(one).then(here.cmp(there)));
    let least = ranked.first().map_or(0, |(best, ..)| best * of_best_min / WHOLE);
    let mut said: BTreeSet<String> = BTreeSet::new();
    let mut of_path: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (score, number, coverage) in ranked.into_iter().take_while(|(score, ..)| *score >= least) {
        let Some(candidate) = candidates.get(number) else { continue };
        if said.insert(crate::words::spaced(candidate.text)) {
            let turn = of_path.entry(candidate.path).or_default();
            let chosen = Chosen { candidate, span: candidate.span.clone(), coverage };
            found.push((*turn, core::cmp::Reverse(score), number, chosen));
            *turn += 1;
        }
    }
    // The best of all and the best of the files that say as much about it, then the others.
    let fair = found.first().map_or(0, |(_, best, ..)| best.0 * FAIR_PART / WHOLE);
    let is_second = |turn: usize, score: u64| turn > 0 || score < fair;
    found.sort_by_key(|(turn, score, number, _)| (is_second(*turn, score.0), *score, *number));
    found.into_iter().take(most).map(|(.., chosen)| chosen).collect()
}

/// Whether more speaks for a sentence than against it: what it covers, itself and with what it stands under and beside,
/// against what neither has, what nothing around it has either, and that a date, a number or a name is asked for and none is
/// there. What each counts was fitted to questions with and without an answer.
fn speaks_for(part: &Part, one: &Candidate<'_>, own: u64, coverage: u64) -> bool {
    let share = |(missing, terms): (usize, usize)| missing as u64 * WHOLE / (terms as u64).max(1);
    let near = share(part.missing_count(&[&one.own, &one.above]));
    let anywhere = share(part.missing_count(&[&one.own, &one.above, &one.piece, &one.opening]));
    let is_other_kind = part.kind.is_told_by_form() && !part.is_answered_in_kind(one.wide_text);
    let kind = if is_other_kind { WHOLE } else { 0 };
    own * 4 + coverage * 9 >= near * 10 + anywhere * 5 + kind * 10 + LEAD_MIN
}

/// The first ones with the sentence behind them, which often says how much or until when. What is said is not said again,
/// also not in part: `said` are the places that are quoted already, by piece.
pub(super) fn widened<'c, 'a>(
    chosen: Vec<Chosen<'c, 'a>>,
    said: &mut Vec<(usize, Range<usize>)>,
) -> Vec<Chosen<'c, 'a>> {
    let mut all: Vec<Chosen<'c, 'a>> = Vec::new();
    for (number, mut one) in chosen.into_iter().enumerate() {
        let at = one.candidate.at;
        let is_said = |span: &Range<usize>| {
            said.iter().any(|(piece, there)| *piece == at && there.start < span.end && span.start < there.end)
        };
        if is_said(&one.span) {
            continue;
        }
        if number < WIDE_MAX && !is_said(&one.candidate.wide) {
            one.span = one.candidate.wide.clone();
        }
        said.push((at, one.span.clone()));
        all.push(one);
    }
    all
}

/// What part of the best one's score the best of another file must have to come before a second one of the same file.
const FAIR_PART: u64 = 800;

/// What the sentence covers itself counts most; long sentences have many words by chance.
fn score(part: &Part, one: &Candidate<'_>, own: u64, coverage: u64) -> u64 {
    let kind = match part.is_answered_in_kind(one.text) {
        true => WHOLE + KIND_GAIN,
        false if part.kind.is_told_by_form() => WHOLE - KIND_LOSS,
        false => WHOLE,
    };
    let length = (one.words as u64).clamp(6, 400);
    (own * 2 + coverage * 3) * kind / (30 + (length * 16).isqrt())
}
