//! Exports and imports: byte-stable, whole or not at all, and suspicious.

use crate::support::{self, admin, block_on, everything, files, open};
use countersign_record::access::Role;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::hold;
use countersign_record::json::{Json, Limits};
use countersign_record::row::{BLOB_BYTES_MAX, BLOBS_MAX, PAYLOAD_BYTES_MAX};
use countersign_runtime::ports::ledger::{Journal, Ledger};
use countersign_store::archive;
use countersign_testkit::drafts::{self, batch, blob, draft, key, random_batch};
use countersign_testkit::random::{Random, Seed};
use countersign_testkit::scratch::Scratch;
use proptest::prelude::*;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

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

fn make_pipe(place: &Path) {
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, place, kind, 0o600.into(), 0).unwrap();
}

/// Gives the file so many bytes without writing them.
fn claim(place: &Path, bytes: u64) {
    fs::OpenOptions::new().write(true).open(place).unwrap().set_len(bytes).unwrap();
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
            make_pipe(&copy.file(name));
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

/// Somebody else's archive may hold anything: it is refused, in bounded time and memory, and waits for nobody.
#[test]
fn a_hostile_archive_is_refused() {
    const TIB: u64 = 1 << 40;
    let archive = Archive::new();
    let check = |what: &str, spoil: &dyn Fn(&Archive)| {
        let copy = archive.copy();
        spoil(&copy);
        copy.refused(what, Some(Code::ArchiveInvalid));
    };
    for name in ["manifest.json", "rows.jsonl"] {
        check("a file of a TiB", &|copy| claim(&copy.file(name), TIB));
        check("nothing but zeros", &|copy| {
            fs::write(copy.file(name), "").unwrap();
            claim(&copy.file(name), TIB);
        });
    }
    check("a blob of a TiB", &|copy| claim(&copy.some_blob(), TIB));
    check("a blob of a byte too many", &|copy| claim(&copy.some_blob(), BLOB_BYTES_MAX as u64 + 1));
    check("a line of a byte too many", &|copy| {
        copy.edit("rows.jsonl", |text| format!("{}\n{text}", "x".repeat(8 * 1024 * 1024 + 1)));
    });
    let in_place_of = |what: &str, place: &dyn Fn(&Archive) -> PathBuf| {
        let put = |copy: &Archive, make: &dyn Fn(&Path)| {
            let place = place(copy);
            if place.is_dir() { fs::remove_dir_all(&place) } else { fs::remove_file(&place) }.unwrap();
            make(&place);
        };
        check(&format!("a pipe for {what}"), &|copy| put(copy, &make_pipe));
        check(&format!("a socket for {what}"), &|copy| {
            put(copy, &|place| drop(std::os::unix::net::UnixListener::bind(place).unwrap()));
        });
        check(&format!("an endless device for {what}"), &|copy| {
            put(copy, &|place| std::os::unix::fs::symlink("/dev/zero", place).unwrap());
        });
        check(&format!("a loop for {what}"), &|copy| {
            put(copy, &|place| std::os::unix::fs::symlink(place, place).unwrap());
        });
    };
    in_place_of("the manifest", &|copy| copy.file("manifest.json"));
    in_place_of("the rows", &|copy| copy.file("rows.jsonl"));
    in_place_of("the blobs", &|copy| copy.file("blobs"));
    in_place_of("a shelf", &|copy| copy.some_blob().parent().unwrap().to_path_buf());
    in_place_of("a blob", &|copy| copy.some_blob());
    check("a directory for a blob", &|copy| {
        let place = copy.some_blob();
        fs::remove_file(&place).unwrap();
        fs::create_dir(place).unwrap();
    });
    check("a file for the blobs", &|copy| {
        fs::remove_dir_all(copy.file("blobs")).unwrap();
        fs::write(copy.file("blobs"), "").unwrap();
    });
    check("many empty shelves", &|copy| {
        for number in 0..256 {
            fs::create_dir_all(copy.file(&format!("blobs/{number:02x}"))).unwrap();
        }
    });
    check("many strange shelves", &|copy| {
        for number in 0..5_000 {
            fs::create_dir(copy.file(&format!("blobs/{number:05}"))).unwrap();
        }
    });
    check("more blobs than the manifest says", &|copy| {
        for number in 0..2_000_u32 {
            let name = Digest::of(&number.to_be_bytes()).to_string();
            fs::create_dir_all(copy.file("blobs").join(&name[..2])).unwrap();
            fs::write(copy.file("blobs").join(&name[..2]).join(&name), number.to_be_bytes()).unwrap();
        }
    });
    check("a name that is no text", &|copy| {
        let name = std::ffi::OsStr::from_bytes(b"\xff\xfe");
        fs::write(copy.some_blob().with_file_name(name), "").unwrap();
    });
}

#[test]
fn what_is_no_directory_is_no_archive() {
    let scratch = Scratch::new();
    let at = |name: &str| scratch.path().join(name);
    fs::write(at("file"), "").unwrap();
    make_pipe(&at("pipe"));
    fs::create_dir(at("empty")).unwrap();
    let check = |name: &str, code: Code| {
        let imported = block_on(async { archive::import(&open(&at("data")), &admin(), &at(name)).await });
        assert_eq!(imported.unwrap_err().code(), code, "{name}");
        assert!(!at("data").exists());
    };
    check("nothing", Code::ArchiveInvalid);
    check("empty", Code::ArchiveInvalid);
    check("file", Code::FileUnreadable);
    check("pipe", Code::FileUnreadable);
}

/// The longest row that a ledger takes comes through an archive: as long, as deep and with as many blobs as may be.
#[test]
fn the_largest_rows_come_through() {
    let scratch = Scratch::new();
    let [data, copy, archived] = ["data", "copy", "archive"].map(|name| scratch.path().join(name));
    let mut long = draft("run:1", "note.taken", "x".repeat(PAYLOAD_BYTES_MAX - 2));
    long.blobs = (0..BLOBS_MAX as u64).map(|number| blob(&number.to_be_bytes())).collect();
    // A line holds the payload one level deeper than it is.
    let deep = (1..Limits::GOVERNED.depth_max).fold(Json::Null, |inner, _| Json::Array(vec![inner]));
    let wide = vec![Json::Null; PAYLOAD_BYTES_MAX / 5 - 1];
    let rows = [long, draft("run:1", "note.taken", deep), draft("run:1", "note.taken", Json::Array(wide))];
    block_on(async {
        let ledger = open(&data);
        ledger.append(&admin(), batch(rows.map(|row| row.seal().unwrap()).into())).await.unwrap();
        let head = archive::export(&ledger, &admin(), &archived).await.unwrap();
        assert_eq!(archive::import(&open(&copy), &admin(), &archived).await.unwrap(), head);
        assert!(everything(&ledger, &admin()).await == everything(&open(&copy), &admin()).await);
    });
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
