//! Sources, what was done to them, and versions of the work.
//! Owns: what these records must be, given the task, the bytes and the answers. Must not: read a text.

use crate::case::{Bytes, Case, bare};
use crate::command;
use crate::found::{Found, texts};
use crate::made;
use crate::question;
use crate::report::Check;
use crate::task::Source;
use crate::walk::Walk;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::decide::workspace::{Given, Query, decide, is_mutating};
use countersign_govern::derive::taint;
use countersign_govern::member::Member;
use countersign_govern::table::taint_defaults;
use countersign_govern::types::added::policy::PolicyEvaluation;
use countersign_govern::types::basic::{DataClass, TaintClass};
use countersign_govern::types::taint::{SanitizationNode, SourceTrustBasis};
use countersign_govern::types::wire::{Reading, Wire};
use countersign_govern::types::workspace::{
    SourceWorkspaceOperation as Operation, SourceWorkspaceOperationKind as Kind,
    SourceWorkspaceOperationReceipt as Receipt,
};
use countersign_govern::world::Record;
use countersign_record::code::Code;
use countersign_record::json::{Json, Number, Object};
use countersign_record::time::{Instant, Timestamp};

const CHECK: Check = Check::Sources;

fn read<T: Wire>(record: Record<'_>) -> Option<T> {
    T::read(record.json(), &mut Reading::default())
}

/// How far a source is trusted.
fn taint_of(source: Source<'_>) -> TaintClass {
    let basis = source.0.text("trust_basis").and_then(SourceTrustBasis::find);
    let row = source.0.text("kind").and_then(taint_defaults::find);
    row.map_or(TaintClass::Unclassified, |row| taint::effective(row, basis, None))
}

/// How far a source is trusted at a place: as its record says, or as the task does before there is one.
fn trusted(case: &Case<'_>, source: Source<'_>, place: u64) -> TaintClass {
    let record = case.before("SourceRecord", &case.own(source.id()), place);
    let taint = record.and_then(|one| one.json().text("taint_class")).and_then(TaintClass::find);
    taint.unwrap_or_else(|| taint_of(source))
}

/// What all sources of the task are together at a place: taint, class, privileged.
pub(crate) fn label(case: &Case<'_>, place: u64) -> (&'static str, &'static str, bool) {
    let nothing = (TaintClass::InternalCorpusTrusted, DataClass::Public, false);
    let kept = case.task.sources().filter(|one| (1..=3).contains(&one.tier()));
    let all = kept.fold(nothing, |all, one| {
        let class = DataClass::find(one.class()).unwrap_or(DataClass::LocalOnly);
        (all.0.max(trusted(case, one, place)), all.1.max(class), all.2 || one.is_privileged())
    });
    (all.0.as_str(), all.1.as_str(), all.2)
}

/// The last operation on a source before a place.
fn operation_on<'c>(case: &'c Case<'_>, source: &str, place: u64) -> Option<Record<'c>> {
    let operations = case.until("SourceWorkspaceOperation", place);
    operations.filter(|one| one.json().text("payload_ref").map(bare) == Some(source)).last()
}

/// No command adds a source to a run: each is one of the task's.
const UNNAMED: &str = "the task names no such source";

/// A source is what the task says of it, and what was done to it since.
pub(crate) fn source<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let case = walk.case;
    let Some(task) = case.task.source(case.local(record.id())) else {
        return found.about(Code::VerifyDerivation, CHECK, record, "source_id", UNNAMED);
    };
    let Some(operation) = operation_on(case, record.id(), record.seq()) else {
        let message = "nothing says how it came into the workspace";
        return found.about(Code::VerifyIncomplete, Check::Completeness, record, "", message);
    };
    let kind = operation.json().text("operation_kind").unwrap_or_default();
    let at = case.row(record).map_or(Json::Null, |row| Json::from(row.at.to_string()));
    let mut expected = match case.before("SourceRecord", record.id(), record.seq()) {
        Some(before) => {
            let is_bare = case.digest(record).is_none();
            let why = "only the first record of a source has its text";
            found.holds(CHECK, record, "domain_payload.sha256", is_bare, why);
            before.json().as_object().cloned().unwrap_or_default()
        }
        None => taken_in(walk, task, record, found),
    };
    match kind {
        "add_source_record" => {}
        "add_verification_record" => {
            expected.insert("verification_state", "verified");
            if let Some(until) = verified(walk, record, task, found) {
                expected.insert("fresh_until", until);
            }
        }
        "mark_source_stale" => drop(expected.insert("fresh_until", at.clone())),
        "update_source_record" => match cleared(case, record) {
            Some(taint) => drop(expected.insert("taint_class", taint)),
            None => {
                if let Some(scopes) = weighed(case, &expected, task, record.seq()) {
                    expected.insert("applicability_scopes", scopes);
                }
            }
        },
        "record_tier_transition" => {
            let moved = case.last("SourceTierTransitionReceipt", record.seq());
            let to = moved.and_then(|one| one.json().at("to_tier").cloned());
            expected.insert("tier", to.unwrap_or(Json::Null));
        }
        _other => {}
    }
    expected.insert("updated_at", at);
    found.must_be(CHECK, record, &expected, &[]);
}

