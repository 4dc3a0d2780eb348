//! A stage for tests: a task, its sources, texts, and steps on them.

use countersign_govern::check::{Severity, check};
use countersign_govern::decide::replay::Step;
use countersign_govern::reach;
use countersign_govern::types::added::policy::CapabilityState;
use countersign_govern::types::added::showing::{ActorKind, CommandReceipt};
use countersign_govern::types::outcome::OutcomeEvaluationState as State;
use countersign_govern::types::sufficiency::CandidateRepairProcedureSafetyClass as Safety;
use countersign_govern::world::{Draft, World};
use countersign_kernel::measure::Measured;
use countersign_record::digest::Digest;
use countersign_record::id::{MatterId, RunId};
use countersign_record::json;
use countersign_record::time::Timestamp;
use countersign_work::artifact::{self, Made, Version};
use countersign_work::call;
use countersign_work::claims::{self, Claimed, Source};
use countersign_work::command::{self, Asked, By, Effect, Refusal, Ruling};
use countersign_work::desk::Desk;
use countersign_work::evaluate::{self, Head, Looked};
use countersign_work::opening::{self, Given};
use countersign_work::outcome;
use countersign_work::rely;
use countersign_work::revise::{
    self, After, Begun, Budget, Compiled, Dispatched, Live, Means, Next, Planned, Produced, Reviewed,
    Settled, Started, Stepped,
};
use countersign_work::score::Seen;
use countersign_work::task::{self, Criterion, Task, TestKind};
use std::collections::BTreeMap;

/// What can be done on a stage.
pub(crate) const ABLE: [&str; 5] = ["draft", "evaluate", "quote_sources", "revise_by_quotes", "write_code"];

/// A task with one section, one source and one outcome.
pub(crate) const TASK: &str = r#"{
  "schema_version": "1.0", "id": "lease-memo", "title": "Memo", "goal": "Say how long the lease runs.",
  "artifacts": [{"id": "memo", "path": "memo.md", "kind": "markdown",
    "sections": [{"id": "term", "heading": "Term", "ask": "How long does the lease run?"}]}],
  "sources": [{"id": "lease", "path": "sources/lease.md", "kind": "document", "trust_basis": "user_supplied",
    "verified_by": "ana", "tier": 2}],
  "outcomes": [{"id": "term-stated", "statement": "The memo says how long the lease runs.", "section": "term",
    "criteria": [
      {"id": "has-term", "text": "There is a section on the term.", "basis": "deterministic_check", "required": true,
        "check": {"kind": "section", "heading": "Term"}, "threshold": 1},
      {"id": "grounded", "text": "Every sentence stands in a source.", "basis": "source_grounded", "required": true,
        "threshold": 1, "weight": 3}]}]
}"#;

pub(crate) const LEASE: &str =
    "# Lease\n\nThe lease of the warehouse ends on 31 May 2027.\n\nThe rent is 900 euros a month.\n";

/// A memo that the lease bears out.
pub(crate) const GOOD: &str =
    "# Memo\n\n## Term\n\nThe lease of the warehouse ends on 31 May 2027. [sources/lease.md:3]\n";

/// A memo that lacks what it must have.
pub(crate) const BAD: &str = "# Memo\n\n## Rent\n\nThe rent is 900 euros a month. [sources/lease.md:5]\n";

/// The task with more in it: members beside the outcomes.
pub(crate) fn task_with(members: &str) -> String {
    TASK.replace(r#""outcomes""#, &format!("{members}, \"outcomes\""))
}

pub(crate) struct Stage {
    pub(crate) desk: Desk,
    texts: Vec<(String, String, String)>,
    /// Texts of versions by their hashes.
    contents: BTreeMap<Digest, String>,
    pub(crate) seen: Seen,
    pub(crate) budget: Budget,
    /// The steps of the run, as a replay would take them.
    pub(crate) steps: Vec<Step>,
    /// Whether the run was cancelled.
    pub(crate) is_over: bool,
    seconds: i64,
    task: Task,
}

/// What whoever carries a step out comes back with.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Text(String),
    Nothing,
    Fails,
}

