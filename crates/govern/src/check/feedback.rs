//! Validation codes: feedback.
//! Owns: the rules of this area. Must not: decide by names.

use super::{Area, Found, Rule, Severity};
use crate::derive::keys::Delivery;
use crate::member::{self, Member};
use crate::table::emission::{self, Producer};
use crate::table::outcome::{self, Branch, Verdict};
use crate::world::{Record, Settings, World, in_force};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;
use core::ops::Bound;
use countersign_record::json::Json;
use countersign_record::time::Instant;

pub(super) const AREA: Area = Area { name: "feedback", rules: RULES, kinds: &[] };

const RULES: &[Rule] = &[
    Rule {
        code: "feedback_branch_missing_handler",
        severity: Severity::Error,
        section: "A-08/B-23",
        fires: "A FeedbackBranch other than none that is in branch_order, or that some OutcomeStateMatrixEntry.feedback_branch names, has no or an empty branch_handlers entry in the active FeedbackRoutingResolutionPolicy.",
        legal: "branch none with an empty handler list.",
        why: "Feedback on this branch reaches nobody. The work looks as if it had been taken care of.",
        fix: "Name at least one handler for the branch, or take it out of branch_order and of the matrix.",
        check: feedback_branch_missing_handler,
    },
    Rule {
        code: "feedback_branch_unregistered",
        severity: Severity::Error,
        section: "A-08/B-23",
        fires: "A FeedbackDeliveryRecord.branch or OutcomeStateMatrixEntry.feedback_branch is outside the FeedbackBranch enum or missing from the active policy's branch_order.",
        legal: "A delivery on on_repeated_failure when that branch is listed in branch_order.",
        why: "A branch that the policy does not order is fired by chance or not at all.",
        fix: "Use one of the branches of the contract and list it in branch_order.",
        check: feedback_branch_unregistered,
    },
    Rule {
        code: "feedback_delivery_duplicate_without_idempotency",
        severity: Severity::Error,
        section: "A-08/B-23",
        fires: "Two FeedbackDeliveryRecords resolve to the same (run_id, result_id, branch, consumer_module_id) within duplicate_suppression_window_ms and were both dispatched, or a record's delivery_idempotency_key is empty or differs from the recomputed hash of that tuple.",
        legal: "A repeated dispatch with the identical key that was suppressed, or two deliveries of one result to different consumers or on different branches under all_matching_with_idempotency.",
        why: "The same feedback that arrives twice is acted on twice: two revisions, two costs, two versions.",
        fix: "Derive delivery_idempotency_key from run, result, branch and consumer, and suppress the repetition.",
        check: feedback_delivery_duplicate_without_idempotency,
    },
    Rule {
        code: "feedback_consumed_without_receipt",
        severity: Severity::Error,
        section: "A-08/B-23 (D-23)",
        fires: "A FeedbackDispatchExpectation passes created_at + grace_period_ms in log time (or its consumer activation completes, which shows when a later activation of the consumer has the same bundle) without a FeedbackConsumptionReceipt for the same feedback_bundle_id, consumer_module_id and consumer_activation_seq.",
        legal: "A receipt that records an explicit not-used/rejected consumption within the grace period.",
        why: "Nobody has said what became of this feedback. Whether it was used, turned down or lost can't be shown afterwards.",
        fix: "Append a FeedbackConsumptionReceipt within the grace period, also if the feedback was not used.",
        check: feedback_consumed_without_receipt,
    },
    Rule {
        code: "feedback_bundle_absence_unexplained",
        severity: Severity::Error,
        section: "A-08/B-23; A-18",
        fires: "An EvaluationResultEmissionRecord has neither a feedback_bundle_ref that resolves nor a feedback_bundle_absent_reason.",
        legal: "No bundle and feedback_bundle_absent_reason = not_emitted_by_design, where the emission matrix says never for that producer and verdict.",
        why: "A result without feedback may be meant so or may be a loss. Nobody can tell which without the reason.",
        fix: "Name the bundle in feedback_bundle_ref, or say in feedback_bundle_absent_reason why there is none.",
        check: feedback_bundle_absence_unexplained,
    },
    Rule {
        code: "feedback_bundle_emitted_against_matrix",
        severity: Severity::Error,
        section: "A-18",
        fires: "For the FeedbackEmissionMatrixEntry of the result's producer_kind and verdict: a bundle is present though the rule is never (or on_failure_only and verdict != failed), or absent though the rule is always (or on_failure_only and verdict = failed) and a reason other than policy_filtered is given.",
        legal: "rule on_failure_only, verdict passed, no bundle and reason not_emitted_by_design.",
        why: "The matrix says which results are followed by feedback. One that is not, or is though it should not be, changes the work behind the back of those who set it.",
        fix: "Send a bundle exactly where the matrix asks for one, or record policy_filtered.",
        check: feedback_bundle_emitted_against_matrix,
    },
    Rule {
        code: "envelope_missing_for_result",
        severity: Severity::Error,
        section: "A-18",
        fires: "An EvaluationResultEmissionRecord, EvaluationFindingEvent or chain names a result_id whose matrix entry has emits_envelope = true, but no EvaluationResultEnvelope with that result_id resolves; or the envelope_ref of an emission record is not that envelope.",
        legal: "A deterministic_scorer row with emits_envelope = false.",
        why: "A finding or a chain that points to a result which was never recorded rests on nothing that can be looked at.",
        fix: "Append the EvaluationResultEnvelope of the result before anything names it.",
        check: envelope_missing_for_result,
    },
];

