//! One array in NumPy's own form: a header of text, then the values.
//! Owns: the header as NumPy writes it (version 1.0), and three kinds of values. Must not: take another form of the
//! header, which only a hand could have written, or hold more than the file has.

use super::super::{LABELS_BYTES_MAX, ROWS_MAX, Shape, transposed};
use std::io::{self, Read, Write};

const MAGIC: &[u8] = b"\x93NUMPY\x01\x00";
/// Values begin at a multiple of this.
const ALIGNMENT: usize = 64;
/// NumPy's own is 118 bytes.
const HEADER_BYTES_MAX: usize = 1_024;
/// Values are read in pieces: what is said to be there may not be.
const PIECE_BYTES: usize = 64 * 1024;
/// A letter of a text array.
const LETTER_BYTES: usize = 4;

const CUT: &str = "an array is shorter than its header says";

/// What is said of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    descr: String,
    is_fortran: bool,
    shape: Vec<usize>,
}

/// Labels.
pub(super) enum Column {
    /// Bytes: JSON text.
    Bytes(Vec<u8>),
    /// One text for each row.
    Texts(Vec<String>),
}

impl Header {
    pub(super) fn matrix(shape: Shape) -> Self {
        Header { descr: "<f4".into(), is_fortran: false, shape: vec![shape.rows, shape.dimension] }
    }

    pub(super) fn bytes(length: usize) -> Self {
        Header { descr: "|u1".into(), is_fortran: false, shape: vec![length] }
    }

    /// The text, as NumPy prints it.
    fn text(&self) -> String {
        let is_fortran = if self.is_fortran { "True" } else { "False" };
        let sizes: Vec<String> = self.shape.iter().map(ToString::to_string).collect();
        let comma = if sizes.len() == 1 { "," } else { "" };
        let (descr, shape) = (&self.descr, sizes.join(", "));
        format!("{{'descr': '{descr}', 'fortran_order': {is_fortran}, 'shape': ({shape}{comma}), }}")
    }

    /// The one that prints as this text, up to the spaces at its end.
    fn of_text(text: &str) -> Option<Self> {
        let text = text.strip_suffix('\n')?.trim_end_matches(' ');
        let (descr, rest) = text.strip_prefix("{'descr': '")?.split_once('\'')?;
        let (fortran, rest) = rest.strip_prefix(", 'fortran_order': ")?.split_once(',')?;
        let (shape, _) = rest.strip_prefix(" 'shape': (")?.split_once(')')?;
        let sizes = shape.split(',').map(str::trim).filter(|size| !size.is_empty());
        let shape = sizes.map(|size| size.parse().ok()).collect::<Option<Vec<usize>>>()?;
        let header = Header { descr: descr.to_owned(), is_fortran: fortran == "True", shape };
        (header.text() == text).then_some(header)
    }
}

/// Writes the header of an array whose values follow.
pub(super) fn write_header(header: &Header, out: &mut impl Write) -> io::Result<()> {
    let mut text = header.text();
    let fixed = MAGIC.len() + size_of::<u16>();
    while !(fixed + text.len() + 1).is_multiple_of(ALIGNMENT) {
        text.push(' ');
    }
    text.push('\n');
    let length = u16::try_from(text.len()).map_err(io::Error::other)?;
    out.write_all(MAGIC)?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(text.as_bytes())
}

fn read_header(from: &mut impl Read) -> Result<Header, &'static str> {
    const ODD: &str = "an array has no header that is known";
    let (mut magic, mut length) = ([0; MAGIC.len()], [0; size_of::<u16>()]);
    from.read_exact(&mut magic).and_then(|()| from.read_exact(&mut length)).map_err(|_| ODD)?;
    let length = usize::from(u16::from_le_bytes(length));
    if magic != MAGIC || length > HEADER_BYTES_MAX {
        return Err(ODD);
    }
    let mut text = vec![0; length];
    from.read_exact(&mut text).map_err(|_| ODD)?;
    std::str::from_utf8(&text).ok().and_then(Header::of_text).ok_or(ODD)
}

/// Reads the vectors. The file has `bytes_max` bytes, so no array in it has more.
pub(super) fn read_matrix(from: &mut impl Read, bytes_max: usize) -> Result<(Vec<f32>, Shape), &'static str> {
    let header = read_header(from)?;
    if header.descr != "<f4" {
        return Err("emb is no array of float32");
    }
    let [rows, dimension] = header.shape.as_slice() else { return Err("emb has not two dimensions") };
    let shape = Shape { rows: *rows, dimension: *dimension };
    let length =
        shape.bytes().filter(|_| shape.check().is_ok()).ok_or("emb is larger than a table may be")?;
    let bytes = read_values(from, length, bytes_max)?;
    let floats = super::super::copied(&bytes);
    Ok((if header.is_fortran { transposed(&floats, shape) } else { floats }, shape))
}

/// Reads labels.
pub(super) fn read_labels(from: &mut impl Read, bytes_max: usize) -> Result<Column, &'static str> {
    const LONG: &str = "the labels are longer than they may be";
    let header = read_header(from)?;
    let [length] = header.shape.as_slice() else { return Err("labels have not one dimension") };
    if header.descr == "|u1" {
        if *length > 2 * LABELS_BYTES_MAX {
            return Err(LONG);
        }
        return read_values(from, *length, bytes_max).map(Column::Bytes);
    }
    let letters = header.descr.strip_prefix("<U").and_then(|letters| letters.parse::<usize>().ok());
    let width = letters.ok_or("labels are neither bytes nor text")?.checked_mul(LETTER_BYTES).ok_or(LONG)?;
    let all = width.checked_mul(*length).filter(|all| *all <= LABELS_BYTES_MAX && *length <= ROWS_MAX);
    let bytes = read_values(from, all.ok_or(LONG)?, bytes_max)?;
    let text = |row: usize| {
        let row = bytes.get(row * width..(row + 1) * width).unwrap_or_default();
        let (letters, _) = row.as_chunks::<LETTER_BYTES>();
        let text = letters.iter().map(|letter| char::from_u32(u32::from_le_bytes(*letter)));
        // NumPy fills a text up with NULs.
        text.collect::<Option<String>>().map(|text| text.trim_end_matches('\0').to_owned())
    };
    let texts = (0..*length).map(text).collect::<Option<_>>();
    texts.map(Column::Texts).ok_or("a text is not Unicode")
}

/// Reads exactly so many bytes, which are the last.
fn read_values(from: &mut impl Read, length: usize, bytes_max: usize) -> Result<Vec<u8>, &'static str> {
    if length > bytes_max {
        return Err(CUT);
    }
    let mut bytes = Vec::with_capacity(length);
    let mut piece = [0; PIECE_BYTES];
    loop {
        let read = from.read(&mut piece).map_err(|_| "an array can't be read whole")?;
        if read == 0 {
            break;
        }
        bytes.extend_from_slice(piece.get(..read).unwrap_or_default());
        if bytes.len() > length {
            return Err("an array is longer than its header says");
        }
    }
    if bytes.len() == length { Ok(bytes) } else { Err(CUT) }
}
