//! A server whose pages are kept in a file, for the suites that attack what is kept.
//! Owns: both, and what a call told of them. Must not: look into the file.

use super::{Names, Say, Server, clock, get, page, reach, told};
use countersign_kernel::gate::Reach;
use countersign_record::json::Json;
use countersign_runtime::ports::tool::Done;
use countersign_testkit::scratch::Scratch;
use countersign_web::{Config, HttpGet, Network};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A server, a network that knows it as `a.example`, and the file of a cache.
pub(crate) struct Kept {
    pub(crate) scratch: Scratch,
    pub(crate) server: Server,
    pub(crate) names: Arc<Names>,
    pub(crate) url: String,
    pub(crate) granted: String,
}

impl Kept {
    pub(crate) async fn new(answer: impl Fn(&str) -> Vec<Say> + Send + Sync + 'static) -> Self {
        let server = Server::start(answer).await;
        let names = Names::new();
        names.set("a.example", &[&["127.0.0.1"]]);
        let (url, granted) =
            (format!("http://a.example:{}/", server.port()), format!("net:a.example:{}", server.port()));
        Kept { scratch: Scratch::new(), server, names, url, granted }
    }

    pub(crate) async fn page() -> Self {
        Kept::new(|_| page("hello")).await
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.scratch.path().join("matters/default/http-cache.sqlite")
    }

    pub(crate) fn config(&self) -> Config {
        Config { cache: Some(self.path()), deadline: Duration::from_secs(60), ..Config::default() }
    }

    pub(crate) fn tool_at(&self, time: &str) -> HttpGet {
        self.tool_with(self.config(), time)
    }

    pub(crate) fn tool_with(&self, config: Config, time: &str) -> HttpGet {
        let network: Arc<dyn Network> = Arc::<Names>::clone(&self.names);
        HttpGet::on(network, config, clock(time)).unwrap()
    }

    pub(crate) fn tool(&self) -> HttpGet {
        self.tool_at("12:00:00")
    }

    pub(crate) fn reach(&self) -> Reach {
        reach(&[&self.granted])
    }

    pub(crate) async fn get(&self, tool: &HttpGet) -> Done {
        get(tool, &self.url, self.reach()).await.unwrap()
    }

    /// Fetches and finds it kept, so that there is a file.
    pub(crate) async fn filled(&self) {
        let tool = self.tool();
        assert_eq!(seen(&self.get(&tool).await), ("hello".into(), "false".into(), None));
        assert_eq!(seen(&self.get(&tool).await), ("hello".into(), "true".into(), None));
    }
}

/// The text, whether it came from the cache, and the warning's code.
pub(crate) fn seen(done: &Done) -> (String, String, Option<String>) {
    let warning = done.output.get("warning").and_then(|warning| warning.get("code")).and_then(Json::as_str);
    (told(done, "text"), told(done, "cached"), warning.map(str::to_owned))
}

pub(crate) fn fresh() -> (String, String, Option<String>) {
    ("hello".into(), "false".into(), None)
}

pub(crate) fn warned() -> (String, String, Option<String>) {
    ("hello".into(), "false".into(), Some("web.cache".into()))
}

pub(crate) fn cached() -> (String, String, Option<String>) {
    ("hello".into(), "true".into(), None)
}
