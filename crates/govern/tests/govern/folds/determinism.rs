//! Any log gives the same bytes folded at once, in pieces, or from a snapshot at any place.

use super::decided::*;
use super::machines::{attempts, openings};
use super::rows::*;
use super::{cases, folded, projections};
use crate::fixtures;
use countersign_govern::bundle::Bundle;
use countersign_govern::fold::family::FAMILIES;
use countersign_govern::fold::{self, Fold, Folds};
use countersign_govern::kind::{self, Class};
use countersign_govern::table::invalidation::ReadModel;
use countersign_govern::world::{Draft, World};
use countersign_record::json::{self, Json, Object};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// What folds and projections are, as texts.
fn texts(folds: &Folds) -> (String, String) {
    let all: Vec<Json> = projections(folds)
        .into_iter()
        .map(|one| {
            Object::from([("kind", one.kind.into()), ("id", one.id.into()), ("record", one.record)]).into()
        })
        .collect();
    (json::to_text(&folds.freeze()).unwrap(), json::to_text(&Json::Array(all)).unwrap())
}

/// The same through a text.
fn again(folds: &Folds) -> Folds {
    let text = json::to_text(&folds.freeze()).unwrap();
    Folds::thaw(&json::parse(text.as_bytes()).unwrap()).unwrap()
}

/// Rows that folds hear, with ids and states from a few.
fn told() -> impl Strategy<Value = Draft> {
    (
        0..FAMILIES.len(),
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        1..40_u64,
    )
        .prop_map(|(family, from, to, which, minute)| {
            let family = FAMILIES[family];
            let states: Vec<&str> = family.machine.states().collect();
            let (from, to) = (states[from.index(states.len())], states[to.index(states.len())]);
            let mut all: Vec<Draft> = openings(family).concat();
            all.extend(attempts(family, from, to, minute).into_iter().flat_map(|(_, rows)| rows));
            all.swap_remove(which.index(all.len()))
        })
}

/// Rows about sources and read models.
fn kept() -> impl Strategy<Value = Draft> {
    (0..9_u8, 0..4_u64, 1..40_u64, 0..10_usize, 0..3_u8).prop_map(|(which, seq, minute, model, place)| {
        let model = ReadModel::ALL[model].as_str();
        match which {
            0 => source(minute, "s1", 1 + seq % 3),
            1 => tier_moved(minute, "s1", seq, seq + 1),
            2 => operation(minute, "op", "add_source_record", ",'payload_ref':'source_record:s1'"),
            3 => operated(minute, "op", "add_source_record", "applied", seq),
            4 => manifest(minute, "mf", "'policy_evaluation:pe'"),
            5 => header(minute, "hd", model, "mf", seq, (place, place, place)),
            6 => row(
                "PolicyEvaluation",
                minute,
                "{'policy_evaluation_id':'pe','superseded_by':'policy_evaluation:pf'}",
            ),
            7 => row("PolicyEvaluation", minute, "{'policy_evaluation_id':'pf','run_id':'run1'}"),
            _other => {
                row("TaskCostRecord", minute, &format!("{{'cost_record_id':'c','run_id':'run{place}'}}"))
            }
        }
    })
}

/// Values that nobody expects there.
fn junk() -> impl Strategy<Value = Json> {
    prop_oneof![
        Just(Json::Null),
        Just(Json::from("")),
        Just(Json::from("nonsense")),
        Just(Json::from(true)),
        Just(Json::Array(vec![Json::from(true), Json::Null])),
        Just(Json::Object(Object::new())),
        Just(json::parse(b"18446744073709551615").unwrap()),
        Just(json::parse(b"-1.5e300").unwrap()),
        Just(Json::from("9999-12-31T23:59:59-23:59")),
    ]
}