fn at(seconds: i64) -> Timestamp {
    let instant = countersign_record::time::Instant { seconds: 1_767_258_000 + seconds, nanos: 0 };
    Timestamp::try_from(instant).unwrap()
}

/// The run, where there is one.
const RUN: &str = "run_0123456789abcdef";

fn run(name: &str) -> (RunId, MatterId) {
    let run = RunId::try_from(name.to_owned()).unwrap();
    (run, MatterId::try_from("default".to_owned()).unwrap())
}

impl Stage {
    /// A run of a task with the texts of its sources, by their ids.
    pub(crate) fn new(task: &str, texts: &[(&str, &str)]) -> Self {
        Stage::able(task, texts, &ABLE.map(|id| (id, true)))
    }

    /// The same, where only some things can be done, or are ill.
    pub(crate) fn able(task: &str, texts: &[(&str, &str)], able: &[(&str, bool)]) -> Self {
        Stage::beside(RUN, task, texts, able)
    }

    /// The same, in a run of another name.
    pub(crate) fn beside(run: &str, task: &str, texts: &[(&str, &str)], able: &[(&str, bool)]) -> Self {
        let task = task::read_whole(&json::parse(task.as_bytes()).unwrap())
            .unwrap_or_else(|troubles| panic!("{troubles:?}"));
        let texts: Vec<(String, String, String)> = task
            .sources
            .iter()
            .map(|source| {
                let (_, text) =
                    texts.iter().find(|(id, _)| *id == source.id).expect("a text for each source");
                (source.id.clone(), source.path.clone(), (*text).to_owned())
            })
            .collect();
        let (run, matter) = self::run(run);
        let mut desk = Desk::new(task.clone(), run, matter, at(0));
        let bytes: Vec<Vec<u8>> = texts.iter().map(|(_, _, text)| text.clone().into_bytes()).collect();
        let capabilities: Vec<CapabilityState> = able
            .iter()
            .map(|(id, healthy)| CapabilityState {
                capability_id: (*id).into(),
                version: "1.0.0".into(),
                healthy: *healthy,
            })
            .collect();
        opening::open(&mut desk, &Given { sources: &bytes, capabilities: &capabilities }).unwrap();
        let (contents, seen) = (BTreeMap::new(), Seen::default());
        Stage {
            desk,
            texts,
            contents,
            seen,
            budget: Budget::Left,
            steps: Vec::new(),
            is_over: false,
            seconds: 0,
            task,
        }
    }

    /// A run of the small task.
    pub(crate) fn small() -> Self {
        Stage::new(TASK, &[("lease", LEASE)])
    }

    /// A run of the small task with more members.
    pub(crate) fn with(members: &str) -> Self {
        Stage::new(&task_with(members), &[("lease", LEASE)])
    }

    pub(crate) fn later(&mut self) {
        rely::react(&mut self.desk).unwrap();
        self.wait(60);
    }

    /// Some time goes by.
    pub(crate) fn wait(&mut self, seconds: i64) {
        self.seconds += seconds;
        self.desk.at(&at(self.seconds));
    }

    /// A draft of the memo that passes, looked at.
    pub(crate) fn passing(&mut self) -> Vec<Claimed> {
        let version = self.version("memo", GOOD);
        self.look("memo", &version, GOOD).0
    }

    /// A draft of the memo that lacks its section, looked at.
    pub(crate) fn failing(&mut self) -> Vec<Claimed> {
        let version = self.version("memo", BAD);
        self.look("memo", &version, BAD).0
    }

    /// The desk as it is read again from its rows after a crash.
    pub(crate) fn restart(&mut self) {
        self.desk = self.again();
    }

    /// The desk as its rows tell it, from the first on.
    pub(crate) fn again(&self) -> Desk {
        let (run, matter) = run(self.desk.run());
        let rows: Vec<_> = self.desk.rows().cloned().collect();
        Desk::new(self.task.clone(), run, matter, at(self.seconds)).with(rows)
    }

