//! Tables as NumPy keeps them without pickle: `.npz` (a zip of arrays) and `.npy` (one array).
//! Owns: which arrays make a table. Must not: take an object array, or an entry that is larger than the file says.
//!
//! A `.npz` holds `emb` (float32, rows by dimension), `ids` and `meta`, the last two as the UTF-8 bytes of one JSON
//! list each (uint8): `json.loads(bytes(npz["ids"]))`. Arrays of text would take four bytes for each letter of the
//! longest one in every row, and would lose a NUL at the end. On import `ids` may also be an array of text, which is
//! what `numpy.savez(path, ids=numpy.array(ids), …)` writes. A `.npy` holds `emb` alone.

mod npy;

use super::refusal::{Flaw, Odd, Refusal, WriteError};
use super::{DEPTH_MAX, LABELS_BYTES_MAX, Labels, OwnedTable, Snapshot, VALUES_MAX, mapped};
use countersign_record::json::{self, Json, Limits, Object};
use npy::Header;
use std::io::{self, BufWriter, Cursor, Seek, Write};
use std::path::Path;
use zip::read::ZipFile;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// The entries of a table.
const ENTRIES: [&str; 3] = ["emb.npy", "ids.npy", "meta.npy"];
/// What the labels may be as JSON text: an escape takes up to six bytes for one.
const LIMITS: Limits = Limits {
    bytes_max: 2 * LABELS_BYTES_MAX,
    depth_max: DEPTH_MAX + 1,
    number_max: Limits::GOVERNED.number_max,
    values_max: VALUES_MAX,
};

/// Writes a snapshot as `.npz`, stored and not deflated. The same snapshot gives the same bytes.
///
/// # Errors
/// The labels can't be read, or the writer refuses.
pub fn export(snapshot: &Snapshot, out: &mut (impl Write + Seek)) -> Result<(), WriteError> {
    let Labels { ids, meta } = snapshot.labels()?;
    let (ids, meta) = (list_text(&ids)?, list_text(&meta)?);
    let mut zip = ZipWriter::new(BufWriter::new(out));
    let start = |zip: &mut ZipWriter<_>, name: &str| {
        // Python's own writer asks for large entries always; an array may be one.
        let options =
            SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
        zip.start_file(name, options).map_err(io::Error::from)
    };
    let [emb_name, ids_name, meta_name] = ENTRIES;
    start(&mut zip, emb_name)?;
    write_matrix(snapshot, &mut zip)?;
    for (name, text) in [(ids_name, ids), (meta_name, meta)] {
        start(&mut zip, name)?;
        npy::write_header(&Header::bytes(text.len()), &mut zip)?;
        zip.write_all(text.as_bytes())?;
    }
    zip.finish().map_err(io::Error::from)?.flush()?;
    Ok(())
}

/// Writes the vectors of a snapshot alone, as `.npy`.
///
/// # Errors
/// The writer refuses.
pub fn export_matrix(snapshot: &Snapshot, out: &mut impl Write) -> Result<(), WriteError> {
    write_matrix(snapshot, out)?;
    Ok(out.flush()?)
}

fn write_matrix(snapshot: &Snapshot, out: &mut impl Write) -> io::Result<()> {
    npy::write_header(&Header::matrix(snapshot.shape), out)?;
    super::write_floats(snapshot.vectors(), out)
}

fn list_text<T: serde::Serialize>(items: &[T]) -> io::Result<String> {
    json::to_text(items).map_err(|error| io::Error::other(error.to_string()))
}

/// Reads a table from a `.npz`, or from a `.npy`: then the ids are the numbers of the rows, from 0, and meta are
/// empty.
///
/// # Errors
/// The file can't be read, is neither, or holds no table.
pub fn import(path: &Path) -> Result<OwnedTable, Refusal> {
    of_bytes(&path.display().to_string(), mapped(path)?.bytes())
}

