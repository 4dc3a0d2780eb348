//! Attacks through redirects: to other places, back inside, without end, and what is told of where they lead.

use crate::world::{NET, Names, PUBLIC, Server, exact, get, moved, page, reach, say, told, tool};
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};
use countersign_record::label::Label;
use countersign_runtime::ports::tool::{Done, NotDone};
use std::sync::{Arc, Mutex};

/// What became of a redirect from `a.example`, which is public.
struct Became {
    /// What the call gave.
    got: Result<Done, NotDone>,
    /// The address that was asked for.
    url: String,
    /// How often the server was asked that the redirect may lead to.
    inside: usize,
    /// The port of that server.
    port: u16,
    /// What was looked up.
    asked: Vec<String>,
}

/// A server under `a.example`, and another under `inside.example` and every loopback address, where the redirect leads.
/// `PORT` in the words stands for the port of the other, `OWN` for that of the first.
async fn redirected(to: &str, granted: &[&str]) -> Became {
    let inside = Server::start(|_| page("secret")).await;
    let names = Names::new();
    names.set("inside.example", &[&["127.0.0.1"]]);
    names.set("a.example", &[&[PUBLIC]]);
    let location = Arc::new(Mutex::new(String::new()));
    let said = Arc::clone(&location);
    let server = Server::start(move |_| moved(&said.lock().unwrap())).await;
    names.route(PUBLIC, &server);
    let ports = |text: &str| {
        text.replace("PORT", &inside.port().to_string()).replace("OWN", &server.port().to_string())
    };
    *location.lock().unwrap() = ports(to);
    let granted: Vec<String> = granted.iter().map(|word| ports(word)).collect();
    let granted: Vec<&str> = granted.iter().map(String::as_str).collect();
    let url = ports("http://a.example:OWN/");
    let got = get(&tool(&names), &url, reach(&granted)).await;
    Became { got, url, inside: inside.connections(), port: inside.port(), asked: names.asked() }
}

/// A redirect to another place is told with where it leads, and nothing of that place is asked, not even its address.
async fn check_told(to: &str, location: &str, granted: &[&str]) {
    let became = redirected(to, granted).await;
    let done = became.got.unwrap();
    let location = location.replace("PORT", &became.port.to_string());
    assert_eq!(told(&done, "location"), location, "{to}");
    assert_eq!((became.inside, became.asked), (0, vec!["a.example".to_owned()]), "{to}");
}

async fn check_refused(to: &str, granted: &[&str]) {
    let became = redirected(to, granted).await;
    let refused = became.got.unwrap_err();
    assert_eq!((refused.code, became.inside), (Code::WebRedirect, 0), "{to}: {refused}");
    assert_eq!(became.asked, ["a.example"], "{to}");
}

#[tokio::test]
async fn a_redirect_to_another_place_is_told_and_not_followed() {
    let became = redirected("http://inside.example:PORT/x?y=z#f", &["net", "net:inside.example:PORT"]).await;
    let done = became.got.unwrap();
    let note = told(&done, "note");
    assert!(note.contains("another host") && note.contains("permission"), "{note}");
    let mut output: Object = done.output.as_object().unwrap().clone();
    output.remove("note");
    let zero = Json::Number(0_u32.into());
    let expected = Object::from([
        ("url", became.url.as_str().into()),
        ("final_url", became.url.as_str().into()),
        ("status", Json::Number(302_u32.into())),
        ("location", format!("http://inside.example:{}/x?y=z", became.port).into()),
        ("content_type", Json::Null),
        ("text", "".into()),
        ("bytes", zero),
        ("truncated", false.into()),
        ("lossy", false.into()),
        ("cached", false.into()),
        ("fetched_at", "2026-01-01T12:00:00Z".into()),
    ]);
    assert_eq!(Json::Object(output), Json::Object(expected));
    // What a server says of where to go is as much from outside as its pages.
    assert_eq!((done.label, became.inside), (Label::OUTSIDE, 0));
}

