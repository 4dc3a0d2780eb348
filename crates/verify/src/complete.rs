//! Whether everything is there that a run leaves, and nothing came after the packet that makes it old.
//! Owns: these checks. Must not: look at what belongs to one look at an outcome; `look` does.

use crate::case::{Bytes, Case};
use crate::certified;
use crate::found::Found;
use crate::head;
use crate::report::{Check, Place};
use crate::run;
use alloc::format;
use alloc::string::ToString;
use countersign_govern::fold::{Fold, Folds};
use countersign_govern::member::Member;
use countersign_govern::world::Record;
use countersign_record::code::Code;

const CHECK: Check = Check::Completeness;

/// The states of a packet that still counts.
const STANDING: [&str; 4] = ["draft", "ready_for_review", "user_reviewed", "issued"];

pub(crate) fn check(case: &Case<'_>, found: &mut Found) {
    for row in &case.strange {
        let place = Place { row: Some(row.seq), path: Some("/kind".to_string()), ..Place::default() };
        found.wrong(
            Code::VerifyIncomplete,
            CHECK,
            place,
            "it holds no governed record that this build knows",
        );
    }
    named(case, found);
    let Some(packet) = head::packet(case) else {
        let place = Place { path: Some("/predicate/packet_id".to_string()), ..Place::default() };
        return found.wrong(
            Code::VerifyIncomplete,
            CHECK,
            place,
            "there is no reliance packet among the rows",
        );
    };
    let mut folds = Folds::default();
    for record in case.world.all() {
        folds.apply(&record.into());
    }
    let state =
        folds.board.find("task_reliance_packet", packet.id()).and_then(|one| one.word("lifecycle_state"));
    headed(case, found);
    match state {
        // What came after a packet that has fallen is why, and its rows say so: nothing in it is wrong.
        Some("invalidated" | "archived") => found.right(CHECK),
        Some(state) if STANDING.contains(&state) => {
            found.right(CHECK);
            unchanged(case, packet, found);
        }
        // There is no newer one that could have taken its place.
        Some(_) | None => {
            let message = format!("the packet is {} by what came after it", state.unwrap_or("nowhere"));
            found.about(Code::VerifyIncomplete, CHECK, packet, "lifecycle_state", message);
        }
    }
}

/// Every file that the task names is there: what begins with one, or is held to one, could not be looked at else.
fn named(case: &Case<'_>, found: &mut Found) {
    for path in case.task.files().chain(run::own_file(case)) {
        let bytes = case.files.get(path).map_or(Bytes::Missing, |digest| case.bytes(digest));
        if bytes != Bytes::Missing {
            found.right(CHECK);
            continue;
        }
        let place = Place { path: Some("/predicate/files".to_string()), ..Place::default() };
        let message = format!("{path:.200}, which the task names, is not among its files");
        found.wrong(Code::VerifyIncomplete, CHECK, place, message);
    }
}

/// What a packet shows has a header that says from what it is derived.
fn headed(case: &Case<'_>, found: &mut Found) {
    for kind in ["EvidencePackage", "TaskReliancePacket", "WorkProductCertification"] {
        for shown in case.world.of(kind) {
            let own = format!("{}:{}", shown.snake(), shown.id());
            let mut headers = case.world.of("DerivedReadModelRecord");
            match headers.any(|one| one.json().is("payload_ref", &own)) {
                true => found.right(CHECK),
                false => found.about(
                    Code::VerifyIncomplete,
                    CHECK,
                    shown,
                    "",
                    "nothing says from what it is derived",
                ),
            }
        }
    }
}

/// What never comes behind a packet that stands, besides what takes away what it rests on.
const BESIDES: [&str; 4] =
    ["ArtifactVersion", "SourceRecord", "ClaimSupportDerivationReceipt", "RelianceInvalidationEvent"];

/// What a packet rests on must not have changed behind it.
fn unchanged(case: &Case<'_>, packet: Record<'_>, found: &mut Found) {
    let after = case.world.all().filter(|one| one.seq() > packet.seq());
    for record in after {
        let is_change = certified::falls(record).is_some() || BESIDES.contains(&record.kind());
        match is_change {
            true => found.about(
                Code::VerifyIncomplete,
                CHECK,
                record,
                "",
                "it came after the packet, which does not know it",
            ),
            false => found.right(CHECK),
        }
    }
}
