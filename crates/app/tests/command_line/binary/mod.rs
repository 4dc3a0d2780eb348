//! The binary, run as a user runs it, each test in a directory of its own.
//! Owns: starting it, feeding it, and what every answer must keep to. Must not: know what a command does.

use countersign_testkit::scratch::Scratch;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// The binary.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_countersign");
/// Where the tests' data directory is, in the directory of the test.
pub(crate) const DATA: &str = "data";
/// A clock and names that give the same bytes in every run.
pub(crate) const FIXED: [&str; 4] = ["--now", "2025-12-10T10:00:00Z", "--seed", "7"];

/// The binary where anybody reaches it: a checkout may stand below a directory that is its owner's alone.
pub(crate) struct Reachable(Scratch);

impl Reachable {
    pub(crate) fn new() -> Self {
        let scratch = Scratch::new();
        std::fs::copy(BINARY, scratch.path().join("countersign")).unwrap();
        Reachable(scratch)
    }
}

/// A directory to work in.
pub(crate) struct Work(Scratch);

impl Work {
    pub(crate) fn new() -> Self {
        Work(Scratch::new())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    /// The database of a matter.
    pub(crate) fn database(&self, matter: &str) -> PathBuf {
        self.path(DATA).join("matters").join(matter).join("ledger.sqlite")
    }

    /// A command that is not started yet; nothing of the tester's own environment reaches it.
    pub(crate) fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.0.path())
            .env("COUNTERSIGN_DATA", DATA)
            .env_remove("RUST_BACKTRACE");
        for name in ["COUNTERSIGN_MATTER", "COUNTERSIGN_STORE", "COUNTERSIGN_AS"] {
            command.env_remove(name);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// The command as somebody who may not write what root made.
    pub(crate) fn as_nobody(&self, reachable: &Reachable, args: &[&str]) -> Command {
        let mut command = self.command(reachable.0.path().join("countersign").to_str().unwrap(), args);
        if std::fs::metadata(self.path(".")).is_ok_and(|about| about.uid() == 0) {
            command.uid(65_534).gid(65_534);
        }
        command
    }

    /// Runs the binary without input.
    pub(crate) fn run(&self, args: &[&str]) -> Done {
        Done::new(args, self.command(BINARY, args).output().unwrap())
    }

    /// Runs the binary with `input` on standard input.
    pub(crate) fn feed(&self, args: &[&str], input: impl AsRef<[u8]>) -> Done {
        let input = input.as_ref().to_vec();
        let mut child = self.command(BINARY, args).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // The child may end before it has read everything; what it says then is what the test looks at.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        Done::new(args, output)
    }

    /// Appends rows that are good, and gives back their acknowledgements.
    pub(crate) fn append(&self, rows: &str) -> Vec<Value> {
        let args = [&["ledger", "append", "-", "--json"], &FIXED[..]].concat();
        self.feed(&args, rows).good().lines()
    }

    /// Whether any file under `dir` holds `needle`.
    pub(crate) fn holds(&self, dir: &str, needle: &[u8]) -> bool {
        files(&self.path(dir)).iter().any(|file| {
            let bytes = std::fs::read(file).unwrap();
            bytes.windows(needle.len()).any(|window| window == needle)
        })
    }
}

/// Every file under a directory, sorted.
pub(crate) fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(dir).map(|entries| entries.map(|entry| entry.unwrap().path()).collect());
    for path in entries.unwrap_or_else(|_| Vec::new()) {
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// The files of a directory with their bytes, by their names in it.
pub(crate) fn contents(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let named = |file: PathBuf| (file.strip_prefix(dir).unwrap().to_owned(), std::fs::read(&file).unwrap());
    files(dir).into_iter().map(named).collect()
}

/// A run that has ended.
#[derive(Clone)]
pub(crate) struct Done {
    pub(crate) args: String,
    pub(crate) exit: Option<i32>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) err: String,
}

impl Done {
    pub(crate) fn new(args: &[&str], output: Output) -> Self {
        let shown = |arg: &&str| arg.chars().take(80).collect::<String>();
        Done {
            args: args.iter().map(shown).collect::<Vec<_>>().join(" "),
            exit: output.status.code(),
            bytes: output.stdout,
            err: String::from_utf8(output.stderr).expect("standard error is text"),
        }
    }

    /// Standard output as text.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes).expect("standard output is text")
    }

    /// It ended with this exit code and without an error.
    pub(crate) fn exits(self, exit: i32) -> Self {
        assert_eq!((self.exit, self.err.as_str()), (Some(exit), ""), "{}: {}", self.args, self.text());
        self
    }

    /// It ended well.
    pub(crate) fn good(self) -> Self {
        self.exits(0)
    }

    /// Every line of standard output is one JSON document.
    pub(crate) fn lines(&self) -> Vec<Value> {
        let text = self.text();
        assert!(text.is_empty() || text.ends_with('\n'), "{}: the last line has no end", self.args);
        text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
    }

    /// Standard output is one JSON document on one line.
    pub(crate) fn json(&self) -> Value {
        let mut lines = self.lines();
        assert_eq!(lines.len(), 1, "{}: {}", self.args, self.text());
        lines.remove(0)
    }

    /// It ended with one JSON error of this exit code and code; gives back the error.
    pub(crate) fn refused(&self, exit: i32, code: &str) -> Refusal {
        let place =
            format!("{}: {} {}", self.args, self.err.chars().take(600).collect::<String>(), self.text());
        assert_eq!(self.exit, Some(exit), "{place}");
        assert_eq!(self.err.matches('\n').count(), 1, "one line: {place}");
        assert!(self.err.ends_with('\n'), "{place}");
        let form: Value = serde_json::from_str(&self.err).expect("the error is JSON");
        let names = |value: &Value| value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&form), ["error"], "{place}");
        assert_eq!(names(&form["error"]), ["code", "details", "message"], "{place}");
        assert_eq!(form["error"]["code"], code, "{place}");
        let message = form["error"]["message"].as_str().expect("a message").to_owned();
        assert!(!message.is_empty() && message.chars().count() <= 301, "{place}");
        assert!(form["error"]["details"].is_object(), "{place}");
        Refusal { message, details: form["error"]["details"].clone() }
    }

    /// As [`Done::refused`], and nothing was printed.
    pub(crate) fn refused_silently(&self, exit: i32, code: &str) -> Refusal {
        assert_eq!(self.text(), "", "{}", self.args);
        self.refused(exit, code)
    }
}

/// What an error says besides its code.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) message: String,
    pub(crate) details: Value,
}

/// A run that goes on: lines go in and come out one at a time.
pub(crate) struct Running {
    child: Child,
    out: BufReader<std::process::ChildStdout>,
}

impl Running {
    pub(crate) fn start(work: &Work, args: &[&str]) -> Self {
        let mut child = work.command(BINARY, args).stdin(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Running { child, out }
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Writes a line.
    pub(crate) fn send(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// Waits for a line of standard output.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.out.read_line(&mut line).unwrap() > 0, "there is no further line");
        line
    }

    /// Ends it with SIGKILL.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Closes its input and waits for its end.
    pub(crate) fn finish(mut self) -> Done {
        drop(self.child.stdin.take());
        self.ended()
    }

    /// Waits for its end; its input stays open.
    pub(crate) fn ended(mut self) -> Done {
        let input = self.child.stdin.take();
        let mut bytes = Vec::new();
        self.out.read_to_end(&mut bytes).unwrap();
        let output = self.child.wait_with_output().unwrap();
        drop(input);
        Done::new(&[], Output { stdout: bytes, ..output })
    }
}
