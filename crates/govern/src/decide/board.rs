//! What comes on the board of a run, and who sees it.
//! Owns: publishing by itself and its limits, what is withheld and why, which reader sees what. Must not: render anything, or let
//! anything of one matter depend on another.

use super::{id_from, named};
use crate::derive::taint;
use crate::types::added::showing::RunBoardDigest;
use crate::types::basic::{DataClass, Instant as At, StorageRef, V10};
use crate::types::board::{
    RunBoardAuditEvent, RunBoardGovernanceEnvelope, RunBoardGovernanceEnvelopeVisibilityScope as Scope,
    RunBoardPublicationPolicy, RunBoardPublicationPolicySuppressDataClasses as Suppressed,
    RunBoardVisiblePost, RunBoardVisiblePostLifecycleState as PostState,
    RunBoardVisiblePostWithheldReason as Reason,
};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::time::{Instant, Timestamp};

/// When something was posted, and its place behind others of that time.
pub type Moment = (Option<Instant>, u64);

/// What was posted by itself in a run, in order, as one matter may know it: its own posts, and those of no matter. What another
/// matter posts never counts, else the limits would tell of it.
#[derive(Clone, Copy, Debug)]
pub struct Pace<'a> {
    /// Of the matter.
    pub own: &'a [Moment],
    /// Of no matter; empty if `own` is those.
    pub shared: &'a [Moment],
}

impl Pace<'_> {
    /// How many were posted before.
    #[must_use]
    pub fn before(&self, this: Moment) -> u64 {
        let count = |posts: &[Moment]| posts.partition_point(|one| *one < this) as u64;
        count(self.own) + count(self.shared)
    }

    /// Whether the minute up to a post has had as many as it may.
    #[must_use]
    pub fn is_minute_full(&self, this: Moment, limit: u64) -> bool {
        let Some(at) = this.0 else { return false };
        let is_old = |one: &Moment| one.0.is_none_or(|time| time.millis_until(at) >= 60_000);
        let old = |posts: &[Moment]| posts.partition_point(is_old) as u64;
        self.before(this).saturating_sub(old(self.own) + old(self.shared)) >= limit
    }
}

/// The posts of runs that count against their limits, by matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Board {
    runs: BTreeMap<String, BTreeMap<Option<String>, Vec<Moment>>>,
}

/// Who put something on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author<'a> {
    /// Nobody: it comes by itself, if a policy says so.
    Nobody,
    /// A person, by this command.
    Person(&'a StorageRef),
}

/// Whether a policy withholds an event for what it holds.
#[must_use]
pub fn withheld(
    policy: &RunBoardPublicationPolicy,
    governance: &RunBoardGovernanceEnvelope,
) -> Option<Reason> {
    let is_suppressed = |class: Suppressed| policy.suppress_data_classes.contains(&class);
    let class = match governance.data_class {
        DataClass::Privileged => Some((Suppressed::Privileged, Reason::Privileged)),
        DataClass::LocalOnly => Some((Suppressed::LocalOnly, Reason::LocalOnly)),
        DataClass::Public | DataClass::Internal => None,
    };
    let by_class = class.filter(|(class, _)| is_suppressed(*class)).map(|(_, reason)| reason);
    let by_privilege =
        (governance.privileged && is_suppressed(Suppressed::Privileged)).then_some(Reason::Privileged);
    let by_policy = governance.redaction_required.then_some(Reason::Policy);
    by_class.or(by_privilege).or(by_policy)
}

impl Board {
    /// The post of an event; `None` if it stays off the board. `rendered` is what readers would be shown.
    #[must_use]
    pub fn publish(
        &self,
        policy: &RunBoardPublicationPolicy,
        event: &RunBoardAuditEvent,
        author: Author<'_>,
        rendered: &StorageRef,
        at: &Timestamp,
    ) -> Option<RunBoardVisiblePost> {
        let action = match author {
            Author::Nobody => None,
            Author::Person(action) => Some(action.clone()),
        };
        let is_listed = policy.auto_publish_event_classes.contains(&event.event_class);
        if !is_listed && action.is_none() {
            return None;
        }
        let held = withheld(policy, &event.governance);
        let is_private = event.governance.visibility_scope == Scope::PrivateAuditOnly;
        let is_over = || action.is_none() && self.is_full(policy, event, at);
        let reason = held.or_else(|| is_over().then_some(Reason::VolumeCap));
        if is_private && held.is_none() || reason.is_some() && !policy.publish_redacted_stub_when_suppressed {
            return None;
        }
        let matter = event.governance.matter_id.as_deref().unwrap_or_default();
        let parts = [&event.run_id, matter, &event.event_id, &event.event_seq.to_string()];
        let post_id = id_from("post", &parts);
        let stub = named("redacted_stub", &post_id)?;
        Some(RunBoardVisiblePost {
            post_id,
            source_event_id: event.event_id.clone(),
            rendered_payload_ref: if reason.is_some() { stub } else { rendered.clone() },
            redacted: reason.is_some(),
            withheld_reason: reason,
            lifecycle_state: PostState::Active,
            created_at: At::from(at),
            schema_version: V10,
            author_action_ref: action,
        })
    }

