//! What changed between two texts, line by line.
//! Owns: which lines went, came or stayed, and the form that people know. Must not: judge a change.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// Lines around a change that are shown.
const AROUND: usize = 3;
/// Pairs of lines that are compared; where there are more, all that differs counts as changed.
const PAIRS_MAX: usize = 4_000_000;

/// What became of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'t> {
    /// It is in both.
    Kept(&'t str),
    /// It is only in the first.
    Gone(&'t str),
    /// It is only in the second.
    New(&'t str),
}

/// The lines of two texts, each with its end; as few as can be go or come.
#[must_use]
pub fn lines<'t>(before: &'t str, after: &'t str) -> Vec<Line<'t>> {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let first = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let rest = old.len().min(new.len()) - first;
    let last =
        old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
    let part = |all: &[&'t str]| all.get(first..all.len() - last).unwrap_or_default().to_vec();
    let (gone, came) = (part(&old), part(&new));
    let mut all: Vec<Line<'t>> = old.iter().take(first).map(|line| Line::Kept(line)).collect();
    all.extend(between(&gone, &came));
    all.extend(old.iter().skip(old.len() - last).map(|line| Line::Kept(line)));
    all
}

/// The longest common part of two lists of lines is kept.
fn between<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Line<'t>> {
    let width = new.len() + 1;
    let is_small = (old.len() + 1).checked_mul(width).is_some_and(|pairs| pairs <= PAIRS_MAX);
    let mut all = Vec::new();
    let (mut at, mut to) = (0, 0);
    if is_small {
        let common = common(old, new);
        let length = |at: usize, to: usize| common.get(at * width + to).copied().unwrap_or_default();
        while let (Some(one), Some(other)) = (old.get(at), new.get(to)) {
            if one == other {
                all.push(Line::Kept(one));
                (at, to) = (at + 1, to + 1);
            } else if length(at + 1, to) >= length(at, to + 1) {
                all.push(Line::Gone(one));
                at += 1;
            } else {
                all.push(Line::New(other));
                to += 1;
            }
        }
    }
    all.extend(old.iter().skip(at).map(|line| Line::Gone(line)));
    all.extend(new.iter().skip(to).map(|line| Line::New(line)));
    all
}

/// How long the longest common part is, from each pair of places on.
fn common(old: &[&str], new: &[&str]) -> Vec<u32> {
    let width = new.len() + 1;
    let mut table = vec![0_u32; (old.len() + 1) * width];
    for (at, one) in old.iter().enumerate().rev() {
        for (to, other) in new.iter().enumerate().rev() {
            let get = |at: usize, to: usize| table.get(at * width + to).copied().unwrap_or_default();
            let length =
                if one == other { get(at + 1, to + 1) + 1 } else { get(at + 1, to).max(get(at, to + 1)) };
            if let Some(slot) = table.get_mut(at * width + to) {
                *slot = length;
            }
        }
    }
    table
}

/// How many lines went and how many came.
#[must_use]
pub fn count(lines: &[Line<'_>]) -> (usize, usize) {
    let gone = lines.iter().filter(|line| matches!(line, Line::Gone(_))).count();
    let new = lines.iter().filter(|line| matches!(line, Line::New(_))).count();
    (gone, new)
}

/// The change from one text to another as a unified diff under a name; empty if there is none.
#[must_use]
pub fn unified(name: &str, before: &str, after: &str) -> String {
    let lines = lines(before, after);
    let mut text = String::new();
    for hunk in hunks(&lines) {
        if text.is_empty() {
            text = format!("--- a/{name}\n+++ b/{name}\n");
        }
        text.push_str(&hunk.head(&lines));
        for line in lines.iter().skip(hunk.first).take(hunk.last - hunk.first) {
            let (mark, line) = match line {
                Line::Kept(line) => (' ', line),
                Line::Gone(line) => ('-', line),
                Line::New(line) => ('+', line),
            };
            text.push(mark);
            text.push_str(line);
            if !line.ends_with('\n') {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    text
}

/// Lines that are shown together, the last one left out.
struct Hunk {
    first: usize,
    last: usize,
}

impl Hunk {
    fn head(&self, lines: &[Line<'_>]) -> String {
        let counted = |lines: &mut dyn Iterator<Item = &Line<'_>>| {
            lines.fold((0, 0), |(old, new), line| match line {
                Line::Kept(_) => (old + 1, new + 1),
                Line::Gone(_) => (old + 1, new),
                Line::New(_) => (old, new + 1),
            })
        };
        let before = counted(&mut lines.iter().take(self.first));
        let own = counted(&mut lines.iter().skip(self.first).take(self.last - self.first));
        let place = |before: usize, own: usize| if own == 0 { before } else { before + 1 };
        format!("@@ -{},{} +{},{} @@\n", place(before.0, own.0), own.0, place(before.1, own.1), own.1)
    }
}

fn hunks(lines: &[Line<'_>]) -> Vec<Hunk> {
    let mut all: Vec<Hunk> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        match line {
            Line::Kept(_) => {}
            Line::Gone(_) | Line::New(_) => {
                let (first, last) = (at.saturating_sub(AROUND), (at + AROUND + 1).min(lines.len()));
                match all.last_mut().filter(|hunk| first <= hunk.last) {
                    Some(hunk) => hunk.last = last,
                    None => all.push(Hunk { first, last }),
                }
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    /// The second text, from the first one and what changed.
    fn applied(before: &str, lines: &[Line<'_>]) -> String {
        let mut rest = before;
        let mut after = String::new();
        for line in lines {
            match line {
                Line::Kept(line) => {
                    rest = rest.strip_prefix(line).unwrap();
                    after.push_str(line);
                }
                Line::Gone(line) => rest = rest.strip_prefix(line).unwrap(),
                Line::New(line) => after.push_str(line),
            }
        }
        assert_eq!(rest, "");
        after
    }

    #[test]
    fn a_change_is_shown_as_people_know_it() {
        let before = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj";
        let after = "a\nb\nc\nd\nE\nf\ng\nh\ni\nj\nk\n";
        let shown = "--- a/memo.md\n+++ b/memo.md\n@@ -2,9 +2,10 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n i\n-j\n\\ No newline at end of file\n+j\n+k\n";
        assert_eq!(unified("memo.md", before, after), shown);
        assert_eq!(unified("memo.md", before, before), "");
        assert_eq!(unified("n", "", "x\n"), "--- a/n\n+++ b/n\n@@ -0,0 +1,1 @@\n+x\n");
    }

    #[test]
    fn what_is_far_apart_is_shown_apart() {
        let before: String = (0..30).map(|line| format!("{line}\n")).collect();
        let after = before.replace("\n2\n", "\n").replace("\n25\n", "\nnew\n");
        let shown = unified("n", &before, &after);
        assert_eq!(shown.matches("@@ -").count(), 2);
        assert_eq!(count(&lines(&before, &after)), (2, 1));
    }

    #[test]
    fn too_many_lines_are_replaced_as_a_whole() {
        let many = |word: &str| (0..3_000).map(|line| format!("{word} {line}\n")).collect::<String>();
        let (before, after) = (many("old"), many("new"));
        assert_eq!(count(&lines(&before, &after)), (3_000, 3_000));
        assert_eq!(applied(&before, &lines(&before, &after)), after);
    }

    proptest! {
        #[test]
        fn nothing_is_lost(before in "([ab]{0,2}\n){0,8}[ab]{0,1}", after in "([ab]{0,2}\n){0,8}[ab]{0,1}") {
            let lines = lines(&before, &after);
            prop_assert_eq!(applied(&before, &lines), after.to_string());
            prop_assert_eq!(unified("n", &before, &after).is_empty(), before == after);
        }
    }
}
