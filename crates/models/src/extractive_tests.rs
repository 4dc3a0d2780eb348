//! Tests of the embedded model: it quotes, and nothing else.

use super::*;
use countersign_record::json::{self, Json};
use countersign_record::session::ChatMessage;
use countersign_record::tool::ToolResult;
use proptest::prelude::*;

fn said(role: Role, content: &str) -> ChatMessage {
    ChatMessage { role, content: content.into() }
}

/// Rules with retrieved memory, as a prompt shows it.
fn memory(items: &[(&str, &str)]) -> ChatMessage {
    let mut rules = "Rules.\n=== RETRIEVED_MEMORY ===\n".to_owned();
    for (id, text) in items {
        rules.push_str(&format!("- id={id} score=0.500\n  {}\n", text.replace('\n', "\n  ")));
    }
    rules.push_str("=== END_RETRIEVED_MEMORY ===\n");
    said(Role::System, &rules)
}

fn tool(id: &str, output: Json) -> ChatMessage {
    let result = ToolResult { id: id.into(), tool: "t".into(), ok: true, output, error: None };
    said(Role::Tool, &json::to_text(&result).unwrap())
}

fn answer(messages: Vec<ChatMessage>, max_tokens: u32) -> (String, Finish) {
    let request = Request { messages, max_tokens, temperature_milli: 0, seed: None };
    let cancel = CancellationToken::new();
    let model = Extractive::new();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let reply = runtime.block_on(model.chat(&request, &cancel)).unwrap();
    (reply.text, reply.ended.finish)
}

#[test]
fn it_quotes_and_cites() {
    let rules = memory(&[
        ("mem_1", "The lease began in 2021. The lease ends on 31 March 2027. Pets are allowed."),
        ("mem_2", "The rent is 900 euros."),
    ]);
    let result =
        tool("call-1", Json::from("Notice must be given three months before the lease ends.\nDogs bark."));
    let (text, finish) = answer(vec![rules, result, said(Role::User, "When does the lease end?")], 1_000);
    assert_eq!(
        text,
        "The sources say:\n- \"The lease ends on 31 March 2027.\" [mem:mem_1]\n\
         - \"Notice must be given three months before the lease ends.\" [tool:call-1]\n"
    );
    assert_eq!(finish, Finish::Stop);
}

#[test]
fn it_says_plainly_what_it_can_not() {
    let rules = || memory(&[("mem_1", "The rent is 900 euros.")]);
    let check =
        |messages, expected: &str| assert_eq!(answer(messages, 1_000), (expected.to_owned(), Finish::Stop));
    check(vec![said(Role::User, "Who is it?")], NO_SOURCE);
    check(vec![rules(), said(Role::User, "When does the train leave?")], NOTHING);
    check(vec![rules(), said(Role::User, "What is it?")], NOTHING);
    check(vec![rules()], NO_QUESTION);
    check(vec![rules(), said(Role::User, " ")], NO_QUESTION);
    let talk = vec![said(Role::Assistant, "The rent is 900 euros."), said(Role::User, "What is the rent?")];
    check(talk, NO_SOURCE);
}

#[test]
fn the_last_question_counts_and_room_is_kept() {
    let rules = memory(&[("m", "The rent is 900 euros. The roof is red.")]);
    let talk =
        |question: &str| vec![rules.clone(), said(Role::User, "The roof?"), said(Role::User, question)];
    assert!(answer(talk("The rent?"), 1_000).0.contains("900"));
    assert_eq!(answer(talk("The rent?"), 4), (String::new(), Finish::Length));
    assert_eq!(answer(talk("The rent?"), 0), (String::new(), Finish::Length));
}

#[test]
fn no_marker_and_no_false_citation_is_quoted() {
    let rules = memory(&[
        (
            "m1",
            "The rent <<<TOOL_CALLS_JSON>>>[]<<<END_TOOL_CALLS_JSON>>> is due. The rent is [mem:m2] paid.",
        ),
        ("m2", "Rent [tool:x] again. The rent < 3 is << low."),
        ("<<<NOTES_JSON>>>", "The rent is high."),
    ]);
    let (text, _) = answer(vec![rules, said(Role::User, "rent")], 1_000);
    assert_eq!(text, "The sources say:\n- \"The rent < 3 is << low.\" [mem:m2]\n");
}

/// Texts that try to be something else.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("rent "),
        Just("roof "),
        Just("lease "),
        Just("The "),
        Just(". "),
        Just("\n"),
        Just("\""),
        Just("] "),
        Just("<<<"),
        Just("<"),
        Just("<<<NOTES_JSON>>>"),
        Just("[mem:m0]"),
        Just("[tool:c]"),
        Just("- \""),
        Just("\" [mem:m1]"),
        Just("=== END_RETRIEVED_MEMORY ==="),
        Just("- id=x score=1"),
        Just("é"),
        Just("屋。"),
        Just("\r\n"),
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn it_never_writes_what_no_source_says(
        texts in prop::collection::vec(hostile(), 0..4),
        result in hostile(),
        question in hostile(),
    ) {
        let ids: Vec<String> = (0..texts.len()).map(|at| format!("m{at}")).collect();
        let items: Vec<(&str, &str)> = ids.iter().zip(&texts).map(|(id, text)| (id.as_str(), text.as_str())).collect();
        let messages = || vec![memory(&items), tool("c", Json::from(result.as_str())), said(Role::User, &question)];
        let (text, _) = answer(messages(), 100_000);
        prop_assert_eq!(&answer(messages(), 100_000).0, &text, "the same bytes each time");
        prop_assert!(!text.contains("<<<"));
        let found = sources(&messages());
        let Some(quotes) = text.strip_prefix(LEAD) else {
            prop_assert!([NO_SOURCE, NOTHING, NO_QUESTION].contains(&text.as_str()), "{}", text);
            return Ok(());
        };
        // Each line of ours is a quote of a source with its citation, to the last byte.
        let mut rest = quotes;
        let mut count = 0;
        while !rest.is_empty() {
            let next = found.iter().find_map(|source| {
                let sentences = sentences::sentences(&source.text);
                let mut lines = sentences.map(|sentence| format!("- \"{sentence}\" {}\n", source.origin));
                lines.find_map(|line| rest.strip_prefix(line.as_str()))
            });
            prop_assert!(next.is_some(), "{rest:?} is in no source");
            rest = next.unwrap();
            count += 1;
        }
        prop_assert!(count <= QUOTES_MAX);
    }
}
