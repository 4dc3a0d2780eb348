//! Whether something failed again for the same reason.
//! Owns: the relation between two keys of findings. Must not: say what follows from it.

use countersign_record::digest::Digest;

/// What a failure is known by across attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MatchKey<'a> {
    /// What kind of failure.
    pub failure_kind: Option<&'a str>,
    /// The artifact, whatever version.
    pub artifact_stable_id: Option<&'a str>,
    /// SHA-256 of the scope in it, in canonical JSON.
    pub target_scope: Option<Digest>,
    /// The criterion.
    pub criterion_id: Option<&'a str>,
    /// SHA-256 of the summary.
    pub finding_summary_hash: Option<&'a str>,
    /// SHA-256 of the normalised text.
    pub normalized_finding_text_hash: Option<&'a str>,
    /// SHA-256 of what speaks for it.
    pub evidence_signature_hash: Option<&'a str>,
    /// SHA-256 of the source workspace.
    pub source_workspace_snapshot_hash: Option<&'a str>,
}

/// Whether two failures have the same reason.
///
/// The workspace's hash and the summary's are left out, else any change of the workspace would hide that it failed again. Not
/// transitive where a hash of the evidence is missing: only neighbours may be compared.
#[must_use]
pub fn same_reason(one: &MatchKey<'_>, other: &MatchKey<'_>) -> bool {
    let evidence_agrees = match (one.evidence_signature_hash, other.evidence_signature_hash) {
        (Some(one), Some(other)) => one == other,
        (Some(_) | None, None) | (None, Some(_)) => true,
    };
    evidence_agrees
        && one.failure_kind == other.failure_kind
        && one.artifact_stable_id == other.artifact_stable_id
        && one.target_scope == other.target_scope
        && one.criterion_id == other.criterion_id
        && one.normalized_finding_text_hash == other.normalized_finding_text_hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::select;

    const WORDS: &[Option<&str>] = &[None, Some("a"), Some("b")];

    fn key() -> impl Strategy<Value = MatchKey<'static>> {
        (proptest::array::uniform7(select(WORDS)), select(WORDS)).prop_map(|(words, scope)| {
            let [kind, artifact, criterion, summary, text, evidence, workspace] = words;
            MatchKey {
                failure_kind: kind,
                artifact_stable_id: artifact,
                target_scope: scope.map(|scope| Digest::of(scope.as_bytes())),
                criterion_id: criterion,
                finding_summary_hash: summary,
                normalized_finding_text_hash: text,
                evidence_signature_hash: evidence,
                source_workspace_snapshot_hash: workspace,
            }
        })
    }

    proptest! {
        #[test]
        fn it_is_reflexive_and_symmetric(one in key(), other in key()) {
            prop_assert!(same_reason(&one, &one));
            prop_assert_eq!(same_reason(&one, &other), same_reason(&other, &one));
        }

        #[test]
        fn workspace_and_summary_do_not_count(one in key(), workspace in select(WORDS), summary in select(WORDS)) {
            let other = MatchKey {
                source_workspace_snapshot_hash: workspace,
                finding_summary_hash: summary,
                ..one
            };
            prop_assert!(same_reason(&one, &other));
        }
    }

    #[test]
    fn each_other_field_counts() {
        let (a, b) = (Some("a"), Some("b"));
        let one = MatchKey {
            failure_kind: a,
            artifact_stable_id: a,
            target_scope: None,
            criterion_id: a,
            finding_summary_hash: a,
            normalized_finding_text_hash: a,
            evidence_signature_hash: a,
            source_workspace_snapshot_hash: a,
        };
        let changed = [
            MatchKey { failure_kind: b, ..one },
            MatchKey { artifact_stable_id: None, ..one },
            MatchKey { target_scope: Some(Digest::of(b"x")), ..one },
            MatchKey { criterion_id: b, ..one },
            MatchKey { normalized_finding_text_hash: b, ..one },
            MatchKey { evidence_signature_hash: b, ..one },
        ];
        assert!(changed.iter().all(|other| !same_reason(&one, other)));
        // Not transitive: what says nothing about the evidence agrees with both.
        let silent = MatchKey { evidence_signature_hash: None, ..one };
        let other = MatchKey { evidence_signature_hash: b, ..one };
        assert!(same_reason(&one, &silent) && same_reason(&silent, &other) && !same_reason(&one, &other));
    }
}
