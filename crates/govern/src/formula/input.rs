//! What a formula takes and gives: a language of shapes.
//! Owns: shapes, ranges, defaults, how they read. Must not: look at a value; `take` does.

use crate::types;
use crate::types::formula::NumericUnit;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What a value is.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// A number. Without a range it may be one that is not finite, and then the formula has a code for that.
    Number,
    /// A whole number that is not negative.
    Count,
    /// One of these numbers.
    Among(&'static [f64]),
    /// True or false.
    Truth,
    /// A text that says something.
    Text,
    /// A time.
    Time,
    /// A version: numbers with dots between, perhaps more behind a dash.
    Version,
    /// A word of a closed set.
    Word(Words),
    /// Members by name, and no others.
    Record(Members),
    /// Values by names that are not known before.
    Map(Words, &'static Input),
    /// A list of numbers, none missing.
    Numbers,
    /// A list.
    List(&'static Input),
}

/// A closed set of words; with none, every text that says something is one.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// The name of the set, if the contract has it.
    pub name: &'static str,
    /// The words.
    pub words: &'static [&'static str],
}

/// The members of a record.
#[derive(Clone, Copy, Debug)]
pub struct Members {
    /// The name of its type, if the contract has it.
    pub name: &'static str,
    /// Members of the type that are not looked at.
    pub also: &'static [&'static str],
    /// Those that are.
    pub members: &'static [Input],
}

/// Every text is a name.
pub(super) const ANY: Words = Words { name: "", words: &[] };

/// A word of a set of the contract.
macro_rules! word {
    ($type:ty) => {
        $crate::formula::spec::Shape::Word($crate::formula::input::words_of!($type))
    };
}

/// A set of words of the contract.
macro_rules! words_of {
    ($type:ty) => {
        $crate::formula::input::Words { name: <$type>::NAME, words: <$type>::WORDS }
    };
}

/// A record of a type of the contract, of which a formula looks at these members.
macro_rules! part_of {
    ($type:ty, $members:expr) => {
        $crate::formula::spec::Shape::Record($crate::formula::input::Members {
            name: <$type>::NAME,
            also: <$type>::MEMBERS,
            members: $members,
        })
    };
}

pub(super) use {part_of, word, words_of};

/// One of these words.
pub(super) const fn one_of(words: &'static [&'static str]) -> Shape {
    Shape::Word(Words { name: "", words })
}

/// A record with these members.
pub(super) const fn record(members: &'static [Input]) -> Shape {
    Shape::Record(Members { name: "", also: &[], members })
}

/// Where a number must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// From here.
    pub low: f64,
    /// To here.
    pub high: f64,
    /// The code behind `validation.`, if the contract has one for a number that is elsewhere.
    pub code: Option<&'static str>,
    /// Where elsewhere.
    pub coded: Coded,
}

/// Which numbers outside of a range its code is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coded {
    /// All.
    Outside,
    /// Those that are too low; what is too high has none.
    Below,
}

impl Range {
    /// The code for a number that is elsewhere.
    pub(super) fn code_of(&self, number: f64) -> Option<&'static str> {
        self.code.filter(|_| match self.coded {
            Coded::Outside => true,
            Coded::Below => number < self.low,
        })
    }
}

/// An input, a member of one, or an item of a list.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub shape: Shape,
    /// What it means.
    pub about: &'static str,
    /// Whether there is no value without it.
    pub is_required: bool,
    /// Where its numbers must be.
    pub range: Option<Range>,
    /// In which unit it must be.
    pub unit: Option<NumericUnit>,
    /// What it is where it is missing, as JSON, if the policy is to take that.
    pub default: Option<&'static str>,
}

/// An input that must be there.
pub(super) const fn needs(name: &'static str, shape: Shape, about: &'static str) -> Input {
    Input { name, shape, about, is_required: true, range: None, unit: None, default: None }
}

/// An input that may be missing.
pub(super) const fn may(name: &'static str, shape: Shape, about: &'static str) -> Input {
    Input { is_required: false, ..needs(name, shape, about) }
}

/// An item of a list or a map.
pub(super) const fn item(shape: Shape) -> Input {
    needs("", shape, "")
}

/// Counts go up to here: every whole number is a number of its own, and a sum of some is one.
pub(super) const COUNT_MAX: f64 = 9e15;