    /// Takes a post into account; the same while it is written and when the log is read. Stubs and what somebody posted do not
    /// count.
    pub fn apply(&mut self, event: &RunBoardAuditEvent, post: &RunBoardVisiblePost, at: &Timestamp) {
        if post.withheld_reason.is_none() && post.author_action_ref.is_none() {
            let matters = self.runs.entry(event.run_id.clone()).or_default();
            let posts = matters.entry(event.governance.matter_id.clone()).or_default();
            let moment = (Some(at.instant()), event.event_seq);
            posts.insert(posts.partition_point(|one| *one < moment), moment);
        }
    }

    fn is_full(
        &self,
        policy: &RunBoardPublicationPolicy,
        event: &RunBoardAuditEvent,
        at: &Timestamp,
    ) -> bool {
        let matters = self.runs.get(&event.run_id);
        let of = |matter: &Option<String>| {
            matters.and_then(|matters| matters.get(matter)).map(Vec::as_slice).unwrap_or_default()
        };
        let matter = &event.governance.matter_id;
        let shared = if matter.is_none() { &[] } else { of(&None) };
        let pace = Pace { own: of(matter), shared };
        let this = (Some(at.instant()), u64::MAX);
        pace.before(this) >= policy.max_visible_posts_per_run
            || pace.is_minute_full(this, policy.rate_limit_per_minute)
    }
}

/// What a reader is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Who looks after everything within a matter.
    Auditor,
    /// The person whom the work is for.
    User,
    /// A module of the run.
    Module,
}

/// Who reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reader<'a> {
    /// Who.
    pub reader_ref: &'a StorageRef,
    /// Under which matter.
    pub matter_id: Option<&'a str>,
    /// As what.
    pub role: Role,
    /// In which module.
    pub module_id: Option<&'a str>,
    /// In which segment of the run.
    pub segment_id: Option<&'a str>,
}

/// An event of a board, where it comes from, and its post.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The event.
    pub event: RunBoardAuditEvent,
    /// The module that it happened in.
    pub module_id: Option<String>,
    /// The segment of that.
    pub segment_id: Option<String>,
    /// Who was picked to see it.
    pub participants: Vec<StorageRef>,
    /// Its post, if it has one.
    pub post: Option<RunBoardVisiblePost>,
}

/// Whether a reader may see anything of an event: the matter first, then the scope within it.
#[must_use]
pub fn may_see(reader: &Reader<'_>, entry: &Entry) -> bool {
    let governance = &entry.event.governance;
    if !taint::may_see(governance.matter_id.as_deref(), reader.matter_id) {
        return false;
    }
    let is_same = |one: Option<&str>, own: Option<&str>| one.is_some() && one == own;
    match (reader.role, governance.visibility_scope) {
        (Role::Auditor, _) => true,
        (Role::User | Role::Module, Scope::PrivateAuditOnly) => false,
        (Role::User, _) | (Role::Module, Scope::SameMatterModules) => true,
        (Role::Module, Scope::SameModule) => is_same(entry.module_id.as_deref(), reader.module_id),
        (Role::Module, Scope::SameSegment) => is_same(entry.segment_id.as_deref(), reader.segment_id),
        (Role::Module, Scope::SelectedParticipants) => entry.participants.contains(reader.reader_ref),
        (Role::Module, Scope::UserOnly) => false,
    }
}

/// The posts of a run that a reader sees: those that stand, of what it may see. Of another matter there is nothing, not even that
/// something was withheld.
#[must_use]
pub fn view<'e>(reader: &Reader<'_>, run_id: &str, entries: &'e [Entry]) -> Vec<&'e RunBoardVisiblePost> {
    let entries = entries.iter().filter(|entry| may_see(reader, entry) && entry.event.run_id == run_id);
    let stands = |post: &&RunBoardVisiblePost| match post.lifecycle_state {
        PostState::Active => true,
        PostState::Superseded | PostState::Retracted => false,
    };
    entries.filter_map(|entry| entry.post.as_ref()).filter(stands).collect()
}

/// The events of a run that a reader may read in full: they are private, so only who audits the matter may.
#[must_use]
pub fn audited<'e>(reader: &Reader<'_>, run_id: &str, entries: &'e [Entry]) -> Vec<&'e RunBoardAuditEvent> {
    let is_auditor = match reader.role {
        Role::Auditor => true,
        Role::User | Role::Module => false,
    };
    let seen = entries.iter().filter(|entry| is_auditor && may_see(reader, entry));
    seen.map(|entry| &entry.event).filter(|event| event.run_id == run_id).collect()
}

/// What a reader is shown, as a record.
#[must_use]
pub fn digest(reader: &Reader<'_>, run_id: &str, entries: &[Entry], at: &Timestamp) -> RunBoardDigest {
    let posts = view(reader, run_id, entries);
    let matter = reader.matter_id.unwrap_or_default();
    RunBoardDigest {
        digest_id: id_from("digest", &[run_id, reader.reader_ref.as_str(), matter, at.as_str()]),
        run_id: run_id.to_string(),
        reader_ref: reader.reader_ref.clone(),
        matter_id: reader.matter_id.map(ToString::to_string),
        post_refs: posts.iter().filter_map(|post| named("run_board_visible_post", &post.post_id)).collect(),
        created_at: At::from(at),
        schema_version: Some(V10),
    }
}
