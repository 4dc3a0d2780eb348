//! Small tasks that end in different ways, and who takes part in each.
//! Owns: what they ask, and what a model says that is asked for it. Must not: know a fault.

use countersign_record::json;
use countersign_work::task::{self, Criterion, Task};

/// Who answers the questions of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    /// The model that quotes, which is asked nothing.
    Quotes,
    /// A model on this machine.
    Here,
    /// A model that questions leave the machine for.
    Elsewhere,
}

/// What a task is run with.
pub(super) struct Scene {
    pub(super) name: &'static str,
    pub(super) task: Task,
    pub(super) sources: &'static [(&'static str, &'static str)],
    pub(super) voice: Voice,
    /// What is answered where a question has these words.
    pub(super) says: &'static [(&'static str, &'static str)],
    /// Whether all runs of the matter spend from one purse.
    pub(super) is_capped: bool,
    /// Whether the evidence leaves once the run is over.
    pub(super) leaves: bool,
}

impl Scene {
    fn new(name: &'static str, task: &str) -> Self {
        let task = task::read_whole(&json::parse(task.as_bytes()).unwrap()).unwrap();
        let (voice, says) = (Voice::Quotes, &[][..]);
        Scene { name, task, sources: &[("lease", LEASE)], voice, says, is_capped: false, leaves: false }
    }

    fn told_by(self, voice: Voice, says: &'static [(&'static str, &'static str)]) -> Self {
        Scene { voice, says, ..self }
    }

    /// How many questions a stage asks, at most.
    pub(super) fn at_once(&self) -> usize {
        let all = self.task.outcomes.iter().flat_map(|one| &one.criteria);
        all.filter(|one| one.rubric.is_some()).count().max(1)
    }

    /// How many commands a look at the work runs.
    pub(super) fn commands(&self) -> usize {
        let all = self.task.outcomes.iter().flat_map(|one| &one.criteria);
        all.filter_map(Criterion::command).count()
    }
}

const LEASE: &str = "# Lease\n\nThe lease of the warehouse ends on 31 May 2027.\n\n\
    The lease of the warehouse ends early if the rent stays unpaid for 60 days.\n\nThe rent is 900 euros a month.\n";
const ADDENDUM: &str = "# Addendum\n\nThe lease of the warehouse ends on 30 June 2028.\n";

const PLAIN: &str = r#"{
  "schema_version": "1.0", "id": "lease-memo", "title": "Memo", "goal": "Say when the lease ends.",
  "artifacts": [{"id": "memo", "path": "memo.md", "kind": "markdown", "title": "Memo",
    "sections": [{"id": "term", "heading": "Term", "ask": "When does the lease of the warehouse end?", "quotes": 1}]}],
  "sources": [{"id": "lease", "path": "sources/lease.md", "kind": "document", "trust_basis": "user_supplied",
    "verified_by": "ana", "tier": 2}],
  "outcomes": [{"id": "term-stated", "statement": "The memo says when the lease ends.", "section": "term",
    "criteria": [
      {"id": "has-term", "text": "There is a section on the term.", "basis": "deterministic_check", "required": true,
        "check": {"kind": "section", "heading": "Term"}, "threshold": 1},
      {"id": "grounded", "text": "Every sentence stands in a source.", "basis": "source_grounded", "required": true,
        "threshold": 1, "weight": 3}]}]
}"#;

/// A program that is held to a CodeSpec.
const CODE: &str = r#"{
  "schema_version": "1.0", "id": "lease-code", "title": "Days", "goal": "Write a function that says when the lease ends.",
  "artifacts": [{"id": "code", "path": "days.py", "kind": "code", "title": "Days", "codespec": "builtin:python",
    "language": "python", "filename": "days.py"}],
  "sources": [{"id": "lease", "path": "sources/lease.md", "kind": "document", "trust_basis": "user_supplied",
    "verified_by": "ana", "tier": 2}],
  "outcomes": [{"id": "function", "statement": "There is a function.",
    "criteria": [
      {"id": "has-function", "text": "It defines last_day.", "basis": "deterministic_check", "required": true,
        "check": {"kind": "mentions", "all": ["def last_day"]}, "threshold": 1}]}]
}"#;

/// How questions are told apart: what a draft, a program, a repair of it, a verdict and a change are asked for with.
const DRAFT: &str = "Write from the facts";
const PROGRAM: &str = "Write one file";
const REPAIR: &str = "# Violations";
const JUDGE: &str = "Judge a text by one criterion";
const REWRITE: &str = "Put this text right";

/// The text of the memo, as a model writes it.
const WRITTEN: &str =
    "# Memo\n\n## Term\n\nThe lease of the warehouse ends on 31 May 2027. [sources/lease.md:3]\n";
/// The same with a sentence that no source says.
const WRONG: &str = "# Memo\n\n## Term\n\nThe lease of the warehouse ends on 31 May 2027. [sources/lease.md:3]\n\n\
    The landlord owns a boat.\n";
