//! Task folders: what a user hands over.
//! Owns: reading one, safely and whole, and the envelope that its run begins with. Must not: judge what it asks.

mod named;
mod strict;
mod texts;

pub(crate) use texts::Texts;

use crate::beneath;
use crate::enforcing;
use crate::failure::Failure;
use crate::output;
use crate::pipelines::{self, Found};
use crate::tables::{Lines, Table};
use countersign_govern::types::added::policy::CapabilityState;
use countersign_govern::types::wire::Wire;
use countersign_kernel::pipeline::{Agent as Kind, Pipeline, Stage};
use countersign_models::scripted::{Pieces, Reply, Scripted, script};
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::fields::Trouble;
use countersign_record::json::Json;
use countersign_record::time::Timestamp;
use countersign_runtime::ports::model::Model;
use countersign_runtime::ports::sources::Sources;
use countersign_runtime::replay::Recorded;
use countersign_runtime::run::{Bench, Told};
use countersign_runtime::work::{Opening, Work};
use countersign_tools::State;
use countersign_work::task::{self, SHELL, Source, Task};
use countersign_work::workspace;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file that says what is asked.
const FILE: &str = "task.toml";
/// Bytes of a file of a task.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Bytes of all of them.
const BYTES_MAX: usize = 256 * 1024 * 1024;

/// A task with everything that it names.
pub(crate) struct Folder {
    pub(crate) task: Task,
    pub(crate) sources: Vec<Vec<u8>>,
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    pub(crate) pipeline: Found,
}

impl Folder {
    /// Reads a folder, or the folder of a file that is named `task.toml`, for a run of a matter. Whoever reads it says whether the model
    /// is known.
    pub(crate) fn read(
        dir: &Path,
        matter: &str,
        is_known: impl FnOnce(&Task) -> Result<(), Failure>,
    ) -> Result<Self, Failure> {
        let (task, lines) = asked(dir)?;
        let mut taking = named::Taking::new(dir);
        taking.foreign(&task, matter);
        let sources = task.sources.iter().enumerate();
        let sources =
            sources.map(|(at, one)| taking.source(format!("/sources/{at}/path"), &one.path)).collect();
        let mut files = BTreeMap::new();
        for (place, path) in named::others(&task) {
            if !files.contains_key(path)
                && let Some(bytes) = taking.file(place, path)
            {
                files.insert(path.to_owned(), bytes);
            }
        }
        if let Some(path) = task.replies()
            && let Some(bytes) = files.get(path)
        {
            let some = played(path, bytes).and_then(|replies| match replies.is_empty() {
                true => Err(invalid(format!(
                    "{}: it has no reply; put a JSON line there for each question, with its text",
                    output::plain(path)
                ))),
                false => Ok(()),
            });
            taking.no_fault(&named::of_work("replies"), some);
        }
        let pipeline = pipeline(dir, &task);
        // A pipeline of the folder goes along: whoever verifies a packet holds the run to it.
        if pipeline.is_ok()
            && !pipelines::is_shipped(task.pipeline())
            && let Some(bytes) = taking.file(named::of_work("pipeline"), task.pipeline())
        {
            files.insert(task.pipeline().to_owned(), bytes);
        }
        taking.no_fault(&named::of_work("model"), is_known(&task));
        match pipeline {
            Ok(pipeline) if taking.is_whole() => Ok(Folder { task, sources, files, pipeline }),
            Ok(_) => Err(taking.told(&lines)),
            // What is wrong within the pipeline's file has its place there.
            Err(failure) if failure.code == Code::RunPipeline && taking.is_whole() => Err(failure),
            Err(failure) => {
                taking.no_fault(&named::of_work("pipeline"), Err(failure));
                Err(taking.told(&lines))
            }
        }
    }

    /// What the run is opened with.
    pub(crate) fn opening(&self, capabilities: Vec<CapabilityState>) -> Opening {
        let (sources, files) = (self.sources.clone(), self.files.clone());
        Opening { sources, files, capabilities, heads: BTreeMap::new() }
    }