#[tokio::test]
async fn no_grant_makes_a_redirect_leave_its_place() {
    let all = ["net", "net:a.example:OWN", "net:inside.example:PORT", "net:127.0.0.1:PORT", "net:[::1]:PORT"];
    for (to, location) in [
        ("http://inside.example:PORT/", "http://inside.example:PORT/"),
        ("//inside.example:PORT", "http://inside.example:PORT/"),
        ("http://127.0.0.1:PORT/", "http://127.0.0.1:PORT/"),
        ("http://2130706433:PORT/", "http://127.0.0.1:PORT/"),
        ("http://[::1]:PORT/", "http://[::1]:PORT/"),
        ("http://[::ffff:127.0.0.1]:PORT/", "http://[::ffff:7f00:1]:PORT/"),
        ("http://0.0.0.0:PORT/", "http://0.0.0.0:PORT/"),
        // Another port of the same host is another place, and so is a name beneath it.
        ("http://a.example:PORT/", "http://a.example:PORT/"),
        ("http://a.example/", "http://a.example/"),
        ("https://a.example/", "https://a.example/"),
        ("http://b.a.example:PORT/", "http://b.a.example:PORT/"),
        ("http://\u{430}.example/", "http://xn--80a.example/"),
    ] {
        // A field of HTTP is ASCII; a name in another script arrives as a client would write it.
        let to = to.replace('\u{430}', "%D0%B0");
        check_told(&to, location, &all).await;
        check_told(&to, location, NET).await;
        check_told(&to, location, &["net:a.example:OWN"]).await;
    }
}

#[tokio::test]
async fn a_location_that_is_told_holds_no_user() {
    for to in [
        "http://a.example@inside.example:PORT/p",
        "http://u:p@inside.example:PORT/p",
        "http://:p@inside.example:PORT/p",
        "//u:p@inside.example:PORT/p",
    ] {
        check_told(to, "http://inside.example:PORT/p", NET).await;
    }
    // At its own place it is not followed: the user would be dropped, and another page come back than was meant.
    check_refused("http://u:p@a.example:OWN/p", NET).await;
}

#[tokio::test]
async fn a_location_that_is_told_can_be_asked_for() {
    let room = 2_048 - "http://b.example/".len();
    let to = format!("http://b.example/{}", "a".repeat(room));
    check_told(&to, &to, NET).await;
    check_refused(&format!("{to}a"), NET).await;
    // Short as it is written, and too long as it would be asked for.
    check_refused(&format!("http://b.example/{}", "\"".repeat(room)), NET).await;
}

#[tokio::test]
async fn a_redirect_to_another_protocol_is_not_followed() {
    for to in [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/html,a",
        "ftp://u@a.example/",
        "gopher://a.example/",
        "ws://a.example/",
        "about:blank",
        "FILE:/etc/passwd",
        "mailto:u@a.example",
    ] {
        check_refused(to, NET).await;
    }
}

#[tokio::test]
async fn a_redirect_that_is_garbled_is_not_followed() {
    for to in [
        "",
        "http://",
        "http://a b/",
        "\u{FF}\u{FE}",
        "http://a.example:99999/",
        "http://..../",
        "http://*.example/",
        "http://[fe80::1%25eth0]/",
    ] {
        check_refused(to, NET).await;
    }
    check_refused(&format!("/{}", "a".repeat(5_000)), NET).await;
}

#[tokio::test]
async fn every_redirect_of_a_chain_stays_where_it_began() {
    let other = Server::start(|_| page("secret")).await;
    let to = format!("http://b.example:{}/", other.port());
    let (server, names, url, granted) = exact(move |head| match head.split(' ').nth(1).unwrap() {
        "/" => moved("/one"),
        "/one" => say(format!("HTTP/1.1 307 x\r\nLocation: {to}\r\nContent-Length: 6\r\n\r\nsecret")),
        _ => page("secret"),
    })
    .await;
    names.set("b.example", &[&["127.0.0.1"]]);
    let second = format!("net:b.example:{}", other.port());
    let done = get(&tool(&names), &url, reach(&[&granted, &second])).await.unwrap();
    assert_eq!((told(&done, "url"), told(&done, "final_url")), (url.clone(), format!("{url}one")));
    assert_eq!((told(&done, "status"), told(&done, "text")), ("307".into(), String::new()));
    assert_eq!(told(&done, "location"), format!("http://b.example:{}/", other.port()));
    assert_eq!((server.connections(), other.connections()), (2, 0));
    // By a call of its own it is there.
    let done = get(&tool(&names), &told(&done, "location"), reach(&[&second])).await.unwrap();
    assert_eq!(told(&done, "text"), "secret");
}

