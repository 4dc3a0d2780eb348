//! That every kind of record that is listed as written is written by a run, and none of the others; and that such runs hold: their
//! ledgers are whole and clean, their packets verify, and they come out the same when they are gone through again.

use crate::binary::{Done, Work};
use crate::examples::folder;
use crate::talks::{playing, verified};
use countersign_govern::reference::snake;
use countersign_testkit::forge::{RARE, forge, rare, statement};
use countersign_work::emitted::{EMITTED, IMPORT_ONLY, WITHIN};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::thread;

const LEASE: &str = "# Lease\n\nThe lease of the warehouse ends on 31 May 2027.\n\nThe rent is 900 euros a month.\n\n\
    The tenant may extend the lease until 31 May 2030.\n";
const END: &str = "The lease of the warehouse ends on 31 May 2027. [sources/lease.md:3]";
const EXTEND: &str = "The tenant may extend the lease until 31 May 2030. [sources/lease.md:7]";
/// What no source says.
const BOAT: &str = "The landlord owns a boat. The crew sleeps on the boat.";

/// A task; what stands in capitals is filled in.
const TASK: &str = r#"
schema_version = "1.0"
id = "memo"
title = "Memo"
goal = "Say how long the lease runs."
audience = "the director"
purpose = "deciding"

[work]
WORK

[[artifacts]]
id = "memo"
path = "memo.md"
kind = "markdown"
from = "draft.md"
MORE

[[sources]]
id = "lease"
path = "sources/lease.md"
kind = "document"
trust_basis = "user_supplied"
tier = 2
LEASE

[[outcomes]]
id = "term"
statement = "The memo says how long the lease runs."
artifact = "memo"
CAPABLE
criteria = [CRITERIA]

[policies]
POLICIES
"#;
const GROUNDED: &str = r#"{ id = "grounded", text = "Every sentence stands in a source.", basis = "source_grounded", required = true, threshold = 1.0 }"#;
/// Nothing that must be there is missing, and the score is too low.
const LOW: &str = r#"
    { id = "there", text = "It speaks of the lease.", basis = "deterministic_check", required = true, check = { kind = "mentions", any = ["lease"] }, threshold = 1.0 },
    { id = "rent", text = "It names the rent.", basis = "deterministic_check", priority = "nice_to_have", check = { kind = "mentions", any = ["900"] }, weight = 3 }"#;
const WAIVED: &str = r#"approval = { revision = "waived" }"#;

fn task(fills: &[(&str, &str)]) -> String {
    let usual = [
        ("WORK", ""),
        ("MORE", ""),
        ("LEASE", r#"verified_by = "ana""#),
        ("CAPABLE", ""),
        ("CRITERIA", GROUNDED),
        ("POLICIES", WAIVED),
    ];
    fills.iter().chain(&usual).fold(TASK.to_owned(), |text, (name, value)| text.replacen(name, value, 1))
}

/// Kinds of records of which each member was changed in some packet, and found.
static FORGED: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());

/// A directory in which runs are run, as ana, an hour after the other.
struct Scene {
    work: Work,
    hour: u8,
    run: String,
    /// What was told last.
    told: Value,
    /// The contract that waits to be agreed to.
    stop: String,
}

impl Scene {
    /// Nothing was run yet.
    fn empty(work: Work) -> Self {
        Scene { work, hour: 8, run: String::new(), told: Value::Null, stop: String::new() }
    }

    /// A task of one memo is run; the exit code is as it must be.
    fn new(task: &str, draft: &str, exit: i32) -> Self {
        let mut scene = Scene::empty(Work::new());
        scene.write(task, draft);
        scene.begin(&["run", "task"], exit);
        scene
    }

    fn write(&self, task: &str, draft: &str) {
        std::fs::create_dir_all(self.work.path("task/sources")).unwrap();
        self.work.write("task/task.toml", task);
        self.work.write("task/draft.md", format!("# Memo\n\n## Term\n\n{draft}\n"));
        self.work.write("task/sources/lease.md", LEASE);
    }