    /// The hashes of the files that are no sources.
    pub(crate) fn hashes(&self) -> BTreeMap<String, Digest> {
        self.files.iter().map(|(path, bytes)| (path.clone(), Digest::of(bytes))).collect()
    }
}

/// The pipeline of a task: one that ships, or a file of its folder. One that nobody looks at the work in, or that makes no packet, leads nowhere.
fn pipeline(dir: &Path, task: &Task) -> Result<Found, Failure> {
    let found = pipelines::beneath(dir, task.pipeline(), FILE_BYTES_MAX)?;
    let has = |agent: &str| {
        let is_own = |kind: &Kind| matches!(kind, Kind::BuiltIn { name } if name == agent);
        found.pipeline.stages.iter().any(|stage| is_own(&stage.agent))
    };
    let missing: Vec<&str> = NEEDED.into_iter().filter(|agent| !has(agent)).collect();
    if !missing.is_empty() {
        return Err(invalid(format!(
            "{} has no stage of {}, which a task needs; the pipeline “task” has all",
            output::plain(task.pipeline()),
            missing.join(" and ")
        )));
    }
    let has_code = task.artifacts.iter().any(|one| one.codespec.is_some());
    if has_code && is_unheld(&found.pipeline) {
        return Err(invalid(format!(
            "{} lets code that has a CodeSpec come to {} without passing {}, which writes to the output {}; \
             in the pipeline “task” all of it does",
            output::plain(task.pipeline()),
            EVALUATOR,
            enforcing::NAME,
            enforcing::NAME,
        )));
    }
    Ok(found)
}

/// Whether a draft can come to whoever looks at the work without having been held to its CodeSpec.
fn is_unheld(pipeline: &Pipeline) -> bool {
    let is = |stage: &Stage, agent: &str| matches!(&stage.agent, Kind::BuiltIn { name } if name == agent);
    pipeline.is_bypassed(
        |stage| is(stage, enforcing::NAME) && stage.output_key == enforcing::NAME,
        |stage| stage.output_key == DRAFT,
        |stage| is(stage, EVALUATOR),
    )
}

/// Who looks at the work, and where what it looks at is written.
const EVALUATOR: &str = "task_critic";
const DRAFT: &str = "draft";

/// Who must work in the pipeline of a task: who looks at the work, and who makes the packet.
const NEEDED: [&str; 2] = [EVALUATOR, "task_integration"];

/// The folder of a task, however it was named.
pub(crate) fn folder_of(named: &Path) -> PathBuf {
    let dir: PathBuf = match named.file_name() {
        Some(name) if name == FILE => named.parent().map_or(PathBuf::from("."), Path::to_path_buf),
        Some(_) | None => named.to_path_buf(),
    };
    if dir.as_os_str().is_empty() { PathBuf::from(".") } else { dir }
}

/// What the files of a task's sources are now: their hashes, and those that are gone. A folder without a task is the wrong one, and
/// says nothing of any source.
pub(crate) fn found(dir: &Path, task: &Task) -> Result<(BTreeMap<String, Digest>, Vec<String>), Failure> {
    let shown = output::plain(&dir.display().to_string());
    beneath::open(dir, FILE).map_err(|why| {
        let message = format!("{shown}/{FILE}: {why}; --folder says where the task's files are");
        Failure::new(Code::FileUnreadable, message)
    })?;
    let (mut found, mut gone) = (BTreeMap::new(), Vec::new());
    for source in &task.sources {
        match beneath::read(dir, &source.path, FILE_BYTES_MAX) {
            Ok(bytes) => drop(found.insert(source.id.clone(), Digest::of(&bytes))),
            Err(_) => gone.push(source.id.clone()),
        }
    }
    Ok((found, gone))
}

/// The bytes of a file of a task's folder as they are now, if it can be read.
pub(crate) fn file_now(dir: &Path, path: &str) -> Option<Vec<u8>> {
    beneath::read(dir, path, FILE_BYTES_MAX).ok()
}

