//! The ledger of the first format: read, verified, folded and exported for ever.
//!
//! `UPDATE_GOLDEN=1` writes the files anew. Once a version is released its directory never changes; a new format
//! gets a directory of its own beside it.

use crate::support::{block_on, files, open};
use countersign_record::access::{MatterAccess, Role};
use countersign_record::canonical;
use countersign_record::chain::{Anchor, Head};
use countersign_record::digest::Digest;
use countersign_record::hold::{self, Held};
use countersign_record::id::PrincipalId;
use countersign_record::json::{self, Json, Number, Object};
use countersign_record::row::{Cause, DataClass, Draft, Taint};
use countersign_record::time::Timestamp;
use countersign_runtime::fold;
use countersign_runtime::ports::ledger::{Batch, Blob, Journal, Ledger};
use countersign_store::archive;
use countersign_store::keys::Keyring;
use countersign_testkit::drafts::{self, batch, blob, draft, key, matter, stream};
use countersign_testkit::scratch::Scratch;
use countersign_views::Fold;
use countersign_views::summary::Summary;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const MATTER: &str = "golden.v1";

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1").join(name)
}

fn admin() -> MatterAccess {
    drafts::access(MATTER, Role::Admin)
}

fn at(second: u32) -> Timestamp {
    Timestamp::try_from(format!("2026-03-04T05:06:{second:02}.5+01:00")).unwrap()
}

fn said(stream: &str, kind: &str, second: u32, payload: impl Into<Json>) -> Draft {
    Draft { at: at(second), ..draft(stream, kind, payload) }
}

/// The same calls, the same bytes: whoever changes what is written changes this ledger.
async fn write(ledger: &dyn Ledger, keys: &Keyring) -> Anchor {
    let (ada, bob) = (PrincipalId::try_from("ada").unwrap(), PrincipalId::try_from("bob@example").unwrap());
    keys.add(&ada, [3; 32]).unwrap();
    let count = |value: u64| Json::Number(Number::try_from(value).unwrap());
    let unicode = Object::from([
        ("€", "Grüße, 日本語, 🖋, \u{E000}".into()),
        ("\u{1F58B}", "quote \" backslash \\ tab \t null \u{0}".into()),
        ("numbers", Json::Array(vec![count(0), count(1 << 53), Json::Null, true.into()])),
    ]);
    let mut source = said("run:1", "source.read", 0, Object::from([("path", "lease.txt".into())]));
    source.blobs = vec![blob("Grüße aus dem Mietvertrag §4".as_bytes()), blob(b"to be erased"), blob(b"")];
    source.data_class = DataClass::Privileged;
    source.taint = Taint::ExternalUntrusted;
    let mut handoff = said("run:1", "stage.ended", 1, unicode);
    handoff.cause = Some(Cause::Batch(0));
    handoff.version = 2;
    let request = Batch {
        idem_key: Some(key("request-1")),
        expected: BTreeMap::from([(stream("run:1"), 0)]),
        ..batch(vec![source.seal().unwrap(), handoff.seal().unwrap()])
    };
    ledger.append(&admin(), request).await.unwrap();

    let mut signed = said("run:1", "call.approved", 2, Object::from([("call", "c-1".into())]));
    signed.actor = ada.clone();
    signed.cause = Some(Cause::Row(2));
    let mut asserted = said("session/8", "call.denied", 3, Object::from([("call", "c-2".into())]));
    asserted.actor = bob.clone();
    let signed = keys.sign_decision(&ada, &matter(MATTER), signed.seal().unwrap()).unwrap();
    let asserted = keys.sign_decision(&bob, &matter(MATTER), asserted.seal().unwrap()).unwrap();
    ledger.append(&admin(), batch(vec![signed, asserted])).await.unwrap();

    let kept = Digest::of("Grüße aus dem Mietvertrag §4".as_bytes());
    let placed = hold::placed(&"case-7".try_into().unwrap(), Held::Blob(kept), "litigation");
    ledger
        .append(&admin(), batch(vec![said(hold::STREAM, hold::PLACED, 4, placed).seal().unwrap()]))
        .await
        .unwrap();
    let gone = Digest::of(b"to be erased");
    let receipt = said(hold::STREAM, hold::ERASED, 5, hold::erased(&gone, "asked for")).seal().unwrap();
    ledger.erase(&admin(), gone, receipt).await.unwrap();
    let classes = DataClass::ALL.iter().zip(Taint::ALL).map(|(class, taint)| {
        let row = said("run:2", "external.note", 6, class.as_str());
        Draft { data_class: *class, taint: *taint, ..row }.seal().unwrap()
    });
    ledger
        .append(&admin(), Batch { idem_key: Some(key("request-2")), ..batch(classes.collect()) })
        .await
        .unwrap();
    let head = ledger.head(&admin()).await.unwrap();
    keys.anchor(&matter(MATTER), head, &at(7), [4; 32]).unwrap()
}

