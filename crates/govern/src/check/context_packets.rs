//! Validation codes: context packets.
//! Owns: the rules of this area. Must not: decide by names.

#[cfg(test)]
#[path = "context_packets_tests.rs"]
mod tests;

mod items;

use super::across::{self, Across, Event, Open, Topic, Wide};
use super::read_models::place::{Place, Places};
use super::workspace::workspace_of;
use super::{Area, Found, Rule, Severity};
use crate::fold::place::RUNS;
use crate::member::Member;
use crate::path::Path;
use crate::reference::Reference;
use crate::table::invalidation;
use crate::world::{Record, World, hash};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use items::{Items, Named};

pub(super) const AREA: Area = Area { name: "context_packets", rules: RULES, kinds: &[] };

const RULES: &[Rule] = &[
    Rule {
        code: "context_packet_valid_after_invalidation_event",
        severity: Severity::Error,
        section: "3.2",
        fires: "A context packet is consumed at seq c (ContextPacketConsumption) although an event whose kind is in its TaskRunContextPacketAssemblyReceipt.invalidated_by_event_kinds, in the packet's scope, occurred at seq s with assembly_seq < s < c, or although c > valid_until_event_seq.",
        legal: "A packet consumed before the invalidating event, or an event of a listed kind in a different run/workspace than the packet's.",
        why: "A module that works on an outdated packet produces results that look current and are not.",
        fix: "Assemble a new packet after the event, and let the activation take that one.",
        check: context_packet_valid_after_invalidation_event,
    },
    Rule {
        code: "context_packet_without_request",
        severity: Severity::Error,
        section: "D-08",
        fires: "A TaskRunContextPacketAssemblyReceipt has a request_id that resolves to no TaskRunContextPacketRequest (or one with another task/run).",
        legal: "Two packets assembled for one request after the first was invalidated.",
        why: "Without its request nobody can say what the packet was meant to hold, so nothing that is missing from it can be noticed.",
        fix: "Record the request before the packet is assembled, with the same task and run, and name it in the receipt.",
        check: context_packet_without_request,
    },
    Rule {
        code: "context_packet_without_assembly_receipt",
        severity: Severity::Error,
        section: "D-08",
        fires: "A context packet is consumed or stored without a TaskRunContextPacketAssemblyReceipt whose packet_content_hash equals the packet's hash; what is consumed and not there has none.",
        legal: "A packet request that has not been assembled yet.",
        why: "The receipt says what was left out and until when the packet holds. Without it, or with the hash of another packet, nobody knows what a module was told.",
        fix: "Write the assembly receipt with the hash of the packet that was stored, before it is used.",
        check: context_packet_without_assembly_receipt,
    },
    Rule {
        code: "per_activation_context_budget_exceeded",
        severity: Severity::Error,
        section: "D-08",
        fires: "A PerActivationContextBudget has packet_token_count + board_digest_token_count + feedback_bundle_token_count > max_total_tokens, or total_token_count differs from that sum.",
        legal: "The sum equals max_total_tokens.",
        why: "What goes beyond the window of a module is cut off silently, so it decides on less than the record claims that it saw.",
        fix: "Leave out items, with their omission recorded, until the parts fit; let the total be the sum of the parts.",
        check: per_activation_context_budget_exceeded,
    },
    Rule {
        code: "required_packet_item_omitted_without_block_or_warning",
        severity: Severity::Error,
        section: "D-08",
        fires: "An OmittedPacketItem with required = true (or a required_item_refs entry neither included nor listed) is in a receipt whose packet_status is neither blocked nor complete_with_warnings naming the item.",
        legal: "An optional item omitted for token_budget.",
        why: "The item was required because the work can't be done rightly without it. A packet that passes as complete hides that it is missing.",
        fix: "Include the item, or set the packet's status to blocked, or to complete with warnings that name the item.",
        check: required_packet_item_omitted_without_block_or_warning,
    },
];

/// A receipt of an assembled packet by the packet that it names.
type Receipts<'w> = BTreeMap<&'w str, Vec<Record<'w>>>;

