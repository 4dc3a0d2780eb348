//! `countersign packet show`: what a reliance packet says, on a screen.
//! Owns: the lines. Must not: say more than the packet does; `countersign verify` says whether it is so.

use super::{RunId, looking, statement};
use crate::cli::Global;
use crate::failure::{Exit, Failure};
use crate::place::Place;
use crate::{input, output};
use countersign_record::code::Code;
use countersign_record::row::DataClass;
use countersign_runtime::run;
use countersign_verify::dsse::{BYTES_MAX, Envelope};
use countersign_verify::packet::Statement;
use countersign_verify::summary::{Claim, Decision, Summary};
use std::io::Read;

/// Claims that are listed; `--json` has all.
const CLAIMS_MAX: usize = 16;
/// Characters of a line.
const CHARS_MAX: usize = 110;
/// Characters of a hash that tell it apart for an eye.
const HASH_CHARS: usize = 16;

pub(super) async fn run(global: &Global, packet: &str) -> Result<Exit, Failure> {
    let (statement, next) = match RunId::try_from(packet) {
        Ok(run) => {
            let told = run::told(&looking(Place::open(global)?)?, &run).await?;
            // What is only shown here does not leave.
            let statement =
                statement(&Place::open(global)?, &run, told.setup, DataClass::LocalOnly, &[]).await?;
            (statement, format!("countersign packet export {run} --out FILE --html FILE"))
        }
        Err(_) => (read(packet)?, format!("countersign verify {packet}")),
    };
    let summary = Summary::of(&statement);
    if global.json {
        output::json(&summary)?;
    } else {
        for line in lines(&summary, &next) {
            output::line(&output::plain(&line))?;
        }
    }
    Ok(match summary.status.as_str() {
        "safe_to_rely_within_scope" => Exit::Success,
        _limited => Exit::Limited,
    })
}

/// The statement in a file.
fn read(path: &str) -> Result<Statement, Failure> {
    let mut bytes = Vec::new();
    let limit = BYTES_MAX as u64 + 1;
    let read = input::open(path)?.take(limit).read_to_end(&mut bytes);
    read.map_err(|error| Failure::file(path, &error))?;
    let wrong = |why: String| Failure::new(Code::VerifyFile, format!("{path}: {why}"));
    let envelope = Envelope::read(&bytes).map_err(|error| wrong(error.to_string()))?;
    let reading = Statement::read(&envelope.payload).map_err(|error| wrong(error.to_string()))?;
    match reading.spoilt.first() {
        Some(spoilt) => Err(wrong(format!("{}: {}", spoilt.path, spoilt.message))),
        None => Ok(reading.statement),
    }
}

fn lines(summary: &Summary, next: &str) -> Vec<String> {
    let origin = &summary.origin;
    let mut all = vec![summary.title.clone(), format!("{} {}", summary.status_words, summary.explanation)];
    let mut say = |name: &str, text: String| all.push(cut(&format!("{name:<10}{text}")));
    let mut scope = wrapped(&summary.scope).into_iter();
    say("scope", scope.next().unwrap_or_default());
    scope.for_each(|line| say("", line));
    say("packet", format!("{}, made {} by {}", summary.lifecycle, origin.made_at, origin.made_by));
    for one in &summary.products {
        say("work", format!("{} (version {})", one.name, one.version));
    }
    let limits = summary.limitations.join(", ");
    say("limits", if limits.is_empty() { "none".to_owned() } else { limits });
    for one in &summary.findings {
        say("", format!("! {} [{}]", one.text, one.severity));
    }
    let supported = summary.claims.iter().filter(|one| one.status == "supported").count();
    say("claims", format!("{supported} of {} stand in the sources", summary.claims.len()));
    // What does not stand comes first: it is what a reader looks for.
    let (good, bad): (Vec<&Claim>, Vec<&Claim>) =
        summary.claims.iter().partition(|one| one.status == "supported");
    for one in bad.into_iter().chain(good).take(CLAIMS_MAX) {
        say("", claim(one));
    }
    let more = summary.claims.len().saturating_sub(CLAIMS_MAX) as u64;
    if more > 0 {
        say("", format!("and {} more (--json)", output::count(more, "claim")));
    }
    if summary.decisions.is_empty() {
        say("decided", "nobody had to decide anything".to_owned());
    }
    for one in &summary.decisions {
        say("decided", decision(one));
    }
    if let Some(budget) = &summary.budget {
        say("cost", budget.summary.clone());
        say("", budget.compared.clone());
    }
    for one in &summary.checkpoints {
        say("kept", format!("{}: {}", one.versions.join(", "), one.label));
    }
    if !summary.withheld.is_empty() {
        say("withheld", output::count(summary.withheld.len() as u64, "text"));
    }
    for one in &summary.products {
        say("sha256", format!("{} {}", short(&one.sha256.to_string()), one.name));
    }
    let rows = format!("rows {} to {}", origin.first_seq, origin.head.seq);
    say("", format!("{} {rows} of matter {}", short(&origin.head.hash.to_string()), origin.matter));
    say("next", next.to_owned());
    all
}

fn claim(claim: &Claim) -> String {
    let mark = if claim.status == "supported" { '✓' } else { '✗' };
    let places: Vec<&str> = claim.places.iter().map(|one| one.at.as_str()).collect();
    let place = if places.is_empty() { "nowhere".to_owned() } else { places.join(", ") };
    let words = claim.text.as_deref().unwrap_or("(withheld)");
    let status = if claim.status == "supported" { String::new() } else { format!(" ({})", claim.words) };
    let tail = format!("  {place}{status}");
    let room = CHARS_MAX.saturating_sub(12 + tail.chars().count()).max(24);
    format!("{mark} {}{tail}", shortened(words, room))
}

fn decision(decision: &Decision) -> String {
    let why = decision.why.as_deref().map(|why| format!(", because: {why}")).unwrap_or_default();
    let Decision { who, at, answer, question, proof, .. } = decision;
    format!("{who} ({proof}), {at}: {answer}{why} — {question}")
}

fn short(hash: &str) -> String {
    format!("{}…", hash.get(..HASH_CHARS).unwrap_or(hash))
}

/// A text on as many lines as it takes.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let is_full = |line: &String| line.chars().count() + 1 + word.chars().count() > CHARS_MAX - 10;
        match lines.last_mut().filter(|line| line.is_empty() || !is_full(line)) {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

fn cut(text: &str) -> String {
    shortened(text, CHARS_MAX)
}

/// A text on one line of at most so many characters.
fn shortened(text: &str, chars_max: usize) -> String {
    let flat: String =
        text.split_inclusive('\n').map(|part| part.trim_end_matches('\n')).collect::<Vec<_>>().join(" ");
    match flat.char_indices().nth(chars_max) {
        None => flat,
        Some(_) => {
            let head: String = flat.chars().take(chars_max.saturating_sub(1)).collect();
            format!("{}…", head.trim_end())
        }
    }
}
