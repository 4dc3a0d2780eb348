//! Claims of the work, split again from its bytes; the places that bear on them, found again in the bytes of sources; their support.
//! Owns: what anchors and derivations of support must be. Must not: say what follows for an outcome.

mod anchor;
mod places;
mod said;
mod version;
pub(crate) use anchor::{anchor, offsets, resolved};
pub(crate) use places::{Reach, recited_version, searched};
pub(crate) use said::said;
pub(crate) use version::{current, state};

use crate::case::{Case, Text, bare};
use crate::formula::{Gathered, Ungathered, member, missing, receipt_of};
use crate::found::Found;
use crate::report::Check;
use crate::task::Artifact;
use crate::walk::Walk;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, rc::Rc};
use core::ops::Range;
use countersign_govern::check::authority;
use countersign_govern::member::Member;
use countersign_govern::world::Record;
use countersign_kernel::claim::bearing::{self, Strength, bearings};
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::json::{Json, Object};
use countersign_record::time::Instant;

const CHECK: Check = Check::Claims;

/// The sources that claims are held against, each with its bytes.
type Against = Vec<(String, Digest)>;

/// Texts that were split already.
#[derive(Default)]
pub(crate) struct Texts<'c> {
    sources: BTreeMap<Against, Rc<Vec<bearing::Source<'c>>>>,
    works: BTreeMap<(Digest, String, Against), Rc<Vec<Split<'c>>>>,
}

/// A claim of the work.
#[derive(Clone, Debug)]
pub(crate) struct Split<'c> {
    pub(crate) name: String,
    pub(crate) section: Option<&'c str>,
    /// Whether sources are held against it.
    is_held: bool,
    /// The places that bear on it, in sources that are here.
    bears: Vec<Bear>,
}

/// A place that bears on a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bear {
    source: String,
    locator: String,
    strength: &'static str,
    span: Range<usize>,
}

/// A source at a place of the log.
struct Source<'c> {
    /// As the run calls it.
    id: &'c str,
    path: &'c str,
    text: Text<'c>,
    digest: Option<Digest>,
}

/// The sources that were taken in before a place: those of the task in its order, then the others.
fn sources<'c>(case: &'c Case<'_>, place: u64) -> Vec<Source<'c>> {
    let mut last: BTreeMap<&str, Source<'c>> = BTreeMap::new();
    let mut order: Vec<&str> = Vec::new();
    for record in case.until("SourceRecord", place) {
        let Some(digest) = case.digest(record) else { continue };
        let (id, path) = (record.id(), record.json().text("domain_payload.path").unwrap_or_default());
        if !order.contains(&id) {
            order.push(id);
        }
        last.insert(id, Source { id, path, text: case.bytes(&digest).text(), digest: Some(digest) });
    }
    let rank = |id: &&str| {
        let own = case.task.sources().position(|one| case.own(one.id()) == **id);
        (own.unwrap_or(usize::MAX), order.iter().position(|one| one == id))
    };
    let mut sorted = order.clone();
    sorted.sort_by_key(rank);
    sorted.into_iter().filter_map(|id| last.remove(id)).collect()
}

fn word(strength: Strength) -> &'static str {
    match strength {
        Strength::Direct => "direct",
        Strength::Contextual => "contextual",
        Strength::Contradicts => "contradicts",
    }
}

/// The sources whose texts are here at a place of the log, and the same so that sentences are found in them.
fn read<'c>(walk: &mut Walk<'c, '_>, place: u64) -> (Here<'c>, Rc<Vec<bearing::Source<'c>>>) {
    let here = sources(walk.case, place).into_iter().filter_map(|one| match one.text {
        Text::Here(text) => Some((one, text)),
        Text::Withheld | Text::Missing => None,
    });
    let here: Here<'c> = here.collect();
    let read = walk.texts.sources.entry(key(&here)).or_insert_with(|| {
        Rc::new(here.iter().map(|(one, text)| bearing::Source::new(one.path, text)).collect())
    });
    let read = Rc::clone(read);
    (here, read)
}

/// Sources with their texts.
type Here<'c> = Vec<(Source<'c>, &'c str)>;

fn key(here: &Here<'_>) -> Against {
    here.iter().filter_map(|(one, _)| Some((one.id.to_string(), one.digest?))).collect()
}

