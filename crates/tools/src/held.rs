//! Runs one program in a process that can do nothing else.
//! Owns: the order in which a fresh process gives up what it may do, and the words between it and its parent. Must not:
//! run anything before all of it is given up.
//!
//! A process can't be confined between fork and exec without `unsafe`, so it is this program that is started anew, as
//! `__held`, confines itself and becomes the other program.

mod calls;
mod files;
mod limits;
mod spaces;

pub(crate) use calls::is_known as knows_calls;
pub(crate) use files::abi as landlock_abi;
pub(crate) use spaces::Spaces;

use rustix::process::{Pid, Signal};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The hidden subcommand.
pub const SUBCOMMAND: &str = "__held";
/// What a program finds in its environment, and nothing else.
const ENVIRONMENT: [(&str, &str); 2] = [("LC_ALL", "C.UTF-8"), ("PATH", "/usr/bin:/bin")];
/// What is reported when everything is given up. Without one of them the parent believes nothing.
pub(crate) const REPORTS: [(&str, Spaces); 2] = [("held\n", Spaces::Shared), ("held apart\n", Spaces::Own)];
/// The exit code where the program was not started. The parent goes by the report.
const NOT_STARTED: u8 = 125;

/// Why a program was not started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("the launcher was called wrongly")]
    Usage,
    #[error("the one who asked is gone")]
    Orphaned,
    #[error("/dev/null can't be opened: {0}")]
    Null(std::io::Error),
    #[error("{what}: {errno}")]
    Refused { what: &'static str, errno: rustix::io::Errno },
    #[error("Landlock: {0}")]
    Landlock(#[from] landlock::RulesetError),
    #[error("Landlock: {0}")]
    LandlockPath(#[from] landlock::PathFdError),
    #[error("Landlock holds only a part of the files")]
    LandlockPartly,
    #[error("seccomp: {0}")]
    Seccomp(#[from] seccompiler::Error),
    #[error("the program can't be started: {0}")]
    Exec(std::io::Error),
}

/// Names what was refused.
pub(crate) fn refused(what: &'static str) -> impl Fn(rustix::io::Errno) -> Error {
    move |errno| Error::Refused { what, errno }
}

/// What is asked of the fresh process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) cpu_s: u64,
    pub(crate) parent: i32,
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<OsString>,
}

impl Order {
    /// The words after the launcher's name.
    pub(crate) fn words(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec![SUBCOMMAND.into()];
        words.extend([self.cpu_s.to_string().into(), self.parent.to_string().into()]);
        words.push(self.program.clone().into_os_string());
        words.extend(self.args.iter().cloned());
        words
    }

    fn read(mut words: impl Iterator<Item = OsString>) -> Option<Self> {
        let cpu_s = number(&words.next()?)?;
        let parent = i32::try_from(number(&words.next()?)?).ok()?;
        let program = PathBuf::from(words.next()?);
        program.is_absolute().then(|| Order { cpu_s, parent, program, args: words.collect() })
    }
}

fn number(word: &OsStr) -> Option<u64> {
    word.to_str()?.parse().ok()
}

/// What `main` asks first, with its arguments: gives nothing if this process is not one that was started to hold a
/// program. Else it becomes that program, in the working directory, and returns only where it can't.
///
/// The standard input is where it reports that it is held, and what went wrong; the program's own is empty.
#[must_use]
pub fn entered(args: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut args = args.into_iter().skip(1);
    if args.next().as_deref() != Some(OsStr::new(SUBCOMMAND)) {
        return None;
    }
    // It closes as the program starts.
    if let Ok(report) = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3) {
        let mut report = File::from(report);
        let error = Order::read(args).map_or(Error::Usage, |order| become_held(&order, &mut report));
        drop(write!(report, "{error}"));
    }
    Some(ExitCode::from(NOT_STARTED))
}

/// Gives up everything and becomes the program. Comes back only with what went wrong.
fn become_held(order: &Order, report: &mut File) -> Error {
    let spaces = match confine(order) {
        Ok(spaces) => spaces,
        Err(error) => return error,
    };
    for (words, _) in REPORTS.into_iter().filter(|(_, reported)| *reported == spaces) {
        if let Err(error) = report.write_all(words.as_bytes()) {
            return Error::Exec(error);
        }
    }
    let name = order.program.file_name().unwrap_or_default();
    let mut command = Command::new(&order.program);
    command.arg0(name).args(&order.args).env_clear().envs(ENVIRONMENT);
    Error::Exec(command.exec())
}

fn confine(order: &Order) -> Result<Spaces, Error> {
    // First, because it gives rights (in a space where they reach nothing) and forgets what was asked of the kernel.
    let spaces = spaces::leave();
    let null = File::open("/dev/null").map_err(Error::Null)?;
    rustix::stdio::dup2_stdin(&null).map_err(refused("an empty standard input"))?;
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(refused("the parent's end"))?;
    // The parent may have ended before that.
    if rustix::process::getppid().map(Pid::as_raw_pid) != Some(order.parent) {
        return Err(Error::Orphaned);
    }
    limits::apply(order.cpu_s)?;
    rustix::thread::set_no_new_privs(true).map_err(refused("no new privileges"))?;
    limits::drop_capabilities()?;
    files::apply(Path::new("."), &order.program)?;
    calls::apply()?;
    Ok(spaces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_survives_its_words() {
        let order = Order {
            cpu_s: 7,
            parent: 42,
            program: "/usr/bin/cat".into(),
            args: vec!["--".into(), "a b".into(), "__held".into()],
        };
        let words = order.words();
        assert_eq!(words[0], SUBCOMMAND);
        assert_eq!(Order::read(words.into_iter().skip(1)), Some(order));
    }

    #[test]
    fn another_call_is_none_of_its_business() {
        assert!(entered(["countersign".into(), "doctor".into()]).is_none());
        assert!(entered(["countersign".into()]).is_none());
        for words in
            [&["1"][..], &["x", "1", "/bin/cat"], &["1", "1", "cat"], &["1", "99999999999", "/bin/cat"]]
        {
            assert_eq!(Order::read(words.iter().map(OsString::from)), None, "{words:?}");
        }
    }
}
