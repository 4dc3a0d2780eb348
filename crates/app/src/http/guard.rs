//! Who may ask.
//! Owns: the checks of Host, Origin and token that every request passes, and headers of every answer. Must not: look at
//! a body: none is read before this.

use super::Server;
use super::replies::PRIVATE;
use crate::failure::Failure;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName};
use axum::http::uri::Authority;
use axum::http::{Method, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use countersign_record::access::MatterAccess;
use countersign_record::code::Code;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// The one path that needs no token.
const OPEN: &str = "/healthz";
/// No token is longer.
const TOKEN_CHARS_MAX: usize = 200;

/// Lets a request through, with what its token allows, or answers it.
pub(super) async fn guard(State(server): State<Arc<Server>>, mut request: Request, next: Next) -> Response {
    let mut response = match admitted(&server, &request) {
        Ok(access) => {
            if let Some(access) = access {
                request.extensions_mut().insert(access);
            }
            next.run(request).await
        }
        Err(failure) => failure.into_response(),
    };
    for (name, value) in PRIVATE {
        response.headers_mut().insert(name, value);
    }
    response
}

fn admitted(server: &Server, request: &Request) -> Result<Option<MatterAccess>, Failure> {
    let host = server.own.host(request.uri(), request.headers())?;
    same_origin(&host, request.headers())?;
    if request.uri().path() == OPEN && matches!(*request.method(), Method::GET | Method::HEAD) {
        return Ok(None);
    }
    let shown = bearer(request.headers())?;
    let now = server.clock.now().map_err(|error| Failure::new(Code::TimeInvalid, error.to_string()))?;
    server.tokens.access(shown, now.instant()).map(Some).map_err(|failure| match failure.code {
        // Whoever asks is nobody yet, so where the file is and what is wrong with it is not for them.
        Code::TokenFile => {
            Failure::new(Code::TokenFile, "the server can't read its tokens; countersign token list says why")
        }
        _ => failure,
    })
}

/// The one value of a header, if it is there; what is no text is something else than was asked for.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, ()> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| ()),
        (Some(_), Some(_)) => Err(()),
    }
}

/// The token that a request shows.
fn bearer(headers: &HeaderMap) -> Result<&str, Failure> {
    let unreadable =
        || Failure::new(Code::TokenUnknown, "the Authorization header is not Bearer and a token");
    let value = only(headers, &header::AUTHORIZATION).map_err(|()| unreadable())?;
    let value = value.ok_or_else(|| {
        Failure::new(Code::TokenMissing, "the request needs the header Authorization: Bearer TOKEN")
    })?;
    let (scheme, token) = value.split_once(' ').ok_or_else(unreadable)?;
    let is_token = token.len() <= TOKEN_CHARS_MAX && token.bytes().all(|byte| byte.is_ascii_graphic());
    if !scheme.eq_ignore_ascii_case("bearer") || token.is_empty() || !is_token {
        return Err(unreadable());
    }
    Ok(token)
}

/// A browser says which site's page has sent a request. Only our own may.
fn same_origin(host: &Authority, headers: &HeaderMap) -> Result<(), Failure> {
    let foreign = || Failure::new(Code::HttpOrigin, "the request comes from a page of another site");
    let Some(origin) = only(headers, &header::ORIGIN).map_err(|()| foreign())? else { return Ok(()) };
    match origin.strip_prefix("http://") {
        Some(site) if site.eq_ignore_ascii_case(host.as_str()) => Ok(()),
        Some(_) | None => Err(foreign()),
    }
}

/// The address that the server listens at.
pub(super) struct Own {
    address: SocketAddr,
}

impl Own {
    pub(super) fn new(address: SocketAddr) -> Self {
        Own { address }
    }

    /// The host that a request is for. A name that somebody had lead here is refused: its owner's pages would be of the
    /// same origin.
    fn host(&self, uri: &Uri, headers: &HeaderMap) -> Result<Authority, Failure> {
        let foreign = || Failure::new(Code::HttpHost, "the request is for a host that is not this server");
        let host = only(headers, &header::HOST).ok().flatten().ok_or_else(foreign)?;
        let host = Authority::try_from(host).map_err(|_| foreign())?;
        // A request line may name a host as well, and then that one counts.
        let is_ours = self.is_ours(&host) && uri.authority().is_none_or(|other| self.is_ours(other));
        if is_ours { Ok(host) } else { Err(foreign()) }
    }

