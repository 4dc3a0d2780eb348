//! What stands on each page, as a person reads it.
//! Owns: the words and their order. Must not: say what is not in the page's document.

use super::super::run::screen::{bears, mark, of_severity, of_status, place_of, sentence, words};
use super::super::run::standing;
use super::super::run::{ClaimTexts, change};
use super::{Page, Shown};
use crate::output::{self, BAD, BOLD, CARE, FAINT, GOOD, Line, PLAIN, Sheet, moment};
use anstyle::Style;
use countersign_govern::reference::Reference;
use countersign_govern::table::outcome::State;
use countersign_govern::types::basic::StorageRef;
use countersign_govern::types::chain::EvaluationChainResolutionReceiptResolvedRoute as Route;
use countersign_govern::types::cost::BudgetNarrative;
use countersign_govern::types::externalization::WorkspaceExternalizationKind as Way;
use countersign_govern::types::finding::FindingState;
use countersign_govern::types::reliance::{
    AttentionKind as Attention, RelianceStatus as Status, TaskHealthCardHealthStatus as Health,
};
use countersign_record::json::Json;
use countersign_work::{cost, finding, outcome, rely};

/// Rows of a change that waits for a reviewer.
const CHANGE_ROWS: usize = 16;

/// The lines of a page.
pub(super) fn lines(page: Page, sheet: &Sheet, shown: &Shown<'_>, body: &Json) -> Vec<Line> {
    match page {
        Page::Health => health(shown, body),
        Page::Findings => list(body, "Nothing was found.", found),
        Page::Review => review(shown, body),
        Page::Attention => {
            let wanted = body.as_array().unwrap_or_default().iter().map(|one| word(one, "claim"));
            let claims = ClaimTexts::of(shown.work, wanted);
            list(body, "Nothing waits for a person.", |one| due(sheet, shown, &claims, one))
        }
        Page::Evidence => evidence(shown, body),
        Page::Chain => chain(shown, body),
        Page::Board => board(shown, body),
        Page::Budget => budget(shown),
    }
}

impl Shown<'_> {
    /// A command on the run that can be typed as it is.
    fn typed(&self, command: &str) -> String {
        self.global.typed(&format!("{command} {}", self.run))
    }
}

fn word<'j>(json: &'j Json, name: &str) -> &'j str {
    json.get(name).and_then(Json::as_str).unwrap_or_default()
}

fn members<'j>(json: &'j Json, name: &str) -> &'j [Json] {
    json.get(name).and_then(Json::as_array).unwrap_or_default()
}

fn list(body: &Json, nothing: &str, lines: impl Fn(&Json) -> Vec<Line>) -> Vec<Line> {
    match body.as_array().unwrap_or_default() {
        [] => vec![Line::new(BOLD, nothing)],
        all => all.iter().flat_map(lines).collect(),
    }
}

fn health(shown: &Shown<'_>, body: &Json) -> Vec<Line> {
    let card = body.get("card").cloned().unwrap_or(Json::Null);
    let mut lines = headline(shown, body, &card);
    if let Some(status) = Status::find(word(body, "reliance_status")) {
        lines.push(match word(body, "no_longer_holds").is_empty() {
            true => Line::named("packet", "").and(of_status(status), rely::summary(status)),
            false => Line::named("packet", "").and(BAD, "It must not be relied on any more."),
        });
    }
    let blockers = members(&card, "active_blocker_refs").len();
    lines.push(match blockers {
        0 => Line::named("blocked", "by no finding"),
        1 => Line::named("blocked", "").and(BAD, "by one finding"),
        many => Line::named("blocked", "").and(BAD, format!("by {many} findings")),
    });
    for one in members(body, "outcomes") {
        let state = State::find(word(one, "state"));
        let (style, mark) =
            mark(state.is_some_and(standing::is_met), state.is_some_and(standing::has_failed));
        let line = Line::new(style, mark).and(PLAIN, format!("{} ", word(one, "outcome")));
        let line = line.and(style, format!("({})", word(one, "in_words")));
        lines.push(line.and(PLAIN, format!(": {}", word(one, "statement"))).hanging(4));
        lines.extend(members(one, "not_looked_at").iter().map(|open| {
            let words = format!("Nobody looked at “{}”: {}.", word(open, "text"), word(open, "why"));
            Line::new(CARE, "    ? ").and(PLAIN, words).hanging(6)
        }));
    }
    lines
}