/// Reads a table that is in memory; `name` stands in messages.
///
/// # Errors
/// The bytes are neither `.npz` nor `.npy`, or hold no table.
pub fn of_bytes(name: &str, bytes: &[u8]) -> Result<OwnedTable, Refusal> {
    let odd = |why| Odd { at: 0, why }.of(name);
    let flawed = |why| Refusal::Table { path: name.to_owned(), why };
    let read = match bytes {
        [b'P', b'K', ..] => archive(bytes),
        [0x93, b'N', ..] => matrix_alone(bytes),
        _ => Err(Wrong::Layout("it is neither .npz nor .npy")),
    };
    let owned = read.map_err(|wrong| match wrong {
        Wrong::Layout(why) => odd(why),
        Wrong::Table(flaw) => flawed(flaw),
    })?;
    match owned.table().check() {
        Ok(_) => Ok(owned),
        Err(flaw) => Err(flawed(flaw)),
    }
}

/// What can be wrong with arrays.
enum Wrong {
    Layout(&'static str),
    Table(Flaw),
}

impl From<&'static str> for Wrong {
    fn from(why: &'static str) -> Self {
        Wrong::Layout(why)
    }
}

impl From<Flaw> for Wrong {
    fn from(flaw: Flaw) -> Self {
        Wrong::Table(flaw)
    }
}

fn matrix_alone(mut bytes: &[u8]) -> Result<OwnedTable, Wrong> {
    let length = bytes.len();
    let (vectors, shape) = npy::read_matrix(&mut bytes, length)?;
    let ids = (0..shape.rows).map(|row| row.to_string()).collect();
    let meta = vec![Json::Object(Object::new()); shape.rows];
    Ok(OwnedTable { labels: Labels { ids, meta }, vectors, dimension: shape.dimension })
}

fn archive(bytes: &[u8]) -> Result<OwnedTable, Wrong> {
    let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(|_| "it is no zip that can be read")?;
    let is_whole =
        zip.len() == ENTRIES.len() && ENTRIES.iter().all(|name| zip.index_for_name(name).is_some());
    if !is_whole {
        return Err("the zip does not hold the arrays emb, ids and meta alone".into());
    }
    let [emb_name, ids_name, meta_name] = ENTRIES;
    let (vectors, shape) = npy::read_matrix(&mut entry(&mut zip, emb_name)?, bytes.len())?;
    let ids = match npy::read_labels(&mut entry(&mut zip, ids_name)?, bytes.len())? {
        npy::Column::Bytes(text) => {
            let texts = list(&text, Flaw::Ids)?.into_iter().map(|id| match id {
                Json::String(id) => Ok(id),
                Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => {
                    Err(Flaw::Ids)
                }
            });
            texts.collect::<Result<_, _>>()?
        }
        npy::Column::Texts(ids) => ids,
    };
    let meta = match npy::read_labels(&mut entry(&mut zip, meta_name)?, bytes.len())? {
        npy::Column::Bytes(text) => list(&text, Flaw::Meta)?,
        npy::Column::Texts(_) => return Err(Flaw::Meta.into()),
    };
    if !meta.iter().all(|meta| matches!(meta, Json::Object(_))) {
        return Err(Flaw::Meta.into());
    }
    Ok(OwnedTable { labels: Labels { ids, meta }, vectors, dimension: shape.dimension })
}

fn list(text: &[u8], flaw: Flaw) -> Result<Vec<Json>, Flaw> {
    match json::parse_with(text, LIMITS) {
        Ok(Json::Array(items)) => Ok(items),
        Ok(_) | Err(_) => Err(flaw),
    }
}

/// An entry as it stands in the file; its sum is checked at its end. Nothing is unpacked, so no entry is larger than
/// the file.
fn entry<'z, 'b>(
    zip: &'z mut ZipArchive<Cursor<&'b [u8]>>,
    name: &str,
) -> Result<ZipFile<'z, Cursor<&'b [u8]>>, &'static str> {
    let entry = zip.by_name(name).map_err(|_| "an array of the zip is packed or can't be read")?;
    if entry.compression() == CompressionMethod::Stored {
        Ok(entry)
    } else {
        Err("an array of the zip is packed")
    }
}
