//! Deliberations: what fires, what does not.

use crate::check::trial::has_rows;

const ROOM: (&str, &str) = ("ForumRoomRecord", "{'room_id':'m','purpose':'decision'}");

#[test]
fn a_room_that_decides_has_limits() {
    let policy = |text| ("ForumDeliberationPolicy", text);
    has_rows(
        "forum_deadlock_without_policy",
        &[
            (
                &[ROOM, policy("{'room_id':'n','max_deliberation_ticks':3,'consensus_threshold_pct':50}")],
                &[1],
            ),
            (
                &[ROOM, policy("{'room_id':'m','max_deliberation_ticks':3,'consensus_threshold_pct':100}")],
                &[],
            ),
            (
                &[ROOM, policy("{'room_id':'m','max_deliberation_ticks':0,'consensus_threshold_pct':50}")],
                &[2],
            ),
            (
                &[ROOM, policy("{'room_id':'m','max_deliberation_ticks':3,'consensus_threshold_pct':101}")],
                &[2],
            ),
            (&[ROOM, policy("{'room_id':'m','max_deliberation_ticks':3,'consensus_threshold_pct':0}")], &[2]),
            (&[ROOM, policy("{'room_id':'m','max_deliberation_ticks':3}")], &[2]),
            (&[("ForumRoomRecord", "{'room_id':'m'}")], &[]),
        ],
    );
}

#[test]
fn the_task_agent_decides_nowhere() {
    has_rows(
        "forum_policy_allows_task_agent_decides",
        &[
            (&[("ModuleAssistanceRequest", "{'on_timeout':'task_agent_decides'}")], &[1]),
            (&[("AssistanceFallbackEvent", "{'action':'task_agent_decides'}")], &[1]),
            (&[("ModuleAssistanceRequest", "{'on_timeout':'ask_task_agent_then_pause'}")], &[]),
        ],
    );
}

#[test]
fn a_deadlock_ends_as_agreed() {
    let policy = |word| ("ForumDeliberationPolicy", word);
    let hard = policy(
        "{'room_id':'m','max_deliberation_ticks':2,'consensus_threshold_pct':60,'on_no_consensus':'forum_deadlock_hard_call'}",
    );
    let safest = policy(
        "{'room_id':'m','max_deliberation_ticks':2,'consensus_threshold_pct':60,
        'on_no_consensus':'prefer_safest_policy_allowed_proposal'}",
    );
    let longer = policy(
        "{'room_id':'m','max_deliberation_ticks':3,'consensus_threshold_pct':60,'on_no_consensus':'forum_deadlock_hard_call'}",
    );
    let low = ("ForumTick", "{'room_id':'m','agreement_pct':59}");
    let high = ("ForumTick", "{'room_id':'m','agreement_pct':60}");
    let call = ("HardRevisionCall", "{'hard_call_kind':'forum_deadlock','source_ref':'forum_room_record:m'}");
    let choice = ("ForumProposalSelection", "{'selection_id':'s','room_id':'m','proposal_ref':'proposal:1'}");
    let none = ("ForumProposalSelection", "{'selection_id':'s','room_id':'m'}");
    let pause = ("ForumPauseEvent", "{'event_id':'e','room_id':'m'}");
    has_rows(
        "forum_no_consensus_without_terminal_route",
        &[
            (&[hard, low], &[]),
            (&[hard, low, low], &[3]),
            (&[hard, low, high], &[]),
            (&[hard, low, low, high], &[3]),
            (&[hard, low, low, call], &[]),
            (&[hard, call, low, low], &[4]),
            (&[hard, low, low, pause], &[3]),
            (&[safest, low, low, choice], &[]),
            (&[safest, low, low, none], &[3]),
            (&[low, low], &[]),
            // What is agreed on later does not count for what is over.
            (&[hard, low, low, choice, safest], &[3]),
            (&[hard, low, low, call, safest], &[]),
            (&[hard, low, longer, low], &[]),
            (&[longer, low, low, hard], &[]),
        ],
    );
}
