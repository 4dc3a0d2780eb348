//! A folder as a manifest: bounds, what is known, what changes under one's hands.

use countersign_record::digest::Digest;
use countersign_sources::folder::{Asked, Error, Folder, Limits, Why, read};
use countersign_testkit::scratch::Scratch;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

fn asked<'a>(dir: &'a Path, cache: Option<&'a Path>) -> Asked<'a> {
    Asked { dir, limits: Limits::default(), keep_out: &[], cache }
}

fn limited(dir: &Path, limits: Limits) -> Result<Folder, Error> {
    read(&Asked { limits, ..asked(dir, None) })
}

#[test]
fn a_folder_that_holds_too_much_is_refused_whole() {
    let scratch = Scratch::new();
    for name in ["a", "b", "c"] {
        std::fs::write(scratch.path().join(name), name).unwrap();
    }
    let limits = |entries_max| Limits { entries_max, ..Limits::default() };
    assert_eq!(limited(scratch.path(), limits(3)).unwrap().files.len(), 3);
    assert!(matches!(limited(scratch.path(), limits(2)), Err(Error::TooMany { entries_max: 2, .. })));
    let small = limited(scratch.path(), Limits { file_bytes_max: 0, ..Limits::default() }).unwrap();
    assert_eq!(small.skipped[0].why, Why::TooLarge { bytes: 1 });
    for none in [scratch.path().join("a"), scratch.path().join("nowhere")] {
        assert!(matches!(read(&asked(&none, None)), Err(Error::Unreadable { .. })));
    }
}

#[test]
fn git_speaks_about_its_repository_and_no_further() {
    let scratch = Scratch::new();
    let write = |path: &str, text: &str| {
        let path = scratch.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    for file in ["a.md", "b.md", "c.md", "d.md"] {
        write(&format!("outer/repository/docs/{file}"), file);
        write(&format!("outer/copy/docs/{file}"), file);
    }
    write("outer/.gitignore", "a.md\n");
    write("outer/repository/.gitignore", "b.md\n");
    write("outer/repository/.git/info/exclude", "c.md\n");
    write("outer/copy/.gitignore", "d.md\n");
    let names = |dir: &str| {
        let folder = read(&asked(&scratch.path().join(dir), None)).unwrap();
        folder.files.into_iter().map(|file| file.path).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names("outer/repository/docs"), "a.md d.md");
    assert_eq!(names("outer/repository"), ".gitignore docs/a.md docs/d.md");
    assert_eq!(names("outer/copy"), ".gitignore docs/a.md docs/b.md docs/c.md");
}

#[test]
fn what_was_left_alone_is_not_read_again() {
    let scratch = Scratch::new();
    let cache = scratch.path().join("cache");
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let first = read(&asked(&src, Some(&cache))).unwrap();
    assert!(first.hashed == first.files.len() && first.hashed > 3);
    let second = read(&asked(&src, Some(&cache))).unwrap();
    assert_eq!((second.hashed, &second.files), (0, &first.files));
    for file in &first.files {
        assert_eq!(file.sha256, Digest::of(&std::fs::read(src.join(&file.path)).unwrap()), "{}", file.path);
    }
}

#[test]
fn what_was_written_just_now_is_read_again() {
    let scratch = Scratch::new();
    let (dir, cache) = (scratch.path().join("files"), scratch.path().join("cache"));
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(dir.join("a"), "one").unwrap();
    for _ in 0..2 {
        assert_eq!(read(&asked(&dir, Some(&cache))).unwrap().hashed, 1);
    }
    let left: Vec<_> = std::fs::read_dir(&cache).unwrap().collect();
    assert!(left.is_empty(), "nothing is kept, and nothing is left behind: {left:?}");
}

#[test]
fn a_file_that_is_written_to_has_the_hash_of_what_was_there_or_none() {
    let scratch = Scratch::new();
    let path = scratch.path().join("log");
    let line = vec![b'x'; 1 << 16];
    std::fs::write(&path, &line).unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = std::fs::File::options().append(true).open(&path).unwrap();
            for _ in 0..200 {
                file.write_all(&line).unwrap();
            }
            is_done.store(true, Ordering::Release);
        });
        while !is_done.load(Ordering::Acquire) {
            let folder = read(&asked(scratch.path(), None)).unwrap();
            match (folder.files.first(), folder.skipped.first()) {
                (Some(file), None) => {
                    let there = vec![b'x'; usize::try_from(file.bytes).unwrap()];
                    assert_eq!(file.sha256, Digest::of(&there));
                }
                (None, Some(skipped)) => assert_eq!(skipped.why, Why::Changing),
                other => panic!("{other:?}"),
            }
        }
    });
}

#[test]
fn files_that_the_system_makes_up_harm_nobody() {
    let folder = read(&asked(Path::new("/proc/sys/kernel/random"), None)).unwrap();
    assert!(folder.files.is_empty());
    assert!(folder.skipped.iter().any(|one| one.path == "uuid" && one.why == Why::Changing), "{folder:?}");
}
