//! Files that somebody changed, with and without a key to sign them again.

use crate::scenes;
use crate::sound::told;
use countersign_record::code::Code;
use countersign_record::id::MatterId;
use countersign_record::json::Json;
use countersign_record::row::{DataClass, Row};
use countersign_testkit::forge::{enclosed, file, key, public, restated};
use countersign_verify::packet::{Content, Entry, Statement};
use countersign_verify::report::{Check, Outcome, Report, Standing};
use countersign_verify::{Lacking, lacking, verify};
use std::collections::BTreeSet;

fn has(report: &Report, code: Code) -> bool {
    report.failures.iter().any(|failure| failure.code == code)
}

/// A statement that was changed and signed again fails by a code.
fn check(what: &str, statement: &Statement, code: Code) {
    let report = verify(&file(statement, &key(2)), &[]);
    assert_eq!(report.result, Outcome::Failed, "{what}");
    assert!(has(&report, code), "{what} is not told as {code}:\n{}", told(&report));
}

#[test]
fn a_changed_byte_is_found_and_named() {
    let whole = file(&scenes::safe().statement(), &key(1));
    assert_eq!(verify(&whole, &[]).result, Outcome::Verified);
    for at in (0..whole.len()).step_by(whole.len() / 400) {
        for other in [whole[at] ^ 1, if whole[at] == b'A' { b'B' } else { b'A' }] {
            let mut changed = whole.clone();
            changed[at] = other;
            let report = verify(&changed, &[]);
            assert_eq!(report.result, Outcome::Failed, "byte {at}");
            let is_named = |failure: &countersign_verify::report::Failure| {
                failure.place.row.is_some() || failure.place.path.is_some() || failure.place.blob.is_some()
            };
            assert!(report.failures.iter().any(is_named), "byte {at}: {}", told(&report));
        }
    }
    for cut in [0, 1, whole.len() / 2, whole.len() - 1] {
        assert_eq!(verify(&whole[..cut], &[]).result, Outcome::Failed, "cut at {cut}");
    }
}

/// Who signs again still can't change a byte of what was recorded: only who made the packet, when and with what is theirs to say.
#[test]
fn a_changed_byte_is_found_though_it_is_signed_again() {
    let payload = scenes::safe().statement().to_bytes().unwrap();
    let text = String::from_utf8(payload.clone()).unwrap();
    let own: Vec<_> = ["\"made_at\":\"", "\"made_by\":\"", "\"made_with\":\""]
        .iter()
        .map(|name| {
            let start = text.find(name).unwrap() + name.len();
            start..start + text[start..].find('"').unwrap()
        })
        .collect();
    for at in (0..payload.len()).step_by(payload.len() / 400) {
        let mut changed = payload.clone();
        changed[at] ^= 1;
        let report = verify(&enclosed(changed, &key(2)), &[]);
        let is_own = own.iter().any(|span| span.contains(&at));
        assert_eq!(
            report.result == Outcome::Failed,
            !is_own,
            "byte {at}: {}",
            &text[at.saturating_sub(40)..at]
        );
    }
}

#[test]
fn who_signed_is_a_result_of_its_own() {
    let statement = scenes::safe().statement();
    let whole = file(&statement, &key(1));
    let report = verify(&whole, &[public(&key(3))]);
    assert_eq!((report.result, report.signatures[0].standing), (Outcome::SignerUnknown, Standing::Unknown));
    assert_eq!(report.failures.iter().map(|one| one.code).collect::<Vec<_>>(), [Code::VerifySigner]);
    let mut forged = statement.clone();
    forged.status.push('x');
    let report = verify(&file(&forged, &key(1)), &[public(&key(3))]);
    assert_eq!(report.result, Outcome::Failed, "what is forged stays so, whoever signed it");
    let report = verify(&whole, &[public(&key(3)), public(&key(1))]);
    assert_eq!((report.result, report.signatures[0].standing), (Outcome::Verified, Standing::Trusted));
    let mut other = statement.clone();
    other.made_with = "somebody else".to_owned();
    let (whole, other) = (file(&statement, &key(1)), file(&other, &key(1)));
    let signature = |file: &[u8]| {
        let text = String::from_utf8(file.to_vec()).unwrap();
        text[text.find("\"sig\"").unwrap()..].to_owned()
    };
    let text = String::from_utf8(whole.clone()).unwrap();
    let swapped = text.replace(&signature(&whole), &signature(&other));
    let report = verify(swapped.as_bytes(), &[]);
    assert_eq!((report.result, report.signatures[0].standing), (Outcome::Failed, Standing::Forged));
    assert_eq!(report.failures.iter().map(|one| one.code).collect::<Vec<_>>(), [Code::VerifySignature]);
}

