//! Choosing what a reader wants to know from the records.
//! Owns: each part of a summary. Must not: judge.

use super::{
    Budget, Change, Checkpoint, Claim, Criterion, Finding, Origin, Outcome, Place, Product, Source, Summary,
    Withheld, changed, decided, fallen, given_up,
};
use crate::case::{Case, Text, bare};
use crate::packet::{Content, Statement};
use crate::{claims, evidence, head, look, rely};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::fold::Folds;
use countersign_govern::member::Member;
use countersign_govern::table::outcome::{State, entry};
use countersign_govern::types::finding::FindingState;
use countersign_govern::types::outcome::EvaluationVerdict as Verdict;
use countersign_govern::types::reliance::{RelianceLimitationKind as Limitation, RelianceStatus as Status};
use countersign_govern::world::Record;
use countersign_record::digest::Digest;
use countersign_record::json::Json;

fn copy(json: &Json, path: &str) -> String {
    json.text(path).unwrap_or_default().to_string()
}

pub(super) fn all(statement: &Statement, case: &Case<'_>, folds: &Folds, changes: Vec<Change>) -> Summary {
    let packet = head::packet(case);
    let json = packet.map_or(&Json::Null, Record::json);
    let place = packet.map_or(u64::MAX, Record::seq);
    let standing = folds.board.find("task_reliance_packet", packet.map(Record::id).unwrap_or_default());
    let lifecycle = standing.and_then(|one| one.word("lifecycle_state")).unwrap_or("draft");
    let outcomes = outcomes(case, folds);
    let findings = findings(case, folds);
    let is_safe = statement.status == Status::SafeToRelyWithinScope.as_str();
    let severities = findings.iter().filter(|_| is_safe).map(|one| one.severity.as_str());
    Summary {
        still_open: rely::still_open(severities),
        title: case.task.title().to_string(),
        goal: copy(case.task.0, "goal"),
        status: statement.status.clone(),
        status_words: copy(json, "user_visible_summary"),
        explanation: capital(&copy(json, "reliance_derivation.explanation")),
        scope: copy(json, "reliance_derivation.scope_statement"),
        lifecycle: lifecycle.replace('_', " "),
        fallen: fallen(case),
        limitations: limits(json, &outcomes),
        changed: changed::told(&changes),
        findings,
        outcomes,
        products: products(case, place),
        claims: claimed(case, place),
        sources: sources(case, place),
        decisions: decided::decisions(case, &changes),
        changes,
        budget: budget(case, place),
        checkpoints: checkpoints(case),
        withheld: withheld(statement),
        origin: origin(statement, json),
    }
}

/// A sentence with a capital at its beginning.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

fn origin(statement: &Statement, packet: &Json) -> Origin {
    Origin {
        matter: statement.matter.to_string(),
        run: statement.run.to_string(),
        packet_id: statement.packet_id.clone(),
        manifest_hash: copy(packet, "input_manifest.input_manifest_hash"),
        made_at: statement.made_at.as_str().to_string(),
        made_by: statement.made_by.to_string(),
        made_with: statement.made_with.clone(),
        head: statement.ledger.head,
        first_seq: statement.ledger.rows.first().map_or(0, |one| one.head().seq),
        statement_sha256: statement.to_bytes().ok().map(|bytes| Digest::of(&bytes)),
    }
}

fn withheld(statement: &Statement) -> Vec<Withheld> {
    let one = |blob: &crate::packet::Blob| match &blob.content {
        Content::Withheld(reason) => {
            Some(Withheld { sha256: blob.digest, bytes: blob.size, reason: reason.clone() })
        }
        Content::Present(_) => None,
    };
    statement.blobs.iter().filter_map(one).collect()
}

/// The criteria that the last look at an outcome gave no score.
fn unscored<'p>(case: &Case<'p>, outcome: crate::task::Outcome<'p>) -> BTreeSet<&'p str> {
    let chain = look::last_chain(case, &case.own(outcome.id()), u64::MAX);
    let begun = chain.and_then(|id| case.before("EvaluationChainRegistryRecord", id, u64::MAX));
    let Some(begun) = begun else { return BTreeSet::new() };
    let observed = case.world.of("MetricObservation").filter(|one| one.seq() > begun.seq());
    let scored: BTreeSet<&str> = observed.filter_map(|one| one.json().text("subject_ref")).collect();
    let is_open = |id: &&str| !scored.contains(format!("criterion:{}", case.own(id)).as_str());
    outcome.criteria().map(crate::task::Criterion::id).filter(is_open).collect()
}

