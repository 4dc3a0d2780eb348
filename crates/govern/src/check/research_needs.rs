//! Validation codes: research needs.
//! Owns: the rules of this area. Must not: decide by names.

use super::stood::Stood;
use super::{Area, Found, Rule, Severity};
use crate::decide::Span;
use crate::fold::family::{ATTENTION, NEED};
use crate::member::Member;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet, BinaryHeap};
use alloc::vec::Vec;
use core::cmp::Reverse;
use countersign_record::json::Json;
use countersign_record::time::Instant;

pub(super) const AREA: Area = Area { name: "research_needs", rules: RULES, kinds: &[] };

const RULES: &[Rule] = &[
    Rule {
        code: "research_need_scope_missing",
        severity: Severity::Error,
        section: "D-05/B-13",
        fires: "A ResearchNeed has no need_scope, or need_scope run without run_id, so its scope cannot be resolved.",
        legal: "need_scope workspace with workspace_id and no run_id.",
        why: "Nobody can say whether the question belongs to this run, to the task or to the workspace, so it may be closed by work that never looked at it.",
        fix: "State `need_scope` and the id that it needs.",
        check: research_need_scope_missing,
    },
    Rule {
        code: "research_need_run_id_on_task_scope_conflict",
        severity: Severity::Error,
        section: "D-05/B-13",
        fires: "A ResearchNeed with need_scope task or workspace carries run_id.",
        legal: "need_scope run with run_id.",
        why: "A question of the whole task that is tied to one run ends with that run, although others still wait for the answer.",
        fix: "Remove `run_id`, or make the scope `run`.",
        check: research_need_run_id_on_task_scope_conflict,
    },
    Rule {
        code: "research_need_double_leased",
        severity: Severity::Error,
        section: "D-05/B-13",
        fires: "Two ResearchNeedLeases of one need_id with different lease_token overlap in [acquired_at, expires_at) in log time, or a need is answered under a token that is not the live lease's.",
        legal: "A second lease acquired at or after the first one's expiry with on_expiry release_for_reclaim.",
        why: "Two modules hold the same question at once, or one answers that no longer holds it; then one answer replaces the other unseen.",
        fix: "Give out a lease only after the one before has ended, and accept an answer only under the lease that is live.",
        check: research_need_double_leased,
    },
    Rule {
        code: "research_need_human_needed_without_exit",
        severity: Severity::Error,
        section: "D-05/B-13",
        fires: "A ResearchNeed with status human_needed has no human_needed_reason, or no open route to a person (AttentionLedgerItem research_need_human, HardRevisionCall or ModuleAssistanceRequest to user that names it).",
        legal: "human_needed with a reason and an open attention item.",
        why: "A question that waits for a person whom nobody told waits for ever, and the work is finished without its answer.",
        fix: "State `human_needed_reason` and open a route to a person: an attention item, a hard call or a request to the user that names the need.",
        check: research_need_human_needed_without_exit,
    },
];

fn research_need_scope_missing(world: &World, found: &mut Found<'_>) {
    for need in world.of("ResearchNeed") {
        let field = match need.text("need_scope") {
            Some("run") => "run_id",
            Some("task") => "task_id",
            Some("workspace") => "workspace_id",
            Some(_) | None => {
                found.add(need, "need_scope", "does not say what the question belongs to");
                continue;
            }
        };
        if need.is_blank(field) {
            found.add(need, field, "the scope of the question names nothing");
        }
    }
}

fn research_need_run_id_on_task_scope_conflict(world: &World, found: &mut Found<'_>) {
    for need in world.of("ResearchNeed") {
        if need.is_one_of("need_scope", &["task", "workspace"]) && !need.is_blank("run_id") {
            found.add(need, "run_id", "a question of more than one run is tied to one");
        }
    }
}

/// The time in which a question is held.
#[derive(Clone, Copy)]
struct Lease<'w> {
    record: Record<'w>,
    token: &'w str,
    span: Span,
    /// When it ends by itself.
    expires: Instant,
    /// Where its question was answered or taken away first.
    ended: Option<u64>,
}

