//! Laws that several targets share.
//! Owns: JSON Pointers, what a refusal must say, walks over a value. Must not: know a contract.

use countersign_record::code::Code;
use countersign_record::fields::Trouble;
use countersign_record::json::{Json, Number};

/// As many troubles as a reader lists (`record::fields`).
const TROUBLES_MAX: usize = 100;
/// As many characters of an unknown member's name as a trouble shows.
const NAME_SHOWN_MAX: usize = 64;

/// A refusal says what is wrong, and where: at a value that is there, or at a member that should be.
pub(crate) fn refusal(document: &Json, troubles: &[Trouble]) {
    assert!(!troubles.is_empty(), "a refusal says nothing");
    assert!(troubles.len() <= TROUBLES_MAX, "{} troubles", troubles.len());
    for trouble in troubles {
        assert!(!trouble.message.is_empty(), "a trouble without words at {}", trouble.path);
        assert!(is_placed(document, trouble), "{trouble:?} points nowhere");
    }
}

fn is_placed(document: &Json, trouble: &Trouble) -> bool {
    let there = resolve(document, &trouble.path);
    if trouble.code == Code::FieldMissing {
        let is_absent = matches!(there, None | Some(Json::Null));
        return is_absent
            && parent(document, &trouble.path).is_some_and(|(parent, _)| parent.as_object().is_some());
    }
    let is_cut_name = || {
        let Some((Json::Object(parent), name)) = parent(document, &trouble.path) else { return false };
        let cut = |held: &str| held.chars().take(NAME_SHOWN_MAX).eq(name.chars());
        trouble.code == Code::FieldUnknown && parent.iter().any(|(held, _)| cut(held))
    };
    there.is_some() || is_cut_name()
}

/// The value that a JSON Pointer (RFC 6901) names.
pub(crate) fn resolve<'a>(document: &'a Json, pointer: &str) -> Option<&'a Json> {
    if pointer.is_empty() {
        return Some(document);
    }
    let (parent, name) = parent(document, pointer)?;
    match parent {
        Json::Object(object) => object.get(&name),
        Json::Array(items) => {
            let at: usize = name.parse().ok().filter(|at: &usize| at.to_string() == name)?;
            items.get(at)
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => None,
    }
}

/// What holds the value that a pointer names, and the value's name in it.
pub(crate) fn parent<'a>(document: &'a Json, pointer: &str) -> Option<(&'a Json, String)> {
    let (before, name) = pointer.rsplit_once('/')?;
    Some((resolve(document, before)?, unescaped(name)?))
}

fn unescaped(token: &str) -> Option<String> {
    let mut pieces = token.split('~');
    let mut name = pieces.next()?.to_owned();
    for piece in pieces {
        name.push(match piece.chars().next()? {
            '0' => '~',
            '1' => '/',
            _ => return None,
        });
        name.push_str(&piece[1..]);
    }
    Some(name)
}

/// Arrays and objects inside each other.
pub(crate) fn depth(value: &Json) -> usize {
    match value {
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => 0,
        Json::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Json::Object(object) => 1 + object.iter().map(|(_, member)| depth(member)).max().unwrap_or(0),
    }
}

/// Shows every number.
pub(crate) fn numbers(value: &Json, see: &mut impl FnMut(&Number)) {
    match value {
        Json::Null | Json::Bool(_) | Json::String(_) => {}
        Json::Number(number) => see(number),
        Json::Array(items) => items.iter().for_each(|item| numbers(item, see)),
        Json::Object(object) => object.iter().for_each(|(_, member)| numbers(member, see)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_record::json::parse;

    #[test]
    fn pointers_follow_rfc_6901() {
        let document = parse(br#"{"a/b":[{"m~n":1},2],"":3}"#).expect("it is JSON");
        let check = |pointer: &str, expected: Option<&[u8]>| {
            let expected = expected.map(|text| parse(text).expect("it is JSON"));
            assert_eq!(resolve(&document, pointer), expected.as_ref(), "{pointer}");
        };
        check("/a~1b/0/m~0n", Some(b"1"));
        check("/a~1b/1", Some(b"2"));
        check("/", Some(b"3"));
        check("", Some(br#"{"a/b":[{"m~n":1},2],"":3}"#));
        for nowhere in ["/a~1b/01", "/a~1b/2", "/a/b", "a~1b", "/a~2b", "/a~", "//"] {
            check(nowhere, None);
        }
    }
}
