//! What a trust snapshot says of records.
//! Owns: reading it, and whether a record is denied. Must not: infer anything that it does not say outright.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use countersign_record::digest::Digest;
use countersign_record::json::Json;

/// The records that are denied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    ids: BTreeSet<String>,
    hashes: BTreeSet<Digest>,
}

impl Trust {
    /// Reads `{"entries": [{"memory_id" or "record_hash", "classification"}]}` and keeps the entries of a denied
    /// classification.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(snapshot: &Json, denied: &[String]) -> Result<Self, String> {
        let Some(Json::Array(entries)) = snapshot.get("entries") else {
            return Err(String::from("an object with a list of entries is needed"));
        };
        let mut trust = Trust::default();
        for (at, entry) in entries.iter().enumerate() {
            trust.entry(entry, denied).map_err(|why| format!("entry {}: {why}", at + 1))?;
        }
        Ok(trust)
    }

    fn entry(&mut self, entry: &Json, denied: &[String]) -> Result<(), &'static str> {
        let text = |name| match entry.get(name) {
            None => Ok(None),
            Some(Json::String(text)) => Ok(Some(text)),
            Some(_) => Err("memory_id, record_hash and classification are texts"),
        };
        let (id, hash) = (text("memory_id")?, text("record_hash")?);
        let classification = text("classification")?.ok_or("it has no classification")?;
        if id.is_none() && hash.is_none() {
            return Err("it names neither a memory_id nor a record_hash");
        }
        let hash = match hash {
            Some(hash) => Some(Digest::try_from(hash.as_str()).map_err(|_| "its record_hash is none")?),
            None => None,
        };
        if denied.contains(classification) {
            self.ids.extend(id.cloned());
            self.hashes.extend(hash);
        }
        Ok(())
    }

    /// Whether the snapshot marks the record.
    #[must_use]
    pub fn denies(&self, memory_id: &str, record_hash: Digest) -> bool {
        self.ids.contains(memory_id) || self.hashes.contains(&record_hash)
    }
}
