//! A section that is drafted anew: what came before is named, and is not taken again.
//! Owns: the guard against the same text. Must not: draft.

use super::edit::section_hash;
use super::plans::Step;
use super::way::{Wants, Way, section_ref, varied};
use crate::desk::{Desk, Error};
use crate::task::Section;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_govern::types::basic::{StorageRef, V10};
use countersign_govern::types::regeneration::{
    RegenerateAttemptReceipt, RegenerateAttemptReceiptActionTaken as Action, RegenerateRevisionPayload,
    RegenerateRevisionPayloadRequiredVariationPolicy as Variation,
    RegenerateRevisionPayloadRevisionIntent as Intent,
};

/// The hashes of what attempts on a section gave, in order: what was taken and what was not.
pub(super) fn outputs(desk: &Desk, target: &StorageRef) -> Vec<String> {
    let own = desk.all::<RegenerateAttemptReceipt>().filter(|one| one.target_ref.as_ref() == Some(target));
    own.filter(|one| matches!(one.action_taken, Action::AcceptedNewOutput | Action::RejectedIdenticalOutput))
        .map(|one| one.output_hash)
        .collect()
}

/// A section that a step drafts anew.
pub(super) struct Anew {
    pub(super) section: Section,
    /// The reference to it.
    pub(super) target: StorageRef,
    step: String,
    wants: Wants,
}

impl Anew {
    /// The section of a step, if that is what it does.
    pub(super) fn of(desk: &Desk, artifact: &str, step: &Step) -> Result<Option<Self>, Error> {
        let Some(Way::Section { section, quotes }) = Way::of(step) else { return Ok(None) };
        let target = section_ref(desk, artifact, &section)?;
        let drafted = desk.task().artifact(artifact).and_then(|one| one.section(&section)).cloned();
        let section = drafted.ok_or(Error::Missing(section))?;
        let wants = if quotes < section.quotes() { Wants::Fewer } else { Wants::More };
        Ok(Some(Anew { section, target, step: step.id.clone(), wants }))
    }

    /// How many quotes it takes now; `None` if nothing is left to vary.
    pub(super) fn quotes(&self, desk: &Desk) -> Option<u64> {
        varied(self.section.quotes(), self.wants, outputs(desk, &self.target).len() as u64)
    }

    /// All that must not come back: what stands there, and what came before.
    fn known(&self, desk: &Desk, base: &str) -> BTreeSet<String> {
        let named = desk.all::<RegenerateRevisionPayload>();
        let named = named.filter(|one| one.target_ref.as_ref() == Some(&self.target));
        let mut known: BTreeSet<String> = named.flat_map(|one| one.previous_attempt_hashes).collect();
        known.extend(outputs(desk, &self.target));
        known.insert(section_hash(base, &self.section.heading));
        known
    }

    /// Says what must not come back.
    pub(super) fn ask(&self, desk: &mut Desk, base: &str) -> Result<(), Error> {
        let previous_attempt_hashes = self.known(desk, base).into_iter().collect();
        desk.put(&RegenerateRevisionPayload {
            revision_intent: Intent::Regenerate,
            previous_attempt_hashes,
            required_variation_policy: Variation::ChangePromptStrategy,
            schema_version: V10,
            step_id: Some(self.step.clone()),
            target_ref: Some(self.target.clone()),
            attempt_id: Some(desk.id("asked")),
        })?;
        Ok(())
    }

    /// Whether a text has something new there; the receipt of that. The same text is not taken.
    pub(super) fn is_new(&self, desk: &mut Desk, base: &str, text: &str, input: &str) -> Result<bool, Error> {
        let output = section_hash(text, &self.section.heading);
        let is_old = self.known(desk, base).contains(&output);
        let action = if is_old { Action::RejectedIdenticalOutput } else { Action::AcceptedNewOutput };
        self.receipt(desk, input, output, is_old, action)?;
        Ok(!is_old)
    }

    /// It is asked for in another way, or given up.
    pub(super) fn goes_on(
        &self,
        desk: &mut Desk,
        text: &str,
        input: &str,
        action: Action,
    ) -> Result<(), Error> {
        let output = section_hash(text, &self.section.heading);
        self.receipt(desk, input, output, true, action)
    }

    fn receipt(
        &self,
        desk: &mut Desk,
        input: &str,
        output_hash: String,
        matched_previous_attempt: bool,
        action_taken: Action,
    ) -> Result<(), Error> {
        desk.put(&RegenerateAttemptReceipt {
            receipt_id: desk.id("anew"),
            input_hash: String::from(input),
            output_hash,
            matched_previous_attempt,
            action_taken,
            created_at: desk.now(),
            schema_version: V10,
            step_id: Some(self.step.clone()),
            target_ref: Some(self.target.clone()),
        })?;
        Ok(())
    }
}
