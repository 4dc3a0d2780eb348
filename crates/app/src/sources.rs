//! The folders that a run may read.
//! Owns: their names, reading their files as they were when the manifest was made. Must not: decide which are eligible.

use crate::beneath;
use crate::failure::Failure;
use crate::passages::Passages;
use countersign_kernel::policy::Policy;
use countersign_kernel::scope::File;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::label::Label;
use countersign_record::row::Taint;
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::sources::{Eligible, Manifest, NotRead, Retrieved, Sources};
use countersign_sources::folder::{self, Asked, Limits};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The longest text that is looked through.
const TEXT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The folders that a run may read.
pub(crate) struct Folders(Arc<Inner>);

struct Inner {
    /// Each with the name that its files stand under; one alone has none.
    dirs: Vec<(String, PathBuf)>,
    /// What is no part of them: our own data.
    keep_out: Vec<PathBuf>,
    cache: PathBuf,
    policy: Arc<Policy>,
    passages: Passages,
}

impl Folders {
    pub(crate) fn new(
        dirs: &[PathBuf],
        keep_out: &Path,
        cache: PathBuf,
        policy: Arc<Policy>,
    ) -> Result<Self, Failure> {
        let mut named: BTreeMap<String, PathBuf> = BTreeMap::new();
        for dir in dirs {
            let shown = crate::output::plain(&dir.display().to_string());
            let real = dir.canonicalize().map_err(|error| Failure::file(&shown, &error))?;
            if !real.is_dir() {
                return Err(Failure::new(Code::FileUnreadable, format!("{shown}: it is no directory")));
            }
            let name = real.file_name().and_then(|name| name.to_str()).unwrap_or("sources").to_owned();
            let name = if dirs.len() == 1 { String::new() } else { name };
            if named.insert(name.clone(), real).is_some() {
                let message = format!("two of the sources are called {name}; give one of them another name");
                return Err(Failure::new(Code::UsageInvalid, message));
            }
        }
        let inner = Inner {
            dirs: named.into_iter().collect(),
            keep_out: vec![keep_out.to_owned()],
            cache,
            policy,
            passages: Passages::default(),
        };
        Ok(Folders(Arc::new(inner)))
    }
}

/// Does what takes the disk's time on a thread of its own.
fn apart<'a, T: Send + 'static>(
    inner: &Arc<Inner>,
    work: impl FnOnce(&Inner) -> Result<T, NotRead> + Send + 'static,
) -> Answer<'a, Result<T, NotRead>> {
    let inner = Arc::clone(inner);
    Box::pin(async move {
        let done = tokio::task::spawn_blocking(move || work(&inner)).await;
        done.unwrap_or_else(|error| Err(unread(error.to_string())))
    })
}

fn unread(message: String) -> NotRead {
    NotRead { code: Code::FileUnreadable, message }
}

impl Sources for Folders {
    fn manifest<'a>(&'a self) -> Answer<'a, Result<Manifest, NotRead>> {
        apart(&self.0, Inner::manifest)
    }

    fn text<'a>(&'a self, file: &'a Eligible) -> Answer<'a, Result<String, NotRead>> {
        let file = file.clone();
        apart(&self.0, move |inner| inner.text(&file).map_err(|why| unread(format!("{}: {why}", file.path))))
    }

    fn retrieve<'a>(
        &'a self,
        question: &'a str,
        files: &'a [Eligible],
    ) -> Answer<'a, Result<Retrieved, NotRead>> {
        let (question, files) = (question.to_owned(), files.to_vec());
        apart(&self.0, move |inner| {
            let found = inner.passages.retrieve(&question, &files, |file| inner.text(file));
            found.map_err(|error| unread(error.to_string()))
        })
    }

    fn label(&self, path: &str) -> Label {
        // A rule may name the file, as it is called here, or a directory that the whole folder lies in.
        let policy = &self.0.policy;
        let (dir, own) = self.0.place(path).unwrap_or((Path::new(""), path));
        let classes = [path, own].map(|path| policy.class_of(path));
        let data_class = classes.into_iter().fold(policy.class_of_root(&dir.to_string_lossy()), Ord::max);
        Label { data_class, taint: Taint::ExternalUntrusted }
    }
}

impl Inner {
    fn manifest(&self) -> Result<Manifest, NotRead> {
        let mut manifest = Manifest::default();
        for (name, dir) in &self.dirs {
            let asked =
                Asked { dir, limits: Limits::default(), keep_out: &self.keep_out, cache: Some(&self.cache) };
            let folder = folder::read(&asked)
                .map_err(|error| NotRead { code: error.code(), message: error.to_string() })?;
            let under = |path: &str| if name.is_empty() { path.to_owned() } else { format!("{name}/{path}") };
            manifest.files.extend(folder.files.iter().map(|found| {
                let file = found.to_file();
                File { path: under(&file.path), ..file }
            }));
            manifest
                .skipped
                .extend(folder.skipped.iter().map(|skipped| (under(&skipped.path), skipped.why.detail())));
        }
        Ok(manifest)
    }

    fn text(&self, file: &Eligible) -> Result<String, String> {
        let (dir, path) = self.place(&file.path).ok_or_else(|| "it is in none of the sources".to_owned())?;
        let bytes = beneath::read(dir, path, TEXT_BYTES_MAX)?;
        if bytes.len() as u64 > TEXT_BYTES_MAX {
            return Err("it has more than 16 MiB".to_owned());
        }
        if Digest::of(&bytes) != file.sha256 {
            return Err("it was changed since it was listed".to_owned());
        }
        String::from_utf8(bytes).map_err(|_| "it is no text in UTF-8".to_owned())
    }

    fn place<'p>(&self, path: &'p str) -> Option<(&Path, &'p str)> {
        self.dirs.iter().find_map(|(name, dir)| match name.as_str() {
            "" => Some((dir.as_path(), path)),
            name => Some((dir.as_path(), path.strip_prefix(name)?.strip_prefix('/')?)),
        })
    }
}
