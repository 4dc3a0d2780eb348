//! What leaves the run: an export, a question to a provider.
//! Owns: the policies of that, what a person must say first, the receipts. Must not: send anything, or let anything go that a policy
//! holds back.
//!
//! A confirmation holds for what was shown: the way out, the sources and where they go. Change one and it has to be given again.

use crate::call::{self, Question};
use crate::cost;
use crate::desk::{Desk, Error, reference};
use crate::task::{Leave, Source, Task};
use crate::workspace;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::decide::replay::is_query;
use countersign_govern::types::added::policy::UserConfirmation;
use countersign_govern::types::added::repair::{SideEffectLedgerEntry, SideEffectState};
use countersign_govern::types::basic::{
    DataClass, DecisionEffect as Effect, EstimatorConfidence as Confidence, HardRevisionCallKind,
    ReplayPolicy, StorageRef, TaintClass, True, V10,
};
use countersign_govern::types::cost::{
    CostDimension as Dimension, CostDistribution, CostVector, CostVectorBasis as Basis,
};
use countersign_govern::types::externalization::{
    WorkspaceExternalizationKind as Kind, WorkspaceExternalizationPolicy, WorkspaceExternalizationReceipt,
    WorkspaceExternalizationReceiptStatus as Status,
};
use countersign_govern::types::hard_call::HardCallBlockingScope;
use countersign_record::canonical;
use countersign_record::json::{Json, Object};

/// Questions to providers at most, where the task has no cap.
const CALLS_MAX: u64 = 1_000;
/// An option that lets it go.
const SEND: &str = "send";
/// An option that keeps it here.
const KEEP: &str = "keep";

/// What follows where a model may not be asked.
const KEPT_QUESTION: &str = "Nothing leaves. What the model was to judge stays unjudged, and a person is asked where it must be met; what it was to write is not written, and a run that can't do without ends.";

/// What is to leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Going<'a> {
    /// How.
    pub kind: Kind,
    /// The sources in it, as the task calls them; all of them if nothing is said.
    pub sources: Option<&'a [String]>,
    /// Where to.
    pub destination: Option<StorageRef>,
}

/// Why something may not leave.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Held {
    /// The task says never.
    #[error("the task lets nothing leave {}", way(*.0))]
    Never(Kind),
    /// Something in it may not.
    #[error("a source of the class {} may not leave {}", class.as_str(), way(*kind))]
    Class {
        /// How it would leave.
        kind: Kind,
        /// The class.
        class: DataClass,
    },
    /// Nobody knows what it is.
    #[error("the task has no source {0}")]
    Unknown(String),
    /// A person has not said yes.
    #[error("a person must let it leave first")]
    Unconfirmed,
    /// A person has said no.
    #[error("a person keeps it here")]
    Kept,
}

/// Something that may leave, and who said so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cleared {
    confirmation: Option<StorageRef>,
    effect: Option<SideEffectLedgerEntry>,
}

/// How something leaves, in words.
fn way(kind: Kind) -> &'static str {
    match kind {
        Kind::OpenInBrowser => "to a browser",
        Kind::OpenNativeApp => "to another program",
        Kind::ShowInFinder => "to a window of files",
        Kind::SaveAs => "as a file that is saved",
        Kind::ExportBundle => "in a file that is exported",
        Kind::ExternalSourceQuery => "with a question to an outside source",
        Kind::ConnectorFetch => "with a question to a connector",
        Kind::ApiCall => "in questions to a model elsewhere",
        Kind::EmailSourceFetch => "with a question to a mailbox",
        Kind::BrowserSessionRead => "with a page that is read in a browser",
    }
}

/// Why something of a task may not leave whatever anybody says; `None` where it may, or a person can let it.
#[must_use]
pub fn never(task: &Task, kind: Kind) -> Option<Held> {
    let leave = task.policies().leave(kind);
    if leave == Leave::Never {
        return Some(Held::Never(kind));
    }
    let mut classes_in = task.sources.iter().filter(|one| one.tier() > 0).map(Source::class);
    let class = classes_in.find(|class| !classes(leave).contains(class))?;
    Some(Held::Class { kind, class })
}

