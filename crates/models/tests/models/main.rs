//! The clients of models against real and hostile servers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod anthropic;
mod hostile;
mod real_server;
mod replies;
mod support;
