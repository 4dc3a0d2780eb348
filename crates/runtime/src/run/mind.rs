//! A model that the agents of a run ask.
//! Owns: what may be sent to it, the receipt of what was, what a failure means for the run. Must not: read an answer.

use crate::clock::Clock;
use crate::ports::agent::{Given, Unseen};
use crate::ports::model::{Model, NoAnswer, Reply, Request, Site};
use countersign_kernel::grant::Leaving;
use countersign_kernel::run::{Fault, Outcome};
use countersign_record::canonical::{self, Unwritable};
use countersign_record::code::Code;
use countersign_record::deed::Externalized;
use countersign_record::digest::Digest;
use countersign_record::id::MatterId;
use countersign_record::json::{Json, Object};
use countersign_record::label::Label;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What a receipt says of what was kept from leaving.
pub(super) const BLOCKED: &str = "blocked_by_policy";

/// A model, and under which rules it may be asked.
#[derive(Clone)]
pub struct Mind {
    /// Who answers.
    pub model: Arc<dyn Model>,
    /// Whose run it is.
    pub matter: MatterId,
    /// The policy that holds.
    pub policy: Digest,
    /// The time, and fresh names.
    pub clock: Arc<Clock>,
}

/// What came of asking.
pub struct Asked {
    /// The answer, or what that means for the stage.
    pub reply: Result<Reply, Outcome>,
    /// How often it was asked.
    pub llm_calls: u64,
    /// What left the machine for it, or was kept from that.
    pub receipts: Vec<Externalized>,
}

impl Mind {
    /// Whether asking sends nothing away, so that it may be done again.
    #[must_use]
    pub fn is_here(&self) -> bool {
        match self.model.about().site {
            Site::Here | Site::HereSlowly => true,
            Site::Remote(_) => false,
        }
    }

    /// Asks, if what is sent may go where the model is. `label` holds for all of the request.
    pub async fn ask(
        &self,
        given: Given<'_>,
        label: Label,
        request: &Request,
        cancel: &CancellationToken,
    ) -> Asked {
        if given.llm_calls_left == 0 {
            // The kernel ends a run that has had its last call; one more is what tells it.
            let none = Outcome::Failed(fault(Code::ModelRefused, "no call of a model is left"));
            return Asked { reply: Err(none), llm_calls: 1, receipts: Vec::new() };
        }
        let host = match &self.model.about().site {
            Site::Here | Site::HereSlowly => None,
            Site::Remote(host) => Some(host.clone()),
        };
        if let Some(host) = &host
            && let Err(outcome) = self.may_leave(given, label, host, request)
        {
            let receipts = self.receipt(given, host, BLOCKED).into_iter().collect();
            return Asked { reply: Err(outcome), llm_calls: 0, receipts };
        }
        let reply = self.model.chat(request, cancel).await;
        let status = match &reply {
            Ok(_) => "completed",
            Err(error) if error.code == Code::ModelCancelled => "cancelled",
            Err(_) => "failed",
        };
        let receipts = host.and_then(|host| self.receipt(given, &host, status)).into_iter().collect();
        let reply = reply.map_err(|NoAnswer { code, message, .. }| Outcome::Failed(fault(code, &message)));
        Asked { reply, llm_calls: 1, receipts }
    }

    /// What a call means that nobody saw the end of: one that stayed here may be made again, else something may have been
    /// sent.
    #[must_use]
    pub fn unseen(&self, given: Given<'_>) -> Unseen {
        let Site::Remote(host) = &self.model.about().site else { return Unseen::Repeatable };
        let status = match Leaving::of(given.label.data_class) {
            Leaving::Never => BLOCKED,
            Leaving::Confirmed if given.leave.is_none() => BLOCKED,
            Leaving::Confirmed | Leaving::Free => "failed",
        };
        Unseen::Unknown(self.receipt(given, host, status).into_iter().collect())
    }

    /// Leave is for this request, to this model, under this policy: whoever is asked is told the hash of the three.
    fn may_leave(
        &self,
        given: Given<'_>,
        label: Label,
        host: &str,
        request: &Request,
    ) -> Result<(), Outcome> {
        match Leaving::of(label.data_class) {
            Leaving::Free => Ok(()),
            Leaving::Never => {
                let message =
                    format!("{} would send to {host} what must not leave this machine", given.stage.name);
                Err(Outcome::denied(&message))
            }
            Leaving::Confirmed => {
                let unwritable = |error: Unwritable| Outcome::escalate("validation_fail", &error.to_string());
                let bound = (request.hash().map_err(unwritable)?, &self.model.about().model, self.policy);
                let bound = canonical::hash_of(&bound).map_err(unwritable)?;
                let stage = &given.stage.name;
                let message =
                    format!("send privileged content to {host}, for the stage {stage} (sha256:{bound})");
                match given.leave == Some(message.as_str()) {
                    true => Ok(()),
                    false => Err(Outcome::Confirm { message, expires_at: None }),
                }
            }
        }
    }

    fn receipt(&self, given: Given<'_>, host: &str, status: &str) -> Option<Externalized> {
        // Another process may begin its names where this one did; each call of an agent has a number of its own.
        let purpose = format!("externalization {} {}", given.run, given.envelope.bounds.agent_hop_count);
        let confirmation = given.leave.and(given.envelope.confirmation.id.as_ref());
        Some(Externalized {
            receipt_id: format!("ext_{}", self.clock.fresh(&purpose)),
            externalization_kind: "api_call".to_owned(),
            workspace_id: self.matter.to_string(),
            source_record_refs: vec![format!("run:{}", given.run)],
            destination_ref: format!("host:{host}"),
            policy_ref: format!("policy:{}", self.policy),
            user_confirmation_ref: confirmation.map(|id| format!("stop:{id}")),
            status: status.to_owned(),
            irreversible_disclosure_possible: status != BLOCKED,
            created_at: self.clock.now().ok()?,
            schema_version: "1.0".to_owned(),
        })
    }
}

fn fault(code: Code, message: &str) -> Fault {
    Fault {
        error_type: "ModelError".to_owned(),
        message: message.to_owned(),
        recoverable: matches!(code, Code::ModelCancelled | Code::ModelTimeout | Code::ModelUnreachable),
        details: Object::from([("code", Json::from(code.as_str()))]),
    }
}
