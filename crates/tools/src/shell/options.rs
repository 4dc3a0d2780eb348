//! The arguments of a program, read by its rules.
//! Owns: taking options apart as GNU programs do, and writing them anew in one plain form. Must not: pass on a word that
//! it does not understand.

use super::programs::{Operands, Program, Value};
use super::{refusal, sed};
use crate::place::Clean;
use countersign_runtime::ports::tool::NotDone;

/// What a program is given in place of the words: its fixed options, the options one by one, `--`, the paths.
pub(super) fn read(program: &Program, words: &[String]) -> Result<Vec<String>, NotDone> {
    if program.operands == Operands::Texts {
        return Ok(words.to_vec());
    }
    let mut reader = Reader { program, options: Vec::new(), operands: Vec::new(), has_pattern: false };
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if word == "--" {
            reader.operands.extend(words.by_ref().map(str::to_owned));
        } else if let Some(long) = word.strip_prefix("--") {
            reader.long(long, &mut words)?;
        } else if let Some(short) = word.strip_prefix('-').filter(|short| !short.is_empty()) {
            reader.short(short, &mut words)?;
        } else {
            reader.operands.push(word.to_owned());
        }
    }
    reader.finish()
}

struct Reader<'a> {
    program: &'a Program,
    options: Vec<String>,
    operands: Vec<String>,
    /// Whether an option gave the pattern or script that the first operand would be.
    has_pattern: bool,
}

impl<'a> Reader<'a> {
    /// `--name`, `--name=value` or `--name value`; a name must be whole, though GNU programs know it by its beginning.
    fn long(&mut self, long: &str, words: &mut impl Iterator<Item = &'a str>) -> Result<(), NotDone> {
        let (name, attached) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        let known = self.program.long.iter().find(|(known, _)| *known == name);
        let Some((name, value)) = known else { return Err(self.unknown("--", name)) };
        match (value, attached) {
            (Value::None, None) => self.options.push(format!("--{name}")),
            (Value::None, Some(_)) => return Err(refusal(format!("--{name} takes no value"))),
            (Value::Count | Value::Text | Value::Pattern | Value::OneOf(_), _) => {
                let given = attached.or_else(|| words.next());
                let given = self.checked(&format!("--{name}"), *value, given)?;
                self.options.push(format!("--{name}={given}"));
            }
        }
        Ok(())
    }

    /// `-abc`, where the value of an option is the rest of the word or the next one; `-5` where that is a count.
    fn short(&mut self, short: &str, words: &mut impl Iterator<Item = &'a str>) -> Result<(), NotDone> {
        if self.program.takes_bare_count && short.bytes().all(|byte| byte.is_ascii_digit()) {
            let count = self.checked("-n", Value::Count, Some(short))?;
            self.options.push(format!("-n{count}"));
            return Ok(());
        }
        for (at, letter) in short.char_indices() {
            let known = self.program.short.iter().find(|(known, _)| *known == letter);
            let Some((_, value)) = known else { return Err(self.unknown("-", &letter.to_string())) };
            match value {
                Value::None => self.options.push(format!("-{letter}")),
                Value::Count | Value::Text | Value::Pattern | Value::OneOf(_) => {
                    let rest = &short[at + letter.len_utf8()..];
                    let given = if rest.is_empty() { words.next() } else { Some(rest) };
                    let name = format!("-{letter}");
                    let given = self.checked(&name, *value, given)?;
                    self.options.extend([name, given]);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn checked(&mut self, name: &str, value: Value, given: Option<&str>) -> Result<String, NotDone> {
        let Some(given) = given else { return Err(refusal(format!("{name} needs a value"))) };
        match value {
            Value::Count if !is_count(given) => return Err(refusal(format!("{name} needs a number"))),
            Value::OneOf(words) if !words.contains(&given) => {
                return Err(refusal(format!("{name} is one of {}", words.join(", "))));
            }
            Value::Pattern => {
                self.has_pattern = true;
                self.check_script(given)?;
            }
            Value::None | Value::Count | Value::Text | Value::OneOf(_) => {}
        }
        Ok(given.to_owned())
    }

    fn check_script(&self, script: &str) -> Result<(), NotDone> {
        match self.program.operands {
            Operands::ScriptThenPaths => sed::check(script),
            Operands::None | Operands::Texts | Operands::Paths | Operands::PatternThenPaths => Ok(()),
        }
    }

    fn unknown(&self, dashes: &str, name: &str) -> NotDone {
        refusal(format!("{} may not be given {dashes}{}", self.program.name, crate::place::Shown(name)))
    }

    fn finish(mut self) -> Result<Vec<String>, NotDone> {
        let mut operands = std::mem::take(&mut self.operands).into_iter();
        match self.program.operands {
            Operands::None if operands.len() > 0 => {
                return Err(refusal(format!("{} takes no paths", self.program.name)));
            }
            Operands::PatternThenPaths | Operands::ScriptThenPaths
                if !self.has_pattern && !self.options.iter().any(|option| option == "--files") =>
            {
                let pattern = operands.next();
                let pattern = self.checked("the pattern", Value::Pattern, pattern.as_deref())?;
                self.options.extend(["-e".to_owned(), pattern]);
            }
            Operands::None
            | Operands::Texts
            | Operands::Paths
            | Operands::PatternThenPaths
            | Operands::ScriptThenPaths => {}
        }
        let mut args: Vec<String> = self.program.fixed.iter().map(|word| (*word).to_owned()).collect();
        args.append(&mut self.options);
        args.push("--".to_owned());
        for operand in operands {
            let path = Clean::try_from(operand.as_str())?;
            // A lone dash would be the standard input.
            args.push(if path.as_str() == "-" { "./-".to_owned() } else { path.as_str().to_owned() });
        }
        Ok(args)
    }
}

/// Digits, with a sign that says from which end.
fn is_count(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    (1..=12).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}
