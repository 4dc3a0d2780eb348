//! `countersign chat`: a session at a terminal, or piped.
//! Owns: reading what is said, showing what comes, the commands that begin with a slash. Must not: permit anything by
//! itself.

mod person;
mod screen;
mod slash;

use crate::cli::Global;
use crate::cli::session::{Chat, Class};
use crate::failure::{Exit, Failure};
use crate::office::{Desk, Rooms};
use crate::output;
use countersign_record::code::Code;
use countersign_record::deed::Outcome;
use countersign_record::id::SessionName;
use countersign_record::row::DataClass;
use countersign_runtime::ports::session::Person;
use countersign_runtime::session::{Said, Session, Turned};
use countersign_store::sessions::Kept;
use person::{Editor, Terminal};
use screen::{Look, Pane};
use slash::Slash;
use std::io::{BufRead, IsTerminal};
use std::sync::Arc;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::Receiver;
use tokio_util::sync::CancellationToken;

/// What may be said at once.
const SAID_BYTES_MAX: usize = 1024 * 1024;

/// A chat while it is open.
pub(super) struct Talk {
    global: Global,
    desk: Desk,
    name: SessionName,
    kept: Kept,
    class: Option<DataClass>,
    look: Look,
    /// Ctrl-C: none is lost between two turns.
    interrupts: Signal,
    /// The session, as the last turn left it. Nobody else goes on with it meanwhile.
    session: Option<Session>,
    /// What opening it had to say, for the first document.
    notes: Vec<String>,
}

/// What one thing that was said came to.
enum Went {
    /// On.
    On,
    /// To the end.
    Exit,
}

pub(super) async fn run(global: &Global, chat: &Chat) -> Result<Exit, Failure> {
    if chat.message.as_ref().is_some_and(|message| message.trim().is_empty()) {
        return Err(Failure::new(Code::UsageInvalid, "--message says nothing"));
    }
    // A program that reads documents is asked nothing, wherever it stands.
    let is_terminal = !global.json
        && chat.message.is_none()
        && std::io::stdin().is_terminal()
        && std::io::stdout().is_terminal();
    let editor = is_terminal.then(|| Editor::new(&Rooms::of(global)?)).transpose()?.map(Arc::new);
    let person: Arc<dyn Person> = match &editor {
        Some(editor) => Arc::new(Terminal::new(Arc::clone(editor))),
        None => Arc::new(super::session::Nobody),
    };
    let desk = Desk::new(global, &chat.working, person)?;
    let name = SessionName::try_from(chat.session.as_str())?;
    let kept = desk.take(&name)?;
    let look = match (global.json, is_terminal) {
        (true, _) => Look::Json,
        (false, true) => Look::Terminal,
        (false, false) => Look::Piped,
    };
    let class = chat.class.map(|class| match class {
        Class::Public => DataClass::Public,
        Class::Internal => DataClass::Internal,
        Class::Privileged => DataClass::Privileged,
        Class::LocalOnly => DataClass::LocalOnly,
    });
    let (session, notes, interrupts) = (None, Vec::new(), interrupts()?);
    let mut talk = Talk { global: global.clone(), desk, name, kept, class, look, interrupts, session, notes };
    talk.greet(chat).await?;
    match (&chat.message, editor) {
        (Some(message), _) => {
            if message.len() > SAID_BYTES_MAX {
                return Err(Failure::new(Code::JsonTooLong, "--message has more than 1 MiB"));
            }
            let turned = talk.say(message).await?;
            Ok(talk.exit(&[turned]))
        }
        (None, Some(editor)) => talk.at_terminal(&editor).await,
        (None, None) => talk.piped().await,
    }
}

impl Talk {
    /// Says where one is, and what a crash left.
    async fn greet(&mut self, chat: &Chat) -> Result<(), Failure> {
        let (session, recovered) = self.desk.session(&self.name, &self.kept).await?;
        let mut pane = Pane::new(self.look);
        if self.look == Look::Json {
            self.notes.clone_from(&recovered.notes);
        }
        if self.look == Look::Terminal {
            let turn = session.past().turn;
            output::line(&format!("{}  {}  turn {turn}  (/help, /exit)", self.name, chat.working.model))?;
        }
        recovered.notes.iter().for_each(|note| pane.tell(note));
        for open in &recovered.unsettled {
            pane.tell(&format!(
                "nobody saw the end of {} ({}): {}. Look, and say what you found: countersign session settle {} --call {} --found …",
                open.call, open.tool, open.summary, self.name, open.call
            ));
        }
        match recovered.unsettled.is_empty() {
            true => {
                self.session = Some(session);
                Ok(())
            }
            false => {
                Err(Failure::new(Code::SessionUnsettled, "a call must be settled before the session goes on")
                    .with(
                        "calls",
                        recovered
                            .unsettled
                            .iter()
                            .map(|open| open.call.as_str())
                            .collect::<Vec<_>>()
                            .join(", "),
                    ))
            }
        }
    }

    async fn at_terminal(&mut self, editor: &Arc<Editor>) -> Result<Exit, Failure> {
        loop {
            let Some(line) = editor.line("› ").await? else { return Ok(Exit::Success) };
            // What was meant for the turn before is not for this one.
            self.interrupts = interrupts()?;
            match self.heard(&line).await {
                Ok((Went::On, _)) => {}
                Ok((Went::Exit, _)) => return Ok(Exit::Success),
                // One thing went wrong; the session is still there.
                Err(failure) => Pane::new(self.look).tell(&format!("{}: {}", failure.code, failure.message)),
            }
        }
    }

