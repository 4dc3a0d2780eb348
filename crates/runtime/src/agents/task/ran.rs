//! Commands that look at the work: granted first, told after.
//! Owns: asking for the grant, what an exit code counts for, what is told of it. Must not: run a program; the port does.

use crate::looked::{Looked, RAN};
use crate::ports::command::{Commands, File};
use crate::ports::tool::{NotDone, Tool};
use countersign_kernel::gate::{Capability, Need, Reach, permit};
use countersign_kernel::measure::Measured;
use countersign_kernel::run::Outcome;
use countersign_record::canonical::Unwritable;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::id::RunId;
use countersign_record::json::{self, Json, Object};
use countersign_record::tool::{Effect, Needs};
use countersign_work::task::{self, Criterion, Task};
use countersign_work::texts::Head;
use serde::Serialize;
use std::collections::BTreeMap;
use tokio_util::sync::CancellationToken;

/// Characters of what a program says that are kept.
const SAID_CHARS_MAX: usize = 200;
/// Characters by which a line of the work is known again in what a program says, at least and at most.
const LINE_CHARS_MIN: usize = 3;
const LINE_CHARS_MAX: usize = 20;

/// Why a look ends whose command was cancelled.
pub(super) const CANCELLED: &str = "command_cancelled";

/// A command that was run, or was not.
#[derive(Serialize)]
struct Ran<'a> {
    criterion: &'a str,
    argv: &'a [String],
    /// The tool that it was given to, by name and definition.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<(String, Digest)>,
    /// What it found: hashes of texts, by their paths.
    files: &'a BTreeMap<String, Digest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<u64>,
    /// The first line that it said.
    #[serde(skip_serializing_if = "Option::is_none")]
    said: Option<String>,
    /// Why nothing was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

/// What a program came to.
struct Ended {
    exit_code: u64,
    stdout: String,
    stderr: String,
}

/// Commands that are run in a stage.
pub(super) struct Running<'a> {
    pub(super) commands: Option<&'a dyn Commands>,
    pub(super) run: &'a RunId,
    pub(super) cancel: &'a CancellationToken,
}

impl Running<'_> {
    /// Runs the commands of criteria, one after the other, on the work as it is.
    ///
    /// # Errors
    /// Somebody cancelled it.
    pub(super) async fn all(
        &self,
        task: &Task,
        criteria: &[&Criterion],
        heads: &[Head],
        looked: &mut Looked,
    ) -> Result<(), Outcome> {
        if criteria.is_empty() {
            return Ok(());
        }
        let tool = self.tool(heads).await;
        let hash = |head: &Head| (head.artifact.path.clone(), Digest::of(head.text.as_bytes()));
        let files: BTreeMap<String, Digest> = heads.iter().map(hash).collect();
        for criterion in criteria {
            let Some(argv) = criterion.command() else { continue };
            let ended = match &tool {
                Ok(tool) => self.one(task, argv, &**tool).await,
                Err(why) => Err(why.clone()),
            };
            let told = Ran {
                criterion: &criterion.id,
                argv,
                tool: tool.as_ref().ok().and_then(|tool| definition(&**tool)),
                files: &files,
                exit_code: ended.as_ref().ok().map(|ended| ended.exit_code),
                said: ended
                    .as_ref()
                    .ok()
                    .and_then(|ended| line(&ended.stderr).or_else(|| line(&ended.stdout))),
                refused: ended.as_ref().err().map(|why| plain(&why.to_string())),
            };
            looked.ran.push(
                json::value_of(&told)
                    .map_err(|error: Unwritable| Outcome::escalate("validation_fail", &error.to_string()))?,
            );
            if self.cancel.is_cancelled() {
                return Err(cancelled(looked));
            }
            match ended {
                Ok(ended) => {
                    drop(looked.seen.checks.insert(criterion.id.clone(), measured(criterion, &ended, heads)));
                }
                Err(why) => {
                    let why = format!("its command was not run to its end: {}", plain(&why.to_string()));
                    looked.seen.unseen.insert(criterion.id.clone(), why);
                }
            }
        }
        Ok(())
    }

    /// What runs programs, over the work and nothing else.
    async fn tool(&self, heads: &[Head]) -> Result<Box<dyn Tool>, NotDone> {
        let none = || NotDone::new(Code::ToolDenied, "no command is run here");
        let commands = self.commands.ok_or_else(none)?;
        let file = |head: &Head| File { path: head.artifact.path.clone(), text: head.text.clone() };
        commands.over(self.run, heads.iter().map(file).collect()).await
    }

    /// Runs a command that the task grants.
    async fn one(&self, task: &Task, argv: &[String], tool: &dyn Tool) -> Result<Ended, NotDone> {
        let denied = |why: String| NotDone::new(Code::ToolDenied, why);
        let commands = self.commands.ok_or_else(|| denied("no command is run here".to_owned()))?;
        let args = commands.arguments(argv)?;
        let plan = tool.plan(&args)?;
        let definition = tool.definition();
        let does_nothing =
            definition.effect == Effect::None && plan.writes.is_none() && plan.sends_to.is_none();
        if !does_nothing {
            return Err(denied("it would do more than look".to_owned()));
        }
        let need = match &definition.needs {
            Needs::Nothing => Need::Nothing,
            Needs::Capability(name) => {
                let needed = Capability::try_from(name.as_str());
                Need::Capability(needed.map_err(|why| denied(why.to_string()))?)
            }
            Needs::Host => return Err(denied("it would reach a network".to_owned())),
        };
        let reach = Reach { granted: task::granted(task), hosts: Some(Vec::new()) };
        let permitted = permit(args, &need, reach)
            .map_err(|needed| denied(format!("the task does not grant {needed}")))?;
        let done = tool.run(permitted, self.cancel).await?;
        let text = |name: &str| done.output.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
        let exit_code = match done.output.get("exit_code") {
            Some(Json::Number(number)) => number.as_u64(),
            Some(Json::Null | Json::Bool(_) | Json::String(_) | Json::Array(_) | Json::Object(_)) | None => {
                None
            }
        };
        let flooded = || NotDone::new(Code::ToolFailed, "it was ended because it said too much");
        Ok(Ended {
            exit_code: exit_code.ok_or_else(flooded)?,
            stdout: text("stdout"),
            stderr: text("stderr"),
        })
    }
}

