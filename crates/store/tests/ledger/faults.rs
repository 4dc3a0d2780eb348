//! What a store says when the disk is full, read-only, damaged or from the future, and what it leaves alone.

use crate::support::{admin, block_on, database, everything, open};
use countersign_record::code::Code;
use countersign_record::json::Json;
use countersign_runtime::ports::ledger::{Error, Journal, Ledger, Query, Select};
use countersign_testkit::another::{Another, asked, command, say};
use countersign_testkit::drafts::{batch, blob, draft, random_batch, row};
use countersign_testkit::random::{Random, Seed};
use countersign_testkit::scratch::Scratch;
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The other process: it lives on a small disk, or may not write.
#[test]
fn child() {
    let Some(arguments) = asked() else { return };
    let root = PathBuf::from(&arguments[1]);
    block_on(async {
        match arguments[0].as_str() {
            "full" => full_disk(&root, arguments[2].parse().unwrap()).await,
            "read-only" => read_only(&root).await,
            other => panic!("{other}"),
        }
    });
}

/// Appends a blob of `bytes` bytes.
async fn put(ledger: &dyn Ledger, random: &mut Random, bytes: usize) -> Result<u64, Error> {
    let mut draft = draft("run:1", "source.read", Json::Null);
    draft.blobs = vec![blob(&random.bytes(bytes))];
    ledger.append(&admin(), batch(vec![draft.seal().unwrap()])).await.map(|appended| appended.rows[0].seq)
}

/// Fills the disk, checks what is there, makes room and goes on; again and again.
async fn full_disk(root: &Path, seed: u64) {
    let mut random = Random::new(seed);
    let ballast = root.join("ballast");
    let data = root.join("data");
    fill(&ballast);
    little_room(&data, &ballast, &mut random).await;
    fs::remove_file(&ballast).unwrap();
    let ledger = open(&data);
    let ballasts = [0, 1, 2].map(|number| root.join(format!("ballast-{number}")));
    for ballast in &ballasts {
        fs::write(ballast, vec![1; 1_000_000]).unwrap();
    }
    let mut last = 0;
    for ballast in &ballasts {
        let refused = loop {
            let bytes = random.index(1..60_000);
            match put(&ledger, &mut random, bytes).await {
                Ok(seq) => {
                    assert_eq!(seq, last + 1);
                    last = seq;
                }
                Err(refused) => break refused,
            }
        };
        assert_eq!(refused.code(), Code::LedgerDiskFull, "{refused}");
        assert_eq!(ledger.head(&admin()).await.unwrap().seq, last, "what was refused left no trace");
        assert!(ledger.verify(&admin(), Vec::new()).await.unwrap().is_sound());
        // With room again the same store goes on.
        fs::remove_file(ballast).unwrap();
        last = put(&ledger, &mut random, 100).await.unwrap();
        assert_eq!(ledger.head(&admin()).await.unwrap().seq, last);
        say(&format!("{last} rows"));
    }
    drop(ledger);
    let reopened = open(&data);
    assert_eq!(reopened.head(&admin()).await.unwrap().seq, last);
    assert!(reopened.verify(&admin(), Vec::new()).await.unwrap().is_sound());
}

/// A disk that is full before a ledger is made, or while it is made: nothing is left of it.
async fn little_room(data: &Path, ballast: &Path, random: &mut Random) {
    let full = fs::metadata(ballast).unwrap().len();
    let mut was_made = false;
    for pages in 0..60 {
        fs::OpenOptions::new().write(true).open(ballast).unwrap().set_len(full - pages * 4_096).unwrap();
        let ledger = open(data);
        match put(&ledger, random, 10).await {
            Ok(_) => {
                was_made = true;
                drop(ledger);
                fs::remove_dir_all(data).unwrap();
            }
            Err(refused) => {
                assert_eq!(refused.code(), Code::LedgerDiskFull, "{pages} pages: {refused}");
                assert_eq!(ledger.head(&admin()).await.unwrap_err().code(), Code::LedgerMissing);
                drop(ledger);
                assert!(!data.exists(), "{pages} pages: {:?}", content(data).keys());
            }
        }
    }
    assert!(was_made, "the last of them is room enough");
}

