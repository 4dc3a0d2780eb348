//! What stages hand each other: files that may be read, and quotes with their places.
//! Owns: writing and reading them. Must not: trust an envelope; whatever does not read is not there.

use crate::ports::sources::Eligible;
use countersign_kernel::condense::Fact;
use countersign_kernel::inject::Wanted;
use countersign_record::digest::Digest;
use countersign_record::fields::Fields;
use countersign_record::json::Json;
use countersign_record::state::GenericEnvelope;
use serde::Serialize;

/// A quote, in the contract's words and with its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Evidence {
    /// `path:line` or `path:first-last`.
    pub(super) location: String,
    /// The words, exactly as they stand there.
    pub(super) content: String,
    /// What it is evidence for.
    pub(super) relevance: String,
    pub(super) path: String,
    pub(super) first_line: u64,
    pub(super) last_line: u64,
    /// Where in the file, in bytes.
    pub(super) start: u64,
    pub(super) end: u64,
    /// SHA-256 of the piece that it was taken from.
    pub(super) sha256: Digest,
}

impl Evidence {
    pub(super) fn of(fact: &Fact, goal: &str) -> Self {
        let citation = &fact.citation;
        let (first, last) = (citation.first_line, citation.last_line);
        let lines = if first == last { first.to_string() } else { format!("{first}-{last}") };
        Evidence {
            location: format!("{}:{lines}", citation.path),
            content: fact.text.clone(),
            relevance: goal.to_owned(),
            path: citation.path.clone(),
            first_line: first as u64,
            last_line: last as u64,
            start: citation.bytes.start as u64,
            end: citation.bytes.end as u64,
            sha256: citation.sha256,
        }
    }

    /// What it says, on one line.
    pub(super) fn said(&self) -> String {
        self.content.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Whether another one has the same words in the same place, whatever it is evidence for.
    pub(super) fn says_the_same(&self, other: &Evidence) -> bool {
        self.location == other.location && self.content == other.content
    }

    /// Whether it stands there in a text.
    pub(super) fn stands_in(&self, text: &str) -> bool {
        let (Ok(start), Ok(end)) = (usize::try_from(self.start), usize::try_from(self.end)) else {
            return false;
        };
        text.get(start..end) == Some(&self.content)
    }
}

/// The evidence of a run, each quote once, whatever it is evidence for.
pub(super) fn quotes(envelope: &GenericEnvelope) -> Vec<Evidence> {
    let mut all: Vec<Evidence> = Vec::new();
    for one in evidence(envelope) {
        if !all.iter().any(|known| known.says_the_same(&one)) {
            all.push(one);
        }
    }
    all
}

/// The evidence of a run, as its execution left it.
pub(super) fn evidence(envelope: &GenericEnvelope) -> Vec<Evidence> {
    list(envelope, &["execution"], "evidence", |fields| {
        let texts = ["location", "content", "relevance", "path"].map(|name| fields.text(name));
        let numbers = ["first_line", "last_line", "start", "end"].map(|name| fields.integer(name));
        let sha256 = fields.parse("sha256", |text| Digest::try_from(text))?;
        let ([location, content, relevance, path], [first_line, last_line, start, end]) = (texts, numbers);
        Some(Evidence {
            location: location?,
            content: content?,
            relevance: relevance?,
            path: path?,
            first_line: first_line?,
            last_line: last_line?,
            start: start?,
            end: end?,
            sha256,
        })
    })
}

/// The files that may be read, as perception left them.
pub(super) fn eligible(envelope: &GenericEnvelope) -> Vec<Eligible> {
    list(envelope, &["perception"], "eligible_files", |fields| {
        let (path, sha256) = (fields.text("path"), fields.parse("sha256", |text| Digest::try_from(text)));
        Some(Eligible { path: path?, sha256: sha256? })
    })
}

/// The files that are to be shown whole, as perception or A1 left them.
pub(super) fn wanted(envelope: &GenericEnvelope) -> Vec<Wanted> {
    list(envelope, &["perception", "files"], "files_block", |fields| {
        let (path, sha256) = (fields.text("path"), fields.parse("sha256", |text| Digest::try_from(text)));
        Some(Wanted { path: path?, sha256: sha256?, reason: fields.texts("reason")? })
    })
}

/// A list of an output, the first one that has it, without what does not read.
pub(super) fn list<T>(
    envelope: &GenericEnvelope,
    keys: &[&str],
    member: &str,
    read: impl Fn(&mut Fields<'_>) -> Option<T>,
) -> Vec<T> {
    let member = keys.iter().find_map(|key| envelope.progress.outputs.get(*key)?.get(member));
    let Some(Json::Array(items)) = member else { return Vec::new() };
    let one = |item: &Json| {
        let mut fields = Fields::of(item).ok()?;
        let value = read(&mut fields)?;
        fields.finish().ok().map(|()| value)
    };
    items.iter().filter_map(one).collect()
}

/// What the run is after: its goals, or what was asked.
pub(super) fn goals(envelope: &GenericEnvelope) -> Vec<String> {
    match envelope.goals.remaining_goals.as_slice() {
        [] => vec![question(envelope)],
        goals => goals.to_vec(),
    }
}

/// What was asked, with what a person answered when they were asked back.
pub(super) fn question(envelope: &GenericEnvelope) -> String {
    let asked = envelope.identity.raw_input.trim();
    match envelope.clarification.response.as_deref().map(str::trim) {
        Some(answer) if !answer.is_empty() => format!("{asked}\n{answer}"),
        Some(_) | None => asked.to_owned(),
    }
}

/// Whether the envelope pins an artifact contract: then a file is written, and the enforcer judges it.
pub(super) fn is_artifact(envelope: &GenericEnvelope) -> bool {
    envelope.metadata.get("artifact").is_some()
}
