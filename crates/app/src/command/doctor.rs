//! `countersign doctor`: what this machine supports.
//! Owns: the checks, each with a fix. Must not: leave anything behind.

use super::models::{Unready, unready};
use crate::cli::Global;
use crate::failure::{Exit, Failure};
use crate::output;
use crate::place::Place;
use countersign_models::Shelf;
use countersign_runtime::ports::ledger::{Error, Ledger};
use countersign_store::keys;
use countersign_tools::{Feature, Sandbox, State, rehearse, support};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What a check found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Ok,
    /// Something that later work can do without.
    Limited,
    Failed,
}

const DURABLE: &str = "durable writes";
const LEDGER: &str = "ledger";
const KEYS: &str = "keys";

/// One check.
#[derive(Clone, Debug, Serialize)]
struct Check {
    name: &'static str,
    verdict: Verdict,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<&'static str>,
}

impl Check {
    fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Check { name, verdict: Verdict::Ok, found: found.into(), fix: None }
    }

    fn limited(name: &'static str, found: impl Into<String>, fix: &'static str) -> Self {
        Check { name, verdict: Verdict::Limited, found: found.into(), fix: Some(fix) }
    }

    fn failed(name: &'static str, found: impl Into<String>, fix: &'static str) -> Self {
        Check { name, verdict: Verdict::Failed, found: found.into(), fix: Some(fix) }
    }
}

impl Check {
    /// What holds tools in their place. Where it is missing they are refused; everything else works.
    fn of(feature: Feature) -> Self {
        let Feature { name, state, detail, fix } = feature;
        let verdict = match state {
            State::Ready => Verdict::Ok,
            State::Limited | State::Missing => Verdict::Limited,
        };
        Check { name, verdict, found: detail, fix }
    }
}

/// Holds a harmless program for real: whether all of it works together, only doing it shows.
async fn held() -> Check {
    const NAME: &str = "held programs";
    let rehearsed = tokio::task::spawn_blocking(|| {
        Sandbox::open(&std::env::temp_dir()).map(|sandbox| rehearse(&sandbox))
    });
    let fix = "see the lines above; shell.exec is refused until then";
    match rehearsed.await {
        Ok(Ok(feature)) => Check::of(feature),
        Ok(Err(error)) => Check::limited(NAME, error.to_string(), fix),
        Err(error) => Check::limited(NAME, error.to_string(), fix),
    }
}

/// The models that are set up, and each that could not be asked. None is asked: that would send something.
fn models(global: &Global) -> Vec<Check> {
    const NAME: &str = "models";
    let listed = match Shelf::of(&global.data).list() {
        Ok(listed) => listed,
        Err(error) => {
            return vec![Check::limited(NAME, error.to_string(), "mend or remove the file that is named")];
        }
    };
    let unready: Vec<Check> = listed
        .iter()
        .filter_map(|one| unready(&one.settings).map(|unready| (&one.name, unready)))
        .map(|(name, Unready { code, why })| {
            Check::limited(
                "model",
                format!("{name} can't be asked: {}", output::plain(&why)),
                code.entry().fix,
            )
        })
        .collect();
    let found = format!("extractive, and {} more set up", listed.len().saturating_sub(1));
    let all = match unready.len() {
        0 => Check::ok(NAME, found),
        count => Check::limited(
            NAME,
            format!("{found}, {count} of which can't be asked"),
            "see the lines below; the other models can be used",
        ),
    };
    [vec![all], unready].concat()
}

#[derive(Serialize)]
struct Diagnosis {
    ok: bool,
    version: &'static str,
    checks: Vec<Check>,
}

/// Looks at the machine; exit 1 if something that is needed is missing.
pub(super) async fn run(global: &Global) -> Result<Exit, Failure> {
    let place = Place::open(global)?;
    let data = Named { dir: &global.data, name: "data directory", fix: "name a directory with --data" };
    let elsewhere = Named { dir: &place.root, name: "store directory", fix: "name a directory with --store" };
    let mut checks = vec![data.check()];
    let store = if place.root == global.data { &data } else { &elsewhere };
    if place.root != global.data {
        checks.push(store.check());
    }
    checks.push(store.blocked(DURABLE).unwrap_or_else(|| durability(&place.root)));
    checks.push(clock(&place));
    checks.push(match store.blocked(LEDGER) {
        Some(check) => check,
        None => ledger(&place).await,
    });
    checks.push(data.blocked(KEYS).unwrap_or_else(|| keys(&place)));
    checks.extend(support().into_iter().map(Check::of));
    checks.push(held().await);
    checks.extend(models(global));
    let ok = checks.iter().all(|check| check.verdict != Verdict::Failed);
    if global.json {
        output::json(&Diagnosis { ok, version: env!("CARGO_PKG_VERSION"), checks })?;
    } else {
        for check in &checks {
            let mark = match check.verdict {
                Verdict::Ok => "ok     ",
                Verdict::Limited => "limited",
                Verdict::Failed => "FAILED ",
            };
            output::line(&format!("{mark}  {:<16} {}", check.name, check.found))?;
            if let Some(fix) = check.fix {
                output::line(&format!("                          fix: {fix}"))?;
            }
        }
    }
    Ok(if ok { Exit::Success } else { Exit::Limited })
}

