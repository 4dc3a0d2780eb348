//! `ledger verify` and `ledger anchor`: is it still what it was?
//! Owns: reading anchors, judging signers, telling the findings. Must not: find any itself.

use crate::cli::Global;
use crate::failure::{Exit, Failure};
use crate::input;
use crate::output;
use crate::place::Place;
use countersign_record::chain::{Anchor, Report, Signer};
use countersign_record::code::Code;
use countersign_record::id::PrincipalId;
use countersign_record::sign::PublicKey;
use countersign_runtime::fold;
use countersign_runtime::ports::ledger::Ledger;
use countersign_store::keys::Principal;
use countersign_views::summary::Summary;
use serde::Serialize;

#[derive(Serialize)]
struct Verified<'a> {
    sound: bool,
    #[serde(flatten)]
    report: &'a Report,
    anchors: usize,
    strangers: Vec<Stranger<'a>>,
    /// What is no damage, but worth a question.
    notes: Vec<String>,
}

/// A signer who is not the principal this data directory knows under that name.
#[derive(Serialize)]
struct Stranger<'a> {
    #[serde(flatten)]
    signer: &'a Signer,
    /// Whether the name is known with another key, which is graver than a name that is not known at all.
    contradicts: bool,
}

pub(super) async fn run(
    global: &Global,
    place: &Place,
    anchor_files: &[String],
    trusted: &[String],
) -> Result<Exit, Failure> {
    let anchors = read_anchors(place, anchor_files, trusted)?;
    let head = place.ledger.head(&place.access).await?;
    let rows = output::count(head.seq, "row");
    let progress = output::progress(global, format!("verifying {rows} of {}", place.matter()));
    let report = check(place, anchors.clone()).await;
    progress.finish_and_clear();
    let report = report?;
    let mut notes = Vec::new();
    // Whoever may read the ledger may check it, whether or not the keys can be read.
    let known = place.keys.known().unwrap_or_else(|error| {
        notes.push(format!("signers could not be judged: {error}"));
        Vec::new()
    });
    notes.extend(questions(&report, &known));
    let strangers: Vec<Stranger<'_>> =
        report.signers.iter().filter_map(|signer| stranger(signer, &known)).collect();
    let sound = report.is_sound() && !strangers.iter().any(|stranger| stranger.contradicts);
    if global.json {
        output::json(&Verified { sound, report: &report, anchors: anchors.len(), strangers, notes })?;
    } else {
        tell(&report, &strangers, anchors.len(), sound)?;
        notes.iter().try_for_each(|note| output::line(&format!("note: {note}")))?;
    }
    Ok(if sound { Exit::Success } else { Exit::Limited })
}

/// Everything that is stored, and the states of views that are kept beside the rows.
async fn check(place: &Place, anchors: Vec<Anchor>) -> Result<Report, Failure> {
    let mut report = place.ledger.verify(&place.access, anchors).await?;
    // Where rows are damaged, what is folded from them says nothing new.
    if report.is_sound() {
        report.findings.extend(fold::check::<Summary>(&place.ledger, &place.access).await?);
    }
    Ok(report)
}

fn questions(report: &Report, known: &[Principal]) -> Vec<String> {
    let has_key = |actor: &PrincipalId| known.iter().any(|one| one.name == *actor);
    let unsigned = report.unsigned.iter().filter(|one| has_key(&one.actor)).map(|one| {
        format!(
            "{} of {} self-asserted, though a key is known",
            output::count(one.rows, "decision"),
            one.actor
        )
    });
    let backwards = report.backwards.first.map(|first| {
        format!(
            "time goes back in {}, first at row {first}: within a stream, or by more than an hour",
            output::count(report.backwards.rows, "row")
        )
    });
    unsigned.chain(backwards).collect()
}

fn stranger<'a>(signer: &'a Signer, known: &[Principal]) -> Option<Stranger<'a>> {
    let named: Vec<&Principal> = known.iter().filter(|one| one.name == signer.actor).collect();
    if named.iter().any(|one| one.key == signer.key) {
        return None;
    }
    Some(Stranger { signer, contradicts: !named.is_empty() })
}

fn tell(report: &Report, strangers: &[Stranger<'_>], anchors: usize, sound: bool) -> Result<(), Failure> {
    for finding in &report.findings {
        output::line(&format!("{}: {}", finding.damage.code(), finding.message()))?;
    }
    if report.unlisted > 0 {
        output::line(&format!("and {} more", report.unlisted))?;
    }
    for Stranger { signer, contradicts } in strangers {
        let how = if *contradicts { "is known with another key" } else { "is not known here" };
        let Signer { actor, key, rows } = signer;
        output::line(&format!("{actor} {how}: {key} signed {}", output::count(*rows, "decision")))?;
    }
    let verdict = if sound { "sound" } else { "NOT sound" };
    let against = match anchors {
        0 => {
            "no anchor was given, so rows cut off at the end or a chain written anew can't be seen".to_owned()
        }
        count => format!("checked against {}", output::count(count as u64, "anchor")),
    };
    let (rows, bytes) = (output::count(report.rows, "row"), output::count(report.bytes, "byte"));
    output::line(&format!("{rows}, {bytes}: {verdict}; {against}"))
}

fn read_anchors(place: &Place, files: &[String], trusted: &[String]) -> Result<Vec<Anchor>, Failure> {
    let mut keys: Vec<PublicKey> = Vec::new();
    for text in trusted {
        let key = PublicKey::try_from(text.as_str());
        keys.push(key.map_err(|error| Failure::new(Code::FieldInvalid, format!("--trusted-key: {error}")))?);
    }
    // Where the node's key can't be read, only --trusted-key counts; an anchor of another key is then refused.
    if let (false, Ok(Some(key))) = (files.is_empty(), place.keys.public_node_key()) {
        keys.push(key);
    }
    files.iter().map(|file| read_anchor(place, file, &keys)).collect()
}

fn read_anchor(place: &Place, file: &str, keys: &[PublicKey]) -> Result<Anchor, Failure> {
    let anchor = Anchor::read(&input::document(file)?)
        .map_err(|problem| Failure::new(problem.code(), format!("{file}: {problem}")))?;
    if anchor.matter != *place.matter() {
        let message = format!("{file}: the anchor is of the matter {}", anchor.matter);
        return Err(Failure::new(Code::LedgerForeign, message));
    }
    if !keys.contains(&anchor.key) {
        let message = format!("{file}: signed with {}", anchor.key);
        return Err(Failure::new(Code::AnchorUntrusted, message).with("key", anchor.key.to_string()));
    }
    Ok(anchor)
}

pub(super) async fn anchor(place: &Place) -> Result<Exit, Failure> {
    let head = place.ledger.head(&place.access).await?;
    let anchor = place.keys.anchor(place.matter(), head, &place.now()?, crate::place::entropy()?)?;
    output::json(&anchor).map(|()| Exit::Success)
}