/// The claims of a version, each once, with the places that bear on them at a place of the log.
pub(crate) fn split<'c>(
    walk: &mut Walk<'c, '_>,
    version: Record<'c>,
    place: u64,
) -> Result<Rc<Vec<Split<'c>>>, Ungathered> {
    let case = walk.case;
    let work = match case.content(version).text() {
        Text::Here(work) => work,
        Text::Withheld => return Err(Ungathered::Withheld),
        Text::Missing => return missing(format!("the text of {} is not in the packet", version.id())),
    };
    let (here, read) = read(walk, place);
    let key = key(&here);
    let read: Vec<&bearing::Source<'_>> = read.iter().collect();
    let work_digest = case.digest(version).unwrap_or_else(|| Digest::of(&[]));
    let artifact = version.json().text("artifact_stable_id").unwrap_or_default();
    let key = (work_digest, artifact.to_string(), key);
    if let Some(known) = walk.texts.works.get(&key) {
        return Ok(Rc::clone(known));
    }
    let mut all = Vec::new();
    for (name, claim) in said(case, artifact, work) {
        let bears = if claim.is_held { bearings(&claim, &read) } else { Vec::new() };
        let bears = bears.into_iter().filter_map(|one| {
            let (source, _) = here.get(one.source)?;
            let locator =
                format!("{}:{}-{}@{}-{}", source.path, one.first, one.last, one.span.start, one.span.end);
            let strength = word(one.strength);
            Some(Bear { source: source.id.to_string(), locator, strength, span: one.span })
        });
        let bears = bears.collect();
        all.push(Split { name, section: claim.section, is_held: claim.is_held, bears });
    }
    let all = Rc::new(all);
    walk.texts.works.insert(key, Rc::clone(&all));
    Ok(all)
}

/// The artifact and the name in a claim's reference.
pub(crate) fn parts(claim: &str) -> Option<(&str, &str)> {
    claim.strip_prefix("claim:").and_then(|id| id.rsplit_once('/'))
}

/// A claim of the version that counts at a place.
fn claim_at<'c>(walk: &mut Walk<'c, '_>, claim: &str, place: u64) -> Result<Split<'c>, Ungathered> {
    let Some((artifact, name)) = parts(claim) else { return missing(format!("{claim} is no claim")) };
    let Some(version) = current(walk.case, artifact, place) else {
        return missing(format!("there is no version of {artifact}"));
    };
    let all = split(walk, version, place)?;
    match all.iter().find(|one| one.name == name) {
        Some(one) => Ok(one.clone()),
        None => missing(format!("{claim} does not stand in {}", version.id())),
    }
}

/// Tells what can't be derived; whether it is withheld.
fn tell<T>(record: Record<'_>, path: &str, gathered: Result<T, Ungathered>, found: &mut Found) -> Option<T> {
    match gathered {
        Ok(value) => Some(value),
        Err(Ungathered::Withheld) => {
            found.withheld(CHECK);
            None
        }
        Err(Ungathered::Missing(why)) => {
            let code = if path.is_empty() { Code::VerifyUnderivable } else { Code::VerifyDerivation };
            found.about(code, CHECK, record, path, why);
            None
        }
    }
}

/// The text of a source at a place.
pub(crate) fn source_text<'c>(case: &'c Case<'_>, source: &str, place: u64) -> Text<'c> {
    sources(case, place).into_iter().find(|one| one.id == source).map_or(Text::Missing, |one| one.text)
}

/// The places of a claim, as anchors of the log name them: supporting and contradicting ones, in order.
struct Places<'c> {
    anchors: Vec<Record<'c>>,
    /// Whether anybody looked for them.
    is_held: bool,
    /// Whether some of them stand in bytes that are not here.
    is_withheld: bool,
}

/// Whether the text of a source is withheld, so that what was found in it can't be found again.
pub(crate) fn are_withheld(case: &Case<'_>, place: u64) -> bool {
    sources(case, place).iter().any(|one| one.text == Text::Withheld)
}