const POLICY: &str = "FeedbackRoutingResolutionPolicy";

/// The last version of each routing policy.
fn policies(world: &World) -> impl Iterator<Item = Record<'_>> {
    let last: BTreeMap<&str, Record<'_>> = world.of(POLICY).map(|policy| (policy.id(), policy)).collect();
    last.into_values()
}

/// The branches of the matrix: of the one that the rows bring, else of the one that is built in.
fn branches(world: &World) -> BTreeSet<&str> {
    let mut own = world.of("OutcomeStateMatrixEntry").map(Record::json).peekable();
    let all: BTreeSet<&str> = match own.peek() {
        Some(_) => own.filter_map(|entry| entry.text("feedback_branch")).collect(),
        None => outcome::MATRIX.iter().map(|entry| entry.branch.as_str()).collect(),
    };
    all.into_iter().filter(|branch| *branch != Branch::None.as_str()).collect()
}

fn feedback_branch_missing_handler(world: &World, found: &mut Found<'_>) {
    let named = branches(world);
    for policy in policies(world) {
        let ordered = policy.json().texts("branch_order").into_iter();
        let wanted: BTreeSet<&str> = ordered.chain(named.iter().copied()).collect();
        let handlers = policy.members("branch_handlers");
        for branch in wanted.into_iter().filter(|branch| *branch != Branch::None.as_str()) {
            let own = handlers.and_then(|handlers| handlers.get(branch));
            if own.is_none_or(member::is_blank) {
                found.add(policy, "branch_handlers", format!("nobody handles branch {branch}"));
            }
        }
    }
}

