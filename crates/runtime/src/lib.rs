//! Makes it happen: the ports that the edge implements, and the clock.
//! Owns: the traits between deciding and doing, time and ids as inputs. Must not: know SQL, HTTP or a vendor.
//!
//! Invariants:
//! - every read and write of a ledger takes a [`countersign_record::access::MatterAccess`];
//! - an append is acknowledged only when it is durable;
//! - each stage of a run is durable before the next begins;
//! - a package that was read from memory is handed out only when its receipt is durable.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")
)]

pub mod agents;
pub mod audit;
pub mod clock;
mod fit;
pub mod fold;
mod journal;
mod looked;
pub mod memory_read;
pub mod ports;
pub mod purse;
pub mod replay;
pub mod run;
pub mod session;
mod shape;
pub mod work;
