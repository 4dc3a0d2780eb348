//! Going back and looking again: what is kept, what a run begins from that another left, what a replay comes to, what differs.
//! Owns: the records of that. Must not: run a step, or undo what was done outside.

pub mod checkpoint;
pub mod fork;
pub mod replay;
