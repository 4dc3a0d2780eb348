//! What verifying found: each check with its counts, and everything that failed.
//! Owns: the report's form and words. Must not: find anything.

use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::chain::Head;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::json::Json;
use countersign_record::sign::PublicKey;
use serde::Serialize;

macro_rules! checks {
    ($($(#[doc = $doc:literal])* $variant:ident = $word:literal),* $(,)?) => {
        /// What is checked.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
        pub enum Check {
            $($(#[doc = $doc])* #[serde(rename = $word)] $variant,)*
        }

        impl Check {
            /// Every check, in order.
            pub const ALL: &'static [Check] = &[$(Check::$variant),*];

            /// Its name.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Check::$variant => $word),* }
            }
        }
    };
}

checks! {
    /// Signatures under the packet.
    Signature = "signature",
    /// What the packet says of itself.
    Statement = "statement",
    /// Hashes of rows and payloads, links, bytes, signatures of decisions, the anchor.
    Integrity = "integrity",
    /// Rows and records that must be there, and are.
    Completeness = "completeness",
    /// Rules of the contract, and that records do not contradict each other.
    Contract = "contract",
    /// Where the run went, decided again.
    Run = "run",
    /// What the task asks for, as records have it.
    Task = "task",
    /// Sources and what was done to them.
    Sources = "sources",
    /// Versions of the work.
    Versions = "versions",
    /// Claims, the places that bear on them, and how they are supported.
    Claims = "claims",
    /// What each criterion came to, counted again.
    Criteria = "criteria",
    /// Weights and quality indexes.
    Quality = "quality",
    /// Verdicts of evaluators and judges.
    Verdicts = "verdicts",
    /// Findings: that each was raised, how bad it is, whether it may block.
    Findings = "findings",
    /// What chains of evaluations came to.
    Chains = "chains",
    /// Where outcomes stand.
    Outcomes = "outcomes",
    /// What evaluations hand on.
    Feedback = "feedback",
    /// Questions to people, and what followed from their answers.
    Questions = "questions",
    /// Plans of revisions, their steps, reviews, and what is looked at again.
    Revision = "revision",
    /// Commands, what waits for people, states that a run can be taken back to.
    Record = "record",
    /// What a run costs.
    Costs = "costs",
    /// What is shown of a run: pages, the board, health, guidance.
    Shown = "shown",
    /// What is measured of a run when it is over; nothing rests on it, and it is taken as it is told.
    Measures = "measures",
    /// The evidence behind the work.
    Evidence = "evidence",
    /// What stands against relying on the work, and the status.
    Reliance = "reliance",
    /// Receipts of formulas, gathered and computed again.
    Formulas = "formulas",
    /// The critic's verdict.
    Critic = "critic",
}

/// How it came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Everything is as it says.
    Verified,
    /// Everything that is in it is as it says, and a part is withheld.
    VerifiedInPart,
    /// Everything that is in it is as it says, and it says that the packet can't be relied on any more.
    Fallen,
    /// Everything that is in it is as it says, and no key that the reader trusts has signed it.
    SignerUnknown,
    /// Something is not as it says.
    Failed,
}

impl Outcome {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Outcome::Verified => "verified",
            Outcome::VerifiedInPart => "verified, with parts withheld",
            Outcome::Fallen => "sound, and no longer to be relied on",
            Outcome::SignerUnknown => "sound, and signed by nobody whom you trust",
            Outcome::Failed => "NOT verified",
        }
    }
}

/// What verifying found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// How it came out.
    pub result: Outcome,
    /// What the packet says of itself, if it could be read.
    pub packet: Option<Packet>,
    /// Who signed.
    pub signatures: Vec<Signer>,
    /// Each check, with how much it looked at.
    pub checks: Vec<Counted>,
    /// Bytes that are not in the packet.
    pub withheld: Vec<Withheld>,
    /// What failed.
    pub failures: Vec<Failure>,
    /// How many failures there are beyond those listed.
    pub unlisted: u64,
}

/// What a packet says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Packet {
    /// Whose it is.
    pub matter: String,
    /// The run.
    pub run: String,
    /// The packet.
    pub packet_id: String,
    /// How far the work may be relied on.
    pub status: String,
    /// Why, as its rows have it; whether that follows is what the checks say.
    pub explanation: String,
    /// Why it can't be relied on any more; nothing while it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallen: Option<String>,
    /// The task.
    pub title: String,
    /// The work products.
    pub subjects: Vec<(String, Digest)>,
    /// When it was made.
    pub made_at: String,
    /// By whom.
    pub made_by: String,
    /// By which version of the product.
    pub made_with: String,
    /// The last row.
    pub head: Head,
    /// The row up to which somebody signed the ledger.
    pub anchored: Option<u64>,
    /// Rows in it.
    pub rows: u64,
    /// Rows that are others', of which only the hash is in it.
    pub foreign_rows: u64,
}

/// A signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Signer {
    /// The key that it names.
    pub key: PublicKey,
    /// How it stands.
    pub standing: Standing,
}

/// How a signature stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Sound, and of a key that the reader trusts.
    Trusted,
    /// Sound, and of a key that the reader has said nothing about.
    Unknown,
    /// Not of the key that it names over these bytes.
    Forged,
}

/// How much a check looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// Which.
    pub check: Check,
    /// Things that were looked at.
    pub checked: u64,
    /// Things that are taken as they are told.
    pub told: u64,
    /// Things that could not be, because bytes are withheld.
    pub withheld: u64,
    /// Things that failed.
    pub failed: u64,
}

/// Bytes that are not in the packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Withheld {
    /// Their digest.
    pub digest: Digest,
    /// The source whose text they are, by its path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How many there are.
    pub size: u64,
    /// Why.
    pub reason: String,
}

/// Something that failed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Failure {
    /// The stable code.
    pub code: Code,
    /// The check that found it.
    pub check: Check,
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// What follows from the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Json>,
    /// What stands there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<Json>,
    /// For people.
    pub message: String,
}

/// A place in a packet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The row of the ledger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<u64>,
    /// The record in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
    /// Where in the record, row or statement, as a JSON pointer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob: Option<Digest>,
}
