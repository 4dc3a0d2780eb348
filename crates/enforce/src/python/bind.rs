//! Which scope of a Python file binds a name to what.
//! Owns: gathering the bindings. Must not: follow them.

use super::meaning::{Meaning, Root, elements, module};
use super::scope::{Bound, FILE, Nature, Outer, Scope, Scopes};
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_text_size::TextRange;
use std::collections::BTreeMap;

impl<'a> Scopes<'a> {
    fn bind(&mut self, name: &'a str, bound: Bound<'a>) {
        let current = self.current;
        let Some(scope) = self.all.get_mut(current) else { return };
        match scope.outer.get(name).copied() {
            None => {
                let is_class = scope.nature == Nature::Class;
                add(&mut scope.bound, name, bound.clone());
                if is_class {
                    add(&mut self.attributes, name, bound);
                }
            }
            Some(Outer::Global) => {
                if let Some(file) = self.all.get_mut(FILE) {
                    add(&mut file.bound, name, bound);
                }
            }
            // One of the functions around has the name: which one is not known before all of it was seen.
            Some(Outer::Nonlocal) => {
                let mut at = scope.parent;
                while let Some(outer) = self.all.get_mut(at).filter(|_| at != FILE) {
                    add(&mut outer.reached, name, bound.clone());
                    at = outer.parent;
                }
            }
        }
    }

    /// Binds what a target takes from a value.
    fn bind_target(&mut self, target: &'a Expr, value: Option<&'a Expr>) {
        match (target, value) {
            (Expr::Name(name), value) => {
                let bound = value.map_or(Bound::Opaque, |value| Bound::Value(value, self.current));
                self.bind(name.id.as_str(), bound);
            }
            (Expr::Tuple(_) | Expr::List(_), value) => {
                let targets = elements(target).unwrap_or_default();
                let values = value.and_then(elements).filter(|values| values.len() == targets.len());
                for (at, target) in targets.iter().enumerate() {
                    self.bind_target(target, values.and_then(|values| values.get(at)));
                }
            }
            (Expr::Starred(starred), _) => self.bind_target(&starred.value, None),
            (Expr::Attribute(attribute), Some(value)) => {
                add(&mut self.attributes, attribute.attr.as_str(), Bound::Value(value, self.current));
            }
            _ => {}
        }
    }

    /// Binds what a loop takes, one after the other.
    fn bind_each(&mut self, target: &'a Expr, iterated: &'a Expr) {
        match elements(iterated) {
            Some(values) => values.iter().for_each(|value| self.bind_target(target, Some(value))),
            // What is in something is of the same kind.
            None if matches!(target, Expr::Name(_)) => self.bind_target(target, Some(iterated)),
            None => self.bind_target(target, None),
        }
    }

    /// Binds a target to the kind of thing that its annotation names.
    fn bind_annotation(&mut self, target: &'a Expr, annotation: &'a Expr) {
        let bound = Bound::Made(annotation, self.current);
        match target {
            Expr::Name(name) => self.bind(name.id.as_str(), bound),
            Expr::Attribute(attribute) => add(&mut self.attributes, attribute.attr.as_str(), bound),
            _ => {}
        }
    }

    /// Binds what `:=` names: for the function, not for the comprehension that it stands in.
    fn bind_named(&mut self, named: &'a ast::ExprNamed) {
        let Expr::Name(name) = &*named.target else { return };
        let inside = self.current;
        while let Some(scope) = self.all.get(self.current).filter(|one| one.nature == Nature::Comprehension) {
            self.current = scope.parent;
        }
        self.bind(name.id.as_str(), Bound::Value(&named.value, inside));
        self.current = inside;
    }

    fn open(&mut self, node: TextRange, nature: Nature) -> usize {
        let parent = self.current;
        self.current = self.all.len();
        self.all.push(Scope { parent, nature, ..Scope::default() });
        self.by_range.insert((node.start().into(), node.end().into()), self.current);
        parent
    }

    fn bind_parameters(&mut self, parameters: &'a ast::Parameters, outside: usize) {
        let class = self.all.get(outside).filter(|scope| scope.nature == Nature::Class);
        let bases = class.map_or(&[][..], |class| class.bases);
        for (at, parameter) in parameters.iter().enumerate() {
            let name = parameter.name().as_str();
            self.bind(name, Bound::Opaque);
            if let Some(value) = parameter.default() {
                self.bind(name, Bound::Value(value, outside));
            }
            if let Some(annotation) = parameter.annotation() {
                self.bind(name, Bound::Made(annotation, outside));
            }
            // `self`
            for base in bases.iter().filter(|_| at == 0) {
                self.bind(name, Bound::Made(base, outside));
            }
        }
    }

    fn bind_type_params(&mut self, params: Option<&'a ast::TypeParams>) {
        for param in params.into_iter().flat_map(|params| &params.type_params) {
            self.bind(param.name().as_str(), Bound::Opaque);
        }
    }

