//! The files that a packet's sources were taken from, as they are now.
//! Owns: comparing them with what was taken in. Must not: put anything down; `source.recheck` does.

use super::super::run::product;
use crate::charge;
use crate::cli::Global;
use crate::failure::Failure;
use crate::office::Rooms;
use crate::tasks;
use countersign_record::digest::Digest;
use countersign_record::id::RunId;
use countersign_record::json::{Json, Object};
use countersign_record::time::Instant;
use countersign_runtime::run::Setup;
use countersign_verify::summary::{Source, Summary};
use std::path::PathBuf;

/// The folder of a run's task, if it can be told.
pub(super) struct Folder {
    dir: PathBuf,
    task: String,
    /// Where the run's work lies.
    work: PathBuf,
}

impl Folder {
    pub(super) fn of(global: &Global, run: &RunId, setup: &Setup) -> Result<Option<Self>, Failure> {
        let task = setup.task.as_ref().and_then(|task| task.get("id")?.as_str());
        let (Some(task), Some(named)) = (task, setup.sources.first()) else { return Ok(None) };
        let dir = charge::path_of(&Rooms::of(global)?.runs(), run, named);
        let work = product::folder(global, run)?;
        Ok(Some(Folder { dir: tasks::folder_of(&dir), task: task.to_owned(), work }))
    }

    /// Whether the same task lies there.
    fn is_here(&self) -> bool {
        tasks::task(&self.dir).is_ok_and(|task| task.id == self.task)
    }
}

/// The files of the work that are not what a packet is about any more.
pub(super) fn edited(folder: Option<&Folder>, summary: &Summary) -> Vec<String> {
    let Some(folder) = folder else { return Vec::new() };
    let is_other =
        |path: &PathBuf, own: &Digest| std::fs::read(path).is_ok_and(|now| Digest::of(&now) != *own);
    let files = summary.products.iter().map(|one| (folder.work.join(&one.name), &one.sha256));
    let others = files.filter(|(path, own)| is_other(path, own));
    others.map(|(path, _)| path.to_string_lossy().into_owned()).collect()
}

/// What the files are to those that were taken in.
pub(super) enum Now {
    /// Nobody can say: the folder is not here.
    Unseen,
    /// The same.
    Same,
    /// These are others by now, or gone.
    Others(Vec<String>),
}

impl Now {
    /// How the files of a packet's sources are now.
    pub(super) fn of(folder: Option<&Folder>, summary: &Summary) -> Self {
        let Some(folder) = folder.filter(|folder| folder.is_here()) else { return Now::Unseen };
        let is_other = |path: &str, taken: &str| {
            let now = tasks::file_now(&folder.dir, path).map(|bytes| String::from(Digest::of(&bytes)));
            now.as_deref() != Some(taken)
        };
        // What the packet itself calls out of date has not changed since.
        let made = Instant::read(&summary.origin.made_at);
        let is_told = |one: &&Source| {
            let until = one.fresh_until.as_deref().and_then(Instant::read);
            until.zip(made).is_some_and(|(until, made)| until <= made)
        };
        let fresh = summary.sources.iter().filter(|one| !is_told(one));
        let taken = fresh.filter_map(|one| Some((one.path.as_str(), one.sha256.as_deref()?)));
        let others: Vec<String> =
            taken.filter(|(path, hash)| is_other(path, hash)).map(|(path, _)| path.to_owned()).collect();
        if others.is_empty() { Now::Same } else { Now::Others(others) }
    }

    /// The same for programs.
    pub(super) fn told(&self) -> Json {
        let none: &[String] = &[];
        let (is_seen, others) = match self {
            Now::Unseen => (false, none),
            Now::Same => (true, none),
            Now::Others(others) => (true, others.as_slice()),
        };
        let others = others.iter().map(|one| one.as_str().into()).collect();
        Object::from([("looked_at", Json::Bool(is_seen)), ("changed", Json::Array(others))]).into()
    }
}
