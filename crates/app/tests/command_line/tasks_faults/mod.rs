//! Runs of tasks in which something goes wrong, at places that a seed thinks of: they end as if nothing had been, or ask.
//! Owns: which faults meet which run, and how often each struck. Must not: forgive a lost or doubled effect, or a record that breaks the
//! contract.

mod accounts;
mod carried;
mod outside;
mod scenes;

use accounts::End;
use carried::Carried;
use countersign_testkit::random::Random;
use outside::{Fault, Kind, Ran};
use scenes::{Scene, Voice, scenes};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

/// Seeds, if nobody says how many: `COUNTERSIGN_SIMULATION_SEEDS`.
const SEEDS: u64 = 1_000;
/// Of so many runs in which something went wrong the packet of one is verified: that takes longer than the run.
const VERIFIED_EACH: usize = 7;
/// Processes in which something goes wrong, and all that carry on one run, at most.
const FAULTY_MAX: u64 = 4;
const PROCESSES_MAX: usize = 24;
/// Cases that fail before the others are left out.
const FAILED_MAX: usize = 5;

/// A run in which nothing goes wrong.
struct Whole {
    end: End,
    appends: usize,
    asked: usize,
    ran: Vec<Ran>,
    questions: usize,
}

/// Carries a run on without faults; what programs come to may be as another time.
async fn whole(scene: &Scene, script: Option<&[Ran]>) -> Whole {
    let mut run = Carried::new(scene);
    run.script = script.map(<[Ran]>::to_vec);
    assert!(run.process(&[]).await, "{}", scene.name);
    let end = run.end().await;
    let questions = run.questions.len();
    let books = run.books.lock();
    Whole { end, appends: books.appends, asked: books.asked(), ran: books.ran(), questions }
}

/// The faults of a process that comes now, of those that can strike: one of the disk, or of who is outside, or both.
fn drawn(random: &mut Random, scene: &Scene, whole: &Whole, run: &Carried<'_>) -> Vec<Fault> {
    let books = run.books.lock();
    let left = |all: usize, done: usize| all.saturating_sub(done).max(1);
    let mut outside: Vec<Fault> = Vec::new();
    if scene.voice != Voice::Quotes {
        let at = random.index(0..left(whole.asked, books.kept_asked()));
        outside.push(Fault { kind: Kind::Mute, at });
    }
    if scene.commands() > 0 {
        let kind = *random.pick(&Kind::PROGRAM);
        let at = random.index(0..left(whole.ran.len(), books.ran().len()));
        // No place can be made for a look only when it begins.
        let at = if kind == Kind::Unstarted { at - at % scene.commands() } else { at };
        outside.push(Fault { kind, at });
    }
    let at = random.index(0..left(whole.appends, books.appends));
    let disk = Fault { kind: *random.pick(&Kind::DISK), at };
    match outside.is_empty() {
        true => vec![disk],
        false => match random.within(0..4) {
            0 => vec![disk],
            1 => vec![*random.pick(&outside)],
            _both => vec![*random.pick(&outside), disk],
        },
    }
}

/// How a run ended in which something went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Ended {
    /// As if nothing had been.
    Same,
    /// As if nothing had been, after a person was asked more.
    Asked,
    /// As a program's answer has it that was another one.
    Told,
}

/// How often each fault was drawn and struck, and each end was reached.
#[derive(Debug, Default)]
struct Tally {
    faults: BTreeMap<Kind, [u64; 2]>,
    ends: BTreeMap<Ended, u64>,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        for (kind, counts) in other.faults {
            let sum = self.faults.entry(kind).or_default();
            *sum = [sum[0] + counts[0], sum[1] + counts[1]];
        }
        for (ended, count) in other.ends {
            *self.ends.entry(ended).or_default() += count;
        }
    }
}

