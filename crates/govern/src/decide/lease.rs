//! Who holds a question that is to be answered from sources, and until when.
//! Owns: giving leases out, making them longer, answers under them, what becomes of a question when one runs out. Must not: find
//! an answer, or read a clock: a lease runs out by the time of the log.
//!
//! Nothing is decided on a question before [`settle`] has looked whether its lease has run out.

use super::{Span, folded, id_from, named, row};
use crate::machine::RESEARCH_NEED;
use crate::reference::Reference;
use crate::types::added::outcome::LifecycleTransitionReceipt;
use crate::types::basic::{Instant as At, Severity, StorageRef, V10};
use crate::types::reliance::{
    AttentionKind, AttentionLedgerItem, AttentionLedgerItemLifecycleState as ItemState,
};
use crate::types::research::{
    ResearchNeed, ResearchNeedLease, ResearchNeedLeaseOnExpiry as OnExpiry, ResearchNeedScope as Scope,
    ResearchNeedStatus as Status,
};
use crate::world::Draft;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::time::{Instant, Timestamp};

/// The engine, where a clock and not somebody moves a question.
const ENGINE: &str = "engine:lease_clock";

/// A lease, and when it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Held {
    lease: ResearchNeedLease,
    span: Span,
}

/// A question, and who holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    need: ResearchNeed,
    held: Option<Held>,
    tokens: BTreeSet<String>,
    attention: Option<AttentionLedgerItem>,
    /// How many transitions it has had.
    moves: u64,
    last: Instant,
}

/// What a decision gives to the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Emitted {
    /// A lease, new or longer.
    Lease(ResearchNeedLease),
    /// A receipt of a move.
    Moved(LifecycleTransitionReceipt),
    /// How the question stands then.
    Need(ResearchNeed),
    /// What tells a person.
    Attention(AttentionLedgerItem),
}

impl Emitted {
    /// As the row of a log.
    #[must_use]
    pub fn row(&self, at: &Timestamp) -> Draft {
        match self {
            Emitted::Lease(lease) => row(lease, at),
            Emitted::Moved(receipt) => row(receipt, at),
            Emitted::Need(need) => folded("ResearchNeed", need, at),
            Emitted::Attention(item) => folded("AttentionLedgerItem", item, at),
        }
    }
}

/// Why it is not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Refusal {
    /// What is asked for is not known by a name or says too little.
    #[error("a name is missing, or what it belongs to")]
    Unnamed,
    /// The log has gone on since then.
    #[error("the time is before what the log has")]
    TooEarly,
    /// Somebody holds the question, or it is no longer open.
    #[error("the question is held by somebody else or closed")]
    NotOpen,
    /// The token is not that of the live lease.
    #[error("the token is not that of the live lease")]
    DeadToken,
    /// The token was used before.
    #[error("the token was used before")]
    TokenReused,
    /// The lease would end before it begins, or before it ends now.
    #[error("the lease would end too early")]
    TooShort,
}

impl Refusal {
    /// The validation code that it would have if it were done.
    #[must_use]
    pub fn code(self) -> Option<&'static str> {
        match self {
            Refusal::NotOpen | Refusal::DeadToken => Some("research_need_double_leased"),
            Refusal::Unnamed | Refusal::TooEarly | Refusal::TokenReused | Refusal::TooShort => None,
        }
    }
}

/// What somebody asks for who wants to hold a question.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// Who.
    pub module_id: &'a str,
    /// By which it is known to hold it.
    pub token: &'a str,
    /// Until when.
    pub until: &'a Timestamp,
    /// What becomes of the question then.
    pub on_expiry: OnExpiry,
}

