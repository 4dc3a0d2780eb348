//! `countersign conformance`: every validation code and every kind of fixture fires where it must and nowhere else.
//! Owns: reading the fixtures, the count by area and kind. Must not: judge.

use crate::cli::Global;
use crate::cli::govern::Conformance;
use crate::failure::{Exit, Failure};
use crate::{command::lint, input, output, place};
use countersign_govern::bundle::Bundle;
use countersign_govern::check::{AREAS, Area, Rule, check};
use countersign_govern::conformance;
use countersign_govern::types::basic::Instant;
use countersign_govern::types::conformance::{
    AddendaBConformanceFixture, AddendaBConformanceFixtureKind, FixturePolarity,
};
use countersign_record::code::Code;
use countersign_record::json::{self, Json};
use include_dir::{Dir, include_dir};
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The fixtures that come with the program.
static FIXTURES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../conformance");

#[derive(Serialize)]
struct Answer {
    codes: usize,
    covered: usize,
    areas: Vec<Counted>,
    kinds: Vec<Shown>,
    /// What came of each fixture of a kind, as records of the contract.
    runs: Vec<Json>,
    misses: Vec<Miss>,
}

#[derive(Serialize)]
struct Counted {
    area: &'static str,
    codes: usize,
    covered: usize,
}

/// How far fixtures show a kind.
#[derive(Serialize)]
struct Shown {
    kind: &'static str,
    negative: usize,
    positive: usize,
    covered: bool,
}

/// A fixture that does not show what it should, of a code or of a kind.
#[derive(Serialize)]
struct Miss {
    of: String,
    fixture: String,
    expected: Vec<String>,
    found: Vec<String>,
    why: String,
}

/// The folder of the kinds, beside those of the areas.
const KINDS: &str = "kinds";

