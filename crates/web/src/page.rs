//! What came of a call, as it is told and kept.
//! Owns: the page, who may be shown it, and what is told where there is none. Must not: know where it is kept.

use countersign_kernel::gate::Grant;
use countersign_record::digest::Digest;
use countersign_record::json::{Json, Number, Object};
use countersign_record::time::{Instant, Timestamp};

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
    /// What kind of address the place of both had.
    pub(crate) address: Address,
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
            ("fetched_at", said(self.at)),
        ]);
        // The hash of a part would be taken for that of the whole.
        if !self.is_truncated {
            output.insert("sha256", String::from(self.sha256));
        }
        output
    }
}

/// An answer that leads to another place, which was not asked. It is never kept: where a server sends its visitors may
/// be another place for each of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Elsewhere {
    /// The address that was asked for, in its normal form.
    pub(crate) url: String,
    /// The address that answered.
    pub(crate) final_url: String,
    /// The status.
    pub(crate) status: u16,
    /// Where it leads, in its normal form, without user and password.
    pub(crate) location: String,
    /// When that was.
    pub(crate) at: Instant,
}

const NOTE: &str = "This answer leads to another host or port, which was not asked. Call http.get with the location if \
     it is wanted: that needs a permission of its own.";

impl Elsewhere {
    /// What the model is told: what a page has, without a body, and where it leads.
    pub(crate) fn output(self) -> Object {
        Object::from([
            ("url", self.url.into()),
            ("final_url", self.final_url.into()),
            ("status", Json::Number(Number::from(u32::from(self.status)))),
            ("location", self.location.into()),
            ("note", NOTE.into()),
            ("content_type", Json::Null),
            ("text", "".into()),
            ("bytes", Json::Number(Number::from(0))),
            ("truncated", false.into()),
            ("lossy", false.into()),
            ("cached", false.into()),
            ("fetched_at", said(self.at)),
        ])
    }
}

fn said(at: Instant) -> Json {
    Timestamp::try_from(at).map_or(Json::Null, |at| at.as_str().into())
}
