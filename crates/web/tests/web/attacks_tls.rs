//! Attacks on a secure connection: certificates that are none, and ways around them.

use crate::world::{Names, PUBLIC, Say, Server, clock, get, moved, page, reach, say, told, tool, tool_with};
use countersign_record::code::Code;
use countersign_runtime::ports::tool::{Done, NotDone};
use countersign_web::{Config, HttpGet};
use rcgen::{BasicConstraints, Certificate, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::TlsAcceptor;

/// Who signs certificates.
struct Root {
    certificate: Certificate,
    issuer: Issuer<'static, KeyPair>,
}

impl Root {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Root { certificate: params.self_signed(&key).unwrap(), issuer: Issuer::new(params, key) }
    }

    fn der(&self) -> CertificateDer<'static> {
        self.certificate.der().clone()
    }

    /// A server's end, with a certificate for these names that `change` has had a hand in.
    fn server(&self, names: &[&str], change: impl Fn(&mut CertificateParams)) -> TlsAcceptor {
        let (params, key) = params(names, change);
        acceptor(params.signed_by(&key, &self.issuer).unwrap().der().clone(), &key)
    }
}

fn params(names: &[&str], change: impl Fn(&mut CertificateParams)) -> (CertificateParams, KeyPair) {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    change(&mut params);
    (params, KeyPair::generate().unwrap())
}

