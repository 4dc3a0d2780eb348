//! Perception: what was asked, which files may be used for it (A0), which are shown whole (A1), and what is remembered.
//! Owns: putting A0 and A1 to work. Must not: read a file that is not eligible.

use super::evidence::{eligible, question};
use super::past::Remembered;
use super::{Means, unread, written};
use crate::ports::Answer;
use crate::ports::agent::{Agent, Given, Said, Unseen};
use crate::ports::sources::{Eligible, Manifest};
use countersign_kernel::inject;
use countersign_kernel::run::Outcome;
use countersign_kernel::scope::{self, Fallback, Input, Payload};
use countersign_record::envelope::{FileRef, HistoryRef, Provenance};
use countersign_record::json::{Json, Object};
use serde::Serialize;
use std::collections::BTreeSet;
use tokio_util::sync::CancellationToken;

/// The most files that a run looks through: its envelope names each of them.
const FILES_MAX: usize = 2_000;
/// The most names that are told of a prompt.
const ENTITIES_MAX: usize = 20;
/// Words that hardly a text of the language is without.
const LANGUAGES: [(&str, &[&str]); 4] = [
    ("en", &["the", "is", "what", "of", "and", "does", "how", "who", "when", "which", "a", "in", "to"]),
    ("de", &["der", "die", "das", "und", "ist", "was", "wer", "wann", "wie", "ein", "eine", "nicht"]),
    ("fr", &["le", "la", "les", "est", "et", "que", "qui", "quand", "une", "des", "dans"]),
    ("es", &["el", "los", "las", "es", "y", "que", "quien", "cuando", "una", "del", "como"]),
];

/// Which files may be used for what was asked.
pub(super) struct Perception(pub(super) Means);

#[derive(Serialize)]
struct Perceived {
    normalized_input: String,
    detected_language: &'static str,
    extracted_entities: Vec<String>,
    context: Context,
    eligible_files: Vec<scope::Eligible>,
    /// How many files are not eligible, by the word for why.
    dropped: Object,
    /// What is there and can't be read.
    skipped: Vec<[String; 2]>,
    /// The files that are shown whole or packed, where no other stage says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    files_block: Option<Vec<inject::Wanted>>,
}

#[derive(Serialize)]
struct Context {
    #[serde(flatten)]
    remembered: Remembered,
    user_preferences: Object,
}

impl Agent for Perception {
    fn unseen(&self, _: Given<'_>) -> Unseen {
        Unseen::Repeatable
    }

    fn act<'a>(&'a self, given: Given<'a>, _: &'a CancellationToken) -> Answer<'a, Said> {
        Box::pin(async move {
            let asked = question(given.envelope);
            match scoped(&self.0, &asked).await {
                Ok((manifest, scope)) => {
                    let wanted = inject::wanted(&asked, &manifest.files, &scope);
                    perceive(&self.0, &asked, &manifest, scope, Some(wanted)).await
                }
                Err(said) => said,
            }
        })
    }
}

/// Which files may be used for what was asked, and no more (A0).
pub(super) struct Scope(pub(super) Means);

impl Agent for Scope {
    fn unseen(&self, _: Given<'_>) -> Unseen {
        Unseen::Repeatable
    }

    fn act<'a>(&'a self, given: Given<'a>, _: &'a CancellationToken) -> Answer<'a, Said> {
        Box::pin(async move {
            let asked = question(given.envelope);
            match scoped(&self.0, &asked).await {
                Ok((manifest, scope)) => perceive(&self.0, &asked, &manifest, scope, None).await,
                Err(said) => said,
            }
        })
    }
}

/// Which of the eligible files are shown whole or packed (A1).
pub(super) struct Injection(pub(super) Means);

#[derive(Serialize)]
struct Shown {
    files_block: Vec<inject::Wanted>,
}

impl Agent for Injection {
    fn unseen(&self, _: Given<'_>) -> Unseen {
        Unseen::Repeatable
    }

