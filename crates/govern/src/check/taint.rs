//! Validation codes: taint.
//! Owns: the rules of this area. Must not: decide by names.

mod whole;

use super::sources::source_id;
use super::{Area, Found, Rule, Severity};
use crate::derive::graph::Graph;
use crate::derive::taint::{self, Sanitization, Taint, TrustBasis};
use crate::member::Member;
use crate::reference::Reference;
use crate::table::taint_defaults;
use crate::world::{Mark, Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::json::Json;
use whole::workspace_taint_missing_aggregation_policy;

pub(super) const AREA: Area = Area { name: "taint", rules: RULES, kinds: &[] };

const RULES: &[Rule] = &[
    Rule {
        code: "source_kind_taint_unmapped",
        severity: Severity::Error,
        section: "D-01/D-02",
        fires: "A SourceRecord.source_kind has no (or more than one) row in SOURCE_KIND_TAINT_DEFAULTS.",
        legal: "source_kind custom, which is mapped to unclassified.",
        why: "Where the table has no row for a kind, or rows that disagree, nobody decided how far such a source is trusted.",
        fix: "Register exactly one default for the kind, or use a kind that has one, such as `custom`.",
        check: source_kind_taint_unmapped,
    },
    Rule {
        code: "external_authority_without_trust_basis",
        severity: Severity::Error,
        section: "D-01/D-02",
        fires: "A SourceRecord of effective taint_class external_authority_trusted has a trust basis that is absent or not in required_trust_basis of its source_kind; or its kind requires none, and no policy decision that allows it stands behind the basis manual_override_policy.",
        legal: "A statute fetched through official_api, an api_result without basis held as external_untrusted, or a web_source under manual_override_policy with its policy decision.",
        why: "Content is passed on as an authority's own words while nothing shows that it came from that authority.",
        fix: "Record how the source was obtained as its `trust_basis`, or hold it as its kind is by default; an override by policy names its decision in `policy_decision_refs`.",
        check: external_authority_without_trust_basis,
    },
    Rule {
        code: "taint_not_inherited_through_summary",
        severity: Severity::Error,
        section: "D-01/D-02",
        fires: "A record derived from others (summary, extract, packet, guidance, prior_task_output, finding) has a taint_class lower in the taint order than the maximum over its inputs (one that has a place for its taint and states none counts as unclassified), and no SanitizationNode from before the derivation edge lies on it.",
        legal: "A summary whose taint equals or exceeds the maximum of its inputs, or one of records that have no place for a taint.",
        why: "A summary of untrusted content carries what that content says. If it counts as trusted, instructions and errors from outside pass every gate after it.",
        fix: "Give the record the highest taint of its inputs, or put a sanitization with evidence on the derivation.",
        check: taint_not_inherited_through_summary,
    },
    Rule {
        code: "workspace_taint_missing_aggregation_policy",
        severity: Severity::Error,
        section: "D-01/D-02",
        fires: "A workspace, bundle or package states a taint_class/privileged value with no TaintAggregationPolicy, or one that differs from max taint and any-privileged over its records within the matter.",
        legal: "An empty workspace with the lowest taint and privileged = false.",
        why: "Exports and gates look at the workspace as a whole. If its taint or privilege is not that of its records, one untrusted or privileged record slips through.",
        fix: "Name the aggregation policy and state the highest taint of the records, and `privileged` if any of them is, all within one matter.",
        check: workspace_taint_missing_aggregation_policy,
    },
    Rule {
        code: "taint_downgrade_without_sanitization_node",
        severity: Severity::Error,
        section: "D-01/D-02",
        fires: "The taint_class of one record is lowered by an update, or that of a source below what its kind has by default by an override (external_authority_trusted aside, which has its own code), without an earlier SanitizationNode of its own that it came out of, whose input_taint/output_taint match and whose evidence_ref resolves (a manual override needs trust basis manual_override_policy and a policy decision).",
        legal: "A change to a higher taint, or a downgrade through a human_review SanitizationNode with evidence.",
        why: "Trust was raised by a mere edit. Whoever signs cannot see who looked at the content and what was done to it.",
        fix: "Record a sanitization from the old taint to the new one with its evidence, or an override by policy with its decision; else restore the taint.",
        check: taint_downgrade_without_sanitization_node,
    },
];

/// The taint that a record states, itself or in its envelope.
fn stated(record: &Json) -> Option<Taint> {
    record.text("taint_class").or_else(|| record.text("governance.taint_class")).and_then(Taint::find)
}

/// What a kind of source may be trusted with: its taint in the contract's word, and what must back it.
type Row<'w> = (&'w str, Vec<&'w str>);

/// What the log adds for a kind of source.
#[derive(Default)]
struct Defaults<'w> {
    rows: BTreeSet<Row<'w>>,
    /// Where each that differs from those before it, and from the one that is built in, stands.
    others: Vec<u64>,
    /// Those that ask for something that backs the trust, by their places.
    asked: Vec<(u64, Vec<&'w str>)>,
}

impl<'w> Defaults<'w> {
    fn add(&mut self, kind: &str, seq: u64, row: Row<'w>) {
        // What comes first holds from the beginning.
        let from = |is_first: bool| if is_first { 0 } else { seq };
        if !row.1.is_empty() {
            self.asked.push((from(self.asked.is_empty()), row.1.clone()));
        }
        let is_other = !is_built_in(kind, &row);
        let is_first = self.rows.is_empty();
        if self.rows.insert(row) && is_other {
            self.others.push(from(is_first));
        }
    }

    /// How many that differ a place of the log goes by.
    fn others(&self, seq: u64) -> usize {
        self.others.partition_point(|from| *from < seq)
    }

    /// What must back the trust of a source at a place of the log.
    fn asked(&self, seq: u64) -> Option<&[&'w str]> {
        let count = self.asked.partition_point(|(from, _)| *from < seq);
        count.checked_sub(1).and_then(|last| self.asked.get(last)).map(|(_, asked)| asked.as_slice())
    }
}

/// The rows of each kind that the log adds.
fn added_defaults(world: &World) -> BTreeMap<&str, Defaults<'_>> {
    let mut all: BTreeMap<&str, Defaults<'_>> = BTreeMap::new();
    for row in world.of("SourceKindTaintDefault") {
        let json = row.json();
        if let (Some(kind), Some(taint)) = (json.text("source_kind"), json.text("default_taint_class")) {
            let mut required = json.texts("required_trust_basis");
            required.sort_unstable();
            all.entry(kind).or_default().add(kind, row.seq(), (taint, required));
        }
    }
    all
}

