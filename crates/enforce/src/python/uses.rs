//! What a Python file imports and refers to.
//! Owns: the rules of imports, calls and logging. Must not: know what a name is bound to (see `scope`).
//!
//! A name that is forbidden is forbidden wherever it stands: who hands `os.system` on uses it. So aliases need not be followed from
//! hand to hand, but for modules, which are followed where they get a new name and refused where they go elsewhere.

use super::meaning::{Meaning, Root, constant, elements, is_load, start};
use super::scope::{FILE, Scopes};
use crate::check::Setting;
use crate::codespec::{Language, Pattern, Permission, plain};
use crate::forbids::Forbids;
use crate::libs::Libs;
use crate::lines::Lines;
use crate::report::{Findings, shown};
use crate::rule::Rule;
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

/// What prints, beside `print`.
const PRINTS: [&[&str]; 7] = [
    &["print"],
    &["sys", "stdout"],
    &["sys", "stderr"],
    &["sys", "__stdout__"],
    &["sys", "__stderr__"],
    &["pprint"],
    &["rich", "print"],
];
/// What imports while the code runs.
const IMPORTERS: [&[&str]; 8] = [
    &["__import__"],
    &["importlib"],
    &["imp"],
    &["pkgutil"],
    &["zipimport"],
    &["sys", "modules"],
    &["sys", "meta_path"],
    &["sys", "path_hooks"],
];
/// Parts of `importlib` that import nothing.
const HARMLESS: [&[&str]; 2] = [&["importlib", "metadata"], &["importlib", "resources"]];
/// Names that lead to everything.
const KEYS: [&str; 5] = ["globals", "locals", "__builtins__", "__loader__", "__spec__"];
/// Attributes that lead to everything.
const BACK_DOORS: [&str; 8] = [
    "__builtins__",
    "__closure__",
    "__code__",
    "__globals__",
    "__loader__",
    "__spec__",
    "__subclasses__",
    "f_globals",
];
/// Modules that are not imported by `import` alone.
const SUBMODULES: [&[&str]; 3] = [&["os", "path"], &["concurrent", "futures"], &["urllib", "request"]];

/// Looks at everything that is used.
pub(super) struct Uses<'a, 'f> {
    setting: &'f Setting<'f>,
    scopes: &'f Scopes<'a>,
    lines: &'f Lines,
    libs: Libs<'f>,
    forbids: Forbids<'f>,
    findings: &'f mut Findings,
    scope: usize,
    /// Whether something of a logging module was used.
    pub(super) logs: bool,
}

/// Whether a name is the whole of what is written, or something of it is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Whole,
    Base,
}

impl<'a, 'f> Uses<'a, 'f> {
    pub(super) fn new(
        setting: &'f Setting<'f>,
        scopes: &'f Scopes<'a>,
        lines: &'f Lines,
        findings: &'f mut Findings,
    ) -> Self {
        let (libs, forbids) = (Libs::new(setting), Forbids::new(&setting.rules.forbidden));
        Uses { setting, scopes, lines, libs, forbids, findings, scope: FILE, logs: false }
    }

    fn push(&mut self, rule: Rule, offset: usize, evidence: String, suggestion: &str) {
        self.findings.in_code(rule, self.lines.line(offset), evidence, suggestion);
    }

    /// Whether anything is forbidden that could be reached by another way.
    fn has_secrets(&self) -> bool {
        !self.forbids.is_empty() || self.libs.has_limits()
    }

    /// A name or a chain of names.
    fn reference(&mut self, expr: &'a Expr, place: Place) {
        let meanings = self.scopes.meanings(expr, self.scope);
        for meaning in &meanings {
            self.used(meaning, expr, place);
        }
        let Expr::Attribute(attribute) = expr else { return };
        let name = attribute.attr.as_str();
        if BACK_DOORS.contains(&name) && self.has_secrets() {
            self.indirect(expr, format!("{} leads to what can't be followed", shown(name)));
        }
        let is_told = |one: &Meaning| self.forbids.path(&plain(one.path.clone(), Language::Python)).is_some();
        if !meanings.iter().any(is_told) {
            self.method(name, expr);
        }
        match &*attribute.value {
            Expr::Name(_) => {}
            // What stands before is a part of what was looked at.
            inner @ Expr::Attribute(_) if !meanings.is_empty() => self.beneath(inner),
            inner @ Expr::Attribute(_) => self.reference(inner, Place::Base),
            inner => self.base(inner),
        }
    }

