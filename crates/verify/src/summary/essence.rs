//! What was asked with a command, in the words of people.
//! Owns: the words for each member of a request, and what of a command's records says more. Must not: leave a member out because
//! nobody thought of it.

use super::changed::said;
use super::decided::Deed;
use super::fall::why as fallen;
use super::say::{product_name, title};
use crate::case::{Case, Text, bare};
use crate::claims;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_govern::reference::Reference;
use countersign_govern::types::reliance::RelianceInvalidationEventInvalidationKind as Fall;
use countersign_govern::world::Record;
use countersign_record::json::{Json, Object};

/// What a decision was about, and what the person said for it.
#[derive(Default)]
pub(super) struct Essence {
    pub(super) about: Vec<String>,
    pub(super) why: Option<String>,
}

/// What a request asks for, and what it came to.
pub(super) fn essence(case: &Case<'_>, deed: &Deed<'_>, request: &Json) -> Essence {
    let mut all = Essence::default();
    let none = Object::new();
    for (name, value) in request.as_object().unwrap_or(&none).iter() {
        match (name, value) {
            (_, Json::Null) => {}
            ("rationale" | "grounds" | "note", Json::String(why)) => all.why = Some(why.clone()),
            // Some reasons are words of the contract, others are what a person wrote.
            ("reason", Json::String(why)) => {
                let is_word = why.bytes().all(|one| one.is_ascii_lowercase() || one == b'_');
                all.why = Some(if is_word { why.replace('_', " ") } else { why.clone() });
            }
            (name, value) => all.about.extend(member(case, deed, name, value)),
        }
    }
    all.about.extend(came_of_it(case, deed));
    all
}

/// A member of a request in words; nothing for one that is told elsewhere.
fn member(case: &Case<'_>, deed: &Deed<'_>, name: &str, value: &Json) -> Option<String> {
    let place = deed.until;
    let text = value.as_str().unwrap_or_default();
    let texts = || value.as_array().unwrap_or_default().iter().filter_map(Json::as_str);
    let of = |kind: &str, id: &str, path: &str| {
        let record = case.before(kind, id, place);
        record.and_then(|one| one.json().text(path)).unwrap_or(id).to_string()
    };
    Some(match name {
        // What is answered and what is asked instead is told as such.
        "option_id" | "task" | "found" => return None,
        "hard_call_id" => match deed.wrote(case, "HardCallResolutionReceipt").next() {
            Some(_) => return None,
            None => format!("the question “{}”", of("HardRevisionCall", text, "prompt_text")),
        },
        "finding_id" => finding(case, text, place),
        "need_id" => format!("the question “{}”", of("ResearchNeed", text, "question")),
        "guidance_id" => format!("the guidance “{}”", guidance(case, text)),
        "item_id" => format!("“{}”", of("AttentionLedgerItem", text, "summary")),
        "checkpoint_id" => format!("the checkpoint “{}”", of("KnownGoodCheckpoint", text, "label")),
        "source" => format!("the source “{}”", title(case, text)),
        "sources" => {
            let titles: Vec<String> = texts().map(|one| format!("“{}”", title(case, one))).collect();
            match titles.is_empty() {
                true => "with the text of no source".to_string(),
                false => format!("with the texts of {}", titles.join(", ")),
            }
        }
        "tier" => match deed.wrote(case, "SourceTierTransitionReceipt").next() {
            Some(moved) => {
                let tier = |path: &str| said(moved.json().at(path)).replace("“tier_", "").replace('”', "");
                format!("from tier {} to tier {}", tier("from_tier"), tier("to_tier"))
            }
            None => format!("to tier {}", said(Some(value))),
        },
        "destination" => format!("to {text}"),
        "confirmed" => match value {
            Json::Bool(true) => "with leave for it to go out".to_string(),
            _not => return None,
        },
        "target_ref" => target(case, text),
        "target_refs" => texts().map(|one| target(case, one)).collect::<Vec<_>>().join(", "),
        "cancel_scope" => text.replace('_', " "),
        "invalidation_kind" => match Fall::find(text) {
            Some(kind) => fallen(kind, BTreeSet::new()),
            None => text.to_string(),
        },
        "triggering_ref" => format!("set off by {text}"),
        "label" => format!("called “{text}”"),
        "text" => format!("“{text}”"),
        "upheld" => match value {
            Json::Bool(true) => "the dispute is right: the guidance never counts again".to_string(),
            _not => "the dispute is not right: the guidance counts again".to_string(),
        },
        "gone" => match texts().next() {
            Some(_) => {
                format!("gone: {}", texts().map(|one| title(case, one)).collect::<Vec<_>>().join(", "))
            }
            None => return None,
        },
        "evidence_refs" => format!("on the evidence of {}", texts().collect::<Vec<_>>().join(", ")),
        other => format!("{}: {}", other.replace('_', " "), said(Some(value))),
    })
}

