//! A0: which files a prompt may use, and why (SR2-A0-01 to 04).
//! Owns: the rules. Must not: read a file, ask a model, or depend on the order of the manifest.
//!
//! In this order: OFF is never eligible; what is excluded goes; what is included stays; then titles and patterns, tags,
//! aliases. A lock names the files itself and looks for no others.

mod input;
mod matching;
mod payload;

pub use input::{Fallback, File, Input, Lock};
pub use payload::{Candidates, Decision, Eligible, Failure, Payload, Traced};

use crate::words::folded;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Ordering;
use matching::{Match, Matcher, Rank};

/// A file that may stay, and why.
struct Kept<'a> {
    file: &'a File,
    found: Match,
    /// The place of its first priority tag.
    priority: usize,
}

/// Which files a prompt may use.
#[must_use]
pub fn select(input: &Input) -> Payload {
    let mut files: Vec<&File> = input.manifest.iter().collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    match &input.lock {
        Some(lock) if lock.enabled => locked(input, lock, &files),
        Some(_) | None => matched(input, &files),
    }
}

/// The lock's files pass as they are; a missing one stops everything.
fn locked(input: &Input, lock: &Lock, files: &[&File]) -> Payload {
    let mut payload = Payload::default();
    let named: BTreeSet<&str> = lock.files.iter().map(String::as_str).collect();
    for file in files {
        let is_named = named.contains(file.path.as_str());
        let (decision, reason) = match (is_named, input.is_off(&file.path)) {
            (true, false) => (Decision::Kept, reason("KEPT:lock", "the lock names it")),
            (true, true) => (Decision::Dropped, reason("DROPPED:OFF", "injected by the lock all the same")),
            (false, true) => (Decision::Dropped, reason("DROPPED:OFF", "it is switched off")),
            (false, false) => (Decision::Dropped, reason("DROPPED:no-match", "the lock does not name it")),
        };
        if decision == Decision::Kept {
            payload.eligible_files.push(Eligible::of(file, reason.clone()));
        }
        payload.trace.push(Traced { path: file.path.clone(), decision, reason });
    }
    let there: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let mut seen = BTreeSet::new();
    for path in &lock.files {
        if !there.contains(path.as_str()) {
            payload.missing.push(path.clone());
        } else if seen.insert(path.as_str()) {
            payload.candidate_files_block.files.push(path.clone());
        }
    }
    payload.missing.sort_unstable();
    payload.missing.dedup();
    if lock.files.is_empty() || !payload.missing.is_empty() {
        payload.code = Some(Failure::LockMiss);
    }
    payload
}

/// What the rules find.
fn matched(input: &Input, files: &[&File]) -> Payload {
    let matcher = Matcher::new(input);
    let first: Vec<String> = input.priority_tags.iter().map(|tag| folded(tag)).collect();
    let keep = |file, found| Kept { file, found, priority: priority(&first, file) };
    let mut kept: Vec<Kept<'_>> = Vec::new();
    let mut trace: Vec<Traced> = Vec::new();
    let mut unmatched: Vec<&File> = Vec::new();
    for file in files {
        match ruled(input, &matcher, file) {
            Ok(Some(found)) => kept.push(keep(file, found)),
            Ok(None) => unmatched.push(file),
            Err(reason) => trace.push(dropped(file, reason)),
        }
    }
    let is_open = match input.fallback {
        Fallback::None => false,
        Fallback::AllOn => kept.is_empty(),
        Fallback::AllOnUnlessNamed => !kept.iter().any(|one| matcher.is_written_out(one.file)),
    };
    if is_open {
        let why = if kept.is_empty() { Match::of_fallback } else { Match::of_others };
        kept.extend(unmatched.drain(..).map(|file| keep(file, why())));
    }
    trace.extend(unmatched.into_iter().map(|file| {
        dropped(file, reason("DROPPED:no-match", "no title, pattern, tag or alias is in the prompt"))
    }));
    kept.sort_by(order);
    let (most, count) = (input.max_files.unwrap_or(usize::MAX), kept.len());
    for Kept { file, found, .. } in kept.drain(most.min(count)..) {
        let why = format!("{most} of {count} files stay; {}", found.detail);
        trace.push(dropped(file, reason("DROPPED:max-files", &why)));
    }
    let mut payload = Payload::default();
    for Kept { file, found, .. } in kept {
        let reason = reason(found.rank.word(), &found.detail);
        payload.candidate_files_block.files.push(file.path.clone());
        trace.push(Traced { path: file.path.clone(), decision: Decision::Kept, reason: reason.clone() });
        payload.eligible_files.push(Eligible::of(file, reason));
    }
    trace.sort_by(|a, b| a.path.cmp(&b.path));
    payload.trace = trace;
    if payload.eligible_files.is_empty() {
        payload.code = Some(Failure::EmptyEligibility);
    }
    payload
}

/// What the rules say of one file: why it goes, or what was found.
fn ruled(input: &Input, matcher: &Matcher<'_>, file: &File) -> Result<Option<Match>, Vec<String>> {
    if input.is_off(&file.path) {
        return Err(reason("DROPPED:OFF", "it is switched off"));
    }
    if input.exclude.contains(&file.path) {
        return Err(reason("DROPPED:exclude", "it is on the list of excluded files"));
    }
    if input.include.contains(&file.path) {
        return Ok(Some(Match {
            rank: Rank::Include,
            detail: "it is on the list of included files".to_string(),
        }));
    }
    Ok(matcher.find(file))
}

/// Includes first, then by what matched; ties by priority tag, the newer one, the path.
fn order(a: &Kept<'_>, b: &Kept<'_>) -> Ordering {
    a.found
        .rank
        .cmp(&b.found.rank)
        .then_with(|| a.priority.cmp(&b.priority))
        .then_with(|| b.file.changed().total_cmp(&a.file.changed()))
        .then_with(|| a.file.path.cmp(&b.file.path))
}

/// The place of the first priority tag that a file has, whatever its case; behind all where it has none.
fn priority(first: &[String], file: &File) -> usize {
    if first.is_empty() {
        return usize::MAX;
    }
    let own: Vec<String> = file.tags.iter().map(|tag| folded(tag)).collect();
    first.iter().position(|tag| own.contains(tag)).unwrap_or(usize::MAX)
}

fn dropped(file: &File, reason: Vec<String>) -> Traced {
    Traced { path: file.path.clone(), decision: Decision::Dropped, reason }
}

fn reason(word: &str, detail: &str) -> Vec<String> {
    [word, detail].map(String::from).into()
}

#[cfg(test)]
#[path = "scope/scope_tests.rs"]
mod tests;
