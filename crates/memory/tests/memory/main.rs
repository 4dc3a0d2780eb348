//! The stores of memory, and what others read and write of them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod conversation;
mod killed;
mod model;
mod models;
mod properties;
mod reference;
mod snapshot;
mod snapshot_numpy;
mod tables;
mod talk;
