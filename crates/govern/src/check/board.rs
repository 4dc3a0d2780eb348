//! Validation codes: board.
//! Owns: the rules of this area. Must not: decide by names.

use super::stood::Stood;
use super::{Area, Found, Rule, Severity};
use crate::decide::board::{Moment, Pace};
use crate::derive::taint::may_see;
use crate::fold::family::POST;
use crate::kind::{Class, Kind};
use crate::member::Member;
use crate::path::Path;
use crate::reference::Reference;
use crate::world::{Record, Settings, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;
use countersign_record::json::Json;

pub(super) const AREA: Area = Area {
    name: "board",
    rules: RULES,
    kinds: &[Kind::new("RunBoardDigest", Class::Event, Some("digest_id"))],
};

const RULES: &[Rule] = &[
    Rule {
        code: "run_board_event_without_governance",
        severity: Severity::Error,
        section: "D-07/D-09/D-12/D-24",
        fires: "A RunBoardAuditEvent has no governance envelope, or one without data_class, taint_class, privileged or visibility_scope (or privileged = true without matter_id).",
        legal: "A public, unprivileged event without matter_id.",
        why: "Without its envelope nobody can decide who may see the event, so it is shown to all or lost to all.",
        fix: "Record the data class, taint, privilege and visibility of the event, and its matter if it is privileged.",
        check: run_board_event_without_governance,
    },
    Rule {
        code: "visible_post_cross_matter_leak",
        severity: Severity::Error,
        section: "D-07/D-09/D-12/D-24",
        fires: "A RunBoardVisiblePost, digest or packet delivered to a reader working under matter Y (or no matter) renders an event whose governance.matter_id is X != Y, whatever its visibility_scope; a packet also by a digest that it holds, or by an item that it says is of matter X.",
        legal: "A reader of matter X sees a same_matter_modules post of matter X.",
        why: "Somebody who works for one matter is shown what belongs to another: a breach of confidence that cannot be undone.",
        fix: "Leave it out for readers of other matters, or show a stub withheld for `matter_firewall`.",
        check: visible_post_cross_matter_leak,
    },
    Rule {
        code: "suppressed_event_without_audit_stub",
        severity: Severity::Error,
        section: "D-07/D-09/D-12/D-24",
        fires: "An audit event of an auto-published class is suppressed (data_class in suppress_data_classes, volume cap, firewall or policy) while publish_redacted_stub_when_suppressed = true and no redacted RunBoardVisiblePost with withheld_reason exists, or a withheld post has no RunBoardAuditEvent behind it.",
        legal: "publish_redacted_stub_when_suppressed = false and the private audit event is recorded.",
        why: "Readers believe the board is complete. Without a stub they cannot know that something was withheld, and without its event nobody can look up what.",
        fix: "Publish a redacted post with its reason for each withheld event, and keep the audit event behind it.",
        check: suppressed_event_without_audit_stub,
    },
    Rule {
        code: "passive_board_autopublish_without_policy",
        severity: Severity::Error,
        section: "D-07/D-09/D-12/D-24",
        fires: "A RunBoardVisiblePost was published without an explicit author action and no RunBoardPublicationPolicy of the run lists its event_class in auto_publish_event_classes, or the post exceeds max_visible_posts_per_run/rate_limit_per_minute, counted over the posts of its matter and of none.",
        legal: "A user_comment posted by a user's own command.",
        why: "Something was shown that neither a person posted nor a policy permits, or so much that what matters drowns.",
        fix: "List the class in the run's publication policy and stay within its limits, or let the author post it.",
        check: passive_board_autopublish_without_policy,
    },
];

fn run_board_event_without_governance(world: &World, found: &mut Found<'_>) {
    for event in world.of("RunBoardAuditEvent") {
        let Some(governance) = event.at("governance").filter(|value| value.as_object().is_some()) else {
            found.add(event, "governance", "nothing says who may see the event");
            continue;
        };
        for field in ["data_class", "taint_class", "visibility_scope"] {
            if governance.text(field).is_none() {
                found.add(event, Path::from("governance").then(field), "is missing");
            }
        }
        match governance.flag("privileged") {
            None => found.add(event, "governance.privileged", "is missing"),
            Some(true) if governance.text("matter_id").is_none() => {
                found.add(event, "governance.matter_id", "is missing, so that nobody can be kept out");
            }
            Some(_) => {}
        }
    }
}

/// Whether a post only says that something was withheld.
fn is_stub(post: Record<'_>) -> bool {
    post.flag("redacted") == Some(true) && post.text("withheld_reason").is_some()
}

/// What belongs to matters, as readers are shown it.
struct Shown<'w> {
    world: &'w World,
    /// The matters of the posts of each digest. Two tell as much as all: a reader is of one.
    digests: BTreeMap<&'w str, BTreeSet<&'w str>>,
}

const ENOUGH: usize = 2;