/// Whether a row says the same as the one that is built in.
fn is_built_in(kind: &str, (taint, required): &Row<'_>) -> bool {
    taint_defaults::find(kind).is_some_and(|row| {
        let bases: Vec<Option<TrustBasis>> = required.iter().map(|word| TrustBasis::find(word)).collect();
        row.taint.as_str() == *taint
            && bases.len() == row.required.len()
            && row.required.iter().all(|basis| bases.contains(&Some(*basis)))
    })
}

fn source_kind_taint_unmapped(world: &World, found: &mut Found<'_>) {
    let added = added_defaults(world);
    for record in world.of("SourceRecord") {
        let Some(kind) = record.text("source_kind") else { continue };
        let others = added.get(kind).map_or(0, |rows| rows.others(record.seq()));
        match others + usize::from(taint_defaults::find(kind).is_some()) {
            0 => found.add(record, "source_kind", format!("no default says how far {kind} is trusted")),
            1 => {}
            count => found.add(record, "source_kind", format!("{count} defaults for {kind} disagree")),
        }
    }
}

fn external_authority_without_trust_basis(world: &World, found: &mut Found<'_>) {
    let added = added_defaults(world);
    for record in world.of("SourceRecord") {
        if stated(record.json()) != Some(Taint::ExternalAuthorityTrusted) {
            continue;
        }
        let kind = record.text("source_kind").unwrap_or_default();
        let word = record.text("trust_basis");
        let basis = word.and_then(TrustBasis::find);
        let asked = added.get(kind).and_then(|rows| rows.asked(record.seq()));
        let is_met = match (taint_defaults::find(kind).filter(|row| !row.required.is_empty()), asked) {
            (Some(row), _) => row.is_met_by(basis),
            (None, Some(required)) => word.is_some_and(|word| required.contains(&word)),
            // A kind that asks for nothing is no authority by whatever it was got through: only a policy can make it one.
            (None, None) => is_overridden(record),
        };
        if !is_met {
            found.add(
                record,
                "trust_basis",
                "nothing that its kind asks for shows that an authority gave it",
            );
        }
    }
}

