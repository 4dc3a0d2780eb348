//! Looks at outcomes, and what comes of them.

use crate::stage::{Answer, GOOD, LEASE, Stage, TASK};
use countersign_govern::types::claim::ClaimSupportStatus;
use countersign_govern::types::outcome::{EvaluationVerdict as Verdict, OutcomeEvaluationState as State};
use countersign_work::revise::Reviewed;

#[test]
fn what_stands_in_a_source_passes() {
    let mut stage = Stage::new(TASK, &[("lease", LEASE)]);
    let text = "# Memo\n\n## Term\n\nThe lease of the warehouse ends on 31 May 2027. [sources/lease.md:3]\n";
    let version = stage.version("memo", text);
    let (claims, looked) = stage.look("memo", &version, text);
    stage.is_clean();
    assert_eq!(claims.iter().map(|one| one.status).collect::<Vec<_>>(), [ClaimSupportStatus::Supported]);
    assert_eq!(looked.len(), 1);
    assert_eq!((looked[0].verdict, looked[0].state), (Verdict::Passed, State::Satisfied));
}

#[test]
fn what_passes_can_be_relied_on() {
    let mut stage = Stage::new(TASK, &[("lease", LEASE)]);
    let text = "# Memo\n\n## Term\n\nThe lease of the warehouse ends on 31 May 2027. [sources/lease.md:3]\n";
    let version = stage.version("memo", text);
    let (claims, _) = stage.look("memo", &version, text);
    assert_eq!(stage.hand_over(&claims), "safe_to_rely_within_scope");
    stage.is_clean();
}

#[test]
fn a_section_that_is_missing_blocks() {
    let mut stage = Stage::new(TASK, &[("lease", LEASE)]);
    let text = "# Memo\n\n## Rent\n\nThe rent is 900 euros a month. [sources/lease.md:5]\n";
    let version = stage.version("memo", text);
    let (claims, looked) = stage.look("memo", &version, text);
    assert_eq!((looked[0].verdict, looked[0].state), (Verdict::Failed, State::NeedsRevision));
    assert_eq!(stage.hand_over(&claims), "not_safe_to_rely");
    stage.is_clean();
}

