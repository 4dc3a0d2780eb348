//! What people changed in a task before it was worked on.
//! Owns: the tasks that were asked for instead, and what differs in them. Must not: judge whether that may be.

use super::Change;
use crate::case::{Case, bare};
use crate::command;
use crate::task::{Outcome, Task, decimal};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::member::{Member, number};
use countersign_govern::world::Record;
use countersign_record::canonical;
use countersign_record::json::{self, Json};

/// The command that changes a task.
const EDIT: &str = "contract_review.edit";

/// A change of the task as a whole.
pub(super) struct Edit {
    /// Its row in the ledger.
    row: u64,
    /// Who gave it.
    by: String,
    /// What is asked instead; nothing where that is withheld.
    task: Option<Json>,
}

/// A task in the form in which a run takes it in: a number is written in one way.
fn plain(task: &Json) -> Option<Json> {
    json::parse(&canonical::to_bytes(task).ok()?).ok()
}

/// The changes that were accepted, in order.
pub(super) fn edits(case: &Case<'_>) -> Vec<Edit> {
    let receipts = case.world.of("CommandReceipt").filter(|one| one.json().is("status", "accepted"));
    let accepted: BTreeSet<&str> = receipts.filter_map(|one| one.json().text("invocation_id")).collect();
    let asked = case.world.of("CommandInvocation").filter(|one| one.json().is("command_id", EDIT));
    let edit = |one: Record<'_>| Edit {
        row: case.row(one).map_or(0, |row| row.seq),
        by: one.json().text("actor_ref").map(bare).unwrap_or_default().to_string(),
        task: command::request(case, one).and_then(|request| plain(request.get("task")?)),
    };
    asked.filter(|one| accepted.contains(one.id())).map(edit).collect()
}

/// The task that was worked on.
pub(super) fn in_force<'e>(edits: &'e [Edit], first: &'e Json) -> &'e Json {
    edits.iter().rev().find_map(|one| one.task.as_ref()).unwrap_or(first)
}

/// What differs after each change, in order.
pub(super) fn changes(edits: &[Edit], first: &Json) -> Vec<Change> {
    let mut before = plain(first).unwrap_or_else(|| first.clone());
    let mut all = Vec::new();
    for edit in edits {
        let Some(after) = &edit.task else {
            all.push(edit.withheld());
            continue;
        };
        let mut different = Vec::new();
        differences((Some(&before), Some(after)), &mut Vec::new(), &mut different);
        all.extend(different.into_iter().map(|one| edit.change(one, &before)));
        before = after.clone();
    }
    all
}

/// A step on the way to a member.
#[derive(Clone)]
enum Step {
    Name(String),
    At(usize),
}

/// A member that differs.
struct Difference {
    path: Vec<Step>,
    from: Option<Json>,
    to: Option<Json>,
}

/// Finds every member that differs, by going down both sides at once. Tasks are as deep as the reader of JSON lets them be.
fn differences(sides: (Option<&Json>, Option<&Json>), path: &mut Vec<Step>, all: &mut Vec<Difference>) {
    match sides {
        (Some(Json::Object(one)), Some(Json::Object(other))) => {
            let names: BTreeSet<&str> = one.iter().chain(other.iter()).map(|(name, _)| name).collect();
            for name in names {
                path.push(Step::Name(name.to_string()));
                differences((one.get(name), other.get(name)), path, all);
                path.pop();
            }
        }
        (Some(Json::Array(one)), Some(Json::Array(other))) => {
            for at in 0..one.len().max(other.len()) {
                path.push(Step::At(at));
                differences((one.get(at), other.get(at)), path, all);
                path.pop();
            }
        }
        (from, to) if from == to => {}
        (from, to) => {
            all.push(Difference { path: path.clone(), from: from.cloned(), to: to.cloned() });
        }
    }
}

impl Edit {
    fn withheld(&self) -> Change {
        Change {
            row: self.row,
            by: self.by.clone(),
            outcome: None,
            what: "contract".to_string(),
            of: "the task".to_string(),
            from: "what stands here".to_string(),
            to: "something that is withheld".to_string(),
            is_less: false,
        }
    }

