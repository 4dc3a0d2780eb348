//! What is asked, and whether it fits together.
//! Owns: reading a task whole, what its run is granted and begins with. Must not: read a file; `check` says what does not fit together.

mod begin;
mod check;

pub use begin::envelope;
pub use check::empty::troubles as empty_words;
pub use check::foreign;
pub use countersign_govern::task::*;

use alloc::vec::Vec;
use countersign_govern::types::wire::{Reading, Trouble, Wire};
use countersign_kernel::gate::Capability;
use countersign_record::json::Json;

/// Reads a task and says everything that is wrong with it.
///
/// # Errors
/// What is wrong, by place.
pub fn read_whole(document: &Json) -> Result<Task, Vec<Trouble>> {
    let mut reading = Reading::default();
    let read = Task::read(document, &mut reading);
    let troubles = reading.troubles();
    match read {
        Some(task) if troubles.is_empty() => {
            let troubles = check::troubles(&task);
            if troubles.is_empty() { Ok(task) } else { Err(troubles) }
        }
        Some(_) | None => Err(troubles),
    }
}

/// What a task's run is granted: what it names, and nothing else.
#[must_use]
pub fn granted(task: &Task) -> Vec<Capability> {
    let named = task.capabilities.iter().flatten();
    named.filter_map(|one| Capability::try_from(one.as_str()).ok()).collect()
}

#[cfg(test)]
#[path = "task/task_tests.rs"]
mod tests;
