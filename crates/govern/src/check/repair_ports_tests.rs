//! Ports of repairs: what fires, what does not.

use crate::check::trial::has_rows;

fn repair(text: &'static str) -> (&'static str, &'static str) {
    ("OutcomeRepairInstruction", text)
}

fn port(text: &'static str) -> (&'static str, &'static str) {
    ("PortRevisionEligibility", text)
}

#[test]
fn only_ports_for_revisions_take_repairs_that_change_meaning() {
    let bearing = repair(
        "{'safety_class':'meaning_bearing','execution':'executes','target_port':{'module_id':'m','port_id':'data_in'}}",
    );
    let mechanical = repair(
        "{'safety_class':'mechanical','execution':'executes','target_port':{'module_id':'m','port_id':'data_in'}}",
    );
    let right = repair(
        "{'safety_class':'privileged','execution':'executes','target_port':{'module_id':'m','port_id':'revision_in'}}",
    );
    let unsaid = repair("{'target_port':{'module_id':'m','port_id':'data_in'}}");
    let advice = repair("{'execution':'advisory','target_port':{'module_id':'m','port_id':'data_in'}}");
    let open = port("{'module_id':'m','port_id':'data_in','revision_compatible':true}");
    let closed = port("{'module_id':'m','port_id':'data_in','revision_compatible':false}");
    let of_other = port("{'module_id':'n','port_id':'data_in','revision_compatible':true}");
    has_rows(
        "repair_routed_to_non_revision_port",
        &[
            (&[bearing, mechanical, right], &[1]),
            // What nobody says may be the worst.
            (&[unsaid, advice], &[1]),
            (&[open, bearing], &[]),
            (&[open, closed, bearing], &[3]),
            (&[open, of_other, bearing], &[]),
            (&[of_other, bearing], &[2]),
            (&[repair("{'safety_class':'privileged','execution':'executes'}")], &[]),
        ],
    );
    has_rows(
        "meaning_bearing_repair_without_revision_capability",
        &[(&[open, bearing], &[2]), (&[closed, bearing], &[]), (&[open, mechanical, right], &[])],
    );
}

#[test]
fn a_capability_covers_strategy_kind_and_module() {
    let open = port(
        "{'module_id':'m','port_id':'data_in','revision_compatible':true,
        'module_revision_capability_ref':'module_revision_capability:c'}",
    );
    let edit = repair(
        "{'safety_class':'meaning_bearing','execution':'executes','strategy_kind':'targeted_edit','artifact_kind':'memo',
        'target_port':{'module_id':'m','port_id':'data_in'}}",
    );
    let can = |text| ("ModuleRevisionCapability", text);
    let cases = [
        (
            "{'capability_ref':'c','module_id':'m','strategies':['targeted_edit'],'artifact_kinds':['memo']}",
            &[][..],
        ),
        (
            "{'capability_ref':'c','module_id':'n','strategies':['targeted_edit'],'artifact_kinds':['memo']}",
            &[3],
        ),
        (
            "{'capability_ref':'c','module_id':'m','strategies':['regenerate'],'artifact_kinds':['memo']}",
            &[3],
        ),
        (
            "{'capability_ref':'c','module_id':'m','strategies':['targeted_edit'],'artifact_kinds':['brief']}",
            &[3],
        ),
        (
            "{'capability_ref':'d','module_id':'m','strategies':['targeted_edit'],'artifact_kinds':['memo']}",
            &[3],
        ),
    ];
    let code = "meaning_bearing_repair_without_revision_capability";
    for (text, expected) in cases {
        let rows = [can(text), open, edit];
        has_rows(code, &[(&rows, expected)]);
    }
    // Of what kind the artifact is, the repair says or what it is to mend; else nothing covers it.
    let right = can(
        "{'capability_ref':'c','module_id':'m','strategies':['targeted_edit'],'artifact_kinds':['memo']}",
    );
    let of_no_kind = repair(
        "{'safety_class':'meaning_bearing','execution':'executes','strategy_kind':'targeted_edit',
        'target_port':{'module_id':'m','port_id':'data_in'}}",
    );
    has_rows(code, &[(&[right, open, of_no_kind], &[3])]);
}

#[test]
fn a_revisor_has_no_port_for_revisions() {
    let module = |text| ("ModuleDeclaration", text);
    has_rows(
        "revisor_declares_revision_in",
        &[
            (&[module("{'module_kind':'revisor','input_ports':[{'port_id':'revision_in'}]}")], &[1]),
            (&[module("{'module_kind':'revisor','input_ports':['revision_in']}")], &[1]),
            (&[module("{'module_kind':'writer','input_ports':['revision_in']}")], &[]),
            (&[("RevisorPlannerInputPorts", "{'feedback_bundle_in':{'port_id':'revision_in'}}")], &[1]),
        ],
    );
}
