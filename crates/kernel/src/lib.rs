//! What may happen: decisions as functions of values.
//! Owns: what a run may read, what a model's words mean, what an agent may do. Must not: do I/O, see a clock, or draw a random number.
#![no_std]
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")
)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod chunk;
pub mod claim;
pub mod condense;
pub mod gate;
pub mod gather;
pub mod grant;
pub mod history;
pub mod inject;
pub mod measure;
pub mod pipeline;
pub mod policy;
pub mod recall;
pub mod relevance;
pub mod run;
pub mod says;
#[cfg(feature = "schema")]
pub mod schema;
pub mod scope;
pub mod sentences;
pub mod session;
pub mod shape;
pub mod sift;
pub mod super_prompt;
pub mod support;
pub mod words;
