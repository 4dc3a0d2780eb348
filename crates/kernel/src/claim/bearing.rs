//! What sources say of a claim: the places that bear on it, and how.
//! Owns: finding them, the same ones every time. Must not: say what follows for the claim; a registered formula does.
//!
//! A claim that cites is held against the lines it cites, and only those can support it. One that cites nothing is held against every
//! sentence of every source. A sentence that speaks of the same and says something else counts against a claim wherever it stands.

use super::context::{Context, Contexts, with_lead};
use super::said::{Reading, without_notes};
use super::{Cite, Claim};
use crate::relevance::counted;
use crate::sentences::visible;
use crate::sift::Words;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// Places of one kind that are kept for a claim.
const KEPT_MAX: usize = 4;
/// The part of a claim's words that a sentence must have to be looked at, in thousandths; `says` asks for more.
const SHARED_MIN: usize = 500;

/// What the paths of sources in Markdown end with.
const MARKDOWN: [&str; 2] = [".md", ".markdown"];
/// Words that a sentence may lack and say the claim all the same: "the harbour's lease" is "a lease of the harbour".
const SPARED: [&str; 5] = ["a", "an", "of", "s", "the"];

/// A source whose sentences can be found by their words.
#[derive(Clone, Debug)]
pub struct Source<'t> {
    /// As citations name it.
    pub path: &'t str,
    text: &'t str,
    sentences: Vec<Sentence>,
    having: BTreeMap<String, Vec<usize>>,
}

#[derive(Clone, Debug)]
struct Sentence {
    span: Range<usize>,
    first: u64,
    last: u64,
    words: Words,
    context: Context,
}

/// How a place bears on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// It says what the claim says.
    Direct,
    /// A part of it says what the claim says, or it is cited for the claim and says something of it.
    Contextual,
    /// It speaks of the same and says something else.
    Contradicts,
}

/// A place that bears on a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bearing {
    /// Which source, from 0.
    pub source: usize,
    /// Where in it, in bytes.
    pub span: Range<usize>,
    /// The first line, from 1.
    pub first: u64,
    /// The last line.
    pub last: u64,
    /// How.
    pub strength: Strength,
}

impl<'t> Source<'t> {
    /// A source by its path and text.
    #[must_use]
    pub fn new(path: &'t str, text: &'t str) -> Self {
        let (mut sentences, mut having): (Vec<Sentence>, BTreeMap<String, Vec<usize>>) =
            (Vec::new(), BTreeMap::new());
        let (mut line, mut passed) = (1_u64, 0);
        let mut contexts = Contexts::new(text, MARKDOWN.iter().any(|end| path.ends_with(end)));
        for span in visible(text) {
            let context = contexts.of(&span);
            line += breaks(text, passed..span.start);
            let last = line + breaks(text, span.clone());
            passed = span.start;
            let said = text.get(span.clone()).unwrap_or_default();
            let whole = context.whole(said);
            let noted = without_notes(&whole).map(|bare| counted(&bare)).unwrap_or_default();
            for stem in counted(&whole).into_iter().chain(noted).collect::<BTreeSet<String>>() {
                having.entry(stem).or_default().push(sentences.len());
            }
            sentences.push(Sentence { span, first: line, last, words: Words::of(said), context });
        }
        Source { path, text, sentences, having }
    }

    fn said(&self, sentence: &Sentence) -> &'t str {
        self.text.get(sentence.span.clone()).unwrap_or_default()
    }

    /// Which of the sentences have enough of a claim's words to be looked at, in their order.
    fn sharing(&self, claim: &BTreeSet<String>) -> Vec<usize> {
        let mut counts = alloc::vec![0_usize; self.sentences.len()];
        for at in claim.iter().flat_map(|word| self.having(word)) {
            if let Some(count) = counts.get_mut(*at) {
                *count += 1;
            }
        }
        let enough = (claim.len() * SHARED_MIN).div_ceil(1_000).max(1);
        counts.iter().enumerate().filter(|(_, count)| **count >= enough).map(|(at, _)| at).collect()
    }

    /// Those among some sentences that say what a claim says. Only who has every word that it needs can, so only the sentences
    /// with the rarest one are looked at.
    fn saying<'s>(
        &'s self,
        some: &'s [usize],
        needed: &[&String],
        claim: &'s Held,
    ) -> impl Iterator<Item = (&'s Sentence, Strength)> {
        let needed: Vec<&[usize]> = needed.iter().map(|word| self.having(word)).collect();
        let rarest = needed.iter().copied().min_by_key(|all| all.len()).unwrap_or(some);
        let is_one = move |at: &&usize| {
            some.binary_search(at).is_ok() && needed.iter().all(|all| all.binary_search(at).is_ok())
        };
        let found = rarest.iter().filter(is_one).filter_map(|at| self.sentences.get(*at));
        found.filter_map(|one| Some((one, self.strength(one, claim)?)))
    }

    /// How a sentence says what a claim says, if it does.
    fn strength(&self, one: &Sentence, claim: &Held) -> Option<Strength> {
        let own = Reading::of(self.said(one));
        match self.says(one, claim) {
            true => Some(Strength::Direct),
            false if own.says_in_part(&claim.own) => Some(Strength::Contextual),
            false => None,
        }
    }

    fn says(&self, one: &Sentence, claim: &Held) -> bool {
        let said = self.said(one);
        let whole = || Reading::of(&one.context.whole(said));
        one.context.counts(said, &claim.text) && whole().says(claim.whole.as_ref().unwrap_or(&claim.own))
    }

    fn having(&self, word: &String) -> &[usize] {
        self.having.get(word).map(Vec::as_slice).unwrap_or_default()
    }

    fn on_lines(&self, first: u64, last: u64) -> impl Iterator<Item = &Sentence> {
        // Sentences stand one behind the other, so those before the lines are together, and those behind them.
        let from = self.sentences.partition_point(|one| one.last < first);
        self.sentences.iter().skip(from).take_while(move |one| one.first <= last)
    }
}

