//! A test binary that starts itself again.
//! Owns: how a test asks for another process and hears from it. Must not: know what that process does.

use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// This test binary, started again to do one thing in a process of its own. The thing is a test function that
/// does nothing unless [`asked`] says so.
#[derive(Debug)]
pub struct Another {
    /// The process.
    pub child: Child,
    /// Its input.
    pub stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

const ASKED: &str = "COUNTERSIGN_TEST_CHILD";

/// What this process was started for, if it was started by [`command`].
#[must_use]
pub fn asked() -> Option<Vec<String>> {
    let text = std::env::var(ASKED).ok()?;
    Some(text.split('\n').map(str::to_owned).collect())
}

/// The command that runs `function` of this test binary with `arguments`.
#[must_use]
pub fn command(program: &Path, function: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args([function, "--exact", "--nocapture", "--test-threads=1"]).env(ASKED, arguments.join("\n"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

impl Another {
    /// Runs a test function of this binary.
    pub fn start(function: &str, arguments: &[&str]) -> Self {
        Another::spawn(&mut command(
            &std::env::current_exe().expect("a test binary has a path"),
            function,
            arguments,
        ))
    }

    /// Runs a command of [`command`].
    pub fn spawn(command: &mut Command) -> Self {
        let mut child = command.spawn().expect("the test binary can be started");
        let lines = BufReader::new(child.stdout.take().expect("its output is a pipe")).lines();
        Another { stdin: child.stdin.take(), child, lines }
    }

    /// The next line that the child said, without what the test harness says. `None` at the end.
    pub fn line(&mut self) -> Option<String> {
        loop {
            let line = self.lines.next()?.expect("the child writes text");
            // The harness writes the test's name without a line end before the child's first word.
            if let Some((_, said)) = line.split_once(SAYS) {
                return Some(said.to_owned());
            }
        }
    }

    /// Ends the child's input and waits for its end.
    pub fn finish(mut self) -> Vec<String> {
        drop(self.stdin.take());
        let said = std::iter::from_fn(|| self.line()).collect();
        assert!(self.child.wait().expect("the child can be waited for").success(), "the child failed");
        said
    }
}

impl Drop for Another {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

const SAYS: &str = "child says: ";

/// Says a line to the parent, past every buffer.
pub fn say(line: &str) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{SAYS}{line}\n").as_bytes()).expect("the parent listens");
    out.flush().expect("the parent listens");
}
