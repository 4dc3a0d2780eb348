//! The files that a task names.
//! Owns: reading each, and saying of all that can't be used where the task names them. Must not: stop at the first.

use super::{BYTES_MAX, FILE_BYTES_MAX};
use crate::beneath;
use crate::failure::Failure;
use crate::output;
use crate::tables::Lines;
use countersign_record::code::Code;
use countersign_record::fields::Trouble;
use countersign_work::task::{self, Task};
use std::path::Path;

/// The place of a member of the table of the work.
pub(super) fn of_work(member: &str) -> String {
    format!("{WORK}/{member}")
}

/// Where a task says how the work is done.
const WORK: &str = "/work";

/// The files that a task names besides its sources, each with the place that names it.
pub(super) fn others(task: &Task) -> Vec<(String, &str)> {
    let mut all: Vec<(String, &str)> = Vec::new();
    for (at, one) in task.artifacts.iter().enumerate() {
        all.extend(one.from.as_deref().map(|path| (format!("/artifacts/{at}/from"), path)));
        let spec = one.codespec.as_deref().filter(|spec| !spec.starts_with("builtin:"));
        all.extend(spec.map(|path| (format!("/artifacts/{at}/codespec"), path)));
    }
    for (at, outcome) in task.outcomes.iter().enumerate() {
        for (number, criterion) in outcome.criteria.iter().enumerate() {
            let schema = criterion.check.as_ref().and_then(|check| check.schema.as_deref());
            let place = || format!("/outcomes/{at}/criteria/{number}/check/schema");
            all.extend(schema.map(|path| (place(), path)));
        }
    }
    all.extend(task.replies().map(|path| (of_work("replies"), path)));
    all
}

/// Files of a task that are being read, and what is wrong with them so far.
pub(super) struct Taking<'a> {
    dir: &'a Path,
    left: usize,
    troubles: Vec<Trouble>,
}

impl<'a> Taking<'a> {
    pub(super) fn new(dir: &'a Path) -> Self {
        Taking { dir, left: BYTES_MAX, troubles: Vec::new() }
    }

    /// The bytes of a file, if it can be used.
    pub(super) fn file(&mut self, place: String, path: &str) -> Option<Vec<u8>> {
        let read = beneath::read(self.dir, path, FILE_BYTES_MAX);
        let read = read.map_err(|why| {
            let words = format!("{why}; put the file there, or name one that is in the task's folder");
            (Code::FileUnreadable, words)
        });
        let bytes = read.and_then(|bytes| {
            if bytes.len() as u64 > FILE_BYTES_MAX {
                return Err((Code::FieldInvalid, "it has more than 16 MiB".to_owned()));
            }
            let all = || (Code::FieldInvalid, "with it the task's files have more than 256 MiB".to_owned());
            self.left = self.left.checked_sub(bytes.len()).ok_or_else(all)?;
            Ok(bytes)
        });
        match bytes {
            Ok(bytes) => Some(bytes),
            Err((code, why)) => {
                self.add(code, place, format!("{}: {why}", output::plain(path)));
                None
            }
        }
    }

    /// The bytes of a source: it must be a text, and say something.
    pub(super) fn source(&mut self, place: String, path: &str) -> Vec<u8> {
        let Some(bytes) = self.file(place.clone(), path) else { return Vec::new() };
        let wrong = match std::str::from_utf8(&bytes) {
            Err(_) => Some("it is no text in UTF-8; save it as one"),
            Ok(text) if text.trim_start_matches('\u{feff}').trim().is_empty() => Some(
                "it is empty, so nothing could be claimed from it; put the text there, or leave the source out",
            ),
            Ok(_) => None,
        };
        if let Some(wrong) = wrong {
            self.add(Code::FieldInvalid, place, format!("{}: {wrong}", output::plain(path)));
        }
        bytes
    }

    /// Notes the sources that are of another matter.
    pub(super) fn foreign(&mut self, task: &Task, matter: &str) {
        for one in task::foreign(task, matter) {
            self.add(Code::FieldInvalid, one.path, one.message);
        }
    }

    /// Notes what is wrong with something else that the task names.
    pub(super) fn no_fault(&mut self, place: &str, seen: Result<(), Failure>) {
        if let Err(Failure { code, message, .. }) = seen {
            let fix = match code {
                Code::ModelUnknown => {
                    "; countersign models list has those that there are, and models add adds one"
                }
                Code::FileUnreadable => "; name a file of the task's folder, or task",
                _told => "",
            };
            self.add(code, place.to_owned(), format!("{message}{fix}"));
        }
    }

    pub(super) fn is_whole(&self) -> bool {
        self.troubles.is_empty()
    }

    /// Everything that is wrong, with the lines of the task's file. Where all of it is of one kind, that is the code.
    pub(super) fn told(self, lines: &Lines) -> Failure {
        let mut codes: Vec<Code> = self.troubles.iter().map(|one| one.code).collect();
        codes.dedup();
        let failure = lines.told(self.troubles);
        match codes.as_slice() {
            [code @ (Code::FileUnreadable | Code::ModelUnknown)] => Failure { code: *code, ..failure },
            _several => failure,
        }
    }

    fn add(&mut self, code: Code, path: String, message: String) {
        self.troubles.push(Trouble { code, path, message });
    }
}
