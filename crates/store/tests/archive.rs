//! Exports and imports: byte-stable, whole or not at all, and suspicious.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod support;

use countersign_record::access::Role;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::hold;
use countersign_record::json::Json;
use countersign_runtime::ports::ledger::Ledger;
use countersign_store::archive;
use countersign_testkit::drafts::{self, batch, blob, draft, key, random_batch};
use countersign_testkit::random::{Random, Seed};
use countersign_testkit::scratch::Scratch;
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use support::{admin, block_on, files, open};

/// A ledger with blobs, an erased one among them.
async fn written(root: &Path, random: &mut Random) {
    let ledger = open(root);
    let mut before = 0;
    for at in 0..10 {
        let mut batch = random_batch(random, before, 4);
        batch.idem_key = random.once_in(2).then(|| key(&format!("key-{at}")));
        before += ledger.append(&admin(), batch).await.unwrap().rows.len() as u64;
    }
    let mut naming = draft("run:1", "source.read", Json::Null);
    naming.blobs = vec![blob(b"kept"), blob(b"erased")];
    ledger.append(&admin(), batch(vec![naming.seal().unwrap()])).await.unwrap();
    let digest = Digest::of(b"erased");
    let receipt = draft(hold::STREAM, hold::ERASED, hold::erased(&digest, "")).seal().unwrap();
    ledger.erase(&admin(), digest, receipt).await.unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_export_of_an_import_is_the_same_bytes(seed: u64) {
        let scratch = Scratch::new();
        let [data, copy, first, second] = ["data", "copy", "first", "second"].map(|name| scratch.path().join(name));
        block_on(async {
            written(&data, &mut Random::new(seed)).await;
            let head = archive::export(&open(&data), &admin(), &first).await.unwrap();
            assert_eq!(archive::import(&open(&copy), &admin(), &first).await.unwrap(), head);
            assert_eq!(archive::export(&open(&copy), &admin(), &second).await.unwrap(), head);
            assert!(open(&copy).verify(&admin(), Vec::new()).await.unwrap().is_sound());
        });
        assert_eq!(files(&first), files(&second));
        let left: Vec<_> = fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left.len(), 4, "nothing else is left: {left:?}");
    }

    /// An archive with a few bytes changed anywhere is refused, or the change was undone by its own kind.
    #[test]
    fn a_changed_archive_is_refused(seed: u64) {
        let archive = Archive::new();
        let mut random = Random::new(seed);
        for _ in 0..10 {
            let copy = archive.copy();
            let files: Vec<PathBuf> = files(&copy.dir).into_keys().collect();
            let file = copy.dir.join(random.pick(&files));
            let mut bytes = fs::read(&file).unwrap();
            match random.within(0..3) {
                0 if !bytes.is_empty() => {
                    let at = random.index(0..bytes.len());
                    bytes[at] ^= u8::try_from(random.within(1..256)).unwrap();
                }
                1 if !bytes.is_empty() => bytes.truncate(random.index(0..bytes.len())),
                _ => bytes.extend(random.bytes(5)),
            }
            fs::write(&file, bytes).unwrap();
            copy.refused("changed bytes", None);
        }
    }
}

/// An archive to be spoilt.
struct Archive {
    scratch: Scratch,
    dir: PathBuf,
}

impl Archive {
    fn new() -> Self {
        let scratch = Scratch::new();
        let dir = scratch.path().join("archive");
        block_on(async {
            let data = scratch.path().join("data");
            written(&data, &mut Seed::of("archive", 81).random()).await;
            archive::export(&open(&data), &admin(), &dir).await.unwrap();
        });
        Archive { scratch, dir }
    }

    fn copy(&self) -> Archive {
        let scratch = Scratch::new();
        let dir = scratch.path().join("archive");
        for (file, bytes) in files(&self.dir) {
            fs::create_dir_all(dir.join(&file).parent().unwrap()).unwrap();
            fs::write(dir.join(&file), bytes).unwrap();
        }
        Archive { scratch, dir }
    }

