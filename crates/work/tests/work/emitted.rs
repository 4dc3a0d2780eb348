//! That the lists of what is written and what is not are whole. That what is listed is written is held where runs are run.

use countersign_govern::kind::{self, Class};
use countersign_work::emitted::{EMITTED, IMPORT_ONLY, WITHIN};
use std::collections::BTreeSet;

fn listed() -> Vec<&'static str> {
    let written = EMITTED.iter().flat_map(|module| module.kinds.iter().copied());
    let others = WITHIN.iter().chain(IMPORT_ONLY).map(|(kind, _)| *kind);
    written.chain(others).collect()
}

#[test]
fn every_event_receipt_and_request_is_in_one_list() {
    let all = kind::all().filter(|kind| match kind.class {
        Class::Event | Class::Receipt | Class::Request => true,
        Class::Projection | Class::Policy | Class::ReadModel | Class::Value => false,
    });
    let all: BTreeSet<&str> = all.map(|kind| kind.name).collect();
    let listed = listed();
    let known: BTreeSet<&str> = listed.iter().copied().collect();
    assert_eq!(all.difference(&known).collect::<Vec<_>>(), Vec::<&&str>::new());
    assert_eq!(known.difference(&all).collect::<Vec<_>>(), Vec::<&&str>::new());
    assert_eq!(listed.len(), known.len());
    assert!(EMITTED.is_sorted_by_key(|module| module.name));
    assert!(EMITTED.iter().all(|module| module.kinds.is_sorted()));
    assert!(IMPORT_ONLY.is_sorted() && IMPORT_ONLY.iter().all(|(_, reason)| !reason.is_empty()));
}
