//! How a workspace of sources stands: its head, its place in its own stream, what is in it.
//! Owns: which receipts count. Must not: decide an operation.

use super::life::{Board, Life, Opens, record_of};
use super::row::{Row, number};
use super::standing::Standing;
use crate::member::Member;
use crate::reference::Reference;
use crate::types::added::sourcing::SourceWorkspaceCurrentState;
use crate::types::basic::{DataClass, TaintClass};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::json::{Json, Object};

pub(super) const LIFE: Life = Life {
    kind: "SourceWorkspaceCurrentState",
    snake: "source_workspace_current_state",
    projects: "SourceWorkspaceCurrentState",
    families: &[],
    hears: &["SourceWorkspaceOperation", "SourceWorkspaceOperationReceipt", "TaintAggregationPolicy"],
    opens: Opens::Event,
    live: &[],
    // What the records in it come to has codes of its own.
    free: &["taint_class", "data_class", "privileged", "aggregation_policy_ref"],
    grows: &["record_refs"],
    apply,
    record,
};

const POLICY: &str = "the last policy of aggregation";

fn apply(row: &Row<'_>, board: &mut Board) {
    match row.kind {
        "SourceWorkspaceOperation" => {
            let mut kept = Object::new();
            for member in [
                "operation_kind",
                "task_id",
                "matter_id",
                "payload_ref",
                "taint_class",
                "data_class",
                "privileged",
            ] {
                if let Some(value) = row.json.at(member) {
                    kept.insert(member, value.clone());
                }
            }
            board.remember(key(row.id), kept.into());
        }
        "SourceWorkspaceOperationReceipt" => receipt(row, board),
        "TaintAggregationPolicy" => board.remember(POLICY.to_string(), row.reference().into()),
        _other => {}
    }
}

fn key(operation: &str) -> String {
    format!("{}{operation}", OPERATION)
}

const OPERATION: &str = "source_workspace_operation:";

/// What was applied moves the workspace on by one, from where it is.
fn receipt(row: &Row<'_>, board: &mut Board) {
    let json = row.json;
    let (Some(id), Some(operation)) = (json.id_at("workspace_id"), json.id_at("operation_id")) else {
        return;
    };
    let asked = board.take(&key(operation));
    let is_change =
        !json.is_one_of("operation_kind", &["read_workspace_snapshot", "export_workspace_bundle"]);
    let (Some(asked), Some(prior), Some(new)) =
        (asked, json.count("prior_event_seq"), json.count("new_event_seq"))
    else {
        return;
    };
    if !json.is("status", "applied") || !is_change || prior.checked_add(1) != Some(new) {
        return;
    }
    let standing = board.find(LIFE.snake, id);
    let head = json.text("prior_workspace_head_hash");
    let is_here = standing.is_none_or(|standing| {
        standing.says("stream_seq") == Some(&number(prior)) && standing.word("head_hash") == head
    });
    let policy = board.recall(POLICY).cloned();
    if !is_here {
        return;
    }
    if let Some(standing) = board.open(LIFE.snake, id, row) {
        standing.put("workspace_id", Some(id.into()));
        standing.put("record_refs", Some(Json::Array(Vec::new())));
        standing.put("privileged", Some(false.into()));
    }
    let Some(standing) = board.find_mut(LIFE.snake, id) else { return };
    moved(row, standing, &asked, operation);
    standing.put("stream_seq", Some(number(new)));
    standing.put("aggregation_policy_ref", policy);
}

fn moved(row: &Row<'_>, standing: &mut Standing, asked: &Json, operation: &str) {
    let event = key(operation);
    standing.put("head_hash", row.json.text("new_workspace_head_hash").map(Json::from));
    standing.put("canonical_event_ref", Some(event.as_str().into()));
    for member in ["task_id", "matter_id"] {
        if let Some(value) = asked.at(member) {
            standing.put(member, Some(value.clone()));
        }
    }
    if asked.is("operation_kind", "add_source_record")
        && let Some(source) = asked.reference("payload_ref")
    {
        let source = format!("src:{}", source.id);
        let is_new = standing.kept.insert(source.clone(), true.into()).is_none();
        if is_new {
            standing.push("record_refs", source.into());
        }
    }
    join(standing, asked);
    standing.event = Some(event);
    standing.touch(row);
}

/// How high a word stands.
type Rank = fn(&str) -> Option<u8>;

/// Members that a whole has at least as high as its parts.
const ORDERS: [(&str, Rank); 2] = [
    ("taint_class", |word| TaintClass::find(word).map(|taint| taint as u8)),
    ("data_class", |word| DataClass::find(word).map(|class| class as u8)),
];

/// What something in a workspace adds to how little the whole is trusted and how secret it is.
fn join(standing: &mut Standing, part: &Json) {
    for (member, rank) in ORDERS {
        let least = |word: Option<&str>| word.and_then(rank);
        if least(part.text(member)) > least(standing.word(member)) {
            standing.put(member, part.text(member).map(Json::from));
        }
    }
    if part.flag("privileged") == Some(true) {
        standing.put("privileged", Some(true.into()));
    }
}

/// A workspace is trusted as little as the least trusted record in it.
fn record(standing: &Standing, board: &Board) -> Option<Json> {
    let mut all = standing.clone();
    let records = standing.says("record_refs").and_then(Json::as_array).unwrap_or_default();
    for source in records.iter().filter_map(Json::as_str).filter_map(Reference::read) {
        if let Some(source) = board.find("source_record", source.id) {
            let members = source.members.iter().map(|(name, value)| (name.as_str(), value.clone()));
            join(&mut all, &Json::Object(members.collect()));
        }
    }
    record_of::<SourceWorkspaceCurrentState>(
        all.members.iter().map(|(name, value)| (name.as_str(), value.clone())).collect(),
    )
}
