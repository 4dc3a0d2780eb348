//! What a kind of source is trusted with before anybody looked at it.
//! Owns: the contract's table of defaults. Must not: judge a source.

use crate::derive::taint::{KindDefault, Taint, TrustBasis};
use crate::types::basic::SourceKind;

/// A kind without anything that must back its default.
const fn plain(kind: SourceKind, taint: Taint) -> KindDefault<'static> {
    KindDefault { source_kind: kind.as_str(), taint, required: &[], allow_override: true }
}

/// A kind that is an authority only through one of these.
const fn authority(kind: SourceKind, required: &'static [TrustBasis]) -> KindDefault<'static> {
    KindDefault {
        source_kind: kind.as_str(),
        taint: Taint::ExternalAuthorityTrusted,
        required,
        allow_override: true,
    }
}

/// In the order of the contract.
#[rustfmt::skip] // one to a line
pub const TAINT_DEFAULTS: &[KindDefault<'static>] = &[
    plain(SourceKind::Document, Taint::UserTrustedBounded),
    plain(SourceKind::Email, Taint::UserTrustedBounded),
    plain(SourceKind::File, Taint::UserTrustedBounded),
    plain(SourceKind::PriorTaskOutput, Taint::UserTrustedBounded),
    plain(SourceKind::LibraryEntry, Taint::InternalCorpusTrusted),
    plain(SourceKind::WebSource, Taint::ExternalUntrusted),
    plain(SourceKind::Custom, Taint::Unclassified),
    authority(SourceKind::ApiResult, &[TrustBasis::OfficialApi]),
    authority(SourceKind::DatabaseRecord, &[TrustBasis::VerifiedAuthorityDatabase]),
    authority(SourceKind::CaseLaw, &[TrustBasis::VerifiedAuthorityDatabase]),
    authority(SourceKind::Statute, &[TrustBasis::VerifiedAuthorityDatabase, TrustBasis::OfficialApi]),
    authority(SourceKind::Regulation, &[TrustBasis::VerifiedAuthorityDatabase, TrustBasis::OfficialApi]),
    authority(SourceKind::FinancialFiling, &[TrustBasis::OfficialApi]),
    plain(SourceKind::ExpertReport, Taint::UserTrustedBounded),
    plain(SourceKind::TechnicalDoc, Taint::ExternalUntrusted),
];

/// The row of a kind.
#[must_use]
pub fn find(source_kind: &str) -> Option<&'static KindDefault<'static>> {
    TAINT_DEFAULTS.iter().find(|row| row.source_kind == source_kind)
}
