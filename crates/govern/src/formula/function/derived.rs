//! The derivations of the contract as functions of formulas.
//! Owns: how values become what a derivation takes, and back. Must not: derive.

use super::Found;
use crate::derive::sufficiency;
use crate::formula::compute::{Stop, items};
use crate::formula::value::Value;
use crate::member;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use countersign_record::json::{Json, Object};

/// The members of a record that was given, by name.
pub(super) struct Members<'v>(pub(super) &'v Object);

/// What is not there.
const NOTHING: &Json = &Json::Null;

pub(super) fn members<'v>(json: &'v Json) -> Result<Members<'v>, Stop> {
    let members = json.as_object().map(Members);
    members.ok_or_else(|| Stop::Kind(format!("{} is no record", json.kind())))
}

impl<'v> Members<'v> {
    pub(super) fn get(&self, name: &str) -> &'v Json {
        self.0.get(name).unwrap_or(NOTHING)
    }

    pub(super) fn text(&self, name: &str) -> Result<&'v str, Stop> {
        self.maybe_text(name).ok_or_else(|| Stop::Kind(format!("{name} must be a text")))
    }

    pub(super) fn maybe_text(&self, name: &str) -> Option<&'v str> {
        self.get(name).as_str()
    }

    pub(super) fn maybe_number(&self, name: &str) -> Option<f64> {
        member::number(self.get(name))
    }

    /// A truth; what is missing is false.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Stop> {
        match self.get(name) {
            Json::Bool(truth) => Ok(*truth),
            Json::Null => Ok(false),
            Json::Number(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => {
                Err(Stop::Kind(format!("{name} must be true or false")))
            }
        }
    }
}

/// `capability_standings(required, available)`
pub(super) fn capability_standings<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [required, available] = of else { return Ok(Value::Absent) };
    let mut offers: BTreeMap<&str, Vec<(sufficiency::Version<'_>, bool)>> = BTreeMap::new();
    for one in items(available)? {
        let one = members(one)?;
        let version = sufficiency::Version(one.maybe_text("version").unwrap_or_default());
        let (known, is_healthy) =
            (offers.entry(one.text("capability_id")?).or_default(), one.flag("healthy")?);
        // Of those that work, and of those that do not, the newest one says all.
        match known.iter_mut().find(|(_, healthy)| *healthy == is_healthy) {
            Some((newest, _)) if *newest < version => *newest = version,
            Some(_) => {}
            None => known.push((version, is_healthy)),
        }
    }
    let mut standings = Vec::new();
    for one in items(required)? {
        let one = members(one)?;
        let least = one.maybe_text("min_version").map(sufficiency::Version);
        let offers = offers.get(one.text("capability_id")?).map(Vec::as_slice).unwrap_or_default();
        let word = match sufficiency::standing(least.as_ref(), offers) {
            sufficiency::Standing::Missing => "missing",
            sufficiency::Standing::Unhealthy => "unhealthy",
            sufficiency::Standing::Healthy => "healthy",
        };
        standings.push(word.into());
    }
    Ok(Value::List(standings.into()))
}

#[cfg(test)]
#[path = "derived_tests.rs"]
mod tests;
