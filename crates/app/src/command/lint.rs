//! `countersign lint`: what is wrong with governed records, of a bundle or of a ledger.
//! Owns: reading the bundle, the form of the answer. Must not: judge.

use crate::cli::Global;
use crate::cli::govern::Lint;
use crate::failure::{Exit, Failure};
use crate::place::Place;
use crate::{input, output};
use countersign_govern::bundle::{Bundle, NotABundle};
use countersign_govern::check::{Diagnostic, Severity, check};
use countersign_govern::reach::{self, Contradiction};
use countersign_govern::types;
use countersign_record::code::Code;
use countersign_runtime::audit::{self, Audited};
use countersign_runtime::ports::ledger::Ledger;
use serde::Serialize;

/// Bytes of a bundle: a hundred thousand rows and more.
const BYTES_MAX: usize = 1 << 30;
/// Members that are not of their type which are listed; all are counted.
const LISTED_MAX: usize = 1_000;

#[derive(Serialize)]
struct Answer {
    codes: Vec<Coded>,
    /// Members that no type has, or that are not of theirs.
    shape: Vec<Shape>,
    shape_count: usize,
    /// What the log says twice and not alike, where it is a whole one.
    #[serde(skip_serializing_if = "Option::is_none")]
    contradictions: Option<Vec<Contradicted>>,
}

/// What a ledger has.
#[derive(Serialize)]
struct OfLedger {
    rows: u64,
    governed: u64,
    codes: Vec<Coded>,
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

pub(super) async fn run(global: &Global, lint: &Lint) -> Result<Exit, Failure> {
    match &lint.bundle {
        Some(path) => bundle(path, lint),
        None => ledger(global).await,
    }
}

fn bundle(path: &str, lint: &Lint) -> Result<Exit, Failure> {
    let bundle = read(path)?;
    let mut shape = shapes(&bundle);
    let shape_count = shape.len();
    shape.truncate(LISTED_MAX);
    let world = bundle.world();
    let found = check(&world);
    let contradictions = lint.whole.then(|| reach::contradictions(&world));
    let is_contradicted = contradictions.as_ref().is_some_and(|all| !all.is_empty());
    let fails = is_wrong(&found) || (lint.strict && shape_count > 0) || is_contradicted;
    let told = |one: Contradiction| Contradicted {
        row: one.row,
        path: one.path,
        what: one.what.as_str(),
        message: one.message,
    };
    let contradictions = contradictions.map(|all| all.into_iter().map(told).collect());
    output::json(&Answer {
        codes: found.into_iter().map(Coded::from).collect(),
        shape,
        shape_count,
        contradictions,
    })?;
    Ok(if fails { Exit::Limited } else { Exit::Success })
}

fn shapes(bundle: &Bundle) -> Vec<Shape> {
    let mut shape = Vec::new();
    for (row, draft) in (1..).zip(&bundle.rows) {
        let troubles = types::find(&draft.kind).map(|one| one.troubles(&draft.record)).unwrap_or_default();
        shape.extend(troubles.into_iter().map(|trouble| Shape {
            row,
            kind: draft.kind.clone(),
            path: trouble.path,
            message: trouble.message,
        }));
    }
    shape
}

async fn ledger(global: &Global) -> Result<Exit, Failure> {
    let place = Place::open(global)?;
    let head = place.ledger.head(&place.access).await?;
    let rows = output::count(head.seq, "row");
    let progress = output::progress(format!("checking {rows} of {}", place.matter()));
    let audited = audit::ledger(&place.ledger, &place.access, None).await;
    progress.finish_and_clear();
    let Audited { rows, governed, found } = audited?;
    let fails = is_wrong(&found);
    output::json(&OfLedger { rows, governed, codes: found.into_iter().map(Coded::from).collect() })?;
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
