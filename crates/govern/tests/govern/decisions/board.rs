//! Boards: nothing that one matter sees depends on another.

use super::{at, raw, reference, typed, wrong};
use countersign_govern::decide::board::{self, Author, Board, Entry, Reader, Role};
use countersign_govern::decide::{folded, row};
use countersign_govern::types::board::{
    RunBoardAuditEvent, RunBoardEventClass as Class, RunBoardGovernanceEnvelopeVisibilityScope as Scope,
    RunBoardPublicationPolicy, RunBoardVisiblePostWithheldReason as Reason,
};
use countersign_govern::types::wire::Wire;
use countersign_record::canonical;
use countersign_record::json::Json;
use proptest::prelude::*;
use proptest::sample::select;

/// What happened, as far as a board cares.
#[derive(Clone, Debug)]
struct Happened {
    id: String,
    class: Class,
    data_class: &'static str,
    privileged: bool,
    matter: Option<&'static str>,
    scope: Scope,
    redaction_required: bool,
    module: Option<&'static str>,
    payload: String,
    is_authored: bool,
}

/// The ids come from few letters, so that those of two matters meet.
fn happened(matters: Vec<Option<&'static str>>) -> impl Strategy<Value = Happened> {
    let said = (
        "[ab]{1,2}",
        select(vec![Class::GateDecision, Class::ArtifactEvent, Class::UserComment, Class::CostDuration]),
        select(vec!["public", "internal", "privileged", "local_only"]),
        any::<bool>(),
        select(matters),
    );
    let seen = (
        select(Scope::ALL),
        prop::bool::weighted(0.1),
        select(vec![None, Some("m1"), Some("m2")]),
        "[a-z]{1,8}",
        prop::bool::weighted(0.1),
    );
    (said, seen).prop_map(
        |(
            (id, class, data_class, privileged, matter),
            (scope, redaction_required, module, payload, is_authored),
        )| {
            let privileged = privileged && matter.is_some();
            Happened {
                id,
                class,
                data_class,
                privileged,
                matter,
                scope,
                redaction_required,
                module,
                payload,
                is_authored,
            }
        },
    )
}

fn policy() -> impl Strategy<Value = RunBoardPublicationPolicy> {
    (0_u64..6, 0_u64..5, any::<bool>(), any::<bool>()).prop_map(|(most, rate, has_stubs, suppresses)| {
        let suppressed = if suppresses { r#""privileged","local_only""# } else { "" };
        typed(&format!(
            r#"{{"policy_id":"pp1","auto_publish_event_classes":["gate_decision","artifact_event"],"max_visible_posts_per_run":{most},
            "suppress_data_classes":[{suppressed}],"publish_redacted_stub_when_suppressed":{has_stubs},"rate_limit_per_minute":{rate},"schema_version":"1.0"}}"#
        ))
    })
}

fn event(one: &Happened, seq: u64) -> RunBoardAuditEvent {
    let matter = one.matter.map(|matter| format!(r#","matter_id":"{matter}""#)).unwrap_or_default();
    typed(&format!(
        r#"{{"event_id":"{}","task_id":"t1","run_id":"run1","event_class":"{}","payload_ref":"artifact:{}","governance":{{"data_class":"{}",
        "taint_class":"unclassified","privileged":{},"policy_decision_refs":[],"visibility_scope":"{}","redaction_required":{},
        "schema_version":"1.0"{matter}}},"event_seq":{seq},"created_at":"{}","schema_version":"1.0"}}"#,
        one.id,
        one.class.as_str(),
        one.payload,
        one.data_class,
        one.privileged,
        one.scope.as_str(),
        one.redaction_required,
        at(seq as i64 * 9).as_str(),
    ))
}