    /// A version of an artifact that becomes its head.
    pub(crate) fn version(&mut self, artifact: &str, text: &str) -> Version {
        self.later();
        self.contents.insert(Digest::of(text.as_bytes()), text.to_owned());
        let made = Made { artifact, bytes: text.as_bytes(), step_id: None, safety: Safety::Mechanical };
        let version = artifact::candidate(&mut self.desk, &made).unwrap();
        artifact::accept(&mut self.desk, artifact, &version).unwrap();
        version
    }

    pub(crate) fn look(
        &mut self,
        artifact: &str,
        version: &Version,
        text: &str,
    ) -> (Vec<Claimed>, Vec<Looked>) {
        self.later();
        let claims = self.claims(artifact, text);
        let heads = [Head { artifact, version, text, claims: &claims }];
        let looked = evaluate::all(&mut self.desk, &heads, &self.seen).unwrap();
        (claims, looked)
    }

    fn claims(&mut self, artifact: &str, text: &str) -> Vec<Claimed> {
        let texts = self.texts.clone();
        let sources: Vec<Source<'_>> =
            texts.iter().map(|(id, path, text)| Source::new(id, path, text)).collect();
        let artifact = self.task.artifact(artifact).expect("an artifact").clone();
        claims::check(&mut self.desk, &artifact, text, &sources).unwrap()
    }

    /// The text of the head of an artifact.
    pub(crate) fn text(&self, artifact: &str) -> String {
        let head = artifact::head(&self.desk, artifact).expect("a head");
        self.contents[&head.content].clone()
    }

