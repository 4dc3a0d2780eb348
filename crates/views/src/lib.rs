//! Empty. Must not: be.
