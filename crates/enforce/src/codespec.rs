//! The CodeSpec: Markdown for people, with one fenced block of rules for each language.
//! Owns: reading it, with the line of everything that is wrong; what of it belongs to a rule. Must not: change it.
//!
//! A block of rules is TOML behind the info string `codespec-python` or `codespec-rust`. What a block does not say is not
//! a rule; what it says and nobody knows is refused, because a misspelt list would forbid nothing.

mod table;
mod words;

pub(crate) use words::plain;
pub use words::{Case, Extent, Forbidden, Language, Need, Part, Pattern, Permission};

use crate::fences::{self, Block, Markdown};
use crate::rule::{Rule, Section};
use countersign_record::digest::Digest;
use serde::Serialize;
use std::fmt;
use table::{Notes, Table};
use toml::de::DeTable;

/// A CodeSpec may have so many bytes.
pub const BYTES_MAX: usize = 1 << 20;
/// So many letters of an excerpt are shown.
const EXCERPT_CHARS_MAX: usize = 6_000;
const LINE_WIDTH: u16 = 88;

/// What is wrong with a CodeSpec.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Trouble {
    /// In which line, from 1.
    pub line: usize,
    /// What.
    pub message: String,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// A CodeSpec, for one language.
#[derive(Clone, Debug)]
pub struct CodeSpec {
    /// The language.
    pub language: Language,
    /// Its version, as it says.
    pub version: String,
    /// SHA-256 of its bytes.
    pub sha256: Digest,
    /// What it asks for.
    pub rules: Rules,
    excerpts: Vec<Excerpt>,
}

/// A piece of a CodeSpec.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Excerpt {
    /// What it is about.
    pub section: Section,
    /// Its first line, from 1.
    pub first_line: usize,
    /// Its last line.
    pub last_line: usize,
    /// Its words; cut where they are many.
    pub text: String,
}

/// What a CodeSpec asks for.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Whether the draft must name its file.
    pub filename: Need,
    /// Whether the block must say what language it is in.
    pub fence: Need,
    /// The parts of a file, in order; a part that is not named may stand anywhere.
    pub order: Vec<Part>,
    /// The parts that must be there: the header, the docstring.
    pub required: Vec<Part>,
    /// Which classes and types must be documented.
    pub document_types: Extent,
    /// Which functions must be documented.
    pub document_functions: Extent,
    /// How a file logs.
    pub logging: LoggingRules,
    /// How things are called.
    pub naming: NamingRules,
    /// What may be imported.
    pub imports: ImportRules,
    /// What must not be used.
    pub forbidden: Vec<Forbidden>,
    /// Rust's `unsafe` and foreign functions.
    pub unsafe_code: Permission,
    /// The longest line.
    pub line_width: u16,
}

/// How a file logs.
#[derive(Clone, Debug, Default)]
pub struct LoggingRules {
    /// Whether it must.
    pub need: Need,
    /// With which of these.
    pub modules: Vec<Pattern>,
    /// Whether it may print.
    pub print: Permission,
}

/// How things are called: each in one of these ways, or in any where there is none.
#[derive(Clone, Debug, Default)]
pub struct NamingRules {
    /// Classes, structs, enums, traits.
    pub types: Vec<Case>,
    /// Functions and methods.
    pub functions: Vec<Case>,
    /// Arguments of functions.
    pub arguments: Vec<Case>,
    /// Names at the top of a file.
    pub constants: Vec<Case>,
    /// Other names.
    pub variables: Vec<Case>,
}

/// What may be imported.
#[derive(Clone, Debug, Default)]
pub struct ImportRules {
    /// Only these, if there is a list.
    pub allow: Option<Vec<Pattern>>,
    /// Not these.
    pub deny: Vec<Pattern>,
    /// `from x import *`, `use x::*`.
    pub star: Permission,
    /// What is imported while the code runs.
    pub dynamic: Permission,
}

