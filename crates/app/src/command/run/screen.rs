//! What a user reads at the end of a task's run: on one screen, in plain words.
//! Owns: the words, their order, and what is left out where there is too much. Must not: leave out how to see the rest.

use super::change;
use super::summary::{FindingTold, Offered, OutcomeTold, Standing, Told};
use super::waits::Waits;
use crate::failure::Failure;
use crate::output::{self, BAD, BOLD, CARE, FAINT, GOOD, Line, PLAIN, Sheet};
use anstyle::Style;
use countersign_govern::types::reliance::RelianceStatus as Status;
use countersign_record::json::Json;
use countersign_verify::summary::limitation;
use countersign_work::rely;

/// Rows of a screen, but for the prompt behind what is printed.
const ROWS: usize = 23;

/// How much room lists have.
struct Room {
    outcomes_max: usize,
    /// Rows of each of them.
    outcome_rows: usize,
    findings_max: usize,
    finding_rows: usize,
    change_rows: usize,
}

const fn room(outcomes: [usize; 2], findings: [usize; 2], change_rows: usize) -> Room {
    let ([outcomes_max, outcome_rows], [findings_max, finding_rows]) = (outcomes, findings);
    Room { outcomes_max, outcome_rows, findings_max, finding_rows, change_rows }
}

/// The first one that fits a screen is taken, else the last. A change that is to be decided on is
/// worth more than what was found wrong, and that more than what was asked for.
const ROOMS: [Room; 9] = [
    room([24, 3], [24, 3], 16),
    room([12, 2], [8, 3], 12),
    room([8, 1], [4, 3], 12),
    room([6, 1], [4, 2], 12),
    room([4, 1], [2, 1], 12),
    room([2, 1], [1, 1], 8),
    room([2, 1], [1, 1], 6),
    room([1, 1], [1, 1], 4),
    room([1, 1], [0, 1], 4),
];

pub(super) fn print(told: &Told) -> Result<(), Failure> {
    let sheet = Sheet::new();
    let mut shown = Vec::new();
    for room in &ROOMS {
        shown = lines(&sheet, told, room);
        if sheet.height(&shown) <= ROWS {
            break;
        }
    }
    sheet.print(&shown)
}

fn lines(sheet: &Sheet, told: &Told, room: &Room) -> Vec<Line> {
    let mut lines = vec![title(told)];
    if !told.changed_by.is_empty() {
        let people: Vec<&str> = told.changed_by.iter().map(String::as_str).collect();
        let words = format!("! what was asked was changed by {}: the packet says how.", people.join(", "));
        lines.push(Line::new(CARE, words).hanging(2));
    }
    let (all, max) = (&told.outcomes, room.outcomes_max);
    // What is not met is what a reader looks for, where not everything can be shown.
    let (met, open): (Vec<_>, Vec<_>) = all.iter().partition(|one| one.met && all.len() > max);
    lines.extend(open.into_iter().chain(met).take(max).map(|one| outcome(one).within(room.outcome_rows)));
    let [health, found, diff, attention] = &told.pages;
    lines.extend(more(all.len(), max, health));
    if let Some(claims) = told.claims.as_ref().filter(|claims| claims.all > 0) {
        let style = if claims.supported == claims.all { PLAIN } else { CARE };
        lines.push(Line::new(
            style,
            format!("{} of {} claims stand in the sources.", claims.supported, claims.all),
        ));
    }
    if let Some(claims) = told.claims.as_ref().filter(|claims| claims.not_held > 0) {
        let words = output::count(claims.not_held as u64, "part");
        let are = if claims.not_held == 1 { "is" } else { "are" };
        lines.push(Line::new(CARE, format!("{words} of it {are} not held against the sources.")));
    }
    let findings = told.findings.iter().take(room.findings_max);
    lines.extend(findings.flat_map(finding).map(|line| line.within(room.finding_rows)));
    lines.extend(more(told.findings.len(), room.findings_max, found));
    let unseen = told.not_looked_at.iter().take(room.findings_max);
    lines.extend(unseen.map(|(id, why)| {
        let words = format!("The criterion “{id}” was not looked at: {why}.");
        Line::new(CARE, "  ? ").and(PLAIN, words).hanging(4).within(room.finding_rows)
    }));
    if !told.limitations.is_empty() {
        let words: Vec<&str> = told.limitations.iter().map(|one| limitation(one)).collect();
        lines.push(
            Line::new(CARE, format!("Limited by: {}.", words.join("; "))).within(room.finding_rows + 1),
        );
    }
    if !told.open_questions.is_empty() {
        let words = output::count(told.open_questions.len() as u64, "question");
        lines.push(Line::named("open", format!("{words} to the sources: {attention}")).whole());
    }
    for one in &told.products {
        lines.push(Line::named("work", format!("{} (version {})", one.path, one.version)).whole());
    }
    lines.push(Line::named("run", told.run.as_str()).whole());
    lines.extend(asked(sheet, told, (diff, room.change_rows)));
    let name = if matches!(told.standing, Standing::Waits(_)) { "answer" } else { "next" };
    lines.extend(told.next.iter().map(|next| Line::named(name, next.as_str()).whole()));
    lines
}

/// The status, before everything else.
fn title(told: &Told) -> Line {
    let (style, words) = match &told.standing {
        Standing::Waits(_) => (CARE, "The run waits for you.".to_owned()),
        Standing::Open => (CARE, "The run is not done.".to_owned()),
        Standing::Packet(status) => (of_status(*status), rely::summary(*status).to_owned()),
        Standing::Fallen(why) => (BAD, format!("The packet no longer holds: {why}.")),
        Standing::Ended(why) if why.is_empty() => (BAD, "The run ended without a result.".to_owned()),
        Standing::Ended(why) => (BAD, format!("The run ended without a result: {why}")),
    };
    let line = Line::new(style.bold(), words);
    match &told.still_open {
        Some(open) => line.and(CARE, format!(" {open}.")),
        None => line,
    }
}

