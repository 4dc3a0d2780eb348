//! One fault in a log: all that there are, by class.
//! Owns: where a fault can be made and what it changes. Must not: know what would find it.

use super::shape::{is_required, words};
use countersign_govern::derive::text;
use countersign_govern::kind;
use countersign_govern::reference::{Reference, snake};
use countersign_govern::types;
use countersign_govern::world::{self, Draft};
use countersign_record::json::{Json, Number, Object};
use countersign_record::time::{Instant, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Class {
    /// A row is taken out.
    DeleteRow,
    /// A reference, or an id that names another record, names one that is not there.
    BreakReference,
    /// An entry of a list of references is taken out.
    DropReference,
    /// A state, a status, a verdict, a route or a decision is another word of its set. Not in a policy: what it says is
    /// somebody's choice, by which others are measured.
    FlipStatus,
    /// A time is an hour earlier, in a record that names something before it; the end of something is a year earlier. When
    /// something that rests on nothing was made, nothing else in the log tells.
    Backdate,
    /// Something is of another matter.
    LeakMatter,
    /// Something is less tainted, less private or not privileged, and something that it names or that names it says so too.
    LaunderTaint,
    /// A hash is another one: of something that the log holds, or one that it tells elsewhere too. What a hash of something
    /// outside should be, nobody can see in the log.
    ForgeHash,
    /// A number is another one: in a record that a formula's receipt is about, or as a place or a number in a row. What was
    /// measured, judged or chosen has nothing in the log beside it, and a policy is somebody's choice.
    ForgeNumber,
    /// A row stands before one that it names.
    Reorder,
    /// A member is left out: one that its type asks for, or one that names a row, tells a status or has a hash that the log fixes. That
    /// anything else is not there is as good as that it is; and a policy may say less.
    DropMember,
    /// What is so is not, or the other way round: in a receipt, or in a record that a formula's receipt is about. What was measured,
    /// judged or chosen has nothing in the log beside it, and to be more careful with something than it must be is no fault.
    FlipTruth,
    /// A row of a kind that has no versions is written once more behind all others, under the same id, and says something else.
    RewriteRow,
}

/// A fault.
pub(in super::super) struct Fault {
    pub(in super::super) class: Class,
    row: usize,
    path: Vec<Step>,
    change: Change,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Member(String),
    Item(usize),
}

enum Change {
    Delete,
    Before(usize),
    Set(Json),
    Remove,
    /// The record once more, so changed.
    Again(Json),
}

impl Fault {
    /// The log with it.
    pub(in super::super) fn apply(&self, rows: &[Draft]) -> Vec<Draft> {
        let mut rows = self.apply_to(rows.to_vec());
        match &self.change {
            Change::Delete | Change::Before(_) => {}
            Change::Again(record) => {
                let row = rows[self.row].clone();
                if let Some(last) = rows.last_mut() {
                    *last = Draft { record: record.clone(), at: last.at, ..row };
                }
            }
            Change::Set(value) => {
                rows[self.row].record = put(&rows[self.row].record, &self.path, Some(value))
            }
            Change::Remove => rows[self.row].record = put(&rows[self.row].record, &self.path, None),
        }
        rows
    }

    /// What stands beside the rows, where it leaves or moves one: what is moved goes by the row that it is put before.
    pub(in super::super) fn apply_to<T: Clone>(&self, mut beside: Vec<T>) -> Vec<T> {
        match self.change {
            Change::Again(_) => beside.extend(beside.last().cloned()),
            Change::Delete => drop(beside.remove(self.row)),
            Change::Before(other) => {
                let row = beside.remove(self.row);
                beside.insert(other, row);
            }
            Change::Set(_) | Change::Remove => {}
        }
        beside
    }

    /// Whether every row stays where it was.
    pub(in super::super) fn keeps_places(&self) -> bool {
        match self.change {
            Change::Delete | Change::Before(_) | Change::Again(_) => false,
            Change::Set(_) | Change::Remove => true,
        }
    }

    /// What it is, whatever row it is in: the class, the type, the place without numbers, and the new word of a status.
    pub(in super::super) fn told(&self, rows: &[Draft]) -> String {
        let steps = self.path.iter().map(|step| match step {
            Step::Member(name) => format!(".{name}"),
            Step::Item(_) => "[]".to_owned(),
        });
        let place: String = steps.collect();
        let word = match (&self.change, self.class) {
            (Change::Set(Json::String(word)), Class::FlipStatus) => format!(" to {word}"),
            (Change::Before(other), _any) => format!(" before {}", rows[*other].kind),
            (Change::Set(_) | Change::Delete | Change::Remove | Change::Again(_), _any) => String::new(),
        };
        format!("{:?} {}{place}{word}", self.class, rows[self.row].kind)
    }
}

fn put(value: &Json, path: &[Step], new: Option<&Json>) -> Json {
    let Some((first, rest)) = path.split_first() else { return new.cloned().unwrap_or(Json::Null) };
    match (value, first) {
        (Json::Object(members), Step::Member(name)) => {
            let mut changed = Object::new();
            for (own, value) in members.iter() {
                if own != name {
                    changed.insert(own, value.clone());
                } else if !rest.is_empty() || new.is_some() {
                    changed.insert(own, put(value, rest, new));
                }
            }
            Json::Object(changed)
        }
        (Json::Array(items), Step::Item(at)) => {
            let items = items.iter().enumerate().filter_map(|(own, item)| match own == *at {
                false => Some(item.clone()),
                true if rest.is_empty() && new.is_none() => None,
                true => Some(put(item, rest, new)),
            });
            Json::Array(items.collect())
        }
        (other, _step) => other.clone(),
    }
}

/// Every fault of every class.
pub(in super::super) fn all(rows: &[Draft]) -> Vec<Fault> {
    let mut found = Vec::new();
    let ids: BTreeSet<&str> = rows.iter().filter_map(own_id).collect();
    let named = rows.iter().filter_map(|row| Some((snake(&row.kind), own_id(row)?.to_owned())));
    let (named, fixed) = (named.collect(), fixed_hashes(rows));
    let outputs = rows.iter().filter_map(|row| Reference::read(row.record.get("output_ref")?.as_str()?));
    let computed: BTreeSet<Vec<String>> =
        outputs.map(|one| vec![one.kind.to_owned(), one.id.to_owned()]).collect();
    let mut before: BTreeSet<&str> = BTreeSet::new();
    let classed = classed(rows);
    for (row, draft) in rows.iter().enumerate() {
        found.push(Fault { class: Class::DeleteRow, row, path: Vec::new(), change: Change::Delete });
        let last = rows[..row].iter().rposition(|other| names(&draft.record, other));
        if let Some(other) = last {
            found.push(Fault { class: Class::Reorder, row, path: Vec::new(), change: Change::Before(other) });
        }
        let mut own = vec![snake(&draft.kind)];
        own.extend(own_id(draft).map(str::to_owned));
        let is_computed = computed.contains(&own) || draft.record.get("formula_eval_receipt_ref").is_some();
        let names_something = last.is_some() || holds_id(&draft.record, &before, own_id(draft));
        before.extend(own_id(draft));
        let is_policy = kind::find(&draft.kind).is_some_and(|kind| kind.class == kind::Class::Policy);
        if let Some(record) = again(draft) {
            let change = Change::Again(record);
            found.push(Fault { class: Class::RewriteRow, row, path: Vec::new(), change });
        }
        let mut seen = Seen {
            found: &mut found,
            ids: &ids,
            named: &named,
            fixed: &fixed,
            is_policy,
            is_computed,
            names_something,
            is_classed: classed[row],
            row,
            draft,
        };
        walk(&draft.record, &mut Vec::new(), &mut seen);
    }
    found
}

fn own_id(draft: &Draft) -> Option<&str> {
    let field = kind::find(&draft.kind).and_then(|kind| kind.id);
    draft.id.as_deref().or_else(|| field.and_then(|field| draft.record.get(field)).and_then(Json::as_str))
}

/// A record that has no versions, saying something else: its last member that is a plain word or number, but for its id.
fn again(draft: &Draft) -> Option<Json> {
    let kind = kind::find(&draft.kind)?;
    let has_versions = match kind.class {
        kind::Class::Event | kind::Class::Receipt | kind::Class::Request => false,
        kind::Class::Projection | kind::Class::Policy | kind::Class::ReadModel | kind::Class::Value => true,
    };
    let field = kind.id.filter(|_| !has_versions)?;
    let other = |(name, value): (&str, &Json)| {
        let other = match value {
            Json::String(text) => Json::from(format!("{text}-again")),
            Json::Number(number) => Json::Number(Number::try_from(number.as_f64() + 1.0).ok()?),
            Json::Bool(is_so) => Json::Bool(!is_so),
            Json::Null | Json::Array(_) | Json::Object(_) => return None,
        };
        let path = [Step::Member(name.to_owned())];
        let changed = put(&draft.record, &path, Some(&other));
        // What it says is still what its type lets it say.
        let is_of_form = types::find(&draft.kind)?.troubles(&changed).is_empty();
        (name != field && is_of_form).then_some(changed)
    };
    draft.record.as_object()?.iter().filter_map(other).last()
}

/// Whether a record names another one by a reference.
fn names(value: &Json, other: &Draft) -> bool {
    match value {
        Json::String(text) => Reference::read(text)
            .is_some_and(|found| Some(found.id) == own_id(other) && found.kind == snake(&other.kind)),
        Json::Array(items) => items.iter().any(|item| names(item, other)),
        Json::Object(members) => members.iter().any(|(_, value)| names(value, other)),
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    }
}

struct Seen<'s> {
    found: &'s mut Vec<Fault>,
    ids: &'s BTreeSet<&'s str>,
    /// The kinds and ids of all rows.
    named: &'s BTreeSet<(String, String)>,
    /// The hashes that the log fixes.
    fixed: &'s BTreeSet<String>,
    is_policy: bool,
    /// Whether a formula's receipt is about the record.
    is_computed: bool,
    /// Whether the record names one before it.
    names_something: bool,
    /// Whether something beside it says too how secret it is.
    is_classed: bool,
    row: usize,
    draft: &'s Draft,
}

