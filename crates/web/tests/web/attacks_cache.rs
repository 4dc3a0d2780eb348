//! Attacks on what is kept: who is shown it, for how long, and how much of it there may be.

use crate::world::kept::{Kept, cached, fresh, seen, warned};
use crate::world::{PUBLIC, Say, Server, get, listed, moved, page, reach, run, say, told};
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};
use countersign_record::label::Label;
use countersign_web::{Config, HttpGet};
use rusqlite::Connection;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

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
async fn an_answer_that_leads_elsewhere_is_not_kept() {
    let other = Server::start(|_| page("hello")).await;
    let to = format!("http://b.example:{}/", other.port());
    let location = to.clone();
    let kept = Kept::new(move |head| match head.split(' ').nth(1).unwrap() {
        "/here" => moved("/"),
        _ => say(format!("HTTP/1.1 301 x\r\nLocation: {location}\r\nCache-Control: max-age=9\r\n\r\n")),
    })
    .await;
    kept.names.set("b.example", &[&["127.0.0.1"]]);
    let second = format!("net:b.example:{}", other.port());
    let tool = kept.tool();
    for round in 1..=2 {
        for (url, asked) in [(kept.url.clone(), 1), (format!("{}here", kept.url), 2)] {
            let before = kept.server.connections();
            let done = get(&tool, &url, reach(&[&kept.granted, &second])).await.unwrap();
            assert_eq!((told(&done, "location"), told(&done, "cached")), (to.clone(), "false".into()));
            assert_eq!((kept.server.connections() - before, other.connections()), (asked, 0), "{round}");
        }
    }
    assert!(!kept.path().exists());
    // What was kept of the other place was kept by a call of its own.
    assert_eq!(seen(&get(&tool, &to, reach(&[&second])).await.unwrap()), fresh());
    assert_eq!(seen(&get(&tool, &to, reach(&[&second])).await.unwrap()), cached());
    assert_eq!(told(&get(&tool, &kept.url, kept.reach()).await.unwrap(), "location"), to);
}

/// Also when the name leads outside since.
#[tokio::test]
async fn a_page_that_was_reached_inside_needs_an_exact_grant() {
    let kept = Kept::page().await;
    kept.filled().await;
    kept.names.set("a.example", &[&[PUBLIC]]);
    kept.names.route(PUBLIC, &kept.server);
    let tool = kept.tool();
    assert_eq!(seen(&kept.get(&tool).await), cached());
    for expected in [fresh(), cached()] {
        assert_eq!(seen(&get(&tool, &kept.url, reach(&["net"])).await.unwrap()), expected);
    }
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
}

/// It is given, nothing fails, and the others stay.
#[tokio::test]
async fn a_page_that_is_larger_than_the_cache_is_not_kept() {
    let kept = Kept::new(|head| match head.starts_with("GET /large ") {
        true => page(&"a".repeat(20_000)),
        false => page("hello"),
    })
    .await;
    let config = || Config { cache_bytes_max: 10_000, ..kept.config() };
    let tool = kept.tool_with(config(), "12:00:00");
    assert_eq!((seen(&kept.get(&tool).await), seen(&kept.get(&tool).await)), (fresh(), cached()));
    let large = format!("{}large", kept.url);
    for _ in 0..2 {
        assert_eq!(told(&get(&tool, &large, kept.reach()).await.unwrap(), "cached"), "false");
    }
    assert_eq!(seen(&kept.get(&tool).await), cached());
}

/// A text may become larger than what came: these bytes are no letters, and each stands as three.
#[tokio::test]
async fn a_page_that_could_not_be_read_again_is_not_kept() {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n".to_vec();
    let kept = Kept::new(move |head| match head.starts_with("GET /large ") {
        true => vec![Say::Bytes(answer.clone()), Say::Bytes(vec![0xFF; 6_000_000])],
        false => page("hello"),
    })
    .await;
    let tool = kept.tool_with(Config { body_bytes_max: 8_000_000, ..kept.config() }, "12:00:00");
    kept.get(&tool).await;
    let done = get(&tool, &format!("{}large", kept.url), kept.reach()).await.unwrap();
    assert_eq!((told(&done, "text").len(), done.output.get("warning")), (18_000_000, None));
    assert_eq!(seen(&kept.get(&tool).await), cached());
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

/// Each of these waits for the one before it, and all of them for another process: longer than a page may take.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_is_not_lost_because_it_could_not_be_kept_in_time() {
    let kept = Arc::new(Kept::page().await);
    kept.filled().await;
    let config = Config { deadline: Duration::from_secs(2), ..kept.config() };
    let tool = Arc::new(kept.tool_with(config, "12:00:00"));
    let holder = Connection::open(kept.path()).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let calls: Vec<_> = (0..16)
        .map(|at| {
            let (kept, tool) = (Arc::clone(&kept), Arc::clone(&tool));
            tokio::spawn(async move {
                let url = format!("{}{at}", kept.url);
                get(&tool, &url, kept.reach()).await.unwrap()
            })
        })
        .collect();
    let mut messages = Vec::new();
    for call in calls {
        let done = call.await.unwrap();
        assert_eq!(seen(&done), warned());
        messages
            .push(done.output.get("warning").unwrap().get("message").unwrap().as_str().unwrap().to_owned());
    }
    let late = "http-cache.sqlite is not to be had in time";
    assert!(messages.iter().any(|message| message == late), "{messages:?}");
}
