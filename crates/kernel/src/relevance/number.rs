//! Numbers that are said in words.
//! Owns: what they come to, in English and German, and small ones in French and Spanish. Must not: guess: what is no whole number in these words stays as it is.

use alloc::string::String;

/// Numbers with a word of their own, folded and without marks.
#[rustfmt::skip] // pairs in rows
const SMALL: [(&str, u64); 72] = [
    ("one", 1), ("two", 2), ("three", 3), ("four", 4), ("five", 5), ("six", 6), ("seven", 7), ("eight", 8), ("nine", 9), ("ten", 10),
    ("eleven", 11), ("twelve", 12), ("thirteen", 13), ("fourteen", 14), ("fifteen", 15), ("sixteen", 16), ("seventeen", 17),
    ("eighteen", 18), ("nineteen", 19), ("twenty", 20), ("thirty", 30), ("forty", 40), ("fifty", 50), ("sixty", 60), ("seventy", 70),
    ("eighty", 80), ("ninety", 90),
    ("eins", 1), ("zwei", 2), ("drei", 3), ("vier", 4), ("funf", 5), ("sechs", 6), ("sieben", 7), ("acht", 8), ("neun", 9), ("zehn", 10),
    ("elf", 11), ("zwolf", 12), ("dreizehn", 13), ("vierzehn", 14), ("funfzehn", 15), ("sechzehn", 16), ("siebzehn", 17), ("achtzehn", 18),
    ("neunzehn", 19), ("zwanzig", 20), ("dreissig", 30), ("dreißig", 30), ("vierzig", 40), ("funfzig", 50), ("sechzig", 60),
    ("siebzig", 70), ("achtzig", 80), ("neunzig", 90), ("hundert", 100), ("tausend", 1_000),
    ("deux", 2), ("trois", 3), ("quatre", 4), ("cinq", 5), ("huit", 8), ("dix", 10), ("onze", 11), ("douze", 12),
    ("tres", 3), ("cuatro", 4), ("cinco", 5), ("seis", 6), ("siete", 7), ("ocho", 8), ("nueve", 9),
];
/// Words that make a number before them so many times as large.
#[rustfmt::skip] // pairs in rows
const TIMES: [(&str, u64); 9] = [
    ("hundred", 100), ("thousand", 1_000), ("million", 1_000_000), ("millions", 1_000_000), ("billion", 1_000_000_000),
    ("tausend", 1_000), ("millionen", 1_000_000), ("milliarde", 1_000_000_000), ("milliarden", 1_000_000_000),
];
const HUNDRED: u64 = 100;
/// Digits of a number before "million".
const DIGITS_MAX: usize = 9;

/// The number that some words begin with, and how many of them it takes.
pub(super) fn leading(words: &[String]) -> Option<(u64, usize)> {
    let word = |at: usize| words.get(at).map(String::as_str);
    let mut at = 0;
    // What is whole already, and what may still be made larger.
    let (mut whole, mut part): (u64, Option<u64>) = (0, None);
    while let Some(next) = word(at) {
        if let (Some(times), Some(many)) = (times(next), part.or_else(|| begins(words, at))) {
            part = None;
            match times {
                HUNDRED if many < HUNDRED => part = Some(many * HUNDRED),
                HUNDRED => break,
                times => whole = whole.checked_add(many.checked_mul(times)?)?,
            }
        } else if let Some(number) = small(next) {
            part = match part {
                None if whole == 0 || number < 1_000 => Some(number),
                Some(tens) if takes(tens, number) => Some(tens + number),
                None | Some(_) => break,
            };
        } else if at == 0 && is_digits(next) && word(1).and_then(times).is_some_and(|times| times > HUNDRED) {
            part = next.parse().ok();
        } else if at == 0 && is_one(next) && word(1).and_then(times).is_some() {
            part = Some(1);
        } else if !(joins(next)
            && at > 0
            && word(at - 1).and_then(times).is_some()
            && word(at + 1).and_then(small).is_some())
        {
            break;
        }
        at += 1;
    }
    let number = whole.checked_add(part.unwrap_or(0))?;
    (at > 0 && number > 0).then_some((number, at))
}

/// How many there are of what stands at a place if nothing says it.
fn begins(words: &[String], at: usize) -> Option<u64> {
    // "hundred" behind "several" is no number.
    (at > 0 && words.get(at - 1).is_some_and(|before| is_one(before))).then_some(1)
}

/// Whether a number can be said right behind another: "twenty one", "three hundred twelve".
fn takes(before: u64, number: u64) -> bool {
    let last = before % HUNDRED;
    let is_behind_tens = last >= 20 && last.is_multiple_of(10) && number < 10;
    let is_behind_hundreds = before >= HUNDRED && last == 0 && number < HUNDRED;
    is_behind_tens || is_behind_hundreds
}

fn times(word: &str) -> Option<u64> {
    TIMES.iter().find(|(name, _)| *name == word).map(|(_, times)| *times)
}

fn is_one(word: &str) -> bool {
    matches!(word, "a" | "an" | "ein" | "eine")
}

fn joins(word: &str) -> bool {
    word == "and"
}

fn is_digits(word: &str) -> bool {
    word.len() <= DIGITS_MAX && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number that is one word. German joins the words of those below a million.
fn small(word: &str) -> Option<u64> {
    let known = |word: &str| SMALL.iter().find(|(name, _)| *name == word).map(|(_, number)| *number);
    if let Some(number) = known(word) {
        return Some(number);
    }
    let head = |head: &str| if matches!(head, "" | "ein") { Some(1) } else { small(head) };
    let rest =
        |rest: &str| if rest.is_empty() { Some(0) } else { small(rest.strip_prefix("und").unwrap_or(rest)) };
    for (joint, times) in [("tausend", 1_000), ("hundert", HUNDRED)] {
        if let Some((many, behind)) = word.split_once(joint) {
            return Some(
                head(many).filter(|many| *many < times)? * times
                    + rest(behind).filter(|rest| *rest < times)?,
            );
        }
    }
    let (unit, tens) = word.split_once("und")?;
    let unit = head(unit).filter(|unit| (1..10).contains(unit) && !word.starts_with("und"))?;
    Some(unit + known(tens).filter(|tens| (20..HUNDRED).contains(tens))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    fn check(text: &str, expected: Option<(u64, usize)>) {
        let words: Vec<String> = text.split(' ').map(ToString::to_string).collect();
        assert_eq!(leading(&words), expected, "{text}");
    }

    #[test]
    fn numbers_in_words_come_to_what_they_say() {
        for (text, number) in [
            ("fourteen", 14),
            ("ninety", 90),
            ("twenty one", 21),
            ("three hundred", 300),
            ("three hundred and fifty two", 352),
            ("two thousand five hundred", 2_500),
            ("one million two hundred thousand", 1_200_000),
            ("2 million", 2_000_000),
            ("a hundred", 100),
            ("einundzwanzig", 21),
            ("dreihundert", 300),
            ("zweitausendfunfhundert", 2_500),
            ("hundertzwanzig", 120),
            ("ein tausend", 1_000),
            ("drei millionen", 3_000_000),
            ("siebzehn", 17),
        ] {
            check(text, Some((number, text.split(' ').count())));
        }
        check("two and three", Some((2, 1)));
        check("twenty thirty", Some((20, 1)));
        check("five six", Some((5, 1)));
        for none in
            ["hundred", "million", "und", "hundreds", "grund", "2", "a lease", "wunderbar", "", "undzwanzig"]
        {
            check(none, None);
        }
        check("nine hundred billion billion billion", Some((900_000_000_000, 3)));
    }
}
