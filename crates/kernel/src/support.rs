//! Whether a sentence says no more than the words that it cites.
//! Owns: what must agree: most of the words, every number and name, whether it is denied; for a claim also their order and whatever
//! widens, narrows or times it. Must not: know what is true.
//!
//! This is no proof: it compares words. Another word for the same is not known, and a sentence can be turned round in ways that are
//! not looked for. Who signs reads the places that are named.

use crate::relevance::stems;
use crate::sentences::sentences;
use crate::sift::NUMBERS;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

/// The part of a sentence's words that must be its source's too, in thousandths.
const SHARED_MIN: usize = 600;
/// Words that turn a sentence into its opposite.
const DENIALS: [&str; 16] = [
    "cannot", "kein", "keine", "keinem", "keinen", "keiner", "neither", "never", "nicht", "nie", "no",
    "nobody", "none", "nor", "not", "without",
];

/// Whether a source says what a sentence says.
#[must_use]
pub fn supports(source: &str, sentence: &str) -> bool {
    if source.trim() == sentence.trim() {
        return true;
    }
    let (said, held) = (set(sentence), set(source));
    let shared = said.intersection(&held).count();
    let is_shared = !said.is_empty() && shared * 1_000 >= said.len() * SHARED_MIN;
    // A source may be several sentences, and only one of them is denied.
    let nearest = sentences(source).max_by_key(|one| set(one).intersection(&said).count()).unwrap_or(source);
    is_shared && particulars(sentence).is_subset(&held) && is_denied(sentence) == is_denied(nearest)
}

/// Words that widen, narrow, oblige or time what is said: a claim has none that its source has not.
const TURNS: [&str; 117] = [
    "after",
    "all",
    "alle",
    "allen",
    "aller",
    "alles",
    "always",
    "annual",
    "annually",
    "any",
    "before",
    "bevor",
    "bis",
    "both",
    "can",
    "could",
    "daily",
    "darf",
    "day",
    "days",
    "during",
    "dürfen",
    "each",
    "einige",
    "every",
    "everybody",
    "everything",
    "few",
    "fewer",
    "first",
    "former",
    "frühestens",
    "höchstens",
    "hour",
    "hourly",
    "hours",
    "immer",
    "jahr",
    "jahre",
    "jahren",
    "jede",
    "jedem",
    "jeden",
    "jeder",
    "jedes",
    "kann",
    "last",
    "later",
    "latest",
    "least",
    "less",
    "many",
    "may",
    "mehr",
    "might",
    "mindestens",
    "minute",
    "minutes",
    "monat",
    "monate",
    "monaten",
    "month",
    "monthly",
    "months",
    "more",
    "most",
    "muss",
    "must",
    "müssen",
    "nach",
    "nacht",
    "night",
    "nightly",
    "nights",
    "nobody",
    "none",
    "nothing",
    "nichts",
    "niemand",
    "nur",
    "often",
    "once",
    "one",
    "only",
    "other",
    "others",
    "quarter",
    "quarterly",
    "quarters",
    "rarely",
    "seit",
    "several",
    "shall",
    "should",
    "since",
    "solely",
    "soll",
    "some",
    "sometimes",
    "spätestens",
    "stunde",
    "stunden",
    "tag",
    "tage",
    "tagen",
    "twice",
    "until",
    "vor",
    "week",
    "weekly",
    "weeks",
    "weniger",
    "woche",
    "wochen",
    "year",
    "yearly",
    "years",
];
/// Words that take something back: a claim that leaves one out says more than its source.
const LIMITS: [&str; 15] = [
    "apart",
    "ausgenommen",
    "außer",
    "except",
    "excluding",
    "falls",
    "if",
    "nur",
    "only",
    "provided",
    "sofern",
    "solely",
    "subject",
    "unless",
    "wenn",
];
/// Words after which those that are named are all.
const CLOSED: [&str; 3] = ["nur", "only", "solely"];
/// The part of the words that two sentences share that must stand next to the same word in both, in thousandths.
const ORDERED_MIN: usize = 550;
/// Words that may stand anywhere.
const LIGHT: [&str; 38] = [
    "and", "are", "auf", "bei", "das", "dem", "den", "der", "des", "die", "ein", "eine", "einem", "einen",
    "einer", "for", "from", "für", "has", "have", "into", "ist", "its", "mit", "sind", "that", "the",
    "their", "this", "und", "von", "was", "were", "which", "with", "within", "zum", "zur",
];

