//! Events and projections: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{Instant, StorageRef, V10};
use super::wire::record;

record! {
    /// Ties a projection to its event and to the seq it is folded up to.
    EventProjectionLink: projection {
        canonical_event_ref: CanonicalEventRef,
        current_projection_ref: ProjectionRef,
        projection_event_seq: u64,
        projection_valid_at: Instant,
        schema_version: V10,
    }
}

/// A reference to a record that is never changed.
pub type CanonicalEventRef = StorageRef;
/// A reference to a projection.
pub type ProjectionRef = StorageRef;
