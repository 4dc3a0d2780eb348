//! Rows are found by name, version and hash, however many there are.

use super::*;
use crate::reference::Reference;
use countersign_record::json;
use std::format;
use std::string::ToString;

fn draft(kind: &str, id: &str, says: usize) -> Draft {
    let record = json::parse(format!(r#"{{"says":{says}}}"#).as_bytes()).unwrap();
    Draft { kind: kind.to_string(), id: Some(id.to_string()), at: None, record }
}

/// Many versions of one name beside others, of a type that is known and of one that nobody knows.
fn many() -> World {
    let of_kind = |kind: &'static str| {
        (0..50).flat_map(move |at| [draft(kind, "many", at % 40), draft(kind, &format!("one-{at}"), at)])
    };
    World::new(of_kind("CostVector").chain(of_kind("Strange")).collect(), None)
}

#[test]
fn versions_are_found_by_number_and_hash() {
    let world = many();
    for (kind, snake) in [("CostVector", "cost_vector"), ("Strange", "strange")] {
        let rows: Vec<Record<'_>> = world.versions(kind, "many").collect();
        assert_eq!(rows.len(), 50);
        assert!(rows.is_sorted_by_key(|row| row.seq()) && rows.iter().all(|row| row.id() == "many"));
        let found = |id: &str, version: Option<u32>, hash: Option<&str>| {
            world.resolve(Reference { kind: snake, id, version, hash }).map(Record::seq)
        };
        assert_eq!(found("many", None, None), rows.last().map(|row| row.seq()));
        for (at, row) in (1..).zip(&rows) {
            assert_eq!(found("many", Some(at), None), Some(row.seq()));
            let hash = row.hash().unwrap().to_string();
            // Of several that say the same, the last one.
            let last = rows.iter().rfind(|one| one.hash() == row.hash()).unwrap();
            assert_eq!(found("many", None, Some(&hash)), Some(last.seq()));
        }
        let none = "0".repeat(64);
        for (version, hash) in [(Some(0), None), (Some(51), None), (None, Some(none.as_str()))] {
            assert_eq!(found("many", version, hash), None);
            assert_eq!(found("one-7", version, hash), None);
        }
        assert_eq!(world.versions(kind, "one-7").count(), 1);
        assert_eq!(world.versions(kind, "two").count(), 0);
    }
}

#[test]
fn what_was_cut_is_not_found_by_its_hash() {
    let mut world = World::new((0..20).map(|at| draft("CostVector", "many", at)).collect(), None);
    let hash = world.find("CostVector", "many").and_then(Record::hash).unwrap().to_string();
    let resolved = |world: &World| {
        let to = Reference { kind: "cost_vector", id: "many", version: None, hash: Some(&hash) };
        world.resolve(to).map(Record::seq)
    };
    assert_eq!(resolved(&world), Some(20));
    world.cut(19);
    assert_eq!(resolved(&world), None);
    world.append([(20, draft("CostVector", "many", 19))].into_iter());
    assert_eq!(resolved(&world), Some(20));
}

#[test]
fn a_policy_is_that_of_its_time() {
    let rows = [("RetentionPolicy", "p"), ("CostVector", "c"), ("RetentionPolicy", "p"), ("CostVector", "c")];
    let drafts = rows.iter().zip(0..).map(|((kind, id), says)| draft(kind, id, says));
    let world = World::new(drafts.collect(), None);
    let at = |text: &str, seq| world.resolve_at(Reference::read(text).unwrap(), seq).map(Record::seq);
    assert_eq!([1, 2, 3, 4, 9].map(|seq| at("retention_policy:p", seq)), [1, 1, 1, 3, 3].map(Some));
    assert_eq!([1, 9].map(|seq| at("retention_policy:p@2", seq)), [Some(3); 2]);
    assert_eq!([1, 9].map(|seq| at("cost_vector:c", seq)), [Some(4); 2], "what is no policy is as it stands");
    assert_eq!(at("retention_policy:q", 9), None);
}
