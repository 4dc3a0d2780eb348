//! How long a read model is valid: until something happens that it depends on.
//! Owns: matching rows with headers as they come. Must not: know which row makes what out of date; that is a table.

use super::life::{read, record_of};
use super::place::{OWNERS, Owner, Place, STEP, WORKED, WORKSPACE, steps};
use super::row::{Row, number};
use super::{Fold, NotASnapshot, Projection};
use crate::member::{Member, every_text};
use crate::reference::{Reference, snake};
use crate::table::invalidation::{self, ReadModel, Scope};
use crate::types::read_models::DerivedReadModelRecord;
use crate::types::wire::{Wire, record};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::json::{Json, Object};

record! {
    /// A header: what it says, where it meets rows, and how it ended.
    Header: value {
        body: Json,
        from: u64,
        meets: Vec<String>,
        until: Option<u64>,
        by: Option<String>,
    }
}

record! {
    /// Something that happened: where in the log, and its reference.
    Happened: value {
        seq: u64,
        event: String,
    }
}

record! {
    /// Something that counts once another row is there.
    Waiting: value {
        event: String,
        meets: Vec<String>,
    }
}

record! {
    /// What is known of a row: where it belongs, and what it cites if that matters.
    Known: value {
        place: Place,
        cites: Vec<String>,
    }
}

/// The headers of read models. Where a row and a header meet is a text: the read model, then a run, a task, a matter or a
/// reference.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Headers {
    headers: BTreeMap<String, Header>,
    /// The open headers at each meeting place; made from the headers.
    open: BTreeMap<String, BTreeSet<String>>,
    /// What happened at each meeting place, in order.
    happened: BTreeMap<String, Vec<Happened>>,
    /// What waits for a row, by that row's reference.
    waiting: BTreeMap<String, Vec<Waiting>>,
    /// What is known of rows, by their references.
    known: BTreeMap<String, Known>,
    /// The specs that rows give for a kind, in place of the built-in ones.
    specs: BTreeMap<String, Vec<Json>>,
}

const HEADER: &str = "DerivedReadModelRecord";

impl Fold for Headers {
    fn apply(&mut self, row: &Row<'_>) {
        self.follow(row);
    }

    fn freeze(&self) -> Json {
        let parts = [
            ("headers", self.headers.write()),
            ("happened", self.happened.write()),
            ("waiting", self.waiting.write()),
            ("known", self.known.write()),
            ("specs", self.specs.write()),
        ];
        let parts = parts.into_iter().map(|(name, part)| (name, part.unwrap_or(Json::Null)));
        Json::Object(parts.collect())
    }

    fn thaw(snapshot: &Json) -> Result<Self, NotASnapshot> {
        let mut all = Headers {
            headers: read(snapshot, "headers")?,
            open: BTreeMap::new(),
            happened: read(snapshot, "happened")?,
            waiting: read(snapshot, "waiting")?,
            known: read(snapshot, "known")?,
            specs: read(snapshot, "specs")?,
        };
        for (id, header) in all.headers.iter().filter(|(_, header)| header.until.is_none()) {
            for meet in &header.meets {
                all.open.entry(meet.clone()).or_default().insert(id.clone());
            }
        }
        Ok(all)
    }

    fn projections(&self, all: &mut Vec<Projection>) {
        for (id, header) in &self.headers {
            let Json::Object(mut members) = header.body.clone() else { continue };
            if let Some((until, by)) = header.until.zip(header.by.as_ref()) {
                members.insert("valid_until_event_seq", number(until));
                members.insert("invalidated_by_event_ref", by.as_str());
            }
            if let Some(record) = record_of::<DerivedReadModelRecord>(members) {
                all.push(Projection { kind: HEADER, id: id.clone(), record });
            }
        }
    }
}

impl Headers {
    /// Takes in a row; gives the headers that it ended, so that who follows a long log need not ask for each.
    pub fn follow(&mut self, row: &Row<'_>) -> BTreeSet<String> {
        let (reference, place) = (row.reference(), self.place(row));
        let mut ended = BTreeSet::new();
        match row.kind {
            "ReadModelInvalidationSpec" => {
                if let Some(kind) = row.json.text("producer_event_kind") {
                    self.specs.entry(kind.to_string()).or_default().push(row.json.clone());
                }
            }
            HEADER => self.header(row, &place, &mut ended),
            _other => {}
        }
        self.event(row, &reference, &place, &mut ended);
        self.shown(row, &place, &mut ended);
        self.learn(row, reference, place);
        ended
    }

    /// Until where a header is valid, and what ended that; `None` while it is.
    #[must_use]
    pub fn ended(&self, id: &str) -> Option<(u64, &str)> {
        let header = self.headers.get(id)?;
        header.until.zip(header.by.as_deref())
    }

    /// Whether there is such a header.
    #[must_use]
    pub fn knows(&self, id: &str) -> bool {
        self.headers.contains_key(id)
    }

