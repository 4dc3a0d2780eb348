//! What A0 is asked.
//! Owns: reading it, with everything that is wrong. Must not: decide.

use crate::history::alias::Lexicon;
use crate::words::spaced;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::fields::{Fields, Trouble};
use countersign_record::json::{Json, Number};
use regex::{RegexSet, RegexSetBuilder};

/// The most that the patterns may take in memory: a short pattern can ask for a lot.
const PATTERNS_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The longest path that is a path.
const PATH_BYTES_MAX: usize = 4_096;

/// What A0 is asked.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// What the user says.
    pub prompt: String,
    /// The files that there are.
    pub manifest: Vec<File>,
    /// The files that are switched off; all others are on.
    pub off: BTreeSet<String>,
    /// The files that a person named, if so.
    pub lock: Option<Lock>,
    /// Files that stay whatever matches.
    pub include: BTreeSet<String>,
    /// Files that go whatever matches.
    pub exclude: BTreeSet<String>,
    /// Patterns of paths.
    pub patterns: RegexSet,
    /// Words that mean the same.
    pub aliases: Lexicon,
    /// Tags that come first where files fit equally well.
    pub priority_tags: Vec<String>,
    /// How many files may stay.
    pub max_files: Option<usize>,
    /// What happens where nothing matches.
    pub fallback: Fallback,
    /// The request it belongs to.
    pub request_id: Option<String>,
    /// The turn it belongs to.
    pub turn_id: Option<u64>,
}

/// A file that there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Where it is.
    pub path: String,
    /// SHA-256 of its bytes.
    pub sha256: Digest,
    /// When it was changed, in seconds since 1970.
    pub mtime: Number,
    /// What it is about.
    pub tags: Vec<String>,
}

impl File {
    /// Its name, without its directory.
    #[must_use]
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Its name without its ending. A name that is nothing but an ending is all there is.
    #[must_use]
    pub fn stem(&self) -> &str {
        match self.name().rsplit_once('.') {
            Some((stem, _)) if !stem.is_empty() => stem,
            Some(_) | None => self.name(),
        }
    }

    /// When it was changed, to be compared.
    #[must_use]
    pub fn changed(&self) -> f64 {
        self.mtime.as_f64()
    }
}

/// The files that a person named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lock {
    /// Whether they alone may be used.
    pub enabled: bool,
    /// Their paths.
    pub files: Vec<String>,
}

/// What happens where nothing matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fallback {
    /// No file may be used.
    #[default]
    None,
    /// Every file that is on may be used.
    AllOn,
    /// Every file that is on may be used, also where something matches: what matches comes first. Only where the prompt
    /// writes out the name or the path of a file, those alone that match. Runs ask so: a word of a question that happens
    /// to be a title must not hide the other files.
    AllOnUnlessNamed,
}

impl Input {
    /// Whether a file is switched off.
    #[must_use]
    pub fn is_off(&self, path: &str) -> bool {
        self.off.contains(path)
    }

    /// Reads the document, naming everything that is wrong with it. A member that is null is one that is absent; one that
    /// is not known is refused, because a misspelt list would exclude nothing.
    ///
    /// # Errors
    /// It can't be used.
    pub fn read(document: Json) -> Result<Self, Vec<Trouble>> {
        let mut fields = Fields::taking(document).map_err(|trouble| Vec::from([trouble]))?;
        let prompt = fields.text("prompt");
        let manifest = fields.objects("manifest", file);
        let off = fields.optional("toggles", toggles);
        let lock = fields.optional("lock", |fields, name| fields.object(name, lock));
        let [include, exclude] = ["include", "exclude"].map(|name| fields.optional(name, Fields::texts));
        let patterns = fields.optional("patterns", patterns);
        let aliases = fields.optional("aliases", aliases);
        let priority_tags = fields.optional("priority_tags", Fields::texts);
        let max_files = fields.optional("max_files", Fields::integer);
        let fallback = fields.optional("fallback", |fields, name| {
            fields.parse(name, |word| match word {
                "none" => Ok(Fallback::None),
                "all_on" => Ok(Fallback::AllOn),
                _ => Err("none or all_on is needed"),
            })
        });
        let request_id = fields.optional("request_id", Fields::filled);
        let turn_id = fields.optional("turn_id", Fields::integer);
        if let Some(manifest) = &manifest {
            twice(&mut fields, manifest);
        }
        fields.deny_unknown();
        let (Some(prompt), Some(manifest)) = (prompt, manifest) else {
            return Err(fields.finish().err().unwrap_or_default());
        };
        fields.finish()?;
        Ok(Input {
            prompt,
            manifest,
            off: off.unwrap_or_default(),
            lock,
            include: include.unwrap_or_default().into_iter().collect(),
            exclude: exclude.unwrap_or_default().into_iter().collect(),
            patterns: patterns.unwrap_or_default(),
            aliases: aliases.unwrap_or_default(),
            priority_tags: priority_tags.unwrap_or_default(),
            max_files: max_files.map(|most| usize::try_from(most).unwrap_or(usize::MAX)),
            fallback: fallback.unwrap_or_default(),
            request_id,
            turn_id,
        })
    }
}

