//! An own model: a GGUF file that is run in the process.
//! Owns: unpacking such a file, looking at its header, its words, its chat form and how an answer is picked; with the
//! feature `engine` also running it. Must not: see tools or the store, use a network, or take what it does not know.
//!
//! A file is somebody else's: every length in it is bounded before anything is made of it, and nothing in it is ever
//! executed, its chat template included.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")
)]

pub mod chance;
pub mod characters;
pub mod chat;
#[cfg(feature = "engine")]
pub mod engine;
pub mod header;
pub mod shape;
pub mod unpack;
pub mod words;

pub use header::Header;
pub use shape::Shape;
pub use unpack::unpack;
pub use words::Words;
