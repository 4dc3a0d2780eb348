//! A2: what a prompt asks for: intent, domain, headers, goals, and whether it must be asked back.
//! Owns: the rules, which are the same every time. Must not: override a rule, a memory or a lock: it advises.

mod tables;

use crate::relevance::stems;
use crate::sentences::sentences;
use crate::words::{place, spaced};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::canonical::Score;
use countersign_record::json::{Json, Number, Object};
use serde::Serialize;
use tables::{DOMAINS, FORMATS, INTENTS, POINTERS, QUESTIONS};

/// Goals of one prompt.
const GOALS_MAX: usize = 20;
/// Characters of a goal.
const GOAL_CHARS_MAX: usize = 400;

/// What is known before the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// It is the first thing that is said.
    Nothing,
    /// It goes on with a conversation, so "it" may mean something.
    Conversation,
}

/// What a prompt asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shape {
    /// What is to be done.
    pub intent: String,
    /// What is to be reached, in the prompt's own words.
    pub goals: Vec<String>,
    /// How sure that is, from 0 to 1.
    pub confidence: Score,
    /// Whether a person must say more first.
    pub clarification_needed: bool,
    /// What they are asked.
    pub clarification_question: Option<String>,
    /// What it is about.
    pub domain: String,
    /// What the answer should be like.
    pub headers: Headers,
}

/// What an answer should be like. Each may be given in the prompt, as a line `AUDIENCE: …`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Headers {
    /// What the one who answers is.
    pub system: String,
    /// Who reads it.
    pub audience: String,
    /// What for.
    pub purpose: String,
    /// In which tone.
    pub tone: String,
    /// How sure it must be.
    pub confidence: String,
    /// How much of it.
    pub response_depth: String,
    /// In which form.
    pub output_format: String,
}

impl Shape {
    /// As the intent stage's output says it.
    #[must_use]
    pub fn to_object(&self) -> Object {
        let Headers { system, audience, purpose, tone, confidence, response_depth, output_format } =
            &self.headers;
        let headers = Object::from([
            ("system", system.as_str().into()),
            ("audience", audience.as_str().into()),
            ("purpose", purpose.as_str().into()),
            ("tone", tone.as_str().into()),
            ("confidence", confidence.as_str().into()),
            ("response_depth", response_depth.as_str().into()),
            ("output_format", output_format.as_str().into()),
        ]);
        let mut object = Object::from([
            ("intent", self.intent.as_str().into()),
            ("goals", Json::Array(self.goals.iter().map(|goal| goal.as_str().into()).collect())),
            ("confidence", Json::Number(Number::from(self.confidence))),
            ("clarification_needed", Json::Bool(self.clarification_needed)),
            ("domain", self.domain.as_str().into()),
            ("headers", Json::Object(headers)),
        ]);
        if let Some(question) = &self.clarification_question {
            object.insert("clarification_question", question.as_str());
        }
        object
    }
}

/// What a prompt asks for.
#[must_use]
pub fn shape(prompt: &str, before: Before) -> Shape {
    let (given, body) = given_headers(prompt);
    let words = spaced(&body);
    let intent = intent(&words, &body);
    let domain = domain(&body);
    let goals = goals(&body);
    let clarification_question = unclear(&words, before);
    let confidence = match (&clarification_question, intent) {
        (Some(_), _) => 0.25,
        (None, ("answer", "")) => 0.6,
        (None, _) if words.split(' ').count() < 4 => 0.7,
        (None, _) => 0.9,
    };
    Shape {
        intent: intent.0.to_string(),
        goals,
        confidence: Score::try_from(confidence).unwrap_or(Score::of_halves(0)),
        clarification_needed: clarification_question.is_some(),
        clarification_question,
        domain: domain.to_string(),
        headers: headers(&given, &words, intent.0, domain),
    }
}

