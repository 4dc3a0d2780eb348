//! Where the work comes from: what was drafted and enforced is the first version, what the run hands over is the last.
//! Owns: holding versions to what the run's stages handed over. Must not: read a CodeSpec; that code keeps its own is told by who
//! enforced it.

use crate::case::{Case, Text};
use crate::claims;
use crate::evidence;
use crate::found::{Found, texts};
use crate::handed;
use crate::report::{Check, Failure, Place};
use crate::revise::{self, Plan};
use crate::run::{Handed, Told};
use crate::task::Artifact;
use crate::walk::Walk;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_govern::world::Record;
use countersign_kernel::pipeline::Agent;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::json::{Json, Object};

const CHECK: Check = Check::Versions;
/// The stage whose output the first version is made of.
const DRAFT: &str = "draft";
/// Our own agents that draft, and that hand the work over.
const DRAFTER: &str = "task_draft";
const INTEGRATOR: &str = "task_integration";

/// What a stage handed over last before a row, and did not only ask.
fn last<'t>(told: &'t Told, output_key: &str, row: u64) -> Option<&'t Handed> {
    told.handed.iter().rfind(|one| one.output_key == output_key && !one.is_asking && one.seq < row)
}

/// Whether one of our own agents writes to an output.
fn is_by(told: &Told, output_key: &str, agent: &str) -> bool {
    let stage = told.pipeline.as_ref().and_then(|pipeline| pipeline.writing(output_key));
    stage.is_some_and(|stage| matches!(&stage.agent, Agent::BuiltIn { name } if name == agent))
}

/// What stands in a fenced block.
fn unfenced(block: &str) -> String {
    let inside = block.trim().split_once('\n').map_or("", |(_, rest)| rest);
    inside.rsplit_once('\n').map_or_else(String::new, |(code, _)| format!("{code}\n"))
}

/// The text of a first version: code that has a CodeSpec as our enforcer let it through, else as it was drafted.
fn drafted(told: &Told, artifact: Artifact<'_>, row: u64) -> Option<String> {
    if artifact.0.text("codespec").is_some() {
        return handed::held(told, row).map(unfenced);
    }
    let own = last(told, DRAFT, row).and_then(|one| one.payload.at("texts")?.get(artifact.id())?.as_str());
    own.map(ToString::to_string)
}

/// A first version is what was drafted, or what a run that was forked from another began with; a later one was made by a step.
pub(crate) fn version<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, number: usize, found: &mut Found) {
    let (case, told) = (walk.case, walk.told);
    if number > 1 {
        let step = record.json().text("produced_by_step_id").unwrap_or_default();
        let plan = Plan::of_step(case, step);
        if let Some(plan) = &plan {
            found.must_say(CHECK, record, "safety_class", revise::worst(case, plan.steps()));
            if let Some(about) = plan.cites(case, step, record.seq()) {
                claims::recited_version(walk, record, about, found);
            }
        }
        return found.holds(
            CHECK,
            record,
            "produced_by_step_id",
            plan.is_some(),
            "no step of a plan made it",
        );
    }
    found.must_say(CHECK, record, "safety_class", "mechanical");
    let local = case.local(record.json().text("artifact_stable_id").unwrap_or_default());
    let row = case.row(record).map_or(0, |row| row.seq);
    let text = case.task.artifact(local).and_then(|artifact| drafted(told, artifact, row));
    let drafted = text.map(|text| String::from(Digest::of(text.as_bytes())));
    let is_held = case.task.artifact(local).is_none_or(|one| one.0.text("codespec").is_none());
    let is_held = is_held || told.heads.contains_key(local) || handed::held(told, row).is_some();
    // What the enforcer made of the draft may be what is withheld.
    let is_held = is_held || told.withholds(handed::ENFORCER);
    found.holds(
        CHECK,
        record,
        "content_hash",
        is_held,
        "it was not held to its CodeSpec, or does not keep it",
    );
    let expected = told.heads.get(local).cloned().or(drafted);
    match expected {
        None if told.is_partial || told.pipeline.is_none() => found.withheld(CHECK),
        expected => {
            found.must(CHECK, record, "content_hash", expected.map(Json::from));
            found.must(CHECK, record, "produced_by_step_id", None);
        }
    }
}