/// How far a record is trusted: as it says, and where a source says nothing, as its kind is by default.
pub(super) fn effective(record: Record<'_>) -> Option<Taint> {
    let own = stated(record.json());
    if own.is_some() || record.kind() != "SourceRecord" {
        return own;
    }
    let default = record.text("source_kind").and_then(taint_defaults::find)?;
    Some(taint::effective(default, record.text("trust_basis").and_then(TrustBasis::find), None))
}

/// The versions of everything that has a taint, by the kind in snake case and the id.
struct Taints<'w>(BTreeMap<&'w str, BTreeMap<&'w str, Versions<'w>>>);

/// The versions of one record, in order, with what they state.
type Versions<'w> = Vec<(Record<'w>, Taint)>;

impl<'w> Taints<'w> {
    fn of(world: &'w World) -> Self {
        let mut taints: BTreeMap<&str, BTreeMap<&str, Versions<'w>>> = BTreeMap::new();
        let untold = world.of("SourceRecord").filter(|source| !source.has(Mark::Taint));
        for record in world.marked(Mark::Taint).chain(untold) {
            if let Some(taint) = effective(record) {
                let ids = taints.entry(record.snake()).or_default();
                ids.entry(record.id()).or_default().push((record, taint));
            }
        }
        for versions in taints.values_mut().flat_map(BTreeMap::values_mut) {
            versions.sort_by_key(|(record, _)| record.seq());
        }
        Taints(taints)
    }

    /// What a reference names, as it was before a place of the log; as it came to be if it was not there yet.
    fn before(&self, text: &str, seq: u64) -> Option<(Record<'w>, Taint)> {
        let (kind, id) = match source_id(text) {
            Some(id) => ("source_record", id),
            None => Reference::read(text).map(|reference| (reference.kind, reference.id))?,
        };
        let versions = self.0.get(kind)?.get(id)?;
        let count = versions.partition_point(|(one, _)| one.seq() < seq);
        versions.get(count.saturating_sub(1)).copied()
    }

    /// What an input hands on. One that has a place for its taint and states none may be anything; one that has no such place, as a
    /// look at the work, hands on what it was made of; and of one that is not in the log nobody can say.
    fn handed_on(&self, input: &str, world: &World, seq: u64) -> Option<Taint> {
        let stated = self.before(input, seq).map(|(_, taint)| taint);
        let carries = || {
            let found = match source_id(input) {
                Some(id) => world.find("SourceRecord", id),
                None => Reference::read(input).and_then(|reference| world.resolve(reference)),
            };
            found.is_some_and(|found| CARRIERS.contains(&found.kind()))
        };
        stated.or_else(|| carries().then_some(Taint::Unclassified))
    }
}

/// The records that have a place for their taint.
const CARRIERS: [&str; 8] = [
    "EvaluationFindingEvent",
    "EvidencePackage",
    "RunBoardAuditEvent",
    "RunGuidanceCreationEvent",
    "SourceRecord",
    "SourceWorkspaceCurrentState",
    "SourceWorkspaceOperation",
    "TaskReliancePacket",
];

/// What a text names: the kind and the id.
fn named(text: &str) -> (&str, &str) {
    match (source_id(text), Reference::read(text)) {
        (Some(id), _) => ("source_record", id),
        (None, Some(reference)) => (reference.kind, reference.id),
        (None, None) => ("", text),
    }
}

/// What a node does, if somebody can look up that it was done.
fn sanitization(node: Record<'_>) -> Option<Sanitization> {
    let read = |field: &str| node.text(field).and_then(Taint::find);
    let is_shown = node.text("evidence_ref").is_some();
    let taints = read("input_taint").zip(read("output_taint")).filter(|_| is_shown);
    taints.map(|(input, output)| Sanitization { input, output })
}

/// Nodes by what came out of them and what went in, if that is said; for what they take and make of it, where the first stands.
struct Nodes<'w>(BTreeMap<Way<'w>, BTreeMap<(Taint, Taint), u64>>);

