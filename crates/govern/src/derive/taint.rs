//! How far content is trusted, and who may see it.
//! Owns: the trust of a source, of what is derived from others and of what holds others; the wall between matters.
//! Must not: read a world.

pub use crate::types::basic::{DataClass, TaintClass as Taint};
pub use crate::types::taint::SourceTrustBasis as TrustBasis;

impl Taint {
    /// What holds nothing is trusted most.
    pub const LOWEST: Taint = Taint::InternalCorpusTrusted;
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

/// The taint of what is derived from others: the greatest of theirs, or what a sanitization of just that made of it. Of what
/// is derived from nothing that is known, nobody can say how far it may be trusted.
pub fn derived(inputs: impl IntoIterator<Item = Taint>, sanitization: Option<Sanitization>) -> Taint {
    let greatest = inputs.into_iter().max().unwrap_or(Taint::Unclassified);
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