fn places<'c>(
    walk: &mut Walk<'c, '_>,
    claim: &str,
    stated: &[&str],
    place: u64,
) -> Result<Places<'c>, Ungathered> {
    let case = walk.case;
    let split = claim_at(walk, claim, place)?;
    let known: Vec<Record<'c>> = case
        .until("SourceEvidenceAnchor", place)
        .filter(|one| one.json().texts("supports_claim_refs").contains(&claim))
        .collect();
    let mut anchors = Vec::new();
    for source in sources(case, place) {
        let of_source = |one: &&Record<'_>| one.json().text("source_record_ref").map(bare) == Some(source.id);
        match source.text {
            Text::Here(_) => {
                for bear in split.bears.iter().filter(|one| one.source == source.id) {
                    let own = known.iter().filter(of_source).rfind(|one| {
                        one.json().is("anchor_locator", &bear.locator)
                            && one.json().is("support_strength", bear.strength)
                    });
                    match own {
                        Some(own) => anchors.push(*own),
                        None => return missing(format!("{} has no anchor for {}", claim, bear.locator)),
                    }
                }
            }
            // What stands in bytes that are not here is taken as it is stated.
            Text::Withheld | Text::Missing => {
                anchors.extend(
                    known
                        .iter()
                        .filter(of_source)
                        .filter(|one| stated.iter().any(|text| bare(text) == one.id())),
                );
            }
        }
    }
    let is_withheld = split.is_held && are_withheld(case, place);
    Ok(Places { anchors, is_held: split.is_held, is_withheld })
}

impl Places<'_> {
    fn refs(&self, is_against: bool) -> Vec<String> {
        let own =
            self.anchors.iter().filter(|one| one.json().is("support_strength", "contradicts") == is_against);
        own.map(|one| format!("source_evidence_anchor:{}", one.id())).collect()
    }
}

/// What the formula of support takes: the policy, and of each place its strength and what holds for its source now.
fn gathered(
    walk: &Walk<'_, '_>,
    places: &Places<'_>,
    now: Option<Instant>,
    place: u64,
) -> Result<Gathered, Ungathered> {
    let policy_id = walk.case.own("policy.claim-support");
    let Some(policy) = walk.case.before("ClaimSupportDerivationPolicy", &policy_id, place) else {
        return missing("there is no policy of claim support");
    };
    let (mut anchors, mut input_refs) = (Vec::new(), Vec::new());
    for one in &places.anchors {
        let source = one.json().text("source_record_ref").map(bare).unwrap_or_default();
        let Some(source) = walk.standing("SourceRecord", source) else {
            return missing(format!("there is no source {source}"));
        };
        let is_stale = source.time("fresh_until").zip(now).is_some_and(|(until, now)| until <= now);
        let mut anchor = Object::from([
            ("support_strength", member(one.json(), "support_strength")),
            ("verified", source.is("verification_state", "verified").into()),
            ("stale", is_stale.into()),
            ("tier0", false.into()),
        ]);
        if let Some(level) = authority(&source) {
            anchor.insert("authority_level", level.as_str());
        }
        anchors.push(Json::Object(anchor));
        input_refs.push(format!("source_evidence_anchor:{}", one.id()));
    }
    input_refs.push(format!("claim_support_derivation_policy:{policy_id}"));
    let mut inputs = Object::from([("policy", policy.json().clone())]);
    if places.is_held {
        inputs.insert("anchors", Json::Array(anchors));
    }
    Ok(Gathered { inputs, input_refs })
}

fn stated<'c>(record: Record<'c>) -> Vec<&'c str> {
    let both = ["supporting_anchor_refs", "contradicting_anchor_refs"];
    both.into_iter().flat_map(|name| record.json().texts(name)).collect()
}

/// What a derivation of support was computed from.
pub(crate) fn inputs_of<'c>(
    walk: &mut Walk<'c, '_>,
    derivation: &str,
    receipt: Record<'c>,
) -> Result<Gathered, Ungathered> {
    let Some(record) = walk.case.world.find("ClaimSupportDerivationReceipt", derivation) else {
        return missing(format!("there is no {derivation}"));
    };
    if record.seq() != receipt.seq() + 1 {
        return missing(format!("{derivation} does not stand right behind its receipt"));
    }
    let claim = record.json().text("claim_ref").unwrap_or_default();
    let places = places(walk, claim, &stated(record), receipt.seq())?;
    gathered(walk, &places, walk.at(receipt), receipt.seq())
}

