//! Signatures under decisions and anchors (Ed25519).
//! Owns: what is signed, and checking it. Must not: hold a private key.

use crate::digest::{decode_hex, encode_hex};
use alloc::vec::Vec;
use core::fmt;
use serde::ser::{Serialize, Serializer};

/// A public key; written as 64 lowercase hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PublicKey([u8; 32]);

/// A signature; written as 128 lowercase hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signature([u8; 64]);

/// Bytes or a text that is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an Ed25519 public key is 64 lowercase hexadecimal digits of a point on the curve")]
pub struct NotAKey;

/// A text that is no signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an Ed25519 signature is 128 lowercase hexadecimal digits")]
pub struct NotASignature;

/// The signature is not of this key over these bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the signature does not belong to this key and text")]
pub struct Forged;

/// What a signature stands under: a purpose and canonical JSON. The purpose keeps a signature for one thing
/// from being good for another.
#[must_use]
pub fn message(purpose: Purpose, canonical: &[u8]) -> Vec<u8> {
    let mut message = Vec::with_capacity(canonical.len() + 32);
    message.extend_from_slice(match purpose {
        Purpose::Decision => b"countersign/decision/1\n".as_slice(),
        Purpose::Anchor => b"countersign/anchor/1\n".as_slice(),
    });
    message.extend_from_slice(canonical);
    message
}

/// What a signature is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A person's decision in a row.
    Decision,
    /// The head of a ledger.
    Anchor,
}

impl PublicKey {
    /// The thirty-two bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Checks that `signature` is this key's over `message`. Strict: a malleable signature is refused.
    ///
    /// # Errors
    /// It is not.
    pub fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), Forged> {
        let key = ed25519_dalek::VerifyingKey::from_bytes(&self.0).map_err(|_| Forged)?;
        let signature = ed25519_dalek::Signature::from_bytes(&signature.0);
        key.verify_strict(message, &signature).map_err(|_| Forged)
    }
}

impl TryFrom<[u8; 32]> for PublicKey {
    type Error = NotAKey;

    fn try_from(bytes: [u8; 32]) -> Result<Self, NotAKey> {
        match ed25519_dalek::VerifyingKey::from_bytes(&bytes) {
            Ok(key) if !key.is_weak() => Ok(PublicKey(bytes)),
            Ok(_) | Err(_) => Err(NotAKey),
        }
    }
}

impl TryFrom<&str> for PublicKey {
    type Error = NotAKey;

    fn try_from(text: &str) -> Result<Self, NotAKey> {
        PublicKey::try_from(decode_hex(text).ok_or(NotAKey)?)
    }
}

impl Signature {
    /// A signature made or stored elsewhere; it proves nothing until verified.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 64]) -> Self {
        Signature(bytes)
    }

    /// The sixty-four bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 64] {
        &self.0
    }
}

impl TryFrom<&str> for Signature {
    type Error = NotASignature;

    fn try_from(text: &str) -> Result<Self, NotASignature> {
        decode_hex(text).map(Signature).ok_or(NotASignature)
    }
}

macro_rules! hexadecimal {
    ($name:ident, $digits:literal) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut digits = [0; $digits];
                encode_hex(&self.0, &mut digits);
                f.write_str(core::str::from_utf8(&digits).unwrap_or_default())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> alloc::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string", "pattern": concat!("^[0-9a-f]{", stringify!($digits), "}$")
                })
            }
        }
    };
}
hexadecimal!(PublicKey, 64);
hexadecimal!(Signature, 128);
