//! What all records are made of: references, times, hashes, words that the contract uses and does not declare.
//! Owns: their forms. Must not: resolve a reference.

use super::regeneration::RegenerateRevisionPayload;
pub use super::scope::{ArtifactScopeRef, ResearchTarget, ScopeAnchor};
use super::wire::{Reading, Wire, record};
pub use super::word::*;
use crate::member::Member;
use crate::reference::Reference;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::json::{Json, Number, Object};
use countersign_record::time::{self, Timestamp};

/// A text of a certain form, through one door.
macro_rules! text {
    ($(#[doc = $doc:literal])* $name:ident, $is:expr, $message:literal, $pattern:literal) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }

            fn is(text: &str) -> bool {
                let is: fn(&str) -> bool = $is;
                is(text)
            }
        }

        impl TryFrom<&str> for $name {
            type Error = NotOfThatForm;

            fn try_from(text: &str) -> Result<Self, NotOfThatForm> {
                if $name::is(text) { Ok($name(text.to_string())) } else { Err(NotOfThatForm($message)) }
            }
        }

        impl Wire for $name {
            fn read(value: &Json, reading: &mut Reading) -> Option<Self> {
                let text = value.as_str().unwrap_or_default();
                $name::try_from(text).map_or_else(|error| reading.wrong(error.0), Some)
            }

            fn fits(value: &Json) -> bool {
                $name::is(value.as_str().unwrap_or_default())
            }

            fn write(&self) -> Option<Json> {
                Some(self.0.as_str().into())
            }

            fn schema() -> Json {
                Object::from([
                    ("title", Json::from(stringify!($name))),
                    ("type", "string".into()),
                    ("description", $message.into()),
                    ("pattern", $pattern.into()),
                ])
                .into()
            }

            fn schema_inside() -> Json {
                super::wire::inside::<Self>(stringify!($name))
            }
        }
    };
}

/// A text is not of the form that it must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotOfThatForm(&'static str);

text!(
    /// A reference to a record.
    StorageRef, |text| Reference::read(text).is_some(), "must be a reference like kind:id@version#hash",
    "^[a-z0-9_]+:.+$"
);
text!(
    /// A reference to a decision of a policy.
    PolicyEvaluationRef,
    |text| Reference::read(text).is_some_and(|found| found.kind == "policy_evaluation"),
    "must be a reference like policy_evaluation:id",
    "^policy_evaluation:.+$"
);
text!(
    /// A reference to a source.
    SourceRecordRef,
    |text| Reference::read(text).is_some_and(|found| found.kind == "src"),
    "must be a reference like src:id",
    "^src:.+$"
);
text!(
    /// A reference to a set of sources.
    SourceSetRef,
    |text| Reference::read(text).is_some_and(|found| found.kind == "srcset"),
    "must be a reference like srcset:id",
    "^srcset:.+$"
);
text!(
    /// A reference to a claim of an artifact.
    ClaimRef,
    |text| {
        let parts = text.strip_prefix("claim:").and_then(|rest| rest.split_once('/'));
        parts.is_some_and(|(artifact, claim)| !artifact.is_empty() && !claim.is_empty())
    },
    "must be a reference like claim:artifact/claim",
    "^claim:[^/]+/.+$"
);
text!(
    /// Which outcome.
    OutcomeId, |text| !text.trim().is_empty(), "must be the id of an outcome", "[^ ]"
);
text!(
    /// A time in UTC.
    Instant,
    |text| text.ends_with('Z') && time::Instant::read(text).is_some(),
    "must be a time in UTC like 2026-01-31T08:00:00Z",
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?Z$"
);
impl From<&Timestamp> for Instant {
    /// A time that was written with an offset is told without one; where no year can say that, as it was written.
    fn from(at: &Timestamp) -> Self {
        let has_offset = !at.as_str().ends_with('Z');
        let utc = has_offset.then(|| Timestamp::try_from(at.instant()).ok()).flatten();
        Instant(utc.as_ref().unwrap_or(at).as_str().to_string())
    }
}

text!(
    /// A duration of days, hours, minutes and seconds.
    Duration, is_duration, "must be a duration like P2DT6H of days, hours, minutes and seconds",
    "^P(?=.)([0-9]+D)?(T(?=.)([0-9]+H)?([0-9]+M)?([0-9]+S)?)?$"
);

