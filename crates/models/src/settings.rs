//! How a model is set up.
//! Owns: the document, its one checked door, what it may not say. Must not: hold a key.

use crate::key::KeyPlace;
pub use crate::openai::Temperature;
pub use crate::turns::ToolRole;

use crate::prices::Prices;
use crate::remote::Timeouts;
use countersign_kernel::gate::Place;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::fields::{Fields, Trouble};
use countersign_record::json::{Json, Number, Object};
use std::path::PathBuf;
use std::time::Duration;
use url::{Host, Url};

/// The form of the document.
const VERSION: u64 = 1;
/// The most tokens of an answer, if nothing is said.
pub const MAX_TOKENS: u32 = 4_096;
const TOKENS_MAX: u64 = 1_000_000;
/// A day: longer than anybody waits.
const TIMEOUT_MS_MAX: u64 = 86_400_000;
/// A thousand dollars for a token.
const PRICE_MAX: u64 = 1_000_000_000_000_000;
const MODEL_CHARS_MAX: usize = 256;
const URL_BYTES_MAX: usize = 2_048;
const PATH_BYTES_MAX: usize = 4_096;
const VARIABLE_BYTES_MAX: usize = 128;

/// How a model is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settings {
    /// The embedded one, which needs nothing.
    Extractive,
    /// One behind an address.
    Remote(Box<RemoteSettings>),
    /// One whose weights are a file here (another crate opens it).
    Local {
        /// The GGUF file.
        file: PathBuf,
        /// Its hash.
        sha256: Digest,
    },
    /// Replies from a file, in order.
    Scripted {
        /// JSON lines.
        file: PathBuf,
    },
    /// Replies that were recorded, by the hash of their request.
    Recorded {
        /// JSON lines.
        file: PathBuf,
    },
}

/// The protocol of a remote model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// OpenAI's chat completions.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
}

impl Wire {
    /// The name of the provider.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Wire::OpenAi => "openai",
            Wire::Anthropic => "anthropic",
        }
    }
}

/// What may go over a connection that anybody on the way can read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlainHttp {
    /// No key, unless the server is this machine.
    #[default]
    WithoutKey,
    /// Everything.
    Allowed,
}

/// How a remote model is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteSettings {
    /// Its protocol.
    pub wire: Wire,
    /// Where it is.
    pub base_url: BaseUrl,
    /// Its name there.
    pub model: String,
    /// Where its key is, if it needs one.
    pub key: Option<KeyPlace>,
    /// What may go over plain HTTP.
    pub plain_http: PlainHttp,
    /// As whom a tool's result is said.
    pub tool_role: ToolRole,
    /// Whether the server is told how much chance should be in an answer.
    pub temperature: Temperature,
    /// The most tokens of an answer.
    pub max_tokens: u32,
    /// What it costs.
    pub prices: Option<Prices>,
    /// How long it may take.
    pub timeouts: Timeouts,
}

/// The address that everything of a server begins with. Invariant: http or https, with a host, without user, password,
/// query and fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl(Url);

/// A text that is no such address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an address such as https://example.org/v1 is needed, without user, password, query and fragment")]
pub struct NotABaseUrl;

impl TryFrom<&str> for BaseUrl {
    type Error = NotABaseUrl;

    fn try_from(text: &str) -> Result<Self, NotABaseUrl> {
        if text.len() > URL_BYTES_MAX {
            return Err(NotABaseUrl);
        }
        let url = Url::parse(text.trim_end_matches('/')).map_err(|_| NotABaseUrl)?;
        let is_plain = matches!(url.scheme(), "http" | "https")
            && url.host().is_some()
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none();
        if is_plain { Ok(BaseUrl(url)) } else { Err(NotABaseUrl) }
    }
}

impl BaseUrl {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str().trim_end_matches('/')
    }

    /// The host, and the port if it is not the usual one: what must be granted before anything is sent.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        Some(Place::new(self.0.host()?.to_owned(), self.0.port()))
    }

    /// Whether what is sent can be read by nobody on the way: over TLS, or on this machine.
    #[must_use]
    pub fn is_private(&self) -> bool {
        let is_here = match self.0.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        is_here || self.0.scheme() == "https"
    }

    /// Where requests go.
    pub(crate) fn of_requests(&self, wire: Wire) -> Result<Url, NotABaseUrl> {
        let base = self.as_str();
        let text = match wire {
            Wire::OpenAi => format!("{base}/chat/completions"),
            Wire::Anthropic if base.ends_with("/v1") => format!("{base}/messages"),
            Wire::Anthropic => format!("{base}/v1/messages"),
        };
        Url::parse(&text).map_err(|_| NotABaseUrl)
    }
}