/// A program that opens a file, which its CodeSpec forbids, and one that does not.
const OPENS: &str = "```python\n\"\"\"The end of the lease.\"\"\"\n\nimport logging\n\nlogger = logging.getLogger(__name__)\n\n\n\
    def last_day(path):\n    \"\"\"Give the last day.\"\"\"\n    return open(path).read()\n```\n";
const KEEPS: &str = "```python\n\"\"\"The end of the lease.\"\"\"\n\nimport logging\n\nlogger = logging.getLogger(__name__)\n\n\n\
    def last_day():\n    \"\"\"Give the last day.\"\"\"\n    return \"2027-05-31\"\n```\n";

/// A task with more members.
fn with(members: &str) -> String {
    PLAIN.replace(r#""outcomes": ["#, &format!("{members}, \"outcomes\": ["))
}

/// A task with more criteria.
fn held(task: &str, criteria: &str) -> String {
    task.replace(r#"{"id": "grounded""#, &format!(r#"{criteria}, {{"id": "grounded""#))
}

/// A task in which programs look for these words.
fn looked_over(task: &str, words: &[&str]) -> String {
    let one = |(at, word): (usize, &&str)| {
        format!(
            r#"{{"id": "looked-{at}", "text": "A program finds it.", "basis": "deterministic_check", "required": true,
              "check": {{"kind": "command", "argv": ["grep", "-q", "{word}", "memo.md"]}}, "threshold": 1}}"#
        )
    };
    let all: Vec<String> = words.iter().enumerate().map(one).collect();
    held(task, &all.join(", ")).replace(r#""goal""#, r#""capabilities": ["shell"], "goal""#)
}

pub(super) fn scenes() -> Vec<Scene> {
    let more = r#"{"id": "two-quotes", "text": "The term is told with what may change it.", "basis": "deterministic_check",
        "required": true, "check": {"kind": "mentions", "all": ["60 days"]}, "threshold": 1}"#;
    let second = r#""tier": 2}, {"id": "addendum", "path": "sources/addendum.md", "kind": "document",
        "trust_basis": "user_supplied", "verified_by": "ana", "tier": 2}"#;
    let disagree = with(r#""policies": {"claim_support": {"contradiction": "human_review_required"}}"#)
        .replace(r#""tier": 2}"#, second);
    let waived = with(r#""policies": {"approval": {"revision": "waived"}}"#);
    let rubric = |id: &str| {
        format!(
            r#"{{"id": "{id}", "text": "It is {id}.", "basis": "anchored_rubric", "required": true, "threshold": 1,
              "rubric": [{{"level": 0, "text": "no"}}, {{"level": 1, "text": "yes"}}]}}"#
        )
    };
    let judged = held(&with(r#""work": {"judge": "model"}"#), &[rubric("plain"), rubric("short")].join(", "));
    let writes: &[_] = &[(DRAFT, WRITTEN)];
    let judges: &[_] = &[(DRAFT, WRITTEN), (JUDGE, "{\"level\": 1}")];
    let mends: &[_] = &[(DRAFT, WRONG), (REWRITE, WRITTEN)];
    let both: &[_] = &[("lease", LEASE), ("addendum", ADDENDUM)];
    vec![
        Scene { leaves: true, ..Scene::new("passes", PLAIN) },
        Scene::new("is mended", &held(PLAIN, more)),
        Scene { sources: both, ..Scene::new("asks which source counts", &disagree) },
        Scene::new("is agreed on first", &with(r#""policies": {"approval": {"contract": "required"}}"#)),
        Scene::new("is written by a model", PLAIN).told_by(Voice::Here, writes),
        Scene::new("is written elsewhere", PLAIN).told_by(Voice::Elsewhere, writes),
        Scene::new("has a small budget", &with(r#""budget": {"output_tokens": 100}"#))
            .told_by(Voice::Here, writes),
        Scene { leaves: true, ..Scene::new("is looked over", &looked_over(PLAIN, &["31 May 2027", "Term"])) },
        Scene::new("is mended for a program", &looked_over(&waived, &["60 days"])),
        Scene::new("is code", CODE).told_by(Voice::Here, &[(PROGRAM, OPENS), (REPAIR, KEEPS)]),
        Scene::new("is code from elsewhere", CODE)
            .told_by(Voice::Elsewhere, &[(PROGRAM, OPENS), (REPAIR, KEEPS)]),
        Scene { is_capped: true, ..Scene::new("is judged", &judged).told_by(Voice::Here, judges) },
        Scene::new("is judged and looked over", &looked_over(&judged, &["Term"]))
            .told_by(Voice::Here, judges),
        Scene { is_capped: true, ..Scene::new("is judged elsewhere", &judged) }
            .told_by(Voice::Elsewhere, judges),
        Scene { is_capped: true, ..Scene::new("is rewritten", &waived).told_by(Voice::Here, mends) },
    ]
}
