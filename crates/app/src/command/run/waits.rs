//! How long a question stands, what becomes of it then, and what waits for it.
//! Owns: the words, and the members in JSON. Must not: decide that its time is over.

use crate::output::moment;
use countersign_govern::types::hard_call::{
    HardCallBlockingScope as Scope, HardCallPendingPolicyOnTimeout as OnTimeout, HardRevisionCall,
};
use countersign_record::json::{Json, Object};
use countersign_record::time::Timestamp;
use countersign_work::call;
use serde::Serialize;

/// How a question waits.
#[derive(Serialize)]
pub(in crate::command) struct Waits {
    /// Until when it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer_by: Option<String>,
    /// What becomes of it then: `abort` ends the run, `escalate` leaves it open for somebody else.
    on_timeout: &'static str,
    /// How far everything waits for it.
    blocks: &'static str,
    /// What waits, as the task calls it.
    blocked: Vec<String>,
    /// Whether its time is over and it is one for somebody else.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    escalated: bool,
    #[serde(skip)]
    ends: Option<Timestamp>,
}

impl Waits {
    /// How a question waits, as things stand at a time.
    pub(in crate::command) fn of(call: &HardRevisionCall, now: Option<&Timestamp>) -> Self {
        let (until, ends) = (call::until(call), call::ends_at(call));
        let is_over = until.as_ref().zip(now).is_some_and(|(until, now)| now.instant() >= until.instant());
        let policy = &call.pending_policy;
        let run = format!("{}.", call.run_id.as_deref().unwrap_or_default());
        let named = |one: &String| {
            let id = one.split_once(':').map_or(one.as_str(), |(_, id)| id);
            id.strip_prefix(&run).unwrap_or(id).to_owned()
        };
        Waits {
            answer_by: until.map(|at| at.to_string()),
            on_timeout: policy.on_timeout.as_str(),
            blocks: policy.blocking_scope.as_str(),
            blocked: policy.blocked_refs.iter().map(named).collect(),
            escalated: is_over && ends.is_none(),
            ends,
        }
    }

    /// Whether no answer counts any more.
    pub(in crate::command) fn is_over(&self, now: Option<&Timestamp>) -> bool {
        self.ends.as_ref().zip(now).is_some_and(|(ends, now)| now.instant() >= ends.instant())
    }

    /// In sentences.
    pub(in crate::command) fn words(&self) -> Vec<String> {
        let until = self.answer_by.as_deref().map(|at| match OnTimeout::find(self.on_timeout) {
            Some(OnTimeout::Abort) => format!("Without an answer by {} the run ends.", moment(at)),
            Some(OnTimeout::Escalate | OnTimeout::ContinueWithWarning) | None if self.escalated => {
                format!("Since {} it is one for somebody else, and can still be answered.", moment(at))
            }
            Some(OnTimeout::Escalate | OnTimeout::ContinueWithWarning) | None => {
                format!(
                    "From {} on it is marked as one for somebody else, and can still be answered.",
                    moment(at)
                )
            }
        });
        let all = self.blocked.join(", ");
        let holds = Scope::find(self.blocks).map(|scope| match scope {
            Scope::Outcome if self.blocked.len() == 1 => format!("the outcome {all}"),
            Scope::Outcome => format!("the outcomes {all}"),
            Scope::EntireRun => "the whole run".to_owned(),
            Scope::Segment => "a part of the run".to_owned(),
            Scope::Artifact => "the change that it is about".to_owned(),
            Scope::Module => "the step that asks".to_owned(),
            Scope::SideEffectOnly => "only what would leave".to_owned(),
        });
        until.into_iter().chain(holds.map(|what| format!("It holds up {what}."))).collect()
    }

    /// Puts it onto an item of a page.
    pub(in crate::command) fn put_on(&self, item: &mut Object) {
        if let Some(at) = &self.answer_by {
            item.insert("answer_by", at.as_str());
        }
        item.insert("on_timeout", self.on_timeout);
        if self.escalated {
            item.insert("escalated", true);
        }
        item.insert("blocks", self.blocks);
        item.insert("blocked", Json::Array(self.blocked.iter().map(|one| one.as_str().into()).collect()));
        let words = self.words();
        item.insert("waits", Json::Array(words.iter().map(|one| one.as_str().into()).collect()));
    }
}