    fn change(&self, different: Difference, before: &Json) -> Change {
        let Named { outcome, of, what } = named(&different.path, before);
        let default = default(&different.path);
        let (from, to) = (different.from.or_else(|| default.clone()), different.to.or(default));
        let is_less = match (what.as_str(), &from, &to) {
            ("threshold", Some(from), Some(to)) => number(to) < number(from),
            ("required", from, to) => *from == Some(Json::Bool(true)) && *to == Some(Json::Bool(false)),
            (_, _, _) => false,
        };
        let (from, to) = (said(from.as_ref()), said(to.as_ref()));
        Change { row: self.row, by: self.by.clone(), outcome, what, of, from, to, is_less }
    }
}

/// What a member is called by people.
struct Named {
    outcome: Option<String>,
    of: String,
    what: String,
}

fn named(path: &[Step], task: &Json) -> Named {
    let rest = |steps: &[Step]| {
        let step = |one: &Step| match one {
            Step::Name(name) => name.clone(),
            Step::At(at) => (at + 1).to_string(),
        };
        steps.iter().map(step).collect::<Vec<_>>().join(".")
    };
    let outcomes: Vec<Outcome<'_>> = Task(task).outcomes().collect();
    let whole = || Named { outcome: None, of: "the task".to_string(), what: rest(path) };
    let [Step::Name(first), Step::At(at), under @ ..] = path else { return whole() };
    let Some(outcome) = outcomes.get(*at).filter(|_| first == "outcomes") else { return whole() };
    let id = Some(outcome.id().to_string());
    match under {
        [Step::Name(name), Step::At(at), member @ ..] if name == "criteria" => {
            let criterion = outcome.criteria().nth(*at);
            let of = criterion.map_or_else(|| outcome.statement(), |one| one.text());
            let (of, what) = (format!("“{of}”"), rest(member));
            Named { outcome: id, of, what: if what.is_empty() { "criterion".to_string() } else { what } }
        }
        under => Named { outcome: id, of: format!("“{}”", outcome.statement()), what: rest(under) },
    }
}

/// What holds where a task says nothing.
fn default(path: &[Step]) -> Option<Json> {
    match path {
        [Step::Name(_), Step::At(_), Step::Name(name)] => match name.as_str() {
            "threshold" => Some(decimal("0.7")),
            "required" => Some(Json::Bool(true)),
            _other => None,
        },
        [Step::Name(_), Step::At(_), Step::Name(_), Step::At(_), Step::Name(name)] => match name.as_str() {
            "threshold" => Some(decimal("0.5")),
            "weight" => Some(decimal("1")),
            "required" => Some(Json::Bool(false)),
            "priority" => Some("should_have".into()),
            _other => None,
        },
        _elsewhere => None,
    }
}

/// A value as people write it.
pub(super) fn said(value: Option<&Json>) -> String {
    match value {
        None | Some(Json::Null) => "nothing".to_string(),
        Some(Json::Bool(true)) => "yes".to_string(),
        Some(Json::Bool(false)) => "no".to_string(),
        Some(Json::String(text)) => format!("“{text}”"),
        Some(other) => {
            let bytes = canonical::to_bytes(other).ok();
            bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
        }
    }
}

/// That something was changed, in one sentence; nothing where nothing was.
pub(super) fn told(changes: &[Change]) -> Option<String> {
    let people: BTreeSet<&str> = changes.iter().map(|one| one.by.as_str()).collect();
    let people: Vec<&str> = people.into_iter().collect();
    let less = changes.iter().filter(|one| one.is_less).count();
    let many = match changes.len() {
        0 => return None,
        1 => "one change".to_string(),
        many => format!("{many} changes"),
    };
    let less = match less {
        0 => String::new(),
        less => format!(", {less} of which ask for less than the task did"),
    };
    Some(format!("what was asked was changed by {}: {many}{less}", people.join(", ")))
}

impl Change {
    /// It in words; texts in it may be cut.
    #[must_use]
    pub fn words(&self, cut: impl Fn(&str) -> String) -> String {
        let Change { what, of, from, to, .. } = self;
        let (of, from, to) = (cut(of), cut(from), cut(to));
        match self.of == self.from {
            true => format!("the words {from} became {to}"),
            false => format!("{what} of {of} from {from} to {to}"),
        }
    }
}
