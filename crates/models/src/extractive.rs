//! The embedded model: it answers with what its sources say, word for word, and cites each quote.
//! Owns: choosing and quoting. Must not: write what no source says, or use chance, a network or a file.
//!
//! The same request gives the same bytes everywhere: ranking is done in whole numbers, and what ranks the same stays in
//! the order of the sources.

mod rank;
mod sources;

pub use sources::{Origin, Source, sources};

use crate::scripted::given;
use countersign_kernel::sentences;
use countersign_record::session::Role;
use countersign_runtime::ports::model::{About, Delta, Deltas, Ended, Finish, Model, Request, Site, Usage};
use rank::{Candidate, best};
use std::collections::VecDeque;
use tokio_util::sync::CancellationToken;

/// Quotes of one answer.
pub const QUOTES_MAX: usize = 4;
/// About how many bytes of text are a token.
const BYTES_PER_TOKEN: usize = 4;

const LEAD: &str = "The sources say:\n";
const NO_SOURCE: &str =
    "I was given no source, so I can say nothing about this. I only quote what sources say.\n";
const NOTHING: &str = "The sources that I was given say nothing about this. I only quote what sources say.\n";
const NO_QUESTION: &str = "I was asked nothing. I only quote what sources say about a question.\n";

/// One quote of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote<'a> {
    /// The words, exactly as they stand in the source.
    pub text: &'a str,
    /// Where they stand.
    pub origin: &'a Origin,
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found<'a> {
    /// Nobody asked.
    NoQuestion,
    /// There is nothing to quote from.
    NoSource,
    /// No source says anything about it.
    Nothing,
    /// These, the best first.
    Quotes(Vec<Quote<'a>>),
}

/// Chooses what to quote.
#[must_use]
pub fn find<'a>(question: &str, sources: &'a [Source]) -> Found<'a> {
    if question.trim().is_empty() {
        return Found::NoQuestion;
    }
    if sources.is_empty() {
        return Found::NoSource;
    }
    let texts = sources.iter().enumerate();
    let candidates: Vec<Candidate<'a>> = texts
        .flat_map(|(at, source)| {
            sentences::sentences(&source.text).map(move |text| Candidate { source: at, text })
        })
        .filter(|candidate| is_quotable(candidate.text))
        .take(rank::CANDIDATES_MAX)
        .collect();
    let chosen = best(question, &candidates, QUOTES_MAX);
    let quotes: Vec<Quote<'a>> = chosen
        .into_iter()
        .filter_map(|one| {
            sources.get(one.source).map(|source| Quote { text: one.text, origin: &source.origin })
        })
        .collect();
    if quotes.is_empty() { Found::Nothing } else { Found::Quotes(quotes) }
}

/// A quote must not be taken for a marker, or for a citation of ours.
fn is_quotable(text: &str) -> bool {
    !["<<<", "[mem:", "[tool:"].iter().any(|taken| text.contains(taken))
}

/// The lines of an answer, and whether all of it fits.
fn lines(found: &Found<'_>, max_tokens: u32) -> (Vec<String>, Finish) {
    let quotes = match found {
        Found::NoQuestion => return (vec![NO_QUESTION.to_owned()], Finish::Stop),
        Found::NoSource => return (vec![NO_SOURCE.to_owned()], Finish::Stop),
        Found::Nothing => return (vec![NOTHING.to_owned()], Finish::Stop),
        Found::Quotes(quotes) => quotes,
    };
    let room = usize::try_from(max_tokens).unwrap_or(usize::MAX).saturating_mul(BYTES_PER_TOKEN);
    let mut lines = vec![LEAD.to_owned()];
    let mut length = LEAD.len();
    for quote in quotes {
        let line = format!("- \"{}\" {}\n", quote.text, quote.origin);
        length = length.saturating_add(line.len());
        // Half a quote could say something else.
        if length > room {
            let whole = if lines.len() > 1 { lines } else { Vec::new() };
            return (whole, Finish::Length);
        }
        lines.push(line);
    }
    (lines, Finish::Stop)
}

/// The embedded model.
#[derive(Debug)]
pub struct Extractive {
    about: About,
}

impl Extractive {
    /// It needs nothing.
    #[must_use]
    pub fn new() -> Self {
        let about = About { provider: "extractive".into(), model: "extractive".into(), site: Site::Here };
        Extractive { about }
    }
}

impl Default for Extractive {
    fn default() -> Self {
        Extractive::new()
    }
}

impl Model for Extractive {
    fn about(&self) -> &About {
        &self.about
    }

    fn stream_chat<'a>(&'a self, request: &'a Request, cancel: &'a CancellationToken) -> Deltas<'a> {
        let question = request.messages.iter().rev().find(|message| message.role == Role::User);
        let sources = sources(&request.messages);
        let found = find(question.map_or("", |message| &message.content), &sources);
        let (lines, finish) = lines(&found, request.max_tokens);
        let usage = Usage { attempts: 1, ..Usage::default() };
        let mut items: VecDeque<_> = lines.into_iter().map(|line| Ok(Delta::Text(line))).collect();
        items.push_back(Ok(Delta::End(Ended { finish, usage })));
        given(items, cancel)
    }
}

#[cfg(test)]
#[path = "extractive_tests.rs"]
mod tests;
