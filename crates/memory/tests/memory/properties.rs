//! What holds for every read, on generated stores: the order, the budget, and what changes nothing.

use crate::model::{self, Case, QUERY, Record, rank};
use countersign_kernel::recall::Input;
use countersign_memory::recall::{self, Sharing};
use countersign_record::json;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::num::NonZero;

fn asked(paths: &[String], budget: &Value) -> Input {
    let document = json!({"query": QUERY, "store_paths": paths, "budget": budget});
    Input::read(&json::parse(document.to_string().as_bytes()).unwrap()).unwrap()
}

fn bytes(input: &Input) -> Vec<u8> {
    let mut bytes = Vec::new();
    recall::read(input).unwrap().write(&mut bytes).unwrap();
    bytes
}

fn package(input: &Input) -> Value {
    serde_json::from_slice(&bytes(input)).unwrap()
}

fn list<'a>(package: &'a Value, name: &str) -> &'a [Value] {
    package["selection"][name].as_array().unwrap()
}

/// Store, id and hash of every entry.
fn named(entries: &[Value]) -> Vec<(String, String, String)> {
    let text = |entry: &Value, name: &str| entry[name].as_str().unwrap().to_owned();
    let name = |entry| (text(entry, "store_path"), text(entry, "memory_id"), text(entry, "record_hash"));
    entries.iter().map(name).collect()
}

/// Everything fits.
fn unbounded() -> Value {
    json!({"max_excerpt_tokens": 1_000_000, "per_item_max_excerpt_tokens": 4, "max_items": 1_000_000})
}

fn budgets() -> impl Strategy<Value = (u64, u64, u64)> {
    (1..60_u64, 1..8_u64, 0..20_u64)
}

fn budget((max, per_item, items): (u64, u64, u64)) -> Value {
    json!({"max_excerpt_tokens": max, "per_item_max_excerpt_tokens": per_item, "max_items": items})
}

