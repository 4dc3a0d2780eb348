//! Clears the history: what was said before is not recalled again.
//! Owns: `history_cleared.json`, and emptying the index. Must not: touch the log, which is append-only.

use super::index::{lock, update_under};
use super::published;
use super::{Conversation, Error, FILE_MODE, open_regular, tail};
use crate::embed::Embedder;
use countersign_durable as durable;
use countersign_kernel::history::Caps;
use countersign_record::fields::Fields;
use countersign_record::json::{self, Json, Number, Object};
use std::fs;
use std::io::{self, Read};

const CLEARED: &str = "history_cleared.json";
/// One number.
const CLEARED_BYTES_MAX: u64 = 4_096;

/// Forgets every turn that is in the log now: they are in no index, and in no tail, from here on. Gives back the byte of
/// the log up to which that holds.
///
/// # Errors
/// A file can't be written. As soon as the place is written down, nothing before it is recalled.
pub fn clear(conversation: &Conversation, embedder: &dyn Embedder, caps: Caps) -> Result<u64, Error> {
    let indexing = lock(conversation)?;
    // A record that can't be read is written anew: all that there is now is forgotten.
    let before = cleared_before(conversation).unwrap_or(0);
    let end = match conversation.open_log()? {
        Some((log, length)) => tail::end_of_lines(&log, length)
            .map_err(|error| Error::unreadable(&conversation.log(), &error))?,
        None => 0,
    };
    let place = end.max(before);
    remember(conversation, place)?;
    published::forget_previous(conversation)?;
    // The next generation holds nothing from before; the one that it takes the place of is not kept.
    update_under(&indexing, conversation, embedder, caps)?;
    Ok(place)
}

fn remember(conversation: &Conversation, place: u64) -> Result<(), Error> {
    let path = conversation.file(CLEARED);
    let staged = conversation.file(&format!("{CLEARED}.new"));
    let number = Number::try_from(place).map_or(Json::Null, Json::Number);
    let document = Json::Object(Object::from([("cleared_before_offset", number)]));
    let write = || -> io::Result<()> {
        let text = json::to_text(&document).map_err(io::Error::other)?;
        match fs::remove_file(&staged) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        durable::write_new(&staged, FILE_MODE, format!("{text}\n").as_bytes())?;
        durable::replace(&staged, &path)
    };
    write().map_err(|error| Error::unwritable(&path, &error))
}

/// The byte of the log up to which it was cleared. A record of it that can't be read is an error, never "nothing": what
/// was asked to be forgotten must not come back.
pub(super) fn cleared_before(conversation: &Conversation) -> Result<u64, Error> {
    let path = conversation.file(CLEARED);
    let unusable = |why: String| Error::Cleared { path: path.display().to_string(), why };
    let file = match open_regular(&path) {
        Ok((file, _)) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(unusable(error.to_string())),
    };
    let mut bytes = Vec::new();
    file.take(CLEARED_BYTES_MAX).read_to_end(&mut bytes).map_err(|error| unusable(error.to_string()))?;
    let value = json::parse(&bytes).map_err(|error| unusable(error.to_string()))?;
    let mut fields = Fields::taking(value).map_err(|trouble| unusable(trouble.to_string()))?;
    let place = fields.integer("cleared_before_offset");
    fields.deny_unknown();
    match (place, fields.finish()) {
        (Some(place), Ok(())) => Ok(place),
        (_, Err(troubles)) => Err(unusable(troubles.first().map(ToString::to_string).unwrap_or_default())),
        (None, Ok(())) => Err(unusable("there is no place in it".to_owned())),
    }
}
