//! Laws of taint: joining, deriving, holding, and the wall between matters.

use super::*;
use crate::table::taint_defaults::{TAINT_DEFAULTS, find};
use proptest::prelude::*;
use std::vec::Vec;

fn taint() -> impl Strategy<Value = Taint> {
    prop::sample::select(Taint::ALL.to_vec())
}

fn matter() -> impl Strategy<Value = Option<&'static str>> {
    prop::sample::select(std::vec![None, Some("x"), Some("y")])
}

fn holding() -> impl Strategy<Value = Holding<'static>> {
    let class = prop::sample::select(DataClass::ALL.to_vec());
    (taint(), class, any::<bool>(), matter()).prop_map(|(taint, data_class, privileged, matter)| Holding {
        taint,
        data_class,
        privileged,
        matter,
    })
}

#[test]
fn sources_have_the_taint_of_their_kind_if_it_is_backed() {
    let check = |kind: &str, basis: Option<TrustBasis>, lineage: Option<Taint>, expected: Taint| {
        assert_eq!(effective(find(kind).unwrap(), basis, lineage), expected, "{kind} {basis:?} {lineage:?}");
    };
    check("statute", Some(TrustBasis::OfficialApi), None, Taint::ExternalAuthorityTrusted);
    check("case_law", Some(TrustBasis::OfficialApi), None, Taint::ExternalUntrusted);
    check("api_result", None, None, Taint::ExternalUntrusted);
    check("email", None, None, Taint::UserTrustedBounded);
    check("custom", Some(TrustBasis::OfficialApi), None, Taint::Unclassified);
    check("prior_task_output", None, Some(Taint::ExternalUntrusted), Taint::ExternalUntrusted);
    check("prior_task_output", None, Some(Taint::LOWEST), Taint::UserTrustedBounded);
    assert_eq!((TAINT_DEFAULTS.len(), find("podcast")), (15, None));
}

#[test]
fn a_sanitization_counts_for_what_it_was_made_for() {
    let node = Some(Sanitization { input: Taint::ExternalUntrusted, output: Taint::UserTrustedBounded });
    assert_eq!(derived([Taint::LOWEST, Taint::ExternalUntrusted], node), Taint::UserTrustedBounded);
    assert_eq!(derived([Taint::Unclassified, Taint::ExternalUntrusted], node), Taint::Unclassified);
    assert_eq!(derived([], None), Taint::Unclassified);
}

proptest! {
    #[test]
    fn joining_is_a_lattice(a in holding(), b in holding(), c in holding()) {
        prop_assert_eq!(a.join(b), b.join(a));
        prop_assert_eq!(a.join(a), Ok(a));
        prop_assert_eq!(a.join(Holding::EMPTY), Ok(a));
        prop_assert_eq!(a.join(b).and_then(|ab| ab.join(c)), b.join(c).and_then(|bc| a.join(bc)));
        if let Ok(both) = a.join(b) {
            prop_assert!(both.taint >= a.taint && both.data_class >= a.data_class);
            prop_assert!(both.privileged >= a.privileged);
        }
    }

    #[test]
    fn the_whole_does_not_depend_on_how_it_is_parted(
        parts in prop::collection::vec((holding(), 0_usize..4), 0..12),
    ) {
        let of = |group: usize| parts.iter().filter(move |(_, at)| *at == group).map(|(part, _)| *part);
        let groups: Result<Vec<_>, _> = (0..4).map(|group| aggregate(of(group))).collect();
        prop_assert_eq!(groups.and_then(aggregate), aggregate(parts.iter().map(|(part, _)| *part)));
    }

    #[test]
    fn taint_never_falls_along_a_path(
        sources in prop::collection::vec(taint(), 1..6),
        edges in prop::collection::vec(prop::collection::vec(any::<prop::sample::Index>(), 1..4), 0..12),
    ) {
        let mut taints = sources;
        for edge in edges {
            let inputs: Vec<Taint> = edge.iter().map(|at| *at.get(&taints)).collect();
            let output = derived(inputs.iter().copied(), None);
            prop_assert!(inputs.iter().all(|input| *input <= output));
            taints.push(output);
        }
    }

    /// Whatever a board holds of another matter, a reader's view stays the same to the byte.
    #[test]
    fn a_view_does_not_depend_on_another_matter(
        board in prop::collection::vec((matter(), any::<u64>()), 0..20),
        other in any::<u64>(),
        reader in prop::sample::select(std::vec![None, Some("y")]),
    ) {
        let view = |board: &[(Option<&'static str>, u64)]| -> Vec<(Option<&'static str>, u64)> {
            board.iter().copied().filter(|(matter, _)| may_see(*matter, reader)).collect()
        };
        let mut changed = board.clone();
        changed.iter_mut().filter(|(matter, _)| *matter == Some("x")).for_each(|(_, payload)| *payload ^= other);
        prop_assert_eq!(view(&board), view(&changed));
        changed.retain(|(matter, _)| *matter != Some("x"));
        prop_assert_eq!(view(&board), view(&changed));
    }
}
