//! What a read model shows, derived anew from the rows so far: as long as it counts as valid it says the same bytes, and it does not
//! go out of date while everything that it is made of stays as it was.
//!
//! What is shown and what it is made of are written down here by what the contract says of each read model; which event ends which
//! one is a table of its own, and this is what the table must come to.

use super::Folds;
use super::decided;
use countersign_govern::fold::Fold;
use countersign_govern::fold::read_model::Headers;
use countersign_govern::fold::row::Row;
use countersign_govern::member::Member;
use countersign_govern::table::invalidation::ReadModel;
use countersign_govern::world::Draft;
use countersign_record::json::Json;
use countersign_testkit::worlds::{self, Written};
use std::collections::{BTreeMap, BTreeSet};

/// What is known after the rows so far, a line for each thing: by what it is and where it belongs.
#[derive(Default)]
struct Known {
    folds: Folds,
    /// The runs of results, findings, calls, chains, packets, plans and requests, by kind and id.
    runs: BTreeMap<(&'static str, String), String>,
    /// The tasks of workspaces and candidates.
    tasks: BTreeMap<(&'static str, String), String>,
    /// The artifacts of versions.
    artifacts: BTreeMap<String, String>,
    /// The matters of findings.
    matters: BTreeMap<String, String>,
    /// What was told once and stays: by what it is, and the run or task that it belongs to.
    told: BTreeMap<(&'static str, String), BTreeMap<String, String>>,
}

/// Members that name something, and what: its run is that of the row.
const OWN: [(&str, &str, &str); 7] = [
    ("EvaluationResultEnvelope", "result_id", "result"),
    ("HardRevisionCall", "hard_call_id", "call"),
    ("EvaluationChainRegistryRecord", "chain_id", "chain"),
    ("TaskReliancePacket", "packet_id", "packet"),
    ("RevisionReviewPacket", "packet_id", "review"),
    ("TaskCancelProtocol", "cancel_request_id", "cancel"),
    ("ArtifactVersion", "artifact_version_id", "version"),
];

/// Rows that tell something once: what it is, the members that say of what and that it is so.
const TOLD: [(&str, &str, &str, &str); 8] = [
    ("EvidencePackage", "package", "evidence_package_id", "evidence_package_id"),
    ("KnownGoodCheckpoint", "checkpoint", "checkpoint_id", "checkpoint_id"),
    ("TaskCostRecord", "cost", "cost_record_id", "actual_cost_vector_ref"),
    ("TaskRunCostForecast", "forecast", "forecast_id", "planned_cost_vector_ref"),
    ("TaskRunFork", "fork", "fork_id", "new_run_id"),
    ("RevisionPlan", "plan", "plan_id", "plan_id"),
    ("EvaluationResultEnvelope", "result", "result_id", "target_evaluation_chain_id"),
    ("EvaluationContractReview", "contract", "review_id", "review_id"),
];

impl Known {
    fn push(&mut self, draft: &Draft) {
        self.folds.push(draft);
        let (kind, json) = (draft.kind.as_str(), &draft.record);
        let text = |member: &str| json.text(member).unwrap_or_default().to_owned();
        let run = ["run_id", "planned_run_id", "parent_run_id"].iter().find_map(|member| json.text(member));
        for (_, member, what) in OWN.iter().filter(|(own, _, _)| *own == kind) {
            self.runs.insert((what, text(member)), text("run_id"));
        }
        let tells =
            |(told, _, _, said): &&(&str, &str, &str, &str)| *told == kind && json.text(said).is_some();
        for (_, what, id, said) in TOLD.iter().filter(tells) {
            self.tell(what, run, text(id), text(said));
            for step in json.list("steps").iter().filter_map(|step| step.text("step_id")) {
                self.runs.insert(("step", step.to_owned()), text("run_id"));
            }
        }
        match kind {
            "ArtifactVersion" => {
                drop(self.artifacts.insert(text("artifact_version_id"), text("artifact_stable_id")))
            }
            "ArtifactVersionTransitionEvent" if json.is("to_state", "accepted_head") => {
                let version =
                    json.reference("artifact_version_ref").map(|to| to.id.to_owned()).unwrap_or_default();
                let artifact = self.artifacts.get(&version).cloned().unwrap_or_default();
                let run = self.runs.get(&("version", version.clone())).cloned();
                self.tell("head", run.as_deref(), artifact, version);
            }
            "EvaluationFindingEvent" => {
                let run = self.runs.get(&("result", text("result_id"))).cloned().unwrap_or_default();
                self.runs.insert(("finding", text("finding_id")), run);
                self.matters.insert(text("finding_id"), text("matter_id"));
            }
            "SourceWorkspaceCurrentState" => {
                drop(self.tasks.insert(("workspace", text("workspace_id")), text("task_id")));
            }
            "ResearchNeed" => drop(self.tasks.insert(("need", text("need_id")), text("task_id"))),
            "LibraryPromotionCandidate" => {
                let task = self.tasks.get(&("workspace", text("workspace_id"))).cloned().unwrap_or_default();
                self.tasks.insert(("candidate", text("candidate_id")), task);
            }
            _other => self.receipts(kind, json),
        }
    }

    /// What receipts tell, by what they are about.
    fn receipts(&mut self, kind: &str, json: &Json) {
        let text = |member: &str| json.text(member).unwrap_or_default().to_owned();
        let run = |what: &'static str, id: String| self.runs.get(&(what, id)).cloned();
        let task = |what: &'static str, id: String| self.tasks.get(&(what, id)).cloned();
        let (what, place, id, said) = match kind {
            "EvaluationChainResolutionReceipt" => {
                ("resolution", run("chain", text("chain_id")), text("chain_id"), text("receipt_id"))
            }
            "HardCallResolutionReceipt" => {
                ("answer", run("call", text("hard_call_id")), text("hard_call_id"), text("receipt_id"))
            }
            "RevisionReviewDecisionReceipt" => {
                ("decision", run("review", text("packet_id")), text("receipt_id"), text("action"))
            }
            "TaskCancelReceipt" => {
                ("cancel", run("cancel", text("cancel_request_id")), text("receipt_id"), text("receipt_id"))
            }
            "TaskSkipReceipt" => {
                let step = json.reference("target_ref").map(|to| to.id.to_owned()).unwrap_or_default();
                ("skip", run("step", step.clone()), step, text("reason"))
            }
            "WorkspaceExternalizationReceipt" => {
                ("left", task("workspace", text("workspace_id")), text("receipt_id"), text("status"))
            }
            "LibraryPromotionReceipt" => {
                ("promotion", task("candidate", text("candidate_id")), text("receipt_id"), text("status"))
            }
            // Where a chain or a need stands may be known before; that it is proven is shown too.
            "LifecycleTransitionReceipt" => {
                let subject = json.reference("subject_ref").expect("a subject");
                let (what, place) = match subject.kind {
                    "evaluation_chain_registry_record" => {
                        ("chain moved", run("chain", subject.id.to_owned()))
                    }
                    "research_need" => ("need moved", task("need", subject.id.to_owned())),
                    _other => return,
                };
                (what, place, text("receipt_id"), text("to_state"))
            }
            // A claim belongs to who cites it.
            "ClaimSupportDerivationReceipt" => {
                ("claim", Some(String::new()), text("claim_ref"), text("receipt_id"))
            }
            "PolicyEvaluation" if json.text("superseded_by").is_some() => {
                ("superseded", Some(String::new()), text("policy_evaluation_id"), text("superseded_by"))
            }
            _other => return,
        };
        self.tell(what, place.as_deref(), id, said);
    }

    fn tell(&mut self, what: &'static str, place: Option<&str>, id: String, said: String) {
        let place = place.unwrap_or_else(|| panic!("nobody knows where {what} {id} belongs"));
        self.told.entry((what, place.to_owned())).or_default().insert(id, said);
    }

    /// How everything stands: a line for each thing, by what it is and the run, task or matter that it belongs to.
    fn standing(&self) -> BTreeMap<(&'static str, String), BTreeMap<String, String>> {
        let mut all = self.told.clone();
        let mut packets: BTreeMap<String, String> = BTreeMap::new();
        let mut shown = Vec::new();
        self.folds.board.projections(&mut shown);
        for one in &shown {
            if let Some(run) = one.record.text("run_id").filter(|_| one.kind == "TaskReliancePacket") {
                packets.insert(one.id.clone(), run.to_owned());
            }
        }
        for one in shown {
            let (json, id) = (&one.record, one.id.clone());
            let say = |members: &[&str]| {
                members
                    .iter()
                    .map(|member| json.text(member).unwrap_or_default())
                    .collect::<Vec<_>>()
                    .join(" ")
            };
            let own = |member: &str| json.text(member).unwrap_or_default().to_owned();
            let run = |what: &'static str| self.runs.get(&(what, id.clone())).cloned().unwrap_or_default();
            let (what, place, said) = match one.kind {
                "EvaluationFindingRecord" => {
                    let said = say(&["current_state", "current_severity"]);
                    let matter = self.matters.get(&id).cloned().unwrap_or_default();
                    all.entry(("inbox", matter)).or_default().insert(id.clone(), said.clone());
                    ("finding", run("finding"), said)
                }
                "OutcomeRecord" => ("outcome", own("run_id"), say(&["state"])),
                "HardCallCurrent" => ("call", run("call"), say(&["state"])),
                "ResearchNeed" => ("need", own("task_id"), say(&["status"])),
                "TaskReliancePacket" => ("packet", own("run_id"), say(&["lifecycle_state"])),
                "WorkProductCertification" => {
                    let packet = json.reference("task_reliance_packet_ref").map(|to| to.id.to_owned());
                    let run = packet.and_then(|packet| packets.get(&packet).cloned());
                    ("certification", run.unwrap_or_default(), say(&["lifecycle_state"]))
                }
                "EvaluationContractReview" => {
                    ("approval", own("run_id"), say(&["approval_status", "lifecycle_state"]))
                }
                "RevisionReviewPacket" => ("review", own("run_id"), say(&["state"])),
                "AttentionLedgerItem" => ("item", own("run_id"), say(&["lifecycle_state"])),
                "EvaluationChainRegistryRecord" => ("chain", own("run_id"), say(&["status"])),
                "SourceWorkspaceCurrentState" => ("workspace", own("task_id"), say(&["head_hash"])),
                "SourceRecord" => {
                    ("tier", own("task_id"), json.count("tier").unwrap_or_default().to_string())
                }
                _other => continue,
            };
            all.entry((what, place)).or_default().insert(id, said);
        }
        all
    }
}

type Standing = BTreeMap<(&'static str, String), BTreeMap<String, String>>;

/// Where a read model is of: its run, task and matter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    run: String,
    task: String,
    matter: String,
}

/// Where things that a read model is made of belong.
#[derive(Clone, Copy)]
enum Of {
    Run,
    Task,
    Matter,
    Anywhere,
}
use Of::{Anywhere, Matter, Run, Task};

/// Part of what a read model is made of: what it is, where it belongs, and what of it is shown.
struct Part(&'static str, Of, Shows);

/// What of a part is shown.
enum Shows {
    /// Everything.
    All,
    /// What is one of these words.
    Only(&'static [&'static str]),
    /// What it cites; the rest is none of its business.
    Cited,
    /// What was there when it was derived. What comes later comes with something else that ends it, or with the next one.
    Then,
}
use Shows::{All, Cited, Only, Then};

/// A packet and a certification are nobody's until they are ready.
const BEYOND_DRAFT: Shows =
    Only(&["ready_for_review", "user_reviewed", "issued", "invalidated", "superseded", "archived"]);
const NEED: Shows = Only(&["human_needed", "unresolved"]);
/// An outcome that waits for its turn says nothing.
const JUDGED: Shows = Only(&[
    "pending_dependency",
    "evaluating",
    "dirty",
    "satisfied",
    "needs_revision",
    "needs_information",
    "needs_verification",
    "needs_human_judgment",
    "unable_to_evaluate",
    "blocked_by_policy",
    "regressed",
    "upstream_failure",
    "unrecoverable",
    "superseded",
    "max_iterations_reached",
]);

const OPEN_CALL: Shows = Only(&["pending", "deferred", "escalated"]);

/// What each read model is made of.
fn parts(model: ReadModel) -> Vec<Part> {
    let packet = || {
        vec![
            Part("head", Run, All),
            Part("workspace", Task, All),
            Part("finding", Run, All),
            Part("superseded", Anywhere, Cited),
            Part("call", Run, OPEN_CALL),
            Part("answer", Run, All),
            Part("package", Run, All),
            Part("resolution", Run, All),
            Part("decision", Run, All),
            Part("need", Task, NEED),
            Part("checkpoint", Run, All),
            Part("packet", Run, BEYOND_DRAFT),
            Part("certification", Run, BEYOND_DRAFT),
        ]
    };
    match model {
        ReadModel::TaskReliancePacket | ReadModel::WorkProductCertification => packet(),
        ReadModel::TaskHealthCard => vec![
            Part("outcome", Run, JUDGED),
            Part("finding", Run, Then),
            Part("call", Run, OPEN_CALL),
            Part("answer", Run, All),
            Part("resolution", Run, All),
            Part("decision", Run, All),
            Part("packet", Run, BEYOND_DRAFT),
            Part("certification", Run, BEYOND_DRAFT),
            Part("cost", Run, All),
            Part("item", Run, Only(&["resolved", "dismissed", "superseded"])),
            Part("cancel", Run, All),
            Part("skip", Run, All),
        ],
        ReadModel::FindingsInbox => vec![Part("inbox", Matter, All)],
        ReadModel::RunDiff => vec![
            Part("head", Run, All),
            Part("plan", Run, Then),
            Part("outcome", Run, JUDGED),
            Part("cost", Run, All),
            Part("packet", Run, BEYOND_DRAFT),
            Part("certification", Run, BEYOND_DRAFT),
            Part("fork", Run, All),
            Part("cancel", Run, All),
            Part("skip", Run, All),
        ],
        ReadModel::DecisionAuditView => vec![
            Part("resolution", Run, All),
            Part("finding", Run, Then),
            Part("superseded", Anywhere, Cited),
            Part("answer", Run, All),
            Part("decision", Run, All),
            Part("left", Task, All),
            Part("promotion", Task, All),
        ],
        ReadModel::EvidencePackage => vec![
            Part("head", Run, All),
            Part("workspace", Task, All),
            Part("claim", Anywhere, Cited),
            Part("need", Task, NEED),
            Part("tier", Task, Cited),
        ],
        ReadModel::EvaluationChainView => vec![
            Part("chain", Run, Only(&["partial", "complete", "timed_out", "superseded", "invalidated"])),
            Part("chain moved", Run, All),
            Part("result", Run, All),
            Part("resolution", Run, All),
            Part("finding", Run, Then),
        ],
        ReadModel::AttentionLedger => vec![
            Part("call", Run, OPEN_CALL),
            Part("answer", Run, All),
            Part(
                "finding",
                Run,
                Only(&["contested blocking", "contested high", "contested medium", "contested low"]),
            ),
            Part("need", Task, Only(&["human_needed"])),
            Part("need moved", Task, All),
            Part("review", Run, All),
            Part("decision", Run, All),
            Part("approval", Run, Then),
            Part("packet", Run, Only(&["ready_for_review"])),
            Part("certification", Run, Only(&["ready_for_review"])),
            Part("item", Run, Only(&["resolved", "dismissed", "superseded"])),
            Part("cancel", Run, All),
        ],
        ReadModel::BudgetNarrative => vec![Part("cost", Run, All), Part("forecast", Run, All)],
    }
}

/// A read model derived from what is known: what it shows, and what it is made of.
#[derive(Debug, PartialEq, Eq)]
struct Derived {
    payload: String,
    inputs: String,
}

fn derive(model: ReadModel, place: &Place, all: &Standing, cites: &BTreeSet<String>) -> Derived {
    let (mut payload, mut inputs) = (String::new(), String::new());
    let nothing = BTreeMap::new();
    for Part(what, of, shows) in parts(model) {
        let of = match of {
            Run => place.run.clone(),
            Task => place.task.clone(),
            Matter => place.matter.clone(),
            Anywhere => String::new(),
        };
        for (id, said) in all.get(&(what, of)).unwrap_or(&nothing) {
            let line = format!("{what} {id} {said}\n");
            let is_shown = match &shows {
                All => true,
                Only(words) => words.contains(&said.as_str()),
                Cited | Then => cites.contains(&cite(what, id)),
            };
            if is_shown {
                payload.push_str(&line);
            }
            if is_shown || !matches!(shows, Cited) {
                inputs.push_str(&line);
            }
        }
    }
    Derived { payload, inputs }
}

/// The reference under which a header cites a part.
fn cite(what: &str, id: &str) -> String {
    match what {
        "superseded" => format!("policy_evaluation:{id}"),
        // The reference itself.
        "claim" => id.to_owned(),
        other => format!("{other}:{id}"),
    }
}

/// A header that is looked at: what it is of, what it cites, what it showed.
struct Shown {
    model: ReadModel,
    place: Place,
    cites: BTreeSet<String>,
    payload: String,
}

/// Everything that could be cited now.
fn cited(all: &Standing, policies: &BTreeSet<String>) -> BTreeSet<String> {
    let here = all.iter().flat_map(|((what, _), ids)| ids.keys().map(|id| cite(what, id)));
    here.chain(policies.iter().cloned()).collect()
}

/// Headers are put into a log at some places; what each shows is derived anew after every batch.
fn follow(rows: &[Written]) -> (usize, usize) {
    let (mut known, mut headers) = (Known::default(), Headers::default());
    let mut shown: BTreeMap<String, Shown> = BTreeMap::new();
    let mut policies: BTreeSet<String> = BTreeSet::new();
    let (mut seq, mut compared, mut ended) = (0, 0, 0);
    let mut before = known.standing();
    for (number, batch) in worlds::batches(rows).enumerate() {
        for row in batch {
            seq += 1;
            known.push(&row.draft);
            policies.extend(
                row.draft.record.text("policy_evaluation_id").map(|id| format!("policy_evaluation:{id}")),
            );
            let id = row.draft.name(seq);
            let (kind, at, json) = (&row.draft.kind, row.draft.at, &row.draft.record);
            headers.apply(&Row { seq, kind, id: &id, at, json, streams: None });
        }
        let after = known.standing();
        let kinds: Vec<&str> = batch.iter().map(|row| row.draft.kind.as_str()).collect();
        let is_same = after == before;
        shown.retain(|id, one| {
            if is_same && headers.ended(id).is_none() {
                return true;
            }
            let now = derive(one.model, &one.place, &after, &one.cites);
            if headers.ended(id).is_none() {
                compared += 1;
                assert_eq!(now.payload, one.payload, "{:?} counts as valid after {kinds:?}", one.model);
                return true;
            }
            ended += 1;
            let was = derive(one.model, &one.place, &before, &one.cites);
            assert_ne!(now.inputs, was.inputs, "{:?} ended by {kinds:?}, and nothing changed", one.model);
            false
        });
        if number % EVERY == 0 {
            show(&mut headers, &mut shown, &after, &policies, (seq, rows));
        }
        before = after;
    }
    (compared, ended)
}

/// A header of each read model for every run is written after so many batches.
const EVERY: usize = 47;

/// Writes them, each with a manifest of all that it could cite.
fn show(
    headers: &mut Headers,
    shown: &mut BTreeMap<String, Shown>,
    all: &Standing,
    policies: &BTreeSet<String>,
    (seq, rows): (u64, &[Written]),
) {
    let runs = rows[..usize::try_from(seq).unwrap()].iter().filter_map(|row| {
        let text = |member: &str| row.draft.record.text(member).map(str::to_owned);
        let matter = text("matter_id")?;
        Some(Place { run: text("run_id")?, task: text("task_id")?, matter })
    });
    for place in runs.collect::<BTreeSet<Place>>() {
        for model in ReadModel::ALL {
            let id = format!("shown-{seq}-{}-{}", place.run, model.as_str());
            let cites = cited(all, policies);
            let refs: Vec<String> = cites.iter().map(|one| format!("'{one}'")).collect();
            let manifest = decided::manifest(0, &format!("{id}-manifest"), &refs.join(","));
            let Derived { payload, .. } = derive(*model, &place, all, &cites);
            for draft in [manifest, header(&id, *model, &place, seq)] {
                let (kind, json) = (draft.kind.as_str(), &draft.record);
                headers.apply(&Row { seq, kind, id: &draft.name(seq), at: draft.at, json, streams: None });
            }
            shown.insert(id, Shown { model: *model, place: place.clone(), cites, payload });
        }
    }
}

fn header(id: &str, model: ReadModel, place: &Place, from: u64) -> Draft {
    let Place { run, task, matter } = place;
    let model = model.as_str();
    super::rows::row(
        "DerivedReadModelRecord",
        0,
        &format!(
            "{{'read_model_id':'{id}','read_model_kind':'{model}','input_manifest_ref':'read_model_input_manifest:{id}-manifest',
              'valid_from_event_seq':{from},'run_id':'{run}','task_id':'{task}','matter_id':'{matter}'}}"
        ),
    )
}

#[test]
fn what_counts_as_valid_is_as_derived_anew() {
    let (mut compared, mut ended) = (0, 0);
    let logs = (0..12).map(|nth| worlds::some(400 + nth as u64, nth, 12)).chain([worlds::log(404, 3)]);
    for rows in logs {
        let counted = follow(&rows);
        (compared, ended) = (compared + counted.0, ended + counted.1);
    }
    assert!(compared > 5_000 && ended > 800, "{compared} compared, {ended} ended");
}
