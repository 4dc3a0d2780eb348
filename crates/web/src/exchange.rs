//! One request and its answer, over a connection that is there.
//! Owns: what is sent, the bounds of what is taken. Must not: connect, follow a redirect, or keep a connection.

use crate::target::Target;
use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{self, HeaderMap, HeaderName};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

/// Fields of an answer's head.
const HEADERS_MAX: usize = 100;
/// Bytes of an answer's head.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// A type with its parameters.
const CONTENT_TYPE_BYTES_MAX: usize = 255;

const USER_AGENT: &str = concat!("countersign/", env!("CARGO_PKG_VERSION"));
const ACCEPT: &str =
    "text/html, application/xhtml+xml, text/*, application/json, application/xml;q=0.9, */*;q=0.5";

/// What came back.
#[derive(Debug)]
pub(crate) struct Received {
    /// The status.
    pub(crate) status: StatusCode,
    /// Where it says to go instead, if it says so in ASCII.
    pub(crate) location: Option<String>,
    /// What it says to be.
    pub(crate) content_type: Option<String>,
    /// Whether it may be kept.
    pub(crate) may_be_kept: bool,
    /// The body of a success, up to the bound; else nothing.
    pub(crate) body: Vec<u8>,
    /// Whether there was more.
    pub(crate) is_truncated: bool,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Error {
    /// The connection ended before there was an answer.
    #[error("the connection ended before an answer came")]
    Ended,
    /// What came is no HTTP, or its head is too long.
    #[error("what came back is no HTTP/1 answer, or one with too long a head")]
    NotHttp,
    /// The body ended too early, or is garbled.
    #[error("the answer broke off")]
    Broken,
    /// The body is compressed, which was not asked for: a small one may become a very large one.
    #[error("the answer is compressed, though that was not asked for")]
    Encoded,
}

/// Asks and takes at most `body_bytes_max` of the body. Dropping the future ends the connection.
pub(crate) async fn exchange<S>(stream: S, target: &Target, body_bytes_max: usize) -> Result<Received, Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    let mut builder = http1::Builder::new();
    builder.max_headers(HEADERS_MAX).max_header_size(HEAD_BYTES_MAX).max_buf_size(HEAD_BYTES_MAX);
    let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await.map_err(of_head)?;
    let request = request(target)?;
    let asked = async move {
        let answer = sender.send_request(request).await.map_err(of_head)?;
        take(answer, body_bytes_max).await
    };
    tokio::pin!(asked, connection);
    // The connection is driven here and not by a task of its own, so that nothing of it outlives the call.
    let received = tokio::select! {
        biased;
        received = &mut asked => Some(received),
        _ended = &mut connection => None,
    };
    match received {
        Some(received) => received,
        // What was taken before the connection ended can still be read.
        None => asked.await,
    }
}

fn request(target: &Target) -> Result<Request<Empty<Bytes>>, Error> {
    Request::get(target.path().clone())
        .header(header::HOST, target.authority())
        .header(header::USER_AGENT, USER_AGENT)
        .header(header::ACCEPT, ACCEPT)
        .header(header::ACCEPT_ENCODING, "identity")
        .header(header::CONNECTION, "close")
        .body(Empty::new())
        .map_err(|_| Error::NotHttp)
}

async fn take(answer: Response<Incoming>, body_bytes_max: usize) -> Result<Received, Error> {
    let (head, mut rest) = answer.into_parts();
    let mut received = Received {
        status: head.status,
        location: text_of(&head.headers, header::LOCATION),
        content_type: text_of(&head.headers, header::CONTENT_TYPE)
            .filter(|text| text.len() <= CONTENT_TYPE_BYTES_MAX),
        may_be_kept: may_be_kept(&head.headers),
        body: Vec::new(),
        is_truncated: false,
    };
    if !head.status.is_success() {
        return Ok(received);
    }
    if is_encoded(&head.headers) {
        return Err(Error::Encoded);
    }
    while let Some(frame) = rest.frame().await {
        let Ok(data) = frame.map_err(|_| Error::Broken)?.into_data() else { continue };
        let room = body_bytes_max.saturating_sub(received.body.len());
        received.body.extend_from_slice(data.get(..room).unwrap_or(&data));
        if data.len() > room {
            received.is_truncated = true;
            drop_half_a_letter(&mut received.body);
            break;
        }
    }
    Ok(received)
}

/// The bound may fall into the middle of a letter: that is no fault of the text.
fn drop_half_a_letter(body: &mut Vec<u8>) {
    if let Err(error) = std::str::from_utf8(body)
        && error.error_len().is_none()
    {
        body.truncate(error.valid_up_to());
    }
}

fn text_of(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// A cookie is for one, and `no-store` says so: neither is kept for others.
fn may_be_kept(headers: &HeaderMap) -> bool {
    let says_no_store = |value: &header::HeaderValue| {
        String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase().contains("no-store")
    };
    !headers.contains_key(header::SET_COOKIE)
        && !headers.get_all(header::CACHE_CONTROL).iter().any(says_no_store)
}

fn is_encoded(headers: &HeaderMap) -> bool {
    let is_other = |name, plain: &str| {
        headers.get_all(name).iter().any(|value| !value.as_bytes().eq_ignore_ascii_case(plain.as_bytes()))
    };
    is_other(header::CONTENT_ENCODING, "identity") || is_other(header::TRANSFER_ENCODING, "chunked")
}

fn of_head(error: hyper::Error) -> Error {
    match error.is_parse() {
        true => Error::NotHttp,
        false => Error::Ended,
    }
}