impl CodeSpec {
    /// The one that comes with us.
    #[must_use]
    pub fn built_in(language: Language) -> &'static str {
        match language {
            Language::Python => include_str!("../codespecs/python.md"),
            Language::Rust => include_str!("../codespecs/rust.md"),
        }
    }

    /// Reads the rules for a language, naming everything that is wrong with them.
    ///
    /// # Errors
    /// They can't be used.
    pub fn read(text: &str, language: Language) -> Result<Self, Vec<Trouble>> {
        let one = |line: usize, message: String| vec![Trouble { line, message }];
        if text.len() > BYTES_MAX {
            return Err(one(1, format!("a CodeSpec may have {BYTES_MAX} bytes")));
        }
        let markdown = fences::read(text);
        let name = format!("codespec-{}", language.as_str());
        let is_ours = |block: &&Block<'_>| block.info.split_whitespace().next() == Some(&name);
        let blocks: Vec<&Block<'_>> = markdown.blocks.iter().filter(is_ours).collect();
        let block = match blocks.as_slice() {
            [] => return Err(one(1, format!("there is no fenced block {name}"))),
            [block] => block,
            [_, second, ..] => return Err(one(second.line, format!("there is a second block {name}"))),
        };
        if !block.is_closed {
            return Err(one(block.line, format!("the block {name} is not closed")));
        }
        let mut notes = Notes::new(&block.code, block.line);
        let table = match DeTable::parse(&block.code) {
            Ok(table) => table,
            Err(error) => {
                notes.push(error.span().map_or(0, |span| span.start), error.message());
                return Err(notes.troubles);
            }
        };
        let (version, rules) = rules(&mut notes, table.get_ref(), language);
        match version {
            Some(version) if notes.troubles.is_empty() => Ok(CodeSpec {
                language,
                version,
                sha256: Digest::of(text.as_bytes()),
                rules,
                excerpts: excerpts(&markdown, block),
            }),
            Some(_) | None => {
                notes.troubles.sort_by_key(|trouble| trouble.line);
                Err(notes.troubles)
            }
        }
    }

    /// What is said of a section: its words, and its rules.
    pub fn excerpts(&self, section: Section) -> impl Iterator<Item = &Excerpt> {
        self.excerpts.iter().filter(move |excerpt| excerpt.section == section)
    }
}

fn rules(notes: &mut Notes<'_>, table: &DeTable<'_>, language: Language) -> (Option<String>, Rules) {
    let mut root = Table::root(table);
    let version = match root.text(notes, "version") {
        Some((_, version)) if !version.trim().is_empty() => Some(version.to_owned()),
        Some((at, _)) => {
            notes.push(at, "version: the text is empty");
            None
        }
        None => {
            notes.push(0, "version: a text is required");
            None
        }
    };
    if let Some((at, formatter)) = root.text(notes, "formatter")
        && formatter != language.formatter()
    {
        notes.push(at, format!("formatter: this build has {}", language.formatter()));
    }
    let mut rules = Rules { line_width: LINE_WIDTH, ..Rules::default() };
    let mut shape = root.table(notes, "shape");
    rules.filename = shape.word(notes, "filename");
    rules.fence = shape.word(notes, "language");
    shape.deny_unknown(notes);
    let mut structure = root.table(notes, "structure");
    rules.order = structure.list(notes, "order", |word| Part::try_from(word)).unwrap_or_default();
    rules.required = structure.list(notes, "required", required).unwrap_or_default();
    structure.deny_unknown(notes);
    let mut docstrings = root.table(notes, "docstrings");
    rules.document_types = docstrings.word(notes, "types");
    rules.document_functions = docstrings.word(notes, "functions");
    docstrings.deny_unknown(notes);
    let pattern = |text: &str| Pattern::read(text, language);
    let mut logging = root.table(notes, "logging");
    rules.logging = LoggingRules {
        need: logging.word(notes, "need"),
        modules: logging.list(notes, "modules", pattern).unwrap_or_default(),
        print: logging.word(notes, "print"),
    };
    logging.deny_unknown(notes);
    let mut naming = root.table(notes, "naming");
    let mut cases =
        |name: &'static str| naming.list(notes, name, |word| Case::try_from(word)).unwrap_or_default();
    rules.naming = NamingRules {
        types: cases("types"),
        functions: cases("functions"),
        arguments: cases("arguments"),
        constants: cases("constants"),
        variables: cases("variables"),
    };
    naming.deny_unknown(notes);
    let mut imports = root.table(notes, "imports");
    rules.imports = ImportRules {
        allow: imports.list(notes, "allow", pattern),
        deny: imports.list(notes, "deny", pattern).unwrap_or_default(),
        star: imports.word(notes, "star"),
        dynamic: imports.word(notes, "dynamic"),
    };
    imports.deny_unknown(notes);
    calls(notes, &mut root, &mut rules, language);
    let mut format = root.table(notes, "format");
    // The formatter of Rust has a width of its own.
    if language == Language::Python {
        rules.line_width = format.number(notes, "line_width", (40, 200)).unwrap_or(LINE_WIDTH);
    }
    format.deny_unknown(notes);
    root.deny_unknown(notes);
    (version, rules)
}

