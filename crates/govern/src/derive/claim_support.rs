//! Whether a claim is supported, from the places in sources that bear on it.
//! Owns: the derivation under a policy. Must not: allocate, or read a world.

pub use crate::types::claim::{
    ClaimSupportDerivationPolicyContradictionRule as ContradictionRule,
    ClaimSupportDerivationPolicyPartialSupportRule as PartialRule,
    ClaimSupportDerivationReceiptDecisiveReason as Reason, ClaimSupportStatus as Status,
    EvidenceAnchorSupportStrength as Strength,
};
pub use crate::types::source::CoreAuthorityLevel as Authority;

impl Authority {
    /// What it weighs, in halves: 3, 2, 1 and a half.
    #[must_use]
    pub const fn halves(self) -> u64 {
        match self {
            Authority::Binding => 6,
            Authority::Persuasive => 4,
            Authority::Advisory => 2,
            Authority::Unknown => 1,
        }
    }
}

impl Status {
    /// What decided it, in the contract's word: each has one reason.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Status::Supported => "direct_verified_support",
            Status::PartiallySupported => "partial_indirect_support",
            Status::Unsupported => "no_supporting_anchor",
            Status::Contradicted => "direct_contradiction",
            Status::NotChecked => "not_checked",
            Status::IndeterminateStaleOrUnverified => "stale_or_unverified_source",
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

/// What bears on a claim, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Places that say so.
    pub direct: u64,
    /// Those of them that count under the policy.
    pub good: u64,
    /// Places that hint at it.
    pub aside: u64,
    /// Places that say otherwise.
    pub against: u64,
    /// What those that say so weigh, in halves.
    pub halves_for: u64,
    /// What those that say otherwise weigh, in halves.
    pub halves_against: u64,
}

impl Counts {
    /// Counts one more place. A lookup of which only a receipt was kept never counts.
    pub fn add(&mut self, policy: &Policy, anchor: Anchor) {
        if anchor.tier0 {
            return;
        }
        match anchor.strength {
            Strength::Direct => {
                self.direct += 1;
                self.halves_for += anchor.authority.halves();
                let is_known = anchor.verified || !policy.require_verified;
                self.good += u64::from(is_known && (anchor.fresh || policy.allow_stale));
            }
            Strength::Indirect | Strength::Contextual => self.aside += 1,
            Strength::Contradicts => {
                self.against += 1;
                self.halves_against += anchor.authority.halves();
            }
        }
    }

    /// How a claim stands under the policy by which this was counted.
    #[must_use]
    pub fn support(&self, policy: &Policy) -> Support {
        let (contradicts, needs_review) = match policy.contradiction {
            ContradictionRule::AnyDirectContradictionControls => (self.against > 0, false),
            ContradictionRule::HumanReviewRequired => (self.against > 0, self.against > 0),
            ContradictionRule::WeightedByAuthority => {
                (self.against > 0 && self.halves_against >= self.halves_for, false)
            }
        };
        let partly = match policy.partial {
            PartialRule::AnyIndirectOrContextualAnchor => self.aside > 0,
            PartialRule::DirectAnchorUnverified => self.direct > 0,
            PartialRule::DomainSpecific => false,
        };
        let is_unopposed = self.against == 0 || policy.allow_contradicting;
        let status = if contradicts {
            Status::Contradicted
        } else if self.good >= policy.direct_min.max(1) && is_unopposed {
            Status::Supported
        } else if self.good > 0 || partly {
            Status::PartiallySupported
        } else if self.direct > 0 {
            Status::IndeterminateStaleOrUnverified
        } else {
            Status::Unsupported
        };
        Support { status, needs_review }
    }
}

/// How a claim stands that was looked at, in one pass over what bears on it.
pub fn derive(policy: &Policy, anchors: impl IntoIterator<Item = Anchor>) -> Support {
    let mut counts = Counts::default();
    anchors.into_iter().for_each(|anchor| counts.add(policy, anchor));
    counts.support(policy)
}

#[cfg(test)]
#[path = "claim_support_tests.rs"]
mod tests;
