//! What the names of a Python file mean.
//! Owns: which scope binds a name to what, and following a name to what was imported. Must not: judge.
//!
//! Bindings are gathered for a whole scope, whatever their order: a name means everything that it is bound to anywhere in its scope.
//! What can't be followed (an argument, what a call gives) means nothing.

use super::meaning::{
    Meaning, Root, STEPS_OF_FILE_MAX, Steps, Trail, beneath, constant, elements, lost, module,
};
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_text_size::TextRange;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

/// How far a name is followed from binding to binding.
const HOPS_MAX: usize = 64;

#[derive(Clone, Debug)]
enum Bound<'a> {
    Means(Meaning),
    /// Whatever this means, seen from a scope.
    Value(&'a Expr, usize),
    Opaque,
}

#[derive(Debug, Default)]
struct Scope<'a> {
    parent: usize,
    is_class: bool,
    bound: BTreeMap<&'a str, Vec<Bound<'a>>>,
    /// Names that belong to an outer scope.
    outer: BTreeSet<&'a str>,
}

/// The scopes of a file; the first is the file itself.
#[derive(Debug)]
pub(super) struct Scopes<'a> {
    all: Vec<Scope<'a>>,
    by_range: BTreeMap<(u32, u32), usize>,
    current: usize,
    steps: Cell<usize>,
    /// What names were found to mean, by the scope that binds them.
    known: RefCell<BTreeMap<(usize, &'a str), Vec<Meaning>>>,
}

/// The scope of the file.
pub(super) const FILE: usize = 0;

impl<'a> Scopes<'a> {
    pub(super) fn of(body: &'a [Stmt]) -> Self {
        let mut scopes = Scopes {
            all: vec![Scope::default()],
            by_range: BTreeMap::new(),
            current: FILE,
            steps: Cell::new(STEPS_OF_FILE_MAX),
            known: RefCell::default(),
        };
        scopes.visit_body(body);
        scopes
    }

    /// The scope that a node opens.
    pub(super) fn opened_by(&self, node: TextRange) -> Option<usize> {
        self.by_range.get(&key(node)).copied()
    }

    /// What an expression may mean, seen from a scope.
    pub(super) fn meanings(&self, expr: &Expr, scope: usize) -> Vec<Meaning> {
        let steps = Steps::new(&self.steps);
        let mut found = self.follow(expr, scope, &steps, None);
        found.sort();
        found.dedup();
        found
    }