impl Input {
    /// With the range of its numbers.
    pub(super) const fn within(self, low: f64, high: f64) -> Self {
        Input { range: Some(Range { low, high, code: None, coded: Coded::Outside }), ..self }
    }

    /// With the range of its numbers, and the code for one that is elsewhere.
    pub(super) const fn within_or(self, low: f64, high: f64, code: &'static str) -> Self {
        Input { range: Some(Range { low, high, code: Some(code), coded: Coded::Outside }), ..self }
    }

    /// With the range of its numbers, and the code for one that is too low.
    pub(super) const fn within_or_below(self, low: f64, high: f64, code: &'static str) -> Self {
        Input { range: Some(Range { low, high, code: Some(code), coded: Coded::Below }), ..self }
    }

    /// With the unit of its numbers.
    pub(super) const fn unit(self, unit: NumericUnit) -> Self {
        Input { unit: Some(unit), ..self }
    }

    /// With what it is where it is missing.
    pub(super) const fn or(self, default: &'static str) -> Self {
        Input { default: Some(default), is_required: false, ..self }
    }

    /// What it must be, in words: a part of the formula's text.
    #[must_use]
    pub fn text(&self) -> String {
        let shape = self.shape.text();
        let range = self
            .range
            .map(|range| format!(" from {} to {}", shown_number(range.low), shown_number(range.high)));
        let code = self.range.and_then(|range| {
            let below = match range.coded {
                Coded::Outside => "",
                Coded::Below => " if below",
            };
            range.code.map(|code| format!(" ({code}{below})"))
        });
        let unit = self.unit.map(|unit| format!(" in {}", unit.as_str()));
        let need = match (self.default, self.is_required) {
            (Some(default), _) => format!(", else {default}"),
            (None, true) => String::new(),
            (None, false) => ", if any".to_string(),
        };
        [Some(shape.into_owned()), range, code, unit, Some(need)].into_iter().flatten().collect()
    }
}

/// Numbers from here on are told with an exponent: nobody counts the digits of a longer one.
const LONG: f64 = 1e16;

/// A number as people read it.
pub(super) fn shown_number(number: f64) -> String {
    if number.abs() < LONG { format!("{number}") } else { format!("{number:e}") }
}

/// The name of a type, if it stands in the list of types; a part of another one does not.
fn registered(name: &'static str) -> Option<&'static str> {
    types::find(name).map(|_| name)
}

impl Shape {
    /// Its name in the registry.
    #[must_use]
    pub fn name(self) -> Cow<'static, str> {
        let plain = match self {
            Shape::Number | Shape::Among(_) => "number",
            Shape::Count => "count",
            Shape::Truth => "truth",
            Shape::Text => "text",
            Shape::Time => "time",
            Shape::Version => "version",
            Shape::Word(Words { name, .. }) => registered(name).unwrap_or("word"),
            Shape::Record(Members { name, .. }) => registered(name).unwrap_or("record"),
            Shape::Map(_, item) => return Cow::Owned(format!("map_of_{}", item.shape.name())),
            Shape::Numbers => "list_of_number",
            Shape::List(item) => return Cow::Owned(format!("list_of_{}", item.shape.name())),
        };
        Cow::Borrowed(plain)
    }

    /// What it is, in words: a part of the formula's text.
    #[must_use]
    pub fn text(self) -> Cow<'static, str> {
        Cow::Owned(match self {
            Shape::Among(numbers) => numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | "),
            Shape::Word(Words { name, words }) => {
                registered(name).map_or_else(|| words.join(" | "), ToString::to_string)
            }
            Shape::Record(Members { name, members, .. }) => {
                let members = members.iter().map(|one| format!("{}: {}", one.name, one.text()));
                let space = if name.is_empty() { "" } else { " " };
                format!("{name}{space}{{{}}}", members.collect::<Vec<_>>().join("; "))
            }
            Shape::Map(keys, item) => {
                let keys = if keys.name.is_empty() { "text" } else { keys.name };
                format!("{{{keys}: {}}}", item.text())
            }
            Shape::List(item) => format!("[{}]", item.text()),
            Shape::Numbers => "[number]".to_string(),
            Shape::Number | Shape::Count | Shape::Truth | Shape::Text | Shape::Time | Shape::Version => {
                return self.name();
            }
        })
    }
}
