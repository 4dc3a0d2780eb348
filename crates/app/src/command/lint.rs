//! `countersign lint`: what is wrong with governed records, of a bundle or of a ledger.
//! Owns: reading the bundle, the form of the answer. Must not: judge.

use crate::cli::Global;
use crate::cli::govern::Lint;
use crate::failure::{Exit, Failure};
use crate::place::Place;
use crate::{input, output};
use countersign_govern::audit::{Apart, Found, Misshapen, WHOLE};
use countersign_govern::bundle::{Bundle, NotABundle};
use countersign_govern::check::{Diagnostic, Severity, check};
use countersign_govern::reach::{self, Contradiction};
use countersign_govern::types;
use countersign_govern::types::wire::{How, Trouble};
use countersign_record::code::Code;
use countersign_runtime::audit::{self, Asked, Audited};
use countersign_runtime::ports::ledger::Ledger;
use serde::Serialize;

/// Bytes of a bundle: a hundred thousand rows and more.
const BYTES_MAX: usize = 1 << 30;
/// Members that are not of their type which are listed; all are counted.
const LISTED_MAX: usize = 1_000;

#[derive(Serialize)]
struct Answer {
    codes: Vec<Coded>,
    /// Members that are not of their type, then those that are missing or that no type has.
    shape: Vec<Shape>,
    shape_count: u64,
    /// Those that are not of their type: a rule that reads one reads nothing.
    shape_errors: u64,
    /// What the log says twice and not alike, where it is a whole one.
    #[serde(skip_serializing_if = "Option::is_none")]
    contradictions: Option<Vec<Contradicted>>,
}

/// What a ledger has.
#[derive(Serialize)]
struct OfLedger {
    rows: u64,
    governed: u64,
    #[serde(flatten)]
    answer: Answer,
    /// Whether there are more codes than are told.
    is_cut: bool,
    /// Rows that a rule has to look at together and that are too many: it has no answer there.
    not_looked_at: Vec<NotLookedAt>,
}

#[derive(Serialize)]
struct NotLookedAt {
    /// The code, or `whole`.
    rule: String,
    first_row: u64,
    last_row: u64,
    rows: u64,
    streams: u64,
}

#[derive(Serialize)]
struct Contradicted {
    row: u64,
    path: String,
    what: &'static str,
    message: String,
}

#[derive(Serialize)]
struct Coded {
    code: String,
    severity: &'static str,
    row: u64,
    path: String,
    message: String,
}

#[derive(Serialize)]
struct Shape {
    severity: &'static str,
    row: u64,
    kind: String,
    path: String,
    message: String,
}

impl From<Diagnostic> for Coded {
    fn from(one: Diagnostic) -> Self {
        Coded {
            code: format!("validation.{}", one.code),
            severity: one.severity.as_str(),
            row: one.row,
            path: one.path,
            message: one.message,
        }
    }
}

impl From<Contradiction> for Contradicted {
    fn from(one: Contradiction) -> Self {
        Contradicted { row: one.row, path: one.path, what: one.what.as_str(), message: one.message }
    }
}

fn severity(how: How) -> Severity {
    if how.is_error() { Severity::Error } else { Severity::Warning }
}

impl From<Misshapen> for Shape {
    fn from(one: Misshapen) -> Self {
        let severity = severity(one.how);
        Shape {
            severity: severity.as_str(),
            row: one.row,
            kind: one.kind,
            path: one.path,
            message: one.message,
        }
    }
}

impl From<Apart> for NotLookedAt {
    fn from(one: Apart) -> Self {
        let rule = if one.code == WHOLE { WHOLE.to_owned() } else { format!("validation.{}", one.code) };
        NotLookedAt { rule, first_row: one.first, last_row: one.last, rows: one.rows, streams: one.streams }
    }
}

pub(super) async fn run(global: &Global, lint: &Lint) -> Result<Exit, Failure> {
    match &lint.bundle {
        Some(path) => bundle(path, lint),
        None => ledger(global, lint).await,
    }
}

