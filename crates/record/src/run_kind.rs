//! The rows of a run's stream.
//! Owns: their kinds and versions. Must not: know what they say; `countersign-kernel` does.

/// A run has begun; its contents are the envelope it begins with, and its pipeline.
pub const BEGAN: &str = "run.began";
/// An agent is called.
pub const CALLED: &str = "run.called";
/// An agent has handed over; the content is the SR2 envelope.
pub const RETURNED: &str = "run.returned";
/// The goals are known.
pub const AIMED: &str = "run.aimed";
/// Goals turned out to be the wrong ones.
pub const GIVEN_UP: &str = "run.given_up";
/// Goals were reached.
pub const REACHED: &str = "run.reached";
/// The critic has it done again.
pub const REFUSED: &str = "run.refused";
/// The critic said something, and the run ends there.
pub const HEARD: &str = "run.heard";
/// A stage of goals is closed.
pub const ADVANCED: &str = "run.advanced";
/// A person's answer leads to a stage.
pub const MOVED: &str = "run.moved";
/// A person is asked.
pub const STOPPED: &str = "run.stopped";
/// A person has answered: a decision, which the person signs.
pub const ANSWERED: &str = "run.answered";
/// It is over.
pub const ENDED: &str = "run.ended";

/// The version of these rows.
pub const VERSION: u32 = 1;
/// That of [`RETURNED`]: before, where an answer leads was told by a row [`MOVED`], which is still read.
pub const RETURNED_VERSION: u32 = 2;

/// The version of a kind.
#[must_use]
pub fn version(kind: &str) -> u32 {
    if kind == RETURNED { RETURNED_VERSION } else { VERSION }
}
