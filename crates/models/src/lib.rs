//! Who answers: models behind one port.
//! Owns: nothing yet. Must not: nothing yet.
