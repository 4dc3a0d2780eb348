//! Other programs as agents: how one is started, what it is asked, how it is ended.
//! Owns: its environment, its bounds, the envelope that it is handed, the words of its faults. Must not: know how it is
//! spoken to, or believe what it says.
//!
//! Such a program is not held as a tool's is: whoever writes it into a pipeline and lets programs be run trusts it. It finds
//! an environment without anybody's keys.

use countersign_kernel::run::{Fault, Outcome, handoff};
use countersign_record::envelope::{Envelope, Provenance};
use countersign_record::json::{self, Json, Object};
use countersign_runtime::clock::Clock;
use countersign_runtime::ports::agent::Given;
use rustix::process::{Pid, Signal, kill_process_group};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::process::{Child, Command};

/// How long it may take.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(120);
/// How much it may say.
pub(crate) const OUTPUT_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// What is shown of its own words in a fault.
const SHOWN_CHARS_MAX: usize = 300;
/// What it finds in its environment, if we have it.
const ENVIRONMENT: [&str; 4] = ["PATH", "LANG", "LC_ALL", "TMPDIR"];
/// Who hands something to it.
const CONTROLLER: &str = "controller";

/// A program that is yet to be started.
#[derive(Debug)]
pub(crate) struct Launch {
    command: Vec<String>,
    dir: PathBuf,
    clock: Arc<Clock>,
}

impl Launch {
    /// The program of `command`, run in `dir`.
    pub(crate) fn new(command: Vec<String>, dir: PathBuf, clock: Arc<Clock>) -> Self {
        Launch { command, dir, clock }
    }

    /// What it is handed: the run's state, in an envelope that is one.
    pub(crate) fn question(&self, given: Given<'_>) -> Result<Envelope, Outcome> {
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

    /// Starts it, with its three streams for us. What it leaves behind ends with the group.
    pub(crate) fn start(&self) -> std::io::Result<(Child, Group)> {
        let Some((program, args)) = self.command.split_first() else {
            return Err(std::io::ErrorKind::InvalidInput.into());
        };
        let environment = ENVIRONMENT.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        let child = Command::new(program)
            .args(args)
            .env_clear()
            .envs(environment)
            .current_dir(&self.dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let group = Group(child.id().and_then(|id| Pid::from_raw(id.cast_signed())));
        Ok((child, group))
    }
}

/// A program and what it started, which end with this.
#[derive(Debug)]
pub(crate) struct Group(Option<Pid>);

impl Group {
    /// Ends them.
    pub(crate) fn end(&self) {
        if let Some(group) = self.0 {
            kill_process_group(group, Signal::KILL).unwrap_or(());
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}

/// As much of its own words as a fault may show.
pub(crate) fn shown(words: &str) -> String {
    words.trim().chars().take(SHOWN_CHARS_MAX).collect()
}

/// As [`shown`], but the last of them: what a program says before it ends.
pub(crate) fn last_shown(words: &str) -> String {
    let words = words.trim();
    let before = words.chars().count().saturating_sub(SHOWN_CHARS_MAX);
    words.chars().skip(before).collect()
}

/// It failed, and why.
pub(crate) fn failed(error_type: &str, message: String, recoverable: bool) -> Outcome {
    Outcome::Failed(Fault { error_type: error_type.to_owned(), message, recoverable, details: Object::new() })
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
