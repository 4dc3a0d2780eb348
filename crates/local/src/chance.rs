//! Which token comes next.
//! Owns: the choice, the best one or one by chance that can be repeated. Must not: see a clock or the system's
//! randomness.

/// Where a number comes from that only looks like chance: SplitMix64.
#[derive(Clone, Debug)]
struct Dice {
    state: u64,
}

impl Dice {
    /// A number from 0 up to but not including 1.
    fn throw(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^= bits >> 31;
        // A double holds 53 bits.
        (bits >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// How tokens are chosen.
#[derive(Clone, Debug)]
pub struct Choice {
    temperature: f64,
    dice: Dice,
}

/// The numbers are none: not one token could be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the model's numbers are none")]
pub struct NotNumbers;

impl Choice {
    /// With a temperature in thousandths; at 0 the best token is taken and the seed is not looked at.
    #[must_use]
    pub fn new(temperature_milli: u32, seed: u64) -> Self {
        Choice { temperature: f64::from(temperature_milli) / 1000.0, dice: Dice { state: seed } }
    }

    /// The token that comes next, given how likely each one is, as logits.
    ///
    /// # Errors
    /// No token has a number.
    pub fn next(&mut self, logits: &[f32]) -> Result<u32, NotNumbers> {
        let (best, most) = best(logits).ok_or(NotNumbers)?;
        if self.temperature <= 0.0 {
            return Ok(best);
        }
        let weight = |logit: f32| {
            let distance = f64::from(logit) - f64::from(most);
            // What is no number has no chance.
            if distance <= 0.0 { libm::exp(distance / self.temperature) } else { 0.0 }
        };
        let sum: f64 = logits.iter().copied().map(weight).sum();
        let mut left = self.dice.throw() * sum;
        for (token, logit) in (0u32..).zip(logits) {
            let weight = weight(*logit);
            if left < weight {
                return Ok(token);
            }
            left -= weight;
        }
        // Rounding has eaten the rest.
        Ok(best)
    }
}

/// The first of the largest numbers.
fn best(logits: &[f32]) -> Option<(u32, f32)> {
    let mut best: Option<(u32, f32)> = None;
    for (token, logit) in (0u32..).zip(logits) {
        let is_better = best.is_none_or(|(_, most)| *logit > most);
        if is_better && logit.is_finite() {
            best = Some((token, *logit));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(temperature_milli: u32, seed: u64, logits: &[f32], expected: Result<u32, NotNumbers>) {
        assert_eq!(Choice::new(temperature_milli, seed).next(logits), expected);
    }

    #[test]
    fn without_chance_the_first_of_the_best_is_taken() {
        check(0, 0, &[0.0, 2.0, 1.0, 2.0], Ok(1));
        check(0, 9, &[-3.0, f32::NAN, -2.0], Ok(2));
        check(0, 0, &[f32::INFINITY, 1.0], Ok(1));
    }

    #[test]
    fn what_is_no_number_is_never_taken() {
        check(0, 0, &[], Err(NotNumbers));
        check(1000, 0, &[f32::NAN, f32::NEG_INFINITY], Err(NotNumbers));
        for seed in 0..100 {
            check(u32::MAX, seed, &[f32::NAN, 1.0, f32::NAN, f32::INFINITY], Ok(1));
        }
    }

    #[test]
    fn chance_follows_the_weights() {
        let mut choice = Choice::new(1000, 7);
        let mut counts = [0u32; 3];
        for _ in 0..10_000 {
            counts[choice.next(&[0.0, libm::logf(3.0), f32::NEG_INFINITY]).unwrap() as usize] += 1;
        }
        assert!((2300..2700).contains(&counts[0]), "{counts:?}");
        assert_eq!(counts[2], 0);
    }

    proptest! {
        #[test]
        fn a_seed_repeats_it(logits in prop::collection::vec(any::<f32>(), 0..20), seed: u64, milli: u32) {
            let (mut once, mut again) = (Choice::new(milli, seed), Choice::new(milli, seed));
            for _ in 0..3 {
                let next = once.next(&logits);
                prop_assert_eq!(next, again.next(&logits));
                if let Ok(token) = next {
                    prop_assert!((token as usize) < logits.len());
                    prop_assert!(logits[token as usize].is_finite());
                }
            }
        }
    }
}
