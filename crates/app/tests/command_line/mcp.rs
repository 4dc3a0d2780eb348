//! Agents that are tools of MCP servers: a real one, written with Python's SDK, and ones that mean no good.
//! Owns: runs through them, as users start them. Must not: know how a server is spoken to.

use crate::binary::{Done, Work};
use serde_json::{Value, json};

const SERVER: &str = include_str!("mcp/server.py");
const HOSTILE: &str = include_str!("mcp/hostile.py");

struct Desk {
    work: Work,
}

impl Desk {
    /// A pipeline of one stage, which is a tool of a server.
    fn new(stage: &str, command: &[&str], tool: &str, more: &str) -> Self {
        let work = Work::new();
        work.write("server.py", SERVER);
        work.write("hostile.py", HOSTILE);
        let pipeline = format!(
            "name = \"test\"\n[[stages]]\nname = \"{stage}\"\nagent = {{ kind = \"mcp\", command = {}, tool = \"{tool}\"{more} }}\n",
            json!(command)
        );
        work.write("pipeline.toml", pipeline);
        Desk { work }
    }

    /// A tool of the real server.
    fn real(stage: &str, tool: &str, more: &str) -> Self {
        let python = std::env::var("COUNTERSIGN_MCP_PYTHON")
            .expect("COUNTERSIGN_MCP_PYTHON names a Python with the package mcp: ./test makes one");
        Desk::new(stage, &[&python, "server.py"], tool, more)
    }

    fn hostile(how: &str) -> Self {
        Desk::new("work", &["python3", "hostile.py", how], "review", "")
    }

    fn process(&self, more: &[&str]) -> Done {
        let args = [&["process", "--pipeline", "pipeline.toml"], more].concat();
        self.work.feed(&args, json!({"raw_input": "End it."}).to_string())
    }

    /// The envelope of a run that ends well.
    fn good(&self) -> Value {
        let done = self.process(&["--allow-programs"]).good();
        serde_json::from_slice(&done.bytes).unwrap()
    }

    /// The envelope of a run that does not, and the code and the details of why.
    fn told(&self, exit: i32) -> (Value, String, Value) {
        told(&self.process(&["--allow-programs"]), exit)
    }

    /// The one error of a run that fails.
    fn fault(&self) -> Value {
        let (envelope, code, _) = self.told(1);
        assert_eq!((code.as_str(), &envelope["terminated"]), ("run.failed", &json!(true)), "{envelope}");
        assert_eq!(envelope["errors"].as_array().unwrap().len(), 1, "{envelope}");
        envelope["errors"][0].clone()
    }
}

fn told(done: &Done, exit: i32) -> (Value, String, Value) {
    assert_eq!(done.exit, Some(exit), "{}\n{}", done.text(), done.err);
    let envelope = serde_json::from_slice(&done.bytes).unwrap_or_else(|_| panic!("{}", done.text()));
    let error: Value = serde_json::from_str(&done.err).unwrap_or_else(|_| panic!("{}", done.err));
    (envelope, error["error"]["code"].as_str().unwrap().to_owned(), error["error"]["details"].clone())
}

#[test]
fn a_tool_of_a_real_server_carries_a_run_on() {
    let envelope = Desk::real("work", "review", "").good();
    let output = &envelope["outputs"]["work"];
    assert_eq!((&output["stage"], &output["saw"]), (&json!("work"), &json!("End it.")));
    assert_eq!(envelope["terminal_reason"], "completed_successfully");
    assert_eq!(envelope["processing_history"][0]["agent"], "work");
    // It finds nobody's keys.
    for name in output["environment"].as_array().unwrap() {
        let known = ["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR"];
        assert!(known.contains(&name.as_str().unwrap()), "{name}");
    }
}

#[test]
fn an_envelope_may_be_wrapped_or_written_out() {
    for tool in ["wrapped", "written", "text"] {
        assert_eq!(Desk::real("work", tool, "").good()["outputs"]["work"], json!({"how": tool}));
    }
}

#[test]
fn a_tool_is_called_only_with_the_definition_that_is_pinned() {
    let zeros = format!("sha256:{}", "0".repeat(64));
    let fault = Desk::real("work", "review", &format!(", definition = \"{zeros}\"")).fault();
    assert_eq!(
        (&fault["error_type"], &fault["recoverable"]),
        (&json!("McpDefinitionChanged"), &json!(false))
    );
    let message = fault["message"].as_str().unwrap();
    assert!(message.ends_with(&format!("and {zeros} is asked for")), "{message}");
    // The refusal says what to pin.
    let found = message.split_whitespace().find(|word| word.starts_with("sha256:")).unwrap();
    let pinned = format!(", definition = \"{}\"", found.trim_end_matches(','));
    assert_eq!(Desk::real("work", "review", &pinned).good()["outputs"]["work"]["stage"], "work");
    // The same definition under another name is another one.
    assert_eq!(Desk::real("work", "text", &pinned).fault()["error_type"], "McpDefinitionChanged");
}

