//! A log that is checked part by part has the codes that it has as a whole.

use super::mutations::fault;
use countersign_govern::audit::{Audit, Placed, is_shared};
use countersign_govern::bundle::Bundle;
use countersign_govern::check::{Diagnostic, check};
use countersign_govern::kind;
use countersign_govern::world::{Draft, World};
use countersign_record::time::Instant;
use countersign_testkit::worlds::{self, Written};
use std::collections::BTreeSet;

/// Checked part by part, so many rows together.
fn audited(rows: &[Written], drafts: &[Draft], now: Option<Instant>, batch: usize) -> Vec<Diagnostic> {
    let all =
        || (1..).zip(rows).zip(drafts).map(|((seq, row), draft)| (row.stream.as_str(), (seq, draft.clone())));
    let is_shared =
        |stream: &str, draft: &Draft| kind::find(&draft.kind).is_none_or(|kind| is_shared(stream, kind));
    let of = |wanted: &BTreeSet<String>| -> Vec<Placed> {
        let parts =
            all().filter(|(stream, (_, draft))| !is_shared(stream, draft) && wanted.contains(*stream));
        parts.map(|(_, placed)| placed).collect()
    };
    let shared = all().filter(|(stream, (_, draft))| is_shared(stream, draft)).map(|(_, placed)| placed);
    let mut audit = Audit::new(shared.collect(), now, batch);
    for (stream, (seq, draft)) in all().filter(|(stream, (_, draft))| !is_shared(stream, draft)) {
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
    for seed in 1..=2 {
        let mut rows = worlds::log(seed, 6);
        rows.iter_mut().filter(|row| row.stream != "shared").for_each(|row| row.stream.insert_str(0, "run/"));
        let drafts: Vec<Draft> = rows.iter().map(|row| row.draft.clone()).collect();
        let now = World::new(drafts.clone(), None).now();
        assert_eq!(audited(&rows, &drafts, now, 500), []);
        let faults = fault::all(&drafts);
        let faults: Vec<_> = faults.iter().filter(|one| one.keeps_places()).collect();
        for one in faults.iter().step_by(faults.len() / 20) {
            let faulty = one.apply(&drafts);
            let whole = check(&World::new(faulty.clone(), now));
            with_codes += usize::from(!whole.is_empty());
            assert_eq!(audited(&rows, &faulty, now, 500), whole, "{}", one.told(&drafts));
        }
    }
    assert!(with_codes > 20, "only {with_codes} faults had codes");
}

/// Every row of a fixture in a stream of its own, and none looked at with another unless they name each other.
#[test]
fn fixtures_have_their_codes_in_parts() {
    let mut misses = Vec::new();
    for name in ["fires", "legal"] {
        for fixture in super::fixtures(name) {
            let bundle = Bundle::read(fixture.document).unwrap();
            let rows: Vec<Written> = (1..)
                .zip(&bundle.rows)
                .map(|(at, draft): (u64, _)| Written { stream: format!("run/{at}"), draft: draft.clone() })
                .collect();
            let world = World::new(bundle.rows.clone(), bundle.as_of);
            let (whole, parts) = (check(&world), audited(&rows, &bundle.rows, world.now(), 1));
            if whole != parts {
                let codes =
                    |all: &[Diagnostic]| all.iter().map(|one| (one.row, one.code)).collect::<Vec<_>>();
                misses.push(format!(
                    "{}: {:?} became {:?}",
                    fixture.path.display(),
                    codes(&whole),
                    codes(&parts)
                ));
            }
        }
    }
    assert!(misses.is_empty(), "{} of 426: {}", misses.len(), misses.join("\n"));
}
