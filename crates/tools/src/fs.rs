//! The tools `fs.*`.
//! Owns: their list, and running them beside what must not wait. Must not: reach a file but through `beneath`.

mod list_dir;
mod read_text;
mod write_text;

pub use list_dir::ListDir;
pub use read_text::ReadText;
pub(crate) use read_text::whole_letters;
pub use write_text::WriteText;

use countersign_record::code::Code;
use countersign_runtime::ports::tool::{Done, NotDone};
use tokio_util::sync::CancellationToken;

/// Does what may wait for a disk. It is short, so only what has not begun is cancelled.
async fn beside(
    cancel: &CancellationToken,
    work: impl FnOnce() -> Result<Done, NotDone> + Send + 'static,
) -> Result<Done, NotDone> {
    if cancel.is_cancelled() {
        return Err(NotDone::new(Code::ToolTimeout, "it was cancelled before it began"));
    }
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(_) => Err(NotDone::new(Code::ToolFailed, "it broke off")),
    }
}
