//! Draft: the work product, from the Super-Prompt.
//! Owns: assembling it, asking the model, cutting what it says into cited sentences. Must not: judge them; the critic does.
//!
//! The embedded model writes by quoting: its draft is the evidence itself, each quote with its place.

use super::evidence::{Evidence, is_artifact, question, quotes};
use super::past::Told;
use super::{Means, written};
use crate::ports::Answer;
use crate::ports::agent::{Agent, Given, Handoff, Said, Unseen};
use crate::ports::model::Request;
use crate::run::mind::Asked;
use countersign_kernel::inject::Block;
use countersign_kernel::run::Outcome;
use countersign_kernel::sentences::sentences;
use countersign_kernel::super_prompt::{Assembled, Part, Receipt, Section, assemble};
use countersign_record::envelope::Provenance;
use countersign_record::json::{self, Json};
use countersign_record::label::Label;
use countersign_record::session::{ChatMessage, Role};
use countersign_record::state::GenericEnvelope;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

/// The most tokens that a model is told.
const BUDGET_TOKENS: u64 = 6_000;
/// The most tokens that it may say.
const ANSWER_TOKENS_MAX: u32 = 2_048;
/// Who writes by quoting.
const EMBEDDED: &str = "extractive";
const RULES: &str = "Answer from the facts below and from nothing else.\n\
End each sentence with the location of the fact that it rests on, in brackets, exactly as it is given: [path:line].\n\
If the facts do not answer the task, say only: The sources do not say.\n";

/// What a model is told where an artifact is asked for: what the enforcer (A5) looks at first.
const ARTIFACT_RULES: &str = "Write one file and nothing else: one fenced block with its language, no prose around it.\n\
Use the facts below and invent no interface that they do not show.\n";

/// The work product.
pub(super) struct Draft(pub(super) Means);

#[derive(Serialize)]
struct Drafted {
    text: String,
    sentences: Vec<Sentence>,
    super_prompt: Receipt,
    written_by: String,
}

/// A sentence, and where it says it comes from.
#[derive(Serialize)]
struct Sentence {
    text: String,
    location: Option<String>,
}

impl Agent for Draft {
    fn unseen(&self, given: Given<'_>) -> Unseen {
        self.0.mind.unseen(given)
    }

    fn act<'a>(&'a self, given: Given<'a>, cancel: &'a CancellationToken) -> Answer<'a, Said> {
        Box::pin(async move {
            let evidence = quotes(given.envelope);
            let block = self.0.shown(given.envelope).await;
            let about = self.0.mind.model.about();
            // Who only quotes is told nothing that can't be quoted.
            let past = match about.provider.as_str() {
                EMBEDDED => Told { parts: Vec::new(), label: Label::NOTHING },
                _ => match self.0.told(&question(given.envelope), &paths(&block)).await {
                    Ok(told) => told,
                    Err(said) => return said,
                },
            };
            let Assembled { text: told, receipt } =
                match assemble(&parts(given.envelope, &past, &block, &evidence), BUDGET_TOKENS) {
                    Ok(assembled) => assembled,
                    Err(error) => {
                        let outcome = Outcome::escalate("insufficient_context", &error.to_string());
                        return Said::plain(outcome, Provenance::default());
                    }
                };
            let written_by = about.model.clone();
            if about.provider == EMBEDDED && is_artifact(given.envelope) {
                let message =
                    "the embedded model quotes and writes no artifact: begin the run with another model";
                let outcome = Outcome::escalate("insufficient_context", message);
                return Said::plain(outcome, Provenance::default());
            }
            if about.provider == EMBEDDED {
                let sentences = evidence.iter().map(quoted).collect();
                let text = super::integration::composed(&evidence);
                let drafted = Drafted { text, sentences, super_prompt: receipt, written_by };
                return written(&drafted, Provenance::default());
            }
            let request = Request {
                messages: vec![ChatMessage { role: Role::User, content: told }],
                max_tokens: ANSWER_TOKENS_MAX,
                temperature_milli: 0,
                seed: Some(0),
            };
            let Asked { reply, llm_calls, receipts } =
                self.0.mind.ask(given, given.label.join(past.label), &request, cancel).await;
            let said = match reply {
                Ok(reply) => {
                    let is_artifact = is_artifact(given.envelope);
                    let sentences = if is_artifact { Vec::new() } else { cited(&reply.text, &evidence) };
                    let text = reply.text.trim().to_owned();
                    written(
                        &Drafted { text, sentences, super_prompt: receipt, written_by },
                        Provenance::default(),
                    )
                }
                Err(outcome) => {
                    let handoff = Handoff::Ours(outcome, Provenance::default());
                    Said { handoff, llm_calls: 0, label: Label::NOTHING, receipts: Vec::new() }
                }
            };
            Said { llm_calls, receipts, label: Label::OUTSIDE.join(past.label), ..said }
        })
    }
}