fn policy_id(desk: &Desk, kind: Kind) -> String {
    desk.own(&format!("leave.{}", kind.as_str()))
}

/// Writes what may leave, for every way out.
///
/// # Errors
/// It can't be written.
pub(crate) fn policies(desk: &mut Desk) -> Result<(), Error> {
    let cap = cap(desk)?;
    for kind in Kind::ALL.iter().copied() {
        let leave = desk.task().policies().leave(kind);
        desk.put(&WorkspaceExternalizationPolicy {
            policy_id: policy_id(desk, kind),
            externalization_kind: kind,
            requires_user_confirmation: leave != Leave::Free,
            requires_redaction_preview: leave == Leave::Confirm && !is_query(kind),
            allowed_data_classes: classes(leave).to_vec(),
            allowed_taint_classes: TaintClass::ALL.to_vec(),
            max_cost_vector_ref: is_query(kind).then(|| cap.clone()),
            provider_logging_warning_required: is_query(kind),
            receipt_required: True,
            replay_policy: if is_query(kind) { ReplayPolicy::ReuseRecordedOnly } else { ReplayPolicy::Never },
            warning_text: "What leaves can't be taken back.".to_string(),
            schema_version: V10,
        })?;
    }
    Ok(())
}

/// What may leave. Nothing of the class `local_only` ever does, and what is privileged only if a person says so.
fn classes(leave: Leave) -> &'static [DataClass] {
    match leave {
        Leave::Never => &[],
        Leave::Confirm => &[DataClass::Public, DataClass::Internal, DataClass::Privileged],
        Leave::Free => &[DataClass::Public, DataClass::Internal],
    }
}

/// The most that asking providers may cost.
fn cap(desk: &mut Desk) -> Result<StorageRef, Error> {
    let calls = desk.task().cap(Dimension::ExternalApiCalls).unwrap_or(CALLS_MAX * cost::UNIT);
    let unit = Dimension::ExternalApiCalls;
    let (expected, hard_cap) = (cost::number(0), Some(cost::number(calls)));
    let amount = CostDistribution { expected, p50: None, p90: None, p99: None, hard_cap, unit };
    desk.put(&CostVector {
        cost_vector_id: desk.own("leave.cap"),
        components: [(unit, amount)].into(),
        basis: Basis::Heuristic,
        estimator_confidence: Confidence::Uncalibrated,
        sample_size: None,
        measurement_window: None,
        assumptions: Vec::from(["the cap of the task, or a fixed one where it has none".to_string()]),
        formula_eval_receipt_ref: None,
        schema_version: V10,
        correlation_policy: None,
    })
}

/// What is asked of a person, by what is to leave.
fn subject(desk: &Desk, going: &Going<'_>) -> Result<StorageRef, Error> {
    let sources = sources(desk, going).iter().map(|one| one.id.as_str().into()).collect();
    let mut shown =
        Object::from([("kind", Json::from(going.kind.as_str())), ("sources", Json::Array(sources))]);
    if let Some(destination) = &going.destination {
        shown.insert("destination", destination.as_str());
    }
    let hash = canonical::hash_as_written(&shown.into());
    let text = format!("externalization:{}#{hash}", policy_id(desk, going.kind));
    StorageRef::try_from(text.as_str()).map_err(|_| Error::Unnameable(text))
}

/// The sources that are in it. Those that were only looked up are no records, and are not sent.
fn sources(desk: &Desk, going: &Going<'_>) -> Vec<Source> {
    let is_in = |one: &&Source| going.sources.is_none_or(|own| own.contains(&one.id));
    desk.task().sources.iter().filter(is_in).filter(|one| one.tier() > 0).cloned().collect()
}

