//! What becomes of a task: what was asked, found and answered goes in, governed records come out.
//! Owns: the task, the records of a run as they stand, every step from the first source to the reliance packet. Must not: do I/O,
//! see a clock, call a model, or publish a score or a status that no registered formula gives.
//!
//! Invariant: the same task with the same texts, answers and times gives the same records, byte for byte. What a step writes, put
//! behind what was written before, has no validation codes.
#![no_std]
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")
)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod artifact;
pub mod asking;
pub mod assist;
pub mod attention;
pub mod board;
pub mod call;
pub mod claims;
pub mod closing;
pub mod command;
pub mod compare;
pub mod context;
pub mod contract;
pub mod cost;
pub mod desk;
pub mod diff;
pub mod emitted;
pub mod evaluate;
pub mod evidence;
pub mod explain;
pub mod feedback;
pub mod finding;
pub mod forum;
pub mod guidance;
pub mod learning;
pub mod library;
mod life;
pub mod names;
pub mod opening;
pub mod outcome;
pub mod outside;
pub mod page;
pub mod purse;
pub mod rely;
pub mod research;
pub mod revise;
pub mod score;
pub mod show;
pub mod stop;
pub mod task;
pub mod texts;
pub mod travel;
pub mod workspace;
