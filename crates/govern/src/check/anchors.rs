//! Validation codes: anchors.
//! Owns: the rules of this area. Must not: decide by names.

use super::{Area, Found, Rule, Severity, within};
use crate::derive::text;
use crate::kind::{Class, Kind};
use crate::member::{Member, is_blank};
use crate::path::Path;
use crate::world::{self, Mark, Record, World};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;
use countersign_record::canonical;
use countersign_record::digest::Digest;
use countersign_record::json::Json;

pub(super) const AREA: Area = Area {
    name: "anchors",
    rules: RULES,
    kinds: &[Kind::new("TextAnchorResolutionReceipt", Class::Receipt, Some("receipt_id"))],
};

const RULES: &[Rule] = &[
    Rule {
        code: "structured_anchor_empty",
        severity: Severity::Error,
        section: "D-17",
        fires: "A StructuredAnchor has none of section_id, field_path, citation_ref, row_id, cell_ref (empty strings count as absent).",
        legal: "An anchor with row_id only.",
        why: "An anchor that points nowhere cannot be followed, so what it is to show cannot be checked.",
        fix: "Set at least one of `section_id`, `field_path`, `citation_ref`, `row_id`, `cell_ref`.",
        check: structured_anchor_empty,
    },
    Rule {
        code: "context_hash_unverified",
        severity: Severity::Error,
        section: "D-17",
        fires: "A TextAnchor is resolved and used without recomputing context_hash from canonical context_before/context_after, or the recomputed hash differs, or hash_algorithm is not sha256_canonical_text_v1.",
        legal: "An anchor that was created but never resolved.",
        why: "Texts move. An anchor whose surroundings were not compared may point at another sentence than the one that was read.",
        fix: "Recompute the hash with `sha256_canonical_text_v1` whenever the anchor is resolved and record it; anchor anew where it differs.",
        check: context_hash_unverified,
    },
    Rule {
        code: "hard_call_hash_unnormalized",
        severity: Severity::Error,
        section: "D-17",
        fires: "A reusable hard-call hash (HardCallResolution reuse key) equals the hash of the raw text/options but not the hash over canonical whitespace and key order.",
        legal: "Two prompts that differ only in whitespace and share one normalised hash.",
        why: "A person's answer is used again for the same question. If a blank changes the hash, the same question is asked twice, or an answer cannot be found.",
        fix: "Hash the prompt in canonical form, and the options with canonical texts and members in canonical order.",
        check: hard_call_hash_unnormalized,
    },
];

/// What can say where in structured content something is.
const LOCATORS: [&str; 5] = ["section_id", "field_path", "citation_ref", "row_id", "cell_ref"];
/// What a place in a text has and one in structured content has not.
const OF_TEXT: [&str; 4] = ["start_offset", "end_offset", "context_hash", "hash_algorithm"];
/// What members are called that hold an anchor, wherever in a record.
const HOLD: [&str; 3] = ["anchor", "structured_anchor", "text_anchor"];

/// Whether an object is an anchor in a text.
fn is_of_text(anchor: &Json) -> bool {
    OF_TEXT.iter().any(|name| anchor.get(name).is_some())
}

/// The anchors of a kind: rows of it, and those in other records, with where they stand.
fn anchors<'w>(world: &'w World, kind: &'static str) -> Vec<(Record<'w>, Path, &'w Json)> {
    let wants_text = kind == "TextAnchor";
    let mut all: Vec<_> = world.of(kind).map(|one| (one, Path::whole(), one.json())).collect();
    let is_wanted = |name: &str, anchor: &Json| {
        HOLD.contains(&name) && anchor.as_object().is_some() && is_of_text(anchor) == wants_text
    };
    for record in world.marked(Mark::Anchor) {
        let own = within::declared(record.json(), is_wanted);
        all.extend(own.into_iter().map(|(place, anchor)| (record, place, anchor)));
    }
    all
}

fn structured_anchor_empty(world: &World, found: &mut Found<'_>) {
    for (record, place, anchor) in anchors(world, "StructuredAnchor") {
        if LOCATORS.iter().all(|name| anchor.is_blank(name)) {
            found.add(record, place, "the anchor says nowhere where it is");
        }
    }
}

