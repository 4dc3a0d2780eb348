//! The schemas against the readers they speak for, and the GenericEnvelope's against the seed's own, judged by an
//! independent validator on generated documents.

use crate::documents::{self, Rng, minted, ours};
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::envelope::Envelope;
use countersign_record::fields::Trouble;
use countersign_record::json::{self, Json, Object};
use countersign_record::row::{self, BlobRef, DataClass, Proof, Row, Taint};
use countersign_record::schema;
use countersign_record::session::UnixTime;
use countersign_record::state::GenericEnvelope;
use countersign_record::time::Timestamp;
use countersign_record::tool::ToolResult;
use countersign_record::trace::{self, Event, Kind, Redactor};
use countersign_record::turn::MemoryTurn;
use jsonschema::Validator;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;
use std::collections::BTreeSet;

const DOCUMENTS: u64 = 12_000;

fn validator(schema: &Value) -> Validator {
    jsonschema::meta::validate(schema).expect("a schema");
    jsonschema::options().should_validate_formats(true).build(schema).unwrap()
}

fn own_schema(file: &str) -> Value {
    let document = schema::all().into_iter().find(|document| document.file == file).unwrap();
    document.schema.to_value()
}

fn seed_schema() -> Value {
    let path = format!("{}/tests/data/seed_envelope_schema.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn generic_document(seed: u64) -> Value {
    let mut rng = Rng::new(seed);
    let mut document = documents::generic(&mut rng);
    for _ in 0..rng.below(4) {
        documents::mutate(&mut document, &mut rng);
    }
    document
}

/// Counts verdicts, and fails where one of them is too rare for the comparison to say much.
#[derive(Default)]
struct Tally {
    good: u64,
    bad: u64,
}

impl Tally {
    fn count(&mut self, good: bool) {
        if good { self.good += 1 } else { self.bad += 1 }
    }

    fn check(&self) {
        let third = (self.good + self.bad) * 3 / 10;
        assert!(self.good >= third && self.bad >= third, "{} good, {} bad", self.good, self.bad);
    }
}

#[test]
fn every_schema_says_what_it_is() {
    let mut ids = BTreeSet::new();
    for document in schema::all() {
        let value = document.schema.to_value();
        validator(&value);
        let name = document.file.strip_suffix(".v1.schema.json").unwrap();
        assert_eq!(value["$id"], format!("urn:countersign:schema:{name}:1"));
        assert!(value["$schema"].is_string() && value["title"].is_string(), "{name}");
        assert!(!value.to_string().contains("uint"), "{name} names a format that JSON Schema does not know");
        assert!(ids.insert(value["$id"].clone().to_string()));
    }
}

#[test]
fn the_generic_envelopes_schema_accepts_what_the_seeds_accepts() {
    let (seeds, own) = (validator(&seed_schema()), validator(&own_schema("generic_envelope.v1.schema.json")));
    let mut tally = Tally::default();
    let (mut held, mut broken) = (BTreeSet::new(), BTreeSet::new());
    for seed in 0..DOCUMENTS {
        let document = generic_document(seed);
        let verdict = seeds.is_valid(&document);
        assert_eq!(own.is_valid(&document), verdict, "seed {seed}: {document}");
        tally.count(verdict);
        if verdict {
            held.extend(document.as_object().unwrap().keys().cloned());
            continue;
        }
        for error in seeds.iter_errors(&document) {
            let place = error.instance_path().to_string();
            broken.extend(place.split('/').nth(1).map(str::to_owned));
            if let ValidationErrorKind::Required { property } = error.kind() {
                broken.extend(property.as_str().map(str::to_owned));
            }
        }
    }
    tally.check();
    let properties: BTreeSet<String> =
        seed_schema()["properties"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(properties, documents::MEMBERS.map(str::to_owned).into(), "the generator knows every member");
    assert!(properties.is_subset(&held), "never held: {:?}", properties.difference(&held));
    assert!(properties.is_subset(&broken), "never broken: {:?}", properties.difference(&broken));
    for not_an_object in [serde_json::json!([]), serde_json::json!(null), serde_json::json!("env")] {
        assert!(!seeds.is_valid(&not_an_object) && !own.is_valid(&not_an_object));
    }
}

/// Every place in the schema that holds a keyword with an effect.
fn keywords(schema: &Value, place: &str, found: &mut Vec<String>) {
    let Value::Object(members) = schema else { return };
    for (name, value) in members {
        let at = format!("{place}/{name}");
        match name.as_str() {
            "$schema" | "title" | "description" | "default" => {}
            "properties" => {
                for (property, inner) in value.as_object().unwrap() {
                    keywords(inner, &format!("{at}/{property}"), found);
                }
            }
            "items" | "additionalProperties" => keywords(value, &at, found),
            "required" => {
                found.extend((0..value.as_array().unwrap().len()).map(|index| format!("{at}/{index}")))
            }
            // An enum of strings says the type too, and the generator makes objects only.
            "type" if members.contains_key("enum") || place.is_empty() => {}
            _ => found.push(at),
        }
    }
}

/// The comparison above says something only if the documents reach every corner: take any one keyword out of the
/// seed's schema, and some document must show it.
#[test]
fn the_documents_notice_every_keyword_of_the_seeds_schema() {
    let schema = seed_schema();
    let seeds = validator(&schema);
    let judged: Vec<(Value, bool)> =
        (0..DOCUMENTS).map(generic_document).map(|d| (d.clone(), seeds.is_valid(&d))).collect();
    let mut places = Vec::new();
    keywords(&schema, "", &mut places);
    assert!(places.len() > 60, "{places:?}");
    for place in places {
        let mut weaker = schema.clone();
        let (parent, name) = place.rsplit_once('/').unwrap();
        match weaker.pointer_mut(parent).unwrap() {
            Value::Array(names) => drop(names.remove(name.parse().unwrap())),
            Value::Object(members) => drop(members.remove(name)),
            other => panic!("{place} stands in {other}"),
        }
        let weaker = jsonschema::options().should_validate_formats(true).build(&weaker).unwrap();
        let is_noticed = judged.iter().any(|(document, verdict)| weaker.is_valid(document) != *verdict);
        assert!(is_noticed, "no document notices that {place} is gone");
    }
}

/// What a reader refuses and no schema can: contradictions, integers beyond 2^53, times that are no instant.
fn is_beyond_schemas(document: &Value, trouble: &Trouble) -> bool {
    let value = document.pointer(&trouble.path);
    match value {
        Some(_) if trouble.code == Code::FieldConflict => true,
        Some(Value::Number(number)) => number.as_f64().is_some_and(|number| {
            number.abs() >= 9_007_199_254_740_992.0
                && number.fract() == 0.0
                && trouble.code == Code::FieldInvalid
        }),
        Some(Value::String(text)) => {
            trouble.code == Code::FieldInvalid
                && Timestamp::try_from(text.as_str()).is_err()
                && text.contains(':')
        }
        Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) | None => false,
    }
}

#[test]
fn the_reader_takes_what_the_seeds_schema_accepts_and_writes_what_it_accepts() {
    let seeds = validator(&seed_schema());
    let (mut tally, mut conflicts) = (Tally::default(), 0);
    for seed in 0..DOCUMENTS {
        let document = generic_document(seed);
        let is_valid = seeds.is_valid(&document);
        match GenericEnvelope::read(ours(&document), minted()) {
            Ok(reading) => {
                tally.count(true);
                let written: Value =
                    serde_json::from_str(&json::to_text(&reading.envelope).unwrap()).unwrap();
                let errors: Vec<String> =
                    seeds.iter_errors(&written).map(|error| error.to_string()).collect();
                assert!(errors.is_empty(), "seed {seed}: {written}: {errors:?}");
                assert!(
                    is_valid || !reading.minted.is_empty() || has_default(&document),
                    "seed {seed}: {document}"
                );
            }
            Err(troubles) => {
                tally.count(false);
                assert!(!troubles.is_empty(), "seed {seed}");
                if is_valid {
                    conflicts += 1;
                    for trouble in &troubles {
                        assert!(
                            is_beyond_schemas(&document, trouble),
                            "seed {seed}: {trouble:?} in {document}"
                        );
                    }
                }
            }
        }
    }
    tally.check();
    assert!(conflicts > 100, "only {conflicts} documents were beyond the schema");
}

/// Whether the schema may refuse the document for a member that our reader has a default for.
fn has_default(document: &Value) -> bool {
    ["user_id", "raw_input", "outputs", "current_stage", "terminated"]
        .iter()
        .any(|name| document.get(name).is_none())
}

#[test]
fn documents_of_every_dialect_are_written_as_the_seed_has_it() {
    let seeds = validator(&seed_schema());
    let mut accepted = 0;
    for seed in 0..DOCUMENTS {
        let mut rng = Rng::new(seed);
        let mut document = documents::generic(&mut rng);
        documents::speak_another_dialect(&mut document, &mut rng);
        let Ok(reading) = GenericEnvelope::read(ours(&document), minted()) else { continue };
        accepted += 1;
        let written: Value = serde_json::from_str(&json::to_text(&reading.envelope).unwrap()).unwrap();
        assert!(seeds.is_valid(&written), "seed {seed}: {written}");
    }
    assert!(accepted > DOCUMENTS / 3, "only {accepted} were read");
}

/// What the reader accepts, the schema does; what the schema accepts and the reader does not, `excused` explains.
fn compare(
    file: &str,
    generate: fn(&mut Rng) -> Value,
    read: fn(&Json) -> Result<(), Vec<Trouble>>,
    excused: fn(&Value, &Trouble) -> bool,
) {
    let schema = validator(&own_schema(file));
    let (mut verdicts, mut readings) = (Tally::default(), Tally::default());
    for seed in 0..DOCUMENTS {
        let mut rng = Rng::new(seed);
        let mut document = generate(&mut rng);
        for _ in 0..rng.below(4).min(rng.below(4)) {
            documents::mutate_anywhere(&mut document, &mut rng);
        }
        let is_valid = schema.is_valid(&document);
        verdicts.count(is_valid);
        let reading = read(&ours(&document));
        readings.count(reading.is_ok());
        match reading {
            Ok(()) => assert!(is_valid, "seed {seed}: the schema refuses {document}"),
            Err(troubles) if is_valid => {
                for trouble in troubles {
                    assert!(excused(&document, &trouble), "seed {seed}: {trouble:?} in {document}");
                }
            }
            Err(troubles) => assert!(!troubles.is_empty(), "seed {seed}"),
        }
    }
    verdicts.check();
    readings.check();
}

#[test]
fn the_sr2_envelopes_schema_and_reader_agree() {
    compare(
        "envelope.v1.schema.json",
        documents::envelope,
        |value| Envelope::read(value.clone()).map(|_| ()),
        |document, trouble| {
            let is_number = document.pointer(&trouble.path).is_some_and(Value::is_number);
            trouble.code == Code::NumberInexact || is_number || is_beyond_schemas(document, trouble)
        },
    );
}

#[test]
fn the_turns_schema_and_reader_agree() {
    compare(
        "memory_turn.v1.schema.json",
        documents::turn,
        |value| MemoryTurn::read(value.clone()).map(|_| ()),
        is_beyond_schemas,
    );
}

/// Every digest of the row is the same: the schema says what a row looks like, not that its chain holds.
#[test]
fn an_exported_row_keeps_its_schema() {
    let schema = validator(&own_schema("row.v1.schema.json"));
    let digest = Digest::of(b"");
    for (cause, idem_key, payload) in [
        (None, None, Json::Null),
        (Some(1 << 53), Some("k".parse().unwrap()), Json::Array(vec![Json::Bool(true), Json::from("x")])),
    ] {
        let row = Row {
            seq: 1 << 53,
            stream: "run/1".parse().unwrap(),
            stream_seq: 1,
            kind: "external.note".parse().unwrap(),
            version: u32::MAX,
            at: "2025-12-10T10:00:00Z".try_into().unwrap(),
            actor: "ada".parse().unwrap(),
            proof: Proof::SelfAsserted,
            cause,
            idem_key,
            data_class: DataClass::LocalOnly,
            taint: Taint::Unclassified,
            payload,
            payload_hash: digest,
            blobs: vec![BlobRef { digest, size: 0 }],
            prev_hash: digest,
            hash: digest,
        };
        let line = row::line(&row).unwrap();
        assert_eq!(row::read_line(&line), Ok(row));
        let mut value: Value = serde_json::from_slice(&line).unwrap();
        let errors: Vec<String> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{value}: {errors:?}");
        value["more"] = Value::Null;
        assert!(!schema.is_valid(&value));
    }
}

#[test]
fn an_escalation_needs_a_reason_in_the_schema_too() {
    let schema = validator(&own_schema("envelope.v1.schema.json"));
    let mut document = documents::envelope(&mut Rng::new(0));
    for (escalate, reason, expected) in [
        (Value::from(true), Value::Null, false),
        (Value::from(true), Value::from("needs_person"), true),
        (Value::from(true), Value::from("needs a person"), false),
        (Value::from(false), Value::Null, true),
    ] {
        document["escalate"] = escalate;
        document["reason"] = reason;
        assert_eq!(schema.is_valid(&document), expected, "{document}");
        assert_eq!(Envelope::read(ours(&document)).is_ok(), expected, "{document}");
    }
}

#[test]
fn events_of_traces_keep_their_schema() {
    let schema = validator(&own_schema("trace_event.v1.schema.json"));
    let kinds = own_schema("trace_event.v1.schema.json")["properties"]["kind"].to_string();
    let data = Object::from([("what", "applied".into()), ("n", Json::Null)]);
    for kind in [
        Kind::LlmReq,
        Kind::LlmStream,
        Kind::LlmDone,
        Kind::NotesPatch,
        Kind::Actions,
        Kind::Retrieval,
        Kind::ToolPlan,
        Kind::ToolStart,
        Kind::ToolDone,
        Kind::Fault,
        Kind::Condense,
        Kind::TurnStart,
        Kind::TurnDone,
        Kind::Externalize,
        Kind::Lost,
    ] {
        let event = Event { ts: UnixTime::from_micros(1_500_000).unwrap(), kind, data: data.clone() };
        let mut value: Value = serde_json::from_str(&Redactor::default().line(&event).unwrap()).unwrap();
        assert!(schema.is_valid(&value), "{value}");
        assert!(kinds.contains(&value["kind"].to_string()), "{kinds}");
        value["kind"] = "unheard_of".into();
        assert!(!schema.is_valid(&value), "{value}");
    }
    let lost: Value =
        serde_json::from_str(&trace::lost_line(UnixTime::default(), Some(3), "full").unwrap()).unwrap();
    assert!(schema.is_valid(&lost), "{lost}");
    for (name, wrong) in [("ts", "1.5".into()), ("data", Value::Null), ("more", Value::Null)] {
        let mut broken = lost.clone();
        broken[name] = wrong;
        assert!(!schema.is_valid(&broken), "{broken}");
    }
}

#[test]
fn results_of_tools_keep_their_schema() {
    let schema = validator(&own_schema("tool_result.v1.schema.json"));
    for (ok, output, error) in [
        (true, Json::from("text"), None),
        (true, Json::Object(Object::new()), None),
        (false, Json::Null, Some("tool.denied: no".to_owned())),
    ] {
        let result = ToolResult { id: "t1".to_owned(), tool: "fs.read_text".to_owned(), ok, output, error };
        let value: Value = serde_json::from_str(&json::to_text(&result).unwrap()).unwrap();
        assert!(schema.is_valid(&value), "{value}");
        for (name, wrong) in
            [("id", 1.into()), ("ok", "true".into()), ("error", 7.into()), ("more", Value::Null)]
        {
            let mut broken = value.clone();
            broken[name] = wrong;
            assert!(!schema.is_valid(&broken), "{broken}");
        }
        for name in ["id", "tool", "ok", "output"] {
            let mut broken = value.clone();
            broken.as_object_mut().unwrap().remove(name);
            assert!(!schema.is_valid(&broken), "{broken}");
        }
    }
}
