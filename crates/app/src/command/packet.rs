//! `countersign packet`: a run's reliance packet, shown, as one signed file, as a page.
//! Owns: gathering its rows and bytes, what of them may leave, signing, the files. Must not: say of the run what its rows do not.

mod files;
mod leave;
mod show;

use super::process::looking;
use crate::cli::Global;
use crate::cli::packet::Packet;
use crate::failure::{Exit, Failure};
use crate::output::{self, BAD, CARE, FAINT, Line, PLAIN, Sheet};
use crate::place::{self, Place};
use countersign_durable::write_new;
use countersign_record::chain::Head;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::id::RunId;
use countersign_record::json::Json;
use countersign_record::row::{DataClass, Row, RowRef};
use countersign_record::run_kind;
use countersign_record::sign::PublicKey;
use countersign_runtime::ports::ledger::{self, Journal, Ledger};
use countersign_runtime::run::{self, Setup};
use countersign_verify::dsse::{Envelope, Signed, signed_bytes};
use countersign_verify::packet::{Blob, Content, Entry, Parts, Statement};
use countersign_verify::page::{Besides, html};
use countersign_verify::summary::Summary;
use countersign_verify::{Lacking, lacking};
use countersign_work::task;
use files::{Folder, Now, edited};
use leave::Leaving;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Who may read a packet's file.
const MODE: u32 = 0o600;

pub(super) async fn run(global: &Global, command: &Packet) -> Result<Exit, Failure> {
    match command {
        Packet::Show { packet } => show::run(global, packet).await,
        Packet::Export { run, out, html, withhold, privileged, yes } => {
            let may_leave = if *privileged { DataClass::Privileged } else { DataClass::Internal };
            let kept = withhold
                .iter()
                .map(|text| super::ledger::read_digest(text))
                .collect::<Result<Vec<_>, _>>()?;
            let files = Files { out: out.as_deref(), html: html.as_deref(), is_confirmed: *yes };
            let keep = Keep { may_leave, kept: &kept };
            export(global, &RunId::try_from(run.as_str())?, &files, &keep).await
        }
    }
}

/// What is written: the signed file, the page for people, or both.
struct Files<'a> {
    out: Option<&'a Path>,
    html: Option<&'a Path>,
    /// Whether whoever exports it says that it may leave.
    is_confirmed: bool,
}

/// What is kept here.
pub(super) struct Keep<'a> {
    /// The most secret class whose texts leave.
    pub(super) may_leave: DataClass,
    /// Texts that stay, whatever their class.
    pub(super) kept: &'a [Digest],
}

async fn export(global: &Global, run: &RunId, files: &Files<'_>, keep: &Keep<'_>) -> Result<Exit, Failure> {
    let told = run::told(&looking(Place::open(global)?)?, run).await?;
    let folder = Folder::of(global, run, &told.setup)?;
    let place = Place::open(global)?;
    let statement = statement(&place, run, told.setup, keep).await?;
    all_named(global, run, &statement, keep.kept)?;
    if let Some(lacking) = lacking(&statement) {
        let (digest, what) = match lacking {
            Lacking::Change(digest) => (digest, "what a person changed in the task"),
            Lacking::Beginning(digest) => (digest, "what the run began with"),
        };
        let message = format!(
            "{digest} is {what}: kept here, nothing that follows from it could be verified; \
             leave it out of --withhold, or let privileged texts leave with --privileged"
        );
        return Err(Failure::new(Code::FieldInvalid, message));
    }
    let summary = Summary::of(&statement);
    let leaving = Leaving::new(run, &statement, files.is_confirmed);
    for path in [files.out, files.html].into_iter().flatten() {
        leaving.may(global, path).await?;
    }
    Sheet::new().print(&show::about(&edited(folder.as_ref(), &summary)))?;
    warn(global, run, &summary, &Now::of(folder.as_ref(), &summary))?;
    let written = |error| Failure::new(Code::OutputFailed, format!("{error}"));
    let payload = statement.to_bytes().map_err(written)?;
    let message = signed_bytes(&payload);
    let (key, signature) = place.keys.endorse(place.access.principal(), &message, place::entropy()?)?;
    let envelope = Envelope { payload, signatures: vec![Signed { key, signature }] };
    let bytes = envelope.to_bytes().map_err(written)?;
    // Each file leaves by itself, so that what became of it is on record whatever becomes of the other.
    let mut receipts = Vec::new();
    if let Some(out) = files.out {
        receipts.push(leaving.out(global, out, || write(out, &bytes)).await?);
    }
    if let Some(html) = files.html {
        let page = page(&summary, &envelope, &bytes, files.out.is_none());
        receipts.push(leaving.out(global, html, || write(html, page.as_bytes())).await?);
    }
    let withheld = statement.blobs.iter().filter(|blob| matches!(blob.content, Content::Withheld(_))).count();
    let file = |one: &Path| one.display().to_string();
    let say = |name: &str, text: String| Line::new(FAINT, format!("{name:<10}")).and(PLAIN, text);
    let status = statement.status.replace('_', " ");
    let mut lines = vec![match &summary.fallen {
        None => say("packet", format!("{} ({status})", statement.packet_id)),
        Some(why) => say("packet", format!("{} ", statement.packet_id))
            .and(BAD, format!("(it no longer holds: {why}; it was: {status})")),
    }];
    lines.extend(files.out.map(|out| say("file", file(out)).whole()));
    lines.extend(files.html.map(|html| say("page", file(html)).whole()));
    lines.push(say("signed", format!("with {key}")).whole());
    lines.push(match withheld {
        0 => say("withheld", "nothing".to_owned()),
        many => say("withheld", String::new()).and(CARE, output::count(many as u64, "text")),
    });
    lines.extend(receipts.into_iter().map(|receipt| say("receipt", receipt).whole()));
    lines.extend(
        files
            .out
            .map(|out| say("next", format!("countersign verify {}", output::quoted(&file(out)))).whole()),
    );
    Sheet::new().print(&lines)?;
    Ok(Exit::Success)
}