impl RemoteSettings {
    /// Whether a key would go over a connection that others can read.
    #[must_use]
    pub fn tells_key(&self) -> bool {
        self.key.is_some() && self.plain_http == PlainHttp::WithoutKey && !self.base_url.is_private()
    }
}

impl Settings {
    /// The name of the provider.
    #[must_use]
    pub fn provider(&self) -> &'static str {
        match self {
            Settings::Extractive => "extractive",
            Settings::Remote(remote) => remote.wire.as_str(),
            Settings::Local { .. } => "local",
            Settings::Scripted { .. } => "scripted",
            Settings::Recorded { .. } => "recorded",
        }
    }

    /// Reads the document, naming everything that is wrong with it.
    ///
    /// # Errors
    /// It can't be used.
    pub fn read(value: &Json) -> Result<Self, Vec<Trouble>> {
        let mut fields = Fields::of(value).map_err(|trouble| vec![trouble])?;
        if fields.absent_or("version", Fields::integer).is_some_and(|version| version != VERSION) {
            fields.trouble("version", Code::FieldInvalid, "only version 1 is known");
        }
        let settings = match fields.text("provider").as_deref() {
            Some("extractive") => Some(Settings::Extractive),
            Some("openai") => remote(&mut fields, Wire::OpenAi),
            Some("anthropic") => remote(&mut fields, Wire::Anthropic),
            Some("local") => {
                let (file, sha256) =
                    (path(&mut fields, "file"), fields.parse("sha256", |text| Digest::try_from(text)));
                file.zip(sha256).map(|(file, sha256)| Settings::Local { file, sha256 })
            }
            Some("scripted") => path(&mut fields, "file").map(|file| Settings::Scripted { file }),
            Some("recorded") => path(&mut fields, "file").map(|file| Settings::Recorded { file }),
            Some(_) => {
                let known = "extractive, openai, anthropic, local, scripted or recorded is needed";
                fields.trouble("provider", Code::FieldInvalid, known);
                None
            }
            None => None,
        };
        fields.deny_unknown();
        fields.finish()?;
        settings.ok_or_else(Vec::new)
    }

    /// The document.
    #[must_use]
    pub fn document(&self) -> Object {
        let mut object = Object::from([("version", number(VERSION)), ("provider", self.provider().into())]);
        match self {
            Settings::Extractive => {}
            Settings::Remote(settings) => write_remote(&mut object, settings),
            Settings::Local { file, sha256 } => {
                object.insert("file", file.to_string_lossy().into_owned());
                object.insert("sha256", sha256.to_string());
            }
            Settings::Scripted { file } | Settings::Recorded { file } => {
                object.insert("file", file.to_string_lossy().into_owned());
            }
        }
        object
    }
}

fn number(value: u64) -> Json {
    Number::try_from(value).map_or(Json::Null, Json::Number)
}

/// A path means the same wherever we are started.
fn path(fields: &mut Fields<'_>, name: &'static str) -> Option<PathBuf> {
    let text = fields.filled(name)?;
    let path = PathBuf::from(&text);
    if !path.is_absolute() || text.len() > PATH_BYTES_MAX || text.contains('\0') {
        fields.trouble(name, Code::FieldInvalid, "an absolute path is needed");
        return None;
    }
    Some(path)
}

fn remote(fields: &mut Fields<'_>, wire: Wire) -> Option<Settings> {
    let base_url = fields.parse("base_url", |text| BaseUrl::try_from(text));
    let model = fields.filled("model");
    if model
        .as_deref()
        .is_some_and(|name| name.chars().count() > MODEL_CHARS_MAX || name.chars().any(char::is_control))
    {
        fields.trouble("model", Code::FieldInvalid, "a name of at most 256 characters on one line is needed");
    }
    let key = key(fields);
    let plain_http = match fields.absent_or("allow_plain_http", Fields::boolean) {
        Some(true) => PlainHttp::Allowed,
        Some(false) | None => PlainHttp::WithoutKey,
    };
    let tool_role = fields.absent_or("tool_role", |fields, name| {
        fields.parse(name, |word| match word {
            "user" => Ok(ToolRole::User),
            "tool" => Ok(ToolRole::Tool),
            _ => Err("user or tool is needed"),
        })
    });
    let temperature = match fields.absent_or("omit_temperature", Fields::boolean) {
        Some(true) => Temperature::Omitted,
        Some(false) | None => Temperature::Sent,
    };
    let max_tokens = fields.absent_or("max_tokens", |fields, name| within(fields, name, 1, TOKENS_MAX));
    let prices = fields.absent_or("prices", |fields, name| fields.object(name, prices));
    let timeouts = fields.absent_or("timeouts", |fields, name| fields.object(name, timeouts));
    let settings = RemoteSettings {
        wire,
        base_url: base_url?,
        model: model?,
        key,
        plain_http,
        tool_role: tool_role.unwrap_or_default(),
        temperature,
        max_tokens: max_tokens.and_then(|tokens| u32::try_from(tokens).ok()).unwrap_or(MAX_TOKENS),
        prices,
        timeouts: timeouts.unwrap_or_default(),
    };
    if settings.tells_key() {
        let message = "the key would be readable on the way: https is needed, or allow_plain_http";
        fields.trouble("base_url", Code::FieldConflict, message);
    }
    Some(Settings::Remote(Box::new(settings)))
}

