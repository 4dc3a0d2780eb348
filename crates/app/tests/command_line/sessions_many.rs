//! Many sessions at once.
//! Owns: that none loses a turn, and that two never write one session. Must not: measure (`benches/turn.rs`).

use crate::desk::{Desk, Played, calls, policy, session_name};
use countersign_record::code::Code;
use countersign_record::deed;
use countersign_runtime::ports::session::Keeper;
use countersign_runtime::session::Session;
use countersign_store::sessions::Kept;
use std::sync::Arc;

const SESSIONS: usize = 200;
const TURNS: usize = 3;

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_sessions_lose_nothing() {
    let mut desk = Desk::new(&[]);
    desk.policy = policy(r#"{"allow":["fs:write"]}"#);
    let desk = Arc::new(desk);
    let tasks: Vec<_> = (0..SESSIONS)
        .map(|number| {
            let desk = Arc::clone(&desk);
            tokio::spawn(async move {
                let name = format!("s{number}");
                let writes: Vec<String> = (0..TURNS)
                    .map(|turn| {
                        let args = format!("{{\"path\":\"{name}-{turn}\",\"text\":\"{turn}\"}}");
                        calls("", &[("t1", "fs.write_text", &args)])
                    })
                    .collect();
                let replies: Vec<&str> = writes.iter().flat_map(|write| [write.as_str(), "Done."]).collect();
                let (mut session, _) = desk.open(&name).await;
                let mut office = desk.office();
                office.model = Arc::new(Played::here(&replies));
                session.set_office(office);
                for turn in 0..TURNS {
                    let turned = desk.say(&mut session, &format!("turn {turn}")).await;
                    assert_eq!((turned.revision, turned.commits), (turn as u64 + 1, 3));
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let names = desk.sessions().names().unwrap();
    assert_eq!(names.len(), SESSIONS);
    for name in &names {
        let checkpoint = desk.sessions().read(name).unwrap().checkpoint.unwrap();
        assert_eq!((checkpoint.revision, checkpoint.recent_messages.len()), (3, TURNS * 4));
    }
    assert_eq!(desk.of_kind(deed::TURN_ENDED).await.len(), SESSIONS * TURNS);
    assert_eq!(std::fs::read_dir(desk.root()).unwrap().count(), SESSIONS * TURNS);
    let report = desk.ledger.verify(&desk.access(), Vec::new()).await.unwrap();
    assert!(report.findings.is_empty(), "{report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_session_has_one_writer() {
    let desk = Desk::new(&["One.", "Two.", "Three.", "Four."]);
    let (writer, found) = desk.sessions().open(&session_name("s1")).unwrap();
    let refused = desk.sessions().open(&session_name("s1")).unwrap_err();
    assert_eq!(refused.code(), Code::SessionLocked);
    // Somebody gets around the lock: the ledger, or the checkpoint, still finds out.
    let keeper: Arc<dyn Keeper> = Arc::new(Kept::new(writer));
    let open = || async {
        let opened =
            Session::open(desk.office(), Arc::clone(&keeper), session_name("s1"), found.checkpoint.clone());
        opened.await.unwrap().0
    };
    let (mut left, mut right) = (open().await, open().await);
    let (first, second) = tokio::join!(desk.try_say(&mut left, "left"), desk.try_say(&mut right, "right"));
    let refused: Vec<Code> =
        [&first, &second].into_iter().filter_map(|one| one.as_ref().err()).map(|one| one.code()).collect();
    assert!(refused.len() <= 1, "{refused:?}");
    for code in refused {
        assert!(matches!(code, Code::LedgerConflict | Code::SessionConflict), "{code}");
    }
    drop((left, right, keeper));
    let (session, _) = desk.open("s1").await;
    let said: Vec<_> = session.messages().iter().map(|message| message.content.as_str()).collect();
    for (turned, text) in [(&first, "left"), (&second, "right")] {
        assert_eq!(turned.is_ok(), said.contains(&text), "{said:?}");
    }
}