/// Whether a sentence of a source says what a claim says: it has what `supports` asks for, in the same order, and nothing that turns
/// it into something wider, narrower, earlier or later is another one.
#[must_use]
pub fn says(source: &str, claim: &str) -> bool {
    if source.trim() == claim.trim() {
        return true;
    }
    if !supports(source, claim) {
        return false;
    }
    let (said, held) = (stems(claim), stems(source));
    let (own, theirs) = (lowered(claim), lowered(source));
    let is_held = |word: &&String| stems(word).iter().all(|stem| held.contains(stem));
    let is_turned = own.iter().filter(|word| TURNS.contains(&word.as_str())).any(|word| !is_held(&word));
    let is_widened = theirs.iter().any(|word| LIMITS.contains(&word.as_str()) && !own.contains(word));
    let is_closed = own.iter().any(|word| CLOSED.contains(&word.as_str()));
    let known = particulars(source);
    // The number of a clause names nothing.
    let has_digit = |stem: &String| stem.contains(|letter: char| letter.is_ascii_digit());
    let is_whole = !is_closed || known.iter().all(|stem| has_digit(stem) || said.contains(stem));
    !is_turned && !is_widened && is_whole && is_ordered(&said, &held)
}

fn lowered(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// The words of a sentence that say something, in order, of those that both have.
fn shared<'s>(all: &'s [String], others: &[String]) -> Vec<&'s String> {
    let has_digit = |stem: &str| stem.contains(|letter: char| letter.is_ascii_digit());
    let says = |stem: &&String| has_digit(stem) || (stem.len() > 2 && !LIGHT.contains(&stem.as_str()));
    all.iter().filter(says).filter(|stem| others.contains(*stem)).collect()
}

/// Whether most of what two share stands next to the same. Parts may stand elsewhere; who does what to whom may not.
fn is_ordered(one: &[String], other: &[String]) -> bool {
    let (one, other) = (shared(one, other), shared(other, one));
    let theirs: BTreeSet<(&String, &String)> =
        other.iter().copied().zip(other.iter().copied().skip(1)).collect();
    let pairs = one.iter().copied().zip(one.iter().copied().skip(1));
    let (kept, all) =
        pairs.fold((0, 0), |(kept, all), pair| (kept + usize::from(theirs.contains(&pair)), all + 1));
    kept * 1_000 >= all * ORDERED_MIN
}

fn set(text: &str) -> BTreeSet<String> {
    stems(text).into_iter().collect()
}

/// What a sentence can't have from anywhere but its source: numbers, also in words, and names (capitals that no sentence begins
/// with).
fn particulars(sentence: &str) -> BTreeSet<String> {
    let mut words = sentence.split_whitespace();
    let first = words.next().filter(|word| is_number(word));
    let is_one = |word: &&str| {
        let letters = word.trim_start_matches(|letter: char| !letter.is_alphanumeric());
        letters.starts_with(char::is_uppercase) || is_number(word)
    };
    first.into_iter().chain(words.filter(is_one)).flat_map(stems).collect()
}

/// Whether a word has a digit, or is a number itself: small ones have the stem of their digits.
fn is_number(word: &str) -> bool {
    let has_digit = |text: &str| text.contains(|letter: char| letter.is_ascii_digit());
    has_digit(word) || stems(word).iter().any(|stem| has_digit(stem) || NUMBERS.contains(&stem.as_str()))
}

