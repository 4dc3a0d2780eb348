//! Questions that wait: how long they may, and what is written when they do.
//! Owns: what these records must be. Must not: say what an answer means.

use super::CHECK;
use crate::case::Case;
use crate::cause;
use crate::command;
use crate::found::Found;
use crate::walk::Walk;
use countersign_govern::member::Member;
use countersign_govern::types::wire::{Reading, Wire};
use countersign_govern::world::Record;
use countersign_record::code::Code;
use countersign_record::json::Json;

/// How long a question stands, in hours, where the task does not say.
const TIMEOUT_HOURS: &str = "168";

/// The command by which a person puts a question off.
const DEFER: &str = "hard_call.defer";

/// How long the task lets a question stand, in milliseconds.
pub(super) fn timeout_ms(case: &Case<'_>) -> Option<Json> {
    let hours = case.task.policy_number("questions.timeout_hours", TIMEOUT_HOURS);
    let hours = u64::read(&hours, &mut Reading::default());
    hours.and_then(|hours| hours.checked_mul(3_600_000)).and_then(|millis| millis.write())
}

/// A question is put off as its policy has it, and has waited too long only when its time is over.
pub(crate) fn waited<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let json = record.json();
    let id = json.text("hard_call_id").unwrap_or_default();
    let Some(call) = walk.case.before("HardRevisionCall", id, record.seq()) else {
        return found.about(Code::VerifyDerivation, CHECK, record, "hard_call_id", "nobody asked that");
    };
    let has_lapsed = json.is("cause", "timed_out");
    let policy = if has_lapsed { "pending_policy.on_timeout" } else { "pending_policy.on_defer" };
    found.must(CHECK, record, "action", call.json().at(policy).cloned());
    let asked = command::open(walk.case, record.seq());
    let deferring = asked.filter(|one| one.json().is("command_id", DEFER));
    match (has_lapsed, asked, deferring) {
        // What nobody answered in time is told with the next command, whatever that is, or when somebody looks.
        (true, Some(_), _) => {}
        (true, None, _) if !cause::is_at_work(walk.case, record) => {}
        (false, _, Some(asked)) => match command::request(walk.case, asked) {
            Some(request) => {
                found.must(CHECK, record, "hard_call_id", request.at("hard_call_id").cloned());
            }
            None => found.withheld(CHECK),
        },
        (true, None, _) | (false, _, None) => {
            return walk.underivable(CHECK, record, "nobody gave the command for that", found);
        }
    }
    let state = walk.says("hard_revision_call", id, "state");
    let is_waiting = matches!(state, Some("pending" | "deferred" | "escalated"));
    found.holds(CHECK, record, "hard_call_id", is_waiting, "it waits for no answer");
    let waited = walk.at(call).zip(walk.at(record)).map(|(raised, now)| raised.millis_until(now));
    let most = call.json().count("pending_policy.timeout_ms");
    let is_over = waited.zip(most).is_some_and(|(waited, most)| waited >= most);
    found.holds(CHECK, record, "cause", !has_lapsed || is_over, "its time was not over");
}