impl Seen<'_> {
    /// Whether a reference names a row.
    fn names(&self, found: &Reference<'_>) -> bool {
        let kind = if found.kind == "src" { "source_record" } else { found.kind };
        self.named.contains(&(kind.to_owned(), found.id.to_owned()))
    }

    fn set(&mut self, class: Class, path: &[Step], value: impl Into<Json>) {
        let change = Change::Set(value.into());
        self.found.push(Fault { class, row: self.row, path: path.to_vec(), change });
    }
}

fn walk(value: &Json, path: &mut Vec<Step>, seen: &mut Seen<'_>) {
    match value {
        Json::String(text) => texts(text, path, seen),
        Json::Number(_) if seen.is_policy || !(seen.is_computed || is_ordinal(member(path))) => {}
        Json::Number(number) => {
            let other = number.as_f64() + if number.as_i64().is_some() { 1.0 } else { 0.125 };
            if let Ok(other) = Number::try_from(other) {
                seen.set(Class::ForgeNumber, path, Json::Number(other));
            }
        }
        Json::Bool(is_so) => {
            if *is_so && member(path) == "privileged" && seen.is_classed {
                seen.set(Class::LaunderTaint, path, Json::Bool(false));
            }
            let is_receipt =
                kind::find(&seen.draft.kind).is_some_and(|one| one.class == kind::Class::Receipt);
            let is_careful = !is_so && ["privileged", "redaction_required"].contains(&member(path));
            if (is_receipt || seen.is_computed && !seen.is_policy) && !is_careful {
                seen.set(Class::FlipTruth, path, Json::Bool(!is_so));
            }
        }
        Json::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                path.push(Step::Item(at));
                walk(item, path, seen);
                path.pop();
            }
        }
        Json::Object(members) => {
            for (name, value) in members.iter() {
                path.push(Step::Member(name.to_owned()));
                if !seen.is_policy && (is_required(&seen.draft.kind, path) || is_told(value, path, seen)) {
                    let (row, path) = (seen.row, path.clone());
                    seen.found.push(Fault { class: Class::DropMember, row, path, change: Change::Remove });
                }
                walk(value, path, seen);
                path.pop();
            }
        }
        Json::Null => {}
    }
}

