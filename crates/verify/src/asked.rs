//! What commands are asked with, and that what they left is what was asked.
//! Owns: the members of each request; holding what was left to them where no check of one record does. Must not: carry a command out.

use crate::case::{Case, bare};
use crate::found::{Found, texts};
use crate::report::Check;
use crate::walk::Walk;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::member::{Member, every_text};
use countersign_govern::world::Record;
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};

const CHECK: Check = Check::Record;

/// What each command is asked with: its members, and of those that need not be there the names behind the bar.
const REQUESTS: [(&str, &str); 38] = [
    ("attention.dismiss_item", "item_id | note"),
    ("attention.resolve_item", "item_id | note"),
    ("checkpoint.create", "| label"),
    ("contract_review.approve", "| review_id"),
    ("contract_review.edit", "task | review_id"),
    ("contract_review.reject", "reason | review_id"),
    ("evidence.export_package", "destination | sources confirmed"),
    ("finding.confirm", "finding_id | evidence_refs"),
    ("finding.contest", "finding_id grounds | evidence_refs"),
    ("finding.reject", "finding_id grounds |"),
    ("finding.withdraw_contest", "finding_id |"),
    ("hard_call.defer", "hard_call_id |"),
    ("hard_call.resolve", "hard_call_id option_id |"),
    ("library.promote_source", "source |"),
    ("metric.withdraw_observation", "observation_id reason |"),
    ("reliance.archive_packet", "| packet_id"),
    ("reliance.invalidate_packet", "invalidation_kind triggering_ref | packet_id"),
    ("reliance.issue_work_product_certification", "| packet_id"),
    ("reliance.renew_packet", "|"),
    ("reliance.review_packet", "| packet_id note"),
    ("research.answer_need", "need_id source |"),
    ("revision_review.accept_candidate", "| packet_id rationale"),
    ("revision_review.fork_candidate", "rationale | packet_id checkpoint_id"),
    ("revision_review.reject_candidate", "| packet_id rationale"),
    ("revision_review.request_changes", "rationale | packet_id"),
    ("revision_review.restore_known_good", "rationale | packet_id checkpoint_id"),
    ("run_board.comment", "text |"),
    ("run_board.digest", "|"),
    ("run_board.retract_post", "post_id reason |"),
    ("run_guidance.contest", "guidance_id grounds |"),
    ("run_guidance.settle_contest", "guidance_id upheld |"),
    ("source.clear", "source |"),
    ("source.move_tier", "source tier |"),
    ("source.recheck", "found | gone"),
    ("task.cancel", "| cancel_scope target_refs"),
    ("task.skip", "target_ref reason |"),
    ("task_replay.create_fork", "reason | checkpoint_id"),
    ("task_replay.preview", "replay_mode |"),
];

/// Members by which a request names what it is about.
const NAMES: [&str; 9] = [
    "finding_id",
    "guidance_id",
    "hard_call_id",
    "item_id",
    "need_id",
    "observation_id",
    "packet_id",
    "post_id",
    "review_id",
];

const RECHECK: &str = "source.recheck";

/// Whether a member has the form that it has in every request.
fn has_form(name: &str, value: &Json) -> bool {
    let is_text = |value: &Json| value.as_str().is_some();
    match name {
        "confirmed" | "upheld" => matches!(value, Json::Bool(_)),
        "tier" => matches!(value, Json::Number(number) if number.as_u64().is_some()),
        "evidence_refs" | "gone" | "sources" | "target_refs" => {
            value.as_array().is_some_and(|all| all.iter().all(is_text))
        }
        "found" => value.as_object().is_some_and(|all| all.iter().all(|(_, hash)| is_text(hash))),
        "task" => value.as_object().is_some(),
        _text => is_text(value),
    }
}

/// A request has the members of its command, and no others: else nobody had carried it out.
pub(crate) fn form<'c>(record: Record<'c>, command: &str, request: &Json, found: &mut Found) {
    let Some((_, members)) = REQUESTS.iter().find(|(id, _)| *id == command) else { return };
    let (needed, optional) = members.split_once('|').unwrap_or((members, ""));
    let needed: Vec<&str> = needed.split_whitespace().collect();
    let known: BTreeSet<&str> = needed.iter().copied().chain(optional.split_whitespace()).collect();
    let own = || request.as_object().into_iter().flat_map(Object::iter);
    let unknown = own().map(|(name, _)| name).find(|name| !known.contains(name));
    let misfit = own().find(|(name, value)| known.contains(name) && !has_form(name, value));
    let lacking = needed.iter().find(|name| request.get(name).is_none());
    let why = match (request.as_object(), unknown, misfit, lacking) {
        (None, ..) => "the request is no object".to_string(),
        (_, Some(name), ..) => format!("the command takes no member {name}, and the request has one"),
        (_, _, Some((name, _)), _) => format!("{name} in the request is not of its form"),
        (_, _, _, Some(name)) => format!("the command needs {name}, and the request does not say it"),
        (Some(_), None, None, None) => return found.right(CHECK),
    };
    found.about(Code::VerifyDerivation, CHECK, record, "request_hash", why);
}

