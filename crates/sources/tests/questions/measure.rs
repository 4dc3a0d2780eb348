//! Asks every question of a set and counts: expected spans that were quoted, questions without an answer that were
//! said to have none, quotes that no document has.

use countersign_kernel::chunk::{self, Chunk, chunks};
use countersign_kernel::gather::{Gathered, Limits, gather};
use countersign_kernel::history::Lexicon;
use countersign_kernel::relevance::Asked;
use countersign_memory::embed::{self, Embedder};
use countersign_sources::retrieve::{self, Hit, Index};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folders of the sets, beside this file.
pub(crate) const FIRST: &str = ".";
pub(crate) const SECOND: &str = "second";
pub(crate) const THIRD: &str = "third";
pub(crate) const FOURTH: &str = "fourth";

#[derive(Deserialize)]
struct Set {
    question: Vec<Question>,
}

#[derive(Deserialize)]
pub(crate) struct Question {
    pub(crate) half: Half,
    pub(crate) ask: String,
    pub(crate) spans: Vec<Span>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Half {
    /// Rules and numbers may be fitted to it.
    Tune,
    /// Nothing is.
    Check,
}

#[derive(Deserialize)]
pub(crate) struct Span {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// What was counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Count {
    pub(crate) spans: usize,
    pub(crate) quoted: usize,
    /// Those that are not quoted, and shown as what comes closest.
    pub(crate) close: usize,
    pub(crate) unanswerable: usize,
    pub(crate) said_so: usize,
    pub(crate) quotes: usize,
    /// Questions with an answer, and those whose first quote holds some of it.
    pub(crate) answerable: usize,
    pub(crate) first_right: usize,
    /// Quotes that do not stand where they say.
    pub(crate) invented: usize,
    pub(crate) misses: Vec<String>,
}

impl Count {
    pub(crate) fn recall(&self) -> f64 {
        self.quoted as f64 / self.spans.max(1) as f64
    }
}

fn place(set: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/questions").join(set)
}

pub(crate) fn questions(set: &str) -> Vec<Question> {
    let text = std::fs::read_to_string(place(set).join("questions.toml")).unwrap();
    toml::from_str::<Set>(&text).unwrap().question
}

/// The documents of a set, by path.
pub(crate) fn documents(set: &str) -> BTreeMap<String, String> {
    let named = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, std::fs::read_to_string(path).unwrap())
    };
    std::fs::read_dir(place(set).join("documents")).unwrap().map(named).collect()
}

/// Everything that answers questions.
pub(crate) struct Asking {
    set: &'static str,
    documents: BTreeMap<String, String>,
    pieces: Vec<Chunk>,
    index: Index,
}

/// The embedder that is always there.
pub(crate) fn embedder() -> Arc<dyn Embedder> {
    Arc::new(embed::hashed())
}

impl Asking {
    pub(crate) fn new(set: &'static str, embedder: Option<Arc<dyn Embedder>>) -> Self {
        let documents = documents(set);
        let pieces: Vec<Chunk> =
            documents.iter().flat_map(|(path, text)| chunks(path, text, chunk::Limits::default())).collect();
        let index = Index::new(&pieces, embedder).unwrap();
        Asking { set, documents, pieces, index }
    }

    /// The pieces that were found, the best first, and what they say.
    pub(crate) fn ask(&self, question: &str) -> (Vec<Hit>, Gathered) {
        let mut asked = Asked::new(question, &Lexicon::default());
        self.index.weigh(&mut asked).unwrap();
        let hits = self.index.retrieve(question, &asked, &retrieve::Limits::default()).unwrap();
        let found: Vec<Chunk> = hits.iter().map(|hit| self.pieces[hit.chunk].clone()).collect();
        (hits, gather(&asked, &found, &[], &Limits::default()))
    }

    /// Asks the questions of one half, or all.
    pub(crate) fn count(&self, half: Option<Half>) -> Count {
        let mut count = Count::default();
        for question in questions(self.set).iter().filter(|one| half.is_none_or(|half| one.half == half)) {
            self.count_one(question, &mut count);
        }
        count
    }

    fn count_one(&self, question: &Question, count: &mut Count) {
        let (hits, evidence) = self.ask(&question.ask);
        let quotes = evidence.condensed.quotes();
        count.quotes += quotes.len();
        for fact in &quotes {
            let text = self.documents.get(&fact.citation.path).map(String::as_str).unwrap_or_default();
            let lines: Vec<&str> = text.split('\n').collect();
            let (first, last) = (fact.citation.first_line - 1, fact.citation.last_line);
            let cited = lines.get(first..last).unwrap_or_default().join("\n");
            let stands = text.get(fact.citation.bytes.clone()) == Some(fact.text.as_str())
                && cited.contains(&fact.text)
                && !fact.text.trim().is_empty();
            count.invented += usize::from(!stands);
        }
        if question.spans.is_empty() {
            count.unanswerable += 1;
            if quotes.is_empty() {
                count.said_so += 1;
            } else {
                count
                    .misses
                    .push(format!("{:?} said: {:?} ({})", question.ask, quotes[0].text, quotes[0].coverage));
            }
        }
        let holds = |span: &Span, path: &str, bytes: &std::ops::Range<usize>| {
            let start = self.documents[&span.path].find(&span.text).unwrap();
            path == span.path && bytes.start <= start && start + span.text.len() <= bytes.end
        };
        let is_first = |span: &Span| {
            quotes.first().is_some_and(|fact| holds(span, &fact.citation.path, &fact.citation.bytes))
        };
        count.answerable += usize::from(!question.spans.is_empty());
        count.first_right += usize::from(question.spans.iter().any(is_first));
        for span in &question.spans {
            count.spans += 1;
            if quotes.iter().any(|fact| holds(span, &fact.citation.path, &fact.citation.bytes)) {
                count.quoted += 1;
                continue;
            }
            let mut close = evidence.condensed.closest.iter().map(|close| &close.fact.citation);
            count.close += usize::from(close.any(|citation| holds(span, &citation.path, &citation.bytes)));
            let pieces = hits.iter().map(|hit| &self.pieces[hit.chunk]);
            let rank = pieces.enumerate().find(|(_, piece)| holds(span, &piece.path, &piece.bytes));
            let why = rank.map(|(at, _)| evidence.sifted.decided[at].reason.join(" "));
            count.misses.push(format!(
                "{:?}\n    wanted: {:?} [{why:?}]\n    got: {:?}",
                question.ask,
                span.text,
                quotes.iter().map(|fact| (fact.coverage, &fact.text)).collect::<Vec<_>>()
            ));
        }
    }
}
