//! One look at an outcome: what is frozen, what is wrong, lacking and met.
//! Owns: what a look is on and must leave. Must not: count, or find what is wrong; `score` and `finding` do.

mod end;
mod person;
mod voice;

pub(crate) use end::{outcome_moved, resolution, resolution_inputs};
pub(crate) use person::last_chain;
pub(crate) use voice::envelope;

use crate::case::Case;
use crate::claims::{self, Claimed};
use crate::finding::{self, Wrong};
use crate::formula::Ungathered;
use crate::found::Found;
use crate::report::Check;
use crate::score::{self, Lacks, Scored, Subject};
use crate::task::{Artifact, Criterion, Outcome};
use crate::walk::Walk;
use crate::{question, revise};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_govern::table::outcome::State;
use countersign_govern::world::Record;
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};
use countersign_record::time::{Instant, Timestamp};
use person::Person;

/// A look at an outcome.
pub(crate) struct Round<'c> {
    pub(crate) chain: Record<'c>,
    pub(crate) outcome: Outcome<'c>,
    pub(crate) artifact: Artifact<'c>,
    pub(crate) version: Record<'c>,
    pub(crate) criteria: Vec<Criterion<'c>>,
    /// What each criterion came to; nothing where bytes for that are withheld.
    pub(crate) scores: Option<Vec<Scored>>,
    pub(crate) claims: Vec<Claimed>,
    /// What is wrong, in the order in which it is found.
    pub(crate) wrongs: Vec<Wrong>,
    /// What of that was not raised yet.
    pub(crate) pending: Vec<Wrong>,
    /// Findings of this look, and those before it that are the same.
    pub(crate) still: BTreeSet<String>,
    /// What is lacking that somebody must say.
    lacks: Vec<(usize, Lacks)>,
    /// How the result is limited by what nobody looked at and nobody is asked about.
    left: Vec<&'static str>,
    passed_criteria: Vec<String>,
    /// Values that were observed so far.
    pub(crate) observed: usize,
    pub(crate) passed: Option<String>,
    pub(crate) evaluator: Option<Record<'c>>,
    pub(crate) judge: Option<Record<'c>>,
    /// What a person said of this version before, and what they say for that here.
    person: Option<Person<'c>>,
    decided: Option<Record<'c>>,
    pub(crate) resolution: Option<Record<'c>>,
    /// Whether the outcome moved on what was resolved.
    pub(crate) is_settled: bool,
    /// Where the outcome goes if it was detected that nothing will mend it.
    pub(crate) ended: Option<State>,
}

impl<'c> Round<'c> {
    /// The criteria that have a value, by their places.
    pub(crate) fn valued(&self) -> impl Iterator<Item = usize> {
        let scores = self.scores.as_deref().unwrap_or_default();
        scores.iter().enumerate().filter(|(_, one)| matches!(one, Scored::Value { .. })).map(|(at, _)| at)
    }

    pub(crate) fn version_ref(&self) -> String {
        format!("artifact_version:{}", self.version.id())
    }

