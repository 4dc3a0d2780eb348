//! What a text says besides its sentences: rows of tables, blocks of code, headings that assert something, questions, silence, what is
//! disguised.
//! Owns: finding these parts. Must not: hold one against a source; that nobody does is what must be told.

use super::{
    CLAIMS_MAX, Claim, Fence, Mark, Outline, SILENT, bare, claims, is_disguised, prose, says_nothing,
};
use crate::sentences::unbroken;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

/// Words that a heading or the name of a column may have that says nothing of what it is about.
#[rustfmt::skip] // words in rows
const NEUTRAL: &[&str] = &[
    "a", "about", "abstract", "amount", "an", "and", "anhang", "annex", "appendix", "background", "bemerkung", "bemerkungen", "betrag", "conclusion",
    "conclusions", "contents", "date", "datum", "details", "document", "documents", "einleitung", "entry", "ergebnis", "evidence", "fazit", "for",
    "frage", "fragen", "glossary", "hinweise", "id", "in", "inhalt", "introduction", "item", "kind", "line", "memo", "more", "name", "no", "note",
    "notes", "number", "nummer", "of", "open", "other", "our", "outline", "overview", "part", "place", "purpose", "quelle", "quellen", "question",
    "questions", "recommendation", "recommendations", "reference", "references", "remark", "remarks", "report", "result", "results", "review",
    "scope", "section", "source", "sources", "subject", "summary", "table", "tabelle", "term", "terms", "the", "thema", "title", "topic", "to",
    "und", "unit", "value", "weiteres", "wert", "what", "where", "which", "who", "zusammenfassung", "zweck",
];

/// The parts of a text that are no sentences and say something all the same, in order. Headings that are `known` are those of whoever
/// asked for the text; another one may say anything ("Tenant wins"), so that it is told unless all its words are neutral.
#[must_use]
pub fn unheld<'t>(outline: &Outline<'t>, known: &[&str]) -> Vec<Claim<'t>> {
    let mut found: Vec<(Range<usize>, String)> = Vec::new();
    found.extend(blocks(outline.text));
    found.extend(rows(outline));
    for section in &outline.sections {
        if asserts(section.heading) && !known.contains(&section.heading) {
            found.push((section.span.start..section.body.start, section.heading.to_string()));
        }
    }
    found.extend(passed_over(outline));
    found.extend(rest(outline));
    found.retain(|(_, text)| !says_nothing(text));
    found.sort_by_key(|(span, _)| (span.start, span.end));
    let claim = |(span, text): (Range<usize>, String)| Claim {
        section: outline.heading_at(span.start),
        text,
        lead: None,
        span,
        cites: Vec::new(),
        is_held: false,
    };
    found.into_iter().map(claim).collect()
}

/// The whole of a text that has no sentences, such as a document in JSON.
#[must_use]
pub fn whole(text: &str) -> Claim<'_> {
    Claim {
        section: None,
        text: text.to_string(),
        lead: None,
        span: 0..text.len(),
        cites: Vec::new(),
        is_held: false,
    }
}

/// Whether a heading says more than what it is a heading of.
fn asserts(heading: &str) -> bool {
    let words = heading.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).any(|word| !NEUTRAL.contains(&word.as_str()))
}

/// The blocks of code, each once.
fn blocks(text: &str) -> Vec<(Range<usize>, String)> {
    let mut found: Vec<(Range<usize>, String)> = Vec::new();
    let (mut at, mut fence, mut open) = (0, Fence::default(), None);
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        if !fence.holds(line) {
            continue;
        }
        // Behind the mark stands a language; more words than that are a part of it.
        let says = Mark::of(line).is_some_and(|(_, behind)| behind.split_whitespace().nth(1).is_some());
        let from = *open.get_or_insert(if says { start } else { end });
        // The line with the mark at its end is no part of it, nor is a block that has no end cut short.
        if fence.0.is_none() || end == text.len() {
            let until = if fence.0.is_none() { start } else { end };
            let inside = text.get(from..until.max(from)).unwrap_or_default();
            found.push((from..until.max(from), inside.trim().to_string()));
            open = None;
        }
    }
    found
}

/// The rows of tables, without those that only name the columns.
fn rows(outline: &Outline<'_>) -> Vec<(Range<usize>, String)> {
    let text = outline.text;
    let (mut at, mut fence) = (0, Fence::default());
    let mut all: Vec<(Range<usize>, &str)> = Vec::new();
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        if !fence.holds(line) && line.trim_start().starts_with('|') {
            all.push((start..end, line.trim()));
        }
    }
    let is_rule = |row: &str| says_nothing(row) && row.contains('-');
    let names = |at: usize, (row, line): &(Range<usize>, &str)| {
        let is_first = all.get(at + 1).is_some_and(|(next, line)| next.start == row.end && is_rule(line));
        is_first && !line.split('|').any(asserts)
    };
    let own = all.iter().enumerate().filter(|(at, row)| !names(*at, row));
    own.map(|(_, (span, line))| (span.clone(), (*line).to_string())).collect()
}

