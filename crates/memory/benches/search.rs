//! Nearest neighbours among 100,000 vectors of 384 numbers: exact search within 1.5 times of NumPy, and an index that
//! gives the same hits sooner.
//! Peer: NumPy's matrix product with argpartition and a sort of the ten it finds, in another process that times itself
//! (COUNTERSIGN_BENCH_PYTHON names an interpreter that has NumPy; `./bench` sets it).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench fails by panicking")]

use countersign_memory::search::{Neighbours, nearest};
use countersign_testkit::bench::{Bar, Bench, Side};
use countersign_testkit::random::Random;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

const ROWS: usize = 100_000;
const DIMENSION: usize = 384;
const QUERIES: usize = 16;
const K: usize = 10;

const PYTHON: &str = "
import sys, time, numpy
rows, dimension, k = (int(text) for text in sys.argv[2:5])
numbers = numpy.fromfile(sys.argv[1], dtype=numpy.float32).reshape(-1, dimension)
vectors, queries = numbers[:rows].copy(), numbers[rows:].copy()
for line in sys.stdin:
    times, start = int(line), time.perf_counter()
    for at in range(times):
        query = queries[at % len(queries)]
        similarities = vectors @ query
        some = numpy.argpartition(similarities, -k)[-k:]
        best = some[numpy.argsort(-similarities[some], kind='stable')]
    print(time.perf_counter() - start, *best, flush=True)
";

fn main() {
    let numbers = numbers();
    let (vectors, queries) = numbers.split_at(ROWS * DIMENSION);
    let queries: Vec<&[f32]> = queries.chunks(DIMENSION).collect();
    let index = Neighbours::new(vectors, DIMENSION);
    for query in &queries {
        let found = nearest(vectors, DIMENSION, query, K);
        assert_eq!(index.nearest(query, K), found, "the index finds what is there");
    }
    let exact = |at: usize| drop(black_box(nearest(vectors, DIMENSION, queries[at % QUERIES], K)));
    let indexed = |at: usize| drop(black_box(index.nearest(queries[at % QUERIES], K)));

    let mut bench = Bench::default();
    let what = "10 nearest of 100,000 x 384 float32, exact (queries)";
    match std::env::var("COUNTERSIGN_BENCH_PYTHON") {
        Err(_) => {
            bench.print(
                what,
                "not measured",
                "COUNTERSIGN_BENCH_PYTHON is not set",
                0.0,
                Bar::AtLeast(1.0 / 1.5),
            );
        }
        Ok(python) => {
            let mut numpy = Numpy::new(&python, &numbers);
            numpy.agrees(vectors, &queries);
            let peer = Side::timed("NumPy product, argpartition, sort", |times| numpy.took(times).0);
            bench.compare(what, Side::new("countersign", turns(exact)), peer, Bar::AtLeast(1.0 / 1.5));
        }
    }
    bench.compare(
        "the same through the index (queries)",
        Side::new("index", turns(indexed)),
        Side::new("exact", turns(exact)),
        Bar::AtLeast(1.5),
    );
    bench.finish();
}

/// Another query each time.
fn turns(work: impl Fn(usize)) -> impl FnMut() {
    let mut at = 0;
    move || {
        work(at);
        at += 1;
    }
}

/// Rows and queries of unit length: a hundred subjects with texts around them, as memories have.
fn numbers() -> Vec<f32> {
    let mut random = Random::new(384);
    let mut number = || (0..4).map(|_| (random.bits() >> 40) as f32 / 16_777_216.0 - 0.5).sum::<f32>();
    let subjects: Vec<f32> = (0..100 * DIMENSION).map(|_| number()).collect();
    let mut numbers = Vec::with_capacity((ROWS + QUERIES) * DIMENSION);
    for row in 0..ROWS + QUERIES {
        let subject = &subjects[row % 100 * DIMENSION..][..DIMENSION];
        let row: Vec<f32> = subject.iter().map(|other| other + number()).collect();
        let length = row.iter().map(|number| number * number).sum::<f32>().sqrt();
        numbers.extend(row.iter().map(|number| number / length));
    }
    numbers
}

/// NumPy with the same numbers.
struct Numpy {
    child: Child,
    asked: ChildStdin,
    said: BufReader<ChildStdout>,
    file: PathBuf,
}

impl Numpy {
    fn new(python: &str, numbers: &[f32]) -> Self {
        let file = std::env::temp_dir().join(format!("countersign-search-{}", std::process::id()));
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        std::fs::write(&file, bytes).unwrap();
        let mut child = Command::new(python)
            .args(["-c", PYTHON])
            .arg(&file)
            .args([ROWS, DIMENSION, K].map(|number| number.to_string()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python runs");
        let (asked, said) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Numpy { child, asked, said, file }
    }

    /// How long so many queries took, and what the last one found.
    fn took(&mut self, times: u64) -> (Duration, Vec<usize>) {
        writeln!(self.asked, "{times}").unwrap();
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        let mut words = line.split_whitespace();
        let seconds = words.next().expect("Python answers").parse().unwrap();
        (Duration::from_secs_f64(seconds), words.map(|word| word.parse().unwrap()).collect())
    }

    /// Both find the same rows. NumPy adds in another order, so rows that are as good as equal may change places.
    fn agrees(&mut self, vectors: &[f32], queries: &[&[f32]]) {
        for (at, query) in queries.iter().enumerate() {
            let (_, theirs) = self.took(at as u64 + 1);
            let ours = nearest(vectors, DIMENSION, query, K);
            for (hit, row) in ours.iter().zip(theirs) {
                let row = &vectors[row * DIMENSION..][..DIMENSION];
                let similarity = nearest(row, DIMENSION, query, 1)[0].similarity;
                assert!((hit.similarity - similarity).abs() < 1e-5, "NumPy finds the same");
            }
        }
    }
}

impl Drop for Numpy {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
        drop(std::fs::remove_file(&self.file));
    }
}
