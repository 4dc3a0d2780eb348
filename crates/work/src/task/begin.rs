//! The envelope that a task's run begins with.
//! Owns: what of the task stands in it. Must not: begin a run.

use super::{ArtifactKind, Task};
use alloc::borrow::ToOwned;
use alloc::vec::Vec;
use countersign_govern::types::wire::Wire;
use countersign_record::json::{Json, Object};

/// What a task's run begins with.
#[must_use]
pub fn envelope(task: &Task, principal: &str) -> Json {
    let asks = task.artifacts.iter().flat_map(|one| one.sections()).map(|section| section.ask.as_str());
    let mut goals: Vec<Json> = Vec::new();
    for ask in asks {
        if !goals.contains(&Json::from(ask)) {
            goals.push(ask.into());
        }
    }
    if goals.is_empty() {
        goals.push(task.goal.as_str().into());
    }
    let pending = goals.iter().filter_map(Json::as_str).map(|goal| (goal, Json::from("pending")));
    let status: Object = pending.collect();
    let mut metadata = Object::new();
    if let Some(pinned) = pinned(task) {
        metadata.insert("artifact", pinned);
    }
    let mut document = Object::from([
        ("raw_input", Json::from(task.goal.as_str())),
        ("user_id", principal.into()),
        ("all_goals", Json::Array(goals.clone())),
        ("remaining_goals", Json::Array(goals)),
        ("goal_completion_status", status.into()),
        ("metadata", metadata.into()),
    ]);
    if let Some(limits) = &task.limits {
        for (name, most) in [
            ("max_iterations", limits.max_iterations),
            ("max_llm_calls", limits.max_llm_calls),
            ("max_agent_hops", limits.max_agent_hops),
        ] {
            if let Some(most) = most.and_then(|most| most.write()) {
                document.insert(name, most);
            }
        }
    }
    document.into()
}

/// The contract of a task's code, in the words of the enforcer.
fn pinned(task: &Task) -> Option<Json> {
    let code = task.artifacts.iter().find(|one| one.kind == ArtifactKind::Code)?;
    let language = code.language.clone().unwrap_or_else(|| "python".to_owned());
    let filename = code.filename.clone().unwrap_or_else(|| code.path.clone());
    let pinned = Object::from([
        ("codespec_path", Json::from(code.codespec.clone().unwrap_or_default())),
        ("task", Object::from([("language", Json::from(language))]).into()),
        ("stop", Object::from([("filename", Json::from(filename))]).into()),
    ]);
    Some(pinned.into())
}
