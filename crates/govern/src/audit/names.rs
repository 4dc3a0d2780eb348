//! Names by which parts of a log know each other, eight bytes each.
//! Owns: which members name something. Must not: keep a text. Two names may rarely have the same bytes: then parts are looked at
//! together that need not be.

use crate::kind::Number;
use crate::member::Member;
use crate::world::Draft;
use countersign_record::json::Json;

/// FNV-1a of a kind and an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name(u64);

impl Name {
    fn of(kind: &str, id: &str) -> Self {
        let bytes = kind.bytes().chain([b':']).chain(id.bytes());
        Name(bytes.fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
        }))
    }

    /// The stream itself: its parts belong together.
    pub(super) fn of_stream(stream: &str) -> Self {
        Name::of("/stream", stream)
    }

    /// What a reference names, whatever version.
    fn read(text: &str) -> Option<Self> {
        let (kind, rest) = text.split_once(':')?;
        let id = rest.split(['@', '#']).next().unwrap_or(rest);
        let kind = if kind == "src" { "source_record" } else { kind };
        let is_kind =
            kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte.is_ascii_digit());
        (is_kind && !id.is_empty()).then(|| Name::of(kind, id))
    }
}

/// Things that have no record of their own and that records of several types are about.
const ABOUT: [(&str, &str); 4] = [
    ("run_id", "run"),
    ("task_id", "task"),
    ("artifact_stable_id", "artifact"),
    ("workspace_id", "workspace"),
];

/// The names that a row has for others: its own, and those of what it is about.
pub(super) fn own(draft: &Draft, names: &mut alloc::vec::Vec<Name>) {
    let number = Number::of(&draft.kind);
    let named = number.and_then(|number| number.kind.id).and_then(|field| draft.record.text(field));
    if let (Some(number), Some(id)) = (number, draft.id.as_deref().or(named)) {
        names.push(Name::of(number.snake, id));
    }
    for (member, kind) in ABOUT {
        names.extend(draft.record.text(member).map(|id| Name::of(kind, id)));
    }
}

/// The names in a record, at any depth.
pub(super) fn within(value: &Json, names: &mut alloc::vec::Vec<Name>) {
    match value {
        Json::Object(members) => {
            for (member, value) in members.iter() {
                names.extend(Name::read(member));
                let about = ABOUT.iter().find(|(end, _)| member.ends_with(end));
                if let (Some((_, kind)), Some(id)) = (about, value.as_str()) {
                    names.push(Name::of(kind, id));
                }
                within(value, names);
            }
        }
        Json::Array(items) => items.iter().for_each(|item| within(item, names)),
        Json::String(text) => names.extend(Name::read(text)),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}
