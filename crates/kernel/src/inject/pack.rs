//! What a long file declares: signatures, keys and headings, with the numbers of their lines.
//! Owns: which lines those are. Must not: change one.

use crate::chunk::Form;
use alloc::format;
use alloc::string::String;

/// Words that begin a declaration.
const DECLARES: [&str; 30] = [
    "abstract",
    "async",
    "class",
    "const",
    "create",
    "def",
    "enum",
    "export",
    "extern",
    "fn",
    "func",
    "function",
    "impl",
    "interface",
    "macro_rules!",
    "message",
    "mod",
    "module",
    "namespace",
    "package",
    "private",
    "protected",
    "pub",
    "public",
    "service",
    "static",
    "struct",
    "trait",
    "type",
    "union",
];
/// Endings of files that hold keys and values.
const KEYS: [&str; 8] = ["json", "yaml", "yml", "toml", "ini", "cfg", "conf", "xml"];

/// The lines of a file that declare something, each with its number, and how many were left out.
pub(super) fn pack(path: &str, text: &str, bytes_max: usize) -> String {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_lowercase()).unwrap_or_default();
    let form = Form::of(path);
    let has_keys = KEYS.contains(&ending.as_str());
    let depth = if has_keys { first_indent(text) } else { 0 };
    let declares = |line: &str| match form {
        Form::Markdown => line.starts_with('#'),
        Form::Code if has_keys => is_key(line, depth),
        Form::Code => is_declaration(line),
        Form::Plain => {
            !line.trim().is_empty()
                && !line.starts_with([' ', '\t'])
                && line.trim().chars().count() <= 80
                && !line.trim_end().ends_with('.')
        }
    };
    let mut packed = String::new();
    let (mut lines, mut left_out) = (0, 0_usize);
    for (number, line) in (1_usize..).zip(text.lines()) {
        lines = number;
        if !declares(line) {
            continue;
        }
        let shown = format!("{number}: {}\n", line.trim_end());
        match packed.len() + shown.len() <= bytes_max {
            true => packed.push_str(&shown),
            false => left_out += 1,
        }
    }
    packed.push_str(&format!("({lines} lines; {left_out} more that declare something)\n"));
    packed
}

/// The indent of the first line that has one.
fn first_indent(text: &str) -> usize {
    text.lines().map(indent).find(|indent| *indent > 0).unwrap_or(0)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// A key or a section of the first two levels.
fn is_key(line: &str, depth: usize) -> bool {
    let bare = line.trim();
    let is_section = bare.starts_with(['[', '<']) && bare.len() > 1;
    let has_key = bare.contains(':') || bare.contains('=');
    indent(line) <= depth && (is_section || has_key) && !bare.starts_with(['#', ';'])
}

fn is_declaration(line: &str) -> bool {
    let bare = line.trim_start();
    let word = bare
        .split(|letter: char| letter.is_whitespace() || letter == '(' || letter == '<')
        .next()
        .unwrap_or_default();
    DECLARES.contains(&word.to_lowercase().as_str())
}
