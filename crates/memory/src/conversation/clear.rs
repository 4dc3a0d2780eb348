//! Clears the history: what was said before is not recalled again.
//! Owns: `history_cleared.json`, and emptying the index. Must not: touch the log, which is append-only.

use super::index::lock;
use super::{Conversation, Error, FILE_MODE, Log, lines, open_regular, published};
use crate::snapshot::Table;
use countersign_durable::{self as durable, Lock};
use countersign_kernel::history::index::NO_EMBEDDER;
use countersign_kernel::history::{BadLines, Caps, Index, Indexed};
use countersign_record::digest::Digest;
use countersign_record::fields::Fields;
use countersign_record::json::{self, Json, Number, Object};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};

const CLEARED: &str = "history_cleared.json";
/// One number.
const CLEARED_BYTES_MAX: u64 = 4_096;

/// Forgets every turn that is in the log now: they are in no index, and in no tail, from here on. Gives back the byte of
/// the log up to which that holds.
///
/// # Errors
/// A file can't be written. As soon as the place is written down, nothing before it is recalled.
pub fn clear(conversation: &Conversation) -> Result<u64, Error> {
    let indexing = lock(conversation)?;
    // Nobody appends meanwhile, and what a crash left at the end is mended: it must not become a turn after this.
    let (log, _) = Log::open(conversation)?;
    let (place, landmark) = (log.length(), log.landmark()?);
    remember(conversation, place, landmark)?;
    published::forget_previous(conversation)?;
    empty(&indexing, conversation, &log)?;
    Ok(place)
}

/// Publishes a generation that holds nothing. It needs no embedder: there is nothing to compare.
fn empty(_lock: &Lock, conversation: &Conversation, log: &Log) -> Result<(), Error> {
    published::settle(conversation)?;
    let before = published::open(conversation, &BTreeSet::new()).published.map(|published| published.index);
    let index = Index {
        version: Index::version(),
        generation: published::newest_generation(conversation).saturating_add(1),
        count: 0,
        dimension: 1,
        embedder: before.as_ref().map_or_else(|| NO_EMBEDDER.to_owned(), |before| before.embedder.clone()),
        sha256: Digest::of(b""),
        caps: before.map_or_else(Caps::default, |before| before.caps),
        indexed: Indexed { bytes: log.length(), lines: log.lines()?, landmark: log.landmark()? },
        cleared_before_offset: log.length(),
        evicted: 0,
        bad_lines: BadLines::default(),
    };
    let table = Table { ids: &[], meta: &[], vectors: &[], dimension: 1 };
    published::publish(conversation, index, &table, None).map(drop)
}

fn remember(conversation: &Conversation, place: u64, landmark: Digest) -> Result<(), Error> {
    let path = conversation.file(CLEARED);
    let staged = conversation.file(&format!("{CLEARED}.new"));
    let number = Number::try_from(place).map_or(Json::Null, Json::Number);
    let landmark = landmark.to_string();
    let document =
        Json::Object(Object::from([("cleared_before_offset", number), ("landmark", landmark.into())]));
    let write = || -> io::Result<()> {
        let text = json::to_text(&document).map_err(io::Error::other)?;
        durable::remove(&staged)?;
        durable::write_new(&staged, FILE_MODE, format!("{text}\n").as_bytes())?;
        durable::replace(&staged, &path)
    };
    write().map_err(|error| Error::unwritable(&path, &error))
}

/// The log, its length at this moment, and the byte up to which it was cleared.
pub(super) fn opened(conversation: &Conversation) -> Result<(Option<(File, u64)>, u64), Error> {
    let log = conversation.open_log()?;
    match cleared_before(conversation, log.as_ref()) {
        Ok(place) => Ok((log, place)),
        // Somebody may have appended and cleared between the two looks.
        Err(Error::Cleared { .. }) => {
            let log = conversation.open_log()?;
            let place = cleared_before(conversation, log.as_ref())?;
            Ok((log, place))
        }
        Err(error) => Err(error),
    }
}

/// The byte of the log up to which it was cleared. A record of it that can't be read, or that is of another log, is an
/// error, never "nothing": what was asked to be forgotten must not come back.
fn cleared_before(conversation: &Conversation, log: Option<&(File, u64)>) -> Result<u64, Error> {
    let path = conversation.file(CLEARED);
    let unusable = |why: String| Error::Cleared { path: path.display().to_string(), why };
    let file = match open_regular(&path) {
        Ok((file, _)) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(unusable(error.to_string())),
    };
    let mut bytes = Vec::new();
    file.take(CLEARED_BYTES_MAX).read_to_end(&mut bytes).map_err(|error| unusable(error.to_string()))?;
    let value = json::parse(&bytes).map_err(|error| unusable(error.without_text()))?;
    let mut fields = Fields::taking(value).map_err(|trouble| unusable(trouble.to_string()))?;
    let place = fields.integer("cleared_before_offset");
    let landmark = fields.parse("landmark", |text| Digest::try_from(text));
    fields.deny_unknown();
    let (Ok(()), Some(place), Some(landmark)) = (fields.finish(), place, landmark) else {
        return Err(unusable("it does not say up to where".to_owned()));
    };
    let is_same = match log {
        Some((log, length)) => lines::has_landmark(log, *length, place, landmark),
        None => Ok(place == 0),
    };
    match is_same {
        Ok(true) => Ok(place),
        Ok(false) => Err(unusable("the log is not the one that was cleared".to_owned())),
        Err(error) => Err(Error::unreadable(&conversation.log(), &error)),
    }
}
