//! What a receipt of a chain says that it looked at, and whose result it says decided.
//! Owns: holding both to the results of the chain. Must not: resolve; `derive::chain` does.

use super::super::Found;
use super::findings::Findings;
use super::heard::Course;
use crate::derive::chain::FindingState;
use crate::member::Member;
use crate::path::Path;
use crate::world::Record;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;

/// The member that lists the results.
pub(super) const CONSIDERED: &str = "result_ids_considered";

/// A receipt of a chain, with what is known of that.
pub(super) struct Looked<'a, 'w> {
    pub(super) course: &'a Course<'a, 'w>,
    /// The chain.
    pub(super) id: &'w str,
    pub(super) findings: &'a Findings<'w>,
    pub(super) receipt: Record<'w>,
}

impl<'w> Looked<'_, 'w> {
    /// Results that are none of the chain or were not there yet, and a decisive one that can't have decided.
    pub(super) fn tell(&self, found: &mut Found<'_>) {
        let receipt = self.receipt;
        for (at, result) in receipt.json().texts(CONSIDERED).into_iter().enumerate() {
            if self.result(result).is_none() {
                let message = format!("{result} is no result of the chain that was there");
                found.add(receipt, Path::from(CONSIDERED).item(at), message);
            }
        }
        let member = "decisive_result_id";
        let Some(decisive) = receipt.json().text(member).filter(|id| !id.is_empty()) else { return };
        let is_considered = receipt.json().texts(CONSIDERED).contains(&decisive);
        if !self.result(decisive).is_some_and(|result| is_considered && self.may_decide(result)) {
            let message = format!("{decisive} was not considered, or does not say what the chain came to");
            found.add(receipt, member, message);
        }
    }

    /// How the authorised blockers of what was considered stood before.
    pub(super) fn blockers(&self) -> Vec<FindingState> {
        let considered = self.course.considered(self.receipt, &BTreeSet::new());
        let blockers = |one| self.course.blockers_of(self.findings, one, self.receipt);
        considered.into_iter().flat_map(blockers).collect()
    }

    /// A result of the chain that was there before.
    fn result(&self, result: &str) -> Option<Record<'w>> {
        let envelope = *self.course.envelopes.get(result)?;
        let named = envelope.text("target_evaluation_chain_id");
        let is_own = named == Some(self.id) || named.is_none() && self.course.received.contains(result);
        (is_own && envelope.seq() < self.receipt.seq()).then_some(envelope)
    }

    /// Whether a result says what the chain came to, or has the blocker that does.
    fn may_decide(&self, result: Record<'w>) -> bool {
        let verdict = self.receipt.text("resolved_verdict");
        let blocks = || {
            let states = self.course.blockers_of(self.findings, result, self.receipt);
            verdict == Some("failed") && states.into_iter().any(FindingState::is_live)
        };
        let said = result.text("decision.verdict");
        said.is_none() || said == verdict || blocks()
    }
}
