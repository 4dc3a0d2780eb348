//! Ratios between two ways of doing one thing, measured in one run.
//! Owns: the rounds, the medians, the bars. Must not: be used by a test; timings are for benches.

use std::io::Write;
use std::time::{Duration, Instant};

/// Each side runs for about this long in each round.
const ROUND: Duration = Duration::from_millis(300);
/// Rounds; the two sides take turns, so a busy neighbour slows both.
const ROUNDS: usize = 9;

/// Something to be timed: does the work `times` times.
pub struct Side<'a> {
    name: &'a str,
    work: Box<dyn FnMut(u64) -> Duration + 'a>,
}

impl<'a> Side<'a> {
    /// Work that is timed from outside.
    pub fn new(name: &'a str, mut work: impl FnMut() + 'a) -> Self {
        let work = move |times| {
            let start = Instant::now();
            (0..times).for_each(|_| work());
            start.elapsed()
        };
        Side { name, work: Box::new(work) }
    }

    /// Work that times itself, for what can't be timed from outside (another process, setup per round).
    pub fn timed(name: &'a str, work: impl FnMut(u64) -> Duration + 'a) -> Self {
        Side { name, work: Box::new(work) }
    }

    /// How often the work fits into a round.
    fn times(&mut self) -> u64 {
        let mut times = 1;
        loop {
            let took = (self.work)(times);
            if took >= ROUND / 4 || times > 1 << 24 {
                let per_second = times as f64 / took.as_secs_f64().max(1e-9);
                return ((per_second * ROUND.as_secs_f64()) as u64).max(1);
            }
            times *= 4;
        }
    }
}

/// What a comparison must reach.
#[derive(Clone, Copy, Debug)]
pub enum Bar {
    /// Our rate over the peer's is at least this.
    AtLeast(f64),
    /// The comparison is for information.
    None,
}

/// Collects results and says whether every bar was reached.
#[derive(Debug, Default)]
pub struct Bench {
    missed: usize,
}

impl Bench {
    /// Times two sides in turns and prints their rates and the median of the rounds' ratios.
    pub fn compare(&mut self, what: &str, mut ours: Side<'_>, mut peer: Side<'_>, bar: Bar) -> f64 {
        let times = (ours.times(), peer.times());
        let (mut our_rates, mut peer_rates, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let our_rate = times.0 as f64 / (ours.work)(times.0).as_secs_f64();
            let peer_rate = times.1 as f64 / (peer.work)(times.1).as_secs_f64();
            our_rates.push(our_rate);
            peer_rates.push(peer_rate);
            ratios.push(our_rate / peer_rate);
        }
        let ratio = median(&mut ratios);
        let (ours, peer) = (
            format!("{} {}/s", ours.name, rate(median(&mut our_rates))),
            format!("{} {}/s", peer.name, rate(median(&mut peer_rates))),
        );
        self.print(what, &ours, &peer, ratio, bar);
        ratio
    }

    /// Prints a ratio that was computed elsewhere.
    pub fn print(&mut self, what: &str, ours: &str, peer: &str, ratio: f64, bar: Bar) {
        let verdict = match bar {
            Bar::AtLeast(least) if ratio >= least => format!("bar {least:.2}: reached"),
            Bar::AtLeast(least) => {
                self.missed += 1;
                format!("bar {least:.2}: MISSED")
            }
            Bar::None => "no bar".to_owned(),
        };
        let line = format!("| {what} | {ours} | {peer} | {ratio:.2} | {verdict} |");
        writeln!(std::io::stdout(), "{line}").expect("standard output is there");
    }

    /// Ends the bench: with `--check` among the arguments, exit 1 if a bar was missed.
    pub fn finish(self) {
        if self.missed > 0 && std::env::args().any(|argument| argument == "--check") {
            std::process::exit(1);
        }
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn rate(value: f64) -> String {
    match value {
        v if v >= 10_000_000.0 => format!("{:.1} M", v / 1e6),
        v if v >= 10_000.0 => format!("{:.1} k", v / 1e3),
        v => format!("{v:.1}"),
    }
}

/// A figure of the memory of this process, such as `VmRSS:` or `VmHWM:`.
#[must_use]
pub fn resident_kib(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the process has a status");
    let line = status.lines().find(|line| line.starts_with(field)).expect("the figure is told");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
}