    /// The import is refused, with the code if one is given, and leaves nothing.
    fn refused(&self, what: &str, code: Option<Code>) {
        let data = self.scratch.path().join("target");
        let error = block_on(async { archive::import(&open(&data), &admin(), &self.dir).await }).unwrap_err();
        if let Some(code) = code {
            assert_eq!(error.code(), code, "{what}: {error}");
        }
        assert!(!data.exists(), "{what} leaves {data:?} behind");
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    fn some_blob(&self) -> PathBuf {
        let blob = files(&self.dir).into_keys().find(|path| path.starts_with("blobs")).unwrap();
        self.dir.join(blob)
    }

    fn edit(&self, name: &str, edit: impl Fn(String) -> String) {
        let text = fs::read_to_string(self.file(name)).unwrap();
        fs::write(self.file(name), edit(text)).unwrap();
    }
}

#[test]
fn what_an_export_would_not_write_is_refused() {
    let archive = Archive::new();
    let check = |what: &str, code: Code, spoil: &dyn Fn(&Archive)| {
        let copy = archive.copy();
        spoil(&copy);
        copy.refused(what, Some(code));
    };
    let invalid = Code::ArchiveInvalid;
    for name in ["manifest.json", "rows.jsonl"] {
        check("a missing file", invalid, &|copy| fs::remove_file(copy.file(name)).unwrap());
        check("a directory for a file", invalid, &|copy| {
            fs::remove_file(copy.file(name)).unwrap();
            fs::create_dir(copy.file(name)).unwrap();
        });
        check("a link for a file", invalid, &|copy| {
            fs::rename(copy.file(name), copy.scratch.path().join("moved")).unwrap();
            std::os::unix::fs::symlink(copy.scratch.path().join("moved"), copy.file(name)).unwrap();
        });
        check("a pipe for a file", invalid, &|copy| {
            fs::remove_file(copy.file(name)).unwrap();
            rustix::fs::mknodat(
                rustix::fs::CWD,
                copy.file(name),
                rustix::fs::FileType::Fifo,
                0o600.into(),
                0,
            )
            .unwrap();
        });
    }
    check("a strange file", invalid, &|copy| fs::write(copy.file("notes.txt"), "").unwrap());
    check("a strange directory", invalid, &|copy| fs::create_dir(copy.file("extra")).unwrap());
    check("a strange shelf", invalid, &|copy| fs::create_dir(copy.file("blobs/zz")).unwrap());
    check("an empty shelf", invalid, &|copy| {
        let shelf =
            (0..256).map(|n| copy.file(&format!("blobs/{n:02x}"))).find(|shelf| !shelf.exists()).unwrap();
        fs::create_dir(shelf).unwrap();
    });
    check("a linked shelf", invalid, &|copy| {
        let shelf = copy.some_blob().parent().unwrap().to_path_buf();
        fs::rename(&shelf, copy.scratch.path().join("shelf")).unwrap();
        std::os::unix::fs::symlink(copy.scratch.path().join("shelf"), &shelf).unwrap();
    });
    check("a linked blob", invalid, &|copy| {
        fs::rename(copy.some_blob(), copy.scratch.path().join("blob")).unwrap();
        std::os::unix::fs::symlink(copy.scratch.path().join("blob"), copy.some_blob_name()).unwrap();
    });
    check("a missing blob", invalid, &|copy| fs::remove_file(copy.some_blob()).unwrap());
    check("a changed blob", Code::BlobChanged, &|copy| fs::write(copy.some_blob(), "changed").unwrap());
    check("a blob that no row names", invalid, &|copy| {
        let name = Digest::of(b"strange").to_string();
        fs::create_dir_all(copy.file("blobs").join(&name[..2])).unwrap();
        fs::write(copy.file("blobs").join(&name[..2]).join(&name), "strange").unwrap();
    });
    check("a manifest in another form", invalid, &|copy| {
        copy.edit("manifest.json", |text| text.replace(',', ", "))
    });
    check("another format", invalid, &|copy| {
        copy.edit("manifest.json", |text| text.replace("countersign-", "x-"))
    });
    check("a later version", invalid, &|copy| {
        copy.edit("manifest.json", |text| text.replace("\"version\":1", "\"version\":2"));
    });
    check("another matter", Code::LedgerForeign, &|copy| {
        copy.edit("manifest.json", |text| text.replace("\"matter\":\"m\"", "\"matter\":\"n\""));
    });
    check("no last line end", invalid, &|copy| copy.edit("rows.jsonl", |text| text.trim_end().to_owned()));
    check("a blank line", Code::JsonEmpty, &|copy| copy.edit("rows.jsonl", |text| format!("\n{text}")));
    check("a line too many", invalid, &|copy| copy.edit("rows.jsonl", |text| format!("{text}{{}}\n")));
    check("no rows", invalid, &|copy| copy.edit("rows.jsonl", |_| String::new()));
    check("rows cut off", invalid, &|copy| {
        copy.edit("rows.jsonl", |text| text.lines().take(5).map(|line| format!("{line}\n")).collect());
    });
    check("another order", invalid, &|copy| {
        copy.edit("rows.jsonl", |text| text.lines().rev().map(|line| format!("{line}\n")).collect());
    });
    check("an endless line", invalid, &|copy| copy.edit("rows.jsonl", |_| "x".repeat(17 * 1024 * 1024)));
}

impl Archive {
    /// Where the blob was that [`Archive::some_blob`] named before it was taken away: the one shelf that is empty.
    fn some_blob_name(&self) -> PathBuf {
        let shelves = fs::read_dir(self.file("blobs")).unwrap().map(|entry| entry.unwrap().path());
        let empty = shelves.into_iter().find(|shelf| fs::read_dir(shelf).unwrap().next().is_none()).unwrap();
        let name = Digest::of(&fs::read(self.scratch.path().join("blob")).unwrap()).to_string();
        assert!(name.starts_with(empty.file_name().unwrap().to_str().unwrap()));
        empty.join(name)
    }
}

#[test]
fn an_export_never_overwrites() {
    let archive = Archive::new();
    let before = files(&archive.dir);
    let data = archive.scratch.path().join("data");
    for target in [archive.dir.clone(), archive.file("manifest.json")] {
        let error = block_on(async { archive::export(&open(&data), &admin(), &target).await }).unwrap_err();
        assert_eq!(error.code(), Code::ArchiveExists);
    }
    let dangling = archive.scratch.path().join("dangling");
    std::os::unix::fs::symlink("nowhere", &dangling).unwrap();
    let error = block_on(async { archive::export(&open(&data), &admin(), &dangling).await }).unwrap_err();
    assert_eq!(error.code(), Code::ArchiveExists);
    assert_eq!(files(&archive.dir), before);
}

#[test]
fn importing_needs_an_admin_and_an_empty_matter() {
    let archive = Archive::new();
    let data = archive.scratch.path().join("data");
    block_on(async {
        let operator = drafts::access("m", Role::Operator);
        let error = archive::import(&open(&data), &operator, &archive.dir).await.unwrap_err();
        assert_eq!(error.code(), Code::AccessRole);
        let error = archive::import(&open(&data), &admin(), &archive.dir).await.unwrap_err();
        assert_eq!(error.code(), Code::LedgerNotEmpty);
        assert!(open(&data).verify(&admin(), Vec::new()).await.unwrap().is_sound(), "and nothing was lost");
    });
}

/// What does not verify does not leave the house as if it did.
#[test]
fn a_damaged_ledger_is_not_exported() {
    let archive = Archive::new();
    let data = archive.scratch.path().join("data");
    let connection = rusqlite::Connection::open(support::database(&data)).unwrap();
    connection.execute("UPDATE rows SET actor = 'somebody' WHERE seq = 3", []).unwrap();
    connection.close().unwrap();
    let target = archive.scratch.path().join("never");
    let error = block_on(async { archive::export(&open(&data), &admin(), &target).await }).unwrap_err();
    assert_eq!(error.code(), Code::ChainChanged);
    assert!(!target.exists());
}
