//! The tool `http.get`.
//! Owns: its definition, its settings, the order of permission, cache and network. Must not: decide what is granted.

use crate::cache::{Cache, Glance, Trouble};
use crate::fetch::{Fetched, Fetcher};
use crate::network::{Machine, Network};
use crate::page::{From, Page};
use crate::target::{Target, URL_CHARS_MAX};
use crate::tls;
use countersign_kernel::gate::Permitted;
use countersign_record::code::Code;
use countersign_record::id::{NotAnId, ToolName};
use countersign_record::json::{Json, Number, Object};
use countersign_record::label::Label;
use countersign_record::time::Instant;
use countersign_record::tool::{Definition, Effect, Needs};
use countersign_runtime::clock::Clock;
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::tool::{Done, NotDone, Plan, Reads, Tool};
use rustls::pki_types::CertificateDer;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const NAME: &str = "http.get";
const DESCRIPTION: &str = "Fetches a web page or file by GET and gives its text; of HTML the text without scripts and \
     styles. Redirects are followed within the same host and port. One that leads elsewhere is not: the result then has no \
     text but its location, which a call of its own can fetch. A page that was fetched within the last while comes from \
     the cache, unless use_cache is false.";

/// How long a call waits for the cache, each of the two times.
const CACHE_WAIT_MAX: Duration = Duration::from_secs(1);

/// The settings of [`HttpGet`].
#[derive(Clone, Debug)]
pub struct Config {
    /// How long a page may take, with every redirect, name and byte of it. Keeping it takes a second more at most.
    pub deadline: Duration,
    /// How much of a body is taken.
    pub body_bytes_max: usize,
    /// The file of the cache (`<data>/matters/<matter>/http-cache.sqlite`), which need not be there; `None` for none. It
    /// must be where no tool can write.
    pub cache: Option<PathBuf>,
    /// How long a page is kept.
    pub ttl: Duration,
    /// How many bytes of pages are kept.
    pub cache_bytes_max: u64,
    /// Root certificates beside Mozilla's, which are built in.
    pub roots: Vec<CertificateDer<'static>>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            deadline: Duration::from_secs(10),
            body_bytes_max: 1024 * 1024,
            cache: None,
            ttl: Duration::from_secs(3_600),
            cache_bytes_max: 64 * 1024 * 1024,
            roots: Vec::new(),
        }
    }
}

/// Why the tool can't be set up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSetUp {
    /// A root certificate that was added is none.
    #[error("root certificate {at} can't be used: {why}")]
    Root {
        /// Which, from 1.
        at: usize,
        /// Why.
        why: String,
    },
    /// The tool's name is none.
    #[error(transparent)]
    Name(#[from] NotAnId),
    /// The library offers no protocol.
    #[error("TLS can't be set up: {why}")]
    Tls {
        /// Why.
        why: String,
    },
}

impl NotSetUp {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            NotSetUp::Root { .. } | NotSetUp::Tls { .. } => Code::ToolFailed,
            NotSetUp::Name(error) => error.code(),
        }
    }
}

/// The tool `http.get {url, use_cache = true}`. It needs a Tokio runtime with time and I/O.
pub struct HttpGet {
    definition: Definition,
    fetcher: Fetcher,
    cache: Option<Arc<Cache>>,
    clock: Arc<Clock>,
    deadline: Duration,
}

impl HttpGet {
    /// The tool, on the machine's own network.
    ///
    /// # Errors
    /// A root certificate of the settings is none.
    pub fn new(config: Config, clock: Arc<Clock>) -> Result<Self, NotSetUp> {
        HttpGet::on(Arc::new(Machine), config, clock)
    }

    /// The tool, on another network.
    ///
    /// # Errors
    /// A root certificate of the settings is none.
    pub fn on(network: Arc<dyn Network>, config: Config, clock: Arc<Clock>) -> Result<Self, NotSetUp> {
        let tls = tls::connector(&config.roots)?;
        let cache = config.cache.as_deref().map(|path| Cache::at(path, config.ttl, config.cache_bytes_max));
        Ok(HttpGet {
            definition: definition()?,
            fetcher: Fetcher { network, tls, body_bytes_max: config.body_bytes_max },
            cache: cache.map(Arc::new),
            clock,
            deadline: config.deadline,
        })
    }

    async fn get(&self, call: &Permitted) -> Result<Got, NotDone> {
        let target = target_of(call.args())?;
        // Before anything is looked at: what is kept is for those who may reach it.
        let grant = call
            .reach()
            .to(target.place())
            .map_err(|capability| NotDone::new(Code::ToolDenied, format!("{capability} is not granted")))?;
        let now = self.clock.now().map_err(|error| NotDone::new(Code::ToolFailed, error.to_string()))?;
        let now = now.instant();
        let mut trouble = None;
        if let Some(cache) = self.cache_for(call) {
            match look(cache, target.as_str(), now).await {
                Ok(Some(page)) if page.address.is_open_to(grant) => return Ok(Got::Kept(page)),
                Ok(_) => {}
                Err(found) => trouble = Some(found),
            }
        }
        let fetched = self.fetcher.fetch(target, grant, now).await;
        let fetched = fetched.map_err(|error| NotDone::new(error.code(), error.to_string()))?;
        Ok(Got::Fetched(fetched, trouble))
    }

