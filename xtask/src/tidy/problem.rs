//! One finding and how it is printed.
//! Owns: the rule names and the report line. Must not: know how anything is found.

use std::fmt;

/// A rule family, as printed. The order is that of problems on one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rule {
    Files,
    Parse,
    Edges,
    Externals,
    Lints,
    NoStd,
    Purity,
    Bans,
    Codes,
    Sleep,
    Sizes,
    Docs,
    Names,
    Text,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rule::Files => "files",
            Rule::Parse => "parse",
            Rule::Edges => "edges",
            Rule::Externals => "externals",
            Rule::Lints => "lints",
            Rule::NoStd => "no_std",
            Rule::Purity => "purity",
            Rule::Bans => "bans",
            Rule::Codes => "codes",
            Rule::Sleep => "sleep",
            Rule::Sizes => "sizes",
            Rule::Docs => "docs",
            Rule::Names => "names",
            Rule::Text => "text",
        })
    }
}

/// One problem. Its fix is a field of its own so that no rule can forget to offer one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Problem {
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) rule: Rule,
    pub(crate) message: String,
    pub(crate) fix: String,
}

impl Problem {
    pub(crate) fn new(
        rule: Rule,
        (path, line): (&str, usize),
        message: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Problem { path: path.to_owned(), line, rule, message: message.into(), fix: fix.into() }
    }

    /// The report line without its fix.
    pub(crate) fn head(&self) -> String {
        format!("{}:{}: {}: {}", self.path, self.line, self.rule, self.message)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.head(), self.fix)
    }
}

/// The line, from 1, that holds byte `offset` of `text`.
pub(crate) fn line_at(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_prints_path_line_rule_message_and_fix() {
        let problem = Problem::new(Rule::NoStd, ("a/b.rs", 7), "it is so", "make it otherwise");
        assert_eq!(problem.to_string(), "a/b.rs:7: no_std: it is so (make it otherwise)");
    }

    #[test]
    fn lines_count_from_one() {
        for (offset, expected) in [(0, 1), (1, 1), (2, 2), (3, 3), (99, 3)] {
            assert_eq!(line_at("a\n\nb", offset), expected, "offset {offset}");
        }
    }
}
