//! Validation codes: externalization.
//! Owns: the rules of this area. Must not: decide by names.

#[cfg(test)]
#[path = "externalization_tests.rs"]
mod tests;

use super::workspace::source_id;
use super::{Area, Found, Rule, Severity};
use crate::decide::replay::is_query;
use crate::kind::{Class, Kind};
use crate::member::Member;
use crate::reference::Reference;
use crate::types::externalization::WorkspaceExternalizationKind;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;

pub(super) const AREA: Area = Area { name: "externalization", rules: RULES, kinds: KINDS };

/// A query for sources: `route` is `local_workspace`, `library` or the kind of externalization that it went out by.
const KINDS: &[Kind] = &[Kind::new("SourceQueryRecord", Class::Event, Some("query_id"))];

const RULES: &[Rule] = &[
    Rule {
        code: "workspace_externalization_without_policy",
        severity: Severity::Error,
        section: "3.4; N-04",
        fires: "A WorkspaceExternalizationReceipt (or an attempted externalization) has a policy_ref that is empty, unresolvable, or resolves to a WorkspaceExternalizationPolicy whose externalization_kind differs, or the source records' data_class/taint_class are outside allowed_data_classes/allowed_taint_classes while status = completed.",
        legal: "A receipt with status blocked_by_policy that cites the policy which blocked it.",
        why: "Something left the house, or was about to, and no rule says that it may.",
        fix: "Name the policy of that kind of externalization; leave out sources whose class it does not allow, or block it.",
        check: workspace_externalization_without_policy,
    },
    Rule {
        code: "privileged_workspace_export_without_confirmation",
        severity: Severity::Error,
        section: "3.4; N-04",
        fires: "A WorkspaceExternalizationReceipt with status completed and a disclosing kind (export_bundle, save_as, open_in_browser, open_native_app, show_in_finder) covers a workspace or source record that is privileged or of data_class privileged/local_only (one such source makes its workspace so, whatever of it is named), or its policy sets requires_user_confirmation, while user_confirmation_ref is absent (or redaction_preview_ref is absent though requires_redaction_preview).",
        legal: "The same export with status cancelled/blocked_by_policy, or completed with a user_confirmation_ref recorded at an earlier seq than the receipt.",
        why: "What is disclosed can't be taken back. Privileged material goes out only if a person said so before.",
        fix: "Ask for the confirmation (and show the redaction, where the policy wants that) before the export, and name both in the receipt.",
        check: privileged_workspace_export_without_confirmation,
    },
    Rule {
        code: "external_source_query_without_receipt",
        severity: Severity::Error,
        section: "3.4; N-04",
        fires: "A query-kind externalization (external_source_query, connector_fetch, api_call, email_source_fetch, browser_session_read) was executed - an append_source_query_record operation was applied, or a tool-call receipt of that kind exists - and no WorkspaceExternalizationReceipt for the same workspace and query exists.",
        legal: "A query answered from the local workspace or library (no provider call), or a failed query that has a receipt with status failed.",
        why: "A query tells its provider what the work is about. Without a receipt nobody knows that it was sent, under which policy and at what cost.",
        fix: "Write the externalization receipt with every query that leaves, also if it fails.",
        check: external_source_query_without_receipt,
    },
    Rule {
        code: "externalization_cost_cap_missing",
        severity: Severity::Error,
        section: "3.4; N-04",
        fires: "A WorkspaceExternalizationPolicy of a cost-bearing kind (external_source_query, connector_fetch, api_call, email_source_fetch, browser_session_read, or provider_logging_warning_required = true) has no max_cost_vector_ref, or the CostVector it names has no component with hard_cap.",
        legal: "A policy for show_in_finder, save_as or open_native_app, which incurs no provider cost and may omit the cap.",
        why: "Calls to providers cost money and are made by machines: without a cap there is no end to it that anybody agreed to.",
        fix: "Name a cost vector with a hard cap in the policy.",
        check: externalization_cost_cap_missing,
    },
];

