//! The conversation as a run has it.
//! Owns: the numbers that a run's prompt is held to. Must not: begin a conversation, or write to one.

use super::{Ask, Conversation, History, Located, Piece, Recalled};
use crate::embed::{self, Embedder};
use countersign_kernel::history::Decision;
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::history::{self, Pointer};
use countersign_runtime::ports::sources::NotRead;
use std::sync::Arc;

/// Turns that a prompt repeats word for word.
const TURNS: usize = 5;
/// Tokens that what is pointed to may take.
const TOKENS_MAX: u64 = 500;
/// Pieces that may be pointed to.
const ITEMS_MAX: u64 = 20;

/// A conversation that runs may know.
#[derive(Clone)]
pub struct Recalling {
    conversation: Conversation,
    embedder: Arc<dyn Embedder>,
}

impl Recalling {
    /// The conversation, whose index was made by the embedder that is always there.
    #[must_use]
    pub fn new(conversation: Conversation) -> Self {
        Recalling { conversation, embedder: Arc::new(embed::hashed()) }
    }

    fn recall(&self, query: String, injected: &[String]) -> Result<history::Recalled, super::Error> {
        let ask = Ask {
            query,
            turns: TURNS,
            tokens_max: TOKENS_MAX,
            items_max: ITEMS_MAX,
            injected: injected.iter().cloned().collect(),
            ..Ask::default()
        };
        let Recalled { turns, pieces, escalations, .. } =
            History::open(self.conversation.clone())?.recall(&ask, self.embedder.as_ref())?;
        Ok(history::Recalled {
            turns: turns.into_iter().map(|Located { turn, .. }| turn).collect(),
            pointers: pieces.into_iter().filter_map(pointer).collect(),
            troubles: escalations.into_iter().map(|one| one.message).collect(),
        })
    }
}

fn pointer(Piece { item, score, decision, .. }: Piece) -> Option<Pointer> {
    match decision {
        Decision::Kept { .. } => Some(Pointer { id: item.id(), hash: item.hash, score, tags: item.tags }),
        Decision::Dropped(_) => None,
    }
}

impl history::History for Recalling {
    fn recall<'a>(
        &'a self,
        query: &'a str,
        injected: &'a [String],
    ) -> Answer<'a, Result<history::Recalled, NotRead>> {
        let (this, query, injected) = (self.clone(), query.to_owned(), injected.to_vec());
        Box::pin(async move {
            // The disk's time, and the index's, are no time of the runs beside it.
            let read = tokio::task::spawn_blocking(move || this.recall(query, &injected)).await;
            let unread = |code, message| NotRead { code, message };
            match read {
                Ok(recalled) => recalled.map_err(|error| unread(error.code(), error.to_string())),
                Err(error) => {
                    Err(unread(countersign_record::code::Code::HistoryUnreadable, error.to_string()))
                }
            }
        })
    }
}
