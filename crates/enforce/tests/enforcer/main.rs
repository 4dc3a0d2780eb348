//! The enforcer against drafts in two languages.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod attacks_python;
mod attacks_rust;
mod drafts;
mod fixtures;
mod repair;
mod reviewed_python;
mod reviewed_rust;
#[cfg(feature = "schema")]
mod schema;
mod shapes;
