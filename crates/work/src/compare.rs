//! Two runs side by side: what each made, planned, found, spent, and how far it may be relied on.
//! Owns: what is compared with what. Must not: judge which is better, or write.

use crate::artifact::{self, Version};
use crate::cost;
use crate::desk::{Desk, Error, hash_of, reference};
use crate::diff;
use crate::finding;
use crate::outcome;
use crate::rely;
use crate::texts::Head;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::types::basic::{ArtifactVersionState as State, StorageRef, V10};
use countersign_govern::types::reliance::RunDiff;
use countersign_govern::types::revision::RevisionPlan;
use countersign_record::digest::Digest;
use countersign_record::json::{Json, Object};

/// A run, with the texts that count in it.
pub struct Side<'a> {
    /// Its records.
    pub desk: &'a Desk,
    /// Its work products.
    pub heads: &'a [Head],
}

/// A work product in two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// As the task calls it.
    pub id: String,
    /// The numbers of the versions that count.
    pub versions: [Option<u64>; 2],
    /// How many lines went, and how many came.
    pub lines: [usize; 2],
    /// The change from the first to the second; empty if there is none.
    pub unified: String,
}

/// Something that stands in each of two runs in some way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// What it is.
    pub what: String,
    /// How it stands in each; nothing where it is not there.
    pub stands: [Option<String>; 2],
}

impl Pair {
    fn new(what: &str, left: Option<String>, right: Option<String>) -> Self {
        Pair { what: what.to_string(), stands: [left, right] }
    }

    /// Whether it is the same in both.
    #[must_use]
    pub fn is_same(&self) -> bool {
        let [left, right] = &self.stands;
        left == right
    }
}

/// Two runs compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// In the contract's form.
    pub diff: RunDiff,
    /// The work products.
    pub artifacts: Vec<Artifact>,
    /// How each outcome stands.
    pub outcomes: Vec<Pair>,
    /// What each plan is about, and where it is.
    pub plans: Vec<Pair>,
    /// What was found, and how it stands.
    pub findings: Vec<Pair>,
    /// What was spent.
    pub cost: Pair,
    /// How far each may be relied on, and what limits it.
    pub reliance: Vec<Pair>,
}

impl Compared {
    /// Whether nothing differs.
    #[must_use]
    pub fn is_same(&self) -> bool {
        let pairs = [&self.outcomes, &self.plans, &self.findings, &self.reliance];
        self.artifacts.iter().all(|one| one.unified.is_empty())
            && pairs.into_iter().flatten().all(Pair::is_same)
            && self.cost.is_same()
    }
}

/// Compares two runs.
///
/// # Errors
/// Something can't be named.
pub fn compare(left: &Side<'_>, right: &Side<'_>) -> Result<Compared, Error> {
    let artifacts = artifacts(left, right);
    let outcomes = both(&outcomes(left.desk), &outcomes(right.desk));
    let plans = both(&plans(left.desk), &plans(right.desk));
    let findings = both(&findings(left.desk), &findings(right.desk));
    let spent = |desk: &Desk| Some(cost::told(&cost::spent(desk)));
    let cost = Pair::new("spent", spent(left.desk), spent(right.desk));
    let reliance = both(&reliance(left.desk), &reliance(right.desk));
    let runs = [left.desk.run(), right.desk.run()];
    let named = |kind: &str, what: &Json| named(kind, &runs, what);
    let changed = |pairs: &[Pair]| Json::Array(pairs.iter().filter(|one| !one.is_same()).map(pair).collect());
    let some = |kind: &str, pairs: &[Pair]| -> Result<Option<StorageRef>, Error> {
        pairs.iter().any(|one| !one.is_same()).then(|| named(kind, &changed(pairs))).transpose()
    };
    let mut artifact_diff_refs = Vec::new();
    for one in artifacts.iter().filter(|one| !one.unified.is_empty()) {
        artifact_diff_refs.push(named("artifact_diff", &one.unified.as_str().into())?);
    }
    let mut outcome_diff_refs = Vec::new();
    for one in outcomes.iter().filter(|one| !one.is_same()) {
        outcome_diff_refs.push(named("outcome_diff", &pair(one))?);
    }
    let diff = RunDiff {
        run_diff_id: format!("{}..{}", runs[0], runs[1]),
        left_run_id: runs[0].to_string(),
        right_run_id: runs[1].to_string(),
        artifact_diff_refs,
        plan_diff_ref: some("plan_diff", &plans)?,
        outcome_diff_refs,
        cost_diff_ref: some("cost_diff", core::slice::from_ref(&cost))?,
        reliance_diff_ref: some("reliance_diff", &reliance)?,
        derived_read_model_ref: reference("DerivedReadModelRecord", "unwritten")?,
        schema_version: V10,
    };
    Ok(Compared { diff, artifacts, outcomes, plans, findings, cost, reliance })
}

/// The name of a difference: the two runs, and the hash of what it is.
fn named(kind: &str, runs: &[&str; 2], what: &Json) -> Result<StorageRef, Error> {
    let text = format!("{kind}:{}..{}#{}", runs[0], runs[1], hash_of(what)?);
    StorageRef::try_from(text.as_str()).map_err(|_| Error::Unnameable(text))
}

