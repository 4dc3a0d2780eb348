//! Tables of the contract, as data.
//! Owns: orders, matrices, defaults. Must not: decide.

pub mod commands;
pub mod emission;
pub mod invalidation;
pub mod order;
pub mod outcome;
pub mod taint_defaults;