/// A task's run at work.
pub(crate) struct AtWork {
    pub(crate) work: Arc<Work>,
    pub(crate) sources: Arc<dyn Sources>,
    /// Recorded replies, where the task brings them along.
    pub(crate) replies: Option<Arc<dyn Model>>,
    /// The task as a document, and the hashes of its files: what the run is told again from.
    pub(crate) document: Json,
    pub(crate) files: BTreeMap<String, Digest>,
    pub(crate) commands: Run,
}

/// Whether the commands of a task are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Run {
    /// Those that the task grants.
    Granted,
    /// None: what is told again runs nothing.
    Never,
}

/// The run of a folder that is to be begun, with an envelope that was received then.
pub(crate) fn begun(folder: Folder, received: &Timestamp) -> Result<(AtWork, Found), Failure> {
    let texts: BTreeMap<String, Vec<u8>> =
        folder.task.sources.iter().map(|one| one.id.clone()).zip(folder.sources.iter().cloned()).collect();
    let sources = Texts::new(&folder.task, |source| texts.get(&source.id).cloned(), received);
    let capabilities = capabilities(&folder.task);
    let work = Arc::new(Work::new(folder.task.clone(), folder.opening(capabilities)));
    let replies = replies(&work, 0)?;
    let document = folder.task.write().unwrap_or(Json::Null);
    let (sources, files) = (Arc::new(sources), folder.hashes());
    let at_work = AtWork { work, sources, replies, document, files, commands: Run::Granted };
    Ok((at_work, folder.pipeline))
}

/// The run of a task that was begun, as its rows tell it; `None` if it is none of a task's.
pub(crate) async fn again(bench: &Bench, told: &Told) -> Result<Option<AtWork>, Failure> {
    let Some(document) = told.setup.task.clone() else { return Ok(None) };
    let task = task::read_whole(&document)
        .map_err(|_| Failure::new(Code::RunUnreadable, "the run's task can't be read any more"))?;
    let files = told.setup.files.clone();
    let work = Work::read(&*bench.journal, &bench.access, &told.id, task, files.clone()).await?;
    if let Some(at) = work.look(|desk| desk.clock().clone()) {
        bench.clock.not_before(&at);
    }
    let bytes = |source: &Source| {
        let digest = work.look(|desk| workspace::hash_of(desk, &source.id)).flatten()?;
        work.content(&digest).map(|bytes| bytes.to_vec())
    };
    let sources = Texts::new(&work.task(), bytes, &told.run.envelope.identity.received_at);
    work.compare(told.setup.nearest());
    let work = Arc::new(work);
    let used = usize::try_from(told.run.envelope.bounds.llm_call_count).unwrap_or(usize::MAX);
    let replies = replies(&work, used)?;
    let (sources, commands) = (Arc::new(sources), Run::Granted);
    Ok(Some(AtWork { work, sources, replies, document, files, commands }))
}

/// The work of a run that was recorded, before its first row: with the same texts, and perhaps with versions to begin with.
pub(crate) fn anew(
    recorded: &Recorded,
    capabilities: Vec<CapabilityState>,
    heads: BTreeMap<String, Vec<u8>>,
) -> Result<Work, Failure> {
    let gone =
        || Failure::new(Code::RunErased, "a source of the run was erased, so it can't be gone through again");
    let sources = recorded.sources().ok_or_else(gone)?;
    let files = recorded.named(&recorded.told.setup.files);
    Ok(Work::new(recorded.task.clone(), Opening { sources, files, capabilities, heads }))
}

/// A run that was recorded, as it was before its first row.
pub(crate) fn replayed(recorded: &Recorded) -> Result<AtWork, Failure> {
    let setup = &recorded.told.setup;
    let work = anew(recorded, recorded.capabilities(), recorded.named(&setup.heads))?;
    work.compare(setup.nearest());
    let texts = recorded.sources().unwrap_or_default();
    let texts: BTreeMap<&str, Vec<u8>> =
        recorded.task.sources.iter().map(|one| one.id.as_str()).zip(texts).collect();
    let bytes = |source: &Source| texts.get(source.id.as_str()).cloned();
    let sources = Texts::new(&recorded.task, bytes, &recorded.told.run.envelope.identity.received_at);
    let replies = replies(&work, 0)?;
    let document = setup.task.clone().unwrap_or(Json::Null);
    Ok(AtWork {
        work: Arc::new(work),
        sources: Arc::new(sources),
        replies,
        document,
        files: setup.files.clone(),
        commands: Run::Never,
    })
}

