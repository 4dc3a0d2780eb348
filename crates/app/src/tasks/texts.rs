//! The sources of a task, as they were taken in: the run reads these and no file.
//! Owns: finding passages in them. Must not: decide which are eligible.

use crate::passages::Passages;
use countersign_kernel::scope::File;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::json::Number;
use countersign_record::label::Label;
use countersign_record::row::{DataClass, Taint};
use countersign_record::time::Timestamp;
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::sources::{Eligible, Manifest, NotRead, Retrieved, Sources};
use countersign_work::task::{Source, Task};

/// The sources of a task.
pub(crate) struct Texts {
    all: Vec<Text>,
    passages: Passages,
}

struct Text {
    path: String,
    text: String,
    sha256: Digest,
    label: Label,
    at: Timestamp,
}

impl Texts {
    /// Those of a task that are more than looked up in passing, by their bytes; `received` is when those came that do not say.
    pub(crate) fn new(task: &Task, bytes: impl Fn(&Source) -> Option<Vec<u8>>, received: &Timestamp) -> Self {
        let text = |source: &Source| {
            let text = String::from_utf8(bytes(source)?).ok()?;
            let at = source.at.as_ref().and_then(|at| Timestamp::try_from(at.as_str()).ok());
            Some(Text {
                path: source.path.clone(),
                sha256: Digest::of(text.as_bytes()),
                text,
                label: label(source),
                at: at.unwrap_or_else(|| received.clone()),
            })
        };
        let all = task.sources.iter().filter(|source| source.tier() > 0).filter_map(text).collect();
        Texts { all, passages: Passages::default() }
    }

    fn find(&self, file: &Eligible) -> Option<&Text> {
        self.all.iter().find(|one| one.path == file.path && one.sha256 == file.sha256)
    }
}

/// What holds for a source, in the words of rows.
fn label(source: &Source) -> Label {
    let data_class = DataClass::try_from(source.class().as_str()).unwrap_or(DataClass::LocalOnly);
    let taint = Taint::try_from(source.taint().as_str()).unwrap_or(Taint::Unclassified);
    Label { data_class, taint }
}

/// A time as manifests have it.
fn seconds(at: &Timestamp) -> Number {
    let seconds = u64::try_from(at.instant().seconds).unwrap_or_default();
    Number::try_from(seconds).unwrap_or_else(|_| Number::from(0_u32))
}

fn not_read(message: String) -> NotRead {
    NotRead { code: Code::FileUnreadable, message }
}

impl Sources for Texts {
    fn manifest<'a>(&'a self) -> Answer<'a, Result<Manifest, NotRead>> {
        let file = |one: &Text| File {
            path: one.path.clone(),
            sha256: one.sha256,
            mtime: seconds(&one.at),
            tags: Vec::new(),
        };
        let files = self.all.iter().map(file).collect();
        Box::pin(std::future::ready(Ok(Manifest { files, skipped: Vec::new() })))
    }

    fn text<'a>(&'a self, file: &'a Eligible) -> Answer<'a, Result<String, NotRead>> {
        let found = self.find(file).map(|one| one.text.clone());
        let found = found.ok_or_else(|| not_read(format!("{}: it is no source of the task", file.path)));
        Box::pin(std::future::ready(found))
    }

    fn retrieve<'a>(
        &'a self,
        question: &'a str,
        files: &'a [Eligible],
    ) -> Answer<'a, Result<Retrieved, NotRead>> {
        let text = |file: &Eligible| {
            self.find(file)
                .map(|one| one.text.clone())
                .ok_or_else(|| "it is no source of the task".to_owned())
        };
        let found = self.passages.retrieve(question, files, text);
        let found = found.map_err(|error| not_read(error.to_string()));
        Box::pin(std::future::ready(found))
    }

    fn label(&self, path: &str) -> Label {
        self.all.iter().find(|one| one.path == path).map_or(Label::OUTSIDE, |one| one.label)
    }
}
