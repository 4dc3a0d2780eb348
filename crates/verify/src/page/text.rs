//! Texts of a packet as texts of a page, and nothing else.
//! Owns: escaping. Must not: let a character through that a browser, a terminal or a reader could be misled by.

use alloc::format;
use alloc::string::String;

/// A text that is safe between tags and in quoted attributes. What would turn the direction of reading, hide or control something is
/// shown by its number.
pub(super) fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '"' => shown.push_str("&quot;"),
            '\'' => shown.push_str("&#39;"),
            '\n' | '\t' => shown.push(letter),
            _ if is_hidden(letter) => shown.push_str(&format!("[U+{:04X}]", u32::from(letter))),
            _ => shown.push(letter),
        }
    }
    shown
}

/// Whether a character is not seen and changes what is: controls, marks of direction, joiners, tags, what is no character.
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{AD}'
                | '\u{61C}'
                | '\u{180E}'
                | '\u{200B}'..='\u{200F}'
                | '\u{2028}'..='\u{202E}'
                | '\u{2060}'..='\u{206F}'
                | '\u{FEFF}'
                | '\u{FFF9}'..='\u{FFFB}'
                | '\u{E0000}'..='\u{E007F}'
        )
}

/// A paragraph; nothing for no words.
pub(super) fn paragraph(text: &str) -> String {
    match text.trim().is_empty() {
        true => String::new(),
        false => format!("<p>{}</p>\n", escaped(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(escaped(text), expected);
    }

    #[test]
    fn a_text_is_nothing_but_a_text() {
        check("a < b & \"c\" > 'd'", "a &lt; b &amp; &quot;c&quot; &gt; &#39;d&#39;");
        check("</td><script>alert(1)</script>", "&lt;/td&gt;&lt;script&gt;alert(1)&lt;/script&gt;");
        check("\u{202E}txt.exe\u{2069}", "[U+202E]txt.exe[U+2069]");
        check(
            "bell\u{7} esc\u{1b} zero\u{0} del\u{7f} nel\u{85}",
            "bell[U+0007] esc[U+001B] zero[U+0000] del[U+007F] nel[U+0085]",
        );
        check("no\u{200B}where \u{FEFF}mark \u{E0041}tag", "no[U+200B]where [U+FEFF]mark [U+E0041]tag");
        check("Kündigungsfrist: 二か月 שלום 👍", "Kündigungsfrist: 二か月 שלום 👍");
    }
}
