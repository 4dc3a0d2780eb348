//! Asking others: hard calls, help, a forum that deliberates; stopping and skipping.
//! Owns: how each of these may end. Must not: leave a question open.

use super::builder::{Builder, Run};
use super::making::{Outcome, Question, answer, ask, attended, attention, call, options, waits};
use super::plan::{Plan, Step};
use countersign_govern::derive::text;
use countersign_record::json;
use serde_json::{Value, json};

/// A question that only a person can answer: the answer comes, or the time runs out before it.
pub(super) fn question(b: &mut Builder, run: &mut Run) {
    let outcome = Outcome::new(b, run, &[]);
    let is_late = b.random.once_in(2);
    let kinds = ["contradictory_requirements", "meaning_change_approval", "budget_scope_decision"];
    let kind = *b.random.pick(&kinds);
    let question = Question {
        kind,
        source: &outcome.reference(),
        blocked: &[outcome.reference()],
        on_timeout: if is_late { "continue_with_warning" } else { "escalate" },
    };
    let (call, item) = ask(b, run, &question);
    if is_late {
        b.later(3_600);
        let event = json!({
            "event_id": b.id("pending"), "hard_call_id": call, "cause": "timed_out", "action": "continue_with_warning",
            "created_at": b.now()
        });
        b.add("HardCallPendingEvent", event);
        let (input, output) = (b.some_hash(), b.some_hash());
        let attempt = json!({
            "attempt_id": b.id("attempt"), "procedure_id": b.id("procedure"), "strategy_kind": "targeted_edit",
            "input_signature_hash": input, "output_signature_hash": output, "terminal_status": "succeeded",
            "receipt_refs": [], "outcome_id": outcome.id, "run_id": run.run_id, "schema_version": "1.0"
        });
        b.add("ProcedureAttemptRecord", attempt);
    }
    let option = *b.random.pick(&["go-on", "stop"]);
    answer(b, &call, item, option);
    keep(b, question.kind, option);
}

/// The answer is kept for when the same is asked again.
fn keep(b: &mut Builder, kind: &str, option: &str) {
    let prompt = "Clause 3  and clause 9 can't both hold.\nWhich one counts?";
    let chosen = json::value_of(&options()).expect("a value");
    let hash = text::value_hash(&chosen).expect("a value that can be hashed");
    let resolution = json!({
        "hard_call_kind": kind, "prompt_text": prompt, "options": options(), "selected_option_id": option,
        "normalized_prompt_hash": text::hash(prompt).to_string(), "normalized_options_hash": hash.to_string(),
        "expires_at": b.time(30 * 86_400)
    });
    b.add("HardCallResolution", resolution);
}

/// Something was sent, something else was only meant to be: that is cancelled.
pub(super) fn stop(b: &mut Builder, run: &mut Run) {
    let mut intents = Vec::new();
    for _ in 0..b.random.index(1..3) {
        intents.push(effect(b, run, "intent"));
    }
    let sent = effect(b, run, "intent");
    act(b, run, &sent);
    let targets: Vec<String> = intents.iter().chain([&sent]).map(reference_of).collect();
    let cancel = Cancel {
        scope: "side_effect_intent",
        targets: &targets,
        handling: "request_graceful_stop",
        side_effects: "cancel_unexecuted_intents",
        candidates: "discard",
        learning: "emit_cancel_diagnostic_only",
        stopped: &[],
        executed: vec![json!({"ref": reference_of(&sent), "disposition": "left"})],
        intents: intents.iter().map(reference_of).collect(),
    };
    cancel.write(b, run);
    withdraw(b, intents);
}

/// Intents that are cancelled, as the ledger of side effects has them.
pub(super) fn withdraw(b: &mut Builder, intents: Vec<Value>) {
    for mut intent in intents {
        intent["state"] = "cancelled".into();
        intent["created_at"] = b.now().into();
        b.add("SideEffectLedgerEntry", intent);
    }
}

/// Something is to be stopped, and what that came to.
pub(super) struct Cancel<'a> {
    pub(super) scope: &'a str,
    pub(super) targets: &'a [String],
    pub(super) handling: &'a str,
    pub(super) side_effects: &'a str,
    pub(super) candidates: &'a str,
    pub(super) learning: &'a str,
    pub(super) stopped: &'a [String],
    pub(super) executed: Vec<Value>,
    pub(super) intents: Vec<String>,
}

