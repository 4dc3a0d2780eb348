//! What everybody does with a journal: rows of one's own making, and all rows of a kind or stream.
//! Owns: putting a row together, and reading on to the end. Must not: know what a row says.

use crate::ports::ledger::{Error, Journal, PAGE_ROWS_MAX, Query, Select};
use countersign_record::access::MatterAccess;
use countersign_record::id::{RowKind, StreamId};
use countersign_record::json::Json;
use countersign_record::label::Label;
use countersign_record::row::{BlobBytes, Draft, Proof, Row};
use countersign_record::time::Timestamp;

/// What a row says and of whom, before it is put together.
pub(crate) struct Saying {
    pub(crate) stream: StreamId,
    pub(crate) kind: RowKind,
    pub(crate) version: u32,
    pub(crate) at: Timestamp,
    pub(crate) proof: Proof,
    pub(crate) label: Label,
    pub(crate) payload: Json,
    pub(crate) blobs: Vec<BlobBytes>,
}

impl Saying {
    /// As whoever acts says it.
    pub(crate) fn by(self, access: &MatterAccess) -> Draft {
        let Saying { stream, kind, version, at, proof, label, payload, blobs } = self;
        Draft {
            stream,
            kind,
            version,
            at,
            actor: access.principal().clone(),
            proof,
            cause: None,
            data_class: label.data_class,
            taint: label.taint,
            payload,
            blobs,
        }
    }
}

/// Shows every row after `after`, in order. A matter that is not there has none.
pub(crate) async fn read_all(
    journal: &dyn Journal,
    access: &MatterAccess,
    select: Select,
    mut after: u64,
    show: &mut (dyn FnMut(Row) + Send),
) -> Result<(), Error> {
    loop {
        let query = Query { select: select.clone(), after, up_to: u64::MAX, limit: PAGE_ROWS_MAX };
        let page = match journal.read(access, query).await {
            Ok(page) => page,
            Err(Error::Missing { .. }) => return Ok(()),
            Err(error) => return Err(error),
        };
        page.rows.into_iter().for_each(&mut *show);
        match page.next {
            Some(next) => after = next,
            None => return Ok(()),
        }
    }
}
