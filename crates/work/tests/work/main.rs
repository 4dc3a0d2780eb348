//! Runs of whole tasks, as the engine decides them, held to the contract.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod boards;
mod chances;
mod closings;
mod commands;
mod contexts;
mod contracts;
mod costs;
mod emitted;
mod explained;
mod leaving;
mod ledgers;
mod looks;
mod orders;
mod pages;
mod purses;
mod reviews;
mod revisions;
mod sources;
mod stage;
mod stops;
mod talks;
mod walks;