    fn is_ours(&self, host: &Authority) -> bool {
        let port = match host.port() {
            Some(port) => port.as_str().parse::<u16>().ok(),
            None => Some(80),
        };
        let name = host.host();
        let ip =
            name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name).parse::<IpAddr>();
        let is_here = match ip {
            // A number can't be made to lead elsewhere.
            Ok(ip) => ip.is_loopback() || ip == self.address.ip() || self.address.ip().is_unspecified(),
            Err(_) => name.eq_ignore_ascii_case("localhost"),
        };
        is_here && port == Some(self.address.port()) && !host.as_str().contains('@')
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;
    use proptest::prelude::*;

    fn is_let_in(listens: &str, host: &str, origin: Option<&str>) -> bool {
        let own = Own::new(listens.parse().unwrap());
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_str(host).unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        own.host(&Uri::from_static("/"), &headers).and_then(|host| same_origin(&host, &headers)).is_ok()
    }

    #[test]
    fn only_our_own_hosts_are_let_in() {
        let here = "127.0.0.1:7878";
        for host in ["127.0.0.1:7878", "localhost:7878", "LOCALHOST:7878", "[::1]:7878", "127.0.0.2:7878"] {
            assert!(is_let_in(here, host, None), "{host}");
            assert!(is_let_in(here, host, Some(&format!("http://{host}"))), "{host}");
        }
        for host in [
            "",
            "127.0.0.1",
            "localhost",
            "localhost:80",
            "localhost:7878:1",
            "evil.example:7878",
            "localhost.evil.example:7878",
            "127.0.0.1.evil.example:7878",
            "user@127.0.0.1:7878",
            "10.0.0.1:7878",
            "[::2]:7878",
            "localhost.:7878",
            "2130706433:7878",
        ] {
            assert!(!is_let_in(here, host, None), "{host}");
        }
        assert!(is_let_in("0.0.0.0:7878", "192.168.1.5:7878", None));
        assert!(is_let_in("192.168.1.5:80", "192.168.1.5", None));
        assert!(!is_let_in("0.0.0.0:7878", "intranet:7878", None));
        assert!(!is_let_in("192.168.1.5:7878", "192.168.1.6:7878", None));
    }

    proptest! {
        #[test]
        fn whatever_is_let_in_is_a_number_of_ours_or_localhost(host in "[ -~]{0,30}(:7878)?") {
            if is_let_in("127.0.0.1:7878", &host, None) {
                let name = host.strip_suffix(":7878").unwrap().to_lowercase();
                let number = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
                prop_assert!(name == "localhost" || number.is_ok_and(|ip| ip.is_loopback()), "{}", host);
            }
        }
    }

    #[test]
    fn only_our_own_pages_are_let_in() {
        let (here, host) = ("127.0.0.1:7878", "127.0.0.1:7878");
        for origin in [
            "null",
            "",
            "http://evil.example",
            "https://127.0.0.1:7878",
            "http://127.0.0.1:7879",
            "http://127.0.0.1:7878/",
            "http://localhost:7878",
            "http://127.0.0.1:7878@evil.example",
        ] {
            assert!(!is_let_in(here, host, Some(origin)), "{origin}");
        }
    }

    #[test]
    fn two_headers_of_a_name_are_none() {
        let mut headers = HeaderMap::new();
        headers.append(header::HOST, HeaderValue::from_static("127.0.0.1:7878"));
        headers.append(header::HOST, HeaderValue::from_static("evil.example"));
        assert!(Own::new("127.0.0.1:7878".parse().unwrap()).host(&Uri::from_static("/"), &headers).is_err());
        headers.append(header::AUTHORIZATION, HeaderValue::from_static("Bearer a"));
        headers.append(header::AUTHORIZATION, HeaderValue::from_static("Bearer b"));
        assert_eq!(bearer(&headers).unwrap_err().code, Code::TokenUnknown);
    }

    #[test]
    fn a_request_line_with_another_host_is_refused() {
        let own = Own::new("127.0.0.1:7878".parse().unwrap());
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static("127.0.0.1:7878"));
        assert!(own.host(&Uri::from_static("http://127.0.0.1:7878/healthz"), &headers).is_ok());
        assert!(own.host(&Uri::from_static("http://evil.example/healthz"), &headers).is_err());
    }
}
