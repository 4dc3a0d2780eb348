//! A change that waits for a reviewer, as a person sees it.
//! Owns: its lines, and how many of them are shown. Must not: make a diff; the one that the review is about stands beside its record.

use crate::output::{BAD, FAINT, GOOD, Line, PLAIN, Sheet};
use countersign_govern::types::basic::StorageRef;
use countersign_runtime::work::Work;
use countersign_work::revise::review;

/// Rows of one line of a change.
const LINE_ROWS_MAX: usize = 3;
/// Letters that are shown around what differs between two lines.
const AROUND: usize = 30;

/// The diff that a question or an item is about, if it is about one. An erased text has none.
pub(in crate::command) fn diff(work: &Work, about: &StorageRef) -> Option<String> {
    let digest = work.look(|desk| review::diff(desk, about)).flatten()?;
    work.text(&digest)
}

/// All lines of a diff.
pub(in crate::command) fn lines(diff: &str) -> Vec<Line> {
    diff.lines().map(line_of).collect()
}

/// The first lines of a diff in so many rows, and the command that shows all. Of long lines only what differs is shown.
pub(in crate::command) fn beginning(sheet: &Sheet, diff: &str, rows_max: usize, command: &str) -> Vec<Line> {
    let is_read = |line: &&str| {
        let is_head = ["--- ", "@@ ", "\\"].iter().any(|head| line.starts_with(head));
        !line.trim().is_empty() && !is_head
    };
    let all: Vec<&str> = diff.lines().filter(is_read).collect();
    let narrowed = narrowed(&all);
    let of = |line: &String| line_of(line).within(if line.starts_with(' ') { 1 } else { LINE_ROWS_MAX });
    let mut shown: Vec<Line> = Vec::new();
    for one in narrowed.iter().map(of) {
        shown.push(one);
        if sheet.height(&shown) > rows_max {
            shown.pop();
            break;
        }
    }
    let left = all.len() - shown.len();
    if left > 0 || narrowed.iter().zip(&all).any(|(one, other)| one != other) {
        let rest = if left > 0 { format!("{left} more, and all of it") } else { "all of it".to_owned() };
        shown.push(Line::new(FAINT, format!("… {rest}: {command}")).whole());
    }
    shown
}

/// Lines of a diff; of those that were changed only what differs, with a little around it.
fn narrowed(all: &[&str]) -> Vec<String> {
    let mut lines: Vec<String> = all.iter().map(|line| (*line).to_owned()).collect();
    let is = |at: usize, mark: char| all.get(at).is_some_and(|line| line.starts_with(mark));
    let mut at = 0;
    while at < all.len() {
        let gone = (at..all.len()).take_while(|at| is(*at, '-')).count();
        let came = (at + gone..all.len()).take_while(|at| is(*at, '+')).count();
        for pair in 0..gone.min(came) {
            let (old, new) = (at + pair, at + gone + pair);
            if let (Some(one), Some(other)) = (all.get(old), all.get(new)) {
                let (one, other) = apart(one, other);
                for (place, text) in [(old, one), (new, other)] {
                    if let Some(line) = lines.get_mut(place) {
                        *line = text;
                    }
                }
            }
        }
        at += (gone + came).max(1);
    }
    lines
}

/// Two lines without what they have in common, but for a little of it.
fn apart(one: &str, other: &str) -> (String, String) {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let (Some((mark, one)), Some((other_mark, other))) = (one.split_first(), other.split_first()) else {
        return (String::new(), String::new());
    };
    let first = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let rest = one.len().min(other.len()) - first;
    let last =
        one.iter().rev().zip(other.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
    let part = |mark: &char, letters: &[char]| {
        let from = first.saturating_sub(AROUND);
        let to = (letters.len() - last + AROUND).min(letters.len());
        let text: String = letters.get(from..to).unwrap_or_default().iter().collect();
        let before = if from > 0 { "…" } else { "" };
        let after = if to < letters.len() { "…" } else { "" };
        format!("{mark}{before}{text}{after}")
    };
    (part(mark, one), part(other_mark, other))
}

fn line_of(text: &str) -> Line {
    let style = match text.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] | [b'@', ..] | [b'\\', ..] => FAINT,
        [b'+', ..] => GOOD,
        [b'-', ..] => BAD,
        _ => PLAIN,
    };
    Line::new(style, text).hanging(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_line_what_differs_is_seen() {
        let long = "The same words as before, and then some more of them, until at last ";
        let all = [format!("-{long}six months."), format!("+{long}three months."), " kept".to_owned()];
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        assert_eq!(
            narrowed(&all),
            [
                "-…e more of them, until at last six months.",
                "+…e more of them, until at last three months.",
                " kept"
            ]
        );
        assert_eq!(apart("-a", "+b"), ("-a".to_owned(), "+b".to_owned()));
        assert_eq!(narrowed(&["-gone", "@@", "+", "+é"]), ["-gone", "@@", "+", "+é"]);
    }
}