fn file(fields: &mut Fields<'_>) -> Option<File> {
    let path = fields.parse("path", |path| match path {
        "" => Err("the path is empty"),
        path if path.len() > PATH_BYTES_MAX => Err("the path has more than 4096 bytes"),
        path if path.contains('\0') => Err("the path has a NUL"),
        path => Ok(path.to_string()),
    });
    let sha256 = fields.parse("sha256", |text| Digest::try_from(text));
    let mtime = match fields.value("mtime") {
        Some(Json::Number(number)) => Some(number.clone()),
        Some(_) => {
            fields.trouble("mtime", Code::FieldWrongType, "a number of seconds since 1970 is needed");
            None
        }
        None => None,
    };
    let tags = fields.optional("tags", Fields::texts).unwrap_or_default();
    fields.deny_unknown();
    Some(File { path: path?, sha256: sha256?, mtime: mtime?, tags })
}

/// The paths that are OFF.
fn toggles(fields: &mut Fields<'_>, name: &'static str) -> Option<BTreeSet<String>> {
    let toggles = fields.words(name, |word| match word {
        "ON" => Ok(false),
        "OFF" => Ok(true),
        _ => Err("ON or OFF is needed"),
    })?;
    Some(toggles.into_iter().filter(|(_, is_off)| *is_off).map(|(path, _)| path).collect())
}

fn lock(fields: &mut Fields<'_>) -> Option<Lock> {
    let enabled = fields.boolean("enabled");
    let files = fields.optional("files", Fields::texts).unwrap_or_default();
    fields.deny_unknown();
    Some(Lock { enabled: enabled?, files })
}

fn patterns(fields: &mut Fields<'_>, name: &'static str) -> Option<RegexSet> {
    let patterns = fields.texts(name)?;
    let of = |patterns: &[String]| {
        RegexSetBuilder::new(patterns)
            .case_insensitive(true)
            .size_limit(PATTERNS_BYTES_MAX)
            .dfa_size_limit(PATTERNS_BYTES_MAX)
            .build()
    };
    // One by one first, so that the wrong one is named.
    for (at, pattern) in patterns.iter().enumerate() {
        if let Err(error) = of(core::slice::from_ref(pattern)) {
            fields.trouble_at(&format!("{name}/{at}"), Code::FieldInvalid, last_line(&error.to_string()));
            return None;
        }
    }
    match of(&patterns) {
        Ok(set) => Some(set),
        Err(error) => {
            fields.trouble(name, Code::FieldInvalid, last_line(&error.to_string()));
            None
        }
    }
}

/// The error without the drawing above it.
fn last_line(message: &str) -> String {
    let line = message.lines().next_back().unwrap_or_default();
    format!("the pattern can't be used: {}", line.trim_start_matches("error: "))
}

fn aliases(fields: &mut Fields<'_>, name: &'static str) -> Option<Lexicon> {
    let groups: BTreeMap<String, Vec<String>> = fields.text_lists(name)?;
    // As the prompt is looked through: by its words.
    let group = |(term, others): (String, Vec<String>)| {
        core::iter::once(term).chain(others).map(|term| spaced(&term)).collect::<Vec<_>>()
    };
    match Lexicon::new(groups.into_iter().map(group)) {
        Ok(lexicon) => Some(lexicon),
        Err(refusal) => {
            fields.trouble(name, Code::FieldInvalid, refusal.to_string());
            None
        }
    }
}

/// Notes each path that stands twice.
fn twice(fields: &mut Fields<'_>, manifest: &[File]) {
    let mut seen = BTreeSet::new();
    for (at, file) in manifest.iter().enumerate() {
        if !seen.insert(file.path.as_str()) {
            let place = format!("manifest/{at}/path");
            fields.trouble_at(&place, Code::FieldInvalid, "the manifest has this path twice");
        }
    }
}