/// The headers that the prompt gives itself, and the prompt without them.
fn given_headers(prompt: &str) -> (Vec<(&'static str, String)>, String) {
    let mut given: Vec<(&'static str, String)> = Vec::new();
    let mut body = String::new();
    for line in prompt.split_inclusive('\n') {
        let header = line.split_once(':').and_then(|(name, value)| {
            let name = spaced(name);
            let known = tables::HEADERS.iter().find(|known| **known == name)?;
            Some((*known, value.trim().to_string()))
        });
        match header
            .filter(|(name, value)| !value.is_empty() && !given.iter().any(|(other, _)| other == name))
        {
            Some(header) => given.push(header),
            None => body.push_str(line),
        }
    }
    (given, body)
}

/// What is to be done, and the word that says so.
fn intent(words: &str, body: &str) -> (&'static str, &'static str) {
    // What stands first decides: "write a summary" is a draft, "summarise what was written" is not.
    let found = INTENTS.iter().flat_map(|(intent, phrases)| {
        phrases.iter().filter_map(move |phrase| place(words, phrase).map(|at| (at, *intent, *phrase)))
    });
    let first = found.min_by_key(|(at, _, phrase)| (*at, core::cmp::Reverse(phrase.len())));
    let is_question =
        body.trim_end().ends_with('?') || QUESTIONS.iter().any(|word| starts_with_word(words, word));
    match first {
        // A question is one, unless it says what to do in its first words.
        Some((at, intent, phrase)) if !is_question || at == 0 => (intent, phrase),
        Some(_) | None if is_question => ("answer", "?"),
        Some((_, intent, phrase)) => (intent, phrase),
        None => ("answer", ""),
    }
}

fn starts_with_word(words: &str, word: &str) -> bool {
    words.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// What it is about: the domain most of whose words it has; of those that have as many, the first.
fn domain(body: &str) -> &'static str {
    let stems: BTreeSet<String> = stems(body).into_iter().collect();
    let count = |words: &[&str]| {
        words.iter().filter(|word| stems.contains(&crate::relevance::stem::stem(word))).count()
    };
    let mut best = ("general", 0);
    for (domain, words) in DOMAINS {
        let count = count(words);
        if count > best.1 {
            best = (domain, count);
        }
    }
    best.0
}

/// What is to be reached: each sentence or item, in its own words.
fn goals(body: &str) -> Vec<String> {
    let mut goals: Vec<String> = Vec::new();
    for sentence in sentences(body) {
        let bare = sentence.trim_start_matches(['-', '*', '+', '#', '>', ' ']).trim();
        let goal: String = bare.chars().take(GOAL_CHARS_MAX).collect();
        let is_new = !goals.contains(&goal) && goal.chars().any(char::is_alphanumeric);
        if is_new && goals.len() < GOALS_MAX {
            goals.push(goal);
        }
    }
    goals
}

/// What must be asked back, if anything.
fn unclear(words: &str, before: Before) -> Option<String> {
    if words.is_empty() {
        return Some("What should be done?".to_string());
    }
    let said: Vec<&str> = words.split(' ').collect();
    let is_filler = |word: &&&str| tables::FILLERS.contains(*word) || POINTERS.contains(*word);
    let content = said.len() - said.iter().filter(is_filler).count();
    // "Is there a pool?" points at nothing.
    let is_existing =
        |at: usize| at > 0 && matches!(said.get(at - 1), Some(&("is" | "are" | "was" | "were")));
    let mut pointers = said.iter().enumerate().filter(|(_, word)| POINTERS.contains(*word));
    let pointer = pointers.find(|(at, word)| **word != "there" || !is_existing(*at)).map(|(_, word)| word);
    match (pointer, before) {
        (Some(pointer), Before::Nothing) if content <= 1 => Some(format!("What does “{pointer}” refer to?")),
        _ if content == 0 => Some("What exactly is asked for?".to_string()),
        _ => None,
    }
}

fn headers(given: &[(&'static str, String)], words: &str, intent: &str, domain: &str) -> Headers {
    let or = |name: &str, usual: &str| {
        given
            .iter()
            .find(|(other, _)| *other == name)
            .map_or_else(|| usual.to_string(), |(_, value)| value.clone())
    };
    let has = |phrases: &[&str]| phrases.iter().any(|phrase| place(words, phrase).is_some());
    let format =
        FORMATS.iter().find(|(_, phrases)| has(phrases)).map_or("prose with citations", |(format, _)| format);
    let depth = if has(&["brief", "briefly", "short", "in one sentence", "quick"]) {
        "brief"
    } else if has(&["detailed", "in detail", "thorough", "comprehensive", "step by step"]) {
        "detailed"
    } else {
        "normal"
    };
    let audience = match domain {
        "code" => "developers",
        "legal" => "lawyers",
        "finance" => "people who answer for the numbers",
        _ => "whoever asked",
    };
    Headers {
        system: or("system", "You answer from the sources you are given, and cite each of them."),
        audience: or("audience", audience),
        purpose: or("purpose", &format!("to {}", intent.replace('_', " "))),
        tone: or("tone", "plain"),
        confidence: or("confidence", "say what is not known"),
        response_depth: or("response depth", depth),
        output_format: or("output format", format),
    }
}

#[cfg(test)]
#[path = "shape/shape_tests.rs"]
mod tests;
