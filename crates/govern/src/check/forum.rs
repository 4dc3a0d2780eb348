//! Validation codes: forum.
//! Owns: the rules of this area. Must not: decide by names.

use super::hard_calls::id_of;
use super::{Area, Found, Rule, Severity};
use crate::kind::{Class, Kind};
use crate::member::Member;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

pub(super) const AREA: Area = Area { name: "forum", rules: RULES, kinds: KINDS };

/// What may follow on a deadlock besides a hard call: a proposal that is chosen, a pause in which the user is asked.
const KINDS: &[Kind] = &[
    Kind::new("ForumProposalSelection", Class::Event, Some("selection_id")),
    Kind::new("ForumPauseEvent", Class::Event, Some("event_id")),
];

const RULES: &[Rule] = &[
    Rule {
        code: "forum_deadlock_without_policy",
        severity: Severity::Error,
        section: "B-14",
        fires: "A forum room opens a deliberation that needs consensus (ForumRoomRecord) and no ForumDeliberationPolicy with its room_id exists (or max_deliberation_ticks <= 0 or consensus_threshold_pct is outside 1..100).",
        legal: "An informational room in which no decision is taken.",
        why: "A room that must agree and has no limit can talk for ever, at the client's cost. The way out has to be agreed before the talk begins.",
        fix: "Give the room a ForumDeliberationPolicy with at least one tick, a threshold from 1 to 100 per cent and a way out; a room that decides nothing is opened for information.",
        check: forum_deadlock_without_policy,
    },
    Rule {
        code: "forum_policy_allows_task_agent_decides",
        severity: Severity::Error,
        section: "B-14 (D-10)",
        fires: "A ForumDeliberationPolicy.on_no_consensus (or a moderator/assistance fallback) has the value task_agent_decides.",
        legal: "on_no_consensus = pause_and_request_user with the Task Agent posting a recommendation.",
        why: "The Task Agent may recommend and not decide. A deadlock that it breaks is a decision that nobody answers for.",
        fix: "Let a hard call, the safest proposal that policy allows, or the user break the deadlock.",
        check: forum_policy_allows_task_agent_decides,
    },
    Rule {
        code: "forum_no_consensus_without_terminal_route",
        severity: Severity::Error,
        section: "B-14",
        fires: "A deliberation has used max_deliberation_ticks with agreement below consensus_threshold_pct and no event carries out on_no_consensus (a HardRevisionCall, a chosen safest policy-allowed proposal, or a user pause).",
        legal: "Consensus is reached exactly at the threshold on the last tick.",
        why: "A deliberation that ended without agreement and without its agreed way out leaves the question open while work goes on around it.",
        fix: "Carry out on_no_consensus: raise the hard call, record the proposal that was chosen, or pause and ask the user.",
        check: forum_no_consensus_without_terminal_route,
    },
];

fn forum_deadlock_without_policy(world: &World, found: &mut Found<'_>) {
    for room in world.of("ForumRoomRecord").filter(|room| room.is("purpose", "decision")) {
        let Some(policy) = world.policy("ForumDeliberationPolicy", room.id(), room.seq()) else {
            found.add(room, "room_id", "the room is to decide and has no deliberation policy");
            continue;
        };
        if policy.number("max_deliberation_ticks").is_none_or(|ticks| ticks.is_nan() || ticks <= 0.0) {
            found.add(policy, "max_deliberation_ticks", "must be more than 0");
        }
        if !policy.count("consensus_threshold_pct").is_some_and(|share| (1..=100).contains(&share)) {
            found.add(policy, "consensus_threshold_pct", "must be a whole number from 1 to 100");
        }
    }
}

fn forum_policy_allows_task_agent_decides(world: &World, found: &mut Found<'_>) {
    let fallbacks = [
        ("ForumDeliberationPolicy", "on_no_consensus"),
        ("ForumDeliberationPolicy", "on_moderator_failure"),
        ("ModuleAssistanceRequest", "on_timeout"),
        ("AssistanceFallbackEvent", "action"),
    ];
    for (kind, path) in fallbacks {
        for record in world.of(kind).filter(|record| record.is(path, "task_agent_decides")) {
            found.add(record, path, "the Task Agent may recommend, not decide");
        }
    }
}

/// A deliberation, tick by tick.
#[derive(Default)]
struct Deliberation<'w> {
    ticks: Vec<Record<'w>>,
    /// The places of what ends it without agreement, by the word of the policy.
    routes: BTreeSet<(&'static str, u64)>,
}

fn forum_no_consensus_without_terminal_route<'w>(world: &'w World, found: &mut Found<'_>) {
    for (room, deliberation) in deliberations(world) {
        // The first tick that was the last one by the policy as it stood then.
        let is_last = |(ticks, tick): (usize, &Record<'w>)| {
            let policy = world.policy("ForumDeliberationPolicy", room, tick.seq())?;
            let max = policy.count("max_deliberation_ticks").and_then(|max| usize::try_from(max).ok());
            (1..=ticks).contains(&max?).then_some((ticks, *tick, policy))
        };
        let Some((ticks, last, policy)) = (1..).zip(&deliberation.ticks).find_map(is_last) else { continue };
        let Some(threshold) = policy.number("consensus_threshold_pct") else { continue };
        let mut counted = deliberation.ticks.iter().take(ticks);
        if counted.any(|tick| tick.number("agreement_pct").is_some_and(|share| share >= threshold)) {
            continue;
        }
        let agreed = policy.text("on_no_consensus");
        let is_agreed =
            |word: &str| agreed.is_none_or(|agreed| agreed == word || !WAYS_OUT.contains(&agreed));
        let mut routes = deliberation.routes.iter();
        if !routes.any(|(word, at)| is_agreed(word) && *at > last.seq()) {
            found.add(
                last,
                "tick",
                "the last tick ends without agreement, and nothing carries out on_no_consensus",
            );
        }
    }
}

/// What may end a deliberation without agreement.
const WAYS_OUT: [&str; 3] =
    ["forum_deadlock_hard_call", "prefer_safest_policy_allowed_proposal", "pause_and_request_user"];

fn deliberations(world: &World) -> BTreeMap<&str, Deliberation<'_>> {
    let mut rooms: BTreeMap<&str, Deliberation<'_>> = BTreeMap::new();
    for tick in world.of("ForumTick") {
        if let Some(room) = tick.json().id_at("room_id") {
            rooms.entry(room).or_default().ticks.push(tick);
        }
    }
    let [hard_call, proposal, pause] = WAYS_OUT;
    for call in world.of("HardRevisionCall").filter(|call| call.is("hard_call_kind", "forum_deadlock")) {
        let room = call
            .json()
            .text("source_ref")
            .map(|room| id_of("forum_room_record", room))
            .and_then(|room| rooms.get_mut(room));
        if let Some(room) = room {
            room.routes.insert((hard_call, call.seq()));
        }
    }
    let is_allowed = |choice: &Record<'_>| !choice.is_blank("proposal_ref");
    let choices = world.of("ForumProposalSelection").filter(is_allowed).map(|choice| (proposal, choice));
    let pauses = world.of("ForumPauseEvent").map(|event| (pause, event));
    for (word, event) in choices.chain(pauses) {
        if let Some(room) = event.json().id_at("room_id").and_then(|room| rooms.get_mut(room)) {
            room.routes.insert((word, event.seq()));
        }
    }
    rooms
}

#[cfg(test)]
#[path = "forum_tests.rs"]
mod tests;