/// Seconds for which a source holds that a person has verified.
const HOLDS_SECONDS: i64 = 90 * 24 * 3_600;
/// The option by which a person says that they have verified sources.
const VERIFIED: &str = "verified";

/// A source is verified as it is taken in, by whom the task names, or by a person who was asked to; gives until when it holds from
/// then on, where that is another time.
fn verified(walk: &Walk<'_, '_>, record: Record<'_>, task: Source<'_>, found: &mut Found) -> Option<Json> {
    let (case, place) = (walk.case, record.seq());
    let mut versions = case.world.versions("SourceRecord", record.id()).take_while(|one| one.seq() < place);
    let is_new = versions.next().is_some_and(|one| walk.at(one) == walk.at(record));
    if is_new && versions.next().is_none() && task.0.text("verified_by").is_some() {
        found.right(CHECK);
        return None;
    }
    let answer = case.last("HardCallResolutionReceipt", place);
    let answer = answer.filter(|one| one.json().is("selected_option_id", VERIFIED));
    let call = answer.filter(|one| walk.at(*one) == walk.at(record)).and_then(|one| {
        let id = one.json().text("hard_call_id")?;
        case.before("HardRevisionCall", id, one.seq())
    });
    let blocked = call.map(|one| one.json().texts("pending_policy.blocked_refs")).unwrap_or_default();
    let asked = case.until("VerificationRequestStep", place).filter(|one| {
        one.json().text("outcome_id").is_some_and(|id| blocked.iter().any(|text| bare(text) == id))
    });
    let is_asked = asked.last().is_some_and(|one| {
        one.json().texts("source_record_refs").iter().any(|text| bare(text) == record.id())
    });
    found.holds(CHECK, record, "verification_state", is_asked, "nobody was asked to verify it");
    case.before("SourceRecord", record.id(), place)?.json().text("fresh_until")?;
    let at = walk.at(record)?;
    let until = Instant { seconds: at.seconds + HOLDS_SECONDS, ..at };
    Timestamp::try_from(until).ok().map(|until| until.to_string().into())
}

/// What a source is trusted as from here on, where a person has just answered for it.
fn cleared(case: &Case<'_>, record: Record<'_>) -> Option<&'static str> {
    let node = case.last("SanitizationNode", record.seq()).filter(|one| one.seq() + 1 == record.seq())?;
    let is_own = node.json().text("input_ref").map(bare) == Some(record.id());
    is_own.then_some(CLEARED.as_str())
}

/// What a source is trusted as that a person answers for.
const CLEARED: TaintClass = TaintClass::UserTrustedBounded;

/// A person has looked through a source and answers for it: it was trusted less until then.
pub(crate) fn sanitized<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let case = walk.case;
    let source = record.json().text("input_ref").map(bare).unwrap_or_default();
    let before = case.before("SourceRecord", source, record.seq());
    found.must(CHECK, record, "input_taint", before.and_then(|one| one.json().at("taint_class").cloned()));
    found.must_say(CHECK, record, "output_taint", CLEARED.as_str());
    found.must_say(CHECK, record, "method", "human_review");
    found.must(CHECK, record, "output_ref", record.json().at("input_ref").cloned());
    let said = case.last("UserConfirmation", record.seq());
    let evidence = said.map(|one| format!("user_confirmation:{}", one.id()));
    found.must(CHECK, record, "evidence_ref", evidence.map(Json::from));
    let asked = case.last("CommandInvocation", record.seq());
    if let Some(said) = said {
        found.must(CHECK, said, "user_ref", asked.and_then(|one| one.json().at("actor_ref").cloned()));
    }
}

/// A source is documented better or less from here on; who says so gave a command.
pub(crate) fn tier_moved<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, json) = (walk.case, record.json());
    let before = case.before("SourceRecord", json.text("source_id").unwrap_or_default(), record.seq());
    found.must(CHECK, record, "from_tier", before.and_then(|one| one.json().at("tier").cloned()));
    found.must_say(CHECK, record, "transition_reason", "its documents were looked at again");
    let asked = case.last("CommandInvocation", record.seq());
    found.must(CHECK, record, "actor_ref", asked.and_then(|one| one.json().at("actor_ref").cloned()));
}

