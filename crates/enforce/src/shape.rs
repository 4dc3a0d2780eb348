//! What a draft looks like from outside.
//! Owns: one fenced block, its language, its file's name, no prose. Must not: look into the code.

use crate::check::Setting;
use crate::codespec::{Language, Need};
use crate::fences::{self, Block, Markdown};
use crate::report::{Findings, shown};
use crate::rule::Rule;
use crate::{python, rust};

/// The code of a draft.
pub(crate) struct Code {
    pub(crate) text: String,
}

/// Takes the code out of a draft; `None` where there is not one block.
pub(crate) fn unwrapped(draft: &str, setting: &Setting<'_>, findings: &mut Findings) -> Option<Code> {
    let Markdown { mut blocks, prose } = fences::read(draft);
    let fence = "give the file in one fenced block, and nothing else";
    if draft.trim().is_empty() {
        findings.in_draft(Rule::SingleBlock, None, "the draft is empty", fence);
        return None;
    }
    if let (false, Some((line, text))) = (blocks.is_empty() || !setting.stop.no_prose, prose.first()) {
        let more = match prose.len() {
            1 => String::new(),
            count => format!(", and {} more lines", count - 1),
        };
        let evidence = format!("text outside of the block: {}{more}", shown(text));
        findings.in_draft(
            Rule::NoExtraProse,
            Some(*line),
            evidence,
            "remove the text before and after the block",
        );
    }
    if let Some(second) = blocks.get(1) {
        let evidence = format!("there are {} fenced blocks", blocks.len());
        findings.in_draft(Rule::SingleBlock, Some(second.line), evidence, fence);
        return None;
    }
    let Some(block) = blocks.pop() else {
        findings.in_draft(Rule::SingleBlock, None, "there is no fenced block", fence);
        return None;
    };
    if !block.is_closed {
        let evidence = "the fenced block is not closed";
        findings.in_draft(
            Rule::SingleBlock,
            Some(block.line),
            evidence,
            "close the block with a fence of its own",
        );
    }
    findings.before = block.line;
    named(&block, setting, findings);
    if block.code.trim().is_empty() {
        findings.in_draft(
            Rule::Empty,
            Some(block.line),
            "there is nothing in the block",
            "give the whole file",
        );
        return None;
    }
    Some(Code { text: block.code })
}

/// What the block says of its language and its file.
fn named(block: &Block<'_>, setting: &Setting<'_>, findings: &mut Findings) {
    let language = setting.task.language;
    let Info { word, file } = info(block.info);
    if let Some(word) = word.filter(|word| !language.is_called(word)) {
        let evidence = format!("the block is marked as {}", shown(word));
        let suggestion = format!("mark it as {}", language.as_str());
        findings.in_draft(Rule::FenceLanguage, Some(block.line), evidence, suggestion);
    }
    if word.is_none() && setting.rules.fence == Need::Required {
        let suggestion = format!("mark it as {}", language.as_str());
        findings.in_draft(
            Rule::FenceLanguage,
            Some(block.line),
            "the block is marked as nothing",
            suggestion,
        );
    }
    let wanted = &setting.stop.filename;
    let comment = match language {
        Language::Python => python::first_comment(&block.code),
        Language::Rust => rust::first_comment(&block.code),
    };
    let names =
        [file.map(|name| (name, block.line)), comment.and_then(file_in).map(|name| (name, block.line + 1))];
    let suggestion = format!("give the file {}", shown(wanted));
    let mut is_named = false;
    for (name, line) in names.into_iter().flatten() {
        is_named = true;
        if name != wanted {
            findings.in_draft(
                Rule::Filename,
                Some(line),
                format!("the file is called {}", shown(name)),
                &suggestion,
            );
        }
    }
    if !is_named && setting.rules.filename == Need::Required {
        let suggestion = format!("write {} behind the language of the fence", shown(wanted));
        findings.in_draft(Rule::Filename, Some(block.line), "the file has no name", suggestion);
    }
}

/// What stands behind a fence.
struct Info<'a> {
    word: Option<&'a str>,
    file: Option<&'a str>,
}

/// `python`, `python main.py`, `python:main.py`, `python title="main.py"`, `main.py`.
fn info(text: &str) -> Info<'_> {
    let words = text.split(|letter: char| letter.is_whitespace() || "{},".contains(letter));
    let mut words = words.filter(|word| !word.is_empty()).peekable();
    let mut info = Info { word: None, file: None };
    if let Some(first) = words.peek().copied() {
        match first.split_once(':') {
            Some((word, file)) => {
                info.word = Some(word).filter(|word| !word.is_empty());
                info.file = file_in(file);
                words.next();
            }
            None if file_in(first).is_none() => {
                info.word = Some(first.trim_start_matches('.'));
                words.next();
            }
            None => {}
        }
    }
    info.file = info.file.or_else(|| words.find_map(file_in));
    info
}

/// The name of a file that a word or a comment is, if it is nothing else.
fn file_in(text: &str) -> Option<&str> {
    let text = text.trim();
    let lower = text.to_ascii_lowercase();
    let prefixes = ["filename:", "filename=", "file:", "file=", "title=", "name=", "path:", "path="];
    let label = prefixes.iter().find(|prefix| lower.starts_with(**prefix)).map_or(0, |prefix| prefix.len());
    let name = text.get(label..)?.trim().trim_matches(['"', '\'', '`']);
    let (stem, ending) = name.rsplit_once('.')?;
    let is_ending =
        (1..=5).contains(&ending.len()) && ending.chars().all(|letter| letter.is_ascii_alphanumeric());
    let is_stem = !stem.is_empty()
        && stem.chars().all(|letter| letter.is_alphanumeric() || "_-./".contains(letter))
        && ending.starts_with(|letter: char| letter.is_ascii_alphabetic());
    (is_ending && is_stem).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_behind_a_fence() {
        for (text, word, file) in [
            ("", None, None),
            ("python", Some("python"), None),
            ("python main.py", Some("python"), Some("main.py")),
            ("python:main.py", Some("python"), Some("main.py")),
            ("python title=\"main.py\"", Some("python"), Some("main.py")),
            ("python {file=src/main.py}", Some("python"), Some("src/main.py")),
            ("{.python}", Some("python"), None),
            ("main.py", None, Some("main.py")),
            ("rust,ignore", Some("rust"), None),
            ("c++", Some("c++"), None),
        ] {
            let found = info(text);
            assert_eq!((found.word, found.file), (word, file), "{text}");
        }
    }

    #[test]
    fn names_of_files() {
        for (text, file) in [
            ("main.py", Some("main.py")),
            ("File: main.py", Some("main.py")),
            ("filename=\"a/b.rs\"", Some("a/b.rs")),
            ("main.py reads a file.", None),
            ("See the docs.", None),
            ("version 1.0", None),
            ("1.0", None),
            ("", None),
        ] {
            assert_eq!(file_in(text), file, "{text}");
        }
    }
}