#[test]
fn a_sentence_that_no_source_says_limits_or_blocks() {
    let text = "# Memo\n\n## Term\n\nThe lease of the warehouse ends on 31 May 2027. [sources/lease.md:3]\n\
        The landlord owns a boat.\n";
    let mut stage = Stage::new(TASK, &[("lease", LEASE)]);
    let version = stage.version("memo", text);
    let (claims, looked) = stage.look("memo", &version, text);
    assert_eq!(looked[0].state, State::NeedsRevision);
    assert_eq!(stage.hand_over(&claims), "not_safe_to_rely");
    stage.is_clean();
    let lenient = TASK.replace(r#""threshold": 1, "weight": 3"#, r#""threshold": 0.5, "weight": 3"#);
    let lenient = lenient.replace(r#""statement""#, r#""threshold": 0.5, "statement""#);
    let mut stage = Stage::new(&lenient, &[("lease", LEASE)]);
    let version = stage.version("memo", text);
    let (claims, looked) = stage.look("memo", &version, text);
    assert_eq!(looked[0].state, State::Satisfied);
    assert_eq!(stage.hand_over(&claims), "rely_with_limitations");
    stage.is_clean();
}

#[test]
fn sources_that_disagree_are_a_matter_for_a_person() {
    let task = TASK
        .replace(r#""outcomes""#, r#""policies": {"claim_support": {"contradiction": "human_review_required"}}, "outcomes""#)
        .replace(
            r#""tier": 2}]"#,
            r#""tier": 2}, {"id": "letter", "path": "sources/letter.md", "kind": "email", "trust_basis": "user_supplied", "verified_by": "ana"}]"#,
        );
    let lease = "# Lease\n\nThe tenant may give notice of six months to the landlord.\n";
    let letter = "The tenant may give notice of three months to the landlord.\n";
    let mut stage = Stage::new(&task, &[("lease", lease), ("letter", letter)]);
    let text = "# Memo\n\n## Term\n\nThe tenant may give notice of six months to the landlord. [sources/lease.md:3]\n";
    let version = stage.version("memo", text);
    let (claims, looked) = stage.look("memo", &version, text);
    assert_eq!(claims[0].status, ClaimSupportStatus::Contradicted);
    assert_eq!((looked[0].verdict, looked[0].state), (Verdict::Indeterminate, State::NeedsHumanJudgment));
    stage.is_clean();
    let question = looked[0].question.clone().unwrap();
    assert!(stage.answer(&question, "prefer-nobody").is_err());
    stage.answer(&question, "prefer-lease").unwrap();
    assert!(stage.answer(&question, "prefer-lease").is_err());
    stage.is_clean();
    let (claims, looked) = stage.look("memo", &version, text);
    assert_eq!(claims[0].status, ClaimSupportStatus::Supported);
    assert_eq!(looked[0].state, State::Satisfied);
    assert_eq!(stage.hand_over(&claims), "safe_to_rely_within_scope");
    stage.is_clean();
}

/// A task with a criterion that rests on nothing.
fn unanchored() -> Stage {
    let task = TASK.replace(
        r#""criteria": ["#,
        r#""criteria": [{"id": "tone", "text": "The tone is right.", "basis": "unanchored_llm_judgment", "required": true},"#,
    );
    Stage::new(&task, &[("lease", LEASE)])
}

#[test]
fn what_rests_on_nothing_counts_on_a_persons_word() {
    for (word, state) in [("yes", State::Satisfied), ("no", State::NeedsRevision)] {
        let mut stage = unanchored();
        let version = stage.version("memo", GOOD);
        let (_, looked) = stage.look("memo", &version, GOOD);
        assert_eq!(looked[0].state, State::NeedsHumanJudgment);
        stage.is_clean();
        stage.answer(&looked[0].question.clone().unwrap(), word).unwrap();
        stage.is_clean();
        let (_, looked) = stage.look("memo", &version, GOOD);
        assert_eq!(looked[0].state, state);
        stage.is_clean();
    }
}

#[test]
fn a_finding_that_is_worse_now_is_another_event_of_it() {
    let task = TASK
        .replace(r#""outcomes""#, r#""policies": {"claim_support": {"contradiction": "human_review_required"}}, "outcomes""#)
        .replace(
            r#""tier": 2}]"#,
            r#""tier": 2}, {"id": "letter", "path": "sources/letter.md", "kind": "email", "trust_basis": "user_supplied", "verified_by": "ana"}]"#,
        );
    let lease = "# Lease\n\nThe tenant may give notice of six months to the landlord.\n";
    let letter = "The tenant may give notice of three months to the landlord.\n";
    let mut stage = Stage::new(&task, &[("lease", lease), ("letter", letter)]);
    let text = "# Memo\n\n## Term\n\nThe tenant may give notice of six months to the landlord. [sources/lease.md:3]\n";
    let version = stage.version("memo", text);
    let (_, looked) = stage.look("memo", &version, text);
    stage.answer(&looked[0].question.clone().unwrap(), "prefer-letter").unwrap();
    let (claims, looked) = stage.look("memo", &version, text);
    assert_eq!(looked[0].state, State::NeedsRevision);
    let found = countersign_work::finding::all(&stage.desk);
    assert_eq!(found.iter().map(|one| one.event.severity.as_str()).collect::<Vec<_>>(), ["blocking"]);
    assert_eq!(stage.hand_over(&claims), "not_safe_to_rely");
    stage.is_clean();
}

/// A task whose judge wants more than its evaluator.
fn disputed() -> String {
    let wanted = r#""threshold": 0.9, "criteria": [{"id": "long", "text": "It is long.", "basis": "deterministic_check", "weight": 5, "check": {"kind": "length", "words_min": 400}},"#;
    TASK.replace(r#""criteria": ["#, wanted)
}

#[test]
fn whom_evaluator_and_judge_ask_has_the_last_word_on_that_version() {
    for (word, verdict, state, status) in [
        ("accept", Verdict::Passed, State::Satisfied, "safe_to_rely_within_scope"),
        ("revise", Verdict::Failed, State::NeedsRevision, "not_safe_to_rely"),
    ] {
        let mut stage = Stage::new(&disputed(), &[("lease", LEASE)]);
        let version = stage.version("memo", GOOD);
        let (_, looked) = stage.look("memo", &version, GOOD);
        assert_eq!((looked[0].verdict, looked[0].state), (Verdict::Indeterminate, State::NeedsHumanJudgment));
        assert!(looked[0].is_disputed);
        stage.answer(&looked[0].question.clone().unwrap(), word).unwrap();
        let (claims, looked) = stage.look("memo", &version, GOOD);
        assert_eq!((looked[0].verdict, looked[0].state), (verdict, state), "{word}");
        assert_eq!((looked[0].is_disputed, looked[0].question.clone()), (false, None), "{word}");
        assert_eq!(stage.hand_over(&claims), status, "{word}");
        stage.is_clean();
    }
}

#[test]
fn a_word_on_one_version_says_nothing_of_the_next() {
    let mut stage = Stage::new(&disputed(), &[("lease", LEASE)]);
    let version = stage.version("memo", GOOD);
    let (_, looked) = stage.look("memo", &version, GOOD);
    stage.answer(&looked[0].question.clone().unwrap(), "revise").unwrap();
    stage.look("memo", &version, GOOD);
    let text = format!("{GOOD}\nThe rent is 900 euros a month. [sources/lease.md:5]\n");
    let plan = stage.one_plan();
    let Some(Reviewed::Asked(asked)) = stage.carry(plan, |_, _| Answer::Text(text.clone())) else {
        panic!("a person is asked")
    };
    stage.answer(asked.question(), "accept").unwrap();
    assert_eq!(stage.text("memo"), text);
    stage.look_again();
    assert_eq!(stage.state("term-stated"), State::NeedsHumanJudgment);
    stage.answer(&stage.question(), "stop").unwrap();
    assert_eq!(countersign_work::outcome::state(&stage.desk, "term-stated"), State::Superseded);
    stage.is_clean();
}

/// Rows, code, headings that say something and questions are held against no source: that limits what may be relied on.
#[test]
fn what_no_source_is_held_against_limits_the_work() {
    for part in [
        "| Rent | 5 euros |\n",
        "```\nThe landlord owes the tenant much.\n```\n",
        "### The tenant may leave at once\n",
        "Is it not so that the tenant owns the building?\n",
    ] {
        let mut stage = Stage::small();
        let text = format!("{GOOD}\n{part}");
        let version = stage.version("memo", &text);
        let (claims, looked) = stage.look("memo", &version, &text);
        assert_eq!(looked[0].verdict, Verdict::Passed, "{part}");
        assert_eq!(
            claims.iter().map(|one| one.status).collect::<Vec<_>>(),
            [ClaimSupportStatus::Supported, ClaimSupportStatus::NotChecked]
        );
        assert_eq!(stage.hand_over(&claims), "rely_with_limitations", "{part}");
        stage.is_clean();
    }
}

/// A sentence that stands twice is one claim, with what both cite.
#[test]
fn a_copy_hides_no_citation() {
    let mut stage = Stage::small();
    let text = format!("{GOOD}\nThe lease of the warehouse ends on 31 May 2027. [sources/nothere.md:4]\n");
    let version = stage.version("memo", &text);
    let (claims, _) = stage.look("memo", &version, &text);
    assert_eq!(
        claims.iter().map(|one| one.status).collect::<Vec<_>>(),
        [ClaimSupportStatus::PartiallySupported]
    );
    stage.is_clean();
}

/// A criterion of each basis that nobody scores by itself.
const LABEL: &str = r#"{"id": "read", "text": "A partner agrees.", "basis": "human_label", "question": "Do you agree?", "labels": ["yes", "no"], "pass": ["yes"]MORE}"#;
const RUBRIC: &str = r#"{"id": "clear", "text": "It is clear.", "basis": "anchored_rubric", "rubric": [{"level": 0, "text": "no"}, {"level": 1, "text": "yes"}]MORE}"#;
const OPINION: &str = r#"{"id": "tone", "text": "It reads well.", "basis": "unanchored_llm_judgment"MORE}"#;
const CHECK: &str = r#"{"id": "has-term", "text": "It is there.", "basis": "deterministic_check", "check": {"kind": "section", "heading": "Term"}MORE}"#;

/// An outcome of these criteria, with what else it says; a criterion is optional where nothing is said.
fn of(members: &str, criteria: &[(&str, &str)]) -> Stage {
    let criteria: Vec<String> = criteria.iter().map(|(one, more)| one.replace("MORE", more)).collect();
    let (head, _) = TASK.split_once(r#""criteria": ["#).unwrap();
    let head = head.replace(r#""section": "term""#, &format!(r#""section": "term"{members}"#));
    Stage::new(&format!(r#"{head}"criteria": [{}]}}]}}"#, criteria.join(", ")), &[("lease", LEASE)])
}

/// What nobody scored is asked of a person where the task asks one, has it so, or nothing of the outcome would count; else it is named
/// and limits the work.
#[test]
fn what_nobody_scored_is_asked_or_named_and_never_silent() {
    let open = r#", "missing": "indeterminate""#;
    let kept = r#", "missing": "exclude_optional_with_penalty", "threshold": 0.2"#;
    let light = r#", "weight": 0"#;
    let limited = "rely_with_limitations";
    // What is asked in turn, with the answers, what nobody looked at in the end, and the status.
    type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [(&'a str, &'a str)], &'a [&'a str], &'a str);
    let safe = "safe_to_rely_within_scope";
    let cases: [Case<'_>; 12] = [
        ("", &[(LABEL, "")], &[("Do you agree?", "yes")], &[], safe),
        ("", &[(LABEL, r#", "required": false"#)], &[("Do you agree?", "yes")], &[], safe),
        ("", &[(CHECK, ""), (LABEL, "")], &[("Do you agree?", "yes")], &[], safe),
        ("", &[(RUBRIC, "")], &[("there is no judge", "yes")], &[], safe),
        ("", &[(OPINION, "")], &[("rests on nothing", "yes")], &[], safe),
        ("", &[(LABEL, ""), (RUBRIC, "")], &[("Do you agree?", "yes")], &["clear"], limited),
        ("", &[(CHECK, ""), (RUBRIC, "")], &[], &["clear"], limited),
        (kept, &[(CHECK, ""), (OPINION, "")], &[], &["tone"], limited),
        (open, &[(CHECK, ""), (RUBRIC, "")], &[("there is no judge", "yes")], &[], safe),
        (
            open,
            &[(CHECK, r#", "required": true"#), (LABEL, r#", "required": false"#)],
            &[("Do you agree?", "yes")],
            &[],
            safe,
        ),
        // What weighs nothing does not count, whatever its score is.
        ("", &[(CHECK, light), (RUBRIC, "")], &[("there is no judge", "yes")], &[], safe),
        ("", &[(CHECK, light), (OPINION, "")], &[("rests on nothing", "yes")], &[], safe),
    ];
    for (members, criteria, asked, unscored, status) in cases {
        let what = format!("{members} {criteria:?}");
        let mut stage = of(members, criteria);
        let version = stage.version("memo", GOOD);
        let (mut claims, mut looked) = stage.look("memo", &version, GOOD);
        for (words, answer) in asked {
            assert_eq!(
                (looked[0].verdict, looked[0].state),
                (Verdict::Indeterminate, State::NeedsHumanJudgment),
                "{what}"
            );
            let question = looked[0].question.clone().unwrap_or_else(|| panic!("{what}: nobody is asked"));
            let calls = countersign_work::call::open(&stage.desk);
            assert!(calls[0].prompt_text.contains(words), "{what}: {}", calls[0].prompt_text);
            stage.answer(&question, answer).unwrap();
            (claims, looked) = stage.look("memo", &version, GOOD);
        }
        assert_eq!((looked[0].verdict, looked[0].state), (Verdict::Passed, State::Satisfied), "{what}");
        let left: Vec<String> =
            countersign_work::evaluate::unscored(&stage.desk).into_iter().map(|one| one.criterion).collect();
        assert_eq!(left, unscored, "{what}");
        assert_eq!(stage.hand_over(&claims), status, "{what}");
        stage.is_clean();
    }
}

/// Where nothing counts there is no index; the next look has one.
#[test]
fn an_index_is_of_something() {
    let mut stage = of("", &[(RUBRIC, "")]);
    let version = stage.version("memo", GOOD);
    let (_, looked) = stage.look("memo", &version, GOOD);
    assert_eq!(stage.count("QualityIndex"), 0);
    stage.answer(&looked[0].question.clone().unwrap(), "yes").unwrap();
    stage.look("memo", &version, GOOD);
    assert_eq!(stage.count("QualityIndex"), 1);
    stage.is_clean();
}
