//! What went wrong, as a user sees it.
//! Owns: the JSON error form and which exit code a code means. Must not: print.

use crate::output;
use countersign_kernel::recall::Refusal;
use countersign_memory::{conversation, embed, lexicon, snapshot};
use countersign_models::shelf;
use countersign_record::code::Code;
use countersign_record::fields::Trouble;
use countersign_record::id::NotAnId;
use countersign_record::json::{Json, Number, Object, ParseError};
use countersign_record::row::NotADraft;
use countersign_runtime::memory_read;
use countersign_runtime::ports::ledger;
use countersign_runtime::run;
use countersign_runtime::session;
use countersign_store::{archive, keys, sessions};
use std::process::ExitCode;

/// How a command ends when it ends well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All is well.
    Success,
    /// A check failed, or the result is limited.
    Limited,
    /// A person is needed before it goes on.
    Waiting,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        match exit {
            Exit::Success => ExitCode::SUCCESS,
            Exit::Limited => ExitCode::from(1),
            Exit::Waiting => ExitCode::from(3),
        }
    }
}

/// One error, with a stable code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) details: Object,
}

impl Failure {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Failure { code, message: message.into(), details: Object::new() }
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<Json>) -> Self {
        self.details.insert(name, value);
        self
    }

    pub(crate) fn with_count(self, name: &str, count: u64) -> Self {
        match Number::try_from(count) {
            Ok(number) => self.with(name, Json::Number(number)),
            Err(_) => self.with(name, count.to_string()),
        }
    }

    /// The operating system refused a file.
    pub(crate) fn file(path: &str, error: &std::io::Error) -> Self {
        Failure::new(Code::FileUnreadable, format!("{path}: {error}"))
    }

    /// A document with everything that is wrong with it.
    pub(crate) fn troubles(code: Code, what: &str, troubles: &[Trouble]) -> Self {
        let first = troubles.first().map(ToString::to_string).unwrap_or_default();
        let more = match troubles.len() {
            0 | 1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        Failure::new(code, format!("{what}: {first}{more}")).with("errors", troubles_json(troubles))
    }

    /// 2 for bad input, 1 for a refusal. An area is one or the other, but for these few codes.
    pub(crate) fn exit(&self) -> ExitCode {
        match self.code {
            Code::LedgerUnknownStore
            | Code::HistoryTooLong
            | Code::HistoryLexicon
            | Code::CapabilityInvalid
            | Code::CapabilityExpiry
            | Code::ModelUnknown
            | Code::CommandUnknown
            | Code::CommandRequest
            | Code::VerifyFile => return ExitCode::from(2),
            Code::SessionUnsettled | Code::RunWaiting => return ExitCode::from(3),
            Code::RunStopped => return ExitCode::from(output::STOPPED),
            Code::ArchiveExists
            | Code::AnchorForged
            | Code::AnchorUntrusted
            | Code::RowTooNew
            | Code::SnapshotChanged
            | Code::SnapshotExists => return ExitCode::from(1),
            _ => {}
        }
        match self.code.entry().area {
            "json" | "number" | "field" | "id" | "time" | "envelope" | "row" | "archive" | "anchor"
            | "file" | "embed" | "memory" | "snapshot" | "usage" | "policy" | "bundle" | "formula"
            | "task" => ExitCode::from(2),
            _ => ExitCode::from(1),
        }
    }
}

pub(crate) fn troubles_json(troubles: &[Trouble]) -> Json {
    let one = |trouble: &Trouble| {
        Json::Object(Object::from([
            ("code", trouble.code.as_str().into()),
            ("path", trouble.path.as_str().into()),
            ("message", trouble.message.as_str().into()),
        ]))
    };
    Json::Array(troubles.iter().map(one).collect())
}

impl From<ParseError> for Failure {
    fn from(error: ParseError) -> Self {
        Failure::new(error.problem.code(), error.to_string())
            .with_count("line", error.line as u64)
            .with_count("column", error.column as u64)
            .with_count("offset", error.offset as u64)
    }
}

impl From<session::Error> for Failure {
    fn from(error: session::Error) -> Self {
        let failure = Failure::new(error.code(), error.to_string());
        match error {
            session::Error::Unsettled { calls } => {
                let ids: Vec<&str> = calls.iter().map(|open| open.call.as_str()).collect();
                failure.with("calls", ids.join(", "))
            }
            _ => failure,
        }
    }
}

impl From<run::Error> for Failure {
    fn from(error: run::Error) -> Self {
        match error {
            run::Error::Ledger(error) => error.into(),
            _ => Failure::new(error.code(), error.to_string()),
        }
    }
}

impl From<sessions::Error> for Failure {
    fn from(error: sessions::Error) -> Self {
        Failure::new(error.code(), error.to_string())
    }
}