#[test]
fn rows_stand_where_they_were_written() {
    let statement = scenes::answered().statement();
    let rows = statement.ledger.rows.len();
    let changed = |change: &dyn Fn(&mut Statement)| {
        let mut other = statement.clone();
        change(&mut other);
        other
    };
    check("a removed row", &changed(&|other| drop(other.ledger.rows.remove(rows / 2))), Code::VerifyChain);
    check("the first row", &changed(&|other| drop(other.ledger.rows.remove(0))), Code::VerifyChain);
    check(
        "swapped rows",
        &changed(&|other| other.ledger.rows.swap(rows / 2, rows / 2 + 1)),
        Code::VerifyChain,
    );
    let doubled = changed(&|other| {
        let row = other.ledger.rows[rows / 2].clone();
        other.ledger.rows.insert(rows / 2, row);
    });
    check("a row twice", &doubled, Code::VerifyChain);
    let cut = changed(&|other| {
        other.ledger.rows.truncate(rows - 3);
        other.ledger.head = other.ledger.rows.last().map(Entry::head).unwrap();
    });
    check("a cut end", &cut, Code::VerifyAnchor);
    let hidden = changed(&|other| {
        let head = other.ledger.rows[rows / 2].head();
        other.ledger.rows[rows / 2] = Entry::Withheld(head);
    });
    check("a row of the run that is told as somebody else's", &hidden, Code::VerifyChain);
    let matter = changed(&|other| other.matter = MatterId::try_from("another".to_owned()).unwrap());
    check("another matter", &matter, Code::VerifyRow);
    let decision = changed(&|other| {
        for entry in &mut other.ledger.rows {
            if let Entry::Whole(row) = entry
                && row.kind.as_str() == "run.answered"
            {
                row.actor = "ben".to_owned().try_into().unwrap();
            }
        }
    });
    check("somebody else's decision", &decision, Code::VerifyDecision);
}

#[test]
fn what_a_packet_says_of_itself_is_what_is_in_it() {
    let statement = scenes::limited().statement();
    let changed = |change: &dyn Fn(&mut Statement)| {
        let mut other = statement.clone();
        change(&mut other);
        other
    };
    let status = changed(&|other| other.status = "safe_to_rely_within_scope".to_owned());
    check("another status", &status, Code::VerifyStatement);
    check("another packet", &changed(&|other| other.packet_id.push('x')), Code::VerifyStatement);
    check("no work product", &changed(&|other| other.subjects.clear()), Code::VerifyStatement);
    let task = changed(&|other| {
        let text = countersign_record::json::to_text(&other.task).unwrap().replace("0.5", "0.9");
        other.task = crate::stage::parsed(&text);
    });
    check("another task", &task, Code::VerifyStatement);
    check("another formula", &changed(&|other| other.formulas[0].text.push(' ')), Code::VerifyFormula);
    check("no formula", &changed(&|other| drop(other.formulas.remove(0))), Code::VerifyFormula);
    let version = changed(&|other| other.formulas[0].version = "9.9.9".to_owned());
    check("an unknown formula", &version, Code::VerifyFormula);
    let blob = changed(&|other| other.blobs[3].content = Content::Present(b"something else".to_vec()));
    check("other bytes", &blob, Code::VerifyBlob);
    check("missing bytes", &changed(&|other| drop(other.blobs.remove(3))), Code::VerifyBlob);
    let added = changed(&|other| other.blobs.push(countersign_verify::packet::Blob::of(b"more".to_vec())));
    check("more bytes", &added, Code::VerifyBlob);
}

/// Bytes that are withheld leave the rest verified, and never make anything fail; but for what the run began with and a change of what
/// was asked, from which all follows.
#[test]
fn what_is_withheld_is_counted() {
    let mut changes = 0;
    for (name, scene) in scenes::ALL.into_iter().flatten() {
        let statement = scene().statement();
        let digests: Vec<_> = statement.blobs.iter().map(|blob| blob.digest).collect();
        for digest in &digests {
            let part = statement.clone().withholding(&BTreeSet::from([*digest]), "privileged");
            let report = verify(&file(&part, &key(1)), &[]);
            assert_eq!(report.withheld.len(), 1);
            let (result, why) = match lacking(&part) {
                None => (Outcome::VerifiedInPart, ""),
                Some(Lacking::Beginning(lacking)) if lacking == *digest => (Outcome::Failed, "began with"),
                Some(Lacking::Change(lacking)) if lacking == *digest => {
                    changes += 1;
                    (Outcome::Failed, "the change is not in the packet")
                }
                Some(other) => panic!("{name} {digest}: {other:?}"),
            };
            assert_eq!(report.result, result, "{name} {digest}:\n{}", told(&report));
            assert!(told(&report).contains(why), "{name} {digest}:\n{}", told(&report));
        }
        let mut all: BTreeSet<_> = digests.into_iter().collect();
        while let Some(lacking) = lacking(&statement.clone().withholding(&all, "privileged")) {
            let (Lacking::Change(digest) | Lacking::Beginning(digest)) = lacking;
            all.remove(&digest);
        }
        let part = statement.clone().withholding(&all, "privileged");
        let report = verify(&file(&part, &key(1)), &[]);
        assert_eq!(report.result, Outcome::VerifiedInPart, "{name}:\n{}", told(&report));
        let claims = report.checks.iter().find(|one| one.check == Check::Criteria).unwrap();
        assert!(claims.withheld > 0, "{name}");
    }
    assert!(changes > 0);
}

