//! The rows of a run on their way to the ledger.
//! Owns: what is waiting to be appended, in order, to a stream that nobody else has written to. Must not: decide when.

use super::history::Setup;
use super::{Bench, Error, is_decision};
use crate::journal::Saying;
use crate::ports::ledger::Batch;
use countersign_kernel::pipeline::Pipeline;
use countersign_kernel::run::{Event, row};
use countersign_record::canonical;
use countersign_record::deed::{Deed, Externalized};
use countersign_record::id::{RowKind, RunId, StreamId};
use countersign_record::json::{self, Json, Object};
use countersign_record::label::Label;
use countersign_record::row::{BlobBytes, Proof, Sealed};
use countersign_record::run_kind;
use countersign_record::state::GenericEnvelope;
use countersign_record::time::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The stream of a run.
pub(super) fn stream(run: &RunId) -> Result<StreamId, Error> {
    Ok(StreamId::try_from(format!("run/{run}"))?)
}

pub(super) struct Rows {
    bench: Arc<Bench>,
    run: RunId,
    stream: StreamId,
    /// Where the stream ends, as far as we know: a second writer is found out.
    end: u64,
    waiting: Vec<Sealed>,
    /// Where the stream of governed records ends, if the run has one.
    records: u64,
    /// What holds for the run.
    label: Label,
    /// Whether anything else is waiting than that the run begins and an agent is called.
    is_urgent: bool,
}

impl Rows {
    pub(super) fn new(bench: &Arc<Bench>, run: &RunId, end: u64, label: Label) -> Result<Self, Error> {
        Ok(Rows {
            bench: Arc::clone(bench),
            run: run.clone(),
            stream: stream(run)?,
            end,
            waiting: Vec::new(),
            records: bench.work.as_ref().map_or(0, |work| work.end()),
            label,
            is_urgent: false,
        })
    }

    /// The first row; how many bytes the envelope has.
    pub(super) fn began(
        &mut self,
        run: &RunId,
        pipeline: &Pipeline,
        envelope: &GenericEnvelope,
        setup: &Setup,
        label: Label,
    ) -> Result<usize, Error> {
        let text = json::to_text(envelope)?.into_bytes();
        let bytes = text.len();
        let mut contents = vec![
            BlobBytes::new(text)?,
            BlobBytes::new(canonical::to_bytes_of(pipeline)?)?,
            BlobBytes::new(canonical::to_bytes_of(setup)?)?,
        ];
        // What a task names besides its sources, so that the run can be told again without the folder.
        for file in self.bench.work.iter().flat_map(|work| work.files().into_values()) {
            contents.push(BlobBytes::new(file.to_vec())?);
        }
        let identity = &envelope.identity;
        let digest = |blob: &BlobBytes| Json::from(String::from(blob.digest()));
        let payload = Object::from([
            ("run", Json::from(run.as_str())),
            ("envelope_id", identity.envelope_id.as_str().into()),
            ("request_id", identity.request_id.as_str().into()),
            ("session_id", identity.session_id.as_str().into()),
            ("state_hash", Json::from(String::from(envelope.hash()?))),
            ("pipeline", pipeline.name.as_str().into()),
            ("pipeline_hash", contents.get(1).map_or(Json::Null, digest)),
        ]);
        let at = self.bench.clock.now()?;
        self.put(run_kind::BEGAN, &at, payload.into(), label, contents, Proof::None)?;
        Ok(bytes)
    }

    /// Whether what is waiting must be durable before anything is done.
    pub(super) fn is_urgent(&self) -> bool {
        self.is_urgent
    }

    /// Adds what happened.
    pub(super) fn event(&mut self, event: &Event, at: &Timestamp, label: Label) -> Result<(), Error> {
        self.is_urgent |= !matches!(event, Event::Called { .. });
        let row::Kept { kind, payload, content } = event.kept()?;
        let blobs = content.map(BlobBytes::new).transpose()?.into_iter().collect();
        let proof = if is_decision(event) { Proof::SelfAsserted } else { Proof::None };
        self.put(kind, at, payload.into(), label, blobs, proof)?;
        if is_decision(event)
            && let Some(decision) = self.waiting.pop()
        {
            self.waiting.push(self.bench.signs.sign(decision)?);
        }
        Ok(())
    }

    /// Whether a person's decision is waiting that nobody has signed.
    pub(super) fn has_unsigned(&self) -> bool {
        self.waiting.iter().any(|row| row.draft().proof == Proof::SelfAsserted)
    }

    /// Adds the receipt of something that left the machine.
    pub(super) fn put_receipt(&mut self, receipt: &Externalized, label: Label) -> Result<(), Error> {
        let at = self.bench.clock.now()?;
        self.put(Externalized::KIND, &at, receipt.payload()?, label, Vec::new(), Proof::None)
    }

    fn put(
        &mut self,
        kind: &str,
        at: &Timestamp,
        payload: Json,
        label: Label,
        blobs: Vec<BlobBytes>,
        proof: Proof,
    ) -> Result<(), Error> {
        self.label = label;
        let saying = Saying {
            stream: self.stream.clone(),
            kind: RowKind::try_from(kind)?,
            version: run_kind::version(kind),
            at: at.clone(),
            proof,
            label,
            payload,
            blobs,
        };
        self.waiting.push(saying.by(&self.bench.access).seal()?);
        Ok(())
    }

    /// Appends what is waiting, all of it or nothing: what happened, and the governed records of it.
    pub(super) async fn flush(&mut self) -> Result<(), Error> {
        let due = self.due()?;
        self.append(due.batch).await?;
        self.settle(due.count, due.more);
        Ok(())
    }

    /// Appends what is waiting here and for another run, all of it or nothing.
    pub(super) async fn flush_with(&mut self, other: &mut Rows) -> Result<(), Error> {
        let (mut own, others) = (self.due()?, other.due()?);
        own.batch.rows.extend(others.batch.rows);
        own.batch.expected.extend(others.batch.expected);
        self.append(own.batch).await?;
        self.settle(own.count, own.more);
        other.settle(others.count, others.more);
        Ok(())
    }

    /// Takes what is waiting.
    fn due(&mut self) -> Result<Due, Error> {
        let records = match &self.bench.work {
            Some(work) => work.take(&self.run, &self.bench.access, self.label)?,
            None => Vec::new(),
        };
        let happened = std::mem::take(&mut self.waiting);
        self.is_urgent = false;
        let (count, more) = (happened.len() as u64, records.len() as u64);
        let mut expected = BTreeMap::from([(self.stream.clone(), self.end)]);
        if more > 0 {
            expected.insert(crate::work::stream(&self.run)?, self.records);
        }
        let mut rows = Vec::with_capacity(happened.len() + records.len());
        for record in records {
            // Somebody's command is their decision, which they sign.
            let is_decision = record.draft().proof != Proof::None;
            rows.push(if is_decision { self.bench.signs.sign(record)? } else { record });
        }
        // Each stream is in the order of its times; together they are too, and what follows from a record comes behind it.
        rows.extend(happened);
        rows.sort_by_key(|row| row.draft().at.instant());
        Ok(Due { batch: Batch { rows, expected, idem_key: None }, count, more })
    }

    async fn append(&self, batch: Batch) -> Result<(), Error> {
        if !batch.rows.is_empty() {
            self.bench.journal.append(&self.bench.access, batch).await?;
        }
        Ok(())
    }

    fn settle(&mut self, count: u64, more: u64) {
        self.end += count;
        self.records += more;
    }
}

/// What is taken to be appended: how many rows of the run's own, and how many records.
struct Due {
    batch: Batch,
    count: u64,
    more: u64,
}