/// What stands where a directory is asked for.
enum Standing {
    There,
    /// Nothing yet; this is the nearest directory above it.
    Missing {
        above: PathBuf,
    },
    /// Something that is no directory stands there or on the way.
    Blocked {
        by: PathBuf,
    },
}

fn standing(dir: &Path) -> Standing {
    // Without a slash at its end, which would hide a file.
    let dir: PathBuf = dir.components().collect();
    // A relative path has the working directory above it.
    let above = dir.ancestors().map(|path| if path.as_os_str().is_empty() { Path::new(".") } else { path });
    for path in above {
        // A link that leads nowhere stands in the way too.
        if path.symlink_metadata().is_err() {
            continue;
        }
        return if !path.is_dir() {
            Standing::Blocked { by: path.to_owned() }
        } else if path == dir {
            Standing::There
        } else {
            Standing::Missing { above: path.to_owned() }
        };
    }
    Standing::Missing { above: PathBuf::from(".") }
}

/// A directory that an option names.
struct Named<'a> {
    dir: &'a Path,
    name: &'static str,
    /// What to do where it is none.
    fix: &'static str,
}

impl Named<'_> {
    /// The check `name`, if it fails because there can be no such directory.
    fn blocked(&self, name: &'static str) -> Option<Check> {
        match standing(self.dir) {
            Standing::Blocked { by } => Some(self.blocked_by(name, &by)),
            Standing::There | Standing::Missing { .. } => None,
        }
    }

    fn blocked_by(&self, name: &'static str, by: &Path) -> Check {
        Check::failed(name, format!("{} is no directory", by.display()), self.fix)
    }

    fn check(&self) -> Check {
        let shown = self.dir.display();
        let (result, can) = match standing(self.dir) {
            Standing::Blocked { by } => return self.blocked_by(self.name, &by),
            Standing::There => (Probe::create(self.dir).map(drop), "can be written"),
            // Nothing is written outside of it, so the system is asked.
            Standing::Missing { above } => {
                let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
                (rustix::fs::access(&above, access).map_err(Into::into), "is not there yet and can be made")
            }
        };
        match result {
            Ok(()) => Check::ok(self.name, format!("{shown} {can}")),
            Err(error) => Check::failed(
                self.name,
                format!("{shown}: {error}"),
                "give this user write access, or name another directory with --data",
            ),
        }
    }
}

/// A file that is gone when the check is over, whatever happens in between.
struct Probe(PathBuf);

impl Probe {
    fn create(dir: &Path) -> std::io::Result<(Self, std::fs::File)> {
        let path = dir.join(format!(".countersign-probe-{}", std::process::id()));
        let file = std::fs::OpenOptions::new().write(true).create_new(true).open(&path)?;
        Ok((Probe(path), file))
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

/// How many times a second the disk says that a small write is safe.
fn durability(root: &Path) -> Check {
    const WRITES: u32 = 32;
    if let Standing::Missing { .. } = standing(root) {
        let found = format!("not measured: {} is not there yet", root.display());
        return Check::limited(DURABLE, found, "run doctor again when something was appended");
    }
    let measured = Probe::create(root).and_then(|(probe, mut file)| {
        let start = Instant::now();
        for _ in 0..WRITES {
            file.write_all(&[0; 4096])?;
            file.sync_data()?;
        }
        drop(probe);
        Ok(start.elapsed())
    });
    match measured {
        Ok(elapsed) => {
            let rate = f64::from(WRITES) / elapsed.as_secs_f64();
            Check::ok(DURABLE, format!("{rate:.0} a second of 4 KiB each"))
        }
        Err(error) => Check::failed(
            DURABLE,
            error.to_string(),
            "free some space, or name another directory with --data",
        ),
    }
}

fn clock(place: &Place) -> Check {
    match place.clock.now() {
        Ok(now) if now.as_str() >= "2024" => Check::ok("clock", now.to_string()),
        Ok(now) => Check::failed("clock", now.to_string(), "set the machine's clock; rows carry its time"),
        Err(error) => {
            Check::failed("clock", error.to_string(), "set the machine's clock; rows carry its time")
        }
    }
}

async fn ledger(place: &Place) -> Check {
    match place.ledger.head(&place.access).await {
        Ok(head) => {
            Check::ok(LEDGER, format!("matter {}: {}", place.matter(), output::count(head.seq, "row")))
        }
        Err(Error::Missing { matter }) => Check::ok(LEDGER, format!("matter {matter}: nothing appended yet")),
        Err(error) => {
            let code = error.code();
            Check::failed(LEDGER, format!("{code}: {error}"), code.entry().fix)
        }
    }
}

fn keys(place: &Place) -> Check {
    match place.keys.list() {
        Ok(keys) if keys.iter().any(|key| key.own) => {
            let own = keys.iter().filter(|key| key.own).count() as u64;
            Check::ok(KEYS, format!("{} can sign", output::count(own, "principal")))
        }
        Ok(_) => Check::limited(
            KEYS,
            "no principal has a key: decisions are self-asserted",
            "countersign principal add NAME, then act with --as NAME",
        ),
        Err(error @ keys::Error::Io { .. }) => Check::failed(
            KEYS,
            error.to_string(),
            "see that it is what its name says, and that this user can read it",
        ),
        Err(error) => Check::failed(KEYS, error.to_string(), error.code().entry().fix),
    }
}
