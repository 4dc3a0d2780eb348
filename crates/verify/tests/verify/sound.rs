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
    let mut wrong = Vec::new();
    for (name, scene) in scenes::ALL.into_iter().flatten() {
        let stage = scene();
        for (trusted, standing) in [(vec![], Standing::Unknown), (vec![public(&key(1))], Standing::Trusted)] {
            let report = verify(&file(&stage.statement(), &key(1)), &trusted);
            if report.result != Outcome::Verified {
                wrong.push(format!("{name}: {:?}\n{}", report.result, told(&report)));
            }
            assert_eq!(report.signatures[0].standing, standing, "{name}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
