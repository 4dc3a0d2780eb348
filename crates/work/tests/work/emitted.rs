//! That the lists of what is written and what is not are whole, and that what is listed is written.

use crate::looks::acknowledged;
use crate::stage::{LEASE, Stage, task_with};
use crate::{leaving, sources, talks};
use countersign_govern::decide::board::{Reader, Role};
use countersign_govern::kind::{self, Class};
use countersign_govern::types::added::outcome::{Consumption, EvaluationFeedbackBundle};
use countersign_govern::types::basic::StorageRef;
use countersign_govern::types::context::{
    TaskContextAudience as Audience, TaskRunContextPacketRequestStalenessPolicy as Staleness,
};
use countersign_govern::types::outcome::OutcomeEvaluationState as State;
use countersign_record::json;
use countersign_work::context::{Ask, Room};
use countersign_work::contract::Decision;
use countersign_work::cost::{Grounds, Model};
use countersign_work::emitted::{EMITTED, IMPORT_ONLY, WITHIN};
use countersign_work::learning::{Known, Pattern};
use countersign_work::task::Task;
use countersign_work::{
    board, closing, context, contract, cost, feedback, guidance, learning, outcome, rely, workspace,
};
use std::collections::BTreeSet;

/// What is built elsewhere: its own tests hold that it is written.
const ELSEWHERE: [&str; 3] = ["command", "revise", "travel"];

fn listed() -> Vec<&'static str> {
    let written = EMITTED.iter().flat_map(|module| module.kinds.iter().copied());
    let others = WITHIN.iter().chain(IMPORT_ONLY).map(|(kind, _)| *kind);
    written.chain(others).collect()
}

#[test]
fn every_event_receipt_and_request_is_in_one_list() {
    let all = kind::all().filter(|kind| match kind.class {
        Class::Event | Class::Receipt | Class::Request => true,
        Class::Projection | Class::Policy | Class::ReadModel | Class::Value => false,
    });
    let all: BTreeSet<&str> = all.map(|kind| kind.name).collect();
    let listed = listed();
    let known: BTreeSet<&str> = listed.iter().copied().collect();
    assert_eq!(all.difference(&known).collect::<Vec<_>>(), Vec::<&&str>::new());
    assert_eq!(known.difference(&all).collect::<Vec<_>>(), Vec::<&&str>::new());
    assert_eq!(listed.len(), known.len());
    assert!(EMITTED.is_sorted_by_key(|module| module.name));
    assert!(EMITTED.iter().all(|module| module.kinds.is_sorted()));
    assert!(IMPORT_ONLY.iter().all(|(_, reason)| !reason.is_empty()));
}

