//! What records name: by references, and by the ids of others.
//! Owns: which member names which type, and what must be written before. Must not: compare what both say.

use super::{Found, What};
use crate::fold;
use crate::formula::registry;
use crate::kind::{self, Class};
use crate::path::{Path, Step};
use crate::reference::{Reference, snake};
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::json::Json;

/// Other words for a kind in references.
const ALIASES: [(&str, &str); 2] = [("src", "source_record"), ("srcset", "source_set")];

/// The kinds that a log may hold, in snake case, and whether what they say stays.
pub(super) type Kinds = BTreeMap<String, &'static kind::Kind>;

fn kinds() -> Kinds {
    kind::all().filter(|kind| kind.class != Class::Value).map(|kind| (snake(kind.name), kind)).collect()
}

pub(super) fn plain(reference: Reference<'_>) -> Reference<'_> {
    let kind =
        ALIASES.iter().find(|(alias, _)| *alias == reference.kind).map_or(reference.kind, |(_, kind)| kind);
    Reference { kind, ..reference }
}

/// A record that names another one.
pub(super) struct Tie<'w> {
    pub(super) from: Record<'w>,
    pub(super) to: Record<'w>,
    /// Whether it does so by the other's id, so that it belongs to it.
    pub(super) is_by_id: bool,
}

/// Members that hold the id of another record, and the types that it may be of.
#[rustfmt::skip] // one to a line
const IDS: &[(&str, &[&str])] = &[
    ("active_outcome_ids", &["OutcomeRecord"]),
    ("affected_outcome_ids", &["OutcomeRecord"]),
    ("cancel_request_id", &["TaskCancelProtocol"]),
    ("candidate_id", &["LibraryPromotionCandidate"]),
    ("cascade_run_id", &["RevalidationCascadeRun"]),
    ("chain_id", &["EvaluationChainRegistryRecord"]),
    ("config_id", &["OutcomeComplianceScoringConfig"]),
    ("criterion_id", &["Criterion"]),
    ("decisive_result_id", &["EvaluationResultEnvelope"]),
    ("depends_on_outcome_ids", &["OutcomeRecord"]),
    ("evaluation_chain_ids", &["EvaluationChainRegistryRecord"]),
    ("feedback_bundle_id", &["EvaluationFeedbackBundle"]),
    ("finding_id", &["EvaluationFindingRecord", "EvaluationFindingEvent"]),
    ("fixture_id", &["AddendaBConformanceFixture"]),
    ("formula_id", &["FormulaSpec", "SubAgentReputationFormulaConfig"]),
    ("gate_id", &["LibraryPromotionGate", "BuildReadyGate"]),
    ("guidance_id", &["RunGuidanceItemCurrent"]),
    ("hard_call_id", &["HardRevisionCall"]),
    ("invocation_id", &["CommandInvocation"]),
    ("need_id", &["ResearchNeed"]),
    ("observed_passed_criterion_ids", &["Criterion"]),
    ("operation_id", &["SourceWorkspaceOperation"]),
    ("origin_outcome_id", &["OutcomeRecord"]),
    ("outcome_id", &["OutcomeRecord"]),
    ("outcome_ids", &["OutcomeRecord"]),
    ("passed_criterion_ids", &["Criterion"]),
    ("plan_id", &["RevisionPlan"]),
    ("received_result_ids", &["EvaluationResultEnvelope"]),
    ("replay_request_id", &["TaskReplayRequest"]),
    ("result_id", &["EvaluationResultEnvelope"]),
    ("result_ids_considered", &["EvaluationResultEnvelope"]),
    ("room_id", &["ForumRoomRecord"]),
    ("source_id", &["SourceRecord"]),
    ("superseded_by_chain_id", &["EvaluationChainRegistryRecord"]),
    ("superseded_by_finding_id", &["EvaluationFindingRecord"]),
    ("superseded_by_guidance_id", &["RunGuidanceItemCurrent"]),
    ("target_criterion_id", &["Criterion"]),
    ("target_evaluation_chain_id", &["EvaluationChainRegistryRecord"]),
    ("visited_outcome_ids", &["OutcomeRecord"]),
    ("workspace_id", &["SourceWorkspaceCurrentState"]),
];

/// Members of one type that hold the id of another record, where the name alone does not say of which.
const IDS_OF: &[(&str, &str, &[&str])] = &[
    ("AssistanceFallbackEvent", "request_id", &["ModuleAssistanceRequest"]),
    ("ModuleAssistanceAnswer", "request_id", &["ModuleAssistanceRequest"]),
    ("RelianceInvalidationEvent", "packet_id", &["TaskReliancePacket"]),
    ("RevisionReviewDecisionReceipt", "packet_id", &["RevisionReviewPacket"]),
    ("ForumTick", "room_id", &["ForumRoomRecord"]),
    ("RunBoardVisiblePost", "source_event_id", &["RunBoardAuditEvent"]),
    ("TypeDeclaration", "type_name", &["TypeOwnerRegistryEntry"]),
];