fn is_hex(digest: Digest, text: &str) -> bool {
    digest.hex().as_slice() == text.as_bytes()
}

fn context_hash_unverified(world: &World, found: &mut Found<'_>) {
    // What was made and never looked up says nothing wrong to anybody yet. What stands inside another record is used with it.
    let resolved: BTreeSet<u64> = world
        .of("TextAnchorResolutionReceipt")
        .filter(|one| one.is("status", "resolved"))
        .filter_map(|one| one.follow("anchor_ref"))
        .map(|anchor| anchor.seq())
        .collect();
    for (record, place, anchor) in anchors(world, "TextAnchor") {
        if record.kind() == "TextAnchor" && !resolved.contains(&record.seq()) {
            continue;
        }
        if anchor.text("hash_algorithm").is_some_and(|name| name != text::ALGORITHM) {
            found.add(record, place.then("hash_algorithm"), format!("is not {}", text::ALGORITHM));
            continue;
        }
        // At an end of a text there is nothing before or after, and that is known too.
        let side = |name: &str| anchor.at(name).and_then(Json::as_str);
        let known = side("context_before").zip(side("context_after"));
        let hash = known.and_then(|(before, after)| text::context_hash(before, after));
        if hash.zip(anchor.text("context_hash")).is_some_and(|(hash, own)| !is_hex(hash, own)) {
            found.add(record, place.then("context_hash"), "is not the hash of the text around the anchor");
        }
    }
    for receipt in world.of("TextAnchorResolutionReceipt").filter(|one| one.is("status", "resolved")) {
        let path = "recomputed_context_hash";
        let own = receipt.follow("anchor_ref").and_then(|anchor| anchor.json().text("context_hash"));
        match (receipt.text(path), own) {
            (None, _) => {
                found.add(receipt, path, "the anchor was resolved and its surroundings not compared")
            }
            (Some(hash), Some(own)) if hash != own => {
                found.add(receipt, path, "the anchor was resolved where its surroundings differ");
            }
            (Some(_), _) => {}
        }
    }
}

/// The members of an option in the order of the contract, as a plain writer would put them.
const OPTION_MEMBERS: [&str; 4] = ["option_id", "label", "effect", "consequence_text"];

/// The hash of options as they came: the members in the order of the contract.
fn hash_as_declared(options: &[Json]) -> Digest {
    let mut bytes: Vec<u8> = Vec::new();
    bytes.push(b'[');
    for (at, option) in options.iter().enumerate() {
        bytes.extend_from_slice(if at == 0 { b"{" } else { b",{" });
        let members = OPTION_MEMBERS.iter().filter_map(|name| option.get(name).map(|value| (*name, value)));
        for (at, (name, value)) in members.enumerate() {
            bytes.extend_from_slice(if at == 0 { b"\"" } else { b",\"" });
            bytes.extend_from_slice(name.as_bytes());
            bytes.extend_from_slice(b"\":");
            bytes.extend(canonical::to_bytes(value).unwrap_or_default());
        }
        bytes.push(b'}');
    }
    bytes.push(b']');
    Digest::of(&bytes)
}

fn hard_call_hash_unnormalized(world: &World, found: &mut Found<'_>) {
    for resolution in world.of("HardCallResolution") {
        let json = resolution.json();
        if let (Some(prompt), Some(own)) =
            (json.at("prompt_text").and_then(Json::as_str), json.text("normalized_prompt_hash"))
            && is_hex(Digest::of(prompt.as_bytes()), own)
            && !is_hex(text::hash(prompt), own)
        {
            found.add(resolution, "normalized_prompt_hash", "is the hash of the prompt as it was written");
        }
        if let (Some(options), Some(own)) = (json.at("options"), json.text("normalized_options_hash"))
            && !is_blank(options)
            && !text::value_hash(options).is_some_and(|hash| is_hex(hash, own))
            && (world::hash(options).is_some_and(|hash| is_hex(hash, own))
                || is_hex(hash_as_declared(json.list("options")), own))
        {
            found.add(
                resolution,
                "normalized_options_hash",
                "is the hash of the options as they were written",
            );
        }
    }
}

#[cfg(test)]
#[path = "anchors_tests.rs"]
mod tests;
