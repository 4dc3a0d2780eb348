//! A session while something is said in it.
//! Owns: what each thing that is said does to the state and the messages, live and when it is told again from the
//! ledger. Must not: ask a model, or do what it wants done.

use super::{Bounds, Condensed, condensed};
use crate::gate::Capability;
use crate::says::notes::{self, Action};
use crate::says::{Heard, Listener, Why, visible};
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::session::{ChatMessage, Role, State};

/// A session's state and messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Talk {
    /// What it knows.
    pub state: State,
    /// What was said.
    pub messages: Vec<ChatMessage>,
    /// How it is to be made shorter at the end of the turn.
    pub condensing: Condensing,
    /// Messages that are kept in another form than they were shown in, by their places.
    kept: Vec<(usize, String)>,
}

/// How a session is made shorter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Condensing {
    /// As far as it must be.
    #[default]
    Bounded,
    /// Now.
    Now,
    /// Now, and what has to go is summed up first.
    Smart,
}

/// What became of one thing that a reply wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// Notes were applied: what changed in the state.
    Patched(Vec<Changed>),
    /// Notes did not count.
    Ignored(Why),
    /// Members of notes that mean nothing.
    UnknownMembers(Vec<String>),
    /// The session will be made shorter.
    Condenses(Condensing),
    /// An operator is asked.
    Requested(Capability),
    /// It was granted or asked for before.
    KnownRequest(Capability),
    /// A model has nothing to grant; heard as a request.
    GrantDenied(Capability),
    /// Nothing we know.
    UnknownAction(String),
}

/// A member of the state that notes changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Which.
    pub member: &'static str,
    /// How many items it has now; of a text, how many characters.
    pub count: usize,
}

/// What differs between two states.
fn changed(before: &State, after: &State) -> Vec<Changed> {
    let lists = [
        ("goals", &before.goals, &after.goals),
        ("open_loops", &before.open_loops, &after.open_loops),
        ("decisions", &before.decisions, &after.decisions),
        ("constraints", &before.constraints, &after.constraints),
        ("memory_tags", &before.memory_tags, &after.memory_tags),
    ];
    let lists = lists.into_iter().filter(|(_, before, after)| before != after);
    let mut changed: Vec<Changed> =
        lists.map(|(member, _, after)| Changed { member, count: after.len() }).collect();
    if before.episode_summary != after.episode_summary {
        let count = after.episode_summary.chars().count();
        changed.push(Changed { member: "episode_summary", count });
    }
    changed
}

impl Talk {
    /// The user said something.
    pub fn user(&mut self, text: &str) {
        self.say(Role::User, text);
    }

    /// A tool's result; `kept` is what of it may be kept, if not all.
    pub fn result(&mut self, content: &str, kept: Option<String>) {
        self.kept.extend(kept.map(|kept| (self.messages.len(), kept)));
        self.say(Role::Tool, content);
    }

    /// A session as it was left.
    #[must_use]
    pub fn of(state: State, messages: Vec<ChatMessage>) -> Self {
        Talk { state, messages, ..Talk::default() }
    }

    fn say(&mut self, role: Role, text: &str) {
        self.messages.push(ChatMessage { role, content: text.into() });
    }

    /// The model replied. The patches are applied first, then the actions are noted.
    pub fn reply(&mut self, text: &str, heard: &Heard) -> Vec<Told> {
        self.say(Role::Assistant, text);
        let mut told = Vec::new();
        for notes in &heard.notes {
            match notes {
                Ok(notes) => {
                    let after = notes.patch.applied(self.state.clone());
                    told.push(Told::Patched(changed(&self.state, &after)));
                    self.state = after;
                    if !notes.unknown.is_empty() {
                        told.push(Told::UnknownMembers(notes.unknown.clone()));
                    }
                }
                Err(why) => told.push(Told::Ignored(why.clone())),
            }
        }
        let actions = heard.notes.iter().flatten().flat_map(|notes| &notes.actions);
        told.extend(actions.map(|action| act(&mut self.state, &mut self.condensing, action)));
        told
    }

    fn reply_again(&mut self, text: &str) {
        let mut listener = Listener::default();
        listener.hear(text.as_bytes(), &mut |_| {});
        let heard = listener.finish(&mut |_| {});
        self.reply(text, &heard);
    }

    /// Something that is told again from the ledger.
    pub fn again(&mut self, role: Role, text: &str) {
        match role {
            Role::User => self.user(text),
            Role::Assistant => self.reply_again(text),
            Role::Tool | Role::System => self.say(role, text),
        }
    }

    /// The turn ends: within bounds, or shorter if that was wanted.
    #[must_use]
    pub fn ended(mut self, bounds: Bounds) -> Condensed {
        for (place, kept) in self.kept {
            if let Some(message) = self.messages.get_mut(place) {
                message.content = kept;
            }
        }
        let bounds = match self.condensing {
            Condensing::Bounded => bounds,
            // Half, so that it is not to be done again at once.
            Condensing::Now | Condensing::Smart => Bounds {
                items: bounds.items,
                messages: bounds.messages / 2,
                message_bytes: bounds.message_bytes / 2,
            },
        };
        condensed(self.state, self.messages, bounds)
    }
}

