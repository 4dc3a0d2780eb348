//! Places in artifacts, and what a question to the sources is about.
//! Owns: their forms. Must not: look a place up.

use super::anchor::{StructuredAnchor, TextAnchor};
use super::basic::{ClaimRef, SourceRecordRef};
use super::wire::{Reading, Wire, record};
use alloc::string::String;
use countersign_record::json::{Json, Object};

record! {
    /// A place in an artifact.
    ArtifactScopeRef: value { artifact_stable_id: String, anchor: ScopeAnchor }
}

/// Where in an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScopeAnchor {
    /// All of it.
    Whole,
    /// A place in what has a structure.
    Structured(StructuredAnchor),
    /// A place in a text.
    Text(TextAnchor),
}

/// The word for all of an artifact.
const WHOLE: &str = "whole";

impl ScopeAnchor {
    fn is_of_text(value: &Json) -> bool {
        value.get("start_offset").is_some() || value.get("end_offset").is_some()
    }
}

impl Wire for ScopeAnchor {
    fn read(value: &Json, reading: &mut Reading) -> Option<Self> {
        match value {
            Json::String(word) if word == WHOLE => Some(ScopeAnchor::Whole),
            Json::Object(_) if Self::is_of_text(value) => {
                TextAnchor::read(value, reading).map(ScopeAnchor::Text)
            }
            Json::Object(_) => StructuredAnchor::read(value, reading).map(ScopeAnchor::Structured),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => {
                reading.wrong("must be an anchor, or the word whole")
            }
        }
    }

    fn fits(value: &Json) -> bool {
        match value {
            Json::String(word) => word == WHOLE,
            Json::Object(_) if Self::is_of_text(value) => TextAnchor::fits(value),
            Json::Object(_) => StructuredAnchor::fits(value),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) => false,
        }
    }

    fn write(&self) -> Option<Json> {
        match self {
            ScopeAnchor::Whole => Some(WHOLE.into()),
            ScopeAnchor::Structured(anchor) => anchor.write(),
            ScopeAnchor::Text(anchor) => anchor.write(),
        }
    }

    fn schema() -> Json {
        let whole = Object::from([("const", Json::from(WHOLE))]).into();
        let all = [whole, StructuredAnchor::schema_inside(), TextAnchor::schema_inside()];
        Object::from([("anyOf", Json::Array(all.into()))]).into()
    }
}

/// A place in an artifact, a claim of one, or a source. The contract lists places and claims only; but a source that is there and could
/// not be read is asked for as well, and `extractor_missing_reported_as_source_missing` looks for the question that says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResearchTarget {
    /// A source.
    Source(SourceRecordRef),
    /// A place.
    Scope(ArtifactScopeRef),
    /// A claim.
    Claim(ClaimRef),
}

impl Wire for ResearchTarget {
    fn read(value: &Json, reading: &mut Reading) -> Option<Self> {
        match value.as_str() {
            Some(text) if text.starts_with("src:") => {
                SourceRecordRef::read(value, reading).map(ResearchTarget::Source)
            }
            Some(_) => ClaimRef::read(value, reading).map(ResearchTarget::Claim),
            None => ArtifactScopeRef::read(value, reading).map(ResearchTarget::Scope),
        }
    }

    fn fits(value: &Json) -> bool {
        match value.as_str() {
            Some(text) if text.starts_with("src:") => SourceRecordRef::fits(value),
            Some(_) => ClaimRef::fits(value),
            None => ArtifactScopeRef::fits(value),
        }
    }

    fn write(&self) -> Option<Json> {
        match self {
            ResearchTarget::Source(source) => source.write(),
            ResearchTarget::Scope(scope) => scope.write(),
            ResearchTarget::Claim(claim) => claim.write(),
        }
    }

    fn schema() -> Json {
        let both =
            [SourceRecordRef::schema_inside(), ArtifactScopeRef::schema_inside(), ClaimRef::schema_inside()];
        Object::from([("anyOf", Json::Array(both.into()))]).into()
    }
}
