//! What A5 is asked.
//! Owns: reading it, with everything that is wrong. Must not: read a file, or check a draft.

use crate::codespec::{Language, Pattern};
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::fields::{Fields, Trouble};
use countersign_record::json::Json;
use std::fmt;

/// A draft may have so many bytes.
pub const DRAFT_BYTES_MAX: usize = 1 << 20;
/// A list of libraries may have so many.
const LIBS_MAX: usize = 1_000;
const NAME_BYTES_MAX: usize = 255;

/// What A5 is asked.
#[derive(Clone, Debug)]
pub struct Input {
    /// What a model wrote.
    pub draft: String,
    /// The contract.
    pub codespec: Contract,
    /// What the contract's bytes must hash to.
    pub codespec_sha256: Option<Digest>,
    /// What the artifact is for.
    pub task: Task,
    /// When it is done.
    pub stop: Stop,
    /// What the model was asked.
    pub prompt: String,
    /// The request it belongs to.
    pub request_id: Option<String>,
    /// The turn it belongs to.
    pub turn_id: Option<u64>,
}

/// Where the contract is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contract {
    /// Here.
    Text(String),
    /// In a file, relative to the working directory.
    Path(String),
    /// Among ours.
    BuiltIn(Language),
}

/// What an artifact is for.
#[derive(Clone, Debug)]
pub struct Task {
    /// Its language.
    pub language: Language,
    /// What runs it.
    pub runtime: Option<Runtime>,
    /// The libraries it may use; all, where there is no list.
    pub allowed_libs: Option<Vec<Pattern>>,
    /// The libraries it may not use.
    pub denied_libs: Vec<Pattern>,
}

/// What runs an artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtime {
    /// Python 3, of this minor version.
    Python3(u8),
    /// A Rust of this edition or minor version. What it could not parse is not told.
    Rust,
}

/// When an artifact is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The name of its one file.
    pub filename: String,
    /// Whether nothing may stand around it.
    pub no_prose: bool,
}

/// What the name of a built-in CodeSpec begins with, in the place of a path.
const BUILT_IN: &str = "builtin:";

impl Input {
    /// Reads the document, naming everything that is wrong with it. A member that is null is one that is absent; one that is not
    /// known is refused, because a misspelt list would allow everything.
    ///
    /// # Errors
    /// It can't be used.
    pub fn read(document: Json) -> Result<Self, Vec<Trouble>> {
        let mut fields = Fields::taking(document).map_err(|trouble| vec![trouble])?;
        let draft = fields.text("draft");
        if draft.as_ref().is_some_and(|draft| draft.len() > DRAFT_BYTES_MAX) {
            let message = format!("a draft may have {DRAFT_BYTES_MAX} bytes");
            fields.trouble("draft", Code::FieldInvalid, message);
        }
        let codespec = contract(&mut fields);
        let codespec_sha256 = fields
            .optional("codespec_sha256", |fields, name| fields.parse(name, |text| Digest::try_from(text)));
        let task = fields.object("task", task);
        let stop = fields.object("stop", stop);
        if let (Some(task), Some(stop)) = (&task, &stop)
            && !stop.filename.ends_with(task.language.ending())
        {
            let message =
                format!("the name of a {} file ends with {}", task.language.as_str(), task.language.ending());
            fields.trouble_at("stop/filename", Code::FieldConflict, message);
        }
        let prompt = fields.text("prompt");
        let request_id = fields.optional("request_id", Fields::filled);
        let turn_id = fields.optional("turn_id", Fields::integer);
        fields.deny_unknown();
        fields.finish()?;
        match (draft, codespec, task, stop, prompt) {
            (Some(draft), Some(codespec), Some(task), Some(stop), Some(prompt)) => {
                Ok(Input { draft, codespec, codespec_sha256, task, stop, prompt, request_id, turn_id })
            }
            _ => Err(Vec::new()),
        }
    }
}

/// Exactly one of `codespec` and `codespec_path`.
fn contract(fields: &mut Fields<'_>) -> Option<Contract> {
    let text = fields.optional("codespec", Fields::filled);
    let path = fields.optional("codespec_path", |fields, name| fields.parse(name, path));
    let is_there = |fields: &mut Fields<'_>, name| !matches!(fields.peek(name), None | Some(Json::Null));
    match (text, path) {
        (Some(_), Some(_)) => {
            fields.trouble("codespec_path", Code::FieldConflict, "there is a codespec already");
            None
        }
        (Some(text), None) => Some(Contract::Text(text)),
        (None, Some(path)) => Some(path),
        (None, None) => {
            // What was there and bad is told already.
            if !is_there(fields, "codespec") && !is_there(fields, "codespec_path") {
                let message =
                    "a codespec or a codespec_path is required; builtin:python and builtin:rust come with us";
                fields.trouble("codespec_path", Code::FieldMissing, message);
            }
            None
        }
    }
}

