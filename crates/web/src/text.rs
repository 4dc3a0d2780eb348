//! A body as text: its type, its letters.
//! Owns: which types are text, how bytes become letters. Must not: guess a type against what a server says.

use crate::html;
use encoding_rs::{Encoding, UTF_8};

/// What a body is, as far as it is text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    /// The text.
    pub(crate) text: String,
    /// Whether bytes were no letters, and stand as U+FFFD.
    pub(crate) is_lossy: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Html,
    Plain,
    Binary,
    Unsaid,
}

/// The text of a body; `None` if it is none.
pub(crate) fn text_of(content_type: Option<&str>, body: &[u8]) -> Option<Text> {
    let encoding = content_type.and_then(charset_of).unwrap_or(UTF_8);
    match kind_of(content_type) {
        Kind::Html => {
            let (page, _, is_lossy) = encoding.decode(body);
            Some(Text { text: html::text_of(&page), is_lossy })
        }
        Kind::Plain => {
            let (text, _, is_lossy) = encoding.decode(body);
            Some(Text { text: text.into_owned(), is_lossy })
        }
        Kind::Unsaid => {
            let text = std::str::from_utf8(body).ok()?;
            let is_text = !text.contains(|letter: char| letter.is_control() && !letter.is_whitespace());
            is_text.then(|| Text {
                text: if begins_as_html(text) { html::text_of(text) } else { text.to_owned() },
                is_lossy: false,
            })
        }
        Kind::Binary => None,
    }
}

fn begins_as_html(text: &str) -> bool {
    let text = text.trim_start().as_bytes();
    [&b"<!doctype html"[..], b"<html"]
        .iter()
        .any(|begin| text.get(..begin.len()).is_some_and(|text| text.eq_ignore_ascii_case(begin)))
}

fn kind_of(content_type: Option<&str>) -> Kind {
    let Some(content_type) = content_type else { return Kind::Unsaid };
    let name = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match name.as_str() {
        "" => Kind::Unsaid,
        // A picture in SVG can hold scripts as a page can.
        "text/html" | "application/xhtml+xml" | "image/svg+xml" => Kind::Html,
        "application/json"
        | "application/xml"
        | "application/javascript"
        | "application/x-ndjson"
        | "application/yaml"
        | "application/toml"
        | "application/sql"
        | "application/x-sh" => Kind::Plain,
        name if name.starts_with("text/") || name.ends_with("+json") || name.ends_with("+xml") => Kind::Plain,
        _ => Kind::Binary,
    }
}

fn charset_of(content_type: &str) -> Option<&'static Encoding> {
    let parameters = content_type.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
    let mut charsets = parameters.filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    let (_, label) = charsets.next()?;
    Encoding::for_label(label.trim().trim_matches('"').as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content_type: Option<&str>, body: &[u8], expected: Option<(&str, bool)>) {
        let found = text_of(content_type, body);
        let found = found.as_ref().map(|found| (found.text.as_str(), found.is_lossy));
        assert_eq!(found, expected, "{content_type:?}");
    }

    #[test]
    fn bodies_as_text() {
        check(Some("text/plain"), b"a <b>", Some(("a <b>", false)));
        check(Some("TEXT/HTML; charset=utf-8"), b"<p>a<script>b</script>", Some(("a", false)));
        check(Some("application/vnd.x+json"), b"{}", Some(("{}", false)));
        check(Some("text/plain; charset=\"ISO-8859-1\""), b"\xE4", Some(("\u{E4}", false)));
        check(Some("text/plain; charset=utf-16le"), b"a\0b\0", Some(("ab", false)));
        check(Some("text/plain; charset=no-such"), b"\xFF", Some(("\u{FFFD}", true)));
        check(Some("text/plain"), b"\xEF\xBB\xBFa", Some(("a", false)));
        check(Some("image/png"), b"a", None);
        check(Some("application/octet-stream"), b"a", None);
        check(Some("application/pdf"), b"a", None);
        check(None, b"a\n", Some(("a\n", false)));
        check(None, b"\n<!DOCTYPE HTML><script>a</script>b", Some(("b", false)));
        check(None, b"\x7FELF", None);
        check(None, b"\xFF", None);
        check(Some(";;="), b"a", Some(("a", false)));
    }
}
