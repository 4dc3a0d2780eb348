//! Whatever happens while work is mended, in whatever order: the log is clean, and it ends.

use crate::revisions::TWO;
use crate::stage::{Answer, Stage};
use countersign_work::call;
use countersign_work::outcome;
use countersign_work::revise::{self, After, Live, Next, Started, Work};
use countersign_work::stop::{self, Scope};
use proptest::prelude::*;
use std::collections::BTreeSet;

const LEASE: &str = "# Lease\n\nThe lease of the warehouse ends on 31 May 2027.\n\n\
    The tenant may extend the lease until 31 May 2030.\n\nThe lease began on 1 June 2022.\n";
const SAID: [&str; 3] = [
    "The lease of the warehouse ends on 31 May 2027. [sources/lease.md:3]",
    "The tenant may extend the lease until 31 May 2030. [sources/lease.md:5]",
    "The lease began on 1 June 2022. [sources/lease.md:7]",
];
/// What a memo begins with: a part of what is asked for, nothing of it, or what no source says.
const MEMOS: [&str; 4] = [
    "The lease of the warehouse ends on 31 May 2027. [sources/lease.md:3] The landlord owns a boat.",
    "The landlord owns a boat. The boat has a mast.",
    "The sources do not say.",
    "The lease began on 1 June 2022. [sources/lease.md:7]",
];
const BOAT: &str = "The landlord owns a boat.";
/// Things that happen to one run, at most.
pub(crate) const STEPS_MAX: usize = 400;
/// Questions that are answered by going on; then the person has enough.
const PATIENCE: usize = 4;

/// What happens next, by numbers that somebody thought of.
struct Chance {
    numbers: Vec<u8>,
    at: usize,
}

impl Chance {
    fn of(&mut self, count: usize) -> usize {
        let number = self.numbers.get(self.at).copied().unwrap_or_default();
        self.at += 1;
        usize::from(number) % count
    }
}

pub(crate) struct Run {
    pub(crate) stage: Stage,
    chance: Chance,
    answers: usize,
    restarts: bool,
}

/// What a run begins with.
#[derive(Clone, Debug)]
pub(crate) struct Begin {
    approval: &'static str,
    memo: &'static str,
    is_verified: bool,
    attempts_max: u8,
}

pub(crate) fn begin() -> impl Strategy<Value = Begin> {
    let approval = prop::sample::select(vec!["waived", "required"]);
    let memo = prop::sample::select(MEMOS.to_vec());
    (approval, memo, prop::bool::weighted(0.8), 1_u8..5).prop_map(
        |(approval, memo, is_verified, attempts_max)| Begin { approval, memo, is_verified, attempts_max },
    )
}