    /// What something is taken of, or what gets a name: its meaning is followed, so it may be a module.
    fn base(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(_) | Expr::Attribute(_) => self.reference(expr, Place::Base),
            Expr::Subscript(_) => self.subscript(expr, Place::Base),
            Expr::If(choice) => {
                self.visit_expr(&choice.test);
                self.base(&choice.body);
                self.base(&choice.orelse);
            }
            Expr::BoolOp(choice) => choice.values.iter().for_each(|value| self.base(value)),
            _ => self.visit_expr(expr),
        }
    }

    fn subscript(&mut self, expr: &'a Expr, place: Place) {
        let found = self.scopes.meanings(expr, self.scope);
        found.iter().for_each(|meaning| self.used(meaning, expr, place));
        visitor::walk_expr(self, expr);
    }

    /// What a chain of names begins with, where it is no name.
    fn beneath(&mut self, expr: &'a Expr) {
        let mut at = expr;
        while let Expr::Attribute(attribute) = at {
            at = &attribute.value;
        }
        if !matches!(at, Expr::Name(_)) {
            self.base(at);
        }
    }

    fn used(&mut self, meaning: &Meaning, expr: &'a Expr, place: Place) {
        let path = plain(meaning.path.clone(), Language::Python);
        let name = path.join(".");
        match meaning.root {
            Root::Lost => {
                self.indirect(expr, "a name has more meanings than can be followed".to_owned());
                return;
            }
            Root::BuiltIn => {
                if KEYS.contains(&name.as_str()) && self.has_secrets() {
                    self.indirect(expr, format!("{} leads to every name there is", shown(&name)));
                }
            }
            Root::Module | Root::Imported => {
                if let Some((rule, why)) = self.libs.judge_use(&path) {
                    self.push(rule, start(expr), why, "use what the task allows");
                }
            }
        }
        self.logs |= self.setting.rules.logging.modules.iter().any(|module| is_within(module, &path));
        if begins_with_any(&path, &PRINTS) && self.setting.rules.logging.print == Permission::Forbidden {
            let evidence = format!("{} prints", shown(&name));
            self.push(Rule::PrintLogging, start(expr), evidence, "log it: logger.info(…)");
        }
        self.importer(&path, start(expr));
        self.forbidden(&path, &name, start(expr), "uses");
        let is_module = meaning.root == Root::Module || SUBMODULES.iter().any(|module| *module == path);
        if place == Place::Whole && is_module && self.forbids.is_beneath(&path) {
            let evidence = format!("the module {} goes where its use can't be followed", shown(&name));
            self.indirect(expr, evidence);
        }
    }

    fn indirect(&mut self, expr: &'a Expr, evidence: String) {
        self.push(Rule::IndirectAccess, start(expr), evidence, "name what is used, where it is used");
    }

    fn importer(&mut self, path: &[String], offset: usize) {
        let is_importer = begins_with_any(path, &IMPORTERS) && !begins_with_any(path, &HARMLESS);
        if is_importer && self.setting.rules.imports.dynamic == Permission::Forbidden {
            let evidence = format!("{} imports while the code runs", shown(&path.join(".")));
            self.push(Rule::DynamicImport, offset, evidence, "import it at the top of the file");
        }
    }

    fn forbidden(&mut self, path: &[String], name: &str, offset: usize, how: &str) {
        if let Some(rule) = self.forbids.path(path) {
            self.push(
                rule,
                offset,
                format!("{how} {}", shown(name)),
                "leave it to the caller, and take what it gives",
            );
        }
    }

    fn method(&mut self, name: &str, expr: &'a Expr) {
        if let Some(rule) = self.forbids.method(name) {
            let evidence = format!("uses {}", shown(&format!(".{name}")));
            self.push(rule, start(expr), evidence, "leave it to the caller, and take what it gives");
        }
    }

    /// A value that gets a name.
    fn named(&mut self, target: &'a Expr, value: &'a Expr) {
        match (target, value) {
            (Expr::Name(_), _) => self.base(value),
            (Expr::Tuple(_) | Expr::List(_), Expr::Tuple(_) | Expr::List(_)) => {
                let (targets, values) =
                    (elements(target).unwrap_or_default(), elements(value).unwrap_or_default());
                if targets.len() == values.len() {
                    targets.iter().zip(values).for_each(|(target, value)| self.named(target, value));
                } else {
                    self.visit_expr(value);
                }
            }
            _ => self.visit_expr(value),
        }
    }

    fn call(&mut self, call: &'a ast::ExprCall, expr: &'a Expr) {
        self.visit_expr(&call.func);
        let functions = self.scopes.meanings(&call.func, self.scope);
        let is = |name: &str| functions.iter().any(|one| one.path.last().is_some_and(|last| last == name));
        let arguments = &call.arguments.args;
        let reaches = ["getattr", "setattr", "delattr", "hasattr"].iter().any(|name| is(name));
        let base = arguments.first().filter(|_| reaches);
        if let Some(base) = base {
            let is_imported = |one: &Meaning| matches!(one.root, Root::Module | Root::Imported | Root::Lost);
            let into_module = self.scopes.meanings(base, self.scope).iter().any(is_imported);
            match arguments.get(1).and_then(constant) {
                Some(name) if BACK_DOORS.contains(&name.as_str()) && self.has_secrets() => {
                    self.indirect(expr, format!("{} leads to what can't be followed", shown(&name)));
                }
                Some(name) => {
                    let found = self.scopes.meanings(expr, self.scope);
                    if found.is_empty() && is("getattr") {
                        self.method(&name, expr);
                    }
                    found.iter().for_each(|meaning| self.used(meaning, expr, Place::Base));
                }
                None if into_module && self.has_secrets() => {
                    self.indirect(expr, "what is taken from a module has no fixed name".to_owned());
                }
                None => {}
            }
            self.base(base);
        }
        if is("__import__") || is("import_module") {
            self.dynamic_import(call, expr);
        }
        arguments.iter().skip(usize::from(base.is_some())).for_each(|argument| self.visit_expr(argument));
        call.arguments.keywords.iter().for_each(|keyword| self.visit_keyword(keyword));
    }

    /// Where importing at run time is allowed, what is imported must be.
    fn dynamic_import(&mut self, call: &'a ast::ExprCall, expr: &'a Expr) {
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

    fn import(&mut self, path: &[String], offset: usize) {
        if let Some((rule, why)) = self.libs.judge_import(path) {
            self.push(rule, offset, why, "use what the task allows");
        }
        let path = plain(path.to_vec(), Language::Python);
        self.importer(&path, offset);
        self.forbidden(&path, &path.join("."), offset, "imports");
    }

    fn import_from(&mut self, import: &'a ast::StmtImportFrom) {
        let offset = usize::from(import.range.start());
        if import.level > 0 {
            let evidence = "a relative import needs another file".to_owned();
            self.push(Rule::OtherFile, offset, evidence, "put what is needed into this file");
            return;
        }
        let module: Vec<String> =
            import.module.iter().flat_map(|module| module.as_str().split('.')).map(str::to_owned).collect();
        for alias in &import.names {
            if alias.name.as_str() != "*" {
                let path: Vec<String> = module.iter().cloned().chain([alias.name.to_string()]).collect();
                self.import(&path, offset);
                continue;
            }
            self.import(&module, offset);
            if self.setting.rules.imports.star == Permission::Forbidden {
                let evidence = format!("imports everything of {}", shown(&module.join(".")));
                self.push(Rule::ImportStar, offset, evidence, "name what is imported");
            }
        }
    }

    fn within(&mut self, node: TextRange, look: impl FnOnce(&mut Self)) {
        let outside = self.scope;
        self.scope = self.scopes.opened_by(node).unwrap_or(outside);
        look(self);
        self.scope = outside;
    }
}