/// How the run is doing: what has become of it comes before what its records say of the work.
fn headline(shown: &Shown<'_>, body: &Json, card: &Json) -> Vec<Line> {
    let run = body.get("run").cloned().unwrap_or(Json::Null);
    let (fallen, why) = (word(body, "no_longer_holds"), word(&run, "why"));
    let next = |command: &str| Line::named("next", command).whole();
    match word(&run, "standing") {
        "waiting" => vec![
            Line::new(CARE.bold(), format!("The run waits for a person: {why}")),
            next(&shown.typed("attention")),
        ],
        "open" => vec![Line::new(CARE.bold(), "The run is not done."), next(&shown.typed("runs resume"))],
        "ended" => vec![Line::new(BAD.bold(), format!("The run ended before its time: {why}"))],
        _done if !fallen.is_empty() => vec![
            Line::new(BAD.bold(), format!("The packet no longer holds: {fallen}.")),
            next(&shown.typed(RENEW)),
        ],
        _done => {
            let (style, told) = Health::find(word(card, "health_status")).map_or((PLAIN, ""), doing);
            vec![Line::new(style.bold(), told)]
        }
    }
}

/// The command that looks again, and makes a new packet; the run comes behind it.
const RENEW: &str = "command run reliance.renew_packet --run";

/// The words for how a run is doing.
fn doing(health: Health) -> (Style, &'static str) {
    match health {
        Health::Healthy => (GOOD, "The run is doing well."),
        Health::Warning => (CARE, "Something is to be looked at."),
        Health::Blocked => (BAD, "Something stands in the way."),
        Health::Failed => (BAD, "The run has failed."),
        Health::ReviewRequired => (CARE, "A person must look at it."),
    }
}

fn found(one: &Json) -> Vec<Line> {
    let state = FindingState::find(word(one, "state"));
    let is_live = state.is_some_and(finding::is_live);
    let style = if is_live { of_severity(word(one, "severity")) } else { GOOD };
    let mark = if is_live { "! " } else { "✓ " };
    let told = state.map_or("", found_state);
    let mut lines = Vec::new();
    let line = Line::new(style, mark).and(PLAIN, format!("{} ", word(one, "text")));
    let line = line.and(style, format!("({told}, {})", word(one, "severity"))).hanging(2);
    match members(one, "claims") {
        [] => lines.push(line.and(PLAIN, format!(" {}", word(one, "explanation")))),
        claims => {
            lines.push(line);
            lines.extend(claims.iter().flat_map(|one| sentence(one, 2)));
        }
    }
    // The commands on a finding ask for it.
    lines.push(Line::new(FAINT, format!("  {}", word(one, "finding"))).whole());
    lines
}

/// All that can be looked over, and where each is shown whole.
fn review(shown: &Shown<'_>, body: &Json) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut part = |name: &str, title: &str, nothing: &str, more: &str, told: fn(&Json) -> Vec<Line>| {
        let all = members(body, name);
        if all.is_empty() {
            lines.push(Line::new(FAINT, nothing));
            return;
        }
        lines.push(Line::new(BOLD, title).and(FAINT, format!("  {}", shown.typed(more))).whole());
        lines.extend(all.iter().flat_map(told));
    };
    part("findings", "Findings", "Nothing was found.", "findings", found);
    part("revisions", "Revisions", "Nothing was revised under review.", "diff", |one| {
        let state = word(one, "state").replace('_', " ");
        let line = Line::new(PLAIN, format!("  {state}. {}", word(one, "risk"))).hanging(2);
        vec![line, Line::new(FAINT, format!("  {}", word(one, "packet"))).whole()]
    });
    part("decisions", "Decisions", "Nothing was decided yet.", "audit", |one| {
        let what = word(one, "what").trim_end_matches(": ");
        vec![
            Line::new(PLAIN, format!("  {what}")).hanging(2),
            Line::new(FAINT, format!("  {}", word(one, "decision"))).whole(),
        ]
    });
    lines
}

/// The words for how a finding stands.
fn found_state(state: FindingState) -> &'static str {
    match state {
        FindingState::Proposed => "proposed",
        FindingState::Active => "stands",
        FindingState::Contested => "disputed",
        FindingState::Resolved => "mended",
        FindingState::SupersededByRevision => "gone with a revision",
        FindingState::SupersededBySourceChange => "gone with a change of the sources",
        FindingState::Expired => "out of date",
        FindingState::UserApproved => "stands, a person agrees",
        FindingState::ToolVerified => "stands, a tool has verified it",
        FindingState::HumanVerified => "stands, a person has verified it",
        FindingState::RejectedByUser => "rejected by a person",
        FindingState::Dismissed => "dismissed",
        FindingState::Unrecoverable => "stands, nothing will mend it",
    }
}

