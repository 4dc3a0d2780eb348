//! A forger with a key of their own: members of a packet's records are changed, everything is chained and signed anew.
//! Owns: which changes there are, making the forged file, telling what was not found. Must not: know how a packet is verified.

mod members;

use countersign_govern::kind::Number;
use countersign_govern::types;
use countersign_record::canonical;
use countersign_record::chain::{Anchor, Head};
use countersign_record::digest::Digest;
use countersign_record::json::{Json, Number as Digits, Object};
use countersign_record::row::{PackedBlobs, Row};
use countersign_record::sign::{PublicKey, Signature};
use countersign_record::time::{Instant, Timestamp};
use countersign_verify::dsse::{Envelope, Signed, signed_bytes};
use countersign_verify::measure::{ALONG, FORMULAS, TOLD};
use countersign_verify::packet::{Entry, Parts, Statement};
use countersign_verify::report::{Outcome, Report};
use countersign_verify::verify;
use ed25519_dalek::{Signer, SigningKey};
use members::INPUTS;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The key of somebody.
#[must_use]
pub fn key(seed: u8) -> SigningKey {
    SigningKey::from_bytes(&[seed; 32])
}

/// Its public half.
#[must_use]
pub fn public(key: &SigningKey) -> PublicKey {
    PublicKey::try_from(key.verifying_key().to_bytes()).unwrap()
}

/// The file of a statement, signed.
#[must_use]
pub fn file(statement: &Statement, signing: &SigningKey) -> Vec<u8> {
    enclosed(statement.to_bytes().unwrap(), signing)
}

/// Some bytes as if they were a statement, signed.
#[must_use]
pub fn enclosed(payload: Vec<u8>, signing: &SigningKey) -> Vec<u8> {
    let signature = Signature::from_bytes(signing.sign(&signed_bytes(&payload)).to_bytes());
    let signatures = vec![Signed { key: public(signing), signature }];
    Envelope { payload, signatures }.to_bytes().unwrap()
}

/// The statement in a file.
#[must_use]
pub fn statement(file: &[u8]) -> Statement {
    let envelope = Envelope::read(file).unwrap_or_else(|error| panic!("{error}"));
    let reading = Statement::read(&envelope.payload).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(reading.spoilt, [], "the file is spoilt");
    reading.statement
}

/// A statement with other rows: each gets its place and its hashes anew, the end is signed with the forger's key, and what is said at
/// the head is what follows.
#[must_use]
pub fn restated(original: &Statement, rows: Vec<Entry>) -> Statement {
    let rows = chained(original, rows);
    let head = rows.last().map(Entry::head).unwrap();
    let signing = key(9);
    let at = original.made_at.clone();
    let anchored = Anchor::statement(&original.matter, head, &at, public(&signing)).unwrap();
    let signature = Signature::from_bytes(signing.sign(&anchored).to_bytes());
    let anchor = Anchor::signed(original.matter.clone(), head, at, public(&signing), signature);
    let mut same = original.clone();
    (same.ledger.head, same.ledger.rows, same.ledger.anchor) = (head, rows.clone(), Some(anchor.clone()));
    let parts = Parts {
        matter: original.matter.clone(),
        run: original.run.clone(),
        made_at: original.made_at.clone(),
        made_by: original.made_by.clone(),
        made_with: original.made_with.clone(),
        task: original.task.clone(),
        files: original.files.clone(),
        rows,
        anchor: Some(anchor),
        blobs: original.blobs.clone(),
    };
    Statement::of(parts).unwrap_or(same)
}

/// The rows one behind the other. Of a row of somebody else only the hash is known, so it stays; so do the rows before the first that
/// was changed, which would get the hashes that they have.
fn chained(statement: &Statement, rows: Vec<Entry>) -> Vec<Entry> {
    let original = &statement.ledger.rows;
    let first = original.first().map(Entry::head).unwrap().seq;
    let same = original.iter().zip(&rows).take_while(|(one, other)| one == other).count();
    let mut streams: BTreeMap<String, u64> = BTreeMap::new();
    let mut before: Option<Digest> = None;
    let mut all = Vec::with_capacity(rows.len());
    for (at, (seq, entry)) in (first..).zip(rows).enumerate() {
        let entry = match entry {
            Entry::Whole(row) if at < same => {
                streams.insert(row.stream.to_string(), row.stream_seq);
                Entry::Whole(row)
            }
            Entry::Withheld(head) => Entry::Withheld(Head { seq, ..head }),
            Entry::Whole(row) => {
                let stream_seq = streams.entry(row.stream.to_string()).or_default();
                *stream_seq += 1;
                let prev_hash = before.unwrap_or(row.prev_hash);
                let row = Row { seq, stream_seq: *stream_seq, prev_hash, ..*row };
                Entry::Whole(Box::new(sealed(statement, row)))
            }
        };
        before = Some(entry.head().hash);
        all.push(entry);
    }
    all
}

