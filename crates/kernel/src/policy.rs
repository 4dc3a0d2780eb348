//! What holds for every session of a matter.
//! Owns: the policy's members, their defaults, which file has which class. Must not: read a file.

use crate::gate::{Capability, Place};
use crate::grant::Approver;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::canonical::{self, Unwritable};
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::fields::{Fields, Trouble};
use countersign_record::json::{Json, Object};
use countersign_record::row::DataClass;
use serde::{Serialize, Serializer};

/// How often a model may be asked in a turn, at most.
pub const ROUNDS_MAX: u64 = 64;
/// How long a grant may hold, in seconds: 30 days.
pub const GRANT_SECONDS_MAX: u64 = 30 * 24 * 3_600;

/// What holds for every session of a matter. Its hash is part of every grant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// What needs no grant.
    pub allow: Vec<Capability>,
    /// The hosts that `net` is for; without a list it is for all.
    pub hosts: Option<Vec<Place>>,
    /// Who may approve what somebody proposes.
    pub approver: Approver,
    /// How often a model may be asked in a turn.
    pub rounds: u64,
    /// How long a grant holds, if nothing else is said, in seconds.
    pub grant_seconds: u64,
    /// The class of what a user says.
    pub user_class: DataClass,
    /// The class of files that no other rule is for.
    pub files_class: DataClass,
    /// Classes of files and directories beneath the sandbox's root.
    pub files: BTreeMap<String, DataClass>,
    /// Classes of memory stores; one that is not named is internal.
    pub stores: BTreeMap<String, DataClass>,
}

impl Default for Policy {
    fn default() -> Self {
        Policy {
            allow: ["fs:read", "memory:read"]
                .iter()
                .filter_map(|word| Capability::try_from(*word).ok())
                .collect(),
            hosts: None,
            approver: Approver::Anybody,
            rounds: 8,
            grant_seconds: 8 * 3_600,
            user_class: DataClass::Internal,
            files_class: DataClass::Internal,
            files: BTreeMap::new(),
            stores: BTreeMap::new(),
        }
    }
}

impl Policy {
    /// Reads a policy; what is absent has its default.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn read(value: Json) -> Result<Self, Vec<Trouble>> {
        let mut fields = Fields::taking(value).map_err(|trouble| Vec::from([trouble]))?;
        let usual = Policy::default();
        let allow = fields.absent_or("allow", Fields::texts);
        let hosts = fields.absent_or("hosts", Fields::texts);
        let approver = fields.absent_or("approver", |fields, name| fields.parse(name, approver));
        let rounds = fields.absent_or("rounds", Fields::integer);
        let grant_seconds = fields.absent_or("grant_seconds", Fields::integer);
        let mut class = |name| {
            fields.absent_or(name, |fields, name| fields.parse(name, |word| DataClass::try_from(word)))
        };
        let (user_class, files_class) = (class("user_class"), class("files_class"));
        let [files, stores] = ["files", "stores"].map(|name| classes(&mut fields, name));
        let allow = listed(&mut fields, "allow", allow, |word| Capability::try_from(word).ok());
        let hosts = listed(&mut fields, "hosts", hosts, |word| Place::try_from(word).ok());
        bounded(&mut fields, "rounds", rounds, ROUNDS_MAX);
        bounded(&mut fields, "grant_seconds", grant_seconds, GRANT_SECONDS_MAX);
        fields.deny_unknown();
        fields.finish()?;
        Ok(Policy {
            allow: allow.unwrap_or(usual.allow),
            hosts,
            approver: approver.unwrap_or(usual.approver),
            rounds: rounds.unwrap_or(usual.rounds),
            grant_seconds: grant_seconds.unwrap_or(usual.grant_seconds),
            user_class: user_class.unwrap_or(usual.user_class),
            files_class: files_class.unwrap_or(usual.files_class),
            files,
            stores,
        })
    }

    /// Its hash.
    ///
    /// # Errors
    /// Never: it holds nothing without a canonical form.
    pub fn hash(&self) -> Result<Digest, Unwritable> {
        canonical::hash_of(self)
    }

    /// The narrowest class that anything of the matter has.
    #[must_use]
    pub fn strictest(&self) -> DataClass {
        let named = self.files.values().chain(self.stores.values());
        named.copied().fold(self.user_class.max(self.files_class), Ord::max)
    }

    /// The class of a path: the narrowest of the rules for it and for what is above it.
    #[must_use]
    pub fn class_of(&self, path: &str) -> DataClass {
        let above = |rule: &str| {
            let rule = beneath_root(rule);
            rule.is_empty()
                || rule == "."
                || path == rule
                || path.strip_prefix(rule).is_some_and(|rest| rest.starts_with('/'))
        };
        self.files
            .iter()
            .filter(|(rule, _)| above(rule))
            .map(|(_, class)| *class)
            .fold(self.files_class, Ord::max)
    }

    /// The class of a root: a directory that a rule names is what it is, also if it is seen by itself.
    #[must_use]
    pub fn class_of_root(&self, root: &str) -> DataClass {
        let lies_in = |rule: &str| {
            let rule = beneath_root(rule);
            let parts = alloc::format!("/{rule}/");
            !rule.is_empty() && alloc::format!("{root}/").contains(&parts)
        };
        let classes = self.files.iter().filter(|(rule, _)| lies_in(rule)).map(|(_, class)| *class);
        classes.max().unwrap_or(DataClass::Public)
    }

    /// The class of whatever is at or beneath a path.
    #[must_use]
    pub fn class_beneath(&self, path: &str) -> DataClass {
        let beneath = |rule: &str| {
            let rule = beneath_root(rule);
            path.is_empty()
                || path == "."
                || rule.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
        };
        self.files
            .iter()
            .filter(|(rule, _)| beneath(rule))
            .map(|(_, class)| *class)
            .fold(self.class_of(path), Ord::max)
    }
}