/// Takes every byte of the disk.
fn fill(ballast: &Path) {
    use std::io::Write;
    let mut file = fs::File::create(ballast).unwrap();
    for size in [65_536, 4_096, 1] {
        while file.write_all(&vec![1; size]).is_ok() {}
    }
}

#[test]
fn a_full_disk_refuses_and_forgets_nothing() {
    for seed in 0..4 {
        let scratch = Scratch::new();
        let disk = scratch.path().join("disk");
        fs::create_dir(&disk).unwrap();
        let inner = command(
            &std::env::current_exe().unwrap(),
            "faults::child",
            &["full", disk.to_str().unwrap(), &seed.to_string()],
        );
        // A tmpfs of its own in a mount namespace of its own: gone with the process, whoever runs the tests.
        let mut outer = Command::new("unshare");
        outer.args(["--map-root-user", "--mount", "sh", "-c"]);
        outer.arg("mount -t tmpfs -o size=6m none \"$0\" && exec \"$@\"").arg(&disk);
        outer.arg(inner.get_program()).args(inner.get_args());
        outer.envs(inner.get_envs().map(|(name, value)| (name, value.unwrap())));
        outer.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let said = Another::spawn(&mut outer);
        let said = said.finish();
        assert_eq!(
            said.len(),
            3,
            "a small disk is needed: `unshare --map-root-user --mount` and `mount -t tmpfs` must work"
        );
    }
}

/// In a data directory that can be read and not written.
async fn read_only(root: &Path) {
    let before = content(root);
    let ledger = open(root);
    let refused = ledger.append(&admin(), batch(vec![row("run:1", "no")])).await.unwrap_err();
    assert_eq!(refused.code(), Code::LedgerReadOnly, "{refused}");
    let elsewhere = countersign_testkit::drafts::access("new", countersign_record::access::Role::Admin);
    let refused = ledger.append(&elsewhere, batch(vec![row("run:1", "no")])).await.unwrap_err();
    assert_eq!(refused.code(), Code::LedgerReadOnly, "{refused}");
    assert_eq!(ledger.head(&admin()).await.unwrap().seq, 5, "it can be read");
    assert!(ledger.verify(&admin(), Vec::new()).await.unwrap().is_sound());
    drop(ledger);
    assert_eq!(content(root), before);
    say("done");
}

/// Every file below a directory, with its bytes.
fn content(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.insert(path.clone(), Vec::new());
            files.extend(content(&path));
        } else {
            files.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    files
}

fn set_mode_below(dir: &Path, of_dirs: u32, of_files: u32) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            set_mode_below(&path, of_dirs, of_files);
        } else {
            fs::set_permissions(&path, Permissions::from_mode(of_files)).unwrap();
        }
    }
    fs::set_permissions(dir, Permissions::from_mode(of_dirs)).unwrap();
}