#[tokio::test]
async fn a_redirect_without_a_place_is_told() {
    let (_, names, url, granted) = exact(|_| say("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n")).await;
    let refused = get(&tool(&names), &url, reach(&[&granted])).await.unwrap_err();
    assert_eq!(refused.code, Code::WebRedirect);
}

#[tokio::test]
async fn redirects_in_a_circle_end() {
    let (server, names, url, granted) = exact(|head| match head.starts_with("GET /b ") {
        true => moved("/"),
        false => moved("/b"),
    })
    .await;
    let refused = get(&tool(&names), &url, reach(&[&granted])).await.unwrap_err();
    assert_eq!((refused.code, server.connections()), (Code::WebRedirect, 2));
}

#[tokio::test]
async fn a_long_chain_of_redirects_ends() {
    let chain = |head: &str| {
        let at: usize = head.trim_start_matches("GET /").split(' ').next().unwrap().parse().unwrap_or(0);
        moved(&format!("/{}", at + 1))
    };
    let (server, names, url, granted) = exact(chain).await;
    let refused = get(&tool(&names), &url, reach(&[&granted])).await.unwrap_err();
    assert_eq!((refused.code, server.connections()), (Code::WebRedirect, 6));
    assert_eq!(names.asked().len(), 1, "what was looked up and checked is for all of them");
}

#[tokio::test]
async fn a_short_chain_of_relative_redirects_is_followed() {
    let (server, names, url, granted) = exact(|head| match head.split(' ').nth(1).unwrap() {
        "/" => moved("one/two?q#f"),
        "/one/two?q" => moved("../three"),
        "/three" => moved("//a.example:PORT/four".replace("PORT", port_of(head)).as_str()),
        "/four" => moved("?five"),
        "/four?five" => moved("/six"),
        _ => page("there"),
    })
    .await;
    let done = get(&tool(&names), &url, reach(&[&granted])).await.unwrap();
    assert_eq!((told(&done, "text"), told(&done, "url")), ("there".into(), url.clone()));
    assert_eq!((told(&done, "final_url"), server.connections()), (format!("{url}six"), 6));
    assert!(!server.requests().iter().any(|head| head.to_lowercase().contains("referer")));
}

fn port_of(head: &str) -> &str {
    let host = head.lines().find(|line| line.to_lowercase().starts_with("host:")).unwrap();
    host.rsplit(':').next().unwrap()
}

#[tokio::test]
async fn a_name_that_leads_inside_after_a_redirect_leads_nobody_there() {
    let (inside, names) = (Server::start(|_| page("secret")).await, Names::new());
    let server = Server::start(|head| match head.starts_with("GET /b ") {
        true => page("b"),
        false => moved("/b"),
    })
    .await;
    names.set("a.example", &[&[PUBLIC], &["127.0.0.1"]]);
    names.route(PUBLIC, &server);
    let place = format!("a.example:{}", server.port());
    for granted in [NET, &[&format!("net:{place}")]] {
        names.set("a.example", &[&[PUBLIC], &["127.0.0.1"]]);
        let done = get(&tool(&names), &format!("http://{place}/"), reach(granted)).await.unwrap();
        assert_eq!((told(&done, "text"), inside.connections()), ("b".into(), 0));
    }
    assert_eq!(names.asked(), ["a.example", "a.example"], "once for each call");
    assert_eq!(names.dialled(), vec![format!("{PUBLIC}:{}", server.port()); 4]);
}

#[tokio::test]
async fn a_redirect_that_splits_a_request_does_not() {
    let (server, names, url, granted) = exact(|head| match head.starts_with("GET / ") {
        true => moved("/a%0d%0aX-Evil:%201"),
        false => page("b"),
    })
    .await;
    get(&tool(&names), &url, reach(&[&granted])).await.unwrap();
    assert!(server.requests().iter().all(|head| !head.contains("\r\nX-Evil")));
}
