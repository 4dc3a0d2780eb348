//! The engine that runs a model in the process.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

#[cfg(feature = "engine")]
mod engine;
mod header;
#[cfg(feature = "engine")]
mod smollm2;
mod synthetic;
mod unpack;
mod words;
