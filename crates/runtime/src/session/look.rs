//! A session as others see it.
//! Owns: looking at one while its own writer may be at work, and why a grant of it does not count. Must not: take a turn.

use super::{Elsewhere, Error, Office, Session, fresh, read_all};
use crate::ports::ledger::Select;
use countersign_kernel::grant::{Grant, Use};
use countersign_kernel::session::past::Past;
use countersign_record::deed;
use countersign_record::id::SessionName;
use countersign_record::session::State;
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
        let (Ok(current), Ok(policy)) = (self.office.definitions(&grant.capability), self.policy_hash()) else {
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
