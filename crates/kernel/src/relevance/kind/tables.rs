//! The words by which kinds of answers are asked for, and by which they are told, in English and German.
//! Owns: the tables, as `words::spaced` gives words. Must not: decide.

use super::Kind;

#[rustfmt::skip] // words in rows
pub(super) const MONTHS: [&str; 20] = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
    "januar", "februar", "märz", "mai", "juni", "juli", "oktober", "dezember",
];
#[rustfmt::skip] // words in rows
pub(super) const WEEKDAYS: [&str; 29] = [
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "mondays", "tuesdays", "wednesdays", "thursdays",
    "fridays", "saturdays", "sundays", "montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag", "sonnabend",
    "montags", "dienstags", "mittwochs", "donnerstags", "freitags", "samstags", "sonntags",
];
#[rustfmt::skip] // words in rows
pub(super) const UNITS: &[&str] = &[
    "second", "seconds", "minute", "minutes", "hour", "hours", "day", "days", "week", "weeks", "month", "months", "year", "years",
    "quarter", "quarters", "milliseconds", "sekunde", "sekunden", "minuten", "stunde", "stunden", "tag", "tage", "tagen", "woche",
    "wochen", "monat", "monate", "monaten", "jahr", "jahre", "jahren", "quartal", "uhr", "werktage", "werktagen",
];
#[rustfmt::skip] // words in rows
pub(super) const NUMBERS: &[&str] = &[
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen",
    "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty",
    "ninety", "hundred", "thousand", "million", "half", "twice", "third", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht",
    "neun", "zehn", "elf", "zwölf", "vierzehn", "fünfzehn", "zwanzig", "dreissig", "vierzig", "fünfzig", "sechzig", "achtzig",
    "neunzig", "hundert", "tausend", "halb", "halbe", "hälfte", "drittel", "viertel", "einmal", "zweimal", "dreimal",
];
/// What says how often.
#[rustfmt::skip] // words in rows
pub(super) const TIMES: &[&str] = &[
    "every", "each", "once", "twice", "times", "per", "daily", "weekly", "monthly", "quarterly", "yearly", "annually", "annual",
    "hourly", "nightly", "fortnightly", "jede", "jeden", "jedes", "jeder", "täglich", "wöchentlich", "monatlich", "jährlich",
    "vierteljährlich", "einmal", "zweimal", "dreimal", "pro", "je",
];
/// Money, as words; signs are looked for too.
#[rustfmt::skip] // words in rows
pub(super) const MONEY: &[&str] = &[
    "eur", "euro", "euros", "usd", "dollar", "dollars", "gbp", "pound", "pounds", "pence", "chf", "franken", "francs", "cent", "cents",
    "kroner", "kronor", "nok", "sek", "dkk", "pln", "yen", "jpy", "free", "charge", "percent", "kostenlos", "kostenfrei", "prozent",
];
/// Words of a question that want money.
#[rustfmt::skip] // words in rows
pub(super) const PAYING: &[&str] = &[
    "cost", "costs", "price", "pay", "paid", "pays", "charge", "charged", "charges", "fee", "fees", "money", "spend", "spent", "salary",
    "rent", "expensive", "owe", "kostet", "kosten", "kostete", "preis", "teuer", "gebühr", "beitrag", "bezahlen", "zahlen", "zahlt",
    "geld", "miete", "gehalt", "lohn",
];
/// What money is called that is asked for.
pub(super) const PRICES: &[&str] = &["cost", "price", "fee", "rent", "salary"];
/// Words that begin a question in which a later "when" says no more than under which circumstances.
pub(super) const OPENING: &[&str] =
    &["what", "which", "where", "can", "may", "must", "is", "are", "was", "were", "does", "do", "did"];
