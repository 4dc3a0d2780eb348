//! The sources that a task may rest on.
//! Owns: their members and what follows from them. Must not: read one.

use crate::derive::taint;
use crate::record;
use crate::table::taint_defaults;
use crate::types::basic::{DataClass, Instant, SourceKind, TaintClass};
use crate::types::source::{CoreAuthorityLevel, LegalTreatmentStatus};
use crate::types::taint::SourceTrustBasis;
use alloc::string::String;

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
        authority: Option<CoreAuthorityLevel>,
        jurisdiction: Option<String>,
        treatment: Option<LegalTreatmentStatus>,
        matter: Option<String>,
    }
}

impl Source {
    /// How secret it is: what is privileged is so at least, whatever else the task says.
    #[must_use]
    pub fn class(&self) -> DataClass {
        let least = if self.is_privileged() { DataClass::Privileged } else { DataClass::Public };
        self.data_class.unwrap_or(DataClass::Internal).max(least)
    }

    /// How well it is documented.
    #[must_use]
    pub fn tier(&self) -> u64 {
        self.tier.unwrap_or(1)
    }

    /// Whether it is privileged.
    #[must_use]
    pub fn is_privileged(&self) -> bool {
        self.privileged.unwrap_or(false)
    }

    /// How far it is trusted: as its kind is, if what must back that does.
    #[must_use]
    pub fn taint(&self) -> TaintClass {
        taint_defaults::find(self.kind.as_str())
            .map_or(TaintClass::Unclassified, |row| taint::effective(row, Some(self.trust_basis), None))
    }

    /// Whether it is of another matter than this one: no matter sees what another has.
    #[must_use]
    pub fn is_foreign(&self, matter: &str) -> bool {
        self.matter.as_deref().is_some_and(|own| own != matter)
    }

    /// Whether it belongs to the law, where later treatment counts.
    #[must_use]
    pub fn is_legal(&self) -> bool {
        matches!(self.kind, SourceKind::CaseLaw | SourceKind::Statute | SourceKind::Regulation)
    }
}
