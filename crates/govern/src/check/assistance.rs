//! Validation codes: assistance.
//! Owns: the rules of this area. Must not: decide by names.

use super::hard_calls::names_no_schema;
use super::{Area, Found, Rule, Severity};
use crate::kind::{Class, Kind};
use crate::member::Member;
use crate::reference::snake;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::time::Instant;

pub(super) const AREA: Area = Area { name: "assistance", rules: RULES, kinds: KINDS };

/// Where requests go, what comes back, what is done where nothing does; and a change of the task graph.
const KINDS: &[Kind] = &[
    Kind::new("AssistanceEndpoint", Class::Policy, Some("endpoint_id")),
    Kind::new("ModuleAssistanceAnswer", Class::Event, Some("answer_id")),
    Kind::new("AssistanceFallbackEvent", Class::Event, Some("event_id")),
    Kind::new("TaskGraphMutationEvent", Class::Event, Some("event_id")),
];

const RULES: &[Rule] = &[
    Rule {
        code: "module_assistance_request_without_endpoint",
        severity: Severity::Error,
        section: "D-10",
        fires: "A ModuleAssistanceRequest has an empty or unresolvable target_endpoint_ref, or one of another kind than target.",
        legal: "target user with the user's inbox endpoint.",
        why: "A request that reaches nobody waits for an answer that can't come, or is answered by somebody who was never asked.",
        fix: "Name in target_endpoint_ref the endpoint of the party that target says.",
        check: module_assistance_request_without_endpoint,
    },
    Rule {
        code: "assistance_request_without_answer_schema",
        severity: Severity::Error,
        section: "D-10",
        fires: "A ModuleAssistanceRequest has no answer_schema_ref, or an accepted answer does not conform to it.",
        legal: "A freeform answer under a registered text schema.",
        why: "An answer without an agreed form can't be checked, so what goes into the work is whatever came back.",
        fix: "Name the schema of the answer, and accept only answers that passed the check against it.",
        check: assistance_request_without_answer_schema,
    },
    Rule {
        code: "moderator_failure_without_fallback",
        severity: Severity::Error,
        section: "D-10",
        fires: "A forum-room ModuleAssistanceRequest times out or its moderator fails (ModeratorFailureEvent) and no on_timeout action is carried out and recorded (resume_with_warning, abort, escalate_human, ask_task_agent_then_pause).",
        legal: "The moderator fails and escalate_human raises an attention item.",
        why: "If the moderator is gone and nothing takes its place, a room seems to deliberate while nobody leads it.",
        fix: "Carry out on_timeout and record it: an AssistanceFallbackEvent with that action or, for escalate_human, an attention item or hard call that names the request.",
        check: moderator_failure_without_fallback,
    },
    Rule {
        code: "task_agent_substantive_decision_forbidden",
        severity: Severity::Error,
        section: "D-10 (B-14)",
        fires: "A Task Agent's answer is used as a decision on substance: request_kind substantive_review with target task_agent and response_policy required_before_continue, or a finding transition, hard-call resolution, review decision or graph mutation whose actor is the Task Agent.",
        legal: "The Task Agent answers with advisory_only or proposes a graph patch that a user command applies.",
        why: "The Task Agent has no licence and no liability. A decision on substance must be one that a person can answer for.",
        fix: "Take what the Task Agent says as advice (advisory_only), and let a user or reviewer decide.",
        check: task_agent_substantive_decision_forbidden,
    },
];

/// The kinds of references that name an endpoint of each target. Actors are named by their kind and have no record.
const ENDPOINTS: [(&str, &[&str]); 5] = [
    ("module", &["module"]),
    ("subagent", &["sub_agent", "subagent"]),
    ("task_agent", &["task_agent"]),
    ("user", &["user", "user_inbox"]),
    ("forum_room", &[]),
];

