//! The page of a packet whose texts would like to be more than texts.

use crate::scenes;
use countersign_verify::page::{Besides, html};
use countersign_verify::summary::Summary;

/// What somebody may write into a title, a source or a sentence of the work.
pub(crate) const HOSTILE: [&str; 6] = [
    "</td></table><script>alert(1)</script>",
    "\" onmouseover=\"alert(1)\" x='",
    "<img src=x onerror=alert(1)>",
    "&lt;b&gt; &#x3c;script&#x3e; <!-- --> ]]>",
    "\u{202E}evil\u{2066}\u{2069}\u{200F}\u{FEFF}",
    "bell\u{7} escape\u{1b}[31m del\u{7f}",
];

/// The tags of a page, each with what stands in it.
pub(crate) fn tags(page: &str) -> Vec<&str> {
    page.match_indices('<').map(|(at, _)| &page[at..at + page[at..].find('>').unwrap() + 1]).collect()
}

pub(crate) fn page(summary: &Summary) -> String {
    html(summary, &Besides { signers: &[], file_sha256: "00", envelope: Some("{}") })
}

#[test]
fn hostile_texts_are_inert() {
    let clean = Summary::of(&scenes::limited().statement());
    let expected = tags(&page(&clean)).len();
    for text in HOSTILE {
        let mut summary = clean.clone();
        for member in [
            &mut summary.title,
            &mut summary.goal,
            &mut summary.status,
            &mut summary.status_words,
            &mut summary.explanation,
            &mut summary.scope,
            &mut summary.lifecycle,
            &mut summary.origin.made_at,
            &mut summary.origin.made_by,
            &mut summary.origin.made_with,
            &mut summary.origin.run,
            &mut summary.origin.packet_id,
            &mut summary.origin.matter,
            &mut summary.origin.manifest_hash,
        ] {
            *member = text.to_owned();
        }
        summary.limitations.iter_mut().for_each(|one| *one = text.to_owned());
        for one in &mut summary.findings {
            (one.severity, one.text, one.explanation) = (text.to_owned(), text.to_owned(), text.to_owned());
        }
        for one in &mut summary.outcomes {
            (one.statement, one.words) = (text.to_owned(), text.to_owned());
        }
        for one in &mut summary.claims {
            (one.text, one.section) = (Some(text.to_owned()), Some(text.to_owned()));
            (one.product, one.words) = (text.to_owned(), text.to_owned());
            for place in &mut one.places {
                (place.source, place.at) = (text.to_owned(), text.to_owned());
                (place.quote, place.bears) = (Some(text.to_owned()), text.to_owned());
            }
        }
        for one in &mut summary.sources {
            (one.title, one.path) = (text.to_owned(), text.to_owned());
            (one.verified_by, one.fresh_until) = (Some(text.to_owned()), Some(text.to_owned()));
            one.sha256 = Some(text.to_owned());
        }
        let page = page(&summary);
        let found = tags(&page);
        assert_eq!(found.len(), expected, "{text:?} makes tags");
        assert!(found.iter().all(|tag| !tag.contains("alert") && !tag.contains("onmouseover")), "{text:?}");
        let is_hidden = |letter: char| {
            letter.is_control() && letter != '\n'
                || "\u{202E}\u{2066}\u{2069}\u{200F}\u{FEFF}".contains(letter)
        };
        assert!(!page.contains(is_hidden), "{text:?} leaves a character that is not seen");
    }
}

/// Words of sources and of the work reach the page only as words.
#[test]
fn words_of_sources_are_quoted_as_they_are() {
    let summary = Summary::of(&scenes::safe().statement());
    let page = page(&summary);
    assert!(summary.claims.iter().all(|one| one.text.is_some() && !one.places.is_empty()));
    for claim in &summary.claims {
        for place in &claim.places {
            assert!(page.contains(place.quote.as_deref().unwrap()), "{place:?}");
        }
    }
    assert!(page.contains("Content-Security-Policy\" content=\"default-src 'none'"));
}

/// A packet that fell says so at the top, and nothing below takes it back. What a source's bytes are is told wherever they are.
#[test]
fn a_page_says_that_its_packet_has_fallen() {
    let mut summary = Summary::of(&scenes::safe().statement());
    assert_eq!(summary.fallen, None);
    assert!(summary.sources.iter().all(|one| one.sha256.as_deref().is_some_and(|one| one.len() == 64)));
    assert!(page(&summary).contains("<p>None: nothing in the records blocks"));
    summary.fallen = Some("a <source> has changed since".to_owned());
    let page = page(&summary);
    let (head, rest) = page.split_once("<main>").unwrap();
    assert!(
        head.contains("<p class=\"status bad\"><strong>This packet no longer holds: a &lt;source&gt; has")
    );
    assert!(rest.contains("no longer holds") && !rest.contains("<p>None: nothing in the records"));
}
