//! What a kind of source is trusted with before anybody looked at it.
//! Owns: the contract's table of defaults. Must not: judge a source.

use crate::derive::taint::{KindDefault, Taint, TrustBasis};

/// A kind without anything that must back its default.
const fn plain(source_kind: &'static str, taint: Taint) -> KindDefault<'static> {
    KindDefault { source_kind, taint, required: &[], allow_override: true }
}

/// A kind that is an authority only through one of these.
const fn authority(source_kind: &'static str, required: &'static [TrustBasis]) -> KindDefault<'static> {
    KindDefault { source_kind, taint: Taint::ExternalAuthorityTrusted, required, allow_override: true }
}

/// In the order of the contract.
#[rustfmt::skip] // one to a line
pub const TAINT_DEFAULTS: &[KindDefault<'static>] = &[
    plain("document", Taint::UserTrustedBounded),
    plain("email", Taint::UserTrustedBounded),
    plain("file", Taint::UserTrustedBounded),
    plain("prior_task_output", Taint::UserTrustedBounded),
    plain("library_entry", Taint::InternalCorpusTrusted),
    plain("web_source", Taint::ExternalUntrusted),
    plain("custom", Taint::Unclassified),
    authority("api_result", &[TrustBasis::OfficialApi]),
    authority("database_record", &[TrustBasis::VerifiedAuthorityDatabase]),
    authority("case_law", &[TrustBasis::VerifiedAuthorityDatabase]),
    authority("statute", &[TrustBasis::VerifiedAuthorityDatabase, TrustBasis::OfficialApi]),
    authority("regulation", &[TrustBasis::VerifiedAuthorityDatabase, TrustBasis::OfficialApi]),
    authority("financial_filing", &[TrustBasis::OfficialApi]),
    plain("expert_report", Taint::UserTrustedBounded),
    plain("technical_doc", Taint::ExternalUntrusted),
];

/// The row of a kind.
#[must_use]
pub fn find(source_kind: &str) -> Option<&'static KindDefault<'static>> {
    TAINT_DEFAULTS.iter().find(|row| row.source_kind == source_kind)
}
