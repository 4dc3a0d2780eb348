//! What is fetched from outside, and kept for a while.
//! Owns: nothing yet. Must not: nothing yet.
