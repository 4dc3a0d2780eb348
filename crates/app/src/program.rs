//! An agent that is another program: one SR2 envelope on its standard input, one on its standard output.
//! Owns: starting it, its time, the size of what it says, its end. Must not: believe what it says; the controller checks it.
//!
//! Such a program is not held as a tool's is: whoever writes it into a pipeline and lets programs be run trusts it. It finds
//! an environment without anybody's keys.

use countersign_kernel::run::{Fault, Outcome, handoff};
use countersign_record::envelope::{Envelope, Provenance};
use countersign_record::json::{self, Json, Object};
use countersign_record::label::Label;
use countersign_runtime::clock::Clock;
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::agent::{Agent, Given, Handoff, Said};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

/// How long it may take.
const TIMEOUT: Duration = Duration::from_secs(120);
/// How much it may say.
const OUTPUT_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// What is shown of what it says on its standard error.
const ERROR_CHARS_MAX: usize = 300;
/// What it finds in its environment, if we have it.
const ENVIRONMENT: [&str; 4] = ["PATH", "LANG", "LC_ALL", "TMPDIR"];
/// Who hands something to it.
const CONTROLLER: &str = "controller";

/// An agent that is another program.
#[derive(Debug)]
pub(crate) struct Program {
    command: Vec<String>,
    dir: PathBuf,
    clock: Arc<Clock>,
}

impl Program {
    /// The program of `command`, run in `dir`.
    pub(crate) fn new(command: Vec<String>, dir: PathBuf, clock: Arc<Clock>) -> Self {
        Program { command, dir, clock }
    }

    async fn talk(&self, given: Given<'_>, cancel: &CancellationToken) -> Result<Json, Outcome> {
        let question =
            json::to_text(&self.question(given)?).map_err(|error| fault("it can't be asked", &error))?;
        let mut child = self.start().map_err(|error| fault("it can't be started", &error))?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let asked = async move {
            if let Some(mut stdin) = stdin {
                // A program may answer without reading everything; what it says then counts.
                drop(stdin.write_all(question.as_bytes()).await);
            }
        };
        let talked = async { tokio::join!(asked, all_of(stdout), all_of(stderr), child.wait()) };
        let talked = tokio::select! {
            talked = talked => Some(talked),
            () = tokio::time::sleep(TIMEOUT) => None,
            () = cancel.cancelled() => None,
        };
        let Some(((), said, errors, status)) = talked else {
            end(&mut child).await;
            let why = if cancel.is_cancelled() { "it was cancelled" } else { "it was ended after 120 s" };
            return Err(failed("ProcessTimeout", why.to_owned(), true));
        };
        let status = status.map_err(|error| fault("its end was not seen", &error))?;
        let said = said.map_err(|error| fault("it could not be heard", &error))?;
        if said.len() as u64 > OUTPUT_BYTES_MAX {
            return Err(failed("ProcessError", "it said more than 8 MiB".to_owned(), false));
        }
        if !status.success() {
            let errors = String::from_utf8_lossy(&errors.unwrap_or_default()).into_owned();
            let shown: String = errors.trim().chars().take(ERROR_CHARS_MAX).collect();
            return Err(failed("ProcessError", format!("it ended with {status}: {shown}"), false));
        }
        json::parse(&said).map_err(|error| {
            Outcome::escalate(
                "validation_fail",
                &format!("what it says is no envelope: {}", error.without_text()),
            )
        })
    }

    /// What it is handed: the run's state, in an envelope that is one.
    fn question(&self, given: Given<'_>) -> Result<Envelope, Outcome> {
        let refused = |why: String| Outcome::escalate("validation_fail", &why);
        let state = given.envelope.to_json().map_err(|error| refused(error.to_string()))?;
        let at = self.clock.now().map_err(|error| refused(error.to_string()))?;
        let told = Outcome::Done(Object::from([
            ("stage", Json::from(given.stage.name.as_str())),
            ("output_key", Json::from(given.stage.output_key.as_str())),
            ("state", exact(state)),
        ]));
        let question = handoff(given.envelope, given.stage, CONTROLLER, told, Provenance::default(), &at);
        let document = json::value_of(&question).map_err(|error| refused(error.to_string()))?;
        Envelope::read(document)
            .map_err(|troubles| refused(troubles.first().map(ToString::to_string).unwrap_or_default()))
    }

    fn start(&self) -> std::io::Result<Child> {
        let Some((program, args)) = self.command.split_first() else {
            return Err(std::io::ErrorKind::InvalidInput.into());
        };
        let environment = ENVIRONMENT.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        Command::new(program)
            .args(args)
            .env_clear()
            .envs(environment)
            .current_dir(&self.dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
    }
}

impl Agent for Program {
    fn is_repeatable(&self) -> bool {
        // Nobody knows what it does.
        false
    }

    fn act<'a>(&'a self, given: Given<'a>, cancel: &'a CancellationToken) -> Answer<'a, Said> {
        Box::pin(async move {
            let handoff = match self.talk(given, cancel).await {
                Ok(envelope) => Handoff::Theirs(envelope),
                Err(outcome) => Handoff::Ours(outcome, Provenance::default()),
            };
            Said { handoff, llm_calls: 0, label: Label::OUTSIDE, receipts: Vec::new() }
        })
    }
}

/// A number without a canonical form is told as a text, as it is hashed: an envelope holds none, and it must not change.
fn exact(value: Json) -> Json {
    match value {
        Json::Number(number) if !number.is_exact() => Json::String(number.literal()),
        Json::Array(items) => Json::Array(items.into_iter().map(exact).collect()),
        Json::Object(object) => {
            Json::Object(object.iter().map(|(name, value)| (name, exact(value.clone()))).collect())
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => value,
    }
}

/// Ends it, and what it started.
async fn end(child: &mut Child) {
    let group = child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()));
    if let Some(group) = group {
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap_or(());
    }
    drop(child.wait().await);
}

/// All that a stream says, and a byte more than it may.
async fn all_of(stream: Option<impl AsyncRead + Unpin>) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        stream.take(OUTPUT_BYTES_MAX + 1).read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}

fn fault(what: &str, error: &impl std::fmt::Display) -> Outcome {
    failed("ProcessError", format!("{what}: {error}"), false)
}

fn failed(error_type: &str, message: String, recoverable: bool) -> Outcome {
    Outcome::Failed(Fault { error_type: error_type.to_owned(), message, recoverable, details: Object::new() })
}
