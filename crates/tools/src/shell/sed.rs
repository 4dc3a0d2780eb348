//! The scripts that `sed` may be given.
//! Owns: a small grammar: addresses, and the commands that only print, drop or replace. Must not: let through a command
//! that runs a program, or reads or writes a file.

use super::refusal;
use countersign_runtime::ports::tool::NotDone;
use std::iter::Peekable;
use std::str::Chars;

type Letters<'a> = Peekable<Chars<'a>>;

const COMMANDS_MAX: usize = 32;

/// Whether a script is commands of the grammar: `[address[,address]][!]` and one of `p`, `d`, `q`, `=`,
/// `s/a/b/[gpiI0-9]` and `y/ab/cd/`, several with `;` between them.
pub(super) fn check(script: &str) -> Result<(), NotDone> {
    let mut letters = script.chars().peekable();
    let mut commands = 0;
    loop {
        skip(&mut letters, |letter| letter == ' ' || letter == ';');
        if letters.peek().is_none() {
            return if commands > 0 { Ok(()) } else { Err(refused()) };
        }
        commands += 1;
        if commands > COMMANDS_MAX || command(&mut letters).is_none() {
            return Err(refused());
        }
    }
}

fn refused() -> NotDone {
    refusal(
        "a script of sed has addresses and the commands p, d, q, =, y and s with the flags g, p, i, I and digits only",
    )
}

fn command(letters: &mut Letters<'_>) -> Option<()> {
    if address(letters)? == Found::Something && letters.next_if_eq(&',').is_some() {
        skip(letters, |letter| letter == ' ');
        if address(letters)? == Found::Nothing {
            return None;
        }
    }
    skip(letters, |letter| letter == ' ' || letter == '!');
    match letters.next()? {
        'p' | 'd' | 'q' | '=' => {}
        's' => {
            both_halves(letters)?;
            skip(letters, |letter| "gpiI".contains(letter) || letter.is_ascii_digit());
        }
        'y' => both_halves(letters)?,
        _ => return None,
    }
    skip(letters, |letter| letter == ' ');
    matches!(letters.peek(), None | Some(';')).then_some(())
}

#[derive(PartialEq, Eq)]
enum Found {
    Something,
    Nothing,
}

/// A line's number, the last line, or a pattern between slashes.
fn address(letters: &mut Letters<'_>) -> Option<Found> {
    match letters.peek() {
        Some('$') => {
            letters.next();
        }
        Some('/') => {
            letters.next();
            until(letters, '/')?;
            skip(letters, |letter| letter == 'I');
        }
        Some(digit) if digit.is_ascii_digit() => {
            skip(letters, |letter| letter.is_ascii_digit() || letter == '~')
        }
        Some(_) | None => return Some(Found::Nothing),
    }
    skip(letters, |letter| letter == ' ');
    Some(Found::Something)
}

/// What stands between three times the same sign.
fn both_halves(letters: &mut Letters<'_>) -> Option<()> {
    let sign = letters.next().filter(|sign| "/|#,:@!%+_".contains(*sign))?;
    until(letters, sign)?;
    until(letters, sign)
}

/// Goes past the next sign that is not escaped, as `sed` itself looks for it: also within brackets.
fn until(letters: &mut Letters<'_>, sign: char) -> Option<()> {
    loop {
        match letters.next()? {
            '\\' => drop(letters.next()?),
            letter if letter == sign => return Some(()),
            _ => {}
        }
    }
}

fn skip(letters: &mut Letters<'_>, skips: impl Fn(char) -> bool) {
    while letters.next_if(|letter| skips(*letter)).is_some() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_and_replacing_is_let_through() {
        for script in [
            "p",
            "3p",
            "1,5p",
            "$d",
            "2,$d",
            "/a b/p",
            "/a/,/b/d",
            "s/a/b/",
            "s|a/b|c|g",
            "s/a\\/b/c/gI2p",
            "1!d",
            "/x/I s/a/b/; p",
            "1~2p",
            "10q",
            "=",
            "y/abc/xyz/",
            "s/[a-z]*/&&/g",
        ] {
            assert!(check(script).is_ok(), "{script}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for script in [
            "",
            " ; ",
            "e",
            "1e id",
            "e id",
            "w out",
            "1w out",
            "r /etc/passwd",
            "R x",
            "W x",
            "s/a/b/e",
            "s/a/b/ge",
            "s/a/b/w out",
            "s/a/b/gw out",
            "p;e",
            "p; w x",
            "{p}",
            "{e}",
            "/a/{e id\n}",
            "s/a/b/;1e",
            "s/a/b",
            "/a",
            "s/a/b/m",
            "a text",
            "i\\",
            "c x",
            "b end",
            ": end",
            "t",
            "F",
            "z",
            "v",
            "l",
            "n",
            "p}",
            "s\\a\\b\\e",
            "sxaxbxe",
            "1,",
            "s/a\\/b/e",
            "y/a/b/e",
            "#n",
            "Q1",
            "q1",
            "\\xaxe",
        ] {
            assert!(check(script).is_err(), "{script}");
        }
        assert!(check(&"p;".repeat(COMMANDS_MAX + 1)).is_err());
    }
}
