//! What a read is asked for (the contract's MemoryControllerInput).
//! Owns: its members, their defaults, the order in which they are checked. Must not: look for a store.

use super::refusal::Refusal;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use countersign_record::json::{Json, Object};
use countersign_record::time::Instant;
#[cfg(feature = "schema")]
use {crate::schema::Path, countersign_record::time::Timestamp};

/// What a memory read is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(deny_unknown_fields, rename = "MemoryControllerInput")
)]
pub struct Input {
    /// The query as it was given.
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = countersign_record::schema::FILLED)))]
    pub query: String,
    /// The stores as they were given.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Path>", length(min = 1)))]
    pub store_paths: Vec<String>,
    /// How much may be selected.
    pub budget: Budget,
    /// How candidates are scored.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Scoring>"))]
    pub scoring: Scoring,
    /// What is denied.
    #[cfg_attr(feature = "schema", schemars(with = "Option<TrustFilter>"))]
    pub trust_filter: TrustFilter,
    /// The time that ages are counted from; without it there is no recency.
    #[cfg_attr(feature = "schema", schemars(rename = "now_utc", with = "Option<Timestamp>"))]
    pub now: Option<Instant>,
}

/// How much may be selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Budget {
    /// The most tokens of all excerpts together.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = INTEGER_MAX)))]
    pub max_excerpt_tokens: u64,
    /// The most tokens of one excerpt; never more than of all.
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>", range(min = 1, max = INTEGER_MAX)))]
    pub per_item_max_excerpt_tokens: u64,
    /// The most excerpts.
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>", range(max = INTEGER_MAX), extend("default" = MAX_ITEMS)))]
    pub max_items: u64,
}

/// How candidates are scored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Scoring {
    /// Whether newer counts more.
    #[cfg_attr(feature = "schema", schemars(with = "Option<bool>", extend("default" = false)))]
    pub enable_recency_weight: bool,
    /// The age at which half of that is left.
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>", range(min = 1, max = INTEGER_MAX), extend("default" = HALF_LIFE_DAYS)))]
    pub recency_half_life_days: u64,
    /// Whether terms that are tags count more.
    #[cfg_attr(feature = "schema", schemars(with = "Option<bool>", extend("default" = true)))]
    pub enable_tag_overlap: bool,
    /// The terms, if they are not to be taken from the query.
    pub query_terms: Option<Vec<String>>,
}

/// What is denied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct TrustFilter {
    /// The classifications whose records are left out.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<String>>", extend("default" = [MALICIOUS])))]
    pub deny_classifications: Vec<String>,
    /// Where records are classified.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Path>"))]
    pub trust_snapshot_path: Option<String>,
}

const MALICIOUS: &str = "malicious";
const MAX_ITEMS: u64 = 50;
const HALF_LIFE_DAYS: u64 = 30;
/// Integers beyond this have no canonical form.
const INTEGER_MAX: u64 = (1 << 53) - 1;

const AN_OBJECT: &str = "an object is needed";
const A_LIST_OF_TEXTS: &str = "a list of texts is needed";
const A_COUNT_FROM_1: &str = "an integer from 1 to 9007199254740991 is needed";

impl Input {
    /// Reads the document. A member that is null is one that is absent; a member that the contract does not know is
    /// refused, because a misspelt filter would filter nothing.
    ///
    /// # Errors
    /// The first thing wrong: query, stores, budget, then the rest.
    pub fn read(document: &Json) -> Result<Self, Refusal> {
        let Json::Object(members) = document else { return Err(bad("the input", AN_OBJECT)) };
        let query = match present(members, "query") {
            Some(Json::String(query)) if !query.trim().is_empty() => query.clone(),
            Some(_) | None => return Err(Refusal::Query),
        };
        let store_paths = read_store_paths(members)?;
        let budget = read_budget(members)?;
        let scoring = read_scoring(members)?;
        let trust_filter = read_trust_filter(members)?;
        let now = match present(members, "now_utc") {
            None => None,
            Some(value) => {
                let instant = value.as_str().and_then(Instant::read);
                Some(instant.ok_or_else(|| bad("now_utc", "an RFC 3339 time with an offset is needed"))?)
            }
        };
        let known = ["query", "store_paths", "budget", "scoring", "trust_filter", "now_utc"];
        deny_unknown(members, "", &known)?;
        Ok(Input { query, store_paths, budget, scoring, trust_filter, now })
    }
}

fn read_store_paths(members: &Object) -> Result<Vec<String>, Refusal> {
    let paths = match present(members, "store_paths") {
        Some(value) => texts(value).ok_or(Refusal::StorePaths)?,
        None => return Err(Refusal::StorePaths),
    };
    let is_path = |path: &String| !path.is_empty() && !path.contains('\0');
    if paths.is_empty() || !paths.iter().all(is_path) {
        return Err(Refusal::StorePaths);
    }
    Ok(paths)
}

