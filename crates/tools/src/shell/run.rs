//! Has one program run, and sees to it that it ends.
//! Owns: its output, its deadline, the end of everything it started. Must not: run it but through the launcher.

use crate::fs::whole_letters;
use crate::held::{Order, REPORTS, Spaces};
use countersign_record::code::Code;
use countersign_runtime::ports::tool::NotDone;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// What is kept of each stream.
const STREAM_BYTES_MAX: usize = 20_000;
/// What is read of one and thrown away, so that a program that says a little too much can end by itself.
const DROPPED_BYTES_MAX: usize = 1 << 20;
/// What is read of the launcher's report.
const REPORT_BYTES_MAX: u64 = 1_024;

/// What is to be run.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) launcher: PathBuf,
    pub(super) root: PathBuf,
    pub(super) program: PathBuf,
    pub(super) args: Vec<String>,
    pub(super) timeout_s: u64,
}

/// What it gave.
#[derive(Debug)]
pub(super) struct Finished {
    /// Nothing if it was ended because it said too much.
    pub(super) exit_code: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) truncated: bool,
    pub(super) spaces: Spaces,
}

/// What happens to a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Ended,
    Flooded,
    Cancelled,
}

/// Why a program was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Time,
    Flood,
    Cancel,
}

/// Runs it to its end, whatever that is. The thread that calls this must stay: the program ends with it.
pub(super) fn run(job: &Job, sender: &Sender<Event>, events: &Receiver<Event>) -> Result<Finished, NotDone> {
    let (mut child, mut report) = spawn(job).map_err(unheld)?;
    let pid = Pid::from_child(&child);
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (cause, status, stdout, stderr) = std::thread::scope(|scope| {
        let stdout = scope.spawn(|| captured(stdout, sender));
        let stderr = scope.spawn(|| captured(stderr, sender));
        scope.spawn(|| {
            await_end(pid);
            sender.send(Event::Ended).unwrap_or(());
        });
        let cause = watch(events, pid, Duration::from_secs(job.timeout_s));
        // It has ended and is not yet buried, so that its number is still its own: nobody else is hit.
        end(pid);
        let status = child.wait();
        (cause, status, stdout.join().unwrap_or_default(), stderr.join().unwrap_or_default())
    });
    let mut told = String::new();
    drop(report.by_ref().take(REPORT_BYTES_MAX).read_to_string(&mut told));
    let held = REPORTS.into_iter().find_map(|(words, spaces)| Some((told.strip_prefix(words)?, spaces)));
    let exit_code = match held {
        Some(("", _)) => ending(cause, status.map_err(unheld)?, job.timeout_s)?,
        Some((error, _)) => return Err(not_run(error)),
        // It may have been ended before it could report.
        None if told.is_empty() && cause.is_some() => ending(cause, status.map_err(unheld)?, job.timeout_s)?,
        None if told.is_empty() => return Err(not_run("the launcher holds nothing")),
        None => return Err(not_run(&told)),
    };
    let truncated = stdout.is_cut || stderr.is_cut;
    let spaces = held.map_or(Spaces::Shared, |(_, spaces)| spaces);
    Ok(Finished { exit_code, stdout: stdout.text(), stderr: stderr.text(), truncated, spaces })
}

/// Starts the launcher in a group of its own. Its standard input is where it reports; this program keeps no end of that
/// but the one that is read.
fn spawn(job: &Job) -> io::Result<(Child, io::PipeReader)> {
    let (report, reporter) = io::pipe()?;
    let order = Order {
        cpu_s: job.timeout_s,
        parent: std::process::id().cast_signed(),
        program: job.program.clone(),
        args: job.args.iter().map(Into::into).collect(),
    };
    let child = Command::new(&job.launcher)
        .args(order.words())
        .env_clear()
        .current_dir(&job.root)
        .stdin(reporter)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    Ok((child, report))
}

fn unheld(error: io::Error) -> NotDone {
    not_run(&format!("the launcher can't be started: {error}"))
}

fn not_run(why: &str) -> NotDone {
    NotDone::new(Code::ToolSandbox, format!("it was not run: {why}"))
}

/// Waits until it has ended, and leaves it to be buried.
fn await_end(pid: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while matches!(rustix::process::waitid(WaitId::Pid(pid), options), Err(rustix::io::Errno::INTR)) {}
}

/// Waits for the end, and brings it about where it is due.
fn watch(events: &Receiver<Event>, pid: Pid, timeout: Duration) -> Option<Cause> {
    let start = Instant::now();
    let mut cause = None;
    loop {
        let event = match cause {
            None => events.recv_timeout(timeout.saturating_sub(start.elapsed())),
            Some(_) => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        let due = match event {
            Ok(Event::Ended) | Err(RecvTimeoutError::Disconnected) => return cause,
            Ok(Event::Flooded) => Cause::Flood,
            Ok(Event::Cancelled) => Cause::Cancel,
            Err(RecvTimeoutError::Timeout) => Cause::Time,
        };
        cause = cause.or(Some(due));
        end(pid);
    }
}

/// Ends the whole group.
fn end(pid: Pid) {
    rustix::process::kill_process_group(pid, Signal::KILL).unwrap_or(());
}

fn ending(cause: Option<Cause>, status: ExitStatus, timeout_s: u64) -> Result<Option<i32>, NotDone> {
    let timeout = |why: String| Err(NotDone::new(Code::ToolTimeout, why));
    match cause {
        Some(Cause::Time) => timeout(format!("it was ended after {timeout_s} s")),
        Some(Cause::Cancel) => timeout("it was cancelled".to_owned()),
        Some(Cause::Flood) => Ok(None),
        None => match (status.code(), status.signal()) {
            (Some(code), _) => Ok(Some(code)),
            (None, Some(signal)) if signal == Signal::XCPU.as_raw() => {
                timeout(format!("it was ended after {timeout_s} s of processor time"))
            }
            (None, signal) => {
                let why = format!("it was ended by signal {}", signal.unwrap_or_default());
                Err(NotDone::new(Code::ToolFailed, why))
            }
        },
    }
}

/// The beginning of a stream.
#[derive(Debug, Default)]
struct Captured {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl Captured {
    fn text(mut self) -> String {
        if self.is_cut {
            self.bytes.truncate(whole_letters(&self.bytes));
        }
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// Reads a stream to its end, keeps its beginning, and says when there is no end of it.
fn captured(stream: Option<impl Read>, sender: &Sender<Event>) -> Captured {
    let mut captured = Captured::default();
    let Some(mut stream) = stream else { return captured };
    let mut buffer = [0; 8_192];
    let mut dropped = 0;
    loop {
        let read = match stream.read(&mut buffer) {
            Ok(0) => return captured,
            Ok(read) => &buffer[..read],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return captured,
        };
        let (kept, rest) = read.split_at(read.len().min(STREAM_BYTES_MAX - captured.bytes.len()));
        captured.bytes.extend_from_slice(kept);
        captured.is_cut |= !rest.is_empty();
        let was_within = dropped <= DROPPED_BYTES_MAX;
        dropped += rest.len();
        if was_within && dropped > DROPPED_BYTES_MAX {
            sender.send(Event::Flooded).unwrap_or(());
        }
    }
}