/// What limits the work, in words: by its kind, and what nobody looked at by its name.
fn limits(json: &Json, outcomes: &[Outcome]) -> Vec<String> {
    let kinds = json.texts("reliance_derivation.unresolved_limitations");
    let unscored = outcomes.iter().flat_map(|one| &one.criteria).filter(|one| one.is_unscored);
    let named = unscored.map(|one| format!("nobody looked at “{}” ({})", one.text, one.id));
    kinds.iter().map(|one| limitation(one).to_string()).chain(named).collect()
}

fn outcomes(case: &Case<'_>, folds: &Folds) -> Vec<Outcome> {
    let stands = |id: &str| {
        let standing = folds.board.find("outcome_record", &case.own(id));
        standing.and_then(|one| one.word("state")).unwrap_or("pending").to_string()
    };
    let one = |outcome: crate::task::Outcome<'_>| {
        let word = stands(outcome.id());
        let found = State::find(&word);
        let is_given_up = |id: &&str| State::find(&stands(id)).is_some_and(given_up);
        let mut words = found.map_or_else(|| word.clone(), |found| state(found).to_string());
        if !outcome.is_required() && found != Some(State::Satisfied) {
            words.push_str("; it need not be met");
        }
        let unscored = unscored(case, outcome);
        let without: Vec<&str> = outcome.depends_on().into_iter().filter(is_given_up).collect();
        Outcome {
            id: outcome.id().to_string(),
            statement: outcome.statement().to_string(),
            threshold: changed::said(Some(&outcome.threshold())),
            criteria: outcome.criteria().map(|one| criterion(one, unscored.contains(one.id()))).collect(),
            words: match found {
                Some(found) => without_others(found, words, &without),
                None => words,
            },
            state: word,
        }
    };
    case.task.outcomes().map(one).collect()
}

/// How an outcome stands, with those that it depends on and that were given up: it is met without them, or it is not because of them.
/// What was given up itself says so already.
#[must_use]
pub fn without_others(own: State, words: String, others: &[&str]) -> String {
    let is_met = entry(own).verdict.is_some_and(|verdict| verdict == Verdict::Passed);
    let how = match (others, given_up(own), is_met) {
        ([], ..) | (_, true, _) => return words,
        (_, false, true) => "though",
        (_, false, false) => "because",
    };
    let were = if others.len() == 1 { "was" } else { "were" };
    format!("{words}, {how} {} {were} given up", others.join(", "))
}

fn criterion(one: crate::task::Criterion<'_>, is_unscored: bool) -> Criterion {
    Criterion {
        is_unscored,
        id: one.id().to_string(),
        text: one.text().to_string(),
        threshold: changed::said(Some(&one.threshold())),
        required: one.is_required(),
    }
}

/// The words for how an outcome stands. What is replaced in the contract's words nobody works for any more.
#[must_use]
pub fn state(state: State) -> &'static str {
    if given_up(state) { "Given up" } else { entry(state).label }
}

fn findings(case: &Case<'_>, folds: &Folds) -> Vec<Finding> {
    let mut last: Vec<Record<'_>> = Vec::new();
    for event in case.world.of("EvaluationFindingEvent") {
        let id = event.json().text("finding_id");
        match last.iter_mut().find(|one| one.json().text("finding_id") == id) {
            Some(known) => *known = event,
            None => last.push(event),
        }
    }
    let is_live = |event: &Record<'_>| {
        let id = event.json().text("finding_id").unwrap_or_default();
        let state =
            folds.board.find("evaluation_finding_record", id).and_then(|one| one.word("current_state"));
        state.and_then(FindingState::find).is_some_and(FindingState::is_live)
    };
    let one = |event: Record<'_>| Finding {
        severity: copy(event.json(), "severity"),
        text: copy(event.json(), "finding_text"),
        // Which claim it is stands with the claim.
        explanation: match event.json().list("affected_claim_refs").is_empty() {
            true => copy(event.json(), "explanation"),
            false => String::new(),
        },
    };
    last.into_iter().filter(is_live).map(one).collect()
}

