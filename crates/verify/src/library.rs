//! Sources that shall enter the library, so that other runs may read them.
//! Owns: what the wish, the gate and the receipt must be, given the task and the command. Must not: look into the library.

use crate::command;
use crate::dispute;
use crate::found::Found;
use crate::report::Check;
use crate::walk::Walk;
use alloc::format;
use countersign_govern::member::{Member, number};
use countersign_govern::world::Record;
use countersign_record::json::{Json, Object};

const CHECK: Check = Check::Sources;
/// Who may let a source in, where the task does not say.
const ACCESS: &str = "librarian";

/// A record of a source that shall enter the library.
pub(crate) fn check<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    match record.kind() {
        "LibraryPromotionCandidate" => wish(walk, record, found),
        "LibraryPromotionGate" => gate(walk, record, found),
        _receipt => receipt(walk, record, found),
    }
}

/// The source that the command names, as the task calls it; whether it names one is withheld if nothing is given.
fn named(walk: &Walk<'_, '_>, record: Record<'_>) -> Option<Json> {
    let request = command::request(walk.case, command::open(walk.case, record.seq())?)?;
    request.at("source").cloned()
}

fn wish<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let case = walk.case;
    dispute::noted(walk, record, found);
    found.must_say(CHECK, record, "workspace_id", &case.own("workspace"));
    found.must_say(CHECK, record, "status", "queued");
    match named(walk, record) {
        Some(source) => {
            let own = source.as_str().map(|id| format!("src:{}", case.own(id)).into());
            found.must(CHECK, record, "source_record_ref", own);
        }
        None => found.withheld(CHECK),
    }
}

/// The tier that a source must have.
fn tier_min(walk: &Walk<'_, '_>) -> f64 {
    number(&walk.case.task.policy_number("library.tier_min", "2")).unwrap_or(2.0)
}

fn gate<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let task = walk.case.task;
    let verified = match task.policy_flag("library.require_verified", true) {
        true => "verified",
        false => "not_required",
    };
    let expected = Object::from([
        ("gate_id", Json::from(walk.case.own("library-gate"))),
        ("requires_verification_state", verified.into()),
        ("ec_policy_decision_ref", format!("policy_evaluation:{}", walk.case.own("library-leave")).into()),
        ("requires_access_tier", task.policy_word("library.access_tier", ACCESS).into()),
        ("privileged_sources_auto_promote_allowed", false.into()),
        ("schema_version", "1.0".into()),
    ]);
    found.must_be(CHECK, record, &expected, &["min_tier"]);
    let least = if tier_min(walk) > 2.0 { 3.0 } else { 2.0 };
    let is_least = record.json().number("min_tier") == Some(least);
    found.holds(CHECK, record, "min_tier", is_least, "the task says otherwise");
}

/// The gate lets a source in that is documented well enough and, where that is asked for, verified.
fn receipt<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, place) = (walk.case, record.seq());
    let wish = case.last("LibraryPromotionCandidate", place);
    found.must(CHECK, record, "candidate_id", wish.map(|one| one.id().into()));
    let subject = wish.map(|one| format!("library_promotion_candidate:{}", one.id()));
    let mut said = case.until("UserConfirmation", place);
    let is_said = said.any(|one| one.json().text("subject_ref") == subject.as_deref());
    found.holds(CHECK, record, "candidate_id", is_said, "nobody let it in");
    let gate = format!("library_promotion_gate:{}", case.own("library-gate"));
    found.must_say(CHECK, record, "gate_ref", &gate);
    let source = wish.and_then(|one| one.json().text("source_record_ref")?.strip_prefix("src:"));
    let source = source.and_then(|id| case.before("SourceRecord", id, place));
    let is_let = source.is_some_and(|one| {
        let is_documented = one.json().number("tier").is_some_and(|tier| tier >= tier_min(walk));
        let is_verified = one.json().is("verification_state", "verified");
        is_documented && (is_verified || !case.task.policy_flag("library.require_verified", true))
    });
    found.must_say(CHECK, record, "status", if is_let { "promoted" } else { "blocked_by_policy" });
    let hash = source.filter(|_| is_let).and_then(|one| one.json().text("domain_payload.sha256"));
    let written = hash.map(|hash| format!("library_entry:{hash}").into());
    found.must(CHECK, record, "durable_library_write_ref", written);
    let cleared = case.task.policy_word("library.access_tier", ACCESS);
    found.must(CHECK, record, "cleared_by_access_tier", is_let.then(|| cleared.into()));
}
