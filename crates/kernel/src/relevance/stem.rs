//! Words without their endings, so that "payable" finds "pay".
//! Owns: Porter's rules for English (Program 14, 1980). Must not: touch a word that is not plain English letters.

use alloc::string::String;
use alloc::vec::Vec;

/// The stem of a word in small letters.
#[must_use]
pub fn stem(word: &str) -> String {
    if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.into();
    }
    let mut word = Word(word.as_bytes().to_vec());
    word.plurals();
    word.past();
    if word.ends(b"y") && word.has_vowel(1) {
        word.replace(1, b"i");
    }
    word.first_of(0, &SECOND);
    word.first_of(0, &THIRD);
    word.fourth();
    word.last_e();
    String::from_utf8(word.0).unwrap_or_default()
}

/// An ending, and what takes its place.
type Rule = (&'static [u8], &'static [u8]);

const SECOND: [Rule; 20] = [
    (b"ational", b"ate"),
    (b"tional", b"tion"),
    (b"enci", b"ence"),
    (b"anci", b"ance"),
    (b"izer", b"ize"),
    (b"abli", b"able"),
    (b"alli", b"al"),
    (b"entli", b"ent"),
    (b"eli", b"e"),
    (b"ousli", b"ous"),
    (b"ization", b"ize"),
    (b"ation", b"ate"),
    (b"ator", b"ate"),
    (b"alism", b"al"),
    (b"iveness", b"ive"),
    (b"fulness", b"ful"),
    (b"ousness", b"ous"),
    (b"aliti", b"al"),
    (b"iviti", b"ive"),
    (b"biliti", b"ble"),
];

const THIRD: [Rule; 7] = [
    (b"icate", b"ic"),
    (b"ative", b""),
    (b"alize", b"al"),
    (b"iciti", b"ic"),
    (b"ical", b"ic"),
    (b"ful", b""),
    (b"ness", b""),
];

const FOURTH: [&[u8]; 19] = [
    b"ement", b"ance", b"ence", b"able", b"ible", b"ment", b"ant", b"ent", b"ion", b"ism", b"ate", b"iti",
    b"ous", b"ive", b"ize", b"al", b"er", b"ic", b"ou",
];

struct Word(Vec<u8>);

impl Word {
    fn ends(&self, ending: &[u8]) -> bool {
        self.0.ends_with(ending)
    }

    fn replace(&mut self, ending: usize, by: &[u8]) {
        let length = self.0.len().saturating_sub(ending);
        self.0.truncate(length);
        self.0.extend(by);
    }

    /// The word without its last letters.
    fn without(&self, ending: usize) -> &[u8] {
        self.0.get(..self.0.len().saturating_sub(ending)).unwrap_or_default()
    }

    fn has_vowel(&self, ending: usize) -> bool {
        let stem = self.without(ending);
        (0..stem.len()).any(|at| !is_consonant(stem, at))
    }

    fn plurals(&mut self) {
        if self.ends(b"sses") || self.ends(b"ies") {
            self.replace(2, b"");
        } else if self.ends(b"s") && !self.ends(b"ss") {
            self.replace(1, b"");
        }
    }

    fn past(&mut self) {
        if self.ends(b"eed") {
            if measure(self.without(3)) > 0 {
                self.replace(1, b"");
            }
            return;
        }
        let ending = match (self.ends(b"ed"), self.ends(b"ing")) {
            (true, _) if self.has_vowel(2) => 2,
            (_, true) if self.has_vowel(3) => 3,
            _ => return,
        };
        self.replace(ending, b"");
        if self.ends(b"at") || self.ends(b"bl") || self.ends(b"iz") {
            self.0.push(b'e');
        } else if ends_double(&self.0) && !matches!(self.0.last(), Some(b'l' | b's' | b'z')) {
            self.0.pop();
        } else if measure(&self.0) == 1 && ends_short(&self.0) {
            self.0.push(b'e');
        }
    }

    /// The first rule whose ending is there counts, also if the stem before it is too short.
    fn first_of(&mut self, least: usize, rules: &[Rule]) {
        if let Some((ending, by)) = rules.iter().find(|(ending, _)| self.ends(ending))
            && measure(self.without(ending.len())) > least
        {
            self.replace(ending.len(), by);
        }
    }

    fn fourth(&mut self) {
        if let Some(ending) = FOURTH.iter().find(|ending| self.ends(ending)) {
            let stem = self.without(ending.len());
            let fits = *ending != b"ion" || matches!(stem.last(), Some(b's' | b't'));
            if fits && measure(stem) > 1 {
                self.replace(ending.len(), b"");
            }
        }
    }

    fn last_e(&mut self) {
        if self.ends(b"e") {
            let stem = self.without(1);
            if measure(stem) > 1 || (measure(stem) == 1 && !ends_short(stem)) {
                self.replace(1, b"");
            }
        }
        if measure(&self.0) > 1 && self.ends(b"ll") {
            self.0.pop();
        }
    }
}

fn is_consonant(word: &[u8], at: usize) -> bool {
    match word.get(at) {
        Some(b'a' | b'e' | b'i' | b'o' | b'u') => false,
        Some(b'y') => at == 0 || !is_consonant(word, at - 1),
        Some(_) | None => true,
    }
}

/// How often a vowel is followed by a consonant.
fn measure(stem: &[u8]) -> usize {
    let kinds: Vec<bool> = (0..stem.len()).map(|at| is_consonant(stem, at)).collect();
    kinds.windows(2).filter(|pair| matches!(pair, [false, true])).count()
}

fn ends_double(word: &[u8]) -> bool {
    match word {
        [.., one, two] => one == two && is_consonant(word, word.len() - 1),
        _ => false,
    }
}

/// Consonant, vowel, consonant, and the last is not w, x or y.
fn ends_short(word: &[u8]) -> bool {
    let length = word.len();
    length >= 3
        && is_consonant(word, length - 3)
        && !is_consonant(word, length - 2)
        && is_consonant(word, length - 1)
        && !matches!(word.last(), Some(b'w' | b'x' | b'y'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// From the published description of the rules.
    #[test]
    fn porters_examples() {
        for (word, expected) in [
            ("caresses", "caress"),
            ("ponies", "poni"),
            ("cats", "cat"),
            ("feed", "feed"),
            ("agreed", "agre"),
            ("plastered", "plaster"),
            ("bled", "bled"),
            ("motoring", "motor"),
            ("sing", "sing"),
            ("conflated", "conflat"),
            ("hopping", "hop"),
            ("falling", "fall"),
            ("filing", "file"),
            ("happy", "happi"),
            ("sky", "sky"),
            ("relational", "relat"),
            ("conditional", "condit"),
            ("digitizer", "digit"),
            ("operator", "oper"),
            ("hopefulness", "hope"),
            ("triplicate", "triplic"),
            ("electrical", "electr"),
            ("goodness", "good"),
            ("revival", "reviv"),
            ("allowance", "allow"),
            ("replacement", "replac"),
            ("adoption", "adopt"),
            ("effective", "effect"),
            ("probate", "probat"),
            ("rate", "rate"),
            ("controll", "control"),
            ("roll", "roll"),
            ("payment", "payment"),
            ("terminated", "termin"),
            ("termination", "termin"),
            ("是", "是"),
            ("a", "a"),
        ] {
            assert_eq!(stem(word), expected, "{word}");
        }
    }

    proptest! {
        #[test]
        fn a_stem_is_no_longer_than_its_word(word in "[a-z]{0,20}|\\PC{0,10}") {
            prop_assert!(stem(&word).len() <= word.len() + 1);
        }
    }
}