/// A source as it is taken in.
fn taken_in(walk: &Walk<'_, '_>, task: Source<'_>, record: Record<'_>, found: &mut Found) -> Object {
    let case = walk.case;
    let json = task.0;
    let copy = |path: &str| json.at(path).cloned().unwrap_or(Json::Null);
    let digest = case.digest(record);
    match (digest, case.content(record)) {
        (None, _) => {
            let message = "a source is taken in with its text, and this one names none";
            found.about(
                Code::VerifyIncomplete,
                Check::Completeness,
                record,
                "domain_payload.sha256",
                message,
            );
        }
        (Some(digest), Bytes::Missing) => {
            let message = format!("{digest} is not in the packet");
            found.about(Code::VerifyBlob, Check::Integrity, record, "", message);
        }
        (Some(_), Bytes::Here(_) | Bytes::Withheld) => {}
    }
    let mut document = Object::from([
        ("path", copy("path")),
        ("sha256", digest.map_or(Json::Null, |digest| String::from(digest).into())),
    ]);
    for (name, member) in [("received_at", "at"), ("verified_by", "verified_by")] {
        if let Some(value) = json.at(member) {
            document.insert(name, value.clone());
        }
    }
    let tier = u32::try_from(task.tier()).map_or(Json::Null, |tier| Json::Number(Number::from(tier)));
    Object::from([
        ("source_id", case.own(task.id()).into()),
        ("tier", tier),
        ("source_kind", copy("kind")),
        ("workspace_id", case.own("workspace").into()),
        ("task_id", case.task.id().into()),
        ("trust_basis", copy("trust_basis")),
        ("taint_class", taint_of(task).as_str().into()),
        ("data_class", task.class().into()),
        ("matter_id", case.matter.as_str().into()),
        ("privileged", task.is_privileged().into()),
        ("verification_state", "unverified".into()),
        ("fresh_until", copy("fresh_until")),
        ("legal_payload", legal(json)),
        ("applicability_scopes", scopes(case, json)),
        ("domain_payload", document.into()),
        ("domain_payload_registry_ref", registered().into()),
    ])
}

/// What the payload of a source means.
pub(crate) fn registered() -> Object {
    let schema =
        Object::from([("schema_id", Json::from("document_file")), ("semantic_version", "1.0.0".into())]);
    Object::from([
        ("domain_payload_kind", Json::from("document_file")),
        ("domain_payload_schema_ref", schema.into()),
        ("domain_payload_version", "1.0.0".into()),
    ])
}

/// What is said of a source of law.
fn legal(source: &Json) -> Json {
    if !source.is_one_of("kind", &["case_law", "statute", "regulation"]) {
        return Json::Null;
    }
    let mut payload = Object::from([("schema_version", Json::from("1.1"))]);
    let members = [
        ("jurisdiction", "jurisdiction"),
        ("source_authority_level", "authority"),
        ("treatment_status", "treatment"),
    ];
    for (name, member) in members {
        if let Some(value) = source.at(member) {
            payload.insert(name, value.clone());
        }
    }
    payload.into()
}

/// Where a source applies, as the task says.
fn scopes(case: &Case<'_>, source: &Json) -> Json {
    let level = source.at("authority").cloned();
    let is_legal = legal(source) != Json::Null;
    let scope = match (source.at("jurisdiction"), &level) {
        (Some(jurisdiction), _) => scope("legal_jurisdiction", jurisdiction.clone(), level),
        (None, Some(_)) if !is_legal => scope("matter", case.matter.as_str().into(), level),
        (None, _) => return Json::Null,
    };
    Json::Array(Vec::from([scope]))
}

fn scope(kind: &str, value: Json, level: Option<Json>) -> Json {
    let mut scope = Object::from([
        ("scope_kind", Json::from(kind)),
        ("scope_value", value),
        ("schema_version", "1.1".into()),
    ]);
    if let Some(level) = level {
        scope.insert("authority_level", level);
    }
    scope.into()
}

/// Where a source applies after a person said which of several counts.
fn weighed(case: &Case<'_>, before: &Object, task: Source<'_>, place: u64) -> Option<Json> {
    let preferred = question::preferred(case, place)?;
    let level = if preferred == task.id() { "binding" } else { "advisory" };
    let known = before.get("applicability_scopes").and_then(Json::as_array).unwrap_or_default();
    let mut scopes: Vec<Json> = known.iter().filter(|one| !one.is("scope_kind", "matter")).cloned().collect();
    scopes.push(scope("matter", case.matter.as_str().into(), Some(level.into())));
    Some(Json::Array(scopes))
}