    pub(crate) fn snapshot_ref(&self) -> &'c str {
        self.chain.json().text("evaluation_snapshot_ref").unwrap_or_default()
    }

    /// What is lacking first.
    pub(crate) fn lacking(&self) -> Option<(Criterion<'c>, Lacks)> {
        let (at, lacks) = self.lacks.first()?;
        self.criteria.get(*at).map(|one| (*one, *lacks))
    }

    /// Whether the two see it differently, so that a person says what becomes of it.
    pub(crate) fn is_for_a_person(&self) -> bool {
        let verdict = self.resolution.and_then(|one| one.json().text("resolved_verdict"));
        let mut voices = self.voices();
        self.ended.is_none()
            && verdict == Some("indeterminate")
            && !voices.any(|one| one.json().is("decision.verdict", "indeterminate"))
    }

    /// Those who have spoken, in order.
    pub(crate) fn voices(&self) -> impl Iterator<Item = Record<'c>> + use<'c> {
        self.evaluator.into_iter().chain(self.judge).chain(self.decided)
    }

    /// Whether an outcome has to move on what was resolved.
    fn is_owed(&self, case: &Case<'_>, outcome: &str) -> bool {
        let is_resolved = self.resolution.is_some() && !self.is_settled && !self.is_for_a_person();
        is_resolved && case.own(self.outcome.id()) == outcome
    }

    /// Everything that a look leaves is there.
    pub(crate) fn complete(&self, found: &mut Found) {
        let check = Check::Completeness;
        let all = [
            (self.evaluator.is_some(), "what its evaluator says"),
            (self.judge.is_some(), "what its judge says"),
            (self.person.is_some() == self.decided.is_some(), "what a person says of it"),
            (self.resolution.is_some(), "what they come to"),
            (self.is_settled || self.is_for_a_person(), "where its outcome goes"),
            (self.pending.is_empty(), "a finding for everything that is wrong"),
            (
                self.scores.is_none() || self.valued().count() == self.observed,
                "a score for every criterion that has one",
            ),
        ];
        for (is_there, what) in all {
            match is_there {
                true => found.right(check),
                false => found.about(
                    Code::VerifyIncomplete,
                    check,
                    self.chain,
                    "",
                    format!("the look lacks {what}"),
                ),
            }
        }
    }
}

/// What is frozen before a look: the head of the sources, the hash of each, the policies.
pub(crate) fn snapshot<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let check = Check::Verdicts;
    let case = walk.case;
    let mut hashes = Object::new();
    for source in case.until("SourceRecord", record.seq()) {
        let hash = countersign_record::canonical::hash_as_written(source.json());
        hashes.insert(format!("src:{}", source.id()), String::from(hash));
    }
    let set = Object::from([
        ("source_workspace_ref", case.own("workspace").into()),
        ("source_workspace_head_hash", walk.workspace.head().into()),
        ("source_record_hashes", hashes.into()),
        ("schema_version", "1.0".into()),
    ]);
    found.must(check, record, "source_workspace_snapshot_hashes", Some(Json::Array(Vec::from([set.into()]))));
    let state = format!("source_workspace_current_state:{}", case.own("workspace"));
    found.must_say(check, record, "source_workspace_state_ref", &state);
    let policies =
        case.last("PolicySnapshot", record.seq()).map(|one| format!("policy_snapshot:{}", one.id()));
    found.must(check, record, "policy_snapshot_ref", policies.map(Json::from));
    let capabilities =
        case.last("CapabilitySnapshot", record.seq()).map(|one| format!("capability_snapshot:{}", one.id()));
    found.must(check, record, "capability_snapshot_ref", capabilities.map(Json::from));
    let chain = case.world.of("EvaluationChainRegistryRecord").find(|one| one.seq() > record.seq());
    let own = format!("evaluation_snapshot:{}", record.id());
    let is_used = chain.is_some_and(|one| one.json().is("evaluation_snapshot_ref", &own));
    found.holds(check, record, "", is_used, "no look goes by it");
}

/// The outcome that a chain is about: that of the results that name it.
fn outcome_of<'c>(walk: &Walk<'c, '_>, chain: Record<'c>) -> Option<Outcome<'c>> {
    let mut results = walk.case.world.of("EvaluationResultEnvelope");
    let result = results.find(|one| one.json().text("target_evaluation_chain_id") == Some(chain.id()))?;
    walk.case.task.outcome(walk.case.local(result.json().text("outcome_id")?))
}

