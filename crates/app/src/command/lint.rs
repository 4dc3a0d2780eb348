//! `countersign lint`: what is wrong with governed records, of a bundle or of a ledger.
//! Owns: reading the bundle, the form of the answer. Must not: judge.

use crate::cli::Global;
use crate::cli::govern::Lint;
use crate::failure::{Exit, Failure};
use crate::place::Place;
use crate::{input, output};
use countersign_govern::bundle::{Bundle, NotABundle};
use countersign_govern::check::{Diagnostic, Severity, check};
use countersign_govern::{reach, types};
use countersign_record::code::Code;
use countersign_runtime::audit::{self, Audited};
use countersign_runtime::ports::ledger::Ledger;
use serde::Serialize;

/// Bytes of a bundle: a hundred thousand rows and more.
const BYTES_MAX: usize = 1 << 30;
/// Members that are not of their type and references that name nothing which are listed; all are counted.
const LISTED_MAX: usize = 1_000;

#[derive(Serialize)]
struct Answer {
    codes: Vec<Coded>,
    /// Members that no type has, or that are not of theirs.
    shape: Vec<Shape>,
    shape_count: usize,
    /// References to records that the bundle lacks; it may be a part of a log.
    references: Vec<Missing>,
    references_count: usize,
}

/// What a ledger has.
#[derive(Serialize)]
struct OfLedger {
    rows: u64,
    governed: u64,
    codes: Vec<Coded>,
}

#[derive(Serialize)]
struct Missing {
    row: u64,
    path: String,
    reference: String,
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
    let mut missing = reach::unresolved(&world);
    let references_count = missing.len();
    missing.truncate(LISTED_MAX);
    let fails = is_wrong(&found) || (lint.strict && shape_count > 0) || (lint.whole && references_count > 0);
    let references =
        missing.into_iter().map(|one| Missing { row: one.row, path: one.path, reference: one.reference });
    output::json(&Answer {
        codes: found.into_iter().map(Coded::from).collect(),
        shape,
        shape_count,
        references: references.collect(),
        references_count,
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