/// What came out, and what went in.
type Way<'w> = ((&'w str, &'w str), Option<(&'w str, &'w str)>);

impl<'w> Nodes<'w> {
    fn of(world: &'w World) -> Self {
        let mut nodes: BTreeMap<Way<'_>, BTreeMap<(Taint, Taint), u64>> = BTreeMap::new();
        for node in world.of("SanitizationNode") {
            let (output, input) = (node.json().text("output_ref"), node.json().text("input_ref"));
            if let (Some(output), Some(made)) = (output, sanitization(node)) {
                let way = nodes.entry((named(output), input.map(named))).or_default();
                way.entry((made.input, made.output)).or_insert(node.seq());
            }
        }
        Nodes(nodes)
    }

    /// The least that nodes on an edge from before it make of a taint: that of one input, or of all together.
    fn beside(&self, edge: Record<'w>, output: &str, input: Option<&str>, taint: Taint) -> Option<Taint> {
        let way = self.0.get(&(named(output), input.map(named)))?;
        let made = way.range((taint, Taint::LOWEST)..);
        let made = made.filter(|((input, _), at)| *input == taint && **at < edge.seq());
        made.map(|((_, output), _)| *output).min()
    }
}

fn taint_not_inherited_through_summary(world: &World, found: &mut Found<'_>) {
    if world.of("DerivationEdge").next().is_none() {
        return;
    }
    let taints = Taints::of(world);
    let nodes = Nodes::of(world);
    // What is made of tainted things and has no place for its own taint hands theirs on.
    let mut carried: BTreeMap<(&str, &str), Taint> = BTreeMap::new();
    for edge in from_inputs(world) {
        let Some(output) = edge.json().text("output_ref") else { continue };
        let made = taints.before(output, edge.seq());
        let seq = made.map_or(edge.seq(), |(record, _)| record.seq());
        let inputs = edge.json().texts("input_refs");
        let node = edge.follow("sanitization_ref").filter(|one| one.kind() == "SanitizationNode");
        let node = node.filter(|node| node.seq() < edge.seq() && is_on(*node, output, &inputs));
        // What is left of a taint: a node that names what went in makes nothing of what else did.
        let left = |input: Option<&str>, taint: Taint| {
            let own = node.filter(|node| node.json().text("input_ref").map(named) == input.map(named));
            let own = own.and_then(sanitization).map(|node| taint::derived([taint], Some(node)));
            own.into_iter().chain(nodes.beside(edge, output, input, taint)).min().unwrap_or(taint)
        };
        let handed_on = inputs.iter().filter_map(|input| {
            let own = taints.handed_on(input, world, seq).or_else(|| carried.get(&named(input)).copied());
            own.map(|taint| left(Some(input), taint))
        });
        let Some(greatest) = handed_on.max() else { continue };
        let least = left(None, greatest);
        match made {
            Some((record, own)) if own < least => {
                let message = format!("is {} where its inputs make it {}", own.as_str(), least.as_str());
                found.add(record, "taint_class", message);
            }
            Some(_) => {}
            None => {
                let known = carried.entry(named(output)).or_insert(least);
                *known = least.max(*known);
            }
        }
    }
}