fn key(fields: &mut Fields<'_>) -> Option<KeyPlace> {
    let variable = fields.absent_or("key_env", |fields, name| {
        fields.parse(name, |text| match is_variable(text) {
            true => Ok(text.to_owned()),
            false => Err("the name of an environment variable is needed: letters, digits and '_'"),
        })
    });
    let file = fields.absent_or("key_file", path);
    match (variable, file) {
        (Some(_), Some(_)) => {
            fields.trouble("key_file", Code::FieldConflict, "the key is in a variable or in a file");
            None
        }
        (Some(name), None) => Some(KeyPlace::Variable(name)),
        (None, Some(path)) => Some(KeyPlace::File(path)),
        (None, None) => None,
    }
}

/// A key that is put where its variable's name belongs has other characters, or is refused when it is not set; it would
/// be written down otherwise.
fn is_variable(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    (1..=VARIABLE_BYTES_MAX).contains(&text.len())
        && text.bytes().all(is_letter)
        && !text.starts_with(|first: char| first.is_ascii_digit())
}

fn within(fields: &mut Fields<'_>, name: &'static str, least: u64, most: u64) -> Option<u64> {
    let value = fields.integer(name)?;
    if !(least..=most).contains(&value) {
        fields.trouble(name, Code::FieldInvalid, format!("an integer from {least} to {most} is needed"));
        return None;
    }
    Some(value)
}

fn prices(fields: &mut Fields<'_>) -> Option<Prices> {
    let input = within(fields, "input", 0, PRICE_MAX);
    let cached = fields.absent_or("cached", |fields, name| within(fields, name, 0, PRICE_MAX));
    let output = within(fields, "output", 0, PRICE_MAX);
    fields.deny_unknown();
    let input = input?;
    Some(Prices { input, cached: cached.unwrap_or(input), output: output? })
}

fn timeouts(fields: &mut Fields<'_>) -> Option<Timeouts> {
    let usual = Timeouts::default();
    let [connect, first, piece, total] = [
        ("connect_ms", usual.connect),
        ("first_ms", usual.first),
        ("piece_ms", usual.piece),
        ("total_ms", usual.total),
    ]
    .map(|(name, usual)| {
        let told = fields.absent_or(name, |fields, name| within(fields, name, 1, TIMEOUT_MS_MAX));
        told.map_or(usual, Duration::from_millis)
    });
    fields.deny_unknown();
    Some(Timeouts { connect, first, piece, total })
}

fn write_remote(object: &mut Object, settings: &RemoteSettings) {
    object.insert("base_url", settings.base_url.as_str());
    object.insert("model", settings.model.as_str());
    match &settings.key {
        Some(KeyPlace::Variable(name)) => object.insert("key_env", name.as_str()),
        Some(KeyPlace::File(path)) => object.insert("key_file", path.to_string_lossy().into_owned()),
        None => None,
    };
    if settings.plain_http == PlainHttp::Allowed {
        object.insert("allow_plain_http", true);
    }
    if settings.tool_role == ToolRole::Tool {
        object.insert("tool_role", "tool");
    }
    if settings.temperature == Temperature::Omitted {
        object.insert("omit_temperature", true);
    }
    object.insert("max_tokens", number(u64::from(settings.max_tokens)));
    if let Some(prices) = &settings.prices {
        let prices = [("input", prices.input), ("cached", prices.cached), ("output", prices.output)];
        object.insert(
            "prices",
            prices.into_iter().map(|(name, price)| (name, number(price))).collect::<Object>(),
        );
    }
    let millis = |time: Duration| number(u64::try_from(time.as_millis()).unwrap_or(TIMEOUT_MS_MAX));
    let times = &settings.timeouts;
    object.insert(
        "timeouts",
        Object::from([
            ("connect_ms", millis(times.connect)),
            ("first_ms", millis(times.first)),
            ("piece_ms", millis(times.piece)),
            ("total_ms", millis(times.total)),
        ]),
    );
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
