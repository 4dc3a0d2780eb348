//! What stands where in a line, found for many bytes at once.
//! Owns: the places of its quotes, and whether it needs the long way. Must not: know what the line says.

use alloc::vec::Vec;
use wide::u8x16;

/// Bytes whose quotes fit into one number.
const BLOCK: usize = 64;
const LANES: usize = 16;

/// Where the quotes of a line are: a bit for each byte.
#[derive(Clone, Debug, Default)]
pub(super) struct Quotes(Vec<u64>);

impl Quotes {
    /// Looks at a line; `false` if it has escapes or control characters.
    pub(super) fn find(&mut self, line: &[u8]) -> bool {
        self.0.clear();
        let (blocks, rest) = line.as_chunks::<BLOCK>();
        let mut special = u8x16::default();
        for block in blocks {
            self.0.push(quotes_of(block, &mut special));
        }
        if !rest.is_empty() {
            let mut last = [b' '; BLOCK];
            for (room, byte) in last.iter_mut().zip(rest) {
                *room = *byte;
            }
            self.0.push(quotes_of(&last, &mut special));
        }
        !special.any()
    }

    /// The first quote at a place or after it.
    pub(super) fn next(&self, at: usize) -> Option<usize> {
        let mut word = at / BLOCK;
        let mut bits = self.0.get(word)? & (u64::MAX << (at % BLOCK));
        while bits == 0 {
            word += 1;
            bits = *self.0.get(word)?;
        }
        Some(word * BLOCK + bits.trailing_zeros() as usize)
    }
}

/// The quotes of a block; what is special in it is noted in the highest bits.
fn quotes_of(block: &[u8; BLOCK], special: &mut u8x16) -> u64 {
    let mut quotes = 0;
    for (at, lanes) in block.as_chunks::<LANES>().0.iter().enumerate() {
        let lanes = u8x16::new(*lanes);
        // The lesser of a byte and the last control character is the byte itself: it is one.
        let control = lanes.min(u8x16::splat(0x1F)).simd_eq(lanes);
        *special |= control | lanes.simd_eq(u8x16::splat(b'\\'));
        quotes |= u64::from(lanes.simd_eq(u8x16::splat(b'"')).to_bitmask()) << (at * LANES);
    }
    quotes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_quote_is_found_and_nothing_else(
            line in prop::collection::vec(prop_oneof![4 => 32_u8..127, 2 => Just(b'"'), 1 => 127..=255_u8], 0..300),
            special in prop::option::weighted(0.3, (0_usize..300, prop_oneof![0_u8..32, Just(b'\\')])),
        ) {
            let mut line: Vec<u8> = line.into_iter().filter(|byte| *byte != b'\\').collect();
            let special = special.filter(|(at, _)| *at < line.len());
            if let Some((at, byte)) = special {
                line[at] = byte;
            }
            let mut quotes = Quotes::default();
            // What is left of another line does not matter.
            quotes.find(&[b'"'; 400]);
            prop_assert_eq!(quotes.find(&line), special.is_none());
            for at in 0..line.len() + 70 {
                let first = line.iter().skip(at).position(|byte| *byte == b'"').map(|further| at + further);
                prop_assert_eq!(quotes.next(at), first);
            }
        }
    }
}
