//! How a claim stood at each of its receipts.
//! Owns: counting what bore on it then. Must not: say what follows from that; the policy does.
//!
//! What bears on a claim changes when a place is added, when its source is told anew, and when that is no longer fresh. Each change is
//! counted when it comes, so that a claim with many places and many receipts does not take the product of both.

use super::authority;
use crate::check::sources::{History, is_lookup, source_id};
use crate::derive::claim_support::{Authority, Counts, Policy, Strength};
use crate::member::Member;
use crate::world::Record;
use alloc::collections::{BTreeMap, BinaryHeap};
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;
use countersign_record::time::Instant;

/// What counts of a source, as one of its versions says it.
#[derive(Clone, Copy)]
struct State {
    authority: Authority,
    is_verified: bool,
    fresh_until: Option<Instant>,
}

impl State {
    fn of(source: Option<Record<'_>>) -> Self {
        State {
            authority: source.and_then(|one| authority(one.json())).unwrap_or(Authority::Unknown),
            is_verified: source.is_some_and(|one| one.is("verification_state", "verified")),
            fresh_until: source.and_then(|one| one.time("fresh_until")),
        }
    }
}

/// The places in one source that bear on the claim.
struct Places {
    direct: u64,
    against: u64,
    state: State,
}

/// Sums of what comes up to a number, by halves of halves.
struct Sums(Vec<u64>);

impl Sums {
    fn add(&mut self, at: usize, count: u64) {
        let mut at = at + 1;
        while let Some(sum) = self.0.get_mut(at) {
            *sum = sum.wrapping_add(count);
            at += at & at.wrapping_neg();
        }
    }

    fn up_to(&self, at: usize) -> u64 {
        let (mut at, mut all) = (at + 1, 0_u64);
        while let Some(sum) = self.0.get(at).filter(|_| at > 0) {
            all = all.wrapping_add(*sum);
            at &= at - 1;
        }
        all
    }
}

/// What bears on a claim as its receipts come, in order.
pub(super) struct Standing<'w, 'h> {
    sources: &'h History<'w>,
    anchors: core::iter::Peekable<core::slice::Iter<'h, Record<'w>>>,
    /// When its receipts were written, sorted.
    times: Vec<Instant>,
    places: BTreeMap<Option<&'w str>, Places>,
    /// Where the sources are told anew.
    next: BinaryHeap<Reverse<(u64, &'w str)>>,
    counts: Counts,
    verified: u64,
    /// How many direct places are no longer fresh from a receipt on, in the order of times; and how many of verified sources.
    gone: Sums,
    gone_verified: Sums,
}

impl<'w, 'h> Standing<'w, 'h> {
    pub(super) fn of(sources: &'h History<'w>, anchors: &'h [Record<'w>], receipts: &[Record<'w>]) -> Self {
        let mut times: Vec<Instant> = receipts.iter().filter_map(|one| one.written_at()).collect();
        times.sort_unstable();
        times.dedup();
        let sums = || Sums(vec![0; times.len() + 1]);
        Standing {
            sources,
            anchors: anchors.iter().peekable(),
            places: BTreeMap::new(),
            next: BinaryHeap::new(),
            counts: Counts::default(),
            verified: 0,
            gone: sums(),
            gone_verified: sums(),
            times,
        }
    }

    /// Goes on to a receipt behind those before.
    pub(super) fn go_to(&mut self, receipt: Record<'w>) {
        while let Some(anchor) = self.anchors.next_if(|anchor| anchor.seq() < receipt.seq()) {
            self.add(*anchor);
        }
        while let Some(Reverse((seq, id))) = self.next.peek().copied() {
            if seq >= receipt.seq() {
                return;
            }
            self.next.pop();
            let state = State::of(self.sources.before(id, receipt.seq()));
            self.change(Some(id), |places| places.state = state);
            self.await_next(id, receipt.seq());
        }
    }

    /// Whether nothing bears on it.
    pub(super) fn is_bare(&self) -> bool {
        self.counts.direct + self.counts.aside + self.counts.against == 0
    }

    /// What bears on it at the receipt, as a policy counts it.
    pub(super) fn counts(&self, policy: &Policy, receipt: Record<'_>) -> Counts {
        let (all, gone) = if policy.require_verified {
            (self.verified, &self.gone_verified)
        } else {
            (self.counts.direct, &self.gone)
        };
        let at = receipt.written_at().filter(|_| !policy.allow_stale);
        let at = at.and_then(|at| self.times.binary_search(&at).ok());
        Counts { good: all - at.map_or(0, |at| gone.up_to(at)), ..self.counts }
    }

    fn add(&mut self, anchor: Record<'w>) {
        let strength = anchor.text("support_strength").and_then(Strength::find);
        let Some((strength, text)) = strength.zip(anchor.json().text("source_record_ref")) else { return };
        if is_lookup(anchor.world, text) {
            return;
        }
        let id = source_id(text);
        if let (Some(id), false) = (id, self.places.contains_key(&id)) {
            self.await_next(id, 0);
        }
        match strength {
            Strength::Direct => {
                self.counts.direct += 1;
                self.change(id, |places| places.direct += 1);
            }
            Strength::Indirect | Strength::Contextual => self.counts.aside += 1,
            Strength::Contradicts => {
                self.counts.against += 1;
                self.change(id, |places| places.against += 1);
            }
        }
    }

    /// Waits for the next version of a source from the one on that stands before a place, or from its first one.
    fn await_next(&mut self, id: &'w str, seq: u64) {
        self.next.extend(self.sources.behind(id, seq).map(|one| Reverse((one.seq(), id))));
    }

    fn change(&mut self, id: Option<&'w str>, change: impl FnOnce(&mut Places)) {
        let first = || id.and_then(|id| self.sources.before(id, 0));
        let places = self.places.entry(id);
        let places = places.or_insert_with(|| Places { direct: 0, against: 0, state: State::of(first()) });
        let before = (places.direct, places.against, places.state);
        change(places);
        let after = (places.direct, places.against, places.state);
        self.count(before, u64::wrapping_sub);
        self.count(after, u64::wrapping_add);
    }

    fn count(&mut self, (direct, against, state): (u64, u64, State), by: fn(u64, u64) -> u64) {
        let halves = state.authority.halves();
        self.counts.halves_for = by(self.counts.halves_for, direct * halves);
        self.counts.halves_against = by(self.counts.halves_against, against * halves);
        let verified = if state.is_verified { direct } else { 0 };
        self.verified = by(self.verified, verified);
        if let Some(end) = state.fresh_until {
            let at = self.times.partition_point(|time| *time < end);
            self.gone.add(at, by(0, direct));
            self.gone_verified.add(at, by(0, verified));
        }
    }
}
