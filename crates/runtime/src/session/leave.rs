//! What a session that is made shorter leaves behind.
//! Owns: the record of memory that what has to go is summed up in. Must not: say what has to go.

use super::Error;
use super::turn::Turn;
use crate::ports::session::Remembered;
use countersign_kernel::session::talk::summed_up;
use countersign_record::digest::Digest;
use countersign_record::json::{self, Json, Object};
use countersign_record::session::ChatMessage;

impl Turn<'_> {
    /// Sums up what has to go, as a record of memory.
    pub(super) async fn remember(
        &mut self,
        evicted: &[ChatMessage],
        tags: &[String],
    ) -> Result<Option<String>, Error> {
        let Some(remembers) = self.session.office.remembers.clone() else { return Ok(None) };
        let text = summed_up(evicted);
        if text.is_empty() {
            return Ok(None);
        }
        let digits: String = Digest::of(text.as_bytes()).to_string().chars().take(16).collect();
        let id = format!("mem_{}_{}_{digits}", self.session.name, self.number);
        let mut record = Object::from([
            ("memory_id", id.as_str().into()),
            ("text", text.into()),
            ("tags", Json::Array(tags.iter().map(|tag| Json::from(tag.as_str())).collect())),
            ("refs", Json::Array(Vec::new())),
        ]);
        record.insert("ts_utc", self.session.office.clock.now()?.as_str());
        let line = json::to_text(&Json::Object(record))?;
        remembers.remember(Remembered { line, data_class: self.label.data_class }).await?;
        Ok(Some(id))
    }
}
