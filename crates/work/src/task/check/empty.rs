//! What a task may say and yet asks for nothing, or for what can never be.
//! Owns: the rules on words that mean nothing. Must not: hold a run to them that was begun; what was recorded can always be read.

use super::Found;
use crate::task::{Criterion, SHELL, Task, Test, TestKind};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_govern::types::claim::ClaimSupportDerivationPolicyContradictionRule as ContradictionRule;
use countersign_govern::types::wire::Trouble;

/// Everything that a task that is begun now may not say, though one that was begun before may: what it asks for would come to
/// nothing, or be taken for something else. In the order of the file.
#[must_use]
pub fn troubles(task: &Task) -> Vec<Trouble> {
    let mut found = Found(Vec::new());
    for (at, source) in task.sources.iter().enumerate().filter(|(_, one)| !one.is_legal()) {
        if source.treatment.is_some() {
            let message = "counts only for law: say kind = \"case_law\", \"statute\" or \"regulation\", or leave it out";
            found.add(&format!("/sources/{at}/treatment"), message);
        }
    }
    for (at, one) in task.capabilities.iter().flatten().enumerate().filter(|(_, one)| *one != SHELL) {
        let message = format!("nothing here can do “{one}”, so it can't be granted; there is {SHELL}");
        found.add(&format!("/capabilities/{at}"), message);
    }
    // What is only looked up supports nothing, and is not cited.
    let sources = task.sources.iter().filter(|one| one.tier() > 0).count() as u64;
    for (at, outcome) in task.outcomes.iter().enumerate() {
        for (number, one) in outcome.criteria.iter().enumerate() {
            let place = format!("/outcomes/{at}/criteria/{number}");
            labels(one, &place, &mut found);
            if let Some(test) = &one.check {
                check(test, sources, &format!("{place}/check"), &mut found);
            }
        }
    }
    policies(task, &mut found);
    found.0
}

/// Two options of one name can't be told apart, and a question that every answer passes asks nothing.
fn labels(one: &Criterion, place: &str, found: &mut Found) {
    for (list, all) in [("labels", &one.labels), ("pass", &one.pass)] {
        let mut seen = BTreeSet::new();
        for (at, label) in all.iter().flatten().enumerate() {
            if !seen.insert(label.as_str()) {
                found.add(
                    &format!("{place}/{list}/{at}"),
                    format!("“{label}” stands there already: take it out"),
                );
            }
        }
    }
    let passes = |label: &String| one.pass.iter().flatten().any(|pass| pass == label);
    if one.labels.as_ref().is_some_and(|labels| !labels.is_empty() && labels.iter().all(passes)) {
        found.add(&format!("{place}/pass"), "names every label, so that no answer could fail: leave one out");
    }
}

fn check(test: &Test, sources: u64, place: &str, found: &mut Found) {
    let lists = [("headings", &test.headings), ("any", &test.any), ("all", &test.all)];
    for (name, list) in lists {
        let place = format!("{place}/{name}");
        match list.as_deref() {
            Some([]) => found.add(&place, "names nothing: say what must be there"),
            Some(all) => {
                for (at, one) in all.iter().enumerate() {
                    found.filled(&format!("{place}/{at}"), one);
                }
            }
            None => {}
        }
    }
    for (name, text) in [("heading", &test.heading), ("pattern", &test.pattern)] {
        if let Some(text) = text {
            found.filled(&format!("{place}/{name}"), text);
        }
    }
    if test.kind != TestKind::Citations {
        return;
    }
    let (least, sources_min) = (test.min.unwrap_or(0), test.sources_min.unwrap_or(0));
    if least == 0 && sources_min == 0 && (test.min.is_some() || test.sources_min.is_some()) {
        found.add(place, "asks for no citation at all: give min or sources_min 1 or more");
    }
    if sources_min > sources {
        let own = if sources == 1 { String::from("one") } else { format!("{sources}") };
        let message = format!("asks for {sources_min} sources where the task has {own} that can be cited");
        found.add(&format!("{place}/sources_min"), message);
    }
}

fn policies(task: &Task, found: &mut Found) {
    let sufficiency = task.policies().sufficiency();
    if sufficiency.attempts_min.is_some_and(|least| least > sufficiency.attempts_max()) {
        let message = format!("must not be more than attempts_max, which is {}", sufficiency.attempts_max());
        found.add("/policies/sufficiency/attempts_min", message);
    }
    let claims = task.policies().claims();
    let is_weighed = claims.contradiction() == ContradictionRule::WeightedByAuthority;
    if claims.allow_contradicting.is_some_and(|allows| allows != is_weighed) {
        let message = match is_weighed {
            true => {
                "what weighs places against each other supports a claim that some speak against: leave it out"
            }
            false => {
                "counts only with contradiction = \"weighted_by_authority\", which implies it: leave it out"
            }
        };
        found.add("/policies/claim_support/allow_contradicting", message);
    }
    if claims.direct_min() == 0 {
        let message = "must be 1 or more: with 0 a claim would stand that no source says";
        found.add("/policies/claim_support/direct_min", message);
    }
}
