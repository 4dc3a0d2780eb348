//! The purse of a matter: what its runs may spend together.
//! Owns: reading it, and appending a decision only where it was made. Must not: decide; `countersign-work` does.

use crate::clock::Clock;
use crate::journal::{Saying, read_all};
use crate::ports::ledger::{self, Batch, Journal, Select};
use crate::run::Error;
use countersign_record::access::MatterAccess;
use countersign_record::id::{RowKind, RunId, StreamId};
use countersign_record::label::Label;
use countersign_record::row::Proof;
use countersign_work::cost::{Amounts, OverBudget};
use countersign_work::purse::{Decision, Purse, Refusal, Row, STREAM};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How often a decision is made anew because another run was faster.
const TRIES_MAX: usize = 1_000;

/// The purse of a matter, in its ledger.
#[derive(Clone)]
pub struct Purses {
    /// Where it is written down.
    pub journal: Arc<dyn Journal>,
    /// Whose it is.
    pub access: MatterAccess,
    /// The time.
    pub clock: Arc<Clock>,
}

impl Purses {
    /// The purse as it is now.
    ///
    /// # Errors
    /// It can't be read.
    pub async fn read(&self) -> Result<Purse, Error> {
        let stream = StreamId::try_from(STREAM)?;
        let (mut purse, mut broken) = (Purse::default(), None);
        let mut take = |row: countersign_record::row::Row| match Row::read(row.kind.as_str(), &row.payload) {
            Some(read) => purse.apply(&read),
            None => broken = broken.or(Some(row.seq)),
        };
        read_all(&*self.journal, &self.access, Select::Stream(stream), 0, &mut take).await?;
        match broken {
            Some(seq) => Err(Error::Unreadable { seq, why: "it is no row of a budget".to_owned() }),
            None => Ok(purse),
        }
    }

    /// Sets what all runs may spend from now on.
    ///
    /// # Errors
    /// It can't be written.
    pub async fn cap(&self, caps: &Amounts) -> Result<(), Error> {
        self.decided(|purse| Ok(Some(purse.cap(caps)))).await?.map_err(|refusal| refused(&refusal))
    }

    /// Holds an amount for a step, if the matter has caps. One that holds it already goes on with that.
    ///
    /// # Errors
    /// It can't be read or written; inside: there is not enough.
    pub async fn reserve(
        &self,
        run: &RunId,
        step: &str,
        amounts: &Amounts,
    ) -> Result<Result<(), OverBudget>, Error> {
        let decided = self
            .decided(|purse| match purse.caps().is_empty() {
                true => Ok(None),
                false => purse.reserve(run.as_str(), step, amounts).map(Some),
            })
            .await?;
        match decided {
            Ok(()) | Err(Refusal::Twice { .. }) => Ok(Ok(())),
            Err(Refusal::Short(over)) => Ok(Err(over)),
            Err(refusal @ (Refusal::NotHeld { .. } | Refusal::Over { .. })) => Err(refused(&refusal)),
        }
    }

    /// Says what a step cost that held something.
    ///
    /// # Errors
    /// It can't be written.
    pub async fn settle(&self, run: &RunId, step: &str, amounts: &Amounts) -> Result<(), Error> {
        match self.decided(|purse| purse.settle(run.as_str(), step, amounts).map(Some)).await? {
            // Without caps nothing was held.
            Ok(()) | Err(Refusal::NotHeld { .. }) => Ok(()),
            Err(refusal @ (Refusal::Short(_) | Refusal::Twice { .. } | Refusal::Over { .. })) => {
                Err(refused(&refusal))
            }
        }
    }

    /// Frees what a run still holds that is over.
    ///
    /// # Errors
    /// It can't be written.
    pub async fn end(&self, run: &RunId) -> Result<(), Error> {
        let decided = self
            .decided(|purse| match purse.held_by(run.as_str()).is_empty() {
                true => Ok(None),
                false => Ok(purse.end(run.as_str())),
            })
            .await?;
        decided.map_err(|refusal| refused(&refusal))
    }

    /// Decides on the purse as it is, and appends that; anew if somebody was faster.
    async fn decided(
        &self,
        decide: impl Fn(&Purse) -> Result<Option<Decision>, Refusal>,
    ) -> Result<Result<(), Refusal>, Error> {
        let mut tries = 0;
        loop {
            let purse = self.read().await?;
            let decision = match decide(&purse) {
                Ok(Some(decision)) => decision,
                Ok(None) => return Ok(Ok(())),
                Err(refusal) => return Ok(Err(refusal)),
            };
            tries += 1;
            match self.journal.append(&self.access, self.batch(&decision)?).await {
                Ok(_) => return Ok(Ok(())),
                Err(ledger::Error::Conflict { .. }) if tries < TRIES_MAX => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn batch(&self, decision: &Decision) -> Result<Batch, Error> {
        let stream = StreamId::try_from(STREAM)?;
        let saying = Saying {
            stream: stream.clone(),
            kind: RowKind::try_from(decision.row.kind())?,
            version: 1,
            at: self.clock.now()?,
            proof: Proof::None,
            label: Label::NOTHING,
            payload: decision.row.payload(),
            blobs: Vec::new(),
        };
        let rows = vec![saying.by(&self.access).seal()?];
        Ok(Batch { rows, expected: BTreeMap::from([(stream, decision.place)]), idem_key: None })
    }
}

fn refused(refusal: &Refusal) -> Error {
    Error::Work { why: refusal.to_string() }
}