/// Members that name what comes later: the record that a value is for, and what takes the place of another.
fn may_be_later(member: &str) -> bool {
    member == "output_ref" || member.starts_with("superseded_by")
}

/// Finds what names nothing and what names something that was not there yet; gives all that names something.
pub(super) fn find<'w>(world: &'w World, found: &mut Found) -> Vec<Tie<'w>> {
    let by_name = kind::all().map(|kind| (kind.name, kind)).collect();
    let standing = fold::projections(world, world.end()).into_iter().map(|one| (one.kind, one.id)).collect();
    let mut naming = Naming { world, kinds: kinds(), by_name, standing, own: None, ties: Vec::new(), found };
    for record in world.all() {
        naming.own = naming.by_name.get(record.kind()).and_then(|kind| kind.id);
        naming.walk(record, record.json(), "", &mut Vec::new());
    }
    naming.ties
}

struct Naming<'w, 'f> {
    world: &'w World,
    kinds: Kinds,
    by_name: BTreeMap<&'static str, &'static kind::Kind>,
    /// What stands by its events alone: nobody need write it down to name it.
    standing: BTreeSet<(&'static str, String)>,
    /// The member that names the record that is looked at.
    own: Option<&'static str>,
    ties: Vec<Tie<'w>>,
    found: &'f mut Found,
}

impl<'w> Naming<'w, '_> {
    fn walk(&mut self, record: Record<'w>, value: &'w Json, member: &'w str, path: &mut Vec<Step<'w>>) {
        match value {
            Json::String(text) => self.text(record, text, member, path),
            Json::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    path.push(Step::Item(at));
                    self.walk(record, item, member, path);
                    path.pop();
                }
            }
            Json::Object(members) => {
                for (name, item) in members.iter() {
                    path.push(Step::Name(name));
                    self.walk(record, item, name, path);
                    path.pop();
                }
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }

    fn text(&mut self, record: Record<'w>, text: &'w str, member: &str, path: &[Step<'_>]) {
        let is_own = path.len() == 1 && self.own == Some(member);
        let of_type = IDS_OF.iter().find(|(kind, name, _)| *kind == record.kind() && *name == member);
        let by_id = of_type.map(|(_, _, kinds)| *kinds).or_else(|| {
            let found = IDS.binary_search_by_key(&member, |(name, _)| name).ok()?;
            IDS.get(found).map(|(_, kinds)| *kinds)
        });
        if let Some(kinds) = by_id.filter(|_| !is_own) {
            let to = kinds.iter().find_map(|kind| first(self.world, kind, text));
            if to.is_some() || !kinds.iter().any(|kind| self.is_known(kind, text)) {
                self.tie(record, to, Naming::ID, (member, path, text));
            }
        } else if let Some(named) = Reference::read(text).map(plain)
            && self.kinds.contains_key(named.kind)
        {
            let to = self.world.resolve(named);
            let to = to.map(|to| match named.version.is_none() && named.hash.is_none() {
                true => first(self.world, to.kind(), to.id()).unwrap_or(to),
                false => to,
            });
            let kind = self.kinds.get(named.kind).map(|kind| kind.name).unwrap_or_default();
            if to.is_some() || !self.is_known(kind, named.id) {
                self.tie(record, to, Naming::REFERENCE, (member, path, text));
            }
        }
    }

    /// Whether something is known without a row: it is built in, or it stands by its events.
    fn is_known(&self, kind: &str, id: &str) -> bool {
        let is_standing =
            self.by_name.get(kind).is_some_and(|kind| self.standing.contains(&(kind.name, id.into())));
        is_standing || kind == "FormulaSpec" && registry::find(id).is_some()
    }

    const ID: bool = true;
    const REFERENCE: bool = false;

    fn tie(
        &mut self,
        from: Record<'w>,
        to: Option<Record<'w>>,
        is_by_id: bool,
        (member, path, text): (&str, &[Step<'_>], &str),
    ) {
        let Some(to) = to else {
            self.found.add(from, Path::along(path), What::NamesNothing, format!("{text} is not there"));
            return;
        };
        // How something stands may be named before it is written down; what happened, what was decided and what was asked
        // may not.
        let class = |one: Record<'_>| self.by_name.get(one.kind()).map(|kind| kind.class);
        let is_standing = class(to)
            .is_none_or(|class| matches!(class, Class::Projection | Class::ReadModel | Class::Value));
        // Settings that belong together are written one after the other.
        let is_setting = |one: Record<'_>| class(one) == Some(Class::Policy);
        let is_early = to.seq() > from.seq() && !(is_setting(from) && is_setting(to));
        if is_early && !is_standing && !may_be_later(member) {
            let message = format!("{text} comes only in row {}", to.seq());
            self.found.add(from, Path::along(path), What::NamesLater, message);
        }
        self.ties.push(Tie { from, to, is_by_id });
    }
}

/// The first version of a record.
fn first<'w>(world: &'w World, kind: &str, id: &str) -> Option<Record<'w>> {
    world.versions(kind, id).next()
}
