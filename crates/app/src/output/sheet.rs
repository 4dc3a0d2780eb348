//! Lines for a person: broken where a screen ends, coloured on a terminal.
//! Owns: every escape code, and where a line is broken. Must not: let a text bring an escape code of its own.

use super::{bytes, plain};
use crate::failure::Failure;
use anstyle::{AnsiColor, Style};
use std::io::IsTerminal;
use unicode_width::UnicodeWidthChar;

/// As everything else.
pub(crate) const PLAIN: Style = Style::new();
/// What is read first.
pub(crate) const BOLD: Style = Style::new().bold();
/// What is only looked up.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// As it should be.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// To be looked at.
pub(crate) const CARE: Style = AnsiColor::Yellow.on_default();
/// Wrong.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();

/// Columns where nobody says how many there are.
const COLUMNS: usize = 80;
/// A line that is longer than that is hard to read, however wide the screen is.
const COLUMNS_MAX: usize = 100;
/// On a screen that is narrower lines are broken by the terminal.
const COLUMNS_MIN: usize = 40;

/// A line that is not broken yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    pieces: Vec<(Style, String)>,
    /// Columns that stay free before all rows but the first.
    hang: usize,
    form: Form,
}

/// How a line is broken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    /// Between words.
    #[default]
    Broken,
    /// Between words, and cut after so many rows.
    Cut { rows_max: usize },
    /// Never: it is something to be copied.
    Whole,
}

impl Line {
    /// A line that begins with a text.
    pub(crate) fn new(style: Style, text: impl Into<String>) -> Self {
        Line::default().and(style, text)
    }

    /// A name in a column of its own, and what there is to say of it.
    pub(crate) fn named(name: &str, text: impl Into<String>) -> Self {
        let name = format!("{name:<NAME_COLUMNS$}");
        let hang = name.chars().count();
        Line::new(FAINT, name).and(PLAIN, text).hanging(hang)
    }

    /// Goes on.
    pub(crate) fn and(mut self, style: Style, text: impl Into<String>) -> Self {
        self.pieces.push((style, text.into()));
        self
    }

    /// All rows but the first begin so many columns further in.
    pub(crate) fn hanging(mut self, columns: usize) -> Self {
        self.hang = columns;
        self
    }

    /// It has so many rows at most.
    pub(crate) fn within(mut self, rows_max: usize) -> Self {
        self.form = Form::Cut { rows_max: rows_max.max(1) };
        self
    }

    /// It is not broken.
    pub(crate) fn whole(mut self) -> Self {
        self.form = Form::Whole;
        self
    }
}

/// Columns of a name before what is said of it.
const NAME_COLUMNS: usize = 8;

/// What lines are written on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sheet {
    columns: usize,
    has_colour: bool,
}

impl Sheet {
    /// Standard output, as it is now: colours only for a terminal that has them and for somebody who wants them.
    pub(crate) fn new() -> Self {
        let out = std::io::stdout();
        if !out.is_terminal() {
            return Sheet { columns: COLUMNS, has_colour: false };
        }
        let size = rustix::termios::tcgetwinsize(&out).map_or(0, |size| usize::from(size.ws_col));
        let columns = if size == 0 { COLUMNS } else { size.clamp(COLUMNS_MIN, COLUMNS_MAX) };
        Sheet { columns, has_colour: !anstyle_query::no_color() && anstyle_query::term_supports_color() }
    }

    /// How many columns there are.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// A text in a style, for whoever breaks lines by other means.
    pub(crate) fn painted(&self, style: Style, text: &str) -> String {
        match self.has_colour && style != PLAIN {
            true => format!("{style}{text}{style:#}"),
            false => text.to_owned(),
        }
    }

    /// How many rows lines take.
    pub(crate) fn height(&self, lines: &[Line]) -> usize {
        lines.iter().map(|line| self.rows(line).len()).sum()
    }

    /// Writes lines to standard output.
    pub(crate) fn print(&self, lines: &[Line]) -> Result<(), Failure> {
        let mut text = String::new();
        for row in lines.iter().flat_map(|line| self.rows(line)) {
            text.push_str(&row);
            text.push('\n');
        }
        bytes(text.as_bytes())
    }

