//! What is fetched from outside, and kept for a while: the tool `http.get`.
//! Owns: which addresses are nobody else's business, the way of one request with its redirects, a page as text, the cache.
//! Must not: fetch without a grant, connect to an address that was not checked, or trust what it kept.
//!
//! Invariants: a call asks one host and port, the one that it was permitted for; its name is looked up once, and every
//! connection goes to an address of that very answer; a call ends at its deadline, whatever a server does; trouble with
//! the cache fails no call.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")
)]

pub mod address;
mod cache;
mod exchange;
mod fetch;
mod get;
mod html;
mod network;
mod page;
mod target;
mod text;
mod tls;

pub use get::{Config, HttpGet, NotSetUp};
pub use network::{Machine, Network};
