//! What can be done where a step of a task could not go on.
//! Owns: which of the steps that a run offers do something for a task, and what follows from each. Must not: take one.

use crate::cli::Global;
use countersign_kernel::run::{NextStep, Stop};

/// Why a run stops where the budget of its matter does not reach.
const MATTER_BUDGET: &str = "matter_budget";

/// The steps that fit, each with what follows; a task's sources are what they are.
pub(in crate::command) fn fitting(stop: &Stop) -> Vec<(&str, &'static str)> {
    let one = |step: &'_ String| {
        Some(match NextStep::find(step)? {
            NextStep::Retry if stop.reason == MATTER_BUDGET => {
                "The step is done again, if the cap has been raised."
            }
            NextStep::Retry => "The step is done again.",
            NextStep::GiveUp => "The run ends here, and has no packet.",
            NextStep::WithoutJudge => "What the judge would have said stays open.",
            NextStep::AdjustEligibility | NextStep::InjectFiles => return None,
        })
    };
    stop.next_steps.iter().filter_map(|step| Some((step.as_str(), one(step)?))).collect()
}

/// What must be done before trying again makes sense: the caps that are too low, by their options. What is not named there has no cap.
pub(in crate::command) fn first(global: &Global, stop: &Stop) -> Option<String> {
    if stop.reason != MATTER_BUDGET {
        return None;
    }
    let options = [
        (" usd", "--usd AMOUNT"),
        (" external api call", "--calls COUNT"),
        (" input token", "--input-tokens COUNT"),
        (" output token", "--output-tokens COUNT"),
    ];
    let short: Vec<&str> =
        options.iter().filter(|(words, _)| stop.message.contains(words)).map(|(_, option)| *option).collect();
    Some(global.typed(&format!("budget cap {}", short.join(" "))))
}
