//! What people decided, from the records of a run: commands that were carried out, answers, confirmations.
//! Owns: finding every one of them, by whom and with what proof, in the order of the log. Must not: leave one out because nothing
//! came of it, or judge one.

use super::essence::{Essence, essence};
use super::{Answered, Change, Decision};
use crate::case::{Bytes, Case, bare};
use crate::command;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_govern::table::commands::{self, DurableWrite};
use countersign_govern::world::Record;
use countersign_record::json::{self, Json};
use countersign_record::row::{Proof, Row};
use countersign_record::run_kind;
use countersign_record::time::Instant;

/// Members that say by whom a record is.
const BY: [&str; 6] =
    ["actor_ref", "user_ref", "resolved_by_user_ref", "reviewer_ref", "skipped_by_ref", "created_by_ref"];
/// How a reference to a person begins.
const PERSON: &str = "user:";

/// A command that was carried out, with all that it wrote.
pub(super) struct Deed<'c> {
    pub(super) invocation: Record<'c>,
    /// The place of its receipt; where it has none, that of the next command.
    pub(super) until: u64,
    has_receipt: bool,
}

impl<'c> Deed<'c> {
    fn holds(&self, place: u64) -> bool {
        (self.invocation.seq()..=self.until).contains(&place)
    }

    /// The records of a type that it wrote.
    pub(super) fn wrote(
        &self,
        case: &'c Case<'_>,
        kind: &'static str,
    ) -> impl DoubleEndedIterator<Item = Record<'c>> {
        case.world.of(kind).filter(|one| self.holds(one.seq()))
    }
}

/// The commands that were carried out, or whose end nobody saw. What was refused changed nothing, and a preview is no decision.
fn deeds<'c>(case: &'c Case<'_>) -> Vec<Deed<'c>> {
    let invocations: Vec<Record<'c>> = case.world.of("CommandInvocation").collect();
    let mut next = invocations.iter().skip(1).map(|one| one.seq());
    let mut all = Vec::new();
    for invocation in &invocations {
        let next = next.next().unwrap_or(u64::MAX);
        let mut receipts = case.world.of("CommandReceipt");
        let receipt = receipts.find(|one| one.json().is("invocation_id", invocation.id()));
        let entry = invocation.json().text("command_id").and_then(commands::find);
        let is_refused = receipt.is_some_and(|one| !one.json().is("status", "accepted"));
        if is_refused || entry.is_some_and(|one| one.durable_write == DurableWrite::ExplicitNoOp) {
            continue;
        }
        let until = receipt.map_or(next.saturating_sub(1), Record::seq);
        all.push(Deed { invocation: *invocation, until, has_receipt: receipt.is_some() });
    }
    all
}

/// Every decision, in the order of the log.
pub(super) fn decisions(case: &Case<'_>, changes: &[Change]) -> Vec<Decision> {
    let deeds = deeds(case);
    let mut all: Vec<Decision> = deeds.iter().filter_map(|deed| by_command(case, deed, changes)).collect();
    let is_in_one = |record: Record<'_>| deeds.iter().any(|deed| deed.holds(record.seq()));
    let mut moments = BTreeSet::new();
    for answer in case.world.of("HardCallResolutionReceipt").filter(|one| !is_in_one(*one)) {
        moments.extend(moment(case, answer));
        all.extend(by_answer(case, answer));
    }
    // What else a person did stands by itself, unless it was written with an answer of theirs. A command that was refused did nothing.
    let is_of_command = |one: &Record<'_>| matches!(one.kind(), "CommandInvocation" | "CommandReceipt");
    let others = case.world.all().filter(|one| !is_in_one(*one) && !is_of_command(one));
    let others = others.filter(|one| moment(case, *one).is_some_and(|one| !moments.contains(&one)));
    all.extend(others.filter_map(|record| by_itself(case, record)));
    for row in case.events.iter().filter(|row| row.kind.as_str() == run_kind::ANSWERED) {
        if !is_told_elsewhere(case, row, &deeds) {
            all.extend(in_the_run(case, row));
        }
    }
    all.sort_by_key(|one| one.row);
    all
}