    fn act<'a>(&'a self, given: Given<'a>, _: &'a CancellationToken) -> Answer<'a, Said> {
        Box::pin(async move {
            let asked = question(given.envelope);
            let eligible = eligible(given.envelope);
            // The files are listed again: one that A0 did not find eligible, or that was changed since, is not shown.
            match scoped(&self.0, &asked).await {
                Ok((manifest, scope)) => {
                    let is_eligible = |wanted: &inject::Wanted| {
                        eligible.iter().any(|file| file.path == wanted.path && file.sha256 == wanted.sha256)
                    };
                    let wanted = inject::wanted(&asked, &manifest.files, &scope);
                    let shown = Shown { files_block: wanted.into_iter().filter(is_eligible).collect() };
                    Said { label: self.0.label(&eligible), ..written(&shown, Provenance::default()) }
                }
                Err(said) => said,
            }
        })
    }
}

/// The files that there are, and which of them may be used (A0).
async fn scoped(means: &Means, asked: &str) -> Result<(Manifest, Payload), Said> {
    let Some(sources) = &means.sources else { return Ok((Manifest::default(), Payload::default())) };
    let manifest = sources.manifest().await.map_err(unread)?;
    let scope = scope::select(&input(asked, &manifest));
    if scope.code.is_some() { Err(empty(&manifest)) } else { Ok((manifest, scope)) }
}

/// What is known before anything is looked for. `files_block` are the files that are shown, where it is known already.
async fn perceive(
    means: &Means,
    asked: &str,
    manifest: &Manifest,
    scope: Payload,
    files_block: Option<Vec<inject::Wanted>>,
) -> Said {
    let injected: Vec<String> = files_block.iter().flatten().map(|wanted| wanted.path.clone()).collect();
    let remembered = match means.remembered(asked, &injected).await {
        Ok(remembered) => remembered,
        Err(said) => return said,
    };
    let rests_on = rests_on(&scope.eligible_files, remembered.refs());
    let perceived = perceived(asked, manifest, scope, files_block, remembered);
    let file = |file: &scope::Eligible| Eligible { path: file.path.clone(), sha256: file.sha256 };
    let files: Vec<Eligible> = perceived.eligible_files.iter().map(file).collect();
    Said { label: means.label(&files), ..written(&perceived, rests_on) }
}

fn input(prompt: &str, manifest: &Manifest) -> Input {
    Input {
        prompt: prompt.to_owned(),
        manifest: manifest.files.clone(),
        max_files: Some(FILES_MAX),
        fallback: Fallback::AllOnUnlessNamed,
        ..Input::default()
    }
}

/// Nothing may be read: a person sees to it.
fn empty(manifest: &Manifest) -> Said {
    let skipped =
        manifest.skipped.iter().map(|(path, why)| Json::from(format!("{path}: {why}"))).take(FILES_MAX);
    let payload = Object::from([
        ("message", Json::from("none of the sources may be used: there is no file that can be read")),
        ("code", Json::from("EMPTY_ELIGIBILITY")),
        ("skipped", Json::Array(skipped.collect())),
    ]);
    let outcome = Outcome::Escalate { reason: "insufficient_context".to_owned(), payload };
    Said::plain(outcome, Provenance::default())
}

fn perceived(
    asked: &str,
    manifest: &Manifest,
    scope: Payload,
    files_block: Option<Vec<inject::Wanted>>,
    remembered: Remembered,
) -> Perceived {
    let mut dropped = Object::new();
    for traced in scope.trace.iter().filter(|traced| traced.decision == scope::Decision::Dropped) {
        let Some(word) = traced.reason.first() else { continue };
        let count = match dropped.get(word) {
            Some(Json::Number(number)) => number.as_u64().unwrap_or(0),
            Some(_) | None => 0,
        };
        let count = countersign_record::json::Number::try_from(count + 1).map_or(Json::Null, Json::Number);
        dropped.insert(word.as_str(), count);
    }
    let skipped = manifest.skipped.iter().take(FILES_MAX);
    Perceived {
        normalized_input: asked.split_whitespace().collect::<Vec<_>>().join(" "),
        detected_language: language(asked),
        extracted_entities: entities(asked),
        context: Context { remembered, user_preferences: Object::new() },
        files_block,
        eligible_files: scope.eligible_files,
        dropped,
        skipped: skipped.map(|(path, why)| [path.clone(), why.clone()]).collect(),
    }
}

