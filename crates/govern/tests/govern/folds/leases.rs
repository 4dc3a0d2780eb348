//! At no time two leases on a question are live, and an answer under a dead one does not count.

use super::rows::*;
use super::{cases, folded};
use countersign_govern::fold::family::NEED;
use countersign_govern::world::Draft;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// What happens to a question.
#[derive(Clone, Debug)]
enum Step {
    /// A module takes it for some minutes.
    Lease(u8, u64, &'static str),
    /// Somebody answers under a token.
    Answer(u8),
    /// A receipt says that it went elsewhere.
    Move(&'static str, &'static str),
}

fn step() -> impl Strategy<Value = Step> {
    let expiry = prop::sample::select(vec!["release_for_reclaim", "escalate", "mark_abandoned"]);
    let ways: Vec<(&str, &str)> = NEED.machine.transitions.iter().map(|way| (way.from, way.to)).collect();
    prop_oneof![
        4 => (0..3_u8, 1..9_u64, expiry).prop_map(|(token, minutes, expiry)| Step::Lease(token, minutes, expiry)),
        2 => (0..3_u8).prop_map(Step::Answer),
        1 => prop::sample::select(ways).prop_map(|(from, to)| Step::Move(from, to)),
    ]
}

/// A question as one would keep it by hand.
#[derive(Clone, Debug, PartialEq)]
struct Need {
    state: String,
    /// Who holds it, until when, and whether others may take it then.
    held: Option<(u8, u64, bool)>,
}

impl Need {
    fn take(&mut self, step: &Step, minute: u64) {
        let live = |need: &Need| need.held.filter(|(_, end, _)| minute < *end).map(|(token, ..)| token);
        match step {
            Step::Lease(token, minutes, expiry) => {
                let is_over = self.held.is_some_and(|(_, end, is_left)| end <= minute && is_left);
                // Its holder may prolong a lease, not cut it short behind the back of who looks at the clock.
                let is_longer = self.held.is_some_and(|(_, end, _)| end <= minute + minutes);
                let is_own = live(self) == Some(*token) && is_longer;
                if self.state == "open" || (self.state == "leased" && (is_over || is_own)) {
                    self.state = String::from("leased");
                    self.held = Some((*token, minute + minutes, *expiry == "release_for_reclaim"));
                }
            }
            Step::Answer(token) => {
                if self.state == "leased" && live(self) == Some(*token) {
                    *self = Need { state: String::from("answered"), held: None };
                }
            }
            Step::Move(from, to) => {
                if self.state == *from && !["leased", "answered"].contains(to) {
                    *self = Need { state: (*to).to_owned(), held: None };
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn leases_exclude_each_other(steps in prop::collection::vec((step(), 0..4_u64), 0..24)) {
        let (mut log, mut minute): (Vec<Draft>, u64) = (vec![need(0, "n")], 0);
        let mut by_hand = Need { state: String::from("open"), held: None };
        // Who was let in when, and until when that lasted.
        let mut spans: Vec<(String, u64, u64)> = Vec::new();
        for (step, later) in steps {
            minute += later;
            log.extend(match &step {
                Step::Lease(token, minutes, expiry) => {
                    vec![lease(minute, "n", &format!("t{token}"), minute + minutes, expiry)]
                }
                Step::Answer(token) => answer(minute, "n", &format!("t{token}"), "module:m1"),
                Step::Move(from, to) => vec![general(minute, "research_need:n", from, to)],
            });
            by_hand.take(&step, minute);
            let folds = folded(&log);
            let standing = folds.board.find(NEED.snake, "n").unwrap();
            prop_assert_eq!(standing.word(NEED.member), Some(by_hand.state.as_str()), "{:?}", log);
            prop_assert_eq!(standing.says("answer_ref").is_some(), by_hand.state == "answered");
            let live = folds.board.lease("n", instant(minute)).map(|lease| lease.token.to_owned());
            let held = by_hand.held.filter(|(_, end, _)| minute < *end);
            prop_assert_eq!(&live, &held.map(|(token, ..)| format!("t{token}")));
            if by_hand.state != "leased" {
                spans.iter_mut().for_each(|(_, _, end)| *end = (*end).min(minute));
            }
            if let (Some(token), Some((_, end, _))) = (live, held) {
                spans.push((token, minute, end));
            }
        }
        for minute in 0..minute + 10 {
            let live: BTreeSet<&String> =
                spans.iter().filter(|(_, start, end)| (*start..*end).contains(&minute)).map(|(token, ..)| token).collect();
            prop_assert!(live.len() < 2, "{live:?} at {minute} in {spans:?}");
        }
    }
}

/// A person who was asked answers without a lease; nobody else does.
#[test]
fn a_person_answers_what_a_person_was_asked() {
    for (actor, expected) in [("user:u1", "answered"), ("module:m1", "human_needed")] {
        let asked = vec![need(0, "n"), general(1, "research_need:n", "open", "human_needed")];
        let folds = folded(&[asked, answer(2, "n", "none", actor)].concat());
        assert_eq!(folds.board.find(NEED.snake, "n").unwrap().word(NEED.member), Some(expected));
    }
}
