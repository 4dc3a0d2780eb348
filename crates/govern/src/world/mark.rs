//! Members that a rule looks for in records of any type.
//! Owns: their names; finding all of them in one walk through a record. Must not: judge.

use countersign_record::json::Json;

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
}

impl Mark {
    /// All of them; each stands at its own number.
    pub const ALL: [Mark; 9] = [
        Mark::Anchor,
        Mark::Chain,
        Mark::Cost,
        Mark::Evidence,
        Mark::Background,
        Mark::Learning,
        Mark::Live,
        Mark::Moved,
        Mark::Taint,
    ];

    /// What a name is looked for as.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        match name {
            "anchor" | "structured_anchor" | "text_anchor" => Some(Mark::Anchor),
            "chain_id"
            | "target_evaluation_chain_id"
            | "evaluation_chain_ids"
            | "chainId"
            | "chain_identifier"
            | "chain_ids"
            | "chain_ref"
            | "eval_chain_id"
            | "evaluationChainId"
            | "evaluation_chain_id"
            | "evaluation_chain_ref"
            | "pattern_c_chain_id"
            | "pattern_c_chain_ref"
            | "target_chain_id" => Some(Mark::Chain),
            "estimated_cost" | "cost_estimate" | "CostEstimate" => Some(Mark::Cost),
            "evidence_refs" => Some(Mark::Evidence),
            "requires_background_progress" => Some(Mark::Background),
            "learning_mode" => Some(Mark::Learning),
            "current_state" | "current_severity" | "lifecycle_state" | "updated_at" | "resolved_at" => {
                Some(Mark::Live)
            }
            "from_state" => Some(Mark::Moved),
            "taint_class" => Some(Mark::Taint),
            later if later.starts_with("superseded_by_") || later.starts_with("invalidated_by_") => {
                Some(Mark::Live)
            }
            _other => None,
        }
    }
}

/// The marks of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks(u16);

impl Marks {
    /// Those of all members of a record, at any depth.
    #[must_use]
    pub fn of(record: &Json) -> Self {
        let mut marks = Marks::default();
        marks.add(record);
        marks
    }

    /// Whether there is one.
    #[must_use]
    pub fn has(self, mark: Mark) -> bool {
        self.0 & (1 << mark as u16) != 0
    }

    fn add(&mut self, value: &Json) {
        match value {
            Json::Object(members) => {
                for (name, value) in members.iter() {
                    self.0 |= Mark::of(name).map_or(0, |mark| 1 << mark as u16);
                    self.add(value);
                }
            }
            Json::Array(items) => items.iter().for_each(|item| self.add(item)),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        }
    }
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
    }
}
