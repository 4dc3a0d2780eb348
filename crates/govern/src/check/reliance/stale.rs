//! Whether a packet still speaks about what is so.
//! Owns: finding what replaced an input. Must not: judge what it was replaced by.

use super::rows::{By, text};
use super::{Found, invalidations};
use crate::check::course::firsts_behind;
use crate::check::stood::Stood;
use crate::fold::family::PACKET;
use crate::member::Member;
use crate::path::Path;
use crate::reference::Reference;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;
use countersign_record::json::Json;

/// The states in which somebody may be looking at it.
const STANDING: [&str; 3] = ["ready_for_review", "user_reviewed", "issued"];

/// A list of an input that was replaced, and the place of what replaced it.
type Change = (&'static str, u64);

/// Places of the log, in order.
type Places = Vec<(u64, ())>;

pub(super) fn reliance_packet_stale_snapshot(world: &World, found: &mut Found<'_>) {
    if world.of("TaskReliancePacket").next().is_none() {
        return;
    }
    let (mut index, invalidated) = (Index::of(world), invalidations(world));
    let stood = Stood::of(world, &PACKET);
    let packets = world.of("TaskReliancePacket");
    let standing: Vec<Standing<'_>> = packets.filter_map(|packet| standing(packet, &stood)).collect();
    index.look_at_snapshots(&standing);
    for one in &standing {
        let fell = invalidated.get(one.packet.id()).copied().unwrap_or(0);
        for (field, seq) in index.changes(one) {
            if fell <= seq {
                let message = format!("row {seq} replaced what the packet rests on, and it still stands");
                found.add(one.packet, Path::from("input_manifest").then(field), message);
            }
        }
    }
}

/// A packet that somebody may be looking at.
struct Standing<'w> {
    packet: Record<'w>,
    manifest: &'w Json,
    /// Where its manifest was made.
    made: u64,
}

fn standing<'w>(packet: Record<'w>, stood: &Stood<'w>) -> Option<Standing<'w>> {
    let last = packet.world.find("TaskReliancePacket", packet.id())?;
    let is_standing =
        last.seq() == packet.seq() && stood.told(packet).is_some_and(|state| STANDING.contains(&state));
    let manifest = packet.json().at("input_manifest").filter(|_| is_standing)?;
    Some(Standing { packet, manifest, made: packet.place("input_manifest.created_from_event_seq")? })
}

/// The rows that replace something, by what they replace.
struct Index<'w> {
    world: &'w World,
    heads: BTreeMap<&'w str, Heads<'w>>,
    /// The places where a workspace got another head.
    workspaces: BTreeMap<&'w str, Places>,
    /// The first place behind another one where a workspace got another head that a snapshot looked at.
    moved: BTreeMap<(u64, u64), u64>,
    resolutions: By<'w, &'w str>,
    answers: By<'w, &'w str>,
    packages: By<'w, &'w str>,
    /// Packages by their run and each artifact that they are about.
    packages_of: By<'w, (&'w str, &'w str)>,
}

impl<'w> Index<'w> {
    fn of(world: &'w World) -> Self {
        Index {
            world,
            heads: heads(world),
            workspaces: workspaces(world),
            moved: BTreeMap::new(),
            resolutions: By::member(world, "EvaluationChainResolutionReceipt", "chain_id"),
            answers: By::member(world, "HardCallResolutionReceipt", "hard_call_id"),
            packages: By::id(world, "EvidencePackage"),
            packages_of: By::new(world, "EvidencePackage", |package| {
                let artifacts = package.json().texts("final_artifact_refs").into_iter();
                artifacts
                    .filter_map(|artifact| text(package, "run_id").zip(Some(artifact)))
                    .collect::<Vec<_>>()
            }),
        }
    }

    /// The first change of each list of a manifest after it was made.
    fn changes(&self, one: &Standing<'w>) -> Vec<Change> {
        let Standing { packet, manifest, made } = *one;
        const RECEIPTS: &str = "evaluation_chain_resolution_receipt_refs";
        const ANSWERS: &str = "hard_call_resolution_refs";
        let artifacts = manifest.references("final_artifact_refs").into_iter();
        let workspaces = self.cited_workspaces(manifest).into_iter();
        let workspaces = workspaces.filter_map(|one| self.new_state(one, made));
        let workspaces = workspaces.chain(self.snapshots(manifest).filter_map(|one| self.moved(one, made)));
        let policies = manifest.references("policy_decision_refs").into_iter();
        let newer = |field, about, receipts| newer(self.world, manifest, (field, about), receipts, made);
        let all = [
            ("final_artifact_refs", artifacts.filter_map(|one| self.new_head(one, made)).min()),
            ("source_workspace_snapshot_refs", workspaces.min()),
            (RECEIPTS, newer(RECEIPTS, "chain_id", &self.resolutions)),
            (ANSWERS, newer(ANSWERS, "hard_call_id", &self.answers)),
            ("evidence_package_refs", self.new_package(packet, manifest, made)),
            ("policy_decision_refs", policies.filter_map(|one| self.new_policy(one, made)).min()),
        ];
        all.into_iter().filter_map(|(field, seq)| seq.map(|seq| (field, seq))).collect()
    }