/// What is to be kept here is in the packet: a digest that is not would keep nothing back, and nobody would notice.
fn all_named(global: &Global, run: &RunId, statement: &Statement, kept: &[Digest]) -> Result<(), Failure> {
    let is_there = |digest: &&Digest| statement.blobs.iter().any(|blob| blob.digest == **digest);
    let Some(unknown) = kept.iter().find(|digest| !is_there(digest)) else { return Ok(()) };
    let first = global.typed(&format!("packet show {run} --json"));
    let message = format!("--withhold {unknown}: no text of the packet has this digest; {first} lists them");
    Err(Failure::new(Code::FieldInvalid, message))
}

/// Says before anything is signed what a reader of the packet should not have to find out.
fn warn(global: &Global, run: &RunId, summary: &Summary, now: &Now) -> Result<(), Failure> {
    let (words, id) = match (&summary.fallen, now) {
        (Some(why), _) => (format!("The packet no longer holds: {why}."), "reliance.renew_packet"),
        (None, Now::Others(files)) => {
            let files = output::plain(&files.join(", "));
            (format!("Sources have changed since the packet was made ({files})."), "source.recheck")
        }
        (None, Now::Same | Now::Unseen) => return Ok(()),
    };
    let first = global.typed(&format!("command run {id} --run {run}"));
    let line = Line::new(BAD.bold(), format!("! {words}")).and(PLAIN, " It is signed as it is.");
    Sheet::new().print(&[line.hanging(2), Line::named("first", first).whole()])
}

/// The page of a packet; where the signed file is not written, the page carries it.
fn page(summary: &Summary, envelope: &Envelope, bytes: &[u8], is_whole: bool) -> String {
    let signers: Vec<PublicKey> = envelope.signatures.iter().map(|one| one.key).collect();
    let besides = Besides {
        signers: &signers,
        file_sha256: &String::from(Digest::of(bytes)),
        envelope: std::str::from_utf8(bytes).ok().filter(|_| is_whole),
    };
    html(summary, &besides)
}

fn write(out: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_new(out, MODE, bytes).map_err(|error| Failure::file(&out.to_string_lossy(), &error))
}

/// The statement of a run's last packet.
async fn statement(place: &Place, run: &RunId, setup: Setup, keep: &Keep<'_>) -> Result<Statement, Failure> {
    let mut parts = parts(place, run, setup, keep).await?;
    if let Some(head) = parts.rows.last().map(Entry::head) {
        parts.anchor = Some(place.keys.anchor(place.matter(), head, &parts.made_at, place::entropy()?)?);
    }
    Statement::of(parts).map_err(|error| Failure::new(Code::PacketMissing, error.to_string()))
}

