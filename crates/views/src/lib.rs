//! How it looks: read models, folded from rows.
//! Owns: the folds that are shown. Must not: write, or decide anything.
//!
//! Invariant: folding from row 1 gives the same bytes as keeping a fold up to date.
#![no_std]
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")
)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod summary;

use alloc::vec::Vec;
use countersign_record::row::RowRef;

/// A view: a state that rows are folded into, one after the other.
pub trait Fold: Default + Send + 'static {
    /// Its name, under which its state is kept. It must be a valid `FoldId`.
    const NAME: &'static str;
    /// The version of its state. A kept state of another version is folded anew.
    const VERSION: u32;

    /// Takes the next row in. It can't fail: whatever was stored must be foldable.
    fn apply(&mut self, row: &RowRef<'_>);

    /// The state, to be kept.
    fn save(&self) -> Vec<u8>;

    /// A kept state; `None` if it is not one.
    fn load(bytes: &[u8]) -> Option<Self>;
}
