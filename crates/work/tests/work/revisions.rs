//! What falls short is mended: from the plan to where nothing moves any more.

use crate::stage::{ABLE, Answer, Stage};
use countersign_govern::types::outcome::OutcomeEvaluationState as State;
use countersign_work::call;
use countersign_work::revise::{self, Budget, Decision, Live, Refusal, Reviewed, Started, Work};

/// A memo of two sections; `APPROVAL` and `MORE` are filled in.
const TASK: &str = r#"{
  "schema_version": "1.0", "id": "lease-memo", "title": "Memo", "goal": "Say how long the lease runs.",
  "artifacts": [{"id": "memo", "path": "memo.md", "kind": "markdown", "sections": [
    {"id": "term", "heading": "Term", "ask": "How long does the lease run?", "quotes": 1},
    {"id": "rent", "heading": "Rent", "ask": "What is the rent?", "quotes": 1}]}],
  "sources": [{"id": "lease", "path": "sources/lease.md", "kind": "document", "trust_basis": "user_supplied",
    "verified_by": "ana", "tier": 2 FRESH}],
  "outcomes": [
    {"id": "term-stated", "statement": "The memo says how long the lease runs.", "section": "term", "capabilities": [CAPABLE],
      "criteria": [
        {"id": "term-cited", "text": "Two places are cited.", "basis": "deterministic_check", "required": true,
          "check": {"kind": "citations", "min": 2}, "threshold": 1},
        {"id": "term-grounded", "text": "Every sentence stands in a source.", "basis": "source_grounded", "required": true,
          "threshold": 1, "weight": 3}]},
    {"id": "rent-stated", "statement": "The memo says what the rent is.", "section": "rent", "depends_on": ["term-stated"],
      "criteria": [
        {"id": "rent-named", "text": "An amount is named.", "basis": "deterministic_check", "required": true,
          "check": {"kind": "matches", "pattern": "\\d+ euros"}, "threshold": 1},
        {"id": "rent-grounded", "text": "Every sentence stands in a source.", "basis": "source_grounded", "required": true,
          "threshold": 1, "weight": 3}]}],
  "policies": {"approval": {"revision": "APPROVAL"}, "sufficiency": {"attempts_max": 3}}
}"#;

pub(crate) const LEASE: &str = "# Lease\n\nThe lease of the warehouse ends on 31 May 2027.\n\nThe rent is 900 euros a month.\n\n\
    The tenant may extend the lease until 31 May 2030.\n\nThe lease began on 1 June 2022.\n";
pub(crate) const END: &str = "The lease of the warehouse ends on 31 May 2027. [sources/lease.md:3]";
pub(crate) const RENT: &str = "The rent is 900 euros a month. [sources/lease.md:5]";
pub(crate) const EXTEND: &str = "The tenant may extend the lease until 31 May 2030. [sources/lease.md:7]";
const BEGAN: &str = "The lease began on 1 June 2022. [sources/lease.md:9]";
pub(crate) const BOAT: &str = "The landlord owns a boat.";

pub(crate) fn task(approval: &str) -> String {
    TASK.replace("APPROVAL", approval).replace(" FRESH", "").replace("CAPABLE", "")
}

pub(crate) fn memo(term: &str, rent: &str) -> String {
    format!("# Memo\n\n## Term\n\n{term}\n\n## Rent\n\n{rent}\n")
}

/// A stage on which a text was looked at.
pub(crate) fn looked_at(task: &str, text: &str) -> Stage {
    let mut stage = Stage::new(task, &[("lease", LEASE)]);
    stage.version("memo", text);
    stage.look_again();
    stage.is_clean();
    stage
}

/// A drafter that takes as many sentences as it may.
fn drafter(started: &Started, base: &str) -> Answer {
    match started.work() {
        Work::Section { section, quotes } => {
            let (heading, all): (&str, &[&str]) = match section.as_str() {
                "term" => ("Term", &[END, EXTEND, BEGAN]),
                _rent => ("Rent", &[RENT]),
            };
            let most = usize::try_from(*quotes).unwrap();
            let body = all.iter().take(most).copied().collect::<Vec<_>>().join(" ");
            Answer::Text(revise::edit::with_section(base, heading, &body))
        }
        Work::Search(_) | Work::Cite(_) | Work::Without(_) | Work::Repair | Work::Rewrite => Answer::Nothing,
    }
}

