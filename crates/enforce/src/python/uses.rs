//! What a Python file imports and refers to.
//! Owns: the rules of imports, calls and logging. Must not: know what a name is bound to (see `scope`).
//!
//! A name that is forbidden is forbidden wherever it stands: who hands `os.system` on uses it. So aliases need not be followed from
//! hand to hand, but for modules, which are followed where they get a new name and refused where they go elsewhere.

use super::meaning::{Meaning, Root, constant, elements, is_load, start};
use super::modules;
use super::reflection::{back_door_in, is_back_door};
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
const PRINTS: [&[&str]; 9] = [
    &["print"],
    &["sys", "stdout"],
    &["sys", "stderr"],
    &["sys", "__stdout__"],
    &["sys", "__stderr__"],
    &["pprint", "pprint"],
    &["pprint", "pp"],
    &["pprint", "PrettyPrinter"],
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
/// What looks like one of these and imports nothing: these names alone, and nothing beneath them.
const HARMLESS: [&[&str]; 4] = [
    &["importlib", "metadata"],
    &["importlib", "metadata", "PackageNotFoundError"],
    &["importlib", "metadata", "metadata"],
    &["importlib", "metadata", "version"],
];
/// Built-in names that lead to every other.
const KEYS: [&str; 5] = ["globals", "locals", "__builtins__", "__loader__", "__spec__"];
/// Built-in names that reach into what they are given: they are called where they stand, or not at all.
const REACHING: [&str; 4] = ["delattr", "getattr", "setattr", "vars"];
/// The same, of modules.
const REACHING_OF_MODULES: [[&str; 2]; 4] = [
    ["inspect", "getattr_static"],
    ["inspect", "getmembers"],
    ["operator", "attrgetter"],
    ["operator", "methodcaller"],
];

/// Looks at everything that is used.
pub(super) struct Uses<'a, 'f> {
    pub(super) setting: &'f Setting<'f>,
    pub(super) scopes: &'f Scopes<'a>,
    lines: &'f Lines,
    libs: Libs<'f>,
    pub(super) forbids: Forbids<'f>,
    findings: &'f mut Findings,
    pub(super) scope: usize,
    /// Whether something of a logging module was used.
    pub(super) logs: bool,
}

/// What becomes of a name where it stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// It is handed on.
    Whole,
    /// Something of it is used, or it gets another name.
    Base,
    /// It is called.
    Called,
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

    pub(super) fn push(&mut self, rule: Rule, offset: usize, evidence: String, suggestion: &str) {
        self.findings.in_code(rule, self.lines.line(offset), evidence, suggestion);
    }

    /// Whether anything is forbidden that could be reached by another way.
    pub(super) fn has_secrets(&self) -> bool {
        !self.forbids.is_empty() || self.libs.has_limits()
    }

    /// A name or a chain of names.
    pub(super) fn reference(&mut self, expr: &'a Expr, place: Place) {
        let meanings = self.scopes.meanings(expr, self.scope);
        let mut is_told = false;
        for meaning in &meanings {
            is_told |= self.used(meaning, expr, place);
        }
        let Expr::Attribute(attribute) = expr else { return };
        self.door(attribute.attr.as_str(), expr);
        if !is_told {
            self.member(attribute, expr);
        }
        let is_known = |one: &Meaning| matches!(one.root, Root::Module | Root::Imported);
        match &*attribute.value {
            Expr::Name(_) => {}
            // What stands before is a part of what was looked at.
            inner @ Expr::Attribute(_) if meanings.iter().any(is_known) => self.beneath(inner),
            inner => self.base(inner),
        }
    }

    /// What something is taken of, or what gets a name: its meaning is followed, so it may be a module.
    pub(super) fn base(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(_) | Expr::Attribute(_) => self.reference(expr, Place::Base),
            Expr::Subscript(_) => self.subscript(expr, Place::Base),
            Expr::Named(named) => self.named(&named.target, &named.value),
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
        let Expr::Subscript(held) = expr else { return };
        let found = self.scopes.meanings(expr, self.scope);
        for meaning in &found {
            self.used(meaning, expr, place);
        }
        if constant(&held.slice).is_some() {
            self.base(&held.value);
        } else {
            self.visit_expr(&held.value);
        }
        self.visit_expr(&held.slice);
    }

    /// What a chain of names begins with, where it is no name; each name on the way may lead elsewhere.
    fn beneath(&mut self, expr: &'a Expr) {
        let mut at = expr;
        while let Expr::Attribute(attribute) = at {
            self.door(attribute.attr.as_str(), at);
            self.member(attribute, at);
            at = &attribute.value;
        }
        if !matches!(at, Expr::Name(_)) {
            self.base(at);
        }
    }

    /// An attribute, by its name alone.
    pub(super) fn door(&mut self, name: &str, expr: &'a Expr) {
        if is_back_door(name) && self.has_secrets() && !self.is_own_dict(name, expr) {
            self.indirect(expr, format!("{} leads to what can't be followed", shown(name)));
        }
    }

    /// `self.__dict__`: no module gets there.
    fn is_own_dict(&self, name: &str, expr: &Expr) -> bool {
        let is_self = |expr: &Expr| matches!(expr, Expr::Name(name) if name.id.as_str() == "self");
        name == "__dict__" && matches!(expr, Expr::Attribute(attribute) if is_self(&attribute.value))
    }

    /// An attribute that no object has but one that is forbidden. What a class calls so itself is its own.
    fn member(&mut self, attribute: &'a ast::ExprAttribute, expr: &'a Expr) {
        let name = attribute.attr.as_str();
        let is_self =
            matches!(&*attribute.value, Expr::Name(held) if ["self", "cls"].contains(&held.id.as_str()));
        if !(is_self && self.scopes.is_member(name, self.scope)) {
            self.method(name, expr);
        }
    }

    /// One meaning of an expression; says whether it is forbidden.
    pub(super) fn used(&mut self, meaning: &Meaning, expr: &'a Expr, place: Place) -> bool {
        let path = plain(meaning.path.clone(), Language::Python);
        let name = path.join(".");
        self.logs |= self.setting.rules.logging.modules.iter().any(|module| is_within(module, &path));
        match meaning.root {
            Root::Lost => {
                self.indirect(expr, "a name has more meanings than can be followed".to_owned());
                false
            }
            Root::BuiltIn => {
                self.key(&path, expr, place);
                self.one(&path, expr)
            }
            Root::Made(by) => {
                // What it was made by is told where it stands.
                let is_told =
                    by >= path.len() || self.forbids.path(path.get(..by).unwrap_or_default()).is_some();
                !is_told && self.forbidden(&path, start(expr), "uses")
            }
            Root::Guessed => {
                let is_key = ["builtins", "importlib", "sys"].contains(&name.as_str());
                if is_key && place == Place::Whole && self.has_secrets() {
                    self.indirect(expr, format!("{} leads to every name there is", shown(&name)));
                }
                path.len() > 1 && self.one(&path, expr)
            }
            Root::Module | Root::Imported => self.of_module(&path, meaning, expr, place),
        }
    }

    /// A name of a module, or of something in one.
    fn of_module(&mut self, path: &[String], meaning: &Meaning, expr: &'a Expr, place: Place) -> bool {
        let name = path.join(".");
        let others = modules::restarts(path).into_iter().map(|other| plain(other, Language::Python));
        let every: Vec<Vec<String>> = std::iter::once(path.to_vec()).chain(others).collect();
        let mut is_told = every.iter().any(|path| self.one(path, expr));
        for path in &every {
            if !is_told && let Some((rule, why)) = self.libs.judge_use(path) {
                self.push(rule, start(expr), why, "use what the task allows");
                is_told = true;
            }
        }
        let is_module = meaning.root == Root::Module || modules::is_module(path);
        if is_told || !self.has_secrets() {
            return is_told;
        }
        if place == Place::Whole && is_module {
            let evidence = format!("the module {} goes where its use can't be followed", shown(&name));
            self.indirect(expr, evidence);
        }
        let is_called = |length: usize| place == Place::Called && path.len() == length;
        let reaching = REACHING_OF_MODULES.iter().find(|known| begins_with_any(path, &[known.as_slice()]));
        if reaching.is_some_and(|known| known[0] == "inspect" || !is_called(known.len())) {
            self.indirect(expr, format!("{} is handed on", shown(&name)));
        }
        if let Some((rule, length)) = self.forbids.argument(path)
            && !is_called(length)
        {
            self.push(rule, start(expr), format!("hands {} on", shown(&name)), "call it where it stands");
        }
        if path.iter().skip(1).any(|part| is_private(part)) {
            self.indirect(expr, format!("{} is a library's own affair", shown(&name)));
        }
        is_told
    }

    /// What is forbidden wherever it comes from.
    fn one(&mut self, path: &[String], expr: &'a Expr) -> bool {
        let offset = start(expr);
        let prints =
            begins_with_any(path, &PRINTS) && self.setting.rules.logging.print == Permission::Forbidden;
        if prints {
            let evidence = format!("{} prints", shown(&path.join(".")));
            self.push(Rule::PrintLogging, offset, evidence, "log it: logger.info(…)");
        }
        let imports = self.importer(path, offset);
        let is_forbidden = self.forbidden(path, offset, "uses");
        prints || imports || is_forbidden
    }

    /// A built-in name. What is called by another name of its own (`getattr.__call__`) is handed on.
    fn key(&mut self, path: &[String], expr: &'a Expr, place: Place) {
        let Some(name) = path.first().map(String::as_str).filter(|_| self.has_secrets()) else { return };
        let is_handed_on = place == Place::Whole || path.len() > 1;
        if KEYS.contains(&name) || name == "builtins" && path.len() == 1 && place == Place::Whole {
            self.indirect(expr, format!("{} leads to every name there is", shown(name)));
        }
        if REACHING.contains(&name) && is_handed_on {
            self.indirect(expr, format!("{} is handed on", shown(name)));
        }
    }

    pub(super) fn indirect(&mut self, expr: &'a Expr, evidence: String) {
        self.push(Rule::IndirectAccess, start(expr), evidence, "name what is used, where it is used");
    }

    fn importer(&mut self, path: &[String], offset: usize) -> bool {
        let is_importer = begins_with_any(path, &IMPORTERS) && !HARMLESS.iter().any(|known| path == *known);
        let is_told = is_importer && self.setting.rules.imports.dynamic == Permission::Forbidden;
        if is_told {
            let evidence = format!("{} imports while the code runs", shown(&path.join(".")));
            self.push(Rule::DynamicImport, offset, evidence, "import it at the top of the file");
        }
        is_told
    }

    fn forbidden(&mut self, path: &[String], offset: usize, how: &str) -> bool {
        let Some(rule) = self.forbids.path(path).or_else(|| self.forbids.of_kind(path)) else { return false };
        let evidence = format!("{how} {}", shown(&path.join(".")));
        self.push(rule, offset, evidence, "leave it to the caller, and take what it gives");
        true
    }

    pub(super) fn method(&mut self, name: &str, expr: &'a Expr) {
        if let Some(rule) = self.forbids.method(name) {
            let evidence = format!("uses {}", shown(&format!(".{name}")));
            self.push(rule, start(expr), evidence, "leave it to the caller, and take what it gives");
        }
    }

    /// A value that gets a name.
    fn named(&mut self, target: &'a Expr, value: &'a Expr) {
        match (target, value) {
            // A class is more than a scope: what it has, its objects have.
            (Expr::Name(_), _) if !self.scopes.is_class(self.scope) => self.base(value),
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

    pub(super) fn import(&mut self, path: &[String], offset: usize) {
        let path = plain(path.to_vec(), Language::Python);
        let every: Vec<Vec<String>> = std::iter::once(path.clone()).chain(modules::restarts(&path)).collect();
        let mut is_told = false;
        for path in &every {
            is_told = is_told || self.importer(path, offset) | self.forbidden(path, offset, "imports");
        }
        for path in &every {
            if let Some((rule, why)) = self.libs.judge_import(path).filter(|_| !is_told) {
                self.push(rule, offset, why, "use what the task allows");
                is_told = true;
            }
        }
        let stem = self.setting.stop.filename.rsplit('/').next().and_then(|name| name.strip_suffix(".py"));
        let is_itself = path.first().is_some_and(|first| first == "__main__" || Some(first.as_str()) == stem);
        if is_itself && !is_told && self.has_secrets() {
            let evidence = "the file imports itself".to_owned();
            self.push(Rule::IndirectAccess, offset, evidence, "name what is used, where it is used");
        }
        if self.scopes.is_class(self.scope) && modules::is_module(&path) && !is_told && self.has_secrets() {
            let evidence = format!("a class holds the module {}", shown(&path.join(".")));
            self.push(Rule::IndirectAccess, offset, evidence, "import it at the top of the file");
        }
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
            if let Some((rule, why)) = self.libs.judge_star(&module) {
                self.push(rule, offset, why, "use what the task allows");
            }
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
                function.type_params.iter().for_each(|params| self.visit_type_params(params));
                self.visit_parameters(&function.parameters);
                function.returns.iter().for_each(|returns| self.visit_annotation(returns));
                self.within(function.range, |uses| uses.visit_body(&function.body));
            }
            Stmt::ClassDef(class) => {
                class.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                class.type_params.iter().for_each(|params| self.visit_type_params(params));
                class.arguments.iter().for_each(|arguments| self.visit_arguments(arguments));
                self.within(class.range, |uses| uses.visit_body(&class.body));
            }
            // What is only looked at goes nowhere.
            Stmt::If(choice) => {
                self.base(&choice.test);
                self.visit_body(&choice.body);
                for clause in &choice.elif_else_clauses {
                    clause.test.iter().for_each(|test| self.base(test));
                    self.visit_body(&clause.body);
                }
            }
            // A docstring says what it likes.
            Stmt::Expr(held) if held.value.is_string_literal_expr() => {}
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_annotation(&mut self, annotation: &'a Expr) {
        self.annotation(annotation);
        self.visit_expr(annotation);
    }

    fn visit_pattern(&mut self, pattern: &'a ast::Pattern) {
        if let ast::Pattern::MatchClass(class) = pattern {
            for keyword in &class.arguments.keywords {
                self.door(keyword.attr.as_str(), &class.cls);
                self.method(keyword.attr.as_str(), &class.cls);
            }
        }
        visitor::walk_pattern(self, pattern);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Some(word) = constant(expr).as_deref().and_then(back_door_in).filter(|_| self.has_secrets()) {
            self.indirect(expr, format!("a text has {} in it", shown(word)));
            return;
        }
        match expr {
            Expr::Name(_) | Expr::Attribute(_) if is_load(expr) => self.reference(expr, Place::Whole),
            Expr::Attribute(attribute) => {
                self.door(attribute.attr.as_str(), expr);
                self.base(&attribute.value);
            }
            Expr::Call(call) => self.call(call, expr),
            Expr::Subscript(_) => self.subscript(expr, Place::Whole),
            // It gets a name, and goes where it stands.
            Expr::Named(named) => self.visit_expr(&named.value),
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

/// Whether a name is one that a library keeps to itself. Classes are named where types are.
fn is_private(name: &str) -> bool {
    name.strip_prefix('_').is_some_and(|rest| rest.starts_with(char::is_lowercase))
}

fn is_within(module: &Pattern, path: &[String]) -> bool {
    module.covers(path) && matches!(module, Pattern::Path(parts) if parts.len() < path.len())
}

fn begins_with_any(path: &[String], known: &[&[&str]]) -> bool {
    known
        .iter()
        .any(|known| known.len() <= path.len() && known.iter().zip(path).all(|(part, held)| part == held))
}