    fn comprehension(&mut self, node: TextRange, generators: &'a [ast::Comprehension], results: &[&'a Expr]) {
        let parent = self.open(node, Nature::Comprehension);
        for generator in generators {
            self.visit_expr(&generator.iter);
            self.bind_each(&generator.target, &generator.iter);
            generator.ifs.iter().for_each(|condition| self.visit_expr(condition));
        }
        results.iter().for_each(|result| self.visit_expr(result));
        self.current = parent;
    }

    fn import_from(&mut self, import: &'a ast::StmtImportFrom) {
        for alias in &import.names {
            let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
            let bound = match &import.module {
                Some(from) if import.level == 0 => {
                    let parts = from.as_str().split('.').chain([alias.name.as_str()]);
                    let path = parts.map(str::to_owned).collect();
                    Bound::Means(Meaning { path, root: Root::Imported })
                }
                Some(_) | None => Bound::Opaque,
            };
            self.bind(name, bound);
        }
    }

    fn belongs(&mut self, names: &'a [ast::Identifier], outer: Outer) {
        let current = self.current;
        if let Some(scope) = self.all.get_mut(current) {
            scope.outer.extend(names.iter().map(|name| (name.as_str(), outer)));
        }
    }

    fn definition(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => {
                self.bind(function.name.as_str(), Bound::Opaque);
                function.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                self.visit_parameters(&function.parameters);
                let parent = self.open(function.range, Nature::Function);
                self.bind_type_params(function.type_params.as_deref());
                self.bind_parameters(&function.parameters, parent);
                self.visit_body(&function.body);
                self.current = parent;
            }
            Stmt::ClassDef(class) => {
                self.bind(class.name.as_str(), Bound::Opaque);
                for base in class.bases() {
                    self.bind(class.name.as_str(), Bound::Made(base, self.current));
                }
                class.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                class.arguments.iter().for_each(|arguments| self.visit_arguments(arguments));
                let parent = self.open(class.range, Nature::Class);
                if let Some(scope) = self.all.last_mut() {
                    scope.bases = class.bases();
                }
                self.bind_type_params(class.type_params.as_deref());
                self.visit_body(&class.body);
                self.current = parent;
            }
            _ => visitor::walk_stmt(self, stmt),
        }
    }
}

impl<'a> Visitor<'a> for Scopes<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => return self.definition(stmt),
            Stmt::Import(import) => {
                for alias in &import.names {
                    let first = alias.name.as_str().split('.').next().unwrap_or_default();
                    match &alias.asname {
                        Some(name) => self.bind(name.as_str(), Bound::Means(module(alias.name.as_str()))),
                        None => self.bind(first, Bound::Means(module(first))),
                    }
                }
            }
            Stmt::ImportFrom(import) => self.import_from(import),
            Stmt::Assign(assign) => {
                assign.targets.iter().for_each(|target| self.bind_target(target, Some(&assign.value)));
            }
            Stmt::AnnAssign(assign) => {
                self.bind_target(&assign.target, assign.value.as_deref());
                self.bind_annotation(&assign.target, &assign.annotation);
            }
            Stmt::AugAssign(assign) => self.bind_target(&assign.target, None),
            Stmt::For(each) => self.bind_each(&each.target, &each.iter),
            Stmt::With(with) => {
                for item in &with.items {
                    if let Some(target) = &item.optional_vars {
                        // What a context gives is of its kind, where it is one name.
                        let value = Some(&item.context_expr).filter(|_| matches!(**target, Expr::Name(_)));
                        self.bind_target(target, value);
                    }
                }
            }
            Stmt::TypeAlias(alias) => self.bind_target(&alias.name, None),
            Stmt::Global(ast::StmtGlobal { names, .. }) => self.belongs(names, Outer::Global),
            Stmt::Nonlocal(ast::StmtNonlocal { names, .. }) => self.belongs(names, Outer::Nonlocal),
            _ => {}
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Lambda(lambda) => {
                lambda.parameters.iter().for_each(|parameters| self.visit_parameters(parameters));
                let parent = self.open(lambda.range, Nature::Function);
                if let Some(parameters) = &lambda.parameters {
                    self.bind_parameters(parameters, parent);
                }
                self.visit_expr(&lambda.body);
                self.current = parent;
            }
            Expr::ListComp(ast::ExprListComp { elt, generators, range, .. })
            | Expr::SetComp(ast::ExprSetComp { elt, generators, range, .. })
            | Expr::Generator(ast::ExprGenerator { elt, generators, range, .. }) => {
                self.comprehension(*range, generators, &[elt]);
            }
            Expr::DictComp(map) => {
                let results: Vec<&Expr> = map.key.as_deref().into_iter().chain([&*map.value]).collect();
                self.comprehension(map.range, &map.generators, &results);
            }
            Expr::Named(named) => {
                self.bind_named(named);
                visitor::walk_expr(self, expr);
            }
            _ => visitor::walk_expr(self, expr),
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ast::ExceptHandler) {
        let ast::ExceptHandler::ExceptHandler(held) = handler;
        if let Some(name) = &held.name {
            self.bind(name.as_str(), Bound::Opaque);
        }
        visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a ast::Pattern) {
        let name = match pattern {
            ast::Pattern::MatchAs(held) => held.name.as_ref(),
            ast::Pattern::MatchStar(held) => held.name.as_ref(),
            ast::Pattern::MatchMapping(held) => held.rest.as_ref(),
            _ => None,
        };
        if let Some(name) = name {
            self.bind(name.as_str(), Bound::Opaque);
        }
        visitor::walk_pattern(self, pattern);
    }
}

/// Binds a name once to what it means: a text may say the same a thousand times.
fn add<'a>(bindings: &mut BTreeMap<&'a str, Vec<Bound<'a>>>, name: &'a str, bound: Bound<'a>) {
    let held = bindings.entry(name).or_default();
    let is_known = match &bound {
        Bound::Means(meaning) => held.iter().any(|one| matches!(one, Bound::Means(held) if held == meaning)),
        Bound::Opaque => held.iter().any(|one| matches!(one, Bound::Opaque)),
        Bound::Value(..) | Bound::Made(..) => false,
    };
    if !is_known {
        held.push(bound);
    }
}
