//! Numbers that look like chance and come from a seed: the same seed gives the same numbers everywhere.
//! Owns: the generator. Must not: take chance from anywhere else.

/// `SplitMix64`.
#[derive(Clone, Copy, Debug)]
pub struct Draw(u64);

impl Draw {
    /// Begins with a seed, which the receipt of what is drawn must say.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Draw(seed)
    }

    /// The next number.
    pub const fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One of so many places; the first where there is none. The high bits of a product: it takes no division.
    pub fn place(&mut self, places: usize) -> usize {
        let place = (u128::from(self.number()) * places as u128) >> 64;
        usize::try_from(place).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::Draw;

    /// The first numbers of the reference implementation for the seed 1234567.
    #[test]
    fn it_is_the_generator_that_it_says() {
        let mut draw = Draw::new(1_234_567);
        let first = [draw.number(), draw.number(), draw.number()];
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    /// Each place is about as likely as any other one, and none is beside them.
    #[test]
    fn places_are_alike() {
        let mut draw = Draw::new(7);
        let mut drawn = [0_u32; 7];
        for _ in 0..70_000 {
            drawn[draw.place(drawn.len())] += 1;
        }
        assert!(drawn.iter().all(|count| (9_600..10_400).contains(count)), "{drawn:?}");
        assert_eq!((draw.place(1), draw.place(0)), (0, 0));
    }
}