/// What a look comes to that was cancelled, with what was run for it.
fn cancelled(looked: &Looked) -> Outcome {
    let message = "a command was cancelled before its end";
    let payload = Object::from([("message", Json::from(message)), (RAN, Json::Array(looked.ran.clone()))]);
    Outcome::Escalate { reason: CANCELLED.to_owned(), payload }
}

fn definition(tool: &dyn Tool) -> Option<(String, Digest)> {
    let definition = tool.definition();
    Some((definition.name.to_string(), definition.hash().ok()?))
}

/// What an exit code counts for. Findings stay when texts are erased, so no word of the work is among what is missing.
fn measured(criterion: &Criterion, ended: &Ended, heads: &[Head]) -> Measured {
    let wanted = criterion.check.as_ref().map_or(0, |test| test.exit());
    if ended.exit_code == wanted {
        return Measured { met: 1, of: 1, missing: Vec::new() };
    }
    let said = line(&ended.stderr).filter(|line| !is_of_the_work(line, heads));
    let said = said.map(|line| format!(": {line}")).unwrap_or_default();
    let missing = format!("exit code {wanted} (it is {}{said})", ended.exit_code);
    Measured { met: 0, of: 1, missing: vec![missing] }
}

/// Whether a line repeats the work, or a line of it.
fn is_of_the_work(line: &str, heads: &[Head]) -> bool {
    let repeats = |text: &str| {
        let own = text.lines().map(plain).filter(|own| own.chars().count() >= LINE_CHARS_MIN);
        let begins = |own: &str| own.chars().take(LINE_CHARS_MAX).collect::<String>();
        own.into_iter().any(|own| line.contains(&begins(&own)) || own.contains(line))
    };
    heads.iter().any(|head| repeats(&head.text))
}

/// The first line that says something, in plain characters.
fn line(said: &str) -> Option<String> {
    said.lines().map(plain).find(|line| !line.is_empty())
}

/// A text on one line, without anything that a terminal would act on.
fn plain(text: &str) -> String {
    let letter = |letter: char| match letter {
        letter if letter.is_alphanumeric() || letter.is_ascii_graphic() => letter,
        letter if letter.is_whitespace() => ' ',
        _unprintable => '?',
    };
    text.trim().chars().take(SAID_CHARS_MAX).map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_says_is_one_plain_line() {
        let long = "a".repeat(SAID_CHARS_MAX + 1);
        for (said, expected) in [
            ("", None),
            ("\n \n", None),
            ("\ngrep: memo.md: no\nmore", Some("grep: memo.md: no".to_owned())),
            ("a\u{1b}[31mb\u{202e}c\td", Some("a?[31mb?c d".to_owned())),
            (&long, Some("a".repeat(SAID_CHARS_MAX))),
        ] {
            assert_eq!(line(said), expected, "{said:?}");
        }
    }
}
