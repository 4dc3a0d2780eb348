//! The tools and their sandbox, attacked for real.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod attacks_fs;
mod attacks_limits;
mod attacks_shell;
mod support;
mod works;
