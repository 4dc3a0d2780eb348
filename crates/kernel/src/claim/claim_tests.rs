//! Claims of texts: how they are split, and what bears on them.

use super::*;
use proptest::prelude::*;
use std::string::ToString;

/// Where a claim points: the path, the first line and the last.
type Cite<'t> = (&'t str, u64, u64);
/// A claim: its section, its words, where it points.
type Told<'t, C> = (Option<&'t str>, &'t str, C);

fn check(text: &str, expected: &[Told<'_, &[Cite<'_>]>]) {
    let outline = outline(text);
    let found = claims(&outline);
    let told: Vec<Told<'_, Vec<Cite<'_>>>> = found
        .iter()
        .map(|one| {
            (
                one.section,
                one.text.as_str(),
                one.cites.iter().map(|cite| (cite.path, cite.first, cite.last)).collect(),
            )
        })
        .collect();
    let expected: Vec<_> =
        expected.iter().map(|(section, text, cites)| (*section, *text, cites.to_vec())).collect();
    assert_eq!(told, expected, "{text}");
}

#[test]
fn claims_with_their_sections_and_citations() {
    check("", &[]);
    check(
        "# Memo\nIntro says this.\n\n## Term\n\nIt ends in 2027 [a/l.md:3]. It can be renewed. [a/l.md:4-5] [b.md:1]\n\n## Cost\n\nThe sources do not say.\n",
        &[
            (Some("Memo"), "Intro says this.", &[]),
            (Some("Term"), "It ends in 2027.", &[("a/l.md", 3, 3)]),
            (Some("Term"), "It can be renewed.", &[("a/l.md", 4, 5), ("b.md", 1, 1)]),
        ],
    );
    check(
        "- The rent is due. [a.md:1]\n- Who pays?\n\n| a | b |\n\n---\n```\ncode says that.\n```\nSee [1] and [x].\n",
        &[(None, "The rent is due.", &[("a.md", 1, 1)]), (None, "See [1] and [x].", &[])],
    );
}

#[test]
fn a_citation_behind_a_full_stop_is_of_the_sentence_before() {
    let one = |text: &'static str, cite: &'static [(&'static str, u64, u64)]| (None, text, cite);
    check(
        "One is one. [a.md:1] Two is two. [a.md:2] [b.md:3] Three.",
        &[
            one("One is one.", &[("a.md", 1, 1)]),
            one("Two is two.", &[("a.md", 2, 2), ("b.md", 3, 3)]),
            one("Three.", &[]),
        ],
    );
    check(
        "One is one.\n\n[a.md:1] Two is two.",
        &[one("One is one.", &[]), one("Two is two.", &[("a.md", 1, 1)])],
    );
    let text = "One is one. [a.md:1] Two is two.";
    let outline = outline(text);
    let spans: Vec<&str> = claims(&outline).iter().map(|one| &text[one.span.clone()]).collect();
    assert_eq!(spans, ["One is one. [a.md:1]", "Two is two."]);
}

#[test]
fn headings_inside_code_are_none() {
    let text = "# One\n```\n# not\n```\n## Two ##\nbody\n#none\n";
    let outline = outline(text);
    let headings: Vec<(&str, usize)> = outline.sections.iter().map(|one| (one.heading, one.level)).collect();
    assert_eq!(headings, [("One", 1), ("Two", 2)]);
    assert_eq!(outline.body("Two"), Some("body\n#none\n"));
    assert_eq!(outline.body("Three"), None);
}

#[test]
fn what_is_a_citation() {
    for (text, expected) in [
        ("a.md:1", Some(("a.md", 1, 1))),
        ("s/a b.md:10-12", Some(("s/a b.md", 10, 12))),
        ("a:b.md:3", Some(("a:b.md", 3, 3))),
        ("a.md:0", None),
        ("a.md:3-2", None),
        ("a.md", None),
        (":3", None),
        ("a.md:x", None),
        ("a.md:1-2-3", None),
    ] {
        assert_eq!(cite(text).map(|one| (one.path, one.first, one.last)), expected, "{text}");
    }
}

proptest! {
    #[test]
    fn spans_are_of_the_text(text in "[a-zA-Z0-9 .!?\n#\\[\\]:|`é-]{0,300}") {
        let outline = outline(&text);
        let mut last = 0;
        for claim in claims(&outline) {
            prop_assert!(claim.span.start >= last && claim.span.end <= text.len());
            prop_assert!(text.get(claim.span.clone()).is_some());
            prop_assert!(!claim.text.is_empty());
            last = claim.span.end;
        }
        let mut end = 0;
        for section in &outline.sections {
            prop_assert!(section.span.start >= end && section.body.start >= section.span.start);
            prop_assert_eq!(section.body.end, section.span.end);
            end = section.span.end;
        }
        prop_assert!(end <= text.len().max(end.to_string().len()));
    }
}
