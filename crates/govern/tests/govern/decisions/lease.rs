//! Leases of questions: never two at a time, and no answer under one that is not live.

use super::{at, codes_of, reference, typed, wrong};
use countersign_govern::decide::lease::{Ask, By, Emitted, Question, Refusal, settle};
use countersign_govern::decide::row;
use countersign_govern::decide::workspace::{self, Given, Query, Workspace};
use countersign_govern::types::research::{
    ResearchNeed, ResearchNeedLease, ResearchNeedLeaseOnExpiry as OnExpiry, ResearchNeedStatus as Need,
};
use countersign_govern::types::workspace::{
    SourceWorkspaceOperation, SourceWorkspaceOperationReceiptStatus as Status,
};
use countersign_govern::world::Draft;
use countersign_record::time::Instant;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeSet;

fn need() -> ResearchNeed {
    typed(
        r#"{"need_id":"n1","need_scope":"run","task_id":"t1","run_id":"run1","workspace_id":"ws1","target_refs":["claim:a1/c1"],
        "question":"Which period applies?","status":"open","created_at":"2026-03-02T08:00:00Z","updated_at":"2026-03-02T08:00:00Z","schema_version":"1.1"}"#,
    )
}

fn ask<'a>(token: &'a str, until: &'a countersign_record::time::Timestamp) -> Ask<'a> {
    Ask { module_id: "m1", token, until, on_expiry: OnExpiry::ReleaseForReclaim }
}

#[test]
fn a_lease_ends_before_its_end() {
    let (question, _) = Question::raise(need(), &at(0)).unwrap();
    let mut settled = settle(question, &at(0)).unwrap();
    settled.grant(&ask("la", &at(10))).unwrap();
    let held = settled.done().0;
    let mut before = settle(held.clone(), &at(9)).unwrap();
    assert_eq!(before.grant(&ask("lb", &at(20))), Err(Refusal::NotOpen));
    assert_eq!(before.renew("lb", &at(20)), Err(Refusal::DeadToken));
    assert_eq!(before.renew("la", &at(10)), Err(Refusal::TooShort));
    assert_eq!(before.answer(By::Lease("lb"), &reference("artifact:x")), Err(Refusal::DeadToken));
    before.clone().answer(By::Lease("la"), &reference("artifact:x")).unwrap();
    let mut at_the_end = settle(held.clone(), &at(10)).unwrap();
    assert_eq!(at_the_end.answer(By::Lease("la"), &reference("artifact:x")), Err(Refusal::DeadToken));
    assert_eq!(at_the_end.renew("la", &at(20)), Err(Refusal::DeadToken));
    assert_eq!(at_the_end.grant(&ask("la", &at(20))), Err(Refusal::TokenReused));
    at_the_end.grant(&ask("lb", &at(20))).unwrap();
    let later = at_the_end.done().0;
    assert_eq!(settle(later, &at(9)).unwrap_err(), Refusal::TooEarly);
}

