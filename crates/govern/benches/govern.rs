//! What governance costs: derivations, values with receipts, checking rows. The peer is the number that the contract's users were
//! promised.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench fails by panicking")]

use countersign_govern::bundle::Bundle;
use countersign_govern::check::{check, rules};
use countersign_govern::derive::{chain, claim_support};
use countersign_govern::formula::spec::Ready;
use countersign_govern::formula::{Published, evaluate, publish, registry};
use countersign_govern::table::outcome::Verdict;
use countersign_govern::types::basic::{Instant as At, StorageRef};
use countersign_govern::world::Draft;
use countersign_record::json::{self, Json};
use countersign_testkit::bench::{Bar, Bench};
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

const ROWS: usize = 100_000;
const ROUNDS: usize = 5;

fn main() {
    let mut bench = Bench::default();
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
    print(&mut bench, "resolutions of a chain with a blocker", chains, 1e6);
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
        black_box(claim_support::derive(black_box(&policy), [anchor; 8]));
    });
    print(&mut bench, "derivations of a claim's support from 8 places", claims, 1e6);
    let formulas = registry::ready().unwrap();
    for (id, inputs) in [
        ("regression_rate_v1", r#"{"regression_introduced_count":2,"accepted_count":8}"#),
        ("sub_agent_reputation_score_v1", r#"{"invocations":20,"hits":15,"attribution_lift":0.2}"#),
    ] {
        let ready = &formulas[id];
        let inputs = json::parse(inputs.as_bytes()).unwrap();
        let values = rate(|| value(ready, &inputs));
        print(&mut bench, &format!("values of {id} with their receipts"), values, 1e5);
    }
    let (rows, took) = linted();
    let second = rows as f64 / took.as_secs_f64();
    bench.print(
        &format!("rows of a bundle of {rows} records, by all rules, on one core"),
        &format!("countersign {:.0} k rows/s, {:.2} s", second / 1e3, took.as_secs_f64()),
        "2 s",
        2.0 / took.as_secs_f64(),
        Bar::AtLeast(1.0),
    );
    bench.finish();
}

fn value(ready: &Ready, inputs: &Json) {
    let inputs = inputs.as_object().unwrap();
    let evaluated = evaluate(ready, inputs).unwrap();
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

/// The legal fixtures, over and over with other ids, checked by all rules: how many rows, and the best time.
fn linted() -> (usize, Duration) {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let bundles: Vec<Bundle> = rules()
        .map(|(area, rule)| {
            let bytes = std::fs::read(place.join(area.name).join(rule.code).join("legal.json")).unwrap();
            Bundle::read(json::parse(&bytes).unwrap()).unwrap()
        })
        .collect();
    let mut rows: Vec<Draft> = Vec::new();
    'full: for round in 0.. {
        for bundle in &bundles {
            for row in &bundle.rows {
                if rows.len() == ROWS {
                    break 'full;
                }
                rows.push(Draft { record: renamed(&row.record, "", round), ..row.clone() });
            }
        }
    }
    let times = (0..ROUNDS).map(|_| {
        let bundle = Bundle { as_of: None, rows: rows.clone(), also: Vec::new(), fixture: None };
        let began = Instant::now();
        black_box(check(&bundle.world()));
        began.elapsed()
    });
    (rows.len(), times.min().unwrap())
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
