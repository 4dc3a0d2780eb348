//! `/api/v1/runs`: the commands `runs list`, `runs show` and `answer` for whoever asks.
//! Owns: the form of an answer in JSON. Must not: decide whether it counts.

use super::openapi::{AnswerBody, Error, GenericEnvelope, ListedRun, ShownRun};
use super::{Server, body, replies, require, seat};
use crate::command::answer::{Given, answered};
use crate::command::process::Desk;
use crate::command::runs::Shown;
use crate::failure::Failure;
use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use countersign_kernel::run::Answer;
use countersign_record::access::{MatterAccess, Role};
use countersign_record::code::Code;
use countersign_record::fields::{Fields, Trouble};
use countersign_record::id::RunId;
use countersign_record::json::{self, Json};
use countersign_runtime::run;
use serde::Serialize;
use std::sync::Arc;

/// The runs of the token's matter, the newest first.
#[utoipa::path(
    get,
    path = "/api/v1/runs",
    operation_id = "listRuns",
    responses(
        (status = 200, description = "The runs.", body = Vec<ListedRun>, content_type = "application/json"),
        (status = 401, description = "There is no token, or it does not count.", body = Error, content_type = "application/json"),
    )
)]
pub(super) async fn list(
    State(server): State<Arc<Server>>,
    Extension(access): Extension<MatterAccess>,
) -> Result<Response, Failure> {
    require(&access, Role::Viewer)?;
    let _room = server.room().await?;
    printed(&run::list(&*server.ledger, &access).await?)
}

/// What happened in a run, and its envelope as it is now.
#[utoipa::path(
    get,
    path = "/api/v1/runs/{id}",
    operation_id = "showRun",
    params(("id" = String, Path, description = "The run, such as run_0123456789abcdef.")),
    responses(
        (status = 200, description = "The run.", body = ShownRun, content_type = "application/json"),
        (status = 400, description = "This is no id of a run.", body = Error, content_type = "application/json"),
        (status = 401, description = "There is no token, or it does not count.", body = Error, content_type = "application/json"),
        (status = 404, description = "There is no such run in the token's matter.", body = Error, content_type = "application/json"),
        (status = 410, description = "What the run said was erased.", body = Error, content_type = "application/json"),
    )
)]
pub(super) async fn show(
    State(server): State<Arc<Server>>,
    Extension(access): Extension<MatterAccess>,
    path: Result<Path<String>, PathRejection>,
) -> Result<Response, Failure> {
    require(&access, Role::Viewer)?;
    let id = named(path)?;
    let _room = server.room().await?;
    let told = run::told(&server.bench(&access), &id).await?;
    printed(&Shown::from(&told))
}

