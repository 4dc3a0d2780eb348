//! Attacks on what is kept: who is shown it, for how long, and what becomes of a file that others had their hands on.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod world;

use countersign_kernel::gate::Reach;
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};
use countersign_record::label::Label;
use countersign_runtime::ports::tool::Done;
use countersign_testkit::scratch::Scratch;
use countersign_web::{Config, HttpGet, Network};
use rusqlite::Connection;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use world::{Names, PUBLIC, Say, Server, clock, get, listed, moved, page, reach, run, say, told};

/// A server, a network that knows it as `a.example`, and the file of a cache.
struct Kept {
    scratch: Scratch,
    server: Server,
    names: Arc<Names>,
    url: String,
    granted: String,
}

impl Kept {
    async fn new(answer: impl Fn(&str) -> Vec<Say> + Send + Sync + 'static) -> Self {
        let server = Server::start(answer).await;
        let names = Names::new();
        names.set("a.example", &[&["127.0.0.1"]]);
        let (url, granted) =
            (format!("http://a.example:{}/", server.port()), format!("net:a.example:{}", server.port()));
        Kept { scratch: Scratch::new(), server, names, url, granted }
    }

    async fn page() -> Self {
        Kept::new(|_| page("hello")).await
    }

    fn path(&self) -> PathBuf {
        self.scratch.path().join("matters/default/http-cache.sqlite")
    }

    fn config(&self) -> Config {
        Config { cache: Some(self.path()), deadline: Duration::from_secs(60), ..Config::default() }
    }

    fn tool_at(&self, time: &str) -> HttpGet {
        self.tool_with(self.config(), time)
    }

    fn tool_with(&self, config: Config, time: &str) -> HttpGet {
        let network: Arc<dyn Network> = Arc::<Names>::clone(&self.names);
        HttpGet::on(network, config, clock(time)).unwrap()
    }

    fn tool(&self) -> HttpGet {
        self.tool_at("12:00:00")
    }

    fn reach(&self) -> Reach {
        reach(&[&self.granted])
    }

    async fn get(&self, tool: &HttpGet) -> Done {
        get(tool, &self.url, self.reach()).await.unwrap()
    }

    /// Fetches and finds it kept, so that there is a file.
    async fn filled(&self) {
        let tool = self.tool();
        assert_eq!(seen(&self.get(&tool).await), ("hello".into(), "false".into(), None));
        assert_eq!(seen(&self.get(&tool).await), ("hello".into(), "true".into(), None));
    }
}

/// The text, whether it came from the cache, and the warning's code.
fn seen(done: &Done) -> (String, String, Option<String>) {
    let warning = done.output.get("warning").and_then(|warning| warning.get("code")).and_then(Json::as_str);
    (told(done, "text"), told(done, "cached"), warning.map(str::to_owned))
}

fn fresh() -> (String, String, Option<String>) {
    ("hello".into(), "false".into(), None)
}

fn warned() -> (String, String, Option<String>) {
    ("hello".into(), "false".into(), Some("web.cache".into()))
}

fn cached() -> (String, String, Option<String>) {
    ("hello".into(), "true".into(), None)
}

