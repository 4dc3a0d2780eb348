//! Attacks through an address: every way to spell one, names that lead inside, and who may be reached.

use crate::world::{NET, Names, PUBLIC, Server, clock, get, listed, page, reach, told, tool};
use countersign_record::code::Code;
use countersign_record::json::Object;
use countersign_record::label::Label;
use countersign_record::tool::{Effect, Needs};
use countersign_runtime::ports::tool::{Reads, Tool};
use countersign_web::{Config, HttpGet};
use std::time::Duration;

#[tokio::test]
async fn no_spelling_of_a_local_address_is_reached() {
    let server = Server::start(|_| page("secret")).await;
    let names = Names::new();
    let tool = tool(&names);
    for host in [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f.1",
        "0x7f000001",
        "0177.0.0.1",
        "017700000001",
        "127.0.0.1.",
        "127.255.255.254",
        "%31%32%37.0.0.1",
        "\u{FF11}27.0.0.1",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "0.0.0.0",
        "0",
        "[::]",
        "169.254.169.254",
        "2852039166",
        "0xa9fea9fe",
        "[::ffff:169.254.169.254]",
        "168.63.129.16",
        "100.100.100.200",
        "10.0.0.1",
        "10.255.255.255",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.0.1",
        "100.64.0.1",
        "198.18.0.1",
        "192.0.2.1",
        "203.0.113.1",
        "224.0.0.1",
        "255.255.255.255",
        "[fc00::1]",
        "[fd00:ec2::254]",
        "[fe80::1]",
        "[ff02::1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b:1::7f00:1]",
        "[2002:7f00:1::]",
        "[2001::1]",
        "[2001:db8::1]",
    ] {
        let refused = get(&tool, &format!("http://{host}:{}/", server.port()), reach(NET)).await.unwrap_err();
        assert_eq!(refused.code, Code::WebAddress, "{host}: {refused}");
    }
    assert_eq!((names.dialled().len(), names.asked().len(), server.connections()), (0, 0, 0));
}

#[tokio::test]
async fn no_name_leads_to_a_local_address() {
    let server = Server::start(|_| page("secret")).await;
    let names = Names::new();
    let tool = tool(&names);
    for (name, address) in [
        ("localhost", "127.0.0.1"),
        ("metadata.google.internal", "169.254.169.254"),
        ("a.example", "::1"),
        ("b.example", "::ffff:127.0.0.1"),
        ("c.example", "10.1.2.3"),
        ("d.example", "fd00::1"),
        ("e.example", "64:ff9b::7f00:1"),
        ("f.example", "0.0.0.0"),
    ] {
        names.set(name, &[&[address]]);
        for spelling in [name.to_owned(), format!("{name}."), name.to_uppercase()] {
            let url = format!("http://{spelling}:{}/", server.port());
            let refused = get(&tool, &url, reach(NET)).await.unwrap_err();
            assert_eq!(refused.code, Code::WebAddress, "{spelling}: {refused}");
            assert!(!refused.message.contains(address), "what a name leads to inside is nobody's business");
        }
    }
    assert_eq!((names.dialled().len(), server.connections()), (0, 0));
}

#[tokio::test]
async fn a_list_of_hosts_opens_no_local_address() {
    let server = Server::start(|_| page("secret")).await;
    let names = Names::new();
    names.set("a.example", &[&["127.0.0.1"]]);
    let place = format!("a.example:{}", server.port());
    let refused = get(&tool(&names), &format!("http://{place}/"), listed(NET, &[&place])).await.unwrap_err();
    assert_eq!((refused.code, server.connections()), (Code::WebAddress, 0));
}

#[tokio::test]
async fn an_exact_grant_opens_its_host_and_no_other() {
    let server = Server::start(|_| page("hello")).await;
    let names = Names::new();
    for name in ["a.example", "sub.a.example", "a.example.evil.example", "xa.example"] {
        names.set(name, &[&["127.0.0.1"]]);
    }
    let (tool, port) = (tool(&names), server.port());
    let granted = [format!("net:a.example:{port}")];
    let granted = [granted[0].as_str()];
    for spelling in ["a.example", "A.EXAMPLE", "a.example.", "A.example."] {
        let done = get(&tool, &format!("http://{spelling}:{port}/x#y"), reach(&granted)).await.unwrap();
        assert_eq!((told(&done, "text"), told(&done, "cached")), ("hello".into(), "false".into()));
        assert_eq!(told(&done, "final_url"), format!("http://a.example:{port}/x"));
        assert_eq!(done.label, Label::OUTSIDE);
    }
    let seen = server.connections();
    for other in ["sub.a.example", "a.example.evil.example", "xa.example", "127.0.0.1"] {
        let refused = get(&tool, &format!("http://{other}:{port}/"), reach(&granted)).await.unwrap_err();
        assert_eq!(refused.code, Code::ToolDenied);
        assert!(refused.message.contains(&format!("net:{other}:{port}")), "{refused}");
    }
    assert_eq!(server.connections(), seen);
}

