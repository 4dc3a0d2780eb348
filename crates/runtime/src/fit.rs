//! Whether texts fit the JSON Schemas that criteria name.
//! Owns: finding the schema, and what a fit counts for. Must not: score.

use crate::shape::Shape;
use countersign_kernel::measure::Measured;
use countersign_record::json;
use countersign_work::task::{Criterion, Task, TestKind};
use countersign_work::texts::Head;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Gives a file of a task by its path.
pub(crate) type Files<'a> = &'a dyn Fn(&str) -> Option<Arc<[u8]>>;

/// What fits, for every criterion of a task that names a schema.
pub(crate) fn checks(task: &Task, heads: &[Head], files: Files<'_>) -> BTreeMap<String, Measured> {
    let mut all = BTreeMap::new();
    for outcome in &task.outcomes {
        let Some(artifact) = task.artifact_of(outcome) else { continue };
        let Some(head) = heads.iter().find(|head| head.artifact.id == artifact.id) else { continue };
        for criterion in &outcome.criteria {
            all.extend(fits(criterion, &head.text, files).map(|measured| (criterion.id.clone(), measured)));
        }
    }
    all
}

/// Whether a document fits the schema of a criterion; `None` if it has none, or the schema can't be used.
pub(crate) fn fits(criterion: &Criterion, text: &str, files: Files<'_>) -> Option<Measured> {
    let test = criterion.check.as_ref().filter(|test| test.kind == TestKind::JsonSchema)?;
    let schema = files(test.schema.as_deref()?)?;
    let shape = Shape::new(&json::parse(&schema).ok()?).ok()?;
    let found = match json::parse(text.as_bytes()) {
        Ok(document) => shape.check(&document),
        Err(error) => Err(error.without_text()),
    };
    Some(match found {
        Ok(()) => Measured { met: 1, of: 1, missing: Vec::new() },
        Err(why) => Measured { met: 0, of: 1, missing: vec![why] },
    })
}