impl<'w> Shown<'w> {
    fn of(world: &'w World) -> Self {
        let mut shown = Shown { world, digests: BTreeMap::new() };
        let mut digests: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for digest in world.of("RunBoardDigest") {
            let own = digests.entry(digest.id()).or_default();
            let posts = digest.json().texts("post_refs").into_iter();
            posts.filter_map(|text| shown.matter(text)).for_each(|matter| add(own, matter));
        }
        shown.digests = digests;
        shown
    }

    /// The matter of the event that a reference to a post or an event shows. A post may be named by its id alone.
    fn matter(&self, text: &str) -> Option<&'w str> {
        let named = self.world.resolve_text(text);
        let shown = named.or_else(|| self.world.find("RunBoardVisiblePost", text))?;
        let event = match shown.kind() {
            "RunBoardAuditEvent" => shown,
            "RunBoardVisiblePost" if !is_stub(shown) => {
                self.world.find("RunBoardAuditEvent", shown.json().text("source_event_id")?)?
            }
            _other => return None,
        };
        event.json().text("governance.matter_id")
    }

    /// The matters of what an item of a packet shows: those of the event that it names or of the posts of a digest, else its own.
    fn by_item(&self, item: &'w Json) -> Vec<&'w str> {
        let named = item.text("item_ref");
        let digest = named.and_then(Reference::read).filter(|to| to.kind == "run_board_digest");
        let posts = digest.and_then(|digest| self.digests.get(digest.id)).filter(|posts| !posts.is_empty());
        match posts {
            Some(posts) => posts.iter().copied().collect(),
            None => named.and_then(|text| self.matter(text)).or(item.text("matter_id")).into_iter().collect(),
        }
    }
}

fn add<'w>(matters: &mut BTreeSet<&'w str>, matter: &'w str) {
    if matters.len() < ENOUGH {
        matters.insert(matter);
    }
}

fn visible_post_cross_matter_leak(world: &World, found: &mut Found<'_>) {
    let message = |matter: &str| format!("shows what belongs to matter {matter} to a reader of another");
    let shown = Shown::of(world);
    for digest in world.of("RunBoardDigest") {
        let reader = digest.json().text("matter_id");
        for (at, post) in digest.list("post_refs").iter().enumerate() {
            let matter = post.as_str().and_then(|text| shown.matter(text));
            if let Some(matter) = matter.filter(|matter| !may_see(Some(matter), reader)) {
                found.add(digest, Path::from("post_refs").item(at), message(matter));
            }
        }
    }
    let mut held: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for packet in world.of("TaskRunContextPacket") {
        let reader = packet.json().text("matter_id");
        for (at, item) in packet.json().list("items").iter().enumerate() {
            let matters = shown.by_item(item);
            let own = held.entry(packet.id()).or_default();
            matters.iter().for_each(|matter| add(own, matter));
            if let Some(matter) = matters.into_iter().find(|matter| !may_see(Some(matter), reader)) {
                found.add(packet, Path::from("items").item(at), message(matter));
            }
        }
    }
    for reading in world.of("ContextPacketConsumption") {
        let reader = reading.json().text("matter_id");
        let packet = reading.id_at("packet_ref").and_then(|packet| held.get(packet));
        if let Some(matter) = packet.into_iter().flatten().find(|matter| !may_see(Some(matter), reader)) {
            found.add(reading, "matter_id", message(matter));
        }
    }
}

/// The publication policies of each run; those that name no run stand for all.
struct Policies<'w>(Settings<'w, Option<&'w str>>);

impl<'w> Policies<'w> {
    fn of(world: &'w World) -> Self {
        let of_run = |policy: Record<'w>| Some(policy.json().text("run_id"));
        Policies(Settings::of(world, "RunBoardPublicationPolicy", of_run))
    }

    /// The policy that a row goes by.
    fn of_row(&self, run: Option<&'w str>, row: Record<'w>) -> Option<Record<'w>> {
        self.0.at_or(&run, &None, row.seq())
    }
}

/// Whether events of this one's class are published by themselves.
fn is_published(policy: &Json, event: &Json) -> bool {
    event.text("event_class").is_some_and(|class| policy.texts("auto_publish_event_classes").contains(&class))
}

fn suppressed_event_without_audit_stub(world: &World, found: &mut Found<'_>) {
    let mut stubs: BTreeSet<&str> = BTreeSet::new();
    let mut posted: BTreeSet<&str> = BTreeSet::new();
    for post in world.of("RunBoardVisiblePost") {
        let Some(event) = post.json().id_at("source_event_id") else { continue };
        posted.insert(event);
        if is_stub(post) {
            stubs.insert(event);
        }
        if post.text("withheld_reason").is_some() && world.find("RunBoardAuditEvent", event).is_none() {
            found.add(post, "source_event_id", "nothing is recorded of what was withheld");
        }
    }
    let policies = Policies::of(world);
    for event in world.of("RunBoardAuditEvent") {
        let Some(policy) = policies.of_row(event.json().text("run_id"), event) else { continue };
        let wants_stub = policy.flag("publish_redacted_stub_when_suppressed") == Some(true);
        if !wants_stub || !is_published(policy.json(), event.json()) || stubs.contains(event.id()) {
            continue;
        }
        let class = event.text("governance.data_class");
        let is_suppressed = class.is_some_and(|class| policy.texts("suppress_data_classes").contains(&class));
        // What was not published for another reason was withheld too, unless it never was for the board.
        let is_lost =
            !posted.contains(event.id()) && !event.is("governance.visibility_scope", "private_audit_only");
        if is_suppressed || is_lost {
            found.add(event, "", "was withheld and no redacted post says so");
        }
    }
}