fn quoted(evidence: &Evidence) -> Sentence {
    Sentence { text: evidence.content.clone(), location: Some(evidence.location.clone()) }
}

fn paths(block: &Block) -> Vec<String> {
    block.files.iter().map(|file| file.path.clone()).collect()
}

fn parts(envelope: &GenericEnvelope, past: &Told, block: &Block, evidence: &[Evidence]) -> Vec<Part> {
    let part = |section, name: &str, text: String| Part { section, name: name.to_owned(), text };
    let (rule, rules) =
        if is_artifact(envelope) { ("artifact", ARTIFACT_RULES) } else { ("citations", RULES) };
    let mut parts = vec![part(Section::HardRules, rule, rules.to_owned())];
    for (name, words) in &past.parts {
        parts.push(part(Section::ProjectMemory, name, words.clone()));
    }
    for file in &block.files {
        parts.push(part(Section::Files, &file.path, file.shown()));
    }
    for one in evidence {
        parts.push(part(Section::Context, &one.location, format!("- [{}] {}\n", one.location, one.content)));
    }
    let execution = envelope.progress.outputs.get("execution");
    if let Some(Json::Array(issues)) = execution.and_then(|execution| execution.get("open_issues")) {
        for issue in issues {
            let text = json::to_text(issue);
            parts.push(part(
                Section::Context,
                "open issue",
                format!("- open: {}\n", text.unwrap_or_default()),
            ));
        }
    }
    for feedback in &envelope.goals.critic_feedback {
        parts.push(part(Section::Context, "feedback", format!("- was refused: {feedback}\n")));
    }
    let mut task = question(envelope);
    let goals =
        envelope.progress.outputs.get("intent").map(|intent| intent.texts("goals")).unwrap_or_default();
    if goals.len() > 1 {
        task.push_str("\nGoals:\n");
        goals.iter().for_each(|goal| task.push_str(&format!("- {goal}\n")));
    }
    parts.push(part(Section::Task, "task", task));
    parts
}

/// The sentences of an answer, each with the location that stands in it. A mark that names no evidence stays in the text,
/// where the critic sees it.
fn cited(answer: &str, evidence: &[Evidence]) -> Vec<Sentence> {
    let mut found: Vec<Sentence> = Vec::new();
    for sentence in sentences(answer) {
        let location = evidence
            .iter()
            .map(|one| &one.location)
            .find(|location| sentence.contains(&format!("[{location}]")));
        let bare =
            location.map_or(sentence.to_owned(), |location| sentence.replace(&format!("[{location}]"), ""));
        let bare = bare.trim().to_owned();
        match (location, found.last_mut()) {
            // A citation after the full stop belongs to the sentence before it.
            (Some(location), Some(last)) if bare.chars().all(|letter| !letter.is_alphanumeric()) => {
                last.location.get_or_insert_with(|| location.clone());
            }
            _ if bare.chars().all(|letter| !letter.is_alphanumeric()) => {}
            (location, _) => found.push(Sentence { text: bare, location: location.cloned() }),
        }
    }
    found
}