fn feedback_branch_unregistered(world: &World, found: &mut Found<'_>) {
    let all: Vec<Record<'_>> = world.of(POLICY).collect();
    let lists = |policy: Record<'_>, branch: &str| policy.texts("branch_order").contains(&branch);
    for delivery in world.of("FeedbackDeliveryRecord") {
        let Some(branch) = delivery.json().text("branch") else { continue };
        let policy = in_force(&all, delivery.seq());
        if Branch::find(branch).is_none() {
            found.add(delivery, "branch", format!("{branch} is no branch"));
        } else if policy.is_some_and(|policy| !lists(policy, branch)) {
            found.add(delivery, "branch", format!("branch {branch} is not in the policy's branch_order"));
        }
    }
    let mut given: BTreeSet<&str> = BTreeSet::new();
    let mut ordered: BTreeMap<&str, usize> = BTreeMap::new();
    let mut count = 0;
    for policy in policies(world) {
        count += 1;
        let branches: BTreeSet<&str> = policy.json().texts("branch_order").into_iter().collect();
        branches.into_iter().for_each(|branch| *ordered.entry(branch).or_default() += 1);
    }
    for entry in world.of("OutcomeStateMatrixEntry") {
        let Some(branch) = entry.json().text("feedback_branch") else { continue };
        given.insert(branch);
        if Branch::find(branch).is_none() {
            found.add(entry, "feedback_branch", format!("{branch} is no branch"));
        } else if branch != Branch::None.as_str() && ordered.get(branch).copied().unwrap_or(0) < count {
            let message = format!("branch {branch} is not in the policy's branch_order");
            found.add(entry, "feedback_branch", message);
        }
    }
    let built_in: Vec<&str> = branches(world).into_iter().filter(|one| !given.contains(one)).collect();
    for policy in policies(world) {
        let own: BTreeSet<&str> = policy.json().texts("branch_order").into_iter().collect();
        for branch in built_in.iter().filter(|branch| !own.contains(*branch)) {
            found.add(policy, "branch_order", format!("branch {branch} of the matrix is not listed"));
        }
    }
}

/// The run of each result.
fn runs(world: &World) -> BTreeMap<&str, &str> {
    let rows = world.of("EvaluationFeedbackBundle").chain(world.of("EvaluationResultEnvelope"));
    rows.map(Record::json).filter_map(|one| Some((one.id_at("result_id")?, one.text("run_id")?))).collect()
}

fn feedback_delivery_duplicate_without_idempotency(world: &World, found: &mut Found<'_>) {
    let (runs, all) = (runs(world), world.of(POLICY).collect::<Vec<_>>());
    let mut before: BTreeMap<Delivery<'_>, Record<'_>> = BTreeMap::new();
    for record in world.of("FeedbackDeliveryRecord") {
        let json = record.json();
        if json.is_blank("delivery_idempotency_key") {
            found.add(record, "delivery_idempotency_key", "there is no key");
        }
        let (Some(result_id), Some(branch), Some(consumer_module_id)) =
            (json.id_at("result_id"), json.text("branch"), json.text("consumer_module_id"))
        else {
            continue;
        };
        let run = runs.get(result_id).copied().or_else(|| json.text("run_id"));
        let delivery = Delivery { run_id: run.unwrap_or_default(), result_id, branch, consumer_module_id };
        let stated = json.text("delivery_idempotency_key");
        if run.is_some() && stated.is_some_and(|key| key.as_bytes() != delivery.key().hex()) {
            let message = "is not the key of this run, result, branch and consumer";
            found.add(record, "delivery_idempotency_key", message);
        }
        if json.flag("suppressed") == Some(true) || json.is("status", "suppressed") {
            continue;
        }
        let window =
            in_force(&all, record.seq()).and_then(|policy| policy.count("duplicate_suppression_window_ms"));
        let earlier = before.insert(delivery, record);
        let apart = earlier.and_then(|earlier| apart(earlier, record));
        if apart.zip(window).is_some_and(|(apart, window)| apart < window) {
            found.add(record, "", "the same was delivered a moment before");
        }
    }
}

/// How many milliseconds lie between two rows.
fn apart(one: Record<'_>, other: Record<'_>) -> Option<u64> {
    let (one, other) = (one.written_at()?, other.written_at()?);
    Some(one.millis_until(other).max(other.millis_until(one)))
}

