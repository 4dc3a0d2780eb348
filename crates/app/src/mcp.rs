//! An agent that is a tool of an MCP server: one SR2 envelope is the tool's argument, one is its result.
//! Owns: the talk with the server, its time, which tool is called, what counts as its answer. Must not: believe what it
//! says; the controller checks it.
//!
//! The server is a program like any other in a pipeline, started for one call and ended after it. What the tool asks a
//! person (an elicitation) is cancelled there and stops the run here: the answer comes with the next call.

mod line;

use crate::launch::{Launch, TIMEOUT, failed, last_shown, shown};
use countersign_kernel::pipeline::Definition;
use countersign_kernel::run::Outcome;
use countersign_record::envelope::{Envelope, Provenance};
use countersign_record::json::{self, Json, Object};
use countersign_record::label::Label;
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::agent::{Agent, Given, Handoff, Said, Unseen};
use line::{Heard, Line};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, ElicitRequestParams,
    ElicitResult, ElicitationAction, ElicitationCapability, ErrorData, FormElicitationCapability,
    Implementation, InputRequest, InputRequiredResult, JsonObject, PaginatedRequestParams, ProtocolVersion,
};
use rmcp::service::{
    ClientInitializeError, RequestContext, RunningService, ServiceError, serve_client_with_lifecycle,
};
use rmcp::{ClientHandler, ClientLifecycleMode, RoleClient};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Child;
use tokio_util::sync::CancellationToken;

/// How long it may take to end by itself, once nobody speaks to it any more.
const FAREWELL: Duration = Duration::from_secs(2);
/// How many pages its list of tools may have.
const PAGES_MAX: usize = 64;
/// What is kept of what it says on its standard error: the last of it.
const ERROR_BYTES_MAX: usize = 4 * 1024;
/// How long a question to a person may be.
const QUESTION_CHARS_MAX: usize = 2_000;

/// A server as it is being spoken to.
type Client = RunningService<RoleClient, Caller>;

/// An agent that is a tool of an MCP server.
#[derive(Debug)]
pub(crate) struct Mcp {
    launch: Launch,
    tool: String,
    definition: Option<Definition>,
    timeout: Duration,
}

/// Why there is no answer.
enum Broken {
    /// It is known what to tell.
    Told(Outcome),
    /// Nothing more is heard of the server.
    Closed,
}

impl Mcp {
    /// The tool of the server that is started like this. With a definition, no other will do.
    pub(crate) fn new(launch: Launch, tool: String, definition: Option<Definition>) -> Self {
        Mcp { launch, tool, definition, timeout: TIMEOUT }
    }

    async fn talk(&self, question: &Envelope, cancel: &CancellationToken) -> Result<Json, Outcome> {
        let started = self.launch.start();
        let (mut child, group) = started.map_err(|error| fault(format!("it can't be started: {error}")))?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = streams else {
            return Err(fault("it has no streams".to_owned()));
        };
        let mut errors = tokio::spawn(last_words(stderr));
        let heard = Arc::new(Heard::default());
        let line = Line::new(stdout, stdin, Arc::clone(&heard));
        let late = format!("it was ended after {} s", self.timeout.as_secs());
        let given_up = |why: String| (Err(Broken::Told(failed("McpTimeout", why, true))), Duration::ZERO);
        let (talked, farewell) = tokio::select! {
            talked = self.ask(line, &heard, question) => (talked, FAREWELL),
            () = tokio::time::sleep(self.timeout) => given_up(late),
            () = cancel.cancelled() => given_up("it was cancelled".to_owned()),
        };
        let status = ended(&mut child, farewell).await;
        group.end();
        let outcome = match (talked, heard.trouble()) {
            (Ok(answer), _) => Ok(answer),
            (Err(Broken::Closed), None) => {
                let words = tokio::time::timeout(FAREWELL, &mut errors).await;
                let words = words.ok().and_then(Result::ok).unwrap_or_default();
                Err(fault(left(status, &String::from_utf8_lossy(&words))))
            }
            (Err(Broken::Closed), Some(why)) => Err(fault(why)),
            (Err(Broken::Told(outcome)), _) => Err(outcome),
        };
        // Whoever the server leaves behind may keep its stream open.
        errors.abort();
        outcome
    }

