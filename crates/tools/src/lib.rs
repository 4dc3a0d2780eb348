//! What may be done on this machine: files, commands, in a sandbox.
//! Owns: nothing yet. Must not: nothing yet.
