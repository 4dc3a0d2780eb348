//! ClaimTexts with their words, for all who speak of them.
//! Owns: reading them once, however many ask. Must not: say what follows from them.

use countersign_govern::types::claim::{ClaimSupportDerivationReceipt, ClaimSupportStatus};
use countersign_record::json::Json;
use countersign_runtime::work::Work;
use countersign_work::desk::Desk;
use countersign_work::finding;
use std::collections::{BTreeMap, BTreeSet};

/// ClaimTexts by their references.
pub(in crate::command) struct ClaimTexts(BTreeMap<String, Json>);

impl ClaimTexts {
    /// Some claims, as they stand now.
    pub(in crate::command) fn of<'a>(work: &Work, wanted: impl Iterator<Item = &'a str>) -> Self {
        let wanted: BTreeSet<&str> = wanted.collect();
        let found = work.claims(&wanted.into_iter().collect::<Vec<_>>());
        let name = |claim: &Json| claim.get("claim").and_then(Json::as_str).map(str::to_owned);
        ClaimTexts(found.into_iter().filter_map(|claim| Some((name(&claim)?, claim))).collect())
    }

    /// How the claims of the versions that count are supported, as far as somebody has looked.
    pub(in crate::command) fn looked_at(work: &Work) -> Vec<ClaimSupportStatus> {
        let names = |desk: &Desk| {
            let receipts = desk.all::<ClaimSupportDerivationReceipt>();
            receipts.map(|one| one.claim_ref.as_str().to_owned()).collect::<BTreeSet<_>>()
        };
        let names = work.look(names).unwrap_or_default();
        let own = work.claims(&names.iter().map(String::as_str).collect::<Vec<_>>());
        // What an earlier version said has no words any more.
        let own = own.iter().filter(|claim| claim.get("text").is_some_and(|text| *text != Json::Null));
        own.filter_map(|claim| ClaimSupportStatus::find(claim.get("support")?.as_str()?)).collect()
    }

    /// Those that findings are about.
    pub(in crate::command) fn of_findings(work: &Work, findings: &[finding::Known]) -> Self {
        let affected = findings.iter().flat_map(|one| &one.event.affected_claim_refs);
        ClaimTexts::of(work, affected.map(|claim| claim.as_str()))
    }

    /// The claim of a reference.
    pub(in crate::command) fn get(&self, name: &str) -> Option<&Json> {
        self.0.get(name)
    }

    /// The claims that a finding is about.
    pub(in crate::command) fn about(&self, one: &finding::Known) -> Vec<Json> {
        one.event.affected_claim_refs.iter().filter_map(|claim| self.get(claim.as_str())).cloned().collect()
    }
}
