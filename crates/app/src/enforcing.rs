//! A5 as an agent: the draft of a run against the artifact contract that its envelope pins.
//! Owns: what the enforcer is asked, and the one repair through the run's own model. Must not: judge a draft, or read a file
//! that an envelope names.
//!
//! The contract stands in `metadata.artifact`, in the words of `countersign enforce` without the draft and the prompt. An
//! envelope may come from anywhere, so its CodeSpec is the text itself or one of ours.

use countersign_enforce::repair::TEMPERATURE_MILLI;
use countersign_enforce::{CodeSpec, Contract, Input, Repair, RepairRequest, Violation, check};
use countersign_kernel::run::Outcome;
use countersign_record::code::Code;
use countersign_record::envelope::{Envelope, Provenance};
use countersign_record::json::{self, Json, Object};
use countersign_record::label::Label;
use countersign_record::session::{ChatMessage, Role};
use countersign_record::state::GenericEnvelope;
use countersign_record::time::Timestamp;
use countersign_runtime::agents::{Answered, Means, once, once_again};
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::agent::{Agent, Given, Said, Unseen};
use countersign_runtime::ports::model::Request;
use tokio_util::sync::CancellationToken;

/// Its name in a pipeline.
pub(crate) const NAME: &str = "enforcement";
/// What a repair may say at most, in tokens.
const TOKENS_MAX: u32 = 8_192;
/// Violations that a person is told of.
const SHOWN_MAX: usize = 5;
/// What the output says where no contract is pinned.
const NOT_PINNED: &str = "NOT_PINNED";
/// What it says where nothing was drafted.
const NOT_DRAFTED: &str = "NOT_DRAFTED";

/// A5.
pub(crate) struct Enforcement(pub(crate) Means);

impl Agent for Enforcement {
    fn unseen(&self, given: Given<'_>) -> Unseen {
        self.0.mind.unseen(given)
    }

    fn again(&self, _: Given<'_>, then: &Envelope, at: &Timestamp) -> Result<Option<Outcome>, String> {
        once_again(&self.0, NAME, then, at)
    }

    fn act<'a>(&'a self, given: Given<'a>, cancel: &'a CancellationToken) -> Answer<'a, Said> {
        Box::pin(async move {
            match asked(given.envelope) {
                Ok(Some((input, _))) if input.draft.is_empty() && self.0.work.is_some() => {
                    // A person had nothing more spent before a draft was there: nothing is to be held to the contract.
                    let output = Object::from([("status", Json::from(NOT_DRAFTED))]);
                    Said::plain(Outcome::Done(output), Provenance::default())
                }
                Ok(Some((input, spec))) => self.enforced(given, &input, &spec, cancel).await,
                Ok(None) => {
                    let output = Object::from([("status", Json::from(NOT_PINNED))]);
                    Said::plain(Outcome::Done(output), Provenance::default())
                }
                Err(message) => {
                    let outcome = Outcome::escalate("validation_fail", &message);
                    Said::plain(outcome, Provenance::default())
                }
            }
        })
    }
}

impl Enforcement {
    async fn enforced(
        &self,
        given: Given<'_>,
        input: &Input,
        spec: &CodeSpec,
        cancel: &CancellationToken,
    ) -> Said {
        let checked = check(input, spec);
        let asked = match checked.repair_request() {
            None => None,
            Some(request) => match once(&self.0, given, (NAME, &repairing(&request)), cancel).await {
                Ok(asked) => Some(asked),
                Err(said) => return *said,
            },
        };
        let repair = match asked.as_ref().map(|asked| &asked.answered) {
            None | Some(Answered::Over) => Repair::Unavailable,
            Some(Answered::Reply(reply)) => Repair::Answer(reply.text.clone()),
            Some(Answered::Nothing(Outcome::Failed(fault))) if is_late(&fault.details) => Repair::Late,
            Some(Answered::Nothing(Outcome::Failed(_))) => Repair::Failed,
            // Policy, or a person who is to be asked first: the draft waits for that.
            Some(Answered::Nothing(outcome)) => {
                return Said::plain(outcome.clone(), Provenance::default());
            }
        };
        let report = checked.judge(repair);
        let outcome = match (json::value_of(&report), report.reason()) {
            (Ok(Json::Object(payload)), None) => Outcome::Done(payload),
            (Ok(Json::Object(mut payload)), Some(reason)) => {
                payload.insert("message", Json::from(told(&report.violations)));
                Outcome::Escalate { reason: reason.to_owned(), payload }
            }
            (Ok(_) | Err(_), _) => Outcome::escalate("validation_fail", "the report can't be written"),
        };
        match asked {
            Some(asked) => asked.says(outcome),
            None => Said { label: Label::OUTSIDE, ..Said::plain(outcome, Provenance::default()) },
        }
    }
}

/// What a person is told of a draft that can't be used; the whole report is what the stage hands over.
fn told(violations: &[Violation]) -> String {
    let one = |violation: &Violation| {
        let line = violation.line.map(|line| format!(" (line {line})")).unwrap_or_default();
        format!("{}{line}: {}", violation.rule.as_str(), violation.evidence)
    };
    let shown: Vec<String> = violations.iter().take(SHOWN_MAX).map(one).collect();
    let more = match violations.len().saturating_sub(SHOWN_MAX) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!("the draft does not keep its contract: {}{more}", shown.join("; "))
}

/// What a model is asked for a repair.
pub(crate) fn repairing(request: &RepairRequest) -> Request {
    Request {
        messages: vec![ChatMessage { role: Role::User, content: request.text() }],
        max_tokens: TOKENS_MAX,
        temperature_milli: TEMPERATURE_MILLI,
        seed: None,
    }
}

fn is_late(details: &Object) -> bool {
    details.get("code").and_then(Json::as_str) == Some(Code::ModelTimeout.as_str())
}

/// What the enforcer is asked, and by which contract; nothing, where none is pinned.
fn asked(envelope: &GenericEnvelope) -> Result<Option<(Input, CodeSpec)>, String> {
    let Some(pinned) = envelope.metadata.get("artifact") else { return Ok(None) };
    let Json::Object(pinned) = pinned else {
        return Err("metadata.artifact: an object is needed".to_owned());
    };
    let draft = envelope.progress.outputs.get("draft").and_then(|draft| draft.get("text"));
    let draft = draft.and_then(Json::as_str).unwrap_or_default();
    let mut document = pinned.clone();
    document.insert("draft", Json::from(draft));
    document.insert("prompt", Json::from(envelope.identity.raw_input.as_str()));
    let input = Input::read(Json::Object(document)).map_err(|troubles| {
        let told: Vec<String> = troubles.iter().map(ToString::to_string).collect();
        format!("metadata.artifact: {}", told.join("; "))
    })?;
    let text = match &input.codespec {
        Contract::Text(text) => text.clone(),
        Contract::BuiltIn(language) => CodeSpec::built_in(*language).to_owned(),
        Contract::Path(_) => {
            let message = "metadata.artifact: a run takes the CodeSpec's text in codespec, or builtin:python or builtin:rust";
            return Err(message.to_owned());
        }
    };
    let found = countersign_record::digest::Digest::of(text.as_bytes());
    if input.codespec_sha256.is_some_and(|pinned| pinned != found) {
        return Err(format!("metadata.artifact: the CodeSpec has the SHA-256 {found}"));
    }
    let spec = CodeSpec::read(&text, input.task.language).map_err(|troubles| {
        let told: Vec<String> = troubles.iter().map(ToString::to_string).collect();
        format!("metadata.artifact: the CodeSpec: {}", told.join("; "))
    })?;
    Ok(Some((input, spec)))
}
