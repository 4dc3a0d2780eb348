//! The snapshot of vectors: ours, pickles of Python, arrays of NumPy.
//! Owns: what reading and refusing them must hold to. Must not: open a file, or run a pickle.

use countersign_memory::snapshot::{self, Labels, Refusal, Snapshot, Table, WriteError, npz};
use countersign_record::digest::Digest;
use countersign_record::json::Json;

/// How every file in our layout begins, up to the shape; Python begins with a frame.
const OURS: &[u8] = b"\x80\x05J";

/// A table that is accepted is whole. In our layout it has one file only, which is this one; in Python's it makes a
/// file of ours that says the same. What is refused is told the same way each time.
pub(crate) fn snapshot(input: &[u8]) {
    let opened = match Snapshot::of_bytes("it", input.to_vec()) {
        Ok(opened) => opened,
        Err(refusal) => {
            refused(&refusal);
            assert_eq!(Snapshot::of_bytes("it", input.to_vec()).err(), Some(refusal));
            return;
        }
    };
    assert_eq!(opened.vectors().len(), opened.count() * opened.dimension());
    assert_eq!(opened.verify(Digest::of(input)), Ok(()));
    let labels = match opened.labels() {
        Ok(labels) => labels,
        Err(refusal) => return refused(&refusal),
    };
    let Labels { ids, meta } = &labels;
    let table = Table { ids, meta, vectors: opened.vectors(), dimension: opened.dimension() };
    let Some(bytes) = written(&table) else { return };
    if input.starts_with(OURS) {
        assert_eq!(bytes, input, "a table of our layout has two files");
    }
    let again = Snapshot::of_bytes("it", bytes).expect("we wrote it");
    assert_eq!(again.labels().as_ref(), Ok(&labels));
}

/// Arrays that are accepted make a snapshot, and its export makes the same one.
pub(crate) fn snapshot_arrays(input: &[u8]) {
    let owned = match npz::of_bytes("it", input) {
        Ok(owned) => owned,
        Err(refusal) => {
            refused(&refusal);
            assert_eq!(npz::of_bytes("it", input), Err(refusal));
            return;
        }
    };
    // Numbers that would be rounded are refused only when the table is written.
    let Some(bytes) = written(&owned.table()) else { return };
    let opened = Snapshot::of_bytes("it", bytes.clone()).expect("we wrote it");
    let mut exported = std::io::Cursor::new(Vec::new());
    npz::export(&opened, &mut exported).expect("a snapshot can be exported");
    let back = npz::of_bytes("it", exported.get_ref()).expect("we exported it");
    assert_eq!(written(&back.table()), Some(bytes));
}

/// The file of a table; none where the table is refused, for a reason that is one of its rows.
fn written(table: &Table<'_>) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    match snapshot::write(table, &mut bytes) {
        Ok(digest) => {
            assert_eq!(digest, Digest::of(&bytes));
            assert!(table.meta.iter().all(|meta| matches!(meta, Json::Object(_))));
            Some(bytes)
        }
        Err(error) => {
            assert!(matches!(error, WriteError::Table(_)), "{error}");
            assert_eq!(bytes, b"", "something was written before the refusal");
            None
        }
    }
}

fn refused(refusal: &Refusal) {
    assert_eq!(refusal.code().entry().area, "snapshot");
    assert!(refusal.to_string().len() < 300);
}
