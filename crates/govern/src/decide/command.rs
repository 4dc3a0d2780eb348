//! What becomes of a command that somebody gives.
//! Owns: whether it is known, whether it was given before, whether its policy checks let it through, what it makes old. Must not:
//! carry it out, or check a policy: the decisions come along.

use super::{id_from, named};
use crate::table::commands::{self, Command, Write};
use crate::table::invalidation;
use crate::types::added::policy::PolicyDecision;
pub use crate::types::added::showing::CommandStatus as Outcome;
use crate::types::added::showing::{ActorKind, CommandInvocation, CommandReceipt};
use crate::types::basic::{Instant as At, V10};
use crate::types::command::{DurableWrite, RelianceLayerCommandRegistryEntry, TaskCommandRegistryEntry};
use crate::types::read_models::DerivedReadModelRecordReadModelKind as ReadModel;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::time::Timestamp;

/// The command that a reference names: `command:ID`, an entry of a registry, or the id itself.
#[must_use]
pub fn id_of(text: &str) -> &str {
    let kinds = ["command:", "reliance_layer_command_registry_entry:", "task_command_registry_entry:"];
    kinds.iter().find_map(|kind| text.strip_prefix(kind)).unwrap_or(text)
}

/// What specs of one's own say that events of a kind make old; they stand for what is built in.
pub type Specs<'a> = BTreeMap<&'a str, Vec<&'a str>>;

/// The read models that must be derived anew after a command: those that its rows make old, by the rows of the built-in command
/// of its id and by the event kinds that its entry names.
#[must_use]
pub fn made_old<'a>(id: &str, event_kinds: &[&str], specs: &Specs<'a>) -> BTreeSet<&'a str> {
    let of_write = |write: &Write| match specs.get(write.kind()) {
        Some(models) => models.iter().copied().collect(),
        None => commands::made_old(*write),
    };
    let built_in = |event: &str| -> Vec<&'a str> {
        invalidation::invalidates(event).unwrap_or_default().iter().map(|(model, _)| model.as_str()).collect()
    };
    let writes = commands::find(id).map(|command| command.writes).unwrap_or_default();
    let mut old: BTreeSet<&str> = writes.iter().flat_map(of_write).collect();
    old.extend(
        event_kinds.iter().flat_map(|event| specs.get(event).cloned().unwrap_or_else(|| built_in(event))),
    );
    old
}

/// How a command is registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry<'a> {
    /// It is built in.
    BuiltIn(&'static Command),
    /// A row registers it.
    Task(&'a TaskCommandRegistryEntry),
    /// A row registers it for the surfaces of reliance.
    Reliance(&'a RelianceLayerCommandRegistryEntry),
}

impl<'a> Entry<'a> {
    fn is_keyed(self) -> bool {
        match self {
            Entry::BuiltIn(command) => command.is_keyed,
            Entry::Task(row) => row.idempotency_key_required,
            Entry::Reliance(row) => row.idempotency_key_required,
        }
    }

    fn checks(self) -> Vec<&'a str> {
        match self {
            Entry::BuiltIn(command) => command.policy_checks.to_vec(),
            Entry::Task(row) => row.required_policy_checks.iter().map(String::as_str).collect(),
            Entry::Reliance(row) => row.required_policy_checks.iter().map(String::as_str).collect(),
        }
    }

    fn is_writing(self) -> bool {
        let said = match self {
            Entry::BuiltIn(command) => return command.durable_write == commands::DurableWrite::Required,
            Entry::Task(row) => row.durable_write,
            Entry::Reliance(row) => row.durable_write,
        };
        match said {
            DurableWrite::Required => true,
            DurableWrite::None | DurableWrite::ExplicitNoOp => false,
        }
    }

    /// What is shown where it can't simply be carried out; rows of the general registry do not say.
    fn shown(self, outcome: Outcome, standing: Standing) -> Option<String> {
        let (empty, blocked, degraded): (&str, &str, &str) = match self {
            Entry::BuiltIn(command) => {
                (command.states.empty, command.states.blocked, command.states.degraded)
            }
            Entry::Task(_) => return None,
            Entry::Reliance(row) => {
                (&row.empty_state_behavior, &row.blocked_state_behavior, &row.degraded_state_behavior)
            }
        };
        let shown = match (outcome, standing) {
            (Outcome::PolicyDenied | Outcome::WrongState, _) => Some(blocked),
            (Outcome::NotFound, _) => Some(empty),
            (Outcome::Accepted, Standing::Degraded) => Some(degraded),
            (Outcome::Accepted, Standing::Ready | Standing::Empty | Standing::Blocked) => None,
        };
        shown.map(ToString::to_string)
    }

    /// What it makes old: what its rows do, and what its entry lists besides.
    fn made_old(self, id: &str, specs: &Specs<'a>) -> BTreeSet<ReadModel> {
        let (listed, kinds): (&[ReadModel], Option<&Vec<String>>) = match self {
            Entry::BuiltIn(_) => (&[], None),
            Entry::Task(row) => (&row.read_model_invalidations, row.writes_event_kinds.as_ref()),
            Entry::Reliance(row) => (&row.read_model_invalidations, row.writes_event_kinds.as_ref()),
        };
        let kinds: Vec<&str> = kinds.into_iter().flatten().map(String::as_str).collect();
        let computed = made_old(id, &kinds, specs).into_iter().filter_map(ReadModel::find);
        computed.chain(listed.iter().copied()).filter(|_| self.is_writing()).collect()
    }
}

/// What is registered: what is built in, and the rows that came on top; of several for one command the last.
#[derive(Clone, Debug, Default)]
pub struct Registry<'a> {
    rows: BTreeMap<&'a str, Entry<'a>>,
    specs: Specs<'a>,
}

