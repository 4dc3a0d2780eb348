//! Claims, the places in sources that bear on them, and how well they are supported.
//! Owns: these scenes. Must not: judge the work; `evaluation` does.

use super::builder::{Builder, Run, hash_of};
use super::formula::{From, member, plain, registered};
use super::known::{Claim, Source};
use serde_json::{Value, json};

/// The policy by which support is derived, as it was written in the opening.
fn policy(b: &Builder) -> Value {
    let row = b.of_all().find(|row| row.draft.kind == "ClaimSupportDerivationPolicy");
    plain(&row.expect("the opening writes it").draft.record)
}

/// Some claims are made, and what sources say of them is looked up.
pub(super) fn make(b: &mut Builder, run: &mut Run) {
    let count = b.random.index(1..4);
    for _ in 0..count {
        let claim_ref = format!("claim:{}/{}", run.known.artifact_id, b.id("claim"));
        run.known.claims.push(Claim {
            claim_ref,
            anchors: Vec::new(),
            receipt_id: String::new(),
            status: String::new(),
        });
        let at = run.known.claims.len() - 1;
        let anchors = b.random.index(0..4);
        for _ in 0..anchors {
            anchor(b, run, at);
        }
        derive(b, run, at);
    }
}

/// A source that somebody finds later bears on a claim, and it is derived anew.
pub(super) fn again(b: &mut Builder, run: &mut Run) {
    if run.known.claims.is_empty() {
        return;
    }
    let at = b.random.index(0..run.known.claims.len());
    anchor(b, run, at);
    derive(b, run, at);
}

fn anchor(b: &mut Builder, run: &mut Run, at: usize) {
    let source = b.random.pick(&run.known.workspace.sources).clone();
    let strength = *b.random.pick(&["direct", "direct", "direct", "indirect", "contextual", "contradicts"]);
    let (kind, locator) = *b.random.pick(&[("page", "12"), ("section", "4.2"), ("paragraph", "3")]);
    let (id, now) = (b.id("anchor"), b.now());
    b.add(
        "SourceEvidenceAnchor",
        json!({"anchor_id": id, "source_record_ref": format!("src:{}", source.id), "anchor_kind": kind,
            "anchor_locator": locator, "supports_claim_refs": [run.known.claims[at].claim_ref],
            "support_strength": strength, "extracted_text_ref": format!("text:{}", hash_of(&id)),
            "created_at": now, "schema_version": "1.0"}),
    );
    run.known.claims[at].anchors.push((id, strength));
    run.known.anchor_sources.push(source.id);
}

/// How a place counts for a formula.
fn weighed(b: &Builder, source: &Source, strength: &str) -> Value {
    let is_stale = source.fresh_until.as_ref().is_some_and(|until| *until <= b.now());
    let mut anchor = json!({"support_strength": strength, "verified": source.verified, "stale": is_stale,
        "tier0": false});
    if source.kind == "case_law" {
        anchor["authority_level"] = json!("binding");
    }
    anchor
}

fn derive(b: &mut Builder, run: &mut Run, at: usize) {
    let claim = run.known.claims[at].clone();
    let spec = registered("claim_support_v1");
    b.register(&spec);
    let source_of = |id: &str| {
        let row = b.own().rfind(|(_, row)| {
            row.draft.kind == "SourceEvidenceAnchor"
                && row.draft.record.get("anchor_id").and_then(|own| own.as_str()) == Some(id)
        });
        let source = row.and_then(|(_, row)| row.draft.record.get("source_record_ref")?.as_str());
        let source = source.and_then(|text| text.strip_prefix("src:")).unwrap_or_default();
        run.known.workspace.sources.iter().find(|one| one.id == source).cloned().expect("a source")
    };
    let anchors: Vec<Value> =
        claim.anchors.iter().map(|(id, strength)| weighed(b, &source_of(id), strength)).collect();
    let sources: Vec<Source> = claim.anchors.iter().map(|(id, _)| source_of(id)).collect();
    let anchor_refs: Vec<String> =
        claim.anchors.iter().map(|(id, _)| format!("source_evidence_anchor:{id}")).collect();
    let receipt_id = b.id("claim-receipt");
    let inputs = json!({"policy": policy(b), "anchors": anchors});
    let mut input_refs = anchor_refs.clone();
    input_refs.push("claim_support_derivation_policy:claim-support".to_owned());
    let output_ref = format!("claim_support_derivation_receipt:{receipt_id}");
    let from = From { inputs, input_refs: &input_refs, output_ref };
    let derived = b.derive(run, &spec, from, member("derived_support_status"));
    let status = derived.value.as_str().unwrap_or_default().to_owned();
    let split = |wanted: bool| -> Vec<String> {
        let of = claim.anchors.iter().filter(|(_, strength)| (*strength == "contradicts") == wanted);
        of.map(|(id, _)| format!("source_evidence_anchor:{id}")).collect()
    };
    let verified: Vec<String> =
        sources.iter().filter(|one| one.verified).map(|one| format!("src:{}", one.id)).collect();
    let now = b.now();
    b.add(
        "ClaimSupportDerivationReceipt",
        json!({"receipt_id": receipt_id, "claim_ref": claim.claim_ref, "policy_ref": "claim-support",
            "supporting_anchor_refs": split(false), "contradicting_anchor_refs": split(true),
            "source_verification_refs": verified, "source_freshness_refs": [],
            "applicability_scope_refs": [], "derived_support_status": status,
            "decisive_reason": reason(&status), "formula_eval_receipt_ref": derived.receipt_ref,
            "created_at": now, "schema_version": "1.0"}),
    );
    (run.known.claims[at].receipt_id, run.known.claims[at].status) = (receipt_id, status);
}

fn reason(status: &str) -> &'static str {
    match status {
        "supported" => "direct_verified_support",
        "partially_supported" => "partial_indirect_support",
        "unsupported" => "no_supporting_anchor",
        "contradicted" => "direct_contradiction",
        _stale => "stale_or_unverified_source",
    }
}
