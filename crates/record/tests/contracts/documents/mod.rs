//! Documents for the tests, from a seed: valid ones, and what breaks them.
//! Owns: the generator. Must not: know a reader or a schema; what is right is for them to say.

use countersign_record::json::{self, Json};
use countersign_record::state::Minted;
use serde_json::{Map, Value, json};

/// What the tests mint.
pub(crate) fn minted() -> Minted {
    Minted {
        envelope_id: "env_00000000000000ff".parse().unwrap(),
        request_id: "req_00000000000000ff".parse().unwrap(),
        session_id: "sess_00000000000000ff".parse().unwrap(),
        received_at: "2030-01-02T03:04:05Z".try_into().unwrap(),
    }
}

/// The document as our own reader sees it.
pub(crate) fn ours(document: &Value) -> Json {
    json::parse(document.to_string().as_bytes()).unwrap()
}

/// SplitMix64: the same documents on every machine.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Rng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end).unwrap()).unwrap()
    }

    pub(crate) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    fn hex(&mut self, tag: &str) -> Value {
        Value::String(format!("{tag}{:016x}", self.next()))
    }
}

const REASONS: [&str; 10] = [
    "completed_successfully",
    "clarification_required",
    "confirmation_required",
    "denied_by_policy",
    "tool_failed_recoverably",
    "tool_failed_fatally",
    "max_iterations_exceeded",
    "max_llm_calls_exceeded",
    "max_agent_hops_exceeded",
    "max_critic_fires_exceeded",
];
const TEXTS: [&str; 7] = ["", "start", "Goal 1", "a\nb", "\u{2028}🦀<&>", "/~", "end"];
const TIMES: [&str; 6] = [
    "2025-12-10T10:00:00Z",
    "2025-12-10T10:00:00.123456+05:30",
    "2024-02-29t23:59:59z",
    "0000-01-01T00:00:00-23:59",
    "2016-12-31T23:59:60Z",
    "9999-12-31T23:59:59.999999999999999999999999999999999999999999999999999Z",
];
const BAD_TIMES: [&str; 8] = [
    "",
    "2025-12-10",
    "2025-12-10T10:00:00",
    "2025-12-10 10:00:00Z",
    "2025-02-29T10:00:00Z",
    "2025-12-10T24:00:00Z",
    "2025-12-10T10:00:00.Z",
    "2025-12-10T10:00:00+5:30",
];

fn text(rng: &mut Rng) -> Value {
    Value::from(*rng.pick(&TEXTS))
}

fn texts(rng: &mut Rng) -> Value {
    (0..rng.below(3)).map(|_| text(rng)).collect()
}

fn or_null(rng: &mut Rng, value: Value) -> Value {
    if rng.one_in(2) { Value::Null } else { value }
}

fn time(rng: &mut Rng) -> Value {
    Value::from(if rng.one_in(12) { TIMES[4 + rng.below(2)] } else { TIMES[rng.below(4)] })
}

fn integer(rng: &mut Rng, least: u64) -> Value {
    match rng.below(8) {
        0 => json!(1.0),
        1 => json!(1e3),
        2 => json!(1u64 << 53),
        3 => json!(least),
        _ => json!(least + rng.next() % 30),
    }
}

fn object(rng: &mut Rng) -> Value {
    let mut members = Map::new();
    for name in ["a", "verdict", "to_dict"].iter().take(rng.below(4)) {
        members.insert((*name).to_owned(), anything(rng, 0));
    }
    Value::Object(members)
}

fn objects(rng: &mut Rng) -> Value {
    (0..rng.below(3)).map(|_| object(rng)).collect()
}

