//! Names by which rows of a log know each other, eight bytes each.
//! Owns: which members name something, and how. Must not: keep a text. Two names may rarely have the same bytes: then rows are looked
//! at together that need not be.

mod written;

use super::is_setting;
use crate::kind::Number;
use crate::mix::{self, Slots};
use crate::reference::Reference;
use crate::world::Held;
use alloc::boxed::Box;
use alloc::vec::Vec;
use countersign_record::json::Json;
use once_cell::race::OnceBox;

/// An id, whatever it is the id of: rules find records by ids without their kinds too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name(pub(super) u64);

impl Name {
    pub(super) fn of(text: &str) -> Self {
        Name(mix::number(text))
    }

    /// The stream itself: its parts belong together. No text has the number of two.
    pub(super) fn of_stream(stream: &str) -> Self {
        Name(mix::join(mix::number(stream), 1))
    }

    /// A head of a workspace: it does not put those together that have it, since workspaces begin alike.
    fn of_head(text: &str) -> Self {
        Name(mix::join(mix::number(text), 2))
    }
}

/// Whose names are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// What rules go by from row to row.
    Rules,
    /// And what a whole log must agree on with itself.
    Whole,
}

/// What some rows have and name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Names {
    by: By,
    /// Names that only these rows go by.
    local: Vec<Name>,
    /// What they are called, and what they say they belong to: rows that have one of these alike belong together.
    pub(super) own: Vec<Name>,
    /// Heads of workspaces.
    pub(super) heads: Vec<Name>,
    /// What they refer to.
    pub(super) wanted: Vec<Name>,
}

/// What the id in a member says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// What a row belongs to: rules put rows together that say the same.
    Belongs,
    /// The same, by a word that who asks for something chose: two runs that go by their own settings may choose the same.
    Chosen,
    /// What a row goes by: all runs have the same, and only a row that is called so counts.
    GoesBy,
    /// The head of a workspace.
    Head,
    /// Nothing to other rows: it is looked at within its record.
    Local,
}

/// How a row is looked through.
#[derive(Clone, Copy)]
struct Look {
    /// Whether it may hold heads of workspaces anywhere.
    seeks_heads: bool,
    /// Whether ids are those of other rows.
    is_open: bool,
    /// Whether it stands in a run that goes by its own settings.
    is_own: bool,
}

impl Look {
    /// How a row of a type is looked through.
    fn of(known: Option<Number>, stands: Stands) -> Self {
        let seeks_heads = known.is_some_and(|known| known.kind.name == "EvaluationSnapshot");
        Look { seeks_heads, is_open: true, is_own: stands == Stands::InItsRun }
    }
}

/// Where a row stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stands {
    Anywhere,
    /// In a run that goes by its own settings, and has its own view of its task: others may have those of the same name.
    InItsRun,
}

impl Names {
    pub(super) fn new(by: By) -> Self {
        let (local, own, heads, wanted) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Names { by, local, own, heads, wanted }
    }

    /// Adds those of a row.
    pub(super) fn add(&mut self, row: &Held, stands: Stands) {
        self.called(Name(row.key()), row.number(), stands);
        self.within(row.json(), Role::Local, Look::of(row.number(), stands));
    }

    /// Adds what a row is called.
    fn called(&mut self, name: Name, known: Option<Number>, stands: Stands) {
        let is_of_task = |known: Number| known.kind.id == Some("task_id");
        let is_local = known.is_some_and(|known| is_setting(known) || is_of_task(known));
        let is_own = stands == Stands::InItsRun;
        if is_own && is_local { &mut self.local } else { &mut self.own }.push(name);
    }

    /// Each once, and what they have left out of what they want.
    pub(super) fn sort(&mut self) {
        for names in [&mut self.local, &mut self.own, &mut self.heads, &mut self.wanted] {
            names.sort_unstable();
            names.dedup();
        }
        let Names { local, own, heads, wanted, .. } = self;
        let is_had = |name: &Name| [&*local, own, heads].iter().any(|had| had.binary_search(name).is_ok());
        wanted.retain(|name| !is_had(name));
    }

