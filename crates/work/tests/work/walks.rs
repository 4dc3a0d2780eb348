//! Whatever happens in whatever order around a run: its log is clean, and what is shown follows from its records.

use crate::stage::{BAD, GOOD, Stage};
use countersign_govern::types::added::outcome::{Consumption, EvaluationFeedbackBundle};
use countersign_govern::types::basic::StorageRef;
use countersign_govern::types::context::{
    TaskContextAudience as Audience, TaskRunContextPacketRequestStalenessPolicy as Staleness,
};
use countersign_govern::types::cost::{CostDimension as Dimension, TaskCostRecordCostClass as Class};
use countersign_govern::types::outcome::OutcomeEvaluationState as State;
use countersign_govern::types::research::{
    ResearchNeedLeaseOnExpiry as OnExpiry, ResearchNeedStatus as Status,
};
use countersign_work::context::{Ask, Room};
use countersign_work::cost::{Amounts, Piece, UNIT};
use countersign_work::guidance::Settled;
use countersign_work::{
    artifact, attention, board, call, closing, context, cost, feedback, guidance, outcome, rely, research,
    workspace,
};
use proptest::prelude::*;

/// Something that happens.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    Draft { is_good: bool },
    Spend(u64),
    AskForMore,
    Answer(usize),
    Defer,
    Stale,
    Tell,
    Guide,
    Dispute,
    Settle,
    Pack,
    Lease,
    HandOver,
    Bring,
    HandIn,
    Show,
    Wait(i64),
    Restart,
}

pub(crate) fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => any::<bool>().prop_map(|is_good| Act::Draft { is_good }),
        2 => (1..40_u64).prop_map(Act::Spend),
        1 => Just(Act::AskForMore),
        3 => (0..6_usize).prop_map(Act::Answer),
        1 => Just(Act::Defer),
        1 => Just(Act::Stale),
        1 => Just(Act::Tell),
        2 => Just(Act::Guide),
        1 => Just(Act::Dispute),
        1 => Just(Act::Settle),
        1 => Just(Act::Pack),
        2 => Just(Act::Lease),
        1 => Just(Act::HandOver),
        1 => Just(Act::Bring),
        2 => Just(Act::HandIn),
        2 => Just(Act::Show),
        1 => (1..10_000_i64).prop_map(Act::Wait),
        1 => Just(Act::Restart),
    ]
}

