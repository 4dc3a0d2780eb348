//! `countersign explain`: what a code means.
//! Owns: the page of one code and the list of all. Must not: hold any of their words.

use crate::cli::Global;
use crate::failure::{Exit, Failure};
use crate::output;
use countersign_govern::check::{Rule, rules};
use countersign_record::code::Code;
use serde::Serialize;

#[derive(Serialize)]
struct Page {
    code: String,
    area: &'static str,
    severity: &'static str,
    title: String,
    explanation: String,
    fix: &'static str,
}

impl From<Code> for Page {
    fn from(code: Code) -> Self {
        let entry = code.entry();
        Page {
            code: entry.name.to_owned(),
            area: entry.area,
            severity: entry.severity.as_str(),
            title: entry.title.to_owned(),
            explanation: entry.explanation.to_owned(),
            fix: entry.fix,
        }
    }
}

/// A validation code.
impl From<&Rule> for Page {
    fn from(rule: &Rule) -> Self {
        Page {
            code: format!("validation.{}", rule.code),
            area: "validation",
            severity: rule.severity.as_str(),
            title: rule.title(),
            explanation: format!("{}\n\nLegal: {}\n\n{}", rule.fires, rule.legal, rule.why),
            fix: rule.fix,
        }
    }
}

/// The page of a code.
fn find(name: &str) -> Option<Page> {
    let rule = name.strip_prefix("validation.").and_then(|code| rules().find(|(_, rule)| rule.code == code));
    rule.map(|(_, rule)| Page::from(rule)).or_else(|| Code::try_from(name).ok().map(Page::from))
}

fn all() -> impl Iterator<Item = Page> {
    Code::ALL.iter().copied().map(Page::from).chain(rules().map(|(_, rule)| Page::from(rule)))
}

/// Without a code: all of them.
pub(super) fn run(global: &Global, code: Option<&str>) -> Result<Exit, Failure> {
    let Some(name) = code else { return list(global).map(|()| Exit::Success) };
    let Some(page) = find(name) else {
        let near = nearest(name).map_or(String::new(), |near| format!("; did you mean {near}?"));
        let shown: String = name.chars().take(80).collect();
        return Err(Failure::new(Code::UsageInvalid, format!("there is no code {shown}{near}"))
            .with("fix", "countersign explain --list prints every code"));
    };
    if global.json {
        output::json(&page)?;
    } else {
        output::line(&format!(
            "{} ({})\n{}\n\n{}\n\nFix: {}",
            page.code, page.severity, page.title, page.explanation, page.fix
        ))?;
    }
    Ok(Exit::Success)
}

fn list(global: &Global) -> Result<(), Failure> {
    if global.json {
        return output::json(&all().collect::<Vec<_>>());
    }
    for page in all() {
        output::line(&format!("{:<28} {}", page.code, page.title))?;
    }
    Ok(())
}

/// The code that is spelt most alike, if it is alike at all.
fn nearest(name: &str) -> Option<String> {
    let name: String = name.chars().take(80).collect::<String>().to_lowercase();
    let (apart, code) = all().map(|page| (distance(&name, &page.code), page.code)).min()?;
    // More than a third of the letters wrong is another word.
    (apart * 3 <= code.len()).then_some(code)
}

/// How many letters must be put in, taken out or changed to make one of the other (Levenshtein).
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (at, letter) in left.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], at + 1);
        for (column, other) in right.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}