fn feedback_consumed_without_receipt(world: &World, found: &mut Found<'_>) {
    let mut receipts: BTreeMap<_, Instant> = BTreeMap::new();
    let mut places: BTreeMap<_, u64> = BTreeMap::new();
    for receipt in world.of("FeedbackConsumptionReceipt") {
        let Some(whose) = consumption(receipt.json()) else { continue };
        places.entry(whose).or_insert(receipt.seq());
        let Some(at) = receipt.written_at() else { continue };
        let first = receipts.entry(whose).or_insert(at);
        *first = at.min(*first);
    }
    let over = Over::of(world);
    for expectation in world.of("FeedbackDispatchExpectation") {
        let whose = consumption(expectation.json());
        let end = whose.and_then(|whose| over.at(whose)).filter(|end| *end > expectation.seq());
        if let (Some(whose), Some(end)) = (whose, end)
            && places.get(&whose).is_none_or(|place| *place > end)
        {
            let message = "the activation is over and nobody said what became of the feedback";
            found.add(expectation, "consumer_activation_seq", message);
            continue;
        }
        let grace = expectation.count("grace_period_ms");
        let (Some(whose), Some(grace), Some(from), Some(now)) =
            (consumption(expectation.json()), grace, expectation.written_at(), world.now())
        else {
            continue;
        };
        let is_in_time = |at: &Instant| from.millis_until(*at) < grace;
        if !is_in_time(&now) && !receipts.get(&whose).is_some_and(is_in_time) {
            let message = "the grace period is over and nobody said what became of the feedback";
            found.add(expectation, "grace_period_ms", message);
        }
    }
}

/// Where later activations of a consumer first have the same bundle: by bundle and consumer, and by activation.
struct Over<'w>(BTreeMap<(&'w str, &'w str), BTreeMap<u64, u64>>);

impl<'w> Over<'w> {
    fn of(world: &'w World) -> Self {
        let mut all: BTreeMap<(&str, &str), BTreeMap<u64, u64>> = BTreeMap::new();
        // That something is expected of a later activation does not end this one: both may have been asked for at once.
        let kinds = ["FeedbackDeliveryRecord", "FeedbackConsumptionReceipt"];
        for row in world.of_any(&kinds) {
            if let Some((bundle, consumer, activation)) = consumption(row.json()) {
                all.entry((bundle, consumer)).or_default().entry(activation).or_insert(row.seq());
            }
        }
        // From each activation on, the first place of all.
        for activations in all.values_mut() {
            let mut first = u64::MAX;
            for place in activations.values_mut().rev() {
                first = first.min(*place);
                *place = first;
            }
        }
        Over(all)
    }

    /// Where an activation is known to be over.
    fn at(&self, (bundle, consumer, activation): (&str, &str, u64)) -> Option<u64> {
        let after = (Bound::Excluded(activation), Bound::Unbounded);
        self.0.get(&(bundle, consumer))?.range(after).next().map(|(_, place)| *place)
    }
}

/// Which bundle, which consumer, which activation of it.
fn consumption(record: &Json) -> Option<(&str, &str, u64)> {
    let (bundle, consumer) = (record.id_at("feedback_bundle_id")?, record.text("consumer_module_id")?);
    Some((bundle, consumer, record.count("consumer_activation_seq")?))
}

fn feedback_bundle_absence_unexplained(world: &World, found: &mut Found<'_>) {
    for record in world.of("EvaluationResultEmissionRecord") {
        if !record.is_blank("feedback_bundle_absent_reason") {
            continue;
        }
        if record.is_blank("feedback_bundle_ref") {
            let message = "there is no feedback bundle and no reason why";
            found.add(record, "feedback_bundle_absent_reason", message);
        } else if record.follow("feedback_bundle_ref").is_none() {
            let message = "names a feedback bundle that is not there, and no reason why";
            found.add(record, "feedback_bundle_ref", message);
        }
    }
}

/// The envelopes by their results.
fn envelopes(world: &World) -> BTreeMap<&str, Record<'_>> {
    let all = world.of("EvaluationResultEnvelope");
    all.filter_map(|one| Some((one.json().id_at("result_id")?, one))).collect()
}

/// What a row of the matrix says of bundles.
fn rule_of(entry: Record<'_>) -> Option<emission::Rule> {
    entry.text("emits_feedback_bundle").and_then(emission::Rule::find)
}

