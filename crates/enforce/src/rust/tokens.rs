//! The tokens of a Rust file in one list.
//! Owns: the list, the depth of what it can nest, and where comments are. Must not: know what a name means.
//!
//! Macros get tokens and nothing else, so what a file uses is looked for among its tokens: what stands in a macro counts as well.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::ops::Range;

/// One token.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// Its line, from 1.
    pub(super) line: usize,
    bytes: Range<usize>,
}

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word, without the `r#` of a raw one.
    Word(String),
    /// A mark, and whether the next one belongs to it.
    Mark(char, Spacing),
    /// A literal.
    Literal,
    /// An opening bracket; `None` for one that is not there.
    Open(Delimiter),
    /// A closing one.
    Close(Delimiter),
}

/// Puts all tokens into one list, in the order they stand in.
pub(super) fn flat(stream: TokenStream) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut open = vec![(stream.into_iter(), None)];
    while let Some((trees, closing)) = open.last_mut() {
        let Some(tree) = trees.next() else {
            tokens.extend(closing.take());
            open.pop();
            continue;
        };
        let span = tree.span();
        let token =
            |kind, span: proc_macro2::Span| Token { kind, line: span.start().line, bytes: span.byte_range() };
        match tree {
            TokenTree::Group(group) => {
                let delimiter = group.delimiter();
                tokens.push(token(Kind::Open(delimiter), group.span_open()));
                let closing = token(Kind::Close(delimiter), group.span_close());
                open.push((group.stream().into_iter(), Some(closing)));
            }
            TokenTree::Ident(word) => {
                let word = word.to_string();
                let word = word.strip_prefix("r#").map(str::to_owned).unwrap_or(word);
                tokens.push(token(Kind::Word(word), span));
            }
            TokenTree::Punct(mark) => tokens.push(token(Kind::Mark(mark.as_char(), mark.spacing()), span)),
            TokenTree::Literal(_) => tokens.push(token(Kind::Literal, span)),
        }
    }
    tokens
}

/// Words that put what follows into themselves.
const NESTING: [&str; 16] = [
    "return", "break", "yield", "become", "as", "else", "if", "match", "while", "for", "loop", "unsafe",
    "async", "move", "in", "let",
];

/// What may nest in one bracket.
#[derive(Clone, Copy, Default)]
struct Level {
    /// What stands there since the last comma.
    chain: usize,
    /// Of that, bars: a comma between two of them ends nothing.
    bars: usize,
    /// Bars before the last comma that may be those of closures in closures.
    closures: usize,
    /// `<` that are not closed: a comma between types ends nothing.
    angles: usize,
}

impl Level {
    fn depth(&self) -> usize {
        self.chain + self.closures + self.angles
    }

    /// A comma: a closure in a closure has two bars at least between two commas.
    fn part(&mut self) {
        self.closures += if self.bars > 1 { self.bars } else { 0 };
        (self.chain, self.bars) = (0, 0);
    }

    fn mark(&mut self, mark: char, is_arrow: bool) {
        self.chain += 1;
        match mark {
            '|' => self.bars += 1,
            '<' => self.angles += 1,
            '>' if !is_arrow => self.angles = self.angles.saturating_sub(1),
            _ => {}
        }
    }
}

/// The most nodes above any node, or more.
pub(super) fn depth(tokens: &[Token]) -> usize {
    let mut open = vec![Level::default()];
    // What all but the innermost level have.
    let (mut outer, mut deepest) = (0_usize, 0_usize);
    for (at, token) in tokens.iter().enumerate() {
        let Some(level) = open.last_mut() else { return deepest };
        match &token.kind {
            Kind::Mark(',', _) => level.part(),
            Kind::Mark(';', _) => *level = Level::default(),
            Kind::Mark(mark, _) => {
                let before = at.checked_sub(1).and_then(|before| tokens.get(before)).map(|token| &token.kind);
                level.mark(*mark, matches!(before, Some(Kind::Mark('-' | '=', Spacing::Joint))));
            }
            Kind::Word(word) if NESTING.contains(&word.as_str()) => level.chain += 1,
            Kind::Word(_) | Kind::Literal => {}
            Kind::Open(_) => {
                level.chain += 1;
                outer += level.depth();
                open.push(Level::default());
            }
            Kind::Close(delimiter) => {
                if open.len() > 1 {
                    open.pop();
                    outer -= open.last().map_or(0, Level::depth);
                }
                if *delimiter == Delimiter::Brace
                    && ends_here(tokens.get(at + 1))
                    && let Some(level) = open.last_mut()
                {
                    *level = Level::default();
                }
            }
        }
        deepest = deepest.max(outer + open.last().map_or(0, Level::depth));
    }
    deepest
}

