//! The tool `memory.read` as a library call, with the ledger and the stores that ship.

use countersign_kernel::recall::{Prompt, Refusal};
use countersign_memory::recall::Stores;
use countersign_record::access::{Access, MatterAccess, Role};
use countersign_record::code::Code;
use countersign_record::id::{MatterId, PrincipalId};
use countersign_record::json::{self, Json};
use countersign_record::row::Row;
use countersign_record::time::Timestamp;
use countersign_record::upcast;
use countersign_runtime::clock::Clock;
use countersign_runtime::memory_read::{Error, Recorded, Tool};
use countersign_runtime::ports::ledger::{self, Journal, Query, Select};
use countersign_store::Sqlite;
use countersign_testkit::scratch::Scratch;
use serde_json::{Value, json};
use std::collections::BTreeMap;

struct Place {
    scratch: Scratch,
    ledger: Sqlite,
    clock: Clock,
}

impl Place {
    fn new() -> Self {
        let scratch = Scratch::new();
        let lines = [
            json!({"memory_id": "m1", "text": "  The roof leaks.  ", "tags": ["Roof"]}),
            json!({"memory_id": "m2", "text": "The tenant called about the roof."}),
            json!({"memory_id": "m3", "text": "Nothing of it."}),
        ];
        let store: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(scratch.path().join("notes.jsonl"), store).unwrap();
        let ledger = Sqlite::open(&scratch.path().join("data"), upcast::LEDGER);
        let now = Timestamp::try_from("2025-12-10T10:00:00Z").unwrap();
        Place { scratch, ledger, clock: Clock::new(Some(&now), Some(7), [0; 32]) }
    }

    fn path(&self, name: &str) -> String {
        self.scratch.path().join(name).display().to_string()
    }

    fn asked(&self) -> Value {
        json!({"query": "Roof", "store_paths": [self.path("./notes.jsonl")], "budget": {"max_excerpt_tokens": 20, "max_items": 2}})
    }

    async fn call(&self, access: &MatterAccess, asked: &Value) -> Result<Recorded, Error> {
        let memory = Stores::default();
        let tool = Tool { memory: &memory, ledger: &self.ledger, access, clock: &self.clock };
        tool.call(&json::parse(asked.to_string().as_bytes()).unwrap()).await
    }

    async fn rows(&self) -> Vec<Row> {
        let query = Query { select: Select::All, after: 0, up_to: u64::MAX, limit: 100 };
        match self.ledger.read(&access(Role::Viewer), query).await {
            Ok(page) => page.rows,
            Err(ledger::Error::Missing { .. }) => Vec::new(),
            Err(error) => panic!("{error}"),
        }
    }
}

fn access(role: Role) -> MatterAccess {
    let matter = MatterId::try_from("default").unwrap();
    let principal = PrincipalId::try_from("ana").unwrap();
    Access::new(principal, BTreeMap::from([(matter.clone(), role)])).to(&matter).unwrap()
}

