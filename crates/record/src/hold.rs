//! The ledger's own business: erased blobs and legal holds.
//! Owns: the rows about them, and what is held at a given row. Must not: erase.

use crate::access::Role;
use crate::digest::Digest;
use crate::id::{HoldId, RowKind};
use crate::json::{Json, Object};
use crate::row::Row;
use alloc::collections::BTreeMap;
use alloc::string::String;

/// A hold begins.
pub const PLACED: &str = "hold.placed";
/// A hold ends.
pub const RELEASED: &str = "hold.released";
/// A blob's bytes are gone.
pub const ERASED: &str = "blob.erased";
/// The stream that these rows stand in.
pub const STREAM: &str = "ledger";

/// The role that it takes to append a row of this kind: whoever may end a hold may erase.
#[must_use]
pub fn role_to_append(kind: &RowKind) -> Role {
    match kind.as_str() {
        PLACED | RELEASED | ERASED => Role::Admin,
        _ => Role::Operator,
    }
}

/// What a hold keeps from being erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// One blob.
    Blob(Digest),
    /// Every blob of the matter.
    Matter,
}

/// The holds in force: a fold of the ledger's own rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holds {
    placed: BTreeMap<HoldId, (Held, String)>,
}

impl Holds {
    /// Takes the next row in.
    pub fn apply(&mut self, row: &Row) {
        let Some(id) =
            row.payload.get("hold_id").and_then(Json::as_str).and_then(|id| HoldId::try_from(id).ok())
        else {
            return;
        };
        match row.kind.as_str() {
            PLACED => {
                let digest = row.payload.get("digest").and_then(Json::as_str);
                let held =
                    digest.and_then(|text| Digest::try_from(text).ok()).map_or(Held::Matter, Held::Blob);
                let reason = row.payload.get("reason").and_then(Json::as_str).unwrap_or_default();
                self.placed.insert(id, (held, reason.into()));
            }
            RELEASED => {
                self.placed.remove(&id);
            }
            _ => {}
        }
    }

    /// The first hold that keeps `digest`.
    #[must_use]
    pub fn keeping(&self, digest: &Digest) -> Option<&HoldId> {
        let keeps = |held: &Held| match held {
            Held::Matter => true,
            Held::Blob(kept) => kept == digest,
        };
        self.placed.iter().find(|(_, (held, _))| keeps(held)).map(|(id, _)| id)
    }

    /// Every hold in force, with what it keeps and why.
    pub fn iter(&self) -> impl Iterator<Item = (&HoldId, Held, &str)> {
        self.placed.iter().map(|(id, (held, reason))| (id, *held, reason.as_str()))
    }

    /// Whether a hold of this name is in force.
    #[must_use]
    pub fn contains(&self, id: &HoldId) -> bool {
        self.placed.contains_key(id)
    }
}

/// The payload of a row that places a hold.
#[must_use]
pub fn placed(id: &HoldId, held: Held, reason: &str) -> Json {
    let digest = match held {
        Held::Blob(digest) => Json::String(digest.into()),
        Held::Matter => Json::Null,
    };
    Object::from([("hold_id", id.as_str().into()), ("digest", digest), ("reason", reason.into())]).into()
}

/// The payload of a row that releases a hold.
#[must_use]
pub fn released(id: &HoldId, reason: &str) -> Json {
    Object::from([("hold_id", id.as_str().into()), ("reason", reason.into())]).into()
}

/// The blob that a row says was erased, if the row is a receipt for one.
#[must_use]
pub fn erased_digest(kind: &str, payload: &Json) -> Option<Digest> {
    let digest = payload.get("digest").filter(|_| kind == ERASED)?;
    Digest::try_from(digest.as_str()?).ok()
}

/// The payload of the receipt for an erased blob.
#[must_use]
pub fn erased(digest: &Digest, reason: &str) -> Json {
    Object::from([("digest", Json::String((*digest).into())), ("reason", reason.into())]).into()
}
