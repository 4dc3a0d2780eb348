//! What is said to the chat and not to the model.
//! Owns: the commands that begin with a slash. Must not: take a turn.

use super::Talk;
use super::screen::Look;
use crate::command::capability::{self, Decided};
use crate::failure::Failure;
use crate::output;
use countersign_kernel::gate::Capability;
use countersign_record::code::Code;
use countersign_runtime::session::{GrantFor, Recovered};
use serde::Serialize;

/// How much of a word that is no command is shown, in characters.
const WORD_CHARS_MAX: usize = 40;

#[derive(Serialize)]
struct Helped {
    help: &'static str,
}

/// A command of the chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Slash {
    /// What there is.
    Help,
    /// The tools.
    Tools,
    /// Grants something to this session.
    Grant(String),
    /// Takes something back.
    Revoke(String),
    /// What is known, granted and asked for.
    State,
    /// Takes the last turn back.
    Undo,
    /// Ends the chat.
    Exit,
    /// None that is known.
    Unknown(String),
}

const HELP: &str = "\
/help           this list
/tools          the tools, and what each needs
/grant CAP      grant something for this session: fs:write, shell, net:example.org
/revoke CAP     take a grant back
/state          what the session knows, what is granted and what waits
/undo           take back what the last turn said; what it did stands
/exit           end the chat; the session is kept
Ctrl-C          cancels the turn, not the session";

impl Slash {
    /// Reads a line; `None` if it is for the model.
    pub(super) fn read(line: &str) -> Option<Self> {
        let rest = line.trim().strip_prefix('/')?;
        let (word, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let argument = argument.trim().to_owned();
        Some(match word {
            "help" | "?" => Slash::Help,
            "tools" => Slash::Tools,
            "grant" => Slash::Grant(argument),
            "revoke" => Slash::Revoke(argument),
            "state" => Slash::State,
            "undo" => Slash::Undo,
            "exit" | "quit" => Slash::Exit,
            _ => Slash::Unknown(word.to_owned()),
        })
    }
}

fn named(text: &str) -> Result<Capability, Failure> {
    if text.is_empty() {
        return Err(Failure::new(Code::UsageInvalid, "say which: fs:write, shell, net:example.org"));
    }
    capability::read(text)
}

impl Talk {
    pub(super) async fn command(&mut self, slash: Slash) -> Result<(), Failure> {
        // Whatever is piped in may have been written by anybody; only a person at the terminal decides.
        if self.look != Look::Terminal && matches!(slash, Slash::Grant(_) | Slash::Revoke(_) | Slash::Undo) {
            let message = "/grant, /revoke and /undo are for a person at a terminal; see countersign capability and session";
            return Err(Failure::new(Code::UsageInvalid, message));
        }
        match slash {
            Slash::Help => self.answer(HELP, &Helped { help: HELP }),
            Slash::Tools => crate::command::session::show_tools(&self.global, &self.desk).map(drop),
            Slash::Grant(text) => {
                let capability = named(&text)?;
                let session = self.opened().await?;
                let acting = session.office().access.principal().clone();
                let wanted = GrantFor { capability, acting, arguments: None, seconds: None };
                let grant = session.grant(wanted).await?;
                self.answer(&format!("{} is granted until {}", grant.capability, grant.expires_at), &grant)
            }
            Slash::Revoke(text) => {
                let capability = named(&text)?;
                let session = self.opened().await?;
                session.revoke(&capability, None).await?;
                let decided = Decided { capability: capability.as_str(), decision: "revoked" };
                self.answer(&format!("{capability} is revoked"), &decided)
            }
            Slash::State => {
                let is_json = self.global.json;
                let session = self.opened().await?;
                session.catch_up().await?;
                if is_json {
                    return crate::command::session::show_document(session, &Recovered::default());
                }
                let class = session.past().label.data_class.as_str();
                output::line(&format!("    revision  {}, {class}", session.revision()))?;
                crate::command::session::show_state(&session.state_now()?)
            }
            Slash::Undo => {
                let session = self.opened().await?;
                let undone = session.undo().await?;
                let standing = undone.standing.iter();
                let stands = standing.map(|one| format!("\nwhat it did stands: {}", output::plain(one)));
                let line = format!("turn {} was taken back{}", undone.turn, stands.collect::<String>());
                self.answer(&line, &undone)
            }
            Slash::Exit => Ok(()),
            Slash::Unknown(word) => {
                let word: String = word.chars().take(WORD_CHARS_MAX).collect();
                let message =
                    format!("/{}: there is no such command; /help lists them", output::plain(&word));
                Err(Failure::new(Code::UsageInvalid, message))
            }
        }
    }

    fn answer<T: Serialize>(&self, line: &str, document: &T) -> Result<(), Failure> {
        match self.global.json {
            true => output::json(document),
            false => output::line(line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_is_for_the_chat() {
        assert_eq!(Slash::read("hello /exit"), None);
        assert_eq!(Slash::read("  /exit "), Some(Slash::Exit));
        assert_eq!(Slash::read("/grant  net:a.example "), Some(Slash::Grant("net:a.example".into())));
        assert_eq!(Slash::read("/dance"), Some(Slash::Unknown("dance".into())));
    }
}
