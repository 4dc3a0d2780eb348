//! The memory read: its input, a line of a store, a trust snapshot.
//! Owns: what reading and refusing them must hold to. Must not: open a file.

use countersign_kernel::history::Index;
use countersign_kernel::recall::{Input, Line, Plan, Scratch, Trust, path};
use countersign_memory::lexicon::{self, Form};
use countersign_record::digest::Digest;
use countersign_record::json::{self, Json};

const ASKED: &[u8] = br#"{"query":"roof repair Alpha","store_paths":["a"],"now_utc":"2026-01-31T00:00:00Z",
    "scoring":{"enable_recency_weight":true},"budget":{"max_excerpt_tokens":9}}"#;

/// What is accepted keeps the contract's bounds; what is refused is told in a few words, the same each time.
pub(crate) fn memory_input(input: &[u8]) {
    let Ok(document) = json::parse(input) else { return };
    match Input::read(&document) {
        Ok(asked) => {
            assert!(!asked.query.trim().is_empty());
            assert!(asked.budget.max_excerpt_tokens > 0);
            assert!(asked.budget.per_item_max_excerpt_tokens <= asked.budget.max_excerpt_tokens);
            let stores = path::stores(&asked.store_paths);
            assert!(!stores.is_empty() && stores.is_sorted());
            assert_eq!(path::stores(&stores), stores);
        }
        Err(refusal) => {
            assert_eq!(refusal.code().entry().area, "memory");
            assert!(refusal.to_string().len() < 600);
            assert_eq!(Input::read(&document), Err(refusal));
        }
    }
}

/// A line is blank, no record, or a candidate whose excerpt is what was counted.
pub(crate) fn memory_line(line: &[u8]) {
    let asked = Input::read(&json::parse(ASKED).expect("JSON")).expect("a good input");
    let plan = Plan::new(&asked, Trust::default());
    let (mut scratch, mut again) = (Scratch::default(), Scratch::default());
    let seen = plan.see(line, &mut scratch);
    assert_eq!(seen, plan.see(line, &mut again));
    match seen {
        Line::Blank => assert!(std::str::from_utf8(line).expect("text").trim().is_empty()),
        Line::Invalid { record_hash, .. } => {
            assert_eq!(record_hash, Digest::of(line));
            assert_eq!(plan.excerpt(line, record_hash), None);
        }
        Line::Denied { .. } => panic!("nothing is denied"),
        Line::Candidate { memory_id, record_hash, score, tokens, .. } => {
            assert!(!memory_id.is_empty() && score.value() >= 0.0);
            let excerpt = plan.excerpt(line, record_hash).expect("the same record");
            assert_eq!(tokens, (excerpt.shown().len() as u64).div_ceil(4));
            assert!(tokens <= asked.budget.per_item_max_excerpt_tokens);
        }
    }
}

/// Every entry of a snapshot that can be read denies what it names, and nothing else is denied.
pub(crate) fn trust_snapshot(input: &[u8]) {
    let Ok(snapshot) = json::parse(input) else { return };
    let Ok(trust) = Trust::read(&snapshot, &["malicious".to_owned()]) else { return };
    let Some(Json::Array(entries)) = snapshot.get("entries") else { panic!("it was read") };
    let nothing = Digest::of(b"no record");
    assert!(!trust.denies("\u{0}no such id", nothing));
    for entry in entries {
        let is_denied = entry.get("classification").and_then(Json::as_str) == Some("malicious");
        if let (Some(id), true) = (entry.get("memory_id").and_then(Json::as_str), is_denied) {
            assert!(trust.denies(id, nothing));
        }
    }
}

/// What describes an index says it again the same way; what does not is refused the same way.
pub(crate) fn history_index(input: &[u8]) {
    let Ok(document) = json::parse(input) else { return };
    match Index::read(document.clone()) {
        Ok(index) => {
            let text = json::to_text(&index).expect("an index has a text");
            assert_eq!(Index::read(json::parse(text.as_bytes()).expect("JSON")), Ok(index));
        }
        Err(troubles) => assert_eq!(Index::read(document), Err(troubles)),
    }
}

/// A lexicon in any form: variants are bounded and never the query itself in other letters.
pub(crate) fn lexicon(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    for form in [Form::Lines, Form::Rows, Form::Json] {
        match lexicon::of_text(form, text) {
            Ok(lexicon) => {
                let query: String = text.chars().take(200).collect();
                let variants = lexicon.variants(&query, 16);
                assert!(variants.len() <= 16);
                assert!(variants.iter().all(|variant| variant.alias.0 != variant.alias.1));
                assert_eq!(lexicon.variants(&query, 16), variants);
            }
            Err(why) => assert!(!why.is_empty() && why.len() < 600),
        }
    }
}
