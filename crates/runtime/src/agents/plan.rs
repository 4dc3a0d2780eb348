//! Plan: one search for each goal.
//! Owns: the steps. Must not: do one.

use super::evidence::goals;
use super::written;
use crate::ports::Answer;
use crate::ports::agent::{Agent, Given, Said, Unseen};
use countersign_record::canonical;
use countersign_record::envelope::Provenance;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

/// The tool that every step is done with.
pub(super) const SEARCH: &str = "sources.search";

/// One search for each goal.
pub(super) struct Plan;

#[derive(Serialize)]
struct Planned<'a> {
    plan_id: String,
    steps: Vec<Step<'a>>,
    estimated_complexity: &'static str,
}

#[derive(Serialize)]
struct Step<'a> {
    tool: &'static str,
    params: Params<'a>,
    expected_output: &'static str,
}

#[derive(Serialize)]
struct Params<'a> {
    query: &'a str,
}

fn step(goal: &str) -> Step<'_> {
    Step {
        tool: SEARCH,
        params: Params { query: goal },
        expected_output: "quotes of eligible files, each with its place",
    }
}

impl Agent for Plan {
    fn unseen(&self, _: Given<'_>) -> Unseen {
        Unseen::Repeatable
    }

    fn is_silent(&self) -> bool {
        true
    }

    fn act<'a>(&'a self, given: Given<'a>, _: &'a CancellationToken) -> Answer<'a, Said> {
        let goals = goals(given.envelope);
        let steps: Vec<Step<'_>> = goals.iter().map(|goal| step(goal)).collect();
        let digits: String =
            canonical::hash_of(&steps).map(String::from).unwrap_or_default().chars().take(16).collect();
        let estimated_complexity = match steps.len() {
            0 | 1 => "low",
            2..=4 => "medium",
            _ => "high",
        };
        let said = written(
            &Planned { plan_id: format!("plan_{digits}"), steps, estimated_complexity },
            Provenance::default(),
        );
        Box::pin(std::future::ready(said))
    }
}
