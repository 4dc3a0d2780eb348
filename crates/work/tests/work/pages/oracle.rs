//! What pages must say, told from the rows alone.
//! Owns: a plain reading of rows, one after the other. Must not: use a fold, or what the engine makes of one.

use countersign_govern::member::{Member, every_text};
use countersign_govern::reference::Reference;
use countersign_govern::table::invalidation::{ReadModel, Scope, invalidated_by};
use countersign_govern::world::Draft;
use countersign_record::json::{Json, Object};
use countersign_work::desk::{Desk, reference};
use countersign_work::task::micros;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

const HEADER: &str = "DerivedReadModelRecord";

/// The rows of a run, by what they are called.
pub(super) struct Log<'d> {
    rows: Vec<(u64, String, &'d Draft)>,
    places: BTreeMap<String, u64>,
}

/// A page that was put down.
#[derive(Clone)]
pub(super) struct Shown<'d> {
    pub(super) id: String,
    pub(super) kind: ReadModel,
    pub(super) from: u64,
    header: &'d Json,
}

impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {} from {}", self.kind, self.id, self.from)
    }
}

fn named(kind: &str, id: &str) -> String {
    reference(kind, id).unwrap().as_str().to_owned()
}

fn references(value: &Json) -> BTreeSet<String> {
    let mut texts = Vec::new();
    every_text(value, &mut texts);
    texts.into_iter().filter_map(Reference::read).map(|to| format!("{}:{}", to.kind, to.id)).collect()
}

impl<'d> Log<'d> {
    pub(super) fn new(desk: &'d Desk) -> Self {
        let rows: Vec<_> = (1..).zip(desk.rows()).map(|(seq, row)| (seq, row.name(seq), row)).collect();
        let mut places = BTreeMap::new();
        for (seq, name, row) in &rows {
            if let Ok(reference) = reference(&row.kind, name) {
                places.entry(reference.as_str().to_owned()).or_insert(*seq);
            }
            // What was found stands under a name of its own.
            if let Some(id) = row.record.text("finding_id").filter(|_| row.kind == "EvaluationFindingEvent") {
                places.entry(named("EvaluationFindingRecord", id)).or_insert(*seq);
            }
        }
        Log { rows, places }
    }

