//! What a Rust file declares: its parts, their order, their docs and their names.
//! Owns: those rules. Must not: know what the code does.

use crate::check::Setting;
use crate::codespec::{Case, Extent, Part};
use crate::order::Order;
use crate::report::{Findings, shown};
use crate::rule::Rule;
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, FnArg, Ident, Item, Signature, Visibility};

/// Looks at everything that is declared.
pub(super) struct Declared<'f> {
    setting: &'f Setting<'f>,
    findings: &'f mut Findings,
    /// Whether what stands here is documented elsewhere, or for nobody.
    is_exempt: bool,
    /// Whether what stands here is as public as what it stands in.
    is_trait: Option<bool>,
}

impl<'f> Declared<'f> {
    pub(super) fn new(setting: &'f Setting<'f>, findings: &'f mut Findings) -> Self {
        Declared { setting, findings, is_exempt: false, is_trait: None }
    }

    /// The file as a whole: header, docs, order.
    pub(super) fn file(&mut self, code: &str, file: &syn::File) {
        let rules = self.setting.rules;
        if rules.required.contains(&Part::Header) && !has_header(code) {
            let suggestion = "begin the file with a comment that says what it is";
            self.findings.in_code(Rule::Header, 1, "the file has no header comment", suggestion);
        }
        if rules.required.contains(&Part::Docstring) && !file.attrs.iter().any(is_doc) {
            let suggestion = "say in `//!` at the top what the file is for";
            self.findings.in_code(Rule::Docstring, 1, "the file has no docs", suggestion);
        }
        let mut order = Order::new(&rules.order);
        for item in &file.items {
            if let Some((evidence, suggestion)) = part(item, &rules.order).and_then(|part| order.next(part)) {
                let line = item.span().start().line;
                self.findings.in_code(Rule::StructureOrder, line, evidence, suggestion);
            }
        }
        self.visit_file(file);
    }

    fn name(&mut self, what: &str, ident: &Ident, cases: &[Case]) {
        let name = ident.to_string();
        let name = name.strip_prefix("r#").unwrap_or(&name);
        if cases.is_empty() || cases.iter().any(|case| case.fits(name)) {
            return;
        }
        let words: Vec<&str> = cases.iter().map(|case| case.as_str()).collect();
        let evidence = format!("the {what} {} is not {}", shown(name), words.join(" or "));
        let suggestion = format!("spell it as {}", words.join(" or "));
        self.findings.in_code(Rule::Naming, ident.span().start().line, evidence, suggestion);
    }

    fn documented(
        &mut self,
        what: &str,
        ident: &Ident,
        attrs: &[Attribute],
        vis: &Visibility,
        extent: Extent,
    ) {
        let is_public = self.is_trait.unwrap_or(matches!(vis, Visibility::Public(_)));
        let is_wanted = match extent {
            Extent::None => false,
            Extent::Public => is_public,
            Extent::All => true,
        };
        if is_wanted && !self.is_exempt && !attrs.iter().any(|attr| is_doc(attr) || is_test(attr)) {
            let name = shown(&ident.to_string());
            let evidence = format!("the {what} {name} has no docs");
            let suggestion = format!("say in `///` what {name} is for");
            self.findings.in_code(Rule::Docstring, line(ident.span()), evidence, suggestion);
        }
    }

    fn typed(&mut self, what: &str, ident: &Ident, attrs: &[Attribute], vis: &Visibility) {
        let rules = self.setting.rules;
        self.name(what, ident, &rules.naming.types);
        self.documented(what, ident, attrs, vis, rules.document_types);
    }

    fn function(&mut self, sig: &Signature, attrs: &[Attribute], vis: &Visibility) {
        let rules = self.setting.rules;
        self.name("function", &sig.ident, &rules.naming.functions);
        for argument in &sig.inputs {
            if let FnArg::Typed(typed) = argument {
                self.bound("argument", &typed.pat, &rules.naming.arguments);
            }
        }
        if sig.ident != "main" {
            self.documented("function", &sig.ident, attrs, vis, rules.document_functions);
        }
    }

    /// Every name that a pattern binds.
    fn bound(&mut self, what: &str, pattern: &syn::Pat, cases: &[Case]) {
        let mut names = Bindings(Vec::new());
        names.visit_pat(pattern);
        names.0.iter().for_each(|ident| self.name(what, ident, cases));
    }

    fn exempt(&mut self, is_exempt: bool, look: impl FnOnce(&mut Self)) {
        let outside = (self.is_exempt, self.is_trait);
        self.is_exempt |= is_exempt;
        look(self);
        (self.is_exempt, self.is_trait) = outside;
    }
}

/// The names that a pattern binds. One that begins as a type does is no binding, but a constant.
struct Bindings<'a>(Vec<&'a Ident>);

