//! Empty. Must not: be.
pub mod bench;
