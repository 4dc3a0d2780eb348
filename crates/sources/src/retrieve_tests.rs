//! What is found, in which order, and that nothing in a question is an order to the index.

use super::*;
use countersign_kernel::chunk::{self, chunks};
use countersign_kernel::history::Lexicon;
use countersign_memory::embed;
use proptest::prelude::*;

fn pieces(files: &[(&str, &str)]) -> Vec<Chunk> {
    files.iter().flat_map(|(path, text)| chunks(path, text, chunk::Limits::default())).collect()
}

fn found(question: &str, all: &[Chunk], embedder: Option<Arc<dyn Embedder>>) -> Vec<Hit> {
    let asked = Asked::new(question, &Lexicon::default());
    Index::new(all, embedder).unwrap().retrieve(question, &asked, &Limits::default()).unwrap()
}

fn paths<'a>(hits: &[Hit], all: &'a [Chunk]) -> Vec<&'a str> {
    hits.iter().map(|hit| all[hit.chunk].path.as_str()).collect()
}

const FILES: [(&str, &str); 4] = [
    ("dogs.md", "Dogs bark at night."),
    ("lease.md", "The lease ends in May 2027. The lease was signed."),
    ("contract.md", "The agreement expires in May."),
    ("roof.md", "The roof of the house leaks."),
];

#[test]
fn pieces_are_found_by_words_and_by_other_words() {
    let all = pieces(&FILES);
    let hits = found("When do leases end?", &all, None);
    assert_eq!(paths(&hits, &all), ["lease.md", "contract.md"]);
    assert_eq!((hits[0].bm25_rank, hits[0].embedding_rank), (Some(1), None));
    assert_eq!(hits[0].score, Score::try_from(0.016393).unwrap());
    assert!(found("What is the?", &all, None).is_empty());
    assert!(found("lease", &[], None).is_empty());
}

#[test]
fn two_rankings_are_joined_by_their_ranks() {
    let all = pieces(&FILES);
    let embedder: Arc<dyn Embedder> = Arc::new(embed::hashed());
    let hits = found("the roof leaks", &all, Some(Arc::clone(&embedder)));
    assert_eq!(all[hits[0].chunk].path, "roof.md");
    assert_eq!((hits[0].bm25_rank, hits[0].embedding_rank), (Some(1), Some(1)));
    assert_eq!(hits[0].score, Score::try_from(0.032787).unwrap());
}

#[test]
fn what_ranks_the_same_keeps_its_order() {
    let all = pieces(&[("b.md", "The lease."), ("a.md", "The lease."), ("c.md", "The lease.")]);
    assert_eq!(paths(&found("lease", &all, None), &all), ["b.md", "a.md", "c.md"]);
}

proptest! {
    #[test]
    fn no_question_breaks_the_index(question in "\\PC{0,60}|(\"|\\*|NEAR|AND|OR|NOT|lease|\\(|\\)|:|\\^|-| ){0,20}") {
        let all = pieces(&FILES);
        let embedder: Arc<dyn Embedder> = Arc::new(embed::hashed());
        let hits = found(&question, &all, Some(Arc::clone(&embedder)));
        prop_assert!(hits.iter().all(|hit| hit.chunk < all.len()));
        prop_assert!(hits.is_sorted_by(|one, other| one.score >= other.score));
        prop_assert_eq!(hits, found(&question, &all, Some(Arc::clone(&embedder))));
    }
}