/// What is known of a run of a task, whether or not it has a packet.
pub(super) async fn parts(
    place: &Place,
    run: &RunId,
    setup: Setup,
    keep: &Keep<'_>,
) -> Result<Parts, Failure> {
    let refused = |message: String| Failure::new(Code::PacketMissing, message);
    let Some(task) = setup.task else {
        return Err(refused(format!("{run} is no run of a task, so it has no reliance packet")));
    };
    let rows = entries(place, run).await?;
    let whole_class = class_of(&task);
    // What a pipeline of the folder says the run was begun with, and that goes along: so does its file.
    let own = task.get("work").and_then(|work| work.get("pipeline")?.as_str()).unwrap_or_default();
    let is_file = |digest: &Digest| setup.files.iter().any(|(path, one)| one == digest && path != own);
    let mut blobs: BTreeMap<Digest, Blob> = BTreeMap::new();
    for row in rows.iter().filter_map(whole) {
        for named in &row.blobs {
            let is_kept = keep.kept.contains(&named.digest);
            let class = match (is_file(&named.digest), row.kind.as_str()) {
                (true, _) => row.data_class.max(whole_class),
                // They say what the task says, which goes along in any case, also where the run goes on from a secret one.
                (false, run_kind::BEGAN) => DataClass::Internal,
                (false, _) => row.data_class,
            };
            let content = match (is_kept, class > keep.may_leave) {
                (true, _) => Content::Withheld("the exporter withheld it".to_owned()),
                (false, true) => Content::Withheld(format!("it is {}", class.as_str())),
                (false, false) => match place.ledger.blob(&place.access, named.digest).await? {
                    ledger::Blob::Present(bytes) => Content::Present(bytes),
                    ledger::Blob::Erased { .. } => Content::Withheld("it was erased".to_owned()),
                },
            };
            let blob = Blob { digest: named.digest, size: named.size, content };
            // What one row lets out another may keep in; the stricter one counts.
            match blobs.get(&named.digest) {
                Some(Blob { content: Content::Withheld(_), .. }) => {}
                Some(_) | None => drop(blobs.insert(named.digest, blob)),
            }
        }
    }
    Ok(Parts {
        matter: place.matter().clone(),
        run: run.clone(),
        made_at: place.now()?,
        made_by: place.access.principal().clone(),
        made_with: format!("countersign {}", env!("CARGO_PKG_VERSION")),
        task,
        files: setup.files,
        rows,
        anchor: None,
        blobs: blobs.into_values().collect(),
    })
}

/// How secret a file of a task's folder is: it may hold what any of the sources does.
fn class_of(task: &Json) -> DataClass {
    let sources = task::read_whole(task).map(|task| task.sources).unwrap_or_default();
    let classes = sources.iter().map(|one| DataClass::try_from(one.class().as_str()));
    classes.map(|class| class.unwrap_or(DataClass::LocalOnly)).max().unwrap_or(DataClass::Public)
}

fn whole(entry: &Entry) -> Option<&Row> {
    match entry {
        Entry::Whole(row) => Some(row),
        Entry::Withheld(_) => None,
    }
}

/// What a walk over the ledger finds: the rows from the first of a run on.
#[derive(Default)]
struct Walk {
    entries: Vec<Entry>,
    /// How many of them there are up to the run's last.
    last: usize,
    failed: Option<ledger::Error>,
}

/// The rows of the ledger from the first of a run to its last: its own whole, others by their hash.
async fn entries(place: &Place, run: &RunId) -> Result<Vec<Entry>, Failure> {
    let streams = [format!("run/{run}"), format!("work/{run}")];
    let walk = Arc::new(Mutex::new(Walk::default()));
    let seen = Arc::clone(&walk);
    let visitor = move |seq: u64, stored: Result<RowRef<'_>, String>| {
        let mut walk = seen.lock().unwrap_or_else(PoisonError::into_inner);
        let row = stored.map_err(|why| ledger::Error::RowCorrupt { seq, why });
        match row.and_then(|row| entry(&row, &streams)) {
            Ok((entry, is_own)) => {
                if is_own || !walk.entries.is_empty() {
                    walk.entries.push(entry);
                }
                if is_own {
                    walk.last = walk.entries.len();
                }
                ControlFlow::Continue(())
            }
            Err(error) => {
                walk.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    };
    place.ledger.scan(&place.access, 0, Box::new(visitor)).await?;
    let mut walk = walk.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = walk.failed.take() {
        return Err(error.into());
    }
    let last = walk.last;
    let mut entries = std::mem::take(&mut walk.entries);
    entries.truncate(last);
    Ok(entries)
}

fn entry(row: &RowRef<'_>, streams: &[String; 2]) -> Result<(Entry, bool), ledger::Error> {
    if !streams.iter().any(|stream| stream == row.stream) {
        return Ok((Entry::Withheld(Head { seq: row.seq, hash: row.hash }), false));
    }
    let corrupt = |why: countersign_record::row::Unreadable| ledger::Error::RowCorrupt {
        seq: row.seq,
        why: why.to_string(),
    };
    Ok((Entry::Whole(Box::new(row.to_row().map_err(corrupt)?)), true))
}
