//! Sources: types that the contract needs and does not declare.
//! Owns: their members and words. Must not: judge.

use crate::types::basic::{DataClass, Instant, SourceKind, SourceRecordRef, StorageRef, TaintClass, V10};
use crate::types::context::OmittedPacketItem;
use crate::types::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;

words! {
    /// What became of a place.
    AnchorResolution { Resolved = "resolved", ContextChanged = "context_changed", Failed = "failed" }
}

words! {
    /// What is made of old records.
    Compaction { None = "none", DigestOnly = "digest_only", SummaryWithDigest = "summary_with_digest" }
}

record! {
    /// Where a workspace stands.
    SourceWorkspaceCurrentState: projection {
        workspace_id: String,
        task_id: String,
        matter_id: Option<String>,
        head_hash: String,
        stream_seq: u64,
        record_refs: Vec<SourceRecordRef>,
        taint_class: TaintClass,
        data_class: DataClass,
        privileged: bool,
        aggregation_policy_ref: Option<StorageRef>,
        canonical_event_ref: StorageRef,
        updated_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// What was made from what.
    DerivationEdge: event {
        output_ref: StorageRef,
        input_refs: Vec<StorageRef>,
        sanitization_ref: Option<StorageRef>,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

words! {
    /// Where a question goes: to what is here, or out.
    QueryRoute {
        Library = "library", Workspace = "workspace", ExternalSourceQuery = "external_source_query",
        ConnectorFetch = "connector_fetch", ApiCall = "api_call", EmailSourceFetch = "email_source_fetch",
        BrowserSessionRead = "browser_session_read",
    }
}

record! {
    /// A question that was put to a source.
    SourceQueryRecord: event {
        query_id: String,
        workspace_id: String,
        task_id: String,
        run_id: Option<String>,
        query_text: String,
        route: QueryRoute,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// Which kinds of sources can be read.
    ExtractorCapability: policy {
        capability_ref: String,
        source_kinds: Vec<SourceKind>,
        schema_version: Option<V10>,
    }
}

record! {
    /// Whether a place in a text was found again.
    TextAnchorResolutionReceipt: receipt {
        receipt_id: String,
        anchor_ref: StorageRef,
        recomputed_context_hash: Option<String>,
        status: AnchorResolution,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// How long records stay, and what is made of them (D-12).
    RetentionPolicy: policy {
        policy_id: String,
        record_kinds: Vec<String>,
        keep_days: u64,
        compaction: Compaction,
        schema_version: Option<V10>,
    }
}

record! {
    /// Which posts a digest took, and why (D-11).
    DigestSelection: receipt {
        selection_id: String,
        digest_ref: StorageRef,
        included_post_refs: Vec<StorageRef>,
        omitted: Vec<OmittedPacketItem>,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// What a module spent on getting sources, as cost vectors (D-19).
    SourceAcquisitionCostRecord: event {
        acquisition_cost_id: String,
        task_id: String,
        run_id: String,
        module_id: String,
        source_record_refs: Vec<SourceRecordRef>,
        planned_cost_vector_ref: Option<StorageRef>,
        actual_cost_vector_ref: StorageRef,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}