/// Something that waits for a person, with what it is about and how it is dealt with.
fn due(sheet: &Sheet, shown: &Shown<'_>, claims: &ClaimTexts, one: &Json) -> Vec<Line> {
    let style = of_severity(word(one, "priority"));
    let kind = Attention::find(word(one, "attention_kind"));
    let is_fallen = word(one, "command") == "reliance.renew_packet";
    let why = if is_fallen { "a packet to make anew" } else { kind.map_or("", waiting) };
    let line = Line::new(style, "! ").and(style, why);
    let mut lines = vec![line.and(PLAIN, format!(": {}", word(one, "summary"))).hanging(2)];
    lines.extend(claims.get(word(one, "claim")).into_iter().flat_map(|one| sentence(one, 2)));
    let about = StorageRef::try_from(word(one, "source_ref")).ok();
    let diff = about.and_then(|about| change::diff(shown.work, &about));
    // A review is asked for by a question, and stands in a packet: the change is shown with the packet.
    if let Some(diff) = diff.filter(|_| kind == Some(Attention::RevisionReviewPending)) {
        lines.extend(change::beginning(sheet, &diff, CHANGE_ROWS, &shown.typed("diff")));
    }
    if let Some(id) = word(one, "source_ref").strip_prefix("hard_revision_call:") {
        lines.extend(answers(shown, id, one));
    }
    if !word(one, "asked").is_empty() {
        lines.push(Line::new(PLAIN, format!("  Your leave is needed to {}", word(one, "asked"))).hanging(2));
    }
    if !word(one, "first").is_empty() {
        lines.push(Line::new(FAINT, "  first   ").and(PLAIN, word(one, "first")).whole());
    }
    let question = word(one, "question");
    for answer in members(one, "answers").iter().filter_map(Json::as_str) {
        let answer = shown.global.typed(&format!("answer {} --id {question} {answer}", shown.run));
        lines.push(Line::new(FAINT, "  answer  ").and(PLAIN, answer).whole());
    }
    let id = word(one, "source_ref").split_once(':').map_or("", |(_, id)| id);
    lines.extend(kind.into_iter().flat_map(|kind| asked(shown, kind, id)));
    if is_fallen {
        lines.push(Line::new(FAINT, "  renew   ").and(PLAIN, shown.typed(RENEW)).whole());
    } else if kind == Some(Attention::RelianceReviewRequired) {
        lines.push(Line::new(FAINT, "  read    ").and(PLAIN, shown.typed("packet show")).whole());
        let give = shown.typed("command run reliance.review_packet --run");
        lines.push(Line::new(FAINT, "  then    ").and(PLAIN, give).whole());
    }
    lines
}

