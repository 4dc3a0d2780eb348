//! The line to an MCP server: one JSON document a line, both ways, over its standard streams.
//! Owns: how much it may say, that every line is JSON of ours, what was heard last. Must not: know what is asked of it.
//!
//! The client's own transport skips what it can't read, so that a server that says nonsense would only be waited for; and
//! its values round numbers. Here a line that is no JSON ends the talk, and an answer is kept with the digits it came with.

use crate::launch::OUTPUT_BYTES_MAX;
use countersign_record::json::{self, Json};
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, Take};

/// What a server said that the client does not keep.
#[derive(Debug, Default)]
pub(crate) struct Heard(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    answer: Option<Json>,
    trouble: Option<String>,
    question: Option<String>,
}

impl Heard {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The result of the last answer.
    pub(crate) fn answer(&self) -> Json {
        self.kept().answer.take().unwrap_or(Json::Null)
    }

    /// Why nothing more is heard, if it is not that the server has ended.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.kept().trouble.clone()
    }

    /// What it asks a person.
    pub(crate) fn question(&self) -> Option<String> {
        self.kept().question.clone()
    }

    /// It asks a person something; the first question stays.
    pub(crate) fn asks(&self, question: String) {
        self.kept().question.get_or_insert(question);
    }
}

/// The line to a server.
pub(crate) struct Line<R, W> {
    reader: BufReader<Take<R>>,
    /// What was read of the line that is being read: reading is given up and taken up again.
    begun: Vec<u8>,
    writer: Arc<tokio::sync::Mutex<Option<W>>>,
    heard: Arc<Heard>,
}

impl<R: AsyncRead + Unpin, W> Line<R, W> {
    /// The line that is heard on `reader` and spoken to on `writer`.
    pub(crate) fn new(reader: R, writer: W, heard: Arc<Heard>) -> Self {
        let reader = BufReader::new(reader.take(OUTPUT_BYTES_MAX + 1));
        let writer = Arc::new(tokio::sync::Mutex::new(Some(writer)));
        Line { reader, begun: Vec::new(), writer, heard }
    }

    /// The next line, if there is one; else why not, if that is known.
    async fn next(&mut self) -> Result<Vec<u8>, Option<String>> {
        let read = self.reader.read_until(b'\n', &mut self.begun).await;
        read.map_err(|error| Some(format!("it could not be heard: {error}")))?;
        if self.reader.get_ref().limit() == 0 {
            return Err(Some("it said more than 8 MiB".to_owned()));
        }
        if !self.begun.ends_with(b"\n") {
            return Err(None);
        }
        Ok(std::mem::take(&mut self.begun))
    }

    /// The message of a line, if it is one that anybody waits for.
    fn message(&self, line: &[u8]) -> Result<Option<RxJsonRpcMessage<RoleClient>>, String> {
        if line.trim_ascii().is_empty() {
            return Ok(None);
        }
        let document = json::parse(line)
            .map_err(|error| format!("it says something that is no JSON: {}", error.without_text()))?;
        let is_notice = document.get("method").is_some() && document.get("id").is_none();
        if let Some(result) = document.get("result") {
            self.heard.kept().answer = Some(result.clone());
        }
        match serde_json::from_slice(line) {
            Ok(message) => Ok(Some(message)),
            Err(_) if is_notice => Ok(None),
            Err(_) => Err("it says something that is no message of MCP".to_owned()),
        }
    }
}

impl<R, W> Transport<RoleClient> for Line<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let writer = Arc::clone(&self.writer);
        async move {
            let mut line = serde_json::to_vec(&item)?;
            line.push(b'\n');
            let mut writer = writer.lock().await;
            let writer = writer.as_mut().ok_or(std::io::ErrorKind::NotConnected)?;
            writer.write_all(&line).await?;
            writer.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let why = match self.next().await {
                Ok(line) => match self.message(&line) {
                    Ok(Some(message)) => return Some(message),
                    Ok(None) => continue,
                    Err(why) => Some(why),
                },
                Err(why) => why,
            };
            self.heard.kept().trouble = why;
            return None;
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.writer.lock().await.take();
        Ok(())
    }
}