impl From<shelf::Error> for Failure {
    fn from(error: shelf::Error) -> Self {
        Failure::new(error.code(), error.to_string())
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Failure::new(refusal.code(), refusal.to_string())
    }
}

impl From<snapshot::Refusal> for Failure {
    fn from(refusal: snapshot::Refusal) -> Self {
        let failure = Failure::new(refusal.code(), refusal.to_string());
        match refusal {
            snapshot::Refusal::UnknownLayout { at, .. } => failure.with_count("offset", at),
            snapshot::Refusal::Unreadable { .. }
            | snapshot::Refusal::Changed { .. }
            | snapshot::Refusal::Table { .. } => failure,
        }
    }
}

impl From<snapshot::WriteError> for Failure {
    fn from(error: snapshot::WriteError) -> Self {
        match error {
            snapshot::WriteError::Read(refusal) => refusal.into(),
            snapshot::WriteError::Table(_)
            | snapshot::WriteError::Exists { .. }
            | snapshot::WriteError::Io(_) => Failure::new(error.code(), error.to_string()),
        }
    }
}

impl From<memory_read::Error> for Failure {
    fn from(error: memory_read::Error) -> Self {
        match error {
            memory_read::Error::Refused(refusal) => refusal.into(),
            memory_read::Error::NotADraft(error) => error.into(),
            memory_read::Error::NotAnId(error) => error.into(),
            memory_read::Error::Ledger(error) => error.into(),
            memory_read::Error::NotATimestamp(_) => Failure::new(error.code(), format!("the clock: {error}")),
        }
    }
}

impl From<conversation::Error> for Failure {
    fn from(error: conversation::Error) -> Self {
        Failure::new(error.code(), error.to_string())
    }
}

impl From<lexicon::Refusal> for Failure {
    fn from(refusal: lexicon::Refusal) -> Self {
        Failure::new(refusal.code(), refusal.to_string())
    }
}

impl From<embed::Refusal> for Failure {
    fn from(refusal: embed::Refusal) -> Self {
        Failure::new(refusal.code(), refusal.to_string())
    }
}

impl From<NotAnId> for Failure {
    fn from(error: NotAnId) -> Self {
        Failure::new(error.code(), error.to_string())
    }
}

impl From<NotADraft> for Failure {
    fn from(error: NotADraft) -> Self {
        Failure::new(error.code(), error.to_string())
    }
}

impl From<ledger::Error> for Failure {
    fn from(error: ledger::Error) -> Self {
        let failure = Failure::new(error.code(), error.to_string());
        match error {
            ledger::Error::Conflict { stream, expected, found } => failure
                .with("stream", stream.as_str())
                .with_count("expected", expected)
                .with_count("found", found),
            ledger::Error::Damaged { finding } => failure.with_count("seq", finding.seq),
            _ => failure,
        }
    }
}

impl From<archive::Error> for Failure {
    fn from(error: archive::Error) -> Self {
        match error {
            archive::Error::Ledger(error) => error.into(),
            archive::Error::Exists { .. }
            | archive::Error::Foreign { .. }
            | archive::Error::Invalid { .. }
            | archive::Error::Unreadable { .. }
            | archive::Error::Unwritable { .. } => Failure::new(error.code(), error.to_string()),
        }
    }
}

impl From<keys::Error> for Failure {
    fn from(error: keys::Error) -> Self {
        Failure::new(error.code(), error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_area_has_an_exit_code() {
        let refusals = [
            "ledger",
            "blob",
            "hold",
            "chain",
            "access",
            "principal",
            "history",
            "session",
            "output",
            "tool",
            "web",
            "model",
            "leaving",
            "trace",
            "capability",
            "run",
            "answer",
            "http",
            "token",
            "command",
            "replay",
            "audit",
            "packet",
            "verify",
        ];
        for code in Code::ALL {
            let area = code.entry().area;
            let bad_input = Failure::new(*code, "").exit() == ExitCode::from(2);
            let other_way = matches!(
                code,
                Code::LedgerUnknownStore
                    | Code::HistoryTooLong
                    | Code::HistoryLexicon
                    | Code::CapabilityInvalid
                    | Code::CapabilityExpiry
                    | Code::ModelUnknown
                    | Code::CommandUnknown
                    | Code::CommandRequest
                    | Code::VerifyFile
                    | Code::ArchiveExists
                    | Code::AnchorForged
                    | Code::AnchorUntrusted
                    | Code::RowTooNew
                    | Code::SnapshotChanged
                    | Code::SnapshotExists
            );
            assert_eq!(bad_input, refusals.contains(&area) == other_way, "{code}: bad input or a refusal?");
        }
    }
}
