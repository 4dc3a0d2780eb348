//! What it is worth: governed records, their tables, formulas and validation codes.
//! Owns: which records there are, what may follow on what, how every score and status is derived, what is wrong with a log.
//! Must not: see a clock, a disk, a network; use a float outside the registered formulas; look at a name to decide.
//!
//! Invariant: the same rows give the same codes, whatever their ids, whenever they happened.
#![no_std]
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")
)]

extern crate alloc;
#[cfg(test)]
extern crate self as countersign_govern;
#[cfg(test)]
extern crate std;

pub mod admission;
pub mod audit;
pub mod bundle;
pub mod check;
pub mod conformance;
pub mod decide;
pub mod derive;
pub mod fold;
pub mod formula;
pub mod kind;
mod letters;
pub mod machine;
pub mod member;
mod mix;
pub mod path;
pub mod reach;
pub mod reference;
pub mod table;
pub mod task;
pub mod types;
pub mod world;
