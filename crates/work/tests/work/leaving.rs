//! What leaves a run, and what does not.

use crate::stage::{LEASE, Stage, TASK};
use countersign_govern::types::added::repair::{SideEffectLedgerEntry, SideEffectState};
use countersign_govern::types::basic::{DataClass, StorageRef};
use countersign_govern::types::externalization::{
    WorkspaceExternalizationKind as Kind, WorkspaceExternalizationReceiptStatus as Status,
};
use countersign_work::outside::{self, Going, Held, Left};

const DONE: Left = Left { status: Status::Completed, cost: None };

fn export() -> Going<'static> {
    let destination = StorageRef::try_from("file:packet.json").ok();
    Going { kind: Kind::ExportBundle, sources: None, destination }
}

#[test]
fn an_export_waits_for_a_person() {
    let mut stage = Stage::small();
    stage.is_clean();
    assert_eq!(outside::may(&stage.desk, &export()), Err(Held::Unconfirmed));
    let question = outside::ask(&mut stage.desk, &export()).unwrap();
    assert_eq!(outside::ask(&mut stage.desk, &export()).unwrap(), question);
    stage.is_clean();
    stage.answer(&question, "send").unwrap();
    stage.is_clean();
    let cleared = outside::begin(&mut stage.desk, &export()).unwrap().unwrap();
    stage.is_clean();
    stage.later();
    outside::done(&mut stage.desk, &export(), cleared, &DONE).unwrap();
    stage.is_clean();
    let states: Vec<SideEffectState> =
        stage.desk.all::<SideEffectLedgerEntry>().map(|one| one.state).collect();
    assert_eq!(states, [SideEffectState::Intent, SideEffectState::Executed]);
    // What was said holds for what was shown.
    let elsewhere = Going { destination: StorageRef::try_from("file:other.json").ok(), ..export() };
    assert_eq!(outside::may(&stage.desk, &elsewhere), Err(Held::Unconfirmed));
    stage.restart();
    assert!(outside::may(&stage.desk, &export()).unwrap().is_some());
}

#[test]
fn what_a_person_keeps_stays() {
    let mut stage = Stage::small();
    let question = outside::ask(&mut stage.desk, &export()).unwrap();
    stage.answer(&question, "keep").unwrap();
    let held = outside::begin(&mut stage.desk, &export()).unwrap().unwrap_err();
    assert_eq!(held, Held::Kept);
    outside::held(&mut stage.desk, &export(), &held).unwrap();
    stage.is_clean();
}

#[test]
fn what_failed_to_leave_did_not_leave() {
    let mut stage = Stage::with(r#""policies": {"externalization": {"save_as": "free"}}"#);
    let going = Going { kind: Kind::SaveAs, ..export() };
    let cleared = outside::begin(&mut stage.desk, &going).unwrap().unwrap();
    let left = Left { status: Status::Failed, ..DONE };
    outside::done(&mut stage.desk, &going, cleared, &left).unwrap();
    stage.is_clean();
    let last = stage.desk.all::<SideEffectLedgerEntry>().next_back().unwrap();
    assert_eq!((last.state, last.receipt_ref), (SideEffectState::Cancelled, None));
}

#[test]
fn never_means_never_and_local_stays_local() {
    let mut stage = Stage::with(r#""policies": {"externalization": {"export_bundle": "never"}}"#);
    let held = outside::may(&stage.desk, &export()).unwrap_err();
    assert_eq!(held, Held::Never(Kind::ExportBundle));
    outside::held(&mut stage.desk, &export(), &held).unwrap();
    stage.is_clean();
    let local = TASK.replace(r#""tier": 2"#, r#""tier": 2, "data_class": "local_only""#);
    let mut stage = Stage::new(&local, &[("lease", LEASE)]);
    let held = outside::may(&stage.desk, &export()).unwrap_err();
    assert_eq!(held, Held::Class { kind: Kind::ExportBundle, class: DataClass::LocalOnly });
    outside::held(&mut stage.desk, &export(), &held).unwrap();
    stage.is_clean();
}

#[test]
fn what_is_privileged_is_asked_for_even_where_it_is_free() {
    let task = crate::stage::task_with(
        r#""policies": {"externalization": {"api_call": "free", "export_bundle": "confirm"}}"#,
    );
    let secret = task.replace(r#""tier": 2"#, r#""tier": 2, "data_class": "privileged", "privileged": true"#);
    let mut stage = Stage::new(&secret, &[("lease", LEASE)]);
    let call = Going { kind: Kind::ApiCall, sources: None, destination: None };
    let held = outside::may(&stage.desk, &call).unwrap_err();
    assert_eq!(held, Held::Class { kind: Kind::ApiCall, class: DataClass::Privileged });
    let question = outside::ask(&mut stage.desk, &export()).unwrap();
    stage.answer(&question, "send").unwrap();
    let cleared = outside::begin(&mut stage.desk, &export()).unwrap().unwrap();
    outside::done(&mut stage.desk, &export(), cleared, &DONE).unwrap();
    stage.is_clean();
}

#[test]
fn a_question_to_a_provider_has_a_receipt() {
    let mut stage = Stage::with(r#""policies": {"externalization": {"api_call": "free"}}"#);
    let call = Going { kind: Kind::ApiCall, sources: None, destination: None };
    let cleared = outside::begin(&mut stage.desk, &call).unwrap().unwrap();
    outside::done(&mut stage.desk, &call, cleared, &DONE).unwrap();
    stage.is_clean();
    assert_eq!(stage.count("WorkspaceExternalizationReceipt"), 1);
}
