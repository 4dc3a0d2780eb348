//! A turn as it is seen.
//! Owns: streamed text, cards of calls, the JSON of a turn. Must not: let text from outside move the cursor.

use crate::failure::Failure;
use crate::output;
use countersign_record::deed::Outcome;
use countersign_record::id::SessionName;
use countersign_runtime::ports::model::Usage;
use countersign_runtime::ports::session::Screen;
use countersign_runtime::session::Turned;
use serde::Serialize;
use std::io::Write;
use std::time::Duration;

/// Who looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// A person.
    Terminal,
    /// A pipe: the answer alone on standard output.
    Piped,
    /// A program: a document for each turn.
    Json,
}

/// Where a turn shows itself.
pub(super) struct Pane {
    look: Look,
    text: String,
    /// Whether the cursor stands in a line that was begun.
    is_mid_line: bool,
    /// Whether something came between what was said and what is said next.
    is_parted: bool,
    calls: Vec<Card>,
    notes: Vec<String>,
}

/// A call that has ended.
#[derive(Serialize)]
struct Card {
    tool: String,
    summary: String,
    ok: bool,
    error: Option<String>,
}

#[derive(Serialize)]
struct Document<'a> {
    session: &'a SessionName,
    turn: u64,
    revision: u64,
    outcome: Outcome,
    text: &'a str,
    calls: &'a [Card],
    notes: &'a [String],
    unknown_citations: &'a [String],
    usage: Usage,
    error: Option<Trouble<'a>>,
    trace: &'a str,
}

#[derive(Serialize)]
struct Trouble<'a> {
    code: &'static str,
    message: &'a str,
}

/// How long a summary is on a card, in characters.
const CARD_CHARS_MAX: usize = 120;

impl Pane {
    pub(super) fn new(look: Look) -> Self {
        Pane {
            look,
            text: String::new(),
            is_mid_line: false,
            is_parted: false,
            calls: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Something beside the answer.
    pub(super) fn tell(&mut self, note: &str) {
        self.aside(&format!("note: {}", output::plain(note)));
        self.notes.push(note.to_owned());
    }

    /// A line beside the answer: dim on a terminal, on standard error for a pipe.
    fn aside(&mut self, line: &str) {
        self.is_parted = true;
        match self.look {
            Look::Terminal => {
                let begin = if std::mem::take(&mut self.is_mid_line) { "\n" } else { "" };
                let line = output::Sheet::new().painted(output::FAINT, line);
                write_out(&format!("{begin}{line}\n"));
            }
            Look::Piped => {
                if std::mem::take(&mut self.is_mid_line) {
                    write_out("\n");
                }
                // If standard error is closed there is nobody to tell.
                drop(writeln!(std::io::stderr().lock(), "{line}"));
            }
            Look::Json => {}
        }
    }

    /// The turn is over.
    pub(super) fn ended(&mut self, name: &SessionName, turned: &Turned, trace: &str) -> Result<(), Failure> {
        let error = turned.failure.as_ref();
        match self.look {
            Look::Json => {
                return output::json(&Document {
                    session: name,
                    turn: turned.turn,
                    revision: turned.revision,
                    outcome: turned.outcome,
                    text: &self.text,
                    calls: &self.calls,
                    notes: &self.notes,
                    unknown_citations: &turned.unknown_citations,
                    usage: turned.usage,
                    error: error.map(|error| Trouble { code: error.code.as_str(), message: &error.message }),
                    trace,
                });
            }
            Look::Terminal | Look::Piped => {
                if std::mem::take(&mut self.is_mid_line) {
                    output::bytes(b"\n")?;
                }
            }
        }
        match (turned.outcome, error) {
            (_, Some(error)) => self.aside(&format!("{}: {}", error.code, output::plain(&error.message))),
            (Outcome::Cancelled, None) if self.calls.is_empty() => {
                self.aside("cancelled; nothing of that answer counts");
            }
            (Outcome::Cancelled, None) => self.aside("cancelled; what was said and done until then is kept"),
            (Outcome::Completed | Outcome::Bounded | Outcome::Failed | Outcome::Interrupted, None) => {}
        }
        Ok(())
    }
}

impl Screen for Pane {
    fn text(&mut self, text: &str) {
        if std::mem::take(&mut self.is_parted) && !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text.push_str(text);
        match self.look {
            Look::Terminal | Look::Piped => {
                let shown = visible(text);
                if let Some(last) = shown.chars().last() {
                    self.is_mid_line = last != '\n';
                }
                write_out(&shown);
            }
            Look::Json => {}
        }
    }

    fn started(&mut self, tool: &str, summary: &str) {
        let summary: String = summary.chars().take(CARD_CHARS_MAX).collect();
        self.aside(&format!("  ▸ {}  {}", output::plain(tool), output::plain(&summary)));
        self.calls.push(Card { tool: tool.to_owned(), summary, ok: false, error: None });
    }

    fn ended(&mut self, tool: &str, error: Option<&str>, took: Duration) {
        let millis = took.as_millis();
        match error {
            None => self.aside(&format!("  ✓ {}  {millis} ms", output::plain(tool))),
            Some(error) => self.aside(&format!("  ✗ {}  {}", output::plain(tool), output::plain(error))),
        }
        // A call that was refused was never started.
        let is_open =
            self.calls.last().is_some_and(|card| card.tool == tool && !card.ok && card.error.is_none());
        if !is_open {
            self.calls.push(Card { tool: tool.to_owned(), summary: String::new(), ok: false, error: None });
        }
        if let Some(card) = self.calls.last_mut() {
            card.ok = error.is_none();
            card.error = error.map(str::to_owned);
        }
    }

    fn note(&mut self, text: &str) {
        self.tell(text);
    }
}

/// A pipe that was closed is no failure of the turn, which is recorded either way.
fn write_out(text: &str) {
    let mut out = std::io::stdout().lock();
    drop(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
}

/// A model's words: lines stay lines, and nothing else moves the cursor.
fn visible(text: &str) -> String {
    let keep = |letter: char| letter == '\n' || letter == '\t';
    text.split_inclusive(keep)
        .map(|piece| match piece.chars().last() {
            Some(end) if keep(end) => {
                let words = piece.strip_suffix(end).unwrap_or(piece);
                format!("{}{end}", output::plain(words))
            }
            Some(_) | None => output::plain(piece),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_and_tabs_move_the_cursor() {
        assert_eq!(visible("a\tb\nc\u{1b}[2Jd\r\u{7}\u{202e}"), "a\tb\nc\\u{1b}[2Jd\\r\\u{7}\\u{202e}");
        assert_eq!(visible("grün\n\n"), "grün\n\n");
    }
}
