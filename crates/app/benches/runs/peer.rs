//! LangGraph in another process, which times itself.
//! Owns: talking to it. Must not: time it from outside; a pipe's delay is not its own.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

pub(crate) struct LangGraph {
    child: Child,
    asked: Option<ChildStdin>,
    said: BufReader<ChildStdout>,
}

impl LangGraph {
    /// Starts it, with its files in `dir` and so many runs at once.
    pub(crate) fn new(python: &str, dir: &Path, at_once: u64) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/runs/langgraph_peer.py");
        let mut child = Command::new(python)
            .arg(script)
            .arg(dir)
            .arg(at_once.to_string())
            // It would tell its makers of each run.
            .env("LANGSMITH_TRACING", "false")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python runs");
        let said = BufReader::new(child.stdout.take().unwrap());
        LangGraph { asked: child.stdin.take(), child, said }
    }

    /// How long so many runs took.
    pub(crate) fn took(&mut self, runs: u64) -> Duration {
        writeln!(self.asked.as_mut().unwrap(), "{runs}").unwrap();
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        Duration::from_secs_f64(line.trim().parse().expect("LangGraph answers"))
    }
}

impl Drop for LangGraph {
    fn drop(&mut self) {
        // At the end of what it is asked it removes its files and ends.
        drop(self.asked.take());
        drop(self.child.wait());
    }
}
