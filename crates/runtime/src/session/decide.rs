//! What may be done: a call that is asked for, something that would leave, a grant that a person gives.
//! Owns: finding what covers it, asking a person, recording the answer. Must not: make the call.

use super::call::Ready;
use super::person::GrantFor;
use super::turn::Turn;
use super::{Error, Session};
use crate::ports::model::NoAnswer;
use crate::ports::session::{Decision, Question};
use crate::ports::tool::{NotDone, Plan};
use countersign_kernel::gate::{self, Capability, Need, Reach};
use countersign_kernel::grant::{Approver, Grants, Leaving, Use};
use countersign_record::canonical;
use countersign_record::code::Code;
use countersign_record::deed;
use countersign_record::digest::Digest;
use countersign_record::id::ToolName;
use countersign_record::json::{self, Json, Object};
use countersign_record::row::BlobBytes;
use countersign_record::session::State;
use countersign_record::tool::{Definition, Effect, Needs};
use countersign_record::trace::Kind;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The name under which a grant is bound to the model that answers.
pub(super) const MODEL: &str = "model";
/// The name of what lets privileged content leave.
pub(super) const LEAVE: &str = "leave";
/// The name of what reaches every host.
pub(super) const NET: &str = "net";

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
        let detail = json::to_text(&Json::Object(args.clone()))?;
        let wanted = Wanted {
            name: &name,
            definition,
            arguments,
            summary: &plan.summary,
            detail: &detail,
            effect: tool.definition().effect,
        };
        let mut reach = self.reach(&wanted, grants)?;
        let (permitted, grant) = match gate::permit(args.clone(), &need, reach.clone()) {
            Ok(permitted) => (permitted, self.grant_of(&wanted, grants, &need)?),
            Err(missing) => match self.decide(&wanted, grants, &missing).await? {
                Ok(name) => {
                    reach.granted.push(missing);
                    match gate::permit(args, &need, reach) {
                        Ok(permitted) => (permitted, Some(name)),
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
            // Once is for this turn, however often the model is asked in it.
            arguments: Digest::of(format!("{host} {}", self.number).as_bytes()),
            summary: &summary,
            detail: "",
            effect: Effect::Irreversible,
        };
        let grants = match Leaving::of(self.label.data_class) {
            Leaving::Confirmed => self.grants().await?,
            Leaving::Free | Leaving::Never => Grants::default(),
        };
        match self.may_leave(&wanted, &grants, host).await? {
            Ok(confirmation) => Ok(Ok(confirmation.map(|grant| format!("grant:{grant}")))),
            Err(NotDone { code, message }) => {
                self.externalized("api_call", host, "blocked_by_policy", None)?;
                Ok(Err(NoAnswer { code, message, attempts: 0 }))
            }
        }
    }

    /// Whether what the session holds may go to a host. Privileged content needs a person's word for that host: the name
    /// of the grant.
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
                    return Ok(Ok(Some(grant.name.clone())));
                }
                let decided = self.decide(wanted, grants, &capability).await?;
                Ok(decided.map(Some).map_err(|_| {
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
            now: self.session.now()?,
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
        let capabilities = match need {
            Need::Nothing => return Ok(None),
            Need::Capability(capability) => vec![capability.clone()],
            // What is for one host is used before what is for all.
            Need::Place(place) => {
                let all = Capability::try_from(NET).ok();
                std::iter::once(Capability::of_place(place)).chain(all).collect()
            }
        };
        let usage = self.usage_of(wanted)?;
        let covering = capabilities.iter().find_map(|one| grants.covering(one, &usage).ok());
        Ok(covering.map(|grant| grant.name.clone()))
    }

    /// What is granted as of now, without what this turn has used up. Who asks keeps the answer for all calls of a reply:
    /// what is granted while they are made counts from the next reply on.
    pub(super) async fn grants(&mut self) -> Result<Grants, Error> {
        if self.rows.holds_grants() {
            self.rows.flush().await?;
        }
        self.session.catch_up_decisions().await?;
        let mut grants = self.session.past.grants.clone();
        self.used.iter().for_each(|name| grants.use_up(name));
        Ok(grants)
    }

    /// Records what is asked of people, and asks the one who is there. Also says why a grant that was given does not count.
    async fn ask_person(
        &mut self,
        wanted: &Wanted<'_>,
        grants: &Grants,
        capability: &Capability,
    ) -> Result<(Decision, Option<String>), Error> {
        let office = self.session.office.clone();
        let summary = BlobBytes::new(wanted.summary.as_bytes().to_vec())?;
        let asked = deed::Requested {
            capability: capability.to_string(),
            turn: self.number,
            from: wanted.name.to_string(),
            summary: Some(summary.digest()),
            arguments_hash: Some(wanted.arguments),
        };
        self.rows.request(&asked, self.label, vec![summary])?;
        let void = grants.covering(capability, &self.usage_of(wanted)?).err().flatten();
        let question = Question {
            tool: Some(wanted.name.clone()).filter(|name| name.as_str() != MODEL),
            summary: wanted.summary.to_owned(),
            effect: wanted.effect,
            capability: capability.to_string(),
            void: void.map(|void| void.to_string()),
            detail: wanted.detail.to_owned(),
        };
        let decision = match office.policy.approver {
            Approver::Anybody => {
                // A person may take an hour: what happened until then is durable, and others can see what is asked.
                if office.person.is_there() {
                    self.rows.flush().await?;
                }
                office.person.decide(&question).await
            }
            // Whoever sits here proposed it.
            Approver::SomebodyElse => Decision::Nobody,
        };
        Ok((decision, question.void))
    }

    /// Asks a person for a capability, and records both the question and the answer. Gives the grant's name.
    async fn decide(
        &mut self,
        wanted: &Wanted<'_>,
        grants: &Grants,
        capability: &Capability,
    ) -> Result<Result<String, NotDone>, Error> {
        let office = self.session.office.clone();
        let (decision, void) = self.ask_person(wanted, grants, capability).await?;
        let arguments = match decision {
            Decision::Once => Some(wanted.arguments),
            Decision::Session => None,
            Decision::No => {
                let deed = deed::Denied { capability: capability.to_string(), reason: None };
                self.rows.decide(&deed, office.signs.as_ref())?;
                return Ok(Err(NotDone::new(Code::ToolDenied, format!("a person denied {capability}"))));
            }
            Decision::Cancelled => {
                // It was asked for, and waits as if nobody had been there.
                self.cancel.cancel();
                waits(&mut self.talk.state, capability.as_str());
                let message = format!("{capability} is not granted: the turn was cancelled");
                return Ok(Err(NotDone::new(Code::ToolDenied, message)));
            }
            Decision::Nobody => {
                self.waiting += 1;
                waits(&mut self.talk.state, capability.as_str());
                let why = void.map(|void| format!(" (a grant was given, but {void})")).unwrap_or_default();
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
            Decision::Once | Decision::No | Decision::Nobody | Decision::Cancelled => definitions,
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
    /// The arguments, as a person is shown them.
    detail: &'a str,
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

/// Notes that something waits for an answer. What waits is not granted, or not for this.
pub(super) fn waits(state: &mut State, capability: &str) {
    state.capabilities_granted.retain(|one| one != capability);
    if !state.capabilities_pending.iter().any(|one| one == capability) {
        state.capabilities_pending.push(capability.to_owned());
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