/// A chain opens a look: everything that the look must come to is derived here.
pub(crate) fn chain<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    walk.end_round(found);
    let (check, case) = (Check::Chains, walk.case);
    let Some(outcome) = outcome_of(walk, record) else {
        let message = "no result of an outcome of the task belongs to it";
        return found.about(Code::VerifyIncomplete, Check::Completeness, record, "", message);
    };
    let Some(artifact) = case.task.artifact_of(outcome) else {
        return walk.underivable(check, record, "its outcome is about no work product of the task", found);
    };
    let own = case.own(artifact.id());
    let Some(version) = claims::current(case, &own, record.seq()) else {
        return walk.underivable(check, record, format!("there is no version of {own}"), found);
    };
    found.must_say(check, record, "target_artifact_ref", &format!("artifact:{own}"));
    let version_ref = format!("artifact_version:{}", version.id());
    found.must_say(check, record, "target_artifact_version_ref", &version_ref);
    let snapshot = case.last("EvaluationSnapshot", record.seq());
    let frozen = snapshot.map(|one| format!("evaluation_snapshot:{}", one.id()).into());
    found.must(check, record, "evaluation_snapshot_ref", frozen);
    if let Some(snapshot) = snapshot {
        found.must_list(
            Check::Verdicts,
            snapshot,
            "artifact_state_refs",
            core::slice::from_ref(&version_ref),
        );
    }
    let person = person::spoken(case, &case.own(outcome.id()), &version_ref, record.seq());
    constants(record, person, found);
    timed(walk, record, found);
    let claimed = claims::standing(walk, version, record, found);
    let (is_withheld, claimed) = (matches!(claimed, Err(Ungathered::Withheld)), claimed.unwrap_or_default());
    let criteria: Vec<Criterion<'c>> = outcome.criteria().collect();
    let subject = Subject { outcome, artifact, version, claims: &claimed, at: record };
    let scores: Option<Vec<Scored>> = criteria.iter().map(|one| score::score(walk, &subject, *one)).collect();
    let scores = scores.filter(|_| !is_withheld);
    if claimed.iter().any(|one| one.is_withheld) {
        doubt(&criteria, found);
    }
    if scores.is_none() {
        found.withheld(Check::Criteria);
    }
    let mut round = Round {
        chain: record,
        outcome,
        artifact,
        version,
        criteria,
        scores,
        claims: claimed,
        wrongs: Vec::new(),
        pending: Vec::new(),
        still: BTreeSet::new(),
        lacks: Vec::new(),
        left: Vec::new(),
        passed_criteria: Vec::new(),
        observed: 0,
        passed: None,
        evaluator: None,
        judge: None,
        person,
        decided: None,
        resolution: None,
        is_settled: false,
        ended: revise::ended(walk, outcome, record.seq()),
    };
    judged(walk, &mut round);
    walk.round = Some(round);
}