fn sealed(statement: &Statement, mut row: Row) -> Row {
    let payload = canonical::to_bytes(&row.payload).unwrap();
    row.payload_hash = Digest::of(&payload);
    let packed = PackedBlobs::pack(row.blobs.iter().copied());
    let packed = PackedBlobs::try_from(packed.as_slice()).unwrap();
    row.hash = row.as_stored(&payload, packed).computed_hash(statement.matter.as_str());
    row
}

/// A way into a value: names of members and places in lists.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Member(String),
    Item(usize),
}

fn pattern(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Member(name) if text.is_empty() => text.push_str(name),
            Step::Member(name) => {
                text.push('.');
                text.push_str(name);
            }
            Step::Item(_) => text.push_str("[]"),
        }
    }
    text
}

/// All leaves of a value, and all lists.
fn places(value: &Json, path: &mut Vec<Step>, all: &mut Vec<Vec<Step>>) {
    match value {
        Json::Object(members) => {
            for (name, member) in members.iter() {
                path.push(Step::Member(name.to_owned()));
                places(member, path, all);
                path.pop();
            }
        }
        Json::Array(items) => {
            all.push(path.clone());
            for (at, item) in items.iter().enumerate() {
                path.push(Step::Item(at));
                places(item, path, all);
                path.pop();
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => all.push(path.clone()),
    }
}

fn at<'j>(value: &'j Json, path: &[Step]) -> &'j Json {
    path.iter().fold(value, |value, step| match step {
        Step::Member(name) => value.get(name).unwrap(),
        Step::Item(at) => &value.as_array().unwrap()[*at],
    })
}

fn with(value: &Json, path: &[Step], new: Json) -> Json {
    match path.split_first() {
        None => new,
        Some((Step::Member(name), rest)) => {
            let mut members = value.as_object().unwrap().clone();
            let inner = with(members.get(name).unwrap(), rest, new);
            members.insert(name.clone(), inner);
            members.into()
        }
        Some((Step::Item(at), rest)) => {
            let mut items = value.as_array().unwrap().to_vec();
            items[*at] = with(&items[*at], rest, new);
            Json::Array(items)
        }
    }
}

/// Members that a record may leave out without anybody missing them yet: the version of its form, where it belongs, what a question
/// is about. The row around it tells where it belongs.
const UNMISSED: [&str; 5] = ["matter_id", "run_id", "schema_version", "source_ref", "task_id"];

/// A record without a member of its own that need not be there.
fn without(kind: &str, record: &Json, path: &[Step]) -> Option<Json> {
    let [Step::Member(name)] = path else { return None };
    let schema = types::find(kind).map(|one| (one.schema)())?;
    let required = schema.get("required").and_then(Json::as_array).unwrap_or_default();
    if required.iter().any(|one| one.as_str() == Some(name)) || UNMISSED.contains(&name.as_str()) {
        return None;
    }
    let members = record.as_object()?.iter().filter(|(member, _)| *member != name.as_str());
    Some(Json::Object(members.map(|(member, value)| (member, value.clone())).collect()))
}

/// The words that a member may have by its schema.
fn words(kind: &str, path: &[Step]) -> Vec<String> {
    fn resolved(schema: Json) -> Json {
        match schema.get("$ref").and_then(Json::as_str) {
            Some(name) => {
                let name = name.trim_end_matches(".json");
                types::find(name).map_or(schema.clone(), |one| (one.schema)())
            }
            None => schema,
        }
    }
    let Some(mut schema) = types::find(kind).map(|one| (one.schema)()) else { return Vec::new() };
    for step in path {
        schema = resolved(schema);
        let next = match step {
            Step::Member(name) => schema.get("properties").and_then(|all| all.get(name)).cloned(),
            Step::Item(_) => schema.get("items").cloned(),
        };
        let Some(next) = next else { return Vec::new() };
        schema = next;
    }
    let schema = resolved(schema);
    let words = schema.get("enum").and_then(Json::as_array).unwrap_or_default();
    words.iter().filter_map(Json::as_str).map(str::to_owned).collect()
}

type Refs = BTreeMap<String, BTreeSet<String>>;

/// Words of one member that are tried.
const WORDS_MAX: usize = 3;
/// By how much a time is moved, to both sides.
const YEAR_SECONDS: i64 = 400 * 24 * 3_600;

