//! An own model: a GGUF file that is run in the process.
//! Owns: nothing yet. Must not: nothing yet.