pub(crate) fn nobody(started: &Started, _: &str) -> Answer {
    match started.work() {
        Work::Search(_) => Answer::Nothing,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_missing_is_drafted_anew_and_what_depends_on_it_is_looked_at() {
    let mut stage = looked_at(&task("waived"), &memo(END, RENT));
    assert_eq!(
        (stage.state("term-stated"), stage.state("rent-stated")),
        (State::NeedsRevision, State::PendingDependency)
    );
    let plan = stage.one_plan();
    stage.is_clean();
    assert_eq!(stage.standing(), [Live::Compiled(plan.clone())]);
    let mut asked = Vec::new();
    let reviewed = stage.carry(plan, |started, base| {
        asked.push(started.work().clone());
        drafter(started, base)
    });
    assert_eq!(reviewed, Some(Reviewed::Accepted));
    assert_eq!(asked, [Work::Section { section: "term".into(), quotes: 3 }]);
    assert_eq!(stage.standing(), [Live::Revalidating]);
    assert_eq!(stage.state("term-stated"), State::Dirty);
    let settled = stage.look_again();
    stage.is_clean();
    assert_eq!(
        (settled[0].met.as_slice(), settled[0].unmet.len()),
        (["term-stated".to_owned()].as_slice(), 0)
    );
    assert_eq!(
        (stage.state("term-stated"), stage.state("rent-stated")),
        (State::Satisfied, State::Satisfied)
    );
    assert_eq!(stage.text("memo"), memo(&format!("{END} {EXTEND} {BEGAN}"), RENT));
    assert_eq!(stage.standing(), []);
    let states = stage.words("RevisionLifecycleTransitionEvent", "to_state");
    assert_eq!(states.last().map(String::as_str), Some("terminal_satisfied"));
    assert_eq!(stage.words("ProcedureAttemptRecord", "terminal_status"), ["succeeded"]);
    assert_eq!(stage.words("RevisionCycleOutcomeObservation", "terminal_class"), ["succeeded"]);
    assert_eq!(stage.plan(), revise::Planned { plans: vec![], ended: vec![] });
    assert_eq!(stage.hand_over_heads(), "safe_to_rely_within_scope");
    stage.is_clean();
}

#[test]
fn a_sentence_that_no_source_says_goes_after_a_search_and_a_decision() {
    let text = memo(&format!("{END} {EXTEND} {BOAT}"), RENT);
    let mut stage = looked_at(&task("mechanical_waived"), &text);
    let plan = stage.one_plan();
    let Some(Reviewed::Asked(asked)) = stage.carry(plan, nobody) else { panic!("a person is asked") };
    assert_eq!(stage.standing(), [Live::Asked(asked.clone())]);
    assert_eq!(stage.question(), asked.question());
    assert_eq!(stage.text("memo"), text);
    assert!(stage.answer(asked.question(), "perhaps").is_err());
    stage.answer(asked.question(), "accept").unwrap();
    assert_eq!(stage.text("memo"), memo(&format!("{END} {EXTEND}"), RENT));
    assert!(stage.answer(asked.question(), "accept").is_err());
    let settled = stage.look_again();
    assert_eq!(settled[0].met, ["term-stated"]);
    assert_eq!(
        (stage.state("term-stated"), stage.state("rent-stated")),
        (State::Satisfied, State::Satisfied)
    );
    // Nobody asks for a source of what the work does not say any more.
    assert!(countersign_work::research::open_refs(&stage.desk).unwrap().is_empty());
    assert_eq!(stage.count("ResearchNeedLease"), 1);
    assert_eq!(stage.hand_over_heads(), "safe_to_rely_within_scope");
    stage.is_clean();
}

/// A run with a change that waits for a reviewer.
pub(crate) fn under_review() -> Stage {
    let text = memo(&format!("{END} {EXTEND} {BOAT}"), RENT);
    let mut stage = looked_at(&task("mechanical_waived"), &text);
    let plan = stage.one_plan();
    let Some(Reviewed::Asked(_)) = stage.carry(plan, nobody) else { panic!("a person is asked") };
    stage
}

/// A run with a plan whose steps have not begun.
pub(crate) fn planned() -> Stage {
    let mut stage = looked_at(&task("waived"), &memo(END, RENT));
    let plan = stage.one_plan();
    stage.begin(plan);
    stage
}

/// Rejects what is proposed for a sentence that no source says.
#[test]
fn what_a_person_turns_down_is_not_proposed_again() {
    let text = memo(&format!("{END} {EXTEND} {BOAT}"), RENT);
    for (option, end) in [("reject", "rejected"), ("request_changes", "superseded")] {
        let mut stage = looked_at(&task("mechanical_waived"), &text);
        let plan = stage.one_plan();
        let Some(Reviewed::Asked(asked)) = stage.carry(plan, nobody) else { panic!("a person is asked") };
        stage.answer(asked.question(), option).unwrap();
        stage.is_clean();
        assert_eq!(stage.words("ArtifactVersionTransitionEvent", "to_state").last().unwrap(), end);
        assert_eq!((stage.text("memo"), stage.standing()), (text.clone(), vec![]));
        let planned = stage.plan();
        stage.is_clean();
        assert_eq!((planned.plans.len(), planned.ended.len()), (0, 1));
        assert_eq!(stage.state("term-stated"), State::Unrecoverable);
        assert_eq!(stage.state("rent-stated"), State::UpstreamFailure);
        assert_eq!(
            stage.words("RevisionCycleOutcomeObservation", "terminal_class"),
            ["failed_unrecoverable"]
        );
        assert_eq!(stage.hand_over_heads(), "not_safe_to_rely");
        stage.is_clean();
    }
}

/// A reviewer may decide by the packet, with a reason; on a head that has changed since nobody can.
#[test]
fn a_decision_is_on_what_was_shown() {
    let text = memo(&format!("{END} {EXTEND} {BOAT}"), RENT);
    let mut stage = looked_at(&task("required"), &text);
    let plan = stage.one_plan();
    let Some(Reviewed::Asked(asked)) = stage.carry(plan, nobody) else { panic!("a person is asked") };
    stage.later();
    let reason = Some("the boat is a story");
    let mut other = Stage::new(&task("required"), &[("lease", LEASE)]);
    assert!(revise::decided(&mut other.desk, asked.packet(), Decision::Accept, "ana", reason).is_err());
    revise::decided(&mut stage.desk, asked.packet(), Decision::Accept, "ana", reason).unwrap();
    stage.is_clean();
    assert_eq!(stage.words("RevisionReviewDecisionReceipt", "rationale"), ["the boat is a story"]);
    assert_eq!(stage.words("RevisionReviewDecisionReceipt", "actor_ref"), ["user:ana"]);
    assert!(call::open(&stage.desk).is_empty());

    let mut stage = looked_at(&task("required"), &text);
    let plan = stage.one_plan();
    let Some(Reviewed::Asked(asked)) = stage.carry(plan, nobody) else { panic!("a person is asked") };
    stage.version("memo", &memo(END, RENT));
    let refused = stage.answer(asked.question(), "accept");
    assert_eq!(refused, Err(call::Refusal::Changed("memo".into())));
    stage.answer(asked.question(), "reject").unwrap();
    stage.is_clean();
}

#[test]
fn the_same_text_is_asked_for_in_another_way() {
    let mut stage = looked_at(&task("waived"), &memo(END, RENT));
    let plan = stage.one_plan();
    let mut quotes = Vec::new();
    let reviewed = stage.carry(plan, |started, base| {
        let Work::Section { quotes: most, .. } = started.work() else { panic!("{started:?}") };
        quotes.push(*most);
        // The same words with other space between them are the same text.
        if quotes.len() < 3 {
            Answer::Text(base.replace(END, &END.replace(' ', "  ")))
        } else {
            drafter(started, base)
        }
    });
    assert_eq!(reviewed, Some(Reviewed::Accepted));
    assert_eq!(quotes, [3, 5, 7]);
    stage.look_again();
    stage.is_clean();
    assert_eq!(stage.state("term-stated"), State::Satisfied);
    let actions = stage.words("RegenerateAttemptReceipt", "action_taken");
    let (same, other) = ("rejected_identical_output", "changed_generation_policy");
    assert_eq!(actions, [same, other, same, other, "accepted_new_output"]);
}

#[test]
fn the_same_text_over_and_over_is_a_matter_for_a_person() {
    let mut stage = looked_at(&task("waived"), &memo(END, RENT));
    let plan = stage.one_plan();
    assert_eq!(stage.carry(plan, |_, base| Answer::Text(base.to_owned())), None);
    assert_eq!(stage.words("ProcedureAttemptRecord", "terminal_status"), ["identical_output_rejected"]);
    let planned = stage.plan();
    stage.is_clean();
    assert_eq!((planned.plans.len(), stage.state("term-stated")), (0, State::NeedsHumanJudgment));
    // Nothing goes on until there is an answer.
    assert_eq!(stage.plan().plans.len(), 0);
    let question = stage.question();
    stage.answer(&question, "retry").unwrap();
    stage.is_clean();
    stage.look_again();
    assert_eq!(stage.state("term-stated"), State::NeedsRevision);
    // There is no other number of quotes left to ask for.
    let planned = stage.plan();
    stage.is_clean();
    assert_eq!((planned.plans.len(), stage.state("term-stated")), (0, State::Unrecoverable));
}

#[test]
fn giving_up_an_outcome_is_an_answer() {
    let mut stage = looked_at(&task("waived"), &memo(END, RENT));
    let plan = stage.one_plan();
    stage.carry(plan, |_, base| Answer::Text(base.to_owned()));
    stage.plan();
    let question = stage.question();
    stage.answer(&question, "stop").unwrap();
    stage.look_again();
    stage.is_clean();
    assert_eq!(
        (stage.state("term-stated"), stage.state("rent-stated")),
        (State::Superseded, State::Satisfied)
    );
}

#[test]
fn sources_that_have_nothing_more_are_asked_for_by_a_need() {
    let mut stage = looked_at(&task("waived"), &memo(END, RENT));
    let plan = stage.one_plan();
    assert_eq!(stage.carry(plan, |_, _| Answer::Nothing), None);
    let planned = stage.plan();
    stage.is_clean();
    assert_eq!((planned.plans.len(), stage.state("term-stated")), (0, State::NeedsInformation));
    assert_eq!(stage.words("SufficiencyDetectionResult", "terminal_route"), ["needs_information"]);
    assert!(call::open(&stage.desk).is_empty());
    let needs = countersign_work::research::all(&stage.desk);
    assert_eq!(
        needs.iter().map(|one| one.question.as_str()).collect::<Vec<_>>(),
        ["How long does the lease run?"]
    );
    assert_eq!(stage.hand_over_heads(), "not_safe_to_rely");
    stage.is_clean();
}

#[test]
fn a_step_that_fails_is_taken_once_more_and_then_left() {
    let mut stage = looked_at(&task("waived"), &memo(END, RENT));
    let plan = stage.one_plan();
    let mut asked = 0;
    let reviewed = stage.carry(plan, |started, base| {
        asked += 1;
        if asked == 1 { Answer::Fails } else { drafter(started, base) }
    });
    assert_eq!((reviewed, asked), (Some(Reviewed::Accepted), 2));
    stage.look_again();
    assert_eq!(stage.state("term-stated"), State::Satisfied);
    stage.is_clean();
    let mut stage = looked_at(&task("waived"), &memo(END, RENT));
    for attempt in 0..3 {
        let planned = stage.plan();
        stage.is_clean();
        // Two attempts that change nothing are enough by the policy of the task.
        assert_eq!(planned.plans.len(), usize::from(attempt < 2), "{attempt}");
        for plan in planned.plans {
            assert_eq!(stage.carry(plan, |_, _| Answer::Fails), None);
        }
    }
    assert_eq!(stage.state("term-stated"), State::Unrecoverable);
    assert_eq!(stage.count("TaskSkipReceipt"), 2);
}

/// What is better each time and never good enough ends at the cap.
#[test]
fn attempts_have_an_end() {
    let task = task("waived").replace(r#""min": 2"#, r#""min": 12"#);
    let mut stage = looked_at(&task, &memo(END, RENT));
    let mut plans = 0;
    loop {
        let planned = stage.plan();
        stage.is_clean();
        let Some(plan) = planned.plans.into_iter().next() else { break };
        plans += 1;
        // Each attempt has another text; the score is the share of what is met, and stays.
        let reviewed = stage.carry(plan, |_, base| {
            Answer::Text(revise::edit::with_section(
                base,
                "Term",
                &[EXTEND, BEGAN, END, RENT][..plans].join(" "),
            ))
        });
        assert_eq!(reviewed, Some(Reviewed::Accepted));
        let settled = stage.look_again();
        stage.is_clean();
        assert_eq!(settled[0].unmet, ["term-stated"]);
    }
    assert_eq!(plans, 2);
    assert_eq!(stage.state("term-stated"), State::Unrecoverable);
    assert_eq!(stage.words("ProcedureAttemptRecord", "terminal_status"), ["no_material_improvement"; 2]);
    let same: Vec<bool> = stage
        .desk
        .rows()
        .filter(|row| row.kind == "ProgressSignalRecord")
        .map(|row| row.record.get("same_reason_as_previous") == Some(&true.into()))
        .collect();
    assert_eq!(same, [false, true, true]);
    let mut stage =
        looked_at(&task.replace(r#""attempts_max": 3"#, r#""attempts_max": 1"#), &memo(END, RENT));
    let plan = stage.one_plan();
    stage.carry(plan, drafter);
    stage.look_again();
    stage.plan();
    stage.is_clean();
    assert_eq!(stage.state("term-stated"), State::MaxIterationsReached);
    assert_eq!(stage.words("RevisionCycleOutcomeObservation", "terminal_class"), ["max_iterations_reached"]);
}

#[test]
fn a_source_that_nobody_verified_is_a_matter_for_a_person() {
    let task = task("waived").replace(r#""verified_by": "ana", "#, "");
    let mut stage = looked_at(&task, &memo(&format!("{END} {EXTEND}"), RENT));
    assert_eq!(stage.state("term-stated"), State::NeedsRevision);
    let planned = stage.plan();
    stage.is_clean();
    assert_eq!((planned.plans.len(), stage.state("term-stated")), (0, State::NeedsHumanJudgment));
    assert_eq!(stage.count("VerificationRequestStep"), 1);
    let question = stage.question();
    stage.answer(&question, "verified").unwrap();
    stage.is_clean();
    stage.look_again();
    stage.is_clean();
    assert_eq!(
        (stage.state("term-stated"), stage.state("rent-stated")),
        (State::Satisfied, State::Satisfied)
    );
    assert_eq!(stage.hand_over_heads(), "safe_to_rely_within_scope");
    stage.is_clean();
}

#[test]
fn a_source_that_is_out_of_date_may_still_hold() {
    let task = TASK
        .replace("APPROVAL", "waived")
        .replace("CAPABLE", "")
        .replace(" FRESH", r#", "fresh_until": "2026-01-01T09:30:00Z""#);
    let mut stage = Stage::new(&task, &[("lease", LEASE)]);
    for _ in 0..40 {
        stage.later();
    }
    stage.version("memo", &memo(&format!("{END} {EXTEND}"), RENT));
    stage.look_again();
    stage.plan();
    stage.is_clean();
    let question = stage.question();
    stage.answer(&question, "verified").unwrap();
    stage.look_again();
    stage.is_clean();
    assert_eq!(stage.state("term-stated"), State::Satisfied);
}

#[test]
fn what_nobody_can_do_is_not_tried() {
    let needs = |id: &str| {
        TASK.replace("APPROVAL", "waived").replace(" FRESH", "").replace("CAPABLE", &format!("\"{id}\""))
    };
    let cases = [
        ("draw-map", true, State::UnableToEvaluate, "process_gap_out", 1),
        ("judge", false, State::UnableToEvaluate, "unable_to_evaluate", 0),
    ];
    for (id, is_missing, state, route, gaps) in cases {
        let mut able: Vec<(&str, bool)> = ABLE.iter().map(|id| (*id, true)).collect();
        if !is_missing {
            able.push((id, false));
        }
        let mut stage = Stage::able(&needs(id), &[("lease", LEASE)], &able);
        stage.version("memo", &memo(END, RENT));
        stage.look_again();
        let planned = stage.plan();
        stage.is_clean();
        assert_eq!((planned.plans.len(), stage.state("term-stated")), (0, state), "{id}");
        assert_eq!(stage.words("SufficiencyDetectionResult", "terminal_route"), [route]);
        assert_eq!(stage.count("TaskProcessGapSignal"), gaps);
        assert_eq!(stage.state("rent-stated"), State::UpstreamFailure);
    }
    // Without somebody who drafts by quotes there is no way to mend it.
    let mut stage = Stage::able(&task("waived"), &[("lease", LEASE)], &[("evaluate", true)]);
    stage.version("memo", &memo(END, RENT));
    stage.look_again();
    stage.plan();
    stage.is_clean();
    assert_eq!(stage.state("term-stated"), State::Unrecoverable);
}

#[test]
fn a_spent_budget_is_a_question() {
    let mut stage = looked_at(&task("waived"), &memo(END, RENT));
    stage.budget = Budget::Spent;
    stage.plan();
    stage.is_clean();
    assert_eq!(stage.state("term-stated"), State::NeedsHumanJudgment);
    let question = stage.question();
    stage.answer(&question, "grant").unwrap();
    stage.budget = Budget::Left;
    stage.look_again();
    let plan = stage.one_plan();
    stage.carry(plan, drafter);
    stage.look_again();
    stage.is_clean();
    assert_eq!(stage.state("term-stated"), State::Satisfied);
}

/// A revision that mends one thing and breaks another that was good.
#[test]
fn what_gets_worse_is_seen() {
    let task = task("waived").replace(r#", "depends_on": ["term-stated"]"#, "");
    let mut stage = looked_at(&task, &memo(END, RENT));
    assert_eq!(stage.state("rent-stated"), State::Satisfied);
    let plan = stage.one_plan();
    let broken = memo(&format!("{END} {EXTEND}"), "Ask the landlord.");
    stage.carry(plan, |_, _| Answer::Text(broken.clone()));
    let settled = stage.look_again();
    stage.is_clean();
    assert_eq!(
        (settled[0].met.as_slice(), settled[0].regressed.as_slice()),
        (&["term-stated".to_owned()][..], &["rent-stated".to_owned()][..])
    );
    assert_eq!(
        stage.words("RevisionLifecycleTransitionEvent", "to_state").last().unwrap(),
        "terminal_failed"
    );
    assert_eq!(stage.state("rent-stated"), State::Regressed);
    let plan = stage.one_plan();
    stage.carry(plan, drafter);
    let settled = stage.look_again();
    stage.is_clean();
    assert_eq!(settled[0].met, ["rent-stated"]);
    assert_eq!(
        (stage.state("term-stated"), stage.state("rent-stated")),
        (State::Satisfied, State::Satisfied)
    );
}

/// What a step builds on must be what is there.
#[test]
fn steps_go_in_their_order() {
    let mut stage = looked_at(&task("waived"), &memo(END, RENT));
    let plan = stage.one_plan();
    let again = plan.clone();
    let dispatched = stage.begin(plan);
    let refused = revise::begin(&mut stage.desk, again);
    assert!(matches!(refused, Err(Refusal::Elsewhere { state: "dispatched", .. })), "{refused:?}");
    let refused = revise::start(&mut stage.desk, dispatched.clone(), "something else");
    assert_eq!(refused, Err(Refusal::Changed { artifact: "memo".into() }));
    let revise::Next::Work(mut started) = stage.start(dispatched.clone()) else { panic!("a step") };
    assert_eq!(stage.standing(), [Live::Running(started.clone())]);
    let refused = revise::start(&mut stage.desk, dispatched, &memo(END, RENT));
    assert!(matches!(refused, Err(Refusal::Elsewhere { .. })), "{refused:?}");
    let started = started.pop().unwrap();
    let base = memo(END, RENT);
    let answer = drafter(&started, &base);
    stage.done(started.clone(), &answer);
    let Answer::Text(text) = answer else { panic!("a text") };
    let refused = revise::done(&mut stage.desk, started, &base, revise::Produced::Text(&text));
    assert!(refused.is_err(), "{refused:?}");
    stage.is_clean();
}

/// Two claims that no source says are searched for at once, and taken out one after the other.
#[test]
fn searches_go_together_and_changes_one_after_the_other() {
    let crew = "The crew sleeps on the boat.";
    let mut stage = looked_at(&task("waived"), &memo(&format!("{END} {EXTEND} {BOAT} {crew}"), RENT));
    let plan = stage.one_plan();
    assert_eq!(stage.carry(plan, nobody), Some(Reviewed::Accepted));
    stage.look_again();
    stage.is_clean();
    assert_eq!(stage.text("memo"), memo(&format!("{END} {EXTEND}"), RENT));
    assert_eq!((stage.count("ParallelBatch"), stage.count("ParallelBatchFinalizationReceipt")), (1, 1));
    let kinds = stage.words("RevisionPlanStepBase", "step_kind");
    assert_eq!(kinds, ["source_research", "source_research", "edit_artifact", "edit_artifact", "revalidate"]);
    assert_eq!(stage.count("RevisionReviewPacket"), 1);
}

/// A section that is drafted anew may do away with a sentence that was to be taken out.
#[test]
fn what_is_needless_by_then_is_skipped() {
    let mut stage = looked_at(&task("waived"), &memo(&format!("{END} {BOAT}"), RENT));
    let plan = stage.one_plan();
    stage.carry(plan, drafter);
    stage.look_again();
    stage.is_clean();
    assert_eq!(stage.state("term-stated"), State::Satisfied);
    assert_eq!(stage.words("TaskSkipReceipt", "reason"), ["not_applicable"]);
}

/// What can't be drafted does not keep the rest of the plan from being done.
#[test]
fn a_part_of_a_plan_is_better_than_nothing() {
    let mut stage = looked_at(&task("waived"), &memo(&format!("{END} {BOAT}"), RENT));
    let plan = stage.one_plan();
    assert_eq!(stage.carry(plan, |_, _| Answer::Nothing), Some(Reviewed::Accepted));
    let settled = stage.look_again();
    stage.is_clean();
    assert_eq!(settled[0].unmet, ["term-stated"]);
    assert_eq!(stage.text("memo"), memo(END, RENT));
    stage.plan();
    stage.is_clean();
    assert_eq!(stage.state("term-stated"), State::NeedsInformation);
}

#[test]
fn a_text_that_is_too_long_gets_shorter() {
    let task = task("waived")
        .replace(
            r#""check": {"kind": "citations", "min": 2}"#,
            r#""check": {"kind": "length", "words_max": 12}"#,
        )
        .replace(
            r#""ask": "How long does the lease run?", "quotes": 1"#,
            r#""ask": "How long does the lease run?", "quotes": 3"#,
        );
    let mut stage = looked_at(&task, &memo(&format!("{END} {EXTEND} {BEGAN}"), RENT));
    let plan = stage.one_plan();
    let mut quotes = Vec::new();
    stage.carry(plan, |started, base| {
        let Work::Section { quotes: most, .. } = started.work() else { panic!("{started:?}") };
        quotes.push(*most);
        drafter(started, base)
    });
    stage.look_again();
    let plan = stage.one_plan();
    stage.carry(plan, drafter);
    stage.look_again();
    stage.is_clean();
    assert_eq!((quotes, stage.state("term-stated")), (vec![2], State::Satisfied));
    assert_eq!(stage.text("memo"), memo(END, RENT));
}

#[test]
fn what_must_not_be_there_is_taken_out() {
    let task = task("waived").replace(
        r#""check": {"kind": "citations", "min": 2}"#,
        r#""check": {"kind": "matches", "pattern": "2030", "must_not": true}"#,
    );
    let mut stage = looked_at(&task, &memo(&format!("{END} {EXTEND}"), RENT));
    let plan = stage.one_plan();
    stage.carry(plan, nobody);
    stage.look_again();
    stage.is_clean();
    assert_eq!((stage.text("memo"), stage.state("term-stated")), (memo(END, RENT), State::Satisfied));
}

/// A memo on whose notice two sources disagree, after a person said that the letter counts.
fn letter_counts() -> Stage {
    let task = task("waived")
        .replace(r#""policies": {"#, r#""policies": {"claim_support": {"contradiction": "human_review_required"}, "#)
        .replace(r#""tier": 2}]"#, r#""tier": 2}, {"id": "letter", "path": "sources/letter.md", "kind": "email", "trust_basis": "user_supplied", "verified_by": "ana"}]"#)
        .replace(r#""min": 2"#, r#""min": 1"#);
    let lease = format!("{LEASE}\nThe tenant may give notice of six months to the landlord.\n");
    let letter = "The tenant may give notice of three months to the landlord.\n";
    let notice = "The tenant may give notice of six months to the landlord. [sources/lease.md:11]";
    let mut stage = Stage::new(&task, &[("lease", &lease), ("letter", letter)]);
    stage.version("memo", &memo(&format!("{END} {notice}"), RENT));
    stage.look_again();
    assert_eq!((stage.state("term-stated"), stage.plan().plans.len()), (State::NeedsHumanJudgment, 0));
    let question = stage.question();
    stage.answer(&question, "prefer-letter").unwrap();
    stage.look_again();
    stage
}

#[test]
fn what_the_source_that_counts_says_comes_instead() {
    let mut stage = letter_counts();
    let plan = stage.one_plan();
    let instead = "The tenant may give notice of three months to the landlord. [sources/letter.md:1]";
    let body = format!("{END} {instead}");
    let reviewed = stage.carry(plan, |started, base| match started.work() {
        Work::Section { section, .. } if section == "term" => {
            Answer::Text(revise::edit::with_section(base, "Term", &body))
        }
        other => panic!("{other:?}"),
    });
    assert_eq!(reviewed, Some(Reviewed::Accepted));
    stage.look_again();
    stage.is_clean();
    assert_eq!((stage.text("memo"), stage.state("term-stated")), (memo(&body, RENT), State::Satisfied));
}

#[test]
fn what_the_source_that_counts_contradicts_is_taken_out() {
    let mut stage = letter_counts();
    let plan = stage.one_plan();
    // Nothing else can be said.
    stage.carry(plan, |started, _| match started.work() {
        Work::Section { .. } => Answer::Nothing,
        other => panic!("{other:?}"),
    });
    stage.look_again();
    stage.is_clean();
    assert_eq!((stage.text("memo"), stage.state("term-stated")), (memo(END, RENT), State::Satisfied));
}

/// A text that somebody else wrote, a document in JSON, and who can put them right.
#[test]
fn artifacts_apart_have_plans_apart_and_an_order() {
    let mut stage = Stage::new(TWO, &[("lease", LEASE)]);
    stage.version("memo", &memo(END, RENT));
    stage.version("data", "{}");
    stage.look_again();
    let planned = stage.plan();
    stage.is_clean();
    // The one goes first on which more depends.
    let artifacts: Vec<String> =
        planned.plans.iter().map(|plan| plan.artifact(&stage.desk).unwrap()).collect();
    assert_eq!(artifacts, ["data", "memo"]);
    assert_eq!((stage.count("TieBreakDecision"), stage.count("PlanVerifierResult")), (1, 0));
    let standing: Vec<Live> = planned.plans.iter().cloned().map(Live::Compiled).collect();
    assert_eq!(stage.standing(), standing);
    // Both are carried out at once, step by step.
    let dispatched: Vec<_> = planned.plans.into_iter().map(|plan| stage.begin(plan)).collect();
    assert_eq!(stage.count("PlanVerifierResult"), 2);
    let mut started = Vec::new();
    for one in dispatched {
        let revise::Next::Work(work) = stage.start(one) else { panic!("a step") };
        started.extend(work);
        stage.is_clean();
    }
    assert_eq!(revise::findings(&stage.desk, &started[0]).len(), 1);
    let mut on = Vec::new();
    for one in started {
        let base = stage.base(one.artifact());
        let answer = match one.work() {
            Work::Repair => Answer::Text("{\"in form\": true}".into()),
            Work::Section { .. } | Work::Search(_) | Work::Cite(_) | Work::Without(_) | Work::Rewrite => {
                drafter(&one, &base)
            }
        };
        let revise::After::On(next) = stage.done(one, &answer) else { panic!("it goes on") };
        on.push(next);
        stage.is_clean();
    }
    for one in on {
        let revise::Next::Done(stepped) = stage.start(one) else { panic!("all steps are over") };
        assert_eq!(stage.review(stepped), Reviewed::Accepted);
        stage.is_clean();
    }
    let settled = stage.look_again();
    stage.is_clean();
    assert_eq!(settled.len(), 2);
    for id in ["term-stated", "data-in-form", "all"] {
        assert_eq!(stage.state(id), State::Satisfied, "{id}");
    }
    // No source is held against the document in JSON.
    assert_eq!(stage.hand_over_heads(), "rely_with_limitations");
    stage.is_clean();
}

pub(crate) const TWO: &str = r#"{
  "schema_version": "1.0", "id": "two", "title": "Two", "goal": "Say how long the lease runs, and keep the form.",
  "artifacts": [
    {"id": "memo", "path": "memo.md", "kind": "markdown", "sections": [
      {"id": "term", "heading": "Term", "ask": "How long does the lease run?", "quotes": 1}]},
    {"id": "data", "path": "data.json", "kind": "json", "from": "data.json"}],
  "sources": [{"id": "lease", "path": "sources/lease.md", "kind": "document", "trust_basis": "user_supplied",
    "verified_by": "ana", "tier": 2, "data_class": "privileged", "privileged": true}],
  "outcomes": [
    {"id": "term-stated", "statement": "The memo says how long the lease runs.", "section": "term", "artifact": "memo",
      "required": false, "criteria": [
        {"id": "term-cited", "text": "Two places are cited.", "basis": "deterministic_check", "required": true,
          "check": {"kind": "citations", "min": 2}, "threshold": 1},
        {"id": "term-grounded", "text": "Every sentence stands in a source.", "basis": "source_grounded", "required": true,
          "threshold": 1, "weight": 3}]},
    {"id": "data-in-form", "statement": "The data has its form.", "artifact": "data", "high_stakes": true,
      "criteria": [{"id": "data-form", "text": "It is valid.", "basis": "deterministic_check", "required": true,
        "check": {"kind": "json_schema", "schema": "data.schema.json"}, "threshold": 1}]},
    {"id": "all", "statement": "All is there.", "artifact": "memo", "depends_on": ["term-stated", "data-in-form"],
      "criteria": [{"id": "has-term", "text": "There is a section.", "basis": "deterministic_check", "required": true,
        "check": {"kind": "section", "heading": "Term"}, "threshold": 1}]}],
  "policies": {"approval": {"revision": "waived"}}
}"#;

#[test]
fn a_text_that_nobody_drafted_here_takes_somebody_who_writes() {
    let task = task("waived").replace(
        r#""kind": "markdown", "sections": ["#,
        r#""kind": "markdown", "from": "memo.md", "sections": ["#,
    );
    let task = task.replace(
        r#"{"id": "term", "heading": "Term", "ask": "How long does the lease run?", "quotes": 1},"#,
        "",
    );
    let mut able: Vec<(&str, bool)> = ABLE.iter().map(|id| (*id, true)).collect();
    for can_write in [false, true] {
        if can_write {
            able.push(("rewrite_text", true));
        }
        let mut stage = Stage::able(
            &task.replace(r#""section": "term""#, r#""section": "Term""#),
            &[("lease", LEASE)],
            &able,
        );
        stage.version("memo", &memo(END, RENT));
        stage.look_again();
        let planned = stage.plan();
        stage.is_clean();
        assert_eq!(planned.plans.len(), usize::from(can_write));
        for plan in planned.plans {
            stage.carry(plan, |started, _| {
                assert_eq!(started.work(), &Work::Rewrite);
                Answer::Text(memo(&format!("{END} {EXTEND}"), RENT))
            });
            stage.look_again();
            stage.is_clean();
        }
        let state = if can_write { State::Satisfied } else { State::Unrecoverable };
        assert_eq!(stage.state("term-stated"), state);
    }
}
