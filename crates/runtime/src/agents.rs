//! The agents that are built in: one for each stage of the pipelines that ship.
//! Owns: which names there are. Must not: decide; the kernel's pure parts do, and each agent puts them to work.

mod condenser;
mod critic;
mod draft;
mod evidence;
mod execution;
mod gate;
mod integration;
mod intent;
mod past;
mod perception;
mod plan;
mod retrieval;
mod search;
mod task;

pub use past::Past;
pub(crate) use task::contract_question;
pub use task::{Answered, Once, once, once_again};

use crate::clock::Clock;
use crate::ports::agent::{Agent, Said};
use crate::ports::command::Commands;
use crate::ports::sources::{Eligible, NotRead, Sources};
use crate::run::mind::Mind;
use crate::work::Work;
use countersign_kernel::inject::{self, Block, Wanted};
use countersign_kernel::run::{Fault, Outcome};
use countersign_record::canonical::Unwritable;
use countersign_record::envelope::Provenance;
use countersign_record::json::{self, Json, Object};
use countersign_record::label::Label;
use countersign_record::state::GenericEnvelope;
use serde::Serialize;
use std::sync::Arc;

/// What the agents work with.
#[derive(Clone)]
pub struct Means {
    /// Who answers.
    pub mind: Mind,
    /// What may be read; nothing, if no sources were named.
    pub sources: Option<Arc<dyn Sources>>,
    /// What may be remembered.
    pub past: Past,
    /// The time.
    pub clock: Arc<Clock>,
    /// The governed records, where the run is a task's.
    pub work: Option<Arc<Work>>,
    /// What runs the commands that look at the work; nothing, where none is to be run.
    pub commands: Option<Arc<dyn Commands>>,
}

/// The names of all agents that are built in.
pub const NAMES: [&str; 17] = [
    "perception",
    "scope",
    "injection",
    "intent",
    "plan",
    "retrieval",
    "gate",
    "condenser",
    "execution",
    "draft",
    "critic",
    "integration",
    "task_contract",
    "task_draft",
    "task_critic",
    "task_revision",
    "task_integration",
];

/// The agent of a name.
#[must_use]
pub fn built_in(name: &str, means: &Means) -> Option<Arc<dyn Agent>> {
    let means = means.clone();
    Some(match name {
        "perception" => Arc::new(perception::Perception(means)),
        "scope" => Arc::new(perception::Scope(means)),
        "injection" => Arc::new(perception::Injection(means)),
        "intent" => Arc::new(intent::Intent),
        "plan" => Arc::new(plan::Plan),
        "retrieval" => Arc::new(retrieval::Retrieval(means)),
        "gate" => Arc::new(gate::Gate(means)),
        "condenser" => Arc::new(condenser::Condenser(means)),
        "execution" => Arc::new(execution::Execution(means)),
        "draft" => Arc::new(draft::Draft(means)),
        "critic" => Arc::new(critic::Critic(means)),
        "integration" => Arc::new(integration::Integration),
        "task_contract" => Arc::new(task::Contract(means)),
        "task_draft" => Arc::new(task::Draft(means)),
        "task_critic" => Arc::new(task::Evaluator(means)),
        "task_revision" => Arc::new(task::Revisor(means)),
        "task_integration" => Arc::new(task::Handover(means)),
        _ => return None,
    })
}

impl Means {
    /// What holds for all of some files.
    fn label(&self, files: &[Eligible]) -> Label {
        let Some(sources) = &self.sources else { return Label::NOTHING };
        files.iter().fold(Label::NOTHING, |label, file| label.join(sources.label(&file.path)))
    }

    /// The files that the prompt shows whole or packed (A1), as they were when they were listed.
    async fn shown(&self, envelope: &GenericEnvelope) -> Block {
        let mut read: Vec<(Wanted, Option<String>)> = Vec::new();
        for wanted in evidence::wanted(envelope) {
            let file = Eligible { path: wanted.path.clone(), sha256: wanted.sha256 };
            let text = match &self.sources {
                Some(sources) => sources.text(&file).await.ok(),
                None => None,
            };
            read.push((wanted, text));
        }
        let given: Vec<inject::Given<'_>> = read
            .iter()
            .map(|(wanted, text)| inject::Given { wanted: wanted.clone(), text: text.as_deref() })
            .collect();
        inject::inject(&given, &inject::Limits::default())
    }
}

/// The texts that a prompt shows whole.
fn whole(block: &Block) -> Vec<&str> {
    let files = block.files.iter().filter(|file| file.mode == inject::Mode::Full);
    files.map(|file| file.text.as_str()).collect()
}

/// What an agent says that could not do its work.
pub(crate) fn failed(message: &str, recoverable: bool) -> Said {
    let (error_type, message) = ("ToolError".to_owned(), message.to_owned());
    let fault = Fault { error_type, message, recoverable, details: Object::new() };
    Said::plain(Outcome::Failed(fault), Provenance::default())
}

/// The object that a value is written as.
fn object_of<T: Serialize>(value: &T) -> Result<Object, Unwritable> {
    match json::value_of(value)? {
        Json::Object(object) => Ok(object),
        _ => Err(serde::ser::Error::custom("an object is needed")),
    }
}

/// What an agent says that has written its output, or could not.
fn written<T: Serialize>(output: &T, rests_on: Provenance) -> Said {
    match object_of(output) {
        Ok(output) => Said::plain(Outcome::Done(output), rests_on),
        Err(error) => {
            Said::plain(Outcome::escalate("validation_fail", &error.to_string()), Provenance::default())
        }
    }
}

/// What an agent says whose sources can't be read.
fn unread(NotRead { code, message }: NotRead) -> Said {
    let fault = Fault {
        error_type: "SourceError".to_owned(),
        message,
        recoverable: true,
        details: Object::from([("code", Json::from(code.as_str()))]),
    };
    Said::plain(Outcome::Failed(fault), Provenance::default())
}
