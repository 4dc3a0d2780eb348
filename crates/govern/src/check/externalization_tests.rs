//! Ways in which the rules of this area fire, and do not, besides the fixtures.

use crate::check::trial::{from_lines, has_in_lines, places};
use std::format;

const SOURCES: &str = r#"SourceRecord {"source_id":"s","workspace_id":"w","data_class":"internal","taint_class":"external_untrusted"}
    SourceRecord {"source_id":"t","workspace_id":"w","data_class":"local_only","taint_class":"user_trusted_bounded"}
    UserConfirmation {"confirmation_id":"c","user_ref":"user:u","subject_ref":"source_workspace:w"}"#;

#[test]
fn policies_allow_what_leaves() {
    let lines = |sources: &str, status: &str, kind: &str| {
        format!(
            r#"{SOURCES}
               WorkspaceExternalizationPolicy {{"policy_id":"p","externalization_kind":"save_as","allowed_data_classes":["internal"],"allowed_taint_classes":["external_untrusted"]}}
               WorkspaceExternalizationReceipt {{"externalization_kind":"{kind}","workspace_id":"w","policy_ref":"p","source_record_refs":[{sources}],"status":"{status}","user_confirmation_ref":"user_confirmation:c"}}"#
        )
    };
    let found: &[&str] = &["5/policy_ref"];
    for (sources, status, kind, expected) in [
        (r#""src:s""#, "completed", "save_as", [].as_slice()),
        (r#""src:s","src:t""#, "completed", "save_as", found),
        (r#""src:t""#, "blocked_by_policy", "save_as", &[]),
        (r#""src:s""#, "blocked_by_policy", "export_bundle", found),
        // Without sources it is the whole workspace.
        ("", "completed", "save_as", found),
    ] {
        let lines = lines(sources, status, kind);
        assert_eq!(
            places("workspace_externalization_without_policy", &from_lines(&lines)),
            expected,
            "{lines}"
        );
    }
}

#[test]
fn disclosure_is_confirmed_before() {
    let lines = |policy: &str, receipt: &str| {
        format!(
            r#"{SOURCES}
               WorkspaceExternalizationPolicy {{"policy_id":"p"{policy}}}
               WorkspaceExternalizationReceipt {{"externalization_kind":"export_bundle","workspace_id":"w","policy_ref":"p","status":"completed",{receipt}}}
               UserConfirmation {{"confirmation_id":"late","user_ref":"user:u","subject_ref":"source_workspace:w"}}"#
        )
    };
    let asked: &[&str] = &["5/user_confirmation_ref"];
    for (policy, receipt, expected) in [
        // A secret source makes its workspace secret, whatever of it is named.
        ("", r#""source_record_refs":["src:s"]"#, asked),
        ("", r#""source_record_refs":["src:t"]"#, asked),
        ("", r#""source_record_refs":[]"#, asked),
        ("", r#""source_record_refs":["src:t"],"user_confirmation_ref":"user_confirmation:c""#, &[]),
        ("", r#""source_record_refs":["src:t"],"user_confirmation_ref":"user_confirmation:late""#, asked),
        (r#","requires_user_confirmation":true"#, r#""source_record_refs":["src:s"]"#, asked),
        (
            r#","requires_redaction_preview":true"#,
            r#""source_record_refs":["src:s"],"user_confirmation_ref":"user_confirmation:c""#,
            &["5/redaction_preview_ref"],
        ),
    ] {
        let lines = lines(policy, receipt);
        let code = "privileged_workspace_export_without_confirmation";
        assert_eq!(places(code, &from_lines(&lines)), expected, "{lines}");
        let open = lines.replace("local_only", "public");
        let wants = policy.contains("requires_user_confirmation");
        assert_eq!(
            places(code, &from_lines(&open)).contains(&"5/user_confirmation_ref".into()),
            wants,
            "{open}"
        );
    }
    // Only a person, and for just this.
    let receipt = r#""source_record_refs":["src:t"],"user_confirmation_ref":"user_confirmation:c""#;
    for (user, subject, expected) in [
        ("user:u", "source_record:t", &[] as &[&str]),
        ("user:u", "externalization:p", &[]),
        ("user:u", "source_workspace:v", asked),
        ("user:u", "src:s", asked),
        ("user:u", "externalization:q", asked),
        ("module:m", "source_workspace:w", asked),
    ] {
        let said = format!(r#""user_ref":"{user}","subject_ref":"{subject}""#);
        let lines = lines("", receipt).replacen(
            r#""user_ref":"user:u","subject_ref":"source_workspace:w""#,
            &said,
            1,
        );
        let code = "privileged_workspace_export_without_confirmation";
        assert_eq!(places(code, &from_lines(&lines)), expected, "{lines}");
    }
}

#[test]
fn every_query_has_a_receipt_of_its_own() {
    let query = |id: &str| {
        format!(
            r#"SourceWorkspaceOperation {{"operation_id":"{id}","payload_ref":"source_query_record:{id}"}}
               SourceWorkspaceOperationReceipt {{"operation_id":"{id}","operation_kind":"append_source_query_record","workspace_id":"w","status":"applied"}}"#
        )
    };
    let sent = |more: &str| {
        format!(
            r#"WorkspaceExternalizationReceipt {{"externalization_kind":"api_call","workspace_id":"w","status":"failed"{more}}}"#
        )
    };
    let code = "external_source_query_without_receipt";
    for (lines, expected) in [
        // A receipt that does not say for which query serves one of them.
        ([query("a"), query("b"), sent("")].join("\n"), ["4"].as_slice()),
        ([query("a"), query("b"), sent(r#","query_ref":"source_query_record:a""#)].join("\n"), &["4"]),
        ([query("a"), sent(r#","query_ref":"source_query_record:b""#)].join("\n"), &["2"]),
        ([query("a"), sent("").replace("api_call", "save_as")].join("\n"), &["2"]),
        ([query("a").replace("applied", "failed")].join("\n"), &[]),
    ] {
        assert_eq!(places(code, &from_lines(&lines)), expected, "{lines}");
    }
    has_in_lines(
        code,
        &[
            (
                r#"SourceQueryRecord {"query_id":"q","route":"api_call"}
               EphemeralSourceLookupReceipt {"receipt_id":"e","query_id":"q"}"#,
                &["2/query_id"],
            ),
            (r#"EphemeralSourceLookupReceipt {"receipt_id":"e","query_id":"q"}"#, &[]),
        ],
    );
}

#[test]
fn what_costs_has_a_cap() {
    has_in_lines(
        "externalization_cost_cap_missing",
        &[(
            r#"CostVector {"cost_vector_id":"v","components":{"usd":{"expected":1,"unit":"usd"}}}
               CostVector {"cost_vector_id":"w","components":{"usd":{"expected":1,"hard_cap":2,"unit":"usd"}}}
               WorkspaceExternalizationPolicy {"policy_id":"p","externalization_kind":"connector_fetch","max_cost_vector_ref":"cost_vector:v"}
               WorkspaceExternalizationPolicy {"policy_id":"q","externalization_kind":"connector_fetch","max_cost_vector_ref":"cost_vector:w"}
               WorkspaceExternalizationPolicy {"policy_id":"r","externalization_kind":"save_as","provider_logging_warning_required":true}"#,
            &["3/max_cost_vector_ref", "5/max_cost_vector_ref"],
        )],
    );
}
