//! TOML that a user writes, as the documents that the crates read.
//! Owns: the turn into JSON, and the line of everything in it. Must not: know what a file is about.

use crate::failure::Failure;
use crate::output;
use countersign_record::code::Code;
use countersign_record::fields::Trouble;
use countersign_record::json::{self, Json, Object};
use std::collections::BTreeMap;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A file that was read.
pub(crate) struct Table {
    document: Json,
    lines: Lines,
}

/// Where everything in a file stands.
pub(crate) struct Lines {
    name: String,
    code: Code,
    /// The line of each value, by its JSON Pointer.
    lines: BTreeMap<String, usize>,
}

impl Table {
    /// Reads a text. Everything that is wrong with it is told with `code`, the file's name and the line.
    pub(crate) fn read(name: &str, text: &str, code: Code) -> Result<Self, Failure> {
        let name = output::plain(name);
        let line_of = |at: usize| text.get(..at).unwrap_or_default().matches('\n').count() + 1;
        let table = DeTable::parse(text).map_err(|error| {
            let line = line_of(error.span().map_or(0, |span| span.start));
            Failure::new(code, format!("{name}: line {line}: {}", error.message()))
                .with_count("line", line as u64)
        })?;
        let mut lines = BTreeMap::new();
        let document = object(table.get_ref(), "", &mut |place, at| {
            lines.insert(place, line_of(at));
        });
        let document = document.map_err(|(at, why)| {
            let line = line_of(at);
            Failure::new(code, format!("{name}: line {line}: {why}")).with_count("line", line as u64)
        })?;
        Ok(Table { document: Json::Object(document), lines: Lines { name, code, lines } })
    }

    /// Hands the document over to whoever can read it.
    pub(crate) fn into_a<T>(self, read: impl FnOnce(Json) -> Result<T, Vec<Trouble>>) -> Result<T, Failure> {
        self.into_a_with_lines(read).map(|(read, _)| read)
    }

    /// The same, with where everything stands: what is wrong may be found only later.
    pub(crate) fn into_a_with_lines<T>(
        self,
        read: impl FnOnce(Json) -> Result<T, Vec<Trouble>>,
    ) -> Result<(T, Lines), Failure> {
        let Table { document, lines } = self;
        match read(document) {
            Ok(read) => Ok((read, lines)),
            Err(troubles) => Err(lines.told(troubles)),
        }
    }
}

impl Lines {
    /// What is wrong with the file, each with its line.
    pub(crate) fn told(&self, troubles: Vec<Trouble>) -> Failure {
        let told = |trouble: Trouble| {
            let line = line(&self.lines, &trouble.path);
            let message = format!("line {line}: {trouble}");
            let errors = Failure::new(trouble.code, "")
                .with("code", trouble.code.as_str())
                .with("path", trouble.path)
                .with("message", message.as_str())
                .with_count("line", line as u64);
            (message, Json::Object(errors.details))
        };
        let (messages, errors): (Vec<String>, Vec<Json>) = troubles.into_iter().map(told).unzip();
        let more =
            if messages.len() > 1 { format!(" (and {} more)", messages.len() - 1) } else { String::new() };
        let first = messages.first().map(String::as_str).unwrap_or_default();
        Failure::new(self.code, format!("{}: {first}{more}", self.name)).with("errors", Json::Array(errors))
    }
}

/// The line of a value, or of the nearest thing around it: what is missing has none.
fn line(lines: &BTreeMap<String, usize>, pointer: &str) -> usize {
    let mut place = pointer;
    loop {
        if let Some(line) = lines.get(place) {
            return *line;
        }
        match place.rsplit_once('/') {
            Some((around, _)) => place = around,
            None => return 1,
        }
    }
}

type Misfit = (usize, String);

fn object(table: &DeTable<'_>, place: &str, note: &mut dyn FnMut(String, usize)) -> Result<Object, Misfit> {
    let mut object = Object::new();
    for (name, value) in table {
        let place = format!("{place}/{}", name.get_ref().replace('~', "~0").replace('/', "~1"));
        note(place.clone(), name.span().start);
        object.insert(name.get_ref().as_ref(), json_of(value, &place, note)?);
    }
    Ok(object)
}

fn json_of(
    value: &Spanned<DeValue<'_>>,
    place: &str,
    note: &mut dyn FnMut(String, usize),
) -> Result<Json, Misfit> {
    let misfit = |why: &str| (value.span().start, why.to_owned());
    Ok(match value.get_ref() {
        DeValue::String(text) => Json::from(text.as_ref()),
        DeValue::Boolean(value) => Json::from(*value),
        DeValue::Integer(number) => {
            let number = i64::from_str_radix(number.as_str(), number.radix());
            let number = number.map_err(|_| misfit("the number is too large"))?;
            json::parse(number.to_string().as_bytes()).map_err(|error| misfit(&error.to_string()))?
        }
        DeValue::Float(number) => json::parse(number.as_str().replace('_', "").as_bytes())
            .map_err(|_| misfit("this number can't be written in JSON"))?,
        DeValue::Datetime(_) => return Err(misfit("a time is written as a text, in quotation marks")),
        DeValue::Array(items) => {
            let mut list = Vec::new();
            for (at, item) in items.iter().enumerate() {
                let place = format!("{place}/{at}");
                note(place.clone(), item.span().start);
                list.push(json_of(item, &place, note)?);
            }
            Json::Array(list)
        }
        DeValue::Table(table) => Json::Object(object(table, place, note)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_has_its_line() {
        let text = "name = \"six\"\n\n[[stages]]\nname = \"a\"\n[stages.agent]\nkind = \"x\"\n[[stages]]\nname = \"b\"\n";
        let table = Table::read("p.toml", text, Code::RunPipeline).unwrap();
        for (pointer, expected) in [
            ("/name", 1),
            ("/stages/0/name", 4),
            ("/stages/0/agent/kind", 6),
            ("/stages/0/agent/missing", 5),
            ("/stages/1/agent", 7),
            ("/elsewhere", 1),
        ] {
            assert_eq!(line(&table.lines.lines, pointer), expected, "{pointer}");
        }
    }

    #[test]
    fn what_json_has_no_word_for_is_told_with_its_line() {
        for (text, expected) in [
            ("a = 1\nb = 1979-05-27", "line 2: a time"),
            ("a = nan", "line 1: this number"),
            ("\n\na = [1, 99999999999999999999]", "line 3: the number is too large"),
            ("a = 1\na = 2", "line 2: "),
        ] {
            let failure = Table::read("p.toml", text, Code::RunPipeline).map(drop).unwrap_err();
            assert!(failure.message.contains(expected), "{text}: {}", failure.message);
        }
        let table = Table::read("p", "a = 0xff\nb = -1_000\nc = 1_0.5", Code::RunPipeline).unwrap();
        assert_eq!(json::to_text(&table.document).unwrap(), r#"{"a":255,"b":-1000,"c":10.5}"#);
    }
}