const RECEIPT: &str = "WorkspaceExternalizationReceipt";
const POLICY: &str = "WorkspaceExternalizationPolicy";

/// Whether something goes out by a kind that only asks a provider (`true`) or shows something to others (`false`).
fn asks(record: Record<'_>, member: &str) -> Option<bool> {
    record.text(member).and_then(WorkspaceExternalizationKind::find).map(is_query)
}

/// The policy that a receipt names, by its id or a reference.
fn policy_of(receipt: Record<'_>) -> Option<Record<'_>> {
    let text = receipt.json().text("policy_ref")?;
    let id = match Reference::read(text) {
        Some(to) if to.kind == "workspace_externalization_policy" => to.id,
        Some(_) | None => text,
    };
    receipt.world.policy(POLICY, id, receipt.seq())
}

/// The classes of some sources, and how many of them are secret; each class with how many have it.
#[derive(Clone, Default)]
struct Content<'w> {
    data: BTreeMap<&'w str, usize>,
    taint: BTreeMap<&'w str, usize>,
    secret: usize,
}

impl<'w> Content<'w> {
    fn add(&mut self, source: Record<'w>) {
        for (class, counts) in [("data_class", &mut self.data), ("taint_class", &mut self.taint)] {
            let word = class_of(source, class);
            word.into_iter().for_each(|word| *counts.entry(word).or_default() += 1);
        }
        self.secret += usize::from(is_secret(source));
    }

    fn remove(&mut self, source: Record<'w>) {
        for (class, counts) in [("data_class", &mut self.data), ("taint_class", &mut self.taint)] {
            let left =
                class_of(source, class).and_then(|word| Some((word, counts.get(word)?.saturating_sub(1))));
            match left {
                Some((word, 0)) => drop(counts.remove(word)),
                Some((word, left)) => drop(counts.insert(word, left)),
                None => {}
            }
        }
        self.secret = self.secret.saturating_sub(usize::from(is_secret(source)));
    }
}

/// The class that a source states, or the taint that its kind has by default.
fn class_of<'w>(source: Record<'w>, class: &str) -> Option<&'w str> {
    let stated = source.json().text(class);
    let by_kind =
        || super::taint::effective(source).filter(|_| class == "taint_class").map(|taint| taint.as_str());
    stated.or_else(by_kind)
}

fn is_secret(source: Record<'_>) -> bool {
    source.flag("privileged") == Some(true) || source.is_one_of("data_class", &["privileged", "local_only"])
}

/// What each receipt covers, as it was then: the sources that it names, or the whole workspace where it names none or
/// one that is not known. A secret source makes its workspace secret, whatever of it is named.
fn covered(world: &World) -> BTreeMap<u64, Content<'_>> {
    let sources = world.of("SourceWorkspaceCurrentState").chain(world.of("SourceRecord"));
    let mut rows: Vec<Record<'_>> = sources.chain(world.of(RECEIPT)).collect();
    rows.sort_by_key(|row| row.seq());
    let mut last: BTreeMap<(&str, &str), Record<'_>> = BTreeMap::new();
    let mut workspaces: BTreeMap<&str, Content<'_>> = BTreeMap::new();
    let mut covered: BTreeMap<u64, Content<'_>> = BTreeMap::new();
    for row in rows {
        let json = row.json();
        if row.kind() != RECEIPT {
            let before = last.insert((row.kind(), row.id()), row);
            if let Some((workspace, before)) =
                before.and_then(|one| Some((one.json().id_at("workspace_id")?, one)))
            {
                workspaces.entry(workspace).or_default().remove(before);
            }
            if let Some(workspace) = json.id_at("workspace_id") {
                workspaces.entry(workspace).or_default().add(row);
            }
            continue;
        }
        let named = json.texts("source_record_refs");
        let known = named.iter().filter_map(|text| last.get(&("SourceRecord", source_id(text)?)).copied());
        let known: Vec<Record<'_>> = known.collect();
        let is_whole = named.is_empty() || known.len() < named.len();
        let whole = json.id_at("workspace_id").and_then(|id| workspaces.get(id));
        let mut content = whole.filter(|_| is_whole).cloned().unwrap_or_default();
        known.into_iter().for_each(|source| content.add(source));
        content.secret = content.secret.max(whole.map_or(0, |whole| whole.secret));
        covered.insert(row.seq(), content);
    }
    covered
}

