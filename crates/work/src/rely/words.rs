//! Words for how far the work may be relied on, and why.
//! Owns: the sentences. Must not: find a fact, or call something harmless because it does not block.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_govern::derive::reliance::Fact;
use countersign_govern::types::basic::Severity;
use countersign_govern::types::reliance::RelianceStatus as Status;

/// The words for a status.
#[must_use]
pub fn summary(status: Status) -> &'static str {
    match status {
        Status::SafeToRelyWithinScope => "Safe to rely on within its scope.",
        Status::RelyWithLimitations => "Can be relied on with the limitations that are listed.",
        Status::HumanReviewRequired => "A person must look at it first.",
        Status::NotSafeToRely => "Not safe to rely on.",
    }
}

/// Findings that are open and do not block, counted by how bad they are; nothing where there are none. Of what blocks it is never said
/// that it does not.
#[must_use]
pub fn still_open(severities: &[Severity]) -> Option<String> {
    let worst_first = [Severity::High, Severity::Medium, Severity::Low];
    let counted = worst_first.map(|one| (one, severities.iter().filter(|other| **other == one).count()));
    let counted: Vec<_> = counted.into_iter().filter(|(_, count)| *count > 0).collect();
    match counted.as_slice() {
        [] => None,
        [(one, 1)] => Some(format!("1 open finding ({}) does not block it", one.as_str())),
        [(one, count)] => Some(format!("{count} open findings ({}) do not block it", one.as_str())),
        several => {
            let each: Vec<String> =
                several.iter().map(|(one, count)| format!("{count} {}", one.as_str())).collect();
            let all: usize = several.iter().map(|(_, count)| count).sum();
            Some(format!("{all} open findings ({}) do not block it", each.join(", ")))
        }
    }
}

/// Why a status is what it is. Where nothing blocks, what is still open is told all the same.
pub(super) fn explained(facts: &BTreeSet<Fact>, open: &[Severity]) -> String {
    if facts.is_empty() {
        let nothing = "Nothing in the records blocks relying on it";
        return match still_open(open) {
            None => format!("{nothing}."),
            Some(open) => format!("{nothing}; {open}."),
        };
    }
    let words: Vec<&str> = facts.iter().map(|fact| why(*fact)).collect();
    format!("{}.", words.join("; "))
}

fn why(fact: Fact) -> &'static str {
    match fact {
        Fact::ChainFailed => "an evaluation failed",
        Fact::ChainUnresolved => "an evaluation is not resolved",
        Fact::ChainForAPerson => "an evaluation was sent to a person",
        Fact::LiveBlocker => "a finding that blocks is still there",
        Fact::ClaimContradicted => "a source contradicts a claim",
        Fact::ClaimUnsupported => "no source supports a claim",
        Fact::ClaimPartlySupported => "a claim is supported in part only",
        Fact::ClaimUnchecked => "a part of it is not held against the sources",
        Fact::EvidenceMissing => "there is no evidence",
        Fact::SourceStale => "a source is out of date, nobody verified it, or it is law that is not current",
        Fact::NeedUnresolved => "a question to the sources is open",
        Fact::CandidateUnreviewed => "nobody has decided on a candidate",
        Fact::HardCallOpen => "a question to a person is open",
        Fact::PolicyWarned => "a policy warns",
        Fact::PolicyDenied => "a policy forbids a part of it",
        Fact::PolicyAsksForAPerson => "a policy asks for a person",
        Fact::SideEffectUnverified => "an effect outside is not proved",
        Fact::OutcomeGivenUp => "an outcome that must be met was given up",
        Fact::OptionUnmet => "an outcome that need not be met is not",
        Fact::Limited(_) => "an evaluation says that it is limited",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_open_is_counted_by_severity() {
        use Severity::{Blocking, High, Low, Medium};
        let check = |open: &[Severity], expected: &str| {
            assert_eq!(
                explained(&BTreeSet::new(), open),
                format!("Nothing in the records blocks {expected}")
            );
        };
        check(&[], "relying on it.");
        check(&[Medium], "relying on it; 1 open finding (medium) does not block it.");
        check(&[Blocking, Blocking], "relying on it.");
        check(&[Blocking, Medium], "relying on it; 1 open finding (medium) does not block it.");
        check(&[Low, Low], "relying on it; 2 open findings (low) do not block it.");
        check(
            &[Low, High, Medium, Low],
            "relying on it; 4 open findings (1 high, 1 medium, 2 low) do not block it.",
        );
    }

    #[test]
    fn what_blocks_is_told_and_nothing_is_said_not_to_block() {
        let facts = BTreeSet::from([Fact::LiveBlocker, Fact::ClaimUnsupported]);
        let told = explained(&facts, &[Severity::Blocking, Severity::Low]);
        assert_eq!(told, "a finding that blocks is still there; no source supports a claim.");
    }
}
