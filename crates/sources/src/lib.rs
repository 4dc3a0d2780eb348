//! What a run may read: folders with their hashes, and the pieces of them that a question is about.
//! Owns: walking, hashing, the index of words. Must not: decide which files are eligible (`countersign-kernel` does),
//! follow a link, or write to a folder that is read.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")
)]

pub mod folder;
pub mod retrieve;