    fn at(&mut self, args: &[&str]) -> Done {
        self.hour += 1;
        let now = format!("2026-02-{:02}T{:02}:00:00Z", 1 + self.hour / 24, self.hour % 24);
        self.work.run(
            &[args, &["--now", &now, "--seed", &self.hour.to_string(), "--as", "ana", "--json"]].concat(),
        )
    }

    fn begin(&mut self, args: &[&str], exit: i32) {
        self.told = self.at(args).exits(exit).json();
        self.run = self.told["run"].as_str().unwrap().to_owned();
    }

    fn question(&self) -> String {
        self.told["question"]["id"].as_str().unwrap_or_else(|| panic!("{}", self.told)).to_owned()
    }

    fn choose(&mut self, option: &str, exit: i32) {
        let (run, id) = (self.run.clone(), self.question());
        self.told = self.at(&["answer", &run, "--id", &id, "--choose", option]).exits(exit).json();
    }

    /// The run waits for somebody who agrees to its contract.
    fn waits(&mut self, done: &Done) {
        let refusal = done.refused(3, "run.waiting");
        let word =
            |name: &str| refusal.details[name].as_str().unwrap_or_else(|| panic!("{refusal:?}")).to_owned();
        (self.run, self.stop) = (word("run"), word("id"));
    }

    fn approve(&mut self) -> Done {
        let (run, stop) = (self.run.clone(), self.stop.clone());
        self.at(&["answer", &run, "--id", &stop, "--approve"])
    }

    fn command(&mut self, id: &str, request: Value) -> Value {
        self.work.write("request.json", request.to_string());
        let run = self.run.clone();
        self.at(&["command", "run", id, "--run", &run, "--request", "request.json"]).good().json()
    }

    /// The last record of a kind.
    fn last(&self, kind: &str) -> Value {
        let rows = self.work.run(&["ledger", "rows", "--kind", &format!("govern.{kind}"), "--json"]).good();
        let last = rows.lines().pop().unwrap_or_else(|| panic!("no {kind}"));
        last["payload"]["record"].clone()
    }

    /// The packet of the run can be verified by anybody.
    fn verifies(self) -> Self {
        let file = format!("{}.packet.json", self.run);
        self.work.run(&["packet", "export", &self.run, "--yes", "--out", &file]).good();
        self.work.run(&["verify", &file]).good();
        let statement = statement(&std::fs::read(self.work.path(&file)).unwrap());
        let (targets, kinds) = rare(&statement);
        forge(&self.run, &statement, &targets, 1).is_clean();
        FORGED.lock().unwrap().extend(kinds);
        self
    }

    /// The kinds of all records; the ledger is whole and clean.
    fn kinds(mut self) -> BTreeSet<String> {
        let run = self.run.clone();
        self.at(&["replay", &run]).good();
        verified(&self.work);
        let lint = self.work.run(&["lint", "--ledger", "--json"]);
        assert_eq!(lint.json()["codes"], json!([]), "{run}");
        let rows = self.work.run(&["ledger", "rows", "--json"]).good();
        let kind = |row: &Value| Some(row["kind"].as_str()?.strip_prefix("govern.")?.to_owned());
        rows.lines().iter().filter_map(kind).collect()
    }
}

