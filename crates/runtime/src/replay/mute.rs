//! Models in a replay: what is elsewhere is not asked.
//! Owns: keeping a replay from sending. Must not: answer.

use crate::ports::model::{About, Delta, Deltas, Model, NoAnswer, Request, Site};
use countersign_record::code::Code;
use futures_core::Stream;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio_util::sync::CancellationToken;

/// A model as a replay asks it: one that is here answers, one that is elsewhere has no answer and is sent nothing.
#[must_use]
pub fn muted(model: Arc<dyn Model>) -> Arc<dyn Model> {
    match model.about().site {
        Site::Here | Site::HereSlowly => model,
        Site::Remote(_) => Arc::new(Muted(model)),
    }
}

struct Muted(Arc<dyn Model>);

impl Model for Muted {
    fn about(&self) -> &About {
        self.0.about()
    }

    fn stream_chat<'a>(&'a self, _: &'a Request, _: &'a CancellationToken) -> Deltas<'a> {
        let message = "the model is elsewhere, and a replay sends nothing".to_owned();
        Box::pin(Silence(Some(NoAnswer { code: Code::ModelUnreachable, message, attempts: 0 })))
    }
}

/// Says once that there is no answer.
struct Silence(Option<NoAnswer>);

impl Stream for Silence {
    type Item = Result<Delta, NoAnswer>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.take().map(Err))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::model::Reply;

    /// A model that must not be asked.
    struct Elsewhere(About);

    impl Model for Elsewhere {
        fn about(&self) -> &About {
            &self.0
        }

        fn stream_chat<'a>(&'a self, _: &'a Request, _: &'a CancellationToken) -> Deltas<'a> {
            panic!("it was asked");
        }
    }

    #[tokio::test]
    async fn what_is_elsewhere_is_sent_nothing() {
        let about = About {
            provider: "openai".to_owned(),
            model: "x".to_owned(),
            site: Site::Remote("example.org".to_owned()),
        };
        let model = muted(Arc::new(Elsewhere(about)));
        let request = Request { messages: Vec::new(), max_tokens: 1, temperature_milli: 0, seed: None };
        let answer: Result<Reply, NoAnswer> = model.chat(&request, &CancellationToken::new()).await;
        assert_eq!(answer.unwrap_err().code, Code::ModelUnreachable);
        assert_eq!(model.about().model, "x");
    }
}