#[tokio::test]
async fn a_port_that_is_not_granted_is_not_reached() {
    let server = Server::start(|_| page("secret")).await;
    let names = Names::new();
    names.set("a.example", &[&["127.0.0.1"]]);
    for granted in ["net:a.example", "net:a.example:1"] {
        let url = format!("http://a.example:{}/", server.port());
        let refused = get(&tool(&names), &url, reach(&[granted])).await.unwrap_err();
        assert_eq!(refused.code, Code::ToolDenied);
    }
    assert_eq!((names.asked().len(), server.connections()), (0, 0));
}

#[tokio::test]
async fn a_name_that_looks_alike_is_another() {
    let names = Names::new();
    // The first letter is Cyrillic.
    let url = "http://\u{430}pple.example/";
    let refused = get(&tool(&names), url, reach(&["net:apple.example"])).await.unwrap_err();
    assert_eq!(refused.code, Code::ToolDenied);
    assert!(refused.message.contains("net:xn--pple-43d.example"), "{refused}");
    let plan = tool(&names).plan(&Object::from([("url", url.into())])).unwrap();
    assert_eq!(plan.summary, "GET http://xn--pple-43d.example/");
    assert_eq!(plan.sends_to.unwrap().to_string(), "xn--pple-43d.example");
}

#[tokio::test]
async fn net_is_for_the_hosts_of_the_list() {
    let server = Server::start(|_| page("hello")).await;
    let names = Names::new();
    names.set("on.example", &[&[PUBLIC]]);
    names.set("off.example", &[&[PUBLIC]]);
    names.route(PUBLIC, &server);
    let port = server.port();
    let hosts = format!("on.example:{port}");
    let ask = async |name: &str| {
        let url = format!("http://{name}:{port}/");
        get(&tool(&names), &url, listed(NET, &[&hosts])).await.map(|done| told(&done, "text"))
    };
    assert_eq!(ask("on.example").await.unwrap(), "hello");
    assert_eq!(ask("off.example").await.unwrap_err().code, Code::ToolDenied);
    assert_eq!(names.asked(), ["on.example"]);
}

#[tokio::test]
async fn a_name_is_looked_up_once_and_the_connection_goes_there() {
    let (server, inside) = (Server::start(|_| page("hello")).await, Server::start(|_| page("secret")).await);
    let names = Names::new();
    names.set("a.example", &[&[PUBLIC], &["127.0.0.1"]]);
    names.route(PUBLIC, &server);
    let (tool, port) = (tool(&names), server.port());
    let url = format!("http://a.example:{port}/");
    let done = get(&tool, &url, reach(NET)).await.unwrap();
    assert_eq!(told(&done, "text"), "hello");
    assert_eq!(names.asked(), ["a.example"]);
    assert_eq!(names.dialled(), [format!("{PUBLIC}:{port}")]);
    // The name leads inside now, and is refused before anything is sent.
    assert_eq!(get(&tool, &url, reach(NET)).await.unwrap_err().code, Code::WebAddress);
    assert_eq!((names.asked().len(), names.dialled().len(), inside.connections()), (2, 1, 0));
}

#[tokio::test]
async fn one_local_address_among_others_refuses_all() {
    let server = Server::start(|_| page("secret")).await;
    let names = Names::new();
    names.route(PUBLIC, &server);
    for answer in [&[PUBLIC, "127.0.0.1"], &["127.0.0.1", PUBLIC], &[PUBLIC, "fe80::1"]] {
        names.set("a.example", &[answer]);
        let url = format!("http://a.example:{}/", server.port());
        assert_eq!(get(&tool(&names), &url, reach(NET)).await.unwrap_err().code, Code::WebAddress);
    }
    assert_eq!((names.dialled().len(), server.connections()), (0, 0));
}