/// Whether a member names a row, tells a status or has a hash that the log fixes.
fn is_told(value: &Json, path: &[Step], seen: &Seen<'_>) -> bool {
    let Json::String(text) = value else { return false };
    let name = member(path);
    let is_status = STATUSES.iter().any(|end| name.ends_with(end));
    let is_id = name.ends_with("_id") && seen.ids.contains(text.as_str());
    is_status
        || is_id
        || seen.fixed.contains(text.as_str())
        || Reference::read(text).is_some_and(|one| seen.names(&one))
}

/// The name of the member that a place is in.
fn member(path: &[Step]) -> &str {
    let named = path.iter().rev().find_map(|step| match step {
        Step::Member(name) => Some(name.as_str()),
        Step::Item(_) => None,
    });
    named.unwrap_or_default()
}

const TAINTS: [&str; 5] = [
    "internal_corpus_trusted",
    "user_trusted_bounded",
    "external_authority_trusted",
    "external_untrusted",
    "unclassified",
];
const CLASSES: [&str; 4] = ["public", "internal", "privileged", "local_only"];
const STATUSES: [&str; 8] =
    ["state", "status", "verdict", "route", "decision", "disposition", "resolution", "outcome"];

fn texts(text: &str, path: &[Step], seen: &mut Seen<'_>) {
    let name = member(path).to_owned();
    if let Some(found) = Reference::read(text).filter(|found| seen.names(found)) {
        let broken = Reference { id: "nobody", hash: None, ..found }.to_string();
        seen.set(Class::BreakReference, path, broken);
        if matches!(path.last(), Some(Step::Item(_))) {
            seen.found.push(Fault {
                class: Class::DropReference,
                row: seen.row,
                path: path.to_vec(),
                change: Change::Remove,
            });
        }
    } else if name.ends_with("_id") && seen.ids.contains(text) && own_id(seen.draft) != Some(text) {
        seen.set(Class::BreakReference, path, "nobody");
    }
    let is_end = ["until", "expires_at", "timeout_at", "end"].iter().any(|end| name.ends_with(end));
    if let Some(instant) = Instant::read(text).filter(|_| seen.names_something || is_end) {
        let seconds = if is_end { 365 * 86_400 } else { 3_600 };
        let earlier = Instant { seconds: instant.seconds - seconds, ..instant };
        if let Ok(time) = Timestamp::try_from(earlier) {
            seen.set(Class::Backdate, path, time.to_string());
        }
    }
    if name == "matter_id" {
        seen.set(Class::LeakMatter, path, "another-matter");
    }
    for (order, at) in [(&TAINTS[..], "taint_class"), (&CLASSES[..], "data_class")] {
        let place =
            order.iter().position(|word| *word == text).filter(|_| name.ends_with(at) && seen.is_classed);
        if let Some(lower) = place.and_then(|place| place.checked_sub(1)) {
            seen.set(Class::LaunderTaint, path, order[lower]);
        }
    }
    if is_hash(text) && (seen.fixed.contains(text) || name.ends_with("manifest_hash")) {
        let other = if text.starts_with('0') { "1" } else { "0" };
        seen.set(Class::ForgeHash, path, format!("{other}{}", &text[1..]));
    }
    if !seen.is_policy && STATUSES.iter().any(|end| name.ends_with(end)) {
        for word in words(&seen.draft.kind, path).into_iter().filter(|word| word != text) {
            seen.set(Class::FlipStatus, path, word);
        }
    }
}

