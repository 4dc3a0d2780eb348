//! How long a remote model is waited for, and when it is asked again.
//! Owns: the times, the pauses between attempts. Must not: see the machine's clock.

use countersign_runtime::ports::Answer;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use std::time::Duration;

/// How long each part may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Until there is a connection.
    pub connect: Duration,
    /// From then until the first piece of an answer: the whole question is read before it.
    pub first: Duration,
    /// From one piece to the next.
    pub piece: Duration,
    /// For everything, all attempts and pauses included.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts {
            connect: Duration::from_secs(10),
            first: Duration::from_secs(120),
            piece: Duration::from_secs(60),
            total: Duration::from_secs(600),
        }
    }
}

/// Whatever is left to say once an answer has ended: what it used.
pub(crate) const TAIL_MAX: Duration = Duration::from_secs(5);
const PAUSE_FIRST: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(8);
/// A server that wants to be left alone for longer is not asked again: it would only say so once more.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(30);

/// Waits, and has some chance in how long.
pub trait Pace: Send + Sync {
    /// Any number: two processes that were refused together must not come back together.
    fn chance(&self) -> u64;

    /// Waits so long.
    fn pause(&self, time: Duration) -> Answer<'_, ()>;
}

/// The machine's own time and chance.
#[derive(Clone, Copy, Debug, Default)]
pub struct OwnPace;

impl Pace for OwnPace {
    fn chance(&self) -> u64 {
        // Without chance the pauses are the shortest ones, which is no harm.
        getrandom::u64().unwrap_or_default()
    }

    fn pause(&self, time: Duration) -> Answer<'_, ()> {
        Box::pin(tokio::time::sleep(time))
    }
}

/// Whether asking again can help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// No.
    Never,
    /// At once: it will be asked otherwise.
    Otherwise,
    /// After a pause of ours, or as long as the server said.
    Later(Option<Duration>),
}

impl Again {
    /// The pause after so many failures; `None` if it is not asked again.
    pub(crate) fn pause(self, failures: u32, pace: &dyn Pace) -> Option<Duration> {
        match self {
            Again::Never => None,
            Again::Otherwise => Some(Duration::ZERO),
            Again::Later(Some(told)) if told > RETRY_AFTER_MAX => None,
            Again::Later(told) => Some(told.unwrap_or_default().max(backoff(failures, pace.chance()))),
        }
    }
}

/// Doubles with each failure; between half of it and all of it by chance.
fn backoff(failures: u32, chance: u64) -> Duration {
    let doubled = 2_u32.saturating_pow(failures.saturating_sub(1));
    let whole = PAUSE_FIRST.saturating_mul(doubled).min(PAUSE_MAX);
    let half = u64::try_from(whole.as_millis() / 2).unwrap_or(u64::MAX);
    Duration::from_millis(half.saturating_add(chance % half.saturating_add(1)))
}

/// How long a server wants to be left alone. A date is compared with the server's own: clocks differ.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let told = text(RETRY_AFTER)?;
    if !told.is_empty() && told.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than a number may have: longer than anybody waits.
        return Some(Duration::from_secs(told.parse().unwrap_or(u64::MAX)));
    }
    let until = httpdate::parse_http_date(told).ok()?;
    let now = httpdate::parse_http_date(text(DATE)?).ok()?;
    Some(until.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderValue;

    struct Fixed(u64);

    impl Pace for Fixed {
        fn chance(&self) -> u64 {
            self.0
        }

        fn pause(&self, _: Duration) -> Answer<'_, ()> {
            Box::pin(std::future::ready(()))
        }
    }

    #[test]
    fn pauses_double_within_bounds() {
        let check = |failures, chance, millis| {
            let pause = Again::Later(None).pause(failures, &Fixed(chance));
            assert_eq!(pause, Some(Duration::from_millis(millis)), "{failures} {chance}");
        };
        check(1, 0, 250);
        check(1, 250, 500);
        check(1, 251, 250);
        check(2, 0, 500);
        check(3, 1_000, 2_000);
        check(9, 0, 4_000);
        check(u32::MAX, u64::MAX, 4_000 + u64::MAX % 4_001);
        assert_eq!(Again::Never.pause(1, &Fixed(0)), None);
        assert_eq!(Again::Otherwise.pause(1, &Fixed(9)), Some(Duration::ZERO));
    }

    #[test]
    fn a_server_is_left_alone_as_long_as_it_says() {
        let told = |seconds| Again::Later(Some(Duration::from_secs(seconds))).pause(1, &Fixed(0));
        assert_eq!(told(0), Some(Duration::from_millis(250)));
        assert_eq!(told(7), Some(Duration::from_secs(7)));
        assert_eq!(told(30), Some(Duration::from_secs(30)));
        assert_eq!(told(31), None);
        let check = |after: &'static str, date: Option<&'static str>, seconds: Option<u64>| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, HeaderValue::from_static(after));
            if let Some(date) = date {
                headers.insert(DATE, HeaderValue::from_static(date));
            }
            assert_eq!(retry_after(&headers), seconds.map(Duration::from_secs), "{after}");
        };
        let (noon, later) = ("Mon, 16 Nov 2026 12:00:00 GMT", "Mon, 16 Nov 2026 12:00:09 GMT");
        check("5", None, Some(5));
        check(" 5 ", None, Some(5));
        check("99999999999999999999999", None, Some(u64::MAX));
        check(later, Some(noon), Some(9));
        check(noon, Some(later), Some(0));
        check(later, None, None);
        for bad in ["", "-1", "1.5", "soon", "Mon, 99 Nov 2026 12:00:00 GMT"] {
            check(bad, Some(noon), None);
        }
        assert_eq!(retry_after(&HeaderMap::new()), None);
    }
}