impl Cancel<'_> {
    /// The request and its receipt; the reference to the latter.
    pub(super) fn write(&self, b: &mut Builder, run: &Run) -> String {
        let (request, receipt) = (b.id("cancel"), b.id("cancelled"));
        b.add(
            "TaskCancelProtocol",
            json!({
                "cancel_request_id": request, "task_id": run.task_id, "run_id": run.run_id,
                "requested_by_ref": "user:reviewer", "cancel_scope": self.scope, "target_refs": self.targets,
                "in_flight_handling": self.handling, "side_effect_policy": self.side_effects,
                "candidate_disposition": self.candidates, "source_workspace_disposition": "retain_records",
                "learning_signal_policy": self.learning, "created_at": b.now(), "schema_version": "1.0"
            }),
        );
        b.add(
            "TaskCancelReceipt",
            json!({
                "receipt_id": receipt, "cancel_request_id": request, "stopped_refs": self.stopped,
                "executed_side_effects": self.executed, "cancelled_intent_refs": self.intents,
                "candidate_disposition": self.candidates, "created_at": b.now()
            }),
        );
        format!("task_cancel_receipt:{receipt}")
    }
}

/// The reference to a side effect.
pub(super) fn reference_of(effect: &Value) -> String {
    format!("side_effect_ledger_entry:{}", effect["side_effect_id"].as_str().unwrap_or_default())
}

/// Something that shall reach the world outside, as it stands in the ledger.
pub(super) fn effect(b: &mut Builder, run: &Run, state: &str) -> Value {
    let effect = json!({
        "side_effect_id": b.id("effect"), "run_id": run.run_id, "kind": b.random.pick(&["send_mail", "file_motion"]),
        "irreversible": true, "state": state, "created_at": b.now()
    });
    b.add("SideEffectLedgerEntry", effect.clone());
    effect
}

/// It is done, and can't be undone.
pub(super) fn act(b: &mut Builder, run: &mut Run, intent: &Value) {
    let mut effect = intent.clone();
    effect["state"] = "executed".into();
    effect["receipt_ref"] =
        format!("tool_receipt:{}", intent["side_effect_id"].as_str().unwrap_or_default()).into();
    effect["created_at"] = b.now().into();
    run.executed.push(effect.clone());
    b.add("SideEffectLedgerEntry", effect);
}

/// The first step of a plan is left out, as somebody said; the second one is taken.
pub(super) fn skip(b: &mut Builder, run: &mut Run) {
    let outcome = Outcome::new(b, run, &[]);
    let artifact = b.id("minutes");
    let steps = vec![
        Step { id: b.id("step"), kind: "format_repair", artifact: artifact.clone(), after: vec![] },
        Step { id: b.id("step"), kind: "edit_artifact", artifact, after: vec![0] },
    ];
    let plan = Plan::new(b, steps);
    let mut plan = Plan::compile(b, run, &outcome, plan);
    plan.does(b, run, 0, "plan_admitted", "dispatch_pending");
    plan.verify(b);
    plan.does(b, run, 0, "plan_admitted", "waiting_dependency");
    let id = b.id("skip");
    let reason = *b.random.pick(&["not_applicable", "user_directed"]);
    b.add(
        "TaskSkipReceipt",
        json!({
            "skip_id": id, "target_ref": format!("revision_plan_step_base:{}", plan.steps[0].id),
            "skipped_by_ref": "user:reviewer", "reason": reason, "downstream_effect": "none", "created_at": b.now(),
            "schema_version": "1.0"
        }),
    );
    plan.operates(b, run, 0, "step_skipped", json!({}));
    plan.goes(b, "dispatched", "TaskSkipReceipt", &format!("task_skip_receipt:{id}"));
    plan.start(b, run, 1);
    plan.does(b, run, 1, "step_failed", "terminal_failed");
}

/// A module asks for help, and gets it in time.
pub(super) fn assist(b: &mut Builder, run: &mut Run) {
    let (target, owner, policy) = *b.random.pick(&[
        ("user", "user:reviewer", "required_before_continue"),
        ("module", "module:format", "optional_until_timeout"),
        ("task_agent", "task_agent:main", "advisory_only"),
    ]);
    let endpoint = format!("inbox-{target}");
    b.share_once(
        "AssistanceEndpoint",
        &endpoint,
        json!({"endpoint_id": endpoint, "target": target, "owner_ref": owner}),
    );
    let request = request(b, run, target, &format!("assistance_endpoint:{endpoint}"), policy);
    b.later(120);
    let is_fitting = !b.random.once_in(3);
    if !is_fitting {
        reply(b, &request, false);
    }
    reply(b, &request, true);
}

