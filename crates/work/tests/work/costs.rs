//! What runs cost: foreseen, spent, capped, told.

use crate::stage::Stage;
use countersign_govern::types::basic::HardRevisionCallKind;
use countersign_govern::types::cost::{
    BudgetNarrative, CostDimension as Dimension, CostVector, TaskCostRecordCostClass as Class,
    TaskRunCostForecast,
};
use countersign_govern::types::hard_call::HardRevisionCall;
use countersign_work::cost::{self, Amounts, Grounds, Model, Piece, Price, UNIT};

const LOCAL: Grounds = Grounds { source_tokens: 1_000, model: Model::Local };

fn tokens(input: u64, output: u64) -> Amounts {
    Amounts::from([(Dimension::InputTokens, input * UNIT), (Dimension::OutputTokens, output * UNIT)])
}

fn piece(activation: u64, amounts: Amounts) -> Piece {
    let (module, class) = ("draft".to_owned(), Class::LogicalLlmWork);
    Piece { module, activation, class, planned: None, amounts }
}

#[test]
fn a_forecast_adds_up_what_is_going_to_be_asked() {
    let mut stage = Stage::small();
    cost::forecast(&mut stage.desk, &LOCAL).unwrap();
    stage.is_clean();
    let forecast = stage.desk.all::<TaskRunCostForecast>().next().unwrap();
    let total = forecast.planned_cost_vector_ref.as_str().strip_prefix("cost_vector:").unwrap().to_owned();
    let total: CostVector = stage.desk.find("CostVector", &total).unwrap();
    let expected = |unit: Dimension| total.components.get(&unit).map(|one| one.expected.literal());
    // One section of three quotes, with all sources.
    assert_eq!(expected(Dimension::InputTokens).as_deref(), Some("1400"));
    assert_eq!(expected(Dimension::OutputTokens).as_deref(), Some("180"));
    assert_eq!(expected(Dimension::Usd), None);
    assert!(cost::planned(&stage.desk, "draft.memo.term").is_some());
    assert!(cost::planned(&stage.desk, "draft.memo.rent").is_none());
}

#[test]
fn what_is_asked_elsewhere_has_a_price() {
    let price = Price { input: 3 * UNIT, output: 15 * UNIT };
    let asked = Model::Remote(Some(price)).cost(1_000, 100);
    assert_eq!(asked.get(&Dimension::Usd), Some(&4_500));
    assert_eq!(asked.get(&Dimension::ExternalApiCalls), Some(&UNIT));
    assert_eq!(Model::Remote(None).cost(1, 1).get(&Dimension::Usd), None);
    // A part of a millionth is rounded up: nobody is told less than it costs.
    assert_eq!(Price { input: 1, output: 0 }.of(1, 0), 1);
}

#[test]
fn what_is_spent_is_told_in_the_end() {
    let mut stage = Stage::small();
    cost::forecast(&mut stage.desk, &LOCAL).unwrap();
    stage.later();
    let planned = cost::planned(&stage.desk, "draft.memo.term");
    cost::record(&mut stage.desk, &Piece { planned, ..piece(1, tokens(1_200, 90)) }).unwrap();
    cost::record(&mut stage.desk, &piece(2, tokens(300, 10))).unwrap();
    assert_eq!(cost::spent(&stage.desk), tokens(1_500, 100));
    stage.later();
    cost::narrative(&mut stage.desk).unwrap();
    stage.is_clean();
    let told = stage.desk.each::<BudgetNarrative>("BudgetNarrative").next_back().unwrap().record;
    assert_eq!(
        told.forecast_vs_actual_summary,
        "input tokens: 1500 of 1400 foreseen; output tokens: 100 of 180 foreseen"
    );
    assert_eq!(told.actual_cost_record_refs.len(), 2);
    assert_eq!(told.summary, "2 pieces of work: 1500 input tokens, 100 output tokens.");
    // More is spent: what was told is old, and is told again.
    stage.later();
    cost::record(&mut stage.desk, &piece(3, tokens(1, 1))).unwrap();
    stage.is_clean();
    cost::narrative(&mut stage.desk).unwrap();
    stage.is_clean();
}

