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
use countersign_runtime::session::{Said, Turned};
use countersign_store::sessions::Kept;
use person::{Editor, Terminal};
use screen::{Look, Pane};
use slash::Slash;
use std::io::{BufRead, IsTerminal};
use std::sync::Arc;
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
}

/// What one thing that was said came to.
enum Went {
    /// On.
    On,
    /// To the end.
    Exit,
}

pub(super) async fn run(global: &Global, chat: &Chat) -> Result<Exit, Failure> {
    let is_terminal =
        std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && chat.message.is_none();
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
    let mut talk = Talk { global: global.clone(), desk, name, kept, class, look };
    talk.greet(chat).await?;
    match (&chat.message, editor) {
        (Some(message), _) => {
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
            true => Ok(()),
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
        loop {
            let line = tokio::task::spawn_blocking(next_line).await;
            let line = line.map_err(|error| Failure::new(Code::FileUnreadable, error.to_string()))??;
            let Some(line) = line else { return Ok(self.exit(&turns)) };
            let (went, turned) = self.heard(&line).await?;
            turns.extend(turned);
            match went {
                Went::On => {}
                Went::Exit => return Ok(self.exit(&turns)),
            }
        }
    }

    async fn heard(&mut self, line: &str) -> Result<(Went, Option<Turned>), Failure> {
        match Slash::read(line) {
            None if line.trim().is_empty() => Ok((Went::On, None)),
            None => self.say(line).await.map(|turned| (Went::On, Some(turned))),
            Some(Slash::Exit) => Ok((Went::Exit, None)),
            Some(slash) => self.command(slash).await.map(|()| (Went::On, None)),
        }
    }

    /// Takes one turn. The ledger is given back after it: between turns others may decide.
    async fn say(&mut self, text: &str) -> Result<Turned, Failure> {
        let (mut session, recovered) = self.desk.session(&self.name, &self.kept).await?;
        let mut pane = Pane::new(self.look);
        recovered.notes.iter().for_each(|note| pane.tell(note));
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
                    _ = tokio::signal::ctrl_c() => cancel.cancel(),
                }
            }
        }?;
        pane.ended(&self.name, &turned, &trace_name)?;
        Ok(turned)
    }

    /// What the turns came to: the last failure, else what waits for a person.
    fn exit(&self, turns: &[Turned]) -> Exit {
        let has_failed = |turned: &Turned| {
            matches!(turned.outcome, Outcome::Failed | Outcome::Cancelled | Outcome::Bounded)
        };
        match () {
            () if turns.iter().any(has_failed) => Exit::Limited,
            () if turns.iter().any(|turned| turned.waiting > 0) => Exit::Waiting,
            () => Exit::Success,
        }
    }
}

fn next_line() -> Result<Option<String>, Failure> {
    let mut line = Vec::new();
    let mut input = std::io::Read::take(std::io::stdin().lock(), SAID_BYTES_MAX as u64 + 1);
    let read = input.read_until(b'\n', &mut line).map_err(|error| Failure::file("standard input", &error))?;
    if line.len() > SAID_BYTES_MAX {
        return Err(Failure::new(Code::JsonTooLong, "a line has more than 1 MiB"));
    }
    let text = String::from_utf8(line)
        .map_err(|_| Failure::new(Code::JsonNotUtf8, "standard input: a line is no text"))?;
    Ok((read > 0).then(|| text.trim_end_matches(['\n', '\r']).to_owned()))
}