fn pair(one: &Pair) -> Json {
    let side = |stands: &Option<String>| stands.as_deref().map_or(Json::Null, Json::from);
    let [left, right] = &one.stands;
    Object::from([("what", Json::from(one.what.as_str())), ("left", side(left)), ("right", side(right))])
        .into()
}

fn artifacts(left: &Side<'_>, right: &Side<'_>) -> Vec<Artifact> {
    let mut ids: Vec<&str> = Vec::new();
    for head in left.heads.iter().chain(right.heads) {
        if !ids.contains(&head.artifact.id.as_str()) {
            ids.push(&head.artifact.id);
        }
    }
    let one = |id: &str| {
        let of = |side: &Side<'_>| side.heads.iter().find(|head| head.artifact.id == id).cloned();
        let (before, after) = (of(left), of(right));
        let text = |head: &Option<Head>| head.as_ref().map(|head| head.text.clone()).unwrap_or_default();
        let path =
            before.as_ref().or(after.as_ref()).map(|head| head.artifact.path.clone()).unwrap_or_default();
        let number = |head: &Option<Head>| head.as_ref().map(|head| head.version.number);
        changed(id, &path, [number(&before), number(&after)], [&text(&before), &text(&after)])
    };
    ids.into_iter().map(one).collect()
}

/// A version of a work product that counted, and the one that counted before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    id: String,
    path: String,
    versions: [Version; 2],
}

/// The revisions of a run's work, in their order.
#[must_use]
pub fn revisions(desk: &Desk) -> Vec<Revision> {
    let counted = |one: &Version| matches!(one.state, Some(State::AcceptedHead | State::Superseded));
    let mut all = Vec::new();
    for product in &desk.task().artifacts {
        let versions: Vec<Version> = artifact::versions(desk, &product.id).filter(counted).collect();
        all.extend(versions.array_windows().map(|versions| Revision {
            id: product.id.clone(),
            path: product.path.clone(),
            versions: versions.clone(),
        }));
    }
    all
}

impl Revision {
    /// What it changed; nothing where a text was erased.
    pub fn compared(&self, text: impl Fn(&Digest) -> Option<String>) -> Option<Artifact> {
        let [before, after] = &self.versions;
        let (old, new) = text(&before.content).zip(text(&after.content))?;
        Some(changed(&self.id, &self.path, [Some(before.number), Some(after.number)], [&old, &new]))
    }
}

/// A work product as it was, and as it is.
fn changed(id: &str, path: &str, versions: [Option<u64>; 2], [old, new]: [&str; 2]) -> Artifact {
    let (gone, came) = diff::count(&diff::lines(old, new));
    Artifact { id: id.to_string(), versions, lines: [gone, came], unified: diff::unified(path, old, new) }
}

/// How things stand, by what they are called in the task.
type Stands = BTreeMap<String, String>;

fn both(left: &Stands, right: &Stands) -> Vec<Pair> {
    let names: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    names.into_iter().map(|name| Pair::new(name, left.get(name).cloned(), right.get(name).cloned())).collect()
}

fn outcomes(desk: &Desk) -> Stands {
    let state = |id: &str| outcome::state(desk, id).as_str().replace('_', " ");
    desk.task().outcomes.iter().map(|one| (one.id.clone(), state(&one.id))).collect()
}

/// Plans by what they are to mend and which one of these they are.
fn plans(desk: &Desk) -> Stands {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut all = Stands::new();
    for plan in desk.all::<RevisionPlan>() {
        let ids = plan.outcome_ids.iter().flatten().map(|id| desk.local(id).to_string());
        let about = ids.collect::<Vec<_>>().join(", ");
        let count = counts.entry(about.clone()).or_default();
        *count += 1;
        let state = desk.says("revision_plan", &plan.plan_id, "state").unwrap_or("planned").replace('_', " ");
        all.insert(format!("{about} (plan {count})"), format!("{} steps, {state}", plan.steps.len()));
    }
    all
}

/// Findings by what they say: they have other names in each run.
fn findings(desk: &Desk) -> Stands {
    let all = finding::all(desk).into_iter().map(|one| {
        let criterion = one.event.target_criterion_id.as_deref().map(|id| desk.local(id)).unwrap_or_default();
        let what = format!("{criterion}: {}", one.event.finding_text);
        (what, format!("{}, {}", one.event.severity.as_str(), one.state.as_str().replace('_', " ")))
    });
    all.collect()
}

fn reliance(desk: &Desk) -> Stands {
    let Some(packet) = rely::last(desk) else { return Stands::new() };
    let derivation = &packet.reliance_derivation;
    let limits = derivation.unresolved_limitations.iter().map(|one| one.as_str().replace('_', " "));
    let limits = limits.collect::<Vec<_>>().join(", ");
    Stands::from([
        ("status".to_string(), derivation.status.as_str().replace('_', " ")),
        ("lifecycle".to_string(), packet.lifecycle_state.as_str().replace('_', " ")),
        ("limitations".to_string(), if limits.is_empty() { "none".to_string() } else { limits }),
    ])
}
