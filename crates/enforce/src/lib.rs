//! What code may be: the Schema/Format Enforcer, A5 (SR2-A5-01 to 04).
//! Owns: the CodeSpec, the checks of Python and Rust, the one repair. Must not: run what it checks, do I/O, see a clock, or ask a model;
//! this crate may not know more than the text it is given.
//!
//! Invariants:
//! - the same input gives the same report, byte for byte;
//! - a report passes if and only if it has no violation, and then it has an artifact;
//! - a draft is repaired at most once, from its violations, excerpts of the CodeSpec and the prompt alone;
//! - no text, however hostile, is nested deeper than the stack that was made for it.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")
)]

mod check;
pub mod codespec;
mod fences;
mod forbids;
pub mod input;
mod libs;
mod lines;
mod order;
mod python;
pub mod repair;
pub mod report;
pub mod rule;
mod rust;
#[cfg(feature = "schema")]
pub mod schema;
mod shape;

pub use check::DEPTH_MAX;
pub use codespec::{CodeSpec, Language};
pub use input::{Contract, Input};
pub use repair::{Checked, Repair, RepairRequest, check};
pub use report::{Report, Status, Violation};
