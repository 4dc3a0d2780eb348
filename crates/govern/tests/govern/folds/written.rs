//! What is folded may be written down after its events, and no rule minds; whatever is changed of it is found.

use super::machines::logs;
use super::rows::*;
use super::{folded, projections};
use countersign_govern::check::check;
use countersign_govern::fold::family::FAMILIES;
use countersign_govern::fold::{LIVES, Projection};
use countersign_govern::kind::{self, Class};
use countersign_govern::types;
use countersign_govern::world::{Draft, World};
use countersign_record::json::{Json, Object};

/// The rules that hold projections to their events.
const CODES: [&str; 6] = [
    "current_projection_without_source_event",
    "finding_current_projection_without_event",
    "projection_event_seq_out_of_date",
    "lifecycle_transition_without_receipt",
    "run_guidance_lifecycle_transition_without_receipt",
    "source_tier_transition_not_persisted",
];

/// What those rules find in the last row.
fn found(log: &[Draft], last: &Projection, record: Json) -> Vec<&'static str> {
    let row = Draft { kind: last.kind.to_owned(), id: None, at: Some(instant(900)), record };
    let world = World::new([log, &[row]].concat(), None);
    let end = world.end();
    let codes = check(&world).into_iter().filter(|one| one.row == end && CODES.contains(&one.code));
    codes.map(|one| one.code).collect()
}

/// Something else of the same type.
fn other(value: &Json) -> Json {
    match value {
        Json::String(text) if text.contains(':') && !text.ends_with('Z') => format!("{text}-other").into(),
        Json::String(text) if text.ends_with('Z') => "1999-01-01T00:00:00Z".into(),
        Json::String(text) => format!("{text}-other").into(),
        Json::Bool(value) => (!value).into(),
        Json::Array(items) => Json::Array([items.clone(), vec![Json::from("x:other")]].concat()),
        Json::Object(members) => {
            let mut members = members.clone();
            members.insert("other", true);
            members.into()
        }
        Json::Number(_) => countersign_record::json::parse(b"4000").unwrap(),
        Json::Null => Json::from("x:other"),
    }
}

/// Logs that lead to each state of each thing that is a projection, and those of sources and workspaces.
fn histories() -> Vec<Vec<Draft>> {
    let is_projection = |name: &str| kind::find(name).map(|kind| kind.class) == Some(Class::Projection);
    let families = FAMILIES.iter().filter(|family| is_projection(family.kind));
    let mut all: Vec<Vec<Draft>> = families.flat_map(|family| logs(family).into_values().flatten()).collect();
    all.push(vec![source(1, "s1", 1), tier_moved(2, "s1", 1, 2), tier_moved(3, "s1", 2, 3)]);
    let add = "add_source_record";
    all.push(vec![
        row("TaintAggregationPolicy", 1, "{'policy_id':'ap','workspace_taint_rule':'max_taint_of_records','any_privileged_record_marks_workspace_privileged':true,'matter_scope_rule':'same_matter_only','schema_version':'1.0'}"),
        source(1, "s1", 1),
        operation(2, "op1", add, ",'payload_ref':'source_record:s1'"),
        operated(2, "op1", add, "applied", 0),
        operation(3, "op2", add, ",'payload_ref':'source_record:s2'"),
        operated(3, "op2", add, "conflict", 0),
        operation(4, "op3", add, ",'payload_ref':'source_record:s3'"),
        operated(4, "op3", add, "applied", 1),
    ]);
    all.push(vec![finding(1, "x", "active", "high"), finding(2, "x", "active", "low")]);
    all
}

#[test]
fn what_is_folded_is_clean_and_what_is_changed_is_found() {
    let mut looked_at = 0;
    for log in histories() {
        for one in projections(&folded(&log)) {
            if kind::find(one.kind).map(|kind| kind.class) != Some(Class::Projection) {
                continue;
            }
            let place = format!("{} {} after {log:#?}", one.kind, one.record_text());
            assert_eq!(found(&log, &one, one.record.clone()), Vec::<&str>::new(), "{place}");
            looked_at += changed(&log, &one, &place);
        }
    }
    assert!(looked_at > 500, "{looked_at}");
}

trait Text {
    fn record_text(&self) -> String;
}

impl Text for Projection {
    fn record_text(&self) -> String {
        countersign_record::json::to_text(&self.record).unwrap()
    }
}

/// Changes each member of a projection alone: a rule finds it, or it is no longer of its type. How many there were.
fn changed(log: &[Draft], one: &Projection, place: &str) -> usize {
    let life = LIVES.iter().find(|life| life.projects == one.kind);
    let id = kind::find(one.kind).and_then(|kind| kind.id);
    let members = one.record.as_object().unwrap();
    let mut count = 0;
    for (name, value) in members.iter() {
        // Another id is another thing; what no event carries can't be held against one.
        let is_name = Some(name) == id || (one.kind == "OutcomeRecord" && name == "run_id");
        let is_free = is_name || life.is_some_and(|life| life.free.contains(&name));
        let is_state = life.is_some_and(|life| life.families.iter().any(|family| family.member == name));
        if is_free || name == "current_projection_ref" {
            continue;
        }
        let values: Vec<Json> = if is_state { never_had(log, one, name) } else { vec![other(value)] };
        for value in values {
            let mut changed: Object = members.clone();
            changed.insert(name, value);
            let record = Json::Object(changed);
            let is_of_type = types::find(one.kind).unwrap().troubles(&record).is_empty();
            let codes = found(log, one, record.clone());
            assert!(!codes.is_empty() || !is_of_type, "{name} may be {record:?} in {place}");
            count += 1;
        }
    }
    count
}

/// The states that a thing was never in.
fn never_had(log: &[Draft], one: &Projection, member: &str) -> Vec<Json> {
    let life = LIVES.iter().find(|life| life.projects == one.kind).unwrap();
    let family = life.families.iter().find(|family| family.member == member).unwrap();
    let folds = folded(log);
    let standing = folds.board.find(family.snake, &one.id).unwrap();
    let states = family.machine.states().map(Json::from);
    states.filter(|state| !standing.ever_said(member, state)).collect()
}

/// A link to another thing than its event is about, for the kinds whose events say what they are about.
#[test]
fn links_are_of_their_projection() {
    for log in [
        vec![finding(1, "x", "active", "high")],
        vec![guidance(1, "x"), guidance_moved(2, "x", "proposed", "active")],
    ] {
        let link =
            projections(&folded(&log)).into_iter().find(|one| one.kind == "EventProjectionLink").unwrap();
        assert_eq!(found(&log, &link, link.record.clone()), Vec::<&str>::new());
        let mut members = link.record.as_object().unwrap().clone();
        members.insert("current_projection_ref", format!("{}-other", link.id));
        assert_eq!(found(&log, &link, members.into()), ["current_projection_without_source_event"]);
    }
}