fn breaks(text: &str, range: Range<usize>) -> u64 {
    text.get(range).unwrap_or_default().bytes().filter(|byte| *byte == b'\n').count() as u64
}

/// A claim as it is held against sentences.
struct Held {
    text: String,
    own: Reading,
    /// The same with what leads in to it.
    whole: Option<Reading>,
}

impl Held {
    fn of(claim: &Claim<'_>) -> Self {
        let lead = claim.lead.as_deref();
        Held {
            text: claim.text.clone(),
            own: Reading::of(&claim.text),
            whole: lead.map(|lead| Reading::of(&with_lead(Some(lead), &claim.text))),
        }
    }
}

/// The places of some sources that bear on a claim: by source, in the order of its text.
#[must_use]
pub fn bearings(claim: &Claim<'_>, sources: &[&Source<'_>]) -> Vec<Bearing> {
    let (reading, words) = (Held::of(claim), Words::of(&claim.text));
    let stems: BTreeSet<String> = counted(&claim.text).into_iter().collect();
    let led = claim.lead.iter().flat_map(|lead| counted(lead));
    let whole: BTreeSet<String> = stems.iter().cloned().chain(led).collect();
    let needed: Vec<&String> = whole.iter().filter(|stem| !SPARED.contains(&stem.as_str())).collect();
    let mut found = Vec::new();
    for (at, source) in sources.iter().enumerate() {
        let mut add = |one: &Sentence, strength| {
            let (span, first, last) = (one.span.clone(), one.first, one.last);
            found.push(Bearing { source: at, span, first, last, strength });
        };
        let sharing = source.sharing(&stems);
        let mut direct = BTreeSet::new();
        if claim.cites.is_empty() {
            for (one, strength) in source.saying(&sharing, &needed, &reading).take(KEPT_MAX) {
                direct.insert(one.span.start);
                add(one, strength);
            }
        }
        let cites = claim.cites.iter().filter(|cite| cite.path == source.path);
        for one in cites.flat_map(|cite| source.on_lines(cite.first, cite.last)) {
            let strength = match source.says(one, &reading) {
                true => Strength::Direct,
                false if !one.words.terms.is_disjoint(&words.terms) => Strength::Contextual,
                false => continue,
            };
            if direct.insert(one.span.start)
                && (strength == Strength::Direct || !one.words.contradict(&words))
            {
                add(one, strength);
            }
        }
        let near = sharing.iter().filter_map(|at| source.sentences.get(*at));
        let against =
            near.filter(|one| one.words.contradict(&words) && source.strength(one, &reading).is_none());
        against.take(KEPT_MAX).for_each(|one| add(one, Strength::Contradicts));
    }
    // Where one of the places that it cites is not there or speaks of something else, nothing that it cites says all of it.
    let bears = |cite: &Cite<'_>| {
        let own = |one: &&Bearing| sources.get(one.source).is_some_and(|source| source.path == cite.path);
        let is_on = |one: &Bearing| one.first <= cite.last && one.last >= cite.first;
        found.iter().filter(own).any(|one| one.strength != Strength::Contradicts && is_on(one))
    };
    if !claim.cites.iter().all(bears) {
        let direct = found.iter_mut().filter(|one| one.strength == Strength::Direct);
        direct.for_each(|one| one.strength = Strength::Contextual);
    }
    found.sort_by_key(|one| (one.source, one.span.start, one.span.end, one.strength));
    found.dedup();
    found
}

#[cfg(test)]
#[path = "bearing/bearing_tests.rs"]
mod tests;