impl<'a> Registry<'a> {
    /// Registers a command.
    pub fn add(&mut self, row: &'a TaskCommandRegistryEntry) {
        self.rows.insert(&row.command_id, Entry::Task(row));
    }

    /// Registers a command of the surfaces of reliance.
    pub fn add_reliance(&mut self, row: &'a RelianceLayerCommandRegistryEntry) {
        self.rows.insert(row.command_id.as_str(), Entry::Reliance(row));
    }

    /// Says what events of a kind make old.
    pub fn specify(&mut self, event_kind: &'a str, models: Vec<&'a str>) {
        self.specs.insert(event_kind, models);
    }

    /// How a command is registered.
    #[must_use]
    pub fn find(&self, command: &str) -> Option<Entry<'a>> {
        let id = id_of(command);
        self.rows.get(id).copied().or_else(|| commands::find(id).map(Entry::BuiltIn))
    }
}

/// What was given before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    by_key: BTreeMap<String, Earlier>,
    ids: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Earlier {
    command: String,
    request_hash: String,
    actor: String,
    receipt: CommandReceipt,
}

impl Earlier {
    fn of(invocation: &CommandInvocation, receipt: &CommandReceipt) -> Self {
        Earlier {
            command: id_of(&invocation.command_id).to_string(),
            request_hash: invocation.request_hash.clone(),
            actor: invocation.actor_ref.as_str().to_string(),
            receipt: receipt.clone(),
        }
    }

    fn is_of(&self, invocation: &CommandInvocation) -> bool {
        self.command == id_of(&invocation.command_id)
            && self.request_hash == invocation.request_hash
            && self.actor == invocation.actor_ref.as_str()
    }
}

impl Given {
    /// Takes an answer into account; the same while it is written and when the log is read.
    pub fn apply(&mut self, invocation: &CommandInvocation, receipt: &CommandReceipt) {
        self.ids.insert(invocation.invocation_id.clone());
        if let Some(key) = &invocation.idempotency_key {
            self.by_key.insert(key.clone(), Earlier::of(invocation, receipt));
        }
    }
}

/// Whether there is what a command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// There is, and it may be done.
    Ready,
    /// It may be done, though a part is missing.
    Degraded,
    /// There is nothing to do it to.
    Empty,
    /// What it is for is not in a state for it.
    Blocked,
}

/// What a command is decided by besides the registry and what came before.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances<'a> {
    /// When.
    pub at: &'a Timestamp,
    /// What the policy checks said, by what each is called.
    pub checks: &'a BTreeMap<&'a str, PolicyDecision>,
    /// Whether there is what it is for.
    pub standing: Standing,
}

