//! The memory port: what a read over memory stores gives.
//! Owns: the traits that whoever keeps stores implements. Must not: say where a store is, or what is selected
//! (`countersign-kernel` does).

use super::Answer;
use countersign_kernel::recall::package::Selected;
use countersign_kernel::recall::{Input, Refusal};
use countersign_record::memory_read::Receipt;
use std::fmt::Debug;
use std::io::{self, Write};

/// Memory that can be read and is never written to by reading.
pub trait Memory: Send + Sync {
    /// Reads the stores that the input names and selects from them. The same input over the same stores gives the same
    /// package, byte for byte.
    fn read(&self, input: Input) -> Answer<'_, Result<Box<dyn Package>, Refusal>>;
}

/// What a read selected, and why the rest was not.
pub trait Package: Debug + Send + Sync {
    /// What may be recorded of the read.
    fn receipt(&self) -> Receipt;

    /// Those selected, the best first.
    fn selected(&self) -> Box<dyn Iterator<Item = Selected<'_>> + '_>;

    /// Writes the package as JSON and a newline: for whoever asked, and for nothing that is kept.
    ///
    /// # Errors
    /// The text can't be written.
    fn write(&self, out: &mut dyn Write) -> io::Result<()>;
}