fn played(path: &str, bytes: &[u8]) -> Result<Vec<Reply>, Failure> {
    let wrong = |why: String| invalid(format!("{}: {why}", output::plain(path)));
    let text = std::str::from_utf8(bytes).map_err(|_| wrong("it is no text".to_owned()))?;
    script(text).map_err(|error| wrong(error.to_string()))
}

/// The recorded replies of a task, from the first that was not played yet.
fn replies(work: &Work, used: usize) -> Result<Option<Arc<dyn Model>>, Failure> {
    let task = work.task();
    let Some(path) = task.replies() else { return Ok(None) };
    let bytes =
        work.file(path).ok_or_else(|| invalid(format!("{}: it is not there", output::plain(path))))?;
    let left = played(path, &bytes)?.into_iter().skip(used).collect();
    Ok(Some(Arc::new(Scripted::new(left, Pieces::AsWritten))))
}

/// The task of a folder; what is wrong with it is told with its line.
pub(crate) fn task(dir: &Path) -> Result<Task, Failure> {
    asked(dir).map(|(task, _)| task)
}

fn asked(dir: &Path) -> Result<(Task, Lines), Failure> {
    let shown = output::plain(&dir.join(FILE).display().to_string());
    let bytes = beneath::read(dir, FILE, FILE_BYTES_MAX)
        .map_err(|why| Failure::new(Code::FileUnreadable, format!("{shown}: {why}")))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or_default();
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        invalid(format!("{shown}: line {line}: it is no text in UTF-8; save it as one"))
            .with_count("line", line as u64)
    })?;
    Table::read(&shown, &text, Code::TaskInvalid)?.into_a_with_lines(|document| {
        let wrong = |one: countersign_govern::types::wire::Trouble| Trouble {
            code: Code::FieldInvalid,
            path: one.path,
            message: one.message,
        };
        let task: Result<Task, Vec<Trouble>> =
            task::read_whole(&document).map_err(|troubles| troubles.into_iter().map(wrong).collect());
        let task = task?;
        let mut refused = strict::troubles(&document, &task);
        refused.extend(task::empty_words(&task).into_iter().map(wrong));
        refused.extend(self::refused(&task));
        if refused.is_empty() { Ok(task) } else { Err(refused) }
    })
}

/// The commands of a task that could not be run in any case.
fn refused(task: &Task) -> Vec<Trouble> {
    let mut all = Vec::new();
    for (at, outcome) in task.outcomes.iter().enumerate() {
        for (number, criterion) in outcome.criteria.iter().enumerate() {
            let Some(Err(why)) = criterion.command().map(countersign_tools::arguments) else { continue };
            let path = format!("/outcomes/{at}/criteria/{number}/check/argv");
            all.push(Trouble { code: Code::FieldInvalid, path, message: why.message });
        }
    }
    all
}

fn invalid(message: String) -> Failure {
    Failure::new(Code::TaskInvalid, message)
}

/// What can be done on this machine, as a task's capabilities name it.
pub(crate) fn capabilities(task: &Task) -> Vec<CapabilityState> {
    let one = |id: &str, healthy: bool| CapabilityState {
        capability_id: id.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        healthy,
    };
    // What only quotes can write nothing of its own.
    let can_write = task.model() != task::EMBEDDED || task.replies().is_some();
    let mut all = vec![
        one("draft", true),
        one("evaluate", true),
        one("quote_sources", true),
        one("revise_by_quotes", true),
        one("judge_by_rubric", task.has_judge()),
        one("write_code", can_write),
        one("rewrite_text", can_write),
    ];
    // What the task grants is there if this machine can hold it.
    let can_hold = || countersign_tools::support().iter().all(|one| one.state != State::Missing);
    all.extend(
        task::granted(task).iter().map(|one_of| one(one_of.as_str(), one_of.as_str() == SHELL && can_hold())),
    );
    all
}
