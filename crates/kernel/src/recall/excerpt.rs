//! What a prompt may show of a record.
//! Owns: where a text is cut, what that takes, and that it is shown on purpose only. Must not: be written anywhere
//! but into a prompt and a package.

use super::input::Budget;
use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;

/// Bytes that one estimated token stands for.
const TOKEN_BYTES: u64 = 4;

/// The start of a record's text. It has no `Serialize` and no `Display`, and its `Debug` says only what it takes: raw
/// memory reaches no ledger, trace or message by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Excerpt(String);

impl Excerpt {
    pub(super) fn of(text: &str, bytes_max: usize) -> Self {
        Excerpt(cut(text, bytes_max).to_owned())
    }

    /// The same with an indent behind every end of a line.
    pub(super) fn indented(&self, indent: &str) -> Self {
        let mut text = String::with_capacity(self.0.len());
        let mut letters = self.0.chars().peekable();
        while let Some(letter) = letters.next() {
            text.push(letter);
            // A return and a newline are one end.
            if letter == '\n' || (letter == '\r' && letters.peek() != Some(&'\n')) {
                text.push_str(indent);
            }
        }
        Excerpt(text)
    }

    /// The text itself: for a prompt or a package, and for nothing that is kept.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.0
    }

    /// What it takes, estimated: a quarter of its bytes, rounded up.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        tokens_of(&self.0)
    }
}

impl fmt::Debug for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Excerpt({} tokens)", self.tokens())
    }
}

/// The most bytes that one excerpt may have.
pub(super) fn bytes_max(budget: Budget) -> usize {
    usize::try_from(budget.per_item_max_excerpt_tokens.saturating_mul(TOKEN_BYTES)).unwrap_or(usize::MAX)
}

/// The start of the text, white space around it left out, cut where a character ends.
pub(super) fn cut(text: &str, bytes_max: usize) -> &str {
    let text = text.trim();
    let mut end = text.len().min(bytes_max);
    // A character has four bytes at most, and 0 is a boundary.
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

pub(super) fn tokens_of(excerpt: &str) -> u64 {
    (excerpt.len() as u64).div_ceil(TOKEN_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn an_excerpt_is_not_printed_by_accident() {
        let excerpt = Excerpt::of("  the roof leaks ", 8);
        assert_eq!((excerpt.shown(), format!("{excerpt:?}").as_str()), ("the roof", "Excerpt(2 tokens)"));
    }
}
