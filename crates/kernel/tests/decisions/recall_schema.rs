//! The schemas of a memory read against the readers they speak for, judged by an independent validator on generated
//! documents.

use countersign_kernel::recall::package::Selected;
use countersign_kernel::recall::{Input, Line, Plan, Prompt, Refusal, Scratch, Trust};
use countersign_kernel::schema;
use countersign_record::json::{self, Json};
use countersign_testkit::random::{Random, Seed};
use jsonschema::Validator;
use serde_json::{Value, json};

const DOCUMENTS: usize = 12_000;

fn validator(schema: &Value) -> Validator {
    jsonschema::meta::validate(schema).expect("a schema");
    jsonschema::options().should_validate_formats(true).build(schema).unwrap()
}

fn own_schema(name: &str) -> Value {
    let file = format!("{name}.v1.schema.json");
    let document = schema::all().into_iter().find(|document| document.file == file).unwrap();
    document.schema.to_value()
}

fn ours(document: &Value) -> Json {
    json::parse(document.to_string().as_bytes()).unwrap()
}

/// A member that is right, or one of the `wrong` values, or absent.
fn member(random: &mut Random, object: &mut Value, name: &str, right: &[Value], wrong: &[Value]) {
    match random.within(0..40) {
        0 => object[name] = random.pick(wrong).clone(),
        1..9 => {}
        _ => object[name] = random.pick(right).clone(),
    }
}

/// As [`member`], and rarely absent: one without which the document is refused.
fn required(random: &mut Random, object: &mut Value, name: &str, right: &[Value], wrong: &[Value]) {
    let values = if random.once_in(20) { wrong } else { right };
    object[name] = random.pick(values).clone();
    if random.once_in(40) {
        object.as_object_mut().unwrap().remove(name);
    }
}

fn unknown(random: &mut Random, object: &mut Value) {
    if random.once_in(25) {
        object["Query"] = json!(null);
    }
}

/// An object, or rarely something else.
fn or_else(random: &mut Random, object: Value, others: &[Value]) -> Value {
    if random.once_in(20) { random.pick(others).clone() } else { object }
}

fn input(random: &mut Random) -> Value {
    let counts = [json!(1), json!(50), json!(7.0), json!(9_007_199_254_740_991_u64)];
    let no_counts =
        [json!(-1), json!(1.5), json!("9"), json!(true), json!([]), json!(9_007_199_254_740_992_u64)];
    let no_positive = [&no_counts[..], &[json!(0), json!(0.0)]].concat();
    let or_null = |values: &[Value]| [values, &[Value::Null]].concat();
    let flags = [json!(true), json!(false), json!(null)];
    let no_flags = [json!(0), json!("true"), json!([])];
    let lists = [json!([]), json!(["a", ""]), json!(["malicious"]), json!(null)];
    let no_lists = [json!("a"), json!([1]), json!(["a", null]), json!({})];
    let path = [json!("a"), json!("./b//c"), json!("\u{1}é\n")];
    let no_path = [json!(""), json!("a\u{0}b"), json!(["a"]), json!(1)];
    let objects = [json!(null), json!([]), json!("x"), json!({})];

    let mut input = json!({});
    let queries = [json!("roof"), json!(" a\t"), json!("\u{feff}"), json!("\u{200b}")];
    let no_queries =
        [json!(""), json!(" \u{a0}\u{2003}"), json!("\u{85}\u{3000}"), json!(null), json!(3), json!(["a"])];
    required(random, &mut input, "query", &queries, &no_queries);
    let stores = [json!(["a"]), json!(["./a", "a", "é\n"])];
    let no_stores =
        [json!([]), json!([""]), json!(["a\u{0}b"]), json!("a"), json!([1]), json!(null), json!({})];
    required(random, &mut input, "store_paths", &stores, &no_stores);

    let mut budget = json!({});
    required(random, &mut budget, "max_excerpt_tokens", &counts, &or_null(&no_positive));
    member(random, &mut budget, "per_item_max_excerpt_tokens", &or_null(&counts), &no_positive);
    let items = [&counts[..], &[json!(0), json!(null)]].concat();
    member(random, &mut budget, "max_items", &items, &no_counts);
    unknown(random, &mut budget);
    input["budget"] = or_else(random, budget, &objects);
    if random.once_in(40) {
        input.as_object_mut().unwrap().remove("budget");
    }

    let mut scoring = json!({});
    member(random, &mut scoring, "enable_recency_weight", &flags, &no_flags);
    member(random, &mut scoring, "enable_tag_overlap", &flags, &no_flags);
    member(random, &mut scoring, "recency_half_life_days", &or_null(&counts), &no_positive);
    member(random, &mut scoring, "query_terms", &lists, &no_lists);
    unknown(random, &mut scoring);
    input["scoring"] = or_else(random, scoring, &objects);

    let mut filter = json!({});
    member(random, &mut filter, "deny_classifications", &lists, &no_lists);
    member(random, &mut filter, "trust_snapshot_path", &or_null(&path), &no_path);
    unknown(random, &mut filter);
    input["trust_filter"] = or_else(random, filter, &objects);

    let times = [
        json!(null),
        json!("2026-01-31T00:00:00Z"),
        json!("2026-01-31T00:00:00.5+02:00"),
        json!("2024-02-29t23:59:59z"),
        json!("0000-01-01T00:00:00-00:00"),
    ];
    let no_times = [
        json!(""),
        json!("2026-01-31"),
        json!("2026-01-31T00:00:00"),
        json!("2026-01-31 00:00:00Z"),
        json!("2025-02-29T00:00:00Z"),
        json!("2016-12-31T23:59:60Z"),
        json!("0 January"),
        json!(1_769_817_600),
        json!([]),
    ];
    member(random, &mut input, "now_utc", &times, &no_times);
    unknown(random, &mut input);
    or_else(random, input, &[json!(null), json!([]), json!("query"), json!({})])
}

