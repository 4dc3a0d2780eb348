//! A command line as words.
//! Owns: refusing what a shell would do more with than split it. Must not: expand anything.

use super::refusal;
use countersign_runtime::ports::tool::NotDone;

/// A command line's length.
pub(super) const LINE_BYTES_MAX: usize = 8_192;
const WORDS_MAX: usize = 256;

/// Where a letter stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Single,
    Double,
}

/// Splits a line as a shell would, if that is all that a shell would do with it.
pub(super) fn words(line: &str) -> Result<Vec<String>, NotDone> {
    if line.len() > LINE_BYTES_MAX {
        return Err(refusal("a command has at most 8192 bytes"));
    }
    plain(line)?;
    let words = shlex::split(line).ok_or_else(|| refusal("a quote is not closed"))?;
    if words.len() > WORDS_MAX {
        return Err(refusal("a command has at most 256 words"));
    }
    Ok(words)
}

/// Whether a shell would do nothing but take quotes away.
fn plain(line: &str) -> Result<(), NotDone> {
    let mut quotes = Quotes::None;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter.is_control() && letter != '\t' {
            return Err(refusal("a command is one line without control characters"));
        }
        quotes = match (quotes, letter) {
            (Quotes::None, '\'') => Quotes::Single,
            (Quotes::Single, '\'') | (Quotes::Double, '"') => Quotes::None,
            (Quotes::None, '"') => Quotes::Double,
            (Quotes::Single, _) => Quotes::Single,
            (Quotes::Double, '$' | '`' | '!') => {
                return Err(refusal(format!(
                    "{letter} in double quotes: use single quotes, nothing is expanded"
                )));
            }
            (Quotes::Double, '\\') if letters.next_if(|next| "$`\"\\\n".contains(*next)).is_some() => {
                return Err(refusal("an escape in double quotes: use single quotes"));
            }
            (Quotes::Double, _) => Quotes::Double,
            (Quotes::None, '|' | '&' | ';' | '<' | '>' | '(' | ')' | '$' | '`') => {
                return Err(refusal(format!(
                    "{letter} outside of quotes: there is no shell, only one program"
                )));
            }
            (Quotes::None, '*' | '?' | '[' | ']' | '{' | '}' | '~' | '#' | '!' | '\\' | '^') => {
                return Err(refusal(format!(
                    "{letter} outside of quotes: nothing is expanded, use single quotes"
                )));
            }
            (Quotes::None, _) => Quotes::None,
        };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_record::code::Code;
    use proptest::prelude::*;
    use std::process::Command;

    #[test]
    fn lines_are_split() {
        for (line, expected) in [
            ("", &[][..]),
            ("  ls\t-la ", &["ls", "-la"]),
            ("grep 'a b|c$' \"it's\"", &["grep", "a b|c$", "it's"]),
            ("r''m x", &["rm", "x"]),
            ("echo '' \"a\\.b\"", &["echo", "", "a\\.b"]),
        ] {
            assert_eq!(words(line).unwrap(), expected, "{line}");
        }
    }

    #[test]
    fn what_a_shell_would_do_more_with_is_refused() {
        for line in [
            "ls; id",
            "ls && id",
            "ls | cat",
            "ls > x",
            "cat < x",
            "echo $HOME",
            "echo \"$HOME\"",
            "echo `id`",
            "echo \"`id`\"",
            "echo $(id)",
            "ls\nid",
            "ls\0id",
            "ls *.txt",
            "ls ~",
            "echo a # b",
            "echo {a,b}",
            "echo a\\;b",
            "echo \"a\\\"b\"",
            "echo 'a",
            "echo \"a",
            "(ls)",
            "ls\rid",
        ] {
            assert_eq!(words(line).unwrap_err().code, Code::ToolCommand, "{line}");
        }
        assert_eq!(words(&"a".repeat(LINE_BYTES_MAX + 1)).unwrap_err().code, Code::ToolCommand);
        assert_eq!(words(&"a ".repeat(WORDS_MAX + 1)).unwrap_err().code, Code::ToolCommand);
    }

    /// A real shell is the judge: the words that it would have given a program.
    fn seen_by_a_shell(line: &str) -> String {
        let shell = Command::new("/bin/sh")
            .args(["-c", &format!("printf '%s\\0' x {line}")])
            .env_clear()
            .current_dir("/")
            .output()
            .unwrap();
        String::from_utf8(shell.stdout).unwrap()
    }

    fn joined(words: Vec<String>) -> String {
        std::iter::once("x".to_owned()).chain(words).map(|word| word + "\0").collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn a_shell_would_see_the_same_words(
            line in "([a-c=:,./é%@+-]| |\t|'|\"|\\\\|[$`|&;<>(){}*?~#!^\\[\\]]){0,20}",
        ) {
            if let Ok(words) = words(&line) {
                prop_assert_eq!(seen_by_a_shell(&line), joined(words));
            }
        }

        #[test]
        fn a_shell_would_see_the_same_quoted_words(
            line in "([a-c/.=-]{1,4}|'[ -&(-~é]{0,8}'|\"[ #%-\\[\\]-_a-~é']{0,8}\"| ){0,12}",
        ) {
            let words = words(&line).unwrap();
            prop_assert_eq!(seen_by_a_shell(&line), joined(words));
        }
    }
}
