//! What a request brings.
//! Owns: reading it in bounded memory and time. Must not: read a body that is not said to be JSON.

use crate::failure::Failure;
use axum::extract::Request;
use axum::http::header::{self, HeaderMap};
use countersign_record::code::Code;
use countersign_record::json::{self, Json, Limits};
use http_body_util::BodyExt;
use std::time::Duration;

/// The document that a request brings; all of it within `time`, however fast its parts come.
pub(super) async fn document(request: Request, time: Duration) -> Result<Json, Failure> {
    check(request.headers())?;
    let bytes = tokio::time::timeout(time, whole(request)).await.map_err(|_| {
        Failure::new(Code::HttpSlow, format!("the body did not come in {} seconds", time.as_secs()))
    })??;
    Ok(json::parse(&bytes)?)
}

fn check(headers: &HeaderMap) -> Result<(), Failure> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media = text(header::CONTENT_TYPE).split(';').next().unwrap_or_default().trim();
    if !media.eq_ignore_ascii_case("application/json") {
        return Err(Failure::new(
            Code::HttpMedia,
            "the request needs the header Content-Type: application/json",
        ));
    }
    if headers.contains_key(header::CONTENT_ENCODING) {
        return Err(Failure::new(Code::HttpMedia, "a body that is compressed is not read"));
    }
    // One that says that it is too long need not be sent.
    match text(header::CONTENT_LENGTH).parse::<usize>() {
        Ok(length) if length > Limits::GOVERNED.bytes_max => Err(too_long()),
        Ok(_) | Err(_) => Ok(()),
    }
}

async fn whole(request: Request) -> Result<Vec<u8>, Failure> {
    let mut body = request.into_body();
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Failure::new(Code::HttpCut, "the body ended before it was whole"))?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > Limits::GOVERNED.bytes_max {
            return Err(too_long());
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

fn too_long() -> Failure {
    Failure::new(Code::JsonTooLong, format!("a body may have {} bytes", Limits::GOVERNED.bytes_max))
}
