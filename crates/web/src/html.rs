//! A page of HTML as text.
//! Owns: what of a page is text, and where its lines end. Must not: run anything, or build a tree that a page could make
//! deep.

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

/// What stands in these is for programs, or is shown by programs only.
const DROPPED: &[&[u8]] = &[
    b"script",
    b"style",
    b"template",
    b"noscript",
    b"iframe",
    b"noembed",
    b"noframes",
    b"object",
    b"canvas",
    b"audio",
    b"video",
];
/// Each of these stands on lines of its own.
const BLOCKS: &[&[u8]] = &[
    b"address",
    b"article",
    b"aside",
    b"blockquote",
    b"body",
    b"br",
    b"caption",
    b"dd",
    b"details",
    b"dialog",
    b"div",
    b"dl",
    b"dt",
    b"fieldset",
    b"figcaption",
    b"figure",
    b"footer",
    b"form",
    b"head",
    b"header",
    b"hr",
    b"html",
    b"legend",
    b"li",
    b"main",
    b"nav",
    b"ol",
    b"option",
    b"pre",
    b"section",
    b"select",
    b"summary",
    b"table",
    b"tbody",
    b"textarea",
    b"tfoot",
    b"thead",
    b"title",
    b"tr",
    b"ul",
    b"xmp",
];
/// There is an empty line before and after these.
const PARAGRAPHS: &[&[u8]] = &[b"h1", b"h2", b"h3", b"h4", b"h5", b"h6", b"p"];
const CELLS: &[&[u8]] = &[b"td", b"th"];
/// Spaces and line ends stay as they are in these.
const PREFORMATTED: &[&[u8]] = &[b"pre", b"textarea", b"xmp"];
const ITEM: &[u8] = b"li";

/// The text of a page.
pub(crate) fn text_of(page: &str) -> String {
    let mut reduced = Reduced::default();
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| -> Option<()> {
        reduced.take(&event);
        None
    });
    // Without it the text of a script would be read as elements.
    emitter.naively_switch_states(true);
    // The reader of a text can't fail, and the callback gives nothing out.
    Tokenizer::new_with_emitter(page, emitter).for_each(drop);
    reduced.finish()
}

/// What stands between the text so far and the next letter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    None,
    Space,
    Line,
    Paragraph,
}

#[derive(Debug, Default)]
struct Reduced {
    text: Vec<u8>,
    gap: Gap,
    /// The element that is dropped, and how many of its name are open.
    dropped: Option<(&'static [u8], usize)>,
    preformatted: usize,
    begins_item: bool,
}

impl Reduced {
    fn take(&mut self, event: &CallbackEvent<'_>) {
        match event {
            CallbackEvent::OpenStartTag { name } => self.open(name),
            CallbackEvent::EndTag { name } => self.close(name),
            CallbackEvent::String { value } if self.dropped.is_none() => self.write(value),
            CallbackEvent::String { .. }
            | CallbackEvent::AttributeName { .. }
            | CallbackEvent::AttributeValue { .. }
            | CallbackEvent::CloseStartTag { .. }
            | CallbackEvent::Comment { .. }
            | CallbackEvent::Doctype { .. }
            | CallbackEvent::Error(_) => {}
        }
    }

    fn open(&mut self, name: &[u8]) {
        if let Some((dropped, depth)) = &mut self.dropped {
            if *dropped == name {
                *depth = depth.saturating_add(1);
            }
            return;
        }
        if let Some(found) = DROPPED.iter().find(|dropped| **dropped == name) {
            self.dropped = Some((found, 1));
            return;
        }
        self.part(name);
        if PREFORMATTED.contains(&name) {
            self.preformatted = self.preformatted.saturating_add(1);
        }
        if name == ITEM {
            self.begins_item = true;
        }
    }

