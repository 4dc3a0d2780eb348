//! What may be done: a call that is asked for, something that would leave, a grant that a person gives.
//! Owns: finding what covers it, asking a person, recording the answer. Must not: make the call.

use super::call::Ready;
use super::turn::Turn;
use super::{Error, Office, Session};
use crate::ports::model::{NoAnswer, Site};
use crate::ports::session::{Decision, Question};
use crate::ports::tool::{NotDone, Plan};
use countersign_kernel::gate::{self, Capability, Need, Reach};
use countersign_kernel::grant::{Approver, Grants, Leaving, Use};
use countersign_kernel::policy::GRANT_SECONDS_MAX;
use countersign_record::canonical;
use countersign_record::code::Code;
use countersign_record::deed;
use countersign_record::digest::Digest;
use countersign_record::id::{PrincipalId, ToolName};
use countersign_record::json::Object;
use countersign_record::time::{Instant, Timestamp};
use countersign_record::tool::{Definition, Effect, Needs};
use countersign_record::trace::Kind;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The name under which a grant is bound to the model that answers.
const MODEL: &str = "model";
/// The name of what lets privileged content leave.
const LEAVE: &str = "leave";

/// Why a decision is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Who proposes can't approve.
    #[error("the policy has somebody else approve what {acting} proposes")]
    Proposer {
        /// Who acts.
        acting: PrincipalId,
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

/// Why a call is not made, and what would allow it.
type Refused = (NotDone, Option<String>);

impl Turn<'_> {
    /// Checks a call, and finds or asks for what it needs.
    pub(super) async fn prepare(
        &mut self,
        tool: &str,
        args: Object,
        grants: &Grants,
    ) -> Result<Result<Ready, Refused>, Error> {
        let office = self.session.office.clone();
        let checked = office.tools.find(tool).and_then(|(name, entry)| {
            let arguments = entry.check(&args)?;
            let plan = entry.tool.plan(&args)?;
            Ok((name.clone(), Arc::clone(&entry.tool), entry.hash, arguments, plan))
        });
        let (name, tool, definition, arguments, plan) = match checked {
            Ok(checked) => checked,
            Err(refused) => return Ok(Err((refused, None))),
        };
        let need = match need(tool.definition(), &plan) {
            Ok(need) => need,
            Err(refused) => return Ok(Err((refused, None))),
        };
        let wanted = Wanted {
            name: &name,
            definition,
            arguments,
            summary: &plan.summary,
            effect: tool.definition().effect,
        };
        let mut reach = self.reach(&wanted, grants)?;
        let mut grant = None;
        let permitted = match gate::permit(args.clone(), &need, reach.clone()) {
            Ok(permitted) => {
                grant = self.grant_of(&wanted, grants, &need)?;
                permitted
            }
            Err(missing) => match self.decide(&wanted, grants, &missing).await? {
                Ok(name) => {
                    grant = Some(name).filter(|name| !name.is_empty()).or(grant);
                    reach.granted.push(missing.clone());
                    match gate::permit(args, &need, reach) {
                        Ok(permitted) => permitted,
                        Err(missing) => return Ok(Err((denied(&missing), Some(missing.to_string())))),
                    }
                }
                Err(refused) => return Ok(Err((refused, Some(missing.to_string())))),
            },
        };
        let confirmation = match &plan.sends_to {
            None => None,
            Some(place) => match self.may_leave(&wanted, grants, &place.to_string()).await? {
                Ok(confirmation) => confirmation,
                Err(refused) => {
                    self.externalized(
                        "external_source_query",
                        &place.to_string(),
                        "blocked_by_policy",
                        None,
                    )?;
                    return Ok(Err((refused, None)));
                }
            },
        };
        Ok(Ok(Ready { tool, plan, permitted, arguments, definition, grant, confirmation }))
    }

    /// Whether what the session holds may be sent to the model.
    pub(super) async fn may_send_to_model(
        &mut self,
        host: &str,
    ) -> Result<Result<Option<String>, NoAnswer>, Error> {
        let about = self.session.office.model.about().clone();
        let name = ToolName::try_from(MODEL)?;
        let definition = canonical::hash_of(&about)?;
        let summary = format!("send this session to {} at {host}", about.model);
        let wanted = Wanted {
            name: &name,
            definition,
            arguments: Digest::of(host.as_bytes()),
            summary: &summary,
            effect: Effect::Irreversible,
        };
        let grants = self.session.past.grants.clone();
        match self.may_leave(&wanted, &grants, host).await? {
            Ok(confirmation) => Ok(Ok(confirmation)),
            Err(NotDone { code, message }) => {
                self.externalized("api_call", host, "blocked_by_policy", None)?;
                Ok(Err(NoAnswer { code, message, attempts: 0 }))
            }
        }
    }

    /// Whether what the session holds may go to a host. Privileged content needs a person's word for that host.
    async fn may_leave(
        &mut self,
        wanted: &Wanted<'_>,
        grants: &Grants,
        host: &str,
    ) -> Result<Result<Option<String>, NotDone>, Error> {
        match Leaving::of(self.label.data_class) {
            Leaving::Free => Ok(Ok(None)),
            Leaving::Never => {
                let message = "the session holds something that must not leave this machine";
                Ok(Err(NotDone::new(Code::LeavingLocalOnly, message)))
            }
            Leaving::Confirmed => {
                let Ok(capability) = Capability::try_from(&*format!("{LEAVE}:{host}")) else {
                    return Ok(Err(NotDone::new(Code::LeavingUnconfirmed, "the host has no name")));
                };
                let usage = self.usage_of(wanted)?;
                if let Ok(grant) = grants.covering(&capability, &usage) {
                    return Ok(Ok(Some(format!("grant:{}", grant.name))));
                }
                let decided = self.decide(wanted, grants, &capability).await?;
                Ok(decided.map(|grant| Some(format!("grant:{grant}"))).map_err(|_| {
                    let message = format!(
                        "privileged content may go to {host} only if a person confirms it ({capability})"
                    );
                    NotDone::new(Code::LeavingUnconfirmed, message)
                }))
            }
        }
    }

    fn usage_of<'u>(&'u self, wanted: &Wanted<'u>) -> Result<Use<'u>, Error> {
        let office = &self.session.office;
        Ok(Use {
            acting: office.access.principal(),
            tool: wanted.name,
            definition: wanted.definition,
            arguments: wanted.arguments,
            policy: self.policy,
            approver: office.policy.approver,
            now: office.clock.now()?.instant(),
        })
    }

    /// What a call has: what the policy allows, and what people granted.
    fn reach(&self, wanted: &Wanted<'_>, grants: &Grants) -> Result<Reach, Error> {
        let policy = &self.session.office.policy;
        let mut granted = grants.held(&self.usage_of(wanted)?);
        granted.extend(policy.allow.iter().cloned());
        Ok(Reach { granted, hosts: policy.hosts.clone() })
    }

    fn grant_of(&self, wanted: &Wanted<'_>, grants: &Grants, need: &Need) -> Result<Option<String>, Error> {
        let capability = match need {
            Need::Nothing => return Ok(None),
            Need::Capability(capability) => capability.clone(),
            Need::Place(place) => Capability::of_place(place),
        };
        let usage = self.usage_of(wanted)?;
        Ok(grants.covering(&capability, &usage).ok().map(|grant| grant.name.clone()))
    }

    /// Asks a person for a capability, and records both the question and the answer. Gives the grant's name.
    async fn decide(
        &mut self,
        wanted: &Wanted<'_>,
        grants: &Grants,
        capability: &Capability,
    ) -> Result<Result<String, NotDone>, Error> {
        let office = self.session.office.clone();
        self.rows.request(&deed::Requested {
            capability: capability.to_string(),
            turn: self.number,
            from: wanted.name.to_string(),
            summary: Some(wanted.summary.to_owned()),
            arguments_hash: Some(wanted.arguments),
        })?;
        let void = grants.covering(capability, &self.usage_of(wanted)?).err().flatten();
        let question = Question {
            tool: Some(wanted.name.clone()).filter(|name| name.as_str() != MODEL),
            summary: wanted.summary.to_owned(),
            effect: wanted.effect,
            capability: capability.to_string(),
            void: void.map(|void| void.to_string()),
        };
        let decision = match office.policy.approver {
            Approver::Anybody => office.person.decide(&question).await,
            // Whoever sits here proposed it.
            Approver::SomebodyElse => Decision::Nobody,
        };
        let arguments = match decision {
            Decision::Once => Some(wanted.arguments),
            Decision::Session => None,
            Decision::No => {
                let deed = deed::Denied { capability: capability.to_string(), reason: None };
                self.rows.decide(&deed, office.signs.as_ref())?;
                return Ok(Err(NotDone::new(Code::ToolDenied, format!("a person denied {capability}"))));
            }
            Decision::Nobody => {
                notes_pending(&mut self.talk.state.capabilities_pending, capability);
                let why =
                    question.void.map(|void| format!(" (a grant was given, but {void})")).unwrap_or_default();
                let message = format!("{capability} is not granted{why}; an operator can grant it");
                return Ok(Err(NotDone::new(Code::ToolDenied, message)));
            }
        };
        let grant = GrantFor {
            capability: capability.clone(),
            acting: office.access.principal().clone(),
            arguments,
            seconds: None,
        };
        let definitions = BTreeMap::from([(wanted.name.clone(), wanted.definition)]);
        let definitions = match decision {
            Decision::Session => office.definitions(capability)?,
            Decision::Once | Decision::No | Decision::Nobody => definitions,
        };
        let deed = office.granted(grant, definitions)?;
        self.rows.decide(&deed, office.signs.as_ref())?;
        Ok(Ok(deed.grant))
    }

    /// Writes the receipt for something that left, or was kept from it.
    pub(super) fn externalized(
        &mut self,
        kind: &str,
        host: &str,
        status: &str,
        confirmation: Option<String>,
    ) -> Result<(), Error> {
        let deed =
            self.session.externalization((self.number, self.policy), kind, host, status, confirmation)?;
        self.rows.put(&deed, self.label, Vec::new())?;
        self.event(
            Kind::Externalize,
            Object::from([("host", host.into()), ("status", status.into()), ("kind", kind.into())]),
        );
        Ok(())
    }
}

