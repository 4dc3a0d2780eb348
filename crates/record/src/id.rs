//! Names of things, each with one checked door.
//! Owns: which texts are a matter, a stream, a kind, a principal… Must not: mint one (ids arrive, or derive
//! from content).

use crate::code::Code;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use serde::ser::{Serialize, Serializer};

/// A text that is not the id it was offered as.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no {what}: {rule}")]
pub struct NotAnId {
    /// Which id it should have been.
    pub what: &'static str,
    /// What such an id looks like.
    pub rule: &'static str,
    /// The text, cut to a length that fits a message.
    pub text: String,
}

impl NotAnId {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        Code::IdInvalid
    }
}

/// A refused text is shown up to here: it may be hostile and long.
const SHOWN_MAX: usize = 80;

fn refused(what: &'static str, rule: &'static str, text: &str) -> NotAnId {
    NotAnId { what, rule, text: text.chars().take(SHOWN_MAX).collect() }
}

/// One newtype per identity: a private field, `TryFrom` as the only door. Every row and event has some of them, so a copy
/// shares the text.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $what:literal, $rule:literal, $pattern:literal, $check:expr) => {
        $(#[$doc])*
        #[doc = ""]
        #[doc = concat!("Invariant: ", $rule, ".")]
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<&str> for $name {
            type Error = NotAnId;

            fn try_from(text: &str) -> Result<Self, NotAnId> {
                let check: fn(&str) -> bool = $check;
                if check(text) { Ok($name(text.into())) } else { Err(refused($what, $rule, text)) }
            }
        }

        impl TryFrom<String> for $name {
            type Error = NotAnId;

            fn try_from(text: String) -> Result<Self, NotAnId> {
                $name::try_from(text.as_str())
            }
        }

        impl core::str::FromStr for $name {
            type Err = NotAnId;

            fn from_str(text: &str) -> Result<Self, NotAnId> {
                $name::try_from(text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> alloc::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "pattern": $pattern })
            }
        }
    };
}

id! {
    /// A matter: the firewall. Everything of a matter lives under a directory of this name.
    MatterId, "matter", "1 to 64 of a-z, 0-9, '.', '_' and '-', beginning with a letter or digit",
    "^[a-z0-9][a-z0-9._-]{0,63}$",
    |text| shaped(text, 64, |b| b.is_ascii_lowercase() || b.is_ascii_digit(), |b| b"._-".contains(&b))
}

id! {
    /// A stream of rows inside a matter: one run, one session, the ledger's own business.
    StreamId, "stream", "1 to 128 of A-Z, a-z, 0-9, '.', '_', ':', '/' and '-', beginning with a letter or digit",
    "^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$",
    |text| shaped(text, 128, |b| b.is_ascii_alphanumeric(), |b| b"._:/-".contains(&b))
}

id! {
    /// What a row says happened: `blob.erased`.
    RowKind, "row kind", "1 to 64 of a-z, 0-9, '_' and '.', beginning with a letter or digit",
    "^[a-z0-9][a-z0-9_.]{0,63}$",
    |text| shaped(text, 64, |b| b.is_ascii_lowercase() || b.is_ascii_digit(), |b| b"_.".contains(&b))
}

id! {
    /// Who acts.
    PrincipalId, "principal", "1 to 64 of A-Z, a-z, 0-9, '.', '_', '@' and '-', beginning with a letter or digit",
    "^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$",
    |text| shaped(text, 64, |b| b.is_ascii_alphanumeric(), |b| b"._@-".contains(&b))
}

id! {
    /// Says that two requests are one: the second gets the first one's result.
    IdemKey, "idempotency key", "1 to 128 visible ASCII characters",
    "^[!-~]{1,128}$",
    |text| (1..=128).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic())
}

id! {
    /// A view that is folded from rows.
    FoldId, "fold", "1 to 64 of a-z, 0-9 and '_', beginning with a letter or digit",
    "^[a-z0-9][a-z0-9_]{0,63}$",
    |text| shaped(text, 64, |b| b.is_ascii_lowercase() || b.is_ascii_digit(), |b| b == b'_')
}