    fn follow(
        &self,
        expr: &Expr,
        scope: usize,
        steps: &Steps<'_>,
        trail: Option<&Trail<'_>>,
    ) -> Vec<Meaning> {
        if !steps.take() {
            return vec![lost()];
        }
        match expr {
            Expr::Name(name) => self.name(name.id.as_str(), scope, steps, trail),
            Expr::Attribute(attribute) => {
                let base = self.follow(&attribute.value, scope, steps, trail);
                base.into_iter().map(|base| beneath(base, attribute.attr.as_str())).collect()
            }
            Expr::Call(call) => self.call(call, scope, steps, trail),
            Expr::Subscript(subscript) => self.subscript(subscript, scope, steps, trail),
            Expr::Named(named) => self.follow(&named.value, scope, steps, trail),
            Expr::If(choice) => {
                let mut found = self.follow(&choice.body, scope, steps, trail);
                found.extend(self.follow(&choice.orelse, scope, steps, trail));
                found
            }
            Expr::BoolOp(choice) => {
                choice.values.iter().flat_map(|value| self.follow(value, scope, steps, trail)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn name(&self, name: &str, scope: usize, steps: &Steps<'_>, trail: Option<&Trail<'_>>) -> Vec<Meaning> {
        let Some((holder, name, bound)) = self.bound(name, scope) else {
            let name = if name == "__builtins__" { "builtins" } else { name };
            return vec![Meaning { path: vec![name.to_owned()], root: Root::BuiltIn }];
        };
        if let Some(known) = self.known.borrow().get(&(holder, name)) {
            return known.clone();
        }
        // What leads back to itself says nothing new: `a = a or b`.
        let mut above = trail;
        while let Some(one) = above {
            if one.scope == holder && one.name == name {
                return Vec::new();
            }
            above = one.above;
        }
        let hops = trail.map_or(0, |trail| trail.hops) + 1;
        if hops > HOPS_MAX {
            return vec![lost()];
        }
        let is_whole = trail.is_none();
        let trail = Trail { name, scope: holder, hops, above: trail };
        let mut found = Vec::new();
        for one in bound {
            match one {
                Bound::Means(meaning) => found.push(meaning.clone()),
                Bound::Value(value, scope) => found.extend(self.follow(value, *scope, steps, Some(&trail))),
                Bound::Opaque => {}
            }
        }
        found.sort();
        found.dedup();
        // On a trail the names before this one were left out.
        if is_whole {
            self.known.borrow_mut().insert((holder, name), found.clone());
        }
        found
    }

    /// What a name is bound to: in the innermost scope that binds it, where those of classes are seen from inside only.
    fn bound(&self, name: &str, scope: usize) -> Option<(usize, &'a str, &Vec<Bound<'a>>)> {
        let mut at = scope;
        loop {
            let here = self.all.get(at)?;
            let is_seen = at == scope || !here.is_class;
            if is_seen
                && !here.outer.contains(name)
                && let Some((name, bound)) = here.bound.get_key_value(name)
            {
                return Some((at, name, bound));
            }
            if at == FILE {
                return None;
            }
            at = here.parent;
        }
    }

    /// What a call gives, where it gives what is named in it.
    fn call(
        &self,
        call: &ast::ExprCall,
        scope: usize,
        steps: &Steps<'_>,
        trail: Option<&Trail<'_>>,
    ) -> Vec<Meaning> {
        let functions = self.follow(&call.func, scope, steps, trail);
        let argument = |at: usize| call.arguments.args.get(at);
        let mut found = Vec::new();
        for function in functions {
            let path: Vec<&str> = function.path.iter().map(String::as_str).collect();
            match path.as_slice() {
                ["getattr"] | ["builtins", "getattr"] => {
                    if let (Some(base), Some(name)) = (argument(0), argument(1).and_then(constant)) {
                        let base = self.follow(base, scope, steps, trail);
                        found.extend(base.into_iter().map(|base| beneath(base, &name)));
                    }
                }
                ["__import__"] | ["builtins" | "importlib", "__import__"] => {
                    if let Some(name) = argument(0).and_then(constant) {
                        found.push(module(name.split('.').next().unwrap_or_default()));
                    }
                }
                ["importlib", "import_module"] => {
                    found.extend(argument(0).and_then(constant).map(|name| module(&name)));
                }
                _ => {}
            }
        }
        found
    }

    /// `sys.modules["os"]`, `os.__dict__["system"]`, `globals()["os"]`.
    fn subscript(
        &self,
        subscript: &ast::ExprSubscript,
        scope: usize,
        steps: &Steps<'_>,
        trail: Option<&Trail<'_>>,
    ) -> Vec<Meaning> {
        let Some(key) = constant(&subscript.slice) else { return Vec::new() };
        if let Expr::Call(call) = &*subscript.value {
            let functions = self.follow(&call.func, scope, steps, trail);
            let is_names =
                |one: &Meaning| one.path == ["globals"] || one.path == ["locals"] || one.path == ["vars"];
            return match (functions.iter().any(is_names), call.arguments.args.first()) {
                (true, None) => self.name(&key, FILE, steps, trail),
                (true, Some(of)) => {
                    self.follow(of, scope, steps, trail).into_iter().map(|base| beneath(base, &key)).collect()
                }
                (false, _) => Vec::new(),
            };
        }
        let mut found = Vec::new();
        for base in self.follow(&subscript.value, scope, steps, trail) {
            let path: Vec<&str> = base.path.iter().map(String::as_str).collect();
            match path.as_slice() {
                ["sys", "modules"] => found.push(module(&key)),
                ["builtins"] => found.push(Meaning { path: vec![key.clone()], root: Root::BuiltIn }),
                [.., "__dict__"] => {
                    let mut path = base.path;
                    path.pop();
                    found.push(beneath(Meaning { path, root: Root::Imported }, &key));
                }
                _ => {}
            }
        }
        found
    }

    fn bind(&mut self, name: &'a str, bound: Bound<'a>) {
        let current = self.current;
        let Some(scope) = self.all.get_mut(current) else { return };
        if !scope.outer.contains(name) {
            add(scope, name, bound);
            return;
        }
        // `global` means the file, `nonlocal` a function around: what is bound there is bound for both.
        for outer in [FILE, scope.parent] {
            if let Some(scope) = self.all.get_mut(outer) {
                add(scope, name, bound.clone());
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
            _ => {}
        }
    }

    /// Binds what a loop takes, one after the other.
    fn bind_each(&mut self, target: &'a Expr, iterated: &'a Expr) {
        match elements(iterated) {
            Some(values) => values.iter().for_each(|value| self.bind_target(target, Some(value))),
            None => self.bind_target(target, None),
        }
    }

    fn open(&mut self, node: TextRange, is_class: bool) -> usize {
        let parent = self.current;
        self.current = self.all.len();
        self.all.push(Scope { parent, is_class, ..Scope::default() });
        self.by_range.insert(key(node), self.current);
        parent
    }

    fn bind_parameters(&mut self, parameters: &'a ast::Parameters, outside: usize) {
        for parameter in parameters.iter() {
            let bound = parameter.default().map_or(Bound::Opaque, |value| Bound::Value(value, outside));
            self.bind(parameter.name().as_str(), bound);
        }
    }

    fn comprehension(&mut self, node: TextRange, generators: &'a [ast::Comprehension], results: &[&'a Expr]) {
        let parent = self.open(node, false);
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

    fn definition(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => {
                self.bind(function.name.as_str(), Bound::Opaque);
                function.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                self.visit_parameters(&function.parameters);
                let parent = self.open(function.range, false);
                self.bind_parameters(&function.parameters, parent);
                self.visit_body(&function.body);
                self.current = parent;
            }
            Stmt::ClassDef(class) => {
                self.bind(class.name.as_str(), Bound::Opaque);
                class.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                class.arguments.iter().for_each(|arguments| self.visit_arguments(arguments));
                let parent = self.open(class.range, true);
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
            Stmt::AnnAssign(assign) => self.bind_target(&assign.target, assign.value.as_deref()),
            Stmt::AugAssign(assign) => self.bind_target(&assign.target, None),
            Stmt::For(each) => self.bind_each(&each.target, &each.iter),
            Stmt::With(with) => {
                for target in with.items.iter().filter_map(|item| item.optional_vars.as_deref()) {
                    self.bind_target(target, None);
                }
            }
            Stmt::TypeAlias(alias) => self.bind_target(&alias.name, None),
            Stmt::Global(ast::StmtGlobal { names, .. }) | Stmt::Nonlocal(ast::StmtNonlocal { names, .. }) => {
                let current = self.current;
                if let Some(scope) = self.all.get_mut(current) {
                    scope.outer.extend(names.iter().map(|name| name.as_str()));
                }
            }
            _ => {}
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Lambda(lambda) => {
                lambda.parameters.iter().for_each(|parameters| self.visit_parameters(parameters));
                let parent = self.open(lambda.range, false);
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
                self.bind_target(&named.target, Some(&named.value));
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
fn add<'a>(scope: &mut Scope<'a>, name: &'a str, bound: Bound<'a>) {
    let held = scope.bound.entry(name).or_default();
    let is_known = match &bound {
        Bound::Means(meaning) => held.iter().any(|one| matches!(one, Bound::Means(held) if held == meaning)),
        Bound::Opaque => held.iter().any(|one| matches!(one, Bound::Opaque)),
        Bound::Value(..) => false,
    };
    if !is_known {
        held.push(bound);
    }
}

fn key(range: TextRange) -> (u32, u32) {
    (range.start().into(), range.end().into())
}
