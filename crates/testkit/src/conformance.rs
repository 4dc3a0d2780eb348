//! What every implementation of a port must do.
//! Owns: one suite per port. Must not: know an implementation.

pub mod ledger;
