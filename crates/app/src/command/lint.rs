//! `countersign lint`: what is wrong with a bundle of governed records.
//! Owns: reading the bundle, the form of the answer. Must not: judge.

use crate::cli::govern::Lint;
use crate::failure::{Exit, Failure};
use crate::{input, output};
use countersign_govern::bundle::{Bundle, NotABundle};
use countersign_govern::check::{Diagnostic, Severity, check};
use countersign_govern::types;
use countersign_record::code::Code;
use serde::Serialize;

/// Bytes of a bundle: a hundred thousand rows and more.
const BYTES_MAX: usize = 1 << 30;
/// Members that are not of their type which are listed; all are counted.
const SHAPE_MAX: usize = 1_000;

#[derive(Serialize)]
struct Answer {
    codes: Vec<Coded>,
    /// Members that no type has, or that are not of theirs.
    shape: Vec<Shape>,
    shape_count: usize,
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

pub(super) fn run(lint: &Lint) -> Result<Exit, Failure> {
    let bundle = read(&lint.bundle)?;
    let mut shape: Vec<Shape> = Vec::new();
    for (row, draft) in (1..).zip(&bundle.rows) {
        let troubles = types::find(&draft.kind).map(|one| one.troubles(&draft.record)).unwrap_or_default();
        shape.extend(troubles.into_iter().map(|trouble| Shape {
            row,
            kind: draft.kind.clone(),
            path: trouble.path,
            message: trouble.message,
        }));
    }
    let shape_count = shape.len();
    shape.truncate(SHAPE_MAX);
    let found = check(&bundle.world());
    let fails = found.iter().any(|one| one.severity == Severity::Error) || (lint.strict && shape_count > 0);
    output::json(&Answer { codes: found.into_iter().map(Coded::from).collect(), shape, shape_count })?;
    Ok(if fails { Exit::Limited } else { Exit::Success })
}

fn read(path: &str) -> Result<Bundle, Failure> {
    Bundle::read(input::large_document(path, BYTES_MAX)?).map_err(|error| invalid(&error))
}

/// What is wrong with a bundle, as a user sees it.
pub(super) fn invalid(error: &NotABundle) -> Failure {
    Failure::new(Code::BundleInvalid, format!("the bundle: {error}")).with("path", error.path.as_str())
}