/// Whether a member says which one in a row something is, or where in the log.
fn is_ordinal(name: &str) -> bool {
    ["seq", "order", "tick", "tier"].iter().any(|end| name.ends_with(end))
}

/// Which rows say how tainted or secret they are, and name or are named by one that says so too; what is made and what it is
/// made of name each other through the derivation.
fn classed(rows: &[Draft]) -> Vec<bool> {
    let mut at: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, row) in rows.iter().enumerate() {
        at.entry(own_id(row).unwrap_or_default()).or_default().push(place);
    }
    let says = |row: &Draft| {
        let own = |record: &Json| {
            ["taint_class", "data_class", "privileged"].iter().any(|name| record.get(name).is_some())
        };
        own(&row.record) || row.record.get("governance").is_some_and(own)
    };
    let mut classed = vec![false; rows.len()];
    for (place, row) in rows.iter().enumerate() {
        let mut texts = Vec::new();
        mentioned(&row.record, &mut texts);
        let named = texts.iter().filter_map(|id| at.get(id)).flatten().copied();
        let named: Vec<usize> = named.filter(|other| *other != place && says(&rows[*other])).collect();
        let is_edge = row.kind == "DerivationEdge" && named.len() > 1;
        if !named.is_empty() && (says(row) || is_edge) {
            named.iter().for_each(|other| classed[*other] = true);
            classed[place] = says(row);
        }
    }
    classed
}