#[test]
fn a_read_only_directory_is_read_and_not_written() {
    let scratch = Scratch::new();
    let data = scratch.path().join("data");
    block_on(async { open(&data).append(&admin(), batch(vec![row("run:1", "a"); 5])).await }).unwrap();
    // Nobody can be kept from a file as root, so then the child is somebody else, with a program it can reach.
    let program = scratch.path().join("program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    set_mode_below(&data, 0o555, 0o444);
    fs::set_permissions(scratch.path(), Permissions::from_mode(0o755)).unwrap();
    let mut command = command(&program, "faults::child", &["read-only", data.to_str().unwrap()]);
    if rustix::process::geteuid().is_root() {
        command.uid(65_534).gid(65_534);
    }
    assert_eq!(Another::spawn(&mut command).finish(), ["done"]);
    set_mode_below(&data, 0o755, 0o644);
}

/// Every way to use the matter gives the code, and no file is changed or made.
fn refused_untouched(what: &str, root: &Path, code: Code) {
    let before = content(root);
    block_on(async {
        let ledger = open(root);
        let query = Query { select: Select::All, after: 0, up_to: u64::MAX, limit: 10 };
        let answers = [
            ledger.append(&admin(), batch(vec![row("run:1", "no")])).await.map(drop),
            ledger.head(&admin()).await.map(drop),
            ledger.read(&admin(), query).await.map(drop),
            ledger.verify(&admin(), Vec::new()).await.map(drop),
            ledger.watch(&admin()).await.map(drop),
            ledger.restore(&admin(), Box::new(std::iter::empty())).await.map(drop),
        ];
        for answer in answers {
            assert_eq!(answer.map_err(|error| error.code()), Err(code), "{what}");
        }
    });
    assert_eq!(content(root), before, "{what}: nothing was touched");
}

/// A data directory with one small ledger, cleanly closed.
fn small() -> Scratch {
    let scratch = Scratch::new();
    let seed = Seed::of("a small ledger", 71);
    let mut random = seed.random();
    block_on(async {
        let ledger = open(scratch.path());
        let mut before = 0;
        for _ in 0..30 {
            let appended = ledger.append(&admin(), random_batch(&mut random, before, 4)).await.unwrap();
            before += appended.rows.len() as u64;
        }
    });
    scratch
}

#[test]
fn a_file_that_is_no_ledger_is_left_alone() {
    let check = |what: &str, change: &dyn Fn(&mut Vec<u8>), code: Code| {
        let scratch = small();
        let mut bytes = fs::read(database(scratch.path())).unwrap();
        change(&mut bytes);
        fs::write(database(scratch.path()), bytes).unwrap();
        refused_untouched(what, scratch.path(), code);
    };
    let corrupt = Code::LedgerCorrupt;
    check("an empty file", &|bytes| bytes.clear(), corrupt);
    check("a short file", &|bytes| bytes.truncate(50), corrupt);
    check("garbage", &|bytes| *bytes = Random::new(1).bytes(20_000), corrupt);
    check("a garbage header", &|bytes| bytes[..100].copy_from_slice(&Random::new(2).bytes(100)), corrupt);
    check("half a file", &|bytes| bytes.truncate(bytes.len() / 2), corrupt);
    check("a file cut inside a page", &|bytes| bytes.truncate(bytes.len() - 10), corrupt);
    check("another application's file", &|bytes| bytes[68..72].copy_from_slice(b"else"), corrupt);
    check("a file without a format", &|bytes| bytes[60..64].fill(0), corrupt);
    check("a file from the future", &|bytes| bytes[63] = 2, Code::LedgerTooNew);
    check("a file from the far future", &|bytes| bytes[60..64].fill(0xFF), Code::LedgerTooNew);
}

/// Flipped bytes anywhere are an error, a finding, or in a place that holds nothing; never a panic, and never
/// another content that verifies.
#[test]
fn flipped_bytes_are_found_or_without_effect() {
    let original = small();
    let seed = Seed::of("flipped bytes", 72);
    let mut random = seed.random();
    let bytes = fs::read(database(original.path())).unwrap();
    let whole = block_on(async { everything(&open(original.path()), &admin()).await });
    let mut found = 0;
    for _ in 0..150 {
        let copy = Scratch::new();
        fs::create_dir_all(copy.path().join("matters/m")).unwrap();
        let mut damaged = bytes.clone();
        for _ in 0..random.within(1..6) {
            let at = random.index(100..damaged.len());
            damaged[at] ^= u8::try_from(random.within(1..256)).unwrap();
        }
        fs::write(database(copy.path()), &damaged).unwrap();
        block_on(async {
            let ledger = open(copy.path());
            match ledger.verify(&admin(), Vec::new()).await {
                Ok(report) if report.is_sound() => {
                    assert!(everything(&ledger, &admin()).await == whole, "changed content verifies");
                }
                Ok(_) => found += 1,
                Err(error) => {
                    assert!(matches!(error.code(), Code::LedgerCorrupt | Code::LedgerMissing), "{error}");
                    found += 1;
                }
            }
        });
    }
    assert!(found > 50, "only {found} of the damaged files were found to be damaged");
}
