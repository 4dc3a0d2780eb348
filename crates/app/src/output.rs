//! What a user reads.
//! Owns: standard output and standard error. Must not: lose an error of either.

mod sheet;

pub(crate) use sheet::{BAD, BOLD, CARE, FAINT, GOOD, Line, PLAIN, Sheet};

use crate::cli::Global;
use crate::failure::Failure;
use countersign_record::code::{Code, ErrorBody, ErrorForm};
use countersign_record::json;
use serde::Serialize;
use std::fs::File;
use std::io::{ErrorKind, IsTerminal, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;

/// Whoever reads standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    There,
    /// It has seen enough (`| head`); that is no failure of ours.
    Gone,
}

/// Writes bytes to standard output, exactly, and says whether there is any use in more.
pub(crate) fn shown(bytes: &[u8]) -> Result<Reader, Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Ok(()) => Ok(Reader::There),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Reader::Gone),
        Err(error) => Err(Failure::new(Code::OutputFailed, format!("standard output: {error}"))),
    }
}

/// Writes bytes to standard output, exactly. Without a reader the work still goes on to its end: rows are
/// appended, a check fails, and the exit code says so.
pub(crate) fn bytes(bytes: &[u8]) -> Result<(), Failure> {
    shown(bytes).map(drop)
}

/// Has something write to standard output that is too long to be held. It comes in large pieces, so it goes past the
/// standard library's buffer, which would look for the ends of lines in it.
pub(crate) fn streamed(write: impl FnOnce(&mut File) -> std::io::Result<()>) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let direct = out.flush().and_then(|()| out.as_fd().try_clone_to_owned());
    match direct.and_then(|out| write(&mut File::from(out))) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::new(Code::OutputFailed, format!("standard output: {error}"))),
    }
}

/// Writes a line.
pub(crate) fn line(text: &str) -> Result<(), Failure> {
    bytes(format!("{text}\n").as_bytes())
}

/// Writes one JSON document on a line.
pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> Result<(), Failure> {
    match json::to_text(value) {
        Ok(text) => line(&text),
        Err(error) => Err(Failure::new(Code::OutputFailed, error.to_string())),
    }
}

/// Tells a failure on standard error and gives its exit code.
pub(crate) fn failure(failure: &Failure) -> ExitCode {
    // If standard error is closed there is nobody to tell; the exit code still says it.
    aside(&error_text(failure));
    failure.exit()
}

/// The JSON error form of a failure.
pub(crate) fn error_text(failure: &Failure) -> String {
    let Failure { code, message, details } = failure.clone();
    let message = cut(&message, MESSAGE_CHARS_MAX);
    json::to_text(&ErrorForm { error: ErrorBody { code, message, details } }).unwrap_or_default()
}

/// Writes a line beside the output, to standard error, if there is anybody to read it.
pub(crate) fn aside(text: &str) {
    drop(writeln!(std::io::stderr().lock(), "{text}"));
}

/// A message may hold a piece of the input, which may be hostile and long.
const MESSAGE_CHARS_MAX: usize = 300;
/// The help of one command, with room to spare.
const HELP_CHARS_MAX: usize = 4_000;

fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Help and version go out as they are; everything else that clap says is an error in our form.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind as Kind;
    match error.kind() {
        Kind::DisplayHelp | Kind::DisplayVersion => match bytes(error.render().to_string().as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failure(&error),
        },
        kind => {
            let text = error.render().to_string();
            let message = match kind {
                Kind::DisplayHelpOnMissingArgumentOrSubcommand | Kind::MissingSubcommand => {
                    "a command is missing"
                }
                // The first paragraph: what is wrong, and with which argument.
                _ => text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: "),
            };
            let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
            failure(
                &Failure::new(Code::UsageInvalid, message).with("help", cut(text.trim_end(), HELP_CHARS_MAX)),
            )
        }
    }
}

/// Text from outside as a part of a line: what would move a cursor, turn the direction of reading or begin a line
/// of its own is shown as an escape.
pub(crate) fn plain(text: &str) -> String {
    let mut shown = String::new();
    for letter in text.chars() {
        match letter {
            '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => shown.extend(letter.escape_unicode()),
            _ if letter.is_control() => shown.extend(letter.escape_default()),
            _ => shown.push(letter),
        }
    }
    shown
}

/// A text as one word of a command that is typed into a shell, whatever stands in it.
pub(crate) fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_./:=@%+,-".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    // What can't be seen is written as an escape, which only this form of quotes has.
    if plain(text) != text {
        let escaped = |letter: char| match letter {
            '\'' | '\\' => format!("\\{letter}"),
            _ if plain(&letter.to_string()).starts_with(letter) => letter.to_string(),
            _ => {
                let mut bytes = [0; 4];
                letter.encode_utf8(&mut bytes).bytes().map(|byte| format!("\\x{byte:02x}")).collect()
            }
        };
        return format!("$'{}'", text.chars().map(escaped).collect::<String>());
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// What is said, and the exit code, where a signal ends what does not end by itself.
pub(crate) fn stopped() -> i32 {
    aside("Stopped. What was written down stays: countersign runs list says what can be gone on with.");
    i32::from(STOPPED)
}

/// The exit code after a signal, as shells have it.
pub(crate) const STOPPED: u8 = 130;

/// `1 row`, `2 rows`.
pub(crate) fn count(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

/// A time to the second.
pub(crate) fn moment(at: &str) -> String {
    at.split_once('.').map_or_else(|| at.to_owned(), |(at, _)| format!("{at}Z"))
}

/// A sign of life for long work: on a terminal only, and for people only.
pub(crate) fn progress(global: &Global, message: String) -> indicatif::ProgressBar {
    if global.json || !std::io::stderr().is_terminal() {
        return indicatif::ProgressBar::hidden();
    }
    let spinner = indicatif::ProgressBar::new_spinner().with_message(message);
    // What is longer than the terminal is wide is cut.
    if let Ok(style) = indicatif::ProgressStyle::with_template("{spinner} {wide_msg}") {
        spinner.set_style(style);
    }
    spinner.enable_steady_tick(std::time::Duration::from_millis(100));
    spinner
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_a_command_is_one_word() {
        let table = [
            ("accept", "accept"),
            ("a/b-c.json", "a/b-c.json"),
            ("", "''"),
            ("d sp;ace", "'d sp;ace'"),
            ("not yet; rm -rf x", "'not yet; rm -rf x'"),
            ("it's", r"'it'\''s'"),
            ("$HOME `x`", "'$HOME `x`'"),
            ("a\nb'c", r"$'a\x0ab\'c'"),
            ("\u{202e}x", r"$'\xe2\x80\xaex'"),
        ];
        for (text, expected) in table {
            assert_eq!(quoted(text), expected, "{text:?}");
        }
    }
}
