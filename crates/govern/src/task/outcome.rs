//! What must be true of the work, and how that is told.
//! Owns: the members of outcomes and criteria, their defaults. Must not: score.

use crate::types::basic::{CriterionPriority, ScoringBasis, UnanchoredPolicy, WeightPolicy};
use crate::types::quality::{
    QualityIndexAggregationMethod as Aggregation, QualityIndexMissingDimensionPolicy as Missing,
};
use crate::{record, words};
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::json::{Json, Number, Object};

record! {
    /// Something that must be true of the work.
    Outcome: value {
        id: String,
        statement: String,
        artifact: Option<String>,
        section: Option<String>,
        depends_on: Option<Vec<String>>,
        required: Option<bool>,
        high_stakes: Option<bool>,
        priority: Option<u64>,
        threshold: Option<Number>,
        aggregation: Option<Aggregation>,
        missing: Option<Missing>,
        weights: Option<WeightPolicy>,
        unanchored: Option<UnanchoredPolicy>,
        capabilities: Option<Vec<String>>,
        criteria: Vec<Criterion>,
    }
}

record! {
    /// A criterion.
    Criterion: value {
        id: String,
        text: String,
        basis: ScoringBasis,
        check: Option<Test>,
        rubric: Option<Vec<Level>>,
        question: Option<String>,
        labels: Option<Vec<String>>,
        pass: Option<Vec<String>>,
        weight: Option<Number>,
        priority: Option<CriterionPriority>,
        required: Option<bool>,
        threshold: Option<Number>,
    } holds |_| true, "" schema required_told
}

/// What a schema alone can't say: the default of `required`.
fn required_told(schema: Json) -> Json {
    let description = "Whether its outcome fails without it: true for a human_label, false for everything else where nothing is said.";
    let (Some(mut members), Some(mut properties)) =
        (schema.as_object().cloned(), schema.get("properties").and_then(Json::as_object).cloned())
    else {
        return schema;
    };
    let told = Object::from([("type", Json::from("boolean")), ("description", description.into())]);
    properties.insert("required", told);
    members.insert("properties", properties);
    members.into()
}

record! {
    /// A level of a rubric.
    Level: value { level: u64, text: String }
}

words! {
    /// What a deterministic check looks at.
    TestKind {
        Section = "section", Sections = "sections", Length = "length", Matches = "matches",
        Mentions = "mentions", Citations = "citations", JsonSchema = "json_schema", Command = "command",
    }
}

record! {
    /// A deterministic check.
    Test: value {
        kind: TestKind,
        heading: Option<String>,
        headings: Option<Vec<String>>,
        words_min: Option<u64>,
        words_max: Option<u64>,
        pattern: Option<String>,
        must_not: Option<bool>,
        any: Option<Vec<String>>,
        all: Option<Vec<String>>,
        min: Option<u64>,
        sources_min: Option<u64>,
        schema: Option<String>,
        argv: Option<Vec<String>>,
        exit: Option<u64>,
    }
}

/// The score that an outcome needs, where nothing is said.
const THRESHOLD_DEFAULT: &str = "0.7";
/// The score that a criterion needs, where nothing is said.
const CRITERION_THRESHOLD_DEFAULT: &str = "0.5";

/// A number by its digits; 0 if they are none.
#[must_use]
pub fn decimal(digits: &str) -> Number {
    match countersign_record::json::parse(digits.as_bytes()) {
        Ok(Json::Number(number)) => number,
        Ok(_) | Err(_) => Number::from(0_u32),
    }
}

impl Outcome {
    /// What it depends on.
    #[must_use]
    pub fn depends_on(&self) -> &[String] {
        self.depends_on.as_deref().unwrap_or_default()
    }

    /// Whether the work fails without it.
    #[must_use]
    pub fn is_required(&self) -> bool {
        self.required.unwrap_or(true)
    }

    /// The score that it needs.
    #[must_use]
    pub fn threshold(&self) -> Number {
        self.threshold.clone().unwrap_or_else(|| decimal(THRESHOLD_DEFAULT))
    }

    /// How scores are put together.
    #[must_use]
    pub fn aggregation(&self) -> Aggregation {
        self.aggregation.unwrap_or(Aggregation::AllRequiredThenWeightedMean)
    }

    /// What becomes of a criterion without a score.
    #[must_use]
    pub fn missing(&self) -> Missing {
        self.missing.unwrap_or(Missing::FailRequired)
    }

    /// Where weights come from.
    #[must_use]
    pub fn weights(&self) -> WeightPolicy {
        self.weights.unwrap_or(WeightPolicy::FromCriterionWeight)
    }

    /// Whether a criterion counts for the outcome once it is scored: what weighs nothing does not.
    #[must_use]
    pub fn counts(&self, criterion: &Criterion) -> bool {
        match self.weights() {
            WeightPolicy::FromCriterionWeight => criterion.weight().as_f64() > 0.0,
            WeightPolicy::FromPriority | WeightPolicy::Uniform => true,
        }
    }

    /// What becomes of judgments without an anchor.
    #[must_use]
    pub fn unanchored(&self) -> UnanchoredPolicy {
        self.unanchored.unwrap_or(UnanchoredPolicy::Indeterminate)
    }
}

impl Test {
    /// The exit code by which a command is met.
    #[must_use]
    pub fn exit(&self) -> u64 {
        self.exit.unwrap_or(0)
    }
}

impl Criterion {
    /// The command that looks at it, where one does.
    #[must_use]
    pub fn command(&self) -> Option<&[String]> {
        let test = self.check.as_ref().filter(|test| test.kind == TestKind::Command)?;
        test.argv.as_deref()
    }

    /// Whether the outcome fails without it: where nothing is said what a person is asked for is.
    #[must_use]
    pub fn is_required(&self) -> bool {
        self.required.unwrap_or(self.basis == ScoringBasis::HumanLabel)
    }

    /// Its weight.
    #[must_use]
    pub fn weight(&self) -> Number {
        self.weight.clone().unwrap_or_else(|| Number::from(1_u32))
    }

    /// How much it matters.
    #[must_use]
    pub fn priority(&self) -> CriterionPriority {
        self.priority.unwrap_or(CriterionPriority::ShouldHave)
    }

    /// The score that it needs.
    #[must_use]
    pub fn threshold(&self) -> Number {
        self.threshold.clone().unwrap_or_else(|| decimal(CRITERION_THRESHOLD_DEFAULT))
    }
}
