//! The tool `shell.exec`, as models see it.
//! Owns: its words, its bounds of time, cancelling. Must not: run what was not read by the rules.

use super::run::{Event, Finished, Job, run};
use super::split::LINE_BYTES_MAX;
use super::{Command, NAMES, refusal};
use crate::args::{self, Saying, capability};
use crate::held::Spaces;
use crate::place::Shown;
use crate::sandbox::{Error, Sandbox};
use countersign_kernel::gate::Permitted;
use countersign_record::code::Code;
use countersign_record::json::{Json, Number, Object};
use countersign_record::tool::{Definition, Effect};
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::tool::{Done, NotDone, Plan, Reads, Tool};
use std::path::PathBuf;
use std::sync::mpsc::{self, Sender};
use tokio_util::sync::CancellationToken;

const TIMEOUT_S_MAX: u64 = 120;
const TIMEOUT_S_DEFAULT: u64 = 20;

/// Runs a program that only reads.
pub struct Exec {
    definition: Definition,
    root: PathBuf,
    launcher: PathBuf,
}

struct Call {
    command: Command,
    timeout_s: u64,
}

impl Call {
    fn read(args: &Object) -> Result<Self, NotDone> {
        let line = args::text(args, "cmd")?;
        let timeout_s = args::number_or(args, "timeout_s", TIMEOUT_S_DEFAULT, 1..=TIMEOUT_S_MAX)?;
        Ok(Call { command: Command::read(line)?, timeout_s })
    }
}

impl Exec {
    /// The tool, beneath a root.
    ///
    /// # Errors
    /// What it says of itself is wrong.
    pub fn new(sandbox: &Sandbox) -> Result<Self, Error> {
        let saying = Saying {
            name: "shell.exec",
            description: "Runs one program in the sandbox's root, without a shell: cat, echo, grep, head, ls, pwd, rg, \
                sed, sort, tail or wc, with options that only read. No pipes, redirections, variables or patterns; \
                quote with single quotes. Nothing can be written and no network reached. Gives exit_code (null if \
                it was ended because of too much output), stdout, stderr and whether output was cut (truncated).",
            parameters: r#"{
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "properties": {
                    "cmd": {"type": "string", "minLength": 1, "maxLength": 8192,
                        "description": "the program and its arguments"},
                    "timeout_s": {"type": "integer", "minimum": 1, "maximum": 120, "default": 20,
                        "description": "after how many seconds it is ended"}
                },
                "required": ["cmd"],
                "additionalProperties": false
            }"#,
            effect: Effect::None,
            needs: capability("shell"),
        };
        const { assert!(LINE_BYTES_MAX == 8_192 && NAMES.len() == 11, "the description says so") };
        Ok(Exec {
            definition: saying.definition()?,
            root: sandbox.root().to_owned(),
            launcher: sandbox.launcher().to_owned(),
        })
    }

    fn job(&self, call: &Call) -> Result<Job, NotDone> {
        Ok(Job {
            launcher: self.launcher.clone(),
            root: self.root.clone(),
            program: call.command.file()?,
            args: call.command.args.clone(),
            timeout_s: call.timeout_s,
        })
    }
}

impl Tool for Exec {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn plan(&self, args: &Object) -> Result<Plan, NotDone> {
        let Call { command, timeout_s } = Call::read(args)?;
        let words = std::iter::once(command.program).chain(command.args.iter().map(String::as_str));
        let line = shlex::try_join(words).map_err(|_| refusal("a word has a NUL"))?;
        Ok(Plan {
            summary: format!("run, only reading and for at most {timeout_s} s: {}", Shown(&line)),
            reads: Reads::Sandbox,
            writes: None,
            sends_to: None,
        })
    }

    fn run<'a>(
        &'a self,
        call: Permitted,
        cancel: &'a CancellationToken,
    ) -> Answer<'a, Result<Done, NotDone>> {
        Box::pin(async move {
            let job = self.job(&Call::read(call.args())?)?;
            let (sender, events) = mpsc::channel();
            let stop = Stop(sender.clone());
            let mut work = tokio::task::spawn_blocking(move || run(&job, &sender, &events));
            let finished = tokio::select! {
                finished = &mut work => finished,
                () = cancel.cancelled() => {
                    drop(stop);
                    work.await
                }
            };
            match finished {
                Ok(finished) => finished.map(shown),
                Err(_) => Err(NotDone::new(Code::ToolFailed, "it broke off")),
            }
        })
    }
}

/// Has a program run that only says where it is.
pub(crate) fn rehearse(sandbox: &Sandbox) -> Result<Spaces, NotDone> {
    let command = Command::read("pwd")?;
    let job = Job {
        launcher: sandbox.launcher().to_owned(),
        root: sandbox.root().to_owned(),
        program: command.file()?,
        args: command.args,
        timeout_s: TIMEOUT_S_DEFAULT,
    };
    let (sender, events) = mpsc::channel();
    let finished = run(&job, &sender, &events)?;
    match finished.exit_code {
        Some(0) => Ok(finished.spaces),
        Some(_) | None => Err(NotDone::new(Code::ToolFailed, "the program failed")),
    }
}

/// Ends the program when nobody waits for it any more.
struct Stop(Sender<Event>);

impl Drop for Stop {
    fn drop(&mut self) {
        // Who has ended already does not listen.
        self.0.send(Event::Cancelled).unwrap_or(());
    }
}

fn shown(finished: Finished) -> Done {
    let exit_code = finished.exit_code.and_then(|code| u32::try_from(code).ok());
    Done::plain(Json::from(Object::from([
        ("exit_code", exit_code.map_or(Json::Null, |code| Json::Number(Number::from(code)))),
        ("stdout", Json::from(finished.stdout)),
        ("stderr", Json::from(finished.stderr)),
        ("truncated", Json::from(finished.truncated)),
    ])))
}
