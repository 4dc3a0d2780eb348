//! The pipelines that ship, from end to end; and what runs remember.
//! Owns: which stages there are, and what a prompt is told. Must not: repeat what tests of one stage try.

use crate::binary::{DATA, Work};
use crate::runs_crash::{completed, waits};
use crate::served::{QUESTION, library};
use crate::talks::{Answer, Server, plays, policy, rows, verified};
use serde_json::{Value, json};

const GOOD: &str = "The lease of the harbour ends on 31 May 2027 [lease.md:3].";

fn processed(work: &Work, envelope: &Value, more: &[&str]) -> crate::binary::Done {
    work.write("envelope.json", envelope.to_string());
    work.run(&[&["process", "envelope.json", "--sources", "docs"], more].concat())
}

fn stages(envelope: &Value) -> Vec<String> {
    let history = envelope["processing_history"].as_array().unwrap();
    history.iter().map(|one| one["agent"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn each_pipeline_answers_with_its_own_stages() {
    for (pipeline, expected) in [
        ("default", &["perception", "intent", "plan", "execution", "draft", "critic", "integration"][..]),
        ("six-agent", &["perception", "intent", "planner", "executor", "critic", "integration"]),
        (
            "ragstream",
            &[
                "a0_scope",
                "a1_inject",
                "a2_shape",
                "retrieve",
                "a3_gate",
                "a4_condense",
                "draft",
                "a5_enforce",
                "critic",
                "integration",
            ],
        ),
    ] {
        let work = library();
        let done = completed(&processed(&work, &json!({"raw_input": QUESTION}), &["--pipeline", pipeline]));
        assert_eq!(stages(&done), expected, "{pipeline}");
        let integration = &done["outputs"]["integration"];
        assert_eq!(
            integration["final_response"], "The lease of the harbour ends on 31 May 2027. [lease.md:3]",
            "{pipeline}"
        );
        assert_eq!(integration["citations"][0]["location"], "lease.md:3");
        assert_eq!(done["goal_completion_status"], json!({QUESTION: "satisfied"}));
        let handoffs = rows(&work, "run.returned");
        assert!(handoffs.iter().all(|row| row["payload"]["payload_hash"].is_string()));
        assert_eq!(handoffs.len(), expected.len());
        verified(&work);
    }
}

#[test]
fn ragstream_says_what_each_of_its_agents_did() {
    let work = library();
    work.write("docs/boats.md", "# Boats\n\nThe harbour has forty berths.\n");
    work.write("docs/tax.toml", "rate = 19\n");
    let asked = json!({"raw_input": format!("{QUESTION} See tax.toml.")});
    let outputs = completed(&processed(&work, &asked, &["--pipeline", "ragstream"]))["outputs"].clone();
    assert!(
        outputs["perception"]["eligible_files"]
            .as_array()
            .unwrap()
            .iter()
            .any(|file| file["path"] == "tax.toml")
    );
    assert_eq!(outputs["files"]["files_block"][0]["path"], "tax.toml", "{}", outputs["files"]);
    let search = &outputs["retrieval"]["searches"][0];
    assert!(
        search["hits"][0]["sha256"].is_string() && search["hits"][0]["bm25_rank"].is_number(),
        "{search}"
    );
    let decided = outputs["gate"]["searches"][0]["decided"].as_array().unwrap();
    assert!(!decided.is_empty() && decided.iter().all(|one| one["reason"][0].is_string()), "{decided:?}");
    assert_eq!(outputs["enforcement"], json!({"status": "NOT_PINNED"}));
}

/// A file in Python that keeps the contract.
const KEEPS: &str = "~~~python\n\"\"\"Adds numbers.\"\"\"\n\nimport logging\n\nLOGGER = logging.getLogger(__name__)\n\n\ndef add(first: int, second: int) -> int:\n    \"\"\"Add two numbers.\"\"\"\n    LOGGER.debug(\"adding\")\n    return first + second\n~~~\n";
const BREAKS: &str = "~~~python\nimport os\n\nos.system(\"ls\")\n~~~\n";

/// A run that pins a contract, with a model that says these things.
fn pinned(replies: &[&str]) -> crate::binary::Done {
    let work = library();
    plays(&work, replies);
    work.run(&["models", "add", "script", "--provider", "scripted", "--file", "script.jsonl"]).good();
    let envelope = json!({
        "raw_input": "Write a function that adds two numbers, for the lease of the harbour.",
        "metadata": {"artifact": {
            "codespec_path": "builtin:python", "task": {"language": "python"}, "stop": {"filename": "add.py"},
        }},
    });
    processed(&work, &envelope, &["--pipeline", "ragstream", "--model", "script"])
}

#[test]
fn an_artifact_keeps_its_contract_or_a_person_sees_why_not() {
    let done = completed(&pinned(&[KEEPS]));
    assert_eq!(done["outputs"]["enforcement"]["status"], "PASS", "{}", done["outputs"]["enforcement"]);
    assert!(done["outputs"]["enforcement"]["artifact"]["code_fenced"].as_str().unwrap().contains("def add("));
    // One repair, and it is one more call of the model.
    let done = completed(&pinned(&[BREAKS, KEEPS]));
    assert_eq!(
        (&done["outputs"]["enforcement"]["status"], &done["llm_call_count"]),
        (&json!("PASS"), &json!(2))
    );
    let (envelope, stop) = waits(&pinned(&[BREAKS, BREAKS, KEEPS]));
    assert_eq!(
        (stop.kind.as_str(), &envelope["llm_call_count"]),
        ("escalation", &json!(2)),
        "one repair at most"
    );
    let told = envelope["clarification_question"].as_str().unwrap();
    assert!(told.contains("forbidden_process") && told.contains("os.system"), "{told}");
}

#[test]
fn the_embedded_model_writes_no_artifact() {
    let work = library();
    let envelope = json!({"raw_input": QUESTION, "metadata": {"artifact": {
        "codespec_path": "builtin:python", "task": {"language": "python"}, "stop": {"filename": "a.py"}}}});
    let (_, stop) = waits(&processed(&work, &envelope, &["--pipeline", "ragstream"]));
    assert_eq!(stop.reason, "insufficient_context");
}

/// Words that only the memory or the conversation has.
const REMEMBERED: &str = "the quay was repaired with larch";
const SAID: &str = "the harbour master prefers short answers";

/// A folder, a store, a conversation and a model elsewhere.
fn remembering() -> (Work, Server) {
    let work = library();
    let record =
        json!({"memory_id": "m1", "text": format!("When the lease began {REMEMBERED}."), "tags": ["lease"]});
    work.write("store.jsonl", format!("{record}\n"));
    let turn = work.feed(
        &["memory", "append", "-", "--json"],
        json!({"role": "user", "text": SAID, "timestamp": "2026-01-02T03:04:05Z"}).to_string(),
    );
    turn.good();
    let server = Server::start(vec![Answer::Says(vec![GOOD]), Answer::Says(vec![GOOD])]);
    server.added(&work, "far", &[]);
    (work, server)
}

const FAR: [&str; 4] = ["--model", "far", "--memory", "store.jsonl"];

#[test]
fn what_is_remembered_is_told_to_a_model_and_kept_by_name_only() {
    let (work, server) = remembering();
    let done = completed(&processed(&work, &json!({"raw_input": QUESTION}), &FAR));
    let request = server.heard.try_recv().unwrap();
    assert!(request.contains(REMEMBERED) && request.contains(SAID), "{request}");
    let context = &done["outputs"]["perception"]["context"];
    assert_eq!(
        (&context["memory"][0]["id"], context["session_history"].as_array().unwrap().len()),
        (&json!("m1"), 1)
    );
    assert!(context["memory"][0]["record_hash"].is_string(), "{context}");
    assert_eq!(rows(&work, "memory.read").len(), 2, "each read has its receipt");
    let matter = format!("{DATA}/matters/default/ledger.sqlite");
    let ledger = std::fs::read(work.path(&matter)).unwrap();
    let kept = |words: &str| ledger.windows(words.len()).any(|window| window == words.as_bytes());
    assert!(!kept(REMEMBERED) && !kept(SAID), "the ledger has no words of either");
    verified(&work);
}

#[test]
fn what_is_remembered_and_local_is_not_told_to_a_model_elsewhere() {
    let (work, server) = remembering();
    policy(&work, "stores = { \"store.jsonl\" = \"local_only\" }");
    completed(&processed(&work, &json!({"raw_input": QUESTION}), &FAR));
    let request = server.heard.try_recv().unwrap();
    assert!(!request.contains(REMEMBERED) && request.contains(SAID), "{request}");
    // What is said must not leave either, and then nothing does.
    let (work, server) = remembering();
    policy(&work, "user_class = \"local_only\"");
    processed(&work, &json!({"raw_input": QUESTION}), &FAR).refused(1, "run.denied");
    assert_eq!(server.heard.try_iter().count(), 0);
}