/// How a status looks.
pub(in crate::command) fn of_status(status: Status) -> Style {
    match status {
        Status::SafeToRelyWithinScope => GOOD,
        Status::RelyWithLimitations | Status::HumanReviewRequired => CARE,
        Status::NotSafeToRely => BAD,
    }
}

/// How bad something is, as it looks.
pub(in crate::command) fn of_severity(severity: &str) -> Style {
    match severity {
        "blocking" | "high" => BAD,
        _milder => CARE,
    }
}

/// The mark of an outcome.
pub(in crate::command) fn mark(is_met: bool, has_failed: bool) -> (Style, &'static str) {
    match (is_met, has_failed) {
        (true, _) => (GOOD, "  ✓ "),
        (false, true) => (BAD, "  ✗ "),
        (false, false) => (CARE, "  ○ "),
    }
}

fn outcome(one: &OutcomeTold) -> Line {
    let (style, mark) = mark(one.met, one.has_failed);
    let line = Line::new(style, mark).and(PLAIN, format!("{} ", one.id));
    line.and(style, format!("({})", one.state)).and(PLAIN, format!(": {}", one.statement)).hanging(4)
}

fn finding(one: &FindingTold) -> Vec<Line> {
    let style = of_severity(one.severity);
    let line = Line::new(style, "  ! ").and(PLAIN, format!("{} ", one.text));
    let line = line.and(style, format!("({})", one.severity)).hanging(4);
    match one.claims.as_slice() {
        [] => vec![line.and(PLAIN, format!(" {}", one.explanation))],
        claims => std::iter::once(line).chain(claims.iter().flat_map(|one| sentence(one, 4))).collect(),
    }
}

/// A sentence of the work, so many columns in; if a source says otherwise, both sides.
pub(in crate::command) fn sentence(claim: &Json, before: usize) -> Vec<Line> {
    let (words, indent) = (text(claim, "text"), " ".repeat(before));
    let mut lines = Vec::new();
    if !words.is_empty() {
        lines.push(Line::new(PLAIN, format!("{indent}“{words}”")).hanging(before));
    }
    let places = |name: &str| claim.get(name).and_then(Json::as_array).unwrap_or_default().to_vec();
    if places("contradicting").is_empty() {
        return lines;
    }
    for (name, style) in [("supporting", PLAIN), ("contradicting", BAD)] {
        for place in places(name) {
            let (at, told, quote) = (place_of(&place), bears(&place), text(&place, "text"));
            // The same words are not read twice.
            let quote = if quote == words { String::new() } else { format!(": “{quote}”") };
            let line = Line::new(style, format!("{indent}{at} {told}"));
            lines.push(line.and(PLAIN, quote).hanging(before + 2));
        }
    }
    lines
}

/// How a place bears on a sentence.
pub(in crate::command) fn bears(place: &Json) -> &'static str {
    match text(place, "strength") {
        "direct" => "says so",
        "contradicts" => "says otherwise",
        _some_of_it => "speaks of it",
    }
}

/// A place in a source, as a reader finds it.
pub(in crate::command) fn place_of(place: &Json) -> String {
    let at = text(place, "place");
    let at = at.rsplit_once('@').map_or(at, |(at, _)| at);
    match at.rsplit_once('-') {
        Some((head, last)) if head.rsplit_once(':').is_some_and(|(_, first)| first == last) => {
            head.to_owned()
        }
        Some(_) | None => at.to_owned(),
    }
}

fn text<'j>(json: &'j Json, name: &str) -> &'j str {
    json.get(name).and_then(Json::as_str).unwrap_or_default()
}

/// How many are not shown, and the command that shows them.
fn more(all: usize, shown: usize, command: &str) -> Option<Line> {
    let left = all.checked_sub(shown).filter(|left| *left > 0)?;
    let words = if shown == 0 { left.to_string() } else { format!("and {left} more") };
    Some(Line::new(FAINT, format!("  … {words}: {command}")).whole())
}

/// What a person is asked.
fn asked(sheet: &Sheet, told: &Told, (all, rows): (&str, usize)) -> Vec<Line> {
    let mut lines = vec![Line::default()];
    match (&told.question, &told.standing) {
        (Some(question), _) => {
            lines.push(Line::new(BOLD, question.text.as_str()));
            if let Some(diff) = &question.diff {
                lines.extend(change::beginning(sheet, diff, rows, all));
            }
            lines.extend(options(&question.options));
            let waits = question.waits.iter().flat_map(Waits::words);
            lines.extend(waits.map(|words| Line::new(CARE, words)));
        }
        (None, Standing::Waits(message)) => lines.push(Line::new(BOLD, message.as_str())),
        (None, Standing::Open | Standing::Packet(_) | Standing::Fallen(_) | Standing::Ended(_)) => {
            return Vec::new();
        }
    }
    lines
}

/// What can be chosen, each with what follows.
fn options(all: &[Offered]) -> Vec<Line> {
    let one = |one: &Offered| {
        let label = if one.label == one.id { String::new() } else { format!("{}: ", one.label) };
        Line::new(BOLD, format!("  {}  ", one.id))
            .and(PLAIN, format!("{label}{}", one.consequence))
            .hanging(4)
    };
    all.iter().map(one).collect()
}

/// Words for what stands in a record as one word.
pub(in crate::command) fn words(word: &str) -> String {
    output::plain(&word.replace('_', " "))
}