/// Other values that could stand there.
fn others(kind: &str, path: &[Step], value: &Json, refs: &Refs) -> Vec<Json> {
    match value {
        Json::Bool(is) => vec![Json::Bool(!is)],
        Json::Number(number) => {
            let other = if number.as_f64() >= 1.0 { "0.5" } else { "1" };
            let whole = number.as_u64().and_then(|count| Digits::try_from(count + 1).ok()).map(Json::Number);
            let fraction = countersign_record::json::parse(other.as_bytes()).unwrap();
            vec![whole.unwrap_or(fraction)]
        }
        Json::String(text) => {
            let words = words(kind, path);
            if !words.is_empty() {
                let others = words.into_iter().filter(|word| word != text);
                return others.take(WORDS_MAX).map(Json::from).collect();
            }
            let is_hash = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
            if is_hash {
                let first = if text.starts_with('0') { "1" } else { "0" };
                return vec![format!("{first}{}", &text[1..]).into()];
            }
            if let Some(time) = Instant::read(text) {
                let moved = |seconds: i64| Instant { seconds: time.seconds + seconds, nanos: time.nanos };
                let both = [moved(YEAR_SECONDS), moved(-YEAR_SECONDS)];
                return both
                    .into_iter()
                    .map(|at| Timestamp::try_from(at).unwrap().to_string().into())
                    .collect();
            }
            let same = text.split_once(':').and_then(|(kind, _)| refs.get(kind));
            let another = same.into_iter().flatten().find(|one| *one != text);
            let changed = format!("{text}x");
            another.into_iter().cloned().chain([changed]).map(Json::from).collect()
        }
        Json::Array(items) => {
            let mut all = Vec::new();
            if let Some((_, rest)) = items.split_first() {
                all.push(Json::Array(rest.to_vec()));
            }
            all
        }
        Json::Null | Json::Object(_) => Vec::new(),
    }
}

/// The kind of a governed row.
fn kind_of(row: &Row) -> Option<&'static str> {
    Number::of_snake(row.kind.as_str().strip_prefix("govern.")?).map(|one| one.kind.name)
}

/// The kinds of records that are in a statement.
#[must_use]
pub fn kinds(statement: &Statement) -> BTreeSet<&'static str> {
    let rows = statement.ledger.rows.iter();
    let kind = |entry: &Entry| match entry {
        Entry::Whole(row) => kind_of(row),
        Entry::Withheld(_) => None,
    };
    rows.filter_map(kind).collect()
}

/// Whether somebody has said which members of a kind are inputs.
#[must_use]
pub fn is_looked_at(kind: &str) -> bool {
    INPUTS.iter().any(|(one, _)| *one == kind)
}

/// Kinds that only runs of the whole program have: their members are changed where those are run.
pub const RARE: [&str; 6] = [
    "PolicyFreshnessRecord",
    "RelianceScopeNote",
    "RunGuidanceCreationEvent",
    "RunGuidanceLifecycleReceipt",
    "TaskRunCostForecast",
    "TieBreakDecision",
];

/// Whether a row is taken as it is told: a measure, or what goes along with the work.
fn is_told(kind: &str, row: &Row) -> bool {
    let of_measure = |member: &str| {
        let record = row.payload.get("record");
        let id = record.and_then(|record| record.get(member)).and_then(Json::as_str);
        id.is_some_and(|id| FORMULAS.contains(&id))
    };
    TOLD.contains(&kind) || ALONG.contains(&kind) || of_measure("formula_id") || of_measure("metric_id")
}

fn is_input(kind: &str, pattern: &str) -> bool {
    // What a record is called is a name.
    if countersign_govern::kind::find(kind).and_then(|one| one.id) == Some(pattern) {
        return true;
    }
    let (_, inputs) =
        INPUTS.iter().find(|(one, _)| *one == kind).unwrap_or_else(|| panic!("nobody has looked at {kind}"));
    inputs.iter().any(|input| {
        pattern == *input
            || pattern.starts_with(&format!("{input}."))
            || pattern.starts_with(&format!("{input}[]"))
    })
}

/// A member of a row to be changed.
#[derive(Clone, Debug)]
pub struct Target {
    entry: usize,
    path: Vec<Step>,
}

/// The derived members of a statement's records, each kind's member so often that it is chosen `times` times in all.
#[must_use]
pub fn targets(
    statement: &Statement,
    done: &mut BTreeMap<(String, String), usize>,
    times: usize,
) -> Vec<Target> {
    let mut chosen = Vec::new();
    for (entry, found) in statement.ledger.rows.iter().enumerate() {
        let Entry::Whole(row) = found else { continue };
        let Some(kind) = kind_of(row).filter(|kind| !is_told(kind, row)) else { continue };
        let mut all = Vec::new();
        places(row.payload.get("record").unwrap(), &mut Vec::new(), &mut all);
        for path in all {
            let times_done = done.entry((kind.to_owned(), pattern(&path))).or_default();
            if *times_done < times && !is_input(kind, &pattern(&path)) {
                *times_done += 1;
                chosen.push(Target { entry, path });
            }
        }
    }
    chosen
}

