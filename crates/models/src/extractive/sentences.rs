//! The sentences of a text.
//! Owns: where they end. Must not: change a byte: each is a piece of its text.

/// Characters of a sentence; what is longer is given in pieces, which end between words.
const CHARS_MAX: usize = 400;
/// Letters before a dot that do not end a sentence.
const ABBREVIATIONS: [&str; 16] = [
    "al", "approx", "bzw", "ca", "cf", "dr", "e.g", "i.e", "inc", "jr", "ltd", "mr", "mrs", "ms", "prof",
    "vs",
];
/// Those that do not if a number follows.
const NUMBERED: [&str; 8] = ["abs", "art", "fig", "no", "nr", "p", "pp", "sec"];

/// The sentences of a text, in order, without the space around them.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_start();
            if rest.is_empty() {
                return None;
            }
            let (sentence, more) = rest.split_at(end_of(rest));
            rest = more;
            let sentence = sentence.trim_end();
            if !sentence.is_empty() {
                return Some(sentence);
            }
        }
    })
}

/// Where the first sentence of a text that begins with no space ends, in bytes; never 0.
fn end_of(text: &str) -> usize {
    let mut last_space = None;
    for (count, (at, letter)) in text.char_indices().enumerate() {
        let after = at + letter.len_utf8();
        let rest = text.get(after..).unwrap_or_default();
        if count >= CHARS_MAX {
            return last_space.unwrap_or(at);
        }
        let ends = match letter {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' | '…' => {
                let closed = rest.trim_start_matches(['"', '\'', ')', ']', '”', '’', '»', '.', '!', '?']);
                let is_over = closed.is_empty() || closed.starts_with(char::is_whitespace);
                if is_over && !goes_on(closed) && !(letter == '.' && is_abbreviated(text, at, closed)) {
                    return text.len() - closed.len();
                }
                false
            }
            // A line that goes on in small letters was only broken to fit a page.
            '\n' => !rest.starts_with(char::is_lowercase),
            _ => false,
        };
        if ends {
            return after;
        }
        if letter.is_whitespace() {
            last_space = Some(after);
        }
    }
    text.len()
}

/// Whether what follows is the rest of a sentence: it begins with a small letter, on the same line.
fn goes_on(rest: &str) -> bool {
    let next = rest.trim_start_matches([' ', '\t', '\u{a0}']);
    next.starts_with(char::is_lowercase)
}

/// Whether the dot at `at` belongs to the word before it.
fn is_abbreviated(text: &str, at: usize, rest: &str) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let start = before.rfind(|letter: char| !letter.is_alphanumeric() && letter != '.');
    let word = match start {
        Some(start) => before
            .get(start..)
            .unwrap_or_default()
            .trim_start_matches(|letter: char| !letter.is_alphanumeric()),
        None => before,
    };
    let is_initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase);
    let word = word.to_lowercase();
    let is_counted = rest.trim_start().starts_with(|next: char| next.is_ascii_digit());
    is_initial || ABBREVIATIONS.contains(&word.as_str()) || (is_counted && NUMBERED.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(sentences(text).collect::<Vec<_>>(), expected, "{text:?}");
    }

    #[test]
    fn sentences_end_where_they_do() {
        check("", &[]);
        check(" \n ", &[]);
        check("One. Two! Three? four", &["One.", "Two!", "Three? four"]);
        check("He said \"no.\" Then he left.", &["He said \"no.\"", "Then he left."]);
        check(
            "Dr. Smith pays 3.50 euros, e.g. monthly. Mr. X. does not.",
            &["Dr. Smith pays 3.50 euros, e.g. monthly.", "Mr. X. does not."],
        );
        check("See Art. 5 of no. 7. I say no. Never.", &["See Art. 5 of no. 7.", "I say no.", "Never."]);
        check("Wait... what?! Yes.", &["Wait... what?!", "Yes."]);
        check("A line that was\nbroken here. Next.", &["A line that was\nbroken here.", "Next."]);
        check(
            "Title\nFirst line\n- item one\n- item two\n\nend",
            &["Title", "First line", "- item one", "- item two", "end"],
        );
        check("屋根は赤い。家は白い。", &["屋根は赤い。", "家は白い。"]);
    }

    #[test]
    fn long_ones_come_in_pieces() {
        let text = "word ".repeat(300);
        let pieces: Vec<&str> = sentences(&text).collect();
        assert!(pieces.len() > 3 && pieces.iter().all(|piece| piece.chars().count() <= CHARS_MAX));
        assert!(pieces.iter().all(|piece| piece.ends_with("word") && piece.starts_with("word")));
        assert_eq!(
            sentences(&"é".repeat(1_000)).map(|piece| piece.chars().count()).collect::<Vec<_>>(),
            [400, 400, 200]
        );
    }

    proptest! {
        #[test]
        fn nothing_is_lost_or_changed(text in "[a-zA-Z .!?\n\"é。<\\[]{0,200}|\\PC{0,100}") {
            let mut rest = text.as_str();
            for sentence in sentences(&text) {
                let at = rest.find(sentence).expect("a piece of the text, in order");
                prop_assert!(rest[..at].trim().is_empty());
                rest = &rest[at + sentence.len()..];
            }
            prop_assert!(rest.trim().is_empty());
        }
    }
}
