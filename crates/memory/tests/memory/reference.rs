//! The product against an independent reference, byte for byte, on generated stores.

use countersign_kernel::recall::Input;
use countersign_memory::recall;
use countersign_record::json;
use countersign_testkit::random::{Random, Seed};
use countersign_testkit::scratch::Scratch;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const CASES: usize = 2_000;

/// Python, with one case on its way at a time.
struct Reference(Child, BufReader<std::process::ChildStdout>);

impl Reference {
    fn new() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference.py");
        let mut python = Command::new("python3")
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 is needed");
        let out = BufReader::new(python.stdout.take().unwrap());
        Reference(python, out)
    }

    fn read(&mut self, input: &Value, cwd: &Path) -> String {
        let case = json!({"input": input, "cwd": cwd});
        writeln!(self.0.stdin.as_mut().unwrap(), "{case}").unwrap();
        let mut package = String::new();
        self.1.read_line(&mut package).unwrap();
        package
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        drop(self.0.wait());
    }
}

const WORDS: [&str; 24] = [
    "alpha",
    "Alpha",
    "ALPHABET",
    "beta",
    "roof",
    "Roof repair",
    "日本語",
    "ΣΑΣ",
    "İstanbul",
    "straße",
    "STRASSE",
    "😀",
    "€",
    "a",
    "x",
    "lease",
    "tenant",
    " ",
    "\u{a0}",
    "\t",
    "\n",
    "é",
    "e\u{301}",
    "\u{3000}wide",
];

fn text(random: &mut Random) -> String {
    let count = random.index(0..12);
    (0..count).map(|_| *random.pick(&WORDS)).collect::<Vec<_>>().join(if random.once_in(4) {
        ""
    } else {
        " "
    })
}

fn time(random: &mut Random) -> Value {
    let day = random.within(1..32);
    match random.within(0..12) {
        10 => json!(format!("0000-{:02}-{day:02}T00:00:00Z", random.within(1..13))),
        // The ends of what can be written, and what an offset carries beyond them.
        11 => {
            let edge = ["0000-01-01T00:30:00", "0400-02-29T12:00:00", "9999-12-31T23:30:00"];
            json!(format!(
                "{}{}",
                random.pick::<&str>(&edge),
                random.pick::<&str>(&["Z", "+01:00", "-01:00"])
            ))
        }
        0 => json!("garbage"),
        1 => json!(format!("2026-01-{day:02}")),
        2 => json!(format!("2026-01-{day:02}T10:00:00")),
        3 => json!(format!("2026-01-{day:02}T23:30:00.5+02:00")),
        4 => json!(format!("2026-01-{day:02}T10:00:60Z")),
        5 => json!(format!("2026-01-{day:02}T10:00:00.123456789123Z")),
        6 => json!(format!("2027-06-{day:02}T00:00:00.10Z")),
        7 => Value::Null,
        _ => json!(format!("2025-12-{day:02}T08:{:02}:00Z", random.within(0..60))),
    }
}

fn tags(random: &mut Random) -> Value {
    let tag = |random: &mut Random| match random.within(0..4) {
        0 => text(random),
        1 => " Alpha ".into(),
        _ => (*random.pick(&WORDS)).to_owned(),
    };
    let count = random.index(0..4);
    json!((0..count).map(|_| tag(random)).collect::<Vec<_>>())
}

fn refs(random: &mut Random) -> Value {
    let all = [
        json!([]),
        json!([{"b": 1, "a": [1.5, -0.0, 1e21, 1e-7]}]),
        json!([{"€": null, "\u{10000}": 1, "\u{e000}": true}, {}]),
        json!([{"deep": {"er": [[[]]]}}]),
    ];
    random.pick(&all).clone()
}

fn record(random: &mut Random) -> Value {
    let mut record = json!({"memory_id": format!("m{}", random.within(0..9)), "text": text(random)});
    for (name, one_in, value) in [
        ("ts_utc", 2, time(random)),
        ("tags", 2, tags(random)),
        ("refs", 3, refs(random)),
        ("note", 6, json!({"hash": "lies", "n": 0.1})),
        ("hash", 6, json!("lies")),
    ] {
        if random.once_in(one_in) {
            record[name] = value;
        }
    }
    record
}

/// A line that is no record, or only looks like none.
fn strange(random: &mut Random) -> Vec<u8> {
    let mut record = record(random);
    let wrong = [
        json!(3),
        json!(null),
        json!(""),
        json!([1]),
        json!({}),
        json!([{"a": 1}, 2]),
        json!(true),
        json!("x"),
    ];
    match random.within(0..12) {
        0..=3 => {
            let name = *random.pick(&["memory_id", "text", "tags", "refs", "ts_utc"]);
            record[name] = random.pick(&wrong).clone();
        }
        4 => {
            let name = *random.pick(&["memory_id", "text"]);
            record.as_object_mut().unwrap().remove(name);
        }
        5 => return random.bytes(12).into_iter().filter(|byte| *byte != b'\n').collect(),
        6 => return "\u{feff}{\"memory_id\":\"m1\",\"text\":\"bom\"}".into(),
        7 => return b"{\"memory_id\":\"m1\",\"text\":\"\\ud800\"}".into(),
        8 => return b"{\"memory_id\":\"m1\",\"text\":\"t\",\"refs\":[{\"n\":9007199254740993}]}".into(),
        9 => return b"{\"memory_id\":\"m1\",\"text\":\"t\",\"x\":NaN}".into(),
        10 => return b"{\"memory_id\":\"m1\",\"memory_id\":\"m2\",\"text\":\"t\"}".into(),
        _ => {
            let depth = random.index(120..135);
            let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            return format!("{{\"memory_id\":\"m1\",\"text\":\"t\",\"x\":{nested}}}").into_bytes();
        }
    }
    record.to_string().into_bytes()
}

