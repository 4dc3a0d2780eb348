//! The rows of a turn on their way to the ledger.
//! Owns: what is waiting to be appended, and that it is appended in order. Must not: decide when.

use super::Error;
use crate::clock::Clock;
use crate::journal::Saying;
use crate::ports::ledger::{Batch, Journal};
use crate::ports::session::Signs;
use countersign_record::access::MatterAccess;
use countersign_record::deed::{CAPABILITY_GRANTED, Deed, VERSION};
use countersign_record::id::{RowKind, StreamId};
use countersign_record::label::Label;
use countersign_record::row::{BlobBytes, Proof, Sealed};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Rows that are not appended yet.
pub(super) struct Rows {
    ledger: Arc<dyn Journal>,
    access: MatterAccess,
    clock: Arc<Clock>,
    stream: StreamId,
    decisions: StreamId,
    /// Where the stream ends, as far as this turn knows: a second writer is found out.
    end: u64,
    waiting: Vec<Sealed>,
    /// How often the ledger was written to.
    commits: u32,
}

impl Rows {
    pub(super) fn new(
        ledger: Arc<dyn Journal>,
        access: MatterAccess,
        clock: Arc<Clock>,
        (stream, decisions): (StreamId, StreamId),
        end: u64,
    ) -> Self {
        Rows { ledger, access, clock, stream, decisions, end, waiting: Vec::new(), commits: 0 }
    }

    /// Adds a row.
    pub(super) fn put<D: Deed>(
        &mut self,
        deed: &D,
        label: Label,
        blobs: Vec<BlobBytes>,
    ) -> Result<(), Error> {
        let sealed = self.sealed(self.stream.clone(), deed, label, blobs, Proof::None)?;
        self.waiting.push(sealed);
        Ok(())
    }

    /// Adds what an agent asks people for.
    pub(super) fn request<D: Deed>(
        &mut self,
        deed: &D,
        label: Label,
        blobs: Vec<BlobBytes>,
    ) -> Result<(), Error> {
        let sealed = self.sealed(self.decisions.clone(), deed, label, blobs, Proof::None)?;
        self.waiting.push(sealed);
        Ok(())
    }

    /// Adds a person's decision, with the person's proof; says whether that is a signature.
    pub(super) fn decide<D: Deed>(&mut self, deed: &D, signs: &dyn Signs) -> Result<bool, Error> {
        let sealed =
            self.sealed(self.decisions.clone(), deed, Label::USER, Vec::new(), Proof::SelfAsserted)?;
        let sealed = signs.sign(sealed)?;
        let is_signed = matches!(sealed.draft().proof, Proof::Signed { .. });
        self.waiting.push(sealed);
        Ok(is_signed)
    }

    /// Adds a person's decision that is about the session itself.
    pub(super) fn decide_own<D: Deed>(
        &mut self,
        deed: &D,
        label: Label,
        blobs: Vec<BlobBytes>,
        signs: &dyn Signs,
    ) -> Result<(), Error> {
        let sealed = self.sealed(self.stream.clone(), deed, label, blobs, Proof::SelfAsserted)?;
        self.waiting.push(signs.sign(sealed)?);
        Ok(())
    }

    fn sealed<D: Deed>(
        &self,
        stream: StreamId,
        deed: &D,
        label: Label,
        blobs: Vec<BlobBytes>,
        proof: Proof,
    ) -> Result<Sealed, Error> {
        let saying = Saying {
            stream,
            kind: RowKind::try_from(D::KIND)?,
            version: VERSION,
            at: self.clock.now()?,
            proof,
            label,
            payload: deed.payload()?,
            blobs,
        };
        Ok(saying.by(&self.access).seal()?)
    }

    /// Appends what is waiting, all of it or nothing.
    pub(super) async fn flush(&mut self) -> Result<(), Error> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let batch = self.handed_over();
        self.ledger.append(&self.access, batch).await?;
        Ok(())
    }

    /// Hands over what is waiting to whoever appends it with something of its own.
    pub(super) fn handed_over(&mut self) -> Batch {
        let rows = std::mem::take(&mut self.waiting);
        let own = rows.iter().filter(|row| row.draft().stream == self.stream).count() as u64;
        // A decision counts whatever the session has done meanwhile: who takes a grant back must not lose to a quick agent.
        let expected =
            if own > 0 { BTreeMap::from([(self.stream.clone(), self.end)]) } else { BTreeMap::new() };
        self.end += own;
        self.commits += 1;
        Batch { rows, expected, idem_key: None }
    }

    /// Whether a grant is among what is waiting.
    pub(super) fn holds_grants(&self) -> bool {
        self.waiting.iter().any(|row| row.draft().kind.as_str() == CAPABILITY_GRANTED)
    }

    pub(super) fn commits(&self) -> u32 {
        self.commits
    }
}