/// What a decision is about.
struct Wanted<'a> {
    name: &'a ToolName,
    definition: Digest,
    arguments: Digest,
    summary: &'a str,
    effect: Effect,
}

fn need(definition: &Definition, plan: &Plan) -> Result<Need, NotDone> {
    let broken = || NotDone::new(Code::ToolFailed, "the tool does not say what it needs");
    match (&definition.needs, &plan.sends_to) {
        (Needs::Nothing, _) => Ok(Need::Nothing),
        (Needs::Capability(name), _) => {
            Capability::try_from(name.as_str()).map(Need::Capability).map_err(|_| broken())
        }
        (Needs::Host, Some(place)) => Ok(Need::Place(place.clone())),
        (Needs::Host, None) => Err(broken()),
    }
}

fn denied(capability: &Capability) -> NotDone {
    NotDone::new(Code::ToolDenied, format!("{capability} is not granted"))
}

fn notes_pending(pending: &mut Vec<String>, capability: &Capability) {
    if !pending.iter().any(|one| one == capability.as_str()) {
        pending.push(capability.to_string());
    }
}

impl Session {
    /// The contract's receipt.
    pub(super) fn externalization(
        &self,
        (turn, policy): (u64, Digest),
        kind: &str,
        host: &str,
        status: &str,
        confirmation: Option<String>,
    ) -> Result<deed::Externalized, Error> {
        let office = &self.office;
        Ok(deed::Externalized {
            receipt_id: format!("ext_{}", office.clock.fresh("externalization")),
            externalization_kind: kind.to_owned(),
            workspace_id: office.access.matter().to_string(),
            source_record_refs: vec![format!("session:{}@{turn}", self.name)],
            destination_ref: format!("host:{host}"),
            policy_ref: format!("policy:{policy}"),
            user_confirmation_ref: confirmation,
            status: status.to_owned(),
            irreversible_disclosure_possible: status != "blocked_by_policy",
            created_at: office.clock.now()?,
            schema_version: "1.0".to_owned(),
        })
    }
}

impl Office {
    /// What a capability is for, as it is now: the tools, and the model if it is about leaving.
    ///
    /// # Errors
    /// Never for names of this build.
    fn definitions(&self, capability: &Capability) -> Result<BTreeMap<ToolName, Digest>, Error> {
        let name = capability.as_str().split(':').next().unwrap_or_default();
        let mut definitions = BTreeMap::new();
        for (tool, entry) in self.tools.iter() {
            let fits = match &entry.tool.definition().needs {
                Needs::Nothing => false,
                Needs::Capability(needed) => needed == capability.as_str(),
                Needs::Host => name == "net" || name == LEAVE,
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

    fn granted(
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
    /// Grants something, as whoever acts.
    ///
    /// # Errors
    /// The policy has somebody else decide, or the record can't be kept.
    pub async fn grant(&mut self, grant: GrantFor) -> Result<deed::Granted, Error> {
        let definitions = self.office.definitions(&grant.capability)?;
        let deed = self.office.granted(grant, definitions)?;
        let signs = Arc::clone(&self.office.signs);
        let mut rows = self.rows()?;
        rows.decide(&deed, signs.as_ref())?;
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
