//! German: small words, what words of one root have in common, words that mean much the same.
//! Owns: the tables and the comparison. Must not: hold what only one kind of document says.
//!
//! Words come folded and without the marks above their letters (`relevance::words`), and so they stand here: "fur", not
//! "für". Whoever writes "fuer" is understood by [`without_e`].

use alloc::string::String;

/// Words that say nothing of what a question is about.
#[rustfmt::skip] // words in rows, not one to a line
pub(super) const STOP_WORDS: &[&str] = &[
    "ab", "aber", "alle", "allem", "allen", "aller", "alles", "als", "also", "am", "an", "andere", "anderen", "auch", "auf", "aus",
    "bei", "beim", "bekommt", "bis", "bitte", "da", "dabei", "dafur", "damit", "dann", "darf", "darfst", "das", "dass", "davon", "dazu", "dem", "den", "denn",
    "der", "des", "die", "dies", "diese", "diesem", "diesen", "dieser", "dieses", "doch", "dort", "du", "durch", "durfen", "ein", "eine",
    "einem", "einen", "einer", "eines", "er", "es", "etwa", "etwas", "euch", "fur", "gab", "geben", "gegen", "genau", "gibt", "habe", "haben", "hat", "hatte",
    "hatten", "hier", "ich", "ihm", "ihn", "ihnen", "ihr", "ihre", "ihrem", "ihren", "ihrer", "im", "in", "ins", "ist", "ja", "je", "jede", "jedem",
    "jeden", "jeder", "jedes", "jetzt", "kann", "kannst", "kein", "keine", "keinen", "konnen", "konnte", "laut", "man", "mehr", "mein", "meine", "meinen", "mich",
    "mir", "mit", "muss", "mussen", "nach", "neben", "nein", "nicht", "nichts", "noch", "nun", "nur", "ob", "oder", "ohne", "schon", "sein", "seine",
    "seinem", "seinen", "seiner", "seit", "sich", "sie", "sind", "so", "sobald", "soll", "sollen", "sollte", "sonst", "statt", "stattfinden", "findet", "tun", "uber", "um", "und", "uns",
    "unser", "unsere", "unserem", "unseren", "unserer", "unter", "vom", "von", "vor", "wann", "war", "waren", "warum", "was", "weil", "welche",
    "welchem", "welchen", "welcher", "welches", "wem", "wen", "wenn", "wer", "werden", "weshalb", "wessen", "wie", "wieso", "wieviel", "viel", "viele", "will", "wir", "wird", "wo",
    "wofur", "woher", "wohin", "wollen", "worden", "wozu", "wurde", "wurden", "zu", "zum", "zur", "zwischen",
];

/// Words of everyday that a document may well do without.
#[rustfmt::skip] // words in rows
pub(super) const LIGHT: &[&str] = &[
    "aktuell", "alt", "art", "bisher", "daran", "denselben", "erste", "ersten", "fall", "frei", "ganz", "geht", "geld", "genug", "gross", "grosse", "gultig", "gut", "halten", "hoch",
    "hochstens", "jahr", "jahrlich", "kosten", "kostet", "kummern", "kummert", "kunftig", "lange", "leisten", "leute", "mindestens", "machen", "macht", "maximal", "menge", "monat", "monatlich", "neu", "neue", "neuen", "neuer",
    "neues", "offen", "passiert", "person", "personen", "stattgefunden", "stunde", "tag", "tage", "teuer", "uhr", "uhrzeit", "verlangt", "woche", "zahl", "zeit", "zustandig",
];