fn act(state: &mut State, condensing: &mut Condensing, action: &Action) -> Told {
    let mut condense = |how: Condensing| {
        *condensing = how.max(*condensing);
        Told::Condenses(how)
    };
    match action {
        Action::CondenseNow => condense(Condensing::Now),
        Action::CondenseSmart => condense(Condensing::Smart),
        Action::Request(capability) => match notes::request(state, capability) {
            true => Told::Requested(capability.clone()),
            false => Told::KnownRequest(capability.clone()),
        },
        Action::Grant(capability) => {
            notes::request(state, capability);
            Told::GrantDenied(capability.clone())
        }
        Action::Unknown(word) => Told::UnknownAction(word.clone()),
    }
}

/// What is kept of messages that have to go: who said what, in its first words.
#[must_use]
pub fn summed_up(evicted: &[ChatMessage]) -> String {
    let mut summary = String::new();
    for message in evicted {
        let who = match message.role {
            Role::System => continue,
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        };
        let visible = visible(&message.content);
        let words: Vec<&str> = visible.split_whitespace().collect();
        let line: String = words.join(" ").chars().take(LINE_CHARS_MAX).collect();
        if line.is_empty() {
            continue;
        }
        if summary.len() + line.len() > SUMMARY_BYTES_MAX {
            break;
        }
        summary.extend([who, ": ", &line, "\n"]);
    }
    summary
}

/// What is kept of one message.
const LINE_CHARS_MAX: usize = 200;
/// And of all of them.
const SUMMARY_BYTES_MAX: usize = 8 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    fn heard(text: &str) -> Heard {
        let mut listener = Listener::default();
        listener.hear(text.as_bytes(), &mut |_| {});
        listener.finish(&mut |_| {})
    }

    #[test]
    fn actions_come_after_patches_and_a_model_grants_nothing() {
        let reply = "a<<<NOTES_JSON>>>{\"set_goals\":[\"g\"],\"actions\":[\"grant_permission:net\",\"condense_now\",\
                     \"request_permission:net:a.example\",\"request_permission:net:a.example\",\"dance\"]}\
                     <<<END_NOTES_JSON>>>b<<<NOTES_JSON>>>{\"set_goals\":7}<<<END_NOTES_JSON>>>";
        let mut talk = Talk::default();
        talk.user("hello");
        let told = talk.reply(reply, &heard(reply));
        let net = |text: &str| Capability::try_from(text).unwrap();
        assert_eq!(told[0], Told::Patched(vec![Changed { member: "goals", count: 1 }]));
        assert!(matches!(told[1], Told::Ignored(_)), "{told:?}");
        assert_eq!(
            told[2..],
            [
                Told::GrantDenied(net("net")),
                Told::Condenses(Condensing::Now),
                Told::Requested(net("net:a.example")),
                Told::KnownRequest(net("net:a.example")),
                Told::UnknownAction("dance".into()),
            ]
        );
        assert_eq!(talk.state.goals, ["g"]);
        assert_eq!(talk.state.capabilities_granted, vec![""; 0]);
        assert_eq!(talk.state.capabilities_pending, ["net", "net:a.example"]);
        let mut again = Talk::default();
        again.user("hello");
        again.reply_again(reply);
        assert_eq!(again, talk);
    }

    #[test]
    fn a_patch_tells_what_it_changed() {
        let check = |talk: &mut Talk, notes: &str, expected: &[(&'static str, usize)]| {
            let reply = std::format!("<<<NOTES_JSON>>>{notes}<<<END_NOTES_JSON>>>");
            let told = talk.reply(&reply, &heard(&reply));
            let changed = |&(member, count): &(&'static str, usize)| Changed { member, count };
            assert_eq!(told, [Told::Patched(expected.iter().map(changed).collect())], "{notes}");
        };
        let mut talk = Talk::default();
        check(&mut talk, "{}", &[]);
        check(
            &mut talk,
            r#"{"add_open_loops":["a","b"],"add_decisions":["c"],"set_episode_summary":"grün"}"#,
            &[("open_loops", 2), ("decisions", 1), ("episode_summary", 4)],
        );
        check(&mut talk, r#"{"add_open_loops":["a"],"add_decisions":["d"]}"#, &[("decisions", 2)]);
        check(&mut talk, r#"{"close_open_loops":["a","b"],"set_goals":[]}"#, &[("open_loops", 0)]);
    }

    #[test]
    fn a_summary_says_who_said_what_and_hides_markers() {
        let message = |role, content: &str| ChatMessage { role, content: content.into() };
        let evicted = [
            message(Role::User, "Read   the\nlease."),
            message(Role::Assistant, "Yes.<<<TOOL_CALLS_JSON>>>[]<<<END_TOOL_CALLS_JSON>>>"),
            message(Role::Tool, &"x".repeat(500)),
        ];
        let summary = summed_up(&evicted);
        assert!(summary.starts_with("user: Read the lease.\nassistant: Yes.\ntool: xxx"), "{summary}");
        assert!(summary.len() < 300);
    }
}
