//! What is said in a session: notes, memory, citations, cancelling, taking back, traces.
//! Owns: the session as its user has it. Must not: crash it.

use crate::desk::{CANARY, Desk, Stuck, calls, member, notes, policy};
use countersign_memory::remembered;
use countersign_record::code::Code;
use countersign_record::deed::{self, Outcome};
use countersign_record::json::{self, Json};
use countersign_record::row::DataClass;
use countersign_record::session::Role;
use countersign_record::tool::Effect;
use countersign_record::trace::Redactor;
use std::io::Read;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

#[tokio::test(flavor = "multi_thread")]
async fn notes_change_the_state_and_then_act() {
    let first = notes(
        "a",
        r#"{"set_goals":["g"],"add_open_loops":["l1","l2"],"close_open_loops":["l1"],"add_decisions":["d"],
            "add_constraints":["c"],"set_episode_summary":"s","add_memory_tags":["t"],"mood":"good",
            "actions":["request_permission:net:a.example","dance"]}"#,
    );
    let desk = Desk::new(&[&first, &notes("b", r#"{"set_goals":7}"#)]);
    let (mut session, _) = desk.open("s1").await;
    let (turned, seen) = desk.say_until(&mut session, "Go.", &CancellationToken::new()).await;
    assert_eq!(turned.unwrap().outcome, Outcome::Completed);
    assert_eq!(
        (seen.text.as_str(), seen.notes.as_slice()),
        ("a", &["the model asks for net:a.example".to_owned()][..])
    );
    let state = session.state().clone();
    assert_eq!((state.goals.join(""), state.open_loops.join("")), ("g".into(), "l2".into()));
    assert_eq!(state.capabilities_pending, ["net:a.example"]);
    assert_eq!(state.episode_summary, "s");
    desk.say(&mut session, "Go.").await;
    assert_eq!(session.state(), &state, "a patch that is none changes nothing");
    let trace = trace(&desk, "s1__turn-1");
    let of_kind = |kind: &str| -> Vec<String> {
        let lines = trace.iter().filter(|event| member(event, "kind") == kind);
        lines.map(|event| format!("{} {}", text(event, "what"), text(event, "detail"))).collect()
    };
    assert_eq!(
        of_kind("notes_patch"),
        [
            "applied goals 1, open_loops 1, decisions 1, constraints 1, memory_tags 1, episode_summary 1",
            "unknown_members mood",
        ]
    );
    assert_eq!(of_kind("actions"), ["requested net:a.example", "unknown_action dance"]);
    // The model is shown its state.
    assert!(desk.model.requests()[1].messages[0].content.contains(r#""goals":["g"]"#));
}

fn text(event: &Json, name: &str) -> String {
    member(event.get("data").unwrap(), name).to_owned()
}

fn trace(desk: &Desk, name: &str) -> Vec<Json> {
    let mut lines = String::new();
    desk.traces().open(name).unwrap().read_to_string(&mut lines).unwrap();
    lines.lines().map(|line| json::parse(line.as_bytes()).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_stays_within_its_bounds() {
    let desk = Desk::new(&["Yes, that is so."; 300]);
    let (mut session, _) = desk.open("s1").await;
    for number in 0..300 {
        desk.say(&mut session, &format!("question {number}")).await;
        assert!(session.messages().len() <= desk.bounds.messages);
    }
    let checkpoint = desk.checkpoint("s1");
    assert_eq!((checkpoint.revision, checkpoint.recent_messages.len()), (300, 64));
    assert_eq!(checkpoint.trace_tail.len(), 20);
    assert_eq!(checkpoint.recent_messages[63].content, "Yes, that is so.");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_to_go_is_summed_up_as_memory() {
    let smart = notes("Short.", r#"{"add_memory_tags":["lease"],"actions":["condense_smart"]}"#);
    let mut desk =
        Desk::new(&["One.", "Two.", "Three.", &smart, &notes("x", r#"{"actions":["condense_now"]}"#)]);
    desk.bounds.messages = 8;
    let memory = Arc::new(remembered::Sessions::at(&desk.data().join("memory")));
    desk.remembers = Some(memory.clone());
    let (mut session, _) = desk.open("s1").await;
    for number in 1..=4 {
        desk.say(&mut session, &format!("question {number}")).await;
    }
    assert_eq!(session.messages().len(), 4);
    let id = session.state().memory_refs[0].clone();
    let stores = memory.stores();
    assert_eq!(stores[0].1, DataClass::Internal);
    let line = std::fs::read_to_string(&stores[0].0).unwrap();
    let record = json::parse(line.trim_end().as_bytes()).unwrap();
    assert_eq!(member(&record, "memory_id"), id);
    assert_eq!(
        member(&record, "text"),
        "user: question 1\nassistant: One.\nuser: question 2\nassistant: Two.\n"
    );
    let ended = desk.of_kind(deed::TURN_ENDED).await;
    assert_eq!(member(&ended[3].payload, "memory_ref"), id);
    desk.say(&mut session, "And now?").await;
    assert_eq!(session.messages().len(), 4);
    assert_eq!(session.state().memory_refs, [id]);
    // It can be found.
    desk.stores = stores.iter().map(|(path, class)| (path.display().to_string(), *class)).collect();
    desk.play(&["I remember."]);
    let (mut other, _) = desk.open("s2").await;
    desk.say(&mut other, "What about question 1?").await;
    assert!(desk.model.heard().contains("user: question 1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_that_is_cut_off_counts_for_nothing() {
    let cut = calls(&notes("Half", r#"{"set_goals":["g"]}"#), &[("t1", "letter.send", "{}")]);
    let mut desk = Desk::new(&[&format!("{cut}\u{1}hang"), &format!("{cut}\u{1}fail"), "Whole."]);
    let letter = Arc::new(Stuck::new("letter.send", Effect::Irreversible));
    desk.tools.push(letter.clone());
    let (mut session, _) = desk.open("s1").await;
    let cancel = CancellationToken::new();
    let model = Arc::clone(&desk.model);
    let ((turned, _), ()) = tokio::join!(desk.say_until(&mut session, "Go.", &cancel), async {
        model.hangs.notified().await;
        cancel.cancel();
    });
    assert_eq!(turned.unwrap().outcome, Outcome::Cancelled);
    // The model fails in the middle.
    let turned = desk.say(&mut session, "Go.").await;
    assert_eq!((turned.outcome, turned.failure.unwrap().code), (Outcome::Failed, Code::ModelBusy));
    assert_eq!((session.messages(), session.state().goals.len(), letter.runs()), (&[][..], 0, 0));
    // The same question again.
    assert_eq!(desk.say(&mut session, "Go.").await.outcome, Outcome::Completed);
    let said: Vec<_> = session.messages().iter().map(|message| message.content.as_str()).collect();
    assert_eq!(said, ["Go.", "Whole."]);
    assert_eq!(session.revision(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_between_two_calls_ends_the_turn_there() {
    let both = calls("", &[("t1", "stop.now", "{}"), ("t2", "letter.send", "{}")]);
    let mut desk = Desk::new(&[&both, "Whole."]);
    let letter = Arc::new(Stuck::new("letter.send", Effect::Irreversible));
    let stop = Arc::new(Stuck::new("stop.now", Effect::Irreversible));
    desk.tools.extend([letter.clone() as _, stop.clone() as _]);
    let (mut session, _) = desk.open("s1").await;
    let cancel = CancellationToken::new();
    stop.is_stuck.store(true, std::sync::atomic::Ordering::SeqCst);
    // A real tool ends by itself when it is cancelled; one that does not is left, and asked about.
    tokio::select! {
        _ = desk.say_until(&mut session, "Go.", &cancel) => panic!("it is stuck"),
        () = stop.begun.notified() => cancel.cancel(),
    }
    assert_eq!(desk.try_say(&mut session, "Go.").await.unwrap_err().code(), Code::SessionUnsettled);
    session.settle("t1", deed::Fate::Happened).await.unwrap();
    assert_eq!(desk.say(&mut session, "Go on.").await.outcome, Outcome::Completed);
    assert_eq!((stop.runs(), letter.runs()), (1, 0));
    // Cancelled before the first call: what was said is kept, live and when it is told again.
    desk.play(&[&calls("I begin.", &[("t1", "letter.send", "{}")])]);
    session.set_office(desk.office());
    let cancel = CancellationToken::new();
    let mut screen = Cancels { cancel: cancel.clone() };
    let (name, mut lines) = desk.traces().begin(session.name(), 9);
    let said = countersign_runtime::session::Said {
        text: "Stop.",
        data_class: None,
        screen: &mut screen,
        trace: &mut lines,
        trace_name: name,
        cancel: &cancel,
    };
    session.turn(said).await.unwrap();
    assert_eq!(letter.runs(), 0);
    let messages = session.messages().to_vec();
    drop(session);
    for file in ["s1.json", "s1~previous.json"] {
        std::fs::remove_file(desk.data().join("sessions").join(file)).unwrap();
    }
    let (session, _) = desk.open("s1").await;
    assert_eq!(session.messages(), messages);
}

/// Cancels when anything is shown.
struct Cancels {
    cancel: CancellationToken,
}

impl countersign_runtime::ports::session::Screen for Cancels {
    fn text(&mut self, _: &str) {
        self.cancel.cancel();
    }

    fn started(&mut self, _: &str, _: &str) {}

    fn ended(&mut self, _: &str, _: Option<&str>, _: std::time::Duration) {}

    fn note(&mut self, _: &str) {}
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_taken_back_and_what_it_did_stands() {
    let write =
        calls(&notes("", r#"{"set_goals":["g"]}"#), &[("t1", "fs.write_text", r#"{"path":"a","text":"b"}"#)]);
    let mut desk = Desk::new(&["One.", &write, "Written."]);
    desk.policy = policy(r#"{"allow":["fs:write"]}"#);
    let (mut session, _) = desk.open("s1").await;
    assert_eq!(session.undo().await.unwrap_err().code(), Code::SessionNothing);
    desk.say(&mut session, "first").await;
    desk.say(&mut session, "second").await;
    let undone = session.undo().await.unwrap();
    assert_eq!((undone.turn, undone.revision), (2, 3));
    assert_eq!(undone.standing, ["write 1 byte to a, if there is nothing yet"]);
    assert!(desk.root().join("a").exists());
    assert_eq!((session.messages().len(), session.state().goals.len()), (2, 0));
    let undone = session.undo().await.unwrap();
    assert_eq!((undone.turn, undone.revision, undone.standing.len()), (1, 4, 0));
    assert_eq!(session.messages(), []);
    assert_eq!(session.undo().await.unwrap_err().code(), Code::SessionNothing);
    drop(session);
    let (mut session, recovered) = desk.open("s1").await;
    assert_eq!((recovered.notes.len(), session.revision()), (0, 4));
    desk.play(&["Anew."]);
    session.set_office(desk.office());
    assert_eq!(desk.say(&mut session, "third").await.turn, 3);
    assert_eq!(session.messages().len(), 2);
}

/// A desk with a store that holds two records.
fn remembering() -> (Desk, std::path::PathBuf) {
    let mut desk = Desk::new(&[]);
    let store = desk.root().join("store.jsonl");
    let records = [("mem_1", format!("the {CANARY} of 2024")), ("mem_2", "the harbour master".to_owned())];
    let lines = records.map(|(id, text)| format!("{{\"memory_id\":\"{id}\",\"text\":\"{text}\"}}\n"));
    std::fs::write(&store, lines.concat()).unwrap();
    desk.stores.insert(store.display().to_string(), DataClass::Internal);
    (desk, store)
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_is_shown_cited_and_kept_nowhere() {
    let (mut desk, _) = remembering();
    let find = calls("", &[("t1", "memory.read", r#"{"query":"harbour","max_items":5}"#)]);
    desk.play(&["It is in [mem:mem_1] and [mem:mem_9].", &find, "See [mem:mem_2]."]);
    let (mut session, _) = desk.open("s1").await;
    let (turned, seen) = desk.say_until(&mut session, "harbour lease", &CancellationToken::new()).await;
    assert_eq!(turned.unwrap().unknown_citations, ["mem_9"]);
    assert_eq!(seen.notes, ["the answer cites [mem:mem_9], which was not retrieved"]);
    let answered = desk.of_kind(deed::MODEL_ANSWERED).await;
    assert_eq!(answered[0].payload.get("unknown_citations"), Some(&Json::Array(vec!["mem_9".into()])));
    let system = desk.model.requests()[0].messages[0].content.clone();
    let block = &system[system.find("=== RETRIEVED").unwrap()..];
    let scores: Vec<&str> =
        block.lines().filter_map(|line| line.split_once("score=")).map(|(_, score)| score).collect();
    assert_eq!(scores.len(), 2);
    assert!(scores.iter().all(|score| score.split_once('.').unwrap().1.len() == 3), "{scores:?}");
    let expected = format!(
        "=== RETRIEVED_MEMORY ===\n- id=mem_1 score={}\n  the {CANARY} of 2024\n- id=mem_2 score={}\n  the harbour master\n=== END_RETRIEVED_MEMORY ===\n",
        scores[0], scores[1]
    );
    assert_eq!(block, expected);
    // What the tool gave may be cited too.
    let turned = desk.say(&mut session, "zzz").await;
    assert_eq!(turned.unknown_citations, [""; 0]);
    assert!(desk.model.last().get("output").is_some());
    assert!(desk.model.heard().contains(CANARY));
    let kept = session.messages().iter().find(|message| message.role == Role::Tool).unwrap();
    assert!(kept.content.contains("record_hash"), "{}", kept.content);
    drop(session);
    assert_eq!(desk.finds(CANARY).await, [""; 0]);
    let report = desk.ledger.verify(&desk.access(), Vec::new()).await.unwrap();
    assert!(report.findings.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_has_every_kind_and_no_secret() {
    let (mut desk, _) = remembering();
    desk.redactor = Redactor::new([CANARY.to_owned()]);
    let args = r#"{"to":"bob","password":"hunter2hunter2"}"#;
    let first =
        calls(&notes("ok", r#"{"set_goals":["g"],"actions":["dance"]}"#), &[("t1", "letter.send", args)]);
    desk.tools.push(Arc::new(Stuck::new("letter.send", Effect::None)));
    desk.play(&[&first, &format!("done {CANARY}")]);
    let (mut session, _) = desk.open("s1").await;
    // A reply that repeats a secret is none.
    let turned = desk.say(&mut session, "harbour").await;
    assert_eq!(turned.failure.unwrap().code, Code::ModelReply);
    let mut text = String::new();
    desk.traces().open("s1__turn-1").unwrap().read_to_string(&mut text).unwrap();
    assert!(!text.contains(CANARY) && !text.contains("hunter2"), "{text}");
    let mut kinds: Vec<String> = Vec::new();
    for line in text.lines() {
        let event = json::parse(line.as_bytes()).unwrap();
        assert!(matches!(event.get("ts"), Some(Json::Number(_))));
        assert!(matches!(event.get("data"), Some(Json::Object(_))));
        kinds.push(member(&event, "kind").to_owned());
    }
    let required = [
        "llm_req",
        "llm_stream",
        "llm_done",
        "notes_patch",
        "actions",
        "retrieval",
        "tool_plan",
        "tool_start",
        "tool_done",
    ];
    for kind in required {
        assert!(kinds.iter().any(|one| one == kind), "{kind} is not in {kinds:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_that_cannot_be_written_changes_nothing() {
    let told = |blocked: bool| async move {
        let desk = Desk::new(&["One."]);
        if blocked {
            std::fs::create_dir_all(desk.data()).unwrap();
            std::fs::write(desk.data().join("traces"), "a file").unwrap();
        }
        let (mut session, _) = desk.open("s1").await;
        desk.say(&mut session, "Hello.").await;
        (desk.told().await, desk.checkpoint("s1"))
    };
    assert_eq!(told(false).await, told(true).await);
}