/// What was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// What is answered.
    pub receipt: CommandReceipt,
    /// Whether it was answered before: nothing is appended and nothing done then.
    pub is_repeated: bool,
    /// The read models that are old once it was carried out.
    pub made_old: BTreeSet<ReadModel>,
    /// What is shown where it can't simply be carried out.
    pub shown: Option<String>,
}

/// Why an invocation gets no receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Refusal {
    /// No registry knows the command.
    #[error("no registry knows the command")]
    Unknown,
    /// It has no id.
    #[error("the invocation has no id or says nothing of what is asked")]
    Unnamed,
    /// The command demands a key and none came along.
    #[error("the command demands a key")]
    NoKey,
    /// The key stands for something else.
    #[error("the key was used for something else")]
    KeyReused,
    /// The id stands for something else.
    #[error("the id was used for something else")]
    IdReused,
}

impl Refusal {
    /// The code of it: a validation code where the invocation would have one, else a failure code of the registry.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Refusal::Unknown => "validation.user_action_without_command_registry_entry",
            Refusal::NoKey => "validation.command_missing_idempotency_key",
            Refusal::KeyReused => "idempotency_key_reused",
            Refusal::Unnamed | Refusal::IdReused => "wrong_state",
        }
    }
}

/// What becomes of a command.
///
/// # Errors
/// It is not known, has no key where it needs one, or a key that stands for something else.
pub fn decide(
    registry: &Registry<'_>,
    before: &Given,
    invocation: &CommandInvocation,
    circumstances: &Circumstances<'_>,
) -> Result<Ruling, Refusal> {
    let entry = registry.find(&invocation.command_id).ok_or(Refusal::Unknown)?;
    let is_named = named("command_invocation", &invocation.invocation_id).is_some();
    if !is_named || invocation.request_hash.trim().is_empty() {
        return Err(Refusal::Unnamed);
    }
    let key = invocation.idempotency_key.as_deref().filter(|key| !key.trim().is_empty());
    if key.is_none() && (entry.is_keyed() || invocation.idempotency_key.is_some()) {
        return Err(Refusal::NoKey);
    }
    match key.and_then(|key| before.by_key.get(key)) {
        Some(earlier) if earlier.is_of(invocation) => {
            let receipt = earlier.receipt.clone();
            return Ok(Ruling { receipt, is_repeated: true, made_old: BTreeSet::new(), shown: None });
        }
        Some(_) => return Err(Refusal::KeyReused),
        None if before.ids.contains(&invocation.invocation_id) => return Err(Refusal::IdReused),
        None => {}
    }
    let outcome = judge(entry, invocation.actor_kind, circumstances);
    let made_old = match outcome {
        Outcome::Accepted => entry.made_old(id_of(&invocation.command_id), &registry.specs),
        Outcome::PolicyDenied | Outcome::NotFound | Outcome::WrongState => BTreeSet::new(),
    };
    let receipt = CommandReceipt {
        receipt_id: id_from("receipt", &[&invocation.invocation_id]),
        invocation_id: invocation.invocation_id.clone(),
        status: outcome,
        created_at: At::from(circumstances.at),
        schema_version: Some(V10),
    };
    let shown = entry.shown(outcome, circumstances.standing);
    Ok(Ruling { receipt, is_repeated: false, made_old, shown })
}

/// Policies come first: who may not do it does not learn whether it could be done.
fn judge(entry: Entry<'_>, actor: ActorKind, circumstances: &Circumstances<'_>) -> Outcome {
    let passes = |check: &&str| match circumstances.checks.get(check) {
        Some(PolicyDecision::Allow | PolicyDecision::Warn) => true,
        Some(PolicyDecision::RequireHuman) => actor == ActorKind::User,
        Some(PolicyDecision::Deny) | None => false,
    };
    if !entry.checks().iter().all(passes) {
        return Outcome::PolicyDenied;
    }
    match circumstances.standing {
        Standing::Ready | Standing::Degraded => Outcome::Accepted,
        Standing::Empty => Outcome::NotFound,
        Standing::Blocked => Outcome::WrongState,
    }
}
