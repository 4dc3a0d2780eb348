//! The snapshot file: what is written comes back, and what is not ours is refused, whatever it holds.

use crate::tables;
use countersign_memory::snapshot::{
    self, DEPTH_MAX, DIMENSION_MAX, Flaw, Labels, OwnedTable, Refusal, Snapshot, WriteError, npz,
};
use countersign_record::digest::Digest;
use countersign_testkit::random::Seed;
use countersign_testkit::scratch::Scratch;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::io::Cursor;

/// Pickles that Python wrote with NumPy 1.26.4 and 2.4, all of one table but for the empty ones.
const PYTHONS: [(&str, &[u8]); 6] = [
    ("numpy1, protocol 4", include_bytes!("../data/numpy1_protocol4.pkl")),
    ("numpy1, protocol 5", include_bytes!("../data/numpy1_protocol5.pkl")),
    ("numpy2, protocol 4", include_bytes!("../data/numpy2_protocol4.pkl")),
    ("numpy2, protocol 5", include_bytes!("../data/numpy2_protocol5.pkl")),
    ("numpy2, Fortran, protocol 4", include_bytes!("../data/numpy2_fortran4.pkl")),
    ("numpy2, Fortran, protocol 5", include_bytes!("../data/numpy2_fortran5.pkl")),
];
const PYTHON5: &[u8] = PYTHONS[3].1;
const EMPTIES: [&[u8]; 2] =
    [include_bytes!("../data/numpy2_empty4.pkl"), include_bytes!("../data/numpy2_empty5.pkl")];

fn written(table: &OwnedTable) -> (Vec<u8>, Digest) {
    let mut bytes = Vec::new();
    let digest = snapshot::write(&table.table(), &mut bytes).unwrap();
    (bytes, digest)
}

fn read(bytes: &[u8]) -> Result<OwnedTable, Refusal> {
    let opened = Snapshot::of_bytes("test", bytes.to_vec())?;
    let (labels, dimension) = (opened.labels()?, opened.dimension());
    assert_eq!((labels.ids.len(), labels.meta.len()), (opened.count(), opened.count()));
    assert_eq!(opened.vectors().len(), opened.count() * dimension);
    Ok(OwnedTable { labels, vectors: opened.vectors().to_vec(), dimension })
}

fn small() -> OwnedTable {
    let meta = [json!({"a": [1, -2.5, null, true, {}], "n": 1_u64 << 40}), json!({"s": "x".repeat(256)})];
    let labels =
        Labels { ids: vec!["first".into(), String::new()], meta: meta.iter().map(tables::ours).collect() };
    OwnedTable { labels, vectors: vec![0.0, 1.0, -1.5, f32::MAX, f32::MIN_POSITIVE, -0.0], dimension: 3 }
}

fn of_python() -> OwnedTable {
    let shared = json!({"k": [1, 2.5, null, true, "é"]});
    let meta = [shared.clone(), json!({"k": -1, "n": 1_u64 << 40, "s": shared})];
    let labels = Labels { ids: vec!["a".into(), "b".into()], meta: meta.iter().map(tables::ours).collect() };
    OwnedTable { labels, vectors: vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0], dimension: 3 }
}

