//! What was drafted, and what was held to a CodeSpec.
//! Owns: what these handoffs must be, given the task and each other. Must not: read a CodeSpec.

use super::{DRAFTER, ENFORCER, Stood};
use crate::case::{Bytes, Text};
use crate::found::Found;
use crate::run::Handed;
use crate::task::Artifact;
use alloc::format;
use alloc::string::String;
use countersign_govern::member::Member;
use countersign_record::digest::Digest;
use countersign_record::json::{Json, Object};

/// Where a task's code is held to nothing, or nothing was drafted to be held.
const NOT_PINNED: &str = "NOT_PINNED";
const NOT_DRAFTED: &str = "NOT_DRAFTED";

/// The text that is looked at first is that of the first work product, every one is of the task, and what comes from a file is that file.
pub(super) fn drafted(stood: &Stood<'_, '_>, found: &mut Found) {
    let (case, payload) = (stood.case, &stood.handed.payload);
    let texts = || payload.members("texts").into_iter().flat_map(Object::iter);
    match texts().map(|(id, _)| id).find(|id| case.task.artifact(id).is_none()) {
        None => found.right(stood.check),
        Some(id) => stood.wrong(&format!("texts/{id}"), "the task asks for no such work product", found),
    }
    let first = case.task.artifacts().next().and_then(|one| payload.at("texts")?.get(one.id())?.as_str());
    stood.must("text", Some(first.unwrap_or_default().into()), found);
    for artifact in case.task.artifacts() {
        let Some(path) = artifact.0.text("from") else { continue };
        let bytes = case.files.get(path).map_or(Bytes::Missing, |digest| case.bytes(digest));
        match bytes.text() {
            Text::Here(text) => stood.must(&format!("texts.{}", artifact.id()), Some(text.into()), found),
            Text::Withheld => found.withheld(stood.check),
            Text::Missing => {}
        }
    }
}

/// What one of our agents handed over last before another handoff, and did not only ask.
fn last<'a>(stood: &Stood<'a, '_>, agent: &str) -> Option<&'a Handed> {
    let mut before = stood.told.handed.iter().filter(|one| one.seq < stood.handed.seq && !one.is_asking);
    before.rfind(|one| stood.told.agent(one) == Some(agent))
}

/// Code is held to its CodeSpec, and fits: what does not is nothing to go on with. The hashes are those of the texts.
pub(super) fn enforced(stood: &Stood<'_, '_>, found: &mut Found) {
    let code = stood.case.task.artifacts().find(|one| one.is_code());
    let Some(code) = code else {
        // A pipeline of somebody's own may pin a contract that is not the task's.
        if stood.handed.payload.at("artifact").is_none() {
            stood.must("status", Some(NOT_PINNED.into()), found);
        }
        return;
    };
    let draft = last(stood, DRAFTER);
    let draft = draft.map(|one| one.payload.text("text").unwrap_or_default());
    if draft == Some("") {
        return stood.must("status", Some(NOT_DRAFTED.into()), found);
    }
    stood.must("status", Some("PASS".into()), found);
    stood.must("violations", Some(Json::Array([].into())), found);
    let hash = |text: &str| Json::from(String::from(Digest::of(text.as_bytes())));
    if let Some(draft) = draft {
        stood.must("hashes.draft_sha256", Some(hash(draft)), found);
    } else if stood.told.is_partial || stood.told.pipeline.is_none() {
        found.withheld(stood.check);
    }
    let fenced = stood.handed.payload.text("artifact.code_fenced");
    stood.must("hashes.final_sha256", fenced.map(hash), found);
    if fenced.is_none() {
        stood.wrong("artifact/code_fenced", "it hands over no code", found);
    }
    let filename = code.0.text("filename").or_else(|| code.path());
    stood.must("artifact.filename", filename.map(Json::from), found);
    spec(stood, code, found);
    // Where nothing was repaired, the code is the draft's own.
    let is_own = stood.handed.payload.at("repair").is_none_or(|one| *one == Json::Null);
    let has_asked = !stood.handed.payload.list("took.calls").is_empty();
    if is_own == has_asked {
        stood.wrong("repair", "a repair and what asking for it took come together", found);
    }
    if !is_own {
        // What a repair left that was not applied does not fit.
        stood.must("repair.outcome", Some("applied".into()), found);
    }
}

/// A CodeSpec of the task's folder has the hash of its bytes; which hash one of ours has only the product knows.
fn spec(stood: &Stood<'_, '_>, code: Artifact<'_>, found: &mut Found) {
    let path = code.0.text("codespec").unwrap_or_default();
    let digest = stood.case.files.get(path).map(|digest| Json::from(String::from(*digest)));
    match digest {
        Some(digest) => stood.must("hashes.spec_sha256", Some(digest), found),
        None if stood.handed.payload.text("hashes.spec_sha256").is_some() => found.told(stood.check),
        None => stood.wrong("hashes/spec_sha256", "it does not say by what it was held", found),
    }
}

/// The code that our own enforcer let through last before a row.
pub(crate) fn held(told: &crate::run::Told, row: u64) -> Option<&str> {
    let is_own = |one: &&Handed| one.seq < row && !one.is_asking && told.agent(one) == Some(ENFORCER);
    let last = told.handed.iter().rfind(is_own)?;
    let is_fit = last.output_key == ENFORCER && last.payload.is("status", "PASS");
    last.payload.text("artifact.code_fenced").filter(|_| is_fit)
}
