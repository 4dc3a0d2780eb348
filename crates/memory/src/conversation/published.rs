//! The published index: the vectors, what is known of them, and the generation before.
//! Owns: the order in which files are staged and renamed, and which pair of files belongs together. Must not: leave a
//! reader with half a generation, or give up one that is whole for one that is not.
//!
//! Two files can't be renamed at once. Both are staged first; the vectors get their name, then their description. Who
//! looks in between finds new vectors, whose generation stands in the file, and their description still staged.

use super::{Conversation, Error, FILE_MODE, open_regular};
use crate::snapshot::{self, Snapshot, Table};
use countersign_durable as durable;
use countersign_kernel::history::Index;
use countersign_record::digest::Digest;
use countersign_record::json;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

const STORE: &str = "history_store.pkl";
const STORE_STAGED: &str = "history_store_dynamic.pkl";
const STORE_PREVIOUS: &str = "history_store_previous.pkl";
const META: &str = "history_index_meta.json";
const META_STAGED: &str = "history_index_meta_dynamic.json";
const META_PREVIOUS: &str = "history_index_meta_previous.json";

/// The second name of a file on its way to its place.
const LINKED: &str = ".new";
/// How often a reader looks again before it believes that something is damaged.
const LOOKS_MAX: usize = 8;
/// A description is small; a hostile one is not read to its end.
const META_BYTES_MAX: u64 = 1024 * 1024;

/// A generation that can be used.
#[derive(Clone, Debug)]
pub(super) struct Published {
    pub(super) index: Index,
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) place: Place,
}

/// Which of the two generations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Current,
    Previous,
}

/// What there is.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) published: Option<Published>,
    /// Why a newer one can't be used.
    pub(super) troubles: Vec<String>,
}

/// What is said of the newest generation that can be used; `None` if there never was one.
///
/// # Errors
/// There was one, and nothing of it can be used.
pub fn described(conversation: &Conversation) -> Result<Option<Index>, String> {
    let Found { published, troubles } = open(conversation, &BTreeSet::new());
    match published {
        Some(published) => Ok(Some(published.index)),
        None if troubles.is_empty() => Ok(None),
        None => Err(troubles.join("; ")),
    }
}

/// Opens the newest generation that is whole. Those whose bytes were found not to be what was published are named by
/// `distrusted`.
pub(super) fn open(conversation: &Conversation, distrusted: &BTreeSet<Digest>) -> Found {
    let mut found = open_once(conversation, distrusted);
    // A generation may have been published between looking at one file and at the other: then a second look agrees.
    for _ in 0..LOOKS_MAX {
        if found.troubles.is_empty() {
            break;
        }
        let again = open_once(conversation, distrusted);
        let is_settled = again.troubles == found.troubles;
        found = again;
        if is_settled {
            break;
        }
    }
    found
}

fn open_once(conversation: &Conversation, distrusted: &BTreeSet<Digest>) -> Found {
    let mut found = Found::default();
    let descriptions: Vec<Result<Index, String>> = [META, META_STAGED, META_PREVIOUS]
        .into_iter()
        .filter_map(|name| describe(conversation, name))
        .collect();
    let is_there = |name| conversation.file(name).symlink_metadata().is_ok();
    let is_anything = !descriptions.is_empty() || is_there(STORE);
    for (name, place) in [(STORE, Place::Current), (STORE_PREVIOUS, Place::Previous)] {
        // There need not have been one before.
        if !is_anything || (place == Place::Previous && !is_there(name)) {
            break;
        }
        match pair(conversation, name, &descriptions, distrusted) {
            Ok((index, snapshot)) => {
                found.published = Some(Published { index, snapshot: Arc::new(snapshot), place });
                break;
            }
            // One description that is damaged may be all that is known of both.
            Err(why) if found.troubles.contains(&why) => {}
            Err(why) => found.troubles.push(why),
        }
    }
    found
}

fn pair(
    conversation: &Conversation,
    name: &str,
    descriptions: &[Result<Index, String>],
    distrusted: &BTreeSet<Digest>,
) -> Result<(Index, Snapshot), String> {
    let snapshot = Snapshot::open(&conversation.file(name)).map_err(|refusal| refusal.to_string())?;
    let is_of = |index: &&Index| {
        Some(index.generation) == snapshot.generation()
            && index.count == snapshot.count() as u64
            && index.dimension == snapshot.dimension() as u64
    };
    let known = || descriptions.iter().flatten();
    match known().filter(is_of).find(|index| !distrusted.contains(&index.sha256)) {
        Some(index) => Ok((index.clone(), snapshot)),
        None if known().any(|index| is_of(&index)) => {
            Err(format!("{name} has not the SHA-256 that it was published with"))
        }
        None if known().next().is_some() => Err(format!("{name}: no description is of this generation")),
        None => Err(descriptions
            .iter()
            .find_map(|read| read.clone().err())
            .unwrap_or_else(|| format!("{META} is not there"))),
    }
}