/// Each record of a run is taken out, or written twice, and everything is chained anew.
#[test]
fn every_record_is_needed_once() {
    let mut missed = Vec::new();
    for (name, scene) in [scenes::SHORT[0], scenes::SHORT[3]] {
        let statement = scene().statement();
        let rows = &statement.ledger.rows;
        let mut tampered = |what: &str, at: usize, change: &dyn Fn(&mut Vec<Entry>)| {
            let mut changed = rows.clone();
            change(&mut changed);
            let report = verify(&file(&restated(&statement, changed), &key(2)), &[]);
            if report.result != Outcome::Failed {
                missed.push(format!("{name}: {:?} {what}", rows[at].head()));
            }
        };
        for (at, entry) in rows.iter().enumerate() {
            match entry {
                Entry::Whole(_) => {
                    tampered("taken out", at, &|rows| drop(rows.remove(at)));
                    tampered("written twice", at, &|rows| rows.insert(at, rows[at].clone()));
                }
                Entry::Withheld(_) => {}
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// An engine that lies in one place and is consistent everywhere else.
#[test]
fn a_consistent_lie_is_found() {
    let lies: [(scenes::Scene, Check); 4] = [
        (("another source", scenes::other_source), Check::Claims),
        (("another work", scenes::other_work), Check::Claims),
        (("a sentence left out", scenes::left_out), Check::Claims),
        (("another form", scenes::other_form), Check::Criteria),
    ];
    for ((what, scene), expected) in lies {
        let report = verify(&file(&scene().statement(), &key(1)), &[]);
        assert_eq!(report.result, Outcome::Failed, "{what}");
        let checks: BTreeSet<&str> = report.failures.iter().map(|one| one.check.as_str()).collect();
        assert!(checks.contains(expected.as_str()), "{what}: {checks:?}");
    }
}

/// A packet that has fallen by its own rows is sound, and is not called forged; one whose rows hide that is.
#[test]
fn a_packet_that_fell_is_told_from_one_that_hides_it() {
    let statement = scenes::fallen().statement();
    let report = verify(&file(&statement, &key(1)), &[]);
    assert_eq!((report.result, told(&report).as_str()), (Outcome::Fallen, ""));
    assert!(report.packet.unwrap().fallen.is_some());
    let is_event =
        |one: &Entry| matches!(one, Entry::Whole(row) if row.kind.as_str().ends_with("invalidation_event"));
    let hidden: Vec<Entry> = statement.ledger.rows.iter().filter(|one| !is_event(one)).cloned().collect();
    assert_eq!(hidden.len() + 1, statement.ledger.rows.len());
    check("a fall that is hidden", &restated(&statement, hidden), Code::VerifyIncomplete);
}

/// What is changed on a row, in words.
type Change = (&'static str, fn(&mut Row));

/// What stands on a row besides what it says follows from the rows as well.
#[test]
fn what_stands_on_a_row_is_held_to_what_the_rows_say() {
    let changes: [Change; 6] = [
        ("by somebody else", |row| row.actor = "mallory".try_into().unwrap()),
        ("of a version to come", |row| row.version = 99),
        ("brought about by another row", |row| row.cause = Some(1)),
        ("at somebody's request", |row| row.idem_key = Some("zz".try_into().unwrap())),
        ("with more beside the record", |row| {
            if let Json::Object(members) = &mut row.payload {
                members.insert("extra", "x");
            }
        }),
        ("of a kind that nobody knows", |row| row.kind = "govern.board_approval".try_into().unwrap()),
    ];
    let statement = scenes::safe().statement();
    let rows = &statement.ledger.rows;
    for at in (0..rows.len()).step_by(7) {
        for (what, change) in changes {
            let mut changed = rows.clone();
            let Entry::Whole(row) = &mut changed[at] else { continue };
            // Who carries a run on may be anybody, and its own rows are held to what follows from them; who wrote a record took part.
            let of_records = ["by somebody else", "with more beside the record"];
            if of_records.contains(&what) && !row.kind.as_str().starts_with("govern.") {
                continue;
            }
            change(row);
            let report = verify(&file(&restated(&statement, changed), &key(2)), &[]);
            assert_eq!(report.result, Outcome::Failed, "{:?} {what}", rows[at].head());
        }
    }
    let is_classed = |entry: &&mut Entry| match entry {
        Entry::Whole(row) => {
            row.payload.get("record").is_some_and(|record| record.get("data_class").is_some())
        }
        Entry::Withheld(_) => false,
    };
    let mut changed = rows.clone();
    for entry in changed.iter_mut().filter(is_classed) {
        if let Entry::Whole(row) = entry {
            row.data_class = DataClass::Public;
        }
    }
    check("all of it public", &restated(&statement, changed), Code::VerifyRow);
}
