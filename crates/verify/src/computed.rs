//! What formulas were computed from: a receipt has hashes, and what they are of is gathered again from the records.
//! Owns: the values of a run's receipts, where they are those that the receipts were made of. Must not: guess where they are not.

use crate::case::Case;
use crate::formula::Formulas;
use crate::found::Found;
use crate::head::Stated;
use crate::packet::{Formula, Parts};
use crate::{agreed, run, walk};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::json::{Json, Object};

/// What a formula was given, and what it gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Computed {
    /// What it was given; its hash is the receipt's.
    pub inputs: Object,
    /// What it gave; its hash is the receipt's.
    pub value: Json,
}

/// The values behind the receipts of a run, by the receipts' names. A receipt whose hashes are of anything else has none here, and
/// neither has one whose inputs are withheld or only told.
#[must_use]
pub fn computed(parts: &Parts) -> BTreeMap<String, Computed> {
    let Parts { matter, run, task, files, rows, blobs, .. } = parts;
    let case = Case::new(run, matter, task, files, rows, blobs);
    let mut found = Found::default();
    let named = Stated::formulas(&case);
    let registered = named.iter().filter_map(|(id, version)| Formula::registered(id, version));
    let formulas = Formulas::of(&registered.collect::<Vec<_>>(), &named, &mut found);
    let told = run::check(&case, &mut found);
    // Without a change of the task nothing that follows from it is known.
    let Ok(edits) = agreed::edits(&case) else { return BTreeMap::new() };
    let edited: Vec<(u64, Case<'_>)> = edits
        .iter()
        .map(|(place, task)| (*place, Case::new(run, matter, task, files, rows, blobs)))
        .collect();
    walk::walk(&case, &edited, &formulas, &told, &mut found)
}
