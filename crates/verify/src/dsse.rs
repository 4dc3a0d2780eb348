//! The envelope around a statement: DSSE, with Ed25519.
//! Owns: the envelope's form, and the bytes that are signed. Must not: sign, or read a statement.
//!
//! A key is named by its own 64 digits, so a signature can be checked without anything else; whether the key is one to trust is
//! another question. One packet is one row of bytes: an envelope that is spelled otherwise is none.

use crate::place;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::base64;
use countersign_record::canonical::{self, Unwritable};
use countersign_record::fields::Fields;
use countersign_record::json::{Limits, parse_with};
use countersign_record::sign::{PublicKey, Signature};
use serde::Serialize;

/// What the payload is.
pub const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";
/// Bytes of a packet, at most.
pub const BYTES_MAX: usize = 1 << 30;
/// Signatures under a packet, at most.
const SIGNATURES_MAX: usize = 64;

/// A payload with signatures under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// What is signed.
    pub payload: Vec<u8>,
    /// By whom.
    pub signatures: Vec<Signed>,
}

/// A signature, and the key that it says it is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signed {
    /// The key.
    pub key: PublicKey,
    /// The signature.
    pub signature: Signature,
}

/// Bytes that are no envelope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{member}: {why}")]
pub struct NotAnEnvelope {
    /// Which part.
    pub member: String,
    /// What is wrong with it.
    pub why: String,
}

fn wrong(member: &str, why: impl ToString) -> NotAnEnvelope {
    NotAnEnvelope { member: member.to_string(), why: why.to_string() }
}

/// The bytes that a signature stands under: the type and the payload with their lengths, so that neither can pass for a part of the
/// other.
#[must_use]
pub fn signed_bytes(payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {PAYLOAD_TYPE} {} ", PAYLOAD_TYPE.len(), payload.len());
    [head.as_bytes(), payload].concat()
}

#[derive(Serialize)]
struct Written<'a> {
    payload: String,
    #[serde(rename = "payloadType")]
    payload_type: &'a str,
    signatures: Vec<WrittenSignature>,
}

#[derive(Serialize)]
struct WrittenSignature {
    keyid: String,
    sig: String,
}

impl Envelope {
    /// The bytes of the file.
    ///
    /// # Errors
    /// None that an envelope can bring about; the writer of canonical JSON may still refuse.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Unwritable> {
        let signature = |one: &Signed| WrittenSignature {
            keyid: one.key.to_string(),
            sig: base64::encode(one.signature.as_bytes()),
        };
        let mut bytes = canonical::to_bytes_of(&Written {
            payload: base64::encode(&self.payload),
            payload_type: PAYLOAD_TYPE,
            signatures: self.signatures.iter().map(signature).collect(),
        })?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Reads the bytes of a file. Signatures are read, not checked.
    ///
    /// # Errors
    /// It is none, and where it stops being one.
    pub fn read(bytes: &[u8]) -> Result<Self, NotAnEnvelope> {
        let limits = Limits { bytes_max: BYTES_MAX, ..Limits::GOVERNED };
        let value = parse_with(bytes, limits).map_err(|error| wrong("envelope", error))?;
        let mut fields = Fields::taking(value).map_err(|trouble| wrong("envelope", trouble))?;
        let payload = fields.text("payload");
        let payload_type = fields.text("payloadType");
        let signatures = fields.objects("signatures", |one| {
            let key = one.parse("keyid", |text| PublicKey::try_from(text));
            let signature = one.parse("sig", signature);
            one.deny_unknown();
            Some(Signed { key: key?, signature: signature? })
        });
        fields.deny_unknown();
        fields.finish().map_err(|troubles| wrong("envelope", first(&troubles)))?;
        let (Some(payload), Some(payload_type), Some(signatures)) = (payload, payload_type, signatures)
        else {
            return Err(wrong("envelope", "a member is missing"));
        };
        if payload_type != PAYLOAD_TYPE {
            return Err(wrong("payloadType", format!("{payload_type:.60} is not {PAYLOAD_TYPE}")));
        }
        if signatures.is_empty() || signatures.len() > SIGNATURES_MAX {
            return Err(wrong("signatures", format!("one to {SIGNATURES_MAX} are needed")));
        }
        let keys: BTreeSet<String> = signatures.iter().map(|one| one.key.to_string()).collect();
        if keys.len() < signatures.len() {
            return Err(wrong("signatures", "each key signs once"));
        }
        let payload = base64::decode(payload.as_bytes()).map_err(|error| wrong("payload", error))?;
        let envelope = Envelope { payload, signatures };
        match envelope.to_bytes() {
            Ok(written) if written == bytes => Ok(envelope),
            Ok(written) => {
                let byte = place::first_other(bytes, &written);
                let why = format!(
                    "it is not in canonical form: the byte {byte} is the first that is written otherwise"
                );
                Err(wrong(&format!("envelope{}", place::pointer(bytes, byte)), why))
            }
            Err(error) => Err(wrong("envelope", error)),
        }
    }
}

fn first(troubles: &[countersign_record::fields::Trouble]) -> String {
    troubles.first().map(ToString::to_string).unwrap_or_default()
}

fn signature(text: &str) -> Result<Signature, &'static str> {
    let bytes = base64::decode(text.as_bytes()).map_err(|_| "a signature in Base64 is needed")?;
    let bytes = <[u8; 64]>::try_from(bytes).map_err(|_| "a signature has 64 bytes")?;
    Ok(Signature::from_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_signed_is_as_the_specification_has_it() {
        // The example of the DSSE protocol, with our type.
        assert_eq!(signed_bytes(b"hello world"), b"DSSEv1 28 application/vnd.in-toto+json 11 hello world");
    }
}
