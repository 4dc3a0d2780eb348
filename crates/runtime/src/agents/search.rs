//! Searches that one stage does and later stages judge: which pieces were found, by their places.
//! Owns: writing and reading them, and the pieces themselves, cut again from the very files. Must not: trust an envelope; a
//! piece that is not there as it says is none.

use super::evidence::list;
use super::{Means, unread};
use crate::ports::agent::Said;
use crate::ports::sources::{Eligible, Hit, Retrieved};
use countersign_kernel::chunk::{self, Chunk, chunks};
use countersign_kernel::history::Lexicon;
use countersign_kernel::relevance::Asked;
use countersign_record::canonical::Score;
use countersign_record::digest::Digest;
use countersign_record::state::GenericEnvelope;
use serde::Serialize;
use std::collections::BTreeMap;

/// Where searches stand.
pub(super) const KEY: &str = "retrieval";

/// What was found for one question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Search {
    pub(super) query: String,
    /// How many pieces there are.
    pub(super) pieces: u64,
    /// How many of them have each word of the question: what it is weighed by.
    pub(super) counts: BTreeMap<String, u64>,
    pub(super) hits: Vec<Place>,
    /// Files that could not be looked through, and why.
    pub(super) unread: Vec<[String; 2]>,
}

/// Where a piece stands that was found, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Place {
    pub(super) path: String,
    pub(super) first_line: usize,
    pub(super) last_line: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    /// SHA-256 of the piece.
    pub(super) sha256: Digest,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bm25_rank: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) embedding_rank: Option<usize>,
    pub(super) score: Score,
}

impl Place {
    fn of(hit: &Hit) -> Self {
        let Hit { chunk, bm25_rank, embedding_rank, score } = hit;
        Place {
            path: chunk.path.clone(),
            first_line: chunk.first_line,
            last_line: chunk.last_line,
            start: chunk.bytes.start,
            end: chunk.bytes.end,
            sha256: chunk.sha256,
            bm25_rank: *bm25_rank,
            embedding_rank: *embedding_rank,
            score: *score,
        }
    }
}

impl Search {
    pub(super) fn of(query: &str, retrieved: &Retrieved) -> Self {
        let unread = retrieved.unread.iter().map(|(path, why)| [path.clone(), why.clone()]);
        Search {
            query: query.to_owned(),
            pieces: retrieved.pieces,
            counts: retrieved.counts.clone(),
            hits: retrieved.hits.iter().map(Place::of).collect(),
            unread: unread.collect(),
        }
    }
}

/// The question, weighed by how many pieces have its words.
pub(super) fn asked(query: &str, pieces: u64, counts: &BTreeMap<String, u64>) -> Asked {
    let mut asked = Asked::new(query, &Lexicon::default());
    let count = |word: &str| Ok::<_, std::convert::Infallible>(counts.get(word).copied().unwrap_or(0));
    match asked.weigh_by(pieces, count) {
        Ok(()) => asked,
        Err(never) => match never {},
    }
}

/// A search of an earlier stage, with the pieces themselves.
pub(super) struct Found {
    pub(super) query: String,
    pub(super) pieces: u64,
    pub(super) asked: Asked,
    pub(super) chunks: Vec<Chunk>,
    pub(super) unread: Vec<[String; 2]>,
}

impl Means {
    /// The searches of an earlier stage. Pieces of files that are not eligible, or that are not there any more as they were
    /// found, are left out, and so is what they would have said.
    pub(super) async fn found(
        &self,
        envelope: &GenericEnvelope,
        files: &[Eligible],
    ) -> Result<Vec<Found>, Said> {
        let mut cut: BTreeMap<String, Vec<Chunk>> = BTreeMap::new();
        let mut all = Vec::new();
        for read in searches(envelope) {
            let mut found = Vec::new();
            for (path, start, sha256) in read.hits {
                let Some(file) = files.iter().find(|file| file.path == path) else { continue };
                if !cut.contains_key(&path) {
                    let text = match &self.sources {
                        Some(sources) => sources.text(file).await.map_err(unread)?,
                        None => String::new(),
                    };
                    cut.insert(path.clone(), chunks(&path, &text, chunk::Limits::default()));
                }
                let pieces = cut.get(&path).map(Vec::as_slice).unwrap_or_default();
                let piece = pieces.iter().find(|one| one.bytes.start as u64 == start && one.sha256 == sha256);
                found.extend(piece.cloned());
            }
            all.push(Found {
                asked: asked(&read.query, read.pieces, &read.counts),
                query: read.query,
                pieces: read.pieces,
                chunks: found,
                unread: read.unread,
            });
        }
        Ok(all)
    }
}

struct Read {
    query: String,
    pieces: u64,
    counts: BTreeMap<String, u64>,
    hits: Vec<(String, u64, Digest)>,
    unread: Vec<[String; 2]>,
}

fn searches(envelope: &GenericEnvelope) -> Vec<Read> {
    list(envelope, &[KEY], "searches", |fields| {
        let (query, pieces) = (fields.text("query"), fields.integer("pieces"));
        let counts = fields.free_object("counts")?;
        let counts = counts.iter().filter_map(|(word, count)| match count {
            countersign_record::json::Json::Number(count) => Some((word.to_owned(), count.as_u64()?)),
            _ => None,
        });
        let hits = fields.objects("hits", |hit| {
            let (path, start) = (hit.text("path"), hit.integer("start"));
            let sha256 = hit.parse("sha256", |text| Digest::try_from(text));
            Some((path?, start?, sha256?))
        });
        Some(Read {
            query: query?,
            pieces: pieces?,
            counts: counts.collect(),
            hits: hits?,
            unread: pairs(fields.peek("unread")),
        })
    })
}

fn pairs(value: Option<&countersign_record::json::Json>) -> Vec<[String; 2]> {
    let Some(countersign_record::json::Json::Array(items)) = value else { return Vec::new() };
    let pair = |item: &countersign_record::json::Json| match item {
        countersign_record::json::Json::Array(pair) => match pair.as_slice() {
            [one, other] => Some([one.as_str()?.to_owned(), other.as_str()?.to_owned()]),
            _ => None,
        },
        _ => None,
    };
    items.iter().filter_map(pair).collect()
}