/// The board that comes of what happened; `None` where something happened that is left out.
fn board(policy: &RunBoardPublicationPolicy, all: &[Option<Happened>]) -> Vec<Entry> {
    let mut board = Board::default();
    let mut entries = Vec::new();
    for (place, one) in all.iter().enumerate() {
        let Some(one) = one else { continue };
        let now = at(place as i64 * 9);
        let event = event(one, place as u64);
        let action = reference("command_invocation:i1");
        let author = if one.is_authored { Author::Person(&action) } else { Author::Nobody };
        let post = board.publish(
            policy,
            &event,
            author,
            &reference(&format!("rendered_payload:{}", one.payload)),
            &now,
        );
        post.iter().for_each(|post| board.apply(&event, post, &now));
        let module_id = one.module.map(str::to_string);
        entries.push(Entry {
            event,
            module_id,
            segment_id: None,
            participants: vec![reference("module:m1")],
            post,
        });
    }
    entries
}

/// Everything that a reader gets, byte for byte.
fn seen(reader: &Reader<'_>, entries: &[Entry]) -> Vec<u8> {
    let posts = board::view(reader, "run1", entries).into_iter().filter_map(Wire::write).collect();
    let events = board::audited(reader, "run1", entries).into_iter().filter_map(Wire::write).collect();
    let digest = board::digest(reader, "run1", entries, &at(999)).write().unwrap();
    canonical::to_bytes(&Json::Array(vec![Json::Array(posts), Json::Array(events), digest])).unwrap()
}

fn readers<'a>(
    reader_ref: &'a countersign_govern::types::basic::StorageRef,
    matter_id: Option<&'a str>,
) -> Vec<Reader<'a>> {
    let reader = |role, module_id| Reader { reader_ref, matter_id, role, module_id, segment_id: None };
    vec![
        reader(Role::Auditor, None),
        reader(Role::User, None),
        reader(Role::Module, Some("m1")),
        reader(Role::Module, None),
    ]
}

const OTHERS: [Option<&str>; 2] = [Some("x"), Some("z")];

proptest! {
    /// The wall between matters: put anything else in the place of what happened in other matters, or nothing at all; what a
    /// reader of this one is shown stays the same to the byte.
    #[test]
    fn no_byte_of_another_matter_is_seen(
        policy in policy(),
        matter in select(vec![Some("y"), None]),
        own in prop::collection::vec(happened(vec![Some("y"), None]), 0..10),
        others in prop::collection::vec(prop::option::weighted(0.8, happened(OTHERS.to_vec())), 10),
        changed in prop::collection::vec(prop::option::weighted(0.8, happened(OTHERS.to_vec())), 10),
        places in prop::collection::vec(any::<bool>(), 20),
    ) {
        // What belongs to the reader's matter or to none stays where it is; without a matter, what belongs to `y` is of another.
        let is_own = |one: &Happened| matter.is_some() || one.matter.is_none();
        let lay = |others: &[Option<Happened>]| {
            let (mut own, mut others) = (own.iter(), others.iter());
            let laid = places.iter().map(|is_own_turn| {
                if *is_own_turn { own.next().cloned() } else { others.next().cloned().flatten() }
            });
            laid.collect::<Vec<Option<Happened>>>()
        };
        let (one, other) = (lay(&others), lay(&changed));
        let bare: Vec<Option<Happened>> = lay(&[]).into_iter().map(|one| one.filter(&is_own)).collect();
        let reader_ref = reference("module:m1");
        for reader in readers(&reader_ref, matter) {
            let shown = seen(&reader, &board(&policy, &one));
            prop_assert_eq!(&shown, &seen(&reader, &board(&policy, &other)));
            prop_assert_eq!(&shown, &seen(&reader, &board(&policy, &bare)));
        }
    }

    /// A board that came of anything at all has no codes, whoever reads it.
    #[test]
    fn boards_have_no_codes(policy in policy(), all in prop::collection::vec(happened(vec![Some("x"), Some("y"), None]), 0..16)) {
        let named = |(place, one): (usize, Happened)| Some(Happened { id: format!("b{place}"), ..one });
        let all: Vec<Option<Happened>> = all.into_iter().enumerate().map(named).collect();
        let entries = board(&policy, &all);
        let action = r#"{"invocation_id":"i1","command_id":"attention.resolve_item","actor_ref":"user:u1","actor_kind":"user","idempotency_key":"k","request_hash":"h","created_at":"2026-03-02T08:00:00Z"}"#;
        let mut rows = vec![raw("CommandInvocation", action, 0), row(&policy, &at(0))];
        for (place, entry) in entries.iter().enumerate() {
            let now = at(place as i64 * 9);
            rows.push(row(&entry.event, &now));
            rows.extend(entry.post.iter().map(|post| folded("RunBoardVisiblePost", post, &now)));
        }
        let reader_ref = reference("module:m1");
        for matter in [Some("x"), Some("y"), None] {
            for (place, reader) in readers(&reader_ref, matter).iter().enumerate() {
                let now = at(200 + place as i64);
                rows.push(row(&board::digest(reader, "run1", &entries, &now), &now));
            }
        }
        prop_assert_eq!(wrong(&rows), Vec::<String>::new());
    }
}