/// What a work product is called by people: its file name.
pub(super) fn product_name(case: &Case<'_>, stable: &str) -> String {
    let local = case.local(stable);
    case.task.artifact(local).and_then(|one| one.path()).unwrap_or(local).to_string()
}

fn products(case: &Case<'_>, place: u64) -> Vec<Product> {
    let one = |version: Record<'_>| {
        let stable = version.json().text("artifact_stable_id").unwrap_or_default();
        let number = version.id().rsplit_once(".v").map_or("", |(_, number)| number);
        Some(Product {
            name: product_name(case, stable),
            version: number.to_string(),
            sha256: Digest::try_from(version.json().text("content_hash")?).ok()?,
        })
    };
    evidence::heads(case, place).into_iter().filter_map(one).collect()
}

/// The words for what limits the work; what is unknown stays as it is.
#[must_use]
pub fn limitation(kind: &str) -> &str {
    let Some(known) = Limitation::find(kind) else { return kind };
    match known {
        Limitation::InsufficientEvidence => "too little evidence",
        Limitation::HumanJudgmentNeeded => "something that a person must judge",
        Limitation::MissingCapability => "something that nobody here can do",
        Limitation::SourceUnavailable => "a source that is not there",
        Limitation::PolicyBlocked => "a policy that forbids a part of it",
        Limitation::StaleEvidence => "evidence that is out of date",
        Limitation::UnableToGroundClaim => "a claim that no source says",
        Limitation::UncheckedClaimsPresent => "parts that are not held against the sources",
        Limitation::UnreviewedCandidateRevision => "a change that nobody has decided on",
        Limitation::ExternalSideEffectUnverified => "an effect outside that is not proved",
        Limitation::StaleSourcePresent => {
            "a source that is out of date or that nobody verified, or law that is not current"
        }
        Limitation::UnresolvedResearchNeed => "an open question to the sources",
        Limitation::PolicyWarning => "what a policy warns of (see the outcomes and the budget)",
        Limitation::PatternCChainUnresolved => "an evaluation that is not resolved",
        Limitation::EvidencePackageMissing => "missing evidence",
    }
}

/// The words for how a claim is supported.
fn support(status: &str) -> &'static str {
    match status {
        "supported" => "stands in the sources",
        "partially_supported" => "stands in the sources in part only",
        "contradicted" => "a source says otherwise",
        "indeterminate_stale_or_unverified" => "its source is out of date or nobody verified it",
        "unsupported" => "no source says it",
        "not_checked" => "not held against the sources",
        _other => "nobody can say",
    }
}

fn claimed(case: &Case<'_>, place: u64) -> Vec<Claim> {
    let Some(package) = case.last("EvidencePackage", place) else { return Vec::new() };
    let (words, since) = (words(case, place), since(case, place));
    let one = |support_of: &Json| {
        let claim_ref = support_of.text("claim_ref")?;
        let (stable, name) = claims::parts(claim_ref)?;
        let words = words.get(stable).and_then(|all| all.get(name)).cloned();
        let anchors = |path: &str| -> Vec<Place> {
            let named = support_of.texts(path).into_iter();
            named.filter_map(|one| at(case, bare(one), package.seq())).collect()
        };
        let mut places = anchors("supporting_anchor_refs");
        places.extend(anchors("contradicting_anchor_refs"));
        let status = support_of.text("support_status").unwrap_or_default();
        let now = since.get(claim_ref).copied().unwrap_or(status);
        let words_now = match (now == status, now) {
            (true, _) => support(status).to_string(),
            (false, "indeterminate_stale_or_unverified") => "its source has changed since".to_string(),
            (false, _) => format!("{}, since the packet was made", support(now)),
        };
        let (text, section) = words.map_or((None, None), |(text, section)| (Some(text), section));
        Some(Claim {
            product: product_name(case, stable),
            section,
            text,
            status: now.to_string(),
            words: words_now,
            places,
        })
    };
    package.json().list("claim_support_map").iter().filter_map(one).collect()
}

/// How each claim was found to be supported since a place, last.
fn since<'c>(case: &'c Case<'_>, place: u64) -> BTreeMap<&'c str, &'c str> {
    let receipts = case.world.of("ClaimSupportDerivationReceipt").filter(|one| one.seq() > place);
    let told =
        receipts.map(|one| one.json().text("claim_ref").zip(one.json().text("derived_support_status")));
    told.flatten().collect()
}