impl<'a> Visit<'a> for Bindings<'a> {
    fn visit_pat_ident(&mut self, pattern: &'a syn::PatIdent) {
        self.0.push(&pattern.ident);
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_expr(&mut self, _: &'a syn::Expr) {}
}

impl<'a> Visit<'a> for Declared<'_> {
    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.is_trait = None;
        self.function(&item.sig, &item.attrs, &item.vis);
        self.exempt(true, |declared| visit::visit_item_fn(declared, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.function(&item.sig, &item.attrs, &item.vis);
        self.exempt(true, |declared| visit::visit_impl_item_fn(declared, item));
    }

    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        self.function(&item.sig, &item.attrs, &Visibility::Inherited);
        self.exempt(true, |declared| visit::visit_trait_item_fn(declared, item));
    }

    fn visit_item_impl(&mut self, item: &'a syn::ItemImpl) {
        // What a trait asks for is documented there.
        let is_elsewhere = item.trait_.is_some();
        self.exempt(is_elsewhere, |declared| {
            declared.is_trait = None;
            visit::visit_item_impl(declared, item);
        });
    }

    fn visit_item_trait(&mut self, item: &'a syn::ItemTrait) {
        self.typed("trait", &item.ident, &item.attrs, &item.vis);
        let is_public = matches!(item.vis, Visibility::Public(_));
        self.exempt(false, |declared| {
            declared.is_trait = Some(is_public);
            visit::visit_item_trait(declared, item);
        });
    }

    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        self.name("module", &item.ident, &self.setting.rules.naming.functions);
        let is_exempt = item.attrs.iter().any(is_test);
        self.exempt(is_exempt, |declared| visit::visit_item_mod(declared, item));
    }

    fn visit_item_struct(&mut self, item: &'a syn::ItemStruct) {
        self.typed("struct", &item.ident, &item.attrs, &item.vis);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'a syn::ItemEnum) {
        self.typed("enum", &item.ident, &item.attrs, &item.vis);
        for variant in &item.variants {
            self.name("variant", &variant.ident, &self.setting.rules.naming.types);
        }
        visit::visit_item_enum(self, item);
    }

    fn visit_item_union(&mut self, item: &'a syn::ItemUnion) {
        self.typed("union", &item.ident, &item.attrs, &item.vis);
        visit::visit_item_union(self, item);
    }

    fn visit_item_type(&mut self, item: &'a syn::ItemType) {
        self.typed("type", &item.ident, &item.attrs, &item.vis);
        visit::visit_item_type(self, item);
    }

    fn visit_item_const(&mut self, item: &'a syn::ItemConst) {
        self.name("constant", &item.ident, &self.setting.rules.naming.constants);
        visit::visit_item_const(self, item);
    }

    fn visit_item_static(&mut self, item: &'a syn::ItemStatic) {
        self.name("static", &item.ident, &self.setting.rules.naming.constants);
        visit::visit_item_static(self, item);
    }

    fn visit_impl_item_const(&mut self, item: &'a syn::ImplItemConst) {
        self.name("constant", &item.ident, &self.setting.rules.naming.constants);
        visit::visit_impl_item_const(self, item);
    }

    fn visit_field(&mut self, field: &'a syn::Field) {
        if let Some(ident) = &field.ident {
            self.name("field", ident, &self.setting.rules.naming.variables);
        }
        visit::visit_field(self, field);
    }

    fn visit_local(&mut self, local: &'a syn::Local) {
        self.bound("variable", &local.pat, &self.setting.rules.naming.variables);
        visit::visit_local(self, local);
    }
}

fn line(span: Span) -> usize {
    span.start().line
}

/// Docs that say something.
fn is_doc(attr: &Attribute) -> bool {
    let syn::Meta::NameValue(held) = &attr.meta else { return false };
    let is_blank = match &held.value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => text.value().trim().is_empty(),
        _ => false,
    };
    held.path.is_ident("doc") && !is_blank
}

/// `#[test]`, `#[cfg(test)]`.
fn is_test(attr: &Attribute) -> bool {
    let is_cfg = || match &attr.meta {
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        syn::Meta::Path(_) | syn::Meta::NameValue(_) => false,
    };
    attr.path().segments.last().is_some_and(|last| last.ident == "test") || is_cfg()
}

fn part(item: &Item, order: &[Part]) -> Option<Part> {
    match item {
        Item::Use(_) | Item::ExternCrate(_) => Some(Part::Imports),
        Item::Const(_) | Item::Static(_) | Item::Type(_) => Some(Part::Constants),
        Item::Mod(held) if held.attrs.iter().any(is_test) => Some(Part::Tests),
        Item::Fn(held) if held.sig.ident == "main" && order.contains(&Part::Main) => Some(Part::Main),
        Item::Verbatim(_) => None,
        _ => Some(Part::Definitions),
    }
}

fn has_header(code: &str) -> bool {
    let line = code.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("#!/"));
    line.is_some_and(|line| {
        let text = line.strip_prefix("//").or_else(|| line.strip_prefix("/*"));
        let is_docs = |text: &str| text.starts_with(['/', '!', '*']);
        text.is_some_and(|text| !is_docs(text) && text.chars().any(char::is_alphanumeric))
    })
}
