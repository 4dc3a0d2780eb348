//! How a Rust file is laid out.
//! Owns: the blank lines between items, which the formatter leaves out. Must not: change a token.

use super::tokens::{ends_in_literal, flat};
use std::mem::discriminant;
use syn::{File, Item};

/// Lays a file out; `None` if the formatter made no Rust of it.
pub(super) fn formatted(file: &File) -> Option<String> {
    let alone = |attrs: &[syn::Attribute], items: &[Item]| {
        prettyplease::unparse(&File {
            shebang: None,
            frontmatter: None,
            attrs: attrs.to_vec(),
            items: items.to_vec(),
        })
    };
    let mut code = alone(&file.attrs, &[]);
    let mut before: Option<&Item> = None;
    for item in &file.items {
        let is_like =
            |other: &Item| discriminant(other) == discriminant(item) && is_short(other) && is_short(item);
        if !code.is_empty() && !before.is_some_and(is_like) {
            code.push('\n');
        }
        code.push_str(&alone(&[], std::slice::from_ref(item)));
        before = Some(item);
    }
    let code = spaced(&code)?;
    syn::parse_str::<File>(&code).ok().map(|_| code)
}

/// Whether an item takes no room between others of its kind.
fn is_short(item: &Item) -> bool {
    matches!(
        item,
        Item::Use(_)
            | Item::ExternCrate(_)
            | Item::Const(_)
            | Item::Static(_)
            | Item::Type(_)
            | Item::Macro(_)
    )
}

/// Words that an item begins with.
const BEGINNINGS: [&str; 17] = [
    "///",
    "#[",
    "pub ",
    "pub(",
    "fn ",
    "async ",
    "unsafe ",
    "extern ",
    "const fn ",
    "impl ",
    "impl<",
    "struct ",
    "enum ",
    "trait ",
    "mod ",
    "union ",
    "macro_rules! ",
];

/// A blank line after each item that ends with a brace, within others too.
fn spaced(code: &str) -> Option<String> {
    let tokens = flat(code.parse().ok()?);
    let literals = ends_in_literal(&tokens, code);
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut out = String::with_capacity(code.len());
    let mut before = "";
    for (at, line) in code.lines().enumerate() {
        let text = line.trim_start();
        let begins = BEGINNINGS.iter().any(|word| text.starts_with(word));
        let is_apart = before.trim_start() == "}" && indent(before) == indent(line) && begins;
        if is_apart && !literals.contains(&at) {
            out.push('\n');
        }
        out.push_str(line);
        out.push('\n');
        before = line;
    }
    Some(out)
}