/// Whether something may leave now, as things stand.
///
/// # Errors
/// It may not, and why.
pub fn may(desk: &Desk, going: &Going<'_>) -> Result<Option<StorageRef>, Held> {
    let leave = desk.task().policies().leave(going.kind);
    let allowed = classes(leave);
    if leave == Leave::Never {
        return Err(Held::Never(going.kind));
    }
    let is_known = |id: &&String| desk.task().source(id).is_some();
    if let Some(unknown) = going.sources.into_iter().flatten().find(|id| !is_known(id)) {
        return Err(Held::Unknown(unknown.clone()));
    }
    // Where no source's text goes, what goes was still written from all of them; the contract takes it as that.
    let sources = match sources(desk, going) {
        none if none.is_empty() => self::sources(desk, &Going { sources: None, ..going.clone() }),
        some => some,
    };
    let refused = sources.iter().map(Source::class).find(|class| !allowed.contains(class));
    if let Some(class) = refused {
        return Err(Held::Class { kind: going.kind, class });
    }
    let (_, class, privileged) = workspace::whole(desk);
    let is_secret = privileged || matches!(class, DataClass::Privileged | DataClass::LocalOnly);
    if leave == Leave::Free && !is_secret {
        return Ok(None);
    }
    let subject = subject(desk, going).map_err(|_| Held::Unconfirmed)?;
    let said = desk.all::<UserConfirmation>().find(|one| one.subject_ref == subject);
    let said = said.and_then(|one| reference("UserConfirmation", &one.confirmation_id).ok());
    if said.is_some() {
        return Ok(said);
    }
    let is_kept = call::answered(desk).iter().any(|(call, _)| call.source_ref.as_ref() == Some(&subject));
    Err(if is_kept { Held::Kept } else { Held::Unconfirmed })
}

/// A person lets something leave, as it is shown to them.
///
/// # Errors
/// It can't be written.
pub fn confirm(desk: &mut Desk, going: &Going<'_>, by: StorageRef) -> Result<(), Error> {
    let subject = subject(desk, going)?;
    answered(desk, &subject, by)
}

/// Something that was about to leave when nobody went on: it is not known to have left.
#[must_use]
pub fn begun(desk: &Desk, going: &Going<'_>) -> Option<Cleared> {
    let confirmation = may(desk, going).ok()?;
    let of_kind = |one: &SideEffectLedgerEntry| one.kind == going.kind.as_str();
    let effect = desk.all::<SideEffectLedgerEntry>().rfind(of_kind);
    let effect = effect.filter(|one| one.state == SideEffectState::Intent)?;
    Some(Cleared { confirmation, effect: Some(effect) })
}

/// Asks a person to let something leave; gives what the question is called.
///
/// # Errors
/// It can't be written.
pub fn ask(desk: &mut Desk, going: &Going<'_>) -> Result<String, Error> {
    let source = subject(desk, going)?;
    let open = call::open(desk).into_iter().find(|one| one.source_ref.as_ref() == Some(&source));
    if let Some(open) = open {
        return Ok(open.hard_call_id);
    }
    let count = sources(desk, going).len();
    let to = going.destination.as_ref().map(|to| format!(" ({})", to.as_str())).unwrap_or_default();
    let what = if count == 1 { "1 source".to_string() } else { format!("{count} sources") };
    let prompt = format!("May what is written from {what} leave {}{to}?", way(going.kind));
    let kept = match going.kind {
        Kind::ApiCall => KEPT_QUESTION,
        Kind::OpenInBrowser
        | Kind::OpenNativeApp
        | Kind::ShowInFinder
        | Kind::SaveAs
        | Kind::ExportBundle
        | Kind::ExternalSourceQuery
        | Kind::ConnectorFetch
        | Kind::EmailSourceFetch
        | Kind::BrowserSessionRead => "Nothing leaves.",
    };
    let options = Vec::from([
        call::option(SEND, "Yes, send it", Effect::GrantSideEffect, "It leaves, and can't be taken back."),
        call::option(KEEP, "No, keep it here", Effect::Continue, kept),
    ]);
    let (kind, scope) =
        (HardRevisionCallKind::ExternalSideEffectApproval, HardCallBlockingScope::SideEffectOnly);
    call::ask(desk, Question { kind, prompt, options, source, scope, blocked: Vec::new() })
}