async fn summary(ledger: &dyn Ledger) -> Vec<u8> {
    fold::current::<Summary>(ledger, &admin()).await.unwrap().view.save()
}

#[test]
fn the_same_calls_write_the_golden_bytes() {
    let scratch = Scratch::new();
    let (data, export) = (scratch.path().join("data"), scratch.path().join("export"));
    let (anchor, folded) = block_on(async {
        let ledger = open(&data);
        let anchor = write(&ledger, &Keyring::open(&data)).await;
        archive::export(&ledger, &admin(), &export).await.unwrap();
        (anchor, summary(&ledger).await)
    });
    let anchor = canonical::to_bytes_of(&anchor).unwrap();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        drop(fs::remove_dir_all(golden("")));
        fs::create_dir_all(golden("")).unwrap();
        fs::rename(&export, golden("export")).unwrap();
        fs::write(golden("anchor.json"), &anchor).unwrap();
        fs::write(golden("summary.json"), &folded).unwrap();
        fs::copy(data.join("matters").join(MATTER).join("ledger.sqlite"), golden("ledger-v1.sqlite"))
            .unwrap();
        return;
    }
    assert_eq!(files(&export), files(&golden("export")));
    assert_eq!(anchor, fs::read(golden("anchor.json")).unwrap());
    assert_eq!(folded, fs::read(golden("summary.json")).unwrap());
}

fn golden_anchor() -> Anchor {
    Anchor::read(&json::parse(&fs::read(golden("anchor.json")).unwrap()).unwrap()).unwrap()
}

/// What every reader of the golden ledger must find, wherever the ledger came from.
async fn check(ledger: &dyn Ledger, export: &Path) {
    let anchor = golden_anchor();
    let report = ledger.verify(&admin(), vec![anchor.clone()]).await.unwrap();
    assert_eq!(report.findings, []);
    assert_eq!(report.head, Head { seq: anchor.seq, hash: anchor.hash });
    assert_eq!(report.signers.len(), 1);
    assert_eq!(summary(ledger).await, fs::read(golden("summary.json")).unwrap());
    let erased = ledger.blob(&admin(), Digest::of(b"to be erased")).await.unwrap();
    assert_eq!(erased, Blob::Erased { receipt: 6 });
    let held = Digest::of("Grüße aus dem Mietvertrag §4".as_bytes());
    let receipt = said(hold::STREAM, hold::ERASED, 8, hold::erased(&held, "")).seal().unwrap();
    let refused = ledger.erase(&admin(), held, receipt).await.unwrap_err();
    assert_eq!(refused.code(), countersign_record::code::Code::BlobHeld, "an old hold still holds");
    archive::export(ledger, &admin(), export).await.unwrap();
    assert_eq!(files(export), files(&golden("export")));
}

#[test]
fn the_golden_export_is_imported_and_exported_again() {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        return;
    }
    let scratch = Scratch::new();
    block_on(async {
        let ledger = open(&scratch.path().join("data"));
        archive::import(&ledger, &admin(), &golden("export")).await.unwrap();
        check(&ledger, &scratch.path().join("export")).await;
    });
}

#[test]
fn the_golden_file_is_read_and_verified() {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        return;
    }
    let scratch = Scratch::new();
    let dir = scratch.path().join("data/matters").join(MATTER);
    fs::create_dir_all(&dir).unwrap();
    fs::copy(golden("ledger-v1.sqlite"), dir.join("ledger.sqlite")).unwrap();
    block_on(async {
        let ledger = open(&scratch.path().join("data"));
        check(&ledger, &scratch.path().join("export")).await;
        // An old file can be written on, and a request that it remembers is not appended again.
        let before = ledger.head(&admin()).await.unwrap();
        let row = said("run:2", "external.note", 9, "later").seal().unwrap();
        let appended = ledger.append(&admin(), batch(vec![row])).await.unwrap();
        assert_eq!(appended.rows[0].seq, before.seq + 1);
        assert_eq!(ledger.verify(&admin(), vec![golden_anchor()]).await.unwrap().findings, []);
    });
}
