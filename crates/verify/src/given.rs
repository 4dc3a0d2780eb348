//! What a module was given when a model was asked: packets of context, and the room that they take.
//! Owns: what these records must be, given what was asked for and how many tokens each text has. Must not: count tokens; who asked did.

use crate::found::{Found, texts};
use crate::report::Check;
use crate::walk::Walk;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_govern::types::wire::Wire;
use countersign_govern::world::Record;
use countersign_record::canonical;
use countersign_record::json::{Json, Object};

const CHECK: Check = Check::Record;
/// Tokens that a model is given at most.
const TOKENS_MAX: u64 = 24_000;
/// What makes a packet old.
const MADE_OLD_BY: [&str; 3] =
    ["ArtifactVersionTransitionEvent", "SourceWorkspaceOperationReceipt", "RunGuidanceLifecycleReceipt"];

fn count(number: u64) -> Json {
    number.write().unwrap_or(Json::Null)
}

/// The record of a kind that stands so many places before.
fn before<'c>(walk: &Walk<'c, '_>, record: Record<'_>, kind: &str, places: u64) -> Option<Record<'c>> {
    walk.case.last(kind, record.seq()).filter(|one| one.seq() + places == record.seq())
}

/// What was asked for is for a module, within the room that there is, and is what the packet behind it holds or leaves out.
fn request<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    found.must_say(CHECK, record, "audience", "module");
    found.must_say(CHECK, record, "staleness_policy", "allow_stale_with_warning");
    found.must(CHECK, record, "requested_max_tokens", Some(count(TOKENS_MAX)));
    let mut receipts = walk.case.world.of("TaskRunContextPacketAssemblyReceipt");
    let receipt = receipts.find(|one| one.seq() == record.seq() + 2);
    let Some(receipt) = receipt else {
        return walk.underivable(CHECK, record, "nothing was put together for it", found);
    };
    let mut packets = walk.case.world.of("TaskRunContextPacket");
    let packet = packets.find(|one| one.seq() == record.seq() + 1);
    let held = packet.map(|one| one.json().list("items")).unwrap_or_default();
    let mut given: Vec<&str> = held.iter().filter_map(|one| one.text("item_ref")).collect();
    given.extend(receipt.json().list("omitted_items").iter().filter_map(|one| one.text("item_ref")));
    given.sort_unstable();
    let mut asked = record.json().texts("required_item_refs");
    asked.extend(record.json().texts("optional_item_refs"));
    asked.sort_unstable();
    let (expected, stated) = (texts(&given), texts(&asked));
    let code = countersign_record::code::Code::VerifyDerivation;
    found.same(code, CHECK, record, "required_item_refs", Some(expected), Some(stated));
}

/// A packet of context holds things of this matter, and has the hash of them.
fn packet<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let items = record.json().at("items").cloned().unwrap_or(Json::Null);
    let hash = canonical::hash(&items).ok().map(|hash| Json::from(String::from(hash)));
    found.must(CHECK, record, "content_hash", hash);
    let is_own = |item: &Json| item.is("matter_id", walk.case.matter.as_str());
    let own = record.json().list("items").iter().all(is_own);
    found.same(
        countersign_record::code::Code::VerifyDerivation,
        CHECK,
        record,
        "items",
        Some(true.into()),
        Some(own.into()),
    );
}

/// A receipt is of the packet and the request right before.
fn receipt<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let json = record.json();
    let request = before(walk, record, "TaskRunContextPacketRequest", 2);
    let packet = before(walk, record, "TaskRunContextPacket", 1);
    found.must(CHECK, record, "request_id", request.map(|one| one.id().into()));
    let packet_ref = packet.map(|one| format!("task_run_context_packet:{}", one.id()).into());
    found.must(CHECK, record, "packet_ref", packet_ref);
    found.must(
        CHECK,
        record,
        "packet_content_hash",
        packet.and_then(|one| one.json().at("content_hash").cloned()),
    );
    found.must(CHECK, record, "invalidated_by_event_kinds", Some(texts(&MADE_OLD_BY)));
    found.must(CHECK, record, "valid_until_event_seq", None);
    let is_blocked = json.list("omitted_items").iter().any(|one| one.flag("required") == Some(true));
    let status = match (is_blocked, json.list("warnings").is_empty()) {
        (true, _) => "blocked",
        (false, true) => "complete",
        (false, false) => "complete_with_warnings",
    };
    found.must_say(CHECK, record, "packet_status", status);
    // Nothing was put in that has no tokens, and nothing that has some takes none.
    let is_empty = packet.is_some_and(|one| one.json().list("items").is_empty());
    if is_empty {
        found.must(CHECK, record, "actual_token_count", Some(count(0)));
    }
}

/// A module uses the packet that was put together for it.
fn consumption<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let packet = walk.case.last("TaskRunContextPacket", record.seq());
    let packet = packet.map(|one| format!("task_run_context_packet:{}", one.id()).into());
    found.must(CHECK, record, "packet_ref", packet);
    let activation = before(walk, record, "ModuleActivationEvent", 1);
    found.must(CHECK, record, "activation_id", activation.map(|one| one.id().into()));
}

/// The room that an activation takes is what it was given, all together.
fn room<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let activation = before(walk, record, "ModuleActivationEvent", 2);
    let receipt = walk.case.last("TaskRunContextPacketAssemblyReceipt", record.seq());
    let tokens = receipt.and_then(|one| one.json().count("actual_token_count")).unwrap_or(0);
    let expected = Object::from([
        ("activation_id", activation.map_or(Json::Null, |one| one.id().into())),
        ("max_total_tokens", count(TOKENS_MAX)),
        ("packet_token_count", count(tokens)),
        ("board_digest_token_count", count(0)),
        ("feedback_bundle_token_count", count(0)),
        ("total_token_count", count(tokens)),
        ("schema_version", "1.0".into()),
    ]);
    found.must_be(CHECK, record, &expected, &[]);
}

/// A module that is asked is told by the cost of the asking, which comes right behind.
fn activation<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let mut costs = walk.case.world.of("TaskCostRecord");
    let cost = costs.find(|one| one.seq() > record.seq());
    found.must(CHECK, record, "module_id", cost.and_then(|one| one.json().at("module_id").cloned()));
    found.must(CHECK, record, "state", Some("running".into()));
}

/// A record of what a module was given.
pub(crate) fn check<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    match record.kind() {
        "TaskRunContextPacketRequest" => request(walk, record, found),
        "TaskRunContextPacket" => packet(walk, record, found),
        "TaskRunContextPacketAssemblyReceipt" => receipt(walk, record, found),
        "ModuleActivationEvent" => activation(walk, record, found),
        "ContextPacketConsumption" => consumption(walk, record, found),
        _room => room(walk, record, found),
    }
}
