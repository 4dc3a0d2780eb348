//! Time and fresh names, as inputs.
//! Owns: the one place that reads the machine's clock and randomness, and their reproducible stand-ins.
//! Must not: be reached from a pure crate.

use countersign_record::canonical::{Hasher, Sink};
use countersign_record::time::{Instant, NotATimestamp, Timestamp};
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

/// Gives the time and fresh names.
#[derive(Debug)]
pub struct Clock {
    time: Mutex<Time>,
    names: Mutex<Names>,
}

#[derive(Debug)]
enum Time {
    /// The machine's, from this time on: its clock may be set back, and time in a record may not.
    Machine(Instant),
    /// `--now`: starts there and moves on by a millisecond with each reading, so that leases expire and
    /// durations come out the same in every run.
    Virtual(Instant),
}

#[derive(Debug)]
struct Names {
    seed: [u8; 32],
    minted: u64,
}

/// How far a virtual clock moves with each reading.
pub const TICK_NANOS: u32 = 1_000_000;

impl Clock {
    /// A clock. `now` starts a virtual one; `seed` makes the names reproducible, and without it they are
    /// seeded by `entropy`.
    #[must_use]
    pub fn new(now: Option<&Timestamp>, seed: Option<u64>, entropy: [u8; 32]) -> Self {
        let seed = match seed {
            Some(seed) => {
                let mut bytes = [0; 32];
                bytes[..8].copy_from_slice(&seed.to_be_bytes());
                bytes
            }
            None => entropy,
        };
        let time =
            now.map_or(Time::Machine(Instant { seconds: 0, nanos: 0 }), |now| Time::Virtual(now.instant()));
        Clock { time: Mutex::new(time), names: Mutex::new(Names { seed, minted: 0 }) }
    }

    /// The time.
    ///
    /// # Errors
    /// The machine's clock stands outside the years 0 to 9999.
    pub fn now(&self) -> Result<Timestamp, NotATimestamp> {
        let mut time = self.time.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let instant = match &mut *time {
            Time::Machine(last) => {
                *last = machine_now().ok_or(NotATimestamp)?.max(*last);
                *last
            }
            Time::Virtual(now) => {
                let reading = *now;
                *now = ticked(reading);
                reading
            }
        };
        Timestamp::try_from(instant)
    }

    /// No time before this one is given from now on: something is on record that happened then.
    pub fn not_before(&self, at: &Timestamp) {
        let mut time = self.time.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match &mut *time {
            Time::Machine(from) | Time::Virtual(from) => *from = at.instant().max(*from),
        }
    }

    /// Sixteen hexadecimal digits that were not given before.
    #[must_use]
    pub fn fresh(&self, purpose: &str) -> String {
        let mut names = self.names.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut hasher = Hasher::new();
        hasher.put(&names.seed);
        hasher.put(&names.minted.to_be_bytes());
        hasher.put(purpose.as_bytes());
        names.minted += 1;
        let digits = hasher.finish().hex();
        digits.iter().take(16).map(|digit| char::from(*digit)).collect()
    }
}

fn ticked(instant: Instant) -> Instant {
    let nanos = instant.nanos + TICK_NANOS;
    Instant { seconds: instant.seconds + i64::from(nanos / 1_000_000_000), nanos: nanos % 1_000_000_000 }
}

fn machine_now() -> Option<Instant> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Some(Instant { seconds: i64::try_from(since.as_secs()).ok()?, nanos: since.subsec_nanos() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_clock_goes_back_behind_what_is_on_record() {
        let at = |text: &str| Timestamp::try_from(text.to_owned()).unwrap();
        let late = at("9000-01-01T00:00:00Z");
        for now in [None, Some(at("2026-02-01T09:00:00Z"))] {
            let clock = Clock::new(now.as_ref(), None, [0; 32]);
            let read = || clock.now().unwrap().instant();
            assert!(read() < late.instant());
            clock.not_before(&late);
            clock.not_before(&at("2026-01-01T00:00:00Z"));
            let (first, second) = (read(), read());
            assert!(late.instant() <= first && first <= second, "{first:?} {second:?}");
        }
    }

    #[test]
    fn a_virtual_clock_ticks_and_repeats() {
        let start = Timestamp::try_from("2025-12-10T23:59:59.999Z").unwrap();
        let readings = || {
            let clock = Clock::new(Some(&start), Some(7), [0; 32]);
            [
                clock.now().unwrap().to_string(),
                clock.now().unwrap().to_string(),
                clock.fresh("run"),
                clock.fresh("run"),
            ]
        };
        assert_eq!(readings()[..2], ["2025-12-10T23:59:59.999Z", "2025-12-11T00:00:00Z"]);
        assert_eq!(readings(), readings());
        assert_ne!(readings()[2], readings()[3]);
    }

    #[test]
    fn without_a_seed_names_follow_the_entropy() {
        let name = |entropy| Clock::new(None, None, entropy).fresh("run");
        assert_ne!(name([1; 32]), name([2; 32]));
    }
}