#[test]
fn a_run_that_costs_nothing_says_so() {
    let mut stage = Stage::small();
    cost::narrative(&mut stage.desk).unwrap();
    stage.is_clean();
}

#[test]
fn a_cap_stops_before_it_is_passed() {
    let mut stage = Stage::with(r#""budget": {"input_tokens": 1000, "usd": "0.5"}"#);
    assert_eq!(cost::may(&stage.desk, &tokens(1_000, 9_999)), Ok(()));
    let over = cost::may(&stage.desk, &tokens(1_001, 0)).unwrap_err();
    assert_eq!(over.to_string(), "the next step would go beyond the budget by 1 input token");
    cost::record(&mut stage.desk, &piece(1, tokens(400, 50))).unwrap();
    assert_eq!(cost::may(&stage.desk, &tokens(600, 1)), Ok(()));
    let over = cost::may(&stage.desk, &tokens(700, 1)).unwrap_err();
    assert_eq!(over.short, Amounts::from([(Dimension::InputTokens, 100 * UNIT)]));
    // What costs nothing of a dimension may always be done, whatever was spent of it.
    assert_eq!(cost::may(&stage.desk, &tokens(0, 1)), Ok(()));
}

fn stopped() -> (Stage, String) {
    let mut stage = Stage::with(r#""budget": {"input_tokens": 1000}"#);
    stage.failing();
    cost::record(&mut stage.desk, &piece(1, tokens(900, 50))).unwrap();
    let over = cost::may(&stage.desk, &tokens(300, 1)).unwrap_err();
    let question = cost::raise(&mut stage.desk, &over).unwrap();
    stage.is_clean();
    (stage, question)
}

#[test]
fn who_grants_more_raises_the_cap() {
    for (option, cap) in [("grant", 1_200), ("grant-twice", 1_400), ("grant-tenfold", 3_000)] {
        let (mut stage, question) = stopped();
        stage.answer(&question, option).unwrap();
        stage.is_clean();
        assert_eq!(cost::caps(&stage.desk), Amounts::from([(Dimension::InputTokens, cap * UNIT)]));
        assert_eq!(cost::may(&stage.desk, &tokens(cap - 900, 1)), Ok(()));
        assert!(cost::may(&stage.desk, &tokens(cap - 899, 1)).is_err());
        assert!(!cost::is_over(&stage.desk));
        // A restart knows what was granted.
        stage.restart();
        assert_eq!(cost::may(&stage.desk, &tokens(300, 1)), Ok(()));
    }
}

#[test]
fn who_takes_it_as_it_is_spends_no_more() {
    for option in ["accept", "stop"] {
        let (mut stage, question) = stopped();
        stage.answer(&question, option).unwrap();
        stage.is_clean();
        assert!(cost::is_over(&stage.desk));
        assert!(cost::may(&stage.desk, &tokens(300, 1)).is_err());
        cost::narrative(&mut stage.desk).unwrap();
        stage.is_clean();
        let told = stage.desk.each::<BudgetNarrative>("BudgetNarrative").next_back().unwrap().record;
        assert_eq!(told.skipped_optional_helpers, ["revision"]);
    }
}

#[test]
fn the_question_says_how_much_is_missing() {
    let (stage, question) = stopped();
    let call = stage.desk.all::<HardRevisionCall>().find(|call| call.hard_call_id == question).unwrap();
    assert_eq!(call.hard_call_kind, Some(HardRevisionCallKind::BudgetScopeDecision));
    assert!(call.prompt_text.contains("200 input tokens"), "{}", call.prompt_text);
    assert_eq!(call.options.len(), 5);
    assert_eq!(call.pending_policy.blocked_refs.len(), 1);
}