fn workspace_externalization_without_policy(world: &World, found: &mut Found<'_>) {
    let covered = covered(world);
    for receipt in world.of(RECEIPT) {
        let path = "policy_ref";
        let Some(policy) = policy_of(receipt) else {
            found.add(receipt, path, "names no policy for what leaves the workspace");
            continue;
        };
        let kinds = policy.text("externalization_kind").zip(receipt.text("externalization_kind"));
        if let Some((allowed, done)) = kinds.filter(|(allowed, done)| allowed != done) {
            found.add(receipt, path, format!("names a policy for {allowed}, and this is {done}"));
            continue;
        }
        let Some(content) = covered.get(&receipt.seq()).filter(|_| receipt.is("status", "completed")) else {
            continue;
        };
        let classes = [("allowed_data_classes", &content.data), ("allowed_taint_classes", &content.taint)];
        for (member, classes) in classes {
            let allowed: BTreeSet<&str> = policy.texts(member).into_iter().collect();
            if let Some(refused) = classes.keys().find(|one| !allowed.contains(*one)) {
                found.add(
                    receipt,
                    path,
                    format!("names a policy that does not allow {refused}, which is in it"),
                );
            }
        }
    }
}

fn privileged_workspace_export_without_confirmation(world: &World, found: &mut Found<'_>) {
    let covered = covered(world);
    let disclosed = |receipt: &Record<'_>| {
        receipt.is("status", "completed") && asks(*receipt, "externalization_kind") == Some(false)
    };
    for receipt in world.of(RECEIPT).filter(disclosed) {
        let policy = policy_of(receipt);
        let wants = |member: &str| policy.is_some_and(|policy| policy.flag(member) == Some(true));
        let has_secrets = covered.get(&receipt.seq()).is_some_and(|content| content.secret > 0);
        let must_ask = wants("requires_user_confirmation") || has_secrets;
        if must_ask && !is_confirmed(receipt, policy) {
            let message = "names no confirmation of this by a person from before the disclosure";
            found.add(receipt, "user_confirmation_ref", message);
        }
        if wants("requires_redaction_preview") && receipt.is_blank("redaction_preview_ref") {
            let message = "is missing, though the policy wants the redaction to be shown first";
            found.add(receipt, "redaction_preview_ref", message);
        }
    }
}

/// Whether a person said yes to what a receipt discloses, before it was: to the workspace, to all of the sources that are named, or to
/// what goes out under the policy.
fn is_confirmed(receipt: Record<'_>, policy: Option<Record<'_>>) -> bool {
    let said = receipt.follow("user_confirmation_ref").filter(|one| one.kind() == "UserConfirmation");
    let Some(said) = said.filter(|said| said.seq() < receipt.seq()) else { return false };
    let subject = said.json().reference("subject_ref");
    let is_of = |subject: Reference<'_>| match subject.kind {
        "source_workspace" | "source_workspace_current_state" | "workspace" => {
            receipt.id_at("workspace_id") == Some(subject.id)
        }
        "src" | "source_record" => {
            let named = receipt.texts("source_record_refs");
            !named.is_empty() && named.iter().all(|text| source_id(text) == Some(subject.id))
        }
        "externalization" | "workspace_externalization_policy" => {
            policy.is_some_and(|policy| policy.id() == subject.id)
        }
        "workspace_externalization_receipt" => receipt.id() == subject.id,
        _elsewhere => false,
    };
    said.reference("user_ref").is_some_and(|user| user.kind == "user") && subject.is_some_and(is_of)
}

