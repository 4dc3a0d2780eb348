//! Key files.
//! Owns: their form (64 hexadecimal digits and a line end), their modes, their durability. Must not: follow a
//! link, or read a key that others can read.

use super::Error;
use countersign_durable as durable;
use countersign_record::id::PrincipalId;
use countersign_record::sign::PublicKey;
use ed25519_dalek::SigningKey;
use rustix::fs::OFlags;
use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// 64 digits and the line end; one more byte shows that a file is longer.
const FILE_BYTES: usize = 65;

fn io_at(place: &Path) -> impl FnOnce(io::Error) -> Error {
    let place = place.to_path_buf();
    |error| Error::Io { place, error }
}

/// Whether there is anything of this name, a dangling link included.
pub(super) fn exists(place: &Path) -> bool {
    fs::symlink_metadata(place).is_ok()
}

/// The names in a directory of principals, sorted, each once.
pub(super) fn names(dir: &Path) -> Result<Vec<PrincipalId>, Error> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io_at(dir)(error)),
    };
    let mut names = BTreeSet::new();
    for entry in entries {
        let entry = entry.map_err(io_at(dir))?;
        let file = entry.file_name();
        let stem =
            file.to_str().and_then(|file| file.strip_suffix(".key").or_else(|| file.strip_suffix(".pub")));
        match stem.and_then(|stem| PrincipalId::try_from(stem).ok()) {
            Some(name) => drop(names.insert(name)),
            None => return Err(Error::Damaged { place: entry.path(), why: "this is no file of a keyring" }),
        }
    }
    Ok(names.into_iter().collect())
}

/// Stores a private key that must not be there yet.
pub(super) fn write_private(place: &Path, key: &SigningKey) -> Result<(), Error> {
    write(place, 0o600, &key.to_bytes())
}

/// Stores a public key that must not be there yet.
pub(super) fn write_public(place: &Path, key: PublicKey) -> Result<(), Error> {
    write(place, 0o644, key.as_bytes())
}

fn write(place: &Path, mode: u32, bytes: &[u8; 32]) -> Result<(), Error> {
    let dir = durable::parent_of(place);
    durable::make_dirs(dir, 0o700).map_err(io_at(dir))?;
    let mut text = [b'\n'; FILE_BYTES];
    for (byte, pair) in bytes.iter().zip(text.chunks_exact_mut(2)) {
        pair[0] = digit(byte >> 4);
        pair[1] = digit(byte & 0xF);
    }
    let written = durable::write_new(place, mode, &text).and_then(|()| durable::sync_dir(dir));
    text.fill(0);
    written.map_err(io_at(place))
}

fn digit(value: u8) -> u8 {
    if value < 10 { b'0' + value } else { b'a' + value - 10 }
}

/// A private key, if there is one.
pub(super) fn read_private(place: &Path) -> Result<Option<SigningKey>, Error> {
    let Some((mut text, mode)) = read(place)? else { return Ok(None) };
    if mode & 0o077 != 0 {
        return Err(Error::Exposed { place: place.to_path_buf(), mode: mode & 0o7777 });
    }
    let key = decode(&text).map(|seed| SigningKey::from_bytes(&seed));
    text.fill(0);
    key.map(Some).ok_or_else(|| not_a_key(place))
}

/// A public key, if there is one.
pub(super) fn read_public(place: &Path) -> Result<Option<PublicKey>, Error> {
    let Some((text, _)) = read(place)? else { return Ok(None) };
    let key = decode(&text).and_then(|bytes| PublicKey::try_from(bytes).ok());
    key.map(Some).ok_or_else(|| not_a_key(place))
}

fn not_a_key(place: &Path) -> Error {
    Error::Damaged {
        place: place.to_path_buf(),
        why: "a key is 64 lowercase hexadecimal digits and a line end",
    }
}

fn read(place: &Path) -> Result<Option<(Vec<u8>, u32)>, Error> {
    // Without NONBLOCK, a pipe of this name would hold us for ever.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let opened = OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(place);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io_at(place)(error)),
    };
    let about = file.metadata().map_err(io_at(place))?;
    if !about.is_file() {
        return Err(Error::Damaged { place: place.to_path_buf(), why: "a key is a regular file" });
    }
    let mut text = Vec::with_capacity(FILE_BYTES + 1);
    file.take(FILE_BYTES as u64 + 1).read_to_end(&mut text).map_err(io_at(place))?;
    Ok(Some((text, about.permissions().mode())))
}

fn decode(text: &[u8]) -> Option<[u8; 32]> {
    let digits = text.strip_suffix(b"\n").filter(|digits| digits.len() == FILE_BYTES - 1)?;
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let value = |digit: u8| match digit {
            b'0'..=b'9' => Some(digit - b'0'),
            b'a'..=b'f' => Some(digit - b'a' + 10),
            _ => None,
        };
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(bytes)
}
