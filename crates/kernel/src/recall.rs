//! The deterministic memory read (SPEC-006): what of a store reaches a prompt, and why the rest does not.
//! Owns: the input's rules, what a line is worth, the order, the budget, the package and its hashes. Must not: open a
//! file; lines come from `countersign-memory`.
//!
//! The path of one read: [`Input::read`] → [`Plan::new`] → [`Plan::see`] for each line of each store → [`Key`] puts the
//! candidates in order → [`Selection`] → [`package`]. What is taken from a package goes
//! into a [`Prompt`], which is shown whole and kept without any of it.

pub mod excerpt;
pub mod input;
pub mod line;
mod marks;
pub mod package;
pub mod path;
mod plain;
pub mod prompt;
mod query;
pub mod refusal;
pub mod retrieved;
mod score;
pub mod select;
pub mod trust;

pub use excerpt::Excerpt;
pub use input::Input;
pub use line::{Line, Plan, Scratch};
pub use prompt::Prompt;
pub use refusal::Refusal;
pub use select::{Key, Selection, Verdict};
pub use trust::Trust;
