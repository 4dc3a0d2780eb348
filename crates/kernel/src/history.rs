//! The conversation's memory (SR2-CM): what of the turns before reaches a prompt, and why the rest does not.
//! Owns: how a turn is cut into pieces, which pieces are kept in the index, what a query is worth with its aliases,
//! the guardrails and a reason for each piece. Must not: hold a text beyond the call, or give one out: the index
//! selects, it never speaks.

pub mod alias;
pub mod capacity;
pub mod chunk;
pub mod index;
pub mod item;
pub mod select;

pub use alias::Lexicon;
pub use index::{BadLine, BadLines, Caps, Index, Indexed};
pub use item::{At, Item};
pub use select::{Candidate, Choice, Decision, Scope};
