//! `memory append|recall|index|clear|status`: the conversation.
//! Owns: where it is, who makes its vectors, and what each command prints. Must not: select, or decide what a turn is.

use crate::cli::Global;
use crate::cli::memory::{Append, Conversing, Dir, Recall};
use crate::failure::{Exit, Failure};
use crate::input;
use crate::office::Rooms;
use crate::output;
use crate::place;
use countersign_kernel::history::{Caps, Index, Lexicon};
use countersign_memory::conversation::{self, Conversation, History, Indexer, Log, Torn, Update};
use countersign_memory::embed::{self, Embedder};
use countersign_memory::lexicon;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::json::{Json, Object};
use countersign_record::turn::MemoryTurn;
use serde::Serialize;
use std::path::Path;

/// Why a turn is kept, where it does not say.
const GOAL: &str = "store_recency_turn";

fn conversation(global: &Global, dir: &Dir) -> Result<Conversation, Failure> {
    let rooms = Rooms::of(global)?;
    Ok(Conversation::at(&dir.dir.clone().unwrap_or_else(|| rooms.logs())))
}

/// The conversation that a command is about which begins none: a directory that was named is there.
fn begun(global: &Global, dir: &Dir) -> Result<Conversation, Failure> {
    match &dir.dir {
        Some(dir) if !dir.is_dir() => {
            let message = format!("{} is no directory", output::plain(&dir.display().to_string()));
            Err(Failure::new(Code::HistoryUnreadable, message))
        }
        Some(_) | None => conversation(global, dir),
    }
}

fn embedder(conversing: &Conversing) -> Result<Box<dyn Embedder>, Failure> {
    embedder_of(conversing.model.as_deref())
}

fn embedder_of(model: Option<&Path>) -> Result<Box<dyn Embedder>, Failure> {
    match model {
        Some(directory) => Ok(embed::load(directory)?),
        None => Ok(Box::new(embed::hashed())),
    }
}

/// What the index may hold: as much as before, if nothing else is said.
fn caps(conversing: &Conversing, before: Option<&Index>) -> Caps {
    let kept = before.map(|index| index.caps).unwrap_or_default();
    conversing.cap.map_or(kept, |vectors_max| Caps { vectors_max })
}

/// A turn is added to the index with the model that made it. Making it anew with another is asked for by `index`.
fn require_same_model(before: Option<&Index>, embedder: &dyn Embedder) -> Result<(), Failure> {
    match before {
        Some(index) if index.made_by().is_some_and(|made_by| made_by != embedder.name()) => {
            let (made_by, given) = (output::plain(&index.embedder), output::plain(embedder.name()));
            let message = format!("the index was made by {made_by}, and this would be {given}");
            Err(Failure::new(Code::HistoryModel, message))
        }
        Some(_) | None => Ok(()),
    }
}

#[derive(Serialize)]
struct Acknowledged {
    offset: u64,
    bytes: u64,
    hash: Digest,
    torn: Option<Mended>,
    /// What had to leave the index, which was full.
    evicted: Vec<String>,
}

/// What was found at the end of the log.
#[derive(Serialize)]
struct Mended {
    offset: u64,
    put_aside: Option<String>,
}

pub(super) fn append(global: &Global, append: &Append) -> Result<Exit, Failure> {
    let turn = turn(global, append)?;
    let conversation = conversation(global, &append.conversing.dir)?;
    // Whatever is wrong with the model is told before the turn is there.
    let indexing = match append.no_index {
        true => None,
        false => Some(Indexing::new(&conversation, &append.conversing)?),
    };
    let (mut log, torn) = Log::open(&conversation)?;
    let appended = log.append(&turn)?;
    drop(log);
    let torn = torn.map(|torn| match torn {
        Torn::Completed { offset } => Mended { offset, put_aside: None },
        Torn::PutAside { offset, path, .. } => Mended { offset, put_aside: Some(path.display().to_string()) },
    });
    let hash = turn.provenance.hash;
    let mut told =
        Acknowledged { offset: appended.offset, bytes: appended.bytes, hash, torn, evicted: Vec::new() };
    if !global.json {
        show_acknowledged(&told)?;
    }
    // The turn is durable, and in text it is acknowledged; its pieces are embedded behind that.
    let indexed = indexing.map_or(Ok(Update::default()), |indexing| indexing.run(conversation));
    if let Ok(update) = &indexed {
        told.evicted.clone_from(&update.evicted);
    }
    match global.json {
        true => output::json(&told)?,
        false => show_evicted(&told.evicted)?,
    }
    let appended_at = |failure: Failure| failure.with_count("appended_at", appended.offset);
    let Update { troubles, .. } = indexed.map_err(appended_at)?;
    if troubles.is_empty() {
        return Ok(Exit::Success);
    }
    let message = format!("the index was made whole again from the log: {}", troubles.join("; "));
    Err(appended_at(Failure::new(Code::HistoryDamaged, message)))
}

