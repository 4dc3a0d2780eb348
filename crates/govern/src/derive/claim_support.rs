//! Whether a claim is supported, from the places in sources that bear on it.
//! Owns: the derivation under a policy. Must not: allocate, or read a world.

/// How a place in a source bears on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// It says so.
    Direct,
    /// It lets one conclude so.
    Indirect,
    /// It fits.
    Contextual,
    /// It says otherwise.
    Contradicts,
}

impl Strength {
    /// The strength of a word of the contract.
    #[must_use]
    pub fn read(word: &str) -> Option<Self> {
        Some(match word {
            "direct" => Strength::Direct,
            "indirect" => Strength::Indirect,
            "contextual" => Strength::Contextual,
            "contradicts" => Strength::Contradicts,
            _other => return None,
        })
    }
}

/// How much a source binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Authority {
    /// It decides.
    Binding,
    /// It convinces.
    Persuasive,
    /// It advises.
    Advisory,
    /// Nobody knows.
    Unknown,
}

impl Authority {
    /// The level of a word of the contract.
    #[must_use]
    pub fn read(word: &str) -> Option<Self> {
        Some(match word {
            "binding" => Authority::Binding,
            "persuasive" => Authority::Persuasive,
            "advisory" => Authority::Advisory,
            "unknown" => Authority::Unknown,
            _other => return None,
        })
    }

    /// What it weighs, in halves: 3, 2, 1 and a half.
    const fn halves(self) -> u64 {
        match self {
            Authority::Binding => 6,
            Authority::Persuasive => 4,
            Authority::Advisory => 2,
            Authority::Unknown => 1,
        }
    }
}

/// A place in a source that bears on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// How it bears on it.
    pub strength: Strength,
    /// How much its source binds.
    pub authority: Authority,
    /// Whether its source was verified.
    pub verified: bool,
    /// Whether its source is still fresh.
    pub fresh: bool,
    /// Whether its source is a lookup of which only a receipt was kept: that never counts.
    pub tier0: bool,
}

/// What makes a claim that has no full support a partly supported one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialRule {
    /// A place that lets one conclude so, or that fits.
    AnyIndirectOrContextualAnchor,
    /// A place that says so, in a source that was not verified.
    DirectAnchorUnverified,
    /// What a plug-in says; without one, nothing.
    DomainSpecific,
}

/// What places that say otherwise do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContradictionRule {
    /// One is enough.
    AnyDirectContradictionControls,
    /// They are weighed against those that say so.
    WeightedByAuthority,
    /// One is enough, and somebody looks at it.
    HumanReviewRequired,
}

/// What counts as support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// How many places must say so; one at least, whatever stands here.
    pub direct_min: u64,
    /// Whether only verified sources count.
    pub require_verified: bool,
    /// Whether sources that are no longer fresh count.
    pub allow_stale: bool,
    /// Whether a claim is supported in spite of places that say otherwise.
    pub allow_contradicting: bool,
    /// What makes partial support.
    pub partial: PartialRule,
    /// What contradictions do.
    pub contradiction: ContradictionRule,
}

/// How a claim stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It has what the policy asks for.
    Supported,
    /// It has a part of it.
    PartiallySupported,
    /// It has nothing.
    Unsupported,
    /// Sources say otherwise.
    Contradicted,
    /// Nobody looked.
    NotChecked,
    /// Sources say so that are stale or not verified.
    Indeterminate,
}

impl Status {
    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Supported => "supported",
            Status::PartiallySupported => "partially_supported",
            Status::Unsupported => "unsupported",
            Status::Contradicted => "contradicted",
            Status::NotChecked => "not_checked",
            Status::Indeterminate => "indeterminate_stale_or_unverified",
        }
    }

    /// What decided it, in the contract's word: each has one reason.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Status::Supported => "direct_verified_support",
            Status::PartiallySupported => "partial_indirect_support",
            Status::Unsupported => "no_supporting_anchor",
            Status::Contradicted => "direct_contradiction",
            Status::NotChecked => "not_checked",
            Status::Indeterminate => "stale_or_unverified_source",
        }
    }
}

/// How a claim stands, and whether somebody must look at that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Support {
    /// How it stands.
    pub status: Status,
    /// Whether somebody must look at it.
    pub needs_review: bool,
}

/// How a claim stands that nobody looked at.
pub const NOT_CHECKED: Support = Support { status: Status::NotChecked, needs_review: false };

/// How a claim stands that was looked at, in one pass over what bears on it.
pub fn derive(policy: &Policy, anchors: impl IntoIterator<Item = Anchor>) -> Support {
    let (mut direct, mut good, mut aside, mut against) = (0_u64, 0_u64, 0_u64, 0_u64);
    let (mut weight_for, mut weight_against) = (0_u64, 0_u64);
    for anchor in anchors {
        if anchor.tier0 {
            continue;
        }
        match anchor.strength {
            Strength::Direct => {
                direct += 1;
                weight_for += anchor.authority.halves();
                let is_known = anchor.verified || !policy.require_verified;
                good += u64::from(is_known && (anchor.fresh || policy.allow_stale));
            }
            Strength::Indirect | Strength::Contextual => aside += 1,
            Strength::Contradicts => {
                against += 1;
                weight_against += anchor.authority.halves();
            }
        }
    }
    let (contradicts, needs_review) = match policy.contradiction {
        ContradictionRule::AnyDirectContradictionControls => (against > 0, false),
        ContradictionRule::HumanReviewRequired => (against > 0, against > 0),
        ContradictionRule::WeightedByAuthority => (against > 0 && weight_against >= weight_for, false),
    };
    let partly = match policy.partial {
        PartialRule::AnyIndirectOrContextualAnchor => aside > 0,
        PartialRule::DirectAnchorUnverified => direct > 0,
        PartialRule::DomainSpecific => false,
    };
    let status = if contradicts {
        Status::Contradicted
    } else if good >= policy.direct_min.max(1) && (against == 0 || policy.allow_contradicting) {
        Status::Supported
    } else if good > 0 || partly {
        Status::PartiallySupported
    } else if direct > 0 {
        Status::Indeterminate
    } else {
        Status::Unsupported
    };
    Support { status, needs_review }
}

#[cfg(test)]
#[path = "claim_support_tests.rs"]
mod tests;