fn receipts(world: &World) -> Receipts<'_> {
    let mut receipts: Receipts<'_> = BTreeMap::new();
    for receipt in world.of("TaskRunContextPacketAssemblyReceipt") {
        if let Some(packet) = receipt.json().text("packet_ref") {
            receipts.entry(packet_id(packet)).or_default().push(receipt);
        }
    }
    receipts
}

/// Which packet a reference names.
fn packet_id(text: &str) -> &str {
    Reference::read(text).map_or(text, |packet| packet.id)
}

fn packet_of<'w>(record: Record<'w>) -> Option<Record<'w>> {
    record.follow("packet_ref").filter(|packet| packet.kind() == "TaskRunContextPacket")
}

/// Where events and packets meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reach<'w> {
    Run(&'w str),
    /// Of an event that belongs to no run.
    Task(&'w str),
    Workspace(&'w str),
    /// The run of an event in a workspace: it counts for packets that cite no workspace.
    AnyWorkspaceOfRun(&'w str),
    /// Its task, where it has no run.
    AnyWorkspaceOfTask(&'w str),
}

/// What the rule finds in some rows, and what of them reaches further than a run.
pub(super) const WIDE: Wide = Wide {
    code: "context_packet_valid_after_invalidation_event",
    check: across,
    path: PACKET,
    message: out_of_date,
};

const PACKET: &str = "packet_ref";

fn out_of_date(seq: u64, kind: &str) -> String {
    format!("names a packet that row {seq}, a {kind}, made out of date")
}

fn context_packet_valid_after_invalidation_event(world: &World, found: &mut Found<'_>) {
    used(world, found);
}

/// Events that belong to a task and to no run reach packets of its other runs.
fn across<'w>(world: &'w World, found: &mut Found<'_>) -> Across<'w> {
    let open = used(world, found);
    let mut kinds: Vec<&str> = invalidation::SPECS.iter().map(|spec| spec.event).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let (places, mut events) = (Places::new(world), Vec::new());
    for kind in kinds {
        let of_no_run = world.of(kind).filter(|event| RUNS.iter().all(|run| event.text(run).is_none()));
        for event in of_no_run.filter(|event| invalidation::invalidated_by(kind, event.json()).is_some()) {
            let topics = event_reach(&places.of(event)).into_iter().filter_map(|reach| reach.topic(kind));
            events.extend(topics.map(|topic| Event { topic, seq: event.seq(), kind: event.kind() }));
        }
    }
    Across { events, open }
}

impl Reach<'_> {
    /// Where a packet meets events of a type in other runs.
    fn topic(&self, kind: &str) -> Option<Topic> {
        match self {
            Reach::Task(task) => Some(Topic::of(across::Reach::Task, kind, task)),
            Reach::AnyWorkspaceOfTask(task) => {
                Some(Topic::of(across::Reach::Task, &format!("{kind} workspace"), task))
            }
            Reach::Run(_) | Reach::Workspace(_) | Reach::AnyWorkspaceOfRun(_) => None,
        }
    }
}

/// Where things happened: for each reach the places of the events of each type, in order.
type Events<'w> = BTreeMap<Reach<'w>, BTreeMap<&'w str, Vec<u64>>>;

/// The events of the types that any receipt lists.
fn events(world: &World) -> Events<'_> {
    let places = Places::new(world);
    let all = world.of("TaskRunContextPacketAssemblyReceipt");
    let kinds: BTreeSet<&str> = all.flat_map(|one| one.json().texts("invalidated_by_event_kinds")).collect();
    let mut events: Events<'_> = BTreeMap::new();
    for (kind, event) in kinds.iter().flat_map(|kind| world.of(kind).map(move |event| (*kind, event))) {
        if invalidation::invalidated_by(event.kind(), event.json()).is_some() {
            for reach in event_reach(&places.of(event)) {
                events.entry(reach).or_default().entry(kind).or_default().push(event.seq());
            }
        }
    }
    events
}

/// An assembled packet, as those see it that use it.
struct Assembled<'w> {
    receipt: Record<'w>,
    packet: Option<Record<'w>>,
    request: Option<Record<'w>>,
    /// The types of events that make it out of date.
    listed: BTreeSet<&'w str>,
    /// Those of them that reach over several runs.
    wide: Vec<&'w str>,
    cites_workspaces: bool,
    /// The first event behind the receipt in a workspace that the packet cites.
    in_workspaces: Option<Hit<'w>>,
    /// The same in each other place that was asked for.
    elsewhere: BTreeMap<Reach<'w>, Option<Hit<'w>>>,
}

/// An event: its place, its type.
type Hit<'w> = (u64, &'w str);