/// Whether a block ends what it stands in: nothing is done with it.
fn ends_here(next: Option<&Token>) -> bool {
    match next.map(|next| &next.kind) {
        Some(Kind::Word(word)) => !["else", "as"].contains(&word.as_str()),
        Some(Kind::Mark('#', _) | Kind::Literal) => true,
        Some(Kind::Mark(..) | Kind::Open(_) | Kind::Close(_)) | None => false,
    }
}

/// Whether something stands between the tokens that is no token: a comment.
pub(super) fn has_comments(tokens: &[Token], code: &str) -> bool {
    let mut end = 0;
    let mut gaps = Vec::new();
    for token in tokens {
        // A doc comment is several tokens in one place.
        if token.bytes.start > end {
            gaps.push(end..token.bytes.start);
        }
        end = end.max(token.bytes.end);
    }
    gaps.push(end..code.len());
    gaps.into_iter().any(|gap| !code.get(gap).unwrap_or_default().trim().is_empty())
}

/// The lines, from 1, that end within a literal.
pub(super) fn ends_in_literal(tokens: &[Token], code: &str) -> BTreeSet<usize> {
    let literals = tokens.iter().filter(|token| token.kind == Kind::Literal);
    let lines = literals.flat_map(|token| {
        let breaks = code.get(token.bytes.clone()).unwrap_or_default().matches('\n').count();
        token.line..token.line + breaks
    });
    lines.collect()
}

/// A text without blanks at the ends of its lines and with one end. What stands in a token stays as it is.
pub(super) fn trimmed(tokens: &[Token], code: &str) -> String {
    let literals = ends_in_literal(tokens, code);
    let mut out = String::with_capacity(code.len());
    for (at, line) in code.lines().enumerate() {
        out.push_str(if literals.contains(&(at + 1)) { line } else { line.trim_end() });
        out.push('\n');
    }
    out.truncate(out.trim_end_matches('\n').len());
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(code: &str) -> Vec<Token> {
        flat(code.parse().unwrap())
    }

    #[test]
    fn what_nests_counts_and_what_follows_does_not() {
        let deep = |code: String| depth(&tokens(&code));
        assert!(deep(format!("fn f() {{ let x = {}1{}; }}", "(".repeat(500), ")".repeat(500))) >= 500);
        assert!(deep(format!("fn f() {{ let x = {}1; }}", "!".repeat(500))) >= 500);
        assert!(deep(format!("fn f() {{ let x = {}1; }}", "return ".repeat(500))) >= 500);
        assert!(deep(format!("fn f() {{ x{}; }}", ".a()".repeat(500))) >= 500);
        assert!(deep(format!("fn f() {{ let x = {{1}}{}; }}", " + {1}".repeat(500))) >= 500);
        assert!(deep(format!("fn f() {{ {} {{}} }}", "if a {} else ".repeat(500))) >= 500);
        assert!(deep(format!("type X = {}u8{};", "Box<".repeat(500), ">".repeat(500))) >= 500);
        assert!(deep(format!("type X = {}u8{};", "A<u8, ".repeat(500), ">".repeat(500))) >= 500);
        assert!(deep(format!("fn f() {{ let x = {}1; }}", "|a, b| ".repeat(500))) >= 500);
        assert!(deep(format!("fn f() {{ let x = {}1; }}", "1 | |a, b, c| ".repeat(500))) >= 500);
        assert!(deep(format!("fn f() {{ let x = {}1; }}", "yield ".repeat(500))) >= 500);
        assert!(deep(format!("const X: &[u8] = &[{}];", "A | B, ".repeat(5_000))) < 20);
        assert!(deep(format!("const X: &[A<u8, u8>] = &[{}];", "A::<u8, u8>::b(), ".repeat(5_000))) < 20);
        assert!(deep("fn f(a: &str) -> Vec<u8> { a.b() }\n".repeat(2_000)) < 20);
        assert!(deep(format!("const X: &[i8] = &[{}];", "-1, ".repeat(5_000))) < 20);
        assert!(deep(format!("fn f() {{ match x {{ {} }} }}", "Some(1) => {} ".repeat(2_000))) < 20);
        assert_eq!(deep(String::new()), 0);
    }

    #[test]
    fn comments_are_seen() {
        let has = |code: &str| has_comments(&tokens(code), code);
        assert!(!has("//! docs\n/// docs\nfn f() { let s = \"// no\"; }\n"));
        assert!(has("// yes\nfn f() {}"));
        assert!(has("fn f() { /* yes */ }"));
        assert!(has("fn f() {} // yes"));
    }

    #[test]
    fn blanks_at_ends_go_but_in_texts() {
        let code = "fn f() {  \n\tlet s = \"a  \n b\";\t\n}\n\n\n";
        assert_eq!(trimmed(&tokens(code), code), "fn f() {\n\tlet s = \"a  \n b\";\n}\n");
        assert_eq!(trimmed(&tokens("fn f() {}"), "fn f() {}"), "fn f() {}\n");
    }
}
