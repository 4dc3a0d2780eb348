//! What people do with a packet: they read it, issue it with a certification, put it away; and how it falls.
//! Owns: what these records must be, given the commands. Must not: say how far a packet may be relied on.

use crate::command;
use crate::evidence;
use crate::found::Found;
use crate::rely;
use crate::report::Check;
use crate::walk::Walk;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::derive::reliance::Status;
use countersign_govern::member::Member;
use countersign_govern::world::Record;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::json::{Json, Object};

const CHECK: Check = Check::Reliance;
const ENGINE: &str = "engine:work";
const REVIEW: &str = "reliance.review_packet";
const ISSUE: &str = "reliance.issue_work_product_certification";
const INVALIDATE: &str = "reliance.invalidate_packet";
const ARCHIVE: &str = "reliance.archive_packet";
/// The states of what somebody may still come to rely on.
const STANDING: [&str; 4] = ["draft", "ready_for_review", "user_reviewed", "issued"];

/// A packet that people move is moved by who gave the command for it.
pub(crate) fn packet_moved(walk: &Walk<'_, '_>, record: Record<'_>, found: &mut Found) {
    let asked = command::open(walk.case, record.seq());
    let (command, words) = match record.json().text("to_state") {
        Some("user_reviewed") => (REVIEW, "read by a person"),
        Some("issued") => (ISSUE, "issued by a person"),
        Some(_) | None => (ARCHIVE, "put away by a person"),
    };
    let Some(asked) = asked.filter(|one| one.json().is("command_id", command)) else {
        let message = "nobody gave the command for that";
        return found.about(Code::VerifyDerivation, CHECK, record, "to_state", message);
    };
    found.must(CHECK, record, "actor_ref", asked.json().at("actor_ref").cloned());
    match command::request(walk.case, asked) {
        Some(request) => {
            let note = request.text("note").filter(|_| command == REVIEW);
            found.must_say(CHECK, record, "reason", note.unwrap_or(words));
        }
        None => found.withheld(CHECK),
    }
}

/// The move by which a packet was issued that is certified at a place.
fn issued<'c>(walk: &Walk<'c, '_>, place: u64) -> Option<Record<'c>> {
    let moves = walk.case.until("LifecycleTransitionReceipt", place);
    let is_packet = |one: &Record<'_>| {
        one.json().text("subject_ref").is_some_and(|text| text.starts_with("task_reliance_packet:"))
    };
    moves.filter(|one| is_packet(one) && one.json().is("to_state", "issued")).last()
}

/// A certification says of a packet that was just issued what the packet says.
pub(crate) fn certification<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, place) = (walk.case, record.seq());
    let issue = issued(walk, place).filter(|one| walk.at(*one) == walk.at(record));
    let packet = issue.and_then(|one| one.json().text("subject_ref")?.split_once(':'));
    let (Some(issue), Some((_, packet))) = (issue, packet) else {
        return walk.underivable(CHECK, record, "no packet was issued with it", found);
    };
    let by = issue.json().text("actor_ref").unwrap_or_default();
    let Some(text) = rendered(walk, packet, by, record) else {
        return walk.underivable(CHECK, record, "there is no such packet", found);
    };
    let digest = Digest::of(text.as_bytes());
    let at = case.row(record).map_or(Json::Null, |row| Json::from(row.at.as_str()));
    let expected = Object::from([
        ("task_reliance_packet_ref", Json::from(format!("task_reliance_packet:{packet}"))),
        ("rendered_certification_ref", format!("text:{digest}").into()),
        ("issue_command_ref", ISSUE.into()),
        ("lifecycle_state", "draft".into()),
        ("created_at", at),
        ("schema_version", "1.0".into()),
    ]);
    found.must_be(CHECK, record, &expected, &["certification_id"]);
    let stated = case.digest(record).map(|digest| Json::from(String::from(digest)));
    found.same(Code::VerifyDerivation, CHECK, record, "", Some(String::from(digest).into()), stated);
}

