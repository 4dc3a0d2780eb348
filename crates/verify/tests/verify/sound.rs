//! Packets that nothing is wrong with.

use crate::scenes;
use countersign_record::json;
use countersign_testkit::forge::{file, key, public};
use countersign_verify::report::{Outcome, Report, Standing};
use countersign_verify::verify;

pub(crate) fn told(report: &Report) -> String {
    let one = |failure: &countersign_verify::report::Failure| json::to_text(failure).unwrap();
    report.failures.iter().map(one).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_sound_packet_verifies() {
    for (name, scene) in scenes::ALL.into_iter().flatten() {
        let stage = scene();
        let report = verify(&file(&stage.statement(), &key(1)), &[]);
        assert_eq!(report.result, Outcome::Verified, "{name}:\n{}", told(&report));
        assert_eq!(report.signatures[0].standing, Standing::Unknown);
        let report = verify(&file(&stage.statement(), &key(1)), &[public(&key(1))]);
        assert_eq!(report.result, Outcome::Verified, "{name}");
        assert_eq!(report.signatures[0].standing, Standing::Trusted);
    }
}
