//! The hash chain: what binds a row to all before it, and what is wrong when it does not.
//! Owns: the first link, anchors, verification. Must not: read a store; rows are shown to it.

mod anchor;
mod damage;
mod displaced;
mod verify;

pub use anchor::{Anchor, AnchorProblem, Head};
pub use damage::{Damage, Finding};
pub use verify::{Backwards, Report, Signer, Unsigned, Verifier};

use crate::canonical::{Hasher, Sink, write_string};
use crate::digest::Digest;
use crate::id::MatterId;

/// What the first row of a matter is chained to. It names the matter, so no row fits another one's chain.
#[must_use]
pub fn genesis(matter: &MatterId) -> Digest {
    let mut hasher = Hasher::new();
    hasher.put(b"{\"ledger\":1,\"matter\":");
    write_string(matter.as_str(), &mut hasher);
    hasher.put(b"}");
    hasher.finish()
}

#[cfg(test)]
#[path = "chain_tests.rs"]
mod tests;