/// The ids that a record may name.
fn mentioned<'j>(value: &'j Json, ids: &mut Vec<&'j str>) {
    match value {
        Json::String(text) => ids.push(Reference::read(text).map_or(text, |found| found.id)),
        Json::Array(items) => items.iter().for_each(|item| mentioned(item, ids)),
        Json::Object(members) => members.iter().for_each(|(_, one)| mentioned(one, ids)),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// Whether a record holds the id of one of these.
fn holds_id(value: &Json, ids: &BTreeSet<&str>, own: Option<&str>) -> bool {
    match value {
        Json::String(text) => own != Some(text) && ids.contains(text.as_str()),
        Json::Array(items) => items.iter().any(|item| holds_id(item, ids, own)),
        Json::Object(members) => members.iter().any(|(_, one)| holds_id(one, ids, own)),
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    }
}

fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The hashes that a log fixes: of everything that stands in it, and those that two members or types tell.
fn fixed_hashes(rows: &[Draft]) -> BTreeSet<String> {
    let (mut fixed, mut told) = (BTreeSet::new(), BTreeMap::new());
    for row in rows {
        gather(&row.record, &row.kind, "", &mut fixed, &mut told);
    }
    let told: BTreeMap<String, BTreeSet<(String, String)>> = told;
    fixed.extend(told.into_iter().filter(|(_, places)| places.len() > 1).map(|(hash, _)| hash));
    fixed
}

fn gather(
    value: &Json,
    kind: &str,
    member: &str,
    fixed: &mut BTreeSet<String>,
    told: &mut BTreeMap<String, BTreeSet<(String, String)>>,
) {
    fixed.extend(world::hash(value).map(String::from));
    match value {
        Json::String(text) if is_hash(text) => {
            told.entry(text.clone()).or_default().insert((kind.to_owned(), member.to_owned()));
        }
        Json::String(text) => drop(fixed.insert(String::from(text::hash(text)))),
        Json::Array(items) => items.iter().for_each(|item| gather(item, kind, member, fixed, told)),
        Json::Object(members) => {
            for (name, one) in members.iter() {
                gather(one, kind, name, fixed, told);
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}
