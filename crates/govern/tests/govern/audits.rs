//! A log that is checked part by part has the codes that it has as a whole.

use super::mutations::fault;
use countersign_govern::audit::{Audit, Part, Placed};
use countersign_govern::check::{Diagnostic, check};
use countersign_govern::world::{Draft, World};
use countersign_testkit::worlds::{self, Written};
use std::collections::BTreeMap;

/// The rows by their streams, with their places.
fn streams(rows: &[Written], drafts: Vec<Draft>) -> BTreeMap<&str, Vec<Placed>> {
    let mut streams: BTreeMap<&str, Vec<Placed>> = BTreeMap::new();
    for ((seq, draft), row) in (1..).zip(drafts).zip(rows) {
        streams.entry(row.stream.as_str()).or_default().push((seq, draft));
    }
    streams
}

fn audited(
    mut streams: BTreeMap<&str, Vec<Placed>>,
    now: Option<countersign_record::time::Instant>,
) -> Vec<Diagnostic> {
    let mut audit = Audit::new(streams.remove("shared").unwrap_or_default(), now);
    let parts: BTreeMap<Part, Vec<Placed>> =
        streams.into_values().map(|rows| (audit.part(rows.clone()), rows)).collect();
    for group in audit.groups() {
        let mut rows: Vec<Placed> = group.iter().flat_map(|part| parts[part].clone()).collect();
        rows.sort_by_key(|(seq, _)| *seq);
        audit.group(&group, rows);
    }
    audit.finish()
}

#[test]
fn parts_have_the_codes_of_the_whole() {
    let mut with_codes = 0;
    for seed in 1..=3 {
        let rows = worlds::log(seed, 12);
        let drafts: Vec<Draft> = rows.iter().map(|row| row.draft.clone()).collect();
        let now = World::new(drafts.clone(), None).now();
        assert_eq!(audited(streams(&rows, drafts.clone()), now), []);
        let faults = fault::all(&drafts);
        let faults: Vec<_> = faults.iter().filter(|one| one.keeps_places()).collect();
        for one in faults.iter().step_by(faults.len() / 60) {
            let faulty = one.apply(&drafts);
            let whole = check(&World::new(faulty.clone(), now));
            with_codes += usize::from(!whole.is_empty());
            assert_eq!(audited(streams(&rows, faulty), now), whole, "{}", one.told(&drafts));
        }
    }
    assert!(with_codes > 60, "only {with_codes} faults had codes");
}
