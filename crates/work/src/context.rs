//! What a model is given to know: asked for, put together within its room, receipted, used.
//! Owns: packets, what is left out of them and why, the room of an activation. Must not: render a prompt, or let a packet be used
//! that is old or lacks what it needs.

use crate::claims::is_later;
use crate::desk::{Desk, Error, hash_of, reference};
use crate::guidance;
use crate::workspace;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::reference::Reference;
use countersign_govern::table::invalidation;
use countersign_govern::types::added::showing::{ContextPacketConsumption, PacketItem, TaskRunContextPacket};
use countersign_govern::types::added::stopping::{ActivationState, ModuleActivationEvent};
use countersign_govern::types::basic::{StorageRef, V10};
use countersign_govern::types::context::{
    OmittedPacketItem, OmittedPacketItemOmissionReason as Reason, PacketStatus, PerActivationContextBudget,
    TaskContextAudience as Audience, TaskRunContextPacketAssemblyReceipt as Receipt,
    TaskRunContextPacketRequest, TaskRunContextPacketRequestStalenessPolicy as Staleness,
};
use countersign_govern::types::wire::Wire;
use countersign_record::json::Json;

/// What makes a packet old: another version counts, a source changed, guidance moved.
const MADE_OLD_BY: [&str; 3] =
    ["ArtifactVersionTransitionEvent", "SourceWorkspaceOperationReceipt", "RunGuidanceLifecycleReceipt"];

/// Whether an activation can do without something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// It can't.
    Required,
    /// It can.
    Optional,
}

/// Something that an activation may be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// What.
    pub item_ref: StorageRef,
    /// How many tokens it is.
    pub tokens: u64,
    /// Whether it must be there.
    pub need: Need,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask<'a> {
    /// For whom.
    pub audience: Audience,
    /// Tokens at most.
    pub tokens_max: u64,
    /// What may be in it; of two that can be left out the first goes in first.
    pub items: &'a [Item],
    /// What becomes of a source that is out of date.
    pub staleness: Staleness,
}

/// A packet that was put together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The reference to it.
    pub packet_ref: StorageRef,
    /// What is in it.
    pub held: Vec<StorageRef>,
    /// What was left out.
    pub omitted: Vec<OmittedPacketItem>,
    /// How many tokens it is.
    pub tokens: u64,
    /// What became of it.
    pub status: PacketStatus,
    /// The place of its receipt.
    place: u64,
}

/// Why a packet can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// Something that must be there is not in it.
    #[error("something that is needed is not in the packet")]
    Blocked,
    /// Something happened that it rests on.
    #[error("the packet is old: put it together again")]
    Old,
    /// All together is more than the activation has room for.
    #[error("{total} tokens are more than the {max} that there is room for")]
    TooMuch {
        /// All together.
        total: u64,
        /// The room.
        max: u64,
    },
    /// It can't be written.
    #[error(transparent)]
    Unwritten(#[from] Error),
}

