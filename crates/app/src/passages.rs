//! The pieces of some texts that a question is about.
//! Owns: cutting, indexing and asking them, once for the same texts. Must not: read a file.

use countersign_kernel::chunk::{self, Chunk, chunks};
use countersign_kernel::history::Lexicon;
use countersign_kernel::relevance;
use countersign_memory::embed;
use countersign_runtime::ports::sources::{Eligible, Hit, Retrieved};
use countersign_sources::retrieve::{self, Index};
use std::sync::{Arc, Mutex, PoisonError};

/// What was looked through last: one run asks several questions of the same files.
#[derive(Default)]
pub(crate) struct Passages(Mutex<Option<Arc<Looked>>>);

struct Looked {
    files: Vec<Eligible>,
    chunks: Vec<Chunk>,
    index: Mutex<Index>,
    unread: Vec<(String, String)>,
}

impl Passages {
    /// The pieces that a question is about; `text` gives the text of a file, or why there is none.
    pub(crate) fn retrieve(
        &self,
        question: &str,
        files: &[Eligible],
        text: impl Fn(&Eligible) -> Result<String, String>,
    ) -> Result<Retrieved, retrieve::Error> {
        let looked = self.looked(files, text)?;
        let index = looked.index.lock().unwrap_or_else(PoisonError::into_inner);
        let mut asked = relevance::Asked::new(question, &Lexicon::default());
        let counts = index.weigh(&mut asked)?;
        let hits = index.retrieve(question, &asked, &retrieve::Limits::default())?;
        let hit = |found: retrieve::Hit| {
            let retrieve::Hit { chunk, bm25_rank, embedding_rank, score } = found;
            Some(Hit { chunk: looked.chunks.get(chunk)?.clone(), bm25_rank, embedding_rank, score })
        };
        Ok(Retrieved {
            pieces: looked.chunks.len() as u64,
            counts,
            hits: hits.into_iter().filter_map(hit).collect(),
            unread: looked.unread.clone(),
        })
    }

    fn looked(
        &self,
        files: &[Eligible],
        text: impl Fn(&Eligible) -> Result<String, String>,
    ) -> Result<Arc<Looked>, retrieve::Error> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(looked) = last.as_ref().filter(|looked| looked.files == files) {
            return Ok(Arc::clone(looked));
        }
        let (mut pieces, mut unread) = (Vec::new(), Vec::new());
        for file in files {
            match text(file) {
                Ok(text) => pieces.extend(chunks(&file.path, &text, chunk::Limits::default())),
                Err(why) => unread.push((file.path.clone(), why)),
            }
        }
        let index = Mutex::new(Index::new(&pieces, Some(Arc::new(embed::hashed())))?);
        let looked = Arc::new(Looked { files: files.to_vec(), chunks: pieces, index, unread });
        *last = Some(Arc::clone(&looked));
        Ok(looked)
    }
}