/// What a command left that was accepted is what was asked with it.
pub(crate) fn left<'c>(walk: &Walk<'c, '_>, asked: Record<'c>, between: &[Record<'c>], found: &mut Found) {
    let Some(request) = crate::command::request(walk.case, asked) else { return found.withheld(CHECK) };
    if asked.json().is("command_id", RECHECK) {
        let stated: Vec<String> = marked(between).map(String::from).collect();
        let expected = changed(walk, asked, &request);
        let (expected, stated) = (Some(texts(&expected)), Some(texts(&stated)));
        return found.same(Code::VerifyDerivation, CHECK, asked, "request_hash", expected, stated);
    }
    for name in NAMES {
        let Some(id) = request.text(name) else { continue };
        let is_named = between.iter().any(|one| names(*one, id));
        let why = "nothing that the command left is about what its request names";
        found.holds(CHECK, asked, "request_hash", is_named, why);
    }
}

fn names(record: Record<'_>, id: &str) -> bool {
    let mut all = Vec::new();
    every_text(record.json(), &mut all);
    record.id() == id || all.into_iter().any(|text| text == id || bare(text) == id)
}

/// The sources that were marked as out of date.
fn marked<'c>(between: &[Record<'c>]) -> impl Iterator<Item = &'c str> {
    let marks = between.iter().filter(|one| {
        one.kind() == "SourceWorkspaceOperation" && one.json().is("operation_kind", "mark_source_stale")
    });
    marks.filter_map(|one| one.json().text("payload_ref"))
}

/// The sources whose files are not what was taken in, and that were up to date until then.
fn changed(walk: &Walk<'_, '_>, asked: Record<'_>, request: &Json) -> Vec<String> {
    let (case, at): (&Case<'_>, _) = (walk.case, walk.at(asked));
    let gone = request.texts("gone");
    let is_changed = |id: &&str| {
        let own = case.own(id);
        let Some(taken) = case.before("SourceRecord", &own, asked.seq()) else { return false };
        let now = request.get("found").and_then(|all| all.get(id)).and_then(Json::as_str);
        let is_other = now.is_some_and(|now| taken.json().text("domain_payload.sha256") != Some(now));
        let is_stale = taken.json().time("fresh_until").zip(at).is_some_and(|(until, at)| until <= at);
        (gone.contains(id) || is_other) && !is_stale
    };
    let known = case.task.sources().filter(|one| one.tier() > 0).map(|one| one.id());
    known.filter(is_changed).map(|id| format!("src:{}", case.own(id))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_govern::table::commands;

    /// The table above has what the product reads.
    #[test]
    fn requests_are_those_of_the_product() {
        let all = countersign_work::command::Command::all();
        assert_eq!(all.len(), REQUESTS.len());
        assert_eq!(commands::all().count(), REQUESTS.len());
        for (id, schema) in all {
            let schema = schema();
            let names = |name: &str| -> BTreeSet<String> {
                let all = schema.get(name).and_then(Json::as_array).unwrap_or_default();
                all.iter().filter_map(Json::as_str).map(ToString::to_string).collect()
            };
            let members =
                schema.get("properties").and_then(Json::as_object).into_iter().flat_map(Object::iter);
            let members: BTreeSet<String> = members.map(|(name, _)| name.to_string()).collect();
            let needed = names("required");
            let (_, stated) = REQUESTS.iter().find(|(own, _)| *own == id).unwrap();
            let (own, optional) = stated.split_once('|').unwrap();
            let split =
                |text: &str| text.split_whitespace().map(ToString::to_string).collect::<BTreeSet<_>>();
            assert_eq!(split(own), needed, "{id}");
            assert_eq!(split(&own.chars().chain(optional.chars()).collect::<String>()), members, "{id}");
        }
    }
}