/// The text of a certification: what it is for, how far it goes, what it covers, who answers for it.
fn rendered(walk: &Walk<'_, '_>, packet: &str, by: &str, record: Record<'_>) -> Option<String> {
    let (case, place) = (walk.case, record.seq());
    let standing = walk.standing("TaskReliancePacket", packet)?;
    let word = |path: &str| standing.text(path).unwrap_or_default();
    let status = rely::summary(Status::find(word("reliance_derivation.status"))?);
    let mut lines = Vec::from([
        format!("# Certification: {}", case.task.title()),
        String::new(),
        status.to_string(),
        String::new(),
        format!("- Scope: {}", word("reliance_derivation.scope_statement")),
    ]);
    for (name, member) in [("For", "audience"), ("Purpose", "purpose")] {
        lines.extend(case.task.0.text(member).map(|text| format!("- {name}: {text}")));
    }
    let limits = standing.texts("reliance_derivation.unresolved_limitations");
    lines.extend(limits.iter().map(|one| format!("- Limited: {}", one.replace('_', " "))));
    for head in evidence::heads(case, place) {
        let json = head.json();
        let artifact = json.text("artifact_stable_id").and_then(|id| case.task.artifact(case.local(id)));
        let path = artifact.and_then(|one| one.path()).unwrap_or_default();
        let number = head.id().rsplit_once(".v").map(|(_, number)| number).unwrap_or_default();
        let hash = json.text("content_hash").unwrap_or_default();
        lines.push(format!("- Covers: {path}, version {number}, sha256 {hash}"));
    }
    lines.extend(standing.text("reviewed_by_user_ref").map(|one| format!("- Reviewed by: {one}")));
    let at = case.row(record).map(|row| row.at.to_string()).unwrap_or_default();
    lines.push(format!("- Issued by: {by} at {at}"));
    lines.push(format!("- Packet: {packet}, inputs sha256 {}", word("input_manifest.input_manifest_hash")));
    Some(lines.iter().map(|line| format!("{line}\n")).collect())
}

/// A certification is made ready at once, counts with its packet, and falls with it.
pub(crate) fn moved<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, json) = (walk.case, record.json());
    let id = json.text("subject_ref").and_then(|text| text.split_once(':')).map_or("", |(_, id)| id);
    let from = walk.says("work_product_certification", id, "lifecycle_state").unwrap_or_default();
    let Some(own) = case.before("WorkProductCertification", id, record.seq()) else {
        return found.about(Code::VerifyDerivation, CHECK, record, "subject_ref", "there is no such thing");
    };
    let issuer = issued(walk, own.seq()).and_then(|one| one.json().text("actor_ref"));
    let is_issuing = walk.at(own) == walk.at(record);
    let (to, by, reason) = match (from, is_issuing) {
        ("draft", true) => ("ready_for_review", Some(ENGINE), "it is rendered"),
        ("ready_for_review", true) => ("user_reviewed", issuer, "its packet is reviewed"),
        ("user_reviewed", true) => ("issued", issuer, "issued by a person"),
        _fallen => {
            let event = case.last("RelianceInvalidationEvent", record.seq());
            let is_now = event.is_some_and(|one| walk.at(one) == walk.at(record));
            if !is_now {
                found.about(Code::VerifyDerivation, CHECK, record, "to_state", "its packet has not fallen");
            }
            let asked = taken_back(walk, record).and_then(|one| one.json().text("actor_ref"));
            ("invalidated", asked.or(Some(ENGINE)), "its packet has fallen")
        }
    };
    found.must_say(CHECK, record, "from_state", from);
    found.must_say(CHECK, record, "to_state", to);
    found.must(CHECK, record, "actor_ref", by.map(Json::from));
    found.must_say(CHECK, record, "reason", reason);
}

/// The command by which a packet is taken back.
fn taken_back<'c>(walk: &Walk<'c, '_>, record: Record<'_>) -> Option<Record<'c>> {
    command::open(walk.case, record.seq()).filter(|one| one.json().is("command_id", INVALIDATE))
}

