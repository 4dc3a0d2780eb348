//! What a run meets outside: a disk, a model, programs; each fails where it is told to.
//! Owns: the faults, and the books of what was really done. Must not: answer for the ledger, which is the real one.

use super::scenes::{Scene, Voice};
use crate::desk::HOST;
use countersign_kernel::gate::Permitted;
use countersign_record::access::MatterAccess;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::id::{RunId, ToolName};
use countersign_record::json::{self, Json, Number, Object};
use countersign_record::run_kind;
use countersign_record::tool::{Definition, Effect, Needs};
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::command::{Commands, File};
use countersign_runtime::ports::ledger::{Appended, Batch, Blob, Error, Journal, Ledger, Page, Query};
use countersign_runtime::ports::model::{
    About, Delta, Deltas, Ended, Finish, Model, NoAnswer, Request, Site, Usage,
};
use countersign_runtime::ports::tool::{Done, NotDone, Plan, Reads, Tool};
use countersign_work::task::SHELL;
use futures_util::stream;
use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    /// The disk takes no more appends, as if the process had been killed before this one.
    Full,
    /// The same, but this append is durable: only its answer is lost, as if the process had been killed behind it.
    Unheard,
    /// The disk does not take this append, and all others.
    Hiccup,
    /// A signal comes behind this append.
    Stop,
    /// The model has no answer.
    Mute,
    /// The place for a program can't be made.
    Unstarted,
    /// A program does not end in time.
    Late,
    /// A program is killed.
    Killed,
    /// A program says too much.
    Flooded,
    /// A program ends with another exit code.
    Exits,
}

impl Kind {
    pub(super) const DISK: [Kind; 4] = [Kind::Full, Kind::Unheard, Kind::Hiccup, Kind::Stop];
    pub(super) const PROGRAM: [Kind; 5] =
        [Kind::Unstarted, Kind::Late, Kind::Killed, Kind::Flooded, Kind::Exits];
}

/// Something that goes wrong, and at which append, question or command of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) kind: Kind,
    pub(super) at: usize,
}

/// What a program came to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ran {
    /// It ended with this code.
    Exit(u32),
    /// It did not end by itself, or not in time, or was not begun.
    Not(Kind),
}

/// Something that was done outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// A model was asked; whether it answered.
    Asked { answered: bool },
    /// A program was run.
    Ran(Ran),
}

/// What was really done for a run, whoever carried it on.
#[derive(Debug, Default)]
pub(super) struct Books {
    /// Appends that are durable.
    pub(super) appends: usize,
    /// Done in a stage that has not told it yet.
    open: Vec<Deed>,
    /// Done in a stage that told what it did, durably.
    pub(super) kept: Vec<Deed>,
    /// Done in stages that nobody saw the end of.
    pub(super) lost: Vec<Vec<Deed>>,
    /// What went wrong.
    pub(super) struck: BTreeSet<Kind>,
}

impl Books {
    pub(super) fn asked(&self) -> usize {
        let all = self.kept.iter().chain(self.lost.iter().flatten()).chain(&self.open);
        all.filter(|deed| matches!(deed, Deed::Asked { .. })).count()
    }

    pub(super) fn kept_asked(&self) -> usize {
        self.kept.iter().filter(|deed| matches!(deed, Deed::Asked { .. })).count()
    }

    /// What programs came to, as stages had it to tell.
    pub(super) fn ran(&self) -> Vec<Ran> {
        let ran = |deed: &Deed| match deed {
            Deed::Ran(ran) => Some(ran.clone()),
            Deed::Asked { .. } => None,
        };
        self.kept.iter().filter_map(ran).collect()
    }

    /// A process has ended.
    pub(super) fn close(&mut self) {
        let open = std::mem::take(&mut self.open);
        self.lost.extend(Some(open).filter(|open| !open.is_empty()));
    }
}

/// The books, as everybody outside keeps them.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared(Arc<Mutex<Books>>);

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, Books> {
        self.0.lock().unwrap()
    }

    fn strike(&self, kind: Kind) {
        self.lock().struck.insert(kind);
    }

    fn did(&self, deed: Deed) {
        self.lock().open.push(deed);
    }
}

/// The ledger as one process has it.
pub(super) struct Disk {
    pub(super) ledger: Arc<dyn Ledger>,
    pub(super) fault: Option<Fault>,
    pub(super) cancel: CancellationToken,
    pub(super) books: Shared,
    /// Appends of this process so far.
    pub(super) count: Mutex<usize>,
}

impl Disk {
    async fn durable(&self, access: &MatterAccess, batch: Batch) -> Result<Appended, Error> {
        let tells = batch.rows.iter().any(|row| row.draft().kind.as_str() == run_kind::RETURNED);
        let appended = self.ledger.append(access, batch).await?;
        let mut books = self.books.lock();
        books.appends += 1;
        if tells {
            let open = std::mem::take(&mut books.open);
            books.kept.extend(open);
        }
        Ok(appended)
    }
}

