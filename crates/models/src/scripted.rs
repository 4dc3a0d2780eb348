//! Replies that were written before, given in order: for tests, and to show how things go.
//! Owns: the script. Must not: listen to what is asked.

use countersign_durable::{Links, open_regular};
use countersign_record::code::Code;
use countersign_record::fields::{Fields, Trouble};
use countersign_record::json::{self, Json};
use countersign_runtime::ports::model::{
    About, Delta, Deltas, Ended, Finish, Model, NoAnswer, Request, Site, Usage,
};
use futures_util::stream;
use std::collections::VecDeque;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio_util::sync::CancellationToken;

const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// One reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// What is said, in these pieces.
    pub chunks: Vec<String>,
    /// How it ends.
    pub end: End,
    /// Tokens that it took when it was recorded, those of the question first.
    pub tokens: [u64; 2],
}

/// How a reply ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// As replies do.
    Finished(Finish),
    /// With an error.
    Failed(Code),
}

impl Reply {
    /// A reply in one piece.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Reply { chunks: vec![text.into()], end: End::Finished(Finish::Stop), tokens: [0, 0] }
    }

    /// An error.
    #[must_use]
    pub fn error(code: Code) -> Self {
        Reply { chunks: Vec::new(), end: End::Failed(code), tokens: [0, 0] }
    }
}

/// How a reply that says nothing of its pieces is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pieces {
    /// Not at all.
    #[default]
    AsWritten,
    /// After so many characters each, at least one.
    Characters(usize),
}

/// Why there is no script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The file can't be read.
    #[error("the script {path} can't be read: {why}")]
    Unreadable {
        /// Which.
        path: String,
        /// Why.
        why: String,
    },
    /// A line is no reply.
    #[error("line {line} of the script is no reply: {why}")]
    Line {
        /// Which, from 1.
        line: usize,
        /// Why.
        why: String,
    },
}

impl Error {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        Code::ModelConfig
    }
}

/// A model that says what was written.
#[derive(Debug)]
pub struct Scripted {
    about: About,
    replies: Vec<Reply>,
    pieces: Pieces,
    given: AtomicUsize,
}

impl Scripted {
    /// Says these, one after the other.
    #[must_use]
    pub fn new(replies: Vec<Reply>, pieces: Pieces) -> Self {
        let about = About { provider: "scripted".into(), model: "scripted".into(), site: Site::Here };
        Scripted { about, replies, pieces, given: AtomicUsize::new(0) }
    }

    /// Reads a script: JSON lines, each a text or an object with `text` or `chunks` and maybe `finish` or `error`, and the
    /// `input_tokens` and `output_tokens` that it took.
    ///
    /// # Errors
    /// The file can't be read, or a line is no reply.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let unreadable = |error: std::io::Error| Error::Unreadable {
            path: path.display().to_string(),
            why: error.to_string(),
        };
        let (file, length) = open_regular(path, Links::Followed).map_err(unreadable)?;
        if length > FILE_BYTES_MAX {
            return Err(unreadable(std::io::Error::other("it is too long")));
        }
        let mut text = String::new();
        file.take(FILE_BYTES_MAX).read_to_string(&mut text).map_err(unreadable)?;
        Ok(Scripted::new(script(&text)?, Pieces::AsWritten))
    }

    /// How many replies were given.
    #[must_use]
    pub fn given(&self) -> usize {
        self.given.load(Ordering::SeqCst)
    }

    fn pieces(&self, reply: &Reply) -> VecDeque<String> {
        match self.pieces {
            Pieces::AsWritten => reply.chunks.iter().cloned().collect(),
            Pieces::Characters(count) => {
                let letters: Vec<char> = reply.chunks.iter().flat_map(|chunk| chunk.chars()).collect();
                letters.chunks(count.max(1)).map(|piece| piece.iter().collect()).collect()
            }
        }
    }
}

/// Reads the replies of a script. Blank lines are nothing.
///
/// # Errors
/// A line is no reply.
pub fn script(text: &str) -> Result<Vec<Reply>, Error> {
    let mut replies = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |why: String| Error::Line { line: at + 1, why };
        let value = json::parse(line.as_bytes()).map_err(|error| wrong(error.to_string()))?;
        let reply = match value {
            Json::String(text) => Reply::text(text),
            other => reply(&other)
                .map_err(|troubles| wrong(troubles.first().map(ToString::to_string).unwrap_or_default()))?,
        };
        replies.push(reply);
    }
    Ok(replies)
}