/// What is asked, for a question may say what it asks; that sources say nothing, for they may; and what a reader sees otherwise than it
/// is written.
fn passed_over(outline: &Outline<'_>) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    for body in prose(outline) {
        let part = outline.text.get(body.clone()).unwrap_or_default();
        for span in unbroken(part) {
            let (text, _) = bare(part.get(span.clone()).unwrap_or_default());
            if text.ends_with('?') || text == SILENT || is_disguised(&text) {
                found.push((body.start + span.start..body.start + span.end, text));
            }
        }
    }
    found
}

/// What stands behind the last sentence that is looked at.
fn rest(outline: &Outline<'_>) -> Option<(Range<usize>, String)> {
    let all = claims(outline);
    let last = all.last().filter(|_| all.len() >= CLAIMS_MAX)?;
    let rest = outline.text.get(last.span.end..)?;
    Some((last.span.end..outline.text.len(), rest.trim().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::outline;
    use alloc::format;

    fn check(text: &str, expected: &[&str]) {
        let outline = outline(text);
        let found = unheld(&outline, &["Rent in 2024"]);
        assert_eq!(found.iter().map(|one| one.text.as_str()).collect::<Vec<_>>(), expected, "{text}");
        for one in &found {
            let there = text.get(one.span.clone()).unwrap();
            assert!(there.contains(one.text.lines().next().unwrap_or_default()), "{there:?}");
        }
    }

    #[test]
    fn what_is_no_sentence_is_found() {
        check("# Memo\n\n## Open questions and sources\n\nThe rent is due.\n", &[]);
        for heading in [
            "Tenant wins",
            "Guilty of fraud",
            "False",
            "Verified by Ana",
            "Kündigung unwirksam",
            "Le bail est nul",
        ] {
            check(&format!("## {heading}\n\nThe rent is due.\n"), &[heading]);
        }
        check(
            "| Tenant wins everything | Fraud proven |\n|---|---|\n",
            &["| Tenant wins everything | Fraud proven |"],
        );
        check("# Rent in 2024\n\nThe sources do not say.\n", &[SILENT]);
        check("# The rent is 5 euros\n\nText.\n", &["The rent is 5 euros"]);
        check("## The tenant may leave\n", &["The tenant may leave"]);
        check("| What | Amount |\n|---|---|\n| Rent | 5 euros |\n", &["| Rent | 5 euros |"]);
        check("| Rent | 5 euros |\n", &["| Rent | 5 euros |"]);
        check("```\nThe landlord owes.\nMuch.\n```\nText.\n", &["The landlord owes.\nMuch."]);
        check("~~~\nx\n```\n\nThe landlord owes.\n", &["x\n```\n\nThe landlord owes."]);
        check("```\n```\n\n---\n", &[]);
        check("```rust\nx\n```\n", &["x"]);
        check("| The clinic pays ten million euros |\n|---|\n", &["| The clinic pays ten million euros |"]);
        check("### Clinic waives every claim and pays much\n", &["Clinic waives every claim and pays much"]);
        check("```x``` The clinic pays.\n```x``` It gives up.\n", &[]);
        check("~~~ The clinic pays\n~~~\n", &["~~~ The clinic pays"]);
        check("~~~\nx\n~~~ y\n", &["x\n~~~ y"]);
        check("The fee is ~~1,200~~ euros.\n", &["The fee is ~~1,200~~ euros."]);
        check("The fee is \u{202E}1,200 euros.\n", &["The fee is \u{202E}1,200 euros."]);
        check("Is it not so that the tenant owns it?\n", &["Is it not so that the tenant owns it?"]);
    }

    #[test]
    fn what_is_behind_the_last_sentence_is_told() {
        let text: String = (0..CLAIMS_MAX + 2).map(|at| format!("Sentence {at} is one.\n\n")).collect();
        let outline = outline(&text);
        assert_eq!(claims(&outline).len(), CLAIMS_MAX);
        let found = unheld(&outline, &[]);
        let [rest] = found.as_slice() else { panic!("{}", found.len()) };
        assert_eq!(
            rest.text,
            format!("Sentence {CLAIMS_MAX} is one.\n\nSentence {} is one.", CLAIMS_MAX + 1)
        );
    }
}
