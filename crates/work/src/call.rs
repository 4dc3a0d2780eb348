//! Questions that only a person can decide.
//! Owns: raising them with their options, taking an answer in, what the answer means for outcomes, claims and sources. Must not:
//! decide for a person, or let a question be passed over.

mod answer;
mod wait;

pub(crate) use answer::resolve;
pub use answer::{answer, answered, preferred};
pub use wait::{defer, ending, ends_at, lapse, lapses, until};

use crate::desk::{Desk, Error, reference};
use crate::evaluate::Round;
use crate::revise::review::Decision;
use crate::task::{Criterion, Outcome, Unanswered};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::types::basic::{
    DecisionEffect as Effect, HardRevisionCallKind as Kind, HumanDecisionOption, StorageRef, V10, V11,
};
use countersign_govern::types::hard_call::{
    HardCallBlockingScope, HardCallPendingPolicy,
    HardCallPendingPolicyContextVisibleToContinuingModules as Visible, HardCallPendingPolicyOnDefer,
    HardCallPendingPolicyOnTimeout, HardCallResponseMode, HardRevisionCall,
};

const MILLIS_OF_AN_HOUR: u64 = 3_600 * 1_000;
/// An option that lets one source count where it and another disagree.
const PREFER: &str = "prefer-";
/// An option that takes something as met.
pub(crate) const YES: &str = "yes";
/// An option that has the work mended.
pub(crate) const REVISE: &str = "revise";
/// An option that takes the work as it is.
pub(crate) const ACCEPT: &str = "accept";
/// An option that ends it.
pub(crate) const STOP: &str = "stop";
/// An option that lets it be tried anew.
const RETRY: &str = "retry";
/// An option that says that sources hold.
const VERIFIED: &str = "verified";
/// An option that allows more to be spent.
const GRANT: &str = "grant";

/// Why an answer changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no such question.
    #[error("there is no question {0}")]
    Unasked(String),
    /// It was answered.
    #[error("the question {0} is answered")]
    Answered(String),
    /// It has no such option.
    #[error("{chosen} is no option; there are {}", options.join(", "))]
    NoOption {
        /// What was chosen.
        chosen: String,
        /// What can be.
        options: Vec<String>,
    },
    /// What it is about is not what it was.
    #[error("{0} has changed since that was asked")]
    Changed(String),
    /// It can't be written.
    #[error(transparent)]
    Unwritten(#[from] Error),
}

/// The questions that nobody has answered, in the order in which they were raised.
#[must_use]
pub fn open(desk: &Desk) -> Vec<HardRevisionCall> {
    desk.all::<HardRevisionCall>().filter(|call| is_open(desk, &call.hard_call_id)).collect()
}

/// The questions that have no answer: those that are open, and those that were given up because nobody answered in time.
pub(crate) fn unanswered(desk: &Desk) -> Vec<HardRevisionCall> {
    let is_given_up = |id: &str| desk.says("hard_revision_call", id, "state") == Some("aborted");
    let all = desk.all::<HardRevisionCall>();
    all.filter(|call| is_open(desk, &call.hard_call_id) || is_given_up(&call.hard_call_id)).collect()
}

fn is_open(desk: &Desk, id: &str) -> bool {
    matches!(desk.says("hard_revision_call", id, "state"), Some("pending" | "deferred" | "escalated"))
}

/// Asks a person what a criterion or a contradiction needs.
///
/// # Errors
/// Something can't be written.
pub fn judgment(desk: &mut Desk, round: &Round<'_>, about: &About<'_>) -> Result<String, Error> {
    match about {
        About::Label(criterion) => {
            let labels = criterion.labels.clone().unwrap_or_default();
            let is_pass = |label: &String| criterion.pass.as_ref().is_some_and(|pass| pass.contains(label));
            let options = labels.iter().map(|label| {
                let words =
                    if is_pass(label) { "The criterion is met." } else { "The criterion is not met." };
                option(label, label, Effect::Continue, words)
            });
            let prompt = criterion.question.clone().unwrap_or_else(|| criterion.text.clone());
            let source = reference("Criterion", &desk.own(&criterion.id))?;
            raise(desk, round, Kind::MeaningChangeApproval, &prompt, options.collect(), source)
        }
        About::Unanchored(criterion) => {
            let prompt = format!("“{}” rests on nothing that can be checked. Is it met?", criterion.text);
            word(desk, round, criterion, &prompt)
        }
        About::Unseen { criterion, why } => {
            let prompt = format!("“{}” could not be looked at: {why}. Is it met?", criterion.text);
            word(desk, round, criterion, &prompt)
        }
        About::Sources { sources, resolution } => {
            let mut options: Vec<HumanDecisionOption> = sources
                .iter()
                .map(|id| {
                    let title = title(desk, id);
                    let words = format!("“{title}” counts; what rests on the others is taken out.");
                    option(&format!("{PREFER}{id}"), &format!("Go by “{title}”"), Effect::Continue, &words)
                })
                .collect();
            options.push(option(STOP, "Stop here", Effect::AbortScope, "The outcome is given up."));
            let prompt = "Sources say different things of the same. Which one counts?";
            raise(desk, round, Kind::ContradictoryRequirements, prompt, options, resolution.clone())
        }
    }
}

