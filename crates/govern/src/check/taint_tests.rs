//! Trust is backed, inherited, and falls with evidence only.

use crate::check::trial::has_places as check;
use std::format;
use std::string::String;

fn source(id: &str, kind: &str, taint: &str, basis: &str) -> String {
    format!(
        r#"{{"source_id":"{id}","source_kind":"{kind}","taint_class":"{taint}","trust_basis":"{basis}"}}"#
    )
}

#[test]
fn a_kind_has_one_default() {
    let code = "source_kind_taint_unmapped";
    let podcast = ("SourceRecord", r#"{"source_kind":"podcast"}"#);
    let email = ("SourceRecord", r#"{"source_kind":"email"}"#);
    let row =
        |kind: &str, taint: &str| format!(r#"{{"source_kind":"{kind}","default_taint_class":"{taint}"}}"#);
    let default = "SourceKindTaintDefault";
    check(code, &[podcast, email], &[(1, "/source_kind")]);
    check(code, &[(default, &row("podcast", "unclassified")), podcast], &[]);
    check(code, &[(default, &row("email", "user_trusted_bounded")), email], &[]);
    check(code, &[(default, &row("email", "unclassified")), email], &[(2, "/source_kind")]);
    let two = [row("podcast", "unclassified"), row("podcast", "external_untrusted")];
    check(code, &[(default, &two[0]), (default, &two[1]), podcast], &[(3, "/source_kind")]);
    check(code, &[("SourceRecord", "{}")], &[]);
}

#[test]
fn an_authority_is_backed() {
    let check = |kind: &str, taint: &str, basis: &str, expected: &[(u64, &str)]| {
        let record = source("s", kind, taint, basis);
        check("external_authority_without_trust_basis", &[("SourceRecord", &record)], expected);
    };
    let wrong = &[(1, "/trust_basis")];
    let authority = "external_authority_trusted";
    check("statute", authority, "official_api", &[]);
    check("statute", authority, "manual_override_policy", wrong);
    check("case_law", authority, "official_api", wrong);
    check("api_result", authority, "", wrong);
    check("api_result", "external_untrusted", "", &[]);
    check("web_source", authority, "web_unverified", wrong);
    // What its kind asks nothing for is no authority by what it was got through: only a policy that says so makes it one.
    for (kind, basis) in [
        ("web_source", "official_api"),
        ("custom", "official_api"),
        ("document", "verified_authority_database"),
        ("web_source", "manual_override_policy"),
    ] {
        check(kind, authority, basis, wrong);
    }
}

/// An override by policy names a decision that allows it.
#[test]
fn an_authority_by_override_has_its_decision() {
    let code = "external_authority_without_trust_basis";
    for (kind, basis, decision, expected) in [
        ("web_source", "manual_override_policy", "allow", &[][..]),
        ("custom", "manual_override_policy", "allow", &[]),
        ("web_source", "manual_override_policy", "deny", &[(2, "/trust_basis")]),
        ("web_source", "official_api", "allow", &[(2, "/trust_basis")]),
        ("statute", "manual_override_policy", "allow", &[(2, "/trust_basis")]),
    ] {
        let policy = format!(r#"{{"policy_evaluation_id":"pe","decision":"{decision}"}}"#);
        let source = format!(
            r#"{{"source_id":"s","source_kind":"{kind}","taint_class":"external_authority_trusted",
            "trust_basis":"{basis}","policy_decision_refs":["policy_evaluation:pe"]}}"#
        );
        check(code, &[("PolicyEvaluation", &policy), ("SourceRecord", &source)], expected);
    }
}

#[test]
fn taint_is_inherited_unless_it_was_taken_away() {
    let code = "taint_not_inherited_through_summary";
    let web = source("web", "web_source", "external_untrusted", "");
    let own = source("own", "file", "user_trusted_bounded", "");
    let sum = source("sum", "prior_task_output", "user_trusted_bounded", "");
    let (web, own, sum) = (("SourceRecord", &*web), ("SourceRecord", &*own), ("SourceRecord", &*sum));
    let edge = ("DerivationEdge", r#"{"output_ref":"src:sum","input_refs":["src:own","src:web"]}"#);
    check(code, &[web, own, sum, edge], &[(3, "/taint_class")]);
    check(code, &[edge, sum, own, web], &[(2, "/taint_class")]);
    check(code, &[own, sum, edge], &[]);
    let node = |input: &str, evidence: &str| {
        format!(
            r#"{{"node_id":"n","input_taint":"{input}","output_taint":"user_trusted_bounded","evidence_ref":"{evidence}"}}"#
        )
    };
    let through = (
        "DerivationEdge",
        r#"{"output_ref":"src:sum","input_refs":["src:web"],"sanitization_ref":"sanitization_node:n"}"#,
    );
    check(
        code,
        &[web, ("SanitizationNode", &node("external_untrusted", "user_confirmation:c")), sum, through],
        &[],
    );
    // A node that came behind the derivation is not on it.
    check(
        code,
        &[web, sum, through, ("SanitizationNode", &node("external_untrusted", "user_confirmation:c"))],
        &[(2, "/taint_class")],
    );
    let wrong = &[(3, "/taint_class")];
    check(
        code,
        &[web, ("SanitizationNode", &node("unclassified", "user_confirmation:c")), sum, through],
        wrong,
    );
    check(code, &[web, ("SanitizationNode", &node("external_untrusted", "")), sum, through], wrong);
    // What follows on the summary inherits from the summary, not from what that hides.
    let guidance = ("RunGuidanceItemCurrent", r#"{"guidance_id":"g","taint_class":"user_trusted_bounded"}"#);
    let next = ("DerivationEdge", r#"{"output_ref":"run_guidance_item_current:g","input_refs":["src:sum"]}"#);
    check(code, &[web, own, sum, edge, guidance, next], &[(3, "/taint_class")]);
}

/// What has no place for its taint hands on that of what it was made of, and a node of other records excuses nothing.
#[test]
fn taint_is_not_lost_on_the_way() {
    let code = "taint_not_inherited_through_summary";
    let web = source("web", "web_source", "external_untrusted", "");
    let sum = source("sum", "prior_task_output", "user_trusted_bounded", "");
    let (web, sum) = (("SourceRecord", &*web), ("SourceRecord", &*sum));
    let version = ("ArtifactVersion", r#"{"version_id":"v"}"#);
    let made = ("DerivationEdge", r#"{"output_ref":"artifact_version:v","input_refs":["src:web"]}"#);
    let next = ("DerivationEdge", r#"{"output_ref":"src:sum","input_refs":["artifact_version:v"]}"#);
    check(code, &[web, version, made, sum, next], &[(4, "/taint_class")]);
    check(code, &[web, made, sum, next], &[(3, "/taint_class")]);
    check(code, &[version, sum, next], &[]);
    let through = (
        "DerivationEdge",
        r#"{"output_ref":"src:sum","input_refs":["src:web"],"sanitization_ref":"sanitization_node:n"}"#,
    );
    let node = |input: &str, output: &str| {
        format!(
            r#"{{"node_id":"n","input_ref":"{input}","output_ref":"{output}","input_taint":"external_untrusted",
            "output_taint":"user_trusted_bounded","evidence_ref":"user_confirmation:c"}}"#
        )
    };
    for (input, output, expected) in [
        ("src:web", "src:sum", &[][..]),
        ("source_record:web", "source_record:sum", &[]),
        ("src:other", "src:sum", &[(3, "/taint_class")]),
        ("src:web", "src:another", &[(3, "/taint_class")]),
    ] {
        check(code, &[web, ("SanitizationNode", &node(input, output)), sum, through], expected);
    }
    // A node of one input leaves another one as it is; one that names none is of all.
    let site = source("site", "web_source", "external_untrusted", "");
    let both = through.1.replace(r#"["src:web"]"#, r#"["src:web","src:site"]"#);
    let (one, all) =
        (node("src:web", "src:sum"), node("src:web", "src:sum").replace(r#""input_ref":"src:web","#, ""));
    for (node, expected) in [(&one, &[(4, "/taint_class")][..]), (&all, &[])] {
        let site = ("SourceRecord", &*site);
        let rows = [web, site, ("SanitizationNode", &**node), sum, ("DerivationEdge", &*both)];
        check(code, &rows, expected);
    }
}

/// What could say how far it is trusted and does not may be anything; what has no place for that hands none on of its own.
#[test]
fn what_states_no_taint_is_unclassified_if_it_could() {
    let code = "taint_not_inherited_through_summary";
    let sum = source("sum", "prior_task_output", "user_trusted_bounded", "");
    let all = |input: (&str, &str), reference: &str, expected: &[(u64, &str)]| {
        let edge = format!(r#"{{"output_ref":"src:sum","input_refs":["{reference}"]}}"#);
        check(code, &[input, ("SourceRecord", &sum), ("DerivationEdge", &edge)], expected);
    };
    let wrong = &[(2, "/taint_class")];
    let silent = ("SourceRecord", r#"{"source_id":"web","source_kind":"podcast"}"#);
    all(silent, "src:web", wrong);
    all(silent, "source_record:web", wrong);
    all(("EvaluationFindingEvent", r#"{"finding_event_id":"f"}"#), "evaluation_finding_event:f", wrong);
    all(("EvaluationResultEnvelope", r#"{"result_id":"r"}"#), "evaluation_result_envelope:r", &[]);
    // What is not in the log may be of any kind.
    all(silent, "src:elsewhere", &[]);
}

/// The list of records with a place for their taint is that of the types that have it.
#[test]
fn carriers_are_the_types_with_a_taint() {
    let has_taint = |one: &&crate::types::Type| {
        (one.schema)().get("properties").and_then(|all| all.get("taint_class")).is_some()
    };
    let is_row = |one: &&crate::types::Type| {
        crate::kind::find(one.name).is_some_and(|kind| kind.class != crate::kind::Class::Value)
    };
    let own = crate::types::all().filter(is_row).filter(has_taint).map(|one| one.name);
    let mut carriers: std::vec::Vec<&str> = own.chain(["RunBoardAuditEvent"]).collect();
    carriers.sort_unstable();
    assert_eq!(carriers, super::CARRIERS);
}

#[test]
fn a_whole_is_what_its_records_make_it() {
    let code = "workspace_taint_missing_aggregation_policy";
    let web = r#"{"source_id":"web","taint_class":"external_untrusted","privileged":true,"matter_id":"x"}"#;
    let web = ("SourceRecord", web);
    let policy = ("TaintAggregationPolicy", r#"{"policy_id":"p"}"#);
    let whole = |refs: &str, taint: &str, privileged: bool, more: &str| {
        format!(
            r#"{{"workspace_id":"w","record_refs":[{refs}],"taint_class":"{taint}","privileged":{privileged}{more}}}"#
        )
    };
    let check = |record: String, with_policy: bool, expected: &[(u64, &str)]| {
        let first = if with_policy { policy } else { ("Note", "{}") };
        check(code, &[first, web, ("SourceWorkspaceCurrentState", &record)], expected);
    };
    let refs = r#""src:web""#;
    check(whole(refs, "external_untrusted", true, ""), true, &[]);
    check(whole(refs, "external_untrusted", true, ""), false, &[(3, "/aggregation_policy_ref")]);
    let named = r#","aggregation_policy_ref":"taint_aggregation_policy:q""#;
    check(whole(refs, "external_untrusted", true, named), true, &[(3, "/aggregation_policy_ref")]);
    check(whole(refs, "user_trusted_bounded", false, ""), true, &[(3, "/privileged"), (3, "/taint_class")]);
    check(whole(refs, "unclassified", true, ""), true, &[(3, "/taint_class")]);
    check(whole(refs, "external_untrusted", true, r#","matter_id":"y""#), true, &[(3, "/matter_id")]);
    // Of a record that is not known, more may come than is known.
    check(whole(r#""src:web","src:other""#, "unclassified", true, ""), true, &[]);
    check(whole("", "internal_corpus_trusted", false, ""), false, &[]);
}

#[test]
fn packages_are_wholes_too() {
    let code = "workspace_taint_missing_aggregation_policy";
    let web = ("SourceRecord", r#"{"source_id":"web","taint_class":"external_untrusted"}"#);
    let package =
        r#"{"source_record_refs":["src:web"],"taint_class":"user_trusted_bounded","privileged":false}"#;
    let policy = ("TaintAggregationPolicy", r#"{"policy_id":"p"}"#);
    check(code, &[policy, web, ("EvidencePackage", package)], &[(3, "/taint_class")]);
    let right = r#"{"source_record_refs":["src:web"],"taint_class":"external_untrusted","privileged":false}"#;
    check(code, &[policy, web, ("EvidencePackage", right)], &[]);
    check(code, &[web, ("EvidencePackage", right)], &[(2, "/taint_class")]);
    let secret = r#"{"source_id":"web","taint_class":"external_untrusted","data_class":"privileged"}"#;
    let public =
        r#"{"source_record_refs":["src:web"],"taint_class":"external_untrusted","data_class":"public"}"#;
    check(code, &[policy, ("SourceRecord", secret), ("EvidencePackage", public)], &[(3, "/data_class")]);
}

/// What stands in a workspace counts there, whether or not the workspace lists it, and until it is moved.
#[test]
fn a_workspace_is_what_stands_in_it() {
    let code = "workspace_taint_missing_aggregation_policy";
    let policy = ("TaintAggregationPolicy", r#"{"policy_id":"p"}"#);
    let state = (
        "SourceWorkspaceCurrentState",
        r#"{"workspace_id":"w","record_refs":[],"taint_class":"internal_corpus_trusted","privileged":false}"#,
    );
    let source = |workspace: &str| {
        format!(
            r#"{{"source_id":"s","workspace_id":"{workspace}","taint_class":"external_untrusted","privileged":true}}"#
        )
    };
    let (here, there) = (source("w"), source("v"));
    let (here, there) = (("SourceRecord", &*here), ("SourceRecord", &*there));
    check(code, &[policy, here, state], &[(3, "/privileged"), (3, "/taint_class")]);
    check(code, &[policy, state, here], &[]);
    check(code, &[policy, there, state], &[]);
    check(code, &[policy, here, there, state], &[]);
    check(code, &[here, state], &[(2, "/aggregation_policy_ref")]);
}

/// A node lies on an edge by what came out of it and what went in.
#[test]
fn nodes_lie_on_edges() {
    let code = "taint_not_inherited_through_summary";
    let web = source("web", "web_source", "external_untrusted", "");
    let sum = source("sum", "prior_task_output", "user_trusted_bounded", "");
    let edge = ("DerivationEdge", r#"{"output_ref":"src:sum","input_refs":["src:web"]}"#);
    let node = |input: &str| {
        format!(
            r#"{{"input_taint":"external_untrusted","output_taint":"user_trusted_bounded","evidence_ref":"user_confirmation:c",
            "output_ref":"source_record:sum"{input}}}"#
        )
    };
    for (input, expected) in [
        ("", &[] as &[(u64, &str)]),
        (r#","input_ref":"source_record:web""#, &[]),
        (r#","input_ref":"src:other""#, &[(2, "/taint_class")]),
    ] {
        let node = node(input);
        let rows = [("SourceRecord", &*web), ("SourceRecord", &*sum), ("SanitizationNode", &*node), edge];
        check(code, &rows, expected);
    }
}

#[test]
fn taint_falls_with_evidence_only() {
    let code = "taint_downgrade_without_sanitization_node";
    let bad = ("SourceRecord", r#"{"source_id":"s","taint_class":"external_untrusted"}"#);
    let good = ("SourceRecord", r#"{"source_id":"s","taint_class":"user_trusted_bounded"}"#);
    let evidence = ("UserConfirmation", r#"{"confirmation_id":"c"}"#);
    let node = |subject: &str, to: &str| {
        format!(
            r#"{{"input_taint":"external_untrusted","output_taint":"{to}","input_ref":"{subject}","evidence_ref":"user_confirmation:c"}}"#
        )
    };
    let node = |subject: &str, to: &str| ("SanitizationNode", node(subject, to));
    let wrong = &[(4, "/taint_class")];
    check(code, &[good, bad], &[]);
    check(code, &[bad, good], &[(2, "/taint_class")]);
    let (kind, right) = node("src:s", "user_trusted_bounded");
    check(code, &[bad, evidence, (kind, &right), good], &[]);
    check(code, &[bad, (kind, &right), good], &[(3, "/taint_class")]);
    check(code, &[bad, evidence, good, (kind, &right)], &[(3, "/taint_class")]);
    let (kind, other) = node("src:t", "user_trusted_bounded");
    check(code, &[bad, evidence, (kind, &other), good], wrong);
    // What went in is not what came out, where something did.
    let elsewhere = right.replace(r#""evidence_ref""#, r#""output_ref":"src:t","evidence_ref""#);
    check(code, &[bad, evidence, (kind, &elsewhere), good], wrong);
    let same = right.replace(r#""evidence_ref""#, r#""output_ref":"source_record:s","evidence_ref""#);
    check(code, &[bad, evidence, (kind, &same), good], &[]);
    let (kind, less) = node("src:s", "internal_corpus_trusted");
    check(code, &[bad, evidence, (kind, &less), good], wrong);
    let decision = ("PolicyEvaluation", r#"{"policy_evaluation_id":"p","decision":"allow"}"#);
    let over = r#"{"source_id":"s","taint_class":"user_trusted_bounded","trust_basis":"manual_override_policy","policy_decision_refs":["policy_evaluation:p"]}"#;
    check(code, &[bad, decision, ("SourceRecord", over)], &[]);
    check(code, &[bad, ("SourceRecord", over)], &[(2, "/taint_class")]);
}

/// What a kind has by default is where a source starts from.
#[test]
fn trust_does_not_rise_above_the_kind_by_itself() {
    let code = "taint_downgrade_without_sanitization_node";
    let untold = |kind: &str| format!(r#"{{"source_id":"s","source_kind":"{kind}"}}"#);
    let low = |kind: &str| source("s", kind, "internal_corpus_trusted", "");
    for (kind, from) in [("custom", "unclassified"), ("web_source", "external_untrusted")] {
        let (first, low) = (untold(kind), low(kind));
        let (first, low) = (("SourceRecord", &*first), ("SourceRecord", &*low));
        check(code, &[first, low], &[(2, "/taint_class")]);
        check(code, &[low], &[(1, "/taint_class")]);
        let node = format!(
            r#"{{"output_ref":"src:s","input_taint":"{from}","output_taint":"internal_corpus_trusted","evidence_ref":"user_confirmation:y"}}"#
        );
        let rows = [("UserConfirmation", r#"{"confirmation_id":"y"}"#), ("SanitizationNode", &*node)];
        check(code, &[rows[0], rows[1], low], &[]);
        check(code, &[first, rows[0], rows[1], low], &[]);
        // One that was used is used up.
        let back = source("s", kind, from, "");
        let back = ("SourceRecord", &*back);
        check(code, &[first, rows[0], rows[1], low, back, low], &[(6, "/taint_class")]);
        check(code, &[first, rows[0], rows[1], low, back, rows[1], low], &[]);
    }
    check(code, &[("SourceRecord", &low("library_entry"))], &[]);
    check(code, &[("SourceRecord", &source("s", "web_source", "unclassified", ""))], &[]);
    // That an authority gave it has a rule of its own.
    check(
        code,
        &[("SourceRecord", &source("s", "statute", "external_authority_trusted", "web_unverified"))],
        &[],
    );
    let overridden = r#"{"source_id":"s","source_kind":"custom","taint_class":"user_trusted_bounded",
        "trust_basis":"manual_override_policy","policy_decision_refs":["policy_evaluation:y"]}"#;
    let policy = ("PolicyEvaluation", r#"{"policy_evaluation_id":"y","decision":"allow"}"#);
    check(code, &[policy, ("SourceRecord", overridden)], &[]);
}

/// What has no place for its taint hands on what went into it, whichever edge is told first.
#[test]
fn the_order_of_edges_hides_no_taint() {
    let web = source("web", "web_source", "external_untrusted", "");
    let sum = source("sum", "prior_task_output", "user_trusted_bounded", "");
    let (web, sum) = (("SourceRecord", &*web), ("SourceRecord", &*sum));
    let packet = ("TaskRunContextPacket", r#"{"packet_id":"k"}"#);
    let to_sum = ("DerivationEdge", r#"{"output_ref":"src:sum","input_refs":["task_run_context_packet:k"]}"#);
    let to_packet = (
        "DerivationEdge",
        r#"{"output_ref":"task_run_context_packet:k@1","input_refs":["source_record:web"]}"#,
    );
    for edges in [[to_sum, to_packet], [to_packet, to_sum]] {
        let rows = [web, packet, sum, edges[0], edges[1]];
        check("taint_not_inherited_through_summary", &rows, &[(3, "/taint_class")]);
    }
}
