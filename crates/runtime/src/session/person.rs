//! What a person decides about a session: grants, refusals, what is taken back.
//! Owns: what a grant is bound to when it is given, and who may give it. Must not: find what covers a call (`decide.rs`).

use super::decide::{LEAVE, MODEL, NET};
use super::{Error, Office, Session};
use crate::ports::model::Site;
use countersign_kernel::gate::Capability;
use countersign_kernel::grant::{Approver, Grant};
use countersign_kernel::policy::GRANT_SECONDS_MAX;
use countersign_record::canonical;
use countersign_record::code::Code;
use countersign_record::deed;
use countersign_record::digest::Digest;
use countersign_record::id::{PrincipalId, ToolName};
use countersign_record::session::State;
use countersign_record::time::{Instant, Timestamp};
use countersign_record::tool::Needs;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Why a decision is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Who proposes can't approve.
    #[error("the policy has somebody else approve what {acting} proposes")]
    Proposer {
        /// Who acts.
        acting: PrincipalId,
    },
    /// Somebody else's word counts if it is signed.
    #[error("the policy has somebody else approve, and {by} has no key to sign with")]
    Unsigned {
        /// Who decides.
        by: PrincipalId,
    },
    /// Nothing here needs it.
    #[error("no tool of this session needs {capability}, and its model neither")]
    Useless {
        /// What.
        capability: Capability,
    },
    /// It would hold too long, or not at all.
    #[error("a grant holds from 1 second to {GRANT_SECONDS_MAX} seconds")]
    Expiry,
}

impl Refusal {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Refusal::Proposer { .. } => Code::CapabilityProposer,
            Refusal::Unsigned { .. } => Code::CapabilityUnsigned,
            Refusal::Useless { .. } => Code::CapabilityInvalid,
            Refusal::Expiry => Code::CapabilityExpiry,
        }
    }
}

/// What a person grants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantFor {
    /// What.
    pub capability: Capability,
    /// To whom.
    pub acting: PrincipalId,
    /// For one call with these arguments, or for all.
    pub arguments: Option<Digest>,
    /// For how long, if not as long as the policy says.
    pub seconds: Option<u64>,
}

impl Office {
    /// What a capability is for, as it is now: the tools, and the model if it is about leaving.
    ///
    /// # Errors
    /// Never for names of this build.
    pub(super) fn definitions(&self, capability: &Capability) -> Result<BTreeMap<ToolName, Digest>, Error> {
        let name = capability.as_str().split(':').next().unwrap_or_default();
        let mut definitions = BTreeMap::new();
        for (tool, entry) in self.tools.iter() {
            let fits = match &entry.tool.definition().needs {
                Needs::Nothing => false,
                Needs::Capability(needed) => needed == capability.as_str(),
                Needs::Host => name == NET || name == LEAVE,
            };
            if fits {
                definitions.insert(tool.clone(), entry.hash);
            }
        }
        if name == LEAVE && matches!(self.model.about().site, Site::Remote(_)) {
            definitions.insert(ToolName::try_from(MODEL)?, canonical::hash_of(self.model.about())?);
        }
        Ok(definitions)
    }

    pub(super) fn granted(
        &self,
        grant: GrantFor,
        definitions: BTreeMap<ToolName, Digest>,
    ) -> Result<deed::Granted, Error> {
        let GrantFor { capability, acting, arguments, seconds } = grant;
        let seconds = seconds.unwrap_or(self.policy.grant_seconds);
        let held = i64::try_from(seconds).ok().filter(|_| (1..=GRANT_SECONDS_MAX).contains(&seconds));
        let held = held.ok_or(Refusal::Expiry)?;
        if self.policy.approver == Approver::SomebodyElse && *self.access.principal() == acting {
            return Err(Refusal::Proposer { acting }.into());
        }
        let now = self.clock.now()?.instant();
        Ok(deed::Granted {
            grant: format!("grant_{}", self.clock.fresh("grant")),
            capability: capability.to_string(),
            acting,
            arguments_hash: arguments,
            definitions,
            policy_hash: self.policy.hash()?,
            expires_at: Timestamp::try_from(Instant { seconds: now.seconds + held, ..now })?,
        })
    }
}

/// Decisions that a person takes outside a turn.
impl Session {
    /// Brings what the state says of capabilities up to what people said: what is granted, and what still waits.
    pub(super) fn decided(&self, state: &mut State) -> Result<(), Error> {
        let (grants, policy) = (&self.past.grants, self.policy_hash()?);
        let (acting, now) = (self.office.access.principal(), self.office.clock.now()?.instant());
        let holds = |grant: &&Grant| {
            grant.acting == *acting
                && grant.policy == policy
                && grant.expires > now
                && !grant.is_for_one_call()
        };
        let mut granted: Vec<_> =
            grants.all().iter().filter(holds).map(|grant| grant.capability.to_string()).collect();
        granted.sort();
        granted.dedup();
        let waits = |one: &String| grants.requests().iter().any(|request| request.capability.as_str() == one);
        state.capabilities_pending.retain(|one| waits(one) && !granted.contains(one));
        state.capabilities_granted = granted;
        Ok(())
    }

    /// Grants something, as whoever acts.
    ///
    /// # Errors
    /// The policy has somebody else decide, or the record can't be kept.
    pub async fn grant(&mut self, grant: GrantFor) -> Result<deed::Granted, Error> {
        let definitions = self.office.definitions(&grant.capability)?;
        if definitions.is_empty() {
            return Err(Refusal::Useless { capability: grant.capability }.into());
        }
        let deed = self.office.granted(grant, definitions)?;
        let signs = Arc::clone(&self.office.signs);
        let mut rows = self.rows()?;
        let is_signed = rows.decide(&deed, signs.as_ref())?;
        if self.office.policy.approver == Approver::SomebodyElse && !is_signed {
            return Err(Refusal::Unsigned { by: self.office.access.principal().clone() }.into());
        }
        rows.flush().await?;
        self.catch_up().await?;
        Ok(deed)
    }

    /// Denies what was asked for.
    ///
    /// # Errors
    /// Nothing of that waits for an answer, or the record can't be kept.
    pub async fn deny(&mut self, capability: &Capability, reason: Option<String>) -> Result<(), Error> {
        self.catch_up().await?;
        if !self.past.grants.requests().iter().any(|request| request.capability == *capability) {
            return Err(Error::Nothing { why: "nothing of that name waits for an answer" });
        }
        let deed = deed::Denied { capability: capability.to_string(), reason };
        self.take(&deed).await
    }

    /// Takes back every grant of a capability.
    ///
    /// # Errors
    /// Nothing of that is granted, or the record can't be kept.
    pub async fn revoke(&mut self, capability: &Capability, reason: Option<String>) -> Result<(), Error> {
        self.catch_up().await?;
        if !self.past.grants.all().iter().any(|grant| grant.capability == *capability) {
            return Err(Error::Nothing { why: "nothing of that name is granted" });
        }
        let deed = deed::Revoked { capability: capability.to_string(), reason };
        self.take(&deed).await
    }

    async fn take<D: deed::Deed>(&mut self, deed: &D) -> Result<(), Error> {
        let signs = Arc::clone(&self.office.signs);
        let mut rows = self.rows()?;
        rows.decide(deed, signs.as_ref())?;
        rows.flush().await?;
        self.catch_up().await
    }
}
