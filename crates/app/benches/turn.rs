//! What a turn costs beside its model.
//! Owns: the measurement. Must not: be a test.

fn main() {}
