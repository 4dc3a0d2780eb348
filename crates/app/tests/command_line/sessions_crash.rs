//! What a crash leaves of a session, and that nothing is done twice.
//! Owns: processes that end at the worst moment, files that are damaged. Must not: be gentle.

use crate::desk::{self, Desk, Fails, Forgets, Stuck, calls, member, notes, policy};
use countersign_record::code::Code;
use countersign_record::deed::{self, Fate, Outcome};
use countersign_record::json::{self, Json};
use countersign_record::session::Role;
use countersign_record::tool::Effect;
use countersign_runtime::ports::ledger::Ledger;
use countersign_runtime::session::{Error, Session};
use proptest::prelude::*;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const LETTER: (&str, &str, &str) = ("t1", "letter.send", r#"{"to":"bob"}"#);

/// A session whose process ends while a tool is called.
async fn crashed(effect: Effect) -> (Desk, Arc<Stuck>) {
    let mut desk = Desk::new(&["Hello.", &calls("I send it. ", &[LETTER])]);
    let letter = Stuck::new("letter.send", effect).stuck();
    desk.tools.push(letter.clone());
    let (mut session, _) = desk.open("s1").await;
    desk.say(&mut session, "Hello.").await;
    tokio::select! {
        _ = desk.say(&mut session, "Write to Bob.") => panic!("it is stuck"),
        () = letter.begun.notified() => {}
    }
    drop(session);
    letter.is_stuck.store(false, Ordering::SeqCst);
    desk.play(&["Good."]);
    (desk, letter)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_without_an_outcome_waits_for_a_persons_word() {
    for (fate, ok, word) in [
        (Fate::Happened, true, "happened"),
        (Fate::DidNotHappen, false, "did_not_happen"),
        (Fate::Unknown, false, "unknown"),
    ] {
        let (desk, letter) = crashed(Effect::Irreversible).await;
        let (mut session, recovered) = desk.open("s1").await;
        assert_eq!(recovered.unsettled.len(), 1);
        assert_eq!(recovered.unsettled[0].summary, "send a letter to bob");
        let refused = desk.try_say(&mut session, "And?").await.unwrap_err();
        assert_eq!(refused.code(), Code::SessionUnsettled);
        assert!(matches!(session.undo().await, Err(Error::Unsettled { .. })));
        assert_eq!(session.settle("t9", fate).await.unwrap_err().code(), Code::SessionNothing);
        let settled = session.settle("t1", fate).await.unwrap();
        assert_eq!(settled.unsettled, []);
        assert_eq!(session.settle("t1", fate).await.unwrap_err().code(), Code::SessionNothing);
        let rows = desk.of_kind(deed::EFFECT_SETTLED).await;
        assert_eq!(member(&rows[0].payload, "fate"), word);
        // The model is told, and the session goes on.
        assert_eq!(desk.say(&mut session, "And?").await.outcome, Outcome::Completed);
        let told = desk.model.requests()[0].messages.iter().find(|one| one.role == Role::Tool).cloned();
        let told = json::parse(told.unwrap().content.as_bytes()).unwrap();
        assert_eq!(told.get("ok"), Some(&Json::Bool(ok)), "{told:?}");
        assert_eq!(letter.runs(), 1, "it is never made again");
        assert_eq!(session.revision(), 3);
        // A session that is opened once more finds nothing to do.
        let (messages, state) = (session.messages().to_vec(), session.state().clone());
        drop(session);
        let (session, recovered) = desk.open("s1").await;
        assert_eq!((recovered.notes, recovered.unsettled), (vec![], vec![]));
        assert_eq!((session.messages(), session.state()), (messages.as_slice(), &state));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_may_be_repeated_is_told_as_unknown() {
    let (desk, letter) = crashed(Effect::Idempotent).await;
    let (mut session, recovered) = desk.open("s1").await;
    assert_eq!(recovered.unsettled, []);
    assert_eq!(recovered.notes, ["turn 2 was interrupted; what is known of it was kept"]);
    desk.say(&mut session, "And?").await;
    assert!(desk.model.heard().contains("what became of it is not known"));
    assert_eq!(letter.runs(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_was_sending_has_a_receipt_after_a_crash() {
    let ask = calls("", &[("t1", "page.get", "{}")]);
    let mut desk = Desk::new(&[&ask]);
    desk.policy = policy(r#"{"allow":["net"]}"#);
    let page = Stuck::of_host("page.get", "pages.example").stuck();
    desk.tools.push(page.clone());
    let (mut session, _) = desk.open("s1").await;
    tokio::select! {
        _ = desk.say(&mut session, "Look.") => panic!("it is stuck"),
        () = page.begun.notified() => {}
    }
    drop(session);
    desk.open("s1").await;
    assert_eq!(desk.receipts().await, ["failed"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_goes_on_in_the_process_that_saw_it_break() {
    let (desk, letter) =
        (Desk::new(&[&calls("", &[LETTER]), "Yes."]), Stuck::new("letter.send", Effect::Idempotent));
    let letter = letter.stuck();
    let mut desk = desk;
    desk.tools.push(letter.clone());
    let (mut session, _) = desk.open("s1").await;
    tokio::select! {
        _ = desk.say(&mut session, "Write.") => panic!("it is stuck"),
        () = letter.begun.notified() => {}
    }
    let (turned, seen) = desk.say_until(&mut session, "Still there?", &Default::default()).await;
    assert_eq!(turned.unwrap().revision, 2);
    assert_eq!(seen.notes, ["turn 1 was interrupted; what is known of it was kept"]);
    assert_eq!(
        desk.kinds("session/s1").await[..7],
        [
            "turn_begun",
            "model_asked",
            "model_answered",
            "tool_started",
            "effect_settled",
            "turn_ended",
            "turn_begun"
        ]
    );
}

/// Replies of a session with everything in it.
fn rich() -> Vec<String> {
    vec![
        notes("One.", r#"{"set_goals":["a"],"add_open_loops":["b"],"actions":["request_permission:net"]}"#),
        calls("Two.", &[("t1", "fs.write_text", r#"{"path":"x","text":"y"}"#), ("t2", "fs.list_dir", "{}")]),
        notes("Three.", r#"{"close_open_loops":["b"],"actions":["condense_now"]}"#),
        "Four.".to_owned(),
    ]
}

async fn play_rich(desk: &mut Desk) {
    let replies = rich();
    desk.play(&replies.iter().map(String::as_str).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_whose_checkpoint_was_lost_is_told_again() {
    for lost in 1..=3 {
        let mut desk = Desk::new(&[]);
        play_rich(&mut desk).await;
        let forgets = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&forgets);
        let (mut session, _) =
            desk.open_through("s1", |keeper| Arc::new(Forgets { keeper, forgets: flag })).await.unwrap();
        for number in 1..lost {
            desk.say(&mut session, &format!("say {number}")).await;
        }
        forgets.store(true, Ordering::SeqCst);
        let broken = desk.try_say(&mut session, "the lost one").await.unwrap_err();
        assert_eq!(broken.code(), Code::SessionUnwritable);
        drop(session);
        let (session, recovered) = desk.open("s1").await;
        assert_eq!(recovered.notes, ["1 turn(s) of the checkpoint were told again from the ledger"]);
        // As it would have been.
        let mut other = Desk::new(&[]);
        play_rich(&mut other).await;
        let (mut same, _) = other.open("s1").await;
        for number in 1..lost {
            other.say(&mut same, &format!("say {number}")).await;
        }
        other.say(&mut same, "the lost one").await;
        assert_eq!(session.messages(), same.messages());
        assert_eq!(session.state(), same.state());
        assert_eq!(session.revision(), same.revision());
        let ended = desk.of_kind(deed::TURN_ENDED).await;
        let hash = countersign_record::canonical::hash_of(session.state()).unwrap();
        assert_eq!(member(&ended.last().unwrap().payload, "state_hash"), hash.to_string());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_after_a_lost_checkpoint_keeps_both() {
    let desk = Desk::new(&["One.", "Two."]);
    let forgets = Arc::new(AtomicBool::new(true));
    let flag = Arc::clone(&forgets);
    let (mut session, _) =
        desk.open_through("s1", |keeper| Arc::new(Forgets { keeper, forgets: flag })).await.unwrap();
    desk.try_say(&mut session, "first").await.unwrap_err();
    forgets.store(false, Ordering::SeqCst);
    let turned = desk.say(&mut session, "second").await;
    assert_eq!((turned.turn, turned.revision), (2, 2));
    let said: Vec<_> = desk.checkpoint("s1").recent_messages.iter().map(|one| one.content.clone()).collect();
    assert_eq!(said, ["first", "One.", "second", "Two."]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undone_turn_stays_undone_after_a_crash() {
    let desk = Desk::new(&["One.", "Two.", "Three."]);
    let forgets = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&forgets);
    let (mut session, _) =
        desk.open_through("s1", |keeper| Arc::new(Forgets { keeper, forgets: flag })).await.unwrap();
    for text in ["first", "second", "third"] {
        desk.say(&mut session, text).await;
    }
    forgets.store(true, Ordering::SeqCst);
    session.undo().await.unwrap_err();
    drop(session);
    let (session, _) = desk.open("s1").await;
    let said: Vec<_> = session.messages().iter().map(|one| one.content.as_str()).collect();
    assert_eq!(said, ["first", "One.", "second", "Two."]);
    assert_eq!(session.revision(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_checkpoints_are_healed_from_the_ledger() {
    let mut desk = Desk::new(&[]);
    play_rich(&mut desk).await;
    let (mut session, _) = desk.open("s1").await;
    for text in ["one", "two", "three"] {
        desk.say(&mut session, text).await;
    }
    let (messages, state) = (session.messages().to_vec(), session.state().clone());
    drop(session);
    let [current, previous] =
        ["s1.json", "s1~previous.json"].map(|name| desk.data().join("sessions").join(name));
    // The newest is damaged: the one before is used.
    fs::write(&current, "{\"session_id\":").unwrap();
    let (session, recovered) = desk.open("s1").await;
    assert_eq!(recovered.notes, ["1 turn(s) of the checkpoint were told again from the ledger"]);
    assert_eq!((session.messages(), session.state()), (messages.as_slice(), &state));
    drop(session);
    assert_eq!(desk.checkpoint("s1").revision, 3);
    // Both are damaged: nothing is guessed. Once they are out of the way, the ledger tells all of it.
    fs::write(&current, "{").unwrap();
    fs::write(&previous, "{").unwrap();
    let refused = desk.sessions().open(&desk::session_name("s1")).unwrap_err();
    assert_eq!(refused.code(), Code::SessionUnreadable);
    fs::remove_file(&current).unwrap();
    fs::remove_file(&previous).unwrap();
    let (session, recovered) = desk.open("s1").await;
    assert_eq!(recovered.notes, ["3 turn(s) of the checkpoint were told again from the ledger"]);
    assert_eq!((session.messages(), session.state()), (messages.as_slice(), &state));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_kept_is_not_begun() {
    // A model that says as much as it can, round after round, and then an open session is there again.
    let much = "\u{7}".repeat(500 * 1024);
    let mut replies: Vec<String> = (0..7).map(|_| calls(&much, &[("t1", "system.time", "{}")])).collect();
    replies.push("End.".into());
    let desk = Desk::new(&replies.iter().map(String::as_str).collect::<Vec<_>>());
    let (mut session, _) = desk.open("s1").await;
    assert_eq!(desk.say(&mut session, "Go.").await.outcome, Outcome::Bounded);
    let long = desk.try_say(&mut session, &"x".repeat(20 * 1024 * 1024)).await.unwrap_err();
    assert_eq!(long.code(), Code::HistoryTooLong);
    drop(session);
    desk.open("s1").await;
}

/// One life of the session with a ledger that ends after so many appends; what was acknowledged, and how often a letter
/// was sent.
async fn lives(appends: &[u32], effect: Effect) -> Result<(), TestCaseError> {
    let mut desk = Desk::new(&[]);
    // Nothing goes because there is too much of it.
    desk.bounds.messages = 1_000;
    let letter = Arc::new(Stuck::new("letter.send", effect));
    desk.tools.push(letter.clone());
    let mut acknowledged: Vec<String> = Vec::new();
    let mut number = 0_u32;
    for limit in appends {
        desk.journal = Some(Fails::after(Arc::<dyn Ledger>::clone(&desk.ledger), *limit));
        let Ok((mut session, recovered)) = desk.open_through("s1", |keeper| keeper).await else { continue };
        if settle(&mut session, recovered.unsettled.len()).await.is_err() {
            continue;
        }
        loop {
            number += 1;
            let ask = format!("{{\"to\":\"bob{number}\"}}");
            desk.play(&[&calls("", &[("t1", "letter.send", &ask)]), &format!("sent {number}")]);
            session.set_office(desk.office());
            match desk.try_say(&mut session, &format!("write {number}")).await {
                Ok(_) => acknowledged.push(format!("sent {number}")),
                Err(_) => break,
            }
        }
    }
    desk.journal = None;
    let opened = desk.open_through("s1", |keeper| keeper).await;
    let (mut session, recovered) = opened.map_err(|error| TestCaseError::fail(error.to_string()))?;
    settle(&mut session, recovered.unsettled.len())
        .await
        .map_err(|error| TestCaseError::fail(error.to_string()))?;
    let said: Vec<_> = session.messages().iter().map(|one| one.content.as_str()).collect();
    for one in &acknowledged {
        prop_assert!(said.contains(&one.as_str()), "{} was acknowledged and is not in {:?}", one, said);
    }
    // A call is made at most once, and only with a row that says so.
    let started = desk.of_kind(deed::TOOL_STARTED).await;
    let mut hashes: Vec<_> = started.iter().map(|row| member(&row.payload, "arguments_hash")).collect();
    hashes.sort_unstable();
    hashes.dedup();
    prop_assert_eq!(hashes.len(), started.len(), "one call, one row");
    // What changes nothing needs no word before it.
    prop_assert!(effect == Effect::None || letter.runs() as usize <= started.len());
    desk.play(&["Still here."]);
    session.set_office(desk.office());
    let turned = desk.try_say(&mut session, "And now?").await;
    prop_assert!(turned.is_ok(), "{:?}", turned);
    let report = desk.ledger.verify(&desk.access(), Vec::new()).await.unwrap();
    prop_assert!(report.findings.is_empty());
    Ok(())
}

async fn settle(session: &mut Session, calls: usize) -> Result<(), Error> {
    for _ in 0..calls {
        session.settle("t1", Fate::Unknown).await?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whenever_the_process_ends_nothing_is_lost_or_done_twice(
        appends in prop::collection::vec(0_u32..9, 1..5),
        effect in prop::sample::select(&[Effect::Irreversible, Effect::Idempotent, Effect::None][..]),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
        runtime.block_on(async {
            tokio::time::timeout(Duration::from_secs(120), lives(&appends, effect)).await.unwrap()
        })?;
    }
}
