//! Whether governed records keep the contract, and do not contradict each other.
//! Owns: asking. Must not: have a rule of its own; `govern` has them.

use crate::case::Case;
use crate::found::Found;
use crate::report::{Check, Place};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::ToString;
use countersign_govern::check::{Severity, check as codes, rules};
use countersign_govern::member::Member;
use countersign_govern::reach;
use countersign_govern::types;
use countersign_govern::world::Record;
use countersign_record::code::Code;

const CHECK: Check = Check::Contract;

pub(crate) fn check(case: &Case<'_>, found: &mut Found) {
    let records: BTreeMap<u64, Record<'_>> = case.world.all().map(|one| (one.seq(), one)).collect();
    let place = |found: &Found, row: u64, pointer: &str| {
        let record = records.get(&row);
        record.map_or_else(Place::default, |record| found.pointed(*record, pointer.to_string()))
    };
    for record in case.world.all() {
        let troubles = types::find(record.kind()).map(|one| one.troubles(record.json())).unwrap_or_default();
        match troubles.first() {
            None => found.right(CHECK),
            Some(trouble) => {
                let place = found.pointed(record, trouble.path.clone());
                found.wrong(Code::VerifyContract, CHECK, place, trouble.message.clone());
            }
        }
    }
    for record in case.world.all() {
        let named = countersign_govern::kind::find(record.kind()).and_then(|kind| kind.id);
        let Some(member) = named.filter(|member| record.json().text(member) == Some("")) else { continue };
        let message = "a record has a name by which others can speak of it";
        found.about(Code::VerifyContract, CHECK, record, member, message);
    }
    let wrong = codes(&case.world);
    for one in wrong.iter().filter(|one| one.severity == Severity::Error) {
        let place = place(found, one.row, &one.path);
        found.wrong(Code::VerifyContract, CHECK, place, format!("validation.{}: {}", one.code, one.message));
    }
    for one in reach::contradictions(&case.world) {
        let place = place(found, one.row, &one.path);
        let message = format!("{}: {}", one.what.as_str(), one.message);
        found.wrong(Code::VerifyContradiction, CHECK, place, message);
    }
    for _rule in rules() {
        found.right(CHECK);
    }
}