/// A contract that a person changes, guidance that is disputed, sources that are cleared and moved, a measure that does not count, a board
/// that is talked on.
fn governed() -> BTreeSet<String> {
    let sources = r#"verified_by = "ana"

[[sources]]
id = "word"
path = "sources/word.md"
kind = "document"
trust_basis = "user_supplied"
tier = 0

[[sources]]
id = "page"
path = "sources/page.md"
kind = "web_source"
trust_basis = "web_unverified"
tier = 2"#;
    let plain = r#"approval = { contract = "required", revision = "required" }
[[outcomes]]
id = "plain"
statement = "The memo is plain."
artifact = "memo"
criteria = [{ id = "plain", text = "It is plain.", basis = "unanchored_llm_judgment", required = true }]"#;
    let task = task(&[("LEASE", sources), ("POLICIES", plain)]);
    let mut scene = Scene::empty(Work::new());
    scene.write(&task, &format!("{END} {BOAT}"));
    scene.work.write("task/sources/word.md", "A lease is a contract.\n");
    scene.work.write("task/sources/page.md", "# Page\n\nA harbour has boats.\n");
    let begun = scene.at(&["run", "task"]);
    scene.waits(&begun);
    let mut changed: Value = toml::from_str(&task).unwrap();
    changed["outcomes"][0]["criteria"][0]["text"] = json!("Every sentence of it stands in a source.");
    scene.command("contract_review.edit", json!({"task": changed}));
    let again = scene.approve();
    scene.waits(&again);
    scene.told = scene.approve().exits(3).json();
    let question = scene.question();
    scene.command("hard_call.defer", json!({"hard_call_id": question}));
    scene.choose("yes", 3);
    let guidance = scene.last("run_guidance_creation_event")["guidance_id"].clone();
    scene.command("run_guidance.contest", json!({"guidance_id": guidance, "grounds": "it is there"}));
    scene.command("run_guidance.settle_contest", json!({"guidance_id": guidance, "upheld": false}));
    scene.command("source.clear", json!({"source": "page"}));
    scene.command("source.move_tier", json!({"source": "lease", "tier": 3}));
    let observation = scene.last("metric_observation")["observation_id"].clone();
    scene.command("metric.withdraw_observation", json!({"observation_id": observation, "reason": "twice"}));
    scene.command("run_board.comment", json!({"text": "Mind the side letter."}));
    let post = scene.last("run_board_visible_post")["post_id"].clone();
    scene.command("run_board.digest", json!({}));
    scene.command("run_board.retract_post", json!({"post_id": post, "reason": "said too early"}));
    scene.choose("accept", 0);
    scene.verifies().kinds()
}

/// Two work products that both fall short, and then a run that is like the one before.
fn alike() -> BTreeSet<String> {
    let note = r#"
[[artifacts]]
id = "note"
path = "note.md"
kind = "markdown"
from = "note-draft.md""#;
    let other = format!(
        r#"{WAIVED}
[[outcomes]]
id = "noted"
statement = "The note says how long the lease runs."
artifact = "note"
criteria = [{}]"#,
        GROUNDED.replace("grounded\", text", "noted-grounded\", text")
    );
    let task = task(&[("MORE", note), ("POLICIES", &other)]);
    let mut scene = Scene::empty(Work::new());
    scene.write(&task, &format!("{END} {BOAT}"));
    scene.work.write("task/note-draft.md", format!("# Note\n\n## Term\n\n{END} {BOAT}\n"));
    scene.begin(&["run", "task"], 0);
    let mut scene = scene.verifies();
    scene.write(&task, END);
    scene.work.write("task/note-draft.md", format!("# Note\n\n## Term\n\n{END}\n"));
    scene.begin(&["run", "task"], 0);
    scene.verifies().kinds()
}

