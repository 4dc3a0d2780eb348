//! How deep a Python text can nest.
//! Owns: an upper bound, found without a stack. Must not: parse.
//!
//! A tree is walked, formatted and freed by functions that call themselves, so its depth is bounded before there is a tree. The bound
//! counts what may put one node into another since the last comma of each open bracket; it is never less than the depth.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, lexer};

/// What may nest in one bracket.
#[derive(Clone, Copy, Default)]
struct Level {
    /// Operators, dots and brackets since the last comma.
    chain: usize,
    /// Lambdas: the commas of their parameters end nothing.
    lambdas: usize,
}

/// The most nodes above any node, or more.
pub(super) fn depth(code: &str) -> usize {
    let mut lexer = lexer::lex(code, Mode::Module);
    let mut open = vec![Level::default()];
    let (mut indents, mut sum, mut deepest) = (0_usize, 0_usize, 0_usize);
    loop {
        let kind = lexer.next_token();
        let Some(top) = open.last_mut() else { return deepest };
        match kind {
            TokenKind::EndOfFile => return deepest,
            TokenKind::Indent => indents += 1,
            TokenKind::Dedent => indents = indents.saturating_sub(1),
            TokenKind::Comma => {
                sum -= top.chain;
                top.chain = 0;
            }
            TokenKind::Newline | TokenKind::Semi => {
                open = vec![Level::default()];
                sum = 0;
            }
            TokenKind::Lpar
            | TokenKind::Lsqb
            | TokenKind::Lbrace
            | TokenKind::FStringStart
            | TokenKind::TStringStart => {
                top.chain += 1;
                sum += 1;
                open.push(Level::default());
            }
            TokenKind::Rpar
            | TokenKind::Rsqb
            | TokenKind::Rbrace
            | TokenKind::FStringEnd
            | TokenKind::TStringEnd => {
                if open.len() > 1
                    && let Some(closed) = open.pop()
                {
                    sum -= closed.chain + closed.lambdas;
                }
            }
            TokenKind::Lambda => {
                top.lambdas += 1;
                sum += 1;
            }
            TokenKind::Name
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::Complex
            | TokenKind::String
            | TokenKind::FStringMiddle
            | TokenKind::TStringMiddle
            | TokenKind::Comment
            | TokenKind::NonLogicalNewline => {}
            // Whatever else there is may stand between two nodes.
            _ => {
                top.chain += 1;
                sum += 1;
            }
        }
        deepest = deepest.max(sum + indents);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nests_counts_and_what_follows_does_not() {
        assert!(depth(&"(".repeat(500)) >= 500);
        assert!(depth(&format!("x = {}1", "-".repeat(500))) >= 500);
        assert!(depth(&format!("x = {}1", "not ".repeat(500))) >= 500);
        assert!(depth(&format!("x = {}1", "lambda a, b: ".repeat(500))) >= 500);
        assert!(depth(&format!("x = a{}", ".b".repeat(500))) >= 500);
        assert!(depth(&format!("x = a{}", "()".repeat(500))) >= 500);
        assert!(depth(&format!("x = 1{}", " if a else 1".repeat(500))) >= 500);
        let nested: String = (0..500).map(|at| format!("{}if a:\n", " ".repeat(at))).collect();
        assert!(depth(&format!("{nested}{}pass\n", " ".repeat(500))) >= 500);
        assert!(depth(&format!("x = [{}]", "-1, ".repeat(5_000))) < 10);
        assert!(depth(&"x = f(a, b.c)\n".repeat(5_000)) < 10);
        assert!(depth(&format!("x = {{{}}}", "'a': f(1), ".repeat(5_000))) < 10);
        assert_eq!(depth(""), 0);
        assert!(depth(")))]}") < 10);
    }
}
