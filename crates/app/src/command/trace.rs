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
use countersign_store::traces::Traces;
use std::fs::File;
use std::io::{self, Read};
use std::time::Duration;

/// How often a trace is looked at while it is written.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// A line beyond this is not looked at.
const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// How much of an event is shown on its line, in characters.
const SHOWN_CHARS_MAX: usize = 160;

pub(super) async fn run(global: &Global, command: Trace) -> Result<Exit, Failure> {
    let traces = Rooms::of(global)?.traces();
    match command {
        Trace::Show { name: None } => list(global, &traces),
        Trace::Show { name: Some(name) } => {
            let mut reader = Reader::open(&traces, &name)?;
            for line in reader.lines()? {
                show(global, &line)?;
            }
            Ok(Exit::Success)
        }
        Trace::Tail { name, no_follow } => {
            let newest = || traces.names().ok().and_then(|names| names.last().cloned());
            let name = name.or_else(newest).ok_or_else(|| missing("there are no traces yet"))?;
            tail(global, Reader::open(&traces, &name)?, !no_follow).await
        }
    }
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
        Ok(String::from_utf8_lossy(&whole).lines().map(str::to_owned).collect())
    }
}

async fn tail(global: &Global, mut reader: Reader, is_followed: bool) -> Result<Exit, Failure> {
    let mut looks = tokio::time::interval(LOOK_EVERY);
    loop {
        looks.tick().await;
        for line in reader.lines()? {
            show(global, &line)?;
            if line.contains("\"kind\":\"turn_done\"") {
                return Ok(Exit::Success);
            }
        }
        if !is_followed {
            return Ok(Exit::Success);
        }
    }
}

fn show(global: &Global, line: &str) -> Result<(), Failure> {
    if global.json {
        return output::line(line);
    }
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