/// Puts a packet together.
///
/// # Errors
/// Something can't be written.
pub fn assemble(desk: &mut Desk, ask: &Ask<'_>) -> Result<Packet, Error> {
    let of = |need: Need| -> Vec<&Item> { ask.items.iter().filter(|one| one.need == need).collect() };
    let names = |items: &[&Item]| items.iter().map(|one| one.item_ref.clone()).collect();
    let (required, optional) = (of(Need::Required), of(Need::Optional));
    if ask.items.iter().any(|one| is_source(&one.item_ref)) {
        workspace::read_once(desk)?;
    }
    let request_id = desk.id("packet-asked");
    desk.put(&TaskRunContextPacketRequest {
        request_id: request_id.clone(),
        task_id: desk.task().id.clone(),
        run_id: desk.run().to_string(),
        audience: ask.audience,
        requested_max_tokens: ask.tokens_max,
        required_item_refs: names(&required),
        optional_item_refs: names(&optional),
        staleness_policy: ask.staleness,
        created_at: desk.now(),
        schema_version: V10,
    })?;
    let chosen = choose(desk, ask, required.into_iter().chain(optional));
    let matter = Some(desk.matter().to_string());
    let items: Vec<PacketItem> = chosen
        .held
        .iter()
        .map(|item_ref| PacketItem { item_ref: item_ref.clone(), matter_id: matter.clone() })
        .collect();
    let hash = String::from(hash_of(&items.write().unwrap_or(Json::Null))?);
    let packet_ref = desk.put(&TaskRunContextPacket {
        packet_id: desk.id("packet-made"),
        run_id: desk.run().to_string(),
        task_id: desk.task().id.clone(),
        items,
        content_hash: hash.clone(),
        matter_id: matter,
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    let status = chosen.status();
    let warnings = if status == PacketStatus::CompleteWithWarnings { chosen.warned } else { Vec::new() };
    desk.put(&Receipt {
        receipt_id: desk.id("packet-receipt"),
        request_id,
        packet_ref: packet_ref.clone(),
        packet_content_hash: hash,
        actual_token_count: chosen.tokens,
        omitted_items: chosen.omitted.clone(),
        valid_until_event_seq: None,
        invalidated_by_event_kinds: MADE_OLD_BY.iter().map(ToString::to_string).collect(),
        created_at: desk.now(),
        schema_version: V10,
        packet_status: Some(status),
        warnings: Some(warnings),
    })?;
    let Chosen { held, omitted, tokens, .. } = chosen;
    Ok(Packet { packet_ref, held, omitted, tokens, status, place: desk.end() })
}

/// What goes in, and what does not.
#[derive(Default)]
struct Chosen {
    held: Vec<StorageRef>,
    omitted: Vec<OmittedPacketItem>,
    warned: Vec<StorageRef>,
    tokens: u64,
}

impl Chosen {
    fn status(&self) -> PacketStatus {
        if self.omitted.iter().any(|one| one.required) {
            PacketStatus::Blocked
        } else if self.warned.is_empty() {
            PacketStatus::Complete
        } else {
            PacketStatus::CompleteWithWarnings
        }
    }
}

fn choose<'i>(desk: &Desk, ask: &Ask<'_>, items: impl Iterator<Item = &'i Item>) -> Chosen {
    let active: BTreeSet<StorageRef> = guidance::active(desk).into_iter().map(|one| one.event_ref).collect();
    let mut chosen = Chosen::default();
    for item in items {
        let is_stale = is_stale(desk, &item.item_ref);
        let reason = if is_stale && ask.staleness == Staleness::FreshOnly {
            Some(Reason::Stale)
        } else if is_guidance(&item.item_ref) && !active.contains(&item.item_ref) {
            Some(Reason::Policy)
        } else if chosen.tokens.saturating_add(item.tokens) > ask.tokens_max {
            Some(Reason::TokenBudget)
        } else {
            None
        };
        match reason {
            Some(omission_reason) => chosen.omitted.push(OmittedPacketItem {
                item_ref: item.item_ref.clone(),
                omission_reason,
                required: item.need == Need::Required,
            }),
            None => {
                chosen.tokens = chosen.tokens.saturating_add(item.tokens);
                chosen.held.push(item.item_ref.clone());
                if is_stale && ask.staleness == Staleness::AllowStaleWithWarning {
                    chosen.warned.push(item.item_ref.clone());
                }
            }
        }
    }
    chosen
}

fn is_guidance(item: &StorageRef) -> bool {
    Reference::read(item.as_str()).is_some_and(|read| read.kind == "run_guidance_creation_event")
}

fn is_source(item: &StorageRef) -> bool {
    Reference::read(item.as_str()).is_some_and(|read| read.kind == "src")
}

/// Whether something is a source that is out of date.
fn is_stale(desk: &Desk, item: &StorageRef) -> bool {
    let source = workspace::standing(desk, item.as_str()).filter(|_| is_source(item));
    source.and_then(|one| one.fresh_until).is_some_and(|until| !is_later(until.as_str(), desk))
}

/// Whether something happened since a packet was put together that it rests on.
#[must_use]
pub fn is_old(desk: &Desk, packet: &Packet) -> bool {
    desk.rows_after(packet.place).any(|row| {
        MADE_OLD_BY.contains(&row.kind.as_str())
            && invalidation::invalidated_by(&row.kind, &row.record).is_some()
    })
}

/// What an activation is given besides its packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Tokens at most, all together.
    pub tokens_max: u64,
    /// Tokens of the board's digest.
    pub digest_tokens: u64,
    /// Tokens of feedback.
    pub feedback_tokens: u64,
}

/// A module is activated with a packet; gives what the activation is called.
///
/// # Errors
/// The packet can't be used, and why.
pub fn activate(desk: &mut Desk, module: &str, packet: &Packet, room: Room) -> Result<String, Unusable> {
    match packet.status {
        PacketStatus::Blocked => return Err(Unusable::Blocked),
        PacketStatus::Complete | PacketStatus::CompleteWithWarnings => {}
    }
    if is_old(desk, packet) {
        return Err(Unusable::Old);
    }
    let parts = [packet.tokens, room.digest_tokens, room.feedback_tokens];
    let total = parts.iter().fold(0_u64, |sum, part| sum.saturating_add(*part));
    if total > room.tokens_max {
        return Err(Unusable::TooMuch { total, max: room.tokens_max });
    }
    let activation_id = desk.id("activation");
    desk.put(&ModuleActivationEvent {
        activation_id: activation_id.clone(),
        module_id: module.to_string(),
        run_id: desk.run().to_string(),
        state: ActivationState::Running,
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    desk.put(&ContextPacketConsumption {
        consumption_id: desk.id("packet-used"),
        packet_ref: packet.packet_ref.clone(),
        activation_id: activation_id.clone(),
        run_id: desk.run().to_string(),
        matter_id: Some(desk.matter().to_string()),
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    desk.put(&PerActivationContextBudget {
        activation_id: activation_id.clone(),
        max_total_tokens: room.tokens_max,
        packet_token_count: packet.tokens,
        board_digest_token_count: room.digest_tokens,
        feedback_bundle_token_count: room.feedback_tokens,
        total_token_count: total,
        schema_version: V10,
    })?;
    Ok(activation_id)
}

/// Everything that a module may be given in this run: sources, the versions that count, guidance; with the tokens that the caller
/// counts for each.
///
/// # Errors
/// Something can't be named.
pub fn items(desk: &Desk, tokens: impl Fn(&StorageRef) -> u64) -> Result<Vec<Item>, Error> {
    let mut all = Vec::new();
    for source in desk.task().sources.iter().filter(|one| one.tier() > 0) {
        all.push((desk.source_ref(&source.id)?.as_str().to_string(), Need::Required));
    }
    for artifact in &desk.task().artifacts {
        if let Some(head) = crate::artifact::head(desk, &artifact.id) {
            all.push((reference("ArtifactVersion", &head.id)?.as_str().to_string(), Need::Optional));
        }
    }
    for one in guidance::active(desk) {
        all.push((one.event_ref.as_str().to_string(), Need::Optional));
    }
    let item = |(text, need): (String, Need)| {
        let item_ref = StorageRef::try_from(text.as_str()).map_err(|_| Error::Unnameable(text))?;
        Ok(Item { tokens: tokens(&item_ref), item_ref, need })
    };
    all.into_iter().map(item).collect()
}