fn is_denied(sentence: &str) -> bool {
    let words = sentence.split(|letter: char| !letter.is_alphanumeric() && letter != '\'' && letter != '’');
    let is_one = |word: &str| {
        let word = word.to_lowercase();
        DENIALS.contains(&word.as_str()) || word.ends_with("n't") || word.ends_with("n’t")
    };
    words.filter(|word| is_one(word)).count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_a_source_says() {
        let lease = "The lease of the harbour ends on 31 May 2027. The rent is not due in winter.";
        for (sentence, expected) in [
            (lease, true),
            ("The lease of the harbour ends on 31 May 2027.", true),
            ("The harbour's lease ends on 31 May 2027", true),
            ("The rent is not due in winter.", true),
            ("The lease ends in June.", false),
            ("The lease of the harbour ends on 31 May 2028.", false),
            ("The lease of the harbour does not end on 31 May 2027.", false),
            ("The lease of the harbour doesn't end on 31 May 2027.", false),
            ("The rent is due in winter.", false),
            ("The lease of Bergen ends on 31 May 2027.", false),
            ("Nobody pays anything for berths.", false),
            ("2028 is when the lease of the harbour ends.", false),
            ("", false),
        ] {
            assert_eq!(supports(lease, sentence), expected, "{sentence}");
        }
        let notice = "The tenant gives six months' written notice, and pays twenty euros.";
        assert!(supports(notice, "The tenant gives six months' written notice."));
        assert!(supports(notice, "The tenant gives 6 months' written notice."));
        assert!(!supports(notice, "The tenant gives three months' written notice."));
        assert!(!supports(notice, "The tenant gives six months' written notice, and pays thirty euros."));
        let german = "Die Kündigungsfrist beträgt drei Monate.";
        assert!(!supports(german, "Die Kündigungsfrist beträgt sechs Monate."));
        assert!(supports(german, "Die Kündigungsfrist beträgt drei Monate"));
        assert!(!supports(german, "Die Kündigungsfrist beträgt nicht drei Monate."));
    }

    /// Each of these shares nearly all words with its source, and says something else.
    #[test]
    fn a_claim_says_nothing_that_its_source_does_not() {
        for (source, claim, expected) in [
            (
                "Backups of customer data are taken every night and kept for 35 days.",
                "Backups of customer data are taken every night.",
                true,
            ),
            (
                "Backups of customer data are taken every night and kept for 35 days.",
                "Backups of customer data are taken every year and kept for 35 days.",
                false,
            ),
            (
                "Personal data are stored in Harnsea and Vellmar only.",
                "Personal data are stored in Harnsea and Vellmar only.",
                true,
            ),
            (
                "Personal data are stored in Harnsea and Vellmar only.",
                "Personal data are stored in Harnsea only.",
                false,
            ),
            (
                "Personal data are stored in Harnsea and Vellmar only.",
                "Personal data are stored in Harnsea and Vellmar.",
                false,
            ),
            (
                "Personal data are stored in Harnsea and Vellmar only.",
                "Personal data are stored in Harnsea, Vellmar and many others.",
                false,
            ),
            (
                "Customer data is encrypted at rest with AES-256 and in transit with TLS.",
                "Customer data is encrypted in transit with AES-256 and at rest with TLS.",
                false,
            ),
            (
                "Quillon Security carried out the penetration test in June 2025.",
                "Quillon Security carried out nothing in June 2025.",
                false,
            ),
            (
                "After the end of the agreement Halyard deletes the Customer's data within 60 days.",
                "After the end of the agreement the Customer deletes Halyard's data within 60 days.",
                false,
            ),
            (
                "After the end of the agreement Halyard deletes the Customer's data within 60 days.",
                "Halyard deletes the Customer's data within 60 days after the end of the agreement.",
                true,
            ),
            (
                "Halyard tells the Customer thirty days before it engages a supplier.",
                "Halyard tells the Customer thirty days after it engages a supplier.",
                false,
            ),
            (
                "The controls operated effectively throughout the period apart from one exception.",
                "The controls operated effectively throughout the period.",
                false,
            ),
            (
                "The tenant may give notice of six months to the landlord.",
                "The tenant must give notice of six months to the landlord.",
                false,
            ),
            (
                "The lease of the harbour ends on 31 May 2027.",
                "The harbour's lease ends on 31 May 2027.",
                true,
            ),
            (
                "Der Mieter kann den Vertrag mit einer Frist von drei Monaten kündigen.",
                "Der Mieter muss den Vertrag mit einer Frist von drei Monaten kündigen.",
                false,
            ),
        ] {
            assert_eq!(says(source, claim), expected, "{claim}");
        }
    }

    proptest! {
        #[test]
        fn a_sentence_of_the_source_is_said(sentence in "[A-Z][a-z]{2,8}( [a-z0-9]{2,8}){1,6}\\.") {
            prop_assert!(says(&sentence, &sentence));
            prop_assert!(says(&sentence, sentence.trim_end_matches('.')));
        }

        #[test]
        fn a_sentence_of_the_source_is_supported(sentence in "[A-Z][a-z]{2,8}( [a-z0-9]{2,8}){1,6}\\.") {
            prop_assert!(supports(&sentence, &sentence));
        }
    }
}
