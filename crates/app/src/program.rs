//! An agent that is another program: one SR2 envelope on its standard input, one on its standard output.
//! Owns: its time, the size of what it says, how its end is taken. Must not: believe what it says; the controller checks it.

use crate::launch::{Launch, OUTPUT_BYTES_MAX, TIMEOUT, failed, shown};
use countersign_kernel::run::Outcome;
use countersign_record::envelope::Provenance;
use countersign_record::json::{self, Json};
use countersign_record::label::Label;
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::agent::{Agent, Given, Handoff, Said, Unseen};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

/// An agent that is another program.
#[derive(Debug)]
pub(crate) struct Program(Launch);

impl Program {
    /// The agent that is started like this.
    pub(crate) fn new(launch: Launch) -> Self {
        Program(launch)
    }

    async fn talk(&self, given: Given<'_>, cancel: &CancellationToken) -> Result<Json, Outcome> {
        let question =
            json::to_text(&self.0.question(given)?).map_err(|error| fault("it can't be asked", &error))?;
        let (mut child, group) = self.0.start().map_err(|error| fault("it can't be started", &error))?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let asked = async move {
            if let Some(mut stdin) = stdin {
                // A program may answer without reading everything; what it says then counts.
                drop(stdin.write_all(question.as_bytes()).await);
            }
        };
        let ended = async {
            let status = child.wait().await;
            // Whoever it leaves behind may keep its streams open, and has nothing to say.
            group.end();
            status
        };
        let talked = async { tokio::join!(asked, all_of(stdout), all_of(stderr), ended) };
        let talked = tokio::select! {
            talked = talked => Some(talked),
            () = tokio::time::sleep(TIMEOUT) => None,
            () = cancel.cancelled() => None,
        };
        let Some(((), said, errors, status)) = talked else {
            group.end();
            let why = if cancel.is_cancelled() { "it was cancelled" } else { "it was ended after 120 s" };
            return Err(failed("ProcessTimeout", why.to_owned(), true));
        };
        let status = status.map_err(|error| fault("its end was not seen", &error))?;
        let said = said.map_err(|error| fault("it could not be heard", &error))?;
        if said.len() as u64 > OUTPUT_BYTES_MAX {
            return Err(failed("ProcessError", "it said more than 8 MiB".to_owned(), false));
        }
        if !status.success() {
            let errors = shown(&String::from_utf8_lossy(&errors.unwrap_or_default()));
            return Err(failed("ProcessError", format!("it ended with {status}: {errors}"), false));
        }
        json::parse(&said).map_err(|error| {
            Outcome::escalate(
                "validation_fail",
                &format!("what it says is no envelope: {}", error.without_text()),
            )
        })
    }
}

impl Agent for Program {
    fn unseen(&self, _: Given<'_>) -> Unseen {
        // Nobody knows what it does.
        Unseen::Unknown(Vec::new())
    }

    fn act<'a>(&'a self, given: Given<'a>, cancel: &'a CancellationToken) -> Answer<'a, Said> {
        Box::pin(async move {
            let handoff = match self.talk(given, cancel).await {
                Ok(envelope) => Handoff::Theirs(envelope),
                Err(outcome) => Handoff::Ours(outcome, Provenance::default()),
            };
            Said { handoff, llm_calls: 0, label: Label::OUTSIDE, receipts: Vec::new() }
        })
    }
}

/// All that a stream says, and a byte more than it may.
async fn all_of(stream: Option<impl AsyncRead + Unpin>) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        stream.take(OUTPUT_BYTES_MAX + 1).read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}

fn fault(what: &str, error: &impl std::fmt::Display) -> Outcome {
    failed("ProcessError", format!("{what}: {error}"), false)
}
