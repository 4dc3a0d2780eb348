//! Tests of the guardrails.
//! Owns: one case per reason, and what holds for all of them. Must not: test the index.

use super::*;
use crate::history::item::tests::item;
use proptest::prelude::*;
use std::vec;

fn scope() -> Scope {
    Scope { lines: 20, recent_from: 1_900, tokens_max: 1_000, items_max: 100, ..Scope::default() }
}

fn candidates<'a>(items: &'a [Item], similarities: &[f32]) -> Vec<Candidate<'a>> {
    let one = |(item, similarity): (&'a Item, &f32)| Candidate { item, similarity: *similarity, alias: None };
    items.iter().zip(similarities).map(one).collect()
}

/// What becomes of the pieces, as `line:word`.
fn told(scope: &Scope, candidates: &[Candidate<'_>]) -> Vec<String> {
    let one = |choice: &Choice<'_>| format!("{}:{}", choice.item.line, choice.decision.words()[0]);
    select(scope, candidates).iter().map(one).collect()
}

fn with_file(line: u64, file: &str) -> Item {
    Item { file_refs: vec![file.into()], ..item(line, 0.5) }
}

#[test]
fn the_score_is_three_parts_meaning_and_one_part_age() {
    let items = [item(10, 0.5), item(18, 0.5), item(1, 0.5)];
    let chosen = select(&scope(), &candidates(&items, &[0.5, 0.0, -1.0]));
    let scores: Vec<(u64, f64)> = chosen.iter().map(|one| (one.item.line, one.score.value())).collect();
    assert_eq!(scores, [(10, 0.5), (18, 0.217638), (1, 0.066986)]);
    assert_eq!(
        chosen[0].decision.words(),
        ["KEPT:semantic", "similarity 0.5, 10 turns ago"].map(String::from)
    );
    assert_eq!(chosen[1].decision.words()[0], "KEPT:recency");
}

#[test]
fn an_old_piece_that_fits_survives() {
    let items = [item(1, 0.5), item(18, 0.5)];
    let scope = Scope { lines: 5_000, items_max: 1, recent_from: 500_000, ..scope() };
    assert_eq!(told(&scope, &candidates(&items, &[0.9, 0.2])), ["1:KEPT:semantic", "18:DROPPED:max-items"]);
}

#[test]
fn files_that_are_off_are_ignored_unless_they_are_injected() {
    let items = [with_file(1, "off.md"), with_file(2, "on.md")];
    let off = Scope { off: BTreeSet::from(["off.md".into()]), ..scope() };
    let found = candidates(&items, &[0.9, 0.0]);
    assert_eq!(told(&off, &found), ["2:KEPT:recency", "1:DROPPED:OFF"]);
    let injected = Scope { injected: BTreeSet::from(["off.md".into()]), ..off };
    assert_eq!(told(&injected, &found), ["1:KEPT:semantic", "2:KEPT:recency"]);
}

#[test]
fn a_lock_leaves_no_history() {
    let items = [item(1, 0.5)];
    let scope = Scope { is_locked: true, ..scope() };
    assert_eq!(told(&scope, &candidates(&items, &[1.0])), ["1:DROPPED:LOCK"]);
}

#[test]
fn what_stands_in_the_prompt_is_not_pointed_to() {
    let items = [item(19, 0.5), item(18, 0.5)];
    assert_eq!(told(&scope(), &candidates(&items, &[1.0, 0.9])), ["18:KEPT:semantic", "19:DROPPED:recent"]);
}

#[test]
fn of_equal_content_the_injected_file_speaks_then_the_newer() {
    let same = |item: Item| Item { chunk_hash: Digest::of(b"same"), ..item };
    let items = [same(item(3, 0.5)), same(item(5, 0.5)), same(with_file(1, "a.md"))];
    let found = candidates(&items, &[0.5, 0.5, 0.5]);
    let newer = told(&scope(), &found);
    assert_eq!(newer, ["5:KEPT:semantic", "3:DROPPED:duplicate", "1:DROPPED:duplicate"]);
    let scope = Scope { injected: BTreeSet::from(["a.md".into()]), ..scope() };
    assert_eq!(told(&scope, &found), ["1:KEPT:semantic", "5:DROPPED:duplicate", "3:DROPPED:duplicate"]);
}

#[test]
fn equal_scores_go_to_injected_files_then_to_the_newer() {
    // Far enough that recency is nothing in six decimals.
    let items = [item(1, 0.5), item(2, 0.5), with_file(1, "a.md")];
    let items = items.map(|item| Item { offset: item.offset + item.file_refs.len() as u64, ..item });
    let scope = Scope { lines: 1_000, injected: BTreeSet::from(["a.md".into()]), ..scope() };
    let scope = Scope { recent_from: 100_000, ..scope };
    let chosen: Vec<u64> =
        select(&scope, &candidates(&items[..], &[0.5; 3])).iter().map(|choice| choice.item.offset).collect();
    // The third piece holds what the first does, and speaks for it.
    assert_eq!(chosen, [101, 200, 100]);
}

#[test]
fn an_alias_is_named() {
    let items = [item(1, 0.5)];
    let alias = ("nvh".into(), "vehicle acoustics".into());
    let found = [Candidate { item: &items[0], similarity: 0.8, alias: Some(&alias) }];
    let words = select(&scope(), &found)[0].decision.words();
    assert_eq!(words[0], "KEPT:alias");
    assert!(words[1].starts_with("nvh = vehicle acoustics"));
}

proptest! {
    #[test]
    fn every_piece_has_a_reason_and_the_budgets_hold(
        found in prop::collection::vec((1_u64..40, -1.0_f32..1.0, 0_u64..60, 0_u8..4, 0_u8..3), 0..40),
        tokens_max in 0_u64..400,
        items_max in 0_u64..12,
        recent_from in 100_u64..5_000,
    ) {
        let items: Vec<Item> = (0..)
            .zip(&found)
            .map(|(at, (line, _, tokens, content, file))| Item {
                offset: line * 100,
                chunk: at,
                tokens: *tokens,
                chunk_hash: Digest::of(&[*content]),
                file_refs: vec![format!("{file}.md")],
                ..item(*line, 0.5)
            })
            .collect();
        let similarities: Vec<f32> = found.iter().map(|one| one.1).collect();
        let scope = Scope {
            lines: 40,
            recent_from,
            tokens_max,
            items_max,
            off: BTreeSet::from(["0.md".into()]),
            injected: BTreeSet::from(["1.md".into()]),
            is_locked: false,
        };
        let forward = candidates(&items, &similarities);
        let choices = select(&scope, &forward);
        prop_assert_eq!(choices.len(), items.len());
        let kept: Vec<&Choice<'_>> =
            choices.iter().filter(|one| matches!(one.decision, Decision::Kept { .. })).collect();
        prop_assert!(kept.len() as u64 <= items_max);
        prop_assert!(kept.iter().map(|one| one.item.tokens).sum::<u64>() <= tokens_max);
        prop_assert!(kept.windows(2).all(|pair| pair[0].score >= pair[1].score));
        prop_assert!(kept.iter().all(|one| one.item.offset < recent_from && one.item.file_refs[0] != "0.md"));
        let contents: BTreeSet<Digest> = kept.iter().map(|one| one.item.chunk_hash).collect();
        prop_assert_eq!(contents.len(), kept.len());
        // The order in which the pieces come decides nothing.
        let backward: Vec<Candidate<'_>> = forward.iter().rev().copied().collect();
        prop_assert_eq!(&select(&scope, &backward), &choices);
        // More room keeps what was kept, in front.
        let more = Scope { tokens_max: tokens_max + 50, items_max: items_max + 2, ..scope.clone() };
        let wider = select(&more, &forward);
        prop_assert!(kept.iter().zip(&wider).all(|(before, after)| before.item == after.item));
    }
}