    /// The rows up to a place.
    fn until(&self, place: u64) -> Log<'d> {
        let rows = self.rows.iter().take_while(|(seq, _, _)| *seq <= place).cloned().collect();
        Log { rows, places: BTreeMap::new() }
    }

    fn of<'s>(&'s self, kind: &'s str) -> impl DoubleEndedIterator<Item = (&'s str, &'d Json)> + 's {
        let own = self.rows.iter().filter(move |(_, _, row)| row.kind == kind);
        own.map(|(_, name, row)| (name.as_str(), &row.record))
    }

    fn find(&self, to: &str) -> &'d Json {
        let place = usize::try_from(self.places[to]).unwrap();
        &self.rows[place - 1].2.record
    }

    /// Where something that is named stands first.
    pub(super) fn place(&self, to: &str) -> Option<u64> {
        self.places.get(to).copied()
    }

    /// What the last move of something came to.
    fn moved(&self, (kind, by): (&str, &str), id: &str) -> Option<&'d str> {
        let mut own = self.of(kind).filter(|(_, row)| row.is(by, id));
        own.next_back().and_then(|(_, row)| row.text("to_state"))
    }

    fn life(&self, to: &str) -> Option<&'d str> {
        self.moved(("LifecycleTransitionReceipt", "subject_ref"), to)
    }

    /// How an outcome stands.
    pub(super) fn outcome(&self, id: &str) -> &'d str {
        self.moved(("OutcomeStateTransitionEvent", "outcome_id"), id).unwrap_or("pending")
    }

    /// The findings in the order in which they were raised, with the last event and the state of each.
    pub(super) fn findings(&self) -> Vec<(String, String, String)> {
        let mut all: Vec<(String, String, String)> = Vec::new();
        for (event, row) in self.of("EvaluationFindingEvent") {
            let id = row.text("finding_id").unwrap();
            let moved = self.moved(("FindingLifecycleTransitionReceipt", "finding_id"), id);
            let state = moved.or(row.text("emitted_state")).unwrap();
            match all.iter_mut().find(|one| one.0 == id) {
                Some(known) => event.clone_into(&mut known.1),
                None => all.push((id.to_owned(), event.to_owned(), state.to_owned())),
            }
        }
        all
    }

    /// The items that wait for a person.
    pub(super) fn items(&self) -> Vec<String> {
        let is_open = |id: &&str| self.life(&named("AttentionLedgerItem", id)).is_none();
        self.of("AttentionLedgerItem").map(|(id, _)| id).filter(is_open).map(str::to_owned).collect()
    }

    /// What was spent, in millionths.
    pub(super) fn spent(&self) -> BTreeMap<String, u64> {
        let mut all = BTreeMap::new();
        for (_, row) in self.of("TaskCostRecord") {
            let Some(vector) = row.text("actual_cost_vector_ref") else { continue };
            for (unit, part) in self.find(vector).members("components").unwrap().iter() {
                *all.entry(unit.to_owned()).or_default() += micros(part.get("expected").unwrap()).unwrap();
            }
        }
        all
    }

    /// What was told on the board, and whether it was posted and stands.
    pub(super) fn board(&self) -> Vec<(String, Option<bool>)> {
        let post = |event: &str| {
            let (id, _) = self.of("RunBoardVisiblePost").find(|(_, row)| row.is("source_event_id", event))?;
            Some(self.life(&named("RunBoardVisiblePost", id)).is_none())
        };
        self.of("RunBoardAuditEvent").map(|(id, _)| (id.to_owned(), post(id))).collect()
    }

    /// The last packet, and its state.
    pub(super) fn packet(&self) -> Option<(String, String)> {
        let (id, row) = self.of("TaskReliancePacket").next_back()?;
        let to = named("TaskReliancePacket", id);
        let mut moved = self.rows.iter().filter_map(|(_, _, row)| match row.kind.as_str() {
            "LifecycleTransitionReceipt" if row.record.is("subject_ref", &to) => row.record.text("to_state"),
            "RelianceInvalidationEvent" if row.record.is("packet_id", id) => Some("invalidated"),
            _other => None,
        });
        let state = moved.next_back().or(row.text("lifecycle_state"))?;
        Some((id.to_owned(), state.to_owned()))
    }

    /// Every page that was put down.
    pub(super) fn shown(&self) -> impl Iterator<Item = Shown<'d>> {
        let headers = self.of(HEADER).filter(|(_, row)| row.is_blank("valid_until_event_seq"));
        headers.map(|(id, header)| Shown {
            id: id.to_owned(),
            kind: header.text("read_model_kind").and_then(ReadModel::find).unwrap(),
            from: header.count("valid_from_event_seq").unwrap(),
            header,
        })
    }

    /// The manifest of a page.
    pub(super) fn manifest(&self, shown: &Shown<'_>) -> &'d Json {
        self.find(shown.header.text("input_manifest_ref").unwrap())
    }

    /// What it names.
    pub(super) fn inputs(&self, shown: &Shown<'_>) -> BTreeSet<String> {
        self.manifest(shown).texts("input_refs").into_iter().map(str::to_owned).collect()
    }

    /// The row that says what is on a page, where it is one.
    fn row(&self, shown: &Shown<'_>) -> Option<(String, &'d Json)> {
        if let Some(payload) = shown.header.text("payload_ref") {
            return Some((payload.to_owned(), self.find(payload)));
        }
        let header = named(HEADER, &shown.id);
        let mut rows = self.rows.iter().skip(usize::try_from(shown.from).unwrap());
        let (_, name, row) = rows.find(|(_, _, row)| row.record.is("derived_read_model_ref", &header))?;
        Some((named(&row.kind, name), &row.record))
    }

    /// Everything that a page was made of.
    pub(super) fn cited(&self, shown: &Shown<'_>) -> BTreeSet<String> {
        let before = self.until(shown.from);
        let row = self.row(shown);
        let says = |members: &[&str]| {
            let (_, row) = row.as_ref().unwrap();
            members.iter().filter_map(|member| row.at(member)).flat_map(references).collect()
        };
        let own = || row.iter().map(|(name, _)| name.clone());
        match shown.kind {
            ReadModel::AttentionLedger => before
                .items()
                .iter()
                .flat_map(|id| {
                    let to = named("AttentionLedgerItem", id);
                    [self.find(&to).text("source_ref").unwrap().to_owned(), to]
                })
                .collect(),
            ReadModel::FindingsInbox => {
                before.findings().iter().map(|(_, event, _)| named("EvaluationFindingEvent", event)).collect()
            }
            ReadModel::EvaluationChainView => says(&[
                "chain_registry_record_ref",
                "chain_resolution_receipt_ref",
                "qualitative_finding_refs",
                "quantitative_result_refs",
            ]),
            ReadModel::DecisionAuditView => says(&[
                "target_decision_ref",
                "chain_resolution_receipt_refs",
                "finding_refs",
                "policy_decision_refs",
                "hard_call_resolution_refs",
                "explanation_trace_ref",
            ]),
            ReadModel::TaskHealthCard => says(&[
                "active_blocker_refs",
                "latest_verdict_refs",
                "budget_status_ref",
                "reliance_packet_ref",
            ]),
            ReadModel::BudgetNarrative => says(&["planned_forecast_ref", "actual_cost_record_refs"]),
            ReadModel::EvidencePackage => says(&[
                "final_artifact_refs",
                "source_workspace_snapshot_ref",
                "source_record_refs",
                "evidence_anchor_refs",
                "unresolved_research_need_refs",
            ]),
            ReadModel::TaskReliancePacket => {
                own().chain(says(&["input_manifest.evidence_package_refs"])).collect()
            }
            ReadModel::WorkProductCertification => own().chain(says(&["task_reliance_packet_ref"])).collect(),
            ReadModel::RunDiff => panic!("no run puts one down"),
        }
    }

    /// Until where a page counts and what ended that: the first row that changes what is shown there.
    pub(super) fn ended(&self, shown: &Shown<'_>) -> Option<(u64, String)> {
        let mut cites = references(shown.header);
        cites.extend(references(self.manifest(shown)));
        cites.extend([named(HEADER, &shown.id)]);
        cites.extend(self.row(shown).map(|(name, _)| name));
        let rows = self.rows.iter().skip(usize::try_from(shown.from).unwrap());
        let hit = |(_, name, row): &&(u64, String, &Draft)| {
            let reached = invalidated_by(&row.kind, &row.record).unwrap_or_default();
            let reached = reached.iter().find(|(kind, _)| *kind == shown.kind);
            reached.is_some_and(|(_, scope)| match scope {
                // All rows are of the one run.
                Scope::SameRun | Scope::SameTask | Scope::SameMatter => true,
                Scope::SpecificRefs => {
                    let members = row.record.as_object().into_iter().flat_map(Object::iter);
                    let named_there = members.filter_map(|(_, value)| Reference::read(value.as_str()?));
                    let mut all = named_there.map(|to| format!("{}:{}", to.kind, to.id));
                    all.any(|to| cites.contains(&to)) || cites.contains(&named(&row.kind, name))
                }
            })
        };
        rows.into_iter().find(hit).map(|(seq, name, row)| (*seq, named(&row.kind, name)))
    }

    /// Where a header is closed in the rows, and how that is said.
    pub(super) fn closed(&self, id: &str) -> Vec<(u64, String)> {
        let own = self.of(HEADER).filter(|(name, row)| *name == id && !row.is_blank("valid_until_event_seq"));
        own.map(|(_, row)| {
            let by = row.text("invalidated_by_event_ref").unwrap().to_owned();
            (row.count("valid_until_event_seq").unwrap(), by)
        })
        .collect()
    }

    /// What a page is about, where there are several of its kind.
    pub(super) fn subject(&self, shown: &Shown<'_>) -> Option<&'d str> {
        let (_, row) = self.row(shown)?;
        row.text("chain_id").or(row.text("target_decision_ref"))
    }

    /// What stands on a page, without the names and the times of its rows.
    pub(super) fn body(&self, shown: &Shown<'_>) -> Json {
        let Some((_, row)) = self.row(shown) else {
            return Json::Array(self.inputs(shown).iter().map(|one| one.as_str().into()).collect());
        };
        let mut members = row.as_object().unwrap().clone();
        for name in NAMES {
            members.remove(name);
        }
        members.into()
    }
}

/// What differs between two pages that say the same.
const NAMES: [&str; 8] = [
    "view_id",
    "audit_view_id",
    "explanation_trace_ref",
    "budget_narrative_id",
    "budget_status_ref",
    "formula_eval_receipt_refs",
    "derived_read_model_ref",
    "created_at",
];