    /// Where a row belongs: what it says itself, then what is known of that which it belongs to.
    fn place(&self, row: &Row<'_>) -> Place {
        let mut place = Place::said_by(row);
        let owner = OWNERS.iter().find(|(kind, _, _)| *kind == row.kind);
        let owner = owner.and_then(|(_, member, owner)| {
            Some(match owner {
                Owner::Of(kind) => key(&snake(kind), row.json.text(member)?),
                Owner::Ref => {
                    let to = row.json.reference(member)?;
                    key(if STEP.contains(&to.kind) { STEP[0] } else { to.kind }, to.id)
                }
                Owner::Finding => key("finding", row.json.text(member)?),
            })
        });
        if let Some(known) = owner.and_then(|owner| self.known.get(&owner)) {
            place.fill(&known.place);
        }
        place
    }

    /// Remembers where a row belongs, and what a manifest cites.
    fn learn(&mut self, row: &Row<'_>, reference: String, place: Place) {
        let is_manifest = matches!(row.kind, "ReadModelInputManifest" | "RelianceInputManifest");
        let cites = if is_manifest { cited(row.json) } else { Vec::new() };
        if let Some(finding) = row.json.id_at("finding_id").filter(|_| row.kind == "EvaluationFindingEvent") {
            self.known.insert(key("finding", finding), Known { place: place.clone(), cites: Vec::new() });
        }
        // How a workspace stands is folded and need not be a row: it belongs where what was done in it does.
        if let Some(workspace) = row.json.id_at("workspace_id").filter(|_| row.kind == WORKED) {
            let known = Known { place: place.clone(), cites: Vec::new() };
            self.known.entry(key(&snake(WORKSPACE), workspace)).or_insert(known);
        }
        for step in steps(row.json).filter(|_| row.kind == "RevisionPlan") {
            self.known.insert(key(STEP[0], step), Known { place: place.clone(), cites: Vec::new() });
        }
        if !place.is_nowhere() || !cites.is_empty() {
            self.known.insert(reference, Known { place, cites });
        }
    }

    /// A header opens, or is derived anew. What happened since the place that it is valid from ends it at once.
    fn header(&mut self, row: &Row<'_>, place: &Place, ended: &mut BTreeSet<String>) {
        let json = row.json;
        let model = json.text("read_model_kind").and_then(ReadModel::find);
        let (Some(model), Some(from)) = (model, row.place("valid_from_event_seq")) else { return };
        if self.headers.get(row.id).is_some_and(|before| from <= before.from) {
            return;
        }
        self.close(row.id);
        let mut body = json.clone();
        if let Json::Object(members) = &mut body {
            members.remove("valid_until_event_seq");
            members.remove("invalidated_by_event_ref");
        }
        let mut place = place.clone();
        let mut cites = cited(json);
        cites.push(row.reference());
        for member in ["payload_ref", "input_manifest_ref"] {
            let Some(to) = json.reference(member).map(|to| key(to.kind, to.id)) else { continue };
            if let Some(known) = self.known.get(&to) {
                place.fill(&known.place);
                cites.extend(known.cites.iter().cloned());
            }
        }
        let header = Header { body, from, meets: Vec::new(), until: None, by: None };
        self.headers.insert(row.id.to_string(), header);
        self.meet(row.id, meets(model, row, &place, &cites), ended);
    }

    /// What is shown under a header says more of where that belongs.
    fn shown(&mut self, row: &Row<'_>, place: &Place, ended: &mut BTreeSet<String>) {
        let Some(to) = row.json.reference("derived_read_model_ref") else { return };
        let header = self.headers.get(to.id).filter(|header| header.until.is_none());
        let model = header.and_then(|header| header.body.text("read_model_kind")).and_then(ReadModel::find);
        if let Some(model) = model {
            self.meet(to.id, meets(model, row, place, &[row.reference()]), ended);
        }
    }

    /// A header meets rows there.
    fn meet(&mut self, id: &str, meets: Vec<String>, ended: &mut BTreeSet<String>) {
        let Some(header) = self.headers.get_mut(id) else { return };
        let from = header.from;
        let after = |meet: &String| {
            let all = self.happened.get(meet)?;
            all.get(all.partition_point(|one| one.seq <= from))
        };
        let first = meets.iter().filter_map(after).min_by_key(|one| one.seq).cloned();
        for meet in &meets {
            self.open.entry(meet.clone()).or_default().insert(id.to_string());
        }
        header.meets.extend(meets);
        if let Some(first) = first {
            self.end(id, &first);
            ended.insert(id.to_string());
        }
    }

    /// A header is no longer valid.
    fn end(&mut self, id: &str, by: &Happened) {
        self.close(id);
        if let Some(header) = self.headers.get_mut(id) {
            header.until = Some(by.seq);
            header.by = Some(by.event.clone());
        }
    }

    /// A header meets nothing any more.
    fn close(&mut self, id: &str) {
        for meet in self.headers.get(id).into_iter().flat_map(|header| &header.meets) {
            if let Some(ids) = self.open.get_mut(meet) {
                ids.remove(id);
            }
        }
    }

