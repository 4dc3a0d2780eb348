//! What a run has come to: what later scenes build on.
//! Owns: plain facts. Must not: write a row.

/// A source in the workspace of a run.
#[derive(Clone, Debug)]
pub struct Source {
    /// Itself.
    pub id: String,
    /// What it is.
    pub kind: &'static str,
    /// How far it is trusted.
    pub taint: &'static str,
    /// Why.
    pub trust_basis: &'static str,
    /// How secret it is.
    pub data_class: &'static str,
    /// Whether it is privileged.
    pub privileged: bool,
    /// How well it is documented.
    pub tier: u64,
    /// Whether somebody verified it.
    pub verified: bool,
    /// Until when it is fresh.
    pub fresh_until: Option<String>,
    /// SHA-256 of its last row.
    pub hash: String,
}

/// The workspace of a run.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// Itself.
    pub id: String,
    /// Its head.
    pub head: String,
    /// How many operations were applied.
    pub seq: u64,
    /// What it holds.
    pub sources: Vec<Source>,
    /// The last applied operation.
    pub last_operation: String,
}

/// A finding.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Itself.
    pub id: String,
    /// The event that raised it.
    pub event_id: String,
    /// The result it belongs to.
    pub result_id: String,
    /// How bad it is.
    pub severity: &'static str,
    /// How it stands.
    pub state: &'static str,
    /// The receipts that moved it.
    pub moves: Vec<String>,
}

/// What an evaluator or a judge found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Itself.
    pub id: String,
    /// What it depends on.
    pub depends_on: Vec<String>,
    /// How it stands.
    pub state: &'static str,
    /// What is asked of it.
    pub criteria: Vec<String>,
    /// How it is scored.
    pub config_id: String,
}

/// A chain of an evaluator and a judge that was resolved.
#[derive(Clone, Debug)]
pub struct Chain {
    /// Itself.
    pub id: String,
    /// What it came to.
    pub receipt_id: String,
    /// The verdict.
    pub verdict: String,
    /// The route.
    pub route: String,
    /// What it received.
    pub result_ids: Vec<String>,
    /// What it looked at.
    pub snapshot_id: String,
}

/// A claim, and how it stands.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The reference to it.
    pub claim_ref: String,
    /// Places that bear on it, and how.
    pub anchors: Vec<(String, &'static str)>,
    /// The receipt of its derivation.
    pub receipt_id: String,
    /// The status.
    pub status: String,
}

/// Everything.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The decision of a policy that lets the run go on.
    pub policy_evaluation_id: String,
    /// The policies as they were.
    pub policy_snapshot_id: String,
    /// The capabilities as they were.
    pub capability_snapshot_id: String,
    /// The artifact.
    pub artifact_id: String,
    /// Its head.
    pub head_version_id: String,
    /// How many versions it has.
    pub versions: u64,
    /// The workspace.
    pub workspace: Workspace,
    /// The outcomes.
    pub outcomes: Vec<Outcome>,
    /// The findings.
    pub findings: Vec<Finding>,
    /// The chains.
    pub chains: Vec<Chain>,
    /// The claims.
    pub claims: Vec<Claim>,
    /// The sources that places were cited from.
    pub anchor_sources: Vec<String>,
    /// How often a module of each kind was activated.
    pub activations: u64,
    /// The evidence package.
    pub package_id: String,
    /// The reliance packet.
    pub packet_id: String,
    /// Whether the packet was issued.
    pub is_issued: bool,
    /// The certification of it.
    pub certification_id: Option<String>,
    /// What limits the work.
    pub limitations: Vec<&'static str>,
    /// Whether a finding that may block is live.
    pub has_live_blocker: bool,
    /// Whether a question to a person is open.
    pub has_open_call: bool,
}
