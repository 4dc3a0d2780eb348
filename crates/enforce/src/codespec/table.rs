//! Reads the tables of a rule block, noting everything that is wrong with the line where it stands.
//! Owns: the checks that every table shares. Must not: default a bad value.

use super::Trouble;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Where the troubles of a block go.
#[derive(Debug)]
pub(super) struct Notes<'a> {
    text: &'a str,
    /// The line of the document before the block's first.
    before: usize,
    pub(super) troubles: Vec<Trouble>,
}

impl<'a> Notes<'a> {
    pub(super) fn new(text: &'a str, before: usize) -> Self {
        Notes { text, before, troubles: Vec::new() }
    }

    /// The line of the document that a byte of the block stands in.
    pub(super) fn line(&self, offset: usize) -> usize {
        let above = self.text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count();
        self.before + above + 1
    }

    pub(super) fn push(&mut self, offset: usize, message: impl Into<String>) {
        let line = self.line(offset);
        self.troubles.push(Trouble { line, message: message.into() });
    }
}

/// A table that is being read.
pub(super) struct Table<'a, 't> {
    name: &'static str,
    table: Option<&'t DeTable<'a>>,
    seen: Vec<&'static str>,
}

impl<'a, 't> Table<'a, 't> {
    pub(super) fn root(table: &'t DeTable<'a>) -> Self {
        Table { name: "", table: Some(table), seen: Vec::new() }
    }

    fn get(&mut self, name: &'static str) -> Option<&'t Spanned<DeValue<'a>>> {
        self.seen.push(name);
        self.table?.iter().find(|(key, _)| key.get_ref() == name).map(|(_, value)| value)
    }

    fn wrong<T>(
        &self,
        notes: &mut Notes<'_>,
        value: &Spanned<DeValue<'a>>,
        name: &str,
        needed: &str,
    ) -> Option<T> {
        let found = value.get_ref().type_str();
        notes.push(value.span().start, format!("{}: {needed} is needed, not {found}", self.place(name)));
        None
    }

    fn place(&self, name: &str) -> String {
        if self.name.is_empty() { name.to_owned() } else { format!("{}.{name}", self.name) }
    }

    /// A table; an absent one has nothing in it.
    pub(super) fn table(&mut self, notes: &mut Notes<'_>, name: &'static str) -> Table<'a, 't> {
        let table = match self.get(name) {
            Some(value) => match value.get_ref() {
                DeValue::Table(table) => Some(table),
                _ => self.wrong(notes, value, name, "a table"),
            },
            None => None,
        };
        Table { name, table, seen: Vec::new() }
    }

    /// A text.
    pub(super) fn text(&mut self, notes: &mut Notes<'_>, name: &'static str) -> Option<(usize, &'t str)> {
        let value = self.get(name)?;
        match value.get_ref().as_str() {
            Some(text) => Some((value.span().start, text)),
            None => self.wrong(notes, value, name, "a string"),
        }
    }

    /// A word through its door; an absent one is the usual one.
    pub(super) fn word<T: Default + for<'x> TryFrom<&'x str, Error = &'static str>>(
        &mut self,
        notes: &mut Notes<'_>,
        name: &'static str,
    ) -> T {
        let Some((at, text)) = self.text(notes, name) else { return T::default() };
        T::try_from(text).unwrap_or_else(|needed| {
            notes.push(at, format!("{}: {needed}", self.place(name)));
            T::default()
        })
    }

    /// A list of texts, each through the door `read`; `None` if it is absent.
    pub(super) fn list<T>(
        &mut self,
        notes: &mut Notes<'_>,
        name: &'static str,
        read: impl Fn(&str) -> Result<T, &'static str>,
    ) -> Option<Vec<T>> {
        let value = self.get(name)?;
        let Some(items) = value.get_ref().as_array() else {
            return self.wrong(notes, value, name, "an array of strings");
        };
        let mut list = Vec::new();
        for item in items.iter() {
            match item.get_ref().as_str().map(&read) {
                Some(Ok(value)) => list.push(value),
                Some(Err(needed)) => {
                    notes.push(item.span().start, format!("{}: {needed}", self.place(name)));
                }
                None => self.wrong::<()>(notes, item, name, "a string").unwrap_or_default(),
            }
        }
        Some(list)
    }

    /// A whole number from `least` to `most`.
    pub(super) fn number(
        &mut self,
        notes: &mut Notes<'_>,
        name: &'static str,
        (least, most): (u16, u16),
    ) -> Option<u16> {
        let value = self.get(name)?;
        let number = value.get_ref().as_integer();
        let number = number.and_then(|held| u16::from_str_radix(held.as_str(), held.radix()).ok());
        match number.filter(|number| (least..=most).contains(number)) {
            Some(number) => Some(number),
            None => {
                let needed = format!("{}: a number from {least} to {most} is needed", self.place(name));
                notes.push(value.span().start, needed);
                None
            }
        }
    }

    /// Notes every member that was not read.
    pub(super) fn deny_unknown(&self, notes: &mut Notes<'_>) {
        for (key, _) in self.table.into_iter().flatten() {
            if !self.seen.contains(&key.get_ref().as_ref()) {
                let shown: String = key.get_ref().chars().take(64).collect();
                notes.push(key.span().start, format!("there is no rule {}", self.place(&shown)));
            }
        }
    }
}
