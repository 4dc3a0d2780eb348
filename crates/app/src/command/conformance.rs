//! `countersign conformance`: every validation code fires where it must and nowhere else.
//! Owns: running the fixtures, the count by area. Must not: judge.

use crate::cli::Global;
use crate::cli::govern::Conformance;
use crate::failure::{Exit, Failure};
use crate::{command::lint, input, output};
use countersign_govern::bundle::Bundle;
use countersign_govern::check::{AREAS, Area, Rule, check};
use countersign_record::code::Code;
use countersign_record::json::{self, Json};
use include_dir::{Dir, include_dir};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;

/// The fixtures that come with the program.
static FIXTURES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../conformance");

#[derive(Serialize)]
struct Answer {
    codes: usize,
    covered: usize,
    areas: Vec<Counted>,
    misses: Vec<Miss>,
}

#[derive(Serialize)]
struct Counted {
    area: &'static str,
    codes: usize,
    covered: usize,
}

/// A fixture that does not show what it should.
#[derive(Serialize)]
struct Miss {
    code: String,
    fixture: &'static str,
    expected: Vec<String>,
    found: Vec<String>,
    why: String,
}

pub(super) fn run(global: &Global, asked: &Conformance) -> Result<Exit, Failure> {
    if let Some(unknown) = asked.area.iter().find(|name| AREAS.iter().all(|area| area.name != name.as_str()))
    {
        let known: Vec<&str> = AREAS.iter().map(|area| area.name).collect();
        return Err(Failure::new(Code::UsageInvalid, format!("there is no area {unknown}"))
            .with("fix", format!("the areas are {}", known.join(", "))));
    }
    let is_wanted = |area: &&Area| asked.area.is_empty() || asked.area.iter().any(|name| name == area.name);
    let mut answer = Answer { codes: 0, covered: 0, areas: Vec::new(), misses: Vec::new() };
    for area in AREAS.iter().filter(is_wanted) {
        let mut counted = Counted { area: area.name, codes: area.rules.len(), covered: 0 };
        for rule in area.rules {
            let misses = run_rule(asked.dir.as_deref(), area, rule)?;
            counted.covered += usize::from(misses.is_empty());
            answer.misses.extend(misses);
        }
        answer.codes += counted.codes;
        answer.covered += counted.covered;
        answer.areas.push(counted);
    }
    show(global, &answer)?;
    Ok(if answer.misses.is_empty() { Exit::Success } else { Exit::Limited })
}

fn show(global: &Global, answer: &Answer) -> Result<(), Failure> {
    if global.json {
        return output::json(answer);
    }
    for one in &answer.areas {
        output::line(&format!("{:<20} {:>3} of {:>3}", one.area, one.covered, one.codes))?;
    }
    for miss in &answer.misses {
        output::line(&format!("MISSED {} {}: {}", miss.code, miss.fixture, miss.why))?;
    }
    output::line(&format!(
        "{} of {} codes fire where they must and nowhere else",
        answer.covered, answer.codes
    ))
}

/// Both fixtures of a code.
fn run_rule(dir: Option<&Path>, area: &Area, rule: &Rule) -> Result<Vec<Miss>, Failure> {
    let mut misses = Vec::new();
    for fixture in ["fires", "legal"] {
        let code = format!("validation.{}", rule.code);
        let miss = |expected: BTreeSet<String>, found: BTreeSet<String>, why: String| Miss {
            code: code.clone(),
            fixture,
            expected: expected.into_iter().collect(),
            found: found.into_iter().collect(),
            why,
        };
        let Some(document) = document(dir, area, rule, fixture)? else {
            misses.push(miss(BTreeSet::new(), BTreeSet::new(), "there is no fixture".to_owned()));
            continue;
        };
        let bundle =
            Bundle::read(document).map_err(|error| lint::invalid(&error).with("code", code.as_str()))?;
        let mut expected: BTreeSet<String> = bundle.also.iter().cloned().collect();
        match fixture {
            "fires" => expected.insert(code.clone()),
            _legal => false,
        };
        let found: BTreeSet<String> =
            check(&bundle.world()).iter().map(|one| format!("validation.{}", one.code)).collect();
        if found != expected {
            let why = format!("fires {} and not {}", told(&found), told(&expected));
            misses.push(miss(expected, found, why));
        }
    }
    Ok(misses)
}

fn told(codes: &BTreeSet<String>) -> String {
    if codes.is_empty() { "nothing".to_owned() } else { codes.iter().cloned().collect::<Vec<_>>().join(", ") }
}

fn document(dir: Option<&Path>, area: &Area, rule: &Rule, fixture: &str) -> Result<Option<Json>, Failure> {
    let path = format!("{}/{}/{fixture}.json", area.name, rule.code);
    match dir {
        Some(dir) => {
            let path = dir.join(&path);
            if path.exists() { input::document(&path.to_string_lossy()).map(Some) } else { Ok(None) }
        }
        None => match FIXTURES.get_file(&path) {
            Some(file) => Ok(Some(json::parse(file.contents())?)),
            None => Ok(None),
        },
    }
}