/// What a reason begins with.
#[rustfmt::skip] // words in rows
pub(super) const REASONS: &[&str] = &[
    "because", "since", "due", "cause", "caused", "reason", "therefore", "so", "led", "result", "weil", "da", "wegen", "aufgrund",
    "grund", "ursache", "deshalb", "daher", "denn",
];
/// Times that are no date.
#[rustfmt::skip] // words in rows
pub(super) const MOMENTS: &[&str] = &[
    "if", "once", "until", "upon", "immediately", "before", "after", "wenn", "sobald", "bis", "sofort", "unverzüglich", "vor", "nach",
    "permanently", "indefinitely", "dauerhaft", "unbefristet", "ostern", "easter", "christmas", "weihnachten",
];
/// People and bodies by what they do.
#[rustfmt::skip] // words in rows
pub(super) const ROLES: &[&str] = &[
    "manager", "officer", "director", "team", "board", "committee", "lead", "head", "engineer", "tenant", "landlord", "supplier",
    "customer", "employee", "owner", "chair", "auditor", "council", "department", "party", "contractor", "president", "operator",
    "technician", "plumber", "electrician", "surveyor", "secretary", "treasurer", "master", "mate", "nurse", "doctor", "physician",
    "investigator", "inspector", "agent", "administrator", "member", "client", "buyer", "seller", "purchaser", "lessee", "lessor",
    "borrower", "lender", "provider", "controller", "processor", "sponsor", "authority", "court", "police", "ministry", "mayor",
    "coordinator", "executive", "supervisor", "representative", "foundation", "union", "staff", "desk", "broker", "carrier", "user", "people", "person", "persons", "anyone", "everyone", "nobody", "anybody", "everybody",
    "vorstand", "leiter", "leiterin", "leitung", "vorsitzende", "vorsitzender", "vorsitzenden", "direktor", "direktorin", "geschäftsführer", "geschäftsführung",
    "geschäftsleitung", "kassenwart", "mieter", "mieterin", "vermieter", "vermieterin", "arbeitgeber", "arbeitnehmer", "betriebsrat", "beirat", "gemeinderat", "ausschuss",
    "mitglied", "mitglieder", "kunde", "kundin", "lieferant", "auftraggeber", "auftragnehmer", "behörde", "gericht", "amt", "stadt", "gemeinde",
    "verwaltung", "versammlung", "mitgliederversammlung", "betreiber", "hersteller", "käufer", "verkäufer", "eigentümer", "techniker", "fachkraft", "beauftragte", "beauftragter",
];
/// What stands before a name.
pub(super) const TITLES: [&str; 10] =
    ["mr", "mrs", "ms", "dr", "prof", "herr", "herrn", "frau", "professor", "firma"];
/// What stands before a number that counts nothing.
#[rustfmt::skip] // words in rows
pub(super) const REFERENCES: &[&str] = &[
    "section", "sections", "clause", "clauses", "article", "articles", "art", "no", "nr", "number", "nummer", "flat", "room", "page",
    "block", "aisle", "figure", "fig", "table", "annex", "appendix", "schedule", "version", "revision", "chapter", "paragraph", "abs",
    "absatz", "artikel", "ziffer", "item", "line", "lane", "lanes", "type", "class", "phase", "step", "site", "unit", "station", "point", "iso",
    "seite", "raum", "kapitel", "anlage", "abschnitt", "satz", "wohnung", "amendment", "generator", "finding", "rule", "priority", "week", "weeks", "serial",
];

/// What people say for each kind; of phrases that begin alike the one above counts.
#[rustfmt::skip] // a few in a row
pub(super) const ASKING: &[(Kind, &[&str])] = &[
    (Kind::HowLong, &[
        "how long", "how many days", "how many months", "how many years", "how many weeks", "how many hours", "how many minutes", "how quickly",
        "how soon", "how fast", "how early", "how far ahead", "wie lange", "wie lang", "wie viele tage", "wie viele wochen", "wie viele monate",
        "wie viele jahre", "wie viele stunden", "wie schnell", "wie früh", "innerhalb welcher frist",
    ]),
    (Kind::HowOften, &["how often", "how frequently", "how many times", "wie oft", "wie häufig"]),
    (Kind::HowMuch, &[
        "how much", "how many", "how large", "how big", "how high", "how far", "how old", "how steep", "how heavy", "how hot", "how deep", "how wide",
        "how tall", "how strong", "what percentage", "what is the maximum", "what is the minimum", "what amount", "what number", "wie viel", "wieviel",
        "wie viele", "wieviele", "wie hoch", "wie gross", "wie weit", "wie alt", "wie schwer", "wie tief", "wie breit", "wie warm", "wie heiss", "wie stark", "wie teuer",
    ]),
    (Kind::Price, &["what price", "what is the price", "how expensive", "was kostet", "was kosten", "welcher preis"]),
    (Kind::When, &[
        "when", "what date", "which date", "what day", "which day", "by when", "what time", "which month", "which year", "what year", "deadline", "wann", "an welchem tag",
        "welches datum", "um wie viel uhr", "um wieviel uhr", "in welchem monat", "in welchem jahr", "welche frist",
    ]),
    (Kind::Who, &["who", "whom", "whose", "which person", "wer", "wem", "wen", "wessen", "welche person"]),
    (Kind::Why, &[
        "why", "what caused", "for what reason", "what was the cause", "root cause", "warum", "weshalb", "wieso", "aus welchem grund", "wodurch",
    ]),
];

/// Words that begin a question of their own behind "and".
#[rustfmt::skip] // words in rows
pub(super) const BEGINNINGS: &[&str] = &[
    "what", "when", "who", "whom", "where", "why", "how", "which", "by when", "for how", "at what", "in what", "does", "is", "wer", "wann",
    "wie", "warum", "was", "wo", "welche", "welcher", "welches", "bis wann", "ab wann",
];