proptest! {
    /// The same bytes twice, by any number of threads, in pieces of any size.
    #[test]
    fn a_read_gives_the_same_bytes_however_it_is_shared(
        case in model::case(),
        limits in budgets(),
        threads in 1..6_usize,
        piece_bytes in 1..300_u64,
    ) {
        let place = case.written();
        let input = asked(&place.paths, &budget(limits));
        let first = bytes(&input);
        prop_assert_eq!(&first, &bytes(&input));
        let sharing = Sharing {
            threads: NonZero::new(threads).unwrap(),
            piece_bytes: NonZero::new(piece_bytes).unwrap(),
        };
        let mut shared = Vec::new();
        recall::read_shared(&input, sharing).unwrap().write(&mut shared).unwrap();
        prop_assert_eq!(first, shared);
    }

    /// What is no record is told in reading order; everything else stands once, in the contract's order.
    #[test]
    fn every_line_is_told_once_and_in_order(case in model::case(), limits in budgets()) {
        let place = case.written();
        let package = package(&asked(&place.paths, &budget(limits)));
        let (selected, dropped) = (list(&package, "selected"), list(&package, "dropped"));
        let invalid = case.invalid_lines(&place);
        let (refused, rest) = dropped.split_at(invalid.len());
        let hashes: Vec<&str> = refused.iter().map(|entry| entry["record_hash"].as_str().unwrap()).collect();
        prop_assert_eq!(hashes, invalid);
        prop_assert!(refused.iter().all(|entry| entry["reason"] == "invalid_record_schema"));
        let expected = rank(case.records(&place));
        let told: Vec<_> = [named(selected), named(rest)].concat();
        let names: Vec<_> = expected.iter().map(|one| one.name()).collect();
        prop_assert_eq!(told, names);
        for (entry, one) in selected.iter().zip(&expected) {
            prop_assert_eq!(&entry["score"].as_f64(), &Some(one.score()));
        }
    }

    /// No more is taken than there is, each excerpt is the start of its text, and selection stops where it must.
    #[test]
    fn the_budget_is_kept(case in model::case(), limits in budgets()) {
        let place = case.written();
        let package = package(&asked(&place.paths, &budget(limits)));
        let (max, per_item, items) = limits;
        let per_item = per_item.min(max);
        let expected = rank(case.records(&place));
        let selected = list(&package, "selected");
        let mut used = 0;
        for (entry, one) in selected.iter().zip(&expected) {
            let excerpt = entry["excerpt"].as_str().unwrap();
            prop_assert!(one.record.text.trim().starts_with(excerpt));
            prop_assert_eq!(&entry["excerpt_tokens"], &json!((excerpt.len() as u64).div_ceil(4)));
            prop_assert_eq!(entry["excerpt_tokens"].as_u64().unwrap(), one.record.tokens(per_item));
            used += one.record.tokens(per_item);
        }
        prop_assert!(used <= max && selected.len() as u64 <= items);
        let told = &package["budget"];
        prop_assert_eq!(&told["used_excerpt_tokens"], &json!(used));
        prop_assert_eq!(&told["remaining_excerpt_tokens"], &json!(max - used));
        prop_assert_eq!(&told["per_item_max_excerpt_tokens"], &json!(per_item));
        let rest = &list(&package, "dropped")[case.invalid_lines(&place).len()..];
        if let Some(first) = expected.get(selected.len()) {
            let is_full = selected.len() as u64 == items;
            let reason = if is_full { "max_items_reached" } else { "budget_exhausted" };
            prop_assert!(is_full || used + first.record.tokens(per_item) > max);
            prop_assert!(rest.iter().all(|entry| entry["reason"] == reason), "{}: {:?}", reason, rest);
        }
    }

    /// A larger budget keeps what a smaller one selected, and goes on after it.
    #[test]
    fn a_larger_budget_only_adds(case in model::case(), limits in budgets(), more in (0..40_u64, 0..9_u64)) {
        let place = case.written();
        let (max, per_item, items) = limits;
        // What may be shown of one record stays: it is the room for all that grows.
        let per_item = per_item.min(max);
        let smaller = package(&asked(&place.paths, &budget((max, per_item, items))));
        let larger = package(&asked(&place.paths, &budget((max + more.0, per_item, items + more.1))));
        prop_assert!(list(&larger, "selected").starts_with(list(&smaller, "selected")));
    }

    /// Stores named in another order, twice, or by another spelling are the same stores.
    #[test]
    fn spelling_and_order_of_stores_change_nothing(
        case in model::case(),
        limits in budgets(),
        spelling in prop::collection::vec((any::<prop::sample::Index>(), 0..4_u8), 0..6),
    ) {
        let place = case.written();
        let mut paths: Vec<String> = place.paths.iter().rev().cloned().collect();
        for (which, how) in spelling {
            let path = &place.paths[which.index(place.paths.len())];
            let (dir, name) = path.rsplit_once('/').unwrap();
            paths.insert(which.index(paths.len() + 1), match how {
                0 => format!("{dir}/./{name}"),
                1 => format!("{dir}//{name}"),
                2 => format!("{dir}/nowhere/../{name}"),
                _ => path.clone(),
            });
        }
        let limits = budget(limits);
        prop_assert_eq!(bytes(&asked(&place.paths, &limits)), bytes(&asked(&paths, &limits)));
    }

    /// Reading leaves a store as it is: its bytes, and when it was changed.
    #[test]
    fn a_store_is_never_changed(case in model::case(), limits in budgets()) {
        let place = case.written();
        let state = || place.paths.iter().map(|path| {
            (std::fs::read(path).unwrap(), std::fs::metadata(path).unwrap().modified().unwrap())
        }).collect::<Vec<_>>();
        let before = state();
        bytes(&asked(&place.paths, &budget(limits)));
        prop_assert_eq!(before, state());
    }

    /// A record more does not change which of two others comes first.
    #[test]
    fn a_record_more_leaves_the_order_of_the_others(case in model::case(), added in model::record()) {
        let place = case.written();
        let before = named(list(&package(&asked(&place.paths, &unbounded())), "selected"));
        // Under an id of its own, so that it can be told from the others.
        let added = Record { memory_id: "added".into(), ..added };
        let mut store = std::fs::read(&place.paths[0]).unwrap();
        store.extend_from_slice(format!("\n{}", added.line()).as_bytes());
        std::fs::write(&place.paths[0], store).unwrap();
        let mut after = named(list(&package(&asked(&place.paths, &unbounded())), "selected"));
        after.retain(|(_, memory_id, _)| memory_id != "added");
        prop_assert_eq!(before, after);
    }

    /// What is printed is what its schema says, and its receipt speaks of it.
    #[test]
    fn a_package_keeps_its_schema_and_its_receipt(case in model::case(), limits in budgets()) {
        let place = case.written();
        let input = asked(&place.paths, &budget(limits));
        let package = package(&input);
        let schema = model::schema("context_package");
        let errors: Vec<String> = schema.iter_errors(&package).map(|error| error.to_string()).collect();
        prop_assert!(errors.is_empty(), "{:?}: {}", errors, package);
        let receipt = recall::read(&input).unwrap().receipt().payload();
        let receipt: Value = serde_json::from_str(&json::to_text(&receipt).unwrap()).unwrap();
        prop_assert!(model::schema("memory_read").is_valid(&receipt), "{}", receipt);
        let mut paths = place.paths.clone();
        paths.sort();
        prop_assert_eq!(receipt, json!({
            "query_hash": package["query"]["query_hash"],
            "store_paths": paths,
            "selected_count": list(&package, "selected").len(),
            "package_hash": package["package_hash"],
        }));
    }
}

/// A schema that took anything would say nothing.
#[test]
fn a_packages_schema_refuses_another_shape() {
    let schema = model::schema("context_package");
    let case = Case::of(&[("a.jsonl", &["no record", "{\"memory_id\":\"m\",\"text\":\"roof\"}"])]);
    let place = case.written();
    let package = package(&asked(&place.paths, &unbounded()));
    assert!(schema.is_valid(&package));
    let mut objects = vec![String::new()];
    let mut seen = 0;
    while let Some(at) = objects.pop() {
        let Some(Value::Object(members)) = package.pointer(&at) else { panic!("{at} is no object") };
        for (name, value) in members {
            seen += 1;
            let mut without = package.clone();
            without.pointer_mut(&at).unwrap().as_object_mut().unwrap().remove(name);
            assert!(!schema.is_valid(&without), "without {at}/{name}");
            let mut null = package.clone();
            null.pointer_mut(&at).unwrap()[name] = Value::Null;
            assert!(!schema.is_valid(&null), "{at}/{name} is null");
            match value {
                Value::Object(_) => objects.push(format!("{at}/{name}")),
                Value::Array(items) => {
                    objects.extend((0..items.len()).map(|item| format!("{at}/{name}/{item}")))
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
        let mut more = package.clone();
        more.pointer_mut(&at).unwrap()["more"] = json!(1);
        assert!(!schema.is_valid(&more), "{at} with another member");
    }
    assert_eq!(seen, 24, "every member was taken out once");
}
