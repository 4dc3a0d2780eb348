//! How far content is trusted, and who may see it.
//! Owns: the trust of a source, of what is derived from others and of what holds others; the wall between matters.
//! Must not: read a world.

use crate::table::order::{self, DATA_CLASS, TAINT};

/// How little content is trusted, the most trusted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Taint {
    /// From the house's own library.
    InternalCorpusTrusted,
    /// From the user, within what it was given for.
    UserTrustedBounded,
    /// From an authority outside that vouches for it.
    ExternalAuthorityTrusted,
    /// From outside.
    ExternalUntrusted,
    /// Nobody knows.
    Unclassified,
}

impl Taint {
    /// All, the most trusted first.
    pub const ALL: [Taint; 5] = [
        Taint::InternalCorpusTrusted,
        Taint::UserTrustedBounded,
        Taint::ExternalAuthorityTrusted,
        Taint::ExternalUntrusted,
        Taint::Unclassified,
    ];
    /// What holds nothing is trusted most.
    pub const LOWEST: Taint = Taint::InternalCorpusTrusted;

    /// The taint of a word of the contract.
    #[must_use]
    pub fn read(word: &str) -> Option<Self> {
        order::rank(&TAINT, word).and_then(|rank| Taint::ALL.get(rank).copied())
    }

    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Taint::InternalCorpusTrusted => "internal_corpus_trusted",
            Taint::UserTrustedBounded => "user_trusted_bounded",
            Taint::ExternalAuthorityTrusted => "external_authority_trusted",
            Taint::ExternalUntrusted => "external_untrusted",
            Taint::Unclassified => "unclassified",
        }
    }
}

/// How secret content is, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DataClass {
    /// Anybody may know.
    Public,
    /// The house may know.
    Internal,
    /// Those under privilege may know.
    Privileged,
    /// It does not leave the machine.
    LocalOnly,
}

impl DataClass {
    /// All, the least secret first.
    pub const ALL: [DataClass; 4] =
        [DataClass::Public, DataClass::Internal, DataClass::Privileged, DataClass::LocalOnly];

    /// The class of a word of the contract.
    #[must_use]
    pub fn read(word: &str) -> Option<Self> {
        order::rank(&DATA_CLASS, word).and_then(|rank| DataClass::ALL.get(rank).copied())
    }
}

/// Why a source is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrustBasis {
    /// The user gave it.
    UserSupplied,
    /// It is in the library.
    InternalLibrary,
    /// The authority's own interface gave it.
    OfficialApi,
    /// A database that an authority vouches for gave it.
    VerifiedAuthorityDatabase,
    /// It was found on the web.
    WebUnverified,
    /// A connector that proved who it is gave it.
    ConnectorAuthenticated,
    /// A policy says so.
    ManualOverridePolicy,
    /// Nobody knows.
    Unknown,
}

impl TrustBasis {
    /// The basis of a word of the contract.
    #[must_use]
    pub fn read(word: &str) -> Option<Self> {
        Some(match word {
            "user_supplied" => TrustBasis::UserSupplied,
            "internal_library" => TrustBasis::InternalLibrary,
            "official_api" => TrustBasis::OfficialApi,
            "verified_authority_database" => TrustBasis::VerifiedAuthorityDatabase,
            "web_unverified" => TrustBasis::WebUnverified,
            "connector_authenticated" => TrustBasis::ConnectorAuthenticated,
            "manual_override_policy" => TrustBasis::ManualOverridePolicy,
            "unknown" => TrustBasis::Unknown,
            _other => return None,
        })
    }

    /// Whether it can make an authority of a source whose kind asks for nothing.
    #[must_use]
    pub fn is_of_authority(self) -> bool {
        match self {
            TrustBasis::OfficialApi
            | TrustBasis::VerifiedAuthorityDatabase
            | TrustBasis::ManualOverridePolicy => true,
            TrustBasis::UserSupplied
            | TrustBasis::InternalLibrary
            | TrustBasis::WebUnverified
            | TrustBasis::ConnectorAuthenticated
            | TrustBasis::Unknown => false,
        }
    }
}

/// What a kind of source is trusted with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindDefault<'a> {
    /// The kind.
    pub source_kind: &'a str,
    /// Its taint, if what it requires is met.
    pub taint: Taint,
    /// One of these must be why it is trusted; none if the default stands by itself.
    pub required: &'a [TrustBasis],
    /// Whether a source may be given another.
    pub allow_override: bool,
}

impl KindDefault<'_> {
    /// Whether a reason for trust is one that this kind asks for.
    #[must_use]
    pub fn is_met_by(&self, basis: Option<TrustBasis>) -> bool {
        self.required.is_empty() || basis.is_some_and(|basis| self.required.contains(&basis))
    }
}

/// The taint of a source. A default that is not backed falls to untrusted; what a source was made from (`lineage`) counts
/// along, else a task's own output would launder what went into it.
#[must_use]
pub fn effective(default: &KindDefault<'_>, basis: Option<TrustBasis>, lineage: Option<Taint>) -> Taint {
    let own = match default.is_met_by(basis) {
        true => default.taint,
        false => default.taint.max(Taint::ExternalUntrusted),
    };
    lineage.map_or(own, |lineage| own.max(lineage))
}

/// A permitted fall of taint on the way from inputs to an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sanitization {
    /// What went in.
    pub input: Taint,
    /// What came out.
    pub output: Taint,
}

/// The taint of what is derived from others: the greatest of theirs, or what a sanitization of just that made of it.
pub fn derived(inputs: impl IntoIterator<Item = Taint>, sanitization: Option<Sanitization>) -> Taint {
    let greatest = inputs.into_iter().max().unwrap_or(Taint::LOWEST);
    sanitization.filter(|one| one.input == greatest).map_or(greatest, |one| one.output)
}

/// What something in a workspace, a bundle or a package counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holding<'a> {
    /// Its taint.
    pub taint: Taint,
    /// How secret it is.
    pub data_class: DataClass,
    /// Whether it is under privilege.
    pub privileged: bool,
    /// The matter that it belongs to.
    pub matter: Option<&'a str>,
}

impl Holding<'_> {
    /// What holds nothing.
    pub const EMPTY: Holding<'static> =
        Holding { taint: Taint::LOWEST, data_class: DataClass::Public, privileged: false, matter: None };

    /// Both together.
    ///
    /// # Errors
    /// They belong to two matters.
    pub fn join(self, other: Self) -> Result<Self, TwoMatters> {
        let matter = match (self.matter, other.matter) {
            (Some(one), Some(another)) if one != another => return Err(TwoMatters),
            (one, another) => one.or(another),
        };
        Ok(Holding {
            taint: self.taint.max(other.taint),
            data_class: self.data_class.max(other.data_class),
            privileged: self.privileged || other.privileged,
            matter,
        })
    }
}

/// There is no whole of two matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("what belongs to two matters has no taint in common")]
pub struct TwoMatters;

/// What the whole of some things counts for.
///
/// # Errors
/// They belong to two matters.
pub fn aggregate<'a>(parts: impl IntoIterator<Item = Holding<'a>>) -> Result<Holding<'a>, TwoMatters> {
    parts.into_iter().try_fold(Holding::EMPTY, Holding::join)
}

/// Whether a reader may see something at all, before any other rule: what belongs to a matter is seen under it only.
#[must_use]
pub fn may_see(item_matter: Option<&str>, reader_matter: Option<&str>) -> bool {
    item_matter.is_none_or(|matter| reader_matter == Some(matter))
}

#[cfg(test)]
#[path = "taint_tests.rs"]
mod tests;