/// Receipts of queries: those that say for which query, by workspace and query, and how many do not, by workspace.
#[derive(Default)]
struct Sent<'w> {
    named: BTreeSet<(Option<&'w str>, &'w str)>,
    unnamed: BTreeMap<&'w str, usize>,
}

fn external_source_query_without_receipt(world: &World, found: &mut Found<'_>) {
    let mut sent = Sent::default();
    for receipt in world.of(RECEIPT).filter(|one| asks(*one, "externalization_kind") == Some(true)) {
        let json = receipt.json();
        match json.text("query_ref").map(query_id) {
            Some(query) => {
                sent.named.insert((json.id_at("workspace_id"), query));
                sent.named.insert((None, query));
            }
            None => {
                let unnamed =
                    json.id_at("workspace_id").map(|workspace| sent.unnamed.entry(workspace).or_default());
                unnamed.into_iter().for_each(|unnamed| *unnamed += 1);
            }
        }
    }
    for receipt in world.of("SourceWorkspaceOperationReceipt") {
        let is_query =
            receipt.is("operation_kind", "append_source_query_record") && receipt.is("status", "applied");
        let json = receipt.json();
        let operation = json.id_at("operation_id").and_then(|id| world.find("SourceWorkspaceOperation", id));
        let payload = operation.and_then(|operation| operation.json().text("payload_ref"));
        if is_query && !needs_none(world, payload) && !sent.covers(json.id_at("workspace_id"), payload) {
            found.add(receipt, "", "tells of a query, and no receipt says that it went out and how");
        }
    }
    for lookup in world.of("EphemeralSourceLookupReceipt") {
        let query = lookup.json().id_at("query_id").map(query_id);
        let went_out = query.and_then(|query| world.find("SourceQueryRecord", query));
        let went_out = went_out.is_some_and(|record| asks(record, "route") == Some(true));
        if went_out && query.is_some_and(|query| !sent.named.contains(&(None, query))) {
            found.add(lookup, "query_id", "names a query, and no receipt says that it went out and how");
        }
    }
}

impl<'w> Sent<'w> {
    /// Whether a query of a workspace has a receipt. One that does not say for which query serves one of them.
    fn covers(&mut self, workspace: Option<&'w str>, payload: Option<&'w str>) -> bool {
        if payload.is_some_and(|query| self.named.contains(&(workspace, query_id(query)))) {
            return true;
        }
        match workspace.and_then(|workspace| self.unnamed.get_mut(workspace)).filter(|left| **left > 0) {
            Some(left) => {
                *left -= 1;
                true
            }
            None => false,
        }
    }
}

fn query_id(text: &str) -> &str {
    Reference::read(text).map_or(text, |query| query.id)
}

/// Whether a query was answered without a provider, or what is recorded of it is the receipt itself.
fn needs_none(world: &World, payload: Option<&str>) -> bool {
    let query = payload.and_then(|payload| world.resolve_text(payload));
    query.is_some_and(|query| {
        query.kind() == RECEIPT || query.is_one_of("route", &["local_workspace", "library"])
    })
}

fn externalization_cost_cap_missing(world: &World, found: &mut Found<'_>) {
    for policy in world.of(POLICY) {
        let costs = asks(policy, "externalization_kind") == Some(true)
            || policy.flag("provider_logging_warning_required") == Some(true);
        let cap = policy.follow("max_cost_vector_ref").filter(|cap| cap.kind() == "CostVector");
        let components = cap.and_then(|cap| cap.json().members("components"));
        let is_capped =
            components.is_some_and(|all| all.iter().any(|(_, one)| one.number("hard_cap").is_some()));
        if costs && !is_capped {
            found.add(policy, "max_cost_vector_ref", "names no cost vector with a hard cap, and this costs");
        }
    }
}
