//! Every vector has a receipt that computes again, and whatever is changed is found.

use super::*;
use crate::formula::registry;
use crate::formula::spec::Spec;
use countersign_record::json::{self, Json};
use std::vec;

fn published() -> Published {
    Published {
        receipt_id: "r1".into(),
        producer_ref: "countersign:test".into(),
        input_refs: vec![StorageRef::try_from("cost_vector:a").unwrap()],
        output_ref: StorageRef::try_from("metric_value:v").unwrap(),
        at: Instant::try_from("2026-03-02T08:00:00Z").unwrap(),
        task_id: None,
        run_id: Some("run".into()),
    }
}

/// The vectors that have a value, each with its receipt.
fn receipts() -> impl Iterator<Item = (Ready, Object, FormulaEvaluationReceipt)> {
    registry::all().flat_map(|spec| {
        let ready = spec.read().unwrap();
        spec.vectors.iter().filter_map(move |vector| {
            let inputs = json::parse(vector.inputs.as_bytes()).unwrap();
            let inputs = inputs.as_object().unwrap().clone();
            let evaluated = evaluate(&ready, &inputs).ok()?;
            let receipt = publish(&ready, &inputs, &evaluated, published()).unwrap();
            Some((ready.clone(), inputs, receipt))
        })
    })
}

#[test]
fn every_formula_has_a_receipt_that_computes_again() {
    let mut count = 0;
    let mut formulas: Vec<&str> = Vec::new();
    for (ready, inputs, receipt) in receipts() {
        assert_eq!(verify(&ready, &inputs, &receipt), Ok(vec![]), "{}", ready.spec.id);
        formulas.push(ready.spec.id);
        count += 1;
    }
    formulas.dedup();
    assert_eq!(formulas.len(), registry::all().count());
    assert!(count > 60, "{count}");
}

#[test]
fn a_changed_value_input_or_text_is_found() {
    for (ready, inputs, receipt) in receipts() {
        let of = |differs: &[Differs], changed: &FormulaEvaluationReceipt| {
            assert_eq!(verify(&ready, &inputs, changed).unwrap(), differs, "{}", ready.spec.id);
        };
        let other = String::from(countersign_record::digest::Digest::of(b"another"));
        of(
            &[Differs::Value],
            &FormulaEvaluationReceipt { output_value_hash: other.clone(), ..receipt.clone() },
        );
        of(&[Differs::Inputs], &FormulaEvaluationReceipt { input_value_hash: other, ..receipt.clone() });
        let elsewhere = vec![StorageRef::try_from("cost_vector:b").unwrap()];
        of(&[Differs::Manifest], &FormulaEvaluationReceipt { input_refs: elsewhere, ..receipt.clone() });
        let version =
            FormulaEvaluationReceipt { formula_semantic_version: "0.9.0".into(), ..receipt.clone() };
        of(&[Differs::Formula], &version);
        let named = vec!["another".into()];
        of(&[Differs::Policies], &FormulaEvaluationReceipt { omitted_input_names: named, ..receipt.clone() });

        // Of the text a part that computes the same: only the hash can tell.
        let again: &'static str =
            std::boxed::Box::leak(format!("({})", ready.spec.expression).into_boxed_str());
        if let Ok(rewritten) = (Spec { expression: again, ..ready.spec }).read() {
            let found = verify(&rewritten, &inputs, &receipt).unwrap();
            assert_eq!(found, [Differs::Manifest], "{}", ready.spec.id);
        }
        let least = ready.spec.sample.map(|sample| crate::formula::spec::Sample { size: "1 + 0", ..sample });
        if let (Some(_), Ok(loosened)) = (least, (Spec { sample: least, ..ready.spec }).read()) {
            assert!(verify(&loosened, &inputs, &receipt).unwrap().contains(&Differs::Manifest));
        }
    }
}

/// Each input of each vector, left out or put in the place of another of its kind, is seen in the receipt.
#[test]
fn a_changed_input_is_found() {
    for (ready, inputs, receipt) in receipts() {
        for (name, _) in inputs.iter() {
            let mut less = inputs.clone();
            less.insert(name, Json::Null);
            if let Ok(found) = verify(&ready, &less, &receipt) {
                assert!(found.contains(&Differs::Inputs), "{} {name}", ready.spec.id);
            }
        }
    }
}

#[test]
fn the_receipt_of_a_sum_says_how_quantiles_were_combined() {
    let said: Vec<_> = receipts()
        .filter(|(ready, ..)| ready.spec.correlation.is_some())
        .map(|(_, inputs, receipt)| {
            let asked = inputs.get("correlation_policy").and_then(Json::as_str);
            assert_eq!(receipt.correlation_policy.map(|policy| policy.as_str()), asked);
            receipt.correlation_policy
        })
        .collect();
    for policy in crate::types::cost::CostCorrelationPolicy::ALL {
        assert!(said.contains(&Some(*policy)), "no vector shows {}", policy.as_str());
    }
}