fn printed(recorded: &Recorded) -> Value {
    let mut bytes = Vec::new();
    recorded.package.write(&mut bytes).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

fn value(json: &Json) -> Value {
    serde_json::from_str(&json::to_text(json).unwrap()).unwrap()
}

#[tokio::test]
async fn a_read_is_one_row_of_four_values() {
    let place = Place::new();
    let recorded = place.call(&access(Role::Operator), &place.asked()).await.unwrap();
    let package = printed(&recorded);
    let rows = place.rows().await;
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    assert_eq!(
        (row.seq, row.stream_seq, row.hash),
        (recorded.receipt.seq, recorded.receipt.stream_seq, recorded.receipt.hash)
    );
    assert_eq!((row.kind.as_str(), row.version, row.stream.as_str()), ("memory.read", 1, "memory"));
    assert_eq!((row.actor.as_str(), row.at.as_str()), ("ana", "2025-12-10T10:00:00Z"));
    assert_eq!(
        value(&row.payload),
        json!({
            "query_hash": package["query"]["query_hash"],
            "store_paths": [place.path("notes.jsonl")],
            "selected_count": 2,
            "package_hash": package["package_hash"],
        })
    );
    assert!(row.blobs.is_empty());
}

/// From a package to a prompt: the model sees the excerpts in order, what may be kept names the records.
#[tokio::test]
async fn a_prompt_is_shown_with_the_excerpts_and_kept_without() {
    let place = Place::new();
    let recorded = place.call(&access(Role::Operator), &place.asked()).await.unwrap();
    let prompt = recorded
        .package
        .selected()
        .fold(Prompt::new().text("Known: "), |prompt, one| prompt.memory(&one).text(" | "));
    assert_eq!(prompt.shown().for_model(), "Known: The roof leaks. | The tenant called about the roof. | ");
    let kept = json::to_text(&prompt.stored()).unwrap();
    assert!(!kept.contains("roof") && !kept.contains("tenant"), "{kept}");
    let package = printed(&recorded);
    let kept: Value = serde_json::from_str(&kept).unwrap();
    for (at, one) in package["selection"]["selected"].as_array().unwrap().iter().enumerate() {
        let named = json!({"memory_id": one["memory_id"], "record_hash": one["record_hash"], "tokens": one["excerpt_tokens"]});
        assert_eq!(kept["parts"][2 * at + 1], json!({"memory": named}));
    }
}

/// Whatever fails, there is neither a package nor a row.
#[tokio::test]
async fn a_read_that_fails_is_not_recorded() {
    let place = Place::new();
    let operator = access(Role::Operator);
    let mut missing = place.asked();
    missing["store_paths"] = json!([place.path("notes.jsonl"), place.path("nowhere.jsonl")]);
    let error = place.call(&operator, &missing).await.unwrap_err();
    assert_eq!(error, Error::Refused(Refusal::StoreMissing { path: place.path("nowhere.jsonl") }));
    assert_eq!(place.call(&operator, &json!({})).await.unwrap_err().code(), Code::MemoryQuery);
    // Somebody who may not append may not read memory either: it could not be recorded.
    let error = place.call(&access(Role::Viewer), &place.asked()).await.unwrap_err();
    assert_eq!(error.code(), Code::AccessRole);
    assert!(!place.scratch.path().join("data").exists());
    assert_eq!(place.rows().await, []);
}

/// More names of stores than a row holds: what can't be recorded is not handed out.
#[tokio::test]
async fn a_receipt_that_fits_no_row_is_a_refusal() {
    let place = Place::new();
    let deep = vec!["d".repeat(250); 12].join("/");
    std::fs::create_dir_all(place.path(&deep)).unwrap();
    let paths: Vec<String> = (0..1_440).map(|at| place.path(&format!("{deep}/{at}"))).collect();
    for path in &paths {
        std::fs::write(path, "").unwrap();
    }
    let mut asked = place.asked();
    asked["store_paths"] = json!(paths);
    let error = place.call(&access(Role::Operator), &asked).await.unwrap_err();
    assert_eq!(error.code(), Code::RowTooLarge);
    assert_eq!(place.rows().await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_at_the_same_time_are_a_row_each() {
    let place = std::sync::Arc::new(Place::new());
    let readers: Vec<_> = (0..8)
        .map(|_| {
            let place = std::sync::Arc::clone(&place);
            tokio::spawn(async move {
                printed(&place.call(&access(Role::Operator), &place.asked()).await.unwrap())
            })
        })
        .collect();
    let mut packages = Vec::new();
    for reader in readers {
        packages.push(reader.await.unwrap());
    }
    assert!(packages.iter().all(|package| *package == packages[0]));
    let rows = place.rows().await;
    assert_eq!(rows.len(), 8);
    assert!(rows.iter().all(|row| value(&row.payload)["package_hash"] == packages[0]["package_hash"]));
}
