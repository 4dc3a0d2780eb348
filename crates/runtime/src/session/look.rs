//! A session as others see it.
//! Owns: looking at one while its own writer may be at work, and why a grant of it does not count. Must not: take a turn.

use super::recover::{CHANGED, Recovered};
use super::{Elsewhere, Error, Office, Session, fresh, read_all};
use crate::ports::ledger::{Blob, Select};
use countersign_kernel::grant::{Grant, Use};
use countersign_kernel::session::past::{Past, Progress};
use countersign_record::deed;
use countersign_record::digest::Digest;
use countersign_record::id::SessionName;
use countersign_record::json::{Json, Object};
use countersign_record::session::{Checkpoint, State};
use countersign_record::time::Instant;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Session {
    /// A session as its rows tell it, to look at and to decide about; its own writer may be at work at the same time.
    ///
    /// # Errors
    /// The ledger can't be read.
    pub async fn seen(office: Office, name: SessionName) -> Result<Self, Error> {
        let checkpoint = fresh(&name);
        let (past, written) = (Past::default(), BTreeMap::new());
        let keeper = Arc::new(Elsewhere);
        let mut session = Session { name, office, keeper, checkpoint, past, written, written_seq: 0 };
        session.catch_up().await?;
        Ok(session)
    }

    /// The same with what was said, from its checkpoint or, where that is not what the ledger knows, told from there. Nothing
    /// is written: who only looks closes nobody's turn. While somebody is in it, what is open may just be being done.
    ///
    /// # Errors
    /// The ledger can't be read.
    pub async fn looked_at(
        mut self,
        checkpoint: Option<Checkpoint>,
        is_in_use: bool,
    ) -> Result<(Self, Recovered), Error> {
        self.checkpoint = checkpoint.unwrap_or(self.checkpoint);
        let mut recovered = Recovered::default();
        let (kept, known) = (self.checkpoint.revision, self.past.revision);
        if (kept != known || self.is_changed()?) && self.correct().await? && !is_in_use {
            recovered.notes.push(match kept == known {
                true => CHANGED.to_owned(),
                false => format!(
                    "the checkpoint has revision {kept}, and the ledger knows {known}; it was told again from there"
                ),
            });
        }
        self.checkpoint.revision = known;
        if !is_in_use {
            recovered.unsettled = self.unsettled().await?;
            if recovered.unsettled.is_empty() && self.past.progress != Progress::Ended {
                recovered.notes.push(format!("turn {} was interrupted", self.past.turn));
            }
        }
        Ok((self, recovered))
    }

    /// Whether anything of a session was ever recorded.
    ///
    /// # Errors
    /// The ledger can't be read.
    pub async fn is_recorded(office: &Office, name: &SessionName) -> Result<bool, Error> {
        let mut rows = 0_u64;
        for stream in [deed::stream(name)?, deed::capability_stream(name)?] {
            read_all(office, Select::Stream(stream), 0, &mut |_| rows += 1).await?;
        }
        Ok(rows > 0)
    }

    /// What models replied, in order, as a recorded model plays it back. A reply that was erased is left out.
    ///
    /// # Errors
    /// The ledger can't be read.
    pub async fn replies(&self) -> Result<Vec<Object>, Error> {
        let mut rows: Vec<Json> = Vec::new();
        let stream = Select::Stream(deed::stream(&self.name)?);
        read_all(&self.office, stream, 0, &mut |row| {
            rows.extend((row.kind.as_str() == deed::MODEL_ANSWERED).then(|| row.payload.clone()));
        })
        .await?;
        let mut replies = Vec::new();
        for payload in rows {
            let digest =
                payload.get("reply").and_then(Json::as_str).and_then(|text| Digest::try_from(text).ok());
            let Some(digest) = digest else { continue };
            if let Blob::Present(bytes) = self.office.ledger.blob(&self.office.access, digest).await? {
                let mut reply = Object::from([("text", String::from_utf8_lossy(&bytes).into_owned().into())]);
                for name in ["request_hash", "finish", "usage"] {
                    reply.insert(name, payload.get(name).cloned().unwrap_or(Json::Null));
                }
                replies.push(reply);
            }
        }
        Ok(replies)
    }

    /// The state with what is granted and asked for by now: people decide between turns too.
    ///
    /// # Errors
    /// The clock says nothing that can be written.
    pub fn state_now(&self) -> Result<State, Error> {
        let mut state = self.checkpoint.state.clone();
        self.decided(&mut state)?;
        Ok(state)
    }

    /// Why a grant does not count now, for whoever it was given to and anything it was given for.
    #[must_use]
    pub fn why_void(&self, grant: &Grant, now: Instant) -> Option<String> {
        let (Ok(current), Ok(policy)) = (self.office.definitions(&grant.capability), self.policy_hash())
        else {
            return None;
        };
        let mut why = None;
        for (tool, definition) in &current {
            let wanted = Use {
                acting: &grant.acting,
                tool,
                definition: *definition,
                arguments: grant.arguments.unwrap_or(*definition),
                policy,
                approver: self.office.policy.approver,
                now,
            };
            match grant.covers(&wanted) {
                Ok(()) => return None,
                Err(void) => why = why.or(Some(void.to_string())),
            }
        }
        why
    }
}
