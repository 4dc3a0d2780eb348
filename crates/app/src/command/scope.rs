//! `countersign scope`: A0, the files that a prompt may use.
//! Owns: the envelope around A0's payload, the options as an input. Must not: decide which files are eligible.

use crate::cli::Global;
use crate::cli::scope::{Fallback, Scope};
use crate::failure::{Exit, Failure};
use crate::input;
use crate::output;
use crate::place;
use countersign_kernel::scope::{Candidates, Eligible, Failure as Code0, Input, Payload, Traced, select};
use countersign_record::code::Code;
use countersign_record::envelope::{Envelope, FileRef, Provenance, Source, VERSION, relative_path};
use countersign_record::fields::Trouble;
use countersign_record::id::MatterId;
use countersign_record::json::{Json, Number, Object};
use countersign_sources::folder::{self, Asked, Limits, Skipped};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Things that are listed which are no files, or can't be read; all are counted.
const SKIPPED_MAX: usize = 10_000;
/// Files with something wrong that are listed.
const TROUBLES_MAX: usize = 100;
/// The turn, where nobody says which.
const FIRST_TURN: u64 = 1;

pub(super) fn run(global: &Global, scope: &Scope) -> Result<Exit, Failure> {
    let (input, skipped) = match (&scope.file, &scope.dir) {
        (Some(file), _) => (Input::read(input::document(file)?).map_err(|all| invalid(&all))?, Vec::new()),
        (None, Some(dir)) => of_folder(global, scope, dir)?,
        (None, None) => return Err(Failure::new(Code::UsageInvalid, "FILE or --dir is needed")),
    };
    check(&input)?;
    let payload = select(&input);
    output::json(&handoff(global, &input, &payload, &skipped)?)?;
    Ok(match payload.code {
        None => Exit::Success,
        Some(Code0::EmptyEligibility) => Exit::Limited,
        Some(Code0::LockMiss) => Exit::Waiting,
    })
}

fn invalid(troubles: &[Trouble]) -> Failure {
    Failure::troubles(Code::FieldInvalid, "the input", troubles)
}

/// What an envelope could not name is refused before anything is decided.
fn check(input: &Input) -> Result<(), Failure> {
    let mut troubles = Vec::new();
    for (at, file) in input.manifest.iter().enumerate() {
        let path = |name: &str| format!("/manifest/{at}/{name}");
        if let Err(message) = relative_path(&file.path) {
            troubles.push(Trouble {
                code: Code::FieldInvalid,
                path: path("path"),
                message: message.to_owned(),
            });
        }
        if !file.mtime.is_exact() {
            let message = "the number has no canonical form".to_owned();
            troubles.push(Trouble { code: Code::NumberInexact, path: path("mtime"), message });
        }
        if troubles.len() >= TROUBLES_MAX {
            break;
        }
    }
    if troubles.is_empty() { Ok(()) } else { Err(invalid(&troubles)) }
}

/// The input that the options and a folder make.
fn of_folder(global: &Global, scope: &Scope, dir: &Path) -> Result<(Input, Vec<Skipped>), Failure> {
    // What is wrong with the options is told before a folder is read.
    let mut input = Input::read(Json::Object(options(scope)?)).map_err(|all| invalid(&all))?;
    let matter = MatterId::try_from(global.matter.as_str())?;
    let cache = global.data.join("matters").join(matter.as_str()).join("cache").join("folders");
    let cache = (!scope.no_cache).then_some(cache.as_path());
    let keep_out = [global.data.clone()];
    let asked = Asked { dir, limits: Limits::default(), keep_out: &keep_out, cache };
    let folder = folder::read(&asked).map_err(|error| Failure::new(error.code(), error.to_string()))?;
    input.manifest = folder.files.iter().map(folder::Found::to_file).collect();
    Ok((input, folder.skipped))
}

