//! Names that lead from a value to everything that can be reached from it.
//! Owns: those names, and the encodings that hide text. Must not: follow a name.

/// Attributes with two underscores on each side that lead nowhere else: what a class defines for itself, or says of itself.
/// All others are refused, so that one that is new is, too.
#[rustfmt::skip]
const HARMLESS: [&str; 102] = [
    "__abs__", "__add__", "__aenter__", "__aexit__", "__aiter__", "__all__", "__and__", "__anext__",
    "__args__", "__author__", "__await__", "__bool__", "__bytes__", "__call__", "__cause__", "__ceil__",
    "__class__", "__class_getitem__", "__complex__", "__contains__", "__context__", "__copy__",
    "__dataclass_fields__", "__deepcopy__", "__delattr__", "__delitem__", "__divmod__", "__doc__",
    "__enter__", "__eq__", "__exit__", "__float__", "__floor__", "__floordiv__", "__format__",
    "__fspath__", "__ge__", "__getitem__", "__gt__", "__hash__", "__iadd__", "__iand__", "__index__",
    "__init__", "__init_subclass__", "__instancecheck__", "__int__", "__invert__", "__ior__", "__isub__",
    "__iter__", "__le__", "__len__", "__length_hint__", "__lshift__", "__lt__", "__main__",
    "__match_args__", "__matmul__", "__members__", "__missing__", "__mod__", "__module__", "__mul__",
    "__name__", "__ne__", "__neg__", "__new__", "__next__", "__notes__", "__or__", "__origin__",
    "__pos__", "__post_init__", "__pow__", "__prepare__", "__qualname__", "__radd__", "__rand__",
    "__repr__", "__reversed__", "__rmul__", "__ror__", "__round__", "__rshift__", "__rsub__",
    "__rtruediv__", "__rxor__", "__set_name__", "__setattr__", "__setitem__", "__sizeof__", "__slots__",
    "__str__", "__sub__", "__subclasscheck__", "__suppress_context__", "__traceback__", "__truediv__",
    "__trunc__", "__version__", "__xor__",
];
/// Attributes of frames, generators and coroutines that lead to everything.
const FRAMES: [&str; 14] = [
    "ag_code",
    "ag_frame",
    "cr_code",
    "cr_frame",
    "f_back",
    "f_builtins",
    "f_code",
    "f_globals",
    "f_locals",
    "gi_code",
    "gi_frame",
    "tb_frame",
    "func_globals",
    "func_code",
];
/// What no text has in it that is not meant to get there by another way.
const WORDS: [&str; 10] = [
    "__builtins__",
    "__closure__",
    "__code__",
    "__getattribute__",
    "__globals__",
    "__import__",
    "__loader__",
    "__mro__",
    "__spec__",
    "__subclasses__",
];

/// Whether an attribute leads to what can't be followed.
pub(super) fn is_back_door(name: &str) -> bool {
    let is_special = name.len() > 4 && name.starts_with("__") && name.ends_with("__");
    is_special && !HARMLESS.contains(&name) || FRAMES.contains(&name)
}

/// The word of a text that is there to get to what can't be followed.
pub(super) fn back_door_in(text: &str) -> Option<&'static str> {
    WORDS.iter().chain(&FRAMES).copied().find(|word| text.contains(word))
}

/// The encoding that a file says it is in, if that is not UTF-8, and its line from 1 (PEP 263). Comments further down than Python
/// looks count as well: the formatter takes blank lines away.
pub(super) fn strange_encoding(code: &str) -> Option<(usize, &str)> {
    let is_above = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with('#');
    let above = code.lines().take_while(is_above).count().max(2);
    let lines = code.lines().enumerate().take(above).filter(|(_, line)| line.contains('#'));
    lines.filter_map(|(at, line)| encoding(line).map(|name| (at + 1, name))).find(|(_, name)| !is_utf8(name))
}

/// What stands behind `coding:` or `coding=`.
fn encoding(line: &str) -> Option<&str> {
    let (_, comment) = line.split_once('#')?;
    comment.match_indices("coding").find_map(|(at, word)| {
        let rest = comment.get(at + word.len()..)?.strip_prefix([':', '='])?.trim_start_matches([' ', '\t']);
        let is_part = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
        let end = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        rest.get(..end).filter(|name| !name.is_empty())
    })
}

fn is_utf8(name: &str) -> bool {
    ["utf-8", "utf8"].contains(&name.to_ascii_lowercase().replace('_', "-").as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes() {
        for (name, is_refused) in [
            ("__name__", false),
            ("__init__", false),
            ("__mine", false),
            ("__", false),
            ("name", false),
            ("__globals__", true),
            ("__self__", true),
            ("__of_tomorrow__", true),
            ("f_globals", true),
        ] {
            assert_eq!(is_back_door(name), is_refused, "{name}");
        }
    }

    #[test]
    fn encodings() {
        for (code, expected) in [
            ("# coding: utf-8\n", None),
            ("# -*- coding: UTF_8 -*-\n", None),
            ("# encoding the text\nx = 1\n", None),
            ("x = 1\ny = 2\n# coding: utf-7\n", None),
            ("# coding: utf-7\n", Some((1, "utf-7"))),
            ("#!/usr/bin/python\n# vim: set fileencoding=latin-1 :\n", Some((2, "latin-1"))),
            ("\n\n\n# coding=unicode_escape\nx = 1\n", Some((4, "unicode_escape"))),
            ("x = 1 # coding: utf-16\n", Some((1, "utf-16"))),
        ] {
            assert_eq!(strange_encoding(code), expected, "{code:?}");
        }
    }
}
