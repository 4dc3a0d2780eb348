//! Turns of a session: what they leave in the ledger and the checkpoint, and how tools are called in them.
//! Owns: turns that go well, or badly for a tool. Must not: crash (`sessions_crash.rs`) or send anything away.

use crate::desk::{Desk, Stuck, calls, member, notes, policy};
use countersign_record::deed::Outcome;
use countersign_record::json::{self, Json};
use countersign_record::session::Role;
use countersign_record::tool::Effect;
use std::sync::Arc;

const WRITES: &str = r#"{"allow":["fs:read","fs:write","memory:read"]}"#;

/// The turn of the golden: notes, a read, a write, a refused call, an answer.
async fn golden() -> (String, String) {
    let first = notes("Let me see. ", r#"{"set_goals":["know the lease"],"actions":["dance"]}"#);
    let first = calls(
        &first,
        &[
            ("t1", "fs.read_text", r#"{"path":"lease.txt"}"#),
            ("t2", "fs.write_text", r#"{"path":"note.txt","text":"It ends in May."}"#),
            ("t3", "no.such", "{}"),
        ],
    );
    let mut desk = Desk::new(&[&first, "It ends in May."]);
    desk.policy = policy(WRITES);
    desk.put("lease.txt", "The lease ends in May.\n");
    let (mut session, _) = desk.open("s1").await;
    let turned = desk.say(&mut session, "When does the lease end?").await;
    assert_eq!((turned.outcome, turned.rounds, turned.commits), (Outcome::Completed, 2, 3));
    let checkpoint = json::to_text(&desk.checkpoint("s1")).unwrap();
    (desk.told().await, checkpoint)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rows_of_a_turn() {
    let (told, checkpoint) = golden().await;
    insta::assert_snapshot!("turn_rows", told);
    insta::assert_snapshot!("turn_checkpoint", checkpoint);
    assert_eq!(golden().await, (told, checkpoint), "a second run is the same, byte by byte");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_takes_few_commits() {
    let read = calls("", &[("t1", "fs.read_text", r#"{"path":"a.txt"}"#)]);
    let write = calls("", &[("t1", "fs.write_text", r#"{"path":"b.txt","text":"b"}"#)]);
    let mut desk = Desk::new(&["Yes.", &read, "Read.", &write, "Written.", "Recalled."]);
    desk.policy = policy(WRITES);
    desk.put("a.txt", "a");
    let (mut session, _) = desk.open("s1").await;
    let mut commits = Vec::new();
    for text in ["plain", "read", "write"] {
        commits.push(desk.say(&mut session, text).await.commits);
    }
    let store = desk.root().join("store.jsonl");
    std::fs::write(&store, "{\"memory_id\":\"m1\",\"text\":\"the harbour lease\"}\n").unwrap();
    desk.stores.insert(store.display().to_string(), countersign_record::row::DataClass::Internal);
    session.set_office(desk.office());
    let recalled = desk.say(&mut session, "the harbour").await;
    // The receipt of the read is appended with what happened before it.
    commits.push(recalled.commits);
    assert_eq!(commits, [2, 2, 3, 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_turn_and_its_checkpoint() {
    let desk = Desk::new(&["Hello to you."]);
    let (mut session, recovered) = desk.open("s1").await;
    assert_eq!(recovered, countersign_runtime::session::Recovered::default());
    let turned = desk.say(&mut session, "Hello.").await;
    assert_eq!((turned.turn, turned.revision, turned.usage.output_tokens), (1, 1, 2));
    assert_eq!(desk.kinds("session/s1").await, ["turn_begun", "model_asked", "model_answered", "turn_ended"]);
    let checkpoint = desk.checkpoint("s1");
    let said: Vec<_> =
        checkpoint.recent_messages.iter().map(|one| (one.role, one.content.as_str())).collect();
    assert_eq!(said, [(Role::User, "Hello."), (Role::Assistant, "Hello to you.")]);
    assert_eq!(checkpoint.trace_tail, ["s1__turn-1"]);
    assert_eq!(checkpoint.revision, 1);
    let report = desk.ledger.verify(&desk.access(), Vec::new()).await.unwrap();
    assert!(report.findings.is_empty(), "{report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn results_are_what_the_contract_says_and_a_turn_goes_on() {
    let letter = Arc::new(Stuck::new("letter.send", Effect::Irreversible));
    let first = calls(
        "",
        &[
            ("t1", "fs.list_dir", r#"{"path":"."}"#),
            ("t2", "no.such", "{}"),
            ("t3", "fs.read_text", r#"{"path":7}"#),
            ("t4", "letter.send", r#"{"to":"bob","fail":1}"#),
            ("t5", "fs.read_text", r#"{"path":"../secret"}"#),
            ("t6", "letter.send", r#"{"to":"nowhere"}"#),
        ],
    );
    let mut desk = Desk::new(&[&first, "Done."]);
    desk.tools.push(letter.clone());
    desk.put("a.txt", "a");
    let (mut session, _) = desk.open("s1").await;
    let (turned, seen) = desk.say_until(&mut session, "Go.", &Default::default()).await;
    assert_eq!(turned.unwrap().outcome, Outcome::Completed);
    assert_eq!(seen.text, "Done.", "what asks for calls is not shown");
    let request = &desk.model.requests()[1];
    let results: Vec<_> = request.messages.iter().filter(|one| one.role == Role::Tool).collect();
    assert_eq!(
        results[0].content,
        r#"{"id":"t1","tool":"fs.list_dir","ok":true,"output":{"entries":[{"bytes":1,"kind":"file","name":"a.txt"}],"path":".","total":1,"truncated":false},"error":null}"#
    );
    assert_eq!(
        results[1].content,
        r#"{"id":"t2","tool":"no.such","ok":false,"output":null,"error":"tool.unknown: there is no tool of this name"}"#
    );
    let errors: Vec<String> = results[2..]
        .iter()
        .map(|one| member(&json::parse(one.content.as_bytes()).unwrap(), "error").to_owned())
        .collect();
    let codes: Vec<_> = errors.iter().map(|error| error.split_once(':').unwrap().0).collect();
    assert_eq!(codes, ["tool.arguments", "tool.failed", "tool.path", "tool.arguments"], "{errors:?}");
    assert_eq!(letter.runs(), 1);
    let ids: Vec<_> = results
        .iter()
        .map(|one| member(&json::parse(one.content.as_bytes()).unwrap(), "id").to_owned())
        .collect();
    assert_eq!(ids, ["t1", "t2", "t3", "t4", "t5", "t6"], "in the order of the calls");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_with_one_wrong_call_runs_none() {
    let twice = calls("", &[("t1", "letter.send", "{}"), ("t1", "letter.send", r#"{"to":"bob"}"#)]);
    let broken = "<<<TOOL_CALLS_JSON>>>[{]<<<END_TOOL_CALLS_JSON>>>";
    let letter = Arc::new(Stuck::new("letter.send", Effect::Irreversible));
    let mut desk = Desk::new(&[&twice, broken, "I give up."]);
    desk.tools.push(letter.clone());
    let (mut session, _) = desk.open("s1").await;
    let turned = desk.say(&mut session, "Go.").await;
    assert_eq!((turned.outcome, turned.rounds), (Outcome::Completed, 3));
    assert_eq!(letter.runs(), 0);
    let results = desk.of_kind(countersign_record::deed::TOOL_REFUSED).await;
    assert_eq!(results.len(), 3);
    for row in &results {
        let told = json::parse(desk.blob(row, 0).await.as_bytes()).unwrap();
        assert_eq!(told.get("ok"), Some(&Json::Bool(false)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rounds_are_bounded() {
    let again = calls("", &[("t1", "system.time", "{}")]);
    let mut desk = Desk::new(&[again.as_str(); 9]);
    desk.policy = policy(r#"{"rounds":3}"#);
    let (mut session, _) = desk.open("s1").await;
    let (turned, seen) = desk.say_until(&mut session, "Go.", &Default::default()).await;
    let turned = turned.unwrap();
    assert_eq!((turned.outcome, turned.rounds), (Outcome::Bounded, 3));
    assert_eq!(desk.model.requests().len(), 3);
    assert_eq!(seen.notes.len(), 1);
    // What was done is kept, and the session goes on.
    assert_eq!(session.messages().len(), 1 + 3 * 2);
    desk.model.add(&["Well."]);
    assert_eq!(desk.checkpoint("s1").revision, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_tool_gives_is_bounded() {
    let read = calls("", &[("t1", "big.read", "{}")]);
    let mut desk = Desk::new(&[&read, "Much."]);
    desk.tools.push(Arc::new(Big(Stuck::new("big.read", Effect::None))));
    let (mut session, _) = desk.open("s1").await;
    desk.say(&mut session, "Go.").await;
    let request = &desk.model.requests()[1];
    let content = &request.messages.last().unwrap().content;
    assert!(content.len() <= 64 * 1024, "{}", content.len());
    let result = json::parse(content.as_bytes()).unwrap();
    assert_eq!(result.get("output").unwrap().get("truncated"), Some(&Json::Bool(true)));
}

/// Gives more than a model is told.
struct Big(Stuck);

impl countersign_runtime::ports::tool::Tool for Big {
    fn definition(&self) -> &countersign_record::tool::Definition {
        &self.0.definition
    }

    fn plan(
        &self,
        args: &json::Object,
    ) -> Result<countersign_runtime::ports::tool::Plan, countersign_runtime::ports::tool::NotDone> {
        self.0.plan(args)
    }

    fn run<'a>(
        &'a self,
        _: countersign_kernel::gate::Permitted,
        _: &'a tokio_util::sync::CancellationToken,
    ) -> countersign_runtime::ports::Answer<
        'a,
        Result<countersign_runtime::ports::tool::Done, countersign_runtime::ports::tool::NotDone>,
    > {
        // Quotes and letters of several bytes: what is cut is counted as it is written.
        let text = "ü\"\u{1}".repeat(100_000);
        Box::pin(async move { Ok(countersign_runtime::ports::tool::Done::plain(Json::from(text.as_str()))) })
    }
}