/// Who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By<'a> {
    /// Who holds the lease with this token.
    Lease(&'a str),
    /// A person, where one is needed.
    Person(&'a StorageRef),
}

impl Question {
    /// A question that was raised at a time.
    ///
    /// # Errors
    /// It is not open, says too little, or does not say what it belongs to.
    pub fn raise(need: ResearchNeed, at: &Timestamp) -> Result<(Self, Emitted), Refusal> {
        let belongs = match need.need_scope {
            Scope::Run => need.run_id.as_ref().is_some_and(|run| !run.trim().is_empty()),
            Scope::Task => need.run_id.is_none() && !need.task_id.trim().is_empty(),
            Scope::Workspace => need.run_id.is_none() && !need.workspace_id.trim().is_empty(),
        };
        if named("research_need", &need.need_id).is_none() || !belongs || need.question.trim().is_empty() {
            return Err(Refusal::Unnamed);
        }
        if need.status != Status::Open || need.answer_ref.is_some() {
            return Err(Refusal::NotOpen);
        }
        let emitted = Emitted::Need(need.clone());
        let (tokens, last) = (BTreeSet::new(), at.instant());
        Ok((Question { need, held: None, tokens, attention: None, moves: 0, last }, emitted))
    }

    /// A question as a log left it: how it stands, the leases on it in order, how often it moved, what tells a person of it.
    #[must_use]
    pub fn again(
        need: ResearchNeed,
        leases: &[ResearchNeedLease],
        moves: u64,
        attention: Option<AttentionLedgerItem>,
        at: &Timestamp,
    ) -> Self {
        let is_held = need.status == Status::Leased;
        let held = leases.last().filter(|_| is_held).and_then(|lease| {
            let time = |at: &At| Timestamp::try_from(at.as_str()).ok().map(|at| at.instant());
            let span = Span { start: time(&lease.acquired_at)?, end: time(&lease.expires_at)? };
            Some(Held { lease: lease.clone(), span })
        });
        let tokens = leases.iter().map(|lease| lease.lease_token.clone()).collect();
        Question { need, held, tokens, attention, moves, last: at.instant() }
    }

    /// How it stands.
    #[must_use]
    pub fn need(&self) -> &ResearchNeed {
        &self.need
    }

    /// The lease that is live at a time.
    #[must_use]
    pub fn live(&self, at: Instant) -> Option<&ResearchNeedLease> {
        self.held.as_ref().filter(|held| held.span.holds(at)).map(|held| &held.lease)
    }

    /// Whether an answer at a time may stand: under the live lease, or by a person where one is needed.
    #[must_use]
    pub fn may_be_answered(&self, lease: Option<&StorageRef>, at: Instant) -> bool {
        match lease.map(|lease| Reference::read(lease.as_str())) {
            Some(Some(to)) => {
                let token = self.live(at).map(|lease| lease.lease_token.as_str());
                to.kind == "research_need_lease" && token == Some(to.id)
            }
            Some(None) => false,
            None => self.need.status == Status::HumanNeeded,
        }
    }
}

/// A question as it stands at a time: a lease that has run out is no longer there. What is refused leaves it as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    question: Question,
    at: Timestamp,
    emitted: Vec<Emitted>,
}

/// Looks whether the lease of a question has run out.
///
/// # Errors
/// The time is before what the log has.
pub fn settle(question: Question, at: &Timestamp) -> Result<Settled, Refusal> {
    if at.instant() < question.last {
        return Err(Refusal::TooEarly);
    }
    let mut settled = Settled { question, at: at.clone(), emitted: Vec::new() };
    settled.question.last = at.instant();
    let ended = settled.question.held.take_if(|held| held.span.end <= at.instant());
    if let Some(Held { lease, .. }) = ended {
        let why = format!("the lease of {} ran out", lease.leased_by_module_id);
        let to = match lease.on_expiry {
            OnExpiry::ReleaseForReclaim => Status::Open,
            OnExpiry::Escalate => Status::HumanNeeded,
            OnExpiry::MarkAbandoned => Status::Unresolved,
        };
        settled.go(to, None, &why);
    }
    Ok(settled)
}

impl Settled {
    /// The question, and what is appended on the way.
    #[must_use]
    pub fn done(self) -> (Question, Vec<Emitted>) {
        (self.question, self.emitted)
    }

    /// How it stands.
    #[must_use]
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// Lets somebody hold it.
    ///
    /// # Errors
    /// It is held or closed, or what is asked for can't be.
    pub fn grant(&mut self, ask: &Ask<'_>) -> Result<(), Refusal> {
        let is_named =
            named("module", ask.module_id).is_some() && named("research_need_lease", ask.token).is_some();
        if !is_named {
            return Err(Refusal::Unnamed);
        }
        if self.question.need.status != Status::Open {
            return Err(Refusal::NotOpen);
        }
        let span = Span { start: self.at.instant(), end: ask.until.instant() };
        if span.end <= span.start {
            return Err(Refusal::TooShort);
        }
        if !self.question.tokens.insert(ask.token.to_string()) {
            return Err(Refusal::TokenReused);
        }
        let lease = ResearchNeedLease {
            need_id: self.question.need.need_id.clone(),
            leased_by_module_id: ask.module_id.to_string(),
            lease_token: ask.token.to_string(),
            acquired_at: At::from(&self.at),
            expires_at: At::from(ask.until),
            on_expiry: ask.on_expiry,
            satisfied_by_result_ref: None,
            schema_version: V10,
        };
        self.emitted.push(Emitted::Lease(lease.clone()));
        self.question.held = Some(Held { lease, span });
        self.stand(Status::Leased);
        Ok(())
    }

    /// Lets the holder hold it longer.
    ///
    /// # Errors
    /// The token is not that of the live lease, or it would not be longer.
    pub fn renew(&mut self, token: &str, until: &Timestamp) -> Result<(), Refusal> {
        let at = At::from(&self.at);
        let held = self.question.held.as_mut().filter(|held| held.lease.lease_token == token);
        let held = held.ok_or(Refusal::DeadToken)?;
        if until.instant() <= held.span.end {
            return Err(Refusal::TooShort);
        }
        held.span.end = until.instant();
        held.lease.expires_at = At::from(until);
        let lease = ResearchNeedLease { acquired_at: at, ..held.lease.clone() };
        self.emitted.push(Emitted::Lease(lease));
        Ok(())
    }

