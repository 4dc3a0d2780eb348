//! What a stage took: its questions to models, and its time.
//! Owns: the pieces of work that a handoff tells of, and which records are those. Must not: price anything.

use super::{CRITIC, DRAFTER, ENFORCER, REVISOR};
use crate::case::Case;
use crate::cost;
use crate::found::Found;
use crate::report::{Check, Place};
use crate::run::{Handed, Told};
use crate::task::decimal;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_govern::world::Record;
use countersign_kernel::run::UNKNOWN_EFFECT;
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};

/// A piece of work as a handoff tells it.
pub(crate) struct Piece {
    pub(crate) module: String,
    pub(crate) class: &'static str,
    /// What the forecast calls it.
    pub(crate) planned: Option<String>,
    /// What it cost, as a cost vector has it.
    pub(crate) components: Json,
    /// Whether nobody saw it, so that what was foreseen counts.
    pub(crate) is_lost: bool,
}

/// What was foreseen of the work of an agent of ours, at most as far as that is said, as a cost vector has it.
fn foreseen(case: &Case<'_>, agent: &str, place: u64) -> Json {
    let word = match agent {
        CRITIC => "judge.",
        REVISOR => "revision",
        _drafts => "draft.",
    };
    let own = case.own(&format!("planned.{word}"));
    let planned = case.until("CostVector", place).filter(|one| one.id().starts_with(&own));
    let sums = cost::most(planned);
    components(sums.iter().map(|(unit, sum)| (unit.as_str(), decimal(&cost::literal(*sum)))).collect())
}

/// The module by whose name the time of an agent is counted.
fn module(agent: &str) -> Option<&'static str> {
    match agent {
        DRAFTER => Some("draft"),
        ENFORCER => Some("enforcement"),
        CRITIC => Some("evaluator"),
        REVISOR => Some("revision"),
        _asks_nothing => None,
    }
}

/// Agents of ours that say with everything that they do what it took.
const TELLING: [&str; 3] = [DRAFTER, CRITIC, REVISOR];

/// How a question to a model ends.
const ENDED: [&str; 3] = ["completed", "failed", "cancelled"];

fn components(all: Vec<(&str, Json)>) -> Json {
    let part = |(unit, expected): (&str, Json)| {
        let part = Object::from([("expected", expected), ("unit", Json::from(unit))]);
        (unit.to_string(), Json::from(part))
    };
    let mut object = Object::new();
    for (unit, part) in all.into_iter().map(part) {
        object.insert(unit, part);
    }
    object.into()
}

/// Millionths of a dollar, as an amount.
fn dollars(micros: u64) -> Json {
    let digits = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    decimal(digits.trim_end_matches('0').trim_end_matches('.'))
}

/// The pieces of work that a handoff tells of, in order.
pub(crate) fn pieces(case: &Case<'_>, told: &Told, handed: &Handed) -> Vec<Piece> {
    let agent = told.agent(handed).unwrap_or_default();
    let Some(module) = module(agent) else { return Vec::new() };
    let payload = &handed.payload;
    if handed.reason.as_deref() == Some(UNKNOWN_EFFECT) {
        let place = case.world.all().filter(|one| case.row(*one).is_some_and(|row| row.seq < handed.called));
        let place = place.last().map_or(0, |one| one.seq() + 1);
        let components = foreseen(case, agent, place);
        // Of what nothing was foreseen nothing counts: who asks nobody costs nothing.
        if components.as_object().is_none_or(|all| all.iter().next().is_none()) {
            return Vec::new();
        }
        let (module, class) = (module.to_string(), "infrastructure_retry");
        return Vec::from([Piece { module, class, planned: None, components, is_lost: true }]);
    }
    let Some(took) = payload.at("took") else { return Vec::new() };
    let count = |of: &Json, name: &str| decimal(&of.count(name).unwrap_or_default().to_string());
    let call = |call: &Json| {
        let mut all = Vec::from([
            ("input_tokens", count(call, "input_tokens")),
            ("output_tokens", count(call, "output_tokens")),
        ]);
        all.extend(call.text("host").map(|_| ("external_api_calls", decimal("1"))));
        all.extend(call.count("usd_micros").map(|micros| ("usd", dollars(micros))));
        Piece {
            module: call.text("module").unwrap_or_default().to_string(),
            class: "logical_llm_work",
            planned: call.text("planned").map(ToString::to_string),
            components: components(all),
            is_lost: false,
        }
    };
    let time = components(Vec::from([("wall_clock_ms", count(took, "wall_clock_ms"))]));
    let (module, class) = (module.to_string(), "local_compute");
    let last = Piece { module, class, planned: None, components: time, is_lost: false };
    took.list("calls").iter().map(call).chain([last]).collect()
}

