//! The sentences of a text.
//! Owns: where they end. Must not: change a byte: each is a piece of its text.

mod hidden;

pub use hidden::{is_struck_out, visible};

use core::ops::Range;

/// Characters of a sentence; what is longer is given in pieces, which end between words.
pub const CHARS_MAX: usize = 800;
/// A line that is at least this long was broken because the page ended, not the sentence.
const WRAPPED_CHARS_MIN: usize = 56;
/// Letters before a dot that do not end a sentence, English and German.
#[rustfmt::skip] // words in rows
const ABBREVIATIONS: [&str; 43] = [
    "al", "approx", "bspw", "bzw", "ca", "cf", "d.h", "dr", "e.g", "e.v", "evtl", "ggf", "hr", "i.d.r", "i.e", "inc", "inkl", "jr", "ltd",
    "max", "mind", "mr", "mrs", "ms", "mwst", "o.ä", "prof", "sog", "st", "str", "tel", "u.a", "usw", "vgl", "vs", "z.b", "zzgl", "fr", "ing",
    "exkl", "h.c", "mme", "mlle",
];
/// Letters that stand alone before a dot, with a space behind it: "z. B.", "d. h.", "e. V.".
const SPACED: [&str; 7] = ["d", "e", "i", "o", "u", "z", "s"];
/// Those that do not if a number follows.
#[rustfmt::skip] // words in rows
const NUMBERED: [&str; 23] = [
    "abs", "art", "arts", "ch", "chap", "cl", "cll", "fig", "kap", "no", "nos", "nr", "p", "para", "paras", "pp", "reg", "regs", "sched", "sec",
    "sect", "sept", "ziff",
];
/// German months: a number and a dot before them are a day.
#[rustfmt::skip] // words in rows
const MONTHS: [&str; 12] = [
    "januar", "februar", "märz", "april", "mai", "juni", "juli", "august", "september", "oktober", "november", "dezember",
];
/// German words before a number with a dot, which is then the third and not three.
#[rustfmt::skip] // words in rows
const COUNTING: [&str; 22] = [
    "ab", "am", "beim", "bis", "das", "dem", "den", "der", "des", "die", "im", "ins", "jeden", "jeder", "nach", "seit", "vom", "vor", "zum", "zur",
    "ein", "einem",
];
/// What may stand behind the mark that ends a sentence.
const CLOSING: &[char] = &[
    '"', '\'', ')', ']', '”', '“', '’', '»', '«', '.', '!', '?', '*', '_', '~', '¹', '²', '³', '⁰', '⁴', '⁵',
    '⁶', '⁷', '⁸', '⁹',
];
const QUOTES: &[char] = &['"', '”', '“', '»', '«', '’'];
/// Letters of the mark of a note, at most.
const NOTE_CHARS_MAX: usize = 8;
/// Letters of a word with a capital that is cut short where a number or a bracket follows its dot: "Nov. 2027", "Reg. (EU)".
const SHORT_CHARS_MAX: usize = 3;
/// What a file may begin with to say how it is written; it is no part of its text.
const MARK: char = '\u{feff}';

/// The sentences of a text, in order, without the space around them.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    spans(text).map(|span| text.get(span).unwrap_or_default())
}

/// Where the sentences of a text stand, in bytes.
pub fn spans(text: &str) -> impl Iterator<Item = Range<usize>> {
    pieces(text, CHARS_MAX)
}

/// Where they stand, however long they are: a piece of one is no sentence, and says something else.
pub fn unbroken(text: &str) -> impl Iterator<Item = Range<usize>> {
    pieces(text, usize::MAX)
}

fn pieces(text: &str, chars_max: usize) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    core::iter::from_fn(move || {
        loop {
            let rest = text.get(at..)?;
            let is_space = |letter: char| letter.is_whitespace() || letter == MARK;
            at += rest.len() - rest.trim_start_matches(is_space).len();
            let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
            let begin = at;
            at += end_of(text, begin, chars_max);
            let sentence = rest.get(..at - begin).unwrap_or_default().trim_end();
            if !sentence.is_empty() {
                return Some(begin..begin + sentence.len());
            }
        }
    })
}

