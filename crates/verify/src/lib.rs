//! Whether a reliance packet is what it says: from the file alone, on any machine.
//! Owns: the packet as a file, everything that is checked of one, and every derivation done again. Must not: do I/O, know how a run is
//! carried out, or take a record's word for what follows from others.
//!
//! Invariants:
//! - a statement that is made here from a sound run verifies;
//! - what a check compares a value with is never that value: it is derived from the task, the bytes, the answers, what agents
//!   handed over and the records before it;
//! - what can't be looked at because it is withheld is counted, and what can't be derived for another reason fails.
#![no_std]
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")
)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod agreed;
mod asked;
mod board;
mod cancel;
mod case;
mod cause;
mod certified;
mod checkpoint;
mod claims;
mod command;
mod complete;
pub mod computed;
mod contract;
mod cost;
mod dispute;
pub mod dsse;
mod evidence;
mod finding;
mod fork;
mod form;
mod formula;
mod found;
mod given;
mod handed;
mod handed_on;
mod head;
mod header;
mod integrity;
mod leaving;
mod library;
mod life;
mod look;
mod made;
pub mod measure;
mod opening;
pub mod packet;
pub mod page;
mod place;
mod quality;
mod question;
mod rely;
pub mod report;
mod revise;
mod run;
mod score;
mod shown;
pub mod summary;
mod table;
mod task;
mod verify;
mod waiting;
mod walk;
mod workspace;

pub use verify::{Lacking, lacking, verify};