/// The life of a memo, with everything on the way that needs no other run.
fn a_life() -> Stage {
    let asked = task_with(
        r#""audience": "the director", "purpose": "deciding", "policies": {"approval": {"contract": "required"}}"#,
    );
    let other = r#"{"id": "word", "path": "sources/word.md", "kind": "document", "trust_basis": "user_supplied", "tier": 0}"#;
    let asked = asked.replace(r#""tier": 2}"#, &format!(r#""tier": 2}}, {other}"#));
    let mut stage = Stage::new(&asked, &[("lease", LEASE), ("word", "A lease is a contract.\n")]);
    let desk = &mut stage.desk;
    cost::forecast(desk, &Grounds { source_tokens: 100, model: Model::Local }).unwrap();
    contract::open(desk).unwrap();
    let words =
        asked.replace("There is a section on the term.", "There is a section on the term of the lease.");
    let task = Task::read_whole(&json::parse(words.as_bytes()).unwrap()).unwrap();
    contract::decide(desk, &Decision::Edit(&task), "ana").unwrap();
    contract::decide(desk, &Decision::Approve, "ana").unwrap();
    stage.failing();
    let desk = &mut stage.desk;
    for delivery in feedback::owed(desk) {
        feedback::consume(desk, &delivery, Consumption::Used, None).unwrap();
    }
    let bundle = desk.all::<EvaluationFeedbackBundle>().next().unwrap().feedback_bundle_id;
    let id = guidance::of_bundle(desk, &bundle).unwrap().unwrap();
    let items = context::items(desk, |_| 10).unwrap();
    let ask =
        Ask { audience: Audience::Module, tokens_max: 100, items: &items, staleness: Staleness::FreshOnly };
    let packet = context::assemble(desk, &ask).unwrap();
    let room = Room { tokens_max: 100, digest_tokens: 0, feedback_tokens: 0 };
    context::activate(desk, "draft", &packet, room).unwrap();
    guidance::contest(desk, &id, "ana", "it is there").unwrap();
    outcome::go(desk, "term-stated", State::Dirty, "revision step done", None).unwrap();
    let claims = stage.passing();
    let version = countersign_work::artifact::head(&stage.desk, "memo").unwrap();
    outcome::go(&mut stage.desk, "term-stated", State::Dirty, "artifact/source/upstream changed", None)
        .unwrap();
    stage.look("memo", &version, crate::stage::GOOD);
    stage.hand_over(&claims);
    let desk = &mut stage.desk;
    let module = StorageRef::try_from("module:draft").unwrap();
    let reader = Reader {
        reader_ref: &module,
        matter_id: Some("default"),
        role: Role::Module,
        module_id: None,
        segment_id: None,
    };
    board::tell(desk).unwrap();
    board::digest(desk, &reader).unwrap();
    stage.later();
    let amounts =
        cost::Amounts::from([(countersign_govern::types::cost::CostDimension::WallClockMs, 5 * cost::UNIT)]);
    let piece = cost::Piece {
        module: "draft".to_owned(),
        activation: 1,
        class: countersign_govern::types::cost::TaskCostRecordCostClass::LocalCompute,
        planned: None,
        amounts,
    };
    cost::record(&mut stage.desk, &piece).unwrap();
    closing::end(&mut stage.desk, &Known::default()).unwrap();
    stage.later();
    // The lease turns out to be old: what rests on it falls.
    let lease = stage.desk.task().source("lease").unwrap().clone();
    workspace::mark_stale(&mut stage.desk, &lease).unwrap();
    rely::react(&mut stage.desk).unwrap();
    stage.is_clean();
    stage
}

/// A run that another one is like, and whose measure was withdrawn.
fn a_likeness() -> Stage {
    let mut stage = Stage::small();
    stage.passing();
    stage.later();
    let features = learning::features(stage.desk.task());
    let patterns = [Pattern { id: "before".to_owned(), features }];
    learning::measure(&mut stage.desk, &Known { patterns: &patterns }).unwrap();
    let seen = stage.desk.all::<countersign_govern::types::formula::MetricObservation>().next().unwrap();
    let seen = format!("metric_observation:{}", seen.observation_id).as_str().try_into().unwrap();
    learning::withdraw(&mut stage.desk, &seen, "counted twice").unwrap();
    stage.is_clean();
    stage
}

#[test]
fn what_is_listed_is_written() {
    let mut stages = vec![a_life(), a_likeness(), acknowledged()];
    stages.extend(talks::everything());
    stages.extend([sources::leased(), sources::promoted(), sources::moved(), sources::cleared()]);
    stages.extend([leaving::exported(), leaving::queried()]);
    let written: BTreeSet<String> =
        stages.iter().flat_map(|stage| stage.desk.rows().map(|row| row.kind.clone())).collect();
    let own = EMITTED.iter().filter(|module| !ELSEWHERE.contains(&module.name));
    let missing: Vec<&str> =
        own.flat_map(|module| module.kinds.iter().copied()).filter(|kind| !written.contains(*kind)).collect();
    assert_eq!(missing, Vec::<&str>::new());
    let others: Vec<&str> =
        IMPORT_ONLY.iter().map(|(kind, _)| *kind).filter(|kind| written.contains(*kind)).collect();
    assert_eq!(others, Vec::<&str>::new());
    assert!(WITHIN.iter().all(|(_, whole)| written.contains(*whole)));
}