/// What a row takes away from a packet that was written before it.
pub(crate) fn falls(record: Record<'_>) -> Option<&'static str> {
    let json = record.json();
    let subject = json.text("subject_ref").unwrap_or_default();
    match record.kind() {
        "ArtifactVersionTransitionEvent" if json.is("to_state", "accepted_head") => {
            Some("artifact_version_changed")
        }
        "RevisionReviewDecisionReceipt" => Some("artifact_version_changed"),
        "SourceWorkspaceOperationReceipt" if json.is("status", "applied") => Some("source_workspace_changed"),
        "EvaluationFindingEvent" | "FindingLifecycleTransitionReceipt" => Some("finding_lifecycle_changed"),
        "PolicyEvaluation" if json.at("superseded_by").is_some() => Some("policy_decision_superseded"),
        "PolicySnapshot" => Some("policy_decision_superseded"),
        "HardRevisionCall" | "HardCallResolutionReceipt" => Some("hard_call_resolution_expired"),
        "EvidencePackage" | "ResearchNeed" => Some("evidence_package_superseded"),
        "LifecycleTransitionReceipt" if subject.starts_with("research_need:") => {
            Some("evidence_package_superseded")
        }
        "EvaluationChainResolutionReceipt" => Some("evaluation_chain_resolution_changed"),
        "OutcomeStateTransitionEvent" if json.is("to_state", "superseded") => {
            Some("evaluation_chain_resolution_changed")
        }
        _nothing_that_it_rests_on => None,
    }
}

/// A packet falls by the first row behind it that takes away what it rests on, or because a person takes it back.
pub(crate) fn fallen<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, place) = (walk.case, record.seq());
    let Some(packet) = case.last("TaskReliancePacket", place) else {
        return walk.underivable(CHECK, record, "there is no packet", found);
    };
    found.must_say(CHECK, record, "packet_id", packet.id());
    let state = walk.says("task_reliance_packet", packet.id(), "lifecycle_state").unwrap_or_default();
    if !STANDING.contains(&state) {
        let message = "it did not stand any more";
        found.about(Code::VerifyDerivation, CHECK, record, "packet_id", message);
    }
    let (kind, trigger) = match taken_back(walk, record) {
        Some(asked) => match command::request(case, asked) {
            Some(asked) => (asked.at("invalidation_kind").cloned(), asked.at("triggering_ref").cloned()),
            None => return found.withheld(CHECK),
        },
        None => {
            let mut after = case.world.all().filter(|one| (packet.seq() + 1..place).contains(&one.seq()));
            let first = after.find_map(|one| Some((falls(one)?, one)));
            let trigger = first.map(|(_, one)| format!("{}:{}", one.snake(), one.id()).into());
            (first.map(|(kind, _)| kind.into()), trigger)
        }
    };
    found.must(CHECK, record, "invalidation_kind", kind);
    found.must(CHECK, record, "triggering_ref", trigger);
}

/// The certification that is to be shown next: one of the last packet that stands, and that nothing shows.
pub(crate) fn shown(walk: &Walk<'_, '_>, place: u64) -> Option<String> {
    let case = walk.case;
    let packet = format!("task_reliance_packet:{}", case.last("TaskReliancePacket", place)?.id());
    let own = case.until("WorkProductCertification", place);
    let mut names = own.filter(|one| one.json().is("task_reliance_packet_ref", &packet)).filter_map(|one| {
        let state = walk.says("work_product_certification", one.id(), "lifecycle_state")?;
        STANDING.contains(&state).then(|| format!("work_product_certification:{}", one.id()))
    });
    let is_shown = |name: &String| {
        let headers = case.until("DerivedReadModelRecord", place);
        let last = headers.filter(|one| one.json().is("payload_ref", name)).last();
        last.is_some_and(|one| one.json().at("valid_until_event_seq").is_none())
    };
    names.find(|name| !is_shown(name))
}
