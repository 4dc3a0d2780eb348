//! What the names of a Python file mean.
//! Owns: which scope binds a name to what, and following a name to what was imported. Must not: judge.
//!
//! Bindings are gathered for a whole scope, whatever their order: a name means everything that it is bound to anywhere in its scope.
//! What can't be followed (an argument, what a call gives) means nothing.

use super::meaning::{Meaning, Root, STEPS_OF_FILE_MAX, Steps, Trail, beneath, constant, lost, made, module};
use super::modules;
use ruff_python_ast::visitor::Visitor;
use ruff_python_ast::{self as ast, Expr, Operator, Stmt};
use ruff_text_size::TextRange;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// How far a name is followed from binding to binding.
const HOPS_MAX: usize = 64;
/// Names that are there in every file. What a file or a class calls so may not be bound yet, or no more.
#[rustfmt::skip]
const BUILT_IN: [&str; 72] = [
    "abs", "aiter", "all", "anext", "any", "ascii", "bin", "bool", "breakpoint", "bytearray", "bytes",
    "callable", "chr", "classmethod", "compile", "complex", "copyright", "credits", "delattr", "dict", "dir",
    "divmod", "enumerate", "eval", "exec", "exit", "filter", "float", "format", "frozenset", "getattr",
    "globals", "hasattr", "hash", "help", "hex", "id", "input", "int", "isinstance", "issubclass", "iter",
    "len", "license", "list", "locals", "map", "max", "memoryview", "min", "next", "object", "oct", "open",
    "ord", "pow", "print", "property", "quit", "range", "repr", "reversed", "round", "set", "setattr",
    "slice", "sorted", "staticmethod", "str", "sum", "super", "vars",
];

#[derive(Clone, Debug)]
pub(super) enum Bound<'a> {
    Means(Meaning),
    /// Whatever this means, seen from a scope.
    Value(&'a Expr, usize),
    /// Something of the kind that this names, seen from a scope.
    Made(&'a Expr, usize),
    Opaque,
}

/// What opens a scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Nature {
    #[default]
    File,
    Class,
    Function,
    Comprehension,
}

/// Where a name belongs that a scope does not have itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outer {
    Global,
    Nonlocal,
}

#[derive(Debug, Default)]
pub(super) struct Scope<'a> {
    pub(super) parent: usize,
    pub(super) nature: Nature,
    pub(super) bound: BTreeMap<&'a str, Vec<Bound<'a>>>,
    /// What scopes within this one bind, where the name is bound here as well.
    pub(super) reached: BTreeMap<&'a str, Vec<Bound<'a>>>,
    /// Names that belong to an outer scope.
    pub(super) outer: BTreeMap<&'a str, Outer>,
    /// What a class is made of.
    pub(super) bases: &'a [Expr],
}

/// The scopes of a file; the first is the file itself.
#[derive(Debug)]
pub(super) struct Scopes<'a> {
    pub(super) all: Vec<Scope<'a>>,
    pub(super) by_range: BTreeMap<(u32, u32), usize>,
    /// What attributes of a name are set to, whatever they are attributes of.
    pub(super) attributes: BTreeMap<&'a str, Vec<Bound<'a>>>,
    pub(super) current: usize,
    steps: Cell<usize>,
    /// What names were found to mean, by the scope that binds them.
    known: RefCell<BTreeMap<(usize, &'a str), Vec<Meaning>>>,
}

/// The scope of the file.
pub(super) const FILE: usize = 0;
/// No scope: where the names of attributes are.
const ATTRIBUTES: usize = usize::MAX;

impl<'a> Scopes<'a> {
    pub(super) fn of(body: &'a [Stmt]) -> Self {
        let mut scopes = Scopes {
            all: vec![Scope::default()],
            by_range: BTreeMap::new(),
            attributes: BTreeMap::new(),
            current: FILE,
            steps: Cell::new(STEPS_OF_FILE_MAX),
            known: RefCell::default(),
        };
        scopes.visit_body(body);
        scopes
    }

    /// The scope that a node opens.
    pub(super) fn opened_by(&self, node: TextRange) -> Option<usize> {
        self.by_range.get(&(node.start().into(), node.end().into())).copied()
    }

    /// Whether a scope is that of a class.
    pub(super) fn is_class(&self, scope: usize) -> bool {
        self.all.get(scope).is_some_and(|scope| scope.nature == Nature::Class)
    }

