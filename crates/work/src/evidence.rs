//! The evidence of a run, with the words that its records only name.
//! Owns: putting claims, places and texts together. Must not: judge, or put a record down.

use crate::claims;
use crate::desk::{Desk, Error};
use crate::texts::{self, Contents, Head, Read};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::reference::Reference;
use countersign_govern::types::basic::StorageRef;
use countersign_govern::types::claim::{
    ClaimSupportDerivationReceipt, EvidencePackage, EvidencePackageClaimEntry, SourceEvidenceAnchor,
};
use countersign_govern::types::wire::Wire;
use countersign_record::json::{Json, Object};

/// The evidence of a run as one document: each claim with its words, and the places that bear on it with theirs. Where only some sources
/// go along, the words of the others stay, and those of the claims, which are made of all.
///
/// # Errors
/// There is no evidence yet.
pub fn document(desk: &Desk, contents: Contents<'_>, going: Option<&[String]>) -> Result<Json, Error> {
    let last = desk.each::<EvidencePackage>("EvidencePackage").next_back();
    let package = last.ok_or_else(|| Error::Missing("evidence package".to_string()))?.record;
    let heads = texts::heads(desk, contents);
    let mut sources = texts::read(desk, contents);
    let all = sources.len();
    sources.retain(|one| going.is_none_or(|own| own.contains(&one.id)));
    let anchors = anchors(desk);
    let words = if sources.len() == all { words(desk, &heads)? } else { BTreeMap::new() };
    let claim = |entry: &EvidencePackageClaimEntry| {
        let places = |refs: &[StorageRef]| places(desk, &anchors, &sources, refs);
        Json::from(Object::from([
            ("claim", Json::from(entry.claim_ref.as_str())),
            ("text", word(&words, entry.claim_ref.as_str())),
            ("support", entry.support_status.as_str().into()),
            ("supporting", places(&entry.supporting_anchor_refs)),
            ("contradicting", places(&entry.contradicting_anchor_refs)),
        ]))
    };
    let artifact = |head: &Head| {
        Json::from(Object::from([
            ("artifact", Json::from(head.artifact.id.as_str())),
            ("path", head.artifact.path.as_str().into()),
            ("sha256", String::from(head.version.content).into()),
        ]))
    };
    Ok(Object::from([
        ("schema_version", Json::from("1.0")),
        ("run", desk.run().into()),
        ("task", desk.task().id.as_str().into()),
        ("artifacts", Json::Array(heads.iter().map(artifact).collect())),
        ("claims", Json::Array(package.claim_support_map.iter().map(claim).collect())),
        ("package", package.write().unwrap_or(Json::Null)),
    ])
    .into())
}

/// Claims as they stand, before there is a package: each with its words and the places that bear on it. What nobody has looked at is
/// left out.
#[must_use]
pub fn claims(desk: &Desk, contents: Contents<'_>, wanted: &[&str]) -> Vec<Json> {
    let words = words(desk, &texts::heads(desk, contents)).unwrap_or_default();
    let (anchors, sources) = (anchors(desk), texts::read(desk, contents));
    let mut last: BTreeMap<String, ClaimSupportDerivationReceipt> = BTreeMap::new();
    for one in desk.all::<ClaimSupportDerivationReceipt>() {
        last.insert(one.claim_ref.as_str().to_string(), one);
    }
    let claim = |one: &ClaimSupportDerivationReceipt| {
        let places = |refs: &[StorageRef]| places(desk, &anchors, &sources, refs);
        Json::from(Object::from([
            ("claim", Json::from(one.claim_ref.as_str())),
            ("text", word(&words, one.claim_ref.as_str())),
            ("support", one.derived_support_status.as_str().into()),
            ("supporting", places(&one.supporting_anchor_refs)),
            ("contradicting", places(&one.contradicting_anchor_refs)),
        ]))
    };
    wanted.iter().filter_map(|one| last.get(*one)).map(claim).collect()
}

fn anchors(desk: &Desk) -> BTreeMap<String, SourceEvidenceAnchor> {
    desk.all::<SourceEvidenceAnchor>().map(|one| (one.anchor_id.clone(), one)).collect()
}

fn word(words: &BTreeMap<String, String>, claim: &str) -> Json {
    words.get(claim).map_or(Json::Null, |text| text.as_str().into())
}

fn places(
    desk: &Desk,
    anchors: &BTreeMap<String, SourceEvidenceAnchor>,
    sources: &[Read],
    refs: &[StorageRef],
) -> Json {
    let own = refs.iter().filter_map(|one| Reference::read(one.as_str()));
    let own = own.filter_map(|one| anchors.get(one.id));
    Json::Array(own.map(|anchor| place(desk, anchor, sources)).collect())
}

/// The words of every claim, by its reference.
fn words(desk: &Desk, heads: &[Head]) -> Result<BTreeMap<String, String>, Error> {
    let mut all = BTreeMap::new();
    for head in heads {
        for (name, claim) in claims::said(desk.task(), &head.artifact, &head.text) {
            let named = desk.claim_ref(&head.artifact.id, &name)?;
            all.insert(named.as_str().to_string(), claim.text);
        }
    }
    Ok(all)
}

/// A place in a source, with its words.
fn place(desk: &Desk, anchor: &SourceEvidenceAnchor, sources: &[Read]) -> Json {
    let id = Reference::read(anchor.source_record_ref.as_str()).map(|read| desk.local(read.id));
    let source = sources.iter().find(|one| Some(one.id.as_str()) == id);
    let span = anchor.anchor_locator.rsplit_once('@').and_then(|(_, span)| span.split_once('-'));
    let span = span.and_then(|(from, to)| Some(from.parse::<usize>().ok()?..to.parse::<usize>().ok()?));
    let text = source.zip(span).and_then(|(source, span)| source.text.get(span));
    Object::from([
        ("source", id.map_or(Json::Null, Json::from)),
        ("place", anchor.anchor_locator.as_str().into()),
        ("strength", anchor.support_strength.as_str().into()),
        ("text", text.map_or(Json::Null, Json::from)),
    ])
    .into()
}
