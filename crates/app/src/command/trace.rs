//! `countersign trace`: the events of turns.
//! Owns: reading them, also while they are written, and how they look. Must not: change one.

use crate::cli::Global;
use crate::cli::session::Trace;
use crate::failure::{Exit, Failure};
use crate::office::Rooms;
use crate::output;
use countersign_record::code::Code;
use countersign_record::json::{self, Json};
use countersign_record::time::{Instant, Timestamp};
use countersign_store::traces::{self, Named, Traces, Watch};
use serde::Serialize;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

/// A line beyond this is not looked at.
const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// How much of an event is shown on its line, in characters.
const SHOWN_CHARS_MAX: usize = 160;

pub(super) async fn run(global: &Global, command: Trace) -> Result<Exit, Failure> {
    let traces = Rooms::of(global)?.traces();
    match command {
        Trace::Show { name: None } => list(global, &traces),
        Trace::Show { name: Some(name) } => {
            let lines = Reader::open(&traces, &name)?.lines()?;
            match global.json {
                true => document(&name, &lines)?,
                false => lines.iter().try_for_each(|line| show(line))?,
            }
            Ok(Exit::Success)
        }
        Trace::Tail { name, no_follow } => {
            let newest = || traces.names().ok().and_then(|names| names.last().cloned());
            let name = name.or_else(newest).ok_or_else(|| missing("there are no traces yet"))?;
            let reader = Reader::open(&traces, &name)?;
            let unwatched = |error: io::Error| Failure::file(&output::plain(&name), &error);
            let watch = (!no_follow).then(|| Watch::on(&traces, &name)).transpose().map_err(unwatched)?;
            tail(global, reader, watch.map(Arc::new)).await
        }
    }
}

/// A turn as one document.
#[derive(Serialize)]
struct Document {
    session: String,
    turn: u64,
    events: Vec<Json>,
    /// Lines that are no events: what a full disk or a crash left of one.
    unreadable: usize,
}

fn document(name: &str, lines: &[String]) -> Result<(), Failure> {
    let Named { session, turn } = Named::read(name);
    let events: Vec<Json> = lines.iter().filter_map(|line| json::parse(line.as_bytes()).ok()).collect();
    let unreadable = lines.len() - events.len();
    output::json(&Document { session, turn, events, unreadable })
}

fn missing(message: &str) -> Failure {
    Failure::new(Code::TraceMissing, message)
}

fn list(global: &Global, traces: &Traces) -> Result<Exit, Failure> {
    let names = traces.names().map_err(|error| Failure::file("the traces", &error))?;
    match global.json {
        true => output::json(&names)?,
        false if names.is_empty() => output::line("No traces yet: each turn of a chat leaves one.")?,
        false => names.iter().try_for_each(|name| output::line(&output::plain(name)))?,
    }
    Ok(Exit::Success)
}

/// Reads whole lines, also from a file that grows.
struct Reader {
    file: File,
    rest: Vec<u8>,
}

impl Reader {
    fn open(traces: &Traces, name: &str) -> Result<Self, Failure> {
        match traces.open(name) {
            Ok(file) => Ok(Reader { file, rest: Vec::new() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(missing(&format!("there is no trace {}", output::plain(name))))
            }
            Err(error) => Err(Failure::file(&output::plain(name), &error)),
        }
    }

    /// The lines that are whole by now.
    fn lines(&mut self) -> Result<Vec<String>, Failure> {
        self.file.read_to_end(&mut self.rest).map_err(|error| Failure::file("the trace", &error))?;
        let end = self.rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        if self.rest.len() - end > LINE_BYTES_MAX {
            return Err(Failure::new(Code::JsonTooLong, "the trace has a line that does not end"));
        }
        let whole: Vec<u8> = self.rest.drain(..end).collect();
        let lines = String::from_utf8_lossy(&whole);
        Ok(lines.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())
    }
}

/// Prints what comes until the turn ends; without a watch, what is there.
async fn tail(global: &Global, mut reader: Reader, watch: Option<Arc<Watch>>) -> Result<Exit, Failure> {
    let failed = |error: &io::Error| Failure::file("the trace", error);
    loop {
        // Asked before the lines are read: who is gone by now has written all that will ever be there.
        let is_written = traces::is_written(&reader.file).map_err(|error| failed(&error))?;
        for line in reader.lines()? {
            match global.json {
                true => output::line(&line)?,
                false => show(&line)?,
            }
            if is_end(&line) {
                return Ok(Exit::Success);
            }
        }
        let Some(watch) = watch.clone() else { return Ok(Exit::Success) };
        if !is_written {
            let message = "whoever wrote this trace is gone, and the turn has no end in it";
            return Err(Failure::new(Code::TraceCut, message));
        }
        let waited = tokio::task::spawn_blocking(move || watch.wait()).await.map_err(io::Error::other);
        waited.and_then(|waited| waited).map_err(|error| failed(&error))?;
    }
}

/// Whether a line is the event that ends a turn. What a tool is called with may hold the same words.
fn is_end(line: &str) -> bool {
    line.contains("turn_done")
        && json::parse(line.as_bytes())
            .is_ok_and(|event| event.get("kind").and_then(Json::as_str) == Some("turn_done"))
}

fn show(line: &str) -> Result<(), Failure> {
    match json::parse(line.as_bytes()) {
        Ok(event) => output::line(&rendered(&event)),
        Err(_) => output::line(&format!(
            "?  {}",
            output::plain(&line.chars().take(SHOWN_CHARS_MAX).collect::<String>())
        )),
    }
}

/// `10:00:00.001  tool_done    fs.read_text ok 3 ms`.
fn rendered(event: &Json) -> String {
    let kind = event.get("kind").and_then(Json::as_str).unwrap_or("?");
    let time = match event.get("ts") {
        Some(Json::Number(ts)) => clock_of(ts.as_f64()),
        _ => String::new(),
    };
    let data = event.get("data").and_then(Json::as_object);
    let members = data.into_iter().flat_map(|data| data.iter()).map(|(name, value)| {
        let text = match value {
            Json::String(text) => text.clone(),
            other => json::to_text(other).unwrap_or_default(),
        };
        format!("{name}={text}")
    });
    let all = members.collect::<Vec<_>>().join(" ");
    let mut shown: String = all.chars().take(SHOWN_CHARS_MAX).collect();
    if shown.len() < all.len() {
        shown.push('…');
    }
    output::plain(&format!("{time:<15} {kind:<12} {shown}"))
}

#[expect(clippy::cast_possible_truncation, reason = "seconds since 1970, cut to whole ones on purpose")]
fn clock_of(seconds: f64) -> String {
    let nanos = ((seconds.fract() * 1e6).round() as u32).min(999_999) * 1_000;
    let time = Timestamp::try_from(Instant { seconds: seconds as i64, nanos });
    let text = time.map(|time| time.to_string()).unwrap_or_default();
    text.split_once('T').map(|(_, time)| time.trim_end_matches('Z').to_owned()).unwrap_or_default()
}