fn show_acknowledged(told: &Acknowledged) -> Result<(), Failure> {
    let torn = told.torn.as_ref().map_or(String::new(), |torn| {
        let aside =
            torn.put_aside.as_ref().map_or("completed".to_owned(), |path| format!("put aside as {path}"));
        format!("; a torn line at byte {} was {aside}", torn.offset)
    });
    output::line(&format!("byte {}  {}{torn}", told.offset, told.hash))
}

fn show_evicted(evicted: &[String]) -> Result<(), Failure> {
    evicted.iter().try_for_each(|id| output::line(&format!("{id}  DROPPED:capacity")))
}

/// How what is new gets into the index.
struct Indexing {
    embedder: Box<dyn Embedder>,
    caps: Caps,
    /// Why it can't be known how the index was made: then it is left as it is.
    unknown: Option<String>,
}

impl Indexing {
    fn new(conversation: &Conversation, conversing: &Conversing) -> Result<Self, Failure> {
        let embedder = embedder(conversing)?;
        let (before, unknown) = match conversation::described(conversation) {
            Ok(before) => (before, None),
            Err(why) => (None, Some(why)),
        };
        require_same_model(before.as_ref(), embedder.as_ref())?;
        Ok(Indexing { embedder, caps: caps(conversing, before.as_ref()), unknown })
    }

    fn run(self, conversation: Conversation) -> Result<Update, Failure> {
        let Indexing { embedder, caps, unknown } = self;
        if let Some(why) = unknown {
            let message =
                format!("{why}; make the index anew with `memory index`, and name its model if it had one");
            return Err(Failure::new(Code::HistoryDamaged, message));
        }
        let indexer = Indexer::start(conversation, embedder, caps).map_err(|error| {
            Failure::new(Code::HistoryUnwritable, format!("no thread for the index: {error}"))
        })?;
        indexer.nudge();
        Ok(indexer.finish().unwrap_or_else(|| Ok(Update::default()))?)
    }
}

/// The turn that is asked for: a text with a role, or a document whose missing members are filled in.
fn turn(global: &Global, append: &Append) -> Result<MemoryTurn, Failure> {
    let mut object = match append.role {
        Some(role) => Object::from([("role", role.word().into()), ("text", spoken(&append.file)?.into())]),
        None => match input::discreet_document(&append.file)? {
            Json::Object(object) => object,
            other => {
                let message = format!("a turn is an object, and this is {}", other.kind());
                return Err(Failure::new(Code::FieldWrongType, message));
            }
        },
    };
    if let Some(importance) = &append.importance {
        object.insert("importance", countersign_record::json::parse(importance.as_bytes())?);
    }
    if !append.tag.is_empty() {
        let tags = object.remove("tags");
        object.insert("tags", joined(tags, &append.tag));
    }
    if object.get("timestamp").is_none() {
        let now = place::clock(global)?.now();
        let now = now.map_err(|error| Failure::new(Code::TimeInvalid, error.to_string()))?;
        object.insert("timestamp", now.to_string());
    }
    if object.get("goal").is_none() {
        object.insert("goal", GOAL);
    }
    if object.get("provenance").is_none() {
        let (role, text) = (object.get("role"), object.get("text").and_then(Json::as_str));
        let hash = Digest::of(text.unwrap_or_default().as_bytes()).to_string();
        let provenance = Object::from([
            ("source", role.cloned().unwrap_or(Json::Null)),
            ("hash", hash.into()),
            ("file_refs", Json::Array(Vec::new())),
        ]);
        object.insert("provenance", provenance);
    }
    if !append.about.is_empty()
        && let Some(Json::Object(mut provenance)) = object.remove("provenance")
    {
        let files = provenance.remove("file_refs");
        provenance.insert("file_refs", joined(files, &append.about));
        object.insert("provenance", provenance);
    }
    MemoryTurn::read(Json::Object(object)).map_err(|troubles| {
        let code = troubles.first().map_or(Code::FieldInvalid, |trouble| trouble.code);
        Failure::troubles(code, "the turn", &troubles)
    })
}

