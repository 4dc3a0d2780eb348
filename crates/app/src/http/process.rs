//! `POST /api/v1/process`: the command `process` for whoever asks.
//! Owns: which parts of a request are its input. Must not: carry an envelope on by itself.

use super::openapi::{Error, GenericEnvelope};
use super::{Server, body, replies, require, seat};
use crate::command::process::{Pace, advanced};
use crate::failure::Failure;
use axum::Extension;
use axum::extract::{Request, State};
use axum::response::Response;
use countersign_record::access::{MatterAccess, Role};
use countersign_record::code::Code;
use std::sync::Arc;

/// Carries on a run: its envelope in, the advanced envelope out.
///
/// An envelope that came from here goes on with the run that it belongs to; every other one begins a run. A run that
/// waits for a person, or has ended, is no error: the envelope says so, and the header `Countersign-Code` names it. What
/// was begun is carried on even if the client leaves. Needs the role operator.
#[utoipa::path(
    post,
    path = "/api/v1/process",
    operation_id = "process",
    params(("step" = Option<bool>, Query, description = "Go on by one stage only.")),
    request_body(content = GenericEnvelope, content_type = "application/json", description = "A GenericEnvelope, in any of its dialects; at most 16 MiB."),
    responses(
        (status = 200, description = "The envelope as it is now.", body = GenericEnvelope, content_type = "application/json",
         headers(("Countersign-Code" = String, description = "run.waiting, run.over, run.bound, run.denied or run.failed; absent where all went well."))),
        (status = 400, description = "The body is no JSON, or the query is unknown.", body = Error, content_type = "application/json"),
        (status = 401, description = "There is no token, or it does not count.", body = Error, content_type = "application/json"),
        (status = 403, description = "The token's role may not do this.", body = Error, content_type = "application/json"),
        (status = 408, description = "The body did not come in time.", body = Error, content_type = "application/json"),
        (status = 409, description = "Somebody else is at work on the run.", body = Error, content_type = "application/json"),
        (status = 413, description = "The body is too large.", body = Error, content_type = "application/json"),
        (status = 415, description = "The body is not said to be JSON.", body = Error, content_type = "application/json"),
        (status = 422, description = "The body is no GenericEnvelope; details.errors names everything that is wrong.", body = Error, content_type = "application/json"),
        (status = 503, description = "The server has its hands full.", body = Error, content_type = "application/json"),
    )
)]
pub(super) async fn process(
    State(server): State<Arc<Server>>,
    Extension(access): Extension<MatterAccess>,
    request: Request,
) -> Result<Response, Failure> {
    require(&access, Role::Operator)?;
    let pace = pace(request.uri().query())?;
    let room = server.room().await?;
    let document = body::document(request, server.timeout).await?;
    let at_work = Arc::clone(&server);
    let work = async move {
        let (_room, server) = (room, at_work);
        let global = server.global_of(&access);
        let opens = |name: &str| server.model(name);
        let seat = seat(&server, &global, &access, &opens);
        advanced(seat, &server.working, pace, document, &server.cancel).await
    };
    replies::advanced(&server.finish(work).await?)
}

fn pace(query: Option<&str>) -> Result<Pace, Failure> {
    match query {
        None | Some("" | "step=false") => Ok(Pace::Whole),
        Some("step=true") => Ok(Pace::Step),
        Some(_) => Err(Failure::new(Code::HttpQuery, "the query may be step=true or step=false")),
    }
}