/// The options as A0's input has them, with an empty manifest.
fn options(scope: &Scope) -> Result<Object, Failure> {
    let texts = |texts: &[String]| Json::Array(texts.iter().map(|text| Json::String(text.clone())).collect());
    let mut object = Object::from([
        ("prompt", Json::from(scope.prompt.as_deref().unwrap_or_default())),
        ("manifest", Json::Array(Vec::new())),
        ("include", texts(&scope.include)),
        ("exclude", texts(&scope.exclude)),
        ("patterns", texts(&scope.pattern)),
    ]);
    let off: Object = scope.off.iter().map(|path| (path.as_str(), Json::from("OFF"))).collect();
    object.insert("toggles", off);
    if !scope.lock.is_empty() {
        let lock = Object::from([("enabled", Json::Bool(true)), ("files", texts(&scope.lock))]);
        object.insert("lock", lock);
    }
    let mut aliases: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for alias in &scope.alias {
        let Some((term, other)) = alias.split_once('=') else {
            return Err(Failure::new(
                Code::UsageInvalid,
                "--alias: two terms with = between them are needed",
            ));
        };
        aliases.entry(term.trim()).or_default().push(other.trim().to_owned());
    }
    let aliases: Object = aliases.iter().map(|(term, others)| (*term, texts(others))).collect();
    object.insert("aliases", aliases);
    if let Some(most) = scope.max_files {
        let most = Number::try_from(most)
            .map_err(|beyond| Failure::new(Code::UsageInvalid, format!("--max-files: {beyond}")))?;
        object.insert("max_files", Json::Number(most));
    }
    match scope.fallback {
        Some(Fallback::AllOn) => object.insert("fallback", "all_on"),
        Some(Fallback::None) | None => object.insert("fallback", "none"),
    };
    Ok(object)
}

/// A0's payload as A0 made it, and what of a folder was not looked at: a manifest may be longer than what an envelope that is
/// read may hold.
#[derive(Serialize)]
struct Told<'a> {
    eligible_files: &'a [Eligible],
    candidate_files_block: &'a Candidates,
    trace: &'a [Traced],
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<Code0>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    missing: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped: Vec<Unread<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped_count: Option<u64>,
}

#[derive(Serialize)]
struct Unread<'a> {
    path: &'a str,
    reason: [String; 2],
}

fn handoff<'a>(
    global: &Global,
    input: &Input,
    payload: &'a Payload,
    skipped: &'a [Skipped],
) -> Result<Envelope<Told<'a>>, Failure> {
    let clock = place::clock(global)?;
    let timestamp = clock.now().map_err(|error| Failure::new(Code::TimeInvalid, error.to_string()))?;
    let request_id = input.request_id.clone().unwrap_or_else(|| format!("r-{}", clock.fresh("scope")));
    let is_miss = payload.code == Some(Code0::LockMiss);
    let unread = skipped
        .iter()
        .take(SKIPPED_MAX)
        .map(|one| Unread { path: &one.path, reason: [one.why.word().to_owned(), one.why.detail()] });
    Ok(Envelope {
        agent: "A0_FileScopeSelector".to_owned(),
        goal: "select_eligible_files".to_owned(),
        timestamp,
        request_id,
        turn_id: input.turn_id.unwrap_or(FIRST_TURN),
        source: Source::Internal,
        version: VERSION.to_owned(),
        escalate: is_miss,
        reason: is_miss.then(|| "LOCK_MISS".to_owned()),
        provenance: provenance(input, payload),
        payload: Told {
            eligible_files: &payload.eligible_files,
            candidate_files_block: &payload.candidate_files_block,
            trace: &payload.trace,
            code: payload.code,
            missing: &payload.missing,
            skipped: unread.collect(),
            skipped_count: (!skipped.is_empty()).then_some(skipped.len() as u64),
        },
    })
}

/// The files that the next agent gets, those that a lock injects included.
fn provenance(input: &Input, payload: &Payload) -> Provenance {
    let eligibility: Vec<String> = payload.eligible_files.iter().map(|file| file.path.clone()).collect();
    let eligible = payload.eligible_files.iter().map(|file| FileRef {
        path: file.path.clone(),
        sha256: file.sha256,
        mtime: Some(file.mtime.clone()),
    });
    let injected: BTreeSet<&String> = payload.candidate_files_block.files.iter().collect();
    let off = input.manifest.iter().filter(|file| input.is_off(&file.path) && injected.contains(&file.path));
    let off = off.map(|file| FileRef {
        path: file.path.clone(),
        sha256: file.sha256,
        mtime: Some(file.mtime.clone()),
    });
    Provenance { files: eligible.chain(off).collect(), history_refs: Vec::new(), eligibility }
}
