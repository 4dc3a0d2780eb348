//! Formulas: registered, readable, and computed with a receipt.
//! Owns: the language, the registry, what becomes of inputs that are missing or wrong, of zeros and of numbers that are not finite.
//! Must not: publish a value without a receipt, or one of inputs that can't be.

mod compute;
mod evaluate;
pub mod function;
#[cfg(test)]
mod generated;
pub mod input;
mod parse;
mod policy;
mod ready;
mod receipt;
mod refusal;
pub mod registry;
pub mod spec;
mod take;
pub mod value;

pub use compute::{Refused, Stop};
pub use evaluate::{Evaluated, evaluate};
pub use parse::NotAFormula;
pub use policy::{Bounds, Sampled};
pub use receipt::{Differs, NotVerified, Published, publish, verify};
pub use refusal::{How, NotEvaluated, Wrong};
