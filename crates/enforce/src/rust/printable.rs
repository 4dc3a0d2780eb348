//! Whether the formatter of Rust can take a file.
//! Owns: what it would stop the program for. Must not: format.
//!
//! It prints what `syn` understands; of the rest (`Verbatim`, rules of a macro that no compiler takes) it says that it is not implemented,
//! and ends the program with that.

use proc_macro2::{Spacing, TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// Whether a file can be laid out.
pub(super) fn is_printable(file: &syn::File) -> bool {
    let mut look = Look { is_printable: true };
    look.visit_file(file);
    look.is_printable
}

struct Look {
    is_printable: bool,
}

macro_rules! no_verbatim {
    ($($method:ident $type:ident,)*) => {
        $(fn $method(&mut self, node: &'a syn::$type) {
            self.is_printable &= !matches!(node, syn::$type::Verbatim(_));
            visit::$method(self, node);
        })*
    };
}

impl<'a> Visit<'a> for Look {
    no_verbatim! {
        visit_expr Expr,
        visit_foreign_item ForeignItem,
        visit_impl_item ImplItem,
        visit_item Item,
        visit_lit Lit,
        visit_pat Pat,
        visit_trait_item TraitItem,
        visit_type Type,
        visit_type_param_bound TypeParamBound,
    }

    fn visit_item_macro(&mut self, node: &'a syn::ItemMacro) {
        let is_rules = node.mac.path.is_ident("macro_rules");
        self.is_printable &= !is_rules || are_rules(node.mac.tokens.clone());
        visit::visit_item_macro(self, node);
    }
}

/// `(…) => {…}`, with semicolons between.
fn are_rules(tokens: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_mark = |tree: &TokenTree, mark: char, spacing: Spacing| matches!(tree, TokenTree::Punct(held) if held.as_char() == mark && held.spacing() == spacing);
    let is_rule = |rule: &[TokenTree]| match rule {
        [TokenTree::Group(_), equals, greater, TokenTree::Group(_), rest @ ..] => {
            let is_over = match rest {
                [] => true,
                [semicolon] => is_mark(semicolon, ';', Spacing::Alone),
                [_, ..] => false,
            };
            is_mark(equals, '=', Spacing::Joint) && is_mark(greater, '>', Spacing::Alone) && is_over
        }
        _ => false,
    };
    tokens.chunks(5).all(is_rule)
}