fn path(text: &str) -> Result<Contract, &'static str> {
    if let Some(language) = text.strip_prefix(BUILT_IN) {
        return Language::try_from(language)
            .map(Contract::BuiltIn)
            .map_err(|_| "builtin:python or builtin:rust is needed");
    }
    if text.trim().is_empty() || text.starts_with('/') || text.chars().any(char::is_control) {
        return Err("a path relative to the working directory is needed, without control characters");
    }
    if text.split('/').any(|part| part == "..") {
        return Err("the path leads out of the working directory");
    }
    Ok(Contract::Path(text.into()))
}

fn task(fields: &mut Fields<'_>) -> Option<Task> {
    let language = fields.parse("language", |word| Language::try_from(word));
    let runtime = match language {
        Some(language) => {
            fields.optional("runtime", |fields, name| fields.parse(name, |text| runtime(text, language)))
        }
        // Without a language it can't be said whether it is right.
        None => {
            fields.peek("runtime");
            None
        }
    };
    let allowed_libs = libs(fields, "allowed_libs", language);
    let denied_libs = libs(fields, "denied_libs", language);
    if let (Some(allowed), Some(denied)) = (&allowed_libs, &denied_libs)
        && allowed.iter().any(|lib| denied.contains(lib))
    {
        fields.trouble("denied_libs", Code::FieldConflict, "a library is allowed and denied");
    }
    fields.deny_unknown();
    Some(Task { language: language?, runtime, allowed_libs, denied_libs: denied_libs.unwrap_or_default() })
}

fn libs(fields: &mut Fields<'_>, name: &'static str, language: Option<Language>) -> Option<Vec<Pattern>> {
    let texts = fields.optional(name, Fields::texts)?;
    if texts.len() > LIBS_MAX {
        fields.trouble(name, Code::FieldInvalid, format!("a list may have {LIBS_MAX} libraries"));
        return None;
    }
    let mut patterns = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        match Pattern::read(text, language?) {
            Ok(pattern @ Pattern::Path(_)) => patterns.push(pattern),
            Ok(Pattern::Method(_) | Pattern::Macro(_) | Pattern::Argument(..)) | Err(_) => {
                let message = "the name of a library is needed, such as json or os.path";
                fields.trouble_at(&format!("{name}/{at}"), Code::FieldInvalid, message);
            }
        }
    }
    (patterns.len() == texts.len()).then_some(patterns)
}

fn runtime(text: &str, language: Language) -> Result<Runtime, Unknown> {
    let unknown = Unknown(language);
    let text = text.trim();
    match language {
        Language::Python => {
            let version = text.trim_start_matches(|letter: char| !letter.is_ascii_digit());
            let name = text.strip_suffix(version).unwrap_or_default().trim_end().to_lowercase();
            let mut parts = version.split('.').map(str::parse::<u8>);
            match (name.as_str(), parts.next(), parts.next()) {
                ("" | "python" | "cpython", Some(Ok(3)), Some(Ok(minor)))
                    if parts.all(|part| part.is_ok()) =>
                {
                    Ok(Runtime::Python3(minor))
                }
                _ => Err(unknown),
            }
        }
        Language::Rust => {
            let version = text.trim_start_matches("edition").trim_start_matches("rust").trim_start();
            let is_edition = ["2015", "2018", "2021", "2024"].contains(&version);
            let is_version =
                version.starts_with("1.") && version.split('.').all(|part| part.parse::<u32>().is_ok());
            if is_edition || is_version { Ok(Runtime::Rust) } else { Err(unknown) }
        }
    }
}

/// A runtime that nobody knows.
struct Unknown(Language);

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Language::Python => "a version such as 3.12 is needed",
            Language::Rust => "an edition such as 2024 or a version such as 1.89 is needed",
        })
    }
}

fn stop(fields: &mut Fields<'_>) -> Option<Stop> {
    let single_file = fields.absent_or("single_file", Fields::boolean);
    if single_file == Some(false) {
        fields.trouble("single_file", Code::FieldInvalid, "an artifact is one file: true is needed");
    }
    let filename = fields.parse("filename", |name| {
        let is_plain =
            |letter: char| !letter.is_control() && !letter.is_whitespace() && !"/\\`\"'".contains(letter);
        let is_name = name.len() <= NAME_BYTES_MAX && !name.starts_with('.') && name.chars().all(is_plain);
        if is_name && !name.is_empty() {
            Ok(name.to_owned())
        } else {
            Err("the name of one file is needed, without a directory, blanks or quotes")
        }
    });
    let no_prose = fields.absent_or("no_prose", Fields::boolean).unwrap_or(true);
    fields.deny_unknown();
    Some(Stop { filename: filename?, no_prose })
}

#[cfg(test)]
#[path = "input_tests.rs"]
mod tests;
