//! Tables for tests.
//! Owns: making them from a seed. Must not: know how a table is written.

use countersign_memory::snapshot::{Labels, OwnedTable};
use countersign_record::json::{self, Json};
use countersign_testkit::random::Random;
use serde_json::{Value, json};

const TEXTS: [&str; 9] =
    ["", "a", "turn-000001", "日本語", "😀", "naïve", "line\nbreak", "a\0b", "'quote\" and \\ backslash"];

fn text(random: &mut Random) -> String {
    let text = (*random.pick(&TEXTS)).to_owned();
    if random.once_in(12) { text.repeat(40) } else { text }
}

fn value(random: &mut Random, depth: usize) -> Value {
    match random.within(0..if depth > 0 { 12 } else { 10 }) {
        0 => Value::Null,
        1 => json!(random.once_in(2)),
        2 => json!(random.within(0..300)),
        3 => json!(-(random.within(0..100_000).cast_signed())),
        4 => json!(i64::MIN),
        5 => json!((1_i64 << 40) + random.within(0..9).cast_signed()),
        6 => json!(0.1),
        7 => json!(1.0),
        8 => json!(-2.5e-7),
        9 => json!(text(random)),
        10 => json!((0..random.index(0..4)).map(|_| value(random, depth - 1)).collect::<Vec<_>>()),
        _ => object(random, depth - 1),
    }
}

fn object(random: &mut Random, depth: usize) -> Value {
    let members = (0..random.index(0..5)).map(|_| (text(random), value(random, depth)));
    Value::Object(members.collect())
}

/// serde_json's value as ours.
pub(crate) fn ours(value: &Value) -> Json {
    json::parse(value.to_string().as_bytes()).unwrap()
}

/// Ours as serde_json's.
pub(crate) fn plain(meta: &[Json]) -> Value {
    serde_json::from_str(&json::to_text(meta).unwrap()).unwrap()
}

/// A few rows of anything.
pub(crate) fn table(random: &mut Random) -> OwnedTable {
    let (rows, dimension) = (random.index(1..7), random.index(1..9));
    large(random, rows, dimension)
}

/// So many rows.
pub(crate) fn large(random: &mut Random, rows: usize, dimension: usize) -> OwnedTable {
    // An array of text would lose a NUL at the end of an id.
    let ids = (0..rows).map(|row| format!("{}{row}", text(random))).collect();
    let meta = (0..rows).map(|_| ours(&object(random, 3))).collect();
    let vectors = (0..rows * dimension).map(|_| (random.within(0..2_000_001) as f32 - 1e6) / 1e6).collect();
    OwnedTable { labels: Labels { ids, meta }, vectors, dimension }
}

/// No rows.
pub(crate) fn empty(dimension: usize) -> OwnedTable {
    OwnedTable { labels: Labels::default(), vectors: Vec::new(), dimension }
}