fn calls(notes: &mut Notes<'_>, root: &mut Table<'_, '_>, rules: &mut Rules, language: Language) {
    let mut calls = root.table(notes, "calls");
    for (name, rule) in [
        ("io", Rule::ForbiddenIo),
        ("network", Rule::ForbiddenNetwork),
        ("time", Rule::ForbiddenTime),
        ("process", Rule::ForbiddenProcess),
        ("code", Rule::ForbiddenCode),
    ] {
        let patterns = calls.list(notes, name, |text| Pattern::read(text, language)).unwrap_or_default();
        rules.forbidden.extend(patterns.into_iter().map(|pattern| Forbidden { pattern, rule }));
    }
    if language == Language::Rust {
        rules.unsafe_code = calls.word(notes, "unsafe");
    }
    calls.deny_unknown(notes);
}

fn required(word: &str) -> Result<Part, &'static str> {
    let part = Part::try_from(word).ok().filter(|part| [Part::Header, Part::Docstring].contains(part));
    part.ok_or("header or docstring is needed")
}

/// What is said of each section: the paragraphs below its heading, and its table.
fn excerpts(markdown: &Markdown<'_>, block: &Block<'_>) -> Vec<Excerpt> {
    let mut excerpts = Vec::new();
    for section in Section::ALL {
        let is_about = |line: &str| {
            let title = line.trim_start_matches('#').to_lowercase();
            title.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == section.as_str())
        };
        let prose = pieces(markdown.prose.iter().copied(), |line| line.starts_with('#'), is_about);
        let rules = block.code.lines().enumerate().map(|(at, line)| (block.line + at + 1, line));
        let heading = format!("[{}]", section.as_str());
        let table = pieces(rules, |line| line.starts_with('['), |line| line.trim_end() == heading);
        excerpts.extend(prose.into_iter().chain(table).map(|(first_line, last_line, text)| Excerpt {
            section,
            first_line,
            last_line,
            text,
        }));
    }
    excerpts
}

/// The pieces that begin with a heading that is wanted, up to the next heading.
fn pieces<'a>(
    lines: impl Iterator<Item = (usize, &'a str)>,
    is_heading: impl Fn(&str) -> bool,
    is_wanted: impl Fn(&str) -> bool,
) -> Vec<(usize, usize, String)> {
    let mut pieces: Vec<(usize, usize, String)> = Vec::new();
    let mut is_within = false;
    for (number, line) in lines {
        if is_heading(line) {
            is_within = is_wanted(line);
            if is_within {
                pieces.push((number, number, String::new()));
            }
        }
        let is_blank = line.trim().is_empty();
        if let Some((_, last, text)) = pieces.last_mut().filter(|_| is_within && !is_blank) {
            *last = number;
            if text.chars().count() + line.chars().count() < EXCERPT_CHARS_MAX {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    pieces
}

#[cfg(test)]
#[path = "codespec/codespec_tests.rs"]
mod tests;