/// A derivation of support: the places of its claim, and what the formula makes of them.
pub(crate) fn support<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let json = record.json();
    let claim = json.text("claim_ref").unwrap_or_default();
    let places = places(walk, claim, &stated(record), record.seq());
    let Some(places) = tell(record, "claim_ref", places, found) else { return };
    if places.is_withheld {
        found.withheld(CHECK);
    }
    let gathered = gathered(walk, &places, walk.at(record), record.seq());
    let Some(gathered) = tell(record, "", gathered, found) else { return };
    found.must_list(CHECK, record, "supporting_anchor_refs", &places.refs(false));
    found.must_list(CHECK, record, "contradicting_anchor_refs", &places.refs(true));
    found.must_say(CHECK, record, "policy_ref", &walk.case.own("policy.claim-support"));
    let is_verified = |id: &&str| {
        walk.standing("SourceRecord", id).is_some_and(|one| one.is("verification_state", "verified"))
    };
    let sources: BTreeSet<&str> =
        places.anchors.iter().filter_map(|one| one.json().text("source_record_ref").map(bare)).collect();
    let verified: Vec<String> =
        sources.into_iter().filter(is_verified).map(|id| format!("src:{id}")).collect();
    found.must_list(CHECK, record, "source_verification_refs", &verified);
    for name in ["source_freshness_refs", "applicability_scope_refs"] {
        found.must_list(CHECK, record, name, &[]);
    }
    let value = walk.formulas.value("claim_support_v1", &gathered.inputs);
    let status = value.and_then(|value| value.at("derived_support_status").cloned());
    let reason = status.as_ref().and_then(Json::as_str).and_then(reason);
    found.must(CHECK, record, "derived_support_status", status);
    found.must(CHECK, record, "decisive_reason", reason.map(Json::from));
    let receipt =
        receipt_of(walk, &format!("claim_support_derivation_receipt:{}", record.id()), record.seq());
    found.must(CHECK, record, "formula_eval_receipt_ref", receipt.map(Json::from));
}

fn reason(status: &str) -> Option<&'static str> {
    use countersign_govern::types::claim::ClaimSupportStatus;
    ClaimSupportStatus::find(status).map(ClaimSupportStatus::reason)
}

/// A claim of the work as it stands at a place.
#[derive(Clone, Debug)]
pub(crate) struct Claimed {
    pub(crate) claim_ref: String,
    pub(crate) section: Option<String>,
    pub(crate) status: String,
    /// The derivation of that.
    pub(crate) receipt: String,
    pub(crate) supporting: Vec<String>,
    pub(crate) contradicting: Vec<String>,
    /// Whether it was held against a source whose text is withheld.
    pub(crate) is_withheld: bool,
    /// How far it is from being supported.
    pub(crate) reach: Reach,
}

/// All claims of a version, with the derivations that hold at the place of a record. Each must hold still: what it was computed from
/// must be as it was.
pub(crate) fn standing<'c>(
    walk: &mut Walk<'c, '_>,
    version: Record<'c>,
    at: Record<'c>,
    found: &mut Found,
) -> Result<Vec<Claimed>, Ungathered> {
    let artifact = version.json().text("artifact_stable_id").unwrap_or_default();
    let mut all = Vec::new();
    if walk.case.task.artifact(walk.case.local(artifact)).is_none_or(Artifact::is_code) {
        return Ok(all);
    }
    for one in split(walk, version, at.seq())?.iter() {
        let claim_ref = format!("claim:{artifact}/{}", one.name);
        let derived = walk.case.until("ClaimSupportDerivationReceipt", at.seq());
        let derived = derived.filter(|one| one.json().is("claim_ref", &claim_ref)).last();
        let Some(derived) = derived else {
            let message = format!("nothing says how {claim_ref} is supported");
            found.about(Code::VerifyIncomplete, CHECK, at, "", message);
            continue;
        };
        let places = places(walk, &claim_ref, &stated(derived), at.seq());
        let is_withheld = places.as_ref().is_ok_and(|places| places.is_withheld);
        let status = derived.json().text("derived_support_status").unwrap_or_default();
        let about = (version, claim_ref.as_str());
        let reach = places.as_ref().map(|places| places::reach(walk, about, status, places, at));
        let reach = reach.unwrap_or_default();
        if let Some(places) = tell(at, "", places, found) {
            let now = gathered(walk, &places, walk.at(at), at.seq());
            let now = now.ok().and_then(|now| walk.formulas.value("claim_support_v1", &now.inputs));
            let now = now.and_then(|value| value.at("derived_support_status").cloned());
            found.must(CHECK, derived, "derived_support_status", now);
        }
        let list = |name: &str| derived.json().texts(name).into_iter().map(String::from).collect();
        all.push(Claimed {
            section: one.section.map(String::from),
            status: status.to_string(),
            receipt: format!("claim_support_derivation_receipt:{}", derived.id()),
            supporting: list("supporting_anchor_refs"),
            contradicting: list("contradicting_anchor_refs"),
            is_withheld,
            reach,
            claim_ref,
        });
    }
    Ok(all)
}
