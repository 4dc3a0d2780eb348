//! What the calls of a Python file reach by a text.
//! Owns: the rules of attributes that are named by a text, of texts that are code, and of arguments. Must not: follow a name.

use super::depth::depth;
use super::meaning::{Meaning, Root, constant, start};
use super::reflection::is_back_door;
use super::uses::{Place, Uses};
use crate::codespec::Permission;
use crate::report::shown;
use crate::rule::Rule;
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ExprCall};
use ruff_python_parser::parse_expression;

/// So deep an annotation in quotes may be nested.
const QUOTED_DEPTH_MAX: usize = 50;

impl<'a> Uses<'a, '_> {
    pub(super) fn call(&mut self, call: &'a ExprCall, expr: &'a Expr) {
        match &*call.func {
            func @ (Expr::Name(_) | Expr::Attribute(_)) => self.reference(func, Place::Called),
            func => self.base(func),
        }
        let mut functions = self.scopes.meanings(&call.func, self.scope);
        functions.retain(|one| !matches!(one.root, Root::Made(_)));
        let is = |name: &str| functions.iter().any(|one| one.path.last().is_some_and(|last| last == name));
        let arguments = &call.arguments.args;
        let reaches = ["getattr", "setattr", "delattr", "hasattr"].iter().any(|name| is(name));
        let base = arguments.first().filter(|_| reaches);
        if let Some(base) = base {
            let is_read = is("getattr");
            self.reached(call, expr, is_read);
            self.base(base);
        }
        if is("__import__") || is("import_module") {
            self.dynamic_import(call, expr);
        }
        if is("attrgetter") || is("methodcaller") {
            let count = if is("attrgetter") { arguments.len() } else { 1 };
            self.getter(arguments.get(..count).unwrap_or_default(), expr);
        }
        if is("vars") && self.has_secrets() {
            self.vars(call, expr);
        }
        if self.sets_attribute(call) {
            self.indirect(expr, "an attribute that is set has no fixed name".to_owned());
        }
        functions.iter().for_each(|function| self.arguments(function, call, expr));
        arguments.iter().skip(usize::from(base.is_some())).for_each(|argument| self.visit_expr(argument));
        call.arguments.keywords.iter().for_each(|keyword| self.visit_keyword(keyword));
    }

    /// `getattr(base, "name")`
    fn reached(&mut self, call: &'a ExprCall, expr: &'a Expr, is_read: bool) {
        match call.arguments.args.get(1).and_then(constant) {
            Some(name) if is_back_door(&name) => self.door(&name, expr),
            Some(name) => {
                let found = self.scopes.meanings(expr, self.scope);
                let mut is_told = false;
                for meaning in &found {
                    is_told |= self.used(meaning, expr, Place::Base);
                }
                if !is_told && is_read {
                    self.method(&name, expr);
                }
            }
            None if self.has_secrets() => {
                self.indirect(expr, "an attribute is reached that has no fixed name".to_owned());
            }
            None => {}
        }
    }

    /// `operator.attrgetter("a.b")`
    fn getter(&mut self, names: &'a [Expr], expr: &'a Expr) {
        for name in names {
            match constant(name) {
                Some(name) => {
                    for part in name.split('.') {
                        self.door(part, expr);
                        self.method(part, expr);
                    }
                }
                None if self.has_secrets() => {
                    self.indirect(expr, "an attribute is reached that has no fixed name".to_owned());
                }
                None => {}
            }
        }
    }

    /// `vars()` is every name there is, `vars(x)` is what was put into `x`.
    fn vars(&mut self, call: &'a ExprCall, expr: &'a Expr) {
        let is_known = |one: &Meaning| matches!(one.root, Root::Module | Root::Imported | Root::Lost);
        let is_harmless = |of: &Expr| {
            matches!(of, Expr::Name(_) | Expr::Attribute(_))
                && !self.scopes.meanings(of, self.scope).iter().any(is_known)
        };
        if !matches!(&*call.arguments.args, [of] if is_harmless(of)) {
            self.indirect(expr, format!("{} leads to every name there is", shown("vars")));
        }
    }

    /// `object.__setattr__(x, name, value)`; what a class does to itself is its own affair.
    fn sets_attribute(&self, call: &ExprCall) -> bool {
        let Expr::Attribute(attribute) = &*call.func else { return false };
        let is_super = matches!(&*attribute.value, Expr::Call(base)
            if matches!(&*base.func, Expr::Name(name) if name.id.as_str() == "super"));
        let sets = ["__setattr__", "__delattr__"].contains(&attribute.attr.as_str());
        let is_fixed =
            call.arguments.args.iter().take(2).filter_map(constant).any(|name| !is_back_door(&name));
        sets && !is_super && !is_fixed && self.has_secrets()
    }

    /// Arguments that make a harmless function do what it should not.
    fn arguments(&mut self, function: &Meaning, call: &'a ExprCall, expr: &'a Expr) {
        for keyword in &call.arguments.keywords {
            let name = keyword.arg.as_ref().map(|name| name.as_str());
            if let Some(rule) = self.forbids.called_with(&function.path, name) {
                let name = name.map_or_else(|| "**".to_owned(), |name| format!("{name}="));
                let evidence = format!("gives {} {}", shown(&function.path.join(".")), shown(&name));
                self.push(rule, start(expr), evidence, "leave it to the caller, and take what it gives");
            }
        }
    }

    /// Where importing at run time is allowed, what is imported must be.
    fn dynamic_import(&mut self, call: &'a ExprCall, expr: &'a Expr) {
        if self.setting.rules.imports.dynamic == Permission::Forbidden {
            return;
        }
        match call.arguments.args.first().and_then(constant) {
            Some(name) => {
                let path: Vec<String> = name.split('.').map(str::to_owned).collect();
                self.import(&path, start(expr));
            }
            None => {
                let evidence = "what is imported while the code runs has no fixed name".to_owned();
                self.push(Rule::DynamicImport, start(expr), evidence, "import it by its name");
            }
        }
    }

    /// An annotation in quotes is code that is run by who asks for it, as `functools.singledispatch` does.
    pub(super) fn annotation(&mut self, annotation: &'a Expr) {
        let mut quoted = Quoted::default();
        quoted.visit_expr(annotation);
        if quoted.calls && self.has_secrets() {
            let evidence = "an annotation in quotes calls something".to_owned();
            self.push(Rule::ForbiddenCode, start(annotation), evidence, "name a type");
        }
    }
}

/// Looks for calls in the texts of an annotation.
#[derive(Default)]
struct Quoted {
    is_within: bool,
    calls: bool,
}

impl Visitor<'_> for Quoted {
    fn visit_expr(&mut self, expr: &Expr) {
        self.calls |= self.is_within && matches!(expr, Expr::Call(_));
        if let Some(text) = constant(expr).filter(|_| !self.is_within) {
            let is_deep = depth(&text) > QUOTED_DEPTH_MAX;
            let parsed = if is_deep { None } else { parse_expression(&text).ok() };
            let mut inner = Quoted { is_within: true, calls: is_deep };
            parsed.iter().for_each(|parsed| inner.visit_expr(&parsed.syntax().body));
            self.calls |= inner.calls;
        }
        visitor::walk_expr(self, expr);
    }
}