/// Words that mean much the same.
#[rustfmt::skip] // a group a line
pub(super) const GROUPS: &[&[&str]] = &[
    &["kosten", "kostet", "teuer", "preis", "gebuhr", "beitrag", "betrag", "entgelt", "euro", "berechnet", "zahlen", "bezahlen"],
    &["geld", "euro", "betrag", "summe", "budget", "bereit"],
    &["kaputt", "defekt", "ausgefallen", "beschadigt", "storung", "ausser"],
    &["beenden", "enden", "kundigen", "kundigung", "gekundigt", "auflosen", "auflosung", "ablaufen", "endet"],
    &["beginnen", "beginn", "anfangen", "anfang", "starten", "start", "ab"],
    &["ausleihen", "leihen", "entleihen", "verleihen", "verliehen", "ausleihe", "leihfrist"],
    &["verboten", "untersagt", "unzulassig", "verbot"],
    &["erlaubt", "gestattet", "zulassig", "zugelassen", "durfen"],
    &["zustandig", "verantwortlich", "organisiert", "leitet", "ubernimmt", "kummern", "kummert", "betreut"],
    &["chef", "leiter", "leitung", "vorsitz", "vorsitzende", "vorstand"],
    &["offen", "geoffnet", "offnungszeiten", "offnung"],
    &["zu", "geschlossen", "schliessung"],
    &["spat", "verspatet", "verspatung", "verzug", "saumnis"],
    &["strafe", "vertragsstrafe", "bussgeld", "saumnisgebuhr"],
    &["arbeiter", "arbeitnehmer", "beschaftigte", "mitarbeiter", "personal", "angestellte"],
    &["firma", "unternehmen", "gesellschaft", "betrieb"],
    &["wohnung", "mietsache", "raume", "saal", "raum", "zimmer"],
    &["gehalt", "lohn", "vergutung", "bezuge"],
    &["urlaub", "erholungsurlaub", "ferien"],
    &["krank", "krankheit", "arbeitsunfahig"],
    &["auto", "fahrzeug", "wagen", "kraftfahrzeug", "pkw"],
    &["handy", "telefon", "telefonieren", "anrufen"],
    &["melden", "anzeigen", "mitteilen", "benachrichtigen", "informieren", "meldung"],
    &["anmelden", "anmeldung", "registrieren", "registrierung"],
    &["bezahlen", "zahlen", "entrichten", "uberweisen", "zahlung", "begleichen"],
    &["zuruckgeben", "ruckgabe", "zuruckbringen", "abgeben"],
    &["reparieren", "reparatur", "instandsetzen", "instandsetzung", "beheben"],
    &["verlieren", "verloren", "verlust", "abhanden"],
    &["ersetzen", "ersatz", "austauschen", "austausch", "neuer", "neue", "neues"],
    &["warten", "wartung", "pflege", "instandhaltung"],
    &["essen", "mahlzeit", "speise", "mittagessen", "verpflegung"],
    &["treffen", "sitzung", "versammlung", "besprechung", "tagung"],
    &["frist", "kundigungsfrist", "termin", "spatestens"],
    &["jahr", "jahrlich", "jahres"], &["monat", "monatlich"], &["woche", "wochentlich"], &["tag", "taglich"],
    &["hoch", "hochst", "hochstens", "maximal"],
    &["wenig", "mindestens", "minimal"],
    &["schaden", "haftung", "haften", "haftet", "ersatzpflicht"],
    &["daten", "angaben", "informationen"],
    &["schicken", "senden", "ubermitteln", "zusenden"],
    &["wahlen", "gewahlt", "wahl", "bestellt", "ernannt"],
    &["beschliessen", "beschluss", "entscheiden", "entscheidung", "beschlossen"],
    &["verlangern", "verlangerung", "verlangert"],
    &["erhohen", "erhohung", "steigen", "anheben", "anhebung"],
    &["temperatur", "warm", "heiss", "kalt", "degrees", "grad"],
    &["gewicht", "schwer", "wiegen", "wiegt", "kg", "kilogramm"],
    &["kuche", "kantine", "mensa"],
    &["kind", "kinder", "minderjahrige"], &["eltern", "erziehungsberechtigte"],
];

/// Endings of inflected words, those that hold others first.
#[rustfmt::skip] // words in rows
const ENDINGS: [&str; 18] = [
    "ungen", "ung", "erin", "ern", "ten", "tet", "em", "en", "er", "es", "et", "te", "st", "in", "e", "n", "s", "t",
];
/// Letters that a root has at least.
const ROOT_MIN: usize = 4;
/// Letters that a word has at least that may be a part of another.
const PART_MIN: usize = 4;
/// Letters that the other has more.
const REST_MIN: usize = 3;
/// Consonants by which verbs whose vowels change are told.
const FRAME_MIN: usize = 4;

/// How near two words are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kin {
    /// Forms of one word.
    Form,
    /// One is made with the other.
    Part,
}