    /// Keeps what may be kept, and says what is told.
    async fn tell(&self, call: &Permitted, got: Got) -> Done {
        match got {
            Got::Kept(page) => done(page.output(From::Cache), None),
            Got::Fetched(Fetched::Elsewhere(elsewhere), trouble) => {
                done(elsewhere.output(), trouble.as_ref())
            }
            Got::Fetched(Fetched::Page { page, may_be_kept }, mut trouble) => {
                if let Some(cache) = self.cache_for(call)
                    && may_be_kept
                    && trouble.as_ref().is_none_or(Trouble::lets_keep)
                {
                    let kept = keep(cache, page.clone()).await;
                    trouble = trouble.or(kept.err());
                }
                done(page.output(From::Network), trouble.as_ref())
            }
        }
    }

    fn cache_for(&self, call: &Permitted) -> Option<&Arc<Cache>> {
        self.cache.as_ref().filter(|_| uses_cache(call.args()))
    }
}

/// Where a page was found, or what came of asking, with what was wrong with the cache.
enum Got {
    Kept(Page),
    Fetched(Fetched, Option<Trouble>),
}

impl Tool for HttpGet {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn plan(&self, args: &Object) -> Result<Plan, NotDone> {
        let target = target_of(args)?;
        Ok(Plan {
            // The whole address, also where it holds a secret: whoever approves must see what is sent.
            summary: format!("GET {}", target.as_str()),
            reads: Reads::Outside,
            writes: None,
            sends_to: Some(target.place().clone()),
        })
    }

    fn run<'a>(
        &'a self,
        call: Permitted,
        cancel: &'a CancellationToken,
    ) -> Answer<'a, Result<Done, NotDone>> {
        Box::pin(async move {
            let late = || format!("no whole answer within {} ms", self.deadline.as_millis());
            tokio::select! {
                biased;
                () = cancel.cancelled() => Err(NotDone::new(Code::ToolTimeout, "the call was cancelled")),
                got = tokio::time::timeout(self.deadline, self.get(&call)) => match got {
                    // Beyond the deadline, within a bound of its own: a page that is there is not lost because
                    // it could not be kept.
                    Ok(got) => Ok(self.tell(&call, got?).await),
                    Err(_) => Err(NotDone::new(Code::ToolTimeout, late())),
                },
            }
        })
    }
}

/// Most looks are done at once; others go where waiting holds up nobody.
async fn look(cache: &Arc<Cache>, url: &str, now: Instant) -> Result<Option<Page>, Trouble> {
    match cache.glance(url, now) {
        Glance::Seen(found) => found,
        Glance::Later => {
            let (at, url) = (Arc::clone(cache), url.to_owned());
            in_time(cache, move || at.look(&url, now)).await.unwrap_or(Ok(None))
        }
    }
}

async fn keep(cache: &Arc<Cache>, page: Page) -> Result<(), Trouble> {
    let at = Arc::clone(cache);
    in_time(cache, move || at.keep(&page)).await.unwrap_or(Ok(()))
}

/// Waits for files and other processes, but not for ever: others may wait for the same file before us.
async fn in_time<T: Send + 'static>(
    cache: &Cache,
    work: impl FnOnce() -> Result<T, Trouble> + Send + 'static,
) -> Option<Result<T, Trouble>> {
    match tokio::time::timeout(CACHE_WAIT_MAX, tokio::task::spawn_blocking(work)).await {
        Ok(worked) => worked.ok(),
        Err(_) => Some(Err(cache.slow())),
    }
}

fn done(mut output: Object, trouble: Option<&Trouble>) -> Done {
    if let Some(trouble) = trouble {
        let warning = Object::from([
            ("code", trouble.code().to_string().into()),
            ("message", trouble.to_string().into()),
        ]);
        output.insert("warning", warning);
    }
    Done { output: output.into(), kept: None, label: Label::OUTSIDE }
}

fn target_of(args: &Object) -> Result<Target, NotDone> {
    let url = args.get("url").and_then(Json::as_str);
    let url = url.ok_or_else(|| NotDone::new(Code::ToolArguments, "url must be a string"))?;
    Target::read(url).map_err(|error| NotDone::new(Code::WebUrl, error.to_string()))
}

fn uses_cache(args: &Object) -> bool {
    args.get("use_cache") != Some(&Json::Bool(false))
}

fn definition() -> Result<Definition, NotAnId> {
    let name = ToolName::try_from(NAME)?;
    let url = Object::from([
        ("type", "string".into()),
        ("minLength", Json::Number(Number::from(1))),
        ("maxLength", Json::Number(Number::from(u32::from(URL_CHARS_MAX)))),
        ("description", "An absolute http or https address, without user and password.".into()),
    ]);
    let use_cache = Object::from([
        ("type", "boolean".into()),
        ("default", true.into()),
        ("description", "Whether a page that was fetched a while ago will do.".into()),
    ]);
    let parameters = Object::from([
        ("$schema", "https://json-schema.org/draft/2020-12/schema".into()),
        ("type", "object".into()),
        ("properties", Object::from([("url", url.into()), ("use_cache", use_cache.into())]).into()),
        ("required", Json::Array(vec!["url".into()])),
        ("additionalProperties", false.into()),
    ]);
    Ok(Definition {
        name,
        description: DESCRIPTION.to_owned(),
        parameters: parameters.into(),
        effect: Effect::Idempotent,
        needs: Needs::Host,
    })
}