/// What rests on claims that nobody can find again here is no better founded than they are.
fn doubt(criteria: &[Criterion<'_>], found: &mut Found) {
    let grounded = criteria.iter().filter(|one| one.basis() == "source_grounded");
    for check in grounded.flat_map(|_| [Check::Criteria, Check::Verdicts]) {
        found.withheld(check);
    }
}

/// What every chain of an evaluator and a judge has.
fn constants(record: Record<'_>, person: Option<Person<'_>>, found: &mut Found) {
    let roles = person::roles(person);
    let part = |(producer, module, role): &(&str, &str, &str)| -> Json {
        Object::from([
            ("producer_kind", Json::from(*producer)),
            ("producer_module_id", (*module).into()),
            ("role", (*role).into()),
            ("required", true.into()),
        ])
        .into()
    };
    let parts = roles.iter().map(part).collect();
    found.must_say(Check::Chains, record, "chain_kind", "pattern_c_evaluator_then_judge");
    found.must(Check::Chains, record, "participant_roles", Some(Json::Array(parts)));
    let producers: Vec<String> = roles.iter().map(|(producer, ..)| producer.to_string()).collect();
    found.must_list(Check::Chains, record, "expected_producers", &producers);
    found.must_say(Check::Chains, record, "status", "open");
    found.must_list(Check::Chains, record, "received_result_ids", &[]);
    found.must_list(Check::Chains, record, "validation_failures", &[]);
    for name in ["completed_at", "superseded_by_chain_id"] {
        found.must(Check::Chains, record, name, None);
    }
}

/// Seconds in which a look must come to its end.
const TIMEOUT_SECONDS: i64 = 3_600;

/// A chain begins when it is written, and has its time.
fn timed(walk: &Walk<'_, '_>, record: Record<'_>, found: &mut Found) {
    let Some(begun) = walk.at(record) else { return };
    let text = |at: Instant| Timestamp::try_from(at).ok().map(|at| Json::from(at.to_string()));
    let end = Instant { seconds: begun.seconds + TIMEOUT_SECONDS, ..begun };
    found.must(Check::Chains, record, "created_at", text(begun));
    found.must(Check::Chains, record, "timeout_at", text(end));
}

/// What is wrong, lacking and met, criterion by criterion.
fn judged(walk: &Walk<'_, '_>, round: &mut Round<'_>) {
    let is_asked =
        walk.case.task.policy_word("claim_support.contradiction", "any_direct_contradiction_controls")
            == "human_review_required"
            && question::preferred(walk.case, round.chain.seq()).is_none();
    let scores = round.scores.clone().unwrap_or_default();
    let (mut wrongs, mut lacks, mut left, mut passed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let is_all_asked = is_all_asked(round, &scores);
    for (at, (criterion, score)) in round.criteria.iter().zip(&scores).enumerate() {
        match score {
            Scored::Value { met, of, missing, claims } => {
                let is_met = criterion.is_met_by(*met, *of);
                let (open, sure): (Vec<Claimed>, Vec<Claimed>) =
                    claims.iter().cloned().partition(|one| is_asked && one.status == "contradicted");
                wrongs.extend(finding::wrong(round.outcome, *criterion, is_met, missing, &sure));
                if !open.is_empty() {
                    wrongs.extend(finding::wrong(round.outcome, *criterion, true, missing, &open));
                    lacks.push((at, Lacks::Choice));
                }
                if is_met {
                    passed.push(walk.case.own(criterion.id()));
                }
            }
            // A label that the task asks for is asked for, whether or not it is required.
            Scored::Nothing(why @ (Lacks::Label | Lacks::Choice)) => lacks.push((at, *why)),
            Scored::Nothing(why) if criterion.is_required() || is_all_asked => lacks.push((at, *why)),
            Scored::Nothing(Lacks::Information) => left.push(Lacks::Information.limitation()),
            Scored::Nothing(Lacks::Judge | Lacks::Tool | Lacks::Anchor) | Scored::Excluded => {
                left.push("missing_capability");
            }
        }
    }
    wrongs.iter_mut().for_each(|wrong| ground(walk, round, wrong));
    (round.wrongs, round.passed_criteria) = (wrongs, passed);
    (round.lacks, round.left) = (lacks, left);
}

/// Whether everything is asked that nobody could score: the task has it so, or nothing of the outcome would count.
fn is_all_asked(round: &Round<'_>, scores: &[Scored]) -> bool {
    let counts = |(criterion, score): (&Criterion<'_>, &Scored)| {
        matches!(score, Scored::Value { .. }) && round.outcome.counts(*criterion)
    };
    round.outcome.missing() == "indeterminate" || !round.criteria.iter().zip(scores).any(counts)
}

/// What a person said of something that rests on nothing rests on the person; what only a model thinks can't block.
fn ground(walk: &Walk<'_, '_>, round: &Round<'_>, wrong: &mut Wrong) {
    if wrong.basis != "unanchored_llm_judgment" {
        return;
    }
    let criterion = round.criteria.iter().find(|one| one.id() == wrong.criterion);
    match criterion.and_then(|one| score::label(walk, round.version, round.chain.seq(), *one)) {
        Some(_) => wrong.basis = "human_label".to_string(),
        None if wrong.severity == "blocking" => wrong.severity = "high",
        None => {}
    }
}
