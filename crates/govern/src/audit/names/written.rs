//! Names of a row as the log has it: who only asks for those need not read it, and as the log has it, it takes less.
//! Owns: finding them in the text. Must not: find others than the row has once it is read.
//!
//! A text that is not written in the plainest way is left to the reader of JSON.

use super::{Look, Name, Names, Role, Stands, role_by_end, role_of};
use crate::audit::shape::Raw;
use crate::kind::Number;
use crate::letters;
use crate::member::is_blank_text;
use crate::mix;
use crate::reference::bare;
use alloc::string::ToString;

/// Lists and objects inside each other; what is deeper is left to the reader.
const DEPTH_MAX: usize = 32;

impl Names {
    /// Adds those of a row of a type; `false` where it has to be read for that, and then nothing is added.
    #[must_use]
    pub(in crate::audit) fn add_written(&mut self, row: Raw<'_>, known: Number, stands: Stands) -> bool {
        let before = [self.local.len(), self.own.len(), self.heads.len(), self.wanted.len()];
        let is_found = self.find_written(row, known, stands).is_some();
        if !is_found {
            let lists = [&mut self.local, &mut self.own, &mut self.heads, &mut self.wanted];
            lists.into_iter().zip(before).for_each(|(names, length)| names.truncate(length));
        }
        is_found
    }

    fn find_written(&mut self, row: Raw<'_>, known: Number, stands: Stands) -> Option<()> {
        let text = core::str::from_utf8(row.payload).ok().filter(|text| !text.contains('\\'))?;
        let look = Look::of(Some(known), stands);
        let mut walk = Walk { text, at: 0 };
        let (mut id, mut named) = (None, None);
        walk.take("{")?;
        if walk.take("\"id\":").is_some() {
            id = Some(walk.string()?).filter(|id| !id.is_empty());
            id?;
            walk.take(",")?;
        }
        walk.take("\"record\":{")?;
        if walk.take("}").is_none() {
            loop {
                let name = walk.string()?;
                walk.take(":")?;
                let start = walk.at;
                walk.member(self, name, look, DEPTH_MAX)?;
                if known.kind.id == Some(name) {
                    let value = text.get(start..walk.at)?;
                    named = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
                }
                match walk.next()? {
                    b',' => {}
                    b'}' => break,
                    _other => return None,
                }
            }
        }
        walk.take("}")?;
        let id = id.or(named.filter(|id| !is_blank_text(id)).map(bare));
        let key = id.map_or_else(|| mix::number(&row.seq.to_string()), mix::number);
        self.called(Name(key), Some(known), stands);
        (walk.at == text.len()).then_some(())
    }
}

