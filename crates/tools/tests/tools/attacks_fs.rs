//! Attacks on the file tools. Each is made for real and must fail.
//! Owns: paths, links, strange files, races. Must not: need more than an ordinary user.

use crate::support::{self, CANARY, Ground, json, path, text_of};
use countersign_record::code::Code;
use countersign_record::json::{self, Json, Object};
use countersign_runtime::ports::tool::NotDone;
use countersign_tools::{Sandbox, registry};
use rustix::fs::{CWD, FileType, Mode, RenameFlags};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How often a race is run.
const ROUNDS: usize = 4_000;

fn write(path: &str, text: &str, overwrite: bool) -> String {
    let args = [("path", Json::from(path)), ("text", Json::from(text)), ("overwrite", Json::from(overwrite))];
    json::to_text(&Json::from(Object::from(args))).unwrap()
}

fn fifo(path: &Path) {
    rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

/// Everything that a path can be made of to lead out, through all three tools.
#[test]
fn paths_that_lead_out() {
    let ground = Ground::new();
    let (outside, long) = (ground.outside().join("secret.txt"), "a/".repeat(3_000));
    let name = "n".repeat(256);
    for (attack, to) in [
        ("an absolute path", "/etc/passwd"),
        ("the absolute path of a file outside", outside.to_str().unwrap()),
        ("one step up", "../outside/secret.txt"),
        ("up from a directory", "dir/../../outside/secret.txt"),
        ("up and back in", "dir/../a.txt"),
        ("up at the end", "dir/.."),
        ("the alias and up", "/sandbox/../outside/secret.txt"),
        ("a name that begins like the alias", "/sandboxes/x"),
        ("two slashes", "//etc/passwd"),
        ("a NUL", "a.txt\0/../../outside/secret.txt"),
        ("an empty path", ""),
        ("a path of 6,000 bytes", &long),
        ("a name of 256 bytes", &name),
    ] {
        ground.refused(attack, "fs.read_text", &path(to), Code::ToolPath);
        ground.refused(attack, "fs.list_dir", &path(to), Code::ToolPath);
        ground.refused(attack, "fs.write_text", &write(to, "x", true), Code::ToolPath);
    }
}

/// What the alias makes of an absolute path stays beneath the root.
#[test]
fn the_alias_with_an_absolute_path_behind() {
    let ground = Ground::new();
    ground.refused("/sandbox//etc", "fs.read_text", &path("/sandbox//etc/passwd"), Code::ToolPath);
    ground.refused("/sandbox///proc", "fs.list_dir", &path("/sandbox///proc"), Code::ToolPath);
    ground.refused("names of a shell", "fs.read_text", &path("~/.ssh/id_rsa"), Code::ToolPath);
    ground.refused("a URL", "fs.read_text", &path("file:///etc/passwd"), Code::ToolPath);
}

#[test]
fn links() {
    let ground = Ground::new();
    let (root, outside) = (ground.root(), ground.outside());
    symlink(outside.join("secret.txt"), root.join("file")).unwrap();
    symlink("../outside/secret.txt", root.join("relative")).unwrap();
    symlink(&outside, root.join("outer")).unwrap();
    symlink(outside.join("none"), root.join("dangling")).unwrap();
    symlink("/proc/self/environ", root.join("environ")).unwrap();
    symlink("/proc/self/root", root.join("magic")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    symlink("a.txt", root.join("inner")).unwrap();
    symlink("/", root.join("slash")).unwrap();
    for (attack, to) in [
        ("a link to a file outside", "file"),
        ("a relative link", "relative"),
        ("a link on the way", "outer/secret.txt"),
        ("a link to nothing", "dangling"),
        ("a link to an environment", "environ"),
        ("a magic link", "magic/etc/passwd"),
        ("a link to itself", "loop"),
        ("a link to a file inside", "inner"),
        ("a link to /", "slash/etc/passwd"),
        ("a link taken for a directory", "file/x"),
    ] {
        ground.refused(attack, "fs.read_text", &path(to), Code::ToolPath);
        ground.refused(attack, "fs.write_text", &write(to, "x", true), Code::ToolPath);
        ground.refused(attack, "fs.write_text", &write(to, "x", false), Code::ToolPath);
    }
    for (attack, to) in
        [("a link to a directory", "outer"), ("a link to /", "slash"), ("within it", "slash/etc")]
    {
        ground.refused(attack, "fs.list_dir", &path(to), Code::ToolPath);
    }
    let listed = ground.call("fs.list_dir", &path(".")).unwrap();
    assert!(!json::to_text(&listed).unwrap().contains("secret"), "a link's end is not listed: {listed:?}");
}

#[test]
fn a_hard_link_to_a_file_outside() {
    let ground = Ground::new();
    fs::hard_link(ground.outside().join("secret.txt"), ground.root().join("hard")).unwrap();
    ground.refused("reading it", "fs.read_text", &path("hard"), Code::ToolPath);
    ground.refused("writing over it", "fs.write_text", &write("hard", "x", true), Code::ToolPath);
    assert_eq!(fs::read_to_string(ground.outside().join("secret.txt")).unwrap(), CANARY);
}

/// None of these may be waited for, so the test ends.
#[test]
fn things_that_are_no_files() {
    let ground = Ground::new();
    fifo(&ground.root().join("pipe"));
    let _listener = UnixListener::bind(ground.root().join("socket")).unwrap();
    for (attack, to) in
        [("a pipe", "pipe"), ("a socket", "socket"), ("a directory", "dir"), ("the root", ".")]
    {
        ground.refused(attack, "fs.read_text", &path(to), Code::ToolPath);
        ground.refused(attack, "fs.write_text", &write(to, "x", true), Code::ToolPath);
        ground.refused(attack, "fs.write_text", &write(to, "x", false), Code::ToolPath);
    }
    for (attack, to) in [("a pipe", "pipe"), ("a file", "a.txt"), ("beneath a file", "a.txt/x")] {
        ground.refused(attack, "fs.list_dir", &path(to), Code::ToolPath);
    }
}

fn read_beneath(root: &str, file: &str) -> Result<Json, NotDone> {
    let ground = Ground::new();
    let sandbox = Sandbox::with_launcher(Path::new(root), Path::new(support::LAUNCHER)).unwrap();
    let tools = registry(&sandbox, Arc::new(|| unreachable!("nobody asks for the time"))).unwrap();
    ground.call_of(&tools[0], &path(file))
}

/// An ordinary user can't make devices, so the root is where they are.
#[test]
fn devices_and_magic_links_in_the_root_itself() {
    for (attack, root, file) in [
        ("an empty device", "/dev", "null"),
        ("a device without an end", "/dev", "zero"),
        ("a terminal", "/dev", "tty"),
        ("another file system", "/", "proc/version"),
        ("another file system with one of files", "/", "proc/self/environ"),
        ("the root of a process", "/proc/self", "root/etc/passwd"),
        ("the working directory of a process", "/proc/self", "cwd/Cargo.toml"),
        ("the program of a process", "/proc/self", "exe"),
        ("an open file of a process", "/proc/self", "fd/0"),
    ] {
        let refusal = read_beneath(root, file).expect_err(attack);
        assert_eq!(refusal.code, Code::ToolPath, "{attack}: {refusal}");
    }
}

#[test]
fn names_that_are_no_text() {
    let ground = Ground::new();
    let bad = OsStr::from_bytes(b"bad\xff\\\xc3");
    fs::write(ground.root().join("dir").join(bad), "x").unwrap();
    fs::write(ground.root().join("dir").join("line\nbreak\u{202e}"), "").unwrap();
    let listed = ground.call("fs.list_dir", &path("dir")).unwrap();
    assert_eq!(
        listed.get("entries").unwrap(),
        &json(
            r#"[{"kind":"file","bytes":5,"name":"b.txt"},
            {"kind":"file","bytes":1,"escaped":true,"name":"bad\\xff\\\\\\xc3"},
            {"kind":"file","bytes":0,"name":"line\nbreak\u202e"}]"#
        )
    );
    ground.refused("the escaped name", "fs.read_text", &path("dir/bad\\xff\\\\\\xc3"), Code::ToolPath);
    let plan = ground.plan("fs.read_text", &path("dir/line\nbreak\u{202e}")).unwrap();
    assert_eq!(plan.summary, "read up to 20000 bytes of dir/line\\nbreak\\u{202e}");
}

#[test]
fn huge_and_strange_files() {
    let ground = Ground::new();
    File::create(ground.root().join("sparse")).unwrap().set_len(1 << 40).unwrap();
    fs::write(ground.root().join("binary"), b"a\xff\xfeb").unwrap();
    fs::write(ground.root().join("huge"), "x".repeat(3_000_000)).unwrap();
    let read = |args: &str| ground.call("fs.read_text", args).unwrap();
    let sparse = read(&path("sparse"));
    assert_eq!(text_of(&sparse, "text"), "\0".repeat(20_000), "a file of a terabyte");
    assert_eq!(sparse.get("bytes").unwrap(), &json("1099511627776"));
    assert_eq!(sparse.get("truncated").unwrap(), &json("true"));
    let huge = read(r#"{"path":"huge","max_bytes":1000000}"#);
    assert_eq!(text_of(&huge, "text").len(), 1_000_000, "as much as there may be");
    let binary = read(&path("binary"));
    assert_eq!(text_of(&binary, "text"), "a\u{fffd}\u{fffd}b");
    assert_eq!(binary.get("lossy").unwrap(), &json("true"));
    for (attack, args) in [
        ("more than may be read", r#"{"path":"huge","max_bytes":1000001}"#),
        ("nothing", r#"{"path":"huge","max_bytes":0}"#),
        ("less than nothing", r#"{"path":"huge","max_bytes":-1}"#),
        ("a number beyond all", r#"{"path":"huge","max_bytes":1e300}"#),
        ("a text for a number", r#"{"path":"huge","max_bytes":"1"}"#),
        ("a list for a path", r#"{"path":["a.txt"]}"#),
    ] {
        ground.refused(attack, "fs.read_text", args, Code::ToolArguments);
    }
    ground.refused(
        "a text of more than may be written",
        "fs.write_text",
        &write("new", &"é".repeat(500_001), false),
        Code::ToolTooLarge,
    );
}

#[test]
fn a_directory_with_more_than_anybody_reads() {
    let ground = Ground::new();
    for number in 0..3_000 {
        File::create(ground.root().join(format!("dir/{number:04}"))).unwrap();
    }
    let listed = ground.call("fs.list_dir", r#"{"path":"dir","max_entries":2000}"#).unwrap();
    let Some(Json::Array(entries)) = listed.get("entries") else { panic!("{listed:?}") };
    assert_eq!(entries.len(), 2_000);
    assert_eq!(text_of(&entries[1_999], "name"), "1999");
    assert_eq!(listed.get("total").unwrap(), &json("3001"));
    assert_eq!(listed.get("truncated").unwrap(), &json("true"));
}

#[test]
fn writing_where_it_may_not_be() {
    let ground = Ground::new();
    for (attack, to, overwrite) in [
        ("over a file, unasked", "a.txt", false),
        ("into a directory that is not there", "none/new", false),
        ("beneath a file", "a.txt/new", true),
        ("over a directory", "dir", true),
        ("over a directory with a slash", "dir/", true),
    ] {
        ground.refused(attack, "fs.write_text", &write(to, "x", overwrite), Code::ToolPath);
    }
    let refusal = ground.call("fs.write_text", &write("none/new", "x", false)).unwrap_err();
    assert_eq!(refusal.message, "none is not there; directories are not made, and links are not followed");
}

/// Exchanges a directory and a link to the outside, over and over, while `work` goes on.
fn exchanging(ground: &Ground, work: impl FnOnce()) {
    let root = ground.root();
    fs::create_dir(root.join("swap")).unwrap();
    fs::write(root.join("swap/secret.txt"), "fine").unwrap();
    symlink(ground.outside(), root.join("other")).unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let (one, two) = (root.join("swap"), root.join("other"));
                rustix::fs::renameat_with(CWD, one, CWD, two, RenameFlags::EXCHANGE).unwrap();
            }
        });
        work();
        is_over.store(true, Ordering::Relaxed);
    });
}

/// A read that was let through, and one that was refused because of the link or the exchange.
fn is_fair(result: &Result<Json, NotDone>) -> bool {
    match result {
        Ok(output) => text_of(output, "text") == "fine",
        Err(refusal) => matches!(refusal.code, Code::ToolPath | Code::ToolFailed),
    }
}

#[test]
fn reading_while_a_directory_and_a_link_are_exchanged() {
    let ground = Ground::new();
    let mut read = 0;
    exchanging(&ground, || {
        for round in 0..ROUNDS {
            let result = ground.call("fs.read_text", &path("swap/secret.txt"));
            assert!(is_fair(&result), "round {round}: {result:?}");
            read += usize::from(result.is_ok());
        }
    });
    assert!(read > 0, "some reads meet the directory");
}

#[test]
fn listing_while_a_directory_and_a_link_are_exchanged() {
    let ground = Ground::new();
    fs::write(ground.outside().join(CANARY), "").unwrap();
    exchanging(&ground, || {
        for round in 0..ROUNDS {
            let told = format!("{:?}", ground.call("fs.list_dir", &path("swap")));
            assert!(!told.contains(CANARY), "round {round}: {told}");
        }
    });
}

#[test]
fn writing_while_a_directory_and_a_link_are_exchanged() {
    let ground = Ground::new();
    exchanging(&ground, || {
        for round in 0..ROUNDS / 10 {
            // Whether it is written depends on the moment.
            drop(ground.call("fs.write_text", &write(&format!("swap/{round}"), "x", round % 2 == 0)));
        }
    });
    let outside: Vec<_> =
        fs::read_dir(ground.outside()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(outside, ["secret.txt"]);
}

#[test]
fn reading_while_a_file_and_a_link_are_exchanged() {
    let ground = Ground::new();
    let root = ground.root();
    fs::write(root.join("file"), "fine").unwrap();
    symlink(ground.outside().join("secret.txt"), root.join("link")).unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let (one, two) = (root.join("file"), root.join("link"));
                rustix::fs::renameat_with(CWD, one, CWD, two, RenameFlags::EXCHANGE).unwrap();
            }
        });
        for round in 0..ROUNDS {
            let result = ground.call("fs.read_text", &path("file"));
            assert!(is_fair(&result), "round {round}: {result:?}");
            // Written over, a link is replaced and never followed.
            if round % 50 == 0 {
                drop(ground.call("fs.write_text", &write("file", "fine", true)));
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert_eq!(fs::read_to_string(ground.outside().join("secret.txt")).unwrap(), CANARY);
}

/// Many write one new file: one does, the others are told, and nothing is left of them.
#[test]
fn writing_one_new_file_at_once() {
    let ground = Ground::new();
    for round in 0..50 {
        let name = format!("dir/{round}");
        let written: Vec<_> = std::thread::scope(|scope| {
            let (ground, name) = (&ground, &name);
            let writers: Vec<_> = (0..8)
                .map(|who| {
                    scope.spawn(move || {
                        ground.call("fs.write_text", &write(name, &who.to_string(), false)).map(|_| who)
                    })
                })
                .collect();
            writers.into_iter().map(|writer| writer.join().unwrap()).collect()
        });
        let winners: Vec<_> = written.iter().filter_map(|result| result.as_ref().ok()).collect();
        assert_eq!(winners.len(), 1, "round {round}: {written:?}");
        assert_eq!(fs::read_to_string(ground.root().join(&name)).unwrap(), winners[0].to_string());
        for refusal in written.iter().filter_map(|result| result.as_ref().err()) {
            assert_eq!(refusal.code, Code::ToolPath, "{refusal}");
        }
    }
    assert_eq!(fs::read_dir(ground.root().join("dir")).unwrap().count(), 51, "nothing is left beside");
}

/// Whoever reads while a file is written over sees the one or the other text, whole.
#[test]
fn reading_what_is_written_over() {
    let ground = Ground::new();
    let texts = ["a".repeat(10_000), "b".repeat(10_000)];
    ground.call("fs.write_text", &write("file", &texts[0], false)).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..200 {
                ground.call("fs.write_text", &write("file", &texts[round % 2], true)).unwrap();
            }
        });
        for _ in 0..1_000 {
            // A file that was replaced while it was opened has no name left.
            if let Ok(output) = ground.call("fs.read_text", &path("file")) {
                assert!(texts.contains(&text_of(&output, "text")));
            }
        }
    });
}

/// The names of files that are written beside can't be taken in advance.
#[test]
fn links_under_the_names_of_staged_files() {
    let ground = Ground::new();
    for number in 0..2_000_u64 {
        let name = format!("dir/.countersign-{number:016x}");
        symlink(ground.outside().join(format!("pwned-{number}")), ground.root().join(name)).unwrap();
    }
    for number in 0..50 {
        ground.call("fs.write_text", &write(&format!("dir/{number}"), "x", number % 2 == 0)).unwrap();
    }
    assert_eq!(fs::read_dir(ground.outside()).unwrap().count(), 1);
    assert_eq!(fs::read_dir(ground.root().join("dir")).unwrap().count(), 2_051);
}
