//! What an archive says of itself.
//! Owns: `manifest.json`. Must not: be believed without counting.

use crate::canonical::{self, Unwritable};
use crate::chain::Head;
use crate::digest::Digest;
use crate::fields::Fields;
use crate::id::MatterId;
use crate::json;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::Serialize;

/// The word that says what kind of directory it is.
pub const FORMAT: &str = "countersign-ledger";
/// The version that this build writes and reads.
pub const VERSION: u64 = 1;

/// What an archive says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Manifest {
    /// [`FORMAT`].
    format: &'static str,
    /// [`VERSION`].
    version: u64,
    /// The matter.
    pub matter: MatterId,
    /// The last row.
    pub head: Head,
    /// How many rows there are.
    pub rows: u64,
    /// How many blobs there are.
    pub blobs: u64,
}

impl Manifest {
    /// The manifest of a whole ledger.
    #[must_use]
    pub fn new(matter: MatterId, head: Head, blobs: u64) -> Self {
        Manifest { format: FORMAT, version: VERSION, matter, head, rows: head.seq, blobs }
    }

    /// The file's bytes.
    ///
    /// # Errors
    /// A count is beyond 2^53.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Unwritable> {
        let mut bytes = canonical::to_bytes_of(self)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Reads the file's bytes.
    ///
    /// # Errors
    /// What is wrong with them, in a sentence.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let value = json::parse(bytes).map_err(|error| error.to_string())?;
        let mut fields = Fields::of(&value).map_err(|trouble| trouble.to_string())?;
        let (format, version) = (fields.text("format"), fields.integer("version"));
        if let Some(format) = format.filter(|format| format != FORMAT) {
            return Err(format!("the format is {format:.40}, not {FORMAT}"));
        }
        if let Some(version) = version.filter(|version| *version != VERSION) {
            return Err(format!("an archive of version {version}; this build reads {VERSION}"));
        }
        let matter = fields.id("matter");
        let head = fields.object("head", |head| {
            let (seq, hash) = (head.integer("seq"), head.parse("hash", |text| Digest::try_from(text)));
            head.deny_unknown();
            Some(Head { seq: seq?, hash: hash? })
        });
        let (rows, blobs) = (fields.integer("rows"), fields.integer("blobs"));
        fields.deny_unknown();
        if let Err(troubles) = fields.finish() {
            return Err(troubles.first().map(ToString::to_string).unwrap_or_default());
        }
        let (Some(matter), Some(head), Some(rows), Some(blobs)) = (matter, head, rows, blobs) else {
            return Err("a field is missing".into());
        };
        let manifest = Manifest { format: FORMAT, version: VERSION, matter, head, rows, blobs };
        if rows != head.seq || rows == 0 {
            return Err("the number of rows is not the place of the last one".into());
        }
        // One ledger has one archive: the same words in another form are not what an export writes.
        match manifest.to_bytes() {
            Ok(written) if written == bytes => Ok(manifest),
            Ok(_) | Err(_) => Err("the file is not in canonical form".into()),
        }
    }
}
