//! The shapes of what decisions read and write.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod pipeline_schema;
mod policy_schema;
mod recall_schema;