fn read_budget(members: &Object) -> Result<Budget, Refusal> {
    let Some(Json::Object(budget)) = present(members, "budget") else {
        return Err(Refusal::Budget { field: "budget", needed: AN_OBJECT });
    };
    let integer = |name, field, min, needed| match present(budget, name) {
        None => Ok(None),
        Some(value) => {
            let counted = integer_of(value).filter(|value| (min..=INTEGER_MAX).contains(value));
            counted.map(Some).ok_or(Refusal::Budget { field, needed })
        }
    };
    let field = "budget.max_excerpt_tokens";
    let max_excerpt_tokens = integer("max_excerpt_tokens", field, 1, A_COUNT_FROM_1)?
        .ok_or(Refusal::Budget { field, needed: A_COUNT_FROM_1 })?;
    let field = "budget.per_item_max_excerpt_tokens";
    let per_item = integer("per_item_max_excerpt_tokens", field, 1, A_COUNT_FROM_1)?;
    let needed = "an integer from 0 to 9007199254740991 is needed";
    let max_items = integer("max_items", "budget.max_items", 0, needed)?;
    let known = ["max_excerpt_tokens", "per_item_max_excerpt_tokens", "max_items"];
    if budget.iter().any(|(name, _)| !known.contains(&name)) {
        return Err(Refusal::Budget {
            field: "budget",
            needed: "it has a member that the contract does not know",
        });
    }
    Ok(Budget {
        max_excerpt_tokens,
        per_item_max_excerpt_tokens: per_item.unwrap_or(max_excerpt_tokens).min(max_excerpt_tokens),
        max_items: max_items.unwrap_or(MAX_ITEMS),
    })
}

fn read_scoring(members: &Object) -> Result<Scoring, Refusal> {
    let mut scoring = Scoring {
        enable_recency_weight: false,
        recency_half_life_days: HALF_LIFE_DAYS,
        enable_tag_overlap: true,
        query_terms: None,
    };
    let Some(object) = object(members, "scoring")? else { return Ok(scoring) };
    let flag = |name, default| match present(object, name) {
        None => Ok(default),
        Some(Json::Bool(value)) => Ok(*value),
        Some(_) => Err(bad(&format!("scoring.{name}"), "true or false is needed")),
    };
    scoring.enable_recency_weight = flag("enable_recency_weight", false)?;
    scoring.enable_tag_overlap = flag("enable_tag_overlap", true)?;
    if let Some(value) = present(object, "recency_half_life_days") {
        let days = integer_of(value).filter(|days| (1..=INTEGER_MAX).contains(days));
        let refused = || bad("scoring.recency_half_life_days", A_COUNT_FROM_1);
        scoring.recency_half_life_days = days.ok_or_else(refused)?;
    }
    if let Some(value) = present(object, "query_terms") {
        let terms = texts(value).ok_or_else(|| bad("scoring.query_terms", A_LIST_OF_TEXTS))?;
        scoring.query_terms = Some(terms);
    }
    let known = ["enable_recency_weight", "recency_half_life_days", "enable_tag_overlap", "query_terms"];
    deny_unknown(object, "scoring.", &known)?;
    Ok(scoring)
}

fn read_trust_filter(members: &Object) -> Result<TrustFilter, Refusal> {
    let mut filter =
        TrustFilter { deny_classifications: vec![MALICIOUS.to_owned()], trust_snapshot_path: None };
    let Some(object) = object(members, "trust_filter")? else { return Ok(filter) };
    if let Some(value) = present(object, "deny_classifications") {
        let refused = || bad("trust_filter.deny_classifications", A_LIST_OF_TEXTS);
        filter.deny_classifications = texts(value).ok_or_else(refused)?;
    }
    if let Some(value) = present(object, "trust_snapshot_path") {
        let path = value.as_str().filter(|path| !path.is_empty() && !path.contains('\0'));
        let refused = || bad("trust_filter.trust_snapshot_path", "a text that is not empty is needed");
        filter.trust_snapshot_path = Some(path.ok_or_else(refused)?.to_owned());
    }
    deny_unknown(object, "trust_filter.", &["deny_classifications", "trust_snapshot_path"])?;
    Ok(filter)
}

fn bad(field: &str, needed: &'static str) -> Refusal {
    Refusal::Input { field: field.to_owned(), needed }
}

fn present<'a>(members: &'a Object, name: &str) -> Option<&'a Json> {
    members.get(name).filter(|value| !matches!(value, Json::Null))
}

fn object<'a>(members: &'a Object, name: &'static str) -> Result<Option<&'a Object>, Refusal> {
    match present(members, name) {
        None => Ok(None),
        Some(Json::Object(object)) => Ok(Some(object)),
        Some(_) => Err(bad(name, AN_OBJECT)),
    }
}

fn texts(value: &Json) -> Option<Vec<String>> {
    let Json::Array(items) = value else { return None };
    items.iter().map(|item| item.as_str().map(ToOwned::to_owned)).collect()
}

fn integer_of(value: &Json) -> Option<u64> {
    match value {
        Json::Number(number) => number.as_u64(),
        Json::Null | Json::Bool(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => None,
    }
}

fn deny_unknown(members: &Object, prefix: &str, known: &[&str]) -> Result<(), Refusal> {
    match members.iter().find(|(name, _)| !known.contains(name)) {
        Some((name, _)) => {
            let shown: String = name.chars().take(64).collect();
            Err(bad(&format!("{prefix}{shown}"), "the contract knows no such member"))
        }
        None => Ok(()),
    }
}