fn stage(rng: &mut Rng) -> Value {
    let number = json!(*rng.pick(&[-5i64, 0, 1, 2, 900]));
    let members = [
        ("stage_number", number),
        ("satisfied_goals", texts(rng)),
        ("summary", object(rng)),
        ("plan_id", text(rng)),
        ("note", text(rng)),
    ];
    members.into_iter().filter(|_| !rng.one_in(4)).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// One value of a member of the GenericEnvelope that its schema accepts.
fn member(name: &str, rng: &mut Rng) -> Value {
    match name {
        "envelope_id" => rng.hex("env_"),
        "request_id" => rng.hex("req_"),
        "session_id" => rng.hex("sess_"),
        "received_at" => time(rng),
        "completed_at" => time(rng).pipe(|value| or_null(rng, value)),
        "outputs" => ["plan", "critic", "a/b"]
            .iter()
            .take(rng.below(4))
            .map(|key| ((*key).to_owned(), object(rng)))
            .collect(),
        "stage_order" | "all_goals" | "remaining_goals" | "critic_feedback" => texts(rng),
        "iteration" | "llm_call_count" | "agent_hop_count" => integer(rng, 0),
        "max_iterations" | "max_llm_calls" | "max_agent_hops" | "current_stage_number" | "max_stages" => {
            integer(rng, 1)
        }
        "terminal_reason" => Value::from(*rng.pick(&REASONS)).pipe(|value| or_null(rng, value)),
        "terminated" | "clarification_pending" | "confirmation_pending" => Value::from(rng.one_in(2)),
        "confirmation_response" => Value::from(rng.one_in(2)).pipe(|value| or_null(rng, value)),
        "termination_reason"
        | "clarification_question"
        | "clarification_response"
        | "confirmation_id"
        | "confirmation_message" => text(rng).pipe(|value| or_null(rng, value)),
        "completed_stages" => (0..rng.below(3)).map(|_| stage(rng)).collect(),
        "goal_completion_status" => {
            let status = |rng: &mut Rng| Value::from(*rng.pick(&["pending", "satisfied", "failed"]));
            ["Goal 1", "~", ""]
                .iter()
                .take(rng.below(4))
                .map(|goal| ((*goal).to_owned(), status(rng)))
                .collect()
        }
        "prior_plans" | "errors" => objects(rng),
        "metadata" => object(rng),
        _ => text(rng),
    }
}

trait Pipe: Sized {
    fn pipe<T>(self, f: impl FnOnce(Self) -> T) -> T {
        f(self)
    }
}
impl Pipe for Value {}

const REQUIRED: [&str; 8] = [
    "envelope_id",
    "request_id",
    "user_id",
    "session_id",
    "raw_input",
    "outputs",
    "current_stage",
    "terminated",
];
/// Every member that the seed's schema names, in its order.
pub(crate) const MEMBERS: [&str; 36] = [
    "envelope_id",
    "request_id",
    "user_id",
    "session_id",
    "raw_input",
    "received_at",
    "outputs",
    "current_stage",
    "stage_order",
    "iteration",
    "max_iterations",
    "llm_call_count",
    "max_llm_calls",
    "agent_hop_count",
    "max_agent_hops",
    "terminal_reason",
    "terminated",
    "termination_reason",
    "clarification_pending",
    "clarification_question",
    "clarification_response",
    "confirmation_pending",
    "confirmation_id",
    "confirmation_message",
    "confirmation_response",
    "completed_stages",
    "current_stage_number",
    "max_stages",
    "all_goals",
    "remaining_goals",
    "goal_completion_status",
    "prior_plans",
    "critic_feedback",
    "errors",
    "completed_at",
    "metadata",
];

/// A document that the seed's schema accepts.
pub(crate) fn generic(rng: &mut Rng) -> Value {
    let mut document = Map::new();
    for name in MEMBERS {
        if REQUIRED.contains(&name) || !rng.one_in(4) {
            document.insert(name.to_owned(), member(name, rng));
        }
    }
    // Most documents make sense: a reason stands where the run has ended.
    if !rng.one_in(6) {
        let ended = document.get("terminal_reason").is_some_and(Value::is_string);
        document.insert("terminated".to_owned(), Value::from(ended));
    }
    // …and a run waits for one thing at a time, while it has not ended.
    let ended = document.get("terminated") == Some(&Value::from(true));
    let asks = document.get("clarification_pending") == Some(&Value::from(true));
    for (name, idle) in [("clarification_pending", ended), ("confirmation_pending", ended || asks)] {
        if idle && document.contains_key(name) {
            document.insert(name.to_owned(), Value::from(false));
        }
    }
    Value::Object(document)
}

/// An SR2 envelope that its schema accepts.
pub(crate) fn envelope(rng: &mut Rng) -> Value {
    let digest = "0123456789abcdef".repeat(4);
    let escalate = rng.one_in(3);
    let score = json!(*rng.pick(&[0.0, 0.25, 1.0, 1e3]));
    let mut document = json!({
        "agent": "A0", "goal": *rng.pick(&["find", " x ", "\u{FEFF}"]), "timestamp": time(rng), "request_id": "r1",
        "turn_id": integer(rng, 0), "source": *rng.pick(&["internal", "external", "file"]), "version": "1.0",
        "escalate": escalate, "reason": if escalate { json!("schema_violation") } else { json!(null) },
        "provenance": {
            "files": [{ "path": "a.md", "sha256": digest, "mtime": score }],
            "history_refs": [{ "id": "t1", "hash": digest, "score": null }],
            "eligibility": texts(rng),
        },
        "payload": { "a": [1, { "b": null }] },
    });
    if let Some(provenance) = document["provenance"].as_object_mut() {
        provenance.retain(|_, _| !rng.one_in(5));
    }
    if let Some(members) = document.as_object_mut() {
        members
            .retain(|name, _| escalate || !["escalate", "reason"].contains(&name.as_str()) || !rng.one_in(4));
    }
    document
}

/// A turn that its reader accepts.
pub(crate) fn turn(rng: &mut Rng) -> Value {
    let said = *rng.pick(&TEXTS);
    let speaker = *rng.pick(&["user", "assistant", "external"]);
    let hash = countersign_record::digest::Digest::of(said.as_bytes()).to_string();
    json!({
        "role": speaker, "text": said, "timestamp": TIMES[rng.below(4)], "goal": *rng.pick(&["g", " g "]),
        "provenance": { "source": speaker, "hash": hash, "file_refs": texts(rng) },
        "id": *rng.pick(&[None, Some("t1")]), "importance": rng.pick(&[json!(null), json!(0), json!(1.0), json!(0.5)]),
        "tags": texts(rng), "added": anything(rng, 2),
    })
}

/// Changes one thing somewhere in the document.
pub(crate) fn mutate_anywhere(value: &mut Value, rng: &mut Rng) {
    match value {
        Value::Object(members) if !members.is_empty() && !rng.one_in(12) => {
            let names: Vec<String> = members.keys().cloned().collect();
            let name = rng.pick(&names).clone();
            match rng.below(10) {
                0 => {
                    members.remove(&name);
                }
                1 => {
                    members.insert(format!("{name}_"), Value::Null);
                }
                2 => {
                    members.insert(name, Value::Null);
                }
                3 => {
                    members.insert(name, anything(rng, 0));
                }
                _ => mutate_anywhere(&mut members[&name], rng),
            }
        }
        Value::Array(items) if !items.is_empty() && !rng.one_in(4) => {
            let at = rng.below(items.len());
            mutate_anywhere(&mut items[at], rng);
        }
        Value::String(text) if rng.one_in(2) => {
            *text = (*rng.pick(&["", " ", "\u{85}", "\u{FEFF}", "user", "file", "a-b", "a_b"])).to_owned();
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => {
            *value = anything(rng, 1);
        }
    }
}

/// Any value: boundary numbers, good and bad times and ids, empty and deep structures.
fn anything(rng: &mut Rng, depth: usize) -> Value {
    let numbers = [
        json!(-1),
        json!(0),
        json!(1),
        json!(1.0),
        json!(0.5),
        json!(-0.0),
        json!(1e3),
        json!(1u64 << 53),
        json!((1u64 << 53) + 1),
        json!(u64::MAX),
        json!(1e300),
        json!(-1e300),
        json!(-9_007_199_254_740_993i64),
    ];
    match rng.below(if depth > 3 { 6 } else { 10 }) {
        0 => Value::Null,
        1 => Value::from(rng.one_in(2)),
        2 | 3 => rng.pick(&numbers).clone(),
        4 => [text(rng), time(rng), Value::from(*rng.pick(&BAD_TIMES)), rng.hex("env_"), json!("satisfied")]
            .into_iter()
            .nth(rng.below(5))
            .unwrap(),
        5 => {
            [json!([]), json!({}), json!([[]]), json!([{}]), json!("env_0123456789ABCDEF"), json!("req_1\n")]
                .into_iter()
                .nth(rng.below(6))
                .unwrap()
        }
        6 | 7 => (0..rng.below(3)).map(|_| anything(rng, depth + 1)).collect(),
        _ => ["a", "stage_number", "summary"]
            .iter()
            .take(rng.below(4))
            .map(|name| ((*name).to_owned(), anything(rng, depth + 1)))
            .collect(),
    }
}

/// Changes one thing: takes a member away, makes it null or anything at all, gives it another good value, breaks an
/// item inside it, or adds a member.
pub(crate) fn mutate(document: &mut Value, rng: &mut Rng) {
    // One member has rules of its own deep inside.
    let name = if rng.one_in(6) { "completed_stages" } else { *rng.pick(&MEMBERS) };
    let Some(members) = document.as_object_mut() else { return };
    match rng.below(8) {
        0 => {
            members.remove(name);
        }
        1 => {
            members.insert(name.to_owned(), Value::Null);
        }
        2 | 3 => {
            members.insert(name.to_owned(), anything(rng, 0));
        }
        4 => {
            members.insert(name.to_owned(), member(name, rng));
        }
        5 | 6 => mutate_inside(members.entry(name).or_insert_with(|| member(name, rng)), rng),
        _ => {
            let added = *rng.pick(&["to_dict", "x", "Terminated", "identity", "", "__proto__"]);
            members.insert(added.to_owned(), anything(rng, 0));
        }
    }
}

fn mutate_inside(value: &mut Value, rng: &mut Rng) {
    match value {
        Value::Array(items) => {
            if items.is_empty() || rng.one_in(3) {
                items.push(anything(rng, 1));
            } else {
                let at = rng.below(items.len());
                mutate_inside(&mut items[at], rng);
            }
        }
        Value::Object(members) => {
            let names = ["stage_number", "satisfied_goals", "summary", "plan_id", "Goal 1", "plan"];
            let name = *rng.pick(&names);
            match members.get_mut(name) {
                Some(member) if rng.one_in(2) => mutate_inside(member, rng),
                _ => drop(members.insert(name.to_owned(), anything(rng, 1))),
            }
        }
        Value::String(text) => match rng.below(4) {
            0 => text.push('x'),
            1 => *text = text.to_uppercase(),
            2 => *text = (*rng.pick(&BAD_TIMES)).to_owned(),
            _ => text.truncate(text.char_indices().nth(3).map_or(0, |(at, _)| at)),
        },
        Value::Number(_) | Value::Bool(_) | Value::Null => *value = anything(rng, 1),
    }
}

/// Says some of it in the words of dialects B and C.
pub(crate) fn speak_another_dialect(document: &mut Value, rng: &mut Rng) {
    let Some(members) = document.as_object_mut() else { return };
    if rng.one_in(2) {
        return;
    }
    let kinds = [
        "clarification",
        "confirmation",
        "critic_review",
        "agent_review",
        "checkpoint",
        "resource_exhausted",
        "timeout",
        "system_error",
    ];
    let body = json!({
        *rng.pick(&["kind", "type"]): *rng.pick(&kinds), "id": *rng.pick(&["", "int_1"]), "question": *rng.pick(&TEXTS),
        "message": *rng.pick(&TEXTS), "expires_at": "2026-11-16T19:01:16Z", "data": null,
        "response": if rng.one_in(2) { json!(null) } else { json!({ "text": "t", "approved": rng.one_in(2) }) },
    });
    if !rng.one_in(4) {
        members.retain(|name, _| !name.starts_with("clarification_") && !name.starts_with("confirmation_"));
    }
    if !rng.one_in(8) {
        members.insert("interrupt_pending".to_owned(), Value::from(rng.one_in(2)));
    }
    if !rng.one_in(4) {
        members.insert("interrupt".to_owned(), or_null(rng, body));
    }
    if rng.one_in(3)
        && let Some(feedback) = members.remove("critic_feedback")
    {
        members.insert("loop_feedback".to_owned(), feedback);
    }
    if rng.one_in(3) {
        members.insert("parallel_mode".to_owned(), Value::from(rng.one_in(2)));
        members.insert(
            "processing_history".to_owned(),
            json!([{ "agent": "a", "stage_order": 0, "status": "success" }]),
        );
    }
}
