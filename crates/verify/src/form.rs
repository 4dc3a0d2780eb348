//! Whether a task is one: its members, of what kind each is, and what a check needs.
//! Owns: the form of a task as a packet carries it. Must not: know what it asks for; who ran it held it to all rules between members.

use crate::case::Case;
use crate::found::Found;
use crate::report::{Check, Place};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_govern::types::basic::{
    CriterionPriority, DataClass, Instant, ScoringBasis, SourceKind, UnanchoredPolicy, V10, WeightPolicy,
};
use countersign_govern::types::chain::EvaluationChainResolutionPolicyDisagreementRoute as Disagreement;
use countersign_govern::types::claim::{
    ClaimSupportDerivationPolicyContradictionRule as Contradiction,
    ClaimSupportDerivationPolicyPartialSupportRule as Partial,
};
use countersign_govern::types::cost::CostDimension;
use countersign_govern::types::externalization::WorkspaceExternalizationKind;
use countersign_govern::types::forum::ForumDeliberationPolicyOnNoConsensus as NoConsensus;
use countersign_govern::types::quality::{
    QualityIndexAggregationMethod as Aggregation, QualityIndexMissingDimensionPolicy as Missing,
};
use countersign_govern::types::source::{CoreAuthorityLevel, LegalTreatmentStatus};
use countersign_govern::types::taint::SourceTrustBasis;
use countersign_govern::types::wire::{Reading, Wire};
use countersign_govern::{record, words};
use countersign_kernel::measure::Pattern;
use countersign_record::code::Code;
use countersign_record::json::{Json, Number};

const CHECK: Check = Check::Task;
/// Quotes of a section, at most.
const QUOTES_MAX: u64 = 20;

record! {
    /// A task.
    Form: value {
        schema_version: V10,
        id: String,
        title: String,
        goal: String,
        audience: Option<String>,
        purpose: Option<String>,
        scope: Option<String>,
        work: Option<Work>,
        artifacts: Vec<Artifact>,
        sources: Vec<Source>,
        outcomes: Vec<Outcome>,
        policies: Option<Policies>,
        budget: Option<BTreeMap<CostDimension, Json>>,
        limits: Option<Limits>,
        capabilities: Option<Vec<String>>,
    }
}

record! {
    /// Who works.
    Work: value {
        model: Option<String>, judge: Option<String>, pipeline: Option<String>, replies: Option<String>,
    }
}

record! {
    /// How far a run may go.
    Limits: value {
        max_iterations: Option<u64>, max_llm_calls: Option<u64>, max_agent_hops: Option<u64>,
    }
}

words! {
    /// What a work product is.
    ArtifactKind { Markdown = "markdown", Json = "json", Code = "code" }
}

record! {
    /// A work product.
    Artifact: value {
        id: String,
        path: String,
        kind: ArtifactKind,
        title: Option<String>,
        from: Option<String>,
        codespec: Option<String>,
        language: Option<String>,
        filename: Option<String>,
        sections: Option<Vec<Section>>,
    }
}

record! {
    /// A section of one.
    Section: value { id: String, heading: String, ask: String, quotes: Option<u64> }
}

record! {
    /// A source.
    Source: value {
        id: String,
        path: String,
        title: Option<String>,
        kind: SourceKind,
        trust_basis: SourceTrustBasis,
        data_class: Option<DataClass>,
        tier: Option<u64>,
        privileged: Option<bool>,
        at: Option<Instant>,
        fresh_until: Option<Instant>,
        verified_by: Option<String>,
        jurisdiction: Option<String>,
        authority: Option<CoreAuthorityLevel>,
        treatment: Option<LegalTreatmentStatus>,
        matter: Option<String>,
    }
}

record! {
    /// What must be true of the work.
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
    /// A criterion of that.
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
    }
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

words! {
    /// Whether a person must approve.
    Approval { Waived = "waived", Required = "required" }
}

words! {
    /// Whether a person must approve a revision.
    RevisionApproval { Waived = "waived", MechanicalWaived = "mechanical_waived", Required = "required" }
}

words! {
    /// Whether something may leave.
    Leave { Never = "never", Confirm = "confirm", Free = "free" }
}

words! {
    /// What becomes of a question that nobody answers in time.
    Unanswered { Escalate = "escalate", Abort = "abort" }
}

record! {
    /// What a task allows.
    Policies: value {
        claim_support: Option<ClaimPolicy>,
        chain: Option<ChainPolicy>,
        sufficiency: Option<SufficiencyPolicy>,
        approval: Option<Approvals>,
        externalization: Option<BTreeMap<WorkspaceExternalizationKind, Leave>>,
        forum: Option<ForumPolicy>,
        questions: Option<QuestionPolicy>,
        library: Option<LibraryPolicy>,
    }
}