fn bundle(path: &str, lint: &Lint) -> Result<Exit, Failure> {
    let mut bundle = read(path)?;
    bundle.as_of = lint.as_of.or(bundle.as_of);
    let shape = Shapes::of(&bundle);
    let world = bundle.world();
    let found = check(&world);
    let contradictions = lint.whole.then(|| reach::contradictions(&world));
    let is_contradicted = contradictions.as_ref().is_some_and(|all| !all.is_empty());
    let fails = is_wrong(&found) || shape.errors > 0 || (lint.strict && shape.count > 0) || is_contradicted;
    output::json(&answer(found, shape, contradictions))?;
    Ok(if fails { Exit::Limited } else { Exit::Success })
}

fn answer(codes: Vec<Diagnostic>, shape: Shapes, contradictions: Option<Vec<Contradiction>>) -> Answer {
    Answer {
        codes: codes.into_iter().map(Coded::from).collect(),
        shape: shape.listed,
        shape_count: shape.count,
        shape_errors: shape.errors,
        contradictions: contradictions.map(|all| all.into_iter().map(Contradicted::from).collect()),
    }
}

/// What is not as types have it.
struct Shapes {
    listed: Vec<Shape>,
    count: u64,
    errors: u64,
}

impl Shapes {
    fn of(bundle: &Bundle) -> Self {
        let (mut errors, mut others) = (Vec::new(), Vec::new());
        for (row, draft) in bundle.rows() {
            let troubles =
                types::find(&draft.kind).map(|one| one.troubles(&draft.record)).unwrap_or_default();
            for Trouble { how, path, message } in troubles {
                let all = if how.is_error() { &mut errors } else { &mut others };
                let kind = draft.kind.clone();
                all.push(Shape { severity: severity(how).as_str(), row, kind, path, message });
            }
        }
        let (count, wrong) = ((errors.len() + others.len()) as u64, errors.len() as u64);
        errors.append(&mut others);
        errors.truncate(LISTED_MAX);
        Shapes { listed: errors, count, errors: wrong }
    }
}

async fn ledger(global: &Global, lint: &Lint) -> Result<Exit, Failure> {
    let place = Place::open(global)?;
    let head = place.ledger.head(&place.access).await?;
    let (rows, matter) = (output::count(head.seq, "row"), place.matter().to_string());
    let progress = output::progress(global, format!("checking {rows} of {matter}"));
    let asked = Asked { now: lint.as_of, is_strict: lint.strict, is_whole: lint.whole, ..Asked::default() };
    let (spinner, end) = (progress.clone(), head.seq.max(1));
    let seen = move |row: u64| {
        let percent = row.saturating_mul(100) / end;
        spinner.set_message(format!("checking {rows} of {matter}: {percent} %"));
    };
    let audited = audit::ledger(&place.ledger, &place.access, asked, seen).await;
    progress.finish_and_clear();
    let Audited { rows, governed, found } = audited?;
    // A row that holds no record is one that nobody can check, so it fails also where shapes are not asked for.
    let fails = is_wrong(&found.codes)
        || found.shape_count > 0
        || !found.contradictions.is_empty()
        || found.is_cut
        || !found.apart.is_empty();
    let Found { codes, is_cut, contradictions, apart, shapes, shape_count } = found;
    let listed = shapes.into_iter().map(Shape::from).collect();
    let shape = Shapes { listed, count: shape_count, errors: shape_count };
    let answer = answer(codes, shape, lint.whole.then_some(contradictions));
    let not_looked_at = apart.into_iter().map(NotLookedAt::from).collect();
    output::json(&OfLedger { rows, governed, answer, is_cut, not_looked_at })?;
    Ok(if fails { Exit::Limited } else { Exit::Success })
}

fn is_wrong(found: &[Diagnostic]) -> bool {
    found.iter().any(|one| one.severity == Severity::Error)
}

fn read(path: &str) -> Result<Bundle, Failure> {
    Bundle::read(input::large_document(path, BYTES_MAX)?).map_err(|error| invalid(&error))
}

/// What is wrong with a bundle, as a user sees it.
pub(super) fn invalid(error: &NotABundle) -> Failure {
    Failure::new(Code::BundleInvalid, format!("the bundle: {error}")).with("path", error.path.as_str())
}
