//! Projections are functions of the log: the same however it is folded, moved only as the tables allow, and what somebody writes
//! in their place is found out.

mod decided;
mod determinism;
mod leases;
mod machines;
mod rows;
mod shown;
mod validity;
mod written;

use countersign_govern::fold::{Fold, Folds, Projection};
use countersign_govern::world::Draft;
use proptest::test_runner::{Config, RngSeed};

/// Rows folded at once.
fn folded(rows: &[Draft]) -> Folds {
    let mut folds = Folds::default();
    rows.iter().for_each(|row| folds.push(row));
    folds
}

fn projections(folds: &Folds) -> Vec<Projection> {
    let mut all = Vec::new();
    folds.projections(&mut all);
    all
}

/// So many cases, always the same ones.
fn cases(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(23), failure_persistence: None, ..Config::default() }
}
