//! The board of a run: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{DataClass, Instant, PolicyEvaluationRef, StorageRef, TaintClass, V10};
use super::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;

words! {
    /// 12 classes.
    RunBoardEventClass {
        ModuleLifecycle = "module_lifecycle", ArtifactEvent = "artifact_event",
        SideEffectEvent = "side_effect_event", ErrorRetry = "error_retry", GateDecision = "gate_decision",
        EvaluationFinding = "evaluation_finding", RepairInstruction = "repair_instruction",
        SourceUpdate = "source_update", UserComment = "user_comment",
        TaskAgentRecommendation = "task_agent_recommendation", CostDuration = "cost_duration",
        RunLifecycle = "run_lifecycle",
    }
}

words! {
    /// Visibility scope of RunBoardGovernanceEnvelope.
    RunBoardGovernanceEnvelopeVisibilityScope {
        PrivateAuditOnly = "private_audit_only", SameModule = "same_module", SameSegment = "same_segment",
        SameMatterModules = "same_matter_modules", SelectedParticipants = "selected_participants",
        UserOnly = "user_only",
    }
}

record! {
    /// Who may see an event.
    RunBoardGovernanceEnvelope: value {
        data_class: DataClass,
        taint_class: TaintClass,
        privileged: bool,
        matter_id: Option<String>,
        policy_decision_refs: Vec<PolicyEvaluationRef>,
        visibility_scope: RunBoardGovernanceEnvelopeVisibilityScope,
        redaction_required: bool,
        schema_version: V10,
    }
}

words! {
    /// Suppress data classes of RunBoardPublicationPolicy.
    RunBoardPublicationPolicySuppressDataClasses {
        Privileged = "privileged", LocalOnly = "local_only",
    }
}

record! {
    /// What is published by itself.
    RunBoardPublicationPolicy: policy {
        policy_id: String,
        auto_publish_event_classes: Vec<RunBoardEventClass>,
        max_visible_posts_per_run: u64,
        suppress_data_classes: Vec<RunBoardPublicationPolicySuppressDataClasses>,
        publish_redacted_stub_when_suppressed: bool,
        rate_limit_per_minute: u64,
        schema_version: V10,
        run_id: Option<String>,
    }
}

record! {
    /// Every event, private.
    RunBoardAuditEvent: event {
        event_id: String,
        task_id: String,
        run_id: String,
        event_class: RunBoardEventClass,
        payload_ref: StorageRef,
        governance: RunBoardGovernanceEnvelope,
        event_seq: u64,
        created_at: Instant,
        schema_version: V10,
    }
}

words! {
    /// Withheld reason of RunBoardVisiblePost.
    RunBoardVisiblePostWithheldReason {
        Privileged = "privileged", LocalOnly = "local_only", VolumeCap = "volume_cap",
        MatterFirewall = "matter_firewall", Policy = "policy",
    }
}

words! {
    /// Lifecycle state of RunBoardVisiblePost.
    RunBoardVisiblePostLifecycleState {
        Active = "active", Superseded = "superseded", Retracted = "retracted",
    }
}

record! {
    /// What readers see.
    RunBoardVisiblePost: projection {
        post_id: String,
        source_event_id: String,
        rendered_payload_ref: StorageRef,
        redacted: bool,
        withheld_reason: Option<RunBoardVisiblePostWithheldReason>,
        lifecycle_state: RunBoardVisiblePostLifecycleState,
        created_at: Instant,
        schema_version: V10,
        author_action_ref: Option<StorageRef>,
    }
}
