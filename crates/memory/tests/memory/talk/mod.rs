//! What the tests of a conversation share: turns, and asking for them.
//! Owns: making both. Must not: look into a file.

use countersign_kernel::history::{Caps, Decision};
use countersign_memory::conversation::{Appended, Ask, Conversation, History, Log, Recalled, Update, update};
use countersign_memory::embed::{self, Embedder};
use countersign_record::digest::Digest;
use countersign_record::json;
use countersign_record::turn::MemoryTurn;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) const CAPS: Caps = Caps { vectors_max: 1_000 };

/// The members of a turn that a test cares for.
#[derive(Clone, Debug)]
pub(crate) struct Said<'a> {
    pub(crate) role: &'a str,
    pub(crate) text: &'a str,
    pub(crate) importance: &'a str,
    pub(crate) file: Option<&'a str>,
}

pub(crate) fn said(text: &str) -> Said<'_> {
    Said { role: "user", text, importance: "0.5", file: None }
}

impl Said<'_> {
    pub(crate) fn turn(&self) -> MemoryTurn {
        let Said { role, text, importance, file } = self;
        let files = file.map(|file| format!("\"{file}\"")).unwrap_or_default();
        let document = format!(
            "{{\"role\":\"{role}\",\"text\":{},\"timestamp\":\"2025-09-07T12:00:01Z\",\"goal\":\"g\",\
             \"importance\":{importance},\"provenance\":{{\"source\":\"{role}\",\"hash\":\"{}\",\
             \"file_refs\":[{files}]}}}}",
            json::to_text(text).unwrap(),
            Digest::of(text.as_bytes())
        );
        MemoryTurn::read(json::parse(document.as_bytes()).unwrap()).unwrap()
    }
}

pub(crate) fn append(conversation: &Conversation, said: &Said<'_>) -> Appended {
    Log::open(conversation).unwrap().0.append(&said.turn()).unwrap()
}

pub(crate) fn append_all(conversation: &Conversation, texts: &[&str]) {
    let mut log = Log::open(conversation).unwrap().0;
    for text in texts {
        log.append(&said(text).turn()).unwrap();
    }
}

pub(crate) fn index(conversation: &Conversation) -> Update {
    update(conversation, &embed::hashed(), CAPS).unwrap()
}

pub(crate) fn ask(query: &str) -> Ask {
    Ask { query: query.into(), turns: 2, tokens_max: 10_000, items_max: 100, ..Ask::default() }
}

pub(crate) fn recall(conversation: &Conversation, ask: &Ask) -> Recalled {
    let mut history = History::open(conversation.clone()).unwrap();
    let recalled = history.recall(ask, &embed::hashed()).unwrap();
    match history.settle() {
        true => history.recall(ask, &embed::hashed()).unwrap(),
        false => recalled,
    }
}

/// The pieces and what became of them, as `line:word`.
pub(crate) fn told(recalled: &Recalled) -> Vec<String> {
    recalled.pieces.iter().map(|piece| format!("{}:{}", piece.item.line, piece.decision.words()[0])).collect()
}

/// The lines of the pieces that are kept.
pub(crate) fn kept(recalled: &Recalled) -> Vec<u64> {
    let is_kept = |decision: &Decision| matches!(decision, Decision::Kept { .. });
    recalled.pieces.iter().filter(|piece| is_kept(&piece.decision)).map(|piece| piece.item.line).collect()
}

pub(crate) fn reasons(recalled: &Recalled) -> Vec<&str> {
    recalled.escalations.iter().map(|one| one.reason.as_str()).collect()
}

/// The real embedder, counted.
pub(crate) struct Counted(pub(crate) embed::Hashed, pub(crate) AtomicU64);

impl Counted {
    pub(crate) fn new() -> Self {
        Counted(embed::hashed(), AtomicU64::new(0))
    }

    pub(crate) fn taken(&self) -> u64 {
        self.1.swap(0, Ordering::Relaxed)
    }
}

impl Embedder for Counted {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn dimension(&self) -> usize {
        self.0.dimension()
    }

    fn embed(&self, text: &str) -> Vec<f32> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.embed(text)
    }
}
