//! The snapshot with the real NumPy, 1.26 and 2: Python opens ours, and we open Python's.

use crate::tables;
use countersign_memory::snapshot::{self, OwnedTable, Snapshot, npz};
use countersign_testkit::random::Seed;
use countersign_testkit::scratch::Scratch;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

const CASES: usize = 40;

/// A Python that has a NumPy of its own; `./test` makes it and says where it is.
struct Python(Child, BufReader<ChildStdout>);

impl Python {
    fn new(variable: &str, version: &str) -> Self {
        let python = std::env::var(variable).unwrap_or_else(|_| {
            panic!("{variable} names no Python with NumPy {version}: run ./test, which makes one")
        });
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshot_numpy.py");
        let mut child = Command::new(&python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{variable}={python}: {error}: run ./test, which makes one"));
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut found = String::new();
        out.read_line(&mut found).unwrap();
        assert!(found.starts_with(version), "{variable} has NumPy {found:?}, not {version}");
        Python(child, out)
    }

    fn check(&mut self, case: &Value) {
        writeln!(self.0.stdin.as_mut().unwrap(), "{case}").unwrap();
        let mut answer = String::new();
        self.1.read_line(&mut answer).unwrap();
        assert_eq!(answer, "same\n", "Python says why on standard error; the case is {case}");
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        drop(self.0.wait());
    }
}

fn written(table: &OwnedTable) -> Vec<u8> {
    let mut bytes = Vec::new();
    snapshot::write(&table.table(), &mut bytes).unwrap();
    bytes
}

fn write_ours(ours: &[u8], dir: &Path) {
    let place = |name: &str| dir.join(name);
    std::fs::write(place("ours.pkl"), ours).unwrap();
    let opened = Snapshot::open(&place("ours.pkl")).unwrap();
    npz::export(&opened, &mut File::create(place("ours.npz")).unwrap()).unwrap();
    npz::export_matrix(&opened, &mut File::create(place("ours.npy")).unwrap()).unwrap();
}

fn read_theirs(dir: &Path, name: &str) -> OwnedTable {
    let path = dir.join(name);
    if !name.ends_with(".pkl") {
        return npz::import(&path).unwrap();
    }
    let opened = Snapshot::open(&path).unwrap_or_else(|refusal| panic!("{refusal}"));
    let (labels, dimension) = (opened.labels().unwrap(), opened.dimension());
    OwnedTable { labels, vectors: opened.vectors().to_vec(), dimension }
}

fn exchange(variable: &str, version: &str) {
    let mut python = Python::new(variable, version);
    let seed = Seed::of("tables for NumPy", 26);
    let mut random = seed.random();
    let mut tables: Vec<OwnedTable> = (0..CASES).map(|_| tables::table(&mut random)).collect();
    tables.push(tables::empty(3));
    // Long enough for Python to write the floats outside of its frames, and lists in several pieces.
    tables.push(tables::large(&mut random, 3_000, 24));
    for table in tables {
        let scratch = Scratch::new();
        let ours = written(&table);
        write_ours(&ours, scratch.path());
        let bits: Vec<String> = table.vectors.iter().map(|float| format!("{:x}", float.to_bits())).collect();
        python.check(&json!({
            "dir": scratch.path(),
            "ids": table.labels.ids,
            "meta": tables::plain(&table.labels.meta),
            "emb": bits,
            "dimension": table.dimension,
        }));
        for name in ["python4.pkl", "python5.pkl", "fortran4.pkl", "fortran5.pkl", "bytes.npz", "text.npz"] {
            let theirs = read_theirs(scratch.path(), name);
            // A number may come with other digits, but it is the same number, so the same file is made of it.
            assert_eq!(written(&theirs), ours, "{version} {name}: {:?}", theirs.labels);
        }
    }
}

#[test]
fn numpy_1_26_and_ours_say_the_same() {
    exchange("COUNTERSIGN_NUMPY1_PYTHON", "1.26.");
}

#[test]
fn numpy_2_and_ours_say_the_same() {
    exchange("COUNTERSIGN_NUMPY2_PYTHON", "2.");
}