impl<'w> Assembled<'w> {
    fn of(receipt: Record<'w>, cited: &mut Cited<'w>, events: &Events<'w>) -> Self {
        let (world, json) = (receipt.world, receipt.json());
        let packet = packet_of(receipt);
        let listed: BTreeSet<&str> = json.texts("invalidated_by_event_kinds").into_iter().collect();
        let is_wide = |kind: &&str| invalidation::specs(kind).next().is_some();
        let mut own = Assembled {
            receipt,
            packet,
            request: json.text("request_id").and_then(|id| world.find("TaskRunContextPacketRequest", id)),
            wide: listed.iter().copied().filter(is_wide).collect(),
            listed,
            cites_workspaces: false,
            in_workspaces: None,
            elsewhere: BTreeMap::new(),
        };
        if let Some(packet) = packet {
            let workspaces = cited.entry(packet.seq()).or_insert_with(|| workspaces(packet));
            own.cites_workspaces = !workspaces.is_empty();
            let hits = workspaces.iter().filter_map(|one| own.first(Reach::Workspace(one), events));
            own.in_workspaces = hits.min();
        }
        own
    }

    /// The first event behind the receipt at a place.
    fn first(&self, reach: Reach<'w>, events: &Events<'w>) -> Option<Hit<'w>> {
        let there = events.get(&reach)?;
        let next = |kind: &'w str, seqs: &Vec<u64>| {
            let behind = seqs.partition_point(|seq| *seq <= self.receipt.seq());
            seqs.get(behind).map(|seq| (*seq, kind))
        };
        // Either may be many: what happened there, or what is listed.
        if there.len() < self.listed.len() {
            let listed = there.iter().filter(|(kind, _)| self.listed.contains(*kind));
            listed.filter_map(|(kind, seqs)| next(kind, seqs)).min()
        } else {
            self.listed.iter().filter_map(|kind| next(kind, there.get(kind)?)).min()
        }
    }

    /// The places besides workspaces where events reach a use of the packet: its run and task.
    fn reaches(&self, used: Record<'w>) -> Vec<Reach<'w>> {
        let says = |member: &str| {
            let all = [self.packet, self.request, Some(used)].into_iter().flatten();
            all.into_iter().find_map(|record| record.json().text(member))
        };
        let (run, task) = (says("run_id"), says("task_id"));
        let mut reach: Vec<Reach<'w>> =
            run.map(Reach::Run).into_iter().chain(task.map(Reach::Task)).collect();
        if !self.cites_workspaces {
            reach.extend(run.map(Reach::AnyWorkspaceOfRun));
            reach.extend(task.map(Reach::AnyWorkspaceOfTask));
        }
        reach
    }
}

/// The workspaces that packets cite, by the place of the packet.
type Cited<'w> = BTreeMap<u64, BTreeSet<&'w str>>;

fn workspaces<'w>(packet: Record<'w>) -> BTreeSet<&'w str> {
    let items = packet.json().list("items").iter().filter_map(|item| item.text("item_ref"));
    items.filter_map(|to| workspace_of(packet.world, to)).collect()
}