impl<'a> Visitor<'a> for Uses<'a, '_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Import(import) => {
                for alias in &import.names {
                    let path: Vec<String> = alias.name.as_str().split('.').map(str::to_owned).collect();
                    self.import(&path, import.range.start().into());
                }
            }
            Stmt::ImportFrom(import) => self.import_from(import),
            Stmt::Assign(assign) => {
                let is_name = |target: &&Expr| matches!(target, Expr::Name(_));
                match assign.targets.as_slice() {
                    [target] => self.named(target, &assign.value),
                    targets if targets.iter().all(|target| is_name(&target)) => self.base(&assign.value),
                    _ => self.visit_expr(&assign.value),
                }
                assign.targets.iter().for_each(|target| self.visit_expr(target));
            }
            Stmt::FunctionDef(function) => {
                function.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                self.visit_parameters(&function.parameters);
                function.returns.iter().for_each(|returns| self.visit_annotation(returns));
                self.within(function.range, |uses| uses.visit_body(&function.body));
            }
            Stmt::ClassDef(class) => {
                class.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                class.arguments.iter().for_each(|arguments| self.visit_arguments(arguments));
                self.within(class.range, |uses| uses.visit_body(&class.body));
            }
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(_) | Expr::Attribute(_) if is_load(expr) => self.reference(expr, Place::Whole),
            Expr::Call(call) => self.call(call, expr),
            Expr::Subscript(_) => self.subscript(expr, Place::Whole),
            Expr::Named(named) => self.named(&named.target, &named.value),
            Expr::Lambda(lambda) => {
                lambda.parameters.iter().for_each(|parameters| self.visit_parameters(parameters));
                self.within(lambda.range, |uses| uses.visit_expr(&lambda.body));
            }
            Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) => {
                self.within(expr.range(), |uses| visitor::walk_expr(uses, expr));
            }
            _ => visitor::walk_expr(self, expr),
        }
    }
}

fn is_within(module: &Pattern, path: &[String]) -> bool {
    module.covers(path) && matches!(module, Pattern::Path(parts) if parts.len() < path.len())
}

fn begins_with_any(path: &[String], known: &[&[&str]]) -> bool {
    known
        .iter()
        .any(|known| known.len() <= path.len() && known.iter().zip(path).all(|(part, held)| part == held))
}