/// The words of a claim, and the heading it stands under.
type Words = (String, Option<String>);

/// The words of every claim of each artifact, by its name.
fn words<'c>(case: &'c Case<'_>, place: u64) -> BTreeMap<&'c str, BTreeMap<String, Words>> {
    let mut all = BTreeMap::new();
    for version in evidence::heads(case, place) {
        let Some(stable) = version.json().text("artifact_stable_id") else { continue };
        let Text::Here(work) = case.content(version).text() else { continue };
        let own = claims::said(case, stable, work).into_iter().map(|(name, claim)| {
            (name, (claim.text.trim().to_string(), claim.section.map(ToString::to_string)))
        });
        all.entry(stable).or_insert_with(|| own.collect());
    }
    all
}

/// A place by its anchor.
fn at(case: &Case<'_>, anchor: &str, place: u64) -> Option<Place> {
    let anchor = case.before("SourceEvidenceAnchor", anchor, place)?;
    let json = anchor.json();
    let id = bare(json.text("source_record_ref")?);
    let locator = json.text("anchor_locator")?;
    let (lines, _) = locator.rsplit_once('@')?;
    let quote = match claims::source_text(case, id, anchor.seq()) {
        Text::Here(text) => claims::offsets(locator).and_then(|span| text.get(span)).map(ToString::to_string),
        Text::Withheld | Text::Missing => None,
    };
    let bears = match json.text("support_strength") {
        Some("direct") => "says it",
        Some("contradicts") => "says otherwise",
        Some(_) | None => "bears on it",
    };
    Some(Place {
        source: title(case, case.local(id)),
        at: place_name(lines),
        bears: bears.to_string(),
        quote,
    })
}

/// A file and its lines as people write them: one line is one number.
fn place_name(lines: &str) -> String {
    let parts = lines.rsplit_once(':').and_then(|(path, range)| Some((path, range.split_once('-')?)));
    match parts {
        Some((path, (first, last))) if first == last => format!("{path}:{first}"),
        Some(_) | None => lines.to_string(),
    }
}

/// What a source is called by people.
pub(super) fn title(case: &Case<'_>, id: &str) -> String {
    let source = case.task.source(id);
    source.and_then(|one| one.0.text("title").or_else(|| one.0.text("path"))).unwrap_or(id).to_string()
}

fn sources(case: &Case<'_>, place: u64) -> Vec<Source> {
    let mut last: Vec<Record<'_>> = Vec::new();
    for record in case.until("SourceRecord", place) {
        match last.iter_mut().find(|one| one.id() == record.id()) {
            Some(known) => *known = record,
            None => last.push(record),
        }
    }
    let one = |record: Record<'_>| {
        let json = record.json();
        let word = |path: &str| json.text(path).map(ToString::to_string);
        let is_verified = json.is("verification_state", "verified");
        Source {
            title: title(case, case.local(record.id())),
            path: copy(json, "domain_payload.path"),
            verified_by: word("domain_payload.verified_by").filter(|_| is_verified),
            fresh_until: word("fresh_until"),
            sha256: word("domain_payload.sha256"),
        }
    };
    last.into_iter().map(one).collect()
}

fn budget(case: &Case<'_>, place: u64) -> Option<Budget> {
    let told = case.last("BudgetNarrative", place)?.json();
    Some(Budget {
        summary: copy(told, "summary"),
        compared: copy(told, "forecast_vs_actual_summary"),
        skipped: told.texts("skipped_optional_helpers").into_iter().map(ToString::to_string).collect(),
        impact: copy(told, "quality_impact_summary"),
    })
}

fn checkpoints(case: &Case<'_>) -> Vec<Checkpoint> {
    let one = |record: Record<'_>| {
        let version = |text: &&str| {
            let (stable, number) = bare(text).rsplit_once(".v")?;
            Some(format!("{} (version {number})", product_name(case, stable)))
        };
        Checkpoint {
            label: copy(record.json(), "label"),
            at: copy(record.json(), "created_at"),
            versions: record.json().texts("artifact_head_refs").iter().filter_map(version).collect(),
        }
    };
    case.world.of("KnownGoodCheckpoint").map(one).collect()
}
