//! Commands that were given to a run, asked again as its records have them.
//! Owns: who asked for what, under which name a fork began. Must not: carry a command out.

use super::{Recorded, is};
use crate::run::Error;
use countersign_govern::types::added::policy::{PolicyDecision, PolicyEvaluation};
use countersign_govern::types::added::showing::{CommandInvocation, CommandReceipt};
use countersign_govern::types::checkpoint::TaskRunFork;
use countersign_govern::types::externalization::{
    WorkspaceExternalizationReceipt, WorkspaceExternalizationReceiptStatus as Status,
};
use countersign_record::id::RunId;
use countersign_record::json;
use countersign_record::row::Row;
use countersign_work::command::{Asked, By};

fn unreadable(row: &Row) -> Error {
    Error::Unreadable { seq: row.seq, why: "it is no command".to_owned() }
}

/// What the row of a command says of it.
pub(super) fn invocation(row: &Row) -> Result<CommandInvocation, Error> {
    Recorded::record(row).ok_or_else(|| unreadable(row))
}

/// Asks as somebody asked then, by the row of that.
pub(super) fn asking<T>(
    recorded: &Recorded,
    matter: &str,
    row: &Row,
    was_barred: bool,
    ask: impl FnOnce(&Asked<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let said = invocation(row)?;
    let request = row.blobs.first().and_then(|blob| recorded.contents.get(&blob.digest));
    let request = request.ok_or(Error::Erased { seq: row.seq })?;
    let request = json::parse(request).map_err(|_| unreadable(row))?;
    let name = said.actor_ref.as_str().split_once(':').map_or("", |(_, name)| name);
    let is_proposer = recorded.told.lines.first().is_some_and(|began| began.actor == name);
    let needs_another = is_proposer && was_barred;
    let by = By { name, kind: said.actor_kind, matter, is_proposer, needs_another };
    let key = said.idempotency_key.clone().unwrap_or_default();
    ask(&Asked { command: &said.command_id, key: &key, request: &request, by })
}

/// Whether the policy of that time barred whoever began the run, by the checks that some records begin with: nothing else on record
/// says so.
pub(super) fn was_barred(records: &[Row]) -> bool {
    let checks = records.iter().take_while(|row| is(row, "PolicyEvaluation"));
    let mut checks = checks.filter_map(Recorded::record::<PolicyEvaluation>);
    checks.any(|one| {
        let is_of_people = ["reviewer_may_issue", "reviewer_may_decide", "user_may_approve"];
        is_of_people.contains(&one.policy_id.as_str()) && one.decision == PolicyDecision::Deny
    })
}

/// The name of the run that the next fork began, from a place in the records on.
pub(super) fn new_run(recorded: &Recorded, from: usize) -> Result<RunId, Error> {
    let rows = recorded.records.iter().skip(from);
    let mut forks = rows.filter(|row| is(row, "TaskRunFork")).filter_map(Recorded::record::<TaskRunFork>);
    let named = forks.next().map(|fork| fork.new_run_id);
    Ok(RunId::try_from(named.unwrap_or_else(|| recorded.told.id.to_string()))?)
}

/// Whether what a command had done outside has left, if it is on record what became of that.
pub(super) fn has_left(recorded: &Recorded, invocation: &str) -> Option<bool> {
    let is_its = |row: &Row| {
        Recorded::record::<CommandReceipt>(row).is_some_and(|one| one.invocation_id == invocation)
    };
    let end = recorded.records.iter().position(|row| is(row, "CommandReceipt") && is_its(row))?;
    let before = recorded.records.get(..end)?.iter();
    let mut left = before.filter(|row| is(row, "WorkspaceExternalizationReceipt"));
    let left: WorkspaceExternalizationReceipt = Recorded::record(left.next_back()?)?;
    Some(left.status == Status::Completed)
}