    /// Takes an answer.
    ///
    /// # Errors
    /// Who answers does not hold the question, or no person was asked.
    pub fn answer(&mut self, by: By<'_>, answer_ref: &StorageRef) -> Result<(), Refusal> {
        let holder = |held: &Held| named("module", &held.lease.leased_by_module_id);
        let actor = match by {
            By::Lease(token) => {
                let held = self.question.held.as_ref().filter(|held| held.lease.lease_token == token);
                held.map(holder).ok_or(Refusal::DeadToken)?
            }
            By::Person(person) if self.question.need.status == Status::HumanNeeded => Some(person.clone()),
            By::Person(_) => return Err(Refusal::NotOpen),
        };
        self.question.held = None;
        self.question.need.answer_ref = Some(answer_ref.clone());
        self.go(Status::Answered, actor, "answered");
        Ok(())
    }

    /// Hands it to a person, back to research, gives it up or cancels it. Nobody takes a lease or answers by this.
    ///
    /// # Errors
    /// The table has no such way from here.
    pub fn hand(&mut self, to: Status, by: &StorageRef, why: &str) -> Result<(), Refusal> {
        let is_other = match to {
            Status::Open | Status::HumanNeeded | Status::Unresolved | Status::Cancelled => false,
            Status::Leased | Status::Answered => true,
        };
        if is_other || !RESEARCH_NEED.allows(self.question.need.status.as_str(), to.as_str()) {
            return Err(Refusal::NotOpen);
        }
        self.question.held = None;
        self.go(to, Some(by.clone()), why);
        Ok(())
    }

    /// Moves on with a receipt. Who waits for a person has one told; who no longer does has that closed.
    fn go(&mut self, to: Status, actor: Option<StorageRef>, why: &str) {
        let from = self.question.need.status;
        assert!(RESEARCH_NEED.allows(from.as_str(), to.as_str()), "a question moves by its table");
        let id = self.question.need.need_id.clone();
        let subject = named("research_need", &id);
        self.moved(subject.clone(), (from.as_str(), to.as_str()), actor.clone(), why);
        let need = &mut self.question.need;
        match to {
            Status::HumanNeeded => need.human_needed_reason = Some(why.to_string()),
            Status::Unresolved => need.unresolved_reason = Some(why.to_string()),
            Status::Open | Status::Leased | Status::Answered | Status::Cancelled => {}
        }
        let item = self.question.attention.take();
        if let Some(item) = item.filter(|_| to != Status::HumanNeeded) {
            self.moved(named("attention_ledger_item", &item.item_id), ("open", "resolved"), actor, why);
            let resolved_at = Some(At::from(&self.at));
            let item = AttentionLedgerItem { lifecycle_state: ItemState::Resolved, resolved_at, ..item };
            self.emitted.push(Emitted::Attention(item));
        }
        if let Some(source_ref) = subject.filter(|_| to == Status::HumanNeeded) {
            let item = self.attention(source_ref);
            self.emitted.push(Emitted::Attention(item.clone()));
            self.question.attention = Some(item);
        }
        self.stand(to);
    }

    fn attention(&self, source_ref: StorageRef) -> AttentionLedgerItem {
        let need = &self.question.need;
        AttentionLedgerItem {
            item_id: id_from("attention", &[&need.need_id, &self.question.moves.to_string()]),
            task_id: need.task_id.clone(),
            run_id: need.run_id.clone(),
            matter_id: None,
            attention_kind: AttentionKind::ResearchNeedHuman,
            source_ref,
            summary: need.question.clone(),
            priority: Severity::High,
            command_ref: Some("attention.resolve_item".to_string()),
            lifecycle_state: ItemState::Open,
            created_at: At::from(&self.at),
            resolved_at: None,
            schema_version: V10,
        }
    }

    fn moved(
        &mut self,
        subject: Option<StorageRef>,
        (from, to): (&str, &str),
        actor: Option<StorageRef>,
        why: &str,
    ) {
        let actor = actor.or_else(|| StorageRef::try_from(ENGINE).ok());
        if let Some((subject_ref, actor_ref)) = subject.zip(actor) {
            self.question.moves += 1;
            let parts = [subject_ref.as_str(), &self.question.moves.to_string()];
            let receipt = LifecycleTransitionReceipt {
                receipt_id: id_from("moved", &parts),
                from_state: from.to_string(),
                to_state: to.to_string(),
                actor_ref,
                reason: why.to_string(),
                created_at: At::from(&self.at),
                schema_version: Some(V10),
                subject_ref,
            };
            self.emitted.push(Emitted::Moved(receipt));
        }
    }

    fn stand(&mut self, status: Status) {
        let need = &mut self.question.need;
        (need.status, need.updated_at) = (status, At::from(&self.at));
        self.emitted.push(Emitted::Need(need.clone()));
    }
}
