//! What was fetched, as it is told and kept.
//! Owns: the page, the hops that led to it, who may be shown it. Must not: know where it is kept.

use countersign_kernel::gate::{Grant, Place, Reach};
use countersign_record::digest::Digest;
use countersign_record::json::{Json, Number, Object};
use countersign_record::time::{Instant, Timestamp};

/// One request on the way to a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hop {
    /// Where it went.
    pub(crate) place: Place,
    /// What kind of address that was.
    pub(crate) address: Address,
}

/// What kind of address a place had when it was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// One of the public network.
    Public,
    /// One that needs a grant for its very host.
    NotPublic,
}

impl Address {
    /// Whether a grant is enough to reach it.
    pub(crate) fn is_open_to(self, grant: Grant) -> bool {
        match (self, grant) {
            (Address::Public, Grant::Exact | Grant::Broad) | (Address::NotPublic, Grant::Exact) => true,
            (Address::NotPublic, Grant::Broad) => false,
        }
    }
}

/// A page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// The address that was asked for, in its normal form.
    pub(crate) url: String,
    /// The address that answered.
    pub(crate) final_url: String,
    /// Every hop, the first one first.
    pub(crate) hops: Vec<Hop>,
    /// The status.
    pub(crate) status: u16,
    /// What it says to be.
    pub(crate) content_type: Option<String>,
    /// Its text; `None` if it is none.
    pub(crate) text: Option<String>,
    /// Whether bytes were no letters.
    pub(crate) is_lossy: bool,
    /// Whether there was more.
    pub(crate) is_truncated: bool,
    /// How many bytes of the body were taken.
    pub(crate) bytes: u32,
    /// The SHA-256 of these bytes.
    pub(crate) sha256: Digest,
    /// When it was fetched.
    pub(crate) at: Instant,
}

/// Where a page came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// The network, just now.
    Network,
    /// The cache.
    Cache,
}

impl Page {
    /// Whether all that was reached on the way to it may be reached now.
    pub(crate) fn is_open_to(&self, reach: &Reach) -> bool {
        let is_open = |hop: &Hop| reach.to(&hop.place).is_ok_and(|grant| hop.address.is_open_to(grant));
        !self.hops.is_empty() && self.hops.iter().all(is_open)
    }

    /// What the model is told.
    pub(crate) fn output(self, from: From) -> Object {
        let mut output = Object::from([
            ("url", self.url.into()),
            ("final_url", self.final_url.into()),
            ("status", Json::Number(Number::from(u32::from(self.status)))),
            ("content_type", self.content_type.map_or(Json::Null, Json::from)),
            ("text", self.text.map_or(Json::Null, Json::from)),
            ("bytes", Json::Number(Number::from(self.bytes))),
            ("truncated", self.is_truncated.into()),
            ("lossy", self.is_lossy.into()),
            ("cached", Json::Bool(matches!(from, From::Cache))),
            ("fetched_at", Timestamp::try_from(self.at).map_or(Json::Null, |at| at.as_str().into())),
        ]);
        // The hash of a part would be taken for that of the whole.
        if !self.is_truncated {
            output.insert("sha256", String::from(self.sha256));
        }
        output
    }
}
