//! A text as runs of characters that belong together.
//! Owns: folding letters that mean the same, where a run begins and ends. Must not: hold more than one run.
//!
//! Which characters are letters is Unicode's to say, in the version that this build knows. A later version adds
//! characters; it does not change what is said of those that were there.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A longer run is taken as several: no word of any language is, and memory stays bounded.
pub(super) const RUN_CHARS_MAX: usize = 64;

/// How the writing of a run works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writing {
    /// Words stand apart: the run is one word.
    Spaced,
    /// No spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese, Tibetan): the run is several words.
    Dense,
    /// Signs that stand for themselves: arrows, mathematics, emoji.
    Symbol,
}

/// Shows every run of the text, folded: compatibility forms and composed letters are made one (NFKC), capitals small.
pub(super) fn each(text: &str, mut see: impl FnMut(&[char], Writing)) {
    let mut run: Vec<char> = Vec::with_capacity(RUN_CHARS_MAX);
    let mut of_run = Writing::Spaced;
    // A letter may carry any number of marks; `stream_safe` parts them, so that composing stays in bounded memory.
    for char in text.chars().stream_safe().nfkc().flat_map(char::to_lowercase) {
        if is_invisible(char) {
            continue;
        }
        let writing = if is_combining_mark(char) {
            // A mark belongs to the letter before it.
            (!run.is_empty()).then_some(of_run)
        } else {
            writing(char)
        };
        if !run.is_empty() && (writing != Some(of_run) || run.len() == RUN_CHARS_MAX) {
            see(&run, of_run);
            run.clear();
        }
        if let Some(writing) = writing {
            of_run = writing;
            run.push(char);
        }
    }
    if !run.is_empty() {
        see(&run, of_run);
    }
}

/// What a character is part of; `None` between runs.
fn writing(char: char) -> Option<Writing> {
    match char {
        '\u{e00}'..='\u{fff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{312f}'
        | '\u{31a0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}' => Some(Writing::Dense),
        '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}' => Some(Writing::Symbol),
        char if char.is_alphanumeric() => Some(Writing::Spaced),
        _ => None,
    }
}

/// Characters that change nothing for a reader: joiners, soft hyphens, marks of direction and variation.
fn is_invisible(char: char) -> bool {
    matches!(char, '\u{ad}' | '\u{34f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let mut runs = Vec::new();
        each(text, |run, _| runs.push(run.iter().collect::<String>()));
        assert_eq!(runs, expected, "{text:?}");
    }

    #[test]
    fn runs() {
        check("", &[]);
        check(" ,.!? \n", &[]);
        check("The lease's end", &["the", "lease", "s", "end"]);
        check("CAF\u{c9} cafe\u{301} caf\u{e9}", &["café", "café", "café"]);
        check("ﬁle Ｗｉｄｅ ｶﾞ", &["file", "wide", "ガ"]);
        check("snake_case(x1)", &["snake", "case", "x1"]);
        check("租约2026年结束。租客", &["租约", "2026", "年结束", "租客"]);
        check("स्थगित किया", &["स्थगित", "किया"]);
        check("soft\u{ad}hyphen\u{feff}", &["softhyphen"]);
        check("go 🚀→x", &["go", "🚀→", "x"]);
        check("\u{301}\u{301}a", &["a"]);
    }

    #[test]
    fn a_run_without_end_is_cut() {
        check(&"x".repeat(150), &[&"x".repeat(64), &"x".repeat(64), &"x".repeat(22)]);
        let marks = "\u{301}".repeat(100_000);
        each(&format!("a{marks}"), |run, _| assert!(run.len() <= RUN_CHARS_MAX));
    }
}
