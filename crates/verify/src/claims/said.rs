//! What the work says, part by part, and what each part is called.
//! Owns: splitting it again from its bytes. Must not: look at a source.

use crate::case::Case;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::derive::text;
use countersign_kernel::claim::{Claim, claims, outline, unheld, whole};
use countersign_record::canonical;
use countersign_record::json::Json;

/// Characters of a claim's name.
const NAME_CHARS: usize = 16;

/// What a claim is called: by its words, so that it keeps its name while it stays.
pub(super) fn name(claim: &Claim<'_>) -> String {
    let words = [claim.section.unwrap_or_default(), &text::canonical(&claim.text)].map(Json::from);
    let hash = canonical::hash_as_written(&Json::Array(words.into())).to_string();
    hash.get(..NAME_CHARS).unwrap_or_default().to_string()
}

/// The sentences of a text, every one where it stands.
pub(super) fn sentences(work: &str) -> Vec<Claim<'_>> {
    claims(&outline(work))
}

/// What an artifact says, each once: sentences with what their copies cite too, then what no source is held against.
pub(crate) fn said<'c>(case: &Case<'_>, artifact: &str, work: &'c str) -> Vec<(String, Claim<'c>)> {
    let Some(asked) = case.task.artifact(case.local(artifact)) else { return Vec::new() };
    let outline = outline(work);
    let own: Vec<&str> = asked.headings().chain(case.task.headings()).collect();
    let found = match (asked.is_prose(), asked.is_code()) {
        (true, _) => [claims(&outline), unheld(&outline, &own)].concat(),
        (false, true) => Vec::new(),
        (false, false) => Vec::from([whole(work)]),
    };
    let (mut order, mut all): (Vec<String>, BTreeMap<String, Claim<'c>>) = (Vec::new(), BTreeMap::new());
    for claim in found {
        let name = name(&claim);
        match all.get_mut(&name) {
            Some(first) => first.cites.extend(claim.cites),
            None => {
                order.push(name.clone());
                all.insert(name, claim);
            }
        }
    }
    order.into_iter().filter_map(|name| all.remove_entry(&name)).collect()
}
