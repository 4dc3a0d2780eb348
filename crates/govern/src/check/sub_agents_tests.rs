//! Sub-agents: what fires, what does not.

use crate::check::trial::has_rows;

#[test]
fn a_legacy_field_is_found_beside_the_new_one() {
    has_rows(
        "output_contract_singular_legacy_field_present",
        &[
            (
                &[("SubAgentCoordinationProfile", "{'output_contract_ref':'x:y','output_contract_refs':[]}")],
                &[1],
            ),
            (&[("SubAgentCoordinationProfile", "{'output_contract_ref':null}")], &[]),
        ],
    );
    has_rows(
        "sub_agent_point_without_fallback",
        &[(&[("SubAgentCoordinationProfile", "{'allowed_coordination_points':['evaluation']}")], &[1])],
    );
}

#[test]
fn a_plan_is_verified_where_a_policy_asks_for_it() {
    let policy = |text| ("PlanVerifierRequirementPolicy", text);
    let risk =
        policy("{'policy_id':'v','required_when_plan_risk_score_gte':0.5,'on_unavailable':'hard_call'}");
    let effects = policy(
        "{'policy_id':'v','required_for_external_side_effects':true,'on_unavailable':'degrade_with_user_notice'}",
    );
    let secret = policy(
        "{'policy_id':'v','required_for_privileged_meaning_bearing_revisions':true,'on_unavailable':'pause'}",
    );
    let none = policy("{'policy_id':'v','on_unavailable':'hard_call'}");
    let more =
        policy("{'policy_id':'v','required_when_plan_risk_score_gte':0.99,'on_unavailable':'hard_call'}");
    let other =
        policy("{'policy_id':'w','required_when_plan_risk_score_gte':0.4,'on_unavailable':'hard_call'}");
    let plan = |text| ("RevisionPlan", text);
    let risky = plan("{'plan_id':'p','plan_risk_score':0.5}");
    let sends = plan("{'plan_id':'p','plan_risk_score':0.1,'steps':[{'step_kind':'external_side_effect'}]}");
    let privileged = plan("{'plan_id':'p','safety_class':'privileged'}");
    let go = ("RevisionOperationReceipt", "{'operation_kind':'dispatched','plan_id':'p'}");
    let started = ("RevisionLifecycleTransitionEvent", "{'to_state':'dispatched','plan_id':'p'}");
    let unrated = plan("{'plan_id':'p'}");
    let stepwise = plan("{'plan_id':'p','plan_risk_score':0.5,'steps':[{'step_id':'s'}]}");
    let twin = plan("{'plan_id':'q','plan_risk_score':0.5,'steps':[{'step_id':'s'}]}");
    let ran = ("RevisionOperationReceipt", "{'plan_id':'p','step_id':'s'}");
    let of_step = ("RevisionOperationReceipt", "{'operation_kind':'dispatched','step_id':'s'}");
    let finished = ("RevisionOperationReceipt", "{'operation_kind':'step_finished','plan_id':'p'}");
    let looked = ("PlanVerifierResult", "{'result_id':'x','plan_id':'p'}");
    let failed = ("PlanVerifierResult", "{'result_id':'x','plan_id':'p','passed':false}");
    let call =
        ("HardRevisionCall", "{'hard_call_kind':'plan_verifier_unavailable','source_ref':'revision_plan:p'}");
    let away = |text| ("PlanVerifierUnavailableEvent", text);
    let paused = away("{'event_id':'e','plan_id':'p','action':'pause'}");
    let silent = away("{'event_id':'e','plan_id':'p','action':'degrade_with_user_notice'}");
    let told = away(
        "{'event_id':'e','plan_id':'p','action':'degrade_with_user_notice','user_notice_ref':'notice:n'}",
    );
    has_rows(
        "plan_verifier_required_but_missing",
        &[
            (&[risk, risky, go, started], &[3, 4]),
            (&[risk, risky, looked, go], &[]),
            (&[risk, risky, go, looked], &[3]),
            // A verifier that found fault has looked: that is not what is missing.
            (&[risk, risky, failed, go], &[]),
            (&[risk, risky, call, go], &[]),
            (&[risk, risky, paused, go], &[4]),
            (&[risk, sends, go], &[]),
            // A risk that nobody states may be any, and a receipt that does not say what it is for is of a plan that runs.
            (&[risk, unrated, go], &[3]),
            (&[effects, unrated, go], &[]),
            (&[risk, risky, ran], &[3]),
            // A step that has ended was dispatched, whoever left that out.
            (&[risk, risky, finished], &[3]),
            (&[risk, risky, go, finished], &[3]),
            (&[risk, risky, looked, finished], &[]),
            (&[risk, stepwise, of_step], &[3]),
            (&[risk, stepwise, twin, of_step], &[]),
            (&[effects, sends, go], &[3]),
            (&[effects, sends, silent, go], &[4]),
            (&[effects, sends, told, go], &[]),
            (&[secret, privileged, go], &[3]),
            (&[secret, privileged, paused, go], &[]),
            (&[risk, none, risky, go], &[]),
            (&[risk, risky], &[]),
            // A policy does not judge what was dispatched before it.
            (&[risk, risky, go, more], &[3]),
            (&[more, risky, go, risk], &[]),
            (&[more, risky, go, other], &[]),
            (&[more, risky, go, other, started], &[5]),
            (&[risky, go, risk, more], &[2]),
        ],
    );
}