/// What was only looked up supports nothing.
pub(crate) fn lookup<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    found.must(CHECK, record, "may_support_downstream_claims", Some(false.into()));
    found.must_say(CHECK, record, "lookup_purpose", "looked up in passing; supports nothing");
    found.must_say(CHECK, record, "tool_receipt_ref", &format!("tool_receipt:{}", record.id()));
    let title = record.json().text("source_title_or_label").unwrap_or_default();
    let is_asked = walk.case.task.sources().any(|one| {
        one.tier() == 0
            && (one.0.is("title", title) || (one.0.text("title").is_none() && one.0.is("path", title)))
    });
    found.holds(CHECK, record, "source_title_or_label", is_asked, UNNAMED);
}

/// An operation builds on the state that the workspace is in, and carries what its source is.
pub(crate) fn operation<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let json = record.json();
    let Some(kind) = json.text("operation_kind").and_then(Kind::find) else { return };
    found.must_say(CHECK, record, "workspace_id", &walk.case.own("workspace"));
    if is_mutating(kind) {
        found.must_say(CHECK, record, "precondition.expected_workspace_head_hash", walk.workspace.head());
        found.must(CHECK, record, "precondition.expected_event_seq", walk.workspace.seq().write());
        found.must_say(CHECK, record, "precondition.workspace_id", &walk.case.own("workspace"));
    }
    let named = json.text("payload_ref").filter(|text| text.starts_with("src:")).map(bare);
    // What an operation makes of a source is written right behind it.
    let writes = matches!(
        kind.as_str(),
        "add_source_record" | "add_verification_record" | "update_source_record" | "mark_source_stale"
    );
    let mut records = walk.case.world.of("SourceRecord");
    let next = records.find(|one| one.seq() > record.seq()).filter(|_| writes);
    if let Some(next) = next.filter(|one| one.seq() == record.seq() + 2) {
        found.must_say(CHECK, record, "payload_ref", &format!("src:{}", next.id()));
    }
    let source = named.map(|id| walk.case.task.source(walk.case.local(id)));
    let label = match source {
        Some(Some(source)) => {
            let taint = trusted(walk.case, source, record.seq());
            (taint.as_str(), source.class(), source.is_privileged())
        }
        Some(None) => return found.about(Code::VerifyDerivation, CHECK, record, "payload_ref", UNNAMED),
        None if kind == Kind::ReadWorkspaceSnapshot => ("internal_corpus_trusted", "public", false),
        None => return,
    };
    found.must_say(CHECK, record, "taint_class", label.0);
    found.must_say(CHECK, record, "data_class", label.1);
    found.must(CHECK, record, "privileged", Some(label.2.into()));
    // A question to sources is answered by who gave the command for it.
    let asked = command::open(walk.case, record.seq()).filter(|_| kind == Kind::AnswerResearchNeed);
    let actor = asked.and_then(|one| one.json().text("actor_ref"));
    // Without one, by who searches and holds it.
    let is_searched = kind == Kind::AnswerResearchNeed && asked.is_none();
    let other = if is_searched { "module:drafter" } else { "engine:work" };
    found.must_say(CHECK, record, "actor_ref", actor.unwrap_or(other));
    if let Some(request) = asked.and_then(|one| command::request(walk.case, one)) {
        let need = request.text("need_id").map(|id| format!("research_need:{id}").into());
        found.must(CHECK, record, "precondition.target_record_ref", need);
        let source = request.text("source").map(|id| format!("src:{}", walk.case.own(id)).into());
        found.must(CHECK, record, "payload_ref", source);
    }
    found.must_say(CHECK, record, "idempotency_key", &format!("{}/{}", kind.as_str(), record.id()));
    let leave = format!("policy_evaluation:{}", walk.case.own("leave"));
    let leave: Vec<String> = is_mutating(kind).then_some(leave).into_iter().collect();
    found.must_list(CHECK, record, "policy_decision_refs", &leave);
    if is_mutating(kind) {
        let lock = if is_searched { "pessimistic_write_lock" } else { "optimistic_event_seq" };
        found.must_say(CHECK, record, "precondition.lock_mode", lock);
        found.must_say(CHECK, record, "precondition.on_conflict", "abort_and_reevaluate");
    }
}

