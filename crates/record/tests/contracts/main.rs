//! The contracts as documents: schemas, and what the origins wrote.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod documents;
#[cfg(feature = "schema")]
mod schema;
mod state;
