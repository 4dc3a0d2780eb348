//! What modules are given to know, and the guidance in it.

use crate::stage::Stage;
use countersign_govern::types::added::outcome::EvaluationFeedbackBundle;
use countersign_govern::types::context::{
    OmittedPacketItemOmissionReason as Reason, PacketStatus, TaskContextAudience as Audience,
    TaskRunContextPacketRequestStalenessPolicy as Staleness,
};
use countersign_govern::types::guidance::RunGuidanceLifecycleState as State;
use countersign_work::context::{self, Ask, Item, Need, Packet, Room, Unusable};
use countersign_work::guidance::{self, Settled};

const ROOM: Room = Room { tokens_max: 2_000, digest_tokens: 100, feedback_tokens: 50 };

fn assembled(stage: &mut Stage, items: &[Item], tokens_max: u64) -> Packet {
    stage.later();
    let ask = Ask { audience: Audience::Module, tokens_max, items, staleness: Staleness::FreshOnly };
    let packet = context::assemble(&mut stage.desk, &ask).unwrap();
    stage.is_clean();
    packet
}

fn guided() -> (Stage, String) {
    let mut stage = Stage::small();
    stage.failing();
    let bundle = stage.desk.all::<EvaluationFeedbackBundle>().next().unwrap().feedback_bundle_id;
    stage.later();
    let id = guidance::of_bundle(&mut stage.desk, &bundle).unwrap().unwrap();
    stage.is_clean();
    (stage, id)
}

#[test]
fn a_packet_holds_what_there_is_room_for() {
    let (mut stage, _) = guided();
    let items = context::items(&stage.desk, |_| 400).unwrap();
    assert_eq!(items.iter().filter(|one| one.need == Need::Required).count(), 1);
    let packet = assembled(&mut stage, &items, 900);
    assert_eq!((packet.status, packet.tokens, packet.held.len()), (PacketStatus::Complete, 800, 2));
    assert_eq!(packet.omitted.len(), 1);
    assert_eq!(packet.omitted[0].omission_reason, Reason::TokenBudget);
    context::activate(&mut stage.desk, "draft", &packet, ROOM).unwrap();
    stage.is_clean();
}

#[test]
fn a_packet_that_lacks_what_is_needed_is_not_used() {
    let mut stage = Stage::small();
    let items = context::items(&stage.desk, |_| 400).unwrap();
    let packet = assembled(&mut stage, &items, 300);
    assert_eq!(packet.status, PacketStatus::Blocked);
    let refused = context::activate(&mut stage.desk, "draft", &packet, ROOM);
    assert_eq!(refused, Err(Unusable::Blocked));
}

#[test]
fn an_activation_takes_no_more_than_its_room() {
    let mut stage = Stage::small();
    let items = context::items(&stage.desk, |_| 1_900).unwrap();
    let packet = assembled(&mut stage, &items, 2_000);
    let refused = context::activate(&mut stage.desk, "draft", &packet, ROOM);
    assert_eq!(refused, Err(Unusable::TooMuch { total: 2_050, max: 2_000 }));
}

#[test]
fn a_packet_is_old_when_another_version_counts() {
    let mut stage = Stage::small();
    let items = context::items(&stage.desk, |_| 10).unwrap();
    let packet = assembled(&mut stage, &items, 100);
    stage.version("memo", crate::stage::GOOD);
    assert!(context::is_old(&stage.desk, &packet));
    assert_eq!(context::activate(&mut stage.desk, "draft", &packet, ROOM), Err(Unusable::Old));
    let again = context::items(&stage.desk, |_| 10).unwrap();
    let packet = assembled(&mut stage, &again, 100);
    context::activate(&mut stage.desk, "draft", &packet, ROOM).unwrap();
    stage.is_clean();
}

#[test]
fn a_source_that_is_out_of_date_is_left_out() {
    let mut stage = Stage::small();
    let lease = stage.desk.task().source("lease").unwrap().clone();
    stage.later();
    countersign_work::workspace::mark_stale(&mut stage.desk, &lease).unwrap();
    let items = context::items(&stage.desk, |_| 10).unwrap();
    let packet = assembled(&mut stage, &items, 100);
    assert_eq!((packet.status, packet.omitted[0].omission_reason), (PacketStatus::Blocked, Reason::Stale));
    stage.later();
    let ask = Ask {
        audience: Audience::Module,
        tokens_max: 100,
        items: &items,
        staleness: Staleness::AllowStaleWithWarning,
    };
    let packet = context::assemble(&mut stage.desk, &ask).unwrap();
    assert_eq!(packet.status, PacketStatus::CompleteWithWarnings);
    stage.is_clean();
}

#[test]
fn guidance_that_is_disputed_steers_nobody() {
    let (mut stage, id) = guided();
    let before = context::items(&stage.desk, |_| 10).unwrap();
    stage.later();
    guidance::contest(&mut stage.desk, &id, "ana", "the section is there").unwrap();
    stage.is_clean();
    assert!(guidance::active(&stage.desk).is_empty());
    let packet = assembled(&mut stage, &before, 100);
    assert_eq!(packet.omitted.len(), 1);
    assert_eq!(packet.omitted[0].omission_reason, Reason::Policy);
    assert!(guidance::contest(&mut stage.desk, &id, "ana", "again").is_err());
    for (how, state) in [(Settled::Withdrawn, State::Active), (Settled::Upheld, State::Rejected)] {
        stage.later();
        if state == State::Rejected {
            guidance::contest(&mut stage.desk, &id, "ana", "still").unwrap();
        }
        guidance::settle(&mut stage.desk, &id, how, "ana").unwrap();
        stage.is_clean();
        assert_eq!(guidance::all(&stage.desk)[0].state, state);
    }
    assert!(guidance::settle(&mut stage.desk, &id, Settled::Upheld, "ana").is_err());
}

#[test]
fn newer_guidance_takes_the_place_of_older() {
    let (mut stage, first) = guided();
    // The section is there now, and says what no source does.
    let text = "# Memo\n\n## Term\n\nThe landlord owns a boat.\n";
    let version = stage.version("memo", text);
    countersign_work::outcome::go(
        &mut stage.desk,
        "term-stated",
        countersign_govern::types::outcome::OutcomeEvaluationState::Dirty,
        "revision step done",
        None,
    )
    .unwrap();
    stage.look("memo", &version, text);
    let results: Vec<_> = stage.desk.all::<EvaluationFeedbackBundle>().collect();
    let with_findings = results.iter().rfind(|one| !one.finding_view_refs.is_empty()).unwrap();
    let second = guidance::of_bundle(&mut stage.desk, &with_findings.feedback_bundle_id).unwrap().unwrap();
    stage.is_clean();
    let states: Vec<(String, State)> =
        guidance::all(&stage.desk).into_iter().map(|one| (one.id, one.state)).collect();
    assert_eq!(states, [(first, State::Superseded), (second.clone(), State::Active)]);
    assert_eq!(guidance::of_bundle(&mut stage.desk, &with_findings.feedback_bundle_id), Ok(None));
    guidance::expire(&mut stage.desk).unwrap();
    stage.is_clean();
    assert!(guidance::active(&stage.desk).is_empty());
}