    async fn ask<R, W>(
        &self,
        line: Line<R, W>,
        heard: &Arc<Heard>,
        question: &Envelope,
    ) -> Result<Json, Broken>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: tokio::io::AsyncWrite + Send + Unpin + 'static,
    {
        let arguments = arguments(question)?;
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::LATEST],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        };
        let caller = Caller(Arc::clone(heard));
        let client = serve_client_with_lifecycle(caller, line, lifecycle).await.map_err(no_beginning)?;
        if let Some(server) = client.peer_info()
            && !ProtocolVersion::KNOWN_VERSIONS.contains(&server.protocol_version)
        {
            let version = shown(server.protocol_version.as_str());
            return Err(told(format!("it speaks MCP of {version}, which is not known")));
        }
        self.check(&self.find(&client, heard).await?)?;
        let call = CallToolRequestParams::new(self.tool.clone()).with_arguments(arguments);
        let answered = client.call_tool_once(call).await;
        if let Some(question) = heard.question() {
            return Err(Broken::Told(Outcome::Clarify { question }));
        }
        match answered.map_err(no_answer)? {
            CallToolResponse::Complete(_) => handed_over(&heard.answer()).map_err(Broken::Told),
            CallToolResponse::InputRequired(wanted) => Err(Broken::Told(self.wants(wanted))),
            _ => Err(told(format!("{} answers later, and nobody waits for it", self.tool))),
        }
    }

    /// The tool, as the server lists it.
    async fn find(&self, client: &Client, heard: &Heard) -> Result<Object, Broken> {
        let mut cursor = None;
        for _ in 0..PAGES_MAX {
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            let listed = client.list_tools(Some(page)).await.map_err(no_answer)?;
            let is_it = |tool: &&Object| tool.get("name").and_then(Json::as_str) == Some(&self.tool);
            let answer = heard.answer();
            let tools = answer.get("tools").and_then(Json::as_array).unwrap_or_default();
            if let Some(tool) = tools.iter().filter_map(Json::as_object).find(is_it) {
                return Ok(tool.clone());
            }
            cursor = listed.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        let message = format!("the server has no tool {}", self.tool);
        Err(Broken::Told(failed("McpToolMissing", message, false)))
    }

    /// Refuses a tool that says something else of itself than it must.
    fn check(&self, tool: &Object) -> Result<(), Broken> {
        let found = Definition::of(tool);
        match &self.definition {
            Some(pinned) if *pinned != found => {
                let message =
                    format!("the definition of {} is {found}, and {pinned} is asked for", self.tool);
                Err(Broken::Told(failed("McpDefinitionChanged", message, false)))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// A tool that can't go on without something: a person is asked, if it says what.
    fn wants(&self, wanted: InputRequiredResult) -> Outcome {
        let questions = wanted.input_requests.unwrap_or_default().into_values().filter_map(|request| {
            let InputRequest::Elicitation(request) = request else { return None };
            Some(asked(&request.params))
        });
        let question = questions.collect::<Vec<_>>().join("\n");
        if question.is_empty() {
            fault(format!("{} wants something that nobody here gives", self.tool))
        } else {
            Outcome::Clarify { question: bounded(&question) }
        }
    }
}

impl Agent for Mcp {
    fn unseen(&self, _: Given<'_>) -> Unseen {
        // Nobody knows what it does.
        Unseen::Unknown(Vec::new())
    }

    fn act<'a>(&'a self, given: Given<'a>, cancel: &'a CancellationToken) -> Answer<'a, Said> {
        Box::pin(async move {
            let talked = match self.launch.question(given) {
                Ok(question) => self.talk(&question, cancel).await,
                Err(outcome) => Err(outcome),
            };
            let handoff = match talked {
                Ok(envelope) => Handoff::Theirs(envelope),
                Err(outcome) => Handoff::Ours(outcome, Provenance::default()),
            };
            Said { handoff, llm_calls: 0, label: Label::OUTSIDE, receipts: Vec::new() }
        })
    }
}

/// Who calls the tool: it gives nothing to a server but what it is called with, and takes its questions.
struct Caller(Arc<Heard>);

impl ClientHandler for Caller {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation =
            Some(ElicitationCapability::new().with_form(FormElicitationCapability::new()));
        ClientConfig::new(capabilities, Implementation::new("countersign", env!("CARGO_PKG_VERSION")))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.0.asks(bounded(&asked(&request)));
        Ok(ElicitResult::new(ElicitationAction::Cancel))
    }
}