fn rests_on(files: &[scope::Eligible], history_refs: Vec<HistoryRef>) -> Provenance {
    let file = |file: &scope::Eligible| FileRef {
        path: file.path.clone(),
        sha256: file.sha256,
        mtime: Some(file.mtime.clone()),
    };
    Provenance {
        files: files.iter().map(file).collect(),
        history_refs,
        eligibility: files.iter().map(|file| file.path.clone()).collect(),
    }
}

/// The language whose small words it has most of; none where that says nothing.
fn language(text: &str) -> &'static str {
    let words: Vec<String> = text
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let mut best = ("und", 0);
    for (language, small) in LANGUAGES {
        let count = words.iter().filter(|word| small.contains(&word.as_str())).count();
        if count > best.1 {
            best = (language, count);
        }
    }
    best.0
}

/// What the prompt names: words that begin with a capital though no sentence does, and what stands in quotation marks.
fn entities(text: &str) -> Vec<String> {
    let mut found: BTreeSet<String> = BTreeSet::new();
    for quoted in text.split('"').skip(1).step_by(2) {
        found.insert(quoted.trim().to_owned());
    }
    let mut name: Vec<&str> = Vec::new();
    let mut begins = true;
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        let is_name = bare.chars().next().is_some_and(char::is_uppercase) && (!begins || !name.is_empty());
        if is_name {
            name.push(bare);
        } else if !name.is_empty() {
            found.insert(std::mem::take(&mut name).join(" "));
        }
        begins = word.ends_with(['.', '?', '!', ':']);
        if is_name && (begins || word.ends_with(',')) {
            found.insert(std::mem::take(&mut name).join(" "));
        }
    }
    found.insert(name.join(" "));
    found.into_iter().filter(|name| !name.is_empty()).take(ENTITIES_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_prompt_names() {
        let names = entities("When does Harbour Lease Ltd, of Bergen, pay \"the deposit\"? It asked Ana.");
        assert_eq!(names, ["Ana", "Bergen", "Harbour Lease Ltd", "the deposit"]);
        assert!(entities("what is it").is_empty());
    }

    /// The paths that may be read for a prompt, the best first, and why.
    fn read(prompt: &str) -> Vec<[String; 2]> {
        let file = |path: &str| scope::File {
            path: path.to_owned(),
            sha256: countersign_record::digest::Digest::of(path.as_bytes()),
            mtime: countersign_record::json::Number::try_from(1_u64).unwrap(),
            tags: Vec::new(),
        };
        let files = ["agreement.md", "amendment.md", "notes/2024.md"].map(file).into();
        let scope = scope::select(&input(prompt, &Manifest { files, ..Manifest::default() }));
        scope.eligible_files.into_iter().map(|file| [file.path, file.reason[0].clone()]).collect()
    }

    #[test]
    fn a_title_in_a_question_hides_no_other_file() {
        let (title, other) = ("KEPT:title-regex", "KEPT:fallback");
        let check = |prompt: &str, expected: &[[&str; 2]]| assert_eq!(read(prompt), expected, "{prompt}");
        let all = [["agreement.md", title], ["amendment.md", other], ["notes/2024.md", other]];
        check("What is the monthly fee in the agreement?", &all);
        check("What is the fee in agreement.md?", &all[..1]);
        check("What is the fee?", &all.map(|[path, _]| [path, other]));
        check("What does notes/2024.md say?", &[["notes/2024.md", title]]);
    }

    #[test]
    fn languages() {
        for (text, expected) in [("What is the rent?", "en"), ("Wer ist der Mieter?", "de"), ("12345", "und")]
        {
            assert_eq!(language(text), expected, "{text}");
        }
    }
}
