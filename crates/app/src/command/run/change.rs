//! A change that waits for a reviewer, as a person sees it.
//! Owns: its lines, and how many of them are shown. Must not: make a diff; the one that the review is about stands beside its record.

use crate::output::{BAD, FAINT, GOOD, Line, PLAIN, Sheet};
use countersign_govern::types::basic::StorageRef;
use countersign_runtime::work::Work;
use countersign_work::revise::review;

/// Rows of a change that are shown with the question.
const ROWS_MAX: usize = 12;
/// Rows of one line of it.
const LINE_ROWS_MAX: usize = 3;

/// The diff that a question or an item is about, if it is about one. An erased text has none.
pub(in crate::command) fn diff(work: &Work, about: &StorageRef) -> Option<String> {
    let digest = work.look(|desk| review::diff(desk, about)).flatten()?;
    work.text(&digest)
}

/// All lines of a diff.
pub(in crate::command) fn lines(diff: &str) -> Vec<Line> {
    diff.lines().map(line).collect()
}

/// The first lines of a diff, and the command that shows all.
pub(in crate::command) fn beginning(sheet: &Sheet, diff: &str, command: &str) -> Vec<Line> {
    let all: Vec<Line> = lines(diff).into_iter().map(|line| line.within(LINE_ROWS_MAX)).collect();
    if sheet.height(&all) <= ROWS_MAX {
        return all;
    }
    let mut shown: Vec<Line> = Vec::new();
    for line in &all {
        shown.push(line.clone());
        if sheet.height(&shown) > ROWS_MAX {
            shown.pop();
            break;
        }
    }
    let left = all.len() - shown.len();
    shown.push(Line::new(FAINT, format!("… {left} more lines: {command}")).whole());
    shown
}

fn line(text: &str) -> Line {
    let style = match text.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] | [b'@', ..] | [b'\\', ..] => FAINT,
        [b'+', ..] => GOOD,
        [b'-', ..] => BAD,
        _ => PLAIN,
    };
    Line::new(style, text).hanging(1)
}
