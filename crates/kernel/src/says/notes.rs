//! NOTES: what a model wants to change in the state, and what it wants done.
//! Owns: reading a block, and the state after it. Must not: do an action, or grant anything.

use super::{Why, parsed};
use crate::gate::Capability;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::fields::Fields;
use countersign_record::session::State;

/// What one list of a block may hold.
const ITEMS_MAX: usize = 64;
/// What may wait for an answer at once.
const PENDING_MAX: usize = 32;
/// And one text of it, in bytes.
const TEXT_BYTES_MAX: usize = 4 * 1024;

/// One block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// What changes.
    pub patch: Patch,
    /// What is to be done after that, in order.
    pub actions: Vec<Action>,
    /// Members that mean nothing; they are ignored and told.
    pub unknown: Vec<String>,
}

/// What changes in the state. What is absent stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// These instead; none is none.
    pub set_goals: Option<Vec<String>>,
    /// These too.
    pub add_open_loops: Vec<String>,
    /// These no more.
    pub close_open_loops: Vec<String>,
    /// These too.
    pub add_decisions: Vec<String>,
    /// These too.
    pub add_constraints: Vec<String>,
    /// This instead.
    pub set_episode_summary: Option<String>,
    /// These too.
    pub add_memory_tags: Vec<String>,
}

/// Something to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Make lists and messages shorter.
    CondenseNow,
    /// And keep what was left out as memory.
    CondenseSmart,
    /// Ask an operator.
    Request(Capability),
    /// A model has nothing to grant: this is heard as a request.
    Grant(Capability),
    /// Nothing we know; ignored and told.
    Unknown(String),
}

impl Action {
    /// Reads the contract's word. What is no capability can't be asked for.
    #[must_use]
    pub fn read(word: &str) -> Self {
        let capability = |text: &str| Capability::try_from(text).ok();
        let known = match word.split_once(':') {
            None if word == "condense_now" => Some(Action::CondenseNow),
            None if word == "condense_smart" => Some(Action::CondenseSmart),
            Some(("request_permission", text)) => capability(text).map(Action::Request),
            Some(("grant_permission", text)) => capability(text).map(Action::Grant),
            None | Some(_) => None,
        };
        known.unwrap_or_else(|| Action::Unknown(word.into()))
    }
}

impl Notes {
    /// Reads a block. It counts whole or not at all.
    ///
    /// # Errors
    /// Why it does not count.
    pub fn read(block: &[u8]) -> Result<Self, Why> {
        let value = parsed(block)?;
        let mut fields = Fields::taking(value).map_err(|trouble| Why::of(&[trouble]))?;
        let set_goals = fields.absent_or("set_goals", Fields::texts);
        let mut list = |name| fields.absent_or(name, Fields::texts).unwrap_or_default();
        let [add_open_loops, close_open_loops, add_decisions, add_constraints, add_memory_tags] =
            ["add_open_loops", "close_open_loops", "add_decisions", "add_constraints", "add_memory_tags"]
                .map(&mut list);
        let actions = list("actions");
        let set_episode_summary = fields.absent_or("set_episode_summary", Fields::text);
        let unknown = fields.rest().iter().map(|(name, _)| name.into()).take(ITEMS_MAX).collect();
        fields.finish().map_err(|troubles| Why::of(&troubles))?;
        let patch = Patch {
            set_goals,
            add_open_loops,
            close_open_loops,
            add_decisions,
            add_constraints,
            set_episode_summary,
            add_memory_tags,
        };
        patch.fits(&actions)?;
        let actions = actions.iter().map(|word| Action::read(word)).collect();
        Ok(Notes { patch, actions, unknown })
    }
}

impl Patch {
    fn fits(&self, actions: &[String]) -> Result<(), Why> {
        let Patch {
            add_open_loops, close_open_loops, add_decisions, add_constraints, add_memory_tags, ..
        } = self;
        let goals = self.set_goals.as_deref().unwrap_or_default();
        let lists: [&[String]; 7] = [
            goals,
            add_open_loops,
            close_open_loops,
            add_decisions,
            add_constraints,
            add_memory_tags,
            actions,
        ];
        if lists.iter().any(|list| list.len() > ITEMS_MAX) {
            return Err(Why::from("a list has more than 64 items"));
        }
        let texts = lists.into_iter().flatten().chain(&self.set_episode_summary);
        match texts.into_iter().any(|text| text.len() > TEXT_BYTES_MAX) {
            true => Err(Why::from("a text has more than 4 KiB")),
            false => Ok(()),
        }
    }

