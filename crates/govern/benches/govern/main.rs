//! What governance costs: derivations, values of every registered formula with receipts, checking rows. The peer is the number that
//! the contract's users were promised.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench fails by panicking")]

mod hostile;
mod typical;

use countersign_govern::admission::Desk;
use countersign_govern::bundle::Bundle;
use countersign_govern::check::{check, rules};
use countersign_govern::derive::{chain, claim_support};
use countersign_govern::formula::spec::Ready;
use countersign_govern::formula::{Published, evaluate, publish, registry};
use countersign_govern::table::outcome::Verdict;
use countersign_govern::types::basic::{Instant as At, StorageRef};
use countersign_govern::world::{Draft, Placed, World};
use countersign_record::json::{self, Json};
use countersign_testkit::bench::{Bar, Bench};
use countersign_testkit::worlds;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

/// What the binary has.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ROWS: usize = 100_000;
const ROUNDS: usize = 5;
/// Values of a formula in a second, each with its receipt.
const VALUES: f64 = 1e5;
/// Numbers in a second that are looked at where a value is drawn anew from its inputs, over and over.
const LOOKS: f64 = 1e8;
/// Seconds that the rows of a bundle may take.
const LINT: f64 = 2.0;

/// Rows of a long run, let in one batch after the other; runs beside each other that have so many.
const ADMITTED: usize = 2_000;
const RUNS: usize = 8;
/// Rows in a second that are let in, at least.
const LET_IN: f64 = 1e3;

fn main() {
    let mut bench = Bench::default();
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |what: &str| wanted.is_empty() || wanted.iter().any(|one| what.contains(one.as_str()));
    if is_wanted("derivations") {
        derivations(&mut bench);
    }
    formulas(&mut bench, is_wanted);
    if is_wanted("fixtures") {
        linted(&mut bench, "the legal fixtures", fixtures());
    }
    if is_wanted("runs") {
        let (runs, rows) = whole_runs();
        linted(&mut bench, &format!("{runs} whole runs"), rows);
    }
    if is_wanted("hostile") {
        hostile::cases(ROWS).into_iter().for_each(|(of, rows)| linted(&mut bench, of, rows));
    }
    if is_wanted("admission") {
        admitted(&mut bench);
    }
    bench.finish();
}

fn derivations(bench: &mut Bench) {
    let chains = rate(|| {
        let blockers = [chain::FindingState::Active];
        let received = |role, verdict, blockers| chain::Received {
            role,
            verdict,
            causes: chain::Causes::default(),
            snapshot: chain::Snapshot::OfTheChain,
            blockers,
        };
        let both = [
            received(chain::Role::UpstreamEvaluator, Verdict::Failed, &blockers[..]),
            received(chain::Role::DownstreamJudge, Verdict::Passed, &[]),
        ];
        let chain =
            chain::Chain { received: &both, missing: chain::Missing::Nobody, term: chain::Term::Running };
        black_box(chain::resolve(black_box(&chain), &chain::Policy::DEFAULT));
    });
    print(bench, "resolutions of a chain with a blocker", chains, 1e6);
    let claims = rate(|| {
        let policy = claim_support::Policy {
            direct_min: 1,
            require_verified: true,
            allow_stale: false,
            allow_contradicting: false,
            partial: claim_support::PartialRule::DomainSpecific,
            contradiction: claim_support::ContradictionRule::WeightedByAuthority,
        };
        let anchor = claim_support::Anchor {
            strength: claim_support::Strength::Direct,
            authority: claim_support::Authority::Persuasive,
            verified: true,
            fresh: true,
            tier0: false,
        };
        black_box(claim_support::derive(black_box(&policy), black_box([anchor; 8])));
    });
    print(bench, "derivations of a claim's support from 8 places", claims, 1e6);
}

/// Every registered formula, of inputs as they are met.
fn formulas(bench: &mut Bench, is_wanted: impl Fn(&str) -> bool) {
    let cases = typical::cases();
    for spec in registry::all() {
        assert!(cases.iter().any(|case| case.formula == spec.id), "{} is not measured", spec.id);
    }
    for typical::Case { formula, of, inputs, looks } in cases {
        if !is_wanted(formula) {
            continue;
        }
        let ready = registry::ready(formula).unwrap().unwrap();
        let inputs = json::parse(inputs.as_bytes()).unwrap();
        let values = rate(|| value(ready, &inputs));
        let what = format!("values of {formula} with their receipts, {of}");
        match looks {
            None => print(bench, &what, values, VALUES),
            Some(looks) => {
                let (ours, bar) = (values * looks, LOOKS / 1e6);
                let name = format!("countersign {:.1} k/s, {:.0} M looks/s", values / 1e3, ours / 1e6);
                bench.print(&what, &name, &format!("{bar:.0} M looks/s"), ours / LOOKS, Bar::AtLeast(1.0));
            }
        }
    }
}

fn value(ready: &Ready, inputs: &Json) {
    let inputs = inputs.as_object().unwrap();
    let evaluated = evaluate(ready, inputs).unwrap();
    assert!(evaluated.value != Json::Null, "{} gives nothing", ready.spec.id);
    let published = Published {
        receipt_id: "r1".to_owned(),
        producer_ref: "bench".to_owned(),
        input_refs: Vec::new(),
        output_ref: StorageRef::try_from("value:1").unwrap(),
        at: At::try_from("2026-01-01T00:00:00Z").unwrap(),
        task_id: None,
        run_id: None,
    };
    black_box(publish(ready, inputs, &evaluated, published).unwrap());
}