/// Rows of any kind: told, broken, unknown, without a time.
fn hostile() -> impl Strategy<Value = Draft> {
    let broken = (any::<prop::sample::Index>(), junk(), 0..4_u8);
    (prop_oneof![4 => told(), 2 => kept()], proptest::option::weighted(0.3, broken)).prop_map(
        |(mut draft, broken)| {
            if let Some((which, value, how)) = broken {
                let mut members = draft.record.as_object().unwrap().clone();
                let names: Vec<String> = members.iter().map(|(name, _)| name.to_owned()).collect();
                let name = names[which.index(names.len())].clone();
                match how {
                    0 => drop(members.remove(&name)),
                    1 => drop(members.insert(name, value)),
                    2 => draft.kind = String::from("Nonsense"),
                    _other => draft.at = None,
                }
                draft.record = members.into();
                if how == 1 && draft.kind == "ResearchNeed" {
                    draft.record = Json::Array(Vec::new());
                }
            }
            draft
        },
    )
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn a_log_has_one_fold(log in prop::collection::vec(hostile(), 0..60), cuts in prop::collection::vec(any::<prop::sample::Index>(), 1..4)) {
        let whole = texts(&folded(&log));
        // In pieces, with a snapshot at each cut.
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(log.len() + 1)).collect();
        cuts.sort_unstable();
        let (mut folds, mut at) = (Folds::default(), 0);
        for cut in cuts.into_iter().chain([log.len()]) {
            folds = again(&folds);
            log[at..cut].iter().for_each(|row| folds.push(row));
            at = cut;
        }
        prop_assert_eq!(&texts(&folds), &whole);
        prop_assert_eq!(&texts(&again(&folds)), &whole);
        // From a world that has all of them.
        let (world, end) = (World::new(log.clone(), None), log.len() as u64);
        prop_assert_eq!(fold::projections(&world, end), projections(&folds));
        let middle = log.len() / 2;
        prop_assert_eq!(fold::projections(&world, middle as u64), projections(&folded(&log[..middle])));
    }

    /// What was written of a projection, other than what begins it and what no event carries, changes nothing of how it stands.
    #[test]
    fn written_projections_are_not_believed(log in prop::collection::vec(told(), 1..40), word in "[a-z]{1,8}") {
        let folds = folded(&log);
        let mut more = log.clone();
        for one in projections(&folds).into_iter().filter(|one| one.kind != "EventProjectionLink") {
            let mut record = one.record.as_object().unwrap().clone();
            for state in ["state", "status", "current_state", "lifecycle_state", "approval_status"] {
                if record.get(state).is_some() {
                    record.insert(state, word.as_str());
                }
            }
            more.push(Draft { kind: one.kind.to_owned(), id: None, at: Some(instant(99)), record: record.into() });
        }
        prop_assert_eq!(projections(&folded(&more)), projections(&folds));
    }
}

/// Every row of every fixture, one after the other, is a log like any other.
#[test]
fn fixtures_have_one_fold() {
    for name in ["legal", "fires"] {
        for fixture in fixtures(name) {
            let log = Bundle::read(fixture.document).unwrap().rows;
            let whole = texts(&folded(&log));
            for cut in 0..=log.len() {
                let mut folds = again(&folded(&log[..cut]));
                log[cut..].iter().for_each(|row| folds.push(row));
                assert_eq!(texts(&folds), whole, "{} at {cut}", fixture.path.display());
            }
        }
    }
}

/// Every kind of projection of the contract is folded from some log.
#[test]
fn every_projection_is_folded() {
    let mut log: Vec<Draft> = FAMILIES.iter().flat_map(|family| openings(family).swap_remove(0)).collect();
    log.extend([obligation(1, "ob"), source(1, "s1", 1)]);
    log.push(operation(2, "op", "add_source_record", ",'payload_ref':'source_record:s1'"));
    log.push(operated(2, "op", "add_source_record", "applied", 0));
    log.extend([manifest(3, "mf", ""), header(3, "hd", "TaskHealthCard", "mf", 0, (1, 1, 1))]);
    let found: BTreeSet<&str> = projections(&folded(&log)).into_iter().map(|one| one.kind).collect();
    let asked = kind::all().filter(|kind| kind.class == Class::Projection).map(|kind| kind.name);
    let live = [
        "TaskReliancePacket",
        "WorkProductCertification",
        "EvaluationContractReview",
        "AttentionLedgerItem",
        "RevisionReviewPacket",
        "DerivedReadModelRecord",
        "HardCallCurrent",
        "RevisionPlanCurrent",
    ];
    for kind in asked.chain(live) {
        assert!(found.contains(kind), "{kind} is not folded");
    }
}

/// What is no snapshot is not taken for one.
#[test]
fn snapshots_are_read_whole() {
    let good = folded(&[need(1, "n"), lease(2, "n", "t", 9, "escalate")]).freeze();
    assert!(Folds::thaw(&good).is_ok());
    let path = |snapshot: &Json| Folds::thaw(snapshot).unwrap_err().path;
    assert_eq!(path(&Json::Null), "/board");
    let mut members = good.as_object().unwrap().clone();
    members.remove("headers");
    assert_eq!(path(&members.into()), "/headers");
    let text = json::to_text(&good).unwrap().replace("\"opened\"", "\"closed\"");
    assert_eq!(path(&json::parse(text.as_bytes()).unwrap()), "/things/research_need/n/closed");
}