    /// A row ends what depends on it.
    fn event(&mut self, row: &Row<'_>, reference: &str, place: &Place, ended: &mut BTreeSet<String>) {
        for waiting in self.waiting.remove(reference).unwrap_or_default() {
            self.happen(Happened { seq: row.seq, event: waiting.event }, &waiting.meets, ended);
        }
        let mut meets = Vec::new();
        for (model, scope, targets) in self.reached(row) {
            meets.extend(
                keys(scope, row, reference, place, &targets).into_iter().map(|key| meet(model, &key)),
            );
        }
        if meets.is_empty() {
            return;
        }
        // A decision is superseded when the one that supersedes it is there.
        let by = row.json.text("superseded_by").map(|by| Reference::read(by).map_or(by, |by| by.id));
        let by = by.map(|by| key(&snake(row.kind), by)).filter(|by| !self.known.contains_key(by));
        match by {
            Some(by) => {
                let waiting = Waiting { event: reference.to_string(), meets };
                self.waiting.entry(by).or_default().push(waiting);
            }
            None => self.happen(Happened { seq: row.seq, event: reference.to_string() }, &meets, ended),
        }
    }

    fn happen(&mut self, event: Happened, meets: &[String], all: &mut BTreeSet<String>) {
        let mut ended = BTreeSet::new();
        for meet in meets {
            self.happened.entry(meet.clone()).or_default().push(event.clone());
            let open = self.open.get(meet).into_iter().flatten();
            let is_after = |id: &&String| self.headers.get(*id).is_some_and(|one| one.from < event.seq);
            ended.extend(open.filter(is_after).cloned());
        }
        for id in ended {
            self.end(&id, &event);
            all.insert(id);
        }
    }

    /// Which read models a row reaches, how far, and through which references: by the specs of rows, or else by ours.
    fn reached(&self, row: &Row<'_>) -> Vec<(ReadModel, Scope, Vec<String>)> {
        let Some(built_in) = invalidation::invalidated_by(row.kind, row.json) else { return Vec::new() };
        let Some(specs) = self.specs.get(row.kind) else {
            return built_in.iter().map(|(model, scope)| (*model, *scope, Vec::new())).collect();
        };
        let mut reached = Vec::new();
        for spec in specs {
            let Some(scope) = spec.text("invalidation_scope").and_then(Scope::find) else { continue };
            let targets = spec.references("target_refs").into_iter().map(|to| key(to.kind, to.id));
            let targets: Vec<String> = targets.collect();
            for model in spec.texts("invalidates_read_models").into_iter().filter_map(ReadModel::find) {
                reached.push((model, scope, targets.clone()));
            }
        }
        reached
    }
}

fn key(kind: &str, id: &str) -> String {
    format!("{kind}:{id}")
}

fn meet(model: ReadModel, key: &str) -> String {
    format!("{} {key}", model.as_str())
}

/// All references in a value.
fn cited(value: &Json) -> Vec<String> {
    let mut texts = Vec::new();
    every_text(value, &mut texts);
    texts.into_iter().filter_map(Reference::read).map(|to| key(to.kind, to.id)).collect()
}

/// Where a row reaches to, in one scope.
fn keys(scope: Scope, row: &Row<'_>, reference: &str, place: &Place, targets: &[String]) -> Vec<String> {
    match scope {
        Scope::SameRun => place.runs.iter().map(|run| format!("in run {run}")).collect(),
        Scope::SameTask => {
            let task = place.task.iter();
            task.flat_map(|task| [format!("in task {task}"), within(task, row.stream())]).collect()
        }
        Scope::SameMatter => matter(place),
        Scope::SpecificRefs if targets.is_empty() => {
            let members = row.json.as_object().into_iter().flat_map(Object::iter);
            let named = members.filter_map(|(_, value)| value.as_str().and_then(Reference::read));
            named.map(|to| key(to.kind, to.id)).chain([reference.to_string()]).collect()
        }
        Scope::SpecificRefs => targets.to_vec(),
    }
}

/// A matter, or the runs outside of all matters.
fn matter(place: &Place) -> Vec<String> {
    match &place.matter {
        Some(matter) => [format!("in matter {matter}")].into(),
        None => place.runs.iter().map(|run| format!("outside of matters in run {run}")).collect(),
    }
}

/// A task, in one run of it that counts for itself; or outside of those.
fn within(task: &str, stream: Option<usize>) -> String {
    match stream {
        Some(stream) => format!("in task {task} within {stream}"),
        None => format!("in task {task} within none"),
    }
}

/// Where a header meets rows: in its runs, task and matter, and by what it cites. One in a run that counts for itself is not moved by
/// other runs of its task, such as one that was forked from it.
fn meets(model: ReadModel, row: &Row<'_>, place: &Place, cites: &[String]) -> Vec<String> {
    let runs = place.runs.iter().map(|run| format!("in run {run}"));
    let task = place.task.iter().flat_map(|task| match row.stream() {
        Some(stream) => Vec::from([within(task, Some(stream)), within(task, None)]),
        None => Vec::from([format!("in task {task}")]),
    });
    let all: BTreeSet<String> = runs.chain(task).chain(matter(place)).chain(cites.iter().cloned()).collect();
    all.iter().map(|key| meet(model, key)).collect()
}