fn acceptor(certificate: CertificateDer<'static>, key: &KeyPair) -> TlsAcceptor {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

/// Asks a server under a name; every name leads to it.
async fn secured(server: &Server, host: &str, roots: &[CertificateDer<'static>]) -> Result<Done, NotDone> {
    let names = Names::new();
    names.set(host, &[&["127.0.0.1"]]);
    let config = Config { roots: roots.to_vec(), deadline: Duration::from_secs(60), ..Config::default() };
    let (url, granted) =
        (format!("https://{host}:{}/", server.port()), format!("net:{host}:{}", server.port()));
    get(&tool_with(&names, config), &url, reach(&[&granted])).await
}

/// A server that is not asked anything, and what is told of it.
async fn check_refused(tls: TlsAcceptor, host: &str, roots: &[CertificateDer<'static>], why: &str) {
    let server = Server::secure(tls, |_| page("secret")).await;
    let refused = secured(&server, host, roots).await.unwrap_err();
    assert_eq!(refused.code, Code::WebUnreachable, "{refused}");
    assert!(refused.message.contains(why), "{refused}");
    assert!(server.requests().is_empty(), "nothing is asked of one that could not show who it is");
}

#[tokio::test]
async fn a_certificate_of_a_trusted_root_for_the_name_is_enough() {
    let root = Root::new();
    for (host, name) in [
        ("a.example", "a.example"),
        ("A.EXAMPLE.", "a.example"),
        ("b.a.example", "*.a.example"),
        ("127.0.0.1", "127.0.0.1"),
        ("b\u{FC}cher.example", "xn--bcher-kva.example"),
    ] {
        let server = Server::secure(root.server(&[name], |_| {}), |_| page("hello")).await;
        let names = Names::new();
        for name in ["a.example", "b.a.example", "xn--bcher-kva.example"] {
            names.set(name, &[&["127.0.0.1"]]);
        }
        let config =
            Config { roots: vec![root.der()], deadline: Duration::from_secs(60), ..Config::default() };
        let (url, granted) =
            (format!("https://{host}:{}/", server.port()), format!("net:{host}:{}", server.port()));
        let done = get(&tool_with(&names, config), &url, reach(&[&granted])).await.unwrap();
        assert_eq!(told(&done, "text"), "hello", "{host}");
    }
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused() {
    let root = Root::new();
    for (host, names) in [
        ("a.example", &["b.example"][..]),
        ("a.example", &["b.a.example"]),
        ("b.a.example", &["a.example"]),
        ("c.b.a.example", &["*.a.example"]),
        ("a.example", &["*.a.example"]),
        ("a.example", &["a.example.evil.example", "xa.example"]),
        ("a.example", &["127.0.0.1"]),
        ("127.0.0.1", &["a.example"]),
        ("127.0.0.1", &["127.0.0.2"]),
        ("a.example", &[]),
    ] {
        let tls = root.server(names, |_| {});
        check_refused(tls, host, &[root.der()], "its certificate is for another name").await;
    }
}

#[tokio::test]
async fn a_certificate_out_of_its_time_is_refused() {
    let root = Root::new();
    let expired = root.server(&["a.example"], |params| {
        params.not_before = rcgen::date_time_ymd(2019, 1, 1);
        params.not_after = rcgen::date_time_ymd(2020, 1, 1);
    });
    check_refused(expired, "a.example", &[root.der()], "its certificate has expired").await;
    let early = root.server(&["a.example"], |params| {
        params.not_before = rcgen::date_time_ymd(3019, 1, 1);
        params.not_after = rcgen::date_time_ymd(3020, 1, 1);
    });
    check_refused(early, "a.example", &[root.der()], "its certificate is not valid yet").await;
}

#[tokio::test]
async fn a_certificate_that_nobody_stands_behind_is_refused() {
    const NOBODY: &str = "no root that is trusted here stands behind its certificate";
    let (root, other) = (Root::new(), Root::new());
    let of_other = || other.server(&["a.example"], |_| {});
    check_refused(of_other(), "a.example", &[], NOBODY).await;
    // The other root has the same name as the one that is trusted.
    check_refused(of_other(), "a.example", &[root.der()], "its certificate").await;
    let signs_itself = |params: &mut CertificateParams| {
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(rcgen::DnType::CommonName, "a.example");
    };
    let (own, key) = params(&["a.example"], signs_itself);
    let own = own.self_signed(&key).unwrap().der().clone();
    check_refused(acceptor(own, &key), "a.example", &[root.der()], NOBODY).await;
    // One that says that it may sign, and is a server's all the same.
    let (own, key) = params(&["a.example"], |params| {
        signs_itself(params);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    });
    let own = own.self_signed(&key).unwrap().der().clone();
    check_refused(acceptor(own, &key), "a.example", &[root.der()], "its certificate is not valid").await;
}

#[tokio::test]
async fn a_certificate_that_is_for_something_else_is_refused() {
    let root = Root::new();
    let for_clients = root.server(&["a.example"], |params| {
        params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ClientAuth];
    });
    check_refused(for_clients, "a.example", &[root.der()], "its certificate is not valid").await;
    // One that was signed by a certificate which may not sign.
    let (leaf, leaf_key) = params(&["b.example"], |_| {});
    let leaf = Issuer::new(leaf, leaf_key);
    let (forged, key) = params(&["a.example"], |_| {});
    let forged = forged.signed_by(&key, &leaf).unwrap().der().clone();
    check_refused(acceptor(forged, &key), "a.example", &[root.der()], "its certificate").await;
}

/// Where a server that can't be trusted leads is not told either, and no redirect gives up the secure connection.
#[tokio::test]
async fn a_redirect_from_https_to_http_is_not_followed() {
    let root = Root::new();
    let own = |head: &str| moved(&format!("http://{}/plain", host_of(head)));
    let server = Server::secure(root.server(&["a.example"], |_| {}), own).await;
    let refused = secured(&server, "a.example", &[root.der()]).await.unwrap_err();
    assert_eq!((refused.code, server.connections()), (Code::WebRedirect, 1));
    assert!(refused.message.contains("from https to http"), "{refused}");
    let refused = secured(&server, "a.example", &[]).await.unwrap_err();
    assert_eq!(refused.code, Code::WebUnreachable);
    // To another place it is told, as every other: whoever approves the next call sees what it is.
    let plain = Server::start(|_| page("secret")).await;
    let to = format!("http://127.0.0.1:{}/", plain.port());
    let said = to.clone();
    let server = Server::secure(root.server(&["a.example"], |_| {}), move |_| moved(&said)).await;
    let done = secured(&server, "a.example", &[root.der()]).await.unwrap();
    assert_eq!((told(&done, "location"), plain.connections()), (to, 0));
}

/// The most usual redirect of all: a host's own https, on its usual port.
#[tokio::test]
async fn a_redirect_from_http_to_https_stays_at_its_host() {
    let root = Root::new();
    let secure = Server::secure(root.server(&["a.example"], |_| {}), |_| page("hello")).await;
    for (to, is_followed) in [
        ("https://a.example/", true),
        ("https://A.example.:443/", true),
        ("https://www.a.example/", false),
        ("https://a.example:80/", false),
        ("http://a.example:443/", false),
    ] {
        let plain = Server::start(move |_| moved(to)).await;
        let names = Names::new();
        names.set("a.example", &[&[PUBLIC]]);
        names.route_port(PUBLIC, 80, &plain);
        names.route_port(PUBLIC, 443, &secure);
        let config =
            Config { roots: vec![root.der()], deadline: Duration::from_secs(60), ..Config::default() };
        let tool = tool_with(&names, config);
        let done = get(&tool, "http://a.example/", reach(&["net:a.example"])).await.unwrap();
        assert_eq!(told(&done, "text") == "hello", is_followed, "{to}");
        assert_eq!(done.output.get("location").is_none(), is_followed, "{to}");
        let dialled = if is_followed { vec![80, 443] } else { vec![80] };
        let dialled: Vec<String> = dialled.iter().map(|port| format!("{PUBLIC}:{port}")).collect();
        assert_eq!(names.dialled(), dialled, "{to}");
    }
}

/// Whoever can cut the line, and no more, makes a part of a page look whole: TLS says when it ends.
#[tokio::test]
async fn a_page_that_is_cut_on_its_way_is_no_page() {
    let root = Root::new();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nI agree";
    let answer = |head: &'static str, end: Option<Say>| {
        move |_: &str| say(head).into_iter().chain(end.clone()).collect::<Vec<_>>()
    };
    let tls = || root.server(&["a.example"], |_| {});
    let whole = Server::secure(tls(), answer(head, None)).await;
    let done = secured(&whole, "a.example", &[root.der()]).await.unwrap();
    assert_eq!(told(&done, "text"), "I agree");
    let cut = Server::secure(tls(), answer(head, Some(Say::Cut))).await;
    let refused = secured(&cut, "a.example", &[root.der()]).await.unwrap_err();
    assert_eq!(refused.code, Code::WebUnreachable);
    assert!(refused.message.contains("the answer broke off"), "{refused}");
}

fn host_of(head: &str) -> &str {
    head.lines().find_map(|line| line.strip_prefix("host: ")).unwrap()
}

#[tokio::test]
async fn a_server_that_speaks_no_tls_is_refused() {
    let server = Server::start(|_| page("secret")).await;
    let names = Names::new();
    names.set("a.example", &[&["127.0.0.1"]]);
    let config = Config { deadline: Duration::from_millis(500), ..Config::default() };
    let granted = format!("net:a.example:{}", server.port());
    let url = format!("https://a.example:{}/", server.port());
    let refused = get(&tool_with(&names, config), &url, reach(&[&granted])).await.unwrap_err();
    assert!(matches!(refused.code, Code::WebUnreachable | Code::ToolTimeout), "{refused}");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_root_that_is_none_is_told_at_once() {
    let roots = vec![CertificateDer::from(vec![1, 2, 3])];
    assert!(HttpGet::new(Config { roots, ..Config::default() }, clock("12:00:00")).is_err());
    drop(tool(&Names::new()));
}