fn snapshot(random: &mut Random) -> Value {
    let hash = "0123456789abcdef".repeat(4);
    let entry = |random: &mut Random| {
        let mut entry = json!({});
        let no_texts = [json!(null), json!(1), json!([])];
        member(random, &mut entry, "memory_id", &[json!("m1"), json!("")], &no_texts);
        let no_hashes = [
            json!(null),
            json!(1),
            json!(hash.to_uppercase()),
            json!(hash[1..]),
            json!(format!("{hash}0")),
            json!(format!("{hash}\n")),
            json!("g".repeat(64)),
        ];
        member(random, &mut entry, "record_hash", &[json!(hash)], &no_hashes);
        required(random, &mut entry, "classification", &[json!("malicious"), json!("")], &no_texts);
        if random.once_in(5) {
            entry["note"] = json!({"by": "ana"});
        }
        or_else(random, entry, &[json!(null), json!([]), json!("m1"), json!({})])
    };
    let entries: Vec<Value> = (0..random.index(0..5)).map(|_| entry(random)).collect();
    let mut snapshot =
        json!({"entries": or_else(random, json!(entries), &[json!({}), json!(null), json!("m1")])});
    if random.once_in(5) {
        snapshot["at"] = json!("2026-01-31T00:00:00Z");
    }
    or_else(random, snapshot, &[json!([]), json!({}), json!(null)])
}

/// Why a reader may refuse what its schema accepts: nothing but a time that is no instant.
fn is_beyond_schemas(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Input { field, .. } if field == "now_utc")
}

fn read_input(document: &Value) -> Result<(), bool> {
    Input::read(&ours(document)).map(drop).map_err(|refusal| is_beyond_schemas(&refusal))
}

fn read_snapshot(document: &Value) -> Result<(), bool> {
    Trust::read(&ours(document), &["malicious".to_owned()]).map(drop).map_err(|_| false)
}

