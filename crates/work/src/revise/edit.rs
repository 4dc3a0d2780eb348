//! Changes of a text that need nobody: a sentence goes, a section gets another body.
//! Owns: that nothing else of the text changes, byte for byte. Must not: decide what goes.

use crate::claims;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;
use countersign_govern::derive::text;
use countersign_govern::types::basic::ClaimRef;
use countersign_kernel::claim::{Cite, SILENT, better, claims, outline};

/// Marks of an item of a list or a quotation.
const MARKS: [&str; 4] = ["- ", "* ", "+ ", "> "];
/// What sets sentences of a line apart.
const SPACE: [char; 2] = [' ', '\t'];

/// What the claims of a text are called.
#[must_use]
pub(crate) fn names(text: &str) -> BTreeSet<String> {
    claims(&outline(text)).iter().map(claims::name).collect()
}

/// A text without the sentence of a claim, wherever it stands; `None` if it does not claim that.
#[must_use]
pub fn without(text: &str, claim: &ClaimRef) -> Option<String> {
    let (_, name) = claim.as_str().rsplit_once('/')?;
    let outline = outline(text);
    let found: Vec<Range<usize>> =
        claims(&outline).into_iter().filter(|one| claims::name(one) == name).map(|one| one.span).collect();
    // From behind, so that what is before stays where it is.
    let mut without = None;
    for span in found.iter().rev() {
        without = Some(without_claim(without.as_deref().unwrap_or(text), span)?);
    }
    without
}

