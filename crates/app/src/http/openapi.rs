//! `GET /openapi.json`: what the server can be asked, for programs.
//! Owns: the description, made from the endpoints themselves, and the forms that it names. Must not: describe what no
//! endpoint does.

use super::{Server, replies, require, routes};
use crate::failure::Failure;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use countersign_record::access::{MatterAccess, Role};
use countersign_record::code::Code;
use countersign_record::json::{self, Json, Object};
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{Components, Info, License, OpenApi, OpenApiBuilder};

const BEARER: &str = "bearer";
const ABOUT: &str =
    "Agent work you can put your name to: envelopes that agents carry on, and runs that wait for people.";

/// Forms that have a schema of their own, which stands in the place of the form below.
const SCHEMAS: [(&str, &str); 2] = [
    ("GenericEnvelope", include_str!("../../../../schemas/generic_envelope.v1.schema.json")),
    ("Error", include_str!("../../../../schemas/error.v1.schema.json")),
];

/// The state of a run, as it is exchanged.
#[derive(ToSchema)]
pub(super) struct GenericEnvelope {}

/// One error; `docs/codes/` has a page for each code.
#[derive(ToSchema)]
pub(super) struct Error {}

/// A run among others.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it only describes what another type writes")]
pub(super) struct ListedRun {
    /// Its name.
    run: String,
    /// When it began.
    #[schema(format = DateTime)]
    began_at: String,
    /// What was asked: the goal of a task, the prompt of a question.
    #[schema(required)]
    title: Option<String>,
    /// Its pipeline.
    pipeline: String,
    /// The envelope that it carries.
    envelope_id: String,
    standing: Standing,
    /// Why it ended or waits.
    #[schema(required)]
    reason: Option<String>,
}

/// Where a run stands: it is being carried on or was left, a person is needed, or it has ended.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "it only describes what another type writes")]
pub(super) enum Standing {
    Open,
    Waiting,
    Over,
}

/// A run with its timeline.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it only describes what another type writes")]
pub(super) struct ShownRun {
    /// Its name.
    run: String,
    /// Its pipeline.
    pipeline: String,
    standing: Standing,
    /// Who answers.
    model: String,
    /// The folders of sources, as they were named.
    sources: Vec<String>,
    /// What happened, in order.
    timeline: Vec<TimelineRow>,
    envelope: GenericEnvelope,
}

/// A row of the ledger that belongs to a run.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it only describes what another type writes")]
pub(super) struct TimelineRow {
    /// Its place in the ledger.
    #[schema(minimum = 1)]
    seq: u64,
    /// When.
    #[schema(format = DateTime)]
    at: String,
    /// What happened, such as run.called.
    kind: String,
    /// Who.
    actor: String,
    /// What may be known of it.
    #[schema(value_type = Object)]
    payload: (),
}

/// What was asked, and one answer: exactly one of value, choose, approve and deny.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it only describes what is read elsewhere")]
pub(super) struct AnswerBody {
    /// What was asked, as the run names it.
    id: String,
    /// An answer in words.
    #[schema(nullable = false)]
    value: Option<String>,
    /// One of the next steps that are offered: retry, give up.
    #[schema(nullable = false)]
    choose: Option<String>,
    /// Gives leave; true, or absent.
    #[schema(nullable = false)]
    approve: Option<bool>,
    /// Gives no leave: the run ends, and what it asked leave for is not done; true, or absent.
    #[schema(nullable = false)]
    deny: Option<bool>,
}

/// That the server is there.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it only describes what another function writes")]
pub(super) struct Health {
    /// Always ok.
    status: String,
}

/// What holds for every endpoint.
pub(super) fn opening() -> OpenApi {
    let mut info = Info::new("Countersign", env!("CARGO_PKG_VERSION"));
    info.description = Some(ABOUT.to_owned());
    let mut license = License::new("Apache-2.0");
    license.identifier = Some("Apache-2.0".to_owned());
    info.license = Some(license);
    let mut components = Components::new();
    let scheme = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("A token of countersign token add, or the one of the first start."))
        .build();
    components.add_security_scheme(BEARER, SecurityScheme::Http(scheme));
    OpenApiBuilder::new()
        .info(info)
        .components(Some(components))
        .security(Some([SecurityRequirement::new(BEARER, Vec::<String>::new())]))
        .build()
}

/// The description, on many lines.
pub(crate) fn description() -> Result<String, Failure> {
    let broken = |why: String| Failure::new(Code::HttpFailed, format!("the API's description: {why}"));
    let (_, api) = routes();
    let text = api.to_json().map_err(|error| broken(error.to_string()))?;
    let document = json::parse(text.as_bytes()).map_err(|error| broken(error.to_string()))?;
    let document = with_schemas(document).ok_or_else(|| broken("a schema is none".to_owned()))?;
    let text = json::to_text(&document).map_err(|error| broken(error.to_string()))?;
    Ok(format!("{}\n", json::indented(&text)))
}

fn with_schemas(document: Json) -> Option<Json> {
    let Json::Object(mut document) = document else { return None };
    let Some(Json::Object(mut components)) = document.remove("components") else { return None };
    let Some(Json::Object(mut schemas)) = components.remove("schemas") else { return None };
    for (name, schema) in SCHEMAS {
        let Ok(Json::Object(schema)) = json::parse(schema.as_bytes()) else { return None };
        schemas.insert(name, without_dialect(schema));
    }
    components.insert("schemas", schemas);
    document.insert("components", components);
    Some(Json::Object(document))
}

/// Without what says that it is a document of its own: the words that it uses mean the same in OpenAPI 3.1.
fn without_dialect(mut schema: Object) -> Object {
    schema.remove("$schema");
    schema.remove("$id");
    schema
}

/// This description.
#[utoipa::path(
    get,
    path = "/openapi.json",
    operation_id = "openapi",
    responses(
        (status = 200, description = "OpenAPI 3.1.", body = Object, content_type = "application/json"),
        (status = 401, description = "There is no token, or it does not count.", body = Error, content_type = "application/json"),
    )
)]
pub(super) async fn openapi(
    State(_): State<Arc<Server>>,
    Extension(access): Extension<MatterAccess>,
) -> Result<Response, Failure> {
    require(&access, Role::Viewer)?;
    Ok(replies::json(StatusCode::OK, description()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_is_the_one_that_is_published() {
        let published = include_str!("../../../../docs/openapi.json");
        assert_eq!(
            description().unwrap(),
            published,
            "make it again: countersign serve --openapi > docs/openapi.json"
        );
    }
}