/// What became of an operation is what deciding it again gives.
pub(crate) fn receipt<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let id = record.json().text("operation_id").unwrap_or_default();
    let operation =
        walk.case.until("SourceWorkspaceOperation", record.seq()).filter(|one| one.id() == id).last();
    let (Some(operation), Some(receipt)) = (operation.and_then(read::<Operation>), read::<Receipt>(record))
    else {
        return walk.underivable(CHECK, record, "there is no such operation", found);
    };
    let decisions: Vec<PolicyEvaluation> =
        walk.case.until("PolicyEvaluation", record.seq()).filter_map(read).collect();
    let sanitizations: Vec<SanitizationNode> =
        walk.case.until("SanitizationNode", record.seq()).filter_map(read).collect();
    let Some(row) = walk.case.row(record) else { return };
    // Who holds a question is not told here; what is asked of sources is held to the contract.
    let is_of_need = matches!(operation.operation_kind, Kind::UpdateResearchNeed | Kind::AnswerResearchNeed);
    let given = Given {
        at: &row.at,
        decisions: &decisions,
        sanitizations: &sanitizations,
        question: None,
        query: Query::Local,
    };
    match decide(&walk.workspace, &operation, &given) {
        _ if is_of_need => {}
        Ok(ruling) => {
            let again = ruling.receipt.write();
            let again = again.as_ref().and_then(Json::as_object).cloned().unwrap_or_default();
            found.must_be(CHECK, record, &again, &["receipt_id"]);
        }
        Err(refusal) => found.about(Code::VerifyDerivation, CHECK, record, "", refusal.to_string()),
    }
    walk.workspace.apply(&operation, &receipt);
}

/// The receipt of the last read of the workspace before a place.
pub(crate) fn last_read(case: &Case<'_>, place: u64) -> Option<String> {
    let receipts = case.until("SourceWorkspaceOperationReceipt", place);
    let reads = receipts.filter(|one| one.json().is("operation_kind", "read_workspace_snapshot"));
    reads.last().map(|one| format!("source_workspace_operation_receipt:{}", one.id()))
}

/// A version has the digest of its bytes, and the next number.
pub(crate) fn version<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let check = Check::Versions;
    let case = walk.case;
    let stable = record.json().text("artifact_stable_id").unwrap_or_default();
    let before = case.until("ArtifactVersion", record.seq());
    let number = before.filter(|one| one.json().is("artifact_stable_id", stable)).count() + 1;
    found.must_say(check, record, "artifact_version_id", &format!("{stable}.v{number}"));
    let digest = case.digest(record).map(|digest| String::from(digest).into());
    found.must(check, record, "content_hash", digest);
    made::version(walk, record, number, found);
    if number == 1 && case.needs_agreement() {
        let review = case.last("EvaluationContractReview", record.seq());
        let said =
            review.and_then(|one| walk.says("evaluation_contract_review", one.id(), "approval_status"));
        let why = "the task needs a person to agree first, and nobody did";
        found.holds(check, record, "artifact_version_id", said == Some("approved"), why);
    }
    match case.task.artifact(case.local(stable)) {
        Some(_) => found.right(check),
        None => found.about(
            Code::VerifyDerivation,
            check,
            record,
            "artifact_stable_id",
            "the task has no such work product",
        ),
    }
}

/// A version moves from where it stands.
pub(crate) fn version_moved<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let version = record.json().text("artifact_version_ref").map(bare).unwrap_or_default();
    let from = crate::claims::state(walk.case, version, record.seq());
    found.must(Check::Versions, record, "from_state", from.map(Json::from));
}

/// The taint, class and privilege of some sources together; of none, nothing.
pub(crate) fn together(walk: &Walk<'_, '_>, sources: &[String]) -> (String, String, bool) {
    let nothing = (TaintClass::InternalCorpusTrusted, DataClass::Public, false);
    let standing = sources.iter().filter_map(|one| walk.standing("SourceRecord", bare(one)));
    let all = standing.fold(nothing, |all, one| {
        let taint = one.text("taint_class").and_then(TaintClass::find).unwrap_or(TaintClass::Unclassified);
        let class = one.text("data_class").and_then(DataClass::find).unwrap_or(DataClass::LocalOnly);
        (all.0.max(taint), all.1.max(class), all.2 || one.flag("privileged").unwrap_or(false))
    });
    (all.0.as_str().to_string(), all.1.as_str().to_string(), all.2)
}

/// What is shown of a workspace's policies, in the order of a snapshot.
pub(crate) fn policies(case: &Case<'_>, named: &[(&str, &str)]) -> Json {
    let all: Vec<String> =
        named.iter().map(|(kind, word)| format!("{kind}:{}", case.own(&format!("policy.{word}")))).collect();
    texts(&all)
}
