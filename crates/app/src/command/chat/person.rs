//! The person at the terminal.
//! Owns: reading a line, asking for a decision. Must not: decide; nothing that is not a clear yes is one.

use crate::command::session::with_caution;
use crate::failure::Failure;
use crate::office::Rooms;
use crate::output;
use countersign_record::code::Code;
use countersign_record::tool::Effect;
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::session::{Decision, Person, Question};
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// How much of a call's arguments is shown, in characters.
const DETAIL_CHARS_MAX: usize = 2_000;
/// Lines that are remembered.
const HISTORY_MAX: usize = 1_000;

/// Reads lines with a history.
pub(super) struct Editor {
    editor: Mutex<rustyline::Editor<(), FileHistory>>,
    history: PathBuf,
}

impl Editor {
    pub(super) fn new(rooms: &Rooms) -> Result<Self, Failure> {
        let broken =
            |error: ReadlineError| Failure::new(Code::FileUnreadable, format!("the terminal: {error}"));
        let config = rustyline::Config::builder()
            .max_history_size(HISTORY_MAX)
            .map_err(broken)?
            .auto_add_history(false)
            .build();
        let mut editor = rustyline::Editor::with_config(config).map_err(broken)?;
        let history = rooms.history();
        // There is none before the first line.
        drop(editor.load_history(&history));
        Ok(Editor { editor: Mutex::new(editor), history })
    }

    /// The next thing that is said; `None` at the end.
    pub(super) async fn line(self: &Arc<Self>, prompt: &str) -> Result<Option<String>, Failure> {
        loop {
            match self.read(prompt.to_owned()).await? {
                Ok(line) => {
                    self.remember(&line);
                    return Ok(Some(line));
                }
                // Ctrl-C leaves the line, not the chat.
                Err(ReadlineError::Interrupted) => {}
                Err(ReadlineError::Eof) => return Ok(None),
                Err(error) => {
                    return Err(Failure::new(Code::FileUnreadable, format!("the terminal: {error}")));
                }
            }
        }
    }

    async fn read(self: &Arc<Self>, prompt: String) -> Result<Result<String, ReadlineError>, Failure> {
        let editor = Arc::clone(self);
        let reading = move || editor.editor.lock().unwrap_or_else(PoisonError::into_inner).readline(&prompt);
        tokio::task::spawn_blocking(reading)
            .await
            .map_err(|error| Failure::new(Code::FileUnreadable, format!("the terminal: {error}")))
    }

    fn remember(&self, line: &str) {
        let mut editor = self.editor.lock().unwrap_or_else(PoisonError::into_inner);
        // A history that can't be kept is no reason to stop talking.
        drop(editor.add_history_entry(line));
        drop(editor.save_history(&self.history));
    }
}

/// Asks on the terminal.
pub(super) struct Terminal {
    editor: Arc<Editor>,
}

impl Terminal {
    pub(super) fn new(editor: Arc<Editor>) -> Self {
        Terminal { editor }
    }

    async fn ask(&self, question: &Question) -> Decision {
        let prompt = "    allow? [y] this time  [s] for this session  [N] no: ";
        if output::line(&card(question)).is_err() {
            return Decision::Nobody;
        }
        // What was typed before the question was seen is no answer to it.
        if rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush).is_err() {
            return Decision::Nobody;
        }
        match self.editor.read(prompt.to_owned()).await {
            Ok(Ok(answer)) => match answer.trim().to_lowercase().as_str() {
                "y" | "yes" => Decision::Once,
                "s" | "session" => Decision::Session,
                _ => Decision::No,
            },
            // Ctrl-C and Ctrl-D leave the turn; neither is an answer.
            Ok(Err(_)) | Err(_) => Decision::Cancelled,
        }
    }
}

impl Person for Terminal {
    fn is_there(&self) -> bool {
        true
    }

    fn decide<'a>(&'a self, question: &'a Question) -> Answer<'a, Decision> {
        Box::pin(self.ask(question))
    }
}

/// A text that fits a card: its beginning and its end, and how much is between them.
fn shortened(text: &str) -> String {
    let count = text.chars().count();
    if count <= DETAIL_CHARS_MAX {
        return text.to_owned();
    }
    let (head, tail) = (DETAIL_CHARS_MAX * 3 / 4, DETAIL_CHARS_MAX / 4);
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(count - tail).collect();
    format!("{start} … {} more characters … {end}", count - head - tail)
}

/// What exactly would happen.
fn card(question: &Question) -> String {
    let who = question.tool.as_ref().map_or("the model", |tool| tool.as_str());
    let effect = match question.effect {
        Effect::None => "changes nothing",
        Effect::Reversible => "can be brought back",
        Effect::Irreversible => "can't be brought back",
        Effect::Idempotent => "the same however often",
    };
    let void =
        question.void.as_ref().map(|why| format!("\n    a grant was given, but {why}")).unwrap_or_default();
    let detail = shortened(&output::plain(&question.detail));
    let detail = if detail.is_empty() { detail } else { format!("\n    {detail}") };
    format!(
        "\n  ? {who}: {}{detail}\n    {effect}; needs {}{void}",
        output::plain(&question.summary),
        output::plain(&with_caution(&question.capability))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_counted_and_the_end_is_shown() {
        let short = "x".repeat(DETAIL_CHARS_MAX);
        assert_eq!(shortened(&short), short);
        // What is escaped is longer than what was written: it is what is shown that is counted.
        let long = output::plain(&format!("{} the end", "\u{202e}".repeat(DETAIL_CHARS_MAX)));
        let shown = shortened(&long);
        assert!(shown.ends_with(" the end") && shown.contains("more characters"), "{shown}");
        assert!(shown.chars().count() < DETAIL_CHARS_MAX + 60);
    }
}