/// A rule as tools name paths: `/sandbox` is the root.
fn beneath_root(rule: &str) -> &str {
    let rule =
        rule.strip_prefix("/sandbox").filter(|rest| rest.is_empty() || rest.starts_with('/')).unwrap_or(rule);
    rule.trim_matches('/')
}

fn approver(word: &str) -> Result<Approver, &'static str> {
    match word {
        "anybody" => Ok(Approver::Anybody),
        "somebody_else" => Ok(Approver::SomebodyElse),
        _ => Err("anybody or somebody_else is needed"),
    }
}

fn classes(fields: &mut Fields<'_>, name: &'static str) -> BTreeMap<String, DataClass> {
    let object: Object = fields.absent_or(name, Fields::free_object).unwrap_or_default();
    let mut classes = BTreeMap::new();
    for (path, class) in object.iter() {
        let Some(path) = cleaned(path) else {
            let message = "a path is written out: no `..`, no `*`, no blank at its ends";
            fields.trouble(name, Code::FieldInvalid, message);
            continue;
        };
        match class.as_str().and_then(|word| DataClass::try_from(word).ok()) {
            // Two spellings of one path: the narrower circle counts.
            Some(class) => {
                let known = classes.entry(path).or_insert(class);
                *known = class.max(*known);
            }
            None => fields.trouble(
                name,
                Code::FieldInvalid,
                "public, internal, privileged or local_only is needed",
            ),
        }
    }
    classes
}

/// A path without what means nothing in it, so that every spelling of it is one; an absolute one stays so.
#[must_use]
pub fn cleaned(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let root = if path.starts_with('/') { "/" } else { "" };
    // A pattern would look like a rule and be none.
    let is_plain = path.trim() == path && !parts.contains(&"..") && !path.contains(['*', '?', '[']);
    is_plain.then(|| alloc::format!("{root}{}", parts.join("/")))
}

fn listed<T>(
    fields: &mut Fields<'_>,
    name: &'static str,
    words: Option<Vec<String>>,
    read: impl Fn(&str) -> Option<T>,
) -> Option<Vec<T>> {
    let words = words?;
    let read: Option<Vec<T>> = words.iter().map(|word| read(word)).collect();
    if read.is_none() {
        fields.trouble(
            name,
            Code::FieldInvalid,
            "an item is none; write `fs:write`, `net:example.org`, `example.org`",
        );
    }
    read
}

