//! The language of formulas: reading it, once, into a form in which every name is a place.
//! Owns: the grammar, which names there are. Must not: compute.
//!
//! ```text
//! formula    = { "let" name "=" expression ";" } expression
//! expression = "if" expression "then" expression "else" expression | or
//! or         = and { "or" and }            and     = not { "and" not }
//! not        = [ "not" ] compared          compared = sum [ ("<"|"<="|">"|">="|"=="|"!=") sum ]
//! sum        = product { ("+"|"-") product }  product = signed { ("*"|"/") signed }
//! signed     = [ "-" ] member              member  = single { "." name }
//! single     = number | 'text' | true | false | nothing | name [ "(" [ expression { "," expression } ] ")" ]
//!            | "(" formula ")" | "[" [ expression { "," expression } ] "]" | "{" [ name ":" expression { "," … } ] "}"
//!            | "[" "for" name [ "," name ] "in" expression [ "if" expression ] ":" formula "]"
//! ```
//!
//! `[for one, place in list if it counts: what it gives]` is the list of what each item gives that counts, in their order; the
//! second name is the place of the item in the list, from 0.

use super::function::{self, Function};
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Bytes of a formula.
const BYTES_MAX: usize = 16_384;
/// Expressions inside each other.
const DEPTH_MAX: usize = 64;

