//! Learning: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::wire::words;

words! {
    /// Production, signal_generation, calibration.
    LearningMode {
        Production = "production", SignalGeneration = "signal_generation", Calibration = "calibration",
    }
}
