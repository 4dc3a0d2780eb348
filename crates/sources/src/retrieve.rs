//! Finds the pieces that a question is about: by their words, and by vectors if there is an embedder.
//! Owns: the index of words (SQLite's FTS5, in memory), joining two rankings. Must not: drop a piece for what it says
//! (`countersign-kernel` does), or give another order for the same question.
//!
//! Two rankings are joined by reciprocal ranks (Cormack, Clarke and Büttcher, 2009): a piece counts 1/(60 + rank) in each.
//! Ranks and not scores, because a BM25 and a cosine have no common measure. What ranks the same stays in the order of
//! the pieces.

use countersign_kernel::chunk::Chunk;
use countersign_kernel::relevance::{Asked, Part, is_kin, stem::stem};
use countersign_memory::embed::Embedder;
use countersign_record::canonical::Score;
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The constant of reciprocal rank fusion, as its authors have it.
const FUSION: f64 = 60.0;
/// Terms of a question that are looked for.
const TERMS_MAX: usize = 200;
/// Words that are looked for because they are forms of one, or made with it.
const KIN_MAX: usize = 20;

/// How much is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Pieces that each ranking gives.
    pub each_max: usize,
    /// Pieces that are given back.
    pub hits_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { each_max: 100, hits_max: 50 }
    }
}

/// A piece that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Which of the pieces.
    pub chunk: usize,
    /// Its place by words, from 1.
    pub bm25_rank: Option<usize>,
    /// Its place by vectors, from 1.
    pub embedding_rank: Option<usize>,
    /// The two joined.
    pub score: Score,
}

/// Why nothing could be looked for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The index could not be made or asked.
    #[error("the index of words: {0}")]
    Index(#[from] rusqlite::Error),
}

/// The words of some pieces, and their vectors.
pub struct Index {
    connection: Connection,
    embedder: Option<Arc<dyn Embedder>>,
    vectors: Vec<Vec<f32>>,
    /// How many there are.
    pieces: u64,
}

