//! `countersign task`: making a task's folder, and seeing whether one can be run.
//! Owns: the folder that it makes. Must not: run anything.

use crate::cli::Global;
use crate::cli::run::Task;
use crate::failure::{Exit, Failure};
use crate::office;
use crate::output;
use crate::tasks::{self, Folder};
use countersign_durable::{make_dirs, remove_dirs, write_new};
use countersign_govern::types::externalization::WorkspaceExternalizationKind as Kind;
use countersign_record::code::Code;
use countersign_work::outside;
use countersign_work::task;
use serde::Serialize;
use std::path::Path;

/// What a new folder holds.
const FILES: [(&str, &str); 2] = [
    ("task.toml", include_str!("task/new.toml")),
    ("sources/agreement.md", include_str!("task/agreement.md")),
];

pub(super) fn run(global: &Global, command: Task) -> Result<Exit, Failure> {
    match command {
        Task::New { dir } => new(global, &dir),
        Task::Check { task } => check(global, &task),
    }
}

#[derive(Serialize)]
struct Checked {
    task: String,
    artifacts: usize,
    sources: usize,
    outcomes: usize,
    criteria: usize,
    /// What the task grants its run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    capabilities: Vec<String>,
    /// What its run runs, word by word.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    commands: Vec<Vec<String>>,
    /// What it asks for and can't get.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// A judge elsewhere that may never be asked judges nothing.
fn warnings(global: &Global, task: &task::Task) -> Vec<String> {
    if !task.has_judge() || !office::is_elsewhere(global, task) {
        return Vec::new();
    }
    let why = outside::never(task, Kind::ApiCall);
    why.map(|why| format!("the judge is never asked: {why}")).into_iter().collect()
}

fn check(global: &Global, named: &Path) -> Result<Exit, Failure> {
    let Folder { task, .. } =
        Folder::read(&tasks::folder_of(named), &global.matter, |task| office::can_answer(global, task))?;
    let checked = Checked {
        task: task.id.clone(),
        artifacts: task.artifacts.len(),
        sources: task.sources.len(),
        outcomes: task.outcomes.len(),
        criteria: task.outcomes.iter().map(|one| one.criteria.len()).sum(),
        capabilities: task::granted(&task).iter().map(ToString::to_string).collect(),
        commands: task.commands().map(|(_, argv)| argv.to_vec()).collect(),
        warnings: warnings(global, &task),
    };
    if global.json {
        output::json(&checked)?;
    } else {
        let count = |number: usize, what: &str| output::count(number as u64, what);
        output::line(&output::plain(&format!(
            "{} can be run: {}, {}, {}, {}",
            checked.task,
            count(checked.artifacts, "artifact"),
            count(checked.sources, "source"),
            count(checked.outcomes, "outcome"),
            if checked.criteria == 1 {
                "1 criterion".to_owned()
            } else {
                format!("{} criteria", checked.criteria)
            },
        )))?;
        if !checked.capabilities.is_empty() {
            output::line(&output::plain(&format!("grants  {}", checked.capabilities.join(", "))))?;
        }
        for argv in &checked.commands {
            output::line(&output::plain(&format!(
                "runs    {} (over the work, only reading)",
                argv.join(" ")
            )))?;
        }
        for one in &checked.warnings {
            output::line(&output::plain(&format!("but     {one}")))?;
        }
    }
    Ok(Exit::Success)
}

/// Makes the folder, whole or not at all.
fn new(global: &Global, dir: &Path) -> Result<Exit, Failure> {
    let shown = output::plain(&dir.display().to_string());
    if std::fs::symlink_metadata(dir).is_ok() {
        let message = format!("{shown}: it is there already; name a folder that is not");
        return Err(Failure::new(Code::UsageInvalid, message));
    }
    let failed = |error: std::io::Error| Failure::file(&shown, &error);
    let made = make_dirs(&dir.join("sources"), 0o777).map_err(failed)?;
    for (name, text) in FILES {
        if let Err(error) = write_new(&dir.join(name), 0o666, text.as_bytes()) {
            // What was made is taken away again; if that fails too, the first error is the one to tell.
            FILES.iter().for_each(|(name, _)| drop(std::fs::remove_file(dir.join(name))));
            remove_dirs(&made);
            return Err(failed(error));
        }
    }
    if global.json {
        output::json(&std::collections::BTreeMap::from([("dir", shown)]))?;
    } else {
        output::line(&format!(
            "{shown}: a task that runs as it is. Change task.toml and the sources, then:"
        ))?;
        let typed = output::quoted(&dir.display().to_string());
        output::line(&format!("  countersign task check {typed}"))?;
        output::line(&format!("  countersign run {typed}"))?;
    }
    Ok(Exit::Success)
}