fn module_assistance_request_without_endpoint(world: &World, found: &mut Found<'_>) {
    for request in world.of("ModuleAssistanceRequest") {
        let Some(target) = request.text("target") else { continue };
        let path = "target_endpoint_ref";
        let Some(reference) = request.reference(path) else {
            found.add(request, path, "names no endpoint");
            continue;
        };
        let of_target = ENDPOINTS.iter().find(|(one, _)| *one == target);
        let is_actor = |kinds: &[&str]| kinds.contains(&reference.kind);
        let endpoint = request.follow(path);
        let is_right = match endpoint.map(|endpoint| (endpoint.kind(), endpoint)) {
            Some(("AssistanceEndpoint", endpoint)) => endpoint.is("target", target),
            Some(("ForumRoomRecord", _)) => target == "forum_room",
            Some(_) | None => of_target.is_some_and(|(_, kinds)| is_actor(kinds)),
        };
        if !is_right {
            found.add(request, path, format!("is no endpoint of a {target} that is known"));
        }
    }
}

fn assistance_request_without_answer_schema(world: &World, found: &mut Found<'_>) {
    for request in world.of("ModuleAssistanceRequest") {
        if names_no_schema(&request, "answer_schema_ref") {
            found.add(request, "answer_schema_ref", "no schema for the answer");
        }
    }
    for answer in world.of("ModuleAssistanceAnswer").filter(|answer| answer.flag("accepted") == Some(true)) {
        let request = answer.id_at("request_id").and_then(|id| world.find("ModuleAssistanceRequest", id));
        let Some(request) = request else { continue };
        if !answer.is("schema_check", "passed") {
            found.add(answer, "schema_check", "was accepted and did not pass the schema of its request");
        }
        let path = "answer_schema_ref";
        if answer.at(path).is_some() && answer.at(path) != request.at(path) {
            found.add(answer, path, "was accepted under another schema than that of its request");
        }
    }
}

fn moderator_failure_without_fallback(world: &World, found: &mut Found<'_>) {
    let fallbacks = Fallbacks::of(world);
    let is_of_room = |request: &Record<'_>| request.is("target", "forum_room");
    let mut in_room: BTreeMap<&str, Vec<Record<'_>>> = BTreeMap::new();
    for request in world.of("ModuleAssistanceRequest").filter(is_of_room) {
        if let Some(room) = request.json().reference("target_endpoint_ref") {
            in_room.entry(room.id).or_default().push(request);
        }
    }
    // What followed on a failure settles the request as well, however long that stays open.
    let mut settled: BTreeSet<u64> = BTreeSet::new();
    for failure in world.of("ModeratorFailureEvent") {
        let request = failure.id_at("request_id").and_then(|id| world.find("ModuleAssistanceRequest", id));
        let requests = failure.id_at("room_id").and_then(|room| in_room.get(room));
        let open = || {
            let before = requests?.partition_point(|request| request.seq() < failure.seq());
            requests?.get(before.checked_sub(1)?).copied()
        };
        let request = request.or_else(open);
        let action = request.and_then(|request| request.json().text("on_timeout"));
        let room = failure.id_at("room_id").and_then(|room| world.find("ForumRoomRecord", room));
        let mut subjects = [Some(failure), request, room].into_iter().flatten();
        if subjects.any(|subject| fallbacks.stand_for(subject, failure.seq(), action)) {
            settled.extend(request.map(Record::seq));
        } else {
            found.add(failure, "", "the moderator failed, and what was to follow is not recorded");
        }
    }
    for request in world.of("ModuleAssistanceRequest").filter(is_of_room) {
        let mut subjects = [Some(request), request.follow("target_endpoint_ref")].into_iter().flatten();
        let is_settled = settled.contains(&request.seq()) || !fallbacks.is_timed_out(request);
        let action = request.text("on_timeout");
        if !is_settled && !subjects.any(|subject| fallbacks.stand_for(subject, request.seq(), action)) {
            found.add(request, "on_timeout", "timed out, and what was to follow is not recorded");
        }
    }
}

/// Stands for whatever was done.
const ANY: &str = "";