pub(super) fn run(global: &Global, asked: &Conformance) -> Result<Exit, Failure> {
    let is_known = |name: &str| name == KINDS || AREAS.iter().any(|area| area.name == name);
    if let Some(unknown) = asked.area.iter().find(|name| !is_known(name)) {
        let known: Vec<&str> = AREAS.iter().map(|area| area.name).chain([KINDS]).collect();
        return Err(Failure::new(Code::UsageInvalid, format!("there is no area {unknown}"))
            .with("fix", format!("the areas are {}", known.join(", "))));
    }
    if let Some(dir) = &asked.dir {
        // Else every fixture would be told as one that is missing.
        std::fs::read_dir(dir).map_err(|error| Failure::file(&dir.to_string_lossy(), &error))?;
        known_folders(dir)?;
    }
    let is_wanted = |name: &str| asked.area.is_empty() || asked.area.iter().any(|one| one == name);
    let (areas, kinds, runs, misses) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut answer = Answer { codes: 0, covered: 0, areas, kinds, runs, misses };
    for area in AREAS.iter().filter(|area| is_wanted(area.name)) {
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
    if is_wanted(KINDS) {
        run_kinds(global, asked.dir.as_deref(), &mut answer)?;
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
        output::line(&format!("MISSED {} {}: {}", miss.of, miss.fixture, miss.why))?;
    }
    if !answer.areas.is_empty() {
        output::line(&format!(
            "{} of {} codes fire where they must and nowhere else",
            answer.covered, answer.codes
        ))?;
    }
    if !answer.kinds.is_empty() {
        let covered = answer.kinds.iter().filter(|kind| kind.covered).count();
        output::line(&format!(
            "{covered} of {} kinds fire where they must and have a legal twin",
            answer.kinds.len()
        ))?;
    }
    Ok(())
}

/// The fixtures of all kinds.
fn run_kinds(global: &Global, dir: Option<&Path>, answer: &mut Answer) -> Result<(), Failure> {
    let now = place::clock(global)?
        .now()
        .map_err(|_| Failure::new(Code::TimeInvalid, "the clock can't be read"))?;
    let at = Instant::try_from(now.as_str())
        .map_err(|error| Failure::new(Code::TimeInvalid, format!("the clock: {error}")))?;
    let mut executed = Vec::new();
    for (name, document) in documents(dir)? {
        let bundle =
            Bundle::read(document).map_err(|error| lint::invalid(&error).with("fixture", name.as_str()))?;
        match conformance::execute(bundle, at.clone()) {
            Some(one) => executed.push(one),
            None => answer.misses.push(Miss::of_kind(KINDS, name, "the bundle holds no fixture")),
        }
    }
    for one in executed.iter().filter(|one| !one.run.passed) {
        let fixture = &one.fixture;
        let miss =
            Miss::of_kind(fixture.fixture_kind.as_str(), fixture.fixture_id.clone(), &one.misses.join("; "));
        let (expected, found) = (fixture.expected_validation_codes.clone(), one.run.observed_codes.clone());
        answer.misses.push(Miss { expected, found, ..miss });
    }
    let there: BTreeSet<&str> = executed.iter().map(|one| one.fixture.fixture_id.as_str()).collect();
    let scenarios = scenarios()?;
    for one in conformance::coverage(&executed) {
        let kind = one.kind.as_str();
        let own = scenarios.iter().filter(|scenario| scenario.fixture_kind == one.kind);
        let missing: Vec<&Scenario> =
            own.filter(|scenario| !there.contains(scenario.fixture_id.as_str())).collect();
        for scenario in &missing {
            answer.misses.push(Miss::of_kind(kind, scenario.fixture_id.clone(), "there is no fixture"));
        }
        for (polarity, count) in
            [(FixturePolarity::Negative, one.negative), (FixturePolarity::Positive, one.positive)]
        {
            let is_told = missing.iter().any(|scenario| conformance::polarity(scenario) == polarity);
            if count.all == 0 && !is_told {
                answer.misses.push(Miss::of_kind(kind, polarity.as_str().to_owned(), "there is no fixture"));
            }
        }
        let (negative, positive) = (one.negative.all, one.positive.all);
        let covered = one.is_complete() && missing.is_empty();
        answer.kinds.push(Shown { kind, negative, positive, covered });
    }
    answer.runs = executed.iter().map(|one| one.run.json()).collect();
    Ok(())
}

impl Miss {
    fn of_kind(kind: &str, fixture: String, why: &str) -> Self {
        Miss { of: kind.to_owned(), fixture, expected: Vec::new(), found: Vec::new(), why: why.to_owned() }
    }
}

/// A scenario of a kind, as the fixture that comes with the program has it.
type Scenario = AddendaBConformanceFixture;

/// The scenarios of all kinds: which there are does not hang on what a folder holds.
fn scenarios() -> Result<Vec<Scenario>, Failure> {
    let documents = documents(None)?.into_iter();
    let read = |(name, document): (String, Json)| {
        let bundle = Bundle::read(document).map_err(|error| lint::invalid(&error).with("fixture", name));
        bundle.map(|bundle| bundle.fixture)
    };
    Ok(documents.map(read).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// The documents of all kinds, by their names.
fn documents(dir: Option<&Path>) -> Result<Vec<(String, Json)>, Failure> {
    let mut all = Vec::new();
    for kind in AddendaBConformanceFixtureKind::ALL {
        let folder = format!("{KINDS}/{}", kind.as_str());
        match dir {
            Some(dir) => {
                for path in files(&dir.join(&folder))? {
                    let path = path.to_string_lossy().into_owned();
                    let document = read(&path)?;
                    all.push((path, document));
                }
            }
            None => {
                for file in FIXTURES.get_dir(&folder).into_iter().flat_map(Dir::files) {
                    let name = file.path().to_string_lossy().into_owned();
                    all.push((name, json::parse(file.contents())?));
                }
            }
        }
    }
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(all)
}

/// A fixture of a folder. Of many files, the one that is broken is named.
fn read(path: &str) -> Result<Json, Failure> {
    input::document(path).map_err(|failure| match failure.code {
        Code::FileUnreadable => failure,
        _broken => Failure { message: format!("{path}: {}", failure.message), ..failure }.with("file", path),
    })
}

/// Every folder is named after an area or the kinds, and every folder in it after a code or a kind: another one would be passed over
/// without a word.
fn known_folders(dir: &Path) -> Result<(), Failure> {
    for (name, folder) in folders(dir)? {
        let area = AREAS.iter().find(|area| area.name == name);
        if area.is_none() && name != KINDS {
            return Err(unknown(&folder, "an area"));
        }
        for (name, folder) in folders(&folder)? {
            let is_known = match area {
                Some(area) => area.rules.iter().any(|rule| rule.code == name),
                None => AddendaBConformanceFixtureKind::find(&name).is_some(),
            };
            if !is_known {
                return Err(unknown(&folder, if area.is_some() { "a code of the area" } else { "a kind" }));
            }
            if area.is_some() {
                known_files(&folder)?;
            }
        }
    }
    Ok(())
}

/// A code has two fixtures; another file beside them would be passed over as well.
fn known_files(folder: &Path) -> Result<(), Failure> {
    let is_hidden = |path: &Path| path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'));
    let is_known = |path: &Path| {
        FIXTURES_OF_CODE
            .iter()
            .any(|name| path.file_name().is_some_and(|own| own == format!("{name}.json").as_str()))
    };
    let mut strays = files(folder)?;
    strays.retain(|path| !is_hidden(path) && !is_known(path));
    strays.sort();
    match strays.first() {
        Some(stray) => Err(unknown(stray, "a fixture of a code, fires.json or legal.json")),
        None => Ok(()),
    }
}

/// The two fixtures of a code: one that fires it, and one beside it that is legal.
const FIXTURES_OF_CODE: [&str; 2] = ["fires", "legal"];

fn unknown(folder: &Path, wanted: &str) -> Failure {
    let path = folder.to_string_lossy();
    Failure::new(Code::UsageInvalid, format!("{path} is not named after {wanted}")).with("file", &*path)
}

/// The folders in a folder, by name; hidden ones are somebody else's.
fn folders(dir: &Path) -> Result<Vec<(String, PathBuf)>, Failure> {
    let all = files(dir)?.into_iter().filter(|path| path.is_dir());
    let name =
        |path: PathBuf| path.file_name().map(|name| (name.to_string_lossy().into_owned(), path.clone()));
    let mut all: Vec<_> = all.filter_map(name).filter(|(name, _)| !name.starts_with('.')).collect();
    all.sort();
    Ok(all)
}

/// The files of a folder. One that is not there has none, which is told of its kind.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable = |error: &std::io::Error| Failure::file(&folder.to_string_lossy(), error);
    match std::fs::read_dir(folder) {
        Ok(entries) => {
            entries.map(|entry| entry.map(|entry| entry.path()).map_err(|error| unreadable(&error))).collect()
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(unreadable(&error)),
    }
}

/// Both fixtures of a code.
fn run_rule(dir: Option<&Path>, area: &Area, rule: &Rule) -> Result<Vec<Miss>, Failure> {
    let mut misses = Vec::new();
    let mut rows: Option<Vec<Json>> = None;
    for fixture in FIXTURES_OF_CODE {
        let code = format!("validation.{}", rule.code);
        let miss = |expected: BTreeSet<String>, found: BTreeSet<String>, why: String| Miss {
            of: code.clone(),
            fixture: fixture.to_owned(),
            expected: expected.into_iter().collect(),
            found: found.into_iter().collect(),
            why,
        };
        let Some(document) = document(dir, area, rule, fixture)? else {
            misses.push(miss(BTreeSet::new(), BTreeSet::new(), "there is no fixture".to_owned()));
            continue;
        };
        let own = document.get("rows").and_then(Json::as_array).unwrap_or_default().to_vec();
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
        } else if let Some(why) = rows.as_ref().and_then(|fires| conformance::why_not_near(fires, &own)) {
            misses.push(miss(expected, found, why));
        }
        rows = Some(own);
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
            if path.exists() { read(&path.to_string_lossy()).map(Some) } else { Ok(None) }
        }
        None => match FIXTURES.get_file(&path) {
            Some(file) => Ok(Some(json::parse(file.contents())?)),
            None => Ok(None),
        },
    }
}