/// Asks for a person's word on a criterion.
fn word(desk: &mut Desk, round: &Round<'_>, criterion: &Criterion, prompt: &str) -> Result<String, Error> {
    let options = Vec::from([
        option(YES, "Yes", Effect::Waive, "It counts as met, on your word."),
        option("no", "No", Effect::Continue, "It counts as not met."),
    ]);
    let source = reference("Criterion", &desk.own(&criterion.id))?;
    raise(desk, round, Kind::MeaningChangeApproval, prompt, options, source)
}

/// What a person is asked about.
pub enum About<'a> {
    /// A criterion that only a person can label.
    Label(&'a Criterion),
    /// A criterion that rests on nothing.
    Unanchored(&'a Criterion),
    /// A criterion that nobody could look at.
    Unseen {
        /// Which.
        criterion: &'a Criterion,
        /// Why.
        why: &'a str,
    },
    /// Sources that disagree, and the finding or receipt that says so.
    Sources {
        /// Which, as the task calls them.
        sources: BTreeSet<String>,
        /// Where it was seen.
        resolution: StorageRef,
    },
}

/// What stands in the way of an outcome that nothing will mend without a person.
pub(crate) enum Stuck<'a> {
    /// Attempts do not help: why.
    Attempts(&'static str),
    /// It rests on sources that somebody must verify, as the task calls them.
    Sources(&'a [String]),
    /// The budget is spent.
    Budget,
}

/// Asks what becomes of an outcome that nothing will mend.
pub(crate) fn stuck(
    desk: &mut Desk,
    outcome: &Outcome,
    kind: Kind,
    about: &Stuck<'_>,
    detection: &StorageRef,
) -> Result<String, Error> {
    let (prompt, on) = match about {
        Stuck::Attempts(why) => (
            format!("“{}” is not met. {why} What now?", outcome.statement),
            option(
                RETRY,
                "Try again",
                Effect::Replan,
                "What was tried counts no more, and it is tried anew.",
            ),
        ),
        Stuck::Sources(sources) => {
            let titles: Vec<String> = sources.iter().map(|id| format!("“{}”", title(desk, id))).collect();
            let prompt = format!(
                "“{}” rests on {}, which is out of date or which nobody verified. Does it hold?",
                outcome.statement,
                titles.join(" and ")
            );
            (prompt, option(VERIFIED, "It holds", Effect::Continue, "You have verified it, and it counts."))
        }
        Stuck::Budget => (
            format!("“{}” is not met, and the budget is spent. What now?", outcome.statement),
            option(GRANT, "Spend more", Effect::GrantBudget, "Another attempt may be paid for."),
        ),
    };
    let options = Vec::from([on, option(STOP, "Stop here", Effect::AbortScope, "The outcome is given up.")]);
    let blocked = reference("OutcomeRecord", &desk.own(&outcome.id))?;
    let asked = Question {
        kind,
        prompt,
        options,
        source: detection.clone(),
        blocked: Vec::from([blocked]),
        scope: HardCallBlockingScope::Outcome,
    };
    ask(desk, asked)
}

fn title(desk: &Desk, source: &str) -> String {
    let said = desk.task().source(source).and_then(|one| one.title.clone());
    said.unwrap_or_else(|| source.to_string())
}

/// Asks whether a change becomes the work.
pub(crate) fn review(
    desk: &mut Desk,
    prompt: &str,
    packet: &StorageRef,
    plan: &StorageRef,
) -> Result<String, Error> {
    let options = Decision::ALL.iter().map(|one| {
        let (label, effect, words) = match one {
            Decision::Accept => {
                ("Accept", Effect::Continue, "The change becomes the work, and is looked at again.")
            }
            Decision::Reject => {
                ("Reject", Effect::Replan, "The work stays as it was; the run may end with that.")
            }
            Decision::RequestChanges => {
                ("Ask for another", Effect::Replan, "Another change is tried; the run may end.")
            }
        };
        option(one.as_str(), label, effect, words)
    });
    let asked = Question {
        kind: Kind::MeaningChangeApproval,
        prompt: prompt.to_string(),
        options: options.collect(),
        source: packet.clone(),
        blocked: Vec::from([plan.clone()]),
        scope: HardCallBlockingScope::Artifact,
    };
    ask(desk, asked)
}

/// The open question about something.
pub(crate) fn open_about(desk: &Desk, source: &StorageRef) -> Option<HardRevisionCall> {
    open(desk).into_iter().find(|call| call.source_ref.as_ref() == Some(source))
}

/// Work that an evaluator and a judge see differently.
#[derive(Clone, Copy)]
pub struct Dispute<'a> {
    /// Where it was seen.
    pub receipt: &'a StorageRef,
    /// Whether it is the evaluator who finds something wrong.
    pub is_wrong: bool,
}

/// Asks what becomes of work that an evaluator and a judge see differently, with what others advise.
///
/// # Errors
/// Something can't be written.
pub fn disagreement(
    desk: &mut Desk,
    round: &Round<'_>,
    dispute: Dispute<'_>,
    advice: Option<&str>,
) -> Result<String, Error> {
    let statement = &round.outcome.statement;
    let mut prompt = match dispute.is_wrong {
        false => format!(
            "Nothing that must be there is missing for “{statement}”, but the score is too low. What now?"
        ),
        true => {
            format!("The score of “{statement}” is high enough, but something in it is wrong. What now?")
        }
    };
    if let Some(advice) = advice {
        prompt = format!("{prompt} {advice}");
    }
    let receipt = dispute.receipt.clone();
    raise(desk, round, Kind::ContradictoryRequirements, &prompt, ways_on(dispute), receipt)
}

/// What can become of work that is seen differently. What is wrong is not taken as it is: a score outweighs no finding.
pub(crate) fn ways_on(dispute: Dispute<'_>) -> Vec<HumanDecisionOption> {
    let mended = option(REVISE, "Have it mended", Effect::Replan, "What is not met is worked on again.");
    let taken =
        option(ACCEPT, "Take it as it is", Effect::AcceptAsIs, "The score does not count for this version.");
    let stopped = option(STOP, "Stop here", Effect::AbortScope, "The outcome is given up.");
    match dispute.is_wrong {
        false => Vec::from([mended, taken, stopped]),
        true => Vec::from([mended, stopped]),
    }
}

pub(crate) fn option(id: &str, label: &str, effect: Effect, consequence: &str) -> HumanDecisionOption {
    HumanDecisionOption {
        option_id: id.to_string(),
        label: label.to_string(),
        effect,
        consequence_text: consequence.to_string(),
    }
}

fn raise(
    desk: &mut Desk,
    round: &Round<'_>,
    kind: Kind,
    prompt: &str,
    options: Vec<HumanDecisionOption>,
    source: StorageRef,
) -> Result<String, Error> {
    let blocked = reference("OutcomeRecord", &desk.own(&round.outcome.id))?;
    let (scope, blocked) = (HardCallBlockingScope::Outcome, Vec::from([blocked]));
    ask(desk, Question { kind, prompt: prompt.to_string(), options, source, scope, blocked })
}

/// What a person is asked, and what waits for the answer.
pub struct Question {
    /// What it is about.
    pub kind: Kind,
    /// The question.
    pub prompt: String,
    /// What can be chosen.
    pub options: Vec<HumanDecisionOption>,
    /// Where it comes from.
    pub source: StorageRef,
    /// How far everything waits.
    pub scope: HardCallBlockingScope,
    /// What waits.
    pub blocked: Vec<StorageRef>,
}

/// Asks a person; gives what the question is called.
///
/// # Errors
/// Something can't be written.
pub fn ask(desk: &mut Desk, question: Question) -> Result<String, Error> {
    let hard_call_id = desk.id("question");
    let Question { kind, prompt, options, source, scope, blocked } = question;
    let waiting = desk.task().policies().questions();
    desk.put(&HardRevisionCall {
        hard_call_id: hard_call_id.clone(),
        response_mode: HardCallResponseMode::ClosedChoice,
        options,
        prompt_text: prompt,
        default_if_no_response: None,
        pending_policy: HardCallPendingPolicy {
            hard_call_id: hard_call_id.clone(),
            blocking_scope: scope,
            blocked_refs: blocked.iter().map(|one| one.as_str().to_string()).collect(),
            allowed_to_continue_refs: Vec::new(),
            context_visible_to_continuing_modules: Visible::HardCallPendingSummary,
            on_defer: HardCallPendingPolicyOnDefer::PauseScope,
            on_timeout: match waiting.on_timeout() {
                Unanswered::Escalate => HardCallPendingPolicyOnTimeout::Escalate,
                Unanswered::Abort => HardCallPendingPolicyOnTimeout::Abort,
            },
            timeout_ms: Some(waiting.timeout_hours() * MILLIS_OF_AN_HOUR),
            schema_version: V10,
        },
        created_at: desk.now(),
        schema_version: V11,
        hard_call_kind: Some(kind),
        freeform_response_schema_ref: None,
        source_ref: Some(source),
        run_id: Some(desk.run().to_string()),
    })?;
    Ok(hard_call_id)
}
