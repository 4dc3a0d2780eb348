//! What of a text a reader does not see, or sees struck out.
//! Owns: finding it. Must not: say what the rest means.

use super::unbroken;
use alloc::vec::Vec;
use core::ops::Range;

/// What hides, and where that ends.
const HIDING: [(&str, &str); 8] = [
    ("<!--", "-->"),
    ("~~", "~~"),
    ("<del", "</del>"),
    ("<s", "</s>"),
    ("<strike", "</strike>"),
    ("<script", "</script>"),
    ("<style", "</style>"),
    ("<template", "</template>"),
];

/// Where the sentences stand that a reader sees: what is struck out or stands in a comment is not said any more.
pub fn visible(text: &str) -> impl Iterator<Item = Range<usize>> {
    let hidden = hidden(text);
    let is_seen = move |span: &Range<usize>| {
        let first = hidden.partition_point(|part| part.end <= span.start);
        let is_hidden = hidden.get(first).is_some_and(|part| part.start < span.end);
        !is_hidden && !text.get(span.clone()).is_some_and(is_struck_out)
    };
    unbroken(text).filter(is_seen)
}

/// Whether a part of a text is struck out.
#[must_use]
pub fn is_struck_out(text: &str) -> bool {
    text.contains("~~")
}

/// Where hidden parts stand, in order. One that is not closed hides nothing: a reader sees it as it is.
fn hidden(text: &str) -> Vec<Range<usize>> {
    // As many bytes as the text, so that places are the same.
    let lower = text.to_ascii_lowercase();
    let (mut found, mut at) = (Vec::new(), 0);
    // Where a mark is not closed once, it is not closed behind that either.
    let mut open = HIDING.map(|_| false);
    while let Some(rest) = lower.get(at..)
        && let Some(start) = rest.find(['<', '~']).map(|start| at + start)
    {
        let here = lower.get(start..).unwrap_or_default();
        let kinds = HIDING.iter().enumerate();
        let kind =
            kinds.clone().find(|(kind, (mark, _))| open.get(*kind) == Some(&false) && begins(here, mark));
        let end = kind.and_then(|(_, (mark, close))| {
            Some(mark.len() + here.get(mark.len()..)?.find(close)? + close.len())
        });
        at = match (kind, end) {
            (Some((_, (mark, _))), Some(length)) if !is_parted(here, mark, length) => {
                found.push(start..start + length);
                start + length
            }
            (Some((kind, (mark, _))), None) => {
                if let Some(open) = open.get_mut(kind) {
                    *open = true;
                }
                start + mark.len()
            }
            (Some((_, (mark, _))), Some(_)) => start + mark.len(),
            (None, _) => start + run(here),
        };
    }
    found
}

/// How many letters like the first one a text begins with: three tildes are a fence.
fn run(text: &str) -> usize {
    let first = text.chars().next().unwrap_or_default();
    text.len() - text.trim_start_matches(first).len()
}

/// Whether a mark stands at the beginning, and not another one that begins like it.
fn begins(text: &str, mark: &str) -> bool {
    let behind = text.strip_prefix(mark);
    match mark {
        "<!--" => behind.is_some(),
        "~~" => behind.is_some() && run(text) == mark.len(),
        _ => behind.is_some_and(|behind| behind.starts_with(|one: char| one == '>' || one.is_whitespace())),
    }
}

/// Whether a paragraph ends between two marks that must stand in one.
fn is_parted(text: &str, mark: &str, length: usize) -> bool {
    mark == "~~" && text.get(..length).is_some_and(|inside| inside.contains("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let seen: Vec<&str> = visible(text).map(|span| &text[span]).collect();
        assert_eq!(seen, expected, "{text}");
    }

    #[test]
    fn what_is_struck_out_or_in_a_comment_is_not_seen() {
        check(
            "~~The levy is 5 euros.~~ The levy is 8 euros.\n\n<!-- The toll is 3 euros.\nIt was. --> The toll is 4 euros.\n<!-- open.\n",
            &["The levy is 8 euros.", "<!-- open."],
        );
        check("<del>\n\nThe fee is 5.\n\n</del>\n\nIt is 8.", &["It is 8."]);
        check("<DEL class='x'>The fee is 5.</DEL>\nIt is 8.", &["It is 8."]);
        check("<s>\nThe fee is 5.\n</s>\n<section>\nIt is 8.", &["<section>", "It is 8."]);
        check("<script>\nThe fee is 5.\n</script>\nIt is 8.", &["It is 8."]);
        check("~~\nThe fee is 5.\n~~\nIt is 8.", &["It is 8."]);
        check("The ~~open\n\nIt is 8.\n\nNot ~~\n\nEnd.", &["It is 8.", "End."]);
    }
}
