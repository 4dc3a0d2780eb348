//! What is told to others in a run: guidance, context packets, the board.
//! Owns: who is shown what. Must not: show it across matters.

use super::builder::{Builder, Run, hash_of};
use super::making::{Outcome, Verdict, evaluate, governance, moves, version};
use super::opening;
use super::researching::{LETTER, SECRET, Workspace};
use serde_json::{Value, json};

const SHORT: Verdict =
    Verdict { disposition: "needs_revision", verdict: "failed", causes: &[], branch: "on_needs_revision" };

/// Feedback becomes guidance, which is used in a packet and may be contested.
pub(super) fn guide(b: &mut Builder, run: &mut Run) {
    let (mut item, head) = Guidance::new(b, run);
    if b.random.once_in(4) {
        item.goes(b, "rejected", "user:reviewer");
        return;
    }
    item.goes(b, "active", "engine:router");
    let used = packet(b, run, &[item.event.clone(), head], &[]);
    consume(b, run, &used, 2);
    if b.random.once_in(2) {
        item.goes(b, "contested", "user:reviewer");
        let ending = *b.random.pick(&["active", "rejected"]);
        item.goes(b, ending, "user:reviewer");
    }
}

/// What one run was told is of use to another of the same task: the context policy selects it, and only then it is given there.
pub(super) fn carry(b: &mut Builder, run: &mut Run) {
    let (mut item, head) = Guidance::new(b, run);
    item.goes(b, "active", "engine:router");
    let used = packet(b, run, &[item.event.clone(), head], &[]);
    consume(b, run, &used, 2);
    item.may_cross = true;
    item.show(b);
    let mut other = run.again(b);
    b.beside(&mut other, |b, other| {
        opening::task(b, other);
        let head = format!("artifact_version:{}", other.known.head_version_id);
        let used = packet(b, other, &[item.event.clone(), head], &[]);
        for _ in 0..b.random.index(1..3) {
            consume(b, other, &used, 2);
        }
    });
    item.may_cross = false;
    item.goes(b, "expired", "engine:router");
}

/// Guidance as it stands.
struct Guidance {
    id: String,
    event: String,
    state: &'static str,
    /// Whether the context policy selected it for other runs.
    may_cross: bool,
    /// The place of the last event about it.
    moved: u64,
}

impl Guidance {
    /// Guidance from the feedback on something that fell short; and the version that did.
    fn new(b: &mut Builder, run: &Run) -> (Self, String) {
        let mut outcome = Outcome::new(b, run, &[]);
        let artifact = b.id("report");
        let head = version(b, run, &artifact, None, "mechanical");
        let evaluated = evaluate(b, run, &mut outcome, (&artifact, &head), &SHORT);
        let bundle = evaluated.feedback.expect("a result that fell short has feedback");
        let (event, id) = (b.id("guidance-event"), b.id("guidance"));
        let moved = b.add(
            "RunGuidanceCreationEvent",
            json!({
                "event_id": event, "guidance_id": id, "source_feedback_bundle_ref": bundle,
                "guidance_text": "Quote the clause before you discuss it.", "scope_ref": format!("artifact:{artifact}"),
                "created_at": b.now(), "schema_version": "1.0"
            }),
        );
        let event = format!("run_guidance_creation_event:{event}");
        let item = Guidance { id, event, state: "proposed", may_cross: false, moved };
        item.show(b);
        (item, head)
    }

    fn show(&self, b: &mut Builder) {
        b.add(
            "RunGuidanceItemCurrent",
            json!({
                "guidance_id": self.id, "canonical_event_ref": self.event, "lifecycle_state": self.state,
                "cross_run_eligible": self.may_cross, "selected_by_doc24_context_policy": self.may_cross,
                "updated_at": b.now(), "schema_version": "1.0"
            }),
        );
        b.add(
            "EventProjectionLink",
            json!({
                "canonical_event_ref": self.event, "current_projection_ref": format!("run_guidance_item_current:{}", self.id),
                "projection_event_seq": self.moved, "projection_valid_at": b.now(), "schema_version": "1.0"
            }),
        );
    }

    fn goes(&mut self, b: &mut Builder, to: &'static str, actor: &str) {
        let receipt = json!({
            "receipt_id": b.id("guidance-receipt"), "guidance_id": self.id, "from_state": self.state, "to_state": to,
            "actor_ref": actor, "reason": "As the reviewer says.", "created_at": b.now(), "schema_version": "1.0"
        });
        self.state = to;
        // A link that is shown as current must not lag behind.
        b.together(|b| {
            self.moved = b.add("RunGuidanceLifecycleReceipt", receipt);
            self.show(b);
        });
    }
}

/// A packet is asked for, put together and receipted; the reference to it.
fn packet(b: &mut Builder, run: &Run, items: &[String], left_out: &[String]) -> String {
    let (request, id) = (b.id("packet-request"), b.id("packet"));
    let (required, optional): (Vec<&String>, Vec<&String>) =
        (items.iter().collect(), left_out.iter().collect());
    b.add(
        "TaskRunContextPacketRequest",
        json!({
            "request_id": request, "task_id": run.task_id, "run_id": run.run_id, "audience": "module",
            "requested_max_tokens": 4_000, "required_item_refs": required, "optional_item_refs": optional,
            "staleness_policy": "fresh_only", "created_at": b.now(), "schema_version": "1.0"
        }),
    );
    let held: Vec<Value> =
        items.iter().map(|item| json!({"item_ref": item, "matter_id": run.matter_id})).collect();
    let hash = hash_of(&held);
    let reference = format!("task_run_context_packet:{id}");
    let omitted: Vec<Value> = (left_out.iter())
        .map(|item| json!({"item_ref": item, "omission_reason": "token_budget", "required": false}))
        .collect();
    b.together(|b| {
        b.add(
            "TaskRunContextPacket",
            json!({
                "packet_id": id, "run_id": run.run_id, "task_id": run.task_id, "matter_id": run.matter_id, "items": held,
                "content_hash": hash, "created_at": b.now()
            }),
        );
        let receipt = json!({
            "receipt_id": b.id("packet-receipt"), "request_id": request, "packet_ref": reference,
            "packet_content_hash": hash, "actual_token_count": 100 + 50 * items.len(), "omitted_items": omitted,
            "valid_until_event_seq": b.end() + 20, "invalidated_by_event_kinds": ["ArtifactVersionTransitionEvent"],
            "packet_status": "complete", "warnings": [], "created_at": b.now(), "schema_version": "1.0"
        });
        b.add("TaskRunContextPacketAssemblyReceipt", receipt);
    });
    reference
}

