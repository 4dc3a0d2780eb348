//! What leaves the system: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{DataClass, Instant, ReplayPolicy, SourceRecordRef, StorageRef, TaintClass, True, V10};
use super::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;

words! {
    /// Ten ways data leaves the system; partition: disclosing = open_in_browser, open_native_app, show_in_finder, save_as, export_bundle; query = the other five.
    WorkspaceExternalizationKind {
        OpenInBrowser = "open_in_browser", OpenNativeApp = "open_native_app",
        ShowInFinder = "show_in_finder", SaveAs = "save_as", ExportBundle = "export_bundle",
        ExternalSourceQuery = "external_source_query", ConnectorFetch = "connector_fetch",
        ApiCall = "api_call", EmailSourceFetch = "email_source_fetch",
        BrowserSessionRead = "browser_session_read",
    }
}

record! {
    /// What one kind may do and what it needs.
    WorkspaceExternalizationPolicy: policy {
        policy_id: String,
        externalization_kind: WorkspaceExternalizationKind,
        requires_user_confirmation: bool,
        requires_redaction_preview: bool,
        allowed_data_classes: Vec<DataClass>,
        allowed_taint_classes: Vec<TaintClass>,
        max_cost_vector_ref: Option<StorageRef>,
        provider_logging_warning_required: bool,
        receipt_required: True,
        replay_policy: ReplayPolicy,
        warning_text: String,
        schema_version: V10,
    }
}

words! {
    /// Status of WorkspaceExternalizationReceipt.
    WorkspaceExternalizationReceiptStatus {
        Completed = "completed", BlockedByPolicy = "blocked_by_policy", Cancelled = "cancelled",
        Failed = "failed",
    }
}

record! {
    /// What left, under which policy, confirmed by whom.
    WorkspaceExternalizationReceipt: receipt {
        receipt_id: String,
        externalization_kind: WorkspaceExternalizationKind,
        workspace_id: String,
        source_record_refs: Vec<SourceRecordRef>,
        destination_ref: Option<StorageRef>,
        policy_ref: String,
        user_confirmation_ref: Option<StorageRef>,
        redaction_preview_ref: Option<StorageRef>,
        cost_vector_ref: Option<StorageRef>,
        status: WorkspaceExternalizationReceiptStatus,
        irreversible_disclosure_possible: bool,
        created_at: Instant,
        schema_version: V10,
        query_ref: Option<StorageRef>,
        replay_request_id: Option<String>,
    }
}