fn json_values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(|value| json!(value)),
        any::<i64>().prop_map(|value| json!(value)),
        any::<i32>().prop_map(|value| json!(value)),
        any::<f64>().prop_filter("finite", |value| value.is_finite()).prop_map(|value| json!(value)),
        any::<String>().prop_map(|value| json!(value)),
        "[a-c]{250,260}".prop_map(|value| json!(value)),
    ];
    leaf.prop_recursive(4, 40, 6, |inside| {
        prop_oneof![
            proptest::collection::vec(inside.clone(), 0..6).prop_map(Value::from),
            proptest::collection::btree_map(any::<String>(), inside, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_table() -> impl Strategy<Value = OwnedTable> {
    let object = proptest::collection::btree_map(any::<String>(), json_values(), 0..4)
        .prop_map(|members| tables::ours(&Value::Object(members.into_iter().collect())))
        .boxed();
    (0_usize..5, 1_usize..20).prop_flat_map(move |(rows, dimension)| {
        let float = any::<f32>().prop_filter("finite", |value| value.is_finite());
        (
            proptest::collection::vec(any::<String>(), rows),
            proptest::collection::vec(object.clone(), rows),
            proptest::collection::vec(float, rows * dimension),
        )
            .prop_map(move |(ids, meta, vectors)| OwnedTable {
                labels: Labels { ids, meta },
                vectors,
                dimension,
            })
    })
}

proptest! {
    /// A table is written, read and written again: the same bytes. Its numbers keep their value and their kind.
    #[test]
    fn what_is_written_comes_back(table in any_table()) {
        let (bytes, digest) = written(&table);
        prop_assert_eq!(Digest::of(&bytes), digest);
        let back = read(&bytes).unwrap();
        prop_assert_eq!(&back.labels.ids, &table.labels.ids);
        let bits = |floats: &[f32]| floats.iter().map(|float| float.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&back.vectors), bits(&table.vectors));
        prop_assert_eq!(tables::plain(&back.labels.meta), tables::plain(&table.labels.meta));
        prop_assert_eq!(written(&back), (bytes, digest));
    }

    /// Through `.npz` and back: the same file.
    #[test]
    fn an_npz_makes_the_same_snapshot(table in any_table()) {
        let (bytes, digest) = written(&table);
        let opened = Snapshot::of_bytes("test", bytes).unwrap();
        let mut exported = Cursor::new(Vec::new());
        npz::export(&opened, &mut exported).unwrap();
        let imported = npz::of_bytes("test", exported.get_ref()).unwrap();
        prop_assert_eq!(written(&imported).1, digest);
        let mut matrix = Vec::new();
        npz::export_matrix(&opened, &mut matrix).unwrap();
        let imported = npz::of_bytes("test", &matrix).unwrap();
        let numbers: Vec<String> = (0..opened.count()).map(|row| row.to_string()).collect();
        prop_assert_eq!((&imported.vectors[..], &imported.labels.ids), (opened.vectors(), &numbers));
    }
}

#[test]
fn a_mapped_snapshot_is_in_place_and_verified() {
    let scratch = Scratch::new();
    let path = scratch.path().join("history_store.pkl");
    let seed = Seed::of("a mapped snapshot", 5);
    let table = tables::large(&mut seed.random(), 500, 16);
    let digest = snapshot::publish_new(&path, |file| snapshot::write(&table.table(), file)).unwrap();
    let opened = Snapshot::open(&path).unwrap();
    assert_eq!((opened.count(), opened.dimension()), (500, 16));
    assert_eq!(opened.vectors(), table.vectors);
    assert!((opened.vectors().as_ptr() as usize).is_multiple_of(64), "the floats are aligned in the file");
    assert_eq!(opened.labels().unwrap(), table.labels);
    assert_eq!(opened.verify(digest), Ok(()));
    let changed = Refusal::Changed { path: path.display().to_string() };
    assert_eq!(opened.verify(Digest::of(b"")), Err(changed));
    let again = snapshot::publish_new(&path, |file| snapshot::write(&table.table(), file));
    assert!(matches!(again, Err(WriteError::Exists { .. })));
    let names: Vec<_> =
        std::fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["history_store.pkl"], "no stage is left behind");
}

#[test]
fn what_is_no_table_is_refused_before_a_byte_is_written() {
    let check = |change: &dyn Fn(&mut OwnedTable), expected: Flaw| {
        let mut table = small();
        change(&mut table);
        let mut bytes = Vec::new();
        match snapshot::write(&table.table(), &mut bytes) {
            Err(WriteError::Table(flaw)) => assert_eq!(flaw, expected),
            other => panic!("{expected}: {other:?}"),
        }
        assert_eq!(bytes, b"", "{expected}");
    };
    let lengths = |ids, meta, floats, dimension| Flaw::Lengths { ids, meta, floats, dimension };
    check(&|table| drop(table.labels.ids.pop()), lengths(1, 2, 6, 3));
    check(&|table| drop(table.labels.meta.pop()), lengths(2, 1, 6, 3));
    check(&|table| table.vectors.truncate(5), lengths(2, 2, 5, 3));
    check(&|table| table.dimension = 2, lengths(2, 2, 6, 2));
    check(&|table| table.dimension = 0, Flaw::Dimension);
    check(&|table| table.dimension = DIMENSION_MAX + 1, Flaw::Dimension);
    for float in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        check(&|table| table.vectors[4] = float, Flaw::NotFinite { row: 1 });
    }
    let put = |table: &mut OwnedTable, text: &str| {
        table.labels.meta[1] = countersign_record::json::parse(text.as_bytes()).unwrap();
    };
    for text in ["[]", "null", "1", "\"x\""] {
        check(&|table| put(table, text), Flaw::NotAnObject { row: 1 });
    }
    for number in ["9223372036854775808", "-9223372036854775809", "1e400", "0.1000000000000000055"] {
        check(&|table| put(table, &format!("{{\"n\": [{number}]}}")), Flaw::Number { row: 1 });
    }
    let nested = |depth: usize| format!("{{\"n\": {}{}}}", "[".repeat(depth), "]".repeat(depth));
    check(&|table| put(table, &nested(DEPTH_MAX)), Flaw::Depth { row: 1 });
    let mut table = small();
    put(&mut table, &nested(DEPTH_MAX - 1));
    assert_eq!(read(&written(&table).0), Ok(table));
}

#[test]
fn pickles_of_python_are_read() {
    for (name, bytes) in PYTHONS {
        assert_eq!(read(bytes), Ok(of_python()), "{name}");
    }
    for bytes in EMPTIES {
        assert_eq!(read(bytes), Ok(tables::empty(3)));
    }
    let text = npz::of_bytes("test", include_bytes!("../data/numpy2_text.npz")).unwrap();
    assert_eq!((text.labels.ids, text.vectors), (of_python().labels.ids, of_python().vectors));
    let matrix = npz::of_bytes("test", include_bytes!("../data/numpy2.npy")).unwrap();
    assert_eq!((matrix.labels.ids, matrix.vectors), (vec!["0".into(), "1".into()], of_python().vectors));
}

/// One byte of our layout changed: it is refused, or it says another table, whose only file this is.
#[test]
fn every_changed_byte_is_refused_or_means_something_else() {
    let (bytes, _) = written(&small());
    let mut accepted = 0;
    for at in 0..bytes.len() {
        for value in 0..=u8::MAX {
            let mut changed = bytes.clone();
            changed[at] = value;
            let Ok(table) = read(&changed) else { continue };
            accepted += 1;
            let generation = Snapshot::of_bytes("changed", changed.clone()).unwrap().generation().unwrap();
            match snapshot::write_generation(&table.table(), generation, &mut Vec::new()) {
                Ok(digest) => assert_eq!(digest, Digest::of(&changed), "byte {at} as {value}"),
                Err(error) => assert!(matches!(error, WriteError::Table(Flaw::NotFinite { .. })), "{error}"),
            }
        }
    }
    assert!(accepted > bytes.len(), "each byte as itself at least");
}

#[test]
fn every_cut_and_every_tail_is_refused() {
    let (ours, _) = written(&small());
    for bytes in [ours.as_slice(), PYTHONS[0].1, PYTHON5] {
        for end in 0..bytes.len() {
            let first = read(&bytes[..end]).expect_err("it is cut");
            assert_eq!(read(&bytes[..end]), Err(first));
        }
        for tail in [&b"\0"[..], b".", b"s.", b"cos\nsystem\n"] {
            assert!(read(&[bytes, tail].concat()).is_err());
        }
    }
}

/// One byte of Python's changed: no panic, and what is accepted is a table.
#[test]
fn every_changed_byte_of_a_python_pickle_is_survived() {
    for (_, bytes) in PYTHONS {
        for at in 0..bytes.len() {
            for value in 0..=u8::MAX {
                let mut changed = bytes.to_vec();
                changed[at] = value;
                drop(read(&changed));
            }
        }
    }
}

fn refused(bytes: &[u8], why: &str) {
    match read(bytes) {
        Err(Refusal::UnknownLayout { why: told, .. }) => assert_eq!(told, why),
        other => panic!("{why}: {other:?}"),
    }
}

#[test]
fn what_would_run_is_refused_and_not_run() {
    const OPCODE: &str = "an opcode that no table needs";
    const GLOBAL: &str = "a global that no table needs";
    let scratch = Scratch::new();
    let canary = scratch.path().join("canary");
    let command = format!("touch {}", canary.display());
    let length = u8::try_from(command.len()).unwrap();
    let text = [&[0x8c, length], command.as_bytes()].concat();
    let pickle = |parts: &[&[u8]]| [b"\x80\x04", parts.concat().as_slice()].concat();
    refused(&pickle(&[b"cos\nsystem\n", &text, b"\x85R."]), OPCODE);
    refused(&pickle(&[b"\x8c\x02os\x8c\x06system\x93", &text, b"\x85R."]), GLOBAL);
    refused(&pickle(&[b"\x8c\x05posix\x94\x8c\x06system\x94\x93\x94", &text, b"\x94\x85\x94R."]), GLOBAL);
    refused(&pickle(&[b"(", &text, b"ios\nsystem\n."]), OPCODE);
    refused(&pickle(&[b"(cos\nsystem\n", &text, b"o."]), OPCODE);
    refused(&pickle(&[b"\x8c\x08builtins\x8c\x04eval\x93."]), GLOBAL);
    refused(&pickle(&[b"\x8c\x05numpy\x8c\x08savetext\x93."]), GLOBAL);
    // The globals that are known do nothing else than they do for an array.
    let dtype = b"\x8c\x05numpy\x8c\x05dtype\x93";
    refused(&pickle(&[dtype, b"\x8c\x02O8\x89\x88\x87R."]), "a call that no table needs");
    refused(&pickle(&[dtype, dtype, b"\x85R."]), "a call that no table needs");
    refused(&pickle(&[dtype, b")\x81."]), OPCODE);
    refused(&pickle(&[b"}}b."]), "a state that no table needs");
    refused(&pickle(&[dtype, b"\x8c\x02f4\x89\x88\x87R}b."]), "a state that no table needs");
    for opcode in
        [b'P', b'Q', 0x82, 0x83, 0x84, 0x81, 0x92, 0x97, 0x98, b'0', b'1', b'2', b'p', b'q', b'r', b'c', b'i']
    {
        refused(&pickle(&[b"NN", &[opcode], b"\0\0\0\0."]), OPCODE);
    }
    // The same in the labels of a file that begins as ours does.
    let (ours, _) = written(&tables::empty(2));
    let head = &ours[..ours.len() - b"]s\x8c\x04meta]s.".len()];
    for labels in [
        &b"cos\nsystem\n"[..],
        b"]s\x8c\x04metacos\nsystem\n",
        b"h\0s\x8c\x04meta]s.",
        b"](Nes\x8c\x04meta]s.",
    ] {
        assert!(read(&[head, labels].concat()).is_err());
    }
    assert!(!canary.exists());
}

#[test]
fn what_would_fill_the_memory_is_refused() {
    let pickle = |parts: &[&[u8]]| [b"\x80\x05", parts.concat().as_slice()].concat();
    const CUT: &str = "the file ends in a value";
    refused(&pickle(&[b"X\xff\xff\xff\xff"]), CUT);
    refused(&pickle(&[b"\x96\xff\xff\xff\xff\xff\xff\xff\xff"]), CUT);
    refused(&pickle(&[b"\x8e\xff\xff\xff\xff\xff\xff\xff\x7f"]), CUT);
    refused(&pickle(&[b"\x95\xff\xff\xff\xff\xff\xff\xff\xff."]), "a frame is longer than the file");
    refused(&pickle(&[b"\x8a\x09\0\0\0\0\0\0\0\0\x01."]), "an integer is beyond 64 bits");
    refused(&pickle(&[b"h\0."]), "the memo holds no such value");
    refused(&pickle(&[b"]\x94j\xff\xff\xff\xff."]), "the memo holds no such value");
    refused(&pickle(&[b"e."]), "there is no mark");
    refused(&pickle(&[b"](]a."]), "the stack is empty");
    refused(&pickle(&[b"(."]), "the pickle does not end with one value");
    refused(&pickle(&[&b"(".repeat(100_000), b"."]), "the pickle does not end with one value");
    refused(&pickle(&[&b"]".repeat(100_000), &b"a".repeat(99_999), b"."]), "the pickle is no dict");

    // A meta in place of the second one of Python's table: {'k': -1, …}.
    let from = PYTHON5.windows(4).position(|window| window == b"}\x94(h").unwrap();
    let to = PYTHON5
        .windows(6)
        .position(|window| window == b"\x8c\x03emb\x94")
        .unwrap_or_else(|| PYTHON5.windows(5).position(|window| window == b"\x8c\x03emb").unwrap());
    let with_meta = |meta: &[u8]| [b"\x80\x05", &PYTHON5[11..from], meta, b"e", &PYTHON5[to..]].concat();
    assert!(read(&with_meta(b"}\x94")).is_ok(), "the frame apart, an empty dict in its place is fine");
    // {'x': [...]} that holds itself, and one that is nested.
    refused(&with_meta(b"}\x94(\x8c\x01x](jX\0\0\0eu"), "the memo holds no such value");
    let memo = PYTHON5[..from].iter().filter(|byte| **byte == 0x94).count();
    let memo = u8::try_from(memo).unwrap();
    let deep = "the labels are nested too deep";
    refused(&with_meta(&[b"}\x94(\x8c\x01x]h", &[memo][..], b"au"].concat()), deep);
    refused(
        &with_meta(
            &[b"}(\x8c\x01x", &b"]".repeat(DEPTH_MAX)[..], &b"a".repeat(DEPTH_MAX - 1), b"u"].concat(),
        ),
        deep,
    );
    // Ten lists of ten of the one before: a few bytes that mean ten thousand million values.
    let mut laughs = b"}(\x8c\x01x](]\x94".to_vec();
    for level in 0..10 {
        laughs.extend_from_slice(b"](");
        laughs.extend([b'h', memo + level].repeat(10));
        laughs.extend_from_slice(b"e\x94");
    }
    laughs.extend_from_slice(b"eu");
    refused(&with_meta(&laughs), "there are more values than labels may hold");
    // One long text, many times.
    let long = "x".repeat(1 << 20);
    let length = u32::try_from(long.len()).unwrap().to_le_bytes();
    let again = [b'h', memo].repeat(300);
    let texts = [b"}(\x8c\x01x](X", &length[..], long.as_bytes(), b"\x94", &again, b"eu"].concat();
    refused(&with_meta(&texts), "the labels are longer than they may be");
    refused(&with_meta(b"}(\x8c\x01xN\x8c\x01xNu"), "a dict has a key twice");
    refused(&with_meta(b"}(NNu"), "a label that should be a text is none");
    refused(&with_meta(b"]"), "meta holds something that is no dict");
    refused(&with_meta(b"}(\x8c\x01x)u"), "a label holds something that JSON can't say");
    refused(&with_meta(b"}(\x8c\x01xG\x7f\xf0\0\0\0\0\0\0u"), "a number is a NaN or an infinity");
    refused(&with_meta(b"}(\x8c\x01x\x8c\x03\xed\xa0\x80u"), "a text is not UTF-8");
    refused(&with_meta(b"}}"), "ids and meta have not as many items as emb has rows");
}

#[test]
fn a_lie_in_our_head_is_refused() {
    let (bytes, _) = written(&small());
    let lie = |at: usize, value: &[u8], why: &str| {
        let mut changed = bytes.clone();
        changed[at..at + value.len()].copy_from_slice(value);
        refused(&changed, why);
    };
    lie(3, &i32::MAX.to_le_bytes(), "there are more rows than a table may have");
    lie(3, &(-1_i32).to_le_bytes(), "there are more rows than a table may have");
    lie(8, &0_i32.to_le_bytes(), "the dimension is none that a vector may have");
    lie(8, &(-3_i32).to_le_bytes(), "the dimension is none that a vector may have");
    lie(3, &3_i32.to_le_bytes(), "the length of the floats is not that of the shape");
    lie(120, &u64::MAX.to_le_bytes(), "the length of the floats is not that of the shape");
    lie(21, b"\x8c\x05posix", "the head is not the template's");
    // A shape that fits its length, but not the file.
    let mut changed = bytes.clone();
    changed[3..7].copy_from_slice(&4_000_000_i32.to_le_bytes());
    changed[120..128].copy_from_slice(&48_000_000_u64.to_le_bytes());
    refused(&changed, "the file ends in its floats");
    refused(b"", "it is no pickle of protocol 4 or 5");
    refused(b"\x80\x03}.", "it is no pickle of protocol 4 or 5");
    assert_eq!(read(&bytes).unwrap().labels.meta.len(), 2);
}

#[test]
fn other_arrays_are_refused() {
    let check = |bytes: &[u8], why: &str| match npz::of_bytes("test", bytes) {
        Err(refusal) => assert_eq!(refusal.to_string(), why),
        Ok(table) => panic!("{why}: {table:?}"),
    };
    let npy = include_bytes!("../data/numpy2.npy");
    let header = |from: &str, to: &str| {
        let text = String::from_utf8_lossy(&npy[10..128]).replace(from, to);
        [&npy[..10], &text.as_bytes()[..118], &npy[128..]].concat()
    };
    check(b"", "test, byte 0: it is neither .npz nor .npy");
    check(b"PK", "test, byte 0: it is no zip that can be read");
    check(&npy[..60], "test, byte 0: an array has no header that is known");
    check(&npy[..140], "test, byte 0: an array is shorter than its header says");
    check(&[npy, &b"x"[..]].concat(), "test, byte 0: an array is longer than its header says");
    check(&header("<f4", "<f8"), "test, byte 0: emb is no array of float32");
    check(&header("'<f4'", "'|O' "), "test, byte 0: an array has no header that is known");
    check(&header("(2, 3)", "(9, 9)"), "test, byte 0: an array is shorter than its header says");
    check(&header("(2, 3)", "(6,)  "), "test, byte 0: an array has no header that is known");
    let mut nan = npy.to_vec();
    nan[128..132].copy_from_slice(&f32::NAN.to_le_bytes());
    check(&nan, "test: row 0: the vector holds a NaN or an infinity");
    let whole = include_bytes!("../data/numpy2_text.npz");
    for at in 0..whole.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff, whole[at] ^ 1, whole[at].wrapping_add(1)] {
            let mut changed = whole.to_vec();
            changed[at] = value;
            drop(npz::of_bytes("test", &changed));
        }
    }
    for end in 0..whole.len() {
        assert!(npz::of_bytes("test", &whole[..end]).is_err());
    }
}
