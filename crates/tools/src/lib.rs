//! What may be done on this machine: files and commands, in a sandbox.
//! Owns: the tools `fs.*`, `shell.exec` and `system.time`, and how the operating system holds them. Must not: permit a
//! call (`countersign-kernel` does), open a socket, or run a program with less than the whole sandbox.
//!
//! Invariants:
//! - a path is reached beneath the root by the kernel itself (`openat2`), never by a check and a second look;
//! - a program is run by [`held`] alone: its files, its system calls and its size are bounded before it starts;
//! - what can't be held is not run.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")
)]

mod args;
mod beneath;
mod fs;
pub mod held;
mod place;
mod sandbox;
mod shell;
mod support;
mod time;

pub use fs::{ListDir, ReadText, WriteText};
pub use sandbox::{Error, Sandbox, registry};
pub use shell::{Exec, arguments};
pub use support::{Feature, State, rehearse, support};
pub use time::{Now, Time};