/// Lets something happen; what can't happen now does not.
pub(crate) fn happen(stage: &mut Stage, act: Act) {
    stage.later();
    match act {
        Act::Draft { is_good } => {
            let text = if is_good { GOOD.to_owned() } else { format!("{BAD}\nThe landlord owns a boat.\n") };
            let version = stage.version("memo", &text);
            let _is_dirty =
                outcome::go(&mut stage.desk, "term-stated", State::Dirty, "revision step done", None);
            stage.look("memo", &version, &text);
            // Who mends says what became of feedback at once.
            for delivery in feedback::owed(&stage.desk) {
                feedback::consume(&mut stage.desk, &delivery, Consumption::Used, None).unwrap();
            }
        }
        Act::Spend(tokens) => {
            let amounts = Amounts::from([(Dimension::InputTokens, tokens * UNIT)]);
            let (module, activation) = ("draft".to_owned(), stage.desk.count("TaskCostRecord") + 1);
            let piece = Piece { module, activation, class: Class::LogicalLlmWork, planned: None, amounts };
            cost::record(&mut stage.desk, &piece).unwrap();
        }
        Act::AskForMore => {
            let next = Amounts::from([(Dimension::InputTokens, 30 * UNIT)]);
            if let Err(over) = cost::may(&stage.desk, &next) {
                cost::raise(&mut stage.desk, &over).unwrap();
            }
        }
        Act::Answer(option) => {
            if let Some(call) = call::open(&stage.desk).first() {
                let option = call.options[option % call.options.len()].option_id.clone();
                stage.answer(&call.hard_call_id, &option).unwrap();
            }
        }
        Act::Defer => {
            let pending = call::open(&stage.desk).into_iter().next();
            if let Some(call) = pending {
                call::defer(&mut stage.desk, &call.hard_call_id).unwrap();
            }
        }
        Act::Stale => {
            let lease = stage.desk.task().source("lease").unwrap().clone();
            workspace::mark_stale(&mut stage.desk, &lease).unwrap();
        }
        Act::Tell => board::tell(&mut stage.desk).unwrap(),
        Act::Guide => {
            let bundle = stage.desk.all::<EvaluationFeedbackBundle>().next_back();
            if let Some(bundle) = bundle {
                guidance::of_bundle(&mut stage.desk, &bundle.feedback_bundle_id).unwrap();
            }
        }
        Act::Dispute => {
            if let Some(one) = guidance::active(&stage.desk).first() {
                guidance::contest(&mut stage.desk, &one.id, "ana", "it is there").unwrap();
            }
        }
        Act::Settle => {
            if let Some(one) = guidance::all(&stage.desk).last() {
                let _is_settled = guidance::settle(&mut stage.desk, &one.id, Settled::Withdrawn, "ana");
            }
        }
        // A question that holds the run is answered before a stage begins.
        Act::Pack if !call::open(&stage.desk).is_empty() => {}
        Act::Pack => {
            let items = context::items(&stage.desk, |_| 10).unwrap();
            let (audience, staleness) = (Audience::Module, Staleness::AllowStaleWithWarning);
            let ask = Ask { audience, tokens_max: 25, items: &items, staleness };
            let packet = context::assemble(&mut stage.desk, &ask).unwrap();
            let room = Room { tokens_max: 100, digest_tokens: 5, feedback_tokens: 5 };
            let _is_used = context::activate(&mut stage.desk, "draft", &packet, room);
        }
        Act::Lease | Act::HandOver | Act::Bring => questions(stage, act),
        Act::HandIn if artifact::head(&stage.desk, "memo").is_none() => {}
        Act::HandIn => {
            let package = rely::package(&mut stage.desk, &[]).unwrap();
            rely::packet(&mut stage.desk, &package, &rely::Besides::default()).unwrap();
        }
        Act::Show => closing::show(&mut stage.desk).unwrap(),
        Act::Wait(seconds) => {
            stage.wait(seconds);
            call::lapse(&mut stage.desk).unwrap();
        }
        Act::Restart => stage.restart(),
    }
}

/// What happens to questions that sources shall answer.
fn questions(stage: &mut Stage, act: Act) {
    let needs = research::all(&stage.desk);
    match act {
        Act::Lease => {
            if let Some(need) = needs.iter().find(|one| one.status == Status::Open) {
                let until = (600_000, OnExpiry::Escalate);
                research::lease(&mut stage.desk, &need.need_id, "research", until).unwrap();
            }
        }
        Act::HandOver => {
            let user = StorageRef::try_from("user:ana").unwrap();
            if let Some(need) = needs.iter().find(|one| one.status == Status::Open) {
                research::hand(&mut stage.desk, &need.need_id, Status::HumanNeeded, &user, "who knows")
                    .unwrap();
            }
        }
        _bring => {
            let user = StorageRef::try_from("user:ana").unwrap();
            if let Some(need) = needs.iter().find(|one| one.status == Status::HumanNeeded) {
                research::hand(&mut stage.desk, &need.need_id, Status::Open, &user, "look again").unwrap();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn whatever_happens_the_log_is_clean(acts in prop::collection::vec(act(), 1..14)) {
        let mut stage = Stage::with(r#""budget": {"input_tokens": 50}"#);
        for act in &acts {
            happen(&mut stage, *act);
        }
        stage.is_clean();
        stage.later();
        closing::end(&mut stage.desk, None).unwrap();
        stage.is_clean();
        let due: Vec<_> = attention::due(&stage.desk).unwrap().into_iter().map(|one| (one.kind, one.source)).collect();
        for item in attention::open(&stage.desk) {
            prop_assert!(due.contains(&(item.attention_kind, item.source_ref)));
        }
        prop_assert_eq!(attention::open(&stage.desk).len(), due.len());
    }
}