/// What is typed where a command decides.
fn asked(shown: &Shown<'_>, kind: Attention, id: &str) -> Vec<Line> {
    let piped = |name: &str, command: &str, request: String| {
        let command = shown.typed(&format!("command run {command} --request - --run"));
        Line::new(FAINT, format!("  {name:<8}")).and(PLAIN, format!("echo '{request}' | {command}")).whole()
    };
    match kind {
        Attention::ContestedFinding => {
            let own = format!(r#"{{"finding_id": "{id}"}}"#);
            let why = format!(r#"{{"finding_id": "{id}", "grounds": "WHY"}}"#);
            vec![piped("confirm", "finding.confirm", own), piped("reject", "finding.reject", why)]
        }
        Attention::ResearchNeedHuman => {
            let answer = format!(r#"{{"need_id": "{id}", "source": "SOURCE"}}"#);
            vec![piped("answer", "research.answer_need", answer)]
        }
        Attention::HardCallPending
        | Attention::BlockedItem
        | Attention::ApprovalRequired
        | Attention::RelianceReviewRequired
        | Attention::RevisionReviewPending => Vec::new(),
    }
}

/// The words for why something waits.
fn waiting(kind: Attention) -> &'static str {
    match kind {
        Attention::HardCallPending => "a question to answer",
        Attention::BlockedItem => "something that is blocked",
        Attention::ContestedFinding => "a disputed finding",
        Attention::ApprovalRequired => "something to approve",
        Attention::ResearchNeedHuman => "something to find out",
        Attention::RelianceReviewRequired => "a packet to read",
        Attention::RevisionReviewPending => "a change to review",
    }
}

/// How a question is answered, until when, and what waits for it; where its time is over, how its run ends.
fn answers(shown: &Shown<'_>, id: &str, one: &Json) -> Vec<Line> {
    if one.get("expired") == Some(&Json::Bool(true)) {
        let words = format!("  Nobody answered by {}, so no answer counts.", moment(word(one, "answer_by")));
        let end = Line::new(FAINT, "  end     ").and(PLAIN, shown.typed("runs resume")).whole();
        return vec![Line::new(CARE, words).hanging(2), end];
    }
    let ids: Vec<String> =
        members(one, "options").iter().filter_map(Json::as_str).map(output::quoted).collect();
    if ids.is_empty() {
        return Vec::new();
    }
    let answer = shown.global.typed(&format!("answer {} --id {id} --choose OPTION", shown.run));
    let waits = members(one, "waits").iter().filter_map(Json::as_str);
    let mut lines: Vec<Line> = waits.map(|words| Line::new(CARE, format!("  {words}")).hanging(2)).collect();
    lines.push(Line::new(FAINT, "  answer  ").and(PLAIN, answer).whole());
    lines.push(Line::new(FAINT, "  options ").and(PLAIN, ids.join(", ")).hanging(10));
    lines
}

fn evidence(shown: &Shown<'_>, body: &Json) -> Vec<Line> {
    let mut lines = Vec::new();
    for claim in members(body, "claims") {
        let support = word(claim, "support");
        let (style, mark) = match support {
            "supported" => (GOOD, "✓ "),
            "contradicted" | "unsupported" => (BAD, "✗ "),
            _in_doubt => (CARE, "○ "),
        };
        let line = Line::new(style, mark).and(PLAIN, word(claim, "text"));
        let told = match word(claim, "support_in_package") {
            "" => words(support),
            before if support == "indeterminate_stale_or_unverified" => {
                format!("{} before; its source has changed since", words(before))
            }
            before => format!("{} now, {} before", words(support), words(before)),
        };
        lines.push(line.and(style, format!(" ({told})")).hanging(2));
        for name in ["supporting", "contradicting"] {
            for place in members(claim, name) {
                let source = format!("  {} {}: ", place_of(place), bears(place));
                lines.push(
                    Line::new(FAINT, source).and(PLAIN, format!("“{}”", word(place, "text"))).hanging(4),
                );
            }
        }
    }
    for need in members(body, "needs") {
        let line = Line::new(CARE, "? ").and(PLAIN, word(need, "question"));
        lines.push(line.and(CARE, " (a question to the sources that is open)").hanging(2));
        lines.extend(asked(shown, Attention::ResearchNeedHuman, word(need, "need")));
    }
    if lines.is_empty() { vec![Line::new(BOLD, "There is no evidence yet.")] } else { lines }
}

fn chain(shown: &Shown<'_>, body: &Json) -> Vec<Line> {
    let mut lines = Vec::new();
    for one in body.as_array().unwrap_or_default() {
        let state = outcome::state(shown.fresh, word(one, "outcome"));
        let (style, mark) = mark(standing::is_met(state), standing::has_failed(state));
        let line = Line::new(style, mark.trim_start()).and(BOLD, format!("{} ", word(one, "outcome")));
        let own = shown.fresh.task().outcome(word(one, "outcome"));
        let told = own.map(|own| standing::told(shown.fresh, own)).unwrap_or_default();
        lines.push(line.and(style, format!("({told})")));
        for result in members(one, "results") {
            let decision = result.get("decision").cloned().unwrap_or(Json::Null);
            // Where nobody judges, the scores are put together all the same.
            let who = match word(result, "producer_kind") {
                "judge" if !shown.fresh.task().has_judge() => "the scores say".to_owned(),
                "outcome_evaluator" => "the evaluator says".to_owned(),
                other => format!("the {} says", words(other)),
            };
            lines.push(Line::new(PLAIN, format!("  {who} {}", words(word(&decision, "verdict")))));
        }
        if let Some(resolution) = one.get("resolution").filter(|one| **one != Json::Null) {
            let (verdict, route) = (word(resolution, "resolved_verdict"), word(resolution, "resolved_route"));
            lines.push(Line::new(PLAIN, format!("  together: {}; {}", words(verdict), led(route))));
        }
    }
    lines
}

/// What happened, each on a line; what was not posted, or is withheld, is counted.
fn board(shown: &Shown<'_>, body: &Json) -> Vec<Line> {
    let all = body.as_array().unwrap_or_default();
    let posted = all.iter().filter(|one| !word(one, "words").is_empty());
    let mut lines: Vec<Line> = posted
        .map(|one| {
            let event = one.get("event").cloned().unwrap_or(Json::Null);
            let at = moment(word(&event, "created_at"));
            let line = Line::new(FAINT, format!("{at}  ")).and(PLAIN, told(shown, word(one, "words")));
            line.hanging(at.chars().count() + 2)
        })
        .collect();
    let left = all.len() - lines.len();
    if left > 0 {
        lines.push(Line::new(FAINT, format!("… and {left} that are not posted or are withheld (--json)")));
    }
    if lines.is_empty() { vec![Line::new(BOLD, "Nothing is on the board.")] } else { lines }
}

/// Where an evaluation led, in words.
fn led(route: &str) -> String {
    let words_for = |route| match route {
        Route::PassPath => "it goes on",
        Route::FailPath => "it is to be mended",
        Route::RetryPath => "it is tried again",
        Route::HumanReviewPath => "a person is asked",
        Route::BlockUntilResolved => "it waits until that is settled",
    };
    Route::find(route).map_or_else(|| words(route), |route| words_for(route).to_owned())
}

/// What a post says, with what it names as a reader calls it.
fn told(shown: &Shown<'_>, posted: &str) -> String {
    match posted {
        "KnownGoodCheckpoint" => return "a checkpoint was kept".to_owned(),
        "TaskRunFork" => return "another run was begun from a checkpoint".to_owned(),
        "TaskCancelReceipt" => return "the run was cancelled".to_owned(),
        "TaskSkipReceipt" => return "an outcome was left out".to_owned(),
        "export_bundle: completed" => return "a packet or its evidence was exported".to_owned(),
        _ if posted.starts_with("sources: ") => return words(posted),
        _ => {}
    }
    if let Some((way, became)) = posted.split_once(": ")
        && Way::find(way).is_some()
    {
        return format!("something was to leave by {}: {}", words(way), words(became));
    }
    let Some((named, rest)) = posted.split_once(' ') else { return posted.to_owned() };
    let Some(read) = Reference::read(named).filter(|_| named.contains(shown.run)) else {
        return posted.to_owned();
    };
    let id = read.id.replace(&format!("{}.", shown.run), "");
    let state = match rest {
        "is accepted_head" => "counts as the work now".to_owned(),
        "is waived_by_policy" => "needs nobody's approval, as the task has it".to_owned(),
        other => words(other),
    };
    format!("{id} {state}")
}

/// What is said of what a model took more than was held for it.
pub(super) const BEYOND: &str = "beyond what they may, for a model took more than it was foreseen to:";

fn budget(shown: &Shown<'_>) -> Vec<Line> {
    let desk = shown.fresh;
    let told = desk.each::<BudgetNarrative>("BudgetNarrative").next_back();
    let say = |name: &str, text: String| Line::new(FAINT, format!("{name:<9}")).and(PLAIN, text).hanging(9);
    let own = cost::caps(desk);
    let of_matter = shown.purse.filter(|purse| !purse.caps().is_empty());
    let may = match (own.is_empty(), of_matter) {
        (true, Some(_)) => "as much as the matter may: the task itself has no cap".to_owned(),
        (true, None) | (false, _) => caps(&own),
    };
    let mut lines = vec![say("spent", cost::told(&cost::spent(desk))), say("may", may)];
    if let Some(purse) = of_matter {
        let (all, spent, held) = (caps(purse.caps()), cost::told(purse.spent()), cost::told(&purse.held()));
        lines.push(say("matter", format!("all its runs together may {all}; spent {spent}; held {held}")));
        let over = purse.overspent();
        let beyond = (!over.is_empty()).then(|| say("", format!("{BEYOND} {}", cost::told(&over))));
        lines.extend(beyond);
    }
    if let Some(told) = told {
        lines.push(say("foreseen", told.record.forecast_vs_actual_summary));
        if told.record.quality_impact_summary != "None." {
            lines.push(say("impact", told.record.quality_impact_summary));
        }
        let left_out = told.record.skipped_optional_helpers.iter().map(|one| helper(shown, one));
        lines.extend(left_out.map(|one| say("left out", one)));
        lines.extend(told.record.degraded_modes_used.into_iter().map(|one| say("", one)));
    }
    lines
}

/// Something that was left out, as the task calls it.
fn helper(shown: &Shown<'_>, named: &str) -> String {
    let Some(read) = Reference::read(named) else {
        return match named {
            "revision" => "mending what is not met: the budget is spent".to_owned(),
            other => words(other),
        };
    };
    let id = read.id.replace(&format!("{}.", shown.run), "");
    match (read.kind, shown.fresh.task().outcome(&id)) {
        ("outcome_record", Some(outcome)) => format!("the outcome {id}: {}", outcome.statement),
        ("revision_plan_step_base", _) => format!("the step {id} of a revision"),
        (_, _) => id,
    }
}

/// Caps in words.
pub(super) fn caps(caps: &cost::Amounts) -> String {
    if caps.is_empty() { "as much as it takes: there is no cap".to_owned() } else { cost::told(caps) }
}
