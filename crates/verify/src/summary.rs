//! What a reader of a packet wants to know, in one value: the same for the text on a screen and for a page on paper.
//! Owns: choosing and naming it. Must not: judge; a summary says what the records say, and verifying says whether that is so.

mod changed;
mod decided;
mod essence;
mod fall;
mod say;

pub(crate) use fall::fallen;
pub use fall::{given_up, why};
pub use say::{limitation, state, without_others};

use crate::case::Case;
use crate::packet::Statement;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_govern::fold::{Fold, Folds};
use countersign_record::chain::Head;
use countersign_record::digest::Digest;
use countersign_record::json::Json;
use serde::Serialize;

/// What a packet says, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The task, as it was worked on.
    pub title: String,
    /// What was to be done.
    pub goal: String,
    /// How far the work may be relied on, as the records have it.
    pub status: String,
    /// The same in a sentence.
    pub status_words: String,
    /// Why.
    pub explanation: String,
    /// What is open though nothing blocks, if the status is safe and something is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub still_open: Option<String>,
    /// For what the status holds.
    pub scope: String,
    /// How far the packet is on its way: ready for review, issued, and so on.
    pub lifecycle: String,
    /// Why the packet can't be relied on any more; nothing while it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallen: Option<String>,
    /// What limits the work, in words.
    pub limitations: Vec<String>,
    /// That people changed what was asked, if they did; the status is that of the changed task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<String>,
    /// What they changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// What was found wrong with the work and still stands.
    pub findings: Vec<Finding>,
    /// The work products.
    pub products: Vec<Product>,
    /// What was asked for, and how it stands.
    pub outcomes: Vec<Outcome>,
    /// What the work claims, and where that stands.
    pub claims: Vec<Claim>,
    /// What was rested on.
    pub sources: Vec<Source>,
    /// What people decided, in the order of the log.
    pub decisions: Vec<Decision>,
    /// What it cost.
    pub budget: Option<Budget>,
    /// The states that the run can be taken back to.
    pub checkpoints: Vec<Checkpoint>,
    /// What is not in the packet.
    pub withheld: Vec<Withheld>,
    /// Where it comes from.
    pub origin: Origin,
}

/// A finding that stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: String,
    /// What is wrong.
    pub text: String,
    /// Why.
    pub explanation: String,
}

/// A work product.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Product {
    /// Its file name.
    pub name: String,
    /// Which version it is.
    pub version: String,
    /// SHA-256 of its bytes.
    pub sha256: Digest,
}

/// Something that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// As the task calls it.
    pub id: String,
    /// What was to be.
    pub statement: String,
    /// The score that it has to reach.
    pub threshold: String,
    /// By what that is told.
    pub criteria: Vec<Criterion>,
    /// Where it stands.
    pub state: String,
    /// The same in words.
    pub words: String,
}

/// A criterion of an outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Criterion {
    /// As the task calls it.
    pub id: String,
    /// What it asks for.
    pub text: String,
    /// How much of that is enough.
    pub threshold: String,
    /// Whether the outcome fails without it.
    pub required: bool,
    /// Whether the last look at the outcome gave it no score.
    #[serde(rename = "not_looked_at", skip_serializing_if = "core::ops::Not::not")]
    pub is_unscored: bool,
}

/// Something that a person changed in what is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The row of the command.
    pub row: u64,
    /// Who.
    pub by: String,
    /// The outcome that it belongs to, if it does to one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The member.
    pub what: String,
    /// What it is a member of.
    pub of: String,
    /// What it was.
    pub from: String,
    /// What it is.
    pub to: String,
    /// Whether less is asked for than before.
    #[serde(rename = "asks_for_less")]
    pub is_less: bool,
}

/// A claim of the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Claim {
    /// The work product.
    pub product: String,
    /// The heading it stands under.
    pub section: Option<String>,
    /// Its words; nothing where the text is withheld.
    pub text: Option<String>,
    /// How it is supported.
    pub status: String,
    /// The same in words.
    pub words: String,
    /// The places that bear on it.
    pub places: Vec<Place>,
}

/// A place in a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The source.
    pub source: String,
    /// The file and the lines.
    pub at: String,
    /// How it bears on the claim: in words.
    pub bears: String,
    /// What it says; nothing where the text is withheld.
    pub quote: Option<String>,
}

/// A source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// What it is called.
    pub title: String,
    /// Its file.
    pub path: String,
    /// Whether somebody verified it: who.
    pub verified_by: Option<String>,
    /// Until when it holds.
    pub fresh_until: Option<String>,
    /// SHA-256 of its bytes.
    pub sha256: Option<String>,
}

/// Something that a person decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// Its row in the ledger.
    pub row: u64,
    /// When.
    pub at: String,
    /// Who.
    pub who: String,
    /// What stands behind the name.
    pub proof: String,
    /// The command by which it was decided, if it was by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What was done.
    pub what: String,
    /// What was asked and chosen, if somebody was asked.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub answered: Option<Answered>,
    /// What it was about, and what came of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<String>,
    /// What the person said for it.
    pub why: Option<String>,
}

/// A question that a person answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Answered {
    /// What was asked.
    pub question: String,
    /// What was chosen.
    pub answer: String,
    /// What follows from that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consequence: Option<String>,
}

/// What a run cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Budget {
    /// What was spent.
    pub summary: String,
    /// Against what was foreseen.
    pub compared: String,
    /// What was left out to save something.
    pub skipped: Vec<String>,
    /// What that means for the work.
    pub impact: String,
}

/// A state that a run can be taken back to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Checkpoint {
    /// What it is called.
    pub label: String,
    /// When it was kept.
    pub at: String,
    /// The versions.
    pub versions: Vec<String>,
}

/// Bytes that are not in the packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Withheld {
    /// Their digest.
    pub sha256: Digest,
    /// How many there are.
    pub bytes: u64,
    /// Why.
    pub reason: String,
}

/// Where a packet comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// Whose it is.
    pub matter: String,
    /// The run.
    pub run: String,
    /// The packet.
    pub packet_id: String,
    /// The hash of what the packet lists.
    pub manifest_hash: String,
    /// When the statement was made.
    pub made_at: String,
    /// By whom.
    pub made_by: String,
    /// By which version of the product.
    pub made_with: String,
    /// The last row.
    pub head: Head,
    /// The first row.
    pub first_seq: u64,
    /// SHA-256 of the statement that is signed.
    pub statement_sha256: Option<Digest>,
}

impl Summary {
    /// What a statement says.
    #[must_use]
    pub fn of(statement: &Statement) -> Self {
        let asked = case_of(statement, &statement.task);
        let edits = changed::edits(&asked);
        // What is told of the work is told of the task that it was held to.
        let case = case_of(statement, changed::in_force(&edits, &statement.task));
        let changes = changed::changes(&edits, &statement.task);
        let mut folds = Folds::default();
        case.world.all().for_each(|record| folds.apply(&record.into()));
        say::all(statement, &case, &folds, changes)
    }
}

/// What a statement holds, where a task was asked.
fn case_of<'p>(statement: &'p Statement, task: &'p Json) -> Case<'p> {
    let Statement { run, matter, files, ledger, blobs, .. } = statement;
    Case::new(run, matter, task, files, &ledger.rows, blobs)
}
