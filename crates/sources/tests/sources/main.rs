//! Folders of sources, and the questions asked of them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod folder;
mod questions;