/// A run with faults, by process, ends as one without them whose programs said the same; everything done for it is told once.
async fn survives<'s>(
    (scene, whole): (&'s Scene, &Whole),
    mut faults: impl FnMut(usize, &Carried<'s>) -> Vec<Fault>,
) -> (Carried<'s>, Tally) {
    let mut tally = Tally::default();
    let mut run = Carried::new(scene);
    for at in 0.. {
        assert!(at < PROCESSES_MAX, "{}: it does not end", scene.name);
        let faults = faults(at, &run);
        run.books.lock().struck.clear();
        let is_over = run.process(&faults).await;
        for fault in &faults {
            let [drawn, struck] = tally.faults.entry(fault.kind).or_default();
            *drawn += 1;
            *struck += u64::from(run.books.lock().struck.contains(&fault.kind));
        }
        if is_over {
            break;
        }
    }
    let end = run.end().await;
    let ran = run.books.lock().ran();
    let is_told = ran != whole.ran;
    let expected = if is_told { self::whole(scene, Some(&ran)).await.end } else { whole.end.clone() };
    assert_eq!(end, expected, "{}", scene.name);
    // What no program has seen, a person was asked about.
    let is_unseen = ran.iter().any(|one| matches!(one, Ran::Not(_)));
    assert!(!is_unseen || run.questions.len() > whole.questions, "{}: {ran:?}", scene.name);
    if scene.voice == Voice::Elsewhere {
        // What left the machine left it once, and again only if a person said so.
        let (asked, agains) = (run.books.lock().asked(), run.agains * scene.at_once());
        assert!(asked <= whole.asked + agains, "{}: {asked} after {agains}", scene.name);
    }
    let ended = match (is_told, run.questions.len() > whole.questions) {
        (true, false) => Ended::Told,
        (true | false, true) => Ended::Asked,
        (false, false) => Ended::Same,
    };
    *tally.ends.entry(ended).or_default() += 1;
    (run, tally)
}

/// Every scene, and how it goes where nothing goes wrong.
async fn wholes() -> Arc<Vec<(Scene, Whole)>> {
    let mut all = Vec::new();
    for scene in scenes() {
        let whole = whole(&scene, None).await;
        assert!(whole.end.status.is_some(), "{}: {:?}", scene.name, whole.end);
        all.push((scene, whole));
    }
    Arc::new(all)
}

/// Carries a run on for each case, on both processors. A case that fails is told with others that do.
async fn each<C, F>(cases: Vec<C>, survives: impl Fn(C) -> F) -> Tally
where
    C: Clone + Debug + Send + Sync + 'static,
    F: Future<Output = Tally> + Send + 'static,
{
    let (mut tally, mut failed) = (Tally::default(), Vec::new());
    for pair in cases.chunks(2) {
        let working: Vec<_> = pair.iter().map(|case| (case, tokio::spawn(survives(case.clone())))).collect();
        for (case, survived) in working {
            match survived.await {
                Ok(counted) => tally.add(counted),
                Err(_) => failed.push(case),
            }
        }
        if failed.len() >= FAILED_MAX {
            break;
        }
    }
    assert!(failed.is_empty(), "these fail: {failed:?}");
    tally
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_fails_a_run_ends_as_without_it_or_asks() {
    let seeds = std::env::var("COUNTERSIGN_SIMULATION_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    let seeds: u64 = seeds.unwrap_or(SEEDS);
    let all = wholes().await;
    let tally = each((0..seeds).collect(), |seed| {
        let all = Arc::clone(&all);
        async move {
            let (scene, whole) = &all[usize::try_from(seed).unwrap() % all.len()];
            let mut random = Random::new(seed);
            let faulty = usize::try_from(random.within(1..FAULTY_MAX + 1)).unwrap();
            let faults = |at, run: &Carried<'_>| match at < faulty {
                true => drawn(&mut random, scene, whole, run),
                false => Vec::new(),
            };
            let (run, tally) = survives((scene, whole), faults).await;
            if seed.is_multiple_of(VERIFIED_EACH as u64) {
                run.verifies().await;
                run.replays().await;
            }
            tally
        }
    })
    .await;
    if seeds < SEEDS {
        return;
    }
    // A simulation in which nothing fails proves nothing: every fault strikes, and both ends are met.
    for kind in Kind::DISK.into_iter().chain([Kind::Mute]).chain(Kind::PROGRAM) {
        let [drawn, struck] = tally.faults.get(&kind).copied().unwrap_or_default();
        assert!(struck >= seeds / 100 && struck * 3 >= drawn, "{kind:?} struck {struck} of {drawn} times");
    }
    for kind in Kind::DISK {
        assert!(tally.faults[&kind][1] >= seeds / 4, "{tally:?}");
    }
    let ends = |ended: Ended| tally.ends.get(&ended).copied().unwrap_or_default();
    assert!(ends(Ended::Same) >= seeds / 4 && ends(Ended::Asked) >= seeds / 4, "{tally:?}");
}

/// A case: the scene, and what goes wrong in the first process.
async fn one(all: Arc<Vec<(Scene, Whole)>>, (at, fault): (usize, Fault)) -> Tally {
    let (scene, whole) = &all[at];
    let (run, tally) = survives((scene, whole), |process, _| match process {
        0 => vec![fault],
        _later => Vec::new(),
    })
    .await;
    assert_eq!(tally.faults[&fault.kind], [1, 1], "{}: {fault:?} does not strike", scene.name);
    if fault.at.is_multiple_of(VERIFIED_EACH) || scene.voice == Voice::Elsewhere {
        run.verifies().await;
        run.replays().await;
    }
    tally
}

/// A process ends between any two appends, for the disk's sake, by a kill before or behind an append, or by a signal.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_may_break_off_at_every_append() {
    let all = wholes().await;
    let mut cases = Vec::new();
    for (at, (scene, whole)) in all.iter().enumerate() {
        assert!(whole.appends > 7, "each stage is durable before the next begins");
        for kind in Kind::DISK.into_iter().filter(|kind| *kind != Kind::Hiccup || scene.is_capped) {
            // Where nobody but the run writes, one append that fails is as good as all. Behind the last append nobody is left to be told of a signal.
            let appends = whole.appends - usize::from(kind == Kind::Stop);
            cases.extend((0..appends).map(|append| (at, Fault { kind, at: append })));
        }
    }
    let tally = each(cases, |case| one(Arc::clone(&all), case)).await;
    assert_eq!(tally.ends.get(&Ended::Told), None, "{tally:?}");
}

/// Each question finds nobody who answers, each command fails in every way: a person is asked, and what was done is told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_outside_may_fail_at_every_time() {
    let all = wholes().await;
    let mut cases = Vec::new();
    for (at, (scene, whole)) in all.iter().enumerate() {
        cases.extend((0..whole.asked).map(|question| (at, Fault { kind: Kind::Mute, at: question })));
        for kind in Kind::PROGRAM.into_iter().filter(|_| scene.commands() > 0) {
            let by = if kind == Kind::Unstarted { scene.commands() } else { 1 };
            cases.extend((0..whole.ran.len()).step_by(by).map(|command| (at, Fault { kind, at: command })));
        }
    }
    let (questions, commands): (Vec<_>, Vec<_>) =
        cases.into_iter().partition(|(_, fault)| fault.kind == Kind::Mute);
    assert!(questions.len() > 15 && commands.len() > 20, "{questions:?} {commands:?}");
    each(questions, |case| one(Arc::clone(&all), case)).await;
    each(commands, |case| one(Arc::clone(&all), case)).await;
}
