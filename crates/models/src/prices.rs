//! What an answer costs.
//! Owns: the arithmetic. Must not: know a price.

/// In millionths of a dollar for a million tokens: three dollars are 3,000,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prices {
    /// Tokens of the question that are read anew.
    pub input: u64,
    /// Tokens of the question that are found in a cache.
    pub cached: u64,
    /// Tokens of the answer.
    pub output: u64,
}

/// What a server counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Tokens that were read anew.
    pub input: u64,
    /// Tokens that were found in a cache; not among `input`.
    pub cached: u64,
    /// Tokens of the answer.
    pub output: u64,
}

const PER: u128 = 1_000_000;

impl Prices {
    /// The cost in millionths of a dollar. A part of one counts as one: a budget is never told less than was spent.
    #[must_use]
    pub fn of(&self, counted: Counted) -> u64 {
        let part = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let sum = part(counted.input, self.input)
            .saturating_add(part(counted.cached, self.cached))
            .saturating_add(part(counted.output, self.output));
        u64::try_from(sum.div_ceil(PER)).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_whole_and_never_too_low() {
        let prices = Prices { input: 3_000_000, cached: 300_000, output: 15_000_000 };
        let check = |input, cached, output, cost| {
            assert_eq!(prices.of(Counted { input, cached, output }), cost, "{input} {cached} {output}");
        };
        check(0, 0, 0, 0);
        check(1, 0, 0, 3);
        check(0, 1, 0, 1);
        check(1_000, 2_000, 100, 3_000 + 600 + 1_500);
        check(u64::MAX, u64::MAX, u64::MAX, u64::MAX);
    }
}