    /// The class that a scope is in.
    fn class(&self, scope: usize) -> Option<&Scope<'a>> {
        let mut at = scope;
        while let Some(here) = self.all.get(at).filter(|_| at != FILE) {
            if here.nature == Nature::Class {
                return Some(here);
            }
            at = here.parent;
        }
        None
    }

    /// Whether the class that a scope is in has a member of this name.
    pub(super) fn is_member(&self, name: &str, scope: usize) -> bool {
        self.class(scope).is_some_and(|class| class.bound.contains_key(name))
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
            Expr::Attribute(attribute) => self.attribute(attribute, scope, steps, trail),
            Expr::Call(call) => self.call(call, scope, steps, trail),
            Expr::Subscript(subscript) => self.subscript(subscript, scope, steps, trail),
            Expr::Named(named) => self.follow(&named.value, scope, steps, trail),
            // `Path("a") / "b"` is a path.
            Expr::BinOp(sum) if sum.op == Operator::Div => {
                self.follow(&sum.left, scope, steps, trail).into_iter().filter_map(made).collect()
            }
            Expr::Await(held) => self.follow(&held.value, scope, steps, trail),
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

    fn attribute(
        &self,
        attribute: &ast::ExprAttribute,
        scope: usize,
        steps: &Steps<'_>,
        trail: Option<&Trail<'_>>,
    ) -> Vec<Meaning> {
        let name = attribute.attr.as_str();
        let base = self.follow(&attribute.value, scope, steps, trail);
        let is_known = base.iter().any(|one| matches!(one.root, Root::Module | Root::Imported));
        let mut found: Vec<Meaning> = base.into_iter().map(|base| beneath(base, name)).collect();
        if !is_known {
            let guessed = modules::unmistakable(name);
            found
                .extend(guessed.map(|module| Meaning { path: vec![module.to_owned()], root: Root::Guessed }));
            if let Some((name, bound)) = self.attributes.get_key_value(name) {
                let held = self.each((ATTRIBUTES, name, bound.iter().collect()), steps, trail);
                found.extend(held.into_iter().filter(|one| one.root != Root::BuiltIn));
            }
        }
        found
    }

    fn name(&self, name: &str, scope: usize, steps: &Steps<'_>, trail: Option<&Trail<'_>>) -> Vec<Meaning> {
        let built_in = |name: &str| {
            let name = if name == "__builtins__" { "builtins" } else { name };
            Meaning { path: vec![name.to_owned()], root: Root::BuiltIn }
        };
        let Some(held) = self.bound(name, scope) else { return vec![built_in(name)] };
        let holder = self.all.get(held.0).map(|scope| scope.nature);
        let may_be_unbound = matches!(holder, Some(Nature::File | Nature::Class)) && BUILT_IN.contains(&name);
        let mut found = self.each(held, steps, trail);
        found.extend(may_be_unbound.then(|| built_in(name)));
        found
    }

    /// Everything that a name is bound to.
    fn each(
        &self,
        (holder, name, bound): Held<'_, 'a>,
        steps: &Steps<'_>,
        trail: Option<&Trail<'_>>,
    ) -> Vec<Meaning> {
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
                Bound::Made(value, scope) => {
                    found.extend(self.kind(value, *scope, steps, Some(&trail)));
                }
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

    /// What is of the kind that an annotation or a base names: `Path`, `Path | None`, `Optional[Path]`, `list[Path]`.
    fn kind(&self, expr: &Expr, scope: usize, steps: &Steps<'_>, trail: Option<&Trail<'_>>) -> Vec<Meaning> {
        match expr {
            Expr::BinOp(sum) if sum.op == Operator::BitOr => {
                let mut found = self.kind(&sum.left, scope, steps, trail);
                found.extend(self.kind(&sum.right, scope, steps, trail));
                found
            }
            Expr::Subscript(held) => {
                let mut found = self.kind(&held.value, scope, steps, trail);
                found.extend(self.kind(&held.slice, scope, steps, trail));
                found
            }
            Expr::Tuple(held) => {
                held.elts.iter().flat_map(|one| self.kind(one, scope, steps, trail)).collect()
            }
            _ => self.follow(expr, scope, steps, trail).into_iter().filter_map(made).collect(),
        }
    }

    /// What a name is bound to: in the innermost scope that binds it, where those of classes are seen from inside only.
    fn bound(&self, name: &str, scope: usize) -> Option<Held<'_, 'a>> {
        let mut at = scope;
        loop {
            let here = self.all.get(at)?;
            let is_seen = at == scope || here.nature != Nature::Class;
            let outer = here.outer.get(name);
            if is_seen
                && outer.is_none()
                && let Some((name, bound)) = here.bound.get_key_value(name)
            {
                let reached = here.reached.get(name).into_iter().flatten();
                return Some((at, name, bound.iter().chain(reached).collect()));
            }
            if at == FILE {
                return None;
            }
            at = if outer == Some(&Outer::Global) { FILE } else { here.parent };
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
                ["super"] => {
                    let bases = self.class(scope).map_or(&[][..], |class| class.bases);
                    found.extend(bases.iter().flat_map(|base| self.kind(base, scope, steps, trail)));
                }
                ["type"] if call.arguments.args.len() == 1 => {
                    found.extend(argument(0).into_iter().flat_map(|of| self.follow(of, scope, steps, trail)));
                }
                _ => found.extend(made(function)),
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
}

/// A name with the scope that binds it and what it is bound to there.
type Held<'s, 'a> = (usize, &'a str, Vec<&'s Bound<'a>>);
