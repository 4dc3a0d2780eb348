//! Commands and what is shown: types that the contract needs and does not declare.
//! Owns: their members and words. Must not: judge.

use crate::types::basic::{Instant, StorageRef, V10};
use crate::types::read_models::DerivedReadModelRecordReadModelKind;
use crate::types::replay::TaskReplayMode;
use crate::types::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;

words! {
    /// What acts.
    ActorKind { User = "user", Engine = "engine", TaskAgent = "task_agent" }
}

words! {
    /// What kind of surface.
    SurfaceKind { G = "g", Other = "other" }
}

record! {
    /// Somebody gave a command.
    CommandInvocation: event {
        invocation_id: String,
        command_id: String,
        actor_ref: StorageRef,
        actor_kind: ActorKind,
        idempotency_key: Option<String>,
        request_hash: String,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

words! {
    /// What became of a command.
    CommandStatus {
        Accepted = "accepted", PolicyDenied = "policy_denied", NotFound = "not_found", WrongState = "wrong_state",
    }
}

record! {
    /// What became of a command.
    CommandReceipt: receipt {
        receipt_id: String,
        invocation_id: String,
        status: CommandStatus,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// Something that can be pressed.
    UiAffordance: policy {
        affordance_id: String,
        surface_id: String,
        surface_kind: SurfaceKind,
        read_model_kind: Option<DerivedReadModelRecordReadModelKind>,
        action: String,
        command_ref: Option<StorageRef>,
        enabled: bool,
        schema_version: Option<V10>,
    }
}

record! {
    /// An item of a packet.
    PacketItem: value {
        item_ref: StorageRef,
        matter_id: Option<String>,
    }
}

record! {
    /// What an activation is given to know.
    TaskRunContextPacket: event {
        packet_id: String,
        run_id: String,
        task_id: String,
        items: Vec<PacketItem>,
        content_hash: String,
        matter_id: Option<String>,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// A packet was used.
    ContextPacketConsumption: event {
        consumption_id: String,
        packet_ref: StorageRef,
        activation_id: String,
        run_id: String,
        matter_id: Option<String>,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// What a read model was derived from.
    ReadModelInputManifest: event {
        manifest_id: String,
        input_refs: Vec<StorageRef>,
        input_manifest_hash: String,
        created_from_event_seq: u64,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// What a reader is shown of a board.
    RunBoardDigest: event {
        digest_id: String,
        run_id: String,
        reader_ref: StorageRef,
        matter_id: Option<String>,
        post_refs: Vec<StorageRef>,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// What a replay would do, and which effects of the run it would not have again (G-16).
    ReplayPreview: read_model {
        preview_id: String,
        source_run_id: String,
        replay_mode: TaskReplayMode,
        steps: Vec<String>,
        nondeterministic_step_refs: Vec<StorageRef>,
        side_effect_refs: Vec<StorageRef>,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// All that can be looked over of a run, in one place: findings, packets for review, views of decisions (G-10).
    ReviewabilityView: read_model {
        reviewability_view_id: String,
        task_id: String,
        run_id: String,
        finding_refs: Vec<StorageRef>,
        revision_review_packet_refs: Vec<StorageRef>,
        decision_audit_view_refs: Vec<StorageRef>,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}