#[tokio::test]
async fn a_page_is_kept_for_its_owner_alone() {
    let kept = Kept::page().await;
    kept.filled().await;
    assert_eq!(kept.server.connections(), 1);
    assert_eq!(fs::metadata(kept.path()).unwrap().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(kept.path().parent().unwrap()).unwrap().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn what_comes_from_the_cache_says_the_same_with_the_same_label() {
    let answer = "HTTP/1.1 203 x\r\nContent-Type: text/html; charset=latin1\r\n\r\n<p>a";
    let kept = Kept::new(move |head| match head.starts_with("GET /b ") {
        true => say(answer),
        false => moved("/b"),
    })
    .await;
    let tool = kept.tool();
    let (first, second) = (kept.get(&tool).await, kept.get(&tool).await);
    assert_eq!((first.label, second.label), (Label::OUTSIDE, Label::OUTSIDE));
    let mut first = first.output.as_object().unwrap().clone();
    first.insert("cached", true);
    assert_eq!(Json::Object(first), second.output);
    assert_eq!(told(&second, "final_url"), format!("{}b", kept.url));
    assert_eq!(told(&second, "fetched_at"), "2026-01-01T12:00:00Z");
}

#[tokio::test]
async fn spellings_of_one_address_are_one_page() {
    let kept = Kept::page().await;
    let tool = kept.tool();
    kept.get(&tool).await;
    for spelling in ["HTTP://A.EXAMPLE.:PORT", "http://a.example:PORT/#x", "http:\\\\a.example:PORT/./"] {
        let url = spelling.replace("PORT", &kept.server.port().to_string());
        assert_eq!(seen(&get(&tool, &url, kept.reach()).await.unwrap()), cached(), "{spelling}");
    }
    let other = format!("{}?x", kept.url);
    assert_eq!(seen(&get(&tool, &other, kept.reach()).await.unwrap()), fresh());
}

#[tokio::test]
async fn a_page_is_given_up_after_its_time() {
    let kept = Kept::page().await;
    assert_eq!(seen(&kept.get(&kept.tool_at("12:00:00")).await), fresh());
    assert_eq!(seen(&kept.get(&kept.tool_at("12:59:59")).await), cached());
    assert_eq!(seen(&kept.get(&kept.tool_at("13:00:00")).await), fresh());
    assert_eq!(seen(&kept.get(&kept.tool_at("13:59:59")).await), cached());
    // Kept in the future: a clock was wrong.
    assert_eq!(seen(&kept.get(&kept.tool_at("11:00:00")).await), fresh());
}

#[tokio::test]
async fn a_page_is_not_shown_to_those_who_may_not_reach_it() {
    let kept = Kept::page().await;
    kept.filled().await;
    let tool = kept.tool();
    for granted in [&[][..], &["net:b.example"], &["net:a.example"], &["fs:write"]] {
        let refused = get(&tool, &kept.url, reach(granted)).await.unwrap_err();
        assert_eq!(refused.code, Code::ToolDenied);
    }
    assert_eq!(
        get(&tool, &kept.url, listed(&["net"], &["b.example"])).await.unwrap_err().code,
        Code::ToolDenied
    );
    // Everything but local addresses: what came from one is not shown.
    assert_eq!(get(&tool, &kept.url, reach(&["net"])).await.unwrap_err().code, Code::WebAddress);
    assert_eq!(kept.server.connections(), 1);
}

#[tokio::test]
async fn a_page_behind_a_redirect_needs_every_hop() {
    let inside = Server::start(|_| page("hello")).await;
    let to = format!("http://b.example:{}/", inside.port());
    let kept = Kept::new(move |_| moved(&to)).await;
    kept.names.set("b.example", &[&["127.0.0.1"]]);
    let second = format!("net:b.example:{}", inside.port());
    let tool = kept.tool();
    let both = || reach(&[&kept.granted, &second]);
    assert_eq!(seen(&get(&tool, &kept.url, both()).await.unwrap()), fresh());
    assert_eq!(seen(&get(&tool, &kept.url, both()).await.unwrap()), cached());
    let refused = get(&tool, &kept.url, kept.reach()).await.unwrap_err();
    assert_eq!((refused.code, inside.connections()), (Code::WebRedirect, 1));
    assert_eq!(
        get(&tool, &kept.url, reach(&["net", &kept.granted])).await.unwrap_err().code,
        Code::WebAddress
    );
}

#[tokio::test]
async fn a_public_page_is_shown_to_whoever_may_reach_it() {
    let kept = Kept::page().await;
    kept.names.set("a.example", &[&[PUBLIC]]);
    kept.names.route(PUBLIC, &kept.server);
    kept.filled().await;
    assert_eq!(seen(&get(&kept.tool(), &kept.url, reach(&["net"])).await.unwrap()), cached());
}

#[tokio::test]
async fn errors_are_not_kept() {
    let kept = Kept::new(|head| match head.starts_with("GET /moved ") {
        true => moved("/"),
        false => say("HTTP/1.1 404 x\r\nContent-Length: 0\r\n\r\n"),
    })
    .await;
    let tool = kept.tool();
    for round in 1..=2 {
        assert_eq!(get(&tool, &kept.url, kept.reach()).await.unwrap_err().code, Code::WebStatus);
        let url = format!("{}moved", kept.url);
        assert_eq!(get(&tool, &url, kept.reach()).await.unwrap_err().code, Code::WebStatus);
        assert_eq!(kept.server.connections(), round * 3);
    }
    assert!(!kept.path().exists());
}

#[tokio::test]
async fn what_must_not_be_kept_is_not() {
    for field in ["Cache-Control: no-store", "cache-control: private, NO-STORE", "Set-Cookie: a=b"] {
        let answer = format!(
            "HTTP/1.1 200 OK\r\n{field}\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"
        );
        let kept = Kept::new(move |_| say(&answer)).await;
        let tool = kept.tool();
        for _ in 0..2 {
            assert_eq!(seen(&kept.get(&tool).await), fresh(), "{field}");
        }
        assert!(!kept.path().exists(), "{field}");
    }
    // On the way there, too.
    let kept = Kept::new(|head| match head.starts_with("GET /b ") {
        true => page("hello"),
        false => say("HTTP/1.1 302 x\r\nLocation: /b\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n"),
    })
    .await;
    kept.get(&kept.tool()).await;
    assert!(!kept.path().exists());
}

#[tokio::test]
async fn a_cut_body_is_not_kept() {
    let kept =
        Kept::new(|_| say("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nhello"))
            .await;
    assert!(get(&kept.tool(), &kept.url, kept.reach()).await.is_err());
    assert!(!kept.path().exists());
}

#[tokio::test]
async fn a_call_can_go_past_the_cache() {
    let kept = Kept::page().await;
    let tool = kept.tool();
    let past = || Object::from([("url", kept.url.as_str().into()), ("use_cache", false.into())]);
    let cancel = CancellationToken::new();
    assert_eq!(seen(&run(&tool, past(), kept.reach(), &cancel).await.unwrap()), fresh());
    assert!(!kept.path().exists());
    kept.filled().await;
    assert_eq!(seen(&run(&tool, past(), kept.reach(), &cancel).await.unwrap()), fresh());
    assert_eq!(kept.server.connections(), 3);
}

#[tokio::test]
async fn without_a_cache_nothing_is_kept() {
    let kept = Kept::page().await;
    let tool = kept.tool_with(Config { cache: None, ..kept.config() }, "12:00:00");
    assert_eq!((seen(&kept.get(&tool).await), seen(&kept.get(&tool).await)), (fresh(), fresh()));
    assert_eq!(fs::read_dir(kept.scratch.path()).unwrap().count(), 0);
}

/// Damages the file of a cache, with a tool that has it open and with one that has not: each warns once, fetches, and
/// keeps anew.
async fn check_damage(name: &str, damage: impl Fn(&Kept)) {
    for is_open in [false, true] {
        let kept = Kept::page().await;
        let open = kept.tool();
        assert_eq!((seen(&kept.get(&open).await), seen(&kept.get(&open).await)), (fresh(), cached()));
        let tool = if is_open { open } else { kept.tool() };
        damage(&kept);
        let found = seen(&kept.get(&tool).await);
        assert_eq!(found.0, "hello", "{name}");
        // Whoever had it open may still see what it kept, and never anything else.
        assert!(found == warned() || (is_open && found == cached()), "{name}: {found:?}");
        let again = kept.tool();
        for _ in 0..2 {
            kept.get(&again).await;
        }
        assert_eq!(seen(&kept.get(&again).await), cached(), "{name}: it mends itself");
    }
}

#[tokio::test]
async fn a_file_that_was_overwritten_is_put_aside() {
    check_damage("garbage", |kept| fs::write(kept.path(), "garbage".repeat(10_000)).unwrap()).await;
    check_damage("text", |kept| fs::write(kept.path(), "SQLite format 3\0").unwrap()).await;
    check_damage("nothing", |kept| fs::write(kept.path(), "").unwrap()).await;
    let kept = Kept::page().await;
    kept.filled().await;
    fs::write(kept.path(), "mine").unwrap();
    assert_eq!(seen(&kept.get(&kept.tool()).await), warned());
    let aside = kept.path().with_file_name("http-cache.sqlite.damaged");
    assert_eq!(fs::read(aside).unwrap(), b"mine", "what was there is not lost");
}

#[tokio::test]
async fn a_file_that_was_cut_is_put_aside() {
    for length in [1, 50, 99, 100, 4_000, 4_096, 8_192] {
        check_damage("cut", |kept| {
            let file = fs::OpenOptions::new().write(true).open(kept.path()).unwrap();
            file.set_len(length).unwrap();
        })
        .await;
    }
}

#[tokio::test]
async fn another_programs_database_is_put_aside() {
    check_damage("foreign", |kept| {
        fs::remove_file(kept.path()).unwrap();
        let connection = Connection::open(kept.path()).unwrap();
        connection.execute_batch("CREATE TABLE pages (url TEXT PRIMARY KEY, text TEXT)").unwrap();
        connection.execute("INSERT INTO pages VALUES (?1, 'evil')", [&kept.url]).unwrap();
    })
    .await;
}

#[tokio::test]
async fn tables_triggers_and_views_of_others_are_put_aside() {
    for sql in [
        "CREATE TABLE other (a)",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TRIGGER t AFTER INSERT ON pages BEGIN DELETE FROM pages; END",
        "ALTER TABLE pages ADD COLUMN extra TEXT",
        "DROP INDEX pages_by_age",
        "DROP TABLE pages",
        "PRAGMA journal_mode = WAL",
        "PRAGMA application_id = 1",
        "PRAGMA user_version = 0",
    ] {
        let kept = Kept::page().await;
        kept.filled().await;
        Connection::open(kept.path()).unwrap().execute_batch(sql).unwrap();
        assert_eq!(seen(&kept.get(&kept.tool()).await), warned(), "{sql}");
        assert_eq!(seen(&kept.get(&kept.tool()).await), cached(), "{sql}");
    }
}

#[tokio::test]
async fn a_link_in_the_place_of_the_file_is_not_followed() {
    check_damage("symlink", |kept| {
        let elsewhere = kept.scratch.path().join("elsewhere");
        fs::rename(kept.path(), &elsewhere).unwrap();
        symlink(&elsewhere, kept.path()).unwrap();
    })
    .await;
    let kept = Kept::page().await;
    let victim = kept.scratch.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    fs::create_dir_all(kept.path().parent().unwrap()).unwrap();
    symlink(&victim, kept.path()).unwrap();
    assert_eq!(seen(&kept.get(&kept.tool()).await), warned());
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
    // One that leads nowhere, too: SQLite would make what it names.
    let kept = Kept::page().await;
    fs::create_dir_all(kept.path().parent().unwrap()).unwrap();
    symlink(kept.scratch.path().join("nowhere"), kept.path()).unwrap();
    assert_eq!(seen(&kept.get(&kept.tool()).await), warned());
    assert!(!kept.scratch.path().join("nowhere").exists());
}

#[tokio::test]
async fn a_file_that_others_hold_or_may_write_is_put_aside() {
    check_damage("hard link", |kept| fs::hard_link(kept.path(), kept.scratch.path().join("hand")).unwrap())
        .await;
    check_damage("open to all", |kept| {
        fs::set_permissions(kept.path(), fs::Permissions::from_mode(0o666)).unwrap();
    })
    .await;
}

#[tokio::test]
async fn what_is_no_file_is_put_aside() {
    check_damage("directory", |kept| {
        fs::remove_file(kept.path()).unwrap();
        fs::create_dir(kept.path()).unwrap();
        fs::write(kept.path().join("a"), "b").unwrap();
    })
    .await;
    // Then a file has to be put aside where the directory was.
    let kept = Kept::page().await;
    for _ in 0..2 {
        fs::create_dir_all(kept.path().join("a")).unwrap();
        assert_eq!(seen(&kept.get(&kept.tool()).await), warned());
        assert_eq!(seen(&kept.get(&kept.tool()).await), cached());
        fs::write(kept.path(), "garbage").unwrap();
        assert_eq!(seen(&kept.get(&kept.tool()).await), warned());
        assert_eq!(seen(&kept.get(&kept.tool()).await), cached());
        fs::remove_file(kept.path()).unwrap();
        fs::remove_dir_all(kept.path().with_file_name("http-cache.sqlite.damaged")).unwrap();
    }
    check_damage("socket", |kept| {
        fs::remove_file(kept.path()).unwrap();
        drop(std::os::unix::net::UnixListener::bind(kept.path()).unwrap());
    })
    .await;
}

#[tokio::test]
async fn a_newer_file_is_left_as_it_is() {
    let kept = Kept::page().await;
    kept.filled().await;
    Connection::open(kept.path()).unwrap().execute_batch("PRAGMA user_version = 2").unwrap();
    let before = fs::read(kept.path()).unwrap();
    let tool = kept.tool();
    for _ in 0..2 {
        assert_eq!(seen(&kept.get(&tool).await), warned());
    }
    assert_eq!(fs::read(kept.path()).unwrap(), before);
}

#[tokio::test]
async fn a_page_that_was_changed_in_the_file_is_not_shown() {
    for change in [
        "text = 'evil'",
        "text = NULL",
        "text = text || ' '",
        "final_url = 'http://evil.example/'",
        "hops = replace(hops, 'not_public', 'public')",
        "hops = ''",
        "hops = replace(hops, 'a.example', 'b.example')",
        "at_seconds = at_seconds + 1",
        "at_nanos = at_nanos + 1",
        "status = 201",
        "status = 70000",
        "flags = 2",
        "bytes = -1",
        "sha256 = zeroblob(32)",
        "sha256 = x'00'",
        "sum = zeroblob(32)",
        "content_type = 'text/html'",
        "text = CAST(x'FF' AS TEXT)",
    ] {
        let kept = Kept::page().await;
        let tool = kept.tool_at("12:00:01");
        assert_eq!(seen(&kept.get(&tool).await), fresh());
        let changed = Connection::open(kept.path()).unwrap();
        assert_eq!(changed.execute(&format!("UPDATE pages SET {change}"), []).unwrap(), 1, "{change}");
        drop(changed);
        assert_eq!(seen(&kept.get(&tool).await), warned(), "{change}");
        assert_eq!(seen(&kept.get(&tool).await), cached(), "{change}: it was fetched and kept anew");
    }
}

#[tokio::test]
async fn a_page_under_another_address_is_not_shown() {
    let kept = Kept::new(|head| page(head.split(' ').nth(1).unwrap())).await;
    let tool = kept.tool();
    let other = format!("{}other", kept.url);
    get(&tool, &other, kept.reach()).await.unwrap();
    let changed = Connection::open(kept.path()).unwrap();
    changed.execute("UPDATE pages SET url = ?1", [&kept.url]).unwrap();
    drop(changed);
    let found = seen(&kept.get(&tool).await);
    assert_eq!(found, ("/".into(), "false".into(), Some("web.cache".into())));
}

#[tokio::test]
async fn a_page_that_is_far_too_large_is_not_read() {
    let kept = Kept::page().await;
    kept.filled().await;
    let changed = Connection::open(kept.path()).unwrap();
    changed.execute("UPDATE pages SET text = CAST(zeroblob(64000000) AS TEXT)", []).unwrap();
    drop(changed);
    assert_eq!(seen(&kept.get(&kept.tool()).await), warned());
}

#[tokio::test]
async fn a_locked_file_holds_up_no_call() {
    let kept = Kept::page().await;
    let open = kept.tool();
    kept.get(&open).await;
    let holder = Connection::open(kept.path()).unwrap();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert_eq!(seen(&kept.get(&open).await), warned());
    assert_eq!(seen(&kept.get(&kept.tool()).await), warned());
    holder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(seen(&kept.get(&open).await), cached());
    assert!(!kept.path().with_file_name("http-cache.sqlite.damaged").exists(), "locked is not damaged");
    // While another writes, what is kept can be read.
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(seen(&kept.get(&open).await), cached());
}

#[tokio::test]
async fn a_place_that_can_not_be_written_holds_up_no_call() {
    let kept = Kept::page().await;
    fs::write(kept.scratch.path().join("matters"), "a file in the way").unwrap();
    for _ in 0..2 {
        assert_eq!(seen(&kept.get(&kept.tool()).await), warned());
    }
    assert_eq!(fs::read(kept.scratch.path().join("matters")).unwrap(), b"a file in the way");
}

#[tokio::test]
async fn a_file_that_is_gone_is_made_anew() {
    let kept = Kept::page().await;
    let tool = kept.tool();
    kept.get(&tool).await;
    fs::remove_dir_all(kept.scratch.path().join("matters")).unwrap();
    assert_eq!(seen(&kept.get(&tool).await), fresh());
    assert_eq!(seen(&kept.get(&tool).await), cached());
}

#[tokio::test]
async fn a_file_that_took_the_place_is_noticed() {
    let (kept, other) = (Kept::page().await, Kept::new(|_| page("other")).await);
    kept.filled().await;
    let tool = kept.tool();
    assert_eq!(seen(&kept.get(&tool).await), cached());
    other.get(&other.tool()).await;
    fs::rename(other.path(), kept.path()).unwrap();
    assert_eq!(seen(&kept.get(&tool).await), fresh(), "another cache does not have the page");
}

#[tokio::test]
async fn the_oldest_pages_give_way() {
    let kept = Kept::new(|head| page(&head.split(' ').nth(1).unwrap().repeat(1_000))).await;
    let config = Config { cache_bytes_max: 40_000, ..kept.config() };
    let tool = kept.tool_with(config, "12:00:00");
    let url = |at: usize| format!("{}page{at:02}", kept.url);
    for at in 0..20 {
        get(&tool, &url(at), kept.reach()).await.unwrap();
    }
    let mut found = Vec::new();
    for at in (0..20).rev() {
        let connections = kept.server.connections();
        let past = get(&tool, &url(at), kept.reach()).await.unwrap();
        if told(&past, "cached") == "true" {
            found.push(at);
            assert_eq!(kept.server.connections(), connections);
        } else {
            break;
        }
    }
    assert_eq!(found, [19, 18, 17, 16, 15], "five pages of 7,000 bytes fit");
    // One that is larger than all of them together is given and not kept, and nothing fails.
    let tool = kept.tool_with(Config { cache_bytes_max: 10, ..kept.config() }, "12:30:00");
    assert_eq!(told(&kept.get(&tool).await, "cached"), "false");
    assert_eq!(told(&kept.get(&tool).await, "cached"), "false");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_calls_at_once_share_one_file() {
    let kept = Arc::new(Kept::page().await);
    let tools: Vec<Arc<HttpGet>> = (0..4).map(|_| Arc::new(kept.tool())).collect();
    let calls: Vec<_> = (0..64)
        .map(|at: usize| {
            let (kept, tool) = (Arc::clone(&kept), Arc::clone(&tools[at % 4]));
            tokio::spawn(async move {
                let url = format!("{}{}", kept.url, at % 8);
                get(&tool, &url, kept.reach()).await.map(|done| told(&done, "text"))
            })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap(), "hello");
    }
    let url = format!("{}0", kept.url);
    kept.get(&tools[0]).await;
    assert_eq!(told(&get(&tools[1], &url, kept.reach()).await.unwrap(), "text"), "hello");
    assert!(!kept.path().with_file_name("http-cache.sqlite.damaged").exists());
}

/// Whatever byte is changed, what is told is what was fetched.
#[tokio::test]
async fn no_changed_byte_is_ever_shown() {
    let kept = Kept::page().await;
    kept.filled().await;
    let whole = fs::read(kept.path()).unwrap();
    let mut random = countersign_testkit::random::Random::new(7);
    for _ in 0..150 {
        let mut bytes = whole.clone();
        for _ in 0..=random.index(0..3) {
            let at = random.index(0..bytes.len());
            bytes[at] ^= u8::try_from(random.within(1..256)).unwrap();
        }
        fs::write(kept.path(), &bytes).unwrap();
        let done = kept.get(&kept.tool()).await;
        let mut expected = vec![fresh(), warned(), cached()];
        expected.retain(|one| *one == seen(&done));
        assert_eq!(expected.len(), 1, "{:?}", done.output);
        drop(fs::remove_file(kept.path()));
        fs::write(kept.path(), &whole).unwrap();
        fs::set_permissions(kept.path(), fs::Permissions::from_mode(0o600)).unwrap();
    }
}