id! {
    /// A legal hold.
    HoldId, "legal hold", "1 to 64 of A-Z, a-z, 0-9, '.', '_' and '-', beginning with a letter or digit",
    "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
    |text| shaped(text, 64, |b| b.is_ascii_alphanumeric(), |b| b"._-".contains(&b))
}

id! {
    /// A run's state on its way between processes.
    EnvelopeId, "envelope", "'env_' and 16 lowercase hexadecimal digits",
    "^env_[a-f0-9]{16}$",
    |text| tagged(text, "env_")
}

id! {
    /// A run; its rows are a stream of this name.
    RunId, "run", "'run_' and 16 lowercase hexadecimal digits",
    "^run_[a-f0-9]{16}$",
    |text| tagged(text, "run_")
}

id! {
    /// A request that a run answers.
    RequestId, "request", "'req_' and 16 lowercase hexadecimal digits",
    "^req_[a-f0-9]{16}$",
    |text| tagged(text, "req_")
}

id! {
    /// A session that a request belongs to.
    SessionId, "session", "'sess_' and 16 lowercase hexadecimal digits",
    "^sess_[a-f0-9]{16}$",
    |text| tagged(text, "sess_")
}

id! {
    /// A session that somebody comes back to; its checkpoint and its traces are files of this name.
    SessionName, "session", "1 to 64 of A-Z, a-z, 0-9, '.', '_' and '-', not beginning with a dot",
    "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$",
    |text| shaped(text, 64, |b| b.is_ascii_alphanumeric() || b"_-".contains(&b), |b| b == b'.')
}

id! {
    /// A tool, with the names it belongs to: `fs.read_text`.
    ToolName, "tool", "1 to 64 of a-z, 0-9, '_' and '.', beginning with a letter or digit",
    "^[a-z0-9][a-z0-9_.]{0,63}$",
    |text| shaped(text, 64, |b| b.is_ascii_lowercase() || b.is_ascii_digit(), |b| b"_.".contains(&b))
}

id! {
    /// A model that was set up; its settings are a file of this name.
    ModelName, "model", "1 to 64 of A-Z, a-z, 0-9, '.', '_' and '-', beginning with a letter or digit",
    "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
    |text| shaped(text, 64, |b| b.is_ascii_alphanumeric(), |b| b"._-".contains(&b))
}

fn tagged(text: &str, tag: &str) -> bool {
    let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.strip_prefix(tag).is_some_and(|digits| digits.len() == 16 && digits.bytes().all(digit))
}

fn shaped(text: &str, length_max: usize, first: fn(u8) -> bool, inner: fn(u8) -> bool) -> bool {
    let mut bytes = text.bytes();
    text.len() <= length_max && bytes.next().is_some_and(first) && bytes.all(|b| first(b) || inner(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn the_door_holds() {
        let check = |text: &str, good: bool| assert_eq!(MatterId::try_from(text).is_ok(), good, "{text:?}");
        for good in ["default", "a", "0", "acme-2026.q1", &"x".repeat(64)] {
            check(good, true);
        }
        for bad in ["", ".", "..", ".hidden", "A", "a/b", "a\0", "ä", "a b", &"x".repeat(65)] {
            check(bad, false);
        }
    }

    #[test]
    fn tagged_ids() {
        let check = |text: &str, good: bool| assert_eq!(EnvelopeId::try_from(text).is_ok(), good, "{text:?}");
        check("env_0123456789abcdef", true);
        for bad in [
            "",
            "env_",
            "env_0123456789abcde",
            "env_0123456789abcdef0",
            "env_0123456789ABCDEF",
            "req_0123456789abcdef",
            "env_0123456789abcdef\n",
            "env_123e4567-e89b-12",
            "env_0123456789abcdeé",
        ] {
            check(bad, false);
        }
    }

    #[test]
    fn a_refusal_is_short() {
        let refusal = PrincipalId::try_from("é".repeat(1000)).unwrap_err();
        assert_eq!(refusal.text.chars().count(), SHOWN_MAX);
        assert!(refusal.to_string().contains("is no principal"));
    }
}
