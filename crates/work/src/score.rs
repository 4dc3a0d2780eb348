//! What each criterion is met by.
//! Owns: counting, and the value of a registered formula for each count. Must not: put scores together; `evaluate` does.

use crate::artifact::Version;
use crate::call::YES;
use crate::claims::Claimed;
use crate::desk::{Desk, Error, From, reference};
use crate::forum::Moderator;
use crate::task::{Artifact, Criterion, Outcome, Test, TestKind};
use crate::workspace;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::types::added::criterion::MetricValue;
use countersign_govern::types::added::outcome::HumanFeedbackEvent;
use countersign_govern::types::basic::{ScoringBasis, StorageRef, UnanchoredPolicy, V10};
use countersign_govern::types::claim::ClaimSupportStatus;
use countersign_govern::types::formula::{MetricObservation, NumericUnit};
use countersign_govern::types::wire::Wire;
use countersign_kernel::measure::{self, Check, Measured, Pattern};
use countersign_record::json::{Json, Object};

/// What only the world outside of the records can tell, by the ids of criteria.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// What a schema or a command found.
    pub checks: BTreeMap<String, Measured>,
    /// Why nothing was seen.
    pub unseen: BTreeMap<String, String>,
    /// The level that a judge gave, of the highest one.
    pub levels: BTreeMap<String, (u64, u64)>,
    /// What whoever leads a talk brings, by the ids of outcomes that are seen differently.
    pub led: BTreeMap<String, Moderator>,
}

/// What is looked at.
pub struct Subject<'a> {
    /// The work product.
    pub artifact: &'a Artifact,
    /// Its version.
    pub version: &'a Version,
    /// Its text.
    pub text: &'a str,
    /// What it claims, all of it.
    pub claims: &'a [Claimed],
}

/// What a criterion came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scored {
    /// Which, as the task calls it.
    pub criterion: String,
    /// What was found.
    pub found: Found,
}

/// What was found for a criterion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// So much of it is there.
    Value {
        /// The value as the formula gave it.
        value: Json,
        /// The receipt of it.
        receipt: StorageRef,
        /// What was counted.
        measured: Measured,
        /// Claims that are not supported, where it is about claims.
        claims: Vec<Claimed>,
    },
    /// Nobody can say yet.
    Nothing(Lacks),
    /// It does not count.
    Excluded,
}

/// Why nobody can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lacks {
    /// A person has not said.
    Label,
    /// There is no judge.
    Judge,
    /// What would look at it is not there, or failed.
    Tool,
    /// Sources say nothing, so nothing is claimed.
    Information,
    /// A judgment without an anchor was not agreed to.
    Anchor,
    /// Sources say different things, and a person must say which one counts.
    Choice,
}

/// Scores a criterion of an outcome.
///
/// # Errors
/// Something can't be written.
pub fn score(
    desk: &mut Desk,
    outcome: &Outcome,
    criterion: &Criterion,
    subject: &Subject<'_>,
    seen: &Seen,
) -> Result<Scored, Error> {
    let counted = match criterion.basis {
        ScoringBasis::DeterministicCheck => checked(outcome, criterion, subject, seen),
        ScoringBasis::SourceGrounded => grounded(outcome, subject),
        ScoringBasis::AnchoredRubric => rated(seen, criterion),
        ScoringBasis::HumanLabel => labelled(desk, criterion, subject.version),
        ScoringBasis::UnanchoredLlmJudgment => {
            match (label(desk, criterion, subject.version), outcome.unanchored()) {
                (_, UnanchoredPolicy::Exclude) => Err(Found::Excluded),
                (Some(said), _) => Ok(plain(worded(said == YES, &said))),
                (None, UnanchoredPolicy::Indeterminate) => Err(Found::Nothing(Lacks::Anchor)),
                (None, UnanchoredPolicy::IncludeWithAuditFlag) => rated(seen, criterion),
            }
        }
    };
    // Where nobody could look, what a person said counts.
    let counted = match counted {
        Err(Found::Nothing(lacks @ (Lacks::Judge | Lacks::Tool))) => {
            let said = label(desk, criterion, subject.version);
            said.map(|said| plain(worded(said == YES, &said))).ok_or(Found::Nothing(lacks))
        }
        counted => counted,
    };
    let found = match counted {
        Ok(Counted { measured, claims }) => {
            let (value, receipt) = observed(desk, criterion, subject.version, &measured)?;
            Found::Value { value, receipt, measured, claims }
        }
        Err(found) => found,
    };
    Ok(Scored { criterion: criterion.id.clone(), found })
}

struct Counted {
    measured: Measured,
    claims: Vec<Claimed>,
}

fn plain(measured: Measured) -> Counted {
    Counted { measured, claims: Vec::new() }
}

fn checked(
    outcome: &Outcome,
    criterion: &Criterion,
    subject: &Subject<'_>,
    seen: &Seen,
) -> Result<Counted, Found> {
    let test = criterion.check.as_ref().ok_or(Found::Nothing(Lacks::Tool))?;
    match check_of(test) {
        Some(check) => Ok(plain(measure::measure(&check, subject.text, heading(outcome, subject.artifact)))),
        None => seen.checks.get(&criterion.id).cloned().map(plain).ok_or(Found::Nothing(Lacks::Tool)),
    }
}