#[tokio::test]
async fn only_addresses_of_the_answer_are_tried() {
    let server = Server::start(|_| page("hello")).await;
    let names = Names::new();
    names.set("a.example", &[&["8.8.8.8", PUBLIC]]);
    names.route(PUBLIC, &server);
    let port = server.port();
    let done = get(&tool(&names), &format!("http://a.example:{port}/"), reach(NET)).await.unwrap();
    assert_eq!(told(&done, "text"), "hello");
    assert_eq!(names.dialled(), [format!("8.8.8.8:{port}"), format!("{PUBLIC}:{port}")]);
}

#[tokio::test]
async fn a_name_without_an_address_is_told() {
    let names = Names::new();
    names.set("empty.example", &[&[]]);
    names.set("deaf.example", &[&["8.8.8.8"]]);
    for url in ["http://none.example/", "http://empty.example/", "http://deaf.example/"] {
        assert_eq!(get(&tool(&names), url, reach(NET)).await.unwrap_err().code, Code::WebUnreachable);
    }
}

#[tokio::test]
async fn what_is_no_plain_address_is_refused_before_anything() {
    let names = Names::new();
    let tool = tool(&names);
    for url in [
        "http://user:pass@a.example/",
        "http://a.example@b.example/",
        "http://a.example/\r\nHost: b.example",
        "http://a.example/ HTTP/1.1\r\nX: y",
        "http://a\u{0}.example/",
        "file:///etc/passwd",
        "ftp://a.example/",
        "gopher://a.example/",
        "javascript:alert(1)",
        "data:text/plain,a",
        "unix:/run/docker.sock",
        "//a.example/",
        "http://",
        "http://*.example/",
    ] {
        assert_eq!(
            tool.plan(&Object::from([("url", url.into())])).unwrap_err().code,
            Code::WebUrl,
            "{url:?}"
        );
        assert_eq!(get(&tool, url, reach(NET)).await.unwrap_err().code, Code::WebUrl, "{url:?}");
    }
    let long = format!("http://a.example/{}", "a".repeat(4_096));
    assert_eq!(get(&tool, &long, reach(NET)).await.unwrap_err().code, Code::WebUrl);
    assert_eq!(tool.plan(&Object::new()).unwrap_err().code, Code::ToolArguments);
    assert!(names.asked().is_empty());
}

