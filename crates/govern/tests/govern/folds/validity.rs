//! A read model is valid exactly as long as nothing happens that the table lets it depend on.

use super::decided::{header, manifest};
use super::rows::{instant, row};
use super::{cases, projections};
use countersign_govern::check::check;
use countersign_govern::fold::Folds;
use countersign_govern::member::Member;
use countersign_govern::reference::{Reference, snake};
use countersign_govern::table::invalidation::{ReadModel, SPECS, Scope, Spec, When};
use countersign_govern::world::{Draft, World};
use proptest::prelude::*;

type Place = (u8, u8, u8);

/// A row of a spec, or one that only looks like it, that says where it belongs.
fn happening(minute: u64, spec: &Spec, is_meant: bool, place: Place, id: u8) -> Draft {
    let (run, task, matter) = place;
    let field = countersign_govern::kind::find(spec.event).and_then(|kind| kind.id).unwrap_or("row_id");
    let told = match (spec.when, is_meant) {
        (When::Is(member, word), true) => format!(",'{member}':'{word}'"),
        (When::Is(member, _), false) => format!(",'{member}':'another'"),
        (When::Names(member, kind), true) => format!(",'{member}':'{kind}:x'"),
        (When::Names(member, _), false) => format!(",'{member}':'nothing:x'"),
        (When::Has(member), true) => format!(",'{member}':'y{id}'"),
        (When::Has(_), false) | (When::Always, _) => String::new(),
    };
    let text = format!(
        "{{'{field}':'y{id}','run_id':'run{run}','task_id':'t{task}','matter_id':'m{matter}'{told}}}"
    );
    row(spec.event, minute, &text)
}

/// Whether a row touches what a read model is made from, as one would look it up by hand.
fn touches(event: &Draft, model: ReadModel, place: Place, cited: &str) -> bool {
    let fits = |when: When| match when {
        When::Always => true,
        When::Has(member) => event.record.text(member).is_some(),
        When::Is(member, word) => event.record.is(member, word),
        When::Names(member, kind) => event.record.reference(member).is_some_and(|to| to.kind == kind),
    };
    let Some(spec) = SPECS.iter().find(|spec| spec.event == event.kind && fits(spec.when)) else {
        return false;
    };
    let (run, task, matter) = place;
    spec.invalidates.iter().filter(|(one, _)| *one == model).any(|(_, scope)| match scope {
        Scope::SameRun => event.record.is("run_id", &format!("run{run}")),
        Scope::SameTask => event.record.is("task_id", &format!("t{task}")),
        Scope::SameMatter => event.record.is("matter_id", &format!("m{matter}")),
        Scope::SpecificRefs => {
            let id = countersign_govern::kind::find(&event.kind).and_then(|kind| kind.id);
            let own = id.and_then(|id| event.record.text(id)).unwrap_or_default();
            cited == format!("{}:{own}", snake(&event.kind))
        }
    })
}

fn spec() -> impl Strategy<Value = &'static Spec> {
    prop::sample::select(SPECS.iter().collect::<Vec<_>>())
}

fn place() -> impl Strategy<Value = Place> {
    (0..2_u8, 0..2_u8, 0..2_u8)
}

const STALE: &str = "lifecycle_event_without_read_model_invalidation";

/// Whether the rule finds a header among rows.
fn is_stale(log: &[Draft], header: Draft) -> bool {
    let world = World::new([log, &[header]].concat(), None);
    let end = world.end();
    check(&world).iter().any(|one| one.code == STALE && one.row == end)
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn read_models_are_valid_while_their_inputs_are(
        model in prop::sample::select(ReadModel::ALL.to_vec()),
        at in place(),
        cites in (spec(), 0..2_u8),
        before in prop::collection::vec((spec(), any::<bool>(), place(), 0..2_u8), 0..6),
        after in prop::collection::vec((spec(), any::<bool>(), place(), 0..2_u8), 0..12),
    ) {
        let cited = format!("{}:y{}", snake(cites.0.event), cites.1);
        prop_assert!(Reference::read(&cited).is_some());
        let event = |minute: usize, (spec, is_meant, place, id): &(&'static Spec, bool, Place, u8)| {
            happening(minute as u64, spec, *is_meant, *place, *id)
        };
        let mut log: Vec<Draft> = before.iter().enumerate().map(|(minute, one)| event(minute, one)).collect();
        log.push(manifest(20, "mf", &format!("'{cited}'")));
        let from = log.len() as u64;
        log.push(header(21, "hd", model.as_str(), "mf", from, at));
        let mut folds = Folds::default();
        log.iter().for_each(|row| folds.push(row));
        prop_assert_eq!(folds.headers.ended("hd"), None, "what happened before it was derived is in it");
        let mut ended = None;
        for (minute, one) in after.iter().enumerate() {
            let row = event(30 + minute, one);
            folds.push(&row);
            log.push(row.clone());
            if ended.is_none() && touches(&row, model, at, &cited) {
                ended = Some(log.len() as u64);
            }
            prop_assert_eq!(folds.headers.ended("hd").map(|(seq, _)| seq), ended, "{:?}", row);
        }
        // Written down as folded it is right; left open though it ended, it is found.
        let shown = projections(&folds).into_iter().find(|one| one.kind == "DerivedReadModelRecord").unwrap();
        prop_assert_eq!(shown.record.count("valid_until_event_seq"), ended);
        let write = |record| Draft { kind: String::from(shown.kind), id: None, at: Some(instant(99)), record };
        prop_assert!(!is_stale(&log, write(shown.record.clone())));
        let open = header(99, "hd", model.as_str(), "mf", from, at);
        prop_assert_eq!(is_stale(&log, open), ended.is_some());
    }
}

/// A header that is derived anew is valid again; one that is written again is not.
#[test]
fn deriving_anew_opens_a_header() {
    let cost = |minute: u64| row("TaskCostRecord", minute, "{'cost_record_id':'c','run_id':'run1'}");
    let at = |from: u64| header(5, "hd", "BudgetNarrative", "mf", from, (1, 1, 1));
    let ended = |log: &[Draft]| super::folded(log).headers.ended("hd").map(|(seq, by)| (seq, by.to_owned()));
    let by = |seq: u64| Some((seq, String::from("task_cost_record:c")));
    assert_eq!(ended(&[at(0), cost(6)]), by(2));
    assert_eq!(ended(&[at(0), cost(6), at(0)]), by(2));
    assert_eq!(ended(&[at(0), cost(6), at(2)]), None);
    assert_eq!(ended(&[at(0), cost(6), at(2), cost(7)]), by(4));
    // What happened between the place that it is valid from and its own place counts.
    assert_eq!(ended(&[cost(1), cost(2), at(1)]), by(2));
}