    fn close(&mut self, name: &[u8]) {
        if let Some((dropped, depth)) = &mut self.dropped {
            if *dropped == name {
                *depth = depth.saturating_sub(1);
                if *depth == 0 {
                    self.dropped = None;
                    self.widen(Gap::Space);
                }
            }
            return;
        }
        if PREFORMATTED.contains(&name) {
            self.preformatted = self.preformatted.saturating_sub(1);
        }
        if name == ITEM {
            self.begins_item = false;
        }
        self.part(name);
    }

    fn part(&mut self, name: &[u8]) {
        if PARAGRAPHS.contains(&name) {
            self.widen(Gap::Paragraph);
        } else if BLOCKS.contains(&name) {
            self.widen(Gap::Line);
        } else if CELLS.contains(&name) {
            self.widen(Gap::Space);
        }
    }

    fn widen(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    fn write(&mut self, value: &[u8]) {
        if self.preformatted > 0 {
            if value.iter().any(|byte| !byte.is_ascii_whitespace()) {
                self.fill_gap();
            }
            self.text.extend_from_slice(value);
            return;
        }
        for byte in value {
            match byte {
                byte if byte.is_ascii_whitespace() => self.widen(Gap::Space),
                byte => {
                    self.fill_gap();
                    self.text.push(*byte);
                }
            }
        }
    }

    fn fill_gap(&mut self) {
        let gap = std::mem::take(&mut self.gap);
        if !self.text.is_empty() {
            let between: &[u8] = match gap {
                Gap::None => b"",
                Gap::Space => b" ",
                Gap::Line => b"\n",
                Gap::Paragraph => b"\n\n",
            };
            self.text.extend_from_slice(between);
        }
        if std::mem::take(&mut self.begins_item) {
            self.text.extend_from_slice(b"- ");
        }
    }

    fn finish(self) -> String {
        String::from_utf8_lossy(self.text.trim_ascii_end()).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pages_as_text() {
        for (page, text) in [
            ("", ""),
            ("a  b\n c", "a b c"),
            ("<title>T</title><h1>A</h1><p>b <b>c</b>d</p><p>e</p>", "T\n\nA\n\nb cd\n\ne"),
            ("<ul><li>a<li>b</ul>c", "- a\n- b\nc"),
            ("<ul><li><p><a href=x>a</a></li><li></li></ul>c", "- a\nc"),
            ("<table><tr><td>a<td>b<tr><td>c</table>", "a b\nc"),
            ("a<br>b<br/>c", "a\nb\nc"),
            ("&lt;b&gt; &amp; &#228; &eacute;", "<b> & \u{E4} \u{E9}"),
            ("<pre>a\n  b</pre>c", "a\n  b\nc"),
            ("a<script>alert('</p>b')</script>c", "a c"),
            ("a<SCRIPT type=x>if (1<2) x()</SCRIPT >b", "a b"),
            ("a<style>p { color: red }</style>b", "a b"),
            ("a<script>never closed <p>b</p>", "a"),
            ("a<!-- hidden <p>b --> c", "a c"),
            ("a<template>b<template>c</template>d</template>e", "a e"),
            ("a<iframe><p>b</p></iframe><noscript><img src=x></noscript>c", "a c"),
        ] {
            assert_eq!(text_of(page), text, "{page}");
        }
    }

    #[test]
    fn a_script_within_the_name_of_another_is_no_element() {
        assert_eq!(text_of("<scr<script>x</script>ipt>y"), "xipt>y");
    }

    proptest! {
        #[test]
        fn any_page_becomes_text(page in "(<[a-z/!-]{0,8}[ >]|&[a-z#0-9]{0,4};|[ -~\u{E4}\n]){0,64}") {
            text_of(&page);
        }

        #[test]
        fn no_script_is_text(before in "[a-z <>p/]{0,8}", code in "[a-z(){};= ]{0,24}") {
            let page = format!("<p>{before}</p><script>CANARY{code}</script>x");
            let text = text_of(&page);
            prop_assert!(!text.contains("CANARY"), "{}", text);
        }
    }
}
