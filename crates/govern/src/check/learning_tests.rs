//! Learning modes: what fires, what does not.

use crate::check::trial::has_rows;

#[test]
fn modes_are_those_of_the_contract() {
    has_rows(
        "learning_mode_value_drift",
        &[
            (&[("TaskRunFork", "{'learning_mode':'Production'}")], &[1]),
            (
                &[("LearningSignal", "{'learning_mode':3}"), ("LearningSignal", "{'learning_mode':null}")],
                &[1],
            ),
            (&[("LearningSignal", "{'runs':[{'settings':{'learning_mode':'cross_calibration'}}]}")], &[1]),
            (&[("LearningSignal", "{'runs':[{'settings':{'learning_mode':'calibration'}}]}")], &[]),
            (&[("TypeDeclaration", "{'type_name':'LearningMode','values':['production','x']}")], &[1]),
            (&[("TypeDeclaration", "{'type_name':'LearningMode','values':['production']}")], &[]),
            (&[("TypeDeclaration", "{'type_name':'OtherMode','values':['x']}")], &[]),
        ],
    );
}

#[test]
fn the_registry_says_who_owns_the_type() {
    let in_24 = ("TypeDeclaration", "{'type_name':'LearningMode','declared_in_doc':'DOC23_OER'}");
    let in_12 = ("TypeDeclaration", "{'type_name':'LearningMode','declared_in_doc':'DOC12'}");
    let entry = |text| ("TypeOwnerRegistryEntry", text);
    let moved = entry("{'type_name':'LearningMode','status':'canonical','canonical_owner_doc':'DOC12'}");
    let imported = entry("{'type_name':'LearningMode','status':'imported','canonical_owner_doc':'DOC12'}");
    has_rows(
        "learning_mode_redeclared_outside_owner",
        &[
            (&[in_24, in_12], &[2]),
            (&[in_24, in_12, moved], &[1]),
            (&[in_24, in_12, imported], &[2]),
            (&[("TypeDeclaration", "{'type_name':'LearningMode'}")], &[]),
        ],
    );
}