fn print(bench: &mut Bench, what: &str, rate: f64, bar: f64) {
    let name = format!("countersign {:.0} k/s", rate / 1e3);
    bench.print(what, &name, &format!("{:.0} k/s", bar / 1e3), rate / bar, Bar::AtLeast(1.0));
}

/// How often something is done in a second: the best of some rounds.
fn rate(mut work: impl FnMut()) -> f64 {
    let mut best: f64 = 0.0;
    for _ in 0..ROUNDS {
        let (mut done, began) = (0_u64, Instant::now());
        while began.elapsed() < Duration::from_millis(200) {
            for _ in 0..100 {
                work();
            }
            done += 100;
        }
        best = best.max(done as f64 / began.elapsed().as_secs_f64());
    }
    best
}

/// How long all rules take over rows: the best of some rounds.
fn linted(bench: &mut Bench, of: &str, rows: Vec<Draft>) {
    let count = rows.len();
    let times = (0..ROUNDS).map(|_| {
        let drafts = rows.clone();
        let began = Instant::now();
        black_box(check(&World::new(drafts, None)));
        began.elapsed()
    });
    let took = times.min().unwrap().as_secs_f64();
    bench.print(
        &format!("rows of a bundle of {count} records ({of}), by all rules, on one core"),
        &format!("countersign {:.0} k rows/s, {took:.2} s", count as f64 / took / 1e3),
        &format!("{LINT} s"),
        LINT / took,
        Bar::AtLeast(1.0),
    );
}

/// How long a run waits at the door until all its rows are let in, batch by batch as they come: the best of some rounds.
fn admitted(bench: &mut Bench) {
    let mut builder = worlds::Builder::new(1);
    worlds::play(&mut builder, 0..RUNS);
    let rows = builder.rows();
    let mut places = 1..;
    let mut batches: Vec<Vec<Placed>> = Vec::new();
    let mut count = 0;
    for batch in worlds::batches(&rows) {
        if count >= ADMITTED {
            break;
        }
        count += batch.len();
        batches.push(batch.iter().map(|row| (places.next().unwrap(), row.draft.clone())).collect());
    }
    assert!(count >= ADMITTED, "only {count} rows");
    let times = (0..ROUNDS).map(|_| {
        let (mut desk, batches) = (Desk::new(Vec::new()), batches.clone());
        let began = Instant::now();
        for batch in batches {
            let at = batch.iter().filter_map(|(_, row)| row.at).max().unwrap();
            black_box(desk.admit(batch, at).unwrap());
        }
        began.elapsed()
    });
    let took = times.min().unwrap().as_secs_f64();
    let rate = count as f64 / took;
    bench.print(
        &format!("rows let in, {count} in {} batches one after the other", batches.len()),
        &format!("countersign {:.1} k rows/s, {took:.2} s", rate / 1e3),
        &format!("{:.1} k rows/s", LET_IN / 1e3),
        rate / LET_IN,
        Bar::AtLeast(1.0),
    );
}

/// The legal fixtures, over and over with other ids.
fn fixtures() -> Vec<Draft> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let bundles: Vec<Bundle> = rules()
        .map(|(area, rule)| {
            let bytes = std::fs::read(place.join(area.name).join(rule.code).join("legal.json")).unwrap();
            Bundle::read(json::parse(&bytes).unwrap()).unwrap()
        })
        .collect();
    let rounds = (0_usize..).flat_map(|round| bundles.iter().map(move |bundle| (round, bundle)));
    let rows = rounds.flat_map(|(round, bundle)| bundle.rows.iter().map(move |row| (round, row)));
    let renamed =
        |(round, row): (usize, &Draft)| Draft { record: renamed(&row.record, "", round), ..row.clone() };
    rows.take(ROWS).map(renamed).collect()
}

fn renamed(value: &Json, member: &str, round: usize) -> Json {
    let is_name = ["_id", "_ids", "_ref", "_refs"].iter().any(|end| member.ends_with(end));
    match value {
        Json::String(text) if is_name => Json::from(format!("{text}-{round}")),
        Json::Array(items) => Json::Array(items.iter().map(|item| renamed(item, member, round)).collect()),
        Json::Object(members) => {
            Json::Object(members.iter().map(|(name, value)| (name, renamed(value, name, round))).collect())
        }
        Json::String(_) | Json::Null | Json::Bool(_) | Json::Number(_) => value.clone(),
    }
}

/// The log of so many runs as it takes, which nothing is wrong with: how many, and the rows.
fn whole_runs() -> (usize, Vec<Draft>) {
    let mut builder = worlds::Builder::new(1);
    let mut runs = 0;
    while builder.end() < ROWS as u64 {
        worlds::play(&mut builder, runs..runs + 8);
        runs += 8;
    }
    let rows: Vec<Draft> = builder.rows().into_iter().map(|row| row.draft).collect();
    let codes = check(&World::new(rows.clone(), None));
    assert!(codes.is_empty(), "{:?}", codes.first());
    (runs, rows)
}
