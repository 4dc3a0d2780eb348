//! Conformance: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{StorageRef, V10};
use super::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::json::Json;

words! {
    /// 20 kinds.
    AddendaBConformanceFixtureKind {
        FindingEventProjection = "finding_event_projection",
        PatternCRouteConflict = "pattern_c_route_conflict",
        FormulaNanZeroDenominator = "formula_nan_zero_denominator",
        TemplateMatchZeroWeight = "template_match_zero_weight", NoveltyNoNeighbor = "novelty_no_neighbor",
        SubAgentReputationInsufficientSample = "sub_agent_reputation_insufficient_sample",
        SourceWorkspaceConcurrentWrite = "source_workspace_concurrent_write",
        WorkspaceExternalizationPrivilegedExport = "workspace_externalization_privileged_export",
        RollingHashParallelSameArtifact = "rolling_hash_parallel_same_artifact",
        RevalidationCascadeCycle = "revalidation_cascade_cycle",
        SufficiencyNoCapability = "sufficiency_no_capability",
        SufficiencyMissingEvidence = "sufficiency_missing_evidence",
        RegenerateIdenticalOutput = "regenerate_identical_output",
        ForumCrossMatterLeak = "forum_cross_matter_leak",
        TaintLaunderingThroughSummary = "taint_laundering_through_summary",
        RunBoardSuppressedEventStub = "run_board_suppressed_event_stub",
        ReliancePacketInvalidation = "reliance_packet_invalidation",
        ReplayDivergence = "replay_divergence", HardCallEmptyOptions = "hard_call_empty_options",
        CommandRegistryPhantomButton = "command_registry_phantom_button",
    }
}

record! {
    /// Input bundle and expected codes.
    AddendaBConformanceFixture: policy {
        fixture_id: String,
        fixture_kind: AddendaBConformanceFixtureKind,
        input_bundle_ref: StorageRef,
        expected_validation_codes: Vec<String>,
        expected_terminal_state: Option<String>,
        expected_receipt_refs: Option<Vec<StorageRef>>,
        schema_version: V10,
        polarity: Option<FixturePolarity>,
        checked_at: Option<FixtureMoment>,
        expected_states: Option<Vec<FixtureState>>,
    }
}

record! {
    /// A member of a record, and what it must be in the end; null where it must be absent or null.
    FixtureState: value {
        record_ref: StorageRef,
        member: String,
        value: Json,
    }
}

words! {
    /// Whether a fixture shall fire.
    FixturePolarity {
        Negative = "negative", Positive = "positive",
    }
}

words! {
    /// When a fixture is checked: as a log that is looked at, or with its last row as one that asks to be let in.
    FixtureMoment {
        Audit = "audit", Admission = "admission",
    }
}