/// Says that something is about to leave. What discloses stands in the ledger before it is done.
///
/// # Errors
/// It may not leave, or it can't be written.
pub fn begin(desk: &mut Desk, going: &Going<'_>) -> Result<Result<Cleared, Held>, Error> {
    let confirmation = match may(desk, going) {
        Ok(confirmation) => confirmation,
        Err(held) => return Ok(Err(held)),
    };
    let effect = (!is_query(going.kind)).then(|| SideEffectLedgerEntry {
        side_effect_id: desk.id("effect"),
        run_id: desk.run().to_string(),
        kind: going.kind.as_str().to_string(),
        irreversible: true,
        state: SideEffectState::Intent,
        receipt_ref: None,
        replay_request_id: None,
        created_at: desk.now(),
        schema_version: Some(V10),
    });
    if let Some(effect) = &effect {
        desk.put(effect)?;
    }
    Ok(Ok(Cleared { confirmation, effect }))
}

/// How something ended that was about to leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// What became of it.
    pub status: Status,
    /// What it cost.
    pub cost: Option<StorageRef>,
}

/// Writes what became of something that was about to leave.
///
/// # Errors
/// It can't be written.
pub fn done(desk: &mut Desk, going: &Going<'_>, cleared: Cleared, left: &Left) -> Result<StorageRef, Error> {
    let receipt = receipt(desk, going, cleared.confirmation, left)?;
    if let Some(effect) = cleared.effect {
        let (state, receipt_ref) = match left.status {
            Status::Completed => (SideEffectState::Executed, Some(receipt.clone())),
            Status::BlockedByPolicy | Status::Cancelled | Status::Failed => {
                (SideEffectState::Cancelled, None)
            }
        };
        desk.put(&SideEffectLedgerEntry { state, receipt_ref, created_at: desk.now(), ..effect })?;
    }
    Ok(receipt)
}

/// Writes that something was held back.
///
/// # Errors
/// It can't be written.
pub fn held(desk: &mut Desk, going: &Going<'_>, why: &Held) -> Result<StorageRef, Error> {
    let status = match why {
        Held::Never(_) | Held::Class { .. } | Held::Unknown(_) | Held::Unconfirmed => Status::BlockedByPolicy,
        Held::Kept => Status::Cancelled,
    };
    receipt(desk, going, None, &Left { status, cost: None })
}

fn receipt(
    desk: &mut Desk,
    going: &Going<'_>,
    confirmation: Option<StorageRef>,
    left: &Left,
) -> Result<StorageRef, Error> {
    let refs =
        sources(desk, going).iter().map(|one| desk.source_ref(&one.id)).collect::<Result<Vec<_>, _>>()?;
    let preview = confirmation.is_some() && !is_query(going.kind);
    let preview = preview.then(|| subject(desk, going)).transpose()?;
    desk.put(&WorkspaceExternalizationReceipt {
        receipt_id: desk.id("left"),
        externalization_kind: going.kind,
        workspace_id: desk.workspace_id(),
        source_record_refs: refs,
        destination_ref: going.destination.clone(),
        policy_ref: policy_id(desk, going.kind),
        user_confirmation_ref: confirmation,
        redaction_preview_ref: preview,
        cost_vector_ref: left.cost.clone(),
        status: left.status,
        irreversible_disclosure_possible: left.status == Status::Completed,
        created_at: desk.now(),
        schema_version: V10,
        query_ref: None,
        replay_request_id: None,
    })
}

/// What a person said to something that is to leave.
///
/// # Errors
/// It can't be written.
pub(crate) fn answered(desk: &mut Desk, subject: &StorageRef, by: StorageRef) -> Result<(), Error> {
    desk.put(&UserConfirmation {
        confirmation_id: desk.id("confirmed"),
        user_ref: by,
        subject_ref: subject.clone(),
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    Ok(())
}
