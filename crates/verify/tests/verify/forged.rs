//! Every derived member of every record is changed in turn, all hashes are made anew and it is signed again with another key: it is
//! found, and named.

use crate::scenes;
use countersign_testkit::forge::{Tally, forge, targets};
use std::collections::BTreeMap;

/// How often one member of one kind is changed, over all runs.
const TIMES: usize = 2;
/// Values that it is changed to, each time.
const VALUES: usize = 3;

#[test]
fn every_derived_member_is_derived_again() {
    let mut done = BTreeMap::new();
    let mut tally = Tally::default();
    for (name, scene) in scenes::ALL {
        let statement = scene().statement();
        tally = tally.and(forge(name, &statement, &targets(&statement, &mut done, TIMES), VALUES));
    }
    assert!(tally.tried > 1_500, "only {} were tried", tally.tried);
    tally.is_clean();
}