#[test]
fn a_question_says_what_it_belongs_to() {
    let refused = |change: fn(&mut ResearchNeed)| {
        let mut need = need();
        change(&mut need);
        Question::raise(need, &at(0)).map(|_| ()).unwrap_err()
    };
    assert_eq!(refused(|need| need.run_id = None), Refusal::Unnamed);
    assert_eq!(refused(|need| need.need_scope = typed(r#""task""#)), Refusal::Unnamed);
    assert_eq!(refused(|need| need.need_id = "n@1".to_string()), Refusal::Unnamed);
    assert_eq!(refused(|need| need.status = Need::Leased), Refusal::NotOpen);
}

#[test]
fn a_question_read_from_a_log_goes_on_as_it_was() {
    let (question, _) = Question::raise(need(), &at(0)).unwrap();
    let mut settled = settle(question, &at(0)).unwrap();
    settled.grant(&ask("la", &at(10))).unwrap();
    let (held, emitted) = settled.done();
    let leases: Vec<ResearchNeedLease> = emitted
        .iter()
        .filter_map(|one| match one {
            Emitted::Lease(lease) => Some(lease.clone()),
            Emitted::Need(_) | Emitted::Moved(_) | Emitted::Attention(_) => None,
        })
        .collect();
    let again = Question::again(held.need().clone(), &leases, 0, None, &at(0));
    assert_eq!(again, held);
    let (mut one, mut other) = (settle(held, &at(10)).unwrap(), settle(again, &at(10)).unwrap());
    assert_eq!(one.grant(&ask("la", &at(20))), Err(Refusal::TokenReused));
    assert_eq!(other.grant(&ask("la", &at(20))), Err(Refusal::TokenReused));
    assert_eq!(one, other);
}

#[test]
fn a_question_is_handed_on_by_its_table_only() {
    let person = reference("user:u1");
    let ways = [
        (Need::HumanNeeded, Ok(())),
        (Need::Unresolved, Ok(())),
        (Need::Cancelled, Ok(())),
        (Need::Open, Err(Refusal::NotOpen)),
        (Need::Leased, Err(Refusal::NotOpen)),
        (Need::Answered, Err(Refusal::NotOpen)),
    ];
    for (to, expected) in ways {
        let (question, raised) = Question::raise(need(), &at(0)).unwrap();
        let mut settled = settle(question, &at(1)).unwrap();
        assert_eq!(settled.hand(to, &person, "as the person says"), expected, "{to:?}");
        let (question, emitted) = settled.done();
        assert_eq!(question.need().status, if expected.is_ok() { to } else { Need::Open });
        let mut rows = vec![raised.row(&at(0))];
        rows.extend(emitted.iter().map(|one| one.row(&at(1))));
        assert_eq!(wrong(&rows), Vec::<String>::new());
    }
    // Who holds it loses it to whom it is handed.
    let (question, _) = Question::raise(need(), &at(0)).unwrap();
    let mut settled = settle(question, &at(0)).unwrap();
    settled.grant(&ask("la", &at(10))).unwrap();
    settled.hand(Need::HumanNeeded, &person, "I give it up").unwrap();
    assert_eq!(settled.answer(By::Lease("la"), &reference("artifact:x")), Err(Refusal::DeadToken));
    settled.answer(By::Person(&person), &reference("artifact:x")).unwrap();
}

/// What somebody does.
#[derive(Clone, Debug)]
enum Move {
    Grant { token: &'static str, module: &'static str, length: i64, on_expiry: OnExpiry },
    Renew { token: &'static str, length: i64 },
    Answer { token: &'static str },
    Person,
}

fn moves() -> impl Strategy<Value = Vec<(i64, Move)>> {
    let token = || select(vec!["la", "lb", "lc", "ld", "", "l@1"]);
    let grant = (token(), select(vec!["m1", "m2", ""]), -1_i64..12, select(OnExpiry::ALL));
    let grant =
        grant.prop_map(|(token, module, length, on_expiry)| Move::Grant { token, module, length, on_expiry });
    let one = prop_oneof![
        4 => grant,
        2 => (token(), -1_i64..12).prop_map(|(token, length)| Move::Renew { token, length }),
        1 => token().prop_map(|token| Move::Answer { token }),
        1 => Just(Move::Person),
    ];
    prop::collection::vec((-2_i64..8, one), 1..24)
}

/// A lease as it was told, cut short by what became of the question.
struct Told {
    token: String,
    start: Instant,
    end: Instant,
}

/// What the rows tell of leases, without the code that wrote them.
fn told(rows: &[(Emitted, Instant)]) -> Vec<Told> {
    let read = |text: &str| Instant::read(text).unwrap();
    let mut told: Vec<Told> = Vec::new();
    for (emitted, at) in rows {
        match emitted {
            Emitted::Lease(ResearchNeedLease { lease_token, acquired_at, expires_at, .. }) => {
                let (start, end) = (read(acquired_at.as_str()), read(expires_at.as_str()));
                told.push(Told { token: lease_token.clone(), start, end });
            }
            Emitted::Need(need) if need.status != Need::Leased => {
                told.iter_mut().for_each(|lease| lease.end = lease.end.min(*at));
            }
            Emitted::Need(_) | Emitted::Moved(_) | Emitted::Attention(_) => {}
        }
    }
    told
}

proptest! {
    /// Random histories of one question, with times that also go back and names that are none: at no time two leases are live,
    /// an answer under a dead token is refused, and the rows have no codes.
    #[test]
    fn a_question_is_held_by_one_at_a_time(moves in moves()) {
        let (mut question, raised) = Question::raise(need(), &at(0)).unwrap();
        let mut rows: Vec<Draft> = vec![raised.row(&at(0))];
        let mut emitted: Vec<(Emitted, Instant)> = Vec::new();
        let (mut clock, mut latest) = (0_i64, 0_i64);
        for (step, one) in moves {
            clock += step;
            let now = at(clock);
            let Ok(mut settled) = settle(question.clone(), &now) else {
                prop_assert!(clock < latest);
                clock = latest;
                continue;
            };
            prop_assert!(clock >= latest);
            latest = clock;
            let live: BTreeSet<String> = told(&emitted)
                .into_iter()
                .filter(|lease| lease.start <= now.instant() && now.instant() < lease.end)
                .map(|lease| lease.token)
                .collect();
            prop_assert!(live.len() <= 1, "{live:?}");
            let has_token = |token: &str| live.contains(token);
            match one {
                Move::Grant { token, module, length, on_expiry } => {
                    let until = at(clock + length);
                    let was_open = settled.question().need().status == Need::Open;
                    let granted = settled.grant(&Ask { module_id: module, token, until: &until, on_expiry });
                    let is_named = !module.is_empty() && !token.is_empty() && token != "l@1";
                    prop_assert!(granted.is_err() || live.is_empty() && was_open && length > 0 && is_named);
                }
                Move::Renew { token, length } => {
                    let renewed = settled.renew(token, &at(clock + length));
                    prop_assert!(renewed.is_err() || has_token(token) && length > 0);
                }
                Move::Answer { token } => {
                    let answered = settled.answer(By::Lease(token), &reference("artifact:answer"));
                    prop_assert_eq!(answered.is_ok(), has_token(token));
                }
                Move::Person => {
                    let is_asked = settled.question().need().status == Need::HumanNeeded;
                    let person = reference("user:u1");
                    let answered = settled.answer(By::Person(&person), &reference("artifact:answer"));
                    prop_assert_eq!(answered.is_ok(), is_asked);
                }
            }
            let (next, new) = settled.done();
            question = next;
            rows.extend(new.iter().map(|one| one.row(&now)));
            emitted.extend(new.into_iter().map(|one| (one, now.instant())));
        }
        let told = told(&emitted);
        for (place, one) in told.iter().enumerate() {
            for other in told.iter().take(place).filter(|other| other.token != one.token) {
                prop_assert!(one.start.max(other.start) >= one.end.min(other.end), "{} and {}", one.token, other.token);
            }
        }
        prop_assert_eq!(wrong(&rows), Vec::<String>::new());
    }

    /// An answer is written into the workspace under the live lease only; the rule finds one that was written under another.
    #[test]
    fn an_answer_is_written_under_the_live_lease(second in 0_i64..20, length in 1_i64..20, token in select(vec!["la", "lb"])) {
        let (question, raised) = Question::raise(need(), &at(0)).unwrap();
        let mut settled = settle(question, &at(0)).unwrap();
        settled.grant(&ask("la", &at(length))).unwrap();
        let (question, emitted) = settled.done();
        let mut rows = vec![raised.row(&at(0))];
        rows.extend(emitted.iter().map(|one| one.row(&at(0))));
        let workspace = Workspace::new("ws1", "t1", None);
        let operation: SourceWorkspaceOperation = typed(&format!(
            r#"{{"operation_id":"o1","operation_kind":"answer_research_need","task_id":"t1","run_id":"run1","workspace_id":"ws1",
            "actor_ref":"module:m1","idempotency_key":"k1","policy_decision_refs":[],"data_class":"internal","taint_class":"unclassified",
            "privileged":false,"created_at":"{}","schema_version":"1.0","precondition":{{"workspace_id":"ws1",
            "expected_workspace_head_hash":"{}","expected_event_seq":0,"target_record_ref":"research_need:n1",
            "lock_mode":"pessimistic_write_lock","lock_lease_ref":"research_need_lease:{token}","on_conflict":"fail_outcome","schema_version":"1.0"}}}}"#,
            at(second).as_str(), workspace.head(),
        ));
        let now = at(second);
        let given = Given { at: &now, decisions: &[], sanitizations: &[], question: Some(&question), query: Query::Unaccounted };
        let receipt = workspace::decide(&workspace, &operation, &given).unwrap().receipt;
        let is_live = token == "la" && second < length;
        prop_assert_eq!(receipt.status, if is_live { Status::Applied } else { Status::Conflict });
        prop_assert_eq!(workspace::code_of(&receipt), (!is_live).then_some("research_need_double_leased"));
        rows.extend([row(&operation, &now), row(&receipt, &now)]);
        prop_assert_eq!(wrong(&rows), Vec::<String>::new());
        rows.pop();
        let expected: &[&str] = if is_live { &[] } else { &["research_need_double_leased"] };
        prop_assert_eq!(codes_of(&rows), expected);
    }
}