fn feedback_bundle_emitted_against_matrix(world: &World, found: &mut Found<'_>) {
    let given = Settings::of(world, "FeedbackEmissionMatrixEntry", |entry| {
        rule_of(entry).and(entry.json().text("producer_kind").zip(entry.json().text("verdict")))
    });
    let envelopes = envelopes(world);
    for record in world.of("EvaluationResultEmissionRecord") {
        let envelope = record.json().id_at("result_id").and_then(|result| envelopes.get(result));
        let Some(envelope) = envelope else { continue };
        let verdict = envelope.text("decision.verdict").and_then(Verdict::find);
        let (Some(producer), Some(verdict)) = (envelope.json().text("producer_kind"), verdict) else {
            continue;
        };
        // As the rows say, else as is built in.
        let said = given.at(&(producer, verdict.as_str()), record.seq()).and_then(rule_of);
        let built_in = || Producer::find(producer).map(|producer| emission::entry(producer, verdict).bundle);
        let Some(rule) = said.or_else(built_in) else { continue };
        let is_wanted = rule.wants_bundle(verdict);
        let (verdict, rule) = (verdict.as_str(), rule.as_str());
        let reason = record.text("feedback_bundle_absent_reason");
        if !record.is_blank("feedback_bundle_ref") {
            if !is_wanted {
                let message = format!("a bundle for {verdict}, where the matrix says {rule}");
                found.add(record, "feedback_bundle_ref", message);
            }
        } else if is_wanted && reason.is_some_and(|reason| reason != "policy_filtered") {
            let message = format!("no bundle for {verdict}, where the matrix says {rule}");
            found.add(record, "feedback_bundle_absent_reason", message);
        }
    }
}

fn envelope_missing_for_result(world: &World, found: &mut Found<'_>) {
    let envelopes = envelopes(world);
    let is_there = |result: &str| envelopes.contains_key(result);
    // What was said is not known without the envelope: one row of the producer that sends none is enough to let it be. From where
    // on there is one; the first row of a producer holds from the beginning.
    let mut told: BTreeMap<&str, Option<u64>> = BTreeMap::new();
    for entry in world.of("FeedbackEmissionMatrixEntry") {
        let Some(producer) = entry.json().text("producer_kind") else { continue };
        let is_silent = entry.flag("emits_envelope") == Some(false);
        let silent = |seq: u64| is_silent.then_some(seq);
        told.entry(producer).and_modify(|from| *from = from.or(silent(entry.seq()))).or_insert(silent(0));
    }
    let is_told_silent =
        |producer: &str, seq: u64| told.get(producer).copied().flatten().is_some_and(|from| from < seq);
    let emits = |producer: &str, seq: u64| match told.contains_key(producer) {
        true => !is_told_silent(producer, seq),
        false => Producer::find(producer).is_some(),
    };
    for record in world.of("EvaluationResultEmissionRecord") {
        let entry = record.follow("emission_matrix_entry_ref");
        let is_silent = entry.is_some_and(|entry| entry.flag("emits_envelope") == Some(false));
        let Some(result) = record.id_at("result_id").filter(|_| !is_silent) else { continue };
        let is_named = |named: Record<'_>| {
            named.kind() == "EvaluationResultEnvelope" && named.id_at("result_id") == Some(result)
        };
        if !is_there(result) {
            found.add(record, "envelope_ref", "there is no envelope of this result");
        } else if !record.is_blank("envelope_ref") && !record.follow("envelope_ref").is_some_and(is_named) {
            found.add(record, "envelope_ref", "is not the envelope of this result");
        }
    }
    for event in world.of("EvaluationFindingEvent") {
        let is_named = event.text("producer_kind").is_some_and(|one| emits(one, event.seq()));
        if is_named && event.id_at("result_id").is_some_and(|result| !is_there(result)) {
            found.add(event, "result_id", "there is no envelope of this result");
        }
    }
    for chain in world.of("EvaluationChainRegistryRecord") {
        let producers = chain.texts("expected_producers");
        let is_silent = producers.into_iter().any(|one| is_told_silent(one, chain.seq()));
        let results = chain.ids_at("received_result_ids");
        if let Some(result) = results.into_iter().find(|result| !is_silent && !is_there(result)) {
            found.add(chain, "received_result_ids", format!("there is no envelope of result {result}"));
        }
    }
}

#[cfg(test)]
#[path = "feedback_tests.rs"]
mod tests;
