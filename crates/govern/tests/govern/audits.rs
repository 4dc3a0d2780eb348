//! A log that is checked part by part has the codes that it has as a whole.

use super::mutations::fault;
use countersign_govern::audit::{Audit, Placed};
use countersign_govern::check::{Diagnostic, check};
use countersign_govern::world::{Draft, World};
use countersign_record::time::Instant;
use countersign_testkit::worlds::{self, Written};
use std::collections::BTreeSet;

fn audited(rows: &[Written], drafts: &[Draft], now: Option<Instant>) -> Vec<Diagnostic> {
    let all =
        || (1..).zip(rows).zip(drafts).map(|((seq, row), draft)| (row.stream.as_str(), (seq, draft.clone())));
    let of = |wanted: &BTreeSet<String>| -> Vec<Placed> {
        all().filter(|(stream, _)| wanted.contains(*stream)).map(|(_, placed)| placed).collect()
    };
    let mut audit = Audit::new(of(&BTreeSet::from(["shared".to_owned()])), now);
    for (stream, (seq, draft)) in all().filter(|(stream, _)| *stream != "shared") {
        audit.row(stream, seq, draft);
    }
    for group in audit.groups() {
        audit.group(&group, of(&group.streams));
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
        assert_eq!(audited(&rows, &drafts, now), []);
        let faults = fault::all(&drafts);
        let faults: Vec<_> = faults.iter().filter(|one| one.keeps_places()).collect();
        for one in faults.iter().step_by(faults.len() / 60) {
            let faulty = one.apply(&drafts);
            let whole = check(&World::new(faulty.clone(), now));
            with_codes += usize::from(!whole.is_empty());
            assert_eq!(audited(&rows, &faulty, now), whole, "{}", one.told(&drafts));
        }
    }
    assert!(with_codes > 60, "only {with_codes} faults had codes");
}