    /// Another version became the head of a cited artifact.
    fn new_head(&self, cited: Reference<'w>, made: u64) -> Option<u64> {
        let version = self.world.resolve(cited).filter(|one| one.kind() == "ArtifactVersion");
        let artifact = match version {
            Some(version) => text(version, "artifact_stable_id")?,
            None if cited.kind == "artifact" => cited.id,
            None => return None,
        };
        self.heads.get(artifact)?.other(version.map(Record::id), made)
    }

    /// A cited workspace got another head.
    fn new_state(&self, workspace: &str, made: u64) -> Option<u64> {
        let places = self.workspaces.get(workspace)?;
        places.get(places.partition_point(|(seq, _)| *seq <= made)).map(|(seq, _)| *seq)
    }

    /// The evaluation snapshots that a manifest cites.
    fn snapshots(&self, manifest: &'w Json) -> impl Iterator<Item = Record<'w>> {
        let world = self.world;
        manifest.references("evaluation_snapshot_refs").into_iter().filter_map(|one| world.resolve(one))
    }

    /// A workspace got another head that a snapshot looked at.
    fn moved(&self, snapshot: Record<'w>, made: u64) -> Option<u64> {
        self.moved.get(&(snapshot.seq(), made)).copied()
    }

    /// Looks once at the workspaces of each snapshot, for all packets that cite it.
    fn look_at_snapshots(&mut self, packets: &[Standing<'w>]) {
        let mut asked: BTreeMap<u64, (Record<'w>, BTreeSet<u64>)> = BTreeMap::new();
        for one in packets {
            for snapshot in self.snapshots(one.manifest) {
                let (_, places) = asked.entry(snapshot.seq()).or_insert((snapshot, BTreeSet::new()));
                places.insert(one.made);
            }
        }
        for (seq, (snapshot, places)) in asked {
            let sets = snapshot.json().list("source_workspace_snapshot_hashes").iter();
            let named: BTreeSet<&str> =
                sets.filter_map(|set| set.text("source_workspace_ref")).map(bare).collect();
            let lists: Vec<&[(u64, ())]> =
                named.into_iter().filter_map(|one| self.workspaces.get(one)).map(Vec::as_slice).collect();
            let places: Vec<u64> = places.into_iter().collect();
            let firsts = firsts_behind(&lists, &places);
            let firsts = places.iter().zip(firsts).filter_map(|(made, first)| Some((*made, first?.0)));
            self.moved.extend(firsts.map(|(made, first)| ((seq, made), first)));
        }
    }

    /// The workspaces that a manifest cites, itself, as the state that an evaluation looked at, and through its evidence.
    fn cited_workspaces(&self, manifest: &'w Json) -> BTreeSet<&'w str> {
        let mut all = BTreeSet::new();
        let mut cited = manifest.references("source_workspace_snapshot_refs");
        let states = self.snapshots(manifest).map(|one| one.json().reference("source_workspace_state_ref"));
        cited.extend(states.flatten());
        for package in manifest.references("evidence_package_refs") {
            let package = self.world.resolve(package);
            cited.extend(package.and_then(|one| one.json().reference("source_workspace_snapshot_ref")));
        }
        for reference in cited {
            match self.world.resolve(reference) {
                Some(record) => all.extend(record.json().id_at("workspace_id")),
                None => all.extend((reference.kind == "source_workspace").then_some(reference.id)),
            }
        }
        all
    }

    /// A newer version of a cited package, or another package of the run about the same artifact.
    fn new_package(&self, packet: Record<'w>, manifest: &'w Json, made: u64) -> Option<u64> {
        let cited = manifest.references("evidence_package_refs");
        let versions = cited.iter().filter_map(|one| self.packages.after(&one.id, made).first());
        let run = text(packet, "run_id").filter(|_| !cited.is_empty());
        let artifacts = manifest.texts("final_artifact_refs").into_iter();
        let others = artifacts.filter_map(|one| self.packages_of.after(&(run?, one), made).first());
        versions.chain(others).map(|one| one.seq()).min()
    }

    /// A cited decision of a policy was superseded: by the row that says so, or by the decision that it names.
    fn new_policy(&self, cited: Reference<'_>, made: u64) -> Option<u64> {
        let policy =
            self.world.find("PolicyEvaluation", cited.id).filter(|_| cited.kind == "policy_evaluation")?;
        let by = policy.json().text("superseded_by")?;
        let newer = match self.world.resolve_text(by) {
            Some(newer) => Some(newer),
            None => self.world.find("PolicyEvaluation", by),
        };
        let seq = newer.map_or(policy.seq(), |newer| newer.seq().max(policy.seq()));
        (seq > made).then_some(seq)
    }
}

/// The first later receipt about what a cited one is about, which the manifest does not cite.
fn newer<'w>(
    world: &'w World,
    manifest: &'w Json,
    (field, about): (&str, &str),
    receipts: &By<'w, &'w str>,
    made: u64,
) -> Option<u64> {
    let cited = manifest.references(field);
    let ids: BTreeSet<&str> = cited.iter().map(|one| one.id).collect();
    let subjects: BTreeSet<&str> =
        cited.iter().filter_map(|one| world.resolve(*one)).filter_map(|one| text(one, about)).collect();
    let is_new = |one: &&Record<'_>| !ids.contains(one.id());
    let later = subjects.iter().filter_map(|subject| receipts.after(subject, made).iter().find(is_new));
    later.map(|one| one.seq()).min()
}

/// The versions that became the head of an artifact, in order.
#[derive(Default)]
struct Heads<'w> {
    all: Vec<(u64, &'w str)>,
    /// For each the next one of another version.
    others: Vec<usize>,
}

impl Heads<'_> {
    /// Where another version became the head behind a place; of no version, any.
    fn other(&self, version: Option<&str>, behind: u64) -> Option<u64> {
        let next = self.all.partition_point(|(seq, _)| *seq <= behind);
        let (seq, first) = self.all.get(next)?;
        if version != Some(first) {
            return Some(*seq);
        }
        self.others.get(next).and_then(|other| self.all.get(*other)).map(|(seq, _)| *seq)
    }
}

fn heads(world: &World) -> BTreeMap<&str, Heads<'_>> {
    let mut all: BTreeMap<&str, Heads<'_>> = BTreeMap::new();
    for event in world.of("ArtifactVersionTransitionEvent").filter(|one| one.is("to_state", "accepted_head"))
    {
        let version = event.follow("artifact_version_ref");
        if let Some((artifact, version)) =
            version.and_then(|one| Some((text(one, "artifact_stable_id")?, one)))
        {
            all.entry(artifact).or_default().all.push((event.seq(), version.id()));
        }
    }
    for heads in all.values_mut() {
        let count = heads.all.len();
        let (mut others, mut other) = (Vec::with_capacity(count), count);
        for (at, pair) in heads.all.windows(2).enumerate().rev() {
            if let [(_, one), (_, next)] = pair
                && one != next
            {
                other = at + 1;
            }
            others.push(other);
        }
        others.reverse();
        others.push(count);
        heads.others = others;
    }
    all
}

/// A workspace may be named by a reference or by its id.
fn bare(text: &str) -> &str {
    Reference::read(text).map_or(text, |reference| reference.id)
}

/// The places where a workspace got another head.
fn workspaces(world: &World) -> BTreeMap<&str, Places> {
    let mut all: BTreeMap<&str, Places> = BTreeMap::new();
    for receipt in world.of("SourceWorkspaceOperationReceipt").filter(|one| one.is("status", "applied")) {
        let is_same = receipt.text("new_workspace_head_hash").is_some()
            && receipt.text("new_workspace_head_hash") == receipt.text("prior_workspace_head_hash");
        if let Some(workspace) = receipt.json().id_at("workspace_id").filter(|_| !is_same) {
            all.entry(workspace).or_default().push((receipt.seq(), ()));
        }
    }
    let mut heads: BTreeMap<&str, &str> = BTreeMap::new();
    for state in world.of("SourceWorkspaceCurrentState") {
        let Some(head) = state.json().text("head_hash") else { continue };
        if heads.insert(state.id(), head).is_some_and(|before| before != head) {
            all.entry(state.id()).or_default().push((state.seq(), ()));
        }
    }
    all.values_mut().for_each(|seqs| seqs.sort_unstable());
    all
}
