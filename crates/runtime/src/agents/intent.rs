//! Intent: what is asked for (A2).
//! Owns: putting A2 to work. Must not: ask again what a person has answered.

use super::evidence::question;
use crate::ports::Answer;
use crate::ports::agent::{Agent, Given, Said, Unseen};
use countersign_kernel::run::Outcome;
use countersign_kernel::shape::{Before, shape};
use countersign_record::envelope::Provenance;
use tokio_util::sync::CancellationToken;

/// What is asked for.
pub(super) struct Intent;

impl Agent for Intent {
    fn unseen(&self, _: Given<'_>) -> Unseen {
        Unseen::Repeatable
    }

    fn is_silent(&self) -> bool {
        true
    }

    fn act<'a>(&'a self, given: Given<'a>, _: &'a CancellationToken) -> Answer<'a, Said> {
        let is_answered = given.envelope.clarification.response.is_some();
        let mut shape = shape(
            &question(given.envelope),
            if is_answered { Before::Conversation } else { Before::Nothing },
        );
        if is_answered {
            (shape.clarification_needed, shape.clarification_question) = (false, None);
        }
        let said = Said::plain(Outcome::Done(shape.to_object()), Provenance::default());
        Box::pin(std::future::ready(said))
    }
}