    async fn piped(&mut self) -> Result<Exit, Failure> {
        let mut turns = Vec::new();
        let mut lines = lines()?;
        loop {
            let line = tokio::select! {
                biased;
                // Whoever waits for nothing more is not kept waiting for the end of the input.
                _ = self.interrupts.recv() => return Ok(Exit::Limited),
                line = lines.recv() => line.transpose()?,
            };
            let Some(line) = line else { return Ok(self.exit(&turns)) };
            let (went, turned) = self.heard(&line).await?;
            let is_cancelled = turned.as_ref().is_some_and(|turned| turned.outcome == Outcome::Cancelled);
            turns.extend(turned);
            match went {
                Went::On if !is_cancelled => {}
                Went::On | Went::Exit => return Ok(self.exit(&turns)),
            }
        }
    }

    async fn heard(&mut self, line: &str) -> Result<(Went, Option<Turned>), Failure> {
        match Slash::read(line) {
            None if line.trim().is_empty() => Ok((Went::On, None)),
            // A line of a file may well begin with a path.
            Some(Slash::Unknown(_)) if self.look != Look::Terminal => {
                self.say(line).await.map(|turned| (Went::On, Some(turned)))
            }
            None => self.say(line).await.map(|turned| (Went::On, Some(turned))),
            Some(Slash::Exit) => Ok((Went::Exit, None)),
            Some(slash) => self.command(slash).await.map(|()| (Went::On, None)),
        }
    }

    /// The session, opened again if a turn of it broke off.
    async fn opened(&mut self) -> Result<&mut Session, Failure> {
        let session = self.taken().await?;
        Ok(self.session.insert(session))
    }

    /// The same, to be put back when what is done with it is over: what broke off is opened again, as after a crash.
    async fn taken(&mut self) -> Result<Session, Failure> {
        match self.session.take() {
            Some(session) => Ok(session),
            None => {
                let (session, recovered) = self.desk.session(&self.name, &self.kept).await?;
                self.notes.extend(recovered.notes);
                Ok(session)
            }
        }
    }

    /// Takes one turn.
    async fn say(&mut self, text: &str) -> Result<Turned, Failure> {
        let mut session = self.taken().await?;
        // What the last turn was is known by its rows.
        session.catch_up().await?;
        let mut pane = Pane::new(self.look);
        self.notes.drain(..).for_each(|note| pane.tell(&note));
        let (trace_name, mut trace) = self.desk.traces().begin(&self.name, session.past().turn + 1);
        let cancel = CancellationToken::new();
        let turned = {
            let said = Said {
                text,
                data_class: self.class,
                screen: &mut pane,
                trace: &mut trace,
                trace_name: trace_name.clone(),
                cancel: &cancel,
            };
            let turning = session.turn(said);
            tokio::pin!(turning);
            loop {
                tokio::select! {
                    turned = &mut turning => break turned,
                    _ = self.interrupts.recv() => cancel.cancel(),
                }
            }
        }?;
        pane.ended(&self.name, &turned, &trace_name)?;
        self.session = Some(session);
        Ok(turned)
    }

    /// What the turns came to: what waits for a person, else what failed.
    fn exit(&self, turns: &[Turned]) -> Exit {
        // What would only have needed a person's word has not failed.
        let is_unconfirmed = |turned: &Turned| {
            turned.failure.as_ref().is_some_and(|failure| failure.code == Code::LeavingUnconfirmed)
        };
        let has_failed = |turned: &Turned| match turned.outcome {
            Outcome::Failed => !is_unconfirmed(turned),
            Outcome::Cancelled | Outcome::Bounded => true,
            Outcome::Completed | Outcome::Interrupted => false,
        };
        match () {
            () if turns.iter().any(has_failed) => Exit::Limited,
            () if turns.iter().any(|turned| turned.waiting > 0 || is_unconfirmed(turned)) => Exit::Waiting,
            () => Exit::Success,
        }
    }
}

fn interrupts() -> Result<Signal, Failure> {
    signal(SignalKind::interrupt()).map_err(|error| Failure::file("the terminal's signals", &error))
}

/// The lines of standard input. A thread of its own reads them: one that waits for a line holds up no end.
fn lines() -> Result<Receiver<Result<String, Failure>>, Failure> {
    let (sender, lines) = tokio::sync::mpsc::channel(1);
    let reading = move || {
        while let Some(line) = next_line().transpose() {
            let is_last = line.is_err();
            if sender.blocking_send(line).is_err() || is_last {
                return;
            }
        }
    };
    match std::thread::Builder::new().name("input".to_owned()).spawn(reading) {
        Ok(_) => Ok(lines),
        Err(error) => Err(Failure::file("standard input", &error)),
    }
}

fn next_line() -> Result<Option<String>, Failure> {
    let mut line = Vec::new();
    // What is said, the end of the line, and a byte that shows that there is more.
    let mut input = std::io::Read::take(std::io::stdin().lock(), SAID_BYTES_MAX as u64 + 3);
    let read = input.read_until(b'\n', &mut line).map_err(|error| Failure::file("standard input", &error))?;
    let text = String::from_utf8(line);
    let is_cut = |bytes: &[u8]| bytes.len() > SAID_BYTES_MAX + 2;
    let text = match text {
        Ok(text) => text,
        // The end may lie within a letter.
        Err(error) if is_cut(error.as_bytes()) => return Err(too_long()),
        Err(_) => return Err(Failure::new(Code::JsonNotUtf8, "standard input: a line is no text")),
    };
    let said = text.strip_suffix('\n').unwrap_or(&text);
    let said = said.strip_suffix('\r').unwrap_or(said);
    match said.len() {
        0..=SAID_BYTES_MAX => Ok((read > 0).then(|| said.to_owned())),
        _ => Err(too_long()),
    }
}

fn too_long() -> Failure {
    Failure::new(Code::JsonTooLong, "standard input: a line has more than 1 MiB")
}