/// The person whom a record names as its maker.
fn person(record: Record<'_>) -> Option<&str> {
    BY.iter().filter_map(|name| record.json().text(name)).find(|text| text.starts_with(PERSON))
}

/// When a person put a record down, and who.
fn moment<'c>(case: &Case<'_>, record: Record<'c>) -> Option<(Instant, &'c str)> {
    Some((case.row(record)?.at.instant(), person(record)?))
}

/// What stands behind a name on a row.
fn proof(row: &Row, name: &str) -> String {
    let proof = match row.proof {
        Proof::Signed { .. } => "signed with a key",
        Proof::SelfAsserted => "by name only",
        Proof::None => "without a proof",
    };
    match row.actor.as_str() == name {
        true => proof.to_string(),
        false => format!("told by {}, {proof}", row.actor),
    }
}

/// Who somebody is, and what is behind the name.
fn who(row: &Row, reference: &str) -> (String, String) {
    let name = bare(reference);
    match reference.split_once(':').map(|(kind, _)| kind) {
        Some("engine") => ("the engine".to_string(), "by its rules".to_string()),
        Some("agent") => (format!("the agent {name}"), proof(row, name)),
        Some(_) | None => (name.to_string(), proof(row, name)),
    }
}

fn by_command(case: &Case<'_>, deed: &Deed<'_>, changes: &[Change]) -> Option<Decision> {
    let (json, row) = (deed.invocation.json(), case.row(deed.invocation)?);
    let id = json.text("command_id").unwrap_or_default();
    let (who, proof) = who(row, json.text("actor_ref").unwrap_or_default());
    let Essence { mut about, why } = match command::request(case, deed.invocation) {
        Some(request) => essence(case, deed, &request),
        None => Essence { about: Vec::from(["what exactly was asked is withheld".to_string()]), why: None },
    };
    about.extend(changes.iter().filter(|one| one.row == row.seq).map(|one| one.words(ToString::to_string)));
    if !deed.has_receipt {
        about.push("what became of it is not on record".to_string());
    }
    let answer = deed.wrote(case, "HardCallResolutionReceipt").next();
    let answered = answer.and_then(|one| answered(case, one));
    let reviewed = deed.wrote(case, "RevisionReviewDecisionReceipt").next();
    let rationale = reviewed.and_then(|one| one.json().text("rationale")).map(ToString::to_string);
    Some(Decision {
        row: row.seq,
        at: row.at.to_string(),
        who,
        proof,
        command: Some(id.to_string()),
        what: commands::find(id).map_or_else(|| format!("{id}."), |one| one.does.to_string()),
        answered,
        about,
        why: why.or(rationale),
    })
}

/// A question and what was chosen.
fn answered(case: &Case<'_>, answer: Record<'_>) -> Option<Answered> {
    let json = answer.json();
    let call = case.before("HardRevisionCall", json.text("hard_call_id")?, answer.seq())?;
    let chosen = json.text("selected_option_id");
    let option = call.json().list("options").iter().find(|one| one.text("option_id") == chosen);
    let text = |path: &str| option.and_then(|one| one.text(path));
    Some(Answered {
        question: call.json().text("prompt_text").unwrap_or_default().to_string(),
        answer: text("label").or(chosen).unwrap_or_default().to_string(),
        consequence: text("consequence_text").map(ToString::to_string),
    })
}

/// An answer that no command gave: what stands behind it stands on the run's own row of it.
fn by_answer(case: &Case<'_>, answer: Record<'_>) -> Option<Decision> {
    let (json, row) = (answer.json(), case.row(answer)?);
    let mut rows = case.events.iter().filter(|row| row.kind.as_str() == run_kind::ANSWERED);
    let own = rows.rfind(|one| one.payload.text("id") == json.text("hard_call_id")).copied();
    let (who, proof) = who(own.unwrap_or(row), json.text("resolved_by_user_ref")?);
    let mut reviews = case.world.of("RevisionReviewDecisionReceipt").filter(|one| one.seq() > answer.seq());
    let review = reviews.next().filter(|one| one.json().text("created_at") == json.text("created_at"));
    Some(Decision {
        row: row.seq,
        at: row.at.to_string(),
        who,
        proof,
        command: None,
        what: "Answers a question that a run waits for.".to_string(),
        answered: answered(case, answer),
        about: Vec::new(),
        why: review.and_then(|one| one.json().text("rationale")).map(ToString::to_string),
    })
}

