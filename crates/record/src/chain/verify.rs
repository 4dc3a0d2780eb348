//! Walks a ledger's rows once and names every damage.
//! Owns: the walk, in memory bounded by the number of streams and of findings. Must not: stop at the first.

use super::displaced::Displaced;
use super::{Anchor, Damage, Finding, Head, genesis};
use crate::digest::Digest;
use crate::id::{MatterId, PrincipalId};
use crate::row::{Proof, RowRef};
use crate::sign::{Forged, PublicKey};
use crate::time::Instant;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;

/// Findings beyond this are counted, not listed.
const FINDINGS_MAX: usize = 1_000;
/// Milliseconds by which a row may be before the row of another stream that was committed sooner. Whoever works writes the time at
/// which a step began, and commits once what the step asked for has come; others commit meanwhile.
const CONCURRENT_MS_MAX: u64 = 3_600 * 1_000;
/// Signers beyond this are not listed.
const SIGNERS_MAX: usize = 1_000;
/// Rows that may have changed places are remembered up to this many: each is tried at each other's place.
const SUSPECTS_MAX: usize = 64;

/// What a walk found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// Rows seen.
    pub rows: u64,
    /// Bytes hashed.
    pub bytes: u64,
    /// The last row.
    pub head: Head,
    /// What is wrong, in order of place.
    pub findings: Vec<Finding>,
    /// How many findings there are beyond those listed.
    pub unlisted: u64,
    /// Who signed, with which key. Whether a key is the person's is for the reader to say.
    pub signers: Vec<Signer>,
    /// Whose decisions rest on the name alone.
    pub unsigned: Vec<Unsigned>,
    /// Rows whose time is before that of the row before in their own stream, or more than an hour before that of the row before in the
    /// ledger: a clock was wrong, or somebody backdates. The chain can't tell which, so it is no damage. Less than that is nothing:
    /// who works at the same time commits in another order.
    pub backwards: Backwards,
}

/// A name under which decisions were made without a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unsigned {
    /// The name.
    pub actor: PrincipalId,
    /// How many decisions.
    pub rows: u64,
}

/// Where time runs backwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Backwards {
    /// In how many rows.
    pub rows: u64,
    /// The first of them.
    pub first: Option<u64>,
}

/// A name and a key that signed decisions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Signer {
    /// The name.
    pub actor: PrincipalId,
    /// The key.
    pub key: PublicKey,
    /// How many decisions.
    pub rows: u64,
}

impl Report {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Sees every row of a matter in order of place.
pub struct Verifier<'a> {
    matter: &'a MatterId,
    anchors: &'a [Anchor],
    next_seq: u64,
    prev: Digest,
    displaced: Displaced,
    /// Whether the row before stands where it was appended and is as it was.
    before_sound: bool,
    streams: BTreeMap<String, Last>,
    suspects: Vec<Suspect>,
    /// The time of the row before.
    latest: Option<Instant>,
    report: Report,
}

/// The last row of a stream.
#[derive(Default)]
struct Last {
    /// Its place there.
    seq: u64,
    /// Its time, if it has one.
    at: Option<Instant>,
}

/// Where a row was appended, as its hash tells.
#[derive(Clone, Copy, Debug)]
enum Standing {
    InPlace,
    Displaced { run_goes_on: bool },
    Nowhere,
}

/// A row whose hash fits no place near by.
struct Suspect {
    seq: u64,
    hash: Digest,
    header: Vec<u8>,
    finding: usize,
}

impl<'a> Verifier<'a> {
    /// Starts before the first row. The anchors must be of this matter and their signatures checked.
    #[must_use]
    pub fn new(matter: &'a MatterId, anchors: &'a [Anchor]) -> Self {
        let prev = genesis(matter);
        let head = Head { seq: 0, hash: prev };
        let report = Report {
            rows: 0,
            bytes: 0,
            head,
            findings: Vec::new(),
            unlisted: 0,
            signers: Vec::new(),
            unsigned: Vec::new(),
            backwards: Backwards::default(),
        };
        Verifier {
            matter,
            anchors,
            next_seq: 1,
            prev,
            displaced: Displaced::default(),
            before_sound: true,
            streams: BTreeMap::new(),
            suspects: Vec::new(),
            latest: None,
            report,
        }
    }

