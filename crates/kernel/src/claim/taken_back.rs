//! Words that take back what stands beside or below them, in English, German, French, Spanish and Dutch.
//! Owns: the lists. Must not: say where they count; who reads a sentence, a heading or a line does.

use alloc::string::String;
use alloc::vec::Vec;

/// Words that deny, doubt or only report.
#[rustfmt::skip] // words in rows
pub(super) const DENIES: &[&str] = &[
    "alleged", "allegedly", "alleges", "angeblich", "argues", "asserts", "assuming", "aucun", "behauptet", "believes", "bestreitet", "bestritten",
    "cannot", "claimed", "contends", "denied", "denies", "deny", "doubt", "doubts", "failed", "false", "falsch", "geen", "jamais", "kein", "keine",
    "keinem", "keinen", "keiner", "keinerlei", "keines", "lehnt", "neither", "never", "nicht", "nie", "niemals", "niemand", "niet", "nobody",
    "none", "nooit", "nor", "not", "nothing", "nunca", "pas", "refused", "refuses", "reject", "rejected", "rejects", "supposedly", "unlikely",
    "untrue", "unwahr", "verweigert", "weder", "wrong",
];
/// Words that limit, or that deny only in a sentence.
#[rustfmt::skip] // words in rows
pub(super) const LIMITS: &[&str] = &[
    "allein", "although", "apart", "ausgenommen", "außer", "barely", "but", "claims", "either", "except", "excluded", "excluding", "exclusive",
    "fails", "falls", "hardly", "however", "if", "kaum", "mais", "mits", "ne", "nein", "ni", "nichts", "no", "noch", "non", "nur", "obwohl", "oder",
    "ohne", "only", "or", "otherwise", "ou", "provided", "sans", "sauf", "save", "scarcely", "seldom", "si", "sin", "sofern", "solange", "solely",
    "sondern", "subject", "tenzij", "though", "unless", "until", "unter", "vorbehaltlich", "wenn", "when", "whenever", "whether", "while",
    "without", "zonder",
];
/// Words of a heading that take back what stands below it, or only show it.
#[rustfmt::skip] // words in rows
const VOID: &[&str] = &[
    "abgelehnt", "abgelehnte", "abgelaufen", "abrogated", "abrogé", "abrogée", "abrogés", "allegation", "allegations", "allégations", "alte", "alter",
    "annahme", "annahmen", "annulé", "anulado", "assumption", "assumptions", "aufgehoben", "aufgehobene", "behauptung", "behauptungen", "beispiel",
    "beispiele", "borrador", "brouillon", "cancelled", "caducado", "considered", "deleted", "derogado", "derogada", "disproved", "disproven",
    "disputed", "draft", "drafts", "ehemalige", "ehemals", "ejemplo", "ejemplos", "entwurf", "entwürfe", "example", "examples", "exemple", "exemples",
    "expiré", "expired", "falsche", "fiction", "fictional", "fiktion", "fiktiv", "formerly", "frühere", "gerücht", "gerüchte", "gestrichen", "gestrichene",
    "gelöscht", "historical", "hypotheses", "hypothesis", "hypothetical", "hypothetisch", "incorrect", "ingetrokken", "invalid", "irrtümer", "misconception",
    "misconceptions", "muster", "mustertext", "myth", "myths", "mythen", "obsolete", "old", "outdated", "obsolète", "previous", "prohibited", "proposal",
    "proposals", "proposed", "propuesta", "propuestas", "proposition", "propositions", "refuted", "repealed", "revoked", "rumor", "rumors", "rumour",
    "rumours", "sample", "scenario", "scenarios", "speculation", "struck", "strittig", "superseded", "szenario", "szenarien", "template", "ungültig",
    "ungültige", "ungeldig", "unproven", "unverified", "unwahre", "vermutungen", "veraltet", "veraltete", "vervallen", "verworfen", "verworfene", "void",
    "voorbeeld", "voorbeelden", "vorläufig", "vorschlag", "vorschläge", "withdrawn", "widerlegt", "widerlegte", "zurückgezogen",
];
/// Two words that do so together, where one of them alone would not.
#[rustfmt::skip] // words in rows
const VOID_TOGETHER: &[(&str, &str)] = &[
    ("claim", "by"), ("claims", "by"), ("no", "longer"), ("plus", "valable"), ("press", "report"), ("press", "reports"),
    ("submissions", "of"),
];

/// Whether a word takes back, limits or only reports what stands beside it.
pub(super) fn takes_back(word: &str) -> bool {
    DENIES.contains(&word) || LIMITS.contains(&word)
}

/// Whether a heading takes back what stands below it.
pub(super) fn is_void(heading: &str) -> bool {
    let split = heading.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<String> = split.map(str::to_lowercase).collect();
    let is_one = |word: &String| DENIES.contains(&word.as_str()) || VOID.contains(&word.as_str());
    let is_pair = |pair: &[String]| match pair {
        [one, other] => VOID_TOGETHER.contains(&(one.as_str(), other.as_str())),
        _ => false,
    };
    words.iter().any(is_one) || words.windows(2).any(is_pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_that_take_back_what_is_below_them() {
        for (headings, expected) in [
            (
                "Repealed|Draft – not agreed|Old version (no longer valid)|Denied|Expired|Disputed|Allegations of the plaintiff\
                |Claims by the claimant|Common misconceptions|Abgelehnte Vorschläge|Alte Fassung|Previous version|Unverified rumours\
                |Press reports|Proposal|Options considered|Sample text|Scenario|Fiction|Exemple|Abrogé|Brouillon|Derogado|Borrador\
                |Assumptions|Clauses that were struck out|What we did not find",
                true,
            ),
            (
                "Claims and insurance|Claims of employees|No smoking|Notice|Subject and duration|Term|Rent or deposit|Laufzeit\
                |Options of the tenant|Press|Position|Kündigung|If the tenant leaves|Failures|Reports|Version 3",
                false,
            ),
        ] {
            headings.split('|').for_each(|heading| assert_eq!(is_void(heading), expected, "{heading}"));
        }
    }
}