/// Something that a record says a person did, and that stands in no command.
fn by_itself(case: &Case<'_>, record: Record<'_>) -> Option<Decision> {
    let (json, row) = (record.json(), case.row(record)?);
    let (who, proof) = who(row, person(record)?);
    let subject = json.text("subject_ref").map(bare);
    let states = json.text("from_state").zip(json.text("to_state"));
    let moved = states.map(|(from, to)| format!("from {from} to {to}").replace('_', " "));
    let why = ["reason", "rationale", "grounds", "transition_reason"].iter().find_map(|one| json.text(one));
    Some(Decision {
        row: row.seq,
        at: row.at.to_string(),
        who,
        proof,
        command: None,
        what: match record.kind() {
            "UserConfirmation" => "Confirms something.".to_string(),
            kind => {
                format!("Has put down a {}.", countersign_govern::reference::snake(kind).replace('_', " "))
            }
        },
        answered: None,
        about: subject.map(ToString::to_string).into_iter().chain(moved).collect(),
        why: why.map(|why| why.replace('_', " ")),
    })
}

/// Commands by which a run's question is answered.
const ANSWERING: [&str; 4] =
    ["contract_review.approve", "contract_review.reject", "hard_call.resolve", "task.cancel"];

/// Whether an answer in the run's own rows is told by a record of it, or by the command that gave it.
fn is_told_elsewhere(case: &Case<'_>, row: &Row, deeds: &[Deed<'_>]) -> bool {
    let (Some(id), Some(by)) = (row.payload.text("id"), row.payload.text("by")) else { return false };
    let mut records = case.world.of("HardCallResolutionReceipt");
    let key = format!("answer {id} {by}");
    let is_it = |deed: &Deed<'_>| {
        let json = deed.invocation.json();
        let is_same = case.row(deed.invocation).is_some_and(|own| own.at == row.at && own.seq < row.seq);
        json.is_one_of("command_id", &ANSWERING)
            && json.text("actor_ref").map(bare) == Some(by)
            && (json.is("idempotency_key", &key) || is_same)
    };
    records.any(|one| one.json().is("hard_call_id", id)) || deeds.iter().any(is_it)
}

/// What a row of the run says, as JSON.
fn content(case: &Case<'_>, row: &Row) -> Option<Json> {
    match case.said(row, 0) {
        Bytes::Here(bytes) => json::parse(bytes).ok(),
        Bytes::Withheld | Bytes::Missing => None,
    }
}

/// An answer that stands in the run's own rows alone.
fn in_the_run(case: &Case<'_>, row: &Row) -> Option<Decision> {
    let (id, by) = (row.payload.text("id")?, row.payload.text("by")?);
    let mut stops = case.events.iter().filter(|one| one.kind.as_str() == run_kind::STOPPED);
    let stop = stops.rfind(|one| one.seq < row.seq && one.payload.is("id", id));
    let asked = stop.and_then(|stop| content(case, stop));
    let message = asked.as_ref().and_then(|one| one.text("message")).unwrap_or("what was asked is withheld");
    let question = match stop.is_some_and(|stop| stop.payload.is("kind", "confirmation")) {
        true => format!("Your leave is needed to {message}"),
        false => message.to_string(),
    };
    let said = content(case, row);
    let value = said.as_ref().and_then(|one| one.text("value")).unwrap_or("what was said is withheld");
    let answer = match row.payload.text("answer").unwrap_or_default() {
        "approve" => "Approved",
        "deny" => "Refused",
        "retry" => "Have it done again",
        "give_up" => "The run is given up",
        _in_words => value,
    };
    Some(Decision {
        row: row.seq,
        at: row.at.to_string(),
        who: by.to_string(),
        proof: proof(row, by),
        command: None,
        what: "Answers a question that a run waits for.".to_string(),
        answered: Some(Answered { question, answer: answer.to_string(), consequence: None }),
        about: Vec::new(),
        why: None,
    })
}
