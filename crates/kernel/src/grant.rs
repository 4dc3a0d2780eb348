//! What people granted: the grants of a session, and whether one covers a call.
//! Owns: what a grant is bound to, and what makes it void. Must not: grant anything.

use crate::gate::Capability;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use countersign_record::deed;
use countersign_record::digest::Digest;
use countersign_record::id::{PrincipalId, ToolName};
use countersign_record::json::Json;
use countersign_record::row::{DataClass, Proof, Row};
use countersign_record::time::{Instant, Timestamp};

/// How long a grant may hold, in seconds: 30 days, and a minute for clocks that differ.
const SECONDS_MAX: i64 = 30 * 24 * 3_600 + 60;
/// Requests of a session that wait at once.
const REQUESTS_MAX: usize = 64;

/// Something that a person granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Its name.
    pub name: String,
    /// What.
    pub capability: Capability,
    /// Who granted it.
    pub by: PrincipalId,
    /// Who may use it.
    pub acting: PrincipalId,
    /// The arguments of the one call it is for.
    pub arguments: Option<Digest>,
    /// The tools it may be used with, as they were.
    pub definitions: BTreeMap<ToolName, Digest>,
    /// The policy, as it was.
    pub policy: Digest,
    /// From when on it is no more.
    pub expires: Instant,
    /// Whether whoever gave it signed it.
    pub is_signed: bool,
    /// Whether the one call it was for was made.
    is_used: bool,
}

/// What a grant is wanted for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use<'a> {
    /// Who acts.
    pub acting: &'a PrincipalId,
    /// With which tool.
    pub tool: &'a ToolName,
    /// As it is now.
    pub definition: Digest,
    /// With which arguments.
    pub arguments: Digest,
    /// The policy, as it is now.
    pub policy: Digest,
    /// Whether the policy has somebody else approve.
    pub approver: Approver,
    /// When.
    pub now: Instant,
}

/// Who may approve what somebody proposes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approver {
    /// Anybody who may decide.
    Anybody,
    /// Somebody else.
    SomebodyElse,
}

/// Why a grant does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Void {
    /// Its time is over.
    Expired,
    /// It is for somebody else.
    OtherPerson,
    /// It was given by the one who uses it, and the policy has somebody else approve.
    OwnProposal,
    /// Somebody else's word counts if it is signed.
    Unsigned,
    /// It would hold longer than any grant may: the clock was another when it was given.
    TooLong,
    /// It is for other arguments.
    OtherArguments,
    /// It was for one call, which was made.
    Used,
    /// The tool is not the one it was given for.
    ToolChanged,
    /// The policy is another.
    PolicyChanged,
}

impl fmt::Display for Void {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Void::Expired => "it has expired",
            Void::OtherPerson => "it was given to somebody else",
            Void::OwnProposal => "somebody else must approve what one proposes",
            Void::Unsigned => "whoever approved it has not signed it",
            Void::TooLong => "it would hold longer than any grant may",
            Void::OtherArguments => "it was given for other arguments",
            Void::Used => "it was given for one call, which was made",
            Void::ToolChanged => "the tool has changed since",
            Void::PolicyChanged => "the policy has changed since",
        })
    }
}

impl Grant {
    /// Whether it covers a use.
    ///
    /// # Errors
    /// Why not.
    pub fn covers(&self, wanted: &Use<'_>) -> Result<(), Void> {
        let is_proposers = wanted.approver == Approver::SomebodyElse && self.by == self.acting;
        match () {
            () if wanted.now >= self.expires => Err(Void::Expired),
            () if self.expires.seconds.saturating_sub(wanted.now.seconds) > SECONDS_MAX => Err(Void::TooLong),
            () if self.acting != *wanted.acting => Err(Void::OtherPerson),
            () if is_proposers => Err(Void::OwnProposal),
            () if wanted.approver == Approver::SomebodyElse && !self.is_signed => Err(Void::Unsigned),
            () if self.policy != wanted.policy => Err(Void::PolicyChanged),
            () if self.definitions.get(wanted.tool) != Some(&wanted.definition) => Err(Void::ToolChanged),
            () if self.arguments.is_some_and(|arguments| arguments != wanted.arguments) => {
                Err(Void::OtherArguments)
            }
            () if self.is_used => Err(Void::Used),
            () => Ok(()),
        }
    }

    /// For how long: one call, or until it expires.
    #[must_use]
    pub fn is_for_one_call(&self) -> bool {
        self.arguments.is_some()
    }
}

/// Something that was asked for and not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What.
    pub capability: Capability,
    /// For whom: who acted when it was asked for.
    pub acting: PrincipalId,
    /// In which turn it was asked for last.
    pub turn: u64,
    /// By what: a tool, `model` if the session is to be sent to one, `notes` if a model only wishes it.
    pub from: String,
    /// What exactly would be done, if a call asked: a blob.
    pub summary: Option<Digest>,
    /// With which arguments.
    pub arguments: Option<Digest>,
}

/// The grants and requests of a session: a fold of its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    grants: Vec<Grant>,
    requests: Vec<Request>,
    /// The last row of people's decisions that was taken in.
    pub seq: u64,
}

