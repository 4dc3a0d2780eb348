//! What happened: ids, envelopes, rows, canonical JSON and the hash chain.
//! Owns: every shape that is stored, hashed or sent, and the one table of codes. Must not: know any other crate
//! of ours, do I/O, or see a clock, randomness or hash-map order.
//!
//! Invariants:
//! - only [`canonical`] makes bytes to hash;
//! - a value of an id type has passed its one checked door;
//! - two different documents never share a hash;
//! - a row's hash covers everything in it but the bytes of its blobs, which it covers by digest.
#![no_std]
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")
)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod access;
pub mod base64;
pub mod canonical;
pub mod chain;
pub mod code;
pub mod deed;
pub mod digest;
pub mod envelope;
pub mod fields;
pub mod hold;
pub mod id;
pub mod json;
pub mod label;
pub mod manifest;
pub mod memory_read;
pub mod row;
pub mod run_kind;
#[cfg(feature = "schema")]
pub mod schema;
pub mod session;
pub mod sign;
pub mod state;
pub mod time;
pub mod tool;
pub mod trace;
pub mod turn;
pub mod upcast;