/// A text, and how far it is gone through.
struct Walk<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Walk<'t> {
    fn rest(&self) -> &'t [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// Goes on behind this, if it comes next.
    fn take(&mut self, next: &str) -> Option<()> {
        self.rest().starts_with(next.as_bytes()).then(|| self.at += next.len())
    }

    fn next(&mut self) -> Option<u8> {
        let next = self.rest().first().copied();
        self.at += 1;
        next
    }

    /// The string that comes next. There is no escape in the text, so it ends with the next quote.
    fn string(&mut self) -> Option<&'t str> {
        self.take("\"")?;
        let start = self.at;
        self.at += letters::find(self.rest(), b'"')?;
        let found = self.text.get(start..self.at);
        self.at += 1;
        found
    }

    /// Goes behind a number or a word.
    fn scalar(&mut self) -> Option<()> {
        let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']');
        let length = self.rest().iter().position(is_end).filter(|length| *length > 0)?;
        self.at += length;
        Some(())
    }

    fn member(&mut self, names: &mut Names, name: &str, look: Look, depth: usize) -> Option<()> {
        names.member_name(name);
        let is_open = look.is_open && name != "causal_steps";
        let within = Look { is_open, ..look };
        let by = names.by;
        let role = || if is_open { role_of(name) } else { None }.unwrap_or_else(|| role_by_end(name, by));
        match self.rest() {
            [b'"', ..] => self.value(names, role(), look, depth),
            [b'[', b']', ..] => self.take("[]"),
            [b'[', ..] => self.value(names, role(), within, depth),
            [b'{', ..] => self.value(names, Role::Local, within, depth),
            _scalar => self.scalar(),
        }
    }

    fn value(&mut self, names: &mut Names, role: Role, look: Look, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match self.rest().first()? {
            b'"' => {
                let text = self.string()?;
                names.text(text, role, look);
                Some(())
            }
            b'[' => {
                self.at += 1;
                if self.take("]").is_some() {
                    return Some(());
                }
                loop {
                    self.value(names, role, look, depth)?;
                    match self.next()? {
                        b',' => {}
                        b']' => return Some(()),
                        _other => return None,
                    }
                }
            }
            b'{' => {
                self.at += 1;
                if self.take("}").is_some() {
                    return Some(());
                }
                loop {
                    let name = self.string()?;
                    self.take(":")?;
                    self.member(names, name, look, depth)?;
                    match self.next()? {
                        b',' => {}
                        b'}' => return Some(()),
                        _other => return None,
                    }
                }
            }
            _scalar => self.scalar(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::By;
    use super::*;
    use crate::audit::shape;
    use countersign_record::json;

    /// What a row has by its text, and once it is read; nothing where the text is left to the reader.
    #[track_caller]
    fn check(payload: &str, is_found: bool) {
        let kind = "govern.evaluation_finding_event";
        let row = Raw { seq: 7, stream: "run/1", place: 1, kind, at: None, payload: payload.as_bytes() };
        let known = Number::of_snake("evaluation_finding_event").unwrap();
        for by in [By::Rules, By::Whole] {
            for stands in [Stands::Anywhere, Stands::InItsRun] {
                let (mut written, mut read) = (Names::new(by), Names::new(by));
                assert_eq!(written.add_written(row, known, stands), is_found, "{payload}");
                if is_found {
                    let held = shape::read(row, &mut json::Names::default()).unwrap();
                    read.add(&held, stands);
                }
                written.sort();
                read.sort();
                assert_eq!(written, read, "{payload}");
            }
        }
    }

    #[test]
    fn a_text_has_the_names_of_its_row() {
        for record in [
            r#"{}"#,
            r#"{"finding_event_id":"fe-1"}"#,
            r#"{"finding_event_id":"  "}"#,
            r#"{"finding_event_id":["fe-1"]}"#,
            r#"{"run_id":"run-1","step_ids":["a","b",1,null,true,{},[],"c"]}"#,
            r#"{"a":{"b":[{"run_id":"run-1"},["claim:x/y"]]},"evidence_refs":["source_record:s","bare"],"x_ref":"bare"}"#,
            r#"{"causal_steps":[{"step_id":"s","x":{"run_id":"r"}}],"causal_steps_of":{"step_id":"t"}}"#,
            r#"{"cost_vector:c":-1.5e3,"head_hash":"h","idempotency_key":"k"}"#,
            r#"{"name":"größer","run_id":"Größe"}"#,
        ] {
            check(&std::format!(r#"{{"record":{record}}}"#), true);
            check(&std::format!(r#"{{"id":"own","record":{record}}}"#), true);
        }
    }

    #[test]
    fn what_is_written_otherwise_is_left_to_the_reader() {
        for payload in [
            "",
            "{}",
            "1",
            r#"{"record":1}"#,
            r#"{"record":{}"#,
            r#"{"record":{}}x"#,
            r#"{"id":"","record":{}}"#,
            r#"{"id":1,"record":{}}"#,
            r#"{"record":{},"x":1}"#,
            r#"{"record": {}}"#,
            r#"{"record":{"a":"\n"}}"#,
            r#"{"record":{"a"}}"#,
            r#"{"record":{"a":}}"#,
            r#"{"record":{"a":[1,]}}"#,
            r#"{"record":{"a":"b}}"#,
        ] {
            check(payload, false);
        }
        check(&std::format!(r#"{{"record":{{"a":{}}}}}"#, "[".repeat(1_000_000)), false);
    }
}