/// The leases of each question, by when they begin. One ends when it expires, or before that when its question is answered,
/// given up, handed to a person or cancelled.
fn leases(world: &World) -> BTreeMap<&str, Vec<Lease<'_>>> {
    let mut ends: BTreeMap<&str, Vec<(u64, Instant)>> = BTreeMap::new();
    for need in world.of("ResearchNeed") {
        if need.is_one_of("status", &["answered", "human_needed", "unresolved", "cancelled"])
            && let Some(at) = need.written_at()
        {
            ends.entry(need.id()).or_default().push((need.seq(), at));
        }
    }
    let stood = Stood::of(world, &NEED);
    for ((_, need), course) in stood.all() {
        for (seq, _) in course.iter().filter(|(_, state)| *state != Some("leased")) {
            let at = stood.mover(*seq).and_then(Record::written_at);
            ends.entry(need).or_default().extend(at.map(|at| (*seq, at)));
        }
    }
    ends.values_mut().for_each(|ends| ends.sort_unstable());
    let mut leases: BTreeMap<&str, Vec<Lease<'_>>> = BTreeMap::new();
    for record in world.of("ResearchNeedLease") {
        let json = record.json();
        if let (Some(need), Some(token), Some(start), Some(expires)) = (
            json.id_at("need_id"),
            json.text("lease_token"),
            json.time("acquired_at"),
            json.time("expires_at"),
        ) {
            let ends = ends.get(need).map(Vec::as_slice).unwrap_or_default();
            let next = ends.get(ends.partition_point(|(seq, _)| *seq < record.seq()));
            let end = next.map_or(expires, |(_, at)| expires.min(*at));
            let (span, ended) = (Span { start, end }, next.map(|(seq, _)| *seq));
            leases.entry(need).or_default().push(Lease { record, token, span, expires, ended });
        }
    }
    for leases in leases.values_mut() {
        leases.sort_by_key(|lease| (lease.span.start, lease.record.seq()));
    }
    leases
}

fn research_need_double_leased(world: &World, found: &mut Found<'_>) {
    let leases = leases(world);
    for leases in leases.values() {
        // The lease that ends last, and the one that ends last of those with another token, are all that can overlap.
        let (mut last, mut other): (Option<Lease<'_>>, Option<Lease<'_>>) = (None, None);
        for lease in leases {
            let overlaps = |one: &Lease<'_>| one.token != lease.token && one.span.meets(lease.span);
            if last.iter().any(overlaps) || other.iter().any(overlaps) {
                found.add(
                    lease.record,
                    "acquired_at",
                    "the question is held under another lease at that time",
                );
            }
            match last {
                Some(one) if one.span.end >= lease.span.end => {
                    if one.token != lease.token && other.is_none_or(|other| other.span.end < lease.span.end) {
                        other = Some(*lease);
                    }
                }
                Some(one) => {
                    if one.token != lease.token {
                        other = Some(one);
                    }
                    last = Some(*lease);
                }
                None => last = Some(*lease),
            }
        }
    }
    answers_under_dead_leases(world, &leases, found);
}

/// The leases of one question that are live as time goes on.
struct Live<'l, 'w> {
    leases: &'l [Lease<'w>],
    /// How many of them have begun.
    begun: usize,
    expiring: BinaryHeap<Reverse<(Instant, usize)>>,
    ending: BinaryHeap<Reverse<(u64, usize)>>,
    /// Those that are live, by their numbers and by their tokens.
    live: BTreeSet<usize>,
    tokens: BTreeMap<&'w str, usize>,
}

impl<'l, 'w> Live<'l, 'w> {
    fn of(leases: &'l [Lease<'w>]) -> Self {
        let (expiring, ending) = (BinaryHeap::new(), BinaryHeap::new());
        Live { leases, begun: 0, expiring, ending, live: BTreeSet::new(), tokens: BTreeMap::new() }
    }

    /// Goes on to a row, by its place and time.
    fn go_to(&mut self, seq: u64, at: Instant) {
        while let Some(lease) = self.leases.get(self.begun).filter(|lease| lease.span.start <= at) {
            self.live.insert(self.begun);
            *self.tokens.entry(lease.token).or_default() += 1;
            self.expiring.push(Reverse((lease.expires, self.begun)));
            self.ending.extend(lease.ended.map(|seq| Reverse((seq, self.begun))));
            self.begun += 1;
        }
        while let Some(Reverse((_, number))) = self.expiring.peek().filter(|end| end.0.0 <= at).copied() {
            self.expiring.pop();
            self.end(number);
        }
        while let Some(Reverse((_, number))) = self.ending.peek().filter(|end| end.0.0 < seq).copied() {
            self.ending.pop();
            self.end(number);
        }
    }

    fn end(&mut self, number: usize) {
        if let Some(lease) = self.leases.get(number).filter(|_| self.live.remove(&number)) {
            self.tokens.entry(lease.token).and_modify(|count| *count -= 1);
        }
    }

    fn has(&self, token: &str) -> bool {
        self.tokens.get(token).is_some_and(|count| *count > 0)
    }
}

