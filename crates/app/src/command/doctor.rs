//! `countersign doctor`: what this machine supports.
//! Owns: the checks, each with a fix. Must not: leave anything behind.

mod kernel;

use crate::cli::Global;
use crate::failure::{Exit, Failure};
use crate::output;
use crate::place::Place;
use countersign_runtime::ports::ledger::{Error, Ledger};
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

/// One check.
#[derive(Debug, Serialize)]
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

#[derive(Serialize)]
struct Diagnosis {
    ok: bool,
    version: &'static str,
    checks: Vec<Check>,
}

/// Looks at the machine; exit 1 if something that is needed is missing.
pub(super) async fn run(global: &Global) -> Result<Exit, Failure> {
    let place = Place::open(global)?;
    let mut checks = vec![data_directory(&global.data)];
    if place.root != global.data {
        checks.push(Check { name: "store directory", ..data_directory(&place.root) });
    }
    checks.extend([durability(&place.root), clock(&place), ledger(&place).await, keys(&place)]);
    checks.extend(kernel::checks());
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

/// The data directory, or the nearest directory above it that is there.
fn existing(root: &Path) -> PathBuf {
    let absolute = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
    absolute.ancestors().find(|path| path.is_dir()).unwrap_or(Path::new("/")).to_owned()
}

/// A file that is gone when the check is over, whatever happens in between.
struct Probe(PathBuf);

impl Probe {
    fn create(root: &Path) -> std::io::Result<(Self, std::fs::File)> {
        let path = existing(root).join(format!(".countersign-probe-{}", std::process::id()));
        let file = std::fs::OpenOptions::new().write(true).create_new(true).open(&path)?;
        Ok((Probe(path), file))
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

fn data_directory(root: &Path) -> Check {
    const NAME: &str = "data directory";
    if root.exists() && !root.is_dir() {
        let found = format!("{} is no directory", root.display());
        return Check::failed(NAME, found, "name a directory with --data");
    }
    match Probe::create(root) {
        Ok(_) => Check::ok(NAME, format!("{} can be written", root.display())),
        Err(error) => Check::failed(
            NAME,
            format!("{}: {error}", root.display()),
            "give this user write access, or name another directory with --data",
        ),
    }
}

/// How many times a second the disk says that a small write is safe.
fn durability(root: &Path) -> Check {
    const NAME: &str = "durable writes";
    const WRITES: u32 = 32;
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
            Check::ok(NAME, format!("{rate:.0} a second of 4 KiB each"))
        }
        Err(error) => {
            Check::failed(NAME, error.to_string(), "free some space, or name another directory with --data")
        }
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
    const NAME: &str = "ledger";
    match place.ledger.head(&place.access).await {
        Ok(head) => Check::ok(NAME, format!("matter {}: {} rows", place.matter(), head.seq)),
        Err(Error::Missing { matter }) => Check::ok(NAME, format!("matter {matter}: nothing appended yet")),
        Err(error) => {
            let code = error.code();
            Check::failed(NAME, format!("{code}: {error}"), code.entry().fix)
        }
    }
}

fn keys(place: &Place) -> Check {
    const NAME: &str = "keys";
    match place.keys.list() {
        Ok(keys) if keys.iter().any(|key| key.own) => {
            Check::ok(NAME, format!("{} principals can sign", keys.iter().filter(|key| key.own).count()))
        }
        Ok(_) => Check::limited(
            NAME,
            "no principal has a key: decisions are self-asserted",
            "countersign principal add NAME, then act with --as NAME",
        ),
        Err(error) => Check::failed(NAME, error.to_string(), error.code().entry().fix),
    }
}