impl Journal for Disk {
    fn append<'a>(&'a self, access: &'a MatterAccess, batch: Batch) -> Answer<'a, Result<Appended, Error>> {
        let count = {
            let mut count = self.count.lock().unwrap();
            *count += 1;
            *count - 1
        };
        let is_due = move |kind: Kind| self.fault == Some(Fault { kind, at: count });
        let is_gone = self
            .fault
            .is_some_and(|fault| matches!(fault.kind, Kind::Full | Kind::Unheard) && count >= fault.at);
        Box::pin(async move {
            if is_due(Kind::Unheard) {
                self.books.strike(Kind::Unheard);
                self.durable(access, batch).await?;
                return Err(Error::Closed);
            }
            if is_due(Kind::Hiccup) || is_gone {
                self.books.strike(if is_gone { Kind::Full } else { Kind::Hiccup });
                return Err(Error::Closed);
            }
            let appended = self.durable(access, batch).await?;
            if is_due(Kind::Stop) {
                self.books.strike(Kind::Stop);
                self.cancel.cancel();
            }
            Ok(appended)
        })
    }

    fn read<'a>(&'a self, access: &'a MatterAccess, query: Query) -> Answer<'a, Result<Page, Error>> {
        self.ledger.read(access, query)
    }

    fn blob<'a>(&'a self, access: &'a MatterAccess, digest: Digest) -> Answer<'a, Result<Blob, Error>> {
        self.ledger.blob(access, digest)
    }
}

/// A model that answers what it is asked, and not in which order.
pub(super) struct Speaks {
    about: About,
    says: &'static [(&'static str, &'static str)],
    fault: Option<Fault>,
    books: Shared,
    count: Mutex<usize>,
}

/// Tokens that an answer of the model has, and a question.
pub(super) const OUTPUT_TOKENS: u64 = 2;
const INPUT_TOKENS: u64 = 3;
/// Why a model has no answer, in turn.
const NO_ANSWER: [Code; 3] = [Code::ModelBusy, Code::ModelTimeout, Code::ModelUnreachable];

impl Speaks {
    pub(super) fn new(scene: &Scene, fault: Option<Fault>, books: Shared) -> Self {
        let site = match scene.voice {
            Voice::Quotes | Voice::Here => Site::Here,
            Voice::Elsewhere => Site::Remote(HOST.to_owned()),
        };
        let about = About { provider: "scripted".into(), model: "played-1".into(), site };
        Speaks { about, says: scene.says, fault, books, count: Mutex::default() }
    }
}

impl Model for Speaks {
    fn about(&self) -> &About {
        &self.about
    }

    fn stream_chat<'a>(&'a self, request: &'a Request, cancel: &'a CancellationToken) -> Deltas<'a> {
        let mut count = self.count.lock().unwrap();
        let is_mute = self.fault.is_some_and(|fault| fault.kind == Kind::Mute && fault.at == *count);
        *count += 1;
        let is_cancelled = cancel.is_cancelled();
        self.books.did(Deed::Asked { answered: !is_mute && !is_cancelled });
        if is_mute {
            self.books.strike(Kind::Mute);
            let code = NO_ANSWER[*count % NO_ANSWER.len()];
            return Box::pin(stream::iter([Err(NoAnswer { code, message: "mute".into(), attempts: 1 })]));
        }
        if is_cancelled {
            return Box::pin(stream::empty());
        }
        let has = |words: &str| request.messages.iter().any(|one| one.content.contains(words));
        let said = self.says.iter().find(|(words, _)| has(words));
        let (_, text) = said.unwrap_or_else(|| panic!("nobody knows an answer to {request:?}"));
        let usage = Usage {
            input_tokens: INPUT_TOKENS,
            output_tokens: OUTPUT_TOKENS,
            attempts: 1,
            ..Usage::default()
        };
        let end = Delta::End(Ended { finish: Finish::Stop, usage });
        Box::pin(stream::iter([Ok(Delta::Text((*text).to_owned())), Ok(end)]))
    }
}

/// Programs: `grep`, played.
pub(super) struct Programs {
    shell: Arc<Shell>,
}

struct Shell {
    definition: Definition,
    fault: Option<Fault>,
    /// What they came to another time, where that is to be so again.
    script: Option<Mutex<VecDeque<Ran>>>,
    /// How many a look runs.
    commands: usize,
    books: Shared,
    count: Mutex<usize>,
    /// Whether there was a look that could run none.
    was_unstarted: Mutex<bool>,
}

impl Programs {
    pub(super) fn new(scene: &Scene, fault: Option<Fault>, script: Option<&[Ran]>, books: Shared) -> Self {
        let definition = Definition {
            name: ToolName::try_from("shell.exec").unwrap(),
            description: "Runs one program.".to_owned(),
            parameters: json::parse(b"{\"type\":\"object\"}").unwrap(),
            effect: Effect::None,
            needs: Needs::Capability(SHELL.to_owned()),
        };
        let script = script.map(|script| Mutex::new(script.iter().cloned().collect()));
        let (commands, count, was_unstarted) = (scene.commands(), Mutex::default(), Mutex::default());
        let shell = Shell { definition, fault, script, commands, books, count, was_unstarted };
        Programs { shell: Arc::new(shell) }
    }
}