/// A list with more words in it; what is no list stays as it is, to be refused.
fn joined(list: Option<Json>, more: &[String]) -> Json {
    let more = more.iter().map(|word| Json::from(word.as_str()));
    match list {
        None => Json::Array(more.collect()),
        Some(Json::Array(mut list)) => {
            list.extend(more);
            Json::Array(list)
        }
        Some(other) => other,
    }
}

/// The text alone; the end of its last line is the file's, not the speaker's.
fn spoken(file: &str) -> Result<String, Failure> {
    let text = input::text(file)?;
    let said = text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n'));
    Ok(said.unwrap_or(&text).to_owned())
}

pub(super) fn recall(global: &Global, recall: &Recall) -> Result<Exit, Failure> {
    let conversation = begun(global, &recall.dir)?;
    let embedder = embedder_of(recall.model.as_deref())?;
    let lexicon = match &recall.aliases {
        Some(path) => lexicon::read(path)?,
        None => Lexicon::default(),
    };
    let ask = conversation::Ask {
        query: recall.query.clone(),
        turns: usize::from(recall.turns),
        tokens_max: recall.tokens,
        items_max: recall.items,
        off: recall.off.iter().cloned().collect(),
        injected: recall.inject.iter().cloned().collect(),
        is_locked: recall.lock,
        lexicon,
    };
    let mut history = History::open(conversation)?;
    let mut recalled = history.recall(&ask, embedder.as_ref())?;
    // The process ends here, so it is the last chance to hear that the bytes were changed.
    if history.settle() {
        recalled = history.recall(&ask, embedder.as_ref())?;
    }
    if global.json {
        super::recalled::envelope(global, &recalled)?;
    } else {
        super::recalled::text(&recalled)?;
    }
    Ok(if recalled.escalations.is_empty() { Exit::Success } else { Exit::Waiting })
}

#[derive(Serialize)]
struct Indexed<'a> {
    generation: u64,
    count: u64,
    embedded: u64,
    evicted: &'a [String],
    bad_lines: Vec<Bad>,
    bad_count: u64,
    troubles: &'a [String],
    rebuilt: Option<&'a str>,
}

#[derive(Serialize)]
struct Bad {
    line: u64,
    offset: u64,
    why: String,
}

pub(super) fn index(global: &Global, conversing: &Conversing) -> Result<Exit, Failure> {
    let conversation = begun(global, &conversing.dir)?;
    let embedder = embedder(conversing)?;
    let progress = output::progress(global, "embedding what is new".to_owned());
    let caps = caps(conversing, conversation::described(&conversation).ok().flatten().as_ref());
    let update = conversation::update(&conversation, embedder.as_ref(), caps)?;
    progress.finish_and_clear();
    show_update(global, &update)?;
    let is_well = update.bad.count == 0 && update.troubles.is_empty();
    Ok(if is_well { Exit::Success } else { Exit::Waiting })
}