impl Run {
    pub(crate) fn new(numbers: &[u8], begin: &Begin, restarts: bool) -> Self {
        let policies = format!(
            r#""policies": {{"approval": {{"revision": "{}"}}, "sufficiency": {{"attempts_max": {}}}}}"#,
            begin.approval, begin.attempts_max
        );
        let mut task = TWO.replace(r#""policies": {"approval": {"revision": "waived"}}"#, &policies);
        if !begin.is_verified {
            task = task.replace(r#""verified_by": "ana", "#, "");
        }
        let mut stage = Stage::new(&task, &[("lease", LEASE)]);
        stage.version("memo", &format!("# Memo\n\n## Term\n\n{}\n", begin.memo));
        stage.version("data", "{}");
        stage.look_again();
        Run { stage, chance: Chance { numbers: numbers.to_vec(), at: 0 }, answers: 0, restarts }
    }

    /// Lets something happen; whether something could.
    pub(crate) fn step(&mut self) -> bool {
        if self.restarts {
            self.stage.restart();
        }
        let mut live = self.stage.standing();
        if !live.is_empty() {
            let at = self.chance.of(live.len());
            self.carry(live.swap_remove(at));
            return true;
        }
        let task = self.stage.desk.task().clone();
        let states = || task.outcomes.iter().map(|one| outcome::state(&self.stage.desk, &one.id));
        let needs = |word: &str| states().any(|state| state.as_str() == word);
        if needs("needs_revision") || needs("regressed") {
            self.stage.plan();
        } else if needs("dirty") {
            self.look();
        } else if let Some(call) = call::open(&self.stage.desk).into_iter().next() {
            self.answers += 1;
            let last = call.options.len() - 1;
            let at = if self.answers > PATIENCE { last } else { self.chance.of(call.options.len()) };
            self.stage.answer(&call.hard_call_id, &call.options[at].option_id).unwrap();
        } else {
            return false;
        }
        true
    }

    /// One in ten plans is cancelled wherever it is.
    fn carry(&mut self, live: Live) {
        if self.chance.of(10) == 9 {
            let id = self.stage.words("RevisionPlan", "plan_id");
            self.stage.later();
            for id in id {
                if stop::cancel(&mut self.stage.desk, Scope::Plan(&id), "user:ana").is_ok() {
                    return;
                }
            }
        }
        match live {
            Live::Compiled(compiled) => {
                self.stage.begin(compiled);
            }
            Live::Dispatched(dispatched) => match self.stage.start(dispatched) {
                Next::Work(_) => {}
                Next::Done(stepped) => {
                    self.stage.review(stepped);
                }
            },
            Live::Running(mut started) => {
                let started = started.swap_remove(0);
                let answer = self.answer(&started);
                match self.stage.done(started, &answer) {
                    After::Again(_) | After::Others | After::On(_) | After::Over => {}
                }
            }
            Live::Asked(asked) => {
                let options = ["accept", "reject", "request_changes"];
                let option = options[self.chance.of(options.len())];
                self.stage.answer(asked.question(), option).unwrap();
            }
            Live::Revalidating => self.look(),
        }
    }

    /// A look, and what follows at once: what is handed to whoever plans must not lie there.
    fn look(&mut self) {
        self.stage.look_again();
        self.stage.plan();
    }

    /// What whoever carries a step out comes back with: good, the same, nothing, a failure, something bad.
    fn answer(&mut self, started: &Started) -> Answer {
        let base = self.stage.base(started.artifact());
        let kind = self.chance.of(6);
        match (started.work(), kind) {
            (_, 1) => Answer::Fails,
            (_, 2) => Answer::Nothing,
            (Work::Search(_), _) => Answer::Nothing,
            (_, 3) => Answer::Text(base),
            // Whoever made up the sentence cites nothing for it.
            (Work::Cite(_), _) => Answer::Nothing,
            (Work::Without(_), _) => started.alone(&base).map_or(Answer::Nothing, Answer::Text),
            (Work::Section { quotes, .. }, 4) => Answer::Text(revise::edit::with_section(
                &base,
                "Term",
                &format!("{BOAT} It has {quotes} masts."),
            )),
            (Work::Section { quotes, .. }, _) => {
                let most = usize::try_from(*quotes).unwrap().min(SAID.len());
                Answer::Text(revise::edit::with_section(&base, "Term", &SAID[..most].join(" ")))
            }
            (Work::Repair | Work::Rewrite, 4) => Answer::Text(format!("{base} ")),
            (Work::Repair | Work::Rewrite, _) => Answer::Text("{\"in form\": true}".into()),
        }
    }
}

fn ends(numbers: &[u8], begin: &Begin, restarts: bool, is_watched: bool) -> Stage {
    let mut run = Run::new(numbers, begin, restarts);
    let mut steps = 0;
    while run.step() {
        steps += 1;
        assert!(steps < STEPS_MAX, "it does not end");
        if is_watched {
            run.stage.is_clean();
        }
    }
    assert_eq!(run.stage.standing(), []);
    run.stage.hand_over_heads();
    run.stage.is_clean();
    run.stage
}

/// What chance leads to is not always the same thing.
#[test]
fn all_ends_are_reached() {
    let mut reached = BTreeSet::new();
    let mut number = 1_u32;
    for approval in ["waived", "required"] {
        for _ in 0..12 {
            let numbers: Vec<u8> = (0..60)
                .map(|_| {
                    number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    number.to_be_bytes()[0]
                })
                .collect();
            let begin = Begin { approval, memo: MEMOS[0], is_verified: true, attempts_max: 4 };
            let stage = ends(&numbers, &begin, false, false);
            reached.extend(stage.words("RevisionLifecycleTransitionEvent", "to_state"));
            reached.extend(stage.words("ProcedureAttemptRecord", "terminal_status"));
            reached.extend(stage.words("RegenerateAttemptReceipt", "action_taken"));
        }
    }
    for word in [
        "terminal_satisfied",
        "terminal_failed",
        "terminal_blocked",
        "cancelled",
        "regression_detected",
        "waiting_hard_call",
        "succeeded",
        "identical_output_rejected",
        "not_attempted_missing_evidence",
        "capability_failed",
        "changed_generation_policy",
        "escalated",
    ] {
        assert!(reached.contains(word), "{word} is not among {reached:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_the_log_is_clean_and_it_ends(
        numbers in prop::collection::vec(any::<u8>(), 0..80),
        begin in begin(),
    ) {
        ends(&numbers, &begin, false, true);
    }

    #[test]
    fn a_restart_between_any_two_steps_changes_nothing(
        numbers in prop::collection::vec(any::<u8>(), 0..80),
        begin in begin(),
    ) {
        let (one, other) = (ends(&numbers, &begin, false, false), ends(&numbers, &begin, true, false));
        let rows = |stage: &Stage| stage.desk.rows().cloned().collect::<Vec<_>>();
        prop_assert_eq!(rows(&one), rows(&other));
    }
}