/// How near a word of a text is to one of a question.
pub(super) fn kin(asked: &str, said: &str) -> Option<Kin> {
    if !is_word(asked) || !is_word(said) {
        return None;
    }
    let (one, other) = (root(asked), root(said));
    let is_past_of = |past: &str, one: &str| is_past(past) && past.get(2..).map(root) == Some(one);
    if one == other || is_past_of(asked, other) || is_past_of(said, one) {
        return Some(Kin::Form);
    }
    let is_part = [one, asked].into_iter().any(|part| is_part_of(part, other))
        || [other, said].into_iter().any(|part| is_part_of(part, one));
    // "austreten" and "Austritt", "verleihen" and "verliehen": the vowels change, the consonants stay.
    let (one, other) = (without_en(asked), without_en(said));
    let is_verb = one.as_bytes().first() == other.as_bytes().first()
        && one.len().abs_diff(other.len()) <= 1
        && frame(one).count() >= FRAME_MIN
        && frame(one).eq(frame(other));
    (is_part || is_verb).then_some(Kin::Part)
}

/// Whether a longer word is made with a shorter one: it begins or ends with it.
fn is_part_of(part: &str, whole: &str) -> bool {
    part.len() >= PART_MIN
        && whole.len() >= part.len() + REST_MIN
        && (whole.starts_with(part) || whole.ends_with(part))
}

fn is_word(word: &str) -> bool {
    word.len() >= 3 && word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// A word without what inflection adds behind it.
fn root(word: &str) -> &str {
    let ending = ENDINGS.iter().find(|ending| {
        word.len() >= ending.len() + ROOT_MIN - usize::from(ending.len() <= 2) && word.ends_with(**ending)
    });
    ending.and_then(|ending| word.strip_suffix(ending)).unwrap_or(word)
}

/// Whether it may be what was done: "gekündigt".
fn is_past(word: &str) -> bool {
    word.starts_with("ge") && (word.ends_with('t') || word.ends_with("en")) && word.len() >= ROOT_MIN + 3
}

fn without_en(word: &str) -> &str {
    word.strip_suffix("en").or_else(|| word.strip_suffix('e')).unwrap_or(word)
}

/// Its consonants, each once where it stands twice.
fn frame(word: &str) -> impl Iterator<Item = u8> {
    let mut last = 0;
    let consonants = word.bytes().filter(|byte| !matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u'));
    consonants.filter(move |byte| core::mem::replace(&mut last, *byte) != *byte)
}

/// The word of those who have no marks to put above letters: "gebuehr" is "gebuhr".
pub(super) fn without_e(word: &str) -> Option<String> {
    let plain = word.replace("ae", "a").replace("oe", "o").replace("ue", "u");
    (plain != word).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_one_root() {
        let check = |asked: &str, said: &str, expected: Option<Kin>| {
            assert_eq!(kin(asked, said), expected, "{asked} {said}");
            assert_eq!(kin(said, asked), expected, "{said} {asked}");
        };
        for (asked, said) in [
            ("gebuhr", "gebuhren"),
            ("baume", "baum"),
            ("kundigung", "gekundigt"),
            ("mitglieder", "mitglied"),
            ("tage", "tag"),
            ("vertrage", "vertrages"),
        ] {
            check(asked, said, Some(Kin::Form));
        }
        for (asked, said) in [
            ("gebuhren", "jahresgebuhr"),
            ("rasen", "rasenmaher"),
            ("austreten", "austritt"),
            ("verleihen", "verliehen"),
        ] {
            check(asked, said, Some(Kin::Part));
        }
        for (asked, said) in [("hund", "hand"), ("rat", "vertrag"), ("miete", "mittel"), ("12", "12")] {
            check(asked, said, None);
        }
    }

    #[test]
    fn tables_are_folded() {
        let all = GROUPS.iter().copied().flatten().chain(STOP_WORDS).chain(LIGHT);
        for word in all {
            assert!(word.bytes().all(|byte| byte.is_ascii_lowercase()), "{word}");
        }
        assert_eq!(without_e("gebuehr").as_deref(), Some("gebuhr"));
        assert_eq!(without_e("haus"), None);
    }
}
