//! An agent that is a model: what it is told, and the schema that its answer must fit.
//! Owns: the request, and reading the answer. Must not: mend an answer that does not fit; a person sees to it.

use super::mind::{Asked, Mind};
use crate::ports::Answer;
use crate::ports::agent::{Agent, Given, Handoff, Said};
use crate::ports::model::Request;
use crate::shape::Shape;
use countersign_kernel::run::Outcome;
use countersign_record::deed::Externalized;
use countersign_record::envelope::Provenance;
use countersign_record::json::{self, Json};
use countersign_record::label::Label;
use countersign_record::session::{ChatMessage, Role};
use tokio_util::sync::CancellationToken;

/// The most tokens of an answer.
const TOKENS_MAX: u32 = 4_096;

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
        let state = json::to_text(given.envelope)
            .map_err(|error| Outcome::escalate("validation_fail", &error.to_string()))?;
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
    fn is_repeatable(&self) -> bool {
        self.mind.is_here()
    }

    fn unseen(&self, given: Given<'_>) -> Vec<Externalized> {
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
