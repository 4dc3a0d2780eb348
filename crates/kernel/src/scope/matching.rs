//! What of a file stands in the prompt: its title, a pattern, a tag, an alias of one of them.
//! Owns: looking for it. Must not: order files.

use super::input::{File, Input};
use crate::words::{folded, place, spaced};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use regex::RegexSet;

/// How well a file fits, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Include,
    TitleOrPattern,
    Tag,
    Alias,
    Fallback,
}

impl Rank {
    /// The seed's word for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Rank::Include => "KEPT:include",
            Rank::TitleOrPattern => "KEPT:title-regex",
            Rank::Tag => "KEPT:tag",
            Rank::Alias => "KEPT:alias",
            Rank::Fallback => "KEPT:fallback",
        }
    }
}

/// What was found.
pub(super) struct Match {
    pub(super) rank: Rank,
    pub(super) detail: String,
}

impl Match {
    pub(super) fn of_fallback() -> Self {
        Match {
            rank: Rank::Fallback,
            detail: "nothing matched, and all files that are on may be used then".to_string(),
        }
    }

    /// Of a file that stays beside those that match.
    pub(super) fn of_others() -> Self {
        Match {
            rank: Rank::Fallback,
            detail: "no file is named, and all that are on may be used then; others match better".to_string(),
        }
    }
}

/// Other ways to say the prompt that are tried.
const VARIANTS_MAX: usize = 64;

/// The prompt, ready to be looked through.
pub(super) struct Matcher<'a> {
    patterns: &'a RegexSet,
    /// As it was written, folded: for names with letters that are none.
    folded: String,
    /// Its words.
    spaced: String,
    /// Its words said otherwise, and the alias that was used.
    variants: Vec<(String, String)>,
}

impl<'a> Matcher<'a> {
    pub(super) fn new(input: &'a Input) -> Self {
        let spaced = spaced(&input.prompt);
        let variants = input.aliases.variants(&spaced, VARIANTS_MAX);
        let variants = variants.into_iter().map(|variant| {
            let (said, means) = variant.alias;
            (variant.text, format!("{said} = {means}"))
        });
        Matcher {
            patterns: &input.patterns,
            folded: folded(&input.prompt),
            variants: variants.collect(),
            spaced,
        }
    }

    /// Whether the prompt writes out a file's name with its ending, or its path.
    pub(super) fn is_written_out(&self, file: &File) -> bool {
        let has = |name: &str| place(&self.folded, &folded(name)).is_some();
        let has_ending = file.name() != file.stem();
        (has_ending && has(file.name())) || (file.path.contains('/') && has(&file.path))
    }

    /// The best that speaks for a file.
    pub(super) fn find(&self, file: &File) -> Option<Match> {
        let title = spaced(file.stem());
        let found = |rank, detail| Some(Match { rank, detail });
        if place(&self.spaced, &title).is_some() {
            return found(Rank::TitleOrPattern, format!("title: {}", file.stem()));
        }
        // A name without a single letter has no words.
        if title.is_empty() && place(&self.folded, &folded(file.name())).is_some() {
            return found(Rank::TitleOrPattern, format!("title: {}", file.name()));
        }
        if let Some(at) = self.patterns.matches(&file.path).iter().next() {
            let pattern = self.patterns.patterns().get(at).map_or("", String::as_str);
            return found(Rank::TitleOrPattern, format!("pattern: {pattern}"));
        }
        let tags: Vec<(&String, String)> = file.tags.iter().map(|tag| (tag, spaced(tag))).collect();
        if let Some((tag, _)) = tags.iter().find(|(_, words)| place(&self.spaced, words).is_some()) {
            return found(Rank::Tag, format!("tag: {tag}"));
        }
        for (text, alias) in &self.variants {
            if place(text, &title).is_some() {
                return found(Rank::Alias, format!("alias: {alias}, title: {}", file.stem()));
            }
            if let Some((tag, _)) = tags.iter().find(|(_, words)| place(text, words).is_some()) {
                return found(Rank::Alias, format!("alias: {alias}, tag: {tag}"));
            }
        }
        None
    }
}