impl Grants {
    /// Takes the next row in: of people's decisions, or of the session's calls, which use grants up.
    pub fn apply(&mut self, row: &Row) {
        let text = |name: &str| row.payload.get(name).and_then(Json::as_str);
        let capability = text("capability").and_then(|text| Capability::try_from(text).ok());
        match (row.kind.as_str(), capability) {
            (deed::CAPABILITY_REQUESTED, Some(capability)) => self.request(row, capability),
            (deed::CAPABILITY_GRANTED, Some(capability)) => {
                let grant = granted(row, capability.clone());
                let is_answered = |request: &Request| {
                    let one_call = grant.as_ref().and_then(|grant| grant.arguments);
                    request.capability == capability && (one_call.is_none() || request.arguments == one_call)
                };
                self.requests.retain(|request| !is_answered(request));
                self.grants.extend(grant);
            }
            (deed::CAPABILITY_DENIED, Some(capability)) => {
                self.requests.retain(|request| request.capability != capability);
            }
            (deed::CAPABILITY_REVOKED, Some(capability)) => {
                self.grants.retain(|grant| grant.capability != capability);
            }
            (deed::TOOL_STARTED, _) => {
                for name in ["grant", "confirmation"].into_iter().filter_map(text) {
                    self.use_up(name);
                }
            }
            _ => {}
        }
    }

    /// A call is made with a grant: one that was for one call is no more.
    pub fn use_up(&mut self, name: &str) {
        let one_call = self.grants.iter_mut().filter(|grant| grant.is_for_one_call());
        for grant in one_call.filter(|grant| grant.name == name) {
            grant.is_used = true;
        }
    }

    fn request(&mut self, row: &Row, capability: Capability) {
        let arguments = digest(&row.payload, "arguments_hash");
        self.requests.retain(|request| request.capability != capability || request.arguments != arguments);
        if self.requests.len() >= REQUESTS_MAX {
            self.requests.remove(0);
        }
        self.requests.push(Request {
            capability,
            acting: row.actor.clone(),
            turn: number(&row.payload, "turn"),
            from: row.payload.get("from").and_then(Json::as_str).unwrap_or_default().into(),
            summary: digest(&row.payload, "summary"),
            arguments,
        });
    }

    /// All grants that were not taken back, also those that are void.
    #[must_use]
    pub fn all(&self) -> &[Grant] {
        &self.grants
    }

    /// What waits for an answer.
    #[must_use]
    pub fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// The grant of a capability that covers a use.
    ///
    /// # Errors
    /// Why the last one that was given does not; `None` if none was given.
    pub fn covering(&self, capability: &Capability, wanted: &Use<'_>) -> Result<&Grant, Option<Void>> {
        let mut void = None;
        for grant in self.grants.iter().rev().filter(|grant| grant.capability == *capability) {
            match grant.covers(wanted) {
                Ok(()) => return Ok(grant),
                Err(why) => void = void.or(Some(why)),
            }
        }
        Err(void)
    }

    /// What a use has, of all that was granted.
    #[must_use]
    pub fn held(&self, wanted: &Use<'_>) -> Vec<Capability> {
        let mut held: Vec<_> = self
            .grants
            .iter()
            .filter(|grant| grant.covers(wanted).is_ok())
            .map(|grant| grant.capability.clone())
            .collect();
        held.sort();
        held.dedup();
        held
    }
}

fn granted(row: &Row, capability: Capability) -> Option<Grant> {
    let payload = &row.payload;
    let text = |name: &str| payload.get(name).and_then(Json::as_str);
    let definitions = payload.get("definitions").and_then(Json::as_object)?;
    let definition = |(tool, hash): (&str, &Json)| {
        Some((ToolName::try_from(tool).ok()?, Digest::try_from(hash.as_str()?).ok()?))
    };
    Some(Grant {
        name: text("grant")?.into(),
        capability,
        by: row.actor.clone(),
        acting: PrincipalId::try_from(text("acting")?).ok()?,
        // A hash that can't be read must not make it a grant for everything.
        arguments: match payload.get("arguments_hash") {
            None | Some(Json::Null) => None,
            Some(value) => Some(Digest::try_from(value.as_str()?).ok()?),
        },
        definitions: definitions.iter().map(definition).collect::<Option<_>>()?,
        policy: digest(payload, "policy_hash")?,
        expires: Timestamp::try_from(text("expires_at")?).ok()?.instant(),
        is_signed: matches!(row.proof, Proof::Signed { .. }),
        is_used: false,
    })
}

pub(crate) fn digest(payload: &Json, name: &str) -> Option<Digest> {
    payload.get(name).and_then(Json::as_str).and_then(|text| Digest::try_from(text).ok())
}

pub(crate) fn number(payload: &Json, name: &str) -> u64 {
    match payload.get(name) {
        Some(Json::Number(number)) => number.as_u64().unwrap_or(0),
        _ => 0,
    }
}

/// Whether something may leave the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaving {
    /// It may.
    Free,
    /// If a person confirms it.
    Confirmed,
    /// It may not.
    Never,
}

impl Leaving {
    /// What holds for a data class.
    #[must_use]
    pub fn of(class: DataClass) -> Self {
        match class {
            DataClass::Public | DataClass::Internal => Leaving::Free,
            DataClass::Privileged => Leaving::Confirmed,
            DataClass::LocalOnly => Leaving::Never,
        }
    }
}
