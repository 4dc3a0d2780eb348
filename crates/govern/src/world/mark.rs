//! Members that a rule looks for in records of any type.
//! Owns: their names; finding all of them in one walk through a record. Must not: judge.

use crate::kind::GIVEN_UP;
use crate::mix::Slots;
use alloc::boxed::Box;
use countersign_record::json::Json;
use once_cell::race::OnceBox;

/// What a member is looked for as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A place in an artifact.
    Anchor,
    /// The id of a chain, whatever it is called.
    Chain,
    /// A cost as one number.
    Cost,
    /// References to evidence.
    Evidence,
    /// Whether work may go on in the background, by the name of before.
    Background,
    /// A learning mode.
    Learning,
    /// How something stands now, or what came later.
    Live,
    /// A step from one state to another.
    Moved,
    /// How far something is trusted.
    Taint,
    /// The name of a type or a schema.
    Type,
    /// A reference to a type that was given up.
    GivenUp,
}

impl Mark {
    /// All of them; each stands at its own number.
    pub const ALL: [Mark; 11] = [
        Mark::Anchor,
        Mark::Chain,
        Mark::Cost,
        Mark::Evidence,
        Mark::Background,
        Mark::Learning,
        Mark::Live,
        Mark::Moved,
        Mark::Taint,
        Mark::Type,
        Mark::GivenUp,
    ];

    pub(super) fn bit(self) -> u16 {
        1 << self as u16
    }

    /// What a name is looked for as.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        static SLOTS: OnceBox<Slots> = OnceBox::new();
        let slots = SLOTS.get_or_init(|| Box::new(Slots::of(NAMES.iter().map(|(name, _)| *name))));
        let found = slots.find(name, |at| NAMES.get(at).is_some_and(|(own, _)| *own == name));
        let is_later = || LATER.iter().any(|start| name.starts_with(start));
        found.and_then(|at| NAMES.get(at)).map(|(_, mark)| *mark).or_else(|| is_later().then_some(Mark::Live))
    }
}

/// How members begin that are filled in later.
const LATER: [&str; 2] = ["superseded_by_", "invalidated_by_"];

/// The names of members.
const NAMES: &[(&str, Mark)] = &[
    ("anchor", Mark::Anchor),
    ("structured_anchor", Mark::Anchor),
    ("text_anchor", Mark::Anchor),
    ("chain_id", Mark::Chain),
    ("target_evaluation_chain_id", Mark::Chain),
    ("evaluation_chain_ids", Mark::Chain),
    ("chainId", Mark::Chain),
    ("chain_identifier", Mark::Chain),
    ("chain_ids", Mark::Chain),
    ("chainIds", Mark::Chain),
    ("target_evaluation_chain_ids", Mark::Chain),
    ("evaluation_chain_identifier", Mark::Chain),
    ("chain_ref", Mark::Chain),
    ("chain_refs", Mark::Chain),
    ("eval_chain_id", Mark::Chain),
    ("evaluationChainId", Mark::Chain),
    ("evaluation_chain_id", Mark::Chain),
    ("evaluation_chain_ref", Mark::Chain),
    ("evaluation_chain_refs", Mark::Chain),
    ("pattern_c_chain_id", Mark::Chain),
    ("pattern_c_chain_ids", Mark::Chain),
    ("pattern_c_chain_ref", Mark::Chain),
    ("pattern_c_chain_refs", Mark::Chain),
    ("target_chain_id", Mark::Chain),
    ("target_chain_ids", Mark::Chain),
    ("estimated_cost", Mark::Cost),
    ("cost_estimate", Mark::Cost),
    ("CostEstimate", Mark::Cost),
    ("evidence_refs", Mark::Evidence),
    ("requires_background_progress", Mark::Background),
    ("learning_mode", Mark::Learning),
    ("current_state", Mark::Live),
    ("current_severity", Mark::Live),
    ("lifecycle_state", Mark::Live),
    ("updated_at", Mark::Live),
    ("resolved_at", Mark::Live),
    ("from_state", Mark::Moved),
    ("taint_class", Mark::Taint),
    ("record_kind", Mark::Type),
    ("producer_event_kind", Mark::Type),
    ("triggered_by_receipt_kind", Mark::Type),
    ("schema_id", Mark::Type),
];

/// The marks of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks(u16);

impl Marks {
    /// Those of all members of a record, at any depth.
    #[must_use]
    pub fn of(record: &Json) -> Self {
        let mut marks = Marks::default();
        marks.add(record, "");
        marks
    }

    /// Whether there is one.
    #[must_use]
    pub fn has(self, mark: Mark) -> bool {
        self.0 & mark.bit() != 0
    }

    /// Whether there is one that others have too.
    #[must_use]
    pub fn meets(self, others: Marks) -> bool {
        self.0 & others.0 != 0
    }

    /// Adds others.
    pub fn add_all(&mut self, others: Marks) {
        self.0 |= others.0;
    }

    /// Those of a value that a member holds.
    fn add(&mut self, value: &Json, member: &str) {
        match value {
            Json::Object(members) => {
                for (name, value) in members.iter() {
                    self.0 |= Mark::of(name).map_or(0, Mark::bit);
                    self.add(value, name);
                }
            }
            Json::Array(items) => items.iter().for_each(|item| self.add(item, member)),
            Json::String(text) => {
                let names = |snake: &str| text.strip_prefix(snake).is_some_and(|rest| rest.starts_with(':'));
                if is_reference(member) && GIVEN_UP.iter().any(|(_, snake)| names(snake)) {
                    self.0 |= Mark::GivenUp.bit();
                }
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
}

/// Whether a member holds references, by its name.
#[must_use]
pub fn is_reference(member: &str) -> bool {
    member.ends_with("_ref") || member.ends_with("_refs")
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_record::json;

    #[test]
    fn marks_are_found_at_any_depth() {
        for (at, mark) in Mark::ALL.into_iter().enumerate() {
            assert_eq!(mark as usize, at);
        }
        let record = json::parse(br#"{"a":[{"b":{"taint_class":null}}],"superseded_by_x":1}"#).unwrap();
        let marks = Marks::of(&record);
        let found = Mark::ALL.into_iter().filter(|mark| marks.has(*mark));
        assert_eq!(found.collect::<alloc::vec::Vec<_>>(), [Mark::Live, Mark::Taint]);
        for (name, snake) in GIVEN_UP {
            assert_eq!(crate::reference::snake(name), *snake);
            let record = std::format!(r#"{{"a":{{"b_refs":["{snake}:1"]}}}}"#);
            assert!(Marks::of(&json::parse(record.as_bytes()).unwrap()).has(Mark::GivenUp));
        }
        let record = json::parse(br#"{"a":"cost_estimate:1","b_ref":"cost_vector:1"}"#).unwrap();
        assert_eq!(Marks::of(&record), Marks::default());
    }
}