impl Index {
    /// Takes in the pieces. Without an embedder they are found by words alone.
    ///
    /// # Errors
    /// There is no room for the index.
    pub fn new(chunks: &[Chunk], embedder: Option<Arc<dyn Embedder>>) -> Result<Self, Error> {
        let mut connection = Connection::open_in_memory()?;
        // Words without endings and without marks above letters; the text itself stays with its owner.
        connection.execute_batch(
            "CREATE VIRTUAL TABLE piece USING fts5(
                above, said, opening, content = '', tokenize = 'porter unicode61 remove_diacritics 2'
            );
            CREATE VIRTUAL TABLE vocabulary USING fts5vocab(piece, 'row')",
        )?;
        let transaction = connection.transaction()?;
        {
            let mut insert = transaction
                .prepare("INSERT INTO piece(rowid, above, said, opening) VALUES (?1, ?2, ?3, ?4)")?;
            for (at, chunk) in chunks.iter().enumerate() {
                let above = format!("{} {}", chunk.path, chunk.headings.join(" "));
                insert.execute((
                    i64::try_from(at).unwrap_or(i64::MAX),
                    above,
                    &chunk.text,
                    &chunk.opening,
                ))?;
            }
        }
        transaction.commit()?;
        let embed =
            |embedder: &Arc<dyn Embedder>| chunks.iter().map(|chunk| embedder.embed(&chunk.text)).collect();
        let vectors = embedder.as_ref().map(embed).unwrap_or_default();
        Ok(Index { connection, embedder, vectors, pieces: chunks.len() as u64 })
    }

    /// How many pieces have each word that the question is weighed by, by themselves or above them; the question is weighed
    /// by it.
    ///
    /// # Errors
    /// The index can't be asked.
    pub fn weigh(&self, asked: &mut Asked) -> Result<BTreeMap<String, u64>, Error> {
        let mut ask = self.connection.prepare_cached("SELECT count(*) FROM piece WHERE piece MATCH ?1")?;
        let mut counts = BTreeMap::new();
        let vocabulary = self.vocabulary(asked)?;
        asked.weigh_by(self.pieces, |word| {
            let words = core::iter::once(word).chain(kin(&vocabulary, word));
            let count = ask.query_row([any_of(words)], |row| row.get::<_, i64>(0))?;
            let count = u64::try_from(count).unwrap_or(0);
            counts.insert(word.to_owned(), count);
            Ok::<_, Error>(count)
        })?;
        Ok(counts)
    }

    /// The pieces that a question is about, the best first. What stands in several parts of it counts for each.
    ///
    /// # Errors
    /// The index can't be asked.
    pub fn retrieve(&self, question: &str, asked: &Asked, limits: &Limits) -> Result<Vec<Hit>, Error> {
        let mut found: BTreeMap<usize, (Option<usize>, Option<usize>)> = BTreeMap::new();
        let vocabulary = self.vocabulary(asked)?;
        for part in &asked.parts {
            for (rank, chunk) in (1..).zip(self.by_words(part, &vocabulary, limits.each_max)?) {
                let (by_words, _) = found.entry(chunk).or_default();
                *by_words = Some(by_words.map_or(rank, |known| known.min(rank)));
            }
        }
        for (rank, chunk) in (1..).zip(self.by_vectors(question, limits.each_max)) {
            found.entry(chunk).or_default().1 = Some(rank);
        }
        let mut hits: Vec<Hit> = found.into_iter().map(|(chunk, ranks)| hit(chunk, ranks)).collect();
        hits.sort_by(|one, other| other.score.cmp(&one.score).then(one.chunk.cmp(&other.chunk)));
        hits.truncate(limits.hits_max);
        Ok(hits)
    }

    /// The words of the pieces, for a question whose words are also looked for in others.
    fn vocabulary(&self, asked: &Asked) -> Result<Vec<String>, Error> {
        if !asked.joins_words() {
            return Ok(Vec::new());
        }
        let mut ask = self.connection.prepare_cached("SELECT term FROM vocabulary ORDER BY term")?;
        let words = ask.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
        Ok(words)
    }

    /// The pieces that say the question's own words, then those that only say others which mean much the same.
    fn by_words(&self, part: &Part, vocabulary: &[String], most: usize) -> Result<Vec<usize>, Error> {
        let own = || part.words().flat_map(|word| core::iter::once(word).chain(kin(vocabulary, word)));
        let mut found = self.saying(own(), most)?;
        let more = self.saying(own().chain(part.other_words()), most)?;
        let known: BTreeSet<usize> = found.iter().copied().collect();
        found.extend(more.into_iter().filter(|chunk| !known.contains(chunk)));
        found.truncate(most);
        Ok(found)
    }

    fn saying<'w>(&self, words: impl Iterator<Item = &'w str>, most: usize) -> Result<Vec<usize>, Error> {
        let mut words = words.peekable();
        if words.peek().is_none() {
            return Ok(Vec::new());
        }
        let mut ask = self.connection.prepare_cached(
            "SELECT rowid FROM piece WHERE piece MATCH ?1 ORDER BY bm25(piece, 0.5, 1.0, 0.0), rowid LIMIT ?2",
        )?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = ask
            .query_map((format!("{{above said}} : ({})", any_of(words)), most), |row| row.get::<_, i64>(0))?;
        let mut found = Vec::new();
        for row in rows {
            found.extend(usize::try_from(row?));
        }
        Ok(found)
    }

    fn by_vectors(&self, question: &str, most: usize) -> Vec<usize> {
        let Some(embedder) = &self.embedder else { return Vec::new() };
        let asked = embedder.embed(question);
        let near = |vector: &Vec<f32>| -> f64 {
            // One order of additions, in doubles: the same bits everywhere.
            vector.iter().zip(&asked).map(|(one, other)| f64::from(*one) * f64::from(*other)).sum()
        };
        let mut ranked: Vec<(f64, usize)> = self.vectors.iter().map(near).zip(0..).collect();
        ranked.retain(|(near, _)| *near > 0.0);
        ranked.sort_by(|(one, here), (other, there)| other.total_cmp(one).then(here.cmp(there)));
        ranked.into_iter().take(most).map(|(_, at)| at).collect()
    }
}

/// The words that are forms of one, or made with it.
fn kin<'w>(vocabulary: &'w [String], word: &str) -> impl Iterator<Item = &'w str> {
    let own = stem(word);
    vocabulary.iter().map(String::as_str).filter(move |other| is_kin(&own, other)).take(KIN_MAX)
}

/// Any of these words, each in quotes: none is taken for an operator, and there is no quote in a word.
fn any_of<'w>(words: impl Iterator<Item = &'w str>) -> String {
    words.take(TERMS_MAX).map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" OR ")
}

fn hit(chunk: usize, (bm25_rank, embedding_rank): (Option<usize>, Option<usize>)) -> Hit {
    let part = |rank: Option<usize>| rank.map_or(0.0, |rank| 1.0 / (FUSION + rank as f64));
    let score = Score::try_from(part(bm25_rank) + part(embedding_rank)).unwrap_or(Score::of_halves(0));
    Hit { chunk, bm25_rank, embedding_rank, score }
}

#[cfg(test)]
#[path = "retrieve_tests.rs"]
mod tests;