/// Whether somebody posted it by an action of theirs. An action that is named must be there.
fn is_authored(post: Record<'_>, event: Record<'_>) -> bool {
    let is_command = |to: Reference<'_>| to.kind == "command_invocation";
    let action = if !post.is_blank("author_action_ref") {
        post.follow("author_action_ref")
    } else if event.reference("payload_ref").is_some_and(is_command) {
        event.follow("payload_ref")
    } else {
        return event.is("event_class", "user_comment");
    };
    action.is_some_and(|action| match action.kind() {
        "CommandInvocation" => action.is("actor_kind", "user") || is_person(action.json(), "actor_ref"),
        "HumanFeedbackEvent" => is_person(action.json(), "user_ref"),
        _by_nobody => false,
    })
}

fn is_person(action: &Json, member: &str) -> bool {
    action.text(member).and_then(Reference::read).is_some_and(|actor| actor.kind == "user")
}

/// A post that is on the board by itself.
struct Passive<'w> {
    post: Record<'w>,
    policy: Record<'w>,
    is_active: bool,
}

fn passive_board_autopublish_without_policy(world: &World, found: &mut Found<'_>) {
    let policies = Policies::of(world);
    if world.of("RunBoardVisiblePost").next().is_none() {
        return;
    }
    let mut states: BTreeMap<&str, bool> = BTreeMap::new();
    let stood = Stood::of(world, &POST);
    for post in world.of("RunBoardVisiblePost") {
        states.insert(post.id(), stood.told(post) == Some("active"));
    }
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut runs: BTreeMap<&str, Matters<'_>> = BTreeMap::new();
    for post in world.of("RunBoardVisiblePost").filter(|post| seen.insert(post.id())) {
        let event = post.json().id_at("source_event_id").and_then(|id| world.find("RunBoardAuditEvent", id));
        let Some(event) = event.filter(|event| !is_authored(post, *event)) else { continue };
        let run = event.json().text("run_id");
        let policy = policies.of_row(run, post).filter(|policy| is_published(policy.json(), event.json()));
        match policy {
            None => found.add(post, "", "neither its author nor a policy put it on the board"),
            Some(policy) if !is_stub(post) => {
                let is_active = states.get(post.id()) == Some(&true);
                let matters = runs.entry(run.unwrap_or_default()).or_default();
                let posts = matters.entry(event.json().text("governance.matter_id")).or_default();
                posts.push(Passive { post, policy, is_active });
            }
            Some(_) => {}
        }
    }
    for matters in runs.values() {
        count(matters, found);
    }
}

/// The posts of a run by matter, in order.
type Matters<'w> = BTreeMap<Option<&'w str>, Vec<Passive<'w>>>;

/// The limits of a run, as each matter may know them. What is withheld is not counted: a stub for what is too much would be too
/// much itself.
fn count(matters: &Matters<'_>, found: &mut Found<'_>) {
    let places = |posts: &[Passive<'_>]| -> Vec<Moment> {
        posts.iter().filter(|one| one.is_active).map(|one| (None, one.post.seq())).collect()
    };
    let times = |posts: &[Passive<'_>]| -> Vec<Moment> {
        let mut times: Vec<Moment> =
            posts.iter().map(|one| (one.post.written_at(), one.post.seq())).collect();
        times.sort_unstable();
        times
    };
    let none = matters.get(&None).map(Vec::as_slice).unwrap_or_default();
    let (shared_places, shared_times) = (places(none), times(none));
    for (matter, posts) in matters {
        let (own_places, own_times) = (places(posts), times(posts));
        let (shared_places, shared_times): (&[Moment], &[Moment]) =
            if matter.is_some() { (&shared_places, &shared_times) } else { (&[], &[]) };
        let places = Pace { own: &own_places, shared: shared_places };
        let times = Pace { own: &own_times, shared: shared_times };
        for one in posts {
            let (seq, at) = (one.post.seq(), one.post.written_at());
            let most = one.policy.count("max_visible_posts_per_run").filter(|_| one.is_active);
            if most.is_some_and(|most| places.before((None, seq)) >= most) {
                found.add(one.post, "", "is more than the run may show");
            }
            let limit = one.policy.count("rate_limit_per_minute");
            if limit.is_some_and(|limit| times.is_minute_full((at, seq), limit)) {
                found.add(one.post, "", "is more than a minute may bring");
            }
        }
    }
}

#[cfg(test)]
#[path = "board_tests.rs"]
mod tests;