    fn within(&mut self, value: &Json, role: Role, look: Look) {
        match value {
            Json::Object(members) => members.iter().for_each(|(name, value)| self.member(name, value, look)),
            Json::Array(items) => {
                for item in items {
                    match item {
                        Json::String(text) => self.text(text, role, look),
                        Json::Object(_) | Json::Array(_) => self.within(item, role, look),
                        Json::Null | Json::Bool(_) | Json::Number(_) => {}
                    }
                }
            }
            Json::String(text) => self.text(text, role, look),
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }

    fn member(&mut self, name: &str, value: &Json, look: Look) {
        self.member_name(name);
        // The steps of a trace have ids that only the trace knows.
        let is_open = look.is_open && name != "causal_steps";
        let by = self.by;
        let role = || if is_open { role_of(name) } else { None }.unwrap_or_else(|| role_by_end(name, by));
        match value {
            Json::String(text) => self.text(text, role(), look),
            Json::Array(items) if !items.is_empty() => self.within(value, role(), Look { is_open, ..look }),
            Json::Object(_) => self.within(value, Role::Local, Look { is_open, ..look }),
            Json::Array(_) | Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }

    /// A map may have references for names.
    fn member_name(&mut self, name: &str) {
        if let Some(reference) = Reference::read(name) {
            self.reference(reference);
        }
    }

    fn text(&mut self, text: &str, role: Role, look: Look) {
        if let Some(reference) = Reference::read(text) {
            self.reference(reference);
            // What a row belongs to may be written as a reference too.
            match role {
                Role::Belongs => self.own.push(Name::of(reference.id)),
                Role::Chosen | Role::GoesBy | Role::Head | Role::Local => {}
            }
            self.wanted.extend(reference.hash.filter(|_| look.seeks_heads).map(Name::of_head));
            return;
        }
        match role {
            Role::Chosen if look.is_own => self.local.push(Name::of(text)),
            Role::Belongs | Role::Chosen => self.own.push(Name::of(text)),
            Role::GoesBy => self.wanted.push(Name::of(text)),
            Role::Head => self.heads.push(Name::of_head(text)),
            Role::Local => {}
        }
        if look.seeks_heads && text.len() == 64 {
            self.wanted.push(Name::of_head(text));
        }
    }

    fn reference(&mut self, reference: Reference<'_>) {
        let id = Name::of(reference.id);
        // Claims and artifacts have no rows of their own: who speaks of the same one belongs together.
        if matches!(reference.kind, "claim" | "artifact") { &mut self.own } else { &mut self.wanted }
            .push(id);
        // A claim is named within its artifact.
        if reference.id.contains('/') {
            self.wanted.extend(reference.id.split('/').map(Name::of));
        }
    }
}

/// A reference may be written as a bare id.
fn role_by_end(member: &str, by: By) -> Role {
    let ends: &[&str] = match by {
        By::Rules => &["_ref", "_refs"],
        By::Whole => &["_ref", "_refs", "_id", "_ids", "_considered"],
    };
    if ends.iter().any(|end| member.ends_with(end)) { Role::GoesBy } else { Role::Local }
}

/// What the id in a member of this name says; `None` if rules look at no such member.
#[must_use]
fn role_of(member: &str) -> Option<Role> {
    static SLOTS: OnceBox<Slots> = OnceBox::new();
    let slots = SLOTS.get_or_init(|| Box::new(Slots::of(ROLES.iter().map(|(name, _)| *name))));
    let found = slots.find(member, |at| ROLES.get(at).is_some_and(|(name, _)| *name == member));
    found.and_then(|at| ROLES.get(at)).map(|(_, role)| *role)
}

/// The members by which rules go from row to row.
#[rustfmt::skip] // one to a line
const ROLES: &[(&str, Role)] = &[
    ("activation_id", Role::Belongs),
    ("active_outcome_ids", Role::Belongs),
    ("affected_outcome_ids", Role::Belongs),
    ("answer_id", Role::Belongs),
    ("artifact_stable_id", Role::Belongs),
    ("artifact_version_id", Role::Belongs),
    ("cancel_request_id", Role::Belongs),
    ("candidate_id", Role::Belongs),
    ("capability_id", Role::Local),
    ("cascade_run_id", Role::Belongs),
    ("chain_id", Role::Belongs),
    ("claim_id", Role::Belongs),
    ("closest_pattern_id", Role::Local),
    ("command_id", Role::GoesBy),
    ("config_id", Role::Belongs),
    ("consumer_module_id", Role::GoesBy),
    ("criterion_id", Role::Belongs),
    ("delivery_idempotency_key", Role::Belongs),
    ("depends_on_outcome_ids", Role::Belongs),
    ("depends_on_step_ids", Role::Belongs),
    ("deterministic_final_key", Role::Local),
    ("digest_id", Role::Belongs),
    ("endpoint_id", Role::GoesBy),
    ("evaluation_chain_ids", Role::Belongs),
    ("evaluation_id", Role::Belongs),
    ("event_id", Role::Belongs),
    ("feedback_bundle_id", Role::Belongs),
    ("finding_event_id", Role::Belongs),
    ("finding_id", Role::Belongs),
    ("fixture_id", Role::GoesBy),
    ("formula_id", Role::GoesBy),
    ("from_step_id", Role::Belongs),
    ("guidance_id", Role::Belongs),
    ("hard_call_id", Role::Belongs),
    ("head_hash", Role::Head),
    ("idempotency_key", Role::Chosen),
    ("lease_token", Role::Belongs),
    ("left_run_id", Role::Belongs),
    ("manifest_id", Role::Belongs),
    ("matter_id", Role::Local),
    ("metric_id", Role::GoesBy),
    ("module_id", Role::GoesBy),
    ("need_id", Role::Belongs),
    ("new_workspace_head_hash", Role::Head),
    ("obligation_id", Role::Belongs),
    ("observed_passed_criterion_ids", Role::Belongs),
    ("operation_id", Role::Belongs),
    ("option_id", Role::Local),
    ("origin_outcome_id", Role::Belongs),
    ("outcome_id", Role::Belongs),
    ("outcome_ids", Role::Belongs),
    ("packet_id", Role::Belongs),
    ("parent_run_id", Role::Belongs),
    ("passed_criterion_ids", Role::Belongs),
    ("plan_id", Role::Belongs),
    ("planned_run_id", Role::Belongs),
    ("port_id", Role::GoesBy),
    ("prior_workspace_head_hash", Role::Head),
    ("produced_by_step_id", Role::Belongs),
    ("query_id", Role::Belongs),
    ("receipt_id", Role::Belongs),
    ("received_result_ids", Role::Belongs),
    ("replay_request_id", Role::Belongs),
    ("request_id", Role::Belongs),
    ("result_id", Role::Belongs),
    ("right_run_id", Role::Belongs),
    ("room_id", Role::Belongs),
    ("row_id", Role::Local),
    ("run_id", Role::Belongs),
    ("schema_id", Role::Local),
    ("section_id", Role::Local),
    ("segment_id", Role::Local),
    ("selected_option_id", Role::Local),
    ("selection_id", Role::Belongs),
    ("side_effect_id", Role::Belongs),
    ("signal_id", Role::Belongs),
    ("source_event_id", Role::Belongs),
    ("source_id", Role::Belongs),
    ("source_workspace_head_hash", Role::Head),
    ("step_id", Role::Belongs),
    ("step_ids", Role::Belongs),
    ("step_result_id", Role::Belongs),
    ("suite_run_id", Role::Belongs),
    ("superseded_by", Role::GoesBy),
    ("superseded_by_chain_id", Role::Belongs),
    ("superseded_by_finding_id", Role::Belongs),
    ("superseded_by_guidance_id", Role::Belongs),
    ("target_criterion_id", Role::Belongs),
    ("target_evaluation_chain_id", Role::Belongs),
    ("task_id", Role::Local), // what reaches over the runs of a task is told by its rules
    ("to_step_id", Role::Belongs),
    ("value_id", Role::Belongs),
    ("visited_outcome_ids", Role::Belongs),
    ("workspace_id", Role::Belongs),
];
