//! The places that bear on claims, as anchors keep them.
//! Owns: what an anchor must be, and whether its place is where it was. Must not: say how a claim is supported.

use super::{CHECK, claim_at, source_text, tell};
use crate::case::{Text, bare};
use crate::found::Found;
use crate::walk::Walk;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;
use countersign_govern::derive::text;
use countersign_govern::member::Member;
use countersign_govern::world::Record;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::json::{self, Json, Number, Object};

/// Characters around a place by which it is found again.
const AROUND_CHARS: usize = 48;

/// An anchor is a place that bears on its claim.
pub(crate) fn anchor<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let json = record.json();
    let refs = json.texts("supports_claim_refs");
    let source = json.text("source_record_ref").map(bare).unwrap_or_default();
    let ([claim], Some(locator)) = (refs.as_slice(), json.text("anchor_locator")) else {
        return found.about(
            Code::VerifyDerivation,
            CHECK,
            record,
            "supports_claim_refs",
            "one claim is needed",
        );
    };
    let text = match source_text(walk.case, source, record.seq()) {
        Text::Here(text) => text,
        Text::Withheld => return found.withheld(CHECK),
        Text::Missing => {
            let message = "there are no bytes of this source";
            return found.about(Code::VerifyDerivation, CHECK, record, "source_record_ref", message);
        }
    };
    let claim = claim_at(walk, claim, record.seq());
    let Some(claim) = tell(record, "supports_claim_refs", claim, found) else { return };
    let bear = claim.bears.iter().find(|one| one.source == source && one.locator == locator);
    let Some(bear) = bear else {
        let message = "no such place bears on the claim";
        return found.about(Code::VerifyDerivation, CHECK, record, "anchor_locator", message);
    };
    found.must_say(CHECK, record, "support_strength", bear.strength);
    found.must_say(CHECK, record, "anchor_kind", "line_range");
    let around = json::to_text(&around(text, &bear.span)).unwrap_or_default();
    let digest = Digest::of(around.as_bytes());
    found.must(CHECK, record, "extracted_text_ref", Some(format!("text:{digest}").into()));
    let stated = walk.case.digest(record).map(|digest| Json::from(String::from(digest)));
    found.same(Code::VerifyDerivation, CHECK, record, "", Some(String::from(digest).into()), stated);
}

/// A place in a text with what stands around it, as an anchor keeps it.
fn around(text: &str, span: &Range<usize>) -> Json {
    let mut before: Vec<char> =
        text.get(..span.start).unwrap_or_default().chars().rev().take(AROUND_CHARS).collect();
    before.reverse();
    let before: String = before.into_iter().collect();
    let after: String = text.get(span.end..).unwrap_or_default().chars().take(AROUND_CHARS).collect();
    let number = |at: usize| Number::try_from(at as u64).map_or(Json::Null, Json::Number);
    let hash = text::context_hash(&before, &after).map(String::from).unwrap_or_default();
    Object::from([
        ("start_offset", number(span.start)),
        ("end_offset", number(span.end)),
        ("context_before", before.into()),
        ("context_after", after.into()),
        ("context_hash", hash.into()),
        ("hash_algorithm", text::ALGORITHM.into()),
        ("schema_version", "1.0".into()),
    ])
    .into()
}

/// The offsets in a locator.
pub(crate) fn offsets(locator: &str) -> Option<Range<usize>> {
    let (start, end) = locator.rsplit_once('@')?.1.split_once('-')?;
    Some(start.parse().ok()?..end.parse().ok()?)
}

/// A place that was resolved again still has around it what it had.
pub(crate) fn resolved<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let Some(anchor) = record.follow("anchor_ref").filter(|one| one.seq() < record.seq()) else { return };
    let source = anchor.json().text("source_record_ref").map(bare).unwrap_or_default();
    let hash_at = |text: &str| {
        let span = anchor.json().text("anchor_locator").and_then(offsets)?;
        self::around(text, &span).at("context_hash").cloned()
    };
    let now = match source_text(walk.case, source, record.seq()) {
        Text::Here(text) => hash_at(text),
        Text::Withheld => return found.withheld(CHECK),
        Text::Missing => None,
    };
    let then = match source_text(walk.case, source, anchor.seq()) {
        Text::Here(text) => hash_at(text),
        Text::Withheld | Text::Missing => None,
    };
    let is_same = now.is_some() && now == then;
    found.must(CHECK, record, "recomputed_context_hash", now);
    let stated = record.json().is("status", "resolved");
    found.same(Code::VerifyDerivation, CHECK, record, "status", Some(is_same.into()), Some(stated.into()));
}
