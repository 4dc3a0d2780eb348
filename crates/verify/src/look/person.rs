//! What a person said of a version that evaluator and judge see differently.
//! Owns: that word, and what it makes of the chain of the next look. Must not: say what evaluator or judge must.

use super::Round;
use crate::case::{Case, bare};
use crate::found::Found;
use crate::walk::Walk;
use alloc::format;
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_govern::world::Record;
use countersign_record::json::{Json, Object};

/// What a label is about that says what becomes of a version.
const CHAIN: &str = "evaluation_chain_registry_record:";

/// The word of a person on the version that is looked at.
#[derive(Clone, Copy)]
pub(crate) struct Person<'c> {
    /// Where they said it.
    pub(super) said: Record<'c>,
    /// Whether they take it as it is, so that the score counts no more.
    pub(super) is_taken: bool,
    /// Whether it is the evaluator who found something wrong.
    is_wrong: bool,
}

impl Person<'_> {
    /// What the person is in the chain: next to whoever passed what is to be mended, or in the place of the judge.
    fn seat(self) -> &'static str {
        match (self.is_taken, self.is_wrong) {
            (false, false) => "upstream_evaluator",
            (true, _) | (false, true) => "downstream_judge",
        }
    }
}

/// The chain in which an outcome was looked at last, by a place.
pub(crate) fn last_chain<'c>(case: &'c Case<'_>, outcome: &str, place: u64) -> Option<&'c str> {
    let own =
        case.until("EvaluationResultEnvelope", place).filter(|one| one.json().is("outcome_id", outcome));
    own.last()?.json().text("target_evaluation_chain_id")
}

/// What a person said of an outcome on a version, by a place; the last word counts.
pub(super) fn spoken<'c>(case: &'c Case<'_>, outcome: &str, version: &str, place: u64) -> Option<Person<'c>> {
    let word = |said: Record<'c>| {
        let chain_id = said.json().text("subject_ref")?.strip_prefix(CHAIN)?;
        let chain = case.before("EvaluationChainRegistryRecord", chain_id, said.seq())?;
        let mut results = case.until("EvaluationResultEnvelope", said.seq());
        let evaluator = results.find(|one| {
            one.json().is("target_evaluation_chain_id", chain_id)
                && one.json().is("outcome_id", outcome)
                && one.json().is("producer_kind", "outcome_evaluator")
        })?;
        let is_taken = match said.json().text("label")? {
            "accept" => true,
            "revise" => false,
            _no_word => return None,
        };
        let is_wrong = !evaluator.json().is("decision.verdict", "passed");
        let is_here = chain.json().is("target_artifact_version_ref", version);
        is_here.then_some(Person { said, is_taken, is_wrong })
    };
    case.until("HumanFeedbackEvent", place).filter_map(word).last()
}

/// Those who speak in a chain, and what each is there.
pub(super) fn roles(person: Option<Person<'_>>) -> Vec<(&'static str, &'static str, &'static str)> {
    let is_taken = person.is_some_and(|one| one.is_taken);
    let judge = if is_taken { "observer" } else { "downstream_judge" };
    let mut all =
        Vec::from([("outcome_evaluator", "evaluator", "upstream_evaluator"), ("judge", "judge", judge)]);
    all.extend(person.map(|one| ("human_reviewer", "person", one.seat())));
    all
}

/// What a person says follows from their word, and rests on it.
pub(super) fn speaks(walk: &Walk<'_, '_>, round: &Round<'_>, record: Record<'_>, found: &mut Found) {
    let check = crate::report::Check::Verdicts;
    let Some(person) = round.person else {
        return found.about(
            countersign_record::code::Code::VerifyDerivation,
            check,
            record,
            "producer_kind",
            "nobody said anything of this version",
        );
    };
    let (verdict, state) = match person.is_taken {
        true => ("passed", "satisfied"),
        false => ("failed", super::voice::short(walk, round)),
    };
    let none: [&str; 0] = [];
    let decision = Object::from([
        ("verdict", Json::from(verdict)),
        ("disposition", state.into()),
        ("substantive_verdict_status", "substantive_verdict_reached".into()),
        ("indeterminate_causes", crate::found::texts(&none)),
        ("limitations", crate::found::texts(&none)),
        ("passed_criterion_ids", crate::found::texts(&none)),
    ]);
    super::voice::decided(record, &decision, state, found);
    found.must_list(check, record, "evaluation_basis.basis_kinds", &["human_review".into()]);
    let said = format!("human_feedback_event:{}", bare(person.said.id()));
    found.must_list(check, record, "evaluation_basis.human_feedback_refs", &[said]);
}
