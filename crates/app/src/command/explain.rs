//! `countersign explain`: what a code means.
//! Owns: the page of one code and the list of all. Must not: hold any of their words.

use crate::cli::Global;
use crate::failure::{Exit, Failure};
use crate::output;
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

fn list(global: &Global) -> Result<(), Failure> {
    if global.json {
        let pages: Vec<Page> = Code::ALL.iter().copied().map(Page::from).collect();
        return output::json(&pages);
    }
    for code in Code::ALL {
        output::line(&format!("{:<28} {}", code.as_str(), code.entry().title))?;
    }
    Ok(())
}

/// The code that shares the most of the given name's letters in order.
fn nearest(name: &str) -> Option<&'static str> {
    let name: String = name.chars().take(80).collect::<String>().to_lowercase();
    let shared = |code: &str| {
        let mut rest = name.chars();
        code.chars()
            .filter(|letter| rest.clone().any(|other| other == *letter) && rest.any(|other| other == *letter))
            .count()
    };
    let candidates = Code::ALL.iter().map(|code| code.as_str());
    candidates.max_by_key(|code| {
        (shared(code) * 100 / code.len().max(name.len()).max(1), core::cmp::Reverse(*code))
    })
}
