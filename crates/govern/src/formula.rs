//! Formulas: registered, readable, and computed with a receipt.
//! Owns: the language, the registry, what becomes of missing inputs, zeros and numbers that are not finite. Must not: publish a
//! value without a receipt.

mod compute;
mod evaluate;
pub mod function;
pub mod input;
mod parse;
mod policy;
mod receipt;
pub mod registry;
pub mod spec;
pub mod value;

pub use compute::Stop;
pub use evaluate::{Evaluated, NotEvaluated, evaluate};
pub use parse::NotAFormula;
pub use policy::{Bounds, Sampled};
pub use receipt::{Differs, NotVerified, Published, publish, verify};