impl Shell {
    /// What is to become of the next one, if it is not run as it should be.
    fn next(&self) -> Option<Ran> {
        let mut count = self.count.lock().unwrap();
        let is_own = |kind: Kind| Kind::PROGRAM.contains(&kind) && kind != Kind::Unstarted;
        let fault = self.fault.filter(|fault| is_own(fault.kind) && fault.at == *count);
        *count += 1;
        if let Some(script) = &self.script {
            return Some(script.lock().unwrap().pop_front().expect("it is run as often as then"));
        }
        let kind = fault?.kind;
        self.books.strike(kind);
        Some(if kind == Kind::Exits { Ran::Exit(2) } else { Ran::Not(kind) })
    }

    /// Whether none can be begun.
    fn is_unstarted(&self) -> bool {
        let is_now = |fault: Fault| {
            let (count, was) = (*self.count.lock().unwrap(), *self.was_unstarted.lock().unwrap());
            fault.kind == Kind::Unstarted && fault.at <= count && !was
        };
        let is_then = |script: &Mutex<VecDeque<Ran>>| {
            script.lock().unwrap().front() == Some(&Ran::Not(Kind::Unstarted))
        };
        self.script.as_ref().map_or_else(|| self.fault.is_some_and(is_now), is_then)
    }
}

impl Ran {
    /// Why nothing was seen, in the words of the real thing.
    pub(super) fn why(&self) -> Option<String> {
        match self {
            Ran::Exit(_) => None,
            Ran::Not(Kind::Flooded) => Some("it was ended because it said too much".to_owned()),
            Ran::Not(kind) => Some(not_done(*kind).message),
        }
    }
}

fn not_done(kind: Kind) -> NotDone {
    match kind {
        Kind::Unstarted => NotDone::new(Code::ToolSandbox, "the folder for it can't be made: out of memory"),
        Kind::Late => NotDone::new(Code::ToolTimeout, "it did not end in 20 s"),
        Kind::Killed => NotDone::new(Code::ToolFailed, "it was ended by signal 9"),
        Kind::Full | Kind::Unheard | Kind::Hiccup | Kind::Stop | Kind::Mute | Kind::Flooded | Kind::Exits => {
            panic!("{kind:?} is no reason")
        }
    }
}

impl Commands for Programs {
    fn arguments(&self, argv: &[String]) -> Result<Object, NotDone> {
        countersign_tools::arguments(argv)
    }

    fn over<'a>(&'a self, _: &'a RunId, files: Vec<File>) -> Answer<'a, Result<Box<dyn Tool>, NotDone>> {
        let shell = &self.shell;
        if shell.is_unstarted() {
            // Each command that would have been run is told of.
            for _ in 0..shell.commands {
                let _told = shell.script.as_ref().map(|script| script.lock().unwrap().pop_front());
                shell.books.did(Deed::Ran(Ran::Not(Kind::Unstarted)));
            }
            *shell.was_unstarted.lock().unwrap() = true;
            shell.books.strike(Kind::Unstarted);
            return Box::pin(async { Err(not_done(Kind::Unstarted)) });
        }
        let tool: Box<dyn Tool> = Box::new(Over { shell: Arc::clone(shell), files });
        Box::pin(async { Ok(tool) })
    }
}

/// Programs over some files.
struct Over {
    shell: Arc<Shell>,
    files: Vec<File>,
}

impl Over {
    /// `grep -q WORDS FILE`, with the words in quotes if they are several.
    fn grep(&self, line: &str) -> u32 {
        let rest = line.strip_prefix("grep -q ").expect(line);
        let (words, path) = rest.rsplit_once(' ').expect(line);
        let file = self.files.iter().find(|file| file.path == path).expect(line);
        u32::from(!file.text.contains(words.trim_matches('\'')))
    }
}

impl Tool for Over {
    fn definition(&self) -> &Definition {
        &self.shell.definition
    }

    fn plan(&self, _: &Object) -> Result<Plan, NotDone> {
        Ok(Plan { summary: "look".to_owned(), reads: Reads::Sandbox, writes: None, sends_to: None })
    }

    fn run<'a>(&'a self, call: Permitted, _: &'a CancellationToken) -> Answer<'a, Result<Done, NotDone>> {
        let line = call.args().get("cmd").and_then(Json::as_str).unwrap();
        let ran = self.shell.next().unwrap_or_else(|| Ran::Exit(self.grep(line)));
        self.shell.books.did(Deed::Ran(ran.clone()));
        let exit_code = match ran {
            Ran::Exit(code) => Json::Number(Number::from(code)),
            Ran::Not(Kind::Flooded) => Json::Null,
            Ran::Not(kind) => return Box::pin(async move { Err(not_done(kind)) }),
        };
        let said = [("exit_code", exit_code), ("stdout", "".into()), ("stderr", "".into())];
        Box::pin(async move { Ok(Done::plain(Object::from(said).into())) })
    }
}