/// An expression.
#[derive(Clone, Debug)]
pub(super) enum Expression {
    Number(f64),
    Text(&'static str),
    Truth(bool),
    Nothing,
    /// What stands at a place: the inputs in their order, then what was named on the way.
    Place(usize),
    Call(&'static Function, Vec<Expression>),
    List(Vec<Expression>),
    Each(Box<Each>),
    Record(Vec<(&'static str, Expression)>),
    Member(Box<Expression>, &'static str),
    Not(Box<Expression>),
    Minus(Box<Expression>),
    Two(Operator, Box<Expression>, Box<Expression>),
    If(Box<Expression>, Box<Expression>, Box<Expression>),
    /// A value that stands at the next place for the rest.
    Let(Box<Expression>, Box<Expression>),
}

/// Something for each item of a list. The item stands at the next place, and behind it its own place in the list if it is named.
#[derive(Clone, Debug)]
pub(super) struct Each {
    pub(super) of: Expression,
    pub(super) has_place: bool,
    /// Which items count; all where it is not said.
    pub(super) only: Option<Expression>,
    pub(super) gives: Expression,
}

/// What joins two expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Or,
    And,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    Plus,
    Minus,
    Times,
    Over,
}

/// A text is no formula.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct NotAFormula {
    /// From 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Token {
    Number(f64),
    Text(&'static str),
    Word(&'static str),
    Sign(&'static str),
}

/// Longer signs before those that they begin with.
const SIGNS: [&str; 21] = [
    "<=", ">=", "==", "!=", "<", ">", "=", "+", "-", "*", "/", "(", ")", "[", "]", "{", "}", ",", ".", ":",
    ";",
];
const KEYWORDS: [&str; 9] = ["let", "if", "then", "else", "or", "and", "not", "for", "in"];

/// Reads a formula in which these names stand for values.
pub(super) fn parse(text: &'static str, names: &[&'static str]) -> Result<Expression, NotAFormula> {
    if text.len() > BYTES_MAX {
        return Err(NotAFormula { line: 1, message: "is too long".to_string() });
    }
    let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0, names: names.to_vec() };
    let formula = parser.formula()?;
    match parser.peek() {
        None => Ok(formula),
        Some(_) => parser.wrong("there is something behind the formula"),
    }
}

/// The functions that a text calls, by name.
pub(super) fn called(text: &'static str) -> BTreeSet<&'static str> {
    let tokens = tokens(text).unwrap_or_default();
    let pairs = tokens.iter().zip(tokens.iter().skip(1));
    let name = |((token, _), (next, _)): (&(Token, usize), &(Token, usize))| match (token, next) {
        (Token::Word(name), Token::Sign("(")) if !KEYWORDS.contains(name) => Some(*name),
        (
            Token::Word(_) | Token::Number(_) | Token::Text(_) | Token::Sign(_),
            Token::Word(_) | Token::Number(_) | Token::Text(_) | Token::Sign(_),
        ) => None,
    };
    pairs.filter_map(name).collect()
}

/// The tokens with their lines. What stands behind a `#` is for people.
fn tokens(text: &'static str) -> Result<Vec<(Token, usize)>, NotAFormula> {
    let mut all = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let wrong = |message: &str| NotAFormula { line, message: message.to_string() };
        let length = if first == '\n' {
            line += 1;
            1
        } else if first.is_whitespace() {
            first.len_utf8()
        } else if first == '#' {
            rest.find('\n').unwrap_or(rest.len())
        } else if first.is_ascii_digit() {
            let length =
                rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(rest.len());
            let number = rest.get(..length).and_then(|digits| digits.parse().ok());
            all.push((Token::Number(number.ok_or_else(|| wrong("this is no number"))?), line));
            length
        } else if first == '\'' {
            let inside = rest.get(1..).and_then(|rest| rest.split_once('\'')).map(|(inside, _)| inside);
            let inside =
                inside.filter(|inside| !inside.contains('\n')).ok_or_else(|| wrong("a text does not end"))?;
            all.push((Token::Text(inside), line));
            inside.len() + 2
        } else if first.is_ascii_alphabetic() {
            let is_more = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            let length = rest.find(|letter: char| !is_more(letter)).unwrap_or(rest.len());
            all.push((Token::Word(rest.get(..length).unwrap_or_default()), line));
            length
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            let sign = sign.ok_or_else(|| wrong(&format!("{first:?} has no meaning here")))?;
            all.push((Token::Sign(sign), line));
            sign.len()
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    Ok(all)
}

struct Parser {
    tokens: Vec<(Token, usize)>,
    at: usize,
    depth: usize,
    /// What is named here, by place; of two of one name the later one is meant.
    names: Vec<&'static str>,
}

type Parsed = Result<Expression, NotAFormula>;

impl Parser {
    fn peek(&self) -> Option<Token> {
        self.tokens.get(self.at).map(|(token, _)| *token)
    }

    fn wrong<T>(&self, message: &str) -> Result<T, NotAFormula> {
        let line = self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |(_, line)| *line);
        Err(NotAFormula { line, message: message.to_string() })
    }

    fn takes(&mut self, wanted: Token) -> bool {
        let is = self.peek() == Some(wanted);
        self.at += usize::from(is);
        is
    }

    fn sign(&mut self, sign: &'static str) -> bool {
        self.takes(Token::Sign(sign))
    }

    fn word(&mut self, word: &'static str) -> bool {
        self.takes(Token::Word(word))
    }

    fn must(&mut self, is: bool, message: &str) -> Result<(), NotAFormula> {
        if is { Ok(()) } else { self.wrong(message) }
    }

    fn name(&mut self) -> Result<&'static str, NotAFormula> {
        match self.peek() {
            Some(Token::Word(name)) if !KEYWORDS.contains(&name) => {
                self.at += 1;
                Ok(name)
            }
            Some(_) | None => self.wrong("here must be a name"),
        }
    }

    fn formula(&mut self) -> Parsed {
        if !self.word("let") {
            return self.expression();
        }
        self.depth += 1;
        self.must(self.depth <= DEPTH_MAX, "too much stands inside each other")?;
        let name = self.name()?;
        let is = self.sign("=");
        self.must(is, "here must be =")?;
        let value = self.expression()?;
        let ends = self.sign(";");
        self.must(ends, "here must be ;")?;
        self.names.push(name);
        let rest = self.formula()?;
        self.names.pop();
        self.depth -= 1;
        Ok(Expression::Let(Box::new(value), Box::new(rest)))
    }

    fn expression(&mut self) -> Parsed {
        self.depth += 1;
        self.must(self.depth <= DEPTH_MAX, "too much stands inside each other")?;
        let found = if self.word("if") {
            let is = self.expression()?;
            let then = self.word("then");
            self.must(then, "here must be then")?;
            let yes = self.expression()?;
            let otherwise = self.word("else");
            self.must(otherwise, "here must be else")?;
            Expression::If(Box::new(is), Box::new(yes), Box::new(self.expression()?))
        } else {
            self.joined(0)?
        };
        self.depth -= 1;
        Ok(found)
    }

    /// Two expressions and what joins them, by how tight it binds.
    fn joined(&mut self, level: usize) -> Parsed {
        const LEVELS: [&[(&str, Operator)]; 5] = [
            &[("or", Operator::Or)],
            &[("and", Operator::And)],
            &[
                ("<=", Operator::LessOrEqual),
                (">=", Operator::GreaterOrEqual),
                ("==", Operator::Equal),
                ("!=", Operator::NotEqual),
                ("<", Operator::Less),
                (">", Operator::Greater),
            ],
            &[("+", Operator::Plus), ("-", Operator::Minus)],
            &[("*", Operator::Times), ("/", Operator::Over)],
        ];
        const COMPARED: usize = 2;
        let Some(operators) = LEVELS.get(level) else { return self.signed() };
        if level == COMPARED && self.word("not") {
            return Ok(Expression::Not(Box::new(self.joined(COMPARED)?)));
        }
        let mut left = self.joined(level + 1)?;
        while let Some((_, operator)) = operators.iter().find(|(sign, _)| match self.peek() {
            Some(Token::Sign(found) | Token::Word(found)) => found == *sign,
            Some(Token::Number(_) | Token::Text(_)) | None => false,
        }) {
            self.at += 1;
            left = Expression::Two(*operator, Box::new(left), Box::new(self.joined(level + 1)?));
        }
        Ok(left)
    }

    fn signed(&mut self) -> Parsed {
        if self.sign("-") {
            self.depth += 1;
            self.must(self.depth <= DEPTH_MAX, "too much stands inside each other")?;
            let negated = self.signed()?;
            self.depth -= 1;
            return Ok(Expression::Minus(Box::new(negated)));
        }
        let mut found = self.single()?;
        while self.sign(".") {
            found = Expression::Member(Box::new(found), self.name()?);
        }
        Ok(found)
    }

    fn single(&mut self) -> Parsed {
        match self.peek() {
            Some(Token::Number(number)) => {
                self.at += 1;
                Ok(Expression::Number(number))
            }
            Some(Token::Text(text)) => {
                self.at += 1;
                Ok(Expression::Text(text))
            }
            Some(Token::Word(word)) if word == "true" || word == "false" => {
                self.at += 1;
                Ok(Expression::Truth(word == "true"))
            }
            Some(Token::Word("nothing")) => {
                self.at += 1;
                Ok(Expression::Nothing)
            }
            Some(Token::Word(_)) => self.named(),
            Some(Token::Sign("(")) => {
                self.at += 1;
                let inside = self.formula()?;
                let ends = self.sign(")");
                self.must(ends, "here must be )")?;
                Ok(inside)
            }
            Some(Token::Sign("[")) => {
                self.at += 1;
                if self.word("for") { self.each() } else { Ok(Expression::List(self.items("]")?)) }
            }
            Some(Token::Sign("{")) => {
                self.at += 1;
                self.record()
            }
            Some(Token::Sign(_)) | None => self.wrong("here must be a value"),
        }
    }

    /// Something for each item of a list, behind the word for it.
    fn each(&mut self) -> Parsed {
        let item = self.name()?;
        let place = if self.sign(",") { Some(self.name()?) } else { None };
        let is_in = self.word("in");
        self.must(is_in, "here must be in")?;
        let of = self.expression()?;
        let known = self.names.len();
        self.names.push(item);
        self.names.extend(place);
        let only = if self.word("if") { Some(self.expression()?) } else { None };
        let colon = self.sign(":");
        self.must(colon, "here must be a colon")?;
        let gives = self.formula()?;
        self.names.truncate(known);
        let ends = self.sign("]");
        self.must(ends, "here must be ]")?;
        Ok(Expression::Each(Box::new(Each { of, has_place: place.is_some(), only, gives })))
    }

    /// A value by its name, or a call of a function.
    fn named(&mut self) -> Parsed {
        let name = self.name()?;
        if self.sign("(") {
            let arguments = self.items(")")?;
            return match function::find(name, arguments.len()) {
                Some(function) => Ok(Expression::Call(function, arguments)),
                None => {
                    let count = arguments.len();
                    self.wrong(&format!("there is no function {name} that takes {count} values"))
                }
            };
        }
        match self.names.iter().rposition(|own| *own == name) {
            Some(place) => Ok(Expression::Place(place)),
            None => self.wrong(&format!("there is no {name}")),
        }
    }

    fn items(&mut self, end: &'static str) -> Result<Vec<Expression>, NotAFormula> {
        let mut items = Vec::new();
        while !self.sign(end) {
            let comma = items.is_empty() || self.sign(",");
            self.must(comma, "here must be a comma")?;
            items.push(self.expression()?);
        }
        Ok(items)
    }

    fn record(&mut self) -> Parsed {
        let mut members = Vec::new();
        while !self.sign("}") {
            let comma = members.is_empty() || self.sign(",");
            self.must(comma, "here must be a comma")?;
            let name = self.name()?;
            let colon = self.sign(":");
            self.must(colon, "here must be a colon")?;
            members.push((name, self.expression()?));
        }
        Ok(Expression::Record(members))
    }
}
