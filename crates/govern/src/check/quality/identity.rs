//! What a criterion asks for, over time: its letters and its meaning.
//! Owns: the codes about that. Must not: read the text.

use crate::check::Found;
use crate::member::Member;
use crate::world::{Record, World};
use alloc::collections::BTreeMap;

/// Records of a criterion that follow on each other.
fn successive(world: &World) -> impl Iterator<Item = (Record<'_>, Record<'_>)> {
    let mut last: BTreeMap<&str, Record<'_>> = BTreeMap::new();
    world.of("CriterionIdentityFields").filter_map(move |row| Some((last.insert(row.id(), row)?, row)))
}

pub(super) fn legacy_name(world: &World, found: &mut Found<'_>) {
    for row in ["Criterion", "CriterionIdentityFields"].into_iter().flat_map(|kind| world.of(kind)) {
        if row.at("criterion_semantics_hash").is_some() {
            found.add(row, "criterion_semantics_hash", "the hash of the letters has the name of the meaning");
        }
    }
}

pub(super) fn unbumped(world: &World, found: &mut Found<'_>) {
    // A review is found by the texts that it compares too, also where the new record does not name it.
    let reviews: BTreeMap<_, Record<'_>> = world
        .of("CriterionSemanticReviewReceipt")
        .filter(|one| one.is("conclusion", "wording_only"))
        .map(|one| ((one.json().text("from_text_hash"), one.json().text("to_text_hash")), one))
        .collect();
    for (before, after) in successive(world) {
        let texts = (before.json().text("criterion_text_hash"), after.json().text("criterion_text_hash"));
        let versions =
            (before.text("criterion_semantics_version"), after.text("criterion_semantics_version"));
        let is_changed = matches!(texts, (Some(before), Some(after)) if before != after);
        let is_reviewed = || {
            reviews
                .get(&texts)
                .is_some_and(|review| review.text("criterion_id").is_none_or(|of| of == after.id()))
        };
        if is_changed
            && versions.0.is_some()
            && versions.0 == versions.1
            && !is_wording_only(after)
            && !is_reviewed()
        {
            let message = "the text is another, the version of its meaning is not, and nobody said that only the wording changed";
            found.add(after, "criterion_semantics_version", message);
        }
    }
}

/// Whether somebody looked and found that the meaning stayed.
fn is_wording_only(after: Record<'_>) -> bool {
    after.follow("semantic_review_receipt_ref").is_some_and(|review| {
        let is_of_it = review.text("criterion_id").is_none_or(|of| of == after.id());
        let is_of_text = review.text("to_text_hash").is_none_or(|of| after.is("criterion_text_hash", of));
        is_of_it && is_of_text && review.is("conclusion", "wording_only")
    })
}

pub(super) fn unreviewed(world: &World, found: &mut Found<'_>) {
    for (before, after) in successive(world) {
        let versions =
            (before.text("criterion_semantics_version"), after.text("criterion_semantics_version"));
        let is_changed = matches!(versions, (Some(before), Some(after)) if before != after);
        if is_changed && after.follow("semantic_review_receipt_ref").is_none() {
            found.add(after, "semantic_review_receipt_ref", "the meaning is another and nobody reviewed it");
        }
    }
}