/// A module uses a packet, within what it may be given.
fn consume(b: &mut Builder, run: &Run, packet: &str, items: u64) {
    let activation = b.id("activation");
    b.add(
        "ModuleActivationEvent",
        json!({
            "activation_id": activation, "module_id": "draft", "run_id": run.run_id, "state": "running",
            "created_at": b.now()
        }),
    );
    let consumption = json!({
        "consumption_id": b.id("consumption"), "packet_ref": packet, "activation_id": activation, "run_id": run.run_id,
        "matter_id": run.matter_id, "created_at": b.now()
    });
    b.add("ContextPacketConsumption", consumption);
    let parts = [100 + 50 * items, b.random.within(0..300), b.random.within(0..300)];
    b.add(
        "PerActivationContextBudget",
        json!({
            "activation_id": activation, "max_total_tokens": 2_000, "packet_token_count": parts[0],
            "board_digest_token_count": parts[1], "feedback_bundle_token_count": parts[2],
            "total_token_count": parts.iter().sum::<u64>(), "schema_version": "1.0"
        }),
    );
}

/// Packets of what a run made; some of it is left out for want of room.
pub(super) fn pack(b: &mut Builder, run: &mut Run) {
    let artifact = b.id("note");
    let mut items = Vec::new();
    for _ in 0..b.random.index(1..4) {
        items.push(version(b, run, &artifact, None, "mechanical"));
    }
    let left_out =
        if b.random.once_in(2) { vec![version(b, run, &artifact, None, "mechanical")] } else { vec![] };
    let used = packet(b, run, &items, &left_out);
    consume(b, run, &used, items.len() as u64);
    if b.random.once_in(2) {
        consume(b, run, &used, items.len() as u64);
    }
}

/// What happens is put on the board; what is secret leaves a stub.
pub(super) fn board(b: &mut Builder, run: &mut Run) {
    let (mut workspace, policy) = (Workspace::new(b, run), b.id("publication"));
    b.share(
        "RunBoardPublicationPolicy",
        json!({
            "policy_id": policy, "run_id": run.run_id,
            "auto_publish_event_classes": ["artifact_event", "run_lifecycle"], "max_visible_posts_per_run": 100,
            "suppress_data_classes": ["privileged", "local_only"], "publish_redacted_stub_when_suppressed": true,
            "rate_limit_per_minute": 30, "schema_version": "1.0"
        }),
    );
    let mut posts = Vec::new();
    for at in 0..b.random.within(2..5) {
        let is_secret = b.random.once_in(3);
        let payload = workspace.source(b, run, if is_secret { &SECRET } else { &LETTER });
        let payload = payload.replace("src:", "source_record:");
        posts.push(publish(b, run, &payload, is_secret, at + 1));
    }
    let digest = b.id("digest");
    b.add(
        "RunBoardDigest",
        json!({
            "digest_id": digest, "run_id": run.run_id, "reader_ref": "module:draft", "matter_id": run.matter_id,
            "post_refs": posts.iter().map(reference_of).collect::<Vec<_>>(), "created_at": b.now()
        }),
    );
    let selection = json!({
        "selection_id": b.id("digest-selection"), "digest_ref": format!("run_board_digest:{digest}"),
        "included_post_refs": posts.iter().map(reference_of).collect::<Vec<_>>(), "omitted": [],
        "created_at": b.now()
    });
    b.add("DigestSelection", selection);
    let mut last = posts.pop().expect("a post");
    let to = *b.random.pick(&["superseded", "retracted"]);
    moves(b, &reference_of(&last), "active", to, "engine:board");
    last["lifecycle_state"] = to.into();
    b.add("RunBoardVisiblePost", last);
}

fn reference_of(post: &Value) -> String {
    format!("run_board_visible_post:{}", post["post_id"].as_str().unwrap_or_default())
}

/// An event and its post.
fn publish(b: &mut Builder, run: &Run, payload: &str, is_secret: bool, seq: u64) -> Value {
    let event = b.id("board-event");
    b.together(|b| {
        b.add(
            "RunBoardAuditEvent",
            json!({
                "event_id": event, "task_id": run.task_id, "run_id": run.run_id, "event_class": "artifact_event",
                "payload_ref": payload, "governance": governance(run, if is_secret { "privileged" } else { "internal" }),
                "event_seq": seq, "created_at": b.now(), "schema_version": "1.0"
            }),
        );
        let mut post = json!({
            "post_id": b.id("post"), "source_event_id": event, "rendered_payload_ref": format!("rendered_payload:{event}"),
            "redacted": is_secret, "lifecycle_state": "active", "created_at": b.now(), "schema_version": "1.0"
        });
        if is_secret {
            post["withheld_reason"] = "privileged".into();
        }
        b.add("RunBoardVisiblePost", post.clone());
        post
    })
}