fn store(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..random.index(0..25) {
        match random.within(0..10) {
            0 | 1 => bytes.extend(strange(random)),
            2 => bytes.extend(random.pick(&["", "  ", "\t", "\u{a0}", "\u{2003} ", "{"]).as_bytes()),
            _ => bytes.extend(record(random).to_string().into_bytes()),
        }
        bytes.extend_from_slice(random.pick(&["\n", "\n", "\r\n"]).as_bytes());
    }
    if random.once_in(3) {
        bytes.extend(record(random).to_string().into_bytes());
    }
    bytes
}

fn input(random: &mut Random, stores: &[String]) -> Value {
    let query = match text(random) {
        query if query.trim().is_empty() => "  Foo\u{a0} \tBar ".to_owned(),
        query => query,
    };
    let mut input = json!({
        "query": query,
        "store_paths": stores,
        "budget": {"max_excerpt_tokens": random.within(1..120)},
        "scoring": {},
    });
    if random.once_in(2) {
        input["budget"]["per_item_max_excerpt_tokens"] = json!(random.within(1..20));
    }
    if random.once_in(2) {
        input["budget"]["max_items"] = json!(random.within(0..8));
    }
    if random.once_in(2) {
        input["now_utc"] = json!("2026-01-31T00:00:00Z");
        input["scoring"]["enable_recency_weight"] = json!(true);
        input["scoring"]["recency_half_life_days"] = json!(random.within(1..60));
    }
    if random.once_in(4) {
        input["scoring"]["enable_tag_overlap"] = json!(false);
    }
    if random.once_in(4) {
        let terms: Vec<String> = (0..random.index(0..4)).map(|_| text(random)).collect();
        input["scoring"]["query_terms"] = json!(terms);
    }
    input
}

fn package(input: &Value) -> String {
    let document = json::parse(input.to_string().as_bytes()).unwrap();
    let mut bytes = Vec::new();
    recall::read(&Input::read(&document).unwrap()).unwrap().write(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Some record of the last package is denied, by its id or its hash.
fn snapshot(random: &mut Random, last: &Value) -> Value {
    let selected = last["selection"]["selected"].as_array().unwrap();
    let hash = selected.first().map_or(json!("0".repeat(64)), |one| one["record_hash"].clone());
    json!({"entries": [
        {"memory_id": format!("m{}", random.within(0..9)), "classification": "malicious"},
        {"record_hash": hash, "classification": random.pick(&["malicious", "suspicious"])},
    ]})
}

#[test]
fn every_package_is_the_references() {
    let scratch = Scratch::new();
    let mut reference = Reference::new();
    let seed = Seed::of("memory reads", 61);
    let mut random = seed.random();
    let path = |name: &str| scratch.path().join(name).display().to_string();
    let (mut selected, mut dropped) = (0, 0);
    for case in 0..CASES {
        let mut stores = Vec::new();
        for number in 0..random.index(1..4) {
            let name =
                path(random.pick::<&str>(&["b.jsonl", "a.jsonl", "é.jsonl", "./c/../a.jsonl", "Z.jsonl"]));
            if number == 0 || !Path::new(&name).exists() {
                std::fs::create_dir_all(scratch.path().join("c")).unwrap();
                std::fs::write(&name, store(&mut random)).unwrap();
            }
            stores.push(name);
        }
        let mut asked = input(&mut random, &stores);
        let ours = package(&asked);
        assert_eq!(ours, reference.read(&asked, scratch.path()), "case {case}: {asked}");
        let told: Value = serde_json::from_str(&ours).unwrap();
        selected += told["selection"]["selected"].as_array().unwrap().len();
        dropped += told["selection"]["dropped"].as_array().unwrap().len();
        std::fs::write(path("trust.json"), snapshot(&mut random, &told).to_string()).unwrap();
        asked["trust_filter"] = json!({"trust_snapshot_path": path("trust.json")});
        assert_eq!(package(&asked), reference.read(&asked, scratch.path()), "case {case}, denied: {asked}");
        stores.reverse();
        asked["store_paths"] = json!(stores);
        let (first, again) = (package(&asked), package(&asked));
        assert_eq!(first, again, "case {case}");
    }
    assert!(selected > CASES && dropped > CASES, "{selected} selected, {dropped} dropped");
}
