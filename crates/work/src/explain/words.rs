//! Words for what a record decides, and why: its own, as everybody may read them.
//! Owns: choosing them. Must not: tell what a model said to itself; no member that holds that is read.

use super::{command, invocation, text};
use crate::desk::Desk;
use alloc::format;
use alloc::string::{String, ToString};
use countersign_govern::reference::snake;
use countersign_govern::types::chain::EvaluationResultEnvelope as Envelope;
use countersign_govern::types::hard_call::HardRevisionCall;
use countersign_govern::world::Draft;
use countersign_record::json::Json;

/// What a record decides, in words that it has itself.
pub(super) fn what(desk: &Desk, row: &Draft) -> String {
    let said = |member: &str| text(row, member).unwrap_or_default().replace('_', " ");
    let moved = || format!("{} to {}", said("from_state"), said("to_state"));
    match row.kind.as_str() {
        "EvaluationChainResolutionReceipt" => {
            let outcome = outcome(desk, row).unwrap_or_default();
            format!("{outcome}: {}, {}", said("resolved_verdict"), said("resolved_route"))
        }
        "FindingLifecycleTransitionReceipt" => {
            format!("{} goes from {} ({})", plain(row, "finding_id"), moved(), said("transition_reason"))
        }
        "HardCallResolutionReceipt" => answer(desk, row),
        "RevisionReviewDecisionReceipt" => {
            format!("{} {}: {}", said("action"), plain(row, "packet_id"), plain(row, "rationale"))
        }
        "TaskReliancePacket" => {
            let status = row.record.get("reliance_derivation").and_then(|one| one.get("status"));
            let status = status.and_then(Json::as_str).unwrap_or_default().replace('_', " ");
            format!("{status}: {}", plain(row, "user_visible_summary"))
        }
        "RelianceInvalidationEvent" => said("invalidation_kind"),
        "WorkspaceExternalizationReceipt" => format!("{}: {}", said("externalization_kind"), said("status")),
        "CommandReceipt" => {
            let command = invocation(desk, row).and_then(|begun| command(desk, begun));
            format!("{}: {}", command.unwrap_or_default(), said("status"))
        }
        "EvaluationResultEnvelope" => {
            let outcome = text(row, "outcome_id").map(|id| desk.local(id)).unwrap_or_default();
            let verdict = inner(row, &["decision", "verdict"]).replace('_', " ");
            // Where nobody judges, the scores are put together all the same.
            let by = match said("producer_kind").as_str() {
                "judge" if !desk.task().has_judge() => "the scores".to_string(),
                other => other.to_string(),
            };
            format!("{outcome}: {verdict}, by {by}")
        }
        "EvaluationFindingEvent" => format!("{} ({})", plain(row, "finding_text"), said("severity")),
        "EvidencePackage" => {
            let claims = row.record.get("claim_support_map").and_then(Json::as_array).unwrap_or_default();
            let status = |one: &&Json| one.get("support_status").and_then(Json::as_str) == Some("supported");
            let supported = claims.iter().filter(status).count();
            format!("{supported} of {} claims stand in the sources", claims.len())
        }
        "PolicyEvaluation" => format!("{}: {}", plain(row, "policy_id"), said("decision")),
        "HardRevisionCall" => plain(row, "prompt_text"),
        "FormulaEvaluationReceipt" => {
            format!("{} {}", plain(row, "formula_id"), plain(row, "formula_semantic_version"))
        }
        "BudgetNarrative" => plain(row, "summary"),
        "KnownGoodCheckpoint" => plain(row, "label"),
        "CommandInvocation" => format!("{} by {}", plain(row, "command_id"), plain(row, "actor_ref")),
        _another if text(row, "from_state").is_some() => format!("{}: {}", moved(), plain(row, "reason")),
        _another => snake(&row.kind).replace('_', " "),
    }
}

/// The outcome that a resolution is about, as the task calls it.
fn outcome(desk: &Desk, row: &Draft) -> Option<String> {
    let first = row.record.get("result_ids_considered").and_then(Json::as_array)?.first()?.as_str()?;
    let result: Envelope = desk.find("EvaluationResultEnvelope", first)?;
    Some(desk.local(&result.outcome_id).to_string())
}

fn plain(row: &Draft, member: &str) -> String {
    text(row, member).unwrap_or_default().to_string()
}

/// What was asked, and what a person chose.
fn answer(desk: &Desk, row: &Draft) -> String {
    let asked: Option<HardRevisionCall> =
        text(row, "hard_call_id").and_then(|id| desk.find("HardRevisionCall", id));
    let chosen = text(row, "selected_option_id").unwrap_or_default();
    let Some(asked) = asked else { return chosen.to_string() };
    let label = asked.options.iter().find(|one| one.option_id == chosen).map(|one| one.label.as_str());
    format!("{} {}", asked.prompt_text, label.unwrap_or(chosen))
}

/// Why it was decided, as whoever decided it told it.
pub(super) fn why(desk: &Desk, row: &Draft) -> Option<String> {
    let said = match row.kind.as_str() {
        "TaskReliancePacket" => inner(row, &["reliance_derivation", "explanation"]).to_string(),
        "EvaluationChainResolutionReceipt" | "RelianceInvalidationEvent" => plain(row, "explanation"),
        "RevisionReviewDecisionReceipt" => plain(row, "rationale"),
        "HardCallResolutionReceipt" => consequence(desk, row).unwrap_or_default(),
        _another => plain(row, "reason"),
    };
    Some(said).filter(|said| !said.is_empty())
}

/// What a member within others says.
fn inner<'r>(row: &'r Draft, path: &[&str]) -> &'r str {
    let found = path.iter().try_fold(&row.record, |value, name| value.get(name));
    found.and_then(Json::as_str).unwrap_or_default()
}

/// What follows from the option that a person chose.
fn consequence(desk: &Desk, row: &Draft) -> Option<String> {
    let asked: HardRevisionCall = desk.find("HardRevisionCall", text(row, "hard_call_id")?)?;
    let chosen = text(row, "selected_option_id")?;
    asked.options.into_iter().find(|one| one.option_id == chosen).map(|one| one.consequence_text)
}