/// What a finding says, how bad it is, and the sentences that it is about.
fn finding(case: &Case<'_>, id: &str, place: u64) -> String {
    let events = case.until("EvaluationFindingEvent", place);
    let Some(event) = events.filter(|one| one.json().is("finding_id", id)).last() else {
        return format!("the finding {id}");
    };
    let json = event.json();
    let text = |path: &str| json.text(path).unwrap_or_default();
    let about = sentences(case, json, place);
    let about = if about.is_empty() { about } else { format!(", about {about}") };
    format!("the finding “{}” ({}){about}", text("finding_text"), text("severity"))
}

/// The sentences that a finding is about, in the version that it was found in.
fn sentences(case: &Case<'_>, event: &Json, place: u64) -> String {
    let version = event.text("target_artifact_version_ref").map(bare);
    let version = version.and_then(|id| case.before("ArtifactVersion", id, place));
    let Some(Text::Here(work)) = version.map(|one| case.content(one).text()) else { return String::new() };
    let named: Vec<(&str, &str)> =
        event.texts("affected_claim_refs").into_iter().filter_map(claims::parts).collect();
    let Some((stable, _)) = named.first() else { return String::new() };
    let said = claims::said(case, stable, work);
    let own = said.iter().filter(|(name, _)| named.iter().any(|(_, one)| one == name));
    own.map(|(_, claim)| format!("“{}”", claim.text.trim())).collect::<Vec<_>>().join(", ")
}

fn guidance(case: &Case<'_>, id: &str) -> String {
    let mut events = case.world.of("RunGuidanceCreationEvent");
    let own = events.rfind(|one| one.json().is("guidance_id", id));
    own.and_then(|one| one.json().text("guidance_text")).unwrap_or(id).to_string()
}

/// What something that is stopped or left out is called.
fn target(case: &Case<'_>, reference: &str) -> String {
    let read = Reference::read(reference).filter(|one| one.kind == "outcome_record");
    let outcome = read.and_then(|one| case.task.outcome(case.local(one.id)));
    outcome.map_or_else(|| reference.to_string(), |one| format!("the outcome “{}”", one.statement()))
}

/// What a command's records say of what came of it.
fn came_of_it(case: &Case<'_>, deed: &Deed<'_>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let moved = |one: Record<'_>| {
        let (stable, number) = bare(one.json().text("artifact_version_ref")?).rsplit_once(".v")?;
        let stands = match one.json().text("to_state")? {
            "accepted_head" => "it is the version that counts".to_string(),
            // What took its place is told.
            "superseded" => return None,
            other => other.replace('_', " "),
        };
        Some(format!("{}, version {number}: {stands}", product_name(case, stable)))
    };
    all.extend(deed.wrote(case, "ArtifactVersionTransitionEvent").filter_map(moved));
    if deed.invocation.json().is("command_id", "source.recheck") {
        let stale: BTreeSet<&str> = deed
            .wrote(case, "SourceRecord")
            .filter_map(|one| one.json().text("domain_payload.path"))
            .collect();
        let stale: Vec<&str> = stale.into_iter().collect();
        all.push(match stale.is_empty() {
            true => "they are what was taken in".to_string(),
            false => format!("not what was taken in: {}", stale.join(", ")),
        });
    }
    let packet = deed.wrote(case, "TaskReliancePacket").next_back();
    all.extend(packet.and_then(|one| one.json().text("user_visible_summary")).map(ToString::to_string));
    let left = deed.wrote(case, "WorkspaceExternalizationReceipt").next_back();
    all.extend(
        left.filter(|one| one.json().is("status", "failed")).map(|_| "it could not be written".to_string()),
    );
    all
}