#[test]
fn arguments_that_the_schema_does_not_know_are_refused() {
    let tool = tool(&Names::new());
    let definition = tool.definition();
    assert_eq!((definition.name.as_str(), &definition.effect), ("http.get", &Effect::Idempotent));
    assert_eq!(definition.needs, Needs::Host);
    definition.hash().unwrap();
    let text = countersign_record::json::to_text(&definition.parameters).unwrap();
    let schema = jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap();
    for (args, fits) in [
        (r#"{"url":"http://a.example/"}"#, true),
        (r#"{"url":"http://a.example/","use_cache":false}"#, true),
        (r#"{"url":"http://a.example/","use_cache":null}"#, false),
        (r#"{"url":"http://a.example/","use_cache":"false"}"#, false),
        (r#"{"url":"http://a.example/","headers":{}}"#, false),
        (r#"{"url":["http://a.example/"]}"#, false),
        (r#"{"url":""}"#, false),
        (r#"{"use_cache":true}"#, false),
        (r#"[]"#, false),
    ] {
        assert_eq!(schema.is_valid(&serde_json::from_str(args).unwrap()), fits, "{args}");
    }
    let long = serde_json::json!({"url": "a".repeat(2_049)});
    assert!(!schema.is_valid(&long));
}

#[tokio::test]
async fn a_plan_says_all_that_is_sent_and_does_nothing() {
    let names = Names::new();
    let args = Object::from([("url", "HTTPS://A.example.:8443/p?token=secret#f".into())]);
    let plan = tool(&names).plan(&args).unwrap();
    assert_eq!(plan.summary, "GET https://a.example:8443/p?token=secret");
    assert_eq!(plan.sends_to.unwrap().to_string(), "a.example:8443");
    assert_eq!((plan.reads, plan.writes), (Reads::Outside, None));
    assert!(names.asked().is_empty());
}

/// The tool on this machine's own network.
fn on_this_machine() -> HttpGet {
    let config = Config { deadline: Duration::from_secs(60), ..Config::default() };
    HttpGet::new(config, clock("12:00:00")).unwrap()
}

#[tokio::test]
async fn an_address_of_ipv6_needs_a_grant_of_its_own() {
    let server = Server::on_six(|_| page("hello")).await;
    let (tool, port) = (on_this_machine(), server.port());
    let url = format!("http://[::1]:{port}/");
    assert_eq!(get(&tool, &url, reach(NET)).await.unwrap_err().code, Code::WebAddress);
    for other in ["net:127.0.0.1:PORT", "net:localhost:PORT", "net:[::2]:PORT", "net:[::1]", "net:[::1]:1"] {
        let granted = other.replace("PORT", &port.to_string());
        assert_eq!(get(&tool, &url, reach(&[&granted])).await.unwrap_err().code, Code::ToolDenied, "{other}");
    }
    assert_eq!(server.connections(), 0);
    let granted = format!("net:[::1]:{port}");
    for spelling in ["[::1]", "[0:0:0:0:0:0:0:1]", "[0::0.0.0.1]", "[::0001]"] {
        let done = get(&tool, &format!("http://{spelling}:{port}/"), reach(&[&granted])).await.unwrap();
        assert_eq!((told(&done, "text"), told(&done, "final_url")), ("hello".into(), url.clone()));
    }
    let heads = server.requests();
    assert!(heads.iter().all(|head| head.contains(&format!("host: [::1]:{port}\r\n"))), "{heads:?}");
}

#[tokio::test]
async fn an_address_within_another_needs_a_grant_of_its_own() {
    let server = Server::start(|_| page("hello")).await;
    let (tool, port) = (on_this_machine(), server.port());
    let inner = format!("net:127.0.0.1:{port}");
    for host in [
        "[::ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[64:ff9b:1::7f00:1]",
        "[2002:7f00:1::1]",
        "[fd00::1]",
        "[fc00::1]",
        "[fe80::1]",
        "[ff02::1]",
    ] {
        let url = format!("http://{host}:{port}/");
        assert_eq!(get(&tool, &url, reach(NET)).await.unwrap_err().code, Code::WebAddress, "{host}");
        let refused = get(&tool, &url, reach(&[&inner])).await.unwrap_err();
        assert_eq!(refused.code, Code::ToolDenied, "{host}: the address in it is another host");
    }
    assert_eq!(server.connections(), 0);
    // With a grant it is reached as it is: here the system takes the inner one.
    let granted = format!("net:[::ffff:127.0.0.1]:{port}");
    let done = get(&tool, &format!("http://[::ffff:7f00:1]:{port}/"), reach(&[&granted])).await.unwrap();
    assert_eq!((told(&done, "text"), server.connections()), ("hello".into(), 1));
}

#[tokio::test]
async fn an_address_with_a_zone_is_no_address() {
    for host in ["[fe80::1%25eth0]", "[fe80::1%eth0]", "[::1%25lo]", "[fe80::1%251]"] {
        let url = format!("http://{host}/");
        let refused = get(&on_this_machine(), &url, reach(&["net"])).await.unwrap_err();
        assert_eq!(refused.code, Code::WebUrl, "{host}: {refused}");
    }
}

#[tokio::test]
async fn names_of_this_machine_lead_inside() {
    let server = Server::start(|_| page("hello")).await;
    let (tool, port) = (on_this_machine(), server.port());
    for spelling in ["localhost", "LOCALHOST", "localhost."] {
        let refused = get(&tool, &format!("http://{spelling}:{port}/"), reach(NET)).await.unwrap_err();
        assert_eq!(refused.code, Code::WebAddress, "{refused}");
        assert!(refused.message.contains("is a loopback address"), "{refused}");
    }
    assert_eq!(server.connections(), 0);
    let granted = format!("net:localhost:{port}");
    let done = get(&tool, &format!("http://localhost:{port}/"), reach(&[&granted])).await.unwrap();
    assert_eq!(told(&done, "text"), "hello");
}

/// No name server has these names; that there is none to ask makes no difference.
#[tokio::test]
async fn a_name_that_nobody_can_have_is_told_as_such() {
    let refused = get(&on_this_machine(), "http://no-such-host.invalid/", reach(NET)).await.unwrap_err();
    assert_eq!(refused.code, Code::WebUnreachable);
    assert_eq!(refused.message, "no-such-host.invalid can't be looked up");
}
