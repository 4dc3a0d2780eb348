//! `answer`: what counts, what does not, and that what does not count changes nothing.
//! Owns: every kind of question with every kind of answer. Must not: repeat what `process.rs` tries.

use crate::binary::{DATA, Running};
use crate::runs_crash::{Desk, Stop, completed, ended, waits};
use crate::talks::{policy, rows, verified};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn asked(kind: &str) -> (Desk, Stop) {
    let desk = Desk::new(&[("before", "do"), ("stops", kind), ("after", "do")]);
    let (_, stop) = waits(&desk.process(&json!({"raw_input": "End the lease."}), &[]));
    (desk, stop)
}

/// Nothing that happens in there changes the run or the ledger.
fn unchanged(desk: &Desk, stop: &Stop, tries: impl FnOnce()) {
    let before = (desk.rows(), desk.calls(), desk.show(&stop.run));
    tries();
    assert_eq!((desk.rows(), desk.calls(), desk.show(&stop.run)), before);
}

#[test]
fn words_answer_a_question() {
    let (desk, stop) = asked("ask");
    assert_eq!(stop.kind, "clarification");
    let done = completed(&desk.answer(&stop, &["--value", "the harbour's", "--as", "ana"]));
    assert_eq!(done["outputs"]["stops"]["heard"], json!(["the harbour's", null]), "the agent hears it");
    assert_eq!(
        (&done["clarification_pending"], &done["clarification_response"]),
        (&json!(false), &json!("the harbour's"))
    );
    assert_eq!(desk.calls(), ["before", "stops", "stops", "after"], "what was done before is kept");
    let answered = rows(&desk.work, "run.answered");
    assert_eq!((&answered[0]["actor"], &answered[0]["payload"]["by"]), (&json!("ana"), &json!("ana")));
    assert_eq!((&answered[0]["payload"]["answer"], answered.len()), (&json!("text"), 1));
    assert!(
        !answered[0]["payload"].to_string().contains("harbour"),
        "words are content, which can be erased"
    );
}

#[test]
fn leave_is_given() {
    let (desk, stop) = asked("leave");
    let done = completed(&desk.answer(&stop, &["--approve"]));
    assert_eq!(done["outputs"]["stops"]["heard"], json!([null, true]));
    assert_eq!((&done["confirmation_pending"], &done["confirmation_id"]), (&json!(false), &json!(stop.id)));
    assert_eq!(desk.calls(), ["before", "stops", "stops", "after"]);
}

#[test]
fn who_is_stuck_is_helped_and_goes_on_there() {
    let (desk, stop) = asked("stuck");
    assert_eq!((stop.kind.as_str(), stop.reason.as_str()), ("escalation", "insufficient_context"));
    // Trying again without help asks again, under another name.
    let (_, second) = waits(&desk.answer(&stop, &["--choose", "retry"]));
    assert_ne!(second.id, stop.id);
    desk.work.write("mended", "");
    let done = completed(&desk.answer(&second, &["--choose", "Retry"]));
    assert_eq!(desk.calls(), ["before", "stops", "stops", "stops", "after"]);
    assert_eq!(
        (&done["clarification_pending"], &done["clarification_response"]),
        (&json!(false), &Value::Null)
    );
    let (desk, stop) = asked("stuck");
    desk.work.write("mended", "");
    let done = completed(&desk.answer(&stop, &["--value", "It is in the annex."]));
    assert_eq!(done["outputs"]["stops"]["heard"][0], "It is in the annex.");
}

#[test]
fn an_answer_of_another_kind_is_none() {
    for (kind, wrong, right) in [
        ("ask", &[&["--approve"][..], &["--deny"], &["--choose", "retry"]][..], &["--value", "this"][..]),
        (
            "leave",
            &[&["--value", "yes"], &["--choose", "retry"], &["--choose", "yes"]],
            &["--choose", "approve"],
        ),
        (
            "stuck",
            &[&["--approve"], &["--deny"], &["--choose", "no"], &["--choose", "inject files"]],
            &["--choose", "give-up"],
        ),
    ] {
        let (desk, stop) = asked(kind);
        unchanged(&desk, &stop, || {
            for more in wrong {
                desk.answer(&stop, more).refused_silently(1, "answer.kind");
            }
            // Nor is more than one, or none.
            for more in [&[][..], &["--approve", "--deny"], &["--value", "a", "--choose", "b"]] {
                assert_eq!(desk.answer(&stop, more).exit, Some(2), "{more:?}");
            }
        });
        let done = desk.answer(&stop, right);
        assert_eq!(done.exit, Some(if kind == "stuck" { 1 } else { 0 }), "{}", done.err);
    }
}