/// The heading that an outcome is about.
#[must_use]
pub fn heading<'a>(outcome: &'a Outcome, artifact: &'a Artifact) -> Option<&'a str> {
    let section = outcome.section.as_deref()?;
    Some(artifact.section(section).map_or(section, |one| one.heading.as_str()))
}

/// What can be counted of a text alone; `None` for what somebody else must look at.
#[must_use]
pub fn check_of(test: &Test) -> Option<Check> {
    match test.kind {
        TestKind::Section => Some(Check::Sections(test.heading.iter().cloned().collect())),
        TestKind::Sections => Some(Check::Sections(test.headings.clone().unwrap_or_default())),
        TestKind::Length => Some(Check::Length { min: test.words_min, max: test.words_max }),
        TestKind::Matches => {
            let pattern = Pattern::try_from(test.pattern.as_deref().unwrap_or_default()).ok()?;
            Some(Check::Matches { pattern, is_forbidden: test.must_not.unwrap_or(false) })
        }
        TestKind::Mentions => Some(Check::Mentions {
            any: test.any.clone().unwrap_or_default(),
            all: test.all.clone().unwrap_or_default(),
        }),
        TestKind::Citations => {
            Some(Check::Citations { min: test.min.unwrap_or(0), sources_min: test.sources_min.unwrap_or(0) })
        }
        TestKind::JsonSchema | TestKind::Command => None,
    }
}

/// The share of the claims that sources support.
fn grounded(outcome: &Outcome, subject: &Subject<'_>) -> Result<Counted, Found> {
    let heading = heading(outcome, subject.artifact);
    // What no source is held against limits the work, and is no sentence that a source could support.
    let held = subject.claims.iter().filter(|one| one.status != ClaimSupportStatus::NotChecked);
    let own: Vec<&Claimed> =
        held.filter(|one| heading.is_none() || one.section.as_deref() == heading).collect();
    if own.is_empty() {
        return Err(Found::Nothing(Lacks::Information));
    }
    let claims: Vec<Claimed> = own
        .iter()
        .filter(|one| one.status != ClaimSupportStatus::Supported)
        .map(|one| (*one).clone())
        .collect();
    let missing = claims.iter().map(|one| format!("support for {}", one.claim_ref.as_str())).collect();
    let met = (own.len() - claims.len()) as u64;
    Ok(Counted { measured: Measured { met, of: own.len() as u64, missing }, claims })
}

fn rated(seen: &Seen, criterion: &Criterion) -> Result<Counted, Found> {
    let (level, of) = *seen.levels.get(&criterion.id).ok_or(Found::Nothing(Lacks::Judge))?;
    let missing = if level < of { Vec::from([format!("level {of} (it is at {level})")]) } else { Vec::new() };
    Ok(plain(Measured { met: level.min(of), of: of.max(1), missing }))
}

/// What a person said of this version.
fn labelled(desk: &Desk, criterion: &Criterion, version: &Version) -> Result<Counted, Found> {
    let label = label(desk, criterion, version).ok_or(Found::Nothing(Lacks::Label))?;
    let is_pass = criterion.pass.as_ref().is_some_and(|pass| pass.contains(&label));
    Ok(plain(worded(is_pass, &label)))
}

/// What a person's word comes to.
fn worded(is_pass: bool, label: &str) -> Measured {
    let missing = if is_pass { Vec::new() } else { Vec::from([format!("a person said: {label}")]) };
    Measured { met: u64::from(is_pass), of: 1, missing }
}

/// The label that a person gave a criterion after a version was made.
#[must_use]
pub fn label(desk: &Desk, criterion: &Criterion, version: &Version) -> Option<String> {
    let made = desk.each::<Json>("ArtifactVersion").find(|found| found.id == version.id)?.seq;
    let subject = format!("criterion:{}", desk.own(&criterion.id));
    let mut said = desk.each::<HumanFeedbackEvent>("HumanFeedbackEvent");
    let last = said.rfind(|found| found.record.subject_ref.as_str() == subject)?;
    (last.seq > made).then_some(last.record.label)
}

/// The value of a count, by the formula, with its receipt and its observation.
fn observed(
    desk: &mut Desk,
    criterion: &Criterion,
    version: &Version,
    measured: &Measured,
) -> Result<(Json, StorageRef), Error> {
    let value_id = desk.id("score");
    let output_ref = reference("MetricValue", &value_id)?;
    let inputs = Object::from([
        ("met", measured.met.write().unwrap_or(Json::Null)),
        ("wanted", measured.of.write().unwrap_or(Json::Null)),
    ]);
    let input_refs = Vec::from([reference("Criterion", &desk.own(&criterion.id))?, version.reference()?]);
    let from = From { formula: "met_share_v1", inputs, input_refs, output_ref: output_ref.clone() };
    let derived = desk.derive_whole(from)?;
    let value = MetricValue {
        value_id,
        value: derived.value.clone(),
        unit: NumericUnit::Ratio,
        schema_version: Some(V10),
    };
    desk.open("MetricValue", &value)?;
    let (_, data_class, _) = workspace::whole(desk);
    desk.put(&MetricObservation {
        observation_id: desk.id("observed"),
        metric_id: "met_share_v1".to_string(),
        formula_eval_receipt_ref: derived.receipt.clone(),
        subject_ref: reference("Criterion", &desk.own(&criterion.id))?,
        observed_at: desk.now(),
        value_ref: output_ref,
        data_class,
        matter_id: Some(desk.matter().to_string()),
        schema_version: V10,
    })?;
    Ok((derived.value, derived.receipt))
}
