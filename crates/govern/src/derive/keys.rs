//! Keys by which a repetition is known.
//! Owns: what goes into each, and how. Must not: remember one.

use countersign_record::canonical;
use countersign_record::digest::Digest;
use countersign_record::json::{Json, Object};

/// What makes a delivery of feedback the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Delivery<'a> {
    /// The run.
    pub run_id: &'a str,
    /// The result that it is about.
    pub result_id: &'a str,
    /// The branch it went by.
    pub branch: &'a str,
    /// Who got it.
    pub consumer_module_id: &'a str,
}

impl Delivery<'_> {
    /// `delivery_idempotency_key`: of a list, since texts put one behind the other do not say where each of them ends.
    #[must_use]
    pub fn key(&self) -> Digest {
        let parts = [self.run_id, self.result_id, self.branch, self.consumer_module_id];
        canonical::hash_as_written(&Json::Array(parts.into_iter().map(Json::from).collect()))
    }
}

/// What makes a step of a plan the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step<'a> {
    /// The run.
    pub run_id: &'a str,
    /// The plan.
    pub plan_id: &'a str,
    /// The step.
    pub step_id: &'a str,
    /// What kind of step.
    pub step_kind: &'a str,
    /// SHA-256 of what it works on.
    pub target_ref_hash: &'a str,
    /// SHA-256 of what it was given.
    pub input_payload_hash: &'a str,
    /// Whether it is the first attempt, a retry or made anew.
    pub attempt_class: &'a str,
    /// SHA-256 of the attempt before.
    pub previous_attempt_hash: Option<&'a str>,
    /// The version of the key's form.
    pub schema_version: &'a str,
}

impl Step<'_> {
    /// `stepIdempotencyKeyString`.
    #[must_use]
    pub fn key(&self) -> Digest {
        let mut members = Object::new();
        for (name, value) in [
            ("run_id", Some(self.run_id)),
            ("plan_id", Some(self.plan_id)),
            ("step_id", Some(self.step_id)),
            ("step_kind", Some(self.step_kind)),
            ("target_ref_hash", Some(self.target_ref_hash)),
            ("input_payload_hash", Some(self.input_payload_hash)),
            ("attempt_class", Some(self.attempt_class)),
            ("previous_attempt_hash", self.previous_attempt_hash),
            ("schema_version", Some(self.schema_version)),
        ] {
            if let Some(value) = value {
                members.insert(name, value);
            }
        }
        step(&Json::Object(members))
    }
}

/// `stepIdempotencyKeyString` of a key as it was written.
#[must_use]
pub fn step(key: &Json) -> Digest {
    canonical::hash_as_written(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::format;

    #[test]
    fn a_delivery_has_the_key_of_its_list() {
        let delivery =
            Delivery { run_id: "run1", result_id: "r1", branch: "on_satisfied", consumer_module_id: "m1" };
        assert_eq!(delivery.key(), Digest::of(br#"["run1","r1","on_satisfied","m1"]"#));
    }

    #[test]
    fn a_step_has_the_key_of_its_canonical_form() {
        let step = Step {
            run_id: "run1",
            plan_id: "p1",
            step_id: "s1",
            step_kind: "restructure",
            target_ref_hash: "t",
            input_payload_hash: "i",
            attempt_class: "first",
            previous_attempt_hash: None,
            schema_version: "1.0",
        };
        let text = r#"{"attempt_class":"first","input_payload_hash":"i","plan_id":"p1","run_id":"run1","schema_version":"1.0","step_id":"s1","step_kind":"restructure","target_ref_hash":"t"}"#;
        assert_eq!(step.key(), Digest::of(text.as_bytes()));
        let again = Step { previous_attempt_hash: Some("h"), ..step };
        assert_ne!(again.key(), step.key());
    }

    proptest! {
        /// Moving a letter over a border makes another delivery.
        #[test]
        fn borders_count(one in "[a-z]{1,6}", other in "[a-z]{1,6}") {
            let (moved, rest) = (format!("{one}{}", &other[..1]), &other[1..]);
            let key = |run_id: &str, result_id: &str| {
                Delivery { run_id, result_id, branch: "none", consumer_module_id: "m" }.key()
            };
            prop_assert_ne!(key(&one, &other), key(&moved, rest));
        }
    }
}
