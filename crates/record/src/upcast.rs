//! Old rows in today's shape.
//! Owns: the steps from one version of a kind's payload to the next. Must not: change what is stored.

use crate::code::Code;
use crate::id::RowKind;
use crate::json::Json;
use crate::row::Row;
use crate::run_kind;

/// One step: what a payload of `from` looks like at `from + 1`.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The kind.
    pub kind: &'static str,
    /// The version it starts at.
    pub from: u32,
    /// The change. It can't fail: whatever was stored once must be readable for ever.
    pub apply: fn(Json) -> Json,
}

/// What this build reads.
#[derive(Clone, Copy, Debug)]
pub struct Upcasts {
    /// The newest version of each kind that has one above 1, or that must not be read beyond it.
    pub newest: &'static [(&'static str, u32)],
    /// The steps, any order.
    pub steps: &'static [Step],
}

/// The kinds that this build writes itself.
pub const LEDGER: Upcasts = Upcasts {
    newest: &[
        (crate::hold::PLACED, 1),
        (crate::hold::RELEASED, 1),
        (crate::hold::ERASED, 1),
        (crate::memory_read::KIND, crate::memory_read::VERSION),
        (crate::deed::TURN_BEGUN, crate::deed::VERSION),
        (crate::deed::MODEL_ASKED, crate::deed::VERSION),
        (crate::deed::MODEL_ANSWERED, crate::deed::VERSION),
        (crate::deed::MODEL_FAILED, crate::deed::VERSION),
        (crate::deed::TOOL_STARTED, crate::deed::VERSION),
        (crate::deed::TOOL_ENDED, crate::deed::VERSION),
        (crate::deed::TOOL_REFUSED, crate::deed::VERSION),
        (crate::deed::EFFECT_SETTLED, crate::deed::VERSION),
        (crate::deed::TURN_ENDED, crate::deed::VERSION),
        (crate::deed::TURN_UNDONE, crate::deed::VERSION),
        (crate::deed::CAPABILITY_REQUESTED, crate::deed::VERSION),
        (crate::deed::CAPABILITY_GRANTED, crate::deed::VERSION),
        (crate::deed::CAPABILITY_DENIED, crate::deed::VERSION),
        (crate::deed::CAPABILITY_REVOKED, crate::deed::VERSION),
        (crate::deed::EXTERNALIZED, crate::deed::VERSION),
        (run_kind::BEGAN, run_kind::VERSION),
        (run_kind::CALLED, run_kind::VERSION),
        (run_kind::RETURNED, run_kind::RETURNED_VERSION),
        (run_kind::AIMED, run_kind::VERSION),
        (run_kind::GIVEN_UP, run_kind::VERSION),
        (run_kind::REACHED, run_kind::VERSION),
        (run_kind::REFUSED, run_kind::VERSION),
        (run_kind::HEARD, run_kind::VERSION),
        (run_kind::ADVANCED, run_kind::VERSION),
        (run_kind::MOVED, run_kind::VERSION),
        (run_kind::STOPPED, run_kind::VERSION),
        (run_kind::ANSWERED, run_kind::VERSION),
        (run_kind::ENDED, run_kind::VERSION),
    ],
    // What the second version tells is optional: the first one had another row for it.
    steps: &[Step { kind: run_kind::RETURNED, from: 1, apply: |payload| payload }],
};

/// A row that a newer build wrote.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("row {seq} is {kind} version {version}; this build reads up to {newest}")]
pub struct TooNew {
    /// The row.
    pub seq: u64,
    /// Its kind.
    pub kind: RowKind,
    /// Its version.
    pub version: u32,
    /// The newest that can be read.
    pub newest: u32,
}

impl TooNew {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        Code::RowTooNew
    }
}

impl Upcasts {
    /// The row in today's shape: payload and version change, hashes stay those of what is stored.
    ///
    /// # Errors
    /// The row is newer than this build.
    pub fn read(&self, mut row: Row) -> Result<Row, TooNew> {
        let newest = self.newest.iter().find(|(kind, _)| *kind == row.kind.as_str());
        if let Some((_, newest)) = newest
            && row.version > *newest
        {
            return Err(TooNew { seq: row.seq, kind: row.kind, version: row.version, newest: *newest });
        }
        while let Some(step) = self.step(&row) {
            row.payload = (step.apply)(row.payload);
            row.version += 1;
        }
        Ok(row)
    }

    fn step(&self, row: &Row) -> Option<&Step> {
        self.steps.iter().find(|step| step.kind == row.kind.as_str() && step.from == row.version)
    }
}