/// An answer that was refused is as it must be.
fn answers_under_dead_leases(world: &World, leases: &BTreeMap<&str, Vec<Lease<'_>>>, found: &mut Found<'_>) {
    let mut live: BTreeMap<&str, Live<'_, '_>> = BTreeMap::new();
    let mut is_applied: BTreeMap<&str, bool> = BTreeMap::new();
    for receipt in world.of("SourceWorkspaceOperationReceipt") {
        if let Some(operation) = receipt.json().id_at("operation_id") {
            *is_applied.entry(operation).or_default() |= receipt.is("status", "applied");
        }
    }
    for operation in world.of("SourceWorkspaceOperation") {
        let is_refused = is_applied.get(operation.id()) == Some(&false) && !operation.is_asking();
        if !operation.is("operation_kind", "answer_research_need") || is_refused {
            continue;
        }
        let path = "precondition.lock_lease_ref";
        let Some(at) = operation.written_at() else { continue };
        let token = operation.reference(path).map(|lease| lease.id);
        let fields = ["precondition.target_record_ref", "payload_ref"];
        let need = fields.iter().find_map(|field| need_in(operation.json(), field));
        let held = need.map(|need| {
            let leases = leases.get_key_value(need).map(|(_, leases)| leases.as_slice()).unwrap_or_default();
            let live = live.entry(need).or_insert_with(|| Live::of(leases));
            live.go_to(operation.seq(), at);
            &*live
        });
        let is_live = match (token, held) {
            (Some(token), Some(held)) => held.has(token),
            (None, held) => held.is_none_or(|held| held.live.is_empty()),
            (Some(token), None) => world.versions("ResearchNeedLease", token).any(|one| {
                let span = one.time("acquired_at").zip(one.time("expires_at"));
                span.is_some_and(|(start, end)| Span { start, end }.holds(at))
            }),
        };
        if !is_live {
            found.add(operation, path, "the question is answered under a lease that is not live");
        }
    }
}

/// The question that a member refers to.
fn need_in<'w>(record: &'w Json, field: &str) -> Option<&'w str> {
    record.reference(field).filter(|one| one.kind == "research_need").map(|one| one.id)
}

/// The questions that a person was told of and has not dealt with yet.
fn routed(world: &World) -> BTreeSet<&str> {
    let mut routed = BTreeSet::new();
    let stood = Stood::of(world, &ATTENTION);
    let mut items: BTreeMap<&str, Record<'_>> = BTreeMap::new();
    for item in world.of("AttentionLedgerItem") {
        items.insert(item.id(), item);
    }
    for item in items.into_values().filter(|item| item.is("attention_kind", "research_need_human")) {
        // Who closed it has taken it from the person, also where the question was not ready for that.
        let is_open = stood.told(item) == Some("open");
        routed.extend(need_in(item.json(), "source_ref").filter(|_| is_open));
    }
    let receipts = world.of("HardCallResolutionReceipt");
    let resolved: BTreeSet<&str> = receipts.filter_map(|one| one.json().id_at("hard_call_id")).collect();
    for call in world.of("HardRevisionCall").filter(|call| !resolved.contains(call.id())) {
        routed.extend(need_in(call.json(), "source_ref"));
    }
    for request in world.of("ModuleAssistanceRequest").filter(|request| request.is("target", "user")) {
        let is_over = request.time("lease.expires_at").zip(world.now()).is_some_and(|(end, now)| end <= now);
        routed.extend(need_in(request.json(), "subject_ref").filter(|_| !is_over));
    }
    routed
}

/// The state of a question that waits for a person.
const HUMAN: &str = "human_needed";

fn research_need_human_needed_without_exit(world: &World, found: &mut Found<'_>) {
    let (routed, stood) = (routed(world), Stood::of(world, &NEED));
    let mut last: BTreeMap<&str, Record<'_>> = BTreeMap::new();
    for need in world.of("ResearchNeed") {
        last.insert(need.id(), need);
        if need.is("status", HUMAN) && need.is_blank("human_needed_reason") {
            found.add(need, "human_needed_reason", "does not say what a person is needed for");
        }
    }
    for ((_, need), course) in stood.all() {
        // What was not written down again is told by the receipt, which gives the reason.
        let moves = course.iter().filter(|(_, state)| *state == Some(HUMAN));
        for receipt in moves.filter_map(|(seq, _)| stood.mover(*seq)).filter(|one| one.is_blank("reason")) {
            found.add(receipt, "reason", "does not say what a person is needed for");
        }
        // Only who still waits needs a route that is still open.
        let need = last.get(need).filter(|need| stood.told(**need) == Some(HUMAN));
        let Some(need) = need.filter(|need| !routed.contains(need.id())) else { continue };
        let (row, path) = match stood.led(*need, HUMAN).last() {
            Some(receipt) => (receipt, "to_state"),
            None => (*need, "status"),
        };
        found.add(row, path, "waits for a person whom nothing tells");
    }
}

#[cfg(test)]
#[path = "research_needs_tests.rs"]
mod tests;