    /// Notes damage that the store found.
    pub fn note(&mut self, seq: u64, damage: Damage) -> Option<usize> {
        if self.report.findings.len() == FINDINGS_MAX {
            self.report.unlisted += 1;
            return None;
        }
        self.report.findings.push(Finding { seq, damage });
        Some(self.report.findings.len() - 1)
    }

    /// A row that the store can't decode.
    pub fn see_unreadable(&mut self, seq: u64, what: String) {
        self.skip_to(seq);
        self.note(seq, Damage::Unreadable { what });
        self.next_seq = seq + 1;
        self.before_sound = false;
        self.report.rows += 1;
        self.report.head.seq = seq;
    }

    /// The next row.
    pub fn see(&mut self, row: &RowRef<'_>) {
        let follows = !self.skip_to(row.seq);
        let linked = row.prev_hash == self.prev;
        let payload_sound = Digest::of(row.payload) == row.payload_hash;
        let standing = self.standing(row);
        match standing {
            Standing::Nowhere => self.suspect(row),
            // Rows come in order of place, so this is a place before the first: no ledger of ours has one.
            Standing::InPlace if row.seq < self.next_seq => {
                self.note(row.seq, Damage::RowChanged);
            }
            Standing::InPlace | Standing::Displaced { run_goes_on: true }
                if follows && !linked && self.before_sound =>
            {
                self.blame_for_broken_link(row.seq);
            }
            Standing::InPlace | Standing::Displaced { .. } => {}
        }
        if !payload_sound && !matches!(standing, Standing::Nowhere) {
            self.note(row.seq, Damage::PayloadChanged);
        }
        self.follow_stream(row, matches!(standing, Standing::InPlace) && follows);
        self.check_signature(row);
        self.check_anchors(row);
        self.before_sound =
            !matches!(standing, Standing::Nowhere | Standing::Displaced { run_goes_on: false });
        self.report.rows += 1;
        self.report.bytes += row.payload.len() as u64;
        self.prev = row.hash;
        self.next_seq = row.seq + 1;
        self.report.head = Head { seq: row.seq, hash: row.hash };
    }

    /// Ends the walk. `recorded` is the head that the store itself remembers.
    #[must_use]
    pub fn finish(mut self, recorded: Option<Head>) -> Report {
        self.settle_suspects();
        self.displaced.explain(self.report.head.seq, &mut self.report.findings, FINDINGS_MAX);
        let seq = self.report.head.seq;
        let anchored = self.anchors.iter().map(|anchor| anchor.seq).max();
        let last = recorded.map(|head| head.seq).max(anchored).unwrap_or(0);
        if last > seq {
            self.note(seq + 1, Damage::Truncated { to: last });
        }
        self.report.findings.sort_by_key(|finding| finding.seq);
        self.report
    }

    /// Notes rows that are missing before `seq`.
    fn skip_to(&mut self, seq: u64) -> bool {
        let gap = seq > self.next_seq;
        if gap {
            let to = seq - 1;
            self.note(self.next_seq, Damage::Removed { to });
        }
        gap
    }

    /// Finds the place that the row's hash was made for.
    fn standing(&mut self, row: &RowRef<'_>) -> Standing {
        let (hash, bytes) = row.header_hash(self.matter.as_str());
        self.report.bytes += bytes;
        if hash == row.hash {
            return Standing::InPlace;
        }
        match self.displaced.candidates().into_iter().find(|shift| self.fits(row, *shift)) {
            Some(shift) if self.displaced.note(row.seq, shift) => Standing::Displaced { run_goes_on: true },
            Some(_) => Standing::Displaced { run_goes_on: false },
            None => Standing::Nowhere,
        }
    }

    fn fits(&self, row: &RowRef<'_>, shift: i64) -> bool {
        let Some(seq) = row.seq.checked_add_signed(-shift) else { return false };
        let at_place = RowRef { seq, ..*row };
        at_place.computed_hash(self.matter.as_str()) == row.hash
    }

    fn suspect(&mut self, row: &RowRef<'_>) {
        let Some(finding) = self.note(row.seq, Damage::RowChanged) else { return };
        if self.suspects.len() < SUSPECTS_MAX {
            let mut header = Vec::new();
            row.write_header(self.matter.as_str(), &mut header);
            self.suspects.push(Suspect { seq: row.seq, hash: row.hash, header, finding });
        }
    }

