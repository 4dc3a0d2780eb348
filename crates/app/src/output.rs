//! What a user reads.
//! Owns: standard output and standard error. Must not: lose an error of either.

use crate::failure::Failure;
use countersign_record::code::Code;
use countersign_record::json::{self, Object};
use serde::Serialize;
use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

/// Writes bytes to standard output, exactly.
pub(crate) fn bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).or_else(|error| match error.kind() {
        // The reader has seen enough; that is no failure of ours.
        ErrorKind::BrokenPipe => std::process::exit(0),
        _ => Err(Failure::new(Code::OutputFailed, format!("standard output: {error}"))),
    })
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
    let form = Error { error: Form { code: failure.code, message: &failure.message, details: &failure.details } };
    let text = json::to_text(&form).unwrap_or_default();
    // If standard error is closed there is nobody to tell; the exit code still says it.
    drop(writeln!(std::io::stderr().lock(), "{text}"));
    failure.exit()
}

#[derive(Serialize)]
struct Error<'a> {
    error: Form<'a>,
}

#[derive(Serialize)]
struct Form<'a> {
    code: Code,
    message: &'a str,
    details: &'a Object,
}

/// Help and version go out as they are; everything else that clap says is an error in our form.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind as Kind;
    match error.kind() {
        Kind::DisplayHelp | Kind::DisplayVersion => match bytes(error.render().to_string().as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failure(&error),
        },
        _ => {
            let text = error.render().to_string();
            let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            failure(&Failure::new(Code::UsageInvalid, message).with("help", text.trim_end()))
        }
    }
}

/// A sign of life for long work: on a terminal only.
pub(crate) fn progress(message: String) -> indicatif::ProgressBar {
    if !std::io::stderr().is_terminal() {
        return indicatif::ProgressBar::hidden();
    }
    let spinner = indicatif::ProgressBar::new_spinner().with_message(message);
    spinner.enable_steady_tick(std::time::Duration::from_millis(100));
    spinner
}
