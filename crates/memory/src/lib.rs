//! What is remembered: stores of memory records on disk.
//! Owns: reading them, in bounded memory. Must not: decide what is selected (`countersign-kernel` does), or write to
//! a store that is read.

pub mod recall;