/// The edges, those of what went into something before those of what came out of it, wherever they are told.
fn from_inputs(world: &World) -> Vec<Record<'_>> {
    let plain = |text: &str| {
        let (kind, id) = named(text);
        format!("{kind}:{id}")
    };
    let mut edges: Vec<(Record<'_>, String, Vec<String>)> = Vec::new();
    for edge in world.of("DerivationEdge") {
        if let Some(output) = edge.text("output_ref") {
            let inputs = edge.texts("input_refs").into_iter().map(plain).collect();
            edges.push((edge, plain(output), inputs));
        }
    }
    let pairs = edges
        .iter()
        .flat_map(|(_, output, inputs)| inputs.iter().map(move |input| (output.as_str(), input.as_str())));
    let graph = Graph::new([], pairs);
    let mut ordered: Vec<(Option<usize>, Record<'_>)> =
        edges.iter().map(|(edge, output, _)| (graph.component(output), *edge)).collect();
    ordered.sort_by_key(|(component, edge)| (*component, edge.seq()));
    ordered.into_iter().map(|(_, edge)| edge).collect()
}

/// Whether a node lies on an edge: what it says went in and came out did so there.
fn is_on(node: Record<'_>, output: &str, inputs: &[&str]) -> bool {
    let is_output = |made: &str| named(made) == named(output);
    let is_input = |taken: &str| inputs.iter().any(|input| named(input) == named(taken));
    node.text("output_ref").is_none_or(is_output) && node.text("input_ref").is_none_or(is_input)
}

fn taint_downgrade_without_sanitization_node(world: &World, found: &mut Found<'_>) {
    let mut nodes = Downgrades::of(world);
    let mut taints: BTreeMap<(&str, &str), Taint> = BTreeMap::new();
    // The taint of a whole follows that of its records; the rule on wholes looks at it.
    let is_whole = |kind: &str| ["SourceWorkspaceCurrentState", "EvidencePackage"].contains(&kind);
    let untold = world.of("SourceRecord").filter(|source| !source.has(Mark::Taint));
    let mut records: Vec<Record<'_>> = world.marked(Mark::Taint).chain(untold).collect();
    records.sort_unstable_by_key(|record| record.seq());
    for record in records.into_iter().filter(|record| !is_whole(record.kind())) {
        let Some(taint) = effective(record) else { continue };
        let before = taints.insert((record.kind(), record.id()), taint);
        let Some(was) = before.or_else(|| by_kind(record, taint)).filter(|was| *was > taint) else {
            continue;
        };
        if !nodes.take(record, was, taint) && !is_overridden(record) {
            let by = if before.is_some() { "by an edit" } else { "by what it says of itself" };
            found.add(
                record,
                "taint_class",
                format!("fell from {} to {} {by}", was.as_str(), taint.as_str()),
            );
        }
    }
}

/// How far a source is trusted by its kind, which is where it starts from. That an authority gave it has a rule of its own.
fn by_kind(record: Record<'_>, stated: Taint) -> Option<Taint> {
    let is_source = record.kind() == "SourceRecord" && stated != Taint::ExternalAuthorityTrusted;
    let kind = record.text("source_kind").filter(|_| is_source)?;
    let basis = record.text("trust_basis").and_then(TrustBasis::find);
    taint_defaults::find(kind).map(|default| taint::effective(default, basis, None))
}

/// Nodes that stand for a fall of taint: by what came out of them and what they made of what; where each stands, the last one first.
struct Downgrades<'w>(BTreeMap<(&'w str, &'w str, Taint, Taint), Vec<u64>>);

impl<'w> Downgrades<'w> {
    fn of(world: &'w World) -> Self {
        let mut all: BTreeMap<_, Vec<u64>> = BTreeMap::new();
        let nodes = world.of("SanitizationNode").rev();
        for node in nodes.filter(|node| node.follow("evidence_ref").is_some()) {
            let Some(Sanitization { input, output }) = sanitization(node) else { continue };
            // What came out of it is trusted more; what went in only where nothing else came out.
            let text = node.json().text("output_ref").or(node.json().text("input_ref"));
            if let Some((kind, id)) = text.map(named).filter(|(kind, _)| !kind.is_empty()) {
                all.entry((kind, id, input, output)).or_default().push(node.seq());
            }
        }
        Downgrades(all)
    }

    /// Whether a node stands for the fall. What is written behind it can't have let it happen, and one that let another happen is
    /// used up: what rose again since was not sanitized by it.
    fn take(&mut self, record: Record<'w>, was: Taint, is: Taint) -> bool {
        let nodes = self.0.get_mut(&(record.snake(), record.id(), was, is));
        nodes.is_some_and(|nodes| nodes.pop_if(|at| *at < record.seq()).is_some())
    }
}

/// Whether a policy lets the record have another taint than it had, and says so.
fn is_overridden(record: Record<'_>) -> bool {
    record.is("trust_basis", "manual_override_policy")
        && record
            .references("policy_decision_refs")
            .into_iter()
            .filter_map(|reference| record.world.resolve(reference))
            .any(|one| one.kind() == "PolicyEvaluation" && one.is("decision", "allow"))
}

#[cfg(test)]
#[path = "taint_tests.rs"]
mod tests;