fn reply(value: &Json) -> Result<Reply, Vec<Trouble>> {
    let mut fields = Fields::of(value).map_err(|trouble| vec![trouble])?;
    let text = fields.absent_or("text", Fields::text);
    let chunks = fields.absent_or("chunks", Fields::texts);
    let error = fields.absent_or("error", |fields, name| {
        fields.parse(name, |text| Code::try_from(text).map_err(|_| "there is no such code"))
    });
    let tokens = ["input_tokens", "output_tokens"].map(|name| fields.absent_or(name, Fields::integer));
    let finish = fields.absent_or("finish", |fields, name| fields.parse(name, finish_of));
    if let (Some(text), Some(chunks)) = (&text, &chunks)
        && chunks.concat() != *text
    {
        fields.trouble("chunks", Code::FieldConflict, "the chunks are not the text");
    }
    fields.deny_unknown();
    fields.finish()?;
    let end = error.map_or(End::Finished(finish.unwrap_or(Finish::Stop)), End::Failed);
    let tokens = tokens.map(Option::unwrap_or_default);
    Ok(Reply { chunks: chunks.unwrap_or_else(|| text.into_iter().collect()), end, tokens })
}

/// The words for how an answer ended.
pub(crate) fn finish_of(word: &str) -> Result<Finish, &'static str> {
    match word {
        "stop" => Ok(Finish::Stop),
        "length" => Ok(Finish::Length),
        "other" => Ok(Finish::Other),
        _ => Err("stop, length or other is needed"),
    }
}

impl Model for Scripted {
    fn about(&self) -> &About {
        &self.about
    }

    fn stream_chat<'a>(&'a self, _: &'a Request, cancel: &'a CancellationToken) -> Deltas<'a> {
        let at = self.given.fetch_add(1, Ordering::SeqCst);
        let failed = |code, message: &str| Err(NoAnswer { code, message: message.into(), attempts: 1 });
        let mut items: VecDeque<Result<Delta, NoAnswer>> = VecDeque::new();
        match self.replies.get(at) {
            Some(reply) => {
                items.extend(self.pieces(reply).into_iter().map(|piece| Ok(Delta::Text(piece))));
                items.push_back(match reply.end {
                    End::Finished(finish) => {
                        let [input_tokens, output_tokens] = reply.tokens;
                        let usage = Usage { input_tokens, output_tokens, attempts: 1, ..Usage::default() };
                        Ok(Delta::End(Ended { finish, usage }))
                    }
                    End::Failed(code) => failed(code, "the script says so"),
                });
            }
            None => items.push_back(failed(Code::ModelUnrecorded, "the script has no further reply")),
        }
        given(items, cancel)
    }
}

/// Gives items that are there, until it is cancelled.
pub(crate) fn given<'a>(
    items: VecDeque<Result<Delta, NoAnswer>>,
    cancel: &'a CancellationToken,
) -> Deltas<'a> {
    Box::pin(stream::unfold(items, move |mut items| async move {
        if cancel.is_cancelled() {
            return None;
        }
        items.pop_front().map(|item| (item, items))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts() {
        let text = "\"a\"\n\n{\"text\":\"bc\",\"chunks\":[\"b\",\"c\"],\"finish\":\"length\"}\n\
                    {\"chunks\":[\"d\"],\"error\":\"model.busy\"}\n{\"error\":\"model.timeout\"}";
        let replies = script(text).unwrap();
        assert_eq!(replies[0], Reply::text("a"));
        assert_eq!(replies[1].chunks, ["b", "c"]);
        assert_eq!(replies[1].end, End::Finished(Finish::Length));
        assert_eq!(
            replies[2],
            Reply { chunks: vec!["d".into()], end: End::Failed(Code::ModelBusy), tokens: [0, 0] }
        );
        assert_eq!(replies[3], Reply::error(Code::ModelTimeout));
        for bad in [
            "1",
            "{\"text\":1}",
            "{\"txt\":\"\"}",
            "{\"error\":\"x\"}",
            "{\"text\":\"a\",\"chunks\":[\"b\"]}",
            "{",
        ] {
            let error = script(&format!("\"a\"\n{bad}")).unwrap_err();
            assert!(matches!(error, Error::Line { line: 2, .. }), "{bad}: {error}");
        }
    }
}