    /// Tries each suspect at each other's place.
    fn settle_suspects(&mut self) {
        let places: Vec<u64> = self.suspects.iter().map(|suspect| suspect.seq).collect();
        for suspect in &self.suspects {
            let from = places.iter().find(|place| Digest::of(&suspect.header_at(**place)) == suspect.hash);
            if let (Some(from), Some(finding)) = (from, self.report.findings.get_mut(suspect.finding)) {
                finding.damage = Damage::Moved { from: *from };
            }
        }
    }

    /// The row is sound and was built on another row than the one before it, or on none.
    fn blame_for_broken_link(&mut self, seq: u64) {
        match seq {
            0 | 1 => self.note(seq, Damage::RowChanged),
            _ => self.note(seq - 1, Damage::Replaced),
        };
    }

    fn follow_stream(&mut self, row: &RowRef<'_>, expected_to_follow: bool) {
        let last = match self.streams.get_mut(row.stream) {
            Some(last) => last,
            None => self.streams.entry(String::from(row.stream)).or_default(),
        };
        let expected = last.seq + 1;
        last.seq = row.stream_seq;
        // A time that is none is damage to the row, which its hash shows.
        if let Some(instant) = Instant::read(row.at) {
            let is_back_in_stream = last.at.replace(instant).is_some_and(|before| instant < before);
            let before = self.latest.replace(instant);
            let is_long_before = |before: Instant| instant.millis_until(before) > CONCURRENT_MS_MAX;
            if is_back_in_stream || before.is_some_and(is_long_before) {
                self.report.backwards.rows += 1;
                self.report.backwards.first.get_or_insert(row.seq);
            }
        }
        // Where rows are missing or strange, their streams are out of order too; that is no second finding.
        if expected_to_follow && row.stream_seq != expected && self.report.findings.is_empty() {
            self.note(row.seq, Damage::StreamOutOfOrder { expected, found: row.stream_seq });
        }
    }

    fn check_signature(&mut self, row: &RowRef<'_>) {
        match row.signer(self.matter.as_str()) {
            Ok(Some(key)) => self.count_signer(row.actor, key),
            Ok(None) if row.proof == Proof::SelfAsserted => self.count_unsigned(row.actor),
            Ok(None) => {}
            Err(Forged) => drop(self.note(row.seq, Damage::SignatureForged)),
        }
    }

    fn count_unsigned(&mut self, actor: &str) {
        let unsigned = &mut self.report.unsigned;
        if let Some(one) = unsigned.iter_mut().find(|one| one.actor.as_str() == actor) {
            one.rows += 1;
        } else if unsigned.len() < SIGNERS_MAX {
            unsigned.extend(PrincipalId::try_from(actor).map(|actor| Unsigned { actor, rows: 1 }));
        }
    }

    fn count_signer(&mut self, actor: &str, key: PublicKey) {
        let signers = &mut self.report.signers;
        if let Some(signer) =
            signers.iter_mut().find(|signer| signer.actor.as_str() == actor && signer.key == key)
        {
            signer.rows += 1;
        } else if signers.len() < SIGNERS_MAX {
            signers.extend(PrincipalId::try_from(actor).map(|actor| Signer { actor, key, rows: 1 }));
        }
    }

    fn check_anchors(&mut self, row: &RowRef<'_>) {
        let anchors = self.anchors;
        if anchors.iter().any(|anchor| anchor.seq == row.seq && anchor.hash != row.hash) {
            self.note(row.seq, Damage::NotAnchored);
        }
    }
}

impl Suspect {
    /// The header as it would be at another place.
    fn header_at(&self, seq: u64) -> Vec<u8> {
        let here = alloc::format!("\"seq\":{},\"stream\":", self.seq);
        let there = alloc::format!("\"seq\":{seq},\"stream\":");
        // No string in a header can hold an unescaped quote, so the member stands there once.
        match self.header.windows(here.len()).position(|window| window == here.as_bytes()) {
            Some(at) => {
                let (before, rest) = self.header.split_at(at);
                [before, there.as_bytes(), rest.get(here.len()..).unwrap_or_default()].concat()
            }
            None => self.header.clone(),
        }
    }
}