/// What a person is asked.
fn asked(request: &ElicitRequestParams) -> String {
    let message = match request {
        ElicitRequestParams::FormElicitationParams { message, .. }
        | ElicitRequestParams::UrlElicitationParams { message, .. } => message.trim(),
        _ => "",
    };
    if message.is_empty() {
        "The tool asks something and does not say what.".to_owned()
    } else {
        message.to_owned()
    }
}

fn bounded(question: &str) -> String {
    question.chars().take(QUESTION_CHARS_MAX).collect()
}

/// The envelope as the tool's one argument.
fn arguments(question: &Envelope) -> Result<JsonObject, Broken> {
    let refused = |error: &dyn std::fmt::Display| told(format!("it can't be asked: {error}"));
    let text = json::to_text(question).map_err(|error| refused(&error))?;
    let envelope = serde_json::from_str(&text).map_err(|error| refused(&error))?;
    Ok(JsonObject::from_iter([("envelope".to_owned(), envelope)]))
}

/// What a tool's result hands over: its structured content, or else its one text. Servers that make a result of whatever a
/// function returns put it into a member `result`.
fn handed_over(result: &Json) -> Result<Json, Outcome> {
    let content = result.get("content").and_then(Json::as_array).unwrap_or_default();
    let texts: Vec<&str> =
        content.iter().filter_map(|block| block.get("text").and_then(Json::as_str)).collect();
    if result.get("isError") == Some(&Json::Bool(true)) {
        return Err(failed("McpToolError", format!("the tool says: {}", shown(&texts.join(" "))), true));
    }
    match (result.get("structuredContent"), texts.as_slice()) {
        (Some(Json::Object(wrapped)), _) if wrapped.len() == 1 => match wrapped.get("result") {
            Some(Json::String(text)) => parsed(text),
            Some(envelope) => Ok(envelope.clone()),
            None => Ok(Json::Object(wrapped.clone())),
        },
        (Some(envelope), _) if *envelope != Json::Null => Ok(envelope.clone()),
        (_, [text]) if content.len() == 1 => parsed(text),
        _ => Err(Outcome::escalate("validation_fail", "what it says is no envelope: it is not one text")),
    }
}

fn parsed(text: &str) -> Result<Json, Outcome> {
    json::parse(text.as_bytes()).map_err(|error| {
        Outcome::escalate(
            "validation_fail",
            &format!("what it says is no envelope: {}", error.without_text()),
        )
    })
}

/// The last that a stream says; all of it is read, so that nobody waits for a reader.
async fn last_words(mut stream: impl AsyncRead + Unpin) -> Vec<u8> {
    let (mut words, mut piece) = (Vec::new(), [0; ERROR_BYTES_MAX]);
    while let Ok(length) = stream.read(&mut piece).await
        && length > 0
    {
        words.extend(piece.iter().take(length));
        let before = words.len().saturating_sub(ERROR_BYTES_MAX);
        words.drain(..before);
    }
    words
}

/// Its end, if it comes by itself within `farewell`.
async fn ended(child: &mut Child, farewell: Duration) -> Option<ExitStatus> {
    tokio::time::timeout(farewell, child.wait()).await.ok()?.ok()
}

/// What is told of a server that is gone.
fn left(status: Option<ExitStatus>, words: &str) -> String {
    let end =
        status.map_or_else(|| "it stopped speaking".to_owned(), |status| format!("it ended with {status}"));
    format!("{end}: {}", last_shown(words))
}

/// Why a talk did not begin.
fn no_beginning(error: ClientInitializeError) -> Broken {
    match error {
        ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. } => {
            Broken::Closed
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => no_beginning(*fallback),
        error => told(format!("it does not speak MCP: {}", shown(&error.to_string()))),
    }
}

/// Why a question was not answered.
fn no_answer(error: ServiceError) -> Broken {
    match error {
        ServiceError::TransportClosed | ServiceError::TransportSend(_) => Broken::Closed,
        ServiceError::McpError(error) => {
            told(format!("it refuses: {} ({})", shown(&error.message), error.code.0))
        }
        ServiceError::UnexpectedResponse => {
            let message = "what it says is no envelope: it is no result of a tool";
            Broken::Told(Outcome::escalate("validation_fail", message))
        }
        error => told(shown(&error.to_string())),
    }
}

fn told(message: String) -> Broken {
    Broken::Told(fault(message))
}

fn fault(message: String) -> Outcome {
    failed("McpError", message, false)
}

#[cfg(test)]
#[path = "mcp_tests.rs"]
mod tests;
