//! Runs in which work is mended, or can't be; and that whatever happens in one, its packet verifies.

use crate::revising::{Answer, Others};
use crate::sound::told;
use crate::stage::Stage;
use countersign_testkit::forge::{file, key};
use countersign_verify::report::Outcome;
use countersign_verify::verify;
use countersign_work::research;
use countersign_work::revise::{self, Started, Work};
use std::collections::BTreeSet;

/// A memo of two sections; `APPROVAL`, `VERIFIED` and `ATTEMPTS` are filled in.
const TASK: &str = r#"{
  "schema_version": "1.0", "id": "lease-memo", "title": "Memo", "goal": "Say how long the lease runs.",
  "artifacts": [{"id": "memo", "path": "memo.md", "kind": "markdown", "sections": [
    {"id": "term", "heading": "Term", "ask": "How long does the lease run?", "quotes": 17},
    {"id": "rent", "heading": "Rent", "ask": "What is the rent?", "quotes": 1}]}],
  "sources": [{"id": "lease", "path": "sources/lease.md", "kind": "document", "trust_basis": "user_supplied",
    "tier": 2VERIFIED}],
  "outcomes": [
    {"id": "term-stated", "statement": "The memo says how long the lease runs.", "section": "term",
      "criteria": [
        {"id": "term-cited", "text": "Two places are cited.", "basis": "deterministic_check", "required": true,
          "check": {"kind": "citations", "min": 2}, "threshold": 1},
        {"id": "term-grounded", "text": "Every sentence stands in a source.", "basis": "source_grounded", "required": true,
          "threshold": 1, "weight": 3}]},
    {"id": "rent-stated", "statement": "The memo says what the rent is.", "section": "rent", "depends_on": ["term-stated"],
      "criteria": [
        {"id": "rent-named", "text": "An amount is named.", "basis": "deterministic_check", "required": true,
          "check": {"kind": "matches", "pattern": "\\d+ euros"}, "threshold": 1}]}],
  "policies": {"approval": {"revision": "APPROVAL"}, "sufficiency": {"attempts_max": ATTEMPTS}}
}"#;
const LEASE: &str = "# Lease\n\nThe lease of the warehouse ends on 31 May 2027.\n\nThe rent is 900 euros a month.\n\n\
    The tenant may extend the lease until 31 May 2030.\n\nThe lease began on 1 June 2022.\n";
const END: &str = "The lease of the warehouse ends on 31 May 2027. [sources/lease.md:3]";
const RENT: &str = "The rent is 900 euros a month. [sources/lease.md:5]";
const EXTEND: &str = "The tenant may extend the lease until 31 May 2030. [sources/lease.md:7]";
const BEGAN: &str = "The lease began on 1 June 2022. [sources/lease.md:9]";
const BOAT: &str = "The landlord owns a boat.";
const BY_ANA: &str = r#", "verified_by": "ana""#;
/// A source that is out of date by the time it is taken in.
const STALE: &str = r#", "verified_by": "ana", "fresh_until": "2025-06-01T00:00:00Z""#;

fn task(approval: &str, verified: &str, attempts: usize) -> String {
    let task = TASK.replace("APPROVAL", approval).replace("VERIFIED", verified);
    task.replace("ATTEMPTS", &attempts.to_string())
}

fn memo(term: &str) -> String {
    format!("# Memo\n\n## Term\n\n{term}\n\n## Rent\n\n{RENT}\n")
}