    /// Does something with the heads of all artifacts, with their claims.
    fn with_heads<T>(&mut self, act: impl FnOnce(&mut Desk, &[Head<'_>], &Means<'_>) -> T) -> T {
        self.later();
        let ids: Vec<String> = self.task.artifacts.iter().map(|one| one.id.clone()).collect();
        let mut heads = Vec::new();
        for id in ids {
            let Some(version) = artifact::head(&self.desk, &id) else { continue };
            let text = self.contents[&version.content].clone();
            let claims = self.claims(&id, &text);
            heads.push((id, version, text, claims));
        }
        let heads: Vec<Head<'_>> = heads
            .iter()
            .map(|(artifact, version, text, claims)| Head { artifact, version, text, claims })
            .collect();
        // A document is in its form if it says that it is.
        let checks = self.task.outcomes.iter().flat_map(|outcome| {
            let artifact = self.task.artifact_of(outcome).map(|one| one.id.as_str());
            let head = heads.iter().find(|head| Some(head.artifact) == artifact);
            let of_form =
                |one: &&Criterion| one.check.as_ref().is_some_and(|one| one.kind == TestKind::JsonSchema);
            outcome.criteria.iter().filter(of_form).zip(std::iter::repeat(head))
        });
        for (criterion, head) in checks {
            let is_met = head.is_some_and(|head| head.text.contains("in form"));
            let missing = if is_met { vec![] } else { vec!["the form".to_owned()] };
            let measured = Measured { met: u64::from(is_met), of: 1, missing };
            self.seen.checks.insert(criterion.id.clone(), measured);
        }
        let means = Means { seen: &self.seen, budget: self.budget };
        act(&mut self.desk, &heads, &means)
    }

    /// Looks at all that is to be looked at, and ends the plans that waited for it.
    pub(crate) fn look_again(&mut self) -> Vec<Settled> {
        self.with_heads(|desk, heads, means| evaluate::all(desk, heads, means.seen).unwrap());
        revise::settle(&mut self.desk).unwrap()
    }

    pub(crate) fn plan(&mut self) -> Planned {
        self.with_heads(|desk, heads, means| revise::plan(desk, heads, means).unwrap())
    }

    /// Plans; the only plan there is.
    pub(crate) fn one_plan(&mut self) -> Compiled {
        let mut planned = self.plan();
        assert_eq!(planned.plans.len(), 1, "{planned:?}");
        planned.plans.remove(0)
    }

    pub(crate) fn begin(&mut self, compiled: Compiled) -> Dispatched {
        self.later();
        match revise::begin(&mut self.desk, compiled).unwrap() {
            Begun::Dispatched(dispatched) => dispatched,
            Begun::Rejected(flaws) => panic!("{flaws:?}"),
        }
    }

    /// The text that the next step of an artifact's plan builds on: the newest one that counts or is on its way.
    pub(crate) fn base(&self, artifact: &str) -> String {
        use countersign_govern::types::basic::ArtifactVersionState as VersionState;
        let mut all = artifact::versions(&self.desk, artifact);
        let last = all.rfind(|one| {
            matches!(
                one.state,
                Some(VersionState::Candidate | VersionState::UnderReview | VersionState::AcceptedHead)
            )
        });
        self.contents[&last.expect("a version").content].clone()
    }

    pub(crate) fn start(&mut self, dispatched: Dispatched) -> Next {
        self.later();
        let artifact = dispatched.artifact(&self.desk).unwrap();
        let base = self.base(&artifact);
        revise::start(&mut self.desk, dispatched, &base).unwrap()
    }

    pub(crate) fn done(&mut self, started: Started, answer: &Answer) -> After {
        self.later();
        let base = self.base(started.artifact());
        match answer {
            Answer::Text(text) => {
                self.contents.insert(Digest::of(text.as_bytes()), text.clone());
                revise::done(&mut self.desk, started, &base, Produced::Text(text)).unwrap()
            }
            Answer::Nothing => revise::done(&mut self.desk, started, &base, Produced::Nothing).unwrap(),
            Answer::Fails => revise::failed(&mut self.desk, started, &base).unwrap(),
        }
    }

    pub(crate) fn review(&mut self, stepped: Stepped) -> Reviewed {
        self.later();
        let artifact = stepped.artifact(&self.desk).unwrap();
        let (before, after) = (self.text(&artifact), self.base(&artifact));
        revise::review(&mut self.desk, stepped, &before, &after).unwrap()
    }

    /// Carries a plan out up to its review, clean after every step; `None` if it was given up. What needs nobody is done alone, the
    /// rest is asked for.
    pub(crate) fn carry(
        &mut self,
        compiled: Compiled,
        mut ask: impl FnMut(&Started, &str) -> Answer,
    ) -> Option<Reviewed> {
        let mut dispatched = self.begin(compiled);
        loop {
            self.is_clean();
            let mut open = match self.start(dispatched) {
                Next::Work(started) => started,
                Next::Done(stepped) => {
                    let reviewed = self.review(stepped);
                    self.is_clean();
                    return Some(reviewed);
                }
            };
            open.reverse();
            let mut on = None;
            while let Some(started) = open.pop() {
                self.is_clean();
                let base = self.base(started.artifact());
                let answer = match started.alone(&base) {
                    Some(text) => Answer::Text(text),
                    None => ask(&started, &base),
                };
                match self.done(started, &answer) {
                    After::Again(started) => open.push(started),
                    After::Others => {}
                    After::On(next) => on = Some(next),
                    After::Over => {
                        self.is_clean();
                        return None;
                    }
                }
            }
            dispatched = on.expect("a plan that goes on");
        }
    }

    pub(crate) fn standing(&self) -> Vec<Live> {
        revise::standing(&self.desk).unwrap()
    }

    pub(crate) fn state(&self, outcome: &str) -> State {
        outcome::state(&self.desk, outcome)
    }

    /// How many rows of a type there are.
    pub(crate) fn count(&self, kind: &str) -> usize {
        self.desk.rows().filter(|row| row.kind == kind).count()
    }

    /// What the rows of a type say in a member, in order.
    pub(crate) fn words(&self, kind: &str, member: &str) -> Vec<String> {
        let rows = self.desk.rows().filter(|row| row.kind == kind);
        rows.map(|row| row.record.get(member).and_then(|one| one.as_str()).unwrap_or("-").to_owned())
            .collect()
    }

    /// The packet of the work as it stands; gives the status.
    pub(crate) fn hand_over(&mut self, claims: &[Claimed]) -> String {
        self.later();
        let package = rely::package(&mut self.desk, claims).unwrap();
        let packet = rely::packet(&mut self.desk, &package, &rely::Besides::default()).unwrap();
        packet.reliance_derivation.status.as_str().to_owned()
    }

    /// The same with the claims of the heads.
    pub(crate) fn hand_over_heads(&mut self) -> String {
        let claims = self
            .with_heads(|_, heads, _| heads.iter().flat_map(|head| head.claims.to_vec()).collect::<Vec<_>>());
        self.hand_over(&claims)
    }

    pub(crate) fn answer(&mut self, question: &str, option: &str) -> Result<(), call::Refusal> {
        self.later();
        call::answer(&mut self.desk, question, option, "ana")
    }

    /// The only question that is open.
    pub(crate) fn question(&self) -> String {
        let open = call::open(&self.desk);
        assert_eq!(open.len(), 1, "{open:?}");
        open[0].hard_call_id.clone()
    }

    /// Gives a command as a person.
    pub(crate) fn command(
        &mut self,
        id: &str,
        request: &str,
        key: &str,
        name: &str,
    ) -> Result<Ruling, Refusal> {
        let (kind, is_proposer) = (ActorKind::User, name == "ana");
        self.command_by(
            id,
            request,
            key,
            By { name, kind, matter: "default", is_proposer, needs_another: false },
        )
    }

    pub(crate) fn command_by(
        &mut self,
        id: &str,
        request: &str,
        key: &str,
        by: By<'_>,
    ) -> Result<Ruling, Refusal> {
        self.later();
        let request = json::parse(request.as_bytes()).unwrap();
        let contents = |digest: &Digest| {
            let of_source = |text: &String| Digest::of(text.as_bytes()) == *digest;
            let source = self.texts.iter().map(|(_, _, text)| text).find(|text| of_source(text));
            self.contents.get(digest).or(source).map(|text| text.clone().into_bytes())
        };
        let given = command::Given {
            contents: &contents,
            seen: &|_| Seen::default(),
            new_run: "run_fedcba9876543210",
            steps: &self.steps,
            is_over: self.is_over,
        };
        let asked = Asked { command: id, key, request: &request, by };
        let ruling = command::run(&mut self.desk, &asked, &given)?;
        self.is_over |= ruling.effect == Effect::Cancelled;
        Ok(ruling)
    }

    /// What a command had done outside is told.
    pub(crate) fn finished(
        &mut self,
        id: &str,
        request: &str,
        key: &str,
        name: &str,
        has_left: bool,
    ) -> Result<CommandReceipt, Refusal> {
        self.later();
        let request = json::parse(request.as_bytes()).unwrap();
        let by =
            By { name, kind: ActorKind::User, matter: "default", is_proposer: true, needs_another: false };
        let asked = Asked { command: id, key, request: &request, by };
        command::finished(&mut self.desk, &asked, has_left)
    }

    /// Nothing is wrong with what was written so far, once a packet that has fallen is told to have: as it is, and as it is told to
    /// somebody else, who is handed how things stand besides.
    pub(crate) fn is_clean(&self) {
        let mut desk = self.desk.clone();
        rely::react(&mut desk).unwrap();
        is_clean(&desk.world());
        let told = desk.projections().into_iter().filter(|one| TOLD.contains(&one.kind));
        let at = Some(desk.clock().instant());
        let told = told.map(|one| Draft { kind: one.kind.to_owned(), id: None, at, record: one.record });
        let rows: Vec<Draft> = desk.rows().cloned().chain(told).collect();
        is_clean(&World::new(rows, at));
    }
}

/// What stands and is told to somebody else.
const TOLD: [&str; 3] = ["AttentionLedgerItem", "TaskReliancePacket", "WorkProductCertification"];

/// Nothing is wrong with a log.
pub(crate) fn is_clean(world: &World) {
    let mut wrong: Vec<String> = Vec::new();
    let row = |at: u64| {
        let row = world.all().find(|row| row.seq() == at).unwrap();
        format!("{} {}", row.kind(), json::to_text(row.json()).unwrap())
    };
    for one in check(world).iter().filter(|one| one.severity == Severity::Error) {
        wrong.push(format!("{} {} {}: {}\n{}", one.row, one.code, one.path, one.message, row(one.row)));
    }
    for one in reach::contradictions(world) {
        let what = one.what.as_str();
        wrong.push(format!("{} {what} {}: {}\n{}", one.row, one.path, one.message, row(one.row)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
