//! The tool `shell.exec`.
//! Owns: what becomes of a command line, step by step. Must not: use a shell.
//!
//! `split` makes words of it, `fence` refuses dangerous ones, `options` reads them by the rules of `programs` (and
//! `sed`) into the words that are run, `run` has them run by `held`.

mod exec;
mod fence;
mod options;
mod programs;
mod run;
mod sed;
mod split;

pub use exec::Exec;
pub(crate) use exec::rehearse;
pub(crate) use programs::{NAMES, find};

use countersign_record::code::Code;
use countersign_record::json::{Json, Object};
use countersign_runtime::ports::tool::NotDone;
use std::path::PathBuf;

/// A command that may be run, word by word as it will be.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Command {
    program: &'static str,
    args: Vec<String>,
}

impl Command {
    fn read(line: &str) -> Result<Self, NotDone> {
        let words = split::words(line)?;
        fence::check(&words)?;
        let Some((name, words)) = words.split_first() else {
            return Err(refusal("the command is empty"));
        };
        let Some(program) = programs::named(name) else {
            return Err(refusal(format!("this program may not be run; these may: {}", NAMES.join(", "))));
        };
        Ok(Command { program: program.name, args: options::read(program, words)? })
    }

    /// The program's file.
    fn file(&self) -> Result<PathBuf, NotDone> {
        find(self.program).ok_or_else(|| refusal(format!("{} is not installed", self.program)))
    }
}

/// The arguments of `shell.exec` for a command that is there word by word.
///
/// # Errors
/// It is none that may be run.
pub fn arguments(argv: &[String]) -> Result<Object, NotDone> {
    let line = shlex::try_join(argv.iter().map(String::as_str)).map_err(|_| refusal("a word has a NUL"))?;
    Command::read(&line)?;
    Ok(Object::from([("cmd", Json::from(line))]))
}

fn refusal(why: impl Into<String>) -> NotDone {
    NotDone::new(Code::ToolCommand, why)
}
