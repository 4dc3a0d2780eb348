//! Randomness that can be had again.
//! Owns: the generator and telling its seed when a test fails. Must not: be good for secrets.

use std::ops::Range;

/// SplitMix64: small, and the same on every machine.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Starts from a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Random { state: seed }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number of the range, which must not be empty.
    pub fn within(&mut self, range: Range<u64>) -> u64 {
        range.start + self.bits() % (range.end - range.start)
    }

    /// A length or an index of the range.
    pub fn index(&mut self, range: Range<usize>) -> usize {
        usize::try_from(self.within(range.start as u64..range.end as u64)).expect("an index fits")
    }

    /// True once in `of` times.
    pub fn once_in(&mut self, of: u64) -> bool {
        self.within(0..of) == 0
    }

    /// One of the items, of which there must be one.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.index(0..items.len())]
    }

    /// So many bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.bits().to_le_bytes()[0]).collect()
    }

    /// A generator of its own for a part of the test.
    pub fn fork(&mut self) -> Random {
        Random::new(self.bits())
    }
}

/// Names the seed when the test that holds it fails. `COUNTERSIGN_SEED` sets it.
#[derive(Debug)]
pub struct Seed {
    what: &'static str,
    seed: u64,
}

impl Seed {
    /// The seed of a test: the one that was asked for, or `default`.
    #[must_use]
    pub fn of(what: &'static str, default: u64) -> Self {
        let asked = std::env::var("COUNTERSIGN_SEED").ok().and_then(|text| text.parse().ok());
        Seed { what, seed: asked.unwrap_or(default) }
    }

    /// The generator.
    #[must_use]
    pub fn random(&self) -> Random {
        Random::new(self.seed)
    }
}

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{} failed with COUNTERSIGN_SEED={}", self.what, self.seed);
        }
    }
}