#[test]
fn what_is_withheld_says_why() {
    let policy = |most: u64, rate: u64| -> RunBoardPublicationPolicy {
        typed(&format!(
            r#"{{"policy_id":"pp1","auto_publish_event_classes":["gate_decision"],"max_visible_posts_per_run":{most},
            "suppress_data_classes":["privileged"],"publish_redacted_stub_when_suppressed":true,"rate_limit_per_minute":{rate},"schema_version":"1.0"}}"#
        ))
    };
    let one = |class: Class, data_class: &'static str, scope: Scope| Happened {
        id: "e".to_string(),
        class,
        data_class,
        privileged: false,
        matter: None,
        scope,
        redaction_required: false,
        module: Some("m1"),
        payload: "p".to_string(),
        is_authored: false,
    };
    let gate = one(Class::GateDecision, "internal", Scope::SameModule);
    let secret = one(Class::GateDecision, "privileged", Scope::SameModule);
    let hidden = Happened { redaction_required: true, ..gate.clone() };
    let private = one(Class::GateDecision, "internal", Scope::PrivateAuditOnly);
    let unlisted = one(Class::CostDuration, "internal", Scope::SameModule);
    let posted = Happened { is_authored: true, ..unlisted.clone() };
    let all = |policy: &RunBoardPublicationPolicy, all: &[&Happened]| -> Vec<Option<Option<Reason>>> {
        let all: Vec<Option<Happened>> = all.iter().map(|one| Some((*one).clone())).collect();
        board(policy, &all).into_iter().map(|entry| entry.post.map(|post| post.withheld_reason)).collect()
    };
    assert_eq!(
        all(&policy(9, 9), &[&gate, &secret, &hidden, &private, &unlisted, &posted]),
        [Some(None), Some(Some(Reason::Privileged)), Some(Some(Reason::Policy)), None, None, Some(None)]
    );
    assert_eq!(
        all(&policy(1, 9), &[&gate, &gate, &posted]),
        [Some(None), Some(Some(Reason::VolumeCap)), Some(None)]
    );
    assert_eq!(all(&policy(9, 1), &[&gate, &gate]), [Some(None), Some(Some(Reason::VolumeCap))]);
    let entries = board(&policy(9, 9), &[Some(gate)]);
    let (same, other) = (reference("module:m1"), reference("module:m2"));
    let reader = |reader_ref, module_id| Reader {
        reader_ref,
        matter_id: None,
        role: Role::Module,
        module_id,
        segment_id: None,
    };
    assert_eq!(board::view(&reader(&same, Some("m1")), "run1", &entries).len(), 1);
    assert_eq!(board::view(&reader(&other, Some("m2")), "run1", &entries).len(), 0);
    assert_eq!(board::view(&reader(&other, None), "run1", &entries).len(), 0);
    assert_eq!(board::view(&reader(&same, Some("m1")), "run2", &entries).len(), 0);
}