/// Others who do the same over and over: what comes of each step, and what is chosen in turn.
pub(crate) struct Set(pub(crate) fn(&Started, &str) -> Answer, pub(crate) Vec<&'static str>);

impl Others for Set {
    fn step(&mut self, started: &Started, base: &str) -> Answer {
        self.0(started, base)
    }

    fn choose(&mut self, options: &[String]) -> String {
        assert!(!self.1.is_empty(), "nobody thought of {options:?}");
        self.1.remove(0).to_owned()
    }
}

fn same(_: &Started, base: &str) -> Answer {
    Answer::Text(base.to_owned())
}

fn nothing(_: &Started, _: &str) -> Answer {
    Answer::Nothing
}

fn run(task: &str, draft: &str, mut others: Set, status: &str) -> Stage {
    let mut stage = Stage::new(task, &[("lease", LEASE)], &[]);
    assert_eq!(stage.whole(draft, &mut others), status);
    assert_eq!(others.1, Vec::<&str>::new());
    stage
}

/// A change that a person turns down, and nothing else that would do.
pub(crate) fn given_up() -> Stage {
    let draft = memo(&format!("{END} {EXTEND} {BOAT}"));
    run(&task("required", BY_ANA, 3), &draft, Set(nothing, vec!["reject"]), "not_safe_to_rely")
}

/// A section that comes back as it was, however it is asked for, until a person gives it up.
pub(crate) fn asked_again() -> Stage {
    let others = Set(same, vec!["retry", "stop"]);
    let task = task("waived", BY_ANA, 3).replace(r#""quotes": 17"#, r#""quotes": 15"#);
    let mut stage = Stage::new(&task, &[("lease", LEASE)], &[]);
    let mut others = others;
    stage.whole(&memo(END), &mut others);
    stage
}

/// A source that is out of date, until a person has verified it.
pub(crate) fn verified_late() -> Stage {
    let draft = memo(&format!("{END} {EXTEND}"));
    run(&task("waived", STALE, 3), &draft, Set(nothing, vec!["verified"]), "safe_to_rely_within_scope")
}

/// Sources that have nothing more.
pub(crate) fn uninformed() -> Stage {
    run(&task("waived", BY_ANA, 3), &memo(END), Set(nothing, vec![]), "not_safe_to_rely")
}

/// Work for which something must be done that nobody here can do.
pub(crate) fn unable() -> Stage {
    let task = task("waived", BY_ANA, 3)
        .replace(r#""section": "term","#, r#""section": "term", "capabilities": ["draw-map"],"#);
    run(&task, &memo(BOAT), Set(nothing, vec![]), "not_safe_to_rely")
}

/// The same, and a person who answers from a source all the same.
pub(crate) fn need_answered() -> Stage {
    let mut stage = uninformed();
    let need = research::all(&stage.desk).pop().unwrap().need_id;
    stage.command("research.answer_need", &format!(r#"{{"need_id": "{need}", "source": "lease"}}"#));
    stage.command("reliance.renew_packet", "{}");
    stage
}

/// A run that goes back to a checkpoint long after a change was decided on.
pub(crate) fn gone_back() -> Stage {
    let draft = memo(&format!("{END} {EXTEND} {BOAT}"));
    let mut stage =
        run(&task("required", BY_ANA, 3), &draft, Set(nothing, vec!["accept"]), "safe_to_rely_within_scope");
    stage.command("checkpoint.create", "{}");
    stage.command("revision_review.restore_known_good", r#"{"rationale": "it was good then"}"#);
    stage.command("reliance.renew_packet", "{}");
    stage
}

/// What happens next, by numbers that follow from a seed.
struct Chance {
    state: u32,
    /// Questions that were answered: after some the person has enough.
    answers: usize,
}

/// Questions that are answered by going on; then the person has enough.
const PATIENCE: usize = 3;

impl Chance {
    fn of(&mut self, count: usize) -> usize {
        self.state = self.state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        usize::from(self.state.to_be_bytes()[0]) % count
    }
}

impl Others for Chance {
    fn step(&mut self, started: &Started, base: &str) -> Answer {
        match (started.work(), self.of(6)) {
            (_, 1) => Answer::Fails,
            (_, 2) | (Work::Search(_), _) => Answer::Nothing,
            (_, 3) => Answer::Text(base.to_owned()),
            (Work::Section { quotes, .. }, 4) => Answer::Text(revise::edit::with_section(
                base,
                "Term",
                &format!("{BOAT} It has {quotes} masts."),
            )),
            (_, _) => {
                let all = [END, EXTEND, BEGAN];
                let most = 1 + self.of(all.len());
                Answer::Text(revise::edit::with_section(base, "Term", &all[..most].join(" ")))
            }
        }
    }

    fn choose(&mut self, options: &[String]) -> String {
        self.answers += 1;
        let at = if self.answers > PATIENCE { options.len() - 1 } else { self.of(options.len()) };
        options[at].clone()
    }
}

#[test]
fn whatever_happens_the_packet_verifies() {
    let mut reached = BTreeSet::new();
    for seed in (0_u32..24).chain(80..96) {
        let mut chance = Chance { state: seed.wrapping_mul(0x9e37_79b9), answers: 0 };
        let approval = ["waived", "required", "mechanical_waived"][chance.of(3)];
        let verified = ["", BY_ANA, BY_ANA, STALE][chance.of(4)];
        let drafts =
            [format!("{END} {BOAT}"), format!("{BOAT} It has a mast."), BEGAN.to_owned(), END.to_owned()];
        let draft = memo(&drafts[chance.of(drafts.len())]);
        let task = task(approval, verified, 1 + chance.of(4));
        let mut stage = Stage::new(&task, &[("lease", LEASE)], &[]);
        reached.insert(stage.whole(&draft, &mut chance));
        let report = verify(&file(&stage.statement(), &key(1)), &[]);
        assert_eq!(report.result, Outcome::Verified, "seed {seed}:\n{}", told(&report));
    }
    assert!(reached.len() > 1, "they all came to {reached:?}");
}
