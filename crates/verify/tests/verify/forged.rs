//! Every derived member of every record is changed in turn, all hashes are made anew and it is signed again with another key: it is
//! found, and named.

use crate::scenes;
use countersign_testkit::forge::{Tally, forge, targets};
use std::collections::BTreeMap;

/// How often one member of one kind is changed, over all runs of a sort, and to how many values each time.
const OFTEN: [(usize, usize); 2] = [(2, 3), (1, 1)];

#[test]
fn every_derived_member_is_derived_again() {
    let mut tally = Tally::default();
    // What the runs of the first sort have is not changed again in those of the second.
    let mut done = BTreeMap::new();
    for (scenes, (times, values)) in scenes::ALL.into_iter().zip(OFTEN) {
        for (name, scene) in scenes {
            let statement = scene().statement();
            tally = tally.and(forge(name, &statement, &targets(&statement, &mut done, times), values));
        }
    }
    assert!(tally.tried > 1_500, "only {} were tried", tally.tried);
    tally.is_clean();
}