    /// The rows of a line.
    fn rows(&self, line: &Line) -> Vec<String> {
        let mut letters: Vec<Letter> = Vec::new();
        for (style, text) in &line.pieces {
            let text = if line.form == Form::Whole { plain(text) } else { plain(&flat(text)) };
            letters.extend(text.chars().map(|letter| (letter, *style)));
        }
        let rows_max = match line.form {
            Form::Whole => return vec![self.row(0, &letters)],
            Form::Broken => usize::MAX,
            Form::Cut { rows_max } => rows_max,
        };
        let (mut rows, mut rest) = (Vec::new(), letters.as_slice());
        loop {
            let before = if rows.is_empty() { 0 } else { line.hang };
            let room = self.columns.saturating_sub(before).max(1);
            let (end, next) = broken(rest, room, if rows.is_empty() { line.hang } else { 0 });
            let is_last = next >= rest.len();
            if !is_last && rows.len() + 1 >= rows_max {
                rows.push(self.row(before, &shortened(rest, room)));
                return rows;
            }
            rows.push(self.row(before, rest.get(..end).unwrap_or_default()));
            if is_last {
                return rows;
            }
            rest = rest.get(next..).unwrap_or_default();
        }
    }

    /// Letters behind so many free columns, each in its style.
    fn row(&self, before: usize, letters: &[Letter]) -> String {
        let mut row = " ".repeat(if letters.is_empty() { 0 } else { before });
        for piece in letters.chunk_by(|one, other| one.1 == other.1) {
            let text: String = piece.iter().map(|(letter, _)| letter).collect();
            row.push_str(&self.painted(piece.first().map_or(PLAIN, |(_, style)| *style), &text));
        }
        row
    }
}

type Letter = (char, Style);

fn width(letter: char) -> usize {
    letter.width().unwrap_or_default()
}

/// A text without ends of lines of its own.
fn flat(text: &str) -> String {
    text.replace("\r\n", " ").replace(['\n', '\t'], " ")
}

/// Where a row ends that has so much room, and where the next one begins. Nothing is broken in its first `head` letters, nor within
/// a word.
fn broken(letters: &[Letter], room: usize, head: usize) -> (usize, usize) {
    let is_space = |at: usize| letters.get(at).is_some_and(|(letter, _)| *letter == ' ');
    let (mut columns, mut last) = (0, None);
    for (at, (letter, _)) in letters.iter().enumerate() {
        if *letter == ' ' && at > 0 && at >= head && !is_space(at - 1) {
            last = Some(at);
        }
        columns += width(*letter);
        if columns > room
            && let Some(end) = last
        {
            let next = (end..letters.len()).find(|at| !is_space(*at)).unwrap_or(letters.len());
            return (end, next);
        }
    }
    (letters.len(), letters.len())
}

/// Letters that fit, with a sign that there are more.
fn shortened(letters: &[Letter], room: usize) -> Vec<Letter> {
    let mut columns = 0;
    let fits = letters.iter().take_while(|(letter, _)| {
        columns += width(*letter);
        columns < room
    });
    let mut kept: Vec<Letter> = fits.copied().collect();
    while kept.last().is_some_and(|(letter, _)| *letter == ' ') {
        kept.pop();
    }
    kept.push(('…', PLAIN));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(columns: usize, line: &Line) -> Vec<String> {
        Sheet { columns, has_colour: false }.rows(line)
    }

    #[test]
    fn lines_are_broken_between_words() {
        let line = Line::new(GOOD, "  ✓ ").and(PLAIN, "one two three four").hanging(4);
        assert_eq!(rows(12, &line), ["  ✓ one two", "    three", "    four"]);
        assert_eq!(rows(80, &line), ["  ✓ one two three four"]);
        assert_eq!(rows(12, &line.clone().within(2)), ["  ✓ one two", "    three f…"]);
        assert_eq!(rows(12, &line.clone().within(1)), ["  ✓ one two…"]);
        assert_eq!(rows(12, &line.whole()), ["  ✓ one two three four"]);
        assert_eq!(rows(10, &Line::default()), [""]);
    }

    #[test]
    fn a_word_is_never_broken() {
        let line = Line::new(PLAIN, "a countersign/answer/somewhere b");
        assert_eq!(rows(10, &line), ["a", "countersign/answer/somewhere", "b"]);
        assert_eq!(rows(6, &Line::new(PLAIN, "漢字 漢字 x")), ["漢字", "漢字 x"]);
    }

    #[test]
    fn no_text_brings_its_own_escape_codes() {
        let sheet = Sheet { columns: 80, has_colour: true };
        let line = Line::new(BAD, "a\u{1b}[2J\nb\u{202e}").and(PLAIN, " c");
        assert_eq!(sheet.rows(&line), ["\u{1b}[31ma\\u{1b}[2J b\\u{202e}\u{1b}[0m c"]);
        assert_eq!(sheet.rows(&line.whole()), ["\u{1b}[31ma\\u{1b}[2J\\nb\\u{202e}\u{1b}[0m c"]);
        let plain = Sheet { columns: 80, has_colour: false };
        assert_eq!(plain.rows(&Line::new(BAD.bold(), "x")), ["x"]);
    }
}