/// What the handoff of the stage in which a cost was put down tells of it.
pub(crate) enum Which {
    /// This.
    Piece(Piece),
    /// Nothing: it tells of fewer pieces, or of none.
    None,
    /// Nobody can say: the handoff is withheld.
    Withheld,
    /// No agent of ours has handed over there.
    Foreign,
}

/// The piece of work that a record of its cost is about.
pub(crate) fn piece(case: &Case<'_>, told: &Told, record: Record<'_>) -> Which {
    let row = case.row(record).map_or(0, |row| row.seq);
    let handed = told.handed.iter().find(|one| (one.called..one.seq).contains(&row));
    let Some(handed) = handed else {
        return if told.is_partial { Which::Withheld } else { Which::Foreign };
    };
    if told.agent(handed).is_none() {
        return Which::Foreign;
    }
    let nth = during(case, handed).take_while(|one| one.seq() < record.seq()).count();
    pieces(case, told, handed).into_iter().nth(nth).map_or(Which::None, Which::Piece)
}

/// The costs that were put down while a stage was at work.
fn during<'c>(case: &'c Case<'_>, handed: &Handed) -> impl Iterator<Item = Record<'c>> {
    let window = handed.called..handed.seq;
    case.world
        .of("TaskCostRecord")
        .filter(move |one| case.row(*one).is_some_and(|row| window.contains(&row.seq)))
}

/// What a stage took is told by those who ask models.
pub(super) fn counted(told: &Told, handed: &Handed, found: &mut Found) {
    let is_telling = told.agent(handed).is_some_and(|agent| TELLING.contains(&agent));
    let is_told = handed.payload.count("took.wall_clock_ms").is_some()
        && handed.payload.at("took.calls").is_some_and(|all| all.as_array().is_some());
    let words = handed.payload.list("took.calls").iter().map(|call| call.text("ended").unwrap_or_default());
    if let Some((at, _)) = words.enumerate().find(|(_, word)| !ENDED.contains(word)) {
        let path = Some(format!("/payload/took/calls/{at}/ended"));
        let place = Place { row: Some(handed.seq), path, ..Place::default() };
        found.wrong(Code::VerifyDerivation, Check::Costs, place, "no question to a model ends so");
    }
    let is_silent = handed.is_asking && handed.payload.at("took").is_none();
    if !is_telling || is_silent || is_told {
        return found.right(Check::Costs);
    }
    let path = Some("/payload/took".to_string());
    let place = Place { row: Some(handed.seq), path, ..Place::default() };
    found.wrong(Code::VerifyIncomplete, Check::Costs, place, "it does not say what the stage took");
}

/// Each piece of work that a handoff tells of has its cost on record.
pub(crate) fn complete(case: &Case<'_>, told: &Told, found: &mut Found) {
    for handed in &told.handed {
        let (expected, there) = (pieces(case, told, handed).len(), during(case, handed).count());
        if there >= expected {
            found.right(Check::Costs);
            continue;
        }
        let message = format!("it tells of {expected} pieces of work, and {there} are on record");
        let place =
            Place { row: Some(handed.seq), path: Some("/payload/took".to_string()), ..Place::default() };
        found.wrong(Code::VerifyIncomplete, Check::Completeness, place, message);
    }
}