fn bounded(fields: &mut Fields<'_>, name: &'static str, number: Option<u64>, max: u64) {
    if number.is_some_and(|number| number == 0 || number > max) {
        fields.trouble(name, Code::FieldInvalid, alloc::format!("a number from 1 to {max} is needed"));
    }
}

impl Serialize for Policy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Form<'a> {
            allow: Vec<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            hosts: Option<Vec<String>>,
            approver: &'static str,
            rounds: u64,
            grant_seconds: u64,
            user_class: DataClass,
            files_class: DataClass,
            files: &'a BTreeMap<String, DataClass>,
            stores: &'a BTreeMap<String, DataClass>,
        }
        let hosts = self.hosts.as_ref().map(|hosts| hosts.iter().map(ToString::to_string).collect());
        let approver = match self.approver {
            Approver::Anybody => "anybody",
            Approver::SomebodyElse => "somebody_else",
        };
        Form {
            allow: self.allow.iter().map(Capability::as_str).collect(),
            hosts,
            approver,
            rounds: self.rounds,
            grant_seconds: self.grant_seconds,
            user_class: self.user_class,
            files_class: self.files_class,
            files: &self.files,
            stores: &self.stores,
        }
        .serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_record::json;
    use std::vec;

    fn policy(text: &str) -> Result<Policy, Vec<Trouble>> {
        Policy::read(json::parse(text.as_bytes()).unwrap())
    }

    #[test]
    fn what_is_absent_has_its_default_and_a_policy_survives_its_document() {
        assert_eq!(policy("{}"), Ok(Policy::default()));
        let text = r#"{"allow":["fs:write","net:Example.org"],"hosts":["b.example:8080"],"approver":"somebody_else",
            "rounds":3,"user_class":"privileged","files":{"hr/":"local_only"},"stores":{"a.jsonl":"privileged"}}"#;
        let read = policy(text).unwrap();
        let again = json::to_text(&read).unwrap();
        assert_eq!(policy(&again), Ok(read.clone()), "{again}");
        assert_ne!(read.hash(), Policy::default().hash());
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, path) in [
            (r#"{"allow":["net:*"]}"#, "/allow"),
            (r#"{"hosts":["http://a"]}"#, "/hosts"),
            (r#"{"approver":"me"}"#, "/approver"),
            (r#"{"rounds":0}"#, "/rounds"),
            (r#"{"grant_seconds":99999999}"#, "/grant_seconds"),
            (r#"{"files":{"a":"secret"}}"#, "/files"),
            (r#"{"files":{"a/../b":"public"}}"#, "/files"),
            (r#"{"files":{"hr/*":"local_only"}}"#, "/files"),
            (r#"{"files":{" hr":"local_only"}}"#, "/files"),
            (r#"{"file":{}}"#, "/file"),
        ] {
            assert_eq!(policy(text).unwrap_err()[0].path, path, "{text}");
        }
    }

    #[test]
    fn the_narrowest_rule_counts() {
        let read =
            policy(r#"{"files":{"hr":"privileged","hr/pay":"local_only","hr/pay/list.txt":"public"}}"#)
                .unwrap();
        let check = |path: &str| (read.class_of(path), read.class_beneath(path));
        use DataClass::{Internal, LocalOnly, Privileged};
        assert_eq!(check("a"), (Internal, Internal));
        assert_eq!(check("hrx/pay"), (Internal, Internal));
        assert_eq!(check("hr"), (Privileged, LocalOnly));
        assert_eq!(check("hr/pay/list.txt"), (LocalOnly, LocalOnly));
        assert_eq!(check("."), (Internal, LocalOnly));
        assert_eq!(vec![read.class_beneath("")], [LocalOnly]);
        assert_eq!(read.class_of_root("/srv/hr/pay"), LocalOnly);
        assert_eq!(read.class_of_root("/srv/hr"), Privileged);
        assert_eq!(read.class_of_root("/srv/hrx"), DataClass::Public);
        let spelt = policy(r#"{"files":{"./hr//pay/":"privileged","hr/pay":"local_only"}}"#).unwrap();
        assert_eq!(spelt.class_of("hr/pay/a"), LocalOnly);
        assert_eq!(spelt.files.len(), 1);
    }
}
