//! `countersign explain`: what a code means.
//! Owns: the page of one code and the list of all. Must not: hold any of their words.

use crate::cli::Global;
use crate::failure::{Exit, Failure};
use crate::output;
use countersign_govern::check::{Area, Rule, rules};
use countersign_record::code::Code;
use serde::Serialize;

#[derive(Serialize)]
struct Page {
    code: &'static str,
    area: &'static str,
    severity: &'static str,
    title: &'static str,
    explanation: &'static str,
    fix: &'static str,
}

impl From<Code> for Page {
    fn from(code: Code) -> Self {
        let entry = code.entry();
        Page {
            code: entry.name,
            area: entry.area,
            severity: entry.severity.as_str(),
            title: entry.title,
            explanation: entry.explanation,
            fix: entry.fix,
        }
    }
}

/// Without a code: all of them.
pub(super) fn run(global: &Global, code: Option<&str>) -> Result<Exit, Failure> {
    let Some(name) = code else { return list(global).map(|()| Exit::Success) };
    if let Some(rule) = name.strip_prefix("validation.").and_then(rule) {
        return show_rule(global, rule).map(|()| Exit::Success);
    }
    let Ok(code) = Code::try_from(name) else {
        let near = nearest(name).map_or(String::new(), |near| format!("; did you mean {near}?"));
        let shown: String = name.chars().take(80).collect();
        return Err(Failure::new(Code::UsageInvalid, format!("there is no code {shown}{near}"))
            .with("fix", "countersign explain --list prints every code"));
    };
    let page = Page::from(code);
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

/// What is listed.
#[derive(Serialize)]
#[serde(untagged)]
enum Listed {
    Code(Page),
    Rule(RulePage),
}

/// A validation code.
#[derive(Serialize)]
struct RulePage {
    code: String,
    area: &'static str,
    severity: &'static str,
    section: &'static str,
    fires: &'static str,
    legal: &'static str,
    why: &'static str,
    fix: &'static str,
}

impl From<(&'static Area, &'static Rule)> for RulePage {
    fn from((area, rule): (&'static Area, &'static Rule)) -> Self {
        RulePage {
            code: format!("validation.{}", rule.code),
            area: area.name,
            severity: rule.severity.as_str(),
            section: rule.section,
            fires: rule.fires,
            legal: rule.legal,
            why: rule.why,
            fix: rule.fix,
        }
    }
}

fn rule(code: &str) -> Option<RulePage> {
    rules().find(|(_, rule)| rule.code == code).map(RulePage::from)
}

fn show_rule(global: &Global, page: RulePage) -> Result<(), Failure> {
    if global.json {
        return output::json(&page);
    }
    output::line(&format!(
        "{} ({}, {})\n\nFires: {}\n\nLegal: {}\n\nWhy: {}\n\nFix: {}",
        page.code, page.severity, page.area, page.fires, page.legal, page.why, page.fix
    ))
}

fn list(global: &Global) -> Result<(), Failure> {
    if global.json {
        let ours = Code::ALL.iter().copied().map(|code| Listed::Code(Page::from(code)));
        let rules = rules().map(|found| Listed::Rule(RulePage::from(found)));
        return output::json(&ours.chain(rules).collect::<Vec<_>>());
    }
    for code in Code::ALL {
        output::line(&format!("{:<28} {}", code.as_str(), code.entry().title))?;
    }
    for (area, rule) in rules() {
        output::line(&format!("validation.{} ({})", rule.code, area.name))?;
    }
    Ok(())
}

/// The code that is spelt most alike, if it is alike at all.
fn nearest(name: &str) -> Option<String> {
    let name: String = name.chars().take(80).collect::<String>().to_lowercase();
    let ours = Code::ALL.iter().map(|code| code.as_str().to_owned());
    let codes = ours.chain(rules().map(|(_, rule)| format!("validation.{}", rule.code)));
    let (apart, code) = codes.map(|code| (distance(&name, &code), code)).min()?;
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
