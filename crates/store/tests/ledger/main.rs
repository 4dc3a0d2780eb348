//! The ledger on disk: what it keeps, under crashes, faults, tampering and other processes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod archive;
mod conformance;
mod crash;
mod erase;
mod exporting;
mod faults;
mod flips;
mod fold;
mod golden;
mod groups;
mod indexes;
mod keys;
mod model;
mod neighbours;
mod opening;
mod processes;
mod strange;
mod support;
mod tamper;