/// Tells which packets were used that were out of date; gives all that were used while they were not by their own word.
fn used(world: &World, found: &mut Found<'_>) -> Vec<Open> {
    let (receipts, events) = (receipts(world), events(world));
    let (mut assembled, mut cited) = (BTreeMap::new(), BTreeMap::new());
    let mut open = Vec::new();
    for used in world.of("ContextPacketConsumption") {
        let Some(own) = used.json().text(PACKET).and_then(|packet| receipts.get(packet_id(packet))) else {
            continue;
        };
        let before = own.partition_point(|receipt| receipt.seq() < used.seq());
        let Some(receipt) = before.checked_sub(1).and_then(|at| own.get(at)) else { continue };
        if receipt.place("valid_until_event_seq").is_some_and(|until| used.seq() > until) {
            found.add(used, PACKET, "names a packet that was valid only until an earlier place in the log");
            continue;
        }
        let assembled: &mut Assembled<'_> =
            assembled.entry(receipt.seq()).or_insert_with(|| Assembled::of(*receipt, &mut cited, &events));
        let reaches = assembled.reaches(used);
        let mut hit = assembled.in_workspaces;
        for reach in &reaches {
            let first = match assembled.elsewhere.get(reach) {
                Some(known) => *known,
                None => {
                    let first = assembled.first(*reach, &events);
                    assembled.elsewhere.insert(*reach, first);
                    first
                }
            };
            hit = hit.into_iter().chain(first).min();
        }
        let hit = hit.filter(|(seq, _)| *seq < used.seq());
        if let Some((seq, kind)) = hit {
            found.add(used, PACKET, out_of_date(seq, kind));
        }
        let meets = assembled.wide.iter().flat_map(|kind| reaches.iter().map(move |reach| (*kind, *reach)));
        open.push(Open {
            row: used.seq(),
            topics: meets.filter_map(|(kind, reach)| reach.topic(kind)).collect(),
            from: receipt.seq(),
            until: used.seq(),
            first: hit.map(|(seq, _)| seq),
        });
    }
    open
}

/// An event in a workspace reaches that workspace, any other its run, or its task where it has no run.
fn event_reach<'w>(place: &Place<'w>) -> Vec<Reach<'w>> {
    let run = |run: &'w str| match place.workspace {
        Some(_) => Reach::AnyWorkspaceOfRun(run),
        None => Reach::Run(run),
    };
    let task = |task: &'w str| match place.workspace {
        Some(_) => Reach::AnyWorkspaceOfTask(task),
        None => Reach::Task(task),
    };
    let mut reach: Vec<Reach<'w>> = place.runs.iter().copied().map(run).collect();
    if reach.is_empty() {
        reach.extend(place.task.map(task));
    }
    reach.extend(place.workspace.map(Reach::Workspace));
    reach
}

fn context_packet_without_request(world: &World, found: &mut Found<'_>) {
    for receipt in world.of("TaskRunContextPacketAssemblyReceipt") {
        let request = receipt.text("request_id").and_then(|id| world.find("TaskRunContextPacketRequest", id));
        let Some(request) = request else {
            found.add(receipt, "request_id", "names no request for a packet");
            continue;
        };
        let Some(packet) = packet_of(receipt) else { continue };
        for member in ["task_id", "run_id"] {
            let other = packet.text(member).zip(request.text(member)).filter(|(one, other)| one != other);
            if let Some((one, other)) = other {
                let message = format!("asks for {member} {other}, and the packet is of {one}");
                found.add(receipt, "request_id", message);
            }
        }
    }
}

fn context_packet_without_assembly_receipt(world: &World, found: &mut Found<'_>) {
    let receipts = receipts(world);
    let mut receipted: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (packet, own) in &receipts {
        let hashes = own.iter().filter_map(|receipt| receipt.json().text("packet_content_hash"));
        receipted.extend(hashes.map(|hash| (*packet, hash)));
    }
    for packet in world.of("TaskRunContextPacket") {
        let content = packet.at("items").and_then(hash).map(|hash| hash.to_string());
        let content = content.as_deref().or(packet.text("content_hash"));
        if content.is_none_or(|content| !receipted.contains(&(packet.id(), content))) {
            found.add(packet, "content_hash", "no assembly receipt has the hash of this packet");
        }
    }
    for used in world.of("ContextPacketConsumption") {
        let Some(packet) = used.text("packet_ref").map(packet_id) else { continue };
        let first = receipts.get(packet).and_then(|own| own.first());
        if first.is_none_or(|receipt| receipt.seq() >= used.seq()) {
            found.add(used, "packet_ref", "names a packet that had no assembly receipt when it was used");
        } else if world.find("TaskRunContextPacket", packet).is_none() {
            found.add(
                used,
                "packet_ref",
                "names a packet that is not there, so that no receipt has its hash",
            );
        }
    }
}

