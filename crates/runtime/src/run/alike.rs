//! The tasks whose runs began before, so that a new one can be held against them.
//! Owns: finding the last of them. Must not: compare; `countersign-work` does.

use super::Error;
use super::history::set_up;
use crate::journal::read_all;
use crate::ports::ledger::{Journal, Select};
use countersign_record::access::MatterAccess;
use countersign_record::id::RowKind;
use countersign_record::row::Row;
use countersign_record::run_kind;
use countersign_work::learning::{Pattern, features};
use countersign_work::task;
use std::collections::VecDeque;

/// Tasks that a new one is held against, at most.
const TASKS_MAX: usize = 8;
/// Rows before the end of the ledger among which they are looked for.
const LOOK_BACK_ROWS: u64 = 20_000;

/// What the tasks were like whose runs began last in a matter, by what the runs are called. What was erased is not among them.
///
/// # Errors
/// The ledger can't be read.
pub async fn known(journal: &dyn Journal, access: &MatterAccess, end: u64) -> Result<Vec<Pattern>, Error> {
    let select = Select::Kind(RowKind::try_from(run_kind::BEGAN)?);
    let mut last: VecDeque<Row> = VecDeque::new();
    let mut show = |row: Row| {
        last.push_back(row);
        if last.len() > TASKS_MAX {
            last.pop_front();
        }
    };
    read_all(journal, access, select, end.saturating_sub(LOOK_BACK_ROWS), &mut show).await?;
    let mut known = Vec::new();
    for row in last {
        let Ok(setup) = set_up(journal, access, &row).await else { continue };
        let task = setup.task.and_then(|document| task::read_whole(&document).ok());
        let id = row.stream.as_str().rsplit('/').next().unwrap_or_default().to_owned();
        known.extend(task.map(|task| Pattern { id, features: features(&task) }));
    }
    Ok(known)
}