/// The derived members of the records that only runs of the whole program have, each once, and the kinds of those.
#[must_use]
pub fn rare(statement: &Statement) -> (Vec<Target>, BTreeSet<&'static str>) {
    let kind = |target: &Target| match &statement.ledger.rows[target.entry] {
        Entry::Whole(row) => kind_of(row).filter(|kind| RARE.contains(kind)),
        Entry::Withheld(_) => None,
    };
    let all = targets(statement, &mut BTreeMap::new(), 1);
    let own: Vec<Target> = all.into_iter().filter(|target| kind(target).is_some()).collect();
    let kinds = own.iter().filter_map(kind).collect();
    (own, kinds)
}

/// What came of changing members.
#[derive(Debug, Default)]
pub struct Tally {
    /// How many changes were made.
    pub tried: usize,
    /// What was not found.
    pub survivors: BTreeSet<String>,
    /// What was found, where no failure names the row.
    pub unnamed: BTreeSet<String>,
}

impl Tally {
    /// Nothing was left.
    pub fn is_clean(&self) {
        let all = |lines: &BTreeSet<String>| lines.iter().cloned().collect::<Vec<_>>().join("\n");
        assert!(
            self.survivors.is_empty() && self.unnamed.is_empty(),
            "of {} not found:\n{}\nfound, and not named:\n{}",
            self.tried,
            all(&self.survivors),
            all(&self.unnamed)
        );
    }

    /// Both together.
    #[must_use]
    pub fn and(mut self, other: Tally) -> Tally {
        self.tried += other.tried;
        self.survivors.extend(other.survivors);
        self.unnamed.extend(other.unnamed);
        self
    }
}

/// Threads that forge.
const THREADS: usize = 2;

/// Changes members of a statement in turn, each to at most so many values.
#[must_use]
pub fn forge(name: &str, statement: &Statement, targets: &[Target], values: usize) -> Tally {
    let (refs, taken) = (refs(&statement.ledger.rows), AtomicUsize::new(0));
    // Each takes the next one, so that nobody waits for the other's half.
    let work = || {
        let mut tally = Tally::default();
        while let Some(target) = targets.get(taken.fetch_add(1, Ordering::Relaxed)) {
            forged(name, statement, target, (&refs, values), &mut tally);
        }
        tally
    };
    std::thread::scope(|scope| {
        let working: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        working.into_iter().map(|one| one.join().unwrap()).fold(Tally::default(), Tally::and)
    })
}

/// The references in some rows, by the kind of what they name.
fn refs(rows: &[Entry]) -> Refs {
    let mut refs = Refs::new();
    for entry in rows {
        let Entry::Whole(row) = entry else { continue };
        let mut all = Vec::new();
        countersign_govern::member::every_text(&row.payload, &mut all);
        for (text, kind) in all.into_iter().filter_map(|text| Some((text, text.split_once(':')?.0))) {
            refs.entry(kind.to_owned()).or_default().insert(text.to_owned());
        }
    }
    refs
}

fn forged(
    name: &str,
    statement: &Statement,
    Target { entry, path }: &Target,
    (refs, values): (&Refs, usize),
    tally: &mut Tally,
) {
    let rows = &statement.ledger.rows;
    let Entry::Whole(row) = &rows[*entry] else { return };
    let kind = kind_of(row).unwrap();
    let record = row.payload.get("record").unwrap();
    let changed = others(kind, path, at(record, path), refs).into_iter().take(values);
    let changed =
        changed.map(|other| (countersign_record::json::to_text(&other).unwrap(), with(record, path, other)));
    let gone = without(kind, record, path).map(|record| ("gone".to_owned(), record));
    for (other, forged) in changed.chain(gone).collect::<Vec<_>>() {
        let mut payload: Object = row.payload.as_object().unwrap().clone();
        payload.insert("record", forged);
        let mut changed = rows.clone();
        changed[*entry] = Entry::Whole(Box::new(Row { payload: payload.into(), ..(**row).clone() }));
        let report = verify(&file(&restated(statement, changed), &key(2)), &[]);
        tally.tried += 1;
        let line = format!("{kind} {} ({name}): {other}", pattern(path));
        match report.result {
            Outcome::Failed if names(&report, row.seq) => {}
            Outcome::Failed => drop(tally.unnamed.insert(line)),
            Outcome::Verified | Outcome::VerifiedInPart | Outcome::Fallen | Outcome::SignerUnknown => {
                tally.survivors.insert(line);
            }
        }
    }
}

/// Whether a report names a row.
fn names(report: &Report, row: u64) -> bool {
    report.failures.iter().any(|failure| failure.place.row == Some(row))
}