/// What was done as nobody answered.
struct Fallbacks<'w> {
    world: &'w World,
    /// What something was done about, the kind and the id, and what was done; where last.
    done: BTreeMap<(String, &'w str, &'w str), u64>,
    /// When requests were answered, the first time.
    answers: BTreeMap<&'w str, Instant>,
}

impl<'w> Fallbacks<'w> {
    fn of(world: &'w World) -> Self {
        let mut done: BTreeMap<(String, &str, &str), u64> = BTreeMap::new();
        for event in world.of("AssistanceFallbackEvent") {
            let Some(action) = event.json().text("action") else { continue };
            let subjects = [("request_id", "ModuleAssistanceRequest"), ("room_id", "ForumRoomRecord")];
            for (path, kind) in subjects {
                if let Some(id) = event.json().id_at(path) {
                    done.insert((snake(kind), id, action), event.seq());
                    done.insert((snake(kind), id, ANY), event.seq());
                }
            }
        }
        for kind in ["AttentionLedgerItem", "HardRevisionCall"] {
            for raised in world.of(kind) {
                if let Some(source) = raised.json().reference("source_ref") {
                    for action in ["escalate_human", ANY] {
                        let last = done.entry((String::from(source.kind), source.id, action)).or_default();
                        *last = raised.seq().max(*last);
                    }
                }
            }
        }
        let mut answers = BTreeMap::new();
        for answer in world.of("ModuleAssistanceAnswer").filter(|one| one.flag("accepted") != Some(false)) {
            if let (Some(request), Some(at)) = (answer.json().id_at("request_id"), answer.written_at()) {
                answers.entry(request).or_insert(at);
            }
        }
        Fallbacks { world, done, answers }
    }

    /// Whether something stands for a record behind a place; of this action, if there is one.
    fn stand_for(&self, record: Record<'_>, after: u64, action: Option<&str>) -> bool {
        let done = self.done.get(&(snake(record.kind()), record.id(), action.unwrap_or(ANY)));
        done.is_some_and(|at| *at > after)
    }

    /// Whether the time is over and nobody answered in it.
    fn is_timed_out(&self, request: Record<'_>) -> bool {
        let (Some(start), Some(limit)) = (request.written_at(), request.count("timeout_ms")) else {
            return false;
        };
        let is_over = |at: Instant| start.millis_until(at) >= limit;
        let is_answered = self.answers.get(request.id()).is_some_and(|at| !is_over(*at));
        !is_answered && self.world.now().is_some_and(is_over)
    }
}

/// The kind of the actor that may not, which is all that some say of it.
const TASK_AGENT: &str = "task_agent";

/// Where somebody decides on substance, and the field that says who.
const DECISIONS: [(&str, &str); 6] = [
    ("FindingLifecycleTransitionReceipt", "actor_ref"),
    ("HardCallResolutionReceipt", "resolved_by_user_ref"),
    ("HardCallResolutionReceipt", "dispatcher_actor_ref"),
    ("RevisionReviewDecisionReceipt", "actor_ref"),
    ("ForumProposalSelection", "selected_by_ref"),
    ("TaskGraphMutationEvent", "actor_ref"),
];

fn task_agent_substantive_decision_forbidden(world: &World, found: &mut Found<'_>) {
    for request in world.of("ModuleAssistanceRequest") {
        let is_review =
            request.is("request_kind", "substantive_review") && request.is("target", "task_agent");
        if is_review && request.is("response_policy", "required_before_continue") {
            found.add(
                request,
                "response_policy",
                "work would wait for the Task Agent to decide on substance",
            );
        }
    }
    for (kind, path) in DECISIONS {
        for record in world.of(kind) {
            let actor = record.text(path);
            if actor.is_some_and(|actor| actor.split(':').next() == Some(TASK_AGENT)) {
                found.add(record, path, "the Task Agent may recommend, not decide");
            }
        }
    }
}

#[cfg(test)]
#[path = "assistance_tests.rs"]
mod tests;