/// A source that nobody verified, and what nobody can do.
fn stuck() -> BTreeSet<String> {
    let mut unverified = Scene::new(&task(&[("LEASE", "")]), &format!("{END} {EXTEND}"), 3);
    unverified.choose("verified", 0);
    let gap = Scene::new(&task(&[("CAPABLE", r#"capabilities = ["draw-map"]"#)]), BOAT, 1);
    [unverified.verifies().kinds(), gap.verifies().kinds()].concat_all()
}

/// Privileged work: its plans are verified, its evidence leaves, its source enters the library and changes; a run begins from it.
fn privileged() -> BTreeSet<String> {
    let lease = "verified_by = \"ana\"\nprivileged = true";
    let mut scene = Scene::new(&task(&[("LEASE", lease)]), &format!("{END} {BOAT}"), 0);
    scene.command("evidence.export_package", json!({"destination": "out.json", "confirmed": true}));
    // What comes next makes its packet fall.
    let mut scene = scene.verifies();
    scene.command("library.promote_source", json!({"source": "lease"}));
    scene.work.write("task/sources/lease.md", format!("{LEASE}\nAnd a boat.\n"));
    let run = scene.run.clone();
    scene.at(&["command", "run", "source.recheck", "--run", &run, "--folder", "task"]).good();
    let fork = scene.at(&["fork", &run]).good().json();
    let new = fork["fork"]["new_run_id"].as_str().unwrap().to_owned();
    scene.at(&["runs", "resume", &new]).good();
    scene.run = new;
    scene.verifies().kinds()
}

/// Those who look disagree, and leave the room in every way.
fn talked_over() -> BTreeSet<String> {
    let exits = ["prefer_safest_policy_allowed_proposal", "pause_and_request_user"];
    let rooms = exits.map(|exit| {
        let policies = format!("forum = {{ ticks_max = 2, no_consensus = \"{exit}\" }}");
        let mut scene = Scene::new(&task(&[("CRITERIA", LOW), ("POLICIES", &policies)]), END, 3);
        scene.choose("stop", 1);
        scene.verifies().kinds()
    });
    let led = [r#"{"proposal": "accept"}"#, "Who knows?"].map(led);
    rooms.into_iter().chain(led).collect::<Vec<_>>().concat_all()
}

/// Somebody leads the talk, and says this.
fn led(reply: &str) -> BTreeSet<String> {
    let (judge, forum) = ("judge = \"model\"", "forum = { consensus_pct = 60 }");
    let task = task(&[("WORK", judge), ("CRITERIA", LOW), ("POLICIES", forum)]);
    let mut scene = Scene::empty(playing(&[reply]));
    scene.write(&task, END);
    scene.begin(&["run", "task", "--model", "script"], 3);
    scene.choose("stop", 1);
    let run = scene.run.clone();
    // Another model says something else.
    scene
        .at(&["replay", &run, "--mode", "best_effort_rerun", "--model", "extractive"])
        .refused(1, "replay.diverged");
    scene.verifies().kinds()
}

/// A finding is disputed, and the run stopped.
fn cancelled() -> BTreeSet<String> {
    let task = task(&[("POLICIES", r#"approval = { revision = "required" }"#)]);
    let mut scene = Scene::new(&task, &format!("{END} {BOAT}"), 3);
    let finding = scene.last("evaluation_finding_event")["finding_id"].clone();
    scene.command("finding.contest", json!({"finding_id": finding, "grounds": "everybody knows"}));
    let need = scene.last("research_need")["need_id"].clone();
    scene.command("research.answer_need", json!({"need_id": need, "source": "lease"}));
    scene.command("task.cancel", json!({}));
    scene.kinds()
}

/// A section that is drafted anew: an example does that.
fn mended() -> BTreeSet<String> {
    let mut scene = Scene::empty(Work::new());
    scene.begin(&["run", folder("incident-report").to_str().unwrap()], 0);
    scene.verifies().kinds()
}

trait Together {
    fn concat_all(self) -> BTreeSet<String>;
}

impl<I: IntoIterator<Item = BTreeSet<String>>> Together for I {
    fn concat_all(self) -> BTreeSet<String> {
        self.into_iter().flatten().collect()
    }
}

#[test]
fn what_is_listed_is_written_by_runs_and_nothing_else() {
    let scenes = [governed, alike, stuck, privileged, talked_over, cancelled, mended];
    let running = scenes.map(thread::spawn);
    let ended = running.map(thread::JoinHandle::join);
    let written = ended.into_iter().map(Result::unwrap).concat_all();
    // What no run of `countersign-verify` has is forged in the packets of these.
    assert_eq!(*FORGED.lock().unwrap(), BTreeSet::from(RARE));
    let is_written = |kind: &str| written.contains(&snake(kind));
    let listed = EMITTED.iter().flat_map(|module| module.kinds.iter().copied());
    let missing: Vec<&str> = listed.filter(|kind| !is_written(kind)).collect();
    assert_eq!(missing, Vec::<&str>::new());
    let others: Vec<&str> =
        IMPORT_ONLY.iter().map(|(kind, _)| *kind).filter(|kind| is_written(kind)).collect();
    assert_eq!(others, Vec::<&str>::new());
    assert!(WITHIN.iter().all(|(_, whole)| is_written(whole)));
}
