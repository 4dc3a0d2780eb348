//! Requests for help: what fires, what does not.

use crate::check::trial::has_rows;

const REQUEST: &str = "ModuleAssistanceRequest";

#[test]
fn an_endpoint_is_of_the_target() {
    let inbox = ("AssistanceEndpoint", "{'endpoint_id':'e','target':'user'}");
    let room = ("ForumRoomRecord", "{'room_id':'m'}");
    has_rows(
        "module_assistance_request_without_endpoint",
        &[
            (&[inbox, (REQUEST, "{'target':'user','target_endpoint_ref':'assistance_endpoint:e'}")], &[]),
            (&[inbox, (REQUEST, "{'target':'module','target_endpoint_ref':'assistance_endpoint:e'}")], &[2]),
            (&[(REQUEST, "{'target':'user','target_endpoint_ref':'assistance_endpoint:e'}")], &[1]),
            (&[(REQUEST, "{'target':'user'}")], &[1]),
            (&[(REQUEST, "{'target':'user','target_endpoint_ref':'user:u'}")], &[]),
            (&[(REQUEST, "{'target':'user','target_endpoint_ref':'task_agent:u'}")], &[1]),
            (&[(REQUEST, "{'target':'subagent','target_endpoint_ref':'sub_agent:s'}")], &[]),
            (&[room, (REQUEST, "{'target':'forum_room','target_endpoint_ref':'forum_room_record:m'}")], &[]),
            (&[room, (REQUEST, "{'target':'user','target_endpoint_ref':'forum_room_record:m'}")], &[2]),
            (&[(REQUEST, "{'target':'forum_room','target_endpoint_ref':'forum_room_record:m'}")], &[1]),
            (&[(REQUEST, "{'target_endpoint_ref':''}")], &[]),
        ],
    );
}

#[test]
fn an_answer_fits_its_schema() {
    let request =
        (REQUEST, "{'request_id':'q','answer_schema_ref':{'schema_id':'s','semantic_version':'1'}}");
    let answer = |text| ("ModuleAssistanceAnswer", text);
    has_rows(
        "assistance_request_without_answer_schema",
        &[
            (&[(REQUEST, "{'answer_schema_ref':{'semantic_version':'1'}}")], &[1]),
            (&[request, answer("{'request_id':'q','accepted':true,'schema_check':'passed'}")], &[]),
            (&[request, answer("{'request_id':'q','accepted':true,'schema_check':'failed'}")], &[2]),
            (&[request, answer("{'request_id':'q','accepted':false,'schema_check':'failed'}")], &[]),
            (
                &[
                    request,
                    answer(
                        "{'request_id':'q','accepted':true,'schema_check':'passed','answer_schema_ref':{'schema_id':'t'}}",
                    ),
                ],
                &[2],
            ),
        ],
    );
}

#[test]
fn a_room_without_moderator_goes_on_as_agreed() {
    let request = (
        REQUEST,
        "{'request_id':'q','target':'forum_room','target_endpoint_ref':'forum_room_record:m','timeout_ms':120000,'on_timeout':'abort'}",
    );
    let asked = (
        REQUEST,
        "{'request_id':'q','target':'forum_room','target_endpoint_ref':'forum_room_record:m','timeout_ms':120000,
        'on_timeout':'escalate_human'}",
    );
    let other = ("ForumTick", "{'room_id':'m'}");
    let answer = ("ModuleAssistanceAnswer", "{'request_id':'q','accepted':true}");
    let abort = ("AssistanceFallbackEvent", "{'request_id':'q','action':'abort'}");
    let resume = ("AssistanceFallbackEvent", "{'request_id':'q','action':'resume_with_warning'}");
    let of_room = ("AssistanceFallbackEvent", "{'room_id':'m','action':'abort'}");
    let item = ("AttentionLedgerItem", "{'source_ref':'module_assistance_request:q'}");
    let on_failure = ("AttentionLedgerItem", "{'source_ref':'moderator_failure_event:f'}");
    let room = ("ForumRoomRecord", "{'room_id':'m'}");
    let failure = ("ModeratorFailureEvent", "{'event_id':'f','room_id':'m'}");
    has_rows(
        "moderator_failure_without_fallback",
        &[
            (&[request, other], &[]),
            (&[request, other, other], &[1]),
            (&[request, answer, other], &[]),
            (&[request, other, answer], &[1]),
            (&[request, other, abort], &[]),
            (&[request, other, resume], &[1]),
            (&[request, other, item], &[1]),
            (&[asked, other, item], &[]),
            (&[request, failure], &[2]),
            (&[room, request, failure, of_room], &[]),
            (&[room, failure, of_room], &[]),
            (&[request, failure, on_failure, other], &[1, 2]),
            (&[asked, failure, on_failure, other], &[]),
            (&[failure], &[1]),
        ],
    );
}

#[test]
fn the_task_agent_does_not_decide() {
    has_rows(
        "task_agent_substantive_decision_forbidden",
        &[
            (&[("FindingLifecycleTransitionReceipt", "{'actor_ref':'task_agent:t'}")], &[1]),
            (&[("HardCallResolutionReceipt", "{'resolved_by_user_ref':'task_agent:t'}")], &[1]),
            (&[("HardCallResolutionReceipt", "{'dispatcher_actor_ref':'engine:task_agent'}")], &[]),
            (&[("RevisionReviewDecisionReceipt", "{'actor_ref':'task_agent:t'}")], &[1]),
            (&[("RevisionReviewDecisionReceipt", "{'actor_ref':'task_agent'}")], &[1]),
            (&[("RevisionReviewDecisionReceipt", "{'actor_ref':'task_agents'}")], &[]),
            (&[("TaskGraphMutationEvent", "{'actor_ref':'task_agent:t'}")], &[1]),
            (&[("TaskGraphMutationEvent", "{'actor_ref':'user:u','proposed_by_ref':'task_agent:t'}")], &[]),
        ],
    );
}