record! {
    /// How an evaluator and a judge talk.
    ForumPolicy: value {
        ticks_max: Option<u64>, consensus_pct: Option<u64>, no_consensus: Option<NoConsensus>,
    }
}

record! {
    /// How long questions stand.
    QuestionPolicy: value { timeout_hours: Option<u64>, on_timeout: Option<Unanswered> }
}

record! {
    /// What enters the library.
    LibraryPolicy: value {
        tier_min: Option<u64>, require_verified: Option<bool>, access_tier: Option<String>,
    }
}

record! {
    /// What counts as support.
    ClaimPolicy: value {
        direct_min: Option<u64>,
        require_verified: Option<bool>,
        allow_stale: Option<bool>,
        allow_contradicting: Option<bool>,
        partial: Option<Partial>,
        contradiction: Option<Contradiction>,
    }
}

record! {
    /// What becomes of a disagreement.
    ChainPolicy: value { disagreement: Option<Disagreement> }
}

record! {
    /// When trying on makes no sense.
    SufficiencyPolicy: value {
        attempts_min: Option<u64>, attempts_max: Option<u64>, epsilon: Option<Number>, window: Option<u64>,
    }
}

record! {
    /// Where a person must approve.
    Approvals: value {
        contract: Option<Approval>, revision: Option<RevisionApproval>, reliance: Option<Approval>,
    }
}

/// The task has the form of one.
pub(crate) fn check(case: &Case<'_>, found: &mut Found) {
    let mut reading = Reading::default();
    let read = Form::read(case.task.0, &mut reading);
    let mut all: Vec<(String, String)> =
        reading.troubles().into_iter().map(|one| (one.path, one.message)).collect();
    if let Some(form) = &read {
        let is_foreign = |one: &Source| one.matter.as_deref().is_some_and(|own| own != case.matter.as_str());
        let foreign = form.sources.iter().enumerate().filter(|(_, one)| is_foreign(one));
        all.extend(foreign.map(|(at, _)| {
            (
                format!("/sources/{at}/matter"),
                format!("is another matter than {}, whose run it is", case.matter),
            )
        }));
        for (at, artifact) in form.artifacts.iter().enumerate() {
            let sections = artifact.sections.iter().flatten().enumerate();
            let wrong =
                sections.filter(|(_, one)| one.quotes.is_some_and(|most| !(1..=QUOTES_MAX).contains(&most)));
            all.extend(wrong.map(|(section, _)| {
                let path = format!("/artifacts/{at}/sections/{section}/quotes");
                (path, format!("must be 1 to {QUOTES_MAX}"))
            }));
        }
        for (at, outcome) in form.outcomes.iter().enumerate() {
            for (criterion, test) in
                outcome.criteria.iter().enumerate().filter_map(|(at, one)| Some((at, one.check.as_ref()?)))
            {
                let place = format!("/outcomes/{at}/criteria/{criterion}/check");
                all.extend(lacking(test).into_iter().map(|why| (place.clone(), why)));
            }
        }
    }
    if all.is_empty() {
        return found.right(CHECK);
    }
    for (path, why) in all {
        let place = Place { path: Some(format!("/predicate/task{path}")), ..Place::default() };
        found.wrong(Code::VerifyStatement, CHECK, place, why);
    }
}

/// What a check must have and has not: all of some members, or one of others.
fn lacking(test: &Test) -> Option<String> {
    let (needs, one_of): (&[&str], &[&str]) = match test.kind {
        TestKind::Section => (&["heading"], &[]),
        TestKind::Sections => (&["headings"], &[]),
        TestKind::Length => (&[], &["words_min", "words_max"]),
        TestKind::Matches => (&["pattern"], &[]),
        TestKind::Mentions => (&[], &["any", "all"]),
        TestKind::Citations => (&[], &["min", "sources_min"]),
        TestKind::JsonSchema => (&["schema"], &[]),
        TestKind::Command => (&["argv"], &[]),
    };
    let written = test.write().unwrap_or(Json::Null);
    let has = |name: &&&str| written.at(name).is_some();
    let lacks = needs.iter().find(|name| !has(name));
    let kind = test.kind.as_str();
    if let Some(name) = lacks {
        return Some(format!("a check of the kind {kind} needs {name}"));
    }
    if !one_of.is_empty() && !one_of.iter().any(|name| has(&name)) {
        return Some(format!("a check of the kind {kind} needs one of {}", one_of.join(", ")));
    }
    let pattern = test.pattern.as_deref().map(Pattern::try_from);
    pattern.and_then(Result::err).map(|why| why.to_string())
}