/// A text in which the sentence of a claim cites these places instead of those that it does, wherever it stands; `None` if it does not
/// claim that.
#[must_use]
pub fn recited(text: &str, claim: &ClaimRef, cites: &[Cite<'_>]) -> Option<String> {
    let (_, name) = claim.as_str().rsplit_once('/')?;
    let outline = outline(text);
    let mut recited = None;
    // From behind, so that what is before stays where it is.
    for one in claims(&outline).iter().rev().filter(|one| claims::name(one) == name && !one.cites.is_empty())
    {
        let base = recited.as_deref().unwrap_or(text);
        let sentence = better::recited(text.get(one.span.clone())?, cites);
        recited = Some(format!("{}{sentence}{}", base.get(..one.span.start)?, base.get(one.span.end..)?));
    }
    recited
}

/// A text without what stands in a span, and without the space that set it apart. Where a section would say nothing any more, it says
/// that the sources don't.
#[must_use]
pub fn without_claim(text: &str, span: &Range<usize>) -> Option<String> {
    let span = unmarked(text, span)?;
    if is_all_of_its_section(text, &span) {
        return Some(format!("{}{SILENT}{}", text.get(..span.start)?, text.get(span.end..)?));
    }
    let cut = cut(text, &span)?;
    Some(format!("{}{}", text.get(..cut.start)?, text.get(cut.end..)?))
}

/// The span without the mark of its item, if more of the item stays.
fn unmarked(text: &str, span: &Range<usize>) -> Option<Range<usize>> {
    let words = text.get(span.clone())?;
    let stays = !ends_line(text.get(span.end..)?.trim_start_matches(SPACE));
    let mark = MARKS.iter().find(|mark| words.starts_with(**mark) && stays).map_or(0, |mark| mark.len());
    Some(span.start + mark..span.end)
}

fn ends_line(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('\n') || rest.starts_with("\r\n")
}

/// The span with the space that goes with it: a whole line with its end, and the empty line that parted it from the next.
fn cut(text: &str, span: &Range<usize>) -> Option<Range<usize>> {
    let (before, after) = (text.get(..span.start)?, text.get(span.end..)?);
    let (head, tail) = (before.trim_end_matches(SPACE), after.trim_start_matches(SPACE));
    let begins_line = head.is_empty() || head.ends_with('\n');
    let until = text.len() - tail.len();
    Some(match (begins_line, ends_line(tail)) {
        (true, true) => {
            let is_parted = head.is_empty() || head.ends_with("\n\n") || head.ends_with("\n\r\n");
            let rest = match is_parted {
                true => tail.trim_start_matches(['\r', '\n']),
                false => tail.strip_prefix("\r\n").or_else(|| tail.strip_prefix('\n')).unwrap_or(tail),
            };
            head.len()..text.len() - rest.len()
        }
        (false, true) => head.len()..until,
        (true | false, false) => span.start..until,
    })
}

/// Whether a section says nothing but what stands in a span.
fn is_all_of_its_section(text: &str, span: &Range<usize>) -> bool {
    let outline = outline(text);
    let own = outline.sections.iter().find(|one| one.body.start <= span.start && span.end <= one.body.end);
    own.is_some_and(|section| {
        let part = |range: Range<usize>| text.get(range).unwrap_or_default().trim();
        let is_bare = |words: &str| words.is_empty() || MARKS.iter().any(|mark| mark.trim() == words);
        is_bare(part(section.body.start..span.start)) && part(span.end..section.body.end).is_empty()
    })
}

/// A text whose section of a heading has this body; a section that is not there yet comes behind all others.
#[must_use]
pub fn with_section(text: &str, heading: &str, body: &str) -> String {
    let outline = outline(text);
    let body = body.trim();
    match outline.sections.iter().find(|one| one.heading == heading) {
        Some(section) => {
            let (before, after) = (text.get(..section.body.start), text.get(section.body.end..));
            let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
            let end = if after.is_empty() { "" } else { "\n" };
            let start = if before.ends_with('\n') { "" } else { "\n" };
            format!("{before}{start}\n{body}\n{end}{after}")
        }
        None => {
            let apart = match text {
                "" => "",
                text if text.ends_with("\n\n") => "",
                text if text.ends_with('\n') => "\n",
                _text => "\n\n",
            };
            format!("{text}{apart}## {heading}\n\n{body}\n")
        }
    }
}

/// By what a section is known again: its words, whatever space is between them.
#[must_use]
pub fn section_hash(text: &str, heading: &str) -> String {
    text::hash(outline(text).body(heading).unwrap_or_default()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, sentence: &str, expected: &str) {
        let start = text.find(sentence).unwrap();
        let found = without_claim(text, &(start..start + sentence.len())).unwrap();
        assert_eq!(found, expected, "{text:?} without {sentence:?}");
    }

    #[test]
    fn a_sentence_goes_with_its_space() {
        check("# T\n\nOne. Two. Three.\n", "Two.", "# T\n\nOne. Three.\n");
        check("# T\n\nOne. Two.\n", "Two.", "# T\n\nOne.\n");
        check("# T\n\nOne. Two.\n", "One.", "# T\n\nTwo.\n");
        check("# T\n\nOne.\n\nTwo.\n\nThree.\n", "Two.", "# T\n\nOne.\n\nThree.\n");
        check("# T\n\nOne.\nTwo.\nThree.\n", "Two.", "# T\n\nOne.\nThree.\n");
        check("- One.\n- Two.\n- Three.\n", "- Two.", "- One.\n- Three.\n");
        check("- One. Two.\n- Three.\n", "- One.", "- Two.\n- Three.\n");
        check("One.\r\nTwo.\r\nThree.\r\n", "Two.", "One.\r\nThree.\r\n");
        check("# T\n\nOne. Two.", "Two.", "# T\n\nOne.");
    }

    #[test]
    fn a_section_is_not_left_empty() {
        check(
            "# T\n\n## A\n\nOne. [a.md:1]\n\n## B\n",
            "One. [a.md:1]",
            "# T\n\n## A\n\nThe sources do not say.\n\n## B\n",
        );
        check("## A\n\n- One.\n", "- One.", "## A\n\nThe sources do not say.\n");
    }

    #[test]
    fn a_claim_is_found_by_its_name() {
        let text = "## A\n\nOne is one. [a.md:1] Two is two.\n";
        let names: alloc::vec::Vec<String> = claims(&outline(text)).iter().map(claims::name).collect();
        let claim = |name: &str| ClaimRef::try_from(format!("claim:run.memo/{name}").as_str()).unwrap();
        assert_eq!(without(text, &claim(&names[0])).unwrap(), "## A\n\nTwo is two.\n");
        assert_eq!(without(text, &claim("none")), None);
        let twice = "## A\n\nOne is one. [a.md:1] Two is two.\n\n- One is one.\n";
        assert_eq!(without(twice, &claim(&names[0])).unwrap(), "## A\n\nTwo is two.\n\n");
    }

    #[test]
    fn a_section_gets_another_body() {
        let text = "# T\n\n## A\n\nOld.\n\n## B\n\nStays.\n";
        assert_eq!(with_section(text, "A", "New.\n"), "# T\n\n## A\n\nNew.\n\n## B\n\nStays.\n");
        assert_eq!(with_section(text, "B", "New."), "# T\n\n## A\n\nOld.\n\n## B\n\nNew.\n");
        assert_eq!(with_section(text, "C", "New."), format!("{text}\n## C\n\nNew.\n"));
        assert_eq!(with_section("", "C", "New."), "## C\n\nNew.\n");
        assert_ne!(section_hash(text, "A"), section_hash(text, "B"));
        assert_eq!(section_hash(text, "A"), section_hash("## A\n\n Old. \n", "A"));
    }

    const TEXT: &str = "(# [A-C]{1,3}\n|\n|(- )?([a-z]{1,6} ){0,3}[a-z]{1,6}\\.( [a-z]{1,5}\\.)?\n){0,12}";

    proptest! {
        /// What is cut is the sentence, its mark and the space around it; all else stays where it was.
        #[test]
        fn nothing_else_goes(text in TEXT, pick in any::<prop::sample::Index>()) {
            let outline = outline(&text);
            let all = claims(&outline);
            prop_assume!(!all.is_empty());
            let span = all[pick.index(all.len())].span.clone();
            let found = without_claim(&text, &span).unwrap();
            let kept = |text: &str| text.chars().filter(|one| !one.is_whitespace()).collect::<String>();
            let (before, after) = (kept(&text[..span.start]), kept(&text[span.end..]));
            let sentence = kept(&text[span.clone()]);
            let rest = kept(&found);
            let between = rest.strip_prefix(before.as_str()).and_then(|rest| rest.strip_suffix(after.as_str()));
            let between = between.unwrap();
            let silent = kept(SILENT);
            prop_assert!(["", "-", silent.as_str()].contains(&between), "{sentence} {between}");
            // Line for line: what is before the sentence's line and behind it is untouched.
            let line = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
            prop_assert!(found.starts_with(&text[..line]) || found.starts_with(text[..line].trim_end()));
        }

        #[test]
        fn other_sections_stay(text in TEXT, body in "[a-z]{1,5}\\.", at in 0_usize..4) {
            let heading = ["A", "B", "AB", "ZZ"][at];
            let found = with_section(&text, heading, &body);
            let (old, new) = (outline(&text), outline(&found));
            prop_assert_eq!(new.body(heading).unwrap().trim(), body.as_str());
            match old.sections.iter().find(|one| one.heading == heading) {
                Some(own) => {
                    prop_assert!(found.starts_with(&text[..own.body.start]));
                    prop_assert!(found.ends_with(&text[own.body.end..]));
                }
                None => prop_assert!(found.starts_with(&text)),
            }
        }
    }
}
