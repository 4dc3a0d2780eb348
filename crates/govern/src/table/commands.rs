//! What people may do: the commands, what each needs, writes and says when it can't.
//! Owns: the registry that is built in. Must not: carry a command out, or know which read models an event makes old.

/// A command by its id, the name that its two schemas begin with, and how it can fail besides what every command can. The rest is
/// said as it is.
macro_rules! command {
    ($id:literal, $schemas:literal, [$($code:literal),*], $rest:expr) => {
        Command {
            id: $id,
            request: concat!($schemas, "Request"),
            response: concat!($schemas, "Response"),
            telemetry: concat!("command.", $id),
            failure_codes: &["idempotency_key_reused", "not_found", "wrong_state", "policy_denied", $($code),*],
            ..$rest
        }
    };
}

mod besides;
mod general;
mod reliance;

use crate::reference::snake;
use crate::table::invalidation;
use alloc::collections::BTreeSet;

pub use crate::types::command::DurableWrite;
pub use besides::BESIDES;
pub use general::GENERAL;
pub use reliance::RELIANCE;

/// Which registry a command stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The twelve of the reliance layer.
    Reliance,
    /// What the schemas need besides.
    General,
}

/// A row that a command writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Write {
    /// A record of a type.
    Record(&'static str),
    /// A `LifecycleTransitionReceipt` of a record of a type.
    Transition(&'static str),
}

impl Write {
    /// The type of the row.
    #[must_use]
    pub fn kind(self) -> &'static str {
        match self {
            Write::Record(kind) => kind,
            Write::Transition(_) => "LifecycleTransitionReceipt",
        }
    }
}

/// What is shown of a command where it can't simply be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct States {
    /// There is nothing to do it to.
    pub empty: &'static str,
    /// A policy or an open question forbids it.
    pub blocked: &'static str,
    /// Something that it needs is not there.
    pub degraded: &'static str,
    /// It failed.
    pub error: &'static str,
}

/// A command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// What it is called.
    pub id: &'static str,
    /// What it does.
    pub does: &'static str,
    /// Which registry it stands in.
    pub layer: Layer,
    /// What must hold before.
    pub needs: &'static str,
    /// The schema of what is asked.
    pub request: &'static str,
    /// The schema of what is answered.
    pub response: &'static str,
    /// What it leaves in the log.
    pub durable_write: DurableWrite,
    /// What is checked before.
    pub policy_checks: &'static [&'static str],
    /// Whether a key must come along, by which a second try is known.
    pub is_keyed: bool,
    /// What is counted when it is used.
    pub telemetry: &'static str,
    /// How it can fail.
    pub failure_codes: &'static [&'static str],
    /// What it writes.
    pub writes: &'static [Write],
    /// The document that owns it.
    pub owner: &'static str,
    /// What is shown where it can't be carried out.
    pub states: States,
}

impl Command {
    /// What most commands have in common: they write, and a key must come along.
    const GENERAL: Command = Command {
        id: "",
        does: "",
        layer: Layer::General,
        needs: "",
        request: "",
        response: "",
        durable_write: DurableWrite::Required,
        policy_checks: &[],
        is_keyed: true,
        telemetry: "",
        failure_codes: &[],
        writes: &[],
        owner: "",
        states: States { empty: "", blocked: "", degraded: "", error: "" },
    };
    /// The same, for those of the reliance layer.
    const RELIANCE: Command = Command { layer: Layer::Reliance, ..Command::GENERAL };

    /// The read models that are old once it was carried out: computed from what it writes, never typed a second time.
    #[must_use]
    pub fn invalidations(&self) -> BTreeSet<&'static str> {
        self.writes.iter().flat_map(|write| made_old(*write)).collect()
    }
}

/// The read models that a row makes old, by the built-in table of invalidations.
#[must_use]
pub fn made_old(write: Write) -> BTreeSet<&'static str> {
    let is_it = |when: invalidation::When| match (write, when) {
        (Write::Transition(subject), invalidation::When::Names(_, kind)) => kind == snake(subject),
        (
            Write::Transition(_),
            invalidation::When::Always | invalidation::When::Has(_) | invalidation::When::Is(..),
        ) => false,
        (Write::Record(_), _) => true,
    };
    let specs = invalidation::specs(write.kind()).filter(|spec| is_it(spec.when));
    specs.flat_map(|spec| spec.invalidates.iter().map(|(model, _)| model.as_str())).collect()
}

/// All commands that are built in.
pub fn all() -> impl Iterator<Item = &'static Command> {
    RELIANCE.iter().chain(GENERAL).chain(BESIDES)
}

/// The command of an id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Command> {
    all().find(|command| command.id == id)
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;