/// How long the sentence is that begins at `begin`, which is no space; never 0.
fn end_of(whole: &str, begin: usize, chars_max: usize) -> usize {
    let text = whole.get(begin..).unwrap_or_default();
    let mut last_space = None;
    for (count, (at, letter)) in text.char_indices().enumerate() {
        let after = at + letter.len_utf8();
        let rest = text.get(after..).unwrap_or_default();
        if count >= chars_max {
            return last_space.unwrap_or(at);
        }
        let ends = match letter {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' | '…' => {
                let closed = closed(rest);
                let marks = rest.strip_suffix(closed).unwrap_or_default();
                let is_over = closed.is_empty() || closed.starts_with(char::is_whitespace);
                // A sentence in brackets ends with them, whatever its last word is.
                let is_aside = text.starts_with('(') && marks.starts_with(')');
                let is_word = letter == '.'
                    && !is_aside
                    && (is_abbreviated(text, at, closed) || is_number_of_item(whole, begin + at));
                let is_told = marks.contains(QUOTES) && tells(closed);
                if is_over && !goes_on(closed) && !is_told && !is_word {
                    return text.len() - closed.len();
                }
                false
            }
            '\n' => !is_wrapped(whole, begin + at, rest),
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

/// What is behind the marks that belong to the end of a sentence: brackets, quotation marks, the numbers of notes.
fn closed(rest: &str) -> &str {
    let mut rest = rest;
    loop {
        let behind = rest.trim_start_matches(CLOSING);
        let note = behind.strip_prefix('[').and_then(|inside| inside.split_once(']'));
        let is_note = |inside: &str| {
            let number = inside.strip_prefix('^').unwrap_or(inside);
            (1..=NOTE_CHARS_MAX).contains(&number.len())
                && (number.len() < inside.len() || number.bytes().all(|byte| byte.is_ascii_digit()))
                && !number.contains(char::is_whitespace)
        };
        rest = match note {
            Some((inside, behind)) if is_note(inside) => behind,
            _ if behind.len() == rest.len() => return rest,
            _ => behind,
        };
    }
}

/// Whether a dash follows, behind which somebody tells whose speech it was.
fn tells(closed: &str) -> bool {
    closed.trim_start_matches([' ', '\t', '\u{a0}']).starts_with(['–', '—', '-'])
}

/// Whether a line was only broken to fit a page: it goes on in small letters, or it is long and what follows begins
/// nothing of its own.
fn is_wrapped(whole: &str, end: usize, rest: &str) -> bool {
    let line = whole.get(..end).unwrap_or_default();
    let line = line.rsplit('\n').next().unwrap_or_default().trim_end();
    let next = rest.split('\n').next().unwrap_or_default();
    let (is_indented, next) = (next.starts_with([' ', '\t']), next.trim());
    if next.is_empty() || begins_something(next) || line.trim_start().starts_with(['#', '|']) {
        return false;
    }
    // The first line of an item stands out; what is indented below it goes on with it.
    let in_item = is_indented && begins_something(line.trim_start());
    rest.starts_with(char::is_lowercase)
        || (is_indented && next.starts_with(char::is_lowercase))
        || (line.chars().count() >= WRAPPED_CHARS_MIN
            && (in_item || !is_indented || line.starts_with([' ', '\t'])))
}

/// Whether a line begins an item, a heading, a row of a table or a field.
pub(crate) fn begins_something(line: &str) -> bool {
    let bulleted = ["- ", "* ", "+ ", "• ", "#", "|", ">", "```", "~~~", "---", "==="];
    if bulleted.iter().any(|mark| line.starts_with(mark)) {
        return true;
    }
    let head = line.trim_start_matches('(');
    let number = head.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric());
    let length = head.len() - number.len();
    // `1.`, `12)`, `(a)`, `4.2 `: at most a few signs, then a dot or a bracket.
    (1..=3).contains(&length)
        && (number.starts_with(") ")
            || (head.starts_with(|letter: char| letter.is_ascii_digit())
                && number.starts_with('.')
                && number
                    .trim_start_matches(|letter: char| letter == '.' || letter.is_ascii_digit())
                    .starts_with([' ', '\t'])))
}

/// Whether what follows is the rest of a sentence: it begins with a small letter, on the same line.
fn goes_on(rest: &str) -> bool {
    let next = rest.trim_start_matches([' ', '\t', '\u{a0}']);
    next.starts_with(char::is_lowercase)
}

/// Whether the dot at `at` ends the number of an item: nothing but the number stands before it on its line.
fn is_number_of_item(whole: &str, at: usize) -> bool {
    let line = whole.get(..at).unwrap_or_default();
    let line = line.rsplit('\n').next().unwrap_or_default().trim_start_matches(['#', ' ', '\t', '*']);
    !line.is_empty() && line.len() <= 6 && line.chars().all(|letter| letter.is_ascii_digit() || letter == '.')
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
    // `J.`, `B.V.`, `U.S.`
    let is_initial =
        word.split('.').all(|part| part.chars().count() == 1 && part.chars().all(char::is_uppercase));
    let earlier = before.get(..before.len() - word.len()).unwrap_or_default();
    let next = rest.trim_start();
    if is_ordinal(earlier, word, next) {
        return true;
    }
    let is_short = word.starts_with(char::is_uppercase)
        && word.chars().count() <= SHORT_CHARS_MAX
        && word.ends_with(|letter: char| letter.is_lowercase() && !"aeiouy".contains(letter));
    let word = word.to_lowercase();
    let is_counted = next.starts_with(|next: char| next.is_ascii_digit() || next == '(');
    let is_spaced =
        SPACED.contains(&word.as_str()) && next.starts_with(char::is_alphabetic) && next.contains('.');
    is_initial
        || is_spaced
        || ABBREVIATIONS.contains(&word.as_str())
        || (is_counted && (NUMBERED.contains(&word.as_str()) || is_short))
}

/// Whether a number and its dot count: "28. Juni", "nach der 3. Mahnung".
fn is_ordinal(before: &str, number: &str, next: &str) -> bool {
    if number.is_empty() || number.len() > 2 || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let last = |text: &str| text.split_whitespace().next_back().unwrap_or_default().to_lowercase();
    let month =
        next.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
    MONTHS.contains(&month.as_str())
        || (COUNTING.contains(&last(before).as_str()) && next.starts_with(char::is_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn is_blank(text: &str) -> bool {
        text.trim_matches(|letter: char| letter.is_whitespace() || letter == MARK).is_empty()
    }

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
        check(
            "Das Fest ist am 28. Juni. Nach der 3. Mahnung, z. B. im Mai, kostet es 5. Ende.",
            &["Das Fest ist am 28. Juni.", "Nach der 3. Mahnung, z. B. im Mai, kostet es 5.", "Ende."],
        );
        check("\u{feff}One. Two.", &["One.", "Two."]);
        check(
            "It has 3 gates. (See Annex B.) It is high. People sit.¹ Cellars.[3] End",
            &["It has 3 gates.", "(See Annex B.)", "It is high.", "People sit.¹", "Cellars.[3]", "End"],
        );
        for whole in [
            "Mr. Smith of Acme Inc. signed it on 4 Nov. 2022 at 10 a.m. in Hull.",
            "Art. 12 para. 3 of Reg. (EU) No. 2016/679 applies.",
            "Prof. Dr. h.c. Weber leads the St. Anna clinic.",
            "\"The engine passed in May.\" — that is a lie.",
            "„Es hält.“ – Das ist falsch.",
        ] {
            check(whole, &[whole]);
        }
        check("It ended in May. 3 people came.", &["It ended in May.", "3 people came."]);
        check("屋根は赤い。家は白い。", &["屋根は赤い。", "家は白い。"]);
    }

    #[test]
    fn a_page_breaks_lines_and_not_sentences() {
        let wrapped = "The rent is payable in advance on the first working day of each month to the\nLandlord at its office.";
        check(wrapped, &[wrapped]);
        check(
            "4.2. The rent is due.\n4.3 The fee is due.",
            &["4.2. The rent is due.", "4.3 The fee is due."],
        );
        check("1. Term\n2. Rent", &["1. Term", "2. Rent"]);
        let item =
            "- The tenant keeps the roof in good repair at its own cost and expense at\n  All times.\n- Next";
        check(item, &[&item[..item.len() - 7], "- Next"]);
        let long = "This line is long enough to have been broken by the end of the page so";
        check(&std::format!("{long}\n\nNext"), &[long, "Next"]);
        check(&std::format!("{long}\n- item"), &[long, "- item"]);
        check(&std::format!("# {long}\nText"), &[&std::format!("# {long}"), "Text"]);
    }

    #[test]
    fn long_ones_come_in_pieces() {
        let text = "word ".repeat(600);
        let pieces: Vec<&str> = sentences(&text).collect();
        assert!(pieces.len() > 3 && pieces.iter().all(|piece| piece.chars().count() <= CHARS_MAX));
        assert!(pieces.iter().all(|piece| piece.ends_with("word") && piece.starts_with("word")));
        assert_eq!(unbroken(&text).count(), 1);
        assert_eq!(
            sentences(&"é".repeat(2_000)).map(|piece| piece.chars().count()).collect::<Vec<_>>(),
            [800, 800, 400]
        );
    }

    proptest! {
        #[test]
        fn nothing_is_lost_or_changed(text in "[a-zA-Z0-9 .!?\n\"é。<\\[|#*-]{0,200}|\\PC{0,100}") {
            let mut last = 0;
            for span in spans(&text) {
                prop_assert!(is_blank(&text[last..span.start]) && span.start < span.end);
                last = span.end;
            }
            prop_assert!(is_blank(&text[last..]));
        }
    }
}