/// Reads a description; `None` if it is not there.
fn describe(conversation: &Conversation, name: &str) -> Option<Result<Index, String>> {
    let read = || -> io::Result<Vec<u8>> {
        let (file, _) = open_regular(&conversation.file(name))?;
        let mut bytes = Vec::new();
        file.take(META_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = match read() {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => return Some(Err(format!("{name}: {error}"))),
    };
    let index = json::parse(&bytes).map_err(|error| format!("{name}: {error}")).and_then(|value| {
        Index::read(value).map_err(|troubles| match troubles.first() {
            Some(trouble) => format!("{name}: {trouble}"),
            None => format!("{name} describes no index"),
        })
    });
    Some(index)
}

/// The greatest generation that any file speaks of: the next one must not be taken for an older one.
pub(super) fn newest_generation(conversation: &Conversation) -> u64 {
    let described = [META, META_STAGED, META_PREVIOUS]
        .into_iter()
        .filter_map(|name| describe(conversation, name)?.ok())
        .map(|index| index.generation);
    let stored = [STORE, STORE_PREVIOUS]
        .into_iter()
        .filter_map(|name| Snapshot::open(&conversation.file(name)).ok()?.generation());
    described.chain(stored).max().unwrap_or(0)
}

/// Ends what a writer that was killed had begun: vectors have their name, but their description is still staged.
pub(super) fn settle(conversation: &Conversation) -> Result<(), Error> {
    let Some(Ok(staged)) = describe(conversation, META_STAGED) else { return Ok(()) };
    let generation = Snapshot::open(&conversation.file(STORE)).ok().and_then(|store| store.generation());
    let meta = conversation.file(META);
    if generation == Some(staged.generation) {
        durable::replace(&conversation.file(META_STAGED), &meta)
            .map_err(|error| Error::unwritable(&meta, &error))?;
    }
    Ok(())
}

/// Opens the newest generation whose bytes are those that were published; all of them are read.
pub(super) fn open_sound(conversation: &Conversation) -> Found {
    let mut distrusted = BTreeSet::new();
    loop {
        let found = open(conversation, &distrusted);
        match &found.published {
            Some(Published { index, snapshot, .. }) if snapshot.verify(index.sha256).is_err() => {
                distrusted.insert(index.sha256);
            }
            Some(_) | None => return found,
        }
    }
}

/// Publishes a generation. `index` gets the SHA-256 of what was written. The one before is kept if it is `whole`.
pub(super) fn publish(
    conversation: &Conversation,
    mut index: Index,
    table: &Table<'_>,
    whole: Option<Place>,
) -> Result<Index, Error> {
    let [store, store_staged, meta, meta_staged] =
        [STORE, STORE_STAGED, META, META_STAGED].map(|name| conversation.file(name));
    let unwritable = |path: &Path| {
        let path = path.to_path_buf();
        move |error: io::Error| Error::unwritable(&path, &error)
    };
    let mut file =
        BufWriter::with_capacity(1 << 20, create(&store_staged).map_err(unwritable(&store_staged))?);
    index.sha256 = snapshot::write_generation(table, index.generation, &mut file)
        .map_err(|error| Error::Index { why: error.to_string() })?;
    sync(file).map_err(unwritable(&store_staged))?;
    let text = json::to_text(&index).map_err(|error| Error::Index { why: error.to_string() })?;
    let write = || -> io::Result<()> {
        let mut file = BufWriter::new(create(&meta_staged)?);
        file.write_all(text.as_bytes())?;
        file.write_all(b"\n")?;
        sync(file)
    };
    write().map_err(unwritable(&meta_staged))?;
    // Both names are durable before the first of them changes its place.
    durable::sync_dir(conversation.dir()).map_err(unwritable(&meta_staged))?;
    if whole == Some(Place::Current) {
        keep(conversation, STORE, STORE_PREVIOUS).map_err(unwritable(&store))?;
        keep(conversation, META, META_PREVIOUS).map_err(unwritable(&meta))?;
    }
    durable::replace(&store_staged, &store).map_err(unwritable(&store))?;
    durable::replace(&meta_staged, &meta).map_err(unwritable(&meta))?;
    Ok(index)
}

/// Removes the generation before: what was cleared must not come back from there.
pub(super) fn forget_previous(conversation: &Conversation) -> Result<(), Error> {
    let linked = [STORE_PREVIOUS, META_PREVIOUS].map(|name| format!("{name}{LINKED}"));
    let names = [STORE_PREVIOUS, META_PREVIOUS, STORE_STAGED, META_STAGED];
    for name in names.into_iter().chain(linked.iter().map(String::as_str)) {
        let path = conversation.file(name);
        durable::remove(&path).map_err(|error| Error::unwritable(&path, &error))?;
    }
    let dir = conversation.dir();
    durable::sync_dir(dir).map_err(|error| Error::unwritable(dir, &error))
}

/// Gives a file a second name, in the place of what had it. At no time is the first name without its file.
fn keep(conversation: &Conversation, name: &str, kept: &str) -> io::Result<()> {
    let (from, to) = (conversation.file(name), conversation.file(kept));
    let linked = conversation.file(&format!("{kept}{LINKED}"));
    durable::remove(&linked)?;
    match fs::hard_link(&from, &linked) {
        Ok(()) => durable::replace(&linked, &to),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        // Some file systems have no second names. Until the next rename a reader finds only the older generation.
        Err(_) => durable::replace(&from, &to),
    }
}

/// A file of our own: what stands there from a writer that was killed may have a second name.
fn create(path: &Path) -> io::Result<File> {
    durable::remove(path)?;
    OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path)
}

fn sync(file: BufWriter<File>) -> io::Result<()> {
    file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}
