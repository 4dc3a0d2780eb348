//! What a run remembers: the matter's conversation, and records of memory.
//! Owns: reading both, and how far they may travel. Must not: put a word of them into an output; outputs name them by id and
//! hash, and whoever writes a prompt reads them again.

use super::Means;
use crate::memory_read::{Recall, Tool, asked, label_of};
use crate::ports::agent::Said;
use crate::ports::history::{History, Recalled};
use crate::ports::ledger::Journal;
use crate::ports::sources::NotRead;
use countersign_kernel::recall::prompt::Prompt;
use countersign_kernel::recall::retrieved;
use countersign_record::access::MatterAccess;
use countersign_record::canonical::Score;
use countersign_record::digest::Digest;
use countersign_record::envelope::HistoryRef;
use countersign_record::json::Number;
use countersign_record::label::Label;
use countersign_record::row::{DataClass, Taint};
use serde::Serialize;
use std::sync::Arc;

/// What a run may remember.
#[derive(Clone)]
pub struct Past {
    /// The matter's conversation.
    pub history: Option<Arc<dyn History>>,
    /// How far that may travel.
    pub history_class: DataClass,
    /// The stores of memory.
    pub stores: Option<Recall>,
    /// Where a read of memory is recorded.
    pub journal: Arc<dyn Journal>,
    /// Who reads.
    pub access: MatterAccess,
}

/// What is remembered, by name.
#[derive(Default, Serialize)]
pub(super) struct Remembered {
    /// Turns that a prompt repeats.
    session_history: Vec<Turned>,
    /// Pieces of earlier turns that it may point to.
    history_pointers: Vec<Pointed>,
    /// Records of memory.
    memory: Vec<Record>,
    /// What a person must know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    troubles: Vec<String>,
}

#[derive(Serialize)]
struct Turned {
    role: &'static str,
    timestamp: String,
    hash: Digest,
}

#[derive(Serialize)]
struct Pointed {
    id: String,
    hash: Digest,
    score: Score,
    tags: Vec<String>,
}

#[derive(Serialize)]
struct Record {
    id: String,
    record_hash: Digest,
    tokens: u64,
}

impl Remembered {
    /// The pieces of the conversation, as a handoff names them.
    pub(super) fn refs(&self) -> Vec<HistoryRef> {
        let one = |pointed: &Pointed| HistoryRef {
            id: pointed.id.clone(),
            hash: pointed.hash,
            score: Some(Number::from(pointed.score)),
        };
        self.history_pointers.iter().map(one).collect()
    }
}

/// What is remembered, word for word, for a prompt.
pub(super) struct Told {
    /// The last turns, and records of memory: a name and the words.
    pub(super) parts: Vec<(String, String)>,
    /// What holds for them.
    pub(super) label: Label,
}

impl Means {
    /// What is remembered about a prompt, by name.
    pub(super) async fn remembered(&self, query: &str, injected: &[String]) -> Result<Remembered, Said> {
        let Recalled { turns, pointers, troubles } = self.conversation(query, injected).await;
        let turned = turns.into_iter().map(|turn| Turned {
            role: turn.role.word(),
            timestamp: turn.timestamp.to_string(),
            hash: turn.provenance.hash,
        });
        let pointed = pointers.into_iter().map(|one| Pointed {
            id: one.id,
            hash: one.hash,
            score: one.score,
            tags: one.tags,
        });
        let mut remembered = Remembered {
            session_history: turned.collect(),
            history_pointers: pointed.collect(),
            memory: Vec::new(),
            troubles,
        };
        if let Some((_, package)) = self.read_memory(query).await? {
            let records = package.selected().map(|one| Record {
                id: retrieved::shown_id(one.memory_id),
                record_hash: one.record_hash,
                tokens: one.tokens,
            });
            remembered.memory.extend(records);
        }
        Ok(remembered)
    }

    /// What is remembered about a prompt, for a model that may know it: what must not leave is not shown to one that is
    /// elsewhere, where it would only end the run.
    pub(super) async fn told(&self, query: &str, injected: &[String]) -> Result<Told, Said> {
        let is_here = self.mind.is_here();
        let mut told = Told { parts: Vec::new(), label: Label::NOTHING };
        if is_here || self.past.history_class != DataClass::LocalOnly {
            let turns = self.conversation(query, injected).await.turns;
            let lines = turns.iter().map(|turn| {
                let text: Vec<&str> = turn.text.split_whitespace().collect();
                (format!("turn {}", turn.timestamp), format!("- {}: {}\n", turn.role.word(), text.join(" ")))
            });
            told.parts.extend(lines);
            if !told.parts.is_empty() {
                told.label = Label { data_class: self.past.history_class, taint: Taint::Unclassified };
            }
        }
        if let Some((recall, package)) = self.read_memory(query).await? {
            let may_be_told =
                |store: &str| is_here || label_of(recall, store).data_class != DataClass::LocalOnly;
            let selected: Vec<_> = package.selected().filter(|one| may_be_told(one.store_path)).collect();
            for one in &selected {
                told.label = told.label.join(label_of(recall, one.store_path));
            }
            if !selected.is_empty() {
                let prompt = retrieved::block(Prompt::new(), selected.into_iter());
                told.parts.push(("memory".to_owned(), prompt.shown().for_model().to_owned()));
            }
        }
        Ok(told)
    }

    /// A conversation that can't be read is none, and that is told.
    async fn conversation(&self, query: &str, injected: &[String]) -> Recalled {
        let Some(history) = &self.past.history else { return Recalled::default() };
        match history.recall(query, injected).await {
            Ok(recalled) => recalled,
            Err(NotRead { message, .. }) => Recalled { troubles: vec![message], ..Recalled::default() },
        }
    }

    /// Records of memory, once the receipt of reading them is durable.
    async fn read_memory(
        &self,
        query: &str,
    ) -> Result<Option<(&Recall, Box<dyn crate::ports::memory::Package>)>, Said> {
        let Some(recall) = self.past.stores.as_ref().filter(|_| !query.trim().is_empty()) else {
            return Ok(None);
        };
        let tool = Tool {
            memory: recall.memory.as_ref(),
            ledger: self.past.journal.as_ref(),
            access: &self.past.access,
            clock: &self.clock,
        };
        match tool.call(&asked(query, recall, None)).await {
            Ok(recorded) => Ok(Some((recall, recorded.package))),
            Err(error) => Err(super::unread(NotRead { code: error.code(), message: error.to_string() })),
        }
    }
}
