//! What the runtime asks of the edge.
//! Owns: the port traits. Must not: implement one.

pub mod agent;
pub mod command;
pub mod history;
pub mod ledger;
pub mod memory;
pub mod model;
pub mod session;
pub mod sources;
pub mod tool;

use std::future::Future;
use std::pin::Pin;

/// What a port returns: a future that may move between threads.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
