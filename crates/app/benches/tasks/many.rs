//! A thousand small tasks, 32 at once, in one process and one ledger on disk.
//! Owns: how many and how long each takes, and the memory at the end. Must not: do anything of a run by itself.

use crate::works::Works;
use countersign_record::json;
use countersign_testkit::bench::{Bar, Bench, resident_kib};
use countersign_work::task;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const TASKS: usize = 1_000;
const AT_ONCE: usize = 32;
/// Tasks one after the other, to compare with.
const ALONE: usize = 100;
/// Tasks after which memory is looked at the first time.
const EARLY: usize = 100;
/// How much more memory may be taken at the end than early on.
const GROWTH_MAX: f64 = 1.2;

const LEASE: &str = "# Lease\n\nThe lease of the warehouse ends on 31 May 2027.\n\n\
    The lease of the warehouse ends early if the rent stays unpaid for 60 days.\n\nThe rent is 900 euros a month.\n";

const TASK: &str = r#"{
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

pub(crate) fn measure(bench: &mut Bench, scratch: &Path) {
    let task = task::read_whole(&json::parse(TASK.as_bytes()).unwrap()).unwrap();
    let works =
        |name: &str| Arc::new(Works::new(&scratch.join(name), task.clone(), vec![LEASE.as_bytes().to_vec()]));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let alone = runtime.block_on(at_once(&works("alone"), ALONE, 1));
    let many = runtime.block_on(at_once(&works("many"), TASKS, AT_ONCE));
    bench.print(
        "small tasks, 32 at once in one process and one ledger (tasks); peer: one after the other",
        &format!("countersign {:.1}/s, {}", many.rate(), many.times()),
        &format!("{:.1}/s, {}", alone.rate(), alone.times()),
        many.rate() / alone.rate(),
        Bar::AtLeast(1.0),
    );
    let (early, late) = (many.early_kib as f64, many.late_kib as f64);
    bench.print(
        "memory of the process after 1,000 tasks; peer: after 100",
        &format!("countersign {:.0} MiB", late / 1_024.0),
        &format!("{:.0} MiB", early / 1_024.0),
        early / late,
        Bar::AtLeast(1.0 / GROWTH_MAX),
    );
}

/// What came of some tasks.
struct Done {
    whole: Duration,
    /// Of each task, sorted.
    each: Vec<Duration>,
    early_kib: u64,
    late_kib: u64,
}

impl Done {
    fn rate(&self) -> f64 {
        self.each.len() as f64 / self.whole.as_secs_f64()
    }

    fn times(&self) -> String {
        let at = |part: usize| self.each[(self.each.len() - 1) * part / 100].as_secs_f64() * 1e3;
        format!("p50 {:.0} ms, p99 {:.0} ms", at(50), at(99))
    }
}

async fn at_once(works: &Arc<Works>, tasks: usize, at_once: usize) -> Done {
    let (taken, each) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
    let early = Arc::new(AtomicUsize::new(0));
    let start = Instant::now();
    let worker = |_| {
        let (works, taken, each) = (Arc::clone(works), Arc::clone(&taken), Arc::clone(&each));
        let early = Arc::clone(&early);
        tokio::spawn(async move {
            while taken.fetch_add(1, Ordering::Relaxed) < tasks {
                let start = Instant::now();
                works.run().await;
                let mut each = each.lock().unwrap();
                each.push(start.elapsed());
                if each.len() == EARLY {
                    early.store(usize::try_from(resident_kib("VmRSS:")).unwrap(), Ordering::Relaxed);
                }
            }
        })
    };
    let workers: Vec<_> = (0..at_once).map(worker).collect();
    for worker in workers {
        worker.await.unwrap();
    }
    let whole = start.elapsed();
    let mut each = std::mem::take(&mut *each.lock().unwrap());
    each.sort();
    assert_eq!(each.len(), tasks);
    let (early_kib, late_kib) = (early.load(Ordering::Relaxed) as u64, resident_kib("VmRSS:"));
    Done { whole, each, early_kib, late_kib }
}
