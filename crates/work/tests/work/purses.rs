//! What runs of one matter may spend together, however they come in between each other.

use countersign_govern::types::cost::CostDimension as Dimension;
use countersign_work::cost::Amounts;
use countersign_work::purse::{Decision, Purse, Refusal, Row};
use proptest::prelude::*;

const CAP: u64 = 100;

fn usd(amount: u64) -> Amounts {
    Amounts::from([(Dimension::Usd, amount)])
}

fn of(amounts: &Amounts) -> u64 {
    amounts.get(&Dimension::Usd).copied().unwrap_or_default()
}

/// The stream of a matter: it takes a row only where it ends.
#[derive(Default)]
struct Stream(Vec<(String, String)>);

impl Stream {
    fn append(&mut self, decision: &Decision) -> bool {
        let is_here = decision.place == self.0.len() as u64;
        if is_here {
            let payload = countersign_record::json::to_text(&decision.row.payload()).unwrap();
            self.0.push((decision.row.kind().to_owned(), payload));
        }
        is_here
    }

    fn read(&self) -> Purse {
        let mut purse = Purse::default();
        for (kind, payload) in &self.0 {
            let payload = countersign_record::json::parse(payload.as_bytes()).unwrap();
            purse.apply(&Row::read(kind, &payload).unwrap());
        }
        purse
    }
}

fn opened() -> Stream {
    let mut stream = Stream::default();
    assert!(stream.append(&Purse::default().cap(&usd(CAP))));
    stream
}

#[test]
fn who_comes_second_gets_what_is_left() {
    let mut stream = opened();
    let first = stream.read();
    assert!(stream.append(&first.reserve("one", "a", &usd(60)).unwrap()));
    // The other decided on the same state, so its row is not taken; it reads again and is refused.
    assert!(!stream.append(&first.reserve("two", "a", &usd(60)).unwrap()));
    let refused = stream.read().reserve("two", "a", &usd(60)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the matter's budget does not reach: the next step would go beyond the budget by 0.00002 usd"
    );
    assert!(stream.append(&stream.read().settle("one", "a", &usd(30)).unwrap()));
    let purse = stream.read();
    assert_eq!((of(purse.spent()), of(&purse.held())), (30, 0));
    assert!(stream.append(&purse.reserve("two", "a", &usd(60)).unwrap()));
}

#[test]
fn a_step_holds_once_and_an_ended_run_nothing() {
    let mut stream = opened();
    assert!(stream.append(&stream.read().reserve("one", "a", &usd(10)).unwrap()));
    let twice = stream.read().reserve("one", "a", &usd(10)).unwrap_err();
    assert_eq!(twice, Refusal::Twice { run: "one".to_owned(), step: "a".to_owned() });
    assert!(stream.append(&stream.read().settle("one", "a", &usd(0)).unwrap()));
    let not_held = Refusal::NotHeld { run: "one".to_owned(), step: "a".to_owned() };
    assert_eq!(stream.read().settle("one", "a", &usd(1)).unwrap_err(), not_held);
    // Nobody saw the end of it, so it is done again: that costs, too.
    assert!(stream.append(&stream.read().reserve("one", "a", &usd(10)).unwrap()));
    assert!(stream.append(&stream.read().settle("one", "a", &usd(4)).unwrap()));
    assert_eq!((of(stream.read().spent()), of(&stream.read().held())), (4, 0));
    assert!(stream.append(&stream.read().reserve("one", "b", &usd(10)).unwrap()));
    assert!(stream.append(&stream.read().end("one").unwrap()));
    let purse = stream.read();
    assert_eq!((purse.end("one"), of(&purse.held_by("one"))), (None, 0));
    assert_eq!(purse.reserve("one", "c", &usd(1)).unwrap_err(), Refusal::Over { run: "one".to_owned() });
}

#[test]
fn caps_can_be_raised_and_what_has_none_is_free() {
    let mut stream = opened();
    assert!(stream.read().reserve("one", "a", &usd(CAP + 1)).is_err());
    let tokens = Amounts::from([(Dimension::InputTokens, u64::MAX)]);
    assert!(stream.read().reserve("one", "a", &tokens).is_ok());
    assert!(stream.append(&stream.read().cap(&usd(CAP * 2))));
    assert!(stream.read().reserve("one", "a", &usd(CAP + 1)).is_ok());
}

/// What a run does next, on a view that may be old.
#[derive(Clone, Debug)]
enum Act {
    Look(usize),
    Reserve(usize, u64),
    Settle(usize, u64),
    End(usize),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let run = 0..4_usize;
    let one = prop_oneof![
        4 => run.clone().prop_map(Act::Look),
        4 => (run.clone(), 0..60_u64).prop_map(|(run, amount)| Act::Reserve(run, amount)),
        3 => (run.clone(), 0..=100_u64).prop_map(|(run, share)| Act::Settle(run, share)),
        1 => run.prop_map(Act::End),
    ];
    proptest::collection::vec(one, 0..120)
}

/// A run: what it last read, the steps it holds something for.
#[derive(Default)]
struct Run {
    view: Purse,
    steps: u64,
    holds: Option<(String, u64)>,
    is_over: bool,
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn nobody_overspends_and_nothing_stays_held(acts in acts()) {
        let mut stream = opened();
        let mut runs: Vec<Run> = (0..4).map(|_| Run::default()).collect();
        for act in acts {
            let (at, decided) = match act {
                Act::Look(at) => {
                    runs[at].view = stream.read();
                    continue;
                }
                Act::Reserve(at, amount) if runs[at].holds.is_none() && !runs[at].is_over => {
                    runs[at].steps += 1;
                    let step = runs[at].steps.to_string();
                    (at, runs[at].view.reserve(&at.to_string(), &step, &usd(amount)).ok().map(|one| (one, Some((step, amount)))))
                }
                Act::Settle(at, share) => {
                    let Some((step, amount)) = runs[at].holds.clone() else { continue };
                    let spent = usd(amount * share / 100);
                    (at, runs[at].view.settle(&at.to_string(), &step, &spent).ok().map(|one| (one, None)))
                }
                Act::End(at) => (at, runs[at].view.end(&at.to_string()).map(|one| (one, None))),
                Act::Reserve(..) => continue,
            };
            if let Some((decision, holds)) = decided
                && stream.append(&decision)
            {
                runs[at].is_over |= matches!(decision.row, Row::Ended(_));
                runs[at].holds = holds;
            }
            let purse = stream.read();
            prop_assert!(of(purse.spent()) + of(&purse.held()) <= CAP);
            for (at, run) in runs.iter().enumerate() {
                let held = run.holds.as_ref().map_or(0, |(_, amount)| *amount);
                prop_assert_eq!(of(&purse.held_by(&at.to_string())), held);
            }
        }
    }
}