#[test]
fn an_answer_to_something_else_is_none() {
    let (desk, stop) = asked("leave");
    let (_, other) = waits(&desk.process(&json!({"raw_input": "Another."}), &[]));
    assert_ne!((&stop.run, &stop.id), (&other.run, &other.id));
    unchanged(&desk, &stop, || {
        unchanged(&desk, &other, || {
            // The question of one run, for the other.
            let crossed = Stop { id: other.id.clone(), ..stop.clone() };
            desk.answer(&crossed, &["--approve"]).refused_silently(1, "answer.unasked");
            for id in ["", "stop_", "stop_0000000000000000", &stop.id.to_uppercase()] {
                let wrong = Stop { id: id.to_owned(), ..stop.clone() };
                desk.answer(&wrong, &["--approve"]).refused_silently(1, "answer.unasked");
            }
            // Runs that there are not, and what names none.
            let missing = Stop { run: "run_0000000000000000".to_owned(), ..stop.clone() };
            desk.answer(&missing, &["--approve"]).refused_silently(1, "run.missing");
            let none = Stop { run: "../x y".to_owned(), ..stop.clone() };
            desk.answer(&none, &["--approve"]).refused_silently(2, "id.invalid");
            // The same run in another matter, where it is not.
            desk.answer(&stop, &["--approve", "--matter", "other"]).refused_silently(1, "run.missing");
            assert!(
                !desk.work.path(DATA).join("matters/other/ledger.sqlite").exists(),
                "nothing is made for that"
            );
            // Whoever does not let programs be run decides nothing either.
            let without = ["answer", &stop.run, "--id", &stop.id, "--approve"];
            desk.work.run(&without).refused_silently(1, "run.agent");
        });
    });
    // A run that is not waiting.
    let desk = Desk::new(&[("one", "do"), ("two", "do")]);
    let one = desk.process(&json!({"raw_input": "x"}), &["--step"]).good().json();
    let run = one["metadata"]["run_id"].as_str().unwrap().to_owned();
    let stop = Stop { run, id: "stop_0000000000000000".into(), kind: String::new(), reason: String::new() };
    unchanged(&desk, &stop, || {
        desk.answer(&stop, &["--approve"]).refused_silently(1, "answer.unasked");
    });
}

#[test]
fn a_late_answer_is_none() {
    let (desk, stop) = asked("late");
    unchanged(&desk, &stop, || {
        desk.answer(&stop, &["--approve"]).refused_silently(1, "answer.expired");
        desk.answer(&stop, &["--deny"]).refused_silently(1, "answer.expired");
    });
    // Before that time it was none.
    let done = desk.answer(&stop, &["--approve", "--now", "2019-12-31T23:59:59Z"]);
    assert_eq!(waits(&done).1.reason, "confirmation_required", "the agent asks whenever it is called");
    let (desk, stop) = asked("stuck");
    ended(&desk.answer(&stop, &["--choose", "give up"]), "run.denied", "denied_by_policy");
    unchanged(&desk, &stop, || {
        desk.answer(&stop, &["--choose", "retry"]).refused_silently(1, "run.over");
    });
}

/// With a seed every process begins with the same names. Questions differ all the same, or an old answer would fit.
#[test]
fn no_two_questions_have_one_name() {
    let (desk, first) = asked("stuck");
    let mut ids = BTreeSet::from([first.id.clone()]);
    let mut stop = first;
    for count in 2..5 {
        stop = waits(&desk.answer(&stop, &["--choose", "retry", "--seed", "7"])).1;
        ids.insert(stop.id.clone());
        assert_eq!(ids.len(), count);
    }
}

#[test]
fn of_two_answers_at_once_one_counts() {
    let mut losses = BTreeSet::new();
    for _ in 0..6 {
        let (desk, stop) = asked("leave");
        let args = ["answer", &stop.run, "--id", &stop.id, "--allow-programs", "--json"];
        let one = |more| Running::start(&desk.work, &[&args[..], &[more]].concat());
        let both = [one("--approve"), one("--deny")].map(Running::ended);
        let answered = rows(&desk.work, "run.answered");
        assert_eq!(answered.len(), 1, "{} {}", both[0].err, both[1].err);
        let is_approved = answered[0]["payload"]["answer"] == "approve";
        let (winner, loser) = if is_approved { (&both[0], &both[1]) } else { (&both[1], &both[0]) };
        match is_approved {
            true => drop(completed(winner)),
            false => drop(ended(winner, "run.denied", "denied_by_policy")),
        }
        let told: Value = serde_json::from_str(&loser.err).unwrap();
        losses.insert(told["error"]["code"].as_str().unwrap().to_owned());
        assert_eq!((loser.exit, loser.text()), (Some(1), ""), "{}", loser.err);
        let times = desk.calls().iter().filter(|call| *call == "after").count();
        assert_eq!(times, usize::from(is_approved), "what was denied is not done");
        verified(&desk.work);
    }
    let known = ["run.busy", "answer.unasked", "run.over"].map(str::to_owned);
    assert!(losses.is_subset(&known.into()), "{losses:?}");
}

#[test]
fn who_began_a_run_gives_it_no_leave_where_policy_has_somebody_else() {
    let desk = Desk::new(&[("stops", "leave")]);
    policy(&desk.work, "approver = \"somebody_else\"");
    let process = || waits(&desk.process(&json!({"raw_input": "x"}), &["--as", "ana"])).1;
    let stop = process();
    unchanged(&desk, &stop, || {
        desk.answer(&stop, &["--approve", "--as", "ana"]).refused_silently(1, "capability.proposer");
        // A name is quickly typed.
        desk.answer(&stop, &["--approve", "--as", "bob"]).refused_silently(1, "capability.unsigned");
    });
    desk.work.run(&["principal", "add", "bob"]).good();
    completed(&desk.answer(&stop, &["--approve", "--as", "bob"]));
    assert_eq!(rows(&desk.work, "run.answered")[0]["proof"]["kind"], "signed");
    // Everybody may say no.
    ended(&desk.answer(&process(), &["--deny", "--as", "ana"]), "run.denied", "denied_by_policy");
    verified(&desk.work);
}