    /// The state after it.
    #[must_use]
    pub fn applied(&self, mut state: State) -> State {
        if let Some(goals) = &self.set_goals {
            state.goals.clear();
            add(&mut state.goals, goals);
        }
        add(&mut state.open_loops, &self.add_open_loops);
        state.open_loops.retain(|open| !self.close_open_loops.contains(open));
        add(&mut state.decisions, &self.add_decisions);
        add(&mut state.constraints, &self.add_constraints);
        add(&mut state.memory_tags, &self.add_memory_tags);
        if let Some(summary) = &self.set_episode_summary {
            state.episode_summary.clone_from(summary);
        }
        state
    }
}

/// Adds what is not there yet, in order.
fn add(list: &mut Vec<String>, more: &[String]) {
    for text in more {
        if !list.contains(text) {
            list.push(text.clone());
        }
    }
}

/// Notes that an operator is asked for something. `false` if it is granted or asked for already.
pub fn request(state: &mut State, capability: &Capability) -> bool {
    let word = capability.as_str();
    let is_there = |list: &[String]| list.iter().any(|one| one == word);
    let has_room = state.capabilities_pending.len() < PENDING_MAX;
    let is_new = has_room && !is_there(&state.capabilities_granted) && !is_there(&state.capabilities_pending);
    if is_new {
        state.capabilities_pending.push(word.into());
    }
    is_new
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;
    use std::vec;

    fn notes(text: &str) -> Notes {
        Notes::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn absent_is_no_change_and_empty_is_none() {
        let state = State { goals: vec!["a".into()], open_loops: vec!["b".into()], ..State::default() };
        assert_eq!(notes("{}").patch.applied(state.clone()), state);
        assert_eq!(notes("{\"set_goals\":[]}").patch.applied(state.clone()).goals, vec![""; 0]);
        let patch = notes(
            "{\"set_goals\":[\"x\",\"x\",\"y\"],\"add_open_loops\":[\"b\",\"c\"],\"close_open_loops\":[\"b\"],
              \"set_episode_summary\":\"s\",\"add_memory_tags\":[\"t\"]}",
        )
        .patch;
        let after = patch.applied(state);
        assert_eq!((after.goals, after.open_loops), (vec!["x".into(), "y".into()], vec!["c".into()]));
        assert_eq!((after.episode_summary.as_str(), after.memory_tags), ("s", vec!["t".into()]));
    }

    #[test]
    fn actions_are_known_or_told() {
        let words = "\"condense_now\",\"condense_smart\",\"request_permission:net:Example.COM.\",\
             \"grant_permission:net\",\"explode\",\"request_permission:\",\"request_permission:net:a b\"";
        let net = |text| Capability::try_from(text).unwrap();
        assert_eq!(
            notes(&format!("{{\"actions\":[{words}]}}")).actions,
            [
                Action::CondenseNow,
                Action::CondenseSmart,
                Action::Request(net("net:example.com")),
                Action::Grant(net("net")),
                Action::Unknown("explode".into()),
                Action::Unknown("request_permission:".into()),
                Action::Unknown("request_permission:net:a b".into()),
            ]
        );
    }

    #[test]
    fn one_bad_member_spoils_the_block() {
        for bad in [
            "[]",
            "{\"set_goals\":\"x\"}",
            "{\"set_goals\":[\"x\"],\"add_decisions\":[1]}",
            "{\"set_episode_summary\":null}",
            "{\"actions\":{}}",
            "{\"a\":1,\"a\":2}",
            "{\"a\":\"\\ud800\"}",
        ] {
            assert!(Notes::read(bad.as_bytes()).is_err(), "{bad}");
        }
        let many = vec!["\"x\""; ITEMS_MAX + 1].join(",");
        assert!(Notes::read(format!("{{\"add_decisions\":[{many}]}}").as_bytes()).is_err());
        let long = "x".repeat(TEXT_BYTES_MAX + 1);
        assert!(Notes::read(format!("{{\"set_episode_summary\":\"{long}\"}}").as_bytes()).is_err());
        assert_eq!(notes("{\"mood\":1}").unknown, ["mood"]);
    }

    #[test]
    fn what_is_granted_is_not_asked_for() {
        let mut state = State { capabilities_granted: vec!["net:a.example".into()], ..State::default() };
        let capability = |text| Capability::try_from(text).unwrap();
        assert!(!request(&mut state, &capability("net:a.example")));
        assert!(request(&mut state, &capability("net")));
        assert!(!request(&mut state, &capability("net")));
        assert_eq!(state.capabilities_pending, ["net"]);
    }
}
