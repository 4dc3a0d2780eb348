//! What is remembered: stores of memory records on disk, and the snapshot of their vectors.
//! Owns: reading them, in bounded memory. Must not: decide what is selected (`countersign-kernel` does), write to
//! a store that is read, or run a pickle.

pub mod embed;
pub mod recall;
pub mod snapshot;
pub mod search;