/// `P[nD][T[nH][nM][nS]]`: months and years have no length of their own.
fn is_duration(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('P') else { return false };
    let (days, time) = rest.split_once('T').map_or((rest, None), |(days, time)| (days, Some(time)));
    let counts = |part: &str, units: &str| {
        let (mut digits, mut last) = (0, None);
        for letter in part.chars() {
            match units.find(letter) {
                Some(at) if digits > 0 && last.is_none_or(|last| at > last) => (digits, last) = (0, Some(at)),
                Some(_) => return false,
                None if letter.is_ascii_digit() => digits += 1,
                None => return false,
            }
        }
        digits == 0
    };
    rest.len() > 1 && counts(days, "D") && time.is_none_or(|time| !time.is_empty() && counts(time, "HMS"))
}

/// The one number or truth that a member may have.
macro_rules! only {
    ($(#[doc = $doc:literal])* $name:ident, $text:literal, $json:expr) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name;

        impl Wire for $name {
            fn read(value: &Json, reading: &mut Reading) -> Option<Self> {
                if *value == $json { Some($name) } else { reading.wrong(concat!("must be ", $text)) }
            }

            fn fits(value: &Json) -> bool {
                *value == $json
            }

            fn write(&self) -> Option<Json> {
                Some($json)
            }

            fn schema() -> Json {
                Object::from([("const", $json)]).into()
            }
        }
    };
}

only!(
    /// `true`, always.
    True, "true", Json::Bool(true)
);
only!(
    /// `false`, always.
    False, "false", Json::Bool(false)
);
only!(
    /// Version 1.0 of a schema.
    V10, "\"1.0\"", Json::from("1.0")
);
only!(
    /// Version 1.1 of a schema.
    V11, "\"1.1\"", Json::from("1.1")
);
only!(
    /// Version 2.0 of a schema.
    V20, "\"2.0\"", Json::from("2.0")
);

/// From 0 to 1, always.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitRange;

impl Wire for UnitRange {
    fn read(value: &Json, reading: &mut Reading) -> Option<Self> {
        let ends = <(Number, Number)>::read(value, reading)?;
        let is_unit = ends.0.as_u64() == Some(0) && ends.1.as_u64() == Some(1);
        if is_unit { Some(UnitRange) } else { reading.wrong("must be [0, 1]") }
    }

    fn write(&self) -> Option<Json> {
        (Number::from(0_u32), Number::from(1_u32)).write()
    }

    fn schema() -> Json {
        Object::from([("const", Json::Array([0_u32, 1].map(|end| Json::Number(Number::from(end))).into()))])
            .into()
    }
}

/// A closed set of numbers.
macro_rules! numbers {
    ($(#[doc = $doc:literal])* $name:ident { $($variant:ident = $text:literal),* $(,)? }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "the contract's own numbers")]
        pub enum $name { $($variant),* }

        impl $name {
            const ALL: &'static [(Self, &'static str)] = &[$(($name::$variant, $text)),*];
        }

        impl Wire for $name {
            fn read(value: &Json, reading: &mut Reading) -> Option<Self> {
                let literal = match value {
                    Json::Number(number) => number.literal(),
                    Json::Null | Json::Bool(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => String::new(),
                };
                let found = Self::ALL.iter().find(|(_, text)| *text == literal).map(|(one, _)| *one);
                found.or_else(|| reading.wrong(concat!("must be one of", $(" ", $text),*)))
            }

            fn write(&self) -> Option<Json> {
                let text = Self::ALL.iter().find(|(one, _)| one == self).map(|(_, text)| *text)?;
                countersign_record::json::parse(text.as_bytes()).ok()
            }

            fn schema() -> Json {
                let all = Self::ALL.iter().filter_map(|(one, _)| one.write()).collect();
                Object::from([("enum", Json::Array(all))]).into()
            }
        }
    };
}

numbers! {
    /// How sure an interval is.
    IntervalLevel { P80 = "0.8", P90 = "0.9", P95 = "0.95", P99 = "0.99" }
}
impl IntervalLevel {
    /// The number.
    #[must_use]
    pub fn number(self) -> f64 {
        match self {
            IntervalLevel::P80 => 0.8,
            IntervalLevel::P90 => 0.9,
            IntervalLevel::P95 => 0.95,
            IntervalLevel::P99 => 0.99,
        }
    }
}

numbers! {
    /// How well a source in a workspace is documented.
    SourceTier { One = "1", Two = "2", Three = "3" }
}
numbers! {
    /// What the library asks for.
    LibraryTier { Two = "2", Three = "3" }
}
numbers! {
    /// How well a source is documented: 0 is a receipt only, 4 a bundle.
    SourceDocumentationTier { Zero = "0", One = "1", Two = "2", Three = "3", Four = "4" }
}

record! {
    /// From a time to another, that one left out.
    DateRange: value { start: Instant, end: Instant }
    holds |range| {
        let at = |name| range.text(name).and_then(time::Instant::read);
        at("start").zip(at("end")).is_none_or(|(start, end)| start <= end)
    }, "must not end before it begins"
}
record! {
    /// A schema of the registry.
    SchemaRef: value { schema_id: String, semantic_version: String }
}
record! {
    /// A port of a module.
    PortRef: value { module_id: String, port_id: String }
}
record! {
    /// A sub-agent.
    SubAgentRef: value { sub_agent_id: String, version: String }
}
record! {
    /// What somebody must be able to do.
    CapabilityRef: value { capability_id: String, min_version: Option<String> }
}
record! {
    /// A score, and whether it was calibrated.
    CalibratedScore: value {
        value: Number,
        calibration: Calibration,
        metric_ref: String,
        interval: Option<(Number, Number)>,
    }
}
record! {
    /// What is asked of an outcome.
    Criterion: policy {
        criterion_id: String,
        scoring_basis: ScoringBasis,
        weight: Option<Number>,
        priority: Option<CriterionPriority>,
        required: bool,
        threshold: Option<Number>,
        config_id: Option<String>,
        schema_version: Option<V10>,
    }
}
record! {
    /// How compliance with criteria is scored.
    OutcomeComplianceScoringConfig: policy {
        config_id: Option<String>,
        unanchored_llm_judgment_policy: UnanchoredPolicy,
        default_weight_policy: WeightPolicy,
        priority_weight_map: alloc::collections::BTreeMap<CriterionPriority, Number>,
        positive_observation_required: bool,
        criterion_refs: Option<Vec<StorageRef>>,
        outcome_id: Option<String>,
        schema_version: Option<V10>,
    }
}
record! {
    /// What a person may choose.
    HumanDecisionOption: value {
        option_id: String,
        label: String,
        effect: DecisionEffect,
        consequence_text: String,
    }
}
record! {
    /// What was evaluated.
    EvaluatedTarget: value {
        target_kind: TargetKind,
        artifact_ref: Option<StorageRef>,
        artifact_version_ref: Option<StorageRef>,
        scope_ref: Option<ArtifactScopeRef>,
        claim_ref: Option<ClaimRef>,
        plan_ref: Option<StorageRef>,
        run_id: Option<String>,
        process_ref: Option<StorageRef>,
    }
}
record! {
    /// What an evaluation rests on.
    EvaluationBasis: value {
        snapshot_ref: Option<StorageRef>,
        basis_kinds: Vec<AssuranceBasis>,
        source_workspace_snapshot_refs: Vec<StorageRef>,
        human_feedback_refs: Vec<StorageRef>,
        criteria_refs: Vec<StorageRef>,
    }
}
record! {
    /// What an evaluator advises; the receipt of the chain decides.
    EvaluationRouteRecommendation: value {
        recommended_branch: super::feedback::FeedbackBranch,
        repair_instruction_refs: Vec<StorageRef>,
        rationale: String,
    }
}
record! {
    /// A step of a plan, with what its kind needs.
    RevisionPlanStep: request {
        step_id: String,
        step_order: u64,
        step_kind: RevisionPlanStepKind,
        depends_on_step_ids: Vec<String>,
        target_refs: Vec<StorageRef>,
        revalidation_policy: super::revision::RevisionStepRevalidationPolicy,
        revalidation_rationale: Option<String>,
        payload: Option<Json>,
        schema_version: V10,
    }
    holds |step| step.at("payload").is_none_or(|payload| match step.text("step_kind").and_then(RevisionPlanStepKind::find) {
        Some(RevisionPlanStepKind::RegenerateSection) => RegenerateRevisionPayload::fits(payload),
        Some(_) | None => payload.as_object().is_some(),
    }), "must have a payload as its kind needs one"
}
record! {
    /// What a repair is made on.
    RepairTarget: value {
        target_kind: RepairTargetKind,
        target_ref: Option<StorageRef>,
        artifact_scope_ref: Option<ArtifactScopeRef>,
    }
}
