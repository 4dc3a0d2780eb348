//! Formulas: registered, readable, and computed with a receipt.
//! Owns: the language, the registry, what becomes of missing inputs, zeros and numbers that are not finite. Must not: publish a
//! value without a receipt.

mod compute;
mod evaluate;
pub mod function;
mod parse;
pub mod registry;
pub mod spec;
pub mod value;

pub use compute::Stop;
pub use evaluate::{Evaluated, NotEvaluated, Published, evaluate, publish};
pub use parse::NotAFormula;
