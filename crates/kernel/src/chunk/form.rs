//! What a file is made of: headings and paragraphs, blocks of code, paragraphs.
//! Owns: telling them apart, line by line. Must not: bound their size.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Markdown.
    Markdown,
    /// A programming language, or a configuration.
    Code,
    /// Anything else.
    Plain,
}

const MARKDOWN: [&str; 3] = ["md", "markdown", "mdx"];
const CODE: [&str; 47] = [
    "bash", "c", "cc", "cfg", "clj", "conf", "cpp", "cs", "css", "dart", "ex", "exs", "go", "h", "hpp", "hs",
    "html", "ini", "java", "js", "json", "jsx", "kt", "lua", "m", "mjs", "ml", "php", "pl", "proto", "ps1",
    "py", "pyi", "r", "rb", "rs", "scala", "sh", "sql", "svelte", "swift", "tf", "toml", "ts", "tsx", "xml",
    "yaml",
];
/// Names of files without an ending that are code.
const CODE_NAMES: [&str; 6] = ["dockerfile", "makefile", "justfile", "rakefile", "gemfile", "jenkinsfile"];

impl Form {
    /// By the end of a file's name.
    #[must_use]
    pub fn of(path: &str) -> Self {
        let name = path.rsplit('/').next().unwrap_or_default().to_lowercase();
        let ending = name.rsplit_once('.').map(|(_, ending)| ending).unwrap_or_default();
        match ending {
            ending if MARKDOWN.contains(&ending) => Form::Markdown,
            ending if CODE.contains(&ending) || ending == "yml" => Form::Code,
            "" if CODE_NAMES.contains(&name.as_str()) => Form::Code,
            _ => Form::Plain,
        }
    }
}

/// A part of a file that belongs together.
pub(super) struct Block {
    /// Where, in bytes; each begins where the one before ends.
    pub(super) span: Range<usize>,
    /// The headings above it.
    pub(super) headings: Vec<String>,
    /// Whether it begins with a heading, so that nothing before it belongs to it.
    pub(super) begins: bool,
}

/// The longest line that is a heading in a text without marks.
const HEADING_CHARS_MAX: usize = 80;
/// Characters of a heading that are kept.
const HEADING_KEPT_MAX: usize = 200;

/// The blocks of a file, in order; together they are all of it.
pub(super) fn blocks(form: Form, text: &str) -> Vec<Block> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut blocks: Vec<Block> = Vec::new();
    let mut above: Vec<(usize, String)> = Vec::new();
    let mut fence: Option<&str> = None;
    let mut at = 0;
    for (number, line) in lines.iter().enumerate() {
        let start = at;
        at += line.len();
        // The mark by which some programs begin a file is no part of its first line.
        let line = line.strip_prefix('\u{feff}').filter(|_| number == 0).unwrap_or(line);
        let bare = line.trim();
        let is_fenced = fence.is_some();
        if form == Form::Markdown {
            fence = fenced(fence, bare);
        }
        let before = number.checked_sub(1).and_then(|number| lines.get(number)).map(|line| line.trim());
        let next = lines.get(number + 1).map(|line| line.trim()).unwrap_or_default();
        let heading = if is_fenced { None } else { heading(form, line, before, next) };
        let starts = match form {
            _ if blocks.is_empty() || heading.is_some() => true,
            Form::Markdown | Form::Plain => !is_fenced && before == Some("") && !bare.is_empty(),
            Form::Code => before == Some("") && begins_code(line),
        };
        if let Some((level, title)) = &heading {
            above.retain(|(other, _)| other < level);
            above.push((*level, title.clone()));
        }
        match blocks.last_mut() {
            Some(last) if !starts => last.span.end = at,
            Some(_) | None => blocks.push(Block {
                span: start..at,
                headings: above.iter().map(|(_, title)| title.clone()).collect(),
                begins: heading.is_some(),
            }),
        }
    }
    blocks
}

/// The fence that is open after a line.
fn fenced<'a>(open: Option<&'a str>, line: &'a str) -> Option<&'a str> {
    let marks = ["```", "~~~"].into_iter().find(|marks| line.starts_with(marks));
    match (open, marks) {
        (Some(open), Some(marks)) if open.starts_with(marks) => None,
        (Some(open), _) => Some(open),
        (None, marks) => marks,
    }
}

/// Whether a line begins a block of code: it stands at the margin and ends nothing.
fn begins_code(line: &str) -> bool {
    !line.starts_with(|letter: char| letter.is_whitespace() || ['}', ')', ']'].contains(&letter))
}

/// The level and the title of a heading.
fn heading(form: Form, line: &str, before: Option<&str>, next: &str) -> Option<(usize, String)> {
    let bare = line.trim();
    if bare.is_empty() {
        return None;
    }
    let title = |text: &str| text.chars().take(HEADING_KEPT_MAX).collect::<String>();
    match form {
        Form::Code => None,
        Form::Markdown => {
            let level = bare.len() - bare.trim_start_matches('#').len();
            let rest = bare.get(level..).unwrap_or_default();
            if (1..=6).contains(&level) && rest.starts_with([' ', '\t']) && line.starts_with('#') {
                return Some((level, title(rest.trim().trim_end_matches('#').trim_end())));
            }
            let is_alone = before.is_none_or(str::is_empty);
            let is_drawn = |mark: char| next.len() >= 3 && next.chars().all(|letter| letter == mark);
            let is_text = bare.starts_with(|letter: char| letter.is_alphanumeric());
            match (is_alone && is_text, is_drawn('='), is_drawn('-')) {
                (true, true, _) => Some((1, title(bare))),
                (true, _, true) => Some((2, title(bare))),
                _ => None,
            }
        }
        Form::Plain => plain_heading(bare, before, next).map(|level| (level, title(bare))),
    }
}

/// A short line that stands alone, is no sentence, and is numbered or written in capitals.
fn plain_heading(line: &str, before: Option<&str>, next: &str) -> Option<usize> {
    let is_alone = before.is_none_or(str::is_empty) && next.is_empty();
    let ends = line.ends_with(['.', ',', ';', ':', '!', '?']);
    if !is_alone || ends || line.chars().count() > HEADING_CHARS_MAX {
        return None;
    }
    let letters = || line.chars().filter(|letter| letter.is_alphabetic());
    let is_capital = letters().next().is_some() && letters().all(|letter| !letter.is_lowercase());
    let first = line.split(' ').next().unwrap_or_default();
    let is_number = first.starts_with(|letter: char| letter.is_ascii_digit())
        && first.chars().all(|letter| letter.is_ascii_digit() || letter == '.' || letter == ')');
    let word = first.to_lowercase().to_string();
    let is_named = ["article", "section", "chapter", "part", "annex", "appendix", "schedule", "clause", "§"]
        .contains(&word.as_str());
    match (is_number, is_named, is_capital) {
        // `4.` is above `4.2`.
        (true, _, _) => Some(1 + first.split('.').filter(|part| !part.is_empty()).count()),
        (_, true, _) => Some(2),
        (_, _, true) => Some(1),
        _ => None,
    }
}
