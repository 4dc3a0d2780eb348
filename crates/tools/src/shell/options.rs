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

#[cfg(test)]
mod tests {
    use super::super::programs::named;
    use super::super::{Command, NAMES};
    use super::*;
    use proptest::prelude::*;

    /// Reads what a program is given as plainly as it is meant to stand there.
    fn is_plain(program: &Program, args: &[String]) -> bool {
        let Some((fixed, mut rest)) = args.split_at_checked(program.fixed.len()) else { return false };
        let mut is_known = fixed == program.fixed;
        loop {
            match rest {
                [] => return false,
                [end, paths @ ..] if end == "--" => {
                    return is_known
                        && paths.iter().all(|path| {
                            path == "./-"
                                || Clean::try_from(path.as_str()).is_ok_and(|clean| clean.as_str() == path)
                        });
                }
                [option, more @ ..] if option.starts_with("--") => {
                    let name = option[2..].split('=').next().unwrap_or_default();
                    is_known &= program.long.iter().any(|(known, _)| *known == name);
                    rest = more;
                }
                [count, more @ ..]
                    if program.takes_bare_count && count.len() > 2 && count.starts_with("-n") =>
                {
                    is_known &= count[2..].bytes().all(|byte| byte.is_ascii_digit());
                    rest = more;
                }
                [option, more @ ..] => {
                    let value = program.short.iter().find(|(known, _)| *option == format!("-{known}"));
                    is_known &= value.is_some();
                    let skipped = usize::from(value.is_some_and(|(_, value)| *value != Value::None));
                    rest = more.get(skipped..).unwrap_or_default();
                }
            }
        }
    }

    fn word() -> impl Strategy<Value = String> {
        let hostile = prop::sample::select(vec![
            "-",
            "--",
            "-e",
            "-n",
            "-n5",
            "-5",
            "-i",
            "-in",
            "-f",
            "-o",
            "-oa",
            "-z",
            "-rz",
            "--pre",
            "--pre=x",
            "--pr",
            "--in-place",
            "--output=a",
            "--files",
            "--files0-from=a",
            "--regexp=--pre",
            "--expression=e",
            "--lines",
            "/etc/passwd",
            "..",
            "a/../b",
            "/sandbox/a",
            "./-n",
            "p",
            "1e id",
            "s/a/b/e",
            "s/a/b/g",
            "a",
            "",
            "-A",
            "3",
        ]);
        prop_oneof![4 => hostile.prop_map(str::to_owned), 1 => "-{0,2}[a-zA-Z0-9=/.]{0,6}"]
    }

    proptest! {
        #[test]
        fn no_word_gets_through_that_is_not_known(
            name in prop::sample::select(&NAMES[..]),
            words in prop::collection::vec(word(), 0..6),
        ) {
            let program = named(name).unwrap();
            if let (Ok(args), true) = (read(program, &words), program.operands != Operands::Texts) {
                prop_assert!(is_plain(program, &args), "{words:?} became {args:?}");
            }
        }
    }

    #[test]
    fn options_are_written_one_by_one() {
        for (line, args) in [
            ("ls -la", "--color=never -l -a --"),
            ("head -5 a", "-n5 -- a"),
            ("head -n5 a", "-n 5 -- a"),
            ("tail --lines 5 a", "--lines=5 -- a"),
            ("cat a -n b", "-n -- a b"),
            ("grep -in -- -x a", "--color=never -D skip -i -n -e -x -- a"),
            ("sed -ne p a", "--sandbox -n -e p -- a"),
            ("sort -t, -k2 a", "--parallel=1 -t , -k 2 -- a"),
            ("wc -", "-- ./-"),
        ] {
            assert_eq!(Command::read(line).unwrap().args.join(" "), args, "{line}");
        }
    }
}