/// Answers what a run asks, and lets it go on.
///
/// An answer counts once; one that is late, or to something else, changes nothing. Needs the role approver; the token's
/// principal has answered, and signs if it has a key.
#[utoipa::path(
    post,
    path = "/api/v1/runs/{id}/answer",
    operation_id = "answerRun",
    params(("id" = String, Path, description = "The run, such as run_0123456789abcdef.")),
    request_body(content = AnswerBody, content_type = "application/json", description = "What was asked, and one answer to it."),
    responses(
        (status = 200, description = "The envelope as it is now.", body = GenericEnvelope, content_type = "application/json",
         headers(("Countersign-Code" = String, description = "run.waiting, run.over, run.bound, run.denied or run.failed; absent where all went well."))),
        (status = 400, description = "The body is no answer, or the question needs another kind of answer.", body = Error, content_type = "application/json"),
        (status = 401, description = "There is no token, or it does not count.", body = Error, content_type = "application/json"),
        (status = 403, description = "The token's role may not do this.", body = Error, content_type = "application/json"),
        (status = 404, description = "There is no such run in the token's matter.", body = Error, content_type = "application/json"),
        (status = 408, description = "The body did not come in time.", body = Error, content_type = "application/json"),
        (status = 409, description = "Nothing was asked, or not this; it was answered already; the run is over; somebody else is at work on it.", body = Error, content_type = "application/json"),
        (status = 410, description = "The question has expired.", body = Error, content_type = "application/json"),
        (status = 413, description = "The body is too large.", body = Error, content_type = "application/json"),
        (status = 415, description = "The body is not said to be JSON.", body = Error, content_type = "application/json"),
        (status = 503, description = "The server has its hands full.", body = Error, content_type = "application/json"),
    )
)]
pub(super) async fn answer(
    State(server): State<Arc<Server>>,
    Extension(access): Extension<MatterAccess>,
    path: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, Failure> {
    require(&access, Role::Approver)?;
    let id = named(path)?;
    let room = server.room().await?;
    let document = body::document(request, server.timeout).await?;
    let (question, said) =
        read(document).map_err(|troubles| Failure::troubles(Code::FieldInvalid, "no answer", &troubles))?;
    let at_work = Arc::clone(&server);
    let work = async move {
        let (_room, server) = (room, at_work);
        let global = server.global_of(&access);
        let opens = |name: &str| server.model(name);
        let seat = seat(&server, &global, &access, &opens);
        let (desk, told) = Desk::again(seat, server.working.allow_programs, id.as_str()).await?;
        answered(desk, told, &question, said, &server.cancel).await
    };
    replies::advanced(&server.finish(work).await?)
}

/// The run that a path names.
fn named(path: Result<Path<String>, PathRejection>) -> Result<RunId, Failure> {
    let Path(id) = path.map_err(|_| Failure::new(Code::IdInvalid, "the path names no run"))?;
    Ok(RunId::try_from(id)?)
}

fn printed<T: Serialize + ?Sized>(value: &T) -> Result<Response, Failure> {
    let text = json::to_text(value).map_err(|error| Failure::new(Code::OutputFailed, error.to_string()))?;
    Ok(replies::json(StatusCode::OK, text))
}

/// What was asked, and the one answer that is given to it.
fn read(document: Json) -> Result<(String, Given), Vec<Trouble>> {
    let mut fields = Fields::taking(document).map_err(|trouble| vec![trouble])?;
    let id = fields.filled("id");
    let mut answers = Vec::new();
    answers.extend(fields.absent_or("value", Fields::text).map(|text| Given::Answer(Answer::Text(text))));
    answers.extend(fields.absent_or("choose", Fields::filled).map(Given::Step));
    for (name, answer) in [("approve", Answer::Approve), ("deny", Answer::Deny)] {
        match fields.absent_or(name, Fields::boolean) {
            Some(true) => answers.push(Given::Answer(answer)),
            // Whether that gives leave or not could be argued about.
            Some(false) => fields.trouble(name, Code::FieldInvalid, "only true says something here"),
            None => {}
        }
    }
    fields.deny_unknown();
    let only = match (answers.pop(), answers.is_empty()) {
        (Some(answer), true) => Some(answer),
        (Some(_), false) | (None, _) => {
            let needed = "exactly one of value, choose, approve and deny is needed";
            fields.trouble("value", Code::FieldConflict, needed);
            None
        }
    };
    fields.finish()?;
    // Without a trouble both are there.
    id.zip(only).ok_or_else(Vec::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(&str, Given)>) {
        let read = read(json::parse(text.as_bytes()).unwrap()).ok();
        assert_eq!(read, expected.map(|(id, answer)| (id.to_owned(), answer)), "{text}");
    }

    #[test]
    fn one_answer_is_one_answer() {
        check(r#"{"id":"a","value":""}"#, Some(("a", Given::Answer(Answer::Text(String::new())))));
        check(r#"{"id":"a","choose":"Give_up"}"#, Some(("a", Given::Step("Give_up".to_owned()))));
        check(r#"{"id":"a","approve":true}"#, Some(("a", Given::Answer(Answer::Approve))));
        check(r#"{"id":"a","deny":true}"#, Some(("a", Given::Answer(Answer::Deny))));
        for bad in [
            "[]",
            "{}",
            r#"{"id":"a"}"#,
            r#"{"approve":true}"#,
            r#"{"id":"","approve":true}"#,
            r#"{"id":1,"approve":true}"#,
            r#"{"id":"a","approve":false}"#,
            r#"{"id":"a","approve":"true"}"#,
            r#"{"id":"a","approve":null}"#,
            r#"{"id":"a","approve":true,"deny":true}"#,
            r#"{"id":"a","approve":true,"value":"x"}"#,
            r#"{"id":"a","approve":true,"other":1}"#,
            r#"{"id":"a","value":["x"]}"#,
        ] {
            check(bad, None);
        }
    }
}