fn request(b: &mut Builder, run: &Run, target: &str, endpoint: &str, policy: &str) -> String {
    let id = b.id("request");
    b.add(
        "ModuleAssistanceRequest",
        json!({
            "request_id": id, "task_id": run.task_id, "run_id": run.run_id, "requester_ref": "module:draft",
            "target": target, "target_endpoint_ref": endpoint,
            "answer_schema_ref": {"schema_id": "answer.text", "semantic_version": "1.0.0"},
            "request_kind": "clarification", "response_policy": policy,
            "lease": {
                "holder_ref": "module:draft", "lease_version": "1", "acquired_at": b.now(), "expires_at": b.time(3_600)
            },
            "timeout_ms": 3_600_000, "on_timeout": "escalate_human", "created_at": b.now(), "schema_version": "1.0"
        }),
    );
    id
}

fn reply(b: &mut Builder, request: &str, is_fitting: bool) {
    let answer = json!({
        "answer_id": b.id("reply"), "request_id": request,
        "answer_schema_ref": {"schema_id": "answer.text", "semantic_version": "1.0.0"},
        "schema_check": if is_fitting { "passed" } else { "failed" }, "accepted": is_fitting, "created_at": b.now()
    });
    b.add("ModuleAssistanceAnswer", answer);
}

/// A forum deliberates: it agrees, or its policy says what follows. Its moderator may fail.
pub(super) fn deliberate(b: &mut Builder, run: &mut Run) {
    let room = b.id("room");
    let way = *b.random.pick(&[
        "forum_deadlock_hard_call",
        "prefer_safest_policy_allowed_proposal",
        "pause_and_request_user",
    ]);
    b.share(
        "ForumDeliberationPolicy",
        json!({
            "room_id": room, "max_deliberation_ticks": 3, "consensus_threshold_pct": 67, "on_no_consensus": way,
            "schema_version": "1.0"
        }),
    );
    b.add(
        "ForumRoomRecord",
        json!({"room_id": room, "run_id": run.run_id, "purpose": "decision", "created_at": b.now()}),
    );
    let agrees = b.random.once_in(2);
    for number in 1..=2 {
        tick(b, &room, number, 40 + number);
    }
    if agrees {
        tick(b, &room, 3, 80);
    } else {
        // The last tick without a way on would be a deadlock.
        let asked = b.together(|b| {
            tick(b, &room, 3, 43);
            part(b, run, &room, way)
        });
        if let Some(call) = asked {
            let item = waits(b, run, &call);
            answer(b, &call, item, "go-on");
        }
    }
    moderate(b, run, &room);
}

fn tick(b: &mut Builder, room: &str, number: u64, share: u64) {
    b.add(
        "ForumTick",
        json!({"room_id": room, "tick": number, "agreement_pct": share, "created_at": b.now()}),
    );
}

/// What follows where nobody agrees; the question to a person, if it is that.
fn part(b: &mut Builder, run: &Run, room: &str, way: &str) -> Option<String> {
    match way {
        "forum_deadlock_hard_call" => {
            let question = Question {
                kind: "forum_deadlock",
                source: &format!("forum_room_record:{room}"),
                blocked: &[],
                on_timeout: "escalate",
            };
            Some(call(b, run, &question))
        }
        "pause_and_request_user" => {
            let pause = json!({"event_id": b.id("pause"), "room_id": room, "created_at": b.now()});
            b.add("ForumPauseEvent", pause);
            None
        }
        _safest => {
            let selection = json!({
                "selection_id": b.id("selection"), "room_id": room, "proposal_ref": "proposal:safest",
                "selected_by_ref": "engine:forum", "created_at": b.now()
            });
            b.add("ForumProposalSelection", selection);
            None
        }
    }
}

/// A question to the room whose moderator fails: a person is told.
fn moderate(b: &mut Builder, run: &Run, room: &str) {
    let request =
        request(b, run, "forum_room", &format!("forum_room_record:{room}"), "optional_until_timeout");
    let failure =
        json!({"event_id": b.id("failure"), "room_id": room, "request_id": request, "created_at": b.now()});
    let is_shown = b.random.once_in(2);
    let item = b.together(|b| {
        b.add("ModeratorFailureEvent", failure);
        if is_shown {
            let source = format!("module_assistance_request:{request}");
            return Some(attention(b, run, "blocked_item", &source, "The moderator of the room failed."));
        }
        let event = json!({
            "event_id": b.id("fallback"), "request_id": request, "room_id": room, "action": "escalate_human",
            "created_at": b.now()
        });
        b.add("AssistanceFallbackEvent", event);
        None
    });
    if let Some(item) = item {
        attended(b, item, "user:reviewer");
    }
}
