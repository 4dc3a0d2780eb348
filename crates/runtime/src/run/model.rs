//! An agent that is a model: what it is told, and the schema that its answer must fit.
//! Owns: the request, and reading the answer. Must not: mend an answer that does not fit; a person sees to it.

use super::mind::{Asked, Mind};
use crate::ports::Answer;
use crate::ports::agent::{Agent, Given, Handoff, Said, Unseen};
use crate::ports::model::Request;
use crate::shape::Shape;
use countersign_kernel::run::Outcome;
use countersign_record::canonical::Unwritable;
use countersign_record::envelope::Provenance;
use countersign_record::json::{self, Json};
use countersign_record::label::Label;
use countersign_record::session::{ChatMessage, Role};
use tokio_util::sync::CancellationToken;

/// The most tokens of an answer.
const TOKENS_MAX: u32 = 4_096;

/// What a model is not told, because it changes each time that somebody is called or asked: leave is for one request, and
/// the request must be the same when it was given.
const RUNS_OWN: [&str; 6] = [
    "agent_hop_count",
    "confirmation_pending",
    "confirmation_id",
    "confirmation_message",
    "confirmation_response",
    "processing_history",
];

/// An agent that is a model.
pub struct ModelAgent {
    mind: Mind,
    prompt: String,
    shape: Shape,
}

impl ModelAgent {
    /// The agent of a prompt and a schema.
    ///
    /// # Errors
    /// The schema is none.
    pub fn new(mind: Mind, prompt: String, schema: &Json) -> Result<Self, String> {
        Ok(ModelAgent { mind, prompt, shape: Shape::new(schema)? })
    }

    fn request(&self, given: Given<'_>) -> Result<Request, Outcome> {
        let unwritable = |error: Unwritable| Outcome::escalate("validation_fail", &error.to_string());
        let mut state = given.envelope.to_json().map_err(unwritable)?;
        if let Json::Object(state) = &mut state {
            RUNS_OWN.iter().for_each(|member| drop(state.remove(member)));
        }
        let state = json::to_text(&state).map_err(unwritable)?;
        let say = |role, content| ChatMessage { role, content };
        let rules = format!("{}\n\nAnswer with one JSON object and nothing else.", self.prompt);
        Ok(Request {
            messages: vec![say(Role::System, rules), say(Role::User, state)],
            max_tokens: TOKENS_MAX,
            temperature_milli: 0,
            seed: Some(0),
        })
    }

    fn read(&self, text: &str) -> Outcome {
        let violation = |why: &str| Outcome::escalate("schema_violation", why);
        match json::parse(unfenced(text).as_bytes()) {
            Ok(document @ Json::Object(_)) => match (self.shape.check(&document), document) {
                (Ok(()), Json::Object(output)) => Outcome::Done(output),
                (Err(why), _) => violation(&format!("the model's answer does not fit its schema: {why}")),
                (Ok(()), _) => violation("the model's answer is no JSON object"),
            },
            Ok(_) => violation("the model's answer is no JSON object"),
            Err(error) => violation(&format!("the model's answer is no JSON: {}", error.without_text())),
        }
    }
}

/// What stands in a fence, if all of the answer does: many models can't answer without one.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inside = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    inside.and_then(|inside| inside.strip_suffix("```")).unwrap_or(text)
}

impl Agent for ModelAgent {
    fn unseen(&self, given: Given<'_>) -> Unseen {
        self.mind.unseen(given)
    }

    fn act<'a>(&'a self, given: Given<'a>, cancel: &'a CancellationToken) -> Answer<'a, Said> {
        Box::pin(async move {
            let request = match self.request(given) {
                Ok(request) => request,
                Err(outcome) => return Said::plain(outcome, Provenance::default()),
            };
            let Asked { reply, llm_calls, receipts } =
                self.mind.ask(given, given.label, &request, cancel).await;
            let outcome = match reply {
                Ok(reply) => self.read(&reply.text),
                Err(outcome) => outcome,
            };
            let handoff = Handoff::Ours(outcome, Provenance::default());
            Said { handoff, llm_calls, label: Label::OUTSIDE, receipts }
        })
    }
}
