//! From settings to a model.
//! Owns: what a model needs of this machine, and the refusal of what must not be opened. Must not: keep a key longer
//! than the model.

use crate::anthropic::Anthropic;
use crate::extractive::Extractive;
use crate::key::{self, Key};
use crate::openai::OpenAi;
use crate::recorded::{self, Recorded, Tape};
use crate::remote::protocol::Protocol;
use crate::remote::{NoClient, OwnPace, Pace, Parts, Remote};
use crate::scripted::{self, Scripted};
use crate::settings::{RemoteSettings, Settings, Wire};
use countersign_record::code::Code;
use countersign_runtime::ports::model::{About, Model, Site};
use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;

/// Gives an environment variable.
pub type Variables = Box<dyn Fn(&str) -> Option<OsString> + Send + Sync>;

/// What a model needs of this machine.
pub struct Means {
    /// Gives an environment variable.
    pub variable: Variables,
    /// Waits between attempts.
    pub pace: Arc<dyn Pace>,
}

impl Default for Means {
    fn default() -> Self {
        Means { variable: Box::new(|name| std::env::var_os(name)), pace: Arc::new(OwnPace) }
    }
}

impl fmt::Debug for Means {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Means").finish_non_exhaustive()
    }
}

/// Why a model can't be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no key.
    #[error(transparent)]
    Key(#[from] key::Error),
    /// The key would be readable on the way.
    #[error("the key would go to {host} over plain HTTP, where anybody on the way can read it")]
    TellsKey {
        /// Where.
        host: String,
    },
    /// The address leads nowhere.
    #[error("{address} is no address that a model can have")]
    Address {
        /// The address.
        address: String,
    },
    /// There is no HTTP client.
    #[error(transparent)]
    Client(#[from] NoClient),
    /// A model of weights is opened elsewhere.
    #[error("a local model is not opened here")]
    Local,
    /// A script can't be used.
    #[error(transparent)]
    Script(#[from] scripted::Error),
    /// Recorded replies can't be used.
    #[error(transparent)]
    Tape(#[from] recorded::Error),
}

impl Error {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Error::Key(error) => error.code(),
            Error::TellsKey { .. }
            | Error::Address { .. }
            | Error::Client(_)
            | Error::Local
            | Error::Script(_)
            | Error::Tape(_) => Code::ModelConfig,
        }
    }
}

/// A model that can be asked.
pub struct Opened {
    /// The model.
    pub model: Box<dyn Model>,
    secrets: Vec<Key>,
}

impl Opened {
    /// A model that has no secrets.
    #[must_use]
    pub fn of(model: Box<dyn Model>) -> Self {
        Opened { model, secrets: Vec::new() }
    }

    /// What must not be in any text that is kept.
    #[must_use]
    pub fn secrets(&self) -> &[Key] {
        &self.secrets
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").field("about", self.model.about()).finish_non_exhaustive()
    }
}

/// Opens a model; its key is read now.
///
/// # Errors
/// It can't be opened, or it is a local one.
pub fn open(settings: &Settings, means: &Means) -> Result<Opened, Error> {
    match settings {
        Settings::Extractive => Ok(Opened::of(Box::new(Extractive::new()))),
        Settings::Remote(settings) => remote(settings, means),
        Settings::Local { .. } => Err(Error::Local),
        Settings::Scripted { file } => Ok(Opened::of(Box::new(Scripted::read(file)?))),
        Settings::Recorded { file } => Ok(Opened::of(Box::new(Recorded::new(Tape::read(file)?)))),
    }
}

fn remote(settings: &RemoteSettings, means: &Means) -> Result<Opened, Error> {
    let address = || Error::Address { address: settings.base_url.as_str().to_owned() };
    let host = settings.base_url.place().ok_or_else(address)?.to_string();
    if settings.tells_key() {
        return Err(Error::TellsKey { host });
    }
    let key = settings.key.as_ref().map(|place| place.read(&*means.variable)).transpose()?;
    let protocol: Box<dyn Protocol> = match settings.wire {
        Wire::OpenAi => Box::new(OpenAi::new(&settings.model, settings.tool_role, settings.temperature)),
        Wire::Anthropic => Box::new(Anthropic::new(&settings.model, settings.temperature)),
    };
    let model = Remote::new(Parts {
        about: About {
            provider: settings.wire.as_str().to_owned(),
            model: settings.model.clone(),
            site: Site::Remote(host),
        },
        url: settings.base_url.of_requests(settings.wire).map_err(|_| address())?,
        key: key.clone(),
        protocol,
        timeouts: settings.timeouts,
        prices: settings.prices,
        max_tokens: settings.max_tokens,
        pace: Arc::clone(&means.pace),
    })?;
    Ok(Opened { model: Box::new(model), secrets: key.into_iter().collect() })
}
