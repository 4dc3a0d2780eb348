//! What is answered.
//! Owns: the forms of answers, and which status a code means. Must not: say more than the command would.

use crate::command::process::{Advanced, text};
use crate::failure::Failure;
use crate::output;
use axum::body::Body;
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use countersign_record::code::Code;

/// What became of a run, where it is anything but going well.
pub(super) const CODE: HeaderName = HeaderName::from_static("countersign-code");

/// What every answer says: it is for nobody else, and no page.
pub(super) const PRIVATE: [(HeaderName, HeaderValue); 5] = [
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
];

/// A JSON document.
pub(super) fn json(status: StatusCode, text: String) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// The envelope of a run. That it waits, or how it ended, is no error: the envelope says it, and a header names the code.
/// What could not be done is one.
pub(super) fn advanced(advanced: &Advanced) -> Result<Response, Failure> {
    let code = match &advanced.outcome {
        Ok(_) => None,
        Err(failure) if is_of_the_run(failure.code) => Some(failure.code),
        Err(failure) => return Err(failure.clone()),
    };
    let mut response = json(StatusCode::OK, text(&advanced.run)?);
    if let Some(code) = code {
        response.headers_mut().insert(CODE, HeaderValue::from_static(code.as_str()));
    }
    Ok(response)
}

fn is_of_the_run(code: Code) -> bool {
    matches!(code, Code::RunWaiting | Code::RunOver | Code::RunBound | Code::RunDenied | Code::RunFailed)
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let status = status(self.code);
        let mut response = json(status, output::error_text(&self));
        let headers = response.headers_mut();
        headers.insert(CODE, HeaderValue::from_static(self.code.as_str()));
        match status {
            StatusCode::UNAUTHORIZED => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        response
    }
}

/// The status of an error. What is the server's own trouble, and none of whoever asked, is 500.
fn status(code: Code) -> StatusCode {
    match code {
        Code::TokenMissing | Code::TokenUnknown | Code::TokenExpired | Code::TokenRevoked => {
            StatusCode::UNAUTHORIZED
        }
        Code::AccessMatter
        | Code::AccessRole
        | Code::HttpOrigin
        | Code::CapabilityProposer
        | Code::CapabilityUnsigned => StatusCode::FORBIDDEN,
        Code::HttpPath | Code::RunMissing => StatusCode::NOT_FOUND,
        Code::HttpMethod => StatusCode::METHOD_NOT_ALLOWED,
        Code::HttpSlow => StatusCode::REQUEST_TIMEOUT,
        Code::AnswerUnasked | Code::RunOver | Code::RunBusy | Code::RunWaiting | Code::LedgerConflict => {
            StatusCode::CONFLICT
        }
        Code::AnswerExpired | Code::RunErased => StatusCode::GONE,
        Code::JsonTooLong => StatusCode::PAYLOAD_TOO_LARGE,
        Code::HttpMedia => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Code::HttpHost => StatusCode::MISDIRECTED_REQUEST,
        Code::EnvelopeInvalid | Code::RunStage => StatusCode::UNPROCESSABLE_ENTITY,
        Code::HttpBusy | Code::LedgerLocked => StatusCode::SERVICE_UNAVAILABLE,
        Code::HttpQuery | Code::HttpCut | Code::AnswerKind => StatusCode::BAD_REQUEST,
        _ => match code.entry().area {
            "json" | "number" | "field" | "id" => StatusCode::BAD_REQUEST,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        },
    }
}

pub(super) async fn no_path(uri: Uri) -> Failure {
    Failure::new(Code::HttpPath, format!("there is nothing at {}", output::plain(uri.path())))
}

pub(super) async fn no_method(method: Method, uri: Uri) -> Failure {
    let path = output::plain(uri.path());
    Failure::new(Code::HttpMethod, format!("{path} has no method {}", output::plain(method.as_str())))
}

/// Whether the server is there. Needs no token.
#[utoipa::path(
    get,
    path = "/healthz",
    operation_id = "healthz",
    security(()),
    responses((status = 200, description = "It is.", content_type = "application/json", body = super::openapi::Health))
)]
pub(super) async fn healthz() -> Response {
    json(StatusCode::OK, r#"{"status":"ok"}"#.to_owned())
}