/// The parts of what an activation is given.
const PARTS: [&str; 3] = ["packet_token_count", "board_digest_token_count", "feedback_bundle_token_count"];

fn per_activation_context_budget_exceeded(world: &World, found: &mut Found<'_>) {
    for budget in world.of("PerActivationContextBudget") {
        let add = |sum: u64, part: &&str| Some(sum.saturating_add(budget.count(part)?));
        let Some(sum) = PARTS.iter().try_fold(0, add) else { continue };
        if let Some(max) = budget.count("max_total_tokens").filter(|max| sum > *max) {
            found.add(budget, "max_total_tokens", format!("is {max}, and the parts are {sum} tokens"));
        }
        if let Some(total) = budget.count("total_token_count").filter(|total| *total != sum) {
            found.add(budget, "total_token_count", format!("is {total}, and the parts are {sum} tokens"));
        }
    }
}

/// What requests require, by their places: each as it is written, and what it names.
type Required<'w> = BTreeMap<u64, (Vec<(&'w str, Named<'w>)>, Items<'w>)>;

fn required<'w>(request: Record<'w>) -> (Vec<(&'w str, Named<'w>)>, Items<'w>) {
    let texts = request.json().texts("required_item_refs").into_iter();
    let mut all: Vec<(&str, Named<'_>)> =
        texts.map(|text| (text, Named::read(request.world, text))).collect();
    all.sort_unstable();
    all.dedup();
    let items = Items::of(all.iter().map(|(_, named)| *named));
    (all, items)
}

/// What of a request is not in a packet, by the places of both.
type Missing<'w> = BTreeMap<(u64, u64), Vec<(&'w str, Named<'w>)>>;

fn required_packet_item_omitted_without_block_or_warning(world: &World, found: &mut Found<'_>) {
    let (mut all_required, mut missing): (Required<'_>, Missing<'_>) = (BTreeMap::new(), BTreeMap::new());
    let mut held: BTreeMap<u64, Items<'_>> = BTreeMap::new();
    for receipt in world.of("TaskRunContextPacketAssemblyReceipt") {
        if receipt.is("packet_status", "blocked") {
            continue;
        }
        let is_warned = receipt.is("packet_status", "complete_with_warnings");
        let warnings = receipt.json().texts("warnings").into_iter().filter(|_| is_warned);
        let warned = Items::of(warnings.map(|text| Named::read(world, text)));
        let request = receipt.text("request_id").and_then(|id| world.find("TaskRunContextPacketRequest", id));
        let asked =
            request.map(|request| all_required.entry(request.seq()).or_insert_with(|| required(request)));
        let omitted = receipt.json().list("omitted_items");
        let mut listed = Vec::new();
        for (at, item) in omitted.iter().enumerate() {
            let Some(name) = item.text("item_ref") else { continue };
            let named = Named::read(world, name);
            listed.push(named);
            let is_asked = || asked.as_ref().is_some_and(|(_, items)| items.have(named));
            if (item.flag("required") == Some(true) || is_asked()) && !warned.have(named) {
                let message = format!("leaves out {name}, which is required, without a block or a warning");
                found.add(receipt, Path::from("omitted_items").item(at), message);
            }
        }
        // What a packet holds is known only where the packet is.
        let (Some(packet), Some((asked, _)), Some(request)) = (packet_of(receipt), asked, request) else {
            continue;
        };
        let missing = missing.entry((request.seq(), packet.seq())).or_insert_with(|| {
            let held = held.entry(packet.seq()).or_insert_with(|| {
                let items = packet.json().list("items").iter().filter_map(|item| item.text("item_ref"));
                Items::of(items.map(|text| Named::read(world, text)))
            });
            asked.iter().filter(|(_, named)| !held.have(*named)).copied().collect()
        });
        let listed = Items::of(listed.into_iter());
        let is_told = |named: Named<'_>| listed.have(named) || warned.have(named);
        if let Some((name, _)) = missing.iter().find(|(_, named)| !is_told(*named)) {
            let message = format!("says nothing of {name}, which is required and not in the packet");
            found.add(receipt, "omitted_items", message);
        }
    }
}
