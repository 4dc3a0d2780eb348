//! Commands about reliance packets.
//! Owns: finding one, and making a new one of work that changed. Must not: say how far it may be relied on.

use super::Given;
use crate::claims::Claimed;
use crate::desk::{Desk, Error};
use crate::evaluate;
use crate::feedback;
use crate::rely::{self, Besides};
use crate::texts::{self, Head};
use crate::travel::checkpoint;
use alloc::string::ToString;
use alloc::vec::Vec;
use countersign_govern::types::added::outcome::Consumption;
use countersign_govern::types::basic::StorageRef;
use countersign_govern::types::reliance::{RelianceArtifactLifecycleState as Life, TaskReliancePacket};

pub(super) fn find(desk: &Desk, packet: Option<&str>) -> Result<TaskReliancePacket, Error> {
    rely::find(desk, packet).ok_or_else(|| Error::Missing("packet".to_string()))
}

/// Issues a packet; the last one where none is named.
pub(super) fn issue(desk: &mut Desk, packet: Option<&str>, by: &StorageRef) -> Result<(), Error> {
    let packet = find(desk, packet)?;
    rely::issue(desk, &packet, by).map(drop)
}

/// A packet goes on; the last one where none is named.
pub(super) fn go(
    desk: &mut Desk,
    packet: Option<&str>,
    to: Life,
    by: &StorageRef,
    why: &str,
) -> Result<(), Error> {
    let packet = find(desk, packet)?;
    rely::go(desk, &packet.packet_id, to, by.as_str(), why).map(drop)
}

/// Looks again at what has changed since it was looked at, and makes a new packet of what that comes to.
pub(super) fn renew(desk: &mut Desk, given: &Given<'_>) -> Result<(), Error> {
    let heads = texts::checked(desk, given.contents)?;
    let seen = (given.seen)(&heads);
    let looked: Vec<evaluate::Head<'_>> = heads.iter().map(Head::seen).collect();
    evaluate::all(desk, &looked, &seen)?;
    for delivery in feedback::owed(desk) {
        feedback::consume(desk, &delivery, Consumption::NotUsed, Some("nobody mends it here"))?;
    }
    checkpoint::keep_good(desk)?;
    let claims: Vec<Claimed> = heads.into_iter().flat_map(|head| head.claims).collect();
    let package = rely::package(desk, &claims)?;
    let before = rely::last(desk).and_then(|packet| packet.input_manifest.budget_narrative_ref);
    rely::packet(desk, &package, &Besides { budget: before })?;
    Ok(())
}
