//! What can be counted of a text: its sections, its words, what it mentions and cites.
//! Owns: the counts, as so many met of so many wanted. Must not: score; a formula does.

use crate::claim::{Outline, SILENT, claims, outline};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use regex::{Regex, RegexBuilder};

/// Bytes that a compiled pattern may take: whoever writes a task may write a hostile one.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// A pattern that can be looked for in any text in time that grows with the text only.
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl Eq for Pattern {}

/// Why something is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is no pattern that can be looked for: {0}")]
pub struct NotAPattern(String);

impl TryFrom<&str> for Pattern {
    type Error = NotAPattern;

    fn try_from(text: &str) -> Result<Self, NotAPattern> {
        let built =
            RegexBuilder::new(text).size_limit(PATTERN_BYTES_MAX).dfa_size_limit(PATTERN_BYTES_MAX).build();
        built.map(Pattern).map_err(|error| {
            let words = error.to_string();
            NotAPattern(words.lines().last().unwrap_or_default().trim().to_string())
        })
    }
}

/// What is looked at in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// There are sections of these headings, and each says something.
    Sections(Vec<String>),
    /// It has so many words.
    Length {
        /// At least.
        min: Option<u64>,
        /// At most.
        max: Option<u64>,
    },
    /// It has a pattern somewhere, or nowhere.
    Matches {
        /// Which.
        pattern: Pattern,
        /// Whether it must not be there.
        is_forbidden: bool,
    },
    /// It has one of some texts, and all of others, whatever their case.
    Mentions {
        /// One of these, if there are any.
        any: Vec<String>,
        /// All of these.
        all: Vec<String>,
    },
    /// It cites so many places, in so many sources.
    Citations {
        /// Places.
        min: u64,
        /// Sources.
        sources_min: u64,
    },
}

/// What was counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// So many are met.
    pub met: u64,
    /// Of so many; never 0.
    pub of: u64,
    /// What is missing, for people; empty if nothing is.
    pub missing: Vec<String>,
}

impl Measured {
    fn of(all: impl IntoIterator<Item = (bool, String)>) -> Self {
        let (mut met, mut of, mut missing) = (0, 0, Vec::new());
        for (is_met, words) in all {
            of += 1;
            if is_met {
                met += 1;
            } else {
                missing.push(words);
            }
        }
        Measured { met, of: of.max(1), missing }
    }
}

/// Counts a check over a text, or over one section of it by its heading. A section that is not there is empty.
#[must_use]
pub fn measure(check: &Check, text: &str, section: Option<&str>) -> Measured {
    let outline = outline(text);
    let part = match section {
        Some(heading) => outline.body(heading).unwrap_or_default(),
        None => text,
    };
    match check {
        Check::Sections(headings) => Measured::of(headings.iter().map(|heading| {
            // That the sources say nothing is nothing that a section says.
            let says = |body: &str| !body.trim().is_empty() && body.trim() != SILENT;
            let says = outline.body(heading).is_some_and(says);
            (says, format!("a section “{heading}” that says something"))
        })),
        Check::Length { min, max } => {
            let words = part.split_whitespace().count() as u64;
            let least = min.map(|min| (words >= min, format!("{min} words or more (there are {words})")));
            let most = max.map(|max| (words <= max, format!("{max} words or fewer (there are {words})")));
            Measured::of(least.into_iter().chain(most))
        }
        Check::Matches { pattern, is_forbidden } => {
            let is_there = pattern.0.is_match(part);
            let words = if *is_forbidden { "no match of" } else { "a match of" };
            Measured::of([(is_there != *is_forbidden, format!("{words} {}", pattern.0.as_str()))])
        }
        Check::Mentions { any, all } => mentions(part, any, all),
        Check::Citations { min, sources_min } => cited(&outline, section, *min, *sources_min),
    }
}

fn mentions(text: &str, any: &[String], all: &[String]) -> Measured {
    let low = text.to_lowercase();
    let has = |wanted: &String| low.contains(&wanted.to_lowercase());
    let one = (!any.is_empty()).then(|| (any.iter().any(has), format!("one of: {}", any.join(", "))));
    Measured::of(one.into_iter().chain(all.iter().map(|wanted| (has(wanted), format!("“{wanted}”")))))
}

fn cited(outline: &Outline<'_>, section: Option<&str>, min: u64, sources_min: u64) -> Measured {
    let all = claims(outline);
    let is_in = |own: Option<&str>| section.is_none_or(|wanted| own == Some(wanted));
    let places: BTreeSet<(&str, u64, u64)> = all
        .iter()
        .filter(|claim| is_in(claim.section))
        .flat_map(|claim| &claim.cites)
        .map(|cite| (cite.path, cite.first, cite.last))
        .collect();
    let sources: BTreeSet<&str> = places.iter().map(|(path, ..)| *path).collect();
    let (count, files) = (places.len() as u64, sources.len() as u64);
    let wanted = (min > 0).then(|| (count >= min, format!("{min} citations (there are {count})")));
    let from = (sources_min > 0)
        .then(|| (files >= sources_min, format!("citations of {sources_min} sources (there are {files})")));
    Measured::of(wanted.into_iter().chain(from))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMO: &str = "# Memo\n\n## Term\n\nThe lease ends in 2027. [a.md:3]\n\n## Notice\n\nSix months. [b.md:1-2] It must be written. [a.md:9]\n\n## Cost\n";

    fn check(check: &Check, section: Option<&str>, met: u64, of: u64) {
        let measured = measure(check, MEMO, section);
        assert_eq!((measured.met, measured.of), (met, of), "{check:?}: {:?}", measured.missing);
        assert_eq!(measured.missing.len() as u64, of - met);
    }

    #[test]
    fn what_is_counted() {
        let texts = |all: &[&str]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
        check(&Check::Sections(texts(&["Term", "Notice"])), None, 2, 2);
        check(&Check::Sections(texts(&["Term", "Cost", "Parties"])), None, 1, 3);
        let silent =
            measure(&Check::Sections(texts(&["Term"])), "## Term\n\nThe sources do not say.\n", None);
        assert_eq!((silent.met, silent.of), (0, 1));
        check(&Check::Length { min: Some(5), max: Some(9) }, Some("Notice"), 2, 2);
        check(&Check::Length { min: Some(500), max: None }, None, 0, 1);
        check(&Check::Length { min: Some(1), max: None }, Some("Parties"), 0, 1);
        let year = Pattern::try_from(r"\b20\d\d\b").unwrap();
        check(&Check::Matches { pattern: year.clone(), is_forbidden: false }, Some("Term"), 1, 1);
        check(&Check::Matches { pattern: year, is_forbidden: true }, None, 0, 1);
        check(
            &Check::Mentions { any: texts(&["SIX", "seven"]), all: texts(&["written", "tenant"]) },
            None,
            2,
            3,
        );
        check(&Check::Citations { min: 2, sources_min: 2 }, Some("Notice"), 2, 2);
        check(&Check::Citations { min: 2, sources_min: 0 }, Some("Term"), 0, 1);
        check(&Check::Citations { min: 3, sources_min: 3 }, None, 1, 2);
    }

    #[test]
    fn hostile_patterns_are_refused() {
        for pattern in ["(", r"(?=a)", "(((a{1000}){1000}){1000})"] {
            assert!(Pattern::try_from(pattern).is_err(), "{pattern}");
        }
    }
}
