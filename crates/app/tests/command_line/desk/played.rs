//! A model that plays replies and keeps what it was asked; people who answer as they were told to.
//! Owns: both. Must not: decide.

use countersign_record::code::Code;
use countersign_record::json::{self, Json};
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::model::{
    About, Delta, Deltas, Ended, Finish, Model, NoAnswer, Request, Site, Usage,
};
use countersign_runtime::ports::session::{Decision, Person, Question};
use futures_util::stream::{self, StreamExt};
use std::collections::VecDeque;
use std::sync::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Ends a reply with an error, if it stands at its end.
pub(crate) const FAIL: &str = "\u{1}fail";
/// Lets a reply never end, if it stands at its end.
pub(crate) const HANG: &str = "\u{1}hang";

/// Plays replies, and keeps what it was asked.
pub(crate) struct Played {
    about: About,
    replies: Mutex<VecDeque<String>>,
    requests: Mutex<Vec<Request>>,
    /// Called when a reply hangs.
    pub(crate) hangs: Notify,
}

impl Played {
    fn at(site: Site, replies: &[&str]) -> Self {
        let replies = replies.iter().map(|reply| (*reply).to_owned()).collect();
        Played {
            about: About { provider: "scripted".into(), model: "played-1".into(), site },
            replies: Mutex::new(replies),
            requests: Mutex::default(),
            hangs: Notify::new(),
        }
    }

    pub(crate) fn here(replies: &[&str]) -> Self {
        Played::at(Site::Here, replies)
    }

    pub(crate) fn remote(host: &str, replies: &[&str]) -> Self {
        Played::at(Site::Remote(host.to_owned()), replies)
    }

    /// Goes on with these.
    pub(crate) fn add(&self, replies: &[&str]) {
        self.replies.lock().unwrap().extend(replies.iter().map(|reply| (*reply).to_owned()));
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// All that was ever sent to it.
    pub(crate) fn heard(&self) -> String {
        let requests = self.requests();
        let texts = requests.iter().flat_map(|request| &request.messages).map(|one| one.content.as_str());
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The last message it was sent.
    pub(crate) fn last(&self) -> Json {
        let requests = self.requests();
        let content = &requests.last().unwrap().messages.last().unwrap().content;
        json::parse(content.as_bytes()).unwrap()
    }
}

impl Model for Played {
    fn about(&self) -> &About {
        &self.about
    }

    fn stream_chat<'a>(&'a self, request: &'a Request, _: &'a CancellationToken) -> Deltas<'a> {
        self.requests.lock().unwrap().push(request.clone());
        let failed = |code| Err(NoAnswer { code, message: "played".into(), attempts: 1 });
        let Some(reply) = self.replies.lock().unwrap().pop_front() else {
            return Box::pin(stream::iter([failed(Code::ModelUnrecorded)]));
        };
        let text = reply.split('\u{1}').next().unwrap_or_default().to_owned();
        // In two pieces, so that a marker may stand on the border.
        let mut middle = text.len() / 2;
        while !text.is_char_boundary(middle) {
            middle -= 1;
        }
        let (first, second) = text.split_at(middle);
        let pieces = [first, second].map(|piece| Ok(Delta::Text(piece.to_owned())));
        if reply.ends_with(HANG) {
            let hang = stream::once(async {
                self.hangs.notify_one();
                std::future::pending().await
            });
            return Box::pin(stream::iter(pieces).chain(hang));
        }
        let end = match reply.ends_with(FAIL) {
            true => failed(Code::ModelBusy),
            false => {
                let usage = Usage { input_tokens: 3, output_tokens: 2, attempts: 1, ..Usage::default() };
                Ok(Delta::End(Ended { finish: Finish::Stop, usage }))
            }
        };
        Box::pin(stream::iter(pieces.into_iter().chain([end])))
    }
}

/// A reply that asks for calls: `(id, tool, arguments)`.
pub(crate) fn calls(text: &str, calls: &[(&str, &str, &str)]) -> String {
    let call = |(id, tool, args): &(&str, &str, &str)| {
        format!("{{\"id\":\"{id}\",\"tool\":\"{tool}\",\"args\":{args}}}")
    };
    let list: Vec<String> = calls.iter().map(call).collect();
    format!("{text}<<<TOOL_CALLS_JSON>>>[{}]<<<END_TOOL_CALLS_JSON>>>", list.join(","))
}

/// A reply with notes.
pub(crate) fn notes(text: &str, notes: &str) -> String {
    format!("{text}<<<NOTES_JSON>>>{notes}<<<END_NOTES_JSON>>>")
}

/// A person who answers as told, and keeps the questions. With no answer left there is nobody.
pub(crate) struct Answers {
    answers: Mutex<VecDeque<Decision>>,
    questions: Mutex<Vec<Question>>,
}

impl Answers {
    pub(crate) fn nobody() -> Self {
        Answers::with(&[])
    }

    pub(crate) fn with(answers: &[Decision]) -> Self {
        Answers { answers: Mutex::new(answers.iter().copied().collect()), questions: Mutex::default() }
    }

    pub(crate) fn questions(&self) -> Vec<Question> {
        self.questions.lock().unwrap().clone()
    }
}

impl Person for Answers {
    fn is_there(&self) -> bool {
        true
    }

    fn decide<'a>(&'a self, question: &'a Question) -> Answer<'a, Decision> {
        self.questions.lock().unwrap().push(question.clone());
        let answer = self.answers.lock().unwrap().pop_front().unwrap_or(Decision::Nobody);
        Box::pin(async move { answer })
    }
}
