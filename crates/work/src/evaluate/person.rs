//! What a person said of a version that evaluator and judge see differently: a third voice, once they are asked.
//! Owns: finding that word, the seat that it gets in the chain. Must not: outweigh an evaluator who finds something wrong; nothing
//! passes beside a blocker because somebody takes it as it is.

use super::Round;
use super::voice::{self, Voice};
use crate::call::{ACCEPT, REVISE};
use crate::desk::{Desk, Error, reference};
use crate::task::Outcome;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_govern::reference::Reference;
use countersign_govern::types::added::outcome::HumanFeedbackEvent;
use countersign_govern::types::basic::{ProducerKind, StorageRef};
use countersign_govern::types::chain::{
    EvaluationChainRegistryRecord, EvaluationChainRegistryRecordParticipantRoleRole as Role,
    EvaluationResultEnvelope,
};
use countersign_govern::types::outcome::{EvaluationVerdict as Verdict, OutcomeEvaluationState as State};

/// What a person wants to become of a version.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Accept,
    Revise,
}

/// The word of a person on the version that is looked at.
pub(super) struct Person {
    word: Word,
    /// Where they said it.
    said: StorageRef,
    /// What they are in the chain: whoever of the two passed it is joined by one who does not, and a judge who did not is replaced.
    pub(super) seat: Role,
}

impl Person {
    /// Whether the score of the judge counts no more.
    pub(super) fn is_instead_of_judge(&self) -> bool {
        self.word == Word::Accept
    }
}

/// The chain in which an outcome was looked at last.
pub(crate) fn last_chain(desk: &Desk, outcome: &str) -> Option<String> {
    let last = desk.all::<EvaluationResultEnvelope>().rfind(|one| one.outcome_id == outcome)?;
    last.target_evaluation_chain_id
}

/// What a person said of an outcome on a version, if they did.
pub(super) fn spoken(desk: &Desk, outcome: &Outcome, version: &StorageRef) -> Option<Person> {
    let outcome = desk.own(&outcome.id);
    desk.all::<HumanFeedbackEvent>().rev().find_map(|event| {
        let subject = Reference::read(event.subject_ref.as_str())?;
        if subject.kind != "evaluation_chain_registry_record" {
            return None;
        }
        let chain: EvaluationChainRegistryRecord = desk.find("EvaluationChainRegistryRecord", subject.id)?;
        if chain.target_artifact_version_ref.0.as_ref() != Some(version) {
            return None;
        }
        let evaluator = desk.all::<EvaluationResultEnvelope>().find(|one| {
            one.target_evaluation_chain_id.as_ref() == Some(&chain.chain_id)
                && one.outcome_id == outcome
                && one.producer_kind == ProducerKind::OutcomeEvaluator
        })?;
        let found = evaluator.decision.map(|one| one.verdict);
        let (word, seat) = match (event.label.as_str(), found) {
            (ACCEPT, _) => (Word::Accept, Role::DownstreamJudge),
            (REVISE, Some(Verdict::Passed)) => (Word::Revise, Role::UpstreamEvaluator),
            (REVISE, _) => (Word::Revise, Role::DownstreamJudge),
            (_no_word, _) => return None,
        };
        Some(Person { word, said: reference("HumanFeedbackEvent", &event.event_id).ok()?, seat })
    })
}

/// What the person says in the chain.
pub(super) fn speak(desk: &mut Desk, round: &Round<'_>, person: &Person) -> Result<Voice, Error> {
    let (verdict, state) = match person.word {
        Word::Accept => (Verdict::Passed, State::Satisfied),
        Word::Revise => (Verdict::Failed, voice::short(desk, round)),
    };
    voice::human(desk, round, verdict, state, Vec::from([person.said.clone()]))
}
