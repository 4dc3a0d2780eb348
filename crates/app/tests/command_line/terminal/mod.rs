//! The binary at a real terminal: a pseudo terminal of the kernel, and a screen that shows what came.
//! Owns: typing, and waiting for what is seen. Must not: wait for time to pass.

use crate::binary::{BINARY, Work};
use crate::talks::PATIENCE;
use pty_process::Size;
use pty_process::blocking::{Command, Pty, open};
use std::io::{Read, Write};
use std::process::Child;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

/// More than any test prints: nothing leaves the screen.
const ROWS: u16 = 400;

pub(crate) struct Terminal {
    pty: Arc<Pty>,
    child: Child,
    coming: Receiver<Vec<u8>>,
    screen: vt100::Parser,
    /// Every byte that came.
    pub(crate) raw: Vec<u8>,
    /// Up to where of the screen's text the test has looked.
    mark: usize,
}

impl Terminal {
    pub(crate) fn start(work: &Work, columns: u16, args: &[&str]) -> Self {
        Terminal::with(work, columns, args, &[])
    }

    pub(crate) fn with(work: &Work, columns: u16, args: &[&str], environment: &[(&str, &str)]) -> Self {
        let (pty, pts) = open().unwrap();
        pty.resize(Size::new(ROWS, columns)).unwrap();
        let mut command = work.command(BINARY, args);
        command.env("TERM", "xterm-256color").env_remove("NO_COLOR").envs(environment.iter().copied());
        let child = Command::from(command).spawn(pts).unwrap();
        let pty = Arc::new(pty);
        let (sender, coming) = channel();
        let reading = Arc::clone(&pty);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // The kernel says EIO when nobody is on the other side any more.
            while let Ok(count @ 1..) = (&*reading).read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        let screen = vt100::Parser::new(ROWS, columns, 0);
        Terminal { pty, child, coming, screen, raw: Vec::new(), mark: 0 }
    }

    /// All that is on the screen.
    pub(crate) fn text(&self) -> String {
        self.screen.screen().contents()
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Types keys.
    pub(crate) fn types(&self, keys: &str) {
        (&*self.pty).write_all(keys.as_bytes()).unwrap();
    }

    /// Types a line.
    pub(crate) fn says(&self, line: &str) {
        self.types(&format!("{line}\r"));
    }

    /// Waits until a text stands behind what was looked at last; gives what came before it.
    pub(crate) fn sees(&mut self, text: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let shown = self.text();
            let rest = shown.get(self.mark..).unwrap_or_default();
            if let Some(at) = rest.find(text) {
                self.mark += at + text.len();
                return rest[..at].to_owned();
            }
            self.reads(deadline, text, rest);
        }
    }

    /// Waits for the prompt.
    pub(crate) fn prompted(&mut self) -> String {
        self.sees("›")
    }

    fn reads(&mut self, deadline: Instant, waited: &str, rest: &str) {
        let left = deadline.saturating_duration_since(Instant::now());
        match self.coming.recv_timeout(left) {
            Ok(bytes) => {
                self.screen.process(&bytes);
                self.raw.extend(bytes);
            }
            Err(why) => {
                panic!("{waited:?} did not come ({why}); behind the mark:\n{rest}\nall:\n{}", self.text())
            }
        }
    }

    /// Waits for its end; gives the exit code.
    pub(crate) fn ends(&mut self) -> Option<i32> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.coming.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(bytes) => {
                    self.screen.process(&bytes);
                    self.raw.extend(bytes);
                }
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
                Err(why) => panic!("it did not end ({why}):\n{}", self.text()),
            }
        }
        self.child.wait().unwrap().code()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A test that failed leaves it running.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
