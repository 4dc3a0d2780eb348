//! Where the values of a text stand that is JSON, or nearly.
//! Owns: a scan that forgives everything. Must not: be relied on for what is JSON.

use std::ops::Range;

/// A member of an object or an item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// From its name, or its value where it has none, to the end of its value.
    pub(crate) text: Range<usize>,
    /// Where the comma before it stands, or the one after it.
    comma: Option<usize>,
}

impl Item {
    /// With the comma that must go when it goes.
    pub(crate) fn whole(&self) -> Range<usize> {
        let (mut start, mut end) = (self.text.start, self.text.end);
        if let Some(comma) = self.comma {
            start = start.min(comma);
            end = end.max(comma + 1);
        }
        start..end
    }
}

#[derive(Clone, Debug)]
struct Token {
    kind: u8,
    at: Range<usize>,
}

/// A kind that is no punctuation.
const WORD: u8 = b'w';
const STRING: u8 = b'"';

fn tokens(bytes: &[u8]) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        at += 1;
        let kind = match byte {
            b' ' | b'\t' | b'\n' | b'\r' => continue,
            b'{' | b'}' | b'[' | b']' | b':' | b',' => byte,
            b'"' => {
                at = string_end(bytes, at);
                STRING
            }
            _ => {
                let is_word = |byte: &u8| !b" \t\n\r{}[]:,\"".contains(byte);
                at += bytes[at..].iter().take_while(|byte| is_word(byte)).count();
                WORD
            }
        };
        tokens.push(Token { kind, at: start..at });
    }
    tokens
}

fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(&byte) = bytes.get(at) {
        at += match byte {
            b'"' => return at + 1,
            b'\\' => 2,
            _ => 1,
        };
    }
    bytes.len()
}

/// Every value, whole documents and their parts alike.
pub(crate) fn values(bytes: &[u8]) -> Vec<Range<usize>> {
    let tokens = tokens(bytes);
    let mut found = Vec::new();
    let mut open = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        let is_name = tokens.get(place + 1).is_some_and(|next| next.kind == b':');
        match token.kind {
            b'{' | b'[' => open.push(token.at.start),
            b'}' | b']' => found.extend(open.pop().map(|start| start..token.at.end)),
            STRING | WORD if !is_name => found.push(token.at.clone()),
            _ => {}
        }
    }
    found
}

/// Every member's name.
pub(crate) fn names(bytes: &[u8]) -> Vec<Range<usize>> {
    let tokens = tokens(bytes);
    let pairs = tokens.windows(2).filter(|pair| pair[0].kind == STRING && pair[1].kind == b':');
    pairs.map(|pair| pair[0].at.clone()).collect()
}

/// Every member and every item of a list.
pub(crate) fn items(bytes: &[u8]) -> Vec<Item> {
    let tokens = tokens(bytes);
    let mut found = Vec::new();
    // For each open bracket: where its current item began, and the comma before that item.
    let mut open: Vec<(Option<usize>, Option<usize>)> = Vec::new();
    let mut last_end = 0;
    for token in &tokens {
        match token.kind {
            b',' | b'}' | b']' => {
                if let Some((Some(start), comma)) = open.pop() {
                    let after = (token.kind == b',').then_some(token.at.start);
                    found.push(Item { text: start..last_end, comma: comma.or(after) });
                }
                if token.kind == b',' {
                    open.push((None, Some(token.at.start)));
                }
            }
            b'{' | b'[' => {
                begin(&mut open, token.at.start);
                open.push((None, None));
            }
            _ => begin(&mut open, token.at.start),
        }
        last_end = token.at.end;
    }
    found
}

fn begin(open: &mut [(Option<usize>, Option<usize>)], start: usize) {
    if let Some((item, _)) = open.last_mut() {
        item.get_or_insert(start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = br#"{"a" : [1, "x\"]", {}], "b":null}"#;

    fn texts(spans: Vec<Range<usize>>) -> Vec<String> {
        spans.into_iter().map(|span| String::from_utf8_lossy(&TEXT[span]).into_owned()).collect()
    }

    #[test]
    fn values_names_and_items_are_found() {
        let whole = String::from_utf8_lossy(TEXT).into_owned();
        assert_eq!(
            texts(values(TEXT)),
            ["1", r#""x\"]""#, "{}", r#"[1, "x\"]", {}]"#, "null", whole.as_str()]
        );
        assert_eq!(texts(names(TEXT)), [r#""a""#, r#""b""#]);
        let whole: Vec<Range<usize>> = items(TEXT).iter().map(Item::whole).collect();
        assert_eq!(texts(whole), ["1,", r#", "x\"]""#, ", {}", r#""a" : [1, "x\"]", {}],"#, r#", "b":null"#]);
    }

    #[test]
    fn anything_is_forgiven() {
        for text in [b"".as_slice(), b"\"", b"\"\\", b"]]]", b"[[[", b",,", b"}{", b":\"a\":", b"\xFF\"\xFF"]
        {
            drop((values(text), names(text), items(text)));
        }
    }
}
