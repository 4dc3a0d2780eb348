//! Contract of a task: what the run is going to do and what that costs, before it does it.
//! Owns: the words of the question where a person must agree. Must not: agree.

use super::asking::Answers;
use super::{Means, asked, outcome_of, unwritten};
use crate::agents::{failed, written};
use crate::ports::Answer;
use crate::ports::agent::{Agent, Given, Said, Unseen};
use crate::run::Error;
use crate::work::Work;
use countersign_govern::types::reliance::{
    EvaluationContractReview as Review, EvaluationContractReviewApprovalStatus as Status,
};
use countersign_kernel::run::Outcome;
use countersign_record::envelope::{Envelope, Provenance};
use countersign_record::time::Timestamp;
use countersign_work::asking;
use countersign_work::contract;
use countersign_work::cost::{self, Grounds};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

/// Shows what the run is going to do.
pub(in crate::agents) struct Contract(pub(in crate::agents) Means);

#[derive(Serialize)]
struct Agreed {
    contract: String,
    approval: &'static str,
    #[serde(flatten)]
    answers: Answers,
}

impl Agent for Contract {
    fn unseen(&self, _: Given<'_>) -> Unseen {
        Unseen::Repeatable
    }

    fn act<'a>(&'a self, _: Given<'a>, _: &'a CancellationToken) -> Answer<'a, Said> {
        Box::pin(async move {
            let work = match self.0.work() {
                Ok(work) => work,
                Err(said) => return *said,
            };
            let at = match self.0.clock.now() {
                Ok(at) => at,
                Err(error) => return failed(&error.to_string(), false),
            };
            let answers = Answers::of(&*self.0.mind.model);
            shown(work, &answers, &at).map_or_else(|error| unwritten(&error), |()| told(work, answers))
        })
    }

    fn again(&self, _: Given<'_>, then: &Envelope, at: &Timestamp) -> Result<Option<Outcome>, String> {
        let work = self.0.work.as_ref().ok_or("the run is no task's")?;
        // A question says nothing of the model; then it is the one that the run asks.
        let answers = Answers::told(&then.payload).unwrap_or_else(|| Answers::of(&*self.0.mind.model));
        shown(work, &answers, at).map_err(|error| error.to_string())?;
        Ok(outcome_of(told(work, answers)))
    }
}

/// Puts the forecast and the contract down, once.
fn shown(work: &Work, answers: &Answers, at: &Timestamp) -> Result<(), Error> {
    let texts = work.texts();
    let source_tokens = texts.iter().map(|one| asking::tokens(&one.text)).fold(0, u64::saturating_add);
    work.step(at, |desk| {
        if contract::last(desk).is_none() {
            cost::forecast(desk, &Grounds { source_tokens, model: answers.model() })?;
            contract::open(desk)?;
        }
        Ok::<(), countersign_work::desk::Error>(())
    })
}

fn told(work: &Work, answers: Answers) -> Said {
    let Some(review) = work.look(contract::last).flatten() else {
        return failed("there is no contract", false);
    };
    match review.approval_status {
        Status::Approved | Status::WaivedByPolicy => {
            let approval = review.approval_status.as_str();
            written(&Agreed { contract: review.review_id, approval, answers }, Provenance::default())
        }
        Status::Pending | Status::Edited => {
            asked(Outcome::Confirm { message: question(&review), expires_at: None })
        }
        Status::Rejected => asked(Outcome::denied("the contract was refused")),
    }
}

/// What a person is asked before the work begins.
pub(crate) fn question(review: &Review) -> String {
    format!(
        "begin the work as its contract {} says: {} ({} criteria, {} sources)",
        review.review_id,
        review.interpreted_goal,
        review.criteria_summary.len(),
        review.source_requirements.len()
    )
}