#[test]
fn what_a_tool_can_not_do_is_told() {
    let fault = Desk::real("work", "no_such", "").fault();
    assert_eq!((&fault["error_type"], &fault["recoverable"]), (&json!("McpToolMissing"), &json!(false)));
    assert_eq!(fault["message"], "the server has no tool no_such");
    let fault = Desk::real("work", "fails", "").fault();
    assert_eq!((&fault["error_type"], &fault["recoverable"]), (&json!("McpToolError"), &json!(true)));
    assert!(fault["message"].as_str().unwrap().contains("the registry is closed"), "{fault}");
}

#[test]
fn what_a_tool_asks_a_person_stops_the_run_and_its_answer_reaches_the_tool() {
    let desk = Desk::real("intent", "asks", "");
    let (envelope, code, details) = desk.told(3);
    assert_eq!((code.as_str(), &details["kind"]), ("run.waiting", &json!("clarification")));
    assert_eq!(envelope["clarification_question"], "Which lease?");
    let (run, id) = (details["run"].as_str().unwrap(), details["id"].as_str().unwrap());
    let args = ["answer", run, "--id", id, "--value", "the harbour's", "--allow-programs", "--json"];
    let done = desk.work.run(&args).good();
    let envelope: Value = serde_json::from_slice(&done.bytes).unwrap();
    assert_eq!(envelope["outputs"]["intent"]["lease"], "the harbour's", "{envelope}");
}

#[test]
fn no_server_is_started_unless_programs_are_allowed() {
    let desk = Desk::new("work", &["sh", "-c", "touch started"], "review", "");
    let done = desk.process(&[]);
    let error: Value = serde_json::from_str(&done.err).unwrap();
    assert_eq!(done.exit, Some(1), "{}", done.err);
    // What was asked is handed back as it came.
    assert!(done.text().contains("\"raw_input\":\"End it.\""), "{}", done.text());
    assert_eq!(error["error"]["code"], "run.agent");
    assert!(error["error"]["message"].as_str().unwrap().contains("--allow-programs"), "{error}");
    assert!(!desk.work.path("started").exists());
}

#[test]
fn a_server_of_the_revision_with_a_handshake_is_spoken_to_as_well() {
    let envelope = Desk::hostile("fine").good();
    assert_eq!(envelope["outputs"]["work"], json!({"how": "fine"}));
    let (envelope, code, _) = Desk::hostile("asks").told(3);
    assert_eq!((code.as_str(), &envelope["clarification_question"]), ("run.waiting", &json!("Which lease?")));
}

#[test]
fn a_server_that_means_no_good_is_a_fault_and_nothing_else() {
    for (how, expected) in [
        ("dies", "it ended with exit status: 1: there is no licence"),
        ("leaves", "it ended with exit status: 1: the lights went out"),
        ("chatters", "it says something that is no JSON: line 1, column 1"),
        ("endless", "it said more than 8 MiB"),
        ("notices", "it said more than 8 MiB"),
        ("deep", "it says something that is no JSON: "),
        ("old", "it speaks MCP of 1999-01-01, which is not known"),
        ("pages", "the server has no tool review"),
        ("refuses", "it refuses: not today (-32001)"),
    ] {
        let fault = Desk::hostile(how).fault();
        assert!(fault["message"].as_str().unwrap().contains(expected), "{how}: {fault}");
        assert_eq!(fault["recoverable"], json!(false), "{how}");
    }
    let fault = Desk::new("work", &["/no/such/server"], "review", "").fault();
    assert!(fault["message"].as_str().unwrap().starts_with("it can't be started: "), "{fault}");
    let fault = Desk::new("work", &["true"], "review", "").fault();
    assert!(fault["message"].as_str().unwrap().contains("it ended with exit status: 0"), "{fault}");
}

#[test]
fn an_answer_that_is_no_envelope_goes_to_a_person() {
    for how in ["nothing", "spells"] {
        let (_, code, details) = Desk::hostile(how).told(3);
        assert_eq!((code.as_str(), &details["reason"]), ("run.waiting", &json!("validation_fail")), "{how}");
    }
}
