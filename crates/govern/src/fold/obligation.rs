//! How the obligation of another document to take something in stands, and who owns a type.
//! Owns: that only a receipt moves them. Must not: know the documents.

use super::family::{GENERAL, OWNER};
use super::life::{Board, Life, Opens, typed};
use super::row::Row;
use crate::member::Member;
use crate::types::added::learned::CrossDocInsertObligation;
use crate::types::owner::TypeOwnerRegistryEntry;
use countersign_record::json::Json;

pub(super) const LIFE: Life = Life {
    kind: "CrossDocInsertObligation",
    snake: "cross_doc_insert_obligation",
    projects: "CrossDocInsertObligation",
    families: &[],
    hears: &[GENERAL],
    opens: Opens::Row,
    live: &[],
    free: &[],
    grows: &[],
    apply,
    record: typed::<CrossDocInsertObligation>,
};

pub(super) const OWNED: Life = Life {
    kind: OWNER.kind,
    snake: OWNER.snake,
    projects: OWNER.kind,
    families: &[&OWNER],
    hears: &[],
    opens: Opens::Row,
    live: &[],
    free: &[],
    grows: &[],
    apply: owner_moved,
    record: typed::<TypeOwnerRegistryEntry>,
};

/// Its states, and what may follow: what was taken in or stubbed stays so.
const WAYS: [(&str, &str); 3] = [("open", "absorbed"), ("open", "stubbed"), ("stubbed", "absorbed")];

fn apply(row: &Row<'_>, board: &mut Board) {
    let subject = row.json.reference("subject_ref").filter(|to| row.kind == GENERAL && to.kind == LIFE.snake);
    let states = row.json.text("from_state").zip(row.json.text("to_state"));
    if let (Some(subject), Some((from, to))) = (subject, states)
        && let Some(standing) = board.find_mut(LIFE.snake, subject.id)
        && standing.word("state") == Some(from)
        && WAYS.contains(&(from, to))
    {
        standing.put("state", Some(Json::from(to)));
    }
}

fn owner_moved(row: &Row<'_>, board: &mut Board) {
    if let Some((id, step)) = OWNER.read(row.kind, row.json)
        && let Some(standing) = board.find_mut(OWNER.snake, id)
    {
        standing.step(&OWNER, &step, row);
    }
}