fn show_update(global: &Global, update: &Update) -> Result<(), Failure> {
    let Update { generation, count, embedded, evicted, bad, rebuilt, troubles } = update;
    if global.json {
        let bad = |bad: &countersign_kernel::history::BadLine| Bad {
            line: bad.line,
            offset: bad.offset,
            why: bad.why.clone(),
        };
        return output::json(&Indexed {
            generation: *generation,
            count: *count,
            embedded: *embedded,
            evicted,
            bad_lines: update.bad.first.iter().map(bad).collect(),
            bad_count: update.bad.count,
            troubles,
            rebuilt: rebuilt.as_deref(),
        });
    }
    let vectors = output::count(*count, "vector");
    output::line(&format!("generation {generation}: {vectors}, {embedded} new, {} evicted", evicted.len()))?;
    if let Some(why) = rebuilt {
        output::line(&format!("the index was made anew: {}", output::plain(why)))?;
    }
    show_evicted(evicted)?;
    troubles.iter().try_for_each(|why| output::line(&format!("trouble  {}", output::plain(why))))?;
    bad.first.iter().try_for_each(|bad| {
        output::line(&format!("line {}, byte {}: {}", bad.line, bad.offset, output::plain(&bad.why)))
    })
}

#[derive(Serialize)]
struct Cleared {
    cleared_before_offset: u64,
}

pub(super) fn clear(global: &Global, dir: &Dir, yes: bool) -> Result<Exit, Failure> {
    if !yes {
        let message = "clearing forgets every turn up to now, for good: say --yes if that is meant";
        return Err(Failure::new(Code::UsageInvalid, message));
    }
    let conversation = begun(global, dir)?;
    let place = conversation::clear(&conversation)?;
    match global.json {
        true => output::json(&Cleared { cleared_before_offset: place })?,
        false => output::line(&format!("cleared up to byte {place} of the conversation"))?,
    }
    Ok(Exit::Success)
}

#[derive(Serialize)]
struct Standing<'a> {
    log: Standings,
    cleared_before_offset: u64,
    index: Option<&'a countersign_kernel::history::Index>,
    is_previous: bool,
    pending_bytes: u64,
    troubles: &'a [String],
}

#[derive(Serialize)]
struct Standings {
    bytes: u64,
    lines: u64,
    torn_bytes: u64,
}

pub(super) fn status(global: &Global, dir: &Dir) -> Result<Exit, Failure> {
    let conversation = begun(global, dir)?;
    let status = conversation::status(&conversation)?;
    let log = Standings { bytes: status.log_bytes, lines: status.log_lines, torn_bytes: status.torn_bytes };
    let bad_lines = status.index.as_ref().map_or(0, |index| index.bad_lines.count);
    let is_well = status.troubles.is_empty() && bad_lines == 0;
    let standing = Standing {
        log,
        cleared_before_offset: status.cleared_before_offset,
        index: status.index.as_ref(),
        is_previous: status.is_previous,
        pending_bytes: status.pending_bytes,
        troubles: &status.troubles,
    };
    if global.json {
        output::json(&standing)?;
    } else {
        show_status(&standing)?;
    }
    Ok(if is_well { Exit::Success } else { Exit::Waiting })
}

fn show_status(standing: &Standing<'_>) -> Result<(), Failure> {
    let Standing { log, index, .. } = standing;
    output::line(&format!("log      {}, {} bytes", output::count(log.lines, "line"), log.bytes))?;
    if log.torn_bytes > 0 {
        output::line(&format!("         {} bytes after the last whole line", log.torn_bytes))?;
    }
    output::line(&format!("cleared  up to byte {}", standing.cleared_before_offset))?;
    match index {
        Some(index) => {
            let which = if standing.is_previous { " (the one before the newest)" } else { "" };
            output::line(&format!("index    generation {}{which}", index.generation))?;
            output::line(&format!(
                "         {} of at most {}, {} evicted, made by {}",
                output::count(index.count, "vector"),
                index.caps.vectors_max,
                index.evicted,
                output::plain(&index.embedder)
            ))?;
            output::line(&format!("         {}", output::count(index.bad_lines.count, "bad line")))?;
        }
        None => output::line("index    none yet")?,
    }
    output::line(&format!("pending  {} bytes", standing.pending_bytes))?;
    standing.troubles.iter().try_for_each(|why| output::line(&format!("trouble  {}", output::plain(why))))
}
