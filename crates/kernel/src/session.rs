//! A session between its turns: what is kept of it when it grows.
//! Owns: making a state and its messages shorter. Must not: sum anything up; that takes a model.

pub mod past;
pub mod talk;

use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::session::{ChatMessage, Role, State};

/// What a session may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Items of a list.
    pub items: usize,
    /// Messages.
    pub messages: usize,
    /// Bytes of all messages.
    pub message_bytes: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds { items: 32, messages: 64, message_bytes: 256 * 1024 }
    }
}

impl Bounds {
    /// Whether the messages are within them.
    #[must_use]
    pub fn hold(&self, messages: &[ChatMessage]) -> bool {
        messages.len() <= self.messages && bytes(messages) <= self.message_bytes
    }
}

fn bytes(messages: &[ChatMessage]) -> usize {
    messages.iter().map(|message| message.content.len()).sum()
}

/// A session that was made shorter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condensed {
    /// Its state.
    pub state: State,
    /// What is left of its messages.
    pub messages: Vec<ChatMessage>,
    /// What had to go, the oldest first.
    pub evicted: Vec<ChatMessage>,
}

/// Makes a session shorter: each item stands once, the last ones stay; whole turns go, the oldest first. The last turn
/// always stays, so a session whose last turn is beyond the bounds is too.
#[must_use]
pub fn condensed(mut state: State, messages: Vec<ChatMessage>, bounds: Bounds) -> Condensed {
    let State { goals, open_loops, decisions, constraints, memory_tags, memory_refs, .. } = &mut state;
    for list in [goals, open_loops, decisions, constraints, memory_tags, memory_refs] {
        keep_last(list, bounds.items);
    }
    let mut evicted = messages;
    let from = kept_from(&evicted, bounds);
    let messages = evicted.split_off(from);
    Condensed { state, messages, evicted }
}

/// Each once, where it stands last, and so many of the last ones.
fn keep_last(list: &mut Vec<String>, items: usize) {
    let mut kept: Vec<String> = Vec::new();
    for text in list.drain(..).rev() {
        if kept.len() < items && !kept.contains(&text) {
            kept.push(text);
        }
    }
    kept.reverse();
    *list = kept;
}

/// Where what is kept begins: a result without its call, or an answer without its question, would mean something else.
fn kept_from(messages: &[ChatMessage], bounds: Bounds) -> usize {
    let turns = messages.iter().enumerate().filter(|(_, message)| message.role == Role::User);
    let starts = core::iter::once(0).chain(turns.map(|(at, _)| at).filter(|at| *at > 0));
    let mut last = 0;
    for start in starts {
        last = start;
        if messages.get(start..).is_some_and(|kept| bounds.hold(kept)) {
            break;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec;

    fn message(role: Role, content: &str) -> ChatMessage {
        ChatMessage { role, content: content.into() }
    }

    #[test]
    fn whole_turns_go() {
        use Role::{Assistant, Tool, User};
        let talk =
            [(User, "a"), (Assistant, "b"), (Tool, "c"), (Assistant, "d"), (User, "e"), (Assistant, "f")];
        let messages: Vec<_> = talk.iter().map(|(role, text)| message(*role, text)).collect();
        let bounds = |messages| Bounds { items: 2, messages, message_bytes: 99 };
        let left = |count| {
            let done = condensed(State::default(), messages.clone(), bounds(count));
            assert_eq!([done.evicted, done.messages.clone()].concat(), messages);
            done.messages.len()
        };
        assert_eq!([6, 5, 3, 2, 1, 0].map(left), [6, 2, 2, 2, 2, 2]);
    }

    #[test]
    fn the_last_of_each_item_stays() {
        let list = |texts: &[&str]| texts.iter().map(|text| String::from(*text)).collect::<Vec<_>>();
        let state = State { goals: list(&["a", "b", "a", "c", "b"]), ..State::default() };
        let bounds = Bounds { items: 2, ..Bounds::default() };
        assert_eq!(condensed(state, vec![], bounds).state.goals, list(&["c", "b"]));
    }

    proptest! {
        #[test]
        fn condensing_again_changes_nothing(
            goals in prop::collection::vec("[a-d]", 0..12),
            roles in prop::collection::vec((0_u8..4, 0_usize..20), 0..20),
            items in 0_usize..6, messages in 0_usize..10, message_bytes in 0_usize..80,
        ) {
            let role = |number| [Role::System, Role::User, Role::Assistant, Role::Tool][usize::from(number)];
            let talk = roles.iter().map(|(number, length)| message(role(*number), &"x".repeat(*length))).collect();
            let bounds = Bounds { items, messages, message_bytes };
            let once = condensed(State { goals, ..State::default() }, talk, bounds);
            prop_assert!(once.state.goals.len() <= items);
            let again = condensed(once.state.clone(), once.messages.clone(), bounds);
            prop_assert_eq!(&again.state, &once.state);
            prop_assert_eq!(&again.messages, &once.messages);
            prop_assert!(again.evicted.is_empty());
            // What stays fits, or is one turn.
            let turns = once.messages.iter().skip(1).filter(|message| message.role == Role::User).count();
            prop_assert!(bounds.hold(&once.messages) || turns == 0);
        }
    }
}
