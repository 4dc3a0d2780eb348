//! Whole logs of governed records that nothing is wrong with.
//! Owns: what happens in them, by chance. Must not: know a rule; what it writes is what an engine that keeps the contract writes.
//!
//! A log is of several runs that go on beside each other. A run is a row of scenes: those that open it, some of those that may
//! happen in any order, those that close it.

mod asking;
mod builder;
mod claims;
mod closing;
mod commanding;
mod evaluation;
mod feedback;
mod finding;
pub mod formula;
pub mod known;
mod making;
mod measuring;
mod opening;
mod plan;
mod quality;
mod reliance;
mod replaying;
mod researching;
mod revising;
mod sharing;
mod sufficing;
mod workspace;

use std::ops::Range;

pub use builder::{Builder, Run, Written, batches, hash_of};

/// Something that happens in a run: it appends rows.
pub type Scene = fn(&mut Builder, &mut Run);

/// How a run begins: in this order.
const OPENING: &[Scene] = &[opening::contract, opening::task, opening::sources];
/// What may happen in it: each at most once, in any order.
const MIDDLE: &[Scene] = &[
    revising::revise,
    revising::circle,
    revising::give_up,
    revising::contend,
    revising::regenerate,
    revising::review,
    sufficing::stuck,
    researching::research,
    researching::taint,
    researching::externalize,
    researching::promote,
    asking::question,
    asking::stop,
    asking::skip,
    asking::assist,
    asking::deliberate,
    sharing::guide,
    sharing::carry,
    sharing::pack,
    sharing::board,
    measuring::costs,
    measuring::rates,
    measuring::cycles,
    measuring::novelty,
    measuring::template,
    measuring::calibrate,
    measuring::reputation,
    replaying::fork,
    replaying::cancelled,
    replaying::replay,
    commanding::command,
    commanding::contract,
    commanding::attend,
    commanding::explain,
    commanding::learn,
    commanding::progress,
    workspace::verify,
    workspace::move_tier,
    workspace::conflict,
    workspace::locked,
    workspace::in_passing,
    claims::make,
    claims::again,
    evaluation::any,
    evaluation::blocked,
    finding::dispute,
    quality::index,
    reliance::too_early,
];
/// How it ends: in this order.
const CLOSING: &[Scene] = &[evaluation::last, closing::hand_over, closing::link, closing::show];

/// Runs that go on beside each other, at most.
const AT_ONCE: usize = 8;

/// The log of so many runs, the same for the same seed.
#[must_use]
pub fn log(seed: u64, runs: usize) -> Vec<Written> {
    let mut builder = Builder::new(seed);
    play(&mut builder, 0..runs);
    builder.rows()
}

/// Lets runs of these numbers happen, some of them beside each other.
pub fn play(builder: &mut Builder, mut numbers: Range<usize>) {
    let mut open: Vec<(Run, Vec<Scene>)> = Vec::new();
    loop {
        while open.len() < AT_ONCE
            && let Some(number) = numbers.next()
        {
            let run = match open.last() {
                // Some are of a task that another run is at.
                Some((other, _)) if builder.random.once_in(3) => other.again(builder),
                Some(_) | None => Run::new(number),
            };
            open.push((run, scenes(builder)));
        }
        if open.is_empty() {
            return;
        }
        let at = builder.random.index(0..open.len());
        let (run, scenes) = &mut open[at];
        match scenes.pop() {
            Some(scene) => builder.play(run, scene),
            None => drop(open.swap_remove(at)),
        }
    }
}

/// What happens in a run, the last first.
fn scenes(builder: &mut Builder) -> Vec<Scene> {
    let mut middle: Vec<Scene> = MIDDLE.to_vec();
    middle.retain(|_| !builder.random.once_in(4));
    shuffle(builder, &mut middle);
    let mut scenes = [OPENING, &middle, CLOSING].concat();
    scenes.reverse();
    scenes
}

/// A log of one run in which everything happens.
#[must_use]
pub fn everything(seed: u64) -> Vec<Written> {
    let mut builder = Builder::new(seed);
    let mut run = Run::new(0);
    let mut middle: Vec<Scene> = MIDDLE.to_vec();
    shuffle(&mut builder, &mut middle);
    for scene in [OPENING, &middle, CLOSING].concat() {
        builder.play(&mut run, scene);
    }
    builder.rows()
}

/// A log of one run in which every `of`-th thing happens, from the `nth` on: shorter than one of everything.
#[must_use]
pub fn some(seed: u64, nth: usize, of: usize) -> Vec<Written> {
    let mut builder = Builder::new(seed);
    let mut run = Run::new(0);
    let mut middle: Vec<Scene> = MIDDLE.iter().skip(nth).step_by(of).copied().collect();
    shuffle(&mut builder, &mut middle);
    for scene in [OPENING, &middle, CLOSING].concat() {
        builder.play(&mut run, scene);
    }
    builder.rows()
}

fn shuffle(builder: &mut Builder, scenes: &mut [Scene]) {
    for at in (1..scenes.len()).rev() {
        scenes.swap(at, builder.random.index(0..at + 1));
    }
}
