//! Who answers: models behind one port.
//! Owns: the embedded model, replies that are played back, clients of remote models, their settings and keys.
//! Must not: see a tool or the store, follow a redirect, or let a key into a text.
//!
//! Every model takes the conversation as it is and gives text, piece by piece. A remote one is asked again only before
//! the first piece, a few times, and only where asking again can help.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")
)]

mod anthropic;
pub mod extractive;
pub mod key;
mod limits;
pub mod open;
mod openai;
pub mod prices;
pub mod recorded;
pub mod remote;
pub mod scripted;
pub mod settings;
pub mod shelf;
mod turns;

pub use extractive::Extractive;
pub use key::Key;
pub use open::{Means, Opened, open};
pub use recorded::Recorded;
pub use remote::Remote;
pub use scripted::Scripted;
pub use settings::Settings;
pub use shelf::Shelf;