/// Every work product of the task was made, unless a person ended the run before, or a model was not to be asked for it.
pub(crate) fn complete(case: &Case<'_>, told: &Told, found: &mut Found) {
    let is_ours = is_by(told, DRAFT, DRAFTER);
    let is_cancelled = case.world.of("TaskCancelReceipt").next().is_some();
    let Some(draft) = last(told, DRAFT, u64::MAX).filter(|_| is_ours && !is_cancelled && !told.is_partial)
    else {
        return;
    };
    let is_quoting = told.handed.iter().any(|one| one.payload.flag("is_quoting") == Some(true));
    let has_budget = case.task.0.members("budget").is_some_and(|caps| caps.iter().next().is_some());
    for artifact in case.task.artifacts() {
        let is_drafted = draft.payload.at("texts").is_some_and(|texts| texts.get(artifact.id()).is_some());
        // Only what needs a model, and may not cost what that costs, is left out.
        let is_spared = has_budget && !is_quoting && artifact.0.at("from").is_none();
        let own = case.own(artifact.id());
        let mut versions = case.world.of("ArtifactVersion");
        let is_made = versions.any(|one| one.json().is("artifact_stable_id", &own));
        if is_made || (!is_drafted && is_spared) {
            found.right(Check::Completeness);
            continue;
        }
        let place = Place { record: Some(format!("Artifact {own}")), ..Place::default() };
        let message = "the task asks for it, and it was never made";
        found.wrong(Code::VerifyIncomplete, Check::Completeness, place, message);
    }
}

/// What the run hands over in the end is the work as it stood: the first text, and each product with its version and hash.
pub(crate) fn handed_over(case: &Case<'_>, told: &Told, found: &mut Found) {
    if !is_by(told, "integration", INTEGRATOR) {
        return;
    }
    for one in told.handed.iter().filter(|one| one.output_key == "integration" && !one.is_asking) {
        let before = case.world.all().filter(|record| case.row(*record).is_some_and(|row| row.seq < one.seq));
        let place = before.last().map_or(0, |record| record.seq() + 1);
        let heads = evidence::heads(case, place);
        let products: Vec<Json> = heads.iter().map(|head| product(case, *head)).collect();
        same(one, "products", Some(Json::Array(products)), found);
        let text = heads.first().map_or(Text::Here(""), |head| case.content(*head).text());
        match text {
            Text::Here(text) => same(one, "final_response", Some(text.into()), found),
            Text::Withheld => found.withheld(CHECK),
            Text::Missing => {}
        }
        let packet = case.last("TaskReliancePacket", place).filter(|_| !heads.is_empty());
        let of = |path: &str| packet.and_then(|one| one.json().at(path).cloned());
        let none: [&str; 0] = [];
        let limits = of("reliance_derivation.unresolved_limitations").unwrap_or_else(|| texts(&none));
        same(one, "packet", packet.map(|one| one.id().into()), found);
        same(one, "reliance_status", of("reliance_derivation.status"), found);
        same(one, "limitations", Some(limits), found);
        // What is left to do is said by the packet, and nothing besides.
        if one.payload.at("follow_up_suggestions").is_some() {
            same(one, "follow_up_suggestions", Some(texts(&none)), found);
        }
    }
}

fn product(case: &Case<'_>, head: Record<'_>) -> Json {
    let json = head.json();
    let local = case.local(json.text("artifact_stable_id").unwrap_or_default());
    let number = head.id().rsplit_once(".v").map(|(_, number)| number).unwrap_or_default();
    let path = case.task.artifact(local).and_then(Artifact::path);
    Object::from([
        ("artifact", Json::from(local)),
        ("path", path.map_or(Json::Null, Json::from)),
        ("version", crate::task::decimal(number)),
        ("sha256", json.at("content_hash").cloned().unwrap_or(Json::Null)),
    ])
    .into()
}

fn same(handed: &Handed, member: &str, expected: Option<Json>, found: &mut Found) {
    let stated = handed.payload.at(member).cloned();
    if stated == expected {
        return found.right(CHECK);
    }
    found.fail(Failure {
        code: Code::VerifyDerivation,
        check: CHECK,
        place: Place { row: Some(handed.seq), path: Some(format!("/payload/{member}")), ..Place::default() },
        expected,
        found: stated,
        message: "is not the work as it stood".to_string(),
    });
}