/// What the reader accepts, the schema does, and the other way round, but for what no schema can say; and the documents
/// reach every corner: take any one keyword out of the schema, and some document must show it.
fn agree(name: &'static str, generate: fn(&mut Random) -> Value, read: fn(&Value) -> Result<(), bool>) {
    let seed = Seed::of(name, 3);
    let mut random = seed.random();
    let schema = own_schema(name);
    let own = validator(&schema);
    let mut judged = Vec::new();
    for at in 0..DOCUMENTS {
        let document = generate(&mut random);
        let is_valid = own.is_valid(&document);
        match read(&document) {
            Ok(()) => assert!(is_valid, "{at}: the schema refuses {document}"),
            Err(is_excused) => assert!(!is_valid || is_excused, "{at}: the schema accepts {document}"),
        }
        judged.push((document, is_valid));
    }
    let good = judged.iter().filter(|(_, is_valid)| *is_valid).count();
    assert!((DOCUMENTS / 4..DOCUMENTS * 3 / 4).contains(&good), "{good} of {DOCUMENTS} are good");
    let mut places = Vec::new();
    keywords(&schema, "", &mut places);
    for place in places {
        let mut weaker = schema.clone();
        let (parent, name) = place.rsplit_once('/').unwrap();
        match weaker.pointer_mut(parent).unwrap() {
            Value::Array(items) => drop(items.remove(name.parse().unwrap())),
            Value::Object(members) => drop(members.remove(name)),
            other => panic!("{place} stands in {other}"),
        }
        let weaker = jsonschema::options().should_validate_formats(true).build(&weaker).unwrap();
        let is_noticed = judged.iter().any(|(document, verdict)| weaker.is_valid(document) != *verdict);
        assert!(is_noticed, "no document notices that {place} is gone");
    }
}

/// Every place in the schema that holds a keyword with an effect.
fn keywords(schema: &Value, place: &str, found: &mut Vec<String>) {
    let Value::Object(members) = schema else { return };
    for (name, value) in members {
        let at = format!("{place}/{name}");
        match name.as_str() {
            "$schema" | "$id" | "title" | "description" | "default" => {}
            "properties" => {
                for (property, inner) in value.as_object().unwrap() {
                    keywords(inner, &format!("{at}/{property}"), found);
                }
            }
            "items" => keywords(value, &at, found),
            "required" | "anyOf" => {
                found.extend((0..value.as_array().unwrap().len()).map(|index| format!("{at}/{index}")));
            }
            _ => found.push(at),
        }
    }
}

#[test]
fn every_schema_says_what_it_is() {
    for document in schema::all() {
        let value = document.schema.to_value();
        validator(&value);
        let name = document.file.strip_suffix(".v1.schema.json").unwrap();
        assert_eq!(value["$id"], format!("urn:countersign:schema:{name}:1"));
        assert!(value["$schema"].is_string() && value["title"].is_string(), "{name}");
        assert!(!value.to_string().contains("uint"), "{name} names a format that JSON Schema does not know");
    }
}

#[test]
fn the_inputs_schema_and_reader_agree() {
    agree("memory_controller_input", input, read_input);
}

#[test]
fn the_snapshots_schema_and_reader_agree() {
    agree("trust_snapshot", snapshot, read_snapshot);
}

#[test]
fn a_prompt_is_kept_as_its_schema_says() {
    let asked = json!({"query": "roof", "store_paths": ["a"], "budget": {"max_excerpt_tokens": 9}});
    let plan = Plan::new(&Input::read(&ours(&asked)).unwrap(), Trust::default());
    let line = b"{\"memory_id\":\"m1\",\"text\":\"The roof leaks.\"}";
    let mut scratch = Scratch::default();
    let Line::Candidate { memory_id, record_hash, score, tokens, .. } = plan.see(line, &mut scratch) else {
        panic!("no candidate")
    };
    let excerpt = plan.excerpt(line, record_hash).unwrap();
    let selected = Selected { memory_id, record_hash, store_path: "a", score, excerpt: &excerpt, tokens };
    let schema = validator(&own_schema("stored_prompt"));
    let kept = |prompt: &Prompt| -> Value {
        serde_json::from_str(&json::to_text(&prompt.stored()).unwrap()).unwrap()
    };
    assert!(schema.is_valid(&kept(&Prompt::new())));
    let document = kept(&Prompt::new().text("Known: ").memory(&selected).text(""));
    assert!(schema.is_valid(&document), "{document}");
    for (place, name) in
        [("", "shown"), ("/parts/0", "memory"), ("/parts/1", "text"), ("/parts/1/memory", "excerpt")]
    {
        let mut more = document.clone();
        more.pointer_mut(place).unwrap()[name] = json!("The roof leaks.");
        assert!(!schema.is_valid(&more), "{more}");
    }
}
